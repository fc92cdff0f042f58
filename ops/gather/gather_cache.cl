/* TensorScatter: a copy of the cache, then rows of the update at each sequence's own position. Elements are moved as
 * words of their size; a work-item takes rows. Positions are clamped (linear) or wrapped (circular). */
#define ELEMENT PW_MOVE(in0)

static void share(int n, int *begin, int *end)
{
    long size = (long)get_global_size(0), id = (long)get_global_id(0);
    long each = ((long)n + size - 1) / size;
    long first = min(id * each, (long)n);
    *begin = (int)first;
    *end = (int)min(first + each, (long)n);
}

__kernel void cache_copy(__global const ELEMENT *in0, __global ELEMENT *out0, int count)
{
    int begin, end;
    share(count, &begin, &end);
    for (; begin + 8 <= end; begin += 8)
        vstore8(vload8(0, in0 + begin), 0, out0 + begin);
    for (; begin < end; begin++)
        out0[begin] = in0[begin];
}

__kernel void cache_update(__global const ELEMENT *in1, __global const long *in2, __global ELEMENT *out0, int rows,
                           int middle, int capacity, int steps, int inner, int circular)
{
    int row, end;
    share(rows, &row, &end);
    for (; row < end; row++) {
        int line = row / steps;
        long at = (in2 ? in2[line / middle] : 0) + row % steps;
        at = circular ? ((at % capacity) + capacity) % capacity : clamp(at, 0L, (long)capacity - 1);
        for (int i = 0; i < inner; i++)
            out0[((long)line * capacity + at) * inner + i] = in1[(long)row * inner + i];
    }
}
