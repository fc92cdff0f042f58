/* Change points and drift on series made here: known steps in normal and heavy-tailed noise, drawn by counter. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/text.h"
#include "bench/trend.h"

#define NOISE 0.03
#define LENGTH 60

static size_t changes_of(const double *values, size_t count, double least, struct pw_trend_change first[3])
{
    struct pw_arena arena = {0};
    struct pw_trend_change *changes;
    size_t n = 0;
    struct pw_error err = {0};

    assert_int_equal(pw_trend_changes(values, count, least, &arena, &changes, &n, &err), PW_OK);
    for (size_t i = 0; i < n && i < 3; i++)
        first[i] = changes[i];
    pw_arena_clear(&arena);
    return n;
}

static void noise(double *out, size_t count, uint64_t stream)
{
    for (size_t i = 0; i < count; i++)
        out[i] = NOISE * pw_random_normal(3, stream, i);
}

static void test_noise_has_no_changes(void **state)
{
    struct pw_trend_change first[3];
    int found = 0, found_t = 0;

    (void)state;
    for (uint64_t series = 0; series < 100; series++) {
        double x[LENGTH], t[LENGTH];

        noise(x, LENGTH, series);
        for (size_t i = 0; i < LENGTH; i++) { /* Student's t, 3 degrees: a normal over a root mean of squares */
            double s = 0;

            for (uint64_t k = 1; k <= 3; k++)
                s += pow(pw_random_normal(4 + k, series, i), 2);
            t[i] = x[i] / sqrt(s / 3);
        }
        found += changes_of(x, LENGTH, 0, first) > 0;
        found_t += changes_of(t, LENGTH, 0, first) > 0;
    }
    assert_true(found <= 2);
    assert_true(found_t <= 4);
}

static void test_one_step(void **state)
{
    int right = 0;

    (void)state;
    for (uint64_t series = 0; series < 50; series++) {
        struct pw_trend_change first[3];
        double x[LENGTH];

        noise(x, LENGTH, 1000 + series);
        for (size_t i = 25; i < LENGTH; i++)
            x[i] += 0.1; /* 10 % in noise of 3 % */
        if (changes_of(x, LENGTH, 0.03, first) != 1)
            continue;
        right += first[0].at >= 24 && first[0].at <= 26 && fabs(first[0].after - first[0].before - 0.1) < 0.03;
        assert_int_equal(changes_of(x, LENGTH, 0.3, first), 0); /* too small to speak of */
    }
    assert_true(right >= 47);
}

static void test_two_steps_and_outliers(void **state)
{
    struct pw_trend_change first[3];
    double x[LENGTH];

    (void)state;
    noise(x, LENGTH, 7);
    for (size_t i = 20; i < LENGTH; i++)
        x[i] -= 0.2;
    for (size_t i = 45; i < LENGTH; i++)
        x[i] += 0.3;
    assert_int_equal(changes_of(x, LENGTH, 0.03, first), 2);
    assert_true(first[0].at >= 19 && first[0].at <= 21 && first[0].after < first[0].before);
    assert_true(first[1].at >= 44 && first[1].at <= 46 && first[1].after > first[1].before);
    noise(x, LENGTH, 8);
    x[11] = 2;
    x[30] = 0.9;
    x[31] = 1.4; /* a busy machine for a run or two is no change */
    assert_int_equal(changes_of(x, LENGTH, 0.03, first), 0);
    x[12] = NAN;
    x[40] = INFINITY;
    assert_int_equal(changes_of(x, LENGTH, 0.03, first), 0);
}

static void test_repeated_figures_and_short_series(void **state)
{
    struct pw_trend_change first[3];
    double x[LENGTH];

    (void)state;
    for (size_t i = 0; i < LENGTH; i++)
        x[i] = i < 30 ? -15 : -14.5; /* an error that repeats exactly, then another */
    assert_int_equal(changes_of(x, LENGTH, 0.03, first), 1);
    assert_int_equal(first[0].at, 30);
    assert_true(first[0].before == -15 && first[0].after == -14.5);
    assert_int_equal(changes_of(x + 26, 7, 0.03, first), 0); /* fewer than two segments */
    assert_int_equal(changes_of(x + 26, 8, 0.03, first), 1);
    assert_int_equal(changes_of(x, 0, 0.03, first), 0);
}

static void test_long_series_end_counts(void **state)
{
    struct pw_trend_change first[3];
    double *x = calloc(2000, sizeof *x);

    (void)state;
    for (size_t i = 0; i < 2000; i++)
        x[i] = (i >= 1000 ? 1 : 0) + (i >= 1900 ? 1 : 0);
    assert_int_equal(changes_of(x, 2000, 0.03, first), 1);
    assert_int_equal(first[0].at, 1900);
    free(x);
}

static void test_slope(void **state)
{
    int64_t times[LENGTH];
    double x[LENGTH];
    struct pw_trend_slope slope;
    struct pw_error err = {0};

    (void)state;
    noise(x, LENGTH, 21);
    for (size_t i = 0; i < LENGTH; i++) {
        times[i] = INT64_C(1700000000000) + (int64_t)i * 43200000; /* two a day */
        x[i] += 0.01 * (double)i / 2;                              /* 1 % a day */
    }
    x[3] = 9;
    assert_int_equal(pw_trend_slope(times, x, LENGTH, &slope, &err), PW_OK);
    assert_true(fabs(slope.per_day - 0.01) < 0.002);
    assert_true(slope.p < 1e-6);
    noise(x, LENGTH, 22);
    assert_int_equal(pw_trend_slope(times, x, LENGTH, &slope, &err), PW_OK);
    assert_true(slope.p > 0.01);
    /* by hand: 1 2 3 4 5 has S = 10, variance 5*4*15/18 = 16.667, z = 9/4.082 = 2.2045, p = 0.02749 */
    for (size_t i = 0; i < 5; i++)
        x[i] = (double)i;
    assert_int_equal(pw_trend_slope(times, x, 5, &slope, &err), PW_OK);
    assert_true(fabs(slope.p - 0.02749) < 1e-4);
    assert_true(fabs(slope.per_day - 2) < 1e-12);
    assert_int_equal(pw_trend_slope(times, x, 3, &slope, &err), PW_OK);
    assert_true(isnan(slope.per_day) && isnan(slope.p));
}

static void test_sparkline(void **state)
{
    static const double x[] = {0, 7, 3.5, NAN, 7};
    static const double flat[] = {2, 2};
    struct pw_buf out = {0};

    (void)state;
    pw_trend_sparkline(x, 5, 10, false, &out);
    assert_string_equal(pw_buf_text(&out), "\u2581\u2588\u2584 \u2588");
    pw_buf_clear(&out);
    pw_trend_sparkline(x, 5, 2, true, &out);
    assert_string_equal(pw_buf_text(&out), " .");
    pw_buf_clear(&out);
    pw_trend_sparkline(flat, 2, 10, false, &out);
    assert_string_equal(pw_buf_text(&out), "\u2584\u2584");
    pw_buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noise_has_no_changes),
        cmocka_unit_test(test_one_step),
        cmocka_unit_test(test_two_steps_and_outliers),
        cmocka_unit_test(test_repeated_figures_and_short_series),
        cmocka_unit_test(test_long_series_end_counts),
        cmocka_unit_test(test_slope),
        cmocka_unit_test(test_sparkline),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
