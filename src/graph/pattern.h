/*
 * Recognising what exporters took apart: the view of one graph that the pattern files share, and
 * what they report to. A matcher starts at an anchor (a Softmax, a ReduceMean, an Erf), looks up
 * through producers and down through users, and adds a pattern with its members. A node is a member
 * of one pattern only: matchers run from the most specific to the widest, the first claim stands.
 * Internal to src/graph. One thread.
 */
#ifndef PW_GRAPH_PATTERN_H
#define PW_GRAPH_PATTERN_H

#include "graph/inventory_internal.h"

/* Operators that matchers ask for; everything else is OTHER. */
typedef enum {
    PW_MATCH_OTHER,
    PW_MATCH_ABS,
    PW_MATCH_ADD,
    PW_MATCH_CAST,
    PW_MATCH_CLIP,
    PW_MATCH_CONCAT,
    PW_MATCH_CONV,
    PW_MATCH_DIV,
    PW_MATCH_DROPOUT,
    PW_MATCH_EINSUM,
    PW_MATCH_ERF,
    PW_MATCH_EXP,
    PW_MATCH_EXPAND,
    PW_MATCH_FLATTEN,
    PW_MATCH_GATHER,
    PW_MATCH_GEMM,
    PW_MATCH_IDENTITY,
    PW_MATCH_MATMUL,
    PW_MATCH_MAX,
    PW_MATCH_MIN,
    PW_MATCH_MUL,
    PW_MATCH_NEG,
    PW_MATCH_POW,
    PW_MATCH_RECIPROCAL,
    PW_MATCH_REDUCE_MEAN,
    PW_MATCH_REDUCE_SUM,
    PW_MATCH_REDUCE_SUM_SQUARE,
    PW_MATCH_RELU,
    PW_MATCH_RESHAPE,
    PW_MATCH_SIGMOID,
    PW_MATCH_SLICE,
    PW_MATCH_SOFTMAX,
    PW_MATCH_SPLIT,
    PW_MATCH_SQRT,
    PW_MATCH_SQUEEZE,
    PW_MATCH_SUB,
    PW_MATCH_SUM,
    PW_MATCH_TANH,
    PW_MATCH_TILE,
    PW_MATCH_TRANSPOSE,
    PW_MATCH_UNSQUEEZE,
    PW_MATCH_WHERE,
    PW_MATCH_COUNT
} pw_match_kind;

#define PW_MATCH_MEMBERS 96 /* of one pattern; a real one has at most about 40 */

/* The nodes of a pattern while it is being matched. */
struct pw_members {
    const struct pw_node *nodes[PW_MATCH_MEMBERS];
    size_t count;
};

/* One graph as matchers see it. */
struct pw_match {
    struct pw_inventory *inventory;
    const struct pw_inference *inf;
    const struct pw_graph *graph;
    uint8_t *kinds;               /* pw_match_kind by node index */
    uint32_t *use_start;          /* by value id, value_count + 1 entries: where its users are in `users` */
    const struct pw_node **users; /* in graph order */
    size_t pattern_cap;
};

/* ---- looking around (pattern_view.c) ---- */

pw_match_kind pw_match_kind_of(const struct pw_match *m, const struct pw_node *node); /* OTHER for NULL */
const struct pw_info *pw_match_info(const struct pw_match *m, pw_value_id id);
/* The node that makes a value; NULL for inputs, constants, captures and PW_NO_VALUE. */
const struct pw_node *pw_match_producer(const struct pw_match *m, pw_value_id id);
/* Input i of a node, PW_NO_VALUE when it has none. */
pw_value_id pw_match_input(const struct pw_node *node, size_t i);
/* Steps up over Cast, Identity and Dropout; the nodes stepped over join members (may be NULL). */
pw_value_id pw_match_up(const struct pw_match *m, pw_value_id id, struct pw_members *members);
/* The same over everything that moves elements without changing them too (Reshape, Transpose, Unsqueeze…). */
pw_value_id pw_match_up_layout(const struct pw_match *m, pw_value_id id, struct pw_members *members);
bool pw_match_is_layout(pw_match_kind kind);
bool pw_match_is_transparent(pw_match_kind kind);
/* Value of a constant whose elements are all equal (at most 64 of them). */
bool pw_match_scalar(const struct pw_match *m, pw_value_id id, double *value);
/* Users of a value. */
size_t pw_match_user_count(const struct pw_match *m, pw_value_id id);
const struct pw_node *pw_match_user(const struct pw_match *m, pw_value_id id, size_t i);
/* Splits a two-operand node: *a is `id` (seen through Cast…), *other the other one. False when neither side is it. */
bool pw_match_other_operand(const struct pw_match *m, const struct pw_node *node, pw_value_id id, pw_value_id *other,
                            int *position);
/* x*x in any spelling: Mul(x, x), Pow(x, 2). */
bool pw_match_square(const struct pw_match *m, pw_value_id id, pw_value_id *x, struct pw_members *members);
/* a - b in any spelling: Sub(a, b), Add(a, Neg(b)). */
bool pw_match_difference(const struct pw_match *m, pw_value_id id, pw_value_id *a, pw_value_id *b,
                         struct pw_members *members);
void pw_members_add(struct pw_members *members, const struct pw_node *node);
bool pw_members_have(const struct pw_members *members, const struct pw_node *node);
/* Is the node a member of some pattern already? */
bool pw_match_claimed(const struct pw_match *m, const struct pw_node *node);

/* ---- reporting (patterns.c) ---- */

/* Adds a pattern of those members that are free and claims them; no pattern when none is. Members that belong to
 * the pattern `part` (-1: none) are listed too, and it becomes a part of the new one. *index may be NULL. */
pw_status pw_match_report(struct pw_match *m, pw_pattern_kind kind, const struct pw_members *members,
                          const char *details, int part, int *index, struct pw_error *err);

/* ---- matchers ---- */

pw_status pw_match_fused(struct pw_match *m, struct pw_error *err);       /* pattern_fused.c */
pw_status pw_match_norms(struct pw_match *m, struct pw_error *err);       /* pattern_norm.c */
pw_status pw_match_activations(struct pw_match *m, struct pw_error *err); /* pattern_activation.c: GELU, SiLU, SwiGLU */
pw_status pw_match_rotary(struct pw_match *m, struct pw_error *err);      /* pattern_rotary.c */
pw_status pw_match_attention(struct pw_match *m, struct pw_error *err);   /* pattern_attention.c */

#endif
