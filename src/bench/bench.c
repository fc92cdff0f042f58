/*
 * The run of a benchmark. Passes over all signatures, a few slices each, so that a busy spell of the machine hits a
 * few slices of each and not all of one; then what is left of the budget goes where the intervals are wide and the
 * work is.
 */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

#define PASS_SLICES 3 /* PASS_SLICES * PASSES >= PW_MEASURE_SLICES_MIN */
#define PASSES 3
#define AWAKE_BYTES ((size_t)1 << 30) /* inputs of so many signatures stay in memory between passes */
#define LOCK_WAIT_NS INT64_C(60000000000)
#define PEAK_SAMPLES 7
#define PEAK_ROUNDS 4      /* measurements of the peaks while a figure is above them */
#define PEAK_ROUNDS_BUSY 2 /* and where the first of them began beside other work */
#define PEAK_WAIT_NS INT64_C(500000000)
#define CLOCKS_APART 2.0    /* a run's time by our clock against the worker's: beyond it the worker's is not believed */
#define FRESH_APART 2.0     /* the same of runs on new inputs against those on inputs that came before … */
#define FRESH_APART_NS 5e5  /* … unless it is so little as cold caches and sleeping threads may take */
#define CLOCKS_APART_NS 5e6 /* unless a slice differs by less than that: requests have a noise of their own */

struct bench {
    const struct pw_bench_request *request;
    struct pw_bench_report *report;
    struct pw_reference_process *reference;
    struct pw_quiet quiet;
    struct pw_impl_list *impls; /* by position in the selection */
    const size_t *selection;
    bool *over;                     /* by position: nothing more to measure */
    struct pw_advice_facts *shapes; /* by position: what the plan says, taken while there is one */
    double *weight;                 /* by position: share of the FLOPs or of the time, the larger */
    size_t done, total;
    int64_t begin_ns;
    bool peaks_busy; /* the peaks were measured beside other work */
};

static const struct pw_signature *signature_at(const struct bench *b, size_t i)
{
    return &b->request->inventory->signatures[b->selection[i]];
}

static void emit(const struct bench *b, pw_bench_event_kind kind, const struct pw_bench_figure *figure)
{
    const struct pw_bench_event event = {.kind = kind, .done = b->done, .total = b->total, .figure = figure};

    if (b->request->emit)
        b->request->emit(b->request->user, &event);
}

static bool cancelled(const struct bench *b)
{
    return b->request->cancel && *b->request->cancel;
}

/* ---- preparation ---- */

static const char *keep(struct bench *b, const char *text)
{
    const char *copy = pw_arena_strndup(&b->report->arena, text, strlen(text));

    return copy ? copy : "out of memory";
}

static pw_status make_measure(struct bench *b, size_t i, struct pw_error *err)
{
    const struct pw_bench_request *r = b->request;
    struct pw_bench_figure *f = &b->report->figures[i];
    const struct pw_impl *impl = &b->impls[i].items[b->impls[i].selected];
    const struct pw_measure_side sides[2] = {{.impl = impl}, {.impl = NULL}};
    const struct pw_measure_request request = {.signature = signature_at(b, i),
                                               .device = r->device,
                                               .reference = b->reference,
                                               .quiet = &b->quiet,
                                               .slice_ns = r->slice_ns,
                                               .sides = sides,
                                               .side_count = b->reference ? 2 : 1,
                                               .flush_bytes = b->report->flush_bytes,
                                               .seed = r->seed,
                                               .cancel = r->cancel};
    pw_status status = pw_measure_create(&request, &b->report->measures[i], err);

    if (status == PW_OK) {
        f->name = impl->name;
        f->target_raw = pw_measure_result(b->report->measures[i], 0);
        f->reference_raw = request.side_count > 1 ? pw_measure_result(b->report->measures[i], 1) : NULL;
        b->total++;
    }
    return status;
}

static pw_status prepare_one(struct bench *b, size_t i, struct pw_error *err)
{
    const struct pw_signature *s = signature_at(b, i);
    struct pw_bench_figure *f = &b->report->figures[i];
    struct pw_impl_list *impls = &b->impls[i];
    pw_status status = pw_impl_find(s->call, b->request->kernels, b->request->device, &b->report->arena, impls, err);

    *f = (struct pw_bench_figure){.signature = b->selection[i],
                                  .implementations = impls,
                                  .name = "",
                                  .speedup = {NAN, NAN, NAN, 0},
                                  .net_ns = NAN,
                                  .flops = s->flops_value,
                                  .flops_rate = NAN,
                                  .bytes_rate = NAN,
                                  .roof = {.compute_ns = NAN, .memory_ns = NAN, .roof_ns = NAN, .share = NAN}};
    if (status != PW_OK)
        return status;
    if (s->shape_arithmetic)
        pw_impl_keep_on_host(impls, PW_IMPL_SHAPE_ARITHMETIC);
    if (impls->selected < 0 || impls->coverage == PW_COVERAGE_HOST) {
        f->skipped = impls->reason && impls->reason[0] ? impls->reason : "nothing of it runs on the target";
        b->over[i] = true;
        return PW_OK;
    }
    return make_measure(b, i, err);
}

static pw_status prepare(struct bench *b, struct pw_error *err)
{
    const struct pw_bench_request *r = b->request;
    struct pw_bench_report *report = b->report;
    size_t all = r->inventory->signature_count, count = r->signatures ? r->signature_count : all;
    size_t *selection = pw_arena_alloc(&report->arena, count + 1, sizeof *selection);
    pw_status status = PW_OK;

    report->figures = pw_arena_alloc(&report->arena, count + 1, sizeof *report->figures);
    report->measures = pw_arena_alloc(&report->arena, count + 1, sizeof *report->measures);
    b->impls = pw_arena_alloc(&report->arena, count + 1, sizeof *b->impls);
    b->over = pw_arena_alloc(&report->arena, count + 1, sizeof *b->over);
    b->weight = pw_arena_alloc(&report->arena, count + 1, sizeof *b->weight);
    b->shapes = pw_arena_alloc(&report->arena, count + 1, sizeof *b->shapes);
    if (!selection || !report->figures || !report->measures || !b->impls || !b->over || !b->weight || !b->shapes)
        return pw_error_memory(err, count * sizeof *report->figures);
    if (count == 0)
        return pw_error_set(err, PW_ERR_USAGE, "nothing is selected");
    b->selection = selection;
    report->count = count;
    for (size_t i = 0; i < count && status == PW_OK; i++) {
        selection[i] = r->signatures ? r->signatures[i] : i;
        if (selection[i] >= all)
            return pw_error_set(err, PW_ERR_USAGE, "signature %zu of %zu", selection[i], all);
        status = prepare_one(b, i, err);
    }
    return status;
}

/* One measurement more, on idle cores, of which the best figures count. */
static pw_status measure_peaks(struct bench *b, struct pw_error *err)
{
    struct pw_bench_report *report = b->report;
    struct pw_peaks again = {.count = 0};
    pw_status status;

    b->peaks_busy |= !pw_quiet_idle(&b->quiet, PEAK_WAIT_NS);
    status = (b->request->peaks ? b->request->peaks : pw_peaks_measure)(b->request->device, PEAK_SAMPLES,
                                                                        b->request->cancel, &again, err);
    if (status == PW_OK) {
        pw_peaks_best(&report->peaks, &again);
        report->peaks_rounds++;
    }
    return status;
}

static void find_peaks(struct bench *b)
{
    struct pw_bench_report *report = b->report;
    struct pw_error err = {0};

    if (b->request->no_peaks) {
        report->peaks_why = "not measured, as asked";
        return;
    }
    if (measure_peaks(b, &err) == PW_OK)
        return;
    report->peaks.count = 0;
    pw_roofline_declared(pw_device_info(b->request->device), &report->peaks);
    report->peaks_declared = report->peaks.count > 0;
    if (!report->peaks_declared)
        report->peaks_why = keep(b, err.message);
}

/* ---- figures ---- */

static void summarize(const struct pw_measure_result *raw, struct pw_stats_summary *out)
{
    memset(out, 0, sizeof *out);
    if (raw && !raw->failed && raw->slices > 0)
        pw_stats_summarize(raw->slices_ns, (size_t)raw->slices, PW_STATS_CONFIDENCE, out, NULL);
}

static double flop_scale(const struct pw_signature *s)
{
    return s->dtype == PW_DTYPE_FLOAT64 ? 0.5 : 1; /* half the lanes */
}

/* Bytes that the operator has to move: of a table from which it takes some rows, those rows. */
static void take_traffic(const struct pw_signature *s, const struct pw_measure *measure, struct pw_bench_figure *f)
{
    struct pw_measure_traffic traffic;
    double least = s->bytes_value, read;

    pw_measure_traffic(measure, &traffic);
    read = traffic.read_bytes;
    if (!isnan(least) && least - traffic.write_bytes < read)
        read = least > traffic.write_bytes ? least - traffic.write_bytes : 0;
    f->read_bytes = read;
    f->write_bytes = traffic.write_bytes;
    f->footprint = traffic.write_bytes;
    if (traffic.read_bytes > 0)
        f->footprint += (traffic.footprint - traffic.write_bytes) * read / traffic.read_bytes;
}

static void make_figure(struct bench *b, size_t i)
{
    struct pw_bench_figure *f = &b->report->figures[i];
    const struct pw_measure_result *raw = f->target_raw, *reference = f->reference_raw;

    summarize(raw, &f->target);
    summarize(reference, &f->reference);
    f->slices = (int)f->target.count;
    if (f->target.count == 0)
        return;
    f->reference_name = f->reference.count ? reference->reference_name : NULL;
    if (reference && reference->failed && !f->reference_why)
        f->reference_why = keep(b, reference->error.message);
    if (f->reference.count == f->target.count)
        pw_stats_paired(raw->slices_ns, reference->slices_ns, f->target.count, PW_STATS_CONFIDENCE, NULL, &f->speedup,
                        NULL);
    f->device_ns = raw->device_ns;
    if (f->target.median > b->report->launch_ns)
        f->net_ns = f->target.median - b->report->launch_ns;
    if (pw_measure_call(b->report->measures[i]))
        take_traffic(signature_at(b, i), b->report->measures[i], f);
    f->flops_rate = f->flops * 1e9 / f->target.median;
    f->bytes_rate = (f->read_bytes + f->write_bytes) * 1e9 / f->target.median;
    const struct pw_roof_request roof = {.flops = f->flops,
                                         .read_bytes = f->read_bytes,
                                         .write_bytes = f->write_bytes,
                                         .footprint = f->footprint,
                                         .cold = b->report->cold,
                                         .latency_ns = f->target.median,
                                         .launch_ns = b->report->launch_ns,
                                         .flop_scale = flop_scale(signature_at(b, i))};
    pw_roofline(&b->report->peaks, &roof, &f->roof);
}

static double uncertainty(const struct pw_bench_figure *f)
{
    if (f->target.count == 0)
        return 0;
    double own = (f->target.high - f->target.low) / f->target.median;
    double ratio = isnan(f->speedup.value) || !isfinite(f->speedup.high)
                       ? own
                       : (f->speedup.high - f->speedup.low) / f->speedup.value;
    return own > ratio ? own : ratio;
}

/* ---- measuring ---- */

static void keep_memory_low(struct bench *b, size_t but)
{
    size_t awake = 0;

    for (size_t i = 0; i < b->report->count; i++)
        awake += b->report->measures[i] ? pw_measure_bytes(b->report->measures[i]) : 0;
    for (size_t i = 0; i < b->report->count && awake > AWAKE_BYTES; i++)
        if (i != but && b->report->measures[i]) {
            awake -= pw_measure_bytes(b->report->measures[i]);
            pw_measure_rest(b->report->measures[i]);
        }
}

static void note_plan(struct bench *b, size_t i)
{
    const struct pw_plan *plan = pw_measure_plan(b->report->measures[i], 0);
    struct pw_advice_facts *facts = &b->shapes[i];

    if (!plan || facts->launches > 0)
        return;
    facts->work_groups = NAN;
    pw_advice_plan(facts, plan, pw_measure_constant(b->report->measures[i]));
    facts->options = facts->options ? keep(b, facts->options) : NULL;
}

/* A call that cannot be timed is skipped with the reason; the rest goes on. */
static pw_status more_slices(struct bench *b, size_t i, int count, struct pw_error *err)
{
    struct pw_bench_figure *f = &b->report->figures[i];
    struct pw_error why = {0};
    pw_status status = pw_measure_slices(b->report->measures[i], count, &why);

    if (status == PW_ERR_CANCELLED || status == PW_ERR_NO_MEMORY)
        return pw_error_set(err, status, "%s", why.message);
    if (status != PW_OK || f->target_raw->failed) {
        f->skipped = keep(b, status != PW_OK ? why.message : f->target_raw->error.message);
        b->over[i] = true;
        return PW_OK;
    }
    make_figure(b, i);
    note_plan(b, i);
    keep_memory_low(b, i);
    return PW_OK;
}

static pw_status first_passes(struct bench *b, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (int pass = 0; pass < PASSES; pass++)
        for (size_t i = 0; i < b->report->count; i++) {
            if (b->over[i])
                continue;
            if (cancelled(b))
                return pw_error_set(err, PW_ERR_CANCELLED, "cancelled while measuring");
            status = more_slices(b, i, PASS_SLICES, err);
            if (status != PW_OK)
                return status;
            if (pass == PASSES - 1) {
                b->done++;
                emit(b, PW_BENCH_SIGNATURE, &b->report->figures[i]);
            }
        }
    return PW_OK;
}

/* What a signature counts for: its part of the graph's FLOPs or of the measured time. */
static void weigh(struct bench *b)
{
    double total = 0;

    for (size_t i = 0; i < b->report->count; i++)
        total += b->report->figures[i].target.median * (double)signature_at(b, i)->node_count;
    for (size_t i = 0; i < b->report->count; i++) {
        const struct pw_signature *s = signature_at(b, i);
        double time = total > 0 ? b->report->figures[i].target.median * (double)s->node_count / total : 0;

        b->weight[i] = !isnan(s->share) && s->share > time ? s->share : time;
    }
}

/* The signature that gains most from three more slices; the count when none does. */
static size_t neediest(const struct bench *b)
{
    int most_slices = b->request->slices_max ? b->request->slices_max : PW_BENCH_SLICES_MAX;
    size_t best = b->report->count;
    double most = 0;

    for (size_t i = 0; i < b->report->count; i++) {
        const struct pw_bench_figure *f = &b->report->figures[i];
        bool enough = !b->request->time_ns && (f->slices >= most_slices || uncertainty(f) < PW_BENCH_PRECISE);
        /* Intervals shrink with the square root of the slices: the gain of a slice falls with their number. */
        double need = (b->weight[i] + 0.01) * (uncertainty(f) + 1e-4) / (double)(f->slices ? f->slices : 1);

        if (!b->over[i] && !enough && need > most) {
            most = need;
            best = i;
        }
    }
    return best;
}

static pw_status spend_the_rest(struct bench *b, struct pw_error *err)
{
    weigh(b);
    for (;;) {
        size_t i = neediest(b);
        pw_status status;

        if (i == b->report->count || (b->request->time_ns && pw_clock_ns() - b->begin_ns >= b->request->time_ns))
            return PW_OK;
        if (cancelled(b))
            return pw_error_set(err, PW_ERR_CANCELLED, "cancelled while measuring");
        status = more_slices(b, i, PASS_SLICES, err);
        if (status != PW_OK)
            return status;
    }
}

/* ---- suspicion ---- */

struct verdict {
    pw_standing standing;
    bool seen;
};

static void on_verify(void *user, const struct pw_verify_event *event)
{
    struct verdict *v = user;

    if (event->kind == PW_VERIFY_DONE_SIGNATURE) {
        v->standing = event->summary->standing;
        v->seen = true;
    }
}

/* Verifies the signature again, and whether its timed runs gave what an untimed one gives. */
static pw_status verify_again(struct bench *b, size_t i, struct pw_error *err)
{
    const struct pw_bench_request *r = b->request;
    struct pw_bench_figure *f = &b->report->figures[i];
    struct verdict v = {.standing = PW_STANDING_UNPROVEN};
    struct pw_verify_totals totals;
    struct pw_error why = {0};
    char text[256];
    double error = NAN;
    size_t signature = f->signature;
    const struct pw_verify_request verify = {.inventory = r->inventory,
                                             .kernels = r->kernels,
                                             .device = r->device,
                                             .protocol = r->protocol,
                                             .signatures = &signature,
                                             .signature_count = 1,
                                             .effort = {.shapes = -1, .no_shrink = true},
                                             .seed = r->seed,
                                             .cancel = r->cancel,
                                             .emit = on_verify,
                                             .user = &v};
    pw_status status = pw_verify_run(&verify, &totals, &why);

    if (status == PW_OK)
        status = pw_measure_recheck(b->report->measures[i], 0, &error, &why);
    if (status == PW_ERR_CANCELLED || status == PW_ERR_NO_MEMORY)
        return pw_error_set(err, status, "%s", why.message);
    if (status != PW_OK)
        snprintf(text, sizeof text, "could not be verified again: %.200s", why.message);
    else
        snprintf(text, sizeof text, "verified again: %s; its timed runs %s (largest difference %.2g)",
                 v.seen ? pw_standing_name(v.standing) : "nothing was proven",
                 error < 1e-3 ? "gave the same results as an untimed one" : "gave other results than an untimed one",
                 error);
    f->verified = keep(b, text);
    return PW_OK;
}

static const char *suspicion_of(struct bench *b, const struct pw_bench_figure *f)
{
    char text[256], a[32], c[32];
    double outside = f->target_raw->outside_ns;

    if (f->roof.above) {
        snprintf(text, sizeof text, "%s is less than the %s that the roof at %s allows",
                 pw_text_duration(a, sizeof a, f->target.median * 1e-9),
                 pw_text_duration(c, sizeof c, f->roof.roof_ns * 1e-9), f->roof.level ? f->roof.level : "any level");
        return keep(b, text);
    }
    if (outside > CLOCKS_APART * f->target.median &&
        (outside - f->target.median) * f->target_raw->runs_per_slice > CLOCKS_APART_NS) {
        snprintf(text, sizeof text, "the target says %s a run, the clock of this process %s",
                 pw_text_duration(a, sizeof a, f->target.median * 1e-9), pw_text_duration(c, sizeof c, outside * 1e-9));
        return keep(b, text);
    }
    double fresh = f->target_raw->fresh_ns;

    if (fresh > FRESH_APART * f->target.median + FRESH_APART_NS) {
        snprintf(text, sizeof text, "a run takes %s on inputs that the kernel has not seen, %s when they come again",
                 pw_text_duration(c, sizeof c, fresh * 1e-9), pw_text_duration(a, sizeof a, f->target.median * 1e-9));
        return keep(b, text);
    }
    return NULL;
}

static void advise(struct bench *b, size_t i)
{
    const struct pw_target_info *info = pw_device_info(b->request->device);
    struct pw_bench_figure *f = &b->report->figures[i];
    struct pw_advice_facts facts = b->shapes[i];

    if (signature_at(b, i)->shape_arithmetic)
        return; /* belongs on the host */
    facts.coverage = f->implementations->coverage;
    facts.coverage_reason = f->implementations->reason;
    facts.library_exists = f->implementations->library_exists && f->implementations->coverage != PW_COVERAGE_LIBRARY;
    facts.latency_ns = f->target.count ? f->target.median : NAN;
    facts.low_ns = f->target.count ? f->target.low : NAN;
    facts.high_ns = f->target.count ? f->target.high : NAN;
    facts.reference_ns = f->reference.count ? f->reference.median : NAN;
    facts.reference_name = f->reference_name;
    facts.flops = f->flops;
    facts.read_bytes = f->read_bytes;
    facts.write_bytes = f->write_bytes;
    facts.roof = f->roof;
    facts.launch_ns = b->report->launch_ns;
    facts.log = f->target_raw ? pw_buf_text(&f->target_raw->log) : "";
    facts.compute_units = info->compute_units;
    facts.vector_width = info->vector_width;
    facts.work_group_multiple = info->work_group_multiple;
    facts.is_cpu = info->is_cpu;
    f->advice_count = pw_advise(&facts, f->advice);
}

static pw_status judge(struct bench *b, struct pw_error *err)
{
    for (size_t i = 0; i < b->report->count; i++) {
        struct pw_bench_figure *f = &b->report->figures[i];
        pw_status status = PW_OK;

        if (f->target.count)
            f->suspicion = suspicion_of(b, f);
        if (f->suspicion) {
            b->report->suspicious++;
            status = verify_again(b, i, err);
        }
        if (status != PW_OK)
            return status;
        advise(b, i);
        emit(b, PW_BENCH_RESULT, f);
    }
    return PW_OK;
}

static bool any_above(const struct bench *b)
{
    for (size_t i = 0; i < b->report->count; i++)
        if (b->report->figures[i].target.count && b->report->figures[i].roof.above)
            return true;
    return false;
}

/* A figure above its roof may be the roof's fault: peaks taken at a busy moment are too low. So before anything is
 * doubted they are measured again, now after the figures, still under the timing lock. */
static pw_status settle_peaks(struct bench *b, struct pw_error *err)
{
    struct pw_error why = {0};
    pw_status status = PW_OK;

    while (b->report->peaks_rounds && status == PW_OK &&
           (any_above(b) ? b->report->peaks_rounds < PEAK_ROUNDS
                         : b->peaks_busy && b->report->peaks_rounds < PEAK_ROUNDS_BUSY)) {
        status = measure_peaks(b, &why);
        for (size_t i = 0; i < b->report->count && status == PW_OK; i++)
            if (b->report->figures[i].target.count)
                make_figure(b, i);
    }
    /* What was measured before stands. */
    return status == PW_ERR_CANCELLED ? pw_error_set(err, status, "%s", why.message) : PW_OK;
}

/* ---- the run ---- */

static pw_status measure_all(struct bench *b, struct pw_error *err)
{
    pw_status status;

    b->report->timer_ns = pw_measure_timer_ns();
    b->report->launch_ns = pw_measure_launch_ns(b->request->device, b->request->cancel);
    find_peaks(b);
    emit(b, PW_BENCH_PEAKS, NULL);
    b->begin_ns = pw_clock_ns();
    status = first_passes(b, err);
    if (status == PW_OK)
        status = spend_the_rest(b, err);
    b->report->elapsed_ns = pw_clock_ns() - b->begin_ns;
    return status == PW_OK ? settle_peaks(b, err) : status;
}

pw_status pw_bench_run(const struct pw_bench_request *request, struct pw_bench_report *report, struct pw_error *err)
{
    struct bench b = {.request = request, .report = report, .quiet = {.lock_fd = -1, .stat_fd = -1}};
    pw_status status;

    *report = (struct pw_bench_report){
        .cold = request->cold, .launch_ns = NAN, .timer_ns = NAN, .budget_ns = request->time_ns, .lock_note = ""};
    if (pw_device_is_reference(request->device))
        return pw_error_set(err, PW_ERR_USAGE, "the target is the reference itself: there is nothing to compare");
    if (request->cold)
        report->flush_bytes = pw_measure_flush_bytes(pw_device_info(request->device));
    if (pw_reference_open(request->threads, &b.reference, NULL) != PW_OK)
        b.reference = NULL; /* times of the target alone are still worth having */
    status = prepare(&b, err);
    if (status == PW_OK) {
        emit(&b, PW_BENCH_STARTED, NULL);
        status = pw_quiet_begin(&b.quiet, request->lock, request->lock_wait_ns ? request->lock_wait_ns : LOCK_WAIT_NS,
                                request->cancel, err);
    }
    if (status == PW_OK)
        status = measure_all(&b, err);
    report->slices = b.quiet.slices;
    report->busy_slices = b.quiet.busy_slices;
    report->lock_note = keep(&b, b.quiet.note);
    pw_quiet_end(&b.quiet);
    pw_reference_close(b.reference);
    if (status == PW_OK)
        status = judge(&b, err);
    if (status == PW_OK)
        emit(&b, PW_BENCH_FINISHED, NULL);
    for (size_t i = 0; i < report->count && report->measures; i++)
        if (report->measures[i])
            pw_measure_rest(report->measures[i]);
    return status;
}

void pw_bench_report_clear(struct pw_bench_report *report)
{
    for (size_t i = 0; report->measures && i < report->count; i++)
        pw_measure_destroy(report->measures[i]);
    pw_arena_clear(&report->arena);
    memset(report, 0, sizeof *report);
}
