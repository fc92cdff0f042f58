/*
 * A node with subgraphs on both sides in step. Its room's golden runs twice, once a side: the reference's on a thread
 * of its own. Whenever both want the same body run, the body runs once on pairs; so the nodes inside are compared
 * iteration by iteration and nothing is recorded. When the sides part (another branch, another number of iterations)
 * each body runs on its side alone, and the node says so. What fails on the target's side then ends that side: the node
 * has failed, what it does not give is the reference's, and the comparison goes on behind it.
 *
 * The thread only runs the room's code and waits; pairs and rows are touched by the calling thread alone.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "run/eval_internal.h"
#include "verify/divergence.h"

typedef enum { REF_RUNNING, REF_ASKS, REF_DONE } ref_state;

struct control {
    struct pw_pair_frame *frame;
    const struct pw_node *node;
    struct pw_pair *const *in;
    struct pw_inherited inherited, result; /* of the inputs; the worst of all bodies' results */
    char parted[160];                      /* how the sides parted; "" */
    char failed[480];                      /* what ended the target's side after that; "" */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    ref_state state;
    bool abandoned; /* the reference's side is to end */
    const struct pw_graph *graph;
    const struct pw_value *args;
    size_t arg_count;
    struct pw_value *results; /* of the reference, filled while it waits */
    pw_status answer;

    struct pw_value *ref_out; /* node outputs of the reference */
    pw_status ref_status;
    struct pw_error ref_error;
};

/* ---- one side alone ---- */

/* Frames of a plain evaluation that look at one side of the pairs. */
struct side_frames {
    struct pw_eval_frame frames[PW_EVAL_MAX_NESTING];
    int count;
};

static pw_status mirror(struct pw_pair_frame *from, bool reference, struct pw_eval_context *context,
                        struct side_frames *side, struct pw_eval_frame **out, struct pw_error *err)
{
    struct pw_eval_frame *frame = &side->frames[side->count];
    pw_status status = PW_OK;

    if (side->count == PW_EVAL_MAX_NESTING)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "graphs nested too deep");
    side->count++;
    *frame = (struct pw_eval_frame){.context = context, .graph = from->graph};
    frame->values = pw_calloc(from->graph->value_count, sizeof *frame->values);
    if (frame->values == NULL)
        return pw_error_memory(err, from->graph->value_count * sizeof *frame->values);
    for (size_t v = 0; v < from->graph->value_count && status == PW_OK; v++)
        if (from->pairs[v] != NULL)
            status = pw_value_view(&frame->values[v], reference ? &from->pairs[v]->ref : &from->pairs[v]->got, err);
    if (status == PW_OK && from->parent != NULL)
        status = mirror(from->parent, reference, context, side, &frame->parent, err);
    *out = frame;
    return status;
}

/* A node of the target's body alone, which is in no pair; one that fails is listed for that. */
static pw_status node_alone(void *user, const struct pw_node *node, const struct pw_value *const *inputs,
                            int input_count, struct pw_value *outputs, int output_count, bool *handled,
                            struct pw_error *err)
{
    struct control *c = user;
    struct pw_divergence *run = c->frame->run;
    struct pw_endtoend_node *row = NULL;
    struct pw_error failure = {0};
    pw_status status =
        pw_target_eval_node(&run->target, node, inputs, input_count, outputs, output_count, handled, &failure);

    if (status == PW_OK)
        return PW_OK;
    if (pw_divergence_finding(status) && pw_divergence_row(run, node, &row, NULL) == PW_OK)
        pw_divergence_settle(run, row, PW_NODE_FAILED, failure.message);
    return pw_error_set(err, status, "%s", failure.message);
}

/* args and results as they flow on that side: carried for the reference, nominal for the target. */
static pw_status run_alone(struct control *c, bool reference, const struct pw_graph *graph, const struct pw_value *args,
                           size_t arg_count, struct pw_value *results, struct pw_error *err)
{
    struct pw_divergence *run = c->frame->run;
    struct pw_eval_context context = {.options = {.mode = PW_EVAL_GOLDEN, .seed = run->request->seed}};
    struct side_frames *side = pw_calloc(1, sizeof *side);
    struct pw_eval_frame *frame = NULL;
    pw_status status = side != NULL ? pw_dims_create(&context.dims, err) : pw_error_memory(err, sizeof *side);

    if (!reference) {
        context.options.backend = node_alone;
        context.options.user = c;
    }
    context.draws = run->draws;
    if (status == PW_OK)
        status = mirror(c->frame, reference, &context, side, &frame, err);
    if (status == PW_OK)
        status = pw_eval_run_graph(frame, graph, args, arg_count, results, err);
    for (int i = 0; side != NULL && i < side->count; i++) {
        for (size_t v = 0; side->frames[i].values != NULL && v < side->frames[i].graph->value_count; v++)
            pw_value_clear(&side->frames[i].values[v]);
        pw_free(side->frames[i].values);
    }
    pw_free(side);
    pw_dims_destroy(context.dims);
    return status;
}

/* ---- both sides ---- */

static void inherit_all(struct pw_pair *pair, const struct control *c)
{
    struct pw_inherited from = c->inherited;

    pw_inherited_add(&from, &c->result);
    pair->exact = pw_divergence_exact(&pair->got, &pair->ref);
    pair->from = from;
    pair->from.tainted = from.tainted && !pair->exact;
    pair->from.bad = from.bad && !pair->exact;
}

/* The body once, on pairs. got_args are carried, as the room has them. */
static pw_status run_both(struct control *c, const struct pw_graph *graph, const struct pw_value *got_args,
                          size_t arg_count, struct pw_value *got_results, struct pw_error *err)
{
    struct pw_pair *args = pw_calloc(arg_count + 1, sizeof *args);
    struct pw_pair *results = pw_calloc(graph->output_count + 1, sizeof *results);
    pw_status status = args != NULL && results != NULL ? PW_OK : pw_error_memory(err, arg_count * sizeof *args);

    for (size_t i = 0; i < arg_count && status == PW_OK; i++) {
        if (got_args[i].kind == PW_VALUE_NONE)
            continue;
        status = pw_eval_round(&args[i].got, &got_args[i], err);
        if (status == PW_OK)
            status = pw_value_view(&args[i].ref, &c->args[i], err);
        if (status == PW_OK)
            inherit_all(&args[i], c);
    }
    if (status == PW_OK)
        status = pw_divergence_graph(c->frame->run, c->frame, graph, &args, arg_count, results, err);
    for (size_t o = 0; o < graph->output_count && status == PW_OK; o++) {
        struct pw_value carried = {0};

        pw_inherited_add(&c->result, &results[o].from);
        c->results[o] = results[o].ref;
        results[o].ref = (struct pw_value){0};
        status = pw_eval_carry(&carried, &results[o].got, PW_EVAL_GOLDEN, err);
        if (status == PW_OK)
            status = pw_value_copy(&got_results[o], &carried, err);
        pw_value_clear(&carried);
    }
    for (size_t o = 0; o < graph->output_count && status != PW_OK; o++) {
        if (c->results != NULL)
            pw_value_clear(&c->results[o]);
        pw_value_clear(&got_results[o]);
    }
    for (size_t i = 0; args != NULL && i < arg_count; i++)
        pw_pair_clear(&args[i]);
    for (size_t o = 0; results != NULL && o < graph->output_count; o++)
        pw_pair_clear(&results[o]);
    pw_free(args);
    pw_free(results);
    return status;
}

/* The target's body alone: its values are carried by the room. */
static pw_status run_target_alone(struct control *c, const struct pw_graph *graph, const struct pw_value *args,
                                  size_t arg_count, struct pw_value *results, struct pw_error *err)
{
    struct pw_value *nominal = pw_calloc(arg_count + 1, sizeof *nominal);
    pw_status status = nominal != NULL ? PW_OK : pw_error_memory(err, arg_count * sizeof *nominal);

    for (size_t i = 0; i < arg_count && status == PW_OK; i++)
        status = pw_eval_round(&nominal[i], &args[i], err);
    if (status == PW_OK)
        status = run_alone(c, false, graph, nominal, arg_count, results, err);
    for (size_t o = 0; o < graph->output_count && status == PW_OK; o++) {
        struct pw_value carried = {0}, copy = {0};

        status = pw_eval_carry(&carried, &results[o], PW_EVAL_GOLDEN, err);
        if (status == PW_OK)
            status = pw_value_copy(&copy, &carried, err);
        pw_value_clear(&carried);
        if (status != PW_OK)
            break;
        pw_value_clear(&results[o]);
        results[o] = copy;
    }
    for (size_t o = 0; o < graph->output_count && status != PW_OK; o++)
        pw_value_clear(&results[o]);
    for (size_t i = 0; nominal != NULL && i < arg_count; i++)
        pw_value_clear(&nominal[i]);
    pw_free(nominal);
    return status;
}

static void part(struct control *c, const char *how)
{
    if (c->parted[0] == '\0')
        snprintf(c->parted, sizeof c->parted, "the target %.140s", how);
}

/* Waits until the reference asks for a body or is done. */
static ref_state wait_for_reference(struct control *c)
{
    ref_state state;

    pthread_mutex_lock(&c->lock);
    while (c->state == REF_RUNNING)
        pthread_cond_wait(&c->changed, &c->lock);
    state = c->state;
    pthread_mutex_unlock(&c->lock);
    return state;
}

static void answer_reference(struct control *c, pw_status status)
{
    pthread_mutex_lock(&c->lock);
    c->answer = status;
    c->state = REF_RUNNING;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

/* The target's room wants a body run. */
static pw_status on_target_body(struct pw_eval *ev, const struct pw_graph *graph, const struct pw_value *args,
                                size_t arg_count, struct pw_value *results, struct pw_error *err)
{
    struct control *c = ev->user;
    ref_state state = wait_for_reference(c);
    pw_status status;

    for (size_t o = 0; o < graph->output_count; o++)
        results[o] = (struct pw_value){0};
    if (state == REF_ASKS && c->graph == graph && c->arg_count == arg_count) {
        status = run_both(c, graph, args, arg_count, results, err);
        answer_reference(c, status);
        return status;
    }
    if (state == REF_DONE && c->ref_status != PW_OK) /* its reason, not what the target may make of it alone */
        return pw_error_set(err, c->ref_status, "%s", c->ref_error.message);
    part(c, state == REF_DONE ? "goes on after the reference has ended" : "takes another branch than the reference");
    return run_target_alone(c, graph, args, arg_count, results, err);
}

/* The reference's room wants a body run: on its own thread; waits for the other side to do it. */
static pw_status on_reference_body(struct pw_eval *ev, const struct pw_graph *graph, const struct pw_value *args,
                                   size_t arg_count, struct pw_value *results, struct pw_error *err)
{
    struct control *c = ev->user;
    pw_status status;

    for (size_t o = 0; o < graph->output_count; o++)
        results[o] = (struct pw_value){0};
    pthread_mutex_lock(&c->lock);
    if (c->abandoned) {
        pthread_mutex_unlock(&c->lock);
        return pw_error_set(err, PW_ERR_CANCELLED, "the other side has ended");
    }
    c->graph = graph;
    c->args = args;
    c->arg_count = arg_count;
    c->results = results;
    c->state = REF_ASKS;
    pthread_cond_broadcast(&c->changed);
    while (c->state == REF_ASKS)
        pthread_cond_wait(&c->changed, &c->lock);
    status = c->abandoned ? PW_ERR_CANCELLED : c->answer;
    pthread_mutex_unlock(&c->lock);
    return status == PW_OK ? PW_OK : pw_error_set(err, status, "the other side has ended");
}

/* ---- the node ---- */

static pw_status run_room(struct control *c, bool reference, struct pw_value *outputs, struct pw_error *err)
{
    const struct pw_node *node = c->node;
    struct pw_arena arena = {0};
    struct pw_dims *dims = NULL;
    struct pw_call call;
    struct pw_eval ev = {.mode = PW_EVAL_GOLDEN,
                         .run_graph = reference ? on_reference_body : on_target_body,
                         .user = c,
                         .input_count = (int)node->input_count,
                         .output_count = (int)node->output_count,
                         .out = outputs};
    struct pw_value *carried = pw_calloc(node->input_count + 1, sizeof *carried);
    const struct pw_value **in = pw_calloc(node->input_count + 1, sizeof *in);
    pw_status status = carried && in ? pw_dims_create(&dims, err) : pw_error_memory(err, node->input_count);

    for (size_t i = 0; i < node->input_count && status == PW_OK; i++) {
        if (c->in[i] == NULL)
            continue;
        status = pw_eval_carry(&carried[i], reference ? &c->in[i]->ref : &c->in[i]->got, PW_EVAL_GOLDEN, err);
        in[i] = &carried[i];
    }
    if (status == PW_OK)
        status = pw_call_from_values(node, in, (int)node->input_count, dims, &arena, &call, err);
    if (status == PW_OK) {
        ev.call = &call;
        ev.in = in;
        status = node->op->golden(&ev, err);
    }
    for (size_t i = 0; carried != NULL && i < node->input_count; i++)
        pw_value_clear(&carried[i]);
    pw_free(carried);
    pw_free(in);
    pw_dims_destroy(dims);
    pw_arena_clear(&arena);
    return status;
}

static void *reference_main(void *user)
{
    struct control *c = user;

    c->ref_status = run_room(c, true, c->ref_out, &c->ref_error);
    pthread_mutex_lock(&c->lock);
    c->state = REF_DONE;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* Bodies that the reference still wants after the target has ended. */
static pw_status finish_reference(struct control *c, pw_status status, struct pw_error *err)
{
    while (wait_for_reference(c) == REF_ASKS) {
        if (status != PW_OK) {
            pthread_mutex_lock(&c->lock);
            c->abandoned = true;
            c->state = REF_RUNNING;
            pthread_cond_broadcast(&c->changed);
            pthread_mutex_unlock(&c->lock);
            continue;
        }
        part(c, "ends before the reference");
        status = run_alone(c, true, c->graph, c->args, c->arg_count, c->results, err);
        answer_reference(c, status);
    }
    return status;
}

/* What ended the target's side after the sides had parted, if that was it and not we. True: go on with the reference's
 * values. */
static bool target_failed(struct control *c, pw_status status, const struct pw_error *failure)
{
    if (!pw_divergence_finding(status) || c->parted[0] == '\0')
        return false;
    snprintf(c->failed, sizeof c->failed,
             "%s, and fails there: %.200s; what was left of its bodies is skipped, and the reference's outputs go on",
             c->parted, failure->message);
    return true;
}

/* Outputs of both sides into pairs: the target's rounded, as they flow there. */
static pw_status take_outputs(struct control *c, struct pw_value *got, struct pw_pair *out, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (size_t o = 0; o < c->node->output_count && status == PW_OK; o++) {
        out[o].ref = c->ref_out[o];
        c->ref_out[o] = (struct pw_value){0};
        if (c->failed[0] && out[o].ref.kind != PW_VALUE_NONE)
            status = pw_eval_round(&out[o].got, &out[o].ref, err);
        else if (got[o].kind != PW_VALUE_NONE)
            status = pw_eval_round(&out[o].got, &got[o], err);
        if (status == PW_OK)
            inherit_all(&out[o], c);
    }
    return status;
}

pw_status pw_divergence_control(struct pw_pair_frame *frame, const struct pw_node *node, struct pw_pair *const *in,
                                struct pw_pair *out, struct pw_error *err)
{
    struct control c = {.frame = frame, .node = node, .in = in};
    struct pw_value *got = NULL;
    struct pw_error failure = {0};
    pthread_t thread;
    pw_status status = PW_OK;

    if (node->op == NULL || node->op->golden == NULL)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "no reference for this operator");
    c.inherited = pw_inherited_from(in, node->input_count);
    got = pw_calloc(node->output_count + 1, sizeof *got);
    c.ref_out = pw_calloc(node->output_count + 1, sizeof *c.ref_out);
    if (got == NULL || c.ref_out == NULL) {
        status = pw_error_memory(err, node->output_count * sizeof *got);
        goto done;
    }
    pthread_mutex_init(&c.lock, NULL);
    pthread_cond_init(&c.changed, NULL);
    if (pthread_create(&thread, NULL, reference_main, &c) != 0) {
        status = pw_error_set(err, PW_ERR_INTERNAL, "no thread for the reference's side");
    } else {
        frame->run->target.host_nodes++;
        status = run_room(&c, false, got, &failure);
        if (target_failed(&c, status, &failure))
            status = PW_OK;
        else if (status != PW_OK)
            pw_error_set(err, status, "%s", failure.message);
        status = finish_reference(&c, status, err);
        pthread_join(thread, NULL);
        if (status == PW_OK && c.ref_status != PW_OK)
            status = pw_error_set(err, c.ref_status, "%s", c.ref_error.message);
    }
    pthread_mutex_destroy(&c.lock);
    pthread_cond_destroy(&c.changed);
    if (status == PW_OK)
        status = take_outputs(&c, got, out, err);
    if (status == PW_OK)
        status = pw_divergence_judge_outer(frame->run, node, in, out, c.failed[0] ? PW_NODE_FAILED : PW_NODE_VICTIM,
                                           c.failed[0] ? c.failed : c.parted, err);
done:
    for (size_t o = 0; o < node->output_count; o++) {
        if (got != NULL)
            pw_value_clear(&got[o]);
        if (c.ref_out != NULL)
            pw_value_clear(&c.ref_out[o]);
    }
    pw_free(got);
    pw_free(c.ref_out);
    return status;
}
