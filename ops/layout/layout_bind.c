/* What the kernels need of a call: simplified copies as int arrays, pads, diagonals. */
#include <string.h>

#include "ops/layout/layout.h"

/* Arrays of all parts, `rank` numbers each. */
struct parts {
    int count, rank;
    struct pw_layout_copy *copies;
};

static pw_status read_parts(const struct pw_call *call, struct parts *p, struct pw_error *err)
{
    const struct pw_layout_kind *kind = call->op->data;
    p->count = kind->concat ? call->input_count : kind->split ? call->output_count : 1;
    p->rank = 1;
    p->copies = pw_arena_alloc(call->arena, (size_t)p->count, sizeof *p->copies);
    if (p->copies == NULL)
        return pw_error_memory(err, (size_t)p->count * sizeof *p->copies);
    for (int i = 0; i < p->count; i++) {
        pw_status status = kind->plan(call, i, &p->copies[i], err);
        if (status != PW_OK)
            return status;
        pw_layout_simplify(&p->copies[i]);
        if (p->copies[i].rank > p->rank)
            p->rank = p->copies[i].rank;
    }
    return PW_OK;
}

/* Which number of a copy an array holds. */
typedef enum { COPY_DIMS, COPY_SRC, COPY_DST } copy_field;

static const int64_t *field_of(const struct pw_layout_copy *copy, copy_field field)
{
    return field == COPY_DIMS ? copy->dims : field == COPY_SRC ? copy->src_stride : copy->dst_stride;
}

/* Parts of a lower rank get leading dims of 1. */
static pw_status bind_field(const struct pw_call *call, const struct parts *p, copy_field field, const char *name,
                            struct pw_bindings *b, struct pw_error *err)
{
    size_t total = (size_t)p->count * (size_t)p->rank;
    int64_t *values = pw_arena_alloc(call->arena, total, sizeof *values);
    if (values == NULL)
        return pw_error_memory(err, total * sizeof *values);
    for (int i = 0; i < p->count; i++) {
        const struct pw_layout_copy *copy = &p->copies[i];
        int shift = p->rank - copy->rank;
        for (int d = 0; d < p->rank; d++)
            values[i * p->rank + d] = d < shift ? (field == COPY_DIMS ? 1 : 0) : field_of(copy, field)[d - shift];
    }
    return pw_bind_ints(b, name, values, total, err);
}

static pw_status bind_scalars(const struct pw_call *call, const struct parts *p, struct pw_bindings *b,
                              struct pw_error *err)
{
    size_t n = (size_t)p->count;
    int64_t *values = pw_arena_alloc(call->arena, 3 * n, sizeof *values);
    if (values == NULL)
        return pw_error_memory(err, 3 * n * sizeof *values);
    for (size_t i = 0; i < n; i++) {
        values[i] = 1;
        for (int d = 0; d < p->copies[i].rank; d++)
            values[i] *= p->copies[i].dims[d];
        values[n + i] = p->copies[i].src_offset;
        values[2 * n + i] = p->copies[i].dst_offset;
    }
    pw_status status = pw_bind_ints(b, "copy_count", values, n, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "copy_src_offset", values + n, n, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "copy_dst_offset", values + 2 * n, n, err);
    return status;
}

pw_status pw_layout_bind_copy(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    struct parts p = {0};
    pw_status status = read_parts(call, &p, err);
    if (status != PW_OK)
        return status;
    bool tiled = p.count == 1 && pw_layout_make_tiled(&p.copies[0]);
    const struct pw_layout_copy *first = &p.copies[0];
    status = pw_bind_int(b, "copy_rank", p.rank, err);
    if (status == PW_OK)
        status = bind_field(call, &p, COPY_DIMS, "copy_dims", b, err);
    if (status == PW_OK)
        status = bind_field(call, &p, COPY_SRC, "copy_src", b, err);
    if (status == PW_OK)
        status = bind_field(call, &p, COPY_DST, "copy_dst", b, err);
    if (status == PW_OK)
        status = bind_scalars(call, &p, b, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "copy_tiled", tiled, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "copy_rows", tiled ? first->dims[first->rank - 2] : 1, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "copy_columns", tiled ? first->dims[first->rank - 1] : 1, err);
    return status;
}

/* ---- Shape, Size: the host knows the answer ---- */

static pw_status bind_values(const int64_t *values, size_t count, struct pw_bindings *b, struct pw_error *err)
{
    pw_status status = pw_bind_ints(b, "values", values, count, err);
    return status == PW_OK ? pw_bind_int(b, "value_count", (int64_t)count, err) : status;
}

pw_status pw_layout_bind_shape(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_info *out = &call->out[0];
    int64_t values[PW_MAX_RANK];
    for (size_t i = 0; i < out->content_count; i++) {
        if (!pw_dims_value(call->dims, out->content[i], &values[i]))
            return pw_call_error(call, err, "dim %zu is not a known number", i);
    }
    return bind_values(values, out->content_count, b, err);
}

pw_status pw_layout_bind_size(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    int64_t value;
    if (call->out[0].content == NULL || !pw_dims_value(call->dims, call->out[0].content[0], &value))
        return pw_call_error(call, err, "the size is not a known number");
    return bind_values(&value, 1, b, err);
}

/* ---- Pad, CenterCropPad ---- */

/* One element as two ints, little-endian, for kernels that take it as a pattern. */
static pw_status bind_fill(pw_dtype dtype, double value, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_tensor wide, narrow = {0};
    int32_t words[4] = {0};
    int64_t ints[2];
    pw_tensor_borrow(&wide, PW_DTYPE_FLOAT64, 0, NULL, &value);
    pw_status status = pw_tensor_convert(&narrow, &wide, dtype, err);
    if (status != PW_OK)
        return status;
    if (narrow.data != NULL && pw_dtype_bytes(dtype) <= 8)
        memcpy(words, narrow.data, pw_dtype_bytes(dtype));
    pw_tensor_clear(&narrow);
    ints[0] = words[0];
    ints[1] = words[1];
    return pw_bind_ints(b, "fill", ints, 2, err);
}

static pw_status bind_pad(struct pw_layout_pad *pad, struct pw_bindings *b, struct pw_error *err)
{
    int64_t rows = 1;
    pw_layout_simplify_pad(pad);
    size_t rank = (size_t)pad->rank;
    for (size_t d = 0; d + 1 < rank; d++)
        rows *= pad->out[d];
    pw_status status = pw_bind_int(b, "pad_rank", pad->rank, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "pad_mode", (int64_t)pad->mode, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "pad_rows", pad->out[rank - 1] > 0 ? rows : 0, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "pad_columns", pad->out[rank - 1], err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "pad_in", pad->in, rank, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "pad_out", pad->out, rank, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "pad_begin", pad->begin, rank, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "pad_low", pad->low, rank, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "pad_high", pad->high, rank, err);
    return status;
}

pw_status pw_layout_bind_pad(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_layout_pad pad;
    pw_status status = pw_layout_plan_pad(call, &pad, err);
    if (status == PW_OK && call->op->since < 11)
        status = bind_fill(call->in[0]->dtype, (double)pw_call_float(call, "value"), b, err);
    return status == PW_OK ? bind_pad(&pad, b, err) : status;
}

pw_status pw_layout_bind_center(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_layout_pad pad;
    pw_status status = pw_layout_plan_center(call, &pad, err);
    if (status == PW_OK)
        status = bind_fill(call->in[0]->dtype, 0.0, b, err);
    return status == PW_OK ? bind_pad(&pad, b, err) : status;
}

/* ---- Trilu, ReverseSequence ---- */

pw_status pw_layout_bind_trilu(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    int64_t dims[PW_MAX_RANK], k = 0, rows, columns, matrices = 1;
    bool known = false;
    int rank = call->in[0]->rank;
    pw_status status = pw_call_numbers(call, call->in[0], dims, err);
    if (status == PW_OK)
        status = pw_layout_trilu_k(call, &k, &known, err);
    if (status == PW_OK && (!known || rank < 2))
        status = pw_call_error(call, err, "k must be known and the input a matrix");
    if (status != PW_OK)
        return status;
    rows = dims[rank - 2];
    columns = dims[rank - 1];
    for (int d = 0; d < rank - 2; d++)
        matrices *= dims[d];
    /* Beyond the matrix every k is alike. */
    k = k < -rows - 1 ? -rows - 1 : k > columns + 1 ? columns + 1 : k;
    status = pw_bind_int(b, "tri_rows", rows, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "tri_columns", columns, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "tri_matrices", columns > 0 ? matrices : 0, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "tri_k", k, err);
    return status;
}

pw_status pw_layout_bind_reverse(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_layout_reverse r;
    pw_status status = pw_layout_plan_reverse(call, &r, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "rev_batch", r.inner > 0 ? r.batch : 0, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "rev_time", r.time, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "rev_inner", r.inner, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "rev_batch_stride", r.batch_stride, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "rev_time_stride", r.time_stride, err);
    return status;
}
