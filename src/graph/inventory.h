/*
 * The inventory: signatures, patterns and flags of a graph. Made from an inference; plain data.
 */
#ifndef PW_GRAPH_INVENTORY_H
#define PW_GRAPH_INVENTORY_H

#include "graph/graph.h"
#include "graph/infer.h"
#include "op/op.h"

struct pw_signature {
    const char *text;             /* canonical: "Softmax-13 axis=-1 (float32[batch,6,sequence,total]) -> (float32[…])"
                                     constants' values included: "starts=<int64[1] 0>"; constant weights marked "const";
                                     omitted inputs "-"; subgraphs by hash */
    char id[17];                  /* 16 hex digits of its hash */
    const char *op_label;         /* "Softmax-13"; "com.example:Foo" when unknown */
    const char *shapes;           /* "[b,6,s,t] -> [b,6,s,t]" short form for tables */
    const struct pw_op *op;       /* NULL: unknown */
    const struct pw_node **nodes; /* that have it, graph order, subgraphs included */
    size_t node_count;            /* = count column */
    const struct pw_call *call;   /* of the first node */
    pw_category category;
    pw_dtype dtype;                  /* of the first output, else input */
    bool floating;                   /* any floating tensor in or out */
    pw_dim flops, bytes;             /* of one node; PW_DIM_UNKNOWN when shapes are */
    int64_t parameters;              /* constant floating elements of one node's inputs */
    double flops_value, bytes_value; /* evaluated with the bindings and assumptions; NaN unknown */
    double intensity;                /* flops / bytes; NaN unknown */
    double share;                    /* of the graph's FLOPs, 0..1, all nodes of it; NaN unknown */
    bool dynamic;                    /* any symbolic dim */
    const char *dynamic_reason;      /* "in 0 dims 0,1: batch, sequence; output size depends on data" or "" */
    bool data_dependent;
    bool shape_arithmetic; /* small work that only makes shapes, all nodes of it: stays on the host */
    int pattern;           /* index of the pattern its first node belongs to, or -1 */
    /* From here on what a session's client writes when a sweep measured it: no other thread of it looks there. */
    pw_sensitivity sensitivity;
    const char *sensitivity_reason;
    bool sensitivity_measured; /* by a precision sweep; else the room's rule of thumb */
    double sensitivity_damage; /* measured, by the worse of the narrow dtypes; infinity: NaN, Inf or flips */
};

typedef enum {
    PW_PATTERN_ATTENTION,
    PW_PATTERN_LAYERNORM,
    PW_PATTERN_RMSNORM,
    PW_PATTERN_GELU_ERF,
    PW_PATTERN_GELU_TANH,
    PW_PATTERN_SILU,
    PW_PATTERN_SWIGLU,
    PW_PATTERN_ROTARY,
    PW_PATTERN_COUNT
} pw_pattern_kind;
const char *pw_pattern_name(pw_pattern_kind kind); /* "attention", "LayerNorm", "GELU (tanh)", … */

struct pw_pattern {
    pw_pattern_kind kind;
    const char *details;          /* "6 heads, mask, cache, grouped KV 4:1" */
    const struct pw_node **nodes; /* members, graph order */
    size_t node_count;
    int parent;         /* SiLU inside SwiGLU, else -1 */
    bool fused;         /* one operator of the file is the whole pattern */
    const char *text;   /* signature of the whole: "attention 6 heads, mask (float32[…], …) -> (float32[…])" */
    char id[17];        /* 16 hex digits of its hash */
    double flops_value; /* of its members (parts included), as the signatures' figures; NaN unknown */
    double share;       /* of the graph's FLOPs; NaN unknown */
};

/* A symbol that no binding gives and the size that the totals take for it. */
struct pw_assumption {
    const char *symbol;
    int64_t value;
};

struct pw_inventory {
    struct pw_arena arena;
    const struct pw_model *model;
    const struct pw_inference *inference;
    struct pw_signature *signatures; /* in order of first appearance */
    size_t signature_count;
    struct pw_pattern *patterns; /* top-level before parts; graph order */
    size_t pattern_count;
    size_t node_count;               /* all nodes incl. subgraphs, without Constant */
    double total_flops, total_bytes; /* sums over nodes (a subgraph's counted once); NaN when nothing known */
    size_t unknown_cost_nodes;       /* nodes that the sums leave out because their cost is not known */
    int64_t total_parameters;        /* trained numbers: initializers and Constant nodes of more than one element */
    const char *assumptions;         /* "batch=1, sequence=16 assumed for totals" or "" */
    struct pw_assumption *assumed;   /* the same as data; inputs' symbols first */
    size_t assumed_count;
    size_t input_symbol_count; /* of those, how many an input uses: the ones that can be bound */
    size_t node_number_count;  /* of all graphs, Constant nodes included */
    int *node_signature;       /* by pw_inference_node_number; -1 for a Constant node */
    int *node_pattern;         /* the same: innermost pattern the node is a member of, or -1 */
};

pw_status pw_inventory_create(const struct pw_model *model, const struct pw_inference *inference,
                              struct pw_inventory **out, struct pw_error *err);
void pw_inventory_destroy(struct pw_inventory *inventory);
/* Patterns only (used by the above; also for run). */
pw_status pw_patterns_find(const struct pw_model *model, const struct pw_inference *inference,
                           struct pw_inventory *inventory, struct pw_error *err);

#endif
