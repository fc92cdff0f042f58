/* The references. Nothing is computed here, so golden and fast are the same moves of whole elements,
 * whatever carries them. */
#include <inttypes.h>
#include <string.h>

#include "base/compiler.h"
#include "base/parallel.h"
#include "ops/layout/layout.h"

#define TASK_BYTES ((int64_t)1 << 18)

static int64_t grain_for(int64_t bytes)
{
    return bytes >= TASK_BYTES ? 1 : TASK_BYTES / (bytes > 0 ? bytes : 1);
}

/* Output i with the inferred shape and the input's type. */
static pw_status output_like(struct pw_eval *ev, int i, const struct pw_tensor *in, struct pw_tensor **out,
                             struct pw_error *err)
{
    int64_t dims[PW_MAX_RANK];
    const struct pw_info *info = &ev->call->out[i];
    pw_status status = pw_call_numbers(ev->call, info, dims, err);
    return status == PW_OK ? pw_eval_output(ev, i, in->nominal, info->rank, dims, out, err) : status;
}

pw_status pw_layout_ref_identity(struct pw_eval *ev, struct pw_error *err)
{
    return pw_value_copy(&ev->out[0], ev->in[0], err);
}

pw_status pw_layout_ref_copy(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_layout_kind *kind = ev->call->op->data;
    const struct pw_tensor *in = pw_eval_in(ev, 0);
    struct pw_tensor *out = NULL;
    struct pw_layout_copy copy;
    pw_status status = kind->plan(ev->call, 0, &copy, err);
    if (status == PW_OK)
        status = output_like(ev, 0, in, &out, err);
    return status == PW_OK ? pw_layout_move(&copy, in, out, err) : status;
}

pw_status pw_layout_ref_concat(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_layout_kind *kind = ev->call->op->data;
    struct pw_tensor *out = NULL;
    pw_status status = output_like(ev, 0, pw_eval_in(ev, 0), &out, err);
    for (int i = 0; i < ev->input_count && status == PW_OK; i++) {
        struct pw_layout_copy copy;
        status = kind->plan(ev->call, i, &copy, err);
        if (status == PW_OK)
            status = pw_layout_move(&copy, pw_eval_in(ev, i), out, err);
    }
    return status;
}

pw_status pw_layout_ref_split(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_layout_kind *kind = ev->call->op->data;
    const struct pw_tensor *in = pw_eval_in(ev, 0);
    pw_status status = PW_OK;
    for (int i = 0; i < ev->output_count && status == PW_OK; i++) {
        struct pw_layout_copy copy;
        struct pw_tensor *out = NULL;
        if (!ev->call->wanted[i])
            continue;
        status = kind->plan(ev->call, i, &copy, err);
        if (status == PW_OK)
            status = output_like(ev, i, in, &out, err);
        if (status == PW_OK)
            status = pw_layout_move(&copy, in, out, err);
    }
    return status;
}

/* ---- Shape, Size ---- */

pw_status pw_layout_ref_shape(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_info *info = &ev->call->out[0];
    struct pw_tensor *out = NULL;
    pw_status status = pw_eval_output(ev, 0, PW_DTYPE_INT64, 1, info->dims, &out, err);
    for (size_t i = 0; i < info->content_count && status == PW_OK; i++) {
        int64_t value;
        if (!pw_dims_value(ev->call->dims, info->content[i], &value))
            return pw_call_error(ev->call, err, "dim %zu is not a known number", i);
        pw_tensor_set_int(out, (int64_t)i, value);
    }
    return status;
}

pw_status pw_layout_ref_size(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_tensor *out = NULL;
    pw_status status = pw_eval_output(ev, 0, PW_DTYPE_INT64, 0, NULL, &out, err);
    if (status == PW_OK)
        pw_tensor_set_int(out, 0, pw_eval_in(ev, 0)->count);
    return status;
}

/* ---- Pad ---- */

struct pad_job {
    const struct pw_layout_pad *pad;
    const struct pw_tensor *in;
    struct pw_tensor *out;
    const void *fill; /* one element; NULL: zeros */
    int64_t bytes;
    int64_t stride[PW_MAX_RANK]; /* of the input */
};

static void fill_row(const struct pad_job *job, char *dst, int64_t count)
{
    size_t bytes = (size_t)job->bytes;
    if (job->fill == NULL || count <= 0) { /* new tensors are zeroed */
        return;
    }
    for (int64_t i = 0; i < count; i++)
        memcpy(dst + (size_t)i * bytes, job->fill, bytes);
}

/* Source offset of an output row, -1 when it is all constant. */
static int64_t row_source(const struct pad_job *job, int64_t row)
{
    const struct pw_layout_pad *pad = job->pad;
    int64_t offset = 0;
    for (int d = pad->rank - 2; d >= 0; d--) {
        int64_t source = pw_layout_pad_source(pad, d, row % pad->out[d]);
        row /= pad->out[d];
        if (source < 0)
            return -1;
        offset += source * job->stride[d];
    }
    return offset;
}

static void pad_rows(void *user, int64_t begin, int64_t end)
{
    const struct pad_job *job = user;
    const struct pw_layout_pad *pad = job->pad;
    int inner = pad->rank - 1;
    int64_t n = pad->out[inner], bytes = job->bytes;
    int64_t first = pad->begin[inner] > 0 ? pad->begin[inner] : 0; /* dense part of the row */
    int64_t last = first + (pad->high[inner] - pad->low[inner]);
    for (int64_t row = begin; row < end; row++) {
        char *dst = (char *)job->out->data + row * n * bytes;
        int64_t offset = row_source(job, row);
        if (offset < 0) {
            fill_row(job, dst, n);
            continue;
        }
        const char *src = (const char *)job->in->data + offset * bytes;
        if (last > first)
            memcpy(dst + first * bytes, src + pad->low[inner] * bytes, (size_t)((last - first) * bytes));
        if (pad->mode == PW_PAD_CONSTANT) {
            fill_row(job, dst, first);
            fill_row(job, dst + last * bytes, n - last);
            continue;
        }
        for (int64_t i = 0; i < n; i = i + 1 == first ? last : i + 1) {
            if (i >= first && i < last)
                continue;
            memcpy(dst + i * bytes, src + pw_layout_pad_source(pad, inner, i) * bytes, (size_t)bytes);
        }
    }
}

/* Texts one by one: the row-wise moves would share them between tensors. */
static pw_status pad_strings(const struct pad_job *job, struct pw_error *err)
{
    const struct pw_layout_pad *pad = job->pad;
    const struct pw_bytes *texts = job->in->data, *fill = job->fill;
    int inner = pad->rank - 1;
    int64_t n = pad->out[inner];
    for (int64_t i = 0; i < job->out->count; i++) {
        int64_t offset = row_source(job, i / n), source = pw_layout_pad_source(pad, inner, i % n);
        const struct pw_bytes *text = offset < 0 || source < 0 ? fill : &texts[offset + source];
        pw_status status = text == NULL ? pw_tensor_set_string(job->out, i, "", 0, err)
                                        : pw_tensor_set_string(job->out, i, text->data, text->size, err);
        if (status != PW_OK)
            return status;
    }
    return PW_OK;
}

static pw_status run_pad(struct pw_eval *ev, struct pw_layout_pad *pad, const void *fill, struct pw_error *err)
{
    struct pad_job job = {.pad = pad, .in = pw_eval_in(ev, 0), .fill = fill};
    pw_status status = output_like(ev, 0, job.in, &job.out, err);
    if (status != PW_OK || job.out->count == 0)
        return status;
    job.bytes = (int64_t)pw_dtype_bytes(job.in->dtype);
    pw_layout_simplify_pad(pad);
    pw_tensor_strides(pad->rank, pad->in, job.stride);
    if (job.in->dtype == PW_DTYPE_STRING)
        return pad_strings(&job, err);
    int64_t n = pad->out[pad->rank - 1];
    pw_parallel_for(job.out->count / n, grain_for(n * job.bytes), pad_rows, &job);
    return PW_OK;
}

pw_status pw_layout_ref_pad(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *in = pw_eval_in(ev, 0), *constant = NULL;
    struct pw_tensor value = {0};
    struct pw_layout_pad pad;
    pw_status status = pw_layout_plan_pad(ev->call, &pad, err);
    if (status != PW_OK)
        return status;
    if (ev->call->op->since >= 11) {
        constant = pw_eval_in(ev, 2);
        if (constant != NULL && (constant->count != 1 || constant->dtype != in->dtype))
            return pw_call_error(ev->call, err, "constant_value has %" PRId64 " elements of %s, expected one of %s",
                                 constant->count, pw_dtype_name(constant->nominal), pw_dtype_name(in->nominal));
    } else {
        status = pw_tensor_init(&value, in->dtype, 0, NULL, err);
        if (status != PW_OK)
            return status;
        pw_tensor_set(&value, 0, (double)pw_call_float(ev->call, "value"));
        constant = &value;
    }
    status = run_pad(ev, &pad, constant != NULL ? constant->data : NULL, err);
    pw_tensor_clear(&value);
    return status;
}

pw_status pw_layout_ref_center(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_layout_pad pad;
    pw_status status = pw_layout_plan_center(ev->call, &pad, err);
    return status == PW_OK ? run_pad(ev, &pad, NULL, err) : status;
}

/* ---- Trilu ---- */

struct trilu_job {
    const char *in;
    char *out;
    int64_t rows, columns, bytes, k;
    bool upper;
};

static void trilu_rows(void *user, int64_t begin, int64_t end)
{
    const struct trilu_job *job = user;
    for (int64_t i = begin; i < end; i++) {
        int64_t row = i % job->rows, n = job->columns, cut;
        /* Column where the kept part begins (upper) or ends (lower); k may be anything. */
        if (__builtin_add_overflow(row, job->k, &cut))
            cut = job->k < 0 ? INT64_MIN : INT64_MAX;
        if (!job->upper && cut < INT64_MAX)
            cut++;
        cut = cut < 0 ? 0 : cut > n ? n : cut;
        int64_t from = job->upper ? cut : 0, count = job->upper ? n - cut : cut;
        memcpy(job->out + (i * n + from) * job->bytes, job->in + (i * n + from) * job->bytes,
               (size_t)(count * job->bytes));
    }
}

pw_status pw_layout_ref_trilu(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *in = pw_eval_in(ev, 0);
    struct trilu_job job = {.upper = pw_call_int(ev->call, "upper") != 0};
    struct pw_tensor *out = NULL;
    bool known = false;
    pw_status status = pw_layout_trilu_k(ev->call, &job.k, &known, err);
    if (status == PW_OK && (!known || in->rank < 2 || in->dtype == PW_DTYPE_STRING))
        status = pw_call_error(ev->call, err, "k must be known and the input a matrix of numbers");
    if (status == PW_OK)
        status = output_like(ev, 0, in, &out, err);
    if (status != PW_OK || out->count == 0)
        return status;
    job.in = in->data;
    job.out = out->data; /* zeroed */
    job.rows = in->dims[in->rank - 2];
    job.columns = in->dims[in->rank - 1];
    job.bytes = (int64_t)pw_dtype_bytes(in->dtype);
    pw_parallel_for(in->count / job.columns, grain_for(job.columns * job.bytes), trilu_rows, &job);
    return PW_OK;
}

/* ---- ReverseSequence ---- */

struct reverse_job {
    struct pw_layout_reverse r;
    const int64_t *lengths;
    const struct pw_tensor *in;
    struct pw_tensor *out;
    int64_t bytes;
};

/* Where time step t of sequence b comes from. */
static int64_t reverse_source(const struct reverse_job *job, int64_t b, int64_t t)
{
    return t < job->lengths[b] ? job->lengths[b] - 1 - t : t;
}

static void reverse_steps(void *user, int64_t begin, int64_t end)
{
    const struct reverse_job *job = user;
    const struct pw_layout_reverse *r = &job->r;
    for (int64_t i = begin; i < end; i++) {
        int64_t b = i / r->time, t = i % r->time;
        int64_t to = b * r->batch_stride + t * r->time_stride;
        int64_t from = b * r->batch_stride + reverse_source(job, b, t) * r->time_stride;
        memcpy((char *)job->out->data + to * job->bytes, (const char *)job->in->data + from * job->bytes,
               (size_t)(r->inner * job->bytes));
    }
}

static pw_status reverse_strings(const struct reverse_job *job, struct pw_error *err)
{
    const struct pw_layout_reverse *r = &job->r;
    const struct pw_bytes *texts = job->in->data;
    for (int64_t i = 0; i < job->in->count; i++) {
        int64_t b = i / r->batch_stride % r->batch, t = i / r->time_stride % r->time;
        const struct pw_bytes *text = &texts[i + (reverse_source(job, b, t) - t) * r->time_stride];
        pw_status status = pw_tensor_set_string(job->out, i, text->data, text->size, err);
        if (status != PW_OK)
            return status;
    }
    return PW_OK;
}

pw_status pw_layout_ref_reverse(struct pw_eval *ev, struct pw_error *err)
{
    struct reverse_job job = {.in = pw_eval_in(ev, 0)};
    size_t count = 0;
    pw_status status = pw_layout_plan_reverse(ev->call, &job.r, err);
    if (status == PW_OK)
        status = pw_eval_ints(ev, 1, &job.lengths, &count, err);
    if (status == PW_OK && count != (size_t)job.r.batch)
        status = pw_call_error(ev->call, err, "%zu lengths for a batch of %" PRId64, count, job.r.batch);
    for (size_t b = 0; b < count && status == PW_OK; b++) {
        if (job.lengths[b] < 0 || job.lengths[b] > job.r.time)
            status = pw_call_error(ev->call, err, "sequence %zu has length %" PRId64 ", the axis has %" PRId64, b,
                                   job.lengths[b], job.r.time);
    }
    if (status == PW_OK)
        status = output_like(ev, 0, job.in, &job.out, err);
    if (status != PW_OK || job.out->count == 0)
        return status;
    job.bytes = (int64_t)pw_dtype_bytes(job.in->dtype);
    if (job.in->dtype == PW_DTYPE_STRING)
        return reverse_strings(&job, err);
    pw_parallel_for(job.r.batch * job.r.time, grain_for(job.r.inner * job.bytes), reverse_steps, &job);
    return PW_OK;
}
