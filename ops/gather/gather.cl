/*
 * Gather, GatherElements, GatherND. Elements are moved as words of their size: PW_MOVE(in0). Indices are PW_TYPE(in1).
 *
 * Tiling: a work-item takes one stretch of the result and walks it row by row. On a CPU that is a few work-items
 * with long copies; on other devices more and shorter ones. Sizes and strides are in elements. An index outside of
 * its axis is clamped: what it reads is meaningless, but lies inside the buffer.
 */
#define ELEMENT PW_MOVE(in0)
#define INDEX PW_TYPE(in1)

PW_DEFINE_COPY(copy_dense, ELEMENT)

static long place(INDEX index, int size)
{
    long at = (long)index;
    at = at < 0 ? at + size : at;
    return clamp(at, 0L, (long)size - 1);
}

/* out[o, j, :] = data[o, indices[j], :] */
__kernel void gather(__global const ELEMENT *in0, __global const INDEX *in1, __global ELEMENT *out0, int size,
                     int inner, int indices, int count)
{
    int begin, end;
    pw_share(count, &begin, &end);
    int row = begin / inner, column = begin % inner;
    int o = row / indices, j = row % indices;
    while (begin < end) {
        int n = min(inner - column, end - begin);
        __global const ELEMENT *from = in0 + ((long)o * size + place(in1[j], size)) * inner + column;
        if (inner == 1)
            out0[begin] = from[0];
        else
            copy_dense(from, out0 + begin, n);
        begin += n;
        column = 0;
        if (++j == indices) {
            j = 0;
            o++;
        }
    }
}

/* out[.., i, ..] = data[.., indices[.., i, ..], ..]; dims of indices, strides of data. */
__kernel void gather_elements(__global const ELEMENT *in0, __global const INDEX *in1, __global ELEMENT *out0,
                              __global const int *dims, __global const int *strides, int rank, int axis, int size,
                              int count)
{
    int begin, end, inner = dims[rank - 1];
    pw_share(count, &begin, &end);
    int step = axis == rank - 1 ? 0 : 1, stride = strides[axis];
    while (begin < end) {
        int column = begin % inner, rest = begin / inner;
        int n = min(inner - column, end - begin);
        long base = (long)column * step;
        for (int d = rank - 2; d >= 0; d--) {
            base += d == axis ? 0 : (long)(rest % dims[d]) * strides[d];
            rest /= dims[d];
        }
        for (int i = 0; i < n; i++)
            out0[begin + i] = in0[base + place(in1[begin + i], size) * stride + i * step];
        begin += n;
    }
}

/* A tuple of `depth` indices names a slice. */
__kernel void gather_nd(__global const ELEMENT *in0, __global const INDEX *in1, __global ELEMENT *out0,
                        __global const int *sizes, __global const int *strides, int depth, int slice,
                        int tuples_per_batch, int batch_stride, int count)
{
    int begin, end;
    pw_share(count, &begin, &end);
    while (begin < end) {
        int tuple = begin / slice, column = begin % slice;
        int n = min(slice - column, end - begin);
        long from = (long)(tuple / tuples_per_batch) * batch_stride + column;
        for (int d = 0; d < depth; d++)
            from += place(in1[(long)tuple * depth + d], sizes[d]) * strides[d];
        copy_dense(in0 + from, out0 + begin, n);
        begin += n;
    }
}
