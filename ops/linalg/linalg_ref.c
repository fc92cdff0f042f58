/* Determinants by elimination with row exchanges: golden in long double, fast in float. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/compiler.h"
#include "base/parallel.h"
#include "ops/linalg/linalg_room.h"

struct job {
    int64_t size;
    const struct pw_tensor *x;
    struct pw_tensor *y;
    atomic_bool *short_of_memory;
};

/* The row below and at `c` with the largest value in column c; NaN counts as the largest, so that it is not lost. */
#define DET(NAME, HOT, C, FABS, FREXP, LDEXP)                                                                          \
    static int64_t pivot_##NAME(const C *a, int64_t n, int64_t c)                                                      \
    {                                                                                                                  \
        int64_t best = c;                                                                                              \
                                                                                                                       \
        for (int64_t r = c + 1; r < n; r++) {                                                                          \
            if (!(FABS(a[r * n + c]) <= FABS(a[best * n + c])) && a[best * n + c] == a[best * n + c])                  \
                best = r;                                                                                              \
        }                                                                                                              \
        return best;                                                                                                   \
    }                                                                                                                  \
    HOT static void eliminate_##NAME(C *a, int64_t n, int64_t c)                                                       \
    {                                                                                                                  \
        const C *top = a + c * n;                                                                                      \
                                                                                                                       \
        for (int64_t r = c + 1; r < n; r++) {                                                                          \
            C *row = a + r * n, factor = top[c] != 0 ? row[c] / top[c] : 0;                                            \
                                                                                                                       \
            for (int64_t j = c + 1; j < n; j++)                                                                        \
                row[j] -= factor * top[j];                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    /* Destroys a. Mantissa and exponent are kept apart: a product on the way may leave the type's range. */           \
    static C det_##NAME(C *a, int64_t n)                                                                               \
    {                                                                                                                  \
        C product = 1;                                                                                                 \
        int64_t exponent = 0;                                                                                          \
                                                                                                                       \
        for (int64_t c = 0; c < n; c++) {                                                                              \
            int64_t p = pivot_##NAME(a, n, c);                                                                         \
            int power = 0;                                                                                             \
                                                                                                                       \
            for (int64_t j = c; p != c && j < n; j++) {                                                                \
                C kept = a[c * n + j];                                                                                 \
                                                                                                                       \
                a[c * n + j] = a[p * n + j];                                                                           \
                a[p * n + j] = kept;                                                                                   \
            }                                                                                                          \
            product = FREXP(product * (p != c ? -a[c * n + c] : a[c * n + c]), &power);                                \
            exponent += isfinite(product) ? power : 0;                                                                 \
            eliminate_##NAME(a, n, c);                                                                                 \
        }                                                                                                              \
        exponent = exponent > 32000 ? 32000 : exponent < -32000 ? -32000 : exponent;                                   \
        return LDEXP(product, (int)exponent);                                                                          \
    }
DET(single, PW_HOT, float, fabsf, frexpf, ldexpf)
DET(golden, , long double, fabsl, frexpl, ldexpl)

static void single(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;
    size_t elements = (size_t)(job->size * job->size);
    float *a = pw_calloc(elements, sizeof *a);

    for (int64_t m = begin; a && m < end; m++) {
        if (elements > 0)
            memcpy(a, (const float *)job->x->data + (size_t)m * elements, elements * sizeof *a);
        ((float *)job->y->data)[m] = det_single(a, job->size);
    }
    if (!a)
        atomic_store(job->short_of_memory, true);
    pw_free(a);
}

static void golden(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;
    size_t elements = (size_t)(job->size * job->size);
    long double *a = pw_calloc(elements, sizeof *a);

    for (int64_t m = begin; a && m < end; m++) {
        for (size_t i = 0; i < elements; i++)
            a[i] = ((const double *)job->x->data)[(size_t)m * elements + i];
        ((double *)job->y->data)[m] = (double)det_golden(a, job->size);
    }
    if (!a)
        atomic_store(job->short_of_memory, true);
    pw_free(a);
}

pw_status pw_det_eval(struct pw_eval *ev, struct pw_error *err)
{
    atomic_bool short_of_memory = false;
    struct job job = {.x = pw_eval_in(ev, 0), .short_of_memory = &short_of_memory};
    pw_status status;

    if (!job.x || job.x->rank < 2 || (job.x->dtype != PW_DTYPE_FLOAT32 && job.x->dtype != PW_DTYPE_FLOAT64))
        return pw_call_error(ev->call, err, "the input holds no matrices of floats");
    job.size = job.x->dims[job.x->rank - 1];
    if (job.x->dims[job.x->rank - 2] != job.size)
        return pw_call_error(ev->call, err, "the matrices are not square");
    status = pw_eval_output(ev, 0, job.x->nominal, job.x->rank - 2, job.x->dims, &job.y, err);
    if (status != PW_OK)
        return status;
    pw_parallel_for(job.y->count, job.size < 32 ? 64 : 1, job.x->dtype == PW_DTYPE_FLOAT32 ? single : golden, &job);
    return atomic_load(&short_of_memory) ? pw_error_memory(err, (size_t)(job.size * job.size) * sizeof(long double))
                                         : PW_OK;
}
