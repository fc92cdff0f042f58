#include "run/property.h"

#include <math.h>
#include <string.h>

#include "graph/infer.h"

enum { ENOUGH = 8, NESTING_MOST = 64 };

#define SIGMAS 6.0

pw_status pw_property_watch_init(struct pw_property_watch *watch, const struct pw_graph *graph, struct pw_error *err)
{
    *watch = (struct pw_property_watch){.graph = graph};
    watch->drawn = pw_calloc(graph->value_count + 1, sizeof *watch->drawn);
    return watch->drawn ? PW_OK : pw_error_memory(err, graph->value_count * sizeof *watch->drawn);
}

void pw_property_watch_clear(struct pw_property_watch *watch)
{
    pw_free(watch->drawn);
    memset(watch, 0, sizeof *watch);
}

/* ---- what descends from draws ---- */

static bool captures_drawn(const struct pw_property_watch *watch, const struct pw_node *node, int depth);

static bool graph_captures(const struct pw_property_watch *watch, const struct pw_graph *graph, int depth)
{
    const struct pw_graph_value *first = watch->graph->values, *end = first + watch->graph->value_count;

    if (!graph || depth > NESTING_MOST)
        return false;
    for (size_t v = 0; v < graph->value_count; v++) {
        const struct pw_graph_value *outer = graph->values[v].outer;

        if (outer && outer >= first && outer < end && watch->drawn[outer - first])
            return true;
    }
    for (size_t n = 0; n < graph->node_count; n++)
        if (captures_drawn(watch, &graph->nodes[n], depth + 1))
            return true;
    return false;
}

static bool captures_drawn(const struct pw_property_watch *watch, const struct pw_node *node, int depth)
{
    for (size_t a = 0; a < node->attr_count; a++) {
        const struct pw_attr *attr = &node->attrs[a];

        if (attr->type == PW_ATTR_GRAPH && graph_captures(watch, attr->graph, depth))
            return true;
        for (size_t g = 0; attr->type == PW_ATTR_GRAPHS && g < attr->count; g++)
            if (graph_captures(watch, attr->graphs[g], depth))
                return true;
    }
    return false;
}

/* A shape is not drawn, whatever its tensor's content. */
static bool reads_shape_only(const struct pw_node *node)
{
    return node->domain[0] == '\0' && (strcmp(node->op_type, "Shape") == 0 || strcmp(node->op_type, "Size") == 0);
}

static bool descends(const struct pw_property_watch *watch, const struct pw_node *node)
{
    for (size_t i = 0; i < node->input_count && !reads_shape_only(node); i++)
        if (node->inputs[i] != PW_NO_VALUE && watch->drawn[node->inputs[i]])
            return true;
    return captures_drawn(watch, node, 0);
}

/* Whether the node drew; checks the outputs' property when it did. */
static pw_status judge_node(const struct pw_node *node, const struct pw_value *const *inputs,
                            const struct pw_value *outputs, bool *draws, struct pw_error *err)
{
    struct pw_arena arena = {0};
    struct pw_dims *dims = NULL;
    struct pw_call call;
    pw_status status;

    *draws = false;
    if (!node->op || !node->op->random)
        return PW_OK;
    status = pw_dims_create(&dims, err);
    if (status == PW_OK)
        status = pw_call_from_values(node, inputs, (int)node->input_count, dims, &arena, &call, err);
    if (status == PW_OK) {
        *draws = pw_call_draws(&call);
        if (*draws && node->op->property)
            status = node->op->property(&call, inputs, outputs, err);
    }
    pw_dims_destroy(dims);
    pw_arena_clear(&arena);
    return status;
}

pw_status pw_property_observe(void *user, const struct pw_node *node, const struct pw_value *const *inputs,
                              const struct pw_value *outputs, struct pw_error *err)
{
    struct pw_property_watch *watch = user;
    bool draws = false;
    pw_status status = judge_node(node, inputs, outputs, &draws, err);

    if (status != PW_OK)
        return status;
    if (node->graph != watch->graph) {
        watch->inner = watch->inner || draws;
        return PW_OK;
    }
    draws = draws || watch->inner || descends(watch, node);
    watch->inner = false;
    for (size_t i = 0; i < node->output_count; i++)
        if (node->outputs[i] != PW_NO_VALUE)
            watch->drawn[node->outputs[i]] = draws;
    return PW_OK;
}

bool pw_property_drawn(const struct pw_property_watch *watch, size_t output)
{
    return watch->drawn[watch->graph->outputs[output]];
}

/* ---- two samples ---- */

struct sample {
    double count, mean, variance; /* of the finite elements */
};

static struct sample describe(const struct pw_tensor *t)
{
    struct sample s = {0};
    double squares = 0.0;

    for (int64_t i = 0; i < t->count; i++) {
        double x = pw_tensor_get(t, i), step = x - s.mean;

        if (!isfinite(x))
            continue;
        s.count += 1.0;
        s.mean += step / s.count;
        squares += step * (x - s.mean);
    }
    s.variance = s.count > 0.0 ? squares / s.count : 0.0;
    return s;
}

pw_status pw_property_alike(const struct pw_tensor *got, const struct pw_tensor *want, const char *name,
                            struct pw_error *err)
{
    const struct pw_dtype_facts *facts = pw_dtype_facts(got->dtype);
    struct sample a, b;
    double allowed;

    if (facts->kind == PW_KIND_STRING || facts->kind == PW_KIND_COMPLEX)
        return PW_OK;
    a = describe(got);
    b = describe(want);
    if (a.count < ENOUGH || b.count < ENOUGH)
        return PW_OK;
    allowed = SIGMAS * sqrt(a.variance / a.count + b.variance / b.count) + 1e-6 * (fabs(a.mean) + fabs(b.mean));
    if (fabs(a.mean - b.mean) <= allowed)
        return PW_OK;
    return pw_error_set(err, PW_ERR_FORMAT,
                        "output '%s': its mean is %.6g, that of the expected draws %.6g: not samples of one law", name,
                        a.mean, b.mean);
}
