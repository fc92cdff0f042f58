/*
 * MatMul and Gemm.
 *   *_packed   B packed beforehand (prepack) as [matrix][panel][K][PANEL], zero past N
 *   *_tiled    packs a block of its panel of B into local memory on the way
 *   *_rows     up to 4 rows of A: reads B in place, 8 vectors of a row at a time
 *   *_plain    one work-item an output element; any device
 * Groups of the first two: panels x blocks of `block` rows x products, over the tile of matmul_tile.cl.
 */

/* Panels of B, one work-item each: [matrix][panel]. b_row and b_col are strides, so a transposed B is fine. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void matmul_pack(__global const PW_TYPE(B) *B,
                                                                         __global acc_t *packed, int N, int K,
                                                                         int b_row, int b_col)
{
    int panel = get_global_id(0), panels = get_global_size(0), matrix = get_global_id(1), n0 = panel * PANEL;
    int cols = min(N - n0, PANEL);
    long base = (long)matrix * K * N + (long)n0 * b_col;
    __global acc_t *to = packed + ((long)matrix * panels + panel) * K * PANEL;

    for (int k = 0; k < K; k++, to += PANEL) {
        for (int j = 0; j < cols; j++)
            to[j] = PW_LOAD(B, base + (long)k * b_row + (long)j * b_col);
        for (int j = cols; j < PANEL; j++)
            to[j] = 0;
    }
}

/* A in the accumulator's type, row-major: [matrix][M][K]. One work-item takes `rows` rows. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void matmul_stage(__global const PW_TYPE(A) *A,
                                                                          __global acc_t *staged, int total, int rows,
                                                                          int M, int K, int a_row, int a_col)
{
    int first = get_global_id(0) * rows;

    for (int row = first; row < min(first + rows, total); row++) {
        long from = (long)(row / M) * M * K + (long)(row % M) * a_row, to = (long)row * K;
        int k = 0;

        if (a_col == 1) {
            for (; k + LANES <= K; k += LANES)
                ACC_STORE(PW_LOADN(A, LANES, from + k), 0, staged + to + k);
        }
        for (; k < K; k++)
            staged[to + k] = PW_LOAD(A, from + (long)k * a_col);
    }
}

/* Y = alpha * tile + beta * C for rows x cols elements; C may be NULL, its strides 0 where it is broadcast. */
static inline __attribute__((always_inline)) void matmul_finish(const acc_v *tile, __global PW_TYPE(Y) *Y, long at,
                                                                int rows, int cols, int N, float alpha, float beta,
                                                                __global const PW_TYPE(Y) *C, long c_at, int c_row,
                                                                int c_col)
{
    for (int r = 0; r < rows; r++, at += N, c_at += c_row) {
        acc_v v[3] = {tile[3 * r], tile[3 * r + 1], tile[3 * r + 2]};
        acc_t rest[PANEL];

        if (cols == PANEL && !C && alpha == 1.0f) {
            PW_STOREN(Y, LANES, at, v[0]);
            PW_STOREN(Y, LANES, at + LANES, v[1]);
            PW_STOREN(Y, LANES, at + 2 * LANES, v[2]);
            continue;
        }
        for (int j = 0; j < 3; j++)
            ACC_STORE(v[j], j, rest);
        for (int j = 0; j < cols; j++) {
#if ACC_FLOAT
            acc_t y = (acc_t)alpha * rest[j];

            if (C)
                y += (acc_t)beta * PW_AT_LOAD(Y, C, c_at + (long)j * c_col);
#else
            acc_t y = rest[j], c = C ? PW_AT_LOAD(Y, C, c_at + (long)j * c_col) : 0;

            y += c;
#endif
            PW_STORE(Y, at + j, y);
        }
    }
}

/* a_strides and b_strides are of whole matrices in elements, so b_at / (K * N) is a matrix's number. */
#define MATMUL_PACKED \
    __global const acc_t *b = packed + (b_at / max(1L, (long)K * N) * panels + panel) * K * PANEL; \
    for (int k0 = 0; k0 < K; k0 += KB) \
        rows_packed(a + k0, K, rows, b + (long)k0 * PANEL, PANEL, min(KB, K - k0), tile, k0 == 0);

/* Only the block of B that is in use goes to local memory. */
#define MATMUL_TILED \
    __local acc_t local_b[KB * PANEL]; \
    b_at += (long)panel * PANEL * b_col; \
    for (int k0 = 0; k0 < K; k0 += KB) { \
        int count = min(KB, K - k0); \
        matmul_fetch(B, b_at + (long)k0 * b_row, b_row, b_col, count, cols, local_b); \
        rows_local(a + k0, K, rows, local_b, PANEL, count, tile, k0 == 0); \
    }

static inline __attribute__((always_inline)) void matmul_fetch(__global const PW_TYPE(B) *B, long from, int b_row,
                                                               int b_col, int count, int cols, __local acc_t *to)
{
    if (cols == PANEL && b_col == 1) {
        for (int k = 0; k < count; k++, to += PANEL, from += b_row) {
            ACC_STORE(PW_LOADN(B, LANES, from), 0, to);
            ACC_STORE(PW_LOADN(B, LANES, from + LANES), 1, to);
            ACC_STORE(PW_LOADN(B, LANES, from + 2 * LANES), 2, to);
        }
        return;
    }
    if (b_col == 1) {
        for (int k = 0; k < count; k++, to += PANEL, from += b_row) {
            for (int j = 0; j < PANEL; j++)
                to[j] = j < cols ? PW_LOAD(B, from + j) : 0;
        }
        return;
    }
    for (int j = 0; j < PANEL; j++) {
        for (int k = 0; k < count; k++)
            to[k * PANEL + j] = j < cols ? PW_LOAD(B, from + (long)k * b_row + (long)j * b_col) : 0;
    }
}

/* One element of Y. */
static inline void matmul_put(acc_t y, __global PW_TYPE(Y) *Y, long at, float alpha, float beta,
                              __global const PW_TYPE(Y) *C, long c_at)
{
#if ACC_FLOAT
    y *= (acc_t)alpha;
    if (C)
        y += (acc_t)beta * PW_AT_LOAD(Y, C, c_at);
#else
    if (C) {
        acc_t c = PW_AT_LOAD(Y, C, c_at);

        y += c;
    }
#endif
    PW_STORE(Y, at, y);
}

/* Columns n0 to n0 + STRIP of `rows` rows; b_col is 1. */
#define STRIP (8 * LANES)
static inline __attribute__((always_inline)) void matmul_strip(__global const acc_t *a, int rows, int K,
                                                               __global const PW_TYPE(B) *B, long b_at, int b_row,
                                                               int cols, __global PW_TYPE(Y) *Y, long y_at, int N,
                                                               float alpha, float beta, __global const PW_TYPE(Y) *C,
                                                               long c_at, int c_row, int c_col)
{
    for (int r = 0; r < rows; r++, a += K, y_at += N, c_at += c_row) {
        int n = 0;

        for (; n + STRIP <= cols; n += STRIP) {
            acc_v sum[8];
            acc_t out[STRIP];

            for (int j = 0; j < 8; j++)
                sum[j] = (acc_v)(0);
            for (int k = 0; k < K; k++) {
                long from = b_at + n + (long)k * b_row;

#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[j] = MAD(a[k], PW_LOADN(B, LANES, from + j * LANES), sum[j]);
            }
            for (int j = 0; j < 8; j++)
                ACC_STORE(sum[j], j, out);
            for (int j = 0; j < STRIP; j++)
                matmul_put(out[j], Y, y_at + n + j, alpha, beta, C, c_at + (long)(n + j) * c_col);
        }
        for (; n + LANES <= cols; n += LANES) {
            acc_v even = (acc_v)(0), odd = even;
            acc_t out[LANES];
            int k = 0;

            for (; k + 2 <= K; k += 2) {
                even = MAD(a[k], PW_LOADN(B, LANES, b_at + n + (long)k * b_row), even);
                odd = MAD(a[k + 1], PW_LOADN(B, LANES, b_at + n + (long)(k + 1) * b_row), odd);
            }
            if (k < K)
                even = MAD(a[k], PW_LOADN(B, LANES, b_at + n + (long)k * b_row), even);
            ACC_STORE(even + odd, 0, out);
            for (int j = 0; j < LANES; j++)
                matmul_put(out[j], Y, y_at + n + j, alpha, beta, C, c_at + (long)(n + j) * c_col);
        }
        for (; n < cols; n++) {
            acc_t sum = 0;

            for (int k = 0; k < K; k++)
                sum += a[k] * PW_LOAD(B, b_at + n + (long)k * b_row);
            matmul_put(sum, Y, y_at + n, alpha, beta, C, c_at + (long)n * c_col);
        }
    }
}

/* One output element, A and B in place. */
#define MATMUL_PLAIN \
    int id = get_global_id(0); \
    if (id >= batch * M * N) \
        return; \
    int n = id % N, m = id / N % M, index = id / N / M; \
    long a_at = matmul_offset(index, batch_rank, batch_dims, a_strides) + (long)m * a_row; \
    long b_at = matmul_offset(index, batch_rank, batch_dims, b_strides) + (long)n * b_col; \
    acc_t sum = 0; \
    for (int k = 0; k < K; k++) \
        sum += (acc_t)PW_LOAD(A, a_at + (long)k * a_col) * (acc_t)PW_LOAD(B, b_at + (long)k * b_row);

#ifndef GEMM
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void matmul_packed(
    __global const acc_t *A, __global const acc_t *packed, __global PW_TYPE(Y) *Y, int M, int N, int K, int block,
    float alpha, int batch_rank, __global const int *batch_dims, __global const int *a_strides,
    __global const int *b_strides)
{
    MATMUL_POSITION
    MATMUL_PACKED
    matmul_finish(tile, Y, y_at, rows, cols, N, alpha, 0.0f, 0, 0, 0, 0);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void matmul_tiled(
    __global const acc_t *A, __global const PW_TYPE(B) *B, __global PW_TYPE(Y) *Y, int M, int N, int K, int block,
    int b_row, int b_col, float alpha, int batch_rank, __global const int *batch_dims, __global const int *a_strides,
    __global const int *b_strides)
{
    MATMUL_POSITION
    MATMUL_TILED
    matmul_finish(tile, Y, y_at, rows, cols, N, alpha, 0.0f, 0, 0, 0, 0);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void matmul_rows(
    __global const acc_t *A, __global const PW_TYPE(B) *B, __global PW_TYPE(Y) *Y, int M, int N, int K, int strip,
    int b_row, float alpha, int batch_rank, __global const int *batch_dims, __global const int *a_strides,
    __global const int *b_strides)
{
    int n0 = get_group_id(0) * strip, index = get_group_id(1);

    matmul_strip(A + matmul_offset(index, batch_rank, batch_dims, a_strides), M, K, B,
                 matmul_offset(index, batch_rank, batch_dims, b_strides) + n0, b_row, min(strip, N - n0), Y,
                 (long)index * M * N + n0, N, alpha, 0.0f, 0, 0, 0, 0);
}

__kernel void matmul_plain(__global const PW_TYPE(A) *A, __global const PW_TYPE(B) *B, __global PW_TYPE(Y) *Y,
                           int batch, int M, int N, int K, int a_row, int a_col, int b_row, int b_col, float alpha,
                           int batch_rank, __global const int *batch_dims, __global const int *a_strides,
                           __global const int *b_strides)
{
    MATMUL_PLAIN
    matmul_put(sum, Y, id, alpha, 0.0f, 0, 0);
}
#else
#define GEMM_ONE_PRODUCT \
    int batch_rank = 0; \
    __global const int *batch_dims = 0, *a_strides = 0, *b_strides = 0;

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void gemm_packed(
    __global const acc_t *A, __global const acc_t *packed, __global const PW_TYPE(Y) *C, __global PW_TYPE(Y) *Y, int M,
    int N, int K, int block, float alpha, float beta, int c_row, int c_col)
{
    GEMM_ONE_PRODUCT
    MATMUL_POSITION
    MATMUL_PACKED
    matmul_finish(tile, Y, y_at, rows, cols, N, alpha, beta, C, (long)m0 * c_row + (long)panel * PANEL * c_col, c_row,
                  c_col);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void gemm_tiled(
    __global const acc_t *A, __global const PW_TYPE(B) *B, __global const PW_TYPE(Y) *C, __global PW_TYPE(Y) *Y, int M,
    int N, int K, int block, int b_row, int b_col, float alpha, float beta, int c_row, int c_col)
{
    GEMM_ONE_PRODUCT
    MATMUL_POSITION
    MATMUL_TILED
    matmul_finish(tile, Y, y_at, rows, cols, N, alpha, beta, C, (long)m0 * c_row + (long)panel * PANEL * c_col, c_row,
                  c_col);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void gemm_rows(
    __global const acc_t *A, __global const PW_TYPE(B) *B, __global const PW_TYPE(Y) *C, __global PW_TYPE(Y) *Y, int M,
    int N, int K, int strip, int b_row, float alpha, float beta, int c_row, int c_col)
{
    int n0 = get_group_id(0) * strip;

    matmul_strip(A, M, K, B, n0, b_row, min(strip, N - n0), Y, n0, N, alpha, beta, C, (long)n0 * c_col, c_row, c_col);
}

__kernel void gemm_plain(__global const PW_TYPE(A) *A, __global const PW_TYPE(B) *B, __global const PW_TYPE(Y) *C,
                         __global PW_TYPE(Y) *Y, int batch, int M, int N, int K, int a_row, int a_col, int b_row,
                         int b_col, float alpha, float beta, int c_row, int c_col)
{
    GEMM_ONE_PRODUCT
    MATMUL_PLAIN
    matmul_put(sum, Y, id, alpha, beta, C, (long)m * c_row + (long)n * c_col);
}
#endif
