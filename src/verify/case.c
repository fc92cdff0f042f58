/*
 * One case: draw the inputs, compute golden, run the implementation twice on the target, judge.
 * Everything that the target returns is checked here, in the parent.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "run/eval.h"
#include "verify/property.h"
#include "verify/verify_internal.h"

#define SECOND_SEED 0x9E3779B97F4A7C15u /* the second run is poisoned with another pattern */

const char *pw_case_keep(struct pw_case_run *run, const char *text)
{
    const char *copy = pw_arena_strndup(&run->arena, text, strlen(text));

    return copy ? copy : "";
}

void pw_case_settle(struct pw_case_run *run, pw_verdict verdict, const char *reason)
{
    run->result.verdict = verdict;
    run->result.reason = pw_case_keep(run, reason);
}

void pw_case_describe(struct pw_case_run *run)
{
    const struct pw_case_inputs *inputs = &run->inputs;
    struct pw_buf text = {0};
    bool first = true;

    for (int i = 0; i < inputs->count; i++)
        if (inputs->in[i]) {
            pw_buf_puts(&text, first ? "" : ", ");
            pw_tensor_describe(&inputs->in[i]->tensor, &text);
            first = false;
        }
    pw_buf_puts(&text, " -> ");
    for (int i = 0; i < inputs->call.output_count; i++) {
        const struct pw_info *info = &inputs->call.out[i];

        if (!inputs->call.wanted[i])
            continue;
        pw_buf_printf(&text, "%s%s[", i ? ", " : "", pw_dtype_name(info->dtype));
        for (int d = 0; d < info->rank; d++) {
            pw_buf_puts(&text, d ? "," : "");
            pw_dims_print(inputs->call.dims, info->dims[d], &text);
        }
        pw_buf_putc(&text, ']');
    }
    run->result.shapes = pw_case_keep(run, pw_buf_text(&text));
    pw_buf_clear(&text);
}

static pw_verdict verdict_of(pw_status status)
{
    switch (status) {
    case PW_ERR_CRASH:
        return PW_VERDICT_CRASH;
    case PW_ERR_TIMEOUT:
        return PW_VERDICT_TIMEOUT;
    default:
        return PW_VERDICT_ERROR;
    }
}

int64_t pw_case_deadline(const struct pw_case_run *run, const struct pw_call *call)
{
    int64_t set = run->request->effort.case_timeout_ns;

    return set > 0 ? set : pw_case_deadline_ns(pw_case_work(call), run->golden_ns, pw_case_crowd());
}

pw_status pw_case_judge_run(struct pw_case_run *run, pw_status status, const struct pw_exec_reply *reply,
                            const struct pw_error *failure, bool *ran, struct pw_error *err)
{
    char reason[256];

    *ran = false;
    if (reply->log.size)
        run->result.log = pw_case_keep(run, pw_buf_text(&reply->log));
    if (status == PW_ERR_CANCELLED || status == PW_ERR_NO_MEMORY)
        return pw_error_set(err, status, "%s", failure->message);
    if (status != PW_OK) {
        pw_case_settle(run, verdict_of(status), failure->message);
    } else if (reply->overrun || reply->input_changed) {
        snprintf(reason, sizeof reason, "%s %s", reply->overrun ? "wrote outside the buffer of" : "changed the input",
                 reply->where);
        pw_case_settle(run, PW_VERDICT_FAIL, reason);
    } else {
        *ran = true;
    }
    return PW_OK;
}

pw_status pw_case_target(struct pw_case_run *run, const struct pw_case_inputs *inputs, const struct pw_plan *plan,
                         bool again, struct pw_value *outputs, bool *ran, struct pw_error *err)
{
    struct pw_exec_request request = {.plan = run->library ? NULL : plan,
                                      .call = &inputs->call,
                                      .library = run->library,
                                      .inputs = inputs->in,
                                      .input_count = inputs->count,
                                      .constant = inputs->constant,
                                      .outputs = outputs,
                                      .output_count = inputs->call.output_count,
                                      .poison = true,
                                      .exact_end = again,
                                      .deadline_ns = pw_case_deadline(run, &inputs->call),
                                      .cancel = run->request->cancel,
                                      .seed = run->spec->seed ^ (again ? SECOND_SEED : 0)};
    struct pw_exec_reply reply = {0};
    struct pw_error failure = {0};
    pw_status status = pw_device_execute(run->request->device, &request, &reply, &failure);

    status = pw_case_judge_run(run, status, &reply, &failure, ran, err);
    if (*ran && pw_call_cut(&inputs->call, reply.found, outputs, &failure) != PW_OK) {
        pw_case_settle(run, PW_VERDICT_FAIL, failure.message);
        *ran = false;
    } else if (*ran && !run->result.time_ns) {
        run->result.time_ns = reply.times.wall_ns;
    }
    pw_exec_reply_clear(&reply);
    return status;
}

/* Moves every floating element by `share` of itself, up or down. */
static pw_status perturb_value(struct pw_value *carried, pw_perturbation kind, double share, uint64_t seed,
                               uint64_t stream, struct pw_error *err)
{
    struct pw_tensor moved = {0};
    pw_status status;

    if (carried->kind != PW_VALUE_TENSOR || !pw_dtype_is_float(carried->tensor.dtype))
        return PW_OK;
    status = pw_tensor_copy(&moved, &carried->tensor, err);
    if (status != PW_OK)
        return status;
    for (int64_t i = 0; i < moved.count; i++) {
        double x = pw_tensor_get(&moved, i);
        bool up =
            kind == PW_PERTURB_RANDOM ? pw_random_u32(seed, stream, (uint64_t)i) & 1 : x > 0; /* else: all to +inf */

        pw_tensor_set(&moved, i, x * (1 + (up ? share : -share)));
    }
    pw_value_clear(carried);
    *carried = (struct pw_value){.kind = PW_VALUE_TENSOR, .tensor = moved};
    return PW_OK;
}

pw_status pw_case_golden(const struct pw_case_inputs *inputs, pw_perturbation kind, double share, uint64_t seed,
                         struct pw_value *golden, struct pw_error *err)
{
    struct pw_value carried[PW_OP_MAX_FORMALS] = {0};
    const struct pw_value *in[PW_OP_MAX_FORMALS] = {0};
    pw_status status = PW_OK;

    for (int i = 0; i < inputs->count && status == PW_OK; i++)
        if (inputs->in[i]) {
            const struct pw_formal *formal = pw_op_formal(inputs->call.op->inputs, (size_t)i);

            status = pw_eval_carry(&carried[i], inputs->in[i], PW_EVAL_GOLDEN, err);
            if (status == PW_OK && kind != PW_PERTURB_NONE && !(formal && (formal->flags & PW_FORMAL_PARAM)))
                status = perturb_value(&carried[i], kind, share, seed, (uint64_t)i, err);
            in[i] = &carried[i];
        }
    if (status == PW_OK)
        status = pw_eval_node(inputs->call.node, PW_EVAL_GOLDEN, in, inputs->count, golden, inputs->call.output_count,
                              seed, err);
    for (int i = 0; i < inputs->count; i++)
        pw_value_clear(&carried[i]);
    return status;
}

/* A size that the data decides came out otherwise than in golden. */
static bool wrong_shape(struct pw_case_run *run, const struct pw_value *got, const struct pw_value *golden, int output)
{
    struct pw_buf text = {0};

    if (pw_judge_same_shape(&got->tensor, &golden->tensor))
        return false;
    pw_buf_printf(&text, "output %d is ", output);
    pw_tensor_describe(&got->tensor, &text);
    pw_buf_puts(&text, ", golden ");
    pw_tensor_describe(&golden->tensor, &text);
    pw_case_settle(run, PW_VERDICT_FAIL, pw_buf_text(&text));
    pw_buf_clear(&text);
    return true;
}

/* Golden, two runs, comparison of both. */
static pw_status run_and_judge(struct pw_case_run *run, struct pw_error *err)
{
    const struct pw_call *call = &run->inputs.call;
    int count = call->output_count;
    struct pw_value golden[PW_OP_MAX_FORMALS] = {0}, first[PW_OP_MAX_FORMALS] = {0}, second[PW_OP_MAX_FORMALS] = {0};
    struct pw_error failure = {0};
    int64_t begun_ns = pw_clock_ns();
    bool ran = false;
    pw_status status;

    status = pw_case_golden(&run->inputs, PW_PERTURB_NONE, 0, run->spec->seed, golden, &failure);
    run->golden_ns = pw_clock_ns() - begun_ns;
    if (status != PW_OK && status != PW_ERR_NO_MEMORY && run->spec->change_count) {
        pw_case_settle(run, PW_VERDICT_SKIPPED, failure.message); /* such a shape has no right answer */
        status = PW_OK;
        goto done;
    }
    if (status != PW_OK)
        pw_error_set(err, status, "%s", failure.message);
    if (status == PW_OK)
        status = pw_judge_condition(run, golden, err);
    if (status == PW_OK)
        status = pw_case_outputs(call, first, err);
    if (status == PW_OK)
        status = pw_case_outputs(call, second, err);
    if (status == PW_OK)
        status = pw_case_target(run, &run->inputs, &run->plan, false, first, &ran, err);
    if (status == PW_OK && ran)
        status = pw_case_target(run, &run->inputs, &run->plan, true, second, &ran, err);
    if (status != PW_OK || !ran)
        goto done;
    pw_judge_repeat(run, first, second, count);
    if (run->ordered)
        status = pw_judge_order(run, first, golden, err);
    for (int i = 0; i < count && status == PW_OK; i++) {
        if (first[i].kind != PW_VALUE_TENSOR || golden[i].kind != PW_VALUE_TENSOR)
            continue;
        if (wrong_shape(run, &first[i], &golden[i], i) || wrong_shape(run, &second[i], &golden[i], i))
            goto done;
        status = pw_judge_output(run, &first[i], &golden[i], i, err);
        if (status == PW_OK && run->result.nondeterministic)
            status = pw_judge_output(run, &second[i], &golden[i], i, err);
    }
    if (status == PW_OK) {
        int output = run->result.output;

        if (output >= 0 && run->result.comparison.max_error > 0)
            pw_judge_elements(run, &first[output], &golden[output]);
        pw_judge_reference(run, golden);
        pw_judge_verdict(run, golden);
    }
done:
    for (int i = 0; i < PW_OP_MAX_FORMALS; i++) {
        pw_value_clear(&golden[i]);
        pw_value_clear(&first[i]);
        pw_value_clear(&second[i]);
    }
    return status;
}

static pw_dtype output_dtype(const struct pw_call *call)
{
    for (int i = 0; i < call->output_count; i++)
        if (call->wanted[i] && call->out[i].dtype != PW_DTYPE_UNDEFINED)
            return call->out[i].dtype;
    return PW_DTYPE_UNDEFINED;
}

void pw_case_begin(struct pw_case_run *run)
{
    struct pw_case_result *result = &run->result;

    memset(result, 0, sizeof *result);
    result->dist = run->spec->dist;
    result->seed = run->spec->seed;
    result->output = -1;
    result->dtype = output_dtype(run->signature->call);
    result->implementation = run->impl ? run->impl->name : "";
    result->reference_error = result->least_tolerance = NAN;
    result->reason = result->log = result->shapes = result->tolerance_why = "";
    result->property = run->spec->property[0] ? run->spec->property : NULL;
    pw_case_id_print(run->signature, run->spec, result->id);
}

pw_status pw_case_choose(struct pw_case_run *run, bool *found, struct pw_error *err)
{
    const struct pw_impl *impl = run->impl;
    struct pw_impl_list list;
    pw_status status;

    *found = true;
    if (run->spec->change_count || run->spec->dtype != PW_DTYPE_UNDEFINED || run->spec->dist == PW_DIST_CAPTURED) {
        status = pw_impl_find(&run->inputs.call, run->request->kernels, run->request->device, &run->arena, &list, err);
        if (status != PW_OK)
            return status;
        impl = list.selected >= 0 ? &list.items[list.selected] : NULL;
        if (!impl || impl->kind == PW_COVERAGE_HOST) {
            *found = false;
            pw_case_settle(run, PW_VERDICT_UNSUPPORTED, list.reason ? list.reason : "no kernel serves this call");
            return PW_OK;
        }
        run->result.implementation = impl->name;
    }
    run->library = impl->kind == PW_COVERAGE_LIBRARY;
    if (!impl->kernel)
        return PW_OK;
    return pw_kernel_plan(impl->kernel, &run->inputs.call, pw_device_facts(run->request->device), NULL, 0, &run->plan,
                          err);
}

pw_status pw_case_end(struct pw_case_run *run, pw_status status, const struct pw_error *failure, struct pw_error *err)
{
    if (status == PW_ERR_NO_MEMORY || status == PW_ERR_CANCELLED) {
        pw_error_set(err, status, "%s", failure->message);
    } else if (status != PW_OK) { /* the case's trouble, not the run's */
        pw_case_settle(run, PW_VERDICT_ERROR, failure->message);
        status = PW_OK;
    }
    pw_plan_clear(&run->plan);
    pw_case_inputs_clear(&run->inputs);
    return status;
}

pw_status pw_case_execute(struct pw_case_run *run, struct pw_error *err)
{
    struct pw_buf why = {0};
    struct pw_error failure = {0};
    bool found = false;
    pw_status status;

    pw_case_begin(run);
    run->inputs.memory = run->request->effort.memory;
    status = pw_case_draw(run->signature, run->spec, run->capture, &run->inputs, &why, &failure);
    if (status == PW_ERR_MODEL && run->spec->change_count) { /* these contents do not go with this shape */
        pw_buf_puts(&why, failure.message);
        status = PW_OK;
    }
    if (status == PW_OK && why.size) {
        pw_case_settle(run, PW_VERDICT_SKIPPED, pw_buf_text(&why));
        goto done;
    }
    if (status == PW_OK) {
        pw_case_describe(run);
        run->result.dtype = output_dtype(&run->inputs.call);
        status = pw_case_choose(run, &found, &failure);
    }
    if (status == PW_OK && found)
        status = pw_judge_prepare(run, &failure);
    if (status == PW_OK && found)
        status = run->spec->property[0] ? pw_property_judge(run, &failure)
                 : pw_call_draws(&run->inputs.call) && !run->request->protocol->bitwise.random
                     ? pw_judge_random(run, &failure)
                     : run_and_judge(run, &failure);
done:
    pw_buf_clear(&why);
    return pw_case_end(run, status, &failure, err);
}

void pw_case_run_clear(struct pw_case_run *run)
{
    pw_arena_clear(&run->arena);
}
