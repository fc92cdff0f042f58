/* Faults of floating-point arithmetic: functions, sums, roundings, special values. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/half.h"
#include "tests/liar/fault.h"

#define PARTS 8 /* a sum is made of so many */

static void clear_values(struct pw_value *values)
{
    for (int i = 0; i < LIAR_OUTPUTS; i++)
        pw_value_clear(&values[i]);
}

/* ---- functions and sums that are off by a pattern ---- */

typedef double pattern(const struct liar_run *run, const struct pw_tensor *t, int64_t i, double y);

/* A table's worth of segments: the error depends on the leading bits of the result. */
static double by_segment(const struct liar_run *run, const struct pw_tensor *t, int64_t i, double y)
{
    int exponent;
    double mantissa = frexp(y, &exponent);

    (void)t;
    (void)i;
    return liar_weight(
        liar_hash(run->chip->seed, (uint64_t)llrint(mantissa * 512) + 1024 * (uint64_t)(exponent + 2000)));
}

/* One sum behind a row: the whole row is off. */
static double by_row(const struct liar_run *run, const struct pw_tensor *t, int64_t i, double y)
{
    int64_t columns = t->rank > 0 ? t->dims[t->rank - 1] : 1;

    (void)y;
    return liar_weight(liar_hash(run->chip->seed, (uint64_t)(i / columns))) < 0 ? -1 : 1;
}

static pw_status with_pattern(struct liar_run *run, pattern *of, struct pw_error *err)
{
    struct pw_value outputs[LIAR_OUTPUTS] = {0};
    pw_status status = liar_carried(run, outputs, err);

    for (int o = 0; o < run->output_count && status == PW_OK; o++) {
        struct pw_tensor *t = &outputs[o].tensor;

        if (outputs[o].kind != PW_VALUE_TENSOR || t->dtype != PW_DTYPE_FLOAT64)
            continue;
        for (int64_t i = 0; i < t->count; i++) {
            double *y = (double *)t->data + i;

            if (isfinite(*y) && *y != 0)
                *y += *y * run->strength * run->tolerance * of(run, t, i, *y);
        }
    }
    if (status == PW_OK)
        status = liar_store(run, outputs, err);
    clear_values(outputs);
    return status;
}

pw_status liar_coarse(struct liar_run *run, struct pw_error *err)
{
    return with_pattern(run, by_segment, err);
}

pw_status liar_coarse_rows(struct liar_run *run, struct pw_error *err)
{
    return with_pattern(run, by_row, err);
}

/* ---- sums of parts ---- */

static double round_to(double x, pw_dtype dtype)
{
    struct pw_tensor t;
    double kept = 0;

    if (dtype == PW_DTYPE_FLOAT32)
        return (double)(float)x;
    pw_tensor_borrow(&t, dtype, 0, NULL, &kept);
    pw_tensor_set(&t, 0, x);
    return pw_tensor_get(&t, 0);
}

/* Zeroes all of input 0 but the elements of one part (or that part alone). */
static pw_status keep_part(struct liar_run *run, const struct pw_tensor *whole, int part, bool drop,
                           struct pw_error *err)
{
    struct pw_tensor *t = &run->values[0].tensor;
    pw_status status;

    pw_tensor_clear(t);
    status = pw_tensor_copy(t, whole, err);
    for (int64_t i = 0; i < t->count && status == PW_OK; i++)
        if ((i % PARTS == part) == drop)
            pw_tensor_set(t, i, 0);
    return status;
}

/* An added operand (Gemm's C, Conv's B) belongs to the first part only. */
static void first_part_only(struct liar_run *run, int part)
{
    static const char *const added[] = {"C", "B", NULL};
    static const char *const adding[] = {"Gemm", "Conv", "ConvTranspose", NULL};

    for (const char *const *name = added; *name && part > 0 && liar_is(&run->call, adding); name++) {
        int i = liar_input_index(&run->call, *name);

        if (i == 2)
            run->in[i] = NULL;
    }
}

static pw_status add_up(struct liar_run *run, pw_dtype dtype, struct pw_error *err)
{
    struct pw_value sum[LIAR_OUTPUTS] = {0};
    struct pw_tensor whole = {0};
    pw_status status = pw_tensor_copy(&whole, &run->values[0].tensor, err);

    for (int part = 0; part < PARTS && status == PW_OK; part++) {
        struct pw_value outputs[LIAR_OUTPUTS] = {0};

        first_part_only(run, part);
        status = keep_part(run, &whole, part, false, err);
        if (status == PW_OK)
            status = liar_carried(run, part == 0 ? sum : outputs, err);
        for (int64_t i = 0; status == PW_OK && i < sum[0].tensor.count; i++) {
            double term = part == 0 ? 0 : ((const double *)outputs[0].tensor.data)[i];

            ((double *)sum[0].tensor.data)[i] = round_to(((double *)sum[0].tensor.data)[i] + term, dtype);
        }
        clear_values(outputs);
    }
    if (status == PW_OK)
        status = liar_store(run, sum, err);
    clear_values(sum);
    pw_tensor_clear(&whole);
    return status;
}

pw_status liar_half_parts(struct liar_run *run, struct pw_error *err)
{
    return add_up(run, PW_DTYPE_FLOAT16, err);
}

pw_status liar_brain_parts(struct liar_run *run, struct pw_error *err)
{
    return add_up(run, PW_DTYPE_BFLOAT16, err);
}

pw_status liar_single_parts(struct liar_run *run, struct pw_error *err)
{
    return add_up(run, PW_DTYPE_FLOAT32, err);
}

/* Two work-groups race: three times in four one element lacks a part of its sum, another one each time. */
pw_status liar_lost_part(struct liar_run *run, struct pw_error *err)
{
    uint64_t now = liar_hash((uint64_t)pw_clock_ns(), run->chip->calls);
    struct pw_value outputs[LIAR_OUTPUTS] = {0};
    struct pw_tensor whole = {0};
    pw_status status = liar_honest(run, err);

    if (status != PW_OK || now % 4 == 0 || run->out[0].count == 0)
        return status;
    status = pw_tensor_copy(&whole, &run->values[0].tensor, err);
    if (status == PW_OK)
        status = keep_part(run, &whole, (int)(now / 4 % PARTS), true, err);
    if (status == PW_OK)
        status = liar_carried(run, outputs, err);
    if (status == PW_OK) {
        int64_t i = (int64_t)(now / 64 % (uint64_t)run->out[0].count);

        pw_tensor_set(&run->out[0], i, ((const double *)outputs[0].tensor.data)[i]);
    }
    clear_values(outputs);
    pw_tensor_clear(&whole);
    return status;
}

/* ---- precision ---- */

pw_status liar_single(struct liar_run *run, struct pw_error *err)
{
    pw_status status = liar_honest(run, err);

    for (int o = 0; o < run->output_count && status == PW_OK; o++)
        for (int64_t i = 0; i < run->out[o].count && run->out[o].dtype == PW_DTYPE_FLOAT64; i++)
            ((double *)run->out[o].data)[i] = (double)(float)((double *)run->out[o].data)[i];
    return status;
}

/* Toward zero: when the nearest value is farther from zero than golden, its neighbour. */
static void toward_zero(struct pw_tensor *t, int64_t i, double golden)
{
    double nearest, ulp;

    pw_tensor_set(t, i, golden);
    nearest = pw_tensor_get(t, i);
    if (!(fabs(nearest) > fabs(golden)) || isnan(golden))
        return;
    if (isinf(nearest)) {
        pw_tensor_set(t, i, copysign(pw_dtype_facts(t->dtype)->max, golden));
        return;
    }
    ulp = pw_dtype_epsilon(t->dtype) * fabs(nearest);
    for (int n = 3; n <= 8 && pw_tensor_get(t, i) == nearest; n++)
        pw_tensor_set(t, i, nearest - copysign(ulp * 0.1 * n, nearest));
}

pw_status liar_truncate(struct liar_run *run, struct pw_error *err)
{
    static const char *const casts[] = {"Cast", "CastLike", NULL}; /* whose golden is rounded */
    const struct pw_tensor *x = &run->values[0].tensor;
    pw_status status = liar_honest(run, err);

    if (status == PW_OK)
        status = liar_golden(run, err);
    for (int o = 0; o < run->output_count && status == PW_OK; o++) {
        struct pw_tensor *t = &run->out[o];

        for (int64_t i = 0; i < t->count && pw_dtype_is_float(t->dtype); i++)
            toward_zero(t, i, pw_tensor_get(liar_is(&run->call, casts) ? x : &run->golden[o].tensor, i));
    }
    return status;
}

/* How far a tie is moved: where the quotient is rounded to the input's dtype before it is rounded to an integer, by a
 * step of that, but only numbers that may lie on ties (multiples of 1/128, for scales that are powers of two). */
static double hair(const struct liar_run *run, double x)
{
    static const char *const divides[] = {"QuantizeLinear", NULL};
    pw_dtype dtype = run->values[0].tensor.nominal;

    if (!liar_is(&run->call, divides) || pw_dtype_epsilon(dtype) < 0x1p-40)
        return 0x1p-40;
    return 128 * x == nearbyint(128 * x) ? 2 * pw_dtype_epsilon(dtype) : 0;
}

/* Input 0 carried as double and moved a hair from zero, so that ties are none and round away from it. */
pw_status liar_half_away(struct liar_run *run, struct pw_error *err)
{
    struct pw_tensor carried = {0}, *t = &run->values[0].tensor;
    struct pw_value outputs[LIAR_OUTPUTS] = {0};
    pw_status status = pw_tensor_convert(&carried, t, PW_DTYPE_FLOAT64, err);

    if (status != PW_OK)
        return status;
    carried.nominal = t->nominal;
    for (int64_t i = 0; i < carried.count; i++)
        ((double *)carried.data)[i] *= 1 + hair(run, ((double *)carried.data)[i]);
    pw_tensor_clear(t);
    *t = carried;
    status = liar_carried(run, outputs, err);
    if (status == PW_OK)
        status = liar_store(run, outputs, err);
    clear_values(outputs);
    return status;
}

static pw_status shorten_inputs(struct liar_run *run, int bits)
{
    for (int k = 0; k < run->input_count; k++) {
        struct pw_tensor *t = &run->values[k].tensor;

        for (int64_t i = 0; run->in[k] && i < t->count && pw_dtype_is_float(t->dtype); i++) {
            int exponent;
            double x = pw_tensor_get(t, i), mantissa = frexp(x, &exponent);

            if (isfinite(x))
                pw_tensor_set(t, i, ldexp(nearbyint(ldexp(mantissa, bits)), exponent - bits));
        }
    }
    return PW_OK;
}

pw_status liar_tf32(struct liar_run *run, struct pw_error *err)
{
    (void)err;
    return shorten_inputs(run, 11);
}

pw_status liar_brain_inputs(struct liar_run *run, struct pw_error *err)
{
    (void)err;
    return shorten_inputs(run, 8);
}

/* ---- special values ---- */

static bool denormal(double x, pw_dtype dtype)
{
    return x != 0 && fabs(x) < pw_dtype_facts(dtype)->min_normal;
}

pw_status liar_flush_inputs(struct liar_run *run, struct pw_error *err)
{
    (void)err;
    for (int k = 0; k < run->input_count; k++) {
        struct pw_tensor *t = &run->values[k].tensor;

        for (int64_t i = 0; run->in[k] && i < t->count && pw_dtype_is_float(t->dtype); i++)
            if (denormal(pw_tensor_get(t, i), t->dtype))
                pw_tensor_set(t, i, 0);
    }
    return PW_OK;
}

void liar_flush_outputs(struct liar_run *run)
{
    struct pw_tensor *t = &run->out[run->main];

    for (int64_t i = 0; i < t->count && pw_dtype_is_float(t->dtype); i++)
        if (denormal(pw_tensor_get(t, i), t->dtype))
            pw_tensor_set(t, i, 0);
}

pw_status liar_nan_inputs(struct liar_run *run, struct pw_error *err)
{
    (void)err;
    for (int k = 0; k < run->input_count; k++) {
        struct pw_tensor *t = &run->values[k].tensor;

        for (int64_t i = 0; run->in[k] && i < t->count && pw_dtype_is_float(t->dtype); i++)
            if (isnan(pw_tensor_get(t, i)))
                pw_tensor_set(t, i, 0);
    }
    return PW_OK;
}

pw_status liar_zero_sign(struct liar_run *run, struct pw_error *err)
{
    (void)err;
    for (int k = 0; k < run->input_count; k++) {
        struct pw_tensor *t = &run->values[k].tensor;

        for (int64_t i = 0; run->in[k] && i < t->count && pw_dtype_is_float(t->dtype); i++)
            if (pw_tensor_get(t, i) == 0)
                pw_tensor_set(t, i, 0);
    }
    return PW_OK;
}

static void replace_outputs(struct liar_run *run, bool infinite, double by)
{
    for (int o = 0; o < run->output_count; o++) {
        struct pw_tensor *t = &run->out[o];

        for (int64_t i = 0; i < t->count && pw_dtype_is_float(t->dtype); i++) {
            double x = pw_tensor_get(t, i);

            if (infinite ? isinf(x) : isnan(x))
                pw_tensor_set(t, i, by == HUGE_VAL ? copysign(pw_dtype_facts(t->dtype)->max, x) : by);
        }
    }
}

void liar_nan_lost(struct liar_run *run)
{
    replace_outputs(run, false, 0);
}

void liar_inf_to_max(struct liar_run *run)
{
    replace_outputs(run, true, HUGE_VAL);
}

void liar_inf_to_nan(struct liar_run *run)
{
    replace_outputs(run, true, NAN);
}

/* ---- softmax and variance ---- */

static bool overflows(double x, pw_dtype dtype)
{
    double most = dtype == PW_DTYPE_FLOAT64 ? 709.8 : 88.8;

    return x > most && isfinite(x);
}

/* Exponentials without the maximum taken off: a line with a large logit is Inf / Inf. */
pw_status liar_softmax_no_max(struct liar_run *run, struct pw_error *err)
{
    const struct pw_tensor *x = &run->values[0].tensor;
    int axis = (int)pw_call_int(&run->call, "axis");
    pw_status status = liar_honest(run, err);
    int64_t inner, length;

    if (status != PW_OK || x->count == 0)
        return status;
    axis += axis < 0 ? x->rank : 0;
    inner = pw_tensor_span(x, axis + 1, x->rank);
    length = x->dims[axis];
    for (int64_t i = 0; i < x->count; i++) {
        int64_t first = i / (inner * length) * inner * length + i % inner;

        for (int64_t j = 0; overflows(pw_tensor_get(x, i), x->dtype) && j < length; j++)
            pw_tensor_set(&run->out[0], first + j * inner, NAN);
    }
    return PW_OK;
}

/* The mean of the squares less the square of the mean, in float, over contiguous rows of `length`. */
static double naive_ratio(const struct pw_tensor *x, int64_t row, int64_t length, double epsilon)
{
    double mean = 0, variance = 0, naive;
    float sum = 0, squares = 0;

    for (int64_t i = 0; i < length; i++) {
        float v = (float)pw_tensor_get(x, row * length + i);

        mean += (double)v / (double)length;
        sum += v;
        squares += v * v;
    }
    for (int64_t i = 0; i < length; i++) {
        double v = pw_tensor_get(x, row * length + i) - mean;

        variance += v * v / (double)length;
    }
    naive = (double)(squares / (float)length - (sum / (float)length) * (sum / (float)length));
    return sqrt((variance + epsilon) / (naive + epsilon));
}

pw_status liar_naive_variance(struct liar_run *run, struct pw_error *err)
{
    const struct pw_tensor *x = &run->values[0].tensor, *b = liar_tensor(run, "B");
    bool layer = !strcmp(run->call.op->name, "LayerNormalization");
    int axis = layer ? (int)pw_call_int(&run->call, "axis") : 2;
    double epsilon = (double)pw_call_float(&run->call, "epsilon");
    pw_status status = liar_honest(run, err);
    int64_t length;

    if (status != PW_OK || x->count == 0)
        return status;
    axis += axis < 0 ? x->rank : 0;
    length = pw_tensor_span(x, axis, x->rank);
    for (int64_t row = 0; row < x->count / length; row++) {
        double ratio = naive_ratio(x, row, length, epsilon);

        for (int64_t i = 0; i < length; i++) {
            double shift = !b ? 0 : pw_tensor_get(b, layer ? i % b->count : row % b->count);
            double y = pw_tensor_get(&run->out[0], row * length + i);

            pw_tensor_set(&run->out[0], row * length + i, (y - shift) * ratio + shift);
        }
    }
    return PW_OK;
}
