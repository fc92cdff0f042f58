/*
 * Gradient (ai.onnx.preview.training) by reverse mode: a Gradient node is replaced, when the model is loaded, by the
 * nodes that compute it, as a call of a function is by its body. What walks the graph afterwards sees plain operators.
 *
 * gradient.c finds the differentiated part of the graph and puts the new nodes in; gradient_rules.c has the derivative
 * of each operator; gradient_emit.c makes nodes and constants. A node that can't be replaced stays, with the reason in
 * its `note`. Used by model.c; one thread.
 */
#ifndef PW_GRAPH_GRADIENT_H
#define PW_GRAPH_GRADIENT_H

#include "graph/graph.h"
#include "graph/infer.h"

/* Replaces every Gradient node of the model that it can. Fails only when memory is short. */
pw_status pw_gradient_expand(struct pw_model *model, struct pw_error *err);

/* ---- inside ---- */

/* The work on one Gradient node. Ids from graph->value_count on are the new values. */
struct pw_gradient {
    struct pw_model *model;
    struct pw_graph *graph;
    const struct pw_node *node; /* the Gradient */
    const struct pw_inference *inference;
    const char *prefix;            /* of the names it makes */
    struct pw_graph_value *values; /* heap: new ones */
    size_t value_count, value_cap;
    struct pw_node *nodes; /* heap: new ones, in order */
    size_t node_count, node_cap;
    pw_value_id *forward; /* per old value: what holds it at the Gradient's inputs; itself unless computed again */
    pw_value_id *slope;   /* per old value: y's derivative by it, PW_NO_VALUE while there is none */
    bool *active;         /* per old value: depends on one of xs */
    char why[256];        /* why not; "" */
    bool short_of_memory;
};

#define PW_GRADIENT_OPSET 21 /* of the nodes that are made */

/* All give PW_NO_VALUE when memory is short (short_of_memory is set then), and pass PW_NO_VALUE inputs on. */
pw_value_id pw_gradient_value(struct pw_gradient *g, const char *hint);
/* One output. */
pw_value_id pw_gradient_emit(struct pw_gradient *g, const char *op_type, const pw_value_id *inputs, size_t count);
pw_value_id pw_gradient_emit1(struct pw_gradient *g, const char *op_type, pw_value_id a);
pw_value_id pw_gradient_emit2(struct pw_gradient *g, const char *op_type, pw_value_id a, pw_value_id b);
pw_value_id pw_gradient_emit3(struct pw_gradient *g, const char *op_type, pw_value_id a, pw_value_id b, pw_value_id c);
/* A node whose output is `out`, an old or a new value; NULL when memory is short. */
struct pw_node *pw_gradient_node(struct pw_gradient *g, const char *op_type, const pw_value_id *inputs, size_t count,
                                 const pw_value_id *outputs, size_t output_count);
/* Attributes of the node made last. */
void pw_gradient_int(struct pw_gradient *g, const char *name, int64_t value);
void pw_gradient_ints(struct pw_gradient *g, const char *name, const int64_t *values, size_t count);
/* Constants. */
pw_value_id pw_gradient_scalar(struct pw_gradient *g, pw_dtype dtype, double value);
pw_value_id pw_gradient_list(struct pw_gradient *g, const int64_t *values, size_t count);

const struct pw_info *pw_gradient_info(const struct pw_gradient *g, pw_value_id old);
/* Says why it is not possible (the first reason stays); returns false. */
bool pw_gradient_refuse(struct pw_gradient *g, const char *format, ...) PW_PRINTF(2, 3);
/* Adds a contribution to the derivative by an old value. Its shape is the value's. */
void pw_gradient_add(struct pw_gradient *g, pw_value_id old, pw_value_id contribution);

/* Adds the derivatives by the node's active inputs, given that by its first output; false with `why` when there is no
 * rule. */
bool pw_gradient_rule(struct pw_gradient *g, const struct pw_node *node, pw_value_id dy);

#endif
