/* What the sanitizer found, as text or JSON ("report": "sanitize"). Pure: writes into a buffer. */
#ifndef PW_REPORT_SANITIZE_H
#define PW_REPORT_SANITIZE_H

#include "base/text.h"
#include "verify/sanitize.h"

struct pw_sanitize_report {
    struct pw_sanitize_totals totals;
    const struct pw_finding *findings;
    size_t count;
    const char *const *without; /* kernels for which no case is small enough */
    size_t without_count;
};

void pw_report_sanitize_text(struct pw_buf *out, const struct pw_sanitize_report *report);
pw_status pw_report_sanitize_json(struct pw_buf *out, const struct pw_sanitize_report *report, struct pw_error *err);

#endif
