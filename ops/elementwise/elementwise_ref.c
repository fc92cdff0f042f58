/* The references: one driver for maps, broadcasting folds, Where and Clip over the loops of
 * elementwise_ref_unary.c and elementwise_ref_binary.c. Integers go through blocks of int64. */
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "base/parallel.h"
#include "ops/elementwise/elementwise_room.h"

enum { BLOCK = 512, GRAIN = 16384 };

/* ---- integers: narrow types to and from 64 bits ---- */

#define LOAD(T)                                                                                                        \
    for (int64_t i = 0; i < n; i++)                                                                                    \
        dst[i] = (int64_t)((const T *)src)[at + i * step];                                                             \
    break
static void load_block(pw_dtype dtype, const void *src, int64_t at, int64_t step, int64_t n, int64_t *dst)
{
    switch (dtype) {
    case PW_DTYPE_INT8:
        LOAD(int8_t);
    case PW_DTYPE_INT16:
        LOAD(int16_t);
    case PW_DTYPE_INT32:
        LOAD(int32_t);
    case PW_DTYPE_UINT8:
        LOAD(uint8_t);
    case PW_DTYPE_UINT16:
        LOAD(uint16_t);
    case PW_DTYPE_UINT32:
        LOAD(uint32_t);
    default:
        LOAD(int64_t);
    }
}

#define STORE(T)                                                                                                       \
    for (int64_t i = 0; i < n; i++)                                                                                    \
        ((T *)dst)[at + i] = (T)src[i];                                                                                \
    break
static void store_block(pw_dtype dtype, const int64_t *src, int64_t n, void *dst, int64_t at)
{
    switch (dtype) {
    case PW_DTYPE_INT8:
        STORE(int8_t);
    case PW_DTYPE_INT16:
        STORE(int16_t);
    case PW_DTYPE_INT32:
        STORE(int32_t);
    case PW_DTYPE_UINT8:
        STORE(uint8_t);
    case PW_DTYPE_UINT16:
        STORE(uint16_t);
    case PW_DTYPE_UINT32:
        STORE(uint32_t);
    default:
        STORE(int64_t);
    }
}

/* ---- maps ---- */

struct map_job {
    pw_ew function;
    pw_ew_map *map;
    const struct pw_tensor *x;
    struct pw_tensor *y;
    bool negative, positive; /* IsInf */
};

static void map_floats(void *user, int64_t begin, int64_t end)
{
    const struct map_job *job = user;
    size_t bytes = pw_dtype_bytes(job->x->dtype);

    job->map((const char *)job->x->data + (size_t)begin * bytes, (char *)job->y->data + (size_t)begin * bytes,
             end - begin);
}

static void map_integers(void *user, int64_t begin, int64_t end)
{
    const struct map_job *job = user;
    int64_t in[BLOCK], out[BLOCK];

    for (int64_t at = begin; at < end; at += BLOCK) {
        int64_t n = end - at < BLOCK ? end - at : BLOCK;

        load_block(job->x->dtype, job->x->data, at, 1, n, in);
        job->map(in, out, n);
        store_block(job->y->dtype, out, n, job->y->data, at);
    }
}

static void map_tests(void *user, int64_t begin, int64_t end)
{
    const struct map_job *job = user;
    uint8_t *y = job->y->data;

    for (int64_t i = begin; i < end; i++) {
        double x = job->x->dtype == PW_DTYPE_FLOAT32 ? (double)((const float *)job->x->data)[i]
                                                     : ((const double *)job->x->data)[i];

        if (job->function == PW_EW_IS_NAN)
            y[i] = isnan(x) ? 1 : 0;
        else
            y[i] = isinf(x) && (x < 0 ? job->negative : job->positive) ? 1 : 0;
    }
}

static void map_not(void *user, int64_t begin, int64_t end)
{
    const struct map_job *job = user;

    for (int64_t i = begin; i < end; i++)
        ((uint8_t *)job->y->data)[i] = !((const uint8_t *)job->x->data)[i];
}

static pw_status type_error(struct pw_eval *ev, const struct pw_tensor *x, struct pw_error *err)
{
    return pw_call_error(ev->call, err, "%s is not served for %s", ev->call->op->name, pw_dtype_name(x->nominal));
}

static bool precise(const struct pw_eval *ev, const struct pw_tensor *x)
{
    return ev->mode == PW_EVAL_GOLDEN && x->nominal == PW_DTYPE_FLOAT64;
}

static pw_status eval_map(struct pw_eval *ev, pw_ew function, struct pw_error *err)
{
    struct map_job job = {.function = function, .x = pw_eval_in(ev, 0)};
    bool test = function == PW_EW_IS_INF || function == PW_EW_IS_NAN;
    pw_parallel_body *body = map_floats;
    pw_status status;

    if (!job.x)
        return pw_call_error(ev->call, err, "the input is missing");
    status = pw_eval_output(ev, 0, test ? PW_DTYPE_BOOL : job.x->nominal, job.x->rank, job.x->dims, &job.y, err);
    if (status != PW_OK)
        return status;
    if (test) {
        job.negative = pw_call_int(ev->call, "detect_negative") != 0;
        job.positive = pw_call_int(ev->call, "detect_positive") != 0;
        body = job.x->dtype == PW_DTYPE_FLOAT32 || job.x->dtype == PW_DTYPE_FLOAT64 ? map_tests : NULL;
    } else if (job.x->dtype == PW_DTYPE_BOOL) {
        body = function == PW_EW_NOT ? map_not : NULL;
    } else {
        if (job.x->dtype == PW_DTYPE_FLOAT32)
            job.map = pw_ew_map_float(function);
        else if (job.x->dtype == PW_DTYPE_FLOAT64)
            job.map = pw_ew_map_double(function, precise(ev, job.x));
        else if (pw_dtype_is_integer(job.x->dtype))
            job.map = pw_ew_map_integer(function, pw_dtype_facts(job.x->dtype)->kind == PW_KIND_UNSIGNED);
        body = !job.map ? NULL : pw_dtype_is_integer(job.x->dtype) ? map_integers : map_floats;
    }
    if (!body)
        return type_error(ev, job.x, err);
    pw_parallel_for(job.x->count, GRAIN, body, &job);
    return PW_OK;
}

/* ---- folds: y = f(a, b) with broadcasting ---- */

struct fold_job {
    struct pw_broadcast plan;
    pw_ew_fold *fold;
    pw_dtype dtype, out_dtype; /* of the operands and the result in memory */
    const char *a, *b;
    char *y;
};

static void fold_run(void *user, int64_t out, const int64_t *at, const int64_t *steps, int64_t n)
{
    const struct fold_job *job = user;
    size_t bytes = pw_dtype_bytes(job->dtype), out_bytes = pw_dtype_bytes(job->out_dtype);

    job->fold(job->a + (size_t)at[0] * bytes, steps[0], job->b + (size_t)at[1] * bytes, steps[1],
              job->y + (size_t)out * out_bytes, n);
}

static void fold_run_integers(void *user, int64_t out, const int64_t *at, const int64_t *steps, int64_t n)
{
    const struct fold_job *job = user;
    int64_t a[BLOCK], b[BLOCK], y[BLOCK];

    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t length = n - i < BLOCK ? n - i : BLOCK;

        load_block(job->dtype, job->a, at[0] + i * steps[0], steps[0], steps[0] ? length : 1, a);
        load_block(job->dtype, job->b, at[1] + i * steps[1], steps[1], steps[1] ? length : 1, b);
        if (job->out_dtype == PW_DTYPE_BOOL) {
            job->fold(a, steps[0], b, steps[1], job->y + out + i, length);
        } else {
            job->fold(a, steps[0], b, steps[1], y, length);
            store_block(job->out_dtype, y, length, job->y, out + i);
        }
    }
}

static void fold_range(void *user, int64_t begin, int64_t end)
{
    const struct fold_job *job = user;

    pw_broadcast_walk(&job->plan, begin, end, pw_dtype_is_integer(job->dtype) ? fold_run_integers : fold_run, user);
}

static pw_ew_fold *find_fold(pw_ew function, pw_dtype dtype, bool exactly)
{
    if (dtype == PW_DTYPE_FLOAT32)
        return pw_ew_fold_float(function);
    if (dtype == PW_DTYPE_FLOAT64)
        return pw_ew_fold_double(function, exactly);
    if (dtype == PW_DTYPE_BOOL)
        return pw_ew_fold_bool(function);
    if (!pw_dtype_is_integer(dtype))
        return NULL;
    return pw_ew_fold_integer(function, pw_dtype_facts(dtype)->kind == PW_KIND_UNSIGNED);
}

/* y = f(a, b); dims_b as aligned. y may be a. */
static pw_status fold(struct pw_eval *ev, pw_ew function, const struct pw_tensor *a, const struct pw_tensor *b,
                      int rank_b, const int64_t *dims_b, struct pw_tensor *y, struct pw_error *err)
{
    struct fold_job job = {.dtype = a->dtype, .out_dtype = y->dtype, .a = a->data, .b = b->data, .y = y->data};
    const int ranks[] = {a->rank, rank_b};
    const int64_t *const dims[] = {a->dims, dims_b};

    job.fold = find_fold(function, a->dtype, precise(ev, a));
    if (!job.fold)
        return type_error(ev, a, err);
    if (a->dtype != b->dtype)
        return pw_call_error(ev->call, err, "the inputs are %s and %s", pw_dtype_name(a->nominal),
                             pw_dtype_name(b->nominal));
    if (!pw_broadcast_plan(&job.plan, y->rank, y->dims, 2, ranks, dims))
        return pw_call_error(ev->call, err, "the inputs do not broadcast");
    if (y->count)
        pw_parallel_for(y->count, GRAIN, fold_range, &job);
    return PW_OK;
}

/* Output shape of all inputs, and the aligned dims of each. */
struct shapes {
    int rank;
    int64_t dims[PW_MAX_RANK];
};

static pw_status join_shapes(struct pw_eval *ev, struct shapes *out, struct pw_error *err)
{
    for (int i = 0; i < ev->input_count; i++) {
        const struct pw_tensor *x = pw_eval_in(ev, i), *first = pw_eval_in(ev, 0);
        int64_t aligned[PW_MAX_RANK];
        int rank = 0;
        pw_status status;

        if (!x || !first)
            return pw_call_error(ev->call, err, "input %d is missing", i);
        status = pw_ew_align(ev->call, i, first->rank, x->rank, x->dims, &rank, aligned, err);
        if (status != PW_OK)
            return status;
        if (!pw_broadcast_shape(out->rank, out->dims, rank, aligned, &out->rank, out->dims))
            return pw_call_error(ev->call, err, "input %d does not broadcast", i);
        if (i > 0 && pw_ew_unidirectional(ev->call)) {
            out->rank = first->rank;
            memcpy(out->dims, first->dims, sizeof out->dims);
        }
    }
    return PW_OK;
}

static pw_status fold_strings(struct pw_eval *ev, const struct pw_tensor *a, const struct pw_tensor *b,
                              struct pw_tensor *y, struct pw_error *err);

static pw_status eval_binary(struct pw_eval *ev, pw_ew function, struct pw_error *err)
{
    const struct pw_tensor *a = pw_eval_in(ev, 0), *b = pw_eval_in(ev, 1);
    struct shapes shapes = {0};
    struct pw_tensor *y = NULL, same = {0}, wide = {0};
    int64_t aligned[PW_MAX_RANK];
    int rank = 0;
    pw_status status = join_shapes(ev, &shapes, err);

    if (status == PW_OK)
        status = pw_eval_output(ev, 0, pw_ew_forms[function].to_bool ? PW_DTYPE_BOOL : a->nominal, shapes.rank,
                                shapes.dims, &y, err);
    if (status != PW_OK)
        return status;
    if (a->dtype == PW_DTYPE_STRING)
        return fold_strings(ev, a, b, y, err);
    /* Pow may mix types: integers to a floating power go through double and are truncated. */
    if (function == PW_EW_POW && pw_dtype_is_float(b->dtype) && !pw_dtype_is_float(a->dtype)) {
        status = pw_tensor_convert(&wide, a, PW_DTYPE_FLOAT64, err);
        if (status == PW_OK)
            status = pw_tensor_init(&same, PW_DTYPE_FLOAT64, y->rank, y->dims, err);
        if (status == PW_OK) {
            struct pw_tensor exponent = {0};

            status = pw_tensor_convert(&exponent, b, PW_DTYPE_FLOAT64, err);
            if (status == PW_OK)
                status = fold(ev, function, &wide, &exponent, b->rank, b->dims, &same, err);
            pw_tensor_clear(&exponent);
        }
        for (int64_t i = 0; status == PW_OK && i < y->count; i++)
            pw_tensor_set_int(y, i, pw_tensor_get_int(&same, i));
        goto done;
    }
    if (function == PW_EW_POW && a->dtype != b->dtype) {
        status = pw_tensor_convert(&same, b, a->dtype, err);
        if (status != PW_OK)
            goto done;
        b = &same;
    }
    status = pw_ew_align(ev->call, 1, a->rank, b->rank, b->dims, &rank, aligned, err);
    if (status == PW_OK)
        status = fold(ev, function, a, b, rank, aligned, y, err);
done:
    pw_tensor_clear(&same);
    pw_tensor_clear(&wide);
    return status;
}

/* ---- copies: Where, and the first operand of a variadic fold ---- */

struct copy_job {
    struct pw_broadcast plan; /* condition, x, y, or the one source */
    const uint8_t *condition; /* NULL: copy x */
    const char *x, *y;
    char *out;
    size_t bytes;
};

#define CHOOSE(T)                                                                                                      \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
        bool first = !job->condition || job->condition[at[0] + i * steps[0]];                                          \
        ((T *)job->out)[out + i] =                                                                                     \
            first ? ((const T *)job->x)[at[1] + i * steps[1]] : ((const T *)job->y)[at[2] + i * steps[2]];             \
    }                                                                                                                  \
    break

struct wide {
    uint64_t words[2];
};

static void copy_run(void *user, int64_t out, const int64_t *at, const int64_t *steps, int64_t n)
{
    const struct copy_job *job = user;

    switch (job->bytes) {
    case 1:
        CHOOSE(uint8_t);
    case 2:
        CHOOSE(uint16_t);
    case 4:
        CHOOSE(uint32_t);
    case 8:
        CHOOSE(uint64_t);
    default:
        CHOOSE(struct wide);
    }
}

static void copy_range(void *user, int64_t begin, int64_t end)
{
    const struct copy_job *job = user;

    pw_broadcast_walk(&job->plan, begin, end, copy_run, user);
}

/* Strings own their bytes: element by element. */
static pw_status copy_strings(const struct copy_job *job, struct pw_tensor *out, struct pw_error *err);

static pw_status eval_where(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *in[3];
    struct copy_job job = {.bytes = 0};
    struct shapes shapes = {0};
    struct pw_tensor *out = NULL;
    const int64_t *dims[3];
    int ranks[3];
    pw_status status = join_shapes(ev, &shapes, err);

    if (status != PW_OK)
        return status;
    for (int i = 0; i < 3; i++) {
        in[i] = pw_eval_in(ev, i);
        ranks[i] = in[i]->rank;
        dims[i] = in[i]->dims;
    }
    if (in[0]->dtype != PW_DTYPE_BOOL || in[1]->dtype != in[2]->dtype)
        return pw_call_error(ev->call, err, "a condition of bool and two inputs of one type are expected");
    status = pw_eval_output(ev, 0, in[1]->nominal, shapes.rank, shapes.dims, &out, err);
    if (status != PW_OK)
        return status;
    if (!pw_broadcast_plan(&job.plan, out->rank, out->dims, 3, ranks, dims))
        return pw_call_error(ev->call, err, "the inputs do not broadcast");
    job.condition = in[0]->data;
    job.x = in[1]->data;
    job.y = in[2]->data;
    job.out = out->data;
    job.bytes = pw_dtype_bytes(out->dtype);
    if (out->count == 0)
        return PW_OK;
    if (out->dtype == PW_DTYPE_STRING)
        return copy_strings(&job, out, err);
    pw_parallel_for(out->count, GRAIN, copy_range, &job);
    return PW_OK;
}

struct string_copy {
    const struct copy_job *job;
    struct pw_tensor *out;
    struct pw_error *err;
    pw_status status;
};

static void string_run(void *user, int64_t out, const int64_t *at, const int64_t *steps, int64_t n)
{
    struct string_copy *copy = user;
    const struct copy_job *job = copy->job;

    for (int64_t i = 0; i < n && copy->status == PW_OK; i++) {
        const struct pw_bytes *s = job->condition[at[0] + i * steps[0]]
                                       ? &((const struct pw_bytes *)(const void *)job->x)[at[1] + i * steps[1]]
                                       : &((const struct pw_bytes *)(const void *)job->y)[at[2] + i * steps[2]];

        copy->status = pw_tensor_set_string(copy->out, out + i, s->data, s->size, copy->err);
    }
}

static pw_status copy_strings(const struct copy_job *job, struct pw_tensor *out, struct pw_error *err)
{
    struct string_copy copy = {job, out, err, PW_OK};

    pw_broadcast_walk(&job->plan, 0, out->count, string_run, &copy);
    return copy.status;
}

struct string_test {
    const struct pw_bytes *a, *b;
    uint8_t *y;
};

static void string_equal(void *user, int64_t out, const int64_t *at, const int64_t *steps, int64_t n)
{
    const struct string_test *test = user;

    for (int64_t i = 0; i < n; i++) {
        const struct pw_bytes *a = &test->a[at[0] + i * steps[0]], *b = &test->b[at[1] + i * steps[1]];

        test->y[out + i] = a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
    }
}

static pw_status fold_strings(struct pw_eval *ev, const struct pw_tensor *a, const struct pw_tensor *b,
                              struct pw_tensor *y, struct pw_error *err)
{
    struct string_test test = {a->data, b->data, y->data};
    const int ranks[] = {a->rank, b->rank};
    const int64_t *const dims[] = {a->dims, b->dims};
    struct pw_broadcast plan;

    if (b->dtype != PW_DTYPE_STRING || !pw_broadcast_plan(&plan, y->rank, y->dims, 2, ranks, dims))
        return pw_call_error(ev->call, err, "two inputs of strings that broadcast are expected");
    if (y->count)
        pw_broadcast_walk(&plan, 0, y->count, string_equal, &test);
    return PW_OK;
}

/* ---- variadic ---- */

static pw_status broadcast_copy(struct pw_eval *ev, const struct pw_tensor *x, struct pw_tensor *y,
                                struct pw_error *err)
{
    struct copy_job job = {.x = x->data, .out = y->data, .bytes = pw_dtype_bytes(x->dtype)};
    const int ranks[] = {x->rank, x->rank, x->rank};
    const int64_t *const dims[] = {x->dims, x->dims, x->dims};

    if (x->dtype != y->dtype || !pw_broadcast_plan(&job.plan, y->rank, y->dims, 3, ranks, dims))
        return pw_call_error(ev->call, err, "the inputs do not broadcast");
    if (y->count)
        pw_parallel_for(y->count, GRAIN, copy_range, &job);
    return PW_OK;
}

/* f(f(x0, x1), x2)…, in the type of the carrier. */
static pw_status eval_variadic(struct pw_eval *ev, pw_ew function, struct pw_error *err)
{
    const struct pw_tensor *first = pw_eval_in(ev, 0);
    struct shapes shapes = {0};
    struct pw_tensor *y = NULL;
    pw_status status = join_shapes(ev, &shapes, err);

    if (status == PW_OK)
        status = pw_eval_output(ev, 0, first->nominal, shapes.rank, shapes.dims, &y, err);
    if (status != PW_OK)
        return status;
    if (ev->input_count == 1)
        status = broadcast_copy(ev, first, y, err);
    for (int i = 1; status == PW_OK && i < ev->input_count; i++) {
        const struct pw_tensor *x = pw_eval_in(ev, i);

        status = fold(ev, function, i == 1 ? first : y, x, x->rank, x->dims, y, err);
    }
    for (int64_t i = 0; function == PW_EW_MEAN && status == PW_OK && i < y->count; i++) {
        if (y->dtype == PW_DTYPE_FLOAT64)
            ((double *)y->data)[i] /= ev->input_count;
        else if (y->dtype == PW_DTYPE_FLOAT32)
            ((float *)y->data)[i] /= (float)ev->input_count;
    }
    return status;
}

/* ---- Clip: Min(max, Max(x, min)) ---- */

static pw_status clip_bound(struct pw_eval *ev, int input, const char *attribute, pw_dtype dtype, struct pw_tensor *out,
                            bool *given, struct pw_error *err)
{
    const struct pw_tensor *bound = pw_eval_in(ev, input);
    pw_status status;

    *given = false;
    if (ev->call->op->attrs && !pw_call_has(ev->call, attribute))
        return PW_OK; /* the defaults are the ends of the range: infinities stay */
    if (ev->call->op->attrs) {
        status = pw_tensor_init(out, dtype, 0, NULL, err);
        if (status == PW_OK)
            pw_tensor_set(out, 0, (double)pw_call_float(ev->call, attribute));
        *given = status == PW_OK;
        return status;
    }
    if (!bound)
        return PW_OK;
    if (bound->dtype != dtype || bound->count != 1)
        return pw_call_error(ev->call, err, "min and max must be scalars of the input's type");
    status = pw_tensor_copy(out, bound, err);
    *given = status == PW_OK;
    return status;
}

static pw_status eval_clip(struct pw_eval *ev, struct pw_error *err)
{
    static const int64_t one[] = {1};
    const struct pw_tensor *x = pw_eval_in(ev, 0);
    struct pw_tensor low = {0}, high = {0}, *y = NULL;
    bool has_low = false, has_high = false;
    pw_status status;

    if (!x)
        return pw_call_error(ev->call, err, "the input is missing");
    status = pw_eval_output(ev, 0, x->nominal, x->rank, x->dims, &y, err);
    if (status == PW_OK)
        status = clip_bound(ev, 1, "min", x->dtype, &low, &has_low, err);
    if (status == PW_OK)
        status = clip_bound(ev, 2, "max", x->dtype, &high, &has_high, err);
    if (status == PW_OK && !has_low && !has_high)
        status = broadcast_copy(ev, x, y, err);
    if (status == PW_OK && has_low)
        status = fold(ev, PW_EW_MAX, x, &low, 0, one, y, err);
    if (status == PW_OK && has_high)
        status = fold(ev, PW_EW_MIN, has_low ? y : x, &high, 0, one, y, err);
    pw_tensor_clear(&low);
    pw_tensor_clear(&high);
    return status;
}

pw_status pw_ew_eval(struct pw_eval *ev, struct pw_error *err)
{
    pw_ew function = pw_ew_function(ev->call);

    if (function == PW_EW_CLIP)
        return eval_clip(ev, err);
    if (function < PW_EW_FIRST_BINARY)
        return eval_map(ev, function, err);
    if (function == PW_EW_WHERE)
        return eval_where(ev, err);
    if (ev->call->op->inputs[0].flags & PW_FORMAL_VARIADIC)
        return eval_variadic(ev, function, err);
    return eval_binary(ev, function, err);
}
