/* Shapes, accuracy, bindings and the operators of the room. */
#include <string.h>

#include "base/compiler.h"
#include "ops/activation/activation_room.h"

#define LOW PW_SENSITIVITY_LOW, "no error is amplified"
#define MEDIUM(reason) PW_SENSITIVITY_MEDIUM, reason

/* An amplification of 8: where the formula cancels (the negative tail of a GELU), what counts is the absolute
 * error against the output's scale, and an eighth of the root mean square is the smallest scale a verdict uses. */
const struct pw_act_accuracy pw_act_accuracies[PW_ACT_COUNT] = {
    [PW_ACT_RELU] = {"Relu", true, 0, 1, LOW, "the input or 0: bitwise"},
    [PW_ACT_LEAKY_RELU] = {"LeakyRelu", false, 0.5, 1, LOW, "one product"},
    [PW_ACT_ELU] = {"Elu", false, 3.5, 1, LOW, "expm1 3 ULP and a product"},
    [PW_ACT_SELU] = {"Selu", false, 4, 1, LOW, "expm1 3 ULP and two products"},
    [PW_ACT_CELU] = {"Celu", false, 6, 1, LOW, "division 2.5 ULP, expm1 3 ULP and a product"},
    [PW_ACT_GELU_ERF] = {"GeluErf", false, 18, 8, MEDIUM("1 + erf cancels in the negative tail"),
                         "erf 16 ULP; the negative tail cancels"},
    [PW_ACT_GELU_TANH] = {"GeluTanh", false, 9, 8, MEDIUM("1 + tanh cancels in the negative tail"),
                          "tanh 5 ULP of a polynomial; the negative tail cancels"},
    [PW_ACT_HARD_SIGMOID] = {"HardSigmoid", false, 1, 8, LOW, "a product and a sum that cancel where the ramp begins"},
    [PW_ACT_HARD_SWISH] = {"HardSwish", false, 4, 8, LOW, "products and a sum that cancel where the ramp begins"},
    [PW_ACT_SIGMOID] = {"Sigmoid", false, 6, 1, LOW, "exp 3 ULP, division 2.5 ULP"},
    [PW_ACT_SOFTPLUS] = {"Softplus", false, 6, 1, LOW, "exp 3 ULP, log1p 2 ULP"},
    [PW_ACT_SOFTSIGN] = {"Softsign", false, 3, 1, LOW, "division 2.5 ULP"},
    [PW_ACT_THRESHOLDED_RELU] = {"ThresholdedRelu", true, 0, 1, MEDIUM("jumps at alpha"), "the input or 0: bitwise"},
    [PW_ACT_MISH] = {"Mish", false, 10, 1, LOW, "exp 3 ULP twice, division 2.5 ULP"},
    [PW_ACT_SWISH] = {"Swish", false, 8, 1, LOW, "exp 3 ULP, division 2.5 ULP and two products"},
    [PW_ACT_SHRINK] = {"Shrink", false, 0.5, 1, MEDIUM("jumps at -lambd and lambd"), "one sum"},
};

pw_act pw_act_function(const struct pw_call *call)
{
    const struct pw_act_form *form = call->op->data;

    if (form->function == PW_ACT_GELU_ERF && strcmp(pw_call_string(call, "approximate"), "tanh") == 0)
        return PW_ACT_GELU_TANH;
    return form->function;
}

void pw_act_parameters(const struct pw_call *call, float *p, float *q)
{
    const struct pw_act_form *form = call->op->data;

    *p = form->p ? pw_call_float(call, form->p) : 0.0f;
    *q = form->q ? pw_call_float(call, form->q) : 0.0f;
}

static pw_status infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_act_form *form = call->op->data;
    const struct pw_info *x = call->in[0], *bias = pw_call_input(call, 1) ? call->in[1] : NULL;
    const char *approximate = pw_call_string(call, "approximate");

    if (x->dtype != PW_DTYPE_UNDEFINED && !pw_dtype_is_float(x->dtype) &&
        !(form->integers && pw_dtype_is_integer(x->dtype)))
        return pw_call_error(call, err, "the input is %s, which %s does not take", pw_dtype_name(x->dtype),
                             call->op->name);
    if (x->dtype != PW_DTYPE_UNDEFINED && pw_dtype_is_float(x->dtype) && pw_dtype_bytes(x->dtype) < 2)
        return pw_call_error(call, err, "the input is %s, which %s does not take", pw_dtype_name(x->dtype),
                             call->op->name);
    if (*approximate && strcmp(approximate, "none") != 0 && strcmp(approximate, "tanh") != 0)
        return pw_call_error(call, err, "approximate is '%.40s', 'none' or 'tanh' expected", approximate);
    if (bias && bias->rank >= 0 && x->rank >= 0) {
        pw_dim last = x->rank > 0 ? x->dims[x->rank - 1] : 1;

        if (bias->rank != 1 || x->rank < 1)
            return pw_call_error(call, err, "the bias has rank %d and the input %d; 1 and at least 1 expected",
                                 bias->rank, x->rank);
        if (bias->dims[0] >= 0 && last >= 0 && bias->dims[0] != last)
            return pw_call_error(call, err, "the bias has %lld elements, the last dim %lld", (long long)bias->dims[0],
                                 (long long)last);
    }
    return pw_infer_same(call, err);
}

/* Operations of the formula: comparisons, products, sums, and 1 for each exp, erf, tanh, log, division. */
static pw_status cost(const struct pw_call *call, struct pw_cost *out, struct pw_error *err)
{
    static const int each[PW_ACT_COUNT] = {
        [PW_ACT_RELU] = 1,
        [PW_ACT_LEAKY_RELU] = 2,
        [PW_ACT_ELU] = 4,
        [PW_ACT_SELU] = 5,
        [PW_ACT_CELU] = 6,
        [PW_ACT_GELU_ERF] = 5,
        [PW_ACT_GELU_TANH] = 9,
        [PW_ACT_HARD_SIGMOID] = 4,
        [PW_ACT_HARD_SWISH] = 5,
        [PW_ACT_SIGMOID] = 3,
        [PW_ACT_SOFTPLUS] = 4,
        [PW_ACT_SOFTSIGN] = 3,
        [PW_ACT_THRESHOLDED_RELU] = 1,
        [PW_ACT_MISH] = 6,
        [PW_ACT_SWISH] = 5,
        [PW_ACT_SHRINK] = 3,
    };
    const struct pw_info *x = call->in[0];
    int count = each[pw_act_function(call)] + (pw_call_input(call, 1) ? 1 : 0);
    pw_dim size = 1;

    (void)err;
    if (x->rank < 0) {
        out->flops = PW_DIM_UNKNOWN;
        return PW_OK;
    }
    for (int d = 0; d < x->rank; d++)
        size = pw_dims_mul(call->dims, size, x->dims[d]);
    out->flops = pw_dtype_is_float(x->dtype) ? pw_dims_mul(call->dims, size, count) : 0;
    return PW_OK;
}

static void accuracy(const struct pw_call *call, struct pw_accuracy *out)
{
    const struct pw_act_accuracy *known = &pw_act_accuracies[pw_act_function(call)];

    out->exact = known->exact || pw_dtype_is_integer(call->in[0]->dtype);
    out->ulp = known->ulp + (pw_call_input(call, 1) ? 0.5 : 0);
    out->length = 1;
    out->amplification = known->amplification;
    out->sensitivity = known->sensitivity;
    out->reason = known->reason;
    out->why = known->why;
    out->pointwise = !out->exact && known->amplification <= 1 && !pw_call_input(call, 1);
}

static pw_status bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    float p, q;
    pw_status status = pw_bind_word(b, "function", pw_act_accuracies[pw_act_function(call)].word, err);

    pw_act_parameters(call, &p, &q);
    if (status == PW_OK)
        status = pw_bind_float(b, "p", p, err);
    if (status == PW_OK)
        status = pw_bind_float(b, "q", q, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "inner", x->rank > 0 ? x->dims[x->rank - 1] : 1, err);
    return status;
}

static const struct pw_act_form relu = {PW_ACT_RELU, NULL, NULL, true},
                                leaky = {PW_ACT_LEAKY_RELU, "alpha", NULL, false},
                                elu = {PW_ACT_ELU, "alpha", NULL, false}, selu = {PW_ACT_SELU, "alpha", "gamma", false},
                                celu = {PW_ACT_CELU, "alpha", NULL, false}, gelu = {PW_ACT_GELU_ERF, NULL, NULL, false},
                                fast_gelu = {PW_ACT_GELU_TANH, NULL, NULL, false},
                                hard_sigmoid = {PW_ACT_HARD_SIGMOID, "alpha", "beta", false},
                                hard_swish = {PW_ACT_HARD_SWISH, NULL, NULL, false},
                                sigmoid = {PW_ACT_SIGMOID, NULL, NULL, false},
                                softplus = {PW_ACT_SOFTPLUS, NULL, NULL, false},
                                softsign = {PW_ACT_SOFTSIGN, NULL, NULL, false},
                                thresholded = {PW_ACT_THRESHOLDED_RELU, "alpha", NULL, false},
                                mish = {PW_ACT_MISH, NULL, NULL, false}, swish = {PW_ACT_SWISH, "alpha", NULL, false},
                                shrink = {PW_ACT_SHRINK, "lambd", "bias", true};

static const struct pw_formal xy_in[] = {{"X", "T", 0}, {0}}, xy_out[] = {{"Y", "T", 0}, {0}};
static const struct pw_formal io_in[] = {{"input", "T", 0}, {0}}, io_out[] = {{"output", "T", 0}, {0}};
static const struct pw_formal bias_in[] = {{"A", "T", 0}, {"B", "T", 0}, {0}}, bias_out[] = {{"C", "T", 0}, {0}};
static const struct pw_formal gated_in[] = {{"A", "T", 0}, {"B", "T", 0}, {0}};
static const struct pw_formal fast_in[] = {{"X", "T", 0}, {"bias", "T", PW_FORMAL_OPTIONAL}, {0}};

#define FLOAT(attribute, value)                                                                                        \
    {                                                                                                                  \
        .name = attribute, .type = PW_ATTR_FLOAT, .f = value                                                           \
    }
#define CONSUMED                                                                                                       \
    {                                                                                                                  \
        .name = "consumed_inputs", .type = PW_ATTR_INTS                                                                \
    }
static const struct pw_attr_def consumed[] = {CONSUMED, {0}};
static const struct pw_attr_def leaky1[] = {FLOAT("alpha", 0.01f), CONSUMED, {0}},
                                leaky6[] = {FLOAT("alpha", 0.01f), {0}};
static const struct pw_attr_def alpha1[] = {FLOAT("alpha", 1.0f), CONSUMED, {0}}, alpha[] = {FLOAT("alpha", 1.0f), {0}};
static const struct pw_attr_def selu1[] = {FLOAT("alpha", 1.6732f), FLOAT("gamma", 1.0507f), CONSUMED, {0}};
static const struct pw_attr_def selu6[] = {
    FLOAT("alpha", 1.67326319217681884765625f), FLOAT("gamma", 1.05070102214813232421875f), {0}};
static const struct pw_attr_def hard1[] = {FLOAT("alpha", 0.2f), FLOAT("beta", 0.5f), CONSUMED, {0}};
static const struct pw_attr_def hard6[] = {FLOAT("alpha", 0.2f), FLOAT("beta", 0.5f), {0}};
static const struct pw_attr_def shrink9[] = {FLOAT("bias", 0.0f), FLOAT("lambd", 0.5f), {0}};
static const struct pw_attr_def gelu20[] = {{.name = "approximate", .type = PW_ATTR_STRING, .s = "none"}, {0}};
static const struct pw_attr_def quick[] = {FLOAT("alpha", 1.702f), {0}};

#define OP(space, op_name, version, attributes, ins, outs, form)                                                       \
    {                                                                                                                  \
        .domain = space, .name = op_name, .since = version, .category = PW_CATEGORY_ACTIVATION, .attrs = attributes,   \
        .inputs = ins, .outputs = outs, .infer = infer, .cost = cost, .accuracy = accuracy, .golden = pw_act_eval,     \
        .fast = pw_act_eval, .bind = bind, .data = &form                                                               \
    }
#define XY(name, version, attributes, form) OP("", name, version, attributes, xy_in, xy_out, form)
#define IO(name, version, attributes, form) OP("", name, version, attributes, io_in, io_out, form)
#define MS(name, attributes, ins, outs, form) OP("com.microsoft", name, 1, attributes, ins, outs, form)

const struct pw_op pw_activation_ops[] = {
    XY("Relu", 1, consumed, relu),
    XY("Relu", 6, NULL, relu),
    XY("Relu", 13, NULL, relu),
    XY("Relu", 14, NULL, relu),
    XY("LeakyRelu", 1, leaky1, leaky),
    XY("LeakyRelu", 6, leaky6, leaky),
    XY("LeakyRelu", 16, leaky6, leaky),
    XY("Elu", 1, alpha1, elu),
    XY("Elu", 6, alpha, elu),
    XY("Elu", 22, alpha, elu),
    XY("Selu", 1, selu1, selu),
    XY("Selu", 6, selu6, selu),
    XY("Selu", 22, selu6, selu),
    XY("Celu", 12, alpha, celu),
    XY("Celu", 28, alpha, celu),
    XY("Gelu", 20, gelu20, gelu),
    XY("HardSigmoid", 1, hard1, hard_sigmoid),
    XY("HardSigmoid", 6, hard6, hard_sigmoid),
    XY("HardSigmoid", 22, hard6, hard_sigmoid),
    XY("HardSwish", 14, NULL, hard_swish),
    XY("HardSwish", 22, NULL, hard_swish),
    XY("Sigmoid", 1, consumed, sigmoid),
    XY("Sigmoid", 6, NULL, sigmoid),
    XY("Sigmoid", 13, NULL, sigmoid),
    XY("Softplus", 1, NULL, softplus),
    XY("Softplus", 22, NULL, softplus),
    IO("Softsign", 1, NULL, softsign),
    IO("Softsign", 22, NULL, softsign),
    XY("ThresholdedRelu", 10, alpha, thresholded),
    XY("ThresholdedRelu", 22, alpha, thresholded),
    XY("Mish", 18, NULL, mish),
    XY("Mish", 22, NULL, mish),
    XY("Swish", 24, alpha, swish),
    IO("Shrink", 9, shrink9, shrink),
    {.domain = "",
     .name = "SwiGLU",
     .since = 28,
     .category = PW_CATEGORY_ACTIVATION,
     .attrs = alpha,
     .inputs = gated_in,
     .outputs = xy_out,
     .infer = pw_act_gated_infer,
     .cost = pw_act_gated_cost,
     .accuracy = pw_act_gated_accuracy,
     .golden = pw_act_gated_eval,
     .fast = pw_act_gated_eval},
    MS("Gelu", NULL, xy_in, xy_out, gelu),
    MS("BiasGelu", NULL, bias_in, bias_out, gelu),
    MS("FastGelu", NULL, fast_in, xy_out, fast_gelu),
    MS("QuickGelu", quick, xy_in, xy_out, swish),
    {0},
};
