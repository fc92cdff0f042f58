/* If, Loop, Scan: definitions, and inference of If. Values of any kind pass through. */
#include "control.h"

#include <string.h>

/* ---- shared ---- */

pw_status pw_control_graph(const struct pw_call *call, const char *name, const struct pw_graph **out,
                           struct pw_error *err)
{
    const struct pw_attr *attr = pw_node_attr(call->node, name);

    if (attr == NULL || attr->type != PW_ATTR_GRAPH || attr->graph == NULL)
        return pw_call_error(call, err, "attribute '%s' holds no graph", name);
    *out = attr->graph;
    return PW_OK;
}

static bool same_content(const struct pw_info *a, const struct pw_info *b)
{
    if (a->content == NULL || b->content == NULL || a->content_count != b->content_count)
        return false;
    for (size_t i = 0; i < a->content_count; i++) {
        if (a->content[i] != b->content[i] || a->content[i] == PW_DIM_UNKNOWN)
            return false;
    }
    return true;
}

struct pw_info pw_control_forget(const struct pw_info *info)
{
    struct pw_info out = *info;

    out.constant = NULL;
    out.content = NULL;
    out.content_count = 0;
    out.fixed = false;
    return out;
}

struct pw_info pw_control_merge(struct pw_call *call, const struct pw_info *a, const struct pw_info *b,
                                const char *hint)
{
    struct pw_info out = pw_control_forget(a);
    bool same = a->rank == b->rank;

    out.optional = a->optional || b->optional;
    if (a->kind == PW_VALUE_NONE && a->optional && b->kind != PW_VALUE_NONE) {
        out = pw_control_forget(b); /* absent on one side: the other tells what it is when it is there */
        out.optional = true;
        return out;
    }
    if (b->kind == PW_VALUE_NONE && b->optional && a->kind != PW_VALUE_NONE) {
        out.optional = true;
        return out;
    }
    if (a->kind != b->kind || a->dtype != b->dtype)
        return (struct pw_info){.rank = -1, .optional = out.optional};
    if (!same) {
        out.rank = -1;
        return out;
    }
    for (int d = 0; d < out.rank; d++) {
        if (a->dims[d] != b->dims[d] || a->dims[d] == PW_DIM_UNKNOWN) {
            out.dims[d] = pw_dims_fresh(call->dims, hint);
            same = false;
        }
    }
    if (same && same_content(a, b)) {
        out.content = a->content;
        out.content_count = a->content_count;
    }
    return out;
}

pw_status pw_control_insert_dim(const struct pw_call *call, struct pw_info *info, int64_t axis, pw_dim size,
                                struct pw_error *err)
{
    int at = 0;
    pw_status status;

    if (info->rank < 0)
        return PW_OK;
    if (info->rank == PW_MAX_RANK)
        return pw_call_error(call, err, "a scan output would have rank %d; at most %d is supported", info->rank + 1,
                             PW_MAX_RANK);
    status = pw_call_axis(call, axis, info->rank + 1, &at, err);
    if (status != PW_OK)
        return status;
    memmove(info->dims + at + 1, info->dims + at, (size_t)(info->rank - at) * sizeof *info->dims);
    info->dims[at] = size;
    info->rank++;
    return PW_OK;
}

/* ---- If ---- */

static pw_status infer_branch(struct pw_call *call, const char *name, struct pw_info **results, struct pw_error *err)
{
    const struct pw_graph *graph = NULL;
    pw_status status = pw_control_graph(call, name, &graph, err);

    if (status != PW_OK)
        return status;
    if (graph->output_count != (size_t)call->output_count)
        return pw_call_error(call, err, "'%s' has %zu outputs, the node has %d", name, graph->output_count,
                             call->output_count);
    *results = pw_arena_alloc(call->arena, graph->output_count + 1, sizeof **results);
    if (*results == NULL)
        return pw_error_memory(err, graph->output_count * sizeof **results);
    return call->infer_graph(call, graph, NULL, 0, *results, err);
}

pw_status pw_if_infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *cond = call->in[0];
    struct pw_info *results[2] = {NULL, NULL};
    int64_t value = 0;
    bool known =
        cond->content != NULL && cond->content_count == 1 && pw_dims_value(call->dims, cond->content[0], &value);
    pw_status status = PW_OK;

    if (cond->dtype != PW_DTYPE_UNDEFINED && cond->dtype != PW_DTYPE_BOOL)
        return pw_call_error(call, err, "input 'cond' must be bool, found %s", pw_dtype_name(cond->dtype));
    if (call->infer_graph == NULL)
        return PW_OK; /* outputs stay unknown */
    if (!known || value != 0)
        status = infer_branch(call, "then_branch", &results[0], err);
    if (status == PW_OK && (!known || value == 0))
        status = infer_branch(call, "else_branch", &results[1], err);
    for (int i = 0; i < call->output_count && status == PW_OK; i++) {
        if (results[0] != NULL && results[1] != NULL)
            call->out[i] = pw_control_merge(call, &results[0][i], &results[1][i], "if");
        else
            call->out[i] = results[0] != NULL ? results[0][i] : results[1][i];
    }
    return status;
}

/* ---- definitions ---- */

static void control_accuracy(const struct pw_call *call, struct pw_accuracy *accuracy)
{
    (void)call;
    *accuracy = (struct pw_accuracy){
        .exact = true,
        .length = 1,
        .amplification = 1.0,
        .sensitivity = PW_SENSITIVITY_LOW,
        .reason = "moves values; a condition computed from floats can flip",
        .why = "values pass unchanged; the nodes of the body have tolerances of their own",
    };
}

#define HOST "control flow: the host decides what runs next"

static const struct pw_attr_def if_attrs[] = {
    {.name = "then_branch", .type = PW_ATTR_GRAPH, .required = true},
    {.name = "else_branch", .type = PW_ATTR_GRAPH, .required = true},
    {0},
};
static const struct pw_formal if_inputs[] = {{"cond", "B", PW_FORMAL_PARAM}, {0}};
static const struct pw_formal if_outputs[] = {
    {"outputs", NULL, PW_FORMAL_VARIADIC | PW_FORMAL_ANY},
    {0},
};

static const struct pw_attr_def loop_attrs[] = {{.name = "body", .type = PW_ATTR_GRAPH, .required = true}, {0}};
static const struct pw_formal loop_inputs[] = {
    {"M", "I", PW_FORMAL_OPTIONAL | PW_FORMAL_PARAM},
    {"cond", "B", PW_FORMAL_OPTIONAL | PW_FORMAL_PARAM},
    {"v_initial", NULL, PW_FORMAL_OPTIONAL | PW_FORMAL_VARIADIC | PW_FORMAL_ANY},
    {0},
};
static const struct pw_formal loop_outputs[] = {
    {"v_final_and_scan", NULL, PW_FORMAL_VARIADIC | PW_FORMAL_ANY},
    {0},
};

static const struct pw_attr_def scan_8_attrs[] = {
    {.name = "body", .type = PW_ATTR_GRAPH, .required = true},
    {.name = "num_scan_inputs", .type = PW_ATTR_INT, .required = true},
    {.name = "directions", .type = PW_ATTR_INTS},
    {0},
};
static const struct pw_formal scan_8_inputs[] = {
    {"sequence_lens", "I", PW_FORMAL_OPTIONAL | PW_FORMAL_PARAM},
    {"values", NULL, PW_FORMAL_VARIADIC},
    {0},
};
static const struct pw_attr_def scan_attrs[] = {
    {.name = "body", .type = PW_ATTR_GRAPH, .required = true},
    {.name = "num_scan_inputs", .type = PW_ATTR_INT, .required = true},
    {.name = "scan_input_axes", .type = PW_ATTR_INTS},
    {.name = "scan_input_directions", .type = PW_ATTR_INTS},
    {.name = "scan_output_axes", .type = PW_ATTR_INTS},
    {.name = "scan_output_directions", .type = PW_ATTR_INTS},
    {0},
};
static const struct pw_formal scan_inputs[] = {{"values", NULL, PW_FORMAL_VARIADIC}, {0}};
static const struct pw_formal scan_outputs[] = {{"results", NULL, PW_FORMAL_VARIADIC}, {0}};

#define CONTROL(op, version, table, in, outs, infer_fn, run_fn)                                                        \
    {                                                                                                                  \
        .domain = "", .name = op, .since = version, .category = PW_CATEGORY_CONTROL, .attrs = table, .inputs = in,     \
        .outputs = outs, .host_only = HOST, .infer = infer_fn, .cost = pw_cost_none, .accuracy = control_accuracy,     \
        .golden = run_fn, .fast = run_fn                                                                               \
    }
#define IF(version) CONTROL("If", version, if_attrs, if_inputs, if_outputs, pw_if_infer, pw_if_run)
#define LOOP(version) CONTROL("Loop", version, loop_attrs, loop_inputs, loop_outputs, pw_loop_infer, pw_loop_run)
#define SCAN(version) CONTROL("Scan", version, scan_attrs, scan_inputs, scan_outputs, pw_scan_infer, pw_scan_run)

const struct pw_op pw_control_ops[] = {
    IF(1),
    IF(11),
    IF(13),
    IF(16),
    IF(19),
    IF(21),
    IF(23),
    IF(24),
    IF(25),
    LOOP(1),
    LOOP(11),
    LOOP(13),
    LOOP(16),
    LOOP(19),
    LOOP(21),
    LOOP(23),
    LOOP(24),
    LOOP(25),
    CONTROL("Scan", 8, scan_8_attrs, scan_8_inputs, scan_outputs, pw_scan_8_infer, pw_scan_8_run),
    SCAN(9),
    SCAN(11),
    SCAN(16),
    SCAN(19),
    SCAN(21),
    SCAN(23),
    SCAN(24),
    SCAN(25),
    {0},
};
