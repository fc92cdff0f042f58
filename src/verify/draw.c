/*
 * Making the inputs of a case from its spec: the graph's call with the changes of the spec, inferred again, then
 * every input drawn in the room's domain (or kept, where the graph fixes its content).
 */
#include <math.h>
#include <string.h>

#include "graph/infer.h"
#include "verify/draw.h"
#include "verify/huge.h"
#include "verify/verify_internal.h"

#define MEMORY_WAIT_MS 3000

void pw_case_inputs_clear(struct pw_case_inputs *inputs)
{
    for (int i = 0; i < inputs->count; i++)
        pw_value_clear(&inputs->values[i]);
    pw_dims_destroy(inputs->dims);
    pw_arena_clear(&inputs->arena);
    pw_case_memory_give(inputs->memory, inputs->memory_taken);
    memset(inputs, 0, sizeof *inputs);
}

/* ---- the changed call ---- */

/* The node with the attributes of the spec; the graph's own when it changes none. */
static pw_status changed_node(const struct pw_signature *signature, const struct pw_case_spec *spec,
                              struct pw_arena *arena, const struct pw_node **out, struct pw_error *err)
{
    struct pw_node *node;
    struct pw_attr *attrs;
    bool changes = false;

    *out = signature->call->node;
    for (int i = 0; i < spec->change_count; i++)
        changes |= spec->changes[i].kind == PW_CHANGE_INT || spec->changes[i].kind == PW_CHANGE_INTS;
    if (!changes)
        return PW_OK;
    node = pw_arena_alloc(arena, 1, sizeof *node);
    attrs = pw_arena_alloc(arena, signature->call->node->attr_count + (size_t)spec->change_count, sizeof *attrs);
    if (!node || !attrs)
        return pw_error_memory(err, sizeof *node);
    *node = *signature->call->node;
    if (node->attr_count)
        memcpy(attrs, node->attrs, node->attr_count * sizeof *attrs);
    node->attrs = attrs;
    for (int i = 0; i < spec->change_count; i++) {
        const struct pw_case_change *change = &spec->changes[i];
        size_t at = 0;
        int64_t *values;

        if (change->kind != PW_CHANGE_INT && change->kind != PW_CHANGE_INTS)
            continue;
        while (at < node->attr_count && strcmp(attrs[at].name, change->name) != 0)
            at++;
        node->attr_count += at == node->attr_count;
        values = pw_arena_alloc(arena, PW_CASE_VALUES_MAX, sizeof *values);
        attrs[at] = (struct pw_attr){.name = pw_arena_strndup(arena, change->name, strlen(change->name)),
                                     .type = change->kind == PW_CHANGE_INT ? PW_ATTR_INT : PW_ATTR_INTS};
        if (!values || !attrs[at].name)
            return pw_error_memory(err, sizeof change->values);
        memcpy(values, change->values, sizeof change->values);
        attrs[at].i = change->values[0];
        attrs[at].ints = values;
        attrs[at].count = change->kind == PW_CHANGE_INTS ? (size_t)change->count : 0;
    }
    *out = node;
    return PW_OK;
}

static pw_status changed_content(struct pw_info *info, const struct pw_case_change *change, struct pw_dims *dims,
                                 struct pw_arena *arena, struct pw_error *err)
{
    struct pw_tensor *tensor = pw_arena_alloc(arena, 1, sizeof *tensor);
    int64_t *data = pw_arena_alloc(arena, PW_CASE_VALUES_MAX, sizeof *data);
    pw_dim *content = pw_arena_alloc(arena, PW_CASE_VALUES_MAX, sizeof *content);
    int64_t shape[1] = {change->count};

    if (!tensor || !data || !content)
        return pw_error_memory(err, sizeof *tensor);
    pw_tensor_borrow(tensor, info->dtype, info->rank == 0 ? 0 : 1, shape, data);
    for (int i = 0; i < change->count; i++) {
        pw_tensor_set_int(tensor, i, change->values[i]);
        content[i] = pw_dims_int(dims, change->values[i]);
    }
    info->constant = tensor;
    info->content = content;
    info->content_count = (size_t)change->count;
    info->rank = tensor->rank;
    if (info->rank == 1)
        info->dims[0] = change->count;
    return PW_OK;
}

/* Numbers for what the graph's call knows as numbers; *why says what is not. */
static pw_status copy_info(const struct pw_call *call, int i, struct pw_info *info, struct pw_dims *dims,
                           struct pw_arena *arena, struct pw_buf *why, struct pw_error *err)
{
    const struct pw_info *from = call->in[i];
    const struct pw_formal *formal = pw_op_formal(call->op->inputs, (size_t)i);
    bool param = formal && (formal->flags & PW_FORMAL_PARAM), known = true;
    pw_dim *content;
    int64_t number;

    *info = *from;
    if (from->kind != PW_VALUE_TENSOR || from->rank < 0 || from->dtype == PW_DTYPE_UNDEFINED ||
        from->dtype == PW_DTYPE_STRING) {
        pw_buf_printf(why, "input %d: %s", i,
                      from->dtype == PW_DTYPE_STRING ? "strings stay on the host"
                                                     : "its type or shape is known only when the graph runs");
        return PW_OK;
    }
    for (int d = 0; d < from->rank; d++) {
        struct pw_buf text = {0};

        if (pw_dims_value(call->dims, from->dims[d], &info->dims[d]))
            continue;
        pw_dims_print(call->dims, from->dims[d], &text);
        pw_buf_printf(why, "input %d dim %d (%s) is known only when the graph runs", i, d, pw_buf_text(&text));
        pw_buf_clear(&text);
        return PW_OK;
    }
    info->content = NULL;
    info->content_count = 0;
    if (!from->content)
        return PW_OK;
    content = pw_arena_alloc(arena, from->content_count + 1, sizeof *content);
    if (!content)
        return pw_error_memory(err, from->content_count * sizeof *content);
    for (size_t k = 0; k < from->content_count && known; k++) {
        known = pw_dims_value(call->dims, from->content[k], &number);
        content[k] = known ? pw_dims_int(dims, number) : 0;
    }
    if (known) {
        info->content = content;
        info->content_count = from->content_count;
    } else if (param) {
        pw_buf_printf(why, "input %d sets the shape and is known only when the graph runs", i);
    }
    return PW_OK;
}

static pw_status apply_shape(const struct pw_call *call, const struct pw_case_change *change, int i,
                             struct pw_info *info, struct pw_buf *why)
{
    if (change->count > PW_MAX_RANK) {
        pw_buf_printf(why, "input %d: at most %d dims", i, PW_MAX_RANK);
        return PW_OK;
    }
    (void)call;
    info->rank = change->count;
    for (int d = 0; d < change->count; d++)
        info->dims[d] = change->values[d];
    info->constant = NULL; /* of another shape: no longer the graph's */
    info->content = NULL;
    info->content_count = 0;
    return PW_OK;
}

/* Does the case's dtype speak of input i? */
static bool takes_dtype(const struct pw_call *call, int lead, int i)
{
    const struct pw_formal *a = pw_op_formal(call->op->inputs, (size_t)lead);
    const struct pw_formal *b = pw_op_formal(call->op->inputs, (size_t)i);

    return a && b && a->type && b->type && !strcmp(a->type, b->type) && call->in[i]->dtype == call->in[lead]->dtype;
}

pw_status pw_case_call(const struct pw_signature *signature, const struct pw_case_spec *spec, struct pw_dims *dims,
                       struct pw_arena *arena, struct pw_call *out, struct pw_buf *why, struct pw_error *err)
{
    const struct pw_call *call = signature->call;
    const struct pw_info **in = pw_arena_alloc(arena, (size_t)call->input_count + 1, sizeof *in);
    struct pw_info *infos = pw_arena_alloc(arena, (size_t)call->input_count + 1, sizeof *infos);
    int lead = pw_case_dtype_input(call);
    const struct pw_node *node = NULL;
    pw_status status;

    if (!in || !infos)
        return pw_error_memory(err, (size_t)call->input_count * sizeof *infos);
    for (int i = 0; i < spec->change_count; i++) {
        const struct pw_case_change *change = &spec->changes[i];
        bool attribute = change->kind == PW_CHANGE_INT || change->kind == PW_CHANGE_INTS;

        if (!attribute && (change->input < 0 || change->input >= call->input_count || !call->in[change->input])) {
            pw_buf_printf(why, "the case changes input %d, which the node does not have", change->input);
            return PW_OK;
        }
    }
    status = changed_node(signature, spec, arena, &node, err);
    for (int i = 0; i < call->input_count && status == PW_OK; i++) {
        const struct pw_case_change *shape = pw_case_change_of(spec, PW_CHANGE_SHAPE, i);
        const struct pw_case_change *content = pw_case_change_of(spec, PW_CHANGE_CONTENT, i);

        if (!call->in[i])
            continue;
        status = copy_info(call, i, &infos[i], dims, arena, why, err);
        if (status != PW_OK || why->size)
            return status;
        in[i] = &infos[i];
        if (shape)
            status = apply_shape(call, shape, i, &infos[i], why);
        if (content && status == PW_OK)
            status = changed_content(&infos[i], content, dims, arena, err);
        if (spec->dtype != PW_DTYPE_UNDEFINED && lead >= 0 && takes_dtype(call, lead, i) &&
            infos[i].dtype != spec->dtype) {
            infos[i].dtype = spec->dtype;
            infos[i].constant = NULL;
        }
    }
    if (status != PW_OK || why->size)
        return status;
    return pw_call_from_infos(node, in, call->input_count, dims, arena, out, err);
}

/* ---- contents ---- */

/* An input whose content the graph fixes: axes, shapes, and constants that the room wants kept. */
static pw_status keep_content(const struct pw_info *info, const struct pw_tensor *constant, const struct pw_dims *dims,
                              struct pw_value *value, bool *kept, struct pw_error *err)
{
    pw_status status;

    *kept = false;
    if (constant) {
        value->kind = PW_VALUE_TENSOR;
        status = constant->dtype == info->dtype ? pw_tensor_copy(&value->tensor, constant, err)
                                                : pw_tensor_convert(&value->tensor, constant, info->dtype, err);
        *kept = status == PW_OK;
        return status;
    }
    if (!info->content)
        return PW_OK;
    status = pw_tensor_init(&value->tensor, info->dtype, info->rank, info->dims, err);
    if (status != PW_OK)
        return status;
    value->kind = PW_VALUE_TENSOR;
    for (size_t i = 0; i < info->content_count && (int64_t)i < value->tensor.count; i++) {
        int64_t number = 0;

        pw_dims_value(dims, info->content[i], &number);
        pw_tensor_set_int(&value->tensor, (int64_t)i, number);
    }
    *kept = true;
    return PW_OK;
}

static pw_status draw_input(const struct pw_signature *signature, const struct pw_case_spec *spec,
                            const struct pw_call *call, int i, struct pw_case_inputs *out, struct pw_buf *why,
                            struct pw_error *err)
{
    const struct pw_info *info = call->in[i];
    const struct pw_formal *formal = pw_op_formal(call->op->inputs, (size_t)i);
    struct pw_fill fill = {
        .low = -INFINITY, .high = INFINITY, .int_low = -PW_DRAW_INT_RANGE, .int_high = PW_DRAW_INT_RANGE};
    struct pw_draw draw = {.dist = spec->dist, .seed = spec->seed, .stream = (uint64_t)i, .fill = &fill};
    bool param = formal && (formal->flags & PW_FORMAL_PARAM), kept = false;
    pw_status status;

    if (call->op->fill)
        call->op->fill(call, i, &fill);
    if (param || fill.keep) {
        const struct pw_tensor *constant = info->constant;

        if (!constant && !pw_case_change_of(spec, PW_CHANGE_SHAPE, i))
            constant = signature->call->in[i]->constant; /* in another dtype */
        status = keep_content(info, constant, call->dims, &out->values[i], &kept, err);
        if (status != PW_OK || kept)
            return status;
        if (param) {
            pw_buf_printf(why, "input %d sets the shape and is known only when the graph runs", i);
            return PW_OK;
        }
    }
    status = pw_tensor_init(&out->values[i].tensor, info->dtype, info->rank, info->dims, err);
    if (status != PW_OK)
        return status;
    out->values[i].kind = PW_VALUE_TENSOR;
    if (out->huge && out->values[i].tensor.count >= PW_HUGE_PART) {
        if (!pw_draw_hashed(&out->values[i].tensor, &fill, spec->seed, (uint64_t)i))
            pw_buf_printf(why, "input %d: so many elements are only drawn freely, and as integers", i);
        return PW_OK;
    }
    pw_draw_habits(call, i, &draw);
    pw_draw_tensor(&out->values[i].tensor, &draw);
    if (out->huge && pw_dtype_is_integer(info->dtype) && fill.int_high > PW_DRAW_INT_RANGE &&
        out->values[i].tensor.count)
        pw_tensor_set_int(&out->values[i].tensor, out->values[i].tensor.count - 1, fill.int_high); /* the far end */
    return PW_OK;
}

/* The inputs that the node had in a run: of any node with this signature. */
static pw_status take_captured(const struct pw_signature *signature, const struct pw_case_spec *spec,
                               const struct pw_capture *capture, struct pw_case_inputs *out, struct pw_buf *why,
                               struct pw_error *err)
{
    for (size_t i = 0; i < signature->node_count && capture; i++) {
        struct pw_error refused = {0};
        pw_status status;

        if (!pw_capture_has(capture, signature->nodes[i], spec->captured))
            continue;
        status = pw_capture_load(capture, signature->nodes[i], spec->captured, out->values, out->count, &refused);
        if (status == PW_ERR_UNSUPPORTED)
            pw_buf_puts(why, refused.message);
        return status == PW_ERR_UNSUPPORTED || status == PW_OK ? PW_OK
                                                               : pw_error_set(err, status, "%s", refused.message);
    }
    pw_buf_printf(why, "the inputs %s were not captured, or not for this signature: give the folder with --captured",
                  spec->captured);
    return PW_OK;
}

/* The concrete call on the values that were drawn; *why where its outputs are not known before it runs. */
static pw_status finish_call(const struct pw_node *node, uint64_t seed, struct pw_case_inputs *out, struct pw_buf *why,
                             struct pw_error *err)
{
    pw_status status = pw_call_from_values(node, out->in, out->count, out->dims, &out->arena, &out->call, err);

    if (status != PW_OK)
        return status;
    pw_call_take_most(&out->call);
    out->call.seed = seed; /* as the golden reference gets it */
    for (int i = 0; i < out->call.output_count; i++) {
        const struct pw_info *info = &out->call.out[i];
        int64_t n;

        if (!out->call.wanted[i])
            continue;
        if (info->kind != PW_VALUE_TENSOR || info->rank < 0)
            pw_buf_printf(why, "output %d is known only when the operator has run", i);
        for (int d = 0; info->rank > 0 && d < info->rank && !why->size; d++)
            if (!pw_dims_value(out->dims, info->dims[d], &n))
                pw_buf_printf(why, "output %d dim %d depends on the data", i, d);
    }
    return PW_OK;
}

pw_status pw_case_draw(const struct pw_signature *signature, const struct pw_case_spec *spec,
                       const struct pw_capture *capture, struct pw_case_inputs *out, struct pw_buf *why,
                       struct pw_error *err)
{
    struct pw_call call = {0};
    pw_status status;

    if (signature->call->input_count > PW_OP_MAX_FORMALS) {
        pw_buf_printf(why, "%d inputs: at most %d are drawn", signature->call->input_count, PW_OP_MAX_FORMALS);
        return PW_OK;
    }
    out->count = signature->call->input_count;
    status = pw_dims_create(&out->dims, err);
    if (status == PW_OK)
        status = pw_case_call(signature, spec, out->dims, &out->arena, &call, why, err);
    if (status == PW_OK && !why->size)
        out->memory_taken = pw_case_memory_take(out->memory, pw_case_memory_need(&call), MEMORY_WAIT_MS);
    if (status == PW_OK && !why->size && spec->dist == PW_DIST_CAPTURED)
        status = take_captured(signature, spec, capture, out, why, err);
    for (int i = 0; i < out->count && status == PW_OK && !why->size; i++) {
        if (!signature->call->in[i])
            continue;
        if (out->values[i].kind == PW_VALUE_NONE)
            status = draw_input(signature, spec, &call, i, out, why, err);
        out->in[i] = &out->values[i];
        out->constant[i] = signature->call->in[i]->constant != NULL;
    }
    if (status == PW_OK && !why->size)
        status = finish_call(call.node, spec->seed, out, why, err);
    return status;
}

pw_status pw_case_outputs(const struct pw_call *call, struct pw_value *outputs, struct pw_error *err)
{
    for (int i = 0; i < call->output_count; i++) {
        const struct pw_info *info = &call->out[i];
        int64_t shape[PW_MAX_RANK];
        pw_status status;

        if (!call->wanted[i])
            continue;
        for (int d = 0; d < info->rank; d++)
            if (!pw_dims_value(call->dims, info->dims[d], &shape[d]))
                return pw_call_error(call, err, "output %d dim %d is not a number", i, d);
        status = pw_tensor_init(&outputs[i].tensor, info->dtype, info->rank, shape, err);
        if (status != PW_OK)
            return status;
        outputs[i].kind = PW_VALUE_TENSOR;
    }
    return PW_OK;
}
