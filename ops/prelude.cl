/*
 * Goes before every OpenCL source of the ops directories (OpenCL C 1.2). Loads and stores of every storage
 * type, and a few functions that are faster than the built-in ones with a known error.
 *
 * A kernel takes `__global const PW_TYPE(X) *X` and computes in PW_COMPUTE(X): float for float32, float16 and
 * bfloat16, double for float64, the storage type for integers and bool (uchar, 0 or 1). X is the name of a
 * formal in the description; -DX_dtype says how it is stored. PW_AT_* take a pointer of another name.
 *   PW_LOAD(X, i)         element i
 *   PW_LOAD8(X, i)        elements i..i+7 as a vector of 8; also 2, 4, 16. No alignment is needed beyond the element's
 *   PW_STORE(X, i, v), PW_STORE8(X, i, v)   one rounding, to nearest even; NaN stays NaN
 *   PW_LOADN(X, N, i), PW_STOREN(X, N, i, v), PW_COMPUTEN(X, N)   the same with N a macro: 1, 2, 4, 8 or 16
 * float16 is stored as ushort and goes through vload_half and vstore_half_rte of a private copy: cl_khr_fp16 is not
 * needed, and no device's idea of a vector's alignment matters (PoCL 3.1 loads eight halves as if they were aligned to
 * 16 bytes). A vector stored to bool counts its lowest bit: masks of comparisons (-1) converted to uchar are fine.
 * PW_MOVE(X) is an unsigned type of the element's size: copies serve every dtype of that size.
 */
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define PW_CAT_(a, b) a##b
#define PW_CAT(a, b) PW_CAT_(a, b)
#define PW_CAT3_(a, b, c) a##b##c
#define PW_CAT3(a, b, c) PW_CAT3_(a, b, c)
#define PW_CAT4_(a, b, c, d) a##b##c##d
#define PW_CAT4(a, b, c, d) PW_CAT4_(a, b, c, d)

/* A scalar type's vector of N. */
#define PW_VEC_1(type) type
#define PW_VEC_2(type) PW_CAT(type, 2)
#define PW_VEC_4(type) PW_CAT(type, 4)
#define PW_VEC_8(type) PW_CAT(type, 8)
#define PW_VEC_16(type) PW_CAT(type, 16)
#define PW_VEC(type, N) PW_CAT(PW_VEC_, N)(type)

/* ---- by dtype ---- */
#define pw_type_f32 float
#define pw_type_f16 ushort
#define pw_type_bf16 ushort
#define pw_type_f64 double
#define pw_type_i8 char
#define pw_type_u8 uchar
#define pw_type_i16 short
#define pw_type_u16 ushort
#define pw_type_i32 int
#define pw_type_u32 uint
#define pw_type_i64 long
#define pw_type_u64 ulong
#define pw_type_bool uchar
#define pw_type_i4 char
#define pw_type_u4 uchar
#define pw_type_i2 char
#define pw_type_u2 uchar
#define pw_type_f8e4m3fn uchar
#define pw_type_f8e4m3fnuz uchar
#define pw_type_f8e5m2 uchar
#define pw_type_f8e5m2fnuz uchar
#define pw_type_f8e8m0 uchar
#define pw_type_f4e2m1 uchar
#define pw_type_f6e2m3 uchar
#define pw_type_f6e3m2 uchar

#define pw_compute_f32 float
#define pw_compute_f16 float
#define pw_compute_bf16 float
#define pw_compute_f64 double
#define pw_compute_i8 char
#define pw_compute_u8 uchar
#define pw_compute_i16 short
#define pw_compute_u16 ushort
#define pw_compute_i32 int
#define pw_compute_u32 uint
#define pw_compute_i64 long
#define pw_compute_u64 ulong
#define pw_compute_bool uchar
#define pw_compute_i4 char
#define pw_compute_u4 uchar
#define pw_compute_i2 char
#define pw_compute_u2 uchar
#define pw_compute_f8e4m3fn float
#define pw_compute_f8e4m3fnuz float
#define pw_compute_f8e5m2 float
#define pw_compute_f8e5m2fnuz float
#define pw_compute_f8e8m0 float
#define pw_compute_f4e2m1 float
#define pw_compute_f6e2m3 float
#define pw_compute_f6e3m2 float

#define PW_TYPE(X) PW_CAT(pw_type_, X##_dtype)
#define PW_COMPUTE(X) PW_CAT(pw_compute_, X##_dtype)
#define PW_COMPUTEN(X, N) PW_VEC(PW_COMPUTE(X), N)
#define PW_COMPUTE2(X) PW_CAT(PW_COMPUTE(X), 2)
#define PW_COMPUTE4(X) PW_CAT(PW_COMPUTE(X), 4)
#define PW_COMPUTE8(X) PW_CAT(PW_COMPUTE(X), 8)
#define PW_COMPUTE16(X) PW_CAT(PW_COMPUTE(X), 16)

/* 1 when PW_COMPUTE(X) is float or double: for #if. */
#define pw_is_float_f32 1
#define pw_is_float_f16 1
#define pw_is_float_bf16 1
#define pw_is_float_f64 1
#define pw_is_float_f8e4m3fn 1
#define pw_is_float_f8e4m3fnuz 1
#define pw_is_float_f8e5m2 1
#define pw_is_float_f8e5m2fnuz 1
#define pw_is_float_f8e8m0 1
#define pw_is_float_f4e2m1 1
#define pw_is_float_f6e2m3 1
#define pw_is_float_f6e3m2 1
#define PW_IS_FLOAT(X) PW_CAT(pw_is_float_, X##_dtype)
#define pw_is_double_f64 1
#define PW_IS_DOUBLE(X) PW_CAT(pw_is_double_, X##_dtype)

#define pw_move_1 uchar
#define pw_move_2 ushort
#define pw_move_4 uint
#define pw_move_8 ulong
#define pw_move_16 ulong2
#define PW_MOVE(X) PW_CAT(pw_move_, X##_bytes)
#define PW_MOVEN(X, N) PW_VEC(PW_MOVE(X), N)

/* ---- loads: pw_load<N>_<class>(pointer, index) ---- */
#define pw_load1_same(p, i) ((p)[i])
#define pw_load2_same(p, i) vload2(0, (p) + (i))
#define pw_load4_same(p, i) vload4(0, (p) + (i))
#define pw_load8_same(p, i) vload8(0, (p) + (i))
#define pw_load16_same(p, i) vload16(0, (p) + (i))
#define pw_load1_half(p, i) pw_from_half_1((p)[i])
#define pw_load2_half(p, i) pw_from_half_2(vload2(0, (p) + (i)))
#define pw_load4_half(p, i) pw_from_half_4(vload4(0, (p) + (i)))
#define pw_load8_half(p, i) pw_from_half_8(vload8(0, (p) + (i)))
#define pw_load16_half(p, i) pw_from_half_16(vload16(0, (p) + (i)))
#define pw_load1_bf16(p, i) as_float((uint)(p)[i] << 16)
#define pw_load2_bf16(p, i) as_float2(convert_uint2(vload2(0, (p) + (i))) << 16)
#define pw_load4_bf16(p, i) as_float4(convert_uint4(vload4(0, (p) + (i))) << 16)
#define pw_load8_bf16(p, i) as_float8(convert_uint8(vload8(0, (p) + (i))) << 16)
#define pw_load16_bf16(p, i) as_float16(convert_uint16(vload16(0, (p) + (i))) << 16)

#define pw_store1_same(p, i, v) ((p)[i] = (v))
#define pw_store2_same(p, i, v) vstore2(v, 0, (p) + (i))
#define pw_store4_same(p, i, v) vstore4(v, 0, (p) + (i))
#define pw_store8_same(p, i, v) vstore8(v, 0, (p) + (i))
#define pw_store16_same(p, i, v) vstore16(v, 0, (p) + (i))
#define pw_store1_half(p, i, v) ((p)[i] = pw_to_half_1(v))
#define pw_store2_half(p, i, v) vstore2(pw_to_half_2(v), 0, (p) + (i))
#define pw_store4_half(p, i, v) vstore4(pw_to_half_4(v), 0, (p) + (i))
#define pw_store8_half(p, i, v) vstore8(pw_to_half_8(v), 0, (p) + (i))
#define pw_store16_half(p, i, v) vstore16(pw_to_half_16(v), 0, (p) + (i))
#define pw_store1_bf16(p, i, v) ((p)[i] = pw_bf16_1(v))
#define pw_store2_bf16(p, i, v) vstore2(pw_bf16_2(v), 0, (p) + (i))
#define pw_store4_bf16(p, i, v) vstore4(pw_bf16_4(v), 0, (p) + (i))
#define pw_store8_bf16(p, i, v) vstore8(pw_bf16_8(v), 0, (p) + (i))
#define pw_store16_bf16(p, i, v) vstore16(pw_bf16_16(v), 0, (p) + (i))
#define pw_store1_bool(p, i, v) ((p)[i] = (v) ? 1 : 0)
#define pw_store2_bool(p, i, v) vstore2(convert_uchar2(v) & (uchar2)(1), 0, (p) + (i))
#define pw_store4_bool(p, i, v) vstore4(convert_uchar4(v) & (uchar4)(1), 0, (p) + (i))
#define pw_store8_bool(p, i, v) vstore8(convert_uchar8(v) & (uchar8)(1), 0, (p) + (i))
#define pw_store16_bool(p, i, v) vstore16(convert_uchar16(v) & (uchar16)(1), 0, (p) + (i))

#define pw_class_f32 same
#define pw_class_f16 half
#define pw_class_bf16 bf16
#define pw_class_f64 same
#define pw_class_i8 same
#define pw_class_u8 same
#define pw_class_i16 same
#define pw_class_u16 same
#define pw_class_i32 same
#define pw_class_u32 same
#define pw_class_i64 same
#define pw_class_u64 same
#define pw_class_bool bool
#define pw_class_i4 same
#define pw_class_u4 same
#define pw_class_i2 same
#define pw_class_u2 same
#define pw_class_f8e4m3fn f8e4m3fn
#define pw_class_f8e4m3fnuz f8e4m3fnuz
#define pw_class_f8e5m2 f8e5m2
#define pw_class_f8e5m2fnuz f8e5m2fnuz
#define pw_class_f8e8m0 f8e8m0
#define pw_class_f4e2m1 f4e2m1
#define pw_class_f6e2m3 f6e2m3
#define pw_class_f6e3m2 f6e3m2
#define pw_load1_bool pw_load1_same
#define pw_load2_bool pw_load2_same
#define pw_load4_bool pw_load4_same
#define pw_load8_bool pw_load8_same
#define pw_load16_bool pw_load16_same

#define PW_AT_LOADN(X, N, p, i) PW_CAT4(pw_load, N, _, PW_CAT(pw_class_, X##_dtype))(p, i)
#define PW_AT_STOREN(X, N, p, i, v) PW_CAT4(pw_store, N, _, PW_CAT(pw_class_, X##_dtype))(p, i, v)
#define PW_AT_LOAD(X, p, i) PW_CAT(pw_load1_, PW_CAT(pw_class_, X##_dtype))(p, i)
#define PW_AT_LOAD8(X, p, i) PW_CAT(pw_load8_, PW_CAT(pw_class_, X##_dtype))(p, i)
#define PW_AT_STORE(X, p, i, v) PW_CAT(pw_store1_, PW_CAT(pw_class_, X##_dtype))(p, i, v)
#define PW_AT_STORE8(X, p, i, v) PW_CAT(pw_store8_, PW_CAT(pw_class_, X##_dtype))(p, i, v)
#define PW_LOADN(X, N, i) PW_CAT4(pw_load, N, _, PW_CAT(pw_class_, X##_dtype))(X, i)
#define PW_STOREN(X, N, i, v) PW_CAT4(pw_store, N, _, PW_CAT(pw_class_, X##_dtype))(X, i, v)
#define PW_LOAD(X, i) PW_CAT(pw_load1_, PW_CAT(pw_class_, X##_dtype))(X, i)
#define PW_LOAD2(X, i) PW_CAT(pw_load2_, PW_CAT(pw_class_, X##_dtype))(X, i)
#define PW_LOAD4(X, i) PW_CAT(pw_load4_, PW_CAT(pw_class_, X##_dtype))(X, i)
#define PW_LOAD8(X, i) PW_CAT(pw_load8_, PW_CAT(pw_class_, X##_dtype))(X, i)
#define PW_LOAD16(X, i) PW_CAT(pw_load16_, PW_CAT(pw_class_, X##_dtype))(X, i)
#define PW_STORE(X, i, v) PW_CAT(pw_store1_, PW_CAT(pw_class_, X##_dtype))(X, i, v)
#define PW_STORE2(X, i, v) PW_CAT(pw_store2_, PW_CAT(pw_class_, X##_dtype))(X, i, v)
#define PW_STORE4(X, i, v) PW_CAT(pw_store4_, PW_CAT(pw_class_, X##_dtype))(X, i, v)
#define PW_STORE8(X, i, v) PW_CAT(pw_store8_, PW_CAT(pw_class_, X##_dtype))(X, i, v)
#define PW_STORE16(X, i, v) PW_CAT(pw_store16_, PW_CAT(pw_class_, X##_dtype))(X, i, v)

/* ---- functions, written once for N lanes; S is "" or N ----
 * Largest errors in float32: pw_exp 1 ULP, pw_sigmoid 2.5, pw_erf 5, pw_tanh 4.5 where division is correctly
 * rounded (add 3 otherwise); results below 2^-126 are gradual where the device keeps denormals. NaN gives NaN;
 * erf and tanh stay within [-1, 1]. pw_bf16 rounds to nearest even.
 * exp: 2^n e^r with n rounded by adding 1.5*2^23, a polynomial of degree 6, and 2^n in two factors so that
 * neither end of the range needs a case. erf, tanh: odd rational approximations in x^2 on the range where the
 * result is not yet 1 in float. */
#define PW_HALVES(N, S, F, H) \
    static inline F pw_from_half_##N(H x) \
    { \
        return vload_half##S(0, (const __private half *)&x); \
    } \
    static inline H pw_to_half_##N(F x) \
    { \
        H made; \
        vstore_half##S##_rte(x, 0, (__private half *)&made); \
        return made; \
    }
PW_HALVES(1, , float, ushort)
PW_HALVES(2, 2, float2, ushort2)
PW_HALVES(4, 4, float4, ushort4)
PW_HALVES(8, 8, float8, ushort8)
PW_HALVES(16, 16, float16, ushort16)

#define PW_FUNCTIONS(N, F, I, U, H) \
    static inline H pw_bf16_##N(F x) \
    { \
        U u = PW_CAT(as_, U)(x); \
        U rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16; \
        U quiet = (u >> 16) | 0x40u; \
        return PW_CAT(convert_, H)((u & 0x7fffffffu) > (U)(0x7f800000u) ? quiet : rounded); \
    } \
    static inline F pw_exp_##N(F x) \
    { \
        F c = x > 89.0f ? (F)(89.0f) : x; \
        c = c < -104.0f ? (F)(-104.0f) : c; \
        F shifted = fma(c, (F)(0x1.715476p+0f), (F)(12582912.0f)); \
        I n = PW_CAT(as_, I)(shifted) - 0x4b400000; \
        F k = shifted - 12582912.0f; \
        F r = fma(k, (F)(-0x1.62e400p-1f), c); \
        r = fma(k, (F)(-0x1.7f7d1cp-20f), r); \
        F q = fma(r, (F)(0x1.6a2380p-10f), (F)(0x1.123a4ep-7f)); \
        q = fma(q, r, (F)(0x1.5558f4p-5f)); \
        q = fma(q, r, (F)(0x1.555490p-3f)); \
        q = fma(q, r, (F)(0x1.fffffcp-2f)); \
        q = fma(q, r * r, r) + 1.0f; \
        I half_n = n >> 1; \
        return q * PW_CAT(as_, F)((half_n + 127) << 23) * PW_CAT(as_, F)((n - half_n + 127) << 23); \
    } \
    static inline F pw_erf_##N(F x) \
    { \
        F c = x > 3.925f ? (F)(3.925f) : x; \
        c = c < -3.925f ? (F)(-3.925f) : c; \
        F t = c * c; \
        F p = fma(t, (F)(0x1.129d6ap-19f), (F)(0x1.2aadcap-12f)); \
        p = fma(p, t, (F)(0x1.ee77d4p-9f)); \
        p = fma(p, t, (F)(0x1.b048e0p-5f)); \
        p = fma(p, t, (F)(0x1.86554cp-3f)); \
        p = fma(p, t, (F)(0x1.20dd74p+0f)); \
        F q = fma(t, (F)(0x1.3f2b20p-15f), (F)(0x1.31183ep-10f)); \
        q = fma(q, t, (F)(0x1.eaf736p-7f)); \
        q = fma(q, t, (F)(0x1.d3b0acp-4f)); \
        q = fma(q, t, (F)(0x1.0125b6p-1f)); \
        q = fma(q, t, (F)(1.0f)); \
        F r = c * (p / q); \
        r = r > 1.0f ? (F)(1.0f) : r; \
        return r < -1.0f ? (F)(-1.0f) : r; \
    } \
    static inline F pw_tanh_##N(F x) \
    { \
        F c = x > 9.02f ? (F)(9.02f) : x; \
        c = c < -9.02f ? (F)(-9.02f) : c; \
        F t = c * c; \
        F p = fma(t, (F)(0x1.c9a61cp-27f), (F)(0x1.59564ap-16f)); \
        p = fma(p, t, (F)(0x1.c9f8d0p-9f)); \
        p = fma(p, t, (F)(0x1.120452p-3f)); \
        p = fma(p, t, (F)(1.0f)); \
        F q = fma(t, (F)(0x1.a0b9f4p-21f), (F)(0x1.584270p-12f)); \
        q = fma(q, t, (F)(0x1.a7df60p-6f)); \
        q = fma(q, t, (F)(0x1.de5772p-2f)); \
        q = fma(q, t, (F)(1.0f)); \
        F r = c * (p / q); \
        r = r > 1.0f ? (F)(1.0f) : r; \
        return r < -1.0f ? (F)(-1.0f) : r; \
    } \
    static inline F pw_sigmoid_##N(F x) \
    { \
        F e = pw_exp_##N(-fabs(x)); \
        return (x < 0.0f ? e : (F)(1.0f)) / (1.0f + e); \
    }
PW_FUNCTIONS(1, float, int, uint, ushort)
PW_FUNCTIONS(2, float2, int2, uint2, ushort2)
PW_FUNCTIONS(4, float4, int4, uint4, ushort4)
PW_FUNCTIONS(8, float8, int8, uint8, ushort8)
PW_FUNCTIONS(16, float16, int16, uint16, ushort16)

/* Philox4x32-10, the same words as pw_philox on the host: block `index` of `stream` under `seed`. */
static inline uint4 pw_philox(ulong seed, ulong stream, ulong index)
{
    uint4 c = (uint4)((uint)index, (uint)(index >> 32), (uint)stream, (uint)(stream >> 32));
    uint k0 = (uint)seed, k1 = (uint)(seed >> 32);

    for (int round = 0; round < 10; round++) {
        uint hi0 = mul_hi(0xD2511F53u, c.x), lo0 = 0xD2511F53u * c.x;
        uint hi1 = mul_hi(0xCD9E8D57u, c.z), lo1 = 0xCD9E8D57u * c.z;

        c = (uint4)(hi1 ^ c.y ^ k0, lo1, hi0 ^ c.w ^ k1, lo0);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c;
}
/* [0,1) from a word: its top 24 bits, exact. */
#define PW_UNIT(word) ((float)((word) >> 8) * 0x1p-24f)

/* My share [begin, end) of n: contiguous, the same for all work-items. */
static inline void pw_share(int n, int *begin, int *end)
{
    long size = (long)get_global_size(0), id = (long)get_global_id(0);
    long each = ((long)n + size - 1) / size;
    long first = min(id * each, (long)n);

    *begin = (int)first;
    *end = (int)min(first + each, (long)n);
}

/* A function that copies n elements of a type. */
#define PW_DEFINE_COPY(NAME, T) \
    static inline void NAME(__global const T *src, __global T *dst, int n) \
    { \
        int i = 0; \
        for (; i + 16 <= n; i += 16) { \
            PW_VEC(T, 8) a = vload8(0, src + i), b = vload8(0, src + i + 8); \
            vstore8(a, 0, dst + i); \
            vstore8(b, 0, dst + i + 8); \
        } \
        for (; i < n; i++) \
            dst[i] = src[i]; \
    }

/*
 * A function: x^y of positive, finite, normal doubles, to 1e-10 relative where |y * log2 x| < 100: for results in float, whose
 * large powers need more bits in between than float has. 2^(y * log2 x); log2 of a mantissa m in [sqrt(1/2), sqrt 2) is
 * 2/ln 2 * atanh((m - 1) / (m + 1)). D and L: double and long, or vectors of them. (PoCL 3.1's pow of doubles takes 0.7 us an
 * element.)
 */
#define PW_DEFINE_POWER(NAME, D, L) \
    static inline D NAME(D x, D y) \
    { \
        L e = (PW_CAT(as_, L)(x) - 0x3fe6a09e667f3bcdL) >> 52; \
        D m = PW_CAT(as_, D)(PW_CAT(as_, L)(x) - (e << 52)); \
        D s = (m - 1.0) / (m + 1.0), t = s * s; \
        D q = fma(t, (D)(0.2623081892525388), (D)(0.3205988979753252)); \
        q = fma(q, t, (D)(0.4121985831111324)); \
        q = fma(q, t, (D)(0.5770780163555853)); \
        q = fma(q, t, (D)(0.9617966939259756)); \
        q = fma(q, t, (D)(2.8853900817779268)); \
        D p = clamp(y * fma(s, q, PW_CAT(convert_, D)(e)), (D)(-1022.0), (D)(1023.0)), n = rint(p); \
        D z = (p - n) * 0.6931471805599453; \
        D r = fma(z, (D)(1.0 / 5040), (D)(1.0 / 720)); \
        r = fma(r, z, (D)(1.0 / 120)); \
        r = fma(r, z, (D)(1.0 / 24)); \
        r = fma(r, z, (D)(1.0 / 6)); \
        r = fma(r, z, (D)(0.5)); \
        r = fma(r, z, (D)(1.0)); \
        r = fma(r, z, (D)(1.0)); \
        return r * PW_CAT(as_, D)((PW_CAT(convert_, L)(n) + 1023) << 52); \
    }

/*
 * A function: F of two vectors, lane by lane. PoCL 3.1's vector functions of double go wrong where one lane is special: fmod
 * never ends with a zero divisor among others, pow gives ordinary lanes beside a zero or an infinity other numbers.
 */
#define PW_DEFINE_LANES(NAME, F, T, N) \
    static inline PW_VEC(T, N) NAME(PW_VEC(T, N) u, PW_VEC(T, N) v) \
    { \
        T a[N], b[N]; \
        PW_CAT(vstore, N)(u, 0, a); \
        PW_CAT(vstore, N)(v, 0, b); \
        for (int k = 0; k < N; k++) \
            a[k] = F(a[k], b[k]); \
        return PW_CAT(vload, N)(0, a); \
    }

/* The kernel of a unary map, out0 = F(in0), by vectors of VEC over a contiguous chunk a work-item: F(N, x) takes a vector of
 * N in PW_COMPUTEN(in0, N). PW_MAP_MORE are further parameters, which F may name; defined before, perhaps empty. */
#define PW_DEFINE_MAP(NAME, F) \
    __kernel void NAME(__global const PW_TYPE(in0) *in0, __global PW_TYPE(out0) *out0, const long n, \
                       const int chunk PW_MAP_MORE) \
    { \
        long i = (long)get_global_id(0) * chunk, end = min(i + chunk, n); \
        for (; i + VEC <= end; i += VEC) { \
            PW_COMPUTEN(in0, VEC) x = PW_LOADN(in0, VEC, i); \
            PW_STOREN(out0, VEC, i, F(VEC, x)); \
        } \
        for (; i < end; i++) { \
            PW_COMPUTE(in0) x = PW_LOAD(in0, i); \
            PW_STORE(out0, i, F(1, x)); \
        } \
    }

#ifdef PW_FLOAT8
/* float8, float6, float4: set `defines: {PW_FLOAT8: 1}` in the description. Loads to float are exact; stores round to
 * nearest even and saturate (pw_store_bits takes the choice). `none` (0x100) marks a code that a format lacks. */
static inline float pw_load_bits(uint b, uint sign, int mantissa, int bias, uint largest, uint inf, uint nan, int fnuz)
{
    uint m = b & (sign - 1u);
    uint e = m >> mantissa, fraction = m & ((1u << mantissa) - 1u);
    float v = e ? as_float(((e + (uint)(127 - bias)) << 23) | (fraction << (23 - mantissa)))
                : (float)fraction * as_float((uint)(128 - bias - mantissa) << 23);

    v = m > largest ? NAN : v;
    v = m == inf ? INFINITY : v;
    v = b & sign ? -v : v;
    return fnuz && b == nan ? NAN : v;
}

static inline uint pw_store_bits(float x, int saturate, uint sign, int mantissa, int bias, uint largest, uint inf,
                                 uint nan, int fnuz)
{
    uint u = as_uint(x) & 0x7fffffffu, s = as_uint(x) >> 31 ? sign : 0u;
    int shift = 23 - mantissa;
    uint code;

    if (u > 0x7f800000u)
        return nan > 0xffu ? sign : fnuz ? nan : s | nan;
    if ((int)(u >> 23) - 127 < 1 - bias)
        code = convert_uint_rte(as_float(u) * as_float((uint)(126 + mantissa + bias) << 23));
    else
        code = ((u + ((1u << (shift - 1)) - 1u) + ((u >> shift) & 1u)) >> shift) - ((uint)(127 - bias) << mantissa);
    if (code > largest || u == 0x7f800000u) {
        if (saturate || nan > 0xffu)
            code = largest;
        else if (inf <= 0xffu)
            code = inf;
        else if (fnuz)
            return nan;
        else
            code = nan;
    }
    return code == 0u && fnuz ? 0u : s | code;
}

static inline float pw_load_e8m0(uint b)
{
    return b == 255u ? NAN : b == 0u ? 0x1p-127f : as_float(b << 23);
}

/* Powers of two only: to the nearest, 1.5 up. */
static inline uint pw_store_e8m0(float x, int saturate)
{
    uint u = as_uint(x);
    uint code = (u + 0x400000u) >> 23;

    if (isnan(x) || x < 0.0f || ((u & 0x7fffffffu) == 0u && !saturate))
        return 255u;
    if ((u & 0x7fffffffu) == 0u)
        return 0u;
    if (isinf(x))
        return saturate ? 254u : 255u;
    /* Denormals: 2^-127 is 0x00400000; below 0.75 of it the code would be negative. */
    if (u < 0x00800000u)
        code = u < 0x00600000u ? 0u : 1u;
    if (u < 0x00300000u && !saturate)
        return 255u;
    return code > 254u ? (saturate ? 254u : 255u) : code;
}

#define pw_bits_f8e4m3fn 0x80u, 3, 7, 0x7eu, 0x100u, 0x7fu, 0
#define pw_bits_f8e4m3fnuz 0x80u, 3, 8, 0x7fu, 0x100u, 0x80u, 1
#define pw_bits_f8e5m2 0x80u, 2, 15, 0x7bu, 0x7cu, 0x7eu, 0
#define pw_bits_f8e5m2fnuz 0x80u, 2, 16, 0x7fu, 0x100u, 0x80u, 1
#define pw_bits_f4e2m1 0x08u, 1, 1, 0x07u, 0x100u, 0x100u, 0
#define pw_bits_f6e2m3 0x20u, 3, 1, 0x1fu, 0x100u, 0x100u, 0
#define pw_bits_f6e3m2 0x20u, 2, 3, 0x1fu, 0x100u, 0x100u, 0
#define pw_load1_f8e4m3fn(p, i) pw_load_bits((p)[i], pw_bits_f8e4m3fn)
#define pw_load1_f8e4m3fnuz(p, i) pw_load_bits((p)[i], pw_bits_f8e4m3fnuz)
#define pw_load1_f8e5m2(p, i) pw_load_bits((p)[i], pw_bits_f8e5m2)
#define pw_load1_f8e5m2fnuz(p, i) pw_load_bits((p)[i], pw_bits_f8e5m2fnuz)
#define pw_load1_f4e2m1(p, i) pw_load_bits((p)[i], pw_bits_f4e2m1)
#define pw_load1_f6e2m3(p, i) pw_load_bits((p)[i], pw_bits_f6e2m3)
#define pw_load1_f6e3m2(p, i) pw_load_bits((p)[i], pw_bits_f6e3m2)
#define pw_load1_f8e8m0(p, i) pw_load_e8m0((p)[i])
#define pw_store1_f8e4m3fn(p, i, v) ((p)[i] = (uchar)pw_store_bits(v, 1, pw_bits_f8e4m3fn))
#define pw_store1_f8e4m3fnuz(p, i, v) ((p)[i] = (uchar)pw_store_bits(v, 1, pw_bits_f8e4m3fnuz))
#define pw_store1_f8e5m2(p, i, v) ((p)[i] = (uchar)pw_store_bits(v, 1, pw_bits_f8e5m2))
#define pw_store1_f8e5m2fnuz(p, i, v) ((p)[i] = (uchar)pw_store_bits(v, 1, pw_bits_f8e5m2fnuz))
#define pw_store1_f4e2m1(p, i, v) ((p)[i] = (uchar)pw_store_bits(v, 1, pw_bits_f4e2m1))
#define pw_store1_f6e2m3(p, i, v) ((p)[i] = (uchar)pw_store_bits(v, 1, pw_bits_f6e2m3))
#define pw_store1_f6e3m2(p, i, v) ((p)[i] = (uchar)pw_store_bits(v, 1, pw_bits_f6e3m2))
#define pw_store1_f8e8m0(p, i, v) ((p)[i] = (uchar)pw_store_e8m0(v, 1))
/* Without saturation what is out of range becomes Inf or NaN, as the format has it. Not for f8e8m0. */
#define PW_STORE_CHOICE(X, i, v, saturate) \
    ((X)[i] = (uchar)pw_store_bits(v, saturate, PW_CAT(pw_bits_, X##_dtype)))
#endif
