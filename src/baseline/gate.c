/* Decisions against a baseline. Each gate looks at its own fields; throughput goes through bench/stats.h. */
#include "baseline/gate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"

#define GROSS 4        /* the gate study's 1,848 pairs of sessions of one kernel differed by at most 2.6 */
#define CONFIRM_MIN 15 /* pairs: fewer cannot reach alpha once Holm has corrected for a few suspects */

const char *pw_gate_kind_name(pw_gate_kind kind)
{
    static const char *const names[PW_GATE_KIND_COUNT] = {"coverage", "precision", "throughput"};

    return (size_t)kind < PW_GATE_KIND_COUNT ? names[kind] : "?";
}

const char *pw_gate_outcome_name(pw_gate_outcome outcome)
{
    static const char *const names[PW_GATE_OUTCOME_COUNT] = {"held", "better", "worse",  "inconclusive",
                                                             "new",  "gone",   "skipped"};

    return (size_t)outcome < PW_GATE_OUTCOME_COUNT ? names[outcome] : "?";
}

struct pw_gate_options pw_gate_options_default(void)
{
    return (struct pw_gate_options){.stats = pw_stats_options_default(),
                                    .error_factor = 2,
                                    .error_share = 0.02,
                                    .precision = true,
                                    .coverage = true,
                                    .throughput = true,
                                    .throughput_comparable = true};
}

double pw_gate_limit(const struct pw_gate_options *options, double error, double tolerance)
{
    double limit;

    if (isnan(error))
        return NAN;
    limit = options->error_factor * error;
    if (tolerance > 0 && isfinite(tolerance)) {
        limit += options->error_share * tolerance;
        if (limit > tolerance)
            limit = error > tolerance ? error : tolerance;
    }
    return limit;
}

static void set(struct pw_gate_result *result, pw_gate_kind kind, pw_gate_outcome outcome, const char *format, ...)
    PW_PRINTF(4, 5);
static void set(struct pw_gate_result *result, pw_gate_kind kind, pw_gate_outcome outcome, const char *format, ...)
{
    va_list args;

    result->outcome[kind] = outcome;
    va_start(args, format);
    vsnprintf(result->reason[kind], sizeof result->reason[kind], format, args);
    va_end(args);
}

/* On the target, by whatever means. */
static bool on_target(pw_coverage coverage)
{
    return coverage < PW_COVERAGE_HOST;
}

/* A signature that only one side has, or that was not looked at: nothing to compare. */
static bool only_one_side(const struct pw_gate_signature *s, pw_gate_kind kind, bool on, struct pw_gate_result *result)
{
    if (!on)
        set(result, kind, PW_GATE_SKIPPED, "this gate is off");
    else if (!s->before.present)
        set(result, kind, PW_GATE_NEW, "not in the baseline");
    else if (!s->now.present)
        set(result, kind, PW_GATE_GONE, "in the baseline, but not in this graph with these dims");
    else if (!s->before.measured || !s->now.measured)
        set(result, kind, PW_GATE_SKIPPED, "not measured %s", s->now.measured ? "in the baseline" : "now");
    else
        return false;
    return true;
}

/* ---- coverage and precision ---- */

static void decide_coverage(const struct pw_gate_options *options, const struct pw_gate_signature *s,
                            struct pw_gate_result *result)
{
    pw_coverage before = s->before.coverage, now = s->now.coverage;

    if (only_one_side(s, PW_GATE_COVERAGE, options->coverage, result))
        return;
    if ((on_target(before) && !on_target(now)) || (before == PW_COVERAGE_HOST && now == PW_COVERAGE_MISSING))
        set(result, PW_GATE_COVERAGE, PW_GATE_WORSE, "was %s%s%s, is %s", pw_coverage_name(before),
            s->before.kernel ? " " : "", s->before.kernel ? s->before.kernel : "", pw_coverage_name(now));
    else if ((!on_target(before) && on_target(now)) || (before == PW_COVERAGE_MISSING && now == PW_COVERAGE_HOST))
        set(result, PW_GATE_COVERAGE, PW_GATE_BETTER, "was %s, is %s%s%s", pw_coverage_name(before),
            pw_coverage_name(now), s->now.kernel ? " " : "", s->now.kernel ? s->now.kernel : "");
    else
        set(result, PW_GATE_COVERAGE, PW_GATE_HELD, "%s", "");
}

static bool same_text(const char *a, const char *b)
{
    return a && b && !strcmp(a, b);
}

static void decide_precision(const struct pw_gate_options *options, const struct pw_gate_signature *s,
                             struct pw_gate_result *result)
{
    double before = s->before.error, now = s->now.error;
    double limit = isnan(s->before.limit) ? pw_gate_limit(options, before, s->before.tolerance) : s->before.limit;

    if (only_one_side(s, PW_GATE_PRECISION, options->precision, result))
        return;
    if (isnan(before) || isnan(now))
        set(result, PW_GATE_PRECISION, PW_GATE_SKIPPED, "no error was measured %s",
            isnan(now) ? "now" : "in the baseline");
    else if (s->before.cases && s->now.cases && strcmp(s->before.cases, s->now.cases) != 0 && now > limit)
        set(result, PW_GATE_PRECISION, PW_GATE_SKIPPED,
            "error %.3g beyond the baseline's limit %.3g, but other cases were run: record a new baseline", now, limit);
    else if (now > limit)
        set(result, PW_GATE_PRECISION, PW_GATE_WORSE, "error %.3g, was %.3g and may be up to %.3g%s", now, before,
            limit, same_text(s->before.kernel_hash, s->now.kernel_hash) ? " (the kernel is the same)" : "");
    else if (before > 0 && now < before / 2 && before - now > options->error_share * s->now.tolerance)
        set(result, PW_GATE_PRECISION, PW_GATE_BETTER, "error %.3g, was %.3g", now, before);
    else
        set(result, PW_GATE_PRECISION, PW_GATE_HELD, "%s", "");
}

/* ---- throughput ---- */

struct pairs { /* what the run of both kernels says about one signature */
    double ratio, low, high, p;
    bool made;
};

static bool usable(double ns)
{
    return isfinite(ns) && ns > 0;
}

/* As pw_stats_compare, on pairs: the slices were interleaved, so what moved the machine moved both. */
static pw_status test_pairs(const struct pw_gate_options *options, const struct pw_gate_signature *s, struct pairs *out,
                            struct pw_error *err)
{
    size_t need = options->stats.min_count > CONFIRM_MIN ? options->stats.min_count : CONFIRM_MIN, n = 0;
    struct pw_stats_interval interval;
    struct pw_stats_rank rank;
    double *before, *now;
    pw_status status = PW_OK;

    *out = (struct pairs){.p = NAN};
    if (s->confirm_count < need)
        return PW_OK;
    before = pw_calloc(2 * s->confirm_count, sizeof *before);
    if (!before)
        return pw_error_memory(err, 2 * s->confirm_count * sizeof *before);
    now = before + s->confirm_count;
    for (size_t i = 0; i < s->confirm_count; i++)
        if (usable(s->before_ns[i]) && usable(s->now_ns[i])) {
            before[n] = s->before_ns[i];
            now[n++] = s->now_ns[i];
        }
    if (n >= need)
        status = pw_stats_paired(before, now, n, options->stats.confidence, NULL, &interval, err);
    if (status == PW_OK && n >= need) {
        double one_sided, by = interval.value >= 1 ? 1 + options->stats.margin : 1 / (1 + options->stats.margin);

        for (size_t i = 0; i < n; i++)
            now[i] /= by;
        status = pw_stats_paired(before, now, n, options->stats.confidence, &rank, NULL, err);
        one_sided = interval.value >= 1 ? rank.p_greater : rank.p_less;
        if (status == PW_OK)
            *out = (struct pairs){.ratio = interval.value,
                                  .low = interval.low,
                                  .high = interval.high,
                                  .p = one_sided > 0.5 ? 1 : 2 * one_sided, /* the direction was read off the data */
                                  .made = true};
    }
    pw_free(before);
    return status;
}

static double percent(double ratio)
{
    return fabs(ratio >= 1 ? ratio - 1 : 1 / ratio - 1) * 100;
}

/* Both kernels were run in turns: that decides, whatever the sessions' ratios say. */
static void decide_by_pairs(const struct pw_gate_options *options, const struct pairs *pairs, double p_adjusted,
                            bool looked_slower, struct pw_gate_result *result)
{
    double up = 1 + options->stats.effect, down = 1 / up;
    bool sure = p_adjusted < options->stats.alpha;

    result->slowdown = pairs->ratio;
    result->low = pairs->low;
    result->high = pairs->high;
    result->p_adjusted = p_adjusted;
    result->confirmed = true;
    if (pairs->ratio >= up && sure)
        set(result, PW_GATE_THROUGHPUT, PW_GATE_WORSE,
            "%.0f %% slower than the baseline's kernel run beside it [%.0f, %.0f]", percent(pairs->ratio),
            (pairs->low - 1) * 100, (pairs->high - 1) * 100);
    else if (pairs->ratio <= down && sure)
        set(result, PW_GATE_THROUGHPUT, PW_GATE_BETTER, "%.0f %% faster than the baseline's kernel run beside it",
            percent(pairs->ratio));
    else if (pairs->low > down && pairs->high < up)
        set(result, PW_GATE_THROUGHPUT, PW_GATE_HELD, "%s",
            looked_slower ? "looked slower, but the baseline's kernel run beside it is as fast" : "");
    else {
        set(result, PW_GATE_THROUGHPUT, PW_GATE_INCONCLUSIVE,
            "between %.0f %% and %+.0f %% against the baseline's kernel run beside it", (pairs->low - 1) * 100,
            (pairs->high - 1) * 100);
        result->wants_confirmation = true;
    }
}

static void decide_by_sessions(const struct pw_stats_comparison *c, const struct pw_gate_signature *s,
                               struct pw_gate_result *result)
{
    bool same_kernel = same_text(s->before.kernel_hash, s->now.kernel_hash);

    result->slowdown = c->ratio;
    result->low = c->low;
    result->high = c->high;
    result->p_adjusted = c->p_adjusted;
    /* Sessions differ in memory placement and clock by more than a real slowdown, in either direction: one that looks
     * as fast as before may hide a slower kernel. So a changed kernel is always run beside the old one. */
    result->wants_confirmation = !same_kernel && !s->unconfirmable;
    switch (c->change) {
    case PW_STATS_SAME:
        set(result, PW_GATE_THROUGHPUT, PW_GATE_HELD, "%s", "");
        break;
    case PW_STATS_FASTER:
        set(result, PW_GATE_THROUGHPUT, PW_GATE_BETTER, "%.0f %% faster", percent(c->ratio));
        break;
    case PW_STATS_SLOWER:
        if (same_kernel)
            set(result, PW_GATE_THROUGHPUT, PW_GATE_INCONCLUSIVE,
                "%.0f %% slower than recorded with the very same kernel: the machine or portwright changed",
                percent(c->ratio));
        else if (s->unconfirmable && c->low > GROSS)
            set(result, PW_GATE_THROUGHPUT, PW_GATE_WORSE,
                "%.1f times as slow, which no two sessions of one kernel are (%s)", c->ratio, s->unconfirmable);
        else if (s->unconfirmable)
            set(result, PW_GATE_THROUGHPUT, PW_GATE_INCONCLUSIVE,
                "looks %.0f %% slower, which sessions alone do not prove: %s", percent(c->ratio), s->unconfirmable);
        else
            set(result, PW_GATE_THROUGHPUT, PW_GATE_INCONCLUSIVE,
                "looks %.0f %% slower; not confirmed by running the baseline's kernel beside it", percent(c->ratio));
        break;
    default:
        if (isnan(c->ratio))
            set(result, PW_GATE_THROUGHPUT, PW_GATE_INCONCLUSIVE, "%s", c->why);
        else
            set(result, PW_GATE_THROUGHPUT, PW_GATE_INCONCLUSIVE, "%+.0f %% [%+.0f, %+.0f]: %s", (c->ratio - 1) * 100,
                (c->low - 1) * 100, (c->high - 1) * 100, c->why);
        result->wants_samples = true;
    }
}

/* A foreign kernel's times carry messages that a built-in one's do not: the sessions cannot be compared. */
static void decide_unlike(const struct pw_gate_signature *s, struct pw_gate_result *result)
{
    set(result, PW_GATE_THROUGHPUT, PW_GATE_INCONCLUSIVE,
        "one is timed as a foreign kernel, the other is built in: only a run beside each other compares%s%s",
        s->unconfirmable ? "; " : "", s->unconfirmable ? s->unconfirmable : "");
    result->wants_confirmation = !s->unconfirmable;
}

/* Sets the outcome when there is nothing to test; else true. */
static bool throughput_testable(const struct pw_gate_options *options, const struct pw_gate_signature *s,
                                struct pw_gate_result *result)
{
    if (only_one_side(s, PW_GATE_THROUGHPUT, options->throughput, result))
        return false;
    if (!options->throughput_comparable)
        set(result, PW_GATE_THROUGHPUT, PW_GATE_SKIPPED, "%s",
            options->throughput_why ? options->throughput_why : "another environment");
    else if (!on_target(s->now.coverage))
        set(result, PW_GATE_THROUGHPUT, PW_GATE_SKIPPED, "not on the target now");
    else if (!on_target(s->before.coverage))
        set(result, PW_GATE_THROUGHPUT, PW_GATE_SKIPPED, "not on the target in the baseline");
    else if (s->before.foreign != s->now.foreign && same_text(s->before.kernel_hash, s->now.kernel_hash))
        set(result, PW_GATE_THROUGHPUT, PW_GATE_SKIPPED, "the same kernel, timed as a foreign one on one side only");
    else if (!s->before.ratio_count || !s->now.ratio_count)
        set(result, PW_GATE_THROUGHPUT, PW_GATE_SKIPPED, "not timed %s",
            s->now.ratio_count ? "in the baseline" : "now");
    else
        return true;
    return false;
}

struct throughput { /* scratch, one entry a testable signature */
    struct pw_stats_side *before, *now;
    struct pw_stats_comparison *compared;
    struct pairs *pairs;
    double *p;
    size_t *at, count;
};

static pw_status throughput_alloc(struct throughput *t, size_t count, struct pw_error *err)
{
    t->before = pw_calloc(count + 1, sizeof *t->before);
    t->now = pw_calloc(count + 1, sizeof *t->now);
    t->compared = pw_calloc(count + 1, sizeof *t->compared);
    t->pairs = pw_calloc(count + 1, sizeof *t->pairs);
    t->p = pw_calloc(count + 1, sizeof *t->p);
    t->at = pw_calloc(count + 1, sizeof *t->at);
    return t->before && t->now && t->compared && t->pairs && t->p && t->at
               ? PW_OK
               : pw_error_memory(err, count * sizeof *t->compared);
}

static void throughput_clear(struct throughput *t)
{
    pw_free(t->before);
    pw_free(t->now);
    pw_free(t->compared);
    pw_free(t->pairs);
    pw_free(t->p);
    pw_free(t->at);
}

static pw_status decide_throughput(const struct pw_gate_options *options, const struct pw_gate_signature *signatures,
                                   size_t count, struct pw_gate_result *results, struct pw_error *err)
{
    struct throughput t = {0};
    pw_status status = throughput_alloc(&t, count, err);

    for (size_t i = 0; i < count && status == PW_OK; i++) {
        const struct pw_gate_signature *s = &signatures[i];

        if (!throughput_testable(options, s, &results[i]))
            continue;
        t.before[t.count] = (struct pw_stats_side){.target = s->before.ratios, .target_count = s->before.ratio_count};
        t.now[t.count] = (struct pw_stats_side){.target = s->now.ratios, .target_count = s->now.ratio_count};
        t.at[t.count] = i;
        status = test_pairs(options, s, &t.pairs[t.count], err);
        t.p[t.count] = t.pairs[t.count].p;
        t.count++;
    }
    if (status == PW_OK && t.count)
        status = pw_stats_compare_all(t.before, t.now, t.count, &options->stats, t.compared, err);
    if (status == PW_OK && t.count)
        status = pw_stats_holm(t.p, t.count, err);
    for (size_t k = 0; k < t.count && status == PW_OK; k++) {
        if (t.pairs[k].made)
            decide_by_pairs(options, &t.pairs[k], t.p[k], t.compared[k].change == PW_STATS_SLOWER, &results[t.at[k]]);
        else if (signatures[t.at[k]].before.foreign != signatures[t.at[k]].now.foreign)
            decide_unlike(&signatures[t.at[k]], &results[t.at[k]]);
        else
            decide_by_sessions(&t.compared[k], &signatures[t.at[k]], &results[t.at[k]]);
    }
    throughput_clear(&t);
    return status;
}

static void count_results(const struct pw_gate_result *results, size_t count, struct pw_gate_totals *totals)
{
    for (size_t i = 0; i < count; i++) {
        bool worse = false;

        for (int kind = 0; kind < PW_GATE_KIND_COUNT; kind++) {
            totals->outcomes[kind][results[i].outcome[kind]]++;
            worse |= results[i].outcome[kind] == PW_GATE_WORSE;
        }
        totals->worse += worse;
        totals->wants += results[i].wants_samples || results[i].wants_confirmation;
    }
}

pw_status pw_gate_decide(const struct pw_gate_options *options, const struct pw_gate_signature *signatures,
                         size_t count, struct pw_gate_result *results, struct pw_gate_totals *totals,
                         struct pw_error *err)
{
    pw_status status;

    for (size_t i = 0; i < count; i++) {
        results[i] = (struct pw_gate_result){.slowdown = NAN, .low = NAN, .high = NAN, .p_adjusted = NAN};
        decide_coverage(options, &signatures[i], &results[i]);
        decide_precision(options, &signatures[i], &results[i]);
    }
    status = decide_throughput(options, signatures, count, results, err);
    memset(totals, 0, sizeof *totals);
    if (status == PW_OK)
        count_results(results, count, totals);
    return status;
}
