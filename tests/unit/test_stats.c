/* Statistics of timings. Expected figures are scipy 1.x's (mannwhitneyu, wilcoxon, binomtest, bootstrap,
 * median_abs_deviation), or enumerations of all permutations where there are ties. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "bench/stats.h"

static const double old_times[7] = {10.1, 11.5, 9.8, 10.7, 12.0, 10.3, 11.1};
static const double new_times[5] = {12.2, 11.9, 13.1, 12.7, 10.9};

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want)))
        fail_msg("got %.17g, expected %.17g", got, want);
}

static void test_summary(void **state)
{
    static const double x[11] = {3, 1, 4, 1.5, 5, 9, 2.6, 5.3, 5.8, 9.7, 9.3};
    struct pw_stats_summary s;
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(pw_stats_summarize(x, 11, 0.95, &s, &err), PW_OK);
    assert_int_equal(s.count, 11);
    assert_true(s.median == 5 && s.min == 1 && s.max == 9.7);
    assert_near(s.q1, 2.8);
    assert_near(s.q3, 7.4);
    assert_near(s.spread, 3.5582453244134444);
    /* Binomial(11, 1/2): P(X <= 1) = 12/2048, P(X <= 2) = 67/2048: the second order statistic, both ends. */
    assert_true(s.low == 1.5 && s.high == 9.3);
    assert_near(s.confidence, 1 - 2 * 12.0 / 2048);
    assert_int_equal(pw_stats_summarize(x, 10, 0.95, &s, &err), PW_OK);
    assert_near(s.median, (4 + 5) / 2.0);
    assert_near(s.confidence, 0.978515625);
    assert_int_equal(pw_stats_summarize(x, 5, 0.95, &s, &err), PW_OK);
    assert_near(s.confidence, 0.9375); /* five samples cannot give 95 % */
    assert_int_equal(pw_stats_summarize(x, 1, 0.95, &s, &err), PW_OK);
    assert_true(s.median == 3 && s.low == 3 && s.high == 3 && s.confidence == 0 && s.spread == 0);
}

static void test_summary_of_many(void **state)
{
    struct pw_stats_summary s;
    struct pw_error err = {0};
    int64_t ns[30];

    (void)state;
    for (int i = 0; i < 30; i++)
        ns[i] = 1000 + (i * 7) % 30; /* 1000 to 1029, shuffled */
    assert_int_equal(pw_stats_summarize_ns(ns, 30, 0.95, &s, &err), PW_OK);
    assert_near(s.median, 1014.5);
    assert_true(s.low == 1009 && s.high == 1020); /* the tenth from each end */
    assert_near(s.confidence, 0.9572260547429323);
    assert_near(pw_stats_median_ns(ns, 30), 1014.5);
    assert_true(isnan(pw_stats_median(NULL, 0)));
}

static void test_refuses_what_is_no_time(void **state)
{
    static const double zero[2] = {1, 0}, negative[1] = {-1};
    double infinite[1] = {INFINITY}, none[1] = {NAN};
    struct pw_stats_summary s;
    struct pw_stats_rank rank;
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(pw_stats_summarize(zero, 2, 0.95, &s, &err), PW_ERR_USAGE);
    assert_non_null(strstr(err.message, "sample 1 is 0"));
    assert_int_equal(pw_stats_summarize(negative, 1, 0.95, &s, NULL), PW_ERR_USAGE);
    assert_int_equal(pw_stats_summarize(infinite, 1, 0.95, &s, NULL), PW_ERR_USAGE);
    assert_int_equal(pw_stats_summarize(none, 1, 0.95, &s, NULL), PW_ERR_USAGE);
    assert_int_equal(pw_stats_summarize(zero, 0, 0.95, &s, NULL), PW_ERR_USAGE);
    assert_int_equal(pw_stats_mann_whitney(zero, 1, negative, 1, &rank, NULL), PW_ERR_USAGE);
}

static void test_mann_whitney(void **state)
{
    static const double a[6] = {1, 2, 2, 3, 5, 5}, b[7] = {2, 3, 3, 5, 6, 7, 7};
    double many_a[60], many_b[50];
    struct pw_stats_rank r;
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(pw_stats_mann_whitney(old_times, 7, new_times, 5, &r, &err), PW_OK);
    assert_true(r.exact && r.u == 31);
    assert_near(r.p, 0.030303030303030304);
    assert_near(r.p_greater, 0.015151515151515152);
    assert_int_equal(pw_stats_mann_whitney(new_times, 5, old_times, 7, &r, &err), PW_OK);
    assert_true(r.u == 4);
    assert_near(r.p, 0.030303030303030304);
    assert_near(r.p_less, 0.015151515151515152);
    assert_int_equal(pw_stats_mann_whitney(a, 6, b, 7, &r, &err), PW_OK); /* ties: all 1716 choices of ranks */
    assert_true(r.exact && r.u == 32);
    assert_near(r.p_greater, 0.06526806526806526);
    assert_near(r.p_less, 0.9557109557109557);
    assert_near(r.p, 0.13053613053613053);
    for (int i = 0; i < 60; i++)
        many_a[i] = 100 + (i * 37) % 50;
    for (int i = 0; i < 50; i++)
        many_b[i] = 103 + (i * 29) % 50;
    assert_int_equal(pw_stats_mann_whitney(many_a, 60, many_b, 50, &r, &err), PW_OK);
    assert_true(!r.exact && r.u == 1653);
    assert_near(r.p, 0.3598700942015364);
}

static void test_all_equal(void **state)
{
    double same[100];
    struct pw_stats_rank r;
    struct pw_stats_interval i;

    (void)state;
    for (int k = 0; k < 100; k++)
        same[k] = 7;
    assert_int_equal(pw_stats_mann_whitney(same, 9, same, 9, &r, NULL), PW_OK);
    assert_true(r.p == 1 && r.p_greater == 1 && r.p_less == 1);
    assert_int_equal(pw_stats_mann_whitney(same, 100, same, 100, &r, NULL), PW_OK);
    assert_true(r.p == 1);
    assert_int_equal(pw_stats_paired(same, same, 100, 0.95, &r, &i, NULL), PW_OK);
    assert_true(r.p == 1 && i.value == 1 && i.low == 1 && i.high == 1);
}

static void test_hodges_lehmann(void **state)
{
    static const double few[2] = {1, 2};
    struct pw_stats_interval i;
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(pw_stats_ratio(old_times, 7, new_times, 5, 0.95, &i, &err), PW_OK);
    assert_near(i.value, 1.1391304347826086);
    assert_near(i.low, 1.018691588785047); /* by inverting mannwhitneyu over all shifts */
    assert_near(i.high, 1.2448979591836733);
    assert_true(i.confidence >= 0.95 && i.confidence < 1);
    assert_int_equal(pw_stats_ratio(few, 2, few, 2, 0.95, &i, &err), PW_OK);
    assert_true(i.low == 0 && isinf(i.high)); /* two samples bound nothing */
}

static void test_hodges_lehmann_of_many(void **state)
{
    static double a[2000], b[1500];
    struct pw_stats_interval i;

    (void)state;
    for (int k = 0; k < 2000; k++)
        a[k] = 1000 + (k * 733) % 2000;
    for (int k = 0; k < 1500; k++)
        b[k] = 1.25 * a[(k * 7) % 2000];
    assert_int_equal(pw_stats_ratio(a, 2000, b, 1500, 0.95, &i, NULL), PW_OK);
    assert_true(fabs(i.value - 1.25) < 0.01 && i.low < 1.25 && i.high > 1.25 && i.high / i.low < 1.1);
}

static void test_paired(void **state)
{
    static const double p[10] = {5.1, 4.9, 5.6, 5.3, 6.0, 5.2, 4.7, 5.5, 5.8, 5.0};
    static const double q[10] = {5.4, 5.0, 5.5, 5.9, 6.6, 5.6, 4.9, 6.1, 5.7, 5.2};
    /* log2 of q/p: 1 1 -2 3 3 3 0 -1 4; all 256 signs were enumerated */
    static const double ones[9] = {1, 1, 4, 1, 1, 1, 1, 2, 1}, powers[9] = {2, 2, 1, 8, 8, 8, 1, 1, 16};
    struct pw_stats_rank r;
    struct pw_stats_interval i;
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(pw_stats_paired(p, q, 10, 0.95, &r, &i, &err), PW_OK);
    assert_true(r.exact && r.u == 52);
    assert_near(r.p, 0.009765625);
    assert_near(r.p_greater, 0.0048828125);
    assert_near(i.value, 1.0493695586342475);
    assert_near(i.low, 1.0122144715739265);
    assert_near(i.high, 1.088400378819938);
    assert_int_equal(pw_stats_paired(ones, powers, 9, 0.95, &r, NULL, &err), PW_OK);
    assert_true(r.u == 30);
    assert_near(r.p_greater, 0.05859375);
    assert_near(r.p_less, 0.96875);
}

static void test_bootstrap(void **state)
{
    struct pw_stats_interval i, again;
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(pw_stats_bootstrap_ratio(old_times, 7, new_times, 5, 0.95, 20000, 1, &i, &err), PW_OK);
    assert_near(i.value, 1.1401869158878504);
    assert_true(fabs(i.low - 1.01667) < 0.01 && fabs(i.high - 1.25743) < 0.01);
    assert_int_equal(pw_stats_bootstrap_ratio(old_times, 7, new_times, 5, 0.95, 20000, 1, &again, &err), PW_OK);
    assert_true(again.low == i.low && again.high == i.high);
}

static void test_holm(void **state)
{
    double p[6] = {0.01, 0.04, 0.03, NAN, 0.005, 0.04};
    static const double want[6] = {0.04, 0.09, 0.09, NAN, 0.025, 0.09};

    (void)state;
    assert_int_equal(pw_stats_holm(p, 6, NULL), PW_OK);
    for (int i = 0; i < 6; i++)
        if (i == 3)
            assert_true(isnan(p[i]));
        else
            assert_near(p[i], want[i]);
    assert_int_equal(pw_stats_holm(p, 0, NULL), PW_OK);
}

static void test_proportion(void **state)
{
    struct pw_stats_interval i = pw_stats_proportion(3, 500, 0.95);

    (void)state;
    assert_near(i.value, 0.006);
    assert_near(i.low, 0.0012390575435350217);
    assert_near(i.high, 0.017433673726060524);
    i = pw_stats_proportion(0, 500, 0.95);
    assert_true(i.value == 0 && i.low == 0);
    assert_near(i.high, 0.007350610051907785);
    i = pw_stats_proportion(480, 500, 0.95);
    assert_near(i.low, 0.9388973906117541);
    assert_near(i.high, 0.9753986879144547);
    i = pw_stats_proportion(7, 7, 0.95);
    assert_true(i.value == 1 && i.high == 1 && i.low < 0.7);
    assert_true(isnan(pw_stats_proportion(0, 0, 0.95).value));
}

/* ---- decisions ---- */

struct sets {
    double before[12], after[12], before_reference[12], after_reference[12];
    struct pw_stats_side old, new;
};

/* Times that wobble by +-1 %, the new ones `factor` times the old ones. */
static void make_sets(struct sets *s, double factor)
{
    for (int i = 0; i < 12; i++) {
        s->before[i] = 100 + 0.2 * ((i * 5) % 12 - 6);
        s->after[i] = factor * (100 + 0.2 * ((i * 7) % 12 - 6));
        s->before_reference[i] = 50 + 0.1 * ((i * 11) % 12 - 6);
        s->after_reference[i] = 50 + 0.1 * ((i * 5) % 12 - 6);
    }
    s->old = (struct pw_stats_side){.target = s->before, .target_count = 12};
    s->new = (struct pw_stats_side){.target = s->after, .target_count = 12};
}

static struct pw_stats_comparison compare(const struct sets *s)
{
    struct pw_stats_comparison c;
    struct pw_error err = {0};

    assert_int_equal(pw_stats_compare(&s->old, &s->new, NULL, &c, &err), PW_OK);
    return c;
}

static void test_decisions(void **state)
{
    struct pw_stats_comparison c;
    struct sets s;

    (void)state;
    make_sets(&s, 1.2);
    c = compare(&s);
    assert_int_equal(c.change, PW_STATS_SLOWER);
    assert_true(fabs(c.ratio - 1.2) < 0.01 && c.p < 1e-4 && !c.by_reference);
    make_sets(&s, 0.8);
    assert_int_equal(compare(&s).change, PW_STATS_FASTER);
    make_sets(&s, 1.03); /* the test is sure, but the effect does not count */
    c = compare(&s);
    assert_int_equal(c.change, PW_STATS_SAME);
    assert_true(c.low > 1.01 && c.high < 1.05);
    make_sets(&s, 1.0);
    assert_int_equal(compare(&s).change, PW_STATS_SAME);
    make_sets(&s, 1.2);
    s.new.target_count = 8; /* too few */
    c = compare(&s);
    assert_int_equal(c.change, PW_STATS_INCONCLUSIVE);
    assert_true(isnan(c.p));
    s.new.target_count = 0;
    c = compare(&s);
    assert_int_equal(c.change, PW_STATS_INCONCLUSIVE);
    assert_true(isnan(c.ratio));
}

static void test_noise_is_inconclusive(void **state)
{
    struct pw_stats_comparison c;
    struct sets s;

    (void)state;
    make_sets(&s, 1.08);
    for (int i = 0; i < 12; i++) {
        s.before[i] *= i % 2 ? 1.5 : 0.7;
        s.after[i] *= i % 3 ? 1.4 : 0.6;
    }
    c = compare(&s);
    assert_int_equal(c.change, PW_STATS_INCONCLUSIVE);
    assert_true(c.low < 0.95 && c.high > 1.05);
}

static void test_ratios_to_the_reference(void **state)
{
    struct pw_stats_comparison c;
    struct sets s;

    (void)state;
    make_sets(&s, 1.3); /* the machine is slower today: so is the reference */
    for (int i = 0; i < 12; i++)
        s.after_reference[i] *= 1.3;
    assert_int_equal(compare(&s).change, PW_STATS_SLOWER);
    s.old.reference = s.before_reference;
    s.new.reference = s.after_reference;
    s.old.reference_count = s.new.reference_count = 12;
    c = compare(&s);
    assert_int_equal(c.change, PW_STATS_SAME);
    assert_true(c.by_reference && fabs(c.ratio - 1) < 0.01);
    s.new.reference_count = 9; /* not in pairs: divided by their median */
    c = compare(&s);
    assert_int_equal(c.change, PW_STATS_SAME);
    assert_true(c.by_reference && c.after_count == 12);
    s.after[3] = 0; /* no time at all is left out */
    c = compare(&s);
    assert_true(c.after_count == 11);
    s.old.reference = NULL; /* one side without: times */
    assert_false(compare(&s).by_reference);
}

static void test_holm_over_signatures(void **state)
{
    struct pw_stats_side before[40], after[40];
    struct pw_stats_comparison out[40];
    struct pw_stats_options options = pw_stats_options_default();
    struct sets same, slower;

    (void)state;
    make_sets(&same, 1.0);
    make_sets(&slower, 1.2);
    for (int i = 0; i < 40; i++) {
        before[i] = i == 17 ? slower.old : same.old;
        after[i] = i == 17 ? slower.new : same.new;
    }
    assert_int_equal(pw_stats_compare_all(before, after, 40, &options, out, NULL), PW_OK);
    for (int i = 0; i < 40; i++)
        assert_int_equal(out[i].change, i == 17 ? PW_STATS_SLOWER : PW_STATS_SAME);
    assert_near(out[17].p_adjusted, 40 * out[17].p);
    options.alpha = 1e-6; /* 2 / C(24,12) = 7.4e-7 alone passes, times 40 it does not */
    assert_int_equal(pw_stats_compare_all(before + 17, after + 17, 1, &options, out, NULL), PW_OK);
    assert_int_equal(out[0].change, PW_STATS_SLOWER);
    assert_int_equal(pw_stats_compare_all(before, after, 40, &options, out, NULL), PW_OK);
    assert_int_equal(out[17].change, PW_STATS_INCONCLUSIVE);
    options.margin = 0.5;
    assert_int_equal(pw_stats_compare_all(before, after, 40, &options, out, NULL), PW_ERR_USAGE);
}

static void test_memory_runs_out(void **state)
{
    struct pw_stats_comparison c;
    struct pw_stats_interval interval;
    struct pw_stats_rank rank;
    struct sets s;

    (void)state;
    make_sets(&s, 1.2);
    for (uint64_t n = 1; n < 40; n++) {
        struct pw_error err = {0};

        pw_mem_fail_at(n, 1);
        if (pw_stats_compare(&s.old, &s.new, NULL, &c, &err) != PW_OK)
            assert_int_equal(err.status, PW_ERR_NO_MEMORY);
        pw_error_clear(&err);
        pw_mem_fail_at(n, 1);
        if (pw_stats_paired(s.before, s.after, 12, 0.95, &rank, &interval, &err) != PW_OK)
            assert_int_equal(err.status, PW_ERR_NO_MEMORY);
        pw_mem_fail_at(0, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_summary_of_many),
        cmocka_unit_test(test_refuses_what_is_no_time),
        cmocka_unit_test(test_mann_whitney),
        cmocka_unit_test(test_all_equal),
        cmocka_unit_test(test_hodges_lehmann),
        cmocka_unit_test(test_hodges_lehmann_of_many),
        cmocka_unit_test(test_paired),
        cmocka_unit_test(test_bootstrap),
        cmocka_unit_test(test_holm),
        cmocka_unit_test(test_proportion),
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_noise_is_inconclusive),
        cmocka_unit_test(test_ratios_to_the_reference),
        cmocka_unit_test(test_holm_over_signatures),
        cmocka_unit_test(test_memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
