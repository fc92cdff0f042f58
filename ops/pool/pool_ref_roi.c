/* References of MaxUnpool, MaxRoiPool and RoiAlign. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "ops/pool/pool.h"

/* ---- MaxUnpool: indices refer to the pooled tensor's extents, the output may be larger or smaller ---- */

pw_status pw_unpool_eval(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *x = pw_eval_in(ev, 0), *indices = pw_eval_in(ev, 1);
    struct pw_tensor *y = NULL;
    int rank = 0;
    int64_t pooled[PW_MAX_RANK], out[PW_MAX_RANK], total = 1;
    pw_status status = pw_unpool_numbers(ev->call, &rank, pooled, out, err);
    if (status == PW_OK && indices->count != x->count)
        status = pw_call_error(ev->call, err, "%lld values, but %lld indices", (long long)x->count,
                               (long long)indices->count);
    if (status == PW_OK)
        status = pw_eval_output(ev, 0, ev->call->in[0]->dtype, rank, out, &y, err);
    if (status != PW_OK)
        return status;
    for (int a = 0; a < rank; a++) {
        if (__builtin_mul_overflow(total, pooled[a], &total))
            return pw_call_error(ev->call, err, "the unpooled size overflows");
    }
    for (int64_t i = 0; i < x->count; i++) {
        int64_t index = ((const int64_t *)indices->data)[i], at[PW_MAX_RANK], to = 0;
        bool within = true;
        if (index < 0 || index >= total)
            return pw_call_error(ev->call, err, "index %lld at position %lld is outside the %lld elements",
                                 (long long)index, (long long)i, (long long)total);
        for (int a = rank - 1; a >= 0; a--) {
            at[a] = index % pooled[a];
            index /= pooled[a];
            within = within && at[a] < out[a];
        }
        for (int a = 0; a < rank; a++)
            to = to * out[a] + at[a];
        if (within)
            pw_tensor_set(y, to, pw_tensor_get(x, i));
    }
    return PW_OK;
}

/* ---- MaxRoiPool ---- */

struct roi_job {
    const struct pw_tensor *x, *rois, *batch;
    struct pw_tensor *y;
    double scale, shift; /* RoiAlign: shift is 0.5 for half_pixel */
    int64_t ratio;
    bool largest;
};

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Rounds halves away from zero; far outside the plane (or NaN) becomes a bound that clamps later. */
static int64_t corner(double value, double scale)
{
    double at = round(value * scale);
    return isnan(at) ? 0 : at > 1e9 ? 1000000000 : at < -1e9 ? -1000000000 : (int64_t)at;
}

/* Bin `i` of `bins` over [start, start + size), in whole elements inside [0, extent]. */
static void bin_range(int64_t start, int64_t size, int64_t i, int64_t bins, int64_t extent, int64_t *lo, int64_t *hi)
{
    *lo = clamp(i * size / bins + start, 0, extent);
    *hi = clamp(((i + 1) * size + bins - 1) / bins + start, 0, extent);
}

static void max_roi_body(void *user, int64_t begin, int64_t end)
{
    const struct roi_job *job = user;
    const struct pw_tensor *x = job->x;
    int64_t channels = x->dims[1], height = x->dims[2], width = x->dims[3];
    int64_t rows = job->y->dims[2], columns = job->y->dims[3];
    for (int64_t plane = begin; plane < end; plane++) {
        int64_t roi = plane / channels * 5;
        double image = pw_tensor_get(job->rois, roi);
        int64_t box[4];
        for (int i = 0; i < 4; i++)
            box[i] = corner(pw_tensor_get(job->rois, roi + 1 + i), job->scale);
        int64_t box_width = box[2] - box[0] + 1, box_height = box[3] - box[1] + 1;
        int64_t base = ((int64_t)image * channels + plane % channels) * height * width;
        for (int64_t i = 0; i < rows * columns; i++) {
            int64_t top, bottom, left, right;
            bin_range(box[1], box_height > 1 ? box_height : 1, i / columns, rows, height, &top, &bottom);
            bin_range(box[0], box_width > 1 ? box_width : 1, i % columns, columns, width, &left, &right);
            double best = bottom > top && right > left ? -INFINITY : 0;
            for (int64_t r = top; r < bottom; r++) {
                for (int64_t c = left; c < right; c++) {
                    double value = pw_tensor_get(x, base + r * width + c);
                    best = value > best || isnan(value) ? value : best;
                }
            }
            pw_tensor_set(job->y, plane * rows * columns + i, best);
        }
    }
}

/* Output of a region pool: [regions, channels, rows, columns] as inferred. */
static pw_status region_output(struct pw_eval *ev, struct pw_tensor **y, struct pw_error *err)
{
    const struct pw_info *info = &ev->call->out[0];
    int64_t dims[4];
    for (int i = 0; i < 4; i++) {
        if (info->rank != 4 || !pw_dims_value(ev->call->dims, info->dims[i], &dims[i]))
            return pw_call_error(ev->call, err, "the output's shape is not known");
    }
    return pw_eval_output(ev, 0, ev->call->in[0]->dtype, 4, dims, y, err);
}

pw_status pw_max_roi_eval(struct pw_eval *ev, struct pw_error *err)
{
    struct roi_job job = {.x = pw_eval_in(ev, 0), .rois = pw_eval_in(ev, 1)};
    job.scale = (double)pw_call_float(ev->call, "spatial_scale");
    pw_status status = region_output(ev, &job.y, err);
    if (status != PW_OK)
        return status;
    for (int64_t i = 0; i < job.rois->dims[0]; i++) {
        double image = pw_tensor_get(job.rois, i * 5);
        if (!(image >= 0 && image < (double)job.x->dims[0]))
            return pw_call_error(ev->call, err, "region %lld is of image %g, but there are %lld", (long long)i, image,
                                 (long long)job.x->dims[0]);
    }
    if (job.y->count > 0)
        pw_parallel_for(job.y->dims[0] * job.y->dims[1], 1, max_roi_body, &job);
    return PW_OK;
}

/* ---- RoiAlign ---- */

/* One axis of a sample: two positions and the weight of the second; false outside. */
static bool settle(double at, int64_t extent, int64_t *low, int64_t *high, double *weight)
{
    if (!(at >= -1.0 && at <= (double)extent))
        return false;
    at = at < 0 ? 0 : at;
    *low = (int64_t)at;
    if (*low >= extent - 1) {
        *low = *high = extent - 1;
        *weight = 0;
    } else {
        *high = *low + 1;
        *weight = at - (double)*low;
    }
    return true;
}

/* The sample at (y, x): the sum of its four weighted corners, or the largest of them. */
static double sample(const struct roi_job *job, int64_t base, double y, double x)
{
    int64_t height = job->x->dims[2], width = job->x->dims[3], y0, y1, x0, x1;
    double wy, wx;
    if (!settle(y, height, &y0, &y1, &wy) || !settle(x, width, &x0, &x1, &wx))
        return 0;
    const double corners[4] = {(1 - wy) * (1 - wx) * pw_tensor_get(job->x, base + y0 * width + x0),
                               (1 - wy) * wx * pw_tensor_get(job->x, base + y0 * width + x1),
                               wy * (1 - wx) * pw_tensor_get(job->x, base + y1 * width + x0),
                               wy * wx * pw_tensor_get(job->x, base + y1 * width + x1)};
    double result = corners[0];
    for (int i = 1; i < 4; i++) {
        if (job->largest)
            result = corners[i] > result ? corners[i] : result;
        else
            result += corners[i];
    }
    return result;
}

#define MAX_SAMPLES 1024 /* along an axis of one bin: regions come from hostile files */

static int64_t sample_count(const struct roi_job *job, double size, int64_t bins)
{
    double count = job->ratio > 0 ? (double)job->ratio : ceil(size / (double)bins);
    return count > 0 && count <= MAX_SAMPLES ? (int64_t)count : count > 0 ? MAX_SAMPLES : 0;
}

static double align_bin(const struct roi_job *job, int64_t base, const double *start, const double *bin,
                        const int64_t *samples)
{
    double sum = 0;
    bool first = true;
    for (int64_t i = 0; i < samples[0]; i++) {
        double y = start[0] + ((double)i + 0.5) * bin[0] / (double)samples[0];
        for (int64_t j = 0; j < samples[1]; j++) {
            double value = sample(job, base, y, start[1] + ((double)j + 0.5) * bin[1] / (double)samples[1]);
            sum = !job->largest ? sum + value : first || value > sum ? value : sum;
            first = false;
        }
    }
    double count = (double)(samples[0] * samples[1]);
    return job->largest ? sum : sum / (count > 1 ? count : 1);
}

static void align_body(void *user, int64_t begin, int64_t end)
{
    const struct roi_job *job = user;
    int64_t channels = job->x->dims[1], plane_size = job->x->dims[2] * job->x->dims[3];
    int64_t rows = job->y->dims[2], columns = job->y->dims[3];
    for (int64_t plane = begin; plane < end; plane++) {
        int64_t roi = plane / channels;
        double box[4], bin[2];
        for (int i = 0; i < 4; i++)
            box[i] = pw_tensor_get(job->rois, roi * 4 + i) * job->scale - job->shift;
        double width = box[2] - box[0], height = box[3] - box[1];
        if (job->shift == 0) { /* regions of less than one element count as one */
            width = width > 1 ? width : 1;
            height = height > 1 ? height : 1;
        }
        int64_t samples[2] = {sample_count(job, height, rows), sample_count(job, width, columns)};
        int64_t base = (pw_tensor_get_int(job->batch, roi) * channels + plane % channels) * plane_size;
        bin[0] = height / (double)rows;
        bin[1] = width / (double)columns;
        for (int64_t i = 0; i < rows * columns; i++) {
            const double start[2] = {box[1] + (double)(i / columns) * bin[0], box[0] + (double)(i % columns) * bin[1]};
            pw_tensor_set(job->y, plane * rows * columns + i, align_bin(job, base, start, bin, samples));
        }
    }
}

pw_status pw_roi_align_eval(struct pw_eval *ev, struct pw_error *err)
{
    struct roi_job job = {.x = pw_eval_in(ev, 0), .rois = pw_eval_in(ev, 1), .batch = pw_eval_in(ev, 2)};
    const char *where = pw_call_string(ev->call, "coordinate_transformation_mode");
    job.scale = (double)pw_call_float(ev->call, "spatial_scale");
    job.shift = strcmp(where, "half_pixel") == 0 ? 0.5 : 0.0;
    job.ratio = pw_call_int(ev->call, "sampling_ratio");
    job.largest = strcmp(pw_call_string(ev->call, "mode"), "max") == 0;
    pw_status status = region_output(ev, &job.y, err);
    if (status != PW_OK)
        return status;
    if (job.batch->count != job.rois->dims[0])
        return pw_call_error(ev->call, err, "%lld regions, but %lld batch indices", (long long)job.rois->dims[0],
                             (long long)job.batch->count);
    for (int64_t i = 0; i < job.batch->count; i++) {
        int64_t image = pw_tensor_get_int(job.batch, i);
        if (image < 0 || image >= job.x->dims[0])
            return pw_call_error(ev->call, err, "batch_indices[%lld] is %lld, but there are %lld images", (long long)i,
                                 (long long)image, (long long)job.x->dims[0]);
    }
    if (job.y->count > 0 && job.x->count > 0)
        pw_parallel_for(job.y->dims[0] * job.y->dims[1], 1, align_body, &job);
    return PW_OK;
}
