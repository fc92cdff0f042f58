/*
 * Series of figures over runs: where the level changed and whether it drifts. Robust: a median of each segment, its
 * absolute deviations as the cost, so single bad runs are no changes. Pure functions, thread-safe.
 *
 * Change points: the segmentation that minimises sum |x - median of its segment| / b + 3 ln(n) a change, found
 * exactly (optimal partitioning), b the noise's mean absolute deviation estimated from successive differences, which
 * steps hardly move. On made noise (normal, Student's t with 3 degrees, with outliers) fewer than one series in fifty
 * gets a false one. Segments are at least 4 long. Values that belong on a ratio scale are given as logarithms.
 */
#ifndef PW_BENCH_TREND_H
#define PW_BENCH_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/mem.h"

#define PW_TREND_MIN_SEGMENT 4
#define PW_TREND_MAX 250 /* of longer series the last so many are looked at */

struct pw_trend_change {
    size_t at;            /* index of the first value at the new level */
    double before, after; /* medians of the segments at both sides */
};

/* Changes of at least `least` between neighbouring medians, in order; NaN values are passed over (indices stay those
 * of the input). The list lives in the arena. */
pw_status pw_trend_changes(const double *values, size_t count, double least, struct pw_arena *arena,
                           struct pw_trend_change **changes, size_t *change_count, struct pw_error *err);

struct pw_trend_slope {
    double per_day; /* Theil-Sen: median of all pairwise slopes; NaN with fewer than 4 values or one day */
    double p;       /* Mann-Kendall, two-sided, with ties (Sen's estimate of the variance); NaN unknown */
};
/* NaN values are passed over; of long series the last PW_TREND_MAX count. */
pw_status pw_trend_slope(const int64_t *times_ms, const double *values, size_t count, struct pw_trend_slope *out,
                         struct pw_error *err);

/* One character a value, as many as fit (the last ones): U+2581 to U+2588 from the least to the greatest, a blank for
 * NaN; a constant series is a middle line. ascii: "_.-=*" instead. */
struct pw_buf;
void pw_trend_sparkline(const double *values, size_t count, size_t width, bool ascii, struct pw_buf *out);

#endif
