/*
 * Softmax and LogSoftmax over [outer][length][inner], Hardmax.
 *   softmax_rows      inner = 1: a work-item takes `rows` whole rows
 *   softmax_columns   inner > 1: a work-item takes 8 neighbouring columns of one outer index
 *   softmax_part, softmax_join   few long rows: chunks of `chunk` elements give (maximum, sum); the second
 *                     launch combines them and writes
 *   softmax_plain     one work-item a column, any device
 * Arithmetic in float (double for float64). Where x is stored in 16 bits the exponentials are computed again
 * in the last pass, so that nothing is rounded twice. LOG_FORM is 1 for LogSoftmax.
 */
typedef PW_COMPUTE(input) acc_t;
typedef PW_COMPUTE8(input) acc_8;
#if PW_IS_DOUBLE(input)
#define EXP_1(x) exp(x)
#define EXP_8(x) exp(x)
#define LOWEST ((acc_t)(-INFINITY))
#else
#define EXP_1(x) pw_exp_1(x)
#define EXP_8(x) pw_exp_8(x)
#define LOWEST (-INFINITY)
#endif

static inline acc_t max_of_8(acc_8 v)
{
    acc_t a = fmax(fmax(v.s0, v.s1), fmax(v.s2, v.s3)), b = fmax(fmax(v.s4, v.s5), fmax(v.s6, v.s7));

    return fmax(a, b);
}

static inline acc_t sum_of_8(acc_8 v)
{
    return ((v.s0 + v.s1) + (v.s2 + v.s3)) + ((v.s4 + v.s5) + (v.s6 + v.s7));
}

/* The largest of n elements from `at`. NaN is passed over here; it comes back through the sum. */
static inline acc_t span_max(__global const PW_TYPE(input) *input, long at, int n)
{
    acc_8 m8 = (acc_8)(LOWEST);
    acc_t m;
    int i = 0;

    for (; i + 8 <= n; i += 8) {
        acc_8 v = PW_LOAD8(input, at + i);

        m8 = v > m8 ? v : m8;
    }
    m = max_of_8(m8);
    for (; i < n; i++)
        m = fmax(m, PW_LOAD(input, at + i));
    return m;
}

/* Sum of exp(x - m). */
static inline acc_t span_sum(__global const PW_TYPE(input) *input, long at, int n, acc_t m)
{
    acc_8 s8 = (acc_8)(0), t8 = (acc_8)(0);
    acc_t s = 0;
    int i = 0;

    for (; i + 16 <= n; i += 16) {
        s8 += EXP_8(PW_LOAD8(input, at + i) - m);
        t8 += EXP_8(PW_LOAD8(input, at + i + 8) - m);
    }
    for (; i + 8 <= n; i += 8)
        s8 += EXP_8(PW_LOAD8(input, at + i) - m);
    for (; i < n; i++)
        s += EXP_1(PW_LOAD(input, at + i) - m);
    return s + sum_of_8(s8 + t8);
}

/* y = exp(x - m) * scale, or (x - m) - shift. */
static inline void span_write(__global const PW_TYPE(input) *input, __global PW_TYPE(output) *output, long at, int n,
                              acc_t m, acc_t sum)
{
    int i = 0;
#if LOG_FORM
    acc_t shift = log(sum);

    for (; i + 8 <= n; i += 8)
        PW_STORE8(output, at + i, (PW_LOAD8(input, at + i) - m) - shift);
    for (; i < n; i++)
        PW_STORE(output, at + i, (PW_LOAD(input, at + i) - m) - shift);
#else
    acc_t scale = (acc_t)(1) / sum;

    for (; i + 8 <= n; i += 8)
        PW_STORE8(output, at + i, EXP_8(PW_LOAD8(input, at + i) - m) * scale);
    for (; i < n; i++)
        PW_STORE(output, at + i, EXP_1(PW_LOAD(input, at + i) - m) * scale);
#endif
}

/* Sum of exp(x - m), the exponentials kept in the output (float and double storage). */
static inline acc_t span_sum_keep(__global const PW_TYPE(input) *input, __global PW_TYPE(output) *output, long at,
                                  int n, acc_t m)
{
    acc_8 s8 = (acc_8)(0);
    acc_t s = 0;
    int i = 0;

    for (; i + 8 <= n; i += 8) {
        acc_8 e = EXP_8(PW_LOAD8(input, at + i) - m);

        PW_STORE8(output, at + i, e);
        s8 += e;
    }
    for (; i < n; i++) {
        acc_t e = EXP_1(PW_LOAD(input, at + i) - m);

        PW_STORE(output, at + i, e);
        s += e;
    }
    return s + sum_of_8(s8);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void softmax_rows(__global const PW_TYPE(input) *input,
                                                                          __global PW_TYPE(output) *output, int outer,
                                                                          int length, int rows)
{
    int first = get_global_id(0) * rows, last = min(first + rows, outer);

    for (int r = first; r < last; r++) {
        long at = (long)r * length;
        acc_t m = span_max(input, at, length);
#if LOG_FORM || output_bytes < 4
        span_write(input, output, at, length, m, span_sum(input, at, length, m));
#else
        acc_t scale = (acc_t)(1) / span_sum_keep(input, output, at, length, m);
        int i = 0;

        for (; i + 8 <= length; i += 8)
            PW_STORE8(output, at + i, PW_LOAD8(output, at + i) * scale);
        for (; i < length; i++)
            PW_STORE(output, at + i, PW_LOAD(output, at + i) * scale);
#endif
    }
}

/* Chunk get_global_id(0) of row get_global_id(1): (maximum, sum of exp(x - maximum)). */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void softmax_part(__global const PW_TYPE(input) *input,
                                                                          __global acc_t *parts, int length, int chunk)
{
    int c = get_global_id(0), row = get_global_id(1), n = min(chunk, length - c * chunk);
    long at = (long)row * length + (long)c * chunk, to = 2 * ((long)row * get_global_size(0) + c);
    acc_t m = span_max(input, at, n);

    parts[to] = m;
    /* A chunk that is wholly -inf counts nothing, unless the whole row is: then the join finds NaN. */
    parts[to + 1] = m == LOWEST ? 0 : span_sum(input, at, n, m);
    for (int i = 0; m == LOWEST && i < n; i++) {
        if (isnan(PW_LOAD(input, at + i)))
            parts[to + 1] = NAN;
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void softmax_join(__global const PW_TYPE(input) *input,
                                                                          __global const acc_t *parts,
                                                                          __global PW_TYPE(output) *output, int length,
                                                                          int chunk)
{
    int c = get_global_id(0), row = get_global_id(1), chunks = get_global_size(0);
    __global const acc_t *p = parts + 2 * (long)row * chunks;
    acc_t m = LOWEST, sum = 0;

    for (int i = 0; i < chunks; i++)
        m = fmax(m, p[2 * i]);
    for (int i = 0; i < chunks; i++)
        sum += p[2 * i + 1] * EXP_1(p[2 * i] - m); /* wholly -inf: NaN */
    span_write(input, output, (long)row * length + (long)c * chunk, min(chunk, length - c * chunk), m, sum);
}

/* Columns c0 to c0 + n of one outer index; n is 8 or less. */
static inline void column_one(__global const PW_TYPE(input) *input, __global PW_TYPE(output) *output, long at,
                              int length, int inner)
{
    acc_t m = LOWEST, sum = 0;

    for (int i = 0; i < length; i++)
        m = fmax(m, PW_LOAD(input, at + (long)i * inner));
    for (int i = 0; i < length; i++)
        sum += EXP_1(PW_LOAD(input, at + (long)i * inner) - m);
#if LOG_FORM
    sum = log(sum);
    for (int i = 0; i < length; i++)
        PW_STORE(output, at + (long)i * inner, (PW_LOAD(input, at + (long)i * inner) - m) - sum);
#else
    sum = (acc_t)(1) / sum;
    for (int i = 0; i < length; i++)
        PW_STORE(output, at + (long)i * inner, EXP_1(PW_LOAD(input, at + (long)i * inner) - m) * sum);
#endif
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void softmax_columns(__global const PW_TYPE(input) *input,
                                                                             __global PW_TYPE(output) *output,
                                                                             int length, int inner)
{
    int c = get_global_id(0) * 8;
    long at = (long)get_global_id(1) * length * inner + c;
    acc_8 m = (acc_8)(LOWEST), sum = (acc_8)(0);

    if (c + 8 > inner) {
        for (; c < inner; c++, at++)
            column_one(input, output, at, length, inner);
        return;
    }
    for (int i = 0; i < length; i++) {
        acc_8 v = PW_LOAD8(input, at + (long)i * inner);

        m = v > m ? v : m;
    }
    for (int i = 0; i < length; i++)
        sum += EXP_8(PW_LOAD8(input, at + (long)i * inner) - m);
#if LOG_FORM
    sum = log(sum);
    for (int i = 0; i < length; i++)
        PW_STORE8(output, at + (long)i * inner, (PW_LOAD8(input, at + (long)i * inner) - m) - sum);
#else
    sum = (acc_t)(1) / sum;
    for (int i = 0; i < length; i++)
        PW_STORE8(output, at + (long)i * inner, EXP_8(PW_LOAD8(input, at + (long)i * inner) - m) * sum);
#endif
}

__kernel void softmax_plain(__global const PW_TYPE(input) *input, __global PW_TYPE(output) *output, int columns,
                            int length, int inner)
{
    int id = get_global_id(0);

    if (id < columns)
        column_one(input, output, (long)(id / inner) * length * inner + id % inner, length, inner);
}

/* 1 at the first largest element of the column. */
__kernel void hardmax_columns(__global const PW_TYPE(input) *input, __global PW_TYPE(output) *output, int columns,
                              int length, int inner)
{
    int id = get_global_id(0), best = 0;
    long at = (long)(id / inner) * length * inner + id % inner;
    acc_t most;

    if (id >= columns || length == 0)
        return;
    most = PW_LOAD(input, at);
    for (int i = 1; i < length; i++) {
        acc_t v = PW_LOAD(input, at + (long)i * inner);

        if (v > most) {
            most = v;
            best = i;
        }
    }
    for (int i = 0; i < length; i++)
        PW_STORE(output, at + (long)i * inner, i == best ? (acc_t)(1) : (acc_t)(0));
}
