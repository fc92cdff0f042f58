/* One node on both sides: with each side's own inputs, and the target once more with the reference's. */
#include <stdio.h>
#include <string.h>

#include "verify/capture.h"
#include "verify/divergence.h"

pw_dtype pw_divergence_storage(const struct pw_node_run *nr)
{
    return nr->step.cast ? nr->run->target.storage(nr->run->target.placement_user, nr->node) : PW_DTYPE_UNDEFINED;
}

/* ---- golden ---- */

pw_status pw_divergence_golden(const struct pw_node *node, const struct pw_value *const *in, const bool *inner,
                               pw_dtype storage, uint64_t seed, const struct pw_pair *like, struct pw_value *out,
                               struct pw_error *err)
{
    int count = (int)node->input_count, outputs = (int)node->output_count;
    struct pw_value *casts = pw_calloc((size_t)count + 1, sizeof *casts);
    struct pw_value *carried = pw_calloc((size_t)count + 1, sizeof *carried);
    const struct pw_value **use = pw_calloc((size_t)count + 1, sizeof *use);
    bool any;
    pw_status status = casts && carried && use ? PW_OK : pw_error_memory(err, (size_t)count * sizeof *casts);

    if (status == PW_OK && storage != PW_DTYPE_UNDEFINED)
        status = pw_target_cast_inputs(node, in, count, storage, casts, use, &any, err);
    else if (status == PW_OK)
        memcpy(use, in, (size_t)count * sizeof *use);
    for (int i = 0; i < count && status == PW_OK; i++) {
        const struct pw_value *value = inner && inner[i] ? in[i] : use[i];

        if (!value)
            continue;
        status = pw_eval_carry(&carried[i], value, PW_EVAL_GOLDEN, err);
        if (inner && inner[i] && use[i] != in[i]) /* would have been cast: golden only takes the name */
            carried[i].tensor.nominal = storage;
        use[i] = &carried[i];
    }
    if (status == PW_OK)
        status = pw_eval_node(node, PW_EVAL_GOLDEN, use, count, out, outputs, seed, err);
    for (int o = 0; o < outputs && status == PW_OK; o++)
        if (out[o].kind == PW_VALUE_TENSOR && pw_dtype_is_float(out[o].tensor.nominal) &&
            like[o].ref.kind == PW_VALUE_TENSOR && pw_dtype_is_float(like[o].ref.tensor.nominal))
            out[o].tensor.nominal = like[o].ref.tensor.nominal;
    for (int i = 0; i < count; i++) {
        if (carried)
            pw_value_clear(&carried[i]);
        if (casts)
            pw_value_clear(&casts[i]);
    }
    pw_free(casts);
    pw_free(carried);
    pw_free(use);
    return status;
}

/* ---- the two sides ---- */

static pw_status gather(struct pw_node_run *nr, struct pw_arena *arena, struct pw_error *err)
{
    size_t in = (size_t)nr->in_count + 1, out = (size_t)nr->out_count + 1;

    nr->refs = pw_arena_alloc(arena, in, sizeof *nr->refs);
    nr->gots = pw_arena_alloc(arena, in, sizeof *nr->gots);
    nr->rounded = pw_arena_alloc(arena, in, sizeof *nr->rounded);
    nr->isolated_in = pw_arena_alloc(arena, in, sizeof *nr->isolated_in);
    nr->isolated_ref = pw_arena_alloc(arena, out, sizeof *nr->isolated_ref);
    nr->isolated_got = pw_arena_alloc(arena, out, sizeof *nr->isolated_got);
    if (!nr->refs || !nr->gots || !nr->rounded || !nr->isolated_in || !nr->isolated_ref || !nr->isolated_got) {
        nr->isolated_got = NULL; /* nothing is there: clear_node goes by it, and a small one may have fitted */
        return pw_error_memory(err, in * sizeof *nr->rounded);
    }
    nr->all_exact = true;
    for (int i = 0; i < nr->in_count; i++) {
        if (!nr->in[i])
            continue;
        nr->refs[i] = &nr->in[i]->ref;
        nr->gots[i] = &nr->in[i]->got;
        nr->all_exact = nr->all_exact && nr->in[i]->exact;
    }
    return PW_OK;
}

static pw_status run_reference(struct pw_node_run *nr, struct pw_error *err)
{
    struct pw_value *outputs = pw_calloc((size_t)nr->out_count + 1, sizeof *outputs);
    pw_status status = outputs ? PW_OK : pw_error_memory(err, (size_t)nr->out_count * sizeof *outputs);

    if (status == PW_OK)
        status = pw_eval_node(nr->node, PW_EVAL_GOLDEN, nr->refs, nr->in_count, outputs, nr->out_count, nr->seed, err);
    for (int o = 0; o < nr->out_count && status == PW_OK; o++)
        nr->out[o].ref = outputs[o];
    pw_free(outputs);
    return status;
}

bool pw_divergence_finding(pw_status status)
{
    return status != PW_OK && status != PW_ERR_NO_MEMORY && status != PW_ERR_CANCELLED;
}

/* The target's values are the reference's from here on. */
static pw_status substitute(struct pw_node_run *nr, const char *reason, struct pw_error *err)
{
    nr->failed = true;
    pw_divergence_settle(nr->run, nr->row, PW_NODE_FAILED, reason);
    for (int o = 0; o < nr->out_count; o++) {
        pw_status status;

        if (nr->out[o].ref.kind == PW_VALUE_NONE)
            continue;
        status = pw_eval_round(&nr->out[o].got, &nr->out[o].ref, err);
        if (status != PW_OK)
            return status;
    }
    return PW_OK;
}

static pw_status run_target(struct pw_node_run *nr, struct pw_error *err)
{
    struct pw_value *outputs = pw_calloc((size_t)nr->out_count + 1, sizeof *outputs);
    struct pw_error failure = {0};
    pw_status status = outputs ? PW_OK : pw_error_memory(err, (size_t)nr->out_count * sizeof *outputs);

    nr->run->target.timed = nr->run->request->mode == PW_ENDTOEND_NODES; /* this one of the node's runs */
    if (status == PW_OK)
        status = pw_target_eval_step(&nr->run->target, nr->node, nr->gots, nr->in_count, outputs, nr->out_count,
                                     nr->seed, &nr->step, &failure);
    nr->run->target.timed = false;
    for (int o = 0; o < nr->out_count && status == PW_OK; o++)
        nr->out[o].got = outputs[o];
    pw_free(outputs);
    if (pw_divergence_finding(status))
        return substitute(nr, failure.message, err);
    return status == PW_OK ? PW_OK : pw_error_set(err, status, "%s", failure.message);
}

/* The reference's inputs in the graph's dtypes. share_got: they are bit by bit what the target had. */
static pw_status round_inputs(struct pw_node_run *nr, struct pw_error *err)
{
    nr->share_got = nr->isolated = true;
    for (int i = 0; i < nr->in_count; i++) {
        const struct pw_pair *in = nr->in[i];
        pw_status status;

        if (!in)
            continue;
        nr->isolated_in[i] = &in->got;
        if (in->exact)
            continue;
        status = pw_eval_round(&nr->rounded[i], &in->ref, err);
        if (status != PW_OK)
            return status;
        nr->isolated_in[i] = &nr->rounded[i];
        nr->share_got = nr->share_got && pw_divergence_exact(&in->got, &nr->rounded[i]);
    }
    nr->share_ref = nr->all_exact && !nr->step.cast;
    return PW_OK;
}

/* The target on the reference's inputs, golden on the same. */
static pw_status run_isolated(struct pw_node_run *nr, struct pw_error *err)
{
    struct pw_target_step step;
    struct pw_error failure = {0};
    pw_status status = round_inputs(nr, err);

    if (status == PW_OK && !nr->share_got) {
        size_t target = nr->run->target.target_nodes, host = nr->run->target.host_nodes,
               cast = nr->run->target.cast_nodes;

        status = pw_target_eval_step(&nr->run->target, nr->node, nr->isolated_in, nr->in_count, nr->isolated_got,
                                     nr->out_count, nr->seed, &step, &failure);
        nr->run->target.target_nodes = target; /* one node, run for the second time */
        nr->run->target.host_nodes = host;
        nr->run->target.cast_nodes = cast;
        if (pw_divergence_finding(status)) {
            nr->failed = true;
            pw_divergence_settle(nr->run, nr->row, PW_NODE_FAILED, failure.message);
            return PW_OK;
        }
        if (status != PW_OK)
            return pw_error_set(err, status, "%s", failure.message);
    }
    if (status == PW_OK && !nr->share_ref)
        status = pw_divergence_golden(nr->node, nr->isolated_in, NULL, pw_divergence_storage(nr), nr->seed, nr->out,
                                      nr->isolated_ref, err);
    return status;
}

/* ---- draws ---- */

/* A node whose outputs are draws is judged by its property; both sides go on with the target's. */
static pw_status judge_draws(struct pw_node_run *nr, struct pw_error *err)
{
    struct pw_value *outputs = pw_calloc((size_t)nr->out_count + 1, sizeof *outputs);
    struct pw_arena arena = {0};
    struct pw_dims *dims = NULL;
    struct pw_call call;
    struct pw_error broken = {0};
    pw_status status = outputs ? pw_dims_create(&dims, err) : pw_error_memory(err, sizeof *outputs);

    if (status == PW_OK)
        status = pw_call_from_values(nr->node, nr->gots, nr->in_count, dims, &arena, &call, err);
    if (status != PW_OK || !pw_call_draws(&call))
        goto done;
    nr->drawn = true;
    call.seed = nr->seed;
    for (int o = 0; o < nr->out_count; o++)
        outputs[o] = nr->out[o].got;
    if (nr->node->op->property)
        status = nr->node->op->property(&call, nr->gots, outputs, &broken);
    if (status == PW_ERR_NO_MEMORY)
        goto done;
    nr->culprit = status != PW_OK;
    pw_divergence_settle(nr->run, nr->row, nr->culprit ? PW_NODE_CULPRIT : PW_NODE_DRAWN, broken.message);
    status = PW_OK;
    for (int o = 0; o < nr->out_count && status == PW_OK; o++) {
        struct pw_value carried = {0}, copy = {0};

        status = pw_eval_carry(&carried, &nr->out[o].got, PW_EVAL_GOLDEN, err);
        if (status == PW_OK)
            status = pw_value_copy(&copy, &carried, err);
        pw_value_clear(&carried);
        if (status != PW_OK)
            break;
        pw_value_clear(&nr->out[o].ref);
        nr->out[o].ref = copy;
        nr->out[o].from.drawn = nr->out[o].exact = true;
    }
done:
    pw_free(outputs);
    pw_dims_destroy(dims);
    pw_arena_clear(&arena);
    return status;
}

/* ---- all of it ---- */

static void describe(struct pw_node_run *nr)
{
    struct pw_endtoend_node *row = nr->row;

    row->on_target = nr->step.on_target;
    row->cast = nr->step.cast;
    row->implementation = nr->step.implementation;
    row->dtype = nr->step.dtype;
    row->time_ns += nr->step.time_ns;
    *(nr->step.on_target ? &nr->run->totals->nodes_target_ns : &nr->run->totals->nodes_host_ns) += nr->step.time_ns;
    if (nr->step.note[0] && !row->note[0])
        row->note = pw_divergence_text(nr->run, nr->step.note);
}

static void clear_node(struct pw_node_run *nr)
{
    size_t extra = 0;

    for (int o = 0; nr->isolated_got && o < nr->out_count; o++) {
        extra += pw_value_bytes(&nr->out[o].ref) + pw_value_bytes(&nr->out[o].got);
        extra += pw_value_bytes(&nr->isolated_ref[o]) + pw_value_bytes(&nr->isolated_got[o]);
    }
    for (int i = 0; nr->isolated_got && i < nr->in_count; i++)
        extra += pw_value_bytes(&nr->rounded[i]);
    pw_divergence_peak(nr->run, extra);
    for (int o = 0; nr->isolated_got && o < nr->out_count; o++) {
        pw_value_clear(&nr->isolated_ref[o]);
        pw_value_clear(&nr->isolated_got[o]);
    }
    for (int i = 0; nr->isolated_got && i < nr->in_count; i++)
        pw_value_clear(&nr->rounded[i]);
}

pw_status pw_divergence_node(struct pw_divergence *run, const struct pw_node *node, struct pw_pair *const *in,
                             struct pw_pair *out, struct pw_error *err)
{
    struct pw_node_run nr = {.run = run,
                             .node = node,
                             .in = in,
                             .out = out,
                             .in_count = (int)node->input_count,
                             .out_count = (int)node->output_count,
                             .seed = pw_draw_seed(run->request->seed, run->draws)};
    struct pw_arena arena = {0};
    pw_status status;

    run->draws += node->op && node->op->random;
    status = pw_divergence_row(run, node, &nr.row, err);
    if (status == PW_OK)
        status = gather(&nr, &arena, err);
    if (status == PW_OK && run->request->capture)
        status = pw_capture_add(run->request->capture, node, nr.refs, nr.in_count, err);
    if (status == PW_OK)
        status = run_reference(&nr, err);
    if (status == PW_OK)
        status = run_target(&nr, err);
    if (status == PW_OK)
        describe(&nr);
    if (status == PW_OK && node->op && node->op->random && !nr.failed)
        status = judge_draws(&nr, err);
    if (status == PW_OK && run->request->mode == PW_ENDTOEND_NODES && !nr.drawn && !nr.failed)
        status = run_isolated(&nr, err);
    if (status == PW_OK)
        status = pw_divergence_judge(&nr, err);
    if (status == PW_OK && run->request->mode == PW_ENDTOEND_NODES)
        status = pw_divergence_member(&nr, err);
    clear_node(&nr);
    pw_arena_clear(&arena);
    return status;
}
