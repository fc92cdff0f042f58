/* LinearAttention: attributes, shapes, cost, accuracy, binding. */
#include "ops/attention/attention_linear.h"

#include <math.h>
#include <string.h>

#include "base/compiler.h"

enum { QUERY, KEY, VALUE, PAST, DECAY, BETA };

static pw_status check_dim(const struct pw_call *call, int input, int axis, pw_dim want, struct pw_error *err)
{
    pw_dim have = call->in[input]->dims[axis];

    if (have < 0 || want < 0 || have == want)
        return PW_OK;
    return pw_call_error(call, err, "'%s' has %lld in dimension %d, %lld expected", call->op->inputs[input].name,
                         (long long)have, axis, (long long)want);
}

static pw_status read_rule(const struct pw_call *call, struct pw_linear_attention *a, struct pw_error *err)
{
    const char *rule = pw_call_string(call, "update_rule");
    bool decay = pw_call_input(call, DECAY), beta = pw_call_input(call, BETA);

    a->gated = strcmp(rule, "gated") == 0 || strcmp(rule, "gated_delta") == 0;
    a->delta = strcmp(rule, "delta") == 0 || strcmp(rule, "gated_delta") == 0;
    if (!a->gated && !a->delta && strcmp(rule, "linear") != 0)
        return pw_call_error(call, err, "update_rule is '%.40s', linear, gated, delta or gated_delta expected", rule);
    if (a->gated != decay)
        return pw_call_error(call, err, "update_rule '%s' %s the input 'decay'", rule, a->gated ? "needs" : "has no");
    if (a->delta != beta)
        return pw_call_error(call, err, "update_rule '%s' %s the input 'beta'", rule, a->delta ? "needs" : "has no");
    a->heads = pw_call_int(call, "q_num_heads");
    a->kv_heads = pw_call_int(call, "kv_num_heads");
    if (a->kv_heads < 1 || a->heads < 1 || a->heads % a->kv_heads != 0)
        return pw_call_error(call, err, "%lld query heads over %lld key heads", (long long)a->heads,
                             (long long)a->kv_heads);
    return PW_OK;
}

static pw_status check_types(const struct pw_call *call, struct pw_error *err)
{
    for (int i = QUERY; i <= BETA; i++) {
        const struct pw_info *in = pw_call_input(call, i) ? call->in[i] : NULL;
        int rank = i == PAST ? 4 : 3;

        if (in && in->dtype != PW_DTYPE_UNDEFINED && (!pw_dtype_is_float(in->dtype) || pw_dtype_bytes(in->dtype) < 2))
            return pw_call_error(call, err, "'%s' is %s, a float type expected", call->op->inputs[i].name,
                                 pw_dtype_name(in->dtype));
        if (in && in->rank >= 0 && in->rank != rank)
            return pw_call_error(call, err, "'%s' has rank %d, %d expected", call->op->inputs[i].name, in->rank, rank);
    }
    return PW_OK;
}

/* The size of a head from a packed width. */
static pw_status head_size(const struct pw_call *call, int input, int64_t heads, pw_dim *out, struct pw_error *err)
{
    const struct pw_info *in = call->in[input];

    *out = PW_DIM_UNKNOWN;
    if (in->rank != 3)
        return PW_OK;
    if (in->dims[2] >= 0 && in->dims[2] % heads != 0)
        return pw_call_error(call, err, "%lld heads do not divide the %lld elements of '%s'", (long long)heads,
                             (long long)in->dims[2], call->op->inputs[input].name);
    *out = pw_dims_floordiv(call->dims, in->dims[2], heads);
    return PW_OK;
}

static pw_status read_gates(const struct pw_call *call, struct pw_linear_attention *a, struct pw_error *err)
{
    const struct pw_info *decay = a->gated ? call->in[DECAY] : NULL, *beta = a->delta ? call->in[BETA] : NULL;

    if (decay && decay->rank == 3 && decay->dims[2] >= 0) {
        if (decay->dims[2] == a->kv_heads)
            a->decays = 1;
        else if (a->size < 0 || (decay->dims[2] % a->kv_heads == 0 && decay->dims[2] / a->kv_heads == a->size))
            a->decays = decay->dims[2] / a->kv_heads;
        else
            return pw_call_error(call, err, "'decay' has %lld in dimension 2, %lld or %lld times the key size expected",
                                 (long long)decay->dims[2], (long long)a->kv_heads, (long long)a->kv_heads);
    }
    if (beta && beta->rank == 3 && beta->dims[2] >= 0) {
        if (beta->dims[2] != 1 && beta->dims[2] != a->kv_heads)
            return pw_call_error(call, err, "'beta' has %lld in dimension 2, 1 or %lld expected",
                                 (long long)beta->dims[2], (long long)a->kv_heads);
        a->betas = beta->dims[2];
    }
    return PW_OK;
}

pw_status pw_linear_attention_read(const struct pw_call *call, struct pw_linear_attention *a, struct pw_error *err)
{
    pw_dim key_size;
    pw_status status;

    memset(a, 0, sizeof *a);
    a->batch = a->tokens = a->size = a->value_size = PW_DIM_UNKNOWN;
    status = read_rule(call, a, err);
    if (status == PW_OK)
        status = check_types(call, err);
    if (status == PW_OK)
        status = head_size(call, QUERY, a->heads, &a->size, err);
    if (status == PW_OK)
        status = head_size(call, KEY, a->kv_heads, &key_size, err);
    if (status == PW_OK)
        status = head_size(call, VALUE, a->kv_heads, &a->value_size, err);
    if (status != PW_OK)
        return status;
    if (a->size >= 0 && key_size >= 0 && a->size != key_size)
        return pw_call_error(call, err, "a head of the query has %lld elements, of the key %lld", (long long)a->size,
                             (long long)key_size);
    a->size = a->size < 0 && key_size >= 0 ? key_size : a->size;
    for (int i = QUERY; i <= BETA && status == PW_OK; i++) { /* batch and tokens, from whichever input has numbers */
        const struct pw_info *in = pw_call_input(call, i) && call->in[i]->rank >= 0 ? call->in[i] : NULL;

        if (!in)
            continue;
        status = check_dim(call, i, 0, a->batch, err);
        a->batch = a->batch < 0 ? in->dims[0] : a->batch;
        if (i == PAST)
            continue;
        if (status == PW_OK)
            status = check_dim(call, i, 1, a->tokens, err);
        a->tokens = a->tokens < 0 ? in->dims[1] : a->tokens;
    }
    if (status == PW_OK && pw_call_input(call, PAST) && call->in[PAST]->rank == 4) {
        const pw_dim want[] = {a->batch, a->kv_heads, a->size, a->value_size};

        for (int d = 0; d < 4 && status == PW_OK; d++)
            status = check_dim(call, PAST, d, want[d], err);
    }
    if (status == PW_OK)
        status = read_gates(call, a, err);
    a->scale = (double)pw_call_float(call, "scale");
    if (a->scale == 0.0 && a->size > 0)
        a->scale = 1.0 / sqrt((double)a->size);
    return status;
}

pw_status pw_linear_attention_infer(struct pw_call *call, struct pw_error *err)
{
    struct pw_linear_attention a;
    pw_dtype dtype = call->in[QUERY]->dtype;
    pw_status status = pw_linear_attention_read(call, &a, err);

    if (status != PW_OK)
        return status;
    if (a.value_size == PW_DIM_UNKNOWN && pw_call_input(call, PAST) && call->in[PAST]->rank == 4)
        a.value_size = call->in[PAST]->dims[3];
    pw_call_output(call, 0, dtype, 3,
                   (const pw_dim[]){a.batch, a.tokens, pw_dims_mul(call->dims, a.value_size, a.heads)});
    if (call->output_count > 1)
        pw_call_output(call, 1, pw_call_input(call, PAST) ? call->in[PAST]->dtype : dtype, 4,
                       (const pw_dim[]){a.batch, a.kv_heads, a.size, a.value_size});
    return PW_OK;
}

pw_status pw_linear_attention_cost(const struct pw_call *call, struct pw_cost *out, struct pw_error *err)
{
    struct pw_dims *dims = call->dims;
    struct pw_linear_attention a;
    pw_dim each;

    (void)err;
    out->flops = PW_DIM_UNKNOWN;
    if (pw_linear_attention_read(call, &a, NULL) != PW_OK)
        return PW_OK;
    /* Writing 2, reading 2 for each query head, decay 1, what the delta takes 2: for each element of the state. */
    each = a.kv_heads * (2 + (a.gated ? 1 : 0) + (a.delta ? 2 : 0)) + 2 * a.heads;
    each = pw_dims_mul(dims, each, pw_dims_mul(dims, a.size, a.value_size));
    out->flops = pw_dims_mul(dims, each, pw_dims_mul(dims, a.batch, a.tokens));
    return PW_OK;
}

void pw_linear_attention_accuracy(const struct pw_call *call, struct pw_accuracy *out)
{
    struct pw_linear_attention a;

    out->length = 1;
    if (pw_linear_attention_read(call, &a, NULL) == PW_OK && a.size >= 0 && a.tokens >= 0)
        out->length = a.size + a.tokens;
    out->ulp = 6.0; /* exp 3, the scale, the gate, the state's rounding */
    out->amplification = 2.0;
    out->sensitivity = PW_SENSITIVITY_HIGH;
    out->reason = "the state carries every earlier token's error on";
    out->why = "sums over the head size, and over the tokens in the state; exp 3 ULP";
}

/* Keys of length at most 1, gates that shrink: else the delta rules grow without bound, as they would in a model. */
void pw_linear_attention_fill(const struct pw_call *call, int input, struct pw_fill *fill)
{
    struct pw_linear_attention a;
    double bound = 0.125;

    if (pw_linear_attention_read(call, &a, NULL) == PW_OK && a.size > 0)
        bound = 1.0 / sqrt((double)a.size);
    if (input == KEY) {
        fill->low = -bound;
        fill->high = bound;
    } else if (input == DECAY) {
        fill->low = -1.0;
        fill->high = 0.0;
    } else if (input == BETA) {
        fill->low = 0.0;
        fill->high = 1.0;
    }
}

pw_status pw_linear_attention_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_linear_attention a;
    pw_status status = pw_linear_attention_read(call, &a, err);
    const struct {
        const char *name;
        int64_t value;
    } values[] = {{"batch", a.batch},       {"tokens", a.tokens}, {"heads", a.heads},
                  {"kv_heads", a.kv_heads}, {"size", a.size},     {"value_size", a.value_size},
                  {"decays", a.decays},     {"betas", a.betas},   {"wide", call->in[QUERY]->dtype == PW_DTYPE_FLOAT64}};

    for (size_t i = 0; i < PW_COUNT_OF(values) && status == PW_OK; i++)
        status = pw_bind_int(b, values[i].name, values[i].value, err);
    return status == PW_OK ? pw_bind_float(b, "factor", a.scale, err) : status;
}
