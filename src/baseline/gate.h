/*
 * The gate against a baseline: pure data in, decisions out. --check, the workbench and the study of false alarms
 * all call pw_gate_decide and nothing else, so what the study measures is what builds see.
 *
 * It is called again as evidence grows: first with what the check measured; rows that come back with
 * wants_samples are measured more, rows with wants_confirmation get the baseline's kernel run against today's,
 * interleaved (before_ns, now_ns); then everything is decided anew. No input, no clock, thread-safe.
 */
#ifndef PW_BASELINE_GATE_H
#define PW_BASELINE_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bench/stats.h"
#include "op/impl.h"

typedef enum { PW_GATE_COVERAGE, PW_GATE_PRECISION, PW_GATE_THROUGHPUT, PW_GATE_KIND_COUNT } pw_gate_kind;
const char *pw_gate_kind_name(pw_gate_kind kind); /* "coverage", … */

typedef enum {
    PW_GATE_HELD,         /* compared, no worse */
    PW_GATE_BETTER,       /* compared, better: worth a new baseline */
    PW_GATE_WORSE,        /* fails */
    PW_GATE_INCONCLUSIVE, /* never fails, is printed */
    PW_GATE_NEW,          /* the baseline has no such signature: nothing to compare with */
    PW_GATE_GONE,         /* the baseline has it, today's graph has not */
    PW_GATE_SKIPPED,      /* not measured on one side, or not comparable; the reason says why */
    PW_GATE_OUTCOME_COUNT
} pw_gate_outcome;
const char *pw_gate_outcome_name(pw_gate_outcome outcome); /* "held", "better", … */

/* One side of one signature. Unknown numbers are NaN, unknown texts NULL. */
struct pw_gate_side {
    bool present;
    bool measured; /* coverage and standing are known */
    pw_coverage coverage;
    const char *kernel, *kernel_hash; /* what was selected; the hash is over description, sources and prelude */
    bool foreign;                     /* timed by the parent's clock: comparable with its like only */
    double error, tolerance;          /* worst of the cases */
    double limit;                     /* baseline: error beyond which it is worse; NaN: from the options */
    const char *cases;                /* names the set of cases that `error` is the worst of */
    const double *ratios;             /* time on the target / time of the reference interleaved with it, one a slice */
    size_t ratio_count;
};

struct pw_gate_signature {
    const char *id, *op; /* for messages */
    struct pw_gate_side before, now;
    /* Confirmation: the baseline's kernel and today's, interleaved in one run; slice i of one belongs to slice i of
     * the other. 0: not run. */
    const double *before_ns, *now_ns;
    size_t confirm_count;
    const char *unconfirmable; /* why the baseline's kernel cannot be run (it was not kept…); NULL: it can */
};

struct pw_gate_options {
    struct pw_stats_options stats; /* effect, margin, alpha, samples a side */
    double error_factor;           /* precision: worse when now > factor * before + share * tolerance */
    double error_share;
    bool precision, coverage, throughput; /* which gates are on */
    bool throughput_comparable;           /* the environments are the same; else throughput is skipped */
    const char *throughput_why;           /* why not */
};
struct pw_gate_options pw_gate_options_default(void);
/* The error up to which a signature counts as unchanged: never above the tolerance, unless it was before. */
double pw_gate_limit(const struct pw_gate_options *options, double error, double tolerance);

struct pw_gate_result {
    pw_gate_outcome outcome[PW_GATE_KIND_COUNT];
    char reason[PW_GATE_KIND_COUNT][200]; /* one sentence, "" where there is nothing to say */
    double slowdown, low, high;           /* of the time ratio, after/before: 1.2 = 20 % slower; NaN unknown */
    double p_adjusted;                    /* Holm over the signatures of this gate; NaN: no test */
    bool confirmed;                       /* the outcome rests on the interleaved run of both kernels */
    bool wants_samples;                   /* more interleaved slices against the reference could decide */
    bool wants_confirmation;              /* the kernel changed: run both beside each other */
};

struct pw_gate_totals {
    size_t outcomes[PW_GATE_KIND_COUNT][PW_GATE_OUTCOME_COUNT];
    size_t worse; /* signatures with any gate worse */
    size_t wants; /* that more measuring could settle */
};

/* Decides all signatures of one graph on one target at once (tests are corrected for their number). */
pw_status pw_gate_decide(const struct pw_gate_options *options, const struct pw_gate_signature *signatures,
                         size_t count, struct pw_gate_result *results, struct pw_gate_totals *totals,
                         struct pw_error *err);

#endif
