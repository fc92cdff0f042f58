/*
 * The fast reference: what is timed against. A unit is a block of queries of a head: sgemm for the scores of the keys
 * that the block may see, a softmax in vectors, sgemm for the values. Units run on all threads with OpenBLAS on one
 * thread each; a few units leave the threads to OpenBLAS. Operands are used where they lie unless rows must be put
 * together.
 */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/approx.h"
#include "base/compiler.h"
#include "base/parallel.h"
#include "ops/attention/attention_room.h"
#include "tensor/blas.h"

#define REAL float
#define NAME(x) fast_##x
#include "ops/attention/attention_rows.h"

enum { LANES = 16, BLOCK_SCORES = 64 * 1024 };

/* ---- softmax of a row ---- */

PW_HOT static void row_cap(float *s, int64_t n, float cap)
{
    float by = 1.0f / cap;

    for (int64_t i = 0; i < n; i++)
        s[i] = cap * pw_approx_tanh(s[i] * by);
}

PW_HOT static void row_add(float *restrict s, const float *restrict bias, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        s[i] += bias[i];
}

PW_HOT static void row_mask(float *restrict s, const uint8_t *restrict mask, int64_t n, float filter)
{
    for (int64_t i = 0; i < n; i++)
        s[i] += mask[i] ? 0.0f : filter;
}

PW_HOT static void row_mask_int(float *restrict s, const int32_t *restrict mask, int64_t n, float filter)
{
    for (int64_t i = 0; i < n; i++)
        s[i] += mask[i] ? 0.0f : filter;
}

PW_HOT static float row_max(const float *s, int64_t n)
{
    float maxima[LANES], max = -INFINITY;
    int64_t i = 0;

    for (int l = 0; l < LANES; l++)
        maxima[l] = -INFINITY;
    for (; i + LANES <= n; i += LANES) {
        for (int l = 0; l < LANES; l++)
            maxima[l] = s[i + l] > maxima[l] ? s[i + l] : maxima[l];
    }
    for (; i < n; i++)
        max = s[i] > max ? s[i] : max;
    for (int l = 0; l < LANES; l++)
        max = maxima[l] > max ? maxima[l] : max;
    return max;
}

/* A row without any number above -infinity is masked, unless a NaN is why. */
static bool row_has_nan(const float *s, int64_t n)
{
    bool found = false;

    for (int64_t i = 0; i < n; i++)
        found |= s[i] != s[i];
    return found;
}

PW_HOT static float row_exp(float *s, int64_t n, float max)
{
    float sums[LANES] = {0}, sum = 0.0f;
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        for (int l = 0; l < LANES; l++) {
            s[i + l] = pw_approx_exp(s[i + l] - max);
            sums[l] += s[i + l];
        }
    }
    for (; i < n; i++) {
        s[i] = pw_approx_exp(s[i] - max);
        sum += s[i];
    }
    for (int l = 0; l < LANES; l++)
        sum += sums[l];
    return sum;
}

PW_HOT static void row_scale(float *s, int64_t n, float factor)
{
    for (int64_t i = 0; i < n; i++)
        s[i] *= factor;
}

/* ---- one block ---- */

struct operand {
    const float *at;
    int64_t batch, head, row;
    float *owned;
};

struct job {
    struct pw_eval *ev;
    const struct pw_attention *a;
    struct operand q, k, v;
    const struct pw_tensor *bias, *mask, *sinks;
    struct pw_tensor *y, *scores;
    int64_t block, blocks;
    atomic_bool *short_of_memory;
};

struct unit {
    int64_t batch, head, first, rows; /* queries */
    int64_t low, high;                /* keys that any of them sees */
    int64_t length, offset;
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Keys [*low, *high) that a query sees, by length, order and window. */
static void limits(const struct pw_attention *a, const struct unit *u, int64_t query, int64_t *low, int64_t *high)
{
    int64_t position = u->offset + query;

    *low = a->left >= 0 && position > a->left ? position - a->left : 0;
    *high = u->length;
    if (a->causal)
        *high = least(*high, position + 1);
    if (a->right >= 0)
        *high = least(*high, position + a->right + 1);
    if (a->bias_input >= 0)
        *high = least(*high, a->bias.keys);
    if (a->mask_input >= 0 && !a->mask_is_ends)
        *high = least(*high, a->mask.keys);
    *high = *high < *low ? *low : *high;
}

static int64_t mask_at(const struct pw_attention_mask *m, const struct unit *u, int64_t query, int64_t key)
{
    return u->batch * m->batch + u->head * m->head + query * m->query + key * m->key;
}

/* Mask and bias of keys [low, high) of a query on its scores. */
static void add_masks(const struct job *job, const struct unit *u, int64_t query, int64_t low, int64_t high, float *s)
{
    const struct pw_attention *a = job->a;
    float filter = (float)a->filter;
    int64_t n = high - low;

    if (job->bias) {
        const float *bias = (const float *)job->bias->data + mask_at(&a->bias, u, query, low);

        if (a->bias.key == 1)
            row_add(s, bias, n);
        for (int64_t i = 0; a->bias.key != 1 && i < n; i++)
            s[i] += bias[0];
    }
    if (job->mask && a->mask_is_ends) {
        int64_t end = pw_tensor_get_int(job->mask, u->batch);
        int64_t start = a->mask_starts ? pw_tensor_get_int(job->mask, a->batch + u->batch) : 0;

        for (int64_t i = 0; i < n; i++)
            s[i] += low + i >= end || low + i < start ? filter : 0.0f;
    } else if (job->mask && a->mask.key == 1 && n > 0) {
        int64_t at = mask_at(&a->mask, u, query, low);

        if (job->mask->dtype == PW_DTYPE_BOOL)
            row_mask(s, (const uint8_t *)job->mask->data + at, n, filter);
        else if (job->mask->dtype == PW_DTYPE_INT32)
            row_mask_int(s, (const int32_t *)job->mask->data + at, n, filter);
        for (int64_t i = 0; job->mask->dtype != PW_DTYPE_BOOL && job->mask->dtype != PW_DTYPE_INT32 && i < n; i++)
            s[i] += pw_tensor_get_int(job->mask, at + i) ? 0.0f : filter;
    } else if (job->mask && n > 0 && pw_tensor_get_int(job->mask, mask_at(&a->mask, u, query, low)) == 0) {
        for (int64_t i = 0; i < n; i++)
            s[i] += filter;
    }
}

/* The scores output is of all keys; what the block left out is -inf, or 0 as a probability. */
static void keep_scores(const struct job *job, const struct unit *u, int64_t query, const float *s, int stage)
{
    const struct pw_attention *a = job->a;
    float *out, rest = stage == 3 ? 0.0f : -INFINITY;

    if (!job->scores || a->scores_stage != stage)
        return;
    out = (float *)job->scores->data + ((u->batch * a->heads + u->head) * a->queries + query) * a->keys;
    for (int64_t k = 0; k < a->keys; k++)
        out[k] = k >= u->low && k < u->high ? s[k - u->low] : rest;
}

/* Scores of keys [u->low, u->high) to probabilities; a row that is wholly masked becomes zeros. */
static void soften(const struct job *job, const struct unit *u, int64_t query, float *s)
{
    const struct pw_attention *a = job->a;
    bool has_sink = a->smooth || job->sinks;
    float sink = job->sinks ? ((const float *)job->sinks->data)[u->head] : 0.0f, max, sum;
    int64_t low, high;

    limits(a, u, query, &low, &high);
    keep_scores(job, u, query, s, 0);
    if (a->softcap > 0)
        row_cap(s, u->high - u->low, (float)a->softcap);
    keep_scores(job, u, query, s, 1);
    for (int64_t k = u->low; k < low; k++)
        s[k - u->low] = -INFINITY;
    for (int64_t k = high; k < u->high; k++)
        s[k - u->low] = -INFINITY;
    add_masks(job, u, query, low, high, s + (low - u->low));
    keep_scores(job, u, query, s, 2);
    max = row_max(s, u->high - u->low);
    max = has_sink && sink > max ? sink : max;
    if (max == -INFINITY && !row_has_nan(s, u->high - u->low)) {
        memset(s, 0, (size_t)(u->high - u->low) * sizeof *s);
    } else {
        sum = row_exp(s, u->high - u->low, max); /* max of NaN alone: -infinity, and NaN - -infinity is NaN */
        sum += has_sink ? expf(sink - max) : 0.0f;
        row_scale(s, u->high - u->low, sum == 0.0f ? 0.0f : 1.0f / sum);
    }
    keep_scores(job, u, query, s, 3);
}

static void run_unit(const struct job *job, struct unit *u, float *scores)
{
    const struct pw_attention *a = job->a;
    int64_t kv = u->head / (a->heads / a->kv_heads), n;
    const float *q = job->q.at + u->batch * job->q.batch + u->head * job->q.head + u->first * job->q.row;
    const float *k = job->k.at + u->batch * job->k.batch + kv * job->k.head;
    const float *v = job->v.at + u->batch * job->v.batch + kv * job->v.head;
    float *y = (float *)job->y->data + a->y.offset + u->batch * a->y.batch + u->head * a->y.head + u->first * a->y.row;

    u->length = pw_attention_length(job->ev, a, u->batch);
    u->offset = pw_attention_offset(job->ev, a, u->batch);
    u->low = a->keys;
    u->high = 0;
    for (int64_t r = u->first; r < u->first + u->rows; r++) {
        int64_t low, high;

        limits(a, u, r, &low, &high);
        u->low = least(u->low, low);
        u->high = high > u->high ? high : u->high;
    }
    if (job->scores && a->scores_stage < 2) { /* before the masks every key has a score */
        u->low = 0;
        u->high = a->keys;
    }
    n = u->high > u->low ? u->high - u->low : 0;
    u->high = u->low + n;
    pw_blas_sgemm(false, true, u->rows, n, a->size, (float)a->scale, q, job->q.row, k + u->low * job->k.row, job->k.row,
                  0.0f, scores, n);
    for (int64_t r = 0; r < u->rows; r++)
        soften(job, u, u->first + r, scores + r * n);
    if (n > 0)
        pw_blas_sgemm(false, false, u->rows, a->value_size, n, 1.0f, scores, n, v + u->low * job->v.row, job->v.row,
                      0.0f, y, a->y.row);
    for (int64_t r = 0; n == 0 && r < u->rows; r++)
        memset(y + r * a->y.row, 0, (size_t)a->value_size * sizeof *y);
}

static void run_units(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;
    const struct pw_attention *a = job->a;
    float *scores = pw_alloc_aligned((size_t)(job->block * a->keys + LANES) * sizeof *scores);

    for (int64_t i = begin; scores && i < end; i++) {
        int64_t head = i / job->blocks;
        struct unit u = {.batch = head / a->heads, .head = head % a->heads, .first = i % job->blocks * job->block};

        u.rows = least(job->block, a->queries - u.first);
        run_unit(job, &u, scores);
    }
    if (!scores)
        atomic_store(job->short_of_memory, true);
    pw_free(scores);
}

/* ---- operands ---- */

static struct operand in_place(const void *data, const struct pw_attention_layout *l)
{
    return (struct operand){(const float *)data + l->offset, l->batch, l->head, l->row, NULL};
}

/* Rows put together, in memory of their own or in a present output that has them all. */
static pw_status together(const struct pw_attention_source *s, int which, struct operand *out, struct pw_error *err)
{
    const struct pw_attention *a = s->a;
    int64_t heads = which == 0 ? a->heads : a->kv_heads, rows = which == 0 ? a->queries : a->keys;
    int64_t size = which == 2 ? a->value_size : a->size;
    struct pw_attention_layout l = {0, heads * rows * size, rows * size, size};
    size_t bytes = SIZE_MAX;
    float *data =
        pw_attention_bytes(a->batch, heads, rows, size, sizeof(float), &bytes) ? pw_alloc_aligned(bytes) : NULL;

    if (!data)
        return pw_error_memory(err, bytes);
    fast_fill(s, which, rows, &l, false, data);
    *out = in_place(data, &l);
    out->owned = data;
    return PW_OK;
}

static pw_status place(const struct pw_attention_source *s, struct pw_eval *ev, int which, struct operand *out,
                       struct pw_error *err)
{
    const struct pw_attention *a = s->a;
    const struct pw_attention_layout *fresh = which == 0 ? &a->q : which == 1 ? &a->k : &a->v;
    const struct pw_attention_layout *kept = which == 1 ? &a->present_k : &a->present_v;
    const void *data = which == 0 ? s->q : which == 1 ? s->k : s->v;
    int64_t bias = which == 0 ? a->bias_q : which == 1 ? a->bias_k : a->bias_v;
    int present = which == 0 ? -1 : which == 1 ? a->present_k_out : a->present_v_out;
    bool turned = which < 2 && (s->cosines || (which == 0 ? s->q_norm : s->k_norm));

    if (!(s->bias && bias >= 0) && !turned &&
        (which == 0 || (a->buffer == 0 && a->fresh == a->keys && a->start == 0))) {
        *out = in_place(data, fresh);
        return PW_OK;
    }
    /* The present was filled before: it has the same rows, and maybe more. */
    if (present >= 0 && present < ev->output_count && (!ev->call->wanted || ev->call->wanted[present]) &&
        a->capacity == 0 && !s->indirection && a->present >= a->keys) {
        *out = in_place(ev->out[present].tensor.data, kept);
        return PW_OK;
    }
    return together(s, which, out, err);
}

/* ---- the call ---- */

/* Carried floats are float32, but for those that the model has in float64. */
static bool one_carrier(const struct pw_eval *ev)
{
    for (int i = 0; i < ev->input_count; i++) {
        const struct pw_tensor *t = pw_eval_in(ev, i);

        if (t && pw_dtype_is_float(t->dtype) && t->dtype != PW_DTYPE_FLOAT32)
            return false;
    }
    return true;
}

/* An output of golden in the carrier that the fast reference has for its type. */
static pw_status carry_back(struct pw_eval *ev, int i, struct pw_value *from, struct pw_error *err)
{
    struct pw_tensor *to = NULL;
    pw_status status = from->kind == PW_VALUE_TENSOR
                           ? pw_eval_output(ev, i, from->tensor.nominal, from->tensor.rank, from->tensor.dims, &to, err)
                           : PW_OK;

    for (int64_t k = 0; status == PW_OK && to && k < to->count; k++)
        pw_tensor_set(to, k, pw_tensor_get(&from->tensor, k));
    return status;
}

/* With float64 in play golden serves, on doubles for all. */
static pw_status in_double(struct pw_eval *ev, struct pw_error *err)
{
    enum { MOST = 16 };
    struct pw_value in[MOST] = {{0}}, out[MOST] = {{0}};
    const struct pw_value *given[MOST] = {0};
    struct pw_eval golden = *ev;
    pw_status status = PW_OK;

    if (ev->input_count > MOST || ev->output_count > MOST)
        return pw_error_set(err, PW_ERR_INTERNAL, "more inputs than an attention operator has");
    golden.mode = PW_EVAL_GOLDEN;
    golden.in = given;
    golden.out = out;
    for (int i = 0; i < ev->input_count && status == PW_OK; i++) {
        const struct pw_tensor *t = pw_eval_in(ev, i);

        given[i] = ev->in[i];
        if (!t || !pw_dtype_is_float(t->dtype))
            continue;
        in[i].kind = PW_VALUE_TENSOR;
        status = pw_tensor_convert(&in[i].tensor, t, PW_DTYPE_FLOAT64, err);
        in[i].tensor.nominal = t->nominal;
        given[i] = &in[i];
    }
    if (status == PW_OK)
        status = pw_attention_golden(&golden, err);
    for (int i = 0; i < ev->output_count && status == PW_OK; i++)
        status = carry_back(ev, i, &out[i], err);
    for (int i = 0; i < MOST; i++) {
        pw_value_clear(&in[i]);
        pw_value_clear(&out[i]);
    }
    return status;
}

static pw_status run(struct job *job, struct pw_error *err)
{
    const struct pw_attention *a = job->a;
    int64_t units;
    atomic_bool short_of_memory = false;
    pw_status status = pw_attention_output(job->ev, 0, &job->y, err);

    if (status == PW_OK)
        status = pw_attention_output(job->ev, a->scores_out, &job->scores, err);
    if (status != PW_OK || !job->y || job->y->count == 0)
        return status;
    job->short_of_memory = &short_of_memory;
    job->block = BLOCK_SCORES / (a->keys + 1);
    job->block = job->block < 16 ? 16 : job->block;
    job->block = least(job->block, a->queries);
    job->blocks = (a->queries + job->block - 1) / job->block;
    units = a->batch * a->heads * job->blocks;
    if (units >= pw_parallel_count()) {
        int threads = pw_blas_threads_now();

        pw_blas_threads(1);
        pw_parallel_for(units, 1, run_units, job);
        pw_blas_threads(threads);
    } else {
        run_units(job, 0, units);
    }
    return atomic_load(&short_of_memory) ? pw_error_memory(err, (size_t)(job->block * a->keys) * sizeof(float)) : PW_OK;
}

pw_status pw_attention_fast(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_attention_form *form = ev->call->op->data;
    const struct pw_tensor *x = pw_eval_in(ev, 0), *w = pw_eval_in(ev, 1);
    struct pw_attention_source source;
    struct pw_attention a;
    struct job job = {.ev = ev, .a = &a};
    float *projected = NULL;
    size_t bytes = SIZE_MAX;
    pw_status status = form->read(ev->call, &a, err);

    if (status != PW_OK)
        return status;
    if (!one_carrier(ev))
        return in_double(ev, err);
    if (a.projected) {
        if (pw_attention_bytes(1, a.batch, a.queries, w->dims[1], sizeof *projected, &bytes))
            projected = pw_alloc_aligned(bytes);
        if (!projected)
            return pw_error_memory(err, bytes);
        pw_blas_sgemm(false, false, a.batch * a.queries, w->dims[1], x->dims[2], 1.0f, x->data, x->dims[2], w->data,
                      w->dims[1], 0.0f, projected, w->dims[1]);
    }
    status = pw_attention_source_read(ev, &a, projected, &source, err);
    if (status == PW_OK)
        status = fast_present(ev, &source, err);
    if (status == PW_OK)
        status = place(&source, ev, 0, &job.q, err);
    if (status == PW_OK)
        status = place(&source, ev, 1, &job.k, err);
    if (status == PW_OK)
        status = place(&source, ev, 2, &job.v, err);
    job.bias = a.bias_input < 0 ? NULL : pw_eval_in(ev, a.bias_input);
    job.mask = a.mask_input < 0 ? NULL : pw_eval_in(ev, a.mask_input);
    job.sinks = a.sink_input < 0 ? NULL : pw_eval_in(ev, a.sink_input);
    if (status == PW_OK)
        status = run(&job, err);
    pw_free(job.q.owned);
    pw_free(job.k.owned);
    pw_free(job.v.owned);
    pw_free(projected);
    return status;
}
