/*
 * Runs nodes in the target's world: on a kernel of the target where one serves the call, else on its library where that
 * does (run/impl.h, which coverage comes from too), else on the host (golden, rounded). One node at a time, each value
 * going through host memory: for conformance and comparison, not a fast executor. Also a graph evaluation's backend.
 *
 * Mixed precision is executed here as typed casts: where `storage` names a dtype for a node, its floating
 * inputs are cast to it, the kernel of that dtype runs, and outputs are cast back to what the graph says, so that
 * the next layer may have another one (a cast back and forth loses nothing: storage dtypes are no wider).
 * One struct serves one thread; each has its own counts.
 */
#ifndef PW_RUN_TARGET_EVAL_H
#define PW_RUN_TARGET_EVAL_H

#include <stdatomic.h>

#include "op/kernel.h"
#include "run/eval.h"
#include "run/impl.h"

/* Storage dtype of a node's floating tensors; UNDEFINED: what the graph says. */
typedef pw_dtype pw_target_storage(void *user, const struct pw_node *node);
/* Why a node stays on the host although the target may serve it (static text); NULL: it does not. */
typedef const char *pw_target_host(void *user, const struct pw_node *node);

#define PW_TARGET_EVAL_REASONS 16 /* different ones that are kept; the counts go on */
#define PW_TARGET_EVAL_OP 48

/* Why nodes of one operator ran on the host. */
struct pw_host_reason {
    char op[PW_TARGET_EVAL_OP]; /* the operator's name */
    const char *why;            /* static text: the same for all operators that stay for one reason */
    bool steers;                /* runs a body (If, Loop, SequenceMap): the body's nodes are counted themselves */
    size_t nodes;
};

struct pw_target_eval {
    struct pw_device *device; /* NULL or the reference: everything runs on the host */
    const struct pw_kernels *kernels;
    uint64_t seed;
    uint64_t draws; /* random operators so far */
    size_t target_nodes, host_nodes;
    size_t host_floating; /* host nodes with floating tensors that no control flow or data-dependence explains */
    char host_note[256];  /* the first of those, and why */
    struct pw_host_reason reasons[PW_TARGET_EVAL_REASONS];
    size_t reason_count;
    pw_target_storage *storage; /* NULL: the graph's dtypes throughout */
    pw_target_host *host;       /* NULL: whatever the target serves runs there */
    void *placement_user;       /* of both */
    size_t cast_nodes;          /* nodes that ran in another dtype than the graph's */
    bool timed; /* kernels run a few times more, for step->time_ns; what packs constant inputs is kept then */
    const atomic_bool *cancel; /* may be NULL */
};

/* How one node ran. */
struct pw_target_step {
    bool on_target;
    bool cast;                  /* in another storage dtype than the graph's */
    const char *implementation; /* kernel's or library's name, or "reference" */
    pw_dtype dtype;             /* executed dtype of its first floating tensor; UNDEFINED: none is floating */
    int64_t time_ns; /* timed: on the target, first launch to idle device, the least of a few runs behind a first one,
                        its tensors being there; of a node on the host, the reference once. 0: unknown */
    char note[200];  /* why on the host, or why not in the wanted dtype; "" */
};

/* A node without subgraphs on values in nominal dtypes; outputs (zeroed by the caller) come in the graph's dtypes and
 * are owned by the caller. On failure (PW_ERR_CRASH, PW_ERR_TIMEOUT, PW_ERR_TARGET…) there are none. */
pw_status pw_target_eval_step(struct pw_target_eval *run, const struct pw_node *node,
                              const struct pw_value *const *inputs, int input_count, struct pw_value *outputs,
                              int output_count, uint64_t seed, struct pw_target_step *step, struct pw_error *err);

/* The floating inputs of a call cast to a storage dtype, as pw_target_eval_step does it. casts: input_count values of
 * the caller, cleared by it; in: what to use (casts or the inputs themselves). *any: something was cast. */
pw_status pw_target_cast_inputs(const struct pw_node *node, const struct pw_value *const *inputs, int input_count,
                                pw_dtype storage, struct pw_value *casts, const struct pw_value **in, bool *any,
                                struct pw_error *err);

bool pw_node_has_subgraph(const struct pw_node *node);

/* A pw_eval_backend; user is the struct. */
pw_status pw_target_eval_node(void *user, const struct pw_node *node, const struct pw_value *const *inputs,
                              int input_count, struct pw_value *outputs, int output_count, bool *handled,
                              struct pw_error *err);

#endif
