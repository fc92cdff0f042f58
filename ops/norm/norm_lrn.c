/* LRN: a window over neighbouring channels, for each position. */
#include <math.h>

#include "base/compiler.h"
#include "base/parallel.h"
#include "ops/norm/norm_room.h"

struct job {
    const struct pw_tensor *x;
    struct pw_tensor *y;
    int64_t channels, inner, size;
    double alpha, beta, bias;
};

static pw_status prepare(struct pw_eval *ev, struct job *job, struct pw_error *err)
{
    const struct pw_tensor *x = pw_eval_in(ev, 0);

    if (!x || x->rank < 2)
        return pw_call_error(ev->call, err, "X is missing or has no channels");
    job->x = x;
    job->channels = x->dims[1];
    job->inner = pw_tensor_span(x, 2, x->rank);
    job->size = pw_call_int(ev->call, "size");
    if (job->size > 2 * job->channels + 1) /* the same window, without overflow; the mean still divides by size */
        job->size = 2 * job->channels + 1;
    job->alpha = (double)pw_call_float(ev->call, "alpha") / (double)pw_call_int(ev->call, "size");
    job->beta = (double)pw_call_float(ev->call, "beta");
    job->bias = (double)pw_call_float(ev->call, "bias");
    return pw_eval_output(ev, 0, x->nominal, x->rank, x->dims, &job->y, err);
}

/* Channels first..last of the window around c. */
static void window(const struct job *job, int64_t c, int64_t *first, int64_t *last)
{
    *first = c - (job->size - 1) / 2;
    *last = c + job->size / 2; /* ceil((size - 1) / 2) */
    if (*first < 0)
        *first = 0;
    if (*last > job->channels - 1)
        *last = job->channels - 1;
}

static void planes_golden(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;

    for (int64_t p = begin; p < end; p++) {
        int64_t c = p % job->channels, base = (p - c) * job->inner, first, last;

        window(job, c, &first, &last);
        for (int64_t i = 0; i < job->inner; i++) {
            long double sum = 0.0L;
            double x = pw_tensor_get(job->x, p * job->inner + i);

            for (int64_t k = first; k <= last; k++) {
                double v = pw_tensor_get(job->x, base + k * job->inner + i);

                sum += (long double)v * v;
            }
            pw_tensor_set(job->y, p * job->inner + i, (double)(x / powl(job->bias + job->alpha * sum, job->beta)));
        }
    }
}

enum { BLOCK = 256 };

PW_HOT static void block_fast(const struct job *job, const float *base, int64_t c, int64_t first, int64_t last,
                              float *y, int64_t n)
{
    float sum[BLOCK] = {0}, alpha = (float)job->alpha, beta = (float)job->beta, bias = (float)job->bias;

    for (int64_t k = first; k <= last; k++) {
        for (int64_t i = 0; i < n; i++)
            sum[i] += base[k * job->inner + i] * base[k * job->inner + i];
    }
    if (job->beta == 0.75) { /* the usual exponent needs no pow */
        for (int64_t i = 0; i < n; i++) {
            float root = sqrtf(bias + alpha * sum[i]);

            y[i] = base[c * job->inner + i] / (root * sqrtf(root));
        }
        return;
    }
    for (int64_t i = 0; i < n; i++)
        y[i] = base[c * job->inner + i] / powf(bias + alpha * sum[i], beta);
}

static void planes_fast(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;

    for (int64_t p = begin; p < end; p++) {
        int64_t c = p % job->channels, first, last;
        const float *base = (const float *)job->x->data + (p - c) * job->inner;
        float *y = (float *)job->y->data + p * job->inner;

        window(job, c, &first, &last);
        for (int64_t i = 0; i < job->inner; i += BLOCK)
            block_fast(job, base + i, c, first, last, y + i, job->inner - i < BLOCK ? job->inner - i : BLOCK);
    }
}

pw_status pw_norm_lrn_golden(struct pw_eval *ev, struct pw_error *err)
{
    struct job job;
    pw_status status = prepare(ev, &job, err);

    if (status == PW_OK && job.y->count > 0)
        pw_parallel_for(job.y->count / job.inner, 256 / (job.inner + 1) + 1, planes_golden, &job);
    return status;
}

pw_status pw_norm_lrn_fast(struct pw_eval *ev, struct pw_error *err)
{
    struct job job;
    pw_status status = prepare(ev, &job, err);

    if (status != PW_OK || job.y->count == 0)
        return status;
    pw_parallel_for(job.y->count / job.inner, 4096 / (job.inner + 1) + 1,
                    job.x->dtype == PW_DTYPE_FLOAT32 ? planes_fast : planes_golden, &job);
    return PW_OK;
}
