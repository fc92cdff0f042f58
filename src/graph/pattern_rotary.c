/*
 * Rotary position embedding, applied once to one tensor. Two spellings:
 *   x * cos + rotate(x) * sin, where rotate(x) = Concat(-second half of x, first half)
 *   (a * cos - b * sin, b * cos + a * sin), where a and b are parts of x, joined again afterwards.
 */
#include "graph/pattern.h"

/* The tensor that a value is a part of: over Slice, Split, Gather and what moves elements. */
static pw_value_id whole_of(const struct pw_match *m, pw_value_id id, bool *part, struct pw_members *members)
{
    *part = false;
    for (int step = 0; step < 8; step++) {
        const struct pw_node *node;
        pw_match_kind kind;

        id = pw_match_up_layout(m, id, members);
        node = pw_match_producer(m, id);
        kind = pw_match_kind_of(m, node);
        if (kind != PW_MATCH_SLICE && kind != PW_MATCH_SPLIT && kind != PW_MATCH_GATHER)
            break;
        if (*part && kind != PW_MATCH_GATHER) /* a slice of a slice: what is sliced is x */
            break;
        *part = true;
        pw_members_add(members, node);
        id = node->inputs[0];
        if (kind != PW_MATCH_GATHER)
            break;
    }
    return pw_match_up(m, id, NULL);
}

/* Concat(Neg(part of x), part of x), in this order. */
static bool is_rotated(const struct pw_match *m, pw_value_id id, pw_value_id *x, struct pw_members *members)
{
    const struct pw_node *concat = pw_match_producer(m, pw_match_up_layout(m, id, members));
    const struct pw_node *neg;
    pw_value_id of_second, of_first;
    bool part_a, part_b;

    if (pw_match_kind_of(m, concat) != PW_MATCH_CONCAT || concat->input_count != 2)
        return false;
    neg = pw_match_producer(m, pw_match_up_layout(m, concat->inputs[0], members));
    if (pw_match_kind_of(m, neg) == PW_MATCH_MUL) { /* a product with -1 */
        double scalar;

        if (!pw_match_scalar(m, pw_match_input(neg, 1), &scalar) || scalar != -1.0)
            return false;
    } else if (pw_match_kind_of(m, neg) != PW_MATCH_NEG) {
        return false;
    }
    of_second = whole_of(m, neg->inputs[0], &part_a, members);
    of_first = whole_of(m, concat->inputs[1], &part_b, members);
    if (!part_a || !part_b || of_second != of_first)
        return false;
    pw_members_add(members, concat);
    pw_members_add(members, neg);
    *x = of_second;
    return true;
}

static const struct pw_node *product_of(const struct pw_match *m, pw_value_id id, struct pw_members *members)
{
    const struct pw_node *node = pw_match_producer(m, pw_match_up(m, id, members));

    return pw_match_kind_of(m, node) == PW_MATCH_MUL && node->input_count == 2 ? node : NULL;
}

/* One factor comes from x (seen through layout), the other does not matter: cos or sin, computed or stored. */
static bool has_factor(const struct pw_match *m, const struct pw_node *product, pw_value_id x)
{
    for (size_t i = 0; i < 2; i++) {
        if (pw_match_up(m, product->inputs[i], NULL) == x ||
            pw_match_up_layout(m, product->inputs[i], NULL) == pw_match_up_layout(m, x, NULL))
            return true;
    }
    return false;
}

/* Add(Mul(x, cos), Mul(rotated x, sin)). */
static bool match_halves(const struct pw_match *m, const struct pw_node *add, struct pw_members *members)
{
    for (size_t side = 0; side < 2; side++) {
        struct pw_members found = {.count = 0};
        const struct pw_node *rotated = product_of(m, add->inputs[side], &found);
        const struct pw_node *plain = product_of(m, add->inputs[1 - side], &found);

        if (rotated == NULL || plain == NULL)
            continue;
        for (size_t i = 0; i < 2; i++) {
            struct pw_members attempt = found;
            pw_value_id x;

            if (!is_rotated(m, rotated->inputs[i], &x, &attempt) || !has_factor(m, plain, x))
                continue;
            pw_members_add(&attempt, add);
            pw_members_add(&attempt, rotated);
            pw_members_add(&attempt, plain);
            *members = attempt;
            return true;
        }
    }
    return false;
}

/* ---- the paired spelling ---- */

/* Factors of Mul(part, trig): `part` is a piece of a larger tensor. */
struct product {
    pw_value_id part, trig, whole;
};

static bool split_product(const struct pw_match *m, pw_value_id id, size_t which, struct product *out,
                          struct pw_members *members)
{
    const struct pw_node *node = product_of(m, id, members);
    bool part;

    if (node == NULL)
        return false;
    out->part = pw_match_up_layout(m, node->inputs[which], NULL);
    out->trig = pw_match_up_layout(m, node->inputs[1 - which], NULL);
    out->whole = whole_of(m, node->inputs[which], &part, members);
    pw_members_add(members, node);
    return part;
}

/* add = b*cos + a*sin for the difference a*cos - b*sin. */
static bool is_partner(const struct pw_match *m, const struct pw_node *add, const struct product *a,
                       const struct product *b, struct pw_members *members)
{
    for (size_t order = 0; order < 2; order++) {
        for (size_t which = 0; which < 4; which++) {
            struct pw_members found = *members;
            struct product p, q;

            if (split_product(m, add->inputs[order], which & 1, &p, &found) &&
                split_product(m, add->inputs[1 - order], which >> 1, &q, &found) && p.part == b->part &&
                p.trig == a->trig && q.part == a->part && q.trig == b->trig) {
                pw_members_add(&found, add);
                *members = found;
                return true;
            }
        }
    }
    return false;
}

/* The product that the difference subtracts uses `part`, and so does the sum: found among the part's users. */
static const struct pw_node *find_partner(const struct pw_match *m, const struct product *a, const struct product *b,
                                          struct pw_members *members)
{
    size_t users = pw_match_user_count(m, a->part);

    for (size_t i = 0; i < users && i < 8; i++) {
        const struct pw_node *product = pw_match_user(m, a->part, i);

        for (int step = 0; step < 4 && pw_match_is_layout(pw_match_kind_of(m, product)) &&
                           pw_match_user_count(m, product->outputs[0]) >= 1;
             step++)
            product = pw_match_user(m, product->outputs[0], 0);
        if (pw_match_kind_of(m, product) != PW_MATCH_MUL)
            continue;
        for (size_t u = 0; u < pw_match_user_count(m, product->outputs[0]) && u < 4; u++) {
            const struct pw_node *add = pw_match_user(m, product->outputs[0], u);

            if (pw_match_kind_of(m, add) == PW_MATCH_ADD && is_partner(m, add, a, b, members))
                return add;
        }
    }
    return NULL;
}

/* The Concat that joins both results, over layout. */
static void add_join(const struct pw_match *m, const struct pw_node *node, struct pw_members *members)
{
    struct pw_members passed = {.count = 0};

    for (int step = 0; step < 4 && pw_match_user_count(m, node->outputs[0]) == 1; step++) {
        node = pw_match_user(m, node->outputs[0], 0);
        pw_members_add(&passed, node);
        if (pw_match_kind_of(m, node) == PW_MATCH_CONCAT) {
            for (size_t i = 0; i < passed.count; i++)
                pw_members_add(members, passed.nodes[i]);
            return;
        }
        if (!pw_match_is_layout(pw_match_kind_of(m, node)))
            return;
    }
}

/* Sub(Mul(a, cos), Mul(b, sin)) with its partner. */
static bool match_pairs(const struct pw_match *m, const struct pw_node *sub, struct pw_members *members)
{
    for (size_t which = 0; which < 4; which++) {
        struct pw_members found = {.count = 0};
        struct product a, b;
        const struct pw_node *partner;

        if (!split_product(m, sub->inputs[0], which & 1, &a, &found) ||
            !split_product(m, sub->inputs[1], which >> 1, &b, &found) || a.whole != b.whole || a.part == b.part ||
            a.trig == b.trig)
            continue;
        partner = find_partner(m, &a, &b, &found);
        if (partner == NULL)
            continue;
        pw_members_add(&found, sub);
        add_join(m, sub, &found);
        add_join(m, partner, &found);
        *members = found;
        return true;
    }
    return false;
}

pw_status pw_match_rotary(struct pw_match *m, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (size_t i = 0; i < m->graph->node_count && status == PW_OK; i++) {
        const struct pw_node *node = &m->graph->nodes[i];
        pw_match_kind kind = pw_match_kind_of(m, node);
        struct pw_members members;

        if ((kind != PW_MATCH_ADD && kind != PW_MATCH_SUB) || node->input_count != 2 || pw_match_claimed(m, node))
            continue;
        if (kind == PW_MATCH_ADD ? match_halves(m, node, &members) : match_pairs(m, node, &members))
            status = pw_match_report(m, PW_PATTERN_ROTARY, &members, "", -1, NULL, err);
    }
    return status;
}
