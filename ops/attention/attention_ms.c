/* com.microsoft: MultiHeadAttention, and Attention with its projection. */
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "ops/attention/attention_room.h"

static struct pw_attention_layout cache(int64_t offset, int64_t heads, int64_t rows, int64_t size)
{
    return (struct pw_attention_layout){offset, heads * rows * size, rows * size, size};
}

static double scale_of(const struct pw_call *call, int64_t size)
{
    double scale = pw_call_has(call, "scale") ? (double)pw_call_float(call, "scale") : 0.0;

    return scale != 0.0 ? scale : 1.0 / sqrt(size > 0 ? (double)size : 1.0);
}

/* mask input: [batch] ends, [2 * batch] ends and starts, [3 * batch + 2] with the ends first, [batch, keys],
 * [batch, queries, keys], or [batch, 1, most, most] of which row past + query counts. */
static pw_status read_padding(const struct pw_call *call, int input, struct pw_attention *a, struct pw_error *err)
{
    const struct pw_info *m = pw_call_input(call, input) ? call->in[input] : NULL;

    if (!m)
        return PW_OK;
    a->mask_input = input;
    a->filter = (double)pw_call_float(call, "mask_filter_value");
    a->mask.keys = a->keys;
    if (m->rank == 1 && (m->dims[0] == a->batch || m->dims[0] == 2 * a->batch || m->dims[0] == 3 * a->batch + 2)) {
        a->mask_is_ends = true;
        a->mask_starts = m->dims[0] == 2 * a->batch;
        return PW_OK;
    }
    if (m->rank == 2 && m->dims[0] == a->batch && m->dims[1] == a->keys) {
        a->mask.batch = a->keys;
        a->mask.key = 1;
        return PW_OK;
    }
    if (m->rank == 3 && m->dims[0] == a->batch && m->dims[1] == a->queries && m->dims[2] == a->keys) {
        a->mask.batch = a->queries * a->keys;
        a->mask.query = a->keys;
        a->mask.key = 1;
        return PW_OK;
    }
    if (m->rank == 4 && m->dims[0] == a->batch && m->dims[1] == 1 && m->dims[2] == m->dims[3] && a->past == 0 &&
        m->dims[3] >= a->keys && m->dims[3] >= a->queries) {
        a->mask.batch = m->dims[2] * m->dims[3];
        a->mask.query = m->dims[3];
        a->mask.key = 1;
        return PW_OK;
    }
    return pw_call_error(call, err, "the shape of '%s' is none of those of a mask for %lld queries and %lld keys",
                         call->op->inputs[input].name, (long long)a->queries, (long long)a->keys);
}

static pw_status read_bias(const struct pw_call *call, int input, struct pw_attention *a, struct pw_error *err)
{
    if (!pw_call_input(call, input))
        return PW_OK;
    a->bias_input = input;
    return pw_attention_broadcast(call, input, a, &a->bias, err);
}

/* The past among the keys. With a length given it is the beginning of a buffer that is longer, and that the present
 * shares: what comes behind the new rows stays. */
static pw_status place_past(const struct pw_call *call, int length_input, int64_t rows, struct pw_attention *a,
                            struct pw_error *err)
{
    const int64_t *length = NULL;
    size_t count = 0;
    bool known = false;
    pw_status status = PW_OK;

    a->past = a->buffer = rows;
    if (pw_call_input(call, length_input)) {
        status = pw_call_content(call, length_input, &length, &count, &known, err);
        if (status == PW_OK && !known)
            return pw_error_set(err, PW_ERR_UNSUPPORTED, "past_sequence_length is not known");
        if (status == PW_OK && (count != 1 || length[0] < 0 || length[0] > rows - a->keys))
            status = pw_call_error(call, err, "past_sequence_length %lld and %lld new rows in a buffer of %lld",
                                   (long long)(count == 1 ? length[0] : -1), (long long)a->keys, (long long)rows);
        if (status == PW_OK) {
            a->past = length[0];
            a->shares = true;
        }
    }
    a->offset = a->past;
    a->keys += a->past;
    return status;
}

/* ---- MultiHeadAttention ---- */

enum { QUERY, KEY, VALUE, BIAS, PADDING, ATTENTION_BIAS, PAST_KEY, PAST_VALUE, PAST_LENGTH, INDIRECTION };

/* query [batch, rows, heads, 3, size] */
static void packed_qkv(const struct pw_info *q, struct pw_attention *a)
{
    int64_t rows = q->dims[1], size = q->dims[4], head = 3 * size, row = a->heads * head;

    a->batch = q->dims[0];
    a->queries = a->keys = rows;
    a->size = a->value_size = size;
    a->k_input = a->v_input = QUERY;
    a->q = (struct pw_attention_layout){0, rows * row, head, row};
    a->k = (struct pw_attention_layout){size, rows * row, head, row};
    a->v = (struct pw_attention_layout){2 * size, rows * row, head, row};
}

static pw_status separate_key_value(const struct pw_call *call, struct pw_attention *a, struct pw_error *err)
{
    const struct pw_info *k = call->in[KEY], *v = pw_call_input(call, VALUE) ? call->in[VALUE] : NULL;
    int64_t n = a->heads;

    if (k->rank == 5 && k->dims[2] == n && k->dims[3] == 2 && k->dims[4] == a->size) { /* packed [.., 2, size] */
        int64_t row = n * 2 * a->size;

        a->keys = k->dims[1];
        a->value_size = a->size;
        a->v_input = KEY;
        a->k = (struct pw_attention_layout){0, a->keys * row, 2 * a->size, row};
        a->v = (struct pw_attention_layout){a->size, a->keys * row, 2 * a->size, row};
        return PW_OK;
    }
    if (!v || k->rank != v->rank)
        return pw_call_error(call, err, "key and value have different forms");
    if (v->dims[0] != k->dims[0])
        return pw_call_error(call, err, "value has another batch than key");
    if (k->rank == 4 && k->dims[1] == n && v->dims[1] == n && v->dims[2] == k->dims[2]) { /* already by head */
        a->keys = k->dims[2];
        a->value_size = v->dims[3];
        a->k = cache(0, n, a->keys, a->size);
        a->v = cache(0, n, a->keys, a->value_size);
        a->bias_k = a->bias_v = -1; /* they came through a projection with its bias */
        return PW_OK;
    }
    if (k->rank != 3 || k->dims[2] != n * a->size || v->dims[2] % n != 0 || v->dims[1] != k->dims[1])
        return pw_call_error(call, err, "key and value do not fit %lld heads of %lld", (long long)n,
                             (long long)a->size);
    a->keys = k->dims[1];
    a->value_size = v->dims[2] / n;
    a->k = (struct pw_attention_layout){0, a->keys * k->dims[2], a->size, k->dims[2]};
    a->v = (struct pw_attention_layout){0, a->keys * v->dims[2], a->value_size, v->dims[2]};
    return PW_OK;
}

/* [batch / beams, beams, rows]: the beam that each past row of a beam came from. */
static pw_status read_beams(const struct pw_call *call, struct pw_attention *a, struct pw_error *err)
{
    const struct pw_info *t = call->in[INDIRECTION];

    if (t->rank != 3 || t->dims[0] * t->dims[1] != a->batch || t->dims[1] < 1 || t->dims[2] < a->past)
        return pw_call_error(call, err, "cache_indirection does not fit %lld samples and %lld past rows",
                             (long long)a->batch, (long long)a->past);
    if (t->dtype != PW_DTYPE_INT32)
        return pw_call_error(call, err, "cache_indirection is %s, int32 expected", pw_dtype_name(t->dtype));
    a->indirection_input = INDIRECTION;
    a->beams = t->dims[1];
    return PW_OK;
}

static pw_status multi_head_past(const struct pw_call *call, struct pw_attention *a, struct pw_error *err)
{
    const int64_t sizes[] = {a->size, a->value_size};
    pw_status status;

    if (pw_call_input(call, PAST_KEY) != pw_call_input(call, PAST_VALUE))
        return pw_call_error(call, err, "past_key and past_value come together or not at all");
    if (!pw_call_input(call, PAST_KEY))
        return PW_OK;
    for (int i = 0; i < 2; i++) {
        const struct pw_info *p = call->in[PAST_KEY + i];

        if (p->rank != 4 || p->dims[0] != a->batch || p->dims[1] != a->heads || p->dims[3] != sizes[i] ||
            p->dims[2] != call->in[PAST_KEY]->dims[2])
            return pw_call_error(call, err, "'%s' does not fit [%lld, %lld, past, %lld]",
                                 call->op->inputs[PAST_KEY + i].name, (long long)a->batch, (long long)a->heads,
                                 (long long)sizes[i]);
    }
    a->past_k_input = PAST_KEY;
    a->past_v_input = PAST_VALUE;
    status = place_past(call, PAST_LENGTH, call->in[PAST_KEY]->dims[2], a, err);
    if (status != PW_OK)
        return status;
    a->past_k = cache(0, a->heads, a->buffer, a->size);
    a->past_v = cache(0, a->heads, a->buffer, a->value_size);
    return pw_call_input(call, INDIRECTION) ? read_beams(call, a, err) : PW_OK;
}

static pw_status multi_head_operands(const struct pw_call *call, struct pw_attention *a, struct pw_error *err)
{
    const struct pw_info *q = call->in[QUERY];

    a->heads = a->kv_heads = pw_call_int(call, "num_heads");
    if (a->heads < 1)
        return pw_call_error(call, err, "num_heads is %lld", (long long)a->heads);
    if (q->rank == 5 && q->dims[2] == a->heads && q->dims[3] == 3 && !pw_call_input(call, KEY)) {
        packed_qkv(q, a);
    } else {
        if (q->rank != 3 || q->dims[2] % a->heads != 0 || !pw_call_input(call, KEY))
            return pw_call_error(call, err, "query has rank %d, or %lld heads do not divide it, or key is missing",
                                 q->rank, (long long)a->heads);
        a->batch = q->dims[0];
        a->queries = q->dims[1];
        a->size = q->dims[2] / a->heads;
        a->q = (struct pw_attention_layout){0, a->queries * q->dims[2], a->size, q->dims[2]};
        if (call->in[KEY]->rank < 1 || call->in[KEY]->dims[0] != a->batch)
            return pw_call_error(call, err, "key has another batch than query");
        return separate_key_value(call, a, err);
    }
    return PW_OK;
}

pw_status pw_attention_read_multi_head(const struct pw_call *call, struct pw_attention *a, struct pw_error *err)
{
    pw_status status;
    int64_t hidden;

    pw_attention_defaults(a);
    if (!pw_attention_known(call))
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "the shapes are not known");
    status = multi_head_operands(call, a, err);
    if (status == PW_OK)
        status = multi_head_past(call, a, err);
    if (status == PW_OK)
        status = read_padding(call, PADDING, a, err);
    if (status == PW_OK)
        status = read_bias(call, ATTENTION_BIAS, a, err);
    if (status != PW_OK)
        return status;
    hidden = a->heads * a->size;
    if (pw_call_input(call, BIAS)) {
        if (call->in[BIAS]->rank != 1 || call->in[BIAS]->dims[0] != 2 * hidden + a->heads * a->value_size)
            return pw_call_error(call, err, "bias has %lld elements, %lld expected",
                                 (long long)(call->in[BIAS]->rank == 1 ? call->in[BIAS]->dims[0] : -1),
                                 (long long)(2 * hidden + a->heads * a->value_size));
        a->projection_bias = BIAS;
        a->bias_k = a->bias_k < 0 ? -1 : hidden;
        a->bias_v = a->bias_v < 0 ? -1 : 2 * hidden;
    }
    a->scale = scale_of(call, a->size);
    a->causal = pw_call_int(call, "unidirectional") != 0;
    a->start = a->past;
    a->fresh = a->keys - a->past;
    a->present = a->shares ? a->buffer : a->keys;
    a->present_k = cache(0, a->heads, a->present, a->size);
    a->present_v = cache(0, a->heads, a->present, a->value_size);
    a->present_k_out = 1;
    a->present_v_out = 2;
    a->scores_out = 3;
    a->y =
        (struct pw_attention_layout){0, a->queries * a->heads * a->value_size, a->value_size, a->heads * a->value_size};
    return PW_OK;
}

/* Outputs of a problem with numbers for shapes. */
static void describe(struct pw_call *call, const struct pw_attention *a, pw_dtype dtype)
{
    const pw_dim y[] = {a->batch, a->queries, a->heads * a->value_size};
    const pw_dim k[] = {a->batch, a->kv_heads, a->present, a->size};
    const pw_dim v[] = {a->batch, a->kv_heads, a->present, a->value_size};
    const pw_dim scores[] = {a->batch, a->heads, a->queries, a->keys};

    pw_call_output(call, 0, dtype, 3, y);
    if (call->output_count > 1)
        pw_call_output(call, 1, dtype, 4, k);
    if (call->output_count > 2)
        pw_call_output(call, 2, dtype, 4, v);
    if (call->output_count > 3)
        pw_call_output(call, 3, dtype, 4, scores);
}

pw_status pw_attention_multi_head_infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *q = call->in[QUERY], *v = pw_call_input(call, VALUE) ? call->in[VALUE] : NULL;
    struct pw_attention a;
    pw_dim dims[3];

    if (pw_attention_check_types(call, err) != PW_OK)
        return PW_ERR_MODEL;
    if (pw_attention_known(call)) {
        pw_status status = pw_attention_read_multi_head(call, &a, err);

        if (status == PW_OK)
            describe(call, &a, q->dtype);
        return status;
    }
    for (int i = 0; i < call->output_count; i++)
        pw_call_output_unknown(call, i, q->dtype);
    if (q->rank == 3 && v && v->rank == 3) { /* symbolic: the usual form */
        memcpy(dims, q->dims, sizeof dims);
        dims[2] = v->dims[2];
        pw_call_output(call, 0, q->dtype, 3, dims);
    }
    return PW_OK;
}

/* ---- Attention ---- */

enum { INPUT, WEIGHTS, PROJECTION_BIAS, MASK_INDEX, PAST, SCORE_BIAS, PAST_SEQUENCE };

static pw_status projected_sizes(const struct pw_call *call, int64_t width, int64_t *hidden, int64_t *value,
                                 struct pw_error *err)
{
    size_t count = 0;
    const int64_t *sizes = pw_call_ints(call, "qkv_hidden_sizes", &count);

    if (count == 0) {
        *hidden = *value = width / 3;
    } else if (count != 3 || sizes[0] != sizes[1]) {
        return pw_call_error(call, err, "qkv_hidden_sizes are not three, or those of Q and K differ");
    } else {
        *hidden = sizes[0];
        *value = sizes[2];
    }
    if (*hidden < 0 || *value < 0 || *hidden > width || *value > width || 2 * *hidden + *value != width)
        return pw_call_error(call, err, "weights have %lld columns, which are not those of Q, K and V",
                             (long long)width);
    return PW_OK;
}

static pw_status projected_past(const struct pw_call *call, struct pw_attention *a, struct pw_error *err)
{
    const struct pw_info *p = pw_call_input(call, PAST) ? call->in[PAST] : NULL;

    if (!p)
        return PW_OK;
    if (p->rank != 5 || p->dims[0] != 2 || p->dims[1] != a->batch || p->dims[2] != a->heads || p->dims[4] != a->size ||
        a->size != a->value_size)
        return pw_call_error(call, err, "past does not fit [2, %lld, %lld, past, %lld]", (long long)a->batch,
                             (long long)a->heads, (long long)a->size);
    a->past_k_input = a->past_v_input = PAST;
    a->past_k = cache(0, a->heads, p->dims[3], a->size);
    a->past_v = cache(a->batch * a->heads * p->dims[3] * a->size, a->heads, p->dims[3], a->size);
    if (pw_call_int(call, "past_present_share_buffer") != 0 && !pw_call_input(call, PAST_SEQUENCE))
        return pw_call_error(call, err, "past_present_share_buffer without past_sequence_length");
    return place_past(call, PAST_SEQUENCE, p->dims[3], a, err);
}

pw_status pw_attention_read_projected(const struct pw_call *call, struct pw_attention *a, struct pw_error *err)
{
    const struct pw_info *x = call->in[INPUT], *w = call->in[WEIGHTS];
    int64_t hidden = 0, value = 0, width;
    pw_status status;

    pw_attention_defaults(a);
    if (!pw_attention_known(call))
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "the shapes are not known");
    if (pw_call_int(call, "do_rotary") != 0)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "do_rotary: its angles are not published");
    a->heads = a->kv_heads = pw_call_int(call, "num_heads");
    if (x->rank != 3 || w->rank != 2 || w->dims[0] != x->dims[2] || a->heads < 1)
        return pw_call_error(call, err, "input and weights have ranks %d and %d, or do not fit each other", x->rank,
                             w->rank);
    width = w->dims[1];
    status = projected_sizes(call, width, &hidden, &value, err);
    if (status == PW_OK && (hidden % a->heads != 0 || value % a->heads != 0))
        status = pw_call_error(call, err, "%lld heads do not divide the hidden sizes", (long long)a->heads);
    if (status != PW_OK)
        return status;
    if (pw_call_input(call, PROJECTION_BIAS) &&
        (call->in[PROJECTION_BIAS]->rank != 1 || call->in[PROJECTION_BIAS]->dims[0] != width))
        return pw_call_error(call, err, "bias is not of shape [%lld]", (long long)width);
    a->batch = x->dims[0];
    a->queries = a->keys = x->dims[1];
    a->size = hidden / a->heads;
    a->value_size = value / a->heads;
    a->q = (struct pw_attention_layout){0, a->queries * width, a->size, width};
    a->k = (struct pw_attention_layout){hidden, a->queries * width, a->size, width};
    a->v = (struct pw_attention_layout){2 * hidden, a->queries * width, a->value_size, width};
    a->q_input = a->k_input = a->v_input = INPUT;
    a->projected = true;
    status = projected_past(call, a, err);
    if (status == PW_OK)
        status = read_padding(call, MASK_INDEX, a, err);
    if (status == PW_OK)
        status = read_bias(call, SCORE_BIAS, a, err);
    if (status != PW_OK)
        return status;
    a->projection_bias = pw_call_input(call, PROJECTION_BIAS) ? PROJECTION_BIAS : -1;
    a->bias_k = hidden;
    a->bias_v = 2 * hidden;
    a->scale = scale_of(call, a->size);
    a->causal = pw_call_int(call, "unidirectional") != 0;
    a->start = a->past;
    a->fresh = a->keys - a->past;
    a->present = a->shares ? a->buffer : a->keys;
    a->present_k = cache(0, a->heads, a->present, a->size);
    a->present_v = cache(a->batch * a->heads * a->present * a->size, a->heads, a->present, a->value_size);
    a->present_k_out = a->present_v_out = 1;
    a->y = (struct pw_attention_layout){0, a->queries * value, a->value_size, value};
    return PW_OK;
}

pw_status pw_attention_projected_infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *x = call->in[INPUT];
    struct pw_attention a;
    pw_status status = pw_attention_check_types(call, err);

    if (status != PW_OK)
        return status;
    if (!pw_attention_known(call)) {
        for (int i = 0; i < call->output_count; i++)
            pw_call_output_unknown(call, i, x->dtype);
        if (x->rank == 3 && call->in[WEIGHTS]->rank == 2 && !pw_call_has(call, "qkv_hidden_sizes")) {
            pw_dim dims[] = {x->dims[0], x->dims[1],
                             pw_dims_floordiv(call->dims, call->in[WEIGHTS]->dims[1], pw_dims_int(call->dims, 3))};

            pw_call_output(call, 0, x->dtype, 3, dims);
        }
        return PW_OK;
    }
    status = pw_attention_read_projected(call, &a, err);
    if (status != PW_OK)
        return status;
    describe(call, &a, x->dtype);
    if (call->output_count > 1) {
        const pw_dim present[] = {2, a.batch, a.heads, a.present, a.size};

        if (a.size != a.value_size)
            return pw_call_error(call, err, "present wants one head size for Q, K and V");
        pw_call_output(call, 1, x->dtype, 5, present);
    }
    return PW_OK;
}
