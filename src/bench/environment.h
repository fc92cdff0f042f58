/*
 * The environment of a run: what its figures belong to. Named texts about the machine, the device and what was run,
 * each marked with what it is good for, and an id over those that timings depend on: throughput is compared only
 * within one id. The lock (portwright.lock, reviewed text) pins an environment; checking it says what differs.
 *
 * Reads /proc, /sys, the environment's variables and the ops directories' .git; opens no device and starts no
 * process. Plain data in its arena; thread-safe but for one environment shared by two threads.
 */
#ifndef PW_BENCH_ENVIRONMENT_H
#define PW_BENCH_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "op/kernel.h"
#include "target/device.h"

enum {
    PW_ENVIRONMENT_TIMING = 1, /* part of the id */
    PW_ENVIRONMENT_PINNED = 2, /* written to the lock */
    PW_ENVIRONMENT_TARGET = 4  /* of the target; else of the machine */
};

struct pw_environment_field {
    const char *name;  /* "cpu", "driver", … */
    const char *value; /* "" unknown */
    unsigned scope;    /* PW_ENVIRONMENT_… */
};

#define PW_ENVIRONMENT_ID 17 /* 16 hex digits and the NUL */

struct pw_environment {
    struct pw_arena arena;
    const char *target; /* spec */
    struct pw_environment_field *fields;
    size_t count;
    char id[PW_ENVIRONMENT_ID];
};

struct pw_environment_request {
    const struct pw_device *device; /* NULL or "reference": the machine alone */
    const char *target;             /* spec, when device is NULL */
    const struct pw_ops_dir *ops_dirs;
    size_t ops_dir_count;
    const struct pw_kernel *const *kernels; /* those that are used: their hashes are recorded; may be NULL */
    size_t kernel_count;
};

pw_status pw_environment_read(const struct pw_environment_request *request, struct pw_environment *out,
                              struct pw_error *err);
void pw_environment_clear(struct pw_environment *environment); /* a zeroed one is fine */
/* Value of a field, "" when there is none. */
const char *pw_environment_get(const struct pw_environment *environment, const char *name);
/* The id that throughput baselines are kept under. */
const char *pw_environment_id(const struct pw_environment *environment);

/* One compact JSON object of texts, with "target" and "id"; for the store. */
pw_status pw_environment_json(const struct pw_environment *environment, struct pw_buf *out, struct pw_error *err);
/* Reads that back (names that are not known keep scope 0). */
pw_status pw_environment_parse(const char *json, struct pw_environment *out, struct pw_error *err);
/* Appends "cpu: 'X' in the baseline, 'Y' here; …" for fields of any of the scopes that differ; returns how many.
 * then, now: words for the two, "in the baseline" and "here". */
size_t pw_environment_differences(const struct pw_environment *before, const struct pw_environment *after,
                                  unsigned scopes, const char *then, const char *now, struct pw_buf *out);

/* The commit that a folder's checkout is at ("" when it is in none), from .git alone. */
void pw_environment_revision(const char *dir, char *dst, size_t dst_size);

/* ---- the lock ---- */

#define PW_LOCK_FILE "portwright.lock"

/* Text of a lock for these environments (of one machine, one a target). */
pw_status pw_lock_write(const struct pw_environment *environments, size_t count, struct pw_buf *out,
                        struct pw_error *err);
/* PW_OK with *matches; what differs goes to `differences`, one a line. A lock without this target does not match.
 * PW_ERR_FORMAT and PW_ERR_IO name file, line and key. */
pw_status pw_lock_check(const char *path, const struct pw_environment *environment, bool *matches,
                        struct pw_buf *differences, struct pw_error *err);

#endif
