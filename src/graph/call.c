/* Free-standing concrete calls: what is known of a node's operands when they are there. */
#include <string.h>

#include "graph/infer_internal.h"

static bool same_shape(const struct pw_tensor *a, const struct pw_tensor *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0;
}

/* Small integer content as dims. PW_OK with info->content NULL when it is not of that kind. */
static pw_status describe_content(struct pw_info *info, const struct pw_tensor *t, struct pw_dims *dims,
                                  struct pw_arena *arena, struct pw_error *err)
{
    pw_dim *content = NULL;

    if ((!pw_dtype_is_integer(t->dtype) && t->dtype != PW_DTYPE_BOOL) || t->count > PW_CONTENT_MAX)
        return PW_OK;
    content = pw_arena_alloc(arena, (size_t)t->count + 1, sizeof *content);
    if (content == NULL)
        return pw_error_memory(err, (size_t)t->count * sizeof *content);
    for (int64_t i = 0; i < t->count; i++)
        content[i] = pw_dims_int(dims, pw_tensor_get_int(t, i));
    info->content = content;
    info->content_count = (size_t)t->count;
    return PW_OK;
}

static pw_status describe_value(struct pw_info *info, const struct pw_value *value, struct pw_dims *dims,
                                struct pw_arena *arena, struct pw_error *err)
{
    const struct pw_tensor *t = &value->tensor;

    *info = (struct pw_info){.kind = value->kind, .rank = -1};
    if (value->kind == PW_VALUE_NONE) {
        info->optional = true;
        info->dtype = value->item_dtype;
        return PW_OK;
    }
    if (value->kind == PW_VALUE_SEQUENCE) {
        info->dtype = value->item_dtype;
        for (size_t i = 1; i < value->count; i++) {
            if (!same_shape(&value->items[0].tensor, &value->items[i].tensor))
                return PW_OK;
        }
        if (value->count == 0 || value->items[0].kind != PW_VALUE_TENSOR)
            return PW_OK;
        t = &value->items[0].tensor;
    }
    info->dtype = t->nominal;
    info->rank = t->rank;
    memcpy(info->dims, t->dims, sizeof info->dims);
    if (value->kind == PW_VALUE_SEQUENCE)
        return PW_OK;
    info->constant = t;
    return describe_content(info, t, dims, arena, err);
}

pw_status pw_call_from_infos(const struct pw_node *node, const struct pw_info *const *inputs, int input_count,
                             struct pw_dims *dims, struct pw_arena *arena, struct pw_call *call, struct pw_error *err)
{
    struct pw_call made = {.op = node->op, .node = node, .dims = dims, .arena = arena};
    bool *wanted = NULL;
    char where[256];
    pw_status status;

    if (node->op == NULL)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "%s: unknown operator", pw_node_where(node, where, sizeof where));
    status = pw_op_check(node->op, node, err);
    if (status != PW_OK)
        return status;
    if ((size_t)input_count != node->input_count)
        return pw_error_set(err, PW_ERR_INTERNAL, "%d values given to a node of %zu inputs", input_count,
                            node->input_count);
    made.input_count = input_count;
    made.output_count = (int)node->output_count;
    made.in = inputs;
    made.out = pw_arena_alloc(arena, node->output_count + 1, sizeof *made.out);
    made.wanted = wanted = pw_arena_alloc(arena, node->output_count + 1, sizeof *wanted);
    if (made.out == NULL || wanted == NULL)
        return pw_error_memory(err, node->output_count * sizeof *made.out);
    for (size_t i = 0; i < node->output_count; i++) {
        wanted[i] = node->outputs[i] != PW_NO_VALUE;
        made.out[i].rank = -1;
    }
    status = pw_op_check_call(&made, err);
    if (status == PW_OK)
        status = node->op->infer(&made, err);
    for (size_t i = 0; i < node->output_count && status == PW_OK; i++)
        status = pw_infer_check_size(dims, &made.out[i], "output", i, err);
    if (status == PW_OK)
        *call = made;
    return status;
}

pw_status pw_call_from_values(const struct pw_node *node, const struct pw_value *const *inputs, int input_count,
                              struct pw_dims *dims, struct pw_arena *arena, struct pw_call *call, struct pw_error *err)
{
    const struct pw_info **in = pw_arena_alloc(arena, (size_t)input_count + 1, sizeof *in);
    struct pw_info *infos = pw_arena_alloc(arena, (size_t)input_count + 1, sizeof *infos);
    pw_status status = PW_OK;

    if (in == NULL || infos == NULL)
        return pw_error_memory(err, (size_t)input_count * sizeof *infos);
    for (int i = 0; i < input_count && status == PW_OK; i++) {
        if (inputs[i] == NULL)
            continue;
        status = describe_value(&infos[i], inputs[i], dims, arena, err);
        in[i] = &infos[i];
    }
    if (status == PW_OK)
        status = pw_call_from_infos(node, in, input_count, dims, arena, call, err);
    return status;
}
