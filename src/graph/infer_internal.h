/*
 * Inside of shape inference: the state that infer.c (scopes, nodes), infer_inputs.c (declared
 * types, bindings), infer_merge.c (declared against inferred), infer_fold.c (contents) and infer_keep.c (what stays)
 * share.
 * Nothing outside src/graph includes it. One thread at a time.
 */
#ifndef PW_GRAPH_INFER_INTERNAL_H
#define PW_GRAPH_INFER_INTERNAL_H

#include "base/map.h"
#include "base/progress.h"
#include "graph/infer.h"

#define PW_INFER_MAX_DEPTH 64           /* nested subgraphs; the reader's own limit is lower */
#define PW_INFER_ARENA_MAX (192u << 20) /* bytes of contents; after that none are kept */
#define PW_INFER_MAX_CONFLICTS 8

/* What is known of one graph's values. */
struct pw_infer_scope {
    const struct pw_graph *graph;
    const struct pw_info **infos; /* by value id, owned; kept ones (infer_keep.c), NULL: nothing is known */
    size_t node_base;             /* number of its first node among all graphs' */
    bool entered;                 /* was inferred at least once */
};

/* A declared number that differs from the inferred one. */
struct pw_infer_conflict {
    const struct pw_graph *graph;
    pw_value_id value;
    int dim;
    int64_t inferred, declared;
};

/* Finds what is kept already; an item may stand alone, without a slot. */
struct pw_infer_slot {
    uint64_t hash;
    const void *item; /* NULL: free */
};

struct pw_infer_table {
    struct pw_infer_slot *slots; /* owned, power of two */
    size_t slot_count, count;
};

struct pw_inference {
    const struct pw_model *model;
    struct pw_dims *dims;
    struct pw_arena arena;                           /* what stays */
    struct pw_arena scratch[PW_INFER_MAX_DEPTH + 1]; /* by depth: of the node that is being inferred there */
    struct pw_infer_table kept_infos, kept_contents, kept_tensors; /* while it is inferred */
    struct pw_infer_scope *scopes;                                 /* [0] is the main graph */
    size_t scope_count, scope_cap;
    struct pw_map scope_of;            /* bytes of a graph's address -> scope */
    const struct pw_binding *bindings; /* copies in the arena */
    size_t binding_count;
    uint64_t steps, step_limit; /* nodes inferred; bodies of nested loops are inferred repeatedly */
    int64_t fold_flops;         /* left for evaluating constant calls */
    int depth;
    struct pw_infer_conflict conflicts[PW_INFER_MAX_CONFLICTS];
    size_t conflict_count;
};

/* infer.c */
struct pw_infer_scope *pw_infer_scope_of(const struct pw_inference *inf, const struct pw_graph *graph); /* or NULL */

/* infer_keep.c */

/* Where rooms and contents of the node at hand allocate; what infos hold of it is copied by pw_infer_keep. */
struct pw_arena *pw_infer_scratch(struct pw_inference *inf);
/* Makes this the info of a value. Equal ones are kept once, and never written again. */
pw_status pw_infer_keep(struct pw_inference *inf, struct pw_infer_scope *scope, pw_value_id id,
                        const struct pw_info *info, struct pw_error *err);
void pw_infer_done(struct pw_inference *inf); /* frees what is only needed while inferring */

/* infer_inputs.c */

/* Info from a declared type. Dims without number get a symbol "<name>.<dim>" where name is not NULL, else a fresh
 * one; a declared 0 counts as unknown when zero_unknown. */
pw_status pw_infer_from_type(struct pw_inference *inf, const struct pw_type *type, const char *name, bool zero_unknown,
                             struct pw_info *out, struct pw_error *err);
/* Refuses a tensor whose known dims multiply to more than 2^48: rooms multiply dims without looking. */
pw_status pw_infer_check_size(const struct pw_dims *dims, const struct pw_info *info, const char *what, size_t i,
                              struct pw_error *err);
/* Infos of the main graph's inputs, bindings applied. */
pw_status pw_infer_inputs(struct pw_inference *inf, struct pw_error *err);
/* Every binding must name a symbol of an input and be a size. */
pw_status pw_infer_check_bindings(struct pw_inference *inf, struct pw_error *err);

/* infer_merge.c */

/* Refines what was inferred for a value with what the file declares. */
pw_status pw_infer_merge_declared(struct pw_inference *inf, const struct pw_graph *graph, pw_value_id id,
                                  struct pw_info *info, struct pw_error *err);
/* Conflicts that the bindings made become an error that names the node. */
pw_status pw_infer_report_conflicts(struct pw_inference *inf, struct pw_error *err);
/* True when every symbol in dim is one that inference made up for a size that depends on data. */
bool pw_infer_is_fresh(const struct pw_dims *dims, pw_dim dim);

/* infer_fold.c */

/* Info of a constant: dtype, shape, content (in the scratch) when it is small and integer. */
pw_status pw_infer_from_tensor(struct pw_inference *inf, const struct pw_tensor *tensor, struct pw_info *out,
                               struct pw_error *err);
/* After an op's infer: evaluates what can be, completes contents. */
pw_status pw_infer_fold(struct pw_inference *inf, struct pw_call *call, struct pw_error *err);

#endif
