/* Faults of what is read: the wrong elements of the right inputs. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "tests/liar/fault.h"

/* The first of the formals (or of the pairs operator, formal) that the call gives; -1. */
static int first_given(const struct pw_call *call, const char *const *names)
{
    for (; *names; names++)
        if (liar_given(call, *names))
            return liar_input_index(call, *names);
    return -1;
}

static int64_t count_of(const struct pw_call *call, int i)
{
    return i < 0 ? 0 : liar_input_count(call, i);
}

static int64_t dim_of(const struct pw_call *call, int i, int d)
{
    int64_t n = 0;

    if (i < 0 || !call->in[i] || call->in[i]->rank < 1)
        return 0;
    d += d < 0 ? call->in[i]->rank : 0;
    if (d < 0 || d >= call->in[i]->rank || !pw_dims_value(call->dims, call->in[i]->dims[d], &n))
        return 0;
    return n;
}

/* ---- places ---- */

pw_status liar_input_tail(struct liar_run *run, struct pw_error *err)
{
    struct pw_tensor *t = &run->values[0].tensor;
    int64_t columns = t->rank > 0 ? t->dims[t->rank - 1] : 1;
    size_t bytes = pw_dtype_bytes(t->dtype);

    (void)err;
    for (int64_t i = 0; columns > 0 && i < t->count; i++)
        if (i % columns >= columns - columns % 8)
            memset((char *)t->data + (size_t)i * bytes, 0, bytes);
    return PW_OK;
}

pw_status liar_input_wrap(struct liar_run *run, struct pw_error *err)
{
    struct pw_tensor *t = &run->values[0].tensor;
    size_t bytes = pw_dtype_bytes(t->dtype);
    char *data = t->data;

    (void)err;
    for (int64_t i = LIAR_LIMIT; i < t->count; i++)
        memcpy(data + (size_t)i * bytes, data + (size_t)(i % LIAR_LIMIT) * bytes, bytes);
    return PW_OK;
}

bool liar_has_batch(const struct pw_call *call)
{
    return count_of(call, 0) > 0 && dim_of(call, 0, 0) > 1 && call->in[0]->rank > 1;
}

pw_status liar_first_batch(struct liar_run *run, struct pw_error *err)
{
    struct pw_tensor *t = &run->values[0].tensor;
    size_t bytes = pw_tensor_bytes(t) / (size_t)t->dims[0];

    (void)err;
    for (int64_t b = 1; b < t->dims[0]; b++)
        memcpy((char *)t->data + (size_t)b * bytes, t->data, bytes);
    return PW_OK;
}

/* ---- operands ---- */

static int bias_of(const struct pw_call *call)
{
    static const struct {
        const char *op, *formal;
    } biases[] = {
        {"Gemm", "C"},
        {"Conv", "B"},
        {"ConvTranspose", "B"},
        {"DeformConv", "B"},
        {"QLinearConv", "B"},
        {"CausalConvWithState", "bias"},
        {"BiasGelu", "B"},
        {"FastGelu", "bias"},
        {"MultiHeadAttention", "bias"},
        {"Attention", "bias"},
        {"DynamicQuantizeMatMul", "bias"},
        {"MatMulNBits", "bias"},
        {"BatchNormalization", "B"},
        {"InstanceNormalization", "B"},
        {"LayerNormalization", "B"},
        {"GroupNormalization", "bias"},
        {"SkipLayerNormalization", "beta"},
        {"SkipSimplifiedLayerNormalization", "bias"},
        {"EmbedLayerNormalization", "beta"},
        {"RNN", "B"},
        {"GRU", "B"},
        {"LSTM", "B"},
    };

    for (size_t i = 0; i < sizeof biases / sizeof *biases; i++)
        if (!strcmp(call->op->name, biases[i].op) && liar_given(call, biases[i].formal))
            return liar_input_index(call, biases[i].formal);
    return -1;
}

bool liar_has_bias(const struct pw_call *call)
{
    return bias_of(call) >= 0;
}

pw_status liar_bias_dropped(struct liar_run *run, struct pw_error *err)
{
    struct pw_tensor *t = &run->values[bias_of(&run->call)].tensor;

    (void)err;
    memset(t->data, 0, pw_tensor_bytes(t));
    return PW_OK;
}

static int weights_of(const struct pw_call *call)
{
    static const char *const with_b[] = {
        "MatMul", "Gemm", "FusedMatMul", "TransposeMatMul", "MatMulInteger", "DynamicQuantizeMatMul", NULL};
    static const char *const names[] = {"W", "w", "weights", "b", NULL};
    static const char *const with_names[] = {"Conv",        "ConvTranspose", "DeformConv", "ConvInteger",
                                             "QLinearConv", "RNN",           "GRU",        "LSTM",
                                             "Attention",   "QLinearMatMul", NULL};

    if (liar_is(call, with_b))
        return liar_input_index(call, "B");
    if (!strcmp(call->op->name, "Einsum"))
        return call->input_count > 1 ? 1 : -1;
    return liar_is(call, with_names) ? first_given(call, names) : -1;
}

bool liar_has_layout(const struct pw_call *call)
{
    int w = weights_of(call);

    return w >= 0 && call->in[w] && call->in[w]->rank >= 2 && dim_of(call, w, 0) > 1 && dim_of(call, w, -1) > 1;
}

/* The weights' memory taken as if the other of the two dims came first (convolutions: the output channel last). */
pw_status liar_operand_layout(struct liar_run *run, struct pw_error *err)
{
    static const char *const by_channel[] = {"Conv", "ConvTranspose", "DeformConv", "ConvInteger", "QLinearConv", NULL};
    struct pw_tensor *t = &run->values[weights_of(&run->call)].tensor, copy = {0};
    bool channel = liar_is(&run->call, by_channel);
    int64_t k = channel ? t->dims[0] : t->dims[t->rank - 2], n = channel ? t->count / k : t->dims[t->rank - 1];
    size_t bytes = pw_dtype_bytes(t->dtype);
    pw_status status = pw_tensor_copy(&copy, t, err);

    for (int64_t i = 0; status == PW_OK && i < t->count; i++) {
        int64_t base = i / (k * n) * k * n, at = i - base;

        memcpy((char *)t->data + (size_t)i * bytes,
               (const char *)copy.data + (size_t)(base + at % n * k + at / n) * bytes, bytes);
    }
    pw_tensor_clear(&copy);
    return status;
}

/* An operand of one line that fits two axes of the output: [n] against [..., n, n]. */
static int broadcast_operand(const struct pw_call *call)
{
    const struct pw_info *out = &call->out[0];

    for (int i = 0; i < call->input_count; i++)
        if (call->in[i] && call->in[i]->rank == 1 && out->rank >= 2 && dim_of(call, i, 0) > 1 &&
            out->dims[out->rank - 1] == call->in[i]->dims[0] && out->dims[out->rank - 2] == call->in[i]->dims[0])
            return i;
    return -1;
}

bool liar_has_broadcast(const struct pw_call *call)
{
    return call->op->category == PW_CATEGORY_ELEMENTWISE && call->input_count > 1 && broadcast_operand(call) >= 0;
}

pw_status liar_broadcast_axis(struct liar_run *run, struct pw_error *err)
{
    int i = broadcast_operand(&run->call);

    (void)err;
    if (i < 0)
        return PW_OK;
    run->values[i].tensor.rank = 2;
    run->values[i].tensor.dims[1] = 1;
    return PW_OK;
}

pw_status liar_operands_swapped(struct liar_run *run, struct pw_error *err)
{
    int first = !strcmp(run->call.op->name, "Where") ? 1 : 0;
    const struct pw_value *kept = run->in[first];

    (void)err;
    run->in[first] = run->in[first + 1];
    run->in[first + 1] = kept;
    return PW_OK;
}

/* ---- indices ---- */

static int index_of(const struct pw_call *call)
{
    static const char *const names[] = {"indices", "target",        "labels",        "input_ids", "position_ids",
                                        "I",       "batch_indices", "write_indices", NULL};

    return first_given(call, names);
}

bool liar_has_index(const struct pw_call *call)
{
    return count_of(call, index_of(call)) > 0;
}

pw_status liar_negative_index(struct liar_run *run, struct pw_error *err)
{
    struct pw_tensor *t = &run->values[index_of(&run->call)].tensor;

    (void)err;
    for (int64_t i = 0; i < t->count; i++)
        if (pw_tensor_get_int(t, i) < 0)
            pw_tensor_set_int(t, i, 0);
    return PW_OK;
}

/* The last index points one too low (the lowest: one too high). */
pw_status liar_index_off(struct liar_run *run, struct pw_error *err)
{
    struct pw_tensor *t = &run->values[index_of(&run->call)].tensor;
    int64_t last = t->count - 1, x;

    (void)err;
    if (last < 0)
        return PW_OK;
    x = pw_tensor_get_int(t, last);
    pw_tensor_set_int(t, last, x == 0 ? 1 : x == -1 ? -2 : x > 0 ? x - 1 : x + 1);
    return PW_OK;
}

pw_status liar_group_off(struct liar_run *run, struct pw_error *err)
{
    struct pw_tensor *t = &run->values[0].tensor, copy = {0};
    int64_t group = pw_call_int(&run->call, "group"), channels = t->dims[1], part = channels / group;
    size_t plane = pw_tensor_bytes(t) / (size_t)(t->dims[0] * channels);
    pw_status status = pw_tensor_copy(&copy, t, err);

    for (int64_t i = 0; status == PW_OK && i < t->dims[0] * channels; i++) {
        int64_t batch = i / channels, c = (i % channels + part) % channels;

        memcpy((char *)t->data + (size_t)i * plane, (const char *)copy.data + (size_t)(batch * channels + c) * plane,
               plane);
    }
    pw_tensor_clear(&copy);
    return status;
}

/* ---- quantization ---- */

static int scales_of(const struct pw_call *call)
{
    static const char *const names[] = {"x_scale", "y_scale", "w_scale", "b_scale", "scales",
                                        "scale",   "Scale",   "gamma",   NULL};

    for (const char *const *name = names; *name; name++)
        if (liar_given(call, *name) && count_of(call, liar_input_index(call, *name)) > 1)
            return liar_input_index(call, *name);
    return -1;
}

bool liar_has_scales(const struct pw_call *call)
{
    return scales_of(call) >= 0;
}

pw_status liar_scale_first(struct liar_run *run, struct pw_error *err)
{
    struct pw_tensor *t = &run->values[scales_of(&run->call)].tensor;
    size_t bytes = pw_dtype_bytes(t->dtype);

    (void)err;
    for (int64_t i = 1; i < t->count; i++)
        memcpy((char *)t->data + (size_t)i * bytes, t->data, bytes);
    return PW_OK;
}

static int zero_point_of(const struct pw_call *call)
{
    static const char *const names[] = {
        "x_zero_point", "y_zero_point", "a_zero_point", "w_zero_point", "b_zero_point", "zero_points", NULL};
    int i = first_given(call, names);

    return i >= 0 && pw_dtype_is_integer(call->in[i]->dtype) ? i : -1;
}

bool liar_has_zero_point(const struct pw_call *call)
{
    return zero_point_of(call) >= 0;
}

pw_status liar_zero_point_off(struct liar_run *run, struct pw_error *err)
{
    struct pw_tensor *t = &run->values[zero_point_of(&run->call)].tensor;

    (void)err;
    for (int64_t i = 0; i < t->count; i++) {
        int64_t x = pw_tensor_get_int(t, i);

        pw_tensor_set_int(t, i, (double)x < pw_dtype_facts(t->dtype)->max ? x + 1 : x - 1);
    }
    return PW_OK;
}

pw_status liar_zero_point_ignored(struct liar_run *run, struct pw_error *err)
{
    struct pw_tensor *t = &run->values[zero_point_of(&run->call)].tensor;

    (void)err;
    memset(t->data, 0, pw_tensor_bytes(t));
    return PW_OK;
}

static bool four_bits(pw_dtype dtype)
{
    return dtype == PW_DTYPE_UINT4 || dtype == PW_DTYPE_INT4 || dtype == PW_DTYPE_FLOAT4E2M1;
}

bool liar_has_nibbles(const struct pw_call *call)
{
    if (!strcmp(call->op->name, "MatMulNBits"))
        return true;
    return count_of(call, 0) > 1 && four_bits(call->in[0]->dtype);
}

pw_status liar_nibbles(struct liar_run *run, struct pw_error *err)
{
    bool packed = !strcmp(run->call.op->name, "MatMulNBits");
    struct pw_tensor *t = &run->values[packed ? 1 : 0].tensor;
    uint8_t *bytes = t->data;

    (void)err;
    for (int64_t i = 0; packed && i < t->count; i++)
        bytes[i] = (uint8_t)(bytes[i] << 4 | bytes[i] >> 4);
    for (int64_t i = 0; !packed && i + 1 < t->count; i += 2) {
        uint8_t kept = bytes[i];

        bytes[i] = bytes[i + 1];
        bytes[i + 1] = kept;
    }
    return PW_OK;
}

/* ---- masks, lengths, states ---- */

static int mask_of(const struct pw_call *call)
{
    static const char *const names[] = {"attn_mask", "key_padding_mask", "mask_index", "attention_bias",
                                        "mask",      "condition",        NULL};
    int i = first_given(call, names);

    return i >= 0 && dim_of(call, i, -1) > 1 ? i : -1;
}

bool liar_has_mask(const struct pw_call *call)
{
    return mask_of(call) >= 0 || !strcmp(call->op->name, "Trilu");
}

/* The mask one place to the right (Trilu: its diagonal one up). */
pw_status liar_mask_off(struct liar_run *run, struct pw_error *err)
{
    int i = mask_of(&run->call);
    struct pw_tensor *t, copy = {0};
    size_t bytes;
    pw_status status;

    if (i < 0) { /* Trilu */
        if (run->in[1])
            pw_tensor_set_int(&run->values[1].tensor, 0, pw_tensor_get_int(&run->values[1].tensor, 0) + 1);
        return PW_OK;
    }
    t = &run->values[i].tensor;
    bytes = pw_dtype_bytes(t->dtype);
    status = pw_tensor_copy(&copy, t, err);
    for (int64_t at = 1; status == PW_OK && at < t->count; at++)
        memcpy((char *)t->data + (size_t)at * bytes, (const char *)copy.data + (size_t)(at - 1) * bytes, bytes);
    pw_tensor_clear(&copy);
    return status;
}

bool liar_has_lengths(const struct pw_call *call)
{
    static const char *const names[] = {"sequence_lens", "nonpad_kv_seqlen", NULL};

    return first_given(call, names) >= 0;
}

pw_status liar_lengths_ignored(struct liar_run *run, struct pw_error *err)
{
    static const char *const names[] = {"sequence_lens", "nonpad_kv_seqlen", NULL};
    int i = first_given(&run->call, names);
    struct pw_tensor *t = &run->values[i].tensor;
    bool keys = !strcmp(run->call.op->name, "Attention");
    int64_t full = keys ? dim_of(&run->call, 1, -2) : dim_of(&run->call, 0, 0);

    (void)err;
    if (!strcmp(run->call.op->name, "ReverseSequence"))
        full = dim_of(&run->call, 0, (int)pw_call_int(&run->call, "time_axis"));
    for (int64_t k = 0; k < t->count; k++)
        pw_tensor_set_int(t, k, full);
    return PW_OK;
}

static int state_of(const struct pw_call *call)
{
    static const char *const names[] = {"initial_h", "past_key", "past_state", "past", NULL};

    return first_given(call, names);
}

bool liar_has_state(const struct pw_call *call)
{
    return state_of(call) >= 0;
}

pw_status liar_state_dropped(struct liar_run *run, struct pw_error *err)
{
    struct pw_tensor *t = &run->values[state_of(&run->call)].tensor;

    (void)err;
    memset(t->data, 0, pw_tensor_bytes(t));
    return PW_OK;
}
