/* The strided copy behind each operator that has one input and one output. */
#include <string.h>

#include "ops/layout/layout.h"

/* Both shapes as numbers. */
static pw_status shapes(const struct pw_call *call, int64_t *in, int64_t *out, struct pw_error *err)
{
    pw_status status = pw_call_numbers(call, call->in[0], in, err);
    return status == PW_OK ? pw_call_numbers(call, &call->out[0], out, err) : status;
}

static int64_t elements(int rank, const int64_t *dims)
{
    int64_t n = 1;
    for (int d = 0; d < rank; d++) {
        if (__builtin_mul_overflow(n, dims[d], &n))
            return -1;
    }
    return n;
}

static pw_status plan_dense(const struct pw_call *call, int part, struct pw_layout_copy *copy, struct pw_error *err)
{
    int64_t in[PW_MAX_RANK], out[PW_MAX_RANK];
    pw_status status = shapes(call, in, out, err);
    (void)part;
    if (status != PW_OK)
        return status;
    int64_t count = elements(call->in[0]->rank, in);
    if (count < 0 || count != elements(call->out[0].rank, out))
        return pw_call_error(call, err, "input and output hold different numbers of elements");
    *copy = (struct pw_layout_copy){.rank = 1, .dims = {count}, .src_stride = {1}, .dst_stride = {1}};
    return PW_OK;
}

static pw_status plan_transpose(const struct pw_call *call, int part, struct pw_layout_copy *copy, struct pw_error *err)
{
    int64_t in[PW_MAX_RANK], out[PW_MAX_RANK], strides[PW_MAX_RANK];
    int rank = call->in[0]->rank;
    size_t count = 0;
    const int64_t *perm = pw_call_ints(call, "perm", &count);
    pw_status status = shapes(call, in, out, err);
    (void)part;
    if (status != PW_OK)
        return status;
    *copy = (struct pw_layout_copy){.rank = rank};
    pw_tensor_strides(rank, in, strides);
    pw_tensor_strides(rank, out, copy->dst_stride);
    for (int d = 0; d < rank; d++) {
        copy->dims[d] = out[d];
        copy->src_stride[d] = strides[perm != NULL ? perm[d] : rank - 1 - d];
    }
    return PW_OK;
}

static pw_status plan_expand(const struct pw_call *call, int part, struct pw_layout_copy *copy, struct pw_error *err)
{
    int64_t in[PW_MAX_RANK], out[PW_MAX_RANK], strides[PW_MAX_RANK];
    int rank = call->out[0].rank, shift = rank - call->in[0]->rank;
    pw_status status = shapes(call, in, out, err);
    (void)part;
    if (status != PW_OK)
        return status;
    *copy = (struct pw_layout_copy){.rank = rank};
    pw_tensor_strides(call->in[0]->rank, in, strides);
    pw_tensor_strides(rank, out, copy->dst_stride);
    for (int d = 0; d < rank; d++) {
        copy->dims[d] = out[d];
        copy->src_stride[d] = d < shift || in[d - shift] == 1 ? 0 : strides[d - shift];
    }
    return PW_OK;
}

/* Each axis becomes (repetition, position). */
static pw_status plan_tile(const struct pw_call *call, int part, struct pw_layout_copy *copy, struct pw_error *err)
{
    int64_t in[PW_MAX_RANK], out[PW_MAX_RANK], src[PW_MAX_RANK], dst[PW_MAX_RANK];
    int rank = call->in[0]->rank;
    pw_status status = shapes(call, in, out, err);
    (void)part;
    if (status != PW_OK)
        return status;
    *copy = (struct pw_layout_copy){.rank = 2 * rank};
    pw_tensor_strides(rank, in, src);
    pw_tensor_strides(rank, out, dst);
    for (int d = 0; d < rank; d++) {
        copy->dims[2 * d] = in[d] > 0 ? out[d] / in[d] : 0;
        copy->dst_stride[2 * d] = dst[d] * in[d];
        copy->dims[2 * d + 1] = in[d];
        copy->src_stride[2 * d + 1] = src[d];
        copy->dst_stride[2 * d + 1] = dst[d];
    }
    return PW_OK;
}

/* The output's dims in order, each a dim of the input seen with its blocks split off. */
static void permute(struct pw_layout_copy *copy, const int64_t *dims, const int *order)
{
    int64_t strides[6];
    pw_tensor_strides(6, dims, strides);
    *copy = (struct pw_layout_copy){.rank = 6};
    for (int d = 0; d < 6; d++) {
        copy->dims[d] = dims[order[d]];
        copy->src_stride[d] = strides[order[d]];
    }
    pw_tensor_strides(6, copy->dims, copy->dst_stride);
}

static bool is_crd(const struct pw_call *call)
{
    return strcmp(pw_call_string(call, "mode"), "CRD") == 0;
}

static pw_status plan_depth_to_space(const struct pw_call *call, int part, struct pw_layout_copy *copy,
                                     struct pw_error *err)
{
    static const int dcr[6] = {0, 3, 4, 1, 5, 2}, crd[6] = {0, 1, 4, 2, 5, 3};
    int64_t in[PW_MAX_RANK], out[PW_MAX_RANK], b = pw_call_int(call, "blocksize");
    pw_status status = shapes(call, in, out, err);
    (void)part;
    if (status != PW_OK)
        return status;
    int64_t first[6] = {in[0], b, b, out[1], in[2], in[3]};  /* depth, column, row: blocks lead */
    int64_t second[6] = {in[0], out[1], b, b, in[2], in[3]}; /* channels lead */
    permute(copy, is_crd(call) ? second : first, is_crd(call) ? crd : dcr);
    return PW_OK;
}

static pw_status plan_space_to_depth(const struct pw_call *call, int part, struct pw_layout_copy *copy,
                                     struct pw_error *err)
{
    static const int dcr[6] = {0, 3, 5, 1, 2, 4}, crd[6] = {0, 1, 3, 5, 2, 4};
    int64_t in[PW_MAX_RANK], out[PW_MAX_RANK], b = pw_call_int(call, "blocksize");
    pw_status status = shapes(call, in, out, err);
    (void)part;
    if (status != PW_OK)
        return status;
    int64_t dims[6] = {in[0], in[1], out[2], b, out[3], b};
    permute(copy, dims, is_crd(call) ? crd : dcr);
    return PW_OK;
}

const struct pw_layout_kind pw_layout_dense = {.plan = plan_dense};
const struct pw_layout_kind pw_layout_transpose = {.plan = plan_transpose};
const struct pw_layout_kind pw_layout_expand = {.plan = plan_expand};
const struct pw_layout_kind pw_layout_tile = {.plan = plan_tile};
const struct pw_layout_kind pw_layout_depth_to_space = {.plan = plan_depth_to_space};
const struct pw_layout_kind pw_layout_space_to_depth = {.plan = plan_space_to_depth};
