/* New values, nodes, attributes and constants, all in the model's arena. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/gradient.h"

static void *allocate(struct pw_gradient *g, size_t count, size_t size)
{
    void *p = pw_arena_alloc(&g->model->arena, count > 0 ? count : 1, size);

    if (!p)
        g->short_of_memory = true;
    return p;
}

pw_value_id pw_gradient_value(struct pw_gradient *g, const char *hint)
{
    size_t id = g->graph->value_count + g->value_count;
    struct pw_graph_value *value;

    if (PW_GROW(g->values, g->value_cap, g->value_count + 1, NULL) != PW_OK || id >= UINT32_MAX - 1) {
        g->short_of_memory = true;
        return PW_NO_VALUE;
    }
    value = &g->values[g->value_count];
    memset(value, 0, sizeof *value);
    value->name = pw_arena_printf(&g->model->arena, "%s/%s_%zu", g->prefix, hint, g->value_count);
    if (!value->name) {
        g->short_of_memory = true;
        return PW_NO_VALUE;
    }
    g->value_count++;
    return (pw_value_id)id;
}

struct pw_node *pw_gradient_node(struct pw_gradient *g, const char *op_type, const pw_value_id *inputs, size_t count,
                                 const pw_value_id *outputs, size_t output_count)
{
    struct pw_node *node;

    if (PW_GROW(g->nodes, g->node_cap, g->node_count + 1, NULL) != PW_OK) {
        g->short_of_memory = true;
        return NULL;
    }
    node = &g->nodes[g->node_count];
    memset(node, 0, sizeof *node);
    node->name = pw_arena_printf(&g->model->arena, "%s/%s_%zu", g->prefix, op_type, g->node_count);
    node->op_type = op_type;
    node->domain = node->overload = node->doc = "";
    node->opset = PW_GRADIENT_OPSET;
    node->op = pw_op_find("", op_type, PW_GRADIENT_OPSET, NULL);
    node->graph = g->graph;
    node->origin = g->prefix;
    node->inputs = allocate(g, count, sizeof *inputs);
    node->outputs = allocate(g, output_count, sizeof *outputs);
    if (!node->name || !node->inputs || !node->outputs) {
        g->short_of_memory = true;
        return NULL;
    }
    if (count > 0)
        memcpy(node->inputs, inputs, count * sizeof *inputs);
    memcpy(node->outputs, outputs, output_count * sizeof *outputs);
    node->input_count = count;
    node->output_count = output_count;
    g->node_count++;
    return node;
}

pw_value_id pw_gradient_emit(struct pw_gradient *g, const char *op_type, const pw_value_id *inputs, size_t count)
{
    pw_value_id out;

    for (size_t i = 0; i < count; i++) {
        if (inputs[i] == PW_NO_VALUE)
            return PW_NO_VALUE;
    }
    out = pw_gradient_value(g, op_type);
    return out != PW_NO_VALUE && pw_gradient_node(g, op_type, inputs, count, &out, 1) ? out : PW_NO_VALUE;
}

pw_value_id pw_gradient_emit1(struct pw_gradient *g, const char *op_type, pw_value_id a)
{
    return pw_gradient_emit(g, op_type, &a, 1);
}

pw_value_id pw_gradient_emit2(struct pw_gradient *g, const char *op_type, pw_value_id a, pw_value_id b)
{
    const pw_value_id inputs[] = {a, b};

    return pw_gradient_emit(g, op_type, inputs, 2);
}

pw_value_id pw_gradient_emit3(struct pw_gradient *g, const char *op_type, pw_value_id a, pw_value_id b, pw_value_id c)
{
    const pw_value_id inputs[] = {a, b, c};

    return pw_gradient_emit(g, op_type, inputs, 3);
}

static struct pw_attr *add_attr(struct pw_gradient *g, const char *name, pw_attr_type type)
{
    enum { MOST = 3 };
    struct pw_node *node = g->node_count > 0 && !g->short_of_memory ? &g->nodes[g->node_count - 1] : NULL;
    struct pw_attr *attr;

    if (!node || node->attr_count == MOST)
        return NULL;
    if (!node->attrs)
        node->attrs = allocate(g, MOST, sizeof *node->attrs);
    if (!node->attrs)
        return NULL;
    attr = &node->attrs[node->attr_count++];
    attr->name = name;
    attr->type = type;
    return attr;
}

void pw_gradient_int(struct pw_gradient *g, const char *name, int64_t value)
{
    struct pw_attr *attr = add_attr(g, name, PW_ATTR_INT);

    if (attr)
        attr->i = value;
}

void pw_gradient_ints(struct pw_gradient *g, const char *name, const int64_t *values, size_t count)
{
    int64_t *copy = allocate(g, count, sizeof *copy);
    struct pw_attr *attr = copy ? add_attr(g, name, PW_ATTR_INTS) : NULL;

    if (!attr)
        return;
    memcpy(copy, values, count * sizeof *copy);
    attr->ints = copy;
    attr->count = count;
}

static pw_value_id constant(struct pw_gradient *g, pw_dtype dtype, int rank, int64_t count, struct pw_tensor **out)
{
    pw_value_id id = pw_gradient_value(g, "constant");
    struct pw_tensor *tensor = id == PW_NO_VALUE ? NULL : allocate(g, 1, sizeof *tensor);
    void *data = tensor ? allocate(g, (size_t)count, pw_dtype_bytes(dtype)) : NULL;

    if (!data)
        return PW_NO_VALUE;
    pw_tensor_borrow(tensor, dtype, rank, &count, data);
    g->values[id - g->graph->value_count].initializer = tensor;
    *out = tensor;
    return id;
}

pw_value_id pw_gradient_scalar(struct pw_gradient *g, pw_dtype dtype, double value)
{
    struct pw_tensor *tensor = NULL;
    pw_value_id id = constant(g, dtype, 0, 1, &tensor);

    if (id != PW_NO_VALUE)
        pw_tensor_set(tensor, 0, value);
    return id;
}

pw_value_id pw_gradient_list(struct pw_gradient *g, const int64_t *values, size_t count)
{
    struct pw_tensor *tensor = NULL;
    pw_value_id id = constant(g, PW_DTYPE_INT64, 1, (int64_t)count, &tensor);

    for (size_t i = 0; id != PW_NO_VALUE && i < count; i++)
        pw_tensor_set_int(tensor, (int64_t)i, values[i]);
    return id;
}

const struct pw_info *pw_gradient_info(const struct pw_gradient *g, pw_value_id old)
{
    return pw_inference_at(g->inference, g->graph, old);
}

bool pw_gradient_refuse(struct pw_gradient *g, const char *format, ...)
{
    va_list args;

    if (g->why[0] != '\0')
        return false;
    va_start(args, format);
    vsnprintf(g->why, sizeof g->why, format, args);
    va_end(args);
    return false;
}

void pw_gradient_add(struct pw_gradient *g, pw_value_id old, pw_value_id contribution)
{
    if (contribution == PW_NO_VALUE) /* short of memory */
        return;
    g->slope[old] =
        g->slope[old] == PW_NO_VALUE ? contribution : pw_gradient_emit2(g, "Add", g->slope[old], contribution);
}
