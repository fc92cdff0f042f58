/*
 * Microbenchmarks in the store. Same rules as store.h: one connection, one thread, rows that never change.
 */
#ifndef PW_STORE_BENCH_H
#define PW_STORE_BENCH_H

#include "bench/bench.h"
#include "graph/inventory.h"
#include "store/store.h"

/* One transaction. The figure's raw samples go along when it has them; one that was skipped is recorded as such. */
pw_status pw_store_bench_add(struct pw_store *store, int64_t run_id, const struct pw_signature *signature,
                             const struct pw_bench_figure *figure, bool cold, double launch_ns, struct pw_error *err);

struct pw_store_bench_row {
    int64_t run_id;
    int64_t wall_ms;
    const char *signature_id, *implementation, *kernel_hash, *cache, *reference_name, *level, *bound, *suspicion;
    int slices;
    double target_ns, target_low_ns, target_high_ns;         /* NaN unknown, as below */
    double reference_ns, speedup, speedup_low, speedup_high; /* speedup: time of the reference / of the target */
    double flops, read_bytes, write_bytes, roof_ns, launch_ns;
    const double *target_slices, *reference_slices; /* medians of the slices, ns; NULL unknown */
    size_t target_slice_count, reference_slice_count;
    const char *environment_id; /* of the run; "" unknown */
};
/* Newest figure of each signature of the graph on the target (spec); rows in the arena. */
pw_status pw_store_bench_latest(struct pw_store *store, const char *graph, const char *target, struct pw_arena *arena,
                                struct pw_store_bench_row **rows, size_t *count, struct pw_error *err);
/* All figures of one signature on the target with these dims (NULL: any), oldest first. */
pw_status pw_store_bench_history(struct pw_store *store, const char *signature_id, const char *target,
                                 const char *bindings, struct pw_arena *arena, struct pw_store_bench_row **rows,
                                 size_t *count, struct pw_error *err);

#endif
