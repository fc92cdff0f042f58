/* NodeProto: inputs and outputs to ids, the meaning of the op type, attributes. */
#include <inttypes.h>
#include <string.h>

#include "graph/onnx_reader.h"

#define MAX_ATTRS 256

/* Puts "graph 'main', node 17 'x' (Add)" or "function 'f', node …" before the message. */
static void prefix_node(struct pw_onnx_reader *r, const struct pw_onnx_scope *scope, size_t index,
                        const struct pw_wire_slot *s)
{
    char where[PW_ONNX_SHOW_BYTES], name[PW_ONNX_SHOW_BYTES], type[PW_ONNX_SHOW_BYTES];
    bool inlined = scope->call && scope->builder->scope != scope;
    pw_text_show(where, sizeof where, inlined ? scope->call->function->name : scope->builder->graph->name,
                 PW_ONNX_SHOW);
    pw_onnx_show(name, s[PW_NODE_NAME].data, s[PW_NODE_NAME].size);
    pw_onnx_show(type, s[PW_NODE_OP_TYPE].data, s[PW_NODE_OP_TYPE].size);
    pw_onnx_prefix(r, "%s '%s', node %zu '%s' (%s)", inlined ? "function" : "graph", where, index, name, type);
}

static pw_status opset_of(struct pw_onnx_reader *r, const struct pw_onnx_opsets *opsets, const char *domain, int *out)
{
    const struct pw_onnx_opsets *tables[2] = {opsets, &r->opsets};
    for (size_t t = 0; t < 2; t++) {
        for (size_t i = 0; i < tables[t]->count; i++) {
            if (strcmp(tables[t]->items[i].domain, domain) == 0) {
                *out = (int)tables[t]->items[i].version;
                return PW_OK;
            }
        }
    }
    if (domain[0] == '\0')
        return pw_error_set(r->err, PW_ERR_MODEL, "is of the ai.onnx domain, for which no opset is imported");
    *out = 1; /* exporters forget to import vendors' domains, which have but one version */
    return PW_OK;
}

pw_status pw_onnx_kind(struct pw_onnx_reader *r, const struct pw_onnx_opsets *opsets, const struct pw_wire_slot *s,
                       struct pw_onnx_kind *out)
{
    struct pw_onnx_kind kind = {0};
    size_t known = 0;
    pw_status status;
    if (s[PW_NODE_OP_TYPE].size == 0)
        return pw_error_set(r->err, PW_ERR_MODEL, "has no op_type");
    kind.domain = pw_onnx_domain(r, &s[PW_NODE_DOMAIN]);
    kind.op_type = pw_onnx_intern(r, s[PW_NODE_OP_TYPE].data, s[PW_NODE_OP_TYPE].size, "op_type");
    kind.overload = pw_onnx_intern(r, s[PW_NODE_OVERLOAD].data, s[PW_NODE_OVERLOAD].size, "overload");
    if (!kind.domain || !kind.op_type || !kind.overload)
        return PW_ERR_MODEL;
    pw_onnx_function_key(&r->key, kind.domain, kind.op_type, kind.overload);
    if (pw_map_get(&r->function_index, pw_buf_text(&r->key), r->key.size, &known))
        kind.function = known + 1;
    else if ((status = opset_of(r, opsets, kind.domain, &kind.opset)) != PW_OK)
        return status;
    pw_buf_append(&r->key, (const char *)&kind.opset, sizeof kind.opset);
    if (r->key.failed)
        return pw_error_memory(r->err, r->key.size);
    if (pw_map_get(&r->kind_index, r->key.data, r->key.size, &known)) {
        *out = r->kinds[known];
        return PW_OK;
    }
    if (kind.function == 0)
        kind.op = pw_op_find(kind.domain, kind.op_type, kind.opset, NULL);
    status = PW_GROW(r->kinds, r->kind_cap, r->kind_count + 1, r->err);
    if (status == PW_OK)
        status = pw_map_set(&r->kind_index, r->key.data, r->key.size, r->kind_count, r->err);
    if (status == PW_OK)
        r->kinds[r->kind_count++] = *out = kind;
    return status;
}

struct pw_node *pw_onnx_node_add(struct pw_onnx_reader *r, struct pw_onnx_builder *builder)
{
    struct pw_graph *graph = builder->graph;
    struct pw_node *node;
    if (PW_GROW(builder->nodes, builder->node_cap, graph->node_count + 1, r->err) != PW_OK)
        return NULL;
    node = &builder->nodes[graph->node_count++];
    memset(node, 0, sizeof *node);
    node->name = node->domain = node->overload = node->doc = "";
    node->graph = graph;
    r->model->node_total++;
    return node;
}

static pw_status read_inputs(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, struct pw_onnx_builder *builder,
                             struct pw_wire wire, const struct pw_wire_slot *slot, struct pw_node *node)
{
    struct pw_wire at = pw_wire_from(wire, slot);
    struct pw_wire_field field = {0};
    node->inputs = pw_onnx_alloc(r, slot->count, sizeof *node->inputs);
    if (!node->inputs)
        return PW_ERR_NO_MEMORY;
    while (node->input_count < slot->count && pw_wire_find(&at, PW_NODE_INPUT, &field)) {
        pw_value_id id = PW_NO_VALUE;
        if (field.size > 0) {
            pw_status status = pw_onnx_input(r, scope, builder, node->input_count, &field, &id);
            if (status != PW_OK)
                return status;
        }
        node->inputs[node->input_count++] = id;
    }
    return PW_OK;
}

pw_status pw_onnx_input(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, struct pw_onnx_builder *builder,
                        size_t position, const struct pw_wire_field *name, pw_value_id *out)
{
    bool found = false;
    char show[PW_ONNX_SHOW_BYTES];
    pw_status status = pw_onnx_lookup(r, scope, builder, name->data, name->size, &found, out);
    if (status == PW_OK && !found)
        status = pw_error_set(r->err, PW_ERR_MODEL,
                              "input %zu '%s' dangles: no input, initializer or node output has that name", position,
                              pw_onnx_show(show, name->data, name->size));
    return status;
}

/* Outputs were declared before: their ids are in the scope's own names. */
static pw_status read_outputs(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, struct pw_wire wire,
                              const struct pw_wire_slot *slot, struct pw_node *node)
{
    struct pw_wire at = pw_wire_from(wire, slot);
    struct pw_wire_field field = {0};
    node->outputs = pw_onnx_alloc(r, slot->count, sizeof *node->outputs);
    if (!node->outputs)
        return PW_ERR_NO_MEMORY;
    while (node->output_count < slot->count && pw_wire_find(&at, PW_NODE_OUTPUT, &field)) {
        size_t id = PW_NO_VALUE;
        if (field.size > 0 && !pw_map_get(&scope->names, (const char *)field.data, field.size, &id))
            return pw_error_set(r->err, PW_ERR_IO, "the file changed while it was read");
        node->outputs[node->output_count++] = (pw_value_id)id;
    }
    return PW_OK;
}

static pw_status read_attrs(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, struct pw_onnx_builder *builder,
                            struct pw_wire wire, const struct pw_wire_slot *slot, struct pw_node *node)
{
    struct pw_wire at = pw_wire_from(wire, slot);
    struct pw_wire_field field = {0};
    if (slot->count == 0)
        return PW_OK;
    if (slot->count > MAX_ATTRS)
        return pw_error_set(r->err, PW_ERR_MODEL, "%zu attributes; at most %d are accepted", slot->count, MAX_ATTRS);
    node->attrs = pw_onnx_alloc(r, slot->count, sizeof *node->attrs);
    if (!node->attrs)
        return PW_ERR_NO_MEMORY;
    while (node->attr_count < slot->count && pw_wire_find(&at, PW_NODE_ATTRIBUTE, &field)) {
        struct pw_attr *attr = &node->attrs[node->attr_count];
        char show[PW_ONNX_SHOW_BYTES];
        bool omitted = false;
        pw_status status = pw_onnx_attr(r, scope, builder, pw_wire_body(wire, field.data, field.size), attr, &omitted);
        if (status != PW_OK)
            return status;
        if (omitted)
            continue;
        for (size_t i = 0; i < node->attr_count; i++)
            if (node->attrs[i].name == attr->name) /* interned */
                return pw_error_set(r->err, PW_ERR_MODEL, "attribute '%s' is given twice",
                                    pw_text_show(show, sizeof show, attr->name, PW_ONNX_SHOW));
        node->attr_count++;
    }
    return PW_OK;
}

/* Name and origin: of an inlined node they tell the call it came from. */
static pw_status name_node(struct pw_onnx_reader *r, const struct pw_onnx_scope *scope, const struct pw_wire_slot *s,
                           struct pw_node *node)
{
    const struct pw_onnx_call *call = scope->call;
    node->name = pw_onnx_name(r, &s[PW_NODE_NAME], "node name");
    if (!node->name)
        return PW_ERR_MODEL;
    if (call) {
        node->origin = call->origin;
        if (scope->builder->scope != scope)
            node->name = pw_onnx_joined(r, call->prefix, node->name[0] != '\0' ? node->name : node->op_type);
    }
    return node->name ? PW_OK : PW_ERR_NO_MEMORY;
}

static pw_status read_node(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, struct pw_onnx_builder *builder,
                           struct pw_wire wire, struct pw_wire_slot *s)
{
    struct pw_onnx_kind kind;
    struct pw_node node = {0}, *place;
    pw_status status = pw_onnx_kind(r, scope->opsets, s, &kind);
    if (status != PW_OK)
        return status;
    if (kind.function > 0)
        return pw_onnx_inline(r, scope, builder, wire, s, &r->functions[kind.function - 1]);
    node.op_type = kind.op_type;
    node.domain = kind.domain;
    node.overload = kind.overload;
    node.opset = kind.opset;
    node.op = kind.op;
    node.graph = builder->graph;
    status = name_node(r, scope, s, &node);
    if (status == PW_OK) {
        node.doc = pw_onnx_doc(r, &s[PW_NODE_DOC]);
        status = node.doc ? PW_OK : PW_ERR_NO_MEMORY;
    }
    if (status == PW_OK)
        status = read_inputs(r, scope, builder, wire, &s[PW_NODE_INPUT], &node);
    if (status == PW_OK)
        status = read_outputs(r, scope, wire, &s[PW_NODE_OUTPUT], &node);
    if (status == PW_OK)
        status = read_attrs(r, scope, builder, wire, &s[PW_NODE_ATTRIBUTE], &node);
    if (status != PW_OK)
        return status;
    place = pw_onnx_node_add(r, builder);
    if (!place)
        return PW_ERR_NO_MEMORY;
    *place = node;
    return PW_OK;
}

static pw_status declare_outputs(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, struct pw_wire wire,
                                 const struct pw_wire_slot *slot, pw_onnx_declare_output *declare, void *user)
{
    struct pw_wire at = pw_wire_from(wire, slot);
    struct pw_wire_field field = {0};
    for (size_t i = 0; i < slot->count && pw_wire_find(&at, PW_NODE_OUTPUT, &field); i++) {
        pw_status status = PW_OK;
        if (field.size > 0)
            status = declare(r, scope, user, field.data, field.size);
        if (status != PW_OK) {
            pw_onnx_prefix(r, "output %zu", i);
            return status;
        }
    }
    return PW_OK;
}

pw_status pw_onnx_nodes(struct pw_onnx_reader *r, struct pw_onnx_scope *scope, struct pw_onnx_builder *builder,
                        struct pw_wire message, uint32_t number, const struct pw_wire_slot *slot,
                        pw_onnx_declare_output *declare, void *user)
{
    struct pw_wire_slot s[PW_NODE_FIELDS];
    struct pw_wire_field field = {0};
    pw_status status = PW_OK;
    for (int pass = 0; pass < 2 && status == PW_OK; pass++) {
        struct pw_wire at = pw_wire_from(message, slot);
        for (size_t i = 0; i < slot->count && pw_wire_find(&at, number, &field); i++) {
            struct pw_wire wire = pw_wire_body(message, field.data, field.size);
            status = pw_wire_decode(wire, &pw_schema_node, s, r->err);
            if (status == PW_OK)
                status = pw_progress_step(pass == 0 ? 0 : field.size, r->err);
            if (status == PW_OK && pass == 0)
                status = declare_outputs(r, scope, wire, &s[PW_NODE_OUTPUT], declare, user);
            else if (status == PW_OK)
                status = read_node(r, scope, builder, wire, s);
            if (status != PW_OK) {
                prefix_node(r, scope, i, s);
                return status;
            }
        }
    }
    return status;
}
