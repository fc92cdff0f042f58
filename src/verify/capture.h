/*
 * Captured activations: the inputs that nodes had in a real run of a graph, kept in a folder so that
 * the cases of `captured` can feed them to the operators one by one.
 *
 * `portwright run --capture DIR` writes with a struct pw_capture_writer (pw_eval_observe hands it each
 * node's inputs); verify reads. A folder holds one file a tensor, named by the hash of its content
 * ("<32 hex>.tensor"), and "index", one line a node and sample: the hash of the set and of each input.
 * Files are hostile when read: sizes are checked, a content that does not match its name is refused.
 * A writer belongs to one thread; a reader may be shared read-only.
 */
#ifndef PW_VERIFY_CAPTURE_H
#define PW_VERIFY_CAPTURE_H

#include "graph/graph.h"
#include "tensor/tensor.h"

struct pw_capture_writer;

/* Makes the folder when it does not exist; adds to one that does. max_bytes 0 = 1 GiB: what does not fit is left
 * out and counted. samples_per_node 0 = 2 (a loop's body runs often). */
pw_status pw_capture_create(const char *folder, int64_t max_bytes, int samples_per_node, struct pw_capture_writer **out,
                            struct pw_error *err);
/* Inputs in nominal dtypes or carried (rounded to nominal when written); NULL or NONE = omitted. Sequences are left
 * out with the node. Equal contents are stored once. */
pw_status pw_capture_add(struct pw_capture_writer *writer, const struct pw_node *node,
                         const struct pw_value *const *inputs, int input_count, struct pw_error *err);
/* Writes the index and frees the writer. *left_out (may be NULL): sets that did not fit. */
pw_status pw_capture_finish(struct pw_capture_writer *writer, size_t *left_out, struct pw_error *err);

struct pw_capture;

pw_status pw_capture_open(const char *folder, struct pw_capture **out, struct pw_error *err);
void pw_capture_close(struct pw_capture *capture);
/* Hashes ("<16 hex>") of the sets captured for a node, in the order of the run; returns how many, fills up to cap. */
size_t pw_capture_sets(const struct pw_capture *capture, const struct pw_node *node, const char **hashes, size_t cap);
bool pw_capture_has(const struct pw_capture *capture, const struct pw_node *node, const char *hash);
/* The tensors of a set; values[i] stays NONE where the input was omitted. PW_ERR_USAGE when there is no such set,
 * PW_ERR_UNSUPPORTED when the graph has other weights than the one that was captured. */
pw_status pw_capture_load(const struct pw_capture *capture, const struct pw_node *node, const char *hash,
                          struct pw_value *values, int input_count, struct pw_error *err);

#endif
