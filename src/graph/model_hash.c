/*
 * The two identities of a model.
 *
 * Structure: interface, topology, operators, attributes, types, and small constants. Names of
 * inner values and nodes are left out, and values are numbered by first use, so a re-export
 * that only renames keeps the hash. Integer, boolean and string constants count up to 64
 * elements; of floating ones only single elements (eps, scales): longer ones are weights,
 * and retraining must not change the structure.
 */
#include <string.h>

#include "graph/graph.h"

#define SMALL 64

struct hashing {
    struct pw_hasher hasher;
    bool failed; /* memory */
};

/* Numbers of a graph's values, in order of first use; 0 = not used yet. */
struct numbering {
    const struct pw_graph *graph;
    struct numbering *parent;
    uint32_t *number;
    uint32_t next;
};

static void hash_graph(struct hashing *h, const struct pw_graph *graph, struct numbering *parent);

static void add_u64(struct hashing *h, uint64_t value)
{
    pw_hasher_add(&h->hasher, &value, sizeof value);
}

static void add_bytes(struct hashing *h, const void *data, size_t size)
{
    add_u64(h, size);
    if (size > 0)
        pw_hasher_add(&h->hasher, data, size);
}

static void add_text(struct hashing *h, const char *text)
{
    add_bytes(h, text ? text : "", text ? strlen(text) : 0);
}

/* ---- tensors ---- */

static void add_elements(struct hashing *h, const struct pw_tensor *t)
{
    if (t->dtype == PW_DTYPE_STRING) {
        const struct pw_bytes *items = t->data;
        for (int64_t i = 0; i < t->count; i++)
            add_bytes(h, items[i].data, items[i].size);
    } else if (t->count > 0) {
        pw_hasher_add(&h->hasher, t->data, pw_tensor_bytes(t));
    }
}

static void add_tensor_head(struct hashing *h, const struct pw_tensor *t)
{
    add_u64(h, (uint64_t)t->dtype);
    add_u64(h, (uint64_t)t->rank);
    for (int i = 0; i < t->rank; i++)
        add_u64(h, (uint64_t)t->dims[i]);
}

static bool is_weight(const struct pw_tensor *t)
{
    pw_dtype_kind kind = pw_dtype_facts(t->dtype)->kind;
    return t->count > (kind == PW_KIND_FLOAT || kind == PW_KIND_COMPLEX ? 1 : SMALL);
}

static void add_tensor(struct hashing *h, const struct pw_tensor *t)
{
    add_tensor_head(h, t);
    add_u64(h, is_weight(t));
    if (!is_weight(t))
        add_elements(h, t);
}

static void add_sparse(struct hashing *h, const struct pw_sparse *sparse)
{
    add_tensor(h, &sparse->values);
    add_tensor(h, &sparse->indices);
    for (int i = 0; i < sparse->rank; i++)
        add_u64(h, (uint64_t)sparse->dims[i]);
}

/* ---- types ---- */

static void add_type(struct hashing *h, const struct pw_type *type)
{
    for (; type; type = type->element) {
        add_u64(h, (uint64_t)type->kind);
        add_u64(h, (uint64_t)type->dtype);
        add_u64(h, type->has_shape);
        add_u64(h, (uint64_t)type->rank);
        for (int i = 0; i < type->rank; i++) {
            add_text(h, type->dim_names[i]);
            add_u64(h, (uint64_t)type->dim_values[i]);
        }
    }
    add_u64(h, UINT64_MAX);
}

/* ---- attributes ---- */

static void add_scalar_kinds(struct hashing *h, const struct pw_attr *attr)
{
    uint32_t bits;
    switch (attr->type) {
    case PW_ATTR_FLOAT:
        memcpy(&bits, &attr->f, sizeof bits);
        add_u64(h, bits);
        break;
    case PW_ATTR_INT:
        add_u64(h, (uint64_t)attr->i);
        break;
    case PW_ATTR_STRING:
        add_bytes(h, attr->s.data, attr->s.size);
        break;
    case PW_ATTR_TENSOR:
        add_tensor(h, attr->tensor);
        break;
    case PW_ATTR_SPARSE_TENSOR:
        add_sparse(h, attr->sparse);
        break;
    case PW_ATTR_TYPE_PROTO:
        add_type(h, attr->type_proto);
        break;
    default:
        break;
    }
}

static void add_item(struct hashing *h, const struct pw_attr *attr, size_t i, struct numbering *numbers)
{
    switch (attr->type) {
    case PW_ATTR_STRINGS:
        add_bytes(h, attr->strings[i].data, attr->strings[i].size);
        break;
    case PW_ATTR_TENSORS:
        add_tensor(h, &attr->tensor[i]);
        break;
    case PW_ATTR_GRAPHS:
        hash_graph(h, attr->graphs[i], numbers);
        break;
    case PW_ATTR_SPARSE_TENSORS:
        add_sparse(h, &attr->sparse[i]);
        break;
    case PW_ATTR_TYPE_PROTOS:
        add_type(h, &attr->type_proto[i]);
        break;
    default:
        break;
    }
}

static void add_attr(struct hashing *h, const struct pw_attr *attr, struct numbering *numbers)
{
    add_text(h, attr->name);
    add_u64(h, (uint64_t)attr->type);
    add_u64(h, attr->count);
    add_scalar_kinds(h, attr);
    if (attr->type == PW_ATTR_FLOATS)
        add_bytes(h, attr->floats, attr->count * sizeof *attr->floats);
    else if (attr->type == PW_ATTR_INTS)
        add_bytes(h, attr->ints, attr->count * sizeof *attr->ints);
    else if (attr->type == PW_ATTR_GRAPH)
        hash_graph(h, attr->graph, numbers);
    else
        for (size_t i = 0; i < attr->count; i++)
            add_item(h, attr, i, numbers);
}

/* By name: their order in the file means nothing. */
static void add_attrs(struct hashing *h, const struct pw_node *node, struct numbering *numbers)
{
    const char *last = NULL;
    for (size_t done = 0; done < node->attr_count; done++) {
        const struct pw_attr *least = NULL;
        for (size_t i = 0; i < node->attr_count; i++) {
            const struct pw_attr *attr = &node->attrs[i];
            if ((!last || strcmp(attr->name, last) > 0) && (!least || strcmp(attr->name, least->name) < 0))
                least = attr;
        }
        if (!least)
            break;
        add_attr(h, least, numbers);
        last = least->name;
    }
}

/* ---- graphs ---- */

/* A value by number; its type or content at first use. Captures by depth and the outer number. */
static void add_value(struct hashing *h, struct numbering *numbers, pw_value_id id)
{
    const struct pw_graph_value *value;
    if (id == PW_NO_VALUE) {
        add_u64(h, UINT64_MAX);
        return;
    }
    value = &numbers->graph->values[id];
    if (numbers->number[id] == 0) {
        numbers->number[id] = ++numbers->next;
        if (value->outer && numbers->parent) {
            add_text(h, "outer");
            add_value(h, numbers->parent, (pw_value_id)(value->outer - numbers->parent->graph->values));
        } else if (value->initializer) {
            add_tensor(h, value->initializer);
        } else if (value->sparse) {
            add_sparse(h, value->sparse);
        }
    }
    add_u64(h, numbers->number[id]);
}

static void add_node(struct hashing *h, struct numbering *numbers, const struct pw_node *node)
{
    add_text(h, node->domain);
    add_text(h, node->op_type);
    add_text(h, node->overload);
    add_u64(h, (uint64_t)node->opset);
    add_u64(h, node->input_count);
    for (size_t i = 0; i < node->input_count; i++)
        add_value(h, numbers, node->inputs[i]);
    add_u64(h, node->attr_count);
    add_attrs(h, node, numbers);
    add_u64(h, node->output_count);
    for (size_t i = 0; i < node->output_count; i++)
        add_value(h, numbers, node->outputs[i]);
}

static void hash_graph(struct hashing *h, const struct pw_graph *graph, struct numbering *parent)
{
    struct numbering numbers = {graph, parent, NULL, 0};
    numbers.number = pw_calloc(graph->value_count, sizeof *numbers.number);
    if (!numbers.number) {
        h->failed = true;
        return;
    }
    add_u64(h, graph->input_count);
    for (size_t i = 0; i < graph->input_count; i++) {
        const struct pw_graph_value *value = &graph->values[graph->inputs[i]];
        if (!parent)
            add_text(h, value->name);
        add_type(h, value->type);
        add_value(h, &numbers, graph->inputs[i]);
    }
    add_u64(h, graph->node_count);
    for (size_t i = 0; i < graph->node_count; i++)
        add_node(h, &numbers, &graph->nodes[i]);
    add_u64(h, graph->output_count);
    for (size_t i = 0; i < graph->output_count; i++) {
        const struct pw_graph_value *value = &graph->values[graph->outputs[i]];
        if (!parent)
            add_text(h, value->name);
        add_type(h, value->type);
        add_value(h, &numbers, graph->outputs[i]);
    }
    pw_free(numbers.number);
}

struct pw_hash128 pw_model_structure_hash(const struct pw_model *model)
{
    struct hashing h = {0};
    struct pw_hash128 hash, none = {0, 0};
    if (pw_hasher_init(&h.hasher) != 0)
        return none;
    hash_graph(&h, model->graph, NULL);
    hash = pw_hasher_end(&h.hasher);
    return h.failed ? none : hash;
}

/* ---- weights ---- */

static void weigh_tensor(struct hashing *h, const struct pw_tensor *t)
{
    add_tensor_head(h, t);
    add_elements(h, t);
}

static void weigh_sparse(struct hashing *h, const struct pw_sparse *sparse)
{
    weigh_tensor(h, &sparse->values);
    weigh_tensor(h, &sparse->indices);
}

static void weigh_graph(struct hashing *h, const struct pw_graph *graph);

static void weigh_attr(struct hashing *h, const struct pw_attr *attr)
{
    if (attr->type == PW_ATTR_TENSOR)
        weigh_tensor(h, attr->tensor);
    else if (attr->type == PW_ATTR_SPARSE_TENSOR)
        weigh_sparse(h, attr->sparse);
    else if (attr->type == PW_ATTR_GRAPH)
        weigh_graph(h, attr->graph);
    for (size_t i = 0; i < attr->count; i++) {
        if (attr->type == PW_ATTR_TENSORS)
            weigh_tensor(h, &attr->tensor[i]);
        else if (attr->type == PW_ATTR_SPARSE_TENSORS)
            weigh_sparse(h, &attr->sparse[i]);
        else if (attr->type == PW_ATTR_GRAPHS)
            weigh_graph(h, attr->graphs[i]);
    }
}

static void weigh_graph(struct hashing *h, const struct pw_graph *graph)
{
    for (size_t i = 0; i < graph->value_count; i++) {
        const struct pw_graph_value *value = &graph->values[i];
        if (value->initializer)
            weigh_tensor(h, value->initializer);
        if (value->sparse)
            weigh_sparse(h, value->sparse);
    }
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t j = 0; j < graph->nodes[i].attr_count; j++)
            weigh_attr(h, &graph->nodes[i].attrs[j]);
}

struct pw_hash128 pw_model_weights_hash(const struct pw_model *model)
{
    struct hashing h = {0};
    struct pw_hash128 none = {0, 0};
    if (pw_hasher_init(&h.hasher) != 0)
        return none;
    weigh_graph(&h, model->graph);
    return pw_hasher_end(&h.hasher);
}
