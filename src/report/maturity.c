/* How mature a graph is on a target, and what each level rests on. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "report/model.h"

const char *pw_maturity_name(pw_maturity level)
{
    static const char *const names[PW_MATURITY_COUNT] = {"unproven", "bring-up", "verified", "performant",
                                                         "production"};

    return names[level];
}

struct ledger {
    struct pw_maturity_evidence *evidence;
    size_t count;
};

static void add(struct ledger *ledger, pw_maturity level, bool met, const char *requirement, const char *format, ...)
    PW_PRINTF(5, 6);
static void add(struct ledger *ledger, pw_maturity level, bool met, const char *requirement, const char *format, ...)
{
    struct pw_maturity_evidence *e = &ledger->evidence[ledger->count++];
    va_list args;

    *e = (struct pw_maturity_evidence){.level = level, .requirement = requirement, .met = met};
    va_start(args, format);
    vsnprintf(e->found, sizeof e->found, format, args);
    va_end(args);
}

static void add_bring_up(struct ledger *l, const struct pw_maturity_facts *f)
{
    add(l, PW_MATURITY_BRING_UP, f->ran_end_to_end, "the whole graph ran on the target", "%s",
        f->ran_end_to_end ? "portwright run finished" : "no finished portwright run is recorded");
    add(l, PW_MATURITY_BRING_UP, f->end_to_end_held, "its outputs are within tolerance", "%s",
        !f->ran_end_to_end   ? "not known"
        : f->end_to_end_held ? "all outputs held"
                             : "an output does not hold");
}

static void add_verified(struct ledger *l, const struct pw_maturity_facts *f)
{
    add(l, PW_MATURITY_VERIFIED, f->held > 0 && f->failed == 0, "no signature failed",
        "%zu held, %zu failed, %zu waived", f->held, f->failed, f->waived);
    add(l, PW_MATURITY_VERIFIED, f->held > 0 && f->unproven == 0, "every signature that runs on the target is proven",
        "%zu of %zu unproven, %zu on the host", f->unproven, f->signatures, f->host);
}

static void add_performant(struct ledger *l, const struct pw_maturity_facts *f)
{
    add(l, PW_MATURITY_PERFORMANT, f->throughput_baseline, "a throughput baseline is approved", "%s",
        f->throughput_baseline ? "approved" : "none for this environment");
    add(l, PW_MATURITY_PERFORMANT, f->gate_ran && f->gate_passed, "the newest check against it passed", "%s",
        !f->gate_ran     ? "no check against a baseline is recorded"
        : f->gate_passed ? "passed"
                         : "failed");
}

static void add_production(struct ledger *l, const struct pw_maturity_facts *f)
{
    bool soaked = f->soak_seconds >= PW_SOAK_SECONDS; /* false for NaN */

    if (isnan(f->soak_seconds))
        add(l, PW_MATURITY_PRODUCTION, false, "a soak of two hours without a failure", "no soak is recorded");
    else
        add(l, PW_MATURITY_PRODUCTION, soaked && f->soak_failures == 0, "a soak of two hours without a failure",
            "%.2f h, %.0f failures", f->soak_seconds / 3600, f->soak_failures);
    if (isnan(f->soak_seconds) || !(f->soak_deaths > 0))
        add(l, PW_MATURITY_PRODUCTION, false, "the run recovers when a worker dies", "%s",
            isnan(f->soak_seconds) ? "not known" : "not known: none died in the soak");
    else
        add(l, PW_MATURITY_PRODUCTION, f->recovered, "the run recovers when a worker dies",
            "%.0f died or were killed on purpose; %s", f->soak_deaths,
            f->recovered ? "a whole round held after the last" : "no whole round held afterwards");
    add(l, PW_MATURITY_PRODUCTION, f->locked && f->lock_matches, "the environment is pinned", "%s",
        !f->locked        ? "no portwright.lock"
        : f->lock_matches ? "as portwright.lock says"
                          : "differs from portwright.lock");
}

pw_maturity pw_maturity_judge(const struct pw_maturity_facts *facts, struct pw_maturity_evidence *evidence,
                              size_t *count)
{
    struct ledger ledger = {.evidence = evidence};
    pw_maturity level = PW_MATURITY_PRODUCTION;

    add_bring_up(&ledger, facts);
    add_verified(&ledger, facts);
    add_performant(&ledger, facts);
    add_production(&ledger, facts);
    *count = ledger.count;
    for (size_t i = 0; i < ledger.count; i++)
        if (!evidence[i].met && evidence[i].level <= level)
            level = (pw_maturity)(evidence[i].level - 1);
    return level;
}
