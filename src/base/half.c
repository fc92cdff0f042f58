/* One rounding from double to each narrow format, by integer arithmetic on its bits. */
#include "base/half.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define DOUBLE_SIGN (UINT64_C(1) << 63)
#define DOUBLE_INF UINT64_C(0x7FF0000000000000)
#define DOUBLE_MANTISSA 52

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Rounds a finite magnitude to `mantissa` explicit bits with exponent bias `bias` (denormals
 * included), to nearest even. The code may exceed what the format holds: a carry into the
 * exponent is right as it is, and the caller compares with the largest code. */
static inline uint32_t round_magnitude(uint64_t magnitude, int mantissa, int bias)
{
    int exponent = (int)(magnitude >> DOUBLE_MANTISSA) - 1023 + bias; /* in the format's field */
    uint64_t fraction = magnitude & ((UINT64_C(1) << DOUBLE_MANTISSA) - 1);
    int shift = DOUBLE_MANTISSA - mantissa;
    uint64_t code;
    if (exponent >= 1) {
        code = (uint64_t)exponent << mantissa | fraction >> shift;
    } else {
        /* Denormal: the hidden bit becomes explicit. Double denormals are far below all formats. */
        fraction |= UINT64_C(1) << DOUBLE_MANTISSA;
        shift += 1 - exponent;
        if (shift > DOUBLE_MANTISSA + 1)
            return 0;
        code = fraction >> shift;
    }
    uint64_t rest = fraction & ((UINT64_C(1) << shift) - 1);
    uint64_t half = UINT64_C(1) << (shift - 1);
    if (rest > half || (rest == half && (code & 1) != 0))
        code++;
    return (uint32_t)code;
}

/* A magnitude without Inf or NaN. */
static inline double magnitude_to_double(uint32_t code, int mantissa, int bias)
{
    uint32_t exponent = code >> mantissa;
    uint32_t fraction = code & ((1u << mantissa) - 1);
    if (exponent == 0)
        return ldexp((double)fraction, 1 - bias - mantissa);
    return double_of((uint64_t)((int)exponent - bias + 1023) << DOUBLE_MANTISSA | (uint64_t)fraction
                                                                                      << (DOUBLE_MANTISSA - mantissa));
}

/* ---- 16 bits ---- */

/* IEEE layouts: the code of infinity is all exponent bits. NaNs keep their payload's top bits. */
static inline uint16_t ieee16_from_double(double x, int mantissa, int bias)
{
    uint64_t bits = bits_of(x);
    uint64_t magnitude = bits & ~DOUBLE_SIGN;
    uint32_t sign = (uint32_t)(bits >> 48) & 0x8000;
    uint32_t infinity = 0x7FFFu >> mantissa << mantissa;
    if (magnitude > DOUBLE_INF) {
        uint32_t payload = (uint32_t)(magnitude >> (DOUBLE_MANTISSA - mantissa)) & ((1u << mantissa) - 1);
        return (uint16_t)(sign | infinity | payload | 1u << (mantissa - 1));
    }
    uint32_t code = magnitude == DOUBLE_INF ? infinity : round_magnitude(magnitude, mantissa, bias);
    return (uint16_t)(sign | (code < infinity ? code : infinity));
}

static inline double ieee16_to_double(uint16_t bits, int mantissa, int bias)
{
    uint32_t magnitude = bits & 0x7FFF;
    uint64_t sign = (uint64_t)(bits & 0x8000) << 48;
    uint32_t infinity = 0x7FFFu >> mantissa << mantissa;
    if (magnitude >= infinity)
        return double_of(sign | DOUBLE_INF | (uint64_t)(magnitude - infinity) << (DOUBLE_MANTISSA - mantissa));
    return double_of(sign | bits_of(magnitude_to_double(magnitude, mantissa, bias)));
}

uint16_t pw_half_from_double(double x)
{
    return ieee16_from_double(x, 10, 15);
}

double pw_half_to_double(uint16_t bits)
{
    return ieee16_to_double(bits, 10, 15);
}

uint16_t pw_bfloat16_from_double(double x)
{
    return ieee16_from_double(x, 7, 127);
}

double pw_bfloat16_to_double(uint16_t bits)
{
    return ieee16_to_double(bits, 7, 127);
}

float pw_float_from_double_odd(double x)
{
    return (float)x;
}

/* ---- 8 bits and fewer ---- */

#define NO_CODE 0xFF /* as a magnitude: the format lacks it */

struct layout {
    int mantissa, bias;
    uint8_t sign;     /* mask of the sign bit */
    uint8_t largest;  /* magnitude of the largest finite value */
    uint8_t infinity; /* magnitude, or NO_CODE */
    uint8_t nan;      /* code of NaN: a magnitude, or the whole code when there is no -0 */
    bool no_negative_zero;
};

static const struct layout layouts[PW_FLOAT8_COUNT] = {
    [PW_FLOAT8_E4M3FN] = {3, 7, 0x80, 0x7E, NO_CODE, 0x7F, false},
    [PW_FLOAT8_E4M3FNUZ] = {3, 8, 0x80, 0x7F, NO_CODE, 0x80, true},
    [PW_FLOAT8_E5M2] = {2, 15, 0x80, 0x7B, 0x7C, 0x7E, false},
    [PW_FLOAT8_E5M2FNUZ] = {2, 16, 0x80, 0x7F, NO_CODE, 0x80, true},
    [PW_FLOAT4_E2M1] = {1, 1, 0x08, 0x07, NO_CODE, NO_CODE, false},
    [PW_FLOAT6_E2M3] = {3, 1, 0x20, 0x1F, NO_CODE, NO_CODE, false},
    [PW_FLOAT6_E3M2] = {2, 3, 0x20, 0x1F, NO_CODE, NO_CODE, false},
};

#define E8M0_NAN 0xFF
#define E8M0_LARGEST 0xFE

/* Only exponents: to the nearest power of two, the middle (1.5) up, as there is no mantissa to be even. */
static uint8_t e8m0_from_double(double x, bool saturate)
{
    if (isnan(x) || x < 0.0 || (x == 0.0 && !saturate))
        return E8M0_NAN;
    if (x == 0.0)
        return 0;
    if (isinf(x))
        return saturate ? E8M0_LARGEST : E8M0_NAN;
    int exponent;
    double fraction = frexp(x, &exponent); /* [0.5, 1) */
    int code = exponent - 1 + (fraction >= 0.75 ? 1 : 0) + 127;
    if (code < 0)
        return saturate ? 0 : E8M0_NAN;
    if (code > E8M0_LARGEST)
        return saturate ? E8M0_LARGEST : E8M0_NAN;
    return (uint8_t)code;
}

uint8_t pw_float8_from_double(pw_float8_kind kind, double x, bool saturate)
{
    if (kind == PW_FLOAT8_E8M0)
        return e8m0_from_double(x, saturate);
    const struct layout *layout = &layouts[kind];
    uint64_t bits = bits_of(x);
    uint64_t magnitude = bits & ~DOUBLE_SIGN;
    uint8_t sign = (bits & DOUBLE_SIGN) != 0 ? layout->sign : 0;
    if (magnitude > DOUBLE_INF) {
        if (layout->nan == NO_CODE) /* no NaN; OCP leaves it open, -0 is what others give */
            return layout->sign;
        return layout->no_negative_zero ? layout->nan : (uint8_t)(sign | layout->nan);
    }
    uint32_t code = magnitude == DOUBLE_INF ? UINT32_MAX : round_magnitude(magnitude, layout->mantissa, layout->bias);
    if (code > layout->largest) {
        if (saturate || layout->nan == NO_CODE)
            code = layout->largest;
        else if (layout->infinity != NO_CODE)
            code = layout->infinity;
        else if (layout->no_negative_zero)
            return layout->nan;
        else
            code = layout->nan;
    }
    if (code == 0 && layout->no_negative_zero)
        return 0;
    return (uint8_t)(sign | code);
}

double pw_float8_to_double(pw_float8_kind kind, uint8_t bits)
{
    if (kind == PW_FLOAT8_E8M0)
        return bits == E8M0_NAN ? NAN : ldexp(1.0, (int)bits - 127);
    const struct layout *layout = &layouts[kind];
    uint32_t magnitude = bits & (layout->sign - 1u);
    bool negative = (bits & layout->sign) != 0;
    double value;
    if (layout->no_negative_zero && bits == layout->nan)
        return NAN;
    if (layout->infinity != NO_CODE && magnitude == layout->infinity)
        value = INFINITY;
    else if (magnitude > layout->largest)
        value = NAN;
    else
        value = magnitude_to_double(magnitude, layout->mantissa, layout->bias);
    return negative ? -value : value;
}
