/*
 * MatMulNBits over the tile of matmul_tile.cl: as matmul_tiled, but a block of a panel of B is unpacked from BITS bits
 * and scaled on its way to local memory, 8 weights at a time (blocks are multiples of 16). So the weights are read
 * from memory in their packed size. B is [N][blocks][blob], scales and unpacked zero points are [N][blocks],
 * packed zero points [N][zero_row]. GROUPED: the scale and zero point of a weight are those of the block that g_idx
 * names for its row of K, not of the block that it lies in.
 */
static inline uint8 nbits_unpack(__global const uchar *p, int at)
{
#if BITS == 8
    return convert_uint8(vload8(0, p + at));
#elif BITS == 4
    uint4 bytes = convert_uint4(vload4(0, p + at / 2));

    return (uint8)(bytes.s0 & 15, bytes.s0 >> 4, bytes.s1 & 15, bytes.s1 >> 4, bytes.s2 & 15, bytes.s2 >> 4,
                   bytes.s3 & 15, bytes.s3 >> 4);
#else
    uint2 bytes = convert_uint2(vload2(0, p + at / 4));

    return (uint8)(bytes.s0 & 3, bytes.s0 >> 2 & 3, bytes.s0 >> 4 & 3, bytes.s0 >> 6, bytes.s1 & 3, bytes.s1 >> 2 & 3,
                   bytes.s1 >> 4 & 3, bytes.s1 >> 6);
#endif
}

static inline acc_t nbits_zero(__global const PW_TYPE(in3) *in3, long n, int block, int blocks, int zero_row)
{
#if FLOAT_ZEROS
    return PW_LOAD(in3, n * blocks + block);
#elif PACKED_ZEROS
    uint byte = in3[n * zero_row + block * BITS / 8];

    return (acc_t)(byte >> (block * BITS % 8) & ((1 << BITS) - 1));
#else
    return (acc_t)(1 << (BITS - 1));
#endif
}

#if GROUPED
#define GROUPS , __global const int *in4
#define GROUP(k) clamp(in4[k], 0, blocks - 1)
#define PASS_GROUPS , in4
#else
#define GROUPS
#define PASS_GROUPS
#endif

static inline void nbits_fetch(__global const uchar *in1, __global const PW_TYPE(in2) *in2,
                               __global const PW_TYPE(in3) *in3, int n0, int cols, int k0, int count, int blocks,
                               int block_size, int blob, int zero_row, __local acc_t *to GROUPS)
{
    for (int j = 0; j < PANEL; j++) {
        long n = n0 + j;

        if (j >= cols) {
            for (int k = 0; k < count; k++)
                to[k * PANEL + j] = 0;
            continue;
        }
#if GROUPED
        for (int k = 0; k < count; k++) {
            int at = (k0 + k) % block_size, group = GROUP(k0 + k);
            uint byte = in1[(n * blocks + (k0 + k) / block_size) * blob + at * BITS / 8];
            acc_t w = (acc_t)(byte >> (at * BITS % 8) & ((1 << BITS) - 1));

            to[k * PANEL + j] = (w - nbits_zero(in3, n, group, blocks, zero_row)) * PW_LOAD(in2, n * blocks + group);
        }
        continue;
#endif
        for (int k = 0; k < count; k += 8) {
            int block = (k0 + k) / block_size, left = min(8, count - k);
            acc_t scale = PW_LOAD(in2, n * blocks + block), zero = nbits_zero(in3, n, block, blocks, zero_row), w[8];

            vstore8((convert_float8(nbits_unpack(in1 + (n * blocks + block) * blob, (k0 + k) % block_size)) - zero) *
                        scale,
                    0, w);
            for (int i = 0; i < left; i++)
                to[(k + i) * PANEL + j] = w[i];
        }
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void nbits_stage(__global const PW_TYPE(in0) *in0,
                                                                         __global acc_t *staged, int count, int each)
{
    int i = get_global_id(0) * each, last = min(i + each, count);

    for (; i + 8 <= last; i += 8)
        vstore8(PW_LOAD8(in0, i), 0, staged + i);
    for (; i < last; i++)
        staged[i] = PW_LOAD(in0, i);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void nbits_tiled(
    __global const acc_t *A, __global const uchar *in1, __global const PW_TYPE(in2) *in2,
    __global const PW_TYPE(in3) *in3, __global const PW_TYPE(in5) *in5, __global PW_TYPE(out0) *out0, int M, int N,
    int K, int block, int blocks, int block_size, int blob, int zero_row GROUPS)
{
    int batch_rank = 0;
    __global const int *batch_dims = 0, *a_strides = 0, *b_strides = 0;
    __local acc_t local_b[KB * PANEL];

    MATMUL_POSITION
    for (int k0 = 0; k0 < K; k0 += KB) {
        int count = min(KB, K - k0);

        nbits_fetch(in1, in2, in3, panel * PANEL, cols, k0, count, blocks, block_size, blob, zero_row, local_b PASS_GROUPS);
        rows_local(a + k0, K, rows, local_b, PANEL, count, tile, k0 == 0);
    }
    for (int r = 0; r < rows; r++, y_at += N) {
        acc_t out[PANEL];

        for (int j = 0; j < 3; j++)
            ACC_STORE(tile[3 * r + j], j, out);
        for (int j = 0; j < cols; j++)
            PW_STORE(out0, y_at + j, out[j] + (in5 ? PW_LOAD(in5, panel * PANEL + j) : (acc_t)0));
    }
}
