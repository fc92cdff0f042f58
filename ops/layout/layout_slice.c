/*
 * Slice: bounds, shapes and the copy.
 *
 * With numbers, the definition's clamping is followed exactly. With symbols, bounds are assumed to lie
 * inside the axis when nothing else can be shown: exporters slice with sums of the graph's own
 * dims, and clamping every one would bury all later shapes under min and max. A concrete run is
 * always exact.
 */
#include <inttypes.h>
#include <string.h>

#include "ops/layout/layout.h"

#define FAR ((int64_t)INT32_MAX) /* bounds beyond mean "to the end" */

struct bounds {
    size_t count;
    bool sized;                          /* count is known */
    const pw_dim *starts, *ends, *steps; /* NULL: unknown (steps: all 1 when !has_steps) */
    bool has_steps;
    struct pw_layout_axes axes;
};

static const pw_dim *attribute_dims(const struct pw_call *call, const char *name, size_t *count, struct pw_error *err,
                                    pw_status *status)
{
    const int64_t *values = pw_call_ints(call, name, count);
    pw_dim *made = pw_arena_alloc(call->arena, *count + 1, sizeof *made);
    if (made == NULL) {
        *status = pw_error_memory(err, *count * sizeof *made);
        return NULL;
    }
    for (size_t i = 0; i < *count; i++)
        made[i] = pw_dims_int(call->dims, values[i]);
    return made;
}

static pw_status check_counts(const struct pw_call *call, const struct bounds *b, size_t starts, size_t ends,
                              size_t steps, struct pw_error *err)
{
    if (b->starts != NULL && b->ends != NULL && starts != ends)
        return pw_call_error(call, err, "%zu starts and %zu ends", starts, ends);
    if (b->has_steps && b->steps != NULL && b->sized && steps != b->count)
        return pw_call_error(call, err, "%zu steps for %zu starts", steps, b->count);
    if (b->sized && b->axes.known && b->axes.given && b->axes.count != b->count)
        return pw_call_error(call, err, "%zu axes for %zu starts", b->axes.count, b->count);
    return PW_OK;
}

static pw_status read_bounds(const struct pw_call *call, int rank, struct bounds *b, struct pw_error *err)
{
    size_t starts = 0, ends = 0, steps = 0;
    bool attributes = call->op->since < 10;
    pw_status status = PW_OK;
    *b = (struct bounds){0};
    if (attributes) {
        b->starts = attribute_dims(call, "starts", &starts, err, &status);
        b->ends = attribute_dims(call, "ends", &ends, err, &status);
    } else {
        b->starts = pw_layout_content(call, 1, &starts);
        b->ends = pw_layout_content(call, 2, &ends);
        b->has_steps = pw_call_input(call, 4);
        b->steps = pw_layout_content(call, 4, &steps);
    }
    if (status == PW_OK)
        status = pw_layout_axes(call, attributes ? -1 : 3, rank, &b->axes, err);
    if (status != PW_OK)
        return status;
    int64_t length = attributes ? (int64_t)starts : pw_layout_length(call, 1);
    b->sized = b->starts != NULL || b->ends != NULL || length >= 0;
    b->count = b->starts != NULL ? starts : b->ends != NULL ? ends : length >= 0 ? (size_t)length : 0;
    status = check_counts(call, b, starts, ends, steps, err);
    if (status != PW_OK || b->axes.given)
        return status;
    if (b->sized && b->count > (size_t)rank)
        return pw_call_error(call, err, "%zu starts, but the input has rank %d", b->count, rank);
    b->axes.known = b->sized;
    b->axes.count = b->count;
    for (size_t i = 0; i < b->axes.count; i++)
        b->axes.axis[i] = (int)i;
    return PW_OK;
}

/* One bound against a numeric axis, as the definition says. */
static int64_t clamp_bound(int64_t bound, int64_t size, bool forward, bool is_end)
{
    int64_t low = !forward && is_end ? -1 : 0, high = forward ? size : size - 1;
    if (bound < 0)
        bound = bound < -size ? (forward || !is_end ? 0 : -1) : bound + size;
    return bound < low ? low : bound > high ? high : bound;
}

static int64_t exact_length(int64_t size, int64_t start, int64_t end, int64_t step, int64_t *first)
{
    bool forward = step > 0;
    int64_t from = clamp_bound(start, size, forward, false), to = clamp_bound(end, size, forward, true);
    *first = from;
    if (size == 0)
        return 0;
    if (forward)
        return to > from ? (to - from - 1) / step + 1 : 0;
    /* -step may overflow only for INT64_MIN, where one element is taken. */
    return from > to ? (step == INT64_MIN ? 1 : (from - to - 1) / -step + 1) : 0;
}

/* A bound as a position on the axis, when not everything is a number. */
static pw_dim position(const struct pw_call *call, pw_dim bound, pw_dim size, bool is_end)
{
    struct pw_dims *dims = call->dims;
    int64_t value;
    if (pw_dims_value(dims, bound, &value)) {
        if (value >= FAR)
            return size;
        if (value <= -FAR)
            return 0;
        if (value < 0)
            return pw_dims_add(dims, size, bound);
        /* An end of 2 or more is often a capacity: there the true minimum is kept. */
        return is_end && value > 1 && !pw_dims_at_least(dims, size, value) ? pw_dims_min(dims, bound, size) : bound;
    }
    if (pw_dims_at_least(dims, bound, 0))
        return pw_dims_at_least(dims, pw_dims_sub(dims, bound, size), 0) ? size : bound;
    if (pw_dims_at_least(dims, pw_dims_sub(dims, 0, bound), 0))
        return pw_dims_add(dims, size, bound);
    return bound;
}

static pw_dim symbolic_length(const struct pw_call *call, pw_dim size, pw_dim start, pw_dim end, int64_t step)
{
    struct pw_dims *dims = call->dims;
    int64_t s, e;
    if (size == PW_DIM_UNKNOWN || start == PW_DIM_UNKNOWN || end == PW_DIM_UNKNOWN)
        return PW_DIM_UNKNOWN;
    if (step < 0) { /* the whole axis backwards, or nothing that can be said */
        if (step == INT64_MIN || !pw_dims_value(dims, start, &s) || !pw_dims_value(dims, end, &e) ||
            (s != -1 && s < FAR) || e > -FAR)
            return PW_DIM_UNKNOWN;
        return pw_dims_ceildiv(dims, size, -step);
    }
    pw_dim from = position(call, start, size, false), to = position(call, end, size, true);
    pw_dim length = pw_dims_sub(dims, to, from);
    if (pw_dims_value(dims, length, &e) && e < 0)
        length = 0;
    return step == 1 ? length : pw_dims_ceildiv(dims, length, pw_dims_int(dims, step));
}

/* Step of entry i; false when unknown. */
static bool read_step(const struct pw_call *call, const struct bounds *b, size_t i, int64_t *step)
{
    *step = 1;
    if (!b->has_steps)
        return true;
    return b->steps != NULL && b->steps[i] != PW_DIM_UNKNOWN && pw_dims_value(call->dims, b->steps[i], step);
}

static pw_status slice_axis(const struct pw_call *call, const struct bounds *b, size_t i, pw_dim size, pw_dim *out,
                            struct pw_error *err)
{
    int64_t step, start, end, first;
    *out = PW_DIM_UNKNOWN;
    if (!read_step(call, b, i, &step))
        return PW_OK;
    if (step == 0)
        return pw_call_error(call, err, "step %zu is 0", i);
    if (b->starts == NULL || b->ends == NULL)
        return PW_OK;
    if (size >= 0 && b->starts[i] != PW_DIM_UNKNOWN && b->ends[i] != PW_DIM_UNKNOWN &&
        pw_dims_value(call->dims, b->starts[i], &start) && pw_dims_value(call->dims, b->ends[i], &end))
        *out = exact_length(size, start, end, step, &first);
    else
        *out = symbolic_length(call, size, b->starts[i], b->ends[i], step);
    return PW_OK;
}

pw_status pw_layout_infer_slice(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = call->in[0];
    struct bounds b;
    pw_dim dims[PW_MAX_RANK];
    if (in == NULL || in->kind != PW_VALUE_TENSOR || in->rank < 0) {
        pw_layout_output(call, 0, -1, NULL);
        return PW_OK;
    }
    pw_status status = read_bounds(call, in->rank, &b, err);
    if (status != PW_OK)
        return status;
    memcpy(dims, in->dims, sizeof dims);
    for (int d = 0; !b.axes.known && d < in->rank; d++)
        dims[d] = PW_DIM_UNKNOWN;
    for (size_t i = 0; b.axes.known && i < b.axes.count && status == PW_OK; i++)
        status = slice_axis(call, &b, i, in->dims[b.axes.axis[i]], &dims[b.axes.axis[i]], err);
    if (status != PW_OK)
        return status;
    pw_layout_output(call, 0, in->rank, dims);
    return pw_layout_propagate(call, err);
}

static pw_status plan_slice(const struct pw_call *call, int part, struct pw_layout_copy *copy, struct pw_error *err)
{
    int64_t in[PW_MAX_RANK], out[PW_MAX_RANK];
    struct bounds b;
    int rank = call->in[0]->rank;
    (void)part;
    pw_status status = pw_call_numbers(call, call->in[0], in, err);
    if (status == PW_OK)
        status = pw_call_numbers(call, &call->out[0], out, err);
    if (status == PW_OK)
        status = read_bounds(call, rank, &b, err);
    if (status != PW_OK)
        return status;
    if (!b.axes.known || (b.axes.count > 0 && (b.starts == NULL || b.ends == NULL)))
        return pw_call_error(call, err, "starts, ends or axes are not known");
    *copy = (struct pw_layout_copy){.rank = rank};
    memcpy(copy->dims, out, (size_t)rank * sizeof *out);
    pw_tensor_strides(rank, in, copy->src_stride);
    pw_tensor_strides(rank, out, copy->dst_stride);
    for (size_t i = 0; i < b.axes.count; i++) {
        int axis = b.axes.axis[i];
        int64_t start, end, step, first;
        if (!read_step(call, &b, i, &step) || !pw_dims_value(call->dims, b.starts[i], &start) ||
            !pw_dims_value(call->dims, b.ends[i], &end))
            return pw_call_error(call, err, "starts, ends or steps are not known numbers");
        if (step == 0 || exact_length(in[axis], start, end, step, &first) != out[axis])
            return pw_call_error(call, err, "the output does not fit the bounds of axis %d", axis);
        copy->src_offset += first * copy->src_stride[axis];
        /* A single element takes no step: a huge one must not overflow. */
        copy->src_stride[axis] = out[axis] > 1 ? copy->src_stride[axis] * step : 0;
    }
    return PW_OK;
}

const struct pw_layout_kind pw_layout_slice = {.plan = plan_slice};
