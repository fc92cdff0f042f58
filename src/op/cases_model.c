/* Calls as texts, and models made of them. */
#include <stdio.h>
#include <string.h>

#include "graph/infer.h"
#include "graph/onnx_write.h"
#include "op/cases_internal.h"

#define CONSTANT_SEED "uniform 7" /* of constants that the text gives no values */

/* ---- the text ---- */

/* The bracketed list of inputs, *head before it, and the number of outputs after it (0: those that every call has). */
static bool split_call(const char *text, struct pw_case_text *head, struct pw_case_text *list, int64_t *outputs)
{
    const char *end = text + strlen(text), *open = NULL, *arrow, *close = strrchr(text, ')');
    int depth = 0;

    *outputs = 0;
    arrow = close ? strchr(close, '>') : NULL;
    if (arrow && arrow[-1] == '-') {
        struct pw_case_text rest = {arrow + 1, end}, word;

        if (!pw_case_word(&rest, "", &word) || !pw_case_int(&word, outputs) || *outputs < 1 ||
            *outputs > PW_CASE_MAX_OUTPUTS)
            return false;
        end = arrow - 1;
    }

    while (end > text && (end[-1] == ' ' || end[-1] == '\n'))
        end--;
    if (end == text || end[-1] != ')')
        return false;
    for (const char *at = end; at > text && !open; at--) {
        depth += (at[-1] == ')') - (at[-1] == '(');
        open = depth == 0 ? at - 1 : NULL;
    }
    if (!open)
        return false;
    *head = (struct pw_case_text){text, open};
    *list = (struct pw_case_text){open + 1, end - 1};
    return true;
}

/* The next input: up to a comma outside brackets. */
static bool next_input(struct pw_case_text *list, struct pw_case_text *input)
{
    int depth = 0;

    pw_case_skip(list);
    input->at = list->at;
    while (list->at < list->end && (depth > 0 || *list->at != ',')) {
        depth += (*list->at == '[' || *list->at == '(') - (*list->at == ']' || *list->at == ')');
        list->at++;
    }
    input->end = list->at;
    while (input->end > input->at && input->end[-1] == ' ')
        input->end--;
    list->at += list->at < list->end;
    return input->at < input->end;
}

static pw_status add_input(struct pw_case_call *out, size_t i, struct pw_case_text input, struct pw_arena *arena,
                           struct pw_error *err)
{
    const char *values = "", *close;
    size_t size;

    out->constant[i] = *input.at == '=';
    input.at += out->constant[i];
    size = (size_t)(input.end - input.at);
    close = memchr(input.at, ']', size);
    if (close && close + 1 == input.end) {
        out->drawn[i] = true;
        values = out->constant[i] && size > 5 && !memcmp(input.at, "float", 5) && input.at[5] != '8' ? CONSTANT_SEED
                 : out->constant[i]                                                                  ? "1"
                                                                                                     : "0";
    }
    out->c.inputs[i] = pw_arena_printf(arena, "%.*s %s", (int)size, input.at, values);
    if (size == 1 && *input.at == '-')
        out->c.inputs[i] = "-";
    return out->c.inputs[i] ? PW_OK : pw_error_memory(err, size);
}

pw_status pw_case_call_parse(const char *text, struct pw_arena *arena, struct pw_case_call *out, struct pw_error *err)
{
    struct pw_case_call made = {.c = {.name = text}};
    struct pw_case_text head, list, input;
    pw_status status = PW_OK;
    int64_t outputs;
    char safe[128];

    pw_text_show(safe, sizeof safe, text, 80);
    if (!split_call(text, &head, &list, &outputs))
        return pw_error_set(err, PW_ERR_FORMAT, "call '%s': expected Op-version attributes (inputs) [-> outputs]",
                            safe);
    for (int64_t i = 0; i < outputs; i++)
        made.c.outputs[i] = "-";
    made.c.call = pw_arena_strndup(arena, head.at, (size_t)(head.end - head.at));
    made.c.name = pw_arena_strndup(arena, text, strlen(text));
    if (!made.c.call || !made.c.name)
        return pw_error_memory(err, strlen(text));
    for (size_t i = 0; next_input(&list, &input) && status == PW_OK; i++) {
        if (i == PW_CASE_MAX_INPUTS)
            return pw_error_set(err, PW_ERR_FORMAT, "call '%s': more than %d inputs", safe, PW_CASE_MAX_INPUTS);
        status = add_input(&made, i, input, arena, err);
    }
    if (status == PW_OK)
        *out = made;
    return status;
}

/* ---- the model ---- */

static pw_status put_attr(struct pw_buf *attrs, const struct pw_attr *attr, struct pw_arena *arena,
                          struct pw_error *err)
{
    struct pw_buf body = {0};
    const char **texts;

    switch (attr->type) {
    case PW_ATTR_INT:
        pw_onnx_put_attr_int(attrs, attr->name, attr->i);
        return PW_OK;
    case PW_ATTR_FLOAT:
        pw_onnx_put_attr_float(attrs, attr->name, attr->f);
        return PW_OK;
    case PW_ATTR_STRING:
        pw_onnx_put_attr_text(attrs, attr->name, attr->s.data);
        return PW_OK;
    case PW_ATTR_INTS:
        pw_onnx_put_attr_ints(attrs, attr->name, attr->ints, attr->count);
        return PW_OK;
    case PW_ATTR_FLOATS:
        pw_onnx_put_attr_floats(attrs, attr->name, attr->floats, attr->count);
        return PW_OK;
    case PW_ATTR_STRINGS:
        texts = pw_arena_alloc(arena, attr->count + 1, sizeof *texts);
        if (!texts)
            return pw_error_memory(err, attr->count * sizeof *texts);
        for (size_t i = 0; i < attr->count; i++)
            texts[i] = attr->strings[i].data;
        pw_onnx_put_attr_texts(attrs, attr->name, texts, attr->count);
        return PW_OK;
    case PW_ATTR_TENSOR:
        pw_onnx_put_tensor(&body, attr->name, attr->tensor);
        pw_onnx_put_attr_message(attrs, attr->name, PW_ATTR_TENSOR, &body);
        return PW_OK;
    default:
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "attribute '%s': a kind that only a file can hold", attr->name);
    }
}

static void put_info(struct pw_buf *graph, uint32_t field, const char *name, const struct pw_tensor *t)
{
    struct pw_onnx_shape shape = {t->nominal, t->rank, t->dims, NULL};

    pw_onnx_put_info(graph, field, name, &shape);
}

static void put_input(struct pw_buf *graph, const struct pw_case_call *call, const struct pw_case_data *data, size_t i,
                      const char *name)
{
    const struct pw_formal *formal = pw_op_formal(data->node->op->inputs, i);
    const struct pw_tensor *t = &data->inputs[i].tensor;
    struct pw_buf body = {0};

    if (!call->constant[i] && !(formal && (formal->flags & PW_FORMAL_PARAM))) {
        put_info(graph, PW_GRAPH_INPUT, name, t);
        return;
    }
    pw_onnx_put_tensor(&body, name, t);
    pw_wire_put_message(graph, PW_GRAPH_INITIALIZER, &body);
}

/* Declares an output; one whose shape only the data decides gets its rank with dims of its own. */
static pw_status put_output(struct pw_buf *graph, const struct pw_call *call, int i, const char *name,
                            struct pw_error *err)
{
    const struct pw_info *info = &call->out[i];
    int64_t dims[PW_MAX_RANK];
    char symbols[PW_MAX_RANK][128];
    const char *names[PW_MAX_RANK] = {NULL};
    struct pw_onnx_shape shape = {info->dtype, info->rank, dims, names};

    if (info->kind != PW_VALUE_TENSOR || info->rank < 0)
        return pw_call_error(call, err, "output %d is no tensor of known rank", i);
    for (int d = 0; d < info->rank; d++)
        if (!pw_dims_value(call->dims, info->dims[d], &dims[d])) {
            snprintf(symbols[d], sizeof symbols[d], "%s.%d", name, d);
            names[d] = symbols[d];
        }
    pw_onnx_put_info(graph, PW_GRAPH_OUTPUT, name, &shape);
    return PW_OK;
}

static pw_status put_node(struct pw_buf *graph, size_t number, const struct pw_case_call *text,
                          const struct pw_case_data *data, const struct pw_call *call, struct pw_arena *arena,
                          struct pw_error *err)
{
    const struct pw_node *node = data->node;
    struct pw_buf body = {0}, attrs = {0};
    char name[96];
    pw_status status = PW_OK;

    for (size_t i = 0; i < data->input_count; i++) {
        snprintf(name, sizeof name, "n%zu.in%zu", number, i);
        pw_wire_put_text(&body, PW_NODE_INPUT, data->inputs[i].kind == PW_VALUE_NONE ? "" : name);
        if (data->inputs[i].kind == PW_VALUE_TENSOR)
            put_input(graph, text, data, i, name);
    }
    for (size_t i = 0; i < node->output_count && status == PW_OK; i++) {
        snprintf(name, sizeof name, "n%zu.out%zu", number, i);
        pw_wire_put_text(&body, PW_NODE_OUTPUT, name);
        status = put_output(graph, call, (int)i, name, err);
    }
    snprintf(name, sizeof name, "%s_%zu", node->op_type, number);
    pw_wire_put_text(&body, PW_NODE_NAME, name);
    pw_wire_put_text(&body, PW_NODE_OP_TYPE, node->op_type);
    pw_wire_put_text(&body, PW_NODE_DOMAIN, node->domain);
    for (size_t i = 0; i < node->attr_count && status == PW_OK; i++)
        status = put_attr(&attrs, &node->attrs[i], arena, err);
    pw_buf_append(&body, pw_buf_text(&attrs), attrs.size);
    body.failed |= attrs.failed;
    pw_buf_clear(&attrs);
    if (status == PW_OK)
        pw_wire_put_message(graph, PW_GRAPH_NODE, &body);
    pw_buf_clear(&body);
    return status;
}

/* One opset of ai.onnx for all, the highest that any asks for; one of each other domain. */
static pw_status agree(const struct pw_case_data *data, size_t count, struct pw_onnx_out *out, struct pw_error *err)
{
    char label[96];

    for (size_t i = 0; i < count; i++)
        if (!data[i].node->domain[0] && data[i].opset > out->opset)
            out->opset = data[i].opset;
    out->ir_version = pw_onnx_ir_version(out->opset);
    for (size_t i = 0; i < count; i++) {
        const struct pw_node *node = data[i].node;
        struct pw_buf import = {0};
        bool first = true;

        if (!node->domain[0] && pw_op_find("", node->op_type, out->opset, NULL) != node->op)
            return pw_error_set(err, PW_ERR_USAGE, "%s means another definition under opset %d, which the others need",
                                pw_op_label(node->op, label, sizeof label), out->opset);
        for (size_t j = 0; j < i; j++)
            first = first && strcmp(data[j].node->domain, node->domain) != 0;
        if (!node->domain[0] || !first)
            continue;
        pw_wire_put_text(&import, PW_OPSET_DOMAIN, node->domain);
        pw_wire_put_int(&import, PW_OPSET_VERSION, (uint64_t)data[i].opset);
        pw_wire_put_message(&out->functions, PW_MODEL_OPSET, &import);
    }
    return PW_OK;
}

static pw_status infer_call(const struct pw_case_data *data, struct pw_dims *dims, struct pw_arena *arena,
                            struct pw_call *call, struct pw_error *err)
{
    const struct pw_value *in[PW_CASE_MAX_INPUTS];

    for (size_t i = 0; i < data->input_count; i++)
        in[i] = data->inputs[i].kind == PW_VALUE_NONE ? NULL : &data->inputs[i];
    return pw_call_from_values(data->node, in, (int)data->input_count, dims, arena, call, err);
}

pw_status pw_case_model(const char *const *calls, size_t count, struct pw_buf *bytes, struct pw_error *err)
{
    struct pw_arena arena = {0};
    struct pw_case_call *texts = pw_arena_alloc(&arena, count + 1, sizeof *texts);
    struct pw_case_data *data = pw_arena_alloc(&arena, count + 1, sizeof *data);
    struct pw_dims *dims = NULL;
    struct pw_onnx_out out;
    pw_status status = texts && data ? pw_dims_create(&dims, err) : pw_error_memory(err, count * sizeof *data);

    pw_onnx_out_init(&out, "calls", 1);
    for (size_t i = 0; i < count && status == PW_OK; i++) {
        status = pw_case_call_parse(calls[i], &arena, &texts[i], err);
        if (status == PW_OK)
            status = pw_case_parse(&texts[i].c, &data[i], err);
    }
    if (status == PW_OK)
        status = agree(data, count, &out, err);
    for (size_t i = 0; i < count && status == PW_OK; i++) {
        struct pw_call call;

        status = infer_call(&data[i], dims, &arena, &call, err);
        if (status == PW_OK)
            status = put_node(&out.graph, i, &texts[i], &data[i], &call, &arena, err);
    }
    if (status == PW_OK) {
        pw_onnx_out_bytes(&out, bytes);
        status = bytes->failed ? pw_error_memory(err, out.graph.size) : PW_OK;
    }
    pw_onnx_out_clear(&out);
    for (size_t i = 0; data && i < count; i++)
        pw_case_clear(&data[i]);
    pw_dims_destroy(dims);
    pw_arena_clear(&arena);
    return status;
}
