/*
 * Every registered operator on random calls: an error or a right answer, no crash, bounded memory.
 * Right means: what inference says of an output is what golden makes, and inference on symbols agrees
 * with inference on the numbers that the symbols stand for.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "graph/infer_internal.h"
#include "graph/inventory.h"
#include "random_node.h"
#include "run/eval.h"

#define ROUNDS 100
#define ARENA_LIMIT ((size_t)4 << 20)

static bool failed; /* by the current operator: its first failure is enough */

static size_t rounds(void)
{
    const char *text = getenv("PW_RANDOM_ROUNDS");

    return text != NULL ? strtoull(text, NULL, 10) : ROUNDS;
}

static void print_call(const struct random_call *c, const char *label)
{
    struct pw_buf text = {0};

    pw_buf_printf(&text, "%s", label);
    for (size_t i = 0; i < c->node.attr_count; i++) {
        const struct pw_attr *attr = &c->attrs[i];

        pw_buf_printf(&text, " %s=", attr->name);
        if (attr->type == PW_ATTR_INT)
            pw_buf_printf(&text, "%" PRId64, attr->i);
        if (attr->type == PW_ATTR_STRING)
            pw_buf_printf(&text, "'%s'", attr->s.data);
        for (size_t k = 0; attr->type == PW_ATTR_INTS && k < attr->count; k++)
            pw_buf_printf(&text, "%s%" PRId64, k > 0 ? "," : "[", attr->ints[k]);
    }
    for (size_t i = 0; i < c->node.input_count; i++) {
        pw_buf_puts(&text, i > 0 ? ", " : " (");
        if (c->inputs[i] == PW_NO_VALUE)
            pw_buf_putc(&text, '-');
        else if (c->given[i].kind == PW_VALUE_TENSOR)
            pw_tensor_describe(&c->given[i].tensor, &text);
        else
            pw_buf_puts(&text, "seq");
        if (c->given[i].kind == PW_VALUE_TENSOR && pw_dtype_is_integer(c->given[i].tensor.dtype)) {
            for (int64_t k = 0; k < c->given[i].tensor.count && k < 8; k++)
                pw_buf_printf(&text, " %" PRId64, pw_tensor_get_int(&c->given[i].tensor, k));
        }
        pw_buf_puts(&text, c->constant[i] ? " const" : "");
    }
    fprintf(stderr, "%s) -> %zu outputs\n", pw_buf_text(&text), c->node.output_count);
    pw_buf_clear(&text);
}

/* Calls `test` with fresh calls of every operator. */
static void each_op(bool hostile, void (*test)(struct random_call *c, struct dice *d, const char *label))
{
    const char *only = getenv("PW_RANDOM_OP");
    bool trace = getenv("PW_RANDOM_TRACE") != NULL;
    size_t failures = 0;
    char label[128];

    for (const struct pw_room *room = pw_rooms; room->name != NULL; room++) {
        for (const struct pw_op *op = room->ops; op->name != NULL; op++) {
            struct dice dice = {.state = 0x9e3779b97f4a7c15u};

            pw_op_label(op, label, sizeof label);
            if (only != NULL && strcmp(only, op->name) != 0)
                continue;
            for (const char *p = label; *p != '\0'; p++)
                dice.state = (dice.state ^ (unsigned char)*p) * 0x100000001b3u;
            failed = false;
            for (size_t round = 0; round < rounds() && !failed; round++) {
                struct random_call call;
                struct dice own = {.state = roll(&dice) | 1};

                random_make(&call, &own, op, hostile);
                if (trace)
                    print_call(&call, label);
                test(&call, &own, label);
                random_clear(&call);
            }
            failures += failed;
        }
    }
    assert_int_equal(failures, 0);
}

static void note(const struct random_call *c, const char *label, const char *format, ...) PW_PRINTF(3, 4);
static void note(const struct random_call *c, const char *label, const char *format, ...)
{
    va_list args;

    failed = true;
    print_call(c, label);
    fprintf(stderr, "    ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
}

/* ---- inference against golden ---- */

static void expect_same(const struct random_call *c, const char *label, size_t i, const struct pw_info *info,
                        const struct pw_value *value)
{
    struct pw_buf text = {0};
    bool good = true;

    if (value->kind != PW_VALUE_TENSOR || info->kind != PW_VALUE_TENSOR)
        return;
    if (info->dtype != PW_DTYPE_UNDEFINED && info->dtype != value->tensor.nominal)
        good = false;
    if (info->rank >= 0 && info->rank != value->tensor.rank)
        good = false;
    for (int d = 0; good && d < info->rank; d++)
        good = info->dims[d] < 0 || info->dims[d] == value->tensor.dims[d];
    if (good)
        return;
    pw_buf_printf(&text, "inferred %s rank %d:", pw_dtype_name(info->dtype), info->rank);
    for (int d = 0; d < info->rank; d++)
        pw_buf_printf(&text, " %" PRId64, info->dims[d]);
    pw_buf_puts(&text, ", golden made ");
    pw_tensor_describe(&value->tensor, &text);
    note(c, label, "output %zu: %s", i, pw_buf_text(&text));
    pw_buf_clear(&text);
}

static void against_golden(struct random_call *c, struct dice *d, const char *label)
{
    const struct pw_value *in[RANDOM_INPUTS] = {NULL};
    struct pw_value out[RANDOM_OUTPUTS] = {{0}};
    struct pw_dims *dims = NULL;
    struct pw_arena arena = {0};
    struct pw_call call;
    struct pw_error err = {0};

    (void)d;
    if (c->node.op->category == PW_CATEGORY_CONTROL) /* a random Loop may well never end */
        return;
    for (size_t i = 0; i < c->node.input_count; i++)
        in[i] = c->inputs[i] == PW_NO_VALUE ? NULL : &c->given[i];
    assert_int_equal(pw_dims_create(&dims, NULL), PW_OK);
    if (pw_op_check(c->node.op, &c->node, &err) == PW_OK &&
        pw_call_from_values(&c->node, in, (int)c->node.input_count, dims, &arena, &call, &err) == PW_OK) {
        if (pw_eval_node(&c->node, PW_EVAL_GOLDEN, in, (int)c->node.input_count, out, (int)c->node.output_count, 1,
                         &err) == PW_OK) {
            for (size_t i = 0; i < c->node.output_count; i++)
                expect_same(c, label, i, &call.out[i], &out[i]);
        } else if (err.message[0] == '\0' || err.status == PW_ERR_NO_MEMORY) {
            note(c, label, "golden fails: %s", err.message);
        }
    } else if (err.message[0] == '\0') {
        note(c, label, "refused without a message");
    }
    for (size_t i = 0; i < c->node.output_count; i++)
        pw_value_clear(&out[i]);
    pw_arena_clear(&arena);
    pw_dims_destroy(dims);
}

static void test_against_golden(void **state)
{
    (void)state;
    each_op(false, against_golden);
}

/* ---- symbols against numbers ---- */

/* Declares the inputs: dims become symbols "d<size>" (percent of them), or stay numbers. */
static void declare(struct random_call *c, struct dice *d, int percent, bool hostile)
{
    for (size_t i = 0; i < c->node.input_count; i++) {
        const struct pw_tensor *t =
            c->given[i].kind == PW_VALUE_SEQUENCE ? &c->given[i].items[0].tensor : &c->given[i].tensor;
        struct pw_type *type = random_alloc(c, 2, sizeof *type);

        if (c->inputs[i] == PW_NO_VALUE)
            continue;
        *type = (struct pw_type){.kind = PW_TYPE_TENSOR, .dtype = t->dtype, .has_shape = true, .rank = t->rank};
        type->dim_names = random_alloc(c, (size_t)t->rank + 1, sizeof *type->dim_names);
        type->dim_values = random_alloc(c, (size_t)t->rank + 1, sizeof *type->dim_values);
        for (int k = 0; k < t->rank; k++) {
            type->dim_values[k] = t->dims[k];
            if (hostile && chance(d, 20))
                type->dim_values[k] = random_int(d, true);
            if (!chance(d, percent) && (hostile || t->dims[k] > 0)) /* a declared 0 would be an open dim */
                continue;
            type->dim_names[k] = pw_arena_printf(&c->arena, "d%" PRId64, t->dims[k]);
            type->dim_values[k] = -1;
        }
        if (hostile && chance(d, 10))
            type->has_shape = false;
        c->values[c->inputs[i]].type = type;
        if (c->given[i].kind == PW_VALUE_SEQUENCE) {
            type[1] = (struct pw_type){.kind = PW_TYPE_SEQUENCE, .element = type};
            c->values[c->inputs[i]].type = &type[1];
        }
    }
}

static const struct pw_binding sizes[] = {{"d0", 0}, {"d1", 1}, {"d2", 2}, {"d3", 3}, {"d4", 4}, {"d5", 5}, {"d6", 6}};

static void expect_consistent(const struct random_call *c, const char *label, size_t i, const struct pw_dims *dims,
                              const struct pw_info *symbolic, const struct pw_info *numbers)
{
    bool good = symbolic->rank < 0 || numbers->rank < 0 || symbolic->rank == numbers->rank;
    int64_t got = 0, want = 0;

    good = good && (symbolic->dtype == numbers->dtype || symbolic->dtype == PW_DTYPE_UNDEFINED ||
                    numbers->dtype == PW_DTYPE_UNDEFINED);
    for (int k = 0; good && k < symbolic->rank && k < numbers->rank; k++) {
        if (pw_dims_value(dims, numbers->dims[k], &want) &&
            pw_dims_eval(dims, symbolic->dims[k], sizes, PW_COUNT_OF(sizes), &got))
            good = got == want;
    }
    if (good)
        return;
    note(c, label, "output %zu: symbols give rank %d and %" PRId64 ", numbers rank %d and %" PRId64, i, symbolic->rank,
         got, numbers->rank, want);
}

struct occurrence {
    const char *name;
    bool found;
};

static void look(void *user, const char *symbol)
{
    struct occurrence *o = user;

    o->found = o->found || strcmp(o->name, symbol) == 0;
}

static bool occurs(const struct random_call *c, const struct pw_inference *inference, const char *name)
{
    struct occurrence o = {.name = name};

    for (size_t i = 0; i < c->graph.input_count; i++) {
        const struct pw_info *info = pw_inference_at(inference, &c->graph, c->graph.inputs[i]);

        for (int k = 0; k < info->rank; k++)
            pw_dims_symbols(pw_inference_dims(inference), info->dims[k], look, &o);
    }
    return o.found;
}

/* A symbol that stands for 1 may be refused where only 1 fits. */
static bool has_one(const struct random_call *c)
{
    for (size_t i = 0; i < c->node.input_count; i++) {
        for (int k = 0; c->given[i].kind == PW_VALUE_TENSOR && k < c->given[i].tensor.rank; k++) {
            if (c->given[i].tensor.dims[k] == 1)
                return true;
        }
    }
    return false;
}

/* Cuts of a symbolic extent are taken to lie inside it: x[:, 1:] is sequence - 1, though a sequence could be empty. */
static bool cuts(const struct pw_op *op)
{
    return strcmp(op->name, "Slice") == 0 || strcmp(op->name, "Split") == 0;
}

static bool has_empty(const struct random_call *c)
{
    for (size_t i = 0; i < c->node.input_count; i++) {
        if (c->given[i].kind == PW_VALUE_TENSOR && c->given[i].tensor.count == 0)
            return true;
    }
    return false;
}

static void symbols_and_numbers(struct random_call *c, struct dice *d, const char *label)
{
    struct pw_inference *symbolic = NULL, *numbers = NULL;
    const struct pw_graph *graph = &c->graph;
    struct pw_binding bound[PW_COUNT_OF(sizes)];
    size_t count = 0;
    struct pw_error err = {0}, other = {0};

    if (has_empty(c) || cuts(c->node.op)) /* of two symbols the larger is taken, which an empty one belies */
        return;
    declare(c, d, 60, false);
    (void)pw_infer_graph(&c->model, NULL, 0, &symbolic, &err);
    for (size_t i = 0; symbolic != NULL && i < PW_COUNT_OF(sizes); i++) { /* only those that occur may be bound */
        if (occurs(c, symbolic, sizes[i].name))
            bound[count++] = sizes[i];
    }
    for (size_t i = 0; symbolic == NULL && i < c->node.input_count; i++) { /* numbers, by declaring them */
        struct pw_type *type =
            c->inputs[i] == PW_NO_VALUE ? NULL : (struct pw_type *)(uintptr_t)c->values[c->inputs[i]].type;

        while (type != NULL && type->kind == PW_TYPE_SEQUENCE)
            type = (struct pw_type *)(uintptr_t)type->element;
        for (int k = 0; type != NULL && k < type->rank; k++) {
            type->dim_values[k] = c->given[i].kind == PW_VALUE_SEQUENCE ? c->given[i].items[0].tensor.dims[k]
                                                                        : c->given[i].tensor.dims[k];
            type->dim_names[k] = NULL;
        }
    }
    (void)pw_infer_graph(&c->model, bound, count, &numbers, &other);
    if (symbolic == NULL && numbers != NULL && !has_one(c)) {
        note(c, label, "numbers hold, but symbols are refused: %s", err.message);
    }
    for (size_t i = 0; symbolic != NULL && numbers != NULL && i < c->node.output_count; i++)
        expect_consistent(c, label, i, pw_inference_dims(symbolic), pw_inference_at(symbolic, graph, c->outputs[i]),
                          pw_inference_at(numbers, graph, c->outputs[i]));
    pw_inference_destroy(symbolic);
    pw_inference_destroy(numbers);
}

static void test_symbols_and_numbers(void **state)
{
    (void)state;
    each_op(false, symbols_and_numbers);
}

/* ---- hostile ---- */

static void hostile(struct random_call *c, struct dice *d, const char *label)
{
    struct pw_inference *inference = NULL;
    struct pw_inventory *inventory = NULL;
    struct pw_error err = {0};

    declare(c, d, 30, true);
    if (pw_infer_graph(&c->model, NULL, 0, &inference, &err) != PW_OK) {
        assert_string_not_equal(err.message, "");
        return;
    }
    if (inference->arena.used_bytes > ARENA_LIMIT) {
        note(c, label, "%zu bytes", inference->arena.used_bytes);
    }
    for (size_t i = 0; i < c->node.output_count; i++) {
        const struct pw_info *info = pw_inference_at(inference, &c->graph, c->outputs[i]);

        assert_true(info->rank >= -1 && info->rank <= PW_MAX_RANK);
        assert_true((unsigned)info->dtype < PW_DTYPE_COUNT);
    }
    if (pw_inventory_create(&c->model, inference, &inventory, &err) != PW_OK)
        assert_string_not_equal(err.message, "");
    pw_inventory_destroy(inventory);
    pw_inference_destroy(inference);
}

static void test_hostile(void **state)
{
    (void)state;
    each_op(true, hostile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_golden),
        cmocka_unit_test(test_symbols_and_numbers),
        cmocka_unit_test(test_hostile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
