/* Shapes, costs, accuracy and the bindings of kernels. */
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "ops/elementwise/elementwise_bind.h"
#include "ops/elementwise/elementwise_room.h"

static pw_ew own_function(const struct pw_call *call)
{
    const struct pw_ew_form *form = call->op->data;

    return (pw_ew)(form - pw_ew_forms);
}

pw_ew pw_ew_function(const struct pw_call *call)
{
    pw_ew function = own_function(call);

    if (function == PW_EW_MOD && pw_call_int(call, "fmod") != 0)
        return PW_EW_FMOD;
    if (function == PW_EW_SHIFT_LEFT && strcmp(pw_call_string(call, "direction"), "RIGHT") == 0)
        return PW_EW_SHIFT_RIGHT;
    return function;
}

/* ---- shapes ---- */

/* Before opset 7 the second operand is placed by an attribute. */
static bool has_axis(const struct pw_call *call)
{
    for (const struct pw_attr_def *attr = call->op->attrs; attr && attr->name; attr++) {
        if (strcmp(attr->name, "broadcast") == 0)
            return true;
    }
    return false;
}

bool pw_ew_unidirectional(const struct pw_call *call)
{
    return has_axis(call) || own_function(call) == PW_EW_PRELU;
}

static bool variadic(const struct pw_call *call)
{
    return call->op->inputs[0].flags & PW_FORMAL_VARIADIC;
}

/* Max, Min, Mean and Sum broadcast from opset 8 on. */
static bool must_equal(const struct pw_call *call)
{
    return (variadic(call) && call->op->since < 8) || (has_axis(call) && pw_call_int(call, "broadcast") == 0);
}

static bool all_ones(int rank, const int64_t *dims)
{
    for (int d = 0; d < rank; d++) {
        if (dims[d] != 1)
            return false;
    }
    return true;
}

pw_status pw_ew_align(const struct pw_call *call, int i, int rank0, int rank, const int64_t *dims, int *aligned_rank,
                      int64_t *aligned, struct pw_error *err)
{
    int64_t axis = -1;

    memcpy(aligned, dims, (size_t)rank * sizeof *dims);
    *aligned_rank = rank;
    if (i == 0 || all_ones(rank, dims))
        return PW_OK;
    if (has_axis(call) && pw_call_has(call, "axis"))
        axis = pw_call_int(call, "axis");
    else if (own_function(call) == PW_EW_PRELU && call->op->since < 7 && rank == 1 && rank0 > 1)
        axis = 1; /* one slope a channel */
    else
        return PW_OK;
    axis = axis < 0 ? axis + rank0 : axis;
    if (axis < 0 || axis > rank0 - rank)
        return pw_call_error(call, err, "axis %lld places %d dims into an input of rank %d", (long long)axis, rank,
                             rank0);
    for (int d = rank; d < rank0 - (int)axis; d++)
        aligned[d] = 1;
    *aligned_rank = rank0 - (int)axis;
    return PW_OK;
}

static pw_status shape_error(const struct pw_call *call, int i, const char *rule, struct pw_error *err)
{
    struct pw_buf a = {0}, b = {0};
    char shown_a[160], shown_b[160];
    pw_status status;

    for (int side = 0; side < 2; side++) {
        const struct pw_info *info = call->in[side ? i : 0];

        for (int d = 0; d < info->rank; d++) {
            pw_buf_puts(side ? &b : &a, d ? "," : "");
            pw_dims_print(call->dims, info->dims[d], side ? &b : &a);
        }
    }
    status = pw_call_error(call, err, "input %d is [%s], input 0 is [%s]: %s", i,
                           pw_text_show(shown_b, sizeof shown_b, pw_buf_text(&b), 120),
                           pw_text_show(shown_a, sizeof shown_a, pw_buf_text(&a), 120), rule);
    pw_buf_clear(&a);
    pw_buf_clear(&b);
    return status;
}

/* Shapes that must agree dim by dim: symbols may, two different numbers may not. */
static pw_status check_equal(const struct pw_call *call, int i, struct pw_error *err)
{
    static const char rule[] = "this version of the operator wants equal shapes";
    const struct pw_info *a = call->in[0], *b = call->in[i];

    if (a->rank != b->rank)
        return shape_error(call, i, rule, err);
    for (int d = 0; d < a->rank; d++) {
        if (a->dims[d] >= 0 && b->dims[d] >= 0 && a->dims[d] != b->dims[d])
            return shape_error(call, i, rule, err);
    }
    return PW_OK;
}

/* Input i must broadcast into input 0. */
static pw_status check_into(const struct pw_call *call, int i, struct pw_error *err)
{
    static const char rule[] = "it must broadcast into it";
    const struct pw_info *a = call->in[0], *b = call->in[i];
    pw_dim aligned[PW_MAX_RANK];
    int rank = 0, shift;
    pw_status status = pw_ew_align(call, i, a->rank, b->rank, b->dims, &rank, aligned, err);

    if (status != PW_OK)
        return status;
    shift = a->rank - rank;
    for (int d = 0; d < rank; d++) {
        if (shift + d < 0
                ? aligned[d] >= 0 && aligned[d] != 1
                : aligned[d] >= 0 && aligned[d] != 1 && a->dims[shift + d] >= 0 && aligned[d] != a->dims[shift + d])
            return shape_error(call, i, rule, err);
    }
    return PW_OK;
}

static pw_status infer_shape(struct pw_call *call, int *rank, pw_dim *dims, struct pw_error *err)
{
    const struct pw_info *first = call->in[0];
    int *inputs = pw_arena_alloc(call->arena, (size_t)call->input_count + 1, sizeof *inputs);
    bool like_first = pw_ew_unidirectional(call) || must_equal(call);

    if (!inputs)
        return pw_error_memory(err, (size_t)call->input_count * sizeof *inputs);
    for (int i = 0; i < call->input_count; i++)
        inputs[i] = i;
    if (!like_first)
        return pw_call_broadcast(call, inputs, call->input_count, rank, dims, err);
    *rank = first->rank;
    for (int i = 1; i < call->input_count && first->rank >= 0; i++) {
        pw_status status;

        if (!call->in[i] || call->in[i]->rank < 0)
            continue;
        status = must_equal(call) ? check_equal(call, i, err) : check_into(call, i, err);
        if (status != PW_OK)
            return status;
    }
    for (int d = 0; d < first->rank; d++)
        dims[d] = first->dims[d];
    return PW_OK;
}

/* ---- types ---- */

#define BIT(dtype) (1u << (dtype))
#define NUMBERS                                                                                                        \
    (BIT(PW_DTYPE_FLOAT16) | BIT(PW_DTYPE_BFLOAT16) | BIT(PW_DTYPE_FLOAT32) | BIT(PW_DTYPE_FLOAT64) |                  \
     BIT(PW_DTYPE_INT8) | BIT(PW_DTYPE_INT16) | BIT(PW_DTYPE_INT32) | BIT(PW_DTYPE_INT64) | BIT(PW_DTYPE_UINT8) |      \
     BIT(PW_DTYPE_UINT16) | BIT(PW_DTYPE_UINT32) | BIT(PW_DTYPE_UINT64))

static pw_status check_types(const struct pw_call *call, struct pw_error *err)
{
    pw_ew function = own_function(call);

    for (int i = 0; i < call->input_count; i++) {
        uint32_t allowed = pw_ew_forms[function].types;

        if (!call->in[i] || call->in[i]->dtype == PW_DTYPE_UNDEFINED)
            continue;
        if (function == PW_EW_WHERE && i == 0)
            allowed = BIT(PW_DTYPE_BOOL);
        if (function == PW_EW_POW && i == 1)
            allowed = NUMBERS;
        if (!(allowed >> call->in[i]->dtype & 1))
            return pw_call_error(call, err, "input %d is %s, which %s does not take", i,
                                 pw_dtype_name(call->in[i]->dtype), call->op->name);
    }
    return PW_OK;
}

static bool clip_bounds_are_scalars(const struct pw_call *call)
{
    for (int i = 1; i < call->input_count; i++) {
        const struct pw_info *info = call->in[i];

        for (int d = 0; info && d < info->rank; d++) {
            if (info->dims[d] >= 0 && info->dims[d] != 1)
                return false;
        }
    }
    return true;
}

pw_status pw_ew_infer(struct pw_call *call, struct pw_error *err)
{
    pw_ew function = own_function(call);
    int value = function == PW_EW_WHERE ? 1 : 0;
    pw_dtype dtype = pw_call_input(call, value) ? call->in[value]->dtype : PW_DTYPE_UNDEFINED;
    pw_dim dims[PW_MAX_RANK];
    int rank = 0;
    pw_status status = check_types(call, err);

    if (status != PW_OK)
        return status;
    if (function == PW_EW_SHIFT_LEFT && strcmp(pw_call_string(call, "direction"), "LEFT") != 0 &&
        strcmp(pw_call_string(call, "direction"), "RIGHT") != 0)
        return pw_call_error(call, err, "direction '%.40s', LEFT or RIGHT expected", pw_call_string(call, "direction"));
    if (function < PW_EW_FIRST_BINARY) {
        if (!clip_bounds_are_scalars(call))
            return pw_call_error(call, err, "min and max must be scalars");
        pw_call_output_like(call, 0, 0);
    } else {
        if (function == PW_EW_WHERE && dtype == PW_DTYPE_UNDEFINED && pw_call_input(call, 2))
            dtype = call->in[2]->dtype;
        status = infer_shape(call, &rank, dims, err);
        if (status != PW_OK)
            return status;
        pw_call_output(call, 0, dtype, rank, dims);
    }
    if (pw_ew_forms[function].to_bool)
        call->out[0].dtype = PW_DTYPE_BOOL;
    return pw_ew_infer_content(call, err);
}

/* ---- cost, accuracy, inputs ---- */

pw_status pw_ew_cost(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    const struct pw_info *out = &call->out[0];
    pw_ew function = own_function(call);
    int64_t each = 1;
    pw_dim size = 1;

    (void)err;
    if (function == PW_EW_WHERE || !call->in[0] || !pw_dtype_is_float(call->in[0]->dtype))
        each = 0;
    else if (variadic(call))
        each = function == PW_EW_MEAN ? call->input_count : call->input_count - 1;
    else if (function == PW_EW_CLIP)
        each = 2;
    if (out->rank < 0) {
        cost->flops = PW_DIM_UNKNOWN;
        return PW_OK;
    }
    for (int d = 0; d < out->rank; d++)
        size = pw_dims_mul(call->dims, size, out->dims[d]);
    cost->flops = pw_dims_mul(call->dims, size, each);
    return PW_OK;
}

/* Names in the device's contract, where the bound is one of a function and not of the formula around it. */
static const char *const functions[PW_EW_COUNT] = {
    [PW_EW_ACOS] = "acos",         [PW_EW_ASIN] = "asin",  [PW_EW_ATAN] = "atan", [PW_EW_COS] = "cos",
    [PW_EW_COSH] = "cosh",         [PW_EW_ERF] = "erf",    [PW_EW_EXP] = "exp",   [PW_EW_LOG] = "log",
    [PW_EW_RECIPROCAL] = "divide", [PW_EW_SIN] = "sin",    [PW_EW_SINH] = "sinh", [PW_EW_SQRT] = "sqrt",
    [PW_EW_TAN] = "tan",           [PW_EW_TANH] = "tanh",  [PW_EW_ADD] = "add",   [PW_EW_SUB] = "add",
    [PW_EW_MUL] = "mul",           [PW_EW_DIV] = "divide", [PW_EW_POW] = "pow",   [PW_EW_MEAN] = "divide",
};

static bool has_infinity(pw_dtype dtype)
{
    return dtype == PW_DTYPE_FLOAT32 || dtype == PW_DTYPE_FLOAT16 || dtype == PW_DTYPE_BFLOAT16 ||
           dtype == PW_DTYPE_FLOAT64 || dtype == PW_DTYPE_FLOAT8E5M2;
}

void pw_ew_accuracy(const struct pw_call *call, struct pw_accuracy *accuracy)
{
    const struct pw_ew_form *form = &pw_ew_forms[pw_ew_function(call)];
    bool floating = call->out[0].dtype == PW_DTYPE_UNDEFINED || pw_dtype_is_float(call->out[0].dtype);

    accuracy->exact = form->exact || !floating;
    accuracy->ulp = accuracy->exact ? 0 : form->ulp;
    accuracy->length = 1;
    accuracy->amplification = 1;
    accuracy->sensitivity = form->sensitivity;
    accuracy->reason = form->reason;
    accuracy->why = floating ? form->why : "integers and truth values: bitwise";
    accuracy->pointwise = floating && call->input_count <= 3;
    accuracy->functions = functions[pw_ew_function(call)];
    accuracy->constant = pw_ew_function(call) == PW_EW_IS_INF && !has_infinity(call->in[0]->dtype);
    if (variadic(call) && !accuracy->exact && call->input_count > 2) {
        accuracy->ulp = form->ulp + 0.5 * (call->input_count - 2);
        accuracy->length = call->input_count;
        accuracy->pointwise = false; /* a sum of three may cancel */
    }
}

void pw_ew_fill(const struct pw_call *call, int input, struct pw_fill *fill)
{
    const struct pw_ew_form *form = call->op->data;
    pw_ew function = own_function(call);
    const struct pw_info *info = pw_call_input(call, input) ? call->in[input] : NULL;
    int64_t bits = info ? 8 * (int64_t)pw_dtype_bytes(info->dtype) : 8;

    if (form->low != form->high) {
        fill->low = form->low;
        fill->high = form->high;
    }
    if (function == PW_EW_SHIFT_LEFT && input == 1) {
        fill->int_low = 0;
        fill->int_high = bits - 1;
    } else if ((function == PW_EW_DIV || function == PW_EW_MOD) && input == 1) {
        fill->int_low = 1; /* integers: the result of a division by 0 is not defined */
        fill->int_high = 100;
    } else if (function == PW_EW_POW) {
        fill->int_low = input == 0 ? -4 : 0;
        fill->int_high = 4;
        fill->low = input == 0 ? form->low : -3;
        fill->high = input == 0 ? form->high : 3;
        if (call->input_count > 1 && call->in[0] && call->in[1] && !pw_dtype_is_float(call->in[0]->dtype) &&
            pw_dtype_is_float(call->in[1]->dtype)) {
            fill->int_low = 1; /* NaN (of a negative base), infinity (of 0) and what overflows are no integers */
            fill->only = true;
        }
        fill->keep = input == 1; /* a graph's exponent is nearly always a constant 2 or 3 */
    } else if (function == PW_EW_CLIP && input > 0) {
        fill->keep = true;
    }
}

/* ---- kernels ---- */

/* The collapsed dims of the call and each operand's strides: `rank` outer dims in `walk` (dims, then strides of
 * operand 0, 1…), `rows` their product, `inner` the run, `steps` 0 or 1 an operand. */
static pw_status bind_walk(struct pw_bindings *b, const int64_t *dims, int rank, int operands, const int64_t *strides,
                           struct pw_error *err)
{
    int64_t rows = 1, inner = dims[rank - 1], walk[PW_MAX_RANK * (PW_BROADCAST_OPERANDS + 1)],
            steps[PW_BROADCAST_OPERANDS];
    int outer = rank - 1;
    pw_status status;

    for (int d = 0; d < outer; d++) {
        rows *= dims[d];
        walk[d] = dims[d];
        for (int i = 0; i < operands; i++)
            walk[(i + 1) * outer + d] = strides[i * PW_MAX_RANK + d];
    }
    for (int i = 0; i < operands; i++)
        steps[i] = strides[i * PW_MAX_RANK + outer];
    status = pw_bind_int(b, "rank", outer, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "rows", rows, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "inner", inner, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "walk", walk, (size_t)(outer * (operands + 1)), err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "steps", steps, (size_t)operands, err);
    return status;
}

static pw_status bind_broadcast(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_info *out = &call->out[0];
    int64_t aligned[PW_BROADCAST_OPERANDS][PW_MAX_RANK];
    const int64_t *dims[PW_BROADCAST_OPERANDS];
    int ranks[PW_BROADCAST_OPERANDS];
    struct pw_broadcast plan;

    if (call->input_count > PW_BROADCAST_OPERANDS)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "%d inputs; kernels take at most %d", call->input_count,
                            PW_BROADCAST_OPERANDS);
    for (int i = 0; i < call->input_count; i++) {
        pw_status status;

        if (!call->in[i] || call->in[i]->rank < 0)
            return pw_error_set(err, PW_ERR_UNSUPPORTED, "the shape of input %d is not known", i);
        status =
            pw_ew_align(call, i, call->in[0]->rank, call->in[i]->rank, call->in[i]->dims, &ranks[i], aligned[i], err);
        if (status != PW_OK)
            return status;
        dims[i] = aligned[i];
    }
    if (out->rank < 0 || !pw_broadcast_plan(&plan, out->rank, out->dims, call->input_count, ranks, dims))
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "the shapes do not broadcast");
    return bind_walk(b, plan.dims, plan.rank, plan.operands, &plan.strides[0][0], err);
}

/* Clip's attributes; without one there is no bound, not the largest finite number. */
static pw_status bind_clip(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    double low = pw_call_has(call, "min") ? (double)pw_call_float(call, "min") : -INFINITY;
    double high = pw_call_has(call, "max") ? (double)pw_call_float(call, "max") : INFINITY;
    pw_status status = pw_bind_float(b, "low", low, err);

    return status == PW_OK ? pw_bind_float(b, "high", high, err) : status;
}

pw_status pw_ew_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    pw_ew function = pw_ew_function(call);
    pw_status status = pw_bind_word(b, "function", pw_ew_forms[function].word, err);

    if (status == PW_OK && function == PW_EW_CLIP && call->op->attrs)
        status = bind_clip(call, b, err);

    if (status == PW_OK && function >= PW_EW_FIRST_BINARY)
        status = bind_broadcast(call, b, err);
    return status;
}
