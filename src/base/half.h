/*
 * Conversions of the 16-bit, 8-bit and narrower floats, round to nearest even, bit-exact.
 * Sources: IEEE 754-2019 (binary16), bfloat16 (upper half of binary32), OCP 8-bit and MX
 * formats (E4M3FN, E5M2, E8M0, E3M2, E2M3, E2M1), ONNX's float8 page for the FNUZ kinds.
 */
#ifndef PW_BASE_HALF_H
#define PW_BASE_HALF_H

#include <stdbool.h>
#include <stdint.h>

uint16_t pw_half_from_double(double x); /* one rounding */
double pw_half_to_double(uint16_t bits);
uint16_t pw_bfloat16_from_double(double x);
double pw_bfloat16_to_double(uint16_t bits);
float pw_float_from_double_odd(double x); /* plain (float)x; here for symmetry in tables */

typedef enum {
    PW_FLOAT8_E4M3FN,
    PW_FLOAT8_E4M3FNUZ,
    PW_FLOAT8_E5M2,
    PW_FLOAT8_E5M2FNUZ,
    PW_FLOAT8_E8M0, /* an exponent without sign or mantissa; scale 2^(bits-127) */
    PW_FLOAT4_E2M1, /* in the low four bits */
    PW_FLOAT6_E2M3, /* in the low six bits */
    PW_FLOAT6_E3M2,
    PW_FLOAT8_COUNT
} pw_float8_kind;

/* saturate: out of range becomes the largest finite value, else Inf or NaN as ONNX Cast (opset 24) says.
 * Ties of E8M0 go up. E2M1, E2M3 and E3M2 have neither and
 * always saturate (NaN gives -0); negative E8M0 is NaN. */
uint8_t pw_float8_from_double(pw_float8_kind kind, double x, bool saturate);
double pw_float8_to_double(pw_float8_kind kind, uint8_t bits);

#endif
