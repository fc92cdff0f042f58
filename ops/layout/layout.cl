/*
 * Moves of elements. Nothing here knows a type: PW_MOVE(in0) is an unsigned word of the element's size, so one
 * program for each dtype serves all operators of the room.
 *
 * Tiling: a work-item takes one stretch of the result, count / global_size elements (or rows, or tiles), and walks
 * it with counters instead of a division for each element. On a CPU that is a few work-items with long dense
 * inner loops; on other devices more and shorter ones. Arguments are sizes and strides in elements.
 */
#define ELEMENT PW_MOVE(in0)
#define ELEMENT8 PW_MOVEN(in0, 8)
#define RANK_MAX 34

PW_DEFINE_COPY(copy_dense, ELEMENT)

static void fill_dense(ELEMENT value, __global ELEMENT *dst, int n)
{
    int i = 0;
    for (; i + 8 <= n; i += 8)
        vstore8((ELEMENT8)(value), 0, dst + i);
    for (; i < n; i++)
        dst[i] = value;
}

/* ---- strided copies ---- */

/* dst[dst_offset + sum i*dst_stride] = src[src_offset + sum i*src_stride] over all i in dims; the arrays begin at `at`. */
__kernel void copy_strided(__global const ELEMENT *in0, __global ELEMENT *out0, __global const int *dims,
                           __global const int *src_stride, __global const int *dst_stride, int at, int rank, int count,
                           int src_offset, int dst_offset)
{
    int begin, end, i[RANK_MAX];
    pw_share(count, &begin, &end);
    if (begin >= end)
        return;
    dims += at;
    src_stride += at;
    dst_stride += at;
    int inner = rank - 1;
    long src = src_offset, dst = dst_offset;
    for (int d = inner, rest = begin; d >= 0; d--) {
        i[d] = rest % dims[d];
        rest /= dims[d];
        src += (long)i[d] * src_stride[d];
        dst += (long)i[d] * dst_stride[d];
    }
    int s = src_stride[inner], t = dst_stride[inner];
    while (begin < end) {
        int n = min(dims[inner] - i[inner], end - begin);
        __global const ELEMENT *from = in0 + src;
        __global ELEMENT *to = out0 + dst;
        if (s == 1 && t == 1) {
            copy_dense(from, to, n);
        } else if (s == 0 && t == 1) {
            fill_dense(from[0], to, n);
        } else {
            for (int k = 0; k < n; k++)
                to[(long)k * t] = from[(long)k * s];
        }
        begin += n;
        /* Back to the row's start, then on to the next row. */
        src -= (long)i[inner] * s;
        dst -= (long)i[inner] * t;
        i[inner] = 0;
        for (int d = inner - 1; d >= 0; d--) {
            src += src_stride[d];
            dst += dst_stride[d];
            if (++i[d] < dims[d])
                break;
            src -= (long)dims[d] * src_stride[d];
            dst -= (long)dims[d] * dst_stride[d];
            i[d] = 0;
        }
    }
}

/* ---- transposes: the last two dims are a matrix, dense along rows in src and along columns in dst ---- */

#define TILE_COLUMNS 128

/* Eight columns of eight rows through registers. */
static void transpose_8x8(__global const ELEMENT *src, int s, __global ELEMENT *dst, int t)
{
    ELEMENT8 a = vload8(0, src), b = vload8(0, src + s), c = vload8(0, src + 2 * (long)s),
             d = vload8(0, src + 3 * (long)s), e = vload8(0, src + 4 * (long)s), f = vload8(0, src + 5 * (long)s),
             g = vload8(0, src + 6 * (long)s), h = vload8(0, src + 7 * (long)s);
    vstore8((ELEMENT8)(a.s0, b.s0, c.s0, d.s0, e.s0, f.s0, g.s0, h.s0), 0, dst);
    vstore8((ELEMENT8)(a.s1, b.s1, c.s1, d.s1, e.s1, f.s1, g.s1, h.s1), 0, dst + t);
    vstore8((ELEMENT8)(a.s2, b.s2, c.s2, d.s2, e.s2, f.s2, g.s2, h.s2), 0, dst + 2 * (long)t);
    vstore8((ELEMENT8)(a.s3, b.s3, c.s3, d.s3, e.s3, f.s3, g.s3, h.s3), 0, dst + 3 * (long)t);
    vstore8((ELEMENT8)(a.s4, b.s4, c.s4, d.s4, e.s4, f.s4, g.s4, h.s4), 0, dst + 4 * (long)t);
    vstore8((ELEMENT8)(a.s5, b.s5, c.s5, d.s5, e.s5, f.s5, g.s5, h.s5), 0, dst + 5 * (long)t);
    vstore8((ELEMENT8)(a.s6, b.s6, c.s6, d.s6, e.s6, f.s6, g.s6, h.s6), 0, dst + 6 * (long)t);
    vstore8((ELEMENT8)(a.s7, b.s7, c.s7, d.s7, e.s7, f.s7, g.s7, h.s7), 0, dst + 7 * (long)t);
}

/* Columns inside, so that the lines of eight rows of the result are written whole, one after the other. */
static void transpose_tile(__global const ELEMENT *src, int s, __global ELEMENT *dst, int t, int rows, int columns)
{
    int full_rows = rows & ~7, full_columns = columns & ~7;
    for (int r = 0; r < full_rows; r += 8) {
        for (int k = 0; k < full_columns; k += 8)
            transpose_8x8(src + (long)k * s + r, s, dst + (long)r * t + k, t);
    }
    for (int r = 0; r < rows; r++) {
        for (int k = r < full_rows ? full_columns : 0; k < columns; k++)
            dst[(long)r * t + k] = src[(long)k * s + r];
    }
}

/* Two or four columns that lie side by side in the result: whole vectors, interleaved. */
static void interleave_2(__global const ELEMENT *src, int s, __global ELEMENT *dst, int rows)
{
    int r = 0;
    for (; r + 8 <= rows; r += 8) {
        ELEMENT8 a = vload8(0, src + r), b = vload8(0, src + s + r);
        vstore8((ELEMENT8)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3), 0, dst + 2 * r);
        vstore8((ELEMENT8)(a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7), 0, dst + 2 * r + 8);
    }
    for (; r < rows; r++) {
        dst[2 * r] = src[r];
        dst[2 * r + 1] = src[s + r];
    }
}

static void interleave_4(__global const ELEMENT *src, int s, __global ELEMENT *dst, int rows)
{
    int r = 0;
    for (; r + 8 <= rows; r += 8) {
        ELEMENT8 a = vload8(0, src + r), b = vload8(0, src + s + r);
        ELEMENT8 c = vload8(0, src + 2 * (long)s + r), d = vload8(0, src + 3 * (long)s + r);
        vstore8((ELEMENT8)(a.s0, b.s0, c.s0, d.s0, a.s1, b.s1, c.s1, d.s1), 0, dst + 4 * r);
        vstore8((ELEMENT8)(a.s2, b.s2, c.s2, d.s2, a.s3, b.s3, c.s3, d.s3), 0, dst + 4 * r + 8);
        vstore8((ELEMENT8)(a.s4, b.s4, c.s4, d.s4, a.s5, b.s5, c.s5, d.s5), 0, dst + 4 * r + 16);
        vstore8((ELEMENT8)(a.s6, b.s6, c.s6, d.s6, a.s7, b.s7, c.s7, d.s7), 0, dst + 4 * r + 24);
    }
    for (; r < rows; r++) {
        for (int k = 0; k < 4; k++)
            dst[4 * r + k] = src[(long)k * s + r];
    }
}

__kernel void copy_transposed(__global const ELEMENT *in0, __global ELEMENT *out0, __global const int *dims,
                              __global const int *src_stride, __global const int *dst_stride, int rank, int tiles,
                              int src_offset, int dst_offset, int tile_rows)
{
    int begin, end;
    pw_share(tiles, &begin, &end);
    int rows = dims[rank - 2], columns = dims[rank - 1];
    int s = src_stride[rank - 1], t = dst_stride[rank - 2];
    int down = (rows + tile_rows - 1) / tile_rows, across = (columns + TILE_COLUMNS - 1) / TILE_COLUMNS;
    for (; begin < end; begin++) {
        long src = src_offset, dst = dst_offset;
        int r = begin % down * tile_rows, rest = begin / down;
        int k = rest % across * TILE_COLUMNS;
        rest /= across;
        for (int d = rank - 3; d >= 0; d--) {
            src += (long)(rest % dims[d]) * src_stride[d];
            dst += (long)(rest % dims[d]) * dst_stride[d];
            rest /= dims[d];
        }
        __global const ELEMENT *from = in0 + src + (long)k * s + r;
        __global ELEMENT *to = out0 + dst + (long)r * t + k;
        int height = min(tile_rows, rows - r);
        if (columns == 2 && t == 2)
            interleave_2(from, s, to, height);
        else if (columns == 4 && t == 4)
            interleave_4(from, s, to, height);
        else
            transpose_tile(from, s, to, t, height, min(TILE_COLUMNS, columns - k));
    }
}

/* ---- Pad, CenterCropPad ---- */

/* Input coordinate behind output coordinate o, or -1 for the constant: modes 0 constant, 1 reflect, 2 edge, 3 wrap. */
static int pad_source(int o, int begin, int low, int high, int mode)
{
    int i = o - begin, n = high - low;
    if (i >= low && i < high)
        return i;
    if (mode == 0)
        return -1;
    if (mode == 2 || n == 1)
        return i < low ? low : high - 1;
    int period = mode == 3 ? n : 2 * (n - 1);
    int at = (i - low) % period;
    at = at < 0 ? at + period : at;
    return low + (at < n ? at : period - at);
}

/* `fill` points to one element; NULL means zero. */
__kernel void pad(__global const ELEMENT *in0, __global ELEMENT *out0, __global const void *fill,
                  __global const int *in_dims, __global const int *out_dims, __global const int *begins,
                  __global const int *lows, __global const int *highs, int rank, int rows, int mode)
{
    int row, end, inner = rank - 1;
    pw_share(rows, &row, &end);
    ELEMENT value = fill ? ((__global const ELEMENT *)fill)[0] : (ELEMENT)(0);
    int n = out_dims[inner], low = lows[inner], high = highs[inner];
    int first = max(begins[inner], 0), last = first + high - low;
    for (; row < end; row++) {
        __global ELEMENT *to = out0 + (long)row * n;
        long src = 0, stride = in_dims[inner];
        int rest = row, inside = 1;
        for (int d = inner - 1; d >= 0; d--) {
            int i = pad_source(rest % out_dims[d], begins[d], lows[d], highs[d], mode);
            inside = inside && i >= 0;
            src += i * stride;
            stride *= in_dims[d];
            rest /= out_dims[d];
        }
        if (!inside) {
            fill_dense(value, to, n);
            continue;
        }
        for (int k = 0; k < first; k++) {
            int i = pad_source(k, begins[inner], low, high, mode);
            to[k] = i < 0 ? value : in0[src + i];
        }
        copy_dense(in0 + src + low, to + first, last - first);
        for (int k = last; k < n; k++) {
            int i = pad_source(k, begins[inner], low, high, mode);
            to[k] = i < 0 ? value : in0[src + i];
        }
    }
}

/* ---- Trilu ---- */

__kernel void trilu(__global const ELEMENT *in0, __global ELEMENT *out0, int rows, int columns, int total_rows, int k,
                    int upper)
{
    int row, end;
    pw_share(total_rows, &row, &end);
    for (; row < end; row++) {
        long at = (long)row * columns;
        int cut = clamp(row % rows + k + (upper ? 0 : 1), 0, columns);
        int from = upper ? cut : 0, to = upper ? columns : cut;
        fill_dense((ELEMENT)(0), out0 + at, from);
        copy_dense(in0 + at + from, out0 + at + from, to - from);
        fill_dense((ELEMENT)(0), out0 + at + to, columns - to);
    }
}

/* ---- ReverseSequence ---- */

__kernel void reverse_sequence(__global const ELEMENT *in0, __global ELEMENT *out0, __global const long *lengths,
                               int batch, int time, int inner, int batch_stride, int time_stride)
{
    int step, end;
    pw_share(batch * time, &step, &end);
    for (; step < end; step++) {
        int b = step / time, t = step % time;
        int length = (int)clamp(lengths[b], 0L, (long)time);
        long base = (long)b * batch_stride;
        int from = t < length ? length - 1 - t : t;
        copy_dense(in0 + base + (long)from * time_stride, out0 + base + (long)t * time_stride, inner);
    }
}
