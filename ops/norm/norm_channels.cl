/*
 * BatchNormalization in test mode, and LRN: [outer][channels][inner].
 *   batch_channels   a work-item takes `each` planes of `inner` elements; with inner = 1 it runs over channels
 *   batch_plain      one work-item an element, any device
 *   lrn_planes       a work-item takes one plane, 8 positions at a time, over the window of channels
 *   lrn_plain        one work-item an element, any device
 * y = (x - mean) * (scale / sqrt(variance + epsilon)) + bias: the difference first, so that nothing cancels later.
 */
#ifdef in4_dtype
/* Arithmetic in double where the input or a parameter is. Parameters and outputs may be of other types than the input:
 * vectors are converted, scalars convert themselves. */
#if PW_IS_DOUBLE(in0) || PW_IS_DOUBLE(in1)
#define ACC double
#else
#define ACC float
#endif
typedef ACC acc_t;
typedef PW_VEC(ACC, 8) acc_8;
#define LOAD8_ACC(X, i) PW_CAT(convert_, PW_VEC(ACC, 8))(PW_LOAD8(X, i))
#define STORE8_OUT(i, v) PW_STORE8(out0, i, PW_CAT(convert_, PW_COMPUTE8(out0))(v))

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void batch_channels(
    __global const PW_TYPE(in0) *in0, __global const PW_TYPE(in1) *in1, __global const PW_TYPE(in2) *in2,
    __global const PW_TYPE(in3) *in3, __global const PW_TYPE(in4) *in4, __global PW_TYPE(out0) *out0, int planes,
    int each, int channels, int inner, float epsilon)
{
    int first = get_global_id(0) * each, last = min(first + each, planes), p = first;

    for (; inner == 1 && p < last;) { /* whole vectors of channels that do not wrap around */
        int c = p % channels;

        if (c + 8 <= channels && p + 8 <= last) {
            acc_8 factor = LOAD8_ACC(in1, c) / sqrt(LOAD8_ACC(in4, c) + (acc_t)epsilon);

            STORE8_OUT(p, (LOAD8_ACC(in0, p) - LOAD8_ACC(in3, c)) * factor + LOAD8_ACC(in2, c));
            p += 8;
        } else {
            acc_t factor = PW_LOAD(in1, c) / sqrt(PW_LOAD(in4, c) + (acc_t)epsilon);

            PW_STORE(out0, p, (PW_LOAD(in0, p) - PW_LOAD(in3, c)) * factor + PW_LOAD(in2, c));
            p++;
        }
    }
    for (; p < last; p++) {
        int c = p % channels, i = 0;
        long at = (long)p * inner;
        acc_t factor = PW_LOAD(in1, c) / sqrt(PW_LOAD(in4, c) + (acc_t)epsilon), mean = PW_LOAD(in3, c);
        acc_t bias = PW_LOAD(in2, c);

        for (; i + 8 <= inner; i += 8)
            STORE8_OUT(at + i, (LOAD8_ACC(in0, at + i) - mean) * factor + bias);
        for (; i < inner; i++)
            PW_STORE(out0, at + i, (PW_LOAD(in0, at + i) - mean) * factor + bias);
    }
}

__kernel void batch_plain(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in1) *in1,
                          __global const PW_TYPE(in2) *in2, __global const PW_TYPE(in3) *in3,
                          __global const PW_TYPE(in4) *in4, __global PW_TYPE(out0) *out0, int count, int channels,
                          int inner, float epsilon)
{
    int i = get_global_id(0), c = i / inner % channels;

    if (i < count)
        PW_STORE(out0, i,
                 (PW_LOAD(in0, i) - PW_LOAD(in3, c)) * (PW_LOAD(in1, c) / sqrt(PW_LOAD(in4, c) + (acc_t)epsilon)) +
                     PW_LOAD(in2, c));
}
#else
typedef PW_COMPUTE(X) acc_t;
typedef PW_COMPUTE8(X) acc_8;

/* base^-beta; the usual exponent by two square roots. */
#define POWER(base) (beta == 0.75f ? (acc_t)1 / (sqrt(base) * sqrt(sqrt(base))) : pow(base, (acc_t)(-beta)))

#if PW_IS_DOUBLE(X)
PW_DEFINE_LANES(power_8, pow, double, 8)
#else
#define power_8(x, y) pow(x, y)
#endif

static inline acc_t lrn_one(__global const PW_TYPE(X) *X, long base, int c, int from, int to, int inner, acc_t alpha,
                            float beta, float bias)
{
    acc_t sum = 0;

    for (int k = from; k <= to; k++) {
        acc_t v = PW_LOAD(X, base + (long)k * inner);

        sum += v * v;
    }
    sum = (acc_t)bias + alpha * sum;
    return PW_LOAD(X, base + (long)c * inner) * POWER(sum);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void lrn_planes(__global const PW_TYPE(X) *X,
                                                                        __global PW_TYPE(Y) *Y, int channels,
                                                                        int inner, int size, float alpha, float beta,
                                                                        float bias)
{
    int c = get_global_id(0), from = max(0, c - (size - 1) / 2), to = min(channels - 1, c + size / 2), i = 0;
    long base = (long)get_global_id(1) * channels * inner;

    for (; i + 8 <= inner; i += 8) {
        acc_8 sum = (acc_8)(0), y;

        for (int k = from; k <= to; k++) {
            acc_8 v = PW_LOAD8(X, base + (long)k * inner + i);

            sum += v * v;
        }
        sum = (acc_t)bias + (acc_t)alpha / (acc_t)size * sum;
        if (beta == 0.75f)
            y = PW_LOAD8(X, base + (long)c * inner + i) / (sqrt(sum) * sqrt(sqrt(sum)));
        else
            y = PW_LOAD8(X, base + (long)c * inner + i) * power_8(sum, (acc_8)(-beta));
        PW_STORE8(Y, base + (long)c * inner + i, y);
    }
    for (; i < inner; i++)
        PW_STORE(Y, base + (long)c * inner + i, lrn_one(X, base + i, c, from, to, inner, (acc_t)alpha / (acc_t)size, beta, bias));
}

__kernel void lrn_plain(__global const PW_TYPE(X) *X, __global PW_TYPE(Y) *Y, int count, int channels, int inner,
                        int size, float alpha, float beta, float bias)
{
    int id = get_global_id(0), c = id / inner % channels;
    long base = (long)(id / inner / channels) * channels * inner + id % inner;

    if (id < count)
        PW_STORE(Y, id, lrn_one(X, base, c, max(0, c - (size - 1) / 2), min(channels - 1, c + size / 2), inner,
                                (acc_t)alpha / (acc_t)size, beta, bias));
}
#endif
