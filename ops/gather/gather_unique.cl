/*
 * Unique: slices along an axis (or single elements), ordered, grouped, numbered.
 * Algorithm: a stable merge sort of slice numbers. Each stretch of `piece` is sorted by one work-item, then stretches
 * are merged pairwise, a pair a work-item, from one half of `order` to the other and back; the description cuts
 * the slices into 1, 4, 16 or 64 stretches, so that the result ends in the first half. Then a mark where a slice
 * differs from the one before it, and one pass that numbers the groups. NaN is above all and equal to itself, -0 is 0.
 */
#define VALUE PW_COMPUTE(in0)

static int compare(__global const PW_TYPE(in0) *in0, long a, long b, long outer, long size, long inner)
{
    for (long o = 0; o < outer; o++) {
        for (long k = 0; k < inner; k++) {
            VALUE u = PW_LOAD(in0, (o * size + a) * inner + k), v = PW_LOAD(in0, (o * size + b) * inner + k);
            if (u < v || (v != v && u == u))
                return -1;
            if (v < u || (u != u && v == v))
                return 1;
        }
    }
    return 0;
}

#define SLICES __global const PW_TYPE(in0) *in0, const long outer, const long size, const long inner

/* Merges from[begin, middle) and from[middle, end) into to; on equal slices the left one first. */
static void merge(SLICES, __global const int *from, __global int *to, long begin, long middle, long end)
{
    long left = begin, right = middle;

    for (long i = begin; i < end; i++) {
        int take_left = left < middle && (right >= end || compare(in0, from[left], from[right], outer, size, inner) <= 0);
        to[i] = take_left ? from[left++] : from[right++];
    }
}

__kernel void sort_stretches(SLICES, __global int *order, const long piece)
{
    long begin = (long)get_global_id(0) * piece, end = min(begin + piece, size);
    __global int *from = order, *to = order + size;

    for (long i = begin; i < end; i++)
        from[i] = (int)i;
    for (long width = 1; width < end - begin; width *= 2) {
        __global int *swap = from;
        for (long i = begin; i < end; i += 2 * width)
            merge(in0, outer, size, inner, from, to, i, min(i + width, end), min(i + 2 * width, end));
        from = to;
        to = swap;
    }
    for (long i = begin; i < end && from != order; i++)
        order[i] = from[i];
}

/* Pairs of stretches of `width`; to_second says into which half. */
__kernel void merge_stretches(SLICES, __global int *order, const long width, const int to_second)
{
    long begin = (long)get_global_id(0) * 2 * width;

    if (begin < size)
        merge(in0, outer, size, inner, order + (to_second ? 0 : size), order + (to_second ? size : 0), begin,
              min(begin + width, size), min(begin + 2 * width, size));
}

/* Into the second half: 1 where a group begins. */
__kernel void mark_groups(SLICES, __global int *order, const long piece)
{
    long i = (long)get_global_id(0) * piece, end = min(i + piece, size);

    for (; i < end; i++)
        order[size + i] = i == 0 || compare(in0, order[i - 1], order[i], outer, size, inner) != 0;
}

/* One work-item. first[g]: first slice of group g; group[s]: group of slice s. */
__kernel void number_groups(__global int *order, __global int *first, __global int *group, __global int *found,
                            __global long *indices, __global long *inverse, __global long *counts, const long size,
                            const int keep_sorted)
{
    __global int *renamed = order + size; /* over the marks, which are read by then */
    int groups = 0;

    for (long i = 0; i < size; i++) {
        if (order[size + i])
            first[groups++] = order[i];
        group[order[i]] = groups - 1;
    }
    *found = groups;
    if (!keep_sorted) { /* in the order of their first slices */
        int next = 0;
        for (long s = 0; s < size; s++) {
            if (first[group[s]] == s)
                renamed[group[s]] = next++;
        }
        for (long s = 0; s < size; s++)
            group[s] = renamed[group[s]];
        for (long s = size - 1; s >= 0; s--)
            first[group[s]] = (int)s;
    }
    for (int g = 0; indices && g < groups; g++)
        indices[g] = first[g];
    for (long s = 0; inverse && s < size; s++)
        inverse[s] = group[s];
    for (int g = 0; counts && g < groups; g++)
        counts[g] = 0;
    for (long s = 0; counts && s < size; s++)
        counts[group[s]]++;
}
