/*
 * y[i] = f(x[i]; p, q), and y = f(x + bias) with a bias along the last dim.
 * Algorithm: vectors of VEC over a contiguous chunk (or a piece of a row, with a bias), the rest one by one.
 * float formulas use the prelude's exp, erf and tanh; expm1 is 2^n q + (2^n - 1) with q = e^r - 1, which does not
 * cancel near 0. double uses the built-in functions.
 * Tiling: on a CPU at most 64 work-items; elsewhere VEC elements each.
 */
#define TYPE(N) PW_COMPUTEN(in0, N)
#define K(N, value) ((TYPE(N))(value))

#define f_Relu(N, x) ((x) < K(N, 0) ? K(N, 0) : (x))

#if PW_IS_FLOAT(in0)
#if PW_IS_DOUBLE(in0)
#define EXP(N, x) exp(x)
#define EXPM1(N, x) expm1(x)
#define SIGMOID(N, x) PW_CAT(sigmoid_, N)(x)
/* 1 / (1 + exp(-x)) would be 0 below -709, where exp(-x) overflows and x sigmoid(x) is still a normal number. */
#define DEFINE_SIGMOID(N) \
    static inline TYPE(N) sigmoid_##N(TYPE(N) x) \
    { \
        TYPE(N) e = exp(-fabs(x)); \
        return (x < K(N, 0) ? e : K(N, 1)) / (K(N, 1) + e); \
    }
#define DEFINE_SIGMOID_(N) DEFINE_SIGMOID(N)
DEFINE_SIGMOID(1)
#if VEC > 1
DEFINE_SIGMOID_(VEC)
#endif
#define f_GeluErf(N, x) (K(N, 0.5) * (x) * erfc(-(x) * K(N, 0.70710678118654752440)))
#else
#define EXP(N, x) PW_CAT(pw_exp_, N)(x)
#define EXPM1(N, x) PW_CAT(expm1_, N)(x)
#define SIGMOID(N, x) PW_CAT(pw_sigmoid_, N)(x)
#define f_GeluErf(N, x) (0.5f * (x) * (1.0f + PW_CAT(pw_erf_, N)((x) * 0.70710678f)))

/* For x <= 0. */
#define DEFINE_EXPM1(N, F, I) \
    static inline F expm1_##N(F x) \
    { \
        F c = x < -17.4f ? (F)(-17.4f) : x; \
        F shifted = fma(c, (F)(0x1.715476p+0f), (F)(12582912.0f)); \
        F k = shifted - 12582912.0f; \
        I n = PW_CAT(as_, I)(shifted) - 0x4b400000; \
        F r = fma(k, (F)(-0x1.62e400p-1f), c); \
        r = fma(k, (F)(-0x1.7f7d1cp-20f), r); \
        F q = fma(r, (F)(0x1.6a2380p-10f), (F)(0x1.123a4ep-7f)); \
        q = fma(q, r, (F)(0x1.5558f4p-5f)); \
        q = fma(q, r, (F)(0x1.555490p-3f)); \
        q = fma(q, r, (F)(0x1.fffffcp-2f)); \
        q = fma(q, r * r, r); \
        F s = PW_CAT(as_, F)((n + 127) << 23); \
        return fma(s, q, s - 1.0f); \
    }
DEFINE_EXPM1(1, float, int)
#if VEC == 4
DEFINE_EXPM1(4, float4, int4)
#elif VEC == 8
DEFINE_EXPM1(8, float8, int8)
#else
DEFINE_EXPM1(16, float16, int16)
#endif
#endif

#define NEGATIVE(N, x) ((x) > K(N, 0) ? K(N, 0) : (x))
#define f_LeakyRelu(N, x) ((x) < K(N, 0) ? K(N, p) * (x) : (x))
#define f_Elu(N, x) ((x) < K(N, 0) ? K(N, p) * EXPM1(N, NEGATIVE(N, x)) : (x))
#define f_Selu(N, x) (K(N, q) * ((x) <= K(N, 0) ? K(N, p) * EXPM1(N, NEGATIVE(N, x)) : (x)))
/* A negative alpha makes x / alpha positive: the built-in serves it. */
#define f_Celu(N, x) ((x) > K(N, 0) ? (x) : K(N, p) * (p > 0 ? EXPM1(N, NEGATIVE(N, (x) / K(N, p))) : expm1((x) / K(N, p))))
#define f_GeluTanh(N, x) \
    ((x) * SIGMOID(N, K(N, 1.5957691216057307117598) * (x) * (K(N, 1) + K(N, 0.044715) * (x) * (x))))
#define f_HardSigmoid(N, x) CLAMP(N, K(N, p) * (x) + K(N, q))
#define f_HardSwish(N, x) ((x) * CLAMP(N, (x) / K(N, 6) + K(N, 0.5f)))
#define CLAMP(N, v) ((v) < K(N, 0) ? K(N, 0) : (v) > K(N, 1) ? K(N, 1) : (v))
#define f_Sigmoid(N, x) SIGMOID(N, x)
#define f_Softplus(N, x) (((x) > K(N, 0) ? (x) : K(N, 0)) + log1p(EXP(N, -fabs(x))))
#define f_Softsign(N, x) ((x) / (K(N, 1) + fabs(x)))
#define f_ThresholdedRelu(N, x) ((x) <= K(N, p) ? K(N, 0) : (x))
/* tanh(log(1 + e)) = (e^2 + 2e) / (e^2 + 2e + 2) with e = exp(x); x itself from 20 on. */
#define f_Mish(N, x) ((x) > K(N, 20) ? (x) : (x) * PW_CAT(mish_, N)((x) > K(N, 20) ? K(N, 20) : (x)))
#define DEFINE_MISH(N) \
    static inline TYPE(N) mish_##N(TYPE(N) x) \
    { \
        TYPE(N) e = EXP(N, x), s = e * (e + K(N, 2)); \
        return s / (s + K(N, 2)); \
    }
#define DEFINE_MISH_(N) DEFINE_MISH(N)
DEFINE_MISH(1)
DEFINE_MISH_(VEC)
#define f_Swish(N, x) ((x) * SIGMOID(N, K(N, p) * (x)))
#define f_Shrink(N, x) \
    ((x) < K(N, -p) ? (x) + K(N, q) : (x) > K(N, p) ? (x) - K(N, q) : (x) == (x) ? K(N, 0) : (x))
#endif

#define PW_MAP_MORE , const float p, const float q
#define MAP(NAME) PW_DEFINE_MAP(map_##NAME, f_##NAME)

MAP(Relu)
#if PW_IS_FLOAT(in0)
MAP(LeakyRelu)
MAP(Elu)
MAP(Selu)
MAP(Celu)
MAP(GeluErf)
MAP(GeluTanh)
MAP(HardSigmoid)
MAP(HardSwish)
MAP(Sigmoid)
MAP(Softplus)
MAP(Softsign)
MAP(ThresholdedRelu)
MAP(Mish)
MAP(Swish)
MAP(Shrink)

/* in0 sigmoid(alpha in0) in1 */
__kernel void gated_Swish(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in0) *in1,
                          __global PW_TYPE(out0) *out0, const long n, const int chunk, const float p)
{
    long i = (long)get_global_id(0) * chunk, end = min(i + chunk, n);
    for (; i + VEC <= end; i += VEC) {
        TYPE(VEC) x = PW_LOADN(in0, VEC, i);
        PW_STOREN(out0, VEC, i, f_Swish(VEC, x) * PW_AT_LOADN(in0, VEC, in1, i));
    }
    for (; i < end; i++) {
        TYPE(1) x = PW_LOAD(in0, i);
        PW_STORE(out0, i, f_Swish(1, x) * PW_AT_LOAD(in0, in1, i));
    }
}

#define BIASED(NAME) \
    __kernel void bias_##NAME(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in0) *in1, \
                              __global PW_TYPE(out0) *out0, const long rows, const int inner, const int piece, \
                              const int pieces, const int per_item) \
    { \
        long unit = (long)get_global_id(0) * per_item, last = min(unit + per_item, rows * pieces); \
        for (; unit < last; unit++) { \
            long row = unit / pieces * inner; \
            int i = (int)(unit % pieces) * piece, end = min(i + piece, inner); \
            for (; i + VEC <= end; i += VEC) { \
                TYPE(VEC) x = PW_LOADN(in0, VEC, row + i) + PW_AT_LOADN(in0, VEC, in1, i); \
                PW_STOREN(out0, VEC, row + i, f_##NAME(VEC, x)); \
            } \
            for (; i < end; i++) { \
                TYPE(1) x = PW_LOAD(in0, row + i) + PW_AT_LOAD(in0, in1, i); \
                PW_STORE(out0, row + i, f_##NAME(1, x)); \
            } \
        } \
    }
BIASED(GeluErf)
BIASED(GeluTanh)
#elif defined(cl_khr_fp64)
/* Integers through double, as the attributes are floats: exact up to 2^53. */
__kernel void map_Shrink(__global const PW_TYPE(in0) *in0, __global PW_TYPE(out0) *out0, const long n, const int chunk,
                         const float p, const float q)
{
    long i = (long)get_global_id(0) * chunk, end = min(i + chunk, n);

    for (; i < end; i++) {
        double x = (double)in0[i];

        out0[i] = (TYPE(1))(long)(x < -(double)p ? x + q : x > p ? x - q : 0.0);
    }
}
#endif
