/*
 * Resize and Upsample by the tables of resize_bind.c: for each axis the input positions (and weights) of every
 * output position, made on the host in double.
 *   resize_nearest  moves elements as bits; rows of the last axis.
 *   resize_*        one axis a launch, [outer, from, inner] -> [outer, to, inner], 8 elements of `inner` at a time;
 *                   between the axes in WORK, float, or double for float64 and integers.
 * A position of -1 is outside: it gives the extrapolation value.
 */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
resize_nearest(__global const PW_MOVE(X) *X, __global PW_MOVE(X) *Y, __global const int *table,
               __global const int *start_of, __global const int *in_dims, __global const int *out_dims, int rank,
               int row, int rows, int rows_each, long outside_bits)
{
    const int begin = (int)get_global_id(0) * rows_each, end = min(rows, begin + rows_each);
    __global const int *columns = table + start_of[rank - 1];
#if X_bytes == 16
    const PW_MOVE(X) outside = (PW_MOVE(X))(0);
#else
    const PW_MOVE(X) outside = (PW_MOVE(X))outside_bits;
#endif

    for (int r = begin; r < end; r++) {
        size_t base = 0, pitch = in_dims[rank - 1];
        int rest = r, inside = 1;
        for (int a = rank - 2; a >= 0; a--) {
            const int at = table[start_of[a] + rest % out_dims[a]];
            rest /= out_dims[a];
            inside &= at >= 0;
            base += at * pitch;
            pitch *= in_dims[a];
        }
        __global PW_MOVE(X) *out = Y + (size_t)r * row;
        for (int i = 0; i < row; i++)
            out[i] = inside && columns[i] >= 0 ? X[base + columns[i]] : outside;
    }
}

#ifdef WEIGHTED
#if PW_IS_FLOAT(X) && !PW_IS_DOUBLE(X)
#define WORK float
#define WORK8 float8
#define WEIGHT(i) as_float(weights[i])
#define TO_WORK(v) (v)
#define TO_WORK8(v) (v)
#else
#define WORK double
#define WORK8 double8
#define WEIGHT(i) as_double((long)weights[2 * (i) + 1] << 32 | (uint)weights[2 * (i)])
#define TO_WORK(v) convert_double(v)
#define TO_WORK8(v) convert_double8(v)
#endif

#define LOAD_X(p, i) TO_WORK(PW_AT_LOAD(X, p, i))
#define LOAD8_X(p, i) TO_WORK8(PW_AT_LOAD8(X, p, i))
#define LOAD_WORK(p, i) (p)[i]
#define LOAD8_WORK(p, i) vload8(0, (p) + (i))
#define STORE_WORK(p, i, v) ((p)[i] = (v))
#define STORE8_WORK(p, i, v) vstore8(v, 0, (p) + (i))
#if PW_IS_FLOAT(X)
#define STORE_Y(p, i, v) PW_AT_STORE(X, p, i, v)
#define STORE8_Y(p, i, v) PW_AT_STORE8(X, p, i, v)
#else
/* Snapped to 2^-20, truncated, saturated. */
static inline double snap_1(double v)
{
    return trunc(fabs(v) < 4294967296.0 ? rint(v * 1048576.0) / 1048576.0 : v);
}
static inline double8 snap_8(double8 v)
{
    return trunc(fabs(v) < 4294967296.0 ? rint(v * 1048576.0) / 1048576.0 : v);
}
#define STORE_Y(p, i, v) ((p)[i] = PW_CAT3(convert_, PW_COMPUTE(X), _sat)(snap_1(v)))
#define STORE8_Y(p, i, v) vstore8(PW_CAT3(convert_, PW_COMPUTE8(X), _sat)(snap_8(v)), 0, (p) + (i))
#endif

#define PASS(name, SOURCE, LOAD8, LOAD, TARGET, STORE8, STORE) \
    __kernel __attribute__((reqd_work_group_size(1, 1, 1))) void name( \
        __global const SOURCE *source, __global TARGET *target, __global const int *table, \
        __global const int *weights, int from, int to, int inner, int start, int taps, int rows, int rows_each, \
        WORK extrapolation) \
    { \
        const int begin = (int)get_global_id(0) * rows_each, end = min(rows, begin + rows_each); \
        for (int row = begin; row < end; row++) { \
            const int at = start + row % to * taps; \
            const size_t x = (size_t)(row / to) * from * inner, y = (size_t)row * inner; \
            const int outside = table[at] < 0; \
            int i = 0; \
            for (; i + 8 <= inner; i += 8) { \
                WORK8 sum = outside ? extrapolation : (WORK)0; \
                for (int k = 0; k < taps && !outside; k++) \
                    sum = fma((WORK8)(WEIGHT(at + k)), LOAD8(source, x + (size_t)table[at + k] * inner + i), sum); \
                STORE8(target, y + i, sum); \
            } \
            for (; i < inner; i++) { \
                WORK sum = outside ? extrapolation : (WORK)0; \
                for (int k = 0; k < taps && !outside; k++) \
                    sum = fma(WEIGHT(at + k), LOAD(source, x + (size_t)table[at + k] * inner + i), sum); \
                STORE(target, y + i, sum); \
            } \
        } \
    }

PASS(resize_only, PW_TYPE(X), LOAD8_X, LOAD_X, PW_TYPE(X), STORE8_Y, STORE_Y)
PASS(resize_first, PW_TYPE(X), LOAD8_X, LOAD_X, WORK, STORE8_WORK, STORE_WORK)
PASS(resize_middle, WORK, LOAD8_WORK, LOAD_WORK, WORK, STORE8_WORK, STORE_WORK)
PASS(resize_last, WORK, LOAD8_WORK, LOAD_WORK, PW_TYPE(X), STORE8_Y, STORE_Y)
#endif
