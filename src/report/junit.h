/*
 * JUnit XML of checks: what a CI server shows as tests. A suite for the cases of each target and binding set, one for
 * each gate against the baseline; a waived failure is a skipped test with the waiver's reason.
 */
#ifndef PW_REPORT_JUNIT_H
#define PW_REPORT_JUNIT_H

#include "report/targets.h"

/* begin, add each binding set, end. */
void pw_report_junit_begin(struct pw_buf *out);
void pw_report_junit_add(const struct pw_report_targets *set, struct pw_buf *out);
void pw_report_junit_end(struct pw_buf *out);

#endif
