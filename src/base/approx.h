/*
 * exp and its relatives in float, branch-free, so that a compiler can put them into vector loops:
 * libm's are calls. For the fast references only; golden uses libm in double.
 *
 * pw_approx_exp: argument reduction by multiples of ln 2 in two parts, polynomial of degree 6 on
 * [-ln2/2, ln2/2]; within 2 ULP of exp on [-87, 88], below that within a unit of the denormal numbers;
 * above 88.7 infinity; NaN stays NaN. The others follow from it.
 */
#ifndef PW_BASE_APPROX_H
#define PW_BASE_APPROX_H

#include <stdint.h>
#include <string.h>

static inline float pw_approx_exp(float x)
{
    float clamped = x < -104.0f ? 0.0f : x > 88.7f ? 88.7f : x;   /* far below, where masks lie: no slow denormals */
    float shifted = clamped * 1.44269504088896341f + 12582912.0f; /* rounds to an integer in the low bits */
    float n = shifted - 12582912.0f;
    float r = (clamped - n * 0.693145751953125f) - n * 1.42860682030941723e-6f;
    float p = 1.0f / 720.0f;
    int32_t whole = (int32_t)n, half = whole / 2;
    uint32_t bits_a = (uint32_t)(half + 127) << 23, bits_b = (uint32_t)(whole - half + 127) << 23;
    float scale_a, scale_b; /* two factors: 2^128 is no float, but p * 2^128 may be one */

    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    p = p * r * r + r + 1.0f;
    memcpy(&scale_a, &bits_a, sizeof scale_a);
    memcpy(&scale_b, &bits_b, sizeof scale_b);
    p = p * scale_a * scale_b;
    p = x < -104.0f ? 0.0f : p;
    p = x > 88.72284f ? __builtin_inff() : p;
    return x != x ? x : p;
}

static inline float pw_approx_sigmoid(float x)
{
    float e = pw_approx_exp(x < 0.0f ? x : -x), large = 1.0f / (1.0f + e); /* never 1 + infinity: its inverse is 0 */

    return x < 0.0f ? e * large : large;
}

/* Small arguments by an odd polynomial (x - x^3/3 + …), where 1 - 2/(e^2x + 1) cancels. */
static inline float pw_approx_tanh(float x)
{
    float a = x < 0.0f ? -x : x, s = x * x;
    float small = x + x * s * (-0.333333333f + s * (0.133333333f + s * (-0.0539682540f + s * 0.0218694885f)));
    float large = 1.0f - 2.0f / (pw_approx_exp(2.0f * a) + 1.0f);

    large = x < 0.0f ? -large : large;
    return a < 0.25f ? small : large;
}

/* Odd rational in x^2 up to where erf is 1 in float; within 5 ULP (tests/rooms check it through Erf). */
static inline float pw_approx_erf(float x)
{
    float c = x > 3.925f ? 3.925f : x < -3.925f ? -3.925f : x, t = c * c, p, q, r;

    p = 0x1.129d6ap-19f * t + 0x1.2aadcap-12f;
    p = p * t + 0x1.ee77d4p-9f;
    p = p * t + 0x1.b048e0p-5f;
    p = p * t + 0x1.86554cp-3f;
    p = p * t + 0x1.20dd74p+0f;
    q = 0x1.3f2b20p-15f * t + 0x1.31183ep-10f;
    q = q * t + 0x1.eaf736p-7f;
    q = q * t + 0x1.d3b0acp-4f;
    q = q * t + 0x1.0125b6p-1f;
    q = q * t + 1.0f;
    r = c * (p / q);
    return r > 1.0f ? 1.0f : r < -1.0f ? -1.0f : r;
}

#endif
