/*
 * The distributions: element i of input n of a case is a function of (distribution, seed, n, i) alone, so a case
 * is the same on every machine. Floats are drawn in double and rounded once to the tensor's dtype.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "base/random.h"
#include "verify/draw.h"

#define EXACT_RANGE 4                    /* `exact` draws integers in [-4, 4] */
#define FEW 16                           /* elements that chance would leave without most of the special values */
#define STREAM_SCALE ((uint64_t)1 << 32) /* streams beside the element's own: which scale, which special value */
#define STREAM_KIND ((uint64_t)2 << 32)
#define STREAM_ROW ((uint64_t)3 << 32)

/* Brings a draw into the room's domain without piling up at its borders. */
static double into_domain(double x, const struct pw_fill *fill)
{
    bool low = isfinite(fill->low), high = isfinite(fill->high);

    if (low && high) {
        double unit = 0.5 + 0.5 * erf(x * M_SQRT1_2); /* uniform when x is normal */

        return fill->low + (fill->high - fill->low) * unit;
    }
    if (low)
        return fill->low + fabs(x);
    if (high)
        return fill->high - fabs(x);
    return x;
}

static bool in_domain(double x, const struct pw_fill *fill)
{
    return x >= fill->low && x <= fill->high;
}

static bool bounded(const struct pw_fill *fill)
{
    return isfinite(fill->low) || isfinite(fill->high);
}

static double normal(const struct pw_draw *d, uint64_t i)
{
    return pw_random_normal(d->seed, d->stream, i);
}

/* ---- one element of each distribution ---- */

static double draw_uniform(const struct pw_draw *d, int64_t i, int64_t row, const struct pw_dtype_facts *facts)
{
    static const double ranges[] = {1, 1, 4, 16};
    double unit = (double)pw_random_unit(d->seed, d->stream, (uint64_t)i);

    (void)row;
    (void)facts;
    if (isfinite(d->fill->low) && isfinite(d->fill->high))
        return d->fill->low + (d->fill->high - d->fill->low) * unit;
    return into_domain(ranges[d->seed & 3] * (2.0 * unit - 1.0), d->fill);
}

static double draw_normal(const struct pw_draw *d, int64_t i, int64_t row, const struct pw_dtype_facts *facts)
{
    (void)row;
    (void)facts;
    return into_domain(normal(d, (uint64_t)i), d->fill);
}

/* Small integers; in every second seed finer steps where rounding decides (quantization, casts). */
static double draw_exact(const struct pw_draw *d, int64_t i, int64_t row, const struct pw_dtype_facts *facts)
{
    double step = d->step > 0 && (d->seed & 1) ? d->step : 1.0;
    int64_t range = (int64_t)(EXACT_RANGE / fmin(2 * step, 1.0));
    int64_t low = isfinite(d->fill->low) ? (int64_t)ceil(d->fill->low / step) : -range;
    int64_t high = isfinite(d->fill->high) ? (int64_t)floor(d->fill->high / step) : low + 2 * range;

    (void)row;
    if (low > high) /* no such number in the domain: powers of two, which are as exact */
        return d->fill->low > 0
                   ? exp2(floor(log2(d->fill->high) - (double)(pw_random_u32(d->seed, d->stream, (uint64_t)i) % 3)))
                   : draw_normal(d, i, row, facts);
    return step * (double)pw_random_range(d->seed, d->stream, (uint64_t)i, low, high);
}

static double draw_wide(const struct pw_draw *d, int64_t i, int64_t row, const struct pw_dtype_facts *facts)
{
    double top = fmin(d->exponents, ilogb(facts->max)), bottom = fmax(-d->exponents, ilogb(facts->min_normal));
    double u = (double)pw_random_unit(d->seed, d->stream, (uint64_t)(2 * i));
    uint32_t word = pw_random_u32(d->seed, d->stream, (uint64_t)(2 * i + 1));
    double sign = word & 1 ? -1.0 : 1.0, x;

    (void)row;
    if (isfinite(d->fill->low) && isfinite(d->fill->high)) {
        double most = fmax(fabs(d->fill->low), fabs(d->fill->high));
        double least = d->fill->low > 0 ? d->fill->low : most * 0x1p-24;

        x = exp2(log2(least) + (log2(most) - log2(least)) * u);
        return in_domain(sign * x, d->fill)    ? sign * x
               : in_domain(-sign * x, d->fill) ? -sign * x
                                               : draw_normal(d, i, row, facts);
    }
    x = exp2(bottom + (top - bottom) * u) * (1.0 + (double)(word >> 8) * 0x1p-24);
    x = fmin(x, facts->max);
    return isfinite(d->fill->low) || isfinite(d->fill->high) ? into_domain(x, d->fill) : sign * x;
}

/* Nearly equal magnitudes; in the first input neighbours have opposite signs (so that sums cancel) unless the
 * operator subtracts a mean: there all have one sign, and the mean is large beside the spread. */
static double draw_cancel(const struct pw_draw *d, int64_t i, int64_t row, const struct pw_dtype_facts *facts)
{
    static const double scales[] = {1, 64, 512, 8};
    double x = scales[d->seed & 3] * (1.0 + 0x1p-5 * normal(d, (uint64_t)i));
    bool negative = d->alternate && ((i + row) & 1);

    (void)facts;
    return bounded(d->fill) ? into_domain(normal(d, (uint64_t)i), d->fill) : negative ? -x : x;
}

/* Values that arithmetic treats in a way of their own. The seed's last digits choose the mixture, so that a NaN does
 * not hide what happens to denormals. */
static double draw_special(const struct pw_draw *d, int64_t i, int64_t row, const struct pw_dtype_facts *facts)
{
    uint32_t word = pw_random_u32(d->seed, d->stream + STREAM_KIND, (uint64_t)i);
    double tiny = facts->min_normal, unit = tiny * exp2(1 - facts->mantissa_bits), x;
    double big = fmin(facts->max, exp2(d->exponents)); /* what the formula can hold inside */
    const double mixtures[PW_DRAW_MIXTURES][8] = {
        {NAN, INFINITY, -0.0, -INFINITY, 0.0, big, -big, tiny},
        {unit, -unit, 3 * unit, tiny / 2, -tiny / 4, tiny - unit, tiny / 8, unit - tiny}, /* no normal one hides them */
        {0.0, -0.0, 1.0, -1.0, big, -big, 0.5, -0.5},
        {1.0, -INFINITY, INFINITY, 0.0, -0.0, -1.0, big, -tiny},
    };
    int mixture = d->powers && d->seed % PW_DRAW_MIXTURES == 1 ? 2 : (int)(d->seed % PW_DRAW_MIXTURES);

    if (mixture == 1) { /* all tiny: one large element beside them would set the scale */
        x = word & 0x100 ? mixtures[1][word & 7]
                         : tiny * (double)(int32_t)pw_random_u32(d->seed, d->stream, (uint64_t)i) * 0x1p-31;
        return in_domain(x, d->fill) ? x : draw_normal(d, i, row, facts);
    }
    if (!d->few && !d->single && (double)(word >> 8) * 0x1p-24 >= d->share)
        return draw_normal(d, i, row, facts);
    x = mixtures[mixture][d->single ? d->stream & 7 : d->few ? (uint64_t)i & 7 : word & 7];
    if (d->finite && isinf(x))
        x = copysign(big, x);
    if (d->numbers && isnan(x))
        x = big;
    if (bounded(d->fill) && !in_domain(x, d->fill) && !(d->anywhere && !(fabs(x) > 1 && isfinite(x))))
        return draw_normal(d, i, row, facts);
    return x;
}

/* Rows wholly -inf, rows with a masked tail, rows untouched. */
static double draw_masked(const struct pw_draw *d, int64_t i, int64_t row, const struct pw_dtype_facts *facts)
{
    uint32_t word = pw_random_u32(d->seed, d->stream + STREAM_ROW, (uint64_t)row);
    int64_t at = d->last > 0 ? i % d->last : 0;

    if (d->masks && ((word & 3) == 0 || ((word & 3) == 1 && at > (int64_t)((word >> 2) % (uint64_t)(d->last + 1)))))
        return -INFINITY;
    return draw_normal(d, i, row, facts);
}

typedef double draw_element(const struct pw_draw *d, int64_t i, int64_t row, const struct pw_dtype_facts *facts);

static draw_element *const elements[PW_DIST_COUNT] = {
    [PW_DIST_UNIFORM] = draw_uniform, [PW_DIST_NORMAL] = draw_normal,   [PW_DIST_EXACT] = draw_exact,
    [PW_DIST_WIDE] = draw_wide,       [PW_DIST_CANCEL] = draw_cancel,   [PW_DIST_SPECIAL] = draw_special,
    [PW_DIST_MASKED] = draw_masked,   [PW_DIST_CAPTURED] = draw_normal,
};

/* ---- tensors ---- */

static void draw_floats(struct pw_tensor *t, const struct pw_draw *d)
{
    const struct pw_dtype_facts *facts = pw_dtype_facts(t->dtype);
    int64_t row = 0, at = 0;

    for (int64_t i = 0; i < t->count; i++) {
        double x = elements[d->dist](d, i, row, facts);

        if (d->near_one && d->dist != PW_DIST_SPECIAL && x != 0)
            x = copysign(exp2(0.4 * tanh(x)), x);
        if (d->fill->first_index && at == 0)
            x = (double)pw_random_range(d->seed, d->stream + STREAM_KIND, (uint64_t)i, d->fill->int_low,
                                        d->fill->int_high);
        pw_tensor_set(t, i, x);
        if (++at == d->last) {
            at = 0;
            row++;
        }
    }
}

static void draw_complex(struct pw_tensor *t, const struct pw_draw *d)
{
    const struct pw_dtype_facts *facts =
        pw_dtype_facts(t->dtype == PW_DTYPE_COMPLEX64 ? PW_DTYPE_FLOAT32 : PW_DTYPE_FLOAT64);

    for (int64_t i = 0; i < 2 * t->count; i++) { /* two floats an element */
        double x = elements[d->dist](d, i, i / 2, facts);

        if (t->dtype == PW_DTYPE_COMPLEX64)
            ((float *)t->data)[i] = (float)x;
        else
            ((double *)t->data)[i] = x;
    }
}

static void draw_bools(struct pw_tensor *t, const struct pw_draw *d)
{
    for (int64_t i = 0; i < t->count; i++) {
        uint32_t row = pw_random_u32(d->seed, d->stream + STREAM_ROW, (uint64_t)(d->last > 0 ? i / d->last : 0));
        bool whole = d->dist == PW_DIST_MASKED && (row & 3) < 2; /* rows of one value */
        uint32_t word = pw_random_u32(d->seed, d->stream, (uint64_t)i);

        if (d->dist == PW_DIST_WIDE) /* few are true: else any of many nearly always is */
            word = (word & 15) == 1;
        pw_tensor_set_int(t, i, whole ? row & 1 : word & 1);
    }
}

/* The range of an integer draw: the room's, wider where the room does not care. */
static void int_range(pw_dtype dtype, const struct pw_draw *d, int64_t *low, int64_t *high)
{
    const struct pw_dtype_facts *facts = pw_dtype_facts(dtype);
    bool sign = facts->kind == PW_KIND_SIGNED;
    int64_t most = facts->max < 9e18 ? (int64_t)facts->max : INT64_MAX;
    int64_t least = sign ? (facts->max < 9e18 ? -(int64_t)facts->max - 1 : INT64_MIN) : 0;
    bool open = d->fill->int_low == -PW_DRAW_INT_RANGE && d->fill->int_high == PW_DRAW_INT_RANGE;

    *low = d->fill->int_low;
    *high = d->fill->int_high;
    if (open && (d->dist == PW_DIST_WIDE || d->dist == PW_DIST_SPECIAL)) {
        *low = least;
        *high = most;
    } else if (open && d->dist == PW_DIST_EXACT) {
        *low = -EXACT_RANGE;
        *high = EXACT_RANGE;
    } else if (d->dist == PW_DIST_EXACT && d->fill->int_high == PW_DRAW_INT_RANGE) { /* the room sets the other end */
        *high = *low + 2 * EXACT_RANGE;
    }
    *low = *low < least ? least : *low > most ? most : *low;
    *high = *high > most ? most : *high < *low ? *low : *high;
}

/* Where distinct values begin: in `wide` draws of an open range across the place where a number that is cut to fewer
 * bits, or taken for signed, changes its order. */
static int64_t distinct_from(const struct pw_tensor *t, const struct pw_draw *d, int64_t low, int64_t n)
{
    bool open = d->fill->int_low == -PW_DRAW_INT_RANGE && d->fill->int_high == PW_DRAW_INT_RANGE;
    const struct pw_dtype_facts *facts = pw_dtype_facts(t->dtype);

    if (!open || d->dist != PW_DIST_WIDE || facts->bits < 8 || n > 100)
        return low;
    if (facts->kind == PW_KIND_UNSIGNED)
        return (int64_t)((UINT64_C(1) << (facts->bits - 1)) - (uint64_t)n / 2);
    return facts->bits == 64 ? (INT64_C(1) << 31) - n / 2 : low;
}

/* The ith of `count` distinct values somewhere in a room: one in each of its equal parts. */
static int64_t spread(const struct pw_draw *d, int64_t i, int64_t low, int64_t room, int64_t count)
{
    int64_t part = room / count, over = room % count;

    return low + i * part + i * over / count +
           pw_random_range(d->seed, d->stream + STREAM_ROW, (uint64_t)i, 0, part - 1);
}

/* Each row a shuffled run of distinct values; where the range has room, no two rows share one. */
static void shuffle_rows(struct pw_tensor *t, const struct pw_draw *d, int64_t low, int64_t high, int64_t n)
{
    int64_t room = 0, from = distinct_from(t, d, low, n);
    bool apart = from == low && low >= 0 && high < INT64_MAX && (room = high - low + 1) >= t->count;

    for (int64_t i = 0; i < t->count; i++)
        pw_tensor_set_int(t, i,
                          apart ? spread(d, i, low, room, t->count) : (int64_t)((uint64_t)from + (uint64_t)(i % n)));
    for (int64_t row = 0; n > 1 && row < t->count / n; row++)
        for (int64_t k = n - 1; k > 0; k--) {
            int64_t j = pw_random_range(d->seed, d->stream, (uint64_t)(row * n + k), 0, k);
            int64_t a = pw_tensor_get_int(t, row * n + k), b = pw_tensor_get_int(t, row * n + j);

            pw_tensor_set_int(t, row * n + k, b);
            pw_tensor_set_int(t, row * n + j, a);
        }
    for (int64_t i = 0; d->fill->from_end && i < t->count; i++)
        if (pw_random_u32(d->seed, d->stream + STREAM_KIND, (uint64_t)i) & 1)
            pw_tensor_set_int(t, i, pw_tensor_get_int(t, i) - high - 1);
}

/* All 64 bits at random: numbers above what a signed one holds. */
static void draw_bits(struct pw_tensor *t, const struct pw_draw *d)
{
    for (int64_t i = 0; i < t->count; i++) {
        uint64_t high = pw_random_u32(d->seed, d->stream, (uint64_t)(2 * i));
        uint64_t word = pw_random_u32(d->seed, d->stream + STREAM_KIND, (uint64_t)i);
        uint64_t x = high << 32 | pw_random_u32(d->seed, d->stream, (uint64_t)(2 * i + 1));

        if (d->dist == PW_DIST_SPECIAL && (word & 1))
            x = word & 2 ? UINT64_MAX : 0;
        else if (d->dist == PW_DIST_SPECIAL && (word & 4))
            x = high << 32; /* 0, were it cut to 32 bits */
        ((uint64_t *)t->data)[i] = x;
    }
}

static void draw_ints(struct pw_tensor *t, const struct pw_draw *d)
{
    bool open = d->fill->int_low == -PW_DRAW_INT_RANGE && d->fill->int_high == PW_DRAW_INT_RANGE;
    bool bits64 = t->dtype == PW_DTYPE_INT64 || t->dtype == PW_DTYPE_UINT64;
    int64_t low, high;

    int_range(t->dtype, d, &low, &high);
    if (t->dtype == PW_DTYPE_UINT64 && low == 0 && high == INT64_MAX && !d->fill->distinct && !d->fill->distinct_all) {
        draw_bits(t, d);
        return;
    }
    if ((d->fill->distinct || d->fill->distinct_all) && t->rank > 0) { /* a shuffled run of distinct values */
        shuffle_rows(t, d, low, high, d->fill->distinct_all ? t->count : t->dims[t->rank - 1]);
        return;
    }
    for (int64_t i = 0; i < t->count; i++) {
        uint32_t word = pw_random_u32(d->seed, d->stream + STREAM_KIND, (uint64_t)i);
        int64_t x = pw_random_range(d->seed, d->stream, (uint64_t)i, low, high);

        if (d->dist == PW_DIST_SPECIAL && (word & 1))
            x = word & 2 ? high : low;
        else if (d->dist == PW_DIST_SPECIAL && (word & 4) && bits64 && (open || d->fill->beyond))
            x = (open ? x & 7 : x) + (INT64_C(1) << 32); /* a small number, were it cut to 32 bits */
        if (d->fill->first_high && d->last > 0 && i % d->last == 0)
            x = high;
        pw_tensor_set_int(t, i, x);
    }
}

void pw_draw_tensor(struct pw_tensor *t, const struct pw_draw *draw)
{
    struct pw_draw d = *draw;

    d.last = t->rank > 0 ? t->dims[t->rank - 1] : 1;
    d.single = d.share >= 0.5 && t->count == 1;
    d.few = d.share >= 0.5 && t->count > 1 && t->count <= FEW;
    if (d.share <= 0) { /* about one special value in two rows, but some in a tensor that is small */
        d.share = d.last > 0 ? 0.5 / (double)d.last : 1;
        if (t->count > 0 && d.share * (double)t->count < 1)
            d.share = 1.0 / (double)t->count;
    }
    switch (pw_dtype_facts(t->dtype)->kind) {
    case PW_KIND_FLOAT:
        draw_floats(t, &d);
        break;
    case PW_KIND_BOOL:
        draw_bools(t, &d);
        break;
    case PW_KIND_COMPLEX:
        draw_complex(t, &d);
        break;
    default:
        draw_ints(t, &d);
    }
}
