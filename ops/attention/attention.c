/* ai.onnx Attention, what the operators share on the way to a problem, and the room's table. */
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "ops/attention/attention_linear.h"
#include "ops/attention/attention_room.h"

/* ---- shared ---- */

pw_status pw_attention_check_types(const struct pw_call *call, struct pw_error *err)
{
    for (int i = 0; i < call->input_count; i++) {
        const struct pw_formal *formal = &call->op->inputs[i];
        const struct pw_info *info = pw_call_input(call, i) ? call->in[i] : NULL;

        if (!info || formal->type[0] != 'T' || strcmp(formal->type, "T_CACHE") == 0 ||
            info->dtype == PW_DTYPE_UNDEFINED)
            continue;
        if (!pw_dtype_is_float(info->dtype) || pw_dtype_bytes(info->dtype) < 2)
            return pw_call_error(call, err, "'%s' is %s, a float type expected", formal->name,
                                 pw_dtype_name(info->dtype));
    }
    return PW_OK;
}

bool pw_attention_known(const struct pw_call *call)
{
    for (int i = 0; i < call->input_count; i++) {
        const struct pw_info *info = pw_call_input(call, i) ? call->in[i] : NULL;

        if (!info)
            continue;
        if (info->rank < 0)
            return false;
        for (int d = 0; d < info->rank; d++) {
            if (info->dims[d] < 0)
                return false;
        }
    }
    return true;
}

void pw_attention_defaults(struct pw_attention *a)
{
    memset(a, 0, sizeof *a);
    a->q_input = 0;
    a->k_input = 1;
    a->v_input = 2;
    a->past_k_input = a->past_v_input = a->bias_input = a->mask_input = a->lengths_input = a->projection_bias = -1;
    a->q_norm_input = a->k_norm_input = a->cos_input = a->sin_input = a->positions_input = a->indirection_input = -1;
    a->beams = 1;
    a->sink_input = a->scores_out = a->present_k_out = a->present_v_out = -1;
    a->left = a->right = -1;
    a->filter = -INFINITY;
}

pw_status pw_attention_heads(const struct pw_call *call, const struct pw_attention *a, struct pw_error *err)
{
    if (a->heads < 1 || a->kv_heads < 1 || a->heads % a->kv_heads != 0)
        return pw_call_error(call, err, "%lld query heads over %lld key heads", (long long)a->heads,
                             (long long)a->kv_heads);
    return PW_OK;
}

pw_status pw_attention_broadcast(const struct pw_call *call, int input, const struct pw_attention *a,
                                 struct pw_attention_mask *out, struct pw_error *err)
{
    const struct pw_info *m = call->in[input];
    const int64_t sizes[] = {a->batch, a->heads, a->queries, a->keys};
    int64_t *strides[] = {&out->batch, &out->head, &out->query, &out->key}, stride = 1;

    memset(out, 0, sizeof *out);
    out->keys = a->keys;
    if (m->rank > 4)
        return pw_call_error(call, err, "the mask has rank %d, at most 4 expected", m->rank);
    for (int d = m->rank - 1, t = 3; d >= 0; d--, t--) {
        int64_t n = m->dims[d];

        if (t == 3 && n != 1 && n < a->keys)
            out->keys = n; /* shorter: the rest is masked */
        else if (n != 1 && n != sizes[t])
            return pw_call_error(call, err, "dimension %d of the mask is %lld, %lld expected", d, (long long)n,
                                 (long long)sizes[t]);
        *strides[t] = n == 1 ? 0 : stride;
        stride *= n;
    }
    return PW_OK;
}

/* [batch, heads, rows, size] or, with 3 dims, [batch, rows, heads * size]. */
static pw_status operand(const struct pw_call *call, int input, int64_t heads, int64_t *batch, int64_t *found_heads,
                         int64_t *rows, int64_t *size, struct pw_attention_layout *l, struct pw_error *err)
{
    const struct pw_info *x = call->in[input];

    if (x->rank == 4) {
        *batch = x->dims[0];
        *found_heads = x->dims[1];
        *rows = x->dims[2];
        *size = x->dims[3];
        *l = (struct pw_attention_layout){0, *found_heads * *rows * *size, *rows * *size, *size};
        return PW_OK;
    }
    if (x->rank != 3)
        return pw_call_error(call, err, "'%s' has rank %d, 3 or 4 expected", call->op->inputs[input].name, x->rank);
    if (heads < 1 || x->dims[2] % heads != 0)
        return pw_call_error(call, err, "%lld heads do not divide the %lld elements of '%s'", (long long)heads,
                             (long long)x->dims[2], call->op->inputs[input].name);
    *batch = x->dims[0];
    *found_heads = heads;
    *rows = x->dims[1];
    *size = x->dims[2] / heads;
    *l = (struct pw_attention_layout){0, *rows * x->dims[2], *size, x->dims[2]};
    return PW_OK;
}

/* A cache [batch, kv_heads, rows, size]. */
static struct pw_attention_layout cache(int64_t heads, int64_t rows, int64_t size)
{
    return (struct pw_attention_layout){0, heads * rows * size, rows * size, size};
}

/* ---- ai.onnx ---- */

enum { Q, K, V, MASK, PAST_KEY, PAST_VALUE, NONPAD };

static pw_status read_operands(const struct pw_call *call, struct pw_attention *a, struct pw_error *err)
{
    int64_t batch = 0, heads = 0, size = 0, fresh = 0, v_batch = 0, v_heads = 0, v_rows = 0;
    pw_status status =
        operand(call, Q, pw_call_int(call, "q_num_heads"), &a->batch, &a->heads, &a->queries, &a->size, &a->q, err);

    if (status == PW_OK)
        status = operand(call, K, pw_call_int(call, "kv_num_heads"), &batch, &heads, &fresh, &size, &a->k, err);
    if (status == PW_OK)
        status = operand(call, V, pw_call_int(call, "kv_num_heads"), &v_batch, &v_heads, &v_rows, &a->value_size, &a->v,
                         err);
    if (status != PW_OK)
        return status;
    if (batch != a->batch || v_batch != a->batch || size != a->size || v_heads != heads || v_rows != fresh)
        return pw_call_error(call, err,
                             "Q, K and V do not fit: batches %lld %lld %lld, sizes %lld %lld, rows %lld %lld",
                             (long long)a->batch, (long long)batch, (long long)v_batch, (long long)a->size,
                             (long long)size, (long long)fresh, (long long)v_rows);
    a->kv_heads = heads;
    a->keys = fresh;
    return pw_attention_heads(call, a, err);
}

static pw_status read_past(const struct pw_call *call, struct pw_attention *a, struct pw_error *err)
{
    bool key = pw_call_input(call, PAST_KEY), value = pw_call_input(call, PAST_VALUE);

    if (key != value)
        return pw_call_error(call, err, "past_key and past_value come together or not at all");
    if (!key)
        return PW_OK;
    for (int i = PAST_KEY; i <= PAST_VALUE; i++) {
        const struct pw_info *p = call->in[i];
        int64_t size = i == PAST_KEY ? a->size : a->value_size;

        if (p->rank != 4 || p->dims[0] != a->batch || p->dims[1] != a->kv_heads || p->dims[3] != size ||
            p->dims[2] != call->in[PAST_KEY]->dims[2])
            return pw_call_error(call, err, "'%s' does not fit [%lld, %lld, past, %lld]", call->op->inputs[i].name,
                                 (long long)a->batch, (long long)a->kv_heads, (long long)size);
    }
    a->past = a->offset = a->buffer = call->in[PAST_KEY]->dims[2];
    a->keys += a->past;
    a->past_k_input = PAST_KEY;
    a->past_v_input = PAST_VALUE;
    a->past_k = cache(a->kv_heads, a->past, a->size);
    a->past_v = cache(a->kv_heads, a->past, a->value_size);
    return PW_OK;
}

static pw_status read_masks(const struct pw_call *call, struct pw_attention *a, struct pw_error *err)
{
    pw_status status = PW_OK;

    if (call->op->since >= 24 && pw_call_input(call, NONPAD)) {
        if (call->in[NONPAD]->rank != 1 || call->in[NONPAD]->dims[0] != a->batch)
            return pw_call_error(call, err, "nonpad_kv_seqlen is not of shape [%lld]", (long long)a->batch);
        if (a->past_k_input >= 0)
            return pw_call_error(call, err, "nonpad_kv_seqlen and past_key exclude each other");
        a->lengths_input = NONPAD;
        a->offset_by_length = true;
    }
    if (!pw_call_input(call, MASK))
        return PW_OK;
    if (pw_dtype_is_float(call->in[MASK]->dtype)) {
        a->bias_input = MASK;
        status = pw_attention_broadcast(call, MASK, a, &a->bias, err);
    } else if (call->in[MASK]->dtype == PW_DTYPE_BOOL) {
        a->mask_input = MASK;
        status = pw_attention_broadcast(call, MASK, a, &a->mask, err);
    } else {
        status = pw_call_error(call, err, "attn_mask is %s, bool or a float type expected",
                               pw_dtype_name(call->in[MASK]->dtype));
    }
    return status;
}

pw_status pw_attention_read(const struct pw_call *call, struct pw_attention *a, struct pw_error *err)
{
    int64_t y_size;
    pw_status status;

    pw_attention_defaults(a);
    if (!pw_attention_known(call))
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "the shapes are not known");
    status = read_operands(call, a, err);
    if (status == PW_OK)
        status = read_past(call, a, err);
    if (status == PW_OK)
        status = read_masks(call, a, err);
    if (status != PW_OK)
        return status;
    a->scale = pw_call_has(call, "scale") ? (double)pw_call_float(call, "scale")
                                          : 1.0 / sqrt(a->size > 0 ? (double)a->size : 1.0);
    a->softcap = (double)pw_call_float(call, "softcap");
    a->causal = pw_call_int(call, "is_causal") != 0;
    if (call->op->since >= 25) {
        a->left = pw_call_int(call, "left_window_size");
        a->right = pw_call_int(call, "right_window_size");
    }
    a->start = a->past;
    a->fresh = a->keys - a->past;
    a->present = a->keys;
    a->present_k = cache(a->kv_heads, a->keys, a->size);
    a->present_v = cache(a->kv_heads, a->keys, a->value_size);
    a->present_k_out = 1;
    a->present_v_out = 2;
    a->scores_out = 3;
    a->scores_stage = (int)pw_call_int(call, "qk_matmul_output_mode");
    y_size = a->heads * a->value_size;
    a->y = call->in[Q]->rank == 4 ? cache(a->heads, a->queries, a->value_size)
                                  : (struct pw_attention_layout){0, a->queries * y_size, a->value_size, y_size};
    return PW_OK;
}

/* One dim of an operand, by what it means; UNKNOWN when the rank is. */
static pw_dim head_rows(const struct pw_info *x)
{
    return x->rank < 0 ? PW_DIM_UNKNOWN : x->dims[x->rank == 4 ? 2 : 1];
}

static pw_dim per_head(struct pw_call *call, const struct pw_info *x, int64_t heads)
{
    if (x->rank == 4)
        return x->dims[3];
    return x->rank == 3 && heads > 0 ? pw_dims_floordiv(call->dims, x->dims[2], pw_dims_int(call->dims, heads))
                                     : PW_DIM_UNKNOWN;
}

pw_status pw_attention_infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *q = call->in[Q], *k = call->in[K], *v = call->in[V];
    int64_t q_heads = pw_call_int(call, "q_num_heads"), kv_heads = pw_call_int(call, "kv_num_heads");
    pw_dim past = pw_call_input(call, PAST_KEY) && call->in[PAST_KEY]->rank == 4 ? call->in[PAST_KEY]->dims[2] : 0;
    pw_dim heads, groups, total, size, value;
    struct pw_attention a;
    int64_t mode = pw_call_int(call, "qk_matmul_output_mode");

    if (pw_attention_check_types(call, err) != PW_OK)
        return PW_ERR_MODEL;
    if (mode < 0 || mode > 3)
        return pw_call_error(call, err, "qk_matmul_output_mode is %lld, 0 to 3 expected", (long long)mode);
    if (pw_attention_known(call)) {
        pw_status status = pw_attention_read(call, &a, err);

        if (status != PW_OK)
            return status;
    }
    if ((q->rank != 3 && q->rank != 4) || k->rank < 3 || v->rank < 3) {
        if (q->rank >= 0 && q->rank != 3 && q->rank != 4)
            return pw_call_error(call, err, "Q has rank %d, 3 or 4 expected", q->rank);
        for (int i = 0; i < call->output_count; i++)
            pw_call_output_unknown(call, i, i == 2 ? v->dtype : q->dtype);
        return PW_OK;
    }
    if (q->rank == 3 && (q_heads < 1 || kv_heads < 1))
        return pw_call_error(call, err, "q_num_heads and kv_num_heads are required with 3 dims");
    heads = q->rank == 4 ? q->dims[1] : pw_dims_int(call->dims, q_heads);
    groups = k->rank == 4 ? k->dims[1] : pw_dims_int(call->dims, kv_heads);
    total = pw_dims_add(call->dims, past, head_rows(k));
    size = per_head(call, k, kv_heads);
    value = per_head(call, v, kv_heads);
    {
        const pw_dim y4[] = {q->dims[0], heads, head_rows(q), value};
        const pw_dim y3[] = {q->dims[0], q->dims[1], pw_dims_mul(call->dims, heads, value)};
        const pw_dim present_k[] = {q->dims[0], groups, total, size}, present_v[] = {q->dims[0], groups, total, value};
        const pw_dim scores[] = {q->dims[0], heads, head_rows(q), total};

        for (int i = 0; i < call->output_count; i++) {
            if (i == 0)
                pw_call_output(call, 0, q->dtype, q->rank, q->rank == 4 ? y4 : y3);
            else
                pw_call_output(call, i, i == 2 ? v->dtype : q->dtype, 4,
                               i == 1   ? present_k
                               : i == 2 ? present_v
                                        : scores);
        }
    }
    return PW_OK;
}

/* ---- cost, accuracy, binding ---- */

static pw_status cost(const struct pw_call *call, struct pw_cost *out, struct pw_error *err)
{
    const struct pw_attention_form *form = call->op->data;
    struct pw_attention a;
    double flops;

    (void)err;
    out->flops = PW_DIM_UNKNOWN;
    if (!pw_attention_known(call) || form->read(call, &a, NULL) != PW_OK)
        return PW_OK;
    flops = (double)a.batch * (double)a.heads * (double)a.queries * (double)a.keys *
            (2.0 * (double)a.size + 2.0 * (double)a.value_size + 5.0);
    if (a.causal && a.queries == a.keys)
        flops /= 2.0; /* the half above the diagonal is not required */
    if (flops < 9e18)
        out->flops = pw_dims_int(call->dims, (int64_t)flops);
    return PW_OK;
}

static void accuracy(const struct pw_call *call, struct pw_accuracy *out)
{
    const struct pw_attention_form *form = call->op->data;
    struct pw_attention a = {0};

    out->length = 1;
    if (pw_attention_known(call) && form->read(call, &a, NULL) == PW_OK && a.keys + a.size > 0)
        out->length = a.keys + a.size;
    if (form->read && pw_attention_known(call) && a.projected && call->in[0]->rank > 0) {
        int64_t hidden; /* behind every element of q, k and v */

        if (pw_dims_value(call->dims, call->in[0]->dims[call->in[0]->rank - 1], &hidden))
            out->length += 3 * hidden;
    }
    out->ulp = 12.0; /* exp 3, division 2.5, two products */
    out->amplification = 2.0;
    out->sensitivity = PW_SENSITIVITY_HIGH;
    out->reason = "exponential of large arguments: an error of d in a score is a factor of 1 + d";
    out->why = "sums over the head size and over the keys, exp 3 ULP, division 2.5 ULP";
}

struct named_int {
    const char *name;
    int64_t value;
};

static pw_status bind_ints(struct pw_bindings *b, const struct named_int *ints, size_t count, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (size_t i = 0; i < count && status == PW_OK; i++)
        status = pw_bind_int(b, ints[i].name, ints[i].value, err);
    return status;
}

static pw_status bind_layout(struct pw_bindings *b, const char *name, const struct pw_attention_layout *l,
                             struct pw_error *err)
{
    const int64_t values[] = {l->offset, l->batch, l->head, l->row};

    return pw_bind_ints(b, name, values, PW_COUNT_OF(values), err);
}

static bool output_wanted(const struct pw_call *call, int i)
{
    return i >= 0 && i < call->output_count && (!call->wanted || call->wanted[i]);
}

static pw_dtype dtype_of(const struct pw_call *call, int i)
{
    return i < 0 ? PW_DTYPE_UNDEFINED : call->in[i]->dtype;
}

/* Are Q, K, V, caches, biases and outputs all stored alike? The kernels know one type. */
static bool one_type(const struct pw_call *call, const struct pw_attention *a)
{
    const int inputs[] = {a->k_input,    a->v_input,    a->past_k_input,   a->past_v_input,
                          a->bias_input, a->sink_input, a->projection_bias};
    pw_dtype dtype = call->in[0]->dtype;

    for (size_t i = 0; i < PW_COUNT_OF(inputs); i++) {
        if (inputs[i] >= 0 && call->in[inputs[i]]->dtype != dtype)
            return false;
    }
    for (int i = 0; i < call->output_count; i++) {
        if (output_wanted(call, i) && call->out[i].dtype != dtype)
            return false;
    }
    return true;
}

/* Everything that the kernels of all attention operators ask for. Inputs are named in the descriptions. */
pw_status pw_attention_bind_common(const struct pw_call *call, const struct pw_attention *a, struct pw_bindings *b,
                                   struct pw_error *err)
{
    pw_dtype dtype = call->in[0]->dtype;
    int acc_bytes = dtype == PW_DTYPE_FLOAT64 ? 8 : 4;
    int uses = (a->bias_input >= 0) + 2 * (a->mask_input >= 0) + 4 * (a->sink_input >= 0);
    const char *from = a->projected ? acc_bytes == 8 ? "f64" : "f32" : pw_dtype_facts(dtype)->short_name;
    const struct named_int ints[] = {
        {"batch", a->batch},
        {"heads", a->heads},
        {"kv_heads", a->kv_heads},
        {"queries", a->queries},
        {"keys", a->keys},
        {"past_rows", a->buffer},
        {"direct", a->capacity == 0 && a->indirection_input < 0},
        {"fresh", a->fresh},
        {"size", a->size},
        {"value_size", a->value_size},
        {"value_pad", (a->value_size + 15) / 16 * 16},
        {"present_rows", a->present},
        {"uses", uses},
        {"causal", a->causal},
        {"left", a->left},
        {"right", a->right},
        {"smooth", a->smooth},
        {"mask_ends", a->mask_is_ends},
        {"mask_starts", a->mask_starts},
        {"mask_bool", dtype_of(call, a->mask_input) == PW_DTYPE_BOOL},
        {"lengths_long", dtype_of(call, a->lengths_input) == PW_DTYPE_INT64},
        {"wants_k", output_wanted(call, a->present_k_out)},
        {"wants_v", output_wanted(call, a->present_v_out)},
        {"wants_scores", output_wanted(call, a->scores_out)},
        {"scores_stage", a->scores_stage},
        {"bias_q", a->bias_q},
        {"bias_k", a->bias_k},
        {"bias_v", a->bias_v},
        {"k_source", a->k_input},
        {"v_source", a->v_input},
        {"one_type", one_type(call, a)},
        {"acc_bytes", acc_bytes},
        {"lanes", 32 / acc_bytes},
    };
    const int64_t rules[] = {a->keys,   a->queries,           a->lengths_add,
                             a->offset, a->offset_by_length,  a->start_by_length,
                             a->start,  a->lengths_input >= 0};
    const int64_t bias[] = {a->bias.batch, a->bias.head, a->bias.query, a->bias.key, a->bias.keys};
    const int64_t mask[] = {a->mask.batch, a->mask.head, a->mask.query, a->mask.key, a->mask.keys};
    const struct {
        const char *name;
        const struct pw_attention_layout *layout;
    } layouts[] = {{"q_layout", &a->q},
                   {"k_layout", &a->k},
                   {"v_layout", &a->v},
                   {"y_layout", &a->y},
                   {"past_k_layout", &a->past_k},
                   {"past_v_layout", &a->past_v},
                   {"present_k_layout", &a->present_k},
                   {"present_v_layout", &a->present_v}};
    pw_status status = bind_ints(b, ints, PW_COUNT_OF(ints), err);

    for (size_t i = 0; i < PW_COUNT_OF(layouts) && status == PW_OK; i++)
        status = bind_layout(b, layouts[i].name, layouts[i].layout, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "rules", rules, PW_COUNT_OF(rules), err);
    if (status == PW_OK)
        status = pw_bind_word(b, "from_dtype", from, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "bias_strides", bias, PW_COUNT_OF(bias), err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "mask_strides", mask, PW_COUNT_OF(mask), err);
    if (status == PW_OK)
        status = pw_bind_float(b, "score_scale", a->scale, err);
    if (status == PW_OK)
        status = pw_bind_float(b, "score_scale_low", a->scale - (double)(float)a->scale, err);
    if (status == PW_OK)
        status = pw_bind_float(b, "cap", a->softcap, err);
    return status == PW_OK ? pw_bind_float(b, "filter", isinf(a->filter) ? -3.0e38 : a->filter, err) : status;
}

static pw_status bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_attention_form *form = call->op->data;
    struct pw_attention a;
    pw_status status = form->read(call, &a, err);

    return status == PW_OK ? pw_attention_bind_common(call, &a, b, err) : status;
}

/* com.microsoft.Attention: the projection comes on top. */
static pw_status cost_projected(const struct pw_call *call, struct pw_cost *out, struct pw_error *err)
{
    const struct pw_info *x = call->in[0], *w = call->in[1];
    pw_status status = cost(call, out, err);
    pw_dim rows;

    if (status != PW_OK || x->rank != 3 || w->rank != 2)
        return status;
    rows = pw_dims_mul(call->dims, x->dims[0], x->dims[1]);
    out->flops = pw_dims_add(
        call->dims, out->flops,
        pw_dims_mul(call->dims, pw_dims_mul(call->dims, rows, 2), pw_dims_mul(call->dims, w->dims[0], w->dims[1])));
    return PW_OK;
}

static pw_status bind_projected(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    pw_status status = bind(call, b, err);

    if (status == PW_OK)
        status = pw_bind_int(b, "width", call->in[1]->dims[0], err);
    return status == PW_OK ? pw_bind_int(b, "columns", call->in[1]->dims[1], err) : status;
}

static pw_status bind_group_query(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    bool turns = pw_call_int(call, "do_rotary") != 0 && pw_call_input(call, 7);
    pw_status status = bind(call, b, err);

    if (status == PW_OK)
        status = pw_bind_int(b, "half_size", turns ? call->in[7]->dims[1] : 0, err);
    return status == PW_OK ? pw_bind_int(b, "cache_rows", turns ? call->in[7]->dims[0] : 1, err) : status;
}

/* ---- tables ---- */

#define QKV                                                                                                            \
    {"Q", "T1", 0}, {"K", "T1", 0}, {"V", "T2", 0}, {"attn_mask", "U", PW_FORMAL_OPTIONAL},                            \
        {"past_key", "T1", PW_FORMAL_OPTIONAL},                                                                        \
    {                                                                                                                  \
        "past_value", "T2", PW_FORMAL_OPTIONAL                                                                         \
    }
static const struct pw_formal attention_in[] = {QKV, {0}};
static const struct pw_formal attention24_in[] = {QKV, {"nonpad_kv_seqlen", "tensor(int64)", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal attention_out[] = {{"Y", "T1", 0},
                                                 {"present_key", "T1", PW_FORMAL_OPTIONAL},
                                                 {"present_value", "T2", PW_FORMAL_OPTIONAL},
                                                 {"qk_matmul_output", "T1", PW_FORMAL_OPTIONAL},
                                                 {0}};
#define ATTENTION_ATTRS                                                                                                \
    {.name = "is_causal", .type = PW_ATTR_INT}, {.name = "q_num_heads", .type = PW_ATTR_INT},                          \
        {.name = "kv_num_heads", .type = PW_ATTR_INT}, {.name = "qk_matmul_output_mode", .type = PW_ATTR_INT},         \
        {.name = "scale", .type = PW_ATTR_FLOAT}, {.name = "softcap", .type = PW_ATTR_FLOAT},                          \
    {                                                                                                                  \
        .name = "softmax_precision", .type = PW_ATTR_INT                                                               \
    }
static const struct pw_attr_def attention_attrs[] = {ATTENTION_ATTRS, {0}};
static const struct pw_attr_def attention25_attrs[] = {ATTENTION_ATTRS,
                                                       {.name = "left_window_size", .type = PW_ATTR_INT, .i = -1},
                                                       {.name = "right_window_size", .type = PW_ATTR_INT, .i = -1},
                                                       {0}};
static const struct pw_formal rotary_in[] = {
    {"X", "T", 0}, {"cos_cache", "T", 0}, {"sin_cache", "T", 0}, {"position_ids", "M", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal rotary_out[] = {{"Y", "T", 0}, {0}};
static const struct pw_attr_def rotary_attrs[] = {{.name = "interleaved", .type = PW_ATTR_INT},
                                                  {.name = "num_heads", .type = PW_ATTR_INT},
                                                  {.name = "rotary_embedding_dim", .type = PW_ATTR_INT},
                                                  {0}};
static const struct pw_formal multi_head_in[] = {{"query", "T", 0},
                                                 {"key", "T", PW_FORMAL_OPTIONAL},
                                                 {"value", "T", PW_FORMAL_OPTIONAL},
                                                 {"bias", "T", PW_FORMAL_OPTIONAL},
                                                 {"key_padding_mask", "M", PW_FORMAL_OPTIONAL},
                                                 {"attention_bias", "T", PW_FORMAL_OPTIONAL},
                                                 {"past_key", "T", PW_FORMAL_OPTIONAL},
                                                 {"past_value", "T", PW_FORMAL_OPTIONAL},
                                                 {"past_sequence_length", "M", PW_FORMAL_OPTIONAL | PW_FORMAL_PARAM},
                                                 {"cache_indirection", "M", PW_FORMAL_OPTIONAL},
                                                 {0}};
static const struct pw_formal multi_head_out[] = {{"output", "T", 0},
                                                  {"present_key", "T", PW_FORMAL_OPTIONAL},
                                                  {"present_value", "T", PW_FORMAL_OPTIONAL},
                                                  {"qk", "QK", PW_FORMAL_OPTIONAL},
                                                  {0}};
static const struct pw_attr_def multi_head_attrs[] = {
    {.name = "num_heads", .type = PW_ATTR_INT, .required = true},
    {.name = "mask_filter_value", .type = PW_ATTR_FLOAT, .f = -10000.0f},
    {.name = "scale", .type = PW_ATTR_FLOAT},
    {.name = "unidirectional", .type = PW_ATTR_INT},
    {0}};
static const struct pw_formal projected_in[] = {{"input", "T", 0},
                                                {"weights", "T", 0},
                                                {"bias", "T", PW_FORMAL_OPTIONAL},
                                                {"mask_index", "M", PW_FORMAL_OPTIONAL},
                                                {"past", "T", PW_FORMAL_OPTIONAL},
                                                {"attention_bias", "T", PW_FORMAL_OPTIONAL},
                                                {"past_sequence_length", "M", PW_FORMAL_OPTIONAL | PW_FORMAL_PARAM},
                                                {0}};
static const struct pw_formal projected_out[] = {{"output", "T", 0}, {"present", "T", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_attr_def projected_attrs[] = {
    {.name = "num_heads", .type = PW_ATTR_INT, .required = true},
    {.name = "mask_filter_value", .type = PW_ATTR_FLOAT, .f = -10000.0f},
    {.name = "scale", .type = PW_ATTR_FLOAT},
    {.name = "unidirectional", .type = PW_ATTR_INT},
    {.name = "do_rotary", .type = PW_ATTR_INT},
    {.name = "rotary_embedding_dim", .type = PW_ATTR_INT},
    {.name = "past_present_share_buffer", .type = PW_ATTR_INT},
    {.name = "qkv_hidden_sizes", .type = PW_ATTR_INTS},
    {0}};
static const struct pw_formal group_query_in[] = {{"query", "T", 0},
                                                  {"key", "T", PW_FORMAL_OPTIONAL},
                                                  {"value", "T", PW_FORMAL_OPTIONAL},
                                                  {"past_key", "T_CACHE", PW_FORMAL_OPTIONAL},
                                                  {"past_value", "T_CACHE", PW_FORMAL_OPTIONAL},
                                                  {"seqlens_k", "M", 0},
                                                  {"total_sequence_length", "M", PW_FORMAL_PARAM},
                                                  {"cos_cache", "T", PW_FORMAL_OPTIONAL},
                                                  {"sin_cache", "T", PW_FORMAL_OPTIONAL},
                                                  {"position_ids", "tensor(int64)", PW_FORMAL_OPTIONAL},
                                                  {"attention_bias", "T", PW_FORMAL_OPTIONAL},
                                                  {"head_sink", "T", PW_FORMAL_OPTIONAL},
                                                  {"k_scale", "T_KV_SCALE", PW_FORMAL_OPTIONAL},
                                                  {"v_scale", "T_KV_SCALE", PW_FORMAL_OPTIONAL},
                                                  {"q_norm_weight", "T", PW_FORMAL_OPTIONAL},
                                                  {"k_norm_weight", "T", PW_FORMAL_OPTIONAL},
                                                  {0}};
static const struct pw_formal group_query_out[] = {{"output", "T", 0},
                                                   {"present_key", "T_CACHE", PW_FORMAL_OPTIONAL},
                                                   {"present_value", "T_CACHE", PW_FORMAL_OPTIONAL},
                                                   {"output_qk", "T", PW_FORMAL_OPTIONAL},
                                                   {0}};
static const struct pw_attr_def group_query_attrs[] = {{.name = "num_heads", .type = PW_ATTR_INT, .required = true},
                                                       {.name = "kv_num_heads", .type = PW_ATTR_INT, .required = true},
                                                       {.name = "causal", .type = PW_ATTR_INT, .i = 1},
                                                       {.name = "do_rotary", .type = PW_ATTR_INT},
                                                       {.name = "rotary_interleaved", .type = PW_ATTR_INT},
                                                       {.name = "local_window_size", .type = PW_ATTR_INT, .i = -1},
                                                       {.name = "scale", .type = PW_ATTR_FLOAT},
                                                       {.name = "softcap", .type = PW_ATTR_FLOAT},
                                                       {.name = "smooth_softmax", .type = PW_ATTR_INT},
                                                       {.name = "qk_output", .type = PW_ATTR_INT},
                                                       {.name = "qk_norm_epsilon", .type = PW_ATTR_FLOAT, .f = 1e-6f},
                                                       {.name = "sliding_window_cache", .type = PW_ATTR_INT},
                                                       {.name = "kv_cache_bit_width", .type = PW_ATTR_INT},
                                                       {.name = "k_quant_type", .type = PW_ATTR_STRING, .s = "NONE"},
                                                       {.name = "v_quant_type", .type = PW_ATTR_STRING, .s = "NONE"},
                                                       {0}};
static const struct pw_formal ms_rotary_in[] = {
    {"input", "T", 0}, {"position_ids", "M", 0}, {"cos_cache", "T", 0}, {"sin_cache", "T", 0}, {0}};
static const struct pw_formal ms_rotary_out[] = {{"output", "T", 0}, {0}};
static const struct pw_attr_def ms_rotary_attrs[] = {
    {.name = "interleaved", .type = PW_ATTR_INT},          {.name = "num_heads", .type = PW_ATTR_INT},
    {.name = "rotary_embedding_dim", .type = PW_ATTR_INT}, {.name = "is_packed_batching", .type = PW_ATTR_INT},
    {.name = "scale", .type = PW_ATTR_FLOAT, .f = 1.0f},   {0}};

static const struct pw_formal linear_in[] = {{"query", "T", 0},
                                             {"key", "T", 0},
                                             {"value", "T", 0},
                                             {"past_state", "S", PW_FORMAL_OPTIONAL},
                                             {"decay", "T", PW_FORMAL_OPTIONAL},
                                             {"beta", "T", PW_FORMAL_OPTIONAL},
                                             {0}};
static const struct pw_formal linear_out[] = {{"output", "T", 0}, {"present_state", "S", 0}, {0}};
static const struct pw_attr_def linear_attrs[] = {{.name = "chunk_size", .type = PW_ATTR_INT, .i = 64},
                                                  {.name = "kv_num_heads", .type = PW_ATTR_INT, .required = true},
                                                  {.name = "q_num_heads", .type = PW_ATTR_INT, .required = true},
                                                  {.name = "scale", .type = PW_ATTR_FLOAT},
                                                  {.name = "update_rule", .type = PW_ATTR_STRING, .s = "gated_delta"},
                                                  {0}};

static const struct pw_attention_form projected_form = {pw_attention_read_projected};
static const struct pw_attention_form onnx_form = {pw_attention_read};
static const struct pw_attention_form multi_head_form = {pw_attention_read_multi_head};
static const struct pw_attention_form group_query_form = {pw_attention_read_group_query};

#define ATTENTION(version, attributes, in)                                                                             \
    {                                                                                                                  \
        .domain = "", .name = "Attention", .since = version, .category = PW_CATEGORY_ATTENTION, .attrs = attributes,   \
        .inputs = in, .outputs = attention_out, .min_outputs = 1, .infer = pw_attention_infer, .cost = cost,           \
        .accuracy = accuracy, .golden = pw_attention_golden, .fast = pw_attention_fast, .fast_is_blas = true,          \
        .fill = pw_attention_fill, .bind = bind, .data = &onnx_form                                                    \
    }
#define MICROSOFT(op_name, attributes, in, out, op_infer, op_bind, op_form)                                            \
    {                                                                                                                  \
        .domain = "com.microsoft", .name = op_name, .since = 1, .category = PW_CATEGORY_ATTENTION,                     \
        .attrs = attributes, .inputs = in, .outputs = out, .min_outputs = 1, .infer = op_infer, .cost = cost,          \
        .accuracy = accuracy, .golden = pw_attention_golden, .fast = pw_attention_fast, .fast_is_blas = true,          \
        .fill = pw_attention_fill, .bind = op_bind, .data = &op_form                                                   \
    }

const struct pw_op pw_attention_ops[] = {
    ATTENTION(23, attention_attrs, attention_in),
    ATTENTION(24, attention_attrs, attention24_in),
    ATTENTION(25, attention25_attrs, attention24_in),
    {.domain = "",
     .name = "RotaryEmbedding",
     .since = 23,
     .category = PW_CATEGORY_ATTENTION,
     .attrs = rotary_attrs,
     .inputs = rotary_in,
     .outputs = rotary_out,
     .infer = pw_rotary_infer,
     .golden = pw_rotary_golden,
     .fill = pw_attention_fill,
     .bind = pw_rotary_bind},
    {.domain = "",
     .name = "LinearAttention",
     .since = 27,
     .category = PW_CATEGORY_ATTENTION,
     .attrs = linear_attrs,
     .inputs = linear_in,
     .outputs = linear_out,
     .infer = pw_linear_attention_infer,
     .cost = pw_linear_attention_cost,
     .accuracy = pw_linear_attention_accuracy,
     .golden = pw_linear_attention_eval,
     .fast = pw_linear_attention_eval,
     .fill = pw_linear_attention_fill,
     .bind = pw_linear_attention_bind},
    MICROSOFT("MultiHeadAttention", multi_head_attrs, multi_head_in, multi_head_out, pw_attention_multi_head_infer,
              bind, multi_head_form),
    MICROSOFT("GroupQueryAttention", group_query_attrs, group_query_in, group_query_out, pw_attention_group_query_infer,
              bind_group_query, group_query_form),
    {.domain = "com.microsoft",
     .name = "Attention",
     .since = 1,
     .category = PW_CATEGORY_ATTENTION,
     .attrs = projected_attrs,
     .inputs = projected_in,
     .outputs = projected_out,
     .min_outputs = 1,
     .infer = pw_attention_projected_infer,
     .cost = cost_projected,
     .accuracy = accuracy,
     .golden = pw_attention_golden,
     .fast = pw_attention_fast,
     .fast_is_blas = true,
     .fill = pw_attention_fill,
     .bind = bind_projected,
     .data = &projected_form},
    {.domain = "com.microsoft",
     .name = "RotaryEmbedding",
     .since = 1,
     .category = PW_CATEGORY_ATTENTION,
     .attrs = ms_rotary_attrs,
     .inputs = ms_rotary_in,
     .outputs = ms_rotary_out,
     .infer = pw_rotary_infer,
     .golden = pw_rotary_golden,
     .fill = pw_attention_fill,
     .bind = pw_rotary_bind},
    {0},
};
