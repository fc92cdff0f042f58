#include "run/target_eval.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "graph/infer.h"

bool pw_node_has_subgraph(const struct pw_node *node)
{
    for (size_t i = 0; i < node->attr_count; i++)
        if (node->attrs[i].type == PW_ATTR_GRAPH || node->attrs[i].type == PW_ATTR_GRAPHS)
            return true;
    return false;
}

/* What runs the call on the target, as coverage says it; NULL with the reasons of what does not. */
static pw_status choose(const struct pw_target_eval *run, const struct pw_call *call, struct pw_arena *arena,
                        const struct pw_impl **out, struct pw_buf *why, struct pw_error *err)
{
    struct pw_impl_list list;
    pw_status status = pw_impl_place(call, run->kernels, run->device, arena, &list, err);

    *out = NULL;
    if (status != PW_OK)
        return status;
    if (list.selected >= 0 && list.coverage != PW_COVERAGE_HOST) {
        *out = &list.items[list.selected];
        return PW_OK;
    }
    for (size_t i = 0; i < list.count; i++)
        if (!list.items[i].supported)
            pw_buf_printf(why, "%s%s: %s", why->size ? "; " : "", list.items[i].name, list.items[i].why);
    if (!why->size)
        pw_buf_puts(why, "no kernel implements it");
    return PW_OK;
}

/* Outputs in nominal dtypes; *concrete false when a size depends on the data. */
static pw_status allocate(const struct pw_call *call, struct pw_value *outputs, int output_count, bool *concrete,
                          struct pw_error *err)
{
    *concrete = true;
    for (int i = 0; i < call->output_count && i < output_count; i++) {
        const struct pw_info *info = &call->out[i];
        int64_t shape[PW_MAX_RANK];
        pw_status status;

        if (!call->wanted[i])
            continue;
        if (info->kind != PW_VALUE_TENSOR || info->rank < 0 || info->dtype == PW_DTYPE_UNDEFINED)
            *concrete = false;
        for (int d = 0; *concrete && d < info->rank; d++)
            *concrete = pw_dims_value(call->dims, info->dims[d], &shape[d]);
        if (!*concrete)
            return PW_OK;
        status = pw_tensor_init(&outputs[i].tensor, info->dtype, info->rank, shape, err);
        if (status != PW_OK)
            return status;
        outputs[i].kind = PW_VALUE_TENSOR;
    }
    return PW_OK;
}

/* Which inputs are the model's own: what a kernel packs of them is packed once. */
static bool *constants_of(const struct pw_node *node, int input_count)
{
    bool *constant = pw_calloc((size_t)input_count + 1, sizeof *constant);

    for (int i = 0; constant && i < input_count; i++)
        constant[i] = node->inputs[i] != PW_NO_VALUE && node->graph->values[node->inputs[i]].initializer;
    return constant;
}

#define TIMED_RUNS 5          /* of a node, behind its first run, which may generate code */
#define TIMED_ENOUGH 20000000 /* ns: a long node is not run again and again */

static pw_status execute(struct pw_target_eval *run, const struct pw_impl *impl, const struct pw_call *call,
                         const struct pw_value *const *inputs, int input_count, struct pw_value *outputs,
                         int output_count, int64_t *time_ns, struct pw_error *err)
{
    struct pw_plan plan = {0};
    struct pw_exec_reply reply = {0};
    int64_t samples[TIMED_RUNS];
    bool *constant = run->timed ? constants_of(call->node, input_count) : NULL; /* without: packed each time */
    struct pw_exec_request request = {.plan = impl->kernel ? &plan : NULL,
                                      .call = call,
                                      .library = !impl->kernel,
                                      .inputs = inputs,
                                      .input_count = input_count,
                                      .outputs = outputs,
                                      .output_count = output_count,
                                      .poison = true,
                                      .constant = constant,
                                      .repeats = run->timed ? TIMED_RUNS : 0,
                                      .samples_ns = run->timed ? samples : NULL,
                                      .min_time_ns = TIMED_ENOUGH,
                                      .seed = run->seed,
                                      .cancel = run->cancel};
    pw_status status = PW_OK;

    if (impl->kernel)
        status = pw_kernel_plan(impl->kernel, call, pw_device_facts(run->device), NULL, 0, &plan, err);
    if (status == PW_OK)
        status = pw_device_execute(run->device, &request, &reply, err);
    if (status == PW_OK && (reply.overrun || reply.input_changed))
        status = pw_error_set(err, PW_ERR_TARGET, "%s '%s' %s %s", impl->kernel ? "kernel" : "library", impl->name,
                              reply.overrun ? "wrote outside the buffer of" : "changed the input", reply.where);
    if (status == PW_OK)
        status = pw_call_cut(call, reply.found, outputs, err);
    for (int i = 0; status == PW_OK && run->timed && i < reply.sample_count; i++)
        if (!i || samples[i] < *time_ns)
            *time_ns = samples[i]; /* the least: what ran beside it only adds */
    pw_exec_reply_clear(&reply);
    pw_plan_clear(&plan);
    pw_free(constant);
    return status;
}

#define WHY_UNKNOWN "the operator is not known"
#define WHY_CONTROL "control flow: the host decides what runs next"
#define WHY_STRING "strings live on the host: a target has numbers only"
#define WHY_SEQUENCE "sequences live on the host: a target has tensors only"
#define WHY_KERNEL "no kernel serves the call"
#define WHY_SIZE "the size of the output depends on the data"

static void add_reason(struct pw_target_eval *run, const struct pw_node *node, const char *why)
{
    const char *name = node->op ? node->op->name : node->op_type;
    bool steers = node->op && pw_node_has_subgraph(node);
    struct pw_host_reason *reason;

    run->host_nodes++;
    for (size_t i = 0; i < run->reason_count; i++) {
        if (!strcmp(run->reasons[i].why, why) && !strncmp(run->reasons[i].op, name, PW_TARGET_EVAL_OP - 1)) {
            run->reasons[i].nodes++;
            return;
        }
    }
    if (run->reason_count == PW_TARGET_EVAL_REASONS)
        return;
    reason = &run->reasons[run->reason_count++];
    *reason = (struct pw_host_reason){.why = why, .steers = steers, .nodes = 1};
    snprintf(reason->op, sizeof reason->op, "%s", name);
}

/* What kind of call no kernel takes. */
static const char *kind_of(const struct pw_call *call, bool concrete)
{
    if (call->op->host_only)
        return call->op->host_only;
    for (int i = 0; i < call->input_count; i++) {
        if (call->in[i] && call->in[i]->kind != PW_VALUE_TENSOR)
            return WHY_SEQUENCE;
        if (call->in[i] && call->in[i]->dtype == PW_DTYPE_STRING)
            return WHY_STRING;
    }
    for (int i = 0; i < call->output_count; i++)
        if (call->wanted[i] && call->out[i].dtype == PW_DTYPE_STRING)
            return WHY_STRING;
    return concrete ? WHY_KERNEL : WHY_SIZE;
}

static void note_host(struct pw_target_eval *run, const struct pw_call *call, bool concrete, const char *why,
                      struct pw_target_step *step)
{
    char where[192];

    add_reason(run, call->node, kind_of(call, concrete));
    snprintf(step->note, sizeof step->note, "%.180s", why);
    if (!pw_call_is_floating(call) || call->op->host_only || pw_node_has_subgraph(call->node))
        return;
    if (!run->host_floating++)
        snprintf(run->host_note, sizeof run->host_note, "%s on the host: %.120s",
                 pw_node_where(call->node, where, sizeof where), why);
}

/* ---- storage dtypes ---- */

static bool is_storage_float(pw_dtype dtype)
{
    return dtype == PW_DTYPE_FLOAT16 || dtype == PW_DTYPE_BFLOAT16 || dtype == PW_DTYPE_FLOAT32 ||
           dtype == PW_DTYPE_FLOAT64;
}

pw_status pw_target_cast_inputs(const struct pw_node *node, const struct pw_value *const *inputs, int input_count,
                                pw_dtype storage, struct pw_value *casts, const struct pw_value **in, bool *any,
                                struct pw_error *err)
{
    *any = false;
    for (int i = 0; i < input_count; i++) {
        const struct pw_formal *formal = node->op ? pw_op_formal(node->op->inputs, (size_t)i) : NULL;
        pw_status status;

        in[i] = inputs[i];
        if (!inputs[i] || inputs[i]->kind != PW_VALUE_TENSOR || !is_storage_float(inputs[i]->tensor.nominal) ||
            inputs[i]->tensor.nominal == storage || !formal || (formal->flags & PW_FORMAL_PARAM) ||
            (formal->type && pw_dtype_parse(formal->type) != PW_DTYPE_UNDEFINED))
            continue;
        status = pw_tensor_convert(&casts[i].tensor, &inputs[i]->tensor, storage, err);
        if (status != PW_OK)
            return status;
        casts[i].kind = PW_VALUE_TENSOR;
        in[i] = &casts[i];
        *any = true;
    }
    return PW_OK;
}

/* Brings outputs that came in the storage dtype back to what the graph's call says. */
static pw_status cast_back(const struct pw_call *graph_call, struct pw_value *outputs, int output_count,
                           struct pw_error *err)
{
    for (int i = 0; i < output_count && i < graph_call->output_count; i++) {
        struct pw_tensor made = {0};
        pw_dtype wanted = graph_call->out[i].dtype;
        pw_status status;

        if (outputs[i].kind != PW_VALUE_TENSOR || !is_storage_float(wanted) || outputs[i].tensor.dtype == wanted ||
            !is_storage_float(outputs[i].tensor.dtype))
            continue;
        status = pw_tensor_convert(&made, &outputs[i].tensor, wanted, err);
        if (status != PW_OK)
            return status;
        pw_tensor_clear(&outputs[i].tensor);
        outputs[i].tensor = made;
    }
    return PW_OK;
}

/* ---- one node ---- */

static pw_status run_on_host(const struct pw_node *node, const struct pw_value *const *inputs, int input_count,
                             struct pw_value *outputs, int output_count, uint64_t seed, struct pw_error *err)
{
    struct pw_value *carried = pw_calloc((size_t)input_count + 1, sizeof *carried);
    const struct pw_value **in = pw_calloc((size_t)input_count + 1, sizeof *in);
    pw_status status = carried && in ? PW_OK : pw_error_memory(err, (size_t)input_count * sizeof *carried);

    for (int i = 0; i < input_count && status == PW_OK; i++)
        if (inputs[i]) {
            status = pw_eval_carry(&carried[i], inputs[i], PW_EVAL_GOLDEN, err);
            in[i] = &carried[i];
        }
    if (status == PW_OK)
        status = pw_eval_node(node, PW_EVAL_GOLDEN, in, input_count, outputs, output_count, seed, err);
    for (int i = 0; i < output_count && status == PW_OK; i++) {
        struct pw_value rounded = {0};

        status = pw_eval_round(&rounded, &outputs[i], err);
        if (status == PW_OK) {
            pw_value_clear(&outputs[i]);
            outputs[i] = rounded;
        }
    }
    for (int i = 0; carried && i < input_count; i++)
        pw_value_clear(&carried[i]);
    pw_free(carried);
    pw_free(in);
    return status;
}

static pw_dtype floating_dtype(const struct pw_call *call)
{
    for (int i = 0; i < call->output_count; i++)
        if (call->wanted[i] && pw_dtype_is_float(call->out[i].dtype))
            return call->out[i].dtype;
    for (int i = 0; i < call->input_count; i++)
        if (call->in[i] && pw_dtype_is_float(call->in[i]->dtype))
            return call->in[i]->dtype;
    return PW_DTYPE_UNDEFINED;
}

/* What one node needs while it runs. */
struct step_state {
    struct pw_arena arena;
    struct pw_dims *dims;
    struct pw_call graph_call, call; /* in the graph's dtypes; as it runs */
    struct pw_value *casts;
    const struct pw_value **in;
    int input_count;
    struct pw_buf why;
};

static void step_clear(struct step_state *state)
{
    for (int i = 0; state->casts && i < state->input_count; i++)
        pw_value_clear(&state->casts[i]);
    pw_free(state->casts);
    pw_free(state->in);
    pw_buf_clear(&state->why);
    pw_dims_destroy(state->dims);
    pw_arena_clear(&state->arena);
}

/* Chooses the dtype: the wanted one where the operator exists in it, else the graph's, with the reason. */
static pw_status prepare(const struct pw_target_eval *run, const struct pw_node *node,
                         const struct pw_value *const *inputs, int input_count, uint64_t seed, struct step_state *state,
                         struct pw_target_step *step, struct pw_error *err)
{
    pw_dtype storage = run->storage ? run->storage(run->placement_user, node) : PW_DTYPE_UNDEFINED;
    struct pw_error refused = {0};
    bool any = false;
    pw_status status;

    state->input_count = input_count;
    state->casts = pw_calloc((size_t)input_count + 1, sizeof *state->casts);
    state->in = pw_calloc((size_t)input_count + 1, sizeof *state->in);
    if (!state->casts || !state->in)
        return pw_error_memory(err, (size_t)input_count * sizeof *state->casts);
    status = pw_dims_create(&state->dims, err);
    if (status == PW_OK)
        status = pw_call_from_values(node, inputs, input_count, state->dims, &state->arena, &state->graph_call, err);
    if (status != PW_OK)
        return status;
    state->call = state->graph_call;
    memcpy(state->in, inputs, (size_t)input_count * sizeof *inputs);
    if (storage != PW_DTYPE_UNDEFINED)
        status = pw_target_cast_inputs(node, inputs, input_count, storage, state->casts, state->in, &any, err);
    if (status == PW_OK && any) {
        status = pw_call_from_values(node, state->in, input_count, state->dims, &state->arena, &state->call, &refused);
        if (status == PW_ERR_NO_MEMORY)
            return pw_error_set(err, status, "%s", refused.message);
        if (status != PW_OK) {
            snprintf(step->note, sizeof step->note, "not in %s: %.150s", pw_dtype_name(storage), refused.message);
            memcpy(state->in, inputs, (size_t)input_count * sizeof *inputs);
            state->call = state->graph_call;
            any = false;
            status = PW_OK;
        }
    }
    pw_call_take_most(&state->call);
    state->call.seed = state->graph_call.seed = seed;
    step->cast = any;
    step->dtype = floating_dtype(&state->call);
    return status;
}

pw_status pw_target_eval_step(struct pw_target_eval *run, const struct pw_node *node,
                              const struct pw_value *const *inputs, int input_count, struct pw_value *outputs,
                              int output_count, uint64_t seed, struct pw_target_step *step, struct pw_error *err)
{
    struct step_state state = {0};
    const struct pw_impl *impl = NULL;
    bool target = run->device && !pw_device_is_reference(run->device);
    const char *stays = run->host ? run->host(run->placement_user, node) : NULL;
    bool concrete = true, constant;
    pw_status status;

    *step = (struct pw_target_step){.implementation = "reference"};
    if (!node->op)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "no definition and no kernel for '%s'", node->op_type);
    constant = !node->input_count && !strcmp(node->op->name, "Constant") && !node->op->domain[0];
    status = prepare(run, node, inputs, input_count, seed, &state, step, err);
    if (status == PW_OK && target && !constant && !node->op->host_only && !stays)
        status = choose(run, &state.call, &state.arena, &impl, &state.why, err);
    if (status == PW_OK && impl)
        status = allocate(&state.call, outputs, output_count, &concrete, err);
    if (status != PW_OK)
        goto done;
    if (impl && concrete) {
        status = execute(run, impl, &state.call, state.in, input_count, outputs, output_count, &step->time_ns, err);
        step->on_target = true;
        step->implementation = impl->name;
        run->target_nodes += status == PW_OK;
    } else {
        for (int i = 0; i < output_count; i++)
            pw_value_clear(&outputs[i]);
        if (!constant && target)
            note_host(run, &state.call, concrete,
                      stays                 ? stays
                      : node->op->host_only ? node->op->host_only
                      : concrete            ? pw_buf_text(&state.why)
                                            : WHY_SIZE,
                      step);
        else
            run->host_nodes += !constant;
        int64_t begin = pw_clock_ns();

        status = run_on_host(node, state.in, input_count, outputs, output_count, seed, err);
        step->time_ns = run->timed && !constant ? pw_clock_ns() - begin : 0;
    }
    run->cast_nodes += step->cast && status == PW_OK;
    if (status == PW_OK && step->cast)
        status = cast_back(&state.graph_call, outputs, output_count, err);
done:
    for (int i = 0; i < output_count && status != PW_OK; i++)
        pw_value_clear(&outputs[i]);
    step_clear(&state);
    return status;
}

pw_status pw_target_eval_node(void *user, const struct pw_node *node, const struct pw_value *const *inputs,
                              int input_count, struct pw_value *outputs, int output_count, bool *handled,
                              struct pw_error *err)
{
    struct pw_target_eval *run = user;
    struct pw_target_step step;
    uint64_t seed = pw_draw_seed(run->seed, run->draws);
    pw_status status;

    *handled = false;
    run->draws += node->op && node->op->random;
    if (!node->op || pw_node_has_subgraph(node)) {
        add_reason(run, node, !node->op ? WHY_UNKNOWN : node->op->host_only ? node->op->host_only : WHY_CONTROL);
        return PW_OK;
    }
    status = pw_target_eval_step(run, node, inputs, input_count, outputs, output_count, seed, &step, err);
    *handled = status == PW_OK;
    return status;
}
