/* Inside of src/run/eval*.c: the state of one evaluation and of each graph being run. */
#ifndef PW_RUN_EVAL_INTERNAL_H
#define PW_RUN_EVAL_INTERNAL_H

#include "run/eval.h"

#define PW_EVAL_MAX_NESTING 64

/* Shared by a run and all its subgraphs. */
struct pw_eval_context {
    struct pw_eval_options options;
    struct pw_dims *dims;
    int nesting;
    uint64_t draws; /* evaluations of random operators so far */
};

/* One graph being run: its values so far and the frame that its captures come from. */
struct pw_eval_frame {
    struct pw_eval_context *context;
    const struct pw_graph *graph;
    struct pw_eval_frame *parent; /* NULL for the main graph, and for a lone node */
    struct pw_value *values;      /* by value id */
    size_t *last_use;             /* by value id: last node that reads it; SIZE_MAX = keep to the end */
};

/* Runs one node in a frame. inputs are as values flow in this run: carried, or nominal with a backend.
 * outputs are zeroed by the caller and owned by it afterwards, also on failure. */
pw_status pw_eval_run_node(struct pw_eval_frame *frame, const struct pw_node *node,
                           const struct pw_value *const *inputs, struct pw_value *outputs, struct pw_error *err);

/* Runs a graph whose captures come from `parent`; args bind to its inputs in order. results: graph->output_count
 * values, zeroed by the caller. */
pw_status pw_eval_run_graph(struct pw_eval_frame *parent, const struct pw_graph *graph, const struct pw_value *args,
                            size_t arg_count, struct pw_value *results, struct pw_error *err);

/* A value in the form in which values flow in this run. */
pw_status pw_eval_flow(const struct pw_eval_context *context, struct pw_value *dst, const struct pw_value *src,
                       struct pw_error *err);

/* Checks dtype, rank, declared dims; symbols must agree. eval_inputs.c. */
pw_status pw_eval_check_inputs(const struct pw_graph *graph, const struct pw_value *inputs, size_t input_count,
                               struct pw_dims *dims, struct pw_error *err);

#endif
