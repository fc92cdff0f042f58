/* The rule by which a change is called. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "bench/stats.h"
#include "bench/stats_internal.h"

static const char *const change_names[PW_STATS_CHANGE_COUNT] = {"same", "faster", "slower", "inconclusive"};

const char *pw_stats_change_name(pw_stats_change change)
{
    return (size_t)change < PW_STATS_CHANGE_COUNT ? change_names[change] : "?";
}

struct pw_stats_options pw_stats_options_default(void)
{
    return (struct pw_stats_options){.effect = 0.05,
                                     .margin = 0.02,
                                     .alpha = 0.01,
                                     .confidence = PW_STATS_CONFIDENCE,
                                     .min_count = PW_STATS_SAMPLES_MIN};
}

static bool positive(double value)
{
    return isfinite(value) && value > 0;
}

/* What is compared of one side: usable times, or ratios to the reference. *values is owned by the caller. */
static pw_status collect(const struct pw_stats_side *side, bool by_reference, double **values, size_t *count,
                         struct pw_error *err)
{
    bool paired = side->reference_count == side->target_count;
    double *made = pw_calloc(side->target_count + 1, sizeof *made);
    double reference = by_reference && !paired ? pw_stats_median(side->reference, side->reference_count) : 1;

    *count = 0;
    *values = made;
    if (!made)
        return pw_error_memory(err, side->target_count * sizeof *made);
    for (size_t i = 0; i < side->target_count && i < PW_STATS_SAMPLES_MAX; i++) {
        double divisor = by_reference && paired ? side->reference[i] : reference;

        if (positive(side->target[i]) && positive(divisor) && positive(side->target[i] / divisor))
            made[(*count)++] = side->target[i] / divisor;
    }
    return PW_OK;
}

/* The p-value of a change beyond the margin, in the direction in which the ratio points. */
static pw_status test_beyond(const double *before, size_t before_count, const double *after, size_t after_count,
                             double ratio, double margin, double *p, struct pw_error *err)
{
    double *shifted = pw_calloc(after_count, sizeof *shifted);
    double by = ratio >= 1 ? 1 + margin : 1 / (1 + margin);
    struct pw_stats_rank rank;
    pw_status status;

    if (!shifted)
        return pw_error_memory(err, after_count * sizeof *shifted);
    for (size_t i = 0; i < after_count; i++)
        shifted[i] = after[i] / by;
    status = pw_stats_mann_whitney(before, before_count, shifted, after_count, &rank, err);
    if (status == PW_OK) {
        /* Two-sided: the direction was read off the data. */
        double one_sided = ratio >= 1 ? rank.p_greater : rank.p_less;
        *p = one_sided > 0.5 ? 1 : 2 * one_sided;
    }
    pw_free(shifted);
    return status;
}

static pw_status measure(const struct pw_stats_side *before, const struct pw_stats_side *after,
                         const struct pw_stats_options *options, struct pw_stats_comparison *out, struct pw_error *err)
{
    bool by_reference = before->reference && before->reference_count && after->reference && after->reference_count;
    double *old = NULL, *new = NULL;
    pw_status status;

    *out = (struct pw_stats_comparison){.change = PW_STATS_INCONCLUSIVE,
                                        .ratio = NAN,
                                        .low = NAN,
                                        .high = NAN,
                                        .p = NAN,
                                        .p_adjusted = NAN,
                                        .by_reference = by_reference};
    status = collect(before, by_reference, &old, &out->before_count, err);
    if (status == PW_OK)
        status = collect(after, by_reference, &new, &out->after_count, err);
    if (status == PW_OK && out->before_count > 0 && out->after_count > 0) {
        struct pw_stats_interval interval;

        status = pw_stats_ratio(old, out->before_count, new, out->after_count, options->confidence, &interval, err);
        if (status == PW_OK) {
            out->ratio = interval.value;
            out->low = interval.low;
            out->high = interval.high;
        }
        if (status == PW_OK && out->before_count >= options->min_count && out->after_count >= options->min_count)
            status =
                test_beyond(old, out->before_count, new, out->after_count, out->ratio, options->margin, &out->p, err);
    }
    pw_free(old);
    pw_free(new);
    return status;
}

static void decide(const struct pw_stats_options *options, struct pw_stats_comparison *c)
{
    double up = 1 + options->effect, down = 1 / up;
    bool large = c->ratio >= up || c->ratio <= down;

    c->change = PW_STATS_INCONCLUSIVE;
    if (isnan(c->p)) {
        c->why = c->before_count == 0 || c->after_count == 0 ? "no usable samples" : "too few samples";
    } else if (large && c->p_adjusted < options->alpha) {
        c->change = c->ratio > 1 ? PW_STATS_SLOWER : PW_STATS_FASTER;
        c->why = "effect and test agree";
    } else if (large) {
        c->why = "a large effect that the test does not confirm";
    } else if (c->low > down && c->high < up) {
        c->change = PW_STATS_SAME;
        c->why = "the whole interval is within the effect";
    } else {
        c->why = "the interval reaches beyond the effect";
    }
}

pw_status pw_stats_compare_all(const struct pw_stats_side *before, const struct pw_stats_side *after, size_t count,
                               const struct pw_stats_options *options, struct pw_stats_comparison *out,
                               struct pw_error *err)
{
    struct pw_stats_options used = options ? *options : pw_stats_options_default();
    double *p = pw_calloc(count + 1, sizeof *p);
    pw_status status = PW_OK;

    if (!p)
        return pw_error_memory(err, count * sizeof *p);
    if (!(used.effect > 0 && used.effect < 10) || !(used.margin >= 0 && used.margin <= used.effect) ||
        !(used.alpha > 0 && used.alpha < 1) || !(used.confidence > 0 && used.confidence < 1))
        status = pw_error_set(err, PW_ERR_USAGE,
                              "effect %g, margin %g, alpha %g, confidence %g: expected margin <= effect and shares",
                              used.effect, used.margin, used.alpha, used.confidence);
    for (size_t i = 0; i < count && status == PW_OK; i++) {
        status = measure(&before[i], &after[i], &used, &out[i], err);
        p[i] = out[i].p;
    }
    if (status == PW_OK)
        status = pw_stats_holm(p, count, err);
    for (size_t i = 0; i < count && status == PW_OK; i++) {
        out[i].p_adjusted = p[i];
        decide(&used, &out[i]);
    }
    pw_free(p);
    return status;
}

pw_status pw_stats_compare(const struct pw_stats_side *before, const struct pw_stats_side *after,
                           const struct pw_stats_options *options, struct pw_stats_comparison *out,
                           struct pw_error *err)
{
    return pw_stats_compare_all(before, after, 1, options, out, err);
}
