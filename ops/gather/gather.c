/* The room's operators: formals, attributes, cost and accuracy, and the table. */
#include "ops/gather/gather.h"

#include <string.h>

/* ---- cost ---- */

static pw_dim bytes_of(const struct pw_call *call, const struct pw_info *info)
{
    pw_dim bytes = (int64_t)pw_dtype_bytes(info->dtype);
    for (int d = 0; d < info->rank; d++)
        bytes = pw_dims_mul(call->dims, bytes, info->dims[d]);
    return info->rank < 0 ? PW_DIM_UNKNOWN : bytes;
}

/* Only what is picked is read: twice the output, and the indices. */
static pw_status cost_picked(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    (void)err;
    cost->flops = 0;
    cost->bytes = pw_dims_mul(call->dims, bytes_of(call, &call->out[0]), 2);
    if (pw_call_input(call, 1))
        cost->bytes = pw_dims_add(call->dims, cost->bytes, bytes_of(call, call->in[1]));
    return PW_OK;
}

/* Data is copied, updates are read and written once more; a reduction is one operation an update. */
static pw_status cost_scatter(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    pw_scatter_reduction reduction = PW_SCATTER_NONE;
    pw_status status = pw_gather_reduction(call, &reduction, err);
    cost->flops = reduction == PW_SCATTER_NONE ? 0 : pw_call_elements(call, call->in[2]);
    cost->bytes = pw_dims_mul(call->dims, bytes_of(call, &call->out[0]), 2);
    cost->bytes = pw_dims_add(call->dims, cost->bytes, pw_dims_mul(call->dims, bytes_of(call, call->in[2]), 2));
    cost->bytes = pw_dims_add(call->dims, cost->bytes, bytes_of(call, call->in[1]));
    return status;
}

/* One comparison an element; the driver's bytes. */
static pw_status cost_compared(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    (void)err;
    cost->flops = pw_call_elements(call, call->in[0]);
    return PW_OK;
}

static pw_status cost_moved(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    (void)call;
    (void)err;
    cost->flops = 0;
    return PW_OK;
}

/* ---- accuracy ---- */

/* At worst every update goes to one place. */
static void accuracy_scatter(const struct pw_call *call, struct pw_accuracy *a)
{
    pw_scatter_reduction reduction = PW_SCATTER_NONE;
    int64_t count = 0;
    pw_status status = pw_gather_reduction(call, &reduction, NULL);
    pw_accuracy_copy(call, a);
    if (status != PW_OK || (reduction != PW_SCATTER_ADD && reduction != PW_SCATTER_MUL) ||
        !pw_dtype_is_float(call->in[0]->dtype))
        return;
    a->exact = false;
    a->ulp = 1.0;
    a->length = pw_dims_value(call->dims, pw_call_elements(call, call->in[1]), &count) && count > 0 ? count : 1;
    a->sensitivity = PW_SENSITIVITY_MEDIUM;
    a->reason = "duplicates accumulate, in an order that a device may choose";
    a->why = "one rounding an update, at worst all on one element";
}

static void accuracy_sorted(const struct pw_call *call, struct pw_accuracy *a)
{
    pw_accuracy_copy(call, a);
    a->sensitivity = PW_SENSITIVITY_HIGH;
    a->reason = "the order of nearly equal values decides: a small error upstream picks another index";
}

/* ---- what to draw for cases: indices within their axis ---- */

static void fill_range(const struct pw_call *call, struct pw_fill *fill, const struct pw_info *data, int axis)
{
    int64_t size;
    if (axis >= 0 && axis < data->rank && pw_dims_value(call->dims, data->dims[axis], &size) && size > 0) {
        fill->int_low = -size;
        fill->int_high = size - 1;
    }
}

static int axis_of(const struct pw_call *call, int rank)
{
    int64_t axis = pw_call_int(call, "axis");
    return axis < -rank || axis >= rank ? -1 : (int)(axis < 0 ? axis + rank : axis);
}

static void fill_axis(const struct pw_call *call, int input, struct pw_fill *fill)
{
    if (input == 1 && pw_gather_ranked(call->in[0]))
        fill_range(call, fill, call->in[0], axis_of(call, call->in[0]->rank));
}

/* Without a reduction, duplicates along the axis have no defined winner. */
static void fill_scatter(const struct pw_call *call, int input, struct pw_fill *fill)
{
    fill_axis(call, input, fill);
    if (input != 1 || strcmp(pw_call_string(call, "reduction"), "none") != 0)
        return;
    fill->distinct = fill->from_end = true;
    fill->int_low = 0;
}

/* All indices of a tuple lie in the smallest indexed dim. */
static void fill_nd(const struct pw_call *call, int input, struct pw_fill *fill)
{
    const struct pw_info *data = call->in[0], *indices = call->in[1];
    int64_t depth, batch = pw_call_int(call, "batch_dims"), least = INT64_MAX;
    if (input != 1 || !pw_gather_ranked(data) || !pw_gather_ranked(indices) || indices->rank < 1 ||
        !pw_dims_value(call->dims, indices->dims[indices->rank - 1], &depth))
        return;
    for (int64_t d = batch < 0 ? 0 : batch; d < batch + depth && d < data->rank; d++) {
        int64_t size;
        if (pw_dims_value(call->dims, data->dims[d], &size) && size > 0 && size < least)
            least = size;
    }
    if (least == INT64_MAX)
        return;
    fill->int_low = -least;
    fill->int_high = least - 1;
}

static void fill_onehot(const struct pw_call *call, int input, struct pw_fill *fill)
{
    int64_t depth;
    bool known = false;
    if (input == 0 && pw_gather_number(call, 1, &depth, &known, NULL) == PW_OK && known && depth > 0) {
        fill->int_low = -depth;
        fill->int_high = depth; /* one beyond: it must come out all off */
        fill->beyond = true;
        fill->low = (double)-depth;
        fill->high = (double)depth;
    }
}

static void fill_distinct(const struct pw_call *call, int input, struct pw_fill *fill)
{
    (void)call;
    fill->distinct = input == 0;
}

static void fill_cache(const struct pw_call *call, int input, struct pw_fill *fill)
{
    struct pw_gather_cache g;
    if (input != 2 || pw_gather_plan_cache(call, &g, NULL) != PW_OK)
        return;
    fill->int_low = 0;
    fill->int_high = g.circular ? (g.capacity > 0 ? g.capacity - 1 : 0) : g.capacity - g.steps;
}

/* ---- formals ---- */

static const struct pw_formal in_gather[] = {{"data", "T", 0}, {"indices", "Tind", 0}, {0}};
static const struct pw_formal in_nd[] = {{"data", "T", 0}, {"indices", "int64", 0}, {0}};
static const struct pw_formal in_scatter[] = {{"data", "T", 0}, {"indices", "Tind", 0}, {"updates", "T", 0}, {0}};
static const struct pw_formal in_scatter_nd[] = {{"data", "T", 0}, {"indices", "int64", 0}, {"updates", "T", 0}, {0}};
static const struct pw_formal in_onehot[] = {
    {"indices", "T1", 0}, {"depth", "T2", PW_FORMAL_PARAM}, {"values", "T3", 0}, {0}};
static const struct pw_formal in_x[] = {{"X", "T", 0}, {0}};
static const struct pw_formal in_compress[] = {{"input", "T", 0}, {"condition", "T1", 0}, {0}};
static const struct pw_formal in_topk[] = {{"X", "T", 0}, {"K", "int64", PW_FORMAL_PARAM}, {0}};
static const struct pw_formal in_eye[] = {{"input", "T1", 0}, {0}};
static const struct pw_formal in_cache[] = {
    {"past_cache", "T", 0}, {"update", "T", 0}, {"write_indices", "int64", PW_FORMAL_OPTIONAL}, {0}};

static const struct pw_formal out_output[] = {{"output", "T", 0}, {0}};
static const struct pw_formal out_onehot[] = {{"output", "T3", 0}, {0}};
static const struct pw_formal out_y[] = {{"Y", "int64", 0}, {0}};
static const struct pw_formal out_unique[] = {{"Y", "T", 0},
                                              {"indices", "int64", PW_FORMAL_OPTIONAL},
                                              {"inverse_indices", "int64", PW_FORMAL_OPTIONAL},
                                              {"counts", "int64", PW_FORMAL_OPTIONAL},
                                              {0}};
static const struct pw_formal out_topk[] = {{"Values", "T", 0}, {"Indices", "int64", 0}, {0}};
static const struct pw_formal out_eye[] = {{"output", "T2", 0}, {0}};
static const struct pw_formal out_cache[] = {{"present_cache", "T", 0}, {0}};

/* ---- attributes ---- */

static const struct pw_attr_def attrs_axis[] = {{.name = "axis", .type = PW_ATTR_INT}, {0}};
static const struct pw_attr_def attrs_last_axis[] = {{.name = "axis", .type = PW_ATTR_INT, .i = -1}, {0}};
static const struct pw_attr_def attrs_batch[] = {{.name = "batch_dims", .type = PW_ATTR_INT}, {0}};
static const struct pw_attr_def attrs_scatter[] = {
    {.name = "axis", .type = PW_ATTR_INT}, {.name = "reduction", .type = PW_ATTR_STRING, .s = "none"}, {0}};
static const struct pw_attr_def attrs_reduction[] = {{.name = "reduction", .type = PW_ATTR_STRING, .s = "none"}, {0}};
static const struct pw_attr_def attrs_unique[] = {
    {.name = "axis", .type = PW_ATTR_INT}, {.name = "sorted", .type = PW_ATTR_INT, .i = 1}, {0}};
static const struct pw_attr_def attrs_topk_1[] = {
    {.name = "axis", .type = PW_ATTR_INT, .i = -1}, {.name = "k", .type = PW_ATTR_INT, .required = true}, {0}};
static const struct pw_attr_def attrs_topk_11[] = {{.name = "axis", .type = PW_ATTR_INT, .i = -1},
                                                   {.name = "largest", .type = PW_ATTR_INT, .i = 1},
                                                   {.name = "sorted", .type = PW_ATTR_INT, .i = 1},
                                                   {0}};
static const struct pw_attr_def attrs_eye[] = {
    {.name = "dtype", .type = PW_ATTR_INT}, {.name = "k", .type = PW_ATTR_INT}, {0}};
static const struct pw_attr_def attrs_cache[] = {
    {.name = "axis", .type = PW_ATTR_INT, .i = -2}, {.name = "mode", .type = PW_ATTR_STRING, .s = "linear"}, {0}};

/* ---- the table: versions of an operator share all that did not change ---- */

#define GATHER                                                                                                         \
    .domain = "", .name = "Gather", .category = PW_CATEGORY_EMBEDDING, .inputs = in_gather, .outputs = out_output,     \
    .attrs = attrs_axis, .infer = pw_gather_infer_gather, .cost = cost_picked, .accuracy = pw_accuracy_copy,           \
    .golden = pw_gather_ref_gather, .fast = pw_gather_ref_gather, .fill = fill_axis, .bind = pw_gather_bind_gather
#define GATHER_ELEMENTS                                                                                                \
    .domain = "", .name = "GatherElements", .category = PW_CATEGORY_LAYOUT, .inputs = in_gather,                       \
    .outputs = out_output, .attrs = attrs_axis, .infer = pw_gather_infer_elements, .cost = cost_picked,                \
    .accuracy = pw_accuracy_copy, .golden = pw_gather_ref_elements, .fast = pw_gather_ref_elements, .fill = fill_axis, \
    .bind = pw_gather_bind_elements
#define GATHER_ND                                                                                                      \
    .domain = "", .name = "GatherND", .category = PW_CATEGORY_LAYOUT, .inputs = in_nd, .outputs = out_output,          \
    .infer = pw_gather_infer_nd, .cost = cost_picked, .accuracy = pw_accuracy_copy, .golden = pw_gather_ref_nd,        \
    .fast = pw_gather_ref_nd, .fill = fill_nd, .bind = pw_gather_bind_nd
#define SCATTER_ELEMENTS                                                                                               \
    .domain = "", .category = PW_CATEGORY_LAYOUT, .inputs = in_scatter, .outputs = out_output,                         \
    .infer = pw_gather_infer_scatter_elements, .cost = cost_scatter, .accuracy = accuracy_scatter,                     \
    .golden = pw_gather_ref_scatter_elements, .fast = pw_gather_ref_scatter_elements, .fill = fill_scatter,            \
    .bind = pw_gather_bind_elements
#define SCATTER_ND                                                                                                     \
    .domain = "", .name = "ScatterND", .category = PW_CATEGORY_LAYOUT, .inputs = in_scatter_nd, .outputs = out_output, \
    .infer = pw_gather_infer_scatter_nd, .cost = cost_scatter, .accuracy = accuracy_scatter,                           \
    .golden = pw_gather_ref_scatter_nd, .fast = pw_gather_ref_scatter_nd, .fill = fill_nd, .bind = pw_gather_bind_nd
#define ONE_HOT                                                                                                        \
    .domain = "", .name = "OneHot", .category = PW_CATEGORY_LAYOUT, .inputs = in_onehot, .outputs = out_onehot,        \
    .attrs = attrs_last_axis, .infer = pw_gather_infer_onehot, .cost = cost_moved, .accuracy = pw_accuracy_copy,       \
    .golden = pw_gather_ref_onehot, .fast = pw_gather_ref_onehot, .fill = fill_onehot, .bind = pw_gather_bind_onehot
#define NON_ZERO                                                                                                       \
    .domain = "", .name = "NonZero", .category = PW_CATEGORY_LAYOUT, .inputs = in_x, .outputs = out_y,                 \
    .infer = pw_gather_infer_nonzero, .most = pw_gather_most_nonzero, .cost = cost_compared,                           \
    .accuracy = pw_accuracy_copy, .golden = pw_gather_ref_nonzero, .fast = pw_gather_ref_nonzero,                      \
    .bind = pw_gather_bind_nonzero
#define COMPRESS                                                                                                       \
    .domain = "", .name = "Compress", .category = PW_CATEGORY_LAYOUT, .inputs = in_compress, .outputs = out_output,    \
    .attrs = attrs_axis, .infer = pw_gather_infer_compress, .most = pw_gather_most_slices, .cost = cost_picked,        \
    .accuracy = pw_accuracy_copy, .golden = pw_gather_ref_compress, .fast = pw_gather_ref_compress,                    \
    .bind = pw_gather_bind_slices
#define UNIQUE                                                                                                         \
    .domain = "", .name = "Unique", .category = PW_CATEGORY_LAYOUT, .inputs = in_x, .outputs = out_unique,             \
    .attrs = attrs_unique, .infer = pw_gather_infer_unique, .most = pw_gather_most_slices, .cost = cost_compared,      \
    .accuracy = accuracy_sorted, .golden = pw_gather_ref_unique, .fast = pw_gather_ref_unique,                         \
    .bind = pw_gather_bind_slices
#define TOP_K                                                                                                          \
    .domain = "", .name = "TopK", .category = PW_CATEGORY_REDUCTION, .outputs = out_topk,                              \
    .infer = pw_gather_infer_topk, .cost = cost_compared, .accuracy = accuracy_sorted, .golden = pw_gather_ref_topk,   \
    .fast = pw_gather_ref_topk, .fill = fill_distinct, .bind = pw_gather_bind_topk
#define EYE_LIKE                                                                                                       \
    .domain = "", .name = "EyeLike", .category = PW_CATEGORY_LAYOUT, .inputs = in_eye, .outputs = out_eye,             \
    .attrs = attrs_eye, .infer = pw_gather_infer_eye, .cost = cost_moved, .accuracy = pw_accuracy_copy,                \
    .golden = pw_gather_ref_eye, .fast = pw_gather_ref_eye, .bind = pw_gather_bind_eye

const struct pw_op pw_gather_ops[] = {
    {GATHER, .since = 1},
    {GATHER, .since = 11},
    {GATHER, .since = 13},
    {GATHER_ELEMENTS, .since = 11},
    {GATHER_ELEMENTS, .since = 13},
    {GATHER_ND, .since = 11},
    {GATHER_ND, .since = 12, .attrs = attrs_batch},
    {GATHER_ND, .since = 13, .attrs = attrs_batch},
    {SCATTER_ELEMENTS, .name = "Scatter", .since = 9, .attrs = attrs_axis},
    {SCATTER_ELEMENTS, .name = "Scatter", .since = 11, .attrs = attrs_axis, .deprecated = "use ScatterElements"},
    {SCATTER_ELEMENTS, .name = "ScatterElements", .since = 11, .attrs = attrs_axis},
    {SCATTER_ELEMENTS, .name = "ScatterElements", .since = 13, .attrs = attrs_axis},
    {SCATTER_ELEMENTS, .name = "ScatterElements", .since = 16, .attrs = attrs_scatter},
    {SCATTER_ELEMENTS, .name = "ScatterElements", .since = 18, .attrs = attrs_scatter},
    {SCATTER_ND, .since = 11},
    {SCATTER_ND, .since = 13},
    {SCATTER_ND, .since = 16, .attrs = attrs_reduction},
    {SCATTER_ND, .since = 18, .attrs = attrs_reduction},
    {ONE_HOT, .since = 9},
    {ONE_HOT, .since = 11},
    {ONE_HOT, .since = 28},
    {NON_ZERO, .since = 9},
    {NON_ZERO, .since = 13},
    {COMPRESS, .since = 9},
    {COMPRESS, .since = 11},
    {COMPRESS, .since = 28},
    {UNIQUE, .since = 11},
    {UNIQUE, .since = 28},
    {TOP_K, .since = 1, .inputs = in_x, .attrs = attrs_topk_1},
    {TOP_K, .since = 10, .inputs = in_topk, .attrs = attrs_last_axis},
    {TOP_K, .since = 11, .inputs = in_topk, .attrs = attrs_topk_11},
    {TOP_K, .since = 24, .inputs = in_topk, .attrs = attrs_topk_11},
    {EYE_LIKE, .since = 9},
    {EYE_LIKE, .since = 22},
    {.domain = "",
     .name = "TensorScatter",
     .since = 24,
     .category = PW_CATEGORY_ATTENTION,
     .inputs = in_cache,
     .outputs = out_cache,
     .attrs = attrs_cache,
     .infer = pw_gather_infer_cache,
     .cost = cost_moved,
     .accuracy = pw_accuracy_copy,
     .golden = pw_gather_ref_cache,
     .fast = pw_gather_ref_cache,
     .fill = fill_cache,
     .bind = pw_gather_bind_cache},
    {0},
};
