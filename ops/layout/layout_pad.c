/* Pad, CenterCropPad, Trilu and ReverseSequence: shapes and what each output element comes from. */
#include <inttypes.h>
#include <string.h>

#include "ops/layout/layout.h"

/* ---- Pad ---- */

static pw_status pad_mode(const struct pw_call *call, pw_pad_mode *mode, struct pw_error *err)
{
    static const char *const names[] = {"constant", "reflect", "edge", "wrap"};
    const char *name = pw_call_string(call, "mode");
    int known = call->op->since >= 19 ? 4 : 3;
    for (int i = 0; i < known; i++) {
        if (strcmp(name, names[i]) == 0) {
            *mode = (pw_pad_mode)i;
            return PW_OK;
        }
    }
    return pw_call_error(call, err, "mode is '%s', expected constant, reflect, edge%s", name,
                         known == 4 ? " or wrap" : "");
}

/* begin[] and end[] of each axis as dims. */
static pw_status read_pads(const struct pw_call *call, int rank, pw_dim *begin, pw_dim *end, struct pw_error *err)
{
    struct pw_layout_axes axes;
    const pw_dim *pads = NULL;
    const int64_t *numbers = NULL;
    size_t count = 0;
    pw_status status = pw_layout_axes(call, call->op->since >= 18 ? 3 : -1, rank, &axes, err);
    if (status != PW_OK)
        return status;
    if (call->op->since < 11) {
        numbers = pw_call_ints(call, call->op->since < 2 ? "paddings" : "pads", &count);
        pw_dim *made = pw_arena_alloc(call->arena, count + 1, sizeof *made);
        if (made == NULL)
            return pw_error_memory(err, count * sizeof *made);
        for (size_t i = 0; i < count; i++)
            made[i] = pw_dims_int(call->dims, numbers[i]);
        pads = made;
    } else {
        pads = pw_layout_content(call, 1, &count);
    }
    for (int d = 0; d < rank; d++)
        begin[d] = end[d] = axes.known && axes.given ? 0 : PW_DIM_UNKNOWN;
    if (pads == NULL || !axes.known) {
        for (size_t i = 0; axes.known && axes.given && i < axes.count; i++)
            begin[axes.axis[i]] = end[axes.axis[i]] = PW_DIM_UNKNOWN;
        return PW_OK;
    }
    size_t padded = axes.given ? axes.count : (size_t)rank;
    if (count != 2 * padded)
        return pw_call_error(call, err, "%zu pads for %zu axes, expected two for each", count, padded);
    for (size_t i = 0; i < padded; i++) {
        int axis = axes.given ? axes.axis[i] : (int)i;
        begin[axis] = pads[i];
        end[axis] = pads[padded + i];
    }
    return PW_OK;
}

/* What is left of an axis between negative pads must be something to take values from. */
static pw_status check_axis(const struct pw_call *call, pw_pad_mode mode, int d, int64_t size, int64_t begin,
                            int64_t end, struct pw_error *err)
{
    int64_t kept = size, out;
    if (__builtin_add_overflow(size, begin, &out) || __builtin_add_overflow(out, end, &out) || out < 0)
        return pw_call_error(call, err,
                             "axis %d: size %" PRId64 " with pads %" PRId64 " and %" PRId64 " has no elements left", d,
                             size, begin, end);
    kept += (begin < 0 ? begin : 0) + (end < 0 ? end : 0);
    if (kept < 0 || (kept == 0 && mode != PW_PAD_CONSTANT && out > 0))
        return pw_call_error(
            call, err, "axis %d: size %" PRId64 " with pads %" PRId64 " and %" PRId64 " leaves nothing to pad from", d,
            size, begin, end);
    return PW_OK;
}

static pw_status check_pads(const struct pw_call *call, int d, pw_pad_mode mode, pw_dim begin, pw_dim end,
                            struct pw_error *err)
{
    int64_t size = call->in[0]->dims[d], b, e;
    if (begin == PW_DIM_UNKNOWN || end == PW_DIM_UNKNOWN || size < 0 || !pw_dims_value(call->dims, begin, &b) ||
        !pw_dims_value(call->dims, end, &e))
        return PW_OK;
    return check_axis(call, mode, d, size, b, e, err);
}

pw_status pw_layout_infer_pad(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = call->in[0];
    pw_dim begin[PW_MAX_RANK], end[PW_MAX_RANK], dims[PW_MAX_RANK];
    pw_pad_mode mode = PW_PAD_CONSTANT;
    pw_status status = pad_mode(call, &mode, err);
    if (status != PW_OK)
        return status;
    if (in == NULL || in->kind != PW_VALUE_TENSOR || in->rank < 0) {
        pw_layout_output(call, 0, -1, NULL);
        return PW_OK;
    }
    status = read_pads(call, in->rank, begin, end, err);
    for (int d = 0; d < in->rank && status == PW_OK; d++) {
        status = check_pads(call, d, mode, begin[d], end[d], err);
        dims[d] = PW_DIM_UNKNOWN;
        if (begin[d] != PW_DIM_UNKNOWN && end[d] != PW_DIM_UNKNOWN)
            dims[d] = pw_dims_add(call->dims, in->dims[d], pw_dims_add(call->dims, begin[d], end[d]));
    }
    if (status == PW_OK)
        pw_layout_output(call, 0, in->rank, dims);
    return status;
}

/* Fills a plan from numeric pads. */
static pw_status make_plan(const struct pw_call *call, const int64_t *begin, const int64_t *end,
                           struct pw_layout_pad *pad, struct pw_error *err)
{
    pad->rank = call->in[0]->rank;
    pw_status status = pw_call_numbers(call, call->in[0], pad->in, err);
    if (status == PW_OK)
        status = pw_call_numbers(call, &call->out[0], pad->out, err);
    for (int d = 0; d < pad->rank && status == PW_OK; d++) {
        status = check_axis(call, pad->mode, d, pad->in[d], begin[d], end[d], err);
        if (status != PW_OK)
            break;
        pad->begin[d] = begin[d];
        pad->low[d] = begin[d] < 0 ? -begin[d] : 0;
        pad->high[d] = pad->in[d] + (end[d] < 0 ? end[d] : 0);
        if (pad->in[d] + begin[d] + end[d] != pad->out[d])
            status = pw_call_error(call, err, "the output does not fit the pads of axis %d", d);
    }
    return status;
}

pw_status pw_layout_plan_pad(const struct pw_call *call, struct pw_layout_pad *pad, struct pw_error *err)
{
    pw_dim begin[PW_MAX_RANK], end[PW_MAX_RANK];
    int64_t b[PW_MAX_RANK], e[PW_MAX_RANK];
    *pad = (struct pw_layout_pad){.mode = PW_PAD_CONSTANT};
    pw_status status = pad_mode(call, &pad->mode, err);
    if (status == PW_OK && (call->in[0]->rank < 0 || call->in[0]->kind != PW_VALUE_TENSOR))
        status = pw_call_error(call, err, "the input's rank is not known");
    if (status == PW_OK)
        status = read_pads(call, call->in[0]->rank, begin, end, err);
    if (status != PW_OK)
        return status;
    for (int d = 0; d < call->in[0]->rank; d++) {
        if (begin[d] == PW_DIM_UNKNOWN || end[d] == PW_DIM_UNKNOWN || !pw_dims_value(call->dims, begin[d], &b[d]) ||
            !pw_dims_value(call->dims, end[d], &e[d]))
            return pw_call_error(call, err, "the pads are not known numbers");
    }
    return make_plan(call, b, e, pad, err);
}

int64_t pw_layout_pad_source(const struct pw_layout_pad *pad, int d, int64_t o)
{
    int64_t i = o - pad->begin[d], low = pad->low[d], n = pad->high[d] - low, period, at;
    if (i >= low && i < pad->high[d])
        return i;
    if (pad->mode == PW_PAD_CONSTANT)
        return -1;
    if (pad->mode == PW_PAD_EDGE || n == 1)
        return i < low ? low : pad->high[d] - 1;
    period = pad->mode == PW_PAD_WRAP ? n : 2 * (n - 1);
    at = (i - low) % period;
    at = at < 0 ? at + period : at;
    return low + (at < n ? at : period - at);
}

void pw_layout_simplify_pad(struct pw_layout_pad *pad)
{
    int kept = 0;
    for (int d = 0; d < pad->rank; d++) {
        bool whole = pad->begin[d] == 0 && pad->in[d] == pad->out[d];
        if (whole && kept > 0 && pad->begin[kept - 1] == 0 && pad->in[kept - 1] == pad->out[kept - 1] &&
            pad->high[kept - 1] == pad->in[kept - 1]) {
            pad->in[kept - 1] *= pad->in[d];
            pad->out[kept - 1] = pad->high[kept - 1] = pad->in[kept - 1];
            continue;
        }
        pad->in[kept] = pad->in[d];
        pad->out[kept] = pad->out[d];
        pad->begin[kept] = pad->begin[d];
        pad->low[kept] = pad->low[d];
        pad->high[kept] = pad->high[d];
        kept++;
    }
    if (kept == 0) {
        pad->in[0] = pad->out[0] = pad->high[0] = 1;
        pad->begin[0] = pad->low[0] = 0;
        kept = 1;
    }
    pad->rank = kept;
}

/* ---- CenterCropPad ---- */

pw_status pw_layout_infer_center(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = call->in[0];
    struct pw_layout_axes axes;
    size_t count = 0;
    const pw_dim *shape = pw_layout_content(call, 1, &count);
    pw_dim dims[PW_MAX_RANK];
    if (in == NULL || in->kind != PW_VALUE_TENSOR || in->rank < 0) {
        pw_layout_output(call, 0, -1, NULL);
        return PW_OK;
    }
    pw_status status = pw_layout_axes(call, -1, in->rank, &axes, err);
    if (status != PW_OK)
        return status;
    size_t wanted = axes.given ? axes.count : (size_t)in->rank;
    if (shape != NULL && count != wanted)
        return pw_call_error(call, err, "the shape has %zu dims for %zu axes", count, wanted);
    memcpy(dims, in->dims, sizeof dims);
    for (size_t i = 0; i < wanted; i++) {
        int64_t value;
        int axis = axes.given ? axes.axis[i] : (int)i;
        dims[axis] = shape != NULL ? shape[i] : PW_DIM_UNKNOWN;
        if (shape != NULL && pw_dims_value(call->dims, shape[i], &value) && value < 0)
            return pw_call_error(call, err, "the shape asks for %" PRId64 " elements", value);
    }
    pw_layout_output(call, 0, in->rank, dims);
    return PW_OK;
}

pw_status pw_layout_plan_center(const struct pw_call *call, struct pw_layout_pad *pad, struct pw_error *err)
{
    int64_t in[PW_MAX_RANK], out[PW_MAX_RANK], begin[PW_MAX_RANK], end[PW_MAX_RANK];
    pw_status status = pw_call_numbers(call, call->in[0], in, err);
    if (status == PW_OK)
        status = pw_call_numbers(call, &call->out[0], out, err);
    if (status != PW_OK)
        return status;
    *pad = (struct pw_layout_pad){.mode = PW_PAD_CONSTANT};
    for (int d = 0; d < call->in[0]->rank; d++) {
        int64_t more = out[d] - in[d];
        /* The odd one goes to the right when padding, and is cut off there when cropping. */
        begin[d] = more >= 0 ? more / 2 : -(-more / 2);
        end[d] = more - begin[d];
    }
    return make_plan(call, begin, end, pad, err);
}

/* ---- Trilu ---- */

pw_status pw_layout_trilu_k(const struct pw_call *call, int64_t *k, bool *known, struct pw_error *err)
{
    const int64_t *values = NULL;
    size_t count = 0;
    *k = 0;
    *known = true;
    if (!pw_call_input(call, 1))
        return PW_OK;
    pw_status status = pw_layout_param(call, 1, &values, &count, known, err);
    if (status != PW_OK || !*known)
        return status;
    if (count != 1)
        return pw_call_error(call, err, "k has %zu elements, expected one", count);
    *k = values[0];
    return PW_OK;
}

pw_status pw_layout_infer_trilu(struct pw_call *call, struct pw_error *err)
{
    int64_t k;
    bool known;
    if (call->in[0] != NULL && call->in[0]->rank >= 0 && call->in[0]->rank < 2)
        return pw_call_error(call, err, "the input has rank %d, expected at least 2", call->in[0]->rank);
    pw_status status = pw_layout_trilu_k(call, &k, &known, err);
    if (status == PW_OK)
        pw_call_output_like(call, 0, 0);
    return status;
}

/* ---- ReverseSequence ---- */

static pw_status reverse_axes(const struct pw_call *call, int *batch_axis, int *time_axis, struct pw_error *err)
{
    int64_t batch = pw_call_int(call, "batch_axis"), time = pw_call_int(call, "time_axis");
    if ((batch != 0 && batch != 1) || time != 1 - batch)
        return pw_call_error(call, err, "batch_axis %" PRId64 " and time_axis %" PRId64 ", expected 0 and 1", batch,
                             time);
    *batch_axis = (int)batch;
    *time_axis = (int)time;
    return PW_OK;
}

pw_status pw_layout_infer_reverse(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = call->in[0], *lengths = call->in[1];
    int batch = 0, time = 0;
    pw_status status = reverse_axes(call, &batch, &time, err);
    if (status != PW_OK)
        return status;
    if (in->rank >= 0 && in->rank < 2)
        return pw_call_error(call, err, "the input has rank %d, expected at least 2", in->rank);
    if (lengths->rank >= 0 && lengths->rank != 1)
        return pw_call_error(call, err, "sequence_lens has rank %d, expected 1", lengths->rank);
    if (in->rank >= 2 && lengths->rank == 1 && in->dims[batch] >= 0 && lengths->dims[0] >= 0 &&
        in->dims[batch] != lengths->dims[0])
        return pw_call_error(call, err, "%" PRId64 " lengths for a batch of %" PRId64, lengths->dims[0],
                             in->dims[batch]);
    pw_call_output_like(call, 0, 0);
    return PW_OK;
}

pw_status pw_layout_plan_reverse(const struct pw_call *call, struct pw_layout_reverse *r, struct pw_error *err)
{
    int64_t in[PW_MAX_RANK], strides[PW_MAX_RANK];
    int batch = 0, time = 0;
    pw_status status = reverse_axes(call, &batch, &time, err);
    if (status == PW_OK)
        status = pw_call_numbers(call, call->in[0], in, err);
    if (status != PW_OK)
        return status;
    if (call->in[0]->rank < 2)
        return pw_call_error(call, err, "the input has rank %d, expected at least 2", call->in[0]->rank);
    pw_tensor_strides(call->in[0]->rank, in, strides);
    *r = (struct pw_layout_reverse){.batch = in[batch], .time = in[time], .inner = 1};
    r->batch_stride = strides[batch];
    r->time_stride = strides[time];
    for (int d = 2; d < call->in[0]->rank; d++)
        r->inner *= in[d];
    return PW_OK;
}
