/* Attributes in canonical text: order of the definition, defaults resolved, subgraphs by hash. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "graph/signature_internal.h"

/* ---- subgraphs ---- */

/* Numbers values by first appearance, so that names do not matter. */
struct numbering {
    struct pw_buf *out;
    uint32_t *numbers; /* by value id, 0 = not seen */
    uint32_t next;
};

static void put_number(struct numbering *n, pw_value_id id)
{
    if (id == PW_NO_VALUE) {
        pw_buf_puts(n->out, " -");
        return;
    }
    if (n->numbers[id] == 0)
        n->numbers[id] = ++n->next;
    pw_buf_printf(n->out, " %" PRIu32, n->numbers[id]);
}

static bool is_constant(const struct pw_node *node)
{
    return strcmp(node->op_type, "Constant") == 0 && node->domain[0] == '\0' && node->output_count == 1 &&
           node->outputs[0] != PW_NO_VALUE;
}

/* The text of a whole graph: inputs, each node's signature with its wiring, outputs. */
static pw_status graph_text(const struct pw_inference *inf, const struct pw_graph *graph, struct pw_buf *out,
                            struct pw_error *err)
{
    struct numbering n = {.out = out, .numbers = pw_calloc(graph->value_count, sizeof *n.numbers)};
    pw_status status = PW_OK;

    if (n.numbers == NULL)
        return pw_error_memory(err, graph->value_count * sizeof *n.numbers);
    for (size_t i = 0; i < graph->input_count; i++)
        put_number(&n, graph->inputs[i]);
    for (size_t i = 0; i < graph->node_count && status == PW_OK; i++) {
        const struct pw_node *node = &graph->nodes[i];

        pw_buf_putc(out, '\n');
        if (is_constant(node)) /* its users say what of the value matters; weights do not */
            pw_signature_type(pw_inference_dims(inf), pw_inference_at(inf, graph, node->outputs[0]), out);
        else
            status = pw_signature_text(inf, node, out, err);
        for (size_t k = 0; k < node->input_count; k++)
            put_number(&n, node->inputs[k]);
        for (size_t k = 0; k < node->output_count; k++)
            put_number(&n, node->outputs[k]);
    }
    pw_buf_putc(out, '\n');
    for (size_t i = 0; i < graph->output_count; i++)
        put_number(&n, graph->outputs[i]);
    pw_free(n.numbers);
    return status == PW_OK && out->failed ? pw_error_memory(err, out->size) : status;
}

static pw_status put_graph(const struct pw_inference *inf, const struct pw_graph *graph, struct pw_buf *out,
                           struct pw_error *err)
{
    struct pw_buf text = {0};
    char id[17];
    pw_status status = graph == NULL ? PW_OK : graph_text(inf, graph, &text, err);

    if (status == PW_OK) {
        pw_signature_id(pw_buf_text(&text), text.size, id);
        pw_buf_printf(out, "{#%s}", id);
    }
    pw_buf_clear(&text);
    return status;
}

/* ---- values ---- */

static void put_string(struct pw_buf *out, const struct pw_bytes *s)
{
    pw_buf_putc(out, '\'');
    pw_signature_escape(out, s->data != NULL ? s->data : "", s->size);
    pw_buf_putc(out, '\'');
}

static void put_sparse(struct pw_buf *out, const struct pw_sparse *sparse)
{
    pw_buf_puts(out, "sparse");
    pw_signature_tensor(&sparse->values, out);
    pw_signature_tensor(&sparse->indices, out);
    for (int d = 0; d < sparse->rank; d++)
        pw_buf_printf(out, "%c%" PRId64, d > 0 ? ',' : '@', sparse->dims[d]);
}

static void put_type(struct pw_buf *out, const struct pw_type *type)
{
    for (; type != NULL; type = type->element) {
        pw_buf_printf(out, "type%d:%s", (int)type->kind, pw_dtype_name(type->dtype));
        for (int d = 0; type->has_shape && d < type->rank; d++)
            pw_buf_printf(out, "%c%" PRId64, d > 0 ? ',' : '@', type->dim_values[d]);
    }
}

static pw_status put_list(const struct pw_inference *inf, const struct pw_attr *attr, struct pw_buf *out,
                          struct pw_error *err)
{
    pw_status status = PW_OK;

    pw_buf_putc(out, '[');
    for (size_t i = 0; i < attr->count && status == PW_OK; i++) {
        pw_buf_puts(out, i > 0 ? "," : "");
        if (attr->type == PW_ATTR_INTS)
            pw_buf_printf(out, "%" PRId64, attr->ints[i]);
        else if (attr->type == PW_ATTR_FLOATS)
            pw_signature_float(out, (double)attr->floats[i], true);
        else if (attr->type == PW_ATTR_STRINGS)
            put_string(out, &attr->strings[i]);
        else if (attr->type == PW_ATTR_TENSORS)
            pw_signature_tensor(&attr->tensor[i], out);
        else if (attr->type == PW_ATTR_GRAPHS)
            status = put_graph(inf, attr->graphs[i], out, err);
    }
    pw_buf_putc(out, ']');
    return status;
}

static pw_status put_value(const struct pw_inference *inf, const struct pw_attr *attr, struct pw_buf *out,
                           struct pw_error *err)
{
    switch (attr->type) {
    case PW_ATTR_INT:
        pw_buf_printf(out, "%" PRId64, attr->i);
        return PW_OK;
    case PW_ATTR_FLOAT:
        pw_signature_float(out, (double)attr->f, true);
        return PW_OK;
    case PW_ATTR_STRING:
        put_string(out, &attr->s);
        return PW_OK;
    case PW_ATTR_TENSOR:
        if (attr->tensor != NULL)
            pw_signature_tensor(attr->tensor, out);
        return PW_OK;
    case PW_ATTR_GRAPH:
        return put_graph(inf, attr->graph, out, err);
    case PW_ATTR_SPARSE_TENSOR:
        if (attr->sparse != NULL)
            put_sparse(out, attr->sparse);
        return PW_OK;
    case PW_ATTR_TYPE_PROTO:
        put_type(out, attr->type_proto);
        return PW_OK;
    default:
        return put_list(inf, attr, out, err);
    }
}

/* ---- the list ---- */

static pw_status put_attr(const struct pw_inference *inf, const struct pw_attr *attr, struct pw_buf *out,
                          struct pw_error *err)
{
    pw_buf_putc(out, ' ');
    pw_signature_escape(out, attr->name, strlen(attr->name));
    pw_buf_putc(out, '=');
    return put_value(inf, attr, out, err);
}

/* One attribute of a known operator, explicit or not: equal meaning must give equal text. */
static pw_status put_defined(const struct pw_inference *inf, const struct pw_node *node, const struct pw_attr_def *def,
                             struct pw_buf *out, struct pw_error *err)
{
    const struct pw_attr *given = pw_node_attr(node, def->name);
    struct pw_attr attr = {.name = def->name, .type = def->type, .i = def->i, .f = def->f};

    if (given != NULL && given->type == def->type)
        attr = *given;
    else if (given != NULL)
        return put_attr(inf, given, out, err);
    if (def->type == PW_ATTR_INT && attr.i == 0 && def->i == 0)
        return PW_OK;
    if (def->type == PW_ATTR_FLOAT && attr.f == 0.0f && def->f == 0.0f)
        return PW_OK;
    if (def->type == PW_ATTR_STRING && given != NULL && def->s != NULL && strcmp(given->s.data, def->s) == 0)
        return PW_OK;
    if (given == NULL && def->type != PW_ATTR_INT && def->type != PW_ATTR_FLOAT)
        return PW_OK;
    return put_attr(inf, &attr, out, err);
}

static int compare_names(const void *a, const void *b)
{
    const struct pw_attr *x = *(const struct pw_attr *const *)a, *y = *(const struct pw_attr *const *)b;

    return strcmp(x->name, y->name);
}

static pw_status put_sorted(const struct pw_inference *inf, const struct pw_node *node, struct pw_buf *out,
                            struct pw_error *err)
{
    const struct pw_attr **sorted = pw_calloc(node->attr_count, sizeof *sorted);
    pw_status status = PW_OK;

    if (sorted == NULL)
        return pw_error_memory(err, node->attr_count * sizeof *sorted);
    for (size_t i = 0; i < node->attr_count; i++)
        sorted[i] = &node->attrs[i];
    qsort(sorted, node->attr_count, sizeof *sorted, compare_names);
    for (size_t i = 0; i < node->attr_count && status == PW_OK; i++)
        status = put_attr(inf, sorted[i], out, err);
    pw_free(sorted);
    return status;
}

pw_status pw_signature_attrs(const struct pw_inference *inf, const struct pw_node *node, struct pw_buf *out,
                             struct pw_error *err)
{
    pw_status status = PW_OK;

    if (node->op == NULL)
        return put_sorted(inf, node, out, err);
    for (const struct pw_attr_def *def = node->op->attrs; def != NULL && def->name != NULL && status == PW_OK; def++)
        status = put_defined(inf, node, def, out, err);
    return status;
}

pw_status pw_signature_attrs_key(const struct pw_inference *inf, const struct pw_node *node, struct pw_buf *out,
                                 struct pw_error *err)
{
    pw_status status = PW_OK;

    for (size_t i = 0; i < node->attr_count && status == PW_OK; i++) {
        const struct pw_attr *attr = &node->attrs[i];

        pw_buf_append(out, attr->name, strlen(attr->name) + 1);
        pw_buf_putc(out, (char)attr->type);
        if (attr->type == PW_ATTR_INT) {
            pw_buf_append(out, (const char *)&attr->i, sizeof attr->i);
        } else if (attr->type == PW_ATTR_FLOAT) {
            pw_buf_append(out, (const char *)&attr->f, sizeof attr->f);
        } else if (attr->type == PW_ATTR_INTS) {
            pw_buf_append(out, (const char *)&attr->count, sizeof attr->count);
            pw_buf_append(out, (const char *)attr->ints, attr->count * sizeof *attr->ints);
        } else {
            status = put_value(inf, attr, out, err);
            pw_buf_putc(out, '\0');
        }
    }
    return status;
}
