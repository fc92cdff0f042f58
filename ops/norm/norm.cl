/*
 * Normalization over sets of elements: y = (x - mean) * factor * scale + bias.
 *   norm_*_rows   sets are contiguous rows of `segments` x `length` elements: two passes for mean and variance,
 *                 one to write, in vectors of 8; a work-item takes several rows
 *   norm_*_any    any layout, any device: one work-item a set, walking strides
 * KIND is LAYER, INSTANCE, GROUP, BATCH (training), RMS, LP or MEAN_VARIANCE. in1 and in2 are scale and bias; where
 * the operator has none, callers pass 0. Arithmetic in float (double for float64), the variance from
 * differences to the mean.
 */
#ifndef in1_dtype
#define in1_dtype in0_dtype
#endif
#ifndef in2_dtype
#define in2_dtype in1_dtype
#endif
#define is_lp_LP 1
#define is_mv_MEAN_VARIANCE 1
#define narrow_f16 1
/* Arithmetic in double where the input or a parameter is, and for LpNormalization of what has float's range, whose squares
 * would leave it. Parameters and outputs may be of other types than the input:
 * vectors are converted, scalars convert themselves. */
#if PW_IS_DOUBLE(in0) || PW_IS_DOUBLE(in1) || \
    (PW_CAT(is_lp_, KIND) && !PW_CAT(narrow_, in0_dtype) && defined(cl_khr_fp64))
#define ACC double
#else
#define ACC float
#endif
typedef ACC acc_t;
typedef PW_VEC(ACC, 8) acc_8;
#define LOAD8_ACC(X, i) PW_CAT(convert_, PW_VEC(ACC, 8))(PW_LOAD8(X, i))
#define STORE8_OUT(i, v) PW_STORE8(out0, i, PW_CAT(convert_, PW_COMPUTE8(out0))(v))

#define uncentred_RMS 1
#define uncentred_LP 1
#define CENTRES (!PW_CAT(uncentred_, KIND))

static inline acc_t sum_of_8(acc_8 v)
{
    return ((v.s0 + v.s1) + (v.s2 + v.s3)) + ((v.s4 + v.s5) + (v.s6 + v.s7));
}

/* One term of the second sum. ORDER is 1 only for LpNormalization with p = 1. */
#if ORDER == 1
#define TERM(d) fabs(d)
#else
#define TERM(d) ((d) * (d))
#endif

/* Sum of x, or of TERM(x - mean), over n elements `stride` apart. */
static inline acc_t span_sum(__global const PW_TYPE(in0) *in0, long at, int n, int stride)
{
    acc_8 a = (acc_8)(0), b = a;
    acc_t s = 0;
    int i = 0;

    if (stride == 1) {
        for (; i + 16 <= n; i += 16) {
            a += LOAD8_ACC(in0, at + i);
            b += LOAD8_ACC(in0, at + i + 8);
        }
    }
    for (; i < n; i++)
        s += PW_LOAD(in0, at + (long)i * stride);
    return s + sum_of_8(a + b);
}

static inline acc_t span_terms(__global const PW_TYPE(in0) *in0, long at, int n, int stride, acc_t mean)
{
    acc_8 a = (acc_8)(0), b = a;
    acc_t s = 0;
    int i = 0;

    if (stride == 1) {
        for (; i + 16 <= n; i += 16) {
            acc_8 d = LOAD8_ACC(in0, at + i) - mean, e = LOAD8_ACC(in0, at + i + 8) - mean;

            a += TERM(d);
            b += TERM(e);
        }
    }
    for (; i < n; i++) {
        acc_t d = PW_LOAD(in0, at + (long)i * stride) - mean;

        s += TERM(d);
    }
    return s + sum_of_8(a + b);
}

static inline acc_t norm_factor(acc_t sum, long n, float epsilon)
{
#if PW_CAT(is_lp_, KIND)
    acc_t size = ORDER == 1 ? sum : sqrt(sum);

    return size == 0 ? (acc_t)0 : (acc_t)1 / size;
#elif PW_CAT(is_mv_, KIND)
    return (acc_t)1 / (sqrt(sum / (acc_t)n) + (acc_t)1e-9f);
#else
    return (acc_t)1 / sqrt(sum / (acc_t)n + (acc_t)epsilon);
#endif
}

/* n neighbouring elements with one parameter for all (step 0) or one each (step 1). */
static inline __attribute__((always_inline)) void span_apply(__global const PW_TYPE(in0) *in0,
                                                             __global PW_TYPE(out0) *out0, long at, int n, acc_t mean,
                                                             acc_t factor, __global const PW_TYPE(in1) *in1,
                                                             __global const PW_TYPE(in2) *in2, long p, int step)
{
    int i = 0;

    if (step == 0) {
        acc_t scale = in1 ? factor * PW_LOAD(in1, p) : factor, bias = in2 ? PW_LOAD(in2, p) : (acc_t)0;

        for (; i + 8 <= n; i += 8)
            STORE8_OUT(at + i, (LOAD8_ACC(in0, at + i) - mean) * scale + bias);
        for (; i < n; i++)
            PW_STORE(out0, at + i, (PW_LOAD(in0, at + i) - mean) * scale + bias);
        return;
    }
    for (; i + 8 <= n; i += 8) {
        acc_8 y = (LOAD8_ACC(in0, at + i) - mean) * factor;

        if (in1)
            y *= LOAD8_ACC(in1, p + i);
        if (in2)
            y += LOAD8_ACC(in2, p + i);
        STORE8_OUT(at + i, y);
    }
    for (; i < n; i++) {
        acc_t y = (PW_LOAD(in0, at + i) - mean) * factor;

        if (in1)
            y *= PW_LOAD(in1, p + i);
        if (in2)
            y += PW_LOAD(in2, p + i);
        PW_STORE(out0, at + i, y);
    }
}

static inline __attribute__((always_inline)) void norm_row(__global const PW_TYPE(in0) *in0,
                                                           __global const PW_TYPE(in1) *in1,
                                                           __global const PW_TYPE(in2) *in2,
                                                           __global PW_TYPE(out0) *out0, int row, int segments,
                                                           int length, int period, int row_step, int segment_step,
                                                           int step, float epsilon, acc_t *mean, acc_t *factor)
{
    int n = segments * length;
    long at = (long)row * n;

#if CENTRES
    *mean = span_sum(in0, at, n, 1) / (acc_t)n;
#else
    *mean = 0;
#endif
    *factor = norm_factor(span_terms(in0, at, n, 1, *mean), n, epsilon);
    for (int s = 0; s < segments; s++)
        span_apply(in0, out0, at + (long)s * length, length, *mean, *factor, in1, in2,
                   (long)(row % period) * row_step + (long)s * segment_step, step);
}

/* Walks the dims outside of the innermost one of a set; the body has `at`, `scale_at` and `bias_at`. */
#define EACH_LINE(body) \
    for (int line = 0; line < lines; line++) { \
        int left = line; \
        long at = x0, scale_at = s0, bias_at = b0; \
        for (int d = set_rank - 2; d >= 0; d--) { \
            int i = left % set_dims[d]; \
            left /= set_dims[d]; \
            at += (long)i * set_x[d]; \
            scale_at += (long)i * set_scale[d]; \
            bias_at += (long)i * set_bias[d]; \
        } \
        body \
    }

static inline __attribute__((always_inline)) void norm_set(
    __global const PW_TYPE(in0) *in0, __global const PW_TYPE(in1) *in1, __global const PW_TYPE(in2) *in2,
    __global PW_TYPE(out0) *out0, int set, int terms, int kept_rank, __global const int *kept_dims,
    __global const int *kept_x, __global const int *kept_scale, __global const int *kept_bias, int set_rank,
    __global const int *set_dims, __global const int *set_x, __global const int *set_scale,
    __global const int *set_bias, float epsilon, acc_t *mean, acc_t *variance, acc_t *factor, long *parameter)
{
    long x0 = 0, s0 = 0, b0 = 0;
    int last = set_rank - 1, n = set_rank ? set_dims[last] : 1, lines = n ? terms / n : 0;
    int x_step = set_rank ? set_x[last] : 1, scale_step = set_rank ? set_scale[last] : 0;
    int bias_step = set_rank ? set_bias[last] : 0;
    acc_t sum = 0;

    for (int d = kept_rank - 1; d >= 0; d--) {
        int i = set % kept_dims[d];

        set /= kept_dims[d];
        x0 += (long)i * kept_x[d];
        s0 += (long)i * kept_scale[d];
        b0 += (long)i * kept_bias[d];
    }
    *mean = 0;
#if CENTRES
    EACH_LINE(sum += span_sum(in0, at, n, x_step);)
    *mean = sum / (acc_t)terms;
    sum = 0;
#endif
    EACH_LINE(sum += span_terms(in0, at, n, x_step, *mean);)
    *variance = sum / (acc_t)terms;
    *factor = norm_factor(sum, terms, epsilon);
    *parameter = s0;
    EACH_LINE(
        for (int i = 0; i < n; i++) {
            acc_t y = (PW_LOAD(in0, at + (long)i * x_step) - *mean) * *factor;

            if (in1)
                y *= PW_LOAD(in1, scale_at + (long)i * scale_step);
            if (in2)
                y += PW_LOAD(in2, bias_at + (long)i * bias_step);
            PW_STORE(out0, at + (long)i * x_step, y);
        })
}

#define ROWS_ARGS int rows, int each, int segments, int length, int period, int row_step, int segment_step, int step
#define EACH_ROW(in1, in2, keep) \
    int first = get_global_id(0) * each, last = min(first + each, rows); \
    for (int row = first; row < last; row++) { \
        acc_t mean, factor; \
        norm_row(in0, in1, in2, out0, row, segments, length, period, row_step, segment_step, step, epsilon, &mean, \
                 &factor); \
        keep \
    }
#define ANY_ARGS \
    int sets, int terms, int kept_rank, __global const int *kept_dims, __global const int *kept_x, \
        __global const int *kept_scale, __global const int *kept_bias, int set_rank, __global const int *set_dims, \
        __global const int *set_x, __global const int *set_scale, __global const int *set_bias
#define ONE_SET(in1, in2) \
    int set = get_global_id(0); \
    acc_t mean, variance, factor; \
    long parameter; \
    if (set >= sets) \
        return; \
    norm_set(in0, in1, in2, out0, set, terms, kept_rank, kept_dims, kept_x, kept_scale, kept_bias, set_rank, set_dims, \
             set_x, set_scale, set_bias, epsilon, &mean, &variance, &factor, &parameter);
#define ONE_ITEM __attribute__((reqd_work_group_size(1, 1, 1)))

#if FORM == 0 /* LayerNormalization: scale, bias, statistics */
__kernel ONE_ITEM void norm_layer_rows(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in1) *in1,
                                       __global const PW_TYPE(in2) *in2, __global PW_TYPE(out0) *out0,
                                       __global PW_TYPE(out1) *out1, __global PW_TYPE(out2) *out2, ROWS_ARGS,
                                       float epsilon)
{
    EACH_ROW(in1, in2, if (out1) PW_STORE(out1, row, mean); if (out2) PW_STORE(out2, row, factor);)
}
__kernel void norm_layer_any(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in1) *in1,
                             __global const PW_TYPE(in2) *in2, __global PW_TYPE(out0) *out0,
                             __global PW_TYPE(out1) *out1, __global PW_TYPE(out2) *out2, ANY_ARGS, float epsilon)
{
    ONE_SET(in1, in2)
    if (out1)
        PW_STORE(out1, set, mean);
    if (out2)
        PW_STORE(out2, set, factor);
}
#elif FORM == 1 /* scale and bias */
__kernel ONE_ITEM void norm_affine_rows(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in1) *in1,
                                        __global const PW_TYPE(in2) *in2, __global PW_TYPE(out0) *out0, ROWS_ARGS,
                                        float epsilon)
{
    EACH_ROW(in1, in2, )
}
__kernel void norm_affine_any(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in1) *in1,
                              __global const PW_TYPE(in2) *in2, __global PW_TYPE(out0) *out0, ANY_ARGS, float epsilon)
{
    ONE_SET(in1, in2)
}
#elif FORM == 2 /* scale only */
__kernel ONE_ITEM void norm_scale_rows(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in1) *in1,
                                       __global PW_TYPE(out0) *out0, ROWS_ARGS, float epsilon)
{
    EACH_ROW(in1, 0, )
}
__kernel void norm_scale_any(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in1) *in1,
                             __global PW_TYPE(out0) *out0, ANY_ARGS, float epsilon)
{
    ONE_SET(in1, 0)
}
#elif FORM == 3 /* no parameters */
__kernel ONE_ITEM void norm_bare_rows(__global const PW_TYPE(in0) *in0, __global PW_TYPE(out0) *out0, ROWS_ARGS)
{
    float epsilon = 0.0f;

    EACH_ROW(0, 0, )
}
__kernel void norm_bare_any(__global const PW_TYPE(in0) *in0, __global PW_TYPE(out0) *out0, ANY_ARGS)
{
    float epsilon = 0.0f;

    ONE_SET(0, 0)
}
#else /* BatchNormalization in training: in3, in4 are the running statistics, out1.. the new ones */
static inline acc_t blend(acc_t old, acc_t fresh, float momentum)
{
    return old * (acc_t)momentum + fresh * ((acc_t)1 - (acc_t)momentum);
}
__kernel void norm_batch_training(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in1) *in1,
                                  __global const PW_TYPE(in2) *in2, __global const PW_TYPE(in3) *in3,
                                  __global const PW_TYPE(in4) *in4, __global PW_TYPE(out0) *out0,
                                  __global PW_TYPE(out1) *out1, __global PW_TYPE(out2) *out2,
#if FORM == 4 /* before version 14 the batch's own statistics are outputs too */
                                  __global PW_TYPE(out3) *out3, __global PW_TYPE(out4) *out4,
#endif
                                  ANY_ARGS, float epsilon, float momentum)
{
    ONE_SET(in1, in2)
    if (out1)
        PW_STORE(out1, parameter, blend(PW_LOAD(in3, parameter), mean, momentum));
    if (out2)
        PW_STORE(out2, parameter, blend(PW_LOAD(in4, parameter), variance, momentum));
#if FORM == 4
    if (out3)
        PW_STORE(out3, parameter, mean);
    if (out4)
        PW_STORE(out4, parameter, variance);
#endif
}
#endif
