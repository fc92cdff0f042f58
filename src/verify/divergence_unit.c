/*
 * Patterns judged as a whole. A third run of each member, with values that never left the pattern: from the
 * reference's inputs of the pattern, rounded, to its outputs, on the target and in golden. What its error may be is the
 * sum of the members' tolerances on the longest way through it.
 */
#include <stdio.h>
#include <string.h>

#include "verify/divergence.h"

/* Tolerances are relative to an eighth of each tensor's root mean square at least (tensor/compare.h): a step that
 * cancels (1 + erf(x), x - mean) may turn that into as much more. */
#define AMPLIFICATION 8.0

/* The widest pattern that a node belongs to; -1 when that is one operator of the file, which is judged as a node. */
static int widest(const struct pw_inventory *inventory, size_t number)
{
    int pattern = inventory->node_pattern[number];

    for (int depth = 0; pattern >= 0 && inventory->patterns[pattern].parent >= 0 && depth < 8; depth++)
        pattern = inventory->patterns[pattern].parent;
    return pattern >= 0 && (inventory->patterns[pattern].fused || inventory->patterns[pattern].node_count < 2)
               ? -1
               : pattern;
}

static size_t number_of(const struct pw_divergence *run, const struct pw_node *node)
{
    return pw_inference_node_number(run->request->inventory->inference, node);
}

static void expose(struct pw_divergence *run, const struct pw_graph_value *value, int reader)
{
    size_t number = value->producer ? number_of(run, value->producer) : SIZE_MAX;

    if (number != SIZE_MAX && run->unit_of[number] >= 0 && run->unit_of[number] != reader)
        run->exposed[number] |= UINT64_C(1) << (value->producer_output & 63);
}

static void find_exposed(struct pw_divergence *run, const struct pw_graph *graph)
{
    for (size_t n = 0; n < graph->node_count; n++) {
        const struct pw_node *node = &graph->nodes[n];
        size_t number = number_of(run, node);

        for (size_t i = 0; i < node->input_count; i++)
            if (node->inputs[i] != PW_NO_VALUE)
                expose(run, &graph->values[node->inputs[i]], number == SIZE_MAX ? -1 : run->unit_of[number]);
    }
    for (size_t v = 0; v < graph->value_count; v++)
        for (const struct pw_graph_value *outer = graph->values[v].outer; outer; outer = outer->outer)
            expose(run, outer, -1);
    for (size_t o = 0; o < graph->output_count; o++)
        expose(run, &graph->values[graph->outputs[o]], -1);
}

pw_status pw_divergence_units(struct pw_divergence *run, struct pw_error *err)
{
    const struct pw_inventory *inventory = run->request->inventory;
    size_t count = inventory->node_number_count;

    run->unit_of = pw_arena_alloc(&run->arena, count + 1, sizeof *run->unit_of);
    run->exposed = pw_arena_alloc(&run->arena, count + 1, sizeof *run->exposed);
    run->units = pw_arena_alloc(&run->arena, inventory->pattern_count + 1, sizeof *run->units);
    if (!run->unit_of || !run->exposed || !run->units)
        return pw_error_memory(err, count * sizeof *run->exposed);
    for (size_t i = 0; i < count; i++) {
        run->unit_of[i] = widest(inventory, i);
        if (run->unit_of[i] >= 0)
            run->units[run->unit_of[i]].members++;
    }
    for (size_t g = 0; g < pw_inference_graph_count(inventory->inference); g++)
        find_exposed(run, pw_inference_graph(inventory->inference, g));
    return PW_OK;
}

void pw_divergence_units_clear(struct pw_divergence *run)
{
    for (size_t i = 0; run->units && i < run->request->inventory->pattern_count; i++)
        pw_free(run->units[i].values);
    run->units = NULL;
}

/* ---- running a member inside its pattern ---- */

/* The node's output inside the pattern; its own when nothing was changed by the way there. */
static const struct pw_value *inner_ref(const struct pw_pair *pair)
{
    return pair->unit->shared ? &pair->ref : &pair->unit->ref;
}

static const struct pw_value *inner_got(const struct pw_pair *pair)
{
    return pair->unit->shared ? &pair->got : &pair->unit->got;
}

static bool is_inside(const struct pw_pair *pair, int unit)
{
    return pair && pair->unit && pair->unit->unit == unit;
}

/* Takes over what the isolated run made, or shares out's own values. */
static pw_status take_isolated(struct pw_node_run *nr, struct pw_pair *out, int o, struct pw_error *err)
{
    struct pw_unit_values *inner = out->unit;
    pw_status status = PW_OK;

    if (nr->share_ref && nr->share_got) {
        inner->shared = true;
        return PW_OK;
    }
    if (nr->share_ref)
        status = pw_value_copy(&inner->ref, &out->ref, err);
    else {
        inner->ref = nr->isolated_ref[o];
        nr->isolated_ref[o] = (struct pw_value){0};
    }
    if (status == PW_OK && nr->share_got)
        status = pw_value_copy(&inner->got, &out->got, err);
    else if (status == PW_OK) {
        inner->got = nr->isolated_got[o];
        nr->isolated_got[o] = (struct pw_value){0};
    }
    return status;
}

static pw_status run_inside(struct pw_node_run *nr, int unit, struct pw_error *err)
{
    struct pw_target_eval *target = &nr->run->target;
    size_t in_count = (size_t)nr->in_count + 1, on_target = target->target_nodes, on_host = target->host_nodes,
           cast = target->cast_nodes;
    const struct pw_value **gots = pw_calloc(in_count, sizeof *gots), **refs = pw_calloc(in_count, sizeof *refs);
    bool *inner = pw_calloc(in_count, sizeof *inner);
    struct pw_value *values = pw_calloc((size_t)nr->out_count + 1, sizeof *values);
    struct pw_target_step step;
    struct pw_error failure = {0};
    pw_status status = gots && refs && inner && values ? PW_OK : pw_error_memory(err, in_count * sizeof *gots);

    for (int i = 0; i < nr->in_count && status == PW_OK; i++) {
        const struct pw_pair *in = nr->in[i];

        if (!in)
            continue;
        inner[i] = is_inside(in, unit);
        gots[i] = inner[i] ? inner_got(in) : nr->isolated_in[i];
        refs[i] = inner[i] ? inner_ref(in) : nr->isolated_in[i];
    }
    if (status == PW_OK) {
        status =
            pw_target_eval_step(target, nr->node, gots, nr->in_count, values, nr->out_count, nr->seed, &step, &failure);
        target->target_nodes = on_target;
        target->host_nodes = on_host;
        target->cast_nodes = cast;
        for (int o = 0; o < nr->out_count && status == PW_OK; o++)
            nr->out[o].unit->got = values[o];
        if (status == PW_ERR_NO_MEMORY || status == PW_ERR_CANCELLED) {
            pw_error_set(err, status, "%s", failure.message);
        } else if (status != PW_OK) {
            nr->run->units[unit].unproven = true;
            pw_divergence_settle(nr->run, nr->run->unit_rows[unit], PW_NODE_FAILED, failure.message);
        }
    }
    if (status == PW_OK) {
        memset(values, 0, (size_t)nr->out_count * sizeof *values);
        status = pw_divergence_golden(nr->node, refs, inner, pw_divergence_storage(nr), nr->seed, nr->out, values, err);
        for (int o = 0; o < nr->out_count && status == PW_OK; o++)
            nr->out[o].unit->ref = values[o];
    } else if (nr->run->units[unit].unproven) {
        status = PW_OK;
    }
    pw_free(gots);
    pw_free(refs);
    pw_free(inner);
    pw_free(values);
    return status;
}

static pw_status unit_values(struct pw_node_run *nr, int unit, struct pw_error *err)
{
    double allowed = 0;
    bool inside = false;
    pw_status status = PW_OK;

    for (int i = 0; i < nr->in_count; i++)
        if (is_inside(nr->in[i], unit)) {
            inside = true;
            allowed = nr->in[i]->unit->allowed > allowed ? nr->in[i]->unit->allowed : allowed;
        }
    for (int o = 0; o < nr->out_count; o++) {
        nr->out[o].unit = pw_calloc(1, sizeof *nr->out[o].unit);
        if (!nr->out[o].unit)
            return pw_error_memory(err, sizeof *nr->out[o].unit);
        nr->out[o].unit->unit = unit;
        nr->out[o].unit->allowed = allowed + AMPLIFICATION * nr->tolerance;
    }
    if (inside)
        return run_inside(nr, unit, err);
    for (int o = 0; o < nr->out_count && status == PW_OK; o++)
        status = take_isolated(nr, &nr->out[o], o, err);
    return status;
}

/* ---- judging ---- */

static pw_status unit_row(struct pw_divergence *run, int unit, struct pw_endtoend_node **out, struct pw_error *err)
{
    struct pw_endtoend_node *row = run->unit_rows[unit];

    if (!row) {
        row = pw_divergence_new_row(run, NULL, unit);
        if (!row)
            return pw_error_memory(err, sizeof *row);
        row->why = "eight times the sum of its nodes' tolerances on the longest way through it: inner steps may cancel";
        run->unit_rows[unit] = row;
    }
    *out = row;
    return PW_OK;
}

static void fold_member(struct pw_endtoend_node *row, const struct pw_node_run *nr)
{
    row->on_target |= nr->step.on_target;
    row->cast |= nr->step.cast;
    if (nr->step.dtype != PW_DTYPE_UNDEFINED)
        row->dtype = nr->step.dtype;
}

static pw_status judge_exposed(struct pw_node_run *nr, struct pw_endtoend_node *row, int o, struct pw_error *err)
{
    const struct pw_pair *out = &nr->out[o];
    double allowed = out->unit->allowed;
    struct pw_comparison comparison;
    struct pw_buf why = {0};
    char text[256];
    pw_status status = pw_divergence_compare(inner_got(out), inner_ref(out), allowed, &comparison, &why, err);

    if (status == PW_OK) {
        pw_comparison_worse(&row->isolated, &comparison);
        pw_comparison_worse(&row->propagated, &nr->row->propagated);
        row->has_isolated = true;
        row->tolerance = allowed > row->tolerance ? allowed : row->tolerance;
        row->allowed = out->from.allowed > row->allowed ? out->from.allowed : row->allowed;
        snprintf(text, sizeof text, "as a whole: error %.3g, tolerance %.3g%s%.120s", comparison.max_error, allowed,
                 why.size ? ": " : "", pw_buf_text(&why));
        if (comparison.over > 0)
            pw_divergence_settle(nr->run, row, PW_NODE_CULPRIT, text);
        else if (nr->row->standing == PW_NODE_VICTIM || nr->row->standing == PW_NODE_DRIFT)
            pw_divergence_settle(nr->run, row, nr->row->standing, "");
    }
    pw_buf_clear(&why);
    return status;
}

pw_status pw_divergence_member(struct pw_node_run *nr, struct pw_error *err)
{
    struct pw_divergence *run = nr->run;
    size_t number = number_of(run, nr->node);
    int unit = run->unit_of[number];
    struct pw_unit_state *state = unit >= 0 ? &run->units[unit] : NULL;
    struct pw_endtoend_node *row = NULL;
    pw_status status;

    if (!state)
        return PW_OK;
    if (!state->left) {
        state->left = state->members;
        state->unproven = false;
    }
    state->left--;
    state->unproven |= nr->failed || nr->drawn;
    status = unit_row(run, unit, &row, err);
    if (status == PW_OK && nr->failed)
        pw_divergence_settle(run, row, PW_NODE_FAILED, "one of its nodes failed");
    else if (status == PW_OK && nr->drawn)
        pw_divergence_settle(run, row, PW_NODE_DRAWN, "one of its nodes draws");
    if (status == PW_OK && !state->unproven)
        status = unit_values(nr, unit, err);
    if (status != PW_OK)
        return status;
    fold_member(row, nr);
    for (int o = 0; o < nr->out_count && status == PW_OK && !state->unproven; o++)
        if (run->exposed[number] & UINT64_C(1) << (o & 63) && nr->out[o].ref.kind != PW_VALUE_NONE)
            status = judge_exposed(nr, row, o, err);
    if (status == PW_OK && !state->left) {
        status = pw_divergence_push(run, row, err);
        row->runs++;
    }
    return status;
}

pw_status pw_divergence_placed(struct pw_pair_frame *frame, const struct pw_node *node, struct pw_error *err)
{
    struct pw_divergence *run = frame->run;
    size_t number = number_of(run, node);
    int unit = number < run->request->inventory->node_number_count ? run->unit_of[number] : -1;
    struct pw_unit_state *state = unit >= 0 ? &run->units[unit] : NULL;

    for (size_t o = 0; state && o < node->output_count; o++) {
        pw_value_id id = node->outputs[o];

        if (id == PW_NO_VALUE || !is_inside(frame->pairs[id], unit))
            continue;
        if (PW_GROW(state->values, state->value_cap, state->value_count + 1, err) != PW_OK)
            return PW_ERR_NO_MEMORY;
        state->values[state->value_count++] = id;
    }
    if (!state || state->left)
        return PW_OK;
    for (size_t i = 0; i < state->value_count; i++) {
        struct pw_pair *pair = frame->pairs[state->values[i]];

        if (is_inside(pair, unit))
            pw_pair_drop_unit(run, pair);
    }
    pw_free(state->values);
    state->values = NULL;
    state->value_count = state->value_cap = 0;
    return PW_OK;
}
