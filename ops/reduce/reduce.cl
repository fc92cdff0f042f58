/*
 * Reductions. REDUCTION is the operator's name (ReduceSum, …); the macros below give its start, its step on an
 * element, its step on a partial result and its end.
 *   reduce_rows      [outer][length]: a work-item takes `rows` rows, four vectors of 8 partial results
 *   reduce_part, reduce_join   few long rows: partial results of chunks, then one work-item a row
 *   reduce_columns   [outer][length][inner]: a work-item takes 8 neighbouring columns
 *   reduce_any       any axes, any device: one work-item an output
 * Accumulators: float (double for float64); integers long or ulong, so that sums wrap only when stored. ReduceL2 of what
 * has float's range adds in double where the device has it: squares of small and large elements stay in range.
 */
#define squares_ReduceL2 1
#define narrow_f16 1
#if PW_IS_FLOAT(data) && PW_CAT(squares_, REDUCTION) && !PW_CAT(narrow_, data_dtype) && defined(cl_khr_fp64)
typedef double acc_t;
typedef double8 acc_8;
#define TO_1(x) ((double)(x))
#define TO_8(x) convert_double8(x)
#define FROM_8(v) PW_CAT(convert_, PW_COMPUTE8(reduced))(v)
#elif PW_IS_FLOAT(data)
typedef PW_COMPUTE(data) acc_t;
typedef PW_COMPUTE8(data) acc_8;
#define TO_1(x) (x)
#define TO_8(x) (x)
#elif SIGNED
typedef long acc_t;
typedef long8 acc_8;
#define TO_1(x) ((long)(x))
#define TO_8(x) convert_long8(x)
#else
typedef ulong acc_t;
typedef ulong8 acc_8;
#define TO_1(x) ((ulong)(x))
#define TO_8(x) convert_ulong8(x)
#endif

#if PW_IS_DOUBLE(data)
#define EXP_1(x) exp(x)
#define EXP_8(x) exp(x)
#elif PW_IS_FLOAT(data)
#define EXP_1(x) pw_exp_1(x)
#define EXP_8(x) pw_exp_8(x)
#elif defined(cl_khr_fp64)
#define WIDE double
#else
#define WIDE float
#endif

/* Largest and smallest values to start from. */
#if PW_IS_FLOAT(data)
#define LOWEST ((acc_t)(-INFINITY))
#define HIGHEST ((acc_t)(INFINITY))
#define IS_NAN(x) ((x) != (x))
#define MAGNITUDE(x) fabs(x)
#else
#define LOWEST ((acc_t)(TYPE_MIN))
#define HIGHEST ((acc_t)(TYPE_MAX))
#define IS_NAN(x) 0
#if SIGNED
#define MAGNITUDE(x) ((x) < 0 ? -(x) : (x))
#else
#define MAGNITUDE(x) (x)
#endif
#endif
#define limit_min_i8 CHAR_MIN
#define limit_max_i8 CHAR_MAX
#define limit_min_u8 0
#define limit_max_u8 UCHAR_MAX
#define limit_min_i16 SHRT_MIN
#define limit_max_i16 SHRT_MAX
#define limit_min_u16 0
#define limit_max_u16 USHRT_MAX
#define limit_min_i32 INT_MIN
#define limit_max_i32 INT_MAX
#define limit_min_u32 0
#define limit_max_u32 UINT_MAX
#define limit_min_i64 LONG_MIN
#define limit_max_i64 LONG_MAX
#define limit_min_u64 0
#define limit_max_u64 ULONG_MAX
#define limit_min_bool 0
#define limit_max_bool 1
#define TYPE_MIN PW_CAT3(limit_, min_, data_dtype)
#define TYPE_MAX PW_CAT3(limit_, max_, data_dtype)

/* start, step(acc, x) on an element, join(acc, acc): NaN wins every comparison. */
#define start_ReduceSum ((acc_t)0)
#define start_ReduceMean ((acc_t)0)
#define start_ReduceMax LOWEST
#define start_ReduceMin HIGHEST
#define start_ReduceProd ((acc_t)1)
#define start_ReduceL1 ((acc_t)0)
#define start_ReduceL2 ((acc_t)0)
#define start_ReduceLogSum ((acc_t)0)
#define start_ReduceLogSumExp LOWEST
#define start_ReduceSumSquare ((acc_t)0)
#define step_ReduceSum(a, x) ((a) + (x))
#define step_ReduceMean(a, x) ((a) + (x))
#define step_ReduceMax(a, x) ((x) > (a) || IS_NAN(x) ? (x) : (a))
#define step_ReduceMin(a, x) ((x) < (a) || IS_NAN(x) ? (x) : (a))
#define step_ReduceProd(a, x) ((a) * (x))
#define step_ReduceL1(a, x) ((a) + MAGNITUDE(x))
#define step_ReduceL2(a, x) ((a) + (x) * (x))
#define step_ReduceLogSum(a, x) ((a) + (x))
#define step_ReduceLogSumExp(a, x) step_ReduceMax(a, x)
#define step_ReduceSumSquare(a, x) ((a) + (x) * (x))
#define join_ReduceSum(a, x) ((a) + (x))
#define join_ReduceMean(a, x) ((a) + (x))
#define join_ReduceMax(a, x) step_ReduceMax(a, x)
#define join_ReduceMin(a, x) step_ReduceMin(a, x)
#define join_ReduceProd(a, x) ((a) * (x))
#define join_ReduceL1(a, x) ((a) + (x))
#define join_ReduceL2(a, x) ((a) + (x))
#define join_ReduceLogSum(a, x) ((a) + (x))
#define join_ReduceLogSumExp(a, x) step_ReduceMax(a, x)
#define join_ReduceSumSquare(a, x) ((a) + (x))
#define START PW_CAT(start_, REDUCTION)
#define STEP PW_CAT(step_, REDUCTION)
#define JOIN PW_CAT(join_, REDUCTION)

#define exps_ReduceLogSumExp 1
#define EXPS PW_CAT(exps_, REDUCTION)

/* end: from the joined accumulator to the stored value. */
#if PW_IS_FLOAT(data)
#define end_ReduceMean(a, n) ((a) / (acc_t)(n))
#define end_ReduceL2(a, n) sqrt(a)
#define end_ReduceLogSum(a, n) log(a)
#else
#define end_ReduceMean(a, n) ((n) ? (a) / (acc_t)(n) : (a))
#define end_ReduceL2(a, n) ((acc_t)sqrt((WIDE)(a)))
#define end_ReduceLogSum(a, n) ((acc_t)log((WIDE)(a)))
#endif
#define end_ReduceSum(a, n) (a)
#define end_ReduceMax(a, n) (a)
#define end_ReduceMin(a, n) (a)
#define end_ReduceProd(a, n) (a)
#define end_ReduceL1(a, n) (a)
#define end_ReduceLogSumExp(a, n) (a)
#define end_ReduceSumSquare(a, n) (a)
#define END PW_CAT(end_, REDUCTION)

/* Integers are stored through their own type: sums wrap here. */
#if PW_IS_FLOAT(data)
#define PUT(i, v) PW_STORE(reduced, i, (PW_COMPUTE(reduced))(v))
#ifndef FROM_8
#define FROM_8(v) (v)
#endif
#define PUT8(i, v) PW_STORE8(reduced, i, FROM_8(v))
#else
#define PUT(i, v) PW_STORE(reduced, i, (PW_TYPE(reduced))(v))
#define PUT8(i, v) PW_STORE8(reduced, i, PW_CAT(PW_CAT(convert_, PW_TYPE(reduced)), 8)(v))
#endif
#define GET(i) TO_1(PW_LOAD(data, i))
#define GET8(i) TO_8(PW_LOAD8(data, i))

static inline acc_8 step_8(acc_8 a, acc_8 x)
{
#define start_is_choice_ReduceMax 1
#define start_is_choice_ReduceMin 1
#define start_is_choice_ReduceLogSumExp 1
#if PW_CAT(start_is_choice_, REDUCTION)
    /* a vector's condition: per lane */
#if PW_IS_FLOAT(data)
#define step_8_ReduceMax(a, x) ((x) > (a) || isnan(x) ? (x) : (a))
#define step_8_ReduceMin(a, x) ((x) < (a) || isnan(x) ? (x) : (a))
#else
#define step_8_ReduceMax(a, x) max(a, x)
#define step_8_ReduceMin(a, x) min(a, x)
#endif
#define step_8_ReduceLogSumExp(a, x) step_8_ReduceMax(a, x)
    return PW_CAT(step_8_, REDUCTION)(a, x);
#else
    return STEP(a, x);
#endif
}

static inline acc_8 join_8(acc_8 a, acc_8 x)
{
#if PW_CAT(start_is_choice_, REDUCTION)
    return step_8(a, x);
#else
    return JOIN(a, x);
#endif
}

static inline acc_t across(acc_8 v)
{
    acc_t a = JOIN(v.s0, v.s1), b = JOIN(v.s2, v.s3), c = JOIN(v.s4, v.s5), d = JOIN(v.s6, v.s7);

    a = JOIN(a, b);
    c = JOIN(c, d);
    return JOIN(a, c);
}

/* n neighbouring elements. */
static inline acc_t span(__global const PW_TYPE(data) *data, long at, int n)
{
    acc_8 a0 = (acc_8)(START), a1 = a0, a2 = a0, a3 = a0;
    acc_t a = START;
    int i = 0;

    for (; i + 32 <= n; i += 32) {
        a0 = step_8(a0, GET8(at + i));
        a1 = step_8(a1, GET8(at + i + 8));
        a2 = step_8(a2, GET8(at + i + 16));
        a3 = step_8(a3, GET8(at + i + 24));
    }
    for (; i + 8 <= n; i += 8)
        a0 = step_8(a0, GET8(at + i));
    for (; i < n; i++) {
        acc_t x = GET(at + i);

        a = STEP(a, x);
    }
    {
        acc_t b = across(join_8(join_8(a0, a1), join_8(a2, a3)));

        return JOIN(a, b);
    }
}

/* The second pass of LogSumExp: max + log(sum(exp(x - max))); infinite maxima are the answer. */
#if EXPS && PW_IS_FLOAT(data)
static inline acc_t log_sum_exp(__global const PW_TYPE(data) *data, long at, int n, acc_t m)
{
    acc_8 s8 = (acc_8)(0);
    acc_t s = 0;
    int i = 0;

    if (isinf(m))
        return m;
    for (; i + 8 <= n; i += 8)
        s8 += EXP_8(GET8(at + i) - m);
    for (; i < n; i++)
        s += EXP_1(GET(at + i) - m);
    return m + log(s + ((s8.s0 + s8.s1) + (s8.s2 + s8.s3)) + ((s8.s4 + s8.s5) + (s8.s6 + s8.s7)));
}
#endif

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void reduce_rows(__global const PW_TYPE(data) *data,
                                                                         __global PW_TYPE(reduced) *reduced, int outer,
                                                                         int length, int rows)
{
    int first = get_global_id(0) * rows, last = min(first + rows, outer);

    for (int r = first; r < last; r++) {
        acc_t a = span(data, (long)r * length, length);
#if EXPS && PW_IS_FLOAT(data)
        a = log_sum_exp(data, (long)r * length, length, a);
#endif
        PUT(r, END(a, length));
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void reduce_part(__global const PW_TYPE(data) *data,
                                                                         __global acc_t *parts, int length, int chunk)
{
    int c = get_global_id(0), row = get_global_id(1);

    parts[(long)row * get_global_size(0) + c] =
        span(data, (long)row * length + (long)c * chunk, min(chunk, length - c * chunk));
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void reduce_join(__global const acc_t *parts,
                                                                         __global PW_TYPE(reduced) *reduced,
                                                                         int chunks, int length)
{
    int row = get_global_id(0);
    acc_t a = START;

    for (int c = 0; c < chunks; c++) {
        acc_t p = parts[(long)row * chunks + c];

        a = JOIN(a, p);
    }
    PUT(row, END(a, length));
}

/* One output over strided terms. */
static inline acc_t column(__global const PW_TYPE(data) *data, long at, int length, int stride)
{
    acc_t a = START;

    for (int i = 0; i < length; i++) {
        acc_t x = GET(at + (long)i * stride);

        a = STEP(a, x);
    }
#if EXPS && PW_IS_FLOAT(data)
    if (!isinf(a)) {
        acc_t s = 0;

        for (int i = 0; i < length; i++)
            s += EXP_1(GET(at + (long)i * stride) - a);
        a += log(s);
    }
#endif
    return a;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void reduce_columns(__global const PW_TYPE(data) *data,
                                                                            __global PW_TYPE(reduced) *reduced,
                                                                            int length, int inner)
{
    int c = get_global_id(0) * 8;
    long from = (long)get_global_id(1) * length * inner + c, to = (long)get_global_id(1) * inner + c;
    acc_8 a = (acc_8)(START), b = a;
    acc_t out[8];
    int i = 0;

    if (c + 8 > inner) {
        for (; c < inner; c++, from++, to++)
            PUT(to, END(column(data, from, length, inner), length));
        return;
    }
    for (; i + 2 <= length; i += 2) {
        a = step_8(a, GET8(from + (long)i * inner));
        b = step_8(b, GET8(from + (long)(i + 1) * inner));
    }
    if (i < length)
        a = step_8(a, GET8(from + (long)i * inner));
    a = join_8(a, b);
#if EXPS && PW_IS_FLOAT(data)
    b = (acc_8)(0);
    for (i = 0; i < length; i++)
        b += EXP_8(GET8(from + (long)i * inner) - a);
    a = isinf(a) ? a : a + log(b);
#endif
    vstore8(a, 0, out);
    for (i = 0; i < 8; i++)
        PUT(to + i, END(out[i], length));
}

__kernel void reduce_any(__global const PW_TYPE(data) *data, __global PW_TYPE(reduced) *reduced, int outputs, int terms,
                         int kept_rank, __global const int *kept_dims, __global const int *kept_strides, int sum_rank,
                         __global const int *sum_dims, __global const int *sum_strides)
{
    int id = get_global_id(0), rest = id;
    long base = 0;
    acc_t a = START;

    if (id >= outputs)
        return;
    for (int d = kept_rank - 1; d >= 0; d--) {
        base += (long)(rest % kept_dims[d]) * kept_strides[d];
        rest /= kept_dims[d];
    }
#define EACH_TERM(statement) \
    for (int i = 0; i < terms; i++) { \
        long at = base; \
        int left = i; \
        for (int d = sum_rank - 1; d >= 0; d--) { \
            at += (long)(left % sum_dims[d]) * sum_strides[d]; \
            left /= sum_dims[d]; \
        } \
        acc_t x = GET(at); \
        statement \
    }
    EACH_TERM(a = STEP(a, x);)
#if EXPS && PW_IS_FLOAT(data)
    if (!isinf(a)) {
        acc_t s = 0;

        EACH_TERM(s += EXP_1(x - a);)
        a += log(s);
    }
#elif EXPS
    {
        WIDE s = 0;

        EACH_TERM(s += exp((WIDE)x - (WIDE)a);)
        PUT(id, (WIDE)a + log(s));
        return;
    }
#endif
    PUT(id, END(a, terms));
}
