/*
 * com.microsoft GroupQueryAttention: every sample has its own length (seqlens_k + 1); new keys go behind its
 * past ones, which stay in a buffer that may be longer than what is in use.
 */
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "ops/attention/attention_room.h"

enum {
    QUERY,
    KEY,
    VALUE,
    PAST_KEY,
    PAST_VALUE,
    LENGTHS,
    TOTAL,
    COSINES,
    SINES,
    POSITIONS,
    SCORE_BIAS,
    SINK,
    K_SCALE,
    V_SCALE,
    Q_NORM,
    K_NORM
};

static struct pw_attention_layout cache(int64_t heads, int64_t rows, int64_t size)
{
    return (struct pw_attention_layout){0, heads * rows * size, rows * size, size};
}

static pw_status refuse(const struct pw_call *call, struct pw_error *err)
{
    bool quantized = pw_call_input(call, PAST_KEY) && call->in[PAST_KEY]->dtype != call->in[QUERY]->dtype &&
                     call->in[PAST_KEY]->dtype != PW_DTYPE_UNDEFINED;

    if (quantized || pw_call_input(call, K_SCALE) || pw_call_input(call, V_SCALE))
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "quantized caches: how new rows are rounded is not published");
    return PW_OK;
}

static pw_status operands(const struct pw_call *call, struct pw_attention *a, struct pw_error *err)
{
    const struct pw_info *q = call->in[QUERY];
    int64_t width;

    a->heads = pw_call_int(call, "num_heads");
    a->kv_heads = pw_call_int(call, "kv_num_heads");
    if (pw_attention_heads(call, a, err) != PW_OK)
        return PW_ERR_MODEL;
    if (q->rank != 3)
        return pw_call_error(call, err, "query has rank %d, 3 expected", q->rank);
    a->batch = q->dims[0];
    a->queries = q->dims[1];
    width = q->dims[2];
    if (!pw_call_input(call, KEY)) { /* [heads + 2 * kv_heads] * size packed */
        if (width % (a->heads + 2 * a->kv_heads) != 0)
            return pw_call_error(call, err, "%lld heads do not divide the packed width %lld",
                                 (long long)(a->heads + 2 * a->kv_heads), (long long)width);
        a->size = a->value_size = width / (a->heads + 2 * a->kv_heads);
        a->k_input = a->v_input = QUERY;
        a->q = (struct pw_attention_layout){0, a->queries * width, a->size, width};
        a->k = a->v = a->q;
        a->k.offset = a->heads * a->size;
        a->v.offset = (a->heads + a->kv_heads) * a->size;
        return PW_OK;
    }
    if (width % a->heads != 0 || !pw_call_input(call, VALUE))
        return pw_call_error(call, err, "%lld heads do not divide %lld, or value is missing", (long long)a->heads,
                             (long long)width);
    a->size = a->value_size = width / a->heads;
    for (int i = KEY; i <= VALUE; i++) {
        const struct pw_info *x = call->in[i];

        if (x->rank != 3 || x->dims[0] != a->batch || x->dims[1] != a->queries || x->dims[2] != a->kv_heads * a->size)
            return pw_call_error(call, err, "'%s' is not of shape [%lld, %lld, %lld]", call->op->inputs[i].name,
                                 (long long)a->batch, (long long)a->queries, (long long)(a->kv_heads * a->size));
    }
    a->q = (struct pw_attention_layout){0, a->queries * width, a->size, width};
    a->k = a->v = (struct pw_attention_layout){0, a->queries * a->kv_heads * a->size, a->size, a->kv_heads * a->size};
    return PW_OK;
}

/* A cache that holds the last positions only: its rows are counted from the first that is kept. */
static pw_status read_window(const struct pw_call *call, struct pw_attention *a, struct pw_error *err)
{
    int64_t window = pw_call_int(call, "local_window_size");

    if (a->past_k_input < 0 || window < 1 || a->past < window)
        return pw_call_error(call, err, "a window-sized cache of %lld rows for a window of %lld", (long long)a->past,
                             (long long)window);
    if (pw_call_input(call, SCORE_BIAS) || (call->output_count > 3 && call->wanted[3]))
        return pw_error_set(err, PW_ERR_UNSUPPORTED,
                            "a bias or an output of scores over a window-sized cache has no published meaning");
    a->capacity = a->present = a->past;
    if (a->keys > a->past + a->queries)
        a->keys = a->past + a->queries;
    return PW_OK;
}

static pw_status read_cache(const struct pw_call *call, struct pw_attention *a, struct pw_error *err)
{
    const int64_t *total = NULL;
    size_t count = 0;
    bool known = false;
    pw_status status = pw_call_content(call, TOTAL, &total, &count, &known, err);

    if (status != PW_OK)
        return status;
    if (!known)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "total_sequence_length is not known");
    if (count != 1 || total[0] < 0 || total[0] > INT32_MAX)
        return pw_call_error(call, err, "total_sequence_length is not one length");
    if (call->in[LENGTHS]->rank != 1 || call->in[LENGTHS]->dims[0] != a->batch)
        return pw_call_error(call, err, "seqlens_k is not of shape [%lld]", (long long)a->batch);
    a->keys = a->present = a->total = total[0];
    a->lengths_input = LENGTHS;
    a->lengths_add = 1;
    a->offset_by_length = total[0] != a->queries; /* equal: the first prompt, from position 0 */
    a->start_by_length = a->offset_by_length;
    a->fresh = a->queries;
    if (pw_call_input(call, PAST_KEY) != pw_call_input(call, PAST_VALUE))
        return pw_call_error(call, err, "past_key and past_value come together or not at all");
    for (int i = PAST_KEY; i <= PAST_VALUE && pw_call_input(call, PAST_KEY); i++) {
        const struct pw_info *p = call->in[i];

        if (p->rank != 4 || p->dims[0] != a->batch || p->dims[1] != a->kv_heads || p->dims[3] != a->size ||
            p->dims[2] != call->in[PAST_KEY]->dims[2])
            return pw_call_error(call, err, "'%s' does not fit [%lld, %lld, past, %lld]", call->op->inputs[i].name,
                                 (long long)a->batch, (long long)a->kv_heads, (long long)a->size);
    }
    if (pw_call_input(call, PAST_KEY)) {
        a->past = a->buffer = call->in[PAST_KEY]->dims[2];
        a->past_k_input = PAST_KEY;
        a->past_v_input = PAST_VALUE;
        a->past_k = a->past_v = cache(a->kv_heads, a->past, a->size);
        a->present = a->past > a->keys ? a->past : a->keys;
    }
    if (pw_call_int(call, "sliding_window_cache") != 0) {
        status = read_window(call, a, err);
        if (status != PW_OK)
            return status;
    }
    a->present_k = a->present_v = cache(a->kv_heads, a->present, a->size);
    a->present_k_out = 1;
    a->present_v_out = 2;
    return PW_OK;
}

static pw_status check_rotary(const struct pw_call *call, const struct pw_attention *a, struct pw_error *err)
{
    const struct pw_info *cosines, *sines;

    if (pw_call_int(call, "do_rotary") == 0)
        return PW_OK;
    if (!pw_call_input(call, COSINES) || !pw_call_input(call, SINES))
        return pw_call_error(call, err, "do_rotary without cos_cache and sin_cache");
    cosines = call->in[COSINES];
    sines = call->in[SINES];
    if (cosines->rank != 2 || sines->rank != 2 || cosines->dims[1] != sines->dims[1] ||
        cosines->dims[0] != sines->dims[0] || 2 * cosines->dims[1] > a->size || cosines->dims[0] < 1)
        return pw_call_error(call, err, "cos_cache and sin_cache do not fit a head of %lld", (long long)a->size);
    if (pw_call_input(call, POSITIONS) && (call->in[POSITIONS]->rank != 2 || call->in[POSITIONS]->dims[0] != a->batch ||
                                           call->in[POSITIONS]->dims[1] != a->queries))
        return pw_call_error(call, err, "position_ids is not of shape [%lld, %lld]", (long long)a->batch,
                             (long long)a->queries);
    return PW_OK;
}

pw_status pw_attention_read_group_query(const struct pw_call *call, struct pw_attention *a, struct pw_error *err)
{
    int64_t window = pw_call_int(call, "local_window_size");
    pw_status status;

    pw_attention_defaults(a);
    if (!pw_attention_known(call))
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "the shapes are not known");
    status = refuse(call, err);
    if (status == PW_OK)
        status = operands(call, a, err);
    if (status == PW_OK)
        status = read_cache(call, a, err);
    if (status == PW_OK)
        status = check_rotary(call, a, err);
    if (status == PW_OK && pw_call_input(call, SCORE_BIAS)) {
        a->bias_input = SCORE_BIAS;
        status = pw_attention_broadcast(call, SCORE_BIAS, a, &a->bias, err);
    }
    if (status != PW_OK)
        return status;
    if (pw_call_input(call, SINK)) {
        if (call->in[SINK]->rank != 1 || call->in[SINK]->dims[0] != a->heads)
            return pw_call_error(call, err, "head_sink is not of shape [%lld]", (long long)a->heads);
        a->sink_input = SINK;
    }
    if (pw_call_input(call, Q_NORM) != pw_call_input(call, K_NORM))
        return pw_call_error(call, err, "q_norm_weight and k_norm_weight come together or not at all");
    for (int i = Q_NORM; i <= K_NORM && pw_call_input(call, Q_NORM); i++) {
        if (call->in[i]->rank != 1 || call->in[i]->dims[0] != a->size)
            return pw_call_error(call, err, "'%s' is not of shape [%lld]", call->op->inputs[i].name,
                                 (long long)a->size);
    }
    if (pw_call_input(call, Q_NORM)) {
        a->q_norm_input = Q_NORM;
        a->k_norm_input = K_NORM;
        a->norm_epsilon = (double)pw_call_float(call, "qk_norm_epsilon");
    }
    if (pw_call_int(call, "do_rotary") != 0) {
        a->cos_input = COSINES;
        a->sin_input = SINES;
        a->positions_input = pw_call_input(call, POSITIONS) ? POSITIONS : -1;
        a->interleaved = pw_call_int(call, "rotary_interleaved") != 0;
    }
    a->smooth = pw_call_int(call, "smooth_softmax") == 1;
    a->scale = pw_call_has(call, "scale") && pw_call_float(call, "scale") != 0.0f
                   ? (double)pw_call_float(call, "scale")
                   : 1.0 / sqrt(a->size > 0 ? (double)a->size : 1.0);
    a->softcap = (double)pw_call_float(call, "softcap");
    a->causal = pw_call_int(call, "causal") != 0;
    a->left = window > 0 ? window - 1 : -1; /* the window counts the current position */
    a->scores_out = 3;
    a->scores_stage = pw_call_int(call, "qk_output") == 2 ? 3 : 2;
    a->y = (struct pw_attention_layout){0, a->queries * a->heads * a->size, a->size, a->heads * a->size};
    return PW_OK;
}

pw_status pw_attention_group_query_infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *q = call->in[QUERY];
    struct pw_attention a;
    struct pw_error why = {0};
    pw_status status = pw_attention_known(call) ? pw_attention_read_group_query(call, &a, &why) : PW_ERR_UNSUPPORTED;
    pw_dim dims[3];

    if (pw_attention_check_types(call, err) != PW_OK)
        return PW_ERR_MODEL;
    if (status != PW_OK && status != PW_ERR_UNSUPPORTED)
        return pw_error_set(err, status, "%s", why.message);
    for (int i = 0; i < call->output_count; i++)
        pw_call_output_unknown(call, i,
                               i == 1 || i == 2 ? pw_call_input(call, PAST_KEY) ? call->in[PAST_KEY]->dtype : q->dtype
                                                : q->dtype);
    if (q->rank == 3 && pw_call_input(call, KEY)) {
        pw_call_output_like(call, 0, QUERY);
    } else if (q->rank == 3) {
        int64_t heads = pw_call_int(call, "num_heads"), all = heads + 2 * pw_call_int(call, "kv_num_heads");

        memcpy(dims, q->dims, sizeof dims);
        if (heads < 1 || all < 1 || heads > INT32_MAX || all > INT32_MAX)
            return pw_call_error(call, err, "num_heads is %lld", (long long)heads);
        dims[2] = pw_dims_mul(call->dims, pw_dims_floordiv(call->dims, q->dims[2], pw_dims_int(call->dims, all)),
                              pw_dims_int(call->dims, heads));
        pw_call_output(call, 0, q->dtype, 3, dims);
    }
    if (status == PW_OK) {
        const pw_dim present[] = {a.batch, a.kv_heads, a.present, a.size};
        const pw_dim scores[] = {a.batch, a.heads, a.queries, a.keys};

        for (int i = 1; i < call->output_count; i++)
            pw_call_output(call, i, q->dtype, 4, i == 3 ? scores : present);
    }
    return PW_OK;
}
