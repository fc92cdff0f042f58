/*
 * The precision sweep: the whole graph in double once, then once for each layer and dtype with that layer alone in the
 * dtype (its floating inputs, what flows inside it and its outputs), on the target's kernel of the dtype where there
 * is one, else golden rounded. What arrives at the outputs is the layer's damage.
 *
 * What nodes of the main graph gave in the first run is kept (up to KEPT_BYTES): a node that nothing of the layer
 * reaches gives the same again and is not run anew.
 */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run/liveness.h"
#include "verify/divergence.h"
#include "verify/sweep.h"

#define KEPT_BYTES ((size_t)1 << 30)

static const pw_dtype sweep_dtypes[PW_SWEEP_DTYPES] = {PW_DTYPE_FLOAT16, PW_DTYPE_BFLOAT16, PW_DTYPE_FLOAT32};

struct sweep {
    const struct pw_endtoend_request *request;
    struct pw_arena arena;
    struct pw_target_eval target;
    struct pw_value *kept; /* by value id of the main graph: from the base run; NONE: not kept */
    size_t kept_bytes;
    bool *touched; /* by value id of the main graph: the layer reaches it */
    bool *ran;     /* by node number: in the base run */
    int *layer_of; /* by node number: layer, or -1 */
    struct pw_sweep_layer *layers;
    size_t layer_count;
    struct pw_value *base; /* outputs, carried */
    int current;           /* layer that is in `dtype`; -1: the base run */
    pw_dtype dtype;
    struct pw_sweep_cell *cell;
};

static size_t number_of(const struct sweep *sweep, const struct pw_node *node)
{
    return pw_inference_node_number(sweep->request->inventory->inference, node);
}

/* ---- running ---- */

static pw_dtype storage_of(void *user, const struct pw_node *node)
{
    const struct sweep *sweep = user;

    (void)node;
    return sweep->dtype;
}

static bool is_cancelled(const struct sweep *sweep)
{
    return sweep->request->cancel && *sweep->request->cancel;
}

/* A node of the layer in the dtype: carried values in, carried values out. */
static pw_status run_narrow(struct sweep *sweep, const struct pw_node *node, const struct pw_value *const *inputs,
                            int input_count, struct pw_value *outputs, int output_count, struct pw_error *err)
{
    struct pw_value *rounded = pw_calloc((size_t)input_count + 1, sizeof *rounded);
    const struct pw_value **in = pw_calloc((size_t)input_count + 1, sizeof *in);
    struct pw_target_step step;
    pw_status status = rounded && in ? PW_OK : pw_error_memory(err, (size_t)input_count * sizeof *rounded);

    for (int i = 0; i < input_count && status == PW_OK; i++)
        if (inputs[i]) {
            status = pw_eval_round(&rounded[i], inputs[i], err);
            in[i] = &rounded[i];
        }
    if (status == PW_OK)
        status = pw_target_eval_step(&sweep->target, node, in, input_count, outputs, output_count, 0, &step, err);
    if (status == PW_OK) {
        sweep->cell->on_target += step.on_target;
        sweep->cell->on_host += !step.on_target;
        if (step.note[0] && !sweep->cell->note[0])
            snprintf(sweep->cell->note, sizeof sweep->cell->note, "%.120s", step.note);
    }
    for (int o = 0; o < output_count && status == PW_OK; o++) {
        struct pw_value carried = {0}, copy = {0};

        status = pw_eval_carry(&carried, &outputs[o], PW_EVAL_GOLDEN, err);
        if (status == PW_OK)
            status = pw_value_copy(&copy, &carried, err);
        pw_value_clear(&carried);
        if (status != PW_OK)
            break;
        pw_value_clear(&outputs[o]);
        outputs[o] = copy;
    }
    for (int i = 0; rounded && i < input_count; i++)
        pw_value_clear(&rounded[i]);
    pw_free(rounded);
    pw_free(in);
    return status;
}

/* ---- what the layer does not reach ---- */

static void touch_capture(void *user, pw_value_id value)
{
    bool *const *state = user; /* touched, and whether any was */

    if (state[0][value])
        *state[1] = true;
}

/* Is the node of the main graph in the layer, or fed by what it reaches? Marks its outputs. */
static bool is_touched(struct sweep *sweep, const struct pw_node *node, size_t number)
{
    bool touched = sweep->layer_of[number] == sweep->current;
    bool *state[2] = {sweep->touched, &touched};

    for (size_t i = 0; i < node->input_count && !touched; i++)
        touched = node->inputs[i] != PW_NO_VALUE && sweep->touched[node->inputs[i]];
    if (pw_node_has_subgraph(node)) {
        pw_liveness_captures(node->graph, node, touch_capture, state);
        for (size_t n = 0; n < sweep->layers[sweep->current].node_count; n++)
            touched = touched || sweep->layers[sweep->current].nodes[n]->graph != node->graph;
    }
    for (size_t o = 0; o < node->output_count; o++)
        if (node->outputs[o] != PW_NO_VALUE)
            sweep->touched[node->outputs[o]] = touched;
    return touched;
}

/* Gives what the base run gave; false where something of it was not kept. */
static bool give_kept(struct sweep *sweep, const struct pw_node *node, struct pw_value *outputs, pw_status *status,
                      struct pw_error *err)
{
    for (size_t o = 0; o < node->output_count; o++)
        if (node->outputs[o] != PW_NO_VALUE && sweep->kept[node->outputs[o]].kind == PW_VALUE_NONE)
            return false;
    *status = PW_OK;
    for (size_t o = 0; o < node->output_count && *status == PW_OK; o++)
        if (node->outputs[o] != PW_NO_VALUE)
            *status = pw_value_view(&outputs[o], &sweep->kept[node->outputs[o]], err);
    return true;
}

static pw_status keep_outputs(void *user, const struct pw_node *node, const struct pw_value *const *inputs,
                              const struct pw_value *outputs, struct pw_error *err)
{
    struct sweep *sweep = user;
    pw_status status = PW_OK;

    (void)inputs;
    if (sweep->current >= 0 || node->graph != sweep->request->inventory->model->graph)
        return PW_OK;
    for (size_t o = 0; o < node->output_count && status == PW_OK; o++) {
        size_t bytes = pw_value_bytes(&outputs[o]);

        if (node->outputs[o] == PW_NO_VALUE || sweep->kept_bytes + bytes > KEPT_BYTES)
            continue;
        status = pw_value_copy(&sweep->kept[node->outputs[o]], &outputs[o], err);
        sweep->kept_bytes += bytes;
    }
    return status;
}

/* ---- one run ---- */

static pw_status on_node(void *user, const struct pw_node *node, const struct pw_value *const *inputs, int input_count,
                         struct pw_value *outputs, int output_count, bool *handled, struct pw_error *err)
{
    struct sweep *sweep = user;
    size_t number = number_of(sweep, node);

    *handled = false;
    if (is_cancelled(sweep))
        return pw_error_set(err, PW_ERR_CANCELLED, "cancelled");
    if (number >= sweep->request->inventory->node_number_count)
        return PW_OK;
    if (sweep->current < 0) {
        sweep->ran[number] = true;
        return PW_OK;
    }
    if (node->graph == sweep->request->inventory->model->graph && !is_touched(sweep, node, number)) {
        pw_status status = PW_OK;

        *handled = give_kept(sweep, node, outputs, &status, err);
        return status;
    }
    if (sweep->layer_of[number] != sweep->current)
        return PW_OK;
    *handled = true;
    return run_narrow(sweep, node, inputs, input_count, outputs, output_count, err);
}

static pw_status run_graph(struct sweep *sweep, struct pw_value *results, struct pw_error *err)
{
    const struct pw_endtoend_request *request = sweep->request;
    struct pw_eval_options options = {
        .mode = PW_EVAL_GOLDEN, .seed = request->seed, .replace = on_node, .carried_results = true, .user = sweep};

    if (sweep->current < 0)
        options.observe = keep_outputs;
    memset(sweep->touched, 0, request->inventory->model->graph->value_count * sizeof *sweep->touched);
    return pw_eval_graph(request->inventory->model->graph, request->inputs, request->input_count, &options, results,
                         err);
}

/* ---- layers ---- */

static int widest(const struct pw_inventory *inventory, size_t number)
{
    int pattern = inventory->node_pattern[number];

    for (int depth = 0; pattern >= 0 && inventory->patterns[pattern].parent >= 0 && depth < 8; depth++)
        pattern = inventory->patterns[pattern].parent;
    return pattern;
}

/* Does the node compute on floats? What only moves data has the dtype of its neighbours, and control flow none. */
static bool computes(const struct sweep *sweep, const struct pw_node *node, size_t number)
{
    const struct pw_inventory *inventory = sweep->request->inventory;
    int signature = inventory->node_signature[number];

    if (!sweep->ran[number] || signature < 0 || !node->op || node->op->random || pw_node_has_subgraph(node))
        return false;
    return inventory->signatures[signature].floating && !inventory->signatures[signature].shape_arithmetic &&
           inventory->signatures[signature].category != PW_CATEGORY_LAYOUT;
}

static const char *layer_name(struct sweep *sweep, int pattern, const struct pw_node *first)
{
    char name[160];

    if (first->name[0])
        pw_text_show(name, sizeof name, first->name, 100);
    else
        snprintf(name, sizeof name, "#%zu", first->index);
    if (pattern < 0)
        return first->name[0] ? pw_arena_strndup(&sweep->arena, first->name, strlen(first->name))
                              : pw_arena_printf(&sweep->arena, "#%zu %s", first->index, first->op_type);
    return pw_arena_printf(&sweep->arena, "%s at %s",
                           pw_pattern_name(sweep->request->inventory->patterns[pattern].kind), name);
}

static pw_status add_layer(struct sweep *sweep, int pattern, const struct pw_node *node, const struct pw_node **nodes,
                           size_t count, struct pw_error *err)
{
    struct pw_sweep_layer *layer = &sweep->layers[sweep->layer_count];

    *layer = (struct pw_sweep_layer){.pattern = pattern, .nodes = nodes, .node_count = count};
    layer->name = layer_name(sweep, pattern, node);
    if (!layer->name)
        return pw_error_memory(err, 64);
    if (sweep->request->layers && fnmatch(sweep->request->layers, layer->name, 0))
        return PW_OK;
    for (size_t i = 0; i < count; i++)
        sweep->layer_of[number_of(sweep, nodes[i])] = (int)sweep->layer_count;
    sweep->layer_count++;
    return PW_OK;
}

static pw_status visit_node(struct sweep *sweep, const struct pw_node *node, bool *taken, struct pw_error *err)
{
    const struct pw_inventory *inventory = sweep->request->inventory;
    size_t number = number_of(sweep, node);
    const struct pw_node **one;
    int pattern;

    if (number >= inventory->node_number_count || !computes(sweep, node, number))
        return PW_OK;
    pattern = widest(inventory, number);
    if (pattern >= 0) {
        const struct pw_pattern *p = &inventory->patterns[pattern];

        if (taken[pattern])
            return PW_OK;
        taken[pattern] = true;
        return add_layer(sweep, pattern, p->nodes[0], p->nodes, p->node_count, err);
    }
    one = pw_arena_alloc(&sweep->arena, 1, sizeof *one);
    if (!one)
        return pw_error_memory(err, sizeof *one);
    one[0] = node;
    return add_layer(sweep, -1, node, one, 1, err);
}

static pw_status find_layers(struct sweep *sweep, struct pw_error *err)
{
    const struct pw_inventory *inventory = sweep->request->inventory;
    bool *taken = pw_arena_alloc(&sweep->arena, inventory->pattern_count + 1, sizeof *taken);
    pw_status status = PW_OK;

    sweep->layers = pw_arena_alloc(&sweep->arena, inventory->node_number_count + 1, sizeof *sweep->layers);
    if (!taken || !sweep->layers)
        return pw_error_memory(err, inventory->node_number_count * sizeof *sweep->layers);
    for (size_t i = 0; i < inventory->node_number_count; i++)
        sweep->layer_of[i] = -1;
    for (size_t g = 0; g < pw_inference_graph_count(inventory->inference) && status == PW_OK; g++) {
        const struct pw_graph *graph = pw_inference_graph(inventory->inference, g);

        for (size_t n = 0; n < graph->node_count && status == PW_OK; n++)
            status = visit_node(sweep, &graph->nodes[n], taken, err);
    }
    if (status == PW_OK && !sweep->layer_count)
        status = sweep->request->layers
                     ? pw_error_set(err, PW_ERR_USAGE, "no layer's name fits '%s'", sweep->request->layers)
                     : pw_error_set(err, PW_ERR_USAGE, "nothing of the graph computes on floats");
    return status;
}

/* ---- damage ---- */

static pw_status measure(struct sweep *sweep, const struct pw_value *results, struct pw_error *err)
{
    const struct pw_graph *graph = sweep->request->inventory->model->graph;
    struct pw_sweep_cell *cell = sweep->cell;

    cell->ran = cell->held = true;
    for (size_t o = 0; o < graph->output_count; o++) {
        struct pw_comparison comparison;
        struct pw_buf why = {0};
        const struct pw_tolerance_rule *rule =
            pw_endtoend_rule(sweep->request->protocol, graph->values[graph->outputs[o]].name);
        double tolerance = rule ? rule->value : INFINITY, damage;
        pw_status status = pw_divergence_compare(&results[o], &sweep->base[o], tolerance, &comparison, &why, err);

        pw_buf_clear(&why);
        if (status != PW_OK)
            return status;
        damage = comparison.mismatches ? INFINITY : sqrt(comparison.nmse);
        cell->flips += comparison.mismatches;
        cell->held = cell->held && (rule ? comparison.over == 0 : damage <= pw_dtype_epsilon(sweep->dtype));
        cell->damage = damage > cell->damage ? damage : cell->damage;
        cell->max_error = comparison.max_error > cell->max_error ? comparison.max_error : cell->max_error;
    }
    return PW_OK;
}

static pw_status run_cell(struct sweep *sweep, struct pw_error *err)
{
    const struct pw_graph *graph = sweep->request->inventory->model->graph;
    struct pw_value *results = pw_calloc(graph->output_count + 1, sizeof *results);
    struct pw_error failure = {0};
    pw_status status = results ? PW_OK : pw_error_memory(err, graph->output_count * sizeof *results);

    if (status == PW_OK)
        status = run_graph(sweep, results, &failure);
    if (status == PW_OK)
        status = measure(sweep, results, err);
    else if (status == PW_ERR_NO_MEMORY || status == PW_ERR_CANCELLED)
        pw_error_set(err, status, "%s", failure.message);
    else { /* the layer does not run in this dtype: a finding */
        *sweep->cell = (struct pw_sweep_cell){.dtype = sweep->dtype, .damage = NAN, .max_error = NAN};
        snprintf(sweep->cell->note, sizeof sweep->cell->note, "%.120s", failure.message);
        status = PW_OK;
    }
    for (size_t o = 0; results && o < graph->output_count; o++)
        pw_value_clear(&results[o]);
    pw_free(results);
    return status;
}

static double rank_of(const struct pw_sweep_layer *layer)
{
    double worst = 0;

    for (int d = 0; d < PW_SWEEP_DTYPES; d++)
        if (layer->cells[d].dtype != PW_DTYPE_FLOAT32 && layer->cells[d].ran && layer->cells[d].damage > worst)
            worst = layer->cells[d].damage;
    return worst;
}

static void emit(const struct sweep *sweep, pw_endtoend_event_kind kind, size_t done,
                 const struct pw_sweep_layer *layer)
{
    struct pw_endtoend_event event = {.kind = kind, .done = done, .total = sweep->layer_count, .layer = layer};

    if (sweep->request->emit)
        sweep->request->emit(sweep->request->user, &event);
}

static pw_status run_layers(struct sweep *sweep, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (size_t l = 0; l < sweep->layer_count && status == PW_OK; l++) {
        struct pw_sweep_layer *layer = &sweep->layers[l];

        sweep->current = (int)l;
        for (int d = 0; d < PW_SWEEP_DTYPES && status == PW_OK; d++) {
            sweep->cell = &layer->cells[d];
            sweep->cell->dtype = sweep->dtype = sweep_dtypes[d];
            status = run_cell(sweep, err);
        }
        layer->worst = rank_of(layer);
        if (status == PW_OK)
            emit(sweep, PW_ENDTOEND_LAYER, l + 1, layer);
    }
    return status;
}

pw_status pw_sweep_run(const struct pw_endtoend_request *request, struct pw_endtoend_totals *totals,
                       struct pw_error *err)
{
    size_t count = request->inventory->node_number_count;
    const struct pw_graph *graph = request->inventory->model->graph;
    struct sweep sweep = {.request = request, .current = -1};
    pw_status status = PW_OK;

    sweep.target = (struct pw_target_eval){.device = request->device,
                                           .kernels = request->kernels,
                                           .seed = request->seed,
                                           .storage = storage_of,
                                           .placement_user = &sweep,
                                           .cancel = request->cancel};
    sweep.ran = pw_arena_alloc(&sweep.arena, count + 1, sizeof *sweep.ran);
    sweep.layer_of = pw_arena_alloc(&sweep.arena, count + 1, sizeof *sweep.layer_of);
    sweep.base = pw_calloc(graph->output_count + 1, sizeof *sweep.base);
    sweep.touched = pw_arena_alloc(&sweep.arena, graph->value_count + 1, sizeof *sweep.touched);
    sweep.kept = pw_calloc(graph->value_count + 1, sizeof *sweep.kept);
    if (!sweep.touched || !sweep.kept || !sweep.ran || !sweep.layer_of || !sweep.base)
        status = pw_error_memory(err, count * sizeof *sweep.layer_of);
    if (status == PW_OK)
        status = run_graph(&sweep, sweep.base, err);
    if (status == PW_OK)
        status = find_layers(&sweep, err);
    if (status == PW_OK) {
        emit(&sweep, PW_ENDTOEND_STARTED, 0, NULL);
        status = run_layers(&sweep, err);
    }
    if (status == PW_OK) {
        totals->layers = sweep.layer_count;
        totals->held = true;
        emit(&sweep, PW_ENDTOEND_FINISHED, sweep.layer_count, NULL);
    }
    for (size_t o = 0; sweep.base && o < graph->output_count; o++)
        pw_value_clear(&sweep.base[o]);
    for (size_t v = 0; sweep.kept && v < graph->value_count; v++)
        pw_value_clear(&sweep.kept[v]);
    pw_free(sweep.kept);
    pw_free(sweep.base);
    pw_arena_clear(&sweep.arena);
    return status;
}
