/* A run of the whole graph as JSON, schema 2 (share/schema/run.schema.json). An infinite error is null with mismatches.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "report/check.h"
#include "report/run.h"

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static json_t *integer(size_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *json_comparison(const struct pw_comparison *c, bool known)
{
    json_t *item;

    if (!known || c->worst < 0)
        return json_null();
    item = json_object();
    set(item, "error", pw_report_json_real(c->max_error));
    set(item, "max_absolute", pw_report_json_real(c->max_absolute));
    set(item, "max_relative", pw_report_json_real(c->max_relative));
    set(item, "max_ulp", pw_report_json_real(c->max_ulp));
    set(item, "nmse", pw_report_json_real(c->nmse));
    set(item, "cosine", pw_report_json_real(c->cosine));
    set(item, "elements", json_integer(c->count));
    set(item, "over", json_integer(c->over));
    set(item, "mismatches", json_integer(c->mismatches));
    set(item, "worst", json_integer(c->worst));
    set(item, "got", pw_report_json_real(c->worst_got));
    set(item, "want", pw_report_json_real(c->worst_want));
    return item;
}

static json_t *json_node_ref(const struct pw_report_run *report, const struct pw_node *node)
{
    for (size_t i = 0; node && i < report->node_count; i++)
        if (report->nodes[i]->node == node) {
            struct pw_buf name = {0};
            json_t *text;

            pw_report_run_name(report, report->nodes[i], &name);
            text = pw_report_json_text(pw_buf_text(&name));
            pw_buf_clear(&name);
            return text;
        }
    return node ? pw_report_json_text(node->name) : json_null();
}

static json_t *json_node(const struct pw_report_run *report, const struct pw_endtoend_node *row)
{
    json_t *item = json_object();
    struct pw_buf name = {0};

    pw_report_run_name(report, row, &name);
    set(item, "position", integer(row->position));
    set(item, "name", pw_report_json_text(pw_buf_text(&name)));
    set(item, "operator", row->node ? pw_report_json_text(row->node->op_type) : json_null());
    set(item, "pattern",
        row->pattern >= 0 ? json_string(pw_pattern_name(report->inventory->patterns[row->pattern].kind)) : json_null());
    set(item, "where", json_string(row->on_target ? "target" : "host"));
    set(item, "implementation", pw_report_json_text(row->implementation));
    set(item, "dtype", row->dtype == PW_DTYPE_UNDEFINED ? json_null() : json_string(pw_dtype_name(row->dtype)));
    set(item, "cast", json_boolean(row->cast));
    set(item, "note", pw_report_json_text(row->note));
    set(item, "runs", integer(row->runs));
    set(item, "time_ns", row->time_ns ? json_integer(row->time_ns) : json_null());
    set(item, "standing", json_string(pw_node_standing_name(row->standing)));
    set(item, "reason", pw_report_json_text(row->reason));
    set(item, "own", json_comparison(&row->isolated, row->has_isolated));
    set(item, "tolerance", row->has_isolated ? pw_report_json_real(row->tolerance) : json_null());
    set(item, "tolerance_why", pw_report_json_text(row->why));
    set(item, "arrived", json_comparison(&row->propagated, true));
    set(item, "allowed", pw_report_json_real(row->allowed));
    set(item, "nonfinite_origin", json_boolean(row->nonfinite_origin));
    set(item, "reference_nan", json_boolean(row->reference_nan));
    pw_buf_clear(&name);
    return item;
}

static json_t *json_output(const struct pw_endtoend_output *output)
{
    json_t *item = json_object();

    set(item, "name", pw_report_json_text(output->name));
    set(item, "standing", json_string(output->held ? "held" : "failed"));
    set(item, "reason", pw_report_json_text(output->reason));
    set(item, "golden", json_comparison(&output->golden, true));
    set(item, "tolerance", pw_report_json_real(output->tolerance));
    set(item, "tolerance_why", pw_report_json_text(output->why));
    set(item, "file", json_comparison(&output->file, output->has_file));
    set(item, "file_golden", json_comparison(&output->file_golden, output->has_file));
    return item;
}

static json_t *json_layer(const struct pw_sweep_layer *layer)
{
    json_t *item = json_object(), *cells = json_array(), *nodes = json_array();

    set(item, "name", pw_report_json_text(layer->name));
    for (size_t i = 0; i < layer->node_count; i++)
        json_array_append_new(nodes, pw_report_json_text(layer->nodes[i]->name));
    set(item, "nodes", nodes);
    for (int d = 0; d < PW_SWEEP_DTYPES; d++) {
        const struct pw_sweep_cell *cell = &layer->cells[d];
        json_t *one = json_object();

        set(one, "dtype", json_string(pw_dtype_name(cell->dtype)));
        set(one, "ran", json_boolean(cell->ran));
        set(one, "damage", cell->ran ? pw_report_json_real(cell->damage) : json_null());
        set(one, "max_error", cell->ran ? pw_report_json_real(cell->max_error) : json_null());
        set(one, "flips", json_integer(cell->flips));
        set(one, "held", json_boolean(cell->held));
        set(one, "on_target", integer(cell->on_target));
        set(one, "on_host", integer(cell->on_host));
        set(one, "note", pw_report_json_text(cell->note));
        json_array_append_new(cells, one);
    }
    set(item, "dtypes", cells);
    set(item, "advice", json_string(pw_report_run_advice(layer)));
    return item;
}

static json_t *json_inputs(const struct pw_inputs *inputs)
{
    json_t *array = json_array();

    for (size_t i = 0; inputs && i < inputs->count; i++) {
        const struct pw_value *value = &inputs->values[i];
        json_t *item = json_object(), *shape = json_array();

        set(item, "name", pw_report_json_text(inputs->graph->values[inputs->ids[i]].name));
        set(item, "dtype",
            value->kind == PW_VALUE_TENSOR ? json_string(pw_dtype_name(value->tensor.nominal)) : json_null());
        for (int d = 0; value->kind == PW_VALUE_TENSOR && d < value->tensor.rank; d++)
            json_array_append_new(shape, json_integer(value->tensor.dims[d]));
        set(item, "shape", shape);
        set(item, "source", pw_report_json_text(inputs->sources[i] ? inputs->sources[i] : ""));
        json_array_append_new(array, item);
    }
    return array;
}

static json_t *json_totals(const struct pw_report_run *report)
{
    const struct pw_endtoend_totals *t = &report->totals;
    json_t *item = json_object();

    set(item, "nodes", integer(t->nodes));
    set(item, "target_nodes", integer(t->target_nodes));
    set(item, "host_nodes", integer(t->host_nodes));
    set(item, "cast_nodes", integer(t->cast_nodes));
    set(item, "culprits", integer(t->culprits));
    set(item, "victims", integer(t->victims));
    set(item, "drifts", integer(t->drifts));
    set(item, "failed", integer(t->failed));
    set(item, "outputs", integer(t->outputs));
    set(item, "outputs_failed", integer(t->outputs_failed));
    set(item, "layers", integer(t->layers));
    set(item, "first_divergence", json_node_ref(report, t->first_divergence));
    set(item, "nonfinite_origin", json_node_ref(report, t->nonfinite_origin));
    set(item, "reference_nan", json_node_ref(report, t->reference_nan));
    set(item, "peak_bytes", json_integer(t->peak_bytes));
    set(item, "live_bytes", json_integer(t->live_bytes));
    set(item, "target_ns", t->target_ns ? json_integer(t->target_ns) : json_null());
    set(item, "reference_ns", t->reference_ns ? json_integer(t->reference_ns) : json_null());
    set(item, "nodes_target_ns", t->nodes_target_ns ? json_integer(t->nodes_target_ns) : json_null());
    set(item, "nodes_host_ns", t->nodes_host_ns ? json_integer(t->nodes_host_ns) : json_null());
    set(item, "timed_runs", json_integer(t->timed_runs));
    set(item, "held", json_boolean(t->held));
    return item;
}

pw_status pw_report_run_json(const struct pw_report_run *report, struct pw_buf *out, struct pw_error *err)
{
    static const char *const modes[] = {"outputs", "nodes", "sweep"};
    const struct pw_sweep_layer **ranked = pw_report_run_ranked(report);
    json_t *root = json_object(), *nodes = json_array(), *outputs = json_array(), *layers = json_array();
    char *text;

    set(root, "schema", json_integer(2));
    set(root, "report", json_string("run"));
    set(root, "mode", json_string(modes[report->mode]));
    set(root, "model", pw_report_json_text(report->model_path));
    set(root, "graph", json_string(report->graph_id));
    set(root, "target", pw_report_json_text(report->target));
    set(root, "device", pw_report_json_text(report->device));
    set(root, "runtime", pw_report_json_text(report->runtime));
    set(root, "bindings", pw_report_json_text(report->bindings));
    set(root, "protocol", pw_report_json_text(report->protocol));
    set(root, "seed", json_integer((json_int_t)report->seed));
    set(root, "inputs", json_inputs(report->inputs));
    for (size_t i = 0; i < report->node_count; i++)
        json_array_append_new(nodes, json_node(report, report->nodes[i]));
    for (size_t i = 0; i < report->output_count; i++)
        json_array_append_new(outputs, json_output(report->outputs[i]));
    for (size_t i = 0; ranked && i < report->layer_count; i++)
        json_array_append_new(layers, json_layer(ranked[i]));
    set(root, "nodes", nodes);
    set(root, "outputs", outputs);
    set(root, "layers", layers);
    set(root, "totals", json_totals(report));
    set(root, "exit_code", json_integer(report->exit_code));
    text = json_dumps(root, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    json_decref(root);
    pw_free(ranked);
    if (!text)
        return pw_error_memory(err, 1);
    pw_buf_puts(out, text);
    pw_buf_putc(out, '\n');
    free(text); /* jansson's own allocation */
    return out->failed ? pw_error_memory(err, out->size) : PW_OK;
}
