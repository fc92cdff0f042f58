/* What a graph says of one of its inputs: read from the nodes that its values reach unchanged. */
#include <math.h>
#include <string.h>

#include "run/inputs.h"

#define MAX_DEPTH 12
#define MAX_VISITS 256
#define DEFAULT_HIGH 9

struct search {
    const struct pw_inference *inference; /* others read it at the same time */
    struct pw_arena arena;
    struct pw_dims *dims; /* of this search */
    struct pw_input_hint *hint;
    int visits;
};

static bool is_onnx(const struct pw_node *node)
{
    return node->domain[0] == '\0' || !strcmp(node->domain, "ai.onnx");
}

/* Operators whose first output holds the first input's numbers, moved or converted. */
static bool keeps_numbers(const struct pw_node *node)
{
    static const char *const names[] = {"Cast",    "Identity", "Unsqueeze", "Squeeze", "Reshape",
                                        "Flatten", "Expand",   "Transpose", "Slice",   "Tile"};

    for (size_t i = 0; is_onnx(node) && i < sizeof names / sizeof *names; i++)
        if (!strcmp(node->op_type, names[i]))
            return true;
    return false;
}

static void look_up(struct search *search, const struct pw_node *node, const struct pw_call *call, size_t input)
{
    struct pw_input_hint *hint = search->hint;
    int64_t axis = 0, rows;

    if (strcmp(node->op_type, "Gather") || !is_onnx(node) || input != 1 || !call->in[0] || call->in[0]->rank < 1)
        return;
    axis = pw_call_int(call, "axis");
    axis += axis < 0 ? call->in[0]->rank : 0;
    if (axis < 0 || axis >= call->in[0]->rank || !pw_dims_value(call->dims, call->in[0]->dims[axis], &rows) || rows < 1)
        return;
    if (!hint->table || rows < hint->rows) {
        hint->table = node;
        hint->rows = rows;
    }
    if (hint->low < 0)
        hint->low = 0;
    if (hint->high > rows - 1)
        hint->high = rows - 1;
}

static void compare_with(struct search *search, const struct pw_node *node, const struct pw_call *call, size_t input)
{
    const struct pw_info *other = call->input_count == 2 ? call->in[1 - input] : NULL;

    if (strcmp(node->op_type, "Equal") || !other || !other->constant || other->constant->count != 1 ||
        search->hint->has_constant)
        return;
    search->hint->has_constant = true;
    search->hint->constant = pw_tensor_get(other->constant, 0);
}

static void narrow(struct search *search, const struct pw_call *call, size_t input)
{
    struct pw_input_hint *hint = search->hint;
    struct pw_fill fill = {.low = -INFINITY, .high = INFINITY, .int_low = hint->low, .int_high = hint->high};

    call->op->fill(call, (int)input, &fill);
    if (fill.low > hint->float_low && fill.low < hint->float_high)
        hint->float_low = fill.low;
    if (fill.high < hint->float_high && fill.high > hint->float_low)
        hint->float_high = fill.high;
    if (fill.int_low > hint->low && fill.int_low <= hint->high)
        hint->low = fill.int_low;
    if (fill.int_high < hint->high && fill.int_high >= hint->low)
        hint->high = fill.int_high;
}

static pw_status follow(struct search *search, const struct pw_graph *graph, pw_value_id id, int depth,
                        struct pw_error *err);

static pw_status read_by(struct search *search, const struct pw_graph *graph, const struct pw_node *node, size_t input,
                         int depth, struct pw_error *err)
{
    const struct pw_formal *formal = node->op ? pw_op_formal(node->op->inputs, input) : NULL;
    struct pw_call call;
    pw_status status;

    if (!node->op)
        return PW_OK;
    status = pw_inference_call_in(search->inference, node, &search->arena, search->dims, &call, err);
    if (status != PW_OK)
        return status;
    if (formal && (formal->flags & PW_FORMAL_PARAM)) {
        search->hint->param = node;
        return PW_OK;
    }
    look_up(search, node, &call, input);
    compare_with(search, node, &call, input);
    search->hint->added |= !strcmp(node->op_type, "Add");
    if (keeps_numbers(node) && input == 0 && node->output_count > 0 && node->outputs[0] != PW_NO_VALUE)
        return follow(search, graph, node->outputs[0], depth + 1, err);
    if (node->op->fill && strcmp(node->op_type, "Gather"))
        narrow(search, &call, input);
    return PW_OK;
}

static pw_status follow(struct search *search, const struct pw_graph *graph, pw_value_id id, int depth,
                        struct pw_error *err)
{
    pw_status status = PW_OK;

    if (depth > MAX_DEPTH || search->visits >= MAX_VISITS)
        return PW_OK;
    search->visits++;
    for (size_t n = 0; n < graph->node_count && status == PW_OK; n++)
        for (size_t i = 0; i < graph->nodes[n].input_count && status == PW_OK; i++)
            if (graph->nodes[n].inputs[i] == id)
                status = read_by(search, graph, &graph->nodes[n], i, depth, err);
    return status;
}

pw_status pw_input_hint_find(const struct pw_inference *inference, const struct pw_graph *graph, pw_value_id id,
                             struct pw_input_hint *out, struct pw_error *err)
{
    struct search search = {.inference = inference, .hint = out};
    pw_status status = pw_dims_borrow(pw_inference_dims(inference), &search.dims, err);

    *out = (struct pw_input_hint){.low = INT64_MIN, .high = INT64_MAX, .float_low = -INFINITY, .float_high = INFINITY};
    if (status == PW_OK)
        status = follow(&search, graph, id, 0, err);
    for (size_t g = 1; g < pw_inference_graph_count(inference) && status == PW_OK; g++) { /* captured by bodies */
        const struct pw_graph *body = pw_inference_graph(inference, g);

        for (size_t v = 0; v < body->value_count && status == PW_OK; v++)
            if (body->values[v].outer && pw_graph_value_origin(&body->values[v]) == &graph->values[id])
                status = follow(&search, body, (pw_value_id)v, 1, err);
    }
    if (out->low == INT64_MIN)
        out->low = out->high < 0 ? out->high : 0;
    if (out->high == INT64_MAX)
        out->high = out->low > INT64_MAX - DEFAULT_HIGH ? INT64_MAX : out->low + DEFAULT_HIGH;
    pw_dims_destroy(search.dims);
    pw_arena_clear(&search.arena);
    return status;
}
