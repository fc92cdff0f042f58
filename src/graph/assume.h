/* Sizes for the dims that nobody bound: 1 for batches, for all others the first of a few that the graph takes. The
 * inventory's totals, the project that init writes and what a session measures by agree, as all ask here. */
#ifndef PW_GRAPH_ASSUME_H
#define PW_GRAPH_ASSUME_H

#include "graph/infer.h"

#define PW_ASSUMED_SIZE 16 /* where the graph takes it, and of what no input's dims say */

/* What is taken for a symbol when other sizes than batches are taken as `size`. */
int64_t pw_assume_size(const char *symbol, int64_t size);
/* Infers with the first `given` bindings as they are and sizes for the others that the graph takes; they are set.
 * None: the first failure, and the first sizes are set. A short memory and a cancellation are said as such. */
pw_status pw_assume_infer(const struct pw_model *model, struct pw_binding *bindings, size_t given, size_t count,
                          struct pw_inference **out, struct pw_error *err);

#endif
