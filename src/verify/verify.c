/*
 * The run of a verification: threads take signatures, each runs the signature's minimum of cases; what is left of the
 * budget is dealt out in rounds. When all verdicts are in, the quiet phase times target and reference one signature
 * at a time.
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "tensor/blas.h"
#include "verify/verify_state.h"

#define MAX_THREADS 16
#define ROUND_CASES 4 /* cases of a signature in one round */
#define LEAST_CASES 6 /* that a signature gets even when the budget is over before its turn */

bool pw_verify_cancelled(const struct pw_verify_request *request)
{
    return request->cancel && *request->cancel;
}

void pw_verify_emit_event(struct pw_verify_state *state, struct pw_verify_event *event)
{
    event->done = state->done;
    event->total = state->total;
    if (state->request->emit)
        state->request->emit(state->request->user, event);
}

const struct pw_signature *pw_verify_signature_at(const struct pw_verify_state *state, size_t position)
{
    const struct pw_verify_signature *s = &state->signatures[position];

    return s->own.call ? &s->own : &state->request->inventory->signatures[state->selection[position]];
}

bool pw_verify_over_budget(const struct pw_verify_state *state)
{
    return state->until_ns != INT64_MAX && pw_clock_ns() > state->until_ns;
}

/* ---- threads ---- */

static pw_status run_minimum(struct pw_verify_state *state, size_t position, struct pw_error *err)
{
    struct pw_verify_signature *s = &state->signatures[position];
    pw_status status = pw_verify_signature_begin(state, position, err);

    if (status == PW_OK && state->request->effort.explain) {
        s->over = true;
        return pw_verify_explain(state, position, err);
    }
    if (status != PW_OK || s->skipped)
        return status;
    if (state->request->case_id)
        return pw_verify_signature_case_id(state, position, err);
    if (state->request->effort.huge)
        return pw_verify_signature_huge(state, position, err);
    return pw_verify_signature_cases(state, position, pw_case_plan_minimum(s->plan), LEAST_CASES, err);
}

/* The next signature for this thread, in the order of the selection: first those that have not begun, then, while the
 * budget lasts, any that has more to try and that nobody works on, which is asked first: all else of one belongs to
 * the thread that does. SIZE_MAX: there is none. */
static size_t take(struct pw_verify_state *state)
{
    size_t position = SIZE_MAX;

    if (state->status != PW_OK || state->stop || pw_verify_cancelled(state->request))
        return SIZE_MAX;
    for (size_t i = 0; i < state->selection_count && position == SIZE_MAX; i++)
        if (!state->signatures[i].busy && !state->signatures[i].begun)
            position = i;
    if (position == SIZE_MAX && state->until_ns != INT64_MAX && !pw_verify_over_budget(state))
        for (size_t i = 0; i < state->selection_count && position == SIZE_MAX; i++) {
            size_t at = (state->next + i) % state->selection_count;

            if (!state->signatures[at].busy && state->signatures[at].begun && !state->signatures[at].over)
                position = at;
        }
    if (position != SIZE_MAX) {
        state->signatures[position].busy = true;
        state->next = position + 1;
    }
    return position;
}

static void *thread_main(void *user)
{
    struct pw_verify_state *state = user;

    for (;;) {
        struct pw_error err = {0};
        pw_status status;
        size_t position;

        pthread_mutex_lock(&state->lock);
        position = take(state);
        pthread_mutex_unlock(&state->lock);
        if (position == SIZE_MAX)
            return NULL;
        status = state->signatures[position].begun ? pw_verify_signature_cases(state, position, ROUND_CASES, 0, &err)
                                                   : run_minimum(state, position, &err);
        pthread_mutex_lock(&state->lock);
        state->signatures[position].busy = false;
        if (status != PW_OK && state->status == PW_OK) {
            state->status = status;
            state->error = err;
        }
        pthread_mutex_unlock(&state->lock);
    }
}

static void run_threads(struct pw_verify_state *state)
{
    int jobs = state->request->jobs ? state->request->jobs : pw_device_workers(state->request->device);
    pthread_t threads[MAX_THREADS];
    int started = 0;

    if (state->request->effort.huge)
        jobs = 1; /* the memory is counted for one case */
    if (jobs > MAX_THREADS)
        jobs = MAX_THREADS;
    while (started < jobs - 1 && pthread_create(&threads[started], NULL, thread_main, state) == 0)
        started++;
    thread_main(state); /* this thread works too, so one that could not start loses nothing */
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

/* ---- the quiet phase and the summary ---- */

static void time_signatures(struct pw_verify_state *state)
{
    struct pw_timed *timed = pw_calloc(state->selection_count + 1, sizeof *timed);
    size_t count = 0;

    for (size_t i = 0; timed && i < state->selection_count; i++) {
        struct pw_verify_signature *s = &state->signatures[i];

        if (!s->skipped && s->summary.standing != PW_STANDING_FAILED && s->impls.selected >= 0)
            timed[count++] = (struct pw_timed){&s->summary, &s->arena};
    }
    /* A time that cannot be had is unknown, not a failure of the check. */
    if (timed)
        pw_verify_time(state->request, timed, count, NULL);
    pw_free(timed);
}

void pw_verify_count(struct pw_verify_totals *totals, const struct pw_signature_result *summary)
{
    totals->signatures++;
    totals->held += summary->standing == PW_STANDING_HELD;
    totals->failed += summary->standing == PW_STANDING_FAILED;
    totals->unproven += summary->standing == PW_STANDING_UNPROVEN;
    totals->mistrusted += summary->standing == PW_STANDING_MISTRUSTED;
    totals->gate_failed += summary->gate_failed;
    totals->on_host += summary->implementations && summary->implementations->coverage == PW_COVERAGE_HOST;
    totals->off_target += summary->off_target;
    totals->below_minimum += summary->below_minimum;
}

void pw_verify_count_case(struct pw_verify_totals *totals, const struct pw_case_result *result)
{
    totals->cases++;
    totals->passed += result->verdict == PW_VERDICT_PASS;
    totals->warned += result->verdict == PW_VERDICT_WARN;
    totals->no_evidence += result->verdict >= PW_VERDICT_UNSUPPORTED;
    totals->cases_failed += pw_verdict_failed(result->verdict);
}

static pw_status select_signatures(struct pw_verify_state *state, struct pw_arena *arena, struct pw_error *err)
{
    const struct pw_verify_request *request = state->request;
    size_t *selection;
    char wanted[17] = "";
    struct pw_case_spec spec;
    pw_status status;

    if (request->case_id) {
        status = pw_case_id_parse(request->case_id, wanted, &spec, err);
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
    return PW_OK;
}

/* How many cases there will be, until the plans say it. */
static void promise(struct pw_verify_state *state)
{
    const struct pw_verify_effort *effort = &state->request->effort;

    for (size_t i = 0; i < state->selection_count; i++) {
        size_t each = effort->min_cases > 0 ? (size_t)effort->min_cases : PW_VERIFY_MIN_CASES;

        state->signatures[i].promised = state->request->case_id || effort->huge ? 1 : each;
        state->total += state->signatures[i].promised;
    }
}

pw_status pw_verify_run(const struct pw_verify_request *request, struct pw_verify_totals *totals, struct pw_error *err)
{
    struct pw_verify_state state = {.request = request, .totals = totals, .until_ns = INT64_MAX};
    struct pw_verify_event event = {.kind = PW_VERIFY_STARTED};
    struct pw_arena arena = {0};
    int blas_threads;
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
    promise(&state);
    if (request->effort.captured)
        status = pw_capture_open(request->effort.captured, &state.capture, err);
    if (status != PW_OK)
        goto done;
    if (request->effort.budget_ns > 0)
        state.until_ns = pw_clock_ns() + request->effort.budget_ns;
    pw_verify_emit_event(&state, &event);
    blas_threads = pw_blas_threads_now();
    pw_blas_threads(1); /* every thread here has its own product to compute; theirs would only spin */
    run_threads(&state);
    pw_blas_threads(blas_threads);
    status = state.status;
    if (status != PW_OK) {
        pw_error_set(err, status, "%s", state.error.message);
        goto done;
    }
    if (pw_verify_cancelled(request)) {
        status = pw_error_set(err, PW_ERR_CANCELLED, "cancelled after %zu of %zu cases", state.done, state.total);
        goto done;
    }
    for (size_t i = 0; i < state.selection_count; i++)
        pw_verify_signature_settle(&state, i);
    if (request->timing && !state.stop)
        time_signatures(&state);
    event.kind = PW_VERIFY_DONE_SIGNATURE;
    for (size_t i = 0; i < state.selection_count; i++) {
        pw_verify_count(totals, &state.signatures[i].summary);
        event.signature = state.selection[i];
        event.summary = &state.signatures[i].summary;
        pw_verify_emit_event(&state, &event);
    }
    event.kind = PW_VERIFY_FINISHED;
    event.summary = NULL;
    pw_verify_emit_event(&state, &event);
done:
    for (size_t i = 0; state.signatures && i < state.selection_count; i++)
        pw_verify_signature_clear(&state.signatures[i]);
    pw_free(state.signatures);
    pw_capture_close(state.capture);
    pw_arena_clear(&arena);
    pthread_mutex_destroy(&state.lock);
    return status;
}
