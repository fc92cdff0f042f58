/*
 * Random calls of every operator: shapes, types, attributes and small contents are drawn, mostly wrong ones.
 * Each must end in an error with a message or in outputs that agree with inference, with numbers and with
 * symbols; the fast reference must accept what golden accepts. One test a room.
 *
 *   test_random [PART [CALLS [SEED]]]     operators whose "Name-version" has PART in it, CALLS each
 *
 * PW_TRACE=1 prints every call before it runs, as a case of op/cases.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/hash.h"
#include "base/random.h"
#include "graph/infer.h"
#include "op/cases.h"
#include "run/eval.h"

#define INPUTS_MAX 6
#define ROOMS_MAX 64

static const char *filter = "";
static int calls_each = 60;
static uint64_t seed = 1;
static bool trace;

/* ---- draws ---- */

struct draw {
    uint64_t stream, at;
    bool tame; /* this call has square shapes, one float type and few attributes: operators with strict rules accept it
                */
};

static int64_t range(struct draw *d, int64_t low, int64_t high)
{
    return pw_random_range(seed, d->stream, d->at++, low, high);
}

static bool chance(struct draw *d, int percent)
{
    return range(d, 1, 100) <= percent;
}

/* Mostly small, at times where arithmetic overflows. */
static int64_t draw_int(struct draw *d)
{
    static const int64_t far[] = {INT64_MIN, INT64_MAX, INT64_MIN + 1, (int64_t)1 << 62, INT32_MIN, -1000000007};
    if (chance(d, 4))
        return far[range(d, 0, (int64_t)PW_COUNT_OF(far) - 1)];
    return chance(d, 70) ? range(d, 0, 3) : range(d, -4, 6);
}

static const pw_dtype dtypes[] = {PW_DTYPE_FLOAT32, PW_DTYPE_FLOAT32, PW_DTYPE_FLOAT32, PW_DTYPE_FLOAT64,
                                  PW_DTYPE_FLOAT16, PW_DTYPE_INT64,   PW_DTYPE_INT32,   PW_DTYPE_UINT8,
                                  PW_DTYPE_INT8,    PW_DTYPE_BOOL,    PW_DTYPE_STRING,  PW_DTYPE_BFLOAT16};

struct shape {
    int rank;
    int64_t dims[8];
};

static struct shape draw_shape(struct draw *d, const struct shape *base)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 2, 3, 1, 0, 5, 8};
    struct shape s = *base;
    if (d->tame || chance(d, 45))
        return s;
    if (chance(d, 40)) { /* near the base */
        if (s.rank > 0)
            s.dims[range(d, 0, s.rank - 1)] = chance(d, 50) ? 1 : range(d, 0, 4);
        return s;
    }
    s.rank = (int)range(d, 0, 5);
    for (int i = 0; i < s.rank; i++)
        s.dims[i] = sizes[range(d, 0, (int64_t)PW_COUNT_OF(sizes) - 1)];
    return s;
}

/* ---- a call as text ---- */

struct text_case {
    struct pw_buf call, inputs[INPUTS_MAX];
    struct pw_room_case c;
};

static void clear_case(struct text_case *t)
{
    pw_buf_clear(&t->call);
    for (int i = 0; i < INPUTS_MAX; i++)
        pw_buf_clear(&t->inputs[i]);
}

static void put_value(struct pw_buf *out, struct draw *d, pw_dtype dtype)
{
    static const char *const words[] = {"''", "'a'", "'b c'", "'1.5'", "'x\\\\d+'"};
    if (dtype == PW_DTYPE_STRING)
        pw_buf_puts(out, words[range(d, 0, (int64_t)PW_COUNT_OF(words) - 1)]);
    else if (dtype == PW_DTYPE_BOOL)
        pw_buf_printf(out, "%d", (int)range(d, 0, 1));
    else if (pw_dtype_is_float(dtype))
        pw_buf_printf(out, "%s", chance(d, 3) ? (chance(d, 50) ? "nan" : "-inf") : chance(d, 50) ? "1" : "-0.75");
    else if (dtype == PW_DTYPE_INT64)
        pw_buf_printf(out, "%" PRId64, draw_int(d));
    else
        pw_buf_printf(out, "%d", (int)range(d, pw_dtype_facts(dtype)->kind == PW_KIND_SIGNED ? -3 : 0, 5));
}

static void put_tensor(struct pw_buf *out, struct draw *d, pw_dtype dtype, const struct shape *s)
{
    int64_t count = 1;
    pw_buf_printf(out, "%s[", pw_dtype_name(dtype));
    for (int i = 0; i < s->rank; i++) {
        pw_buf_printf(out, "%s%" PRId64, i > 0 ? "," : "", s->dims[i]);
        count *= s->dims[i];
    }
    pw_buf_putc(out, ']');
    for (int64_t i = 0; i < count; i++) {
        pw_buf_putc(out, ' ');
        put_value(out, d, dtype);
    }
}

static pw_dtype fixed_dtype(const char *type)
{
    pw_dtype dtype = pw_dtype_parse(type);
    char inner[32];
    if (dtype != PW_DTYPE_UNDEFINED || strncmp(type, "tensor(", 7) != 0 || strlen(type) - 8 >= sizeof inner)
        return dtype;
    snprintf(inner, sizeof inner, "%.*s", (int)strlen(type) - 8, type + 7);
    return pw_dtype_parse(strcmp(inner, "float") == 0 ? "float32" : strcmp(inner, "double") == 0 ? "float64" : inner);
}

/* One dtype a type variable, as the driver demands; wrong ones at times. */
static pw_dtype input_dtype(const struct pw_op *op, int i, const pw_dtype *chosen, struct draw *d)
{
    const struct pw_formal *formal = pw_op_formal(op->inputs, (size_t)i);
    const char *type = formal->type;
    if (type != NULL && fixed_dtype(type) != PW_DTYPE_UNDEFINED && !chance(d, 3))
        return fixed_dtype(type);
    for (int k = 0; k < i && type != NULL; k++) {
        const struct pw_formal *other = pw_op_formal(op->inputs, (size_t)k);
        if (other->type != NULL && strcmp(other->type, type) == 0 && chosen[k] != PW_DTYPE_UNDEFINED)
            return chosen[k];
    }
    /* Tind and the like: mostly integers. */
    if (type != NULL && (strcmp(type, "Tind") == 0 || (formal->flags & PW_FORMAL_PARAM) != 0) && chance(d, 90))
        return PW_DTYPE_INT64;
    if (d->tame && chance(d, 90))
        return PW_DTYPE_FLOAT32;
    return dtypes[range(d, 0, (int64_t)PW_COUNT_OF(dtypes) - 1)];
}

static int draw_inputs(const struct pw_op *op, struct draw *d, struct text_case *t)
{
    struct shape base = {(int)range(d, d->tame ? 1 : 0, 4), {0}};
    int64_t side = range(d, 1, 3);
    pw_dtype chosen[INPUTS_MAX] = {PW_DTYPE_UNDEFINED};
    int count = 0, given = 0;
    for (int i = 0; i < base.rank; i++)
        base.dims[i] = d->tame ? side : chance(d, 6) ? 0 : range(d, 1, 4);
    for (int i = 0; i < INPUTS_MAX; i++) {
        const struct pw_formal *formal = pw_op_formal(op->inputs, (size_t)i);
        struct shape s;
        if (formal == NULL || ((formal->flags & PW_FORMAL_VARIADIC) != 0 && count > 0 && chance(d, 30)))
            break;
        count++;
        if ((formal->flags & PW_FORMAL_OPTIONAL) != 0 && chance(d, 50)) {
            pw_buf_puts(&t->inputs[i], "-");
            continue;
        }
        given = count;
        s = draw_shape(d, &base);
        chosen[i] = input_dtype(op, i, chosen, d);
        if ((formal->flags & PW_FORMAL_PARAM) != 0 && chance(d, 92)) {
            s.rank = chance(d, 85);
            s.dims[0] = chance(d, 60) ? base.rank : chance(d, 20) ? 2 * base.rank : range(d, 0, 4);
        }
        put_tensor(&t->inputs[i], d, chosen[i], &s);
    }
    for (int i = 0; i < given; i++)
        t->c.inputs[i] = pw_buf_text(&t->inputs[i]);
    return base.rank;
}

static void put_ints(struct pw_buf *out, struct draw *d, int rank)
{
    int64_t count = chance(d, 60) ? rank : chance(d, 30) ? 2 * rank : range(d, 0, 4);
    pw_buf_putc(out, '[');
    for (int64_t i = 0; i < count; i++)
        pw_buf_printf(out, "%s%" PRId64, i > 0 ? "," : "", draw_int(d));
    pw_buf_putc(out, ']');
}

/* False for kinds that cases can't write (graphs, types). */
static bool put_attr(struct pw_buf *out, struct draw *d, const struct pw_attr_def *def, int rank)
{
    static const char *const words[] = {"", "constant", "linear", "nearest", "none", "max", "sum", "mean", "CRD", "x"};
    struct shape s = {(int)range(d, 0, 1), {range(d, 0, 3)}};
    pw_buf_printf(out, " %s=", def->name);
    switch (def->type) {
    case PW_ATTR_INT:
        pw_buf_printf(out, "%" PRId64, chance(d, 70) ? draw_int(d) : range(d, 0, 16));
        return true;
    case PW_ATTR_FLOAT:
        pw_buf_puts(out, chance(d, 50) ? "0.5" : chance(d, 50) ? "-2.0" : "1e30");
        return true;
    case PW_ATTR_STRING:
        pw_buf_printf(out, "'%s'",
                      def->s != NULL && chance(d, 50) ? def->s : words[range(d, 0, (int64_t)PW_COUNT_OF(words) - 1)]);
        return true;
    case PW_ATTR_INTS:
        put_ints(out, d, rank);
        return true;
    case PW_ATTR_FLOATS:
        pw_buf_puts(out, chance(d, 50) ? "[0.5,2.0]" : chance(d, 50) ? "[1.0,1.0,0.5,2.0]" : "[]");
        return true;
    case PW_ATTR_STRINGS:
        pw_buf_puts(out, "['a','b']");
        return true;
    case PW_ATTR_TENSOR:
        pw_buf_putc(out, '<');
        put_tensor(out, d, dtypes[range(d, 0, (int64_t)PW_COUNT_OF(dtypes) - 1)], &s);
        pw_buf_putc(out, '>');
        return true;
    default:
        return false;
    }
}

static bool needs_graph(const struct pw_op *op)
{
    for (const struct pw_attr_def *def = op->attrs; def != NULL && def->name != NULL; def++) {
        if (def->required && (def->type == PW_ATTR_GRAPH || def->type == PW_ATTR_TYPE_PROTO))
            return true;
    }
    return false;
}

static void draw_case(const struct pw_op *op, struct draw *d, struct text_case *t)
{
    size_t outputs = 0, fewest = 0;
    int rank;
    d->tame = chance(d, 25);
    *t = (struct text_case){.c = {.name = "random"}};
    rank = draw_inputs(op, d, t);
    pw_buf_printf(&t->call, "%s%s%s-%d", op->domain, op->domain[0] != '\0' ? ":" : "", op->name, op->since);
    for (const struct pw_attr_def *def = op->attrs; def != NULL && def->name != NULL; def++) {
        size_t before = t->call.size;
        if ((def->required ? chance(d, 97) : chance(d, d->tame ? 15 : 40)) && !put_attr(&t->call, d, def, rank)) {
            t->call.size = before;
            t->call.data[before] = '\0';
        }
    }
    t->c.call = pw_buf_text(&t->call);
    for (const struct pw_formal *f = op->outputs; f != NULL && f->name != NULL && outputs < PW_CASE_MAX_OUTPUTS; f++) {
        bool variadic = (f->flags & PW_FORMAL_VARIADIC) != 0;
        for (int64_t n = variadic ? range(d, 1, 3) : 1; n > 0 && outputs < PW_CASE_MAX_OUTPUTS; n--)
            t->c.outputs[outputs++] = "-";
        if ((f->flags & PW_FORMAL_OPTIONAL) == 0)
            fewest = outputs;
    }
    if (op->min_outputs > 0)
        fewest = (size_t)op->min_outputs;
    while (outputs > fewest && chance(d, 40))
        t->c.outputs[--outputs] = NULL;
}

static void print_case(const struct text_case *t)
{
    print_message("  {\"random\", \"%s\", {", t->c.call);
    for (int i = 0; i < INPUTS_MAX && t->c.inputs[i] != NULL; i++)
        print_message("%s\"%s\"", i > 0 ? ", " : "", t->c.inputs[i]);
    print_message("}, …}\n");
}

/* ---- running it ---- */

struct outcome {
    char problem[512]; /* "" = fine */
    bool accepted;
};

static void complain(struct outcome *o, const char *format, ...) PW_PRINTF(2, 3);
static void complain(struct outcome *o, const char *format, ...)
{
    va_list args;
    if (o->problem[0] != '\0')
        return;
    va_start(args, format);
    vsnprintf(o->problem, sizeof o->problem, format, args);
    va_end(args);
}

static void check_error(struct outcome *o, const char *what, pw_status status, const struct pw_error *err)
{
    if (err->message[0] == '\0' || err->status != status)
        complain(o, "%s: status %s without its message", what, pw_status_name(status));
    else if (status == PW_ERR_INTERNAL)
        complain(o, "%s: internal error: %s", what, err->message);
}

/* What was inferred must be what was made, where it is known. */
static void check_info(struct outcome *o, const char *what, int i, const struct pw_info *info,
                       const struct pw_value *value)
{
    if (info->kind != PW_VALUE_TENSOR || value->kind != PW_VALUE_TENSOR)
        return;
    if (info->dtype != PW_DTYPE_UNDEFINED && info->dtype != value->tensor.nominal)
        complain(o, "%s: output %d inferred as %s, made as %s", what, i, pw_dtype_name(info->dtype),
                 pw_dtype_name(value->tensor.nominal));
    if (info->rank >= 0 && info->rank != value->tensor.rank)
        complain(o, "%s: output %d inferred with rank %d, made with %d", what, i, info->rank, value->tensor.rank);
    for (int d = 0; d < info->rank && d < value->tensor.rank; d++) {
        if (info->dims[d] >= 0 && info->dims[d] != value->tensor.dims[d])
            complain(o, "%s: output %d dim %d inferred as %" PRId64 ", made as %" PRId64, what, i, d, info->dims[d],
                     value->tensor.dims[d]);
    }
}

static pw_status evaluate(const struct pw_case_data *data, pw_eval_mode mode, const struct pw_value *const *inputs,
                          struct pw_value *outputs, struct pw_error *err)
{
    struct pw_value carried[INPUTS_MAX] = {{0}};
    const struct pw_value *given[INPUTS_MAX] = {NULL};
    pw_status status = PW_OK;
    for (size_t i = 0; i < data->input_count && status == PW_OK; i++) {
        if (inputs[i] == NULL)
            continue;
        status = pw_eval_carry(&carried[i], inputs[i], mode, err);
        given[i] = &carried[i];
    }
    if (status == PW_OK)
        status =
            pw_eval_node(data->node, mode, given, (int)data->input_count, outputs, (int)data->output_count, 1, err);
    for (size_t i = 0; i < INPUTS_MAX; i++)
        pw_value_clear(&carried[i]);
    return status;
}

/* The same call with symbols for dims that are above 1: no crash, and no other rank than the numbers give. */
static void check_symbolic(struct outcome *o, const struct pw_case_data *data, const struct pw_call *concrete,
                           struct pw_dims *dims, struct pw_arena *arena)
{
    struct pw_call call = *concrete;
    struct pw_info infos[INPUTS_MAX], out[PW_CASE_MAX_OUTPUTS] = {{0}};
    const struct pw_info *in[INPUTS_MAX] = {NULL};
    struct pw_error err = {0};
    for (int i = 0; i < call.input_count; i++) {
        const struct pw_formal *formal = pw_op_formal(call.op->inputs, (size_t)i);
        if (concrete->in[i] == NULL)
            continue;
        infos[i] = *concrete->in[i];
        in[i] = &infos[i];
        if (formal == NULL || (formal->flags & PW_FORMAL_PARAM) != 0)
            continue;
        infos[i].constant = NULL;
        infos[i].content = NULL;
        for (int d = 0; d < infos[i].rank && infos[i].kind == PW_VALUE_TENSOR; d++) {
            char name[16];
            snprintf(name, sizeof name, "d%" PRId64, infos[i].dims[d]);
            if (infos[i].dims[d] > 1)
                infos[i].dims[d] = pw_dims_symbol(dims, name);
        }
    }
    for (int i = 0; i < call.output_count; i++)
        out[i].rank = -1;
    call.in = in;
    call.out = out;
    call.arena = arena;
    pw_status status = call.op->infer(&call, &err);
    if (status != PW_OK) {
        check_error(o, "with symbols", status, &err);
        return;
    }
    for (int i = 0; i < call.output_count; i++) {
        if (call.wanted[i] && out[i].kind == PW_VALUE_TENSOR && concrete->out[i].kind == PW_VALUE_TENSOR &&
            out[i].rank >= 0 && concrete->out[i].rank >= 0 && out[i].rank != concrete->out[i].rank)
            complain(o, "output %d has rank %d with symbols and %d with numbers", i, out[i].rank,
                     concrete->out[i].rank);
    }
    (void)data;
}

static void run_parsed(struct outcome *o, const struct pw_case_data *data, const struct pw_call *call,
                       const struct pw_value *const *inputs)
{
    struct pw_value golden[PW_CASE_MAX_OUTPUTS] = {{0}}, fast[PW_CASE_MAX_OUTPUTS] = {{0}};
    struct pw_error err = {0};
    pw_status status = evaluate(data, PW_EVAL_GOLDEN, inputs, golden, &err);
    if (status != PW_OK)
        check_error(o, "golden", status, &err);
    o->accepted = status == PW_OK;
    for (size_t i = 0; i < data->output_count && status == PW_OK; i++)
        check_info(o, "golden", (int)i, &call->out[i], &golden[i]);
    if (status == PW_OK && data->node->op->fast != NULL) {
        pw_error_clear(&err);
        if (evaluate(data, PW_EVAL_FAST, inputs, fast, &err) != PW_OK)
            complain(o, "golden accepts what fast refuses: %s", err.message);
        for (size_t i = 0; i < data->output_count && o->problem[0] == '\0'; i++)
            check_info(o, "fast", (int)i, &call->out[i], &fast[i]);
    }
    for (size_t i = 0; i < PW_CASE_MAX_OUTPUTS; i++) {
        pw_value_clear(&golden[i]);
        pw_value_clear(&fast[i]);
    }
}

static struct outcome run_case(const struct text_case *t)
{
    struct outcome o = {{0}, false};
    struct pw_case_data data;
    struct pw_arena arena = {0};
    struct pw_dims *dims = NULL;
    struct pw_call call = {0};
    struct pw_error err = {0};
    const struct pw_value *inputs[INPUTS_MAX] = {NULL};
    if (pw_case_parse(&t->c, &data, &err) != PW_OK)
        return o; /* a value that the type does not hold */
    assert_int_equal(pw_dims_create(&dims, NULL), PW_OK);
    for (size_t i = 0; i < data.input_count; i++)
        inputs[i] = data.node->inputs[i] == PW_NO_VALUE ? NULL : &data.inputs[i];
    pw_status status = pw_op_check(data.node->op, data.node, &err);
    if (status == PW_OK)
        status = pw_call_from_values(data.node, inputs, (int)data.input_count, dims, &arena, &call, &err);
    if (status != PW_OK) {
        check_error(&o, "inference", status, &err);
    } else if (data.node->op->golden != NULL) {
        run_parsed(&o, &data, &call, inputs);
        check_symbolic(&o, &data, &call, dims, &arena);
    }
    pw_case_clear(&data);
    pw_arena_clear(&arena);
    pw_dims_destroy(dims);
    return o;
}

static void test_room(void **state)
{
    const struct pw_room *room = *state;
    size_t problems = 0, accepted = 0, total = 0;
    for (const struct pw_op *op = room->ops; op->name != NULL; op++) {
        struct draw d = {.stream = pw_hash64(op->name, strlen(op->name), (uint64_t)op->since)};
        char label[128];
        size_t wrong = 0;
        if (strstr(pw_op_label(op, label, sizeof label), filter) == NULL || needs_graph(op))
            continue;
        for (int n = 0; n < calls_each; n++, total++) {
            struct text_case t;
            draw_case(op, &d, &t);
            if (trace)
                print_case(&t);
            struct outcome o = run_case(&t);
            accepted += o.accepted;
            if (o.problem[0] != '\0' && wrong++ < 2) {
                print_message("%s: %s\n", label, o.problem);
                print_case(&t);
            }
            clear_case(&t);
        }
        problems += wrong;
    }
    print_message("%s: %zu calls, %zu accepted, %zu wrong\n", room->name, total, accepted, problems);
    assert_int_equal(problems, 0);
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[ROOMS_MAX];
    size_t count = 0;
    filter = argc > 1 ? argv[1] : "";
    calls_each = argc > 2 ? (int)strtol(argv[2], NULL, 10) : calls_each;
    seed = argc > 3 ? strtoull(argv[3], NULL, 10) : seed;
    trace = getenv("PW_TRACE") != NULL;
    for (const struct pw_room *room = pw_rooms; room->name != NULL && count < ROOMS_MAX; room++)
        tests[count++] = (struct CMUnitTest){room->name, test_room, NULL, NULL, (void *)(uintptr_t)room};
    return _cmocka_run_group_tests("random calls", tests, count, NULL, NULL);
}
