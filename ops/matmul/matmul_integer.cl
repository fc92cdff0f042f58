/*
 * MatMulInteger and QLinearMatMul over the tile of matmul_tile.cl with int accumulators.
 *   integer_stage    A as int, its zero points taken off
 *   integer_tiled    as matmul_tiled; B's zero points come off while a block is packed. Stores int32
 *   qlinear_tiled    the same; the sum is scaled, rounded half to even, and saturated
 *   dynamic_range, dynamic_stage, dynamic_tiled   DynamicQuantizeMatMul: the range of A in parts, A quantized to
 *                    uint8's range minus its zero point, and the sum scaled to float, plus bias
 * in0 is A; B_IN stands for B (in1 or in3). A zero point is one value, or one a row of A, one a column of B.
 */
#ifdef QLINEAR
#define B_IN_dtype in3_dtype
#else
#define B_IN_dtype in1_dtype
#endif

#ifndef DYNAMIC
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void integer_stage(__global const PW_TYPE(in0) *in0,
                                                                           __global const PW_TYPE(in0) *zero,
                                                                           __global int *staged, int total, int rows,
                                                                           int K, int zeros)
{
    int first = get_global_id(0) * rows;

    for (int row = first; row < min(first + rows, total); row++) {
        long at = (long)row * K;
        int z = zero ? zero[row % zeros] : 0, k = 0;

        for (; k + LANES <= K; k += LANES)
            ACC_STORE(PW_CAT3(convert_, int, LANES)(PW_LOADN(in0, LANES, at + k)) - z, 0, staged + at + k);
        for (; k < K; k++)
            staged[at + k] = (int)PW_LOAD(in0, at + k) - z;
    }
}
#endif

static inline __attribute__((always_inline)) void integer_fetch(__global const PW_TYPE(B_IN) *b,
                                                                __global const PW_TYPE(B_IN) *zero, int zero_step,
                                                                long from, int n0, int N, int count, int cols,
                                                                __local int *to)
{
    int z[PANEL];

    for (int j = 0; j < PANEL; j++)
        z[j] = zero && j < cols ? zero[zero_step ? n0 + j : 0] : 0;
    for (int k = 0; k < count; k++, to += PANEL, from += N) {
        if (cols == PANEL) {
            for (int j = 0; j < PANEL; j++)
                to[j] = (int)b[from + j] - z[j];
        } else {
            for (int j = 0; j < PANEL; j++)
                to[j] = j < cols ? (int)b[from + j] - z[j] : 0;
        }
    }
}

#define INTEGER_TILE(b, b_zero) \
    __local int local_b[KB * PANEL]; \
    MATMUL_POSITION \
    b_at += (long)panel * PANEL; \
    for (int k0 = 0; k0 < K; k0 += KB) { \
        int count = min(KB, K - k0); \
        integer_fetch(b, b_zero, b_zero_step, b_at + (long)k0 * N, panel * PANEL, N, count, cols, local_b); \
        rows_local(a + k0, K, rows, local_b, PANEL, count, tile, k0 == 0); \
    }

#if defined(DYNAMIC)
/* Smallest and largest of a part of A, with 0. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void dynamic_range(__global const float *in0,
                                                                           __global float *parts, int count, int each)
{
    int part = get_global_id(0), i = part * each, last = min(i + each, count);
    float8 low8 = (float8)(0.0f), high8 = low8;
    float low, high, lows[8], highs[8];

    for (; i + 8 <= last; i += 8) {
        low8 = fmin(low8, vload8(0, in0 + i));
        high8 = fmax(high8, vload8(0, in0 + i));
    }
    vstore8(low8, 0, lows);
    vstore8(high8, 0, highs);
    low = high = 0.0f;
    for (int j = 0; j < 8; j++) {
        low = fmin(low, lows[j]);
        high = fmax(high, highs[j]);
    }
    for (; i < last; i++) {
        low = fmin(low, in0[i]);
        high = fmax(high, in0[i]);
    }
    parts[2 * part] = low;
    parts[2 * part + 1] = high;
}

/* (scale, zero point) from all parts, as DynamicQuantizeLinear defines them. */
static inline float2 dynamic_scale(__global const float *parts, int count)
{
    float low = 0.0f, high = 0.0f, scale;

    for (int i = 0; i < count; i++) {
        low = fmin(low, parts[2 * i]);
        high = fmax(high, parts[2 * i + 1]);
    }
    scale = (high - low) / 255.0f;
    return (float2)(scale, scale == 0.0f ? 0.0f : clamp(rint(-low / scale), 0.0f, 255.0f));
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void dynamic_stage(__global const float *in0,
                                                                           __global const float *parts,
                                                                           __global int *staged, int count, int each,
                                                                           int part_count)
{
    float2 q = dynamic_scale(parts, part_count);
    int i = get_global_id(0) * each, last = min(i + each, count);

    for (; i < last; i++)
        staged[i] = q.x == 0.0f ? 0 : (int)(clamp(rint(in0[i] / q.x) + q.y, 0.0f, 255.0f) - q.y);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void dynamic_tiled(
    __global const int *A, __global const PW_TYPE(in1) *in1, __global const PW_TYPE(in3) *in3,
    __global const float *in2, __global const float *in4, __global const float *parts, __global float *out0, int M,
    int N, int K, int block, int part_count, int b_zero_step, int b_scale_step, int batch_rank,
    __global const int *batch_dims, __global const int *a_strides, __global const int *b_strides)
{
    INTEGER_TILE(in1, in3)
    float scale = dynamic_scale(parts, part_count).x;

    for (int r = 0; r < rows; r++, y_at += N) {
        int out[PANEL];

        for (int j = 0; j < 3; j++)
            ACC_STORE(tile[3 * r + j], j, out);
        for (int j = 0; j < cols; j++) {
            int n = panel * PANEL + j;

            out0[y_at + j] = (float)out[j] * (scale * in2[b_scale_step ? n : 0]) + (in4 ? in4[n] : 0.0f);
        }
    }
}
#elif !defined(QLINEAR)
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void integer_tiled(
    __global const int *A, __global const PW_TYPE(in1) *in1, __global const PW_TYPE(in3) *in3, __global int *out0, int M,
    int N, int K, int block, int b_zero_step, int batch_rank, __global const int *batch_dims,
    __global const int *a_strides, __global const int *b_strides)
{
    INTEGER_TILE(in1, in3)
    for (int r = 0; r < rows; r++, y_at += N) {
        int out[PANEL];

        for (int j = 0; j < 3; j++)
            ACC_STORE(tile[3 * r + j], j, out);
        for (int j = 0; j < cols; j++)
            out0[y_at + j] = out[j];
    }
}
#else
#ifdef cl_khr_fp64
typedef double real_t;
#else
typedef float real_t;
#endif

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void qlinear_tiled(
    __global const int *A, __global const PW_TYPE(in3) *in3, __global const PW_TYPE(in5) *in5,
    __global const PW_TYPE(in1) *in1, __global const PW_TYPE(in4) *in4, __global const PW_TYPE(in6) *in6,
    __global const PW_TYPE(in7) *in7, __global PW_TYPE(out0) *out0, int M, int N, int K, int block, int b_zero_step,
    int a_scales, int b_scale_step, int batch_rank, __global const int *batch_dims, __global const int *a_strides,
    __global const int *b_strides)
{
    INTEGER_TILE(in3, in5)
    real_t y_scale = PW_LOAD(in6, 0);
    int y_zero = in7[0], low = OUT_SIGNED ? -128 : 0, high = OUT_SIGNED ? 127 : 255;

    for (int r = 0; r < rows; r++, y_at += N) {
        real_t a_scale = PW_LOAD(in1, (m0 + r) % a_scales);
        int out[PANEL];

        for (int j = 0; j < 3; j++)
            ACC_STORE(tile[3 * r + j], j, out);
        for (int j = 0; j < cols; j++) {
            real_t b_scale = PW_LOAD(in4, b_scale_step ? panel * PANEL + j : 0);
            real_t y = rint((real_t)out[j] * (a_scale * b_scale) / y_scale) + (real_t)y_zero;

            out0[y_at + j] = (PW_TYPE(out0))(y < (real_t)low ? low : y > (real_t)high ? high : (int)y);
        }
    }
}
#endif
