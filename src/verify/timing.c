/*
 * Timing of one signature: target and fast reference in turns, in one run, on the same inputs.
 * The reference lives in its own process, because OpenBLAS's threads spin after a call.
 */
#include <stdlib.h>
#include <string.h>

#include "run/reference_process.h"
#include "verify/verify_internal.h"

#define SLICES 3 /* target, reference, target, reference, … */
#define SLICE_REPEATS 32
#define DEFAULT_TIMING_NS 20000000

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static int64_t median(const int64_t *samples, int count)
{
    int64_t sorted[SLICES * SLICE_REPEATS];

    if (!count)
        return 0;
    memcpy(sorted, samples, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

static pw_status time_target(const struct pw_verify_request *request, const struct pw_impl *impl,
                             const struct pw_case_inputs *inputs, const struct pw_plan *plan, struct pw_value *outputs,
                             int64_t slice_ns, struct pw_signature_result *summary, struct pw_error *err)
{
    struct pw_exec_request exec = {.plan = impl->kernel ? plan : NULL,
                                   .call = &inputs->call,
                                   .library = impl->kind == PW_COVERAGE_LIBRARY,
                                   .inputs = inputs->in,
                                   .input_count = inputs->count,
                                   .constant = inputs->constant,
                                   .outputs = outputs,
                                   .output_count = inputs->call.output_count,
                                   .seed = request->seed,
                                   .repeats = SLICE_REPEATS,
                                   .samples_ns = summary->target_samples + summary->target_sample_count,
                                   .min_time_ns = slice_ns};
    struct pw_exec_reply reply = {0};
    pw_status status = pw_device_execute(request->device, &exec, &reply, err);

    if (status == PW_OK)
        summary->target_sample_count += reply.sample_count;
    pw_exec_reply_clear(&reply);
    return status;
}

pw_status pw_verify_time(const struct pw_verify_request *request, struct pw_reference_process *reference,
                         const struct pw_impl *impl, const struct pw_signature *signature, struct pw_arena *arena,
                         struct pw_signature_result *summary, struct pw_error *err)
{
    struct pw_case_inputs inputs = {0};
    struct pw_plan plan = {0};
    struct pw_value outputs[PW_OP_MAX_FORMALS] = {0};
    struct pw_buf why = {0};
    int64_t slice_ns = (request->timing_ns ? request->timing_ns : DEFAULT_TIMING_NS) / SLICES;
    pw_status status;

    summary->target_samples = pw_arena_alloc(arena, SLICES * SLICE_REPEATS, sizeof(int64_t));
    summary->reference_samples = pw_arena_alloc(arena, SLICES * SLICE_REPEATS, sizeof(int64_t));
    if (!summary->target_samples || !summary->reference_samples)
        return pw_error_memory(err, SLICES * SLICE_REPEATS * sizeof(int64_t));
    status = pw_case_draw(signature, PW_DIST_NORMAL, request->seed, &inputs, &why, err);
    if (status != PW_OK || why.size)
        goto done;
    if (impl->kernel)
        status = pw_kernel_plan(impl->kernel, &inputs.call, pw_device_facts(request->device), NULL, 0, &plan, err);
    if (status == PW_OK)
        status = pw_case_outputs(&inputs.call, outputs, err);
    for (int slice = 0; slice < SLICES && status == PW_OK; slice++) {
        int count = 0;

        if (request->cancel && *request->cancel)
            break;
        status = time_target(request, impl, &inputs, &plan, outputs, slice_ns, summary, err);
        if (status != PW_OK || !reference)
            continue;
        status = pw_reference_time(reference, &inputs.call, inputs.in, inputs.count, SLICE_REPEATS, slice_ns,
                                   summary->reference_samples + summary->reference_sample_count, &count,
                                   &summary->reference_name, err);
        summary->reference_sample_count += count;
    }
    summary->target_ns = median(summary->target_samples, summary->target_sample_count);
    summary->reference_ns = median(summary->reference_samples, summary->reference_sample_count);
done:
    for (int i = 0; i < PW_OP_MAX_FORMALS; i++)
        pw_value_clear(&outputs[i]);
    pw_plan_clear(&plan);
    pw_case_inputs_clear(&inputs);
    pw_buf_clear(&why);
    return status;
}
