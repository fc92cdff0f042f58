/* The view of a graph that matchers use: kinds, producers, users, and what to see through. */
#include <math.h>
#include <string.h>

#include "graph/pattern.h"

#define SCALAR_ELEMENTS 64
#define STEPS 16

pw_match_kind pw_match_kind_of(const struct pw_match *m, const struct pw_node *node)
{
    return node == NULL ? PW_MATCH_OTHER : (pw_match_kind)m->kinds[node->index];
}

const struct pw_info *pw_match_info(const struct pw_match *m, pw_value_id id)
{
    return pw_inference_at(m->inf, m->graph, id);
}

const struct pw_node *pw_match_producer(const struct pw_match *m, pw_value_id id)
{
    const struct pw_node *node = id == PW_NO_VALUE ? NULL : m->graph->values[id].producer;

    return node == NULL || node->graph != m->graph || pw_inventory_is_constant(node) ? NULL : node;
}

pw_value_id pw_match_input(const struct pw_node *node, size_t i)
{
    return node == NULL || i >= node->input_count ? PW_NO_VALUE : node->inputs[i];
}

bool pw_match_is_transparent(pw_match_kind kind)
{
    return kind == PW_MATCH_CAST || kind == PW_MATCH_IDENTITY || kind == PW_MATCH_DROPOUT;
}

bool pw_match_is_layout(pw_match_kind kind)
{
    switch (kind) {
    case PW_MATCH_RESHAPE:
    case PW_MATCH_TRANSPOSE:
    case PW_MATCH_UNSQUEEZE:
    case PW_MATCH_SQUEEZE:
    case PW_MATCH_FLATTEN:
    case PW_MATCH_EXPAND:
    case PW_MATCH_TILE:
        return true;
    default:
        return pw_match_is_transparent(kind);
    }
}

static pw_value_id step_up(const struct pw_match *m, pw_value_id id, bool layout, struct pw_members *members)
{
    for (int step = 0; step < STEPS; step++) {
        const struct pw_node *node = pw_match_producer(m, id);
        pw_match_kind kind = pw_match_kind_of(m, node);

        if (node == NULL || !(layout ? pw_match_is_layout(kind) : pw_match_is_transparent(kind)) ||
            node->outputs[0] != id || pw_match_input(node, 0) == PW_NO_VALUE)
            break;
        pw_members_add(members, node);
        id = node->inputs[0];
    }
    return id;
}

pw_value_id pw_match_up(const struct pw_match *m, pw_value_id id, struct pw_members *members)
{
    return step_up(m, id, false, members);
}

pw_value_id pw_match_up_layout(const struct pw_match *m, pw_value_id id, struct pw_members *members)
{
    return step_up(m, id, true, members);
}

bool pw_match_scalar(const struct pw_match *m, pw_value_id id, double *value)
{
    const struct pw_tensor *t = id == PW_NO_VALUE ? NULL : pw_match_info(m, id)->constant;
    pw_dtype_kind kind;
    double first;

    if (t == NULL || t->count < 1 || t->count > SCALAR_ELEMENTS)
        return false;
    kind = pw_dtype_facts(t->dtype)->kind;
    if (kind == PW_KIND_STRING || kind == PW_KIND_COMPLEX || kind == PW_KIND_NONE)
        return false;
    first = pw_tensor_get(t, 0);
    for (int64_t i = 1; i < t->count; i++) {
        if (pw_tensor_get(t, i) != first)
            return false;
    }
    *value = first;
    return true;
}

size_t pw_match_user_count(const struct pw_match *m, pw_value_id id)
{
    return m->use_start[id + 1] - m->use_start[id];
}

const struct pw_node *pw_match_user(const struct pw_match *m, pw_value_id id, size_t i)
{
    return m->users[m->use_start[id] + i];
}

bool pw_match_other_operand(const struct pw_match *m, const struct pw_node *node, pw_value_id id, pw_value_id *other,
                            int *position)
{
    pw_value_id want = pw_match_up(m, id, NULL);

    if (node->input_count != 2 || node->inputs[0] == PW_NO_VALUE || node->inputs[1] == PW_NO_VALUE)
        return false;
    for (int i = 0; i < 2; i++) {
        if (pw_match_up(m, node->inputs[i], NULL) == want) {
            *other = node->inputs[1 - i];
            if (position != NULL)
                *position = i;
            return true;
        }
    }
    return false;
}

bool pw_match_square(const struct pw_match *m, pw_value_id id, pw_value_id *x, struct pw_members *members)
{
    struct pw_members passed = {.count = 0};
    const struct pw_node *node = pw_match_producer(m, pw_match_up(m, id, &passed));
    pw_match_kind kind = pw_match_kind_of(m, node);
    double power;
    pw_value_id base;

    if (kind != PW_MATCH_MUL && kind != PW_MATCH_POW)
        return false;
    base = pw_match_up(m, pw_match_input(node, 0), &passed);
    if (kind == PW_MATCH_POW && (!pw_match_scalar(m, pw_match_input(node, 1), &power) || power != 2.0))
        return false;
    if (kind == PW_MATCH_MUL && pw_match_up(m, pw_match_input(node, 1), &passed) != base)
        return false;
    pw_members_add(members, node);
    for (size_t i = 0; i < passed.count; i++)
        pw_members_add(members, passed.nodes[i]);
    *x = base;
    return true;
}

bool pw_match_difference(const struct pw_match *m, pw_value_id id, pw_value_id *a, pw_value_id *b,
                         struct pw_members *members)
{
    const struct pw_node *node = pw_match_producer(m, pw_match_up(m, id, NULL));
    pw_match_kind kind = pw_match_kind_of(m, node);

    if (kind == PW_MATCH_SUB) {
        *a = node->inputs[0];
        *b = pw_match_input(node, 1);
        pw_members_add(members, node);
        return true;
    }
    for (size_t i = 0; kind == PW_MATCH_ADD && i < 2; i++) {
        const struct pw_node *neg = pw_match_producer(m, pw_match_up(m, pw_match_input(node, i), NULL));

        if (pw_match_kind_of(m, neg) != PW_MATCH_NEG)
            continue;
        *a = pw_match_input(node, 1 - i);
        *b = pw_match_input(neg, 0);
        pw_members_add(members, node);
        pw_members_add(members, neg);
        return true;
    }
    return false;
}

void pw_members_add(struct pw_members *members, const struct pw_node *node)
{
    if (members == NULL || node == NULL || members->count == PW_MATCH_MEMBERS || pw_members_have(members, node))
        return;
    members->nodes[members->count++] = node;
}

bool pw_members_have(const struct pw_members *members, const struct pw_node *node)
{
    for (size_t i = 0; i < members->count; i++) {
        if (members->nodes[i] == node)
            return true;
    }
    return false;
}

bool pw_match_claimed(const struct pw_match *m, const struct pw_node *node)
{
    return m->inventory->node_pattern[pw_inference_node_number(m->inf, node)] >= 0;
}
