/* Matrix products: small ones by hand, in every transposition; empty sizes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tensor/blas.h"

/* A = [1 2 3; 4 5 6], B = [1 0; 2 1; 0 3]: A*B = [5 11; 14 23] */
static const double a[6] = {1, 2, 3, 4, 5, 6}, a_t[6] = {1, 4, 2, 5, 3, 6};
static const double b[6] = {1, 0, 2, 1, 0, 3}, b_t[6] = {1, 2, 0, 0, 1, 3};
static const double product[4] = {5, 11, 14, 23};

static void to_floats(float *dst, const double *src, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dst[i] = (float)src[i];
}

static void test_transpositions(void **state)
{
    float fa[6], fb[6], fc[4];
    double c[4];

    (void)state;
    for (int mode = 0; mode < 4; mode++) {
        bool trans_a = (mode & 1) != 0, trans_b = (mode & 2) != 0;

        memset(c, 0xff, sizeof c); /* NaN: beta 0 must not read it */
        pw_blas_dgemm(trans_a, trans_b, 2, 2, 3, 1.0, trans_a ? a_t : a, trans_a ? 2 : 3, trans_b ? b_t : b,
                      trans_b ? 3 : 2, 0.0, c, 2);
        assert_memory_equal(c, product, sizeof product);
        to_floats(fa, trans_a ? a_t : a, 6);
        to_floats(fb, trans_b ? b_t : b, 6);
        memset(fc, 0xff, sizeof fc);
        pw_blas_sgemm(trans_a, trans_b, 2, 2, 3, 1.0f, fa, trans_a ? 2 : 3, fb, trans_b ? 3 : 2, 0.0f, fc, 2);
        for (int i = 0; i < 4; i++)
            assert_true(fc[i] == (float)product[i]);
    }
}

static void test_scales_and_strides(void **state)
{
    double c[6] = {10, 20, -1, 30, 40, -1}; /* rows of 3, the last column is not ours */

    (void)state;
    pw_blas_dgemm(false, false, 2, 2, 3, 2.0, a, 3, b, 2, 0.5, c, 3);
    assert_true(c[0] == 15 && c[1] == 32 && c[3] == 43 && c[4] == 66); /* 2*5 + 10/2, … */
    assert_true(c[2] == -1 && c[5] == -1);
}

static void test_empty(void **state)
{
    double c[2] = {3, 4};
    float fc[2] = {3, 4};

    (void)state;
    pw_blas_dgemm(false, false, 1, 2, 0, 1.0, NULL, 0, NULL, 2, 2.0, c, 2); /* nothing is summed: beta*C */
    assert_true(c[0] == 6 && c[1] == 8);
    pw_blas_dgemm(false, false, 0, 2, 3, 1.0, NULL, 3, b, 2, 0.0, c, 2);
    assert_true(c[0] == 6);
    pw_blas_sgemm(false, false, 1, 2, 0, 1.0f, NULL, 0, NULL, 2, 0.0f, fc, 2);
    assert_true(fc[0] == 0 && fc[1] == 0);
}

static void test_vector(void **state)
{
    float fa[6], x3[3] = {1, 0, -1}, x2[2] = {1, -1}, y[3] = {NAN, NAN, NAN};

    (void)state;
    to_floats(fa, a, 6);
    pw_blas_sgemv(false, 2, 3, 1.0f, fa, 3, x3, 0.0f, y);
    assert_true(y[0] == -2 && y[1] == -2);
    pw_blas_sgemv(true, 2, 3, 2.0f, fa, 3, x2, 0.0f, y);
    assert_true(y[0] == -6 && y[1] == -6 && y[2] == -6);
}

static void test_describe(void **state)
{
    char before[256];

    (void)state;
    pw_blas_threads(1);
    snprintf(before, sizeof before, "%s", pw_blas_describe());
    assert_non_null(strstr(before, "OpenBLAS"));
    assert_non_null(strstr(before, " threads"));
    pw_blas_threads(2); /* a run's setting of the moment: the library is the same */
    assert_string_equal(pw_blas_describe(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transpositions), cmocka_unit_test(test_scales_and_strides), cmocka_unit_test(test_empty),
        cmocka_unit_test(test_vector),         cmocka_unit_test(test_describe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
