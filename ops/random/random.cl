/*
 * Draws from Philox words by counter, the same words as the reference's: element i of a call with key `key`.
 *   random_fill      RandomUniform and RandomNormal
 *   bernoulli        word i below ceil(p * 2^32)
 *   dropout          word i below the threshold drops; kept elements are scaled
 *   multinomial_sums, multinomial_pick   cumulative weights of each row, then a binary search a sample
 *   dropout_copy     inference: a copy in elements of a size, and a mask of ones
 * Eight blocks of four words are made at once, one a lane, and put in the order of the elements: 32 words. A work-item
 * of the first three makes some such groups.
 */
#define STREAM 0x72616e64u

#if defined(output_dtype)
typedef PW_COMPUTE(output) out_t;
typedef PW_COMPUTE8(output) out_8;
#endif

/* Blocks first to first + 7 (below 2^32): word k of block first + l is lane l of w[k]. */
static inline void eight_blocks(long key, uint first, uint8 w[4])
{
    uint8 c0 = first + (uint8)(0, 1, 2, 3, 4, 5, 6, 7), c1 = (uint8)(0u), c2 = (uint8)(STREAM), c3 = (uint8)(0u);
    uint k0 = (uint)(ulong)key, k1 = (uint)((ulong)key >> 32);

    for (int round = 0; round < 10; round++) {
        uint8 hi0 = mul_hi((uint8)(0xD2511F53u), c0), lo0 = 0xD2511F53u * c0;
        uint8 hi1 = mul_hi((uint8)(0xCD9E8D57u), c2), lo1 = 0xCD9E8D57u * c2;

        c0 = hi1 ^ c1 ^ k0;
        c1 = lo1;
        c2 = hi0 ^ c3 ^ k1;
        c3 = lo0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    w[0] = c0;
    w[1] = c1;
    w[2] = c2;
    w[3] = c3;
}

/* The same 32 words in order: word i is lane i % 8 of r[i / 8]. */
static inline void ordered_words(long key, uint first, uint8 r[4])
{
    uint8 w[4];

    eight_blocks(key, first, w);
#define ROW(a, b) (uint8)(w[0].a, w[1].a, w[2].a, w[3].a, w[0].b, w[1].b, w[2].b, w[3].b)
    r[0] = ROW(s0, s1);
    r[1] = ROW(s2, s3);
    r[2] = ROW(s4, s5);
    r[3] = ROW(s6, s7);
}

#if defined(UNIFORM) || defined(NORMAL)
#if PW_IS_DOUBLE(output)
#define UNIT(a, b) (convert_double8((convert_ulong8(a) << 32 | convert_ulong8(b)) >> 11) * (out_t)0x1p-53)
#define STEP ((out_t)0x1p-53)
#else
#define UNIT(a, b) (convert_float8((a) >> 8) * 0x1p-24f)
#define STEP 0x1p-24f
#endif
#if defined(NORMAL) && PW_IS_DOUBLE(output)
#define ROWS 1 /* of eight elements that eight blocks make */
#elif defined(NORMAL) || PW_IS_DOUBLE(output)
#define ROWS 2
#else
#define ROWS 4
#endif

/* Box and Muller: the logarithm gets (0,1]. */
static inline out_8 normal_of(out_8 u, out_8 v)
{
    return sqrt((out_t)(-2) * log(u + STEP)) * cospi((out_t)2 * v);
}

/* Rows of standard draws of the eight blocks from `first`. */
static inline void draw_rows(long key, uint first, out_8 rows[ROWS])
{
    uint8 w[4];

#if ROWS == 1
    eight_blocks(key, first, w);
    rows[0] = normal_of(UNIT(w[0], w[1]), UNIT(w[2], w[3]));
#else
    ordered_words(key, first, w);
    for (int j = 0; j < ROWS; j++) {
#if ROWS == 4
        rows[j] = UNIT(w[j], w[j]);
#else
        /* Element by element: halves put together are shuffles of undefined lanes, on which a sanitizer stumbles. */
        uint8 a = w[2 * j], b = w[2 * j + 1];
        uint8 even = (uint8)(a.s0, a.s2, a.s4, a.s6, b.s0, b.s2, b.s4, b.s6);
        uint8 odd = (uint8)(a.s1, a.s3, a.s5, a.s7, b.s1, b.s3, b.s5, b.s7);

#if defined(NORMAL)
        rows[j] = normal_of(UNIT(even, even), UNIT(odd, odd));
#else
        rows[j] = UNIT(even, odd);
#endif
#endif
    }
#endif
}

/* base and end: low and high, or mean and deviation. */
__kernel void random_fill(__global PW_TYPE(output) *output, long key, float base, float end, int size, int groups,
                          int each)
{
    int first = get_global_id(0) * each, last = min(first + each, groups);
#if defined(UNIFORM)
    out_t span = (out_t)end - (out_t)base;
#else
    out_t span = (out_t)end;
#endif

    for (int g = first; g < last; g++) {
        out_8 rows[ROWS];

        draw_rows(key, (uint)g * 8, rows);
        for (int j = 0; j < ROWS; j++) {
            int i = (g * ROWS + j) * 8;
            out_8 value = fma((out_8)(span), rows[j], (out_8)((out_t)base));
            out_t rest[8];

            if (i + 8 <= size) {
                PW_STORE8(output, i, value);
                continue;
            }
            vstore8(value, 0, rest);
            for (int k = 0; i + k < size; k++)
                PW_STORE(output, i + k, rest[k]);
        }
    }
}
#endif

#if defined(BERNOULLI)
typedef PW_COMPUTE(input) in_t;
typedef PW_COMPUTE8(input) in_8;
#if PW_IS_DOUBLE(input)
#define BELOW_WHOLE 4294967295.0
#define AS_MASK(x) convert_int8(x)
#else
#define BELOW_WHOLE 4294967040.0f /* the largest float below 2^32 */
#define AS_MASK(x) (x)
#endif

/* 1 where the event of probability p happens. NaN never does. */
static inline int8 events(in_8 p, uint8 words)
{
    in_8 scaled = fmax(p * (in_t)4294967296.0f, (in_8)((in_t)0));
    uint8 threshold = convert_uint8(ceil(fmin(scaled, (in_8)((in_t)BELOW_WHOLE))));

    return ((words < threshold) | AS_MASK(scaled >= (in_t)4294967296.0f)) & 1;
}

__kernel void bernoulli(__global const PW_TYPE(input) *input, __global PW_TYPE(output) *output, long key, int size,
                        int groups, int each)
{
    int first = get_global_id(0) * each, last = min(first + each, groups);

    for (int g = first; g < last; g++) {
        uint8 words[4];

        ordered_words(key, (uint)g * 8, words);
        for (int j = 0; j < 4; j++) {
            int i = (g * 4 + j) * 8, result[8];
            in_t p[8] = {0};

            if (i + 8 <= size) {
                PW_STORE8(output, i, PW_CAT(convert_, PW_COMPUTE8(output))(events(PW_LOAD8(input, i), words[j])));
                continue;
            }
            for (int k = 0; i + k < size; k++)
                p[k] = PW_LOAD(input, i + k);
            vstore8(events(vload8(0, p), words[j]), 0, result);
            for (int k = 0; i + k < size; k++)
                PW_STORE(output, i + k, (out_t)result[k]);
        }
    }
}
#endif

#if defined(MULTINOMIAL)
static inline uint word_of(long key, int i)
{
    uint4 w = pw_philox((ulong)key, (ulong)STREAM, (ulong)(i / 4));
    int k = i % 4;

    return k == 0 ? w.x : k == 1 ? w.y : k == 2 ? w.z : w.w;
}

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
#if PW_IS_DOUBLE(data)
#define AS_LANES(x) convert_long8(x)
#else
#define AS_LANES(x) (x)
#endif

__kernel void dropout(__global const PW_TYPE(data) *data, __global PW_TYPE(output) *output,
                      __global PW_TYPE(mask) *mask, long key, long threshold, PW_COMPUTE(data) scale, int size,
                      int groups, int each)
{
    int first = get_global_id(0) * each, last = min(first + each, groups), any = threshold < 1L << 32;

    for (int g = first; g < last; g++) {
        uint8 words[4];

        ordered_words(key, (uint)g * 8, words);
        for (int j = 0; j < 4; j++) {
            int i = (g * 4 + j) * 8, flags[8];
            int8 kept = any ? words[j] >= (uint)threshold : (int8)(0);

            if (i + 8 <= size) {
                out_8 value = PW_LOAD8(data, i) * scale;

                PW_STORE8(output, i, AS_LANES(kept) ? value : (out_8)((out_t)0));
                if (mask)
                    PW_STORE8(mask, i, PW_CAT(convert_, PW_COMPUTE8(mask))(kept & 1));
                continue;
            }
            vstore8(kept, 0, flags);
            for (int k = 0; i + k < size; k++) {
                PW_STORE(output, i + k, flags[k] ? PW_LOAD(data, i + k) * scale : (out_t)0);
                if (mask)
                    PW_STORE(mask, i + k, (PW_COMPUTE(mask))(flags[k] ? 1 : 0));
            }
        }
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
