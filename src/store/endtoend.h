/*
 * Runs of whole graphs in the store: outputs, nodes that do not hold, figures, and how sensitive each layer was
 * measured to be. Same rules as store.h: one connection, one thread, rows that never change.
 */
#ifndef PW_STORE_ENDTOEND_H
#define PW_STORE_ENDTOEND_H

#include "base/map.h"
#include "graph/graph.h"
#include "store/store.h"
#include "verify/endtoend.h"

/* One transaction each. */
pw_status pw_store_output_add(struct pw_store *store, int64_t run_id, const struct pw_endtoend_output *output,
                              struct pw_error *err);
/* number: of the node in the graph; name: as shown for a pattern. */
pw_status pw_store_node_add(struct pw_store *store, int64_t run_id, int64_t number, const char *name, const char *op,
                            const struct pw_endtoend_node *node, struct pw_error *err);
pw_status pw_store_figures_add(struct pw_store *store, int64_t run_id, const struct pw_endtoend_totals *totals,
                               struct pw_error *err);
/* numbers: of the layer's nodes. */
pw_status pw_store_layer_add(struct pw_store *store, int64_t run_id, const char *graph, const size_t *numbers,
                             const struct pw_sweep_layer *layer, struct pw_error *err);

/* A node or a pattern of a run, as lists of all of them need it. */
struct pw_store_node_figure {
    int64_t node; /* number in the graph; of a pattern -1 - its index in the inventory */
    pw_node_standing standing;
    bool on_target, nonfinite_origin;
    int64_t time_ns;                        /* 0 unknown */
    double isolated, tolerance, propagated; /* NaN unknown */
    const char *implementation, *note;      /* "" none; of a pattern its kind */
    const char *reason; /* read only: what pw_store_node_add kept of one that does not hold; "" none */
};
/* The nodes of a run that goes on, recorded in parts as they come, in the order of its list. Nobody is told of them
 * before the run has ended (pw_store_run_end), so one that is killed leaves none to be seen. They are kept of the
 * newest runs of the graph on the target: PW_STORE_NODE_RUNS at most, with PW_STORE_NODE_ROWS nodes together, and the
 * newest one always; of older ones they go, and of those that never ended after a day. */
#define PW_STORE_NODE_RUNS 20
#define PW_STORE_NODE_ROWS 500000
struct pw_store_node_list {
    int64_t run;         /* set by the caller, the rest zero */
    size_t count;        /* of its nodes that are recorded */
    struct pw_map texts; /* of the run by their numbers */
};
/* The next nodes, in one transaction. When it fails none of these is there, and the list takes no more. */
pw_status pw_store_node_figures_add(struct pw_store *store, struct pw_store_node_list *list,
                                    const struct pw_store_node_figure *figures, size_t count, struct pw_error *err);
/* All have come: an error when some are not there any more. Before the run's end is recorded. */
pw_status pw_store_node_figures_end(struct pw_store *store, const struct pw_store_node_list *list,
                                    struct pw_error *err);
/* Those of a run that did not come to its end are no list of all nodes: they go. Before the run's end is recorded. */
pw_status pw_store_node_figures_drop(struct pw_store *store, const struct pw_store_node_list *list,
                                     struct pw_error *err);
void pw_store_node_list_clear(struct pw_store_node_list *list);
/* In the list's order; rows in the arena. */
pw_status pw_store_node_figures(struct pw_store *store, int64_t run_id, struct pw_arena *arena,
                                struct pw_store_node_figure **rows, size_t *count, struct pw_error *err);
/* The newest run of the graph on the target whose nodes are kept, and the number of its node that does not hold first
 * (-1: all do); id 0: there is none. Texts in the arena. */
struct pw_store_node_run {
    int64_t id, begin_ms, first_divergence;
    const char *bindings;
    bool held;
};
pw_status pw_store_node_run_latest(struct pw_store *store, const char *graph, const char *target,
                                   struct pw_arena *arena, struct pw_store_node_run *run, struct pw_error *err);

/* Figures of some nodes in the runs of the graph with these dims on the target whose nodes are kept and that are over:
 * by run, oldest first, in the order of the run's list. Rows in the arena. */
struct pw_store_node_point {
    int64_t run_id, begin_ms, node;
    pw_node_standing standing;
    int64_t time_ns;            /* 0 unknown */
    double isolated, tolerance; /* NaN unknown */
    const char *environment_id; /* of the run; "" unknown */
};
pw_status pw_store_node_points(struct pw_store *store, const char *graph, const char *target, const char *bindings,
                               const size_t *numbers, size_t number_count, struct pw_arena *arena,
                               struct pw_store_node_point **rows, size_t *count, struct pw_error *err);

struct pw_store_run_row {
    int64_t id, begin_ms, end_ms; /* end 0: not ended */
    const char *kind, *outcome;   /* outcome "" while not ended */
    const char *environment, *environment_id, *bindings, *version, *target_kind, *device;
    int exit_code;
};
/* Newest run of the graph on the target, of the kind (NULL: any) that ended, whatever its outcome; id 0: there is
 * none. */
pw_status pw_store_run_latest(struct pw_store *store, const char *graph, const char *target, const char *kind,
                              struct pw_arena *arena, struct pw_store_run_row *row, struct pw_error *err);

struct pw_store_output_row {
    const char *name, *reason;
    bool held;
    double error, tolerance; /* NaN unknown */
};
struct pw_store_figure_row {
    const char *name;
    double value;
};
/* Outputs and figures of a run of the whole graph (or of a soak). */
pw_status pw_store_outputs(struct pw_store *store, int64_t run_id, struct pw_arena *arena,
                           struct pw_store_output_row **rows, size_t *count, struct pw_error *err);
pw_status pw_store_figures(struct pw_store *store, int64_t run_id, struct pw_arena *arena,
                           struct pw_store_figure_row **rows, size_t *count, struct pw_error *err);
/* One figure of a run, by a name of the caller's. */
pw_status pw_store_figure_add(struct pw_store *store, int64_t run_id, const char *name, double value,
                              struct pw_error *err);
struct pw_store_sensitivity {
    size_t node; /* number in the graph */
    const char *layer, *dtype;
    double damage, max_error; /* NaN: did not run in that dtype */
    int64_t flips;
    bool held;
    int64_t run_id;
};
/* Newest measured row of each node and dtype of the graph; rows in the arena, by node. */
pw_status pw_store_sensitivities(struct pw_store *store, const char *graph, struct pw_arena *arena,
                                 struct pw_store_sensitivity **rows, size_t *count, struct pw_error *err);

/* Measured figures replace the rule of thumb of each signature whose nodes were swept: low when both float16 and
 * bfloat16 hold, medium when one does, high when none. Rows may come from several runs. */
pw_status pw_store_apply_sensitivities(const struct pw_store_sensitivity *rows, size_t count,
                                       struct pw_inventory *inventory, struct pw_error *err);

#endif
