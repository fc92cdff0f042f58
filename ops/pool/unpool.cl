/*
 * MaxUnpool: zeros, then each element to where its index says. Elements move as bits. An index counts in
 * pooled_dims; what lies outside them or outside the output is skipped.
 */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void unpool_zero(__global PW_MOVE(X) *output, int count, int each)
{
    const int begin = (int)get_global_id(0) * each, end = min(count, begin + each);

    for (int i = begin; i < end; i++)
        output[i] = 0;
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
unpool_place(__global const PW_MOVE(X) *X, __global const long *I, __global PW_MOVE(X) *output,
             __global const int *pooled_dims, __global const int *out_dims, int rank, long pooled_size, int count,
             int each)
{
    const int begin = (int)get_global_id(0) * each, end = min(count, begin + each);

    for (int i = begin; i < end; i++) {
        long index = I[i], to = 0, pitch = 1;
        int inside = index >= 0 && index < pooled_size;
        for (int a = rank - 1; a >= 0 && inside; a--) {
            const long at = index % pooled_dims[a];
            index /= pooled_dims[a];
            inside &= at < out_dims[a];
            to += at * pitch;
            pitch *= out_dims[a];
        }
        if (inside)
            output[to] = X[i];
    }
}
