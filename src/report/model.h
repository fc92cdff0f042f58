/*
 * The report on a graph: everything that is known of it on its targets, read from the store, the reviewed texts and the
 * graph itself, as plain data. Writers (Markdown, HTML, CSV, JSON, JUnit, OpenMetrics) draw from it alone, so they
 * agree. It never claims more than was measured: what is unknown says so. Any thread; one report belongs to one.
 */
#ifndef PW_REPORT_MODEL_H
#define PW_REPORT_MODEL_H

#include "baseline/triage.h"
#include "bench/environment.h"
#include "graph/inventory.h"
#include "store/bench.h"
#include "store/endtoend.h"
#include "store/store.h"

#define PW_REPORT_TREND 60 /* newest points kept of a signature */

struct pw_report_row { /* a signature on a target; NaN and "" unknown */
    const struct pw_signature *signature;
    const struct pw_store_signature_row *result; /* NULL: never verified there */
    const struct pw_store_bench_row *bench;      /* NULL: never benchmarked */
    const struct pw_triage_entry *triage;        /* NULL: nothing decided */
    pw_waiver_state waiver;
    double errors[PW_REPORT_TREND]; /* oldest first */
    double speeds[PW_REPORT_TREND]; /* NaN also where another environment than the newest had it */
    size_t trend_count;
};

/* Levels of maturity, each on top of the one before. */
typedef enum {
    PW_MATURITY_NONE,
    PW_MATURITY_BRING_UP,
    PW_MATURITY_VERIFIED,
    PW_MATURITY_PERFORMANT,
    PW_MATURITY_PRODUCTION,
    PW_MATURITY_COUNT
} pw_maturity;
const char *pw_maturity_name(pw_maturity level); /* "unproven", "bring-up", … */

struct pw_maturity_evidence {
    pw_maturity level;
    const char *requirement;
    bool met;
    char found[192]; /* the figure, or what is missing */
};
#define PW_MATURITY_EVIDENCE 12

/* What maturity is judged by; plain, for tests too. */
struct pw_maturity_facts {
    size_t signatures, host, held, failed, unproven, waived; /* floating or not, shape arithmetic aside */
    bool ran_end_to_end, end_to_end_held;
    size_t outputs;
    bool throughput_baseline;   /* an approved one for this environment */
    bool gate_ran, gate_passed; /* the newest check against a baseline judged throughput */
    double soak_seconds;        /* NaN: none */
    double soak_failures;       /* verdicts and runs that failed in it */
    bool locked, lock_matches;  /* an environment lock is there, and the newest run is as pinned */
    double soak_deaths;         /* of workers in it, those that it killed on purpose among them; NaN none known */
    bool recovered;             /* and a whole round held after the last of them */
};
pw_maturity pw_maturity_judge(const struct pw_maturity_facts *facts, struct pw_maturity_evidence *evidence,
                              size_t *count);
#define PW_SOAK_SECONDS 7200.0 /* that production asks for */

struct pw_report_target_part {
    const char *target, *kind, *device;
    struct pw_store_run_row run; /* newest of any kind; id 0: nothing was measured */
    struct pw_environment environment;
    struct pw_report_row *rows;                    /* by signature of the inventory */
    size_t coverage[PW_COVERAGE_COUNT], uncovered; /* signatures by what serves them; not known */
    size_t held, failed, unproven;
    double worst_share; /* error / tolerance; NaN */
    double speed;       /* geometric mean of reference / target; NaN */
    struct pw_store_run_row endtoend_run;
    struct pw_store_output_row *outputs;
    size_t output_count;
    struct pw_store_figure_row *figures;
    size_t figure_count;
    struct pw_store_run_row soak_run;
    struct pw_store_figure_row *soak;
    size_t soak_count;
    pw_maturity maturity;
    struct pw_maturity_evidence evidence[PW_MATURITY_EVIDENCE];
    size_t evidence_count;
};

struct pw_report {
    struct pw_arena arena;
    const struct pw_inventory *inventory; /* the caller's */
    const char *model_path, *graph_id, *version;
    char made[32]; /* ISO time */
    struct pw_triage *triage;
    struct pw_report_target_part *targets;
    size_t target_count;
};

struct pw_report_request {
    const struct pw_inventory *inventory;
    const char *model_path, *graph_id;
    const char *const *targets;
    size_t target_count;
    const char *db, *baselines; /* paths */
    int64_t now_ms;             /* wall time */
};
pw_status pw_report_build(const struct pw_report_request *request, struct pw_report **out, struct pw_error *err);
void pw_report_destroy(struct pw_report *report);

/* "held", "failed", "unproven", "host", "not measured". */
const char *pw_report_row_verdict(const struct pw_report_row *row);
void pw_report_missing_on(const struct pw_report *report, size_t signature, struct pw_buf *out); /* "chip-x, …" */
const char *pw_report_row_coverage(const struct pw_report_row *row);                             /* "?" not known */
double pw_report_row_share(const struct pw_report_row *row);            /* error / tolerance; NaN */
double pw_report_row_speed(const struct pw_report_row *row);            /* reference / target; NaN */
double pw_report_row_target_ns(const struct pw_report_row *row);        /* NaN */
const char *pw_report_row_environment(const struct pw_report_row *row); /* id that its times belong to; "" unknown */
/* Were its times taken in another environment than the target's newest run? Then they do not compare with the rest. */
bool pw_report_row_elsewhere(const struct pw_report_target_part *part, const struct pw_report_row *row);
size_t pw_report_elsewhere(const struct pw_report *report, const struct pw_report_target_part *part); /* such rows */
/* A recorded figure as one reads it, by the unit that its name ends with, "-" unknown; returns dst. */
const char *pw_report_figure_text(const char *name, double value, char *dst, size_t size);
bool pw_report_waiver_over(const struct pw_report *report, const struct pw_triage_entry *entry); /* on its day */

void pw_report_md(const struct pw_report *report, struct pw_buf *out);
/* style: CSS in place of the built-in (reports/report.css), without "</"; NULL: the built-in. */
void pw_report_html(const struct pw_report *report, const char *style, struct pw_buf *out);
void pw_report_csv(const struct pw_report *report, struct pw_buf *out);
pw_status pw_report_json(const struct pw_report *report, struct pw_buf *out, struct pw_error *err);
void pw_report_junit(const struct pw_report *report, struct pw_buf *out);
void pw_report_openmetrics(const struct pw_report *report, struct pw_buf *out);

#endif
