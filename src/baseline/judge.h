/*
 * What a check means: cases, the gates against a baseline and the waivers put together, for one graph on one target.
 * The check's exit code, the reports and the workbench all follow from this. Pure data; any thread.
 */
#ifndef PW_BASELINE_JUDGE_H
#define PW_BASELINE_JUDGE_H

#include "baseline/gate.h"
#include "baseline/triage.h"
#include "graph/inventory.h"
#include "verify/verify.h"

struct pw_judged { /* one signature */
    bool run;
    unsigned failing;                     /* PW_WAIVE_… bits of what fails, waived or not */
    unsigned waived;                      /* of those, covered by a valid waiver */
    const struct pw_triage_entry *entry;  /* NULL: nothing was decided about it */
    pw_waiver_state waiver;               /* of what fails; NONE when nothing does */
    const struct pw_gate_signature *pair; /* NULL: no baseline */
    const struct pw_gate_result *result;
};

struct pw_judgement {
    struct pw_judged *items; /* by signature of the inventory */
    size_t count;
    size_t failing;  /* signatures with something that fails and is not waived */
    size_t waived;   /* whose every failure is waived */
    size_t expired;  /* that fail although a waiver was given: it is over */
    size_t unneeded; /* run and held, with a waiver: it can go */
    size_t held;     /* proven by their cases */
    bool passed;     /* nothing fails and something was proven */
};

struct pw_judge_request {
    const struct pw_inventory *inventory;
    const struct pw_signature_result *const *rows; /* by signature; NULL: not run */
    const struct pw_gate_signature *pairs;         /* NULL: no baseline */
    const struct pw_gate_result *results;
    size_t pair_count;
    const struct pw_triage *triage; /* NULL: none */
    const char *today;              /* "2026-03-01" */
};

/* Items live in the arena and point into the request's data. */
pw_status pw_judge(const struct pw_judge_request *request, struct pw_arena *arena, struct pw_judgement *out,
                   struct pw_error *err);

#endif
