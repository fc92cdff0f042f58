/*
 * The store: SQLite, the only place that includes sqlite3.h. One writer, many readers.
 *
 * A pw_store handle is one connection, used by one thread. Rows are immutable once a run is
 * finished. WAL, synchronous=FULL: what a function reported as PW_OK survives a kill -9. Versions of
 * the schema are migrated by PRAGMA user_version; a newer schema than ours is refused untouched.
 * Errors (full disk, read-only folder, corrupted file, busy) say what to do.
 */
#ifndef PW_STORE_STORE_H
#define PW_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/mem.h"

struct pw_store;
struct pw_case_result; /* verify/verify.h */
struct pw_signature_result;
struct pw_signature; /* graph/inventory.h */

/* Opens or creates (folders too). read_only: never creates, writes no rows; a file of an older schema is migrated
 * first where it can be written. A file in a folder that cannot be written is read too. */
pw_status pw_store_open(const char *path, bool read_only, struct pw_store **out, struct pw_error *err);
void pw_store_close(struct pw_store *store);
int pw_store_schema(void); /* the newest version, which every opened file has */

struct pw_store_run {
    const char *kind;  /* "check", "verify", "bench", … */
    const char *graph; /* structure hash */
    const char *model_path;
    const char *target; /* spec */
    const char *target_kind;
    const char *device;         /* name */
    const char *environment;    /* JSON text */
    const char *bindings;       /* "batch=1,sequence=16" */
    const char *protocol;       /* path or "" */
    const char *version;        /* of portwright */
    const char *environment_id; /* short hash of what timings depend on; NULL unknown */
    uint64_t seed;
};

pw_status pw_store_run_begin(struct pw_store *store, const struct pw_store_run *run, int64_t *run_id,
                             struct pw_error *err);
/* One transaction per call. */
pw_status pw_store_case_add(struct pw_store *store, int64_t run_id, const struct pw_signature *signature,
                            const struct pw_case_result *result, struct pw_error *err);
pw_status pw_store_signature_add(struct pw_store *store, int64_t run_id, const struct pw_signature *signature,
                                 const struct pw_signature_result *result, struct pw_error *err);
/* Between these two, rows of pw_store_node_add cost one commit together, and nothing else may be written. */
pw_status pw_store_batch_begin(struct pw_store *store, struct pw_error *err);
pw_status pw_store_batch_end(struct pw_store *store, struct pw_error *err);
/* outcome: "held", "failed", "cancelled", "error". A run without an end was killed. */
pw_status pw_store_run_end(struct pw_store *store, int64_t run_id, const char *outcome, int exit_code,
                           struct pw_error *err);

/* ---- queries: rows live in the caller's arena ---- */

struct pw_store_case_row {
    int64_t run_id;
    int64_t wall_ms;
    const char *case_id, *signature_id, *verdict, *implementation, *shapes, *dtype, *dist, *reason, *log;
    double error, tolerance, max_ulp, reference_error;
    int64_t time_ns;
};
struct pw_store_signature_row {
    int64_t run_id;
    int64_t wall_ms;
    const char *signature_id, *signature, *op, *standing, *coverage, *implementation, *reference_name;
    double worst_error, tolerance, worst_ratio;
    int64_t target_ns, reference_ns; /* medians; 0 unknown */
    int cases, held, failed;
    bool gate_failed;           /* also where the target is demanded and the host serves it */
    const char *environment_id; /* of the run; "" unknown */
    const char *kernel_hash;    /* of the kernel that was measured, "" none or unknown; NULL where the row is made of
                                   something else than a result */
};

/* Latest result of each signature of the graph on the target (kind), newest run that has it. */
pw_status pw_store_latest(struct pw_store *store, const char *graph, const char *target, struct pw_arena *arena,
                          struct pw_store_signature_row **rows, size_t *count, struct pw_error *err);
/* Cases of one signature in its newest run on the target. */
pw_status pw_store_cases(struct pw_store *store, const char *signature_id, const char *target, struct pw_arena *arena,
                         struct pw_store_case_row **rows, size_t *count, struct pw_error *err);
/* All signature rows of one run, by operator and signature. */
pw_status pw_store_run_results(struct pw_store *store, int64_t run_id, struct pw_arena *arena,
                               struct pw_store_signature_row **rows, size_t *count, struct pw_error *err);
/* All signature rows of a signature, oldest first, for trends. bindings: of runs with these dims, NULL: with any. */
pw_status pw_store_history(struct pw_store *store, const char *signature_id, const char *target, const char *bindings,
                           struct pw_arena *arena, struct pw_store_signature_row **rows, size_t *count,
                           struct pw_error *err);

#endif
