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

typedef enum {
    PW_JUDGED_USED,     /* covers something that fails */
    PW_JUDGED_OTHER,    /* something fails, but nothing that it covers */
    PW_JUDGED_UNNEEDED, /* nothing fails: it can go */
    PW_JUDGED_EXPIRED,  /* past its last day: fails the check, whether or not the signature does */
    PW_JUDGED_STATE_COUNT
} pw_judged_state;

struct pw_judged_waiver {
    const struct pw_triage_entry *entry;
    const struct pw_judged *item; /* NULL: its signature is not in this check; only expired ones are listed then */
    const char *op;               /* never NULL */
    pw_judged_state state;
};

struct pw_judgement {
    struct pw_judged *items; /* by signature of the inventory */
    size_t count;
    struct pw_judged_waiver *waivers; /* of what was run, and those that are over */
    size_t waiver_count;
    size_t failing;  /* signatures with something that fails and is not waived */
    size_t waived;   /* whose every failure is waived */
    size_t expired;  /* waivers that are over: somebody has to renew or remove them */
    size_t unneeded; /* waivers of signatures that were run and held: they can go */
    size_t held;     /* proven by their cases */
    bool passed;     /* nothing fails, no waiver is over, and something was proven */
};

struct pw_judge_request {
    const struct pw_inventory *inventory;
    const struct pw_signature_result *const *rows; /* by signature; NULL: not run */
    const struct pw_gate_signature *pairs;         /* NULL: no baseline */
    const struct pw_gate_result *results;
    size_t pair_count;
    const struct pw_triage *triage; /* NULL: none */
    bool partial;                   /* not all was run (--op): waivers of other signatures are left alone */
    const char *today;              /* "2026-03-01" */
};

/* Items live in the arena and point into the request's data. */
pw_status pw_judge(const struct pw_judge_request *request, struct pw_arena *arena, struct pw_judgement *out,
                   struct pw_error *err);

#endif
