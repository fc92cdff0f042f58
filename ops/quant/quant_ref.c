/*
 * References of quantization. Where the definition rounds in between (the quotient, the dynamic
 * scale), golden rounds there too: results are steps, and a quotient of a half decides one.
 */
#include <math.h>

#include "base/half.h"
#include "base/parallel.h"
#include "ops/quant/quant.h"

/* An element as its type in the model has it. */
static double rounded(const struct pw_tensor *t, int64_t i)
{
    return pw_dtype_round(t->nominal, pw_tensor_get(t, i));
}

struct quant_job {
    struct pw_quant_layout layout;
    const struct pw_tensor *x, *scale, *zero;
    struct pw_tensor *y;
    pw_dtype precision;
    bool saturate;
    int64_t low, high;
};

/* Exact where the table has the type, else not reached. */
static bool narrow_float(pw_dtype dtype, pw_float8_kind *kind)
{
    static const struct {
        pw_dtype dtype;
        pw_float8_kind kind;
    } kinds[] = {{PW_DTYPE_FLOAT8E4M3FN, PW_FLOAT8_E4M3FN}, {PW_DTYPE_FLOAT8E4M3FNUZ, PW_FLOAT8_E4M3FNUZ},
                 {PW_DTYPE_FLOAT8E5M2, PW_FLOAT8_E5M2},     {PW_DTYPE_FLOAT8E5M2FNUZ, PW_FLOAT8_E5M2FNUZ},
                 {PW_DTYPE_FLOAT4E2M1, PW_FLOAT4_E2M1},     {PW_DTYPE_FLOAT6E2M3, PW_FLOAT6_E2M3},
                 {PW_DTYPE_FLOAT6E3M2, PW_FLOAT6_E3M2}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].dtype == dtype) {
            *kind = kinds[i].kind;
            return true;
        }
    }
    return false;
}

static void quantize_body(void *user, int64_t begin, int64_t end)
{
    const struct quant_job *job = user;
    pw_float8_kind kind = PW_FLOAT8_E4M3FN;
    bool narrow = narrow_float(job->y->nominal, &kind);
    for (int64_t i = begin; i < end; i++) {
        int64_t at = pw_quant_scale_index(&job->layout, i);
        /* Within a graph golden carries more digits than the tensors have: a step is decided by what they have. */
        double x = rounded(job->x, i), scale = rounded(job->scale, at);
        double quotient = pw_dtype_round(job->precision, x / scale);
        if (narrow) {
            quotient += job->zero ? pw_tensor_get(job->zero, at) : 0;
            pw_tensor_set(job->y, i, pw_float8_to_double(kind, pw_float8_from_double(kind, quotient, job->saturate)));
            continue;
        }
        double step = nearbyint(quotient) + (job->zero ? (double)pw_tensor_get_int(job->zero, at) : 0.0);
        /* NaN fails both comparisons and becomes the least value. */
        pw_tensor_set_int(job->y, i,
                          step >= (double)job->high ? job->high
                          : step > (double)job->low ? (int64_t)step
                                                    : job->low);
    }
}

pw_status pw_quantize_eval(struct pw_eval *ev, struct pw_error *err)
{
    struct quant_job job = {.x = pw_eval_in(ev, 0), .scale = pw_eval_in(ev, 1), .zero = pw_eval_in(ev, 2)};
    pw_dtype dtype = ev->call->out[0].dtype;
    pw_status status = pw_quant_layout(ev->call, &job.layout, err);
    if (status == PW_OK)
        status = pw_eval_output(ev, 0, dtype, job.x->rank, job.x->dims, &job.y, err);
    if (status != PW_OK)
        return status;
    job.precision = pw_quant_precision(ev->call);
    job.saturate = ev->call->op->since < 19 || pw_call_int(ev->call, "saturate") != 0;
    pw_quant_range(dtype, &job.low, &job.high);
    pw_parallel_for(job.y->count, 4096, quantize_body, &job);
    return PW_OK;
}

static void dequantize_body(void *user, int64_t begin, int64_t end)
{
    const struct quant_job *job = user;
    for (int64_t i = begin; i < end; i++) {
        int64_t at = pw_quant_scale_index(&job->layout, i);
        double value = pw_tensor_get(job->x, i) - (job->zero ? pw_tensor_get(job->zero, at) : 0);
        pw_tensor_set(job->y, i, value * pw_tensor_get(job->scale, at));
    }
}

pw_status pw_dequantize_eval(struct pw_eval *ev, struct pw_error *err)
{
    struct quant_job job = {.x = pw_eval_in(ev, 0), .scale = pw_eval_in(ev, 1), .zero = pw_eval_in(ev, 2)};
    pw_status status = pw_quant_layout(ev->call, &job.layout, err);
    if (status == PW_OK)
        status = pw_eval_output(ev, 0, ev->call->out[0].dtype, job.x->rank, job.x->dims, &job.y, err);
    if (status == PW_OK)
        pw_parallel_for(job.y->count, 4096, dequantize_body, &job);
    return status;
}

/* In float throughout: the operator is defined by a body of float32 operators. */
pw_status pw_dynamic_quantize_eval(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *x = pw_eval_in(ev, 0);
    struct pw_tensor *y = NULL, *scale_out = NULL, *zero_out = NULL;
    float low = 0, high = 0;
    pw_status status = pw_eval_output(ev, 0, PW_DTYPE_UINT8, x->rank, x->dims, &y, err);
    if (status == PW_OK)
        status = pw_eval_output(ev, 1, PW_DTYPE_FLOAT32, 0, NULL, &scale_out, err);
    if (status == PW_OK)
        status = pw_eval_output(ev, 2, PW_DTYPE_UINT8, 0, NULL, &zero_out, err);
    if (status != PW_OK)
        return status;
    for (int64_t i = 0; i < x->count; i++) {
        float value = (float)pw_tensor_get(x, i); /* as the model has it */
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    float range = high - low;
    float scale = range / 255.0F;
    float point = scale > 0 ? 0.0F - low / scale : 0.0F;
    point = nearbyintf(point < 0 ? 0 : point > 255 ? 255 : point);
    for (int64_t i = 0; i < x->count; i++) {
        float quotient = scale > 0 ? (float)pw_tensor_get(x, i) / scale : 0.0F;
        float step = nearbyintf(quotient) + point;
        ((uint8_t *)y->data)[i] = (uint8_t)(step >= 255 ? 255 : step > 0 ? step : 0);
    }
    pw_tensor_set(scale_out, 0, (double)scale);
    *(uint8_t *)zero_out->data = (uint8_t)point;
    return PW_OK;
}
