/*
 * Both sides of a graph in step. A pair's values live from the node that makes them to the last one that reads them,
 * as in a plain evaluation (run/eval_graph.c); weights are brought into double when first read and freed with the rest.
 */
#include "verify/divergence.h"

#include <string.h>

#include "run/liveness.h"
#include "verify/verify.h"

#define MAX_NESTING 64

/* ---- pairs ---- */

size_t pw_value_bytes(const struct pw_value *value)
{
    size_t bytes = 0;

    if (value->kind == PW_VALUE_TENSOR)
        return value->tensor.owned ? pw_tensor_bytes(&value->tensor) : 0;
    for (size_t i = 0; i < value->count; i++)
        bytes += pw_value_bytes(&value->items[i]);
    return bytes;
}

static size_t nominal_bytes(const struct pw_value *value)
{
    size_t bytes = 0;

    if (value->kind == PW_VALUE_TENSOR)
        return (size_t)value->tensor.count * pw_dtype_bytes(value->tensor.nominal);
    for (size_t i = 0; i < value->count; i++)
        bytes += nominal_bytes(&value->items[i]);
    return bytes;
}

static void clear_unit(struct pw_pair *pair)
{
    if (pair->unit == NULL)
        return;
    pw_value_clear(&pair->unit->ref);
    pw_value_clear(&pair->unit->got);
    pw_free(pair->unit);
    pair->unit = NULL;
}

void pw_pair_clear(struct pw_pair *pair)
{
    pw_value_clear(&pair->ref);
    pw_value_clear(&pair->got);
    clear_unit(pair);
    *pair = (struct pw_pair){0};
}

void pw_divergence_peak(struct pw_divergence *run, size_t extra_bytes)
{
    int64_t bytes = run->now_bytes + (int64_t)extra_bytes;

    if (bytes > run->totals->peak_bytes)
        run->totals->peak_bytes = bytes;
    if (run->now_live > run->totals->live_bytes)
        run->totals->live_bytes = run->now_live;
}

const char *pw_divergence_text(struct pw_divergence *run, const char *text)
{
    const char *copy = pw_map_keep(&run->texts, text, strlen(text));

    return copy != NULL ? copy : "";
}

static size_t unit_bytes(const struct pw_pair *pair)
{
    return pair->unit == NULL ? 0 : pw_value_bytes(&pair->unit->ref) + pw_value_bytes(&pair->unit->got);
}

static void account(struct pw_divergence *run, struct pw_pair *pair, bool weight)
{
    pair->bytes = pw_value_bytes(&pair->ref) + pw_value_bytes(&pair->got) + unit_bytes(pair);
    pair->live = weight ? 0 : nominal_bytes(&pair->got);
    run->now_bytes += (int64_t)pair->bytes;
    run->now_live += (int64_t)pair->live;
    pw_divergence_peak(run, 0);
}

/* The pair of a value, made when there is none: few are there at a time. NULL when memory is short. */
static struct pw_pair *pair_at(struct pw_pair_frame *frame, pw_value_id id)
{
    if (frame->pairs[id] == NULL)
        frame->pairs[id] = pw_calloc(1, sizeof *frame->pairs[id]);
    return frame->pairs[id];
}

static void release(struct pw_pair_frame *frame, pw_value_id id)
{
    struct pw_pair *pair = frame->pairs[id];

    if (pair == NULL)
        return;
    frame->run->now_bytes -= (int64_t)pair->bytes;
    frame->run->now_live -= (int64_t)pair->live;
    pw_pair_clear(pair);
    pw_free(pair);
    frame->pairs[id] = NULL;
}

void pw_pair_drop_output(struct pw_pair_frame *frame, pw_value_id id)
{
    if (frame->pairs[id] == NULL)
        return;
    frame->pairs[id]->live = 0; /* a run of the graph has to keep it */
    release(frame, id);
}

void pw_pair_drop_unit(struct pw_divergence *run, struct pw_pair *pair)
{
    size_t bytes = unit_bytes(pair);

    clear_unit(pair);
    pair->bytes -= bytes;
    run->now_bytes -= (int64_t)bytes;
}

static pw_status copy_pair(struct pw_pair *dst, const struct pw_pair *src, struct pw_error *err)
{
    struct pw_pair made = *src;
    pw_status status;

    made.ref = made.got = (struct pw_value){0};
    made.unit = NULL;
    made.bytes = made.live = 0;
    status = pw_value_copy(&made.ref, &src->ref, err);
    if (status == PW_OK)
        status = pw_value_copy(&made.got, &src->got, err);
    if (status != PW_OK) {
        pw_pair_clear(&made);
        return status;
    }
    *dst = made;
    return PW_OK;
}

/* ---- reading values ---- */

static pw_status fill_from_initializer(struct pw_divergence *run, const struct pw_graph_value *value,
                                       struct pw_pair *pair, struct pw_error *err)
{
    struct pw_pair made = {.exact = true};
    pw_status status = PW_OK;

    made.got.kind = PW_VALUE_TENSOR;
    if (value->initializer == NULL)
        status = pw_sparse_to_tensor(value->sparse, &made.got.tensor, err);
    else if (pw_tensor_aligned(value->initializer))
        pw_value_borrow(&made.got, value->initializer);
    else
        status = pw_tensor_copy(&made.got.tensor, value->initializer, err);
    if (status == PW_OK)
        status = pw_eval_carry(&made.ref, &made.got, PW_EVAL_GOLDEN, err);
    if (status != PW_OK) {
        pw_pair_clear(&made);
        return status;
    }
    *pair = made;
    account(run, pair, true);
    return PW_OK;
}

pw_status pw_pair_read(struct pw_pair_frame *frame, pw_value_id id, struct pw_pair **out, struct pw_error *err)
{
    const struct pw_graph_value *value = &frame->graph->values[id], *origin;
    struct pw_pair *pair = frame->pairs[id];
    struct pw_pair_frame *parent = frame->parent;
    char graph[80], name[80];
    pw_status status;

    if ((pair != NULL && pair->got.kind != PW_VALUE_NONE) || frame->given[id] ||
        ((value->is_input || value->producer != NULL) && value->initializer == NULL)) {
        pair = pair_at(frame, id);
        if (pair == NULL)
            return pw_error_memory(err, sizeof *pair);
        *out = pair;
        return PW_OK;
    }
    if (value->outer != NULL && parent != NULL) {
        size_t outer = (size_t)(value->outer - parent->graph->values);

        if (outer < parent->graph->value_count)
            return pw_pair_read(parent, (pw_value_id)outer, out, err);
    }
    for (origin = value; origin->outer != NULL && origin->initializer == NULL && origin->sparse == NULL;)
        origin = origin->outer;
    if (origin->initializer == NULL && origin->sparse == NULL)
        return pw_error_set(err, PW_ERR_MODEL, "graph '%s': value '%s' is not available here",
                            pw_text_show(graph, sizeof graph, frame->graph->name, 60),
                            pw_text_show(name, sizeof name, value->name, 60));
    pair = pair_at(frame, id);
    status = pair == NULL ? pw_error_memory(err, sizeof *pair) : fill_from_initializer(frame->run, origin, pair, err);
    if (status == PW_OK)
        *out = pair;
    return status;
}

/* ---- running ---- */

struct operands { /* reused from node to node */
    struct pw_pair **in;
    size_t in_cap;
    struct pw_pair *out;
    size_t out_cap;
};

static bool cancelled(const struct pw_divergence *run)
{
    return run->request->cancel != NULL && *run->request->cancel;
}

static pw_status run_one(struct pw_pair_frame *frame, const struct pw_node *node, struct operands *operands,
                         struct pw_error *err)
{
    struct pw_divergence *run = frame->run;
    char where[256];
    pw_status status = PW_GROW(operands->in, operands->in_cap, node->input_count + 1, err);

    if (status == PW_OK)
        status = PW_GROW(operands->out, operands->out_cap, node->output_count + 1, err);
    for (size_t i = 0; i < node->input_count && status == PW_OK; i++) {
        operands->in[i] = NULL;
        if (node->inputs[i] != PW_NO_VALUE)
            status = pw_pair_read(frame, node->inputs[i], &operands->in[i], err);
    }
    if (status != PW_OK)
        return status;
    for (size_t i = 0; i < node->output_count; i++)
        operands->out[i] = (struct pw_pair){0};
    if (cancelled(run))
        return pw_error_set(err, PW_ERR_CANCELLED, "cancelled");
    status = pw_node_has_subgraph(node) ? pw_divergence_control(frame, node, operands->in, operands->out, err)
                                        : pw_divergence_node(run, node, operands->in, operands->out, err);
    for (size_t i = 0; i < node->output_count; i++) {
        pw_value_id id = node->outputs[i];
        bool wanted = status == PW_OK && id != PW_NO_VALUE && frame->last_use[id] != PW_LIVENESS_NEVER;
        struct pw_pair *pair = wanted ? pair_at(frame, id) : NULL;

        if (pair != NULL) {
            *pair = operands->out[i];
            account(run, pair, false);
        } else {
            pw_pair_clear(&operands->out[i]);
        }
        if (wanted && pair == NULL)
            status = pw_error_memory(err, sizeof *pair);
    }
    if (status == PW_OK)
        status = pw_divergence_placed(frame, node, err);
    if (status != PW_OK && status != PW_ERR_CANCELLED && err != NULL && !pw_text_starts(err->message, "graph "))
        pw_error_prefix(err, "%s", pw_node_where(node, where, sizeof where));
    return status;
}

struct released {
    struct pw_pair_frame *frame;
    size_t node;
};

static void release_read(void *user, pw_value_id id)
{
    const struct released *released = user;

    if (released->frame->last_use[id] == released->node)
        release(released->frame, id);
}

/* A node or pattern of the main graph runs once, and the totals only ask for what does not hold. */
static void forget(struct pw_divergence *run, struct pw_endtoend_node *row)
{
    const struct pw_inventory *inventory = run->request->inventory;
    const struct pw_node *node = row->node != NULL ? row->node : inventory->patterns[row->pattern].nodes[0];

    if (node->graph != run->main_graph || row->standing != PW_NODE_HELD || row->nonfinite_origin ||
        row->reference_nan || PW_GROW(run->spare, run->spare_cap, run->spare_count + 1, NULL) != PW_OK)
        return;
    if (row->node != NULL)
        run->rows[pw_inference_node_number(inventory->inference, node)] = NULL;
    else
        run->unit_rows[row->pattern] = NULL;
    run->spare[run->spare_count++] = row;
}

/* The rows that the last node of the main graph (and its bodies) brought. */
static void emit_pending(struct pw_divergence *run)
{
    struct pw_endtoend_event event = {
        .kind = PW_ENDTOEND_NODE, .done = run->done, .total = run->main_graph->node_count};

    for (size_t i = 0; i < run->pending_count; i++) {
        event.node = run->pending[i];
        if (run->request->emit != NULL && run->request->mode == PW_ENDTOEND_NODES)
            run->request->emit(run->request->user, &event);
        forget(run, run->pending[i]);
    }
    run->pending_count = 0;
}

/* Its row is never emitted. */
static void forget_constant(struct pw_divergence *run, const struct pw_node *node)
{
    struct pw_endtoend_node *row = run->rows[pw_inference_node_number(run->request->inventory->inference, node)];

    if (row != NULL && pw_divergence_is_constant(node))
        forget(run, row);
}

static pw_status run_nodes(struct pw_pair_frame *frame, struct pw_error *err)
{
    struct operands operands = {0};
    pw_status status = PW_OK;

    for (size_t n = 0; n < frame->graph->node_count && status == PW_OK; n++) {
        const struct pw_node *node = &frame->graph->nodes[n];
        struct released released = {frame, n};

        status = run_one(frame, node, &operands, err);
        for (size_t i = 0; i < node->input_count && status == PW_OK; i++) {
            if (node->inputs[i] != PW_NO_VALUE)
                release_read(&released, node->inputs[i]);
        }
        if (status == PW_OK)
            pw_liveness_captures(frame->graph, node, release_read, &released);
        if (status == PW_OK && frame->graph == frame->run->main_graph)
            status = pw_divergence_outputs_due(frame, n, err);
        if (status == PW_OK && frame->graph == frame->run->main_graph) {
            frame->run->done = n + 1;
            emit_pending(frame->run);
            forget_constant(frame->run, node);
        }
    }
    pw_free(operands.in);
    pw_free(operands.out);
    return status;
}

static bool owns(const struct pw_value *value)
{
    return value->kind == PW_VALUE_TENSOR && value->tensor.owned;
}

/* May the frame's pair of this output go over to its caller? Not when it looks at memory of somebody else's, nor when
 * the graph gives it once more: last_use has the last output of each value by now. */
static bool can_move(const struct pw_pair_frame *frame, size_t output, const struct pw_pair *pair)
{
    pw_value_id id = frame->graph->outputs[output];

    return frame->last_use[id] == output && frame->pairs[id] == pair && owns(&pair->got) && owns(&pair->ref);
}

static void move_pair(struct pw_divergence *run, struct pw_pair *dst, struct pw_pair *src)
{
    pw_pair_drop_unit(run, src);
    run->now_bytes -= (int64_t)src->bytes;
    run->now_live -= (int64_t)src->live;
    src->bytes = src->live = 0;
    *dst = *src;
    *src = (struct pw_pair){0};
}

static pw_status take_results(struct pw_pair_frame *frame, struct pw_pair *results, struct pw_error *err)
{
    const struct pw_graph *graph = frame->graph;
    pw_status status = PW_OK;

    for (size_t o = 0; o < graph->output_count; o++)
        frame->last_use[graph->outputs[o]] = o;
    for (size_t o = 0; o < graph->output_count && status == PW_OK; o++) {
        struct pw_pair *pair = NULL;

        if (graph == frame->run->main_graph && frame->run->verdicts[o] != NULL && !frame->run->keep_outputs)
            continue;

        status = pw_pair_read(frame, graph->outputs[o], &pair, err);
        if (status == PW_OK && can_move(frame, o, pair))
            move_pair(frame->run, &results[o], pair);
        else if (status == PW_OK)
            status = copy_pair(&results[o], pair, err);
    }
    return status;
}

/* The inputs' values, and frees the array: of very many inputs it takes as much as their pairs. */
static pw_status take_args(struct pw_pair_frame *frame, struct pw_pair **args, size_t arg_count, struct pw_error *err)
{
    const struct pw_graph *graph = frame->graph;

    for (size_t i = 0; i < arg_count && i < graph->input_count; i++) {
        pw_value_id id = graph->inputs[i];

        if ((*args)[i].got.kind == PW_VALUE_NONE || frame->last_use[id] == PW_LIVENESS_NEVER)
            continue;
        if (pair_at(frame, id) == NULL)
            return pw_error_memory(err, sizeof *frame->pairs[id]);
        *frame->pairs[id] = (*args)[i];
        frame->given[id] = true;
        (*args)[i] = (struct pw_pair){0};
        account(frame->run, frame->pairs[id], false);
    }
    for (size_t i = 0; i < arg_count; i++)
        pw_pair_clear(&(*args)[i]);
    pw_free(*args);
    *args = NULL;
    return PW_OK;
}

pw_status pw_divergence_graph(struct pw_divergence *run, struct pw_pair_frame *parent, const struct pw_graph *graph,
                              struct pw_pair **args, size_t arg_count, struct pw_pair *results, struct pw_error *err)
{
    struct pw_pair_frame frame = {.run = run, .graph = graph, .parent = parent};
    pw_status status = PW_OK;

    if (run->nesting >= MAX_NESTING)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "graphs nested more than %d deep", MAX_NESTING);
    run->nesting++;
    frame.pairs = pw_calloc(graph->value_count, sizeof *frame.pairs);
    frame.last_use = pw_calloc(graph->value_count, sizeof *frame.last_use);
    frame.given = pw_calloc(graph->value_count, sizeof *frame.given);
    if (frame.pairs == NULL || frame.last_use == NULL || frame.given == NULL) {
        status = pw_error_memory(err, graph->value_count * sizeof *frame.pairs);
        goto done;
    }
    pw_liveness_reads(graph, frame.last_use);
    if (graph == run->main_graph)
        status = pw_divergence_outputs_plan(run, frame.last_use, err);
    pw_liveness_keep_outputs(graph, frame.last_use);
    if (status == PW_OK)
        status = take_args(&frame, args, arg_count, err);
    if (status == PW_OK)
        status = run_nodes(&frame, err);
    if (status == PW_OK)
        status = take_results(&frame, results, err);
done:
    for (size_t o = 0; o < graph->output_count && status != PW_OK; o++)
        pw_pair_clear(&results[o]);
    for (size_t v = 0; frame.pairs != NULL && v < graph->value_count; v++)
        release(&frame, (pw_value_id)v);
    pw_free(frame.pairs);
    pw_free(frame.last_use);
    pw_free(frame.given);
    run->nesting--;
    return status;
}

/* ---- beginning and end ---- */

static const struct pw_signature *signature_of(const struct pw_divergence *run, const struct pw_node *node)
{
    const struct pw_inventory *inventory = run->request->inventory;
    size_t number = pw_inference_node_number(inventory->inference, node);

    if (number >= inventory->node_number_count || inventory->node_signature[number] < 0)
        return NULL;
    return &inventory->signatures[inventory->node_signature[number]];
}

static const char *stays_on_host(void *user, const struct pw_node *node)
{
    const struct pw_signature *signature = signature_of(user, node);

    return signature != NULL && signature->shape_arithmetic ? PW_IMPL_SHAPE_ARITHMETIC : NULL;
}

static pw_dtype storage_of(void *user, const struct pw_node *node)
{
    const struct pw_divergence *run = user;
    const struct pw_signature *signature = signature_of(run, node);
    struct pw_precision precision;

    pw_protocol_precision(run->request->protocol, node->name, node->op,
                          signature != NULL ? signature->dtype : PW_DTYPE_UNDEFINED, &precision);
    return precision.storage;
}

pw_status pw_divergence_init(struct pw_divergence *run, const struct pw_endtoend_request *request,
                             struct pw_endtoend_totals *totals, struct pw_error *err)
{
    const struct pw_inventory *inventory = request->inventory;

    run->request = request;
    run->totals = totals;
    run->main_graph = inventory->model->graph;
    run->target = (struct pw_target_eval){.device = request->device,
                                          .kernels = request->kernels,
                                          .seed = request->seed,
                                          .storage = storage_of,
                                          .host = stays_on_host,
                                          .placement_user = run,
                                          .cancel = request->cancel};
    run->rows = pw_arena_alloc(&run->arena, inventory->node_number_count + 1, sizeof *run->rows);
    run->unit_rows = pw_arena_alloc(&run->arena, inventory->pattern_count + 1, sizeof *run->unit_rows);
    if (run->rows == NULL || run->unit_rows == NULL)
        return pw_error_memory(err, inventory->node_number_count * sizeof *run->rows);
    return pw_divergence_units(run, err);
}

void pw_divergence_clear(struct pw_divergence *run)
{
    pw_divergence_units_clear(run);
    pw_free(run->pending);
    pw_free(run->spare);
    pw_map_clear(&run->texts);
    pw_arena_clear(&run->arena);
}
