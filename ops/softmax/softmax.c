#include "ops/softmax/softmax_room.h"

#include "base/compiler.h"

struct pw_softmax_layout pw_softmax_layout(const int64_t *dims, int rank, int axis, bool flattens)
{
    struct pw_softmax_layout l = {1, 1, 1};

    for (int d = 0; d < rank; d++) {
        if (d < axis)
            l.outer *= dims[d];
        else if (d == axis || flattens)
            l.length *= dims[d];
        else
            l.inner *= dims[d];
    }
    return l;
}

pw_status pw_softmax_axis(const struct pw_call *call, int rank, int *axis, struct pw_error *err)
{
    const struct pw_softmax_form *form = call->op->data;
    int64_t wanted = pw_call_int(call, "axis");

    if (form->flattens && wanted == rank) { /* rows of one element */
        *axis = rank;
        return PW_OK;
    }
    if (rank == 0 && (wanted == 0 || wanted == -1)) {
        *axis = 0;
        return PW_OK;
    }
    return pw_call_axis(call, wanted, rank, axis, err);
}

static pw_status infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = call->in[0];
    int axis;

    if (in->dtype != PW_DTYPE_UNDEFINED && !pw_dtype_is_float(in->dtype))
        return pw_call_error(call, err, "the input is %s, a float type expected", pw_dtype_name(in->dtype));
    if (in->rank >= 0) {
        pw_status status = pw_softmax_axis(call, in->rank, &axis, err);

        if (status != PW_OK)
            return status;
    }
    return pw_infer_same(call, err);
}

/* Per element: max, subtract, exp, add, divide (Softmax); max, subtract, exp, add, subtract (LogSoftmax);
 * a comparison (Hardmax). */
static pw_status cost(const struct pw_call *call, struct pw_cost *out, struct pw_error *err)
{
    const struct pw_softmax_form *form = call->op->data;

    (void)err;
    out->flops = pw_dims_mul(call->dims, pw_call_elements(call, call->in[0]), form->kind == PW_SOFTMAX_HARD ? 1 : 5);
    return PW_OK;
}

static void accuracy(const struct pw_call *call, struct pw_accuracy *out)
{
    const struct pw_softmax_form *form = call->op->data;
    const struct pw_info *in = call->in[0];
    pw_dim length = 1;
    int64_t terms = 1;
    int axis = 0;

    if (in->rank >= 0 && pw_softmax_axis(call, in->rank, &axis, NULL) == PW_OK) {
        for (int d = axis; d < (form->flattens ? in->rank : axis + 1) && d < in->rank; d++)
            length = pw_dims_mul(call->dims, length, in->dims[d]);
    }
    out->length = pw_dims_value(call->dims, length, &terms) && terms > 0 ? terms : 1;
    out->amplification = 1.0;
    switch (form->kind) {
    case PW_SOFTMAX_SOFT:
        out->ulp = 7.5; /* subtraction 0.5, exp 3, division 2.5, the rounded sum and result */
        out->sensitivity = PW_SENSITIVITY_HIGH;
        out->reason = "exponential of large arguments: an error of d in a logit is a factor of 1 + d";
        out->why = "exp 3 ULP, division 2.5 ULP, and a sum of the row";
        break;
    case PW_SOFTMAX_LOG:
        out->ulp = 8.0; /* exp 3, log 3, subtractions */
        out->sensitivity = PW_SENSITIVITY_HIGH;
        out->reason = "logarithm of a sum of exponentials; cancellation where one logit dominates";
        out->why = "exp 3 ULP, log 3 ULP, and a sum of the row";
        break;
    default:
        out->exact = true;
        out->length = 1;
        out->ulp = 0.0;
        out->sensitivity = PW_SENSITIVITY_LOW;
        out->reason = "only comparisons";
        out->why = "0 or 1, chosen by comparisons";
    }
}

static pw_status bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_softmax_form *form = call->op->data;
    const struct pw_info *in = call->in[0];
    struct pw_softmax_layout l;
    int axis = 0;
    pw_status status = pw_softmax_axis(call, in->rank, &axis, err);

    if (status != PW_OK)
        return status;
    l = pw_softmax_layout(in->dims, in->rank, axis, form->flattens);
    status = pw_bind_int(b, "outer", l.outer, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "length", l.length, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "inner", l.inner, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "log_form", form->kind == PW_SOFTMAX_LOG, err);
    if (status == PW_OK)
        status = pw_bind_word(b, "acc", in->dtype == PW_DTYPE_FLOAT64 ? "double" : "float", err);
    if (status == PW_OK)
        status = pw_bind_int(b, "acc_bytes", in->dtype == PW_DTYPE_FLOAT64 ? 8 : 4, err);
    return status;
}

static const struct pw_formal inputs[] = {{"input", "T", 0}, {0}};
static const struct pw_formal outputs[] = {{"output", "T", 0}, {0}};
static const struct pw_attr_def axis1[] = {{.name = "axis", .type = PW_ATTR_INT, .i = 1}, {0}};
static const struct pw_attr_def axis13[] = {{.name = "axis", .type = PW_ATTR_INT, .i = -1}, {0}};
static const struct pw_softmax_form soft_flat = {PW_SOFTMAX_SOFT, true}, soft = {PW_SOFTMAX_SOFT, false};
static const struct pw_softmax_form log_flat = {PW_SOFTMAX_LOG, true}, log_form = {PW_SOFTMAX_LOG, false};
static const struct pw_softmax_form hard_flat = {PW_SOFTMAX_HARD, true}, hard = {PW_SOFTMAX_HARD, false};

#define SOFTMAX(op_name, version, attributes, op_form, order, functions)                                               \
    {                                                                                                                  \
        .domain = "", .name = op_name, .since = version, .category = PW_CATEGORY_NORMALIZATION, .attrs = attributes,   \
        .inputs = inputs, .outputs = outputs, .infer = infer, .cost = cost, .accuracy = accuracy, .ordered = order,    \
        .ordered_functions = functions, .golden = pw_softmax_golden, .fast = pw_softmax_fast, .bind = bind,            \
        .data = &op_form                                                                                               \
    }

const struct pw_op pw_softmax_ops[] = {
    SOFTMAX("Softmax", 1, axis1, soft_flat, pw_softmax_ordered, "exp divide"),
    SOFTMAX("Softmax", 11, axis1, soft_flat, pw_softmax_ordered, "exp divide"),
    SOFTMAX("Softmax", 13, axis13, soft, pw_softmax_ordered, "exp divide"),
    SOFTMAX("LogSoftmax", 1, axis1, log_flat, pw_softmax_ordered, "exp log"),
    SOFTMAX("LogSoftmax", 11, axis1, log_flat, pw_softmax_ordered, "exp log"),
    SOFTMAX("LogSoftmax", 13, axis13, log_form, pw_softmax_ordered, "exp log"),
    SOFTMAX("Hardmax", 1, axis1, hard_flat, NULL, NULL),
    SOFTMAX("Hardmax", 11, axis1, hard_flat, NULL, NULL),
    SOFTMAX("Hardmax", 13, axis13, hard, NULL, NULL),
    {0},
};
