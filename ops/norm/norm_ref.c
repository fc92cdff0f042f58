#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "base/parallel.h"
#include "op/order.h"
#include "ops/norm/norm_room.h"

/* All inputs in double, and where the results go. */
struct job {
    const struct pw_norm_form *form;
    struct pw_norm_view view;
    struct pw_norm_loops loops;
    struct pw_norm_rows rows;
    const double *x, *scale, *bias, *mean, *variance; /* NULL where there is none */
    struct pw_tensor *y;
    struct pw_tensor *statistics[4]; /* Mean and InvStdDev; running and saved mean and variance */
    double epsilon, momentum;
    int64_t order; /* p of LpNormalization */
    int64_t outer, channels, inner;
};

/* ---- sets in any layout ---- */

struct place {
    int64_t x, scale, bias;
};

static struct place kept_place(const struct pw_norm_loops *l, int64_t index)
{
    struct place at = {0, 0, 0};

    for (int d = l->kept_rank - 1; d >= 0; d--) {
        int64_t i = index % l->kept_dims[d];

        index /= l->kept_dims[d];
        at.x += i * l->kept_x[d];
        at.scale += i * l->kept_scale[d];
        at.bias += i * l->kept_bias[d];
    }
    return at;
}

static void next_term(const struct pw_norm_loops *l, int64_t *i, struct place *at)
{
    for (int d = l->set_rank - 1; d >= 0; d--) {
        at->x += l->set_x[d];
        at->scale += l->set_scale[d];
        at->bias += l->set_bias[d];
        if (++i[d] < l->set_dims[d])
            return;
        at->x -= l->set_x[d] * l->set_dims[d];
        at->scale -= l->set_scale[d] * l->set_dims[d];
        at->bias -= l->set_bias[d] * l->set_dims[d];
        i[d] = 0;
    }
}

/* What is subtracted, and the factor of the rest. */
static void set_statistics(const struct job *job, struct place at, long double *mean, long double *variance,
                           long double *factor)
{
    const struct pw_norm_loops *l = &job->loops;
    int64_t i[PW_NORM_DIMS] = {0};
    bool centres = job->form->kind != PW_NORM_RMS && job->form->kind != PW_NORM_LP;
    long double sum = 0.0L;

    *mean = 0.0L;
    for (int64_t n = 0; n < l->terms && centres; n++) {
        sum += job->x[at.x];
        next_term(l, i, &at);
    }
    if (centres)
        *mean = sum / (long double)l->terms;
    sum = 0.0L;
    for (int64_t n = 0; n < l->terms; n++) {
        long double d = job->x[at.x] - *mean;

        sum += job->order == 1 ? fabsl(d) : d * d;
        next_term(l, i, &at);
    }
    *variance = sum / (long double)l->terms;
    if (job->form->kind == PW_NORM_LP) {
        long double norm = job->order == 1 ? sum : sqrtl(sum);

        *factor = norm == 0.0L ? 0.0L : 1.0L / norm;
    } else if (job->form->kind == PW_NORM_MEAN_VARIANCE) {
        *factor = 1.0L / (sqrtl(*variance) + 1e-9L); /* the epsilon of the operator's defining function */
    } else {
        *factor = 1.0L / sqrtl(*variance + job->epsilon);
    }
}

static void put(struct pw_tensor *t, int64_t i, long double x)
{
    if (t && i < t->count)
        pw_tensor_set(t, i, (double)x);
}

static void keep_statistics(const struct job *job, int64_t set, int64_t channel, long double mean, long double variance,
                            long double factor)
{
    if (job->form->kind == PW_NORM_LAYER) {
        put(job->statistics[0], set, mean);
        put(job->statistics[1], set, factor);
    }
    if (job->form->kind == PW_NORM_BATCH) {
        long double old = job->momentum, fresh = 1.0L - job->momentum;

        put(job->statistics[0], channel, job->mean[channel] * old + mean * fresh);
        put(job->statistics[1], channel, job->variance[channel] * old + variance * fresh);
        put(job->statistics[2], channel, mean);
        put(job->statistics[3], channel, variance);
    }
}

static void sets_golden(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;
    const struct pw_norm_loops *l = &job->loops;

    for (int64_t set = begin; set < end; set++) {
        struct place at = kept_place(l, set);
        int64_t i[PW_NORM_DIMS] = {0};
        long double mean, variance, factor;

        set_statistics(job, at, &mean, &variance, &factor);
        keep_statistics(job, set, at.scale, mean, variance, factor);
        for (int64_t n = 0; n < l->terms; n++) {
            long double y = (job->x[at.x] - mean) * factor;

            if (job->scale)
                y *= job->scale[at.scale];
            if (job->bias)
                y += job->bias[at.bias];
            pw_tensor_set(job->y, at.x, (double)y);
            next_term(l, i, &at);
        }
    }
}

/* ---- BatchNormalization's test mode ---- */

static void channels_golden(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;

    for (int64_t p = begin; p < end; p++) {
        int64_t c = p % job->channels, at = p * job->inner;
        long double factor = job->scale[c] / sqrtl((long double)job->variance[c] + job->epsilon);

        for (int64_t i = at; i < at + job->inner; i++)
            pw_tensor_set(job->y, i, (double)((job->x[i] - (long double)job->mean[c]) * factor + job->bias[c]));
    }
}

/* ---- fast ---- */

enum { LANES = 16 };

struct fast_job {
    const struct job *job;
    const float *x, *scale, *bias, *mean, *variance;
    float *y;
};

PW_HOT static float row_sum(const float *x, int64_t n)
{
    float lanes[LANES] = {0}, sum = 0.0f;
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        for (int l = 0; l < LANES; l++)
            lanes[l] += x[i + l];
    }
    for (; i < n; i++)
        sum += x[i];
    for (int l = 0; l < LANES; l++)
        sum += lanes[l];
    return sum;
}

PW_HOT static float row_squares(const float *x, int64_t n, float mean)
{
    float lanes[LANES] = {0}, sum = 0.0f;
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        for (int l = 0; l < LANES; l++)
            lanes[l] += (x[i + l] - mean) * (x[i + l] - mean);
    }
    for (; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    for (int l = 0; l < LANES; l++)
        sum += lanes[l];
    return sum;
}

PW_HOT static float row_magnitudes(const float *x, int64_t n)
{
    float lanes[LANES] = {0}, sum = 0.0f;
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        for (int l = 0; l < LANES; l++)
            lanes[l] += fabsf(x[i + l]);
    }
    for (; i < n; i++)
        sum += fabsf(x[i]);
    for (int l = 0; l < LANES; l++)
        sum += lanes[l];
    return sum;
}

/* y = (x - mean) * factor * scale + bias with one parameter for all, or one an element. */
PW_HOT static void row_apply(const float *restrict x, float *restrict y, int64_t n, float mean, float factor,
                             float scale, float bias)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) * (factor * scale) + bias;
}

PW_HOT static void row_apply_each(const float *restrict x, float *restrict y, int64_t n, float mean, float factor,
                                  const float *restrict scale, const float *restrict bias)
{
    if (bias) {
        for (int64_t i = 0; i < n; i++)
            y[i] = (x[i] - mean) * factor * scale[i] + bias[i];
    } else {
        for (int64_t i = 0; i < n; i++)
            y[i] = (x[i] - mean) * factor * scale[i];
    }
}

static void row_statistics(const struct job *job, const float *x, int64_t n, float *mean, float *factor)
{
    bool centres = job->form->kind != PW_NORM_RMS && job->form->kind != PW_NORM_LP;
    float sum;

    *mean = centres ? row_sum(x, n) / (float)n : 0.0f;
    sum = job->order == 1 ? row_magnitudes(x, n) : row_squares(x, n, *mean);
    if (job->form->kind == PW_NORM_LP) {
        float norm = job->order == 1 ? sum : sqrtf(sum);

        *factor = norm == 0.0f ? 0.0f : 1.0f / norm;
    } else if (job->form->kind == PW_NORM_MEAN_VARIANCE) {
        *factor = 1.0f / (sqrtf(sum / (float)n) + 1e-9f);
    } else {
        *factor = 1.0f / sqrtf(sum / (float)n + (float)job->epsilon);
    }
}

static void rows_fast(void *user, int64_t begin, int64_t end)
{
    const struct fast_job *fast = user;
    const struct job *job = fast->job;
    const struct pw_norm_rows *r = &job->rows;
    int64_t n = r->segments * r->length;

    for (int64_t row = begin; row < end; row++) {
        const float *x = fast->x + row * n;
        float *y = fast->y + row * n, mean, factor;

        row_statistics(job, x, n, &mean, &factor);
        put(job->statistics[0], row, mean);
        put(job->statistics[1], row, factor);
        for (int64_t s = 0; s < r->segments; s++, x += r->length, y += r->length) {
            int64_t p = row % r->period * r->row_step + s * r->segment_step;

            if (r->step && fast->scale)
                row_apply_each(x, y, r->length, mean, factor, fast->scale + p, fast->bias ? fast->bias + p : NULL);
            else
                row_apply(x, y, r->length, mean, factor, fast->scale ? fast->scale[p] : 1.0f,
                          fast->bias ? fast->bias[p] : 0.0f);
        }
    }
}

static void channels_fast(void *user, int64_t begin, int64_t end)
{
    const struct fast_job *fast = user;
    const struct job *job = fast->job;

    for (int64_t p = begin; p < end; p++) {
        int64_t c = p % job->channels;

        row_apply(fast->x + p * job->inner, fast->y + p * job->inner, job->inner, fast->mean[c],
                  1.0f / sqrtf(fast->variance[c] + (float)job->epsilon), fast->scale[c], fast->bias[c]);
    }
}

/* ---- entry points ---- */

static pw_status statistics_output(struct pw_eval *ev, int i, struct pw_tensor **out, struct pw_error *err)
{
    const struct pw_info *info;

    if (i < 0 || i >= ev->output_count || (ev->call->wanted && !ev->call->wanted[i]))
        return PW_OK;
    info = &ev->call->out[i];
    if (info->rank < 0)
        return pw_call_error(ev->call, err, "the shape of output %d is not known", i);
    return pw_eval_output(ev, i, info->dtype, info->rank, info->dims, out, err);
}

static pw_status prepare(struct pw_eval *ev, struct job *job, struct pw_error *err)
{
    const struct pw_norm_form *form = ev->call->op->data;
    const struct pw_tensor *x = pw_eval_in(ev, 0);
    pw_status status;

    memset(job, 0, sizeof *job);
    job->form = form;
    if (!x)
        return pw_call_error(ev->call, err, "the input is missing");
    status = pw_norm_view(ev->call, &job->view, err);
    if (status != PW_OK)
        return status;
    pw_norm_loops(&job->view, &job->loops);
    if (form->kind != PW_NORM_LP && form->kind != PW_NORM_MEAN_VARIANCE)
        job->epsilon = (double)pw_call_float(ev->call, "epsilon");
    if (form->kind == PW_NORM_BATCH)
        job->momentum = (double)pw_call_float(ev->call, "momentum");
    job->order = form->kind == PW_NORM_LP ? pw_call_int(ev->call, "p") : 2;
    job->outer = x->rank > 0 ? x->dims[0] : 1;
    job->channels = x->rank > 1 ? x->dims[1] : 1;
    job->inner = pw_tensor_span(x, x->rank > 2 ? 2 : x->rank, x->rank);
    if (form->kind == PW_NORM_BATCH && ev->call->op->since <= 7 && pw_call_int(ev->call, "spatial") == 0) {
        job->channels *= job->inner;
        job->inner = 1;
    }
    status = pw_eval_output(ev, 0, ev->call->out[0].dtype, x->rank, x->dims, &job->y, err);
    if (form->outputs_mean < 0)
        return status;
    for (int i = 0; i < 4 && status == PW_OK; i++)
        status = statistics_output(ev, form->outputs_mean + i, &job->statistics[i], err);
    return status;
}

/* Input i in double; NULL when there is none. */
static pw_status widen(struct pw_eval *ev, int i, struct pw_tensor *wide, const double **out, struct pw_error *err)
{
    const struct pw_tensor *t = i < 0 ? NULL : pw_eval_in(ev, i);
    pw_status status = PW_OK;

    *out = NULL;
    if (!t)
        return PW_OK;
    if (t->dtype != PW_DTYPE_FLOAT64) {
        status = pw_tensor_convert(wide, t, PW_DTYPE_FLOAT64, err);
        t = wide;
    }
    *out = t->data;
    return status;
}

/* The job of a reference in double: its layout, the data, scale and bias. */
static pw_status prepare_wide(struct pw_eval *ev, struct pw_tensor wide[3], struct job *job, struct pw_error *err)
{
    pw_status status = prepare(ev, job, err);

    if (status == PW_OK)
        status = widen(ev, 0, &wide[0], &job->x, err);
    if (status == PW_OK)
        status = widen(ev, job->form->scale, &wide[1], &job->scale, err);
    if (status == PW_OK)
        status = widen(ev, job->form->bias, &wide[2], &job->bias, err);
    return status;
}

pw_status pw_norm_golden(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_tensor wide[5] = {{0}};
    struct job job;
    pw_status status = prepare_wide(ev, wide, &job, err);

    if (status == PW_OK)
        status = widen(ev, job.form->mean, &wide[3], &job.mean, err);
    if (status == PW_OK)
        status = widen(ev, job.form->variance, &wide[4], &job.variance, err);
    if (status == PW_OK && job.form->kind == PW_NORM_BATCH && !job.view.training)
        pw_parallel_for(job.outer * job.channels, 4096 / (job.inner + 1) + 1, channels_golden, &job);
    else if (status == PW_OK && job.loops.sets > 0)
        pw_parallel_for(job.loops.sets, 4096 / (job.loops.terms + 1) + 1, sets_golden, &job);
    for (size_t i = 0; i < PW_COUNT_OF(wide); i++)
        pw_tensor_clear(&wide[i]);
    return status;
}

static const float *floats(struct pw_eval *ev, int i, bool *all)
{
    const struct pw_tensor *t = i < 0 ? NULL : pw_eval_in(ev, i);

    if (!t)
        return NULL;
    *all = *all && t->dtype == PW_DTYPE_FLOAT32;
    return t->data;
}

pw_status pw_norm_fast(struct pw_eval *ev, struct pw_error *err)
{
    struct job job;
    struct fast_job fast = {.job = &job};
    bool all = true, rows;
    pw_status status = prepare(ev, &job, err);

    if (status != PW_OK || job.y->count == 0)
        return status;
    fast.x = floats(ev, 0, &all);
    fast.scale = floats(ev, job.form->scale, &all);
    fast.bias = floats(ev, job.form->bias, &all);
    fast.mean = floats(ev, job.form->mean, &all);
    fast.variance = floats(ev, job.form->variance, &all);
    fast.y = job.y->data;
    rows = job.form->kind != PW_NORM_BATCH && pw_norm_rows(&job.view, &job.rows) &&
           (job.rows.step <= 1 || job.rows.length == 1);
    if (!all || job.y->dtype != PW_DTYPE_FLOAT32 || job.view.training || (job.form->kind != PW_NORM_BATCH && !rows))
        return pw_norm_golden(ev, err);
    if (rows)
        pw_parallel_for(job.rows.rows, 16384 / (job.loops.terms + 1) + 1, rows_fast, &fast);
    else
        pw_parallel_for(job.outer * job.channels, 16384 / (job.inner + 1) + 1, channels_fast, &fast);
    return PW_OK;
}

/* ---- sums in a given order ---- */

struct ordered_job {
    const struct job *job;
    const struct pw_order *order;
};

/* Mean first, then the squares of what is left; 1 / sqrt(variance + epsilon) of it. */
static void statistics_ordered(const struct ordered_job *o, struct place at, double *mean, double *factor)
{
    const struct job *job = o->job;
    const struct pw_norm_loops *l = &job->loops;
    const struct pw_order *order = o->order;
    struct pw_order_sum sum = pw_order_begin(order, false);
    int64_t i[PW_NORM_DIMS] = {0};
    double terms = pw_order_round(order, (double)l->terms), variance;

    *mean = 0;
    for (int64_t n = 0; n < l->terms && job->form->kind != PW_NORM_RMS; n++) {
        pw_order_term(&sum, job->x[at.x]);
        next_term(l, i, &at);
    }
    if (job->form->kind != PW_NORM_RMS)
        *mean = pw_order_divide(order, pw_order_end(&sum), terms);
    sum = pw_order_begin(order, false);
    for (int64_t n = 0; n < l->terms; n++) {
        double d = pw_order_add(order, pw_order_round(order, job->x[at.x]), -*mean);

        pw_order_term_product(&sum, d, d);
        next_term(l, i, &at);
    }
    variance = pw_order_divide(order, pw_order_end(&sum), terms);
    *factor = pw_order_divide(
        order, 1.0, pw_order_round(order, sqrt(pw_order_add(order, variance, pw_order_round(order, job->epsilon)))));
}

static void sets_ordered(void *user, int64_t begin, int64_t end)
{
    const struct ordered_job *o = user;
    const struct job *job = o->job;
    const struct pw_order *order = o->order;

    for (int64_t set = begin; set < end; set++) {
        struct place at = kept_place(&job->loops, set);
        int64_t i[PW_NORM_DIMS] = {0};
        double mean, factor;

        statistics_ordered(o, at, &mean, &factor);
        keep_statistics(job, set, at.scale, mean, 0, factor);
        for (int64_t n = 0; n < job->loops.terms; n++) {
            double y = pw_order_add(order, pw_order_round(order, job->x[at.x]), -mean);

            y = pw_order_multiply(order, y, factor);
            if (job->scale)
                y = pw_order_multiply(order, y, pw_order_round(order, job->scale[at.scale]));
            if (job->bias)
                y = pw_order_add(order, y, pw_order_round(order, job->bias[at.bias]));
            pw_tensor_set(job->y, at.x, y);
            next_term(&job->loops, i, &at);
        }
    }
}

pw_status pw_norm_ordered(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_tensor wide[3] = {{0}};
    struct job job;
    struct ordered_job ordered = {&job, ev->order};
    pw_status status = prepare_wide(ev, wide, &job, err);

    if (status == PW_OK && job.loops.sets > 0)
        pw_parallel_for(job.loops.sets, 4096 / (job.loops.terms + 1) + 1, sets_ordered, &ordered);
    for (size_t i = 0; i < PW_COUNT_OF(wide); i++)
        pw_tensor_clear(&wide[i]);
    return status;
}
