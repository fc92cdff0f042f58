/* The references: one loop a function and type. Golden is double (long double for float64 models) by formulas
 * that do not cancel; fast is float. */
#include <math.h>
#include <string.h>

#include "base/approx.h"
#include "base/compiler.h"
#include "base/parallel.h"
#include "ops/activation/activation_room.h"

enum { GRAIN = 8192 };

/* e^x - 1 for x <= 0 without cancellation: 2^n q + (2^n - 1) with q = e^r - 1. */
static inline float approx_expm1(float x)
{
    float c = x < -17.4f ? -17.4f : x; /* -1 in float from there on */
    float shifted = c * 1.44269504088896341f + 12582912.0f, n = shifted - 12582912.0f;
    float r = (c - n * 0.693145751953125f) - n * 1.42860682030941723e-6f;
    float q = 1.0f / 720.0f, s;
    uint32_t bits = (uint32_t)((int32_t)n + 127) << 23;

    q = q * r + 1.0f / 120.0f;
    q = q * r + 1.0f / 24.0f;
    q = q * r + 1.0f / 6.0f;
    q = q * r + 0.5f;
    q = q * r * r + r;
    memcpy(&s, &bits, sizeof s);
    return s * q + (s - 1.0f);
}

/* Each formula once, for T with its functions. erfc keeps the negative tail of GELU exact, expm1 small arguments. */
#define SIGMOID(T, EXP, x) ((x) >= 0 ? 1 / (1 + EXP(-(x))) : EXP(x) / (1 + EXP(x)))

#define MAP(NAME, T, C, EXPRESSION)                                                                                    \
    PW_HOT static void NAME(const void *px, void *py, int64_t n, float fp, float fq)                                   \
    {                                                                                                                  \
        const T *restrict in = px;                                                                                     \
        T *restrict out = py;                                                                                          \
        C p = (C)fp, q = (C)fq;                                                                                        \
        (void)p;                                                                                                       \
        (void)q;                                                                                                       \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            C x = (C)in[i];                                                                                            \
            out[i] = (T)(EXPRESSION);                                                                                  \
        }                                                                                                              \
    }

/* S is the suffix of the C library's functions, R that of constants. */
#define FORMULAS(P, T, C, S, R)                                                                                        \
    MAP(P##_RELU, T, C, x > 0 ? x : x != x ? x : 0)                                                                    \
    MAP(P##_LEAKY_RELU, T, C, x < 0 ? p * x : x)                                                                       \
    MAP(P##_ELU, T, C, x < 0 ? p * expm1##S(x) : x)                                                                    \
    MAP(P##_SELU, T, C, x <= 0 ? q * (p * expm1##S(x)) : q * x)                                                        \
    MAP(P##_CELU, T, C, (x > 0 || x != x ? x : 0) + fmin##S(0, p * expm1##S(x / p)))                                   \
    MAP(P##_GELU_ERF, T, C, R(0.5) * x * erfc##S(-x * R(0.70710678118654752440)))                                      \
    MAP(P##_GELU_TANH, T, C, x *SIGMOID(C, exp##S, 2 * R(0.79788456080286535588) * (x + R(0.044715) * x * x * x)))     \
    MAP(P##_HARD_SIGMOID, T, C, x != x ? x : fmax##S(0, fmin##S(1, p * x + q)))                                        \
    MAP(P##_HARD_SWISH, T, C, x != x ? x : x * fmax##S(0, fmin##S(1, x / 6 + R(0.5))))                                 \
    MAP(P##_SIGMOID, T, C, SIGMOID(C, exp##S, x))                                                                      \
    MAP(P##_SOFTPLUS, T, C, (x > 0 ? x : 0) + log1p##S(exp##S(-fabs##S(x))))                                           \
    MAP(P##_SOFTSIGN, T, C, x / (1 + fabs##S(x)))                                                                      \
    MAP(P##_THRESHOLDED_RELU, T, C, x > p || x != x ? x : 0)                                                           \
    MAP(P##_MISH, T, C, x *tanh##S((x > 0 ? x : 0) + log1p##S(exp##S(-fabs##S(x)))))                                   \
    MAP(P##_SWISH, T, C, x *SIGMOID(C, exp##S, p *x))                                                                  \
    MAP(P##_SHRINK, T, C, x != x ? x : x < -p ? x + q : x > p ? x - q : 0)
#define DOUBLE(value) value
#define LONG(value) value##L
FORMULAS(golden, double, double, , DOUBLE)
FORMULAS(precise, double, long double, l, LONG)

static inline float mish_float(float x)
{
    float e = pw_approx_exp(x > 20.0f ? 20.0f : x), s = e * (e + 2.0f);

    return x > 20.0f ? x : x * (s / (s + 2.0f));
}

static inline float swish_float(float x, float p)
{
    float e = pw_approx_exp(-fabsf(p * x));

    return x * ((p * x < 0 ? e : 1.0f) / (1.0f + e));
}

MAP(single_RELU, float, float, x > 0 ? x : x != x ? x : 0)
MAP(single_LEAKY_RELU, float, float, x < 0 ? p * x : x)
MAP(single_ELU, float, float, x < 0 ? p * approx_expm1(x < 0 ? x : 0) : x)
MAP(single_SELU, float, float, x <= 0 ? q * (p * approx_expm1(x < 0 ? x : 0)) : q * x)
MAP(single_CELU, float, float, x > 0 ? x : p * expm1f(x / p))
MAP(single_GELU_ERF, float, float, 0.5f * x * (1.0f + pw_approx_erf(x * 0.70710678118654752f)))
MAP(single_GELU_TANH, float, float, swish_float(x, 1.5957691216057308f * (1.0f + 0.044715f * x * x)))
MAP(single_HARD_SIGMOID, float, float, p *x + q < 0 ? 0 : p * x + q > 1 ? 1 : p * x + q)
MAP(single_HARD_SWISH, float, float, x<-3 ? x * 0.0f : x> 3 ? x : x *(x *(1.0f / 6.0f) + 0.5f))
MAP(single_SIGMOID, float, float, pw_approx_sigmoid(x))
MAP(single_SOFTPLUS, float, float, (x > 0 ? x : 0) + log1pf(pw_approx_exp(-fabsf(x))))
MAP(single_SOFTSIGN, float, float, x / (1.0f + fabsf(x)))
MAP(single_THRESHOLDED_RELU, float, float, x > p || x != x ? x : 0)
MAP(single_MISH, float, float, mish_float(x))
MAP(single_SWISH, float, float, swish_float(x, p))
MAP(single_SHRINK, float, float, x != x ? x : x < -p ? x + q : x > p ? x - q : 0)

typedef void loop(const void *x, void *y, int64_t n, float p, float q);

#define ROW(NAME) [PW_ACT_##NAME] = {single_##NAME, golden_##NAME, precise_##NAME}
static const struct {
    loop *single, *golden, *precise;
} loops[PW_ACT_COUNT] = {
    ROW(RELU),
    ROW(LEAKY_RELU),
    ROW(ELU),
    ROW(SELU),
    ROW(CELU),
    ROW(GELU_ERF),
    ROW(GELU_TANH),
    ROW(HARD_SIGMOID),
    ROW(HARD_SWISH),
    ROW(SIGMOID),
    ROW(SOFTPLUS),
    ROW(SOFTSIGN),
    ROW(THRESHOLDED_RELU),
    ROW(MISH),
    ROW(SWISH),
    ROW(SHRINK),
};

struct job {
    loop *run;
    pw_act function;
    const struct pw_tensor *x, *bias;
    struct pw_tensor *y;
    int64_t inner;
    float p, q;
};

static void range(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;
    size_t bytes = pw_dtype_bytes(job->x->dtype);

    job->run((const char *)job->x->data + (size_t)begin * bytes, (char *)job->y->data + (size_t)begin * bytes,
             end - begin, job->p, job->q);
}

/* Rows of the last dim: x + bias into the output, then the function in place of a copy of it. */
static void rows(void *user, int64_t begin, int64_t end)
{
    enum { BLOCK = 512 };
    const struct job *job = user;
    bool wide = job->x->dtype == PW_DTYPE_FLOAT64;
    double sums[BLOCK];

    for (int64_t at = begin * job->inner; at < end * job->inner;) {
        int64_t column = at % job->inner, n = job->inner - column < BLOCK ? job->inner - column : BLOCK;

        for (int64_t i = 0; i < n; i++) {
            if (wide)
                sums[i] = ((const double *)job->x->data)[at + i] + ((const double *)job->bias->data)[column + i];
            else
                ((float *)(void *)sums)[i] =
                    ((const float *)job->x->data)[at + i] + ((const float *)job->bias->data)[column + i];
        }
        job->run(sums, (char *)job->y->data + (size_t)at * (wide ? sizeof(double) : sizeof(float)), n, job->p, job->q);
        at += n;
    }
}

/* Relu and Shrink of integers, through double as the attributes are floats; exact up to 2^53. */
static void integers(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;

    for (int64_t i = begin; i < end; i++) {
        int64_t x = pw_tensor_get_int(job->x, i);
        bool is_unsigned = pw_dtype_facts(job->x->dtype)->kind == PW_KIND_UNSIGNED;
        double v = is_unsigned ? (double)(uint64_t)x : (double)x;

        if (job->function == PW_ACT_RELU)
            pw_tensor_set_int(job->y, i, !is_unsigned && x < 0 ? 0 : x);
        else if (v < -(double)job->p)
            pw_tensor_set_int(job->y, i, (int64_t)(v + (double)job->q));
        else
            pw_tensor_set_int(job->y, i, v > (double)job->p ? (int64_t)(v - (double)job->q) : 0);
    }
}

pw_status pw_act_eval(struct pw_eval *ev, struct pw_error *err)
{
    struct job job = {.function = pw_act_function(ev->call), .x = pw_eval_in(ev, 0), .bias = pw_eval_in(ev, 1)};
    pw_status status;

    if (!job.x)
        return pw_call_error(ev->call, err, "the input is missing");
    status = pw_eval_output(ev, 0, job.x->nominal, job.x->rank, job.x->dims, &job.y, err);
    if (status != PW_OK)
        return status;
    pw_act_parameters(ev->call, &job.p, &job.q);
    if (pw_dtype_is_integer(job.x->dtype)) {
        pw_parallel_for(job.x->count, GRAIN, integers, &job);
        return PW_OK;
    }
    if (job.x->dtype == PW_DTYPE_FLOAT32)
        job.run = loops[job.function].single;
    else if (job.x->dtype == PW_DTYPE_FLOAT64)
        job.run = ev->mode == PW_EVAL_GOLDEN && job.x->nominal == PW_DTYPE_FLOAT64 ? loops[job.function].precise
                                                                                   : loops[job.function].golden;
    else
        return pw_call_error(ev->call, err, "%s is not served for %s", ev->call->op->name,
                             pw_dtype_name(job.x->nominal));
    if (!job.bias) {
        pw_parallel_for(job.x->count, GRAIN, range, &job);
        return PW_OK;
    }
    job.inner = job.x->rank > 0 ? job.x->dims[job.x->rank - 1] : 1;
    if (job.bias->dtype != job.x->dtype || job.bias->count != job.inner)
        return pw_call_error(ev->call, err, "the bias must have the type and the last dim of the input");
    if (job.x->count)
        pw_parallel_for(job.x->count / job.inner, GRAIN / (job.inner + 1) + 1, rows, &job);
    return PW_OK;
}
