/*
 * One backend-test folder: loads the model, runs every data set on the reference or a target and
 * compares as the ONNX backend suite does (|x-want| <= atol + rtol*|want|, NaN equals NaN). In graphs of
 * several operators an element near zero is judged by the output's scale (conformance.c says how and why).
 * Outputs that descend from draws are judged by property: shape, dtype, the random nodes' own properties
 * (run/property.h), and as samples against the set's draws. Thread-safe: several folders may run at once on one device.
 */
#ifndef PW_RUN_CONFORMANCE_H
#define PW_RUN_CONFORMANCE_H

#include "base/error.h"
#include "op/kernel.h"
#include "run/target_eval.h"
#include "target/device.h"

typedef enum { PW_CONFORMANCE_PASSED, PW_CONFORMANCE_FAILED, PW_CONFORMANCE_SKIPPED } pw_conformance_outcome;

struct pw_conformance_set {
    char name[64]; /* "test_data_set_0" */
    pw_conformance_outcome outcome;
    char note[PW_ERROR_MAX]; /* why it failed or was skipped, where it differs first; "by property"; "" */
    bool by_property;        /* outputs that descend from draws were judged by property */
    size_t target_nodes, host_nodes;
    struct pw_host_reason reasons[PW_TARGET_EVAL_REASONS]; /* why nodes ran on the host */
    size_t reason_count;
    int64_t elapsed_ns; /* the graph's run, files read before */
};

struct pw_conformance_result {
    struct pw_conformance_set *sets; /* owned */
    size_t set_count;
    bool on_target;
};

struct pw_conformance_options {
    double rtol, atol;
    struct pw_device *device; /* NULL: reference */
    const struct pw_kernels *kernels;
    bool strict;         /* no judging by the output's scale for whole graphs */
    bool require_target; /* a floating-point node on the host fails the set */
    bool warm;           /* each set runs once beforehand, so that its time is without loading of code */
    uint64_t seed;
};

/* Never fails as a call: a model that cannot be read is one failed set with the reason. */
void pw_conformance_run(const char *folder, const struct pw_conformance_options *options,
                        struct pw_conformance_result *result);
void pw_conformance_clear(struct pw_conformance_result *result);

#endif
