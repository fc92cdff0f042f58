/*
 * ArgMax, ArgMin, CumSum, CumProd along `length` of [outer][length][inner].
 *   arg_rows     inner = 1, floats: the largest value in vectors of 8, then the first (last) element equal to it
 *   arg_columns  one work-item a column, any device and dtype
 *   cum_columns  one work-item a column, in order: a running sum has no other
 * MIN, LAST, PRODUCT choose the variant. NaN is the extreme of its row, as in numpy.
 */
#if MIN
#define BETTER(x, best) ((x) < (best))
#else
#define BETTER(x, best) ((x) > (best))
#endif

#ifdef data_dtype
#if PW_IS_FLOAT(data)
#define IS_NAN(x) ((x) != (x))
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void arg_rows(__global const PW_TYPE(data) *data,
                                                                      __global long *reduced, int outer, int length,
                                                                      int rows)
{
    int first = get_global_id(0) * rows, last = min(first + rows, outer);

    for (int r = first; r < last; r++) {
        long at = (long)r * length;
        PW_COMPUTE8(data) m8 = (PW_COMPUTE8(data))(PW_LOAD(data, at));
        PW_COMPUTE(data) m = m8.s0, lanes[8];
        int i = 0, found = 0, nan = m != m;

        for (; i + 8 <= length; i += 8) {
            PW_COMPUTE8(data) v = PW_LOAD8(data, at + i);

            m8 = BETTER(v, m8) ? v : m8;
            nan |= any(v != v);
        }
        for (; i < length; i++) {
            PW_COMPUTE(data) v = PW_LOAD(data, at + i);

            m = BETTER(v, m) ? v : m;
            nan |= v != v;
        }
        vstore8(m8, 0, lanes);
        for (int j = 0; j < 8; j++)
            m = BETTER(lanes[j], m) ? lanes[j] : m;
#if LAST
        for (found = length - 1; found > 0; found--) {
#else
        for (found = 0; found < length - 1; found++) {
#endif
            PW_COMPUTE(data) v = PW_LOAD(data, at + found);

            if (nan ? v != v : v == m)
                break;
        }
        reduced[r] = found;
    }
}
#else
#define IS_NAN(x) 0
#endif

__kernel void arg_columns(__global const PW_TYPE(data) *data, __global long *reduced, int columns, int length,
                          int inner)
{
    int id = get_global_id(0), best = 0;
    long at = (long)(id / inner) * length * inner + id % inner;
    PW_COMPUTE(data) m;

    if (id >= columns)
        return;
    m = PW_LOAD(data, at);
    for (int i = 1; i < length; i++) {
        PW_COMPUTE(data) v = PW_LOAD(data, at + (long)i * inner);
        int equal = (v == m) | (IS_NAN(v) & IS_NAN(m)), wins = (!IS_NAN(m)) & (BETTER(v, m) | IS_NAN(v));

        if (LAST ? wins | equal : wins) {
            m = v;
            best = i;
        }
    }
    reduced[id] = best;
}
#endif

#ifdef x_dtype
__kernel void cum_columns(__global const PW_TYPE(x) *x, __global PW_TYPE(y) *y, int columns, int length, int inner,
                          int exclusive, int reverse)
{
    int id = get_global_id(0);
    long at = (long)(id / inner) * length * inner + id % inner;
    PW_COMPUTE(x) acc = PRODUCT;

    if (id >= columns)
        return;
    for (int n = 0; n < length; n++) {
        long i = at + (long)(reverse ? length - 1 - n : n) * inner;
#if PRODUCT
        PW_COMPUTE(x) next = acc * PW_LOAD(x, i);
#else
        PW_COMPUTE(x) next = acc + PW_LOAD(x, i);
#endif

        PW_STORE(y, i, exclusive ? acc : next);
        acc = next;
    }
}
#endif
