/*
 * Writes ONNX models: parts of messages into buffers, and whole files whose weights are
 * streamed, so that a model of gigabytes is written in a few megabytes of memory.
 *
 * A file is made as: pw_onnx_out_init, nodes and declarations into out->graph with the
 * pw_onnx_put_* functions, weights registered with pw_onnx_out_weight, pw_onnx_out_write
 * (which writes to temporary names and renames), pw_onnx_out_clear. One thread.
 */
#ifndef PW_GRAPH_ONNX_WRITE_H
#define PW_GRAPH_ONNX_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "graph/graph.h"
#include "graph/onnx_schema.h"
#include "graph/wire_write.h"

/* ---- attributes: each appends one AttributeProto to a NodeProto (or FunctionProto field `number`) ---- */
void pw_onnx_put_attr_int(struct pw_buf *node, const char *name, int64_t value);
void pw_onnx_put_attr_float(struct pw_buf *node, const char *name, float value);
void pw_onnx_put_attr_text(struct pw_buf *node, const char *name, const char *value);
void pw_onnx_put_attr_ints(struct pw_buf *node, const char *name, const int64_t *values, size_t count);
void pw_onnx_put_attr_floats(struct pw_buf *node, const char *name, const float *values, size_t count);
void pw_onnx_put_attr_texts(struct pw_buf *node, const char *name, const char *const *values, size_t count);
/* `body` is a TensorProto, GraphProto, TypeProto or SparseTensorProto as the type says; emptied. */
void pw_onnx_put_attr_message(struct pw_buf *node, const char *name, pw_attr_type type, struct pw_buf *body);
/* The plural ones: `bodies` of count messages. */
void pw_onnx_put_attr_messages(struct pw_buf *node, const char *name, pw_attr_type type, struct pw_buf *bodies,
                               size_t count);
/* Inside a function: the value of the call's attribute `reference`. */
void pw_onnx_put_attr_reference(struct pw_buf *node, const char *name, pw_attr_type type, const char *reference);

/* ---- tensors, types, nodes ---- */

/* A TensorProto with raw_data (strings: string_data) into `body`; name may be NULL. */
void pw_onnx_put_tensor(struct pw_buf *body, const char *name, const struct pw_tensor *t);

/* A dim is its symbol when names[i] is not NULL, else values[i]; names may be NULL. */
struct pw_onnx_shape {
    pw_dtype dtype;
    int rank;
    const int64_t *values;
    const char *const *names;
};
/* A ValueInfoProto of a tensor as field `number` of a graph. */
void pw_onnx_put_info(struct pw_buf *graph, uint32_t number, const char *name, const struct pw_onnx_shape *shape);

/* A NodeProto as a node of a graph: lists are blank-free names, "" for an omitted one. attrs (may be
 * NULL) holds AttributeProto fields made by the functions above; emptied. */
void pw_onnx_put_node(struct pw_buf *graph, const char *op_type, const char *name, const char *const *inputs,
                      size_t input_count, const char *const *outputs, size_t output_count, struct pw_buf *attrs);

/* ---- whole files ---- */

/* Fills `count` elements from `first` on; must not depend on how the calls are cut. */
typedef void pw_onnx_fill(void *user, int64_t first, int64_t count, void *dst);

struct pw_onnx_weight {
    char *name; /* owned */
    pw_dtype dtype;
    int rank;
    int64_t dims[PW_MAX_RANK];
    int64_t count;
    size_t bytes;
    uint64_t offset; /* in the external file */
    pw_onnx_fill *fill;
    void *user;
};

struct pw_onnx_out {
    const char *graph_name, *producer, *version; /* borrowed */
    int ir_version, opset;
    struct pw_buf graph;            /* GraphProto fields but for name and weights */
    struct pw_buf functions;        /* ModelProto fields (functions, more opset imports…) */
    struct pw_onnx_weight *weights; /* owned */
    size_t weight_count, weight_cap;
};

void pw_onnx_out_init(struct pw_onnx_out *out, const char *graph_name, int opset);
/* Smallest IR version that an opset of ai.onnx may come with. */
int pw_onnx_ir_version(int opset);
pw_status pw_onnx_out_weight(struct pw_onnx_out *out, const char *name, pw_dtype dtype, int rank, const int64_t *dims,
                             pw_onnx_fill *fill, void *user, struct pw_error *err);
/* external: name of a file in the same folder for weights of 1 KiB and more, or NULL. */
pw_status pw_onnx_out_write(struct pw_onnx_out *out, const char *path, const char *external, struct pw_error *err);
/* A model without streamed weights, into memory. */
void pw_onnx_out_bytes(struct pw_onnx_out *out, struct pw_buf *bytes);
void pw_onnx_out_clear(struct pw_onnx_out *out);

#endif
