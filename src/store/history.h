/*
 * What the store knows over time: series of figures per signature, retention, backups. A handle is used by one thread,
 * as store.h says; rows live in the caller's arena.
 */
#ifndef PW_STORE_HISTORY_H
#define PW_STORE_HISTORY_H

#include "store/store.h"

struct pw_history_filter { /* NULL or 0: any */
    const char *op;        /* "Softmax" (any version) or "Softmax-13" */
    const char *signature;
    const char *target; /* spec */
    const char *graph;  /* structure hash, or its beginning */
    int64_t since_ms;   /* wall time */
};

struct pw_history_point {
    int64_t run, wall_ms;
    const char *environment_id; /* "" unknown */
    const char *standing, *coverage, *kernel;
    const char *kernel_hash;         /* "" unknown */
    double error, tolerance;         /* NaN unknown */
    int64_t target_ns, reference_ns; /* medians; 0 unknown */
    const char *reference;
};

struct pw_history_series { /* one signature on one target with one set of dims */
    const char *signature, *op, *text, *target, *dims;
    struct pw_history_point *points; /* oldest first */
    size_t count;
};

/* Sorted by operator, signature, target, dims. */
pw_status pw_history_read(struct pw_store *store, const struct pw_history_filter *filter, struct pw_arena *arena,
                          struct pw_history_series **series, size_t *count, struct pw_error *err);

/* The environments of the recorded runs, each once: what an id of a point stands for. */
struct pw_history_environment {
    const char *id, *json; /* bench/environment.h reads it */
};
pw_status pw_history_environments(struct pw_store *store, struct pw_arena *arena,
                                  struct pw_history_environment **environments, size_t *count, struct pw_error *err);

/* What one run says of a whole graph: a check or verify of its signatures, or a run of all of it (kind "run"). */
struct pw_store_graph_row {
    int64_t run_id, wall_ms;        /* begin */
    const char *kind, *outcome;     /* outcome "" while not ended */
    const char *environment_id;     /* "" unknown */
    int signatures, failed, timed;  /* with results; of a run of all: 0 */
    double worst_share;             /* error / tolerance: of the worst signature, or output; NaN unknown */
    double target_ns, reference_ns; /* medians: of the timed signatures times their nodes, summed, or of the run; NaN */
};
/* Those of the graph on the target (spec) with these dims (NULL: any), oldest first; rows in the arena. */
pw_status pw_store_graph_history(struct pw_store *store, const char *graph, const char *target, const char *bindings,
                                 struct pw_arena *arena, struct pw_store_graph_row **rows, size_t *count,
                                 struct pw_error *err);

/* What a gate decided about a signature of a run. */
struct pw_store_decision {
    const char *signature, *gate, *outcome; /* id; "precision"…; "worse"… */
    const char *baseline;                   /* path of its file, "" none */
    const char *reason;
    double slowdown, low, high, p; /* NaN unknown */
    bool confirmed, waived;
    int64_t run_id; /* of what was read; what is added says it by the call */
};
/* One transaction; signatures that the store does not know are left out. */
pw_status pw_store_decisions_add(struct pw_store *store, int64_t run_id, const struct pw_store_decision *decisions,
                                 size_t count, struct pw_error *err);
/* Those of the newest run of the graph on the target that has any; *run_id 0 when there is none. */
pw_status pw_store_decisions(struct pw_store *store, const char *graph, const char *target, struct pw_arena *arena,
                             int64_t *run_id, struct pw_store_decision **decisions, size_t *count,
                             struct pw_error *err);

struct pw_history_retention {
    int64_t before_ms; /* runs that began earlier go, but none that comes after one that stays */
    int keep_runs;     /* but of each graph, target and kind the newest so many stay */
    bool samples_only; /* only their raw samples and logs go; verdicts and medians stay */
};
struct pw_history_pruned {
    int64_t runs, results, verdicts, signatures; /* rows that went (or lost their samples) */
    int64_t bytes;                               /* that the file became smaller */
};
/* One transaction, then the file is shrunk. dry_run: counts, changes nothing. */
pw_status pw_history_prune(struct pw_store *store, const struct pw_history_retention *retention, bool dry_run,
                           struct pw_history_pruned *out, struct pw_error *err);

/* A whole, consistent copy while others go on writing; replaces `path` only when it is complete and sound. */
pw_status pw_history_backup(struct pw_store *store, const char *path, struct pw_error *err);
/* SQLite's own check of all pages and indexes, and whether all tables and columns are there; PW_ERR_STORE with what
 * it found. */
pw_status pw_store_integrity(struct pw_store *store, struct pw_error *err);

#endif
