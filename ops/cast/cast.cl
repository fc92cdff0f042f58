/*
 * y[i] = x[i] in another type, rounded once to nearest even; float to integer truncates.
 * Algorithm: vectors of VEC over a contiguous chunk where one conversion does it; one by one where a type wider than
 * float goes to a narrow float (rounded to odd on the way, so that the second rounding is the only one that counts) or to
 * a type below a byte.
 * Tiling: a contiguous chunk a work-item, at most 64 of them on a CPU.
 */
#define IN(N) PW_COMPUTEN(in0, N)
#define OUT(N) PW_COMPUTEN(out0, N)
#define TO_OUT(N, x) PW_CAT(convert_, OUT(N))(x)
#define LONGS(N) PW_VEC(long, N)
#define TO_LONG(N, x) PW_CAT4(convert_, long, PW_CAT(pw_size_, N), _sat_rtz)(x)
#define pw_size_1
#define pw_size_2 2
#define pw_size_4 4
#define pw_size_8 8
#define pw_size_16 16

#define pw_is_bool_bool 1
#define OUT_IS_BOOL PW_CAT(pw_is_bool_, out0_dtype)
#define pw_is_ulong_u64 1
#define OUT_IS_ULONG PW_CAT(pw_is_ulong_, out0_dtype)

#if OUT_IS_BOOL
#define CAST(N, x) ((x) != (IN(N))(0))
#elif PW_IS_FLOAT(in0) && !PW_IS_FLOAT(out0)
/* Through long: beyond the range the high bits fall away, NaN gives 0. */
#define CAST(N, x) TO_OUT(N, TO_LONG(N, x))
#else
#define CAST(N, x) TO_OUT(N, x)
#endif

#define ARGUMENTS __global const PW_TYPE(in0) *in0, __global PW_TYPE(out0) *out0, const long n, const int chunk

#ifdef PLAIN
__kernel void cast_plain(ARGUMENTS)
{
    long i = (long)get_global_id(0) * chunk, end = min(i + chunk, n);

#if !defined(SCALAR) && !(OUT_IS_ULONG && PW_IS_FLOAT(in0))
    for (; i + VEC <= end; i += VEC) {
        IN(VEC) x = PW_LOADN(in0, VEC, i);

        PW_STOREN(out0, VEC, i, CAST(VEC, x));
    }
#endif
    for (; i < end; i++) {
        IN(1) x = PW_LOAD(in0, i);

#if OUT_IS_ULONG && PW_IS_FLOAT(in0)
        out0[i] = x < 0 ? (ulong)convert_long_sat_rtz(x) : convert_ulong_sat_rtz(x);
#else
        PW_STORE(out0, i, CAST(1, x));
#endif
    }
}
#endif

#ifdef NARROW
/* Of two neighbouring floats around an inexact value one is odd: a rounding to odd keeps on which side of
 * every tie of a narrower type it lies. `side` is the sign of x - f. */
static inline float to_odd(float f, int side)
{
    uint bits = as_uint(f);

    if (side == 0 || (bits & 1u) || isinf(f))
        return f;
    if (f == 0.0f) /* below the least denormal: away from zero on either side */
        return as_float(side > 0 ? 1u : 0x80000001u);
    return as_float((side > 0) == (f > 0) ? bits + 1u : bits - 1u);
}

#if PW_IS_DOUBLE(in0)
static inline float odd_float(double x)
{
    float f = convert_float(x);

    if (isinf(f) && !isinf(x))
        return x < 0 ? -0x1.fffffep127f : 0x1.fffffep127f;
    return to_odd(f, x == x ? (x > (double)f) - (x < (double)f) : 0);
}
#elif PW_IS_FLOAT(in0)
#define odd_float(x) (x)
#else
static inline float odd_float(IN(1) x)
{
    float f = convert_float(x);
    IN(1) back;

    /* The largest floats may lie beyond the type's range. */
    back = PW_CAT3(convert_, IN(1), _sat_rtz)(f);
    return to_odd(f, (x > back) - (x < back));
}
#endif

__kernel void cast_narrow(ARGUMENTS)
{
    long i = (long)get_global_id(0) * chunk, end = min(i + chunk, n);

    for (; i < end; i++)
        PW_STORE(out0, i, odd_float(PW_LOAD(in0, i)));
}

#ifdef PW_FLOAT8
#ifdef E8M0
static uint to_e8m0(float x, int round, int saturates)
{
    uint u = as_uint(x), m;
    int code;

    if (isnan(x) || x < 0.0f || (x == 0.0f && !saturates) || (isinf(x) && !saturates))
        return 255u;
    if (x == 0.0f || isinf(x))
        return x == 0.0f ? 0u : 254u;
    m = u & 0x7fffffu;
    code = (int)(u >> 23);
    if (code == 0) { /* denormal: 2^-127 is its highest bit */
        int lead = 31 - (int)clz(m);

        code = lead - 22;
        m = (m << (23 - lead)) & 0x7fffffu;
    }
    code += round == 0 ? m != 0u : round == 2 ? m >= 0x400000u : 0;
    if (code < 0)
        return saturates ? 0u : 255u;
    return code > 254 ? (saturates ? 254u : 255u) : (uint)code;
}
#endif

__kernel void cast_float8(ARGUMENTS, const int saturates, const int round, const int inf_is_nan)
{
    long i = (long)get_global_id(0) * chunk, end = min(i + chunk, n);

    for (; i < end; i++) {
        float x = odd_float(PW_LOAD(in0, i));

#ifdef E8M0
        out0[i] = (uchar)to_e8m0(x, round, saturates);
#else
        PW_STORE_CHOICE(out0, i, isinf(x) && inf_is_nan ? NAN : x, saturates);
#endif
    }
}
#endif
#endif

#ifdef BITS
/* Types below a byte lie one a byte: the low bits count, a signed one is extended. */
__kernel void cast_below_byte(ARGUMENTS, const int bits, const int is_signed)
{
    long i = (long)get_global_id(0) * chunk, end = min(i + chunk, n);

    for (; i < end; i++) {
#if PW_IS_FLOAT(in0)
        uint low = (uint)convert_long_sat_rtz(PW_LOAD(in0, i)) & ((1u << bits) - 1u);
#else
        uint low = (uint)PW_LOAD(in0, i) & ((1u << bits) - 1u);
#endif
        uint sign = is_signed ? 1u << (bits - 1) : 0u;

        out0[i] = (OUT(1))((low ^ sign) - sign);
    }
}
#endif

#ifdef LOW
/* Bits of types below a byte, which lie one a byte: a signed one is extended. */
__kernel void cast_bits_low(__global const uchar *in0, __global uchar *out0, const long n, const int chunk,
                            const int bits, const int is_signed)
{
    long i = (long)get_global_id(0) * chunk, end = min(i + chunk, n);
    uint sign = is_signed ? 1u << (bits - 1) : 0u, mask = (1u << bits) - 1u;

    for (; i < end; i++)
        out0[i] = (uchar)(((in0[i] & mask) ^ sign) - sign);
}
#endif

#ifdef MOVE
__kernel void cast_bits(__global const PW_MOVE(in0) *in0, __global PW_MOVE(in0) *out0, const long n, const int chunk)
{
    long i = (long)get_global_id(0) * chunk, end = min(i + chunk, n);

    for (; i < end; i++)
        out0[i] = in0[i];
}
#endif
