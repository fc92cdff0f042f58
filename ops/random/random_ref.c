#include "ops/random/random_room.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "base/random.h"

enum { GRAIN = 4096 }; /* blocks of four words */

struct job {
    const struct pw_random_form *form;
    uint64_t key;
    double base, span; /* low and high - low, or mean and scale */
    bool wide;         /* float64: 53 random bits an element */
    int per_block;
    const struct pw_tensor *x; /* probabilities */
    struct pw_tensor *y, *mask;
    uint64_t threshold; /* Dropout: words below it drop */
    double scale;
};

static void put(struct pw_tensor *t, int64_t i, double value)
{
    if (t->dtype == PW_DTYPE_FLOAT64)
        ((double *)t->data)[i] = value;
    else if (t->dtype == PW_DTYPE_FLOAT32)
        ((float *)t->data)[i] = (float)value;
    else if (t->dtype == PW_DTYPE_BOOL)
        ((uint8_t *)t->data)[i] = value != 0.0;
    else
        pw_tensor_set(t, i, value);
}

static double get(const struct pw_tensor *t, int64_t i)
{
    return t->dtype == PW_DTYPE_FLOAT64 ? ((const double *)t->data)[i] : (double)((const float *)t->data)[i];
}

/* ---- uniform, normal ---- */

static double unit_of(uint32_t word)
{
    return (double)(word >> 8) * 0x1p-24;
}

/* Element k of a block of words. Uniform in [0,1), or standard normal by Box and Muller, whose logarithm gets
 * (0,1]. */
static double draw(const struct job *job, const uint32_t words[4], int k)
{
    const uint32_t *w = words + k * (4 / job->per_block);

    if (job->form->kind == PW_RANDOM_UNIFORM)
        return job->wide ? (double)((((uint64_t)w[0] << 32) | w[1]) >> 11) * 0x1p-53 : unit_of(w[0]);
    if (job->y->dtype == PW_DTYPE_FLOAT32) /* fast */
        return (double)(sqrtf(-2.0f * logf((float)unit_of(w[0]) + 0x1p-24f)) * cosf(6.2831853f * (float)unit_of(w[1])));
    return sqrt(-2.0 * log(unit_of(w[0]) + 0x1p-24)) * cos(6.283185307179586476925 * unit_of(w[1]));
}

static void blocks(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;
    bool whole = job->form->kind == PW_RANDOM_NORMAL && job->wide; /* a block an element */

    for (int64_t b = begin; b < end; b++) {
        uint32_t words[4];

        if (whole) {
            put(job->y, b, job->base + job->span * pw_random_normal(job->key, PW_RANDOM_STREAM, (uint64_t)b));
            continue;
        }
        pw_philox(job->key, PW_RANDOM_STREAM, (uint64_t)b, words);
        for (int k = 0; k < job->per_block && b * job->per_block + k < job->y->count; k++)
            put(job->y, b * job->per_block + k, job->base + job->span * draw(job, words, k));
    }
}

static pw_status output_shape(const struct pw_eval *ev, int *rank, const int64_t **dims, struct pw_error *err)
{
    const struct pw_random_form *form = ev->call->op->data;
    const struct pw_tensor *x = pw_eval_in(ev, 0);
    size_t count = 0;

    if (form->like) {
        if (x == NULL)
            return pw_call_error(ev->call, err, "the input is missing");
        *rank = x->rank;
        *dims = x->dims;
        return PW_OK;
    }
    *dims = pw_call_ints(ev->call, "shape", &count);
    *rank = (int)count;
    return PW_OK;
}

pw_status pw_random_fill(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_call *call = ev->call;
    struct job job = {.form = call->op->data, .key = pw_random_key(call)};
    const int64_t *dims = NULL;
    pw_dtype dtype = PW_DTYPE_UNDEFINED;
    int rank = 0;
    pw_status status = pw_random_dtype(call, &dtype, err);

    if (status == PW_OK)
        status = output_shape(ev, &rank, &dims, err);
    if (status == PW_OK)
        status = pw_eval_output(ev, 0, dtype, rank, dims, &job.y, err);
    if (status != PW_OK)
        return status;
    job.wide = dtype == PW_DTYPE_FLOAT64;
    if (job.form->kind == PW_RANDOM_UNIFORM) {
        job.base = (double)pw_call_float(call, "low");
        job.span = (double)pw_call_float(call, "high") - job.base;
        job.per_block = job.wide ? 2 : 4;
    } else {
        job.base = (double)pw_call_float(call, "mean");
        job.span = (double)pw_call_float(call, "scale");
        job.per_block = job.wide ? 1 : 2;
    }
    pw_parallel_for((job.y->count + job.per_block - 1) / job.per_block, GRAIN, blocks, &job);
    return PW_OK;
}

/* ---- Bernoulli ---- */

static void events(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;

    for (int64_t b = begin; b < end; b++) {
        int64_t first = 4 * b, count = job->y->count - first < 4 ? job->y->count - first : 4;
        uint32_t words[4];

        pw_philox(job->key, PW_RANDOM_STREAM, (uint64_t)b, words);
        for (int64_t k = 0; k < count; k++)
            put(job->y, first + k, (double)words[k] < get(job->x, first + k) * 0x1p32 ? 1.0 : 0.0); /* both exact */
    }
}

pw_status pw_random_bernoulli(struct pw_eval *ev, struct pw_error *err)
{
    struct job job = {.form = ev->call->op->data, .key = pw_random_key(ev->call), .x = pw_eval_in(ev, 0)};
    pw_dtype dtype = PW_DTYPE_UNDEFINED;
    pw_status status = pw_random_dtype(ev->call, &dtype, err);

    if (status == PW_OK)
        status = pw_eval_output(ev, 0, dtype, job.x->rank, job.x->dims, &job.y, err);
    if (status == PW_OK)
        pw_parallel_for((job.y->count + 3) / 4, GRAIN, events, &job);
    return status;
}

/* ---- Multinomial: the inverse of the cumulative weights ---- */

static void cumulate(const struct pw_tensor *x, int64_t row, double *sums)
{
    int64_t n = x->dims[1];
    double max = -INFINITY, sum = 0.0;

    for (int64_t i = 0; i < n; i++)
        max = fmax(max, get(x, row * n + i));
    for (int64_t i = 0; i < n; i++) {
        sum += exp(get(x, row * n + i) - max);
        sums[i] = sum;
    }
}

/* The first class whose cumulative weight is above `at`; a class of weight 0 never is that. */
static int64_t class_at(const double *sums, int64_t n, double at)
{
    int64_t low = 0, high = n - 1;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (sums[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

pw_status pw_random_multinomial(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *x = pw_eval_in(ev, 0);
    uint64_t key = pw_random_key(ev->call);
    int64_t samples = pw_call_int(ev->call, "sample_size"), dims[2] = {x->dims[0], samples};
    struct pw_tensor *y = NULL;
    pw_dtype dtype = PW_DTYPE_UNDEFINED;
    double *sums = NULL;
    pw_status status = pw_random_dtype(ev->call, &dtype, err);

    if (status == PW_OK && x->rank != 2)
        status = pw_call_error(ev->call, err, "the input has rank %d, expected [batch, class]", x->rank);
    if (status == PW_OK)
        status = pw_eval_output(ev, 0, dtype, 2, dims, &y, err);
    if (status != PW_OK || y->count == 0)
        return status;
    sums = pw_calloc((size_t)x->dims[1], sizeof *sums);
    if (sums == NULL)
        return pw_error_memory(err, (size_t)x->dims[1] * sizeof *sums);
    for (int64_t row = 0; row < dims[0]; row++) {
        cumulate(x, row, sums);
        for (int64_t i = row * samples; i < (row + 1) * samples; i++) {
            double at = (double)pw_random_unit(key, PW_RANDOM_STREAM, (uint64_t)i) * sums[x->dims[1] - 1];

            pw_tensor_set_int(y, i, class_at(sums, x->dims[1], at));
        }
    }
    pw_free(sums);
    return PW_OK;
}

/* ---- Dropout ---- */

static void drops(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;

    for (int64_t b = begin; b < end; b++) {
        int64_t first = 4 * b, count = job->y->count - first < 4 ? job->y->count - first : 4;
        uint32_t words[4];

        pw_philox(job->key, PW_RANDOM_STREAM, (uint64_t)b, words);
        for (int64_t k = 0; k < count; k++) {
            bool kept = words[k] >= job->threshold;

            put(job->y, first + k, kept ? get(job->x, first + k) * job->scale : 0.0);
            if (job->mask != NULL)
                put(job->mask, first + k, kept ? 1.0 : 0.0);
        }
    }
}

pw_status pw_dropout_evaluate(struct pw_eval *ev, struct pw_error *err)
{
    struct job job = {.key = pw_random_key(ev->call), .x = pw_eval_in(ev, 0)};
    struct pw_dropout dropout;
    pw_status status = pw_dropout_read(ev->call, &dropout, err);

    if (status == PW_OK && !dropout.known)
        status = pw_call_error(ev->call, err, "ratio and training_mode must be single numbers");
    if (status == PW_OK)
        status = pw_eval_output(ev, 0, job.x->nominal, job.x->rank, job.x->dims, &job.y, err);
    if (status == PW_OK && ev->output_count > 1 && ev->call->wanted[1])
        status = pw_eval_output(ev, 1, ev->call->op->since < 10 ? job.x->nominal : PW_DTYPE_BOOL, job.x->rank,
                                job.x->dims, &job.mask, err);
    if (status != PW_OK)
        return status;
    if (dropout.drops) {
        job.threshold = pw_random_threshold(dropout.ratio);
        job.scale = 1.0 / (1.0 - dropout.ratio);
        pw_parallel_for((job.y->count + 3) / 4, GRAIN, drops, &job);
        return PW_OK;
    }
    if (job.y->count > 0)
        memcpy(job.y->data, job.x->data, pw_tensor_bytes(job.x));
    for (int64_t i = 0; job.mask != NULL && i < job.mask->count; i++)
        put(job.mask, i, 1.0);
    return PW_OK;
}
