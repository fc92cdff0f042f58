/* Reference of DeformConv: columns of interpolated samples, then a matrix product. */
#include <math.h>

#include "base/parallel.h"
#include "ops/conv/conv.h"

struct deform_job {
    const struct pw_conv_geometry *g;
    const struct pw_tensor *x, *offset, *mask;
    int64_t image, group, offset_groups, from, to;
    void *columns; /* [group_channels * taps, to - from], elements as x */
};

static double get(const struct pw_tensor *t, int64_t i)
{
    return t->dtype == PW_DTYPE_FLOAT32 ? (double)((const float *)t->data)[i] : ((const double *)t->data)[i];
}

/* Linear interpolation in the plane at `base`; corners outside are zero. */
static double sample(const struct deform_job *job, int64_t base, const double *position)
{
    const struct pw_window_numbers *n = &job->g->window;
    double fraction[PW_WINDOW_AXES], sum = 0;
    int64_t cell[PW_WINDOW_AXES];
    for (int a = 0; a < n->axes; a++) {
        if (!(position[a] > -1.0 && position[a] < (double)n->in[a]))
            return 0;
        double low = floor(position[a]);
        cell[a] = (int64_t)low;
        fraction[a] = position[a] - low;
    }
    for (int64_t corner = 0; corner < (int64_t)1 << n->axes; corner++) {
        double weight = 1;
        int64_t offset = 0;
        bool within = true;
        for (int a = 0; a < n->axes; a++) {
            int64_t high = corner >> a & 1, at = cell[a] + high;
            within = within && at >= 0 && at < n->in[a];
            weight *= high ? fraction[a] : 1 - fraction[a];
            offset = offset * n->in[a] + at;
        }
        if (within && weight != 0)
            sum += weight * get(job->x, base + offset);
    }
    return sum;
}

static double sample_pixel(const struct deform_job *job, int64_t channel, const int64_t *tap, int64_t t, int64_t pixel)
{
    const struct pw_conv_geometry *g = job->g;
    const struct pw_window_numbers *n = &g->window;
    int64_t part = channel / (g->channels / job->offset_groups);
    int64_t set = (job->image * job->offset_groups + part) * n->taps + t, rest = pixel;
    double position[PW_WINDOW_AXES];
    for (int a = n->axes - 1; a >= 0; a--) {
        int64_t at = rest % n->out[a] * n->stride[a] + tap[a] * n->dilation[a] - n->pad_begin[a];
        rest /= n->out[a];
        position[a] = (double)at + get(job->offset, (set * n->axes + a) * n->out_size + pixel);
    }
    double value = sample(job, (job->image * g->channels + channel) * n->in_size, position);
    return job->mask ? value * get(job->mask, set * n->out_size + pixel) : value;
}

static void deform_body(void *user, int64_t begin, int64_t end)
{
    const struct deform_job *job = user;
    const struct pw_window_numbers *n = &job->g->window;
    for (int64_t row = begin; row < end; row++) {
        int64_t tap[PW_WINDOW_AXES], rest = row % n->taps, width = job->to - job->from;
        for (int a = n->axes - 1; a >= 0; a--) {
            tap[a] = rest % n->kernel[a];
            rest /= n->kernel[a];
        }
        int64_t channel = job->group * job->g->group_channels + row / n->taps;
        for (int64_t i = 0; i < width; i++) {
            double value = sample_pixel(job, channel, tap, row % n->taps, job->from + i);
            if (job->x->dtype == PW_DTYPE_FLOAT32)
                ((float *)job->columns)[row * width + i] = (float)value;
            else
                ((double *)job->columns)[row * width + i] = value;
        }
    }
}

pw_status pw_deform_conv_eval(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_conv_geometry g;
    int64_t offset_groups = 1;
    struct pw_tensor *y = NULL;
    pw_status status = pw_deform_geometry(ev->call, &g, &offset_groups, err);
    if (status == PW_OK)
        status = pw_conv_output(ev, &g, &y, err);
    if (status != PW_OK || y->count == 0 || g.group_channels == 0)
        return status;
    const struct pw_tensor *x = pw_eval_in(ev, 0), *w = pw_eval_in(ev, 1);
    size_t size = pw_dtype_bytes(x->dtype);
    int64_t terms = g.group_channels * g.window.taps, pixels = g.window.out_size;
    int64_t block = pw_conv_column_block(terms, pixels, size);
    bool exact = ev->mode == PW_EVAL_GOLDEN && x->nominal == PW_DTYPE_FLOAT64;
    struct deform_job job = {.g = &g,
                             .x = x,
                             .offset = pw_eval_in(ev, 2),
                             .mask = ev->input_count > 4 ? pw_eval_in(ev, 4) : NULL,
                             .offset_groups = offset_groups};
    job.columns = pw_alloc_aligned((size_t)(terms * block) * size);
    if (!job.columns)
        return pw_error_memory(err, (size_t)(terms * block) * size);
    for (int64_t part = 0; part < g.batch * g.groups; part++) {
        job.image = part / g.groups;
        job.group = part % g.groups;
        for (job.from = 0; job.from < pixels; job.from = job.to) {
            job.to = pixels - job.from < block ? pixels : job.from + block;
            pw_parallel_for(terms, 1, deform_body, &job);
            pw_conv_column_product(&g, exact, job.group, w, job.columns, job.to - job.from,
                                   (char *)y->data + (size_t)(part * g.group_maps * pixels + job.from) * size);
        }
    }
    pw_free(job.columns);
    return PW_OK;
}
