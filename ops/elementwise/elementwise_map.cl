/*
 * y[i] = f(x[i]), and Clip.
 * Algorithm: a work-item walks one contiguous chunk in vectors of VEC; the rest one by one.
 * Tiling: chunk elements a work-item; on a CPU at most 64 work-items of at least 2048 elements, elsewhere VEC
 * elements each. Shapes are arguments: one program a type serves every call.
 */
#define TYPE(N) PW_COMPUTEN(in0, N)
#define K(N, value) ((TYPE(N))(value))

#if PW_IS_FLOAT(in0)
#if PW_IS_DOUBLE(in0)
#define f_Exp(N, x) exp(x)
#define f_Erf(N, x) erf(x)
#define f_Tanh(N, x) tanh(x)
#else
#define f_Exp(N, x) PW_CAT(pw_exp_, N)(x)
#define f_Erf(N, x) PW_CAT(pw_erf_, N)(x)
#define f_Tanh(N, x) PW_CAT(pw_tanh_, N)(x)
#endif
/* A vector sine with one lane beyond the exact range reduction takes another path for all lanes on PoCL, and there the
 * small ones are wrong (sin(1e-38) is 0.01): far and near lanes go apart. */
#define FAR_FROM 100
#define FAR(NAME) \
    static inline TYPE(VEC) PW_CAT(NAME##_apart_, VEC)(TYPE(VEC) x) \
    { \
        TYPE(VEC) limit = K(VEC, FAR_FROM), size = fabs(x); \
        TYPE(VEC) y = NAME(size > limit ? K(VEC, 0) : x); \
        if (any(size > limit)) \
            y = size > limit ? NAME(size > limit ? x : K(VEC, 10 * FAR_FROM)) : y; \
        return y; \
    }
#if VEC > 1
FAR(sin)
FAR(cos)
FAR(tan)
#endif
#define sin_apart_1(x) sin(x)
#define cos_apart_1(x) cos(x)
#define tan_apart_1(x) tan(x)
#define f_Abs(N, x) fabs(x)
#define f_Acos(N, x) acos(x)
#define f_Acosh(N, x) acosh(x)
#define f_Asin(N, x) asin(x)
#define f_Asinh(N, x) asinh(x)
#define f_Atan(N, x) atan(x)
#define f_Atanh(N, x) atanh(x)
#define f_Ceil(N, x) ceil(x)
#define f_Cos(N, x) PW_CAT(cos_apart_, N)(x)
#define f_Cosh(N, x) cosh(x)
#define f_Floor(N, x) floor(x)
#define f_Log(N, x) log(x)
#define f_Neg(N, x) (-(x))
#define f_Reciprocal(N, x) (K(N, 1) / (x))
#define f_Round(N, x) rint(x)
#define f_Sign(N, x) ((x) != (x) ? (x) : sign(x))
#define f_Sin(N, x) PW_CAT(sin_apart_, N)(x)
#define f_Sinh(N, x) sinh(x)
#define f_Sqrt(N, x) sqrt(x)
#define f_Tan(N, x) PW_CAT(tan_apart_, N)(x)
#define f_IsNaN(N, x) isnan(x)
#else
/* Integers wrap; both comparisons are false or true as they should be for unsigned types too. */
#define f_Abs(N, x) ((x) < K(N, 0) ? K(N, 0) - (x) : (x))
#define f_Neg(N, x) (K(N, 0) - (x))
#define f_Sign(N, x) ((x) < K(N, 0) ? K(N, -1) : (x) > K(N, 0) ? K(N, 1) : K(N, 0))
#define f_BitwiseNot(N, x) (~(x))
#define f_Not(N, x) ((x) ^ K(N, 1))
#endif

#define PW_MAP_MORE
#define MAP(NAME) PW_DEFINE_MAP(map_##NAME, f_##NAME)

#if defined(TESTS)
MAP(IsNaN)
__kernel void map_IsInf(__global const PW_TYPE(in0) *in0, __global PW_TYPE(out0) *out0, const long n, const int chunk,
                        const int negative, const int positive)
{
    long i = (long)get_global_id(0) * chunk, end = min(i + chunk, n);

    for (; i < end; i++) {
        TYPE(1) x = PW_LOAD(in0, i);

        PW_STORE(out0, i, isinf(x) && (x < 0 ? negative : positive));
    }
}
#elif PW_IS_FLOAT(in0)
MAP(Abs)
MAP(Acos)
MAP(Acosh)
MAP(Asin)
MAP(Asinh)
MAP(Atan)
MAP(Atanh)
MAP(Ceil)
MAP(Cos)
MAP(Cosh)
MAP(Erf)
MAP(Exp)
MAP(Floor)
MAP(Log)
MAP(Neg)
MAP(Reciprocal)
MAP(Round)
MAP(Sign)
MAP(Sin)
MAP(Sinh)
MAP(Sqrt)
MAP(Tan)
MAP(Tanh)
#elif defined(LOGIC)
MAP(Not)
#else
MAP(Abs)
MAP(Neg)
MAP(Sign)
MAP(BitwiseNot)
#endif

#ifndef TESTS
/* Min(high, Max(x, low)): NaN stays, crossed bounds give high. */
#define CLIP(N, x) \
    x = bounded_below && x < K(N, low) ? K(N, low) : x; \
    x = bounded_above && x > K(N, high) ? K(N, high) : x

static void clip(__global const PW_TYPE(in0) *in0, __global PW_TYPE(out0) *out0, long n, int chunk, TYPE(1) low,
                 TYPE(1) high, bool bounded_below, bool bounded_above)
{
    long i = (long)get_global_id(0) * chunk, end = min(i + chunk, n);

    for (; i < end; i++) {
        TYPE(1) x = PW_LOAD(in0, i);

        CLIP(1, x);
        PW_STORE(out0, i, x);
    }
}

__kernel void clip_inputs(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in0) *in1,
                          __global const PW_TYPE(in0) *in2, __global PW_TYPE(out0) *out0, const long n, const int chunk)
{
    clip(in0, out0, n, chunk, in1 ? PW_AT_LOAD(in0, in1, 0) : 0, in2 ? PW_AT_LOAD(in0, in2, 0) : 0, in1 != 0, in2 != 0);
}

__kernel void clip_attributes(__global const PW_TYPE(in0) *in0, __global PW_TYPE(out0) *out0, const long n,
                              const int chunk, const float low, const float high)
{
    clip(in0, out0, n, chunk, low, high, true, true);
}
#endif
