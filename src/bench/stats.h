/*
 * Statistics of timings: medians with intervals, rank tests, and the one rule by which a change is called
 * faster, slower, same or inconclusive. The benchmarks, the gate and its study all call this and nothing else.
 *
 * Timings are skewed, have outliers and ties, so everything here is rank-based: no distribution is assumed.
 * Samples are positive finite numbers (ns, or ratios of two times). A sample should be a slice of its own
 * (the median of what one slice measured), because runs of one slice share the machine's mood.
 * Pure functions, thread-safe; they allocate scratch and fail only for lack of memory or bad arguments.
 */
#ifndef PW_BENCH_STATS_H
#define PW_BENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PW_STATS_SAMPLES_MIN 9     /* fewer never decide anything */
#define PW_STATS_SAMPLES_MAX 65536 /* in one set */
#define PW_STATS_CONFIDENCE 0.95

/* ---- one set ---- */

struct pw_stats_summary {
    size_t count;
    double median;
    double low, high;  /* of the median: order statistics, distribution-free (binomial) */
    double confidence; /* what [low, high] really covers: at least what was asked when count suffices, else of all */
    double q1, q3;
    double spread; /* 1.4826 * median absolute deviation: a standard deviation that outliers do not move */
    double min, max;
};

/* PW_ERR_USAGE when a sample is not positive and finite, or there is none. */
pw_status pw_stats_summarize(const double *samples, size_t count, double confidence, struct pw_stats_summary *out,
                             struct pw_error *err);
/* The same of integers, for times in ns. */
pw_status pw_stats_summarize_ns(const int64_t *samples, size_t count, double confidence, struct pw_stats_summary *out,
                                struct pw_error *err);
/* Half-way between the middle two when count is even; NaN of none. Does not change the samples; NaN when memory is
 * short. */
double pw_stats_median(const double *samples, size_t count);
double pw_stats_median_ns(const int64_t *samples, size_t count);

/* ---- tests; `a` is before, `b` after ---- */

struct pw_stats_rank {
    double u;         /* pairs in which b is greater, ties counted half */
    double p;         /* two-sided */
    double p_greater; /* one-sided: that b is not greater */
    double p_less;
    bool exact; /* the permutation distribution of the midranks itself; else normal, tie-corrected */
};

/* Mann-Whitney U. Exact up to 32 samples together, ties included. */
pw_status pw_stats_mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count,
                                struct pw_stats_rank *out, struct pw_error *err);

struct pw_stats_interval {
    double value;
    double low, high;
    double confidence; /* reached */
};

/* Hodges-Lehmann: the median of all b/a (on logarithms), with the interval that inverts Mann-Whitney. */
pw_status pw_stats_ratio(const double *a, size_t a_count, const double *b, size_t b_count, double confidence,
                         struct pw_stats_interval *out, struct pw_error *err);

/* Pairs measured side by side: Wilcoxon's signed ranks of log(b/a), exact up to 60 pairs, ties included, zero
 * differences dropped; *out gets the Hodges-Lehmann ratio with its interval. Either output may be NULL. */
pw_status pw_stats_paired(const double *a, const double *b, size_t count, double confidence, struct pw_stats_rank *rank,
                          struct pw_stats_interval *out, struct pw_error *err);

/* median(b) / median(a) with a percentile bootstrap interval: for sets that are not exchangeable in shape. The draws
 * follow from the seed. replicates 0 = 2000. */
pw_status pw_stats_bootstrap_ratio(const double *a, size_t a_count, const double *b, size_t b_count, double confidence,
                                   int replicates, uint64_t seed, struct pw_stats_interval *out, struct pw_error *err);

/* Holm's step-down correction, in place; NaN entries (no test was made) are left out and stay. */
pw_status pw_stats_holm(double *p, size_t count, struct pw_error *err);

/* Clopper-Pearson: the interval of a proportion of which `hits` of `count` were seen. */
struct pw_stats_interval pw_stats_proportion(size_t hits, size_t count, double confidence);

/* ---- decisions ---- */

typedef enum {
    PW_STATS_SAME,
    PW_STATS_FASTER,
    PW_STATS_SLOWER,
    PW_STATS_INCONCLUSIVE, /* measure more */
    PW_STATS_CHANGE_COUNT
} pw_stats_change;
const char *pw_stats_change_name(pw_stats_change change); /* "same", "faster", … */

/* What one side measured. With references in the same number as targets, sample i of one belongs to sample i of the
 * other (measured in turns) and ratios target/reference are compared; in another number, each target is divided by
 * the references' median. Without references on either side the times themselves are compared. */
struct pw_stats_side {
    const double *target;
    size_t target_count;
    const double *reference; /* NULL: none */
    size_t reference_count;
};

struct pw_stats_options {
    double effect;     /* least change that counts: 0.05 = 5 %; slower is after/before >= 1 + effect */
    double margin;     /* shift that repeated sessions show on unchanged code: the test asks for more than it */
    double alpha;      /* of all decisions together, after Holm */
    double confidence; /* of the intervals */
    size_t min_count;  /* samples a side before anything is decided */
};
/* effect 5 %, margin 2 %, alpha 1 %, confidence 95 %, 9 samples. */
struct pw_stats_options pw_stats_options_default(void);

struct pw_stats_comparison {
    pw_stats_change change;
    double ratio, low, high; /* after/before: above 1 is slower; NaN when unknown */
    double p;                /* of the change beyond the margin; NaN: no test */
    double p_adjusted;
    size_t before_count, after_count;
    bool by_reference; /* ratios to the interleaved reference were compared, not times */
    const char *why;   /* one static phrase */
};

/* One comparison, nothing to correct for. */
pw_status pw_stats_compare(const struct pw_stats_side *before, const struct pw_stats_side *after,
                           const struct pw_stats_options *options, struct pw_stats_comparison *out,
                           struct pw_error *err);
/* All signatures of one gate at once: p-values are corrected by Holm over those that could be tested. */
pw_status pw_stats_compare_all(const struct pw_stats_side *before, const struct pw_stats_side *after, size_t count,
                               const struct pw_stats_options *options, struct pw_stats_comparison *out,
                               struct pw_error *err);

#endif
