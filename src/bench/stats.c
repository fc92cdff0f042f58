/* Sets of samples: medians and their intervals, bootstrap, Holm, proportions. */
#include "bench/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/random.h"
#include "bench/stats_internal.h"

#define REPLICATES_DEFAULT 2000
#define REPLICATES_MAX 100000
#define MAD_TO_SD 1.4826022185056018 /* 1 / the 3/4 quantile of the normal distribution */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void pw_stats_sort(double *values, size_t count)
{
    if (count > 1)
        qsort(values, count, sizeof *values, by_value);
}

double pw_stats_middle(const double *sorted, size_t count)
{
    if (count == 0)
        return NAN;
    return count % 2 ? sorted[count / 2] : sorted[count / 2 - 1] / 2 + sorted[count / 2] / 2;
}

pw_status pw_stats_check(const double *samples, size_t count, const char *what, struct pw_error *err)
{
    if (count < 1 || count > PW_STATS_SAMPLES_MAX)
        return pw_error_set(err, PW_ERR_USAGE, "%s: %zu samples, expected 1 to %d", what, count, PW_STATS_SAMPLES_MAX);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(samples[i]) || samples[i] <= 0)
            return pw_error_set(err, PW_ERR_USAGE, "%s: sample %zu is %g, not a positive number", what, i, samples[i]);
    return PW_OK;
}

static double *sorted_copy(const double *samples, size_t count)
{
    double *copy = pw_calloc(count + 1, sizeof *copy);

    if (copy) {
        if (count > 0)
            memcpy(copy, samples, count * sizeof *copy);
        pw_stats_sort(copy, count);
    }
    return copy;
}

static double *from_ns(const int64_t *samples, size_t count)
{
    double *copy = pw_calloc(count + 1, sizeof *copy);

    for (size_t i = 0; copy && i < count; i++)
        copy[i] = (double)samples[i];
    return copy;
}

double pw_stats_median(const double *samples, size_t count)
{
    double *sorted = sorted_copy(samples, count), median;

    if (!sorted)
        return NAN;
    median = pw_stats_middle(sorted, count);
    pw_free(sorted);
    return median;
}

double pw_stats_median_ns(const int64_t *samples, size_t count)
{
    double *copy = from_ns(samples, count), median;

    if (!copy)
        return NAN;
    pw_stats_sort(copy, count);
    median = pw_stats_middle(copy, count);
    pw_free(copy);
    return median;
}

/* P(X <= k) for X binomial of n fair coins. */
static double fair_coins(size_t n, double k)
{
    double sum = 0;

    for (double i = 0; i <= k; i++)
        sum += exp(lgamma((double)n + 1) - lgamma(i + 1) - lgamma((double)n - i + 1) - (double)n * M_LN2);
    return sum;
}

/* The median lies between the order statistics k and n-1-k (from 0) but with probability 2 P(X <= k). */
static void median_interval(const double *sorted, size_t count, double confidence, struct pw_stats_summary *out)
{
    size_t k = 0;
    double outside = 2 * fair_coins(count, 0);

    while (2 * (k + 1) < count - 1) {
        double next = 2 * fair_coins(count, (double)(k + 1));

        if (1 - next < confidence)
            break;
        outside = next;
        k++;
    }
    out->low = sorted[k];
    out->high = sorted[count - 1 - k];
    out->confidence = outside < 1 ? 1 - outside : 0;
}

/* Linear between the closest ranks (Hyndman and Fan's type 7). */
double pw_stats_quantile(const double *sorted, size_t count, double q)
{
    double at = q * (double)(count - 1), below = floor(at);
    size_t i = (size_t)below;

    return i + 1 < count ? sorted[i] + (at - below) * (sorted[i + 1] - sorted[i]) : sorted[count - 1];
}

pw_status pw_stats_summarize(const double *samples, size_t count, double confidence, struct pw_stats_summary *out,
                             struct pw_error *err)
{
    pw_status status = pw_stats_check(samples, count, "summary", err);
    struct pw_stats_summary made = {.count = count};
    double *sorted;

    if (status != PW_OK)
        return status;
    sorted = sorted_copy(samples, count);
    if (!sorted)
        return pw_error_memory(err, count * sizeof *sorted);
    made.median = pw_stats_middle(sorted, count);
    made.min = sorted[0];
    made.max = sorted[count - 1];
    made.q1 = pw_stats_quantile(sorted, count, 0.25);
    made.q3 = pw_stats_quantile(sorted, count, 0.75);
    median_interval(sorted, count, confidence, &made);
    for (size_t i = 0; i < count; i++)
        sorted[i] = fabs(sorted[i] - made.median);
    pw_stats_sort(sorted, count);
    made.spread = MAD_TO_SD * pw_stats_middle(sorted, count);
    *out = made;
    pw_free(sorted);
    return PW_OK;
}

pw_status pw_stats_summarize_ns(const int64_t *samples, size_t count, double confidence, struct pw_stats_summary *out,
                                struct pw_error *err)
{
    double *copy = from_ns(samples, count);
    pw_status status;

    if (!copy)
        return pw_error_memory(err, count * sizeof *copy);
    status = pw_stats_summarize(copy, count, confidence, out, err);
    pw_free(copy);
    return status;
}

/* ---- bootstrap ---- */

static double resampled_median(const double *from, size_t count, double *scratch, uint64_t seed, uint64_t stream)
{
    for (size_t i = 0; i < count; i++)
        scratch[i] = from[((uint64_t)pw_random_u32(seed, stream, i) * count) >> 32];
    pw_stats_sort(scratch, count);
    return pw_stats_middle(scratch, count);
}

pw_status pw_stats_bootstrap_ratio(const double *a, size_t a_count, const double *b, size_t b_count, double confidence,
                                   int replicates, uint64_t seed, struct pw_stats_interval *out, struct pw_error *err)
{
    size_t largest = a_count > b_count ? a_count : b_count;
    double *scratch = NULL, *ratios = NULL, tail = (1 - confidence) / 2;
    pw_status status = pw_stats_check(a, a_count, "bootstrap", err);

    if (status == PW_OK)
        status = pw_stats_check(b, b_count, "bootstrap", err);
    if (status != PW_OK)
        return status;
    replicates = replicates <= 0 ? REPLICATES_DEFAULT : replicates > REPLICATES_MAX ? REPLICATES_MAX : replicates;
    scratch = pw_calloc(largest, sizeof *scratch);
    ratios = pw_calloc((size_t)replicates, sizeof *ratios);
    if (!scratch || !ratios) {
        status = pw_error_memory(err, largest * sizeof *scratch);
        goto done;
    }
    for (int i = 0; i < replicates; i++)
        ratios[i] = resampled_median(b, b_count, scratch, seed, 2 * (uint64_t)i + 1) /
                    resampled_median(a, a_count, scratch, seed, 2 * (uint64_t)i);
    pw_stats_sort(ratios, (size_t)replicates);
    *out = (struct pw_stats_interval){.value = pw_stats_median(b, b_count) / pw_stats_median(a, a_count),
                                      .low = pw_stats_quantile(ratios, (size_t)replicates, tail),
                                      .high = pw_stats_quantile(ratios, (size_t)replicates, 1 - tail),
                                      .confidence = confidence};
done:
    pw_free(scratch);
    pw_free(ratios);
    return status;
}

/* ---- many tests, and proportions ---- */

pw_status pw_stats_holm(double *p, size_t count, struct pw_error *err)
{
    double *sorted = pw_calloc(count + 1, sizeof *sorted), *adjusted;
    size_t tests = 0;

    if (!sorted)
        return pw_error_memory(err, count * sizeof *sorted);
    adjusted = pw_calloc(count + 1, sizeof *adjusted);
    if (!adjusted) {
        pw_free(sorted);
        return pw_error_memory(err, count * sizeof *adjusted);
    }
    for (size_t i = 0; i < count; i++)
        if (!isnan(p[i]))
            sorted[tests++] = p[i];
    pw_stats_sort(sorted, tests);
    for (size_t i = 0; i < tests; i++) {
        double scaled = sorted[i] * (double)(tests - i);

        scaled = scaled > 1 ? 1 : scaled;
        adjusted[i] = i > 0 && adjusted[i - 1] > scaled ? adjusted[i - 1] : scaled;
    }
    for (size_t i = 0; i < count; i++) {
        /* Equal p-values stand side by side; the last one's factor is the smallest, the running maximum the same. */
        const double *found = isnan(p[i]) ? NULL : bsearch(&p[i], sorted, tests, sizeof *sorted, by_value);

        if (found) {
            size_t at = (size_t)(found - sorted);

            while (at > 0 && sorted[at - 1] == p[i])
                at--;
            p[i] = adjusted[at];
        }
    }
    pw_free(sorted);
    pw_free(adjusted);
    return PW_OK;
}

/* P(X <= k), X binomial(n, p). */
static double binomial(size_t n, double k, double p)
{
    double sum = 0;

    for (double i = 0; i <= k; i++)
        sum += exp(lgamma((double)n + 1) - lgamma(i + 1) - lgamma((double)n - i + 1) + i * log(p) +
                   ((double)n - i) * log1p(-p));
    return sum;
}

/* The p at which P(X <= k) falls to `target`; it falls from 1 to 0 as p grows. */
static double solve(size_t n, double k, double target)
{
    double low = 0, high = 1;

    for (int i = 0; i < 60; i++) {
        double middle = low / 2 + high / 2;

        if (binomial(n, k, middle) > target)
            low = middle;
        else
            high = middle;
    }
    return low / 2 + high / 2;
}

struct pw_stats_interval pw_stats_proportion(size_t hits, size_t count, double confidence)
{
    double tail = (1 - confidence) / 2;
    struct pw_stats_interval out = {.value = NAN, .low = 0, .high = 1, .confidence = confidence};

    if (count == 0 || hits > count)
        return out;
    out.value = (double)hits / (double)count;
    if (hits > 0)
        out.low = solve(count, (double)hits - 1, 1 - tail);
    if (hits < count)
        out.high = solve(count, (double)hits, tail);
    return out;
}
