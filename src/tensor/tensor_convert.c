/* Element conversion. Every pair of types goes through a small block of doubles (float sources)
 * or of 64-bit integers (the rest), so that there are two loops a type, not one a pair. */
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "base/half.h"
#include "base/parallel.h"
#include "tensor/tensor.h"

#define BLOCK 512
#define PARALLEL_GRAIN ((int64_t)1 << 16)

typedef void load_double_fn(const void *data, int64_t begin, int64_t count, double *dst);
typedef void load_int_fn(const void *data, int64_t begin, int64_t count, int64_t *dst);
typedef void store_double_fn(void *data, int64_t begin, int64_t count, const double *src);
typedef void store_int_fn(void *data, int64_t begin, int64_t count, const int64_t *src, bool is_unsigned);

/* ---- loads ---- */

/* A weight in a mapped file may lie at any address, so loads go through a packed struct. */
#define UNALIGNED(type)                                                                                                \
    struct __attribute__((packed)) {                                                                                   \
        type value;                                                                                                    \
    }

#define LOAD_DOUBLE(name, type, convert)                                                                               \
    static void load_##name(const void *data, int64_t begin, int64_t count, double *dst)                               \
    {                                                                                                                  \
        const UNALIGNED(type) *src = data;                                                                             \
        src += begin;                                                                                                  \
        for (int64_t i = 0; i < count; i++)                                                                            \
            dst[i] = convert(src[i].value);                                                                            \
    }
#define LOAD_INT(name, type)                                                                                           \
    static void load_##name(const void *data, int64_t begin, int64_t count, int64_t *dst)                              \
    {                                                                                                                  \
        const UNALIGNED(type) *src = data;                                                                             \
        src += begin;                                                                                                  \
        for (int64_t i = 0; i < count; i++)                                                                            \
            dst[i] = (int64_t)src[i].value;                                                                            \
    }

static double e4m3fn(uint8_t bits)
{
    return pw_float8_to_double(PW_FLOAT8_E4M3FN, bits);
}
static double e4m3fnuz(uint8_t bits)
{
    return pw_float8_to_double(PW_FLOAT8_E4M3FNUZ, bits);
}
static double e5m2(uint8_t bits)
{
    return pw_float8_to_double(PW_FLOAT8_E5M2, bits);
}
static double e5m2fnuz(uint8_t bits)
{
    return pw_float8_to_double(PW_FLOAT8_E5M2FNUZ, bits);
}
static double e8m0(uint8_t bits)
{
    return pw_float8_to_double(PW_FLOAT8_E8M0, bits);
}
static double e2m1(uint8_t bits)
{
    return pw_float8_to_double(PW_FLOAT4_E2M1, bits);
}
static double e2m3(uint8_t bits)
{
    return pw_float8_to_double(PW_FLOAT6_E2M3, bits);
}
static double e3m2(uint8_t bits)
{
    return pw_float8_to_double(PW_FLOAT6_E3M2, bits);
}

LOAD_DOUBLE(f32, float, (double))
LOAD_DOUBLE(f64, double, (double))
LOAD_DOUBLE(f16, uint16_t, pw_half_to_double)
LOAD_DOUBLE(bf16, uint16_t, pw_bfloat16_to_double)
LOAD_DOUBLE(e4m3fn, uint8_t, e4m3fn)
LOAD_DOUBLE(e4m3fnuz, uint8_t, e4m3fnuz)
LOAD_DOUBLE(e5m2, uint8_t, e5m2)
LOAD_DOUBLE(e5m2fnuz, uint8_t, e5m2fnuz)
LOAD_DOUBLE(e8m0, uint8_t, e8m0)
LOAD_DOUBLE(e2m1, uint8_t, e2m1)
LOAD_DOUBLE(e2m3, uint8_t, e2m3)
LOAD_DOUBLE(e3m2, uint8_t, e3m2)
LOAD_INT(i8, int8_t)
LOAD_INT(i16, int16_t)
LOAD_INT(i32, int32_t)
LOAD_INT(i64, int64_t)
LOAD_INT(u8, uint8_t)
LOAD_INT(u16, uint16_t)
LOAD_INT(u32, uint32_t)
LOAD_INT(u64, uint64_t)

/* ---- stores ---- */

static int64_t truncate_int(double x)
{
    if (!(x >= -0x1p63)) /* also NaN */
        return isnan(x) ? 0 : INT64_MIN;
    if (x >= 0x1p64)
        return -1; /* as uint64: the largest */
    if (x >= 0x1p63)
        return (int64_t)(uint64_t)x;
    return (int64_t)x;
}

static int64_t truncate_signed(double x)
{
    return x >= 0x1p63 ? INT64_MAX : truncate_int(x);
}

/* Round to odd: a later rounding to at most 51 bits is then the only one that counts. */
static double int_to_double_odd(int64_t value, bool is_unsigned)
{
    uint64_t magnitude = (uint64_t)value, lost;
    bool negative = !is_unsigned && value < 0;
    int shift = 0;
    double x;

    if (negative)
        magnitude = 0 - magnitude;
    while (magnitude >> shift >> 53 != 0)
        shift++;
    lost = magnitude & (((uint64_t)1 << shift) - 1);
    magnitude >>= shift;
    x = ldexp((double)(lost != 0 ? magnitude | 1 : magnitude), shift);
    return negative ? -x : x;
}

#define STORE_FLOAT(name, type, convert)                                                                               \
    static void put_##name(void *data, int64_t begin, int64_t count, const double *src)                                \
    {                                                                                                                  \
        type *dst = (type *)data + begin;                                                                              \
        for (int64_t i = 0; i < count; i++)                                                                            \
            dst[i] = convert(src[i]);                                                                                  \
    }                                                                                                                  \
    static void put_int_##name(void *data, int64_t begin, int64_t count, const int64_t *src, bool is_unsigned)         \
    {                                                                                                                  \
        type *dst = (type *)data + begin;                                                                              \
        for (int64_t i = 0; i < count; i++)                                                                            \
            dst[i] = convert(int_to_double_odd(src[i], is_unsigned));                                                  \
    }
#define STORE_REAL(name, type)                                                                                         \
    static void put_##name(void *data, int64_t begin, int64_t count, const double *src)                                \
    {                                                                                                                  \
        type *dst = (type *)data + begin;                                                                              \
        for (int64_t i = 0; i < count; i++)                                                                            \
            dst[i] = (type)src[i];                                                                                     \
    }                                                                                                                  \
    static void put_int_##name(void *data, int64_t begin, int64_t count, const int64_t *src, bool is_unsigned)         \
    {                                                                                                                  \
        type *dst = (type *)data + begin;                                                                              \
        for (int64_t i = 0; i < count; i++)                                                                            \
            dst[i] = is_unsigned ? (type)(uint64_t)src[i] : (type)src[i];                                              \
    }
#define STORE_INT(name, type, truncate, wrap)                                                                          \
    static void put_##name(void *data, int64_t begin, int64_t count, const double *src)                                \
    {                                                                                                                  \
        type *dst = (type *)data + begin;                                                                              \
        for (int64_t i = 0; i < count; i++)                                                                            \
            dst[i] = (type)wrap(truncate(src[i]));                                                                     \
    }                                                                                                                  \
    static void put_int_##name(void *data, int64_t begin, int64_t count, const int64_t *src, bool is_unsigned)         \
    {                                                                                                                  \
        type *dst = (type *)data + begin;                                                                              \
        (void)is_unsigned;                                                                                             \
        for (int64_t i = 0; i < count; i++)                                                                            \
            dst[i] = (type)wrap(src[i]);                                                                               \
    }

static uint8_t to_e4m3fn(double x)
{
    return pw_float8_from_double(PW_FLOAT8_E4M3FN, x, false);
}
static uint8_t to_e4m3fnuz(double x)
{
    return pw_float8_from_double(PW_FLOAT8_E4M3FNUZ, x, false);
}
static uint8_t to_e5m2(double x)
{
    return pw_float8_from_double(PW_FLOAT8_E5M2, x, false);
}
static uint8_t to_e5m2fnuz(double x)
{
    return pw_float8_from_double(PW_FLOAT8_E5M2FNUZ, x, false);
}
static uint8_t to_e8m0(double x)
{
    return pw_float8_from_double(PW_FLOAT8_E8M0, x, false);
}
static uint8_t to_e2m1(double x)
{
    return pw_float8_from_double(PW_FLOAT4_E2M1, x, false);
}
static uint8_t to_e2m3(double x)
{
    return pw_float8_from_double(PW_FLOAT6_E2M3, x, false);
}
static uint8_t to_e3m2(double x)
{
    return pw_float8_from_double(PW_FLOAT6_E3M2, x, false);
}
static int64_t wrap_i4(int64_t x)
{
    return ((x & 15) ^ 8) - 8;
}
static int64_t wrap_u4(int64_t x)
{
    return x & 15;
}
static int64_t wrap_i2(int64_t x)
{
    return ((x & 3) ^ 2) - 2;
}
static int64_t wrap_u2(int64_t x)
{
    return x & 3;
}

STORE_REAL(f32, float)
STORE_REAL(f64, double)
STORE_FLOAT(f16, uint16_t, pw_half_from_double)
STORE_FLOAT(bf16, uint16_t, pw_bfloat16_from_double)
STORE_FLOAT(e4m3fn, uint8_t, to_e4m3fn)
STORE_FLOAT(e4m3fnuz, uint8_t, to_e4m3fnuz)
STORE_FLOAT(e5m2, uint8_t, to_e5m2)
STORE_FLOAT(e5m2fnuz, uint8_t, to_e5m2fnuz)
STORE_FLOAT(e8m0, uint8_t, to_e8m0)
STORE_FLOAT(e2m1, uint8_t, to_e2m1)
STORE_FLOAT(e2m3, uint8_t, to_e2m3)
STORE_FLOAT(e3m2, uint8_t, to_e3m2)
STORE_INT(i8, int8_t, truncate_signed, )
STORE_INT(i16, int16_t, truncate_signed, )
STORE_INT(i32, int32_t, truncate_signed, )
STORE_INT(i64, int64_t, truncate_signed, )
STORE_INT(u8, uint8_t, truncate_int, )
STORE_INT(u16, uint16_t, truncate_int, )
STORE_INT(u32, uint32_t, truncate_int, )
STORE_INT(u64, uint64_t, truncate_int, )
STORE_INT(i4, int8_t, truncate_signed, wrap_i4)
STORE_INT(u4, uint8_t, truncate_int, wrap_u4)
STORE_INT(i2, int8_t, truncate_signed, wrap_i2)
STORE_INT(u2, uint8_t, truncate_int, wrap_u2)
STORE_INT(bool, uint8_t, 0 !=, 0 !=)

struct codec {
    load_double_fn *load_double; /* float kinds */
    load_int_fn *load_int;       /* the others */
    bool is_unsigned;
    store_double_fn *store_double;
    store_int_fn *store_int;
};

#define FLOAT_CODEC(name)                                                                                              \
    {                                                                                                                  \
        load_##name, NULL, false, put_##name, put_int_##name                                                           \
    }
#define SIGNED_CODEC(load, name)                                                                                       \
    {                                                                                                                  \
        NULL, load_##load, false, put_##name, put_int_##name                                                           \
    }
#define UNSIGNED_CODEC(load, name)                                                                                     \
    {                                                                                                                  \
        NULL, load_##load, true, put_##name, put_int_##name                                                            \
    }

static const struct codec codecs[PW_DTYPE_COUNT] = {
    [PW_DTYPE_FLOAT32] = FLOAT_CODEC(f32),         [PW_DTYPE_FLOAT64] = FLOAT_CODEC(f64),
    [PW_DTYPE_FLOAT16] = FLOAT_CODEC(f16),         [PW_DTYPE_BFLOAT16] = FLOAT_CODEC(bf16),
    [PW_DTYPE_FLOAT8E4M3FN] = FLOAT_CODEC(e4m3fn), [PW_DTYPE_FLOAT8E4M3FNUZ] = FLOAT_CODEC(e4m3fnuz),
    [PW_DTYPE_FLOAT8E5M2] = FLOAT_CODEC(e5m2),     [PW_DTYPE_FLOAT8E5M2FNUZ] = FLOAT_CODEC(e5m2fnuz),
    [PW_DTYPE_FLOAT8E8M0] = FLOAT_CODEC(e8m0),     [PW_DTYPE_FLOAT4E2M1] = FLOAT_CODEC(e2m1),
    [PW_DTYPE_FLOAT6E2M3] = FLOAT_CODEC(e2m3),     [PW_DTYPE_FLOAT6E3M2] = FLOAT_CODEC(e3m2),
    [PW_DTYPE_INT8] = SIGNED_CODEC(i8, i8),        [PW_DTYPE_INT16] = SIGNED_CODEC(i16, i16),
    [PW_DTYPE_INT32] = SIGNED_CODEC(i32, i32),     [PW_DTYPE_INT64] = SIGNED_CODEC(i64, i64),
    [PW_DTYPE_INT4] = SIGNED_CODEC(i8, i4),        [PW_DTYPE_INT2] = SIGNED_CODEC(i8, i2),
    [PW_DTYPE_UINT8] = UNSIGNED_CODEC(u8, u8),     [PW_DTYPE_UINT16] = UNSIGNED_CODEC(u16, u16),
    [PW_DTYPE_UINT32] = UNSIGNED_CODEC(u32, u32),  [PW_DTYPE_UINT64] = UNSIGNED_CODEC(u64, u64),
    [PW_DTYPE_UINT4] = UNSIGNED_CODEC(u8, u4),     [PW_DTYPE_UINT2] = UNSIGNED_CODEC(u8, u2),
    [PW_DTYPE_BOOL] = UNSIGNED_CODEC(u8, bool),
};

static const struct codec *codec_of(pw_dtype dtype)
{
    static const struct codec none;
    const struct codec *codec = (int)dtype >= 0 && (int)dtype < PW_DTYPE_COUNT ? &codecs[dtype] : &none;

    return codec->store_double != NULL ? codec : NULL;
}

static void load_doubles(const struct codec *codec, const void *data, int64_t begin, int64_t count, double *dst)
{
    int64_t ints[BLOCK];

    if (codec->load_double != NULL) {
        codec->load_double(data, begin, count, dst);
        return;
    }
    for (int64_t done = 0; done < count; done += BLOCK) {
        int64_t part = count - done < BLOCK ? count - done : BLOCK;

        codec->load_int(data, begin + done, part, ints);
        for (int64_t i = 0; i < part; i++)
            dst[done + i] = codec->is_unsigned ? (double)(uint64_t)ints[i] : (double)ints[i];
    }
}

void pw_tensor_load(const struct pw_tensor *t, int64_t begin, int64_t count, double *dst)
{
    const struct codec *codec = codec_of(t->dtype);

    if (codec != NULL)
        load_doubles(codec, t->data, begin, count, dst);
    else
        memset(dst, 0, (size_t)count * sizeof *dst);
}

/* ---- whole tensors ---- */

struct conversion {
    const struct codec *from, *to;
    const void *src;
    void *dst;
};

static void convert_range(void *user, int64_t begin, int64_t end)
{
    const struct conversion *c = user;
    double doubles[BLOCK];
    int64_t ints[BLOCK];

    for (int64_t at = begin; at < end; at += BLOCK) {
        int64_t count = end - at < BLOCK ? end - at : BLOCK;

        if (c->from->load_double != NULL) {
            c->from->load_double(c->src, at, count, doubles);
            c->to->store_double(c->dst, at, count, doubles);
        } else {
            c->from->load_int(c->src, at, count, ints);
            c->to->store_int(c->dst, at, count, ints, c->from->is_unsigned);
        }
    }
}

/* Complex targets: from complex of the other width, or from a real type (imaginary part 0). */
static pw_status convert_to_complex(struct pw_tensor *dst, const struct pw_tensor *src, struct pw_error *err)
{
    bool from_complex = pw_dtype_facts(src->dtype)->kind == PW_KIND_COMPLEX;

    if (!from_complex && codec_of(src->dtype) == NULL)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "no conversion from %s to %s", pw_dtype_name(src->dtype),
                            pw_dtype_name(dst->dtype));
    for (int64_t i = 0; i < src->count; i++) {
        double real = 0.0, imaginary = 0.0;

        if (src->dtype == PW_DTYPE_COMPLEX64) {
            const UNALIGNED(float) *parts = src->data;
            real = (double)parts[2 * i].value;
            imaginary = (double)parts[2 * i + 1].value;
        } else if (src->dtype == PW_DTYPE_COMPLEX128) {
            const UNALIGNED(double) *parts = src->data;
            real = parts[2 * i].value;
            imaginary = parts[2 * i + 1].value;
        } else {
            pw_tensor_load(src, i, 1, &real);
        }
        if (dst->dtype == PW_DTYPE_COMPLEX64) {
            ((float *)dst->data)[2 * i] = (float)real;
            ((float *)dst->data)[2 * i + 1] = (float)imaginary;
        } else {
            ((double *)dst->data)[2 * i] = real;
            ((double *)dst->data)[2 * i + 1] = imaginary;
        }
    }
    return PW_OK;
}

pw_status pw_tensor_convert(struct pw_tensor *dst, const struct pw_tensor *src, pw_dtype dtype, struct pw_error *err)
{
    struct conversion c = {.from = codec_of(src->dtype), .to = codec_of(dtype), .src = src->data};
    struct pw_tensor made = {0};
    pw_status status;

    if (src->dtype == dtype) {
        status = pw_tensor_copy(&made, src, err);
        made.nominal = dtype;
    } else {
        status = pw_tensor_init(&made, dtype, src->rank, src->dims, err);
        c.dst = made.data;
        if (status == PW_OK && pw_dtype_facts(dtype)->kind == PW_KIND_COMPLEX)
            status = convert_to_complex(&made, src, err);
        else if (status == PW_OK && (c.from == NULL || c.to == NULL))
            status = pw_error_set(err, PW_ERR_UNSUPPORTED, "no conversion from %s to %s", pw_dtype_name(src->dtype),
                                  pw_dtype_name(dtype));
        else if (status == PW_OK)
            pw_parallel_for(src->count, PARALLEL_GRAIN, convert_range, &c);
    }
    if (status != PW_OK) {
        pw_tensor_clear(&made);
        return status;
    }
    *dst = made;
    return PW_OK;
}

/* ---- single elements ---- */

double pw_tensor_get(const struct pw_tensor *t, int64_t i)
{
    double x = 0.0;

    pw_tensor_load(t, i, 1, &x);
    return x;
}

int64_t pw_tensor_get_int(const struct pw_tensor *t, int64_t i)
{
    const struct codec *codec = codec_of(t->dtype);
    int64_t value = 0;
    double x;

    if (codec == NULL)
        return 0;
    if (codec->load_int != NULL) {
        codec->load_int(t->data, i, 1, &value);
        return value;
    }
    codec->load_double(t->data, i, 1, &x);
    return truncate_signed(x);
}

void pw_tensor_set(struct pw_tensor *t, int64_t i, double value)
{
    const struct codec *codec = codec_of(t->dtype);

    if (codec != NULL)
        codec->store_double(t->data, i, 1, &value);
}

void pw_tensor_set_int(struct pw_tensor *t, int64_t i, int64_t value)
{
    const struct codec *codec = codec_of(t->dtype);

    if (codec != NULL)
        codec->store_int(t->data, i, 1, &value, false);
}
