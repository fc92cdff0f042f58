/* From a Gradient node to the nodes that compute it: what lies between xs and y, forward again where needed, backward,
 * and the new arrays of the graph. */
#include "graph/gradient.h"

#include <stdlib.h>
#include <string.h>

#define DOMAIN "ai.onnx.preview.training"
#define NODES_MAX ((size_t)1 << 20) /* made for one Gradient */
#define NAMES_MAX 256               /* of xs and zs together */
#define WAITS_MAX 64                /* Gradients of Gradients */
#define WORK_MAX ((size_t)1 << 22)  /* nodes looked at, all Gradients of a model together */

/* The parts of a Gradient node. */
struct request {
    pw_value_id names[NAMES_MAX]; /* xs, then zs */
    size_t x_count, count;
    pw_value_id y;
    size_t *path; /* heap: nodes between them and y, ascending */
    size_t path_count;
    bool again;            /* forward values can't be used as they are */
    struct pw_node *first; /* another Gradient on the path, to be replaced before */
};

static bool is_gradient(const struct pw_node *node)
{
    return strcmp(node->op_type, "Gradient") == 0 && strcmp(node->domain, DOMAIN) == 0;
}

/* ---- names ---- */

static pw_value_id named(const struct pw_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->value_count; i++) {
        if (strcmp(graph->values[i].name, name) == 0)
            return (pw_value_id)i;
    }
    return PW_NO_VALUE;
}

/* A name as the node's author wrote it: within an inlined function, values are called "call/name". */
static pw_value_id resolve(struct pw_gradient *g, const char *name)
{
    const char *slash = strrchr(g->node->name, '/');
    pw_value_id id = PW_NO_VALUE;

    if (g->node->origin && slash) {
        struct pw_buf full = {0};

        pw_buf_append(&full, g->node->name, (size_t)(slash - g->node->name) + 1);
        pw_buf_puts(&full, name);
        g->short_of_memory |= full.failed;
        id = full.failed ? PW_NO_VALUE : named(g->graph, pw_buf_text(&full));
        pw_buf_clear(&full);
    }
    if (id == PW_NO_VALUE)
        id = named(g->graph, name);
    if (id == PW_NO_VALUE) {
        char show[128];

        (void)pw_gradient_refuse(g, "the graph has no value '%s'", pw_text_show(show, sizeof show, name, 60));
    }
    return id;
}

static bool read_request(struct pw_gradient *g, struct request *r)
{
    static const char *const lists[] = {"xs", "zs"};
    const struct pw_attr *y = pw_node_attr(g->node, "y");

    for (int l = 0; l < 2; l++) {
        const struct pw_attr *attr = pw_node_attr(g->node, lists[l]);

        for (size_t i = 0; attr && attr->type == PW_ATTR_STRINGS && i < attr->count; i++) {
            if (r->count == NAMES_MAX)
                return pw_gradient_refuse(g, "more than %d variables", NAMES_MAX);
            r->names[r->count] = resolve(g, attr->strings[i].data);
            if (r->names[r->count++] == PW_NO_VALUE)
                return false;
        }
        r->x_count = l == 0 ? r->count : r->x_count;
    }
    if (!y || y->type != PW_ATTR_STRING || r->count != g->node->input_count || g->node->output_count > r->x_count)
        return pw_gradient_refuse(g, "%zu inputs and %zu outputs do not fit %zu names in xs and %zu in zs",
                                  g->node->input_count, g->node->output_count, r->x_count, r->count - r->x_count);
    r->y = resolve(g, y->s.data);
    return r->y != PW_NO_VALUE;
}

/* ---- the path ---- */

static bool stops(const struct request *r, pw_value_id id)
{
    for (size_t i = 0; i < r->count; i++) {
        if (r->names[i] == id)
            return true;
    }
    return false;
}

/* Marks the nodes that y is made by, back to the named values. Without recursion: graphs are deep. */
static pw_status find_path(struct pw_gradient *g, struct request *r, struct pw_error *err)
{
    size_t nodes = g->graph->node_count, depth = 0;
    bool *reached = pw_calloc(nodes, sizeof *reached);
    size_t *stack = pw_calloc(nodes, sizeof *stack);
    const struct pw_node *first = stops(r, r->y) ? NULL : g->graph->values[r->y].producer;
    pw_status status = PW_OK;

    r->path = pw_calloc(nodes, sizeof *r->path);
    if (!reached || !stack || !r->path) {
        status = pw_error_memory(err, nodes * sizeof *stack);
        goto done;
    }
    if (first) {
        reached[first->index] = true;
        stack[depth++] = first->index;
    }
    while (depth > 0) {
        const struct pw_node *node = &g->graph->nodes[stack[--depth]];

        for (size_t i = 0; i < node->input_count; i++) {
            pw_value_id id = node->inputs[i];
            const struct pw_node *from = id == PW_NO_VALUE || stops(r, id) ? NULL : g->graph->values[id].producer;

            if (from && !reached[from->index]) {
                reached[from->index] = true;
                stack[depth++] = from->index;
            }
        }
    }
    for (size_t n = 0; n < nodes; n++) {
        if (!reached[n])
            continue;
        r->path[r->path_count++] = n;
        if (is_gradient(&g->graph->nodes[n]) && !g->graph->nodes[n].note)
            r->first = &g->graph->nodes[n];
    }
done:
    pw_free(reached);
    pw_free(stack);
    return status;
}

static bool floating(const struct pw_gradient *g, pw_value_id id)
{
    return id != PW_NO_VALUE && pw_dtype_is_float(pw_gradient_info(g, id)->dtype);
}

/* ---- forward ---- */

/* The values given must look like the named ones: the derivatives are laid out by what is known of those. */
static bool check_given(struct pw_gradient *g, const struct request *r)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct pw_info *named_info = pw_gradient_info(g, r->names[i]);
        const struct pw_info *given =
            g->node->inputs[i] == PW_NO_VALUE ? NULL : pw_gradient_info(g, g->node->inputs[i]);
        bool same = given && given->dtype == named_info->dtype && given->rank == named_info->rank;

        for (int d = 0; same && d < given->rank; d++)
            same = given->dims[d] == named_info->dims[d] && given->dims[d] != PW_DIM_UNKNOWN;
        if (!same && given != named_info)
            return pw_gradient_refuse(
                g, "input %zu is not known to have the type and the shape of the value it stands for", i);
        if (i < r->x_count && !pw_dtype_is_float(named_info->dtype))
            return pw_gradient_refuse(g, "variable %zu is %s, a float type expected", i,
                                      pw_dtype_name(named_info->dtype));
    }
    return floating(g, r->y) || pw_gradient_refuse(g, "y is not known to be of a float type");
}

/* Can the values that the graph computes anyway be used? */
static bool is_there(const struct pw_gradient *g, const struct request *r)
{
    for (size_t i = 0; i < r->count; i++) {
        if (g->node->inputs[i] != r->names[i])
            return false;
    }
    return r->path_count == 0 || r->path[r->path_count - 1] < g->node->index;
}

static bool copy_forward(struct pw_gradient *g, const struct request *r)
{
    for (size_t p = 0; p < r->path_count && !g->short_of_memory; p++) {
        const struct pw_node *node = &g->graph->nodes[r->path[p]];
        struct pw_node *made;

        for (size_t i = 0; i < node->attr_count; i++) {
            if (node->attrs[i].type == PW_ATTR_GRAPH || node->attrs[i].type == PW_ATTR_GRAPHS)
                return pw_gradient_refuse(g, "'%.40s' holds a graph, which is not differentiated", node->op_type);
        }
        made = pw_gradient_node(g, node->op_type, node->inputs, node->input_count, node->outputs, node->output_count);
        if (!made)
            return true;
        for (size_t i = 0; i < node->input_count; i++) {
            if (node->inputs[i] != PW_NO_VALUE)
                made->inputs[i] = g->forward[node->inputs[i]];
        }
        for (size_t i = 0; i < node->output_count && !g->short_of_memory; i++) {
            if (node->outputs[i] == PW_NO_VALUE || stops(r, node->outputs[i]))
                made->outputs[i] = PW_NO_VALUE;
            else
                made->outputs[i] = g->forward[node->outputs[i]] = pw_gradient_value(g, "forward");
        }
        made->domain = node->domain;
        made->overload = node->overload;
        made->opset = node->opset;
        made->op = node->op;
        made->attrs = node->attrs;
        made->attr_count = node->attr_count;
        made->note = node->note;
    }
    return true;
}

/* ---- backward ---- */

static void mark_active(struct pw_gradient *g, const struct request *r)
{
    for (size_t i = 0; i < r->x_count; i++)
        g->active[r->names[i]] = true;
    for (size_t p = 0; p < r->path_count; p++) {
        const struct pw_node *node = &g->graph->nodes[r->path[p]];
        bool any = false;

        for (size_t i = 0; i < node->input_count; i++)
            any = any || (node->inputs[i] != PW_NO_VALUE && g->active[node->inputs[i]]);
        for (size_t i = 0; i < node->output_count; i++) {
            if (floating(g, node->outputs[i]) && !stops(r, node->outputs[i]))
                g->active[node->outputs[i]] = any;
        }
    }
}

static pw_value_id filled_like(struct pw_gradient *g, pw_value_id old, double value)
{
    pw_dtype dtype = pw_gradient_info(g, old)->dtype;
    pw_value_id shape = pw_gradient_emit1(g, "Shape", g->forward[old]);

    return pw_gradient_emit2(g, "Expand", pw_gradient_scalar(g, dtype, value), shape);
}

static bool go_back(struct pw_gradient *g, const struct request *r)
{
    g->slope[r->y] = filled_like(g, r->y, 1.0);
    for (size_t p = r->path_count; p-- > 0 && !g->short_of_memory;) {
        const struct pw_node *node = &g->graph->nodes[r->path[p]];
        bool needed = false;

        for (size_t i = 0; i < node->output_count; i++) {
            pw_value_id id = node->outputs[i];
            bool wanted = id != PW_NO_VALUE && g->active[id] && g->slope[id] != PW_NO_VALUE && !stops(r, id);

            if (wanted && i > 0)
                return pw_gradient_refuse(g, "'%.40s' has no rule for its output %zu", node->op_type, i);
            needed = needed || wanted;
        }
        if (g->node_count > NODES_MAX)
            return pw_gradient_refuse(g, "it takes too many nodes");
        if (needed && !pw_gradient_rule(g, node, g->slope[node->outputs[0]])) {
            char reason[sizeof g->why], name[128], type[128];

            memcpy(reason, g->why, sizeof reason);
            g->why[0] = '\0';
            return pw_gradient_refuse(
                g, "the derivative of '%s' (%s%s%s): %.120s", pw_text_show(name, sizeof name, node->name, 30),
                node->domain, node->domain[0] ? ":" : "", pw_text_show(type, sizeof type, node->op_type, 30), reason);
        }
    }
    for (size_t i = 0; i < g->node->output_count && !g->short_of_memory; i++) {
        pw_value_id slope;

        if (g->node->outputs[i] == PW_NO_VALUE)
            continue;
        slope = g->slope[r->names[i]];
        if (slope == PW_NO_VALUE)
            slope = filled_like(g, r->names[i], 0.0);
        if (slope != PW_NO_VALUE)
            (void)pw_gradient_node(g, "Identity", &slope, 1, &g->node->outputs[i], 1);
    }
    return true;
}

/* ---- the graph's new arrays ---- */

static void move_outer(struct pw_graph *inner, const struct pw_graph_value *old, size_t count,
                       struct pw_graph_value *moved)
{
    for (size_t i = 0; i < inner->value_count; i++) {
        struct pw_graph_value *outer = inner->values[i].outer;

        if (outer >= old && outer < old + count)
            inner->values[i].outer = moved + (outer - old);
    }
}

static void settle_node(struct pw_graph *graph, struct pw_node *node, const struct pw_graph_value *old,
                        size_t old_count)
{
    for (size_t i = 0; i < node->output_count; i++) {
        if (node->outputs[i] == PW_NO_VALUE)
            continue;
        graph->values[node->outputs[i]].producer = node;
        graph->values[node->outputs[i]].producer_output = (int)i;
    }
    for (size_t i = 0; i < node->attr_count; i++) {
        const struct pw_attr *attr = &node->attrs[i];
        size_t count = attr->type == PW_ATTR_GRAPH ? 1 : attr->type == PW_ATTR_GRAPHS ? attr->count : 0;

        for (size_t j = 0; j < count; j++) {
            struct pw_graph *inner = attr->type == PW_ATTR_GRAPH ? attr->graph : attr->graphs[j];

            inner->owner = node;
            move_outer(inner, old, old_count, graph->values);
        }
    }
}

/* The new nodes take the Gradient's place. */
static pw_status splice(struct pw_gradient *g, struct pw_error *err)
{
    struct pw_graph *graph = g->graph;
    struct pw_arena *arena = &g->model->arena;
    size_t at = g->node->index, values = graph->value_count + g->value_count;
    size_t nodes = graph->node_count - 1 + g->node_count, old_count = graph->value_count;
    struct pw_graph_value *old = graph->values, *new_values = pw_arena_alloc(arena, values, sizeof *new_values);
    struct pw_node *new_nodes = pw_arena_alloc(arena, nodes + 1, sizeof *new_nodes);

    if (!new_values || !new_nodes)
        return pw_error_memory(err, nodes * sizeof *new_nodes);
    memcpy(new_values, old, old_count * sizeof *old);
    if (g->value_count > 0)
        memcpy(new_values + old_count, g->values, g->value_count * sizeof *g->values);
    memcpy(new_nodes, graph->nodes, at * sizeof *new_nodes);
    if (g->node_count > 0)
        memcpy(new_nodes + at, g->nodes, g->node_count * sizeof *new_nodes);
    memcpy(new_nodes + at + g->node_count, graph->nodes + at + 1, (graph->node_count - at - 1) * sizeof *new_nodes);
    graph->values = new_values;
    graph->value_count = values;
    graph->nodes = new_nodes;
    g->model->node_total += nodes - graph->node_count;
    graph->node_count = nodes;
    for (size_t n = 0; n < nodes; n++) {
        new_nodes[n].index = n;
        settle_node(graph, &new_nodes[n], old, old_count);
    }
    return PW_OK;
}

/* ---- one node ---- */

static pw_status prepare(struct pw_gradient *g, struct pw_error *err)
{
    size_t count = g->graph->value_count;

    g->forward = pw_calloc(count, sizeof *g->forward);
    g->slope = pw_calloc(count, sizeof *g->slope);
    g->active = pw_calloc(count, sizeof *g->active);
    g->prefix = g->node->name[0] != '\0' ? g->node->name : "Gradient";
    if (!g->forward || !g->slope || !g->active)
        return pw_error_memory(err, count * sizeof *g->forward);
    for (size_t i = 0; i < count; i++) {
        g->forward[i] = (pw_value_id)i;
        g->slope[i] = PW_NO_VALUE;
    }
    return PW_OK;
}

/* Sets `why` when the node stays, *first when another one must be replaced before. */
static pw_status expand_node(struct pw_gradient *g, struct pw_node **first, struct pw_error *err)
{
    struct request r = {0};
    bool done = false;
    pw_status status = prepare(g, err);

    if (status != PW_OK || !read_request(g, &r))
        goto end;
    status = find_path(g, &r, err);
    *first = r.first;
    if (r.first == g->node)
        (void)pw_gradient_refuse(g, "y depends on it");
    if (status != PW_OK || r.first || !check_given(g, &r))
        goto end;
    r.again = !is_there(g, &r);
    for (size_t i = 0; r.again && i < r.count; i++)
        g->forward[r.names[i]] = g->node->inputs[i];
    if (r.again && !copy_forward(g, &r))
        goto end;
    mark_active(g, &r);
    done = go_back(g, &r);
end:
    if (status == PW_OK && g->short_of_memory)
        status = pw_error_memory(err, g->node_count * sizeof *g->nodes);
    if (status == PW_OK && done)
        status = splice(g, err);
    pw_free(r.path);
    return status;
}

static pw_status replace(struct pw_model *model, struct pw_node *node, struct pw_node **first, struct pw_error *err)
{
    struct pw_gradient g = {.model = model, .graph = node->graph, .node = node};
    struct pw_inference *inference = NULL;
    struct pw_error refused = {0};
    pw_status status = PW_OK;

    if (pw_infer_graph(model, NULL, 0, &inference, &refused) != PW_OK) {
        (void)pw_gradient_refuse(&g, "the shapes of the graph do not follow");
    } else {
        g.inference = inference;
        status = expand_node(&g, first, err);
    }
    if (status == PW_OK && g.why[0] != '\0') {
        node->note = pw_arena_strndup(&model->arena, g.why, strlen(g.why));
        if (!node->note)
            status = pw_error_memory(err, sizeof g.why);
    }
    pw_inference_destroy(inference);
    pw_free(g.values);
    pw_free(g.nodes);
    pw_free(g.forward);
    pw_free(g.slope);
    pw_free(g.active);
    return status;
}

/* ---- all of them ---- */

static struct pw_node *find(const struct pw_graph *graph)
{
    for (size_t n = 0; n < graph->node_count; n++) {
        struct pw_node *node = &graph->nodes[n], *inner = NULL;

        if (is_gradient(node) && !node->note)
            return node;
        for (size_t i = 0; i < node->attr_count && !inner; i++) {
            const struct pw_attr *attr = &node->attrs[i];

            if (attr->type == PW_ATTR_GRAPH)
                inner = find(attr->graph);
            for (size_t j = 0; attr->type == PW_ATTR_GRAPHS && j < attr->count && !inner; j++)
                inner = find(attr->graphs[j]);
        }
        if (inner)
            return inner;
    }
    return NULL;
}

pw_status pw_gradient_expand(struct pw_model *model, struct pw_error *err)
{
    struct pw_node *node = NULL, *first = NULL;
    size_t waits = 0, work = 0;
    pw_status status = PW_OK;

    while (status == PW_OK && (node = first ? first : find(model->graph)) != NULL) {
        waits = first ? waits + 1 : 0;
        first = NULL;
        work += model->node_total;
        if (work > WORK_MAX + model->node_total)
            node->note = "the gradients of this model take too many nodes";
        else if (waits > WAITS_MAX)
            node->note = "it waits for too many other Gradients";
        else
            status = replace(model, node, &first, err);
        if (node->note)
            first = NULL;
    }
    return status;
}
