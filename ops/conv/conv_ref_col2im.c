/* Reference of Col2Im: each image element gathers the block elements that lie on it. */
#include "base/parallel.h"
#include "ops/conv/conv.h"

struct col2im_job {
    struct pw_window_numbers n; /* in: the image, out: blocks along each axis */
    const struct pw_tensor *x;
    struct pw_tensor *y;
};

/* Adds input element `from` to output element `to`; reals are summed by the caller in `sum`. */
static void add_element(const struct col2im_job *job, int64_t from, int64_t to, long double *sum)
{
    const struct pw_tensor *x = job->x;
    pw_dtype_kind kind = pw_dtype_facts(x->dtype)->kind;
    if (kind == PW_KIND_FLOAT) {
        *sum += pw_tensor_get(x, from);
    } else if (x->dtype == PW_DTYPE_COMPLEX64) {
        for (int i = 0; i < 2; i++)
            ((float *)job->y->data)[2 * to + i] += ((const float *)x->data)[2 * from + i];
    } else if (x->dtype == PW_DTYPE_COMPLEX128) {
        for (int i = 0; i < 2; i++)
            ((double *)job->y->data)[2 * to + i] += ((const double *)x->data)[2 * from + i];
    } else if (kind == PW_KIND_BOOL) {
        ((uint8_t *)job->y->data)[to] |= ((const uint8_t *)x->data)[from];
    } else { /* wraps as the type does */
        uint64_t value = (uint64_t)pw_tensor_get_int(job->y, to) + (uint64_t)pw_tensor_get_int(x, from);
        pw_tensor_set_int(job->y, to, (int64_t)value);
    }
}

static void gather(const struct col2im_job *job, int64_t plane, const int64_t *where, int64_t to)
{
    const struct pw_window_numbers *n = &job->n;
    int64_t tap[PW_WINDOW_AXES] = {0};
    long double sum = 0;
    for (int64_t t = 0; t < n->taps; t++) {
        int64_t block = 0;
        bool within = true;
        for (int a = 0; a < n->axes; a++) {
            int64_t at = where[a] + n->pad_begin[a] - tap[a] * n->dilation[a];
            within = within && at >= 0 && at % n->stride[a] == 0 && at / n->stride[a] < n->out[a];
            block = block * n->out[a] + at / n->stride[a];
        }
        if (within)
            add_element(job, (plane * n->taps + t) * n->out_size + block, to, &sum);
        for (int a = n->axes - 1; a >= 0; a--) {
            if (++tap[a] < n->kernel[a])
                break;
            tap[a] = 0;
        }
    }
    if (pw_dtype_is_float(job->x->dtype))
        pw_tensor_set(job->y, to, (double)sum);
}

static void col2im_body(void *user, int64_t begin, int64_t end)
{
    const struct col2im_job *job = user;
    const struct pw_window_numbers *n = &job->n;
    for (int64_t plane = begin; plane < end; plane++) {
        int64_t where[PW_WINDOW_AXES] = {0};
        for (int64_t p = 0; p < n->in_size; p++) {
            gather(job, plane, where, plane * n->in_size + p);
            for (int a = n->axes - 1; a >= 0; a--) {
                if (++where[a] < n->in[a])
                    break;
                where[a] = 0;
            }
        }
    }
}

pw_status pw_col2im_eval(struct pw_eval *ev, struct pw_error *err)
{
    struct col2im_job job = {.x = pw_eval_in(ev, 0)};
    struct pw_window w;
    bool known = false;
    pw_status status = pw_col2im_window(ev->call, &w, &known, err);
    if (status == PW_OK && !known)
        status = pw_call_error(ev->call, err, "image_shape and block_shape are not known");
    if (status == PW_OK)
        status = pw_window_numbers(ev->call, &w, &job.n, err);
    if (status != PW_OK)
        return status;
    if (job.x->dtype == PW_DTYPE_STRING)
        return pw_call_error(ev->call, err, "strings cannot be added where blocks overlap");
    if (job.x->rank != 3 || job.x->dims[1] % job.n.taps != 0 || job.x->dims[2] != job.n.out_size)
        return pw_call_error(ev->call, err, "the input does not hold %lld blocks of %lld elements",
                             (long long)job.n.out_size, (long long)job.n.taps);
    int64_t dims[PW_MAX_RANK] = {job.x->dims[0], job.x->dims[1] / job.n.taps};
    for (int i = 0; i < job.n.axes; i++)
        dims[2 + i] = job.n.in[i];
    status = pw_eval_output(ev, 0, ev->call->in[0]->dtype, job.n.axes + 2, dims, &job.y, err);
    if (status == PW_OK)
        pw_parallel_for(dims[0] * dims[1], 1, col2im_body, &job);
    return status;
}
