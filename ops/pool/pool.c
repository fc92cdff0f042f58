#include "ops/pool/pool.h"

#include <math.h>
#include <string.h>

static const struct pw_pool_kind kind_max = {PW_POOL_MAX, false};
static const struct pw_pool_kind kind_average = {PW_POOL_AVERAGE, false};
static const struct pw_pool_kind kind_lp = {PW_POOL_LP, false};
static const struct pw_pool_kind kind_global_max = {PW_POOL_MAX, true};
static const struct pw_pool_kind kind_global_average = {PW_POOL_AVERAGE, true};
static const struct pw_pool_kind kind_global_lp = {PW_POOL_LP, true};

const struct pw_pool_kind *pw_pool_kind_of(const struct pw_call *call)
{
    return call->op->data;
}

pw_status pw_pool_window(const struct pw_call *call, struct pw_window *w, bool *known, struct pw_error *err)
{
    const struct pw_pool_kind *kind = pw_pool_kind_of(call);
    const struct pw_info *x = call->in[0];
    *known = false;
    if (x->rank < 0)
        return PW_OK;
    if (x->rank < (kind->global ? 2 : 3))
        return pw_call_error(call, err, "X has rank %d, expected at least %d", x->rank, kind->global ? 2 : 3);
    *known = true;
    if (!kind->global)
        return pw_window_read(call, x->rank - 2, x->dims + 2, NULL, w, err);
    *w = (struct pw_window){.axes = x->rank - 2};
    for (int i = 0; i < w->axes; i++) {
        w->in[i] = w->kernel[i] = x->dims[2 + i];
        w->stride[i] = w->dilation[i] = w->out[i] = 1;
    }
    return PW_OK;
}

pw_status pw_pool_numbers(const struct pw_call *call, struct pw_window_numbers *n, struct pw_error *err)
{
    struct pw_window w;
    bool known = false;
    pw_status status = pw_pool_window(call, &w, &known, err);
    if (status == PW_OK && !known)
        return pw_call_error(call, err, "the rank of X is not known");
    return status == PW_OK ? pw_window_numbers(call, &w, n, err) : status;
}

pw_status pw_pool_exponent(const struct pw_call *call, double *p, struct pw_error *err)
{
    *p = call->op->since == 1 ? (double)pw_call_float(call, "p") : (double)pw_call_int(call, "p");
    if (!(*p > 0.0))
        return pw_call_error(call, err, "p is %g, expected above 0", *p);
    return PW_OK;
}

/* ---- inference ---- */

static pw_status infer_pool(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    const struct pw_pool_kind *kind = pw_pool_kind_of(call);
    struct pw_window w;
    bool known = false;
    double p = 0;
    pw_status status = pw_pool_window(call, &w, &known, err);
    if (status == PW_OK && kind->mode == PW_POOL_LP)
        status = pw_pool_exponent(call, &p, err);
    if (status != PW_OK)
        return status;
    if (!known) {
        pw_call_output_unknown(call, 0, x->dtype);
        if (call->output_count > 1)
            pw_call_output_unknown(call, 1, PW_DTYPE_INT64);
        return PW_OK;
    }
    int64_t order = pw_call_int(call, "storage_order");
    if (order != 0 && order != 1)
        return pw_call_error(call, err, "storage_order is %lld, expected 0 or 1", (long long)order);
    pw_dim dims[PW_MAX_RANK] = {x->dims[0], x->dims[1]};
    for (int i = 0; i < w.axes; i++)
        dims[2 + i] = w.out[i];
    pw_call_output(call, 0, x->dtype, x->rank, dims);
    if (call->output_count > 1)
        pw_call_output(call, 1, PW_DTYPE_INT64, x->rank, dims);
    return PW_OK;
}

/* Extents of the pool that is undone: (in - 1) * stride + kernel - pads. */
static pw_status unpool_dims(const struct pw_call *call, pw_dim *dims, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    struct pw_window w;
    if (x->rank < 3)
        return pw_call_error(call, err, "X has rank %d, expected at least 3", x->rank);
    pw_status status = pw_window_read_plain(call, x->rank - 2, NULL, &w, err);
    if (status != PW_OK)
        return status;
    dims[0] = x->dims[0];
    dims[1] = x->dims[1];
    for (int i = 0; i < w.axes; i++) {
        pw_dim reach = pw_dims_mul(call->dims, pw_dims_sub(call->dims, x->dims[2 + i], 1), w.stride[i]);
        pw_dim pads = pw_dims_add(call->dims, w.pad_begin[i], w.pad_end[i]);
        dims[2 + i] = pw_dims_sub(call->dims, pw_dims_add(call->dims, reach, w.kernel[i]), pads);
        int64_t value = 0;
        if (pw_dims_value(call->dims, dims[2 + i], &value) && value < 0)
            return pw_call_error(call, err, "spatial axis %d: the unpooled extent is %lld", i, (long long)value);
    }
    return PW_OK;
}

static pw_status infer_unpool(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    pw_dim dims[PW_MAX_RANK];
    if (x->rank < 0) {
        pw_call_output_unknown(call, 0, x->dtype);
        return PW_OK;
    }
    pw_status status = unpool_dims(call, dims, err);
    if (status != PW_OK)
        return status;
    if (pw_call_input(call, 2)) {
        const struct pw_info *shape = call->in[2];
        if (shape->content && shape->content_count != (size_t)x->rank)
            return pw_call_error(call, err, "output_shape has %zu values, but X has rank %d", shape->content_count,
                                 x->rank);
        for (int i = 0; i < x->rank; i++) {
            int64_t value = 0;
            dims[i] = shape->content ? shape->content[i] : PW_DIM_UNKNOWN;
            if (pw_dims_value(call->dims, dims[i], &value) && value < 0)
                return pw_call_error(call, err, "output_shape[%d] is %lld", i, (long long)value);
        }
    }
    pw_call_output(call, 0, x->dtype, x->rank, dims);
    return PW_OK;
}

pw_status pw_unpool_numbers(const struct pw_call *call, int *rank, int64_t *pooled, int64_t *out, struct pw_error *err)
{
    pw_dim dims[PW_MAX_RANK];
    const struct pw_info *x = call->in[0];
    if (x->rank < 0 || call->out[0].rank != x->rank)
        return pw_call_error(call, err, "shapes are not known");
    pw_status status = unpool_dims(call, dims, err);
    if (status != PW_OK)
        return status;
    *rank = x->rank;
    for (int i = 0; i < x->rank; i++) {
        if (!pw_dims_value(call->dims, dims[i], &pooled[i]) ||
            !pw_dims_value(call->dims, call->out[0].dims[i], &out[i]) || pooled[i] < 0 || out[i] < 0)
            return pw_call_error(call, err, "axis %d: the extents are not known numbers", i);
    }
    return PW_OK;
}

/* [regions, channels, height, width] for the two region pools. */
static pw_status infer_regions(struct pw_call *call, int width, int64_t out_height, int64_t out_width,
                               struct pw_error *err)
{
    const struct pw_info *x = call->in[0], *rois = call->in[1];
    int64_t value = 0;
    if (x->rank >= 0 && x->rank != 4)
        return pw_call_error(call, err, "X has rank %d, expected 4", x->rank);
    if (rois->rank >= 0 && rois->rank != 2)
        return pw_call_error(call, err, "rois has rank %d, expected 2", rois->rank);
    if (rois->rank == 2 && pw_dims_value(call->dims, rois->dims[1], &value) && value != width)
        return pw_call_error(call, err, "rois has %lld columns, expected %d", (long long)value, width);
    if (out_height < 1 || out_width < 1 || out_height > PW_WINDOW_LIMIT || out_width > PW_WINDOW_LIMIT)
        return pw_call_error(call, err, "the pooled shape is %lld x %lld", (long long)out_height, (long long)out_width);
    pw_dim dims[4] = {rois->rank == 2 ? rois->dims[0] : PW_DIM_UNKNOWN, x->rank == 4 ? x->dims[1] : PW_DIM_UNKNOWN,
                      out_height, out_width};
    pw_call_output(call, 0, x->dtype, 4, dims);
    return PW_OK;
}

static pw_status infer_max_roi(struct pw_call *call, struct pw_error *err)
{
    size_t count = 0;
    const int64_t *shape = pw_call_ints(call, "pooled_shape", &count);
    if (!shape || count != 2)
        return pw_call_error(call, err, "pooled_shape has %zu values, expected 2", count);
    return infer_regions(call, 5, shape[0], shape[1], err);
}

static pw_status infer_roi_align(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *rois = call->in[1], *batch = call->in[2];
    const char *mode = pw_call_string(call, "mode"), *where = pw_call_string(call, "coordinate_transformation_mode");
    int64_t count = 0, indices = 0;
    if (strcmp(mode, "avg") != 0 && strcmp(mode, "max") != 0)
        return pw_call_error(call, err, "mode '%.32s', expected avg or max", mode);
    if (*where != '\0' && strcmp(where, "half_pixel") != 0 && strcmp(where, "output_half_pixel") != 0)
        return pw_call_error(call, err, "coordinate_transformation_mode '%.32s'", where);
    if (pw_call_int(call, "sampling_ratio") < 0 || pw_call_int(call, "sampling_ratio") > 1024)
        return pw_call_error(call, err, "sampling_ratio is %lld, expected 0 to 1024",
                             (long long)pw_call_int(call, "sampling_ratio"));
    if (batch->rank >= 0 && batch->rank != 1)
        return pw_call_error(call, err, "batch_indices has rank %d, expected 1", batch->rank);
    if (rois->rank == 2 && batch->rank == 1 && pw_dims_value(call->dims, rois->dims[0], &count) &&
        pw_dims_value(call->dims, batch->dims[0], &indices) && count != indices)
        return pw_call_error(call, err, "%lld regions, but %lld batch indices", (long long)count, (long long)indices);
    return infer_regions(call, 4, pw_call_int(call, "output_height"), pw_call_int(call, "output_width"), err);
}

/* ---- cost and accuracy ---- */

static pw_dim window_taps(const struct pw_call *call)
{
    struct pw_window w;
    bool known = false;
    pw_dim product = 1;
    if (pw_pool_window(call, &w, &known, NULL) != PW_OK || !known)
        return PW_DIM_UNKNOWN;
    for (int i = 0; i < w.axes; i++)
        product = pw_dims_mul(call->dims, product, w.kernel[i]);
    return product;
}

static pw_status cost_pool(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    (void)err;
    cost->flops = pw_dims_mul(call->dims, pw_call_elements(call, &call->out[0]), window_taps(call));
    if (pw_pool_kind_of(call)->mode == PW_POOL_LP)
        cost->flops = pw_dims_mul(call->dims, cost->flops, 2);
    return PW_OK;
}

static pw_status cost_none(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    (void)call;
    (void)err;
    cost->flops = 0;
    return PW_OK;
}

static void accuracy_pool(const struct pw_call *call, struct pw_accuracy *a)
{
    pw_pool_mode mode = pw_pool_kind_of(call)->mode;
    int64_t length = 1;
    double p = 2;
    if (!pw_dims_value(call->dims, window_taps(call), &length) || length < 1)
        length = 1;
    *a = (struct pw_accuracy){.length = 1, .amplification = 1, .sensitivity = PW_SENSITIVITY_LOW};
    if (mode == PW_POOL_MAX) {
        a->exact = true;
        a->reason = "copies its largest input";
        a->why = "a copy of an input";
        return;
    }
    a->length = length;
    a->ulp = 3.5;
    a->sensitivity = length >= 4096 ? PW_SENSITIVITY_MEDIUM : PW_SENSITIVITY_LOW;
    a->reason = length >= 4096 ? "long accumulation" : "short sum";
    a->why = "a sum over the window in at least float32 and one division (2.5 ULP)";
    if (mode == PW_POOL_LP) {
        if (pw_pool_exponent(call, &p, NULL) == PW_OK && p != 1 && p != 2)
            a->ulp = 16 + 16 + 1;
        a->why = p == 1 || p == 2 ? "a sum over the window and a square root (3 ULP)"
                                  : "powers (16 ULP each) summed over the window, and a root as a power";
    }
}

static void accuracy_align(const struct pw_call *call, struct pw_accuracy *a)
{
    int64_t ratio = pw_call_int(call, "sampling_ratio");
    *a = (struct pw_accuracy){.ulp = 12,
                              .length = ratio > 0 ? 4 * ratio * ratio : 64,
                              .amplification = 1,
                              .sensitivity = PW_SENSITIVITY_MEDIUM,
                              .reason = "sampling positions are computed from the regions' corners",
                              .why = "four weighted corners a sample, averaged over the samples of a bin"};
}

/* ---- inputs of generated cases ---- */

static int64_t extent(const struct pw_call *call, int input, int axis, int64_t otherwise)
{
    int64_t value = 0;
    const struct pw_info *info = call->in[input];
    return axis < info->rank && pw_dims_value(call->dims, info->dims[axis], &value) && value > 0 ? value : otherwise;
}

/* Indices without repetition, so that no two writes race. */
static void fill_unpool(const struct pw_call *call, int input, struct pw_fill *fill)
{
    int rank = 0;
    int64_t pooled[PW_MAX_RANK], out[PW_MAX_RANK], total = 1;
    if (input != 1 || pw_unpool_numbers(call, &rank, pooled, out, NULL) != PW_OK)
        return;
    for (int i = 0; i < rank; i++)
        total *= pooled[i];
    fill->int_low = 0;
    fill->int_high = total > 0 ? total - 1 : 0;
    fill->distinct_all = true;
}

static void fill_regions(const struct pw_call *call, int input, struct pw_fill *fill)
{
    double scale = (double)pw_call_float(call, "spatial_scale");
    if (input == 1) {
        int64_t height = extent(call, 0, 2, 1), width = extent(call, 0, 3, 1);
        fill->low = 0;
        fill->high = (double)(height < width ? height : width) / (scale > 0 ? scale : 1);
    } else if (input == 2) {
        fill->int_low = 0;
        fill->int_high = extent(call, 0, 0, 1) - 1;
    }
}

/* The first column of MaxRoiPool's regions is a batch index. */
static void fill_max_roi(const struct pw_call *call, int input, struct pw_fill *fill)
{
    fill_regions(call, input, fill);
    if (input == 1) {
        fill->first_index = true;
        fill->int_low = 0;
        fill->int_high = extent(call, 0, 0, 1) - 1;
    }
}

/* ---- tables ---- */

#define ATTR_WINDOW                                                                                                    \
    {.name = "auto_pad", .type = PW_ATTR_STRING, .s = "NOTSET"}, {.name = "pads", .type = PW_ATTR_INTS},               \
    {                                                                                                                  \
        .name = "strides", .type = PW_ATTR_INTS                                                                        \
    }
#define ATTR_KERNEL                                                                                                    \
    {                                                                                                                  \
        .name = "kernel_shape", .type = PW_ATTR_INTS, .required = true                                                 \
    }
#define ATTR_CEIL                                                                                                      \
    {                                                                                                                  \
        .name = "ceil_mode", .type = PW_ATTR_INT                                                                       \
    }
#define ATTR_DILATIONS                                                                                                 \
    {                                                                                                                  \
        .name = "dilations", .type = PW_ATTR_INTS                                                                      \
    }
#define ATTR_ORDER                                                                                                     \
    {                                                                                                                  \
        .name = "storage_order", .type = PW_ATTR_INT                                                                   \
    }
#define ATTR_COUNT_PAD                                                                                                 \
    {                                                                                                                  \
        .name = "count_include_pad", .type = PW_ATTR_INT                                                               \
    }
#define ATTR_P                                                                                                         \
    {                                                                                                                  \
        .name = "p", .type = PW_ATTR_INT, .i = 2                                                                       \
    }
#define ATTR_P_FLOAT                                                                                                   \
    {                                                                                                                  \
        .name = "p", .type = PW_ATTR_FLOAT, .f = 2.0F                                                                  \
    }

static const struct pw_attr_def pool_1[] = {ATTR_WINDOW, ATTR_KERNEL, {0}};
static const struct pw_attr_def max_8[] = {ATTR_WINDOW, ATTR_KERNEL, ATTR_ORDER, {0}};
static const struct pw_attr_def max_10[] = {ATTR_WINDOW, ATTR_KERNEL, ATTR_ORDER, ATTR_CEIL, ATTR_DILATIONS, {0}};
static const struct pw_attr_def average_7[] = {ATTR_WINDOW, ATTR_KERNEL, ATTR_COUNT_PAD, {0}};
static const struct pw_attr_def average_10[] = {ATTR_WINDOW, ATTR_KERNEL, ATTR_COUNT_PAD, ATTR_CEIL, {0}};
static const struct pw_attr_def average_19[] = {ATTR_WINDOW, ATTR_KERNEL,    ATTR_COUNT_PAD,
                                                ATTR_CEIL,   ATTR_DILATIONS, {0}};
static const struct pw_attr_def lp_1[] = {
    ATTR_WINDOW, {.name = "kernel_shape", .type = PW_ATTR_INTS}, ATTR_P_FLOAT, {0}};
static const struct pw_attr_def lp_2[] = {ATTR_WINDOW, ATTR_KERNEL, ATTR_P, {0}};
static const struct pw_attr_def lp_18[] = {ATTR_WINDOW, ATTR_KERNEL, ATTR_P, ATTR_CEIL, ATTR_DILATIONS, {0}};
static const struct pw_attr_def global_lp_1[] = {ATTR_P_FLOAT, {0}};
static const struct pw_attr_def global_lp_2[] = {ATTR_P, {0}};
static const struct pw_attr_def unpool_attrs[] = {
    ATTR_KERNEL, {.name = "pads", .type = PW_ATTR_INTS}, {.name = "strides", .type = PW_ATTR_INTS}, {0}};
static const struct pw_attr_def max_roi_attrs[] = {{.name = "pooled_shape", .type = PW_ATTR_INTS, .required = true},
                                                   {.name = "spatial_scale", .type = PW_ATTR_FLOAT, .f = 1.0F},
                                                   {0}};
#define ATTR_ALIGN                                                                                                     \
    {.name = "mode", .type = PW_ATTR_STRING, .s = "avg"}, {.name = "output_height", .type = PW_ATTR_INT, .i = 1},      \
        {.name = "output_width", .type = PW_ATTR_INT, .i = 1}, {.name = "sampling_ratio", .type = PW_ATTR_INT},        \
    {                                                                                                                  \
        .name = "spatial_scale", .type = PW_ATTR_FLOAT, .f = 1.0F                                                      \
    }
static const struct pw_attr_def align_10[] = {ATTR_ALIGN, {0}};
static const struct pw_attr_def align_16[] = {
    ATTR_ALIGN, {.name = "coordinate_transformation_mode", .type = PW_ATTR_STRING, .s = "half_pixel"}, {0}};

static const struct pw_formal inputs_x[] = {{"X", "T", 0}, {0}};
static const struct pw_formal outputs_y[] = {{"Y", "T", 0}, {0}};
static const struct pw_formal outputs_y_indices[] = {{"Y", "T", 0}, {"Indices", "I", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal inputs_unpool[] = {
    {"X", "T1", 0}, {"I", "T2", 0}, {"output_shape", "T2", PW_FORMAL_OPTIONAL | PW_FORMAL_PARAM}, {0}};
static const struct pw_formal outputs_unpool[] = {{"output", "T1", 0}, {0}};
static const struct pw_formal inputs_max_roi[] = {{"X", "T", 0}, {"rois", "T", 0}, {0}};
static const struct pw_formal inputs_align[] = {{"X", "T1", 0}, {"rois", "T1", 0}, {"batch_indices", "T2", 0}, {0}};
static const struct pw_formal outputs_align[] = {{"Y", "T1", 0}, {0}};

#define POOL(op_name, version, table, what, results)                                                                   \
    {                                                                                                                  \
        .domain = "", .name = op_name, .since = version, .category = PW_CATEGORY_REDUCTION, .attrs = table,            \
        .inputs = inputs_x, .outputs = results, .infer = infer_pool, .cost = cost_pool, .accuracy = accuracy_pool,     \
        .golden = pw_pool_eval, .fast = pw_pool_eval, .bind = pw_pool_bind, .data = &(what)                            \
    }
#define MAX_POOL(version, table, results) POOL("MaxPool", version, table, kind_max, results)
#define AVERAGE_POOL(version, table) POOL("AveragePool", version, table, kind_average, outputs_y)
#define LP_POOL(version, table) POOL("LpPool", version, table, kind_lp, outputs_y)

#define UNPOOL(version)                                                                                                \
    {                                                                                                                  \
        .domain = "", .name = "MaxUnpool", .since = version, .category = PW_CATEGORY_LAYOUT, .attrs = unpool_attrs,    \
        .inputs = inputs_unpool, .outputs = outputs_unpool, .infer = infer_unpool, .cost = cost_none,                  \
        .accuracy = pw_accuracy_copy, .golden = pw_unpool_eval, .fast = pw_unpool_eval, .fill = fill_unpool,           \
        .bind = pw_unpool_bind                                                                                         \
    }
#define MAX_ROI(version)                                                                                               \
    {                                                                                                                  \
        .domain = "", .name = "MaxRoiPool", .since = version, .category = PW_CATEGORY_REDUCTION,                       \
        .attrs = max_roi_attrs, .inputs = inputs_max_roi, .outputs = outputs_y, .infer = infer_max_roi,                \
        .accuracy = pw_accuracy_copy, .golden = pw_max_roi_eval, .fast = pw_max_roi_eval, .fill = fill_max_roi,        \
        .bind = pw_roi_bind                                                                                            \
    }
#define ROI_ALIGN(version, table)                                                                                      \
    {                                                                                                                  \
        .domain = "", .name = "RoiAlign", .since = version, .category = PW_CATEGORY_REDUCTION, .attrs = table,         \
        .inputs = inputs_align, .outputs = outputs_align, .infer = infer_roi_align, .accuracy = accuracy_align,        \
        .golden = pw_roi_align_eval, .fast = pw_roi_align_eval, .fill = fill_regions, .bind = pw_roi_bind              \
    }

const struct pw_op pw_pool_ops[] = {
    MAX_POOL(1, pool_1, outputs_y),
    MAX_POOL(8, max_8, outputs_y_indices),
    MAX_POOL(10, max_10, outputs_y_indices),
    MAX_POOL(11, max_10, outputs_y_indices),
    MAX_POOL(12, max_10, outputs_y_indices),
    MAX_POOL(22, max_10, outputs_y_indices),
    AVERAGE_POOL(1, pool_1),
    AVERAGE_POOL(7, average_7),
    AVERAGE_POOL(10, average_10),
    AVERAGE_POOL(11, average_10),
    AVERAGE_POOL(19, average_19),
    AVERAGE_POOL(22, average_19),
    LP_POOL(1, lp_1),
    LP_POOL(2, lp_2),
    LP_POOL(11, lp_2),
    LP_POOL(18, lp_18),
    LP_POOL(22, lp_18),
    POOL("GlobalAveragePool", 1, NULL, kind_global_average, outputs_y),
    POOL("GlobalAveragePool", 22, NULL, kind_global_average, outputs_y),
    POOL("GlobalMaxPool", 1, NULL, kind_global_max, outputs_y),
    POOL("GlobalMaxPool", 22, NULL, kind_global_max, outputs_y),
    POOL("GlobalLpPool", 1, global_lp_1, kind_global_lp, outputs_y),
    POOL("GlobalLpPool", 2, global_lp_2, kind_global_lp, outputs_y),
    POOL("GlobalLpPool", 22, global_lp_2, kind_global_lp, outputs_y),
    UNPOOL(9),
    UNPOOL(11),
    UNPOOL(22),
    MAX_ROI(1),
    MAX_ROI(22),
    ROI_ALIGN(10, align_10),
    ROI_ALIGN(16, align_16),
    ROI_ALIGN(22, align_16),
    {0},
};
