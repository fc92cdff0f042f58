/* Narrow floats: all codes both ways, hand-computed values, and checksums of what numpy 2 and
 * ml_dtypes give for the same inputs (CRC-32 of their result arrays). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/half.h"

static uint32_t crc32_add(uint32_t crc, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1)));
    }
    return crc;
}

static double nan_to_zero(double x)
{
    return isnan(x) ? 0.0 : x;
}

struct wide_kind {
    uint16_t (*from)(double);
    double (*to)(uint16_t);
    uint32_t decoded_crc;
};

static const struct wide_kind wide_kinds[] = {
    {pw_half_from_double, pw_half_to_double, 0xe8853b2b},
    {pw_bfloat16_from_double, pw_bfloat16_to_double, 0x8d3c5c4d},
};

static void every_16_bit_code_survives_the_round_trip(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        uint32_t crc = 0xFFFFFFFF;
        for (uint32_t code = 0; code <= 0xFFFF; code++) {
            double x = wide_kinds[k].to((uint16_t)code);
            uint16_t back = wide_kinds[k].from(x);
            if (isnan(x)) /* quiet, same sign and payload */
                assert_int_equal(back & ~(k == 0 ? 0x200 : 0x40), code & ~(k == 0 ? 0x200u : 0x40u));
            else
                assert_int_equal(back, code);
            x = nan_to_zero(x);
            crc = crc32_add(crc, &x, sizeof x);
        }
        assert_int_equal(crc ^ 0xFFFFFFFF, wide_kinds[k].decoded_crc);
    }
}

static const uint32_t narrow_decoded_crc[PW_FLOAT8_COUNT] = {
    [PW_FLOAT8_E4M3FN] = 0x811a2a37,   [PW_FLOAT8_E4M3FNUZ] = 0xabadc1db, [PW_FLOAT8_E5M2] = 0x83e5d332,
    [PW_FLOAT8_E5M2FNUZ] = 0x91305643, [PW_FLOAT8_E8M0] = 0x4bbea981,     [PW_FLOAT4_E2M1] = 0xa4f2f7e0,
    [PW_FLOAT6_E2M3] = 0xf6a05dcb,     [PW_FLOAT6_E3M2] = 0x05e0ba67,
};

static void every_narrow_code_survives_the_round_trip(void **state)
{
    (void)state;
    for (int k = 0; k < PW_FLOAT8_COUNT; k++) {
        uint32_t crc = 0xFFFFFFFF;
        uint32_t codes = k == PW_FLOAT4_E2M1 ? 16 : k == PW_FLOAT6_E2M3 || k == PW_FLOAT6_E3M2 ? 64 : 256;
        for (uint32_t code = 0; code < codes; code++) {
            double x = pw_float8_to_double((pw_float8_kind)k, (uint8_t)code);
            if (isnan(x))
                assert_true(isnan(pw_float8_to_double((pw_float8_kind)k, pw_float8_from_double(k, x, false))));
            else if (!isinf(x))
                assert_int_equal(pw_float8_from_double((pw_float8_kind)k, x, true), code);
            if (!isnan(x))
                assert_int_equal(pw_float8_from_double((pw_float8_kind)k, x, false), code);
            x = nan_to_zero(x);
            crc = crc32_add(crc, &x, sizeof x);
        }
        assert_int_equal(crc ^ 0xFFFFFFFF, narrow_decoded_crc[k]);
    }
}

/* Doubles with few mantissa bits, so that ties are frequent, and exponents in [low, low + span). */
static double draw(uint64_t *lcg, int low, unsigned span)
{
    *lcg = *lcg * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t u = *lcg;
    uint64_t exponent = (u >> 8) % span + (uint64_t)(1023 + low);
    uint64_t mantissa = u >> 40 << 40 & ((UINT64_C(1) << 52) - 1);
    uint64_t bits = (u & 1) << 63 | exponent << 52 | mantissa;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void rounding_equals_numpy_and_ml_dtypes(void **state)
{
    (void)state;
    static const struct {
        int kind; /* -1 half, -2 bfloat16 */
        int low;
        unsigned span;
        uint32_t crc;
    } rows[] = {
        {-1, -30, 50, 0x8b854af0},
        {-2, -140, 280, 0xf106ca50},
        {PW_FLOAT8_E4M3FN, -20, 40, 0x49f20b05},
        {PW_FLOAT8_E4M3FNUZ, -20, 40, 0xf44cefc0},
        {PW_FLOAT8_E5M2, -20, 40, 0x1ed90653},
        {PW_FLOAT8_E5M2FNUZ, -20, 40, 0x583e2693},
        {PW_FLOAT8_E8M0, -120, 240, 0x8e53d455},
        {PW_FLOAT4_E2M1, -20, 40, 0x93f8b956},
        {PW_FLOAT6_E2M3, -20, 40, 0xeb1a5e60},
        {PW_FLOAT6_E3M2, -20, 40, 0x8ba7bc83},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        uint64_t lcg = 12345;
        uint32_t crc = 0xFFFFFFFF;
        for (int i = 0; i < 20000; i++) {
            double x = draw(&lcg, rows[r].low, rows[r].span);
            if (rows[r].kind >= 0) {
                if (rows[r].kind == PW_FLOAT8_E8M0)
                    x = fabs(x);
                uint8_t code = pw_float8_from_double((pw_float8_kind)rows[r].kind, x, false);
                crc = crc32_add(crc, &code, 1);
            } else {
                uint16_t code = rows[r].kind == -1 ? pw_half_from_double(x) : pw_bfloat16_from_double(x);
                crc = crc32_add(crc, &code, 2);
            }
        }
        assert_int_equal(crc ^ 0xFFFFFFFF, rows[r].crc);
    }
}

static void half_by_hand(void **state)
{
    (void)state;
    static const struct {
        double x;
        uint16_t code;
    } rows[] = {
        {1.0, 0x3C00},
        {-2.0, 0xC000},
        {65504.0, 0x7BFF},
        {65519.999999, 0x7BFF},
        {65520.0, 0x7C00}, /* the middle goes to the even neighbour, infinity */
        {0x1p-24, 0x0001},
        {0x1p-25, 0x0000},                 /* tie to even */
        {0x1.000001p-25, 0x0001},          /* just above the tie */
        {0x1.8p-24, 0x0002},               /* tie to even, up */
        {0x1.ffcp-15, 0x0400},             /* the largest denormal's tie rounds to the least normal */
        {1.0 + 0x1p-11, 0x3C00},           /* tie down */
        {1.0 + 0x3p-11, 0x3C02},           /* tie up */
        {1.0 + 0x1p-11 + 0x1p-40, 0x3C01}, /* through float this would round twice, to 0x3C00 */
        {-0.0, 0x8000},
        {INFINITY, 0x7C00},
        {-1e300, 0xFC00},
        {5e-324, 0x0000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(pw_half_from_double(rows[i].x), rows[i].code);
    assert_int_equal(pw_bfloat16_from_double(0x1.01p0), 0x3F80);
    assert_int_equal(pw_bfloat16_from_double(0x1.03p0), 0x3F82);
    assert_int_equal(pw_bfloat16_from_double(0x1.0100000001p0), 0x3F81);
    assert_int_equal(pw_bfloat16_from_double(1e-40), 0x0001); /* 1e-40 / 2^-133 = 1.09 */
    assert_int_equal(pw_bfloat16_from_double(3.4e38), 0x7F80);
    assert_int_equal(pw_bfloat16_from_double(NAN) & 0x7FFF, 0x7FC0);
}

/* ONNX Cast's tables of special values. */
static void out_of_range_by_the_onnx_tables(void **state)
{
    (void)state;
    static const struct {
        pw_float8_kind kind;
        double x;
        uint8_t saturated, plain;
    } rows[] = {
        {PW_FLOAT8_E4M3FN, INFINITY, 0x7E, 0x7F},   {PW_FLOAT8_E4M3FN, -INFINITY, 0xFE, 0xFF},
        {PW_FLOAT8_E4M3FN, 500.0, 0x7E, 0x7F},      {PW_FLOAT8_E4M3FN, 464.0, 0x7E, 0x7E},
        {PW_FLOAT8_E4M3FN, -0.0, 0x80, 0x80},       {PW_FLOAT8_E4M3FNUZ, -0.0, 0x00, 0x00},
        {PW_FLOAT8_E4M3FNUZ, INFINITY, 0x7F, 0x80}, {PW_FLOAT8_E4M3FNUZ, -1e9, 0xFF, 0x80},
        {PW_FLOAT8_E5M2, INFINITY, 0x7B, 0x7C},     {PW_FLOAT8_E5M2, -1e9, 0xFB, 0xFC},
        {PW_FLOAT8_E5M2FNUZ, INFINITY, 0x7F, 0x80}, {PW_FLOAT8_E5M2FNUZ, -0.0, 0x00, 0x00},
        {PW_FLOAT8_E5M2FNUZ, -1e-9, 0x00, 0x00},    {PW_FLOAT8_E8M0, INFINITY, 0xFE, 0xFF},
        {PW_FLOAT8_E8M0, 0.0, 0x00, 0xFF},          {PW_FLOAT8_E8M0, 0x1p200, 0xFE, 0xFF},
        {PW_FLOAT8_E8M0, 0x1p-200, 0x00, 0xFF},     {PW_FLOAT8_E8M0, 1.5, 0x80, 0x80},
        {PW_FLOAT8_E8M0, 1.4999, 0x7F, 0x7F},       {PW_FLOAT4_E2M1, 100.0, 0x07, 0x07},
        {PW_FLOAT4_E2M1, -INFINITY, 0x0F, 0x0F},    {PW_FLOAT4_E2M1, 2.5, 0x04, 0x04},
        {PW_FLOAT4_E2M1, 0.25, 0x00, 0x00},         {PW_FLOAT6_E2M3, 7.75, 0x1F, 0x1F},
        {PW_FLOAT6_E2M3, -INFINITY, 0x3F, 0x3F},    {PW_FLOAT6_E2M3, 0.0625, 0x00, 0x00},
        {PW_FLOAT6_E2M3, 0.1875, 0x02, 0x02},       {PW_FLOAT6_E3M2, INFINITY, 0x1F, 0x1F},
        {PW_FLOAT6_E3M2, -30.0, 0x3F, 0x3F},        {PW_FLOAT6_E3M2, 0.03125, 0x00, 0x00},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(pw_float8_from_double(rows[i].kind, rows[i].x, true), rows[i].saturated);
        assert_int_equal(pw_float8_from_double(rows[i].kind, rows[i].x, false), rows[i].plain);
    }
    assert_int_equal(pw_float8_from_double(PW_FLOAT8_E4M3FN, NAN, true) & 0x7F, 0x7F);
    assert_int_equal(pw_float8_from_double(PW_FLOAT8_E4M3FNUZ, NAN, true), 0x80);
    assert_true(isnan(pw_float8_to_double(PW_FLOAT8_E5M2, pw_float8_from_double(PW_FLOAT8_E5M2, NAN, true))));
    assert_true(isinf(pw_float8_to_double(PW_FLOAT8_E5M2, 0xFC)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_16_bit_code_survives_the_round_trip),
        cmocka_unit_test(every_narrow_code_survives_the_round_trip),
        cmocka_unit_test(rounding_equals_numpy_and_ml_dtypes),
        cmocka_unit_test(half_by_hand),
        cmocka_unit_test(out_of_range_by_the_onnx_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
