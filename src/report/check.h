/*
 * The report of a check: one row a signature, the failures with their reproducers, the totals; written
 * as text, JSON (schema 1), CSV or Markdown from the same rows.
 */
#ifndef PW_REPORT_CHECK_H
#define PW_REPORT_CHECK_H

#include "graph/inventory.h"
#include "verify/verify.h"

struct pw_report_gate;

struct pw_report_failure {
    size_t signature;
    const char *case_id, *verdict, *reason, *shapes, *log;
};

struct pw_report_check {
    const struct pw_inventory *inventory;
    const char *model_path, *graph_id, *target, *device, *runtime, *bindings, *protocol;
    const struct pw_ops_dir *ops_dirs; /* of the command line, for the reproducer */
    size_t ops_dir_count;
    const char *captured;    /* folder, or NULL */
    int64_t case_timeout_ns; /* of verify --case-timeout; 0: not given */
    uint64_t seed;
    const struct pw_signature_result **rows; /* by signature; NULL: not selected */
    const struct pw_report_failure *failures;
    size_t failure_count;
    struct pw_verify_totals totals;
    bool verdicts_only; /* what is not on the target is counted, and no failure: verify of all signatures */
    const struct pw_report_gate *gate; /* baselines and waivers (report/check_gate.h); NULL: neither was looked at */
    int exit_code;
};

/* Why the check ends as it does, one sentence. */
void pw_report_check_outcome(const struct pw_report_check *report, struct pw_buf *out);

void pw_report_check_text(const struct pw_report_check *report, int width, bool color, struct pw_buf *out);
/* The part after the table: failures, gates, the outcome. */
void pw_report_check_summary(const struct pw_report_check *report, bool md, bool color, struct pw_buf *out);
void pw_report_check_md(const struct pw_report_check *report, struct pw_buf *out);
/* Appended: the head only where nothing is there yet, each row with its target and dims. */
void pw_report_check_csv(const struct pw_report_check *report, struct pw_buf *out);
pw_status pw_report_check_json(const struct pw_report_check *report, struct pw_buf *out, struct pw_error *err);
struct json_t *pw_report_check_json_value(const struct pw_report_check *report); /* the same, owned by the caller */
/* "held", "failed"…, "host", "NOT ON TARGET". */
const char *pw_report_check_verdict(const struct pw_signature_result *row);

/* One field of a CSV line (RFC 4180), made safe; a leading = + - @ of foreign text gets a quote so that no
 * spreadsheet runs it. */
void pw_report_csv_field(struct pw_buf *out, const char *text, bool last);
/* A cell of a Markdown table: pipes and markup escaped, made safe. */
void pw_report_md_cell(struct pw_buf *out, const char *text);
/* Text in XML and HTML, attributes too: made safe and escaped. */
void pw_report_xml_text(struct pw_buf *out, const char *text);
/* A JSON string from bytes that need not be UTF-8; json_t owned by the caller. */
struct json_t *pw_report_json_text(const char *text);
/* JSON null for NaN and infinity. */
struct json_t *pw_report_json_real(double value);

#endif
