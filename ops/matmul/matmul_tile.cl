/*
 * The register tile that all products of this room share. Wants from the build:
 *   ACC, ACC_FLOAT   type of the accumulator, and whether it is a float type
 *   LANES            vector length; a panel is 3 vectors = PANEL columns of B
 *   KB, ROWS         block of K; most rows that a work-item takes
 *
 * A work-item (work-group of 1) computes rows m0..m0+rows of one panel. For each block of K, for each
 * 4 rows: 12 vector accumulators in registers, started from and put back into `tile`, private memory of
 * 3 * ROWS vectors. So the order is k block -> rows -> k, a panel's block (KB * PANEL elements) stays in
 * the first cache level, and the storage type of Y sees one rounding at the very end.
 * A is read in place: 4 rows at a time, each a stream of broadcasts. Rows past the end repeat the last
 * one; their sums are not stored.
 */
typedef ACC acc_t;
typedef PW_VEC(ACC, LANES) acc_v;
#define PANEL (3 * LANES)
#define ACC_LOAD(i, p) PW_CAT(vload, LANES)(i, p)
#define ACC_STORE(v, i, p) PW_CAT(vstore, LANES)(v, i, p)
#if ACC_FLOAT
#define MAD(a, b, c) fma((acc_v)(a), b, c)
#else
#define MAD(a, b, c) ((acc_v)(a) * (b) + (c))
#endif

#define STEP_ROW(r, u) \
    { \
        acc_v a = (acc_v)(a##r[k + u]); \
        c##r##0 = MAD(a, b0, c##r##0); \
        c##r##1 = MAD(a, b1, c##r##1); \
        c##r##2 = MAD(a, b2, c##r##2); \
    }
#define STEP4(u) \
    { \
        acc_v b0 = ACC_LOAD(0, b + (u) * step), b1 = ACC_LOAD(1, b + (u) * step), b2 = ACC_LOAD(2, b + (u) * step); \
        STEP_ROW(0, u) STEP_ROW(1, u) STEP_ROW(2, u) STEP_ROW(3, u) \
    }
#define TILE_ROW(r) \
    acc_v c##r##0 = first ? (acc_v)(0) : tile[3 * r], c##r##1 = first ? (acc_v)(0) : tile[3 * r + 1], \
          c##r##2 = first ? (acc_v)(0) : tile[3 * r + 2];
#define KEEP_ROW(r) \
    tile[3 * r] = c##r##0; \
    tile[3 * r + 1] = c##r##1; \
    tile[3 * r + 2] = c##r##2;
/* One row: two sets of accumulators, or the chain of 3 would wait for itself. */
#define STEP1(s, u) \
    { \
        acc_v a = (acc_v)(a0[k + u]); \
        s##0 = MAD(a, ACC_LOAD(0, b + (u) * step), s##0); \
        s##1 = MAD(a, ACC_LOAD(1, b + (u) * step), s##1); \
        s##2 = MAD(a, ACC_LOAD(2, b + (u) * step), s##2); \
    }

#define MATMUL_MICRO(SPACE, suffix) \
    static inline __attribute__((always_inline)) void micro4_##suffix( \
        __global const acc_t *a0, __global const acc_t *a1, __global const acc_t *a2, __global const acc_t *a3, \
        SPACE const acc_t *b, long step, int count, acc_v *tile, int first) \
    { \
        int k = 0; \
        TILE_ROW(0) TILE_ROW(1) TILE_ROW(2) TILE_ROW(3) \
        for (; k + 4 <= count; k += 4, b += 4 * step) { \
            STEP4(0) STEP4(1) STEP4(2) STEP4(3) \
        } \
        for (; k < count; k++, b += step) \
            STEP4(0) \
        KEEP_ROW(0) KEEP_ROW(1) KEEP_ROW(2) KEEP_ROW(3) \
    } \
    static inline __attribute__((always_inline)) void micro1_##suffix( \
        __global const acc_t *a0, SPACE const acc_t *b, long step, int count, acc_v *tile, int first) \
    { \
        int k = 0; \
        acc_v d00 = (acc_v)(0), d01 = d00, d02 = d00; \
        TILE_ROW(0) \
        for (; k + 4 <= count; k += 4, b += 4 * step) { \
            STEP1(c0, 0) STEP1(d0, 1) STEP1(c0, 2) STEP1(d0, 3) \
        } \
        for (; k < count; k++, b += step) \
            STEP1(c0, 0) \
        c00 += d00; \
        c01 += d01; \
        c02 += d02; \
        KEEP_ROW(0) \
    } \
    static inline __attribute__((always_inline)) void rows_##suffix(__global const acc_t *a, long a_row, int rows, \
                                                                    SPACE const acc_t *b, long step, int count, \
                                                                    acc_v *tile, int first) \
    { \
        if (rows == 1) { \
            micro1_##suffix(a, b, step, count, tile, first); \
            return; \
        } \
        for (int r = 0; r < rows; r += 4) { \
            int last = rows - 1; \
            micro4_##suffix(a + r * a_row, a + min(r + 1, last) * a_row, a + min(r + 2, last) * a_row, \
                            a + min(r + 3, last) * a_row, b, step, count, tile + 3 * r, first); \
        } \
    }
MATMUL_MICRO(__global, packed)
MATMUL_MICRO(__local, local)

/* Offset of matrix A or B in product number `index`. */
static inline long matmul_offset(int index, int rank, __global const int *dims, __global const int *strides)
{
    long offset = 0;

    for (int d = rank - 1; d >= 0; d--) {
        offset += (long)(index % dims[d]) * strides[d];
        index /= dims[d];
    }
    return offset;
}

/* Where a work-item works: group (panel, block of rows, product). Wants A, M, N, K, block, batch_rank, batch_dims,
 * a_strides and b_strides. */
#define MATMUL_POSITION \
    int panel = get_group_id(0), panels = get_num_groups(0), m0 = get_group_id(1) * block, index = get_group_id(2); \
    int rows = min(block, M - m0), cols = min(N - panel * PANEL, PANEL); \
    __global const acc_t *a = A + matmul_offset(index, batch_rank, batch_dims, a_strides) + (long)m0 * K; \
    long b_at = matmul_offset(index, batch_rank, batch_dims, b_strides); \
    long y_at = (long)index * M * N + (long)m0 * N + panel * PANEL; \
    acc_v tile[3 * ROWS]; \
    if (K == 0) { \
        for (int i = 0; i < 3 * rows; i++) \
            tile[i] = (acc_v)(0); \
    }
