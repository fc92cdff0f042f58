#include "op/window.h"

#include <string.h>

/* An ints attribute of `count` values in [low, PW_WINDOW_LIMIT] into dst; absent leaves dst as it is. */
static pw_status read_ints(const struct pw_call *call, const char *name, int count, int64_t low, int64_t *dst,
                           bool *given, struct pw_error *err)
{
    size_t n = 0;
    const int64_t *values = pw_call_ints(call, name, &n);
    if (given)
        *given = values && n > 0;
    if (!values || n == 0)
        return PW_OK;
    if (n != (size_t)count)
        return pw_call_error(call, err, "attribute '%s' has %zu values, expected %d", name, n, count);
    for (int i = 0; i < count; i++) {
        if (values[i] < low || values[i] > PW_WINDOW_LIMIT)
            return pw_call_error(call, err, "attribute '%s'[%d] is %lld, expected %lld to %lld", name, i,
                                 (long long)values[i], (long long)low, (long long)PW_WINDOW_LIMIT);
        dst[i] = values[i];
    }
    return PW_OK;
}

static pw_status read_kernel(const struct pw_call *call, const pw_dim *kernel, struct pw_window *w,
                             struct pw_error *err)
{
    int64_t shape[PW_WINDOW_AXES];
    bool given = false;
    pw_status status = read_ints(call, "kernel_shape", w->axes, 1, shape, &given, err);
    if (status != PW_OK)
        return status;
    if (!given && !kernel)
        return pw_call_error(call, err, "attribute 'kernel_shape' is missing");
    for (int i = 0; i < w->axes; i++) {
        int64_t from_weights = 0;
        bool number = kernel && pw_dims_value(call->dims, kernel[i], &from_weights);
        if (number && (from_weights < 1 || from_weights > PW_WINDOW_LIMIT))
            return pw_call_error(call, err, "the kernel's spatial axis %d has extent %lld", i, (long long)from_weights);
        if (given && number && shape[i] != from_weights)
            return pw_call_error(call, err, "kernel_shape[%d] is %lld, but the weights have %lld there", i,
                                 (long long)shape[i], (long long)from_weights);
        w->kernel[i] = given ? shape[i] : kernel[i];
    }
    return PW_OK;
}

pw_status pw_window_read_plain(const struct pw_call *call, int axes, const pw_dim *kernel, struct pw_window *w,
                               struct pw_error *err)
{
    int64_t pads[2 * PW_WINDOW_AXES] = {0};
    if (axes < 0 || axes > PW_WINDOW_AXES)
        return pw_call_error(call, err, "%d spatial axes, expected 0 to %d", axes, PW_WINDOW_AXES);
    w->axes = axes;
    for (int i = 0; i < axes; i++) {
        w->stride[i] = w->dilation[i] = 1;
        w->in[i] = w->out[i] = PW_DIM_UNKNOWN;
    }
    pw_status status = read_kernel(call, kernel, w, err);
    if (status == PW_OK)
        status = read_ints(call, "strides", axes, 1, w->stride, NULL, err);
    if (status == PW_OK)
        status = read_ints(call, "dilations", axes, 1, w->dilation, NULL, err);
    if (status == PW_OK)
        status = read_ints(call, "pads", 2 * axes, 0, pads, NULL, err);
    for (int i = 0; i < axes; i++) {
        w->pad_begin[i] = pads[i];
        w->pad_end[i] = pads[axes + i];
    }
    return status;
}

typedef enum { PAD_EXPLICIT, PAD_SAME_UPPER, PAD_SAME_LOWER, PAD_VALID } pad_mode;

static pw_status read_pad_mode(const struct pw_call *call, pad_mode *mode, struct pw_error *err)
{
    static const struct {
        const char *name;
        pad_mode mode;
    } modes[] = {{"", PAD_EXPLICIT},
                 {"NOTSET", PAD_EXPLICIT},
                 {"SAME_UPPER", PAD_SAME_UPPER},
                 {"SAME_LOWER", PAD_SAME_LOWER},
                 {"VALID", PAD_VALID}};
    const char *text = pw_call_string(call, "auto_pad");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(text, modes[i].name) == 0) {
            *mode = modes[i].mode;
            return PW_OK;
        }
    }
    return pw_call_error(call, err, "auto_pad '%.32s', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID", text);
}

/* dilation * (kernel - 1) + 1 */
static pw_dim window_extent(struct pw_dims *dims, const struct pw_window *w, int i)
{
    return pw_dims_add(dims, pw_dims_mul(dims, pw_dims_sub(dims, w->kernel[i], 1), w->dilation[i]), 1);
}

/* Halves `total` padding: the smaller half first when `upper`. */
static void split_padding(struct pw_dims *dims, struct pw_window *w, int i, pw_dim total, bool upper)
{
    pw_dim small = pw_dims_floordiv(dims, total, 2);
    pw_dim large = pw_dims_sub(dims, total, small);
    w->pad_begin[i] = upper ? small : large;
    w->pad_end[i] = upper ? large : small;
}

static void slide_same(struct pw_dims *dims, struct pw_window *w, int i, bool upper)
{
    pw_dim extent = window_extent(dims, w, i);
    w->out[i] = pw_dims_ceildiv(dims, w->in[i], w->stride[i]);
    pw_dim span = pw_dims_add(dims, pw_dims_mul(dims, pw_dims_sub(dims, w->out[i], 1), w->stride[i]), extent);
    split_padding(dims, w, i, pw_dims_max(dims, 0, pw_dims_sub(dims, span, w->in[i])), upper);
}

static pw_status slide_explicit(const struct pw_call *call, struct pw_window *w, int i, bool ceil, struct pw_error *err)
{
    struct pw_dims *dims = call->dims;
    pw_dim extent = window_extent(dims, w, i);
    pw_dim start = pw_dims_add(dims, w->in[i], w->pad_begin[i]);
    pw_dim room = pw_dims_sub(dims, pw_dims_add(dims, start, w->pad_end[i]), extent);
    int64_t value = 0, extent_value = 0;
    if (pw_dims_value(dims, room, &value) && value < -1)
        return pw_call_error(call, err, "spatial axis %d: the window is %lld wider than the padded input", i,
                             (long long)-value);
    if (!ceil) {
        w->out[i] = pw_dims_add(dims, pw_dims_floordiv(dims, room, w->stride[i]), 1);
        return PW_OK;
    }
    w->out[i] = pw_dims_add(dims, pw_dims_ceildiv(dims, room, w->stride[i]), 1);
    /* A window that would start in the padding behind the input is ignored. That cannot happen
     * where the window reaches over the padding and a stride. */
    bool reaches = pw_dims_value(dims, extent, &extent_value) && extent_value >= w->stride[i] + w->pad_end[i];
    if (!reaches)
        w->out[i] = pw_dims_min(dims, w->out[i], pw_dims_ceildiv(dims, start, w->stride[i]));
    return PW_OK;
}

pw_status pw_window_read(const struct pw_call *call, int axes, const pw_dim *in, const pw_dim *kernel,
                         struct pw_window *w, struct pw_error *err)
{
    pad_mode mode = PAD_EXPLICIT;
    pw_status status = pw_window_read_plain(call, axes, kernel, w, err);
    if (status == PW_OK)
        status = read_pad_mode(call, &mode, err);
    bool ceil = status == PW_OK && pw_call_int(call, "ceil_mode") != 0;
    for (int i = 0; status == PW_OK && i < axes; i++) {
        w->in[i] = in ? in[i] : PW_DIM_UNKNOWN;
        if (mode != PAD_EXPLICIT)
            w->pad_begin[i] = w->pad_end[i] = 0;
        if (mode == PAD_SAME_UPPER || mode == PAD_SAME_LOWER)
            slide_same(call->dims, w, i, mode == PAD_SAME_UPPER);
        else
            status = slide_explicit(call, w, i, ceil && mode == PAD_EXPLICIT, err);
    }
    return status;
}

/* Extent of the whole spread input: stride * (in - 1) + output_padding + window extent. */
static pw_dim spread_extent(struct pw_dims *dims, const struct pw_window *w, int i, int64_t output_padding)
{
    pw_dim reach = pw_dims_mul(dims, pw_dims_sub(dims, w->in[i], 1), w->stride[i]);
    return pw_dims_add(dims, pw_dims_add(dims, reach, output_padding), window_extent(dims, w, i));
}

static pw_status spread_axis(const struct pw_call *call, struct pw_window *w, int i, pad_mode mode, int64_t extra,
                             const int64_t *wanted, struct pw_error *err)
{
    struct pw_dims *dims = call->dims;
    pw_dim whole = spread_extent(dims, w, i, extra);
    bool same = mode == PAD_SAME_UPPER || mode == PAD_SAME_LOWER;
    int64_t value = 0;
    if (wanted || same) {
        w->out[i] = wanted ? wanted[i] : pw_dims_mul(dims, w->in[i], w->stride[i]);
        pw_dim total = pw_dims_max(dims, 0, pw_dims_sub(dims, whole, w->out[i]));
        /* Where the padding is odd and no side is asked for, the definition before 11 gives the
         * larger half to the end, and later ones to the beginning. */
        bool upper = call->op->since < 11 ? mode != PAD_SAME_UPPER : mode == PAD_SAME_UPPER;
        if (same)
            upper = mode == PAD_SAME_UPPER;
        split_padding(dims, w, i, total, upper);
        return PW_OK;
    }
    w->out[i] = pw_dims_sub(dims, pw_dims_sub(dims, whole, w->pad_begin[i]), w->pad_end[i]);
    if (pw_dims_value(dims, w->out[i], &value) && value < 0)
        return pw_call_error(call, err, "spatial axis %d: pads take %lld more than there is", i, (long long)-value);
    return PW_OK;
}

pw_status pw_window_read_transposed(const struct pw_call *call, int axes, const pw_dim *in, const pw_dim *kernel,
                                    struct pw_window *w, struct pw_error *err)
{
    int64_t extra[PW_WINDOW_AXES] = {0}, wanted[PW_WINDOW_AXES] = {0};
    bool has_shape = false;
    pad_mode mode = PAD_EXPLICIT;
    pw_status status = pw_window_read_plain(call, axes, kernel, w, err);
    if (status == PW_OK)
        status = read_pad_mode(call, &mode, err);
    if (status == PW_OK)
        status = read_ints(call, "output_padding", axes, 0, extra, NULL, err);
    if (status == PW_OK)
        status = read_ints(call, "output_shape", axes, 0, wanted, &has_shape, err);
    for (int i = 0; status == PW_OK && i < axes; i++) {
        w->in[i] = in ? in[i] : PW_DIM_UNKNOWN;
        if (mode != PAD_EXPLICIT)
            w->pad_begin[i] = w->pad_end[i] = 0;
        status = spread_axis(call, w, i, mode, extra[i], has_shape ? wanted : NULL, err);
    }
    return status;
}

/* *out = a * b where both are >= 0; false on overflow. */
static bool product(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

pw_status pw_window_numbers(const struct pw_call *call, const struct pw_window *w, struct pw_window_numbers *n,
                            struct pw_error *err)
{
    *n = (struct pw_window_numbers){.axes = w->axes, .taps = 1, .in_size = 1, .out_size = 1};
    for (int i = 0; i < w->axes; i++) {
        bool known = pw_dims_value(call->dims, w->in[i], &n->in[i]) &&
                     pw_dims_value(call->dims, w->kernel[i], &n->kernel[i]) &&
                     pw_dims_value(call->dims, w->pad_begin[i], &n->pad_begin[i]) &&
                     pw_dims_value(call->dims, w->pad_end[i], &n->pad_end[i]) &&
                     pw_dims_value(call->dims, w->out[i], &n->out[i]);
        n->stride[i] = w->stride[i];
        n->dilation[i] = w->dilation[i];
        if (!known || n->in[i] < 0 || n->out[i] < 0)
            return pw_call_error(call, err, "spatial axis %d: the extents are not known numbers", i);
        if (!product(n->taps, n->kernel[i], &n->taps) || !product(n->in_size, n->in[i], &n->in_size) ||
            !product(n->out_size, n->out[i], &n->out_size))
            return pw_call_error(call, err, "spatial axis %d: the sizes overflow", i);
    }
    return PW_OK;
}
