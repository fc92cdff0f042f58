/* The inventory: nodes grouped into signatures, each with its figures and flags. */
#include "graph/inventory.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "graph/inventory_internal.h"
#include "graph/signature.h"

/* ---- grouping ---- */

struct grouping {
    struct pw_inventory *inventory;
    struct pw_map by_key, by_text; /* -> signature */
    struct pw_buf key, text;
    size_t cap;
};

/* A node whose key is new: the text decides whether it is a new signature. */
static pw_status add_by_text(struct grouping *g, const struct pw_node *node, size_t *index, struct pw_error *err)
{
    struct pw_inventory *inventory = g->inventory;
    struct pw_signature *signature;
    struct pw_signature *grown;
    pw_status status;

    g->text.size = 0;
    status = pw_signature_text(inventory->inference, node, &g->text, err);
    if (status != PW_OK || pw_map_get(&g->by_text, g->text.data, g->text.size, index))
        return status;
    if (inventory->signature_count == g->cap) {
        size_t cap = g->cap == 0 ? 64 : g->cap * 2;

        grown = pw_arena_alloc(&inventory->arena, cap, sizeof *grown);
        if (grown == NULL)
            return pw_error_memory(err, cap * sizeof *grown);
        if (g->cap > 0)
            memcpy(grown, inventory->signatures, g->cap * sizeof *grown);
        inventory->signatures = grown;
        g->cap = cap;
    }
    signature = &inventory->signatures[inventory->signature_count];
    signature->text = pw_arena_strndup(&inventory->arena, g->text.data, g->text.size);
    if (signature->text == NULL)
        return pw_error_memory(err, g->text.size);
    pw_signature_id(signature->text, strlen(signature->text), signature->id);
    signature->op = node->op;
    *index = inventory->signature_count++;
    return pw_map_set(&g->by_text, g->text.data, g->text.size, *index, err);
}

static pw_status group_node(struct grouping *g, const struct pw_node *node, int *number, struct pw_error *err)
{
    size_t index = 0;
    pw_status status;

    g->key.size = 0;
    status = pw_signature_key(g->inventory->inference, node, &g->key, err);
    if (status == PW_OK && !pw_map_get(&g->by_key, g->key.data, g->key.size, &index)) {
        status = add_by_text(g, node, &index, err);
        if (status == PW_OK)
            status = pw_map_set(&g->by_key, g->key.data, g->key.size, index, err);
    }
    if (status != PW_OK)
        return status;
    if (g->inventory->signature_count > INT32_MAX)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "more than 2^31 signatures");
    g->inventory->signatures[index].node_count++;
    *number = (int)index;
    return PW_OK;
}

static pw_status group_nodes(struct pw_inventory *inventory, struct pw_error *err)
{
    struct grouping g = {.inventory = inventory};
    const struct pw_inference *inf = inventory->inference;
    size_t number = 0;
    pw_status status = PW_OK;

    pw_progress_phase("taking inventory", "nodes", inventory->node_number_count);
    for (size_t s = 0; s < pw_inference_graph_count(inf) && status == PW_OK; s++) {
        const struct pw_graph *graph = pw_inference_graph(inf, s);

        for (size_t n = 0; n < graph->node_count && status == PW_OK; n++, number++) {
            inventory->node_signature[number] = -1;
            if (pw_inventory_is_constant(&graph->nodes[n]))
                continue;
            inventory->node_count++;
            status = pw_progress_step(1, err);
            if (status == PW_OK)
                status = group_node(&g, &graph->nodes[n], &inventory->node_signature[number], err);
        }
    }
    pw_map_clear(&g.by_key);
    pw_map_clear(&g.by_text);
    pw_buf_clear(&g.key);
    pw_buf_clear(&g.text);
    return status;
}

/* Lists of nodes per signature, all in one array. */
static pw_status list_nodes(struct pw_inventory *inventory, struct pw_error *err)
{
    const struct pw_inference *inf = inventory->inference;
    const struct pw_node **nodes = pw_arena_alloc(&inventory->arena, inventory->node_count, sizeof *nodes);
    size_t number = 0;

    if (nodes == NULL)
        return pw_error_memory(err, inventory->node_count * sizeof *nodes);
    for (size_t i = 0; i < inventory->signature_count; i++) {
        inventory->signatures[i].nodes = nodes;
        nodes += inventory->signatures[i].node_count;
        inventory->signatures[i].node_count = 0; /* counted again below */
    }
    for (size_t s = 0; s < pw_inference_graph_count(inf); s++) {
        const struct pw_graph *graph = pw_inference_graph(inf, s);

        for (size_t n = 0; n < graph->node_count; n++, number++) {
            struct pw_signature *signature;

            if (inventory->node_signature[number] < 0)
                continue;
            signature = &inventory->signatures[inventory->node_signature[number]];
            signature->nodes[signature->node_count++] = &graph->nodes[n];
        }
    }
    return PW_OK;
}

/* ---- one signature ---- */

static bool is_floating(pw_dtype dtype)
{
    return pw_dtype_is_float(dtype) || pw_dtype_facts(dtype)->kind == PW_KIND_COMPLEX;
}

static void classify(struct pw_signature *signature)
{
    const struct pw_call *call = signature->call;

    signature->category = call->op != NULL ? call->op->category : PW_CATEGORY_OTHER;
    for (int i = call->output_count; i-- > 0;) {
        if (!call->wanted[i])
            continue;
        if (call->out[i].dtype != PW_DTYPE_UNDEFINED)
            signature->dtype = call->out[i].dtype; /* the first one stays */
        signature->floating = signature->floating || is_floating(call->out[i].dtype);
    }
    for (int i = 0; i < call->input_count; i++) {
        if (call->in[i] == NULL)
            continue;
        if (signature->dtype == PW_DTYPE_UNDEFINED)
            signature->dtype = call->in[i]->dtype;
        signature->floating = signature->floating || is_floating(call->in[i]->dtype);
    }
}

/* Numbers that training or calibration sets: constants that are not written into the signature. */
static bool is_trained(pw_dtype dtype)
{
    return is_floating(dtype) || pw_dtype_facts(dtype)->bits <= 8;
}

static int64_t count_parameters(const struct pw_call *call)
{
    int64_t sum = 0, count;

    for (int i = 0; i < call->input_count; i++) {
        const struct pw_info *info = call->in[i];

        if (info == NULL || !info->fixed || !is_trained(info->dtype) || info->dtype == PW_DTYPE_BOOL ||
            info->dtype == PW_DTYPE_UNDEFINED || pw_signature_has_value(call->node, (size_t)i, info))
            continue;
        if (pw_dims_value(call->dims, pw_cost_elements(call->dims, info), &count) && count < INT64_MAX - sum)
            sum += count;
    }
    return sum;
}

static pw_status name_signature(struct pw_inventory *inventory, struct pw_signature *signature, struct pw_error *err)
{
    struct pw_buf text = {0};
    pw_status status = PW_OK;

    pw_signature_label(signature->nodes[0], &text);
    signature->op_label = pw_arena_strndup(&inventory->arena, pw_buf_text(&text), text.size);
    text.size = 0;
    pw_signature_shapes(inventory->inference, signature->nodes[0], &text);
    signature->shapes = pw_arena_strndup(&inventory->arena, pw_buf_text(&text), text.size);
    if (text.failed || signature->op_label == NULL || signature->shapes == NULL)
        status = pw_error_memory(err, text.size);
    pw_buf_clear(&text);
    return status;
}

static pw_status describe_signature(struct pw_inventory *inventory, struct pw_signature *signature, const bool *shapes,
                                    struct pw_error *err)
{
    struct pw_call *call = pw_arena_alloc(&inventory->arena, 1, sizeof *call);
    struct pw_cost cost;
    pw_status status;

    if (call == NULL)
        return pw_error_memory(err, sizeof *call);
    status = pw_inference_call(inventory->inference, signature->nodes[0], call, err);
    if (status != PW_OK)
        return status;
    signature->call = call;
    signature->pattern = -1;
    classify(signature);
    signature->parameters = count_parameters(call);
    signature->shape_arithmetic = true;
    for (size_t i = 0; i < signature->node_count && signature->shape_arithmetic; i++)
        signature->shape_arithmetic = shapes[pw_inference_node_number(inventory->inference, signature->nodes[i])];
    pw_flags_sensitivity(signature);
    status = pw_cost_of_call(call, &cost, err);
    if (status != PW_OK)
        return status;
    signature->flops = cost.flops;
    signature->bytes = cost.bytes;
    status = pw_flags_dynamic(inventory, signature, err);
    return status == PW_OK ? name_signature(inventory, signature, err) : status;
}

/* ---- the whole ---- */

static void add_parameters(struct pw_inventory *inventory, const struct pw_info *info)
{
    const struct pw_tensor *t = info->constant;

    if (t != NULL && t->count > 1 && is_trained(t->nominal) && t->nominal != PW_DTYPE_BOOL &&
        t->nominal != PW_DTYPE_UNDEFINED)
        inventory->total_parameters += t->count;
}

static void count_all_parameters(struct pw_inventory *inventory)
{
    const struct pw_inference *inf = inventory->inference;

    for (size_t s = 0; s < pw_inference_graph_count(inf); s++) {
        const struct pw_graph *graph = pw_inference_graph(inf, s);

        for (size_t i = 0; i < graph->value_count; i++) {
            const struct pw_graph_value *value = &graph->values[i];

            if (value->initializer != NULL || (value->producer != NULL && pw_inventory_is_constant(value->producer)))
                add_parameters(inventory, pw_inference_at(inf, graph, (pw_value_id)i));
        }
    }
}

static pw_status number_nodes(struct pw_inventory *inventory, struct pw_error *err)
{
    const struct pw_inference *inf = inventory->inference;
    size_t count = 0;

    for (size_t s = 0; s < pw_inference_graph_count(inf); s++)
        count += pw_inference_graph(inf, s)->node_count;
    inventory->node_number_count = count;
    inventory->node_signature = pw_arena_alloc(&inventory->arena, count, sizeof *inventory->node_signature);
    inventory->node_pattern = pw_arena_alloc(&inventory->arena, count, sizeof *inventory->node_pattern);
    if (inventory->node_signature == NULL || inventory->node_pattern == NULL)
        return pw_error_memory(err, count * sizeof *inventory->node_signature);
    for (size_t i = 0; i < count; i++)
        inventory->node_pattern[i] = -1;
    return PW_OK;
}

static pw_status describe_signatures(struct pw_inventory *inventory, struct pw_error *err)
{
    bool *shapes = NULL;
    pw_status status = pw_flags_shape_arithmetic(inventory->inference, inventory->node_number_count, &shapes, err);

    for (size_t i = 0; i < inventory->signature_count && status == PW_OK; i++)
        status = describe_signature(inventory, &inventory->signatures[i], shapes, err);
    pw_free(shapes);
    return status;
}

static void assign_patterns(struct pw_inventory *inventory)
{
    for (size_t i = 0; i < inventory->signature_count; i++) {
        struct pw_signature *signature = &inventory->signatures[i];
        size_t number = pw_inference_node_number(inventory->inference, signature->nodes[0]);

        signature->pattern = inventory->node_pattern[number];
    }
}

pw_status pw_inventory_create(const struct pw_model *model, const struct pw_inference *inference,
                              struct pw_inventory **out, struct pw_error *err)
{
    struct pw_inventory *inventory = pw_calloc(1, sizeof *inventory);
    pw_status status = PW_OK;

    if (inventory == NULL)
        return pw_error_memory(err, sizeof *inventory);
    inventory->model = model;
    inventory->inference = inference;
    status = number_nodes(inventory, err);
    if (status == PW_OK)
        status = group_nodes(inventory, err);
    if (status == PW_OK)
        status = list_nodes(inventory, err);
    if (status == PW_OK)
        status = describe_signatures(inventory, err);
    if (status == PW_OK)
        status = pw_patterns_find(model, inference, inventory, err);
    if (status != PW_OK)
        goto done;
    assign_patterns(inventory);
    count_all_parameters(inventory);
    status = pw_cost_totals(inventory, err);
    if (status != PW_OK)
        goto done;
    *out = inventory;
    inventory = NULL;
done:
    pw_inventory_destroy(inventory);
    return status;
}

void pw_inventory_destroy(struct pw_inventory *inventory)
{
    if (inventory == NULL)
        return;
    pw_arena_clear(&inventory->arena);
    pw_free(inventory);
}
