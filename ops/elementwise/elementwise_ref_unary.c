/* Loops of the unary maps: double for golden (long double for float64 models), float for the fast reference. */
#include <math.h>
#include <string.h>

#include "base/approx.h"
#include "base/compiler.h"
#include "ops/elementwise/elementwise_room.h"

static double sign_double(double x)
{
    return x != x ? x : (x > 0) - (x < 0);
}

/* X(function, double, long double) */
#define MATHS(X)                                                                                                       \
    X(ACOS, acos, acosl)                                                                                               \
    X(ACOSH, acosh, acoshl)                                                                                            \
    X(ASIN, asin, asinl)                                                                                               \
    X(ASINH, asinh, asinhl)                                                                                            \
    X(ATAN, atan, atanl)                                                                                               \
    X(ATANH, atanh, atanhl)                                                                                            \
    X(COS, cos, cosl)                                                                                                  \
    X(COSH, cosh, coshl)                                                                                               \
    X(ERF, erf, erfl)                                                                                                  \
    X(EXP, exp, expl)                                                                                                  \
    X(LOG, log, logl)                                                                                                  \
    X(SIN, sin, sinl)                                                                                                  \
    X(SINH, sinh, sinhl)                                                                                               \
    X(TAN, tan, tanl)                                                                                                  \
    X(TANH, tanh, tanhl)

#define MAP(NAME, T, EXPRESSION)                                                                                       \
    PW_HOT static void NAME(const void *px, void *py, int64_t n)                                                       \
    {                                                                                                                  \
        const T *restrict in = px;                                                                                     \
        T *restrict out = py;                                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            T x = in[i];                                                                                               \
            out[i] = (T)(EXPRESSION);                                                                                  \
        }                                                                                                              \
    }

#define MATHS_LOOPS(NAME, D, L)                                                                                        \
    MAP(double_##NAME, double, D(x))                                                                                   \
    MAP(precise_##NAME, double, L((long double)x))
MATHS(MATHS_LOOPS)

MAP(double_ABS, double, fabs(x))
MAP(double_CEIL, double, ceil(x))
MAP(double_FLOOR, double, floor(x))
MAP(double_NEG, double, -x)
MAP(double_RECIPROCAL, double, 1.0 / x)
MAP(double_ROUND, double, rint(x))
MAP(double_SIGN, double, sign_double(x))
MAP(double_SQRT, double, sqrt(x))

MAP(float_ABS, float, fabsf(x))
MAP(float_ACOS, float, acosf(x))
MAP(float_ACOSH, float, acoshf(x))
MAP(float_ASIN, float, asinf(x))
MAP(float_ASINH, float, asinhf(x))
MAP(float_ATAN, float, atanf(x))
MAP(float_ATANH, float, atanhf(x))
MAP(float_CEIL, float, ceilf(x))
MAP(float_COS, float, cosf(x))
MAP(float_COSH, float, coshf(x))
MAP(float_ERF, float, pw_approx_erf(x))
MAP(float_EXP, float, pw_approx_exp(x))
MAP(float_FLOOR, float, floorf(x))
MAP(float_LOG, float, logf(x))
MAP(float_NEG, float, -x)
MAP(float_RECIPROCAL, float, 1.0f / x)
MAP(float_ROUND, float, rintf(x))
MAP(float_SIGN, float, x != x ? x : (float)((x > 0) - (x < 0)))
MAP(float_SIN, float, sinf(x))
MAP(float_SINH, float, sinhf(x))
MAP(float_SQRT, float, sqrtf(x))
MAP(float_TAN, float, tanf(x))
MAP(float_TANH, float, pw_approx_tanh(x))

/* Integers wrap: through uint64. */
MAP(integer_ABS, int64_t, x < 0 ? (int64_t)(0 - (uint64_t)x) : x)
MAP(integer_NEG, int64_t, (int64_t)(0 - (uint64_t)x))
MAP(integer_SIGN, int64_t, (x > 0) - (x < 0))
MAP(integer_BIT_NOT, int64_t, ~x)
/* erf in double is 1 from 6 on, and truncates to 0 below. */
MAP(integer_ERF, int64_t, (x >= 6) - (x <= -6))
MAP(unsigned_ABS, uint64_t, x)
MAP(unsigned_SIGN, uint64_t, x != 0)
MAP(unsigned_ERF, uint64_t, x >= 6)

struct loops {
    pw_ew_map *single, *golden, *precise;
};

#define MATHS_ROW(NAME, D, L) [PW_EW_##NAME] = {float_##NAME, double_##NAME, precise_##NAME},
#define EXACT_ROW(NAME) [PW_EW_##NAME] = {float_##NAME, double_##NAME, double_##NAME}

static const struct loops table[PW_EW_COUNT] = {
    MATHS(MATHS_ROW) EXACT_ROW(ABS), EXACT_ROW(CEIL),  EXACT_ROW(FLOOR), EXACT_ROW(NEG),
    EXACT_ROW(RECIPROCAL),           EXACT_ROW(ROUND), EXACT_ROW(SIGN),  EXACT_ROW(SQRT),
};

pw_ew_map *pw_ew_map_float(pw_ew function)
{
    return table[function].single;
}

pw_ew_map *pw_ew_map_double(pw_ew function, bool precise)
{
    return precise ? table[function].precise : table[function].golden;
}

pw_ew_map *pw_ew_map_integer(pw_ew function, bool is_unsigned)
{
    static pw_ew_map *const integers[PW_EW_COUNT][2] = {
        [PW_EW_ABS] = {integer_ABS, unsigned_ABS},    [PW_EW_NEG] = {integer_NEG, NULL},
        [PW_EW_SIGN] = {integer_SIGN, unsigned_SIGN}, [PW_EW_BIT_NOT] = {integer_BIT_NOT, integer_BIT_NOT},
        [PW_EW_ERF] = {integer_ERF, unsigned_ERF},
    };

    return integers[function][is_unsigned];
}
