#include "run/target_eval.h"

#include <stdio.h>
#include <string.h>

#include "graph/infer.h"

static bool is_floating(const struct pw_call *call)
{
    for (int i = 0; i < call->input_count; i++)
        if (call->in[i] && pw_dtype_is_float(call->in[i]->dtype))
            return true;
    for (int i = 0; i < call->output_count; i++)
        if (call->wanted[i] && pw_dtype_is_float(call->out[i].dtype))
            return true;
    return false;
}

static bool has_subgraph(const struct pw_node *node)
{
    for (size_t i = 0; i < node->attr_count; i++)
        if (node->attrs[i].type == PW_ATTR_GRAPH || node->attrs[i].type == PW_ATTR_GRAPHS)
            return true;
    return false;
}

/* The kernel of highest priority that serves the call; NULL with the reasons of those that do not. */
static pw_status choose_kernel(const struct pw_target_eval *run, const struct pw_call *call,
                               const struct pw_kernel **out, struct pw_buf *why, struct pw_error *err)
{
    const struct pw_kernel *found[64];
    size_t count = pw_kernels_for(run->kernels, call->op, found, 64);
    int64_t best = 0;

    *out = NULL;
    if (!count)
        pw_buf_puts(why, "no kernel implements it");
    for (size_t i = 0; i < count && i < 64; i++) {
        struct pw_buf reason = {0};
        int64_t priority = 0;
        bool supported = false;
        pw_status status = pw_kernel_supports(found[i], call, pw_device_facts(run->device), NULL, 0, &supported,
                                              &priority, &reason, err);

        if (status == PW_OK && supported && (!*out || priority > best)) {
            *out = found[i];
            best = priority;
        } else if (status == PW_OK && !supported) {
            pw_buf_printf(why, "%s%s: %s", why->size ? "; " : "", pw_kernel_name(found[i]), pw_buf_text(&reason));
        }
        pw_buf_clear(&reason);
        if (status != PW_OK)
            return status;
    }
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

static pw_status execute(struct pw_target_eval *run, const struct pw_kernel *kernel, const struct pw_call *call,
                         const struct pw_value *const *inputs, int input_count, struct pw_value *outputs,
                         int output_count, struct pw_error *err)
{
    struct pw_plan plan = {0};
    struct pw_exec_reply reply = {0};
    struct pw_exec_request request = {.plan = &plan,
                                      .call = call,
                                      .inputs = inputs,
                                      .input_count = input_count,
                                      .outputs = outputs,
                                      .output_count = output_count,
                                      .poison = true,
                                      .seed = run->seed};
    pw_status status;

    status = pw_kernel_plan(kernel, call, pw_device_facts(run->device), NULL, 0, &plan, err);
    if (status == PW_OK)
        status = pw_device_execute(run->device, &request, &reply, err);
    if (status == PW_OK && (reply.overrun || reply.input_changed))
        status = pw_error_set(err, PW_ERR_TARGET, "kernel '%s' %s %s", pw_kernel_name(kernel),
                              reply.overrun ? "wrote outside the buffer of" : "changed the input", reply.where);
    pw_exec_reply_clear(&reply);
    pw_plan_clear(&plan);
    return status;
}

static void note_host(struct pw_target_eval *run, const struct pw_call *call, const char *why)
{
    char where[192];

    run->host_nodes++;
    if (!is_floating(call) || call->op->host_only || has_subgraph(call->node))
        return;
    if (!run->host_floating++)
        snprintf(run->host_note, sizeof run->host_note, "%s on the host: %.120s",
                 pw_node_where(call->node, where, sizeof where), why);
}

pw_status pw_target_eval_node(void *user, const struct pw_node *node, const struct pw_value *const *inputs,
                              int input_count, struct pw_value *outputs, int output_count, bool *handled,
                              struct pw_error *err)
{
    struct pw_target_eval *run = user;
    const struct pw_kernel *kernel = NULL;
    struct pw_arena arena = {0};
    struct pw_dims *dims = NULL;
    struct pw_buf why = {0};
    struct pw_call call;
    uint64_t seed = pw_draw_seed(run->seed, run->draws);
    bool concrete = true;
    pw_status status;

    *handled = false;
    run->draws += node->op && node->op->random;
    if (!node->op || has_subgraph(node)) {
        run->host_nodes++;
        return PW_OK;
    }
    if (!node->input_count && !strcmp(node->op->name, "Constant") && !node->op->domain[0])
        return PW_OK; /* no work: a value that the file holds */
    status = pw_dims_create(&dims, err);
    if (status == PW_OK)
        status = pw_call_from_values(node, inputs, input_count, dims, &arena, &call, err);
    call.seed = seed;
    if (status == PW_OK && !node->op->host_only)
        status = choose_kernel(run, &call, &kernel, &why, err);
    if (status != PW_OK)
        goto done;
    if (kernel)
        status = allocate(&call, outputs, output_count, &concrete, err);
    if (status != PW_OK)
        goto done;
    if (!kernel || !concrete) {
        note_host(run, &call, concrete ? pw_buf_text(&why) : "the size of its output depends on the data");
        goto done;
    }
    status = execute(run, kernel, &call, inputs, input_count, outputs, output_count, err);
    *handled = status == PW_OK;
    run->target_nodes += *handled;
done:
    for (int i = 0; i < output_count && !*handled; i++)
        pw_value_clear(&outputs[i]);
    pw_buf_clear(&why);
    pw_dims_destroy(dims);
    pw_arena_clear(&arena);
    return status;
}
