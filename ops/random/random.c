#include "ops/random/random_room.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- keys and thresholds ---- */

uint64_t pw_random_key(const struct pw_call *call)
{
    const struct pw_attr *seed = pw_node_attr(call->node, "seed");
    uint32_t bits;

    if (seed == NULL)
        return call->seed;
    if (seed->type == PW_ATTR_INT)
        return (uint64_t)seed->i;
    memcpy(&bits, &seed->f, sizeof bits);
    return bits;
}

uint64_t pw_random_threshold(double p)
{
    if (!(p > 0.0))
        return 0;
    return p >= 1.0 ? (uint64_t)1 << 32 : (uint64_t)ceil(p * 0x1p32);
}

static pw_status bind_key(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    uint64_t key = pw_random_key(call);
    int64_t bits;

    memcpy(&bits, &key, sizeof bits);
    return pw_bind_int(b, "key", bits, err);
}

/* ---- RandomUniform, RandomNormal, their Like forms, Bernoulli, Multinomial ---- */

static bool may_make(const struct pw_random_form *form, pw_dtype dtype)
{
    switch (form->kind) {
    case PW_RANDOM_BERNOULLI:
        return pw_dtype_is_float(dtype) || pw_dtype_is_integer(dtype) || dtype == PW_DTYPE_BOOL;
    case PW_RANDOM_MULTINOMIAL:
        return dtype == PW_DTYPE_INT32 || dtype == PW_DTYPE_INT64;
    default:
        return pw_dtype_is_float(dtype);
    }
}

pw_status pw_random_dtype(const struct pw_call *call, pw_dtype *out, struct pw_error *err)
{
    const struct pw_random_form *form = call->op->data;
    bool follows = form->like && !pw_call_has(call, "dtype");
    int64_t wanted = follows ? (int64_t)call->in[0]->dtype : pw_call_int(call, "dtype");
    pw_dtype dtype = wanted > 0 && wanted < PW_DTYPE_COUNT ? (pw_dtype)wanted : PW_DTYPE_UNDEFINED;

    if (!(follows && dtype == PW_DTYPE_UNDEFINED) && !may_make(form, dtype))
        return pw_call_error(call, err, "the output would be of dtype %" PRId64 " (%s), which the operator cannot draw",
                             wanted, pw_dtype_name(dtype));
    *out = dtype;
    return PW_OK;
}

static pw_status infer_shape(struct pw_call *call, pw_dtype dtype, struct pw_error *err)
{
    size_t rank = 0;
    const int64_t *shape = pw_call_ints(call, "shape", &rank);
    pw_dim dims[PW_MAX_RANK];

    if (rank > PW_MAX_RANK)
        return pw_call_error(call, err, "shape has %zu dims, at most %d are possible", rank, PW_MAX_RANK);
    for (size_t d = 0; d < rank; d++) {
        if (shape[d] < 0)
            return pw_call_error(call, err, "shape has %" PRId64 " in dim %zu", shape[d], d);
        dims[d] = shape[d];
    }
    pw_call_output(call, 0, dtype, (int)rank, dims);
    return PW_OK;
}

static pw_status infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_random_form *form = call->op->data;
    const struct pw_info *in = form->like ? call->in[0] : NULL;
    pw_dtype dtype = PW_DTYPE_UNDEFINED;
    pw_status status = pw_random_dtype(call, &dtype, err);

    if (status != PW_OK)
        return status;
    if (in == NULL)
        return infer_shape(call, dtype, err);
    if (form->kind == PW_RANDOM_BERNOULLI && in->dtype != PW_DTYPE_UNDEFINED && !pw_dtype_is_float(in->dtype))
        return pw_call_error(call, err, "the probabilities are %s, a float type expected", pw_dtype_name(in->dtype));
    if (in->rank >= 0)
        pw_call_output(call, 0, dtype, in->rank, in->dims);
    else
        pw_call_output_unknown(call, 0, dtype);
    return PW_OK;
}

static pw_status infer_multinomial(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = call->in[0];
    int64_t samples = pw_call_int(call, "sample_size");
    pw_dtype dtype = PW_DTYPE_UNDEFINED;
    pw_dim dims[2] = {PW_DIM_UNKNOWN, samples};
    pw_status status = pw_random_dtype(call, &dtype, err);

    if (status != PW_OK)
        return status;
    if (in->dtype != PW_DTYPE_UNDEFINED && !pw_dtype_is_float(in->dtype))
        return pw_call_error(call, err, "the input is %s, a float type expected", pw_dtype_name(in->dtype));
    if (samples < 0)
        return pw_call_error(call, err, "sample_size is %" PRId64 ", expected at least 0", samples);
    if (in->rank >= 0 && in->rank != 2)
        return pw_call_error(call, err, "the input has rank %d, expected [batch, class]", in->rank);
    if (in->rank == 2 && in->dims[1] == 0 && samples > 0)
        return pw_call_error(call, err, "there are no classes to draw from");
    dims[0] = in->rank == 2 ? in->dims[0] : pw_dims_fresh(call->dims, "batch");
    pw_call_output(call, 0, dtype, 2, dims);
    return PW_OK;
}

static void accuracy(const struct pw_call *call, struct pw_accuracy *out)
{
    const struct pw_random_form *form = call->op->data;

    out->exact = form->kind == PW_RANDOM_BERNOULLI || form->kind == PW_RANDOM_MULTINOMIAL;
    out->ulp = form->kind == PW_RANDOM_NORMAL ? 16.0 : 4.0; /* log 3, sqrt 3, cospi 4, scaling; or scaling alone */
    out->length = 1;
    out->amplification = 1.0;
    out->sensitivity = PW_SENSITIVITY_LOW;
    out->reason = "draws";
    out->why = form->kind == PW_RANDOM_NORMAL ? "log 3 ULP, square root 3 ULP, cospi 4 ULP of the same random words"
                                              : "the same random words, scaled";
}

static pw_status bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    bool is_wide = call->out[0].dtype == PW_DTYPE_FLOAT64;
    const struct pw_random_form *form = call->op->data;
    pw_status status = bind_key(call, b, err);

    if (status == PW_OK) /* elements made from one block of four words */
        status = pw_bind_int(b, "per_block", (form->kind == PW_RANDOM_UNIFORM ? 4 : 2) / (is_wide ? 2 : 1), err);
    return status;
}

static pw_status bind_multinomial(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    pw_status status = bind_key(call, b, err);

    if (status == PW_OK)
        status = pw_bind_int(b, "acc_bytes", call->in[0]->dtype == PW_DTYPE_FLOAT64 ? 8 : 4, err);
    return status;
}

static void fill_bernoulli(const struct pw_call *call, int input, struct pw_fill *out)
{
    (void)call;
    (void)input;
    out->low = 0.0;
    out->high = 1.0;
}

/* ---- Dropout ---- */

/* A single number of an optional input; *known false where only the run knows it. */
static pw_status read_scalar(const struct pw_call *call, int input, double absent, double *value, bool *known,
                             struct pw_error *err)
{
    const struct pw_info *info = pw_call_input(call, input) ? call->in[input] : NULL;
    int64_t number = 0;

    *value = absent;
    if (info == NULL)
        return PW_OK;
    for (int d = 0; d < info->rank; d++) {
        if (info->dims[d] >= 0 && info->dims[d] != 1)
            return pw_call_error(call, err, "'%s' has %" PRId64 " in dim %d, expected a single number",
                                 call->op->inputs[input].name, info->dims[d], d);
    }
    if (info->constant != NULL && info->constant->count == 1)
        *value = pw_tensor_get(info->constant, 0);
    else if (info->content != NULL && info->content_count == 1 && pw_dims_value(call->dims, info->content[0], &number))
        *value = (double)number;
    else
        *known = false;
    return PW_OK;
}

pw_status pw_dropout_read(const struct pw_call *call, struct pw_dropout *out, struct pw_error *err)
{
    double training = 0.0;
    pw_status status = PW_OK;

    *out = (struct pw_dropout){.known = true, .ratio = 0.5};
    if (call->op->since < 12) {
        out->ratio = (double)pw_call_float(call, "ratio");
        training = call->op->since < 7 && pw_call_int(call, "is_test") == 0;
    } else {
        bool known = true;

        status = read_scalar(call, 2, 0.0, &training, &known, err);
        if (status == PW_OK && (training != 0.0 || !known)) /* else the ratio does not matter */
            status = read_scalar(call, 1, 0.5, &out->ratio, &known, err);
        out->known = known;
    }
    if (status != PW_OK || !out->known)
        return status;
    if (training != 0.0 && !(out->ratio >= 0.0 && out->ratio < 1.0))
        return pw_call_error(call, err, "ratio is %g, expected 0 or more and less than 1", out->ratio);
    out->drops = training != 0.0 && out->ratio > 0.0;
    return PW_OK;
}

static bool dropout_draws(const struct pw_call *call)
{
    struct pw_dropout dropout;

    return pw_dropout_read(call, &dropout, NULL) != PW_OK || !dropout.known || dropout.drops;
}

static pw_status infer_dropout(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *data = call->in[0];
    struct pw_dropout dropout;
    pw_status status;

    if (data->dtype != PW_DTYPE_UNDEFINED && !pw_dtype_is_float(data->dtype))
        return pw_call_error(call, err, "the data are %s, a float type expected", pw_dtype_name(data->dtype));
    status = pw_dropout_read(call, &dropout, err);
    if (status != PW_OK)
        return status;
    pw_call_output_like(call, 0, 0);
    if (call->output_count > 1) {
        pw_call_output_like(call, 1, 0);
        if (call->op->since >= 10)
            call->out[1].dtype = PW_DTYPE_BOOL;
    }
    return PW_OK;
}

static void accuracy_dropout(const struct pw_call *call, struct pw_accuracy *out)
{
    out->exact = !dropout_draws(call);
    out->ulp = out->exact ? 0.0 : 3.5;
    out->length = 1;
    out->amplification = 1.0;
    out->sensitivity = PW_SENSITIVITY_LOW;
    out->reason = out->exact ? "a copy" : "draws";
    out->why = out->exact ? "a copy" : "scaled by 1 / (1 - ratio)";
}

static pw_status bind_dropout(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_dropout dropout;
    pw_status status = pw_dropout_read(call, &dropout, err);

    if (status == PW_OK && !dropout.known)
        status = pw_error_set(err, PW_ERR_UNSUPPORTED, "ratio and training_mode are not known");
    if (status == PW_OK)
        status = bind_key(call, b, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "drops", dropout.drops, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "threshold", (int64_t)pw_random_threshold(dropout.drops ? dropout.ratio : 0.0), err);
    if (status == PW_OK)
        status = pw_bind_float(b, "scale", dropout.drops ? 1.0 / (1.0 - dropout.ratio) : 1.0, err);
    return status;
}

/* ---- tables ---- */

static const struct pw_formal drawn_out[] = {{"output", "T2", 0}, {0}};
static const struct pw_formal no_in[] = {{0}};
static const struct pw_formal like_in[] = {{"input", "T1", 0}, {0}};
static const struct pw_attr_def uniform_attrs[] = {{.name = "dtype", .type = PW_ATTR_INT, .i = PW_DTYPE_FLOAT32},
                                                   {.name = "high", .type = PW_ATTR_FLOAT, .f = 1.0f},
                                                   {.name = "low", .type = PW_ATTR_FLOAT},
                                                   {.name = "seed", .type = PW_ATTR_FLOAT},
                                                   {.name = "shape", .type = PW_ATTR_INTS, .required = true},
                                                   {0}};
static const struct pw_attr_def uniform_like_attrs[] = {{.name = "dtype", .type = PW_ATTR_INT},
                                                        {.name = "high", .type = PW_ATTR_FLOAT, .f = 1.0f},
                                                        {.name = "low", .type = PW_ATTR_FLOAT},
                                                        {.name = "seed", .type = PW_ATTR_FLOAT},
                                                        {0}};
static const struct pw_attr_def normal_attrs[] = {
    {.name = "dtype", .type = PW_ATTR_INT, .i = PW_DTYPE_FLOAT32}, {.name = "mean", .type = PW_ATTR_FLOAT},
    {.name = "scale", .type = PW_ATTR_FLOAT, .f = 1.0f},           {.name = "seed", .type = PW_ATTR_FLOAT},
    {.name = "shape", .type = PW_ATTR_INTS, .required = true},     {0}};
static const struct pw_attr_def normal_like_attrs[] = {{.name = "dtype", .type = PW_ATTR_INT},
                                                       {.name = "mean", .type = PW_ATTR_FLOAT},
                                                       {.name = "scale", .type = PW_ATTR_FLOAT, .f = 1.0f},
                                                       {.name = "seed", .type = PW_ATTR_FLOAT},
                                                       {0}};
static const struct pw_attr_def bernoulli_attrs[] = {
    {.name = "dtype", .type = PW_ATTR_INT}, {.name = "seed", .type = PW_ATTR_FLOAT}, {0}};
static const struct pw_attr_def multinomial_attrs[] = {{.name = "dtype", .type = PW_ATTR_INT, .i = PW_DTYPE_INT32},
                                                       {.name = "sample_size", .type = PW_ATTR_INT, .i = 1},
                                                       {.name = "seed", .type = PW_ATTR_FLOAT},
                                                       {0}};
static const struct pw_random_form uniform = {PW_RANDOM_UNIFORM, false}, uniform_like = {PW_RANDOM_UNIFORM, true},
                                   normal = {PW_RANDOM_NORMAL, false}, normal_like = {PW_RANDOM_NORMAL, true},
                                   bernoulli = {PW_RANDOM_BERNOULLI, true},
                                   multinomial = {PW_RANDOM_MULTINOMIAL, false};

#define FILL(op_name, version, attributes, formals_in, form)                                                           \
    {                                                                                                                  \
        .domain = "", .name = op_name, .since = version, .category = PW_CATEGORY_OTHER, .attrs = attributes,           \
        .inputs = formals_in, .outputs = drawn_out, .infer = infer, .accuracy = accuracy, .golden = pw_random_fill,    \
        .fast = pw_random_fill, .bind = bind, .random = true, .property = pw_random_fill_property, .data = &form       \
    }
#define BERNOULLI(version)                                                                                             \
    {                                                                                                                  \
        .domain = "", .name = "Bernoulli", .since = version, .category = PW_CATEGORY_OTHER, .attrs = bernoulli_attrs,  \
        .inputs = like_in, .outputs = drawn_out, .infer = infer, .accuracy = accuracy, .golden = pw_random_bernoulli,  \
        .fast = pw_random_bernoulli, .fill = fill_bernoulli, .bind = bind_key, .random = true,                         \
        .property = pw_random_bernoulli_property, .data = &bernoulli                                                   \
    }
#define MULTINOMIAL(version)                                                                                           \
    {                                                                                                                  \
        .domain = "", .name = "Multinomial", .since = version, .category = PW_CATEGORY_OTHER,                          \
        .attrs = multinomial_attrs, .inputs = like_in, .outputs = drawn_out, .infer = infer_multinomial,               \
        .accuracy = accuracy, .golden = pw_random_multinomial, .fast = pw_random_multinomial,                          \
        .bind = bind_multinomial, .random = true, .property = pw_random_multinomial_property, .data = &multinomial     \
    }

static const struct pw_formal dropout_in[] = {{"data", "T", 0}, {0}};
static const struct pw_formal dropout12_in[] = {{"data", "T", 0},
                                                {"ratio", "T1", PW_FORMAL_OPTIONAL | PW_FORMAL_PARAM},
                                                {"training_mode", "T2", PW_FORMAL_OPTIONAL | PW_FORMAL_PARAM},
                                                {0}};
static const struct pw_formal dropout_out[] = {{"output", "T", 0}, {"mask", "T", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal dropout10_out[] = {{"output", "T", 0}, {"mask", "tensor(bool)", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_attr_def dropout1_attrs[] = {{.name = "consumed_inputs", .type = PW_ATTR_INTS},
                                                    {.name = "is_test", .type = PW_ATTR_INT},
                                                    {.name = "ratio", .type = PW_ATTR_FLOAT, .f = 0.5f},
                                                    {0}};
static const struct pw_attr_def dropout7_attrs[] = {{.name = "ratio", .type = PW_ATTR_FLOAT, .f = 0.5f}, {0}};
static const struct pw_attr_def dropout12_attrs[] = {{.name = "seed", .type = PW_ATTR_INT}, {0}};

#define DROPOUT(version, attributes, formals_in, formals_out)                                                          \
    {                                                                                                                  \
        .domain = "", .name = "Dropout", .since = version, .category = PW_CATEGORY_OTHER, .attrs = attributes,         \
        .inputs = formals_in, .outputs = formals_out, .infer = infer_dropout, .accuracy = accuracy_dropout,            \
        .golden = pw_dropout_evaluate, .fast = pw_dropout_evaluate, .bind = bind_dropout, .random = true,              \
        .draws = dropout_draws, .property = pw_dropout_property                                                        \
    }

const struct pw_op pw_random_ops[] = {
    FILL("RandomUniform", 1, uniform_attrs, no_in, uniform),
    FILL("RandomUniform", 22, uniform_attrs, no_in, uniform),
    FILL("RandomUniformLike", 1, uniform_like_attrs, like_in, uniform_like),
    FILL("RandomUniformLike", 22, uniform_like_attrs, like_in, uniform_like),
    FILL("RandomNormal", 1, normal_attrs, no_in, normal),
    FILL("RandomNormal", 22, normal_attrs, no_in, normal),
    FILL("RandomNormalLike", 1, normal_like_attrs, like_in, normal_like),
    FILL("RandomNormalLike", 22, normal_like_attrs, like_in, normal_like),
    BERNOULLI(15),
    BERNOULLI(22),
    MULTINOMIAL(7),
    MULTINOMIAL(22),
    DROPOUT(1, dropout1_attrs, dropout_in, dropout_out),
    DROPOUT(6, dropout1_attrs, dropout_in, dropout_out),
    DROPOUT(7, dropout7_attrs, dropout_in, dropout_out),
    DROPOUT(10, dropout7_attrs, dropout_in, dropout10_out),
    DROPOUT(12, dropout12_attrs, dropout12_in, dropout10_out),
    DROPOUT(13, dropout12_attrs, dropout12_in, dropout10_out),
    DROPOUT(22, dropout12_attrs, dropout12_in, dropout10_out),
    {0},
};
