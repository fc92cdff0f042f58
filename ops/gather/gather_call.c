/* What the room asks about a call, and the plans of its operators. */
#include <inttypes.h>
#include <string.h>

#include "ops/gather/gather.h"

pw_dim pw_gather_known(const struct pw_call *call, pw_dim dim)
{
    return dim == PW_DIM_UNKNOWN ? pw_dims_fresh(call->dims, call->op->name) : dim;
}

bool pw_gather_ranked(const struct pw_info *info)
{
    return info != NULL && info->kind == PW_VALUE_TENSOR && info->rank >= 0;
}

int64_t pw_gather_product(const int64_t *dims, int from, int to)
{
    int64_t n = 1;
    for (int d = from; d < to; d++)
        n *= dims[d];
    return n;
}

void pw_gather_output(struct pw_call *call, int i, pw_dtype dtype, int rank, const pw_dim *dims)
{
    pw_dim known[PW_MAX_RANK];
    if (i >= call->output_count)
        return;
    if (rank < 0) {
        pw_call_output_unknown(call, i, dtype);
        return;
    }
    for (int d = 0; d < rank; d++)
        known[d] = pw_gather_known(call, dims[d]);
    pw_call_output(call, i, dtype, rank, known);
}

pw_status pw_gather_number(const struct pw_call *call, int input, int64_t *value, bool *known, struct pw_error *err)
{
    const struct pw_info *info = call->in[input];
    const int64_t *values = NULL;
    size_t count = 0;
    *known = false;
    if (info != NULL && info->constant != NULL && pw_dtype_is_float(info->constant->dtype)) {
        if (info->constant->count != 1)
            return pw_call_error(call, err, "'%s' has %" PRId64 " elements, expected one", call->op->inputs[input].name,
                                 info->constant->count);
        double x = pw_tensor_get(info->constant, 0);
        if (!(x >= -9e15 && x <= 9e15))
            return pw_call_error(call, err, "'%s' is %g, expected a whole number", call->op->inputs[input].name, x);
        *value = (int64_t)x;
        *known = true;
        return PW_OK;
    }
    pw_status status = pw_call_content(call, input, &values, &count, known, err);
    if (status != PW_OK || !*known)
        return status;
    if (count != 1)
        return pw_call_error(call, err, "'%s' has %zu elements, expected one", call->op->inputs[input].name, count);
    *value = values[0];
    return PW_OK;
}

/* ---- plans ---- */

pw_status pw_gather_plan_axis(const struct pw_call *call, struct pw_gather_axis *g, struct pw_error *err)
{
    int64_t data[PW_MAX_RANK], indices[PW_MAX_RANK];
    int axis = 0;
    pw_status status = pw_call_numbers(call, call->in[0], data, err);
    if (status == PW_OK)
        status = pw_call_numbers(call, call->in[1], indices, err);
    if (status == PW_OK)
        status = pw_call_axis(call, pw_call_int(call, "axis"), call->in[0]->rank, &axis, err);
    if (status != PW_OK)
        return status;
    g->outer = pw_gather_product(data, 0, axis);
    g->size = data[axis];
    g->inner = pw_gather_product(data, axis + 1, call->in[0]->rank);
    g->count = pw_gather_product(indices, 0, call->in[1]->rank);
    return PW_OK;
}

pw_status pw_gather_plan_elements(const struct pw_call *call, struct pw_gather_elements *g, struct pw_error *err)
{
    int64_t data[PW_MAX_RANK];
    *g = (struct pw_gather_elements){0};
    pw_status status = pw_call_numbers(call, call->in[0], data, err);
    if (status == PW_OK)
        status = pw_call_numbers(call, call->in[1], g->dims, err);
    if (status == PW_OK)
        status = pw_call_axis(call, pw_call_int(call, "axis"), call->in[0]->rank, &g->axis, err);
    if (status != PW_OK)
        return status;
    g->rank = call->in[0]->rank;
    if (call->in[1]->rank != g->rank)
        return pw_call_error(call, err, "data has rank %d, indices have rank %d", g->rank, call->in[1]->rank);
    for (int d = 0; d < g->rank; d++) {
        if (d != g->axis && g->dims[d] > data[d])
            return pw_call_error(call, err, "indices have %" PRId64 " in dim %d, data has %" PRId64, g->dims[d], d,
                                 data[d]);
    }
    g->size = data[g->axis];
    pw_tensor_strides(g->rank, data, g->strides);
    g->count = pw_gather_product(g->dims, 0, g->rank);
    return PW_OK;
}

pw_status pw_gather_plan_nd(const struct pw_call *call, struct pw_gather_nd *g, struct pw_error *err)
{
    int64_t data[PW_MAX_RANK], indices[PW_MAX_RANK], strides[PW_MAX_RANK];
    int64_t batch = pw_call_int(call, "batch_dims");
    *g = (struct pw_gather_nd){0};
    pw_status status = pw_call_numbers(call, call->in[0], data, err);
    if (status == PW_OK)
        status = pw_call_numbers(call, call->in[1], indices, err);
    if (status != PW_OK)
        return status;
    int rank = call->in[0]->rank, irank = call->in[1]->rank;
    if (irank < 1 || batch < 0 || batch >= irank || indices[irank - 1] < 0 || indices[irank - 1] > rank - batch)
        return pw_call_error(call, err, "index tuples do not fit data of rank %d", rank);
    g->depth = (int)indices[irank - 1];
    pw_tensor_strides(rank, data, strides);
    for (int d = 0; d < g->depth; d++) {
        g->sizes[d] = data[batch + d];
        g->strides[d] = strides[batch + d];
    }
    g->slice = pw_gather_product(data, (int)batch + g->depth, rank);
    g->tuples = pw_gather_product(indices, 0, irank - 1);
    g->tuples_per_batch = pw_gather_product(indices, (int)batch, irank - 1);
    g->batch_stride = pw_gather_product(data, (int)batch, rank);
    for (int d = 0; d < batch; d++) {
        if (data[d] != indices[d])
            return pw_call_error(call, err, "batch dim %d is %" PRId64 " in data and %" PRId64 " in indices", d,
                                 data[d], indices[d]);
    }
    return PW_OK;
}

pw_status pw_gather_plan_onehot(const struct pw_call *call, struct pw_gather_onehot *g, struct pw_error *err)
{
    int64_t indices[PW_MAX_RANK], out[PW_MAX_RANK];
    int axis = 0;
    pw_status status = pw_call_numbers(call, call->in[0], indices, err);
    if (status == PW_OK)
        status = pw_call_numbers(call, &call->out[0], out, err);
    if (status == PW_OK)
        status = pw_call_axis(call, pw_call_int(call, "axis"), call->in[0]->rank + 1, &axis, err);
    if (status != PW_OK)
        return status;
    g->outer = pw_gather_product(indices, 0, axis);
    g->depth = out[axis];
    g->inner = pw_gather_product(indices, axis, call->in[0]->rank);
    return PW_OK;
}

pw_status pw_gather_plan_topk(const struct pw_call *call, struct pw_gather_topk *g, struct pw_error *err)
{
    int64_t in[PW_MAX_RANK], out[PW_MAX_RANK];
    int axis = 0;
    pw_status status = pw_call_numbers(call, call->in[0], in, err);
    if (status == PW_OK)
        status = pw_call_numbers(call, &call->out[0], out, err);
    if (status == PW_OK)
        status = pw_call_axis(call, pw_call_int(call, "axis"), call->in[0]->rank, &axis, err);
    if (status != PW_OK)
        return status;
    g->outer = pw_gather_product(in, 0, axis);
    g->size = in[axis];
    g->inner = pw_gather_product(in, axis + 1, call->in[0]->rank);
    g->k = out[axis];
    g->largest = call->op->since < 11 || pw_call_int(call, "largest") != 0;
    return PW_OK;
}

pw_status pw_gather_plan_cache(const struct pw_call *call, struct pw_gather_cache *g, struct pw_error *err)
{
    int64_t past[PW_MAX_RANK], update[PW_MAX_RANK];
    const char *mode = pw_call_string(call, "mode");
    int axis = 0;
    pw_status status = pw_call_numbers(call, call->in[0], past, err);
    if (status == PW_OK)
        status = pw_call_numbers(call, call->in[1], update, err);
    if (status == PW_OK)
        status = pw_call_axis(call, pw_call_int(call, "axis"), call->in[0]->rank, &axis, err);
    if (status != PW_OK)
        return status;
    int rank = call->in[0]->rank;
    if (axis == 0)
        return pw_call_error(call, err, "axis is the batch axis, expected another one");
    g->circular = strcmp(mode, "circular") == 0;
    if (!g->circular && strcmp(mode, "linear") != 0)
        return pw_call_error(call, err, "mode is '%s', expected linear or circular", mode);
    if (call->in[1]->rank != rank)
        return pw_call_error(call, err, "past_cache has rank %d, update has rank %d", rank, call->in[1]->rank);
    for (int d = 0; d < rank; d++) {
        if (d == axis ? update[d] > past[d] : update[d] != past[d])
            return pw_call_error(call, err, "dim %d is %" PRId64 " in update and %" PRId64 " in past_cache", d,
                                 update[d], past[d]);
    }
    g->batch = past[0];
    g->middle = pw_gather_product(past, 1, axis);
    g->capacity = past[axis];
    g->steps = update[axis];
    g->inner = pw_gather_product(past, axis + 1, rank);
    return PW_OK;
}

pw_status pw_gather_reduction(const struct pw_call *call, pw_scatter_reduction *out, struct pw_error *err)
{
    static const char *const names[PW_SCATTER_COUNT] = {"none", "add", "mul", "max", "min"};
    const char *name = pw_call_string(call, "reduction");
    *out = PW_SCATTER_NONE;
    if (name[0] == '\0') /* versions without the attribute */
        return PW_OK;
    for (int i = 0; i < (call->op->since >= 18 ? PW_SCATTER_COUNT : PW_SCATTER_MAX); i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (pw_scatter_reduction)i;
            return PW_OK;
        }
    }
    return pw_call_error(call, err, "reduction is '%s', expected none, add, mul%s", name,
                         call->op->since >= 18 ? ", max or min" : "");
}

pw_status pw_gather_plan_slices(const struct pw_call *call, struct pw_gather_slices *g, struct pw_error *err)
{
    const struct pw_info *in = call->in[0];
    int64_t dims[PW_MAX_RANK];
    int axis = 0;
    pw_status status = pw_call_numbers(call, in, dims, err);
    if (status == PW_OK && !pw_call_has(call, "axis")) {
        *g = (struct pw_gather_slices){1, pw_gather_product(dims, 0, in->rank), 1};
        return PW_OK;
    }
    if (status == PW_OK)
        status = pw_call_axis(call, pw_call_int(call, "axis"), in->rank, &axis, err);
    if (status == PW_OK)
        *g = (struct pw_gather_slices){pw_gather_product(dims, 0, axis), dims[axis],
                                       pw_gather_product(dims, axis + 1, in->rank)};
    return status;
}
