/* References of what picks: Gather, GatherElements, GatherND, OneHot, NonZero, Compress, EyeLike. Elements are
 * moved as they are, so golden and fast share them. */
#include <inttypes.h>
#include <string.h>

#include "base/parallel.h"
#include "ops/gather/gather.h"

#define TASK_BYTES ((int64_t)1 << 18)

static int64_t grain_for(int64_t bytes)
{
    return bytes >= TASK_BYTES ? 1 : TASK_BYTES / (bytes > 0 ? bytes : 1);
}

pw_status pw_gather_make(struct pw_eval *ev, int i, pw_dtype nominal, struct pw_tensor **out, struct pw_error *err)
{
    int64_t dims[PW_MAX_RANK];
    pw_status status = pw_call_numbers(ev->call, &ev->call->out[i], dims, err);
    return status == PW_OK ? pw_eval_output(ev, i, nominal, ev->call->out[i].rank, dims, out, err) : status;
}

pw_status pw_gather_indices(struct pw_eval *ev, int input, int64_t size, const int64_t **out, struct pw_error *err)
{
    const struct pw_tensor *t = pw_eval_in(ev, input);
    int64_t *made = pw_arena_alloc(ev->call->arena, (size_t)t->count + 1, sizeof *made);
    if (made == NULL)
        return pw_error_memory(err, (size_t)t->count * sizeof *made);
    if (!pw_dtype_is_integer(t->dtype))
        return pw_call_error(ev->call, err, "indices are %s, expected integers", pw_dtype_name(t->nominal));
    for (int64_t i = 0; i < t->count; i++) {
        int64_t at = pw_tensor_get_int(t, i);
        if (at < -size || at >= size)
            return pw_call_error(ev->call, err, "index %" PRId64 " is outside of an axis with %" PRId64 " elements", at,
                                 size);
        made[i] = at < 0 ? at + size : at;
    }
    *out = made;
    return PW_OK;
}

/* Runs a body over [0, count): threaded, but for texts, whose copies may fail. */
struct job {
    const struct pw_tensor *src;
    struct pw_tensor *dst;
    const int64_t *indices;
    const void *plan;
    struct pw_error *err;
    pw_status status;
};

static pw_status run(struct job *job, int64_t count, int64_t row_elements, pw_parallel_body *body)
{
    if (job->src->dtype == PW_DTYPE_STRING)
        body(job, 0, count);
    else
        pw_parallel_for(count, grain_for(row_elements * (int64_t)pw_dtype_bytes(job->src->dtype)), body, job);
    return job->status;
}

/* Threads never fail here; texts stop at the first failure. */
static bool move(struct job *job, int64_t from, int64_t to, int64_t n)
{
    pw_status status = pw_tensor_move(job->dst, to, job->src, from, n, job->err);
    if (status != PW_OK)
        job->status = status;
    return status == PW_OK;
}

/* ---- Gather ---- */

static void gather_rows(void *user, int64_t begin, int64_t end)
{
    struct job *job = user;
    const struct pw_gather_axis *g = job->plan;
    for (int64_t row = begin; row < end; row++) {
        int64_t from = (row / g->count * g->size + job->indices[row % g->count]) * g->inner;
        if (!move(job, from, row * g->inner, g->inner))
            return;
    }
}

pw_status pw_gather_ref_gather(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_gather_axis g;
    struct job job = {.src = pw_eval_in(ev, 0), .plan = &g, .err = err};
    pw_status status = pw_gather_plan_axis(ev->call, &g, err);
    if (status == PW_OK)
        status = pw_gather_indices(ev, 1, g.size, &job.indices, err);
    if (status == PW_OK)
        status = pw_gather_make(ev, 0, job.src->nominal, &job.dst, err);
    if (status != PW_OK || job.dst->count == 0)
        return status;
    return run(&job, g.outer * g.count, g.inner, gather_rows);
}

/* ---- GatherElements ---- */

static void gather_element_rows(void *user, int64_t begin, int64_t end)
{
    struct job *job = user;
    const struct pw_gather_elements *g = job->plan;
    int inner = g->rank - 1;
    for (int64_t row = begin; row < end; row++) {
        int64_t base = 0, rest = row;
        for (int d = inner - 1; d >= 0; d--) {
            base += d == g->axis ? 0 : rest % g->dims[d] * g->strides[d];
            rest /= g->dims[d];
        }
        for (int64_t i = 0; i < g->dims[inner]; i++) {
            int64_t at = row * g->dims[inner] + i;
            int64_t from = base + job->indices[at] * g->strides[g->axis] + (g->axis == inner ? 0 : i);
            if (!move(job, from, at, 1))
                return;
        }
    }
}

pw_status pw_gather_ref_elements(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_gather_elements g;
    struct job job = {.src = pw_eval_in(ev, 0), .plan = &g, .err = err};
    pw_status status = pw_gather_plan_elements(ev->call, &g, err);
    if (status == PW_OK)
        status = pw_gather_indices(ev, 1, g.size, &job.indices, err);
    if (status == PW_OK)
        status = pw_gather_make(ev, 0, job.src->nominal, &job.dst, err);
    if (status != PW_OK || job.dst->count == 0)
        return status;
    return run(&job, g.count / g.dims[g.rank - 1], g.dims[g.rank - 1], gather_element_rows);
}

/* ---- GatherND ---- */

static void gather_slices(void *user, int64_t begin, int64_t end)
{
    struct job *job = user;
    const struct pw_gather_nd *g = job->plan;
    for (int64_t t = begin; t < end; t++) {
        if (!move(job, job->indices[t], t * g->slice, g->slice))
            return;
    }
}

/* Offset of each tuple's slice in data. */
static pw_status tuple_offsets(struct pw_eval *ev, const struct pw_gather_nd *g, const int64_t **out,
                               struct pw_error *err)
{
    const int64_t *values = NULL;
    size_t count = 0;
    int64_t *offsets = pw_arena_alloc(ev->call->arena, (size_t)g->tuples + 1, sizeof *offsets);
    if (offsets == NULL)
        return pw_error_memory(err, (size_t)g->tuples * sizeof *offsets);
    pw_status status = pw_eval_ints(ev, 1, &values, &count, err);
    if (status != PW_OK)
        return status;
    for (int64_t t = 0; t < g->tuples; t++) {
        offsets[t] = t / g->tuples_per_batch * g->batch_stride;
        for (int d = 0; d < g->depth; d++) {
            int64_t at = values[t * g->depth + d];
            if (at < -g->sizes[d] || at >= g->sizes[d])
                return pw_call_error(ev->call, err,
                                     "index %" PRId64 " of tuple %" PRId64 " is outside of an axis with %" PRId64
                                     " elements",
                                     at, t, g->sizes[d]);
            offsets[t] += (at < 0 ? at + g->sizes[d] : at) * g->strides[d];
        }
    }
    *out = offsets;
    return PW_OK;
}

pw_status pw_gather_ref_nd(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_gather_nd g;
    struct job job = {.src = pw_eval_in(ev, 0), .plan = &g, .err = err};
    pw_status status = pw_gather_plan_nd(ev->call, &g, err);
    if (status == PW_OK)
        status = tuple_offsets(ev, &g, &job.indices, err);
    if (status == PW_OK)
        status = pw_gather_make(ev, 0, job.src->nominal, &job.dst, err);
    if (status != PW_OK || job.dst->count == 0)
        return status;
    return run(&job, g.tuples, g.slice, gather_slices);
}

/* ---- OneHot ---- */

pw_status pw_gather_ref_onehot(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *indices = pw_eval_in(ev, 0), *values = pw_eval_in(ev, 2);
    struct pw_gather_onehot g;
    struct pw_tensor *out = NULL;
    pw_status status = pw_gather_plan_onehot(ev->call, &g, err);
    if (status == PW_OK && values->count != 2)
        status = pw_call_error(ev->call, err, "values has %" PRId64 " elements, expected two", values->count);
    if (status == PW_OK)
        status = pw_gather_make(ev, 0, values->nominal, &out, err);
    for (int64_t i = 0; status == PW_OK && i < out->count; i++)
        status = pw_tensor_move(out, i, values, 0, 1, err);
    for (int64_t i = 0; status == PW_OK && i < indices->count; i++) {
        double x = pw_dtype_is_float(indices->dtype) ? pw_tensor_get(indices, i) : 0.0;
        int64_t at = !pw_dtype_is_float(indices->dtype) ? pw_tensor_get_int(indices, i)
                     : x > -9e15 && x < 9e15            ? (int64_t)x
                                                        : INT64_MAX;
        at = at < 0 ? at + g.depth : at;
        if (at >= 0 && at < g.depth)
            status = pw_tensor_move(out, (i / g.inner * g.depth + at) * g.inner + i % g.inner, values, 1, 1, err);
    }
    return status;
}

/* ---- NonZero ---- */

static bool is_zero(const struct pw_tensor *t, int64_t i)
{
    size_t bytes = pw_dtype_bytes(t->dtype);
    const unsigned char *at = (const unsigned char *)t->data + (size_t)i * bytes;
    if (t->dtype == PW_DTYPE_STRING)
        return ((const struct pw_bytes *)t->data)[i].size == 0;
    if (pw_dtype_is_float(t->dtype))
        return pw_tensor_get(t, i) == 0.0;
    for (size_t k = 0; k < bytes; k++) {
        if (at[k] != 0)
            return false;
    }
    return true;
}

pw_status pw_gather_ref_nonzero(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *in = pw_eval_in(ev, 0);
    struct pw_tensor *out = NULL;
    int64_t dims[2] = {in->rank, 0}, at = 0;
    for (int64_t i = 0; i < in->count; i++)
        dims[1] += !is_zero(in, i);
    pw_status status = pw_eval_output(ev, 0, PW_DTYPE_INT64, 2, dims, &out, err);
    if (status != PW_OK || out->count == 0)
        return status;
    int64_t *result = out->data;
    for (int64_t i = 0; i < in->count; i++) {
        if (is_zero(in, i))
            continue;
        for (int64_t d = in->rank - 1, rest = i; d >= 0; d--) {
            result[d * dims[1] + at] = rest % in->dims[d];
            rest /= in->dims[d];
        }
        at++;
    }
    return PW_OK;
}

/* ---- Compress ---- */

pw_status pw_gather_ref_compress(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *in = pw_eval_in(ev, 0), *condition = pw_eval_in(ev, 1);
    struct pw_tensor *out = NULL;
    int64_t dims[PW_MAX_RANK] = {0}, outer = 1, size = in->count, inner = 1, kept = 0;
    int axis = 0, rank = 1;
    pw_status status = PW_OK;
    if (pw_call_has(ev->call, "axis")) {
        status = pw_call_axis(ev->call, pw_call_int(ev->call, "axis"), in->rank, &axis, err);
        if (status != PW_OK)
            return status;
        rank = in->rank;
        memcpy(dims, in->dims, (size_t)rank * sizeof *dims);
        outer = pw_tensor_span(in, 0, axis);
        size = in->dims[axis];
        inner = pw_tensor_span(in, axis + 1, in->rank);
    }
    if (condition->dtype != PW_DTYPE_BOOL || condition->count > size)
        return pw_call_error(ev->call, err, "condition has %" PRId64 " elements of %s for %" PRId64 " slices",
                             condition->count, pw_dtype_name(condition->nominal), size);
    const uint8_t *keep = condition->data;
    for (int64_t i = 0; i < condition->count; i++)
        kept += keep[i] != 0;
    dims[axis] = kept;
    status = pw_eval_output(ev, 0, in->nominal, rank, dims, &out, err);
    for (int64_t o = 0, to = 0; o < outer && status == PW_OK; o++) {
        for (int64_t i = 0; i < condition->count && status == PW_OK; i++) {
            if (keep[i] == 0)
                continue;
            status = pw_tensor_move(out, to, in, (o * size + i) * inner, inner, err);
            to += inner;
        }
    }
    return status;
}

/* ---- EyeLike ---- */

pw_status pw_gather_ref_eye(struct pw_eval *ev, struct pw_error *err)
{
    int64_t k = pw_call_int(ev->call, "k");
    struct pw_tensor *out = NULL;
    pw_status status = pw_gather_make(ev, 0, ev->call->out[0].dtype, &out, err);
    if (status != PW_OK)
        return status;
    for (int64_t i = 0; i < out->dims[0]; i++) {
        int64_t column;
        if (!__builtin_add_overflow(i, k, &column) && column >= 0 && column < out->dims[1])
            pw_tensor_set(out, i * out->dims[1] + column, 1.0);
    }
    return PW_OK;
}
