/*
 * The derivative of each operator, as nodes.
 *
 * Elementwise ones are formulas in postfix: g is the derivative by the output, y the output, a, b, c the inputs (x is
 * a), =t keeps a value and "t gives it, @alpha is an attribute, a number is a constant. Where the derivative jumps
 * (Relu at 0) it is that of one side.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "graph/gradient.h"

#define AXES_MAX PW_MAX_RANK

/* ---- shapes ---- */

static pw_value_id forward(const struct pw_gradient *g, pw_value_id old)
{
    return old == PW_NO_VALUE ? PW_NO_VALUE : g->forward[old];
}

static bool active(const struct pw_gradient *g, const struct pw_node *node, size_t i)
{
    return i < node->input_count && node->inputs[i] != PW_NO_VALUE && g->active[node->inputs[i]];
}

static pw_value_id reshape_like(struct pw_gradient *g, pw_value_id id, pw_value_id like)
{
    pw_value_id out = pw_gradient_emit2(g, "Reshape", id, pw_gradient_emit1(g, "Shape", like));

    pw_gradient_int(g, "allowzero", 1);
    return out;
}

/* Axes that broadcasting to[] to from[] repeated; false when that is not known. */
static bool repeated_axes(struct pw_gradient *g, int from_rank, const pw_dim *from, int to_rank, const pw_dim *to,
                          int64_t *axes, size_t *count)
{
    int gap = from_rank - to_rank;

    *count = 0;
    for (int d = 0; d < from_rank; d++) {
        pw_dim want = d < gap ? 1 : to[d - gap];
        bool same = d >= gap && want == from[d] && want != PW_DIM_UNKNOWN;

        if (same || (want > 1 && d >= gap))
            continue;
        if (want != 1)
            return pw_gradient_refuse(g, "it is not known whether dim %d is broadcast", d - gap);
        axes[(*count)++] = d;
    }
    return true;
}

/* Sums what was broadcast: `id` of shape from[] to shape to[]. */
static bool sum_to(struct pw_gradient *g, pw_value_id id, int from_rank, const pw_dim *from, int to_rank,
                   const pw_dim *to, pw_value_id *out)
{
    int64_t axes[AXES_MAX], gap[AXES_MAX];
    size_t count;

    if (from_rank < 0 || to_rank < 0 || from_rank < to_rank)
        return pw_gradient_refuse(g, "a rank is not known");
    if (!repeated_axes(g, from_rank, from, to_rank, to, axes, &count))
        return false;
    *out = id;
    if (count > 0) {
        *out = pw_gradient_emit2(g, "ReduceSum", id, pw_gradient_list(g, axes, count));
        pw_gradient_int(g, "keepdims", 1);
    }
    for (int d = 0; d < from_rank - to_rank; d++)
        gap[d] = d;
    if (from_rank > to_rank)
        *out = pw_gradient_emit2(g, "Squeeze", *out, pw_gradient_list(g, gap, (size_t)(from_rank - to_rank)));
    return true;
}

/* Adds a contribution that has the shape of the node's output, summed to that of the input. */
static bool add_broadcast(struct pw_gradient *g, const struct pw_node *node, size_t input, pw_value_id contribution)
{
    const struct pw_info *y = pw_gradient_info(g, node->outputs[0]), *x = pw_gradient_info(g, node->inputs[input]);
    pw_value_id id = PW_NO_VALUE;

    if (!sum_to(g, contribution, y->rank, y->dims, x->rank, x->dims, &id))
        return false;
    pw_gradient_add(g, node->inputs[input], id);
    return true;
}

/* ---- attributes ---- */

static const struct pw_attr_def *definition(const struct pw_node *node, const char *name)
{
    for (const struct pw_attr_def *def = node->op->attrs; def && def->name; def++) {
        if (strcmp(def->name, name) == 0)
            return def;
    }
    return NULL;
}

static int64_t int_attr(const struct pw_node *node, const char *name)
{
    const struct pw_attr *attr = pw_node_attr(node, name);
    const struct pw_attr_def *def = definition(node, name);

    return attr ? attr->i : def ? def->i : 0;
}

static double float_attr(const struct pw_node *node, const char *name)
{
    const struct pw_attr *attr = pw_node_attr(node, name);
    const struct pw_attr_def *def = definition(node, name);

    return (double)(attr ? attr->f : def ? def->f : 0.0f);
}

/* ---- elementwise ---- */

#define SLOTS 16

struct machine {
    struct pw_gradient *g;
    const struct pw_node *node;
    pw_value_id dy, kept[26]; /* by letter */
    pw_value_id stack[SLOTS];
    size_t depth;
    pw_dtype dtype; /* of dy */
};

/* An input in the type of the derivative (Pow's exponent may have its own). */
static pw_value_id operand(struct machine *m, size_t input)
{
    pw_value_id id = forward(m->g, m->node->inputs[input]), out;
    pw_dtype dtype = pw_gradient_info(m->g, m->node->inputs[input])->dtype;

    if (dtype == m->dtype || dtype == PW_DTYPE_BOOL)
        return id;
    out = pw_gradient_emit1(m->g, "Cast", id);
    pw_gradient_int(m->g, "to", (int64_t)m->dtype);
    return out;
}

static bool step_operator(struct machine *m, const char *word, size_t size)
{
    static const struct {
        const char *word, *op_type;
        size_t inputs;
    } table[] = {{"+", "Add", 2},
                 {"-", "Sub", 2},
                 {"*", "Mul", 2},
                 {"/", "Div", 2},
                 {"^", "Pow", 2},
                 {">", "Greater", 2},
                 {"<", "Less", 2},
                 {"=", "Equal", 2},
                 {"and", "And", 2},
                 {"min", "Min", 2},
                 {"?", "Where", 3},
                 {"neg", "Neg", 1},
                 {"exp", "Exp", 1},
                 {"log", "Log", 1},
                 {"sqrt", "Sqrt", 1},
                 {"sin", "Sin", 1},
                 {"cos", "Cos", 1},
                 {"sinh", "Sinh", 1},
                 {"cosh", "Cosh", 1},
                 {"tanh", "Tanh", 1},
                 {"sign", "Sign", 1},
                 {"abs", "Abs", 1},
                 {"erf", "Erf", 1},
                 {"sigmoid", "Sigmoid", 1},
                 {"recip", "Reciprocal", 1},
                 {"softplus", "Softplus", 1}};

    for (size_t i = 0; i < PW_COUNT_OF(table); i++) {
        if (strlen(table[i].word) != size || memcmp(table[i].word, word, size) != 0 || m->depth < table[i].inputs)
            continue;
        m->depth -= table[i].inputs;
        m->stack[m->depth] = pw_gradient_emit(m->g, table[i].op_type, m->stack + m->depth, table[i].inputs);
        m->depth++;
        return true;
    }
    return false;
}

static bool step(struct machine *m, const char *word, size_t size)
{
    pw_value_id id;

    if (step_operator(m, word, size))
        return true;
    if (m->depth == SLOTS)
        return false;
    if (size == 2 && word[0] == '=') {
        m->kept[word[1] - 'a'] = m->stack[--m->depth];
        return true;
    }
    if (size == 2 && word[0] == '"')
        id = m->kept[word[1] - 'a'];
    else if (size == 1 && word[0] == 'g')
        id = m->dy;
    else if (size == 1 && word[0] == 'y')
        id = forward(m->g, m->node->outputs[0]);
    else if (size == 1 && word[0] == 'x')
        id = operand(m, 0);
    else if (size == 1 && word[0] >= 'a' && word[0] <= 'c')
        id = operand(m, (size_t)(word[0] - 'a'));
    else if (word[0] == '@') {
        char name[16] = {0};

        memcpy(name, word + 1, size - 1 < sizeof name - 1 ? size - 1 : sizeof name - 1);
        id = pw_gradient_scalar(m->g, m->dtype, float_attr(m->node, name));
    } else {
        id = pw_gradient_scalar(m->g, m->dtype, strtod(word, NULL));
    }
    m->stack[m->depth++] = id;
    return true;
}

static bool run_formula(struct pw_gradient *g, const struct pw_node *node, pw_value_id dy, const char *formula,
                        pw_value_id *out)
{
    struct machine m = {.g = g, .node = node, .dy = dy, .dtype = pw_gradient_info(g, node->outputs[0])->dtype};

    for (const char *at = formula; *at;) {
        size_t size = strcspn(at, " ");

        if (!step(&m, at, size))
            return pw_gradient_refuse(g, "the formula '%s' is broken", formula);
        at += size;
        at += strspn(at, " ");
    }
    *out = m.stack[0];
    return m.depth == 1 || pw_gradient_refuse(g, "the formula '%s' is broken", formula);
}

/* The derivatives by inputs 0, 1, 2; NULL: none. */
struct formulas {
    const char *op_type;
    int since; /* the first version to which they apply */
    const char *by[3];
};

static const struct formulas elementwise[] = {
    {"Identity", 1, {"g"}},
    {"Neg", 6, {"g neg"}},
    {"Abs", 6, {"g x sign *"}},
    {"Exp", 6, {"g y *"}},
    {"Log", 6, {"g x /"}},
    {"Sqrt", 6, {"g y 2 * /"}},
    {"Reciprocal", 6, {"g y y * * neg"}},
    {"Sin", 7, {"g x cos *"}},
    {"Cos", 7, {"g x sin * neg"}},
    {"Tan", 7, {"g y y * 1 + *"}},
    {"Asin", 7, {"g 1 x x * - sqrt /"}},
    {"Acos", 7, {"g 1 x x * - sqrt / neg"}},
    {"Atan", 7, {"g 1 x x * + /"}},
    {"Sinh", 9, {"g x cosh *"}},
    {"Cosh", 9, {"g x sinh *"}},
    {"Tanh", 6, {"g 1 y y * - *"}},
    {"Asinh", 9, {"g x x * 1 + sqrt /"}},
    {"Acosh", 9, {"g x x * 1 - sqrt /"}},
    {"Atanh", 9, {"g 1 x x * - /"}},
    {"Erf", 9, {"g x x * neg exp * 1.1283791670955126 *"}},
    {"Sigmoid", 6, {"g y * 1 y - *"}},
    {"Relu", 6, {"x 0 > g 0 ?"}},
    {"LeakyRelu", 6, {"x 0 < g @alpha * g ?"}},
    {"Elu", 6, {"x 0 > g g @alpha * x 0 min exp * ?"}},
    {"Selu", 6, {"x 0 > g @gamma * g @gamma * @alpha * x 0 min exp * ?"}},
    {"Celu", 12, {"x 0 > g g x @alpha / 0 min exp * ?"}},
    {"ThresholdedRelu", 10, {"x @alpha > g 0 ?"}},
    {"HardSigmoid", 6, {"y 0 > y 1 < and g @alpha * 0 ?"}},
    {"HardSwish", 14, {"x 3 > g x -3 < 0 g x 3 / 0.5 + * ? ?"}},
    {"Softplus", 1, {"g x sigmoid *"}},
    {"Softsign", 1, {"1 x abs + =t g \"t \"t * /"}},
    {"Mish", 18, {"x softplus tanh =t g \"t x 1 \"t \"t * - * x sigmoid * + *"}},
    {"Swish", 24, {"x @alpha * sigmoid =t g \"t y @alpha * 1 \"t - * + *"}},
    {"Add", 7, {"g", "g"}},
    {"Sub", 7, {"g", "g neg"}},
    {"Mul", 7, {"g b *", "g a *"}},
    {"Div", 7, {"g b /", "g y * b / neg"}},
    /* 0^b does not move with b; a^0 does not move with a. */
    {"Pow", 7, {"b 0 = 0 g b * a b 1 - ^ * ?", "g y * a 0 = 1 a ? log *"}},
    {"PRelu", 7, {"a 0 < g b * g ?", "a 0 < g a * 0 ?"}},
    {"Where", 9, {NULL, "a g 0 ?", "a 0 g ?"}},
};

static bool elementwise_rule(struct pw_gradient *g, const struct pw_node *node, pw_value_id dy,
                             const struct formulas *formulas)
{
    for (size_t i = 0; i < node->input_count && i < 3; i++) {
        pw_value_id contribution = PW_NO_VALUE;

        if (!active(g, node, i))
            continue;
        if (!formulas->by[i])
            return pw_gradient_refuse(g, "input %zu has no derivative", i);
        if (!run_formula(g, node, dy, formulas->by[i], &contribution) || !add_broadcast(g, node, i, contribution))
            return false;
    }
    return true;
}

static bool gelu(struct pw_gradient *g, const struct pw_node *node, pw_value_id dy)
{
    static const struct formulas exact = {
        "Gelu", 20, {"x 0.7071067811865476 * erf 1 + 0.5 * =t g \"t x x * -0.5 * exp 0.3989422804014327 * x * + *"}};
    const struct pw_attr *approximate = pw_node_attr(node, "approximate");

    if (approximate && strcmp(approximate->s.data, "none") != 0)
        return pw_gradient_refuse(g, "only its exact form has a rule");
    return elementwise_rule(g, node, dy, &exact);
}

/* Sum, Mean: any number of inputs. */
static bool sums(struct pw_gradient *g, const struct pw_node *node, pw_value_id dy)
{
    pw_dtype dtype = pw_gradient_info(g, node->outputs[0])->dtype;

    if (strcmp(node->op_type, "Mean") == 0)
        dy = pw_gradient_emit2(g, "Div", dy, pw_gradient_scalar(g, dtype, (double)node->input_count));
    for (size_t i = 0; i < node->input_count; i++) {
        if (active(g, node, i) && !add_broadcast(g, node, i, dy))
            return false;
    }
    return true;
}

/* ---- layout ---- */

static bool reshapes(struct pw_gradient *g, const struct pw_node *node, pw_value_id dy)
{
    if (active(g, node, 0))
        pw_gradient_add(g, node->inputs[0], reshape_like(g, dy, forward(g, node->inputs[0])));
    return true;
}

static bool expand(struct pw_gradient *g, const struct pw_node *node, pw_value_id dy)
{
    return !active(g, node, 0) || add_broadcast(g, node, 0, dy);
}

static bool cast(struct pw_gradient *g, const struct pw_node *node, pw_value_id dy)
{
    pw_value_id out;

    if (!active(g, node, 0))
        return true;
    out = pw_gradient_emit1(g, "Cast", dy);
    pw_gradient_int(g, "to", (int64_t)pw_gradient_info(g, node->inputs[0])->dtype);
    pw_gradient_add(g, node->inputs[0], out);
    return true;
}

static bool transpose(struct pw_gradient *g, const struct pw_node *node, pw_value_id dy)
{
    const struct pw_attr *perm = pw_node_attr(node, "perm");
    int rank = pw_gradient_info(g, node->inputs[0])->rank;
    int64_t inverse[PW_MAX_RANK] = {0};
    pw_value_id out;

    if (rank < 0 || (perm && perm->count != (size_t)rank))
        return pw_gradient_refuse(g, "the input's rank is not known");
    for (int d = 0; d < rank; d++) {
        int64_t from = perm ? perm->ints[d] : rank - 1 - d;

        if (from < 0 || from >= rank)
            return pw_gradient_refuse(g, "perm is not a permutation");
        inverse[from] = d;
    }
    out = pw_gradient_emit1(g, "Transpose", dy);
    pw_gradient_ints(g, "perm", inverse, (size_t)rank);
    pw_gradient_add(g, node->inputs[0], out);
    return true;
}

static bool concat(struct pw_gradient *g, const struct pw_node *node, pw_value_id dy)
{
    enum { MOST = 64 };
    int64_t axis = int_attr(node, "axis");
    int rank = pw_gradient_info(g, node->outputs[0])->rank;
    pw_value_id sizes[MOST], parts[MOST], inputs[2];

    if (rank < 1 || node->input_count > MOST)
        return pw_gradient_refuse(g, "the rank is not known, or there are more than %d inputs", MOST);
    axis += axis < 0 ? rank : 0;
    for (size_t i = 0; i < node->input_count; i++) {
        sizes[i] = pw_gradient_emit1(g, "Shape", forward(g, node->inputs[i]));
        pw_gradient_int(g, "start", axis);
        pw_gradient_int(g, "end", axis + 1);
        parts[i] = pw_gradient_value(g, "Split");
    }
    inputs[0] = dy;
    inputs[1] = pw_gradient_emit(g, "Concat", sizes, node->input_count);
    pw_gradient_int(g, "axis", 0);
    if (g->short_of_memory || !pw_gradient_node(g, "Split", inputs, 2, parts, node->input_count))
        return true;
    pw_gradient_int(g, "axis", axis);
    for (size_t i = 0; i < node->input_count; i++) {
        if (active(g, node, i))
            pw_gradient_add(g, node->inputs[i], parts[i]);
    }
    return true;
}

/* ---- products ---- */

static pw_value_id swap_last(struct pw_gradient *g, pw_value_id id, int rank)
{
    int64_t perm[PW_MAX_RANK];
    pw_value_id out;

    for (int d = 0; d < rank; d++)
        perm[d] = d;
    perm[rank - 2] = rank - 1;
    perm[rank - 1] = rank - 2;
    out = pw_gradient_emit1(g, "Transpose", id);
    pw_gradient_ints(g, "perm", perm, (size_t)rank);
    return out;
}

static pw_value_id unsqueeze(struct pw_gradient *g, pw_value_id id, int64_t axis)
{
    return pw_gradient_emit2(g, "Unsqueeze", id, pw_gradient_list(g, &axis, 1));
}

/* An operand of MatMul as a matrix: a vector gets a dim. */
struct factor {
    pw_value_id id;
    int rank;
    pw_dim dims[PW_MAX_RANK];
    bool vector;
};

static bool read_factor(struct pw_gradient *g, const struct pw_node *node, size_t input, struct factor *f)
{
    const struct pw_info *info = pw_gradient_info(g, node->inputs[input]);

    if (info->rank < 1)
        return pw_gradient_refuse(g, "the rank of input %zu is not known", input);
    f->id = forward(g, node->inputs[input]);
    f->rank = info->rank;
    f->vector = info->rank == 1;
    memcpy(f->dims, info->dims, (size_t)info->rank * sizeof *f->dims);
    if (f->vector) {
        f->rank = 2;
        f->dims[0] = input == 0 ? 1 : info->dims[0];
        f->dims[1] = input == 0 ? info->dims[0] : 1;
        f->id = unsqueeze(g, f->id, input == 0 ? 0 : 1);
    }
    return true;
}

struct shape {
    int rank;
    pw_dim dims[PW_MAX_RANK];
};

/* One operand's derivative: the product of two matrices, summed over the batch dims that were broadcast. `batch` has
 * the output's batch dims. */
static bool add_product(struct pw_gradient *g, const struct pw_node *node, size_t input, const struct factor *f,
                        const struct shape *batch, pw_value_id left, pw_value_id right)
{
    pw_value_id id = pw_gradient_emit2(g, "MatMul", left, right);
    struct shape from = *batch;

    from.dims[from.rank++] = f->dims[f->rank - 2];
    from.dims[from.rank++] = f->dims[f->rank - 1];
    if (!sum_to(g, id, from.rank, from.dims, f->rank, f->dims, &id))
        return false;
    if (f->vector)
        id = reshape_like(g, id, forward(g, node->inputs[input]));
    pw_gradient_add(g, node->inputs[input], id);
    return true;
}

static bool matmul(struct pw_gradient *g, const struct pw_node *node, pw_value_id dy)
{
    const struct pw_info *y = pw_gradient_info(g, node->outputs[0]);
    struct factor a = {0}, b = {0};
    struct shape batch = {0};
    int rank;

    if (!read_factor(g, node, 0, &a) || !read_factor(g, node, 1, &b))
        return false;
    rank = a.rank > b.rank ? a.rank : b.rank;
    batch.rank = rank - 2;
    if (y->rank < batch.rank)
        return pw_gradient_refuse(g, "the output's rank is not known");
    memcpy(batch.dims, y->dims, (size_t)batch.rank * sizeof *batch.dims);
    if (b.vector)
        dy = unsqueeze(g, dy, -1);
    if (a.vector)
        dy = unsqueeze(g, dy, -2);
    if (active(g, node, 0) && !add_product(g, node, 0, &a, &batch, dy, swap_last(g, b.id, b.rank)))
        return false;
    return !active(g, node, 1) || add_product(g, node, 1, &b, &batch, swap_last(g, a.id, a.rank), dy);
}

/* Y = alpha A' B' + beta C with A', B' transposed by attribute. */
static bool gemm(struct pw_gradient *g, const struct pw_node *node, pw_value_id dy)
{
    pw_dtype dtype = pw_gradient_info(g, node->outputs[0])->dtype;
    double alpha = float_attr(node, "alpha"), beta = float_attr(node, "beta");
    bool flip_a = int_attr(node, "transA") != 0, flip_b = int_attr(node, "transB") != 0;
    pw_value_id a = forward(g, node->inputs[0]), b = forward(g, node->inputs[1]), scaled = dy, id;

    if (alpha != 1.0)
        scaled = pw_gradient_emit2(g, "Mul", dy, pw_gradient_scalar(g, dtype, alpha));
    if (active(g, node, 0)) {
        if (flip_a)
            id = pw_gradient_emit2(g, "MatMul", flip_b ? swap_last(g, b, 2) : b, swap_last(g, scaled, 2));
        else
            id = pw_gradient_emit2(g, "MatMul", scaled, flip_b ? b : swap_last(g, b, 2));
        pw_gradient_add(g, node->inputs[0], id);
    }
    if (active(g, node, 1)) {
        if (flip_b)
            id = pw_gradient_emit2(g, "MatMul", swap_last(g, scaled, 2), flip_a ? swap_last(g, a, 2) : a);
        else
            id = pw_gradient_emit2(g, "MatMul", flip_a ? a : swap_last(g, a, 2), scaled);
        pw_gradient_add(g, node->inputs[1], id);
    }
    if (!active(g, node, 2))
        return true;
    if (beta != 1.0)
        dy = pw_gradient_emit2(g, "Mul", dy, pw_gradient_scalar(g, dtype, beta));
    return add_broadcast(g, node, 2, dy);
}

/* ---- reductions ---- */

/* The axes that a reduction takes, sorted out: from the attribute, the constant input, or all. */
static bool reduced_axes(struct pw_gradient *g, const struct pw_node *node, int64_t *axes, size_t *count)
{
    const struct pw_info *x = pw_gradient_info(g, node->inputs[0]);
    const struct pw_attr *attr = pw_node_attr(node, "axes");
    bool given = node->input_count > 1 && node->inputs[1] != PW_NO_VALUE;
    const struct pw_info *list = given ? pw_gradient_info(g, node->inputs[1]) : NULL;

    if (x->rank < 0 || (list && !list->content) || (list && list->content_count > AXES_MAX))
        return pw_gradient_refuse(g, "the rank or the axes are not known");
    *count = list ? list->content_count : attr ? attr->count : 0;
    if (*count == 0 && int_attr(node, "noop_with_empty_axes") == 0) {
        for (int d = 0; d < x->rank; d++)
            axes[d] = d;
        *count = (size_t)x->rank;
        return true;
    }
    for (size_t i = 0; i < *count && i < AXES_MAX; i++) {
        axes[i] = attr ? attr->ints[i] : 0;
        if (list && !pw_dims_value(pw_inference_dims(g->inference), list->content[i], &axes[i]))
            return pw_gradient_refuse(g, "an axis is not a number");
    }
    return *count <= AXES_MAX || pw_gradient_refuse(g, "too many axes");
}

/* Elements of the input for each of the output, in its type; through float32, which holds counts that half does not. */
static pw_value_id ratio(struct pw_gradient *g, const struct pw_node *node)
{
    pw_value_id sizes[2], out;

    for (int i = 0; i < 2; i++) {
        pw_value_id of = forward(g, i == 0 ? node->outputs[0] : node->inputs[0]);

        sizes[i] = pw_gradient_emit1(g, "Cast", pw_gradient_emit1(g, "Size", of));
        pw_gradient_int(g, "to", PW_DTYPE_FLOAT32);
    }
    out = pw_gradient_emit1(g, "Cast", pw_gradient_emit2(g, "Div", sizes[0], sizes[1]));
    pw_gradient_int(g, "to", (int64_t)pw_gradient_info(g, node->outputs[0])->dtype);
    return out;
}

static bool reduction(struct pw_gradient *g, const struct pw_node *node, pw_value_id dy)
{
    pw_value_id x = forward(g, node->inputs[0]), y = forward(g, node->outputs[0]), out = dy;
    pw_dtype dtype = pw_gradient_info(g, node->outputs[0])->dtype;
    const char *kind = node->op_type + strlen("Reduce");
    int64_t axes[AXES_MAX];
    size_t count = 0;

    if (!reduced_axes(g, node, axes, &count))
        return false;
    if (strcmp(kind, "Mean") == 0)
        out = pw_gradient_emit2(g, "Mul", dy, ratio(g, node));
    else if (strcmp(kind, "L2") == 0)
        out = pw_gradient_emit2(g, "Div", dy, y);
    else if (strcmp(kind, "LogSum") == 0)
        out = pw_gradient_emit2(g, "Div", dy, pw_gradient_emit1(g, "Exp", y));
    else if (strcmp(kind, "SumSquare") == 0)
        out = pw_gradient_emit2(g, "Mul", dy, pw_gradient_scalar(g, dtype, 2.0));
    if (int_attr(node, "keepdims") == 0 && count > 0) {
        out = pw_gradient_emit2(g, "Unsqueeze", out, pw_gradient_list(g, axes, count));
        y = pw_gradient_emit2(g, "Unsqueeze", y, pw_gradient_list(g, axes, count));
    }
    if (strcmp(kind, "SumSquare") == 0 || strcmp(kind, "L2") == 0)
        out = pw_gradient_emit2(g, "Mul", out, x);
    else if (strcmp(kind, "L1") == 0)
        out = pw_gradient_emit2(g, "Mul", out, pw_gradient_emit1(g, "Sign", x));
    else if (strcmp(kind, "LogSumExp") == 0)
        out = pw_gradient_emit2(g, "Mul", out, pw_gradient_emit1(g, "Exp", pw_gradient_emit2(g, "Sub", x, y)));
    else
        out = pw_gradient_emit2(g, "Expand", out, pw_gradient_emit1(g, "Shape", x));
    pw_gradient_add(g, node->inputs[0], out);
    return true;
}

static bool softmax(struct pw_gradient *g, const struct pw_node *node, pw_value_id dy)
{
    bool logarithm = strcmp(node->op_type, "LogSoftmax") == 0;
    int rank = pw_gradient_info(g, node->inputs[0])->rank;
    int64_t axis = int_attr(node, "axis");
    pw_value_id y = forward(g, node->outputs[0]), sum;

    if (rank < 1)
        return pw_gradient_refuse(g, "the rank is not known");
    axis += axis < 0 ? rank : 0;
    if (node->op->since < 13 && axis != rank - 1)
        return pw_gradient_refuse(g, "before opset 13 there is a rule for the last axis only");
    sum = logarithm ? dy : pw_gradient_emit2(g, "Mul", dy, y);
    sum = pw_gradient_emit2(g, "ReduceSum", sum, pw_gradient_list(g, &axis, 1));
    pw_gradient_int(g, "keepdims", 1);
    if (logarithm)
        sum = pw_gradient_emit2(g, "Sub", dy, pw_gradient_emit2(g, "Mul", pw_gradient_emit1(g, "Exp", y), sum));
    else
        sum = pw_gradient_emit2(g, "Mul", pw_gradient_emit2(g, "Sub", dy, sum), y);
    pw_gradient_add(g, node->inputs[0], sum);
    return true;
}

/* Steps: the derivative is 0 but where they jump. */
static bool flat(struct pw_gradient *g, const struct pw_node *node, pw_value_id dy)
{
    (void)g;
    (void)node;
    (void)dy;
    return true;
}

/* ---- the table ---- */

static const struct {
    const char *op_type;
    int since;
    bool (*rule)(struct pw_gradient *g, const struct pw_node *node, pw_value_id dy);
} rules[] = {
    {"Gelu", 20, gelu},
    {"Sum", 8, sums},
    {"Mean", 8, sums},
    {"Reshape", 5, reshapes},
    {"Flatten", 1, reshapes},
    {"Squeeze", 1, reshapes},
    {"Unsqueeze", 1, reshapes},
    {"Expand", 8, expand},
    {"Cast", 6, cast},
    {"CastLike", 15, cast},
    {"Transpose", 1, transpose},
    {"Concat", 4, concat},
    {"MatMul", 1, matmul},
    {"Gemm", 7, gemm},
    {"ReduceSum", 1, reduction},
    {"ReduceMean", 1, reduction},
    {"ReduceSumSquare", 1, reduction},
    {"ReduceL1", 1, reduction},
    {"ReduceL2", 1, reduction},
    {"ReduceLogSum", 1, reduction},
    {"ReduceLogSumExp", 1, reduction},
    {"Softmax", 1, softmax},
    {"LogSoftmax", 1, softmax},
    {"Floor", 1, flat},
    {"Ceil", 1, flat},
    {"Round", 11, flat},
    {"Sign", 9, flat},
};

bool pw_gradient_rule(struct pw_gradient *g, const struct pw_node *node, pw_value_id dy)
{
    bool standard = node->op && node->domain[0] == '\0';

    for (size_t i = 0; standard && i < PW_COUNT_OF(elementwise); i++) {
        if (strcmp(elementwise[i].op_type, node->op_type) == 0 && node->op->since >= elementwise[i].since)
            return elementwise_rule(g, node, dy, &elementwise[i]);
    }
    for (size_t i = 0; standard && i < PW_COUNT_OF(rules); i++) {
        if (strcmp(rules[i].op_type, node->op_type) == 0 && node->op->since >= rules[i].since)
            return rules[i].rule(g, node, dy);
    }
    return pw_gradient_refuse(g, "there is no rule for its derivative");
}
