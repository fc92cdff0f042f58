/*
 * The report of a verification: a row a signature, every case in the machine formats, each failure with the line that
 * reproduces it and the smallest case that still fails. Text, Markdown, CSV (a line a case), JSON (schema 1,
 * share/schema/verify.schema.json), JUnit XML (a test case a case). Pure: plain data into a buffer.
 */
#ifndef PW_REPORT_VERIFY_H
#define PW_REPORT_VERIFY_H

#include "report/check.h"

struct pw_report_verify {
    struct pw_report_check check; /* rows, totals, model, target */
    const struct pw_case_result *const *cases;
    size_t case_count;
    size_t case_left_out; /* cases beyond what was kept; the totals count them */
    int64_t elapsed_ns, budget_ns;
};

/* A word of a command for a shell, quoted where it must be, without control characters. */
void pw_report_shell_word(struct pw_buf *out, const char *text);
/* "portwright verify MODEL --target … --case ID": a line for a shell. */
void pw_report_reproduce(const struct pw_report_check *report, const char *case_id, struct pw_buf *out);

void pw_report_verify_text(const struct pw_report_verify *report, int width, bool color, struct pw_buf *out);
void pw_report_verify_md(const struct pw_report_verify *report, struct pw_buf *out);
void pw_report_verify_csv(const struct pw_report_verify *report, struct pw_buf *out);
void pw_report_verify_junit(const struct pw_report_verify *report, struct pw_buf *out);
pw_status pw_report_verify_json(const struct pw_report_verify *report, struct pw_buf *out, struct pw_error *err);

#endif
