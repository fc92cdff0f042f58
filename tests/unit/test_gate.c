/*
 * Decisions against a baseline. Samples are made here: a log-normal-like spread drawn by counter, so every case is
 * the same on each machine; the rates at the end are of such made sessions, not of a machine.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/yaml.h"
#include "baseline/gate_settings.h"

#define MAX_SAMPLES 40

struct made { /* one signature with its own samples */
    double before[MAX_SAMPLES], now[MAX_SAMPLES], before_ns[MAX_SAMPLES], now_ns[MAX_SAMPLES];
};

static void draw(double *out, size_t count, double median, double spread, uint64_t stream)
{
    for (size_t i = 0; i < count; i++)
        out[i] = median * exp(spread * pw_random_normal(11, stream, i));
}

static struct pw_gate_signature kernel_row(void)
{
    struct pw_gate_side side = {.present = true,
                                .measured = true,
                                .coverage = PW_COVERAGE_KERNEL,
                                .kernel = "softmax_rows",
                                .kernel_hash = "aaaa",
                                .error = 2e-7,
                                .tolerance = 1e-6,
                                .limit = NAN,
                                .cases = "4:00ff"};

    return (struct pw_gate_signature){.id = "00112233445566aa", .op = "Softmax-13", .before = side, .now = side};
}

static struct pw_gate_result decide(const struct pw_gate_signature *signature)
{
    struct pw_gate_options options = pw_gate_options_default();
    struct pw_gate_result result;
    struct pw_gate_totals totals;
    struct pw_error err = {0};

    assert_int_equal(pw_gate_decide(&options, signature, 1, &result, &totals, &err), PW_OK);
    return result;
}

static void test_coverage(void **state)
{
    static const struct {
        pw_coverage before, now;
        pw_gate_outcome want;
    } cases[] = {
        {PW_COVERAGE_KERNEL, PW_COVERAGE_KERNEL, PW_GATE_HELD},
        {PW_COVERAGE_KERNEL, PW_COVERAGE_HOST, PW_GATE_WORSE},
        {PW_COVERAGE_KERNEL, PW_COVERAGE_MISSING, PW_GATE_WORSE},
        {PW_COVERAGE_LIBRARY, PW_COVERAGE_HOST, PW_GATE_WORSE},
        {PW_COVERAGE_GENERATED, PW_COVERAGE_MISSING, PW_GATE_WORSE},
        {PW_COVERAGE_HOST, PW_COVERAGE_MISSING, PW_GATE_WORSE},
        {PW_COVERAGE_KERNEL, PW_COVERAGE_LIBRARY, PW_GATE_HELD},
        {PW_COVERAGE_LIBRARY, PW_COVERAGE_GENERATED, PW_GATE_HELD},
        {PW_COVERAGE_HOST, PW_COVERAGE_HOST, PW_GATE_HELD},
        {PW_COVERAGE_HOST, PW_COVERAGE_KERNEL, PW_GATE_BETTER},
        {PW_COVERAGE_MISSING, PW_COVERAGE_HOST, PW_GATE_BETTER},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_gate_signature s = kernel_row();

        s.before.coverage = cases[i].before;
        s.now.coverage = cases[i].now;
        assert_int_equal(decide(&s).outcome[PW_GATE_COVERAGE], cases[i].want);
    }
}

static void test_sides_that_are_missing(void **state)
{
    struct pw_gate_signature s = kernel_row();

    (void)state;
    s.before = (struct pw_gate_side){.error = NAN, .limit = NAN};
    for (int kind = 0; kind < PW_GATE_KIND_COUNT; kind++)
        assert_int_equal(decide(&s).outcome[kind], PW_GATE_NEW);
    s = kernel_row();
    s.now = (struct pw_gate_side){.error = NAN, .limit = NAN};
    for (int kind = 0; kind < PW_GATE_KIND_COUNT; kind++)
        assert_int_equal(decide(&s).outcome[kind], PW_GATE_GONE);
    s = kernel_row();
    s.now.measured = false; /* --op left it out */
    for (int kind = 0; kind < PW_GATE_KIND_COUNT; kind++)
        assert_int_equal(decide(&s).outcome[kind], PW_GATE_SKIPPED);
    s = kernel_row();
    s.now.error = NAN;
    assert_int_equal(decide(&s).outcome[PW_GATE_PRECISION], PW_GATE_SKIPPED);
    assert_int_equal(decide(&s).outcome[PW_GATE_THROUGHPUT], PW_GATE_SKIPPED); /* no samples */
}

static void test_precision(void **state)
{
    struct pw_gate_options options = pw_gate_options_default();
    struct pw_gate_signature s = kernel_row();

    (void)state;
    /* twice 2e-7 and 2 % of 1e-6: 4.2e-7 */
    assert_true(fabs(pw_gate_limit(&options, 2e-7, 1e-6) - 4.2e-7) < 1e-20);
    assert_true(pw_gate_limit(&options, 8e-7, 1e-6) == 1e-6); /* never above the tolerance … */
    assert_true(pw_gate_limit(&options, 3e-6, 1e-6) == 3e-6); /* … unless it was */
    assert_true(pw_gate_limit(&options, 0, 0) == 0);
    assert_true(isnan(pw_gate_limit(&options, NAN, 1e-6)));
    s.now.error = 4.1e-7;
    assert_int_equal(decide(&s).outcome[PW_GATE_PRECISION], PW_GATE_HELD);
    s.now.error = 4.3e-7;
    assert_int_equal(decide(&s).outcome[PW_GATE_PRECISION], PW_GATE_WORSE);
    assert_non_null(strstr(decide(&s).reason[PW_GATE_PRECISION], "4.3e-07"));
    s.before.limit = 5e-7; /* what the reviewed file says wins */
    assert_int_equal(decide(&s).outcome[PW_GATE_PRECISION], PW_GATE_HELD);
    s.now.error = INFINITY;
    assert_int_equal(decide(&s).outcome[PW_GATE_PRECISION], PW_GATE_WORSE);
    s.now.cases = "9:1234"; /* the error is the worst of other cases */
    assert_int_equal(decide(&s).outcome[PW_GATE_PRECISION], PW_GATE_SKIPPED);
    s.now.error = 2e-8;
    assert_int_equal(decide(&s).outcome[PW_GATE_PRECISION], PW_GATE_BETTER);
    s = kernel_row(); /* bitwise: nothing may grow */
    s.before.error = s.before.tolerance = s.now.tolerance = 0;
    s.now.error = 1e-12;
    assert_int_equal(decide(&s).outcome[PW_GATE_PRECISION], PW_GATE_WORSE);
}

static struct pw_gate_signature timed_row(struct made *made, double before, double now, uint64_t stream)
{
    struct pw_gate_signature s = kernel_row();

    draw(made->before, 15, before, 0.01, stream);
    draw(made->now, 15, now, 0.01, stream + 1);
    s.before.ratios = made->before;
    s.now.ratios = made->now;
    s.before.ratio_count = s.now.ratio_count = 15;
    s.now.kernel_hash = "bbbb";
    return s;
}

static void confirm(struct pw_gate_signature *s, struct made *made, double before, double now, uint64_t stream)
{
    draw(made->before_ns, 20, before, 0.01, stream + 2);
    draw(made->now_ns, 20, now, 0.01, stream + 3);
    s->before_ns = made->before_ns;
    s->now_ns = made->now_ns;
    s->confirm_count = 20;
}

static void test_throughput_path(void **state)
{
    struct made made;
    struct pw_gate_signature s = timed_row(&made, 1, 1, 100);
    struct pw_gate_result r = decide(&s);

    (void)state;
    assert_int_equal(r.outcome[PW_GATE_THROUGHPUT], PW_GATE_HELD);
    assert_true(!r.wants_samples && r.wants_confirmation); /* it changed: a fast session may hide a slower kernel */
    s.now.kernel_hash = "aaaa";
    assert_false(decide(&s).wants_confirmation);
    s = timed_row(&made, 1, 0.7, 110);
    r = decide(&s);
    assert_int_equal(r.outcome[PW_GATE_THROUGHPUT], PW_GATE_BETTER);
    assert_true(r.wants_confirmation);
    confirm(&s, &made, 5000, 5600, 110);
    assert_int_equal(decide(&s).outcome[PW_GATE_THROUGHPUT], PW_GATE_WORSE);

    s = timed_row(&made, 1, 1.2, 120); /* slower, but not confirmed: never fails */
    r = decide(&s);
    assert_int_equal(r.outcome[PW_GATE_THROUGHPUT], PW_GATE_INCONCLUSIVE);
    assert_true(r.wants_confirmation);
    assert_true(r.slowdown > 1.15 && r.slowdown < 1.25);
    confirm(&s, &made, 5000, 6000, 120);
    r = decide(&s);
    assert_int_equal(r.outcome[PW_GATE_THROUGHPUT], PW_GATE_WORSE);
    assert_true(r.confirmed);
    confirm(&s, &made, 5000, 5000, 130); /* the session was slow, not the kernel */
    r = decide(&s);
    assert_int_equal(r.outcome[PW_GATE_THROUGHPUT], PW_GATE_HELD);
    assert_non_null(strstr(r.reason[PW_GATE_THROUGHPUT], "as fast"));
    s.confirm_count = 8; /* too few pairs to say */
    assert_int_equal(decide(&s).outcome[PW_GATE_THROUGHPUT], PW_GATE_INCONCLUSIVE);
    s.confirm_count = 20;
    for (int i = 0; i < 20; i++)
        made.now_ns[i] = i % 2 ? 0 : NAN; /* no times at all */
    assert_int_equal(decide(&s).outcome[PW_GATE_THROUGHPUT], PW_GATE_INCONCLUSIVE);

    s = timed_row(&made, 1, 1.2, 140);
    s.now.kernel_hash = "aaaa"; /* the baseline's own kernel: nothing to run against */
    r = decide(&s);
    assert_int_equal(r.outcome[PW_GATE_THROUGHPUT], PW_GATE_INCONCLUSIVE);
    assert_false(r.wants_confirmation);
    s.now.kernel_hash = "bbbb";
    s.unconfirmable = "its kernel was not kept"; /* sessions of one kernel differ by more than this: no failure */
    r = decide(&s);
    assert_int_equal(r.outcome[PW_GATE_THROUGHPUT], PW_GATE_INCONCLUSIVE);
    assert_false(r.wants_confirmation);
    assert_non_null(strstr(r.reason[PW_GATE_THROUGHPUT], "not kept"));
    s = timed_row(&made, 1, 6, 142);
    s.unconfirmable = "its kernel was not kept"; /* but by this much they do not differ */
    assert_int_equal(decide(&s).outcome[PW_GATE_THROUGHPUT], PW_GATE_WORSE);

    s = timed_row(&made, 1, 1.2, 145); /* timed in two ways: the sessions say nothing, the pairs do */
    s.now.foreign = true;
    r = decide(&s);
    assert_int_equal(r.outcome[PW_GATE_THROUGHPUT], PW_GATE_INCONCLUSIVE);
    assert_true(r.wants_confirmation && !r.wants_samples);
    confirm(&s, &made, 5000, 6000, 145);
    assert_int_equal(decide(&s).outcome[PW_GATE_THROUGHPUT], PW_GATE_WORSE);
    s.confirm_count = 0;
    s.unconfirmable = "it was not kept";
    assert_int_equal(decide(&s).outcome[PW_GATE_THROUGHPUT], PW_GATE_INCONCLUSIVE);
    s.now.kernel_hash = "aaaa";
    assert_int_equal(decide(&s).outcome[PW_GATE_THROUGHPUT], PW_GATE_SKIPPED);

    s = timed_row(&made, 1, 1.2, 150);
    s.before.ratio_count = 5; /* nothing is decided from so few */
    r = decide(&s);
    assert_int_equal(r.outcome[PW_GATE_THROUGHPUT], PW_GATE_INCONCLUSIVE);
    assert_true(r.wants_samples);
    s = timed_row(&made, 1, 1.2, 160);
    s.now.coverage = PW_COVERAGE_HOST;
    r = decide(&s);
    assert_int_equal(r.outcome[PW_GATE_THROUGHPUT], PW_GATE_SKIPPED);
    assert_int_equal(r.outcome[PW_GATE_COVERAGE], PW_GATE_WORSE);
}

static void test_gates_switched_off(void **state)
{
    struct made made;
    struct pw_gate_signature s = timed_row(&made, 1, 1.3, 200);
    struct pw_gate_options options = pw_gate_options_default();
    struct pw_gate_result r;
    struct pw_gate_totals totals;

    (void)state;
    s.unconfirmable = "gone";
    s.now.error = 1;
    options.throughput_comparable = false;
    options.throughput_why = "another driver";
    options.precision = false;
    assert_int_equal(pw_gate_decide(&options, &s, 1, &r, &totals, NULL), PW_OK);
    assert_int_equal(r.outcome[PW_GATE_THROUGHPUT], PW_GATE_SKIPPED);
    assert_string_equal(r.reason[PW_GATE_THROUGHPUT], "another driver");
    assert_int_equal(r.outcome[PW_GATE_PRECISION], PW_GATE_SKIPPED);
    assert_int_equal(totals.worse, 0);
    assert_int_equal(totals.outcomes[PW_GATE_COVERAGE][PW_GATE_HELD], 1);
    assert_int_equal(pw_gate_decide(&options, NULL, 0, NULL, &totals, NULL), PW_OK);
}

static struct pw_protocol protocol_of(const char *text)
{
    struct pw_protocol protocol = {0};
    const struct pw_yaml *root = NULL;
    struct pw_error err = {0};

    assert_int_equal(pw_yaml_parse(text, strlen(text), "p.yaml", &protocol.arena, &root, &err), PW_OK);
    protocol.gate = pw_yaml_get(root, "gate");
    return protocol;
}

static void test_settings(void **state)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {{"gate: 1", "expected a map"},
                 {"gate: {effct: 1}", "effect"},
                 {"gate: {effect: 0}", "key 'effect'"},
                 {"gate: {alpha: 2}", "key 'alpha'"},
                 {"gate: {error_factor: 0.5}", "key 'error_factor'"},
                 {"gate: {environment: maybe}", "maybe"},
                 {"gate: {precision: perhaps}", "key 'precision'"}};
    struct pw_gate_options options;
    pw_gate_environment environment;
    struct pw_protocol protocol = protocol_of("gate: {effect: 0.02, error_factor: 3, error_share: 0, throughput: false,"
                                              " environment: fail}");
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(pw_gate_settings(&protocol, &options, &environment, &err), PW_OK);
    assert_true(options.stats.effect == 0.02 && options.stats.margin <= 0.01 && options.error_factor == 3);
    assert_true(options.precision && options.coverage && !options.throughput);
    assert_int_equal(environment, PW_GATE_ENVIRONMENT_FAIL);
    pw_arena_clear(&protocol.arena);
    protocol = (struct pw_protocol){0};
    assert_int_equal(pw_gate_settings(&protocol, &options, &environment, &err), PW_OK);
    assert_true(options.stats.effect == 0.05);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        pw_error_clear(&err);
        protocol = protocol_of(wrong[i].text);
        assert_int_equal(pw_gate_settings(&protocol, &options, &environment, &err), PW_ERR_FORMAT);
        if (!strstr(err.message, wrong[i].says) || !strstr(err.message, "p.yaml:1:"))
            fail_msg("expected '%s' in: %s", wrong[i].says, err.message);
        pw_arena_clear(&protocol.arena);
    }
}

/* 60 signatures a session, slices of 2 % spread, each session shifted by its own 1 %: unchanged code never fails,
 * and one kernel slowed by a fifth does. */
static void test_rates_of_made_sessions(void **state)
{
    enum { SIGNATURES = 60, SESSIONS = 40 };
    static struct made made[SIGNATURES];
    static struct pw_gate_signature rows[SIGNATURES];
    static struct pw_gate_result results[SIGNATURES];
    struct pw_gate_options options = pw_gate_options_default();
    struct pw_gate_totals totals;
    struct pw_error err = {0};
    int false_alarms = 0, caught = 0;

    (void)state;
    for (int session = 0; session < 2 * SESSIONS; session++) {
        bool slowed = session >= SESSIONS;
        uint64_t stream = 1000 + (uint64_t)session * SIGNATURES * 4;

        for (int i = 0; i < SIGNATURES; i++) {
            double shift = exp(0.01 * pw_random_normal(5, (uint64_t)session, (uint64_t)i));
            double factor = slowed && i == 17 ? 1.2 : 1;

            rows[i] = timed_row(&made[i], 1, shift * factor, stream + (uint64_t)i * 4);
            draw(made[i].before, 15, 1, 0.02, stream + (uint64_t)i * 4);
            draw(made[i].now, 15, shift * factor, 0.02, stream + (uint64_t)i * 4 + 1);
        }
        assert_int_equal(pw_gate_decide(&options, rows, SIGNATURES, results, &totals, &err), PW_OK);
        assert_int_equal(totals.worse, 0);
        for (int i = 0; i < SIGNATURES; i++)
            if (results[i].wants_confirmation)
                confirm(&rows[i], &made[i], 1000, slowed && i == 17 ? 1200 : 1000, stream + (uint64_t)i * 4);
        assert_int_equal(pw_gate_decide(&options, rows, SIGNATURES, results, &totals, &err), PW_OK);
        if (slowed)
            caught += results[17].outcome[PW_GATE_THROUGHPUT] == PW_GATE_WORSE;
        false_alarms += totals.worse > (slowed && results[17].outcome[PW_GATE_THROUGHPUT] == PW_GATE_WORSE);
    }
    assert_int_equal(false_alarms, 0);
    assert_int_equal(caught, SESSIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_sides_that_are_missing),
        cmocka_unit_test(test_precision),
        cmocka_unit_test(test_throughput_path),
        cmocka_unit_test(test_gates_switched_off),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_rates_of_made_sessions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
