/* Drawing the inputs of a generated case. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "graph/infer.h"
#include "verify/verify_internal.h"

#define EXACT_RANGE 4 /* `exact` draws integers in [-4, 4] */
#define DEFAULT_INT_RANGE 100

void pw_case_inputs_clear(struct pw_case_inputs *inputs)
{
    for (int i = 0; i < inputs->count; i++)
        pw_value_clear(&inputs->values[i]);
    pw_dims_destroy(inputs->dims);
    pw_arena_clear(&inputs->arena);
    memset(inputs, 0, sizeof *inputs);
}

static bool is_param(const struct pw_op *op, int input)
{
    int i = 0;

    for (const struct pw_formal *f = op->inputs; f && f->name; f++, i++)
        if (i == input || ((f->flags & PW_FORMAL_VARIADIC) && input >= i))
            return (f->flags & PW_FORMAL_PARAM) != 0;
    return false;
}

/* Brings a draw into the room's domain without piling up at its borders. */
static double into_domain(double x, const struct pw_fill *fill)
{
    bool low = isfinite(fill->low), high = isfinite(fill->high);

    if (low && high) {
        double unit = 0.5 + 0.5 * erf(x * M_SQRT1_2); /* uniform when x is normal */

        return fill->low + (fill->high - fill->low) * unit;
    }
    if (low)
        return fill->low + fabs(x);
    if (high)
        return fill->high - fabs(x);
    return x;
}

static double draw_float(pw_dist dist, uint64_t seed, uint64_t stream, uint64_t i, const struct pw_fill *fill)
{
    switch (dist) {
    case PW_DIST_EXACT: {
        int64_t low = isfinite(fill->low) ? (int64_t)ceil(fill->low) : -EXACT_RANGE;
        int64_t high = isfinite(fill->high) ? (int64_t)floor(fill->high) : low + 2 * EXACT_RANGE;

        if (low > high)
            return into_domain(pw_random_normal(seed, stream, i), fill);
        return (double)pw_random_range(seed, stream, i, low, high);
    }
    case PW_DIST_UNIFORM:
        if (isfinite(fill->low) && isfinite(fill->high))
            return fill->low + (fill->high - fill->low) * (double)pw_random_unit(seed, stream, i);
        return into_domain(2.0 * (double)pw_random_unit(seed, stream, i) - 1.0, fill);
    default:
        return into_domain(pw_random_normal(seed, stream, i), fill);
    }
}

static void draw_ints(struct pw_tensor *t, pw_dist dist, uint64_t seed, uint64_t stream, const struct pw_fill *fill)
{
    const struct pw_dtype_facts *facts = pw_dtype_facts(t->dtype);
    int64_t low = fill->int_low, high = fill->int_high;

    (void)dist;
    if (facts->kind == PW_KIND_UNSIGNED && low < 0)
        low = 0;
    if (facts->max < 9e18 && (double)high > facts->max)
        high = (int64_t)facts->max;
    if (facts->kind == PW_KIND_SIGNED && facts->max < 9e18 && (double)low < -facts->max)
        low = (int64_t)-facts->max;
    if (low > high)
        low = high;
    for (int64_t i = 0; i < t->count; i++)
        pw_tensor_set_int(t, i, pw_random_range(seed, stream, (uint64_t)i, low, high));
    if (fill->distinct && t->rank > 0) { /* each row of the last axis: a shuffled run of distinct values */
        int64_t n = t->dims[t->rank - 1];

        for (int64_t i = 0; i < t->count; i++)
            pw_tensor_set_int(t, i, low + i % n);
        for (int64_t row = 0; n > 1 && row < t->count / n; row++)
            for (int64_t k = n - 1; k > 0; k--) {
                int64_t j = pw_random_range(seed, stream, (uint64_t)(row * n + k), 0, k);
                int64_t a = pw_tensor_get_int(t, row * n + k), b = pw_tensor_get_int(t, row * n + j);

                pw_tensor_set_int(t, row * n + k, b);
                pw_tensor_set_int(t, row * n + j, a);
            }
    }
}

static void draw_tensor(struct pw_tensor *t, pw_dist dist, uint64_t seed, uint64_t stream, const struct pw_fill *fill)
{
    const struct pw_dtype_facts *facts = pw_dtype_facts(t->dtype);

    switch (facts->kind) {
    case PW_KIND_FLOAT:
        for (int64_t i = 0; i < t->count; i++)
            pw_tensor_set(t, i, draw_float(dist, seed, stream, (uint64_t)i, fill));
        break;
    case PW_KIND_BOOL:
        for (int64_t i = 0; i < t->count; i++)
            pw_tensor_set_int(t, i, pw_random_u32(seed, stream, (uint64_t)i) & 1);
        break;
    case PW_KIND_COMPLEX: /* two floats an element */
        for (int64_t i = 0; i < 2 * t->count; i++) {
            double x = draw_float(dist, seed, stream, (uint64_t)i, fill);

            if (t->dtype == PW_DTYPE_COMPLEX64)
                ((float *)t->data)[i] = (float)x;
            else
                ((double *)t->data)[i] = x;
        }
        break;
    default:
        draw_ints(t, dist, seed, stream, fill);
    }
}

/* An input whose content the graph fixes: axes, shapes, and constants that the room wants kept. */
static pw_status keep_content(const struct pw_info *info, const struct pw_dims *dims, struct pw_value *value,
                              bool *kept, struct pw_error *err)
{
    int64_t shape[PW_MAX_RANK];
    pw_status status;

    *kept = false;
    if (info->constant) {
        value->kind = PW_VALUE_TENSOR;
        status = pw_tensor_copy(&value->tensor, info->constant, err);
        *kept = status == PW_OK;
        return status;
    }
    if (!info->content)
        return PW_OK;
    for (int d = 0; d < info->rank; d++)
        if (!pw_dims_value(dims, info->dims[d], &shape[d]))
            return PW_OK;
    for (size_t i = 0; i < info->content_count; i++) {
        int64_t number;

        if (!pw_dims_value(dims, info->content[i], &number))
            return PW_OK;
    }
    status = pw_tensor_init(&value->tensor, info->dtype, info->rank, shape, err);
    if (status != PW_OK)
        return status;
    value->kind = PW_VALUE_TENSOR;
    for (size_t i = 0; i < info->content_count && (int64_t)i < value->tensor.count; i++) {
        int64_t number = 0;

        pw_dims_value(dims, info->content[i], &number);
        pw_tensor_set_int(&value->tensor, (int64_t)i, number);
    }
    *kept = true;
    return PW_OK;
}

static pw_status draw_input(const struct pw_signature *signature, int i, pw_dist dist, uint64_t seed,
                            struct pw_case_inputs *out, struct pw_buf *why, struct pw_error *err)
{
    const struct pw_call *call = signature->call;
    const struct pw_info *info = call->in[i];
    struct pw_fill fill = {
        .low = -INFINITY, .high = INFINITY, .int_low = -DEFAULT_INT_RANGE, .int_high = DEFAULT_INT_RANGE};
    bool param = is_param(call->op, i), kept = false;
    int64_t shape[PW_MAX_RANK];
    pw_status status;

    if (call->op->fill)
        call->op->fill(call, i, &fill);
    if (param || fill.keep) {
        status = keep_content(info, call->dims, &out->values[i], &kept, err);
        if (status != PW_OK || kept)
            return status;
        if (param) {
            pw_buf_printf(why, "input %d sets the shape and is known only when the graph runs", i);
            return PW_OK;
        }
    }
    if (info->kind != PW_VALUE_TENSOR || info->rank < 0 || info->dtype == PW_DTYPE_UNDEFINED ||
        info->dtype == PW_DTYPE_STRING) {
        pw_buf_printf(why, "input %d: %s", i,
                      info->dtype == PW_DTYPE_STRING ? "strings stay on the host"
                                                     : "its type or shape is known only when the graph runs");
        return PW_OK;
    }
    for (int d = 0; d < info->rank; d++)
        if (!pw_dims_value(call->dims, info->dims[d], &shape[d])) {
            struct pw_buf text = {0};

            pw_dims_print(call->dims, info->dims[d], &text);
            pw_buf_printf(why, "input %d dim %d (%s) is known only when the graph runs", i, d, pw_buf_text(&text));
            pw_buf_clear(&text);
            return PW_OK;
        }
    status = pw_tensor_init(&out->values[i].tensor, info->dtype, info->rank, shape, err);
    if (status != PW_OK)
        return status;
    out->values[i].kind = PW_VALUE_TENSOR;
    draw_tensor(&out->values[i].tensor, dist, seed, (uint64_t)i, &fill);
    return PW_OK;
}

pw_status pw_case_draw(const struct pw_signature *signature, pw_dist dist, uint64_t seed, struct pw_case_inputs *out,
                       struct pw_buf *why, struct pw_error *err)
{
    const struct pw_call *call = signature->call;
    pw_status status;

    if (call->input_count > PW_OP_MAX_FORMALS) {
        pw_buf_printf(why, "%d inputs: at most %d are drawn", call->input_count, PW_OP_MAX_FORMALS);
        return PW_OK;
    }
    out->count = call->input_count;
    for (int i = 0; i < call->input_count; i++) {
        if (!call->in[i])
            continue;
        status = draw_input(signature, i, dist, seed, out, why, err);
        if (status != PW_OK || why->size)
            return status;
        out->in[i] = &out->values[i];
        out->constant[i] = call->in[i]->constant != NULL;
    }
    status = pw_dims_create(&out->dims, err);
    if (status != PW_OK)
        return status;
    status = pw_call_from_values(call->node, out->in, out->count, out->dims, &out->arena, &out->call, err);
    if (status != PW_OK)
        return status;
    pw_call_take_most(&out->call);
    out->call.seed = seed; /* as the golden reference gets it */
    for (int i = 0; i < out->call.output_count; i++) {
        const struct pw_info *info = &out->call.out[i];
        int64_t n;

        if (!out->call.wanted[i])
            continue;
        if (info->kind != PW_VALUE_TENSOR || info->rank < 0)
            pw_buf_printf(why, "output %d is known only when the operator has run", i);
        for (int d = 0; info->rank > 0 && d < info->rank && !why->size; d++)
            if (!pw_dims_value(out->dims, info->dims[d], &n))
                pw_buf_printf(why, "output %d dim %d depends on the data", i, d);
    }
    return PW_OK;
}

pw_status pw_case_outputs(const struct pw_call *call, struct pw_value *outputs, struct pw_error *err)
{
    for (int i = 0; i < call->output_count; i++) {
        const struct pw_info *info = &call->out[i];
        int64_t shape[PW_MAX_RANK];
        pw_status status;

        if (!call->wanted[i])
            continue;
        for (int d = 0; d < info->rank; d++)
            if (!pw_dims_value(call->dims, info->dims[d], &shape[d]))
                return pw_call_error(call, err, "output %d dim %d is not a number", i, d);
        status = pw_tensor_init(&outputs[i].tensor, info->dtype, info->rank, shape, err);
        if (status != PW_OK)
            return status;
        outputs[i].kind = PW_VALUE_TENSOR;
    }
    return PW_OK;
}
