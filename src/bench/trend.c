#include "bench/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define PENALTY 3.0                          /* times ln(n), a change */
#define LEAST_NOISE 1e-3                     /* figures that repeat exactly still carry rounding */
#define DIFFERENCE_TO_MEAN (0.7979 / 0.9539) /* median |difference| to mean |deviation|, normal noise */
#define MS_PER_DAY 86400000.0

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts in place. */
static double median_of(double *values, size_t count)
{
    if (!count)
        return NAN;
    qsort(values, count, sizeof *values, by_value);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* ---- change points ---- */

struct segmentation {
    double values[PW_TREND_MAX], sorted[PW_TREND_MAX];
    size_t index[PW_TREND_MAX]; /* of values[i] in the input */
    size_t count;
    double best[PW_TREND_MAX + 1]; /* cost of values[0, j) */
    size_t from[PW_TREND_MAX + 1]; /* where its last segment begins */
};

static double noise(struct segmentation *s)
{
    double b;

    for (size_t i = 0; i + 1 < s->count; i++)
        s->sorted[i] = fabs(s->values[i + 1] - s->values[i]);
    b = median_of(s->sorted, s->count - 1) * DIFFERENCE_TO_MEAN;
    return b > LEAST_NOISE ? b : LEAST_NOISE;
}

/* Inserts into sorted[0, count). */
static void insert(double *sorted, size_t count, double value)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (sorted[middle] > value)
            high = middle;
        else
            low = middle + 1;
    }
    memmove(sorted + low + 1, sorted + low, (count - low) * sizeof *sorted);
    sorted[low] = value;
}

/* Sum of |x - median|: the upper half less the lower half. */
static double deviations(const double *sorted, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count / 2; i++)
        sum += sorted[count - 1 - i] - sorted[i];
    return sum;
}

static void segment(struct segmentation *s)
{
    double b = noise(s), penalty = PENALTY * log((double)s->count);

    s->best[0] = 0;
    for (size_t j = 1; j <= s->count; j++) {
        s->best[j] = INFINITY;
        for (size_t length = 1; length <= j; length++) { /* the last segment grows backwards from j */
            size_t i = j - length;
            double cost;

            insert(s->sorted, length - 1, s->values[i]);
            if (length < PW_TREND_MIN_SEGMENT || isinf(s->best[i]))
                continue;
            cost = s->best[i] + deviations(s->sorted, length) / b + (i ? penalty : 0);
            if (cost < s->best[j]) {
                s->best[j] = cost;
                s->from[j] = i;
            }
        }
    }
}

static double segment_median(struct segmentation *s, size_t begin, size_t end)
{
    memcpy(s->sorted, s->values + begin, (end - begin) * sizeof *s->sorted);
    return median_of(s->sorted, end - begin);
}

/* Boundaries in order, bounds[0] = 0 and the last = count; those between levels closer than `least` go. */
static size_t boundaries(struct segmentation *s, double least, size_t bounds[PW_TREND_MAX + 1])
{
    size_t n = 0, kept = 1;

    for (size_t j = s->count; j > 0; j = s->from[j])
        bounds[n++] = j;
    bounds[n++] = 0;
    for (size_t i = 0; i < n / 2; i++) {
        size_t swap = bounds[i];

        bounds[i] = bounds[n - 1 - i];
        bounds[n - 1 - i] = swap;
    }
    for (size_t i = 1; i + 1 < n; i++) {
        double before = segment_median(s, bounds[kept - 1], bounds[i]);
        double after = segment_median(s, bounds[i], bounds[i + 1]);

        if (fabs(after - before) >= least)
            bounds[kept++] = bounds[i];
    }
    bounds[kept++] = s->count;
    return kept;
}

/* Errors repeat exactly as long as nobody touches the kernel. */
static bool constant(const struct segmentation *s)
{
    for (size_t i = 1; i < s->count; i++)
        if (s->values[i] < s->values[0] || s->values[i] > s->values[0])
            return false;
    return true;
}

pw_status pw_trend_changes(const double *values, size_t count, double least, struct pw_arena *arena,
                           struct pw_trend_change **changes, size_t *change_count, struct pw_error *err)
{
    struct segmentation *s = pw_calloc(1, sizeof *s);
    size_t bounds[PW_TREND_MAX + 1], n, usable = 0;
    pw_status status = PW_OK;

    *changes = NULL;
    *change_count = 0;
    if (!s)
        return pw_error_memory(err, sizeof *s);
    for (size_t i = 0; i < count; i++)
        usable += isfinite(values[i]) != 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]) || usable-- > PW_TREND_MAX)
            continue;
        s->index[s->count] = i;
        s->values[s->count++] = values[i];
    }
    if (s->count < 2 * PW_TREND_MIN_SEGMENT || constant(s))
        goto done;
    segment(s);
    n = boundaries(s, least, bounds);
    *changes = pw_arena_alloc(arena, n, sizeof **changes);
    if (!*changes) {
        status = pw_error_memory(err, n * sizeof **changes);
        goto done;
    }
    for (size_t i = 1; i + 1 < n; i++)
        (*changes)[(*change_count)++] = (struct pw_trend_change){.at = s->index[bounds[i]],
                                                                 .before = segment_median(s, bounds[i - 1], bounds[i]),
                                                                 .after = segment_median(s, bounds[i], bounds[i + 1])};
done:
    pw_free(s);
    return status;
}

/* ---- drift ---- */

/* Mann-Kendall's p from its sum of signs; the variance accounts for ties. */
static double kendall_p(double *sorted, size_t n, double sum)
{
    double variance = (double)n * ((double)n - 1) * (2 * (double)n + 5), z;

    qsort(sorted, n, sizeof *sorted, by_value);
    for (size_t i = 0, j; i < n; i = j) {
        double t;

        for (j = i + 1; j < n && sorted[j] <= sorted[i]; j++)
            continue;
        t = (double)(j - i);
        variance -= t * (t - 1) * (2 * t + 5);
    }
    variance /= 18;
    if (!(variance > 0))
        return 1;
    z = fabs(sum) <= 1 ? 0 : (fabs(sum) - 1) / sqrt(variance);
    return erfc(z / sqrt(2.0));
}

pw_status pw_trend_slope(const int64_t *times_ms, const double *values, size_t count, struct pw_trend_slope *out,
                         struct pw_error *err)
{
    double *x, *y, *slopes, sum = 0;
    size_t usable = 0, n = 0, pairs = 0;

    *out = (struct pw_trend_slope){NAN, NAN};
    for (size_t i = 0; i < count; i++)
        usable += isfinite(values[i]) != 0;
    if (usable < PW_TREND_MIN_SEGMENT)
        return PW_OK;
    x = pw_calloc(2 * PW_TREND_MAX + (size_t)PW_TREND_MAX * PW_TREND_MAX / 2, sizeof *x);
    if (!x)
        return pw_error_memory(err, (size_t)PW_TREND_MAX * PW_TREND_MAX / 2 * sizeof *x);
    y = x + PW_TREND_MAX;
    slopes = y + PW_TREND_MAX;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]) && usable-- <= PW_TREND_MAX) {
            x[n] = (double)times_ms[i] / MS_PER_DAY;
            y[n++] = values[i];
        }
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            sum += (y[k] > y[i]) - (y[k] < y[i]);
            if (x[k] > x[i])
                slopes[pairs++] = (y[k] - y[i]) / (x[k] - x[i]);
        }
    if (pairs)
        out->per_day = median_of(slopes, pairs);
    out->p = kendall_p(y, n, sum);
    pw_free(x);
    return PW_OK;
}

void pw_trend_sparkline(const double *values, size_t count, size_t width, bool ascii, struct pw_buf *out)
{
    static const char *const blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"};
    static const char plain[] = "__..--=*"; /* eight levels */
    size_t begin = count > width ? count - width : 0;
    double low = INFINITY, high = -INFINITY;

    for (size_t i = begin; i < count; i++)
        if (isfinite(values[i])) {
            low = values[i] < low ? values[i] : low;
            high = values[i] > high ? values[i] : high;
        }
    for (size_t i = begin; i < count; i++) {
        int level = 3;

        if (!isfinite(values[i])) {
            pw_buf_putc(out, ' ');
            continue;
        }
        if (high > low)
            level = (int)((values[i] - low) / (high - low) * 7.999);
        if (ascii)
            pw_buf_putc(out, plain[level]);
        else
            pw_buf_puts(out, blocks[level]);
    }
}
