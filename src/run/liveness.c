#include "run/liveness.h"

#define MAX_NESTING 64

struct walk {
    const struct pw_graph_value *first, *end; /* values of the graph around */
    pw_liveness_visit *visit;
    void *user;
};

static void walk_graph(const struct walk *walk, const struct pw_graph *graph, int depth);

static void walk_node(const struct walk *walk, const struct pw_node *node, int depth)
{
    for (size_t a = 0; a < node->attr_count; a++) {
        const struct pw_attr *attr = &node->attrs[a];

        if (attr->type == PW_ATTR_GRAPH && attr->graph != NULL)
            walk_graph(walk, attr->graph, depth + 1);
        for (size_t g = 0; attr->type == PW_ATTR_GRAPHS && g < attr->count; g++)
            walk_graph(walk, attr->graphs[g], depth + 1);
    }
}

static void walk_graph(const struct walk *walk, const struct pw_graph *graph, int depth)
{
    if (depth > MAX_NESTING)
        return;
    for (size_t v = 0; v < graph->value_count; v++) {
        const struct pw_graph_value *outer = graph->values[v].outer;

        if (outer != NULL && outer >= walk->first && outer < walk->end)
            walk->visit(walk->user, (pw_value_id)(outer - walk->first));
    }
    for (size_t n = 0; n < graph->node_count; n++)
        walk_node(walk, &graph->nodes[n], depth);
}

void pw_liveness_captures(const struct pw_graph *graph, const struct pw_node *node, pw_liveness_visit *visit,
                          void *user)
{
    struct walk walk = {
        .first = graph->values, .end = graph->values + graph->value_count, .visit = visit, .user = user};

    walk_node(&walk, node, 0);
}

struct mark {
    size_t *last_use;
    size_t node;
};

static void mark_read(void *user, pw_value_id value)
{
    struct mark *mark = user;

    mark->last_use[value] = mark->node;
}

void pw_liveness_reads(const struct pw_graph *graph, size_t *last_use)
{
    for (size_t v = 0; v < graph->value_count; v++)
        last_use[v] = PW_LIVENESS_NEVER;
    for (size_t n = 0; n < graph->node_count; n++) {
        const struct pw_node *node = &graph->nodes[n];
        struct mark mark = {last_use, n};

        for (size_t i = 0; i < node->input_count; i++) {
            if (node->inputs[i] != PW_NO_VALUE)
                last_use[node->inputs[i]] = n;
        }
        pw_liveness_captures(graph, node, mark_read, &mark);
    }
}

void pw_liveness_keep_outputs(const struct pw_graph *graph, size_t *last_use)
{
    for (size_t o = 0; o < graph->output_count; o++)
        last_use[graph->outputs[o]] = PW_LIVENESS_KEEP;
}

void pw_liveness_find(const struct pw_graph *graph, size_t *last_use)
{
    pw_liveness_reads(graph, last_use);
    pw_liveness_keep_outputs(graph, last_use);
}
