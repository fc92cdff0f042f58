/* The inventory as JSON, schema 1 (share/schema/inventory.schema.json). */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "report/check.h"
#include "report/inventory.h"

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static json_t *integer(size_t value)
{
    return json_integer((json_int_t)value);
}

/* ---- shapes and nodes ---- */

static json_t *json_dim(const struct pw_dims *dims, pw_dim dim)
{
    struct pw_buf text = {0};
    json_t *value;

    if (dim >= 0)
        return json_integer(dim);
    if (dim == PW_DIM_UNKNOWN)
        return json_null();
    pw_dims_print(dims, dim, &text);
    value = pw_report_json_text(pw_buf_text(&text));
    pw_buf_clear(&text);
    return value;
}

static json_t *json_shape(const struct pw_dims *dims, const struct pw_info *info)
{
    json_t *array;

    if (info->rank < 0)
        return json_null();
    array = json_array();
    for (int d = 0; d < info->rank; d++)
        json_array_append_new(array, json_dim(dims, info->dims[d]));
    return array;
}

static json_t *json_operand(const struct pw_dims *dims, const struct pw_info *info)
{
    static const char *const kinds[] = {"unknown", "tensor", "sequence"};
    json_t *item;

    if (info == NULL)
        return json_null();
    item = json_object();
    set(item, "kind", json_string(kinds[info->kind]));
    set(item, "dtype", info->dtype == PW_DTYPE_UNDEFINED ? json_null() : json_string(pw_dtype_name(info->dtype)));
    set(item, "shape", json_shape(dims, info));
    set(item, "constant", json_boolean(info->fixed));
    return item;
}

static json_t *json_nodes(const struct pw_node *const *nodes, size_t count)
{
    json_t *array = json_array();

    for (size_t i = 0; i < count; i++) {
        json_t *item = json_object();

        if (nodes[i]->graph->parent != NULL)
            set(item, "graph", pw_report_json_text(nodes[i]->graph->name));
        set(item, "index", integer(nodes[i]->index));
        set(item, "name", pw_report_json_text(nodes[i]->name));
        json_array_append_new(array, item);
    }
    return array;
}

/* ---- coverage ---- */

static json_t *json_implementation(const struct pw_impl *impl, bool selected)
{
    json_t *item = json_object();

    set(item, "kind", json_string(pw_coverage_name(impl->kind)));
    set(item, "name", pw_report_json_text(impl->name));
    set(item, "supported", json_boolean(impl->supported));
    set(item, "selected", json_boolean(selected));
    set(item, "why_not", impl->supported ? json_null() : pw_report_json_text(impl->why));
    return item;
}

static json_t *json_coverage(const struct pw_report_inventory *report, size_t signature)
{
    json_t *array = json_array();

    for (size_t t = 0; t < report->target_count; t++) {
        const struct pw_report_target *target = &report->targets[t];
        const struct pw_impl_list *list = target->impls != NULL ? &target->impls[signature] : NULL;
        json_t *item = json_object(), *implementations = json_array();

        set(item, "target", pw_report_json_text(target->spec));
        set(item, "coverage", list != NULL ? json_string(pw_coverage_name(list->coverage)) : json_null());
        set(item, "reason", pw_report_json_text(list != NULL ? list->reason : target->note));
        set(item, "library_exists", list != NULL ? json_boolean(list->library_exists) : json_null());
        set(item, "kernel_required", list != NULL ? json_boolean(list->kernel_required) : json_null());
        for (size_t i = 0; list != NULL && i < list->count; i++)
            json_array_append_new(implementations, json_implementation(&list->items[i], (int)i == list->selected));
        set(item, "implementations", implementations);
        json_array_append_new(array, item);
    }
    return array;
}

/* ---- signatures and patterns ---- */

static json_t *json_signature(const struct pw_report_inventory *report, size_t index)
{
    const struct pw_inventory *inventory = report->inventory;
    const struct pw_dims *dims = pw_inference_dims(inventory->inference);
    const struct pw_signature *s = &inventory->signatures[index];
    json_t *item = json_object(), *inputs = json_array(), *outputs = json_array();

    for (int i = 0; i < s->call->input_count; i++)
        json_array_append_new(inputs, json_operand(dims, s->call->in[i]));
    for (int i = 0; i < s->call->output_count; i++)
        json_array_append_new(outputs, json_operand(dims, s->call->wanted[i] ? &s->call->out[i] : NULL));
    set(item, "id", json_string(s->id));
    set(item, "operator", pw_report_json_text(s->op_label));
    set(item, "known", json_boolean(s->op != NULL));
    set(item, "text", pw_report_json_text(s->text));
    set(item, "category", json_string(pw_category_name(s->category)));
    set(item, "count", integer(s->node_count));
    set(item, "dtype", s->dtype == PW_DTYPE_UNDEFINED ? json_null() : json_string(pw_dtype_name(s->dtype)));
    set(item, "floating", json_boolean(s->floating));
    set(item, "shapes", pw_report_json_text(s->shapes));
    set(item, "inputs", inputs);
    set(item, "outputs", outputs);
    set(item, "flops_expression", json_dim(dims, s->flops));
    set(item, "bytes_expression", json_dim(dims, s->bytes));
    set(item, "flops", pw_report_json_real(s->flops_value));
    set(item, "bytes", pw_report_json_real(s->bytes_value));
    set(item, "parameters", json_integer(s->parameters));
    set(item, "intensity", pw_report_json_real(s->intensity));
    set(item, "share", pw_report_json_real(s->share));
    set(item, "sensitivity", json_string(pw_sensitivity_name(s->sensitivity)));
    set(item, "sensitivity_reason", pw_report_json_text(s->sensitivity_reason));
    set(item, "sensitivity_measured", json_boolean(s->sensitivity_measured));
    set(item, "sensitivity_damage", s->sensitivity_measured ? pw_report_json_real(s->sensitivity_damage) : json_null());
    set(item, "dynamic", json_boolean(s->dynamic));
    set(item, "dynamic_reason", pw_report_json_text(s->dynamic_reason));
    set(item, "data_dependent", json_boolean(s->data_dependent));
    set(item, "shape_arithmetic", json_boolean(s->shape_arithmetic));
    set(item, "pattern", s->pattern >= 0 ? json_integer(s->pattern) : json_null());
    set(item, "coverage", json_coverage(report, index));
    set(item, "nodes", json_nodes(s->nodes, s->node_count));
    return item;
}

static json_t *json_pattern(const struct pw_pattern *p)
{
    json_t *item = json_object();

    set(item, "id", json_string(p->id));
    set(item, "kind", json_string(pw_pattern_name(p->kind)));
    set(item, "details", pw_report_json_text(p->details));
    set(item, "text", pw_report_json_text(p->text));
    set(item, "fused", json_boolean(p->fused));
    set(item, "parent", p->parent >= 0 ? json_integer(p->parent) : json_null());
    set(item, "flops", pw_report_json_real(p->flops_value));
    set(item, "share", pw_report_json_real(p->share));
    set(item, "nodes", json_nodes(p->nodes, p->node_count));
    return item;
}

/* ---- the whole ---- */

static json_t *json_values(const struct pw_report_inventory *report, const pw_value_id *ids, size_t count)
{
    const struct pw_inventory *inventory = report->inventory;
    const struct pw_graph *graph = inventory->model->graph;
    json_t *array = json_array();

    for (size_t i = 0; i < count; i++) {
        const struct pw_graph_value *value = &graph->values[ids[i]];
        json_t *item;

        if (value->initializer != NULL)
            continue;
        item =
            json_operand(pw_inference_dims(inventory->inference), pw_inference_at(inventory->inference, graph, ids[i]));
        set(item, "name", pw_report_json_text(value->name));
        json_array_append_new(array, item);
    }
    return array;
}

static json_t *json_model(const struct pw_report_inventory *report)
{
    const struct pw_model *model = report->inventory->model;
    json_t *item = json_object(), *opsets = json_object();

    for (size_t i = 0; i < model->opset_count; i++) {
        const char *domain = model->opsets[i].domain[0] != '\0' ? model->opsets[i].domain : "ai.onnx";
        json_t *name = pw_report_json_text(domain);

        set(opsets, json_string_value(name), json_integer(model->opsets[i].version));
        json_decref(name);
    }
    set(item, "path", pw_report_json_text(report->model_path));
    set(item, "graph", json_string(report->graph_id));
    set(item, "ir_version", json_integer(model->ir_version));
    set(item, "producer", pw_report_json_text(model->producer_name));
    set(item, "opsets", opsets);
    set(item, "inputs", json_values(report, model->graph->inputs, model->graph->input_count));
    set(item, "outputs", json_values(report, model->graph->outputs, model->graph->output_count));
    return item;
}

static json_t *json_totals(const struct pw_inventory *inventory)
{
    json_t *item = json_object();

    set(item, "nodes", integer(inventory->node_count));
    set(item, "signatures", integer(inventory->signature_count));
    set(item, "parameters", json_integer(inventory->total_parameters));
    set(item, "flops", pw_report_json_real(inventory->total_flops));
    set(item, "bytes", pw_report_json_real(inventory->total_bytes));
    set(item, "nodes_of_unknown_cost", integer(inventory->unknown_cost_nodes));
    return item;
}

pw_status pw_report_inventory_json(const struct pw_report_inventory *report, struct pw_buf *out, struct pw_error *err)
{
    const struct pw_inventory *inventory = report->inventory;
    json_t *root = json_object(), *assumed = json_object(), *targets = json_array();
    json_t *patterns = json_array(), *signatures = json_array();
    char *text;

    for (size_t i = 0; i < inventory->assumed_count; i++) {
        json_t *name = pw_report_json_text(inventory->assumed[i].symbol);

        set(assumed, json_string_value(name), json_integer(inventory->assumed[i].value));
        json_decref(name);
    }
    for (size_t t = 0; t < report->target_count; t++) {
        json_t *item = json_object();

        set(item, "target", pw_report_json_text(report->targets[t].spec));
        set(item, "device", pw_report_json_text(report->targets[t].device));
        set(item, "note", pw_report_json_text(report->targets[t].note));
        json_array_append_new(targets, item);
    }
    for (size_t i = 0; i < inventory->pattern_count; i++)
        json_array_append_new(patterns, json_pattern(&inventory->patterns[i]));
    for (size_t i = 0; i < inventory->signature_count; i++)
        json_array_append_new(signatures, json_signature(report, i));
    set(root, "schema", json_integer(1));
    set(root, "kind", json_string("inventory"));
    set(root, "model", json_model(report));
    set(root, "dims", pw_report_json_text(report->bindings));
    set(root, "assumed", assumed);
    set(root, "totals", json_totals(inventory));
    set(root, "targets", targets);
    set(root, "patterns", patterns);
    set(root, "signatures", signatures);
    text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    if (text != NULL) {
        pw_buf_puts(out, text);
        pw_buf_putc(out, '\n');
    }
    free(text); /* jansson's own allocation */
    json_decref(root);
    return text != NULL && !out->failed ? PW_OK : pw_error_memory(err, out->size);
}
