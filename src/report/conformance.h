/*
 * The closing figures of a conformance run: folders passed and failed, where their nodes ran and why
 * some stayed on the host, and the time a folder took. Fed folder by folder, by one thread at a time;
 * keeps no pointer into what it is given.
 */
#ifndef PW_REPORT_CONFORMANCE_H
#define PW_REPORT_CONFORMANCE_H

#include "base/text.h"
#include "run/conformance.h"

struct pw_report_folder {
    char *path; /* owned */
    int64_t elapsed_ns;
};

struct pw_report_host_op {
    char op[PW_TARGET_EVAL_OP];
    size_t folders;
};

/* Why folders are not wholly on the target, by reason. */
struct pw_report_reason {
    const char *why; /* static text */
    size_t folders;
    struct pw_report_host_op *ops; /* owned */
    size_t op_count, op_cap;
};

struct pw_report_conformance {
    bool on_target;
    size_t sets_passed, sets_failed, sets_skipped;
    size_t folders_passed, folders_failed, by_property;
    /* With a target. A folder is wholly there when every node that computes ran there; `steered` are those of them
     * in which the host decided what runs next (If, Loop, Scan, SequenceMap). */
    size_t wholly, wholly_passed, steered, partly, on_host, empty;
    struct pw_report_reason *reasons; /* owned */
    size_t reason_count, reason_cap;
    struct pw_report_folder *folders; /* owned */
    size_t folder_count, folder_cap;
    int64_t wall_ns; /* of the whole run; the caller's */
    int jobs;        /* the caller's */
};

pw_status pw_report_conformance_add(struct pw_report_conformance *report, const char *folder,
                                    const struct pw_conformance_result *result, struct pw_error *err);
/* The figures as text; with `times` also their distribution and the slowest ten. */
void pw_report_conformance_text(struct pw_report_conformance *report, bool times, struct pw_buf *out);
void pw_report_conformance_clear(struct pw_report_conformance *report);

#endif
