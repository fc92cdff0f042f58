/*
 * One case: draw the inputs, compute golden, run the implementation twice on the target, judge.
 * Everything that the target returns is checked here, in the parent.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "run/eval.h"
#include "verify/verify_internal.h"

static const char *keep_text(struct pw_case_run *run, const char *text)
{
    const char *copy = pw_arena_strndup(&run->arena, text, strlen(text));

    return copy ? copy : "";
}

static void settle(struct pw_case_run *run, pw_verdict verdict, const char *reason)
{
    run->result.verdict = verdict;
    run->result.reason = keep_text(run, reason);
}

static void describe_shapes(struct pw_case_run *run, const struct pw_case_inputs *inputs)
{
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
    run->result.shapes = keep_text(run, pw_buf_text(&text));
    pw_buf_clear(&text);
}

/* Would this case have caught an output that is all zeros or one constant (its mean)? */
static bool discriminates(const struct pw_tensor *golden, double tolerance)
{
    struct pw_comparison comparison;
    struct pw_tensor fake = {0};
    bool caught = false;
    double mean = 0;

    if (golden->count == 0 || pw_dtype_facts(golden->dtype)->kind == PW_KIND_STRING ||
        pw_dtype_facts(golden->dtype)->kind == PW_KIND_COMPLEX)
        return golden->count > 0;
    if (pw_tensor_init(&fake, golden->nominal, golden->rank, golden->dims, NULL) != PW_OK)
        return false;
    caught = pw_compare(&fake, golden, tolerance, -1, &comparison, NULL) == PW_OK && comparison.over > 0;
    if (caught && golden->count > 1) {
        for (int64_t i = 0; i < golden->count; i++)
            mean += pw_tensor_get(golden, i) / (double)golden->count;
        if (isfinite(mean)) {
            for (int64_t i = 0; i < golden->count; i++)
                pw_tensor_set(&fake, i, mean);
            caught = pw_compare(&fake, golden, tolerance, -1, &comparison, NULL) == PW_OK && comparison.over > 0;
        }
    }
    pw_tensor_clear(&fake);
    return caught;
}

/* `exact` draws make every order of summation give the same bits, so a float32 product owes none. */
static double tolerance_of_dist(const struct pw_case_run *run, double tolerance)
{
    pw_category category = run->signature->category;

    if (run->result.dist == PW_DIST_EXACT && run->result.dtype == PW_DTYPE_FLOAT32 &&
        (category == PW_CATEGORY_MATMUL || category == PW_CATEGORY_CONVOLUTION))
        return 0;
    return tolerance;
}

static pw_status judge_output(struct pw_case_run *run, const struct pw_value *got, const struct pw_value *golden,
                              int output, struct pw_error *err)
{
    struct pw_comparison comparison;
    pw_status status;

    status = pw_compare(&got->tensor, &golden->tensor, run->result.tolerance, -1, &comparison, err);
    if (status != PW_OK)
        return status;
    run->result.discriminates |= discriminates(&golden->tensor, run->result.tolerance);
    if (run->result.output < 0 || comparison.over > run->result.comparison.over ||
        (comparison.over == run->result.comparison.over && comparison.max_error > run->result.comparison.max_error)) {
        run->result.comparison = comparison;
        run->result.output = output;
    }
    if (!(comparison.max_error <= run->result.least_tolerance)) /* the first, or a greater one */
        run->result.least_tolerance = comparison.max_error;
    return PW_OK;
}

static void judge(struct pw_case_run *run, const struct pw_value *golden)
{
    const struct pw_comparison *c = &run->result.comparison;
    struct pw_buf text = {0};

    if (run->result.output < 0) {
        settle(run, PW_VERDICT_SKIPPED, "the case has no output to compare");
        return;
    }
    if (c->over > 0) {
        pw_buf_printf(&text, "output %d, element ", run->result.output);
        pw_compare_coordinates(&golden[run->result.output].tensor, c->worst, &text);
        pw_buf_printf(&text,
                      ": got %.9g, golden %.9g, error %.3g, tolerance %.3g; %" PRId64 " of %" PRId64 " elements %s",
                      c->worst_got, c->worst_want, c->max_error, run->result.tolerance, c->over, c->count,
                      c->mismatches ? "differ or are NaN/Inf on one side" : "are over");
        settle(run, PW_VERDICT_FAIL, pw_buf_text(&text));
    } else if (run->result.nondeterministic) {
        pw_buf_printf(&text, "two runs differ by %.3g", run->result.spread);
        settle(run, PW_VERDICT_WARN, pw_buf_text(&text));
    } else if (run->result.tolerance > 0 && c->max_error > run->request->protocol->warn_share * run->result.tolerance) {
        pw_buf_printf(&text, "error %.3g is above %.0f %% of the tolerance", c->max_error,
                      100 * run->request->protocol->warn_share);
        settle(run, PW_VERDICT_WARN, pw_buf_text(&text));
    } else {
        settle(run, PW_VERDICT_PASS, "");
    }
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

/* One run on the target; a failed run settles the verdict and leaves *ran false. */
static pw_status run_target(struct pw_case_run *run, const struct pw_case_inputs *inputs, const struct pw_plan *plan,
                            struct pw_value *outputs, uint64_t seed, bool *ran, struct pw_error *err)
{
    struct pw_exec_request request = {.plan = plan,
                                      .call = &inputs->call,
                                      .library = run->impl->kind == PW_COVERAGE_LIBRARY,
                                      .inputs = inputs->in,
                                      .input_count = inputs->count,
                                      .constant = inputs->constant,
                                      .outputs = outputs,
                                      .output_count = inputs->call.output_count,
                                      .poison = true,
                                      .seed = seed};
    struct pw_exec_reply reply = {0};
    struct pw_error failure = {0};
    pw_status status = pw_device_execute(run->request->device, &request, &reply, &failure);

    *ran = false;
    if (reply.log.size)
        run->result.log = keep_text(run, pw_buf_text(&reply.log));
    if (status == PW_ERR_CANCELLED || status == PW_ERR_NO_MEMORY) {
        status = pw_error_set(err, status, "%s", failure.message);
    } else if (status != PW_OK) {
        settle(run, verdict_of(status), failure.message);
        status = PW_OK;
    } else if (reply.overrun || reply.input_changed) {
        char reason[256];

        snprintf(reason, sizeof reason, "%s %s", reply.overrun ? "wrote outside the buffer of" : "changed the input",
                 reply.where);
        settle(run, PW_VERDICT_FAIL, reason);
    } else if (pw_call_cut(&inputs->call, reply.found, outputs, &failure) != PW_OK) {
        settle(run, PW_VERDICT_FAIL, failure.message);
    } else {
        *ran = true;
        if (!run->result.time_ns)
            run->result.time_ns = reply.times.wall_ns;
    }
    pw_exec_reply_clear(&reply);
    return status;
}

static pw_status golden_of(const struct pw_case_inputs *inputs, struct pw_value *golden, uint64_t seed,
                           struct pw_error *err)
{
    struct pw_value carried[PW_OP_MAX_FORMALS] = {0};
    const struct pw_value *in[PW_OP_MAX_FORMALS] = {0};
    pw_status status = PW_OK;

    for (int i = 0; i < inputs->count && status == PW_OK; i++)
        if (inputs->in[i]) {
            status = pw_eval_carry(&carried[i], inputs->in[i], PW_EVAL_GOLDEN, err);
            in[i] = &carried[i];
        }
    if (status == PW_OK)
        status = pw_eval_node(inputs->call.node, PW_EVAL_GOLDEN, in, inputs->count, golden, inputs->call.output_count,
                              seed, err);
    for (int i = 0; i < inputs->count; i++)
        pw_value_clear(&carried[i]);
    return status;
}

static bool same_shape(const struct pw_tensor *a, const struct pw_tensor *b)
{
    return a->rank == b->rank && !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims);
}

/* A size that the data decides came out otherwise than in golden. */
static bool wrong_shape(struct pw_case_run *run, const struct pw_value *got, const struct pw_value *golden, int output)
{
    struct pw_buf text = {0};

    if (same_shape(&got->tensor, &golden->tensor))
        return false;
    pw_buf_printf(&text, "output %d is ", output);
    pw_tensor_describe(&got->tensor, &text);
    pw_buf_puts(&text, ", golden ");
    pw_tensor_describe(&golden->tensor, &text);
    settle(run, PW_VERDICT_FAIL, pw_buf_text(&text));
    pw_buf_clear(&text);
    return true;
}

static void note_spread(struct pw_case_run *run, const struct pw_value *first, const struct pw_value *second, int count)
{
    for (int i = 0; i < count; i++) {
        struct pw_comparison comparison;

        bool sized = first[i].kind == PW_VALUE_TENSOR && same_shape(&first[i].tensor, &second[i].tensor);

        if (first[i].kind == PW_VALUE_TENSOR && !sized) {
            run->result.nondeterministic = true;
            run->result.spread = INFINITY;
        }
        if (!sized || !first[i].tensor.count ||
            !memcmp(first[i].tensor.data, second[i].tensor.data, pw_tensor_bytes(&first[i].tensor)))
            continue;
        run->result.nondeterministic = true;
        if (pw_compare(&second[i].tensor, &first[i].tensor, 0, -1, &comparison, NULL) == PW_OK &&
            comparison.max_error > run->result.spread)
            run->result.spread = comparison.max_error;
    }
}

/* Golden, two runs, comparison of both. */
static pw_status run_and_judge(struct pw_case_run *run, struct pw_case_inputs *inputs, const struct pw_plan *plan,
                               uint64_t seed, struct pw_error *err)
{
    int count = inputs->call.output_count;
    struct pw_value golden[PW_OP_MAX_FORMALS] = {0}, first[PW_OP_MAX_FORMALS] = {0}, second[PW_OP_MAX_FORMALS] = {0};
    bool ran = false;
    pw_status status;

    status = golden_of(inputs, golden, seed, err);
    if (status == PW_OK)
        status = pw_case_outputs(&inputs->call, first, err);
    if (status == PW_OK)
        status = pw_case_outputs(&inputs->call, second, err);
    if (status == PW_OK)
        status = run_target(run, inputs, plan, first, seed, &ran, err);
    if (status == PW_OK && ran)
        status = run_target(run, inputs, plan, second, seed + 1, &ran, err);
    if (status != PW_OK || !ran)
        goto done;
    note_spread(run, first, second, count);
    for (int i = 0; i < count && status == PW_OK; i++) {
        if (first[i].kind != PW_VALUE_TENSOR || golden[i].kind != PW_VALUE_TENSOR)
            continue;
        if (wrong_shape(run, &first[i], &golden[i], i) || wrong_shape(run, &second[i], &golden[i], i))
            goto done;
        status = judge_output(run, &first[i], &golden[i], i, err);
        if (status == PW_OK && run->result.nondeterministic)
            status = judge_output(run, &second[i], &golden[i], i, err);
    }
    if (status == PW_OK)
        judge(run, golden);
done:
    for (int i = 0; i < PW_OP_MAX_FORMALS; i++) {
        pw_value_clear(&golden[i]);
        pw_value_clear(&first[i]);
        pw_value_clear(&second[i]);
    }
    return status;
}

static pw_dtype case_dtype(const struct pw_call *call)
{
    for (int i = 0; i < call->output_count; i++)
        if (call->wanted[i] && call->out[i].dtype != PW_DTYPE_UNDEFINED)
            return call->out[i].dtype;
    return PW_DTYPE_UNDEFINED;
}

static void begin(struct pw_case_run *run, pw_dist dist, uint64_t seed)
{
    struct pw_case_result *result = &run->result;

    memset(result, 0, sizeof *result);
    result->dist = dist;
    result->seed = seed;
    result->output = -1;
    result->dtype = case_dtype(run->signature->call);
    result->implementation = run->impl ? run->impl->name : "";
    result->reference_error = result->least_tolerance = NAN;
    result->reason = result->log = result->shapes = result->tolerance_why = "";
    snprintf(result->id, sizeof result->id, "1:%s:%s:graph:%s:%" PRIu64, run->signature->id,
             pw_dtype_facts(result->dtype)->short_name, pw_dist_name(dist), seed);
}

pw_status pw_case_execute(struct pw_case_run *run, pw_dist dist, uint64_t seed, struct pw_error *err)
{
    struct pw_case_inputs inputs = {0};
    struct pw_plan plan = {0};
    struct pw_buf why = {0};
    struct pw_error failure = {0};
    const char *node_name = run->signature->nodes[0]->name;
    pw_status status;

    begin(run, dist, seed);
    status = pw_case_draw(run->signature, dist, seed, &inputs, &why, &failure);
    if (status == PW_OK && why.size) {
        settle(run, PW_VERDICT_SKIPPED, pw_buf_text(&why));
        goto done;
    }
    if (status == PW_OK) {
        describe_shapes(run, &inputs);
        status =
            pw_protocol_tolerance(run->request->protocol, &inputs.call, node_name, pw_device_info(run->request->device),
                                  &run->arena, &run->result.tolerance, &run->result.tolerance_why, &failure);
        run->result.tolerance = tolerance_of_dist(run, run->result.tolerance);
    }
    if (status == PW_OK && run->impl->kernel)
        status = pw_kernel_plan(run->impl->kernel, &inputs.call, pw_device_facts(run->request->device), NULL, 0, &plan,
                                &failure);
    if (status == PW_OK)
        status = run_and_judge(run, &inputs, run->impl->kernel ? &plan : NULL, seed, &failure);
    if (status != PW_OK && status != PW_ERR_NO_MEMORY && status != PW_ERR_CANCELLED) {
        settle(run, PW_VERDICT_ERROR, failure.message); /* the case's trouble, not the run's */
        status = PW_OK;
    }
    if (status != PW_OK)
        pw_error_set(err, status, "%s", failure.message);
done:
    pw_plan_clear(&plan);
    pw_case_inputs_clear(&inputs);
    pw_buf_clear(&why);
    return status;
}
