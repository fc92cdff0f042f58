/* Element types. Numbers are ONNX's TensorProto.DataType, so files need no table. */
#ifndef PW_TENSOR_DTYPE_H
#define PW_TENSOR_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    PW_DTYPE_UNDEFINED = 0,
    PW_DTYPE_FLOAT32 = 1,
    PW_DTYPE_UINT8 = 2,
    PW_DTYPE_INT8 = 3,
    PW_DTYPE_UINT16 = 4,
    PW_DTYPE_INT16 = 5,
    PW_DTYPE_INT32 = 6,
    PW_DTYPE_INT64 = 7,
    PW_DTYPE_STRING = 8, /* elements are struct pw_bytes */
    PW_DTYPE_BOOL = 9,   /* one byte, 0 or 1 */
    PW_DTYPE_FLOAT16 = 10,
    PW_DTYPE_FLOAT64 = 11,
    PW_DTYPE_UINT32 = 12,
    PW_DTYPE_UINT64 = 13,
    PW_DTYPE_COMPLEX64 = 14,
    PW_DTYPE_COMPLEX128 = 15,
    PW_DTYPE_BFLOAT16 = 16,
    PW_DTYPE_FLOAT8E4M3FN = 17,
    PW_DTYPE_FLOAT8E4M3FNUZ = 18,
    PW_DTYPE_FLOAT8E5M2 = 19,
    PW_DTYPE_FLOAT8E5M2FNUZ = 20,
    PW_DTYPE_UINT4 = 21, /* in memory: one element a byte, unpacked; packed only in files */
    PW_DTYPE_INT4 = 22,
    PW_DTYPE_FLOAT4E2M1 = 23,
    PW_DTYPE_FLOAT8E8M0 = 24,
    PW_DTYPE_UINT2 = 25,
    PW_DTYPE_INT2 = 26,
    PW_DTYPE_FLOAT6E2M3 = 27, /* in a file four elements take three bytes */
    PW_DTYPE_FLOAT6E3M2 = 28,
    PW_DTYPE_COUNT
} pw_dtype;

typedef enum {
    PW_KIND_NONE,
    PW_KIND_FLOAT,
    PW_KIND_SIGNED,
    PW_KIND_UNSIGNED,
    PW_KIND_BOOL,
    PW_KIND_COMPLEX,
    PW_KIND_STRING
} pw_dtype_kind;

struct pw_dtype_facts {
    const char *name;       /* "float32" as in protocol files; "undefined" for 0 */
    const char *short_name; /* "f32": used as OpenCL suffix and in signatures */
    const char *onnx_name;  /* "FLOAT" */
    size_t bytes;           /* of one element in memory (sub-byte types: 1) */
    unsigned bits;          /* of one element in a file (4 for int4) */
    pw_dtype_kind kind;
    int mantissa_bits; /* floats: explicit + 1 (24 for float32), else 0 */
    double max;        /* largest finite value; 0 for strings */
    double min_normal; /* floats */
};

/* Never NULL: an invalid number gives the facts of PW_DTYPE_UNDEFINED. */
const struct pw_dtype_facts *pw_dtype_facts(pw_dtype dtype);
const char *pw_dtype_name(pw_dtype dtype);
size_t pw_dtype_bytes(pw_dtype dtype);
bool pw_dtype_is_float(pw_dtype dtype);
/* x as float32, float16 or bfloat16 has it, to nearest even; as any other dtype: unchanged. */
double pw_dtype_round(pw_dtype dtype, double x);
bool pw_dtype_is_integer(pw_dtype dtype); /* signed or unsigned, without bool */
/* Unit roundoff distance: 2^(1-mantissa_bits), e.g. 1.19e-7 for float32; 0 if not float. */
double pw_dtype_epsilon(pw_dtype dtype);
/* Accepts name, short and ONNX names; PW_DTYPE_UNDEFINED when none fits. */
pw_dtype pw_dtype_parse(const char *text);

#endif
