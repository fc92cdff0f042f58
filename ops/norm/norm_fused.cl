/*
 * LayerNorm and RMSNorm of rows that are sums: input + skip + bias (FORM 0 with beta, 1 without), input alone
 * (FORM 2), or three embeddings (FORM 3). A work-item takes `each` rows: mean, squared differences, write; the
 * terms are added again in each pass, which costs less than storing them.
 */
#if FORM == 3
#define S_dtype in2_dtype
#else
#define S_dtype in0_dtype
#endif
/* Arithmetic in double where the input or a parameter is. Parameters and outputs may be of other types than the input:
 * vectors are converted, scalars convert themselves. */
#if PW_IS_DOUBLE(S) || PW_IS_DOUBLE(in1)
#define ACC double
#else
#define ACC float
#endif
typedef ACC acc_t;
typedef PW_VEC(ACC, 8) acc_8;
#define LOAD8_ACC(X, i) PW_CAT(convert_, PW_VEC(ACC, 8))(PW_LOAD8(X, i))
#define TERM8(p, i) PW_CAT(convert_, PW_VEC(ACC, 8))(PW_AT_LOAD8(S, p, i))
#define STORE8_OUT(i, v) PW_STORE8(out0, i, PW_CAT(convert_, PW_COMPUTE8(out0))(v))

struct row_source {
    __global const PW_TYPE(S) *a, *b, *c; /* b, c may be NULL */
};

static inline acc_t term(const struct row_source *s, int i)
{
    acc_t v = PW_AT_LOAD(S, s->a, i);

    if (s->b)
        v += PW_AT_LOAD(S, s->b, i);
    if (s->c)
        v += PW_AT_LOAD(S, s->c, i);
    return v;
}

static inline acc_8 term8(const struct row_source *s, int i)
{
    acc_8 v = TERM8(s->a, i);

    if (s->b)
        v += TERM8(s->b, i);
    if (s->c)
        v += TERM8(s->c, i);
    return v;
}

static inline acc_t sum_of_8(acc_8 v)
{
    return ((v.s0 + v.s1) + (v.s2 + v.s3)) + ((v.s4 + v.s5) + (v.s6 + v.s7));
}

static inline void statistics(const struct row_source *s, int n, float epsilon, acc_t *mean, acc_t *factor)
{
    acc_8 a = (acc_8)(0);
    acc_t sum = 0;
    int i = 0;

    *mean = 0;
#if CENTRES
    for (; i + 8 <= n; i += 8)
        a += term8(s, i);
    for (; i < n; i++)
        sum += term(s, i);
    *mean = (sum + sum_of_8(a)) / (acc_t)n;
#endif
    a = (acc_8)(0);
    sum = 0;
    for (i = 0; i + 8 <= n; i += 8) {
        acc_8 d = term8(s, i) - *mean;

        a += d * d;
    }
    for (; i < n; i++) {
        acc_t d = term(s, i) - *mean;

        sum += d * d;
    }
    *factor = (acc_t)1 / sqrt((sum + sum_of_8(a)) / (acc_t)n + (acc_t)epsilon);
}

/* GAMMA, BETA: names of the parameters; OUT, SUM: of the outputs. */
#define WRITE_ROW(row, GAMMA, has_beta, BETA, SUM) \
    { \
        long to = (long)(row) * length; \
        int i = 0; \
        for (; i + 8 <= length; i += 8) { \
            acc_8 s = term8(&source, i), y = (s - mean) * factor * LOAD8_ACC(GAMMA, i); \
            if (has_beta) \
                y += LOAD8_ACC(BETA, i); \
            STORE8_OUT(to + i, y); \
            if (SUM) \
                PW_AT_STORE8(S, SUM, to + i, PW_CAT(convert_, PW_COMPUTE8(S))(s)); \
        } \
        for (; i < length; i++) { \
            acc_t s = term(&source, i), y = (s - mean) * factor * PW_LOAD(GAMMA, i); \
            if (has_beta) \
                y += PW_LOAD(BETA, i); \
            PW_STORE(out0, to + i, y); \
            if (SUM) \
                PW_AT_STORE(S, SUM, to + i, s); \
        } \
    }
#define ONE_ITEM __attribute__((reqd_work_group_size(1, 1, 1)))
#define EACH_ROW for (int row = get_global_id(0) * each, last = min(row + each, rows); row < last; row++)

#if FORM == 0 || FORM == 1
#define gamma_dtype in0_dtype
#define beta_dtype in0_dtype
static inline void skip_rows_of(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in0) *skip,
                                __global const PW_TYPE(in0) *gamma, __global const PW_TYPE(in0) *beta,
                                __global const PW_TYPE(in0) *bias, __global PW_TYPE(out0) *out0, __global float *out1,
                                __global float *out2, __global PW_TYPE(out0) *sums, int rows, int each, int length,
                                int skip_rows, float epsilon)
{
    EACH_ROW
    {
        struct row_source source = {in0 + (long)row * length, skip + (long)(row % skip_rows) * length, bias};
        acc_t mean, factor;

        statistics(&source, length, epsilon, &mean, &factor);
        WRITE_ROW(row, gamma, beta, beta, sums)
        if (out1)
            out1[row] = mean;
        if (out2)
            out2[row] = factor;
    }
}
#endif

#if FORM == 0
__kernel ONE_ITEM void norm_skip(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in0) *in1,
                                 __global const PW_TYPE(in0) *in2, __global const PW_TYPE(in0) *in3,
                                 __global const PW_TYPE(in0) *in4, __global PW_TYPE(out0) *out0, __global float *out1,
                                 __global float *out2, __global PW_TYPE(out0) *out3, int rows, int each, int length,
                                 int skip_rows, float epsilon)
{
    skip_rows_of(in0, in1, in2, in3, in4, out0, out1, out2, out3, rows, each, length, skip_rows, epsilon);
}
#elif FORM == 1
__kernel ONE_ITEM void norm_skip_without_beta(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in0) *in1,
                                              __global const PW_TYPE(in0) *in2, __global const PW_TYPE(in0) *in3,
                                              __global PW_TYPE(out0) *out0, __global float *out1, __global float *out2,
                                              __global PW_TYPE(out0) *out3, int rows, int each, int length,
                                              int skip_rows, float epsilon)
{
    skip_rows_of(in0, in1, in2, 0, in3, out0, out1, out2, out3, rows, each, length, skip_rows, epsilon);
}
#elif FORM == 2
__kernel ONE_ITEM void norm_simplified(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in1) *in1,
                                       __global PW_TYPE(out0) *out0, __global float *out1, int rows, int each,
                                       int length, float epsilon)
{
    __global PW_TYPE(S) *none = 0;

    EACH_ROW
    {
        struct row_source source = {in0 + (long)row * length, 0, 0};
        acc_t mean, factor;

        statistics(&source, length, epsilon, &mean, &factor);
        WRITE_ROW(row, in1, 0, in1, none)
        if (out1)
            out1[row] = factor;
    }
}
#else
__kernel ONE_ITEM void norm_embed(__global const int *in0, __global const int *in1, __global const PW_TYPE(in2) *in2,
                                  __global const PW_TYPE(in3) *in3, __global const PW_TYPE(in4) *in4,
                                  __global const PW_TYPE(in5) *in5, __global const PW_TYPE(in6) *in6,
                                  __global const int *in8, __global PW_TYPE(out0) *out0, __global PW_TYPE(out0) *out2,
                                  int rows, int each, int length, int sequence, int position_rows, int words,
                                  int positions, int segments, float epsilon)
{
    EACH_ROW
    {
        int word = clamp(in0[row], 0, words - 1), segment = in1 ? clamp(in1[row], 0, segments - 1) : 0;
        int position = clamp(in8 ? in8[row % position_rows] : row % sequence, 0, positions - 1);
        struct row_source source = {in2 + (long)word * length, in3 + (long)position * length,
                                    in4 ? in4 + (long)segment * length : 0};
        acc_t mean, factor;

        statistics(&source, length, epsilon, &mean, &factor);
        WRITE_ROW(row, in5, 1, in6, out2)
    }
}

/* Position of the first 0 of each sample's mask. */
__kernel void norm_embed_mask(__global const int *in7, __global int *out1, int batch, int sequence)
{
    int b = get_global_id(0), n = 0;

    if (b >= batch)
        return;
    while (in7 && n < sequence && in7[(long)b * sequence + n] != 0)
        n++;
    out1[b] = n;
}
#endif
