/*
 * GridSample and AffineGrid. Positions and weights are in double where the device has it, so that nearest
 * chooses what the reference chooses. A work-item makes neighbouring pixels of all channels: the positions of
 * a pixel are computed once.
 */
#pragma OPENCL FP_CONTRACT OFF /* a fused product would move a position by the last bit, and the sample with it */
#ifdef cl_khr_fp64
#define REAL double
#else
#define REAL float
#endif

#ifdef SAMPLE
#define MAX_AXES 6
#define NEAREST 0
#define ZEROS 0
#define BORDER 1

/* Folds x into [low, high] by mirroring at its ends. */
static inline REAL reflect(REAL x, REAL low, REAL high)
{
    const REAL range = high - low, past = x < low ? low - x : x > high ? x - high : 0;
    if (range <= 0)
        return low;
    if (past == 0)
        return x;
    const REAL folds = floor(past / range), rest = past - folds * range;
    const int back = fmod(folds, (REAL)2) != 0;
    return (x < low) != back ? low + rest : high - rest;
}

static inline REAL place(REAL g, int extent, int mode, int padding, int align)
{
    const REAL n = extent, low = align ? (REAL)0 : (REAL)-0.5, high = align ? n - 1 : n - (REAL)0.5;
    REAL at = align ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2;
    at = at != at ? (REAL)-1e9 : clamp(at, (REAL)-1e9, (REAL)1e9);
    if (mode == NEAREST)
        at = rint(at);
    if ((at < low || at > high) && padding != ZEROS)
        at = padding == BORDER ? clamp(at, (REAL)0, n - 1) : reflect(at, low, high);
    return at;
}

/* An integer position: moved inside, or -1 where it reads zero. */
static inline int settle(REAL at, int extent, int padding, int align)
{
    const REAL n = extent;
    if (padding == ZEROS)
        return at >= 0 && at < n ? (int)at : -1;
    if (padding != BORDER)
        at = rint(reflect(at, align ? (REAL)0 : (REAL)-0.5, align ? n - 1 : n - (REAL)0.5));
    return (int)clamp(at, (REAL)0, n - 1);
}

static inline REAL cubic(REAL x)
{
    const REAL a = (REAL)-0.75;
    x = fabs(x);
    return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

/* One axis: 1, 2 or 4 positions (-1: zero) and weights. */
static inline void make_taps(REAL g, int extent, int mode, int padding, int align, int *index, REAL *weight)
{
    const REAL at = place(g, extent, mode, padding, align), low = floor(at), fraction = at - low;
    const int taps = mode == NEAREST ? 1 : mode == 1 ? 2 : 4;
    for (int k = 0; k < taps; k++) {
        const REAL position = mode == NEAREST ? rint(at) : mode == 1 ? low + k : low + k - 1;
        index[k] = settle(position, extent, padding, align);
        weight[k] = mode == NEAREST ? (REAL)1 : mode == 1 ? (k ? fraction : 1 - fraction) : cubic(fraction - (k - 1));
    }
}

#if PW_IS_FLOAT(X)
#define STORE_Y(i, v) PW_AT_STORE(X, Y, i, (PW_COMPUTE(X))(v))
#else
static inline REAL snap(REAL v)
{
    return trunc(fabs(v) < (REAL)4294967296 ? rint(v * (REAL)1048576) / (REAL)1048576 : v);
}
#define STORE_Y(i, v) (Y[i] = PW_CAT3(convert_, PW_COMPUTE(X), _sat)(snap(v)))
#endif

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
grid_nearest(__global const PW_MOVE(X) *X, __global const PW_TYPE(grid) *grid, __global PW_MOVE(X) *Y,
             __global const int *in_dims, int axes, int mode, int padding, int align, int channels, int in_size,
             int out_size, int pixels, int each)
{
    const int begin = (int)get_global_id(0) * each, end = min(pixels, begin + each);

    for (int pixel = begin; pixel < end; pixel++) {
        const size_t plane = (size_t)(pixel / out_size) * channels;
        long offset = 0;
        for (int a = 0; a < axes && offset >= 0; a++) {
            int index;
            REAL weight;
            make_taps(PW_LOAD(grid, (size_t)pixel * axes + axes - 1 - a), in_dims[a], NEAREST, padding, align, &index,
                      &weight);
            offset = index < 0 ? -1 : offset * in_dims[a] + index;
        }
        for (int c = 0; c < channels; c++)
            Y[(plane + c) * out_size + pixel % out_size] =
                offset < 0 ? (PW_MOVE(X))(0) : X[(plane + c) * in_size + offset];
    }
}

#ifndef MOVE_ONLY
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
grid_weighted(__global const PW_TYPE(X) *X, __global const PW_TYPE(grid) *grid, __global PW_TYPE(X) *Y,
              __global const int *in_dims, int axes, int mode, int padding, int align, int channels, int in_size,
              int out_size, int pixels, int each)
{
    const int begin = (int)get_global_id(0) * each, end = min(pixels, begin + each);
    const int taps = mode == 1 ? 2 : 4, bits = mode == 1 ? 1 : 2;

    for (int pixel = begin; pixel < end; pixel++) {
        const size_t plane = (size_t)(pixel / out_size) * channels;
        int index[MAX_AXES * 4];
        REAL weight[MAX_AXES * 4];
        for (int a = 0; a < axes; a++)
            make_taps(PW_LOAD(grid, (size_t)pixel * axes + axes - 1 - a), in_dims[a], mode, padding, align,
                      index + a * 4, weight + a * 4);
        for (int c = 0; c < channels; c++) {
            REAL sum = 0;
            for (int corner = 0; corner < 1 << (bits * axes); corner++) {
                REAL w = 1;
                int offset = 0, inside = 1;
                for (int a = 0; a < axes; a++) {
                    const int k = a * 4 + (corner >> (bits * a) & (taps - 1));
                    w *= weight[k];
                    inside &= index[k] >= 0 && weight[k] != 0;
                    offset = offset * in_dims[a] + index[k];
                }
                if (inside)
                    sum += w * (REAL)PW_LOAD(X, (plane + c) * in_size + offset);
            }
            STORE_Y((plane + c) * out_size + pixel % out_size, sum);
        }
    }
}
#endif
#endif

#ifdef AFFINE
/* Base position i of n along an axis. */
static inline REAL base_position(int i, int n, int align)
{
    if (align)
        return n > 1 ? -1 + 2 * (REAL)i / (n - 1) : (REAL)-1;
    return -1 + (2 * (REAL)i + 1) / n;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
affine_grid(__global const PW_TYPE(theta) *theta, __global PW_TYPE(theta) *grid, int axes, int depth, int height,
            int width, int align, int pixels, int each)
{
    const int begin = (int)get_global_id(0) * each, end = min(pixels, begin + each);

    for (int pixel = begin; pixel < end; pixel++) {
        const REAL x = base_position(pixel % width, width, align);
        const REAL y = base_position(pixel / width % height, height, align);
        const REAL z = base_position(pixel / width / height % depth, depth, align);
        const size_t image = pixel / ((size_t)width * height * depth);
        for (int row = 0; row < axes; row++) {
            const size_t at = (image * axes + row) * (axes + 1);
            REAL sum = (REAL)PW_LOAD(theta, at + axes);
            sum += (REAL)PW_LOAD(theta, at) * x + (REAL)PW_LOAD(theta, at + 1) * y;
            if (axes == 3)
                sum += (REAL)PW_LOAD(theta, at + 2) * z;
            PW_AT_STORE(theta, grid, (size_t)pixel * axes + row, (PW_COMPUTE(theta))sum);
        }
    }
}
#endif
