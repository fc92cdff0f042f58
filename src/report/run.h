/*
 * The report of a run of the whole graph: outputs with their end-to-end errors, nodes with what is their own error and
 * what arrived, or layers by the damage that a narrow dtype does; text, JSON (schema 2), CSV or Markdown from the same
 * rows. Pure: reads plain data, writes into a buffer.
 */
#ifndef PW_REPORT_RUN_H
#define PW_REPORT_RUN_H

#include "run/inputs.h"
#include "verify/endtoend.h"

struct pw_report_run {
    const struct pw_inventory *inventory;
    const char *model_path, *graph_id, *target, *device, *runtime, *bindings, *protocol;
    const struct pw_inputs *inputs;
    uint64_t seed;
    pw_endtoend_mode mode;
    bool all; /* text: nodes that hold too */
    const struct pw_endtoend_node *const *nodes;
    size_t node_count;
    const struct pw_endtoend_output *const *outputs;
    size_t output_count;
    const struct pw_sweep_layer *const *layers; /* in graph order */
    bool some_layers;                           /* not all were measured: those that a pattern named */
    size_t layer_count;
    struct pw_endtoend_totals totals;
    int exit_code;
};

void pw_report_run_text(const struct pw_report_run *report, int width, bool color, struct pw_buf *out);
void pw_report_run_md(const struct pw_report_run *report, struct pw_buf *out);
/* One table a mode: outputs, nodes, or layers. */
void pw_report_run_csv(const struct pw_report_run *report, struct pw_buf *out);
pw_status pw_report_run_json(const struct pw_report_run *report, struct pw_buf *out, struct pw_error *err);

/* ---- shared by run.c, run_json.c and run_rules.c ---- */

/* Rules of a protocol from a sweep's layers. */
void pw_report_run_rules(const struct pw_report_run *report, const struct pw_sweep_layer *const *ranked,
                         struct pw_buf *out);

/* "attn/softmax", "#17" for a node without a name, "LayerNorm at <first node>" for a pattern. */
void pw_report_run_name(const struct pw_report_run *report, const struct pw_endtoend_node *row, struct pw_buf *out);
const char *pw_report_run_op(const struct pw_report_run *report, const struct pw_endtoend_node *row);
/* Layers by damage, worst first; NULL when memory is short; freed with pw_free. */
const struct pw_sweep_layer **pw_report_run_ranked(const struct pw_report_run *report);
/* The narrowest dtype in which the layer holds: float16, bfloat16, else float32. */
const char *pw_report_run_advice(const struct pw_sweep_layer *layer);

#endif
