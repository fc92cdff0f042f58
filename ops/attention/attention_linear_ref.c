/* The references of LinearAttention: token by token, the state of a head as rows of value_size. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/approx.h"
#include "base/compiler.h"
#include "base/parallel.h"
#include "ops/attention/attention_linear.h"

enum { QUERY, KEY, VALUE, PAST, DECAY, BETA };

struct job {
    struct pw_linear_attention a;
    const void *q, *k, *v, *past, *decay, *beta;
    void *y, *present;
    atomic_bool *short_of_memory;
};

/* T is stored, C computed in. `state` has the head's rows and after them room for one more. */
#define LINEAR(NAME, HOT, T, C, EXP)                                                                                   \
    HOT static void token_##NAME(const struct job *job, int64_t at, int64_t h, C *state)                               \
    {                                                                                                                  \
        const struct pw_linear_attention *a = &job->a;                                                                 \
        int64_t size = a->size, values = a->value_size, group = a->heads / a->kv_heads;                                \
        const T *k = (const T *)job->k + (at * a->kv_heads + h) * size;                                                \
        const T *v = (const T *)job->v + (at * a->kv_heads + h) * values;                                              \
        C *update = state + size * values;                                                                             \
                                                                                                                       \
        for (int64_t d = 0; a->gated && d < size; d++) {                                                               \
            int64_t g = a->decays == 1 ? at * a->kv_heads + h : (at * a->kv_heads + h) * size + d;                     \
            C factor = EXP((C)((const T *)job->decay)[g]);                                                             \
                                                                                                                       \
            for (int64_t m = 0; m < values; m++)                                                                       \
                state[d * values + m] *= factor;                                                                       \
        }                                                                                                              \
        for (int64_t m = 0; m < values; m++)                                                                           \
            update[m] = 0;                                                                                             \
        for (int64_t d = 0; a->delta && d < size; d++) {                                                               \
            for (int64_t m = 0; m < values; m++)                                                                       \
                update[m] += state[d * values + m] * (C)k[d];                                                          \
        }                                                                                                              \
        for (int64_t m = 0; m < values; m++) {                                                                         \
            C rate = a->delta ? (C)((const T *)job->beta)[at * a->betas + (a->betas == 1 ? 0 : h)] : 1;                \
                                                                                                                       \
            update[m] = rate * ((C)v[m] - update[m]);                                                                  \
        }                                                                                                              \
        for (int64_t d = 0; d < size; d++) {                                                                           \
            for (int64_t m = 0; m < values; m++)                                                                       \
                state[d * values + m] += (C)k[d] * update[m];                                                          \
        }                                                                                                              \
        for (int64_t g = 0; g < group; g++) {                                                                          \
            const T *q = (const T *)job->q + (at * a->heads + h * group + g) * size;                                   \
            T *y = (T *)job->y + (at * a->heads + h * group + g) * values;                                             \
                                                                                                                       \
            for (int64_t m = 0; m < values; m++)                                                                       \
                update[m] = 0;                                                                                         \
            for (int64_t d = 0; d < size; d++) {                                                                       \
                for (int64_t m = 0; m < values; m++)                                                                   \
                    update[m] += (C)q[d] * state[d * values + m];                                                      \
            }                                                                                                          \
            for (int64_t m = 0; m < values; m++)                                                                       \
                y[m] = (T)((C)a->scale * update[m]);                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    static void heads_##NAME(void *user, int64_t begin, int64_t end)                                                   \
    {                                                                                                                  \
        const struct job *job = user;                                                                                  \
        const struct pw_linear_attention *a = &job->a;                                                                 \
        int64_t elements = a->size * a->value_size;                                                                    \
        C *state = pw_calloc((size_t)(elements + a->value_size), sizeof *state);                                       \
                                                                                                                       \
        for (int64_t i = begin; state && i < end; i++) {                                                               \
            for (int64_t e = 0; e < elements; e++)                                                                     \
                state[e] = job->past ? (C)((const T *)job->past)[i * elements + e] : 0;                                \
            for (int64_t t = 0; t < a->tokens; t++)                                                                    \
                token_##NAME(job, i / a->kv_heads * a->tokens + t, i % a->kv_heads, state);                            \
            for (int64_t e = 0; job->present && e < elements; e++)                                                     \
                ((T *)job->present)[i * elements + e] = (T)state[e];                                                   \
        }                                                                                                              \
        if (!state)                                                                                                    \
            atomic_store(job->short_of_memory, true);                                                                  \
        pw_free(state);                                                                                                \
    }
LINEAR(single, PW_HOT, float, float, pw_approx_exp)
LINEAR(golden, PW_HOT, double, double, exp)
LINEAR(precise, , double, long double, expl)

static const void *data_of(const struct pw_eval *ev, int i)
{
    const struct pw_tensor *t = pw_eval_in(ev, i);

    return t ? t->data : NULL;
}

pw_status pw_linear_attention_eval(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *q = pw_eval_in(ev, QUERY), *past = pw_eval_in(ev, PAST);
    struct pw_tensor *y = NULL, *present = NULL;
    atomic_bool short_of_memory = false;
    struct job job = {.short_of_memory = &short_of_memory};
    const struct pw_linear_attention *a = &job.a;
    pw_status status = pw_linear_attention_read(ev->call, &job.a, err);

    if (status != PW_OK)
        return status;
    if (!q || a->batch < 0 || a->tokens < 0 || a->size < 0 || a->value_size < 0)
        return pw_call_error(ev->call, err, "the shapes are not known");
    if (past && past->dtype != q->dtype)
        return pw_call_error(ev->call, err, "a state of %s beside %s is not evaluated", pw_dtype_name(past->nominal),
                             pw_dtype_name(q->nominal));
    status =
        pw_eval_output(ev, 0, q->nominal, 3, (const int64_t[]){a->batch, a->tokens, a->heads * a->value_size}, &y, err);
    if (status == PW_OK && ev->output_count > 1 && ev->call->wanted[1])
        status = pw_eval_output(ev, 1, past ? past->nominal : q->nominal, 4,
                                (const int64_t[]){a->batch, a->kv_heads, a->size, a->value_size}, &present, err);
    if (status != PW_OK)
        return status;
    job.q = q->data;
    job.k = data_of(ev, KEY);
    job.v = data_of(ev, VALUE);
    job.past = data_of(ev, PAST);
    job.decay = data_of(ev, DECAY);
    job.beta = data_of(ev, BETA);
    job.y = y->data;
    job.present = present ? present->data : NULL;
    pw_parallel_for(a->batch * a->kv_heads, 1,
                    q->dtype == PW_DTYPE_FLOAT32                                   ? heads_single
                    : ev->mode == PW_EVAL_GOLDEN && q->nominal == PW_DTYPE_FLOAT64 ? heads_precise
                                                                                   : heads_golden,
                    &job);
    return atomic_load(&short_of_memory) ? pw_error_memory(err, (size_t)(a->size * a->value_size) * sizeof(long double))
                                         : PW_OK;
}
