/*
 * References of the window pools. Two ways: rows (one tap over one row of outputs at a time, which
 * vectorises) for float and double carriers, and element by element for indices in column-major order, 8-bit types
 * and for float64, whose golden accumulates in long double.
 */
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "base/parallel.h"
#include "ops/pool/pool.h"

struct pool_job {
    struct pw_window_numbers n;
    pw_pool_mode mode;
    double p;
    bool count_pads; /* the average divides by the padded window */
    bool columns;    /* indices column-major */
    const struct pw_tensor *x;
    struct pw_tensor *y, *indices;
};

/* The taps [*first, *end) whose position start + tap * dilation lies in [0, extent): windows from hostile files may
 * be far larger than what they lie on, so nothing walks over taps outside. */
static void tap_range(int64_t start, int64_t dilation, int64_t taps, int64_t extent, int64_t *first, int64_t *end)
{
    *first = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
    *end = extent <= start ? 0 : (extent - start + dilation - 1) / dilation;
    *first = *first < taps ? *first : taps;
    *end = *end > taps ? taps : *end < *first ? *first : *end;
}

/* The taps of each axis below `axes` that lie inside for the output at `where`; false when an axis has none. */
static bool inside_taps(const struct pw_window_numbers *n, int axes, const int64_t *where, int64_t *first, int64_t *end)
{
    bool some = true;
    for (int a = 0; a < axes; a++) {
        tap_range(where[a] * n->stride[a] - n->pad_begin[a], n->dilation[a], n->kernel[a], n->in[a], &first[a],
                  &end[a]);
        some = some && end[a] > first[a];
    }
    return some;
}

/* Counts up coordinates from first to end, last axis fastest; false after the last ones. */
static bool advance(int64_t *at, const int64_t *first, const int64_t *end, int axes)
{
    for (int a = axes - 1; a >= 0; a--) {
        if (++at[a] < end[a])
            return true;
        at[a] = first ? first[a] : 0;
    }
    return false;
}

/* Taps of one axis that lie inside the input, and those inside input and padding, for output position o. */
static void count_axis(const struct pw_window_numbers *n, int a, int64_t o, int64_t *inside, int64_t *padded)
{
    int64_t start = o * n->stride[a] - n->pad_begin[a], first = 0, end = 0;
    tap_range(start, n->dilation[a], n->kernel[a], n->in[a], &first, &end);
    *inside = end - first;
    tap_range(start + n->pad_begin[a], n->dilation[a], n->kernel[a], n->in[a] + n->pad_begin[a] + n->pad_end[a], &first,
              &end);
    *padded = end - first;
}

/* What the average at `where` divides by, over the first `axes` axes. */
static double divisor(const struct pool_job *job, const int64_t *where, int axes)
{
    double product = 1;
    for (int a = 0; a < axes; a++) {
        int64_t inside, padded;
        count_axis(&job->n, a, where[a], &inside, &padded);
        product *= (double)(job->count_pads ? padded : inside);
    }
    return product;
}

/* ---- element by element ---- */

static int64_t index_of(const struct pool_job *job, int64_t plane, const int64_t *at)
{
    const struct pw_window_numbers *n = &job->n;
    int64_t offset = 0;
    for (int i = 0; i < n->axes; i++) {
        int a = job->columns ? n->axes - 1 - i : i;
        offset = offset * n->in[a] + at[a];
    }
    return plane * n->in_size + offset;
}

static long double finish(const struct pool_job *job, long double sum, const int64_t *where)
{
    if (job->mode == PW_POOL_LP)
        return job->p == 1 ? sum : job->p == 2 ? sqrtl(sum) : powl(sum, 1.0L / (long double)job->p);
    if (job->mode == PW_POOL_AVERAGE) {
        double by = divisor(job, where, job->n.axes);
        return by > 0 ? sum / (long double)by : 0;
    }
    return sum;
}

/* Takes one element into the accumulator of an output. */
static void take(const struct pool_job *job, long double value, int64_t index, long double *acc, int64_t *best)
{
    if (job->mode == PW_POOL_AVERAGE) {
        *acc += value;
    } else if (job->mode == PW_POOL_LP) {
        *acc += job->p == 2 ? value * value : job->p == 1 ? fabsl(value) : powl(fabsl(value), (long double)job->p);
    } else if (*best < 0 || value > *acc || (isnan(value) && !isnan(*acc))) {
        *acc = value;
        *best = index;
    }
}

static void pool_element(const struct pool_job *job, int64_t plane, const int64_t *where, int64_t to)
{
    const struct pw_window_numbers *n = &job->n;
    int64_t tap[PW_WINDOW_AXES], first[PW_WINDOW_AXES], end[PW_WINDOW_AXES], at[PW_WINDOW_AXES] = {0}, best = -1;
    bool integer = !pw_dtype_is_float(job->x->dtype);
    bool more = inside_taps(n, n->axes, where, first, end);
    long double acc = job->mode != PW_POOL_MAX          ? 0
                      : job->x->dtype == PW_DTYPE_INT8  ? INT8_MIN
                      : job->x->dtype == PW_DTYPE_UINT8 ? 0
                                                        : -INFINITY;
    memcpy(tap, first, sizeof tap);
    while (more) {
        int64_t offset = 0;
        for (int a = 0; a < n->axes; a++) {
            at[a] = where[a] * n->stride[a] + tap[a] * n->dilation[a] - n->pad_begin[a];
            offset = offset * n->in[a] + at[a];
        }
        take(job, pw_tensor_get(job->x, plane * n->in_size + offset), index_of(job, plane, at), &acc, &best);
        more = advance(tap, first, end, n->axes);
    }
    if (integer)
        pw_tensor_set_int(job->y, to, (int64_t)acc);
    else
        pw_tensor_set(job->y, to, (double)finish(job, acc, where));
    if (job->indices)
        ((int64_t *)job->indices->data)[to] = best;
}

static void elements_body(void *user, int64_t begin, int64_t end)
{
    const struct pool_job *job = user;
    for (int64_t plane = begin; plane < end; plane++) {
        int64_t where[PW_WINDOW_AXES] = {0};
        for (int64_t p = 0; p < job->n.out_size; p++) {
            pool_element(job, plane, where, plane * job->n.out_size + p);
            advance(where, NULL, job->n.out, job->n.axes);
        }
    }
}

/* ---- rows ---- */

#define ROW_LOOPS(suffix, real, absolute, power, root)                                                                 \
    PW_HOT static void max_##suffix(real *y, const real *x, int64_t count, int64_t stride)                             \
    {                                                                                                                  \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            real value = x[i * stride];                                                                                \
            y[i] = value > y[i] || value != value ? value : y[i];                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    /* Also the place of the largest: the first of equal ones; `at` is that of x[0]. */                                \
    PW_HOT static void max_place_##suffix(real *restrict y, int64_t *restrict best, const real *restrict x,            \
                                          int64_t count, int64_t stride, int64_t at)                                   \
    {                                                                                                                  \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            real value = x[i * stride];                                                                                \
            bool better = value > y[i] || (value != value && y[i] == y[i]) || best[i] < 0;                             \
            y[i] = better ? value : y[i];                                                                              \
            best[i] = better ? at + i * stride : best[i];                                                              \
        }                                                                                                              \
    }                                                                                                                  \
    PW_HOT static void add_##suffix(real *y, const real *x, int64_t count, int64_t stride)                             \
    {                                                                                                                  \
        for (int64_t i = 0; i < count; i++)                                                                            \
            y[i] += x[i * stride];                                                                                     \
    }                                                                                                                  \
    PW_HOT static void add_square_##suffix(real *y, const real *x, int64_t count, int64_t stride)                      \
    {                                                                                                                  \
        for (int64_t i = 0; i < count; i++)                                                                            \
            y[i] += x[i * stride] * x[i * stride];                                                                     \
    }                                                                                                                  \
    static void add_power_##suffix(real *y, const real *x, int64_t count, int64_t stride, real p)                      \
    {                                                                                                                  \
        for (int64_t i = 0; i < count; i++)                                                                            \
            y[i] += power(absolute(x[i * stride]), p);                                                                 \
    }                                                                                                                  \
    static void reduce_##suffix(const struct pool_job *job, int64_t to, int64_t from, int64_t count, int64_t stride)   \
    {                                                                                                                  \
        real *y = (real *)job->y->data + to;                                                                           \
        const real *x = (const real *)job->x->data + from;                                                             \
        if (job->indices)                                                                                              \
            max_place_##suffix(y, (int64_t *)job->indices->data + to, x, count, stride, from);                         \
        else if (job->mode == PW_POOL_MAX)                                                                             \
            max_##suffix(y, x, count, stride);                                                                         \
        else if (job->mode == PW_POOL_AVERAGE)                                                                         \
            add_##suffix(y, x, count, stride);                                                                         \
        else if (job->p == 2)                                                                                          \
            add_square_##suffix(y, x, count, stride);                                                                  \
        else                                                                                                           \
            add_power_##suffix(y, x, count, stride, (real)job->p);                                                     \
    }                                                                                                                  \
    static void finish_##suffix(const struct pool_job *job, real *y, const int64_t *where)                             \
    {                                                                                                                  \
        int last = job->n.axes - 1;                                                                                    \
        double outer = job->mode == PW_POOL_AVERAGE ? divisor(job, where, last) : 1;                                   \
        for (int64_t i = 0; i < job->n.out[last] && job->mode != PW_POOL_MAX; i++) {                                   \
            int64_t inside = 1, padded = 1;                                                                            \
            if (job->mode == PW_POOL_AVERAGE) {                                                                        \
                count_axis(&job->n, last, i, &inside, &padded);                                                        \
                double by = outer * (double)(job->count_pads ? padded : inside);                                       \
                y[i] = by > 0 ? y[i] / (real)by : 0;                                                                   \
            } else if (job->p != 1) {                                                                                  \
                y[i] = job->p == 2 ? root(y[i]) : power(y[i], 1 / (real)job->p);                                       \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void start_##suffix(const struct pool_job *job, real *y)                                                    \
    {                                                                                                                  \
        for (int64_t i = 0; i < job->n.out[job->n.axes - 1]; i++)                                                      \
            y[i] = job->mode == PW_POOL_MAX ? (real)-INFINITY : 0;                                                     \
    }

ROW_LOOPS(f32, float, fabsf, powf, sqrtf)
ROW_LOOPS(f64, double, fabs, pow, sqrt)

/* One tap over a row of outputs; `offset` leads to the row of the input that the outer taps choose. */
static void reduce_row(const struct pool_job *job, int64_t offset, int64_t tap, int64_t to)
{
    const struct pw_window_numbers *n = &job->n;
    int last = n->axes - 1;
    int64_t shift = tap * n->dilation[last] - n->pad_begin[last], stride = n->stride[last], lo, hi;
    tap_range(shift, stride, n->out[last], n->in[last], &lo, &hi);
    if (hi <= lo)
        return;
    offset += lo * stride + shift;
    if (job->x->dtype == PW_DTYPE_FLOAT32)
        reduce_f32(job, to + lo, offset, hi - lo, stride);
    else
        reduce_f64(job, to + lo, offset, hi - lo, stride);
}

/* All taps of the row of outputs at `where` (its last coordinate is not used). */
static void reduce_rows(const struct pool_job *job, int64_t plane, const int64_t *where, int64_t to)
{
    const struct pw_window_numbers *n = &job->n;
    int last = n->axes - 1;
    int64_t tap[PW_WINDOW_AXES], first[PW_WINDOW_AXES], end[PW_WINDOW_AXES], from, until, unused;
    bool more = inside_taps(n, last, where, first, end);
    /* Taps of the last axis that some output of the row has inside: from the last output's first one on. */
    tap_range((n->out[last] - 1) * n->stride[last] - n->pad_begin[last], n->dilation[last], n->kernel[last],
              n->in[last], &from, &until);
    tap_range(-n->pad_begin[last], n->dilation[last], n->kernel[last], n->in[last], &unused, &until);
    memcpy(tap, first, sizeof tap);
    while (more) {
        int64_t offset = plane;
        for (int a = 0; a < last; a++)
            offset = offset * n->in[a] + where[a] * n->stride[a] + tap[a] * n->dilation[a] - n->pad_begin[a];
        for (int64_t t = from; t < until; t++)
            reduce_row(job, offset * n->in[last], t, to);
        more = advance(tap, first, end, last);
    }
}

static void rows_body(void *user, int64_t begin, int64_t end)
{
    const struct pool_job *job = user;
    const struct pw_window_numbers *n = &job->n;
    int last = n->axes - 1;
    bool single = job->x->dtype == PW_DTYPE_FLOAT32;
    for (int64_t plane = begin; plane < end; plane++) {
        int64_t where[PW_WINDOW_AXES] = {0};
        for (int64_t row = 0; row < n->out_size / n->out[last]; row++) {
            int64_t to = plane * n->out_size + row * n->out[last];
            for (int64_t i = 0; job->indices && i < n->out[last]; i++)
                ((int64_t *)job->indices->data)[to + i] = -1;
            if (single)
                start_f32(job, (float *)job->y->data + to);
            else
                start_f64(job, (double *)job->y->data + to);
            reduce_rows(job, plane, where, to);
            if (single)
                finish_f32(job, (float *)job->y->data + to, where);
            else
                finish_f64(job, (double *)job->y->data + to, where);
            advance(where, NULL, n->out, last);
        }
    }
}

/* ---- whole planes, contiguous: four partial sums keep the adder busy ---- */

PW_HOT static double sum_f32(const float *x, int64_t count)
{
    float part[16] = {0};
    double sum = 0;
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
        for (int j = 0; j < 16; j++)
            part[j] += x[i + j];
    }
    for (int j = 0; j < 16; j++)
        sum += (double)part[j];
    for (; i < count; i++)
        sum += (double)x[i];
    return sum;
}

static void global_average_body(void *user, int64_t begin, int64_t end)
{
    const struct pool_job *job = user;
    for (int64_t plane = begin; plane < end; plane++)
        ((float *)job->y->data)[plane] =
            (float)(sum_f32((const float *)job->x->data + plane * job->n.in_size, job->n.in_size) /
                    (double)job->n.in_size);
}

pw_status pw_pool_eval(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_pool_kind *kind = pw_pool_kind_of(ev->call);
    struct pool_job job = {.mode = kind->mode, .p = 2, .x = pw_eval_in(ev, 0)};
    pw_status status = pw_pool_numbers(ev->call, &job.n, err);
    if (status == PW_OK && kind->mode == PW_POOL_LP)
        status = pw_pool_exponent(ev->call, &job.p, err);
    if (status != PW_OK)
        return status;
    job.count_pads = pw_call_int(ev->call, "count_include_pad") != 0;
    job.columns = pw_call_int(ev->call, "storage_order") == 1;
    int64_t dims[PW_MAX_RANK] = {job.x->dims[0], job.x->dims[1]};
    for (int a = 0; a < job.n.axes; a++)
        dims[2 + a] = job.n.out[a];
    status = pw_eval_output(ev, 0, ev->call->in[0]->dtype, job.x->rank, dims, &job.y, err);
    if (status == PW_OK && ev->output_count > 1 && ev->call->wanted[1])
        status = pw_eval_output(ev, 1, PW_DTYPE_INT64, job.x->rank, dims, &job.indices, err);
    if (status != PW_OK || job.y->count == 0)
        return status;
    int64_t planes = dims[0] * dims[1];
    bool rows = (!job.indices || !job.columns || job.n.axes == 1) && job.n.axes > 0 &&
                pw_dtype_is_float(job.x->dtype) &&
                (kind->mode == PW_POOL_MAX || ev->mode == PW_EVAL_FAST || job.x->nominal != PW_DTYPE_FLOAT64);
    bool whole = kind->global && kind->mode == PW_POOL_AVERAGE && job.x->dtype == PW_DTYPE_FLOAT32 && job.n.in_size > 0;
    pw_parallel_for(planes, 1, whole ? global_average_body : rows ? rows_body : elements_body, &job);
    return PW_OK;
}
