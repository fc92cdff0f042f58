/*
 * Det: elimination with row exchanges, a work-group a matrix, in a copy of it; the determinant is the product of the
 * pivots, kept as mantissa and exponent so that a product on the way does not leave the range.
 * Tiling: rows below the pivot are dealt to the work-items (one item takes all on a CPU), in vectors of 8 columns.
 */
typedef PW_COMPUTE(X) acc_t;
typedef PW_COMPUTE8(X) acc_8;

__kernel void det(__global const PW_TYPE(X) *X, __global PW_TYPE(Y) *Y, __global acc_t *copies, int size)
{
    int me = get_local_id(0), items = get_local_size(0), exponent = 0;
    long m = get_group_id(0), elements = (long)size * size;
    __global acc_t *a = copies + m * elements;
    acc_t product = 1;

    for (long i = me; i < elements; i += items)
        a[i] = PW_LOAD(X, m * elements + i);
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (int c = 0; c < size; c++) {
        __global acc_t *top = a + (long)c * size;
        int best = c, power;
        acc_t pivot;

        for (int r = c + 1; r < size; r++) { /* NaN counts as the largest */
            acc_t old = a[(long)best * size + c];

            if (!(fabs(a[(long)r * size + c]) <= fabs(old)) && old == old)
                best = r;
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        for (int j = c + me; best != c && j < size; j += items) {
            acc_t kept = top[j];

            top[j] = a[(long)best * size + j];
            a[(long)best * size + j] = kept;
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        pivot = top[c];
        product = frexp(product * (best != c ? -pivot : pivot), &power);
        exponent += isfinite(product) ? power : 0;
        for (int r = c + 1 + me; r < size; r += items) {
            __global acc_t *row = a + (long)r * size;
            acc_t factor = pivot != 0 ? row[c] / pivot : (acc_t)0;
            int j = c + 1;

            for (; j + 8 <= size; j += 8)
                vstore8(fma((acc_8)(-factor), vload8(0, top + j), vload8(0, row + j)), 0, row + j);
            for (; j < size; j++)
                row[j] = fma(-factor, top[j], row[j]);
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
    if (me == 0)
        PW_STORE(Y, m, ldexp(product, clamp(exponent, -32000, 32000)));
}
