/* GraphProto: declares every name, reads the nodes, then moves all to its final place. */
#include <string.h>

#include "graph/onnx_reader.h"

/* ---- inputs, initializers, types ---- */

static pw_status read_info(struct pw_onnx_reader *r, struct pw_wire message, const struct pw_wire_field *field,
                           struct pw_wire_slot name[1], const struct pw_type **type)
{
    struct pw_wire_slot s[PW_INFO_FIELDS];
    struct pw_wire wire = pw_wire_body(message, field->data, field->size);
    char show[PW_ONNX_SHOW_BYTES];
    pw_status status = pw_wire_decode(wire, &pw_schema_info, s, r->err);
    if (status != PW_OK)
        return status;
    *name = s[PW_INFO_NAME];
    *type = NULL;
    if (s[PW_INFO_TYPE].count == 0)
        return PW_OK;
    status = pw_onnx_type(r, pw_wire_body(message, s[PW_INFO_TYPE].data, s[PW_INFO_TYPE].size), 0, type);
    if (status != PW_OK)
        pw_onnx_prefix(r, "value '%s'", pw_onnx_show(show, name->data, name->size));
    return status;
}

static pw_status read_inputs(struct pw_onnx_reader *r, struct pw_onnx_builder *b, struct pw_wire message,
                             const struct pw_wire_slot *slot)
{
    struct pw_wire at = pw_wire_from(message, slot);
    struct pw_wire_field field = {0};
    struct pw_graph *graph = b->graph;
    graph->inputs = pw_onnx_alloc(r, slot->count, sizeof *graph->inputs);
    if (!graph->inputs)
        return PW_ERR_NO_MEMORY;
    while (graph->input_count < slot->count && pw_wire_find(&at, PW_GRAPH_INPUT, &field)) {
        struct pw_wire_slot name;
        const struct pw_type *type = NULL;
        const char *copy;
        pw_value_id id = PW_NO_VALUE;
        pw_status status = read_info(r, message, &field, &name, &type);
        if (status != PW_OK)
            return status;
        if (name.size == 0)
            return pw_error_set(r->err, PW_ERR_MODEL, "input %zu has no name", graph->input_count);
        copy = pw_onnx_name(r, &name, "input");
        if (!copy)
            return PW_ERR_MODEL;
        status = pw_onnx_declare(r, b->scope, copy, &id);
        if (status != PW_OK) {
            pw_onnx_prefix(r, "input %zu", graph->input_count);
            return status;
        }
        b->values[id].type = type;
        b->values[id].is_input = true;
        graph->inputs[graph->input_count++] = id;
    }
    return PW_OK;
}

/* An initializer may give an input its default; otherwise it is a value of its own. */
static pw_status place_initializer(struct pw_onnx_reader *r, struct pw_onnx_builder *b, const char *name,
                                   pw_value_id *out)
{
    size_t known = 0;
    if (name[0] == '\0')
        return pw_error_set(r->err, PW_ERR_MODEL, "an initializer has no name");
    if (pw_map_find(&b->scope->names, name, &known) && b->values[known].is_input && !b->values[known].initializer &&
        !b->values[known].sparse) {
        *out = (pw_value_id)known;
        return PW_OK;
    }
    return pw_onnx_declare(r, b->scope, name, out);
}

static pw_status read_initializers(struct pw_onnx_reader *r, struct pw_onnx_builder *b, struct pw_wire message,
                                   const struct pw_wire_slot *slot)
{
    struct pw_wire at = pw_wire_from(message, slot);
    struct pw_wire_field field = {0};
    for (size_t i = 0; i < slot->count && pw_wire_find(&at, PW_GRAPH_INITIALIZER, &field); i++) {
        struct pw_tensor *tensor = pw_onnx_alloc(r, 1, sizeof *tensor);
        const char *name = NULL;
        pw_value_id id = PW_NO_VALUE;
        pw_status status;
        if (!tensor)
            return PW_ERR_NO_MEMORY;
        status = pw_onnx_tensor(r, pw_wire_body(message, field.data, field.size), tensor, &name);
        if (status == PW_OK)
            status = pw_progress_step(field.size, r->err);
        if (status == PW_OK)
            status = place_initializer(r, b, name, &id);
        if (status != PW_OK) {
            pw_onnx_prefix(r, "initializer %zu", i);
            return status;
        }
        b->values[id].initializer = tensor;
        r->model->initializer_bytes += (int64_t)pw_tensor_bytes(tensor);
    }
    return PW_OK;
}

static pw_status read_sparse(struct pw_onnx_reader *r, struct pw_onnx_builder *b, struct pw_wire message,
                             const struct pw_wire_slot *slot)
{
    struct pw_wire at = pw_wire_from(message, slot);
    struct pw_wire_field field = {0};
    for (size_t i = 0; i < slot->count && pw_wire_find(&at, PW_GRAPH_SPARSE, &field); i++) {
        struct pw_sparse *sparse = pw_onnx_alloc(r, 1, sizeof *sparse);
        const char *name = NULL;
        pw_value_id id = PW_NO_VALUE;
        pw_status status;
        if (!sparse)
            return PW_ERR_NO_MEMORY;
        status = pw_onnx_sparse(r, pw_wire_body(message, field.data, field.size), sparse, &name);
        if (status == PW_OK)
            status = place_initializer(r, b, name, &id);
        if (status != PW_OK) {
            pw_onnx_prefix(r, "sparse initializer %zu", i);
            return status;
        }
        b->values[id].sparse = sparse;
        r->model->initializer_bytes += (int64_t)(pw_tensor_bytes(&sparse->values) + pw_tensor_bytes(&sparse->indices));
    }
    return PW_OK;
}

/* Types of inner values are hints: those of names that nothing defines are passed over. */
static pw_status read_value_info(struct pw_onnx_reader *r, struct pw_onnx_builder *b, struct pw_wire message,
                                 const struct pw_wire_slot *slot)
{
    struct pw_wire at = pw_wire_from(message, slot);
    struct pw_wire_field field = {0};
    while (pw_wire_find(&at, PW_GRAPH_VALUE_INFO, &field)) {
        struct pw_wire_slot name;
        const struct pw_type *type = NULL;
        size_t id = 0;
        pw_status status = read_info(r, message, &field, &name, &type);
        if (status != PW_OK)
            return status;
        if (name.size > 0 && pw_map_get(&b->scope->names, (const char *)name.data, name.size, &id) &&
            !b->values[id].type)
            b->values[id].type = type;
    }
    return PW_OK;
}

static pw_status read_outputs(struct pw_onnx_reader *r, struct pw_onnx_builder *b, struct pw_wire message,
                              const struct pw_wire_slot *slot)
{
    struct pw_wire at = pw_wire_from(message, slot);
    struct pw_wire_field field = {0};
    struct pw_graph *graph = b->graph;
    graph->outputs = pw_onnx_alloc(r, slot->count, sizeof *graph->outputs);
    if (!graph->outputs)
        return PW_ERR_NO_MEMORY;
    while (graph->output_count < slot->count && pw_wire_find(&at, PW_GRAPH_OUTPUT, &field)) {
        struct pw_wire_slot name;
        const struct pw_type *type = NULL;
        pw_value_id id = PW_NO_VALUE;
        bool found = false;
        char show[PW_ONNX_SHOW_BYTES];
        pw_status status = read_info(r, message, &field, &name, &type);
        if (status == PW_OK)
            status = pw_onnx_lookup(r, b->scope, b, name.data, name.size, &found, &id);
        if (status != PW_OK)
            return status;
        if (!found || id == PW_NO_VALUE)
            return pw_error_set(r->err, PW_ERR_MODEL, "output %zu '%s' dangles: nothing in the graph makes it",
                                graph->output_count, pw_onnx_show(show, name.data, name.size));
        if (type)
            b->values[id].type = type;
        b->values[id].is_output = true;
        graph->outputs[graph->output_count++] = id;
    }
    return PW_OK;
}

/* ---- the whole ---- */

static pw_status declare_output(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, void *user, const uint8_t *name,
                                size_t size)
{
    pw_value_id id = PW_NO_VALUE;
    const char *copy = pw_onnx_name_bytes(r, name, size, "name");
    (void)user;
    return copy ? pw_onnx_declare(r, scope, copy, &id) : PW_ERR_MODEL;
}

static void adopt(struct pw_node *node)
{
    for (size_t i = 0; i < node->attr_count; i++) {
        struct pw_attr *attr = &node->attrs[i];
        if (attr->type == PW_ATTR_GRAPH)
            attr->graph->owner = node;
        for (size_t j = 0; attr->type == PW_ATTR_GRAPHS && j < attr->count; j++)
            attr->graphs[j]->owner = node;
    }
}

/* Moves values and nodes (in their order) to the arena, and points them at each other. */
static pw_status settle(struct pw_onnx_reader *r, struct pw_onnx_builder *b)
{
    struct pw_graph *graph = b->graph;
    graph->values = pw_onnx_alloc(r, graph->value_count, sizeof *graph->values);
    graph->nodes = graph->values ? pw_onnx_alloc(r, graph->node_count, sizeof *graph->nodes) : NULL;
    if (!graph->nodes)
        return PW_ERR_NO_MEMORY;
    if (graph->value_count > 0)
        memcpy(graph->values, b->values, graph->value_count * sizeof *graph->values);
    for (size_t i = 0; i < graph->node_count; i++) {
        struct pw_node *node = &graph->nodes[i];
        *node = b->nodes[b->order ? b->order[i] : i];
        node->index = i;
        for (size_t j = 0; j < node->output_count; j++) {
            if (node->outputs[j] == PW_NO_VALUE)
                continue;
            graph->values[node->outputs[j]].producer = node;
            graph->values[node->outputs[j]].producer_output = (int)j;
        }
        adopt(node);
    }
    return PW_OK;
}

/* May the definition have grown since? A vendor adds attributes and inputs without a new version; an opset newer than
 * all that are known here may have changed any operator. */
static bool may_be_newer(const struct pw_node *node)
{
    return node->domain[0] != '\0' || node->opset > pw_op_newest();
}

/* A node that does not fit its definition is an error; one that a newer definition may allow stays as an unknown
 * operator, so that the rest of the graph can be looked at. */
static pw_status check_nodes(struct pw_onnx_reader *r, const struct pw_graph *graph)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        struct pw_node *node = &graph->nodes[i];
        struct pw_error refused = {0};
        pw_status status = node->op ? pw_op_check(node->op, node, &refused) : PW_OK;
        if (status == PW_OK)
            continue;
        if (status != PW_ERR_MODEL || !may_be_newer(node))
            return pw_error_set(r->err, status, "%s", refused.message);
        node->note = pw_onnx_name_bytes(r, (const uint8_t *)refused.message, strlen(refused.message), "note");
        if (!node->note)
            return PW_ERR_NO_MEMORY;
        node->op = NULL;
    }
    return PW_OK;
}

static pw_status read_tables(struct pw_onnx_reader *r, struct pw_onnx_builder *b, struct pw_wire wire,
                             const struct pw_wire_slot *s)
{
    pw_status status = read_inputs(r, b, wire, &s[PW_GRAPH_INPUT]);
    if (status == PW_OK)
        status = read_initializers(r, b, wire, &s[PW_GRAPH_INITIALIZER]);
    if (status == PW_OK)
        status = read_sparse(r, b, wire, &s[PW_GRAPH_SPARSE]);
    return status;
}

static pw_status read_rest(struct pw_onnx_reader *r, struct pw_onnx_builder *b, struct pw_wire wire,
                           const struct pw_wire_slot *s)
{
    pw_status status = read_outputs(r, b, wire, &s[PW_GRAPH_OUTPUT]);
    if (status == PW_OK)
        status = read_value_info(r, b, wire, &s[PW_GRAPH_VALUE_INFO]);
    return status;
}

static void builder_clear(struct pw_onnx_builder *b)
{
    pw_free(b->values);
    pw_free(b->nodes);
    pw_free(b->dependencies);
    pw_free(b->order);
    pw_map_clear(&b->captures);
    pw_map_clear(&b->prefixes);
}

pw_status pw_onnx_graph(struct pw_onnx_reader *r, struct pw_onnx_scope *lexical, struct pw_onnx_builder *parent,
                        struct pw_wire wire, struct pw_graph **out)
{
    struct pw_wire_slot s[PW_GRAPH_FIELDS];
    struct pw_onnx_builder b = {0};
    struct pw_onnx_scope scope = {0};
    char show[PW_ONNX_SHOW_BYTES];
    pw_status status = pw_wire_decode(wire, &pw_schema_graph, s, r->err);
    if (status != PW_OK)
        return status;
    if (r->depth >= PW_ONNX_MAX_DEPTH)
        return pw_error_set(r->err, PW_ERR_FORMAT, "graphs nested deeper than %d", PW_ONNX_MAX_DEPTH);
    r->depth++;
    scope.parent = lexical;
    scope.builder = &b;
    scope.call = lexical ? lexical->call : NULL;
    scope.opsets = lexical ? lexical->opsets : &r->opsets;
    b.parent = parent;
    b.scope = &scope;
    b.graph = pw_onnx_alloc(r, 1, sizeof *b.graph);
    if (!b.graph) {
        status = PW_ERR_NO_MEMORY;
        goto done;
    }
    b.graph->model = r->model;
    b.graph->parent = parent ? parent->graph : NULL;
    b.graph->name = pw_onnx_name(r, &s[PW_GRAPH_NAME], "graph name");
    status = b.graph->name ? read_tables(r, &b, wire, s) : PW_ERR_MODEL;
    if (status != PW_OK)
        goto place;
    status = pw_onnx_nodes(r, &scope, &b, wire, PW_GRAPH_NODE, &s[PW_GRAPH_NODE], declare_output, NULL);
    if (status != PW_OK)
        goto done; /* names the graph itself */
    status = read_rest(r, &b, wire, s);
    if (status != PW_OK)
        goto place;
    status = pw_onnx_order(r, &b);
    if (status == PW_OK)
        status = settle(r, &b);
    if (status == PW_OK)
        status = check_nodes(r, b.graph);
    if (status == PW_OK)
        *out = b.graph;
    goto done;
place:
    pw_onnx_prefix(r, "graph '%s'", pw_onnx_show(show, s[PW_GRAPH_NAME].data, s[PW_GRAPH_NAME].size));
done:
    r->depth--;
    pw_onnx_scope_clear(&scope);
    builder_clear(&b);
    return status;
}
