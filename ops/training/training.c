#include "ops/training/training_room.h"

#include <inttypes.h>
#include <string.h>

enum { FIRST = 2 }; /* inputs before the variables: R and T */

/* ---- attributes, shapes ---- */

pw_status pw_training_nesterov(const struct pw_call *call, bool *out, struct pw_error *err)
{
    const struct pw_training_form *form = call->op->data;
    const char *mode = pw_call_string(call, "mode");

    *out = false;
    if (form->kind != PW_TRAINING_MOMENTUM)
        return PW_OK;
    *out = strcmp(mode, "nesterov") == 0;
    if (!*out && strcmp(mode, "standard") != 0)
        return pw_call_error(call, err, "mode is '%.40s', expected standard or nesterov", mode);
    return PW_OK;
}

static pw_status check_scalar(const struct pw_call *call, int input, struct pw_error *err)
{
    const struct pw_info *info = call->in[input];

    for (int d = 0; d < info->rank; d++) {
        if (info->dims[d] >= 0 && info->dims[d] != 1)
            return pw_call_error(call, err, "'%s' has %" PRId64 " in dim %d, expected a single number",
                                 call->op->inputs[input].name, info->dims[d], d);
    }
    return PW_OK;
}

static pw_status check_float(const struct pw_call *call, const char *what, const struct pw_info *info,
                             struct pw_error *err)
{
    if (info->dtype == PW_DTYPE_UNDEFINED || pw_dtype_is_float(info->dtype))
        return PW_OK;
    return pw_call_error(call, err, "%s is %s, a float type expected", what, pw_dtype_name(info->dtype));
}

/* A gradient or state must be as its variable. */
static pw_status check_same(const struct pw_call *call, int input, int variable, struct pw_error *err)
{
    const struct pw_info *info = call->in[input], *x = call->in[variable];

    if (info->dtype != x->dtype && info->dtype != PW_DTYPE_UNDEFINED && x->dtype != PW_DTYPE_UNDEFINED)
        return pw_call_error(call, err, "input %d is %s, its variable (input %d) is %s", input,
                             pw_dtype_name(info->dtype), variable, pw_dtype_name(x->dtype));
    if (info->rank < 0 || x->rank < 0)
        return PW_OK;
    if (info->rank != x->rank)
        return pw_call_error(call, err, "input %d has rank %d, its variable (input %d) has rank %d", input, info->rank,
                             variable, x->rank);
    for (int d = 0; d < x->rank; d++) {
        if (info->dims[d] >= 0 && x->dims[d] >= 0 && info->dims[d] != x->dims[d])
            return pw_call_error(call, err, "input %d has %" PRId64 " in dim %d, its variable (input %d) has %" PRId64,
                                 input, info->dims[d], d, variable, x->dims[d]);
    }
    return PW_OK;
}

pw_status pw_training_variables(const struct pw_call *call, int *out, struct pw_error *err)
{
    const struct pw_training_form *form = call->op->data;
    int groups = form->states + 2, count = call->input_count - FIRST;
    pw_status status = PW_OK;

    if (count < groups || count % groups != 0)
        return pw_call_error(call, err, "%d tensors after R and T, expected a multiple of %d", count, groups);
    *out = count / groups;
    if (call->output_count != *out * (form->states + 1))
        return pw_call_error(call, err, "%d outputs for %d variables, expected %d", call->output_count, *out,
                             *out * (form->states + 1));
    for (int i = 0; i < call->input_count && status == PW_OK; i++) {
        if (!call->in[i])
            return pw_call_error(call, err, "input %d is omitted", i);
        status = i < FIRST ? check_scalar(call, i, err) : check_same(call, i, FIRST + (i - FIRST) % *out, err);
    }
    if (status == PW_OK)
        status = check_float(call, "R", call->in[0], err);
    for (int i = 0; i < *out && status == PW_OK; i++)
        status = check_float(call, "a variable", call->in[FIRST + i], err);
    if (status == PW_OK && call->in[1]->dtype != PW_DTYPE_UNDEFINED && call->in[1]->dtype != PW_DTYPE_INT64)
        return pw_call_error(call, err, "T is %s, int64 expected", pw_dtype_name(call->in[1]->dtype));
    return status;
}

static pw_status infer(struct pw_call *call, struct pw_error *err)
{
    bool nesterov = false;
    int variables = 0;
    pw_status status = pw_training_nesterov(call, &nesterov, err);

    if (status == PW_OK)
        status = pw_training_variables(call, &variables, err);
    for (int i = 0; i < call->output_count && status == PW_OK; i++)
        pw_call_output_like(call, i, FIRST + i % variables);
    return status;
}

/* What is left of Gradient when a model is loaded: a node that no rule replaces. Its outputs look like its variables.
 */
static pw_status infer_gradient(struct pw_call *call, struct pw_error *err)
{
    const struct pw_attr *xs = pw_node_attr(call->node, "xs");

    if (!xs || xs->type != PW_ATTR_STRINGS || (size_t)call->output_count > xs->count ||
        call->output_count > call->input_count)
        return pw_call_error(call, err, "%d inputs and %d outputs do not fit the names in xs", call->input_count,
                             call->output_count);
    for (int i = 0; i < call->output_count; i++) {
        if (call->in[i])
            pw_call_output_like(call, i, i);
        else
            pw_call_output_unknown(call, i, PW_DTYPE_UNDEFINED);
    }
    return PW_OK;
}

/* ---- cost, accuracy ---- */

static pw_status cost(const struct pw_call *call, struct pw_cost *out, struct pw_error *err)
{
    static const int per_element[] = {[PW_TRAINING_ADAGRAD] = 9, [PW_TRAINING_ADAM] = 17, [PW_TRAINING_MOMENTUM] = 9};
    const struct pw_training_form *form = call->op->data;
    int variables = 0;
    pw_status status = pw_training_variables(call, &variables, err);

    out->flops = 0;
    for (int v = 0; v < variables && status == PW_OK; v++) {
        const struct pw_info *x = call->in[FIRST + v];
        pw_dim n = x->rank < 0 ? PW_DIM_UNKNOWN : per_element[form->kind];

        for (int d = 0; d < x->rank; d++)
            n = pw_dims_mul(call->dims, n, x->dims[d]);
        out->flops = pw_dims_add(call->dims, out->flops, n);
    }
    return status;
}

/* An amplification of 8: the step carries the functions' errors, and where it undoes X, the smallest scale that a
 * verdict uses is an eighth of the output's root mean square. */
static void accuracy(const struct pw_call *call, struct pw_accuracy *out)
{
    const struct pw_training_form *form = call->op->data;

    out->exact = false;
    out->length = 1;
    out->amplification = 8.0;
    out->ulp = 1.5;
    out->sensitivity = PW_SENSITIVITY_MEDIUM;
    out->reason = "a small step is added to a large value: in low precision it is lost";
    out->why = "multiply-adds of the gradient, the states and the step, which may undo X";
    if (form->kind != PW_TRAINING_MOMENTUM) {
        out->ulp = form->kind == PW_TRAINING_ADAM ? 8.0 : 6.5;
        out->sensitivity = PW_SENSITIVITY_HIGH;
        out->reason = "division by the root of a small sum of squares; a small step is added to a large value";
        out->why = form->kind == PW_TRAINING_ADAM
                       ? "square root 3 ULP, division 2.5 ULP, multiply-adds, bias correction; the step may undo X"
                       : "square root 3 ULP, division 2.5 ULP, multiply-adds; the step may undo X";
    }
}

/* ---- binding, inputs of cases ---- */

static pw_status bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    bool nesterov = false;
    int variables = 0;
    pw_status status = pw_training_nesterov(call, &nesterov, err);

    if (status == PW_OK)
        status = pw_training_variables(call, &variables, err);
    for (int v = 1; v < variables && status == PW_OK; v++) {
        if (call->in[FIRST + v]->dtype != call->in[FIRST]->dtype)
            status = pw_error_set(err, PW_ERR_UNSUPPORTED, "the variables are of different types: %s and %s",
                                  pw_dtype_name(call->in[FIRST]->dtype), pw_dtype_name(call->in[FIRST + v]->dtype));
    }
    if (status == PW_OK)
        status = pw_bind_int(b, "variables", variables, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "nesterov", nesterov, err);
    return status;
}

static void fill(const struct pw_call *call, int input, struct pw_fill *out)
{
    const struct pw_training_form *form = call->op->data;
    int variables = (call->input_count - FIRST) / (form->states + 2);

    if (input == 0) {
        out->low = 0.001;
        out->high = 0.1;
    } else if (input == 1) {
        out->int_low = 0;
        out->int_high = 1000;
    } else if (variables > 0 && (input - FIRST) / variables == form->square_state + 2 && form->square_state >= 0) {
        out->low = 0.0;
    }
}

/* ---- tables ---- */

static const struct pw_formal inputs[] = {
    {"R", "T1", 0}, {"T", "tensor(int64)", 0}, {"inputs", "T3", PW_FORMAL_VARIADIC | PW_FORMAL_MIXED}, {0}};
static const struct pw_formal outputs[] = {{"outputs", "T3", PW_FORMAL_VARIADIC | PW_FORMAL_MIXED}, {0}};
static const struct pw_attr_def adagrad_attrs[] = {{.name = "decay_factor", .type = PW_ATTR_FLOAT},
                                                   {.name = "epsilon", .type = PW_ATTR_FLOAT, .f = 1e-6f},
                                                   {.name = "norm_coefficient", .type = PW_ATTR_FLOAT},
                                                   {0}};
static const struct pw_attr_def adam_attrs[] = {
    {.name = "alpha", .type = PW_ATTR_FLOAT, .f = 0.9f},      {.name = "beta", .type = PW_ATTR_FLOAT, .f = 0.999f},
    {.name = "epsilon", .type = PW_ATTR_FLOAT, .f = 1e-6f},   {.name = "norm_coefficient", .type = PW_ATTR_FLOAT},
    {.name = "norm_coefficient_post", .type = PW_ATTR_FLOAT}, {0}};
static const struct pw_attr_def momentum_attrs[] = {
    {.name = "alpha", .type = PW_ATTR_FLOAT, .required = true},
    {.name = "beta", .type = PW_ATTR_FLOAT, .required = true},
    {.name = "mode", .type = PW_ATTR_STRING, .required = true},
    {.name = "norm_coefficient", .type = PW_ATTR_FLOAT, .required = true},
    {0}};
static const struct pw_training_form adagrad = {PW_TRAINING_ADAGRAD, 1, 0}, adam = {PW_TRAINING_ADAM, 2, 1},
                                     momentum = {PW_TRAINING_MOMENTUM, 1, -1};

#define OPTIMIZER(op_name, attributes, form)                                                                           \
    {                                                                                                                  \
        .domain = "ai.onnx.preview.training", .name = op_name, .since = 1, .category = PW_CATEGORY_OTHER,              \
        .attrs = attributes, .inputs = inputs, .outputs = outputs, .infer = infer, .cost = cost, .accuracy = accuracy, \
        .golden = pw_training_evaluate, .fast = pw_training_evaluate, .fill = fill, .bind = bind, .data = &form        \
    }

static const struct pw_formal gradient_in[] = {{"Inputs", "T1", PW_FORMAL_VARIADIC | PW_FORMAL_MIXED}, {0}};
static const struct pw_formal gradient_out[] = {{"Outputs", "T2", PW_FORMAL_VARIADIC | PW_FORMAL_MIXED}, {0}};
static const struct pw_attr_def gradient_attrs[] = {{.name = "xs", .type = PW_ATTR_STRINGS, .required = true},
                                                    {.name = "y", .type = PW_ATTR_STRING, .required = true},
                                                    {.name = "zs", .type = PW_ATTR_STRINGS},
                                                    {0}};

const struct pw_op pw_training_ops[] = {
    {.domain = "ai.onnx.preview.training",
     .name = "Gradient",
     .since = 1,
     .category = PW_CATEGORY_OTHER,
     .attrs = gradient_attrs,
     .inputs = gradient_in,
     .outputs = gradient_out,
     .host_only = "replaced by the nodes that compute it when the model is loaded",
     .infer = infer_gradient},
    OPTIMIZER("Adagrad", adagrad_attrs, adagrad),
    OPTIMIZER("Adam", adam_attrs, adam),
    OPTIMIZER("Momentum", momentum_attrs, momentum),
    {0},
};
