/* The pattern search: builds the view of each graph, runs the matchers, orders and names the finds. */
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text.h"
#include "graph/pattern.h"
#include "graph/signature.h"

static const char *const pattern_names[PW_PATTERN_COUNT] = {
    [PW_PATTERN_ATTENTION] = "attention", [PW_PATTERN_LAYERNORM] = "LayerNorm",   [PW_PATTERN_RMSNORM] = "RMSNorm",
    [PW_PATTERN_GELU_ERF] = "GELU (erf)", [PW_PATTERN_GELU_TANH] = "GELU (tanh)", [PW_PATTERN_SILU] = "SiLU",
    [PW_PATTERN_SWIGLU] = "SwiGLU",       [PW_PATTERN_ROTARY] = "rotary",
};

const char *pw_pattern_name(pw_pattern_kind kind)
{
    return (int)kind >= 0 && (int)kind < PW_PATTERN_COUNT ? pattern_names[kind] : "pattern";
}

/* ---- the view ---- */

static const struct {
    const char *name;
    pw_match_kind kind;
} kind_table[] = {
    /* by name, for bsearch */
    {"Abs", PW_MATCH_ABS},
    {"Add", PW_MATCH_ADD},
    {"Cast", PW_MATCH_CAST},
    {"CastLike", PW_MATCH_CAST},
    {"Clip", PW_MATCH_CLIP},
    {"Concat", PW_MATCH_CONCAT},
    {"Conv", PW_MATCH_CONV},
    {"Div", PW_MATCH_DIV},
    {"Dropout", PW_MATCH_DROPOUT},
    {"Einsum", PW_MATCH_EINSUM},
    {"Erf", PW_MATCH_ERF},
    {"Exp", PW_MATCH_EXP},
    {"Expand", PW_MATCH_EXPAND},
    {"Flatten", PW_MATCH_FLATTEN},
    {"Gather", PW_MATCH_GATHER},
    {"Gemm", PW_MATCH_GEMM},
    {"Identity", PW_MATCH_IDENTITY},
    {"MatMul", PW_MATCH_MATMUL},
    {"Max", PW_MATCH_MAX},
    {"Min", PW_MATCH_MIN},
    {"Mul", PW_MATCH_MUL},
    {"Neg", PW_MATCH_NEG},
    {"Pow", PW_MATCH_POW},
    {"Reciprocal", PW_MATCH_RECIPROCAL},
    {"ReduceMean", PW_MATCH_REDUCE_MEAN},
    {"ReduceSum", PW_MATCH_REDUCE_SUM},
    {"ReduceSumSquare", PW_MATCH_REDUCE_SUM_SQUARE},
    {"Relu", PW_MATCH_RELU},
    {"Reshape", PW_MATCH_RESHAPE},
    {"Sigmoid", PW_MATCH_SIGMOID},
    {"Slice", PW_MATCH_SLICE},
    {"Softmax", PW_MATCH_SOFTMAX},
    {"Split", PW_MATCH_SPLIT},
    {"Sqrt", PW_MATCH_SQRT},
    {"Squeeze", PW_MATCH_SQUEEZE},
    {"Sub", PW_MATCH_SUB},
    {"Sum", PW_MATCH_SUM},
    {"Tanh", PW_MATCH_TANH},
    {"Tile", PW_MATCH_TILE},
    {"Transpose", PW_MATCH_TRANSPOSE},
    {"Unsqueeze", PW_MATCH_UNSQUEEZE},
    {"Where", PW_MATCH_WHERE},
};

static pw_match_kind find_kind(const struct pw_node *node)
{
    size_t low = 0, high = PW_COUNT_OF(kind_table);

    if (node->domain[0] != '\0' || node->output_count == 0)
        return PW_MATCH_OTHER;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(kind_table[middle].name, node->op_type);

        if (order == 0)
            return kind_table[middle].kind;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return PW_MATCH_OTHER;
}

static void close_view(struct pw_match *m)
{
    pw_free(m->kinds);
    pw_free(m->use_start);
    pw_free(m->users);
    m->kinds = NULL;
    m->use_start = NULL;
    m->users = NULL;
}

static pw_status open_view(struct pw_match *m, const struct pw_graph *graph, struct pw_error *err)
{
    size_t total = 0;
    uint32_t *next = NULL;

    for (size_t n = 0; n < graph->node_count; n++)
        total += graph->nodes[n].input_count;
    if (total > UINT32_MAX)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "a graph with more than 2^32 inputs of nodes");
    m->graph = graph;
    m->kinds = pw_calloc(graph->node_count, sizeof *m->kinds);
    m->use_start = pw_calloc(graph->value_count + 2, sizeof *m->use_start);
    m->users = pw_calloc(total, sizeof *m->users);
    if (m->kinds == NULL || m->use_start == NULL || m->users == NULL)
        return pw_error_memory(err, total * sizeof *m->users);
    next = m->use_start + 1; /* counts first, then shifted into place by one pass of filling */
    for (size_t n = 0; n < graph->node_count; n++) {
        const struct pw_node *node = &graph->nodes[n];

        m->kinds[n] = (uint8_t)find_kind(node);
        for (size_t i = 0; i < node->input_count; i++) {
            if (node->inputs[i] != PW_NO_VALUE)
                next[node->inputs[i] + 1]++;
        }
    }
    for (size_t v = 0; v < graph->value_count; v++)
        next[v + 1] += next[v];
    for (size_t n = 0; n < graph->node_count; n++) {
        const struct pw_node *node = &graph->nodes[n];

        for (size_t i = 0; i < node->input_count; i++) {
            if (node->inputs[i] != PW_NO_VALUE)
                m->users[next[node->inputs[i]]++] = node;
        }
    }
    return PW_OK;
}

/* ---- reports ---- */

static int compare_nodes(const void *a, const void *b)
{
    const struct pw_node *x = *(const struct pw_node *const *)a, *y = *(const struct pw_node *const *)b;

    return (x->index > y->index) - (x->index < y->index);
}

pw_status pw_match_report(struct pw_match *m, pw_pattern_kind kind, const struct pw_members *members,
                          const char *details, int part, int *index, struct pw_error *err)
{
    struct pw_inventory *inventory = m->inventory;
    const struct pw_node **nodes = pw_arena_alloc(&inventory->arena, members->count, sizeof *nodes);
    struct pw_pattern *pattern;
    size_t count = 0, own = 0;

    if (nodes == NULL)
        return pw_error_memory(err, members->count * sizeof *nodes);
    for (size_t i = 0; i < members->count; i++) {
        int *claim = &inventory->node_pattern[pw_inference_node_number(m->inf, members->nodes[i])];

        if (pw_inventory_is_constant(members->nodes[i]) || (*claim >= 0 && *claim != part))
            continue;
        nodes[count++] = members->nodes[i];
        own += *claim < 0;
    }
    if (own == 0)
        return PW_OK;
    if (inventory->pattern_count == m->pattern_cap) {
        size_t cap = m->pattern_cap == 0 ? 32 : m->pattern_cap * 2;
        struct pw_pattern *grown = pw_arena_alloc(&inventory->arena, cap, sizeof *grown);

        if (grown == NULL)
            return pw_error_memory(err, cap * sizeof *grown);
        if (inventory->pattern_count > 0)
            memcpy(grown, inventory->patterns, inventory->pattern_count * sizeof *grown);
        inventory->patterns = grown;
        m->pattern_cap = cap;
    }
    qsort(nodes, count, sizeof *nodes, compare_nodes);
    pattern = &inventory->patterns[inventory->pattern_count];
    *pattern = (struct pw_pattern){.kind = kind, .nodes = nodes, .node_count = count, .parent = -1};
    pattern->details = pw_arena_strndup(&inventory->arena, details, strlen(details));
    if (pattern->details == NULL)
        return pw_error_memory(err, strlen(details));
    for (size_t i = 0; i < count; i++) {
        if (!pw_match_claimed(m, nodes[i]))
            inventory->node_pattern[pw_inference_node_number(m->inf, nodes[i])] = (int)inventory->pattern_count;
    }
    if (part >= 0)
        inventory->patterns[part].parent = (int)inventory->pattern_count;
    if (index != NULL)
        *index = (int)inventory->pattern_count;
    inventory->pattern_count++;
    return PW_OK;
}

/* ---- order ---- */

struct ordered {
    size_t number; /* of the first node */
    int old;
    bool part;
};

static int compare_ordered(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;

    if (x->part != y->part)
        return x->part - y->part;
    if (x->number != y->number)
        return (x->number > y->number) - (x->number < y->number);
    return x->old - y->old;
}

/* Top-level patterns in graph order, then the parts of them. */
static pw_status order_patterns(struct pw_inventory *inventory, struct pw_error *err)
{
    size_t count = inventory->pattern_count;
    struct ordered *order = pw_calloc(count, sizeof *order);
    int *place = pw_calloc(count, sizeof *place);
    struct pw_pattern *sorted = pw_arena_alloc(&inventory->arena, count, sizeof *sorted);

    if (order == NULL || place == NULL || sorted == NULL) {
        pw_free(order);
        pw_free(place);
        return pw_error_memory(err, count * sizeof *sorted);
    }
    for (size_t i = 0; i < count; i++) {
        const struct pw_pattern *pattern = &inventory->patterns[i];

        order[i] = (struct ordered){pw_inference_node_number(inventory->inference, pattern->nodes[0]), (int)i,
                                    pattern->parent >= 0};
    }
    qsort(order, count, sizeof *order, compare_ordered);
    for (size_t i = 0; i < count; i++)
        place[order[i].old] = (int)i;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = inventory->patterns[order[i].old];
        if (sorted[i].parent >= 0)
            sorted[i].parent = place[sorted[i].parent];
    }
    for (size_t n = 0; n < inventory->node_number_count; n++) {
        if (inventory->node_pattern[n] >= 0)
            inventory->node_pattern[n] = place[inventory->node_pattern[n]];
    }
    inventory->patterns = sorted;
    pw_free(order);
    pw_free(place);
    return PW_OK;
}

/* ---- texts ---- */

static bool is_member(const struct pw_inventory *inventory, int pattern, const struct pw_node *node)
{
    int p;

    if (node == NULL)
        return false;
    p = inventory->node_pattern[pw_inference_node_number(inventory->inference, node)];
    return p == pattern || (p >= 0 && inventory->patterns[p].parent == pattern);
}

struct boundary {
    pw_value_id ids[64];
    size_t count;
};

static void add_boundary(struct boundary *b, pw_value_id id)
{
    for (size_t i = 0; i < b->count; i++) {
        if (b->ids[i] == id)
            return;
    }
    if (b->count < PW_COUNT_OF(b->ids))
        b->ids[b->count++] = id;
}

/* Values that enter and leave a set of members; settings (small constants) do not count. */
static void find_boundary(const struct pw_match *m, int index, struct boundary *in, struct boundary *out)
{
    const struct pw_inventory *inventory = m->inventory;
    const struct pw_pattern *pattern = &inventory->patterns[index];

    for (size_t n = 0; n < pattern->node_count; n++) {
        const struct pw_node *node = pattern->nodes[n];

        for (size_t i = 0; i < node->input_count; i++) {
            pw_value_id id = node->inputs[i];
            const struct pw_formal *formal = node->op != NULL ? pw_op_formal(node->op->inputs, i) : NULL;

            if (id != PW_NO_VALUE && !(formal != NULL && (formal->flags & PW_FORMAL_PARAM) != 0) &&
                !pw_signature_has_value(node, i, pw_match_info(m, id)) &&
                !is_member(inventory, index, pw_match_producer(m, id)))
                add_boundary(in, id);
        }
        for (size_t i = 0; i < node->output_count; i++) {
            pw_value_id id = node->outputs[i];
            bool leaves = id != PW_NO_VALUE && m->graph->values[id].is_output;

            for (size_t u = 0; id != PW_NO_VALUE && u < pw_match_user_count(m, id) && !leaves; u++)
                leaves = !is_member(inventory, index, pw_match_user(m, id, u));
            if (leaves)
                add_boundary(out, id);
        }
    }
}

static void put_boundary(const struct pw_match *m, const struct boundary *b, struct pw_buf *out)
{
    const struct pw_dims *dims = pw_inference_dims(m->inf);

    pw_buf_putc(out, '(');
    for (size_t i = 0; i < b->count; i++) {
        const struct pw_info *info = pw_match_info(m, b->ids[i]);

        pw_buf_printf(out, "%s%s", i > 0 ? ", " : "", info->fixed ? "const " : "");
        pw_signature_type(dims, info, out);
    }
    pw_buf_putc(out, ')');
}

static pw_status name_pattern(const struct pw_match *m, int index, struct pw_error *err)
{
    struct pw_inventory *inventory = m->inventory;
    struct pw_pattern *pattern = &inventory->patterns[index];
    struct boundary in = {.count = 0}, out = {.count = 0};
    struct pw_buf text = {0};

    find_boundary(m, index, &in, &out);
    pw_buf_printf(&text, "%s%s%s ", pw_pattern_name(pattern->kind), pattern->details[0] != '\0' ? " " : "",
                  pattern->details);
    put_boundary(m, &in, &text);
    pw_buf_puts(&text, " -> ");
    put_boundary(m, &out, &text);
    pw_signature_id(pw_buf_text(&text), text.size, pattern->id);
    pattern->text = pw_arena_strndup(&inventory->arena, pw_buf_text(&text), text.size);
    if (text.failed || pattern->text == NULL) {
        pw_buf_clear(&text);
        return pw_error_memory(err, 1);
    }
    pw_buf_clear(&text);
    return PW_OK;
}

/* ---- the search ---- */

static pw_status search_graph(struct pw_match *m, struct pw_error *err)
{
    static pw_status (*const matchers[])(struct pw_match *, struct pw_error *) = {
        pw_match_fused, pw_match_norms, pw_match_activations, pw_match_rotary, pw_match_attention,
    };
    pw_status status = PW_OK;

    for (size_t i = 0; i < PW_COUNT_OF(matchers) && status == PW_OK; i++) {
        status = pw_progress_step(0, err);
        if (status == PW_OK)
            status = matchers[i](m, err);
    }
    return status;
}

/* Texts need the whole list in its final order. Patterns of one graph lie together, but for the parts. */
static pw_status name_patterns(struct pw_inventory *inventory, struct pw_error *err)
{
    struct pw_match m = {.inventory = inventory, .inf = inventory->inference};
    pw_status status = PW_OK;

    for (size_t p = 0; p < inventory->pattern_count && status == PW_OK; p++) {
        const struct pw_graph *graph = inventory->patterns[p].nodes[0]->graph;

        if (graph != m.graph) {
            close_view(&m);
            status = open_view(&m, graph, err);
        }
        if (status == PW_OK)
            status = name_pattern(&m, (int)p, err);
    }
    close_view(&m);
    return status;
}

pw_status pw_patterns_find(const struct pw_model *model, const struct pw_inference *inference,
                           struct pw_inventory *inventory, struct pw_error *err)
{
    struct pw_match m = {.inventory = inventory, .inf = inference};
    pw_status status = PW_OK;

    (void)model;
    pw_progress_phase("looking for patterns", "nodes", inventory->node_number_count);
    for (size_t g = 0; g < pw_inference_graph_count(inference) && status == PW_OK; g++) {
        status = open_view(&m, pw_inference_graph(inference, g), err);
        if (status == PW_OK)
            status = search_graph(&m, err);
        if (status == PW_OK)
            status = pw_progress_step(pw_inference_graph(inference, g)->node_count, err);
        close_view(&m);
    }
    if (status == PW_OK)
        status = order_patterns(inventory, err);
    return status == PW_OK ? name_patterns(inventory, err) : status;
}
