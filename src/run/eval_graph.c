/*
 * Running a graph: values live in a frame's slots, indexed by value id, from the node that makes them
 * to the last one that reads them (captures by subgraphs count as reads of the node that owns them).
 * Initializers are brought into their carrier when first read and freed with the rest, so a model
 * never sits in memory twice as a whole. Subgraphs run in frames of their own and look captured values
 * up through the parent frames.
 */
#include "base/mem.h"
#include "base/text.h"
#include "run/eval_internal.h"
#include "run/liveness.h"

/* ---- liveness ---- */

struct release {
    struct pw_eval_frame *frame;
    size_t node;
};

static void release_read(void *user, pw_value_id id)
{
    const struct release *release = user;

    if (release->frame->last_use[id] == release->node)
        pw_value_clear(&release->frame->values[id]);
}

/* ---- reading values ---- */

static pw_status fill_from_initializer(struct pw_eval_frame *frame, const struct pw_graph_value *value,
                                       struct pw_value *slot, struct pw_error *err)
{
    struct pw_value nominal = {0};
    struct pw_value made = {0};
    pw_status status = PW_OK;

    if (value->initializer != NULL) {
        pw_value_borrow(&nominal, value->initializer);
        return pw_eval_flow(frame->context, slot, &nominal, err);
    }
    nominal.kind = PW_VALUE_TENSOR;
    status = pw_sparse_to_tensor(value->sparse, &nominal.tensor, err);
    if (status == PW_OK)
        status = pw_eval_flow(frame->context, &made, &nominal, err);
    if (status == PW_OK && !made.tensor.owned)
        *slot = nominal; /* `made` only looks at it */
    else
        pw_value_clear(&nominal);
    if (status == PW_OK && made.tensor.owned)
        *slot = made;
    return status;
}

/* The value behind an id, through captures. *out is NULL only on failure. */
static pw_status read_value(struct pw_eval_frame *frame, pw_value_id id, const struct pw_value **out,
                            struct pw_error *err)
{
    const struct pw_graph_value *value = &frame->graph->values[id], *origin;
    struct pw_value *slot = &frame->values[id];
    struct pw_eval_frame *parent = frame->parent;
    char shown[160];
    pw_status status = PW_OK;

    if (slot->kind != PW_VALUE_NONE || ((value->is_input || value->producer != NULL) && value->initializer == NULL)) {
        *out = slot;
        return PW_OK;
    }
    if (value->outer != NULL && parent != NULL && parent->values != NULL) {
        size_t outer = (size_t)(value->outer - parent->graph->values);

        if (outer < parent->graph->value_count)
            return read_value(parent, (pw_value_id)outer, out, err);
    }
    for (origin = value; origin->outer != NULL && origin->initializer == NULL && origin->sparse == NULL;)
        origin = origin->outer;
    if (origin->initializer == NULL && origin->sparse == NULL)
        return pw_error_set(err, PW_ERR_MODEL, "graph '%s': value '%s' is not available here",
                            pw_text_show(shown, sizeof shown / 2, frame->graph->name, 60),
                            pw_text_show(shown + 80, sizeof shown / 2, value->name, 60));
    status = fill_from_initializer(frame, origin, slot, err);
    if (status == PW_OK)
        *out = slot;
    return status;
}

/* ---- running ---- */

struct operands { /* reused from node to node */
    const struct pw_value **inputs;
    size_t input_cap;
    struct pw_value *outputs;
    size_t output_cap;
};

static pw_status run_one(struct pw_eval_frame *frame, const struct pw_node *node, struct operands *operands,
                         struct pw_error *err)
{
    pw_status status = PW_GROW(operands->inputs, operands->input_cap, node->input_count + 1, err);

    if (status == PW_OK)
        status = PW_GROW(operands->outputs, operands->output_cap, node->output_count + 1, err);
    if (status != PW_OK)
        return status;
    for (size_t i = 0; i < node->input_count && status == PW_OK; i++) {
        operands->inputs[i] = NULL;
        if (node->inputs[i] != PW_NO_VALUE)
            status = read_value(frame, node->inputs[i], &operands->inputs[i], err);
    }
    if (status != PW_OK)
        return status;
    for (size_t i = 0; i < node->output_count; i++)
        operands->outputs[i] = (struct pw_value){0};
    status = pw_eval_run_node(frame, node, operands->inputs, operands->outputs, err);
    for (size_t i = 0; i < node->output_count; i++) {
        pw_value_id id = node->outputs[i];

        if (status == PW_OK && id != PW_NO_VALUE && frame->last_use[id] != PW_LIVENESS_NEVER)
            frame->values[id] = operands->outputs[i];
        else
            pw_value_clear(&operands->outputs[i]);
    }
    return status;
}

static pw_status run_nodes(struct pw_eval_frame *frame, struct pw_error *err)
{
    struct operands operands = {0};
    pw_status status = PW_OK;

    for (size_t n = 0; n < frame->graph->node_count && status == PW_OK; n++) {
        const struct pw_node *node = &frame->graph->nodes[n];
        struct release release = {frame, n};

        status = run_one(frame, node, &operands, err);
        for (size_t i = 0; i < node->input_count && status == PW_OK; i++) {
            if (node->inputs[i] != PW_NO_VALUE)
                release_read(&release, node->inputs[i]);
        }
        if (status == PW_OK)
            pw_liveness_captures(frame->graph, node, release_read, &release);
    }
    pw_free(operands.inputs);
    pw_free(operands.outputs);
    return status;
}

/* Moves or copies the outputs out of the frame. */
static pw_status take_results(struct pw_eval_frame *frame, struct pw_value *results, struct pw_error *err)
{
    const struct pw_graph *graph = frame->graph;
    pw_status status = PW_OK;

    for (size_t o = 0; o < graph->output_count; o++)
        frame->last_use[graph->outputs[o]] = 0;
    for (size_t o = 0; o < graph->output_count; o++)
        frame->last_use[graph->outputs[o]]++; /* from here on: outputs that still want it */
    for (size_t o = 0; o < graph->output_count && status == PW_OK; o++) {
        pw_value_id id = graph->outputs[o];
        const struct pw_value *value = NULL;

        status = read_value(frame, id, &value, err);
        if (status != PW_OK)
            break;
        if (value == &frame->values[id] && value->tensor.owned && --frame->last_use[id] == 0) {
            results[o] = *value;
            frame->values[id] = (struct pw_value){0};
        } else {
            status = pw_value_copy(&results[o], value, err);
        }
    }
    return status;
}

/* args: by position of the graph's inputs; NULL = not given. */
static pw_status run_frame(struct pw_eval_frame *frame, const struct pw_value *const *args, struct pw_value *results,
                           struct pw_error *err)
{
    const struct pw_graph *graph = frame->graph;
    pw_status status = PW_OK;

    if (frame->context->nesting >= PW_EVAL_MAX_NESTING)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "graphs nested more than %d deep", PW_EVAL_MAX_NESTING);
    frame->context->nesting++;
    frame->values = pw_calloc(graph->value_count, sizeof *frame->values);
    frame->last_use = pw_calloc(graph->value_count, sizeof *frame->last_use);
    if (frame->values == NULL || frame->last_use == NULL) {
        status = pw_error_memory(err, graph->value_count * sizeof *frame->values);
        goto done;
    }
    pw_liveness_find(graph, frame->last_use);
    for (size_t i = 0; i < graph->input_count && status == PW_OK; i++) {
        if (args[i] != NULL && frame->last_use[graph->inputs[i]] != PW_LIVENESS_NEVER)
            status = pw_eval_flow(frame->context, &frame->values[graph->inputs[i]], args[i], err);
    }
    if (status == PW_OK)
        status = run_nodes(frame, err);
    if (status == PW_OK)
        status = take_results(frame, results, err);
done:
    for (size_t o = 0; o < graph->output_count && status != PW_OK; o++)
        pw_value_clear(&results[o]);
    for (size_t v = 0; frame->values != NULL && v < graph->value_count; v++)
        pw_value_clear(&frame->values[v]);
    pw_free(frame->values);
    pw_free(frame->last_use);
    frame->context->nesting--;
    return status;
}

pw_status pw_eval_run_graph(struct pw_eval_frame *parent, const struct pw_graph *graph, const struct pw_value *args,
                            size_t arg_count, struct pw_value *results, struct pw_error *err)
{
    struct pw_eval_frame frame = {.context = parent->context, .graph = graph, .parent = parent};
    const struct pw_value **given = NULL;
    char shown[80];
    pw_status status = PW_OK;

    if (arg_count > graph->input_count)
        return pw_error_set(err, PW_ERR_MODEL, "graph '%s': %zu values given to %zu inputs",
                            pw_text_show(shown, sizeof shown, graph->name, 60), arg_count, graph->input_count);
    given = pw_calloc(graph->input_count, sizeof *given);
    if (given == NULL)
        return pw_error_memory(err, graph->input_count * sizeof *given);
    for (size_t i = 0; i < graph->input_count && status == PW_OK; i++) {
        const struct pw_graph_value *input = &graph->values[graph->inputs[i]];

        if (i < arg_count)
            given[i] = &args[i];
        else if (input->initializer == NULL && input->sparse == NULL)
            status = pw_error_set(err, PW_ERR_MODEL, "graph '%s': %zu values given to %zu inputs",
                                  pw_text_show(shown, sizeof shown, graph->name, 60), arg_count, graph->input_count);
    }
    if (status == PW_OK)
        status = run_frame(&frame, given, results, err);
    pw_free(given);
    return status;
}

/* Rounds a result in place. */
static pw_status round_result(struct pw_value *result, struct pw_error *err)
{
    struct pw_value rounded = {0};
    pw_status status;

    if (result->kind == PW_VALUE_TENSOR && result->tensor.dtype == result->tensor.nominal)
        return PW_OK;
    status = pw_eval_round(&rounded, result, err);
    if (status != PW_OK)
        return status;
    pw_value_clear(result);
    *result = rounded;
    return PW_OK;
}

pw_status pw_eval_graph(const struct pw_graph *graph, const struct pw_value *inputs, size_t input_count,
                        const struct pw_eval_options *options, struct pw_value *results, struct pw_error *err)
{
    struct pw_eval_context context = {.options = *options};
    struct pw_eval_frame frame = {.context = &context, .graph = graph};
    const struct pw_value **given = NULL;
    size_t next = 0;
    pw_status status = pw_dims_create(&context.dims, err);

    if (status != PW_OK)
        return status;
    status = pw_eval_check_inputs(graph, inputs, input_count, context.dims, err);
    if (status != PW_OK)
        goto done;
    given = pw_calloc(graph->input_count, sizeof *given);
    if (given == NULL) {
        status = pw_error_memory(err, graph->input_count * sizeof *given);
        goto done;
    }
    for (size_t i = 0; i < graph->input_count; i++) {
        const struct pw_graph_value *value = &graph->values[graph->inputs[i]];

        if (value->initializer == NULL && value->sparse == NULL)
            given[i] = &inputs[next++];
    }
    for (size_t o = 0; o < graph->output_count; o++)
        results[o] = (struct pw_value){0};
    status = run_frame(&frame, given, results, err);
    for (size_t o = 0; o < graph->output_count && status == PW_OK && !options->carried_results; o++)
        status = round_result(&results[o], err);
    for (size_t o = 0; o < graph->output_count && status != PW_OK; o++)
        pw_value_clear(&results[o]);
done:
    pw_free(given);
    pw_dims_destroy(context.dims);
    return status;
}
