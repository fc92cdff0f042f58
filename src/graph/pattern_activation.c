/*
 * GELU (erf and tanh), SiLU, SwiGLU. Exporters spell them in dozens of ways, so they are not matched
 * node by node: from an anchor (Erf, Tanh, Sigmoid, Exp) candidates for the input are taken upwards and
 * for the output downwards, and the scalar function between them is evaluated at a few points and
 * compared with the definition. Equal at those points within 1e-3 is the same function.
 */
#include <math.h>

#include "base/compiler.h"
#include "graph/pattern.h"

#define CANDIDATES 10
#define EVAL_NODES 48 /* visited for one value */
#define EVAL_DEPTH 16
#define CLOSE 1e-3

/* ---- the function between two values ---- */

struct probe {
    const struct pw_match *m;
    pw_value_id x;
    double t; /* value of x */
    int budget;
    struct pw_members *members; /* nodes of the function, NULL when not wanted */
    bool met_x;
};

static double evaluate(struct probe *p, pw_value_id id, int depth);

static double evaluate_unary(pw_match_kind kind, double a)
{
    switch (kind) {
    case PW_MATCH_ERF:
        return erf(a);
    case PW_MATCH_TANH:
        return tanh(a);
    case PW_MATCH_SIGMOID:
        return 1.0 / (1.0 + exp(-a));
    case PW_MATCH_EXP:
        return exp(a);
    case PW_MATCH_NEG:
        return -a;
    case PW_MATCH_SQRT:
        return sqrt(a);
    case PW_MATCH_RECIPROCAL:
        return 1.0 / a;
    default:
        return NAN;
    }
}

static double evaluate_binary(pw_match_kind kind, double a, double b)
{
    switch (kind) {
    case PW_MATCH_ADD:
    case PW_MATCH_SUM:
        return a + b;
    case PW_MATCH_SUB:
        return a - b;
    case PW_MATCH_MUL:
        return a * b;
    case PW_MATCH_DIV:
        return a / b;
    case PW_MATCH_POW:
        return pow(a, b);
    default:
        return NAN;
    }
}

/* Value of `id` when x has the value t; NaN when it depends on anything else. */
static double evaluate(struct probe *p, pw_value_id id, int depth)
{
    const struct pw_node *node;
    double a, b;

    if (id == PW_NO_VALUE || depth > EVAL_DEPTH || p->budget-- <= 0)
        return NAN;
    id = pw_match_up(p->m, id, p->members);
    if (id == p->x) {
        p->met_x = true;
        return p->t;
    }
    if (pw_match_scalar(p->m, id, &a))
        return a;
    node = pw_match_producer(p->m, id);
    if (node == NULL || node->input_count == 0 || node->input_count > 2)
        return NAN;
    a = evaluate(p, node->inputs[0], depth + 1);
    if (isnan(a))
        return NAN;
    if (node->input_count == 1) {
        a = evaluate_unary(pw_match_kind_of(p->m, node), a);
    } else {
        b = evaluate(p, node->inputs[1], depth + 1);
        a = isnan(b) ? NAN : evaluate_binary(pw_match_kind_of(p->m, node), a, b);
    }
    pw_members_add(p->members, node);
    return a;
}

static double gelu_erf(double t)
{
    return 0.5 * t * (1.0 + erf(t * M_SQRT1_2));
}

static double gelu_tanh(double t)
{
    return 0.5 * t * (1.0 + tanh(0.7978845608028654 * (t + 0.044715 * t * t * t)));
}

static double silu(double t)
{
    return t / (1.0 + exp(-t));
}

static const struct {
    pw_match_kind anchor;
    pw_pattern_kind kind;
    double (*function)(double);
} functions[] = {
    {PW_MATCH_ERF, PW_PATTERN_GELU_ERF, gelu_erf},
    {PW_MATCH_TANH, PW_PATTERN_GELU_TANH, gelu_tanh},
    {PW_MATCH_TANH, PW_PATTERN_SILU, silu},
    {PW_MATCH_SIGMOID, PW_PATTERN_SILU, silu},
    {PW_MATCH_SIGMOID, PW_PATTERN_GELU_TANH, gelu_tanh},
    {PW_MATCH_EXP, PW_PATTERN_SILU, silu},
};

static bool is_function(const struct pw_match *m, pw_value_id x, pw_value_id y, double (*function)(double),
                        struct pw_members *members)
{
    static const double points[] = {-2.7, -1.1, -0.3, 0.4, 1.3, 2.9};
    struct probe probe = {.m = m, .x = x};

    for (size_t i = 0; i < PW_COUNT_OF(points); i++) {
        double want = function(points[i]), got;

        probe.t = points[i];
        probe.budget = EVAL_NODES;
        got = evaluate(&probe, y, 0);
        if (isnan(got) || fabs(got - want) > CLOSE * fmax(1.0, fabs(want)))
            return false;
    }
    if (!probe.met_x)
        return false;
    probe.members = members;
    probe.budget = EVAL_NODES;
    (void)evaluate(&probe, y, 0);
    return true;
}

/* ---- candidates ---- */

static bool is_elementwise(pw_match_kind kind)
{
    switch (kind) {
    case PW_MATCH_ADD:
    case PW_MATCH_SUM:
    case PW_MATCH_SUB:
    case PW_MATCH_MUL:
    case PW_MATCH_DIV:
    case PW_MATCH_POW:
    case PW_MATCH_NEG:
    case PW_MATCH_RECIPROCAL:
    case PW_MATCH_EXP:
    case PW_MATCH_ERF:
    case PW_MATCH_TANH:
    case PW_MATCH_SIGMOID:
        return true;
    default:
        return false;
    }
}

struct candidates {
    pw_value_id ids[CANDIDATES];
    size_t count;
};

static void add_candidate(struct candidates *c, pw_value_id id)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->ids[i] == id)
            return;
    }
    if (c->count < CANDIDATES)
        c->ids[c->count++] = id;
}

/* Values that the anchor's input is made from, nearest first. */
static void candidates_up(const struct pw_match *m, const struct pw_node *anchor, struct candidates *c)
{
    double scalar;

    c->count = 0;
    add_candidate(c, pw_match_up(m, anchor->inputs[0], NULL));
    for (size_t i = 0; i < c->count; i++) {
        const struct pw_node *node = pw_match_producer(m, c->ids[i]);

        if (!is_elementwise(pw_match_kind_of(m, node)))
            continue;
        for (size_t k = 0; k < node->input_count; k++) {
            if (node->inputs[k] != PW_NO_VALUE && !pw_match_scalar(m, node->inputs[k], &scalar))
                add_candidate(c, pw_match_up(m, node->inputs[k], NULL));
        }
    }
}

/* Values made from the anchor's output, nearest first. */
static void candidates_down(const struct pw_match *m, const struct pw_node *anchor, struct candidates *c)
{
    c->count = 0;
    add_candidate(c, anchor->outputs[0]);
    for (size_t i = 0; i < c->count; i++) {
        size_t users = pw_match_user_count(m, c->ids[i]);

        for (size_t u = 0; u < users && u < CANDIDATES; u++) {
            const struct pw_node *user = pw_match_user(m, c->ids[i], u);
            pw_match_kind kind = pw_match_kind_of(m, user);

            if ((is_elementwise(kind) || pw_match_is_transparent(kind)) && user->outputs[0] != PW_NO_VALUE)
                add_candidate(c, user->outputs[0]);
        }
    }
}

/* ---- SwiGLU ---- */

/* Made by a matrix product (over bias, slices and layout): the linear half of a gated unit. */
static bool is_linear(const struct pw_match *m, pw_value_id id)
{
    for (int step = 0; step < 8; step++) {
        const struct pw_node *node;

        id = pw_match_up_layout(m, id, NULL);
        node = pw_match_producer(m, id);
        switch (pw_match_kind_of(m, node)) {
        case PW_MATCH_MATMUL:
        case PW_MATCH_GEMM:
        case PW_MATCH_EINSUM:
            return true;
        case PW_MATCH_SPLIT:
        case PW_MATCH_SLICE:
            id = node->inputs[0];
            break;
        case PW_MATCH_ADD: /* a bias */
            if (pw_match_input(node, 1) != PW_NO_VALUE && pw_match_info(m, node->inputs[1])->fixed)
                id = node->inputs[0];
            else if (pw_match_info(m, node->inputs[0])->fixed)
                id = pw_match_input(node, 1);
            else
                return false;
            break;
        default:
            return node != NULL && node->op != NULL && node->op->category == PW_CATEGORY_MATMUL;
        }
    }
    return false;
}

/* Is the SiLU multiplied with the other half? */
static pw_status match_swiglu(struct pw_match *m, int part, pw_value_id x, pw_value_id y, struct pw_error *err)
{
    struct pw_members members = {.count = 0};

    if (!is_linear(m, x))
        return PW_OK;
    for (int step = 0; step < 4 && pw_match_user_count(m, y) == 1; step++) {
        const struct pw_node *user = pw_match_user(m, y, 0);
        pw_match_kind kind = pw_match_kind_of(m, user);
        pw_value_id other;

        pw_members_add(&members, user);
        if (kind == PW_MATCH_MUL && pw_match_other_operand(m, user, y, &other, NULL) && is_linear(m, other)) {
            const struct pw_pattern *silu_part = &m->inventory->patterns[part];

            for (size_t i = 0; i < silu_part->node_count; i++)
                pw_members_add(&members, silu_part->nodes[i]);
            return pw_match_report(m, PW_PATTERN_SWIGLU, &members, "", part, NULL, err);
        }
        if (!pw_match_is_layout(kind) || user->inputs[0] != y)
            return PW_OK;
        y = user->outputs[0];
    }
    return PW_OK;
}

/* ---- anchors ---- */

static pw_status report(struct pw_match *m, pw_pattern_kind kind, const struct pw_members *members, pw_value_id x,
                        pw_value_id y, struct pw_error *err)
{
    int index = -1;
    pw_status status = pw_match_report(m, kind, members, "", -1, &index, err);

    if (status == PW_OK && kind == PW_PATTERN_SILU && index >= 0)
        status = match_swiglu(m, index, x, y, err);
    return status;
}

static pw_status match_anchor(struct pw_match *m, const struct pw_node *anchor, struct pw_error *err)
{
    struct candidates up, down;

    if (pw_match_claimed(m, anchor) || pw_match_input(anchor, 0) == PW_NO_VALUE || anchor->outputs[0] == PW_NO_VALUE)
        return PW_OK;
    candidates_up(m, anchor, &up);
    candidates_down(m, anchor, &down);
    for (size_t y = down.count; y-- > 1;) { /* the widest first; never the anchor alone */
        for (size_t x = 0; x < up.count; x++) {
            for (size_t f = 0; f < PW_COUNT_OF(functions); f++) {
                struct pw_members members = {.count = 0};

                if (functions[f].anchor == pw_match_kind_of(m, anchor) &&
                    is_function(m, up.ids[x], down.ids[y], functions[f].function, &members))
                    return report(m, functions[f].kind, &members, up.ids[x], down.ids[y], err);
            }
        }
    }
    return PW_OK;
}

/* Fused SiLUs may be halves of a SwiGLU too. */
static pw_status match_fused_halves(struct pw_match *m, size_t first, size_t count, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (size_t i = first; i < count && status == PW_OK; i++) {
        const struct pw_pattern *pattern = &m->inventory->patterns[i];
        const struct pw_node *node = pattern->nodes[0];

        if (pattern->kind == PW_PATTERN_SILU && pattern->fused && node->graph == m->graph && node->output_count > 0 &&
            node->outputs[0] != PW_NO_VALUE && pw_match_input(node, 0) != PW_NO_VALUE)
            status = match_swiglu(m, (int)i, node->inputs[0], node->outputs[0], err);
    }
    return status;
}

pw_status pw_match_activations(struct pw_match *m, struct pw_error *err)
{
    pw_status status = match_fused_halves(m, 0, m->inventory->pattern_count, err);

    for (size_t i = 0; i < m->graph->node_count && status == PW_OK; i++) {
        switch (pw_match_kind_of(m, &m->graph->nodes[i])) {
        case PW_MATCH_ERF:
        case PW_MATCH_TANH:
        case PW_MATCH_SIGMOID:
        case PW_MATCH_EXP:
            status = match_anchor(m, &m->graph->nodes[i], err);
            break;
        default:
            break;
        }
    }
    return status;
}
