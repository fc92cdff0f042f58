/*
 * Contents: what constants hold, and what follows from them. Three sources, in this order: the
 * operator's own infer (symbolic), plain numbers among those turned into a tensor, and the golden
 * reference for small calls whose inputs are all known. Bounded by elements, by FLOPs and by the
 * arena, so that a hostile file costs no more than an honest one.
 */
#include <string.h>

#include "graph/infer_internal.h"

#define FOLD_INPUT_MAX 16384   /* elements of all inputs of one folded call */
#define FOLD_FLOPS_MAX 1000000 /* of one folded call */
#define FOLD_CALL_FLOPS 1000   /* what a call costs beside its FLOPs */

static bool has_content(pw_dtype dtype)
{
    return pw_dtype_is_integer(dtype) || dtype == PW_DTYPE_BOOL;
}

static bool arena_full(const struct pw_inference *inf)
{
    return inf->arena.used_bytes > PW_INFER_ARENA_MAX;
}

/* ---- constants ---- */

static pw_status fill_content(struct pw_inference *inf, const struct pw_tensor *tensor, struct pw_info *info,
                              struct pw_error *err)
{
    pw_dim *content;

    if (!has_content(tensor->dtype) || tensor->count > PW_CONTENT_MAX || arena_full(inf))
        return PW_OK;
    content = pw_arena_alloc(pw_infer_scratch(inf), (size_t)tensor->count, sizeof *content);
    if (content == NULL)
        return pw_error_memory(err, (size_t)tensor->count * sizeof *content);
    for (int64_t i = 0; i < tensor->count; i++)
        content[i] = pw_dims_int(inf->dims, pw_tensor_get_int(tensor, i));
    info->content = content;
    info->content_count = (size_t)tensor->count;
    return PW_OK;
}

pw_status pw_infer_from_tensor(struct pw_inference *inf, const struct pw_tensor *tensor, struct pw_info *out,
                               struct pw_error *err)
{
    struct pw_info info = {.kind = PW_VALUE_TENSOR, .dtype = tensor->nominal, .rank = tensor->rank, .fixed = true};
    pw_status status;

    memcpy(info.dims, tensor->dims, (size_t)tensor->rank * sizeof *info.dims);
    info.constant = tensor;
    status = fill_content(inf, tensor, &info, err);
    if (status == PW_OK)
        *out = info;
    return status;
}

/* ---- contents of outputs ---- */

/* Element count when every dim is a number and the product is small. */
static bool small_count(const struct pw_info *info, int64_t *count)
{
    *count = 1;
    if (info->kind != PW_VALUE_TENSOR || info->rank < 0 || info->rank > PW_MAX_RANK)
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

/* A tensor in the scratch that the infos may point to. */
static pw_status keep_tensor(struct pw_inference *inf, pw_dtype dtype, const struct pw_info *shape, int64_t count,
                             struct pw_tensor **out, struct pw_error *err)
{
    struct pw_tensor *tensor = pw_arena_alloc(pw_infer_scratch(inf), 1, sizeof *tensor);
    void *data = pw_arena_alloc(pw_infer_scratch(inf), (size_t)count, pw_dtype_bytes(dtype));

    if (tensor == NULL || data == NULL)
        return pw_error_memory(err, (size_t)count * pw_dtype_bytes(dtype));
    pw_tensor_borrow(tensor, dtype, shape->rank, shape->dims, data);
    *out = tensor;
    return PW_OK;
}

/* Content that is all plain numbers is a constant. */
static pw_status content_to_constant(struct pw_inference *inf, struct pw_info *info, int64_t count,
                                     struct pw_error *err)
{
    struct pw_tensor *tensor = NULL;
    int64_t value;
    pw_status status;

    for (size_t i = 0; i < info->content_count; i++) {
        if (!pw_dims_value(inf->dims, info->content[i], &value))
            return PW_OK;
    }
    status = keep_tensor(inf, info->dtype, info, count, &tensor, err);
    for (size_t i = 0; i < info->content_count && status == PW_OK; i++) {
        pw_dims_value(inf->dims, info->content[i], &value);
        pw_tensor_set_int(tensor, (int64_t)i, value);
    }
    if (status == PW_OK)
        info->constant = tensor;
    return status;
}

/* Makes constant and content of one output agree with each other and with its shape. */
static pw_status complete(struct pw_inference *inf, struct pw_info *info, struct pw_error *err)
{
    int64_t count;
    bool small = small_count(info, &count);

    if (info->content != NULL && (!small || info->content_count != (size_t)count || !has_content(info->dtype))) {
        info->content = NULL; /* a declared shape or a later pass knows better */
        info->content_count = 0;
    }
    if (info->constant != NULL && (info->kind != PW_VALUE_TENSOR || info->constant->rank != info->rank))
        info->constant = NULL;
    if (arena_full(inf))
        return PW_OK;
    if (info->content != NULL && info->constant == NULL)
        return content_to_constant(inf, info, count, err);
    if (info->constant != NULL && info->content == NULL)
        return fill_content(inf, info->constant, info, err);
    return PW_OK;
}

/* ---- golden ---- */

/* Is every input known, small and of a kind that golden takes? */
static bool inputs_known(const struct pw_call *call)
{
    int64_t total = 0;

    if (call->input_count == 0)
        return false;
    for (int i = 0; i < call->input_count; i++) {
        if (call->in[i] == NULL)
            continue;
        if (call->in[i]->constant == NULL || call->in[i]->constant->dtype == PW_DTYPE_STRING)
            return false;
        total += call->in[i]->constant->count;
        if (total > FOLD_INPUT_MAX)
            return false;
    }
    return true;
}

static bool outputs_small(const struct pw_call *call)
{
    bool any = false;

    for (int i = 0; i < call->output_count; i++) {
        const struct pw_info *info = &call->out[i];
        int64_t count;

        if (!call->wanted[i])
            continue;
        if (info->kind != PW_VALUE_TENSOR || info->dtype == PW_DTYPE_STRING || info->dtype == PW_DTYPE_UNDEFINED)
            return false;
        if (!small_count(info, &count) && call->op->host_only == NULL && call->op->most == NULL)
            return false;
        any = any || info->constant == NULL;
    }
    return any;
}

/* The reference is only asked for what costs nothing. */
static bool affordable(struct pw_inference *inf, const struct pw_call *call)
{
    struct pw_cost cost = {.flops = 0, .bytes = 0};
    int64_t flops = 0;

    if (inf->fold_flops <= 0 || arena_full(inf))
        return false;
    if (call->op->cost != NULL) {
        if (call->op->cost(call, &cost, NULL) != PW_OK || !pw_dims_value(inf->dims, cost.flops, &flops) || flops < 0)
            return false;
    }
    if (flops > FOLD_FLOPS_MAX)
        return false;
    inf->fold_flops -= flops + FOLD_CALL_FLOPS;
    return true;
}

/* Constants as the golden reference carries them. */
static pw_status carry(const struct pw_tensor *src, struct pw_value *dst, struct pw_error *err)
{
    pw_dtype carrier = pw_eval_carrier(PW_EVAL_GOLDEN, src->nominal);
    pw_status status = PW_OK;

    if (carrier == src->dtype) {
        pw_value_borrow(dst, src);
        return PW_OK;
    }
    status = pw_tensor_convert(&dst->tensor, src, carrier, err);
    if (status == PW_OK) {
        dst->kind = PW_VALUE_TENSOR;
        dst->tensor.nominal = src->nominal;
    }
    return status;
}

/* Takes one result over into the infos. */
static pw_status keep_result(struct pw_inference *inf, const struct pw_value *value, struct pw_info *info,
                             struct pw_error *err)
{
    struct pw_tensor rounded = {0}, *kept = NULL;
    struct pw_info shape = *info;
    pw_status status;

    if (value->kind != PW_VALUE_TENSOR || value->tensor.count > PW_CONTENT_MAX ||
        value->tensor.nominal == PW_DTYPE_STRING)
        return PW_OK;
    status = pw_tensor_convert(&rounded, &value->tensor, value->tensor.nominal, err);
    if (status != PW_OK)
        return status;
    shape.rank = rounded.rank;
    memcpy(shape.dims, rounded.dims, sizeof shape.dims);
    status = keep_tensor(inf, rounded.dtype, &shape, rounded.count, &kept, err);
    if (status == PW_OK) {
        if (rounded.count > 0)
            memcpy(kept->data, rounded.data, pw_tensor_bytes(&rounded));
        *info = shape;
        info->dtype = rounded.dtype;
        info->constant = kept;
        info->content = NULL;
        info->content_count = 0;
    }
    pw_tensor_clear(&rounded);
    return status;
}

/* Runs golden on the constants. A call that it refuses is simply not folded. */
static pw_status evaluate(struct pw_inference *inf, struct pw_call *call, struct pw_error *err)
{
    size_t in_count = (size_t)call->input_count, out_count = (size_t)call->output_count;
    struct pw_value *values = pw_calloc(in_count + out_count, sizeof *values);
    const struct pw_value **in = pw_calloc(in_count, sizeof *in);
    struct pw_eval ev = {.call = call, .mode = PW_EVAL_GOLDEN, .input_count = call->input_count, .in = in};
    struct pw_error refused = {0};
    pw_status status = PW_OK;

    if (values == NULL || in == NULL) {
        status = pw_error_memory(err, (in_count + out_count) * sizeof *values);
        goto done;
    }
    for (size_t i = 0; i < in_count && status == PW_OK; i++) {
        if (call->in[i] == NULL)
            continue;
        status = carry(call->in[i]->constant, &values[i], err);
        in[i] = &values[i];
    }
    if (status != PW_OK)
        goto done;
    ev.out = values + in_count;
    ev.output_count = call->output_count;
    if (call->op->golden(&ev, &refused) != PW_OK)
        goto done;
    for (size_t i = 0; i < out_count && status == PW_OK; i++) {
        if (call->wanted[i])
            status = keep_result(inf, &ev.out[i], &call->out[i], err);
    }
done:
    for (size_t i = 0; values != NULL && i < in_count + out_count; i++)
        pw_value_clear(&values[i]);
    pw_free(values);
    pw_free(in);
    return status;
}

pw_status pw_infer_fold(struct pw_inference *inf, struct pw_call *call, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (int i = 0; i < call->output_count && status == PW_OK; i++)
        status = complete(inf, &call->out[i], err);
    if (status != PW_OK || call->op->golden == NULL || pw_call_draws(call) || !inputs_known(call) ||
        !outputs_small(call) || !affordable(inf, call))
        return status;
    status = evaluate(inf, call, err);
    for (int i = 0; i < call->output_count && status == PW_OK; i++)
        status = complete(inf, &call->out[i], err);
    return status;
}
