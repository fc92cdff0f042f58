/* What calls cost: bytes moved, FLOPs by the operators, figures with assumptions for open symbols. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "graph/assume.h"
#include "graph/inventory_internal.h"
#include "graph/signature.h"

#define ASSUMPTIONS_SHOWN 12

/* ---- expressions ---- */

pw_dim pw_cost_elements(struct pw_dims *dims, const struct pw_info *info)
{
    pw_dim count = 1;

    if (info->kind != PW_VALUE_TENSOR || info->rank < 0)
        return PW_DIM_UNKNOWN;
    for (int d = 0; d < info->rank; d++)
        count = pw_dims_mul(dims, count, info->dims[d]);
    return count;
}

static pw_dim bytes_of(struct pw_dims *dims, const struct pw_info *info)
{
    const struct pw_dtype_facts *facts = pw_dtype_facts(info->dtype);
    pw_dim count = pw_cost_elements(dims, info);

    if (info->dtype == PW_DTYPE_UNDEFINED)
        return PW_DIM_UNKNOWN;
    if (facts->bits >= 8)
        return pw_dims_mul(dims, count, (pw_dim)facts->bytes);
    return pw_dims_ceildiv(dims, pw_dims_mul(dims, count, (pw_dim)facts->bits), 8);
}

/* Inputs read once, outputs written once; an input that is given twice is read once. */
static pw_dim call_bytes(const struct pw_call *call)
{
    pw_dim sum = 0;

    for (int i = 0; i < call->input_count; i++) {
        bool again = false;

        for (int j = 0; j < i && j < 16 && !again; j++)
            again = call->node->inputs[j] == call->node->inputs[i];
        if (call->in[i] != NULL && !again)
            sum = pw_dims_add(call->dims, sum, bytes_of(call->dims, call->in[i]));
    }
    for (int i = 0; i < call->output_count; i++) {
        if (call->wanted[i])
            sum = pw_dims_add(call->dims, sum, bytes_of(call->dims, &call->out[i]));
    }
    return sum;
}

/* Rooms compute with ranks; what has none has no cost that anyone knows. */
static bool ranks_known(const struct pw_call *call)
{
    for (int i = 0; i < call->input_count; i++) {
        if (call->in[i] != NULL && call->in[i]->kind != PW_VALUE_SEQUENCE && call->in[i]->rank < 0)
            return false;
    }
    for (int i = 0; i < call->output_count; i++) {
        if (call->wanted[i] && call->out[i].kind != PW_VALUE_SEQUENCE && call->out[i].rank < 0)
            return false;
    }
    return true;
}

pw_status pw_cost_of_call(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    struct pw_cost made = {.flops = 0, .bytes = call_bytes(call)};
    struct pw_error refused = {0};

    (void)err;
    if (call->op == NULL || !ranks_known(call)) {
        made.flops = PW_DIM_UNKNOWN;
    } else if (call->op->cost != NULL) {
        if (call->op->cost(call, &made, &refused) != PW_OK)
            made.flops = PW_DIM_UNKNOWN;
    } else {
        for (int i = 0; i < call->output_count; i++) {
            if (call->wanted[i] && pw_dtype_is_float(call->out[i].dtype))
                made.flops = pw_dims_add(call->dims, made.flops, pw_cost_elements(call->dims, &call->out[i]));
        }
    }
    *cost = made;
    return PW_OK;
}

/* ---- assumptions ---- */

struct assumer {
    struct pw_inventory *inventory;
    struct pw_map seen;
    size_t cap;
    pw_status status;
    struct pw_error *err;
};

static void assume(void *user, const char *symbol)
{
    struct assumer *a = user;
    struct pw_inventory *inventory = a->inventory;
    struct pw_assumption *grown;

    if (a->status != PW_OK || pw_map_find(&a->seen, symbol, NULL))
        return;
    a->status = pw_map_put(&a->seen, symbol, inventory->assumed_count, a->err);
    if (a->status == PW_OK && inventory->assumed_count == a->cap) {
        size_t cap = a->cap == 0 ? 8 : a->cap * 2;

        grown = pw_arena_alloc(&inventory->arena, cap, sizeof *grown);
        if (grown == NULL) {
            a->status = pw_error_memory(a->err, cap * sizeof *grown);
            return;
        }
        if (inventory->assumed_count > 0)
            memcpy(grown, inventory->assumed, inventory->assumed_count * sizeof *grown);
        inventory->assumed = grown;
        a->cap = cap;
    }
    if (a->status == PW_OK)
        inventory->assumed[inventory->assumed_count++] =
            (struct pw_assumption){symbol, pw_assume_size(symbol, PW_ASSUMED_SIZE)};
}

/* Open symbols: those of the inputs first, then what else the costs hold. */
static pw_status collect_assumptions(struct pw_inventory *inventory, struct pw_error *err)
{
    const struct pw_dims *dims = pw_inference_dims(inventory->inference);
    const struct pw_graph *graph = inventory->model->graph;
    struct assumer a = {.inventory = inventory, .err = err};

    for (size_t i = 0; i < graph->input_count; i++) {
        const struct pw_info *info = pw_inference_at(inventory->inference, graph, graph->inputs[i]);

        for (int d = 0; d < info->rank; d++)
            pw_dims_symbols(dims, info->dims[d], assume, &a);
    }
    inventory->input_symbol_count = inventory->assumed_count;
    for (size_t i = 0; i < inventory->signature_count; i++) {
        pw_dims_symbols(dims, inventory->signatures[i].flops, assume, &a);
        pw_dims_symbols(dims, inventory->signatures[i].bytes, assume, &a);
    }
    pw_map_clear(&a.seen);
    return a.status;
}

/* The inputs' symbols get sizes that the graph takes; with none of them those of before stay. */
static pw_status suit_graph(struct pw_inventory *inventory, struct pw_error *err)
{
    size_t given = 0, count = inventory->input_symbol_count;
    const struct pw_binding *bound = pw_inference_bindings(inventory->inference, &given);
    struct pw_binding *bindings = pw_arena_alloc(&inventory->arena, given + count, sizeof *bindings);
    struct pw_inference *inference = NULL;
    struct pw_error refused = {0};
    pw_status status;

    if (bindings == NULL)
        return pw_error_memory(err, (given + count) * sizeof *bindings);
    if (count == 0)
        return PW_OK;
    for (size_t i = 0; i < given; i++)
        bindings[i] = bound[i];
    for (size_t i = 0; i < count; i++)
        bindings[given + i].name = inventory->assumed[i].symbol;
    status = pw_assume_infer(inventory->model, bindings, given, given + count, &inference, &refused);
    pw_inference_destroy(inference);
    if (status == PW_ERR_NO_MEMORY || status == PW_ERR_CANCELLED)
        return pw_error_set(err, status, "%s", refused.message);
    for (size_t i = 0; i < count; i++)
        inventory->assumed[i].value = bindings[given + i].value;
    return PW_OK;
}

static pw_status print_assumptions(struct pw_inventory *inventory, struct pw_error *err)
{
    struct pw_buf text = {0};

    for (size_t i = 0; i < inventory->assumed_count && i < ASSUMPTIONS_SHOWN; i++) {
        pw_buf_printf(&text, "%s%s=%" PRId64, i > 0 ? ", " : "", inventory->assumed[i].symbol,
                      inventory->assumed[i].value);
    }
    if (inventory->assumed_count > ASSUMPTIONS_SHOWN)
        pw_buf_printf(&text, " and %zu more", inventory->assumed_count - ASSUMPTIONS_SHOWN);
    if (inventory->assumed_count > 0)
        pw_buf_puts(&text, " assumed for totals");
    inventory->assumptions = pw_arena_strndup(&inventory->arena, pw_buf_text(&text), text.size);
    pw_buf_clear(&text);
    return inventory->assumptions == NULL ? pw_error_memory(err, text.size) : PW_OK;
}

/* ---- figures ---- */

static double evaluate(const struct pw_dims *dims, pw_dim dim, const struct pw_binding *bindings, size_t count)
{
    int64_t value;

    if (dim == PW_DIM_UNKNOWN || !pw_dims_eval(dims, dim, bindings, count, &value) || value < 0)
        return NAN;
    return (double)value;
}

static void add_totals(struct pw_inventory *inventory)
{
    double flops = 0, bytes = 0;
    bool flops_known = false, bytes_known = false;

    for (size_t i = 0; i < inventory->signature_count; i++) {
        const struct pw_signature *s = &inventory->signatures[i];

        if (!isnan(s->flops_value)) {
            flops += s->flops_value * (double)s->node_count;
            flops_known = true;
        }
        if (!isnan(s->bytes_value)) {
            bytes += s->bytes_value * (double)s->node_count;
            bytes_known = true;
        }
        if (isnan(s->flops_value) || isnan(s->bytes_value))
            inventory->unknown_cost_nodes += s->node_count;
    }
    inventory->total_flops = flops_known ? flops : NAN;
    inventory->total_bytes = bytes_known ? bytes : NAN;
}

static double share_of(double flops, double total)
{
    return isnan(flops) || isnan(total) ? NAN : total > 0 ? flops / total : 0.0;
}

static void add_pattern_figures(struct pw_inventory *inventory)
{
    for (size_t i = 0; i < inventory->pattern_count; i++) {
        struct pw_pattern *pattern = &inventory->patterns[i];

        pattern->flops_value = 0;
        for (size_t n = 0; n < pattern->node_count; n++) {
            size_t number = pw_inference_node_number(inventory->inference, pattern->nodes[n]);
            int signature = inventory->node_signature[number];

            if (signature >= 0)
                pattern->flops_value += inventory->signatures[signature].flops_value;
        }
        pattern->share = share_of(pattern->flops_value, inventory->total_flops);
    }
}

pw_status pw_cost_totals(struct pw_inventory *inventory, struct pw_error *err)
{
    const struct pw_dims *dims = pw_inference_dims(inventory->inference);
    struct pw_binding *bindings = NULL;
    pw_status status = collect_assumptions(inventory, err);

    if (status == PW_OK)
        status = suit_graph(inventory, err);
    if (status == PW_OK)
        status = print_assumptions(inventory, err);
    if (status != PW_OK)
        return status;
    bindings = pw_arena_alloc(&inventory->arena, inventory->assumed_count, sizeof *bindings);
    if (bindings == NULL)
        return pw_error_memory(err, inventory->assumed_count * sizeof *bindings);
    for (size_t i = 0; i < inventory->assumed_count; i++)
        bindings[i] = (struct pw_binding){inventory->assumed[i].symbol, inventory->assumed[i].value};
    for (size_t i = 0; i < inventory->signature_count; i++) {
        struct pw_signature *s = &inventory->signatures[i];

        s->flops_value = evaluate(dims, s->flops, bindings, inventory->assumed_count);
        s->bytes_value = evaluate(dims, s->bytes, bindings, inventory->assumed_count);
        s->intensity = s->bytes_value > 0 ? s->flops_value / s->bytes_value : NAN;
    }
    add_totals(inventory);
    for (size_t i = 0; i < inventory->signature_count; i++) {
        struct pw_signature *s = &inventory->signatures[i];

        s->share = share_of(s->flops_value * (double)s->node_count, inventory->total_flops);
    }
    add_pattern_figures(inventory);
    return PW_OK;
}
