/*
 * What must hold of draws, whoever drew them. Statistics allow six standard deviations (a right generator fails
 * one time in 10^9) and are asked for only where there are enough elements to say something.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "ops/random/random_room.h"

enum { ENOUGH = 64, SORTED_MOST = 1 << 20 };

#define SIGMAS 6.0
#define RARE 4.0       /* samples of a class that is hardly ever drawn: there may be many such classes */
#define KOLMOGOROV 2.5 /* sup |F - Fn| sqrt(n): exceeded one time in 10^5 */

static const struct pw_tensor *tensor_of(const struct pw_value *value)
{
    return value != NULL && value->kind == PW_VALUE_TENSOR ? &value->tensor : NULL;
}

/* ---- RandomUniform, RandomNormal ---- */

struct law {
    bool normal;
    double base, span; /* low and high - low, or mean and deviation */
    double slack;      /* absolute, of the storage's rounding */
};

static double expected_below(const struct law *law, double x)
{
    double at = (x - law->base) / law->span;

    return law->normal ? 0.5 * erfc(-at * M_SQRT1_2) : fmin(fmax(at, 0.0), 1.0);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov's distance to the law, after sorting. */
static pw_status check_law(const struct pw_call *call, const struct law *law, double *x, int64_t n,
                           struct pw_error *err)
{
    double worst = 0.0;

    qsort(x, (size_t)n, sizeof *x, compare_doubles);
    for (int64_t i = 0; i < n; i++) { /* rounding moves a value to either side of the law's point */
        double above = (double)(i + 1) / (double)n - expected_below(law, x[i] + law->slack);
        double below = expected_below(law, x[i] - law->slack) - (double)i / (double)n;

        worst = fmax(worst, fmax(above, below));
    }
    if (worst * sqrt((double)n) > KOLMOGOROV)
        return pw_call_error(call, err, "the draws are not %s: distance %.3g to the law with %" PRId64 " elements",
                             law->normal ? "normal" : "uniform", worst, n);
    return PW_OK;
}

/* An upper bound of the chance that a draw is one certain value: the storage's coarsest step where the law is densest,
 * and no finer than what makers of 22 bits draw. */
static double chance_of_one(const struct law *law, pw_dtype dtype)
{
    double largest = fabs(law->base) + (law->normal ? 6.0 : 1.0) * law->span;
    double densest = (law->normal ? 0.4 : 1.0) / law->span;

    return fmax(pw_dtype_epsilon(dtype) * largest * densest, 0x1p-22);
}

/* One value more often than chance allows (x is sorted): what was not drawn but left or filled in. */
static pw_status check_common(const struct pw_call *call, const double *x, int64_t n, double chance,
                              struct pw_error *err)
{
    double expected = (double)n * chance, most = expected + 2.0 * SIGMAS * (sqrt(expected) + 1.0);
    int64_t from = 0;

    for (int64_t i = 1; i <= n; i++) {
        if (i < n && x[i] == x[from])
            continue;
        if ((double)(i - from) > most)
            return pw_call_error(call, err, "%g was drawn %" PRId64 " times of %" PRId64 ", expected at most %.0f",
                                 x[from], i - from, n, most);
        from = i;
    }
    return PW_OK;
}

struct window { /* some draws in a row */
    uint64_t hash;
    int64_t at;
};

static int compare_windows(const void *a, const void *b)
{
    const struct window *x = a, *y = b;

    return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash) : (x->at > y->at) - (x->at < y->at);
}

/* Draws in a row that come twice, of a length that never does by chance: a row that was copied, not drawn. */
static pw_status check_copies(const struct pw_call *call, const double *x, int64_t n, double chance,
                              struct pw_error *err)
{
    int64_t length, count;
    struct window *windows;
    pw_status status = PW_OK;

    if (chance > 0.1)
        return PW_OK;
    length = (int64_t)ceil(log(0x1p-40 / ((double)n * (double)n)) / log(chance));
    count = n - length + 1;
    if (count < 2)
        return PW_OK;
    windows = pw_calloc((size_t)count, sizeof *windows);
    if (windows == NULL)
        return pw_error_memory(err, (size_t)count * sizeof *windows);
    for (int64_t i = 0; i < count; i++)
        windows[i] = (struct window){pw_hash64(x + i, (size_t)length * sizeof *x, 0), i};
    qsort(windows, (size_t)count, sizeof *windows, compare_windows);
    for (int64_t i = 1; i < count && status == PW_OK; i++)
        if (windows[i].hash == windows[i - 1].hash)
            status = pw_call_error(call, err, "%" PRId64 " draws in a row come at %" PRId64 " and again at %" PRId64,
                                   length, windows[i - 1].at, windows[i].at);
    pw_free(windows);
    return status;
}

static pw_status check_moments(const struct pw_call *call, const struct law *law, const double *x, int64_t n,
                               struct pw_error *err)
{
    double deviation = law->normal ? law->span : law->span / sqrt(12.0), root = sqrt((double)n);
    double center = law->normal ? law->base : law->base + 0.5 * law->span, sum = 0.0, squares = 0.0, lagged = 0.0;
    double kurtosis = law->normal ? 3.0 : 1.8, variance = deviation * deviation, mean, spread, correlation;

    for (int64_t i = 0; i < n; i++) {
        sum += x[i] - center;
        squares += (x[i] - center) * (x[i] - center);
        lagged += i > 0 ? (x[i] - center) * (x[i - 1] - center) : 0.0;
    }
    mean = sum / (double)n;
    spread = squares / (double)n;
    correlation = lagged / squares;
    if (fabs(mean) > SIGMAS * deviation / root + law->slack)
        return pw_call_error(call, err, "the mean of %" PRId64 " draws is off by %.3g, expected about %.3g", n, mean,
                             deviation / root);
    if (fabs(spread - variance) > SIGMAS * variance * sqrt(kurtosis - 1.0) / root + 4.0 * deviation * law->slack)
        return pw_call_error(call, err, "the variance of %" PRId64 " draws is %.6g, expected %.6g", n, spread,
                             variance);
    if (fabs(correlation) > SIGMAS / root)
        return pw_call_error(call, err, "neighbouring draws have a correlation of %.3g", correlation);
    return PW_OK;
}

static void read_law(const struct pw_call *call, struct law *law)
{
    double low = (double)pw_call_float(call, "low"), high = (double)pw_call_float(call, "high");

    law->base = law->normal ? (double)pw_call_float(call, "mean") : fmin(low, high);
    law->span = fabs(law->normal ? (double)pw_call_float(call, "scale") : high - low);
}

pw_status pw_random_fill_property(const struct pw_call *call, const struct pw_value *const *in,
                                  const struct pw_value *out, struct pw_error *err)
{
    const struct pw_random_form *form = call->op->data;
    const struct pw_tensor *y = tensor_of(&out[0]);
    struct law law = {.normal = form->kind == PW_RANDOM_NORMAL};
    double *x = NULL, low, high, chance;
    int64_t count;
    pw_status status = PW_OK;

    (void)in;
    read_law(call, &law);
    if (y == NULL || y->count == 0)
        return PW_OK;
    law.slack = pw_dtype_epsilon(y->nominal) * (fabs(law.base) + law.span);
    low = law.base - law.slack;
    high = law.base + law.span + law.slack;
    for (int64_t i = 0; i < y->count; i++) {
        double value = pw_tensor_get(y, i);

        if (!isfinite(value) || (!law.normal && (value < low || value > high)))
            return pw_call_error(call, err, "element %" PRId64 " is %g, which cannot be drawn", i, value);
    }
    if (y->count < ENOUGH || law.span == 0.0)
        return PW_OK;
    x = pw_calloc((size_t)y->count, sizeof *x);
    if (x == NULL)
        return pw_error_memory(err, (size_t)y->count * sizeof *x);
    pw_tensor_load(y, 0, y->count, x);
    count = y->count < SORTED_MOST ? y->count : SORTED_MOST;
    chance = chance_of_one(&law, y->nominal);
    status = check_moments(call, &law, x, y->count, err);
    if (status == PW_OK)
        status = check_copies(call, x, count, chance, err);
    if (status == PW_OK)
        status = check_law(call, &law, x, count, err); /* sorts them */
    if (status == PW_OK)
        status = check_common(call, x, count, chance, err);
    pw_free(x);
    return status;
}

/* ---- counts of events ---- */

/* Were as many events seen as their probabilities' sum says? `variance` is the sum of p (1 - p). */
static pw_status check_count(const struct pw_call *call, const char *what, double seen, double expected,
                             double variance, double slack, struct pw_error *err)
{
    if (fabs(seen - expected) <= SIGMAS * sqrt(variance) + slack)
        return PW_OK;
    return pw_call_error(call, err, "%s: %.0f, expected about %.1f", what, seen, expected);
}

pw_status pw_random_bernoulli_property(const struct pw_call *call, const struct pw_value *const *in,
                                       const struct pw_value *out, struct pw_error *err)
{
    const struct pw_tensor *p = tensor_of(in[0]), *y = tensor_of(&out[0]);
    double seen = 0.0, expected = 0.0, variance = 0.0;

    if (p == NULL || y == NULL || p->count != y->count)
        return pw_call_error(call, err, "the output is not of the input's shape");
    for (int64_t i = 0; i < y->count; i++) {
        double probability = pw_tensor_get(p, i), value = pw_tensor_get(y, i);

        if (value != 0.0 && value != 1.0)
            return pw_call_error(call, err, "element %" PRId64 " is %g, neither 0 nor 1", i, value);
        if ((probability <= 0.0 && value != 0.0) || (probability >= 1.0 && value != 1.0))
            return pw_call_error(call, err, "element %" PRId64 " is %g, drawn with probability %g", i, value,
                                 probability);
        probability = fmin(fmax(probability, 0.0), 1.0);
        seen += value;
        expected += probability;
        variance += probability * (1.0 - probability);
    }
    return check_count(call, "ones", seen, expected, variance, 1.0, err);
}

/* One row of classes against its samples. */
static pw_status check_row(const struct pw_call *call, const struct pw_tensor *logits, const struct pw_tensor *y,
                           int64_t row, double *seen, struct pw_error *err)
{
    int64_t classes = logits->dims[1], samples = y->dims[1];
    double max = -INFINITY, total = 0.0;
    pw_status status = PW_OK;

    for (int64_t c = 0; c < classes; c++) {
        seen[c] = 0.0;
        max = fmax(max, pw_tensor_get(logits, row * classes + c));
    }
    for (int64_t s = 0; s < samples; s++) {
        int64_t c = pw_tensor_get_int(y, row * samples + s);

        if (c < 0 || c >= classes)
            return pw_call_error(call, err, "sample %" PRId64 " of row %" PRId64 " is class %" PRId64 " of %" PRId64, s,
                                 row, c, classes);
        seen[c] += 1.0;
    }
    if (!isfinite(max))
        return PW_OK; /* no law to hold */
    for (int64_t c = 0; c < classes; c++)
        total += exp(pw_tensor_get(logits, row * classes + c) - max);
    for (int64_t c = 0; c < classes && status == PW_OK; c++) {
        double p = exp(pw_tensor_get(logits, row * classes + c) - max) / total, expected = p * (double)samples;

        if (p == 0.0 && seen[c] > 0.0)
            return pw_call_error(call, err, "class %" PRId64 " of row %" PRId64 " was drawn with probability 0", c,
                                 row);
        status = check_count(call, "samples of a class", seen[c], expected, expected * (1.0 - p), RARE, err);
    }
    return status;
}

pw_status pw_random_multinomial_property(const struct pw_call *call, const struct pw_value *const *in,
                                         const struct pw_value *out, struct pw_error *err)
{
    const struct pw_tensor *logits = tensor_of(in[0]), *y = tensor_of(&out[0]);
    double *seen = NULL;
    pw_status status = PW_OK;

    if (logits == NULL || y == NULL || logits->rank != 2 || y->rank != 2 || logits->dims[0] != y->dims[0])
        return pw_call_error(call, err, "the output is not of the shape [batch, sample_size]");
    seen = pw_calloc((size_t)logits->dims[1] + 1, sizeof *seen);
    if (seen == NULL)
        return pw_error_memory(err, (size_t)logits->dims[1] * sizeof *seen);
    for (int64_t row = 0; row < y->dims[0] && status == PW_OK; row++)
        status = check_row(call, logits, y, row, seen, err);
    pw_free(seen);
    return status;
}

/* ---- Dropout ---- */

/* Is y the kept x, dropped, or neither? An x of 0, or so small that it may round to 0, is both. */
static pw_status check_element(const struct pw_call *call, int64_t i, double x, double y, double scale, double slack,
                               const struct pw_dtype_facts *facts, const struct pw_tensor *mask, bool *dropped,
                               bool *counts, struct pw_error *err)
{
    double wanted = x * scale, step = slack * facts->min_normal; /* below it numbers lie no closer */
    bool kept = y == wanted || (isnan(y) && isnan(wanted)) || fabs(y - wanted) <= slack * fabs(wanted) ||
                fabs(y - wanted) <= step || (isinf(y) && fabs(wanted) > facts->max && (y > 0.0) == (wanted > 0.0));

    if (!kept && y != 0.0)
        return pw_call_error(call, err, "element %" PRId64 " is %g, neither 0 nor %g (%g * %g)", i, y, wanted, x,
                             scale);
    *dropped = !kept;
    *counts = x != 0.0 && !(fabs(wanted) <= step);
    if (mask == NULL)
        return PW_OK;
    if (pw_tensor_get(mask, i) != 0.0 && pw_tensor_get(mask, i) != 1.0)
        return pw_call_error(call, err, "mask element %" PRId64 " is %g", i, pw_tensor_get(mask, i));
    if (*counts && (pw_tensor_get(mask, i) == 0.0) != *dropped)
        return pw_call_error(call, err, "mask element %" PRId64 " is %g, but the output is %g for an input of %g", i,
                             pw_tensor_get(mask, i), y, x);
    *dropped = pw_tensor_get(mask, i) == 0.0;
    *counts = true;
    return PW_OK;
}

pw_status pw_dropout_property(const struct pw_call *call, const struct pw_value *const *in, const struct pw_value *out,
                              struct pw_error *err)
{
    const struct pw_tensor *x = tensor_of(in[0]), *y = tensor_of(&out[0]);
    const struct pw_tensor *mask = call->output_count > 1 && call->wanted[1] ? tensor_of(&out[1]) : NULL;
    double scale = 1.0, ratio = 0.0, slack, counted = 0.0, seen = 0.0;
    struct pw_dropout dropout;
    pw_status status = pw_dropout_read(call, &dropout, err);

    if (status != PW_OK || !dropout.known)
        return status;
    if (x == NULL || y == NULL || x->count != y->count || (mask != NULL && mask->count != x->count))
        return pw_call_error(call, err, "the outputs are not of the input's shape");
    if (dropout.drops) {
        ratio = dropout.ratio;
        scale = 1.0 / (1.0 - ratio);
    }
    slack = dropout.drops ? 2.0 * pw_dtype_epsilon(y->nominal) : 0.0;
    for (int64_t i = 0; i < x->count; i++) {
        bool dropped = false, counts = false;

        status = check_element(call, i, pw_tensor_get(x, i), pw_tensor_get(y, i), scale, slack,
                               pw_dtype_facts(y->nominal), mask, &dropped, &counts, err);
        if (status != PW_OK)
            return status;
        seen += dropped && counts;
        counted += counts;
    }
    if (!dropout.drops && seen > 0.0)
        return pw_call_error(call, err, "%.0f elements were dropped in inference", seen);
    return check_count(call, "dropped elements", seen, ratio * counted, counted * ratio * (1.0 - ratio), 1.0, err);
}
