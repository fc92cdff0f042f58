/* What the two references share and no element type touches: lengths, positions, where rows come from, outputs. */
#include <string.h>

#include "ops/attention/attention_room.h"

/* ---- lengths ---- */

/* A sample's tokens so far, the new ones too. */
static int64_t total_length(const struct pw_eval *ev, const struct pw_attention *a, int64_t batch)
{
    const struct pw_tensor *lengths = a->lengths_input < 0 ? NULL : pw_eval_in(ev, a->lengths_input);
    int64_t most = a->capacity > 0 ? a->total : a->keys;
    int64_t length = lengths ? pw_tensor_get_int(lengths, batch) + a->lengths_add : most;

    return length > most ? most : length < 0 ? 0 : length;
}

/* Positions that a window-sized cache holds after `tokens`: the definition's L(T). */
static int64_t resident_of(const struct pw_attention *a, int64_t tokens)
{
    int64_t step = a->capacity - a->left; /* capacity - window + 1, and left = window - 1 */

    if (tokens <= a->capacity)
        return tokens < 0 ? 0 : tokens;
    return tokens - step * ((tokens - a->capacity + step - 1) / step);
}

/* Rows of the past that count: all but those that a window-sized cache has dropped. */
static int64_t past_rows(const struct pw_eval *ev, const struct pw_attention *a, int64_t batch)
{
    return resident_of(a, a->offset_by_length ? total_length(ev, a, batch) - a->queries : 0);
}

int64_t pw_attention_length(const struct pw_eval *ev, const struct pw_attention *a, int64_t batch)
{
    int64_t total = total_length(ev, a, batch);

    if (a->capacity == 0)
        return total;
    return a->offset_by_length ? past_rows(ev, a, batch) + a->queries : total;
}

int64_t pw_attention_offset(const struct pw_eval *ev, const struct pw_attention *a, int64_t batch)
{
    return a->offset_by_length ? pw_attention_length(ev, a, batch) - a->queries : a->offset;
}

int64_t pw_attention_start(const struct pw_eval *ev, const struct pw_attention *a, int64_t batch)
{
    int64_t start = a->start_by_length ? pw_attention_offset(ev, a, batch) : a->start;

    return start < 0 ? 0 : start;
}

void pw_attention_resident(const struct pw_eval *ev, const struct pw_attention *a, int64_t batch, int64_t *skip,
                           int64_t *rows)
{
    *rows = resident_of(a, total_length(ev, a, batch));
    *skip = pw_attention_length(ev, a, batch) - *rows;
    *skip = *skip < 0 ? 0 : *skip;
}

int64_t pw_attention_position(const struct pw_attention_source *s, int64_t batch, int64_t row)
{
    const struct pw_attention *a = s->a;
    int64_t first;

    if (s->positions)
        return pw_tensor_get_int(s->positions, batch * a->queries + row);
    first = a->offset_by_length ? total_length(s->ev, a, batch) - a->queries : a->offset;
    return first + row;
}

int64_t pw_attention_beam(const struct pw_attention_source *s, int64_t batch, int64_t row)
{
    const struct pw_tensor *t = s->indirection;

    if (!t || row >= s->a->past)
        return batch;
    return batch / s->a->beams * s->a->beams + pw_tensor_get_int(t, batch * t->dims[2] + row);
}

/* ---- sources ---- */

static const void *data_of(const struct pw_eval *ev, int input)
{
    const struct pw_tensor *t = input < 0 ? NULL : pw_eval_in(ev, input);

    return t ? t->data : NULL;
}

static pw_status check_positions(const struct pw_attention_source *s, struct pw_error *err)
{
    const struct pw_attention *a = s->a;

    for (int64_t b = 0; s->cosines && b < a->batch; b++) {
        for (int64_t r = 0; r < a->queries; r++) {
            int64_t position = pw_attention_position(s, b, r);

            if (position < 0 || position >= s->cache_rows)
                return pw_call_error(s->ev->call, err, "position %lld lies outside of the %lld rows of cos_cache",
                                     (long long)position, (long long)s->cache_rows);
        }
    }
    return PW_OK;
}

static pw_status check_beams(const struct pw_attention_source *s, struct pw_error *err)
{
    for (int64_t b = 0; s->indirection && b < s->a->batch; b++) {
        for (int64_t r = 0; r < s->a->past; r++) {
            int64_t beam = pw_attention_beam(s, b, r) - b / s->a->beams * s->a->beams;

            if (beam < 0 || beam >= s->a->beams)
                return pw_call_error(s->ev->call, err, "cache_indirection names beam %lld of %lld", (long long)beam,
                                     (long long)s->a->beams);
        }
    }
    return PW_OK;
}

pw_status pw_attention_source_read(struct pw_eval *ev, const struct pw_attention *a, const void *projected,
                                   struct pw_attention_source *s, struct pw_error *err)
{
    pw_status status;

    memset(s, 0, sizeof *s);
    s->ev = ev;
    s->a = a;
    s->q = projected ? projected : data_of(ev, a->q_input);
    s->k = projected ? projected : data_of(ev, a->k_input);
    s->v = projected ? projected : data_of(ev, a->v_input);
    s->bias = data_of(ev, a->projection_bias);
    s->past_k = data_of(ev, a->past_k_input);
    s->past_v = data_of(ev, a->past_v_input);
    s->q_norm = data_of(ev, a->q_norm_input);
    s->k_norm = data_of(ev, a->k_norm_input);
    s->cosines = data_of(ev, a->cos_input);
    s->sines = data_of(ev, a->sin_input);
    s->positions = a->positions_input < 0 ? NULL : pw_eval_in(ev, a->positions_input);
    s->indirection = a->indirection_input < 0 ? NULL : pw_eval_in(ev, a->indirection_input);
    if (s->cosines) {
        s->half = pw_eval_in(ev, a->cos_input)->dims[1];
        s->cache_rows = pw_eval_in(ev, a->cos_input)->dims[0];
    }
    status = check_positions(s, err);
    return status == PW_OK ? check_beams(s, err) : status;
}

/* ---- outputs ---- */

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

bool pw_attention_bytes(int64_t a, int64_t b, int64_t c, int64_t d, size_t element, size_t *out)
{
    int64_t n;

    if (__builtin_mul_overflow(a, b, &n) || __builtin_mul_overflow(n, c, &n) || __builtin_mul_overflow(n, d, &n) ||
        n > INT64_MAX / 64)
        return false;
    *out = ((size_t)n + 1) * element;
    return true;
}
