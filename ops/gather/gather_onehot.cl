/* OneHot: a work-item takes (outer, depth) rows of `inner` elements. Values are moved as words of their size. */
#define ELEMENT PW_MOVE(in2)

__kernel void one_hot(__global const PW_TYPE(in0) *in0, __global const ELEMENT *in2, __global ELEMENT *out0, int depth,
                      int inner, int rows)
{
    int row, end;
    pw_share(rows, &row, &end);
    ELEMENT off = in2[0], on = in2[1];
    for (; row < end; row++) {
        int o = row / depth, d = row % depth;
        for (int i = 0; i < inner; i++) {
#if PW_IS_FLOAT(in0)
            /* Truncated; what does not fit a long, and NaN, is nowhere. */
            PW_COMPUTE(in0) x = PW_LOAD(in0, (long)o * inner + i);
            long at = x > -9e15f && x < 9e15f ? (long)x : LONG_MAX;
#else
            long at = (long)PW_LOAD(in0, (long)o * inner + i);
#endif
            at = at < 0 ? at + depth : at;
            out0[(long)row * inner + i] = at == d ? on : off;
        }
    }
}
