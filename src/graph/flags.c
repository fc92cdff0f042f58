/* Flags of signatures: work that only makes shapes, dims that vary, how fragile the numerics are. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "graph/infer_internal.h"
#include "graph/inventory_internal.h"
#include "graph/signature.h"

#define SMALL_FLOATS 16 /* a float detour of shape arithmetic (Cast, Mul, Floor, Cast) is that small */
#define OPERANDS_LISTED 8

bool pw_inventory_is_constant(const struct pw_node *node)
{
    return strcmp(node->op_type, "Constant") == 0 && (node->domain[0] == '\0' || strcmp(node->domain, "ai.onnx") == 0);
}

/* ---- shape arithmetic ---- */

struct shape_search {
    const struct pw_inference *inf;
    size_t *value_base; /* per graph: where its values start in the arrays */
    bool *data_use;     /* per value: some use is more than a shape */
    bool *used;         /* per value: has a use at all */
    bool *marks;        /* per node number */
};

static bool is_small(const struct pw_info *info)
{
    int64_t count = 1, most = pw_dtype_is_float(info->dtype) ? SMALL_FLOATS : PW_CONTENT_MAX;

    if (info->kind != PW_VALUE_TENSOR || info->rank < 0 || info->dtype == PW_DTYPE_STRING)
        return false;
    for (int d = 0; d < info->rank; d++) {
        if (info->dims[d] < 0 || info->dims[d] > most)
            return false;
        count *= info->dims[d];
        if (count > most)
            return false;
    }
    return true;
}

/* Looks at a tensor's shape only, so its own size does not matter. */
static bool reads_shape_only(const struct pw_node *node)
{
    return node->domain[0] == '\0' && (strcmp(node->op_type, "Shape") == 0 || strcmp(node->op_type, "Size") == 0);
}

static bool makes_shapes(const struct shape_search *s, const struct pw_node *node, size_t base)
{
    bool any = false;

    if (node->op == NULL || node->op->random || node->op->category == PW_CATEGORY_CONTROL ||
        pw_inventory_is_constant(node))
        return false;
    for (size_t i = 0; i < node->output_count; i++) {
        pw_value_id id = node->outputs[i];

        if (id == PW_NO_VALUE)
            continue;
        if (s->data_use[base + id] || !is_small(pw_inference_at(s->inf, node->graph, id)))
            return false;
        any = any || s->used[base + id];
    }
    for (size_t i = 0; i < node->input_count && !reads_shape_only(node); i++) {
        if (node->inputs[i] != PW_NO_VALUE && !is_small(pw_inference_at(s->inf, node->graph, node->inputs[i])))
            return false;
    }
    return any;
}

static void use_inputs(const struct shape_search *s, const struct pw_node *node, size_t base, bool shapes)
{
    for (size_t i = 0; i < node->input_count; i++) {
        const struct pw_formal *formal = node->op != NULL ? pw_op_formal(node->op->inputs, i) : NULL;
        bool param = formal != NULL && (formal->flags & PW_FORMAL_PARAM) != 0;

        if (node->inputs[i] == PW_NO_VALUE)
            continue;
        s->used[base + node->inputs[i]] = true;
        if (!shapes && !param)
            s->data_use[base + node->inputs[i]] = true;
    }
}

/* One graph, last node first; its captures tell the enclosing graph how they are used. */
static void search_graph(const struct shape_search *s, size_t g)
{
    const struct pw_graph *graph = pw_inference_graph(s->inf, g);
    size_t base = s->value_base[g], parent = 0;

    for (size_t i = 0; i < graph->output_count; i++)
        s->used[base + graph->outputs[i]] = s->data_use[base + graph->outputs[i]] = true;
    for (size_t n = graph->node_count; n-- > 0;) {
        const struct pw_node *node = &graph->nodes[n];
        bool shapes = makes_shapes(s, node, base);

        s->marks[pw_inference_node_number(s->inf, node)] = shapes;
        use_inputs(s, node, base, shapes);
    }
    if (graph->parent == NULL)
        return;
    parent = (size_t)(pw_infer_scope_of(s->inf, graph->parent) - s->inf->scopes);
    for (size_t i = 0; i < graph->value_count; i++) {
        const struct pw_graph_value *outer = graph->values[i].outer;
        size_t at = outer != NULL ? s->value_base[parent] + (size_t)(outer - graph->parent->values) : 0;

        if (outer != NULL && s->used[base + i])
            s->used[at] = true;
        if (outer != NULL && s->data_use[base + i])
            s->data_use[at] = true;
    }
}

pw_status pw_flags_shape_arithmetic(const struct pw_inference *inf, size_t node_count, bool **out, struct pw_error *err)
{
    size_t graphs = pw_inference_graph_count(inf), values = 0;
    struct shape_search s = {.inf = inf, .value_base = pw_calloc(graphs, sizeof *s.value_base)};
    pw_status status = PW_OK;

    for (size_t g = 0; s.value_base != NULL && g < graphs; g++) {
        s.value_base[g] = values;
        values += pw_inference_graph(inf, g)->value_count;
    }
    s.data_use = pw_calloc(values, sizeof *s.data_use);
    s.used = pw_calloc(values, sizeof *s.used);
    s.marks = pw_calloc(node_count, sizeof *s.marks);
    if (s.value_base == NULL || s.data_use == NULL || s.used == NULL || s.marks == NULL) {
        status = pw_error_memory(err, values * 2 + node_count);
        goto done;
    }
    for (size_t g = graphs; g-- > 0;) /* inner graphs come after outer ones in the list */
        search_graph(&s, g);
    *out = s.marks;
    s.marks = NULL;
done:
    pw_free(s.value_base);
    pw_free(s.data_use);
    pw_free(s.used);
    pw_free(s.marks);
    return status;
}

/* ---- dims that vary ---- */

struct symbol_text {
    struct pw_buf *out;
    const char *names[PW_MAX_RANK];
    int count;
};

static void put_symbol(void *user, const char *symbol)
{
    struct symbol_text *text = user;

    for (int i = 0; i < text->count; i++) {
        if (strcmp(text->names[i], symbol) == 0)
            return;
    }
    if (text->count == PW_MAX_RANK)
        return;
    pw_buf_printf(text->out, "%s%s", text->count > 0 ? ", " : ": ", symbol);
    text->names[text->count++] = symbol;
}

/* Appends "in 0 dims 0,1: batch, sequence" when any dim varies. */
static bool describe_operand(const struct pw_dims *dims, const char *side, int number, const struct pw_info *info,
                             struct pw_buf *out)
{
    struct symbol_text symbols = {.out = out};
    int listed = 0;

    if (info->kind == PW_VALUE_NONE && info->rank < 0) {
        pw_buf_printf(out, "%s%s %d unknown", out->size > 0 ? "; " : "", side, number);
        return true;
    }
    if (info->rank < 0) {
        pw_buf_printf(out, "%s%s %d rank unknown", out->size > 0 ? "; " : "", side, number);
        return true;
    }
    for (int d = 0; d < info->rank; d++) {
        if (info->dims[d] >= 0)
            continue;
        if (listed == 0)
            pw_buf_printf(out, "%s%s %d dims ", out->size > 0 ? "; " : "", side, number);
        pw_buf_printf(out, "%s%d", listed++ > 0 ? "," : "", d);
    }
    for (int d = 0; d < info->rank && listed > 0; d++) {
        if (info->dims[d] == PW_DIM_UNKNOWN)
            put_symbol(&symbols, "?");
        else
            pw_dims_symbols(dims, info->dims[d], put_symbol, &symbols);
    }
    return listed > 0;
}

struct fresh_search {
    const struct pw_call *call;
    bool found;
};

struct name_search {
    const char *name;
    bool found;
};

static void look_for(void *user, const char *symbol)
{
    struct name_search *wanted = user;

    if (strcmp(wanted->name, symbol) == 0)
        wanted->found = true;
}

static void look_at_output(void *user, const char *symbol)
{
    struct fresh_search *search = user;
    struct name_search wanted = {symbol, false};

    if (strchr(symbol, '#') == NULL)
        return;
    for (int i = 0; i < search->call->input_count && !wanted.found; i++) {
        const struct pw_info *info = search->call->in[i];

        for (int d = 0; info != NULL && d < info->rank && !wanted.found; d++)
            pw_dims_symbols(search->call->dims, info->dims[d], look_for, &wanted);
        for (size_t c = 0; info != NULL && info->content != NULL && c < info->content_count && !wanted.found; c++)
            pw_dims_symbols(search->call->dims, info->content[c], look_for, &wanted);
    }
    search->found = search->found || !wanted.found;
}

/* Does a known operator make a size that no input's shape gives? */
static bool depends_on_data(const struct pw_call *call)
{
    struct fresh_search search = {.call = call};
    bool inputs_known = call->op != NULL;

    for (int i = 0; i < call->input_count; i++)
        inputs_known = inputs_known && (call->in[i] == NULL || call->in[i]->rank >= 0);
    for (int i = 0; i < call->output_count && inputs_known && !search.found; i++) {
        const struct pw_info *info = &call->out[i];

        if (!call->wanted[i])
            continue;
        if (info->rank < 0 && info->kind == PW_VALUE_TENSOR)
            return true;
        for (int d = 0; d < info->rank; d++)
            pw_dims_symbols(call->dims, info->dims[d], look_at_output, &search);
    }
    return search.found;
}

pw_status pw_flags_dynamic(struct pw_inventory *inventory, struct pw_signature *signature, struct pw_error *err)
{
    const struct pw_call *call = signature->call;
    struct pw_buf text = {0};
    int listed = 0;

    for (int i = 0; i < call->input_count && listed < OPERANDS_LISTED; i++) {
        if (call->in[i] != NULL)
            listed += describe_operand(call->dims, "in", i, call->in[i], &text);
    }
    for (int i = 0; i < call->output_count && listed < OPERANDS_LISTED; i++) {
        if (call->wanted[i])
            listed += describe_operand(call->dims, "out", i, &call->out[i], &text);
    }
    signature->data_dependent = depends_on_data(call);
    signature->dynamic = listed > 0;
    if (signature->data_dependent)
        pw_buf_printf(&text, "%soutput size depends on data", text.size > 0 ? "; " : "");
    signature->dynamic_reason = pw_arena_strndup(&inventory->arena, pw_buf_text(&text), text.size);
    pw_buf_clear(&text);
    return signature->dynamic_reason == NULL ? pw_error_memory(err, 1) : PW_OK;
}

/* ---- sensitivity ---- */

void pw_flags_sensitivity(struct pw_signature *signature)
{
    static const char *const by_level[] = {"one rounding an element", "several roundings an element",
                                           "ill-conditioned for some inputs"};
    struct pw_accuracy accuracy = {.ulp = 1, .length = 1, .amplification = 1};

    if (signature->op == NULL) {
        signature->sensitivity = PW_SENSITIVITY_MEDIUM;
        signature->sensitivity_reason = "unknown operator: nothing is known of its numerics";
        return;
    }
    if (signature->op->accuracy != NULL)
        signature->op->accuracy(signature->call, &accuracy);
    else
        accuracy.exact = !signature->floating;
    signature->sensitivity = accuracy.sensitivity;
    if ((unsigned)signature->sensitivity > PW_SENSITIVITY_HIGH)
        signature->sensitivity = PW_SENSITIVITY_HIGH;
    if (accuracy.reason != NULL)
        signature->sensitivity_reason = accuracy.reason;
    else if (accuracy.exact)
        signature->sensitivity_reason = signature->floating ? "copies bits" : "integers and booleans are exact";
    else
        signature->sensitivity_reason = by_level[signature->sensitivity];
}
