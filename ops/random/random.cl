/*
 * Draws from Philox words by counter, the same words as the reference's: element i of a call with key `key`.
 *   random_uniform, random_normal   a work-item makes `chunk` blocks of four words and their elements
 *   bernoulli        word i below ceil(p * 2^32)
 *   multinomial_sums, multinomial_pick   cumulative weights of each row, then a binary search a sample
 *   dropout          word i below the threshold drops; kept elements are scaled
 *   dropout_copy     inference: a copy in elements of a size, and a mask of ones
 */
#define STREAM 0x72616e64UL

#if defined(output_dtype)
typedef PW_COMPUTE(output) out_t;
#endif

#if defined(UNIFORM) || defined(NORMAL)
/* float64: 53 bits of two words. */
static inline out_t unit_of(uint a, uint b)
{
#if PW_IS_DOUBLE(output)
    return (out_t)((((ulong)a << 32) | b) >> 11) * (out_t)0x1p-53;
#else
    return PW_UNIT(a);
#endif
}
#endif

#if defined(UNIFORM)
#if PW_IS_DOUBLE(output)
#define PER_BLOCK 2
#else
#define PER_BLOCK 4
#endif
#elif defined(NORMAL)
#if PW_IS_DOUBLE(output)
#define PER_BLOCK 1
#define STEP ((out_t)0x1p-53)
#else
#define PER_BLOCK 2
#define STEP ((out_t)0x1p-24)
#endif
#endif

#if defined(UNIFORM) || defined(NORMAL)
__kernel void random_fill(__global PW_TYPE(output) *output, long key, float base, float end, int size, int chunk)
{
    int first = get_global_id(0) * chunk, last = min(first + chunk, (size + PER_BLOCK - 1) / PER_BLOCK);

    for (int b = first; b < last; b++) {
        uint4 w = pw_philox((ulong)key, STREAM, (ulong)b);
        uint words[4] = {w.x, w.y, w.z, w.w};

        for (int k = 0; k < PER_BLOCK && b * PER_BLOCK + k < size; k++) {
            const uint *p = words + k * (4 / PER_BLOCK);
#if defined(UNIFORM)
            out_t value = fma((out_t)end - (out_t)base, unit_of(p[0], p[4 / PER_BLOCK - 1]), (out_t)base);
#else
            /* Box and Muller: the logarithm gets (0,1]. */
            out_t radius = sqrt((out_t)(-2) * log(unit_of(p[0], p[1]) + STEP));
            out_t value = fma((out_t)end, radius * cospi(2 * unit_of(p[4 / PER_BLOCK / 2], p[4 / PER_BLOCK - 1])),
                              (out_t)base);
#endif
            PW_STORE(output, b * PER_BLOCK + k, value);
        }
    }
}
#endif

static inline uint word_of(long key, int i)
{
    uint4 w = pw_philox((ulong)key, STREAM, (ulong)(i / 4));
    int k = i % 4;

    return k == 0 ? w.x : k == 1 ? w.y : k == 2 ? w.z : w.w;
}

#if defined(BERNOULLI)
static inline ulong threshold_of(PW_COMPUTE(input) p)
{
    if (!(p > 0))
        return 0;
    return p >= 1 ? 1UL << 32 : convert_ulong(ceil(p * (PW_COMPUTE(input))4294967296.0f));
}

__kernel void bernoulli(__global const PW_TYPE(input) *input, __global PW_TYPE(output) *output, long key, int size)
{
    int b = get_global_id(0);
    uint4 w = pw_philox((ulong)key, STREAM, (ulong)b);
    uint words[4] = {w.x, w.y, w.z, w.w};

    for (int k = 0; k < 4 && b * 4 + k < size; k++) {
        ulong threshold = threshold_of(PW_LOAD(input, b * 4 + k));

        PW_STORE(output, b * 4 + k, (out_t)(words[k] < threshold ? 1 : 0));
    }
}
#endif

#if defined(MULTINOMIAL)
typedef PW_COMPUTE(input) acc_t;
#if PW_IS_DOUBLE(input)
#define EXP(x) exp(x)
#else
#define EXP(x) pw_exp_1(x)
#endif

__kernel void multinomial_sums(__global const PW_TYPE(input) *input, __global acc_t *sums, int classes)
{
    long at = (long)get_global_id(0) * classes;
    acc_t max = (acc_t)(-INFINITY), sum = 0;

    for (int i = 0; i < classes; i++)
        max = fmax(max, PW_LOAD(input, at + i));
    for (int i = 0; i < classes; i++) {
        sum += EXP(PW_LOAD(input, at + i) - max);
        sums[at + i] = sum;
    }
}

/* The first class whose cumulative weight is above a uniform draw of the whole. */
__kernel void multinomial_pick(__global const acc_t *sums, __global PW_TYPE(output) *output, long key, int classes,
                               int samples, int size)
{
    int i = get_global_id(0), low = 0, high = classes - 1;

    if (i >= size)
        return;
    sums += (long)(i / samples) * classes;
    acc_t at = (acc_t)PW_UNIT(word_of(key, i)) * sums[classes - 1];

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (sums[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    /* The product may have been rounded up to the whole: then the last class that has a weight. */
    while (low > 0 && sums[low - 1] == sums[low])
        low--;
    PW_STORE(output, i, (out_t)low);
}
#endif

#if defined(DROPOUT)
__kernel void dropout(__global const PW_TYPE(data) *data, __global PW_TYPE(output) *output,
                      __global PW_TYPE(mask) *mask, long key, long threshold, PW_COMPUTE(data) scale, int size)
{
    int b = get_global_id(0);
    uint4 w = pw_philox((ulong)key, STREAM, (ulong)b);
    uint words[4] = {w.x, w.y, w.z, w.w};

    for (int k = 0; k < 4 && b * 4 + k < size; k++) {
        int kept = words[k] >= (ulong)threshold;

        PW_STORE(output, b * 4 + k, kept ? PW_LOAD(data, b * 4 + k) * scale : (out_t)0);
        if (mask)
            PW_STORE(mask, b * 4 + k, (PW_COMPUTE(mask))kept);
    }
}
#endif

#if defined(DROPOUT_COPY)
__kernel void dropout_copy(__global const PW_MOVE(data) *data, __global PW_MOVE(output) *output,
                           __global PW_TYPE(mask) *mask, int size)
{
    int i = get_global_id(0);

    if (i >= size)
        return;
    output[i] = data[i];
    if (mask)
        PW_STORE(mask, i, (PW_COMPUTE(mask))1);
}
#endif
