/*
 * How long values live when a graph runs node by node: who reads each value last, and what the subgraphs of
 * a node (If, Loop, Scan) read of the graph around them. Pure functions of a graph; any thread.
 */
#ifndef PW_RUN_LIVENESS_H
#define PW_RUN_LIVENESS_H

#include "graph/graph.h"

#define PW_LIVENESS_NEVER (SIZE_MAX - 1) /* nobody reads it */
#define PW_LIVENESS_KEEP SIZE_MAX        /* an output of the graph */

/* last_use: by value id; the index of the last node that reads the value. */
void pw_liveness_find(const struct pw_graph *graph, size_t *last_use);

/* The same in two steps: as the nodes alone read, then the graph's outputs stay. */
void pw_liveness_reads(const struct pw_graph *graph, size_t *last_use);
void pw_liveness_keep_outputs(const struct pw_graph *graph, size_t *last_use);

/* Visits every value of `graph` that a subgraph of `node` reads; a value may come more than once. */
typedef void pw_liveness_visit(void *user, pw_value_id value);
void pw_liveness_captures(const struct pw_graph *graph, const struct pw_node *node, pw_liveness_visit *visit,
                          void *user);

#endif
