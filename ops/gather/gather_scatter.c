/* References of what writes at indices: Scatter, ScatterElements, ScatterND, TensorScatter. Updates are applied one
 * after the other in row-major order, so duplicates have a defined result. */
#include <inttypes.h>
#include <string.h>

#include "ops/gather/gather.h"

/* ---- reductions ---- */

typedef void combine_fn(void *dst, const void *src, int64_t n);

#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
/* A NaN on either side wins, as in numpy. */
#define MAX(a, b) ((a) != (a) || (a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) != (a) || (a) < (b) ? (a) : (b))

#define DEFINE_COMBINE(name, type, wide, operation)                                                                    \
    static void name(void *dst, const void *src, int64_t n)                                                            \
    {                                                                                                                  \
        type *to = dst;                                                                                                \
        const type *from = src;                                                                                        \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            wide a = (wide)to[i], b = (wide)from[i];                                                                   \
            to[i] = (type)(operation(a, b));                                                                           \
        }                                                                                                              \
    }
/* Sums and products of integers wrap, so they are made unsigned. */
#define DEFINE_COMBINES(type, suffix, wide)                                                                            \
    DEFINE_COMBINE(add_##suffix, type, wide, ADD)                                                                      \
    DEFINE_COMBINE(mul_##suffix, type, wide, MUL)                                                                      \
    DEFINE_COMBINE(max_##suffix, type, type, MAX)                                                                      \
    DEFINE_COMBINE(min_##suffix, type, type, MIN)
DEFINE_COMBINES(double, f64, double)
DEFINE_COMBINES(float, f32, float)
DEFINE_COMBINES(int8_t, i8, uint64_t)
DEFINE_COMBINES(uint8_t, u8, uint64_t)
DEFINE_COMBINES(int16_t, i16, uint64_t)
DEFINE_COMBINES(uint16_t, u16, uint64_t)
DEFINE_COMBINES(int32_t, i32, uint64_t)
DEFINE_COMBINES(uint32_t, u32, uint64_t)
DEFINE_COMBINES(int64_t, i64, uint64_t)
DEFINE_COMBINES(uint64_t, u64, uint64_t)

/* Booleans: sums are "or", products "and". */
static void or_bool(void *dst, const void *src, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        ((uint8_t *)dst)[i] |= ((const uint8_t *)src)[i] != 0;
}

static void and_bool(void *dst, const void *src, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        ((uint8_t *)dst)[i] &= ((const uint8_t *)src)[i] != 0;
}

static combine_fn *const combines[PW_DTYPE_COUNT][PW_SCATTER_COUNT] = {
    [PW_DTYPE_FLOAT64] = {NULL, add_f64, mul_f64, max_f64, min_f64},
    [PW_DTYPE_FLOAT32] = {NULL, add_f32, mul_f32, max_f32, min_f32},
    [PW_DTYPE_INT8] = {NULL, add_i8, mul_i8, max_i8, min_i8},
    [PW_DTYPE_UINT8] = {NULL, add_u8, mul_u8, max_u8, min_u8},
    [PW_DTYPE_INT16] = {NULL, add_i16, mul_i16, max_i16, min_i16},
    [PW_DTYPE_UINT16] = {NULL, add_u16, mul_u16, max_u16, min_u16},
    [PW_DTYPE_INT32] = {NULL, add_i32, mul_i32, max_i32, min_i32},
    [PW_DTYPE_UINT32] = {NULL, add_u32, mul_u32, max_u32, min_u32},
    [PW_DTYPE_INT64] = {NULL, add_i64, mul_i64, max_i64, min_i64},
    [PW_DTYPE_UINT64] = {NULL, add_u64, mul_u64, max_u64, min_u64},
    [PW_DTYPE_BOOL] = {NULL, or_bool, and_bool, or_bool, and_bool},
};

struct target {
    const struct pw_tensor *updates;
    struct pw_tensor *out;
    combine_fn *combine; /* NULL: the update replaces */
};

/* A copy of data as the output, and how updates go in. */
static pw_status begin(struct pw_eval *ev, struct target *t, struct pw_error *err)
{
    const struct pw_tensor *data = pw_eval_in(ev, 0);
    pw_scatter_reduction reduction;
    t->updates = pw_eval_in(ev, 2);
    pw_status status = pw_gather_reduction(ev->call, &reduction, err);
    if (status != PW_OK)
        return status;
    if (t->updates->dtype != data->dtype)
        return pw_call_error(ev->call, err, "updates are %s, data is %s", pw_dtype_name(t->updates->nominal),
                             pw_dtype_name(data->nominal));
    t->combine = combines[data->dtype][reduction];
    if (reduction != PW_SCATTER_NONE && t->combine == NULL)
        return pw_call_error(ev->call, err, "no reduction for %s", pw_dtype_name(data->nominal));
    status = pw_gather_make(ev, 0, data->nominal, &t->out, err);
    return status == PW_OK ? pw_tensor_move(t->out, 0, data, 0, data->count, err) : status;
}

static pw_status apply(const struct target *t, int64_t from, int64_t to, int64_t n, struct pw_error *err)
{
    size_t bytes = pw_dtype_bytes(t->out->dtype);
    if (t->combine == NULL)
        return pw_tensor_move(t->out, to, t->updates, from, n, err);
    t->combine((char *)t->out->data + (size_t)to * bytes, (const char *)t->updates->data + (size_t)from * bytes, n);
    return PW_OK;
}

pw_status pw_gather_ref_scatter_elements(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_gather_elements g;
    struct target t = {0};
    const int64_t *indices = NULL;
    int64_t at[PW_MAX_RANK] = {0};
    pw_status status = pw_gather_plan_elements(ev->call, &g, err);
    if (status == PW_OK)
        status = pw_gather_indices(ev, 1, g.size, &indices, err);
    if (status == PW_OK)
        status = begin(ev, &t, err);
    if (status == PW_OK && t.updates->count != g.count)
        status = pw_call_error(ev->call, err, "%" PRId64 " updates for %" PRId64 " indices", t.updates->count, g.count);
    for (int64_t i = 0; i < g.count && status == PW_OK; i++) {
        int64_t to = indices[i] * g.strides[g.axis];
        for (int d = 0; d < g.rank; d++)
            to += d == g.axis ? 0 : at[d] * g.strides[d];
        status = apply(&t, i, to, 1, err);
        for (int d = g.rank - 1; d >= 0; d--) {
            if (++at[d] < g.dims[d])
                break;
            at[d] = 0;
        }
    }
    return status;
}

pw_status pw_gather_ref_scatter_nd(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_gather_nd g;
    struct target t = {0};
    const int64_t *values = NULL;
    size_t count = 0;
    pw_status status = pw_gather_plan_nd(ev->call, &g, err);
    if (status == PW_OK)
        status = pw_eval_ints(ev, 1, &values, &count, err);
    if (status == PW_OK)
        status = begin(ev, &t, err);
    if (status == PW_OK && t.updates->count != g.tuples * g.slice)
        status = pw_call_error(ev->call, err, "%" PRId64 " updates, expected %" PRId64, t.updates->count,
                               g.tuples * g.slice);
    for (int64_t i = 0; i < g.tuples && status == PW_OK; i++) {
        int64_t to = 0;
        for (int d = 0; d < g.depth; d++) {
            int64_t at = values[i * g.depth + d];
            if (at < -g.sizes[d] || at >= g.sizes[d])
                return pw_call_error(ev->call, err,
                                     "index %" PRId64 " of tuple %" PRId64 " is outside of an axis with %" PRId64
                                     " elements",
                                     at, i, g.sizes[d]);
            to += (at < 0 ? at + g.sizes[d] : at) * g.strides[d];
        }
        status = apply(&t, i * g.slice, to, g.slice, err);
    }
    return status;
}

/* ---- TensorScatter ---- */

pw_status pw_gather_ref_cache(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *past = pw_eval_in(ev, 0), *update = pw_eval_in(ev, 1);
    struct pw_gather_cache g;
    struct pw_tensor *out = NULL;
    const int64_t *starts = NULL;
    size_t count = 0;
    pw_status status = pw_gather_plan_cache(ev->call, &g, err);
    if (status == PW_OK)
        status = pw_eval_ints(ev, 2, &starts, &count, err);
    if (status == PW_OK && starts != NULL && count != (size_t)g.batch)
        status = pw_call_error(ev->call, err, "%zu write_indices for a batch of %" PRId64, count, g.batch);
    for (size_t b = 0; b < count && status == PW_OK; b++) {
        if (starts[b] < 0 || (g.circular ? starts[b] >= g.capacity : starts[b] > g.capacity - g.steps))
            status =
                pw_call_error(ev->call, err, "write index %" PRId64 " with %" PRId64 " steps in a cache of %" PRId64,
                              starts[b], g.steps, g.capacity);
    }
    if (status == PW_OK)
        status = pw_gather_make(ev, 0, past->nominal, &out, err);
    if (status == PW_OK)
        status = pw_tensor_move(out, 0, past, 0, past->count, err);
    for (int64_t i = 0; status == PW_OK && i < g.batch * g.middle * g.steps; i++) {
        int64_t row = i / g.steps, at = (starts != NULL ? starts[row / g.middle] : 0) + i % g.steps;
        at = g.circular ? at % g.capacity : at;
        status = pw_tensor_move(out, (row * g.capacity + at) * g.inner, update, i * g.inner, g.inner, err);
    }
    return status;
}
