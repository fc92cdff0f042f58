/*
 * Reports about baselines: which there are, and what differs between two. Text, Markdown and JSON (schema 1) from the
 * same rows.
 */
#ifndef PW_REPORT_BASELINE_H
#define PW_REPORT_BASELINE_H

#include "baseline/baseline.h"
#include "baseline/gate.h"

struct pw_report_baseline_entry { /* one file */
    const char *folder;           /* <graph>/<target kind> */
    const char *path;
    const struct pw_baseline *baseline; /* its head is shown; NULL: it could not be read */
    const char *error;                  /* why not */
    bool latest;
    const char *state; /* of all that is pending there, as text; NULL: not asked for, or it is not pending */
};
void pw_report_baselines_text(const struct pw_report_baseline_entry *entries, size_t count, struct pw_buf *out);
void pw_report_baselines_md(const struct pw_report_baseline_entry *entries, size_t count, struct pw_buf *out);
pw_status pw_report_baselines_json(const struct pw_report_baseline_entry *entries, size_t count, struct pw_buf *out,
                                   struct pw_error *err);

struct pw_report_diff_part { /* one kind (and environment), one binding set */
    const struct pw_baseline *before, *after;
    const char *dims;
    const struct pw_gate_signature *signatures;
    const struct pw_gate_result *results;
    size_t count;
    const char *mark; /* "other environment: …", "" comparable */
};
struct pw_report_diff {
    const char *before, *after; /* as asked: "latest", "pending", "3" */
    const char *state;          /* of what is pending, as text, where that is one of the two; NULL: not told */
    const struct pw_report_diff_part *parts;
    size_t part_count;
};
/* Signatures that differ in anything that the files say. */
bool pw_report_diff_differs(const struct pw_report_diff_part *part, size_t i);
void pw_report_diff_text(const struct pw_report_diff *diff, struct pw_buf *out);
void pw_report_diff_md(const struct pw_report_diff *diff, struct pw_buf *out);
pw_status pw_report_diff_json(const struct pw_report_diff *diff, struct pw_buf *out, struct pw_error *err);

#endif
