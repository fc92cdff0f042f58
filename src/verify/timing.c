/*
 * The quiet phase of a verification: the signatures that did not fail are timed, target and fast reference in turns,
 * as bench/bench.h does it, and the samples go into their summaries.
 */
#include <string.h>

#include "bench/bench.h"
#include "verify/verify_internal.h"

#define DEFAULT_TIMING_NS 20000000

static pw_status keep(const struct pw_measure_result *raw, struct pw_arena *arena, int64_t **samples, int *count,
                      struct pw_error *err)
{
    size_t total = raw && !raw->failed ? (size_t)raw->slices * (size_t)raw->runs_per_slice : 0;

    *count = (int)total;
    *samples = pw_arena_alloc(arena, total + 1, sizeof **samples);
    if (!*samples)
        return pw_error_memory(err, total * sizeof **samples);
    if (total > 0)
        memcpy(*samples, raw->runs_ns, total * sizeof **samples);
    return PW_OK;
}

static pw_status keep_figure(const struct pw_bench_figure *f, struct pw_timed *timed, struct pw_error *err)
{
    struct pw_signature_result *s = timed->summary;
    pw_status status;

    if (f->target.count == 0)
        return PW_OK;
    s->slices = f->slices;
    s->target_ns = (int64_t)(f->target.median + 0.5);
    status = keep(f->target_raw, timed->arena, &s->target_samples, &s->target_sample_count, err);
    if (status != PW_OK || f->reference.count == 0)
        return status;
    s->reference_ns = (int64_t)(f->reference.median + 0.5);
    s->reference_name = f->reference_name;
    return keep(f->reference_raw, timed->arena, &s->reference_samples, &s->reference_sample_count, err);
}

pw_status pw_verify_time(const struct pw_verify_request *request, struct pw_timed *timed, size_t count,
                         struct pw_error *err)
{
    int64_t budget = request->timing_ns ? request->timing_ns : DEFAULT_TIMING_NS;
    size_t *selection = pw_calloc(count + 1, sizeof *selection);
    struct pw_bench_report report = {0};
    struct pw_bench_request bench = {.inventory = request->inventory,
                                     .kernels = request->kernels,
                                     .device = request->device,
                                     .protocol = request->protocol,
                                     .signatures = selection,
                                     .signature_count = count,
                                     .slice_ns = budget / PW_MEASURE_SLICES_MIN,
                                     .slices_max = PW_MEASURE_SLICES_MIN,
                                     .no_peaks = true,
                                     .seed = request->seed,
                                     .cancel = request->cancel};
    pw_status status;

    if (!selection)
        return pw_error_memory(err, count * sizeof *selection);
    for (size_t i = 0; i < count; i++)
        selection[i] = timed[i].summary->signature;
    status = count ? pw_bench_run(&bench, &report, err) : PW_OK;
    for (size_t i = 0; i < report.count && status == PW_OK; i++)
        status = keep_figure(&report.figures[i], &timed[i], err);
    pw_bench_report_clear(&report);
    pw_free(selection);
    return status;
}
