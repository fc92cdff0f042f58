/*
 * References of the signal operators. Transforms: a mixed-radix Fourier transform (Stockham's self-sorting form: for
 * each prime factor p of the length, butterflies of p, no bit reversal), in double, and in long double where golden is
 * to be rounded once to float64.
 */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/parallel.h"
#include "ops/signal/signal.h"

struct transform_job {
    struct pw_transform t;
    const struct pw_tensor *x, *window;
    struct pw_tensor *y;
    int factors[64];
    int factor_count;
    const void *roots;  /* length pairs: cos and sin of -2 pi k / length */
    atomic_bool failed; /* memory ran out in a thread */
};

static void factorise(struct transform_job *job)
{
    int64_t n = job->t.length;
    for (int64_t p = 2; n > 1; p++) {
        if (p * p > n)
            p = n;
        for (; n % p == 0; n /= p)
            job->factors[job->factor_count++] = (int)p;
    }
}

/* Sample k of transform t: real and imaginary part. */
static void load_sample(const struct transform_job *job, int64_t base, int64_t k, double *re, double *im)
{
    const struct pw_transform *t = &job->t;
    bool mirrored = t->hermitian && k > t->length / 2;
    int64_t at = mirrored ? t->length - k : k;
    *re = *im = 0;
    if (at >= t->in_length)
        return;
    *re = pw_tensor_get(job->x, base + at * t->in_step);
    if (t->in_parts == 2)
        *im = pw_tensor_get(job->x, base + at * t->in_step + 1);
    if (mirrored)
        *im = -*im;
    if (job->window) {
        double w = pw_tensor_get(job->window, k);
        *re *= w;
        *im *= w;
    }
}

#define TRANSFORM(suffix, real, cosine, sine)                                                                          \
    static void make_roots_##suffix(real *roots, int64_t n, bool inverse)                                              \
    {                                                                                                                  \
        for (int64_t k = 0; k < n; k++) {                                                                              \
            long double angle = 2 * 3.14159265358979323846264338327950288L * (long double)k / (long double)n;          \
            roots[2 * k] = (real)cosine(angle);                                                                        \
            roots[2 * k + 1] = (real)(inverse ? sine(angle) : -sine(angle));                                           \
        }                                                                                                              \
    }                                                                                                                  \
    /* One step: butterflies of p over sequences of length n, s of them side by side. */                               \
    static void step_two_##suffix(const real *roots, int64_t length, int64_t n, int64_t s, const real *x, real *y)     \
    {                                                                                                                  \
        int64_t m = n / 2;                                                                                             \
        for (int64_t q = 0; q < m; q++) {                                                                              \
            const real c = roots[2 * (length / n * q)], d = roots[2 * (length / n * q) + 1];                           \
            for (int64_t j = 0; j < s; j++) {                                                                          \
                const real *a = x + 2 * (j + s * q), *b = a + 2 * s * m;                                               \
                real *to = y + 2 * (j + s * 2 * q), re = a[0] - b[0], im = a[1] - b[1];                                \
                to[0] = a[0] + b[0];                                                                                   \
                to[1] = a[1] + b[1];                                                                                   \
                to[2 * s] = re * c - im * d;                                                                           \
                to[2 * s + 1] = re * d + im * c;                                                                       \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void step_##suffix(const real *roots, int64_t length, int64_t n, int64_t s, int64_t p, const real *x,       \
                              real *y)                                                                                 \
    {                                                                                                                  \
        int64_t m = n / p;                                                                                             \
        if (p == 2) {                                                                                                  \
            step_two_##suffix(roots, length, n, s, x, y);                                                              \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t q = 0; q < m; q++) {                                                                              \
            for (int64_t k = 0; k < p; k++) {                                                                          \
                const real *twiddle = roots + 2 * (length / n * q * k % length);                                       \
                for (int64_t j = 0; j < s; j++) {                                                                      \
                    real re = 0, im = 0;                                                                               \
                    for (int64_t r = 0; r < p; r++) {                                                                  \
                        const real *w = roots + 2 * (length / p * (r * k % p)), *v = x + 2 * (j + s * (q + m * r));    \
                        re += v[0] * w[0] - v[1] * w[1];                                                               \
                        im += v[0] * w[1] + v[1] * w[0];                                                               \
                    }                                                                                                  \
                    real *to = y + 2 * (j + s * (p * q + k));                                                          \
                    to[0] = re * twiddle[0] - im * twiddle[1];                                                         \
                    to[1] = re * twiddle[1] + im * twiddle[0];                                                         \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void transform_##suffix(void *user, int64_t begin, int64_t end)                                             \
    {                                                                                                                  \
        struct transform_job *job = user;                                                                              \
        const struct pw_transform *t = &job->t;                                                                        \
        real *a = pw_alloc_aligned((size_t)t->length * 4 * sizeof(real)), *b = a + 2 * t->length;                      \
        if (!a) {                                                                                                      \
            job->failed = true;                                                                                        \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t i = begin; i < end; i++) {                                                                        \
            int64_t outer = i / t->inner_count, inner = i % t->inner_count;                                            \
            real *from = a, *to = b, scale = t->inverse ? 1 / (real)t->length : 1;                                     \
            for (int64_t k = 0; k < t->length; k++) {                                                                  \
                double re, im;                                                                                         \
                load_sample(job, outer * t->in_outer + inner * t->in_inner, k, &re, &im);                              \
                from[2 * k] = re;                                                                                      \
                from[2 * k + 1] = im;                                                                                  \
            }                                                                                                          \
            int64_t n = t->length, s = 1;                                                                              \
            for (int f = 0; f < job->factor_count; f++) {                                                              \
                step_##suffix(job->roots, t->length, n, s, job->factors[f], from, to);                                 \
                n /= job->factors[f];                                                                                  \
                s *= job->factors[f];                                                                                  \
                real *swap = from;                                                                                     \
                from = to;                                                                                             \
                to = swap;                                                                                             \
            }                                                                                                          \
            int64_t base = outer * t->out_outer + inner * t->out_inner;                                                \
            for (int64_t k = 0; k < t->bins; k++) {                                                                    \
                for (int64_t part = 0; part < t->out_parts; part++)                                                    \
                    pw_tensor_set(job->y, base + k * t->out_step + part, (double)(from[2 * k + part] * scale));        \
            }                                                                                                          \
        }                                                                                                              \
        pw_free(a);                                                                                                    \
    }

TRANSFORM(f64, double, cosl, sinl)
TRANSFORM(f80, long double, cosl, sinl)

pw_status pw_transform_eval(struct pw_eval *ev, struct pw_error *err)
{
    struct transform_job job = {.x = pw_eval_in(ev, 0)};
    const struct pw_info *info = &ev->call->out[0];
    int64_t dims[PW_MAX_RANK];
    bool dft = strcmp(ev->call->op->name, "DFT") == 0;
    pw_status status = dft ? pw_dft_transform(ev->call, &job.t, err) : pw_stft_transform(ev->call, &job.t, err);
    for (int i = 0; status == PW_OK && i < info->rank; i++) {
        if (!pw_dims_value(ev->call->dims, info->dims[i], &dims[i]))
            status = pw_call_error(ev->call, err, "the output's shape is not known");
    }
    if (status == PW_OK)
        status = pw_eval_output(ev, 0, ev->call->in[0]->dtype, info->rank, dims, &job.y, err);
    if (status != PW_OK || job.y->count == 0)
        return status;
    job.window = job.t.windowed ? pw_eval_in(ev, job.t.window_input) : NULL;
    if (job.window && job.window->count != job.t.length)
        return pw_call_error(ev->call, err, "the window has %lld values for frames of %lld",
                             (long long)job.window->count, (long long)job.t.length);
    factorise(&job);
    bool wide = ev->mode == PW_EVAL_GOLDEN && job.x->nominal == PW_DTYPE_FLOAT64;
    size_t bytes = (size_t)job.t.length * 2 * (wide ? sizeof(long double) : sizeof(double));
    void *roots = pw_alloc_aligned(bytes);
    if (!roots)
        return pw_error_memory(err, bytes);
    if (wide)
        make_roots_f80(roots, job.t.length, job.t.inverse);
    else
        make_roots_f64(roots, job.t.length, job.t.inverse);
    job.roots = roots;
    pw_parallel_for(job.t.count, 4096 / job.t.length + 1, wide ? transform_f80 : transform_f64, &job);
    pw_free(roots);
    return job.failed ? pw_error_memory(err, (size_t)job.t.length * 64) : PW_OK;
}

/* ---- windows ---- */

static long double window_value(pw_window_kind kind, int64_t i, int64_t n)
{
    const long double turn = 2 * 3.14159265358979323846264338327950288L;
    if (n == 0)
        return 1; /* a symmetric window of one point */
    long double x = (long double)i / (long double)n;
    switch (kind) {
    case PW_WINDOW_HANN:
        return 0.5L - 0.5L * cosl(turn * x);
    case PW_WINDOW_HAMMING:
        return 25.0L / 46 - 21.0L / 46 * cosl(turn * x);
    case PW_WINDOW_BLACKMAN:
        return 0.42L - 0.5L * cosl(turn * x) + 0.08L * cosl(2 * turn * x);
    }
    return 0;
}

pw_status pw_signal_window_eval(struct pw_eval *ev, struct pw_error *err)
{
    const pw_window_kind *kind = ev->call->op->data;
    int64_t size = 0;
    bool known = false;
    struct pw_tensor *y = NULL;
    pw_status status = pw_signal_integer(ev->call, 0, &size, &known, err);
    if (status == PW_OK && !known)
        status = pw_call_error(ev->call, err, "the window's size is not known");
    if (status == PW_OK)
        status = pw_eval_output(ev, 0, ev->call->out[0].dtype, 1, &size, &y, err);
    bool periodic = pw_call_int(ev->call, "periodic") != 0;
    for (int64_t i = 0; status == PW_OK && i < size; i++) {
        long double value = window_value(*kind, i, periodic ? size : size - 1);
        if (pw_dtype_is_float(y->dtype))
            pw_tensor_set(y, i, (double)value);
        else
            pw_tensor_set_int(y, i, (int64_t)value);
    }
    return status;
}

/* ---- the mel matrix ---- */

pw_status pw_mel_eval(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_mel mel;
    struct pw_tensor *y = NULL;
    pw_status status = pw_mel_edges(ev->call, &mel, err);
    if (status != PW_OK)
        return status;
    const int64_t dims[2] = {mel.bins, mel.bands};
    status = pw_eval_output(ev, 0, ev->call->out[0].dtype, 2, dims, &y, err);
    for (int64_t i = 0; status == PW_OK && i < y->count; i++) {
        double value = pw_mel_weight(mel.edges + i % mel.bands, i / mel.bands);
        if (pw_dtype_is_float(y->dtype))
            pw_tensor_set(y, i, value);
        else
            pw_tensor_set_int(y, i, (int64_t)value);
    }
    return status;
}
