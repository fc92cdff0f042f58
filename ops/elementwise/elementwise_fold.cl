/*
 * y = f(a, b) with broadcasting.
 * Algorithm: the host has merged dims that all operands walk alike. What is left is `rows` of `inner`
 * elements in which each operand steps by 1 or stays; where a row begins in each operand comes from its index and the
 * strides in `walk` (dims, then strides of operand 0, of operand 1…).
 * Tiling: a unit is a piece of a row; a work-item takes per_item units. On a CPU at most 64 work-items.
 * Chains fold more than two operands through an accumulator in the type of the arithmetic, so that float16 rounds once.
 */
#ifndef in1_dtype
#define in1_dtype in0_dtype
#endif
#define TYPE(N) PW_COMPUTEN(in0, N)
#define K(N, value) ((TYPE(N))(value))
#define CONVERT(N, v) PW_CAT(convert_, TYPE(N))(v)

#define pw_signed_i8 1
#define pw_signed_i16 1
#define pw_signed_i32 1
#define pw_signed_i64 1
#define SIGNED PW_CAT(pw_signed_, in0_dtype)
#define BITS ((int)sizeof(TYPE(1)) * 8)

#define g_Equal(N, u, v) ((u) == (v))
#define g_Greater(N, u, v) ((u) > (v))
#define g_GreaterOrEqual(N, u, v) ((u) >= (v))
#define g_Less(N, u, v) ((u) < (v))
#define g_LessOrEqual(N, u, v) ((u) <= (v))
#define g_Add(N, u, v) ((u) + (v))
#define g_Sub(N, u, v) ((u) - (v))
#define g_Mul(N, u, v) ((u) * (v))
#define g_Sum(N, u, v) ((u) + (v))
#define g_PRelu(N, u, v) ((u) < K(N, 0) ? (u) * (v) : (u))

#if PW_IS_FLOAT(in0)
#define g_Div(N, u, v) ((u) / (v))
#define g_Mean(N, u, v) (((u) + (v)) * K(N, 0.5f))
#if PW_IS_DOUBLE(in0)
#if VEC > 1
PW_DEFINE_LANES(PW_CAT(fmod_lanes_, VEC), fmod, double, VEC)
PW_DEFINE_LANES(PW_CAT(pow_lanes_, VEC), pow, double, VEC)
#endif
#define fmod_lanes_1(u, v) fmod(u, v)
#define pow_lanes_1(u, v) pow(u, v)
#define FMOD(N, u, v) PW_CAT(fmod_lanes_, N)(u, v)
#else
#define FMOD(N, u, v) fmod(u, v)
#endif
#define g_Fmod(N, u, v) FMOD(N, u, v)
#define g_Mod(N, u, v) PW_CAT(floor_mod_, N)(u, v)
/* NaN of either side wins. */
#define g_Max(N, u, v) (((u) > (v)) | ((u) != (u)) ? (u) : (v))
#define g_Min(N, u, v) (((u) < (v)) | ((u) != (u)) ? (u) : (v))

/* The sign of the divisor, a zero too. */
#define FLOOR_MOD(N) \
    static inline TYPE(N) floor_mod_##N(TYPE(N) u, TYPE(N) v) \
    { \
        TYPE(N) r = FMOD(N, u, v); \
        TYPE(N) moved = (r < K(N, 0)) != (v < K(N, 0)) ? r + v : r; \
        return r == K(N, 0) ? copysign(r, v) : moved; \
    }
#define FLOOR_MOD_(N) FLOOR_MOD(N)
#else
#define g_Max(N, u, v) ((u) > (v) ? (u) : (v))
#define g_Min(N, u, v) ((u) < (v) ? (u) : (v))
#define g_BitwiseAnd(N, u, v) ((u) & (v))
#define g_BitwiseOr(N, u, v) ((u) | (v))
#define g_BitwiseXor(N, u, v) ((u) ^ (v))
/* A division by 0 gives 0, and none reaches the processor, nor one of the smallest integer by -1. */
#if SIGNED
#define TAME(N, v) (((v) == K(N, 0)) | ((v) == K(N, -1)) ? K(N, 1) : (v))
#define g_Div(N, u, v) ((v) == K(N, 0) ? K(N, 0) : (v) == K(N, -1) ? K(N, 0) - (u) : (u) / TAME(N, v))
#define g_Fmod(N, u, v) ((v) == K(N, 0) ? K(N, 0) : (u) % TAME(N, v))
#define g_Mod(N, u, v) PW_CAT(floor_mod_, N)(u, v)
#define FLOOR_MOD(N) \
    static inline TYPE(N) floor_mod_##N(TYPE(N) u, TYPE(N) v) \
    { \
        TYPE(N) r = g_Fmod(N, u, v); \
        return (r != K(N, 0)) & ((r < K(N, 0)) != (v < K(N, 0))) ? r + v : r; \
    }
#define FLOOR_MOD_(N) FLOOR_MOD(N)
#define g_ShiftLeft(N, u, v) (((v) < K(N, 0)) | ((v) >= K(N, BITS)) ? K(N, 0) : (u) << ((v) & K(N, BITS - 1)))
#define g_ShiftRight(N, u, v) ((u) >> (((v) < K(N, 0)) | ((v) >= K(N, BITS)) ? K(N, BITS - 1) : (v)))
#else
#define g_Div(N, u, v) ((v) == K(N, 0) ? K(N, 0) : (u) / ((v) == K(N, 0) ? K(N, 1) : (v)))
#define g_Fmod(N, u, v) ((v) == K(N, 0) ? K(N, 0) : (u) % ((v) == K(N, 0) ? K(N, 1) : (v)))
#define g_Mod(N, u, v) g_Fmod(N, u, v)
#define g_ShiftLeft(N, u, v) ((v) >= K(N, BITS) ? K(N, 0) : (u) << ((v) & K(N, BITS - 1)))
#define g_ShiftRight(N, u, v) ((v) >= K(N, BITS) ? K(N, 0) : (u) >> ((v) & K(N, BITS - 1)))
#endif
#endif
/* bool: bytes of 0 and 1. */
#define g_And(N, u, v) ((u) & (v))
#define g_Or(N, u, v) ((u) | (v))
#define g_Xor(N, u, v) ((u) ^ (v))

#define A(N, i) PW_AT_LOADN(in0, N, a, i)
#define B(N, i) CONVERT(N, PW_AT_LOADN(in1, N, b, i))
#define C(N, i, v) PW_AT_STOREN(out0, N, c, i, v)

/* One run: both step, or one stays. G(N, u, v) is the function. */
#define RUN(G) \
    if (step_a && step_b) { \
        for (; i + VEC <= end; i += VEC) { \
            TYPE(VEC) u = A(VEC, i), v = B(VEC, i); \
            C(VEC, i, G(VEC, u, v)); \
        } \
        for (; i < end; i++) { \
            TYPE(1) u = A(1, i), v = B(1, i); \
            C(1, i, G(1, u, v)); \
        } \
    } else if (step_a) { \
        TYPE(1) v = B(1, 0); \
        TYPE(VEC) w = (TYPE(VEC))(v); \
        for (; i + VEC <= end; i += VEC) { \
            TYPE(VEC) u = A(VEC, i); \
            C(VEC, i, G(VEC, u, w)); \
        } \
        for (; i < end; i++) { \
            TYPE(1) u = A(1, i); \
            C(1, i, G(1, u, v)); \
        } \
    } else { \
        TYPE(1) u = A(1, 0); \
        TYPE(VEC) w = (TYPE(VEC))(u); \
        for (; step_b && i + VEC <= end; i += VEC) { \
            TYPE(VEC) v = B(VEC, i); \
            C(VEC, i, G(VEC, w, v)); \
        } \
        for (; i < end; i++) { \
            TYPE(1) v = B(1, step_b ? i : 0); \
            C(1, i, G(1, u, v)); \
        } \
    }

#define WALK \
    __global const int *walk, const int rank, const long rows, const long inner, const int step_a, const int step_b, \
        const int piece, const int pieces, const int per_item

#define EACH_UNIT \
    long unit = (long)get_global_id(0) * per_item, last = min(unit + per_item, rows * pieces); \
    for (; unit < last; unit++)

#define UNIT \
    long row = unit / pieces; \
    long i = unit % pieces * piece, end = min(i + piece, inner); \
    __global const PW_TYPE(in0) *a = in0 + row_start(walk, rank, 0, row); \
    __global const PW_TYPE(in1) *b = in1 + row_start(walk, rank, 1, row); \
    __global PW_TYPE(out0) *c = out0 + row * inner

#define FOLD(NAME) \
    __kernel void fold_##NAME(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in1) *in1, \
                              __global PW_TYPE(out0) *out0, WALK) \
    { \
        EACH_UNIT \
        { \
            UNIT; \
            RUN(g_##NAME) \
        } \
    }

/* Operand `operand` of many: acc = f(acc, x); the first starts, the last goes to the output. */
#define CHAIN(NAME) \
    __kernel void chain_##NAME(__global const PW_TYPE(in0) *in0, __global TYPE(1) *acc, __global PW_TYPE(out0) *out0, \
                               WALK, const int operand, const int count) \
    { \
        EACH_UNIT \
        { \
            long row = unit / pieces; \
            long i = unit % pieces * piece, end = min(i + piece, inner); \
            __global const PW_TYPE(in0) *a = in0 + row_start(walk, rank, operand, row); \
            for (; i < end; i++) { \
                TYPE(1) u = A(1, step_a ? i : 0), v = u; \
                if (operand > 0) { \
                    v = acc[row * inner + i]; \
                    v = h_##NAME(v, u); \
                } \
                if (operand < count - 1) \
                    acc[row * inner + i] = v; \
                else \
                    PW_STORE(out0, row * inner + i, e_##NAME(v, count)); \
            } \
        } \
    }
#define h_Max(u, v) g_Max(1, u, v)
#define h_Min(u, v) g_Min(1, u, v)
#define h_Sum(u, v) ((u) + (v))
#define h_Mean(u, v) ((u) + (v))
#define e_Max(v, count) (v)
#define e_Min(v, count) (v)
#define e_Sum(v, count) (v)
#define e_Mean(v, count) ((v) / (count))

#if defined(TESTS)
FOLD(Equal)
FOLD(Greater)
FOLD(GreaterOrEqual)
FOLD(Less)
FOLD(LessOrEqual)
#elif defined(LOGIC)
FOLD(And)
FOLD(Or)
FOLD(Xor)
FOLD(Equal)
#elif defined(POWERS)
#if PW_IS_FLOAT(in0)
#define g_Square(N, u, v) ((u) * (u))
#define g_Cube(N, u, v) ((u) * (u) * (u))
#define g_Inverse(N, u, v) (K(N, 1) / (u))
#if defined(cl_khr_fp64) && !PW_IS_DOUBLE(in0)
/*
 * |x|^y in double, so that y * log2 |x| keeps the bits that a large result needs: half a unit in the last place of
 * float. A vector with a zero, an infinity, a NaN or a denormal base goes to the built-in function.
 */
#define DEFINE_POWER(N, F, I, D, L) \
    PW_DEFINE_POWER(wide_power_##N, D, L) \
    static inline F power_##N(F x, F y) \
    { \
        I bits = as_##I(x) & 0x7fffffff; \
        if (any((bits < 0x00800000) | (bits >= 0x7f800000) | ((as_##I(y) & 0x7fffffff) >= 0x7f800000))) \
            return pow(x, y); \
        F result = convert_##F(wide_power_##N(convert_##D(fabs(x)), convert_##D(y))); \
        /* A negative base: its sign where y is odd, NaN where y is no integer. */ \
        F half_y = y * 0.5f; \
        I whole = y == trunc(y), odd = whole & (half_y != trunc(half_y)) & (fabs(y) < 16777216.0f); \
        F turned = select(select((F)(NAN), result, whole), -result, odd); \
        return select(result, turned, x < 0); \
    }
#if VEC == 4
DEFINE_POWER(4, float4, int4, double4, long4)
#elif VEC == 8
DEFINE_POWER(8, float8, int8, double8, long8)
#elif VEC == 16
DEFINE_POWER(16, float16, int16, double16, long16)
#endif
#define power_1(x, y) pow(x, y)
#define g_Pow(N, u, v) PW_CAT(power_, N)(u, v)
#elif PW_IS_DOUBLE(in0)
#define g_Pow(N, u, v) PW_CAT(pow_lanes_, N)(u, v)
#else
#define g_Pow(N, u, v) pow(u, v)
#endif
__kernel void fold_Pow(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in1) *in1,
                       __global PW_TYPE(out0) *out0, WALK)
{
    EACH_UNIT
    {
        UNIT;
        TYPE(1) exponent = B(1, 0);

        /* One exponent for the run, and nearly always one of these. */
        if (!step_b && exponent == 2) {
            RUN(g_Square)
        } else if (!step_b && exponent == 3) {
            RUN(g_Cube)
        } else if (!step_b && exponent == -1) {
            RUN(g_Inverse)
        } else {
            RUN(g_Pow)
        }
    }
}
#elif PW_IS_FLOAT(in1)
/* An integer base: through double, truncated. */
__kernel void fold_Pow(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in1) *in1,
                       __global PW_TYPE(out0) *out0, WALK)
{
    EACH_UNIT
    {
        UNIT;
        for (; i < end; i++)
            c[i] = (TYPE(1))pow((double)A(1, step_a ? i : 0), (double)PW_AT_LOAD(in1, b, step_b ? i : 0));
    }
}
#else
static TYPE(1) power(TYPE(1) x, TYPE(1) y)
{
    TYPE(1) result = 1;

    if (y < 0)
        return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : 0;
    for (; y; y >>= 1) {
        if (y & 1)
            result *= x;
        x *= x;
    }
    return result;
}

__kernel void fold_Pow(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in1) *in1,
                       __global PW_TYPE(out0) *out0, WALK)
{
    EACH_UNIT
    {
        UNIT;
        for (; i < end; i++)
            c[i] = power(A(1, step_a ? i : 0), B(1, step_b ? i : 0));
    }
}
#endif
#elif defined(MANY)
FOLD(Max)
FOLD(Min)
CHAIN(Max)
CHAIN(Min)
#if PW_IS_FLOAT(in0)
FOLD(Sum)
FOLD(Mean)
CHAIN(Sum)
CHAIN(Mean)
#endif
#else
#ifdef FLOOR_MOD_
FLOOR_MOD(1)
FLOOR_MOD_(VEC)
#endif
FOLD(Add)
FOLD(Sub)
FOLD(Mul)
FOLD(Div)
FOLD(Mod)
FOLD(Fmod)
FOLD(PRelu)
#if !PW_IS_FLOAT(in0)
FOLD(ShiftLeft)
FOLD(ShiftRight)
FOLD(BitwiseAnd)
FOLD(BitwiseOr)
FOLD(BitwiseXor)
#endif
#endif
