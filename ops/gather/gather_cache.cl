/* TensorScatter: a copy of the cache, then rows of the update at each sequence's own position. Elements are moved as
 * words of their size; a work-item takes rows. Positions are clamped (linear) or wrapped (circular). */
#define ELEMENT PW_MOVE(in0)
PW_DEFINE_COPY(copy_dense, ELEMENT)

__kernel void cache_copy(__global const ELEMENT *in0, __global ELEMENT *out0, int count)
{
    int begin, end;
    pw_share(count, &begin, &end);
    copy_dense(in0 + begin, out0 + begin, end - begin);
}

__kernel void cache_update(__global const ELEMENT *in1, __global const long *in2, __global ELEMENT *out0, int rows,
                           int middle, int capacity, int steps, int inner, int circular)
{
    int row, end;
    pw_share(rows, &row, &end);
    for (; row < end; row++) {
        int line = row / steps;
        long at = (in2 ? in2[line / middle] : 0) + row % steps;
        at = circular ? ((at % capacity) + capacity) % capacity : clamp(at, 0L, (long)capacity - 1);
        for (int i = 0; i < inner; i++)
            out0[((long)line * capacity + at) * inner + i] = in1[(long)row * inner + i];
    }
}
