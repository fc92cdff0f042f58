/* What the gate could not decide yet is measured more, within the budget. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/check_gate.h"

#define ROUNDS 3      /* of confirming and sampling */
#define RATIOS_MAX 99 /* slices of one signature together */
#define LEAST_ROUND_NS INT64_C(500000000)

struct settling {
    struct pw_check_gate *gate;
    struct pw_check_run *run;
    const struct pw_check_gate_request *request;
    int64_t deadline_ns;
    size_t *indices; /* scratch: shown signatures of a job */
    size_t *at;      /* and which pair each is */
    struct pw_error *err;
};

static bool find_shown(const struct settling *s, const char *id, size_t *shown)
{
    const struct pw_inventory *inventory = pw_session_inventory(s->run->session);

    for (size_t i = 0; i < inventory->signature_count; i++)
        if (!strcmp(inventory->signatures[i].id, id)) {
            *shown = i;
            return true;
        }
    return false;
}

static void say(const struct settling *s, const char *what, size_t count)
{
    if (!s->run->options->quiet)
        fprintf(stderr, "portwright: %s %zu signatures\n", what, count);
}

static int64_t left(const struct settling *s)
{
    return s->deadline_ns - pw_clock_ns();
}

static pw_status decide_anew(struct settling *s)
{
    struct pw_check_gate *gate = s->gate;

    return pw_gate_decide(&gate->options, gate->pairs, gate->report.count, gate->results, &gate->report.totals, s->err);
}

/* ---- the baseline's kernel beside today's ---- */

static const struct pw_baseline_kernel *kernel_before(const struct pw_check_gate *gate, const char *name)
{
    const struct pw_baseline_kernel *k = NULL;

    if (gate->throughput.graph)
        k = pw_baseline_kernel_of(&gate->throughput, name);
    return k || !gate->precision.graph ? k : pw_baseline_kernel_of(&gate->precision, name);
}

static bool fill_suspect(const struct pw_check_gate *gate, struct pw_gate_signature *pair,
                         struct pw_session_suspect *suspect)
{
    const struct pw_baseline_kernel *k = pair->before.kernel ? kernel_before(gate, pair->before.kernel) : NULL;

    if (!k)
        pair->unconfirmable = "it was no kernel that could be kept";
    else if (!k->kept[0])
        pair->unconfirmable = "the baseline's kernel was not kept";
    if (!k || !k->kept[0])
        return false;
    snprintf(suspect->kernel, sizeof suspect->kernel, "%s", k->name);
    snprintf(suspect->hash, sizeof suspect->hash, "%s", k->hash);
    snprintf(suspect->kept, sizeof suspect->kept, "%s", k->kept);
    return true;
}

/* Results of the pairs' job go to their signatures; arrays are copied, the event's may go. */
static pw_status take_pairs(struct settling *s, size_t count)
{
    const struct pw_event *event = s->run->extra;

    for (size_t i = 0; event && i < event->pair_count && i < count; i++) {
        const struct pw_session_pair *from = &event->pairs[i];
        struct pw_gate_signature *pair = &s->gate->pairs[s->at[i]];

        if (from->why)
            pair->unconfirmable = from->why; /* the run keeps the event */
        if (!from->count)
            continue;
        pair->before_ns = from->before_ns;
        pair->now_ns = from->now_ns;
        pair->confirm_count = from->count;
    }
    return decide_anew(s);
}

static pw_status confirm(struct settling *s, bool *did)
{
    struct pw_check_gate *gate = s->gate;
    struct pw_session_suspect *suspects = pw_arena_alloc(&gate->arena, gate->report.count + 1, sizeof *suspects);
    size_t count = 0, unconfirmable = 0, shown;
    pw_status status = PW_OK;

    if (!suspects)
        return pw_error_memory(s->err, gate->report.count * sizeof *suspects);
    for (size_t i = 0; i < gate->report.count; i++) {
        if (!gate->results[i].wants_confirmation || gate->pairs[i].confirm_count ||
            !find_shown(s, gate->pairs[i].id, &shown))
            continue;
        if (!fill_suspect(gate, &gate->pairs[i], &suspects[count])) {
            unconfirmable++;
            continue;
        }
        s->at[count] = i;
        suspects[count++].signature = shown;
    }
    *did = count || unconfirmable;
    if (!count)
        return unconfirmable ? decide_anew(s) : PW_OK;
    say(s, "running the baseline's kernel beside today's for", count);
    status = pw_session_confirm(s->run->session, s->request->root, suspects, count, left(s) / 2, s->err);
    if (status != PW_OK)
        return status;
    pw_check_run_follow(s->run);
    return take_pairs(s, count);
}

/* ---- more slices ---- */

static pw_status append_ratios(struct settling *s, struct pw_gate_signature *pair, const struct pw_bench_figure *f)
{
    const struct pw_measure_result *target = f->target_raw, *reference = f->reference_raw;
    size_t fresh =
        target && reference ? (size_t)(target->slices < reference->slices ? target->slices : reference->slices) : 0;
    double *ratios;

    if (fresh > RATIOS_MAX - pair->now.ratio_count)
        fresh = RATIOS_MAX - pair->now.ratio_count;
    ratios = pw_arena_alloc(&s->gate->arena, pair->now.ratio_count + fresh + 1, sizeof *ratios);
    if (!ratios)
        return pw_error_memory(s->err, fresh * sizeof *ratios);
    if (pair->now.ratio_count)
        memcpy(ratios, pair->now.ratios, pair->now.ratio_count * sizeof *ratios);
    for (size_t i = 0; i < fresh; i++)
        ratios[pair->now.ratio_count + i] = target->slices_ns[i] / reference->slices_ns[i];
    pair->now.ratios = ratios;
    pair->now.ratio_count += fresh;
    return PW_OK;
}

static pw_status take_figures(struct settling *s, size_t count)
{
    const struct pw_bench_report *report = s->run->extra ? s->run->extra->bench : NULL;
    pw_status status = PW_OK;

    for (size_t i = 0; report && i < report->count && status == PW_OK; i++)
        for (size_t k = 0; k < count && status == PW_OK; k++)
            if (s->indices[k] == report->figures[i].signature)
                status = append_ratios(s, &s->gate->pairs[s->at[k]], &report->figures[i]);
    return status == PW_OK ? decide_anew(s) : status;
}

static pw_status sample(struct settling *s, bool *did)
{
    struct pw_check_gate *gate = s->gate;
    struct pw_session_bench bench = {.time_ns = left(s) * 2 / 3, .no_peaks = true};
    size_t count = 0, shown;
    pw_status status;

    for (size_t i = 0; i < gate->report.count; i++)
        if (gate->results[i].wants_samples && gate->pairs[i].now.ratio_count < RATIOS_MAX &&
            find_shown(s, gate->pairs[i].id, &shown)) {
            s->at[count] = i;
            s->indices[count++] = shown;
        }
    *did = count > 0;
    if (!count)
        return PW_OK;
    say(s, "measuring more of", count);
    status = pw_session_bench(s->run->session, s->indices, count, &bench, NULL, s->err);
    if (status != PW_OK)
        return status;
    pw_check_run_follow(s->run);
    return take_figures(s, count);
}

pw_status pw_check_settle(struct pw_check_gate *gate, struct pw_check_run *run,
                          const struct pw_check_gate_request *request, struct pw_error *err)
{
    struct settling s = {
        .gate = gate, .run = run, .request = request, .deadline_ns = pw_clock_ns() + request->budget_ns, .err = err};
    bool confirmed = true, sampled = true;
    pw_status status = PW_OK;

    s.indices = pw_arena_alloc(&gate->arena, gate->report.count + 1, sizeof *s.indices);
    s.at = pw_arena_alloc(&gate->arena, gate->report.count + 1, sizeof *s.at);
    if (!s.indices || !s.at)
        return pw_error_memory(err, gate->report.count * sizeof *s.at);
    for (int round = 0; round < ROUNDS && status == PW_OK && gate->report.totals.wants; round++) {
        if (pw_check_run_interrupted() || (round && left(&s) < LEAST_ROUND_NS))
            break;
        status = confirm(&s, &confirmed);
        if (status == PW_OK && left(&s) >= LEAST_ROUND_NS)
            status = sample(&s, &sampled);
        if (!confirmed && !sampled)
            break;
    }
    return status;
}
