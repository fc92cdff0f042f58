#include "ops/reduce/reduce_room.h"

#include <math.h>
#include <string.h>

#include "base/approx.h"
#include "base/compiler.h"
#include "base/parallel.h"
#include "op/order.h"

/* ---- golden: any layout, one output at a time ---- */

struct job {
    pw_reduce_kind kind;
    struct pw_reduce_layout layout;
    const void *x; /* double or int64 */
    struct pw_tensor *y;
    bool is_unsigned;
};

static int64_t output_offset(const struct pw_reduce_layout *l, int64_t index)
{
    int64_t offset = 0;

    for (int d = l->kept_rank - 1; d >= 0; d--) {
        offset += index % l->kept_dims[d] * l->kept_strides[d];
        index /= l->kept_dims[d];
    }
    return offset;
}

/* Visits the terms of one output: moves *offset to the next one. */
static void next_term(const struct pw_reduce_layout *l, int64_t *at, int64_t *offset)
{
    for (int d = l->sum_rank - 1; d >= 0; d--) {
        *offset += l->sum_strides[d];
        if (++at[d] < l->sum_dims[d])
            return;
        *offset -= l->sum_strides[d] * l->sum_dims[d];
        at[d] = 0;
    }
}

static long double initial(pw_reduce_kind kind)
{
    switch (kind) {
    case PW_REDUCE_MAX:
    case PW_REDUCE_LOG_SUM_EXP: /* of its first pass */
        return -INFINITY;
    case PW_REDUCE_MIN:
        return INFINITY;
    case PW_REDUCE_PROD:
        return 1.0L;
    default:
        return 0.0L;
    }
}

static long double combine(pw_reduce_kind kind, long double acc, double x)
{
    switch (kind) {
    case PW_REDUCE_MAX:
    case PW_REDUCE_LOG_SUM_EXP:
        return x > acc || x != x ? x : acc;
    case PW_REDUCE_MIN:
        return x < acc || x != x ? x : acc;
    case PW_REDUCE_PROD:
        return acc * x;
    case PW_REDUCE_L1:
        return acc + fabs(x);
    case PW_REDUCE_L2:
    case PW_REDUCE_SUM_SQUARE:
        return acc + (long double)x * x;
    default:
        return acc + x;
    }
}

static long double finish(pw_reduce_kind kind, long double acc, int64_t terms)
{
    switch (kind) {
    case PW_REDUCE_MEAN:
        return acc / (long double)terms;
    case PW_REDUCE_L2:
        return sqrtl(acc);
    case PW_REDUCE_LOG_SUM:
        return logl(acc);
    default:
        return acc;
    }
}

static long double reduce_one(const struct job *job, int64_t index)
{
    const struct pw_reduce_layout *l = &job->layout;
    const double *x = (const double *)job->x + output_offset(l, index);
    int64_t at[PW_MAX_RANK] = {0}, offset = 0;
    long double acc = initial(job->kind), sum = 0.0L;

    for (int64_t i = 0; i < l->terms; i++) {
        acc = combine(job->kind, acc, x[offset]);
        next_term(l, at, &offset);
    }
    if (job->kind != PW_REDUCE_LOG_SUM_EXP || isinf((double)acc))
        return finish(job->kind, acc, l->terms);
    for (int64_t i = 0; i < l->terms; i++) { /* acc is the maximum; offset is back at 0 */
        sum += expl(x[offset] - acc);
        next_term(l, at, &offset);
    }
    return acc + logl(sum);
}

static void outputs_double(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;

    for (int64_t i = begin; i < end; i++)
        pw_tensor_set(job->y, i, (double)reduce_one(job, i));
}

/* ---- golden of integers: sums and products wrap as the type does ---- */

static int64_t least(pw_dtype dtype)
{
    switch (dtype) {
    case PW_DTYPE_INT8:
        return INT8_MIN;
    case PW_DTYPE_INT16:
        return INT16_MIN;
    case PW_DTYPE_INT32:
        return INT32_MIN;
    case PW_DTYPE_INT64:
        return INT64_MIN;
    default:
        return 0;
    }
}

static int64_t most(pw_dtype dtype)
{
    switch (dtype) {
    case PW_DTYPE_BOOL:
        return 1;
    case PW_DTYPE_INT8:
        return INT8_MAX;
    case PW_DTYPE_UINT8:
        return UINT8_MAX;
    case PW_DTYPE_INT16:
        return INT16_MAX;
    case PW_DTYPE_UINT16:
        return UINT16_MAX;
    case PW_DTYPE_INT32:
        return INT32_MAX;
    case PW_DTYPE_UINT32:
        return UINT32_MAX;
    case PW_DTYPE_UINT64:
        return -1; /* all bits */
    default:
        return INT64_MAX;
    }
}

static bool less(const struct job *job, int64_t a, int64_t b)
{
    return job->is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
}

static uint64_t combine_int(const struct job *job, uint64_t acc, int64_t x)
{
    uint64_t u = (uint64_t)x;

    switch (job->kind) {
    case PW_REDUCE_MAX:
        return less(job, (int64_t)acc, x) ? u : acc;
    case PW_REDUCE_MIN:
        return less(job, x, (int64_t)acc) ? u : acc;
    case PW_REDUCE_PROD:
        return acc * u;
    case PW_REDUCE_L1:
        return acc + (x < 0 && !job->is_unsigned ? 0 - u : u);
    case PW_REDUCE_L2:
    case PW_REDUCE_SUM_SQUARE:
        return acc + u * u;
    default:
        return acc + u;
    }
}

static double as_double(const struct job *job, uint64_t acc)
{
    return job->is_unsigned ? (double)acc : (double)(int64_t)acc;
}

/* Results of mean, root and logarithm are truncated towards zero, as a cast does. */
static void finish_int(const struct job *job, int64_t index, uint64_t acc)
{
    int64_t terms = job->layout.terms;

    switch (job->kind) {
    case PW_REDUCE_MEAN:
        if (terms > 0)
            acc = job->is_unsigned ? acc / (uint64_t)terms : (uint64_t)((int64_t)acc / terms);
        break;
    case PW_REDUCE_L2:
        pw_tensor_set(job->y, index, sqrt(as_double(job, acc)));
        return;
    case PW_REDUCE_LOG_SUM:
        pw_tensor_set(job->y, index, log(as_double(job, acc)));
        return;
    default:
        break;
    }
    pw_tensor_set_int(job->y, index, (int64_t)acc);
}

static void log_sum_exp_int(const struct job *job, int64_t index, const int64_t *x)
{
    const struct pw_reduce_layout *l = &job->layout;
    int64_t at[PW_MAX_RANK] = {0}, offset = 0;
    double max = -INFINITY, sum = 0.0;

    for (int64_t i = 0; i < l->terms; i++) {
        max = fmax(max, as_double(job, (uint64_t)x[offset]));
        next_term(l, at, &offset);
    }
    for (int64_t i = 0; i < l->terms; i++) {
        sum += exp(as_double(job, (uint64_t)x[offset]) - max);
        next_term(l, at, &offset);
    }
    pw_tensor_set(job->y, index, max + log(sum));
}

static void outputs_int(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;
    const struct pw_reduce_layout *l = &job->layout;

    for (int64_t index = begin; index < end; index++) {
        const int64_t *x = (const int64_t *)job->x + output_offset(l, index);
        int64_t at[PW_MAX_RANK] = {0}, offset = 0;
        uint64_t acc = job->kind == PW_REDUCE_PROD ? 1 : 0;

        if (job->kind == PW_REDUCE_LOG_SUM_EXP) {
            log_sum_exp_int(job, index, x);
            continue;
        }
        if (job->kind == PW_REDUCE_MAX)
            acc = (uint64_t)least(job->y->dtype);
        if (job->kind == PW_REDUCE_MIN)
            acc = (uint64_t)most(job->y->dtype);
        for (int64_t i = 0; i < l->terms; i++) {
            acc = combine_int(job, acc, x[offset]);
            next_term(l, at, &offset);
        }
        finish_int(job, index, acc);
    }
}

/* ---- fast: simple layouts of floats ---- */

enum { LANES = 16, COLUMNS = 256 };

static inline __attribute__((always_inline)) float step(pw_reduce_kind kind, float acc, float x)
{
    switch (kind) {
    case PW_REDUCE_MAX:
        return x > acc || x != x ? x : acc;
    case PW_REDUCE_MIN:
        return x < acc || x != x ? x : acc;
    case PW_REDUCE_PROD:
        return acc * x;
    case PW_REDUCE_L1:
        return acc + (x < 0.0f ? -x : x);
    case PW_REDUCE_L2:
    case PW_REDUCE_SUM_SQUARE:
        return acc + x * x;
    default:
        return acc + x;
    }
}

/* Joins two partial results: as a step, but for those that change their terms. */
static inline __attribute__((always_inline)) float join(pw_reduce_kind kind, float a, float b)
{
    if (kind == PW_REDUCE_L1 || kind == PW_REDUCE_L2 || kind == PW_REDUCE_SUM_SQUARE)
        return a + b;
    return step(kind, a, b);
}

static inline __attribute__((always_inline)) float row(pw_reduce_kind kind, const float *x, int64_t n)
{
    float lanes[LANES];
    int64_t i = 0;

    for (int l = 0; l < LANES; l++)
        lanes[l] = (float)initial(kind);
    for (; i + LANES <= n; i += LANES) {
        for (int l = 0; l < LANES; l++)
            lanes[l] = step(kind, lanes[l], x[i + l]);
    }
    for (int l = 0; i < n; i++, l++)
        lanes[l] = step(kind, lanes[l], x[i]);
    for (int width = LANES / 2; width > 0; width /= 2) {
        for (int l = 0; l < width; l++)
            lanes[l] = join(kind, lanes[l], lanes[l + width]);
    }
    return lanes[0];
}

static inline __attribute__((always_inline)) void block(pw_reduce_kind kind, const float *x, int64_t n, int64_t stride,
                                                        int64_t width, float *acc)
{
    for (int64_t c = 0; c < width; c++)
        acc[c] = (float)initial(kind);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < width; c++)
            acc[c] = step(kind, acc[c], x[i * stride + c]);
    }
}

#define VARIANT(KIND)                                                                                                  \
    PW_HOT static float row_##KIND(const float *x, int64_t n)                                                          \
    {                                                                                                                  \
        return row(PW_REDUCE_##KIND, x, n);                                                                            \
    }                                                                                                                  \
    PW_HOT static void block_##KIND(const float *x, int64_t n, int64_t stride, int64_t width, float *acc)              \
    {                                                                                                                  \
        block(PW_REDUCE_##KIND, x, n, stride, width, acc);                                                             \
    }
VARIANT(SUM)
VARIANT(MAX)
VARIANT(MIN)
VARIANT(PROD)
VARIANT(L1)
VARIANT(SUM_SQUARE)

typedef float row_fn(const float *x, int64_t n);
typedef void block_fn(const float *x, int64_t n, int64_t stride, int64_t width, float *acc);

static const struct {
    row_fn *row;
    block_fn *block;
} variants[PW_REDUCE_KINDS] = {
    [PW_REDUCE_SUM] = {row_SUM, block_SUM},
    [PW_REDUCE_MEAN] = {row_SUM, block_SUM},
    [PW_REDUCE_MAX] = {row_MAX, block_MAX},
    [PW_REDUCE_MIN] = {row_MIN, block_MIN},
    [PW_REDUCE_PROD] = {row_PROD, block_PROD},
    [PW_REDUCE_L1] = {row_L1, block_L1},
    [PW_REDUCE_L2] = {row_SUM_SQUARE, block_SUM_SQUARE},
    [PW_REDUCE_LOG_SUM] = {row_SUM, block_SUM},
    [PW_REDUCE_LOG_SUM_EXP] = {row_MAX, block_MAX},
    [PW_REDUCE_SUM_SQUARE] = {row_SUM_SQUARE, block_SUM_SQUARE},
};

PW_HOT static void exp_sums(const float *x, int64_t n, int64_t stride, int64_t width, const float *max, float *sum)
{
    for (int64_t c = 0; c < width; c++)
        sum[c] = 0.0f;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < width; c++)
            sum[c] += pw_approx_exp(x[i * stride + c] - max[c]);
    }
}

PW_HOT static float exp_sum_row(const float *x, int64_t n, float max)
{
    float lanes[LANES] = {0}, sum = 0.0f;
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        for (int l = 0; l < LANES; l++)
            lanes[l] += pw_approx_exp(x[i + l] - max);
    }
    for (; i < n; i++)
        sum += pw_approx_exp(x[i] - max);
    for (int l = 0; l < LANES; l++)
        sum += lanes[l];
    return sum;
}

static float finish_fast(pw_reduce_kind kind, float acc, int64_t terms)
{
    return kind == PW_REDUCE_LOG_SUM_EXP ? acc : (float)finish(kind, acc, terms);
}

static void rows_fast(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;
    int64_t n = job->layout.length;

    for (int64_t r = begin; r < end; r++) {
        const float *x = (const float *)job->x + r * n;
        float acc = variants[job->kind].row(x, n);

        if (job->kind == PW_REDUCE_LOG_SUM_EXP && !isinf(acc))
            acc += logf(exp_sum_row(x, n, acc));
        ((float *)job->y->data)[r] = finish_fast(job->kind, acc, n);
    }
}

static void blocks_fast(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;
    const struct pw_reduce_layout *l = &job->layout;
    int64_t blocks = (l->inner + COLUMNS - 1) / COLUMNS;

    for (int64_t b = begin; b < end; b++) {
        int64_t outer = b / blocks, first = b % blocks * COLUMNS;
        int64_t width = l->inner - first < COLUMNS ? l->inner - first : COLUMNS;
        const float *x = (const float *)job->x + outer * l->length * l->inner + first;
        float *y = (float *)job->y->data + outer * l->inner + first, acc[COLUMNS], sum[COLUMNS];

        variants[job->kind].block(x, l->length, l->inner, width, acc);
        if (job->kind == PW_REDUCE_LOG_SUM_EXP) {
            exp_sums(x, l->length, l->inner, width, acc, sum);
            for (int64_t c = 0; c < width; c++)
                acc[c] = isinf(acc[c]) ? acc[c] : acc[c] + logf(sum[c]);
        }
        for (int64_t c = 0; c < width; c++)
            y[c] = finish_fast(job->kind, acc[c], l->length);
    }
}

/* ---- entry points ---- */

static pw_status prepare(struct pw_eval *ev, struct job *job, struct pw_error *err)
{
    const struct pw_reduce_form *form = ev->call->op->data;
    const struct pw_tensor *x = pw_eval_in(ev, 0);
    bool keepdims = pw_call_int(ev->call, "keepdims") != 0, reduced[PW_MAX_RANK], known = false;
    int64_t dims[PW_MAX_RANK];
    int rank = 0;
    pw_status status;

    if (!x)
        return pw_call_error(ev->call, err, "the input is missing");
    status = pw_reduce_axes(ev->call, x->rank, reduced, &known, err);
    if (status != PW_OK)
        return status;
    if (!known)
        return pw_call_error(ev->call, err, "the axes are not known");
    for (int d = 0; d < x->rank; d++) {
        if (!reduced[d])
            dims[rank++] = x->dims[d];
        else if (keepdims)
            dims[rank++] = 1;
    }
    memset(job, 0, sizeof *job);
    job->kind = form->kind;
    pw_reduce_layout(x->dims, x->rank, reduced, &job->layout);
    job->x = x->data;
    job->is_unsigned = pw_dtype_facts(x->nominal)->kind == PW_KIND_UNSIGNED || x->nominal == PW_DTYPE_BOOL;
    return pw_eval_output(ev, 0, x->nominal, rank, dims, &job->y, err);
}

static int64_t grain(const struct pw_reduce_layout *l)
{
    return 16384 / (l->terms + 1) + 1;
}

pw_status pw_reduce_golden(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *x = pw_eval_in(ev, 0);
    struct pw_tensor wide = {0};
    struct job job;
    pw_status status = prepare(ev, &job, err);
    pw_dtype work;

    if (status != PW_OK || job.y->count == 0)
        return status;
    work = pw_dtype_is_float(x->dtype) ? PW_DTYPE_FLOAT64 : PW_DTYPE_INT64;
    if (x->dtype != work) {
        status = pw_tensor_convert(&wide, x, work, err);
        if (status != PW_OK)
            return status;
        job.x = wide.data;
    }
    pw_parallel_for(job.y->count, grain(&job.layout), work == PW_DTYPE_FLOAT64 ? outputs_double : outputs_int, &job);
    pw_tensor_clear(&wide);
    return PW_OK;
}

pw_status pw_reduce_fast(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *x = pw_eval_in(ev, 0);
    const struct pw_reduce_layout *l;
    struct job job;
    pw_status status = prepare(ev, &job, err);

    if (status != PW_OK || job.y->count == 0)
        return status;
    l = &job.layout;
    if (x->dtype != PW_DTYPE_FLOAT32 || !l->simple)
        return pw_reduce_golden(ev, err);
    if (l->inner == 1)
        pw_parallel_for(l->outer, grain(l), rows_fast, &job);
    else
        pw_parallel_for(l->outer * ((l->inner + COLUMNS - 1) / COLUMNS), 1, blocks_fast, &job);
    return PW_OK;
}

/* ---- sums in a given order ---- */

static double term_of(pw_reduce_kind kind, const struct pw_order *order, double x, double max)
{
    switch (kind) {
    case PW_REDUCE_L1:
        return fabs(x);
    case PW_REDUCE_LOG_SUM_EXP:
        return exp(pw_order_add(order, pw_order_round(order, x), -max));
    default:
        return x;
    }
}

static double finish_ordered(pw_reduce_kind kind, const struct pw_order *order, double acc, int64_t terms, double max)
{
    switch (kind) {
    case PW_REDUCE_MEAN:
        return pw_order_divide(order, acc, pw_order_round(order, (double)terms));
    case PW_REDUCE_L2:
        return pw_order_round(order, sqrt(acc));
    case PW_REDUCE_LOG_SUM:
        return pw_order_round(order, log(acc));
    case PW_REDUCE_LOG_SUM_EXP:
        return pw_order_add(order, max, pw_order_round(order, log(acc)));
    default:
        return acc;
    }
}

static double reduce_ordered(const struct job *job, const struct pw_order *order, int64_t index)
{
    const struct pw_reduce_layout *l = &job->layout;
    const double *x = (const double *)job->x + output_offset(l, index);
    bool squares = job->kind == PW_REDUCE_L2 || job->kind == PW_REDUCE_SUM_SQUARE;
    struct pw_order_sum sum = pw_order_begin(order, job->kind == PW_REDUCE_PROD);
    int64_t at[PW_MAX_RANK] = {0}, offset = 0;
    double max = -INFINITY;

    for (int64_t i = 0; i < l->terms && job->kind == PW_REDUCE_LOG_SUM_EXP; i++) {
        max = (double)combine(PW_REDUCE_MAX, max, pw_order_round(order, x[offset]));
        next_term(l, at, &offset);
    }
    if (job->kind == PW_REDUCE_LOG_SUM_EXP && isinf(max))
        return max;
    for (int64_t i = 0; i < l->terms; i++) {
        if (squares)
            pw_order_term_product(&sum, x[offset], x[offset]);
        else
            pw_order_term(&sum, term_of(job->kind, order, x[offset], max));
        next_term(l, at, &offset);
    }
    return finish_ordered(job->kind, order, pw_order_end(&sum), l->terms, max);
}

struct ordered_job {
    const struct job *job;
    const struct pw_order *order;
};

static void outputs_ordered(void *user, int64_t begin, int64_t end)
{
    const struct ordered_job *o = user;

    for (int64_t i = begin; i < end; i++)
        pw_tensor_set(o->job->y, i, reduce_ordered(o->job, o->order, i));
}

pw_status pw_reduce_ordered(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *x = pw_eval_in(ev, 0);
    struct job job;
    struct ordered_job ordered = {&job, ev->order};
    pw_status status = prepare(ev, &job, err);

    if (status != PW_OK || job.y->count == 0)
        return status;
    if (x->dtype != PW_DTYPE_FLOAT64)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "integers have no order of rounding");
    pw_parallel_for(job.y->count, grain(&job.layout), outputs_ordered, &ordered);
    return PW_OK;
}
