#include "ops/softmax/softmax_room.h"

#include <math.h>

#include "base/approx.h"
#include "base/compiler.h"
#include "base/parallel.h"
#include "op/order.h"

struct job {
    const struct pw_softmax_form *form;
    struct pw_softmax_layout layout;
    const void *x;
    void *y;
    bool precise; /* golden of a float64 model */
};

/* ---- golden: one column of the layout at a time ---- */

static double column_max(const struct job *job, const double *x)
{
    int64_t n = job->layout.length, step = job->layout.inner;
    double max = -INFINITY;

    for (int64_t i = 0; i < n; i++)
        max = x[i * step] > max || x[i * step] != x[i * step] ? x[i * step] : max;
    return max;
}

/* y = exp(x - max) / sum, or (x - max) - log(sum). */
static void column_golden(const struct job *job, const double *x, double *y)
{
    int64_t n = job->layout.length, step = job->layout.inner;
    double max = column_max(job, x), sum = 0.0, shift;

    for (int64_t i = 0; i < n; i++) {
        y[i * step] = exp(x[i * step] - max);
        sum += y[i * step];
    }
    shift = log(sum);
    for (int64_t i = 0; i < n; i++)
        y[i * step] = job->form->kind == PW_SOFTMAX_LOG ? (x[i * step] - max) - shift : y[i * step] / sum;
}

/* The same in long double: for tensors that are float64 in the model. */
static void column_precise(const struct job *job, const double *x, double *y)
{
    int64_t n = job->layout.length, step = job->layout.inner;
    double max = column_max(job, x);
    long double sum = 0.0L;

    for (int64_t i = 0; i < n; i++)
        sum += expl((long double)x[i * step] - max);
    for (int64_t i = 0; i < n; i++) {
        long double shifted = (long double)x[i * step] - max;

        y[i * step] = (double)(job->form->kind == PW_SOFTMAX_LOG ? shifted - logl(sum) : expl(shifted) / sum);
    }
}

/* 1 at the first largest element, else 0. */
static void column_hard(const struct job *job, const double *x, double *y)
{
    int64_t n = job->layout.length, step = job->layout.inner, best = 0;

    for (int64_t i = 1; i < n; i++)
        best = x[i * step] > x[best * step] ? i : best;
    for (int64_t i = 0; i < n; i++)
        y[i * step] = i == best ? 1.0 : 0.0;
}

static void columns_golden(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;
    void (*column)(const struct job *, const double *, double *) = column_golden;

    if (job->form->kind == PW_SOFTMAX_HARD)
        column = column_hard;
    else if (job->precise)
        column = column_precise;
    for (int64_t c = begin; c < end; c++) {
        int64_t at = c / job->layout.inner * job->layout.length * job->layout.inner + c % job->layout.inner;

        column(job, (const double *)job->x + at, (double *)job->y + at);
    }
}

/* ---- fast: contiguous rows of floats, or planes whose rows run along `inner` ---- */

enum { LANES = 16 };

PW_HOT static void row_fast(bool is_log, const float *restrict x, float *restrict y, int64_t n)
{
    float maxima[LANES], sums[LANES] = {0}, max, sum = 0.0f;
    int64_t i = 0;

    for (int l = 0; l < LANES; l++)
        maxima[l] = -INFINITY;
    for (; i + LANES <= n; i += LANES) {
        for (int l = 0; l < LANES; l++)
            maxima[l] = x[i + l] > maxima[l] ? x[i + l] : maxima[l];
    }
    for (; i < n; i++)
        maxima[0] = x[i] > maxima[0] ? x[i] : maxima[0];
    max = maxima[0];
    for (int l = 1; l < LANES; l++)
        max = maxima[l] > max ? maxima[l] : max;
    for (i = 0; i + LANES <= n; i += LANES) {
        for (int l = 0; l < LANES; l++) {
            y[i + l] = pw_approx_exp(x[i + l] - max);
            sums[l] += y[i + l];
        }
    }
    for (; i < n; i++) {
        y[i] = pw_approx_exp(x[i] - max);
        sum += y[i];
    }
    for (int l = 0; l < LANES; l++)
        sum += sums[l];
    if (is_log) {
        float shift = logf(sum);

        for (i = 0; i < n; i++)
            y[i] = (x[i] - max) - shift;
    } else {
        float scale = 1.0f / sum;

        for (i = 0; i < n; i++)
            y[i] *= scale;
    }
}

/* One plane [length][inner], a block of at most COLUMNS columns at a time. */
enum { COLUMNS = 256 };

PW_HOT static void block_fast(bool is_log, const float *restrict x, float *restrict y, int64_t n, int64_t step,
                              int64_t width)
{
    float max[COLUMNS], sum[COLUMNS];

    for (int64_t c = 0; c < width; c++) {
        max[c] = -INFINITY;
        sum[c] = 0.0f;
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < width; c++)
            max[c] = x[i * step + c] > max[c] ? x[i * step + c] : max[c];
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < width; c++) {
            float e = pw_approx_exp(x[i * step + c] - max[c]);

            y[i * step + c] = e;
            sum[c] += e;
        }
    }
    for (int64_t c = 0; c < width; c++)
        sum[c] = is_log ? logf(sum[c]) : 1.0f / sum[c];
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < width; c++)
            y[i * step + c] = is_log ? (x[i * step + c] - max[c]) - sum[c] : y[i * step + c] * sum[c];
    }
}

static void rows_fast(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;
    int64_t n = job->layout.length;

    for (int64_t r = begin; r < end; r++)
        row_fast(job->form->kind == PW_SOFTMAX_LOG, (const float *)job->x + r * n, (float *)job->y + r * n, n);
}

static void blocks_fast(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;
    const struct pw_softmax_layout *l = &job->layout;
    int64_t blocks = (l->inner + COLUMNS - 1) / COLUMNS;

    for (int64_t b = begin; b < end; b++) {
        int64_t first = b % blocks * COLUMNS, at = b / blocks * l->length * l->inner + first;
        int64_t width = l->inner - first < COLUMNS ? l->inner - first : COLUMNS;

        block_fast(job->form->kind == PW_SOFTMAX_LOG, (const float *)job->x + at, (float *)job->y + at, l->length,
                   l->inner, width);
    }
}

/* ---- entry points ---- */

static pw_status prepare(struct pw_eval *ev, struct job *job, struct pw_tensor **y, struct pw_error *err)
{
    const struct pw_tensor *x = pw_eval_in(ev, 0);
    int axis = 0;
    pw_status status;

    if (!x)
        return pw_call_error(ev->call, err, "the input is missing");
    status = pw_softmax_axis(ev->call, x->rank, &axis, err);
    if (status == PW_OK)
        status = pw_eval_output(ev, 0, x->nominal, x->rank, x->dims, y, err);
    if (status != PW_OK)
        return status;
    job->form = ev->call->op->data;
    job->layout = pw_softmax_layout(x->dims, x->rank, axis, job->form->flattens);
    job->x = x->data;
    job->y = (*y)->data;
    job->precise = x->nominal == PW_DTYPE_FLOAT64 && ev->mode == PW_EVAL_GOLDEN;
    if (x->dtype != PW_DTYPE_FLOAT64 && x->dtype != PW_DTYPE_FLOAT32)
        return pw_call_error(ev->call, err, "the input is %s, a float type expected", pw_dtype_name(x->nominal));
    return PW_OK;
}

static int64_t grain(int64_t length)
{
    return 16384 / (length + 1) + 1;
}

pw_status pw_softmax_golden(struct pw_eval *ev, struct pw_error *err)
{
    struct job job;
    struct pw_tensor *y = NULL;
    pw_status status = prepare(ev, &job, &y, err);

    if (status != PW_OK || y->count == 0)
        return status;
    if (y->dtype != PW_DTYPE_FLOAT64)
        return pw_softmax_fast(ev, err);
    pw_parallel_for(job.layout.outer * job.layout.inner, grain(job.layout.length), columns_golden, &job);
    return PW_OK;
}

/* float32 Hardmax: rare, so that plain columns through double would cost more than they serve. */
static void columns_hard_float(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;
    int64_t n = job->layout.length, step = job->layout.inner;

    for (int64_t c = begin; c < end; c++) {
        int64_t at = c / step * n * step + c % step, best = 0;
        const float *x = (const float *)job->x + at;
        float *y = (float *)job->y + at;

        for (int64_t i = 1; i < n; i++)
            best = x[i * step] > x[best * step] ? i : best;
        for (int64_t i = 0; i < n; i++)
            y[i * step] = i == best ? 1.0f : 0.0f;
    }
}

pw_status pw_softmax_fast(struct pw_eval *ev, struct pw_error *err)
{
    struct job job;
    struct pw_tensor *y = NULL;
    pw_status status = prepare(ev, &job, &y, err);
    const struct pw_softmax_layout *l = &job.layout;

    if (status != PW_OK || y->count == 0)
        return status;
    if (y->dtype == PW_DTYPE_FLOAT64)
        pw_parallel_for(l->outer * l->inner, grain(l->length), columns_golden, &job);
    else if (job.form->kind == PW_SOFTMAX_HARD)
        pw_parallel_for(l->outer * l->inner, grain(l->length), columns_hard_float, &job);
    else if (l->inner == 1)
        pw_parallel_for(l->outer, grain(l->length), rows_fast, &job);
    else
        pw_parallel_for(l->outer * ((l->inner + COLUMNS - 1) / COLUMNS), 1, blocks_fast, &job);
    return PW_OK;
}

/* ---- the sum in a given order ---- */

struct ordered_job {
    const struct job *job;
    const struct pw_order *order;
};

static void column_ordered(const struct ordered_job *o, const double *x, double *y)
{
    const struct pw_order *order = o->order;
    int64_t n = o->job->layout.length, step = o->job->layout.inner;
    struct pw_order_sum sum = pw_order_begin(order, false);
    double max, total, shift;

    for (int64_t i = 0; i < n; i++)
        y[i * step] = pw_order_round(order, x[i * step]);
    max = column_max(o->job, y);
    for (int64_t i = 0; i < n; i++) {
        y[i * step] = pw_order_add(order, y[i * step], -max);
        pw_order_term(&sum, exp(y[i * step]));
    }
    total = pw_order_end(&sum);
    shift = pw_order_round(order, log(total));
    for (int64_t i = 0; i < n; i++)
        y[i * step] = o->job->form->kind == PW_SOFTMAX_LOG
                          ? pw_order_add(order, y[i * step], -shift)
                          : pw_order_divide(order, pw_order_round(order, exp(y[i * step])), total);
}

static void columns_ordered(void *user, int64_t begin, int64_t end)
{
    const struct ordered_job *o = user;
    const struct pw_softmax_layout *l = &o->job->layout;

    for (int64_t c = begin; c < end; c++) {
        int64_t at = c / l->inner * l->length * l->inner + c % l->inner;

        column_ordered(o, (const double *)o->job->x + at, (double *)o->job->y + at);
    }
}

pw_status pw_softmax_ordered(struct pw_eval *ev, struct pw_error *err)
{
    struct job job;
    struct ordered_job ordered = {&job, ev->order};
    struct pw_tensor *y = NULL;
    pw_status status = prepare(ev, &job, &y, err);

    if (status == PW_OK && y->count > 0)
        pw_parallel_for(job.layout.outer * job.layout.inner, grain(job.layout.length), columns_ordered, &ordered);
    return status;
}
