/* Golden: dgemm for both products of a head, libm between. */
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "base/parallel.h"
#include "ops/attention/attention_room.h"
#include "tensor/blas.h"

#define REAL double
#define NAME(x) golden_##x
#include "ops/attention/attention_rows.h"

/* Working arrays: [batch][heads][queries][size], [batch][kv_heads][keys][…]. */
struct arrays {
    double *q, *k, *v;
};

static void arrays_clear(struct arrays *arrays)
{
    pw_free(arrays->q);
    pw_free(arrays->k);
    pw_free(arrays->v);
}

static pw_status allocate(int64_t a, int64_t b, int64_t c, int64_t d, double **out, struct pw_error *err)
{
    size_t bytes = SIZE_MAX;

    *out = pw_attention_bytes(a, b, c, d, sizeof **out, &bytes) ? pw_calloc(bytes, 1) : NULL;
    return *out ? PW_OK : pw_error_memory(err, bytes);
}

static struct pw_attention_layout dense(int64_t heads, int64_t rows, int64_t size)
{
    return (struct pw_attention_layout){0, heads * rows * size, rows * size, size};
}

static pw_status gather(const struct pw_attention_source *s, struct arrays *out, struct pw_error *err)
{
    const struct pw_attention *a = s->a;
    struct pw_attention_layout q = dense(a->heads, a->queries, a->size), k = dense(a->kv_heads, a->keys, a->size);
    struct pw_attention_layout v = dense(a->kv_heads, a->keys, a->value_size);
    pw_status status = allocate(a->batch, a->heads, a->queries, a->size, &out->q, err);

    if (status == PW_OK)
        status = allocate(a->batch, a->kv_heads, a->keys, a->size, &out->k, err);
    if (status == PW_OK)
        status = allocate(a->batch, a->kv_heads, a->keys, a->value_size, &out->v, err);
    if (status != PW_OK)
        return status;
    golden_fill(s, 0, a->queries, &q, false, out->q);
    golden_fill(s, 1, a->keys, &k, false, out->k);
    golden_fill(s, 2, a->keys, &v, false, out->v);
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

static const struct pw_tensor *input_at(const struct pw_eval *ev, int i)
{
    return i < 0 ? NULL : pw_eval_in(ev, i);
}

static void head_golden(const struct pw_attention *a, const struct arrays *arrays, struct rows *r, struct pw_tensor *y)
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

static pw_status run(struct pw_eval *ev, const struct pw_attention *a, const struct arrays *arrays,
                     struct pw_error *err)
{
    const struct pw_tensor *sinks = input_at(ev, a->sink_input);
    struct rows r = {.ev = ev, .a = a, .bias = input_at(ev, a->bias_input), .mask = input_at(ev, a->mask_input)};
    struct pw_tensor *y = NULL, *scores = NULL;
    pw_status status = pw_attention_output(ev, 0, &y, err);

    if (status == PW_OK)
        status = pw_attention_output(ev, a->scores_out, &scores, err);
    if (status == PW_OK)
        status = allocate(1, 1, a->queries, a->keys, &r.scores, err);
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

/* ---- all operators of scores ---- */

pw_status pw_attention_golden(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_attention_form *form = ev->call->op->data;
    const struct pw_tensor *x = pw_eval_in(ev, 0), *w = pw_eval_in(ev, 1);
    struct pw_attention_source source;
    struct arrays arrays = {0};
    struct pw_attention a;
    double *projected = NULL;
    pw_status status = form->read(ev->call, &a, err);

    if (status == PW_OK && a.projected)
        status = allocate(1, a.batch, a.queries, w->dims[1], &projected, err);
    if (status != PW_OK)
        goto done;
    if (a.projected)
        pw_blas_dgemm(false, false, a.batch * a.queries, w->dims[1], x->dims[2], 1.0, x->data, x->dims[2], w->data,
                      w->dims[1], 0.0, projected, w->dims[1]);
    status = pw_attention_source_read(ev, &a, projected, &source, err);
    if (status == PW_OK)
        status = gather(&source, &arrays, err);
    if (status == PW_OK)
        status = golden_present(ev, &source, err);
    if (status == PW_OK)
        status = run(ev, &a, &arrays, err);
done:
    pw_free(projected);
    arrays_clear(&arrays);
    return status;
}
