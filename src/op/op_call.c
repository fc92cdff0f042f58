/* What a room's callbacks ask of their call: attributes, contents, shapes, output helpers. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "op/op.h"

#define MAX_CONTENT ((int64_t)1 << 20)

/* ---- a call of one's own ---- */

pw_status pw_call_own_init(const struct pw_call *call, struct pw_call_own *out, struct pw_error *err)
{
    struct pw_dims *dims = NULL;
    pw_status status = pw_dims_borrow(call->dims, &dims, err);

    if (status != PW_OK)
        return status;
    *out = (struct pw_call_own){.call = *call, .dims = dims};
    out->call.arena = &out->arena;
    out->call.dims = dims;
    return PW_OK;
}

void pw_call_own_clear(struct pw_call_own *own)
{
    pw_dims_destroy(own->dims);
    pw_arena_clear(&own->arena);
    *own = (struct pw_call_own){0};
}

/* ---- attributes ---- */

static const struct pw_attr *find_attr(const struct pw_call *call, const char *name, pw_attr_type type)
{
    const struct pw_attr *attr = pw_node_attr(call->node, name);

    return attr != NULL && attr->type == type ? attr : NULL;
}

static const struct pw_attr_def *find_default(const struct pw_call *call, const char *name)
{
    for (const struct pw_attr_def *def = call->op->attrs; def != NULL && def->name != NULL; def++) {
        if (strcmp(def->name, name) == 0)
            return def;
    }
    return NULL;
}

int64_t pw_call_int(const struct pw_call *call, const char *name)
{
    const struct pw_attr *attr = find_attr(call, name, PW_ATTR_INT);
    const struct pw_attr_def *def = find_default(call, name);

    return attr != NULL ? attr->i : def != NULL ? def->i : 0;
}

float pw_call_float(const struct pw_call *call, const char *name)
{
    const struct pw_attr *attr = find_attr(call, name, PW_ATTR_FLOAT);
    const struct pw_attr_def *def = find_default(call, name);

    return attr != NULL ? attr->f : def != NULL ? def->f : 0.0f;
}

const char *pw_call_string(const struct pw_call *call, const char *name)
{
    const struct pw_attr *attr = find_attr(call, name, PW_ATTR_STRING);
    const struct pw_attr_def *def = find_default(call, name);

    if (attr != NULL && attr->s.data != NULL)
        return attr->s.data;
    return def != NULL && def->s != NULL ? def->s : "";
}

bool pw_call_draws(const struct pw_call *call)
{
    return call->op->random && (call->op->draws == NULL || call->op->draws(call));
}

uint64_t pw_draw_seed(uint64_t run_seed, uint64_t n)
{
    return run_seed + n * 0x9E3779B97F4A7C15u;
}

pw_dim pw_call_elements(const struct pw_call *call, const struct pw_info *info)
{
    pw_dim product = 1;

    if (info->rank < 0)
        return PW_DIM_UNKNOWN;
    for (int d = 0; d < info->rank; d++)
        product = pw_dims_mul(call->dims, product, info->dims[d]);
    return product;
}

#define SPAN_MAX (INT64_MAX / 64)

pw_status pw_call_numbers(const struct pw_call *call, const struct pw_info *info, int64_t *dims, struct pw_error *err)
{
    int64_t span = 1; /* of all dims but the empty ones: strides must not overflow beside a 0 either */

    if (info == NULL || info->kind != PW_VALUE_TENSOR || info->rank < 0)
        return pw_call_error(call, err, "a shape is not known");
    for (int d = 0; d < info->rank; d++) {
        if (info->dims[d] < 0)
            return pw_call_error(call, err, "dim %d of a shape is not a known number", d);
        if (__builtin_mul_overflow(span, info->dims[d] > 0 ? info->dims[d] : 1, &span) || span > SPAN_MAX)
            return pw_call_error(call, err, "a shape is too large");
        dims[d] = info->dims[d];
    }
    return PW_OK;
}

/* ---- ready-made callbacks ---- */

pw_status pw_cost_none(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    (void)call;
    (void)err;
    cost->flops = 0;
    return PW_OK;
}

void pw_accuracy_copy(const struct pw_call *call, struct pw_accuracy *accuracy)
{
    (void)call;
    *accuracy = (struct pw_accuracy){
        .exact = true,
        .length = 1,
        .amplification = 1.0,
        .sensitivity = PW_SENSITIVITY_LOW,
        .reason = "moves elements unchanged",
        .why = "copies are bitwise equal",
    };
}

/* ---- sizes that the data decides ---- */

void pw_call_take_most(struct pw_call *call)
{
    pw_dim dim = call->op != NULL && call->op->most != NULL ? call->op->most(call) : PW_DIM_UNKNOWN;
    int64_t most, value;

    if (!pw_dims_value(call->dims, dim, &most))
        return;
    for (int i = 0; i < call->output_count; i++) {
        struct pw_info *info = &call->out[i];

        for (int d = 0; call->wanted[i] && info->kind == PW_VALUE_TENSOR && d < info->rank; d++) {
            if (pw_dims_value(call->dims, info->dims[d], &value))
                continue;
            info->dims[d] = dim;
            info->open |= 1u << d;
        }
    }
}

pw_status pw_call_cut(const struct pw_call *call, int64_t found, struct pw_value *outputs, struct pw_error *err)
{
    for (int i = 0; i < call->output_count; i++) {
        struct pw_tensor *t = &outputs[i].tensor;
        int64_t count = 1;

        if (call->out[i].open == 0 || outputs[i].kind != PW_VALUE_TENSOR)
            continue;
        for (int d = 0; d < t->rank; d++) {
            bool open = call->out[i].open >> d & 1;

            if (open && (found < 0 || found > t->dims[d]))
                return pw_error_set(err, PW_ERR_TARGET,
                                    "the kernel says that %" PRId64 " were found, of at most %" PRId64, found,
                                    t->dims[d]);
            if (open)
                t->dims[d] = found;
            count *= t->dims[d];
        }
        t->count = count;
    }
    return PW_OK;
}

bool pw_call_has(const struct pw_call *call, const char *name)
{
    return pw_node_attr(call->node, name) != NULL;
}

const int64_t *pw_call_ints(const struct pw_call *call, const char *name, size_t *count)
{
    const struct pw_attr *attr = find_attr(call, name, PW_ATTR_INTS);

    *count = attr != NULL ? attr->count : 0;
    return attr != NULL ? attr->ints : NULL;
}

const float *pw_call_floats(const struct pw_call *call, const char *name, size_t *count)
{
    const struct pw_attr *attr = find_attr(call, name, PW_ATTR_FLOATS);

    *count = attr != NULL ? attr->count : 0;
    return attr != NULL ? attr->floats : NULL;
}

const struct pw_tensor *pw_call_tensor(const struct pw_call *call, const char *name)
{
    const struct pw_attr *attr = find_attr(call, name, PW_ATTR_TENSOR);

    return attr != NULL ? attr->tensor : NULL;
}

/* ---- inputs ---- */

bool pw_call_is_floating(const struct pw_call *call)
{
    for (int i = 0; i < call->input_count; i++)
        if (call->in[i] && pw_dtype_is_float(call->in[i]->dtype))
            return true;
    for (int i = 0; i < call->output_count; i++)
        if (call->wanted[i] && pw_dtype_is_float(call->out[i].dtype))
            return true;
    return false;
}

bool pw_call_input(const struct pw_call *call, int i)
{
    return i >= 0 && i < call->input_count && call->in[i] != NULL;
}

pw_status pw_call_content(const struct pw_call *call, int input, const int64_t **values, size_t *count, bool *known,
                          struct pw_error *err)
{
    const struct pw_info *info = pw_call_input(call, input) ? call->in[input] : NULL;
    const struct pw_tensor *constant = info != NULL ? info->constant : NULL;
    bool whole = info != NULL && info->content != NULL;
    int64_t *made = NULL;
    size_t size = 0;

    *known = false;
    if (!whole) {
        pw_dtype dtype = constant != NULL ? constant->dtype : PW_DTYPE_UNDEFINED;

        if (!(pw_dtype_is_integer(dtype) || dtype == PW_DTYPE_BOOL) || constant->count > MAX_CONTENT)
            return PW_OK;
        size = (size_t)constant->count;
    } else {
        size = info->content_count;
    }
    made = pw_arena_alloc(call->arena, size + 1, sizeof *made);
    if (made == NULL)
        return pw_error_memory(err, size * sizeof *made);
    for (size_t i = 0; i < size; i++) {
        if (!whole)
            made[i] = pw_tensor_get_int(constant, (int64_t)i);
        else if (!pw_dims_value(call->dims, info->content[i], &made[i]))
            return PW_OK;
    }
    *values = made;
    *count = size;
    *known = true;
    return PW_OK;
}

pw_status pw_call_error(const struct pw_call *call, struct pw_error *err, const char *format, ...)
{
    char where[256], text[PW_ERROR_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return pw_error_set(err, PW_ERR_MODEL, "%s: %s", pw_node_where(call->node, where, sizeof where), text);
}

/* ---- outputs ---- */

void pw_call_output(struct pw_call *call, int i, pw_dtype dtype, int rank, const pw_dim *dims)
{
    struct pw_info *out;

    if (i < 0 || i >= call->output_count)
        return;
    out = &call->out[i];
    *out = (struct pw_info){.kind = PW_VALUE_TENSOR, .dtype = dtype, .rank = rank};
    for (int d = 0; d < rank; d++)
        out->dims[d] = dims[d];
}

void pw_call_output_like(struct pw_call *call, int i, int input)
{
    const struct pw_info *in = pw_call_input(call, input) ? call->in[input] : NULL;

    if (in == NULL) {
        pw_call_output_unknown(call, i, PW_DTYPE_UNDEFINED);
        return;
    }
    pw_call_output(call, i, in->dtype, in->kind == PW_VALUE_NONE ? -1 : in->rank, in->dims);
    if (in->kind == PW_VALUE_SEQUENCE && i >= 0 && i < call->output_count)
        call->out[i].kind = PW_VALUE_SEQUENCE;
}

void pw_call_output_unknown(struct pw_call *call, int i, pw_dtype dtype)
{
    pw_call_output(call, i, dtype, -1, NULL);
}

pw_status pw_call_axis(const struct pw_call *call, int64_t axis, int rank, int *out, struct pw_error *err)
{
    if (axis < -(int64_t)rank || axis >= rank)
        return pw_call_error(call, err, "axis %" PRId64 ", but the input has rank %d", axis, rank);
    *out = (int)(axis < 0 ? axis + rank : axis);
    return PW_OK;
}

static void describe_shape(const struct pw_call *call, int rank, const pw_dim *dims, struct pw_buf *out)
{
    pw_buf_putc(out, '[');
    for (int d = 0; d < rank; d++) {
        pw_buf_puts(out, d > 0 ? "," : "");
        pw_dims_print(call->dims, dims[d], out);
    }
    pw_buf_putc(out, ']');
}

static pw_status broadcast_error(const struct pw_call *call, int rank, const pw_dim *dims, const struct pw_info *info,
                                 struct pw_error *err)
{
    struct pw_buf a = {0}, b = {0};
    char shown_a[160], shown_b[160];
    pw_status status;

    describe_shape(call, rank, dims, &a);
    describe_shape(call, info->rank, info->dims, &b);
    status = pw_call_error(call, err, "shapes %s and %s do not broadcast",
                           pw_text_show(shown_a, sizeof shown_a, pw_buf_text(&a), 120),
                           pw_text_show(shown_b, sizeof shown_b, pw_buf_text(&b), 120));
    pw_buf_clear(&a);
    pw_buf_clear(&b);
    return status;
}

pw_status pw_call_broadcast(const struct pw_call *call, const int *inputs, int count, int *rank, pw_dim *dims,
                            struct pw_error *err)
{
    pw_dim made[PW_MAX_RANK];
    int made_rank = 0;

    for (int i = 0; i < count; i++) {
        const struct pw_info *info = pw_call_input(call, inputs[i]) ? call->in[inputs[i]] : NULL;
        int shift;

        if (info == NULL)
            continue;
        if (info->kind != PW_VALUE_TENSOR || info->rank < 0) {
            *rank = -1;
            return PW_OK;
        }
        shift = info->rank - made_rank;
        if (shift > 0) { /* make room in front */
            memmove(made + shift, made, (size_t)made_rank * sizeof *made);
            for (int d = 0; d < shift; d++)
                made[d] = 1;
            made_rank = info->rank;
        }
        shift = made_rank - info->rank;
        for (int d = 0; d < info->rank; d++) {
            if (!pw_dims_broadcast(call->dims, made[shift + d], info->dims[d], &made[shift + d]))
                return broadcast_error(call, made_rank, made, info, err);
        }
    }
    *rank = made_rank;
    memcpy(dims, made, (size_t)made_rank * sizeof *dims);
    return PW_OK;
}

/* ---- ready-made inference ---- */

pw_status pw_infer_same(struct pw_call *call, struct pw_error *err)
{
    (void)err;
    pw_call_output_like(call, 0, 0);
    return PW_OK;
}

static pw_status infer_broadcast(struct pw_call *call, pw_dtype dtype, struct pw_error *err)
{
    int *inputs = pw_arena_alloc(call->arena, (size_t)call->input_count + 1, sizeof *inputs);
    pw_dim dims[PW_MAX_RANK];
    int rank = 0;
    pw_status status;

    if (inputs == NULL)
        return pw_error_memory(err, (size_t)call->input_count * sizeof *inputs);
    for (int i = 0; i < call->input_count; i++)
        inputs[i] = i;
    status = pw_call_broadcast(call, inputs, call->input_count, &rank, dims, err);
    if (status == PW_OK)
        pw_call_output(call, 0, dtype, rank, dims);
    return status;
}

pw_status pw_infer_broadcast(struct pw_call *call, struct pw_error *err)
{
    return infer_broadcast(call, pw_call_input(call, 0) ? call->in[0]->dtype : PW_DTYPE_UNDEFINED, err);
}

pw_status pw_infer_compare(struct pw_call *call, struct pw_error *err)
{
    return infer_broadcast(call, PW_DTYPE_BOOL, err);
}
