/*
 * Einsum.
 *   einsum_plain    up to four operands, any device: a work-item computes one output, walking the summed labels.
 *                   Strides of the operands along the output's labels and the summed ones come from the equation; 0
 *                   where an operand does not have a label, sums of strides for diagonals
 *   einsum_gather, einsum_spread   (TILED) around the room's product: two operands as dense [batch][M][K] and
 *                   [batch][K][N] in the accumulator's type, and the result in the output's order. A work-item takes
 *                   a stretch and counts its coordinates up
 */
#ifndef TILED
#define PART 64

__kernel void einsum_plain(__global const PW_TYPE(Inputs) *x0, __global const PW_TYPE(Inputs) *x1,
                           __global const PW_TYPE(Inputs) *x2, __global const PW_TYPE(Inputs) *x3,
                           __global PW_TYPE(Output) *Output, int outputs, int operands, int out_rank,
                           __global const int *out_dims, __global const int *out_strides, int sum_rank, int sum_count,
                           __global const int *sum_dims, __global const int *sum_strides)
{
    __global const PW_TYPE(Inputs) *x[4] = {x0, x1, x2, x3};
    int id = get_global_id(0), n = sum_rank ? sum_dims[sum_rank - 1] : 1, lines = n ? sum_count / n : 0;
    long start[4] = {0}, at[4];
    int step[4];
    ACC sum = 0, part = 0;
    int terms = 0;

    if (id >= outputs)
        return;
    for (int o = 0; o < operands; o++) {
        int rest = id;

        for (int d = out_rank - 1; d >= 0; d--) {
            start[o] += (long)(rest % out_dims[d]) * out_strides[o * out_rank + d];
            rest /= out_dims[d];
        }
        step[o] = sum_rank ? sum_strides[o * sum_rank + sum_rank - 1] : 0;
    }
    for (int line = 0; line < lines; line++) {
        for (int o = 0; o < operands; o++) {
            int rest = line;

            at[o] = start[o];
            for (int d = sum_rank - 2; d >= 0; d--) {
                at[o] += (long)(rest % sum_dims[d]) * sum_strides[o * sum_rank + d];
                rest /= sum_dims[d];
            }
        }
        for (int i = 0; i < n; i++) {
            ACC term = (ACC)PW_AT_LOAD(Inputs, x[0], at[0] + (long)i * step[0]);

            for (int o = 1; o < operands; o++)
                term *= (ACC)PW_AT_LOAD(Inputs, x[o], at[o] + (long)i * step[o]);
            part += term;
            if (++terms == PART) {
                sum += part;
                part = 0;
                terms = 0;
            }
        }
    }
    PW_STORE(Output, id, sum + part);
}
#else
#define RANK_MAX 84

/* Coordinates of element `begin` in dims, and its offset by strides. */
#define WALK_START \
    int begin = min((int)get_global_id(0) * each, total), end = min(begin + each, total); \
    int at[RANK_MAX], rest = begin; \
    long offset = 0; \
    for (int d = rank - 1; d >= 0; d--) { \
        at[d] = rest % dims[d]; \
        rest /= dims[d]; \
        offset += (long)at[d] * strides[d]; \
    }
#define WALK_NEXT \
    for (int d = rank - 2; d >= 0; d--) { \
        offset += strides[d]; \
        if (++at[d] < dims[d]) \
            break; \
        offset -= (long)strides[d] * dims[d]; \
        at[d] = 0; \
    }

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void einsum_gather(__global const PW_TYPE(Inputs) *X,
                                                                           __global acc_t *to, int total, int rank,
                                                                           __global const int *dims,
                                                                           __global const int *strides, int each)
{
    WALK_START
    const int line = dims[rank - 1], step = strides[rank - 1];

    for (int i = begin; i < end;) {
        int n = min(line - at[rank - 1], end - i), j = 0;

        if (step == 1) {
            for (; j + LANES <= n; j += LANES)
                ACC_STORE(PW_CAT(convert_, PW_VEC(ACC, LANES))(PW_AT_LOADN(Inputs, LANES, X, offset + j)), 0,
                          to + i + j);
        }
        for (; j < n; j++)
            to[i + j] = (acc_t)PW_AT_LOAD(Inputs, X, offset + (long)j * step);
        i += n;
        offset -= (long)at[rank - 1] * step;
        at[rank - 1] = 0;
        WALK_NEXT
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void einsum_spread(__global const acc_t *product,
                                                                           __global PW_TYPE(Output) *Output, int total,
                                                                           int rank, __global const int *dims,
                                                                           __global const int *strides, int each)
{
    WALK_START
    const int line = dims[rank - 1], step = strides[rank - 1];

    for (int i = begin; i < end;) {
        int n = min(line - at[rank - 1], end - i), j = 0;

        for (; j < n; j++)
            PW_STORE(Output, i + j, product[offset + (long)j * step]);
        i += n;
        offset -= (long)at[rank - 1] * step;
        at[rank - 1] = 0;
        WALK_NEXT
    }
}

/* matmul_tiled of the room on dense operands in the accumulator's type. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void einsum_tiled(__global const acc_t *A,
                                                                          __global const acc_t *B, __global acc_t *Y,
                                                                          int M, int N, int K, int block)
{
    int panel = get_group_id(0), m0 = get_group_id(1) * block, index = get_group_id(2);
    int rows = min(block, M - m0), cols = min(N - panel * PANEL, PANEL);
    __global const acc_t *a = A + ((long)index * M + m0) * K, *b = B + (long)index * K * N + panel * PANEL;
    __global acc_t *y = Y + ((long)index * M + m0) * N + panel * PANEL;
    __local acc_t local_b[KB * PANEL];
    acc_v tile[3 * ROWS];

    for (int k0 = 0; k0 < K; k0 += KB) {
        int count = min(KB, K - k0);

        for (int k = 0; k < count; k++) {
            __global const acc_t *from = b + (long)(k0 + k) * N;
            __local acc_t *to = local_b + k * PANEL;
            int j = 0;

            for (; j + LANES <= cols; j += LANES)
                ACC_STORE(ACC_LOAD(0, from + j), 0, to + j);
            for (; j < PANEL; j++)
                to[j] = j < cols ? from[j] : 0;
        }
        rows_local(a + k0, K, rows, local_b, PANEL, count, tile, k0 == 0);
    }
    for (int r = 0; r < rows; r++, y += N) {
        acc_t line[PANEL];

        for (int j = 0; j < 3; j++)
            ACC_STORE(tile[3 * r + j], j, line);
        for (int j = 0; j < cols; j++)
            y[j] = line[j];
    }
}
#endif
