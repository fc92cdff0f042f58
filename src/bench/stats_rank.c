/*
 * Rank tests. The exact distributions are counted, not tabled: ranks are doubled (midranks of ties become
 * whole), and a table counts in how many ways a subset of them has each sum. That is the permutation
 * distribution given the ties that are there. Counts are doubles: C(32,16) is 6e8, their rounding is harmless.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "bench/stats.h"
#include "bench/stats_internal.h"

#define EXACT_UNPAIRED 32 /* samples together */
#define EXACT_PAIRED 60
#define PAIRS_MAX 512 /* a side, in Hodges-Lehmann: more are thinned to quantiles */

static double normal_tail(double z)
{
    return 0.5 * erfc(z / M_SQRT2);
}

/* Doubled midranks of sorted values; returns the sum of t^3 - t over the ties. */
static double doubled_ranks(const double *sorted, size_t count, int *ranks)
{
    double ties = 0;

    for (size_t i = 0; i < count;) {
        size_t end = i;

        while (end < count && sorted[end] == sorted[i])
            end++;
        for (size_t j = i; j < end; j++)
            ranks[j] = (int)(i + end + 1); /* twice the mean of i+1 .. end */
        double t = (double)(end - i);
        ties += t * t * t - t;
        i = end;
    }
    return ties;
}

static void finish(struct pw_stats_rank *out)
{
    double p = 2 * (out->p_greater < out->p_less ? out->p_greater : out->p_less);

    out->p = p > 1 ? 1 : p;
    out->p_greater = out->p_greater > 1 ? 1 : out->p_greater;
    out->p_less = out->p_less > 1 ? 1 : out->p_less;
}

/* ---- Mann-Whitney ---- */

/* ways[k * width + s]: subsets of k of the ranks with sum s. */
static double *count_subsets(const int *ranks, size_t count, size_t pick, size_t *width)
{
    size_t total = 0, sum = 0;
    double *ways;

    for (size_t i = 0; i < count; i++)
        total += (size_t)ranks[i];
    *width = total + 1;
    ways = pw_calloc(pick + 1, *width * sizeof *ways);
    if (!ways)
        return NULL;
    ways[0] = 1;
    for (size_t i = 0; i < count; i++) {
        size_t rank = (size_t)ranks[i];

        sum += rank;
        for (size_t k = i + 1 < pick ? i + 1 : pick; k > 0; k--)
            for (size_t s = sum; s >= rank; s--) {
                ways[k * *width + s] += ways[(k - 1) * *width + s - rank];
                if (s == 0)
                    break;
            }
    }
    return ways;
}

static pw_status exact_unpaired(const int *ranks, size_t count, size_t pick, size_t found, struct pw_stats_rank *out,
                                struct pw_error *err)
{
    bool other = pick > count - pick; /* the smaller set is counted: its sum says as much */
    size_t width, total = 0;
    double *ways, all = 0, below = 0, above = 0;

    for (size_t i = 0; i < count; i++)
        total += (size_t)ranks[i];
    pick = other ? count - pick : pick;
    found = other ? total - found : found;
    ways = count_subsets(ranks, count, pick, &width);
    if (!ways)
        return pw_error_memory(err, count * count * count);
    for (size_t s = 0; s < width; s++) {
        double w = ways[pick * width + s];

        all += w;
        below += s <= found ? w : 0;
        above += s >= found ? w : 0;
    }
    out->p_greater = (other ? below : above) / all;
    out->p_less = (other ? above : below) / all;
    out->exact = true;
    pw_free(ways);
    return PW_OK;
}

/* Sorts the union and notes how much of the ranks b has. */
static double *join(const double *a, size_t a_count, const double *b, size_t b_count)
{
    double *sorted = pw_calloc(a_count + b_count, sizeof *sorted);

    if (sorted) {
        memcpy(sorted, a, a_count * sizeof *a);
        memcpy(sorted + a_count, b, b_count * sizeof *b);
        pw_stats_sort(sorted, a_count + b_count);
    }
    return sorted;
}

static size_t first_at_least(const double *sorted, size_t count, double value)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (sorted[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

pw_status pw_stats_mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count,
                                struct pw_stats_rank *out, struct pw_error *err)
{
    size_t count = a_count + b_count, found = 0;
    struct pw_stats_rank made = {.p = 1};
    double *sorted = NULL, n = (double)count, ties;
    int *ranks = NULL;
    pw_status status = pw_stats_check(a, a_count, "rank test", err);

    if (status == PW_OK)
        status = pw_stats_check(b, b_count, "rank test", err);
    if (status != PW_OK)
        return status;
    sorted = join(a, a_count, b, b_count);
    ranks = pw_calloc(count, sizeof *ranks);
    if (!sorted || !ranks) {
        status = pw_error_memory(err, count * sizeof *sorted);
        goto done;
    }
    ties = doubled_ranks(sorted, count, ranks);
    for (size_t i = 0; i < b_count; i++)
        found += (size_t)ranks[first_at_least(sorted, count, b[i])];
    made.u = ((double)found - (double)b_count * ((double)b_count + 1)) / 2;
    if (count <= EXACT_UNPAIRED) {
        status = exact_unpaired(ranks, count, b_count, found, &made, err);
    } else {
        double product = (double)a_count * (double)b_count;
        double sd = sqrt(product / 12 * (n + 1 - ties / (n * (n - 1))));
        double off = made.u - product / 2;

        /* With a correction for continuity, as the sums are whole or half. */
        made.p_greater = sd > 0 ? normal_tail((off - 0.5) / sd) : 1;
        made.p_less = sd > 0 ? normal_tail((-off - 0.5) / sd) : 1;
    }
    if (status == PW_OK) {
        finish(&made);
        *out = made;
    }
done:
    pw_free(sorted);
    pw_free(ranks);
    return status;
}

/* ---- Hodges-Lehmann ---- */

/* Logarithms, thinned to at most PAIRS_MAX evenly spread quantiles; *count changes. */
static double *logarithms(const double *samples, size_t *count)
{
    double *sorted = pw_calloc(*count, sizeof *sorted);

    if (!sorted)
        return NULL;
    for (size_t i = 0; i < *count; i++)
        sorted[i] = log(samples[i]);
    pw_stats_sort(sorted, *count);
    if (*count > PAIRS_MAX) {
        for (size_t i = 0; i < PAIRS_MAX; i++)
            sorted[i] = sorted[(2 * i + 1) * *count / (2 * PAIRS_MAX)];
        *count = PAIRS_MAX;
    }
    return sorted;
}

/* The largest number of pairs k that may be cut from each end: P(U <= k - 1) <= tail. *reached: the confidence. */
static pw_status cut_unpaired(size_t m, size_t n, double confidence, size_t *cut, double *reached, struct pw_error *err)
{
    double tail = (1 - confidence) / 2;

    *cut = 0;
    *reached = 1;
    if (m + n > EXACT_UNPAIRED) {
        double mn = (double)m * (double)n, z = 0;

        while (normal_tail(z) > tail)
            z += 0.001;
        double k = floor(mn / 2 - z * sqrt(mn * (double)(m + n + 1) / 12));
        *cut = k > 0 ? (size_t)k : 0;
        *reached = confidence;
        return PW_OK;
    }
    int ranks[EXACT_UNPAIRED];
    if (n > m) { /* the distribution is the same: count the smaller set */
        size_t larger = n;
        n = m;
        m = larger;
    }
    size_t width, least = n * (n + 1); /* doubled sum of the n smallest ranks: U = 0 */
    double all = 0, below = 0;
    for (size_t i = 0; i < m + n; i++)
        ranks[i] = 2 * (int)(i + 1);
    double *ways = count_subsets(ranks, m + n, n, &width);
    if (!ways)
        return pw_error_memory(err, width * n);
    for (size_t s = 0; s < width; s++)
        all += ways[n * width + s];
    for (size_t u = 0; 2 * u < m * n; u++) {
        below += ways[n * width + least + 2 * u] / all;
        if (below > tail)
            break;
        *cut = u + 1;
        *reached = 1 - 2 * below;
    }
    pw_free(ways);
    return PW_OK;
}

/* Of sorted logarithmic differences: the median, and what is left when `cut` are taken from each end. */
static void take_interval(const double *sorted, size_t count, size_t cut, double reached, struct pw_stats_interval *out)
{
    /* Cut k: the interval runs from the k-th smallest (from 1) to the k-th largest. None to cut: it is not bounded. */
    out->value = exp(pw_stats_middle(sorted, count));
    out->low = cut > 0 ? exp(sorted[cut - 1]) : 0;
    out->high = cut > 0 ? exp(sorted[count - cut]) : INFINITY;
    out->confidence = reached;
}

pw_status pw_stats_ratio(const double *a, size_t a_count, const double *b, size_t b_count, double confidence,
                         struct pw_stats_interval *out, struct pw_error *err)
{
    double *la = NULL, *lb = NULL, *differences = NULL, reached;
    size_t m = a_count, n = b_count, cut;
    pw_status status = pw_stats_check(a, a_count, "ratio", err);

    if (status == PW_OK)
        status = pw_stats_check(b, b_count, "ratio", err);
    if (status != PW_OK)
        return status;
    la = logarithms(a, &m);
    lb = logarithms(b, &n);
    differences = pw_calloc(m * n, sizeof *differences);
    if (!la || !lb || !differences) {
        status = pw_error_memory(err, m * n * sizeof *differences);
        goto done;
    }
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            differences[i * n + j] = lb[j] - la[i];
    pw_stats_sort(differences, m * n);
    status = cut_unpaired(m, n, confidence, &cut, &reached, err);
    if (status == PW_OK)
        take_interval(differences, m * n, cut, reached, out);
done:
    pw_free(la);
    pw_free(lb);
    pw_free(differences);
    return status;
}

/* ---- pairs ---- */

/* ways[s]: sign patterns whose positive doubled ranks sum to s. */
static double *count_signs(const int *ranks, size_t count, size_t *width)
{
    size_t total = 0, sum = 0;
    double *ways;

    for (size_t i = 0; i < count; i++)
        total += (size_t)ranks[i];
    *width = total + 1;
    ways = pw_calloc(*width, sizeof *ways);
    if (!ways)
        return NULL;
    ways[0] = 1;
    for (size_t i = 0; i < count; i++) {
        size_t rank = (size_t)ranks[i];

        sum += rank;
        for (size_t s = sum + 1; s-- > rank;)
            ways[s] += ways[s - rank];
    }
    return ways;
}

static pw_status signed_ranks(const double *differences, size_t count, struct pw_stats_rank *out, struct pw_error *err)
{
    struct pw_stats_rank made = {.p = 1, .p_greater = 1, .p_less = 1, .exact = true};
    double *sizes = pw_calloc(count + 1, sizeof *sizes), n, ties;
    int *ranks = pw_calloc(count + 1, sizeof *ranks);
    size_t used = 0, positive = 0;
    pw_status status = PW_OK;

    if (!sizes || !ranks) {
        status = pw_error_memory(err, count * sizeof *sizes);
        goto done;
    }
    for (size_t i = 0; i < count; i++)
        if (differences[i] != 0)
            sizes[used++] = fabs(differences[i]);
    pw_stats_sort(sizes, used);
    ties = doubled_ranks(sizes, used, ranks);
    for (size_t i = 0; i < count; i++)
        if (differences[i] > 0)
            positive += (size_t)ranks[first_at_least(sizes, used, differences[i])];
    made.u = (double)positive / 2;
    n = (double)used;
    if (used > 0 && used <= EXACT_PAIRED) {
        size_t width;
        double *ways = count_signs(ranks, used, &width), scale = exp2(-n), below = 0, above = 0;

        if (!ways) {
            status = pw_error_memory(err, used * used);
            goto done;
        }
        for (size_t s = 0; s < width; s++) {
            below += s <= positive ? ways[s] * scale : 0;
            above += s >= positive ? ways[s] * scale : 0;
        }
        made.p_greater = above;
        made.p_less = below;
        pw_free(ways);
    } else if (used > 0) {
        double sd = sqrt(n * (n + 1) * (2 * n + 1) / 24 - ties / 48), off = made.u - n * (n + 1) / 4;

        made.p_greater = normal_tail((off - 0.5) / sd);
        made.p_less = normal_tail((-off - 0.5) / sd);
        made.exact = false;
    }
    finish(&made);
    *out = made;
done:
    pw_free(sizes);
    pw_free(ranks);
    return status;
}

static pw_status cut_paired(size_t n, double confidence, size_t *cut, double *reached, struct pw_error *err)
{
    double tail = (1 - confidence) / 2, below = 0;

    *cut = 0;
    *reached = 1;
    if (n > EXACT_PAIRED) {
        double z = 0, d = (double)n;

        while (normal_tail(z) > tail)
            z += 0.001;
        double k = floor(d * (d + 1) / 4 - z * sqrt(d * (d + 1) * (2 * d + 1) / 24));
        *cut = k > 0 ? (size_t)k : 0;
        *reached = confidence;
        return PW_OK;
    }
    int ranks[EXACT_PAIRED];
    size_t width;
    for (size_t i = 0; i < n; i++)
        ranks[i] = (int)(i + 1);
    double *ways = count_signs(ranks, n, &width);
    if (!ways)
        return pw_error_memory(err, n * n);
    for (size_t s = 0; 2 * s < width; s++) {
        below += ways[s] * exp2(-(double)n);
        if (below > tail)
            break;
        *cut = s + 1;
        *reached = 1 - 2 * below;
    }
    pw_free(ways);
    return PW_OK;
}

/* The Hodges-Lehmann pseudomedian: the median of all means of two differences (Walsh averages). */
static pw_status pseudomedian(const double *differences, size_t count, double confidence, struct pw_stats_interval *out,
                              struct pw_error *err)
{
    size_t averages = count * (count + 1) / 2, at = 0, cut;
    double *walsh = pw_calloc(averages, sizeof *walsh), reached;
    pw_status status;

    if (!walsh)
        return pw_error_memory(err, averages * sizeof *walsh);
    for (size_t i = 0; i < count; i++)
        for (size_t j = i; j < count; j++)
            walsh[at++] = differences[i] / 2 + differences[j] / 2;
    pw_stats_sort(walsh, averages);
    status = cut_paired(count, confidence, &cut, &reached, err);
    if (status == PW_OK)
        take_interval(walsh, averages, cut, reached, out);
    pw_free(walsh);
    return status;
}

pw_status pw_stats_paired(const double *a, const double *b, size_t count, double confidence, struct pw_stats_rank *rank,
                          struct pw_stats_interval *out, struct pw_error *err)
{
    double *differences = NULL;
    pw_status status = pw_stats_check(a, count, "paired test", err);

    if (status == PW_OK)
        status = pw_stats_check(b, count, "paired test", err);
    if (status != PW_OK)
        return status;
    differences = pw_calloc(count, sizeof *differences);
    if (!differences)
        return pw_error_memory(err, count * sizeof *differences);
    for (size_t i = 0; i < count; i++)
        differences[i] = log(b[i] / a[i]);
    if (rank)
        status = signed_ranks(differences, count, rank, err);
    if (status == PW_OK && out) {
        size_t used = count;

        if (count > PAIRS_MAX) { /* thinned to quantiles, as the other */
            pw_stats_sort(differences, count);
            for (size_t i = 0; i < PAIRS_MAX; i++)
                differences[i] = differences[(2 * i + 1) * count / (2 * PAIRS_MAX)];
            used = PAIRS_MAX;
        }
        status = pseudomedian(differences, used, confidence, out, err);
    }
    pw_free(differences);
    return status;
}
