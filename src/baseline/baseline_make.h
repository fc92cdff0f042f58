/*
 * From what a check measured to a baseline, and from two baselines to what the gate decides on. "Today" is a
 * baseline too, one that nobody has approved, so the check, `baseline record` and `baseline diff` compare alike.
 * Any thread.
 */
#ifndef PW_BASELINE_BASELINE_MAKE_H
#define PW_BASELINE_BASELINE_MAKE_H

#include "baseline/baseline.h"
#include "bench/environment.h"
#include "graph/inventory.h"
#include "verify/verify.h"

struct pw_baseline_source { /* one binding set's results */
    const char *graph_id, *model_path, *dims;
    const struct pw_target_info *info; /* NULL: the reference */
    const struct pw_protocol *protocol;
    const struct pw_environment *environment;
    uint64_t seed;
    const char *version, *recorded; /* of portwright; ISO time */
    const struct pw_inventory *inventory;
    const struct pw_signature_result *const *rows; /* by signature; NULL: not run */
    const uint64_t *case_sums;                     /* by signature: which cases were run */
};

/* Adds the source's results to a baseline of the kind; the first call makes its head. kept_root: where the kernels
 * are kept, NULL: they are not. Texts are copied. */
pw_status pw_baseline_add(struct pw_baseline *baseline, pw_baseline_kind kind, const struct pw_baseline_source *source,
                          const struct pw_gate_options *options, const char *kept_root, struct pw_error *err);

/* Ratios target/reference of one signature, one a slice, in the order of time; at most cap. Samples that are not
 * paired slices are cut into as many consecutive parts, whose medians stand for slices. */
size_t pw_baseline_ratios(const struct pw_signature_result *result, double *ratios, size_t cap);

/* Lines of `now` whose time did not change against `before` take before's figures; *kept: how many. Both are
 * throughput baselines of one environment. */
pw_status pw_baseline_carry(const struct pw_baseline *before, struct pw_baseline *now,
                            const struct pw_gate_options *options, size_t *kept, struct pw_error *err);

struct pw_baseline_pair { /* either may be NULL */
    const struct pw_baseline *precision, *throughput;
};
/* All signatures of either side of a binding set, sorted as in the files; lives in the arena and points into the
 * baselines. partial: signatures that `now` lacks were not run (--op), instead of being gone. *common: on both. */
pw_status pw_baseline_join(const struct pw_baseline_pair *before, const struct pw_baseline_pair *now, const char *dims,
                           bool partial, struct pw_arena *arena, struct pw_gate_signature **signatures, size_t *count,
                           size_t *common, struct pw_error *err);

/* A baseline's environment as bench/environment.h has it, for saying what differs. */
pw_status pw_baseline_environment(const struct pw_baseline *baseline, struct pw_environment *out, struct pw_error *err);

#endif
