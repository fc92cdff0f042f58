/*
 * One run of a check: a model on one target with one binding set, followed to its end, and what came back. The
 * check, the baselines and whatever else needs a graph's results share it. Main thread only.
 */
#ifndef PW_CLI_CHECK_RUN_H
#define PW_CLI_CHECK_RUN_H

#include "cli/options.h"
#include "job/session.h"
#include "report/check.h"

struct pw_check_request {
    const char *target;
    int set;             /* index into the options' binding sets; ignored when there is none */
    const char *op;      /* only signatures of this operator; NULL: all */
    const char *case_id; /* only this case; NULL: all */
    bool timing;
    struct pw_verify_effort effort;
    const struct pw_session_inputs *inputs; /* whose shapes bind dims; NULL: none */
    bool keep_cases;                        /* every case, not only the failed ones */
    bool verdicts_only; /* what is not on the target is no failure, unless `op` or `case_id` asks for it */
};

struct pw_check_run {
    const struct pw_options *options;
    const char *target;
    struct pw_session *session;
    struct pw_arena arena;
    const struct pw_signature_result **rows; /* by signature; NULL: not selected */
    uint64_t *case_sums;                     /* by signature: sum of the hashes of its cases' ids */
    struct pw_event **kept;                  /* events whose content the rows point to */
    size_t kept_count, kept_cap;
    struct pw_report_failure *failures;
    size_t failure_count, failure_cap;
    const struct pw_case_result **cases; /* with keep_cases, as they came */
    size_t case_count, case_cap, case_left_out;
    bool keep_cases, verdicts_only;
    const char *captured;
    int64_t case_timeout_ns; /* that was set; 0: by the work */
    struct pw_verify_totals totals;
    struct pw_error error; /* of the device or the job */
    bool finished, verified, progress;
    int64_t recorded_run;         /* of the verification in the store; 0: not recorded */
    const struct pw_event *extra; /* FINISHED of the last job after the verification; NULL none */
    struct pw_error extra_error;  /* why that one failed */
    char recorded[32];            /* ISO time of the begin */
};

/* Ctrl-C cancels what runs; call once at a command's start. */
void pw_check_run_interruptible(void);
bool pw_check_run_interrupted(void);

/* Without --dim: the binding sets of the protocol, when it has several, become the options'. */
pw_status pw_check_run_sets(struct pw_options *options, struct pw_error *err);

/* Opens, verifies and waits. PW_OK also when gates failed; run->error says when the device or the job failed. Always
 * followed by clear, which closes the session. */
pw_status pw_check_run(struct pw_check_run *run, const struct pw_options *options,
                       const struct pw_check_request *request, struct pw_error *err);
void pw_check_run_clear(struct pw_check_run *run);
/* The session alone, for commands that submit other jobs. */
pw_status pw_check_run_session(const struct pw_options *options, const struct pw_check_request *request,
                               struct pw_session **out, struct pw_error *err);
/* Signatures whose operator is `op` ("Softmax" or "Softmax-13"), in the arena; none is an error. */
pw_status pw_check_run_select(const struct pw_inventory *inventory, const char *op, struct pw_arena *arena,
                              size_t **selection, size_t *count, struct pw_error *err);
/* Waits for the next job to finish. Of jobs after the verification the FINISHED event is kept in run->extra. */
void pw_check_run_follow(struct pw_check_run *run);

/* PW_EXIT_HELD or PW_EXIT_GATE, by the cases alone. */
int pw_check_run_gate(const struct pw_check_run *run);
/* What the report needs; points into the run. */
struct pw_report_check pw_check_run_report(const struct pw_check_run *run);

#endif
