/* References of GridSample and AffineGrid. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "ops/resize/resize.h"

#define MAX_AXES (PW_MAX_RANK - 2)

struct grid_job {
    struct pw_grid g;
    int axes;
    const int64_t *dims; /* spatial extents of X */
    int64_t in_size, out_size, channels;
    int64_t parts; /* numbers an element: 2 for complex */
    const struct pw_tensor *x, *grid;
    struct pw_tensor *y;
};

/* Folds x into [low, high] by mirroring at its ends. */
static double reflect(double x, double low, double high)
{
    double range = high - low;
    if (range <= 0)
        return low;
    double past = x < low ? low - x : x > high ? x - high : 0;
    if (past == 0)
        return x;
    double folds = floor(past / range), rest = past - folds * range;
    bool back = fmod(folds, 2) != 0;
    if (x < low)
        return back ? high - rest : low + rest;
    return back ? low + rest : high - rest;
}

static double clip(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* A grid coordinate as a position along an axis of `extent` elements. */
static double position(const struct pw_grid *g, double x, int64_t extent)
{
    double n = (double)extent, at = g->align ? (x + 1) / 2 * (n - 1) : ((x + 1) * n - 1) / 2;
    double low = g->align ? 0 : -0.5, high = g->align ? n - 1 : n - 0.5;
    at = isnan(at) ? -1e9 : clip(at, -1e9, 1e9);
    if (g->mode == PW_RESIZE_NEAREST)
        at = nearbyint(at);
    if (at < low || at > high) {
        if (g->padding == PW_GRID_BORDER)
            at = clip(at, 0, n - 1);
        else if (g->padding == PW_GRID_REFLECTION)
            at = reflect(at, low, high);
    }
    return at;
}

/* An integer position along an axis: itself, moved inside by the padding mode, or -1 for "reads zero". */
static int64_t settle(const struct pw_grid *g, double at, int64_t extent)
{
    double n = (double)extent;
    if (g->padding == PW_GRID_ZEROS)
        return at >= 0 && at < n ? (int64_t)at : -1;
    if (g->padding == PW_GRID_REFLECTION)
        at = nearbyint(reflect(at, g->align ? 0 : -0.5, g->align ? n - 1 : n - 0.5));
    return (int64_t)clip(at, 0, n - 1);
}

/* Weights of taps -1, 0, 1, 2 around a floor, at fraction t; Keys' cubic with a = -0.75. */
static void cubic_weights(double t, double *w)
{
    const double a = -0.75;
    for (int i = 0; i < 4; i++) {
        double x = fabs(t - (double)(i - 1));
        w[i] = x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    }
}

struct axis_taps {
    int count;
    int64_t index[4];
    double weight[4];
};

static void make_taps(const struct grid_job *job, int64_t pixel, struct axis_taps *taps)
{
    for (int a = 0; a < job->axes; a++) {
        struct axis_taps *t = &taps[a];
        /* The grid names the innermost axis first. */
        double at = position(&job->g, pw_tensor_get(job->grid, pixel * job->axes + job->axes - 1 - a), job->dims[a]);
        double low = floor(at), fraction = at - low;
        t->count = job->g.mode == PW_RESIZE_NEAREST ? 1 : job->g.mode == PW_RESIZE_LINEAR ? 2 : 4;
        if (t->count == 1) {
            low = nearbyint(at);
            t->weight[0] = 1;
        } else if (t->count == 2) {
            t->weight[0] = 1 - fraction;
            t->weight[1] = fraction;
        } else {
            low -= 1;
            cubic_weights(fraction, t->weight);
        }
        for (int k = 0; k < t->count; k++)
            t->index[k] = settle(&job->g, low + k, job->dims[a]);
    }
}

static double load_part(const struct grid_job *job, int64_t i)
{
    if (job->x->dtype == PW_DTYPE_COMPLEX64)
        return (double)((const float *)job->x->data)[i];
    if (job->x->dtype == PW_DTYPE_COMPLEX128)
        return ((const double *)job->x->data)[i];
    return pw_tensor_get(job->x, i);
}

/* Sum over all combinations of taps, innermost axis first, as a device would go axis by axis. */
static double combine(const struct grid_job *job, const struct axis_taps *taps, int axis, int64_t offset, int64_t part)
{
    if (axis == job->axes)
        return load_part(job, offset * job->parts + part);
    double sum = 0;
    for (int k = 0; k < taps[axis].count; k++) {
        if (taps[axis].index[k] >= 0 && taps[axis].weight[k] != 0)
            sum += taps[axis].weight[k] *
                   combine(job, taps, axis + 1, offset * job->dims[axis] + taps[axis].index[k], part);
    }
    return sum;
}

static void store(struct pw_tensor *y, int64_t i, double value)
{
    if (y->dtype == PW_DTYPE_COMPLEX64)
        ((float *)y->data)[i] = (float)value;
    else if (y->dtype == PW_DTYPE_COMPLEX128)
        ((double *)y->data)[i] = value;
    else if (pw_dtype_is_float(y->dtype))
        pw_tensor_set(y, i, value);
    else if (y->dtype == PW_DTYPE_BOOL)
        ((uint8_t *)y->data)[i] = value != 0;
    else
        pw_tensor_set_int(y, i, pw_resize_truncate(value, y->dtype));
}

/* 64-bit integers do not pass through double when they are only copied. */
static void copy_nearest(const struct grid_job *job, const struct axis_taps *taps, int64_t plane, int64_t to)
{
    size_t size = pw_dtype_bytes(job->x->dtype);
    int64_t offset = plane;
    for (int a = 0; a < job->axes; a++) {
        if (taps[a].index[0] < 0)
            return; /* outputs start as zeros */
        offset = offset * job->dims[a] + taps[a].index[0];
    }
    memcpy((char *)job->y->data + (size_t)to * size, (const char *)job->x->data + (size_t)offset * size, size);
}

static void grid_body(void *user, int64_t begin, int64_t end)
{
    const struct grid_job *job = user;
    struct axis_taps taps[MAX_AXES];
    for (int64_t pixel = begin; pixel < end; pixel++) {
        int64_t image = pixel / job->out_size, at = pixel % job->out_size;
        make_taps(job, pixel, taps);
        for (int64_t c = 0; c < job->channels; c++) {
            int64_t plane = image * job->channels + c, to = plane * job->out_size + at;
            if (job->g.mode == PW_RESIZE_NEAREST) {
                copy_nearest(job, taps, plane, to);
                continue;
            }
            for (int64_t part = 0; part < job->parts; part++)
                store(job->y, to * job->parts + part, combine(job, taps, 0, plane, part));
        }
    }
}

pw_status pw_grid_sample_eval(struct pw_eval *ev, struct pw_error *err)
{
    struct grid_job job = {.x = pw_eval_in(ev, 0), .grid = pw_eval_in(ev, 1), .in_size = 1, .out_size = 1};
    int64_t dims[PW_MAX_RANK];
    pw_status status = pw_grid_settle(ev->call, &job.g, err);
    if (status != PW_OK)
        return status;
    job.axes = job.x->rank - 2;
    job.dims = job.x->dims + 2;
    job.channels = job.x->dims[1];
    job.parts = pw_dtype_facts(job.x->dtype)->kind == PW_KIND_COMPLEX ? 2 : 1;
    if (job.grid->rank != job.x->rank || job.grid->dims[job.axes + 1] != job.axes ||
        job.grid->dims[0] != job.x->dims[0])
        return pw_call_error(ev->call, err, "the grid's shape does not fit X");
    if (job.x->dtype == PW_DTYPE_STRING)
        return pw_call_error(ev->call, err, "strings cannot be sampled: what lies outside has no value");
    dims[0] = job.x->dims[0];
    dims[1] = job.channels;
    for (int a = 0; a < job.axes; a++) {
        dims[2 + a] = job.grid->dims[1 + a];
        job.out_size *= dims[2 + a];
        job.in_size *= job.dims[a];
    }
    status = pw_eval_output(ev, 0, ev->call->in[0]->dtype, job.axes + 2, dims, &job.y, err);
    if (status != PW_OK || job.y->count == 0)
        return status;
    if (job.in_size == 0 && job.g.padding != PW_GRID_ZEROS)
        return pw_call_error(ev->call, err, "an empty image has no border");
    pw_parallel_for(dims[0] * job.out_size, 64, grid_body, &job);
    return PW_OK;
}

/* ---- AffineGrid ---- */

/* Base position i of n along an axis. One position with aligned corners is the first corner. */
static long double base_position(bool align, int64_t i, int64_t n)
{
    if (align)
        return n > 1 ? -1 + 2 * (long double)i / (long double)(n - 1) : -1;
    return -1 + (2 * (long double)i + 1) / (long double)n;
}

pw_status pw_affine_grid_eval(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *theta = pw_eval_in(ev, 0);
    const int64_t *size = NULL;
    size_t count = 0;
    struct pw_tensor *y = NULL;
    int64_t dims[PW_MAX_RANK], at[3];
    bool align = pw_call_int(ev->call, "align_corners") != 0;
    pw_status status = pw_eval_ints(ev, 1, &size, &count, err);
    if (status != PW_OK)
        return status;
    int axes = (int)count - 2;
    if ((axes != 2 && axes != 3) || theta->rank != 3 || theta->dims[1] != axes || theta->dims[2] != axes + 1)
        return pw_call_error(ev->call, err, "theta's shape does not fit 'size'");
    dims[0] = theta->dims[0];
    for (int a = 0; a < axes; a++)
        dims[1 + a] = size[2 + a];
    dims[1 + axes] = axes;
    status = pw_eval_output(ev, 0, ev->call->in[0]->dtype, axes + 2, dims, &y, err);
    for (int64_t i = 0; status == PW_OK && i < y->count; i++) {
        int64_t rest = i / axes, row = i % axes;
        for (int a = axes - 1; a >= 0; a--) {
            at[a] = rest % dims[1 + a];
            rest /= dims[1 + a];
        }
        int64_t from = (rest * axes + row) * (axes + 1);
        long double sum = pw_tensor_get(theta, from + axes);
        for (int a = 0; a < axes; a++) /* the first column goes with the innermost axis */
            sum += pw_tensor_get(theta, from + axes - 1 - a) * base_position(align, at[a], dims[1 + a]);
        pw_tensor_set(y, i, (double)sum);
    }
    return status;
}
