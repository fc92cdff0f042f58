#include "tensor/dtype.h"

#include <float.h>
#include <string.h>

#include "base/compiler.h"
#include "base/half.h"

static const struct pw_dtype_facts facts_table[PW_DTYPE_COUNT] = {
    [PW_DTYPE_UNDEFINED] = {"undefined", "undef", "UNDEFINED", 0, 0, PW_KIND_NONE, 0, 0, 0},
    [PW_DTYPE_FLOAT32] = {"float32", "f32", "FLOAT", 4, 32, PW_KIND_FLOAT, 24, FLT_MAX, FLT_MIN},
    [PW_DTYPE_UINT8] = {"uint8", "u8", "UINT8", 1, 8, PW_KIND_UNSIGNED, 0, 255, 0},
    [PW_DTYPE_INT8] = {"int8", "i8", "INT8", 1, 8, PW_KIND_SIGNED, 0, 127, 0},
    [PW_DTYPE_UINT16] = {"uint16", "u16", "UINT16", 2, 16, PW_KIND_UNSIGNED, 0, 65535, 0},
    [PW_DTYPE_INT16] = {"int16", "i16", "INT16", 2, 16, PW_KIND_SIGNED, 0, 32767, 0},
    [PW_DTYPE_INT32] = {"int32", "i32", "INT32", 4, 32, PW_KIND_SIGNED, 0, 2147483647.0, 0},
    [PW_DTYPE_INT64] = {"int64", "i64", "INT64", 8, 64, PW_KIND_SIGNED, 0, 0x1p63, 0},
    [PW_DTYPE_STRING] = {"string", "str", "STRING", 16, 0, PW_KIND_STRING, 0, 0, 0},
    [PW_DTYPE_BOOL] = {"bool", "bool", "BOOL", 1, 8, PW_KIND_BOOL, 0, 1, 0},
    [PW_DTYPE_FLOAT16] = {"float16", "f16", "FLOAT16", 2, 16, PW_KIND_FLOAT, 11, 65504.0, 0x1p-14},
    [PW_DTYPE_FLOAT64] = {"float64", "f64", "DOUBLE", 8, 64, PW_KIND_FLOAT, 53, DBL_MAX, DBL_MIN},
    [PW_DTYPE_UINT32] = {"uint32", "u32", "UINT32", 4, 32, PW_KIND_UNSIGNED, 0, 4294967295.0, 0},
    [PW_DTYPE_UINT64] = {"uint64", "u64", "UINT64", 8, 64, PW_KIND_UNSIGNED, 0, 0x1p64, 0},
    [PW_DTYPE_COMPLEX64] = {"complex64", "c64", "COMPLEX64", 8, 64, PW_KIND_COMPLEX, 0, FLT_MAX, 0},
    [PW_DTYPE_COMPLEX128] = {"complex128", "c128", "COMPLEX128", 16, 128, PW_KIND_COMPLEX, 0, DBL_MAX, 0},
    [PW_DTYPE_BFLOAT16] = {"bfloat16", "bf16", "BFLOAT16", 2, 16, PW_KIND_FLOAT, 8, 0x1.fep127, 0x1p-126},
    [PW_DTYPE_FLOAT8E4M3FN] = {"float8e4m3fn", "f8e4m3fn", "FLOAT8E4M3FN", 1, 8, PW_KIND_FLOAT, 4, 448, 0x1p-6},
    [PW_DTYPE_FLOAT8E4M3FNUZ] = {"float8e4m3fnuz", "f8e4m3fnuz", "FLOAT8E4M3FNUZ", 1, 8, PW_KIND_FLOAT, 4, 240, 0x1p-7},
    [PW_DTYPE_FLOAT8E5M2] = {"float8e5m2", "f8e5m2", "FLOAT8E5M2", 1, 8, PW_KIND_FLOAT, 3, 57344, 0x1p-14},
    [PW_DTYPE_FLOAT8E5M2FNUZ] = {"float8e5m2fnuz", "f8e5m2fnuz", "FLOAT8E5M2FNUZ", 1, 8, PW_KIND_FLOAT, 3, 57344,
                                 0x1p-15},
    [PW_DTYPE_UINT4] = {"uint4", "u4", "UINT4", 1, 4, PW_KIND_UNSIGNED, 0, 15, 0},
    [PW_DTYPE_INT4] = {"int4", "i4", "INT4", 1, 4, PW_KIND_SIGNED, 0, 7, 0},
    [PW_DTYPE_FLOAT4E2M1] = {"float4e2m1", "f4e2m1", "FLOAT4E2M1", 1, 4, PW_KIND_FLOAT, 2, 6, 1},
    [PW_DTYPE_FLOAT8E8M0] = {"float8e8m0", "f8e8m0", "FLOAT8E8M0", 1, 8, PW_KIND_FLOAT, 1, 0x1p127, 0x1p-127},
    [PW_DTYPE_UINT2] = {"uint2", "u2", "UINT2", 1, 2, PW_KIND_UNSIGNED, 0, 3, 0},
    [PW_DTYPE_INT2] = {"int2", "i2", "INT2", 1, 2, PW_KIND_SIGNED, 0, 1, 0},
    [PW_DTYPE_FLOAT6E2M3] = {"float6e2m3", "f6e2m3", "FLOAT6E2M3", 1, 6, PW_KIND_FLOAT, 4, 7.5, 1},
    [PW_DTYPE_FLOAT6E3M2] = {"float6e3m2", "f6e3m2", "FLOAT6E3M2", 1, 6, PW_KIND_FLOAT, 3, 28, 0.25},
};

const struct pw_dtype_facts *pw_dtype_facts(pw_dtype dtype)
{
    /* The enum's underlying type may be signed: files hand any number in. */
    if ((int)dtype < 0 || (int)dtype >= PW_DTYPE_COUNT)
        return &facts_table[PW_DTYPE_UNDEFINED];
    return &facts_table[dtype];
}

const char *pw_dtype_name(pw_dtype dtype)
{
    return pw_dtype_facts(dtype)->name;
}

size_t pw_dtype_bytes(pw_dtype dtype)
{
    return pw_dtype_facts(dtype)->bytes;
}

bool pw_dtype_is_float(pw_dtype dtype)
{
    return pw_dtype_facts(dtype)->kind == PW_KIND_FLOAT;
}

bool pw_dtype_is_integer(pw_dtype dtype)
{
    pw_dtype_kind kind = pw_dtype_facts(dtype)->kind;

    return kind == PW_KIND_SIGNED || kind == PW_KIND_UNSIGNED;
}

double pw_dtype_epsilon(pw_dtype dtype)
{
    int bits = pw_dtype_facts(dtype)->mantissa_bits;
    double epsilon = 2.0;

    if (bits == 0)
        return 0.0;
    for (int i = 0; i < bits; i++)
        epsilon /= 2.0;
    return epsilon;
}

pw_dtype pw_dtype_parse(const char *text)
{
    for (int i = PW_DTYPE_UNDEFINED + 1; i < PW_DTYPE_COUNT; i++) {
        const struct pw_dtype_facts *facts = &facts_table[i];

        if (strcmp(text, facts->name) == 0 || strcmp(text, facts->short_name) == 0 ||
            strcmp(text, facts->onnx_name) == 0)
            return (pw_dtype)i;
    }
    return PW_DTYPE_UNDEFINED;
}

double pw_dtype_round(pw_dtype dtype, double x)
{
    switch (dtype) {
    case PW_DTYPE_FLOAT32:
        return (double)(float)x;
    case PW_DTYPE_FLOAT16:
        return pw_half_to_double(pw_half_from_double(x));
    case PW_DTYPE_BFLOAT16:
        return pw_bfloat16_to_double(pw_bfloat16_from_double(x));
    default:
        return x;
    }
}
