/* The properties, and which operator has which. f is the operator on the target, x its first input. */
#include <math.h>
#include <string.h>

#include "verify/draw.h"
#include "verify/property.h"

#define SCALE 4.0 /* a power of two: every product and sum scales without rounding */

/* ---- helpers ---- */

static void scale_input(struct pw_case_inputs *in, int input, double factor)
{
    struct pw_tensor *t = &in->values[input].tensor;

    if (in->in[input] && pw_dtype_is_float(t->dtype))
        for (int64_t i = 0; i < t->count; i++)
            pw_tensor_set(t, i, factor * pw_tensor_get(t, i));
}

/* want = factor * from, carried. */
static pw_status scaled(const struct pw_tensor *from, double factor, struct pw_tensor *want, struct pw_error *err)
{
    pw_status status = pw_property_carrier(from, want, err);

    for (int64_t i = 0; i < from->count && status == PW_OK; i++)
        pw_tensor_set(want, i, factor * pw_tensor_get(from, i));
    return status;
}

/* f of changed inputs against factor * f(x). */
static pw_status compare_with_first(struct pw_property_work *work, struct pw_case_inputs *in, double factor,
                                    struct pw_error *err)
{
    struct pw_value out[PW_OP_MAX_FORMALS] = {0};
    struct pw_tensor want = {0};
    pw_status status = pw_property_ready(work, NULL, in, err);

    if (status == PW_OK)
        status = pw_property_run(work, in, out, err);
    if (status == PW_OK && work->ran)
        status = scaled(&work->first[0].tensor, factor, &want, err);
    if (status == PW_OK && work->ran)
        status = pw_property_equal(work, &out[0].tensor, &want, -1, err);
    pw_property_clear(out);
    pw_tensor_clear(&want);
    return status;
}

/* The product of dims from `axis` on, and of those before it. */
static void rows_of(const struct pw_tensor *t, int axis, int64_t *outer, int64_t *inner)
{
    *outer = pw_tensor_span(t, 0, axis);
    *inner = pw_tensor_span(t, axis, t->rank);
}

static int axis_of(const struct pw_call *call, int rank)
{
    int64_t axis = pw_call_int(call, "axis");

    return (int)(axis < 0 ? axis + rank : axis);
}

/* ---- softmax ---- */

/* The values that sum to one: a line along the axis, everything from the axis on before opset 13. */
static pw_status sums_to_one(struct pw_property_work *work, struct pw_error *err)
{
    const struct pw_call *call = &work->run->inputs.call;
    const struct pw_tensor *y = &work->first[0].tensor;
    bool logarithm = !strcmp(call->op->name, "LogSoftmax"), flat = call->op->since < 13;
    int axis = axis_of(call, y->rank);
    int64_t length, step, outer, inner;
    double worst = 0;

    (void)err;
    rows_of(y, axis, &outer, &inner);
    length = flat ? inner : axis < y->rank ? y->dims[axis] : 1;
    step = flat ? 1 : length > 0 ? inner / length : 1;
    work->bound = work->tolerance * (3 + sqrt((double)(length > 0 ? length : 1)));
    for (int64_t row = 0; row < outer * (flat ? 1 : step) && length > 0; row++) {
        int64_t base = flat ? row * inner : row / step * inner + row % step;
        double sum = 0;

        for (int64_t i = 0; i < length; i++) {
            double v = pw_tensor_get(y, base + i * step);

            sum += logarithm ? exp(v) : v;
        }
        if (!(fabs(sum - 1) <= worst))
            worst = fabs(sum - 1);
    }
    if (logarithm) /* an absolute error of the logarithm is a relative one of the sum */
        work->bound += work->tolerance * 32;
    work->run->result.least_tolerance = worst;
    work->holds = worst <= work->bound;
    if (!work->holds)
        pw_buf_printf(&work->why, ": a row sums to 1 with an error of %.3g, bound %.3g", worst, work->bound);
    return PW_OK;
}

static pw_status forgets_shift(struct pw_property_work *work, struct pw_error *err)
{
    struct pw_case_inputs in = {0};
    struct pw_tensor *x = &in.values[0].tensor;
    pw_status status = pw_property_vary(work, &in, err);

    for (int64_t i = 0; i < x->count && status == PW_OK; i++)
        pw_tensor_set(x, i, pw_tensor_get(x, i) + work->property->number);
    work->bound = 4 * work->tolerance;
    if (status == PW_OK)
        status = compare_with_first(work, &in, 1, err);
    pw_case_inputs_clear(&in);
    return status;
}

/* ---- scales ---- */

/* f(4 x) = 4^degree f(x), of all floating inputs. */
static pw_status homogeneous(struct pw_property_work *work, struct pw_error *err)
{
    struct pw_case_inputs in = {0};
    pw_status status = pw_property_vary(work, &in, err);

    for (int i = 0; i < in.count && status == PW_OK; i++)
        scale_input(&in, i, SCALE);
    if (status == PW_OK)
        status = compare_with_first(work, &in, pow(SCALE, work->property->number), err);
    pw_case_inputs_clear(&in);
    return status;
}

/* The same of the first input alone. */
static pw_status homogeneous_first(struct pw_property_work *work, struct pw_error *err)
{
    struct pw_case_inputs in = {0};
    pw_status status = pw_property_vary(work, &in, err);

    if (status == PW_OK) {
        scale_input(&in, 0, SCALE);
        status = compare_with_first(work, &in, pow(SCALE, work->property->number), err);
    }
    pw_case_inputs_clear(&in);
    return status;
}

/* A factor after which epsilon is nothing beside a variance: what it still moves, 0.5 epsilon / (variance factor^2), is
 * below every tolerance for variances from 1e-5 on. Four times as much squares without overflow, in float for a
 * float16. */
static double beyond_epsilon(pw_dtype dtype)
{
    return dtype == PW_DTYPE_FLOAT64 ? 0x1p40 : dtype == PW_DTYPE_FLOAT16 ? 0x1p10 : 0x1p24;
}

/* f(s x) = f(4 s x) for a large s. */
static pw_status forgets_scale(struct pw_property_work *work, struct pw_error *err)
{
    struct pw_case_inputs in = {0}, more = {0};
    struct pw_value a[PW_OP_MAX_FORMALS] = {0}, b[PW_OP_MAX_FORMALS] = {0};
    pw_status status = pw_property_vary(work, &in, err);

    if (status == PW_OK)
        status = pw_property_vary(work, &more, err);
    if (status == PW_OK) {
        double s = beyond_epsilon(work->run->inputs.call.in[0]->dtype);

        scale_input(&in, 0, s);
        scale_input(&more, 0, SCALE * s);
        status = pw_property_ready(work, NULL, &in, err);
    }
    if (status == PW_OK)
        status = pw_property_ready(work, NULL, &more, err);
    if (status == PW_OK)
        status = pw_property_run(work, &in, a, err);
    if (status == PW_OK && work->ran)
        status = pw_property_run(work, &more, b, err);
    if (status == PW_OK && work->ran)
        status = pw_property_equal(work, &b[0].tensor, &a[0].tensor, -1, err);
    pw_property_clear(a);
    pw_property_clear(b);
    pw_case_inputs_clear(&in);
    pw_case_inputs_clear(&more);
    return status;
}

/* ---- linear ---- */

/* x := every element's part: odd ones keep theirs in `odd`, the rest in the other. */
static void keep_part(struct pw_case_inputs *in, bool odd, bool none)
{
    struct pw_tensor *x = &in->values[0].tensor;

    for (int64_t i = 0; i < x->count; i++)
        if (none || ((i ^ (i >> 3)) & 1) != odd)
            pw_tensor_set(x, i, 0);
}

/* The most that storing f's result may have taken from it where nothing else did: sums of `exact` draws are multiples
 * of 1, those of Gemm with its dyadic alpha and beta of 1/4, and a dtype holds all of these up to 2^mantissa_bits of
 * them. Beyond, in bfloat16 from 256 on and in float16 from 2048, one rounding to nearest takes at most half of a last
 * place.
 */
static double stored(const struct pw_call *call, double y)
{
    double step = !strcmp(call->op->name, "Gemm") ? 0.25 : 1, epsilon = pw_dtype_epsilon(call->out[0].dtype);

    if (!isfinite(y) || fabs(y) < 2 * step / epsilon) /* that limit itself may be a tie's */
        return 0;
    return 0.5 * epsilon * exp2(ilogb(y));
}

/* f(x) + f(0) = f(part of x) + f(rest of x): also of what adds a bias. The parts may be larger than their sum, and are
 * rounded as what they are. Where bits are owed, each of the four owes them but for its one rounding. */
static pw_status linear(struct pw_property_work *work, struct pw_error *err)
{
    struct pw_value out[3][PW_OP_MAX_FORMALS] = {0};
    const struct pw_call *call = &work->run->inputs.call;
    struct pw_tensor want = {0}, got = {0}, size = {0};
    pw_status status = PW_OK;

    work->ran = true;
    for (int k = 0; k < 3 && status == PW_OK && work->ran; k++) {
        struct pw_case_inputs in = {0};

        status = pw_property_vary(work, &in, err);
        if (status == PW_OK) {
            keep_part(&in, k == 1, k == 2);
            status = pw_property_ready(work, NULL, &in, err);
        }
        if (status == PW_OK)
            status = pw_property_run(work, &in, out[k], err);
        pw_case_inputs_clear(&in);
    }
    if (status == PW_OK && work->ran)
        status = pw_property_carrier(&work->first[0].tensor, &want, err);
    if (status == PW_OK && work->ran)
        status = pw_property_carrier(&work->first[0].tensor, &got, err);
    if (status == PW_OK && work->ran)
        status = pw_property_carrier(&work->first[0].tensor, &size, err);
    for (int64_t i = 0; i < want.count && status == PW_OK && work->ran; i++) {
        double whole = pw_tensor_get(&work->first[0].tensor, i), none = pw_tensor_get(&out[2][0].tensor, i);
        double part = pw_tensor_get(&out[0][0].tensor, i), rest = pw_tensor_get(&out[1][0].tensor, i);
        double a = whole + none, b = part + rest;
        double lost = stored(call, whole) + stored(call, none) + stored(call, part) + stored(call, rest);

        pw_tensor_set(&want, i, b);
        pw_tensor_set(&got, i, work->tolerance <= 0 && fabs(a - b) <= lost ? b : a);
        pw_tensor_set(&size, i, fmax(fmax(fabs(whole), fabs(none)), fmax(fabs(part), fabs(rest))));
    }
    work->bound = 4 * work->tolerance;
    if (status == PW_OK && work->ran)
        status = pw_property_equal_sized(work, &got, &want, &size, err);
    for (int k = 0; k < 3; k++)
        pw_property_clear(out[k]);
    pw_tensor_clear(&want);
    pw_tensor_clear(&got);
    pw_tensor_clear(&size);
    return status;
}

/* ---- signs, repetition ---- */

/* f(-x) = number * f(x) */
static pw_status mirrored(struct pw_property_work *work, struct pw_error *err)
{
    struct pw_case_inputs in = {0};
    pw_status status = pw_property_vary(work, &in, err);

    if (status == PW_OK) {
        scale_input(&in, 0, -1);
        status = compare_with_first(work, &in, work->property->number, err);
    }
    pw_case_inputs_clear(&in);
    return status;
}

/* f(f(x)) = f(x), or x where number is 1. */
static pw_status repeated(struct pw_property_work *work, struct pw_error *err)
{
    const struct pw_tensor *want =
        work->property->number > 0 ? &work->run->inputs.in[0]->tensor : &work->first[0].tensor;
    struct pw_case_inputs in = {0};
    struct pw_value out[PW_OP_MAX_FORMALS] = {0};
    pw_status status = pw_property_vary(work, &in, err);

    if (status == PW_OK) {
        pw_value_clear(&in.values[0]);
        status = pw_value_copy(&in.values[0], &work->first[0], err);
    }
    if (status == PW_OK)
        status = pw_property_ready(work, NULL, &in, err);
    if (status == PW_OK)
        status = pw_property_run(work, &in, out, err);
    if (status == PW_OK && work->ran)
        status = pw_property_equal(work, &out[0].tensor, want, -1, err);
    pw_property_clear(out);
    pw_case_inputs_clear(&in);
    return status;
}

/* f(x) + f(-x) = 1 */
static pw_status complements(struct pw_property_work *work, struct pw_error *err)
{
    struct pw_case_inputs in = {0};
    struct pw_value out[PW_OP_MAX_FORMALS] = {0};
    struct pw_tensor sum = {0}, one = {0};
    pw_status status = pw_property_vary(work, &in, err);

    if (status == PW_OK) {
        scale_input(&in, 0, -1);
        status = pw_property_ready(work, NULL, &in, err);
    }
    if (status == PW_OK)
        status = pw_property_run(work, &in, out, err);
    if (status == PW_OK && work->ran)
        status = pw_property_carrier(&out[0].tensor, &sum, err);
    if (status == PW_OK && work->ran)
        status = pw_property_carrier(&out[0].tensor, &one, err);
    for (int64_t i = 0; i < one.count && status == PW_OK && work->ran; i++) {
        pw_tensor_set(&one, i, 1);
        pw_tensor_set(&sum, i, pw_tensor_get(&work->first[0].tensor, i) + pw_tensor_get(&out[0].tensor, i));
    }
    if (status == PW_OK && work->ran)
        status = pw_property_equal(work, &sum, &one, -1, err);
    pw_property_clear(out);
    pw_tensor_clear(&sum);
    pw_tensor_clear(&one);
    pw_case_inputs_clear(&in);
    return status;
}

/* f(a, b) = f(b, a), bit by bit. */
static pw_status commutes(struct pw_property_work *work, struct pw_error *err)
{
    struct pw_case_inputs in = {0};
    struct pw_value kept;
    pw_status status = pw_property_vary(work, &in, err);

    kept = in.values[0];
    in.values[0] = in.values[1];
    in.values[1] = kept;
    work->bound = 0;
    if (status == PW_OK)
        status = compare_with_first(work, &in, 1, err);
    pw_case_inputs_clear(&in);
    return status;
}

/* ---- order ---- */

static pw_status reversed(const struct pw_tensor *from, struct pw_tensor *out, struct pw_error *err)
{
    size_t row = from->dims[0] > 0 ? pw_tensor_bytes(from) / (size_t)from->dims[0] : 0;
    pw_status status = pw_tensor_init(out, from->dtype, from->rank, from->dims, err);

    for (int64_t i = 0; i < from->dims[0] && status == PW_OK && row; i++)
        memcpy((char *)out->data + (size_t)(from->dims[0] - 1 - i) * row, (const char *)from->data + (size_t)i * row,
               row);
    return status;
}

/* f(rows of x in reverse) = rows of f(x) in reverse. */
static pw_status follows_rows(struct pw_property_work *work, struct pw_error *err)
{
    struct pw_case_inputs in = {0};
    struct pw_value out[PW_OP_MAX_FORMALS] = {0};
    struct pw_tensor turned = {0}, want = {0};
    pw_status status = pw_property_vary(work, &in, err);

    if (status == PW_OK)
        status = reversed(&in.values[0].tensor, &turned, err);
    if (status == PW_OK) {
        pw_value_clear(&in.values[0]);
        in.values[0] = (struct pw_value){.kind = PW_VALUE_TENSOR, .tensor = turned};
        status = pw_property_ready(work, NULL, &in, err);
    }
    if (status == PW_OK)
        status = pw_property_run(work, &in, out, err);
    if (status == PW_OK && work->ran)
        status = reversed(&work->first[0].tensor, &want, err);
    if (status == PW_OK && work->ran)
        status = pw_property_equal(work, &out[0].tensor, &want, -1, err);
    pw_property_clear(out);
    pw_tensor_clear(&want);
    pw_case_inputs_clear(&in);
    return status;
}

/* Transposed back: the input, bit by bit. */
static pw_status transposes_back(struct pw_property_work *work, struct pw_error *err)
{
    const struct pw_call *call = &work->run->inputs.call;
    const struct pw_tensor *x = &work->run->inputs.in[0]->tensor;
    struct pw_case_inputs in = {0};
    struct pw_value out[PW_OP_MAX_FORMALS] = {0};
    int64_t inverse[PW_MAX_RANK];
    size_t count = 0;
    const int64_t *perm = pw_call_ints(call, "perm", &count);
    struct pw_attr attr = {.name = "perm", .type = PW_ATTR_INTS, .count = (size_t)x->rank, .ints = inverse};
    struct pw_node node = *call->node;
    pw_status status = pw_property_vary(work, &in, err);

    for (int d = 0; d < x->rank; d++)
        inverse[perm ? perm[d] : x->rank - 1 - d] = d;
    node.attrs = &attr;
    node.attr_count = x->rank > 0;
    if (status == PW_OK) {
        pw_value_clear(&in.values[0]);
        status = pw_value_copy(&in.values[0], &work->first[0], err);
    }
    if (status == PW_OK)
        status = pw_property_ready(work, &node, &in, err);
    if (status == PW_OK)
        status = pw_property_run(work, &in, out, err);
    work->bound = 0;
    if (status == PW_OK && work->ran)
        status = pw_property_equal(work, &out[0].tensor, x, -1, err);
    pw_property_clear(out);
    pw_case_inputs_clear(&in);
    return status;
}

/* The same elements in the same order. */
static pw_status keeps_bits(struct pw_property_work *work, struct pw_error *err)
{
    const struct pw_tensor *x = &work->run->inputs.in[0]->tensor, *y = &work->first[0].tensor;

    (void)err;
    work->bound = 0;
    work->holds = pw_tensor_bytes(x) == pw_tensor_bytes(y) && !memcmp(x->data, y->data, pw_tensor_bytes(x));
    if (!work->holds)
        pw_buf_puts(&work->why, ": the bytes are not those of the input");
    return PW_OK;
}

/* Weights that sum to one leave a constant value as it is. */
static pw_status averages(struct pw_property_work *work, struct pw_error *err)
{
    int value = (int)work->property->number;
    struct pw_case_inputs in = {0};
    struct pw_value out[PW_OP_MAX_FORMALS] = {0};
    struct pw_tensor want = {0};
    pw_status status = pw_property_vary(work, &in, err);
    struct pw_tensor *v = &in.values[value].tensor;

    for (int64_t i = 0; i < v->count && status == PW_OK; i++)
        pw_tensor_set(v, i, 3);
    if (status == PW_OK)
        status = pw_property_ready(work, NULL, &in, err);
    if (status == PW_OK)
        status = pw_property_run(work, &in, out, err);
    if (status == PW_OK && work->ran)
        status = pw_property_carrier(&out[0].tensor, &want, err);
    for (int64_t i = 0; i < want.count && status == PW_OK && work->ran; i++)
        pw_tensor_set(&want, i, 3);
    if (status == PW_OK && work->ran)
        status = pw_property_equal(work, &out[0].tensor, &want, -1, err);
    pw_property_clear(out);
    pw_tensor_clear(&want);
    pw_case_inputs_clear(&in);
    return status;
}

/* ---- when ---- */

static bool ranked(const struct pw_call *call)
{
    return call->in[0]->rank > 0;
}

static bool axis_not_first(const struct pw_call *call)
{
    return call->in[0]->rank > 1 && axis_of(call, call->in[0]->rank) > 0;
}

static bool matmul_rows(const struct pw_call *call)
{
    return call->input_count >= 2 && call->in[1] && call->in[0]->rank >= 2 && call->in[1]->rank == 2 &&
           call->out[0].rank == call->in[0]->rank;
}

static bool gemm_rows(const struct pw_call *call)
{
    return !pw_call_int(call, "transA") && (!pw_call_input(call, 2) || call->in[2]->rank < 2);
}

static bool no_bias(const struct pw_call *call)
{
    return !pw_call_input(call, 2);
}

static bool two_inputs(const struct pw_call *call)
{
    return call->input_count == 2 && call->in[1] && call->op->since >= 7;
}

static bool plain_attention(const struct pw_call *call)
{
    for (int i = 3; i < call->input_count; i++)
        if (call->in[i])
            return false;
    return call->input_count >= 3 && call->in[2] && pw_dtype_is_float(call->in[2]->dtype);
}

static bool no_bias_input(const struct pw_call *call)
{
    return call->in[0]->rank > 0 && !pw_call_input(call, 1);
}

/* ---- the table ---- */

#define EVEN(name)                                                                                                     \
    {                                                                                                                  \
        name, "even", PW_DIST_NORMAL, mirrored, NULL, 1                                                                \
    }
#define ODD(name)                                                                                                      \
    {                                                                                                                  \
        name, "odd", PW_DIST_NORMAL, mirrored, NULL, -1                                                                \
    }
#define ROWS(name, when)                                                                                               \
    {                                                                                                                  \
        name, "rows", PW_DIST_NORMAL, follows_rows, when, 0                                                            \
    }
#define IDEMPOTENT(name)                                                                                               \
    {                                                                                                                  \
        name, "idempotent", PW_DIST_UNIFORM, repeated, NULL, 0                                                         \
    }
#define SCALES(name, when, degree)                                                                                     \
    {                                                                                                                  \
        name, "scale", PW_DIST_NORMAL, homogeneous, when, degree                                                       \
    }
#define LINEAR(name, when)                                                                                             \
    {                                                                                                                  \
        name, "linear", PW_DIST_EXACT, linear, when, 0                                                                 \
    }
#define BITS(name)                                                                                                     \
    {                                                                                                                  \
        name, "bits", PW_DIST_NORMAL, keeps_bits, NULL, 0                                                              \
    }
#define COMMUTES(name)                                                                                                 \
    {                                                                                                                  \
        name, "commutes", PW_DIST_NORMAL, commutes, two_inputs, 0                                                      \
    }

const struct pw_property pw_properties[] = {
    {"Softmax", "sum", PW_DIST_NORMAL, sums_to_one, ranked, 0},
    {"Softmax", "shift", PW_DIST_EXACT, forgets_shift, ranked, 8},
    ROWS("Softmax", axis_not_first),
    {"LogSoftmax", "sum", PW_DIST_NORMAL, sums_to_one, ranked, 0},
    {"LogSoftmax", "shift", PW_DIST_EXACT, forgets_shift, ranked, 8},
    ROWS("LogSoftmax", axis_not_first),

    LINEAR("MatMul", NULL),
    SCALES("MatMul", NULL, 2),
    ROWS("MatMul", matmul_rows),
    LINEAR("Gemm", NULL),
    {"Gemm", "scale", PW_DIST_NORMAL, homogeneous_first, no_bias, 1},
    ROWS("Gemm", gemm_rows),
    LINEAR("Conv", NULL),
    {"Conv", "scale", PW_DIST_NORMAL, homogeneous_first, no_bias, 1},
    ROWS("Conv", NULL),
    LINEAR("ConvTranspose", NULL),
    ROWS("ConvTranspose", NULL),

    {"LayerNormalization", "scale", PW_DIST_NORMAL, forgets_scale, NULL, 0},
    ROWS("LayerNormalization", axis_not_first),
    {"RMSNormalization", "scale", PW_DIST_NORMAL, forgets_scale, NULL, 0},
    ROWS("RMSNormalization", axis_not_first),
    {"SimplifiedLayerNormalization", "scale", PW_DIST_NORMAL, forgets_scale, NULL, 0},
    {"InstanceNormalization", "scale", PW_DIST_NORMAL, forgets_scale, NULL, 0},
    {"GroupNormalization", "scale", PW_DIST_NORMAL, forgets_scale, NULL, 0},
    {"LpNormalization", "scale", PW_DIST_NORMAL, forgets_scale, NULL, 0},
    {"MeanVarianceNormalization", "scale", PW_DIST_NORMAL, forgets_scale, NULL, 0},
    ROWS("BatchNormalization", NULL),

    {"Attention", "average", PW_DIST_NORMAL, averages, plain_attention, 2},
    {"com.microsoft:MultiHeadAttention", "average", PW_DIST_NORMAL, averages, plain_attention, 2},

    LINEAR("ReduceSum", ranked),
    SCALES("ReduceSum", NULL, 1),
    LINEAR("ReduceMean", ranked),
    SCALES("ReduceMean", NULL, 1),
    SCALES("ReduceMax", NULL, 1),
    SCALES("ReduceMin", NULL, 1),
    SCALES("ReduceL1", NULL, 1),
    SCALES("ReduceL2", NULL, 1),
    SCALES("ReduceSumSquare", NULL, 2),
    LINEAR("CumSum", NULL),
    LINEAR("AveragePool", NULL),
    LINEAR("GlobalAveragePool", NULL),
    SCALES("GlobalAveragePool", NULL, 1),
    ROWS("GlobalAveragePool", NULL),
    ROWS("AveragePool", NULL),
    ROWS("MaxPool", NULL),
    SCALES("MaxPool", NULL, 1),
    SCALES("GlobalMaxPool", NULL, 1),

    {"Transpose", "inverse", PW_DIST_NORMAL, transposes_back, NULL, 0},
    BITS("Reshape"),
    BITS("Flatten"),
    BITS("Squeeze"),
    BITS("Unsqueeze"),
    BITS("Identity"),

    COMMUTES("Add"),
    SCALES("Add", NULL, 1),
    COMMUTES("Mul"),
    SCALES("Mul", NULL, 2),
    COMMUTES("Max"),
    COMMUTES("Min"),
    SCALES("Sub", NULL, 1),
    SCALES("Div", NULL, 0),
    EVEN("Abs"),
    IDEMPOTENT("Abs"),
    EVEN("Cos"),
    EVEN("Cosh"),
    ODD("Sin"),
    ODD("Tan"),
    ODD("Sinh"),
    ODD("Tanh"),
    ODD("Asin"),
    ODD("Atan"),
    ODD("Asinh"),
    ODD("Atanh"),
    ODD("Erf"),
    ODD("Softsign"),
    ODD("Sign"),
    {"Neg", "involution", PW_DIST_NORMAL, repeated, NULL, 1},
    IDEMPOTENT("Relu"),
    SCALES("Relu", NULL, 1),
    IDEMPOTENT("Floor"),
    IDEMPOTENT("Ceil"),
    IDEMPOTENT("Round"),
    IDEMPOTENT("Sign"),
    SCALES("LeakyRelu", NULL, 1),
    {"Sigmoid", "complement", PW_DIST_NORMAL, complements, NULL, 0},
    ROWS("Sigmoid", ranked),
    ROWS("Exp", ranked),
    ROWS("Gelu", no_bias_input),
    {0},
};
