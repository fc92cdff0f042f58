/*
 * Loop: body(iteration, condition, v…) -> condition, v…, scan…
 *
 * Inference looks for shapes that hold in every iteration: the body is inferred with the initial
 * shapes; dims that come back different are replaced by symbols of their own and the body is inferred
 * again, until nothing new differs.
 */
#include <inttypes.h>

#include "control.h"

#define MAX_PASSES 4
#define MAX_ITERATIONS ((int64_t)1 << 24)

struct loop {
    const struct pw_graph *body;
    size_t states, scans;
};

static pw_status read_loop(const struct pw_call *call, struct loop *loop, struct pw_error *err)
{
    pw_status status = pw_control_graph(call, "body", &loop->body, err);

    if (status != PW_OK)
        return status;
    loop->states = call->input_count > 2 ? (size_t)call->input_count - 2 : 0;
    if (loop->body->input_count != loop->states + 2)
        return pw_call_error(call, err, "the body has %zu inputs, expected %zu", loop->body->input_count,
                             loop->states + 2);
    if (loop->body->output_count < loop->states + 1)
        return pw_call_error(call, err, "the body has %zu outputs, expected at least %zu", loop->body->output_count,
                             loop->states + 1);
    loop->scans = loop->body->output_count - loop->states - 1;
    if ((size_t)call->output_count > loop->states + loop->scans)
        return pw_call_error(call, err, "%d outputs, but the body yields %zu", call->output_count,
                             loop->states + loop->scans);
    return PW_OK;
}

/* ---- inference ---- */

static bool surely_true(const struct pw_call *call, const struct pw_info *info)
{
    int64_t value;

    return info->content != NULL && info->content_count == 1 && pw_dims_value(call->dims, info->content[0], &value) &&
           value != 0;
}

/* Widens what does not survive an iteration. True when something changed. */
static bool widen(struct pw_call *call, struct pw_info *state, const struct pw_info *result, bool *varies)
{
    bool changed = false;

    if (state->kind != result->kind || state->dtype != result->dtype || state->rank != result->rank) {
        struct pw_info merged = pw_control_merge(call, state, result, "loop");

        changed = merged.kind != state->kind || merged.rank != state->rank || merged.dtype != state->dtype ||
                  merged.optional != state->optional;
        *state = merged;
        return changed;
    }
    for (int d = 0; d < state->rank; d++) {
        if (varies[d] || (state->dims[d] == result->dims[d] && state->dims[d] != PW_DIM_UNKNOWN))
            continue;
        varies[d] = true;
        state->dims[d] = pw_dims_fresh(call->dims, "loop");
        changed = true;
    }
    return changed;
}

/* Iterations, when it is the trip count alone that ends the loop. */
static pw_dim trip_count(struct pw_call *call, const struct pw_info *body_cond)
{
    const struct pw_info *m = pw_call_input(call, 0) ? call->in[0] : NULL;
    const struct pw_info *cond = pw_call_input(call, 1) ? call->in[1] : NULL;

    if (m == NULL || m->content == NULL || m->content_count != 1 || m->content[0] == PW_DIM_UNKNOWN)
        return pw_dims_fresh(call->dims, "iterations");
    if (cond != NULL && (!surely_true(call, cond) || !surely_true(call, body_cond)))
        return pw_dims_fresh(call->dims, "iterations");
    return pw_dims_max(call->dims, m->content[0], 0);
}

static pw_status first_arguments(struct pw_call *call, const struct loop *loop, struct pw_info *args,
                                 struct pw_error *err)
{
    static const pw_dim yes = 1; /* while the body runs its condition holds */
    pw_dim *iteration = pw_arena_alloc(call->arena, 1, sizeof *iteration);

    if (iteration == NULL)
        return pw_error_memory(err, sizeof *iteration);
    *iteration = pw_dims_fresh(call->dims, "iteration");
    args[0] = (struct pw_info){
        .kind = PW_VALUE_TENSOR, .dtype = PW_DTYPE_INT64, .rank = 0, .content = iteration, .content_count = 1};
    args[1] = (struct pw_info){
        .kind = PW_VALUE_TENSOR, .dtype = PW_DTYPE_BOOL, .rank = 0, .content = &yes, .content_count = 1};
    for (size_t i = 0; i < loop->states; i++) {
        args[i + 2] = (struct pw_info){.rank = -1, .optional = true};
        if (pw_call_input(call, (int)i + 2))
            args[i + 2] = pw_control_forget(call->in[i + 2]);
    }
    return PW_OK;
}

pw_status pw_loop_infer(struct pw_call *call, struct pw_error *err)
{
    struct loop loop;
    struct pw_info *args = NULL, *results = NULL;
    bool *varies = NULL, changed = true;
    pw_dim trips;
    pw_status status = read_loop(call, &loop, err);

    if (status != PW_OK || call->infer_graph == NULL)
        return status;
    args = pw_arena_alloc(call->arena, loop.states + 2, sizeof *args);
    results = pw_arena_alloc(call->arena, loop.body->output_count, sizeof *results);
    varies = pw_arena_alloc(call->arena, (loop.states + 1) * PW_MAX_RANK, sizeof *varies);
    if (args == NULL || results == NULL || varies == NULL)
        return pw_error_memory(err, loop.states * sizeof *args);
    status = first_arguments(call, &loop, args, err);
    for (int pass = 0; pass < MAX_PASSES && changed && status == PW_OK; pass++) {
        changed = false;
        status = call->infer_graph(call, loop.body, args, loop.states + 2, results, err);
        for (size_t i = 0; i < loop.states && status == PW_OK; i++)
            changed = widen(call, &args[i + 2], &results[i + 1], varies + i * PW_MAX_RANK) || changed;
    }
    if (status != PW_OK)
        return status;
    trips = trip_count(call, &results[0]);
    for (int i = 0; i < call->output_count && status == PW_OK; i++) {
        if ((size_t)i < loop.states) {
            call->out[i] = args[i + 2];
            for (int d = 0; d < call->out[i].rank; d++) { /* the last value is not that of an iteration */
                if (varies[i * PW_MAX_RANK + d] || changed)
                    call->out[i].dims[d] = pw_dims_fresh(call->dims, "loop");
            }
        } else {
            call->out[i] = pw_control_forget(&results[i + 1]);
            status = pw_control_insert_dim(call, &call->out[i], 0, trips, err);
        }
    }
    return status;
}

/* ---- running ---- */

struct loop_run {
    struct loop loop;
    struct pw_value *args;    /* iteration, condition, states */
    struct pw_value *results; /* of the body */
    struct pw_control_list *scans;
};

static pw_status start_loop(struct pw_eval *ev, struct loop_run *run, struct pw_error *err)
{
    size_t states = run->loop.states;
    pw_status status;

    run->args = pw_calloc(states + 2, sizeof *run->args);
    run->results = pw_calloc(run->loop.body->output_count, sizeof *run->results);
    run->scans = pw_calloc(run->loop.scans, sizeof *run->scans);
    if (run->args == NULL || run->results == NULL || run->scans == NULL)
        return pw_error_memory(err, states * sizeof *run->args);
    status = pw_tensor_init(&run->args[0].tensor, PW_DTYPE_INT64, 0, NULL, err);
    if (status == PW_OK)
        status = pw_tensor_init(&run->args[1].tensor, PW_DTYPE_BOOL, 0, NULL, err);
    run->args[0].kind = run->args[1].kind = PW_VALUE_TENSOR;
    for (size_t i = 0; i < states && status == PW_OK; i++) {
        if (ev->in[i + 2] != NULL)
            status = pw_value_view(&run->args[i + 2], ev->in[i + 2], err);
    }
    return status;
}

static pw_status iterate(struct pw_eval *ev, struct loop_run *run, int64_t iteration, bool *go_on, struct pw_error *err)
{
    size_t states = run->loop.states;
    const struct pw_value *cond = &run->results[0];
    pw_status status;

    pw_tensor_set_int(&run->args[0].tensor, 0, iteration);
    pw_tensor_set_int(&run->args[1].tensor, 0, *go_on);
    status = ev->run_graph(ev, run->loop.body, run->args, states + 2, run->results, err);
    if (status != PW_OK)
        return status;
    if (cond->kind != PW_VALUE_TENSOR || cond->tensor.count != 1 || cond->tensor.dtype != PW_DTYPE_BOOL) {
        status = pw_call_error(ev->call, err, "the body's condition is no single bool");
    } else {
        *go_on = pw_tensor_get_int(&cond->tensor, 0) != 0;
    }
    for (size_t i = 0; i < states && status == PW_OK; i++) {
        pw_value_clear(&run->args[i + 2]);
        run->args[i + 2] = run->results[i + 1];
        run->results[i + 1] = (struct pw_value){0};
    }
    for (size_t k = 0; k < run->loop.scans && status == PW_OK; k++)
        status = pw_control_list_add(ev->call, &run->scans[k], &run->results[states + 1 + k], err);
    for (size_t i = 0; i < run->loop.body->output_count; i++)
        pw_value_clear(&run->results[i]);
    return status;
}

static pw_status one_number(struct pw_eval *ev, int input, int64_t *value, struct pw_error *err)
{
    const struct pw_tensor *t = pw_eval_in(ev, input);

    if (t == NULL)
        return PW_OK; /* omitted: the caller's default */
    if (t->count != 1)
        return pw_call_error(ev->call, err, "input %d must be one number, found %" PRId64, input, t->count);
    *value = pw_tensor_get_int(t, 0);
    return PW_OK;
}

static pw_status finish_loop(struct pw_eval *ev, struct loop_run *run, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (int i = 0; i < ev->output_count && status == PW_OK; i++) {
        size_t scan = (size_t)i - run->loop.states;

        if ((size_t)i < run->loop.states)
            status = pw_value_copy(&ev->out[i], &run->args[i + 2], err);
        else
            status = pw_control_stack(ev, i, &run->scans[scan], run->loop.body, (size_t)i + 1, 0, false,
                                      (int64_t)run->scans[scan].count, err);
    }
    return status;
}

pw_status pw_loop_run(struct pw_eval *ev, struct pw_error *err)
{
    struct loop_run run = {.args = NULL};
    int64_t trips = INT64_MAX, cond = 1;
    bool go_on, conditional = pw_eval_in(ev, 1) != NULL;
    pw_status status = read_loop(ev->call, &run.loop, err);

    if (status == PW_OK)
        status = one_number(ev, 0, &trips, err);
    if (status == PW_OK)
        status = one_number(ev, 1, &cond, err);
    if (status == PW_OK)
        status = start_loop(ev, &run, err);
    go_on = cond != 0;
    for (int64_t i = 0; i < trips && go_on && status == PW_OK; i++) {
        if (i == MAX_ITERATIONS) {
            status = pw_call_error(ev->call, err, "no end after %" PRId64 " iterations", i);
            break;
        }
        status = iterate(ev, &run, i, &go_on, err);
        go_on = go_on || !conditional; /* without a condition only the trip count ends the loop */
    }
    if (status == PW_OK)
        status = finish_loop(ev, &run, err);
    for (size_t i = 0; run.args != NULL && i < run.loop.states + 2; i++)
        pw_value_clear(&run.args[i]);
    for (size_t i = 0; run.results != NULL && i < run.loop.body->output_count; i++)
        pw_value_clear(&run.results[i]);
    for (size_t k = 0; run.scans != NULL && k < run.loop.scans; k++)
        pw_control_list_clear(&run.scans[k]);
    pw_free(run.args);
    pw_free(run.results);
    pw_free(run.scans);
    return status;
}
