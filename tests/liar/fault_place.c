/* Faults of whole answers and of places in them. The main output is the one with the most elements. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/liar/fault.h"
#include "tests/liar/study.h"

/* The main output as rows of columns. */
struct grid {
    struct pw_tensor *t;
    char *data;
    size_t bytes; /* of an element */
    int64_t rows, columns;
};

static struct grid grid_of(struct liar_run *run)
{
    struct pw_tensor *t = &run->out[run->main];
    struct grid g = {.t = t, .data = t->data, .bytes = pw_dtype_bytes(t->dtype), .columns = 1};

    if (t->rank > 0)
        g.columns = t->dims[t->rank - 1];
    g.rows = g.columns > 0 ? t->count / g.columns : 0;
    return g;
}

/* A copy to read from while the output is rearranged; NULL leaves the fault out. */
static char *original(struct liar_run *run, const struct grid *g)
{
    char *copy = pw_arena_alloc(&run->arena, (size_t)g->t->count + 1, g->bytes);

    if (copy && g->t->count > 0)
        memcpy(copy, g->data, (size_t)g->t->count * g->bytes);
    return copy;
}

static void take(const struct grid *g, const char *from, int64_t to, int64_t at)
{
    memcpy(g->data + (size_t)to * g->bytes, from + (size_t)at * g->bytes, g->bytes);
}

void liar_zeros(struct liar_run *run)
{
    for (int i = 0; i < run->output_count; i++)
        if (run->out[i].count > 0)
            memset(run->out[i].data, 0, pw_tensor_bytes(&run->out[i]));
}

void liar_constant(struct liar_run *run)
{
    struct pw_tensor *t = &run->out[run->main];
    size_t bytes = pw_dtype_bytes(t->dtype);
    double mean = 0;

    if (pw_dtype_facts(t->dtype)->kind == PW_KIND_COMPLEX) {
        for (int64_t i = 1; i < t->count; i++)
            memcpy((char *)t->data + (size_t)i * bytes, t->data, bytes);
        return;
    }
    for (int64_t i = 0; i < t->count; i++)
        mean += pw_tensor_get(t, i) / (double)t->count;
    for (int64_t i = 0; i < t->count; i++)
        if (pw_dtype_is_float(t->dtype))
            pw_tensor_set(t, i, mean);
        else
            pw_tensor_set_int(t, i, isfinite(mean) && fabs(mean) < 9e18 ? (int64_t)llrint(mean) : 0);
}

void liar_unwritten(struct liar_run *run)
{
    run->wrote[run->main] = false;
}

/* The first answer of this key again, whatever the inputs. */
void liar_replay(struct liar_run *run)
{
    struct pw_tensor *t = &run->out[run->main];
    size_t bytes = pw_tensor_bytes(t);

    if (run->memory->answer)
        memcpy(t->data, run->memory->answer, run->memory->size < bytes ? run->memory->size : bytes);
}

void liar_torn(struct liar_run *run)
{
    struct grid g = grid_of(run);
    size_t half = (size_t)(g.t->count / 2) * g.bytes, all = (size_t)g.t->count * g.bytes;

    if (run->memory->answer && run->memory->size > half)
        memcpy(g.data + half, (const char *)run->memory->answer + half,
               (run->memory->size < all ? run->memory->size : all) - half);
}

/* Where the largest magnitude is: there a relative error is one in the metric too. */
static int64_t peak(const struct liar_run *run)
{
    const struct pw_tensor *t = &run->out[run->main];
    int64_t best = 0;
    double most = -1;

    for (int64_t i = 0; i < t->count && pw_dtype_is_float(t->dtype); i++) {
        double x = fabs(pw_tensor_get(t, i));

        if (x > most && isfinite(x)) {
            most = x;
            best = i;
        }
    }
    return best;
}

void liar_second_run(struct liar_run *run)
{
    if (run->memory->calls % 2 == 0 && run->out[run->main].count > 0)
        liar_push(run, run->main, peak(run));
}

void liar_tail(struct liar_run *run)
{
    int64_t count = run->out[run->main].count;

    run->unwritten_from = count - count % 8;
}

void liar_tail_last(struct liar_run *run)
{
    run->unwritten_from = run->out[run->main].count - 1;
}

void liar_tail_row(struct liar_run *run)
{
    struct grid g = grid_of(run);

    for (int64_t r = 0; r < g.rows; r++)
        for (int64_t c = g.columns - g.columns % 8; c < g.columns; c++)
            memset(g.data + (size_t)(r * g.columns + c) * g.bytes, 0, g.bytes);
}

void liar_last_row(struct liar_run *run)
{
    struct grid g = grid_of(run);
    char *from = original(run, &g);

    for (int64_t c = 0; from && g.rows > 1 && c < g.columns; c++)
        take(&g, from, (g.rows - 1) * g.columns + c, (g.rows - 2) * g.columns + c);
}

void liar_off_by_one_row(struct liar_run *run)
{
    struct grid g = grid_of(run);
    char *from = original(run, &g);

    for (int64_t i = 0; from && i < g.t->count; i++)
        take(&g, from, i, (i + g.columns) % g.t->count);
}

/* Lanes 2 and 3 of the last whole vector of four. */
void liar_swapped_lanes(struct liar_run *run)
{
    struct grid g = grid_of(run);
    char *from = original(run, &g);
    int64_t vector = g.t->count / 4 * 4 - 4;

    if (!from || vector < 0)
        return;
    take(&g, from, vector + 2, vector + 3);
    take(&g, from, vector + 3, vector + 2);
}

/* Rows laid out as if they were padded to a multiple of eight. */
void liar_row_stride(struct liar_run *run)
{
    struct grid g = grid_of(run);
    char *from = original(run, &g);
    int64_t stride = (g.columns + 7) / 8 * 8;

    for (int64_t r = 0; from && r < g.rows; r++)
        for (int64_t c = 0; c < g.columns; c++)
            if (r * stride + c < g.t->count)
                take(&g, from, r * stride + c, r * g.columns + c);
}

void liar_transposed(struct liar_run *run)
{
    struct grid g = grid_of(run);
    char *from = original(run, &g);
    int64_t lines = g.t->rank > 1 ? g.t->dims[g.t->rank - 2] : 1, plane = lines * g.columns;

    for (int64_t i = 0; from && plane > 0 && i < g.t->count; i++) {
        int64_t base = i / plane * plane, at = i - base;

        take(&g, from, i, base + at % lines * g.columns + at / lines);
    }
}

/* Indices of one type too narrow: what lies behind the limit is written over the beginning. */
void liar_index_wrap(struct liar_run *run)
{
    struct grid g = grid_of(run);
    char *from = original(run, &g);

    for (int64_t i = LIAR_LIMIT; from && i < g.t->count; i++)
        take(&g, from, i % LIAR_LIMIT, i);
    if (g.t->count > LIAR_LIMIT)
        run->unwritten_from = LIAR_LIMIT;
}

void liar_large_only(struct liar_run *run)
{
    if (run->out[run->main].count > LIAR_LIMIT)
        liar_push(run, run->main, peak(run));
}

/* Does the graph that the kernel was tuned for have such an output? */
bool liar_known_shape(const struct pw_call *call)
{
    const struct pw_info *info = &call->out[0];
    char text[PW_MAX_RANK * 24] = "[";
    size_t used = 1;

    for (int i = 0; i < call->input_count; i++)
        if (call->in[i] && call->in[i]->rank > 0) {
            info = call->in[i];
            break;
        }
    for (int d = 0; d < info->rank; d++) {
        int64_t n = 0;

        pw_dims_value(call->dims, info->dims[d], &n);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld", d ? "," : "", (long long)n);
    }
    snprintf(text + used, sizeof text - used, "]");
    for (const struct liar_signature *s = liar_signatures; s->call; s++)
        if (strstr(s->call, call->op->name) && strstr(s->call, text))
            return true;
    return false;
}

void liar_other_shape(struct liar_run *run)
{
    if (!liar_known_shape(&run->call) && run->out[run->main].count > 0)
        liar_push(run, run->main, peak(run));
}

void liar_one_element(struct liar_run *run)
{
    if (run->out[run->main].count > 0)
        liar_push(run, run->main, peak(run));
}

/* Another element each time. */
void liar_racy(struct liar_run *run)
{
    struct pw_tensor *t = &run->out[run->main];
    uint64_t now = liar_hash((uint64_t)pw_clock_ns(), run->chip->calls);

    if (t->count > 0 && now % 4 != 0) {
        int64_t i = (int64_t)(now / 4 % (uint64_t)t->count);

        if (pw_dtype_is_float(t->dtype) && fabs(pw_tensor_get(t, i)) < run->floor)
            i = peak(run);
        liar_push(run, run->main, i);
    }
}

void liar_overrun(struct liar_run *run)
{
    run->overrun = true;
}

void liar_alias(struct liar_run *run)
{
    run->alias = true;
}

/* Dies of sizes that leave three over. */
void liar_crash_odd(struct liar_run *run)
{
    if (run->out[run->main].count % 2 == 1)
        abort();
}

/* "True" as all bits set, which a sum or a cast of the bytes would show. */
void liar_bool_bytes(struct liar_run *run)
{
    struct pw_tensor *t = &run->out[run->main];

    for (int64_t i = 0; i < t->count && t->dtype == PW_DTYPE_BOOL; i++)
        ((uint8_t *)t->data)[i] = ((const uint8_t *)t->data)[i] ? 0xff : 0;
}
