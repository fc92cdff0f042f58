#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "base/parallel.h"
#include "ops/attention/attention_room.h"
#include "tensor/blas.h"

/* ---- what a call says about a sample ---- */

int64_t pw_attention_length(const struct pw_eval *ev, const struct pw_attention *a, int64_t batch)
{
    const struct pw_tensor *lengths = a->lengths_input < 0 ? NULL : pw_eval_in(ev, a->lengths_input);
    int64_t length = lengths ? pw_tensor_get_int(lengths, batch) + a->lengths_add : a->keys;

    return length > a->keys ? a->keys : length < 0 ? 0 : length;
}

int64_t pw_attention_offset(const struct pw_eval *ev, const struct pw_attention *a, int64_t batch)
{
    return a->offset_by_length ? pw_attention_length(ev, a, batch) - a->queries : a->offset;
}

/* ---- gathering ---- */

pw_status pw_attention_allocate(int64_t a, int64_t b, int64_t c, int64_t d, double **out, struct pw_error *err)
{
    int64_t n;

    if (__builtin_mul_overflow(a, b, &n) || __builtin_mul_overflow(n, c, &n) || __builtin_mul_overflow(n, d, &n) ||
        n > INT64_MAX / 64)
        return pw_error_memory(err, SIZE_MAX);
    *out = pw_calloc((size_t)n + 1, sizeof **out);
    return *out ? PW_OK : pw_error_memory(err, (size_t)n * sizeof **out);
}

void pw_attention_arrays_clear(struct pw_attention_arrays *arrays)
{
    pw_free(arrays->q);
    pw_free(arrays->k);
    pw_free(arrays->v);
    memset(arrays, 0, sizeof *arrays);
}

/* Rows of all heads of one operand into dense [batch][heads][total][size] from row `first` on. */
static void copy_heads(const double *from, const struct pw_attention_layout *l, const double *bias,
                       const struct pw_attention *a, int64_t heads, int64_t rows, int64_t size, double *to,
                       int64_t total, int64_t first)
{
    for (int64_t b = 0; b < a->batch && from; b++) {
        for (int64_t h = 0; h < heads; h++) {
            for (int64_t r = 0; r < rows; r++) {
                const double *x = from + l->offset + b * l->batch + h * l->head + r * l->row;
                double *y = to + ((b * heads + h) * total + first + r) * size;

                for (int64_t i = 0; i < size; i++)
                    y[i] = x[i] + (bias ? bias[h * size + i] : 0.0);
            }
        }
    }
}

static const struct pw_tensor *input_at(const struct pw_eval *ev, int i)
{
    return i < 0 ? NULL : pw_eval_in(ev, i);
}

static const double *data_at(const struct pw_eval *ev, int i)
{
    const struct pw_tensor *t = input_at(ev, i);

    return t ? t->data : NULL;
}

pw_status pw_attention_gather(struct pw_eval *ev, const struct pw_attention *a, const double *projected,
                              struct pw_attention_arrays *out, struct pw_error *err)
{
    const double *b = data_at(ev, a->projection_bias), *q = projected ? projected : data_at(ev, a->q_input);
    const double *k = projected ? projected : data_at(ev, a->k_input);
    const double *v = projected ? projected : data_at(ev, a->v_input);
    int64_t fresh = a->keys - a->past;
    pw_status status = pw_attention_allocate(a->batch, a->heads, a->queries, a->size, &out->q, err);

    if (status == PW_OK)
        status = pw_attention_allocate(a->batch, a->kv_heads, a->keys, a->size, &out->k, err);
    if (status == PW_OK)
        status = pw_attention_allocate(a->batch, a->kv_heads, a->keys, a->value_size, &out->v, err);
    if (status != PW_OK) {
        pw_attention_arrays_clear(out);
        return status;
    }
    copy_heads(q, &a->q, b ? b + a->bias_q : NULL, a, a->heads, a->queries, a->size, out->q, a->queries, 0);
    copy_heads(data_at(ev, a->past_k_input), &a->past_k, NULL, a, a->kv_heads, a->past, a->size, out->k, a->keys, 0);
    copy_heads(data_at(ev, a->past_v_input), &a->past_v, NULL, a, a->kv_heads, a->past, a->value_size, out->v, a->keys,
               0);
    copy_heads(k, &a->k, b && a->bias_k >= 0 ? b + a->bias_k : NULL, a, a->kv_heads, fresh, a->size, out->k, a->keys,
               a->past);
    copy_heads(v, &a->v, b && a->bias_v >= 0 ? b + a->bias_v : NULL, a, a->kv_heads, fresh, a->value_size, out->v,
               a->keys, a->past);
    return PW_OK;
}

pw_status pw_attention_output(struct pw_eval *ev, int i, struct pw_tensor **out, struct pw_error *err)
{
    const struct pw_info *info;

    *out = NULL;
    if (i < 0 || i >= ev->output_count || (ev->call->wanted && !ev->call->wanted[i]))
        return PW_OK;
    info = &ev->call->out[i];
    if (info->rank < 0)
        return pw_call_error(ev->call, err, "the shape of output %d is not known", i);
    return pw_eval_output(ev, i, info->dtype, info->rank, info->dims, out, err);
}

static void scatter_heads(const double *from, const struct pw_attention *a, int64_t size, struct pw_tensor *to,
                          const struct pw_attention_layout *l)
{
    int64_t rows = a->keys < a->present ? a->keys : a->present;

    for (int64_t b = 0; b < a->batch && to; b++) {
        for (int64_t h = 0; h < a->kv_heads; h++) {
            for (int64_t r = 0; r < rows; r++) {
                double *y = (double *)to->data + l->offset + b * l->batch + h * l->head + r * l->row;

                memcpy(y, from + ((b * a->kv_heads + h) * a->keys + r) * size, (size_t)size * sizeof *y);
            }
        }
    }
}

pw_status pw_attention_present(struct pw_eval *ev, const struct pw_attention *a,
                               const struct pw_attention_arrays *arrays, struct pw_error *err)
{
    struct pw_tensor *k = NULL, *v = NULL;
    pw_status status = pw_attention_output(ev, a->present_k_out, &k, err);

    if (status == PW_OK && a->present_v_out != a->present_k_out)
        status = pw_attention_output(ev, a->present_v_out, &v, err);
    if (status != PW_OK)
        return status;
    scatter_heads(arrays->k, a, a->size, k, &a->present_k);
    scatter_heads(arrays->v, a, a->value_size, a->present_v_out == a->present_k_out ? k : v, &a->present_v);
    return PW_OK;
}

/* ---- scores ---- */

struct rows {
    const struct pw_eval *ev;
    const struct pw_attention *a;
    const struct pw_tensor *bias, *mask;
    double *scores; /* [queries][keys] of one head */
    double *keep;   /* the scores output of this head, or NULL */
    int64_t batch, head, length, offset;
    double sink;
    bool has_sink;
};

static int64_t mask_index(const struct pw_attention_mask *m, const struct rows *r, int64_t query, int64_t key)
{
    return r->batch * m->batch + r->head * m->head + query * m->query + key * m->key;
}

/* What is added to a score; -inf when it is masked. */
static double bias_of(const struct rows *r, int64_t query, int64_t key)
{
    const struct pw_attention *a = r->a;
    int64_t position = r->offset + query;
    double bias = 0.0;

    if (key >= r->length || (a->causal && key > position) || (a->left >= 0 && key < position - a->left) ||
        (a->right >= 0 && key > position + a->right))
        return -INFINITY;
    if (r->bias) {
        if (key >= a->bias.keys)
            return -INFINITY;
        bias = ((const double *)r->bias->data)[mask_index(&a->bias, r, query, key)];
    }
    if (r->mask && a->mask_is_ends) {
        if (key >= pw_tensor_get_int(r->mask, r->batch) ||
            (a->mask_starts && key < pw_tensor_get_int(r->mask, a->batch + r->batch)))
            bias += a->filter;
    } else if (r->mask) {
        if (key >= a->mask.keys)
            return -INFINITY;
        if (pw_tensor_get_int(r->mask, mask_index(&a->mask, r, query, key)) == 0)
            bias += a->filter;
    }
    return bias;
}

/* Scaled products -> probabilities, in place. A row that is wholly masked becomes zeros. */
static void rows_golden(void *user, int64_t begin, int64_t end)
{
    const struct rows *r = user;
    const struct pw_attention *a = r->a;
    int64_t n = a->keys;

    for (int64_t q = begin; q < end; q++) {
        double *s = r->scores + q * n, *keep = r->keep ? r->keep + q * n : NULL, max = -INFINITY, sum = 0.0;

        for (int64_t k = 0; k < n; k++) {
            if (keep && a->scores_stage == 0)
                keep[k] = s[k];
            if (a->softcap > 0.0)
                s[k] = a->softcap * tanh(s[k] / a->softcap);
            if (keep && a->scores_stage == 1)
                keep[k] = s[k];
            s[k] += bias_of(r, q, k);
            if (keep && a->scores_stage == 2)
                keep[k] = s[k];
            max = s[k] > max || s[k] != s[k] ? s[k] : max;
        }
        if (r->has_sink && r->sink > max)
            max = r->sink;
        for (int64_t k = 0; k < n; k++) {
            s[k] = max == -INFINITY ? 0.0 : exp(s[k] - max);
            sum += s[k];
        }
        if (r->has_sink)
            sum += exp(r->sink - max);
        for (int64_t k = 0; k < n; k++) {
            s[k] = sum == 0.0 ? 0.0 : s[k] / sum;
            if (keep && a->scores_stage == 3)
                keep[k] = s[k];
        }
    }
}

static void head_golden(const struct pw_attention *a, const struct pw_attention_arrays *arrays, struct rows *r,
                        struct pw_tensor *y)
{
    int64_t kv = r->batch * a->kv_heads + r->head / (a->heads / a->kv_heads);
    const double *q = arrays->q + (r->batch * a->heads + r->head) * a->queries * a->size;
    const double *k = arrays->k + kv * a->keys * a->size, *v = arrays->v + kv * a->keys * a->value_size;
    double *to = (double *)y->data + a->y.offset + r->batch * a->y.batch + r->head * a->y.head;

    pw_blas_dgemm(false, true, a->queries, a->keys, a->size, a->scale, q, a->size, k, a->size, 0.0, r->scores, a->keys);
    pw_parallel_for(a->queries, 4096 / (a->keys + 1) + 1, rows_golden, r);
    pw_blas_dgemm(false, false, a->queries, a->value_size, a->keys, 1.0, r->scores, a->keys, v, a->value_size, 0.0, to,
                  a->y.row);
}

pw_status pw_attention_run(struct pw_eval *ev, const struct pw_attention *a, const struct pw_attention_arrays *arrays,
                           struct pw_error *err)
{
    const struct pw_tensor *sinks = input_at(ev, a->sink_input);
    struct rows r = {.ev = ev, .a = a, .bias = input_at(ev, a->bias_input), .mask = input_at(ev, a->mask_input)};
    struct pw_tensor *y = NULL, *scores = NULL;
    pw_status status = pw_attention_output(ev, 0, &y, err);

    if (status == PW_OK)
        status = pw_attention_output(ev, a->scores_out, &scores, err);
    if (status == PW_OK)
        status = pw_attention_allocate(1, 1, a->queries, a->keys, &r.scores, err);
    if (status != PW_OK || !y || y->count == 0)
        goto done;
    for (r.batch = 0; r.batch < a->batch; r.batch++) {
        r.length = pw_attention_length(ev, a, r.batch);
        r.offset = pw_attention_offset(ev, a, r.batch);
        for (r.head = 0; r.head < a->heads; r.head++) {
            r.has_sink = a->smooth || sinks;
            r.sink = sinks ? ((const double *)sinks->data)[r.head] : 0.0;
            r.keep = scores ? (double *)scores->data + (r.batch * a->heads + r.head) * a->queries * a->keys : NULL;
            head_golden(a, arrays, &r, y);
        }
    }
done:
    pw_free(r.scores);
    return status;
}

/* ---- ai.onnx Attention and MultiHeadAttention: nothing between gathering and scores ---- */

pw_status pw_attention_golden(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_attention_form *form = ev->call->op->data;
    struct pw_attention_arrays arrays = {0};
    struct pw_attention a;
    pw_status status = form->read(ev->call, &a, err);

    if (status == PW_OK)
        status = pw_attention_gather(ev, &a, NULL, &arrays, err);
    if (status == PW_OK)
        status = pw_attention_present(ev, &a, &arrays, err);
    if (status == PW_OK)
        status = pw_attention_run(ev, &a, &arrays, err);
    pw_attention_arrays_clear(&arrays);
    return status;
}
