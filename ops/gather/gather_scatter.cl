/*
 * Scatter, ScatterElements, ScatterND: a first launch copies data, a second one applies the updates in row-major
 * order. Each work-item owns a part of the result, so updates need no atomics and duplicates end as in the
 * reference. Without REDUCE elements are moved as words of their size; with it they are computed in PW_COMPUTE(in0).
 * WIDE: sums and products of 16-bit floats are kept in a float copy and rounded once, by a third launch. An index
 * outside of its axis is clamped.
 */
#if REDUCE
#define ELEMENT PW_TYPE(in0)
#else
#define ELEMENT PW_MOVE(in0)
#endif
#if WIDE
#define RESULT float
#define GET(p, i) ((p)[i])
#define PUT(p, i, v) ((p)[i] = (v))
#else
#define RESULT ELEMENT
#define GET(p, i) PW_LOAD(p, i)
#define PUT(p, i, v) PW_STORE(p, i, v)
#endif
#define INDEX PW_TYPE(in1)
PW_DEFINE_COPY(copy_words, PW_MOVE(in0))

static long place(INDEX index, int size)
{
    long at = (long)index;
    at = at < 0 ? at + size : at;
    return clamp(at, 0L, (long)size - 1);
}

__kernel void copy_data(__global const ELEMENT *in0, __global ELEMENT *out0, int count)
{
    int begin, end;
    pw_share(count, &begin, &end);
    copy_words((__global const PW_MOVE(in0) *)in0 + begin, (__global PW_MOVE(in0) *)out0 + begin, end - begin);
}

#if WIDE
__kernel void widen(__global const ELEMENT *in0, __global float *wide, int count)
{
    int begin, end;
    pw_share(count, &begin, &end);
    for (; begin + 8 <= end; begin += 8)
        vstore8(PW_LOAD8(in0, begin), 0, wide + begin);
    for (; begin < end; begin++)
        wide[begin] = PW_LOAD(in0, begin);
}

__kernel void narrow(__global const float *wide, __global ELEMENT *out0, int count)
{
    int begin, end;
    pw_share(count, &begin, &end);
    for (; begin + 8 <= end; begin += 8)
        PW_STORE8(out0, begin, vload8(0, wide + begin));
    for (; begin < end; begin++)
        PW_STORE(out0, begin, wide[begin]);
}
#endif

/* n updates at in2 + from go to out0 + to; operation 0 none, 1 add, 2 mul, 3 max, 4 min. */
static void apply(__global const ELEMENT *in2, long from, __global RESULT *out0, long to, int n, int operation)
{
#if REDUCE
    for (int i = 0; i < n; i++) {
        PW_COMPUTE(in0) a = GET(out0, to + i), b = PW_LOAD(in2, from + i), r;
        switch (operation) {
        case 1:
            r = a + b; /* a stored bool is 0 or 1 whatever comes out */
            break;
        case 2:
            r = a * b;
            break;
        case 3: /* a NaN on either side wins */
            r = a != a || a > b ? a : b;
            break;
        default:
            r = a != a || a < b ? a : b;
        }
        PUT(out0, to + i, r);
    }
#else
    for (int i = 0; i < n; i++)
        out0[to + i] = in2[from + i];
#endif
}

/* A work-item takes columns: coordinates of indices beside the axis. */
__kernel void scatter_elements(__global const INDEX *in1, __global const ELEMENT *in2, __global RESULT *out0,
                               __global const int *dims, __global const int *strides, int rank, int axis, int size,
                               int columns, int operation)
{
    int column, end, steps = dims[axis];
    pw_share(columns, &column, &end);
    long step = 1;
    for (int d = axis + 1; d < rank; d++)
        step *= dims[d];
    for (; column < end; column++) {
        long from = column / step * step * steps + column % step, base = 0, rest = column;
        for (int d = rank - 1; d >= 0; d--) {
            if (d == axis)
                continue;
            base += rest % dims[d] * strides[d];
            rest /= dims[d];
        }
        for (int i = 0; i < steps; i++, from += step)
            apply(in2, from, out0, base + place(in1[from], size) * strides[axis], 1, operation);
    }
}

/*
 * Long slices: a work-item takes a stretch of every slice. Short ones: it takes a range of the result and applies the
 * updates whose slice begins there.
 */
__kernel void scatter_nd(__global const INDEX *in1, __global const ELEMENT *in2, __global RESULT *out0,
                         __global const int *sizes, __global const int *strides, int depth, int slice, int tuples,
                         int slices, int by_stretch, int operation)
{
    int begin, end;
    pw_share(by_stretch ? slice : slices, &begin, &end);
    if (begin >= end)
        return;
    for (int t = 0; t < tuples; t++) {
        long to = 0;
        for (int d = 0; d < depth; d++)
            to += place(in1[(long)t * depth + d], sizes[d]) * strides[d];
        if (by_stretch)
            apply(in2, (long)t * slice + begin, out0, to + begin, end - begin, operation);
        else if (to / slice >= begin && to / slice < end)
            apply(in2, (long)t * slice, out0, to, slice, operation);
    }
}
