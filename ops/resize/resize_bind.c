/*
 * What the resizing kernels are told. Positions and weights are tables made on the host in double,
 * bound as int arrays: weights as the bits of a float, or of a double in two ints, low first.
 */
#include <string.h>

#include "ops/resize/resize.h"

#define MAX_PASSES 4
#define MAX_TABLE_INTS ((int64_t)1 << 22)

static pw_status bind_extrapolation(struct pw_bindings *b, const struct pw_call *call, const struct pw_resize *r,
                                    struct pw_error *err)
{
    /* As the bits of an element, for the kernel that moves elements without looking at them. */
    struct pw_tensor t = {0};
    const int64_t one = 1;
    uint64_t bits = 0;
    pw_dtype dtype = call->in[0]->dtype;
    if (dtype == PW_DTYPE_STRING || pw_dtype_bytes(dtype) > sizeof bits)
        return pw_bind_int(b, "outside_bits", 0, err);
    pw_status status = pw_tensor_init(&t, dtype, 1, &one, err);
    if (status != PW_OK)
        return status;
    if (pw_dtype_is_float(dtype))
        pw_tensor_set(&t, 0, r->extrapolation);
    else if (pw_dtype_is_integer(dtype))
        pw_tensor_set_int(&t, 0, pw_resize_truncate(r->extrapolation, dtype));
    else
        *(uint8_t *)t.data = r->extrapolation != 0;
    memcpy(&bits, t.data, pw_dtype_bytes(dtype));
    pw_tensor_clear(&t);
    int64_t value = 0;
    memcpy(&value, &bits, sizeof value);
    return pw_bind_int(b, "outside_bits", value, err);
}

/* ---- nearest: an index table an axis ---- */

static pw_status bind_nearest(const struct pw_call *call, struct pw_bindings *b, const struct pw_resize *r,
                              const struct pw_resize_table *tables, struct pw_error *err)
{
    int64_t start[PW_MAX_RANK], in[PW_MAX_RANK], out[PW_MAX_RANK], total = 0;
    for (int a = 0; a < r->rank; a++) {
        start[a] = total;
        in[a] = tables[a].in;
        out[a] = tables[a].out;
        total += tables[a].out;
    }
    pw_status status = pw_bind_int(b, "table_fits", r->rank > 0 && total <= MAX_TABLE_INTS, err);
    if (status != PW_OK || r->rank == 0 || total > MAX_TABLE_INTS)
        return status;
    int64_t *index = pw_arena_alloc(call->arena, (size_t)total + 1, sizeof *index);
    if (!index)
        return pw_error_memory(err, (size_t)total * sizeof *index);
    for (int a = 0; a < r->rank; a++) {
        for (int64_t i = 0; i < out[a]; i++)
            index[start[a] + i] = tables[a].index[i];
    }
    const struct {
        const char *name;
        const int64_t *values;
        int64_t count;
    } arrays[] = {
        {"table", index, total}, {"start_of", start, r->rank}, {"in_dims", in, r->rank}, {"out_dims", out, r->rank}};
    for (size_t i = 0; status == PW_OK && i < sizeof arrays / sizeof *arrays; i++)
        status = pw_bind_ints(b, arrays[i].name, arrays[i].values, (size_t)arrays[i].count, err);
    return status == PW_OK ? bind_extrapolation(b, call, r, err) : status;
}

/* ---- weighted: a pass an axis ---- */

struct passes {
    int count;
    int axis[PW_MAX_RANK];
    int64_t dims[MAX_PASSES * 4]; /* outer, in, out, inner of each */
    int64_t start[MAX_PASSES];    /* of the table */
    int64_t taps[MAX_PASSES];
    int64_t total;             /* ints of the index table */
    int64_t sizes[MAX_PASSES]; /* elements each makes */
};

static bool plan_passes(const struct pw_resize *r, const struct pw_resize_table *tables, struct passes *p)
{
    *p = (struct passes){0};
    for (int a = 0; a < r->rank; a++) {
        if (!tables[a].identity)
            p->axis[p->count++] = a;
    }
    if (p->count == 0 && r->rank > 0)
        p->axis[p->count++] = r->rank - 1; /* a copy, as a pass with one weight of 1 */
    if (p->count == 0 || p->count > MAX_PASSES)
        return false;
    for (int i = 0; i < p->count; i++) {
        const struct pw_resize_table *t = &tables[p->axis[i]];
        int64_t outer = 1, inner = 1;
        bool over = false;
        for (int a = 0; a < r->rank; a++) {
            over = over || __builtin_mul_overflow(outer, a < p->axis[i] ? tables[a].out : 1, &outer) ||
                   __builtin_mul_overflow(inner, a > p->axis[i] ? tables[a].in : 1, &inner);
        }
        const int64_t dims[4] = {outer, t->in, t->out, inner};
        memcpy(p->dims + (ptrdiff_t)i * 4, dims, sizeof dims);
        p->start[i] = p->total;
        p->taps[i] = t->taps;
        p->total += t->out * t->taps;
        if (over || __builtin_mul_overflow(outer, t->out, &outer) || __builtin_mul_overflow(outer, inner, &p->sizes[i]))
            return false;
    }
    return p->total <= MAX_TABLE_INTS;
}

static int64_t float_bits(double value)
{
    float narrow = (float)value;
    int32_t bits = 0;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

static void fill_tables(const struct pw_resize_table *tables, const struct passes *p, bool wide, int64_t *index,
                        int64_t *weight)
{
    for (int i = 0; i < p->count; i++) {
        const struct pw_resize_table *t = &tables[p->axis[i]];
        for (int64_t k = 0; k < t->out * t->taps; k++) {
            int64_t at = p->start[i] + k;
            index[at] = t->index[k];
            if (!wide) {
                weight[at] = float_bits(t->weight[k]);
                continue;
            }
            int32_t halves[2];
            memcpy(halves, &t->weight[k], sizeof halves);
            weight[2 * at] = halves[0];
            weight[2 * at + 1] = halves[1];
        }
    }
}

static pw_status bind_weighted(const struct pw_call *call, struct pw_bindings *b, const struct pw_resize *r,
                               const struct pw_resize_table *tables, const struct passes *p, struct pw_error *err)
{
    pw_dtype dtype = call->in[0]->dtype;
    /* Doubles, and integers: their results are truncated, so that a last bit decides. */
    bool wide = dtype == PW_DTYPE_FLOAT64 || !pw_dtype_is_float(dtype);
    size_t ints = (size_t)p->total * (wide ? 2 : 1);
    int64_t *index = pw_arena_alloc(call->arena, (size_t)p->total + 1, sizeof *index);
    int64_t *weight = pw_arena_alloc(call->arena, ints + 1, sizeof *weight);
    if (!index || !weight)
        return pw_error_memory(err, ints * sizeof *weight);
    fill_tables(tables, p, wide, index, weight);
    pw_status status = pw_bind_ints(b, "table", index, (size_t)p->total, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "weights", weight, ints, err);
    return status == PW_OK ? pw_bind_float(b, "extrapolation", r->extrapolation, err) : status;
}

/* Every description of the operator is asked whether it serves the call, so the names that expressions use are there in
 * both modes, as zeros where they do not apply. */
static pw_status bind_sizes(struct pw_bindings *b, const struct pw_resize *r, const struct passes *p,
                            struct pw_error *err)
{
    static const char *const names[MAX_PASSES][7] = {{"outer0", "from0", "to0", "inner0", "start0", "taps0", "size0"},
                                                     {"outer1", "from1", "to1", "inner1", "start1", "taps1", "size1"},
                                                     {"outer2", "from2", "to2", "inner2", "start2", "taps2", "size2"},
                                                     {"outer3", "from3", "to3", "inner3", "start3", "taps3", "size3"}};
    const struct pw_named_int numbers[] = {{"nearest", r->mode == PW_RESIZE_NEAREST},
                                           {"rank", r->rank},
                                           {"row", r->rank > 0 ? r->axes[r->rank - 1].out : 0},
                                           {"passes", p->count}};
    pw_status status = pw_bind_numbers(b, numbers, sizeof numbers / sizeof *numbers, err);
    for (int i = 0; status == PW_OK && i < MAX_PASSES; i++) {
        const int64_t *d = p->dims + (ptrdiff_t)i * 4;
        const int64_t values[7] = {d[0], d[1], d[2], d[3], p->start[i], p->taps[i], p->sizes[i]};
        for (int k = 0; status == PW_OK && k < 7; k++)
            status = pw_bind_int(b, names[i][k], values[k], err);
    }
    return status;
}

pw_status pw_resize_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_resize r;
    struct pw_resize_table tables[PW_MAX_RANK];
    struct passes p = {0};
    bool fits = true;
    pw_status status = pw_resize_settle(call, &r, err);
    for (int a = 0; status == PW_OK && a < r.rank; a++)
        status = pw_resize_table(call, &r, a, &tables[a], err);
    if (status == PW_OK && r.mode != PW_RESIZE_NEAREST)
        fits = plan_passes(&r, tables, &p);
    if (!fits)
        p = (struct passes){0};
    if (status == PW_OK)
        status = bind_sizes(b, &r, &p, err);
    if (status != PW_OK)
        return status;
    if (r.mode == PW_RESIZE_NEAREST)
        return bind_nearest(call, b, &r, tables, err);
    status = pw_bind_int(b, "table_fits", fits, err);
    return status == PW_OK && fits ? bind_weighted(call, b, &r, tables, &p, err) : status;
}

pw_status pw_grid_sample_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_info *x = call->in[0], *grid = call->in[1];
    struct pw_grid g;
    int64_t in[PW_MAX_RANK], in_size = 1, out_size = 1;
    pw_status status = pw_grid_settle(call, &g, err);
    if (status == PW_OK && (x->rank < 3 || grid->rank != x->rank))
        status = pw_call_error(call, err, "shapes are not known");
    for (int a = 0; status == PW_OK && a < x->rank - 2; a++) {
        int64_t out = 0;
        if (!pw_dims_value(call->dims, x->dims[2 + a], &in[a]) || !pw_dims_value(call->dims, grid->dims[1 + a], &out))
            return pw_call_error(call, err, "axis %d: the extents are not known numbers", a);
        in_size *= in[a];
        out_size *= out;
    }
    const struct pw_named_int numbers[] = {{"axes", x->rank - 2}, {"mode", g.mode},     {"padding", g.padding},
                                           {"align", g.align},    {"in_size", in_size}, {"out_size", out_size}};
    if (status == PW_OK)
        status = pw_bind_numbers(b, numbers, sizeof numbers / sizeof *numbers, err);
    return status == PW_OK ? pw_bind_ints(b, "in_dims", in, (size_t)(x->rank - 2), err) : status;
}

pw_status pw_affine_grid_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_info *y = &call->out[0];
    int64_t dims[3] = {1, 1, 1};
    int axes = y->rank - 2;
    if (axes != 2 && axes != 3)
        return pw_call_error(call, err, "the output's shape is not known");
    for (int a = 0; a < axes; a++) {
        if (!pw_dims_value(call->dims, y->dims[1 + a], &dims[3 - axes + a]))
            return pw_call_error(call, err, "axis %d: the extents are not known numbers", a);
    }
    const struct pw_named_int numbers[] = {{"axes", axes}, {"depth", dims[0]}, {"height", dims[1]}, {"width", dims[2]}};
    return pw_bind_numbers(b, numbers, sizeof numbers / sizeof *numbers, err);
}
