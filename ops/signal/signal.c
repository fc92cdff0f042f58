#include "ops/signal/signal.h"

#include <math.h>
#include <string.h>

pw_status pw_signal_integer(const struct pw_call *call, int input, int64_t *value, bool *known, struct pw_error *err)
{
    const int64_t *values = NULL;
    size_t count = 0;
    pw_status status = pw_call_content(call, input, &values, &count, known, err);
    if (status == PW_OK && *known && count != 1)
        return pw_call_error(call, err, "input '%s' has %zu values, expected 1", call->op->inputs[input].name, count);
    if (status == PW_OK && *known)
        *value = values[0];
    return status;
}

pw_status pw_signal_real(const struct pw_call *call, int input, double *value, bool *known, struct pw_error *err)
{
    const struct pw_tensor *t = pw_call_input(call, input) ? call->in[input]->constant : NULL;
    *known = t != NULL;
    if (!t)
        return PW_OK;
    if (t->count != 1)
        return pw_call_error(call, err, "input '%s' has %lld values, expected 1", call->op->inputs[input].name,
                             (long long)t->count);
    *value = pw_tensor_get(t, 0);
    return PW_OK;
}

static int64_t extent(const struct pw_call *call, const struct pw_info *info, int axis)
{
    int64_t value = 0;
    return info && axis < info->rank && pw_dims_value(call->dims, info->dims[axis], &value) ? value : -1;
}

/* ---- DFT ---- */

/* The axis, settled; *known false when it is an input that is not known yet. */
static pw_status dft_axis(const struct pw_call *call, int *axis, bool *known, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    int64_t given = call->op->since < 20 ? pw_call_int(call, "axis") : -2;
    *known = true;
    if (call->op->since >= 20 && pw_call_input(call, 2)) {
        pw_status status = pw_signal_integer(call, 2, &given, known, err);
        if (status != PW_OK || !*known)
            return status;
    }
    pw_status status = pw_call_axis(call, given, x->rank, axis, err);
    if (status == PW_OK && *axis == x->rank - 1)
        return pw_call_error(call, err, "axis %lld holds real and imaginary parts", (long long)given);
    return status;
}

/* Length of the transform as a dim. */
static pw_status dft_length(const struct pw_call *call, int axis, pw_dim *length, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    int64_t value = 0;
    bool known = true;
    bool half = pw_call_int(call, "inverse") != 0 && pw_call_int(call, "onesided") != 0;
    if (pw_call_input(call, 1)) {
        pw_status status = pw_signal_integer(call, 1, &value, &known, err);
        if (status != PW_OK)
            return status;
        if (known && (value < 1 || value > PW_TRANSFORM_LIMIT))
            return pw_call_error(call, err, "dft_length is %lld, expected 1 to %lld", (long long)value,
                                 (long long)PW_TRANSFORM_LIMIT);
        *length = known                                                     ? value
                  : call->in[1]->content && call->in[1]->content_count == 1 ? call->in[1]->content[0]
                                                                            : PW_DIM_UNKNOWN;
        return PW_OK;
    }
    *length = x->dims[axis];
    if (half)
        *length = pw_dims_mul(call->dims, pw_dims_sub(call->dims, x->dims[axis], 1), 2);
    if (pw_dims_value(call->dims, *length, &value) && (value < 1 || value > PW_TRANSFORM_LIMIT))
        return pw_call_error(call, err, "a transform of length %lld, expected 1 to %lld", (long long)value,
                             (long long)PW_TRANSFORM_LIMIT);
    return PW_OK;
}

/* floor(length / 2) + 1 */
static pw_dim half_bins(struct pw_dims *dims, pw_dim length)
{
    return pw_dims_add(dims, pw_dims_floordiv(dims, length, 2), 1);
}

static pw_status check_parts(const struct pw_call *call, const struct pw_info *x, struct pw_error *err)
{
    int64_t parts = extent(call, x, x->rank - 1);
    if (parts >= 0 && parts != 1 && parts != 2)
        return pw_call_error(call, err, "the last axis has %lld parts, expected 1 (real) or 2 (complex)",
                             (long long)parts);
    return PW_OK;
}

static pw_status infer_dft(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    pw_dim dims[PW_MAX_RANK], length = PW_DIM_UNKNOWN;
    bool known = false;
    bool inverse = pw_call_int(call, "inverse") != 0, onesided = pw_call_int(call, "onesided") != 0;
    int axis = 0;
    if (x->rank < 0) {
        pw_call_output_unknown(call, 0, x->dtype);
        return PW_OK;
    }
    if (x->rank < 2)
        return pw_call_error(call, err, "the input has rank %d, expected at least 2", x->rank);
    pw_status status = check_parts(call, x, err);
    if (status == PW_OK)
        status = dft_axis(call, &axis, &known, err);
    if (status != PW_OK)
        return status;
    for (int i = 0; i < x->rank; i++)
        dims[i] = known ? x->dims[i] : PW_DIM_UNKNOWN;
    if (known) {
        status = dft_length(call, axis, &length, err);
        if (status != PW_OK)
            return status;
        dims[axis] = onesided && !inverse ? half_bins(call->dims, length) : length;
    }
    if (inverse && onesided && extent(call, x, x->rank - 1) == 1)
        return pw_call_error(call, err, "the one-sided inverse takes complex input");
    dims[x->rank - 1] = inverse && onesided ? 1 : 2;
    pw_call_output(call, 0, x->dtype, x->rank, dims);
    return PW_OK;
}

pw_status pw_dft_transform(const struct pw_call *call, struct pw_transform *t, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    bool known = false, onesided = pw_call_int(call, "onesided") != 0;
    int axis = 0;
    pw_dim length = 0;
    if (x->rank < 2)
        return pw_call_error(call, err, "the rank of the input is not known");
    pw_status status = dft_axis(call, &axis, &known, err);
    if (status == PW_OK)
        status = dft_length(call, axis, &length, err);
    if (status != PW_OK)
        return status;
    *t = (struct pw_transform){.count = 1, .inner_count = 1, .inverse = pw_call_int(call, "inverse") != 0};
    if (!known || !pw_dims_value(call->dims, length, &t->length))
        return pw_call_error(call, err, "axis or length of the transform are not known");
    t->hermitian = t->inverse && onesided;
    t->in_parts = extent(call, x, x->rank - 1);
    t->out_parts = t->hermitian ? 1 : 2;
    t->in_length = extent(call, x, axis);
    t->bins = onesided && !t->inverse ? t->length / 2 + 1 : t->length;
    for (int i = 0; i < x->rank - 1; i++) {
        int64_t n = extent(call, x, i);
        if (n < 0)
            return pw_call_error(call, err, "axis %d of the input is not a known number", i);
        t->inner_count *= i > axis ? n : 1;
        if (i != axis && __builtin_mul_overflow(t->count, n, &t->count))
            return pw_call_error(call, err, "the number of transforms overflows");
    }
    t->in_inner = t->in_parts;
    t->in_step = t->inner_count * t->in_parts;
    t->in_outer = t->in_step * t->in_length;
    t->out_inner = t->out_parts;
    t->out_step = t->inner_count * t->out_parts;
    t->out_outer = t->out_step * t->bins;
    return PW_OK;
}

/* ---- STFT ---- */

static pw_status frame_length(const struct pw_call *call, pw_dim *length, struct pw_error *err)
{
    int64_t value = 0;
    bool known = false;
    *length = call->in[0]->rank == 3 ? call->in[0]->dims[1] : PW_DIM_UNKNOWN;
    if (pw_call_input(call, 2)) {
        if (call->in[2]->rank >= 0 && call->in[2]->rank != 1)
            return pw_call_error(call, err, "the window has rank %d, expected 1", call->in[2]->rank);
        *length = call->in[2]->rank == 1 ? call->in[2]->dims[0] : PW_DIM_UNKNOWN;
    }
    if (pw_call_input(call, 3)) {
        pw_status status = pw_signal_integer(call, 3, &value, &known, err);
        if (status != PW_OK)
            return status;
        int64_t window = 0;
        if (known && pw_call_input(call, 2) && pw_dims_value(call->dims, *length, &window) && window != value)
            return pw_call_error(call, err, "frame_length is %lld, but the window has %lld values", (long long)value,
                                 (long long)window);
        *length = known ? value : PW_DIM_UNKNOWN;
        if (known && value < 1)
            return pw_call_error(call, err, "frame_length is %lld, expected at least 1", (long long)value);
    }
    if (pw_dims_value(call->dims, *length, &value) && (value < 1 || value > PW_TRANSFORM_LIMIT))
        return pw_call_error(call, err, "a frame of %lld, expected 1 to %lld", (long long)value,
                             (long long)PW_TRANSFORM_LIMIT);
    return PW_OK;
}

static pw_status infer_stft(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    struct pw_dims *table = call->dims;
    pw_dim length = PW_DIM_UNKNOWN, dims[4] = {PW_DIM_UNKNOWN, PW_DIM_UNKNOWN, PW_DIM_UNKNOWN, 2};
    int64_t step = 0, frames = 0;
    bool known = false, onesided = pw_call_int(call, "onesided") != 0;
    if (x->rank >= 0 && x->rank != 3)
        return pw_call_error(call, err, "the signal has rank %d, expected 3", x->rank);
    pw_status status = x->rank == 3 ? check_parts(call, x, err) : PW_OK;
    if (status == PW_OK)
        status = frame_length(call, &length, err);
    if (status == PW_OK)
        status = pw_signal_integer(call, 1, &step, &known, err);
    if (status != PW_OK)
        return status;
    if (known && (step < 1 || step > INT32_MAX))
        return pw_call_error(call, err, "frame_step is %lld, expected at least 1", (long long)step);
    if (onesided && extent(call, x, 2) == 2)
        return pw_call_error(call, err, "a complex signal has no one-sided transform");
    if (x->rank == 3)
        dims[0] = x->dims[0];
    if (x->rank == 3 && known)
        dims[1] = pw_dims_add(table, pw_dims_floordiv(table, pw_dims_sub(table, x->dims[1], length), step), 1);
    if (pw_dims_value(table, dims[1], &frames) && frames < 0)
        return pw_call_error(call, err, "the frame is longer than the signal");
    dims[2] = onesided ? half_bins(table, length) : length;
    pw_call_output(call, 0, x->dtype, 4, dims);
    return PW_OK;
}

pw_status pw_stft_transform(const struct pw_call *call, struct pw_transform *t, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    int64_t step = 0, batch = extent(call, x, 0), signal = extent(call, x, 1);
    bool known = false;
    pw_dim length = 0;
    pw_status status = frame_length(call, &length, err);
    if (status == PW_OK)
        status = pw_signal_integer(call, 1, &step, &known, err);
    if (status != PW_OK)
        return status;
    *t = (struct pw_transform){.windowed = pw_call_input(call, 2), .window_input = 2};
    if (!known || step < 1 || batch < 0 || signal < 0 || !pw_dims_value(call->dims, length, &t->length))
        return pw_call_error(call, err, "shapes are not known");
    int64_t frames = signal >= t->length ? (signal - t->length) / step + 1 : 0;
    t->inner_count = frames;
    if (__builtin_mul_overflow(batch, frames, &t->count))
        return pw_call_error(call, err, "the number of frames overflows");
    t->in_parts = extent(call, x, 2);
    t->in_length = t->length;
    t->in_step = t->in_parts;
    t->in_inner = step * t->in_parts;
    t->in_outer = signal * t->in_parts;
    t->bins = pw_call_int(call, "onesided") != 0 ? t->length / 2 + 1 : t->length;
    t->out_parts = t->out_step = 2;
    t->out_inner = t->bins * 2;
    t->out_outer = t->out_inner * frames;
    return PW_OK;
}

/* ---- windows and the mel matrix ---- */

static pw_status output_type(const struct pw_call *call, pw_dtype *dtype, struct pw_error *err)
{
    int64_t wanted = pw_call_int(call, "output_datatype");
    *dtype = (pw_dtype)wanted;
    if (wanted <= 0 || wanted >= PW_DTYPE_COUNT || (!pw_dtype_is_float(*dtype) && !pw_dtype_is_integer(*dtype)) ||
        pw_dtype_facts(*dtype)->bits < 8 || (pw_dtype_is_float(*dtype) && pw_dtype_facts(*dtype)->bits < 16))
        return pw_call_error(call, err, "output_datatype is %lld, which is no type of a window", (long long)wanted);
    return PW_OK;
}

static pw_status infer_window(struct pw_call *call, struct pw_error *err)
{
    int64_t size = 0;
    bool known = false;
    pw_dtype dtype = PW_DTYPE_FLOAT32;
    pw_status status = output_type(call, &dtype, err);
    if (status == PW_OK)
        status = pw_signal_integer(call, 0, &size, &known, err);
    if (status != PW_OK)
        return status;
    if (known && (size < 0 || size > INT32_MAX))
        return pw_call_error(call, err, "the window's size is %lld", (long long)size);
    const struct pw_info *info = call->in[0];
    pw_dim dim = known                                       ? size
                 : info->content && info->content_count == 1 ? info->content[0]
                                                             : pw_dims_fresh(call->dims, "window");
    pw_call_output(call, 0, dtype, 1, &dim);
    return PW_OK;
}

static double mel_of(double hertz)
{
    return 2595.0 * log1p(hertz / 700.0) / log(10.0);
}

static double hertz_of(double mel)
{
    return 700.0 * expm1(mel / 2595.0 * log(10.0));
}

/* Reads the five scalars; *known false when one is missing. */
static pw_status mel_inputs(const struct pw_call *call, int64_t *whole, double *edges, bool *known,
                            struct pw_error *err)
{
    bool one = false;
    *known = true;
    for (int i = 0; i < 5; i++) {
        pw_status status = i < 3 ? pw_signal_integer(call, i, &whole[i], &one, err)
                                 : pw_signal_real(call, i, &edges[i - 3], &one, err);
        if (status != PW_OK)
            return status;
        *known = *known && one;
        if (one && i < 3 && (whole[i] < (i == 0 ? 0 : 1) || whole[i] > INT32_MAX - 1))
            return pw_call_error(call, err, "'%s' is %lld", call->op->inputs[i].name, (long long)whole[i]);
        if (one && i >= 3 && !(edges[i - 3] >= 0 && edges[i - 3] < 1e12))
            return pw_call_error(call, err, "'%s' is %g", call->op->inputs[i].name, edges[i - 3]);
    }
    return PW_OK;
}

pw_status pw_mel_edges(const struct pw_call *call, struct pw_mel *mel, struct pw_error *err)
{
    int64_t whole[3] = {0};
    double hertz[2] = {0};
    bool known = false;
    pw_status status = mel_inputs(call, whole, hertz, &known, err);
    if (status != PW_OK)
        return status;
    if (!known)
        return pw_call_error(call, err, "the inputs' contents are not known");
    if (whole[0] > 1 << 20)
        return pw_call_error(call, err, "%lld mel bands", (long long)whole[0]);
    *mel = (struct pw_mel){.bands = whole[0], .bins = whole[1] / 2 + 1};
    mel->edges = pw_arena_alloc(call->arena, (size_t)whole[0] + 2, sizeof *mel->edges);
    if (!mel->edges)
        return pw_error_memory(err, (size_t)whole[0] * sizeof *mel->edges);
    double low = mel_of(hertz[0]), high = mel_of(hertz[1]), step = (high - low) / (double)(whole[0] + 2);
    for (int64_t i = 0; i < whole[0] + 2; i++) {
        double at = (double)(whole[1] + 1) * hertz_of((double)i * step + low);
        mel->edges[i] = (int64_t)floor(at / (double)whole[2]);
    }
    return PW_OK;
}

double pw_mel_weight(const int64_t *e, int64_t j)
{
    double weight = 0;
    if (e[1] == e[0])
        weight = j == e[1] ? 1 : 0;
    else if (j >= e[0] && j <= e[1])
        weight = (double)(j - e[0]) / (double)(e[1] - e[0]);
    if (e[2] > e[1] && j >= e[1] && j < e[2])
        weight = (double)(e[2] - j) / (double)(e[2] - e[1]);
    return weight;
}

static pw_status infer_mel(struct pw_call *call, struct pw_error *err)
{
    int64_t whole[3] = {0};
    double edges[2] = {0};
    bool known = false, bands = false, length = false;
    pw_dtype dtype = PW_DTYPE_FLOAT32;
    pw_status status = output_type(call, &dtype, err);
    if (status == PW_OK)
        status = mel_inputs(call, whole, edges, &known, err);
    if (status == PW_OK)
        status = pw_signal_integer(call, 0, &whole[0], &bands, err);
    if (status == PW_OK)
        status = pw_signal_integer(call, 1, &whole[1], &length, err);
    pw_dim dims[2] = {length ? whole[1] / 2 + 1 : PW_DIM_UNKNOWN, bands ? whole[0] : PW_DIM_UNKNOWN};
    if (status == PW_OK)
        pw_call_output(call, 0, dtype, 2, dims);
    return status;
}

/* ---- cost and accuracy ---- */

static int64_t log2_up(int64_t n)
{
    int64_t bits = 0;
    while (((int64_t)1 << bits) < n && bits < 62)
        bits++;
    return bits;
}

/* 5 n log2 n a complex transform, half of it for a real one: the usual count. */
static pw_status cost_transform(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    (void)err;
    struct pw_transform t;
    bool dft = strcmp(call->op->name, "DFT") == 0;
    pw_status known = dft ? pw_dft_transform(call, &t, NULL) : pw_stft_transform(call, &t, NULL);
    int64_t flops = 0;
    cost->flops = PW_DIM_UNKNOWN;
    if (known == PW_OK && !__builtin_mul_overflow(t.count, t.length * log2_up(t.length) * 5, &flops))
        cost->flops = t.in_parts == 1 ? flops / 2 : flops;
    return PW_OK;
}

static void accuracy_transform(const struct pw_call *call, struct pw_accuracy *a)
{
    struct pw_transform t;
    bool dft = strcmp(call->op->name, "DFT") == 0;
    pw_status known = dft ? pw_dft_transform(call, &t, NULL) : pw_stft_transform(call, &t, NULL);
    *a = (struct pw_accuracy){.ulp = known == PW_OK ? 4.0 * (double)log2_up(t.length) + 2 : 64,
                              .length = known == PW_OK ? t.length : 1,
                              .amplification = 1,
                              .sensitivity = PW_SENSITIVITY_MEDIUM,
                              .reason = "bins that cancel hold the rounding of the large ones",
                              .why = "a few roundings for each of log2(n) steps, judged on the scale of the spectrum"};
}

static void accuracy_window(const struct pw_call *call, struct pw_accuracy *a)
{
    *a = (struct pw_accuracy){.exact = !pw_dtype_is_float(call->out[0].dtype),
                              .ulp = 16,
                              .length = 1,
                              .amplification = 1,
                              .sensitivity = PW_SENSITIVITY_LOW,
                              .reason = "cosines of known angles",
                              .why = "cospi (4 ULP) of an angle in turns, small near the window's ends"};
}

/* ---- tables ---- */

static const struct pw_attr_def dft_17[] = {{.name = "axis", .type = PW_ATTR_INT, .i = 1},
                                            {.name = "inverse", .type = PW_ATTR_INT},
                                            {.name = "onesided", .type = PW_ATTR_INT},
                                            {0}};
static const struct pw_attr_def dft_20[] = {
    {.name = "inverse", .type = PW_ATTR_INT}, {.name = "onesided", .type = PW_ATTR_INT}, {0}};
static const struct pw_attr_def stft_attrs[] = {{.name = "onesided", .type = PW_ATTR_INT, .i = 1}, {0}};
static const struct pw_attr_def window_attrs[] = {
    {.name = "output_datatype", .type = PW_ATTR_INT, .i = 1}, {.name = "periodic", .type = PW_ATTR_INT, .i = 1}, {0}};
static const struct pw_attr_def mel_attrs[] = {{.name = "output_datatype", .type = PW_ATTR_INT, .i = 1}, {0}};

static const struct pw_formal dft_in_17[] = {
    {"input", "T1", 0}, {"dft_length", "T2", PW_FORMAL_OPTIONAL | PW_FORMAL_PARAM}, {0}};
static const struct pw_formal dft_in_20[] = {{"input", "T1", 0},
                                             {"dft_length", "T2", PW_FORMAL_OPTIONAL | PW_FORMAL_PARAM},
                                             {"axis", "T3", PW_FORMAL_OPTIONAL | PW_FORMAL_PARAM},
                                             {0}};
static const struct pw_formal stft_in[] = {{"signal", "T1", 0},
                                           {"frame_step", "T2", PW_FORMAL_PARAM},
                                           {"window", "T1", PW_FORMAL_OPTIONAL},
                                           {"frame_length", "T2", PW_FORMAL_OPTIONAL | PW_FORMAL_PARAM},
                                           {0}};
static const struct pw_formal transform_out[] = {{"output", "T1", 0}, {0}};
static const struct pw_formal window_in[] = {{"size", "T1", PW_FORMAL_PARAM}, {0}};
static const struct pw_formal window_out[] = {{"output", "T2", 0}, {0}};
static const struct pw_formal mel_in[] = {
    {"num_mel_bins", "T1", PW_FORMAL_PARAM},     {"dft_length", "T1", PW_FORMAL_PARAM},
    {"sample_rate", "T1", PW_FORMAL_PARAM},      {"lower_edge_hertz", "T2", PW_FORMAL_PARAM},
    {"upper_edge_hertz", "T2", PW_FORMAL_PARAM}, {0}};
static const struct pw_formal mel_out[] = {{"output", "T3", 0}, {0}};

static const pw_window_kind hann = PW_WINDOW_HANN, hamming = PW_WINDOW_HAMMING, blackman = PW_WINDOW_BLACKMAN;

#define DFT(version, table, ins)                                                                                       \
    {                                                                                                                  \
        .domain = "", .name = "DFT", .since = version, .category = PW_CATEGORY_OTHER, .attrs = table, .inputs = ins,   \
        .outputs = transform_out, .infer = infer_dft, .cost = cost_transform, .accuracy = accuracy_transform,          \
        .golden = pw_transform_eval, .fast = pw_transform_eval, .bind = pw_transform_bind                              \
    }
#define WINDOW(op_name, kind)                                                                                          \
    {                                                                                                                  \
        .domain = "", .name = op_name, .since = 17, .category = PW_CATEGORY_OTHER, .attrs = window_attrs,              \
        .inputs = window_in, .outputs = window_out, .infer = infer_window, .accuracy = accuracy_window,                \
        .golden = pw_signal_window_eval, .bind = pw_signal_window_bind, .data = &(kind)                                \
    }

const struct pw_op pw_signal_ops[] = {
    DFT(17, dft_17, dft_in_17),
    DFT(20, dft_20, dft_in_20),
    {.domain = "",
     .name = "STFT",
     .since = 17,
     .category = PW_CATEGORY_OTHER,
     .attrs = stft_attrs,
     .inputs = stft_in,
     .outputs = transform_out,
     .infer = infer_stft,
     .cost = cost_transform,
     .accuracy = accuracy_transform,
     .golden = pw_transform_eval,
     .fast = pw_transform_eval,
     .bind = pw_transform_bind},
    WINDOW("HannWindow", hann),
    WINDOW("HammingWindow", hamming),
    WINDOW("BlackmanWindow", blackman),
    {.domain = "",
     .name = "MelWeightMatrix",
     .since = 17,
     .category = PW_CATEGORY_OTHER,
     .attrs = mel_attrs,
     .inputs = mel_in,
     .outputs = mel_out,
     .infer = infer_mel,
     .accuracy = accuracy_window,
     .golden = pw_mel_eval,
     .bind = pw_mel_bind},
    {0},
};
