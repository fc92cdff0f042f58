/*
 * The run of a verification: threads take signatures, each runs the signature's cases; when all
 * verdicts are in, the quiet phase times target and reference one signature at a time.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "verify/verify_internal.h"

#define MAX_THREADS 16

/* The cases of a signature with floating inputs, and of one without (its draws differ by seed only). */
struct planned_case {
    pw_dist dist;
    uint64_t seed_offset;
};
static const struct planned_case float_cases[] = {
    {PW_DIST_NORMAL, 0}, {PW_DIST_UNIFORM, 0}, {PW_DIST_EXACT, 0}, {PW_DIST_NORMAL, 1}};
static const struct planned_case integer_cases[] = {{PW_DIST_UNIFORM, 0}, {PW_DIST_UNIFORM, 1}};

struct signature_state {
    struct pw_arena arena;
    struct pw_impl_list impls;
    struct pw_signature_result summary;
    struct pw_standing_tally tally;
    bool skipped; /* stays on the host: nothing of it runs on the target */
};

struct verify_state {
    const struct pw_verify_request *request;
    const size_t *selection;
    size_t selection_count;
    struct signature_state *signatures; /* by position in the selection */
    size_t next;                        /* position that the next free thread takes */
    size_t done, total;                 /* cases */
    struct pw_verify_totals *totals;
    pthread_mutex_t lock;
    pw_status status; /* first failure of any thread */
    struct pw_error error;
};

static bool cancelled(const struct pw_verify_request *request)
{
    return request->cancel && *request->cancel;
}

static void emit(struct verify_state *state, struct pw_verify_event *event)
{
    event->done = state->done;
    event->total = state->total;
    if (state->request->emit)
        state->request->emit(state->request->user, event);
}

static const struct pw_signature *signature_at(const struct verify_state *state, size_t position)
{
    return &state->request->inventory->signatures[state->selection[position]];
}

static size_t planned(const struct pw_signature *signature, const struct planned_case **cases)
{
    *cases = signature->floating ? float_cases : integer_cases;
    return signature->floating ? PW_COUNT_OF(float_cases) : PW_COUNT_OF(integer_cases);
}

/* ---- one case ---- */

static void keep_worst(struct signature_state *signature, const struct pw_case_result *result)
{
    struct pw_signature_result *summary = &signature->summary;
    double ratio = result->tolerance > 0 ? result->comparison.max_error / result->tolerance
                                         : (result->comparison.over ? INFINITY : 0);

    if (result->output < 0)
        return;
    if (isnan(summary->worst_error) || ratio > summary->worst_ratio ||
        (ratio >= summary->worst_ratio && result->comparison.max_error > summary->worst_error)) {
        summary->worst_error = result->comparison.max_error;
        summary->worst_ratio = ratio;
        summary->tolerance = result->tolerance;
        summary->worst_case = pw_arena_strndup(&signature->arena, result->id, strlen(result->id));
    }
}

static void count_case(struct verify_state *state, struct signature_state *signature,
                       const struct pw_case_result *result)
{
    struct pw_verify_totals *totals = state->totals;

    pw_standing_count(&signature->tally, result);
    keep_worst(signature, result);
    totals->cases++;
    totals->passed += result->verdict == PW_VERDICT_PASS;
    totals->warned += result->verdict == PW_VERDICT_WARN;
    totals->no_evidence += result->verdict >= PW_VERDICT_UNSUPPORTED;
    totals->cases_failed += result->verdict > PW_VERDICT_WARN && result->verdict < PW_VERDICT_UNSUPPORTED;
    state->done++;
}

static pw_status run_case(struct verify_state *state, size_t position, pw_dist dist, uint64_t seed,
                          struct pw_error *err)
{
    struct signature_state *signature = &state->signatures[position];
    struct pw_case_run run = {.request = state->request, .signature = signature_at(state, position)};
    struct pw_verify_event event = {.kind = PW_VERIFY_CASE, .signature = state->selection[position]};
    pw_status status;

    run.impl = &signature->impls.items[signature->impls.selected];
    status = pw_case_execute(&run, dist, seed, err);
    if (status == PW_OK) {
        run.result.signature = state->selection[position];
        pthread_mutex_lock(&state->lock);
        count_case(state, signature, &run.result);
        event.result = &run.result;
        emit(state, &event);
        pthread_mutex_unlock(&state->lock);
    }
    pw_arena_clear(&run.arena);
    return status;
}

/* "1:<signature>:<dtype>:graph:<dist>:<seed>" */
static pw_status parse_case_id(const char *id, char signature[17], pw_dist *dist, uint64_t *seed, struct pw_error *err)
{
    char dist_name[16];
    int used = 0;

    if (sscanf(id, "1:%16[0-9a-f]:%*15[a-z0-9_]:graph:%15[a-z]:%" SCNu64 "%n", signature, dist_name, seed, &used) !=
            3 ||
        id[used] || !pw_dist_parse(dist_name, dist))
        return pw_error_set(err, PW_ERR_USAGE, "case '%s': expected 1:<signature>:<dtype>:graph:<distribution>:<seed>",
                            id);
    return PW_OK;
}

/* ---- one signature ---- */

/* Nothing of it runs on the target: its gate is whether the protocol lets it stay on the host. */
static void settle_host(struct verify_state *state, size_t position)
{
    const struct pw_signature *signature = signature_at(state, position);
    struct signature_state *s = &state->signatures[position];
    struct pw_signature_result *summary = &s->summary;

    s->skipped = true;
    summary->standing = PW_STANDING_UNPROVEN;
    if (s->impls.coverage == PW_COVERAGE_MISSING) {
        summary->gate_failed = true;
        summary->gate_reason = "no implementation anywhere";
    } else if (!pw_protocol_host_allowed(state->request->protocol, signature->call, signature->shape_arithmetic)) {
        summary->gate_failed = true;
        summary->gate_reason = s->impls.reason && s->impls.reason[0] ? s->impls.reason : "runs on the host";
    } else {
        summary->gate_reason = s->impls.reason;
    }
}

static void settle_signature(struct signature_state *s)
{
    struct pw_signature_result *summary = &s->summary;

    summary->standing = pw_standing_of(&s->tally);
    summary->cases = s->tally.cases;
    summary->held = s->tally.held;
    summary->failed = s->tally.failed;
    summary->no_evidence = s->tally.no_evidence;
    if (summary->standing == PW_STANDING_FAILED || summary->standing == PW_STANDING_UNPROVEN) {
        summary->gate_failed = true;
        summary->gate_reason = summary->standing == PW_STANDING_FAILED ? "a case failed" : "no case gave evidence";
    }
}

static pw_status run_signature(struct verify_state *state, size_t position, struct pw_error *err)
{
    const struct pw_verify_request *request = state->request;
    const struct pw_signature *signature = signature_at(state, position);
    struct signature_state *s = &state->signatures[position];
    struct pw_verify_event begun = {.kind = PW_VERIFY_SIGNATURE, .signature = state->selection[position]};
    const struct planned_case *cases;
    size_t count = planned(signature, &cases);
    pw_status status;

    pthread_mutex_lock(&state->lock);
    emit(state, &begun);
    pthread_mutex_unlock(&state->lock);
    s->summary = (struct pw_signature_result){
        .signature = state->selection[position], .worst_error = NAN, .implementations = &s->impls};
    status = pw_impl_find(signature->call, request->kernels, request->device, &s->arena, &s->impls, err);
    if (status != PW_OK)
        return status;
    if (signature->shape_arithmetic)
        pw_impl_keep_on_host(&s->impls, PW_IMPL_SHAPE_ARITHMETIC);
    if (s->impls.coverage == PW_COVERAGE_HOST || s->impls.coverage == PW_COVERAGE_MISSING) {
        settle_host(state, position);
        pthread_mutex_lock(&state->lock);
        state->done += request->case_id ? 1 : count;
        pthread_mutex_unlock(&state->lock);
        return PW_OK;
    }
    if (request->case_id) {
        char id[17];
        pw_dist dist = PW_DIST_NORMAL;
        uint64_t seed = 0;

        status = parse_case_id(request->case_id, id, &dist, &seed, err);
        if (status == PW_OK)
            status = run_case(state, position, dist, seed, err);
    }
    for (size_t i = 0; i < count && !request->case_id && status == PW_OK && !cancelled(request); i++)
        status = run_case(state, position, cases[i].dist, request->seed + cases[i].seed_offset, err);
    if (status == PW_OK)
        settle_signature(s);
    return status;
}

static void *thread_main(void *user)
{
    struct verify_state *state = user;

    for (;;) {
        struct pw_error err = {0};
        size_t position;
        pw_status status = PW_OK;

        pthread_mutex_lock(&state->lock);
        position = state->next;
        if (position < state->selection_count && state->status == PW_OK && !cancelled(state->request))
            state->next++;
        else
            position = state->selection_count;
        pthread_mutex_unlock(&state->lock);
        if (position == state->selection_count)
            return NULL;
        status = run_signature(state, position, &err);
        if (status != PW_OK) {
            pthread_mutex_lock(&state->lock);
            if (state->status == PW_OK) {
                state->status = status;
                state->error = err;
            }
            pthread_mutex_unlock(&state->lock);
        }
    }
}

static void run_threads(struct verify_state *state)
{
    int jobs = state->request->jobs ? state->request->jobs : pw_device_workers(state->request->device);
    pthread_t threads[MAX_THREADS];
    int started = 0;

    if (jobs > MAX_THREADS)
        jobs = MAX_THREADS;
    while (started < jobs - 1 && pthread_create(&threads[started], NULL, thread_main, state) == 0)
        started++;
    thread_main(state); /* this thread works too, so one that could not start loses nothing */
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

/* ---- the quiet phase and the summary ---- */

static void time_signatures(struct verify_state *state)
{
    struct pw_timed *timed = pw_calloc(state->selection_count + 1, sizeof *timed);
    size_t count = 0;

    for (size_t i = 0; timed && i < state->selection_count; i++) {
        struct signature_state *s = &state->signatures[i];

        if (!s->skipped && s->summary.standing != PW_STANDING_FAILED && s->impls.selected >= 0)
            timed[count++] = (struct pw_timed){&s->summary, &s->arena};
    }
    /* A time that cannot be had is unknown, not a failure of the check. */
    if (timed)
        pw_verify_time(state->request, timed, count, NULL);
    pw_free(timed);
}

static void count_signature(struct pw_verify_totals *totals, const struct pw_signature_result *summary)
{
    totals->signatures++;
    totals->held += summary->standing == PW_STANDING_HELD;
    totals->failed += summary->standing == PW_STANDING_FAILED;
    totals->unproven += summary->standing == PW_STANDING_UNPROVEN;
    totals->mistrusted += summary->standing == PW_STANDING_MISTRUSTED;
    totals->gate_failed += summary->gate_failed;
}

static pw_status select_signatures(struct verify_state *state, struct pw_arena *arena, struct pw_error *err)
{
    const struct pw_verify_request *request = state->request;
    size_t *selection;
    char wanted[17] = "";
    pw_dist dist;
    uint64_t seed;
    pw_status status;

    if (request->case_id) {
        status = parse_case_id(request->case_id, wanted, &dist, &seed, err);
        if (status != PW_OK)
            return status;
    }
    selection =
        pw_arena_alloc(arena, request->inventory->signature_count + request->signature_count + 1, sizeof *selection);
    if (!selection)
        return pw_error_memory(err, request->inventory->signature_count * sizeof *selection);
    for (size_t i = 0; i < request->inventory->signature_count && !request->signatures; i++)
        if (!wanted[0] || !strcmp(request->inventory->signatures[i].id, wanted))
            selection[state->selection_count++] = i;
    for (size_t i = 0; request->signatures && i < request->signature_count; i++)
        selection[state->selection_count++] = request->signatures[i];
    state->selection = selection;
    if (!state->selection_count)
        return wanted[0] ? pw_error_set(err, PW_ERR_USAGE,
                                        "case '%s': no signature of this graph and these dims has the id %s",
                                        request->case_id, wanted)
                         : pw_error_set(err, PW_ERR_USAGE, "nothing is selected");
    for (size_t i = 0; i < state->selection_count; i++) {
        const struct planned_case *cases;

        state->total += request->case_id ? 1 : planned(signature_at(state, i), &cases);
    }
    return PW_OK;
}

pw_status pw_verify_run(const struct pw_verify_request *request, struct pw_verify_totals *totals, struct pw_error *err)
{
    struct verify_state state = {.request = request, .totals = totals};
    struct pw_verify_event event = {.kind = PW_VERIFY_STARTED};
    struct pw_arena arena = {0};
    pw_status status;

    memset(totals, 0, sizeof *totals);
    pthread_mutex_init(&state.lock, NULL);
    status = select_signatures(&state, &arena, err);
    if (status != PW_OK)
        goto done;
    state.signatures = pw_calloc(state.selection_count, sizeof *state.signatures);
    if (!state.signatures) {
        status = pw_error_memory(err, state.selection_count * sizeof *state.signatures);
        goto done;
    }
    emit(&state, &event);
    run_threads(&state);
    status = state.status;
    if (status != PW_OK) {
        pw_error_set(err, status, "%s", state.error.message);
        goto done;
    }
    if (cancelled(request)) {
        status = pw_error_set(err, PW_ERR_CANCELLED, "cancelled after %zu of %zu cases", state.done, state.total);
        goto done;
    }
    if (request->timing)
        time_signatures(&state);
    event.kind = PW_VERIFY_DONE_SIGNATURE;
    for (size_t i = 0; i < state.selection_count; i++) {
        count_signature(totals, &state.signatures[i].summary);
        event.signature = state.selection[i];
        event.summary = &state.signatures[i].summary;
        emit(&state, &event);
    }
    event.kind = PW_VERIFY_FINISHED;
    event.summary = NULL;
    emit(&state, &event);
done:
    for (size_t i = 0; state.signatures && i < state.selection_count; i++)
        pw_arena_clear(&state.signatures[i].arena);
    pw_free(state.signatures);
    pw_arena_clear(&arena);
    pthread_mutex_destroy(&state.lock);
    return status;
}
