/*
 * A graph evaluation's backend that serves nodes by kernels of a target, one node at a time, each
 * value going through host memory. For conformance and comparison; not a fast executor.
 * One struct serves many threads, each with its own counts.
 */
#ifndef PW_RUN_TARGET_EVAL_H
#define PW_RUN_TARGET_EVAL_H

#include "op/kernel.h"
#include "run/eval.h"
#include "target/device.h"

struct pw_target_eval {
    struct pw_device *device;
    const struct pw_kernels *kernels;
    uint64_t seed;
    uint64_t draws; /* random operators so far */
    size_t target_nodes, host_nodes;
    size_t host_floating; /* host nodes with floating tensors that no control flow or data-dependence explains */
    char host_note[256];  /* the first of those, and why */
};

/* A pw_eval_backend; user is the struct. */
pw_status pw_target_eval_node(void *user, const struct pw_node *node, const struct pw_value *const *inputs,
                              int input_count, struct pw_value *outputs, int output_count, bool *handled,
                              struct pw_error *err);

#endif
