/* The cases of one signature: run, counted, shrunk where they fail, summed up. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "verify/huge.h"
#include "verify/shrink.h"
#include "verify/verify_state.h"

#define SHRUNK_MAX 2   /* failures of a signature that are made small */
#define TIMEOUTS_MAX 2 /* after so many the rest of a signature is left */

static void keep_worst(struct pw_verify_signature *signature, const struct pw_case_result *result)
{
    struct pw_signature_result *summary = &signature->summary;
    double ratio = result->tolerance > 0 ? result->comparison.max_error / result->tolerance
                                         : (result->comparison.over ? INFINITY : 0);

    if (result->output < 0 || result->property)
        return;
    if (isnan(summary->worst_error) || ratio > summary->worst_ratio ||
        (ratio >= summary->worst_ratio && result->comparison.max_error > summary->worst_error)) {
        summary->worst_error = result->comparison.max_error;
        summary->worst_ratio = ratio;
        summary->tolerance = result->tolerance;
        summary->worst_case = pw_arena_strndup(&signature->arena, result->id, strlen(result->id));
    }
}

/* Under the lock. */
static void count_case(struct pw_verify_state *state, struct pw_verify_signature *signature,
                       const struct pw_case_result *result)
{
    const struct pw_verify_effort *effort = &state->request->effort;
    struct pw_verify_totals *totals = state->totals;

    pw_standing_count(&signature->tally, result);
    keep_worst(signature, result);
    pw_verify_count_case(totals, result);
    state->done++;
    if (signature->promised)
        signature->promised--;
    else
        state->total++;
    signature->timeouts += result->verdict == PW_VERDICT_TIMEOUT;
    if (totals->cases_failed &&
        (effort->fail_fast || (effort->max_failures > 0 && totals->cases_failed >= (size_t)effort->max_failures)))
        state->stop = totals->stopped = true;
}

/* A case that was asked for by its id, or by --huge. */
static bool is_huge(const struct pw_verify_state *state, const struct pw_signature *signature,
                    const struct pw_case_spec *spec)
{
    return (state->request->effort.huge || state->request->case_id) &&
           pw_huge_is(signature, spec, pw_huge_threshold(state->request));
}

/* skip: why the case is not run; NULL: it is. */
static pw_status run_case(struct pw_verify_state *state, size_t position, const struct pw_case_spec *spec,
                          const char *skip, struct pw_error *err)
{
    struct pw_verify_signature *signature = &state->signatures[position];
    struct pw_case_run run = {.request = state->request,
                              .signature = pw_verify_signature_at(state, position),
                              .impl = &signature->impls.items[signature->impls.selected],
                              .spec = spec,
                              .capture = state->capture};
    struct pw_verify_event event = {.kind = PW_VERIFY_CASE, .signature = state->selection[position]};
    bool huge = !skip && is_huge(state, run.signature, spec);
    pw_status status = PW_OK;

    if (skip) {
        pw_case_begin(&run);
        pw_case_settle(&run, PW_VERDICT_SKIPPED, skip);
    } else {
        status = huge ? pw_huge_execute(&run, err) : pw_case_execute(&run, err);
    }
    if (status == PW_OK && pw_verdict_failed(run.result.verdict) && run.result.verdict != PW_VERDICT_TIMEOUT && !huge &&
        !state->request->effort.no_shrink && signature->plan && signature->shrunk < SHRUNK_MAX) {
        signature->shrunk++;
        status = pw_shrink(&run, pw_case_plan_shapes(signature->plan), err);
    }
    if (status == PW_OK) {
        run.result.signature = state->selection[position];
        pthread_mutex_lock(&state->lock);
        if (!state->stop) { /* what another thread found first ends the run */
            count_case(state, signature, &run.result);
            event.result = &run.result;
            pw_verify_emit_event(state, &event);
        }
        pthread_mutex_unlock(&state->lock);
    }
    pw_case_run_clear(&run);
    return status;
}

/* ---- the host ---- */

/* Nothing of it runs on the target: its gate is whether the protocol lets it stay on the host. */
static void settle_host(struct pw_verify_state *state, size_t position)
{
    const struct pw_signature *signature = pw_verify_signature_at(state, position);
    struct pw_verify_signature *s = &state->signatures[position];
    struct pw_signature_result *summary = &s->summary;

    s->skipped = s->over = true;
    summary->standing = PW_STANDING_UNPROVEN;
    if (s->impls.coverage == PW_COVERAGE_MISSING) {
        summary->off_target = summary->gate_failed = true;
        summary->gate_reason = "no implementation anywhere";
    } else if (!pw_protocol_host_allowed(state->request->protocol, signature->call, signature->shape_arithmetic)) {
        summary->off_target = summary->gate_failed = true;
        summary->gate_reason = s->impls.reason && s->impls.reason[0] ? s->impls.reason : "runs on the host";
    } else {
        summary->gate_reason = s->impls.reason;
    }
}

/* ---- start, cases, end ---- */

pw_status pw_verify_signature_begin(struct pw_verify_state *state, size_t position, struct pw_error *err)
{
    const struct pw_verify_request *request = state->request;
    const struct pw_signature *signature = pw_verify_signature_at(state, position);
    struct pw_verify_signature *s = &state->signatures[position];
    struct pw_verify_event begun = {.kind = PW_VERIFY_SIGNATURE, .signature = state->selection[position]};
    pw_status status;

    s->begun = true;
    s->summary = (struct pw_signature_result){
        .signature = state->selection[position], .worst_error = NAN, .implementations = &s->impls};
    pthread_mutex_lock(&state->lock);
    pw_verify_emit_event(state, &begun);
    pthread_mutex_unlock(&state->lock);
    status = pw_call_own_init(signature->call, &s->call, err);
    if (status != PW_OK)
        return status;
    memcpy(&s->own, signature, offsetof(struct pw_signature, sensitivity)); /* the rest is the client's */
    s->own.call = &s->call.call;
    signature = &s->own;
    status = pw_impl_find(signature->call, request->kernels, request->device, &s->arena, &s->impls, err);
    if (status != PW_OK)
        return status;
    if (signature->shape_arithmetic)
        pw_impl_keep_on_host(&s->impls, PW_IMPL_SHAPE_ARITHMETIC);
    if (s->impls.coverage == PW_COVERAGE_HOST || s->impls.coverage == PW_COVERAGE_MISSING) {
        settle_host(state, position);
    } else {
        status =
            pw_case_plan_create(signature, request, &s->impls.items[s->impls.selected], state->capture, &s->plan, err);
    }
    pthread_mutex_lock(&state->lock);
    state->total -= s->promised; /* a guess until now */
    s->promised = request->case_id || (request->effort.huge && s->plan) ? 1
                  : s->plan                                             ? pw_case_plan_minimum(s->plan)
                                                                        : 0;
    state->total += s->promised;
    pthread_mutex_unlock(&state->lock);
    return status;
}

static bool ended(const struct pw_verify_state *state, const struct pw_verify_signature *s)
{
    return state->stop || pw_verify_cancelled(state->request) || s->timeouts >= TIMEOUTS_MAX;
}

pw_status pw_verify_signature_cases(struct pw_verify_state *state, size_t position, size_t count, size_t least,
                                    struct pw_error *err)
{
    struct pw_verify_signature *s = &state->signatures[position];
    size_t spare = 2 * count; /* a shape that the operator refuses does not count, but not for ever */
    pw_status status = PW_OK;
    int none;

    for (size_t i = 0; i < count && status == PW_OK && !s->over && !ended(state, s); i++) {
        struct pw_case_spec spec;

        if (i >= least && pw_verify_over_budget(state))
            break;
        if (!pw_case_plan_next(s->plan, &spec)) {
            s->over = true;
            break;
        }
        none = s->tally.no_evidence;
        status = run_case(state, position, &spec, NULL, err);
        if (s->tally.no_evidence > none && s->tally.no_evidence < s->tally.cases && spare > 0) {
            spare--;
            count++;
        }
    }
    return status;
}

pw_status pw_verify_signature_case_id(struct pw_verify_state *state, size_t position, struct pw_error *err)
{
    struct pw_case_spec spec;
    char id[17];
    pw_status status = pw_case_id_parse(state->request->case_id, id, &spec, err);

    state->signatures[position].over = true;
    return status == PW_OK ? run_case(state, position, &spec, NULL, err) : status;
}

pw_status pw_verify_signature_huge(struct pw_verify_state *state, size_t position, struct pw_error *err)
{
    struct pw_verify_signature *s = &state->signatures[position];
    struct pw_case_spec spec;
    struct pw_buf why = {0};
    bool planned = pw_huge_plan(pw_case_plan_shapes(s->plan), &spec, &why);
    pw_status status = run_case(state, position, &spec, planned ? NULL : pw_buf_text(&why), err);

    s->over = true;
    pw_buf_clear(&why);
    return status;
}

void pw_verify_signature_settle(struct pw_verify_state *state, size_t position)
{
    struct pw_verify_signature *s = &state->signatures[position];
    struct pw_signature_result *summary = &s->summary;

    if (s->skipped || state->request->effort.explain)
        return;
    if (!s->begun)
        *summary = (struct pw_signature_result){.signature = state->selection[position], .worst_error = NAN};
    summary->standing = pw_standing_of(&s->tally);
    if (state->request->case_id && summary->standing == PW_STANDING_MISTRUSTED)
        summary->standing = PW_STANDING_HELD; /* the one case that was asked for speaks for itself */
    summary->cases = s->tally.cases;
    summary->held = s->tally.held;
    summary->failed = s->tally.failed;
    summary->no_evidence = s->tally.no_evidence;
    if (state->request->effort.huge && s->tally.cases && s->tally.no_evidence == s->tally.cases) {
        summary->gate_reason = "its huge case was not run"; /* for want of memory, say: no failure of the signature */
        return;
    }
    if (s->plan && !state->request->case_id && !s->over && !ended(state, s) &&
        (size_t)s->tally.cases < pw_case_plan_minimum(s->plan))
        summary->below_minimum = true;
    if (summary->standing == PW_STANDING_HELD && s->plan && !state->request->case_id && !state->request->effort.huge &&
        !pw_case_plan_varies(s->plan))
        summary->gate_reason = "every case is the same: nothing but constants of the graph flows in";
    if (summary->standing != PW_STANDING_HELD) {
        summary->gate_failed = true;
        summary->gate_reason = summary->standing == PW_STANDING_FAILED ? "a case failed"
                               : summary->standing == PW_STANDING_MISTRUSTED
                                   ? "none of its cases would have noticed an output of zeros or of one constant"
                               : !s->tally.cases && state->stop ? "not tried: the run stopped at a failure"
                               : s->plan && !pw_case_plan_minimum(s->plan)
                                   ? "no case can be made of the distributions and dtypes that were asked for"
                                   : "no case gave evidence";
    }
}

void pw_verify_signature_clear(struct pw_verify_signature *signature)
{
    pw_case_plan_destroy(signature->plan);
    pw_call_own_clear(&signature->call);
    pw_arena_clear(&signature->arena);
}
