/*
 * NegativeLogLikelihoodLoss and, with SOFTMAX 1, SoftmaxCrossEntropyLoss over [batch][classes][inner] and labels
 * [batch][inner]. in0 the scores, in1 the labels, in2 a weight for each class or NULL.
 *   loss_samples   a work-item takes `chunk` samples: the losses themselves, or when they are reduced the sum of the
 *                  chunk's losses and of its weights
 *   loss_join      sums those and divides for the mean
 * inner = 1: maximum and sum of exponentials along a row in vectors of 8; else 8 neighbouring columns together.
 * An ignored sample counts nothing. A label that is no class gives NaN. LOG_PROB: the log-softmax is stored too.
 */
typedef PW_COMPUTE(in0) acc_t;
typedef PW_COMPUTE8(in0) acc_8;
#if SOFTMAX
#if PW_IS_DOUBLE(in0)
#define EXP_1(x) exp(x)
#define EXP_8(x) exp(x)
#else
#define EXP_1(x) pw_exp_1(x)
#define EXP_8(x) pw_exp_8(x)
#endif

static inline acc_t max_of_8(acc_8 v)
{
    return fmax(fmax(fmax(v.s0, v.s1), fmax(v.s2, v.s3)), fmax(fmax(v.s4, v.s5), fmax(v.s6, v.s7)));
}

static inline acc_t sum_of_8(acc_8 v)
{
    return ((v.s0 + v.s1) + (v.s2 + v.s3)) + ((v.s4 + v.s5) + (v.s6 + v.s7));
}

/* Maximum and log-sum of a column whose elements are `step` apart. NaN comes through the sum. */
static inline acc_t column(__global const PW_TYPE(in0) *in0, long at, int n, long step, acc_t *max_out)
{
    acc_t m = (acc_t)(-INFINITY), sum = 0;
    int i = 0;

    if (step == 1) {
        acc_8 m8 = (acc_8)((acc_t)(-INFINITY)), s8 = (acc_8)((acc_t)(0));

        for (; i + 8 <= n; i += 8) {
            acc_8 v = PW_LOAD8(in0, at + i);

            m8 = v > m8 ? v : m8;
        }
        m = max_of_8(m8);
        for (; i < n; i++)
            m = fmax(m, PW_LOAD(in0, at + i));
        for (i = 0; i + 8 <= n; i += 8)
            s8 += EXP_8(PW_LOAD8(in0, at + i) - m);
        sum = sum_of_8(s8);
    } else {
        for (; i < n; i++)
            m = fmax(m, PW_LOAD(in0, at + i * step));
        i = 0;
    }
    for (; i < n; i++)
        sum += EXP_1(PW_LOAD(in0, at + i * step) - m);
    *max_out = m;
    return log(sum);
}

/* The same for 8 neighbouring columns. */
static inline acc_8 columns(__global const PW_TYPE(in0) *in0, long at, int n, long step, acc_8 *max_out)
{
    acc_8 m = (acc_8)((acc_t)(-INFINITY)), sum = (acc_8)((acc_t)(0));

    for (int i = 0; i < n; i++) {
        acc_8 v = PW_LOAD8(in0, at + i * step);

        m = v > m ? v : m;
    }
    for (int i = 0; i < n; i++)
        sum += EXP_8(PW_LOAD8(in0, at + i * step) - m);
    *max_out = m;
    return log(sum);
}
#endif

/* Loss of one sample from its column's maximum and log-sum (0 and 0 for logarithms), its weight in *share. */
static inline acc_t sample_loss(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in2) *in2, long at, long label,
                                int classes, long step, int has_ignored, long ignored, acc_t max, acc_t log_sum,
                                acc_t *share)
{
    acc_t weight = 1;

    *share = 0;
    if (has_ignored && label == ignored)
        return 0;
    if (label < 0 || label >= classes)
        return NAN;
    if (in2)
        weight = PW_LOAD(in2, label);
    *share = weight;
    return -((PW_LOAD(in0, at + label * step) - max) - log_sum) * weight;
}

__kernel void loss_samples(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in1) *in1,
                           __global const PW_TYPE(in2) *in2, __global PW_TYPE(out0) *out0,
#if SOFTMAX
                           __global PW_TYPE(out1) *out1,
#endif
                           __global acc_t *parts, int items, int samples, int classes, int inner, int chunk,
                           int reduces, int has_ignored, long ignored)
{
    int id = get_global_id(0), s = id * chunk, last = min(s + chunk, samples);
    acc_t sum = 0, weights = 0;

    if (id >= items)
        return;
    while (s < last) {
        long at = (long)(s / inner) * classes * inner + s % inner;
        int count = inner - s % inner >= 8 && last - s >= 8 ? 8 : 1;
        acc_t max[8] = {0}, log_sum[8] = {0};
#if SOFTMAX
        if (count == 8) {
            acc_8 m, l = columns(in0, at, classes, inner, &m);

            vstore8(m, 0, max);
            vstore8(l, 0, log_sum);
#if LOG_PROB
            for (int i = 0; i < classes; i++)
                PW_STORE8(out1, at + (long)i * inner, (PW_LOAD8(in0, at + (long)i * inner) - m) - l);
#endif
        } else {
            log_sum[0] = column(in0, at, classes, inner, &max[0]);
#if LOG_PROB
            for (int i = 0; i < classes; i++)
                PW_STORE(out1, at + (long)i * inner, (PW_LOAD(in0, at + (long)i * inner) - max[0]) - log_sum[0]);
#endif
        }
#endif
        for (int k = 0; k < count; k++, s++) {
            acc_t share, loss = sample_loss(in0, in2, at + k, PW_LOAD(in1, s), classes, inner, has_ignored, ignored,
                                            max[k], log_sum[k], &share);

            if (!reduces)
                PW_STORE(out0, s, loss);
            sum += loss;
            weights += share;
        }
    }
    if (reduces) {
        parts[2 * id] = sum;
        parts[2 * id + 1] = weights;
    }
}

__kernel void loss_join(__global const acc_t *parts, __global PW_TYPE(out0) *out0, int items, int means)
{
    acc_t sum = 0, weights = 0;

    if (get_global_id(0) > 0)
        return;
    for (int i = 0; i < items; i++) {
        sum += parts[2 * i];
        weights += parts[2 * i + 1];
    }
    PW_STORE(out0, 0, means ? sum / weights : sum);
}
