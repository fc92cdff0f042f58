/*
 * Random operators have no right elements: what is judged is shape and dtype, the property that the room states
 * (range, moments, mask), and the seed: the same seed draws the same, another seed draws anew where the reference
 * does.
 */
#include <string.h>

#include "base/clock.h"
#include "verify/verify_internal.h"

static bool same_bits(const struct pw_value *a, const struct pw_value *b, int count)
{
    for (int i = 0; i < count; i++) {
        if (a[i].kind != b[i].kind)
            return false;
        if (a[i].kind == PW_VALUE_TENSOR && a[i].tensor.count &&
            memcmp(a[i].tensor.data, b[i].tensor.data, pw_tensor_bytes(&a[i].tensor)) != 0)
            return false;
    }
    return true;
}

static void clear_all(struct pw_value *values)
{
    for (int i = 0; i < PW_OP_MAX_FORMALS; i++)
        pw_value_clear(&values[i]);
}

static pw_status run_with_seed(struct pw_case_run *run, uint64_t seed, bool again, struct pw_value *out, bool *ran,
                               struct pw_error *err)
{
    uint64_t kept = run->inputs.call.seed;
    struct pw_plan plan = {0};
    pw_status status = PW_OK;

    run->inputs.call.seed = seed;
    if (run->plan.kernel)
        status = pw_kernel_plan(run->plan.kernel, &run->inputs.call, pw_device_facts(run->request->device), NULL, 0,
                                &plan, err);
    if (status == PW_OK)
        status = pw_case_outputs(&run->inputs.call, out, err);
    if (status == PW_OK)
        status = pw_case_target(run, &run->inputs, &plan, again, out, ran, err);
    run->inputs.call.seed = kept;
    pw_plan_clear(&plan);
    return status;
}

/* Does the reference draw something else with another seed? (A node with a seed of its own does not.) */
static pw_status reference_varies(struct pw_case_run *run, uint64_t other, bool *varies, struct pw_error *err)
{
    struct pw_value a[PW_OP_MAX_FORMALS] = {0}, b[PW_OP_MAX_FORMALS] = {0};
    int64_t begun_ns = pw_clock_ns();
    pw_status status = pw_case_golden(&run->inputs, PW_PERTURB_NONE, 0, run->spec->seed, a, err);

    run->golden_ns = pw_clock_ns() - begun_ns;
    if (status == PW_OK)
        status = pw_case_golden(&run->inputs, PW_PERTURB_NONE, 0, other, b, err);
    *varies = status == PW_OK && !same_bits(a, b, run->inputs.call.output_count);
    clear_all(a);
    clear_all(b);
    return status;
}

/* Would the property have noticed an output of zeros? */
static bool notices_zeros(struct pw_case_run *run)
{
    const struct pw_call *call = &run->inputs.call;
    struct pw_value zeros[PW_OP_MAX_FORMALS] = {0};
    bool noticed = false;

    if (pw_case_outputs(call, zeros, NULL) == PW_OK && call->op->property)
        noticed = call->op->property(call, run->inputs.in, zeros, NULL) != PW_OK;
    clear_all(zeros);
    return noticed;
}

static void judge(struct pw_case_run *run, const struct pw_value *first, const struct pw_value *second,
                  const struct pw_value *other, bool varies)
{
    const struct pw_call *call = &run->inputs.call;
    struct pw_error broken = {0};

    run->result.output = 0;
    run->result.discriminates = notices_zeros(run);
    if (call->op->property && call->op->property(call, run->inputs.in, first, &broken) != PW_OK)
        pw_case_settle(run, PW_VERDICT_FAIL, broken.message);
    else if (!same_bits(first, second, call->output_count))
        pw_case_settle(run, PW_VERDICT_FAIL, "the same seed drew differently in a second run");
    else if (varies && same_bits(first, other, call->output_count))
        pw_case_settle(run, PW_VERDICT_FAIL, "another seed drew the same");
    else if (!varies && !same_bits(first, other, call->output_count))
        pw_case_settle(run, PW_VERDICT_FAIL, "the node's own seed does not fix the draws");
    else
        pw_case_settle(run, PW_VERDICT_PASS, "");
}

pw_status pw_judge_random(struct pw_case_run *run, struct pw_error *err)
{
    struct pw_value first[PW_OP_MAX_FORMALS] = {0}, second[PW_OP_MAX_FORMALS] = {0}, other[PW_OP_MAX_FORMALS] = {0};
    uint64_t seed = run->spec->seed, next = seed + 1;
    bool ran = false, varies = false;
    pw_status status;

    run->result.property = "draws";
    run->result.tolerance_why = "draws: judged by property";
    status = reference_varies(run, next, &varies, err);
    if (status == PW_OK)
        status = run_with_seed(run, seed, false, first, &ran, err);
    if (status == PW_OK && ran)
        status = run_with_seed(run, seed, true, second, &ran, err);
    if (status == PW_OK && ran)
        status = run_with_seed(run, next, false, other, &ran, err);
    if (status == PW_OK && ran)
        judge(run, first, second, other, varies);
    clear_all(first);
    clear_all(second);
    clear_all(other);
    return status;
}
