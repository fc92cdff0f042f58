/*
 * MaxPool, AveragePool, LpPool over any number of axes.
 *
 * pool_<mode>: a work-item makes rows of outputs. For a row the taps of the outer axes that lie inside the
 * input are listed once; along the innermost axis 8 outputs at a time where all their windows are inside
 * (stride 1 and 2: one or two vectors a tap), single outputs at the edges. The last group of 8 moves back to
 * end with the last inner output, so that a row has few single ones.
 * pool_plain: one output at a time, with indices, for any number of taps.
 * pool_global_<mode>: whole planes, 16 partial results.
 * A NaN is the largest element of its window. LARGER is written without x != x: PoCL 3.1 compiles that to a call of
 * nothing where x comes from vload_half8.
 */
#define WORK PW_COMPUTE(X)
#define WORK8 PW_COMPUTE8(X)
#define WORK16 PW_COMPUTE16(X)
#define OUTER_TAPS 64

#if PW_IS_FLOAT(X)
#define LEAST (-(WORK)INFINITY)
#else
#define LEAST ((WORK)-1 < (WORK)0 ? (WORK)-128 : (WORK)0)
#endif

#define LARGER(acc, x) ((((acc) == (acc)) & !((x) <= (acc))) ? (x) : (acc))

static inline WORK8 load_eight(__global const PW_TYPE(X) *X, size_t at, int stride)
{
    return stride == 1 ? PW_LOAD8(X, at) : PW_LOADN(X, 16, at).even;
}

/* Offsets of the outer taps inside the input, for output row `row` of a plane; *padded counts those inside the padding too. */
static inline int list_outer(int row, __global const int *in_dims, __global const int *out_dims,
                             __global const int *kernel_dims, __global const int *stride_of,
                             __global const int *dilation_of, __global const int *pad_of,
                             __global const int *pad_end_of, int axes, int *offsets, int *padded)
{
    int outer = 1, count = 0;
    *padded = 0;
    for (int a = 0; a < axes - 1; a++)
        outer *= kernel_dims[a];
    for (int t = 0; t < outer; t++) {
        int rest = row, tap = t, offset = 0, pitch = in_dims[axes - 1], inside = 1, within = 1;
        for (int a = axes - 2; a >= 0; a--) {
            const int at = rest % out_dims[a] * stride_of[a] + tap % kernel_dims[a] * dilation_of[a] - pad_of[a];
            rest /= out_dims[a];
            tap /= kernel_dims[a];
            inside &= at >= 0 && at < in_dims[a];
            within &= at < in_dims[a] + pad_end_of[a];
            offset += at * pitch;
            pitch *= in_dims[a];
        }
        *padded += within;
        if (inside)
            offsets[count++] = offset;
    }
    return count;
}

#define POOL_PARAMETERS \
    __global const PW_TYPE(X) *X, __global PW_TYPE(Y) *Y, __global const int *in_dims, \
        __global const int *out_dims, __global const int *kernel_dims, __global const int *stride_of, \
        __global const int *dilation_of, __global const int *pad_of, __global const int *pad_end_of, int axes, \
        int in_size, int total, int row_out, int plane_rows, int rows, int rows_each, int count_pads

/* How many of taps 0, d, 2d… from `first` on lie below `limit`. */
static inline int taps_below(int first, int d, int taps, int limit)
{
    return limit <= first ? 0 : min(taps, (limit - first + d - 1) / d);
}

/* START8, START: the state of 8 outputs, of one. TAKE8, TAKE: take x, the element(s) at offset `where` of the plane;
 * taps come in row-major order. PUT8, PUT(i, n): the result of n elements to output i. */
#define POOL(name, START8, TAKE8, PUT8, START, TAKE, PUT, ...) \
    __kernel __attribute__((reqd_work_group_size(1, 1, 1))) void name(POOL_PARAMETERS, __VA_ARGS__) \
    { \
        const int last = axes - 1, width = in_dims[last], taps = kernel_dims[last], s = stride_of[last]; \
        const int d = dilation_of[last], pad = pad_of[last], end_pad = pad_end_of[last], reach = (taps - 1) * d; \
        const int begin = (int)get_global_id(0) * rows_each, end = min(rows, begin + rows_each); \
        /* The last output whose window lies inside the row. */ \
        const int inner = min(row_out - 1, (width - 1 - reach + pad) / s); \
        int offsets[OUTER_TAPS], padded; \
        for (int row = begin; row < end; row++) { \
            const int n = list_outer(row % plane_rows, in_dims, out_dims, kernel_dims, stride_of, dilation_of, \
                                     pad_of, pad_end_of, axes, offsets, &padded); \
            const size_t base = (size_t)(row / plane_rows) * in_size, to = (size_t)row * row_out; \
            for (int i = 0; i < row_out;) { \
                const int at = min(i, inner - 7), from = at * s - pad; \
                if (s <= 2 && at >= 0 && at + 8 > i && from >= 0 && n > 0 && width > reach && \
                    (long)base + offsets[n - 1] + from + reach + 8 * s <= (long)total) { \
                    START8 \
                    for (int o = 0; o < n; o++) { \
                        for (int t = 0; t < taps; t++) { \
                            const int where = offsets[o] + from + t * d; \
                            const WORK8 x = load_eight(X, base + where, s); \
                            TAKE8 \
                        } \
                    } \
                    PUT8(to + at, (count_pads ? padded : n) * taps) \
                    i = at + 8; \
                    continue; \
                } \
                const int first = i * s - pad, left = taps_below(first, d, taps, 0); \
                const int right = taps_below(first, d, taps, width); \
                const int within = taps_below(first, d, taps, width + end_pad); \
                START \
                for (int o = 0; o < n; o++) { \
                    for (int t = left; t < right; t++) { \
                        const int where = offsets[o] + first + t * d; \
                        const WORK x = PW_LOAD(X, base + where); \
                        TAKE \
                    } \
                } \
                PUT(to + i, count_pads ? padded * within : n * max(0, right - left)) \
                i++; \
            } \
        } \
    }
#define SUM_STATE8 WORK8 acc = 0;
#define SUM_STATE WORK acc = 0;

#define MAX_PUT8(i, n) PW_STORE8(Y, i, acc);
#define MAX_PUT(i, n) PW_STORE(Y, i, acc);
POOL(pool_max, WORK8 acc = LEAST;, acc = LARGER(acc, x);, MAX_PUT8, WORK acc = LEAST;, acc = LARGER(acc, x);, MAX_PUT,
     float p)

/* Also where the largest lies: the first of equal ones, and the first element of all where nothing is larger. */
#define PLACES (int8)(0, 1, 2, 3, 4, 5, 6, 7)
#define TAKE_PLACE8 \
    { \
        const int8 better = convert_int8((acc == acc) & !(x <= acc)) | (best < 0); \
        acc = LARGER(acc, x); \
        best = select(best, where + PLACES * s, better); \
    }
#define TAKE_PLACE \
    if (best < 0 || ((acc == acc) & !(x <= acc))) { \
        acc = x; \
        best = where; \
    }
#define PLACE_PUT8(i, n) \
    PW_STORE8(Y, i, acc); \
    vstore8(convert_long8(best) + (long)base, 0, Indices + (i));
#define PLACE_PUT(i, n) \
    PW_STORE(Y, i, acc); \
    Indices[i] = best < 0 ? -1 : best + (long)base;
POOL(pool_max_places, WORK8 acc = LEAST; int8 best = -1;, TAKE_PLACE8, PLACE_PUT8, WORK acc = LEAST; int best = -1;,
     TAKE_PLACE, PLACE_PUT, __global long *Indices)

#if PW_IS_FLOAT(X)
/* The sums of LpPool: in double where the device has it, as powers of what has float's range leave it. */
#define narrow_f16 1
#if defined(cl_khr_fp64) && !PW_CAT(narrow_, X_dtype)
#define SUMS double
#else
#define SUMS PW_COMPUTE(X)
#endif
#if defined(cl_khr_fp64) && !PW_IS_DOUBLE(X)
PW_DEFINE_POWER(lp_power, double, long)
/* What underflows in double is 0 in float. */
#define POWER_OF(x, y) ((x) < DBL_MIN ? (SUMS)0 : !((x) <= DBL_MAX) ? (x) : (SUMS)lp_power(x, y))
#else
#define POWER_OF(x, y) pow(x, (SUMS)(y))
#endif
static inline SUMS lp_term_1(WORK v, float p)
{
    SUMS x = fabs((SUMS)v);

    return p == 1 ? x : p == 2 ? x * x : p == 3 ? x * x * x : POWER_OF(x, p);
}
static inline WORK lp_root_1(SUMS sum, float p)
{
    return p == 1 ? sum : p == 2 ? sqrt(sum) : POWER_OF(sum, 1 / (SUMS)p);
}
/* Vectors: one by one where it is no product. */
#define LP_FUNCTIONS(N, V, S) \
    static inline S lp_term_##N(V v, float p) \
    { \
        S x = fabs(PW_CAT(convert_, S)(v)); \
        WORK lanes[N]; \
        SUMS terms[N]; \
        if (p == 1 || p == 2 || p == 3) \
            return p == 1 ? x : p == 2 ? x * x : x * x * x; \
        vstore##N(v, 0, lanes); \
        for (int l = 0; l < N; l++) \
            terms[l] = lp_term_1(lanes[l], p); \
        return vload##N(0, terms); \
    } \
    static inline V lp_root_##N(S sum, float p) \
    { \
        SUMS lanes[N]; \
        WORK roots[N]; \
        if (p == 1 || p == 2) \
            return PW_CAT(convert_, V)(p == 1 ? sum : sqrt(sum)); \
        vstore##N(sum, 0, lanes); \
        for (int l = 0; l < N; l++) \
            roots[l] = lp_root_1(lanes[l], p); \
        return vload##N(0, roots); \
    }
LP_FUNCTIONS(8, WORK8, PW_VEC(SUMS, 8))
#define MEAN(acc, n) ((n) > 0 ? (acc) / (WORK)(n) : 0 * (acc))
#define MEAN_PUT8(i, n) PW_STORE8(Y, i, MEAN(acc, n));
#define MEAN_PUT(i, n) PW_STORE(Y, i, MEAN(acc, n));
#define LP_PUT8(i, n) PW_STORE8(Y, i, lp_root_8(acc, p));
#define LP_PUT(i, n) PW_STORE(Y, i, lp_root_1(acc, p));
POOL(pool_average, SUM_STATE8, acc += x;, MEAN_PUT8, SUM_STATE, acc += x;, MEAN_PUT, float p)
#define LP_STATE8 PW_VEC(SUMS, 8) acc = 0;
#define LP_STATE SUMS acc = 0;
POOL(pool_lp, LP_STATE8, acc += lp_term_8(x, p);, LP_PUT8, LP_STATE, acc += lp_term_1(x, p);, LP_PUT, float p)
#endif

/* mode: 0 max, 1 average, 2 lp. Indices may be NULL. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
pool_plain(__global const PW_TYPE(X) *X, __global PW_TYPE(Y) *Y, __global long *Indices, __global const int *in_dims,
           __global const int *out_dims, __global const int *kernel_dims, __global const int *stride_of,
           __global const int *dilation_of, __global const int *pad_of, __global const int *pad_end_of, int axes,
           int taps, int in_size, int out_size, int count, int each, int mode, int count_pads, int column_major, float p)
{
    const int begin = (int)get_global_id(0) * each, end = min(count, begin + each);

    for (int i = begin; i < end; i++) {
        const size_t base = (size_t)(i / out_size) * in_size;
        WORK acc = mode == 0 ? LEAST : (WORK)0;
#if PW_IS_FLOAT(X)
        SUMS powers = 0;
#endif
        int elements = 0, padded = 0;
        long best = -1;
        for (int t = 0; t < taps; t++) {
            int rest = i % out_size, tap = t, offset = 0, column = 0, pitch = 1, inside = 1, within = 1;
            for (int a = axes - 1; a >= 0; a--) {
                const int at = rest % out_dims[a] * stride_of[a] + tap % kernel_dims[a] * dilation_of[a] - pad_of[a];
                rest /= out_dims[a];
                tap /= kernel_dims[a];
                inside &= at >= 0 && at < in_dims[a];
                within &= at < in_dims[a] + pad_end_of[a];
                offset += at * pitch;
                column = column * in_dims[a] + at;
                pitch *= in_dims[a];
            }
            padded += within;
            if (!inside)
                continue;
            const WORK x = PW_LOAD(X, base + offset);
            elements++;
            if (mode == 0 && (best < 0 || x > acc || (x != x && acc == acc))) {
                acc = x;
                best = (long)base + (column_major ? column : offset);
            }
#if PW_IS_FLOAT(X)
            if (mode == 1)
                acc += x;
            if (mode == 2)
                powers += lp_term_1(x, p);
#endif
        }
#if PW_IS_FLOAT(X)
        if (mode == 1)
            acc = MEAN(acc, count_pads ? padded : elements);
        if (mode == 2)
            acc = lp_root_1(powers, p);
#endif
        PW_STORE(Y, i, acc);
        if (Indices)
            Indices[i] = best;
    }
}

#define GLOBAL(name, STATE, STATE16, INIT, STEP16, STEP, FOLD, DONE) \
    __kernel __attribute__((reqd_work_group_size(1, 1, 1))) void name( \
        __global const PW_TYPE(X) *X, __global PW_TYPE(Y) *Y, int in_size, int planes, int planes_each, float p) \
    { \
        const int begin = (int)get_global_id(0) * planes_each, end = min(planes, begin + planes_each); \
        for (int plane = begin; plane < end; plane++) { \
            const size_t base = (size_t)plane * in_size; \
            STATE16 wide = INIT; \
            STATE acc = INIT, parts[16]; \
            int i = 0; \
            for (; i + 16 <= in_size; i += 16) { \
                const WORK16 x = PW_LOAD16(X, base + i); \
                wide = STEP16(wide, x); \
            } \
            for (; i < in_size; i++) { \
                const WORK x = PW_LOAD(X, base + i); \
                acc = STEP(acc, x); \
            } \
            vstore16(wide, 0, parts); \
            for (int k = 0; k < 16; k++) \
                acc = FOLD(acc, parts[k]); \
            PW_STORE(Y, plane, DONE(acc, in_size)); \
        } \
    }

#define KEEP(acc, n) (acc)
GLOBAL(pool_global_max, WORK, WORK16, LEAST, LARGER, LARGER, LARGER, KEEP)
#if PW_IS_FLOAT(X)
LP_FUNCTIONS(16, WORK16, PW_VEC(SUMS, 16))
#define SUM(acc, x) ((acc) + (x))
#define LP_STEP(acc, x) ((acc) + lp_term_1(x, p))
#define LP_DONE(acc, n) lp_root_1(acc, p)
#define LP_STEP16(acc, x) ((acc) + lp_term_16(x, p))
#define WHOLE_MEAN(acc, n) ((acc) / (WORK)max(n, 1)) /* of nothing: 0 */
GLOBAL(pool_global_average, WORK, WORK16, 0, SUM, SUM, SUM, WHOLE_MEAN)
GLOBAL(pool_global_lp, SUMS, PW_VEC(SUMS, 16), 0, LP_STEP16, LP_STEP, SUM, LP_DONE)
#endif
