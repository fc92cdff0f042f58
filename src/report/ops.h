/*
 * The table of every operator that is known: versions, semantics, reference, kernels and their
 * dtypes. From the registry and the loaded kernel descriptions alone, so it cannot go stale.
 */
#ifndef PW_REPORT_OPS_H
#define PW_REPORT_OPS_H

#include "base/text.h"
#include "op/kernel.h"

pw_status pw_report_ops_text(const struct pw_kernels *kernels, int width, struct pw_buf *out, struct pw_error *err);
pw_status pw_report_ops_md(const struct pw_kernels *kernels, struct pw_buf *out, struct pw_error *err);
pw_status pw_report_ops_csv(const struct pw_kernels *kernels, struct pw_buf *out, struct pw_error *err);
pw_status pw_report_ops_json(const struct pw_kernels *kernels, struct pw_buf *out, struct pw_error *err);

#endif
