/*
 * One graph on several targets, with the same dims: one table with a column group a target (coverage, worst error,
 * verdict, throughput), and what is missing where. Text, Markdown, CSV; as data for the workbench too.
 */
#ifndef PW_REPORT_TARGETS_H
#define PW_REPORT_TARGETS_H

#include "report/check.h"

struct pw_report_target {
    const char *target;                  /* spec */
    const struct pw_report_check *check; /* NULL: the target could not be used */
    const char *error;                   /* why not */
};

struct pw_report_targets {
    const struct pw_report_target *targets;
    size_t count;
};

/* A signature on a target. */
struct pw_target_cell {
    const struct pw_signature_result *row; /* NULL: not run there */
    const char *coverage, *verdict;        /* words of the check's report; "-" when not run */
    double error, tolerance, speed;        /* speed: reference / target; NaN unknown */
    bool good;                             /* it runs there and held, or may stay on the host */
};
/* Cell of signature i (of the inventory of the first usable target) on target t. */
struct pw_target_cell pw_report_target_cell(const struct pw_report_targets *report, size_t i, size_t t);
/* The inventory that indices speak of; NULL when no target could be used. */
const struct pw_inventory *pw_report_targets_inventory(const struct pw_report_targets *report);
/* Is the signature good on some target and not on all that were used? */
bool pw_report_targets_differ(const struct pw_report_targets *report, size_t i);

struct pw_target_summary { /* of one column */
    size_t coverage[PW_COVERAGE_COUNT];
    size_t held, failed, missing; /* missing: good elsewhere, not here */
    double worst_ratio;           /* error / tolerance; NaN none */
    double speed;                 /* geometric mean of reference / target; NaN none */
};
struct pw_target_summary pw_report_target_summary(const struct pw_report_targets *report, size_t t);

void pw_report_targets_text(const struct pw_report_targets *report, int width, bool color, struct pw_buf *out);
void pw_report_targets_md(const struct pw_report_targets *report, struct pw_buf *out);
/* The JSON of a check of several targets or binding sets: {"schema": 1, "kind": "checks", "runs": […]}, each run as the
 * JSON of one check, and a comparison for each binding set. begin, add each set, end (which frees). */
struct json_t *pw_report_checks_begin(void);
void pw_report_checks_add(struct json_t *root, const struct pw_report_targets *set);
pw_status pw_report_checks_end(struct json_t *root, struct pw_buf *out, struct pw_error *err);

#endif
