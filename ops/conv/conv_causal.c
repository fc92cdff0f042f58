/*
 * CausalConvWithState: a depthwise convolution over one axis that looks back only. With S the state (k - 1 values a
 * channel, zeros when not given) in front of the input, Z = [S, X]:
 *   Y[n,c,t] = act(B[c] + sum over j of W[c,0,j] Z[n,c,t+j]),   present[n,c] = the last k - 1 of Z[n,c]
 */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/approx.h"
#include "base/compiler.h"
#include "base/parallel.h"
#include "ops/conv/conv.h"

enum { X, W, BIAS, PAST, GRAIN = 8192 };

static pw_status check_dim(const struct pw_call *call, int input, int axis, pw_dim want, struct pw_error *err)
{
    pw_dim have = call->in[input]->dims[axis];

    if (have < 0 || want < 0 || have == want)
        return PW_OK;
    return pw_call_error(call, err, "'%s' has %lld in dimension %d, %lld expected", call->op->inputs[input].name,
                         (long long)have, axis, (long long)want);
}

static pw_status check_ranks(const struct pw_call *call, struct pw_error *err)
{
    static const int ranks[] = {3, 3, 1, 3};

    for (int i = 0; i < 4; i++) {
        const struct pw_info *in = pw_call_input(call, i) ? call->in[i] : NULL;

        if (in && in->dtype != PW_DTYPE_UNDEFINED && (!pw_dtype_is_float(in->dtype) || pw_dtype_bytes(in->dtype) < 2))
            return pw_call_error(call, err, "'%s' is %s, a float type expected", call->op->inputs[i].name,
                                 pw_dtype_name(in->dtype));
        if (in && in->rank >= 0 && in->rank != ranks[i])
            return pw_call_error(call, err, "'%s' has rank %d, %d expected", call->op->inputs[i].name, in->rank,
                                 ranks[i]);
    }
    return PW_OK;
}

/* The size of the state: k - 1. */
static pw_status state_size(const struct pw_call *call, pw_dim *out, struct pw_error *err)
{
    const struct pw_info *w = call->in[W], *past = pw_call_input(call, PAST) ? call->in[PAST] : NULL;

    *out = PW_DIM_UNKNOWN;
    if (w->rank == 3) {
        if (w->dims[2] == 0)
            return pw_call_error(call, err, "'weight' has no taps");
        *out = pw_dims_sub(call->dims, w->dims[2], 1);
    }
    if (past && past->rank == 3 && *out < 0)
        *out = past->dims[2];
    return PW_OK;
}

static pw_status check(const struct pw_call *call, pw_dim *state, struct pw_error *err)
{
    const char *activation = pw_call_string(call, "activation");
    const struct pw_info *x = call->in[X];
    pw_dim channels = x->rank == 3 ? x->dims[1] : PW_DIM_UNKNOWN;
    pw_status status = check_ranks(call, err);

    if (status == PW_OK && strcmp(activation, "none") != 0 && strcmp(activation, "silu") != 0 &&
        strcmp(activation, "swish") != 0)
        status = pw_call_error(call, err, "activation is '%.40s', 'none', 'silu' or 'swish' expected", activation);
    if (status == PW_OK)
        status = state_size(call, state, err);
    if (status == PW_OK && call->in[W]->rank == 3) {
        status = check_dim(call, W, 0, channels, err);
        if (status == PW_OK)
            status = check_dim(call, W, 1, 1, err);
    }
    if (status == PW_OK && pw_call_input(call, BIAS) && call->in[BIAS]->rank == 1)
        status = check_dim(call, BIAS, 0, channels, err);
    if (status == PW_OK && pw_call_input(call, PAST) && call->in[PAST]->rank == 3) {
        status = check_dim(call, PAST, 0, x->rank == 3 ? x->dims[0] : PW_DIM_UNKNOWN, err);
        if (status == PW_OK)
            status = check_dim(call, PAST, 1, channels, err);
        if (status == PW_OK)
            status = check_dim(call, PAST, 2, *state, err);
    }
    return status;
}

pw_status pw_causal_conv_infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *x = call->in[X], *w = call->in[W];
    pw_dim state, dims[3] = {PW_DIM_UNKNOWN, PW_DIM_UNKNOWN, PW_DIM_UNKNOWN};
    pw_status status = check(call, &state, err);

    if (status != PW_OK)
        return status;
    if (x->rank == 3)
        memcpy(dims, x->dims, sizeof dims);
    if (dims[1] < 0 && w->rank == 3 && w->dims[0] >= 0)
        dims[1] = w->dims[0];
    pw_call_output(call, 0, x->dtype, 3, dims);
    dims[2] = state;
    if (call->output_count > 1)
        pw_call_output(call, 1, x->dtype, 3, dims);
    return PW_OK;
}

static bool has_activation(const struct pw_call *call)
{
    return strcmp(pw_call_string(call, "activation"), "none") != 0;
}

pw_status pw_causal_conv_cost(const struct pw_call *call, struct pw_cost *out, struct pw_error *err)
{
    const struct pw_info *x = call->in[X], *w = call->in[W];
    pw_dim each = PW_DIM_UNKNOWN;

    (void)err;
    out->flops = PW_DIM_UNKNOWN;
    if (x->rank != 3 || w->rank != 3)
        return PW_OK;
    each = pw_dims_add(call->dims, pw_dims_mul(call->dims, w->dims[2], 2),
                       (pw_call_input(call, BIAS) ? 1 : 0) + (has_activation(call) ? 4 : 0));
    for (int d = 0; d < 3; d++)
        each = pw_dims_mul(call->dims, each, x->dims[d]);
    out->flops = each;
    return PW_OK;
}

void pw_causal_conv_accuracy(const struct pw_call *call, struct pw_accuracy *out)
{
    const struct pw_info *w = call->in[W];
    bool active = has_activation(call);

    out->exact = false;
    out->ulp = active ? 8 : 1;
    out->length = w->rank == 3 && w->dims[2] > 0 ? w->dims[2] : 1;
    out->amplification = 1;
    out->sensitivity = PW_SENSITIVITY_LOW;
    out->reason = "a short sum; the state is a copy";
    out->why = active ? "k products accumulated in float, then exp 3 ULP and division 2.5 ULP"
                      : "k products accumulated in float";
}

pw_status pw_causal_conv_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_info *x = call->in[X];
    const struct {
        const char *name;
        int64_t value;
    } values[] = {{"rows", x->dims[0] * x->dims[1]},
                  {"channels", x->dims[1]},
                  {"length", x->dims[2]},
                  {"taps", call->in[W]->dims[2]},
                  {"active", has_activation(call)},
                  {"wants_state", call->output_count > 1 && call->wanted[1]}};
    pw_status status = PW_OK;

    for (size_t i = 0; i < PW_COUNT_OF(values) && status == PW_OK; i++)
        status = pw_bind_int(b, values[i].name, values[i].value, err);
    return status;
}

/* ---- references ---- */

struct job {
    int64_t channels, length, taps;
    const void *x, *w, *bias, *past;
    void *y, *present;
    bool active;
    atomic_bool *short_of_memory;
};

/* C sums and applies the activation, T is stored. Rows are (sample, channel). */
#define CAUSAL(NAME, HOT, T, C, EXP)                                                                                   \
    HOT static void line_##NAME(const struct job *job, const T *z, const T *w, C bias, T *y)                           \
    {                                                                                                                  \
        for (int64_t t = 0; t < job->length; t++) {                                                                    \
            C sum = bias;                                                                                              \
                                                                                                                       \
            for (int64_t j = 0; j < job->taps; j++)                                                                    \
                sum += (C)w[j] * (C)z[t + j];                                                                          \
            y[t] = (T)sum;                                                                                             \
            if (job->active)                                                                                           \
                y[t] = (T)(sum / (1 + EXP(-sum)));                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    static void rows_##NAME(void *user, int64_t begin, int64_t end)                                                    \
    {                                                                                                                  \
        const struct job *job = user;                                                                                  \
        size_t state = (size_t)job->taps - 1, length = (size_t)job->length;                                            \
        T *z = pw_calloc(state + length, sizeof *z);                                                                   \
                                                                                                                       \
        for (int64_t row = begin; z && row < end; row++) {                                                             \
            int64_t c = row % job->channels;                                                                           \
                                                                                                                       \
            if (job->past && state)                                                                                    \
                memcpy(z, (const T *)job->past + (size_t)row * state, state * sizeof *z);                              \
            if (length)                                                                                                \
                memcpy(z + state, (const T *)job->x + (size_t)row * length, length * sizeof *z);                       \
            line_##NAME(job, z, (const T *)job->w + c * job->taps, job->bias ? (C)((const T *)job->bias)[c] : 0,       \
                        (T *)job->y + (size_t)row * length);                                                           \
            if (job->present && state)                                                                                 \
                memcpy((T *)job->present + (size_t)row * state, z + length, state * sizeof *z);                        \
        }                                                                                                              \
        if (!z)                                                                                                        \
            atomic_store(job->short_of_memory, true);                                                                  \
        pw_free(z);                                                                                                    \
    }
CAUSAL(single, PW_HOT, float, float, pw_approx_exp)
CAUSAL(golden, , double, double, exp)
CAUSAL(precise, , double, long double, expl)

pw_status pw_causal_conv_eval(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *x = pw_eval_in(ev, X), *w = pw_eval_in(ev, W), *bias = pw_eval_in(ev, BIAS);
    const struct pw_tensor *past = pw_eval_in(ev, PAST);
    struct pw_tensor *y = NULL, *present = NULL;
    atomic_bool short_of_memory = false;
    struct job job = {.active = has_activation(ev->call), .short_of_memory = &short_of_memory};
    pw_dim state;
    pw_status status = check(ev->call, &state, err);

    if (status != PW_OK)
        return status;
    if (!x || !w || x->rank != 3 || w->rank != 3)
        return pw_call_error(ev->call, err, "an input is missing");
    status = pw_eval_output(ev, 0, x->nominal, 3, x->dims, &y, err);
    if (status == PW_OK && ev->output_count > 1 && ev->call->wanted[1])
        status = pw_eval_output(ev, 1, x->nominal, 3, (const int64_t[]){x->dims[0], x->dims[1], w->dims[2] - 1},
                                &present, err);
    if (status != PW_OK || x->dims[0] * x->dims[1] == 0)
        return status;
    job.channels = x->dims[1];
    job.length = x->dims[2];
    job.taps = w->dims[2];
    job.x = x->data;
    job.w = w->data;
    job.bias = bias ? bias->data : NULL;
    job.past = past ? past->data : NULL;
    job.y = y->data;
    job.present = present ? present->data : NULL;
    pw_parallel_for(x->dims[0] * x->dims[1], GRAIN / (job.length + 1) + 1,
                    x->dtype == PW_DTYPE_FLOAT32                                   ? rows_single
                    : ev->mode == PW_EVAL_GOLDEN && x->nominal == PW_DTYPE_FLOAT64 ? rows_precise
                                                                                   : rows_golden,
                    &job);
    return atomic_load(&short_of_memory) ? pw_error_memory(err, (size_t)(job.taps + job.length) * sizeof(double))
                                         : PW_OK;
}
