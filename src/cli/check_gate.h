/* The gate of a check: reads baseline and triage, decides, measures more where that could settle it. Main thread. */
#ifndef PW_CLI_CHECK_GATE_H
#define PW_CLI_CHECK_GATE_H

#include "baseline/baseline_make.h"
#include "baseline/gate_settings.h"
#include "cli/check_run.h"
#include "report/check_gate.h"

struct pw_check_gate_request {
    const char *root;   /* folder of baselines */
    const char *which;  /* "latest", "pending", a number, a file; NULL: no baseline, waivers only */
    bool partial;       /* not all signatures were run */
    int64_t budget_ns;  /* for more samples and confirmations; 0: none */
    bool update_triage; /* failing signatures that nobody wrote down yet become open entries */
};

struct pw_check_gate {
    struct pw_arena arena;
    struct pw_report_gate report; /* what is said; points into the fields below */
    struct pw_gate_options options;
    pw_gate_environment on_environment; /* what another environment than the baseline's means */
    struct pw_baseline precision, throughput, now_precision, now_throughput;
    struct pw_environment environment;
    struct pw_triage *triage;
    struct pw_gate_signature *pairs; /* what report.pairs and report.results show, to be filled up and decided anew */
    struct pw_gate_result *results;
};

/* PW_ERR_USAGE when the baseline is not there, or is of another graph, kind of target or dims: with the reason. */
pw_status pw_check_gate(struct pw_check_gate *gate, struct pw_check_run *run,
                        const struct pw_check_gate_request *request, struct pw_error *err);
/* Measures what the gate wants, within the budget: baselines' kernels beside today's where a time looks slower, more
 * slices where nothing is clear yet; decides anew. Part of the above. A measurement that fails leaves things as
 * undecided as they were. */
pw_status pw_check_settle(struct pw_check_gate *gate, struct pw_check_run *run,
                          const struct pw_check_gate_request *request, struct pw_error *err);
void pw_check_gate_clear(struct pw_check_gate *gate);

#endif
