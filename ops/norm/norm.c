#include "ops/norm/norm_room.h"

#include <string.h>

#include "base/compiler.h"
#include "ops/norm/norm_fused.h"

/* ---- inference ---- */

static pw_status float_input(struct pw_call *call, int i, struct pw_error *err)
{
    pw_dtype dtype = pw_call_input(call, i) ? call->in[i]->dtype : PW_DTYPE_UNDEFINED;

    if (dtype != PW_DTYPE_UNDEFINED && !pw_dtype_is_float(dtype))
        return pw_call_error(call, err, "'%s' is %s, a float type expected", call->op->inputs[i].name,
                             pw_dtype_name(dtype));
    return PW_OK;
}

/* When everything is a number the view checks all shapes against each other. */
static pw_status check_shapes(struct pw_call *call, struct pw_error *err)
{
    struct pw_norm_view v;

    for (int i = 0; i < call->input_count; i++) {
        if (!pw_call_input(call, i))
            continue;
        if (call->in[i]->rank < 0)
            return PW_OK;
        for (int d = 0; d < call->in[i]->rank; d++) {
            if (call->in[i]->dims[d] < 0)
                return PW_OK;
        }
    }
    return pw_norm_view(call, &v, err);
}

static pw_status infer_common(struct pw_call *call, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (int i = 0; i < call->input_count && status == PW_OK; i++)
        status = float_input(call, i, err);
    if (status == PW_OK)
        status = check_shapes(call, err);
    return status == PW_OK ? pw_infer_same(call, err) : status;
}

static pw_status infer_batch(struct pw_call *call, struct pw_error *err)
{
    pw_status status = infer_common(call, err);
    bool training = pw_norm_training(call);

    for (int i = 1; i < call->output_count && status == PW_OK; i++) {
        if (call->wanted && !call->wanted[i])
            continue;
        if (!training)
            return pw_call_error(call, err, "output %d exists in training only", i);
        pw_call_output_like(call, i, i == 1 || i == 3 ? 3 : 4); /* as the given mean, as the given variance */
    }
    return status;
}

static pw_dtype stash_dtype(const struct pw_call *call)
{
    int64_t type = pw_call_int(call, "stash_type");

    return pw_dtype_is_float((pw_dtype)type) && type < PW_DTYPE_COUNT ? (pw_dtype)type : PW_DTYPE_FLOAT32;
}

static pw_status infer_layer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    pw_dim dims[PW_MAX_RANK];
    int axis = 0;
    pw_status status = infer_common(call, err);

    if (status == PW_OK && x->rank >= 0)
        status = pw_norm_axis(call, x->rank, &axis, err);
    for (int i = 1; i < call->output_count && status == PW_OK; i++) {
        if (x->rank < 0) {
            pw_call_output_unknown(call, i, stash_dtype(call));
            continue;
        }
        for (int d = 0; d < x->rank; d++)
            dims[d] = d < axis ? x->dims[d] : 1;
        pw_call_output(call, i, stash_dtype(call), x->rank, dims);
    }
    return status;
}

static pw_status infer_rms(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    pw_status status = infer_common(call, err);
    int axis = 0;

    if (status == PW_OK && x->rank >= 0)
        status = pw_norm_axis(call, x->rank, &axis, err);
    if (status == PW_OK)
        call->out[0].dtype = call->in[1]->dtype; /* V */
    return status;
}

static pw_status infer_lp(struct pw_call *call, struct pw_error *err)
{
    int64_t p = pw_call_int(call, "p");

    if (p != 1 && p != 2)
        return pw_call_error(call, err, "p is %lld, 1 or 2 expected", (long long)p);
    return infer_common(call, err);
}

static pw_status infer_lrn(struct pw_call *call, struct pw_error *err)
{
    pw_status status = float_input(call, 0, err);

    if (status != PW_OK)
        return status;
    if (pw_call_int(call, "size") < 1)
        return pw_call_error(call, err, "size is %lld, at least 1 expected", (long long)pw_call_int(call, "size"));
    if (call->in[0]->rank >= 0 && call->in[0]->rank < 2)
        return pw_call_error(call, err, "X has rank %d, at least 2 expected", call->in[0]->rank);
    return pw_infer_same(call, err);
}

/* ---- cost and accuracy ---- */

static pw_status cost(const struct pw_call *call, struct pw_cost *out, struct pw_error *err)
{
    static const int per_element[PW_NORM_KINDS] = {
        [PW_NORM_BATCH] = 3, [PW_NORM_INSTANCE] = 7, [PW_NORM_LAYER] = 7,         [PW_NORM_GROUP] = 7,
        [PW_NORM_RMS] = 4,   [PW_NORM_LP] = 3,       [PW_NORM_MEAN_VARIANCE] = 5, [PW_NORM_LRN] = 4};
    const struct pw_norm_form *form = call->op->data;
    pw_dim n = pw_call_elements(call, call->in[0]);
    int64_t each = per_element[form->kind];

    (void)err;
    if (form->kind == PW_NORM_LRN && /* squares and sums of the window, a power, a division */
        __builtin_add_overflow(each, pw_call_int(call, "size"), &each))
        each = -1;
    if (pw_norm_training(call))
        each += 4;
    out->flops = each < 0 ? PW_DIM_UNKNOWN : pw_dims_mul(call->dims, n, each);
    return PW_OK;
}

static void accuracy(const struct pw_call *call, struct pw_accuracy *out)
{
    const struct pw_norm_form *form = call->op->data;
    struct pw_norm_view v;
    struct pw_norm_loops l;
    bool numbers = call->in[0]->rank >= 0;

    for (int d = 0; d < call->in[0]->rank; d++)
        numbers = numbers && call->in[0]->dims[d] >= 0;
    out->length = 1;
    if (form->kind == PW_NORM_LRN) {
        out->length = pw_call_int(call, "size") > 0 ? pw_call_int(call, "size") : 1;
    } else if (numbers && pw_norm_view(call, &v, NULL) == PW_OK) {
        pw_norm_loops(&v, &l);
        out->length = l.terms > 0 ? l.terms : 1;
    }
    out->amplification = 1.0;
    out->ulp = 7.0; /* subtraction, square root 3, division 2.5, scale and bias */
    out->sensitivity = PW_SENSITIVITY_HIGH;
    out->reason = "division by a small variance: cancellation of x - mean is magnified";
    out->why = "mean and variance are sums; square root 3 ULP, division 2.5 ULP";
    switch (form->kind) {
    case PW_NORM_BATCH:
        if (pw_norm_training(call))
            break;
        out->sensitivity = PW_SENSITIVITY_LOW;
        out->reason = "a subtraction and a multiplication by constants";
        out->why = "square root 3 ULP, division 2.5 ULP, cancellation against the mean";
        break;
    case PW_NORM_RMS:
    case PW_NORM_LP:
        out->sensitivity = PW_SENSITIVITY_MEDIUM;
        out->reason = "a sum of squares, without cancellation";
        out->why = "a sum of squares; square root 3 ULP, division 2.5 ULP";
        break;
    case PW_NORM_LRN:
        out->ulp = 20.0; /* pow 16, division 2.5 */
        out->sensitivity = PW_SENSITIVITY_MEDIUM;
        out->reason = "a power of a sum of squares";
        out->why = "pow 16 ULP, division 2.5 ULP";
        break;
    default:
        break;
    }
}

/* ---- inputs of generated cases ---- */

static void fill(const struct pw_call *call, int input, struct pw_fill *out)
{
    const struct pw_norm_form *form = call->op->data;

    if (input == form->variance) { /* a variance; not so small that epsilon decides */
        out->low = 0.25;
        out->high = 4.0;
    }
}

/* ---- tables ---- */

static const struct pw_formal batch_in[] = {{"X", "T", 0},    {"scale", "T", 0}, {"B", "T", 0},
                                            {"mean", "T", 0}, {"var", "T", 0},   {0}};
static const struct pw_formal batch14_in[] = {{"X", "T", 0},          {"scale", "T", 0},     {"B", "T", 0},
                                              {"input_mean", "U", 0}, {"input_var", "U", 0}, {0}};
static const struct pw_formal batch15_in[] = {{"X", "T", 0},           {"scale", "T1", 0},     {"B", "T1", 0},
                                              {"input_mean", "T2", 0}, {"input_var", "T2", 0}, {0}};
/* The definition calls outputs 1 and 2 mean and var, like the inputs: named apart here. */
static const struct pw_formal batch_out[] = {{"Y", "T", 0},
                                             {"running_mean", "T", PW_FORMAL_OPTIONAL},
                                             {"running_var", "T", PW_FORMAL_OPTIONAL},
                                             {"saved_mean", "T", PW_FORMAL_OPTIONAL},
                                             {"saved_var", "T", PW_FORMAL_OPTIONAL},
                                             {0}};
static const struct pw_formal batch14_out[] = {
    {"Y", "T", 0}, {"running_mean", "U", PW_FORMAL_OPTIONAL}, {"running_var", "U", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal batch15_out[] = {
    {"Y", "T", 0}, {"running_mean", "T2", PW_FORMAL_OPTIONAL}, {"running_var", "T2", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal instance_in[] = {{"input", "T", 0}, {"scale", "T", 0}, {"B", "T", 0}, {0}};
static const struct pw_formal plain_in[] = {{"input", "T", 0}, {0}};
static const struct pw_formal plain_out[] = {{"output", "T", 0}, {0}};
static const struct pw_formal x_in[] = {{"X", "T", 0}, {0}};
static const struct pw_formal y_out[] = {{"Y", "T", 0}, {0}};
static const struct pw_formal layer_in[] = {{"X", "T", 0}, {"Scale", "T", 0}, {"B", "T", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal layer_out[] = {
    {"Y", "T", 0}, {"Mean", "U", PW_FORMAL_OPTIONAL}, {"InvStdDev", "U", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal group_in[] = {{"X", "T", 0}, {"scale", "T", 0}, {"bias", "T", 0}, {0}};
static const struct pw_formal rms_in[] = {{"X", "T", 0}, {"scale", "V", 0}, {0}};
static const struct pw_formal rms_out[] = {{"Y", "V", 0}, {0}};

#define EPSILON                                                                                                        \
    {                                                                                                                  \
        .name = "epsilon", .type = PW_ATTR_FLOAT, .f = 1e-5f                                                           \
    }
#define MOMENTUM                                                                                                       \
    {                                                                                                                  \
        .name = "momentum", .type = PW_ATTR_FLOAT, .f = 0.9f                                                           \
    }
#define STASH                                                                                                          \
    {                                                                                                                  \
        .name = "stash_type", .type = PW_ATTR_INT, .i = 1                                                              \
    }

static const struct pw_attr_def batch1_attrs[] = {EPSILON,
                                                  MOMENTUM,
                                                  {.name = "consumed_inputs", .type = PW_ATTR_INTS, .required = true},
                                                  {.name = "is_test", .type = PW_ATTR_INT},
                                                  {.name = "spatial", .type = PW_ATTR_INT, .i = 1},
                                                  {0}};
static const struct pw_attr_def batch6_attrs[] = {
    EPSILON, MOMENTUM, {.name = "is_test", .type = PW_ATTR_INT}, {.name = "spatial", .type = PW_ATTR_INT, .i = 1}, {0}};
static const struct pw_attr_def batch7_attrs[] = {
    EPSILON, MOMENTUM, {.name = "spatial", .type = PW_ATTR_INT, .i = 1}, {0}};
static const struct pw_attr_def batch9_attrs[] = {EPSILON, MOMENTUM, {0}};
static const struct pw_attr_def batch14_attrs[] = {
    EPSILON, MOMENTUM, {.name = "training_mode", .type = PW_ATTR_INT}, {0}};
static const struct pw_attr_def instance1_attrs[] = {EPSILON, {.name = "consumed_inputs", .type = PW_ATTR_INTS}, {0}};
static const struct pw_attr_def epsilon_attrs[] = {EPSILON, {0}};
static const struct pw_attr_def layer_attrs[] = {EPSILON, STASH, {.name = "axis", .type = PW_ATTR_INT, .i = -1}, {0}};
static const struct pw_attr_def group18_attrs[] = {
    EPSILON, {.name = "num_groups", .type = PW_ATTR_INT, .required = true}, {0}};
static const struct pw_attr_def group21_attrs[] = {
    EPSILON, STASH, {.name = "num_groups", .type = PW_ATTR_INT, .required = true}, {0}};
static const struct pw_attr_def lp_attrs[] = {
    {.name = "axis", .type = PW_ATTR_INT, .i = -1}, {.name = "p", .type = PW_ATTR_INT, .i = 2}, {0}};
static const struct pw_attr_def variance_attrs[] = {{.name = "axes", .type = PW_ATTR_INTS}, {0}};
static const struct pw_attr_def lrn_attrs[] = {{.name = "alpha", .type = PW_ATTR_FLOAT, .f = 1e-4f},
                                               {.name = "beta", .type = PW_ATTR_FLOAT, .f = 0.75f},
                                               {.name = "bias", .type = PW_ATTR_FLOAT, .f = 1.0f},
                                               {.name = "size", .type = PW_ATTR_INT, .required = true},
                                               {0}};

static const struct pw_norm_form batch = {PW_NORM_BATCH, 1, 2, 3, 4, 1, 2};
static const struct pw_norm_form instance = {PW_NORM_INSTANCE, 1, 2, -1, -1, -1, -1};
static const struct pw_norm_form layer = {PW_NORM_LAYER, 1, 2, -1, -1, 1, 2};
static const struct pw_norm_form group = {PW_NORM_GROUP, 1, 2, -1, -1, -1, -1};
static const struct pw_norm_form rms = {PW_NORM_RMS, 1, -1, -1, -1, -1, -1};
static const struct pw_norm_form lp = {PW_NORM_LP, -1, -1, -1, -1, -1, -1};
static const struct pw_norm_form mean_variance = {PW_NORM_MEAN_VARIANCE, -1, -1, -1, -1, -1, -1};
static const struct pw_norm_form lrn = {PW_NORM_LRN, -1, -1, -1, -1, -1, -1};

#define NORM(op_name, version, attributes, in, out, op_infer, op_form, ...)                                            \
    {                                                                                                                  \
        .domain = "", .name = op_name, .since = version, .category = PW_CATEGORY_NORMALIZATION, .attrs = attributes,   \
        .inputs = in, .outputs = out, .min_outputs = 1, .infer = op_infer, .cost = cost, .accuracy = accuracy,         \
        .golden = pw_norm_golden, .fast = pw_norm_fast, .fill = fill, .bind = pw_norm_bind, .data = &op_form,          \
        __VA_ARGS__                                                                                                    \
    }
#define ORDERED .ordered = pw_norm_ordered, .ordered_functions = "divide sqrt"
#define LRN(version)                                                                                                   \
    {                                                                                                                  \
        .domain = "", .name = "LRN", .since = version, .category = PW_CATEGORY_NORMALIZATION, .attrs = lrn_attrs,      \
        .inputs = x_in, .outputs = y_out, .infer = infer_lrn, .cost = cost, .accuracy = accuracy,                      \
        .golden = pw_norm_lrn_golden, .fast = pw_norm_lrn_fast, .bind = pw_norm_bind, .data = &lrn                     \
    }

/* ---- com.microsoft ---- */

#define NO_EMBEDDING .word = -1, .position = -1, .segment = -1, .segment_ids = -1, .position_ids = -1, .mask = -1

static const struct pw_formal skip_in[] = {{"input", "T", 0},
                                           {"skip", "T", 0},
                                           {"gamma", "T", 0},
                                           {"beta", "T", PW_FORMAL_OPTIONAL},
                                           {"bias", "T", PW_FORMAL_OPTIONAL},
                                           {0}};
static const struct pw_formal skip_simplified_in[] = {
    {"input", "T", 0}, {"skip", "T", 0}, {"gamma", "T", 0}, {"bias", "T", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal skip_out[] = {{"output", "T", 0},
                                            {"mean", "U", PW_FORMAL_OPTIONAL},
                                            {"inv_std_var", "U", PW_FORMAL_OPTIONAL},
                                            {"input_skip_bias_sum", "T", PW_FORMAL_OPTIONAL},
                                            {0}};
static const struct pw_formal simplified_in[] = {{"X", "T", 0}, {"scale", "V", 0}, {0}};
static const struct pw_formal simplified_out[] = {{"Y", "V", 0}, {"inv_std_var", "U", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal embed_in[] = {{"input_ids", "T1", 0},
                                            {"segment_ids", "T1", PW_FORMAL_OPTIONAL},
                                            {"word_embedding", "T", 0},
                                            {"position_embedding", "T", 0},
                                            {"segment_embedding", "T", PW_FORMAL_OPTIONAL},
                                            {"gamma", "T", 0},
                                            {"beta", "T", 0},
                                            {"mask", "T1", PW_FORMAL_OPTIONAL},
                                            {"position_ids", "T1", PW_FORMAL_OPTIONAL},
                                            {0}};
static const struct pw_formal embed_out[] = {
    {"output", "T", 0}, {"mask_index", "T1", PW_FORMAL_OPTIONAL}, {"embedding_sum", "T", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_attr_def skip_attrs[] = {{.name = "epsilon", .type = PW_ATTR_FLOAT, .f = 1e-12f}, {0}};
static const struct pw_attr_def embed_attrs[] = {
    {.name = "epsilon", .type = PW_ATTR_FLOAT, .f = 1e-12f}, {.name = "mask_index_type", .type = PW_ATTR_INT}, {0}};
static const struct pw_norm_fused_form skip_layer = {
    .centres = true, .skip = 1, .gamma = 2, .beta = 3, .bias = 4, .factor_out = 2, .sum_out = 3, NO_EMBEDDING};
static const struct pw_norm_fused_form skip_simplified = {
    .skip = 1, .gamma = 2, .beta = -1, .bias = 3, .factor_out = 2, .sum_out = 3, NO_EMBEDDING};
static const struct pw_norm_fused_form simplified = {
    .has_axis = true, .skip = -1, .gamma = 1, .beta = -1, .bias = -1, .factor_out = 1, .sum_out = -1, NO_EMBEDDING};
static const struct pw_norm_fused_form embed = {.centres = true,
                                                .embeds = true,
                                                .skip = -1,
                                                .bias = -1,
                                                .gamma = 5,
                                                .beta = 6,
                                                .word = 2,
                                                .position = 3,
                                                .segment = 4,
                                                .segment_ids = 1,
                                                .position_ids = 8,
                                                .mask = 7,
                                                .factor_out = -1,
                                                .sum_out = 2};

#define FUSED(op_domain, op_name, attributes, in, out, op_form)                                                        \
    {                                                                                                                  \
        .domain = op_domain, .name = op_name, .since = 1, .category = PW_CATEGORY_NORMALIZATION, .attrs = attributes,  \
        .inputs = in, .outputs = out, .min_outputs = 1, .infer = pw_norm_fused_infer, .cost = pw_norm_fused_cost,      \
        .accuracy = pw_norm_fused_accuracy, .golden = pw_norm_fused_golden, .fill = pw_norm_fused_fill,                \
        .bind = pw_norm_fused_bind, .data = &op_form                                                                   \
    }

const struct pw_op pw_norm_ops[] = {
    NORM("BatchNormalization", 1, batch1_attrs, batch_in, batch_out, infer_batch, batch, ),
    NORM("BatchNormalization", 6, batch6_attrs, batch_in, batch_out, infer_batch, batch, ),
    NORM("BatchNormalization", 7, batch7_attrs, batch_in, batch_out, infer_batch, batch, ),
    NORM("BatchNormalization", 9, batch9_attrs, batch_in, batch_out, infer_batch, batch, ),
    NORM("BatchNormalization", 14, batch14_attrs, batch14_in, batch14_out, infer_batch, batch, ),
    NORM("BatchNormalization", 15, batch14_attrs, batch15_in, batch15_out, infer_batch, batch, ),
    NORM("InstanceNormalization", 1, instance1_attrs, instance_in, plain_out, infer_common, instance, ORDERED),
    NORM("InstanceNormalization", 6, epsilon_attrs, instance_in, plain_out, infer_common, instance, ORDERED),
    NORM("InstanceNormalization", 22, epsilon_attrs, instance_in, plain_out, infer_common, instance, ORDERED),
    NORM("LayerNormalization", 17, layer_attrs, layer_in, layer_out, infer_layer, layer, ORDERED),
    NORM("GroupNormalization", 18, group18_attrs, group_in, y_out, infer_common, group, ORDERED,
         .deprecated = "use GroupNormalization-21: scale and bias per channel"),
    NORM("GroupNormalization", 21, group21_attrs, group_in, y_out, infer_common, group, ORDERED),
    NORM("RMSNormalization", 23, layer_attrs, rms_in, rms_out, infer_rms, rms, ORDERED),
    NORM("LpNormalization", 1, lp_attrs, plain_in, plain_out, infer_lp, lp, ),
    NORM("LpNormalization", 22, lp_attrs, plain_in, plain_out, infer_lp, lp, ),
    NORM("MeanVarianceNormalization", 9, variance_attrs, x_in, y_out, infer_common, mean_variance, ),
    NORM("MeanVarianceNormalization", 13, variance_attrs, x_in, y_out, infer_common, mean_variance, ),
    LRN(1),
    LRN(13),
    FUSED("com.microsoft", "SkipLayerNormalization", skip_attrs, skip_in, skip_out, skip_layer),
    FUSED("com.microsoft", "SkipSimplifiedLayerNormalization", skip_attrs, skip_simplified_in, skip_out,
          skip_simplified),
    FUSED("com.microsoft", "SimplifiedLayerNormalization", layer_attrs, simplified_in, simplified_out, simplified),
    FUSED("", "SimplifiedLayerNormalization", layer_attrs, simplified_in, simplified_out, simplified),
    FUSED("com.microsoft", "EmbedLayerNormalization", embed_attrs, embed_in, embed_out, embed),
    {0},
};
