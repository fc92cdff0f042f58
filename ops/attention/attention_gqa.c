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
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "quantized key and value caches are not evaluated");
    if (pw_call_int(call, "sliding_window_cache") != 0)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "window-sized caches are not evaluated");
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
    a->keys = a->present = total[0];
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
        a->past = call->in[PAST_KEY]->dims[2];
        a->past_k_input = PAST_KEY;
        a->past_v_input = PAST_VALUE;
        a->past_k = a->past_v = cache(a->kv_heads, a->past, a->size);
        a->present = a->past > a->keys ? a->past : a->keys;
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

/* ---- evaluation ---- */

struct job {
    struct pw_eval *ev;
    const struct pw_attention *a;
    const struct pw_tensor *cosines, *sines, *positions, *norms[2];
    double epsilon;
    bool interleaved;
};

static void normalize(double *x, int64_t n, const struct pw_tensor *weight, double epsilon)
{
    double sum = 0.0, factor;

    for (int64_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    factor = 1.0 / sqrt(sum / (double)(n > 0 ? n : 1) + epsilon);
    for (int64_t i = 0; i < n; i++)
        x[i] = x[i] * factor * ((const double *)weight->data)[i];
}

/* Norm and rotation of a new row of a sample. */
static pw_status prepare_row(const struct job *job, double *x, int64_t batch, int64_t row, int which,
                             struct pw_error *err)
{
    const struct pw_attention *a = job->a;
    int64_t start = pw_attention_offset(job->ev, a, batch), position, half;

    if (job->norms[which])
        normalize(x, a->size, job->norms[which], job->epsilon);
    if (!job->cosines)
        return PW_OK;
    position = job->positions ? pw_tensor_get_int(job->positions, batch * a->queries + row) : start + row;
    half = job->cosines->dims[1];
    if (position < 0 || position >= job->cosines->dims[0])
        return pw_call_error(job->ev->call, err, "position %lld lies outside of the %lld rows of cos_cache",
                             (long long)position, (long long)job->cosines->dims[0]);
    pw_rotary_turn(x, 2 * half, job->interleaved, (const double *)job->cosines->data + position * half,
                   (const double *)job->sines->data + position * half);
    return PW_OK;
}

/* The caches of one operand: past rows, then the new ones behind each sample's past. */
static void fill_cache(const struct job *job, const struct pw_tensor *past, const double *fresh, int64_t rows,
                       const struct pw_attention_layout *to, double *out)
{
    const struct pw_attention *a = job->a;

    for (int64_t b = 0; b < a->batch; b++) {
        int64_t start = pw_attention_offset(job->ev, a, b);

        start = start < 0 ? 0 : start;
        for (int64_t h = 0; h < a->kv_heads; h++) {
            double *y = out + to->offset + b * to->batch + h * to->head;

            for (int64_t r = 0; r < rows; r++) {
                const double *x = NULL;

                if (r >= start && r < start + a->queries)
                    x = fresh + ((b * a->kv_heads + h) * a->queries + r - start) * a->size;
                else if (past && r < a->past)
                    x = (const double *)past->data + ((b * a->kv_heads + h) * a->past + r) * a->size;
                if (x)
                    memcpy(y + r * to->row, x, (size_t)a->size * sizeof *y);
            }
        }
    }
}

static void gather_rows(const double *from, const struct pw_attention_layout *l, const struct pw_attention *a,
                        int64_t heads, double *to)
{
    for (int64_t b = 0; b < a->batch; b++) {
        for (int64_t h = 0; h < heads; h++) {
            for (int64_t r = 0; r < a->queries; r++, to += a->size)
                memcpy(to, from + l->offset + b * l->batch + h * l->head + r * l->row, (size_t)a->size * sizeof *to);
        }
    }
}

static pw_status prepare_rows(const struct job *job, double *x, int64_t heads, int which, struct pw_error *err)
{
    const struct pw_attention *a = job->a;
    pw_status status = PW_OK;

    for (int64_t b = 0; b < a->batch; b++) {
        for (int64_t h = 0; h < heads; h++) {
            for (int64_t r = 0; r < a->queries && status == PW_OK; r++, x += a->size)
                status = prepare_row(job, x, b, r, which, err);
        }
    }
    return status;
}

static pw_status caches(const struct job *job, double *fresh_k, double *fresh_v, struct pw_attention_arrays *arrays,
                        struct pw_error *err)
{
    const struct pw_attention *a = job->a;
    struct pw_attention_layout dense = cache(a->kv_heads, a->keys, a->size);
    const struct pw_tensor *past_k = pw_eval_in(job->ev, PAST_KEY), *past_v = pw_eval_in(job->ev, PAST_VALUE);
    struct pw_tensor *k = NULL, *v = NULL;
    pw_status status = pw_attention_output(job->ev, 1, &k, err);

    if (status == PW_OK)
        status = pw_attention_output(job->ev, 2, &v, err);
    if (status != PW_OK)
        return status;
    fill_cache(job, past_k, fresh_k, a->keys, &dense, arrays->k);
    fill_cache(job, past_v, fresh_v, a->keys, &dense, arrays->v);
    if (k && k->count > 0)
        fill_cache(job, past_k, fresh_k, a->present, &a->present_k, k->data);
    if (v && v->count > 0)
        fill_cache(job, past_v, fresh_v, a->present, &a->present_v, v->data);
    return PW_OK;
}

pw_status pw_attention_group_query_golden(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_attention_arrays arrays = {0};
    struct pw_attention a;
    struct job job = {.ev = ev, .a = &a};
    double *fresh[2] = {NULL, NULL};
    pw_status status = pw_attention_read_group_query(ev->call, &a, err);

    if (status != PW_OK)
        return status;
    if (pw_call_int(ev->call, "do_rotary") != 0) {
        job.cosines = pw_eval_in(ev, COSINES);
        job.sines = pw_eval_in(ev, SINES);
        job.positions = pw_eval_in(ev, POSITIONS);
        job.interleaved = pw_call_int(ev->call, "rotary_interleaved") != 0;
    }
    job.norms[0] = pw_eval_in(ev, Q_NORM);
    job.norms[1] = pw_eval_in(ev, K_NORM);
    job.epsilon = (double)pw_call_float(ev->call, "qk_norm_epsilon");
    status = pw_attention_allocate(a.batch, a.heads, a.queries, a.size, &arrays.q, err);
    if (status == PW_OK)
        status = pw_attention_allocate(a.batch, a.kv_heads, a.keys, a.size, &arrays.k, err);
    if (status == PW_OK)
        status = pw_attention_allocate(a.batch, a.kv_heads, a.keys, a.size, &arrays.v, err);
    for (int i = 0; i < 2 && status == PW_OK; i++)
        status = pw_attention_allocate(a.batch, a.kv_heads, a.queries, a.size, &fresh[i], err);
    if (status != PW_OK)
        goto done;
    gather_rows(pw_eval_in(ev, a.q_input)->data, &a.q, &a, a.heads, arrays.q);
    gather_rows(pw_eval_in(ev, a.k_input)->data, &a.k, &a, a.kv_heads, fresh[0]);
    gather_rows(pw_eval_in(ev, a.v_input)->data, &a.v, &a, a.kv_heads, fresh[1]);
    status = prepare_rows(&job, arrays.q, a.heads, 0, err);
    if (status == PW_OK)
        status = prepare_rows(&job, fresh[0], a.kv_heads, 1, err);
    if (status == PW_OK)
        status = caches(&job, fresh[0], fresh[1], &arrays, err);
    if (status == PW_OK)
        status = pw_attention_run(ev, &a, &arrays, err);
done:
    pw_free(fresh[0]);
    pw_free(fresh[1]);
    pw_attention_arrays_clear(&arrays);
    return status;
}
