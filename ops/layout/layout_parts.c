/* Concat and Split: shapes and copies of their parts. */
#include <inttypes.h>
#include <string.h>

#include "ops/layout/layout.h"

/* ---- Concat ---- */

/* The one axis that differs, from the first input whose rank is known. */
static pw_status concat_axis(const struct pw_call *call, int *rank, int *axis, struct pw_error *err)
{
    int64_t wish = pw_call_int(call, "axis");
    *rank = -1;
    for (int i = 0; i < call->input_count; i++) {
        const struct pw_info *in = call->in[i];
        if (in == NULL || in->kind != PW_VALUE_TENSOR || in->rank < 0)
            continue;
        if (*rank >= 0 && in->rank != *rank)
            return pw_call_error(call, err, "input %d has rank %d, the ones before have rank %d", i, in->rank, *rank);
        *rank = in->rank;
    }
    return *rank < 0 ? PW_OK : pw_call_axis(call, wish, *rank, axis, err);
}

pw_status pw_layout_infer_concat(struct pw_call *call, struct pw_error *err)
{
    pw_dim dims[PW_MAX_RANK], sum = 0;
    int rank = -1, axis = 0;
    bool first = true;
    pw_status status = concat_axis(call, &rank, &axis, err);
    if (status != PW_OK)
        return status;
    if (rank < 0) {
        pw_layout_output(call, 0, -1, NULL);
        return PW_OK;
    }
    for (int i = 0; i < call->input_count; i++) {
        const struct pw_info *in = call->in[i];
        if (in == NULL || in->rank < 0) {
            sum = PW_DIM_UNKNOWN;
            continue;
        }
        if (sum != PW_DIM_UNKNOWN)
            sum = in->dims[axis] == PW_DIM_UNKNOWN ? PW_DIM_UNKNOWN : pw_dims_add(call->dims, sum, in->dims[axis]);
        for (int d = 0; d < rank; d++) {
            if (first) {
                dims[d] = in->dims[d];
            } else if (d != axis && in->dims[d] >= 0) {
                /* All must be equal: a number tells what a symbol is. */
                if (dims[d] >= 0 && dims[d] != in->dims[d])
                    return pw_call_error(call, err, "input %d has %" PRId64 " in dim %d, the ones before have %" PRId64,
                                         i, in->dims[d], d, dims[d]);
                dims[d] = in->dims[d];
            }
        }
        first = false;
    }
    dims[axis] = sum;
    pw_layout_output(call, 0, rank, dims);
    return pw_layout_propagate(call, err);
}

static pw_status plan_concat(const struct pw_call *call, int part, struct pw_layout_copy *copy, struct pw_error *err)
{
    int64_t in[PW_MAX_RANK], out[PW_MAX_RANK], before[PW_MAX_RANK];
    int rank = 0, axis = 0;
    pw_status status = concat_axis(call, &rank, &axis, err);
    if (status == PW_OK)
        status = pw_call_numbers(call, call->in[part], in, err);
    if (status == PW_OK)
        status = pw_call_numbers(call, &call->out[0], out, err);
    if (status != PW_OK)
        return status;
    *copy = (struct pw_layout_copy){.rank = rank};
    memcpy(copy->dims, in, (size_t)rank * sizeof *in);
    pw_tensor_strides(rank, in, copy->src_stride);
    pw_tensor_strides(rank, out, copy->dst_stride);
    for (int i = 0; i < part; i++) {
        status = pw_call_numbers(call, call->in[i], before, err);
        if (status != PW_OK)
            return status;
        copy->dst_offset += before[axis] * copy->dst_stride[axis];
    }
    return PW_OK;
}

const struct pw_layout_kind pw_layout_concat = {.plan = plan_concat, .concat = true};

/* ---- Split ---- */

/* Sizes of the parts as dims. */
static pw_status split_sizes(const struct pw_call *call, pw_dim whole, pw_dim *sizes, struct pw_error *err)
{
    int parts = call->output_count;
    size_t count = 0;
    const int64_t *numbers = pw_call_ints(call, "split", &count);
    const pw_dim *content = NULL;
    bool known = false;
    pw_status status = PW_OK;
    if (numbers == NULL && pw_call_input(call, 1)) {
        status = pw_layout_param(call, 1, &numbers, &count, &known, err);
        if (status != PW_OK)
            return status;
        if (!known) {
            numbers = NULL;
            content = pw_layout_content(call, 1, &count);
            for (int i = 0; i < parts; i++)
                sizes[i] = content != NULL && i < (int)count ? content[i] : PW_DIM_UNKNOWN;
        }
    }
    if ((numbers != NULL || content != NULL) && count != (size_t)parts)
        return pw_call_error(call, err, "%zu sizes for %d outputs", count, parts);
    if (numbers != NULL) {
        for (int i = 0; i < parts; i++)
            sizes[i] = pw_dims_int(call->dims, numbers[i]);
    } else if (!pw_call_input(call, 1)) {
        int64_t wish = pw_call_has(call, "num_outputs") ? pw_call_int(call, "num_outputs") : parts;
        if (wish != parts)
            return pw_call_error(call, err, "num_outputs is %" PRId64 ", but there are %d outputs", wish, parts);
        if (call->op->since < 18 && whole >= 0 && whole % parts != 0)
            return pw_call_error(call, err, "the axis has %" PRId64 " elements, which %d parts do not divide", whole,
                                 parts);
        pw_dim n = parts, each = pw_dims_ceildiv(call->dims, whole, n);
        if (call->op->since < 18)
            each = pw_dims_floordiv(call->dims, whole, n);
        for (int i = 0; i < parts; i++)
            sizes[i] = each;
        /* Some chunks at the end may be smaller, or empty. */
        for (int64_t i = 0, left = whole; whole >= 0 && i < parts; left -= sizes[i], i++)
            sizes[i] = left < each ? left : each;
        if (whole < 0 && call->op->since >= 18 && whole != PW_DIM_UNKNOWN)
            sizes[parts - 1] = pw_dims_sub(call->dims, whole, pw_dims_mul(call->dims, each, parts - 1));
    }
    return PW_OK;
}

static pw_status check_sizes(const struct pw_call *call, pw_dim whole, const pw_dim *sizes, struct pw_error *err)
{
    int64_t sum = 0;
    for (int i = 0; i < call->output_count; i++) {
        int64_t value;
        if (sizes[i] == PW_DIM_UNKNOWN || !pw_dims_value(call->dims, sizes[i], &value))
            return PW_OK;
        if (value < 0 || __builtin_add_overflow(sum, value, &sum))
            return pw_call_error(call, err, "part %d has %" PRId64 " elements", i, value);
    }
    if (whole >= 0 && sum != whole)
        return pw_call_error(call, err, "the parts have %" PRId64 " elements, the axis has %" PRId64, sum, whole);
    return PW_OK;
}

pw_status pw_layout_infer_split(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = call->in[0];
    int parts = call->output_count, axis = 0;
    if (parts < 1)
        return PW_OK;
    if (in == NULL || in->kind != PW_VALUE_TENSOR || in->rank < 0) {
        for (int i = 0; i < parts; i++)
            pw_layout_output(call, i, -1, NULL);
        return PW_OK;
    }
    pw_status status = pw_call_axis(call, pw_call_int(call, "axis"), in->rank, &axis, err);
    if (status != PW_OK)
        return status;
    pw_dim *sizes = pw_arena_alloc(call->arena, (size_t)parts, sizeof *sizes), dims[PW_MAX_RANK];
    if (sizes == NULL)
        return pw_error_memory(err, (size_t)parts * sizeof *sizes);
    status = split_sizes(call, in->dims[axis], sizes, err);
    if (status == PW_OK)
        status = check_sizes(call, in->dims[axis], sizes, err);
    if (status != PW_OK)
        return status;
    memcpy(dims, in->dims, sizeof dims);
    for (int i = 0; i < parts; i++) {
        dims[axis] = sizes[i];
        pw_layout_output(call, i, in->rank, dims);
    }
    return pw_layout_propagate(call, err);
}

static pw_status plan_split(const struct pw_call *call, int part, struct pw_layout_copy *copy, struct pw_error *err)
{
    int64_t in[PW_MAX_RANK], out[PW_MAX_RANK], before[PW_MAX_RANK];
    int rank = call->in[0]->rank, axis = 0;
    pw_status status = pw_call_numbers(call, call->in[0], in, err);
    if (status == PW_OK)
        status = pw_call_numbers(call, &call->out[part], out, err);
    if (status == PW_OK)
        status = pw_call_axis(call, pw_call_int(call, "axis"), rank, &axis, err);
    if (status != PW_OK)
        return status;
    *copy = (struct pw_layout_copy){.rank = rank};
    memcpy(copy->dims, out, (size_t)rank * sizeof *out);
    pw_tensor_strides(rank, in, copy->src_stride);
    pw_tensor_strides(rank, out, copy->dst_stride);
    for (int i = 0; i < part; i++) {
        status = pw_call_numbers(call, &call->out[i], before, err);
        if (status != PW_OK)
            return status;
        copy->src_offset += before[axis] * copy->src_stride[axis];
    }
    return PW_OK;
}

const struct pw_layout_kind pw_layout_split = {.plan = plan_split, .split = true};
