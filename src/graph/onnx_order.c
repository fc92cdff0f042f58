/*
 * Topological order. ONNX demands it of a file; one that is merely out of order is sorted
 * (depth first from each node in file order, so a sorted file stays as it is), a cycle is
 * an error that names its nodes. Iterative: the depth of a graph is not the C stack's.
 */
#include <string.h>

#include "graph/onnx_reader.h"

#define CYCLE_SHOWN 6

struct sorting {
    struct pw_onnx_reader *r;
    struct pw_onnx_builder *b;
    size_t *producer;         /* per value: node + 1, 0 = none */
    size_t *first_dependency; /* per node and one more: range in b->dependencies */
    uint8_t *state;           /* per node: 0 new, 1 on the stack, 2 placed */
    size_t *stack, *next;     /* node and its next edge */
    size_t depth, placed;
};

/* Edge e of node n: the node it waits for + 1, 0 = none; false past the last edge. */
static bool edge(const struct sorting *s, size_t n, size_t e, size_t *out)
{
    const struct pw_node *node = &s->b->nodes[n];
    size_t first = s->first_dependency[n], count = s->first_dependency[n + 1] - first;
    pw_value_id id;
    if (e >= node->input_count + count)
        return false;
    id = e < node->input_count ? node->inputs[e] : s->b->dependencies[first + e - node->input_count].value;
    *out = id == PW_NO_VALUE ? 0 : s->producer[id];
    return true;
}

static bool in_order(const struct sorting *s)
{
    for (size_t n = 0; n < s->b->graph->node_count; n++) {
        size_t from = 0;
        for (size_t e = 0; edge(s, n, e, &from); e++)
            if (from > n)
                return false;
    }
    return true;
}

static const char *label(const struct sorting *s, size_t n, char dst[PW_ONNX_SHOW_BYTES])
{
    const struct pw_node *node = &s->b->nodes[n];
    return pw_text_show(dst, PW_ONNX_SHOW_BYTES, node->name[0] != '\0' ? node->name : node->op_type, 40);
}

static pw_status report_cycle(const struct sorting *s, size_t from)
{
    struct pw_buf text = {0};
    char show[PW_ONNX_SHOW_BYTES], graph[PW_ONNX_SHOW_BYTES], type[PW_ONNX_SHOW_BYTES];
    size_t at = s->depth;
    while (at > 0 && s->stack[at - 1] != from)
        at--;
    for (size_t i = s->depth; i >= at && i > 0; i--) {
        if (s->depth - i >= CYCLE_SHOWN) {
            pw_buf_printf(&text, "%zu more -> ", i - at + 1);
            break;
        }
        pw_buf_printf(&text, "'%s' -> ", label(s, s->stack[i - 1], show));
    }
    pw_buf_printf(&text, "'%s'", label(s, s->stack[s->depth - 1], show));
    pw_error_set(s->r->err, PW_ERR_MODEL,
                 "graph '%s', node %zu '%s' (%s): is part of a cycle: each waits for the next: %s",
                 pw_text_show(graph, sizeof graph, s->b->graph->name, PW_ONNX_SHOW), from, label(s, from, show),
                 pw_text_show(type, sizeof type, s->b->nodes[from].op_type, PW_ONNX_SHOW), pw_buf_text(&text));
    pw_buf_clear(&text);
    return PW_ERR_MODEL;
}

static pw_status visit(struct sorting *s, size_t root)
{
    s->depth = 0;
    s->stack[0] = root;
    s->next[0] = 0;
    s->depth = 1;
    s->state[root] = 1;
    while (s->depth > 0) {
        size_t n = s->stack[s->depth - 1], from = 0;
        if (!edge(s, n, s->next[s->depth - 1]++, &from)) {
            s->state[n] = 2;
            s->b->order[s->placed++] = n;
            s->depth--;
        } else if (from > 0 && s->state[from - 1] == 1) {
            return report_cycle(s, from - 1);
        } else if (from > 0 && s->state[from - 1] == 0) {
            s->state[from - 1] = 1;
            s->stack[s->depth] = from - 1;
            s->next[s->depth++] = 0;
        }
    }
    return PW_OK;
}

static pw_status sort(struct sorting *s)
{
    size_t count = s->b->graph->node_count;
    pw_status status = PW_OK;
    s->state = pw_calloc(count, 1);
    s->stack = pw_calloc(count, sizeof *s->stack);
    s->next = pw_calloc(count, sizeof *s->next);
    s->b->order = pw_calloc(count, sizeof *s->b->order);
    if (!s->state || !s->stack || !s->next || !s->b->order)
        return pw_error_memory(s->r->err, count * sizeof *s->stack);
    for (size_t n = 0; n < count && status == PW_OK; n++)
        if (s->state[n] == 0)
            status = visit(s, n);
    return status;
}

/* Dependencies were added while their node was being read, so they are in node order. */
static void index_edges(struct sorting *s)
{
    const struct pw_graph *graph = s->b->graph;
    size_t d = 0;
    for (size_t n = 0; n < graph->node_count; n++) {
        const struct pw_node *node = &s->b->nodes[n];
        for (size_t j = 0; j < node->output_count; j++)
            if (node->outputs[j] != PW_NO_VALUE)
                s->producer[node->outputs[j]] = n + 1;
        s->first_dependency[n] = d;
        while (d < s->b->dependency_count && s->b->dependencies[d].node == n)
            d++;
    }
    s->first_dependency[graph->node_count] = d;
}

pw_status pw_onnx_order(struct pw_onnx_reader *r, struct pw_onnx_builder *builder)
{
    struct sorting s = {.r = r, .b = builder};
    pw_status status = PW_OK;
    s.producer = pw_calloc(builder->graph->value_count, sizeof *s.producer);
    s.first_dependency = pw_calloc(builder->graph->node_count + 1, sizeof *s.first_dependency);
    if (!s.producer || !s.first_dependency) {
        status = pw_error_memory(r->err, builder->graph->value_count * sizeof *s.producer);
        goto done;
    }
    index_edges(&s);
    if (!in_order(&s))
        status = sort(&s);
done:
    pw_free(s.producer);
    pw_free(s.first_dependency);
    pw_free(s.state);
    pw_free(s.stack);
    pw_free(s.next);
    return status;
}
