/* References that compare elements: TopK and Unique. Elements are turned into unsigned keys of the same
 * order first, so that one sort serves every type. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "ops/gather/gather.h"

/* ---- keys ---- */

#define SIGN (UINT64_C(1) << 63)

static uint64_t double_key(double x)
{
    uint64_t bits;
    if (x != x)
        return UINT64_MAX;
    x += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &x, sizeof bits);
    return bits & SIGN ? ~bits : bits | SIGN;
}

struct text_at {
    const struct pw_bytes *text;
    int64_t at;
};

static int compare_bytes(const struct pw_bytes *a, const struct pw_bytes *b)
{
    size_t n = a->size < b->size ? a->size : b->size;
    int order = n > 0 ? memcmp(a->data, b->data, n) : 0;
    return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

static int compare_texts(const void *a, const void *b)
{
    return compare_bytes(((const struct text_at *)a)->text, ((const struct text_at *)b)->text);
}

static pw_status text_keys(const struct pw_tensor *t, uint64_t *keys, struct pw_error *err)
{
    struct text_at *sorted = pw_calloc((size_t)t->count, sizeof *sorted);
    uint64_t rank = 0;
    if (sorted == NULL)
        return pw_error_memory(err, (size_t)t->count * sizeof *sorted);
    for (int64_t i = 0; i < t->count; i++)
        sorted[i] = (struct text_at){(const struct pw_bytes *)t->data + i, i};
    qsort(sorted, (size_t)t->count, sizeof *sorted, compare_texts);
    for (int64_t i = 0; i < t->count; i++) {
        rank += i > 0 && compare_bytes(sorted[i - 1].text, sorted[i].text) != 0;
        keys[sorted[i].at] = rank;
    }
    pw_free(sorted);
    return PW_OK;
}

pw_status pw_gather_keys(const struct pw_tensor *t, uint64_t *keys, struct pw_error *err)
{
    pw_dtype_kind kind = pw_dtype_facts(t->dtype)->kind;
    if (kind == PW_KIND_STRING)
        return text_keys(t, keys, err);
    for (int64_t i = 0; i < t->count; i++) {
        if (kind == PW_KIND_FLOAT)
            keys[i] = double_key(pw_tensor_get(t, i));
        else if (kind == PW_KIND_SIGNED)
            keys[i] = (uint64_t)pw_tensor_get_int(t, i) ^ SIGN;
        else
            keys[i] = (uint64_t)pw_tensor_get_int(t, i);
    }
    return PW_OK;
}

/* ---- TopK ---- */

struct ranked {
    uint64_t key; /* the larger the better */
    int64_t at;
};

/* Is a worse than b? Equal values: the later one. */
static bool worse(const struct ranked *a, const struct ranked *b)
{
    return a->key != b->key ? a->key < b->key : a->at > b->at;
}

/* Heap with the worst at the root. */
static void sift(struct ranked *heap, int64_t n, int64_t i)
{
    struct ranked moved = heap[i];
    for (int64_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && worse(&heap[child + 1], &heap[child]))
            child++;
        if (!worse(&heap[child], &moved))
            break;
        heap[i] = heap[child];
    }
    heap[i] = moved;
}

/* The k best of n keys, best first. */
static void select_best(const uint64_t *keys, int64_t stride, int64_t n, bool largest, int64_t k, struct ranked *heap)
{
    for (int64_t i = 0; i < n; i++) {
        struct ranked one = {largest ? keys[i * stride] : ~keys[i * stride], i};
        if (i < k) {
            heap[i] = one;
            if (i + 1 == k) {
                for (int64_t j = k / 2; j-- > 0;)
                    sift(heap, k, j);
            }
        } else if (worse(&heap[0], &one)) {
            heap[0] = one;
            sift(heap, k, 0);
        }
    }
    for (int64_t left = k - 1; left > 0; left--) { /* the worst goes to the end */
        struct ranked worst = heap[0];
        heap[0] = heap[left];
        heap[left] = worst;
        sift(heap, left, 0);
    }
}

struct topk_job {
    struct pw_gather_topk g;
    const struct pw_tensor *in;
    struct pw_tensor *values;
    int64_t *indices;
    const uint64_t *keys;
    struct ranked *heaps; /* k a row */
};

static void topk_rows(void *user, int64_t begin, int64_t end)
{
    const struct topk_job *job = user;
    const struct pw_gather_topk *g = &job->g;
    size_t bytes = pw_dtype_bytes(job->in->dtype);
    for (int64_t row = begin; row < end; row++) {
        struct ranked *heap = job->heaps + row * g->k;
        int64_t from = row / g->inner * g->size * g->inner + row % g->inner;
        int64_t to = row / g->inner * g->k * g->inner + row % g->inner;
        select_best(job->keys + from, g->inner, g->size, g->largest, g->k, heap);
        for (int64_t i = 0; i < g->k; i++) {
            memcpy((char *)job->values->data + (size_t)(to + i * g->inner) * bytes,
                   (const char *)job->in->data + (size_t)(from + heap[i].at * g->inner) * bytes, bytes);
            job->indices[to + i * g->inner] = heap[i].at;
        }
    }
}

pw_status pw_gather_ref_topk(struct pw_eval *ev, struct pw_error *err)
{
    struct topk_job job = {.in = pw_eval_in(ev, 0)};
    struct pw_tensor *indices = NULL;
    uint64_t *keys = NULL;
    pw_status status = pw_gather_plan_topk(ev->call, &job.g, err);
    if (status == PW_OK && job.in->dtype == PW_DTYPE_STRING)
        status = pw_call_error(ev->call, err, "texts have no order here");
    if (status == PW_OK)
        status = pw_gather_make(ev, 0, job.in->nominal, &job.values, err);
    if (status == PW_OK)
        status = pw_gather_make(ev, 1, PW_DTYPE_INT64, &indices, err);
    if (status != PW_OK || job.values->count == 0)
        return status;
    job.indices = indices->data;
    keys = pw_calloc((size_t)job.in->count, sizeof *keys);
    job.heaps = pw_calloc((size_t)job.values->count, sizeof *job.heaps);
    if (keys == NULL || job.heaps == NULL) {
        status = pw_error_memory(err, (size_t)job.in->count * sizeof *keys);
    } else {
        status = pw_gather_keys(job.in, keys, err);
        job.keys = keys;
    }
    if (status == PW_OK)
        pw_parallel_for(job.g.outer * job.g.inner, 1 + 4096 / job.g.size, topk_rows, &job);
    pw_free(keys);
    pw_free(job.heaps);
    return status;
}

/* ---- Unique ---- */

/* Slices of the input along an axis (single elements when it is flattened), ordered by their keys. */
struct slices {
    int64_t count, outer, inner; /* slice i holds elements (o * count + i) * inner + k */
    const uint64_t *keys;
};

struct slice_at {
    const struct slices *all;
    int64_t at;
};

static int compare_slices(const struct slices *s, int64_t a, int64_t b)
{
    for (int64_t o = 0; o < s->outer; o++) {
        for (int64_t k = 0; k < s->inner; k++) {
            uint64_t x = s->keys[(o * s->count + a) * s->inner + k], y = s->keys[(o * s->count + b) * s->inner + k];
            if (x != y)
                return x < y ? -1 : 1;
        }
    }
    return 0;
}

static int by_slice(const void *a, const void *b)
{
    const struct slice_at *x = a, *y = b;
    int order = compare_slices(x->all, x->at, y->at);
    return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

static int by_first(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* What the outputs are made of. */
struct groups {
    int64_t count;
    int64_t *first;   /* slice of each group */
    int64_t *inverse; /* group of each slice */
    int64_t *sizes;
};

/* Groups in sorted order, or in the order of their first slice. */
static void make_groups(struct slice_at *sorted, const struct slices *s, bool keep_sorted, struct groups *g)
{
    g->count = 0;
    for (int64_t i = 0; i < s->count; i++) {
        if (i == 0 || compare_slices(s, sorted[i - 1].at, sorted[i].at) != 0)
            g->first[g->count++] = sorted[i].at;
        g->inverse[sorted[i].at] = g->first[g->count - 1]; /* by its first slice, for now */
    }
    if (!keep_sorted)
        qsort(g->first, (size_t)g->count, sizeof *g->first, by_first);
    for (int64_t i = 0; i < g->count; i++)
        sorted[g->first[i]].at = i; /* from here on: number of the group that begins at this slice */
    for (int64_t i = 0; i < s->count; i++) {
        g->inverse[i] = sorted[g->inverse[i]].at;
        g->sizes[g->inverse[i]]++;
    }
}

static pw_status write_ints(struct pw_eval *ev, int output, const int64_t *values, int64_t count, struct pw_error *err)
{
    struct pw_tensor *out = NULL;
    if (output >= ev->output_count || !ev->call->wanted[output])
        return PW_OK;
    pw_status status = pw_eval_output(ev, output, PW_DTYPE_INT64, 1, &count, &out, err);
    if (status == PW_OK && count > 0)
        memcpy(out->data, values, (size_t)count * sizeof *values);
    return status;
}

static pw_status write_unique(struct pw_eval *ev, const struct slices *s, const struct groups *g, int axis,
                              struct pw_error *err)
{
    const struct pw_tensor *in = pw_eval_in(ev, 0);
    struct pw_tensor *out = NULL;
    int64_t dims[PW_MAX_RANK] = {0};
    bool flat = !pw_call_has(ev->call, "axis");
    memcpy(dims, in->dims, sizeof dims);
    dims[flat ? 0 : axis] = g->count;
    pw_status status = pw_eval_output(ev, 0, in->nominal, flat ? 1 : in->rank, dims, &out, err);
    for (int64_t o = 0; o < s->outer && status == PW_OK; o++) {
        for (int64_t i = 0; i < g->count && status == PW_OK; i++)
            status = pw_tensor_move(out, (o * g->count + i) * s->inner, in, (o * s->count + g->first[i]) * s->inner,
                                    s->inner, err);
    }
    if (status == PW_OK)
        status = write_ints(ev, 1, g->first, g->count, err);
    if (status == PW_OK)
        status = write_ints(ev, 2, g->inverse, s->count, err);
    if (status == PW_OK)
        status = write_ints(ev, 3, g->sizes, g->count, err);
    return status;
}

pw_status pw_gather_ref_unique(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *in = pw_eval_in(ev, 0);
    struct slices s = {.count = in->count, .outer = 1, .inner = 1};
    struct groups g = {0};
    uint64_t *keys = NULL;
    struct slice_at *sorted = NULL;
    int axis = 0;
    pw_status status = PW_OK;
    if (pw_call_has(ev->call, "axis")) {
        status = pw_call_axis(ev->call, pw_call_int(ev->call, "axis"), in->rank, &axis, err);
        if (status != PW_OK)
            return status;
        s = (struct slices){in->dims[axis], pw_tensor_span(in, 0, axis), pw_tensor_span(in, axis + 1, in->rank), NULL};
    }
    size_t n = (size_t)s.count;
    keys = pw_calloc((size_t)in->count, sizeof *keys);
    sorted = pw_calloc(n, sizeof *sorted);
    g.first = pw_calloc(n, sizeof *g.first);
    g.inverse = pw_calloc(n, sizeof *g.inverse);
    g.sizes = pw_calloc(n, sizeof *g.sizes);
    if (keys == NULL || sorted == NULL || g.first == NULL || g.inverse == NULL || g.sizes == NULL)
        status = pw_error_memory(err, n * sizeof *sorted);
    if (status == PW_OK)
        status = pw_gather_keys(in, keys, err);
    if (status != PW_OK)
        goto done;
    s.keys = keys;
    for (int64_t i = 0; i < s.count; i++)
        sorted[i] = (struct slice_at){&s, i};
    qsort(sorted, n, sizeof *sorted, by_slice);
    make_groups(sorted, &s, pw_call_int(ev->call, "sorted") != 0, &g);
    status = write_unique(ev, &s, &g, axis, err);
done:
    pw_free(keys);
    pw_free(sorted);
    pw_free(g.first);
    pw_free(g.inverse);
    pw_free(g.sizes);
    return status;
}
