/* What capture_write.c and capture_read.c share: names of nodes, and tensors as bytes. */
#ifndef PW_VERIFY_CAPTURE_INTERNAL_H
#define PW_VERIFY_CAPTURE_INTERNAL_H

#include "base/hash.h"
#include "base/text.h"
#include "verify/capture.h"

#define PW_CAPTURE_INDEX "index"
#define PW_CAPTURE_INDEX_MAX ((size_t)64 << 20)
#define PW_CAPTURE_INPUTS_MAX 4096
#define PW_CAPTURE_HEAD "portwright-capture 1"

/* The structure hash of the model that was asked for last. */
struct pw_capture_graph {
    const struct pw_model *model;
    char id[PW_HASH_TEXT];
};

/* "8f2c… 17 Softmax 03ab…": the graph's structure hash, place in the model (a body's nodes as "17.0.3": node 17, its
 * first subgraph, node 3), operator (letters and digits, others as '?'), hash of the name. One line of an index begins
 * with it. */
void pw_capture_key(struct pw_capture_graph *graph, const struct pw_node *node, struct pw_buf *out);

/* Bytes of a tensor in its nominal dtype, as a file holds them: magic, dtype, rank, dims, elements. Little endian. */
pw_status pw_capture_pack(const struct pw_tensor *t, struct pw_buf *out, struct pw_error *err);
/* Checks everything; the tensor owns its memory. `name` for messages. */
pw_status pw_capture_unpack(const char *bytes, size_t size, const char *name, struct pw_tensor *out,
                            struct pw_error *err);

/* The initializer that an input of a node is, through captures; NULL when it is none. */
const struct pw_tensor *pw_capture_weight(const struct pw_node *node, int input);

#endif
