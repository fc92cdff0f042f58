/*
 * A template: how query, key, value, past and present rows are put together, for one element type. Included by the
 * golden (REAL double) and the fast reference (REAL float), which define REAL, and NAME(x) to tell the copies apart.
 *
 * Row t of the keys of a sample: new rows lie from `start` on, before them rows of the past; the kernels' source_row
 * says the same. No include guard, as it is a template.
 */

/* Norm over the head, then rotation at the row's position; both optional. */
static void NAME(prepare)(const struct pw_attention_source *s, REAL *x, int64_t batch, int64_t row, bool key)
{
    const struct pw_attention *a = s->a;
    const REAL *norm = key ? s->k_norm : s->q_norm, *cosines = s->cosines, *sines = s->sines;
    int64_t position;

    if (norm) {
        REAL sum = 0;

        for (int64_t i = 0; i < a->size; i++)
            sum += x[i] * x[i];
        sum = 1 / (REAL)sqrt((double)(sum / (REAL)(a->size > 0 ? a->size : 1) + (REAL)a->norm_epsilon));
        for (int64_t i = 0; i < a->size; i++)
            x[i] = x[i] * sum * norm[i];
    }
    if (!cosines)
        return;
    position = pw_attention_position(s, batch, row);
    cosines += position * s->half;
    sines += position * s->half;
    for (int64_t i = 0; i < s->half; i++) {
        int64_t re_at = a->interleaved ? 2 * i : i, im_at = a->interleaved ? 2 * i + 1 : s->half + i;
        REAL re = x[re_at], im = x[im_at];

        x[re_at] = cosines[i] * re - sines[i] * im;
        x[im_at] = sines[i] * re + cosines[i] * im;
    }
}

/* New row r of a head: 0 of the queries, 1 of the keys, 2 of the values. */
static void NAME(new_row)(const struct pw_attention_source *s, int which, int64_t b, int64_t h, int64_t r, REAL *to)
{
    const struct pw_attention *a = s->a;
    const struct pw_attention_layout *l = which == 0 ? &a->q : which == 1 ? &a->k : &a->v;
    const REAL *from = which == 0 ? s->q : which == 1 ? s->k : s->v, *bias = s->bias;
    int64_t size = which == 2 ? a->value_size : a->size, at = which == 0   ? a->bias_q
                                                              : which == 1 ? a->bias_k
                                                                           : a->bias_v;

    memcpy(to, from + l->offset + b * l->batch + h * l->head + r * l->row, (size_t)size * sizeof *to);
    for (int64_t i = 0; bias && at >= 0 && i < size; i++)
        to[i] += bias[at + h * size + i];
    if (which < 2)
        NAME(prepare)(s, to, b, r, which == 1);
}

/* Row t of a sample's keys (1) or values (2): new, past (of the beam it came from, or the sample's own), or zeros. */
static void NAME(source_row)(const struct pw_attention_source *s, int which, int64_t b, int64_t h, int64_t t, bool own,
                             REAL *to)
{
    const struct pw_attention *a = s->a;
    const struct pw_attention_layout *l = which == 1 ? &a->past_k : &a->past_v;
    const REAL *past = which == 1 ? s->past_k : s->past_v;
    int64_t size = which == 2 ? a->value_size : a->size, start = pw_attention_start(s->ev, a, b);

    if (t >= start && t < start + a->fresh) {
        NAME(new_row)(s, which, b, h, t - start, to);
        return;
    }
    if (past && t < a->buffer)
        memcpy(to, past + l->offset + (own ? b : pw_attention_beam(s, b, t)) * l->batch + h * l->head + t * l->row,
               (size_t)size * sizeof *to);
    else
        memset(to, 0, (size_t)size * sizeof *to);
}

struct NAME(filling) {
    const struct pw_attention_source *s;
    int which;
    int64_t rows;
    const struct pw_attention_layout *layout;
    bool present; /* of an output: a window-sized cache begins later */
    REAL *to;
};

static void NAME(fill_heads)(void *user, int64_t begin, int64_t end)
{
    const struct NAME(filling) *f = user;
    const struct pw_attention *a = f->s->a;
    int64_t heads = f->which == 0 ? a->heads : a->kv_heads, size = f->which == 2 ? a->value_size : a->size;

    for (int64_t i = begin; i < end; i++) {
        int64_t b = i / heads, h = i % heads, skip = 0, resident = f->rows;
        REAL *to = f->to + f->layout->offset + b * f->layout->batch + h * f->layout->head;

        if (f->present && a->capacity > 0)
            pw_attention_resident(f->s->ev, a, b, &skip, &resident);
        for (int64_t r = 0; r < f->rows; r++, to += f->layout->row) {
            if (f->which == 0)
                NAME(new_row)(f->s, 0, b, h, r, to);
            else if (r < resident)
                NAME(source_row)(f->s, f->which, b, h, r + skip, f->present, to);
            else
                memset(to, 0, (size_t)size * sizeof *to);
        }
    }
}

/* Rows of all heads into a layout. */
static void NAME(fill)(const struct pw_attention_source *s, int which, int64_t rows,
                       const struct pw_attention_layout *layout, bool present, REAL *to)
{
    struct NAME(filling) f = {s, which, rows, layout, present, to};
    int64_t heads = which == 0 ? s->a->heads : s->a->kv_heads;

    pw_parallel_for(s->a->batch * heads, 16384 / (rows * s->a->size + 1) + 1, NAME(fill_heads), &f);
}

/* Writes the present outputs. */
static pw_status NAME(present)(struct pw_eval *ev, const struct pw_attention_source *s, struct pw_error *err)
{
    const struct pw_attention *a = s->a;
    struct pw_tensor *k = NULL, *v = NULL;
    pw_status status = pw_attention_output(ev, a->present_k_out, &k, err);

    if (status == PW_OK && a->present_v_out != a->present_k_out)
        status = pw_attention_output(ev, a->present_v_out, &v, err);
    if (status != PW_OK)
        return status;
    v = a->present_v_out == a->present_k_out ? k : v;
    if (k && k->count > 0)
        NAME(fill)(s, 1, a->present, &a->present_k, true, k->data);
    if (v && v->count > 0)
        NAME(fill)(s, 2, a->present, &a->present_v, true, v->data);
    return PW_OK;
}
