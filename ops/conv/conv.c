#include "ops/conv/conv.h"

#include <string.h>

static const struct pw_conv_kind kind_conv = {.x = 0, .w = 1, .bias = 2};
static const struct pw_conv_kind kind_transpose = {.x = 0, .w = 1, .bias = 2, .transposed = true};
static const struct pw_conv_kind kind_integer = {.x = 0, .w = 1, .bias = -1, .integer = true, .x_zero = 2, .w_zero = 3};
static const struct pw_conv_kind kind_qlinear = {.x = 0, .w = 3, .bias = 8, .integer = true, .x_zero = 2, .w_zero = 5};
static const struct pw_conv_kind kind_deform = {.x = 0, .w = 1, .bias = 3};

const struct pw_conv_kind *pw_conv_kind_of(const struct pw_call *call)
{
    return call->op->data;
}

/* An extent of an input as a number; unknown or symbolic gives -1. */
static int64_t extent(const struct pw_call *call, const struct pw_info *info, int axis)
{
    int64_t value = 0;
    return info && axis < info->rank && pw_dims_value(call->dims, info->dims[axis], &value) ? value : -1;
}

static bool has_class(const struct pw_info *info, bool integer)
{
    if (info->dtype == PW_DTYPE_UNDEFINED)
        return true;
    return integer ? info->dtype == PW_DTYPE_INT8 || info->dtype == PW_DTYPE_UINT8 : pw_dtype_is_float(info->dtype);
}

/* The references read through typed pointers: floats, or 8-bit integers. */
static pw_status check_dtypes(const struct pw_call *call, const struct pw_conv_kind *kind, struct pw_error *err)
{
    const int inputs[] = {kind->x, kind->w};
    for (int i = 0; i < 2; i++) {
        if (!has_class(call->in[inputs[i]], kind->integer))
            return pw_call_error(call, err, "input '%s' is %s, expected %s", call->op->inputs[inputs[i]].name,
                                 pw_dtype_name(call->in[inputs[i]]->dtype), kind->integer ? "int8 or uint8" : "floats");
    }
    return PW_OK;
}

static pw_status check_channels(const struct pw_call *call, const struct pw_conv_kind *kind, struct pw_error *err)
{
    const struct pw_info *x = call->in[kind->x], *w = call->in[kind->w];
    int64_t group = pw_call_int(call, "group");
    if (group < 1 || group > PW_WINDOW_LIMIT)
        return pw_call_error(call, err, "group is %lld, expected at least 1", (long long)group);
    int64_t c = extent(call, x, 1), w0 = extent(call, w, 0), w1 = extent(call, w, 1);
    if (kind->transposed) {
        if (c >= 0 && w0 >= 0 && c != w0)
            return pw_call_error(call, err, "X has %lld channels, but W is made for %lld", (long long)c, (long long)w0);
        if (w0 >= 0 && w0 % group != 0)
            return pw_call_error(call, err, "%lld channels do not divide into %lld groups", (long long)w0,
                                 (long long)group);
        return PW_OK;
    }
    if (c >= 0 && c % group != 0)
        return pw_call_error(call, err, "%lld channels do not divide into %lld groups", (long long)c, (long long)group);
    if (c >= 0 && w1 >= 0 && c / group != w1)
        return pw_call_error(call, err, "X has %lld channels in %lld groups, but W is made for %lld a group",
                             (long long)c, (long long)group, (long long)w1);
    if (w0 >= 0 && w0 % group != 0)
        return pw_call_error(call, err, "%lld feature maps do not divide into %lld groups", (long long)w0,
                             (long long)group);
    return PW_OK;
}

static pw_dim maps_of(const struct pw_call *call, const struct pw_conv_kind *kind)
{
    const struct pw_info *w = call->in[kind->w];
    if (w->rank < 2)
        return PW_DIM_UNKNOWN;
    return kind->transposed ? pw_dims_mul(call->dims, w->dims[1], pw_call_int(call, "group")) : w->dims[0];
}

static pw_status check_bias(const struct pw_call *call, const struct pw_conv_kind *kind, struct pw_error *err)
{
    if (kind->bias < 0 || !pw_call_input(call, kind->bias))
        return PW_OK;
    const struct pw_info *b = call->in[kind->bias];
    int64_t maps = 0, have = extent(call, b, 0);
    if (b->rank >= 0 && b->rank != 1)
        return pw_call_error(call, err, "the bias has rank %d, expected 1", b->rank);
    if (have >= 0 && pw_dims_value(call->dims, maps_of(call, kind), &maps) && have != maps)
        return pw_call_error(call, err, "the bias has %lld values for %lld feature maps", (long long)have,
                             (long long)maps);
    return PW_OK;
}

pw_status pw_conv_window(const struct pw_call *call, struct pw_window *w, bool *known, struct pw_error *err)
{
    const struct pw_conv_kind *kind = pw_conv_kind_of(call);
    const struct pw_info *x = call->in[kind->x], *weights = call->in[kind->w];
    int rank = x->rank >= 0 ? x->rank : weights->rank;
    *known = false;
    if (rank < 0)
        return PW_OK;
    if (rank < 3)
        return pw_call_error(call, err, "input '%s' has rank %d, expected at least 3 (batch, channels, space)",
                             call->op->inputs[kind->x].name, rank);
    if (x->rank >= 0 && weights->rank >= 0 && x->rank != weights->rank)
        return pw_call_error(call, err, "the input has rank %d, but the weights have rank %d", x->rank, weights->rank);
    pw_status status = check_dtypes(call, kind, err);
    if (status == PW_OK)
        status = check_channels(call, kind, err);
    if (status == PW_OK)
        status = check_bias(call, kind, err);
    if (status != PW_OK)
        return status;
    const pw_dim *in = x->rank >= 0 ? x->dims + 2 : NULL;
    const pw_dim *kernel = weights->rank >= 0 ? weights->dims + 2 : NULL;
    size_t count = 0;
    if (!kernel && !pw_call_ints(call, "kernel_shape", &count))
        return PW_OK;
    *known = true;
    if (kind->transposed)
        return pw_window_read_transposed(call, rank - 2, in, kernel, w, err);
    return pw_window_read(call, rank - 2, in, kernel, w, err);
}

pw_status pw_conv_geometry(const struct pw_call *call, struct pw_conv_geometry *g, struct pw_error *err)
{
    const struct pw_conv_kind *kind = pw_conv_kind_of(call);
    struct pw_window w;
    bool known = false;
    pw_status status = pw_conv_window(call, &w, &known, err);
    if (status != PW_OK)
        return status;
    if (!known)
        return pw_call_error(call, err, "ranks are not known");
    status = pw_window_numbers(call, &w, &g->window, err);
    if (status != PW_OK)
        return status;
    g->batch = extent(call, call->in[kind->x], 0);
    g->channels = extent(call, call->in[kind->x], 1);
    g->groups = pw_call_int(call, "group");
    if (g->batch < 0 || g->channels < 0 || !pw_dims_value(call->dims, maps_of(call, kind), &g->maps) || g->maps < 0)
        return pw_call_error(call, err, "batch, channels and feature maps are not known numbers");
    int64_t wc = extent(call, call->in[kind->w], kind->transposed ? 0 : 1);
    if (wc != (kind->transposed ? g->channels : g->channels / g->groups))
        return pw_call_error(call, err, "the weights' channels do not fit");
    g->group_channels = g->channels / g->groups;
    g->group_maps = g->maps / g->groups;
    return PW_OK;
}

/* ---- inference ---- */

static pw_status infer_to(struct pw_call *call, pw_dtype dtype, struct pw_error *err)
{
    const struct pw_conv_kind *kind = pw_conv_kind_of(call);
    struct pw_window w;
    bool known = false;
    pw_dim dims[PW_MAX_RANK];
    pw_status status = pw_conv_window(call, &w, &known, err);
    if (status != PW_OK)
        return status;
    if (!known) {
        const struct pw_info *x = call->in[kind->x];
        if (x->rank < 0) {
            pw_call_output_unknown(call, 0, dtype);
            return PW_OK;
        }
        for (int i = 0; i < x->rank; i++)
            dims[i] = PW_DIM_UNKNOWN;
        dims[0] = x->dims[0];
        pw_call_output(call, 0, dtype, x->rank, dims);
        return PW_OK;
    }
    dims[0] = call->in[kind->x]->rank >= 0 ? call->in[kind->x]->dims[0] : PW_DIM_UNKNOWN;
    dims[1] = maps_of(call, kind);
    for (int i = 0; i < w.axes; i++)
        dims[2 + i] = w.out[i];
    pw_call_output(call, 0, dtype, w.axes + 2, dims);
    return PW_OK;
}

static pw_status infer_conv(struct pw_call *call, struct pw_error *err)
{
    return infer_to(call, call->in[0]->dtype, err);
}

static pw_status infer_conv_integer(struct pw_call *call, struct pw_error *err)
{
    return infer_to(call, PW_DTYPE_INT32, err);
}

static pw_status infer_qlinear_conv(struct pw_call *call, struct pw_error *err)
{
    return infer_to(call, call->in[7]->dtype, err);
}

pw_status pw_deform_geometry(const struct pw_call *call, struct pw_conv_geometry *g, int64_t *offset_groups,
                             struct pw_error *err)
{
    pw_status status = pw_conv_geometry(call, g, err);
    if (status != PW_OK)
        return status;
    *offset_groups = pw_call_int(call, "offset_group");
    if (*offset_groups < 1 || g->channels % *offset_groups != 0)
        return pw_call_error(call, err, "%lld channels do not divide into %lld offset groups", (long long)g->channels,
                             (long long)*offset_groups);
    const struct pw_window_numbers *w = &g->window;
    for (int input = 2; input <= 4; input += 2) {
        if (input == 4 && !pw_call_input(call, 4))
            continue;
        const struct pw_info *info = call->in[input];
        int64_t per_tap = input == 2 ? w->axes : 1, want = 0;
        bool fits = info->rank == w->axes + 2 && extent(call, info, 0) == g->batch &&
                    !__builtin_mul_overflow(*offset_groups, w->taps * per_tap, &want) && extent(call, info, 1) == want;
        for (int i = 0; fits && i < w->axes; i++)
            fits = extent(call, info, 2 + i) == w->out[i];
        if (!fits)
            return pw_call_error(call, err, "input '%s' does not have the shape [batch, offset_group * taps%s, output]",
                                 call->op->inputs[input].name, input == 2 ? " * axes" : "");
    }
    return PW_OK;
}

static bool all_numbers(const struct pw_call *call)
{
    for (int i = 0; i < call->input_count; i++) {
        if (!call->in[i])
            continue;
        if (call->in[i]->rank < 0)
            return false;
        for (int d = 0; d < call->in[i]->rank; d++)
            if (extent(call, call->in[i], d) < 0)
                return false;
    }
    return true;
}

/* Offsets and mask have the output's shape; where all is known, what does not fit is refused before it runs. */
static pw_status infer_deform(struct pw_call *call, struct pw_error *err)
{
    struct pw_conv_geometry g;
    int64_t offset_groups;
    pw_status status = infer_conv(call, err);

    return status == PW_OK && all_numbers(call) ? pw_deform_geometry(call, &g, &offset_groups, err) : status;
}

/* ---- Col2Im ---- */

pw_status pw_col2im_window(const struct pw_call *call, struct pw_window *w, bool *known, struct pw_error *err)
{
    const int64_t *image = NULL, *block = NULL;
    size_t image_count = 0, block_count = 0;
    bool image_known = false, block_known = false;
    pw_dim in[PW_WINDOW_AXES], kernel[PW_WINDOW_AXES];
    *known = false;
    pw_status status = pw_call_content(call, 1, &image, &image_count, &image_known, err);
    if (status == PW_OK)
        status = pw_call_content(call, 2, &block, &block_count, &block_known, err);
    if (status != PW_OK || !image_known || !block_known)
        return status;
    if (image_count != block_count || image_count < 1 || image_count > PW_WINDOW_AXES)
        return pw_call_error(call, err, "image_shape has %zu values and block_shape %zu", image_count, block_count);
    for (size_t i = 0; i < image_count; i++) {
        if (image[i] < 0 || image[i] > PW_WINDOW_LIMIT || block[i] < 1 || block[i] > PW_WINDOW_LIMIT)
            return pw_call_error(call, err, "axis %zu: image extent %lld, block extent %lld", i, (long long)image[i],
                                 (long long)block[i]);
        in[i] = image[i];
        kernel[i] = block[i];
    }
    *known = true;
    return pw_window_read(call, (int)image_count, in, kernel, w, err);
}

static pw_status infer_col2im(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    struct pw_window w;
    bool known = false;
    pw_dim dims[PW_MAX_RANK];
    if (x->rank >= 0 && x->rank != 3)
        return pw_call_error(call, err, "the input has rank %d, expected 3", x->rank);
    pw_status status = pw_col2im_window(call, &w, &known, err);
    if (status != PW_OK)
        return status;
    if (!known) {
        const struct pw_info *shape = call->in[1];
        int64_t axes = shape->rank == 1 ? extent(call, shape, 0) : -1;
        if (axes < 0 || axes > PW_WINDOW_AXES || x->rank < 0) {
            pw_call_output_unknown(call, 0, x->dtype);
            return PW_OK;
        }
        for (int i = 0; i < axes + 2; i++)
            dims[i] = PW_DIM_UNKNOWN;
        dims[0] = x->dims[0];
        pw_call_output(call, 0, x->dtype, (int)axes + 2, dims);
        return PW_OK;
    }
    pw_dim taps = 1, blocks = 1;
    for (int i = 0; i < w.axes; i++) {
        taps = pw_dims_mul(call->dims, taps, w.kernel[i]);
        blocks = pw_dims_mul(call->dims, blocks, w.out[i]);
        dims[2 + i] = w.in[i];
    }
    int64_t rows = extent(call, x, 1), columns = extent(call, x, 2), taps_value = 1, blocks_value = 0;
    if (pw_dims_value(call->dims, taps, &taps_value) && rows >= 0 && rows % taps_value != 0)
        return pw_call_error(call, err, "%lld rows do not divide by the block's %lld elements", (long long)rows,
                             (long long)taps_value);
    if (pw_dims_value(call->dims, blocks, &blocks_value) && columns >= 0 && columns != blocks_value)
        return pw_call_error(call, err, "the input has %lld blocks, but %lld fit the image", (long long)columns,
                             (long long)blocks_value);
    dims[0] = x->rank >= 0 ? x->dims[0] : PW_DIM_UNKNOWN;
    dims[1] = x->rank >= 0 ? pw_dims_floordiv(call->dims, x->dims[1], taps) : PW_DIM_UNKNOWN;
    pw_call_output(call, 0, x->dtype, w.axes + 2, dims);
    return PW_OK;
}

/* ---- cost and accuracy ---- */

/* Terms behind one output element of a convolution: channels of a group times taps. */
static pw_dim terms(const struct pw_call *call, const struct pw_conv_kind *kind)
{
    const struct pw_info *w = call->in[kind->w];
    pw_dim product = 1;
    if (w->rank < 3)
        return PW_DIM_UNKNOWN;
    product = kind->transposed ? pw_dims_floordiv(call->dims, w->dims[0], pw_call_int(call, "group")) : w->dims[1];
    for (int i = 2; i < w->rank; i++)
        product = pw_dims_mul(call->dims, product, w->dims[i]);
    return product;
}

/* Two a term; a transposed convolution spreads each input element over M/group * taps outputs. */
static pw_status cost_conv(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    (void)err;
    const struct pw_conv_kind *kind = pw_conv_kind_of(call);
    const struct pw_info *w = call->in[kind->w];
    struct pw_dims *dims = call->dims;
    pw_dim products = PW_DIM_UNKNOWN;
    if (kind->transposed && w->rank >= 3) {
        products = pw_dims_mul(dims, pw_call_elements(call, call->in[kind->x]), w->dims[1]);
        for (int i = 2; i < w->rank; i++)
            products = pw_dims_mul(dims, products, w->dims[i]);
    } else {
        products = pw_dims_mul(dims, pw_call_elements(call, &call->out[0]), terms(call, kind));
    }
    cost->flops = pw_dims_mul(dims, products, 2);
    if (kind->bias >= 0 && pw_call_input(call, kind->bias))
        cost->flops = pw_dims_add(dims, cost->flops, pw_call_elements(call, &call->out[0]));
    return PW_OK;
}

static pw_status cost_col2im(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    (void)err;
    cost->flops = pw_dtype_is_float(call->in[0]->dtype) ? pw_call_elements(call, call->in[0]) : 0;
    return PW_OK;
}

static void accuracy_conv(const struct pw_call *call, struct pw_accuracy *a)
{
    const struct pw_conv_kind *kind = pw_conv_kind_of(call);
    int64_t length = 1;
    if (!pw_dims_value(call->dims, terms(call, kind), &length))
        length = 1;
    bool narrow = pw_dtype_facts(call->in[kind->x]->dtype)->mantissa_bits < 24;
    *a = (struct pw_accuracy){.ulp = 1,
                              .length = length < 1 ? 1 : length,
                              .amplification = 1,
                              .sensitivity = narrow && length >= 256 ? PW_SENSITIVITY_HIGH
                                             : length >= 256         ? PW_SENSITIVITY_MEDIUM
                                                                     : PW_SENSITIVITY_LOW,
                              .reason = narrow && length >= 256 ? "long accumulation of narrow products"
                                        : length >= 256         ? "long accumulation"
                                                                : "short sum of products",
                              .why = "a sum of channels * taps products, accumulated in at least float32, "
                                     "rounded once to the output"};
}

static void accuracy_integer(const struct pw_call *call, struct pw_accuracy *a)
{
    (void)call;
    *a = (struct pw_accuracy){.exact = true,
                              .length = 1,
                              .amplification = 1,
                              .sensitivity = PW_SENSITIVITY_LOW,
                              .reason = "integer sums",
                              .why = "8-bit products summed in 32 bits are exact"};
}

static void accuracy_qlinear(const struct pw_call *call, struct pw_accuracy *a)
{
    (void)call;
    *a = (struct pw_accuracy){.exact = true,
                              .length = 1,
                              .amplification = 1,
                              .sensitivity = PW_SENSITIVITY_MEDIUM,
                              .reason = "requantized: a change in the last bit before rounding is a whole step",
                              .why = "an exact integer sum, one scale in double, rounded to the nearest even step"};
}

static void accuracy_deform(const struct pw_call *call, struct pw_accuracy *a)
{
    accuracy_conv(call, a);
    a->ulp = 1 + 6.0 * call->in[0]->rank;
    a->sensitivity = PW_SENSITIVITY_HIGH;
    a->reason = "sampling positions are computed: an error in an offset moves the sample";
    a->why = "linear interpolation of each sample (a few roundings an axis), then a sum of products";
}

static void accuracy_col2im(const struct pw_call *call, struct pw_accuracy *a)
{
    struct pw_window w;
    bool known = false;
    int64_t overlap = 1;
    if (pw_col2im_window(call, &w, &known, NULL) == PW_OK && known) {
        for (int i = 0; i < w.axes; i++) {
            int64_t kernel = 1;
            pw_dims_value(call->dims, w.kernel[i], &kernel);
            if (__builtin_mul_overflow(overlap, (kernel + w.stride[i] - 1) / w.stride[i], &overlap))
                overlap = INT32_MAX;
        }
    }
    *a = (struct pw_accuracy){.exact = !pw_dtype_is_float(call->in[0]->dtype),
                              .ulp = 1,
                              .length = overlap,
                              .amplification = 1,
                              .sensitivity = PW_SENSITIVITY_LOW,
                              .reason = "sum of overlapping blocks",
                              .why = "as many terms as blocks overlap"};
}

/* Zero points and 8-bit data: whole range; scales: around one, positive. */
static void fill_qlinear(const struct pw_call *call, int input, struct pw_fill *fill)
{
    (void)call;
    if (input == 1 || input == 4) {
        fill->low = 0.01;
        fill->high = 0.1;
    } else if (input == 6) {
        fill->low = 0.5;
        fill->high = 2.0;
    } else if (input == 8) {
        fill->int_low = -1000;
        fill->int_high = 1000;
    }
}

static void fill_deform(const struct pw_call *call, int input, struct pw_fill *fill)
{
    (void)call;
    if (input == 2) {
        fill->low = -2.0;
        fill->high = 2.0;
    }
}

/* Depthwise goes through direct loops. */
static bool uses_blas(const struct pw_call *call)
{
    struct pw_conv_geometry g;
    return pw_conv_geometry(call, &g, NULL) != PW_OK || !pw_conv_is_depthwise(&g);
}

/* ---- tables ---- */

static const struct pw_attr_def conv_attrs[] = {
    {.name = "auto_pad", .type = PW_ATTR_STRING, .s = "NOTSET"},
    {.name = "dilations", .type = PW_ATTR_INTS},
    {.name = "group", .type = PW_ATTR_INT, .i = 1},
    {.name = "kernel_shape", .type = PW_ATTR_INTS},
    {.name = "pads", .type = PW_ATTR_INTS},
    {.name = "strides", .type = PW_ATTR_INTS},
    {0},
};

static const struct pw_attr_def transpose_attrs[] = {
    {.name = "auto_pad", .type = PW_ATTR_STRING, .s = "NOTSET"},
    {.name = "dilations", .type = PW_ATTR_INTS},
    {.name = "group", .type = PW_ATTR_INT, .i = 1},
    {.name = "kernel_shape", .type = PW_ATTR_INTS},
    {.name = "output_padding", .type = PW_ATTR_INTS},
    {.name = "output_shape", .type = PW_ATTR_INTS},
    {.name = "pads", .type = PW_ATTR_INTS},
    {.name = "strides", .type = PW_ATTR_INTS},
    {0},
};

static const struct pw_attr_def deform_attrs[] = {
    {.name = "dilations", .type = PW_ATTR_INTS},
    {.name = "group", .type = PW_ATTR_INT, .i = 1},
    {.name = "kernel_shape", .type = PW_ATTR_INTS},
    {.name = "offset_group", .type = PW_ATTR_INT, .i = 1},
    {.name = "pads", .type = PW_ATTR_INTS},
    {.name = "strides", .type = PW_ATTR_INTS},
    {0},
};

static const struct pw_attr_def col2im_attrs[] = {
    {.name = "dilations", .type = PW_ATTR_INTS},
    {.name = "pads", .type = PW_ATTR_INTS},
    {.name = "strides", .type = PW_ATTR_INTS},
    {0},
};

static const struct pw_formal conv_inputs[] = {{"X", "T", 0}, {"W", "T", 0}, {"B", "T", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal conv_outputs[] = {{"Y", "T", 0}, {0}};
static const struct pw_formal integer_inputs[] = {{"x", "T1", 0},
                                                  {"w", "T2", 0},
                                                  {"x_zero_point", "T1", PW_FORMAL_OPTIONAL},
                                                  {"w_zero_point", "T2", PW_FORMAL_OPTIONAL},
                                                  {0}};
static const struct pw_formal integer_outputs[] = {{"y", "T3", 0}, {0}};
static const struct pw_formal qlinear_inputs[] = {{"x", "T1", 0},
                                                  {"x_scale", "TS", 0},
                                                  {"x_zero_point", "T1", 0},
                                                  {"w", "T2", 0},
                                                  {"w_scale", "TS", 0},
                                                  {"w_zero_point", "T2", 0},
                                                  {"y_scale", "TS", 0},
                                                  {"y_zero_point", "T3", 0},
                                                  {"B", "T4", PW_FORMAL_OPTIONAL},
                                                  {0}};
static const struct pw_formal qlinear_outputs[] = {{"y", "T3", 0}, {0}};
static const struct pw_formal deform_inputs[] = {{"X", "T", 0},
                                                 {"W", "T", 0},
                                                 {"offset", "T", 0},
                                                 {"B", "T", PW_FORMAL_OPTIONAL},
                                                 {"mask", "T", PW_FORMAL_OPTIONAL},
                                                 {0}};
static const struct pw_attr_def causal_attrs[] = {{.name = "activation", .type = PW_ATTR_STRING, .s = "none"}, {0}};
static const struct pw_formal causal_inputs[] = {{"input", "T", 0},
                                                 {"weight", "T", 0},
                                                 {"bias", "T", PW_FORMAL_OPTIONAL},
                                                 {"past_state", "T", PW_FORMAL_OPTIONAL},
                                                 {0}};
static const struct pw_formal causal_outputs[] = {{"output", "T", 0}, {"present_state", "T", 0}, {0}};
static const struct pw_formal col2im_inputs[] = {
    {"input", "T", 0}, {"image_shape", "I", PW_FORMAL_PARAM}, {"block_shape", "I", PW_FORMAL_PARAM}, {0}};
static const struct pw_formal col2im_outputs[] = {{"output", "T", 0}, {0}};

#define CONV(op_name, version, table, what, evaluate, blas, order)                                                     \
    {                                                                                                                  \
        .domain = "", .name = op_name, .since = version, .category = PW_CATEGORY_CONVOLUTION, .attrs = table,          \
        .inputs = conv_inputs, .outputs = conv_outputs, .infer = infer_conv, .cost = cost_conv,                        \
        .accuracy = accuracy_conv, .ordered = order, .golden = evaluate, .fast = evaluate, .fast_is_blas = true,       \
        .fast_uses_blas = blas, .bind = pw_conv_bind, .data = &(what)                                                  \
    }

#define DEFORM(version)                                                                                                \
    {                                                                                                                  \
        .domain = "", .name = "DeformConv", .since = version, .category = PW_CATEGORY_CONVOLUTION,                     \
        .attrs = deform_attrs, .inputs = deform_inputs, .outputs = conv_outputs, .infer = infer_deform,                \
        .cost = cost_conv, .accuracy = accuracy_deform, .golden = pw_deform_conv_eval, .fast = pw_deform_conv_eval,    \
        .fast_is_blas = true, .fill = fill_deform, .bind = pw_deform_bind, .data = &kind_deform                        \
    }

const struct pw_op pw_conv_ops[] = {
    CONV("Conv", 1, conv_attrs, kind_conv, pw_conv_eval, uses_blas, pw_conv_ordered),
    CONV("Conv", 11, conv_attrs, kind_conv, pw_conv_eval, uses_blas, pw_conv_ordered),
    CONV("Conv", 22, conv_attrs, kind_conv, pw_conv_eval, uses_blas, pw_conv_ordered),
    CONV("ConvTranspose", 1, transpose_attrs, kind_transpose, pw_conv_transpose_eval, NULL, NULL),
    CONV("ConvTranspose", 11, transpose_attrs, kind_transpose, pw_conv_transpose_eval, NULL, NULL),
    CONV("ConvTranspose", 22, transpose_attrs, kind_transpose, pw_conv_transpose_eval, NULL, NULL),
    DEFORM(19),
    DEFORM(22),
    {.domain = "",
     .name = "ConvInteger",
     .since = 10,
     .category = PW_CATEGORY_CONVOLUTION,
     .attrs = conv_attrs,
     .inputs = integer_inputs,
     .outputs = integer_outputs,
     .infer = infer_conv_integer,
     .cost = cost_conv,
     .accuracy = accuracy_integer,
     .golden = pw_conv_integer_eval,
     .fast = pw_conv_integer_eval,
     .fast_is_blas = true,
     .bind = pw_conv_bind,
     .data = &kind_integer},
    {.domain = "",
     .name = "QLinearConv",
     .since = 10,
     .category = PW_CATEGORY_CONVOLUTION,
     .attrs = conv_attrs,
     .inputs = qlinear_inputs,
     .outputs = qlinear_outputs,
     .infer = infer_qlinear_conv,
     .cost = cost_conv,
     .accuracy = accuracy_qlinear,
     .golden = pw_qlinear_conv_eval,
     .fast = pw_qlinear_conv_eval,
     .fast_is_blas = true,
     .fill = fill_qlinear,
     .bind = pw_conv_bind,
     .data = &kind_qlinear},
    {.domain = "",
     .name = "CausalConvWithState",
     .since = 27,
     .category = PW_CATEGORY_CONVOLUTION,
     .attrs = causal_attrs,
     .inputs = causal_inputs,
     .outputs = causal_outputs,
     .infer = pw_causal_conv_infer,
     .cost = pw_causal_conv_cost,
     .accuracy = pw_causal_conv_accuracy,
     .golden = pw_causal_conv_eval,
     .fast = pw_causal_conv_eval,
     .bind = pw_causal_conv_bind},
    {.domain = "",
     .name = "Col2Im",
     .since = 18,
     .category = PW_CATEGORY_LAYOUT,
     .attrs = col2im_attrs,
     .inputs = col2im_inputs,
     .outputs = col2im_outputs,
     .infer = infer_col2im,
     .cost = cost_col2im,
     .accuracy = accuracy_col2im,
     .golden = pw_col2im_eval,
     .bind = pw_col2im_bind},
    {0},
};
