/*
 * Attention, around a Softmax over the last axis: its input comes from a product of two activations
 * (over scale, mask, soft cap in any order), its output goes into another. Keys and values are then
 * followed upwards for what a person asks: how many heads, are they shared (grouped KV), is there a
 * cache. A router's or a classifier's Softmax has no such products around it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/pattern.h"

#define SEARCH_DEPTH 14
#define SEARCH_NODES 64
#define PATH_STEPS 16

struct attention {
    struct pw_match *m;
    struct pw_members members;
    const struct pw_node *scores;  /* the first product */
    const struct pw_node *context; /* the second one */
    bool mask;
    bool cache;
    int64_t heads, kv_heads; /* 0 unknown */
};

/* ---- products of activations ---- */

static bool varies(const struct pw_match *m, pw_value_id id)
{
    return id != PW_NO_VALUE && !pw_match_info(m, id)->fixed;
}

static bool is_product(const struct pw_match *m, const struct pw_node *node)
{
    pw_match_kind kind = pw_match_kind_of(m, node);

    return (kind == PW_MATCH_MATMUL || kind == PW_MATCH_EINSUM) && node->input_count == 2 &&
           varies(m, node->inputs[0]) && varies(m, node->inputs[1]) && pw_match_info(m, node->inputs[0])->rank != 1 &&
           pw_match_info(m, node->inputs[1])->rank != 1;
}

static bool is_one_element(const struct pw_match *m, pw_value_id id)
{
    const struct pw_info *info;
    double scalar;

    if (id == PW_NO_VALUE || pw_match_scalar(m, id, &scalar))
        return id != PW_NO_VALUE;
    info = pw_match_info(m, id);
    for (int d = 0; d < info->rank; d++) {
        if (info->dims[d] != 1)
            return false;
    }
    return info->rank >= 0;
}

/* ---- up from the Softmax ---- */

struct search {
    const struct pw_match *m;
    int budget;
};

static bool find_scores(struct search *s, pw_value_id id, int depth, struct attention *a);

/* Tries one operand of a node; what was found on a way that ends nowhere is forgotten. */
static bool try_operand(struct search *s, const struct pw_node *node, size_t i, int depth, bool mask,
                        struct attention *a)
{
    size_t count = a->members.count;
    bool was = a->mask;

    pw_members_add(&a->members, node);
    a->mask = a->mask || mask;
    if (find_scores(s, pw_match_input(node, i), depth + 1, a))
        return true;
    a->members.count = count;
    a->mask = was;
    return false;
}

/* Any operand that leads to the scores; the other one is then a scale, when it is one element, or a mask. */
static bool try_operands(struct search *s, const struct pw_node *node, int depth, struct attention *a)
{
    for (size_t i = 0; i < 2 && i < node->input_count; i++) {
        if (try_operand(s, node, i, depth, !is_one_element(s->m, pw_match_input(node, 1 - i)), a))
            return true;
    }
    return false;
}

static bool find_scores(struct search *s, pw_value_id id, int depth, struct attention *a)
{
    const struct pw_node *node = pw_match_producer(s->m, id);
    pw_match_kind kind = pw_match_kind_of(s->m, node);

    if (node == NULL || depth > SEARCH_DEPTH || s->budget-- <= 0)
        return false;
    if (is_product(s->m, node)) {
        pw_members_add(&a->members, node);
        a->scores = node;
        return true;
    }
    if (pw_match_is_layout(kind))
        return try_operand(s, node, 0, depth, false, a);
    switch (kind) {
    case PW_MATCH_ADD:
    case PW_MATCH_SUB:
    case PW_MATCH_MUL:
        return try_operands(s, node, depth, a);
    case PW_MATCH_DIV:
    case PW_MATCH_MAX:
    case PW_MATCH_MIN:
        return is_one_element(s->m, pw_match_input(node, 1)) && try_operand(s, node, 0, depth, false, a);
    case PW_MATCH_CLIP:
    case PW_MATCH_TANH: /* a soft cap */
        return try_operand(s, node, 0, depth, false, a);
    case PW_MATCH_WHERE:
        return try_operand(s, node, 2, depth, true, a) || try_operand(s, node, 1, depth, true, a);
    default:
        return false;
    }
}

/* ---- down from the Softmax ---- */

/* The product that uses the probabilities, over Cast, Dropout, layout, a guard against empty rows, a head mask. */
static bool find_context(struct attention *a, pw_value_id id)
{
    const struct pw_match *m = a->m;

    for (int step = 0; step < SEARCH_DEPTH; step++) {
        const struct pw_node *next = NULL;

        for (size_t i = 0; i < pw_match_user_count(m, id); i++) {
            const struct pw_node *user = pw_match_user(m, id, i);
            pw_match_kind kind = pw_match_kind_of(m, user);

            if (is_product(m, user)) {
                pw_members_add(&a->members, user);
                a->context = user;
                return true;
            }
            if (next == NULL &&
                ((pw_match_is_layout(kind) && user->inputs[0] == id) || kind == PW_MATCH_WHERE || kind == PW_MATCH_MUL))
                next = user;
        }
        if (next == NULL)
            return false;
        pw_members_add(&a->members, next);
        id = next->outputs[0];
    }
    return false;
}

/* ---- keys and values ---- */

/* Does a value come from an input of the graph, over layout and pieces? Then a Concat with it appends to a cache. */
static bool is_past(const struct pw_match *m, pw_value_id id)
{
    for (int step = 0; step < PATH_STEPS && id != PW_NO_VALUE; step++) {
        const struct pw_node *node;
        pw_match_kind kind;

        if (m->graph->values[id].is_input)
            return true;
        node = pw_match_producer(m, id);
        kind = pw_match_kind_of(m, node);
        if (node == NULL ||
            !(pw_match_is_layout(kind) || kind == PW_MATCH_SLICE || kind == PW_MATCH_SPLIT || kind == PW_MATCH_GATHER))
            return false;
        id = node->inputs[0];
    }
    return false;
}

static bool appends_to_cache(const struct pw_match *m, const struct pw_node *node)
{
    const struct pw_info *info = pw_match_info(m, node->outputs[0]);

    if (info->rank < 3 || node->input_count != 2)
        return false;
    return is_past(m, node->inputs[0]) || is_past(m, node->inputs[1]);
}

/* Writes new keys or values into a buffer that the graph was given. */
static bool writes_cache(const struct pw_match *m, const struct pw_node *node)
{
    static const char *const writers[] = {"ScatterElements", "ScatterND", "TensorScatter"};

    for (size_t i = 0; node != NULL && i < sizeof writers / sizeof *writers; i++) {
        if (strcmp(node->op_type, writers[i]) == 0)
            return is_past(m, pw_match_input(node, 0));
    }
    return false;
}

static int64_t number(const struct pw_match *m, pw_dim dim)
{
    int64_t value;

    return pw_dims_value(pw_inference_dims(m->inf), dim, &value) ? value : 0;
}

/* Heads of a key or value tensor before it is repeated: dim 1 of [batch, heads, sequence, width]. */
static void note_kv_heads(struct attention *a, pw_value_id id)
{
    const struct pw_info *info = pw_match_info(a->m, id);

    if (info->rank == 4)
        a->kv_heads = number(a->m, info->dims[1]);
}

/* Up from a product's operand: layout, scale, repetition, cache. Joins the members. */
static void follow_operand(struct attention *a, pw_value_id id, bool kv)
{
    const struct pw_match *m = a->m;

    for (int step = 0; step < PATH_STEPS; step++) {
        const struct pw_node *node = pw_match_producer(m, id);
        pw_match_kind kind = pw_match_kind_of(m, node);

        if (node == NULL || pw_match_claimed(m, node))
            return;
        if (kv && (kind == PW_MATCH_EXPAND || kind == PW_MATCH_TILE)) {
            pw_members_add(&a->members, node);
            id = pw_match_up_layout(m, node->inputs[0], &a->members);
            note_kv_heads(a, id);
            continue;
        }
        if (kv && ((kind == PW_MATCH_CONCAT && appends_to_cache(m, node)) || writes_cache(m, node))) {
            a->cache = true;
            pw_members_add(&a->members, node);
            if (a->kv_heads == 0)
                note_kv_heads(a, node->outputs[0]);
            return;
        }
        if ((kind == PW_MATCH_MUL || kind == PW_MATCH_DIV) && is_one_element(m, pw_match_input(node, 1))) {
            pw_members_add(&a->members, node);
            id = node->inputs[0];
            continue;
        }
        if (!pw_match_is_layout(kind))
            return;
        pw_members_add(&a->members, node);
        id = node->inputs[0];
    }
}

/* Transposes and reshapes that bring the heads together again. */
static void follow_result(struct attention *a)
{
    pw_value_id id = a->context->outputs[0];

    for (int step = 0; step < 4 && pw_match_user_count(a->m, id) == 1; step++) {
        const struct pw_node *user = pw_match_user(a->m, id, 0);

        if (!pw_match_is_layout(pw_match_kind_of(a->m, user)) || user->inputs[0] != id || pw_match_claimed(a->m, user))
            return;
        pw_members_add(&a->members, user);
        id = user->outputs[0];
    }
}

static void count_heads(struct attention *a)
{
    const struct pw_info *info = pw_match_info(a->m, a->scores->outputs[0]);

    if (info->rank == 4) {
        a->heads = number(a->m, info->dims[1]);
    } else if (info->rank == 5) { /* [batch, kv heads, group, sequence, sequence] */
        a->heads = number(a->m, info->dims[1]) * number(a->m, info->dims[2]);
        a->kv_heads = number(a->m, info->dims[1]);
    }
}

static void describe(const struct attention *a, char *dst, size_t size)
{
    struct pw_buf text = {0};

    if (a->heads > 0)
        pw_buf_printf(&text, "%" PRId64 " heads", a->heads);
    if (a->mask)
        pw_buf_printf(&text, "%smask", text.size > 0 ? ", " : "");
    if (a->cache)
        pw_buf_printf(&text, "%scache", text.size > 0 ? ", " : "");
    if (a->kv_heads > 0 && a->heads > a->kv_heads && a->heads % a->kv_heads == 0)
        pw_buf_printf(&text, "%sgrouped KV %" PRId64 ":1", text.size > 0 ? ", " : "", a->heads / a->kv_heads);
    snprintf(dst, size, "%s", pw_buf_text(&text));
    pw_buf_clear(&text);
}

/* ---- anchors ---- */

static bool is_over_last_axis(const struct pw_match *m, const struct pw_node *node)
{
    const struct pw_attr *attr = pw_node_attr(node, "axis");
    int rank = pw_match_info(m, node->inputs[0])->rank;
    int64_t axis = attr != NULL && attr->type == PW_ATTR_INT ? attr->i : node->opset < 13 ? 1 : -1;

    return rank != 1 && (axis == -1 || (rank > 1 && axis == rank - 1));
}

static bool match_softmax(struct attention *a, const struct pw_node *softmax)
{
    struct search search = {.m = a->m, .budget = SEARCH_NODES};
    const struct pw_node *context;
    size_t probabilities;

    pw_members_add(&a->members, softmax);
    if (!is_over_last_axis(a->m, softmax) || !find_scores(&search, softmax->inputs[0], 0, a) ||
        !find_context(a, softmax->outputs[0]))
        return false;
    count_heads(a);
    context = a->context;
    /* The side of the second product that does not come from the Softmax is the values. */
    probabilities = 1;
    for (pw_value_id id = context->inputs[0]; id != PW_NO_VALUE;) {
        const struct pw_node *node = pw_match_producer(a->m, id);

        if (node == softmax)
            probabilities = 0;
        if (node == NULL || node == softmax || !pw_members_have(&a->members, node))
            break;
        id = pw_match_input(node, pw_match_kind_of(a->m, node) == PW_MATCH_WHERE ? 2 : 0);
    }
    follow_operand(a, a->scores->inputs[0], false);
    follow_operand(a, a->scores->inputs[1], true);
    follow_operand(a, context->inputs[1 - probabilities], true);
    follow_result(a);
    return true;
}

pw_status pw_match_attention(struct pw_match *m, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (size_t i = 0; i < m->graph->node_count && status == PW_OK; i++) {
        const struct pw_node *node = &m->graph->nodes[i];
        struct attention a;
        char details[128];

        if (pw_match_kind_of(m, node) != PW_MATCH_SOFTMAX || pw_match_claimed(m, node))
            continue;
        a = (struct attention){.m = m};
        if (!match_softmax(&a, node))
            continue;
        describe(&a, details, sizeof details);
        status = pw_match_report(m, PW_PATTERN_ATTENTION, &a.members, details, -1, NULL, err);
    }
    return status;
}
