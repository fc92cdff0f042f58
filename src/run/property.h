/*
 * Judging runs that draw random numbers. A watch observes an evaluation: it checks the outputs of every random node,
 * also inside subgraphs, against the property that its room states, and remembers which values of the main graph
 * descend from draws. Those have no one right content; two runs' versions are compared as samples.
 * Used by conformance. One watch for one evaluation, one thread.
 */
#ifndef PW_RUN_PROPERTY_H
#define PW_RUN_PROPERTY_H

#include "graph/graph.h"
#include "op/op.h"

struct pw_property_watch {
    const struct pw_graph *graph; /* the main graph */
    bool *drawn;                  /* by value id of it */
    bool inner;                   /* a node in a subgraph drew since the last node of the main graph */
};

pw_status pw_property_watch_init(struct pw_property_watch *watch, const struct pw_graph *graph, struct pw_error *err);
void pw_property_watch_clear(struct pw_property_watch *watch);

/* A pw_eval_observe; user is the watch. Fails when a random node's outputs cannot be draws of it. */
pw_status pw_property_observe(void *user, const struct pw_node *node, const struct pw_value *const *inputs,
                              const struct pw_value *outputs, struct pw_error *err);
/* Does output i of the main graph descend from draws? */
bool pw_property_drawn(const struct pw_property_watch *watch, size_t output);

/* Could two tensors of one shape be samples of one law? Compares the means of their finite elements, allowing six
 * standard errors; too few elements say nothing. The error names `name`. */
pw_status pw_property_alike(const struct pw_tensor *got, const struct pw_tensor *want, const char *name,
                            struct pw_error *err);

#endif
