#include "ops/resize/resize.h"

#include <math.h>
#include <string.h>

/* ---- inference of Resize and Upsample ---- */

static bool is_upsample(const struct pw_call *call)
{
    return strcmp(call->op->name, "Upsample") == 0;
}

/* floor(in * scale) for a symbolic extent: exact where the scale is a multiple of 2^-12. */
static pw_dim scaled(struct pw_dims *dims, pw_dim in, double scale)
{
    double steps = scale * 4096;
    if (in == PW_DIM_UNKNOWN || steps != floor(steps) || steps < 0 || steps > 1e9)
        return PW_DIM_UNKNOWN;
    int64_t up = (int64_t)steps, down = 4096;
    while (up % 2 == 0 && down > 1) {
        up /= 2;
        down /= 2;
    }
    return pw_dims_floordiv(dims, pw_dims_mul(dims, in, up), down);
}

/* Output extents where the input's are symbols: from constant scales, or from the content of sizes. */
static pw_status infer_symbolic(struct pw_call *call, pw_dim *dims, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    bool second = is_upsample(call) || call->op->since < 11;
    const struct pw_tensor *scales = NULL;
    size_t axis_count = 0;
    const int64_t *axes = pw_call_ints(call, "axes", &axis_count);
    const char *policy = pw_call_string(call, "keep_aspect_ratio_policy");
    bool crop = strcmp(pw_call_string(call, "coordinate_transformation_mode"), "tf_crop_and_resize") == 0;
    int count = axis_count > 0 ? (int)axis_count : x->rank;
    if (axis_count > (size_t)x->rank)
        return pw_call_error(call, err, "'axes' has %zu values for rank %d", axis_count, x->rank);
    if (pw_call_input(call, second ? 1 : 2))
        scales = call->in[second ? 1 : 2]->constant;
    const struct pw_info *sizes = !second && pw_call_input(call, 3) ? call->in[3] : NULL;
    for (int i = 0; i < x->rank; i++)
        dims[i] = axis_count > 0 ? x->dims[i] : PW_DIM_UNKNOWN;
    for (int i = 0; i < count; i++) {
        int axis = i;
        pw_status status = axis_count > 0 ? pw_call_axis(call, axes[i], x->rank, &axis, err) : PW_OK;
        if (status != PW_OK)
            return status;
        dims[axis] = PW_DIM_UNKNOWN;
        if (scales && scales->count == count && !crop)
            dims[axis] = scaled(call->dims, x->dims[axis], pw_tensor_get(scales, i));
        else if (sizes && sizes->content && sizes->content_count == (size_t)count &&
                 (*policy == '\0' || strcmp(policy, "stretch") == 0))
            dims[axis] = sizes->content[i];
        if (dims[axis] == PW_DIM_UNKNOWN)
            dims[axis] = pw_dims_fresh(call->dims, "resized");
    }
    return PW_OK;
}

/* Everything that decides the output's extents is a number. */
static bool is_settled(const struct pw_call *call)
{
    const struct pw_info *x = call->in[0];
    bool second = is_upsample(call) || call->op->since < 11;
    int64_t value = 0;
    for (int i = 0; i < x->rank; i++) {
        if (!pw_dims_value(call->dims, x->dims[i], &value))
            return false;
    }
    if (is_upsample(call) && call->op->since < 9)
        return true;
    if (pw_call_input(call, second ? 1 : 2) && !call->in[second ? 1 : 2]->constant)
        return false;
    if (strcmp(pw_call_string(call, "coordinate_transformation_mode"), "tf_crop_and_resize") == 0 &&
        pw_call_input(call, 1) && !call->in[1]->constant)
        return false;
    if (!second && pw_call_input(call, 3)) {
        for (size_t i = 0; i < call->in[3]->content_count; i++) {
            if (!pw_dims_value(call->dims, call->in[3]->content[i], &value))
                return false;
        }
        return call->in[3]->content != NULL || call->in[3]->constant != NULL;
    }
    return true;
}

pw_status pw_resize_infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    struct pw_resize r;
    pw_dim dims[PW_MAX_RANK];
    if (x->rank < 0) {
        pw_call_output_unknown(call, 0, x->dtype);
        return PW_OK;
    }
    if (is_upsample(call) && call->op->since == 1 && x->rank != 4)
        return pw_call_error(call, err, "X has rank %d, expected 4", x->rank);
    bool settled = is_settled(call);
    pw_status status = settled ? pw_resize_settle(call, &r, err) : infer_symbolic(call, dims, err);
    if (status != PW_OK)
        return status;
    for (int i = 0; settled && i < x->rank; i++)
        dims[i] = r.axes[i].out;
    pw_call_output(call, 0, x->dtype, x->rank, dims);
    return PW_OK;
}

/* ---- GridSample ---- */

pw_status pw_grid_settle(const struct pw_call *call, struct pw_grid *g, struct pw_error *err)
{
    const char *mode = pw_call_string(call, "mode"), *padding = pw_call_string(call, "padding_mode");
    static const struct {
        const char *name;
        pw_resize_mode mode;
        int from, to; /* versions that have the word */
    } modes[] = {{"bilinear", PW_RESIZE_LINEAR, 16, 19},
                 {"bicubic", PW_RESIZE_CUBIC, 16, 19},
                 {"nearest", PW_RESIZE_NEAREST, 16, INT32_MAX},
                 {"linear", PW_RESIZE_LINEAR, 20, INT32_MAX},
                 {"cubic", PW_RESIZE_CUBIC, 20, INT32_MAX}};
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    bool found = false, padded = false;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(mode, modes[i].name) == 0 && call->op->since >= modes[i].from && call->op->since <= modes[i].to) {
            g->mode = modes[i].mode;
            found = true;
        }
    }
    for (int i = 0; i < 3; i++) {
        if (strcmp(padding, paddings[i]) == 0) {
            g->padding = (pw_grid_padding)i;
            padded = true;
        }
    }
    g->align = pw_call_int(call, "align_corners") != 0;
    if (!found)
        return pw_call_error(call, err, "mode '%.32s' is not one of version %d", mode, call->op->since);
    if (!padded)
        return pw_call_error(call, err, "padding_mode '%.32s', expected zeros, border or reflection", padding);
    return PW_OK;
}

static pw_status infer_grid_sample(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *x = call->in[0], *grid = call->in[1];
    struct pw_grid g;
    pw_dim dims[PW_MAX_RANK];
    int64_t axes = 0, batch = 0, grids = 0;
    int rank = x->rank >= 0 ? x->rank : grid->rank;
    pw_status status = pw_grid_settle(call, &g, err);
    if (status != PW_OK)
        return status;
    if (rank < 0) {
        pw_call_output_unknown(call, 0, x->dtype);
        return PW_OK;
    }
    if (rank < 3 || (call->op->since < 20 && rank != 4))
        return pw_call_error(call, err, "X has rank %d, expected %s", rank, call->op->since < 20 ? "4" : "at least 3");
    if (x->rank >= 0 && grid->rank >= 0 && x->rank != grid->rank)
        return pw_call_error(call, err, "X has rank %d, but the grid has rank %d", x->rank, grid->rank);
    if (grid->rank >= 0 && pw_dims_value(call->dims, grid->dims[rank - 1], &axes) && axes != rank - 2)
        return pw_call_error(call, err, "the grid's positions have %lld coordinates for %d axes", (long long)axes,
                             rank - 2);
    if (x->rank >= 0 && grid->rank >= 0 && pw_dims_value(call->dims, x->dims[0], &batch) &&
        pw_dims_value(call->dims, grid->dims[0], &grids) && batch != grids)
        return pw_call_error(call, err, "X has a batch of %lld, but the grid of %lld", (long long)batch,
                             (long long)grids);
    dims[0] = x->rank >= 0 ? x->dims[0] : grid->dims[0];
    dims[1] = x->rank >= 0 ? x->dims[1] : PW_DIM_UNKNOWN;
    for (int i = 2; i < rank; i++)
        dims[i] = grid->rank >= 0 ? grid->dims[i - 1] : PW_DIM_UNKNOWN;
    pw_call_output(call, 0, x->dtype, rank, dims);
    return PW_OK;
}

/* ---- AffineGrid ---- */

static pw_status infer_affine_grid(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *theta = call->in[0], *size = call->in[1];
    pw_dim dims[PW_MAX_RANK];
    int64_t rows = 0, columns = 0;
    if (theta->rank >= 0 && theta->rank != 3)
        return pw_call_error(call, err, "theta has rank %d, expected 3", theta->rank);
    if (!size->content) {
        pw_call_output_unknown(call, 0, theta->dtype);
        return PW_OK;
    }
    int axes = (int)size->content_count - 2;
    if (size->content_count != 4 && size->content_count != 5)
        return pw_call_error(call, err, "'size' has %zu values, expected 4 or 5", size->content_count);
    if (theta->rank == 3 && pw_dims_value(call->dims, theta->dims[1], &rows) &&
        pw_dims_value(call->dims, theta->dims[2], &columns) && (rows != axes || columns != axes + 1))
        return pw_call_error(call, err, "theta is %lld by %lld, expected %d by %d", (long long)rows, (long long)columns,
                             axes, axes + 1);
    dims[0] = theta->rank == 3 ? theta->dims[0] : size->content[0];
    for (int i = 0; i < axes; i++) {
        int64_t value = 0;
        dims[1 + i] = size->content[2 + i];
        if (pw_dims_value(call->dims, dims[1 + i], &value) && value < 0)
            return pw_call_error(call, err, "size[%d] is %lld", 2 + i, (long long)value);
    }
    dims[1 + axes] = axes;
    if (pw_dims_value(call->dims, dims[0], &rows) && pw_dims_value(call->dims, size->content[0], &columns) &&
        rows != columns)
        return pw_call_error(call, err, "theta has a batch of %lld, but size[0] is %lld", (long long)rows,
                             (long long)columns);
    pw_call_output(call, 0, theta->dtype, axes + 2, dims);
    return PW_OK;
}

/* ---- cost and accuracy ---- */

/* Nearest copies; the others take a product and a sum for each weight (axes taken as two). */
static pw_status cost_resize(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    (void)err;
    const char *mode = pw_call_string(call, "mode");
    int64_t per_element = strcmp(mode, "nearest") == 0 ? 0 : strcmp(mode, "cubic") == 0 ? 16 : 8;
    cost->flops = pw_dims_mul(call->dims, pw_call_elements(call, &call->out[0]), per_element);
    return PW_OK;
}

static pw_status cost_affine(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    (void)err;
    cost->flops = pw_dims_mul(call->dims, pw_call_elements(call, &call->out[0]), 2 * (call->out[0].rank - 1));
    return PW_OK;
}

static void accuracy_resize(const struct pw_call *call, struct pw_accuracy *a)
{
    bool nearest = strcmp(pw_call_string(call, "mode"), "nearest") == 0;
    bool cubic = strcmp(pw_call_string(call, "mode"), "cubic") == 0;
    *a = (struct pw_accuracy){.exact = nearest || !pw_dtype_is_float(call->in[0]->dtype),
                              .ulp = 4,
                              .length = cubic ? 16 : 4,
                              .amplification = cubic ? 2 : 1,
                              .sensitivity = PW_SENSITIVITY_LOW,
                              .reason = nearest ? "copies inputs" : "weights that sum to one",
                              .why = nearest ? "a copy of an input: positions are computed on the host in double"
                                             : "a weighted sum an axis; the weights are computed on the host in double "
                                               "and rounded to float"};
}

static void accuracy_grid_sample(const struct pw_call *call, struct pw_accuracy *a)
{
    bool nearest = strcmp(pw_call_string(call, "mode"), "nearest") == 0;
    *a = (struct pw_accuracy){.exact = nearest,
                              .ulp = 8,
                              .length = 16,
                              .amplification = 2,
                              .sensitivity = PW_SENSITIVITY_MEDIUM,
                              .reason = "positions come from data: an error of a position moves the sample",
                              .why = nearest
                                         ? "a copy of an input, chosen by a position computed in double"
                                         : "positions and weights in double where the device has it, a weighted sum"};
}

static void accuracy_affine(const struct pw_call *call, struct pw_accuracy *a)
{
    *a = (struct pw_accuracy){.ulp = 2,
                              .length = call->out[0].rank,
                              .amplification = 1,
                              .sensitivity = PW_SENSITIVITY_LOW,
                              .reason = "a short sum of products",
                              .why = "axes + 1 products; base positions rounded to float"};
}

static void fill_grid(const struct pw_call *call, int input, struct pw_fill *fill)
{
    (void)call;
    if (input == 1) {
        fill->low = -1.25;
        fill->high = 1.25;
    }
}

/* ---- tables ---- */

static const struct pw_attr_def mode_attrs[] = {{.name = "mode", .type = PW_ATTR_STRING, .s = "nearest"}, {0}};
static const struct pw_attr_def upsample_1[] = {
    {.name = "mode", .type = PW_ATTR_STRING, .s = "nearest"},
    {.name = "height_scale", .type = PW_ATTR_FLOAT, .required = true},
    {.name = "width_scale", .type = PW_ATTR_FLOAT, .required = true},
    {0},
};
static const struct pw_attr_def upsample_7[] = {
    {.name = "mode", .type = PW_ATTR_STRING, .s = "nearest"},
    {.name = "scales", .type = PW_ATTR_FLOATS, .required = true},
    {0},
};
#define RESIZE_ATTRS                                                                                                   \
    {.name = "coordinate_transformation_mode", .type = PW_ATTR_STRING, .s = "half_pixel"},                             \
        {.name = "cubic_coeff_a", .type = PW_ATTR_FLOAT, .f = -0.75F},                                                 \
        {.name = "exclude_outside", .type = PW_ATTR_INT}, {.name = "extrapolation_value", .type = PW_ATTR_FLOAT},      \
        {.name = "mode", .type = PW_ATTR_STRING, .s = "nearest"},                                                      \
    {                                                                                                                  \
        .name = "nearest_mode", .type = PW_ATTR_STRING, .s = "round_prefer_floor"                                      \
    }
static const struct pw_attr_def resize_11[] = {RESIZE_ATTRS, {0}};
static const struct pw_attr_def resize_18[] = {
    RESIZE_ATTRS,
    {.name = "antialias", .type = PW_ATTR_INT},
    {.name = "axes", .type = PW_ATTR_INTS},
    {.name = "keep_aspect_ratio_policy", .type = PW_ATTR_STRING, .s = "stretch"},
    {0},
};
static const struct pw_attr_def grid_16[] = {
    {.name = "align_corners", .type = PW_ATTR_INT},
    {.name = "mode", .type = PW_ATTR_STRING, .s = "bilinear"},
    {.name = "padding_mode", .type = PW_ATTR_STRING, .s = "zeros"},
    {0},
};
static const struct pw_attr_def grid_20[] = {
    {.name = "align_corners", .type = PW_ATTR_INT},
    {.name = "mode", .type = PW_ATTR_STRING, .s = "linear"},
    {.name = "padding_mode", .type = PW_ATTR_STRING, .s = "zeros"},
    {0},
};
static const struct pw_attr_def affine_attrs[] = {{.name = "align_corners", .type = PW_ATTR_INT}, {0}};

static const struct pw_formal inputs_x[] = {{"X", "T", 0}, {0}};
static const struct pw_formal outputs_y[] = {{"Y", "T", 0}, {0}};
static const struct pw_formal inputs_scales[] = {{"X", "T", 0}, {"scales", "S", PW_FORMAL_PARAM}, {0}};
static const struct pw_formal inputs_11[] = {{"X", "T1", 0},
                                             {"roi", "T2", PW_FORMAL_PARAM | PW_FORMAL_OPTIONAL},
                                             {"scales", "S", PW_FORMAL_PARAM | PW_FORMAL_OPTIONAL},
                                             {"sizes", "I", PW_FORMAL_PARAM | PW_FORMAL_OPTIONAL},
                                             {0}};
static const struct pw_formal outputs_t1[] = {{"Y", "T1", 0}, {0}};
static const struct pw_formal inputs_grid[] = {{"X", "T1", 0}, {"grid", "T2", 0}, {0}};
static const struct pw_formal inputs_affine[] = {{"theta", "T1", 0}, {"size", "T2", PW_FORMAL_PARAM}, {0}};
static const struct pw_formal outputs_affine[] = {{"grid", "T1", 0}, {0}};

#define RESIZE(op_name, version, table, ins, outs, note)                                                               \
    {                                                                                                                  \
        .domain = "", .name = op_name, .since = version, .category = PW_CATEGORY_LAYOUT, .attrs = table,               \
        .inputs = ins, .outputs = outs, .deprecated = note, .infer = pw_resize_infer, .cost = cost_resize,             \
        .accuracy = accuracy_resize, .golden = pw_resize_eval, .fast = pw_resize_eval, .bind = pw_resize_bind          \
    }
#define GRID_SAMPLE(version, table)                                                                                    \
    {                                                                                                                  \
        .domain = "", .name = "GridSample", .since = version, .category = PW_CATEGORY_LAYOUT, .attrs = table,          \
        .inputs = inputs_grid, .outputs = outputs_t1, .infer = infer_grid_sample, .cost = cost_resize,                 \
        .accuracy = accuracy_grid_sample, .golden = pw_grid_sample_eval, .fast = pw_grid_sample_eval,                  \
        .fill = fill_grid, .bind = pw_grid_sample_bind                                                                 \
    }

const struct pw_op pw_resize_ops[] = {
    RESIZE("Resize", 10, mode_attrs, inputs_scales, outputs_y, NULL),
    RESIZE("Resize", 11, resize_11, inputs_11, outputs_t1, NULL),
    RESIZE("Resize", 13, resize_11, inputs_11, outputs_t1, NULL),
    RESIZE("Resize", 18, resize_18, inputs_11, outputs_t1, NULL),
    RESIZE("Resize", 19, resize_18, inputs_11, outputs_t1, NULL),
    RESIZE("Upsample", 1, upsample_1, inputs_x, outputs_y, NULL),
    RESIZE("Upsample", 7, upsample_7, inputs_x, outputs_y, NULL),
    RESIZE("Upsample", 9, mode_attrs, inputs_scales, outputs_y, NULL),
    RESIZE("Upsample", 10, mode_attrs, inputs_scales, outputs_y, "use Resize"),
    GRID_SAMPLE(16, grid_16),
    GRID_SAMPLE(20, grid_20),
    GRID_SAMPLE(22, grid_20),
    {.domain = "",
     .name = "AffineGrid",
     .since = 20,
     .category = PW_CATEGORY_LAYOUT,
     .attrs = affine_attrs,
     .inputs = inputs_affine,
     .outputs = outputs_affine,
     .infer = infer_affine_grid,
     .cost = cost_affine,
     .accuracy = accuracy_affine,
     .golden = pw_affine_grid_eval,
     .bind = pw_affine_grid_bind},
    {0},
};
