/* Settling a Resize or Upsample call, and the positions and weights that follow. */
#include <math.h>
#include <string.h>

#include "ops/resize/resize.h"

/* ---- attributes ---- */

struct word {
    const char *name;
    int value;
};

static pw_status read_word(const struct pw_call *call, const char *attr, const struct word *words, size_t count,
                           int *out, struct pw_error *err)
{
    const char *text = pw_call_string(call, attr);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, words[i].name) == 0) {
            *out = words[i].value;
            return PW_OK;
        }
    }
    return pw_call_error(call, err, "attribute '%s' is '%.40s', which is none of its values", attr, text);
}

static const struct word modes[] = {{"nearest", PW_RESIZE_NEAREST},
                                    {"linear", PW_RESIZE_LINEAR},
                                    {"bilinear", PW_RESIZE_LINEAR},
                                    {"cubic", PW_RESIZE_CUBIC}};
static const struct word transforms[] = {{"half_pixel", PW_RESIZE_HALF_PIXEL},
                                         {"half_pixel_symmetric", PW_RESIZE_HALF_PIXEL_SYMMETRIC},
                                         {"pytorch_half_pixel", PW_RESIZE_PYTORCH_HALF_PIXEL},
                                         {"align_corners", PW_RESIZE_ALIGN_CORNERS},
                                         {"asymmetric", PW_RESIZE_ASYMMETRIC},
                                         {"tf_half_pixel_for_nn", PW_RESIZE_TF_HALF_PIXEL_FOR_NN},
                                         {"tf_crop_and_resize", PW_RESIZE_TF_CROP_AND_RESIZE}};
static const struct word roundings[] = {{"round_prefer_floor", PW_RESIZE_ROUND_PREFER_FLOOR},
                                        {"round_prefer_ceil", PW_RESIZE_ROUND_PREFER_CEIL},
                                        {"floor", PW_RESIZE_FLOOR},
                                        {"ceil", PW_RESIZE_CEIL}};

#define WORDS(table) (table), sizeof(table) / sizeof *(table)

static bool is_upsample(const struct pw_call *call)
{
    return strcmp(call->op->name, "Upsample") == 0;
}

static pw_status read_attributes(const struct pw_call *call, struct pw_resize *r, struct pw_error *err)
{
    int mode = 0, transform = PW_RESIZE_ASYMMETRIC, rounding = PW_RESIZE_FLOOR;
    pw_status status = read_word(call, "mode", WORDS(modes), &mode, err);
    bool early = is_upsample(call) || call->op->since < 11;
    if (status == PW_OK && !early) {
        status = read_word(call, "coordinate_transformation_mode", WORDS(transforms), &transform, err);
        if (status == PW_OK)
            status = read_word(call, "nearest_mode", WORDS(roundings), &rounding, err);
    } else if (!is_upsample(call)) {
        rounding = PW_RESIZE_SIMPLE;
    }
    r->mode = (pw_resize_mode)mode;
    r->transform = (pw_resize_transform)transform;
    r->rounding = (pw_resize_rounding)rounding;
    r->cubic_a = early ? -0.75 : (double)pw_call_float(call, "cubic_coeff_a");
    r->exclude_outside = pw_call_int(call, "exclude_outside") != 0;
    r->antialias = pw_call_int(call, "antialias") != 0 && r->mode != PW_RESIZE_NEAREST;
    r->extrapolation = (double)pw_call_float(call, "extrapolation_value");
    return status;
}

/* ---- contents ---- */

/* A float input's content, or an attribute's; count 0 when it is not given. */
static pw_status read_reals(const struct pw_call *call, int input, const char *what, double *dst, size_t *count,
                            struct pw_error *err)
{
    const struct pw_tensor *t = NULL;
    *count = 0;
    if (!pw_call_input(call, input))
        return PW_OK;
    t = call->in[input]->constant;
    if (!t)
        return pw_call_error(call, err, "the content of '%s' is not known", what);
    if (t->count > 2 * PW_MAX_RANK)
        return pw_call_error(call, err, "'%s' has %lld values", what, (long long)t->count);
    for (int64_t i = 0; i < t->count; i++)
        dst[i] = pw_tensor_get(t, i);
    *count = (size_t)t->count;
    return PW_OK;
}

static pw_status read_scales(const struct pw_call *call, double *scales, size_t *count, struct pw_error *err)
{
    if (is_upsample(call) && call->op->since == 1) {
        *count = 4;
        scales[0] = scales[1] = 1;
        scales[2] = (double)pw_call_float(call, "height_scale");
        scales[3] = (double)pw_call_float(call, "width_scale");
        return PW_OK;
    }
    if (is_upsample(call) && call->op->since == 7) {
        const float *values = pw_call_floats(call, "scales", count);
        if (*count > PW_MAX_RANK)
            return pw_call_error(call, err, "'scales' has %zu values", *count);
        for (size_t i = 0; i < *count; i++)
            scales[i] = (double)values[i];
        return PW_OK;
    }
    bool second = is_upsample(call) || call->op->since < 11;
    return read_reals(call, second ? 1 : 2, "scales", scales, count, err);
}

/* The axes that scales, sizes and roi speak of, in their order. */
static pw_status read_axes(const struct pw_call *call, int rank, int *axes, size_t *count, struct pw_error *err)
{
    size_t given = 0;
    const int64_t *values = pw_call_ints(call, "axes", &given);
    if (!values || given == 0) {
        for (int i = 0; i < rank; i++)
            axes[i] = i;
        *count = (size_t)rank;
        return PW_OK;
    }
    if (given > (size_t)rank)
        return pw_call_error(call, err, "'axes' has %zu values for rank %d", given, rank);
    for (size_t i = 0; i < given; i++) {
        pw_status status = pw_call_axis(call, values[i], rank, &axes[i], err);
        if (status != PW_OK)
            return status;
        for (size_t j = 0; j < i; j++) {
            if (axes[j] == axes[i])
                return pw_call_error(call, err, "'axes' names axis %d twice", axes[i]);
        }
    }
    *count = given;
    return PW_OK;
}

static pw_status apply_scales(const struct pw_call *call, struct pw_resize *r, const double *scales, const int *axes,
                              size_t count, struct pw_error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct pw_resize_axis *a = &r->axes[axes[i]];
        if (!(scales[i] > 0) || !isfinite(scales[i]))
            return pw_call_error(call, err, "scales[%zu] is %g, expected above 0", i, scales[i]);
        /* In float, as the operator's shape inference has it: 10 * 0.7 is 7, not 6.99999988. */
        float length = (float)a->in * (float)scales[i];
        if (r->transform == PW_RESIZE_TF_CROP_AND_RESIZE)
            length = (float)a->in * (float)(a->end - a->start) * (float)scales[i];
        if (!(length >= 0) || length > 1e15F)
            return pw_call_error(call, err, "axis %d: the resized extent is %g", axes[i], (double)length);
        a->scale = scales[i];
        a->out = (int64_t)floorf(length);
    }
    return PW_OK;
}

static pw_status apply_sizes(const struct pw_call *call, struct pw_resize *r, const int64_t *sizes, const int *axes,
                             size_t count, struct pw_error *err)
{
    const char *policy = pw_call_string(call, "keep_aspect_ratio_policy");
    bool stretch = *policy == '\0' || strcmp(policy, "stretch") == 0, smaller = strcmp(policy, "not_larger") == 0;
    if (!stretch && !smaller && strcmp(policy, "not_smaller") != 0)
        return pw_call_error(call, err, "keep_aspect_ratio_policy '%.32s'", policy);
    double common = smaller ? INFINITY : 0;
    for (size_t i = 0; i < count; i++) {
        struct pw_resize_axis *a = &r->axes[axes[i]];
        if (sizes[i] < 0 || (a->in == 0 && sizes[i] > 0))
            return pw_call_error(call, err, "axis %d: extent %lld cannot become %lld", axes[i], (long long)a->in,
                                 (long long)sizes[i]);
        a->out = sizes[i];
        a->scale = a->in > 0 ? (double)sizes[i] / (double)a->in : 1;
        common = smaller ? fmin(common, a->scale) : fmax(common, a->scale);
    }
    for (size_t i = 0; i < count && !stretch; i++) {
        struct pw_resize_axis *a = &r->axes[axes[i]];
        double length = floor(common * (double)a->in + 0.5);
        if (!(length < 1e15))
            return pw_call_error(call, err, "axis %d: the resized extent is %g", axes[i], length);
        a->scale = common;
        a->out = (int64_t)length;
    }
    return PW_OK;
}

static pw_status apply_region(const struct pw_call *call, struct pw_resize *r, const int *axes, size_t count,
                              struct pw_error *err)
{
    double roi[2 * PW_MAX_RANK];
    size_t given = 0;
    if (r->transform != PW_RESIZE_TF_CROP_AND_RESIZE)
        return PW_OK;
    pw_status status = read_reals(call, 1, "roi", roi, &given, err);
    if (status != PW_OK)
        return status;
    if (given != 2 * count)
        return pw_call_error(call, err, "'roi' has %zu values, expected %zu", given, 2 * count);
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(roi[i]) || !isfinite(roi[count + i]))
            return pw_call_error(call, err, "'roi' is not finite");
        r->axes[axes[i]].start = roi[i];
        r->axes[axes[i]].end = roi[count + i];
    }
    return PW_OK;
}

static pw_status apply_targets(const struct pw_call *call, struct pw_resize *r, const int *axes, size_t count,
                               struct pw_error *err)
{
    double scales[2 * PW_MAX_RANK];
    const int64_t *sizes = NULL;
    size_t scale_count = 0, size_count = 0;
    bool known = true, has_sizes = !is_upsample(call) && call->op->since >= 11 && pw_call_input(call, 3);
    pw_status status = read_scales(call, scales, &scale_count, err);
    if (status == PW_OK && has_sizes)
        status = pw_call_content(call, 3, &sizes, &size_count, &known, err);
    if (status != PW_OK)
        return status;
    if (!known)
        return pw_call_error(call, err, "the content of 'sizes' is not known");
    if (scale_count > 0 && size_count > 0)
        return pw_call_error(call, err, "both 'scales' and 'sizes' are given");
    if ((scale_count > 0 ? scale_count : size_count) != count)
        return pw_call_error(call, err, "%zu scales or sizes for %zu axes", scale_count > 0 ? scale_count : size_count,
                             count);
    return scale_count > 0 ? apply_scales(call, r, scales, axes, count, err)
                           : apply_sizes(call, r, sizes, axes, count, err);
}

pw_status pw_resize_settle(const struct pw_call *call, struct pw_resize *r, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    int axes[PW_MAX_RANK];
    size_t count = 0;
    if (x->rank < 0)
        return pw_call_error(call, err, "the rank of X is not known");
    *r = (struct pw_resize){.rank = x->rank};
    pw_status status = read_attributes(call, r, err);
    if (status != PW_OK)
        return status;
    for (int i = 0; i < x->rank; i++) {
        int64_t in = 0;
        if (!pw_dims_value(call->dims, x->dims[i], &in) || in < 0)
            return pw_call_error(call, err, "axis %d of X is not a known number", i);
        r->axes[i] = (struct pw_resize_axis){.in = in, .out = in, .scale = 1, .end = 1};
    }
    status = read_axes(call, x->rank, axes, &count, err);
    if (status == PW_OK)
        status = apply_region(call, r, axes, count, err);
    if (status == PW_OK)
        status = apply_targets(call, r, axes, count, err);
    return status;
}

/* ---- positions and weights ---- */

static double original_position(const struct pw_resize *r, const struct pw_resize_axis *a, int64_t i)
{
    double x = (double)i, in = (double)a->in, out = (double)a->out, length = a->scale * in;
    switch (r->transform) {
    case PW_RESIZE_HALF_PIXEL:
        return (x + 0.5) / a->scale - 0.5;
    case PW_RESIZE_HALF_PIXEL_SYMMETRIC:
        return in / 2 * (1 - out / length) + (x + 0.5) / a->scale - 0.5;
    case PW_RESIZE_PYTORCH_HALF_PIXEL:
        return a->out > 1 ? (x + 0.5) / a->scale - 0.5 : 0;
    case PW_RESIZE_ALIGN_CORNERS: /* by the length before rounding down, as the operator's tests have it */
        return a->out > 1 ? x * (in - 1) / (length - 1) : 0;
    case PW_RESIZE_ASYMMETRIC:
        return x / a->scale;
    case PW_RESIZE_TF_HALF_PIXEL_FOR_NN:
        return (x + 0.5) / a->scale;
    case PW_RESIZE_TF_CROP_AND_RESIZE:
        return a->out > 1 ? a->start * (in - 1) + x * (a->end - a->start) * (in - 1) / (out - 1)
                          : 0.5 * (a->start + a->end) * (in - 1);
    }
    return 0;
}

static double round_position(const struct pw_resize *r, const struct pw_resize_axis *a, double x)
{
    switch (r->rounding) {
    case PW_RESIZE_ROUND_PREFER_FLOOR:
        return ceil(x - 0.5);
    case PW_RESIZE_ROUND_PREFER_CEIL:
        return floor(x + 0.5);
    case PW_RESIZE_FLOOR:
        return floor(x);
    case PW_RESIZE_CEIL:
        return ceil(x);
    case PW_RESIZE_SIMPLE:
        return a->scale < 1 ? ceil(x) : floor(x);
    }
    return x;
}

/* Weight of a sample at distance x (in output steps when stretched). Keys' cubic, or a triangle. */
static double kernel_weight(const struct pw_resize *r, double x)
{
    double a = r->cubic_a;
    x = fabs(x);
    if (r->mode == PW_RESIZE_LINEAR)
        return x < 1 ? 1 - x : 0;
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/* Taps before the position's floor, plus that one: 1 for linear, 2 for cubic, more when stretched. */
static double reach_of(const struct pw_resize *r, const struct pw_resize_axis *a)
{
    double radius = r->mode == PW_RESIZE_LINEAR ? 1 : 2;
    double stretch = r->antialias && a->scale < 1 ? a->scale : 1;
    return ceil(radius / stretch);
}

#define MAX_TAPS 65536               /* weights of a position */
#define MAX_TABLE ((int64_t)1 << 24) /* weights of an axis */

static void fill_weights(const struct pw_resize *r, const struct pw_resize_axis *a, double x, int64_t taps,
                         int32_t *index, double *weight)
{
    double stretch = r->antialias && a->scale < 1 ? a->scale : 1, base = floor(x), sum = 0;
    for (int64_t t = 0; t < taps; t++) {
        double at = base + (double)(t - taps / 2 + 1);
        double w = kernel_weight(r, (at - x) * stretch);
        if (r->exclude_outside && (at < 0 || at > (double)(a->in - 1)))
            w = 0;
        index[t] = (int32_t)(at < 0 ? 0 : at > (double)(a->in - 1) ? (double)(a->in - 1) : at);
        weight[t] = w;
        sum += w;
    }
    bool normalise = r->exclude_outside || stretch < 1;
    for (int64_t t = 0; normalise && sum != 0 && t < taps; t++)
        weight[t] /= sum;
}

static void fill_position(const struct pw_resize *r, const struct pw_resize_axis *a, int64_t i,
                          struct pw_resize_table *t)
{
    int32_t *index = t->index + i * t->taps;
    double *weight = t->weight + i * t->taps, last = (double)(a->in - 1), x = original_position(r, a, i);
    bool crop = r->transform == PW_RESIZE_TF_CROP_AND_RESIZE;
    if (crop && !(x >= 0 && x <= last)) {
        for (int64_t k = 0; k < t->taps; k++)
            index[k] = -1;
        return;
    }
    x = fmin(fmax(x, -1e9), 1e10); /* positions from hostile scales stay convertible */
    if (r->mode == PW_RESIZE_NEAREST) {
        double at = fmin(fmax(round_position(r, a, x), 0), last);
        index[0] = (int32_t)at;
        weight[0] = 1;
    } else {
        fill_weights(r, a, x, t->taps, index, weight);
    }
}

static bool is_identity(const struct pw_resize_table *t)
{
    if (t->in != t->out)
        return false;
    for (int64_t i = 0; i < t->out; i++) {
        double own = 0;
        for (int64_t k = 0; k < t->taps; k++) {
            if (t->index[i * t->taps + k] == i)
                own += t->weight[i * t->taps + k];
            else if (t->index[i * t->taps + k] < 0 || t->weight[i * t->taps + k] != 0)
                return false;
        }
        if (own != 1)
            return false;
    }
    return true;
}

pw_status pw_resize_table(const struct pw_call *call, const struct pw_resize *r, int axis, struct pw_resize_table *t,
                          struct pw_error *err)
{
    const struct pw_resize_axis *a = &r->axes[axis];
    double taps = r->mode == PW_RESIZE_NEAREST ? 1 : 2 * reach_of(r, a);
    *t = (struct pw_resize_table){.in = a->in, .out = a->out};
    if (a->in > INT32_MAX || !(taps <= MAX_TAPS) || a->out > MAX_TABLE / (int64_t)taps)
        return pw_call_error(call, err, "axis %d: from %lld to %lld elements with %g weights each is too much", axis,
                             (long long)a->in, (long long)a->out, taps);
    if (a->in == 0 && a->out > 0)
        return pw_call_error(call, err, "axis %d is empty, but its result is not", axis);
    t->taps = (int64_t)taps;
    t->index = pw_arena_alloc(call->arena, (size_t)(a->out * t->taps) + 1, sizeof *t->index);
    t->weight = pw_arena_alloc(call->arena, (size_t)(a->out * t->taps) + 1, sizeof *t->weight);
    if (!t->index || !t->weight)
        return pw_error_memory(err, (size_t)(a->out * t->taps) * sizeof *t->weight);
    for (int64_t i = 0; i < a->out; i++)
        fill_position(r, a, i, t);
    t->identity = is_identity(t);
    return PW_OK;
}

int64_t pw_resize_truncate(double value, pw_dtype dtype)
{
    const struct pw_dtype_facts *facts = pw_dtype_facts(dtype);
    bool is_signed = facts->kind == PW_KIND_SIGNED;
    double bits = ldexp(1.0, (int)facts->bits - (is_signed ? 1 : 0));
    double low = is_signed ? -bits : 0, high = bits;
    if (isnan(value))
        return 0;
    if (fabs(value) < 4294967296.0)
        value = nearbyint(value * 1048576.0) / 1048576.0;
    value = trunc(value);
    if (value >= high)
        return facts->bits == 64 && !is_signed ? -1 : facts->bits == 64 ? INT64_MAX : (int64_t)(high - 1);
    if (value <= low)
        return (int64_t)low;
    return facts->bits == 64 && !is_signed ? (int64_t)(uint64_t)value : (int64_t)value;
}
