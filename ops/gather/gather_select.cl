/*
 * NonZero and Compress, and the copy of Unique's slices: outputs whose size the data decides.
 * Algorithm: the flags are cut into stretches; each is counted, one work-item turns the counts into places (and writes
 * the total into `found`), then each stretch writes what it has from its place on. The outputs are dense for the size
 * that came out: what is beyond stays untouched.
 */
#if defined(NONZERO)
#define flags_dtype in0_dtype
#elif defined(COMPRESS)
#define flags_dtype in1_dtype
#endif

#ifdef flags_dtype
#define STRETCH \
    int stretch = (int)get_global_id(0); \
    long i = (long)stretch * piece, end = min(i + piece, size)

__kernel void count_true(__global const PW_TYPE(flags) *flags, __global int *places, const long size, const long piece,
                         const int stretches)
{
    STRETCH;
    int n = 0;

    if (stretch >= stretches)
        return;
    for (; i < end; i++)
        n += PW_LOAD(flags, i) != 0;
    places[stretch] = n;
}

__kernel void place_true(__global int *places, __global int *found, const int stretches)
{
    int total = 0;

    for (int s = 0; s < stretches; s++) {
        int n = places[s];
        places[s] = total;
        total += n;
    }
    *found = total;
}
#endif

#ifdef NONZERO
/* Column `at` of Y are the coordinates of the at-th element that is not zero. */
__kernel void write_coordinates(__global const PW_TYPE(flags) *flags, __global long *y, __global const int *places,
                                __global const int *found, __global const int *dims, const int rank, const long size,
                                const long piece, const int stretches)
{
    STRETCH;
    long columns = *found;

    if (stretch >= stretches)
        return;
    for (long at = places[stretch]; i < end; i++) {
        long rest = i;
        if (PW_LOAD(flags, i) == 0)
            continue;
        for (int d = rank - 1; d >= 0; d--) {
            y[d * columns + at] = rest % dims[d];
            rest /= dims[d];
        }
        at++;
    }
}
#endif

#ifdef COMPRESS
__kernel void list_true(__global const PW_TYPE(flags) *flags, __global int *picked, __global const int *places,
                        const long size, const long piece, const int stretches)
{
    STRETCH;

    if (stretch >= stretches)
        return;
    for (int at = places[stretch]; i < end; i++) {
        if (PW_LOAD(flags, i) != 0)
            picked[at++] = (int)i;
    }
}
#endif

#ifdef TAKES
PW_DEFINE_COPY(copy_dense, PW_MOVE(in0))

/* out[o, j, :] = in[o, picked[j], :] for j < *found. A unit is a piece of a slice; a work-item takes every nth. */
__kernel void take_slices(__global const PW_MOVE(in0) *in, __global PW_MOVE(in0) *out, __global const int *picked,
                          __global const int *found, const long outer, const long size, const long inner,
                          const long piece, const long pieces)
{
    long n = *found, units = outer * n * pieces;

    for (long unit = (long)get_global_id(0); unit < units; unit += (long)get_global_size(0)) {
        long slice = unit / pieces, i = unit % pieces * piece, end = min(i + piece, inner);
        __global const PW_MOVE(in0) *from = in + (slice / n * size + picked[slice % n]) * inner;
        __global PW_MOVE(in0) *to = out + slice * inner;
        copy_dense(from + i, to + i, (int)(end - i));
    }
}
#endif
