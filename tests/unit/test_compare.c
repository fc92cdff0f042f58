/* Comparison: every expected figure is computed by hand in the comment beside it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tensor/compare.h"

static struct pw_tensor borrow(pw_dtype dtype, pw_dtype nominal, int64_t count, const void *data)
{
    struct pw_tensor t;

    pw_tensor_borrow(&t, dtype, 1, &count, data);
    t.nominal = nominal;
    return t;
}

static struct pw_comparison compare(const float *got, const double *golden, int64_t count, double tolerance,
                                    double floor)
{
    struct pw_tensor a = borrow(PW_DTYPE_FLOAT32, PW_DTYPE_FLOAT32, count, got);
    struct pw_tensor b = borrow(PW_DTYPE_FLOAT64, PW_DTYPE_FLOAT32, count, golden);
    struct pw_comparison out = {0};
    struct pw_error err = {0};

    assert_int_equal(pw_compare(&a, &b, tolerance, floor, &out, &err), PW_OK);
    return out;
}

static void test_hybrid_error(void **state)
{
    static const float got[4] = {2.0f, 4.5f, 0.25f, -8.0f};
    static const double golden[4] = {2.0, 4.0, 0.0, -8.0};
    struct pw_comparison c = compare(got, golden, 4, 0.2, 1.0);

    (void)state;
    assert_int_equal(c.count, 4);
    assert_true(c.max_absolute == 0.5);
    assert_true(c.max_relative == 0.125); /* 0.5/4; the element with reference 0 is left out */
    assert_true(c.max_error == 0.25);     /* |0.25 - 0| / floor 1 beats 0.5/4 */
    assert_int_equal(c.worst, 2);
    assert_true(c.worst_got == 0.25 && c.worst_want == 0.0);
    assert_int_equal(c.over, 1);
    assert_int_equal(c.mismatches, 0);
    assert_true(fabs(c.nmse - 0.3125 / 84.0) < 1e-15); /* (0.25 + 0.0625) / (4 + 16 + 64) */
    /* dot 4 + 18 + 64 = 86; |got|^2 = 4 + 20.25 + 0.0625 + 64 = 88.3125 */
    assert_true(fabs(c.cosine - 86.0 / sqrt(88.3125 * 84.0)) < 1e-15);
    assert_int_equal(c.histogram[0], 2);
    assert_int_equal(c.histogram[1 + 18 - 1], 2); /* 0.125 and 0.25 are in the decade from 0.1 */
}

static void test_ulp(void **state)
{
    static const float got[3] = {1.0f + 0x1p-23f, 4.0f, 0x1p-149f};
    static const double golden[3] = {1.0, 4.0 + 0x1p-20, 0.0};
    struct pw_comparison c = compare(got, golden, 3, 1.0, -1.0);

    (void)state;
    /* 1 ulp at 1; at 4 the place is 2^-21, so 2^-20 is 2; below the least normal the place is 2^-149 */
    assert_true(c.max_ulp == 2.0);
}

static void test_special_values(void **state)
{
    static const float got[5] = {NAN, INFINITY, -INFINITY, 1.0f, INFINITY};
    static const double same[5] = {NAN, INFINITY, -INFINITY, 1.0, 1e39}; /* 1e39 is infinite as float32 */
    static const double other[5] = {0.0, -INFINITY, -INFINITY, NAN, INFINITY};
    struct pw_comparison c = compare(got, same, 5, 0.0, -1.0);

    (void)state;
    assert_int_equal(c.mismatches, 0);
    assert_int_equal(c.over, 0);
    assert_true(c.max_error == 0.0);
    c = compare(got, other, 5, 1e9, -1.0);
    assert_int_equal(c.mismatches, 3);
    assert_int_equal(c.over, 3);
    assert_true(isinf(c.max_error) && isinf(c.max_ulp));
    assert_int_equal(c.worst, 0);
}

static void test_zero_and_empty(void **state)
{
    static const float got[2] = {0.0f, -0.0f};
    static const double golden[2] = {-0.0, 0.0};
    struct pw_comparison c = compare(got, golden, 2, 0.0, -1.0);

    (void)state;
    assert_true(c.max_error == 0.0 && c.nmse == 0.0 && c.cosine == 1.0);
    c = compare(got, golden, 0, 0.0, -1.0);
    assert_int_equal(c.count, 0);
    assert_int_equal(c.worst, -1);
    assert_true(c.max_error == 0.0);
}

static void test_floor(void **state)
{
    static const double golden[4] = {3.0, -4.0, NAN, INFINITY};
    static const double huge[2] = {1e300, 1e300};
    struct pw_tensor t = borrow(PW_DTYPE_FLOAT64, PW_DTYPE_FLOAT32, 4, golden);

    (void)state;
    assert_true(fabs(pw_compare_floor(&t) - sqrt(12.5) / 8.0) < 1e-15); /* rms of 3 and -4 */
    t = borrow(PW_DTYPE_FLOAT64, PW_DTYPE_FLOAT64, 2, huge);
    assert_true(fabs(pw_compare_floor(&t) / 1.25e299 - 1.0) < 1e-15); /* squares would overflow */
    t = borrow(PW_DTYPE_FLOAT64, PW_DTYPE_FLOAT16, 0, golden);
    assert_true(pw_compare_floor(&t) == 0x1p-14);
}

static void test_exact_kinds(void **state)
{
    static const int64_t got[3] = {1, (int64_t)1 << 60, 5}, want[3] = {1, ((int64_t)1 << 60) + 1, 5};
    static const struct pw_bytes words[2] = {{"a", 1}, {"bc", 2}}, others[2] = {{"a", 1}, {"bd", 2}};
    struct pw_tensor a = borrow(PW_DTYPE_INT64, PW_DTYPE_INT64, 3, got);
    struct pw_tensor b = borrow(PW_DTYPE_INT64, PW_DTYPE_INT64, 3, want);
    struct pw_comparison c;

    (void)state;
    assert_int_equal(pw_compare(&a, &b, 1.0, -1.0, &c, NULL), PW_OK);
    assert_int_equal(c.mismatches, 1); /* although they are equal as doubles */
    assert_int_equal(c.worst, 1);
    assert_true(isinf(c.max_error));
    a = borrow(PW_DTYPE_STRING, PW_DTYPE_STRING, 2, words);
    b = borrow(PW_DTYPE_STRING, PW_DTYPE_STRING, 2, others);
    assert_int_equal(pw_compare(&a, &b, 1.0, -1.0, &c, NULL), PW_OK);
    assert_int_equal(c.mismatches, 1);
    assert_int_equal(c.worst, 1);
    assert_int_equal(pw_compare(&a, &a, 0.0, -1.0, &c, NULL), PW_OK);
    assert_int_equal(c.mismatches, 0);
}

static void test_half_nominal(void **state)
{
    static const uint16_t got[2] = {0x3c01, 0x7c00}; /* 1 + 2^-10, infinity */
    static const double golden[2] = {1.0, 70000.0};  /* 70000 is infinite as float16 */
    struct pw_tensor a = borrow(PW_DTYPE_FLOAT16, PW_DTYPE_FLOAT16, 2, got);
    struct pw_tensor b = borrow(PW_DTYPE_FLOAT64, PW_DTYPE_FLOAT16, 2, golden);
    struct pw_comparison c;

    (void)state;
    assert_int_equal(pw_compare(&a, &b, 1.0, 1.0, &c, NULL), PW_OK);
    assert_true(c.max_ulp == 1.0 && c.max_error == 0x1p-10);
    assert_int_equal(c.mismatches, 0);
}

static void test_shapes_must_agree(void **state)
{
    static const float data[6] = {0};
    struct pw_tensor a, b;
    struct pw_comparison c;
    struct pw_error err = {0};
    int64_t bad;

    (void)state;
    pw_tensor_borrow(&a, PW_DTYPE_FLOAT32, 2, (int64_t[]){2, 3}, data);
    pw_tensor_borrow(&b, PW_DTYPE_FLOAT32, 2, (int64_t[]){3, 2}, data);
    assert_int_equal(pw_compare(&a, &b, 0.0, -1.0, &c, &err), PW_ERR_FORMAT);
    assert_string_equal(err.message, "expected float32[3,2], found float32[2,3]");
    assert_int_equal(pw_compare_close(&a, &b, 0.0, 0.0, &bad, NULL), PW_ERR_FORMAT);
}

static void test_close(void **state)
{
    static const float got[4] = {NAN, INFINITY, 1.01f, 0.0f}, want[4] = {NAN, INFINITY, 1.0f, 1e-7f};
    struct pw_tensor a = borrow(PW_DTYPE_FLOAT32, PW_DTYPE_FLOAT32, 4, got);
    struct pw_tensor b = borrow(PW_DTYPE_FLOAT32, PW_DTYPE_FLOAT32, 4, want);
    int64_t bad = 9;

    (void)state;
    assert_int_equal(pw_compare_close(&a, &b, 0.02, 1e-7, &bad, NULL), PW_OK);
    assert_int_equal(bad, -1);
    assert_int_equal(pw_compare_close(&a, &b, 0.001, 1e-7, &bad, NULL), PW_OK);
    assert_int_equal(bad, 2);
    assert_int_equal(pw_compare_close(&a, &b, 0.02, 0.0, &bad, NULL), PW_OK);
    assert_int_equal(bad, 3);
}

static void test_coordinates(void **state)
{
    struct pw_tensor t;
    struct pw_buf text = {0};
    static const float data[24] = {0};

    (void)state;
    pw_tensor_borrow(&t, PW_DTYPE_FLOAT32, 3, (int64_t[]){2, 3, 4}, data);
    pw_compare_coordinates(&t, 23, &text);
    pw_compare_coordinates(&t, 13, &text);
    assert_string_equal(pw_buf_text(&text), "[1,2,3][1,0,1]");
    pw_buf_clear(&text);
}

/* The worst ones in order; errors as in test_hybrid_error, with floor 1. */
static void test_worst(void **state)
{
    static const float got[6] = {2.0f, 4.5f, 0.25f, -8.0f, NAN, 3.0f};
    static const double golden[6] = {2.0, 4.0, 0.0, -8.0, 1.0, 2.0};
    static const int32_t counted[4] = {1, 5, 3, -7}, wanted[4] = {1, 4, 3, 7};
    struct pw_tensor a = borrow(PW_DTYPE_FLOAT32, PW_DTYPE_FLOAT32, 6, got);
    struct pw_tensor b = borrow(PW_DTYPE_FLOAT64, PW_DTYPE_FLOAT32, 6, golden);
    struct pw_tensor c = borrow(PW_DTYPE_INT32, PW_DTYPE_INT32, 4, counted);
    struct pw_tensor d = borrow(PW_DTYPE_INT32, PW_DTYPE_INT32, 4, wanted);
    struct pw_compare_element out[6];

    (void)state;
    assert_int_equal(pw_compare_worst(&a, &b, 1.0, out, 6), 4); /* two agree */
    assert_true(out[0].flat == 4 && isinf(out[0].error) && isnan(out[0].got));
    assert_true(out[1].flat == 5 && out[1].error == 0.5 && out[1].got == 3.0 && out[1].want == 2.0);
    assert_true(out[2].flat == 2 && out[2].error == 0.25);
    assert_true(out[3].flat == 1 && out[3].error == 0.125);
    assert_int_equal(pw_compare_worst(&a, &b, 1.0, out, 2), 2);
    assert_true(out[0].flat == 4 && out[1].flat == 5);
    assert_int_equal(pw_compare_worst(&c, &d, 0.0, out, 6), 2); /* integers: the larger difference first */
    assert_true(out[0].flat == 3 && out[1].flat == 1);
    assert_int_equal(pw_compare_worst(&c, &c, 0.0, out, 6), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hybrid_error),   cmocka_unit_test(test_ulp),
        cmocka_unit_test(test_special_values), cmocka_unit_test(test_zero_and_empty),
        cmocka_unit_test(test_floor),          cmocka_unit_test(test_exact_kinds),
        cmocka_unit_test(test_half_nominal),   cmocka_unit_test(test_shapes_must_agree),
        cmocka_unit_test(test_worst),          cmocka_unit_test(test_close),
        cmocka_unit_test(test_coordinates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
