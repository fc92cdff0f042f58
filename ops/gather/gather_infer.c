/* Shapes of the room's operators. */
#include <inttypes.h>
#include <string.h>

#include "ops/gather/gather.h"

static pw_status unknown(struct pw_call *call, int i, pw_dtype dtype)
{
    pw_gather_output(call, i, dtype, -1, NULL);
    return PW_OK;
}

static pw_dtype dtype_of(const struct pw_call *call, int input)
{
    return pw_call_input(call, input) ? call->in[input]->dtype : PW_DTYPE_UNDEFINED;
}

/* ---- Gather ---- */

/* Picks symbolic elements by known indices: the step from Shape to single dims in exporters' arithmetic. */
static pw_status gather_content(struct pw_call *call, int axis, struct pw_error *err)
{
    const struct pw_info *data = call->in[0];
    const int64_t *indices = NULL;
    size_t count = 0;
    bool known = false;
    int64_t outer = 1, inner = 1, size = data->dims[axis];
    if (data->content == NULL || call->out[0].dtype == PW_DTYPE_UNDEFINED)
        return PW_OK;
    pw_status status = pw_call_content(call, 1, &indices, &count, &known, err);
    if (status != PW_OK || !known)
        return status;
    for (int d = 0; d < data->rank; d++) {
        if (data->dims[d] < 0)
            return PW_OK;
        if (d != axis)
            *(d < axis ? &outer : &inner) *= data->dims[d]; /* content is small, so these are */
    }
    if ((size_t)(outer * size * inner) != data->content_count || count > PW_CONTENT_MAX ||
        (size_t)(outer * inner) * count > PW_CONTENT_MAX)
        return PW_OK;
    size_t total = (size_t)(outer * inner) * count;
    pw_dim *content = pw_arena_alloc(call->arena, total, sizeof *content);
    if (content == NULL)
        return pw_error_memory(err, total * sizeof *content);
    for (size_t i = 0; i < total; i++) {
        int64_t o = (int64_t)(i / (size_t)inner) / (int64_t)count, k = (int64_t)i % inner;
        int64_t at = indices[i / (size_t)inner % count];
        if (at < -size || at >= size)
            return pw_call_error(call, err, "index %" PRId64 " is outside of axis %d with %" PRId64 " elements", at,
                                 axis, size);
        at = at < 0 ? at + size : at;
        content[i] = data->content[(o * size + at) * inner + k];
    }
    call->out[0].content = content;
    call->out[0].content_count = total;
    return PW_OK;
}

pw_status pw_gather_infer_gather(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *data = call->in[0], *indices = call->in[1];
    pw_dim dims[2 * PW_MAX_RANK];
    int axis = 0, rank = 0;
    if (!pw_gather_ranked(data) || !pw_gather_ranked(indices))
        return unknown(call, 0, dtype_of(call, 0));
    pw_status status = pw_call_axis(call, pw_call_int(call, "axis"), data->rank, &axis, err);
    if (status != PW_OK)
        return status;
    for (int d = 0; d < axis; d++)
        dims[rank++] = data->dims[d];
    for (int d = 0; d < indices->rank; d++)
        dims[rank++] = indices->dims[d];
    for (int d = axis + 1; d < data->rank; d++)
        dims[rank++] = data->dims[d];
    if (rank > PW_MAX_RANK)
        return pw_call_error(call, err, "the output has rank %d, at most %d is possible", rank, PW_MAX_RANK);
    pw_gather_output(call, 0, data->dtype, rank, dims);
    return gather_content(call, axis, err);
}

/* ---- GatherElements, GatherND ---- */

/* Ranks agree and indices stay within data beside the axis. */
static pw_status check_elements(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *data = call->in[0], *indices = call->in[1];
    int axis = 0;
    if (!pw_gather_ranked(data))
        return PW_OK;
    pw_status status = pw_call_axis(call, pw_call_int(call, "axis"), data->rank, &axis, err);
    if (status != PW_OK || !pw_gather_ranked(indices))
        return status;
    if (data->rank != indices->rank)
        return pw_call_error(call, err, "data has rank %d, indices have rank %d", data->rank, indices->rank);
    for (int d = 0; d < data->rank; d++) {
        if (d != axis && data->dims[d] >= 0 && indices->dims[d] > data->dims[d])
            return pw_call_error(call, err, "indices have %" PRId64 " in dim %d, data has %" PRId64, indices->dims[d],
                                 d, data->dims[d]);
    }
    return PW_OK;
}

pw_status pw_gather_infer_elements(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *indices = call->in[1];
    pw_status status = check_elements(call, err);
    if (status == PW_OK)
        pw_gather_output(call, 0, dtype_of(call, 0), pw_gather_ranked(indices) ? indices->rank : -1, indices->dims);
    return status;
}

/* Depth of the index tuples: the last dim of indices; -1 unknown. */
static pw_status tuple_depth(const struct pw_call *call, int64_t batch, int64_t *depth, struct pw_error *err)
{
    const struct pw_info *data = call->in[0], *indices = call->in[1];
    *depth = -1;
    if (indices->rank < 1)
        return pw_call_error(call, err, "indices have rank 0, expected at least 1");
    if (batch < 0 || batch >= indices->rank || (pw_gather_ranked(data) && batch >= data->rank))
        return pw_call_error(call, err, "batch_dims is %" PRId64 " with data of rank %d and indices of rank %d", batch,
                             data->rank, indices->rank);
    if (indices->dims[indices->rank - 1] < 0)
        return PW_OK;
    *depth = indices->dims[indices->rank - 1];
    if (pw_gather_ranked(data) && *depth > data->rank - batch)
        return pw_call_error(call, err, "tuples of %" PRId64 " indices for data of rank %d", *depth, data->rank);
    return PW_OK;
}

pw_status pw_gather_infer_nd(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *data = call->in[0], *indices = call->in[1];
    pw_dim dims[2 * PW_MAX_RANK];
    int64_t batch = pw_call_int(call, "batch_dims"), depth = -1;
    int rank = 0;
    if (!pw_gather_ranked(data) || !pw_gather_ranked(indices))
        return unknown(call, 0, dtype_of(call, 0));
    pw_status status = tuple_depth(call, batch, &depth, err);
    if (status != PW_OK || depth < 0)
        return status != PW_OK ? status : unknown(call, 0, data->dtype);
    for (int d = 0; d < indices->rank - 1; d++)
        dims[rank++] = indices->dims[d];
    for (int d = (int)(batch + depth); d < data->rank; d++)
        dims[rank++] = data->dims[d];
    if (rank > PW_MAX_RANK)
        return pw_call_error(call, err, "the output has rank %d, at most %d is possible", rank, PW_MAX_RANK);
    pw_gather_output(call, 0, data->dtype, rank, dims);
    return PW_OK;
}

/* ---- scatters: the output is as the data ---- */

pw_status pw_gather_infer_scatter_elements(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *indices = call->in[1], *updates = call->in[2];
    pw_scatter_reduction reduction;
    pw_status status = pw_gather_reduction(call, &reduction, err);
    if (status == PW_OK)
        status = check_elements(call, err);
    if (status != PW_OK)
        return status;
    if (pw_gather_ranked(indices) && pw_gather_ranked(updates)) {
        if (indices->rank != updates->rank)
            return pw_call_error(call, err, "indices have rank %d, updates have rank %d", indices->rank, updates->rank);
        for (int d = 0; d < indices->rank; d++) {
            if (indices->dims[d] >= 0 && updates->dims[d] >= 0 && indices->dims[d] != updates->dims[d])
                return pw_call_error(call, err, "dim %d is %" PRId64 " in indices and %" PRId64 " in updates", d,
                                     indices->dims[d], updates->dims[d]);
        }
    }
    pw_call_output_like(call, 0, 0);
    return PW_OK;
}

pw_status pw_gather_infer_scatter_nd(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *data = call->in[0], *indices = call->in[1], *updates = call->in[2];
    pw_scatter_reduction reduction;
    int64_t depth = -1;
    pw_status status = pw_gather_reduction(call, &reduction, err);
    if (status == PW_OK && pw_gather_ranked(indices))
        status = tuple_depth(call, 0, &depth, err);
    if (status != PW_OK)
        return status;
    pw_call_output_like(call, 0, 0);
    if (depth < 0 || !pw_gather_ranked(data) || !pw_gather_ranked(updates))
        return PW_OK;
    int rank = indices->rank - 1 + data->rank - (int)depth;
    if (updates->rank != rank)
        return pw_call_error(call, err, "updates have rank %d, expected %d", updates->rank, rank);
    for (int d = 0; d < rank; d++) {
        pw_dim wanted = d < indices->rank - 1 ? indices->dims[d] : data->dims[(int)depth + d - (indices->rank - 1)];
        if (wanted >= 0 && updates->dims[d] >= 0 && wanted != updates->dims[d])
            return pw_call_error(call, err, "dim %d of updates is %" PRId64 ", expected %" PRId64, d, updates->dims[d],
                                 wanted);
    }
    return PW_OK;
}

pw_status pw_gather_infer_cache(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *past = call->in[0], *update = call->in[1];
    if (pw_gather_ranked(past) && pw_gather_ranked(update) && past->rank != update->rank)
        return pw_call_error(call, err, "past_cache has rank %d, update has rank %d", past->rank, update->rank);
    pw_call_output_like(call, 0, 0);
    return PW_OK;
}

/* ---- OneHot, EyeLike ---- */

pw_status pw_gather_infer_onehot(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *indices = call->in[0], *depth = call->in[1], *values = call->in[2];
    pw_dim dims[PW_MAX_RANK + 1], size = PW_DIM_UNKNOWN;
    int64_t number;
    bool known = false;
    int axis = 0;
    if (pw_gather_ranked(values) && (values->rank != 1 || (values->dims[0] >= 0 && values->dims[0] != 2)))
        return pw_call_error(call, err, "values must be [off, on], found rank %d", values->rank);
    pw_status status = pw_gather_number(call, 1, &number, &known, err);
    if (status != PW_OK)
        return status;
    if (known && number < 0)
        return pw_call_error(call, err, "depth is %" PRId64 ", expected at least 0", number);
    if (known)
        size = number;
    else if (depth->content != NULL && depth->content_count == 1)
        size = depth->content[0];
    if (!pw_gather_ranked(indices))
        return unknown(call, 0, dtype_of(call, 2));
    if (indices->rank >= PW_MAX_RANK)
        return pw_call_error(call, err, "the output has rank %d, at most %d is possible", indices->rank + 1,
                             PW_MAX_RANK);
    status = pw_call_axis(call, pw_call_int(call, "axis"), indices->rank + 1, &axis, err);
    if (status != PW_OK)
        return status;
    for (int d = 0; d <= indices->rank; d++)
        dims[d] = d == axis ? size : indices->dims[d < axis ? d : d - 1];
    pw_gather_output(call, 0, dtype_of(call, 2), indices->rank + 1, dims);
    return PW_OK;
}

pw_status pw_gather_infer_eye(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = call->in[0];
    pw_dtype dtype = dtype_of(call, 0);
    if (pw_call_has(call, "dtype")) {
        int64_t wish = pw_call_int(call, "dtype");
        if (wish <= 0 || wish >= PW_DTYPE_COUNT || wish == PW_DTYPE_STRING)
            return pw_call_error(call, err, "dtype %" PRId64 " is no element type for numbers", wish);
        dtype = (pw_dtype)wish;
    }
    if (!pw_gather_ranked(in))
        return unknown(call, 0, dtype);
    if (in->rank != 2)
        return pw_call_error(call, err, "the input has rank %d, expected 2", in->rank);
    pw_gather_output(call, 0, dtype, 2, in->dims);
    return PW_OK;
}

/* ---- outputs whose size depends on the data ---- */

pw_status pw_gather_infer_nonzero(struct pw_call *call, struct pw_error *err)
{
    pw_dim dims[2] = {pw_gather_ranked(call->in[0]) ? call->in[0]->rank : PW_DIM_UNKNOWN, PW_DIM_UNKNOWN};
    (void)err;
    pw_gather_output(call, 0, PW_DTYPE_INT64, 2, dims);
    return PW_OK;
}

/* How many conditions are true, when that is known. */
static pw_dim count_true(const struct pw_call *call)
{
    const struct pw_tensor *condition = call->in[1] != NULL ? call->in[1]->constant : NULL;
    int64_t count = 0;
    if (condition == NULL || condition->dtype != PW_DTYPE_BOOL)
        return PW_DIM_UNKNOWN;
    for (int64_t i = 0; i < condition->count; i++)
        count += ((const uint8_t *)condition->data)[i] != 0;
    return count;
}

pw_status pw_gather_infer_compress(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = call->in[0];
    pw_dim dims[PW_MAX_RANK], count = count_true(call);
    int axis = 0;
    if (!pw_call_has(call, "axis")) {
        pw_gather_output(call, 0, dtype_of(call, 0), 1, &count);
        return PW_OK;
    }
    if (!pw_gather_ranked(in))
        return unknown(call, 0, dtype_of(call, 0));
    pw_status status = pw_call_axis(call, pw_call_int(call, "axis"), in->rank, &axis, err);
    if (status != PW_OK)
        return status;
    memcpy(dims, in->dims, sizeof dims);
    dims[axis] = count;
    pw_gather_output(call, 0, in->dtype, in->rank, dims);
    return PW_OK;
}

pw_status pw_gather_infer_unique(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = call->in[0];
    pw_dim dims[PW_MAX_RANK], count = pw_gather_known(call, PW_DIM_UNKNOWN), all = PW_DIM_UNKNOWN;
    int axis = 0, rank = 1;
    if (pw_call_has(call, "axis")) {
        rank = pw_gather_ranked(in) ? in->rank : -1;
        if (rank >= 0) {
            pw_status status = pw_call_axis(call, pw_call_int(call, "axis"), in->rank, &axis, err);
            if (status != PW_OK)
                return status;
            memcpy(dims, in->dims, sizeof dims);
            all = in->dims[axis];
        }
    } else {
        all = pw_call_elements(call, in);
    }
    if (rank > 0)
        dims[axis] = count;
    pw_gather_output(call, 0, dtype_of(call, 0), rank, dims);
    pw_gather_output(call, 1, PW_DTYPE_INT64, 1, &count);
    pw_gather_output(call, 2, PW_DTYPE_INT64, 1, &all);
    pw_gather_output(call, 3, PW_DTYPE_INT64, 1, &count);
    return PW_OK;
}

pw_dim pw_gather_most_nonzero(const struct pw_call *call)
{
    return pw_call_elements(call, call->in[0]);
}

pw_dim pw_gather_most_slices(const struct pw_call *call)
{
    const struct pw_info *in = call->in[0];
    int axis;
    if (call->input_count > 1)
        return pw_call_elements(call, call->in[1]);
    if (!pw_call_has(call, "axis"))
        return pw_call_elements(call, in);
    if (!pw_gather_ranked(in) || pw_call_axis(call, pw_call_int(call, "axis"), in->rank, &axis, NULL) != PW_OK)
        return PW_DIM_UNKNOWN;
    return in->dims[axis];
}

/* ---- TopK ---- */

pw_status pw_gather_infer_topk(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = call->in[0];
    pw_dim dims[PW_MAX_RANK], k = PW_DIM_UNKNOWN;
    int64_t number = pw_call_int(call, "k");
    bool known = call->op->since < 10;
    int axis = 0;
    pw_status status = PW_OK;
    if (!known)
        status = pw_gather_number(call, 1, &number, &known, err);
    if (status != PW_OK)
        return status;
    if (known)
        k = number;
    else if (call->in[1]->content != NULL && call->in[1]->content_count == 1)
        k = call->in[1]->content[0];
    if (!pw_gather_ranked(in)) {
        unknown(call, 0, dtype_of(call, 0));
        return unknown(call, 1, PW_DTYPE_INT64);
    }
    status = pw_call_axis(call, pw_call_int(call, "axis"), in->rank, &axis, err);
    if (status != PW_OK)
        return status;
    if (known && (number < 0 || (in->dims[axis] >= 0 && number > in->dims[axis])))
        return pw_call_error(call, err, "k is %" PRId64 ", but axis %d has %" PRId64 " elements", number, axis,
                             in->dims[axis]);
    memcpy(dims, in->dims, sizeof dims);
    dims[axis] = pw_gather_known(call, k);
    pw_gather_output(call, 0, in->dtype, in->rank, dims);
    pw_gather_output(call, 1, PW_DTYPE_INT64, in->rank, dims);
    return PW_OK;
}
