/* The references: convert to the target type, bit by bit as a device would, then carry that. A cast is a rounding that
 * the model asks for, so golden rounds too. */
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "base/half.h"
#include "base/parallel.h"
#include "ops/cast/cast_room.h"

enum { GRAIN = 16384 };

/* ---- floats of 8 bits and fewer: out of range by attribute ---- */

struct narrow_job {
    const struct pw_tensor *x;
    uint8_t *y;
    pw_float8_kind kind;
    bool saturate, inf_is_nan;
    pw_cast_round round;
};

/* An exponent alone. Zero, negative and out of range by ONNX's table; what it leaves open is NaN. */
static uint8_t to_e8m0(double x, pw_cast_round round, bool saturate)
{
    uint8_t nan = 0xff, largest = 0xfe;
    double fraction;
    int exponent, code;

    if (isnan(x) || x < 0.0 || (x == 0.0 && !saturate) || (isinf(x) && !saturate))
        return nan;
    if (x == 0.0 || isinf(x))
        return x == 0.0 ? 0 : largest;
    fraction = frexp(x, &exponent); /* [0.5, 1): x = 2 fraction * 2^(exponent - 1) */
    code = exponent - 1 + 127;
    if (round == PW_CAST_UP)
        code += fraction > 0.5;
    else if (round == PW_CAST_NEAREST)
        code += fraction >= 0.75;
    if (code < 0)
        return saturate ? 0 : nan;
    return code > largest ? (saturate ? largest : nan) : (uint8_t)code;
}

static void narrow_range(void *user, int64_t begin, int64_t end)
{
    const struct narrow_job *job = user;
    bool fnuz = job->kind == PW_FLOAT8_E4M3FNUZ || job->kind == PW_FLOAT8_E5M2FNUZ;

    for (int64_t i = begin; i < end; i++) {
        double x = pw_tensor_get(job->x, i);

        if (job->kind == PW_FLOAT8_E8M0)
            job->y[i] = to_e8m0(x, job->round, job->saturate);
        else
            job->y[i] = pw_float8_from_double(job->kind, isinf(x) && fnuz && job->inf_is_nan ? NAN : x, job->saturate);
    }
}

static bool find_narrow(pw_dtype dtype, pw_float8_kind *kind)
{
    static const struct {
        pw_dtype dtype;
        pw_float8_kind kind;
    } kinds[] = {
        {PW_DTYPE_FLOAT8E4M3FN, PW_FLOAT8_E4M3FN}, {PW_DTYPE_FLOAT8E4M3FNUZ, PW_FLOAT8_E4M3FNUZ},
        {PW_DTYPE_FLOAT8E5M2, PW_FLOAT8_E5M2},     {PW_DTYPE_FLOAT8E5M2FNUZ, PW_FLOAT8_E5M2FNUZ},
        {PW_DTYPE_FLOAT8E8M0, PW_FLOAT8_E8M0},     {PW_DTYPE_FLOAT4E2M1, PW_FLOAT4_E2M1},
        {PW_DTYPE_FLOAT6E2M3, PW_FLOAT6_E2M3},     {PW_DTYPE_FLOAT6E3M2, PW_FLOAT6_E3M2},
    };

    for (size_t i = 0; i < PW_COUNT_OF(kinds); i++) {
        if (kinds[i].dtype == dtype) {
            *kind = kinds[i].kind;
            return true;
        }
    }
    return false;
}

/* ---- values ---- */

static void truths(const struct pw_tensor *x, uint8_t *y)
{
    bool floating = pw_dtype_is_float(x->dtype);

    for (int64_t i = 0; i < x->count; i++)
        y[i] = floating ? pw_tensor_get(x, i) != 0.0 : pw_tensor_get_int(x, i) != 0;
}

static pw_status convert(const struct pw_call *call, const struct pw_tensor *x, pw_dtype to, struct pw_tensor *out,
                         struct pw_error *err)
{
    struct narrow_job job = {.x = x, .saturate = pw_cast_saturates(call), .inf_is_nan = call->op->since < 24};
    pw_status status;

    if (x->nominal != PW_DTYPE_STRING && to != PW_DTYPE_STRING && to != PW_DTYPE_BOOL && !find_narrow(to, &job.kind))
        return pw_tensor_convert(out, x, to, err);
    status = pw_tensor_init(out, to, x->rank, x->dims, err);
    if (status != PW_OK)
        return status;
    if (x->nominal == PW_DTYPE_STRING && to == PW_DTYPE_STRING) {
        pw_tensor_clear(out);
        return pw_tensor_copy(out, x, err);
    }
    if (x->nominal == PW_DTYPE_STRING)
        return pw_cast_from_text(call, x, out, err);
    if (to == PW_DTYPE_STRING)
        return pw_cast_to_text(x, out, err);
    if (to == PW_DTYPE_BOOL) {
        truths(x, out->data);
        return PW_OK;
    }
    status = pw_cast_round_mode(call, &job.round, err);
    job.y = out->data;
    if (status == PW_OK)
        pw_parallel_for(x->count, GRAIN, narrow_range, &job);
    return status;
}

/* ---- bits ---- */

/* Elements below a byte lie one a byte; a signed one is extended. */
static pw_status reinterpret(const struct pw_tensor *x, pw_dtype to, struct pw_tensor *out, struct pw_error *err)
{
    const struct pw_dtype_facts *facts = pw_dtype_facts(to);
    struct pw_tensor plain = {0};
    pw_status status = pw_tensor_convert(&plain, x, x->nominal, err);

    if (status == PW_OK)
        status = pw_tensor_init(out, to, x->rank, x->dims, err);
    if (status == PW_OK && plain.count) {
        memcpy(out->data, plain.data, pw_tensor_bytes(out));
        for (int64_t i = 0; facts->bits < 8 && i < out->count; i++) {
            uint8_t *byte = (uint8_t *)out->data + i;
            uint8_t low = (uint8_t)(*byte & ((1u << facts->bits) - 1u)), sign = (uint8_t)(1u << (facts->bits - 1));

            *byte = facts->kind == PW_KIND_SIGNED ? (uint8_t)((low ^ sign) - sign) : low;
        }
    }
    pw_tensor_clear(&plain);
    return status;
}

pw_status pw_cast_eval(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *x = pw_eval_in(ev, 0);
    pw_cast_kind kind = ((const struct pw_cast_form *)ev->call->op->data)->kind;
    struct pw_tensor made = {0};
    pw_dtype to = PW_DTYPE_UNDEFINED;
    pw_status status = pw_cast_target(ev->call, &to, err);

    if (status != PW_OK)
        return status;
    if (kind == PW_CAST_LIKE && pw_eval_in(ev, 1))
        to = pw_eval_in(ev, 1)->nominal;
    if (!x || to == PW_DTYPE_UNDEFINED)
        return pw_call_error(ev->call, err, "an input is missing");
    if (kind == PW_CAST_BITS && pw_dtype_facts(x->nominal)->bits != pw_dtype_facts(to)->bits)
        return pw_call_error(ev->call, err, "BitCast from %s to %s", pw_dtype_name(x->nominal), pw_dtype_name(to));
    status = kind == PW_CAST_BITS ? reinterpret(x, to, &made, err) : convert(ev->call, x, to, &made, err);
    if (status == PW_OK) {
        made.nominal = to;
        status = pw_eval_output_copy(ev, 0, &made, err);
    }
    pw_tensor_clear(&made);
    return status;
}
