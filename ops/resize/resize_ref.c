/*
 * References of Resize and Upsample. Nearest moves elements of any type. The others take one axis at
 * a time, lowest first: [outer, in, inner] -> [outer, out, inner], in the carrier; float64's golden
 * keeps long double between the axes.
 */
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "base/parallel.h"
#include "ops/resize/resize.h"

/* ---- nearest ---- */

struct nearest_job {
    const struct pw_resize_table *tables;
    int rank;
    const struct pw_tensor *x;
    struct pw_tensor *y;
    size_t size;         /* bytes of an element */
    const char *outside; /* an element of the extrapolation value */
};

/* Flat input position of output element `to`; -1 outside. */
static int64_t nearest_source(const struct nearest_job *job, int64_t to)
{
    int64_t offset = 0, pitch = 1;
    for (int a = job->rank - 1; a >= 0; a--) {
        const struct pw_resize_table *t = &job->tables[a];
        int32_t index = t->index[to % t->out];
        to /= t->out;
        if (index < 0)
            return -1;
        offset += index * pitch;
        pitch *= t->in;
    }
    return offset;
}

static void nearest_body(void *user, int64_t begin, int64_t end)
{
    const struct nearest_job *job = user;
    const struct pw_resize_table *last = &job->tables[job->rank - 1];
    const char *from = job->x->data;
    char *to = job->y->data;
    for (int64_t row = begin; row < end; row++) {
        char *dst = to + (size_t)(row * last->out) * job->size;
        int64_t base = -1;
        for (int64_t i = 0; i < last->out; i++) {
            /* Positions along a row differ in the last index alone; find the row's start once. */
            if (i == 0) {
                struct nearest_job outer = *job;
                outer.rank = job->rank - 1;
                base = nearest_source(&outer, row);
            }
            int32_t index = last->index[i];
            const char *src =
                base < 0 || index < 0 ? job->outside : from + (size_t)(base * last->in + index) * job->size;
            if (job->size == 4)
                memcpy(dst + i * 4, src, 4);
            else
                memcpy(dst + (size_t)i * job->size, src, job->size);
        }
    }
}

static pw_status resize_strings(struct nearest_job *job, struct pw_error *err)
{
    pw_status status = PW_OK;
    for (int64_t i = 0; status == PW_OK && i < job->y->count; i++) {
        int64_t from = nearest_source(job, i);
        const struct pw_bytes *s = from < 0 ? NULL : (const struct pw_bytes *)job->x->data + from;
        status = pw_tensor_set_string(job->y, i, s ? s->data : "", s ? s->size : 0, err);
    }
    return status;
}

static pw_status resize_nearest(const struct pw_resize *r, const struct pw_resize_table *tables,
                                const struct pw_tensor *x, struct pw_tensor *y, struct pw_error *err)
{
    struct nearest_job job = {tables, r->rank, x, y, pw_dtype_bytes(x->dtype), NULL};
    struct pw_tensor outside = {0};
    const int64_t one = 1;
    if (x->dtype == PW_DTYPE_STRING)
        return resize_strings(&job, err);
    pw_status status = pw_tensor_init(&outside, x->dtype, 1, &one, err);
    if (status != PW_OK)
        return status;
    if (pw_dtype_is_float(x->dtype))
        pw_tensor_set(&outside, 0, r->extrapolation);
    else if (pw_dtype_is_integer(x->dtype))
        pw_tensor_set_int(&outside, 0, pw_resize_truncate(r->extrapolation, x->dtype));
    else if (x->dtype == PW_DTYPE_BOOL)
        *(uint8_t *)outside.data = r->extrapolation != 0;
    job.outside = outside.data;
    int64_t row = tables[r->rank - 1].out;
    pw_parallel_for(y->count / row, 4096 / row + 1, nearest_body, &job);
    pw_tensor_clear(&outside);
    return PW_OK;
}

/* ---- weighted: one axis ---- */

struct pass {
    const struct pw_resize_table *t;
    int64_t inner;
    double extrapolation;
    const void *x;
    void *y;
};

#define PASS(suffix, real)                                                                                             \
    PW_HOT static void add_weighted_##suffix(real *y, const real *x, int64_t count, real w)                            \
    {                                                                                                                  \
        for (int64_t i = 0; i < count; i++)                                                                            \
            y[i] += w * x[i];                                                                                          \
    }                                                                                                                  \
    static void pass_##suffix(void *user, int64_t begin, int64_t end)                                                  \
    {                                                                                                                  \
        const struct pass *p = user;                                                                                   \
        const struct pw_resize_table *t = p->t;                                                                        \
        for (int64_t row = begin; row < end; row++) {                                                                  \
            int64_t outer = row / t->out, at = row % t->out * t->taps;                                                 \
            real *y = (real *)p->y + row * p->inner;                                                                   \
            const real *x = (const real *)p->x + outer * t->in * p->inner;                                             \
            bool outside = t->index[at] < 0;                                                                           \
            for (int64_t i = 0; i < p->inner; i++)                                                                     \
                y[i] = outside ? (real)p->extrapolation : 0;                                                           \
            for (int64_t k = 0; !outside && k < t->taps; k++) {                                                        \
                if (t->weight[at + k] != 0)                                                                            \
                    add_weighted_##suffix(y, x + t->index[at + k] * p->inner, p->inner, (real)t->weight[at + k]);      \
            }                                                                                                          \
        }                                                                                                              \
    }

PASS(f32, float)
PASS(f64, double)
PASS(f80, long double)

static size_t working_bytes(const struct pw_eval *ev, const struct pw_tensor *x)
{
    if (x->dtype == PW_DTYPE_FLOAT32 || x->dtype == PW_DTYPE_COMPLEX64)
        return ev->mode == PW_EVAL_FAST && x->dtype == PW_DTYPE_FLOAT32 ? sizeof(float) : sizeof(double);
    if (ev->mode == PW_EVAL_GOLDEN && x->dtype == PW_DTYPE_FLOAT64 && x->nominal == PW_DTYPE_FLOAT64)
        return sizeof(long double);
    return sizeof(double);
}

/* Number `part` of element i as double: complex elements have two. */
static double load_part(const struct pw_tensor *x, int64_t i, int64_t part)
{
    if (x->dtype == PW_DTYPE_COMPLEX64)
        return (double)((const float *)x->data)[2 * i + part];
    if (x->dtype == PW_DTYPE_COMPLEX128)
        return ((const double *)x->data)[2 * i + part];
    return pw_tensor_get(x, i);
}

static void load_all(const struct pw_tensor *x, int64_t parts, size_t bytes, void *dst)
{
    for (int64_t i = 0; i < x->count * parts; i++) {
        double value = load_part(x, i / parts, i % parts);
        if (bytes == sizeof(float))
            ((float *)dst)[i] = (float)value;
        else if (bytes == sizeof(double))
            ((double *)dst)[i] = value;
        else
            ((long double *)dst)[i] = value;
    }
}

static void store_all(struct pw_tensor *y, int64_t parts, size_t bytes, const void *src)
{
    for (int64_t i = 0; i < y->count * parts; i++) {
        double value = bytes == sizeof(float)    ? (double)((const float *)src)[i]
                       : bytes == sizeof(double) ? ((const double *)src)[i]
                                                 : (double)((const long double *)src)[i];
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
}

static pw_status resize_weighted(const struct pw_eval *ev, const struct pw_resize *r,
                                 const struct pw_resize_table *tables, const struct pw_tensor *x, struct pw_tensor *y,
                                 struct pw_error *err)
{
    int64_t parts = pw_dtype_facts(x->dtype)->kind == PW_KIND_COMPLEX ? 2 : 1, count = x->count * parts;
    size_t bytes = working_bytes(ev, x);
    bool direct = parts == 1 && pw_dtype_is_float(x->dtype) && bytes == pw_dtype_bytes(x->dtype);
    void *from = NULL, *to = NULL;
    const void *source = x->data;
    pw_status status = PW_OK;
    if (!direct) {
        from = pw_alloc_aligned((size_t)count * bytes);
        if (!from)
            return pw_error_memory(err, (size_t)count * bytes);
        load_all(x, parts, bytes, from);
        source = from;
    }
    for (int a = 0; a < r->rank; a++) {
        const struct pw_resize_table *t = &tables[a];
        struct pass pass = {t, parts, r->extrapolation, source, NULL};
        int64_t rows = t->out;
        if (t->identity)
            continue;
        for (int i = 0; i < r->rank; i++) {
            pass.inner *= i > a ? tables[i].in : 1;
            rows *= i < a ? tables[i].out : 1;
        }
        if (__builtin_mul_overflow(rows, pass.inner, &count) || count > (int64_t)1 << 40) {
            status = pw_call_error(ev->call, err, "an intermediate result is too large");
            goto done;
        }
        to = pw_alloc_aligned((size_t)count * bytes);
        if (!to) {
            status = pw_error_memory(err, (size_t)count * bytes);
            goto done;
        }
        pass.y = to;
        pw_parallel_for(rows, 4096 / (pass.inner + 1) + 1,
                        bytes == sizeof(float)    ? pass_f32
                        : bytes == sizeof(double) ? pass_f64
                                                  : pass_f80,
                        &pass);
        pw_free(from);
        source = from = to;
        to = NULL;
    }
    if (direct)
        memcpy(y->data, source, pw_tensor_bytes(y));
    else
        store_all(y, parts, bytes, source);
done:
    pw_free(from);
    pw_free(to);
    return status;
}

pw_status pw_resize_eval(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *x = pw_eval_in(ev, 0);
    struct pw_tensor *y = NULL;
    struct pw_resize r;
    struct pw_resize_table tables[PW_MAX_RANK];
    int64_t dims[PW_MAX_RANK];
    pw_status status = pw_resize_settle(ev->call, &r, err);
    for (int a = 0; status == PW_OK && a < r.rank; a++) {
        dims[a] = r.axes[a].out;
        status = pw_resize_table(ev->call, &r, a, &tables[a], err);
    }
    if (status == PW_OK)
        status = pw_eval_output(ev, 0, ev->call->in[0]->dtype, r.rank, dims, &y, err);
    if (status != PW_OK || y->count == 0)
        return status;
    if (r.rank == 0 && x->dtype != PW_DTYPE_STRING) {
        memcpy(y->data, x->data, pw_tensor_bytes(y));
        return PW_OK;
    }
    if (r.mode == PW_RESIZE_NEAREST)
        return resize_nearest(&r, tables, x, y, err);
    if (x->dtype == PW_DTYPE_STRING)
        return pw_call_error(ev->call, err, "strings have no weighted sums: only mode nearest serves them");
    return resize_weighted(ev, &r, tables, x, y, err);
}
