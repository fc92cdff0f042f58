/* What the room's callbacks ask about a call, symbolic or concrete. */
#include <inttypes.h>

#include "ops/layout/layout.h"

pw_dim pw_layout_known(const struct pw_call *call, pw_dim dim)
{
    return dim == PW_DIM_UNKNOWN ? pw_dims_fresh(call->dims, call->op->name) : dim;
}

pw_status pw_layout_param(const struct pw_call *call, int input, const int64_t **values, size_t *count, bool *known,
                          struct pw_error *err)
{
    const struct pw_tensor *t = pw_call_input(call, input) ? call->in[input]->constant : NULL;
    if (t == NULL || !pw_dtype_is_float(t->dtype))
        return pw_call_content(call, input, values, count, known, err);
    *known = false;
    if (t->count > PW_CONTENT_MAX)
        return PW_OK;
    int64_t *made = pw_arena_alloc(call->arena, (size_t)t->count + 1, sizeof *made);
    if (made == NULL)
        return pw_error_memory(err, (size_t)t->count * sizeof *made);
    for (int64_t i = 0; i < t->count; i++) {
        double value = pw_tensor_get(t, i);
        if (!(value >= -9e15 && value <= 9e15))
            return pw_call_error(call, err, "input %d: element %" PRId64 " is %g, expected a whole number", input, i,
                                 value);
        made[i] = (int64_t)value;
    }
    *values = made;
    *count = (size_t)t->count;
    *known = true;
    return PW_OK;
}

const pw_dim *pw_layout_content(const struct pw_call *call, int input, size_t *count)
{
    const struct pw_info *info = pw_call_input(call, input) ? call->in[input] : NULL;
    *count = 0;
    if (info == NULL)
        return NULL;
    if (info->content != NULL) {
        *count = info->content_count;
        return info->content;
    }
    const struct pw_tensor *t = info->constant;
    if (t == NULL || !pw_dtype_is_integer(t->dtype) || t->count > PW_CONTENT_MAX)
        return NULL;
    pw_dim *made = pw_arena_alloc(call->arena, (size_t)t->count + 1, sizeof *made);
    if (made == NULL)
        return NULL;
    for (int64_t i = 0; i < t->count; i++)
        made[i] = pw_dims_int(call->dims, pw_tensor_get_int(t, i));
    *count = (size_t)t->count;
    return made;
}

int64_t pw_layout_length(const struct pw_call *call, int input)
{
    const struct pw_info *info = pw_call_input(call, input) ? call->in[input] : NULL;
    if (info == NULL || info->kind != PW_VALUE_TENSOR || info->rank < 0 || info->rank > 1)
        return -1;
    if (info->rank == 0)
        return 1;
    return info->dims[0] >= 0 ? info->dims[0] : -1;
}

pw_status pw_layout_axes(const struct pw_call *call, int input, int rank, struct pw_layout_axes *out,
                         struct pw_error *err)
{
    const int64_t *values = NULL;
    size_t count = 0;
    bool seen[PW_MAX_RANK] = {false};
    pw_status status = PW_OK;
    *out = (struct pw_layout_axes){.known = true};
    if (input >= 0 && pw_call_input(call, input)) {
        out->given = true;
        status = pw_layout_param(call, input, &values, &count, &out->known, err);
        if (status != PW_OK || !out->known)
            return status;
    } else {
        values = pw_call_ints(call, "axes", &count);
        out->given = pw_call_has(call, "axes");
    }
    if (count > PW_MAX_RANK)
        return pw_call_error(call, err, "%zu axes, at most %d are possible", count, PW_MAX_RANK);
    for (size_t i = 0; i < count; i++) {
        status = pw_call_axis(call, values[i], rank, &out->axis[i], err);
        if (status != PW_OK)
            return status;
        if (seen[out->axis[i]])
            return pw_call_error(call, err, "axis %d is given twice", out->axis[i]);
        seen[out->axis[i]] = true;
    }
    out->count = count;
    return PW_OK;
}

void pw_layout_output(struct pw_call *call, int i, int rank, const pw_dim *dims)
{
    pw_dim known[PW_MAX_RANK];
    pw_dtype dtype = call->in[0] != NULL ? call->in[0]->dtype : PW_DTYPE_UNDEFINED;
    if (rank < 0) {
        pw_call_output_unknown(call, i, dtype);
        return;
    }
    for (int d = 0; d < rank; d++)
        known[d] = pw_layout_known(call, dims[d]);
    pw_call_output(call, i, dtype, rank, known);
}

/* ---- contents ---- */

static bool small(const struct pw_info *info, int64_t *count)
{
    *count = 1;
    if (info == NULL || info->kind != PW_VALUE_TENSOR || info->rank < 0)
        return false;
    for (int d = 0; d < info->rank; d++) {
        if (info->dims[d] < 0 || info->dims[d] > PW_CONTENT_MAX)
            return false;
        *count *= info->dims[d];
        if (*count > PW_CONTENT_MAX)
            return false;
    }
    return true;
}

static bool has_content(const struct pw_info *info)
{
    int64_t count;
    return small(info, &count) && info->content != NULL && info->content_count == (size_t)count;
}

/* Moves the content of input `from` to its places in `made`. */
static pw_status move_content(struct pw_call *call, int from, int part, pw_dim *made)
{
    const struct pw_layout_kind *kind = call->op->data;
    struct pw_layout_copy copy;
    pw_status status = kind->plan(call, part, &copy, NULL);
    if (status == PW_OK)
        pw_layout_run(&copy, sizeof *made, call->in[from]->content, made);
    return status;
}

pw_status pw_layout_propagate(struct pw_call *call, struct pw_error *err)
{
    const struct pw_layout_kind *kind = call->op->data;
    int inputs = kind->concat ? call->input_count : 1;
    int outputs = kind->split ? call->output_count : 1;
    for (int i = 0; i < inputs; i++) {
        if (!has_content(call->in[i]))
            return PW_OK;
    }
    for (int o = 0; o < outputs; o++) {
        int64_t count;
        pw_status status = PW_OK;
        if (!small(&call->out[o], &count))
            continue;
        pw_dim *made = pw_arena_alloc(call->arena, (size_t)count + 1, sizeof *made);
        if (made == NULL)
            return pw_error_memory(err, (size_t)count * sizeof *made);
        for (int i = 0; i < inputs && status == PW_OK; i++)
            status = move_content(call, i, kind->split ? o : i, made);
        if (status == PW_ERR_NO_MEMORY)
            return pw_error_memory(err, (size_t)count * sizeof *made);
        if (status != PW_OK) /* what the plan needs is not known yet */
            continue;
        call->out[o].content = made;
        call->out[o].content_count = (size_t)count;
    }
    return PW_OK;
}
