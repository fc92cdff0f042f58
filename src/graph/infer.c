/* The walk: scopes, nodes in order, subgraphs on behalf of the operators that own them. */
#include "graph/infer.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "graph/infer_internal.h"

#define STACK_INPUTS 16
#define STACK_OUTPUTS 4

/* ---- scopes ---- */

struct pw_infer_scope *pw_infer_scope_of(const struct pw_inference *inf, const struct pw_graph *graph)
{
    size_t at;

    if (inf->scope_count > 0 && inf->scopes[0].graph == graph)
        return &inf->scopes[0];
    if (!pw_map_get(&inf->scope_of, (const char *)&graph, sizeof graph, &at))
        return NULL;
    return &inf->scopes[at];
}

static pw_status add_scope(struct pw_inference *inf, const struct pw_graph *graph, size_t *next_node,
                           struct pw_error *err)
{
    struct pw_infer_scope *scope;
    pw_status status = PW_GROW(inf->scopes, inf->scope_cap, inf->scope_count + 1, err);

    if (status != PW_OK)
        return status;
    scope = &inf->scopes[inf->scope_count];
    *scope = (struct pw_infer_scope){.graph = graph, .node_base = *next_node};
    scope->infos = pw_calloc(graph->value_count, sizeof *scope->infos);
    if (scope->infos == NULL)
        return pw_error_memory(err, graph->value_count * sizeof *scope->infos);
    *next_node += graph->node_count;
    return pw_map_set(&inf->scope_of, (const char *)&graph, sizeof graph, inf->scope_count++, err);
}

/* Scopes of a graph and of all graphs in its nodes' attributes; the list of scopes is the queue. */
static pw_status add_scopes(struct pw_inference *inf, struct pw_error *err)
{
    size_t next_node = 0;
    pw_status status = add_scope(inf, inf->model->graph, &next_node, err);

    for (size_t s = 0; s < inf->scope_count && status == PW_OK; s++) {
        const struct pw_graph *graph = inf->scopes[s].graph;

        for (size_t n = 0; n < graph->node_count; n++) {
            const struct pw_node *node = &graph->nodes[n];

            for (size_t a = 0; a < node->attr_count && status == PW_OK; a++) {
                const struct pw_attr *attr = &node->attrs[a];

                if (attr->type == PW_ATTR_GRAPH && attr->graph != NULL)
                    status = add_scope(inf, attr->graph, &next_node, err);
                for (size_t g = 0; attr->type == PW_ATTR_GRAPHS && g < attr->count && status == PW_OK; g++)
                    status = add_scope(inf, attr->graphs[g], &next_node, err);
            }
        }
    }
    return status;
}

/* ---- one node ---- */

static pw_status infer_subgraph(struct pw_call *call, const struct pw_graph *graph, const struct pw_info *args,
                                size_t arg_count, struct pw_info *results, struct pw_error *err);

static const struct pw_info nothing_known = {.rank = -1};

static const struct pw_info *info_at(const struct pw_infer_scope *scope, pw_value_id id)
{
    if (id == PW_NO_VALUE)
        return NULL;
    return scope->infos[id] != NULL ? scope->infos[id] : &nothing_known;
}

static bool has_subgraph(const struct pw_node *node)
{
    for (size_t a = 0; a < node->attr_count; a++) {
        if (node->attrs[a].type == PW_ATTR_GRAPH || node->attrs[a].type == PW_ATTR_GRAPHS)
            return true;
    }
    return false;
}

/* Bodies that the operator did not ask for (an unknown operator, the branch not taken) are inferred from what they
 * declare, so that the inventory knows their shapes too. What goes wrong in them stays unknown: they may never run. */
static void infer_unasked(struct pw_inference *inf, const struct pw_node *node)
{
    for (size_t a = 0; a < node->attr_count; a++) {
        const struct pw_attr *attr = &node->attrs[a];
        size_t count = attr->type == PW_ATTR_GRAPHS ? attr->count : attr->type == PW_ATTR_GRAPH ? 1 : 0;

        for (size_t g = 0; g < count; g++) {
            const struct pw_graph *graph = attr->type == PW_ATTR_GRAPHS ? attr->graphs[g] : attr->graph;
            struct pw_infer_scope *scope = graph != NULL ? pw_infer_scope_of(inf, graph) : NULL;
            struct pw_call call = {.user = inf};
            struct pw_error ignored = {0};

            if (scope != NULL && !scope->entered)
                (void)infer_subgraph(&call, graph, NULL, 0, NULL, &ignored);
        }
    }
}

/* The same in every run: made from constants alone, by an operator that has no state and draws nothing. */
static bool is_fixed(const struct pw_call *call, bool subgraph)
{
    if (subgraph || call->op == NULL || pw_call_draws(call))
        return false;
    for (int i = 0; i < call->input_count; i++) {
        if (call->in[i] != NULL && !call->in[i]->fixed)
            return false;
    }
    return true;
}

/* Rooms compute extents from attributes and contents that a file may hold anything in. */
static pw_status check_outputs(const struct pw_call *call, struct pw_error *err)
{
    int64_t size;

    for (int i = 0; i < call->output_count; i++) {
        const struct pw_info *info = &call->out[i];

        if (info->rank > PW_MAX_RANK)
            return pw_call_error(call, err, "output %d has rank %d, at most %d is supported", i, info->rank,
                                 PW_MAX_RANK);
        for (int d = 0; d < info->rank; d++) {
            if (pw_dims_value(call->dims, info->dims[d], &size) && size < 0)
                return pw_call_error(call, err, "dim %d of output %d becomes %" PRId64, d, i, size);
        }
    }
    return PW_OK;
}

static pw_status run_op(struct pw_inference *inf, struct pw_call *call, bool subgraph, struct pw_error *err)
{
    pw_status status = pw_op_check(call->op, call->node, err);

    if (status == PW_OK)
        status = pw_op_check_call(call, err);
    if (status == PW_OK)
        status = call->op->infer(call, err);
    if (status == PW_OK)
        status = check_outputs(call, err);
    if (status == PW_OK && !subgraph)
        status = pw_infer_fold(inf, call, err);
    return status;
}

/* A room's message may lack the node; the file is added once, at the top. */
static void name_node(const struct pw_node *node, struct pw_error *err)
{
    char where[256];

    if (err == NULL || err->message[0] == '\0')
        return;
    if (!pw_text_starts(err->message, "graph '"))
        pw_error_prefix(err, "%s", pw_node_where(node, where, sizeof where));
}

static pw_status store_outputs(struct pw_inference *inf, struct pw_infer_scope *scope, const struct pw_node *node,
                               struct pw_info *out, bool fixed, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (size_t i = 0; i < node->output_count && status == PW_OK; i++) {
        pw_value_id id = node->outputs[i];

        if (id == PW_NO_VALUE)
            continue;
        if (out[i].kind == PW_VALUE_NONE && !out[i].optional)
            out[i].rank = -1;
        out[i].fixed = fixed;
        status = pw_infer_merge_declared(inf, scope->graph, id, &out[i], err);
        if (status == PW_OK)
            status = pw_infer_check_size(inf->dims, &out[i], "output", i, err);
        if (status == PW_OK)
            status = pw_infer_keep(inf, scope, id, &out[i], err);
    }
    return status;
}

static pw_status infer_node(struct pw_inference *inf, struct pw_infer_scope *scope, const struct pw_node *node,
                            struct pw_error *err)
{
    const struct pw_info *few_in[STACK_INPUTS];
    struct pw_info few_out[STACK_OUTPUTS];
    bool few_wanted[STACK_OUTPUTS];
    struct pw_call call = {.op = node->op,
                           .node = node,
                           .input_count = (int)node->input_count,
                           .output_count = (int)node->output_count,
                           .dims = inf->dims,
                           .arena = pw_infer_scratch(inf),
                           .infer_graph = infer_subgraph,
                           .user = inf};
    bool many_in = node->input_count > STACK_INPUTS, many_out = node->output_count > STACK_OUTPUTS;
    const struct pw_info **in = many_in ? pw_calloc(node->input_count, sizeof *in) : few_in;
    struct pw_info *out = many_out ? pw_calloc(node->output_count, sizeof *out) : few_out;
    bool *wanted = many_out ? pw_calloc(node->output_count, sizeof *wanted) : few_wanted;
    bool subgraph = has_subgraph(node), fixed = false;
    pw_status status = PW_OK;

    if (in == NULL || out == NULL || wanted == NULL) {
        status = pw_error_memory(err, node->input_count * sizeof *in + node->output_count * sizeof *out);
        goto done;
    }
    for (size_t i = 0; i < node->input_count; i++)
        in[i] = info_at(scope, node->inputs[i]);
    for (size_t i = 0; i < node->output_count; i++) {
        out[i] = (struct pw_info){.rank = -1};
        wanted[i] = node->outputs[i] != PW_NO_VALUE;
    }
    call.in = in;
    call.out = out;
    call.wanted = wanted;
    inf->steps++;
    if (node->op != NULL)
        status = run_op(inf, &call, subgraph, err);
    fixed = status == PW_OK && is_fixed(&call, subgraph);
    if (status == PW_OK && subgraph)
        infer_unasked(inf, node);
    if (status == PW_OK)
        status = store_outputs(inf, scope, node, out, fixed, err);
    if (status != PW_OK)
        name_node(node, err);
    pw_arena_reset(pw_infer_scratch(inf));
done:
    if (many_in)
        pw_free(in);
    if (many_out) {
        pw_free(out);
        pw_free(wanted);
    }
    return status;
}

/* ---- one graph ---- */

/* Constants, captured values; the rest is unknown until its node is reached. */
static pw_status infer_given(struct pw_inference *inf, struct pw_infer_scope *scope, struct pw_error *err)
{
    const struct pw_graph *graph = scope->graph;
    struct pw_infer_scope *outer = graph->parent != NULL ? pw_infer_scope_of(inf, graph->parent) : NULL;
    pw_status status = PW_OK;

    for (size_t i = 0; i < graph->value_count && status == PW_OK; i++) {
        const struct pw_graph_value *value = &graph->values[i];

        if (value->initializer != NULL) {
            struct pw_info info;

            status = pw_infer_from_tensor(inf, value->initializer, &info, err);
            if (status == PW_OK)
                status = pw_infer_keep(inf, scope, (pw_value_id)i, &info, err);
            pw_arena_reset(pw_infer_scratch(inf));
        } else if (value->sparse != NULL) {
            struct pw_info info = {.kind = PW_VALUE_TENSOR, .dtype = value->sparse->values.dtype, .fixed = true};

            info.rank = value->sparse->rank;
            for (int d = 0; d < info.rank; d++)
                info.dims[d] = value->sparse->dims[d];
            status = pw_infer_keep(inf, scope, (pw_value_id)i, &info, err);
        } else if (value->outer != NULL && outer != NULL) {
            scope->infos[i] = outer->infos[value->outer - outer->graph->values];
        } else if (scope->entered) {
            scope->infos[i] = NULL;
        }
    }
    return status;
}

static pw_status infer_scope(struct pw_inference *inf, struct pw_infer_scope *scope, struct pw_error *err)
{
    pw_status status = PW_OK;

    scope->entered = true;
    for (size_t n = 0; n < scope->graph->node_count && status == PW_OK; n++) {
        status = pw_progress_step(1, err);
        if (status == PW_OK)
            status = infer_node(inf, scope, &scope->graph->nodes[n], err);
    }
    return status;
}

/* Formal inputs of a subgraph: what is passed, refined by what is declared. */
static pw_status bind_arguments(struct pw_inference *inf, struct pw_infer_scope *scope, const struct pw_info *args,
                                size_t arg_count, struct pw_error *err)
{
    const struct pw_graph *graph = scope->graph;
    size_t next = 0;
    pw_status status = PW_OK;

    for (size_t i = 0; i < graph->input_count && status == PW_OK; i++) {
        pw_value_id id = graph->inputs[i];
        struct pw_info info = {.rank = -1};

        if (graph->values[id].initializer != NULL || graph->values[id].sparse != NULL)
            continue;
        if (next < arg_count)
            info = args[next++];
        status = pw_infer_merge_declared(inf, graph, id, &info, err);
        if (status == PW_OK)
            status = pw_infer_keep(inf, scope, id, &info, err);
    }
    if (status == PW_OK && next < arg_count)
        return pw_error_set(err, PW_ERR_MODEL, "graph '%s' takes %zu inputs, but %zu are passed", graph->name, next,
                            arg_count);
    return status;
}

static pw_status infer_subgraph(struct pw_call *call, const struct pw_graph *graph, const struct pw_info *args,
                                size_t arg_count, struct pw_info *results, struct pw_error *err)
{
    struct pw_inference *inf = call->user;
    struct pw_infer_scope *scope = pw_infer_scope_of(inf, graph);
    pw_status status = PW_OK;

    if (scope == NULL || inf->depth >= PW_INFER_MAX_DEPTH)
        return pw_error_set(err, PW_ERR_MODEL, "subgraph '%s' is nested too deeply", graph->name);
    if (inf->steps < inf->step_limit) { /* beyond it, what an earlier pass found stays */
        inf->depth++;
        status = infer_given(inf, scope, err);
        if (status == PW_OK)
            status = bind_arguments(inf, scope, args, arg_count, err);
        if (status == PW_OK)
            status = infer_scope(inf, scope, err);
        inf->depth--;
    }
    /* A branch that the data may never take: what goes wrong in it (a model for another rate) is no reason to
     * refuse the rest. */
    if (status == PW_ERR_MODEL && results != NULL && call->node != NULL && strcmp(call->node->op_type, "If") == 0 &&
        (call->input_count < 1 || call->in[0] == NULL || call->in[0]->constant == NULL)) {
        pw_error_clear(err);
        for (size_t i = 0; i < graph->output_count; i++)
            results[i] = (struct pw_info){.rank = -1};
        return PW_OK;
    }
    for (size_t i = 0; results != NULL && status == PW_OK && i < graph->output_count; i++)
        results[i] = *info_at(scope, graph->outputs[i]);
    return status;
}

/* ---- public ---- */

static pw_status copy_bindings(struct pw_inference *inf, const struct pw_binding *bindings, size_t count,
                               struct pw_error *err)
{
    struct pw_binding *copy = pw_arena_alloc(&inf->arena, count, sizeof *copy);

    if (copy == NULL)
        return pw_error_memory(err, count * sizeof *copy);
    for (size_t i = 0; i < count; i++) {
        copy[i].value = bindings[i].value;
        copy[i].name = pw_arena_strndup(&inf->arena, bindings[i].name, strlen(bindings[i].name));
        if (copy[i].name == NULL)
            return pw_error_memory(err, strlen(bindings[i].name));
    }
    inf->bindings = copy;
    inf->binding_count = count;
    return PW_OK;
}

pw_status pw_infer_graph(const struct pw_model *model, const struct pw_binding *bindings, size_t binding_count,
                         struct pw_inference **out, struct pw_error *err)
{
    struct pw_inference *inf = pw_calloc(1, sizeof *inf);
    pw_status status = PW_OK;

    if (inf == NULL)
        return pw_error_memory(err, sizeof *inf);
    inf->model = model;
    inf->fold_flops = 200 * 1000 * 1000;
    status = pw_dims_create(&inf->dims, err);
    if (status == PW_OK)
        status = copy_bindings(inf, bindings, binding_count, err);
    if (status == PW_OK)
        status = add_scopes(inf, err);
    if (status != PW_OK)
        goto done;
    for (size_t s = 0; s < inf->scope_count; s++)
        inf->step_limit += inf->scopes[s].graph->node_count;
    pw_progress_phase("inferring shapes", "nodes", inf->step_limit);
    inf->step_limit = inf->step_limit * 8 + 100000;
    status = pw_infer_check_bindings(inf, err);
    if (status == PW_OK)
        status = infer_given(inf, &inf->scopes[0], err);
    if (status == PW_OK)
        status = pw_infer_inputs(inf, err);
    if (status == PW_OK)
        status = infer_scope(inf, &inf->scopes[0], err);
    if (status == PW_OK)
        status = pw_infer_report_conflicts(inf, err);
    if (status != PW_OK)
        goto done;
    pw_infer_done(inf);
    *out = inf;
    inf = NULL;
done:
    if (status != PW_OK && model->path != NULL && model->path[0] != '\0') {
        char shown[200];

        pw_error_prefix(err, "%s", pw_text_show(shown, sizeof shown, model->path, 160));
    }
    pw_inference_destroy(inf);
    return status;
}

void pw_inference_destroy(struct pw_inference *inference)
{
    if (inference == NULL)
        return;
    for (size_t s = 0; s < inference->scope_count; s++)
        pw_free(inference->scopes[s].infos);
    pw_infer_done(inference);
    pw_free(inference->scopes);
    pw_map_clear(&inference->scope_of);
    pw_dims_destroy(inference->dims);
    pw_arena_clear(&inference->arena);
    pw_free(inference);
}

const struct pw_info *pw_inference_at(const struct pw_inference *inference, const struct pw_graph *graph,
                                      pw_value_id id)
{
    const struct pw_infer_scope *scope = pw_infer_scope_of(inference, graph);

    return scope == NULL || id >= graph->value_count ? &nothing_known : info_at(scope, id);
}

struct pw_dims *pw_inference_dims(const struct pw_inference *inference)
{
    return inference->dims;
}

const struct pw_binding *pw_inference_bindings(const struct pw_inference *inference, size_t *count)
{
    *count = inference->binding_count;
    return inference->bindings;
}

size_t pw_inference_graph_count(const struct pw_inference *inference)
{
    return inference->scope_count;
}

const struct pw_graph *pw_inference_graph(const struct pw_inference *inference, size_t i)
{
    return inference->scopes[i].graph;
}

size_t pw_inference_node_number(const struct pw_inference *inference, const struct pw_node *node)
{
    const struct pw_infer_scope *scope = pw_infer_scope_of(inference, node->graph);

    return scope == NULL ? SIZE_MAX : scope->node_base + node->index;
}

pw_status pw_inference_call(const struct pw_inference *inference, const struct pw_node *node, struct pw_call *call,
                            struct pw_error *err)
{
    struct pw_arena *arena = &((struct pw_inference *)(uintptr_t)inference)->arena;

    return pw_inference_call_in(inference, node, arena, inference->dims, call, err);
}

pw_status pw_inference_call_in(const struct pw_inference *inference, const struct pw_node *node, struct pw_arena *arena,
                               struct pw_dims *dims, struct pw_call *call, struct pw_error *err)
{
    const struct pw_infer_scope *scope = pw_infer_scope_of(inference, node->graph);
    struct pw_call made = {.op = node->op, .node = node, .dims = dims, .arena = arena};
    const struct pw_info **in = pw_arena_alloc(arena, node->input_count + 1, sizeof *in);
    bool *wanted = pw_arena_alloc(arena, node->output_count + 1, sizeof *wanted);

    made.out = pw_arena_alloc(arena, node->output_count + 1, sizeof *made.out);
    if (scope == NULL)
        return pw_error_set(err, PW_ERR_INTERNAL, "a node of another model was asked for");
    if (in == NULL || wanted == NULL || made.out == NULL)
        return pw_error_memory(err, node->output_count * sizeof *made.out);
    for (size_t i = 0; i < node->input_count; i++)
        in[i] = info_at(scope, node->inputs[i]);
    for (size_t i = 0; i < node->output_count; i++) {
        wanted[i] = node->outputs[i] != PW_NO_VALUE;
        made.out[i] = wanted[i] ? *info_at(scope, node->outputs[i]) : (struct pw_info){.rank = -1};
    }
    made.in = in;
    made.wanted = wanted;
    made.input_count = (int)node->input_count;
    made.output_count = (int)node->output_count;
    *call = made;
    return PW_OK;
}
