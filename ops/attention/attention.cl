/*
 * Attention in a few launches, for all attention operators:
 *   attention_queries   Q as [batch][heads][queries][size] in the accumulator's type
 *   attention_keys      K of past and new rows as [batch][kv head][panel][size][PANEL], zero past the last key
 *   attention_values    V of past and new rows as [batch][kv head][keys][value_pad], zero past value_size
 *   attention_cache     present key or value, in the storage type
 *   attention_core      a work-item takes blocks of 4 queries of a head: a chunk of scores as 4 x 3 vectors over
 *                       panels, mask, running maximum and sum, then 4 x 2 vectors over V; rescaled between chunks only
 *   attention_scores    the optional output of scores, one work-item a row
 * Everything is stored as input 0 is (Q_dtype), but for new rows that were projected by attention_project: F_dtype says
 * how those lie. A row that is wholly masked becomes zeros.
 * Layouts are {offset, batch, head, row} in elements; masks {batch, head, query, key, keys}.
 */
#define Q_dtype in0_dtype
typedef PW_COMPUTE(Q) acc_t;
#if PW_IS_DOUBLE(Q)
#define LANES 4
#define EXP_V(x) exp(x)
#define EXP_1(x) exp(x)
#define TANH_1(x) tanh(x)
#else
#define LANES 8
#define EXP_V(x) pw_exp_8(x)
#define EXP_1(x) pw_exp_1(x)
#define TANH_1(x) pw_tanh_1(x)
#endif
typedef PW_VEC(PW_COMPUTE(Q), LANES) acc_v;
#define VLOAD(i, p) PW_CAT(vload, LANES)(i, p)
#define VSTORE(v, i, p) PW_CAT(vstore, LANES)(v, i, p)
#define PANEL (3 * LANES)
#define CHUNK (8 * PANEL)
#define ROW_MAX 512
#define ONE_ITEM __attribute__((reqd_work_group_size(1, 1, 1)))
#if LENGTHS_LONG
typedef long length_t;
#else
typedef int length_t;
#endif
#if MASK_BOOL
typedef uchar mask_t;
#else
typedef int mask_t;
#endif

/*
 * Length of a sample's keys and position of its first query. `rules` are: keys, queries, what makes a length of an element
 * of `lengths`, position of query 0 or (by_length) length - queries, by_length, new rows start behind the sample's own
 * past, else at this row, and whether there are lengths.
 */
static inline int sample_length(__global const length_t *lengths, int b, __global const int *rules)
{
    return rules[7] ? clamp((int)lengths[b] + rules[2], 0, rules[0]) : rules[0];
}

static inline int sample_first(__global const length_t *lengths, int b, __global const int *rules)
{
    return rules[4] ? sample_length(lengths, b, rules) - rules[1] : rules[3];
}

/* ---- gathering ---- */

#ifdef ROTARY
/* Norm over the head, then rotation by the row of the caches; both optional. */
static inline void turn_row(acc_t *row, int size, __global const PW_TYPE(Q) *norm, float epsilon,
                            __global const PW_TYPE(Q) *cosines, __global const PW_TYPE(Q) *sines, int half_size,
                            int interleaved, int position, int positions)
{
    if (norm) {
        acc_t sum = 0;

        for (int i = 0; i < size; i++)
            sum += row[i] * row[i];
        sum = (acc_t)1 / sqrt(sum / (acc_t)size + (acc_t)epsilon);
        for (int i = 0; i < size; i++)
            row[i] = row[i] * sum * PW_AT_LOAD(Q, norm, i);
    }
    position = clamp(position, 0, positions - 1);
    for (int i = 0; cosines && i < half_size; i++) {
        int a = interleaved ? 2 * i : i, b = interleaved ? 2 * i + 1 : half_size + i;
        acc_t c = PW_AT_LOAD(Q, cosines, (long)position * half_size + i), s = PW_AT_LOAD(Q, sines, (long)position * half_size + i);
        acc_t re = row[a], im = row[b];

        row[a] = c * re - s * im;
        row[b] = s * re + c * im;
    }
}
#define TURN_ARGS \
    , __global const PW_TYPE(Q) *norm, float epsilon, __global const PW_TYPE(Q) *cosines, \
        __global const PW_TYPE(Q) *sines, __global const long *positions, int half_size, int interleaved, int position_count
#define TURN(row, size, batch, index, place) \
    turn_row(row, size, norm, epsilon, cosines, sines, half_size, interleaved, \
             positions ? (int)positions[(long)(batch)*queries + (index)] : (place), position_count);
#else
#define TURN_ARGS
#define TURN(row, size, batch, index, place)
#endif

static inline long row_at(__global const int *layout, int b, int h, int r)
{
    return layout[0] + (long)b * layout[1] + (long)h * layout[2] + (long)r * layout[3];
}

/* Row t of past and new rows into `row`: 0 there is none, 1 past, 2 new (its index in *fresh_row). */
static inline int source_row(__global const PW_TYPE(F) *from, __global const int *layout,
                             __global const PW_TYPE(Q) *past, __global const int *past_layout,
                             __global const PW_TYPE(Q) *bias, int bias_at, int b, int h, int t, int start, int fresh,
                             int past_rows, int size, acc_t *row, int *fresh_row)
{
    *fresh_row = t - start;
    if (t >= start && t < start + fresh) {
        long at = row_at(layout, b, h, t - start);

        for (int i = 0; i < size; i++)
            row[i] = PW_AT_LOAD(F, from, at + i);
        for (int i = 0; bias && bias_at >= 0 && i < size; i++)
            row[i] += PW_AT_LOAD(Q, bias, bias_at + h * size + i);
        return 2;
    }
    for (int i = 0; i < size; i++)
        row[i] = 0;
    if (t >= past_rows)
        return 0;
    for (int i = 0; i < size; i++)
        row[i] = PW_AT_LOAD(Q, past, row_at(past_layout, b, h, t) + i);
    return 1;
}

__kernel ONE_ITEM void attention_queries(__global const PW_TYPE(F) *from, __global const int *layout,
                                         __global const PW_TYPE(Q) *bias, int bias_at,
                                         __global const length_t *lengths, __global const int *rules,
                                         __global acc_t *to, int heads, int queries, int size TURN_ARGS)
{
    int r = get_global_id(0), h = get_global_id(1), b = get_global_id(2), fresh_row;
    acc_t row[ROW_MAX];

    source_row(from, layout, 0, layout, bias, bias_at, b, h, r, 0, queries, 0, size, row, &fresh_row);
    TURN(row, size, b, r, max(0, sample_first(lengths, b, rules)) + r)
    to += (((long)b * heads + h) * queries + r) * size;
    for (int i = 0; i < size; i++)
        to[i] = row[i];
}

#define ROWS_ARGS \
    __global const PW_TYPE(F) *from, __global const int *layout, __global const PW_TYPE(Q) *past, \
        __global const int *past_layout, __global const PW_TYPE(Q) *bias, int bias_at, \
        __global const length_t *lengths, __global const int *rules, int heads, int rows, int fresh, int past_rows, \
        int size, int queries
#define READ_ROW(t) \
    acc_t row[ROW_MAX]; \
    int fresh_row, start = rules[5] ? max(0, sample_first(lengths, b, rules)) : rules[6]; \
    int kind = source_row(from, layout, past, past_layout, bias, bias_at, b, h, t, start, fresh, past_rows, size, row, \
                          &fresh_row);

#ifdef ROTARY
#define TURNS (norm || cosines)
#else
#define TURNS 0
#endif

/* New rows that are used as they come: neither a bias nor a rotation, all of `count` from t on. */
#define PLAIN(t, count) \
    (!TURNS && !(bias && bias_at >= 0) && (t) >= start && (t) + (count) <= min(start + fresh, rows))

#if LANES == 8
#define LOW(a, b) (acc_v)(a.s0, b.s0, a.s1, b.s1, a.s4, b.s4, a.s5, b.s5)
#define HIGH(a, b) (acc_v)(a.s2, b.s2, a.s3, b.s3, a.s6, b.s6, a.s7, b.s7)
/* Element by element: parts put together are shuffles of undefined lanes, on which a sanitizer stumbles. */
#define EVEN(a, b) (acc_v)(a.s0, a.s1, b.s0, b.s1, a.s4, a.s5, b.s4, b.s5)
#define ODD(a, b) (acc_v)(a.s2, a.s3, b.s2, b.s3, a.s6, a.s7, b.s6, b.s7)
#define FRONT(a, b) (acc_v)(a.s0, a.s1, a.s2, a.s3, b.s0, b.s1, b.s2, b.s3)
#define BACK(a, b) (acc_v)(a.s4, a.s5, a.s6, a.s7, b.s4, b.s5, b.s6, b.s7)

/* Eight elements of eight rows, transposed: element i of them as a vector at to[i * PANEL]. `step` from row to row. */
static inline void transpose_keys(__global const PW_TYPE(F) *from, long at, int step, __global acc_t *to)
{
    acc_v r0 = PW_AT_LOAD8(F, from, at), r1 = PW_AT_LOAD8(F, from, at + step);
    acc_v r2 = PW_AT_LOAD8(F, from, at + 2 * step), r3 = PW_AT_LOAD8(F, from, at + 3 * step);
    acc_v r4 = PW_AT_LOAD8(F, from, at + 4 * step), r5 = PW_AT_LOAD8(F, from, at + 5 * step);
    acc_v r6 = PW_AT_LOAD8(F, from, at + 6 * step), r7 = PW_AT_LOAD8(F, from, at + 7 * step);
    acc_v t0 = LOW(r0, r1), t1 = HIGH(r0, r1), t2 = LOW(r2, r3), t3 = HIGH(r2, r3);
    acc_v t4 = LOW(r4, r5), t5 = HIGH(r4, r5), t6 = LOW(r6, r7), t7 = HIGH(r6, r7);
    acc_v u0 = EVEN(t0, t2), u1 = ODD(t0, t2), u2 = EVEN(t1, t3), u3 = ODD(t1, t3);
    acc_v u4 = EVEN(t4, t6), u5 = ODD(t4, t6), u6 = EVEN(t5, t7), u7 = ODD(t5, t7);

    VSTORE(FRONT(u0, u4), 0, to);
    VSTORE(FRONT(u1, u5), 0, to + PANEL);
    VSTORE(FRONT(u2, u6), 0, to + 2 * PANEL);
    VSTORE(FRONT(u3, u7), 0, to + 3 * PANEL);
    VSTORE(BACK(u0, u4), 0, to + 4 * PANEL);
    VSTORE(BACK(u1, u5), 0, to + 5 * PANEL);
    VSTORE(BACK(u2, u6), 0, to + 6 * PANEL);
    VSTORE(BACK(u3, u7), 0, to + 7 * PANEL);
}
#endif

__kernel ONE_ITEM void attention_keys(ROWS_ARGS, __global acc_t *to TURN_ARGS)
{
    int panel = get_global_id(0), h = get_global_id(1), b = get_global_id(2), panels = get_global_size(0);

    to += (((long)b * heads + h) * panels + panel) * size * PANEL;
#if LANES == 8
    {
        int start = rules[5] ? max(0, sample_first(lengths, b, rules)) : rules[6];

        if (size % 8 == 0 && PLAIN(panel * PANEL, PANEL)) {
            for (int j = 0; j < PANEL; j += 8) {
                long at = row_at(layout, b, h, panel * PANEL + j - start);

                for (int i = 0; i < size; i += 8)
                    transpose_keys(from, at + i, layout[3], to + i * PANEL + j);
            }
            return;
        }
    }
#endif
    for (int j = 0; j < PANEL; j++) {
        int t = panel * PANEL + j;
        READ_ROW(t)

        if (kind == 2) {
            TURN(row, size, b, fresh_row, t)
        }
        for (int i = 0; i < size; i++)
            to[i * PANEL + j] = t < rows ? row[i] : (acc_t)0;
    }
}

__kernel ONE_ITEM void attention_values(ROWS_ARGS, __global acc_t *to, int pad)
{
    int t = get_global_id(0), h = get_global_id(1), b = get_global_id(2);

    to += (((long)b * heads + h) * rows + t) * pad;
    {
        int start = rules[5] ? max(0, sample_first(lengths, b, rules)) : rules[6];

        if (pad == size && !(bias && bias_at >= 0) && t >= start && t < min(start + fresh, rows)) {
            long at = row_at(layout, b, h, t - start);

            for (int i = 0; i < size; i += LANES)
                VSTORE(PW_AT_LOADN(F, LANES, from, at + i), 0, to + i);
            return;
        }
    }
    READ_ROW(t)

    for (int i = 0; i < pad; i++)
        to[i] = i < size ? row[i] : (acc_t)0;
}

/* One row of the present output. `turns` is 1 for keys. */
__kernel ONE_ITEM void attention_cache(ROWS_ARGS, __global PW_TYPE(Q) *to, __global const int *to_layout,
                                       int turns TURN_ARGS)
{
    int t = get_global_id(0), h = get_global_id(1), b = get_global_id(2);
    READ_ROW(t)

    if (kind == 2 && turns) {
        TURN(row, size, b, fresh_row, t)
    }
    for (int i = 0; i < size; i++)
        PW_AT_STORE(Q, to, row_at(to_layout, b, h, t) + i, row[i]);
}

/* ---- scores ---- */

struct limits {
    int from, to; /* keys that the query may see */
};

static inline struct limits query_limits(int length, int position, int causal, int left, int right)
{
    struct limits l = {0, length};

    if (causal)
        l.to = min(l.to, position + 1);
    if (right >= 0)
        l.to = min(l.to, position + right + 1);
    if (left >= 0)
        l.from = max(0, position - left);
    return l;
}

/* What masks and biases add to a score. */
static inline acc_t score_bias(__global const PW_TYPE(Q) *bias, __global const int *bias_strides,
                               __global const mask_t *mask, __global const int *mask_strides, int mask_ends,
                               int mask_starts, float filter, int batch, int b, int h, int q, int t)
{
    acc_t add = 0, masked = filter < -1e38f ? -INFINITY : (acc_t)filter;

    if (bias) {
        if (t >= bias_strides[4])
            return -INFINITY;
        add = PW_AT_LOAD(Q, bias, (long)b * bias_strides[0] + (long)h * bias_strides[1] + (long)q * bias_strides[2] +
                                      (long)t * bias_strides[3]);
    }
    if (mask && mask_ends) {
        if (t >= (int)mask[b] || (mask_starts && t < (int)mask[batch + b]))
            add += masked;
    } else if (mask) {
        if (t >= mask_strides[4])
            return -INFINITY;
        if (mask[(long)b * mask_strides[0] + (long)h * mask_strides[1] + (long)q * mask_strides[2] +
                 (long)t * mask_strides[3]] == 0)
            add += masked;
    }
    return add;
}

#define SCORE_ARGS \
    __global const acc_t *q, __global const acc_t *k, __global const PW_TYPE(Q) *bias, \
        __global const int *bias_strides, __global const mask_t *mask, __global const int *mask_strides, \
        __global const length_t *lengths, __global const int *rules, __global const PW_TYPE(Q) *sinks, int uses, \
        int mask_ends, int mask_starts, float filter, int batch, int heads, int kv_heads, int queries, int keys, \
        int size, float scale_high, float scale_low, float cap, int causal, int left, int right
#define USE_INPUTS \
    const acc_t scale = (acc_t)scale_high + (acc_t)scale_low; /* a double in two halves: no device need have the type */ \
    if (!(uses & 1)) \
        bias = 0; \
    if (!(uses & 2)) \
        mask = 0; \
    if (!(uses & 4)) \
        sinks = 0;

#define SCORE_STEP(r) \
    { \
        acc_v x = (acc_v)(q##r[d]); \
        c##r##0 = fma(x, k0, c##r##0); \
        c##r##1 = fma(x, k1, c##r##1); \
        c##r##2 = fma(x, k2, c##r##2); \
    }
#define SCORE_KEEP(r) \
    VSTORE(c##r##0 * scale, 0, s + r * CHUNK); \
    VSTORE(c##r##1 * scale, 1, s + r * CHUNK); \
    VSTORE(c##r##2 * scale, 2, s + r * CHUNK);

/* 4 queries times one panel of keys. */
static inline __attribute__((always_inline)) void score_tile(__global const acc_t *q0, __global const acc_t *q1,
                                                             __global const acc_t *q2, __global const acc_t *q3,
                                                             __global const acc_t *k, int size, acc_t scale, acc_t *s)
{
    acc_v zero = (acc_v)(0), c00 = zero, c01 = zero, c02 = zero, c10 = zero, c11 = zero, c12 = zero, c20 = zero,
          c21 = zero, c22 = zero, c30 = zero, c31 = zero, c32 = zero;

    for (int d = 0; d < size; d++, k += PANEL) {
        acc_v k0 = VLOAD(0, k), k1 = VLOAD(1, k), k2 = VLOAD(2, k);

        SCORE_STEP(0) SCORE_STEP(1) SCORE_STEP(2) SCORE_STEP(3)
    }
    SCORE_KEEP(0) SCORE_KEEP(1) SCORE_KEEP(2) SCORE_KEEP(3)
}

/* acc (4 rows of `pad`) = acc * rescale + p V over `count` keys. */
#define VALUE_START(r) \
    acc_v a##r##0 = VLOAD(0, acc + r * pad + c) * rescale[r], a##r##1 = VLOAD(1, acc + r * pad + c) * rescale[r];
#define VALUE_STEP(r) \
    { \
        acc_v x = (acc_v)(p[r * CHUNK + t]); \
        a##r##0 = fma(x, v0, a##r##0); \
        a##r##1 = fma(x, v1, a##r##1); \
    }
#define VALUE_KEEP(r) \
    VSTORE(a##r##0, 0, acc + r * pad + c); \
    VSTORE(a##r##1, 1, acc + r * pad + c);
static inline __attribute__((always_inline)) void value_tile(const acc_t *p, int count, __global const acc_t *v,
                                                             int pad, const acc_t *rescale, acc_t *acc)
{
    for (int c = 0; c < pad; c += 2 * LANES) {
        __global const acc_t *row = v + c;
        VALUE_START(0) VALUE_START(1) VALUE_START(2) VALUE_START(3)

        for (int t = 0; t < count; t++, row += pad) {
            acc_v v0 = VLOAD(0, row), v1 = VLOAD(1, row);

            VALUE_STEP(0) VALUE_STEP(1) VALUE_STEP(2) VALUE_STEP(3)
        }
        VALUE_KEEP(0) VALUE_KEEP(1) VALUE_KEEP(2) VALUE_KEEP(3)
    }
}

/* Softcap, biases and limits on `count` scores of one query from key t0 on; then exponentials against the running
 * maximum. Returns the factor for what was summed before. */
static inline acc_t soften(acc_t *s, int count, int t0, struct limits l, acc_t cap, __global const PW_TYPE(Q) *bias,
                           __global const int *bias_strides, __global const mask_t *mask,
                           __global const int *mask_strides, int mask_ends, int mask_starts, float filter, int batch,
                           int b, int h, int q, acc_t *max_so_far, acc_t *sum)
{
    acc_t m = *max_so_far, factor, add = 0;
    acc_v mv = (acc_v)(-INFINITY), sv = (acc_v)(0);
    int i = 0;

    if (cap > 0) {
        for (int j = 0; j < count; j++)
            s[j] = cap * TANH_1(s[j] / cap);
    }
    if (bias || mask) {
        for (int j = 0; j < count; j++)
            s[j] += score_bias(bias, bias_strides, mask, mask_strides, mask_ends, mask_starts, filter, batch, b, h, q,
                               t0 + j);
    }
    for (int j = 0; j < min(count, l.from - t0); j++)
        s[j] = -INFINITY;
    for (int j = max(0, l.to - t0); j < count; j++)
        s[j] = -INFINITY;
    for (; i + LANES <= count; i += LANES)
        mv = fmax(mv, VLOAD(0, s + i));
    for (; i < count; i++)
        m = fmax(m, s[i]);
    {
        acc_t lanes[LANES];

        VSTORE(mv, 0, lanes);
        for (int j = 0; j < LANES; j++)
            m = fmax(m, lanes[j]);
    }
    if (m == -INFINITY) { /* nothing to see yet; NaN scores come through the sum */
        for (i = 0; i < count; i++) {
            s[i] = s[i] != s[i] ? s[i] : (acc_t)0;
            add += s[i];
        }
        *sum += add;
        return 1;
    }
    factor = *max_so_far == -INFINITY ? (acc_t)0 : EXP_1(*max_so_far - m);
    for (i = 0; i + LANES <= count; i += LANES) {
        acc_v e = EXP_V(VLOAD(0, s + i) - m);

        VSTORE(e, 0, s + i);
        sv += e;
    }
    for (; i < count; i++) {
        s[i] = EXP_1(s[i] - m);
        add += s[i];
    }
    {
        acc_t lanes[LANES];

        VSTORE(sv, 0, lanes);
        for (int j = 0; j < LANES; j++)
            add += lanes[j];
    }
    *sum = *sum * factor + add;
    *max_so_far = m;
    return factor;
}

__kernel ONE_ITEM void attention_core(SCORE_ARGS, __global const acc_t *v, __global PW_TYPE(Q) *y,
                                      __global const int *y_layout, int smooth, int value_size, int pad, int block)
{
    int h = get_global_id(1), b = get_global_id(2), length = sample_length(lengths, b, rules);
    int first = sample_first(lengths, b, rules), panels = (keys + PANEL - 1) / PANEL;
    long kv = (long)b * kv_heads + h / (heads / kv_heads);
    acc_t s[4 * CHUNK], acc[4 * ROW_MAX];

    USE_INPUTS
    q += ((long)b * heads + h) * queries * size;
    k += kv * panels * size * PANEL;
    v += kv * keys * pad;
    for (int r0 = get_global_id(0) * block, end = min(r0 + block, queries); r0 < end; r0 += 4) {
        struct limits l[4];
        acc_t m[4], sum[4], factor[4];
        int from = keys, to = 0;

        for (int r = 0; r < 4; r++) {
            l[r] = query_limits(length, first + min(r0 + r, queries - 1), causal, left, right);
            from = min(from, l[r].from);
            to = max(to, l[r].to);
            m[r] = -INFINITY;
            sum[r] = 0;
        }
        for (int i = 0; i < 4 * pad; i++)
            acc[i] = 0;
        for (int t0 = from / PANEL * PANEL; t0 < to; t0 += CHUNK) {
            int count = min(CHUNK, keys - t0), last = queries - 1;

            for (int p = 0; p * PANEL < count; p++)
                score_tile(q + (long)min(r0, last) * size, q + (long)min(r0 + 1, last) * size,
                           q + (long)min(r0 + 2, last) * size, q + (long)min(r0 + 3, last) * size,
                           k + (long)(t0 / PANEL + p) * size * PANEL, size, scale, s + p * PANEL);
            for (int r = 0; r < 4; r++)
                factor[r] = soften(s + r * CHUNK, count, t0, l[r], cap, bias, bias_strides, mask, mask_strides,
                                   mask_ends, mask_starts, filter, batch, b, h, min(r0 + r, last), &m[r], &sum[r]);
            value_tile(s, count, v + (long)t0 * pad, pad, factor, acc);
        }
        for (int r = 0; r < 4 && r0 + r < end; r++) {
            long at = y_layout[0] + (long)b * y_layout[1] + (long)h * y_layout[2] + (long)(r0 + r) * y_layout[3];
            acc_t by = sum[r];

            if (smooth || sinks) { /* one more score that no value belongs to */
                acc_t sink = sinks ? PW_AT_LOAD(Q, sinks, h) : (acc_t)0;

                by = m[r] == -INFINITY ? (acc_t)0 : by + EXP_1(sink - m[r]);
            }
            by = by == 0 ? (acc_t)0 : (acc_t)1 / by;
            for (int i = 0; i < value_size; i++)
                PW_AT_STORE(Q, y, at + i, acc[r * pad + i] * by);
        }
    }
}

/* The scores of one query at a stage: 0 scaled, 1 after the cap, 2 with biases, 3 probabilities. */
__kernel void attention_scores(SCORE_ARGS, __global PW_TYPE(Q) *out, int smooth, int stage)
{
    int id = get_global_id(0), r = id % queries, h = id / queries % heads, b = id / queries / heads;
    int panels = (keys + PANEL - 1) / PANEL;
    long kv = (long)b * kv_heads + h / (heads / kv_heads), to = (long)id * keys;
    struct limits l;
    acc_t m = -INFINITY, sum = 0;

    USE_INPUTS
    if (id >= batch * heads * queries)
        return;
    l = query_limits(sample_length(lengths, b, rules), sample_first(lengths, b, rules) + r, causal, left, right);
    q += (((long)b * heads + h) * queries + r) * size;
    k += kv * panels * size * PANEL;
    for (int pass = stage == 3 ? 0 : 2; pass < 3; pass++) { /* maximum, sum, write */
        for (int t = 0; t < keys; t++) {
            acc_t s = 0;

            for (int d = 0; d < size; d++)
                s += q[d] * k[((long)(t / PANEL) * size + d) * PANEL + t % PANEL];
            s *= scale;
            if (stage > 0 && cap > 0)
                s = (acc_t)cap * TANH_1(s / (acc_t)cap);
            if (stage > 1)
                s = t < l.from || t >= l.to ? (acc_t)(-INFINITY)
                                            : s + score_bias(bias, bias_strides, mask, mask_strides, mask_ends,
                                                             mask_starts, filter, batch, b, h, r, t);
            if (pass == 0)
                m = fmax(m, s);
            else if (pass == 1)
                sum += m == -INFINITY ? (acc_t)0 : EXP_1(s - m);
            else if (stage == 3)
                PW_AT_STORE(Q, out, to + t, sum == 0 ? (acc_t)0 : EXP_1(s - m) / sum);
            else
                PW_AT_STORE(Q, out, to + t, s);
        }
        if (pass == 1 && (smooth || sinks) && sum > 0)
            sum += EXP_1((sinks ? PW_AT_LOAD(Q, sinks, h) : (acc_t)0) - m);
    }
}

#ifdef PROJECTED
/* Rows of X times W (row-major [width][columns]), without the bias: 2 rows x 4 vectors at a time. */
__kernel ONE_ITEM void attention_project(__global const PW_TYPE(Q) *in0, __global const PW_TYPE(Q) *in1,
                                         __global acc_t *to, int rows, int each, int width, int columns)
{
    int n = get_global_id(0) * 4 * LANES, r = get_global_id(1) * each, last = min(r + each, rows);

    for (; r < last; r += 2) {
        long x0 = (long)r * width, x1 = (long)min(r + 1, last - 1) * width;
        int pair = r + 1 < last;

        if (n + 4 * LANES <= columns) {
            acc_v s[4] = {(acc_v)(0), (acc_v)(0), (acc_v)(0), (acc_v)(0)};
            acc_v t[4] = {(acc_v)(0), (acc_v)(0), (acc_v)(0), (acc_v)(0)};

            for (int k = 0; k < width; k++) {
                acc_v a = (acc_v)(PW_LOAD(in0, x0 + k)), b = (acc_v)(PW_LOAD(in0, x1 + k));

#pragma unroll
                for (int j = 0; j < 4; j++) {
                    acc_v w = PW_AT_LOADN(Q, LANES, in1, (long)k * columns + n + j * LANES);

                    s[j] = fma(a, w, s[j]);
                    t[j] = fma(b, w, t[j]);
                }
            }
            for (int j = 0; j < 4; j++) {
                VSTORE(s[j], j, to + (long)r * columns + n);
                if (pair)
                    VSTORE(t[j], j, to + (long)(r + 1) * columns + n);
            }
            continue;
        }
        for (int c = n; c < columns; c++) {
            acc_t s = 0, t = 0;

            for (int k = 0; k < width; k++) {
                s += PW_LOAD(in0, x0 + k) * PW_AT_LOAD(Q, in1, (long)k * columns + c);
                t += PW_LOAD(in0, x1 + k) * PW_AT_LOAD(Q, in1, (long)k * columns + c);
            }
            to[(long)r * columns + c] = s;
            if (pair)
                to[(long)(r + 1) * columns + c] = t;
        }
    }
}
#endif
