/*
 * Inside of the comparison node by node (divergence*.c, endtoend.c): both sides of a run in step. For these files only.
 */
#ifndef PW_VERIFY_DIVERGENCE_H
#define PW_VERIFY_DIVERGENCE_H

#include "base/map.h"
#include "run/target_eval.h"
#include "verify/endtoend.h"

/* What a value passes on to those that are made of it. */
struct pw_inherited {
    double allowed; /* sum of tolerances on the longest way here */
    bool tainted;   /* a culprit is among the ancestors */
    bool bad;       /* NaN or Inf on one side only, here or before */
    bool drawn;     /* descends from draws */
    bool ref_nan;   /* the reference has a NaN */
};

/* A value inside a pattern that is judged as a whole: both sides from the reference's inputs of the pattern, rounded.
 */
struct pw_unit_values {
    int unit;    /* the pattern's index */
    bool shared; /* they are the pair's ref and got themselves, and ref and got here are empty */
    struct pw_value ref, got;
    double allowed;
};

/* One value on both sides. */
struct pw_pair {
    struct pw_value ref;         /* golden, carried in double throughout */
    struct pw_value got;         /* the target's, nominal */
    struct pw_unit_values *unit; /* while its pattern runs; owned; NULL: not in one */
    bool exact;                  /* got holds exactly what ref does */
    struct pw_inherited from;
    size_t bytes, live; /* accounted: both sides; nominal of one */
};

/* One graph being run on both sides. */
struct pw_pair_frame {
    struct pw_divergence *run;
    const struct pw_graph *graph;
    struct pw_pair_frame *parent;
    struct pw_pair **pairs; /* by value id; NULL: nothing is there (any more); owned */
    size_t *last_use;
    bool *given; /* by value id: an input that has been set */
};

/* A pattern on its way through one pass. */
struct pw_unit_state {
    size_t members, left; /* nodes of it; those still to run in this pass */
    bool unproven;        /* a member failed or draws: not judged in this pass */
    pw_value_id *values;  /* that have unit values; while members are left; owned */
    size_t value_count, value_cap;
};

/* What was found of an output of the graph. */
struct pw_output_verdict {
    struct pw_comparison golden;
    struct pw_comparison *file; /* the target against the given file, golden against it; NULL: there is none */
    double tolerance;
    const char *why, *reason;
    bool compared, held;
};

/* The node after which nobody reads an output any more. */
struct pw_output_due {
    size_t node, output;
};

struct pw_divergence {
    const struct pw_endtoend_request *request;
    struct pw_endtoend_totals *totals;
    struct pw_arena arena;
    const struct pw_graph *main_graph;
    struct pw_target_eval target;
    uint64_t draws;
    int nesting;
    struct pw_endtoend_node **rows;      /* by node number; NULL: has not run */
    struct pw_endtoend_node **unit_rows; /* by pattern */
    struct pw_endtoend_node **pending;   /* rows to emit when the node of the main graph is done */
    size_t pending_count, pending_cap;
    struct pw_endtoend_node **spare; /* rows that nobody will ask for again */
    size_t spare_count, spare_cap;
    struct pw_map texts; /* whys, notes and reasons of rows, each once */
    size_t position;
    int *unit_of;                        /* by node number: pattern judged as a whole, or -1 */
    uint64_t *exposed;                   /* by node number: outputs (bits) that others than the pattern's nodes read */
    struct pw_unit_state *units;         /* by pattern */
    struct pw_output_verdict **verdicts; /* by output of the main graph; NULL: not judged yet */
    struct pw_output_due *due;           /* by node; those that no node makes are not among them */
    size_t due_count, due_next;
    bool keep_outputs; /* the caller wants their values */
    int64_t now_bytes, now_live;
    size_t done;
};

/* divergence.c */
pw_status pw_divergence_init(struct pw_divergence *run, const struct pw_endtoend_request *request,
                             struct pw_endtoend_totals *totals, struct pw_error *err);
void pw_divergence_clear(struct pw_divergence *run);
/* Runs a graph on both sides. *args: by position of the graph's inputs, taken over: freed before the first node runs,
 * and NULL then. results: pairs for graph->output_count, owned by the caller afterwards (pw_pair_clear); of the main
 * graph empty for outputs that were judged on the way and that nobody wants. */
pw_status pw_divergence_graph(struct pw_divergence *run, struct pw_pair_frame *parent, const struct pw_graph *graph,
                              struct pw_pair **args, size_t arg_count, struct pw_pair *results, struct pw_error *err);
/* The pair behind an id, through captures; initializers are filled in. */
pw_status pw_pair_read(struct pw_pair_frame *frame, pw_value_id id, struct pw_pair **out, struct pw_error *err);
void pw_pair_clear(struct pw_pair *pair);
/* Only its unit's values go; it is accounted. */
void pw_pair_drop_unit(struct pw_divergence *run, struct pw_pair *pair);
/* A judged output goes; it counts as a live tensor of the graph still. */
void pw_pair_drop_output(struct pw_pair_frame *frame, pw_value_id id);
/* A copy that lives as long as the run; equal texts are one. "" when memory is short. */
const char *pw_divergence_text(struct pw_divergence *run, const char *text);
/* Counts temporaries towards the peak. */
void pw_divergence_peak(struct pw_divergence *run, size_t extra_bytes);
size_t pw_value_bytes(const struct pw_value *value); /* memory that it owns */

/* What one node's run on both sides is made of. */
struct pw_node_run {
    struct pw_divergence *run;
    const struct pw_node *node;
    struct pw_endtoend_node *row;
    struct pw_pair *const *in; /* NULL = omitted */
    struct pw_pair *out;
    int in_count, out_count;
    uint64_t seed;
    struct pw_target_step step; /* of the target's run with its own inputs */
    const struct pw_value **refs, **gots;
    struct pw_value *rounded; /* the reference's inputs in the graph's dtypes, where they are not exact */
    const struct pw_value **isolated_in;
    struct pw_value *isolated_ref, *isolated_got; /* outputs; by place, NONE where shared */
    bool isolated;                                /* isolated_in is filled */
    bool all_exact;                               /* no input of the target differs from the reference's */
    bool share_ref, share_got;                    /* isolated outputs are out's own */
    double tolerance;
    bool failed, culprit, drawn;
};

/* divergence_node.c: one node without subgraphs. in: NULL = omitted; out: to fill, node->output_count. */
pw_status pw_divergence_node(struct pw_divergence *run, const struct pw_node *node, struct pw_pair *const *in,
                             struct pw_pair *out, struct pw_error *err);
/* Golden of a node in the dtypes in which the target ran it: inputs that are castable are rounded to `storage` unless
 * `inner` says that they are golden's own inside a pattern; UNDEFINED: as they are. Outputs keep the graph's nominal
 * dtypes (those of `like`). */
pw_status pw_divergence_golden(const struct pw_node *node, const struct pw_value *const *in, const bool *inner,
                               pw_dtype storage, uint64_t seed, const struct pw_pair *like, struct pw_value *out,
                               struct pw_error *err);
pw_dtype pw_divergence_storage(const struct pw_node_run *nr); /* that it ran in; UNDEFINED: the graph's */

/* divergence_judge.c */

/* Is every element the same number (NaN equal to NaN)? */
bool pw_divergence_exact(const struct pw_value *got, const struct pw_value *ref);
/* Compares got with ref, whose nominal dtype it takes for the comparison; items of sequences one by one. What cannot be
 * compared (kind, shape, dtype) is an infinite error with the reason in why. */
pw_status pw_divergence_compare(const struct pw_value *got, const struct pw_value *ref, double tolerance,
                                struct pw_comparison *out, struct pw_buf *why, struct pw_error *err);
/* Data, not work: it is run, and not reported. */
bool pw_divergence_is_constant(const struct pw_node *node);
/* A row, empty but for these; "" and -1 where nothing is known. NULL when memory is short. */
struct pw_endtoend_node *pw_divergence_new_row(struct pw_divergence *run, const struct pw_node *node, int pattern);
/* The row of a node that runs, made on its first run. */
pw_status pw_divergence_row(struct pw_divergence *run, const struct pw_node *node, struct pw_endtoend_node **out,
                            struct pw_error *err);
/* The row is emitted when the node of the main graph is done. */
pw_status pw_divergence_push(struct pw_divergence *run, struct pw_endtoend_node *row, struct pw_error *err);
/* *into keeps the worse of both. */
void pw_comparison_worse(struct pw_comparison *into, const struct pw_comparison *other);
/* The worse standing stays; the reason belongs to it. */
void pw_divergence_settle(struct pw_divergence *run, struct pw_endtoend_node *row, pw_node_standing standing,
                          const char *reason);
/* What a target can do to us is a finding; what concerns this process is an error. */
bool pw_divergence_finding(pw_status status);
/* The worst of all inputs; of two. */
struct pw_inherited pw_inherited_from(struct pw_pair *const *in, size_t count);
void pw_inherited_add(struct pw_inherited *into, const struct pw_inherited *other);
/* Judges both errors, fills what the outputs pass on. */
pw_status pw_divergence_judge(struct pw_node_run *nr, struct pw_error *err);
/* The same for a node whose body did the work. reason: why it has the standing; "" it may hold. */
pw_status pw_divergence_judge_outer(struct pw_divergence *run, const struct pw_node *node, struct pw_pair *const *in,
                                    struct pw_pair *out, pw_node_standing standing, const char *reason,
                                    struct pw_error *err);

/* divergence_unit.c: patterns judged as a whole. */
pw_status pw_divergence_units(struct pw_divergence *run, struct pw_error *err); /* finds them */
void pw_divergence_units_clear(struct pw_divergence *run);
/* After the node was judged: runs it inside its pattern, judges the pattern's outputs. */
pw_status pw_divergence_member(struct pw_node_run *nr, struct pw_error *err);
/* The node's outputs are in the frame: when its pattern is through, the unit's values go, also of what lives on. */
pw_status pw_divergence_placed(struct pw_pair_frame *frame, const struct pw_node *node, struct pw_error *err);

/* divergence_output.c: of the main graph. last_use: of nodes alone, by value id. */
pw_status pw_divergence_outputs_plan(struct pw_divergence *run, const size_t *last_use, struct pw_error *err);
/* After the node with this index: judges the outputs that nobody reads any more. */
pw_status pw_divergence_outputs_due(struct pw_pair_frame *frame, size_t node, struct pw_error *err);
/* Judges the others, and emits all of them. pairs: the graph's results. */
pw_status pw_divergence_outputs_end(struct pw_divergence *run, const struct pw_pair *pairs, struct pw_error *err);

/* divergence_control.c: a node with subgraphs, both sides in step. */
pw_status pw_divergence_control(struct pw_pair_frame *frame, const struct pw_node *node, struct pw_pair *const *in,
                                struct pw_pair *out, struct pw_error *err);

#endif
