/*
 * The graph's in-memory form: what the ONNX reader makes and everything else walks.
 *
 * Names are NUL-terminated copies in the model's arena (raw bytes: show them through
 * pw_text_display). Weights stay in the mapped file. Read-only after pw_model_load but
 * for `op` (resolved by the registry at load). Nodes are in topological order.
 */
#ifndef PW_GRAPH_GRAPH_H
#define PW_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/mapping.h"
#include "base/mem.h"
#include "tensor/dim.h"
#include "tensor/tensor.h"

struct pw_graph;
struct pw_op; /* op/op.h */

typedef uint32_t pw_value_id;  /* index into graph->values */
#define PW_NO_VALUE UINT32_MAX /* an omitted optional input or output */

typedef enum { /* numbers of AttributeProto.AttributeType */
               PW_ATTR_UNDEFINED = 0,
               PW_ATTR_FLOAT = 1,
               PW_ATTR_INT = 2,
               PW_ATTR_STRING = 3,
               PW_ATTR_TENSOR = 4,
               PW_ATTR_GRAPH = 5,
               PW_ATTR_FLOATS = 6,
               PW_ATTR_INTS = 7,
               PW_ATTR_STRINGS = 8,
               PW_ATTR_TENSORS = 9,
               PW_ATTR_GRAPHS = 10,
               PW_ATTR_SPARSE_TENSOR = 11,
               PW_ATTR_SPARSE_TENSORS = 12,
               PW_ATTR_TYPE_PROTO = 13,
               PW_ATTR_TYPE_PROTOS = 14
} pw_attr_type;

/* A declared type (ValueInfo, TypeProto). */
typedef enum {
    PW_TYPE_NONE = 0, /* nothing declared */
    PW_TYPE_TENSOR,
    PW_TYPE_SPARSE_TENSOR,
    PW_TYPE_SEQUENCE,
    PW_TYPE_OPTIONAL,
    PW_TYPE_MAP,
    PW_TYPE_OPAQUE
} pw_type_kind;

struct pw_type {
    pw_type_kind kind;
    pw_dtype dtype; /* tensor element, or map key */
    bool has_shape;
    int rank;
    const char **dim_names;        /* per dim: symbol text, or NULL */
    int64_t *dim_values;           /* per dim: number, or -1 (symbolic or unknown) */
    const struct pw_type *element; /* sequence, optional, map value */
};

struct pw_sparse {            /* SparseTensorProto, kept as given */
    struct pw_tensor values;  /* [NNZ] */
    struct pw_tensor indices; /* int64 [NNZ] flat, or [NNZ, rank] */
    int rank;
    int64_t dims[PW_MAX_RANK];
};

struct pw_attr {
    const char *name;
    pw_attr_type type;
    size_t count; /* of the plural kinds */
    int64_t i;
    float f;
    struct pw_bytes s;        /* also NUL-terminated */
    struct pw_tensor *tensor; /* TENSOR; TENSORS: array of count */
    struct pw_graph *graph;   /* GRAPH; */
    struct pw_graph **graphs; /* GRAPHS: array of count */
    struct pw_sparse *sparse;
    const struct pw_type *type_proto;
    const float *floats;
    const int64_t *ints;
    const struct pw_bytes *strings;
};

struct pw_node {
    const char *name; /* "" when the file has none */
    const char *op_type;
    const char *domain;   /* "" for ai.onnx */
    const char *overload; /* "" */
    const char *doc;      /* "" */
    size_t index;         /* position in graph->nodes */
    pw_value_id *inputs;  /* PW_NO_VALUE where omitted */
    size_t input_count;
    pw_value_id *outputs;
    size_t output_count;
    struct pw_attr *attrs;
    size_t attr_count;
    int opset;              /* version of its domain that applies here (functions may import their own) */
    const struct pw_op *op; /* NULL: unknown operator */
    struct pw_graph *graph; /* the graph it is in */
    const char *note;       /* why there is no `op` although the name is known, or why a Gradient is not replaced
                               (gradient.h); else NULL */
    const char *origin;     /* "Func/call3" path when inlined from a model-local function, else NULL */
};

struct pw_graph_value {
    const char *name;
    const struct pw_type *type;          /* declared, or NULL */
    const struct pw_tensor *initializer; /* constant content, or NULL. Constant nodes are NOT folded here */
    const struct pw_sparse *sparse;      /* sparse initializer, or NULL */
    struct pw_node *producer;            /* NULL: input, initializer or outer */
    int producer_output;
    struct pw_graph_value *outer; /* a subgraph's captured value: the one in the enclosing graph */
    bool is_input;                /* of this graph */
    bool is_output;
};

struct pw_graph {
    const char *name;
    struct pw_model *model;
    struct pw_graph *parent; /* enclosing graph, NULL for the main one */
    struct pw_node *owner;   /* node whose attribute this is, or NULL */
    struct pw_graph_value *values;
    size_t value_count;
    struct pw_node *nodes;
    size_t node_count;
    pw_value_id *inputs; /* includes initializers that are also inputs (IR < 4): skip those with an initializer */
    size_t input_count;
    pw_value_id *outputs;
    size_t output_count;
};

struct pw_opset_import {
    const char *domain;
    int64_t version;
};

struct pw_model {
    const char *path;
    int64_t ir_version;
    const char *producer_name, *producer_version, *domain, *doc;
    int64_t model_version;
    struct pw_opset_import *opsets;
    size_t opset_count;
    const char **metadata; /* key, value, key, value… */
    size_t metadata_count; /* pairs */
    struct pw_graph *graph;
    struct pw_arena arena;  /* owns all of the above */
    struct pw_mapping file; /* and external data files */
    struct pw_mapping *external;
    size_t external_count;
    size_t node_total; /* including subgraphs */
    int64_t initializer_bytes;
};

/* Reads, checks, inlines model-local functions, resolves operators. Errors name the place:
 * "FILE: graph 'main', node 17 'attn/softmax': …". */
pw_status pw_model_load(const char *path, struct pw_model **out, struct pw_error *err);
/* The same from memory (fuzzing, cases); external data refused unless dir is given. The bytes must outlive it. */
pw_status pw_model_parse(const void *bytes, size_t size, const char *name, const char *dir, struct pw_model **out,
                         struct pw_error *err);
void pw_model_destroy(struct pw_model *model);

/* One TensorProto file (*.pb of backend tests), also SequenceProto/OptionalProto by the declared type.
 * The value owns its bytes. */
pw_status pw_onnx_read_value(const char *path, const struct pw_type *type, struct pw_value *out, struct pw_error *err);

/* The same from memory. */
pw_status pw_onnx_parse_value(const void *bytes, size_t size, const struct pw_type *type, struct pw_value *out,
                              struct pw_error *err);

/* True when a file that backs the model shrank under us since load: results are void. */
bool pw_model_damaged(const struct pw_model *model);

/* Structure hash: interface, topology, attributes, types, shapes, and constants: integers, booleans and
 * strings up to 64 elements, floats only single ones (longer ones are weights: retraining changes them).
 * Zero in both halves when memory was short. */
struct pw_hash128 pw_model_structure_hash(const struct pw_model *model);
/* Whole initializer contents; reads everything. */
struct pw_hash128 pw_model_weights_hash(const struct pw_model *model);

/* Dense content; indices are checked. dst owns its memory. */
pw_status pw_sparse_to_tensor(const struct pw_sparse *sparse, struct pw_tensor *dst, struct pw_error *err);

const struct pw_attr *pw_node_attr(const struct pw_node *node, const char *name); /* or NULL */
/* "graph 'main', node 17 'attn/softmax' (Softmax)" for messages, made safe. */
const char *pw_node_where(const struct pw_node *node, char *dst, size_t dst_size);
/* The value itself or, through captures, the outermost one that it stands for. */
const struct pw_graph_value *pw_graph_value_origin(const struct pw_graph_value *value);

#endif
