/*
 * out = condition ? x : y with broadcasting: a copy of bits, so one program serves every type of a size.
 * Algorithm and tiling as in elementwise_fold.cl: rows of `inner` elements in which each operand steps by 1 or stays.
 */
#define MASK(c) (-(PW_CAT(convert_, PW_MOVEN(in1, VEC))(c)))

__kernel void select_where(__global const uchar *condition, __global const PW_MOVE(in1) *in1,
                           __global const PW_MOVE(in1) *in2, __global PW_MOVE(in1) *out0, __global const int *walk,
                           const int rank, const long rows, const long inner, const int step_c, const int step_x,
                           const int step_y, const int piece, const int pieces, const int per_item)
{
    typedef PW_MOVEN(in1, VEC) vector;
    long unit = (long)get_global_id(0) * per_item, last = min(unit + per_item, rows * pieces);

    for (; unit < last; unit++) {
        long row = unit / pieces;
        long i = unit % pieces * piece, end = min(i + piece, inner);
        __global const uchar *c = condition + row_start(walk, rank, 0, row);
        __global const PW_MOVE(in1) *x = in1 + row_start(walk, rank, 1, row);
        __global const PW_MOVE(in1) *y = in2 + row_start(walk, rank, 2, row);
        __global PW_MOVE(in1) *out = out0 + row * inner;

        if (step_c) {
            vector xs = (vector)(x[0]), ys = (vector)(y[0]);

            for (; i + VEC <= end; i += VEC) {
                vector mask = MASK(PW_CAT(vload, VEC)(0, c + i) & (PW_VEC(uchar, VEC))(1));

                xs = step_x ? PW_CAT(vload, VEC)(0, x + i) : xs;
                ys = step_y ? PW_CAT(vload, VEC)(0, y + i) : ys;
                PW_CAT(vstore, VEC)((xs & mask) | (ys & ~mask), 0, out + i);
            }
        }
        for (; i < end; i++)
            out[i] = c[step_c ? i : 0] ? x[step_x ? i : 0] : y[step_y ? i : 0];
    }
}
