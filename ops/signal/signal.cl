/*
 * DFT and STFT: eight transforms at a time, one a lane. Stockham's self-sorting mixed-radix form: for each
 * factor p of the length a pass of butterflies of p from one half of the scratch to the other, so the result
 * comes out in order. Roots of unity are a table from the host. A work-item makes some groups of eight. WIDE: in double
 * (float32 too, where the device has it: a bin that cancels to nothing then is as small as it should be).
 * Also the windows and the mel matrix.
 */
#ifdef TRANSFORM
#ifdef WIDE
#define WORK double
#define WORK8 double8
#define ROOT(i) as_double((long)roots[2 * (i) + 1] << 32 | (uint)roots[2 * (i)])
#else
#define WORK float
#define WORK8 float8
#define ROOT(i) as_float(roots[i])
#endif

typedef struct {
    WORK8 re, im;
} lanes;

static inline lanes turned(lanes v, WORK c, WORK s)
{
    const lanes r = {fma(v.re, (WORK8)(c), -(v.im * s)), fma(v.re, (WORK8)(s), v.im * c)};
    return r;
}

static inline lanes sum(lanes a, lanes b)
{
    const lanes r = {a.re + b.re, a.im + b.im};
    return r;
}

static inline lanes difference(lanes a, lanes b)
{
    const lanes r = {a.re - b.re, a.im - b.im};
    return r;
}

#define TWIDDLED(v, k) \
    turned(v, ROOT(2 * (length / n * (q * (k)) % length)), ROOT(2 * (length / n * (q * (k)) % length) + 1))

/* One pass: butterflies of p over sequences of length n, s of them side by side. */
static inline void pass(__global const lanes *x, __global lanes *y, __global const int *roots, int length, int n, int s,
                        int p, int backward)
{
    const int m = n / p;
    for (int q = 0; q < m; q++) {
        for (int j = 0; j < s; j++) {
            __global const lanes *from = x + j + s * q;
            __global lanes *to = y + j + s * p * q;
            if (p == 2) {
                const lanes a = from[0], b = from[s * m];
                to[0] = sum(a, b);
                to[s] = TWIDDLED(difference(a, b), 1);
            } else if (p == 4) {
                const lanes a = from[0], b = from[s * m], c = from[2 * s * m], d = from[3 * s * m];
                const lanes even = sum(a, c), odd = sum(b, d), low = difference(a, c), high = difference(b, d);
                /* high times -i, or i backward */
                const lanes side = {backward ? -high.im : high.im, backward ? high.re : -high.re};
                to[0] = sum(even, odd);
                to[s] = TWIDDLED(sum(low, side), 1);
                to[2 * s] = TWIDDLED(difference(even, odd), 2);
                to[3 * s] = TWIDDLED(difference(low, side), 3);
            } else {
                for (int k = 0; k < p; k++) {
                    lanes total = from[0];
                    for (int r = 1; r < p; r++) {
                        const int w = length / p * (int)((long)r * k % p);
                        total = sum(total, turned(from[(size_t)s * m * r], ROOT(2 * w), ROOT(2 * w + 1)));
                    }
                    to[(size_t)s * k] = turned(total, ROOT(2 * (int)((long)(length / n) * q * k % length)),
                                               ROOT(2 * (int)((long)(length / n) * q * k % length) + 1));
                }
            }
        }
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
transform(__global const PW_TYPE(in0) *in0, __global const PW_TYPE(in0) *window, int windowed, __global PW_TYPE(in0) *out0,
          __global WORK *scratch, __global const int *roots, __global const int *factors, int factor_count, int count,
          int inner_count, int length, int in_outer, int in_inner, int in_step, int in_length, int in_parts,
          int out_outer, int out_inner, int out_step, int bins, int out_parts, int backward, int hermitian, int groups,
          int groups_each)
{
    const int begin = (int)get_global_id(0) * groups_each, end = min(groups, begin + groups_each);
    __global lanes *a = (__global lanes *)(scratch + (size_t)get_global_id(0) * length * 32);

    for (int group = begin; group < end; group++) {
        __global lanes *from = a, *to = a + length;
        size_t in_base[8], out_base[8];
        for (int l = 0; l < 8; l++) {
            const int t = min(group * 8 + l, count - 1);
            in_base[l] = (size_t)(t / inner_count) * in_outer + (size_t)(t % inner_count) * in_inner;
            out_base[l] = (size_t)(t / inner_count) * out_outer + (size_t)(t % inner_count) * out_inner;
        }
        for (int k = 0; k < length; k++) {
            const int mirrored = hermitian && k > length / 2, at = mirrored ? length - k : k;
            const WORK w = windowed ? (WORK)PW_AT_LOAD(in0, window, k) : (WORK)1;
            WORK re[8], im[8];
            for (int l = 0; l < 8; l++) {
                const size_t position = in_base[l] + (size_t)at * in_step;
                re[l] = at < in_length ? (WORK)PW_LOAD(in0, position) * w : (WORK)0;
                im[l] = at < in_length && in_parts == 2 ? (WORK)PW_LOAD(in0, position + 1) * w : (WORK)0;
            }
            from[k].re = vload8(0, re);
            from[k].im = mirrored ? -vload8(0, im) : vload8(0, im);
        }
        int n = length, s = 1;
        for (int f = 0; f < factor_count && n > 1; f++) {
            pass(from, to, roots, length, n, s, factors[f], backward);
            n /= factors[f];
            s *= factors[f];
            __global lanes *swap = from;
            from = to;
            to = swap;
        }
        const int live = min(8, count - group * 8);
        const WORK scale = backward ? (WORK)1 / (WORK)length : (WORK)1;
        for (int k = 0; k < bins; k++) {
            WORK re[8], im[8];
            vstore8(from[k].re * scale, 0, re);
            vstore8(from[k].im * scale, 0, im);
            for (int l = 0; l < live; l++) {
                PW_AT_STORE(in0, out0, out_base[l] + (size_t)k * out_step, (PW_COMPUTE(in0))re[l]);
                if (out_parts == 2)
                    PW_AT_STORE(in0, out0, out_base[l] + (size_t)k * out_step + 1, (PW_COMPUTE(in0))im[l]);
            }
        }
    }
}
#endif

#ifdef WINDOW
#ifdef cl_khr_fp64
#define REAL double
#else
#define REAL float
#endif
#if PW_IS_FLOAT(output)
#define PUT(i, v) PW_STORE(output, i, (PW_COMPUTE(output))(v))
#else
#define PUT(i, v) (output[i] = (PW_TYPE(output))(v))
#endif

/* kind: 0 Hann, 1 Hamming, 2 Blackman. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
window(__global PW_TYPE(output) *output, int kind, int turns, int count, int each)
{
    const int begin = (int)get_global_id(0) * each, end = min(count, begin + each);

    for (int i = begin; i < end; i++) {
        const REAL x = turns > 0 ? 2 * (REAL)i / (REAL)turns : (REAL)0;
        REAL value = kind == 0   ? (REAL)0.5 - (REAL)0.5 * cospi(x)
                     : kind == 1 ? (REAL)25 / 46 - (REAL)21 / 46 * cospi(x)
                                 : (REAL)0.42 - (REAL)0.5 * cospi(x) + (REAL)0.08 * cospi(2 * x);
        value = turns > 0 ? value : (REAL)1;
        PUT(i, value);
    }
}

/* Rows are bins of the spectrum, columns bands. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
mel_matrix(__global PW_TYPE(output) *output, __global const int *edges, int bands, int bins, int rows_each)
{
    const int begin = (int)get_global_id(0) * rows_each, end = min(bins, begin + rows_each);

    for (int j = begin; j < end; j++) {
        for (int band = 0; band < bands; band++) {
            const int low = edges[band], centre = edges[band + 1], high = edges[band + 2];
            REAL weight = 0;
            if (centre == low)
                weight = j == centre;
            else if (j >= low && j <= centre)
                weight = (REAL)(j - low) / (REAL)(centre - low);
            if (high > centre && j >= centre && j < high)
                weight = (REAL)(high - j) / (REAL)(high - centre);
            PUT((size_t)j * bands + band, weight);
        }
    }
}
#endif
