#include "verify/shrink.h"

#include <string.h>

#include "base/clock.h"

#define MAX_RUNS 40
#define MAX_NS ((int64_t)4000000000)

struct shrinking {
    struct pw_case_run *run; /* the failure */
    struct pw_shapes *shapes;
    struct pw_case_spec best; /* the smallest that fails so far */
    int runs;
    int64_t until_ns;
    bool smaller;
};

static bool failed(pw_verdict verdict)
{
    return verdict == PW_VERDICT_FAIL || verdict == PW_VERDICT_CRASH || verdict == PW_VERDICT_TIMEOUT ||
           verdict == PW_VERDICT_ERROR;
}

static bool over(const struct shrinking *s)
{
    return s->runs >= MAX_RUNS || pw_clock_ns() > s->until_ns || (s->run->request->cancel && *s->run->request->cancel);
}

/* Runs a candidate; when it fails in the same way it is the best from now on. */
static pw_status attempt(struct shrinking *s, const struct pw_case_spec *spec, bool *fails, struct pw_error *err)
{
    struct pw_case_run tried = {.request = s->run->request,
                                .signature = s->run->signature,
                                .impl = s->run->impl,
                                .capture = s->run->capture,
                                .spec = spec};
    pw_status status = pw_case_execute(&tried, err);

    s->runs++;
    *fails = status == PW_OK && failed(tried.result.verdict) && tried.result.verdict == s->run->result.verdict;
    if (*fails) {
        s->best = *spec;
        s->smaller = true;
        s->run->result.shrunk_id = pw_case_keep(s->run, tried.result.id);
        s->run->result.shrunk_shapes = pw_case_keep(s->run, tried.result.shapes);
        s->run->result.shrunk_reason = pw_case_keep(s->run, tried.result.reason);
    }
    pw_case_run_clear(&tried);
    return status;
}

static pw_status shrink_shapes(struct shrinking *s, bool *changed, struct pw_error *err)
{
    for (size_t g = 0; g < pw_shapes_group_count(s->shapes); g++)
        for (int step = 1; step <= 3 && !over(s); step++) {
            struct pw_case_spec smaller;
            bool fails = false;
            pw_status status;

            if (!pw_shapes_reduce(s->shapes, &s->best, g, step, &smaller))
                continue;
            status = attempt(s, &smaller, &fails, err);
            if (status != PW_OK)
                return status;
            *changed |= fails;
            if (fails && step == 2)
                step = 1; /* half again */
        }
    return PW_OK;
}

static pw_status simplify_draw(struct shrinking *s, struct pw_error *err)
{
    static const pw_dist simpler[] = {PW_DIST_EXACT, PW_DIST_UNIFORM, PW_DIST_NORMAL};

    for (size_t i = 0; i < sizeof simpler / sizeof *simpler && !over(s); i++) {
        struct pw_case_spec spec = s->best;
        bool fails = false;
        pw_status status;

        if (spec.dist == simpler[i] || spec.dist == PW_DIST_CAPTURED)
            break; /* those that follow are no simpler */
        spec.dist = simpler[i];
        status = attempt(s, &spec, &fails, err);
        if (status != PW_OK || fails)
            return status;
    }
    return PW_OK;
}

pw_status pw_shrink(struct pw_case_run *run, struct pw_shapes *shapes, struct pw_error *err)
{
    struct shrinking s = {.run = run, .shapes = shapes, .best = *run->spec, .until_ns = pw_clock_ns() + MAX_NS};
    bool changed = run->spec->dist != PW_DIST_CAPTURED;
    pw_status status = PW_OK;

    while (changed && status == PW_OK && !over(&s)) {
        changed = false;
        status = shrink_shapes(&s, &changed, err);
    }
    if (status == PW_OK)
        status = simplify_draw(&s, err);
    return status;
}
