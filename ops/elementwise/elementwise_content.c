/* Integer contents through elementwise operators: exporters compute shapes with them. */
#include "base/compiler.h"
#include "ops/elementwise/elementwise_room.h"

enum { OPERANDS_MAX = PW_BROADCAST_OPERANDS };

/* 1, 0 or UNKNOWN for a >= b, from what is provable about a - b. */
static pw_dim at_least(struct pw_dims *dims, pw_dim a, pw_dim b)
{
    if (a == b)
        return 1;
    if (pw_dims_at_least(dims, pw_dims_sub(dims, a, b), 0))
        return 1;
    if (pw_dims_at_least(dims, pw_dims_sub(dims, b, a), 1))
        return 0;
    return PW_DIM_UNKNOWN;
}

static pw_dim negate(pw_dim truth)
{
    return truth == PW_DIM_UNKNOWN ? truth : !truth;
}

static pw_dim equal(struct pw_dims *dims, pw_dim a, pw_dim b)
{
    if (a == b)
        return 1;
    if (at_least(dims, a, b) == 0 || at_least(dims, b, a) == 0)
        return 0;
    return PW_DIM_UNKNOWN;
}

/* ONNX divides toward zero; floor division is the same when nothing is negative. */
static pw_dim divide(struct pw_dims *dims, pw_dim a, pw_dim b)
{
    int64_t x, y;

    if (pw_dims_value(dims, a, &x) && pw_dims_value(dims, b, &y)) {
        if (y == 0 || (x == INT64_MIN && y == -1))
            return PW_DIM_UNKNOWN;
        return pw_dims_int(dims, x / y);
    }
    if (pw_dims_at_least(dims, a, 0) && pw_dims_at_least(dims, b, 1))
        return pw_dims_floordiv(dims, a, b);
    return PW_DIM_UNKNOWN;
}

static pw_dim fmod_of(struct pw_dims *dims, pw_dim a, pw_dim b)
{
    int64_t x, y;

    if (pw_dims_value(dims, a, &x) && pw_dims_value(dims, b, &y))
        return y == 0 || y == -1 ? (y ? 0 : PW_DIM_UNKNOWN) : pw_dims_int(dims, x % y);
    if (pw_dims_at_least(dims, a, 0) && pw_dims_at_least(dims, b, 1))
        return pw_dims_mod(dims, a, b);
    return PW_DIM_UNKNOWN;
}

static pw_dim apply_binary(struct pw_dims *dims, pw_ew function, pw_dim a, pw_dim b)
{
    int64_t x, y;

    /* Truth values are decided by one side: x && 0 = 0. */
    if (function == PW_EW_AND && (a == 0 || b == 0))
        return 0;
    if (function == PW_EW_OR && (a == 1 || b == 1))
        return 1;
    if (a == PW_DIM_UNKNOWN || b == PW_DIM_UNKNOWN)
        return PW_DIM_UNKNOWN;
    switch (function) {
    case PW_EW_ADD:
        return pw_dims_add(dims, a, b);
    case PW_EW_SUB:
        return pw_dims_sub(dims, a, b);
    case PW_EW_MUL:
        return pw_dims_mul(dims, a, b);
    case PW_EW_DIV:
        return divide(dims, a, b);
    case PW_EW_MOD:
        return pw_dims_value(dims, b, &y) && y == 0 ? PW_DIM_UNKNOWN : pw_dims_mod(dims, a, b);
    case PW_EW_FMOD:
        return fmod_of(dims, a, b);
    case PW_EW_MAX:
        return pw_dims_max(dims, a, b);
    case PW_EW_MIN:
        return pw_dims_min(dims, a, b);
    case PW_EW_AND:
    case PW_EW_OR: /* neither side decided above */
    case PW_EW_XOR:
        if (!pw_dims_value(dims, a, &x) || !pw_dims_value(dims, b, &y))
            return PW_DIM_UNKNOWN;
        return function == PW_EW_AND ? (x && y) : function == PW_EW_OR ? (x || y) : (!x != !y);
    case PW_EW_EQUAL:
        return equal(dims, a, b);
    case PW_EW_GREATER:
        return negate(at_least(dims, b, a));
    case PW_EW_GREATER_EQUAL:
        return at_least(dims, a, b);
    case PW_EW_LESS:
        return negate(at_least(dims, a, b));
    case PW_EW_LESS_EQUAL:
        return at_least(dims, b, a);
    default:
        return PW_DIM_UNKNOWN;
    }
}

static pw_dim apply_unary(struct pw_dims *dims, pw_ew function, pw_dim a)
{
    int64_t x;

    if (a == PW_DIM_UNKNOWN)
        return a;
    switch (function) {
    case PW_EW_NEG:
        return pw_dims_sub(dims, 0, a);
    case PW_EW_ABS:
        if (pw_dims_at_least(dims, a, 0))
            return a;
        return pw_dims_value(dims, a, &x) ? pw_dims_sub(dims, 0, a) : PW_DIM_UNKNOWN;
    case PW_EW_NOT:
        return pw_dims_value(dims, a, &x) ? !x : PW_DIM_UNKNOWN;
    case PW_EW_SIGN:
        if (pw_dims_value(dims, a, &x))
            return pw_dims_int(dims, (x > 0) - (x < 0));
        return pw_dims_at_least(dims, a, 1) ? 1 : PW_DIM_UNKNOWN;
    default:
        return PW_DIM_UNKNOWN;
    }
}

static pw_dim apply(struct pw_dims *dims, pw_ew function, const pw_dim *v, int count)
{
    pw_dim result = v[0];

    if (function == PW_EW_WHERE) {
        int64_t condition;

        if (v[0] != PW_DIM_UNKNOWN && pw_dims_value(dims, v[0], &condition))
            return condition ? v[1] : v[2];
        return v[1] == v[2] ? v[1] : PW_DIM_UNKNOWN;
    }
    if (function < PW_EW_FIRST_BINARY)
        return apply_unary(dims, function, v[0]);
    for (int i = 1; i < count; i++)
        result = apply_binary(dims, function, result, v[i]);
    return result;
}

/* A number that the dtype can't hold would wrap. */
static bool fits(const struct pw_dims *dims, pw_dim value, pw_dtype dtype)
{
    const struct pw_dtype_facts *facts = pw_dtype_facts(dtype);
    int64_t x;

    if (value == PW_DIM_UNKNOWN || !pw_dims_value(dims, value, &x) || facts->bytes == 8)
        return true;
    if (facts->kind == PW_KIND_BOOL)
        return x == 0 || x == 1;
    return (double)x <= facts->max && (double)x >= (facts->kind == PW_KIND_UNSIGNED ? 0.0 : -facts->max - 1.0);
}

struct visit {
    struct pw_call *call;
    pw_ew function;
    pw_dim *content;
};

static void visit_run(void *user, int64_t out, const int64_t *at, const int64_t *steps, int64_t n)
{
    struct visit *v = user;
    struct pw_call *call = v->call;
    pw_dtype dtype = call->out[0].dtype;

    for (int64_t i = 0; i < n; i++) {
        pw_dim values[OPERANDS_MAX] = {0}, made;

        for (int k = 0; k < call->input_count; k++)
            values[k] = call->in[k]->content[at[k] + i * steps[k]];
        made = apply(call->dims, v->function, values, call->input_count);
        v->content[out + i] = fits(call->dims, made, dtype) ? made : PW_DIM_UNKNOWN;
    }
}

/* Are the dims numbers, and *count their product within what is tracked? */
static bool concrete(const struct pw_info *info, int64_t *count)
{
    *count = 1;
    for (int d = 0; d < info->rank; d++) {
        if (info->dims[d] < 0 || __builtin_mul_overflow(*count, info->dims[d], count) || *count > PW_CONTENT_MAX)
            return false;
    }
    return info->rank >= 0;
}

pw_status pw_ew_infer_content(struct pw_call *call, struct pw_error *err)
{
    struct visit visit = {.call = call, .function = pw_ew_function(call)};
    struct pw_info *out = &call->out[0];
    int64_t aligned[OPERANDS_MAX][PW_MAX_RANK];
    const int64_t *dims[OPERANDS_MAX];
    int ranks[OPERANDS_MAX];
    struct pw_broadcast plan;
    int64_t count = 0;

    if (call->output_count < 1 || call->input_count > OPERANDS_MAX || !concrete(out, &count) ||
        (!pw_dtype_is_integer(out->dtype) && out->dtype != PW_DTYPE_BOOL))
        return PW_OK;
    for (int i = 0; i < call->input_count; i++) {
        pw_status status;

        if (!call->in[i] || !call->in[i]->content || !concrete(call->in[i], &count) ||
            call->in[i]->content_count != (size_t)count)
            return PW_OK;
        status =
            pw_ew_align(call, i, call->in[0]->rank, call->in[i]->rank, call->in[i]->dims, &ranks[i], aligned[i], err);
        if (status != PW_OK)
            return status;
        dims[i] = aligned[i];
    }
    if (!pw_broadcast_plan(&plan, out->rank, out->dims, call->input_count, ranks, dims))
        return PW_OK;
    visit.content = pw_arena_alloc(call->arena, (size_t)plan.count + 1, sizeof *visit.content);
    if (!visit.content)
        return pw_error_memory(err, (size_t)plan.count * sizeof *visit.content);
    pw_broadcast_walk(&plan, 0, plan.count, visit_run, &visit);
    for (int64_t i = 0; i < plan.count; i++) {
        if (visit.content[i] == PW_DIM_UNKNOWN && plan.count == 1)
            return PW_OK; /* nothing was learnt */
    }
    out->content = visit.content;
    out->content_count = (size_t)plan.count;
    return PW_OK;
}
