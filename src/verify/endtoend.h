/*
 * The whole graph on given inputs, golden in double beside the target in its dtypes: the error of every output, and on
 * request where it starts to differ, or which layer costs how much in which dtype.
 *
 * Nodes: one pass, node by node, both sides in step; a value is freed after its last reader, so memory is bounded by
 * the live tensors. Each node runs on the target with the target's own inputs (its error is what has *propagated*)
 * and with the reference's, rounded (its error is its own: *isolated*), so a culprit differs from its victims and one
 * pass finds all culprits. A recognised pattern is judged as a whole too, from its inputs to its outputs. Bodies of
 * If, Loop and Scan run in step as well; their nodes are reported under their own names.
 *
 * Sweep: each layer (a pattern, or a node outside of one) in float16, bfloat16 and float32 while the rest of the graph
 * stays golden in double; the damage is what arrives at the outputs.
 *
 * Emits events; knows neither store nor screen. One thread calls; events come on it.
 */
#ifndef PW_VERIFY_ENDTOEND_H
#define PW_VERIFY_ENDTOEND_H

#include <stdatomic.h>

#include "graph/inventory.h"
#include "op/kernel.h"
#include "target/device.h"
#include "tensor/compare.h"
#include "verify/protocol.h"

typedef enum {
    PW_NODE_HELD,    /* its own error is within its tolerance, and so is what arrived */
    PW_NODE_CULPRIT, /* its own error is above its tolerance */
    PW_NODE_VICTIM,  /* wrong because of a culprit before it */
    PW_NODE_DRIFT,   /* what arrived is above what all tolerances before it allow together, and no culprit is known */
    PW_NODE_FAILED,  /* a run on the target failed (crash, timeout, error): what did not come is the reference's */
    PW_NODE_DRAWN,   /* outputs are draws: judged by property; went on with the target's on both sides; or a pattern
                        with such a node, judged no further */
    PW_NODE_STANDING_COUNT
} pw_node_standing;
const char *pw_node_standing_name(pw_node_standing standing); /* "held", "culprit", … */

struct pw_endtoend_node {
    const struct pw_node *node; /* NULL: a pattern */
    int pattern;                /* index in the inventory: the pattern itself, or the one that the node is in; -1 */
    size_t position;            /* of the first run among all nodes that ran, from 0 */
    pw_node_standing standing;
    bool on_target, cast;       /* cast: in another storage dtype than the graph's, as the protocol says */
    const char *implementation; /* kernel, "reference", "" for a pattern or control flow */
    pw_dtype dtype;             /* executed; UNDEFINED: nothing floats */
    const char *note;           /* why on the host, or not in the wanted dtype; "" */
    size_t runs;                /* a loop's body runs often; the errors are the worst of all runs */
    int64_t time_ns;   /* all runs together (run/target_eval.h says what of each); 0: unknown, or a pattern's or control
                          flow's, whose nodes have their own */
    bool has_isolated; /* false: control flow, draws, failed */
    struct pw_comparison isolated, propagated;
    int output;            /* the worst by its own error */
    double tolerance;      /* of the isolated error */
    const char *why;       /* of the tolerance */
    double allowed;        /* all tolerances on the longest way here, summed; four times that is drift */
    bool nonfinite_origin; /* NaN or Inf on one side begins here: no input had one */
    bool reference_nan;    /* the reference itself makes a NaN here */
    const char *reason;    /* a sentence when it does not hold; "" */
};

struct pw_endtoend_output {
    size_t output; /* of the graph */
    const char *name;
    bool compared; /* with golden: false when its kind or shape differs (reason says so), or it descends from draws */
    struct pw_comparison golden;
    bool has_file;
    struct pw_comparison file, file_golden; /* the target against the given file; golden against it */
    double tolerance;                       /* on golden.max_error */
    const char *why;
    bool held;
    const char *reason; /* "" when held */
};

#define PW_SWEEP_DTYPES 3 /* float16, bfloat16, float32 */

struct pw_sweep_cell {
    pw_dtype dtype;
    bool ran;                  /* false: note says why ("Cast has no float16") */
    size_t on_target, on_host; /* nodes of the layer */
    double damage;             /* relative root mean square error at the worst output; infinity: NaN, Inf or a flip */
    double max_error;          /* hybrid, at the worst output */
    int64_t flips;             /* integers, NaN and Inf at the outputs that differ */
    bool held; /* every output within what a rule with its name says, else as good as one stored in the dtype */
    char note[128];
};

struct pw_sweep_layer {
    const char *name; /* of the node, or "LayerNorm: <first node> …" */
    int pattern;      /* in the inventory, -1: a node */
    const struct pw_node *const *nodes;
    size_t node_count;
    struct pw_sweep_cell cells[PW_SWEEP_DTYPES];
    double worst; /* damage that ranks it: the larger of both narrow dtypes' */
};

typedef enum {
    PW_ENDTOEND_STARTED, /* total: nodes of the main graph, or layers */
    PW_ENDTOEND_NODE,    /* a node or pattern is done (a body's nodes when their container is) */
    PW_ENDTOEND_LAYER,
    PW_ENDTOEND_OUTPUT,
    PW_ENDTOEND_FINISHED
} pw_endtoend_event_kind;

struct pw_endtoend_event { /* what it points to is valid during the call, names and texts until pw_endtoend_run returns
                            */
    pw_endtoend_event_kind kind;
    size_t done, total;
    const struct pw_endtoend_node *node;
    const struct pw_endtoend_output *output;
    const struct pw_sweep_layer *layer;
};
typedef void pw_endtoend_emit(void *user, const struct pw_endtoend_event *event);

typedef enum { PW_ENDTOEND_OUTPUTS, PW_ENDTOEND_NODES, PW_ENDTOEND_SWEEP } pw_endtoend_mode;

struct pw_capture_writer; /* verify/capture.h */

struct pw_endtoend_request {
    const struct pw_inventory *inventory; /* concrete */
    const struct pw_kernels *kernels;     /* NULL: with the reference only */
    struct pw_device *device;             /* "reference" too: golden rounded to the dtypes after each node */
    const struct pw_protocol *protocol;
    const struct pw_value *inputs; /* nominal dtypes, one a graph input without an initializer */
    size_t input_count;
    const struct pw_value *wanted; /* by output of the graph: from files; NONE: not given. NULL: none */
    pw_endtoend_mode mode;
    struct pw_capture_writer *capture; /* receives every node's inputs, from the reference; may be NULL */
    uint64_t seed;
    int timed_runs;            /* whole runs of target and fast reference after the compared one; 0 = none */
    const char *layers;        /* sweep: only layers whose name fits the glob; NULL = all */
    const atomic_bool *cancel; /* may be NULL */
    pw_endtoend_emit *emit;
    void *user;
};

struct pw_endtoend_totals {
    size_t nodes, target_nodes, host_nodes, cast_nodes; /* that ran; nodes counts each once */
    size_t culprits, victims, drifts, failed;
    size_t outputs, outputs_failed;
    size_t layers;
    const struct pw_node *first_divergence; /* first that does not hold, or NULL; in the model */
    const struct pw_node *nonfinite_origin; /* or NULL */
    const struct pw_node *reference_nan;    /* or NULL */
    int64_t peak_bytes;                     /* values of both sides at once, at most */
    int64_t live_bytes;              /* live tensors of the graph in their own dtypes, at most: the least needed */
    int64_t first_ns;                /* the first timed run of the target, compiling included; 0 not timed */
    int64_t target_ns, reference_ns; /* medians of the timed runs; 0 unknown */
    int64_t nodes_target_ns, nodes_host_ns; /* times of the compared nodes, summed by where they ran; 0 unknown */
    int timed_runs;
    bool held;
};

/* results (may be NULL): by output of the graph, what the target gave; owned by the caller. */
pw_status pw_endtoend_run(const struct pw_endtoend_request *request, struct pw_value *results,
                          struct pw_endtoend_totals *totals, struct pw_error *err);

#endif
