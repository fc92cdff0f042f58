#include "ops/loss/loss_room.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"

/* ---- attributes, shapes ---- */

pw_status pw_loss_reduction_of(const struct pw_call *call, pw_loss_reduction *out, struct pw_error *err)
{
    static const char *const names[] = {[PW_LOSS_NONE] = "none", [PW_LOSS_SUM] = "sum", [PW_LOSS_MEAN] = "mean"};
    const char *text = pw_call_string(call, "reduction");

    for (size_t i = 0; i < PW_COUNT_OF(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = (pw_loss_reduction)i;
            return PW_OK;
        }
    }
    return pw_call_error(call, err, "reduction is '%.40s', expected none, sum or mean", text);
}

static bool ranked(const struct pw_info *info)
{
    return info->rank >= 0;
}

/* Two known sizes that must be the same. */
static pw_status same_dim(const struct pw_call *call, const char *what, pw_dim found, pw_dim wanted,
                          struct pw_error *err)
{
    if (found < 0 || wanted < 0 || found == wanted)
        return PW_OK;
    return pw_call_error(call, err, "%s: %" PRId64 ", but the scores have %" PRId64, what, found, wanted);
}

static pw_status check_shapes(const struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *scores = call->in[0], *labels = call->in[1];
    const struct pw_info *weights = pw_call_input(call, 2) ? call->in[2] : NULL;
    pw_status status = PW_OK;

    if (ranked(scores) && scores->rank < 2)
        return pw_call_error(call, err, "the scores have rank %d, expected [N, C, ...]", scores->rank);
    if (weights && ranked(weights) && weights->rank != 1)
        return pw_call_error(call, err, "the weights have rank %d, expected one for each class", weights->rank);
    if (!ranked(scores))
        return PW_OK;
    if (weights && ranked(weights))
        status = same_dim(call, "number of weights", weights->dims[0], scores->dims[1], err);
    if (status != PW_OK || !ranked(labels))
        return status;
    if (labels->rank != scores->rank - 1)
        return pw_call_error(call, err, "the labels have rank %d, expected %d for scores of rank %d", labels->rank,
                             scores->rank - 1, scores->rank);
    for (int d = 0; d < labels->rank && status == PW_OK; d++) {
        char what[40];

        snprintf(what, sizeof what, "dim %d of the labels", d);
        status = same_dim(call, what, labels->dims[d], scores->dims[d == 0 ? 0 : d + 1], err);
    }
    return status;
}

pw_status pw_loss_layout(const struct pw_call *call, struct pw_loss_layout *out, struct pw_error *err)
{
    const struct pw_info *scores = call->in[0];
    pw_status status = check_shapes(call, err);

    *out = (struct pw_loss_layout){1, 1, 1, false, 0, PW_LOSS_MEAN};
    if (status == PW_OK)
        status = pw_loss_reduction_of(call, &out->reduction, err);
    if (status != PW_OK)
        return status;
    out->batch = scores->dims[0];
    out->classes = scores->dims[1];
    for (int d = 2; d < scores->rank; d++)
        out->inner *= scores->dims[d];
    out->has_ignored = pw_call_has(call, "ignore_index");
    out->ignored = pw_call_int(call, "ignore_index");
    return PW_OK;
}

static pw_status infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *scores = call->in[0], *labels = call->in[1];
    pw_loss_reduction reduction = PW_LOSS_MEAN;
    pw_status status = PW_OK;

    if (scores->dtype != PW_DTYPE_UNDEFINED && !pw_dtype_is_float(scores->dtype))
        return pw_call_error(call, err, "the scores are %s, a float type expected", pw_dtype_name(scores->dtype));
    if (labels->dtype != PW_DTYPE_UNDEFINED && labels->dtype != PW_DTYPE_INT32 && labels->dtype != PW_DTYPE_INT64)
        return pw_call_error(call, err, "the labels are %s, int32 or int64 expected", pw_dtype_name(labels->dtype));
    status = pw_loss_reduction_of(call, &reduction, err);
    if (status == PW_OK)
        status = check_shapes(call, err);
    if (status != PW_OK)
        return status;
    if (reduction != PW_LOSS_NONE) {
        pw_call_output(call, 0, scores->dtype, 0, NULL);
    } else if (ranked(labels)) {
        pw_call_output(call, 0, scores->dtype, labels->rank, labels->dims);
    } else if (ranked(scores)) {
        pw_dim dims[PW_MAX_RANK];

        for (int d = 0; d < scores->rank - 1; d++)
            dims[d] = scores->dims[d == 0 ? 0 : d + 1];
        pw_call_output(call, 0, scores->dtype, scores->rank - 1, dims);
    } else {
        pw_call_output_unknown(call, 0, scores->dtype);
    }
    if (call->output_count > 1)
        pw_call_output_like(call, 1, 0);
    return PW_OK;
}

/* ---- cost, accuracy ---- */

/* Product of the dims of an input; UNKNOWN without a rank. */
static pw_dim elements(const struct pw_call *call, int input)
{
    const struct pw_info *info = call->in[input];
    pw_dim n = 1;

    if (!ranked(info))
        return PW_DIM_UNKNOWN;
    for (int d = 0; d < info->rank; d++)
        n = pw_dims_mul(call->dims, n, info->dims[d]);
    return n;
}

/* An element of the scores: max, subtract, exp, add, subtract. A sample: negate, weigh, add. */
static pw_status cost(const struct pw_call *call, struct pw_cost *out, struct pw_error *err)
{
    const struct pw_loss_form *form = call->op->data;
    pw_dim samples = elements(call, 1);

    (void)err;
    out->flops = pw_dims_mul(call->dims, samples, pw_call_input(call, 2) ? 3 : 2);
    if (form->softmax)
        out->flops = pw_dims_add(call->dims, out->flops, pw_dims_mul(call->dims, elements(call, 0), 5));
    return PW_OK;
}

static void accuracy(const struct pw_call *call, struct pw_accuracy *out)
{
    const struct pw_loss_form *form = call->op->data;
    pw_loss_reduction reduction = PW_LOSS_MEAN;
    int64_t terms = 0, classes = 0;

    if (pw_loss_reduction_of(call, &reduction, NULL) != PW_OK || reduction == PW_LOSS_NONE ||
        !pw_dims_value(call->dims, elements(call, 1), &terms) || terms < 1)
        terms = 1;
    if (form->softmax && call->in[0]->rank > 1 && pw_dims_value(call->dims, call->in[0]->dims[1], &classes))
        terms = classes > terms ? classes : terms;
    out->length = terms;
    out->amplification = 1.0;
    out->ulp = 3.5; /* weight, division 2.5, result */
    out->sensitivity = PW_SENSITIVITY_MEDIUM;
    out->reason = "a sum over all samples";
    out->why = "a weighted sum of the samples and a division";
    if (form->softmax) {
        out->ulp = 11.5; /* exp 3, log 3, subtractions */
        out->sensitivity = PW_SENSITIVITY_HIGH;
        out->reason = "logarithm of a sum of exponentials; cancellation where the right class dominates";
        out->why = "exp 3 ULP, log 3 ULP, division 2.5 ULP, sums over classes and samples";
    }
}

/* ---- binding, inputs of cases ---- */

static pw_status bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_loss_form *form = call->op->data;
    bool is_double = call->in[0]->dtype == PW_DTYPE_FLOAT64;
    struct pw_loss_layout l;
    pw_status status = pw_loss_layout(call, &l, err);

    if (status == PW_OK)
        status = pw_bind_int(b, "samples", l.batch * l.inner, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "classes", l.classes, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "inner", l.inner, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "has_ignored", l.has_ignored, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "ignored", l.ignored, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "reduces", l.reduction != PW_LOSS_NONE, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "means", l.reduction == PW_LOSS_MEAN, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "softmax", form->softmax, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "acc_bytes", is_double ? 8 : 4, err);
    return status;
}

static void fill(const struct pw_call *call, int input, struct pw_fill *out)
{
    const struct pw_loss_form *form = call->op->data;
    const struct pw_info *scores = call->in[0];
    int64_t classes = 0;

    if (input == 0 && !form->softmax)
        out->high = 0.0; /* logarithms of probabilities */
    if (input == 1) {
        out->int_low = 0;
        out->int_high = 0;
        if (scores->rank > 1 && pw_dims_value(call->dims, scores->dims[1], &classes) && classes > 0)
            out->int_high = classes - 1;
    }
    if (input == 2) {
        out->low = 0.5;
        out->high = 1.5;
    }
}

/* ---- tables ---- */

static const struct pw_attr_def attrs[] = {
    {.name = "ignore_index", .type = PW_ATTR_INT}, {.name = "reduction", .type = PW_ATTR_STRING, .s = "mean"}, {0}};
static const struct pw_formal nll_in[] = {
    {"input", "T", 0}, {"target", "Tind", 0}, {"weight", "T", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal nll_out[] = {{"loss", "T", 0}, {0}};
static const struct pw_formal sce_in[] = {
    {"scores", "T", 0}, {"labels", "Tind", 0}, {"weights", "T", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal sce_out[] = {{"output", "T", 0}, {"log_prob", "T", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_loss_form nll = {false}, sce = {true};

#define LOSS(op_name, version, formals_in, formals_out, form)                                                          \
    {                                                                                                                  \
        .domain = "", .name = op_name, .since = version, .category = PW_CATEGORY_REDUCTION, .attrs = attrs,            \
        .inputs = formals_in, .outputs = formals_out, .infer = infer, .cost = cost, .accuracy = accuracy,              \
        .golden = pw_loss_evaluate, .fast = pw_loss_evaluate, .fill = fill, .bind = bind, .data = &form                \
    }

const struct pw_op pw_loss_ops[] = {
    LOSS("NegativeLogLikelihoodLoss", 12, nll_in, nll_out, nll),
    LOSS("NegativeLogLikelihoodLoss", 13, nll_in, nll_out, nll),
    LOSS("NegativeLogLikelihoodLoss", 22, nll_in, nll_out, nll),
    LOSS("SoftmaxCrossEntropyLoss", 12, sce_in, sce_out, sce),
    LOSS("SoftmaxCrossEntropyLoss", 13, sce_in, sce_out, sce),
    {0},
};
