/* Loops of the binary functions, one a type: both operands run, or one of them stays. */
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "ops/elementwise/elementwise_room.h"

#define LOOP(NAME, T, R, EXPRESSION)                                                                                   \
    PW_HOT static void NAME(const void *pa, int64_t step_a, const void *pb, int64_t step_b, void *py, int64_t n)       \
    {                                                                                                                  \
        const T *a = pa, *b = pb;                                                                                      \
        R *y = py;                                                                                                     \
        if (step_a && step_b) {                                                                                        \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                T u = a[i], v = b[i];                                                                                  \
                y[i] = (R)(EXPRESSION);                                                                                \
            }                                                                                                          \
        } else if (step_a) {                                                                                           \
            T v = b[0];                                                                                                \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                T u = a[i];                                                                                            \
                y[i] = (R)(EXPRESSION);                                                                                \
            }                                                                                                          \
        } else {                                                                                                       \
            T u = a[0];                                                                                                \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                T v = b[step_b ? i : 0];                                                                               \
                y[i] = (R)(EXPRESSION);                                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }

/* Remainder with the sign of the divisor; a zero takes it too. (With an infinite divisor of the other sign the
 * sum below gives the divisor, as it should.) */
static double floor_mod(double a, double b)
{
    double r = fmod(a, b);

    if (r == 0.0)
        return b == b && r == r ? copysign(0.0, b) : r;
    return r == r && (r < 0.0) != (b < 0.0) ? r + b : r;
}

/* NaN of either side wins, as in numpy. */
#define FLOATING(P, T, POW, FMOD, FLOOR_MOD)                                                                           \
    LOOP(P##_ADD, T, T, u + v)                                                                                         \
    LOOP(P##_SUB, T, T, u - v)                                                                                         \
    LOOP(P##_MUL, T, T, u *v)                                                                                          \
    LOOP(P##_DIV, T, T, u / v)                                                                                         \
    LOOP(P##_POW, T, T, POW(u, v))                                                                                     \
    LOOP(P##_MOD, T, T, FLOOR_MOD(u, v))                                                                               \
    LOOP(P##_FMOD, T, T, FMOD(u, v))                                                                                   \
    LOOP(P##_PRELU, T, T, u < 0 ? u * v : u)                                                                           \
    LOOP(P##_MAX, T, T, u > v || u != u ? u : v)                                                                       \
    LOOP(P##_MIN, T, T, u < v || u != u ? u : v)                                                                       \
    LOOP(P##_EQUAL, T, uint8_t, u == v)                                                                                \
    LOOP(P##_GREATER, T, uint8_t, u > v)                                                                               \
    LOOP(P##_GREATER_EQUAL, T, uint8_t, u >= v)                                                                        \
    LOOP(P##_LESS, T, uint8_t, u < v)                                                                                  \
    LOOP(P##_LESS_EQUAL, T, uint8_t, u <= v)
FLOATING(float, float, powf, fmodf, floor_mod)
FLOATING(double, double, pow, fmod, floor_mod)
LOOP(precise_POW, double, double, powl(u, v))

/* x^y by squaring, wrapping; a negative exponent gives the truncated quotient. */
static int64_t power(int64_t x, int64_t y)
{
    uint64_t result = 1, base = (uint64_t)x;

    if (y < 0)
        return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
    for (; y; y >>= 1) {
        if (y & 1)
            result *= base;
        base *= base;
    }
    return (int64_t)result;
}

/* Truncating; dividing by 0 is not defined by ONNX: 0, so that the reference does not trap. */
static int64_t quotient(int64_t u, int64_t v)
{
    if (v == 0)
        return 0;
    return v == -1 ? (int64_t)(0 - (uint64_t)u) : u / v;
}

static int64_t remainder_of(int64_t u, int64_t v)
{
    return v == 0 || v == -1 ? 0 : u % v;
}

static int64_t modulo(int64_t u, int64_t v)
{
    int64_t r = remainder_of(u, v);

    return r != 0 && (r < 0) != (v < 0) ? r + v : r;
}

#define INTEGERS(P, T)                                                                                                 \
    LOOP(P##_MAX, T, T, u > v ? u : v)                                                                                 \
    LOOP(P##_MIN, T, T, u < v ? u : v)                                                                                 \
    LOOP(P##_EQUAL, T, uint8_t, u == v)                                                                                \
    LOOP(P##_GREATER, T, uint8_t, u > v)                                                                               \
    LOOP(P##_GREATER_EQUAL, T, uint8_t, u >= v)                                                                        \
    LOOP(P##_LESS, T, uint8_t, u < v)                                                                                  \
    LOOP(P##_LESS_EQUAL, T, uint8_t, u <= v)
INTEGERS(signed, int64_t)
INTEGERS(unsigned, uint64_t)
LOOP(signed_DIV, int64_t, int64_t, quotient(u, v))
LOOP(unsigned_DIV, uint64_t, uint64_t, v ? u / v : 0)
LOOP(signed_MOD, int64_t, int64_t, modulo(u, v))
LOOP(signed_FMOD, int64_t, int64_t, remainder_of(u, v))
LOOP(unsigned_MOD, uint64_t, uint64_t, v ? u % v : 0)
LOOP(signed_POW, int64_t, int64_t, power(u, v))
LOOP(signed_PRELU, int64_t, int64_t, u < 0 ? (int64_t)((uint64_t)u * (uint64_t)v) : u)
LOOP(unsigned_PRELU, uint64_t, uint64_t, u + 0 * v)
/* The low bits are the same for both. */
LOOP(integer_ADD, uint64_t, uint64_t, u + v)
LOOP(integer_SUB, uint64_t, uint64_t, u - v)
LOOP(integer_MUL, uint64_t, uint64_t, u *v)
LOOP(integer_BIT_AND, uint64_t, uint64_t, u &v)
LOOP(integer_BIT_OR, uint64_t, uint64_t, u | v)
LOOP(integer_BIT_XOR, uint64_t, uint64_t, u ^ v)
/* Narrow types come extended to 64 bits and lose the high bits when stored, so an amount beyond their width
 * leaves only the fill: 0, or the sign when a signed number goes right. */
LOOP(integer_SHIFT_LEFT, uint64_t, uint64_t, v < 64 ? u << v : 0)
LOOP(signed_SHIFT_RIGHT, int64_t, int64_t, u >> (v < 0 || v > 63 ? 63 : v))
LOOP(unsigned_SHIFT_RIGHT, uint64_t, uint64_t, v < 64 ? u >> v : 0)

LOOP(bool_AND, uint8_t, uint8_t, u &&v)
LOOP(bool_OR, uint8_t, uint8_t, u || v)
LOOP(bool_XOR, uint8_t, uint8_t, !u != !v)
LOOP(bool_EQUAL, uint8_t, uint8_t, !u == !v)

#define COMMON(P)                                                                                                      \
    [PW_EW_DIV] = P##_DIV, [PW_EW_POW] = P##_POW, [PW_EW_MOD] = P##_MOD, [PW_EW_FMOD] = P##_FMOD,                      \
    [PW_EW_PRELU] = P##_PRELU, [PW_EW_MAX] = P##_MAX, [PW_EW_MIN] = P##_MIN, [PW_EW_EQUAL] = P##_EQUAL,                \
    [PW_EW_GREATER] = P##_GREATER, [PW_EW_GREATER_EQUAL] = P##_GREATER_EQUAL, [PW_EW_LESS] = P##_LESS,                 \
    [PW_EW_LESS_EQUAL] = P##_LESS_EQUAL
#define SUMS(P)                                                                                                        \
    [PW_EW_ADD] = P##_ADD, [PW_EW_SUB] = P##_SUB, [PW_EW_MUL] = P##_MUL, [PW_EW_SUM] = P##_ADD, [PW_EW_MEAN] = P##_ADD
#define BITS                                                                                                           \
    [PW_EW_SHIFT_LEFT] = integer_SHIFT_LEFT, [PW_EW_BIT_AND] = integer_BIT_AND, [PW_EW_BIT_OR] = integer_BIT_OR,       \
    [PW_EW_BIT_XOR] = integer_BIT_XOR

static pw_ew_fold *const floats[PW_EW_COUNT] = {COMMON(float), SUMS(float)};
static pw_ew_fold *const doubles[PW_EW_COUNT] = {COMMON(double), SUMS(double)};
static pw_ew_fold *const signeds[PW_EW_COUNT] = {COMMON(signed), SUMS(integer),
                                                 BITS, [PW_EW_SHIFT_RIGHT] = signed_SHIFT_RIGHT};
#define unsigned_FMOD unsigned_MOD
#define unsigned_POW signed_POW
static pw_ew_fold *const unsigneds[PW_EW_COUNT] = {COMMON(unsigned), SUMS(integer),
                                                   BITS, [PW_EW_SHIFT_RIGHT] = unsigned_SHIFT_RIGHT};
static pw_ew_fold *const bools[PW_EW_COUNT] = {
    [PW_EW_AND] = bool_AND, [PW_EW_OR] = bool_OR, [PW_EW_XOR] = bool_XOR, [PW_EW_EQUAL] = bool_EQUAL};

pw_ew_fold *pw_ew_fold_float(pw_ew function)
{
    return floats[function];
}

pw_ew_fold *pw_ew_fold_double(pw_ew function, bool precise)
{
    return precise && function == PW_EW_POW ? precise_POW : doubles[function];
}

pw_ew_fold *pw_ew_fold_integer(pw_ew function, bool is_unsigned)
{
    return is_unsigned ? unsigneds[function] : signeds[function];
}

pw_ew_fold *pw_ew_fold_bool(pw_ew function)
{
    return bools[function];
}
