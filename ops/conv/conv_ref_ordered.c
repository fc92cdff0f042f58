/* Conv with its sums in a given order: for each output the channels of the group, in each the taps, padding as zeros;
 * the bias last. */
#include "base/parallel.h"
#include "op/order.h"
#include "ops/conv/conv.h"

struct ordered_job {
    const struct pw_conv_geometry *g;
    const struct pw_order *order;
    const double *x, *w, *bias; /* bias NULL: none */
    struct pw_tensor *y;
};

static void advance(int64_t *at, const int64_t *extents, int axes)
{
    for (int a = axes - 1; a >= 0; a--) {
        if (++at[a] < extents[a])
            return;
        at[a] = 0;
    }
}

static double sample(const struct pw_window_numbers *n, const double *plane, const int64_t *where, const int64_t *tap)
{
    int64_t offset = 0;

    for (int a = 0; a < n->axes; a++) {
        int64_t position = where[a] * n->stride[a] + tap[a] * n->dilation[a] - n->pad_begin[a];

        if (position < 0 || position >= n->in[a])
            return 0;
        offset = offset * n->in[a] + position;
    }
    return plane[offset];
}

static double output(const struct ordered_job *o, int64_t image, int64_t map, const int64_t *where)
{
    const struct pw_conv_geometry *g = o->g;
    const struct pw_window_numbers *n = &g->window;
    const double *w = o->w + map * g->group_channels * n->taps;
    struct pw_order_sum sum = pw_order_begin(o->order, false);
    int64_t tap[PW_WINDOW_AXES] = {0};

    for (int64_t c = 0; c < g->group_channels; c++) {
        int64_t channel = map / g->group_maps * g->group_channels + c;
        const double *plane = o->x + (image * g->channels + channel) * n->in_size;

        for (int64_t t = 0; t < n->taps; t++) {
            pw_order_term_product(&sum, sample(n, plane, where, tap), w[c * n->taps + t]);
            advance(tap, n->kernel, n->axes);
        }
    }
    return o->bias ? pw_order_add(o->order, pw_order_end(&sum), pw_order_round(o->order, o->bias[map]))
                   : pw_order_end(&sum);
}

static void planes(void *user, int64_t begin, int64_t end)
{
    const struct ordered_job *o = user;
    const struct pw_window_numbers *n = &o->g->window;

    for (int64_t plane = begin; plane < end; plane++) {
        int64_t where[PW_WINDOW_AXES] = {0};

        for (int64_t p = 0; p < n->out_size; p++) {
            pw_tensor_set(o->y, plane * n->out_size + p, output(o, plane / o->g->maps, plane % o->g->maps, where));
            advance(where, n->out, n->axes);
        }
    }
}

pw_status pw_conv_ordered(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *x = pw_eval_in(ev, 0), *w = pw_eval_in(ev, 1), *bias = pw_eval_in(ev, 2);
    struct pw_conv_geometry g;
    struct ordered_job o = {.g = &g, .order = ev->order};
    pw_status status = pw_conv_geometry(ev->call, &g, err);

    if (status == PW_OK)
        status = pw_conv_output(ev, &g, &o.y, err);
    if (status != PW_OK || o.y->count == 0)
        return status;
    o.x = x->data;
    o.w = w->data;
    o.bias = bias ? bias->data : NULL;
    pw_parallel_for(g.batch * g.maps, 1, planes, &o);
    return PW_OK;
}
