/* The deadline of a case: a floor, then by work or by the reference's time, with an end. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "verify/verify_internal.h"

#define SECOND INT64_C(1000000000)

static void test_floor_work_reference_and_end(void **state)
{
    (void)state;
    assert_int_equal(pw_case_deadline_ns(0, 0, 1), 15 * SECOND);
    assert_int_equal(pw_case_deadline_ns(1e9, 0, 1), 65 * SECOND);           /* 50 ns an operation */
    assert_int_equal(pw_case_deadline_ns(0, SECOND, 1), 215 * SECOND);       /* 200 times golden */
    assert_int_equal(pw_case_deadline_ns(1e9, SECOND / 10, 1), 65 * SECOND); /* 50 s against 20 s */
    assert_int_equal(pw_case_deadline_ns(1e300, 0, 1), 600 * SECOND);
    assert_int_equal(pw_case_deadline_ns(INFINITY, 0, 1), 600 * SECOND);
    assert_int_equal(pw_case_deadline_ns(0, INT64_MAX, 1), 600 * SECOND);
    assert_int_equal(pw_case_deadline_ns(0, 0, 0.1), 15 * SECOND);
    assert_int_equal(pw_case_deadline_ns(0, 0, 7.5), 112500000000); /* a busy machine */
    assert_int_equal(pw_case_deadline_ns(0, 0, 1000), 240 * SECOND);
    assert_int_equal(pw_case_deadline_ns(0, 0, NAN), 15 * SECOND);
    assert_true(pw_case_crowd() >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_floor_work_reference_and_end)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
