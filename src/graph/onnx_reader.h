/*
 * Shared insides of the ONNX reader; included by src/graph/onnx_*.c and model.c only.
 *
 * Flow: onnx_read.c decodes ModelProto and calls onnx_graph.c for the main graph, which
 * declares all names, then reads each node (onnx_node.c: inputs to ids; onnx_attr.c:
 * attributes, and from there nested graphs; onnx_function.c: a call of a model-local
 * function is replaced by its body). Everything lands in growing arrays of a builder and is
 * moved to the model's arena in topological order (onnx_order.c) when the graph is whole.
 * Two chains are kept apart: scopes are lexical (who sees which name), builders are physical
 * (which graph sits in which). They differ where a function inlines a graph attribute that
 * its caller wrote. One reader per model, one thread.
 */
#ifndef PW_GRAPH_ONNX_READER_H
#define PW_GRAPH_ONNX_READER_H

#include "base/map.h"
#include "base/progress.h"
#include "graph/graph.h"
#include "graph/onnx_schema.h"
#include "graph/wire.h"
#include "op/op.h"

#define PW_ONNX_MAX_DEPTH 48      /* nested graphs and function calls */
#define PW_ONNX_MAX_TYPE_DEPTH 16 /* sequence of optional of … */
#define PW_ONNX_SHOW 80           /* columns of a foreign name in a message */
#define PW_ONNX_SHOW_BYTES 400    /* array for it */

struct pw_onnx_opsets {
    struct pw_opset_import *items;
    size_t count;
};

/* A model-local function, decoded when the model is read; its nodes are read at each call. */
struct pw_onnx_function {
    const char *domain, *name, *overload;
    struct pw_wire body;
    struct pw_wire_slot slots[PW_FUNCTION_FIELDS];
    struct pw_onnx_opsets opsets;
};

/* What an op type means at an opset, looked up once. */
struct pw_onnx_kind {
    const char *domain, *op_type, *overload;
    int opset;
    const struct pw_op *op;
    size_t function; /* index + 1, 0 = none */
};

/* A capture to be turned into a pointer once all arrays have their place. */
struct pw_onnx_patch {
    struct pw_graph *graph;
    pw_value_id inner, outer; /* outer: in graph->parent */
};

struct pw_onnx_reader {
    struct pw_model *model;
    struct pw_error *err;
    struct pw_wire file;
    const char *dir;     /* for external data, NULL: refused */
    size_t budget_bytes; /* arena limit, from the file's size */
    size_t copied_bytes; /* of unaligned tensors */
    size_t inline_left;  /* bytes of function bodies that may still be read */
    unsigned depth;
    struct pw_onnx_opsets opsets;
    struct pw_onnx_function *functions; /* heap */
    size_t function_count;
    struct pw_map function_index; /* domain NUL name NUL overload */
    struct pw_map strings;        /* interned names, value = pointer */
    struct pw_map kind_index;
    struct pw_onnx_kind *kinds; /* heap */
    size_t kind_count, kind_cap;
    struct pw_map external_index; /* resolved path -> model->external */
    size_t external_cap;
    struct pw_onnx_patch *patches; /* heap */
    size_t patch_count, patch_cap;
    bool elided;       /* the places between the innermost and the outermost were left out of a message */
    struct pw_buf key; /* scratch for map keys */
};

/* A graph under construction. */
struct pw_onnx_builder {
    struct pw_graph *graph;
    struct pw_onnx_builder *parent;
    struct pw_onnx_scope *scope;   /* of the graph itself: the names in the file */
    struct pw_graph_value *values; /* heap; graph->value_count are used */
    size_t value_cap;
    struct pw_node *nodes; /* heap; graph->node_count are used */
    size_t node_cap;
    struct pw_onnx_dependency { /* a node's nested graphs use a value of this graph */
        size_t node;
        pw_value_id value;
    } * dependencies; /* heap */
    size_t dependency_count, dependency_cap;
    size_t *order;          /* heap; new position -> old, NULL = as read */
    struct pw_map captures; /* id in the parent -> id here */
    struct pw_map prefixes; /* of inlined calls, to keep them unique */
};

/* One call of a function: where its attribute references lead. */
struct pw_onnx_call {
    const struct pw_onnx_function *function;
    struct pw_onnx_scope *scope; /* the caller's */
    struct pw_wire node;         /* the calling NodeProto */
    struct pw_wire_slot *slots;
    const char *prefix; /* of the names it makes: "block1/ln" */
    const char *origin; /* "LayerNorm/ln" */
};

/* Names visible at one place. */
struct pw_onnx_scope {
    struct pw_onnx_scope *parent; /* enclosing, NULL for the main graph and function bodies */
    struct pw_onnx_builder *builder;
    const struct pw_onnx_call *call; /* the function instance around, or NULL */
    const struct pw_onnx_opsets *opsets;
    struct pw_map names; /* -> pw_value_id; PW_NO_VALUE for an omitted argument of a function */
};

/* ---- onnx_read.c: helpers ---- */

/* Zeroed arena memory within the budget, else NULL with the error set. */
void *pw_onnx_alloc(struct pw_onnx_reader *r, size_t count, size_t size);
/* NUL-terminated copies; NULL with the error set. `what` names the field when the bytes hold a NUL. */
const char *pw_onnx_name(struct pw_onnx_reader *r, const struct pw_wire_slot *slot, const char *what);
const char *pw_onnx_name_bytes(struct pw_onnx_reader *r, const uint8_t *data, size_t size, const char *what);
const char *pw_onnx_intern(struct pw_onnx_reader *r, const uint8_t *data, size_t size, const char *what);
const char *pw_onnx_domain(struct pw_onnx_reader *r, const struct pw_wire_slot *slot);      /* "ai.onnx" -> "" */
const char *pw_onnx_joined(struct pw_onnx_reader *r, const char *prefix, const char *name); /* "prefix/name" */
/* Documentation, cut at a limit. */
const char *pw_onnx_doc(struct pw_onnx_reader *r, const struct pw_wire_slot *slot);
/* Puts a place before the error's message; of a long chain of places the middle is left out. */
void pw_onnx_prefix(struct pw_onnx_reader *r, const char *format, ...) PW_PRINTF(2, 3);
/* Bytes for a message. */
const char *pw_onnx_show(char dst[PW_ONNX_SHOW_BYTES], const uint8_t *data, size_t size);
pw_status pw_onnx_opsets_read(struct pw_onnx_reader *r, struct pw_wire message, uint32_t number,
                              const struct pw_wire_slot *slot, struct pw_onnx_opsets *out);
pw_status pw_onnx_read(struct pw_model *model, const void *bytes, size_t size, const char *dir, struct pw_error *err);

/* ---- onnx_type.c ---- */
pw_status pw_onnx_type(struct pw_onnx_reader *r, struct pw_wire wire, unsigned depth, const struct pw_type **out);

/* ---- onnx_tensor.c, onnx_data.c, onnx_external.c, onnx_sparse.c ---- */

/* Reads a TensorProto; data stays in the file where it can. *name may be NULL. */
pw_status pw_onnx_tensor(struct pw_onnx_reader *r, struct pw_wire wire, struct pw_tensor *out, const char **name);
pw_status pw_onnx_sparse(struct pw_onnx_reader *r, struct pw_wire wire, struct pw_sparse *out, const char **name);
/* Typed data fields (everything but raw, external). */
pw_status pw_onnx_typed_data(struct pw_onnx_reader *r, struct pw_wire wire, const struct pw_wire_slot *slots,
                             struct pw_tensor *t);
/* size_bytes of packed elements, as in raw_data, into t->data. */
pw_status pw_onnx_raw_data(struct pw_onnx_reader *r, const uint8_t *data, size_t size, struct pw_tensor *t);
pw_status pw_onnx_external_data(struct pw_onnx_reader *r, struct pw_wire wire, const struct pw_wire_slot *slot,
                                size_t need_bytes, const uint8_t **data, size_t *size);

/* ---- onnx_attr.c ---- */

/* *omitted: a reference to a function's attribute that the call does not give. */
pw_status pw_onnx_attr(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, struct pw_onnx_builder *builder,
                       struct pw_wire wire, struct pw_attr *out, bool *omitted);
const char *pw_onnx_attr_type_name(pw_attr_type type);

/* ---- onnx_link.c: names and values ---- */
pw_status pw_onnx_value_add(struct pw_onnx_reader *r, struct pw_onnx_builder *builder, const char *name,
                            pw_value_id *out);
/* New value with a name of its own in the scope; an error names what has it already. */
pw_status pw_onnx_declare(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, const char *name, pw_value_id *out);
/* Finds a name along the scopes and brings it into the builder, capturing through the graphs between. */
pw_status pw_onnx_lookup(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, struct pw_onnx_builder *builder,
                         const uint8_t *name, size_t size, bool *found, pw_value_id *out);
void pw_onnx_scope_clear(struct pw_onnx_scope *scope);

/* ---- onnx_graph.c ---- */
pw_status pw_onnx_graph(struct pw_onnx_reader *r, struct pw_onnx_scope *lexical, struct pw_onnx_builder *parent,
                        struct pw_wire wire, struct pw_graph **out);

/* ---- onnx_node.c ---- */

/* How an output name of a node becomes a value of the scope. */
typedef pw_status pw_onnx_declare_output(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, void *user,
                                         const uint8_t *name, size_t size);
/* Reads all nodes of a message (its field `number`): first declares all outputs, since a name may be
 * used before it is defined, then adds the nodes to the builder or inlines calls of functions. */
pw_status pw_onnx_nodes(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, struct pw_onnx_builder *builder,
                        struct pw_wire message, uint32_t number, const struct pw_wire_slot *slot,
                        pw_onnx_declare_output *declare, void *user);
struct pw_node *pw_onnx_node_add(struct pw_onnx_reader *r, struct pw_onnx_builder *builder);
pw_status pw_onnx_kind(struct pw_onnx_reader *r, const struct pw_onnx_opsets *opsets, const struct pw_wire_slot *slots,
                       struct pw_onnx_kind *out);
/* The id of a node's input by name; an error when nothing has that name. */
pw_status pw_onnx_input(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, struct pw_onnx_builder *builder,
                        size_t position, const struct pw_wire_field *name, pw_value_id *out);

/* ---- onnx_function.c ---- */

/* The key of function_index, replacing what was in the buffer. */
void pw_onnx_function_key(struct pw_buf *key, const char *domain, const char *name, const char *overload);
pw_status pw_onnx_functions_read(struct pw_onnx_reader *r, struct pw_wire message, const struct pw_wire_slot *slot);
pw_status pw_onnx_inline(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, struct pw_onnx_builder *builder,
                         struct pw_wire wire, struct pw_wire_slot *slots, const struct pw_onnx_function *function);

/* ---- onnx_order.c ---- */

/* Sorts the builder's nodes so that each comes after what it uses; reports a cycle by its nodes. */
pw_status pw_onnx_order(struct pw_onnx_reader *r, struct pw_onnx_builder *builder);

#endif
