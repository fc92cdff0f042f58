/*
 * References of Conv and ConvTranspose: columns and a matrix product (OpenBLAS), direct loops for
 * depthwise, and for float64 a product accumulated in long double so that golden rounds once.
 */
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "base/parallel.h"
#include "ops/conv/conv.h"
#include "tensor/blas.h"

typedef enum { REAL_FLOAT, REAL_DOUBLE, REAL_LONG } real_kind;

static real_kind kind_of(const struct pw_eval *ev, const struct pw_tensor *t)
{
    if (t->dtype == PW_DTYPE_FLOAT32)
        return REAL_FLOAT;
    return ev->mode == PW_EVAL_GOLDEN && t->nominal == PW_DTYPE_FLOAT64 ? REAL_LONG : REAL_DOUBLE;
}

static size_t real_bytes(real_kind kind)
{
    return kind == REAL_FLOAT ? sizeof(float) : sizeof(double);
}

/* ---- C += op(A) * B ---- */

struct product_job {
    int64_t n, k, lda, ldb, ldc;
    const double *a, *b;
    double *c;
};

static void product_long(void *user, int64_t begin, int64_t end)
{
    const struct product_job *job = user;
    for (int64_t i = begin; i < end; i++) {
        for (int64_t j = 0; j < job->n; j++) {
            long double sum = job->c[i * job->ldc + j];
            for (int64_t l = 0; l < job->k; l++)
                sum += (long double)job->a[i * job->lda + l] * job->b[l * job->ldb + j];
            job->c[i * job->ldc + j] = (double)sum;
        }
    }
}

struct matrix {
    const void *data;
    int64_t ld;
};

static void product(real_kind kind, bool trans_a, int64_t m, int64_t n, int64_t k, struct matrix a, struct matrix b,
                    double beta, void *c, int64_t ldc)
{
    if (m == 0 || n == 0)
        return;
    if (kind == REAL_FLOAT) {
        pw_blas_sgemm(trans_a, false, m, n, k, 1.0F, a.data, a.ld, b.data, b.ld, (float)beta, c, ldc);
    } else if (kind == REAL_DOUBLE) {
        pw_blas_dgemm(trans_a, false, m, n, k, 1.0, a.data, a.ld, b.data, b.ld, beta, c, ldc);
    } else {
        struct product_job job = {n, k, a.ld, b.ld, ldc, a.data, b.data, c};
        pw_parallel_for(m, 1, product_long, &job);
    }
}

/* ---- the bias, written first: the products are added to it ---- */

static void start_with_bias(const struct pw_conv_geometry *g, const struct pw_tensor *bias, struct pw_tensor *y)
{
    int64_t pixels = g->window.out_size;
    for (int64_t plane = 0; bias && plane < g->batch * g->maps; plane++) {
        if (y->dtype == PW_DTYPE_FLOAT32) {
            float value = ((const float *)bias->data)[plane % g->maps], *to = (float *)y->data + plane * pixels;
            for (int64_t i = 0; i < pixels; i++)
                to[i] = value;
        } else {
            double value = ((const double *)bias->data)[plane % g->maps], *to = (double *)y->data + plane * pixels;
            for (int64_t i = 0; i < pixels; i++)
                to[i] = value;
        }
    }
}

pw_status pw_conv_output(struct pw_eval *ev, const struct pw_conv_geometry *g, struct pw_tensor **y,
                         struct pw_error *err)
{
    int64_t dims[PW_MAX_RANK] = {g->batch, g->maps};
    for (int i = 0; i < g->window.axes; i++)
        dims[2 + i] = g->window.out[i];
    pw_status status = pw_eval_output(ev, 0, ev->call->in[0]->dtype, g->window.axes + 2, dims, y, err);
    if (status == PW_OK && (*y)->count > 0)
        start_with_bias(g, pw_eval_in(ev, pw_conv_kind_of(ev->call)->bias), *y);
    return status;
}

/* ---- depthwise: one input channel a group ---- */

struct depthwise_job {
    const struct pw_conv_geometry *g;
    const struct pw_tensor *x, *w;
    struct pw_tensor *y;
};

PW_HOT static void add_scaled_f32(float *y, const float *x, int64_t count, int64_t stride, float w)
{
    if (stride == 1) {
        for (int64_t i = 0; i < count; i++)
            y[i] += w * x[i];
    } else {
        for (int64_t i = 0; i < count; i++)
            y[i] += w * x[i * stride];
    }
}

PW_HOT static void add_scaled_f64(double *y, const double *x, int64_t count, int64_t stride, double w)
{
    for (int64_t i = 0; i < count; i++)
        y[i] += w * x[i * stride];
}

/* y[0, count) += w * x, where x starts at element `offset` of plane data; by element type. */
static void add_scaled(struct pw_tensor *y, int64_t at, const struct pw_tensor *x, int64_t offset, int64_t count,
                       int64_t stride, double w)
{
    if (y->dtype == PW_DTYPE_FLOAT32)
        add_scaled_f32((float *)y->data + at, (const float *)x->data + offset, count, stride, (float)w);
    else
        add_scaled_f64((double *)y->data + at, (const double *)x->data + offset, count, stride, w);
}

/* The padding takes part with zeros: an infinite weight makes NaN there. */
static void add_padding(struct pw_tensor *y, int64_t at, int64_t count, double w)
{
    if (isfinite(w))
        return;
    for (int64_t i = 0; i < count; i++)
        pw_tensor_set(y, at + i, NAN);
}

/* One tap over one row of the output. */
static void depthwise_row(const struct depthwise_job *job, int64_t plane_x, int64_t at, const int64_t *where,
                          const int64_t *tap, double weight)
{
    const struct pw_window_numbers *n = &job->g->window;
    int last = n->axes - 1;
    int64_t offset = 0;
    for (int a = 0; a < last; a++) {
        int64_t position = where[a] * n->stride[a] + tap[a] * n->dilation[a] - n->pad_begin[a];
        if (position < 0 || position >= n->in[a]) {
            add_padding(job->y, at, n->out[last], weight);
            return;
        }
        offset = (offset + position) * n->in[a + 1];
    }
    int64_t shift = tap[last] * n->dilation[last] - n->pad_begin[last], stride = n->stride[last];
    int64_t lo = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    int64_t hi = n->in[last] <= shift ? 0 : (n->in[last] - shift + stride - 1) / stride;
    lo = lo < n->out[last] ? lo : n->out[last];
    hi = hi > n->out[last] ? n->out[last] : hi < lo ? lo : hi;
    add_padding(job->y, at, lo, weight);
    if (hi > lo)
        add_scaled(job->y, at + lo, job->x, plane_x + offset + lo * stride + shift, hi - lo, stride, weight);
    add_padding(job->y, at + hi, n->out[last] - hi, weight);
}

/* Counts up coordinates, last axis fastest. */
static void advance(int64_t *at, const int64_t *extents, int axes)
{
    for (int a = axes - 1; a >= 0; a--) {
        if (++at[a] < extents[a])
            return;
        at[a] = 0;
    }
}

static void depthwise_body(void *user, int64_t begin, int64_t end)
{
    const struct depthwise_job *job = user;
    const struct pw_conv_geometry *g = job->g;
    const struct pw_window_numbers *n = &g->window;
    int last = n->axes - 1;
    int64_t rows = n->out_size / n->out[last];
    for (int64_t plane = begin; plane < end; plane++) {
        int64_t map = plane % g->maps, image = plane / g->maps;
        int64_t plane_x = (image * g->channels + map / g->group_maps) * n->in_size;
        int64_t where[PW_WINDOW_AXES] = {0};
        for (int64_t row = 0; row < rows; row++) {
            int64_t tap[PW_WINDOW_AXES] = {0};
            for (int64_t t = 0; t < n->taps; t++) {
                depthwise_row(job, plane_x, plane * n->out_size + row * n->out[last], where, tap,
                              pw_tensor_get(job->w, map * n->taps + t));
                advance(tap, n->kernel, n->axes);
            }
            advance(where, n->out, last);
        }
    }
}

/* ---- Conv ---- */

static bool is_pointwise(const struct pw_window_numbers *n)
{
    bool pointwise = n->taps == 1 && n->in_size == n->out_size;
    for (int i = 0; i < n->axes; i++)
        pointwise = pointwise && n->stride[i] == 1 && n->pad_begin[i] == 0;
    return pointwise;
}

static const void *element(const struct pw_tensor *t, int64_t i)
{
    return t->data ? (const char *)t->data + (size_t)i * pw_dtype_bytes(t->dtype) : NULL;
}

static pw_status conv_groups(const struct pw_conv_geometry *g, real_kind kind, const struct pw_tensor *x,
                             const struct pw_tensor *w, struct pw_tensor *y, struct pw_error *err)
{
    int64_t pixels = g->window.out_size, terms = g->group_channels * g->window.taps;
    int64_t block = pw_conv_column_block(terms, pixels, real_bytes(kind));
    bool pointwise = is_pointwise(&g->window);
    void *columns = NULL;
    if (!pointwise) {
        columns = pw_alloc_aligned((size_t)(terms * block) * real_bytes(kind));
        if (!columns)
            return pw_error_memory(err, (size_t)(terms * block) * real_bytes(kind));
    }
    for (int64_t part = 0; part < g->batch * g->groups; part++) {
        int64_t group = part % g->groups;
        const void *in = element(x, part * g->group_channels * g->window.in_size);
        struct matrix weights = {element(w, group * g->group_maps * terms), terms};
        for (int64_t from = 0; from < pixels; from += pointwise ? pixels : block) {
            int64_t to = pointwise || pixels - from < block ? pixels : from + block;
            struct matrix samples = {in, pixels};
            if (!pointwise) {
                pw_conv_columns(g, in, real_bytes(kind), from, to, columns);
                samples = (struct matrix){columns, to - from};
            }
            void *out = (char *)y->data + (size_t)(part * g->group_maps * pixels + from) * real_bytes(kind);
            product(kind, false, g->group_maps, to - from, terms, weights, samples, 1.0, out, pixels);
        }
    }
    pw_free(columns);
    return PW_OK;
}

pw_status pw_conv_eval(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_conv_geometry g;
    struct pw_tensor *y = NULL;
    pw_status status = pw_conv_geometry(ev->call, &g, err);
    if (status == PW_OK)
        status = pw_conv_output(ev, &g, &y, err);
    if (status != PW_OK || y->count == 0 || g.group_channels == 0)
        return status;
    const struct pw_tensor *x = pw_eval_in(ev, 0), *w = pw_eval_in(ev, 1);
    real_kind kind = kind_of(ev, x);
    if (pw_conv_is_depthwise(&g) && kind != REAL_LONG) {
        struct depthwise_job job = {&g, x, w, y};
        pw_parallel_for(g.batch * g.maps, 1, depthwise_body, &job);
        return PW_OK;
    }
    return conv_groups(&g, kind, x, w, y, err);
}

pw_status pw_conv_products(const struct pw_conv_geometry *g, bool exact, const struct pw_tensor *x,
                           const struct pw_tensor *w, struct pw_tensor *y, struct pw_error *err)
{
    real_kind kind = x->dtype == PW_DTYPE_FLOAT32 ? REAL_FLOAT : exact ? REAL_LONG : REAL_DOUBLE;
    if (y->count == 0 || g->group_channels == 0)
        return PW_OK;
    return conv_groups(g, kind, x, w, y, err);
}

void pw_conv_column_product(const struct pw_conv_geometry *g, bool exact, int64_t group, const struct pw_tensor *w,
                            const void *columns, int64_t count, void *y)
{
    size_t size = pw_dtype_bytes(w->dtype);
    int64_t terms = g->group_channels * g->window.taps;
    real_kind kind = w->dtype == PW_DTYPE_FLOAT32 ? REAL_FLOAT : exact ? REAL_LONG : REAL_DOUBLE;
    struct matrix weights = {(const char *)w->data + (size_t)(group * g->group_maps * terms) * size, terms};
    struct matrix samples = {columns, count};
    product(kind, false, g->group_maps, count, terms, weights, samples, 1.0, y, g->window.out_size);
}

bool pw_conv_is_depthwise(const struct pw_conv_geometry *g)
{
    return g->group_channels == 1 && g->groups > 1 && g->group_maps <= 4;
}

/* ---- ConvTranspose ---- */

/* Adds the columns of input pixels [from, to) of one feature map to its output plane. */
struct spread_job {
    const struct pw_conv_geometry *g;
    real_kind kind;
    int64_t from, to;
    const void *columns; /* [group_maps * taps, to - from] */
    void *y;             /* the group's first output plane */
};

static void spread_column(const struct spread_job *job, int64_t map, int64_t t)
{
    const struct pw_window_numbers *n = &job->g->window;
    int64_t tap[PW_WINDOW_AXES], where[PW_WINDOW_AXES], rest = t, p = job->from;
    for (int a = n->axes - 1; a >= 0; a--) {
        tap[a] = rest % n->kernel[a] * n->dilation[a] - n->pad_begin[a];
        rest /= n->kernel[a];
        where[a] = p % n->in[a];
        p /= n->in[a];
    }
    int64_t row = (map * n->taps + t) * (job->to - job->from);
    for (int64_t i = 0; i < job->to - job->from; i++) {
        int64_t offset = 0;
        bool within = true;
        for (int a = 0; a < n->axes; a++) {
            int64_t at = where[a] * n->stride[a] + tap[a];
            within = within && at >= 0 && at < n->out[a];
            offset = offset * n->out[a] + at;
        }
        offset += map * n->out_size;
        if (within && job->kind == REAL_FLOAT)
            ((float *)job->y)[offset] += ((const float *)job->columns)[row + i];
        else if (within)
            ((double *)job->y)[offset] += ((const double *)job->columns)[row + i];
        advance(where, n->in, n->axes);
    }
}

static void spread_body(void *user, int64_t begin, int64_t end)
{
    const struct spread_job *job = user;
    for (int64_t map = begin; map < end; map++) {
        for (int64_t t = 0; t < job->g->window.taps; t++)
            spread_column(job, map, t);
    }
}

static pw_status transpose_groups(const struct pw_conv_geometry *g, real_kind kind, const struct pw_tensor *x,
                                  const struct pw_tensor *w, struct pw_tensor *y, struct pw_error *err)
{
    int64_t pixels = g->window.in_size, rows = g->group_maps * g->window.taps;
    int64_t block = pw_conv_column_block(rows, pixels, real_bytes(kind));
    void *columns = pw_alloc_aligned((size_t)(rows * block) * real_bytes(kind));
    if (!columns)
        return pw_error_memory(err, (size_t)(rows * block) * real_bytes(kind));
    for (int64_t part = 0; part < g->batch * g->groups; part++) {
        int64_t group = part % g->groups;
        struct matrix weights = {element(w, group * g->group_channels * rows), rows};
        for (int64_t from = 0; from < pixels; from += block) {
            int64_t to = pixels - from < block ? pixels : from + block;
            struct matrix samples = {element(x, part * g->group_channels * pixels + from), pixels};
            product(kind, true, rows, to - from, g->group_channels, weights, samples, 0.0, columns, to - from);
            struct spread_job job = {
                g,  kind,    from,
                to, columns, (char *)y->data + (size_t)(part * g->group_maps * g->window.out_size) * real_bytes(kind)};
            pw_parallel_for(g->group_maps, 1, spread_body, &job);
        }
    }
    pw_free(columns);
    return PW_OK;
}

/* float64: each output gathers its terms in long double. */
struct gather_job {
    const struct pw_conv_geometry *g;
    const struct pw_tensor *x, *w;
    struct pw_tensor *y;
};

static long double gather_output(const struct gather_job *job, int64_t image, int64_t map, const int64_t *where)
{
    const struct pw_conv_geometry *g = job->g;
    const struct pw_window_numbers *n = &g->window;
    const double *x = job->x->data, *w = job->w->data;
    int64_t group = map / g->group_maps, tap[PW_WINDOW_AXES] = {0};
    long double sum = 0;
    for (int64_t t = 0; t < n->taps; t++) {
        int64_t offset = 0;
        bool within = true;
        for (int a = 0; a < n->axes; a++) {
            int64_t at = where[a] + n->pad_begin[a] - tap[a] * n->dilation[a];
            within = within && at >= 0 && at % n->stride[a] == 0 && at / n->stride[a] < n->in[a];
            offset = offset * n->in[a] + at / n->stride[a];
        }
        for (int64_t c = 0; within && c < g->group_channels; c++) {
            int64_t channel = group * g->group_channels + c;
            sum += (long double)x[(image * g->channels + channel) * n->in_size + offset] *
                   w[(channel * g->group_maps + map % g->group_maps) * n->taps + t];
        }
        advance(tap, n->kernel, n->axes);
    }
    return sum;
}

static void gather_body(void *user, int64_t begin, int64_t end)
{
    const struct gather_job *job = user;
    const struct pw_window_numbers *n = &job->g->window;
    for (int64_t plane = begin; plane < end; plane++) {
        int64_t where[PW_WINDOW_AXES] = {0};
        double *to = (double *)job->y->data + plane * n->out_size;
        for (int64_t p = 0; p < n->out_size; p++) {
            to[p] = (double)(to[p] + gather_output(job, plane / job->g->maps, plane % job->g->maps, where));
            advance(where, n->out, n->axes);
        }
    }
}

pw_status pw_conv_transpose_eval(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_conv_geometry g;
    struct pw_tensor *y = NULL;
    pw_status status = pw_conv_geometry(ev->call, &g, err);
    if (status == PW_OK)
        status = pw_conv_output(ev, &g, &y, err);
    if (status != PW_OK || y->count == 0 || g.group_channels == 0)
        return status;
    const struct pw_tensor *x = pw_eval_in(ev, 0), *w = pw_eval_in(ev, 1);
    real_kind kind = kind_of(ev, x);
    if (kind == REAL_LONG) {
        struct gather_job job = {&g, x, w, y};
        pw_parallel_for(g.batch * g.maps, 1, gather_body, &job);
        return PW_OK;
    }
    return transpose_groups(&g, kind, x, w, y, err);
}
