#include "ops/loss/loss_room.h"

#include <inttypes.h>
#include <math.h>

#include "base/approx.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "base/parallel.h"

struct job {
    struct pw_loss_layout l;
    bool softmax, precise; /* precise: golden of a float64 model, in long double */
    int64_t samples;
    const void *x;
    const int64_t *labels; /* [samples], checked */
    struct pw_tensor wide; /* labels as int64 where they are not */
    const struct pw_tensor *weights;
    struct pw_tensor *loss, *log_prob; /* log_prob: NULL when not wanted */
    double *values, *shares;           /* of each sample: its loss, its part in the mean's divisor */
    float *max, *log_sum;              /* fast: of each sample's column */
};

/* Where a sample's column begins; its elements are l.inner apart. */
static int64_t column_of(const struct job *job, int64_t sample)
{
    return sample / job->l.inner * job->l.classes * job->l.inner + sample % job->l.inner;
}

static bool is_ignored(const struct job *job, int64_t sample)
{
    return job->l.has_ignored && job->labels[sample] == job->l.ignored;
}

static void put_sample(const struct job *job, int64_t sample, double log_probability)
{
    double weight = job->weights ? pw_tensor_get(job->weights, job->labels[sample]) : 1.0;

    job->values[sample] = -log_probability * weight;
    job->shares[sample] = weight;
}

static void put_ignored(const struct job *job, int64_t sample)
{
    job->values[sample] = job->shares[sample] = 0.0;
}

/* ---- golden: one sample at a time ---- */

static double column_max(const double *x, int64_t n, int64_t step)
{
    double max = -INFINITY;

    for (int64_t i = 0; i < n; i++)
        max = x[i * step] > max || x[i * step] != x[i * step] ? x[i * step] : max;
    return max;
}

static long double column_log_sum(const struct job *job, const double *x, double max)
{
    int64_t n = job->l.classes, step = job->l.inner;

    if (job->precise) {
        long double sum = 0.0L;

        for (int64_t i = 0; i < n; i++)
            sum += expl((long double)x[i * step] - max);
        return logl(sum);
    }
    double sum = 0.0;

    for (int64_t i = 0; i < n; i++)
        sum += exp(x[i * step] - max);
    return log(sum);
}

static void samples_golden(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;
    int64_t n = job->l.classes, step = job->l.inner;

    for (int64_t s = begin; s < end; s++) {
        int64_t at = column_of(job, s);
        const double *x = (const double *)job->x + at;
        long double max = 0.0L, log_sum = 0.0L; /* NegativeLogLikelihoodLoss: x is the logarithm already */

        if (job->softmax && (job->log_prob || !is_ignored(job, s))) {
            max = column_max(x, n, step);
            log_sum = column_log_sum(job, x, (double)max);
        }
        for (int64_t i = 0; job->log_prob && i < n; i++)
            ((double *)job->log_prob->data)[at + i * step] = (double)((x[i * step] - max) - log_sum);
        if (is_ignored(job, s))
            put_ignored(job, s);
        else
            put_sample(job, s, (double)((x[job->labels[s] * step] - max) - log_sum));
    }
}

/* ---- fast: maxima and log-sums of contiguous rows or of blocks of columns, then one pass ---- */

enum { LANES = 16, COLUMNS = 256 };

PW_HOT static void row_fast(const float *restrict x, int64_t n, float *max_out, float *log_out)
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
        for (int l = 0; l < LANES; l++)
            sums[l] += pw_approx_exp(x[i + l] - max);
    }
    for (; i < n; i++)
        sum += pw_approx_exp(x[i] - max);
    for (int l = 0; l < LANES; l++)
        sum += sums[l];
    *max_out = max;
    *log_out = logf(sum);
}

PW_HOT static void block_fast(const float *restrict x, int64_t n, int64_t step, int64_t width, float *restrict max,
                              float *restrict log_sum)
{
    for (int64_t c = 0; c < width; c++) {
        max[c] = -INFINITY;
        log_sum[c] = 0.0f;
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < width; c++)
            max[c] = x[i * step + c] > max[c] ? x[i * step + c] : max[c];
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < width; c++)
            log_sum[c] += pw_approx_exp(x[i * step + c] - max[c]);
    }
    for (int64_t c = 0; c < width; c++)
        log_sum[c] = logf(log_sum[c]);
}

/* y = (x - max) - log_sum over a block; y may be missing. */
PW_HOT static void write_block(const float *restrict x, float *restrict y, int64_t n, int64_t step, int64_t width,
                               const float *restrict max, const float *restrict log_sum)
{
    for (int64_t i = 0; y && i < n; i++) {
        for (int64_t c = 0; c < width; c++)
            y[i * step + c] = (x[i * step + c] - max[c]) - log_sum[c];
    }
}

static float *log_prob_at(const struct job *job, int64_t sample)
{
    return job->log_prob ? (float *)job->log_prob->data + column_of(job, sample) : NULL;
}

static void rows_fast(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;

    for (int64_t s = begin; s < end; s++) {
        const float *x = (const float *)job->x + s * job->l.classes;
        float *y = log_prob_at(job, s);

        row_fast(x, job->l.classes, &job->max[s], &job->log_sum[s]);
        for (int64_t i = 0; y && i < job->l.classes; i++)
            y[i] = (x[i] - job->max[s]) - job->log_sum[s];
    }
}

static void blocks_fast(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;
    const struct pw_loss_layout *l = &job->l;
    int64_t blocks = (l->inner + COLUMNS - 1) / COLUMNS;

    for (int64_t b = begin; b < end; b++) {
        int64_t first = b % blocks * COLUMNS, sample = b / blocks * l->inner + first;
        int64_t width = l->inner - first < COLUMNS ? l->inner - first : COLUMNS;

        const float *x = (const float *)job->x + column_of(job, sample);

        block_fast(x, l->classes, l->inner, width, job->max + sample, job->log_sum + sample);
        write_block(x, log_prob_at(job, sample), l->classes, l->inner, width, job->max + sample, job->log_sum + sample);
    }
}

static void samples_fast(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;

    for (int64_t s = begin; s < end; s++) {
        const float *x = (const float *)job->x + column_of(job, s);
        float max = job->softmax ? job->max[s] : 0.0f, log_sum = job->softmax ? job->log_sum[s] : 0.0f;

        if (is_ignored(job, s))
            put_ignored(job, s);
        else
            put_sample(job, s, (double)((x[job->labels[s] * job->l.inner] - max) - log_sum));
    }
}

static pw_status run_fast(struct job *job, int64_t grain, struct pw_error *err)
{
    const struct pw_loss_layout *l = &job->l;

    if (job->softmax) {
        job->max = pw_calloc((size_t)job->samples + 1, 2 * sizeof *job->max);
        if (!job->max)
            return pw_error_memory(err, (size_t)job->samples * 2 * sizeof *job->max);
        job->log_sum = job->max + job->samples;
        if (l->inner == 1)
            pw_parallel_for(job->samples, grain, rows_fast, job);
        else
            pw_parallel_for(l->batch * ((l->inner + COLUMNS - 1) / COLUMNS), 1, blocks_fast, job);
    }
    pw_parallel_for(job->samples, grain, samples_fast, job);
    return PW_OK;
}

/* ---- entry points ---- */

static pw_status check_labels(struct pw_eval *ev, struct job *job, struct pw_error *err)
{
    const struct pw_tensor *labels = pw_eval_in(ev, 1);

    if (labels->dtype == PW_DTYPE_INT64) {
        job->labels = labels->data;
    } else {
        pw_status status = pw_tensor_convert(&job->wide, labels, PW_DTYPE_INT64, err);

        if (status != PW_OK)
            return status;
        job->labels = job->wide.data;
    }
    for (int64_t s = 0; s < job->samples; s++) {
        if (!is_ignored(job, s) && (job->labels[s] < 0 || job->labels[s] >= job->l.classes))
            return pw_call_error(ev->call, err,
                                 "label %" PRId64 " of sample %" PRId64 " is outside of %" PRId64 " classes",
                                 job->labels[s], s, job->l.classes);
    }
    return PW_OK;
}

static pw_status prepare(struct pw_eval *ev, struct job *job, struct pw_error *err)
{
    const struct pw_loss_form *form = ev->call->op->data;
    const struct pw_tensor *x = pw_eval_in(ev, 0), *labels = pw_eval_in(ev, 1);
    bool reduces;
    pw_status status = pw_loss_layout(ev->call, &job->l, err);

    if (status != PW_OK)
        return status;
    reduces = job->l.reduction != PW_LOSS_NONE;
    job->softmax = form->softmax;
    job->precise = x->nominal == PW_DTYPE_FLOAT64;
    job->samples = job->l.batch * job->l.inner;
    job->x = x->data;
    job->weights = pw_eval_in(ev, 2);
    status = check_labels(ev, job, err);
    if (status == PW_OK)
        status = pw_eval_output(ev, 0, x->nominal, reduces ? 0 : labels->rank, labels->dims, &job->loss, err);
    if (status == PW_OK && ev->output_count > 1 && ev->call->wanted[1])
        status = pw_eval_output(ev, 1, x->nominal, x->rank, x->dims, &job->log_prob, err);
    if (status != PW_OK)
        return status;
    job->values = pw_calloc((size_t)job->samples + 1, 2 * sizeof *job->values);
    if (!job->values)
        return pw_error_memory(err, (size_t)job->samples * 2 * sizeof *job->values);
    job->shares = job->values + job->samples;
    return PW_OK;
}

static void finish(const struct job *job)
{
    long double sum = 0.0L, share = 0.0L;

    if (job->l.reduction == PW_LOSS_NONE) {
        for (int64_t s = 0; s < job->samples; s++)
            pw_tensor_set(job->loss, s, job->values[s]);
        return;
    }
    for (int64_t s = 0; s < job->samples; s++) {
        sum += job->values[s];
        share += job->shares[s];
    }
    pw_tensor_set(job->loss, 0, (double)(job->l.reduction == PW_LOSS_MEAN ? sum / share : sum));
}

/* Serves both modes: the carrier tells which. */
pw_status pw_loss_evaluate(struct pw_eval *ev, struct pw_error *err)
{
    struct job job = {0};
    pw_status status = prepare(ev, &job, err);
    int64_t grain = 16384 / (job.l.classes + 1) + 1;

    if (status == PW_OK && job.loss->dtype == PW_DTYPE_FLOAT64)
        pw_parallel_for(job.samples, grain, samples_golden, &job);
    else if (status == PW_OK)
        status = run_fast(&job, grain, err);
    if (status == PW_OK)
        finish(&job);
    pw_tensor_clear(&job.wide);
    pw_free(job.values);
    pw_free(job.max);
    return status;
}
