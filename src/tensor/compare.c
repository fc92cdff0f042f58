#include "tensor/compare.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"

#define BLOCK 1024

static pw_status check_shapes(const struct pw_tensor *got, const struct pw_tensor *want, struct pw_error *err)
{
    struct pw_buf a = {0}, b = {0};
    bool same = got->nominal == want->nominal && got->rank == want->rank;

    for (int i = 0; same && i < got->rank; i++)
        same = got->dims[i] == want->dims[i];
    if (same)
        return PW_OK;
    pw_tensor_describe(got, &a);
    pw_tensor_describe(want, &b);
    pw_error_set(err, PW_ERR_FORMAT, "expected %s, found %s", pw_buf_text(&b), pw_buf_text(&a));
    pw_buf_clear(&a);
    pw_buf_clear(&b);
    return PW_ERR_FORMAT;
}

/* ---- floats ---- */

struct float_scan {
    struct pw_comparison *out;
    double tolerance;
    double max, min_normal; /* of the nominal dtype */
    int mantissa_bits;
    double step; /* of the last place, as a share of the power of two below */
    double dot, got_squares, want_squares, difference_squares;
};

/* The power of two at or below a finite x > 0: its exponent bits alone. Denormals give 0. */
static double power_below(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    bits &= (uint64_t)0x7ff << 52;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Distance of neighbouring values of the nominal dtype at x. */
static double last_place(const struct float_scan *scan, double x)
{
    double magnitude = fabs(x) < scan->min_normal ? scan->min_normal : fabs(x);

    return power_below(magnitude) * scan->step;
}

/* Golden may exceed what the nominal dtype can hold: there the infinity of its sign (or NaN in a
 * format without infinities) is the right answer. */
static bool overflow_agrees(const struct float_scan *scan, double got, double want)
{
    if (scan->mantissa_bits == 1 && want == 0.0) /* powers of two alone: zero is NaN, or the least of them */
        return isnan(got) || got <= scan->min_normal;
    if (fabs(want) <= scan->max || isnan(want) || isinf(want))
        return false;
    return isnan(got) ? scan->max <= 448.0 : isinf(got) && signbit(got) == signbit(want);
}

/* Decade of an error; log10 for each of millions of elements would take longer than the comparison. */
static int histogram_bin(double error)
{
    static const double decades[PW_HISTOGRAM_BINS] = {0,     1e-18, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12,
                                                      1e-11, 1e-10, 1e-9,  1e-8,  1e-7,  1e-6,  1e-5,  1e-4,
                                                      1e-3,  1e-2,  1e-1,  1e0,   1e1,   1e2,   1e3,   1e4};
    int low = 1, high = PW_HISTOGRAM_BINS - 1;

    if (error == 0.0)
        return 0;
    if (isinf(error) || isnan(error))
        return high;
    while (low < high) { /* the last bin that begins at or below the error */
        int middle = (low + high + 1) / 2;

        if (error >= decades[middle])
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void scan_element(struct float_scan *scan, int64_t flat, double got, double want)
{
    struct pw_comparison *out = scan->out;
    double difference = 0.0, error = 0.0, magnitude = fabs(want);

    if (got == want || (isnan(got) && isnan(want)) || overflow_agrees(scan, got, want)) {
        difference = 0.0;
    } else if (!isfinite(got) || !isfinite(want)) {
        out->mismatches++;
        difference = error = INFINITY;
    } else {
        double scale = magnitude > out->floor ? magnitude : out->floor;

        difference = fabs(got - want);
        error = scale > 0.0 ? difference / scale : INFINITY;
        if (difference > out->max_absolute)
            out->max_absolute = difference;
        if (magnitude > 0.0 && difference / magnitude > out->max_relative)
            out->max_relative = difference / magnitude;
        if (scan->mantissa_bits > 0 && difference / last_place(scan, want) > out->max_ulp)
            out->max_ulp = difference / last_place(scan, want);
    }
    if (isfinite(got) && isfinite(want)) {
        scan->dot += got * want;
        scan->got_squares += got * got;
        scan->want_squares += want * want;
        scan->difference_squares += difference * difference;
    }
    if (error > out->max_error || out->worst < 0) {
        out->max_error = error;
        out->worst = flat;
        out->worst_got = got;
        out->worst_want = want;
    }
    if (error > scan->tolerance)
        out->over++;
    out->histogram[histogram_bin(error)]++;
}

static void finish_scan(struct float_scan *scan)
{
    struct pw_comparison *out = scan->out;
    double norm = sqrt(scan->got_squares) * sqrt(scan->want_squares);

    if (scan->want_squares > 0.0)
        out->nmse = scan->difference_squares / scan->want_squares;
    else
        out->nmse = scan->difference_squares > 0.0 ? INFINITY : 0.0;
    if (norm > 0.0)
        out->cosine = scan->dot / norm;
    else
        out->cosine = scan->got_squares == scan->want_squares ? 1.0 : 0.0;
    if (out->mismatches > 0)
        out->max_absolute = out->max_relative = out->max_ulp = INFINITY;
}

/* ---- exact kinds ---- */

static bool equal_element(const struct pw_tensor *a, const struct pw_tensor *b, int64_t i)
{
    if (a->dtype == PW_DTYPE_STRING) {
        const struct pw_bytes *x = (const struct pw_bytes *)a->data + i, *y = (const struct pw_bytes *)b->data + i;

        return x->size == y->size && (x->size == 0 || memcmp(x->data, y->data, x->size) == 0);
    }
    return pw_tensor_get_int(a, i) == pw_tensor_get_int(b, i);
}

static void compare_exact(const struct pw_tensor *got, const struct pw_tensor *golden, struct pw_comparison *out)
{
    for (int64_t i = 0; i < got->count; i++) {
        double x = pw_tensor_get(got, i), y = pw_tensor_get(golden, i);

        if (equal_element(got, golden, i)) {
            if (out->worst < 0) {
                out->worst = i;
                out->worst_got = x;
                out->worst_want = y;
            }
            out->histogram[0]++;
            continue;
        }
        if (out->mismatches == 0 || fabs(x - y) > out->max_absolute) {
            out->worst = i;
            out->worst_got = x;
            out->worst_want = y;
            out->max_absolute = fabs(x - y);
        }
        if (y != 0.0 && fabs(x - y) / fabs(y) > out->max_relative)
            out->max_relative = fabs(x - y) / fabs(y);
        out->mismatches++;
        out->over++;
        out->histogram[PW_HISTOGRAM_BINS - 1]++;
    }
    out->cosine = out->mismatches == 0 ? 1.0 : 0.0;
    out->nmse = out->max_error = out->mismatches == 0 ? 0.0 : INFINITY;
}

static pw_status compare_floats(const struct pw_tensor *got, const struct pw_tensor *golden, double tolerance,
                                struct pw_comparison *out, struct pw_error *err)
{
    const struct pw_dtype_facts *facts = pw_dtype_facts(golden->nominal);
    struct float_scan scan = {.out = out,
                              .tolerance = tolerance,
                              .max = facts->max,
                              .min_normal = facts->min_normal,
                              .mantissa_bits = facts->mantissa_bits,
                              .step = ldexp(1.0, 1 - facts->mantissa_bits)};
    double a[BLOCK], b[BLOCK];

    if (!pw_dtype_is_float(got->dtype) || !pw_dtype_is_float(golden->dtype))
        return pw_error_set(err, PW_ERR_INTERNAL, "%s carried as %s compared with %s", facts->name,
                            pw_dtype_name(got->dtype), pw_dtype_name(golden->dtype));
    for (int64_t at = 0; at < got->count; at += BLOCK) {
        int64_t part = got->count - at < BLOCK ? got->count - at : BLOCK;

        pw_tensor_load(got, at, part, a);
        pw_tensor_load(golden, at, part, b);
        for (int64_t i = 0; i < part; i++)
            scan_element(&scan, at + i, a[i], b[i]);
    }
    finish_scan(&scan);
    return PW_OK;
}

/* A complex tensor seen as twice as many doubles; dst owns its data. */
static pw_status as_pairs(const struct pw_tensor *t, struct pw_tensor *dst, struct pw_error *err)
{
    pw_status status = pw_tensor_convert(dst, t, PW_DTYPE_COMPLEX128, err);

    if (status != PW_OK)
        return status;
    dst->dtype = PW_DTYPE_FLOAT64;
    dst->nominal = t->nominal;
    dst->count *= 2;
    return PW_OK;
}

pw_status pw_compare(const struct pw_tensor *got, const struct pw_tensor *golden, double tolerance, double floor,
                     struct pw_comparison *out, struct pw_error *err)
{
    struct pw_comparison made = {.count = golden->count, .worst = -1};
    struct pw_tensor a = {0}, b = {0};
    pw_dtype_kind kind = pw_dtype_facts(golden->nominal)->kind;
    pw_status status = check_shapes(got, golden, err);

    if (status != PW_OK)
        goto done;
    made.floor = floor < 0.0 ? pw_compare_floor(golden) : floor;
    if (kind == PW_KIND_COMPLEX) {
        status = as_pairs(got, &a, err);
        if (status == PW_OK)
            status = as_pairs(golden, &b, err);
        if (status == PW_OK)
            status = compare_floats(&a, &b, tolerance, &made, err);
        if (made.worst > 0)
            made.worst /= 2;
    } else if (kind == PW_KIND_FLOAT) {
        status = compare_floats(got, golden, tolerance, &made, err);
    } else if (got->dtype != golden->dtype) {
        status = pw_error_set(err, PW_ERR_FORMAT, "expected %s, found %s", pw_dtype_name(golden->dtype),
                              pw_dtype_name(got->dtype));
    } else {
        compare_exact(got, golden, &made);
    }
    if (status == PW_OK)
        *out = made;
done:
    pw_tensor_clear(&a);
    pw_tensor_clear(&b);
    return status;
}

/* Of two differences the larger; of infinite errors the larger difference of what is finite, so that integers too
 * are in order. */
static bool is_worse(const struct pw_compare_element *a, const struct pw_compare_element *b)
{
    if (a->error != b->error)
        return a->error > b->error;
    return isinf(a->error) && fabs(a->got - a->want) > fabs(b->got - b->want);
}

static double element_error(const struct float_scan *scan, double got, double want)
{
    double scale = fabs(want) > scan->out->floor ? fabs(want) : scan->out->floor;

    if (got == want || (isnan(got) && isnan(want)) || overflow_agrees(scan, got, want))
        return 0.0;
    if (!isfinite(got) || !isfinite(want) || scale <= 0.0)
        return INFINITY;
    return fabs(got - want) / scale;
}

size_t pw_compare_worst(const struct pw_tensor *got, const struct pw_tensor *golden, double floor,
                        struct pw_compare_element *out, size_t cap)
{
    const struct pw_dtype_facts *facts = pw_dtype_facts(golden->nominal);
    struct pw_comparison limits = {.floor = floor};
    struct float_scan scan = {
        .out = &limits, .max = facts->max, .min_normal = facts->min_normal, .mantissa_bits = facts->mantissa_bits};
    double a[BLOCK], b[BLOCK];
    size_t count = 0;

    if (facts->kind == PW_KIND_COMPLEX || facts->kind == PW_KIND_STRING || !cap)
        return 0;
    for (int64_t at = 0; at < got->count; at += BLOCK) {
        int64_t part = got->count - at < BLOCK ? got->count - at : BLOCK;

        pw_tensor_load(got, at, part, a);
        pw_tensor_load(golden, at, part, b);
        for (int64_t i = 0; i < part; i++) {
            struct pw_compare_element element = {at + i, a[i], b[i], 0.0};
            size_t place;

            if (facts->kind == PW_KIND_FLOAT)
                element.error = element_error(&scan, a[i], b[i]);
            else
                element.error = equal_element(got, golden, at + i) ? 0.0 : INFINITY;
            if (element.error == 0.0 || (count == cap && !is_worse(&element, &out[cap - 1])))
                continue;
            place = count < cap ? count++ : cap - 1;
            for (; place > 0 && is_worse(&element, &out[place - 1]); place--)
                out[place] = out[place - 1];
            out[place] = element;
        }
    }
    return count;
}

double pw_compare_floor(const struct pw_tensor *golden)
{
    const struct pw_dtype_facts *facts = pw_dtype_facts(golden->nominal);
    double block[BLOCK], scale = 0.0, sum = 0.0, floor;
    int64_t finite = 0;

    if (facts->kind != PW_KIND_FLOAT)
        return facts->min_normal;
    /* scaled by the largest so far, so that squares neither overflow nor vanish */
    for (int64_t at = 0; at < golden->count; at += BLOCK) {
        int64_t part = golden->count - at < BLOCK ? golden->count - at : BLOCK;

        pw_tensor_load(golden, at, part, block);
        for (int64_t i = 0; i < part; i++) {
            double x = fabs(block[i]);

            if (!isfinite(x))
                continue;
            finite++;
            if (x > scale) {
                sum = sum * (scale / x) * (scale / x) + 1.0;
                scale = x;
            } else if (x > 0.0) {
                sum += (x / scale) * (x / scale);
            }
        }
    }
    floor = finite > 0 ? scale * sqrt(sum / (double)finite) * 0.125 : 0.0;
    return floor > facts->min_normal ? floor : facts->min_normal;
}

static bool close_element(double got, double want, double rtol, double atol)
{
    if (got == want || (isnan(got) && isnan(want)))
        return true;
    if (!isfinite(got) || !isfinite(want))
        return false;
    return fabs(got - want) <= atol + rtol * fabs(want);
}

static int64_t first_not_close(const struct pw_tensor *got, const struct pw_tensor *want, double rtol, double atol)
{
    double a[BLOCK], b[BLOCK];

    for (int64_t at = 0; at < got->count; at += BLOCK) {
        int64_t part = got->count - at < BLOCK ? got->count - at : BLOCK;

        pw_tensor_load(got, at, part, a);
        pw_tensor_load(want, at, part, b);
        for (int64_t i = 0; i < part; i++) {
            if (!close_element(a[i], b[i], rtol, atol))
                return at + i;
        }
    }
    return -1;
}

pw_status pw_compare_close(const struct pw_tensor *got, const struct pw_tensor *want, double rtol, double atol,
                           int64_t *first_bad, struct pw_error *err)
{
    struct pw_tensor a = {0}, b = {0};
    pw_dtype_kind kind = pw_dtype_facts(want->nominal)->kind;
    int64_t bad = -1;
    pw_status status = check_shapes(got, want, err);

    if (status != PW_OK)
        goto done;
    if (kind == PW_KIND_STRING) {
        for (int64_t i = 0; i < got->count && bad < 0; i++)
            bad = equal_element(got, want, i) ? -1 : i;
    } else if (kind == PW_KIND_COMPLEX) {
        status = as_pairs(got, &a, err);
        if (status == PW_OK)
            status = as_pairs(want, &b, err);
        if (status != PW_OK)
            goto done;
        bad = first_not_close(&a, &b, rtol, atol);
        bad = bad > 0 ? bad / 2 : bad;
    } else {
        bad = first_not_close(got, want, rtol, atol);
    }
    *first_bad = bad;
done:
    pw_tensor_clear(&a);
    pw_tensor_clear(&b);
    return status;
}

void pw_compare_coordinates(const struct pw_tensor *t, int64_t flat, struct pw_buf *out)
{
    int64_t at[PW_MAX_RANK];

    for (int i = t->rank - 1; i >= 0; i--) {
        at[i] = t->dims[i] > 0 ? flat % t->dims[i] : 0;
        flat = t->dims[i] > 0 ? flat / t->dims[i] : 0;
    }
    pw_buf_putc(out, '[');
    for (int i = 0; i < t->rank; i++)
        pw_buf_printf(out, "%s%" PRId64, i > 0 ? "," : "", at[i]);
    pw_buf_putc(out, ']');
}
