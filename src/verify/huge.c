/* A huge case, start to verdict, with no tensor in memory longer than it is needed. */
#include "verify/huge.h"

#include <inttypes.h>
#include <string.h>

static void give_back(void *user, int input)
{
    struct pw_case_run *run = user;
    struct pw_value *value = &run->inputs.values[input];

    if (value->kind == PW_VALUE_TENSOR && value->tensor.count >= PW_HUGE_PART)
        pw_value_clear(value);
}

static pw_status draw(struct pw_case_run *run, struct pw_buf *why, struct pw_error *err)
{
    pw_case_inputs_clear(&run->inputs);
    run->inputs.huge = true;
    return pw_case_draw(run->signature, run->spec, run->capture, &run->inputs, why, err);
}

/* With the memory that the kernel asks for beside the tensors. */
static int64_t with_scratch(const struct pw_plan *plan, int64_t need_bytes)
{
    int64_t bytes = need_bytes;

    for (size_t i = 0; i < plan->buffer_count; i++)
        if ((plan->buffers[i].kind == PW_BUFFER_SCRATCH || plan->buffers[i].kind == PW_BUFFER_PACKED) &&
            __builtin_add_overflow(bytes, (int64_t)plan->buffers[i].size_bytes, &bytes))
            return INT64_MAX;
    return bytes;
}

static bool affordable(struct pw_case_run *run, int64_t need_bytes)
{
    struct pw_buf why = {0};
    bool room = pw_huge_affordable(need_bytes, &why);

    if (!room)
        pw_case_settle(run, PW_VERDICT_SKIPPED, pw_buf_text(&why));
    pw_buf_clear(&why);
    return room;
}

/* Some elements in one row. */
static void head_of(const struct pw_tensor *t, struct pw_value *out)
{
    int64_t count = t->count < PW_HUGE_PART ? t->count : PW_HUGE_PART;

    pw_tensor_borrow(&out->tensor, t->dtype, 1, &count, t->data);
    out->kind = PW_VALUE_TENSOR;
}

/* Where the first element that differs lies says more of an index than the worst one does. */
static void name_first(struct pw_case_run *run, const struct pw_tensor *got, const struct pw_tensor *golden)
{
    size_t width = pw_dtype_bytes(golden->dtype);
    const char *a = got->data, *b = golden->data;
    struct pw_buf text = {0};
    int64_t i = 0;

    while (i < golden->count && !memcmp(a + (size_t)i * width, b + (size_t)i * width, width))
        i++;
    if (i == golden->count)
        return;
    pw_buf_printf(&text, "%s; the first is element ", run->result.reason);
    pw_compare_coordinates(golden, i, &text);
    pw_buf_printf(&text, ", number %" PRId64, i);
    pw_case_settle(run, run->result.verdict, pw_buf_text(&text));
    pw_buf_clear(&text);
}

/* Bits first, which is quick; what differs is compared element by element. */
static pw_status judge(struct pw_case_run *run, const struct pw_value *got, const struct pw_value *golden,
                       struct pw_error *err)
{
    pw_status status = PW_OK;
    bool same = true;

    for (int i = 0; i < run->inputs.call.output_count && same; i++)
        if (golden[i].kind == PW_VALUE_TENSOR)
            same = pw_judge_same_shape(&got[i].tensor, &golden[i].tensor) &&
                   !memcmp(got[i].tensor.data, golden[i].tensor.data, pw_tensor_bytes(&golden[i].tensor));
    for (int i = 0; i < run->inputs.call.output_count && status == PW_OK; i++) {
        if (golden[i].kind != PW_VALUE_TENSOR)
            continue;
        if (!pw_judge_same_shape(&got[i].tensor, &golden[i].tensor)) {
            pw_case_settle(run, PW_VERDICT_FAIL, "an output has another shape than golden's");
            return PW_OK;
        }
        if (same) { /* what is left to ask is whether the case says anything */
            struct pw_value one, other;

            head_of(&got[i].tensor, &one);
            head_of(&golden[i].tensor, &other);
            status = pw_judge_output(run, &one, &other, i, err);
            run->result.comparison.count = golden[i].tensor.count;
        } else {
            status = pw_judge_output(run, &got[i], &golden[i], i, err);
        }
    }
    if (status == PW_OK) {
        int output = run->result.output;

        if (output >= 0 && run->result.comparison.max_error > 0)
            pw_judge_elements(run, &got[output], &golden[output]);
        pw_judge_verdict(run, golden);
        if (output >= 0 && run->result.verdict == PW_VERDICT_FAIL)
            name_first(run, &got[output].tensor, &golden[output].tensor);
    }
    return status;
}

static pw_status run_on_target(struct pw_case_run *run, struct pw_value *outputs, bool *ran, struct pw_error *err)
{
    struct pw_exec_request request = {.plan = run->library ? NULL : &run->plan,
                                      .call = &run->inputs.call,
                                      .library = run->library,
                                      .inputs = run->inputs.in,
                                      .input_count = run->inputs.count,
                                      .outputs = outputs,
                                      .output_count = run->inputs.call.output_count,
                                      .poison = true,
                                      .deadline_ns = pw_case_deadline(run, &run->inputs.call),
                                      .taken = give_back,
                                      .taken_user = run,
                                      .cancel = run->request->cancel,
                                      .seed = run->spec->seed};
    struct pw_exec_reply reply = {0};
    struct pw_error failure = {0};
    pw_status status = pw_device_execute(run->request->device, &request, &reply, &failure);

    status = pw_case_judge_run(run, status, &reply, &failure, ran, err);
    if (*ran)
        run->result.time_ns = reply.times.wall_ns;
    pw_exec_reply_clear(&reply);
    return status;
}

static pw_status run_and_judge(struct pw_case_run *run, struct pw_error *err)
{
    struct pw_value golden[PW_OP_MAX_FORMALS] = {0}, got[PW_OP_MAX_FORMALS] = {0};
    struct pw_buf why = {0};
    bool ran = false;
    pw_status status = pw_case_outputs(&run->inputs.call, got, err);

    if (status == PW_OK)
        status = run_on_target(run, got, &ran, err);
    if (status == PW_OK && ran)
        status = draw(run, &why, err);
    if (status == PW_OK && ran)
        status = pw_case_golden(&run->inputs, PW_PERTURB_NONE, 0, run->spec->seed, golden, err);
    if (status == PW_OK && ran)
        status = judge(run, got, golden, err);
    for (int i = 0; i < PW_OP_MAX_FORMALS; i++) {
        pw_value_clear(&golden[i]);
        pw_value_clear(&got[i]);
    }
    pw_buf_clear(&why);
    return status;
}

pw_status pw_huge_execute(struct pw_case_run *run, struct pw_error *err)
{
    int64_t need = pw_huge_need(run->signature, run->spec, run->request->device);
    struct pw_buf why = {0};
    struct pw_error failure = {0};
    bool found = false;
    pw_status status = PW_OK;

    pw_case_begin(run);
    if (!affordable(run, need))
        goto done;
    status = draw(run, &why, &failure);
    if (status == PW_OK && why.size) {
        pw_case_settle(run, PW_VERDICT_SKIPPED, pw_buf_text(&why));
        goto done;
    }
    if (status == PW_OK) {
        pw_case_describe(run);
        status = pw_case_choose(run, &found, &failure);
    }
    if (status == PW_OK && found && !affordable(run, with_scratch(&run->plan, need)))
        goto done;
    if (status == PW_OK && found)
        status = pw_judge_prepare(run, &failure);
    if (status == PW_OK && found)
        status = run_and_judge(run, &failure);
    if (status == PW_ERR_NO_MEMORY) { /* others took what was there: no fault of the target */
        pw_case_settle(run, PW_VERDICT_SKIPPED, failure.message);
        status = PW_OK;
    }
done:
    pw_buf_clear(&why);
    return pw_case_end(run, status, &failure, err);
}
