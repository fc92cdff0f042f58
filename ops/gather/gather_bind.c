/* Sizes of the plans as named values for the kernels. */
#include "ops/gather/gather.h"

#define BIND(values) pw_bind_numbers(b, values, sizeof(values) / sizeof(values)[0], err)

/* Sums and products of 16-bit floats are kept in float. */
static bool is_wide(const struct pw_call *call, pw_scatter_reduction reduction)
{
    pw_dtype dtype = call->in[0]->dtype;
    return (reduction == PW_SCATTER_ADD || reduction == PW_SCATTER_MUL) &&
           (dtype == PW_DTYPE_FLOAT16 || dtype == PW_DTYPE_BFLOAT16);
}

pw_status pw_gather_bind_gather(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_gather_axis g;
    pw_status status = pw_gather_plan_axis(call, &g, err);
    if (status != PW_OK)
        return status;
    const struct pw_named_int values[] = {{"g_size", g.size},
                                          {"g_inner", g.inner},
                                          {"g_indices", g.count},
                                          {"g_count", g.size > 0 ? g.outer * g.count * g.inner : 0}};
    return BIND(values);
}

/* Also ScatterElements: `e_columns` are the coordinates beside the axis. */
pw_status pw_gather_bind_elements(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_gather_elements g;
    pw_scatter_reduction reduction;
    pw_status status = pw_gather_reduction(call, &reduction, err);
    if (status == PW_OK)
        status = pw_gather_plan_elements(call, &g, err);
    if (status != PW_OK)
        return status;
    int64_t steps = g.dims[g.axis];
    const struct pw_named_int values[] = {{"e_rank", g.rank},
                                          {"e_axis", g.axis},
                                          {"e_size", g.size},
                                          {"e_steps", steps},
                                          {"e_columns", steps > 0 && g.size > 0 ? g.count / steps : 0},
                                          {"e_count", g.size > 0 ? g.count : 0},
                                          {"scatter_op", (int64_t)reduction},
                                          {"scatter_wide", is_wide(call, reduction)}};
    status = BIND(values);
    if (status == PW_OK)
        status = pw_bind_ints(b, "e_dims", g.dims, (size_t)g.rank, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "e_strides", g.strides, (size_t)g.rank, err);
    return status;
}

pw_status pw_gather_bind_nd(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_gather_nd g;
    pw_scatter_reduction reduction;
    bool empty = false;
    pw_status status = pw_gather_reduction(call, &reduction, err);
    if (status == PW_OK)
        status = pw_gather_plan_nd(call, &g, err);
    if (status != PW_OK)
        return status;
    for (int d = 0; d < g.depth; d++)
        empty = empty || g.sizes[d] == 0;
    const struct pw_named_int values[] = {{"nd_depth", g.depth},
                                          {"nd_slice", g.slice},
                                          {"nd_tuples", empty ? 0 : g.tuples},
                                          {"nd_batch_tuples", g.tuples_per_batch},
                                          {"nd_batch_stride", g.batch_stride},
                                          {"scatter_op", (int64_t)reduction},
                                          {"scatter_wide", is_wide(call, reduction)}};
    status = BIND(values);
    if (status == PW_OK)
        status = pw_bind_ints(b, "nd_sizes", g.sizes, (size_t)g.depth, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "nd_strides", g.strides, (size_t)g.depth, err);
    return status;
}

pw_status pw_gather_bind_onehot(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_gather_onehot g;
    pw_status status = pw_gather_plan_onehot(call, &g, err);
    if (status != PW_OK)
        return status;
    const struct pw_named_int values[] = {
        {"hot_depth", g.depth}, {"hot_inner", g.inner}, {"hot_rows", g.inner > 0 ? g.outer * g.depth : 0}};
    return BIND(values);
}

pw_status pw_gather_bind_topk(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_gather_topk g;
    pw_status status = pw_gather_plan_topk(call, &g, err);
    if (status != PW_OK)
        return status;
    const struct pw_named_int values[] = {{"top_rows", g.k > 0 ? g.outer * g.inner : 0},
                                          {"top_size", g.size},
                                          {"top_inner", g.inner},
                                          {"top_k", g.k},
                                          {"top_largest", g.largest}};
    return BIND(values);
}

pw_status pw_gather_bind_cache(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_gather_cache g;
    pw_status status = pw_gather_plan_cache(call, &g, err);
    if (status != PW_OK)
        return status;
    const struct pw_named_int values[] = {{"c_rows", g.inner > 0 ? g.batch * g.middle * g.steps : 0},
                                          {"c_middle", g.middle},
                                          {"c_capacity", g.capacity},
                                          {"c_steps", g.steps},
                                          {"c_inner", g.inner},
                                          {"c_circular", g.circular}};
    return BIND(values);
}

pw_status pw_gather_bind_nonzero(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    int64_t dims[PW_MAX_RANK];
    pw_status status = pw_call_numbers(call, call->in[0], dims, err);
    return status == PW_OK ? pw_bind_ints(b, "select_dims", dims, (size_t)call->in[0]->rank, err) : status;
}

pw_status pw_gather_bind_slices(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_gather_slices g;
    pw_status status = pw_gather_plan_slices(call, &g, err);
    if (status != PW_OK)
        return status;
    const struct pw_named_int values[] = {{"select_outer", g.outer},
                                          {"select_size", g.size},
                                          {"select_inner", g.inner},
                                          {"select_sorted", pw_call_int(call, "sorted") != 0}};
    return BIND(values);
}

pw_status pw_gather_bind_eye(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    int64_t dims[PW_MAX_RANK], k = pw_call_int(call, "k");
    pw_status status = pw_call_numbers(call, &call->out[0], dims, err);
    if (status != PW_OK)
        return status;
    /* Beyond the matrix every k is alike. */
    k = k < -dims[0] ? -dims[0] : k > dims[1] ? dims[1] : k;
    const struct pw_named_int values[] = {
        {"eye_rows", dims[1] > 0 ? dims[0] : 0}, {"eye_columns", dims[1]}, {"eye_k", k}};
    return BIND(values);
}
