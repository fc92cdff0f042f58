/*
 * Evaluates nodes and whole graphs on the references, and on a target node by node.
 * Golden carries floats as float64 from input to output (rounded once by pw_eval_round);
 * fast carries float32. Memory is freed as soon as no later node needs a value.
 */
#ifndef PW_RUN_EVAL_H
#define PW_RUN_EVAL_H

#include "graph/graph.h"
#include "op/op.h"

/* One node on values carried for `mode` (inputs already in carrier dtype; see pw_eval_carry).
 * Outputs are owned by the caller. */
pw_status pw_eval_node(const struct pw_node *node, pw_eval_mode mode, const struct pw_value *const *inputs,
                       int input_count, struct pw_value *outputs, int output_count, uint64_t seed,
                       struct pw_error *err);

/* Golden of a node whose sums are taken in the given order (op->ordered, which the operator must have). */
pw_status pw_eval_ordered(const struct pw_node *node, const struct pw_order *order,
                          const struct pw_value *const *inputs, int input_count, struct pw_value *outputs,
                          int output_count, struct pw_error *err);

/* Copy of a value with its carrier for the mode (borrows when nothing changes). */
pw_status pw_eval_carry(struct pw_value *dst, const struct pw_value *src, pw_eval_mode mode, struct pw_error *err);
/* Rounds a carried value to its nominal dtype (one rounding). */
pw_status pw_eval_round(struct pw_value *dst, const struct pw_value *carried, struct pw_error *err);

/* Called after each node of the main graph and subgraphs with its outputs (carried); return non-OK to stop. */
typedef pw_status pw_eval_observe(void *user, const struct pw_node *node, const struct pw_value *const *inputs,
                                  const struct pw_value *outputs, struct pw_error *err);

/* Replaces the evaluation of single nodes (a target). *handled false: the reference does it. Values are in
 * nominal dtypes here (not carried): the runner converts at the border. */
typedef pw_status pw_eval_backend(void *user, const struct pw_node *node, const struct pw_value *const *inputs,
                                  int input_count, struct pw_value *outputs, int output_count, bool *handled,
                                  struct pw_error *err);

struct pw_eval_options {
    pw_eval_mode mode;
    uint64_t seed;
    pw_eval_observe *observe;
    pw_eval_backend *replace; /* without a backend: asked before the reference, on carried values, gives carried ones */
    bool carried_results;     /* pw_eval_graph leaves the results carried */
    const struct pw_order *order; /* golden with the sums in this order, of operators that have `ordered` */
    pw_eval_backend *backend; /* with backend set, values flow in nominal dtypes and host nodes use golden, rounded */
    void *user;
};

/* inputs: one per graph input that has no initializer, in order (a NONE value = omitted, only when it has an
 * initializer or is optional). Checks dtype, rank and declared numeric dims; symbols must agree.
 * results: graph->output_count values, rounded to nominal dtypes, owned by the caller. */
pw_status pw_eval_graph(const struct pw_graph *graph, const struct pw_value *inputs, size_t input_count,
                        const struct pw_eval_options *options, struct pw_value *results, struct pw_error *err);

#endif
