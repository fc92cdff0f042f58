/*
 * LayerNorm and RMSNorm. Anchor: a mean of squares. From it down: an epsilon, a root in any spelling,
 * the product or quotient with the numerator, scale and shift. What was squared tells the two apart:
 * x minus its mean (LayerNorm), or x itself (RMSNorm). E[x²] - E[x]² is LayerNorm's too.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "graph/pattern.h"

/* What is known while one is matched. */
struct norm {
    struct pw_match *m;
    struct pw_members members;
    pw_value_id x;       /* what is normalised */
    pw_value_id squared; /* whose square is averaged: x, or x - mean */
    bool centred;
    int axis;      /* reduced axis, -1 when there are several */
    int rank;      /* of x */
    pw_dim length; /* of the reduced axis */
};

/* ---- means ---- */

/* Axes of a reduction; 0 when not known. Of an unknown rank (-1) only the last axis, -1, is taken. */
static int reduced_axes(const struct pw_match *m, const struct pw_node *node, int rank, int *axes)
{
    const struct pw_attr *attr = pw_node_attr(node, "axes");
    const struct pw_info *input =
        node->input_count > 1 && node->inputs[1] != PW_NO_VALUE ? pw_match_info(m, node->inputs[1]) : NULL;
    size_t count = attr != NULL && attr->type == PW_ATTR_INTS ? attr->count : 0;
    int made = 0;

    if (input != NULL && input->content != NULL)
        count = input->content_count;
    for (size_t i = 0; i < count && made < PW_MAX_RANK; i++) {
        int64_t axis = 0;

        if (input == NULL)
            axis = attr->ints[i];
        else if (!pw_dims_value(pw_inference_dims(m->inf), input->content[i], &axis))
            return 0;
        axis += axis < 0 && rank >= 0 ? rank : 0;
        if (rank >= 0 ? axis < 0 || axis >= rank : axis != -1)
            return 0;
        axes[made++] = (int)axis;
    }
    return made;
}

/* A value that is the mean of another over axes: ReduceMean(x), or ReduceSum(x) divided by a number. */
static bool is_mean(const struct pw_match *m, pw_value_id id, pw_value_id *of, struct pw_members *members)
{
    const struct pw_node *node = pw_match_producer(m, pw_match_up_layout(m, id, NULL));
    pw_match_kind kind = pw_match_kind_of(m, node);
    double scale;

    if ((kind == PW_MATCH_DIV || kind == PW_MATCH_MUL) && pw_match_scalar(m, pw_match_input(node, 1), &scale)) {
        const struct pw_node *sum = pw_match_producer(m, pw_match_up(m, node->inputs[0], NULL));

        if (pw_match_kind_of(m, sum) != PW_MATCH_REDUCE_SUM)
            return false;
        pw_members_add(members, node);
        pw_members_add(members, sum);
        *of = pw_match_up(m, sum->inputs[0], members);
        return true;
    }
    if (kind != PW_MATCH_REDUCE_MEAN)
        return false;
    pw_members_add(members, node);
    *of = pw_match_up(m, node->inputs[0], members);
    return true;
}

/* Is `id` x minus the mean of x? */
static bool is_centred(const struct pw_match *m, pw_value_id id, pw_value_id *x, struct pw_members *members)
{
    struct pw_members found = {.count = 0};
    pw_value_id a, b, of;

    if (!pw_match_difference(m, id, &a, &b, &found) || !is_mean(m, b, &of, &found) || pw_match_up(m, a, NULL) != of)
        return false;
    for (size_t i = 0; i < found.count; i++)
        pw_members_add(members, found.nodes[i]);
    *x = of;
    return true;
}

/* ---- down from the mean of squares ---- */

/* The only arithmetic user of a value, over Cast, Identity and Reshape; *at becomes the value it reads. */
static const struct pw_node *only_user(struct norm *n, pw_value_id *at)
{
    for (int step = 0; step < 8; step++) {
        const struct pw_node *user = pw_match_user_count(n->m, *at) == 1 ? pw_match_user(n->m, *at, 0) : NULL;

        if (user == NULL || !pw_match_is_layout(pw_match_kind_of(n->m, user)) || user->inputs[0] != *at)
            return user;
        pw_members_add(&n->members, user);
        *at = user->outputs[0];
    }
    return NULL;
}

/* Steps over Sub(E[x²], mean²), which centres the variance, Max or Relu, which keep it positive, and the epsilon. */
static const struct pw_node *after_epsilon(struct norm *n, pw_value_id *at)
{
    const struct pw_node *user = only_user(n, at);
    pw_match_kind kind = pw_match_kind_of(n->m, user);
    pw_value_id other, of;

    if (kind == PW_MATCH_SUB && !n->centred && pw_match_square(n->m, pw_match_input(user, 1), &other, &n->members) &&
        is_mean(n->m, other, &of, &n->members) && of == n->x) {
        n->centred = true;
        pw_members_add(&n->members, user);
        *at = user->outputs[0];
        user = only_user(n, at);
        kind = pw_match_kind_of(n->m, user);
    }
    for (int step = 0; step < 3; step++) {
        double scalar;

        if (kind != PW_MATCH_ADD && kind != PW_MATCH_MAX && kind != PW_MATCH_RELU && kind != PW_MATCH_CLIP)
            break;
        if ((kind == PW_MATCH_ADD || kind == PW_MATCH_MAX) &&
            (!pw_match_other_operand(n->m, user, *at, &other, NULL) || !pw_match_scalar(n->m, other, &scalar)))
            return NULL;
        pw_members_add(&n->members, user);
        *at = user->outputs[0];
        user = only_user(n, at);
        kind = pw_match_kind_of(n->m, user);
    }
    return user;
}

/* Over the root. *inverse: the value is already 1/root. */
static bool over_root(struct norm *n, pw_value_id *at, bool *inverse)
{
    const struct pw_node *user = after_epsilon(n, at);
    pw_match_kind kind = pw_match_kind_of(n->m, user);
    double power = 0;

    *inverse = false;
    if (kind == PW_MATCH_POW && pw_match_scalar(n->m, pw_match_input(user, 1), &power) && fabs(power) == 0.5)
        *inverse = power < 0;
    else if (kind != PW_MATCH_SQRT)
        return false;
    pw_members_add(&n->members, user);
    *at = user->outputs[0];
    user = only_user(n, at);
    kind = pw_match_kind_of(n->m, user);
    if (!*inverse && (kind == PW_MATCH_RECIPROCAL ||
                      (kind == PW_MATCH_DIV && pw_match_scalar(n->m, user->inputs[0], &power) && power == 1.0))) {
        pw_members_add(&n->members, user);
        *at = user->outputs[0];
        *inverse = true;
    }
    return true;
}

/* Is `id` what the root divides: what was squared, or another spelling of the same difference? */
static bool is_numerator(struct norm *n, pw_value_id id)
{
    pw_value_id up = pw_match_up(n->m, id, NULL), x;

    if (up == n->squared && !(n->centred && n->squared == n->x)) {
        pw_match_up(n->m, id, &n->members);
        return true;
    }
    return n->centred && is_centred(n->m, up, &x, &n->members) && x == n->x;
}

/* ---- the end: numerator, scale, shift ---- */

static bool is_fixed(const struct pw_match *m, pw_value_id id)
{
    return id != PW_NO_VALUE && pw_match_info(m, id)->fixed;
}

/* A scale that varies along the reduced axis, or a number: not one that varies along other axes only (InstanceNorm). */
static bool is_scale(const struct norm *n, pw_value_id id)
{
    const struct pw_info *info;
    int at;

    if (!is_fixed(n->m, id))
        return false;
    info = pw_match_info(n->m, id);
    if (info->rank < 0 || n->rank < 0 || n->axis < 0 || n->length == 1)
        return true;
    at = n->axis - (n->rank - info->rank);
    if (info->constant != NULL && info->constant->count == 1)
        return true;
    return at >= 0 && at < info->rank && info->dims[at] != 1;
}

/* Over the scale and shift, when they are there. False when a scale shows that it is another normalization. */
static bool over_affine(struct norm *n, pw_value_id at)
{
    static const pw_match_kind wanted[] = {PW_MATCH_MUL, PW_MATCH_ADD};

    for (int step = 0; step < 2; step++) {
        const struct pw_node *user;
        struct pw_members passed = n->members;
        pw_value_id other;

        user = only_user(n, &at);
        if (pw_match_kind_of(n->m, user) != wanted[step] || !pw_match_other_operand(n->m, user, at, &other, NULL) ||
            !is_fixed(n->m, other)) {
            n->members = passed; /* the Casts belong to what comes next */
            continue;
        }
        if (!is_scale(n, other)) {
            n->members = passed;
            return step > 0;
        }
        pw_members_add(&n->members, user);
        at = user->outputs[0];
    }
    return true;
}

/* y = x * s + (beta - mean * s), where s = scale / root: batch normalization's spelling. */
static bool over_folded_shift(struct norm *n, const struct pw_node *product, pw_value_id scale)
{
    pw_value_id at = product->outputs[0], other, a, b, of, mean;
    const struct pw_node *user = only_user(n, &at);
    const struct pw_node *shift;

    if (pw_match_kind_of(n->m, user) != PW_MATCH_ADD || !pw_match_other_operand(n->m, user, at, &other, NULL) ||
        !pw_match_difference(n->m, other, &a, &b, &n->members) || !is_fixed(n->m, a))
        return false;
    shift = pw_match_producer(n->m, pw_match_up(n->m, b, NULL));
    if (pw_match_kind_of(n->m, shift) != PW_MATCH_MUL || !pw_match_other_operand(n->m, shift, scale, &mean, NULL) ||
        !is_mean(n->m, mean, &of, &n->members) || of != n->x)
        return false;
    pw_members_add(&n->members, product);
    pw_members_add(&n->members, shift);
    pw_members_add(&n->members, user);
    return true;
}

/* One user of the (inverse) root: the quotient or product that ends the normalization. */
static bool over_quotient(struct norm *n, const struct pw_node *user, pw_value_id at, bool inverse)
{
    pw_match_kind kind = pw_match_kind_of(n->m, user);
    pw_value_id other;
    int position;

    if (kind != (inverse ? PW_MATCH_MUL : PW_MATCH_DIV) || !pw_match_other_operand(n->m, user, at, &other, &position) ||
        (!inverse && position != 1))
        return false;
    if (inverse && is_scale(n, other)) { /* the scale first: x * (1/root * scale) */
        pw_value_id scaled = user->outputs[0];

        for (size_t i = 0; i < pw_match_user_count(n->m, scaled); i++) {
            const struct pw_node *product = pw_match_user(n->m, scaled, i);

            if (pw_match_kind_of(n->m, product) != PW_MATCH_MUL ||
                !pw_match_other_operand(n->m, product, scaled, &other, NULL))
                continue;
            if (n->centred && pw_match_up(n->m, other, NULL) == n->x && over_folded_shift(n, product, scaled)) {
                pw_members_add(&n->members, user);
                return true;
            }
            if (is_numerator(n, other)) {
                pw_members_add(&n->members, user);
                pw_members_add(&n->members, product);
                return over_affine(n, product->outputs[0]);
            }
        }
        return false;
    }
    if (!is_numerator(n, other))
        return false;
    pw_members_add(&n->members, user);
    return over_affine(n, user->outputs[0]);
}

/* ---- anchors ---- */

/* A mean of squares: fills x, squared, centred. */
static bool is_mean_of_squares(struct norm *n, const struct pw_node *node, pw_value_id *at)
{
    pw_match_kind kind = pw_match_kind_of(n->m, node);
    double scale;

    pw_members_add(&n->members, node);
    *at = node->outputs[0];
    if (kind == PW_MATCH_REDUCE_SUM_SQUARE)
        n->squared = pw_match_up(n->m, node->inputs[0], &n->members);
    else if (!pw_match_square(n->m, node->inputs[0], &n->squared, &n->members))
        return false;
    if (kind != PW_MATCH_REDUCE_MEAN) {
        const struct pw_node *divide = only_user(n, at);
        pw_match_kind how = pw_match_kind_of(n->m, divide);

        if ((how != PW_MATCH_DIV && how != PW_MATCH_MUL) || !pw_match_scalar(n->m, pw_match_input(divide, 1), &scale) ||
            scale == 0.0)
            return false;
        pw_members_add(&n->members, divide);
        *at = divide->outputs[0];
    }
    n->x = n->squared;
    n->centred = is_centred(n->m, n->squared, &n->x, &n->members);
    return true;
}

/* One axis, or all but at most one leading: not the planes of an image (InstanceNorm). */
static bool check_axes(struct norm *n, const struct pw_node *node)
{
    const struct pw_info *info = pw_match_info(n->m, node->inputs[0]);
    int axes[PW_MAX_RANK], count;

    n->rank = info->rank;
    n->axis = -1;
    n->length = PW_DIM_UNKNOWN;
    if (info->rank == 0)
        return false;
    count = reduced_axes(n->m, node, info->rank, axes);
    if (count == 1) {
        n->axis = axes[0];
        n->length = info->rank > 0 ? info->dims[axes[0]] : PW_DIM_UNKNOWN;
        return true;
    }
    return count > 1 && info->rank > 0 && info->rank - count <= 1;
}

static pw_status report(struct norm *n, struct pw_error *err)
{
    char details[64] = "";
    int64_t length;

    if (n->rank < 0)
        snprintf(details, sizeof details, "%s", "");
    else if (n->axis >= 0 && n->axis != n->rank - 1)
        snprintf(details, sizeof details, "over axis %d", n->axis);
    else if (n->axis < 0)
        snprintf(details, sizeof details, "over several axes");
    else if (pw_dims_value(pw_inference_dims(n->m->inf), n->length, &length))
        snprintf(details, sizeof details, "over %" PRId64, length);
    return pw_match_report(n->m, n->centred ? PW_PATTERN_LAYERNORM : PW_PATTERN_RMSNORM, &n->members, details, -1, NULL,
                           err);
}

pw_status pw_match_norms(struct pw_match *m, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (size_t i = 0; i < m->graph->node_count && status == PW_OK; i++) {
        const struct pw_node *node = &m->graph->nodes[i];
        pw_match_kind kind = pw_match_kind_of(m, node);
        struct norm n;
        pw_value_id at;
        bool inverse, found = false;

        if (kind != PW_MATCH_REDUCE_MEAN && kind != PW_MATCH_REDUCE_SUM && kind != PW_MATCH_REDUCE_SUM_SQUARE)
            continue;
        n = (struct norm){.m = m};
        if (!is_mean_of_squares(&n, node, &at) || !check_axes(&n, node) || !over_root(&n, &at, &inverse))
            continue;
        for (size_t u = 0; u < pw_match_user_count(m, at) && !found; u++) {
            const struct pw_node *user = pw_match_user(m, at, u);
            struct norm attempt = n;
            pw_value_id from = at;

            while (pw_match_is_layout(pw_match_kind_of(m, user)) && pw_match_user_count(m, user->outputs[0]) == 1) {
                pw_members_add(&attempt.members, user);
                from = user->outputs[0];
                user = pw_match_user(m, from, 0);
            }
            found = over_quotient(&attempt, user, from, inverse);
            if (found)
                status = report(&attempt, err);
        }
    }
    return status;
}
