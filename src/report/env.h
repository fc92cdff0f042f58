/* The report of `portwright env`: the machine, the OpenCL devices, each target with its contract and peaks;
 * as text or JSON (schema 1, share/schema/env.schema.json). */
#ifndef PW_REPORT_ENV_H
#define PW_REPORT_ENV_H

#include "base/error.h"
#include "base/text.h"
#include "bench/machine.h"
#include "bench/peaks.h"
#include "target/sandbox.h"
#include "target/target.h"

struct pw_report_env_target {
    const char *spec;
    struct pw_error error;             /* status OK: it opened */
    const struct pw_target_info *info; /* when opened; NULL for `reference` */
    const char *library;               /* or NULL */
    int workers;
    struct pw_peaks peaks;       /* count 0: not measured */
    struct pw_error peaks_error; /* why not */
};

/* What this system offers to confine workers, and so what happens to kernels from outside. */
struct pw_report_env_isolation {
    int landlock; /* version; 0 = none */
    bool seccomp;
    pw_sandbox_users_kind users;
    bool confines;     /* foreign kernels run confined; else they are refused */
    char missing[160]; /* why not */
};

struct pw_report_env {
    const char *version;
    struct pw_report_env_isolation isolation;
    struct pw_machine machine;
    const char *openblas; /* its description of itself */
    const char *devices;  /* lines "spec description" */
    struct pw_error devices_error;
    struct pw_report_env_target *targets;
    size_t target_count;
};

void pw_report_env_isolation_read(struct pw_report_env_isolation *out);
/* Parts of the text, without their heads: lines that begin with two blanks. */
void pw_report_env_isolation_text(const struct pw_report_env_isolation *isolation, struct pw_buf *out);
void pw_report_env_target_text(const struct pw_report_env_target *target, struct pw_buf *out);
void pw_report_env_text(const struct pw_report_env *report, struct pw_buf *out);
pw_status pw_report_env_json(const struct pw_report_env *report, struct pw_buf *out, struct pw_error *err);

#endif
