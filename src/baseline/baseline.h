/*
 * Baselines: what a graph once was on a kind of target, as reviewed text.
 *
 *   baselines/<graph>/<target kind>/precision-<number>.yaml              errors; holds on any machine with that kind
 *   baselines/<graph>/<target kind>/throughput-<environment>-<number>.yaml   times; holds in that environment only
 *   baselines/<graph>/<target kind>/precision-pending.yaml, throughput-<environment>-pending.yaml
 *   baselines/<graph>/triage.yaml                                         (baseline/triage.h)
 *   baselines/kernels/<hash>/                                             the kernels, kept (baseline/kept.h)
 *
 * `record` writes the pending ones, `approve` numbers them; a number is never used twice and a numbered file never
 * changes. One line a signature, sorted by operator and id; a line differs between two baselines only where something
 * changed: times that did not change by effect and test keep the earlier measurement's line. Any thread; one struct
 * belongs to one thread.
 */
#ifndef PW_BASELINE_BASELINE_H
#define PW_BASELINE_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "baseline/gate.h"

#define PW_BASELINE_DIR "baselines"
#define PW_BASELINE_SLICES 21 /* ratios kept for a signature */
#define PW_BASELINE_MAX_BYTES ((size_t)1 << 20)

typedef enum { PW_BASELINE_PRECISION, PW_BASELINE_THROUGHPUT, PW_BASELINE_KIND_COUNT } pw_baseline_kind;
const char *pw_baseline_kind_name(pw_baseline_kind kind);

/* Who approves and decides: PORTWRIGHT_USER, git's author or committer in the environment, the account's full name, the
 * login's name; "" unknown. Returns dst. */
#define PW_BASELINE_NAME 64
const char *pw_baseline_approver(char *dst, size_t size);

struct pw_baseline_interval { /* a median with its interval; NaN unknown */
    double median, low, high;
};

/* Texts are never NULL; unknown numbers are NaN. */
struct pw_baseline_row {
    const char *id, *op, *shapes;
    const char *kernel; /* selected implementation, "" none */
    pw_coverage coverage;
    /* precision */
    const char *standing;
    double error, tolerance, limit;
    const char *cases; /* "24:<16 digits>": how many and which */
    /* throughput */
    struct pw_baseline_interval target_ns, reference_ns, ratio; /* ratio: target / reference */
    const char *reference;                                      /* "openblas", … */
    double *ratios;                                             /* one a slice */
    size_t ratio_count;
};

struct pw_baseline_set { /* one binding set */
    const char *dims;    /* "batch=1,sequence=16"; "" all fixed */
    struct pw_baseline_row *rows;
    size_t count;
};

struct pw_baseline_kernel {
    const char *name, *hash;                 /* hash: description, sources and prelude */
    const char *kept;                        /* folder under baselines/kernels, "" not kept */
    const char *author, *algorithm, *tiling; /* provenance */
    bool foreign; /* from --ops-dir: timed by the parent's clock, which is not comparable with a built-in one's times */
};

struct pw_baseline_text { /* an environment's fields, in order */
    const char *name, *value;
};

struct pw_baseline {
    struct pw_arena arena;
    pw_baseline_kind kind;
    int number;       /* 0: pending */
    const char *path; /* it was read from, or "" */
    const char *graph, *model;
    const char *target_kind, *device, *driver, *runtime;
    const char *environment_id; /* throughput */
    struct pw_baseline_text *environment;
    size_t environment_count;
    const char *protocol, *protocol_hash; /* file ("" defaults) and the hash of its content */
    uint64_t seed;
    const char *version;                             /* of portwright */
    const char *recorded;                            /* ISO time */
    const char *approved_by, *approved_at, *message; /* "" while pending */
    struct pw_baseline_set *sets;                    /* sorted by dims */
    size_t set_count;
    struct pw_baseline_kernel *kernels; /* sorted by name */
    size_t kernel_count;
};

void pw_baseline_clear(struct pw_baseline *baseline); /* a zeroed one is fine */
/* PW_ERR_FORMAT names file, line and key. A file with a baseline's name holds what its name says: a copy of what is
 * pending is no approved one. */
pw_status pw_baseline_read(const char *path, struct pw_baseline *out, struct pw_error *err);
/* The same of a text that was read from path. */
pw_status pw_baseline_parse(const char *path, const char *text, size_t size, struct pw_baseline *out,
                            struct pw_error *err);
pw_status pw_baseline_check_name(const struct pw_baseline *baseline, struct pw_error *err); /* by its path */
pw_status pw_baseline_print(const struct pw_baseline *baseline, struct pw_buf *out, struct pw_error *err);
const struct pw_baseline_set *pw_baseline_set_of(const struct pw_baseline *baseline, const char *dims); /* NULL: none */
const struct pw_baseline_row *pw_baseline_row_of(const struct pw_baseline_set *set, const char *id);
const struct pw_baseline_kernel *pw_baseline_kernel_of(const struct pw_baseline *baseline, const char *name);
/* Sorts sets, rows and kernels into the order of the files. */
void pw_baseline_sort(struct pw_baseline *baseline);

/* ---- files ---- */

/* <graph folder>/<target kind> */
pw_status pw_baseline_folder(const char *root, const char *graph_id, const char *model_path, const char *target_kind,
                             struct pw_buf *out, struct pw_error *err);

struct pw_baseline_file { /* one that is there; texts in the caller's arena */
    const char *path, *name;
    pw_baseline_kind kind;
    const char *environment_id; /* throughput, else "" */
    int number;                 /* 0: pending */
};
/* Files of a folder, by kind, environment, number; what is no baseline is left out. An absent folder has none. */
pw_status pw_baseline_list(const char *folder, struct pw_arena *arena, struct pw_baseline_file **files, size_t *count,
                           struct pw_error *err);
/* Which file `which` means: "latest", "pending" or a number; for throughput the newest of the environment up to that
 * number. *path NULL: there is none (an error only for a number without a precision file). */
pw_status pw_baseline_find(const char *folder, const char *which, pw_baseline_kind kind, const char *environment_id,
                           struct pw_arena *arena, const char **path, struct pw_error *err);
/* Writes the pending file of its kind (and environment), replacing an earlier one, whole or not at all. */
pw_status pw_baseline_save_pending(const char *folder, const struct pw_baseline *baseline, struct pw_buf *path,
                                   struct pw_error *err);

/* What is pending in the folder as one number, never 0, that any change to it changes. */
pw_status pw_baseline_pending(const char *folder, size_t *state, struct pw_error *err);
/* That number as a person writes it: 16 digits of 0-9 and a-f; false: it is none, or nothing could be pending with it.
 */
#define PW_BASELINE_STATE 17
const char *pw_baseline_state_text(size_t state, char dst[PW_BASELINE_STATE]);
bool pw_baseline_state_parse(const char *text, size_t *state);

struct pw_baseline_approval {
    const char *by, *message; /* both required */
    const char *at;           /* ISO time */
    size_t seen;              /* pw_baseline_pending before the approver looked; 0: whatever is pending */
};
/* Numbers what is pending in the folder: one number for all, the next that no file there has. *approved: how many
 * files; their paths, one a line, to `paths`. PW_ERR_USAGE when nothing is pending, or something else
 * than was seen. Safe beside other approvals and
 * records: no number is given twice, no file is overwritten, and a pending file that was replaced meanwhile stays. */
pw_status pw_baseline_approve(const char *folder, const struct pw_baseline_approval *approval, int *number,
                              size_t *approved, struct pw_buf *paths, struct pw_error *err);

#endif
