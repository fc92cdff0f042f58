/* Emission of nodes, constants and weights for the decoder generator (decoder.c). Names follow exporters:
 * a node "/layers.0/attention/MatMul_1" makes "/layers.0/attention/MatMul_1_output_0". */
#ifndef PW_GRAPH_DECODER_EMIT_H
#define PW_GRAPH_DECODER_EMIT_H

#include "base/map.h"
#include "base/mem.h"
#include "graph/decoder.h"
#include "graph/onnx_write.h"

struct pw_emit_weight { /* what a fill callback needs */
    pw_dtype dtype;
    uint64_t seed, stream;
    float centre, spread; /* uniform in centre ± spread */
};

struct pw_emit {
    const struct pw_decoder *d;
    struct pw_onnx_out out;
    struct pw_arena arena;  /* names */
    struct pw_map counters; /* "scope/Op" -> how many */
    const char *scope;      /* "/layers.0/attention" */
    int64_t node_count;
    uint64_t streams;
    pw_status status; /* the first failure sticks; names are "" from then on */
    struct pw_error *err;
};

/* A node with one output; returns the output's name. attrs may be NULL; emptied. output NULL: named after the node. */
const char *pw_emit_node(struct pw_emit *e, const char *op, struct pw_buf *attrs, const char *output, size_t count,
                         const char *const *inputs);
/* Shorthands. */
const char *pw_emit_one(struct pw_emit *e, const char *op, const char *a);
const char *pw_emit_two(struct pw_emit *e, const char *op, const char *a, const char *b);
/* Several outputs, written to outputs[]. */
void pw_emit_many(struct pw_emit *e, const char *op, struct pw_buf *attrs, size_t input_count,
                  const char *const *inputs, size_t output_count, const char **outputs);

/* Constant nodes. rank -1: a scalar; else one dim of `count`. */
const char *pw_emit_ints(struct pw_emit *e, int rank, const int64_t *values, size_t count);
const char *pw_emit_int(struct pw_emit *e, int64_t value);  /* scalar */
const char *pw_emit_int1(struct pw_emit *e, int64_t value); /* [1] */
/* A scalar of dtype. */
const char *pw_emit_real(struct pw_emit *e, pw_dtype dtype, double value);

/* Operators whose form depends on the opset or that carry attributes. */
const char *pw_emit_unsqueeze(struct pw_emit *e, const char *x, int64_t axis);
const char *pw_emit_mean(struct pw_emit *e, const char *x); /* over the last axis, kept */
const char *pw_emit_cast(struct pw_emit *e, const char *x, pw_dtype to);
const char *pw_emit_gather(struct pw_emit *e, const char *x, const char *indices);
const char *pw_emit_transpose(struct pw_emit *e, const char *x, const int64_t perm[4]);
const char *pw_emit_concat(struct pw_emit *e, int64_t axis, const char *output, size_t count,
                           const char *const *inputs);
const char *pw_emit_slice(struct pw_emit *e, const char *x, int64_t axis, int64_t start, int64_t end);
const char *pw_emit_softmax(struct pw_emit *e, const char *x);
const char *pw_emit_dim(struct pw_emit *e, const char *x, int64_t axis); /* Shape, Gather: a scalar */
const char *pw_emit_range(struct pw_emit *e, const char *limit);         /* 0 … limit-1, int64 */

/* A weight of the model's dtype, streamed at the end; returns its name. */
const char *pw_emit_weight(struct pw_emit *e, const char *name, int rank, const int64_t *dims, double centre,
                           double spread);
const char *pw_emit_format(struct pw_emit *e, const char *format, ...) PW_PRINTF(2, 3);

#endif
