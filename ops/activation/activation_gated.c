/* SwiGLU: the Swish of a gate times a value of the same shape. */
#include <math.h>

#include "base/approx.h"
#include "base/compiler.h"
#include "base/parallel.h"
#include "ops/activation/activation_room.h"

enum { GRAIN = 8192 };

pw_status pw_act_gated_infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *a = call->in[0], *b = call->in[1];

    if (a->dtype != PW_DTYPE_UNDEFINED && (!pw_dtype_is_float(a->dtype) || pw_dtype_bytes(a->dtype) < 2))
        return pw_call_error(call, err, "the gate is %s, which %s does not take", pw_dtype_name(a->dtype),
                             call->op->name);
    if (a->rank >= 0 && b->rank >= 0) {
        if (a->rank != b->rank)
            return pw_call_error(call, err, "the gate has rank %d, the value %d: equal shapes expected", a->rank,
                                 b->rank);
        for (int d = 0; d < a->rank; d++) {
            if (a->dims[d] >= 0 && b->dims[d] >= 0 && a->dims[d] != b->dims[d])
                return pw_call_error(call, err, "dimension %d of the gate is %lld, of the value %lld", d,
                                     (long long)a->dims[d], (long long)b->dims[d]);
        }
    }
    if (a->rank < 0 && b->rank >= 0) {
        pw_call_output_like(call, 0, 1);
        return PW_OK;
    }
    pw_call_output_like(call, 0, 0);
    for (int d = 0; d < a->rank && b->rank >= 0; d++) {
        if (a->dims[d] < 0 && b->dims[d] >= 0)
            call->out[0].dims[d] = b->dims[d];
    }
    return PW_OK;
}

pw_status pw_act_gated_cost(const struct pw_call *call, struct pw_cost *out, struct pw_error *err)
{
    const struct pw_info *y = &call->out[0];
    pw_dim size = y->rank < 0 ? PW_DIM_UNKNOWN : 1;

    (void)err;
    for (int d = 0; d < y->rank; d++)
        size = pw_dims_mul(call->dims, size, y->dims[d]);
    out->flops = pw_dims_mul(call->dims, size, 6); /* alpha x, exp, sum, division, two products */
    return PW_OK;
}

void pw_act_gated_accuracy(const struct pw_call *call, struct pw_accuracy *out)
{
    const struct pw_act_accuracy *swish = &pw_act_accuracies[PW_ACT_SWISH];

    (void)call;
    out->exact = false;
    out->ulp = swish->ulp + 0.5;
    out->length = 1;
    out->amplification = 1;
    out->sensitivity = swish->sensitivity;
    out->reason = swish->reason;
    out->why = "Swish (exp 3 ULP, division 2.5 ULP, two products) and a product";
}

struct job {
    const void *a, *b;
    void *y;
    float alpha;
};

/* x sigmoid(alpha x), the exponential always of a negative number so that nothing overflows. */
#define GATED(NAME, HOT, T, C, EXP, FABS)                                                                              \
    HOT static void NAME(void *user, int64_t begin, int64_t end)                                                       \
    {                                                                                                                  \
        const struct job *job = user;                                                                                  \
        const T *a = job->a, *b = job->b;                                                                              \
        T *y = job->y;                                                                                                 \
        C alpha = (C)job->alpha;                                                                                       \
                                                                                                                       \
        for (int64_t i = begin; i < end; i++) {                                                                        \
            C x = (C)a[i], e = EXP(-FABS(alpha * x));                                                                  \
                                                                                                                       \
            y[i] = (T)(x * ((alpha * x < 0 ? e : 1) / (1 + e)) * (C)b[i]);                                             \
        }                                                                                                              \
    }
GATED(gated_single, PW_HOT, float, float, pw_approx_exp, fabsf)
GATED(gated_golden, , double, double, exp, fabs)
GATED(gated_precise, , double, long double, expl, fabsl)

pw_status pw_act_gated_eval(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *a = pw_eval_in(ev, 0), *b = pw_eval_in(ev, 1);
    struct job job = {.alpha = pw_call_float(ev->call, "alpha")};
    struct pw_tensor *y;
    pw_status status;

    if (!a || !b)
        return pw_call_error(ev->call, err, "an input is missing");
    if (a->rank != b->rank || a->count != b->count || a->dtype != b->dtype)
        return pw_call_error(ev->call, err, "gate and value differ in shape or type");
    if (a->dtype != PW_DTYPE_FLOAT32 && a->dtype != PW_DTYPE_FLOAT64)
        return pw_call_error(ev->call, err, "%s is not served for %s", ev->call->op->name, pw_dtype_name(a->nominal));
    status = pw_eval_output(ev, 0, a->nominal, a->rank, a->dims, &y, err);
    if (status != PW_OK)
        return status;
    job.a = a->data;
    job.b = b->data;
    job.y = y->data;
    if (a->dtype == PW_DTYPE_FLOAT32)
        pw_parallel_for(a->count, GRAIN, gated_single, &job);
    else
        pw_parallel_for(a->count, GRAIN,
                        ev->mode == PW_EVAL_GOLDEN && a->nominal == PW_DTYPE_FLOAT64 ? gated_precise : gated_golden,
                        &job);
    return PW_OK;
}
