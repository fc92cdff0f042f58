/* Shapes of the operators that keep every element: Identity, Reshape, Flatten, Squeeze, Unsqueeze,
 * Transpose, Expand, Tile, DepthToSpace, SpaceToDepth; and Shape and Size themselves. */
#include <inttypes.h>
#include <string.h>

#include "ops/layout/layout.h"

/* Input 0 with a known rank, or NULL. */
static const struct pw_info *ranked(const struct pw_call *call)
{
    const struct pw_info *in = call->in[0];
    return in != NULL && in->kind == PW_VALUE_TENSOR && in->rank >= 0 ? in : NULL;
}

static pw_dim span(const struct pw_call *call, const struct pw_info *info, int from, int to)
{
    pw_dim product = 1;
    for (int d = from; d < to; d++)
        product = pw_dims_mul(call->dims, product, info->dims[d]);
    return product;
}

static pw_status unknown(struct pw_call *call)
{
    pw_layout_output(call, 0, -1, NULL);
    return PW_OK;
}

static pw_status fresh(struct pw_call *call, int rank, struct pw_error *err)
{
    pw_dim dims[PW_MAX_RANK];
    if (rank > PW_MAX_RANK)
        return pw_call_error(call, err, "the output has rank %d, at most %d is possible", rank, PW_MAX_RANK);
    for (int d = 0; d < rank; d++)
        dims[d] = PW_DIM_UNKNOWN;
    pw_layout_output(call, 0, rank, dims);
    return PW_OK;
}

pw_status pw_layout_infer_identity(struct pw_call *call, struct pw_error *err)
{
    (void)err;
    const struct pw_info *in = call->in[0];
    bool fixed = call->out[0].fixed;
    call->out[0] = *in;
    call->out[0].fixed = fixed;
    return PW_OK;
}

/* ---- Reshape ---- */

/* The wished dims, zeros replaced. */
static pw_status read_target(const struct pw_call *call, const pw_dim *wish, size_t count, pw_dim *dims, int *hole,
                             struct pw_error *err)
{
    const struct pw_info *in = ranked(call);
    bool keep_zero = pw_call_int(call, "allowzero") != 0, zero = false;
    *hole = -1;
    for (size_t d = 0; d < count; d++) {
        int64_t value;
        dims[d] = wish[d];
        if (wish[d] == PW_DIM_UNKNOWN || !pw_dims_value(call->dims, wish[d], &value))
            continue;
        if (value < -1)
            return pw_call_error(call, err, "the shape asks for dim %zu = %" PRId64, d, value);
        if (value == -1 && *hole >= 0)
            return pw_call_error(call, err, "the shape has -1 at dims %d and %zu, expected one at most", *hole, d);
        if (value == -1)
            *hole = (int)d;
        zero = zero || value == 0;
        if (value != 0 || keep_zero)
            continue;
        if (in != NULL && d >= (size_t)in->rank)
            return pw_call_error(call, err, "the shape copies dim %zu, but the input has rank %d", d, in->rank);
        dims[d] = in != NULL ? in->dims[d] : PW_DIM_UNKNOWN;
    }
    if (keep_zero && zero && *hole >= 0)
        return pw_call_error(call, err, "with allowzero the shape may not hold 0 and -1");
    return PW_OK;
}

/* What -1 stands for: equal dims cancel first, so that symbols divide. */
static pw_status fill_hole(const struct pw_call *call, pw_dim *dims, size_t count, int hole, struct pw_error *err)
{
    const struct pw_info *in = ranked(call);
    pw_dim left[PW_MAX_RANK], above = 1, below = 1;
    int64_t n, m;
    dims[hole] = PW_DIM_UNKNOWN;
    if (in == NULL)
        return PW_OK;
    memcpy(left, in->dims, sizeof left);
    for (size_t d = 0; d < count; d++) {
        int same = 0;
        if ((int)d == hole)
            continue;
        if (dims[d] == PW_DIM_UNKNOWN)
            return PW_OK;
        while (same < in->rank && (left[same] != dims[d] || dims[d] == 0))
            same++;
        if (same < in->rank)
            left[same] = 1;
        else
            below = pw_dims_mul(call->dims, below, dims[d]);
    }
    for (int d = 0; d < in->rank; d++)
        above = pw_dims_mul(call->dims, above, left[d]);
    if (pw_dims_value(call->dims, above, &n) && pw_dims_value(call->dims, below, &m)) {
        if (m == 0 && n == 0) {
            dims[hole] = 0;
            return PW_OK;
        }
        if (m == 0 || n % m != 0)
            return pw_call_error(call, err, "%" PRId64 " elements do not divide by %" PRId64 " to replace -1", n, m);
    }
    dims[hole] = pw_dims_floordiv(call->dims, above, below);
    return PW_OK;
}

/* Both sides hold as many elements, if both are numbers. */
static pw_status check_elements(const struct pw_call *call, const pw_dim *dims, size_t count, struct pw_error *err)
{
    const struct pw_info *in = ranked(call);
    pw_dim after = 1;
    int64_t n, m;
    if (in == NULL)
        return PW_OK;
    for (size_t d = 0; d < count; d++)
        after = pw_dims_mul(call->dims, after, dims[d]);
    if (pw_dims_value(call->dims, span(call, in, 0, in->rank), &n) && pw_dims_value(call->dims, after, &m) && n != m)
        return pw_call_error(call, err, "%" PRId64 " elements do not fit the new shape's %" PRId64, n, m);
    return PW_OK;
}

pw_status pw_layout_infer_reshape(struct pw_call *call, struct pw_error *err)
{
    pw_dim dims[PW_MAX_RANK];
    const pw_dim *wish = NULL;
    size_t count = 0;
    int hole = -1;
    pw_status status = PW_OK;
    if (call->op->since < 5) {
        const int64_t *shape = pw_call_ints(call, "shape", &count);
        pw_dim *made = pw_arena_alloc(call->arena, count + 1, sizeof *made);
        if (made == NULL)
            return pw_error_memory(err, count * sizeof *made);
        for (size_t d = 0; d < count; d++)
            made[d] = pw_dims_int(call->dims, shape[d]);
        wish = made;
    } else {
        wish = pw_layout_content(call, 1, &count);
        int64_t length = pw_layout_length(call, 1);
        if (wish == NULL)
            return length >= 0 ? fresh(call, length > PW_MAX_RANK ? PW_MAX_RANK + 1 : (int)length, err) : unknown(call);
    }
    if (count > PW_MAX_RANK)
        return pw_call_error(call, err, "the shape has %zu dims, at most %d are possible", count, PW_MAX_RANK);
    status = read_target(call, wish, count, dims, &hole, err);
    if (status == PW_OK && hole >= 0)
        status = fill_hole(call, dims, count, hole, err);
    if (status == PW_OK)
        status = check_elements(call, dims, count, err);
    if (status != PW_OK)
        return status;
    pw_layout_output(call, 0, (int)count, dims);
    return pw_layout_propagate(call, err);
}

/* ---- Flatten, Squeeze, Unsqueeze ---- */

pw_status pw_layout_infer_flatten(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = ranked(call);
    int64_t axis = pw_call_int(call, "axis");
    if (in == NULL)
        return fresh(call, 2, err);
    if (axis < -(int64_t)in->rank || axis > in->rank)
        return pw_call_error(call, err, "axis %" PRId64 ", but the input has rank %d", axis, in->rank);
    int cut = (int)(axis < 0 ? axis + in->rank : axis);
    pw_dim dims[2] = {span(call, in, 0, cut), span(call, in, cut, in->rank)};
    pw_layout_output(call, 0, 2, dims);
    return pw_layout_propagate(call, err);
}

/* Without axes, every dim 1 goes; a symbol might be 1, so then not even the rank is known. */
static pw_status squeeze_all(struct pw_call *call, const struct pw_info *in, struct pw_error *err)
{
    pw_dim dims[PW_MAX_RANK];
    int rank = 0;
    for (int d = 0; d < in->rank; d++) {
        if (in->dims[d] < 0 && !pw_dims_at_least(call->dims, in->dims[d], 2))
            return unknown(call);
        if (in->dims[d] != 1)
            dims[rank++] = in->dims[d];
    }
    pw_layout_output(call, 0, rank, dims);
    return pw_layout_propagate(call, err);
}

pw_status pw_layout_infer_squeeze(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = ranked(call);
    struct pw_layout_axes axes;
    bool gone[PW_MAX_RANK] = {false};
    pw_dim dims[PW_MAX_RANK];
    int rank = 0;
    if (in == NULL)
        return unknown(call);
    pw_status status = pw_layout_axes(call, 1, in->rank, &axes, err);
    if (status != PW_OK)
        return status;
    if (!axes.given)
        return squeeze_all(call, in, err);
    if (!axes.known) {
        int64_t length = pw_layout_length(call, 1);
        return length >= 0 && length <= in->rank ? fresh(call, in->rank - (int)length, err) : unknown(call);
    }
    for (size_t i = 0; i < axes.count; i++) {
        pw_dim dim = in->dims[axes.axis[i]];
        if (dim >= 0 && dim != 1)
            return pw_call_error(call, err, "axis %d has size %" PRId64 ", expected 1", axes.axis[i], dim);
        gone[axes.axis[i]] = true;
    }
    for (int d = 0; d < in->rank; d++) {
        if (!gone[d])
            dims[rank++] = in->dims[d];
    }
    pw_layout_output(call, 0, rank, dims);
    return pw_layout_propagate(call, err);
}

pw_status pw_layout_infer_unsqueeze(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = ranked(call);
    struct pw_layout_axes axes;
    const int64_t *values = NULL;
    size_t count = 0;
    bool known = true, made[PW_MAX_RANK] = {false};
    pw_dim dims[PW_MAX_RANK];
    pw_status status = PW_OK;
    if (in == NULL)
        return unknown(call);
    if (pw_call_input(call, 1))
        status = pw_layout_param(call, 1, &values, &count, &known, err);
    else
        values = pw_call_ints(call, "axes", &count);
    if (status != PW_OK)
        return status;
    if (!known) {
        int64_t length = pw_layout_length(call, 1);
        return length < 0 ? unknown(call)
                          : fresh(call, length > PW_MAX_RANK ? PW_MAX_RANK + 1 : in->rank + (int)length, err);
    }
    if (count > (size_t)(PW_MAX_RANK - in->rank))
        return pw_call_error(call, err, "rank %d and %zu new axes, at most rank %d is possible", in->rank, count,
                             PW_MAX_RANK);
    status = pw_layout_axes(call, 1, in->rank + (int)count, &axes, err);
    if (status != PW_OK)
        return status;
    for (size_t i = 0; i < axes.count; i++)
        made[axes.axis[i]] = true;
    for (int d = 0, from = 0; d < in->rank + (int)count; d++)
        dims[d] = made[d] ? 1 : in->dims[from++];
    pw_layout_output(call, 0, in->rank + (int)count, dims);
    return pw_layout_propagate(call, err);
}

/* ---- Transpose, Expand, Tile ---- */

pw_status pw_layout_infer_transpose(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = ranked(call);
    size_t count = 0;
    const int64_t *perm = pw_call_ints(call, "perm", &count);
    bool seen[PW_MAX_RANK] = {false};
    pw_dim dims[PW_MAX_RANK];
    if (in == NULL)
        return unknown(call);
    if (pw_call_has(call, "perm") && count != (size_t)in->rank)
        return pw_call_error(call, err, "perm has %zu elements, but the input has rank %d", count, in->rank);
    for (int d = 0; d < in->rank; d++) {
        int64_t from = perm != NULL ? perm[d] : in->rank - 1 - d;
        if (from < 0 || from >= in->rank || seen[from])
            return pw_call_error(call, err, "perm is no permutation of 0 to %d (element %d is %" PRId64 ")",
                                 in->rank - 1, d, from);
        seen[from] = true;
        dims[d] = in->dims[from];
    }
    pw_layout_output(call, 0, in->rank, dims);
    return pw_layout_propagate(call, err);
}

pw_status pw_layout_infer_expand(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = ranked(call);
    size_t count = 0;
    const pw_dim *wish = pw_layout_content(call, 1, &count);
    int64_t length = pw_layout_length(call, 1);
    pw_dim dims[PW_MAX_RANK];
    if (wish != NULL)
        length = (int64_t)count;
    if (length > PW_MAX_RANK)
        return pw_call_error(call, err, "the shape has %" PRId64 " dims, at most %d are possible", length, PW_MAX_RANK);
    if (in == NULL || length < 0)
        return unknown(call);
    int rank = length > in->rank ? (int)length : in->rank;
    if (wish == NULL)
        return fresh(call, rank, err);
    for (int d = 0; d < rank; d++) {
        int from = d - (rank - in->rank), to = d - (rank - (int)length);
        pw_dim a = from >= 0 ? in->dims[from] : 1, b = to >= 0 ? wish[to] : 1;
        int64_t value;
        if (b == PW_DIM_UNKNOWN) {
            dims[d] = PW_DIM_UNKNOWN;
            continue;
        }
        if (pw_dims_value(call->dims, b, &value) && value < 0)
            return pw_call_error(call, err, "the shape asks for dim %d = %" PRId64, to, value);
        if (!pw_dims_broadcast(call->dims, a, b, &dims[d]))
            return pw_call_error(call, err, "dim %d is %" PRId64 " and cannot become %" PRId64, from, a, b);
    }
    pw_layout_output(call, 0, rank, dims);
    return pw_layout_propagate(call, err);
}

/* Tile-1 repeats along one axis, given as two scalars of the data's own type. */
static pw_status tile_once(struct pw_call *call, const struct pw_info *in, struct pw_error *err)
{
    const int64_t *tiles = NULL, *axis = NULL;
    size_t tile_count = 0, axis_count = 0;
    bool known[2] = {false, false};
    int at = 0;
    pw_dim dims[PW_MAX_RANK];
    pw_status status = pw_layout_param(call, 1, &tiles, &tile_count, &known[0], err);
    if (status == PW_OK)
        status = pw_layout_param(call, 2, &axis, &axis_count, &known[1], err);
    if (status != PW_OK)
        return status;
    if (!known[0] || !known[1])
        return fresh(call, in->rank, err);
    if (tile_count != 1 || axis_count != 1 || tiles[0] < 0)
        return pw_call_error(call, err, "tiles and axis must be one number each, tiles at least 0");
    status = pw_call_axis(call, axis[0], in->rank, &at, err);
    if (status != PW_OK)
        return status;
    memcpy(dims, in->dims, sizeof dims);
    dims[at] = pw_dims_mul(call->dims, dims[at], pw_dims_int(call->dims, tiles[0]));
    pw_layout_output(call, 0, in->rank, dims);
    return pw_layout_propagate(call, err);
}

pw_status pw_layout_infer_tile(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = ranked(call);
    size_t count = 0;
    const pw_dim *repeats = NULL;
    pw_dim dims[PW_MAX_RANK];
    if (in == NULL)
        return unknown(call);
    if (call->op->since < 6)
        return tile_once(call, in, err);
    repeats = pw_layout_content(call, 1, &count);
    if (repeats == NULL)
        return fresh(call, in->rank, err);
    if (count != (size_t)in->rank)
        return pw_call_error(call, err, "%zu repeats, but the input has rank %d", count, in->rank);
    for (int d = 0; d < in->rank; d++) {
        int64_t value;
        if (pw_dims_value(call->dims, repeats[d], &value) && value < 0)
            return pw_call_error(call, err, "repeat %d is %" PRId64 ", expected at least 0", d, value);
        dims[d] = repeats[d] == PW_DIM_UNKNOWN ? PW_DIM_UNKNOWN : pw_dims_mul(call->dims, in->dims[d], repeats[d]);
    }
    pw_layout_output(call, 0, in->rank, dims);
    return pw_layout_propagate(call, err);
}

/* ---- DepthToSpace, SpaceToDepth ---- */

static pw_status blocks(struct pw_call *call, bool to_space, struct pw_error *err)
{
    const struct pw_info *in = ranked(call);
    int64_t block = pw_call_int(call, "blocksize"), square;
    const char *mode = pw_call_string(call, "mode");
    pw_dim dims[4], b;
    if (mode[0] != '\0' && strcmp(mode, "DCR") != 0 && strcmp(mode, "CRD") != 0)
        return pw_call_error(call, err, "mode is '%s', expected DCR or CRD", mode);
    if (block < 1 || __builtin_mul_overflow(block, block, &square))
        return pw_call_error(call, err, "blocksize is %" PRId64 ", expected at least 1", block);
    if (in == NULL)
        return fresh(call, 4, err);
    if (in->rank != 4)
        return pw_call_error(call, err, "the input has rank %d, expected 4", in->rank);
    for (int d = to_space ? 1 : 2; d < (to_space ? 2 : 4); d++) {
        int64_t divisor = to_space ? square : block;
        if (in->dims[d] >= 0 && in->dims[d] % divisor != 0)
            return pw_call_error(call, err, "dim %d is %" PRId64 ", which %" PRId64 " does not divide", d, in->dims[d],
                                 divisor);
    }
    b = pw_dims_int(call->dims, block);
    dims[0] = in->dims[0];
    if (to_space) {
        dims[1] = pw_dims_floordiv(call->dims, in->dims[1], pw_dims_int(call->dims, square));
        dims[2] = pw_dims_mul(call->dims, in->dims[2], b);
        dims[3] = pw_dims_mul(call->dims, in->dims[3], b);
    } else {
        dims[1] = pw_dims_mul(call->dims, in->dims[1], pw_dims_int(call->dims, square));
        dims[2] = pw_dims_floordiv(call->dims, in->dims[2], b);
        dims[3] = pw_dims_floordiv(call->dims, in->dims[3], b);
    }
    pw_layout_output(call, 0, 4, dims);
    return PW_OK;
}

pw_status pw_layout_infer_depth_to_space(struct pw_call *call, struct pw_error *err)
{
    return blocks(call, true, err);
}

pw_status pw_layout_infer_space_to_depth(struct pw_call *call, struct pw_error *err)
{
    return blocks(call, false, err);
}

/* ---- Shape, Size ---- */

pw_status pw_layout_infer_shape(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = ranked(call);
    pw_dim count = PW_DIM_UNKNOWN;
    if (in == NULL) {
        count = pw_layout_known(call, count);
        pw_call_output(call, 0, PW_DTYPE_INT64, 1, &count);
        return PW_OK;
    }
    int64_t start = pw_call_int(call, "start"), end = pw_call_has(call, "end") ? pw_call_int(call, "end") : in->rank;
    start = start < 0 ? start + in->rank : start;
    end = end < 0 ? end + in->rank : end;
    start = start < 0 ? 0 : start > in->rank ? in->rank : start;
    end = end < 0 ? 0 : end > in->rank ? in->rank : end;
    count = end > start ? end - start : 0;
    pw_dim *content = pw_arena_alloc(call->arena, (size_t)count + 1, sizeof *content);
    if (content == NULL)
        return pw_error_memory(err, (size_t)count * sizeof *content);
    for (int64_t d = 0; d < count; d++)
        content[d] = pw_layout_known(call, in->dims[start + d]);
    pw_call_output(call, 0, PW_DTYPE_INT64, 1, &count);
    call->out[0].content = content;
    call->out[0].content_count = (size_t)count;
    return PW_OK;
}

pw_status pw_layout_infer_size(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = ranked(call);
    pw_call_output(call, 0, PW_DTYPE_INT64, 0, NULL);
    if (in == NULL)
        return PW_OK;
    pw_dim *content = pw_arena_alloc(call->arena, 1, sizeof *content);
    if (content == NULL)
        return pw_error_memory(err, sizeof *content);
    *content = span(call, in, 0, in->rank);
    if (*content == PW_DIM_UNKNOWN)
        return PW_OK;
    call->out[0].content = content;
    call->out[0].content_count = 1;
    return PW_OK;
}
