/* Cast, CastLike and BitCast of every version: types, shapes, contents, bindings. */
#include <string.h>

#include "base/compiler.h"
#include "ops/cast/cast_room.h"

static pw_cast_kind kind_of(const struct pw_call *call)
{
    return ((const struct pw_cast_form *)call->op->data)->kind;
}

static bool castable(pw_dtype dtype, pw_cast_kind kind)
{
    pw_dtype_kind what = pw_dtype_facts(dtype)->kind;

    if (what == PW_KIND_COMPLEX)
        return kind == PW_CAST_BITS;
    if (what == PW_KIND_STRING)
        return kind != PW_CAST_BITS;
    return what != PW_KIND_NONE;
}

pw_status pw_cast_target(const struct pw_call *call, pw_dtype *out, struct pw_error *err)
{
    pw_cast_kind kind = kind_of(call);
    int64_t number;

    if (kind == PW_CAST_LIKE) {
        *out = pw_call_input(call, 1) ? call->in[1]->dtype : PW_DTYPE_UNDEFINED;
        return *out == PW_DTYPE_UNDEFINED || castable(*out, kind)
                   ? PW_OK
                   : pw_call_error(call, err, "the target is %s, which nothing is cast to", pw_dtype_name(*out));
    }
    if (call->op->since < 6) { /* the type's name */
        const char *name = pw_call_string(call, "to");

        *out = pw_dtype_parse(name);
        return castable(*out, kind) ? PW_OK : pw_call_error(call, err, "to is '%.40s', which is no type", name);
    }
    number = pw_call_int(call, "to");
    *out = number > 0 && number < PW_DTYPE_COUNT ? (pw_dtype)number : PW_DTYPE_UNDEFINED;
    if (!castable(*out, kind))
        return pw_call_error(call, err, "to is %lld, which is no type that can be cast to", (long long)number);
    return PW_OK;
}

bool pw_cast_saturates(const struct pw_call *call)
{
    return call->op->since < 19 || kind_of(call) == PW_CAST_BITS || pw_call_int(call, "saturate") != 0;
}

pw_status pw_cast_round_mode(const struct pw_call *call, pw_cast_round *out, struct pw_error *err)
{
    static const char *const names[] = {"up", "down", "nearest"};
    const char *name = pw_call_string(call, "round_mode");

    *out = PW_CAST_UP;
    if (!*name)
        return PW_OK;
    for (int i = 0; i < 3; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (pw_cast_round)i;
            return PW_OK;
        }
    }
    return pw_call_error(call, err, "round_mode is '%.40s'; up, down or nearest expected", name);
}

/* Integers and truth values keep their content where the type holds it. */
static pw_status infer_content(struct pw_call *call, pw_dtype to, struct pw_error *err)
{
    const struct pw_info *in = call->in[0];
    const struct pw_dtype_facts *facts = pw_dtype_facts(to);
    bool whole = pw_dtype_is_integer(to) || to == PW_DTYPE_BOOL;
    pw_dim *content;

    if (!in->content || !whole || call->output_count < 1 || kind_of(call) == PW_CAST_BITS)
        return PW_OK;
    content = pw_arena_alloc(call->arena, in->content_count + 1, sizeof *content);
    if (!content)
        return pw_error_memory(err, in->content_count * sizeof *content);
    for (size_t i = 0; i < in->content_count; i++) {
        int64_t value;
        bool known = pw_dims_value(call->dims, in->content[i], &value);

        content[i] = in->content[i];
        if (to == PW_DTYPE_BOOL)
            content[i] = known ? value != 0 : pw_dims_at_least(call->dims, in->content[i], 1) ? 1 : PW_DIM_UNKNOWN;
        else if (known && facts->bits < 64 &&
                 ((double)value > facts->max ||
                  (double)value < (facts->kind == PW_KIND_UNSIGNED ? 0.0 : -facts->max - 1.0)))
            content[i] = PW_DIM_UNKNOWN;
    }
    call->out[0].content = content;
    call->out[0].content_count = in->content_count;
    return PW_OK;
}

static pw_status infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *in = call->in[0];
    pw_dtype to = PW_DTYPE_UNDEFINED;
    pw_cast_round round;
    pw_status status = pw_cast_target(call, &to, err);

    if (status == PW_OK)
        status = pw_cast_round_mode(call, &round, err);
    if (status != PW_OK)
        return status;
    if (in->dtype != PW_DTYPE_UNDEFINED && !castable(in->dtype, kind_of(call)))
        return pw_call_error(call, err, "the input is %s, which can't be cast", pw_dtype_name(in->dtype));
    if (kind_of(call) == PW_CAST_BITS && in->dtype != PW_DTYPE_UNDEFINED &&
        pw_dtype_facts(in->dtype)->bits != pw_dtype_facts(to)->bits)
        return pw_call_error(call, err, "%s has %u bits and %s %u: BitCast keeps them", pw_dtype_name(in->dtype),
                             pw_dtype_facts(in->dtype)->bits, pw_dtype_name(to), pw_dtype_facts(to)->bits);
    pw_call_output(call, 0, to, in->rank, in->dims);
    return infer_content(call, to, err);
}

static pw_status cost(const struct pw_call *call, struct pw_cost *out, struct pw_error *err)
{
    (void)call;
    (void)err;
    out->flops = 0;
    return PW_OK;
}

static void accuracy(const struct pw_call *call, struct pw_accuracy *out)
{
    double from = pw_dtype_epsilon(call->in[0]->dtype), to = pw_dtype_epsilon(call->out[0].dtype);

    out->exact = true;
    out->ulp = 0;
    out->length = 1;
    out->amplification = 1;
    out->sensitivity = to > from && from > 0 ? PW_SENSITIVITY_MEDIUM : PW_SENSITIVITY_LOW;
    out->reason = to > from && from > 0 ? "rounds to fewer bits and a smaller range" : "no error is amplified";
    out->why = "one rounding to nearest even: bitwise";
}

/* Beyond an integer's range ONNX leaves the result open. */
static void fill(const struct pw_call *call, int input, struct pw_fill *out)
{
    pw_dtype to = call->out[0].dtype;

    if (input != 0 || !pw_dtype_is_integer(to) || kind_of(call) == PW_CAST_BITS)
        return;
    out->low = pw_dtype_facts(to)->kind == PW_KIND_UNSIGNED ? 0 : -100;
    out->high = 100;
}

static pw_status bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_dtype_facts *from = pw_dtype_facts(call->in[0]->dtype), *to = pw_dtype_facts(call->out[0].dtype);
    bool wide = from->bytes >= 4 && call->in[0]->dtype != PW_DTYPE_FLOAT32;
    pw_cast_round round = PW_CAST_UP;
    pw_status status = pw_cast_round_mode(call, &round, err);

    if (status == PW_OK)
        status = pw_bind_int(b, "saturates", pw_cast_saturates(call), err);
    if (status == PW_OK)
        status = pw_bind_int(b, "round", round, err);
    /* Float8 without -0: infinity became NaN even when saturating before opset 24. */
    if (status == PW_OK)
        status = pw_bind_int(b, "inf_is_nan",
                             call->op->since < 24 && (call->out[0].dtype == PW_DTYPE_FLOAT8E4M3FNUZ ||
                                                      call->out[0].dtype == PW_DTYPE_FLOAT8E5M2FNUZ),
                             err);
    /* Types wider than float to a narrow float must not be rounded twice. */
    if (status == PW_OK)
        status = pw_bind_int(b, "odd", wide && to->kind == PW_KIND_FLOAT && to->bytes < 4, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "bits", to->bits, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "is_signed", to->kind == PW_KIND_SIGNED, err);
    return status;
}

static const struct pw_formal in1[] = {{"input", "T1", 0}, {0}}, out2[] = {{"output", "T2", 0}, {0}};
static const struct pw_formal like_in[] = {{"input", "T1", 0}, {"target_type", "T2", 0}, {0}};
static const struct pw_attr_def to1[] = {{.name = "to", .type = PW_ATTR_STRING, .required = true}, {0}};
#define TO                                                                                                             \
    {                                                                                                                  \
        .name = "to", .type = PW_ATTR_INT, .required = true                                                            \
    }
#define SATURATE                                                                                                       \
    {                                                                                                                  \
        .name = "saturate", .type = PW_ATTR_INT, .i = 1                                                                \
    }
#define ROUND_MODE                                                                                                     \
    {                                                                                                                  \
        .name = "round_mode", .type = PW_ATTR_STRING, .s = "up"                                                        \
    }
static const struct pw_attr_def to6[] = {TO, {0}}, to19[] = {TO, SATURATE, {0}};
static const struct pw_attr_def to24[] = {TO, SATURATE, ROUND_MODE, {0}};
static const struct pw_attr_def like19[] = {SATURATE, {0}}, like24[] = {SATURATE, ROUND_MODE, {0}};
static const struct pw_cast_form value_form = {PW_CAST_VALUE}, like_form = {PW_CAST_LIKE}, bits_form = {PW_CAST_BITS};

#define OP(op_name, version, attributes, ins, form)                                                                    \
    {                                                                                                                  \
        .domain = "", .name = op_name, .since = version, .category = PW_CATEGORY_ELEMENTWISE, .attrs = attributes,     \
        .inputs = ins, .outputs = out2, .infer = infer, .cost = cost, .accuracy = accuracy, .golden = pw_cast_eval,    \
        .fast = pw_cast_eval, .fill = fill, .bind = bind, .data = &form                                                \
    }

const struct pw_op pw_cast_ops[] = {
    OP("Cast", 1, to1, in1, value_form),
    OP("Cast", 6, to6, in1, value_form),
    OP("Cast", 9, to6, in1, value_form),
    OP("Cast", 13, to6, in1, value_form),
    OP("Cast", 19, to19, in1, value_form),
    OP("Cast", 21, to19, in1, value_form),
    OP("Cast", 23, to19, in1, value_form),
    OP("Cast", 24, to24, in1, value_form),
    OP("Cast", 25, to24, in1, value_form),
    OP("Cast", 28, to24, in1, value_form),
    OP("CastLike", 15, NULL, like_in, like_form),
    OP("CastLike", 19, like19, like_in, like_form),
    OP("CastLike", 21, like19, like_in, like_form),
    OP("CastLike", 23, like19, like_in, like_form),
    OP("CastLike", 24, like24, like_in, like_form),
    OP("CastLike", 25, like24, like_in, like_form),
    OP("BitCast", 26, to6, in1, bits_form),
    {0},
};
