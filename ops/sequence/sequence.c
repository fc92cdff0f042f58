/* Sequences and optionals: definitions and inference. They live on the host: a target has tensors only. */
#include "sequence.h"

#include <string.h>

/* ---- infos ---- */

static struct pw_info plain(const struct pw_info *info, pw_value_kind kind)
{
    struct pw_info out = *info;

    out.kind = kind;
    out.constant = NULL;
    out.content = NULL;
    out.content_count = 0;
    out.fixed = false;
    out.optional = false;
    return out;
}

/* Items of a sequence that holds both: what they do not share is not known. */
static struct pw_info join(const struct pw_info *a, const struct pw_info *b)
{
    struct pw_info out = *a;

    if (a->rank != b->rank)
        out.rank = -1;
    for (int d = 0; d < out.rank; d++) {
        if (a->dims[d] != b->dims[d])
            out.dims[d] = PW_DIM_UNKNOWN;
    }
    return out;
}

static void set_output(struct pw_call *call, int i, const struct pw_info *info)
{
    if (i < call->output_count)
        call->out[i] = *info;
}

/* Input 0 as a sequence; an error when it is known to be something else. */
static pw_status expect_sequence(const struct pw_call *call, int i, struct pw_error *err)
{
    if (call->in[i]->kind == PW_VALUE_TENSOR || (call->in[i]->kind == PW_VALUE_NONE && call->in[i]->optional))
        return pw_call_error(call, err, "input %d must be a sequence", i);
    return PW_OK;
}

static pw_status expect_tensor(const struct pw_call *call, int i, struct pw_error *err)
{
    if (call->in[i]->kind == PW_VALUE_SEQUENCE || (call->in[i]->kind == PW_VALUE_NONE && call->in[i]->optional))
        return pw_call_error(call, err, "input %d must be a tensor", i);
    return PW_OK;
}

/* A position must be one integer. */
static pw_status expect_position(const struct pw_call *call, int i, struct pw_error *err)
{
    const struct pw_info *in = pw_call_input(call, i) ? call->in[i] : NULL;

    if (in == NULL)
        return PW_OK;
    if (in->dtype != PW_DTYPE_UNDEFINED && in->dtype != PW_DTYPE_INT32 && in->dtype != PW_DTYPE_INT64)
        return pw_call_error(call, err, "the position must be int32 or int64, found %s", pw_dtype_name(in->dtype));
    if (in->rank > 1)
        return pw_call_error(call, err, "the position must be one number, found rank %d", in->rank);
    return expect_tensor(call, i, err);
}

/* ---- sequences ---- */

pw_status pw_sequence_empty_infer(struct pw_call *call, struct pw_error *err)
{
    int64_t dtype = pw_call_int(call, "dtype");
    struct pw_info out = {.kind = PW_VALUE_SEQUENCE, .rank = -1};

    if (dtype <= PW_DTYPE_UNDEFINED || dtype >= PW_DTYPE_COUNT)
        return pw_call_error(call, err, "attribute 'dtype' is %lld, which is no element type", (long long)dtype);
    out.dtype = (pw_dtype)dtype;
    set_output(call, 0, &out);
    return PW_OK;
}

pw_status pw_sequence_construct_infer(struct pw_call *call, struct pw_error *err)
{
    struct pw_info out = plain(call->in[0], PW_VALUE_SEQUENCE);
    pw_status status = PW_OK;

    for (int i = 0; i < call->input_count && status == PW_OK; i++) {
        status = expect_tensor(call, i, err);
        out = join(&out, call->in[i]);
    }
    set_output(call, 0, &out);
    return status;
}

pw_status pw_sequence_insert_infer(struct pw_call *call, struct pw_error *err)
{
    struct pw_info out = plain(call->in[0], PW_VALUE_SEQUENCE);
    pw_status status = expect_sequence(call, 0, err);

    if (status == PW_OK)
        status = expect_tensor(call, 1, err);
    if (status == PW_OK)
        status = expect_position(call, 2, err);
    if (status != PW_OK)
        return status;
    if (out.dtype != PW_DTYPE_UNDEFINED && call->in[1]->dtype != PW_DTYPE_UNDEFINED && out.dtype != call->in[1]->dtype)
        return pw_call_error(call, err, "a %s tensor is inserted into a sequence of %s",
                             pw_dtype_name(call->in[1]->dtype), pw_dtype_name(out.dtype));
    if (out.dtype == PW_DTYPE_UNDEFINED)
        out.dtype = call->in[1]->dtype;
    out = join(&out, call->in[1]);
    set_output(call, 0, &out);
    return PW_OK;
}

pw_status pw_sequence_erase_infer(struct pw_call *call, struct pw_error *err)
{
    struct pw_info out = plain(call->in[0], PW_VALUE_SEQUENCE);
    pw_status status = expect_sequence(call, 0, err);

    if (status == PW_OK)
        status = expect_position(call, 1, err);
    set_output(call, 0, &out);
    return status;
}

/* Dims that are open get symbols: they are one tensor's from here on. */
static void settle(struct pw_call *call, struct pw_info *info)
{
    for (int d = 0; d < info->rank; d++) {
        if (info->dims[d] == PW_DIM_UNKNOWN)
            info->dims[d] = pw_dims_fresh(call->dims, "item");
    }
}

pw_status pw_sequence_at_infer(struct pw_call *call, struct pw_error *err)
{
    struct pw_info out = plain(call->in[0], PW_VALUE_TENSOR);
    pw_status status = expect_sequence(call, 0, err);

    if (status == PW_OK)
        status = expect_position(call, 1, err);
    settle(call, &out);
    set_output(call, 0, &out);
    return status;
}

pw_status pw_sequence_length_infer(struct pw_call *call, struct pw_error *err)
{
    pw_call_output(call, 0, PW_DTYPE_INT64, 0, NULL);
    return expect_sequence(call, 0, err);
}

/* Items of SplitToSequence along an axis of `size`. */
static pw_status split_size(struct pw_call *call, pw_dim size, pw_dim *out, struct pw_error *err)
{
    const int64_t *split = NULL;
    size_t count = 0;
    bool known = false, same = true;
    pw_status status;

    *out = PW_DIM_UNKNOWN;
    if (!pw_call_input(call, 1)) {
        *out = 1;
        return PW_OK;
    }
    if (call->in[1]->rank > 1)
        return pw_call_error(call, err, "input 'split' must be a number or a list, found rank %d", call->in[1]->rank);
    status = pw_call_content(call, 1, &split, &count, &known, err);
    if (status != PW_OK || !known || count == 0)
        return status;
    for (size_t i = 0; i < count; i++)
        same = same && split[i] == split[0];
    if (call->in[1]->rank == 1 ? same : split[0] > 0 && size >= 0 && size % split[0] == 0)
        *out = split[0];
    return PW_OK;
}

pw_status pw_sequence_split_infer(struct pw_call *call, struct pw_error *err)
{
    struct pw_info out = plain(call->in[0], PW_VALUE_SEQUENCE);
    bool keep = pw_call_int(call, "keepdims") != 0 || pw_call_input(call, 1);
    int axis = 0;
    pw_status status = PW_OK;

    if (out.rank >= 0) {
        status = pw_call_axis(call, pw_call_int(call, "axis"), out.rank, &axis, err);
        if (status == PW_OK && keep)
            status = split_size(call, out.dims[axis], &out.dims[axis], err);
        if (status == PW_OK && !keep) {
            out.rank--;
            memmove(out.dims + axis, out.dims + axis + 1, (size_t)(out.rank - axis) * sizeof *out.dims);
        }
    }
    set_output(call, 0, &out);
    return status;
}

pw_status pw_sequence_concat_infer(struct pw_call *call, struct pw_error *err)
{
    struct pw_info out = plain(call->in[0], PW_VALUE_TENSOR);
    int64_t new_axis = pw_call_int(call, "new_axis");
    int axis = 0;
    pw_status status = expect_sequence(call, 0, err);

    if (status != PW_OK)
        return status;
    if (new_axis != 0 && new_axis != 1)
        return pw_call_error(call, err, "attribute 'new_axis' must be 0 or 1, found %lld", (long long)new_axis);
    if (out.rank == PW_MAX_RANK && new_axis != 0)
        return pw_call_error(call, err, "the result would have rank %d; at most %d is supported", out.rank + 1,
                             PW_MAX_RANK);
    if (out.rank >= 0) {
        status = pw_call_axis(call, pw_call_int(call, "axis"), out.rank + (int)new_axis, &axis, err);
        if (status != PW_OK)
            return status;
        if (new_axis != 0) {
            memmove(out.dims + axis + 1, out.dims + axis, (size_t)(out.rank - axis) * sizeof *out.dims);
            out.rank++;
        }
        out.dims[axis] = PW_DIM_UNKNOWN;
        settle(call, &out);
    }
    set_output(call, 0, &out);
    return PW_OK;
}

pw_status pw_sequence_map_infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_attr *attr = pw_node_attr(call->node, "body");
    struct pw_info *args = NULL, *results = NULL;
    size_t count = (size_t)call->input_count;
    pw_status status = expect_sequence(call, 0, err);

    if (status != PW_OK)
        return status;
    if (attr == NULL || attr->type != PW_ATTR_GRAPH || attr->graph == NULL)
        return pw_call_error(call, err, "attribute 'body' holds no graph");
    if (attr->graph->input_count != count || attr->graph->output_count < (size_t)call->output_count)
        return pw_call_error(call, err, "the body has %zu inputs and %zu outputs, expected %zu and %d",
                             attr->graph->input_count, attr->graph->output_count, count, call->output_count);
    if (call->infer_graph == NULL)
        return PW_OK;
    args = pw_arena_alloc(call->arena, count + 1, sizeof *args);
    results = pw_arena_alloc(call->arena, attr->graph->output_count + 1, sizeof *results);
    if (args == NULL || results == NULL)
        return pw_error_memory(err, count * sizeof *args);
    for (size_t i = 0; i < count; i++) {
        if (call->in[i] == NULL)
            return pw_call_error(call, err, "input %zu is omitted", i);
        args[i] = plain(call->in[i], call->in[i]->kind == PW_VALUE_NONE ? PW_VALUE_NONE : PW_VALUE_TENSOR);
        settle(call, &args[i]);
    }
    status = call->infer_graph(call, attr->graph, args, count, results, err);
    for (int i = 0; i < call->output_count && status == PW_OK; i++) {
        call->out[i] = plain(&results[i], PW_VALUE_SEQUENCE);
        for (int d = 0; d < call->out[i].rank; d++) { /* what depends on one item is open for the sequence */
            if (call->out[i].dims[d] < 0)
                call->out[i].dims[d] = PW_DIM_UNKNOWN;
        }
    }
    return status;
}

/* ---- optionals ---- */

pw_dtype pw_optional_type(const struct pw_call *call, bool *is_sequence)
{
    const struct pw_attr *attr = pw_node_attr(call->node, "type");
    const struct pw_type *type = attr != NULL && attr->type == PW_ATTR_TYPE_PROTO ? attr->type_proto : NULL;

    if (type != NULL && type->kind == PW_TYPE_OPTIONAL)
        type = type->element;
    *is_sequence = type != NULL && type->kind == PW_TYPE_SEQUENCE;
    if (*is_sequence)
        type = type->element;
    return type != NULL && type->kind == PW_TYPE_TENSOR ? type->dtype : PW_DTYPE_UNDEFINED;
}

pw_status pw_optional_infer(struct pw_call *call, struct pw_error *err)
{
    struct pw_info out = {.rank = -1, .optional = true};
    bool is_sequence = false;

    if (pw_call_input(call, 0)) {
        out = *call->in[0];
    } else if (!pw_call_has(call, "type")) {
        return pw_call_error(call, err, "neither an input nor attribute 'type' is given");
    } else {
        out.dtype = pw_optional_type(call, &is_sequence);
    }
    set_output(call, 0, &out);
    return PW_OK;
}

pw_status pw_optional_has_infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = pw_call_input(call, 0) ? call->in[0] : NULL;
    bool surely = in != NULL && in->kind != PW_VALUE_NONE && !in->optional;
    pw_dim *content;

    pw_call_output(call, 0, PW_DTYPE_BOOL, 0, NULL);
    if (call->output_count < 1 || (in != NULL && !surely))
        return PW_OK;
    content = pw_arena_alloc(call->arena, 1, sizeof *content);
    if (content == NULL)
        return pw_error_memory(err, sizeof *content);
    *content = surely;
    call->out[0].content = content;
    call->out[0].content_count = 1;
    return PW_OK;
}

pw_status pw_optional_get_infer(struct pw_call *call, struct pw_error *err)
{
    struct pw_info out = *call->in[0];

    (void)err;
    out.optional = false;
    set_output(call, 0, &out);
    return PW_OK;
}

/* ---- definitions ---- */

static const struct pw_attr_def empty_attrs[] = {
    {.name = "dtype", .type = PW_ATTR_INT, .i = PW_DTYPE_FLOAT32},
    {0},
};
static const struct pw_attr_def split_attrs[] = {
    {.name = "axis", .type = PW_ATTR_INT},
    {.name = "keepdims", .type = PW_ATTR_INT, .i = 1},
    {0},
};
static const struct pw_attr_def concat_attrs[] = {
    {.name = "axis", .type = PW_ATTR_INT, .required = true},
    {.name = "new_axis", .type = PW_ATTR_INT},
    {0},
};
static const struct pw_attr_def map_attrs[] = {{.name = "body", .type = PW_ATTR_GRAPH, .required = true}, {0}};
static const struct pw_attr_def optional_attrs[] = {{.name = "type", .type = PW_ATTR_TYPE_PROTO}, {0}};

static const struct pw_formal no_inputs[] = {{0}};
static const struct pw_formal sequence_output[] = {{"output_sequence", NULL, PW_FORMAL_ANY}, {0}};
static const struct pw_formal empty_output[] = {{"output", NULL, PW_FORMAL_ANY}, {0}};
static const struct pw_formal tensor_output[] = {{"tensor", NULL, 0}, {0}};
static const struct pw_formal length_output[] = {{"length", NULL, 0}, {0}};
static const struct pw_formal concat_output[] = {{"concat_result", NULL, 0}, {0}};
static const struct pw_formal has_output[] = {{"output", NULL, 0}, {0}};
static const struct pw_formal any_output[] = {{"output", NULL, PW_FORMAL_ANY}, {0}};
static const struct pw_formal map_outputs[] = {{"out_sequence", NULL, PW_FORMAL_VARIADIC | PW_FORMAL_ANY}, {0}};

static const struct pw_formal construct_inputs[] = {{"inputs", "T", PW_FORMAL_VARIADIC}, {0}};
static const struct pw_formal insert_inputs[] = {
    {"input_sequence", NULL, PW_FORMAL_ANY},
    {"tensor", NULL, 0},
    {"position", "I", PW_FORMAL_OPTIONAL | PW_FORMAL_PARAM},
    {0},
};
static const struct pw_formal erase_inputs[] = {
    {"input_sequence", NULL, PW_FORMAL_ANY},
    {"position", "I", PW_FORMAL_OPTIONAL | PW_FORMAL_PARAM},
    {0},
};
static const struct pw_formal at_inputs[] = {
    {"input_sequence", NULL, PW_FORMAL_ANY},
    {"position", "I", PW_FORMAL_PARAM},
    {0},
};
static const struct pw_formal sequence_input[] = {{"input_sequence", NULL, PW_FORMAL_ANY}, {0}};
static const struct pw_formal split_inputs[] = {
    {"input", "T", 0},
    {"split", "I", PW_FORMAL_OPTIONAL | PW_FORMAL_PARAM},
    {0},
};
static const struct pw_formal map_inputs[] = {
    {"input_sequence", NULL, PW_FORMAL_ANY},
    {"additional_inputs", NULL, PW_FORMAL_OPTIONAL | PW_FORMAL_VARIADIC | PW_FORMAL_ANY},
    {0},
};
static const struct pw_formal optional_inputs[] = {{"input", NULL, PW_FORMAL_OPTIONAL | PW_FORMAL_ANY}, {0}};
static const struct pw_formal has_15_inputs[] = {{"input", NULL, PW_FORMAL_ANY}, {0}};

#define SEQUENCE_HOST "sequences live on the host: a target has tensors only"
#define OPTIONAL_HOST "optionals live on the host: a target has tensors only"

#define ENTRY(op, version, why, table, in, outs, infer_fn, run_fn)                                                     \
    {                                                                                                                  \
        .domain = "", .name = op, .since = version, .category = PW_CATEGORY_OTHER, .attrs = table, .inputs = in,       \
        .outputs = outs, .host_only = why, .infer = infer_fn, .cost = pw_cost_none, .accuracy = pw_accuracy_copy,      \
        .golden = run_fn, .fast = run_fn                                                                               \
    }
#define SEQUENCE(op, version, table, in, outs, stem)                                                                   \
    ENTRY(op, version, SEQUENCE_HOST, table, in, outs, stem##_infer, stem##_run)
#define OPTIONAL(op, version, table, in, outs, stem)                                                                   \
    ENTRY(op, version, OPTIONAL_HOST, table, in, outs, stem##_infer, stem##_run)

const struct pw_op pw_sequence_ops[] = {
    SEQUENCE("SequenceEmpty", 11, empty_attrs, no_inputs, empty_output, pw_sequence_empty),
    SEQUENCE("SequenceConstruct", 11, NULL, construct_inputs, sequence_output, pw_sequence_construct),
    SEQUENCE("SequenceInsert", 11, NULL, insert_inputs, sequence_output, pw_sequence_insert),
    SEQUENCE("SequenceErase", 11, NULL, erase_inputs, sequence_output, pw_sequence_erase),
    SEQUENCE("SequenceAt", 11, NULL, at_inputs, tensor_output, pw_sequence_at),
    SEQUENCE("SequenceLength", 11, NULL, sequence_input, length_output, pw_sequence_length),
    SEQUENCE("SplitToSequence", 11, split_attrs, split_inputs, sequence_output, pw_sequence_split),
    SEQUENCE("SplitToSequence", 24, split_attrs, split_inputs, sequence_output, pw_sequence_split),
    SEQUENCE("ConcatFromSequence", 11, concat_attrs, sequence_input, concat_output, pw_sequence_concat),
    SEQUENCE("SequenceMap", 17, map_attrs, map_inputs, map_outputs, pw_sequence_map),
    OPTIONAL("Optional", 15, optional_attrs, optional_inputs, any_output, pw_optional),
    OPTIONAL("Optional", 28, optional_attrs, optional_inputs, any_output, pw_optional),
    OPTIONAL("OptionalHasElement", 15, NULL, has_15_inputs, has_output, pw_optional_has),
    OPTIONAL("OptionalHasElement", 18, NULL, optional_inputs, has_output, pw_optional_has),
    OPTIONAL("OptionalHasElement", 28, NULL, optional_inputs, has_output, pw_optional_has),
    OPTIONAL("OptionalGetElement", 15, NULL, has_15_inputs, any_output, pw_optional_get),
    OPTIONAL("OptionalGetElement", 18, NULL, has_15_inputs, any_output, pw_optional_get),
    OPTIONAL("OptionalGetElement", 28, NULL, has_15_inputs, any_output, pw_optional_get),
    {0},
};
