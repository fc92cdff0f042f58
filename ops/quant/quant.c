#include "ops/quant/quant.h"

#include "base/compiler.h"

static int64_t extent(const struct pw_call *call, const struct pw_info *info, int axis)
{
    int64_t value = 0;
    return info && axis < info->rank && pw_dims_value(call->dims, info->dims[axis], &value) ? value : -1;
}

/* ---- which scale belongs to an element ---- */

/* Elements of a shape; -1 when an extent is not a number or the product overflows. */
static int64_t count_of(const struct pw_call *call, const struct pw_info *info, int from)
{
    int64_t count = info->rank < 0 ? -1 : 1;
    for (int i = from; i < info->rank && count >= 0; i++) {
        if (extent(call, info, i) < 0 || __builtin_mul_overflow(count, extent(call, info, i), &count))
            count = -1;
    }
    return count;
}

static pw_status check_zero_point(const struct pw_call *call, struct pw_error *err)
{
    if (!pw_call_input(call, 2))
        return PW_OK;
    int64_t scales = count_of(call, call->in[1], 0), zeros = count_of(call, call->in[2], 0);
    if (scales >= 0 && zeros >= 0 && scales != zeros)
        return pw_call_error(call, err, "%lld scales, but %lld zero points", (long long)scales, (long long)zeros);
    return PW_OK;
}

static pw_status blocked_layout(const struct pw_call *call, int axis, struct pw_quant_layout *l, struct pw_error *err)
{
    const struct pw_info *x = call->in[0], *scale = call->in[1];
    int64_t block = pw_call_int(call, "block_size"), blocks = extent(call, scale, axis);
    if (block < 1)
        return pw_call_error(call, err, "the scale has rank %d, but block_size is %lld", scale->rank, (long long)block);
    for (int i = 0; i < x->rank; i++) {
        int64_t want = i == axis ? l->extent / block + (l->extent % block != 0) : extent(call, x, i);
        if (extent(call, scale, i) != want)
            return pw_call_error(call, err, "axis %d: %lld scales, expected %lld", i, (long long)extent(call, scale, i),
                                 (long long)want);
    }
    l->block = block;
    l->outer_pitch = blocks;
    l->inner_pitch = l->inner;
    l->inner_step = 1;
    return PW_OK;
}

pw_status pw_quant_layout(const struct pw_call *call, struct pw_quant_layout *l, struct pw_error *err)
{
    const struct pw_info *x = call->in[0], *scale = call->in[1];
    int axis = 0;
    *l = (struct pw_quant_layout){.extent = 1, .inner = 1, .block = 1, .inner_pitch = 1, .scales = 1};
    if (x->rank < 0 || scale->rank < 0)
        return pw_call_error(call, err, "ranks are not known");
    l->scales = count_of(call, scale, 0);
    if (l->scales < 0)
        return pw_call_error(call, err, "the scale's extents are not known numbers");
    pw_status status = check_zero_point(call, err);
    if (status != PW_OK || (l->scales == 1 && scale->rank <= 1))
        return status; /* one scale for all */
    status = pw_call_axis(call, call->op->since < 13 ? 1 : pw_call_int(call, "axis"), x->rank, &axis, err);
    if (status != PW_OK)
        return status;
    l->extent = extent(call, x, axis);
    l->inner = count_of(call, x, axis + 1);
    if (l->extent < 0 || l->inner < 0)
        return pw_call_error(call, err, "the extents of the input are not known numbers");
    if (scale->rank == x->rank && (x->rank != 1 || pw_call_int(call, "block_size") > 0))
        return blocked_layout(call, axis, l, err);
    if (scale->rank != 1 || l->scales != l->extent)
        return pw_call_error(call, err, "%lld scales of rank %d for axis %d of %lld", (long long)l->scales, scale->rank,
                             axis, (long long)l->extent);
    return PW_OK;
}

int64_t pw_quant_scale_index(const struct pw_quant_layout *l, int64_t i)
{
    if (l->scales == 1)
        return 0;
    int64_t inner = i % l->inner, d = i / l->inner % l->extent, outer = i / l->inner / l->extent;
    return (outer * l->outer_pitch + d / l->block) * l->inner_pitch + inner * l->inner_step;
}

void pw_quant_range(pw_dtype dtype, int64_t *low, int64_t *high)
{
    const struct pw_dtype_facts *facts = pw_dtype_facts(dtype);
    bool is_signed = facts->kind == PW_KIND_SIGNED;
    unsigned bits = facts->bits < 1 || facts->bits > 32 ? 8 : facts->bits;
    *high = ((int64_t)1 << (is_signed ? bits - 1 : bits)) - 1;
    *low = is_signed ? -*high - 1 : 0;
}

pw_dtype pw_quant_precision(const struct pw_call *call)
{
    int64_t wanted = pw_call_int(call, "precision");
    pw_dtype dtype = wanted != 0 ? (pw_dtype)wanted : call->in[1]->dtype;
    if (wanted == 0 && !pw_dtype_is_float(call->in[0]->dtype))
        return PW_DTYPE_FLOAT64; /* an integer divided by a scale: no narrower type holds it */
    if (dtype == PW_DTYPE_FLOAT16 || dtype == PW_DTYPE_BFLOAT16 || dtype == PW_DTYPE_FLOAT64)
        return dtype;
    return dtype == PW_DTYPE_FLOAT8E8M0 ? call->in[0]->dtype : PW_DTYPE_FLOAT32;
}

/* ---- inference ---- */

static bool all_numbers(const struct pw_call *call, const struct pw_info *info)
{
    for (int i = 0; i < info->rank; i++) {
        if (extent(call, info, i) < 0)
            return false;
    }
    return info->rank >= 0;
}

static pw_status check_shapes(const struct pw_call *call, struct pw_error *err)
{
    struct pw_quant_layout layout;
    if (!all_numbers(call, call->in[0]) || !all_numbers(call, call->in[1]))
        return PW_OK;
    return pw_quant_layout(call, &layout, err);
}

static bool is_quantized(pw_dtype dtype)
{
    static const pw_dtype types[] = {PW_DTYPE_INT8,           PW_DTYPE_UINT8,      PW_DTYPE_INT16,
                                     PW_DTYPE_UINT16,         PW_DTYPE_INT4,       PW_DTYPE_UINT4,
                                     PW_DTYPE_INT2,           PW_DTYPE_UINT2,      PW_DTYPE_FLOAT8E4M3FN,
                                     PW_DTYPE_FLOAT8E4M3FNUZ, PW_DTYPE_FLOAT8E5M2, PW_DTYPE_FLOAT8E5M2FNUZ,
                                     PW_DTYPE_FLOAT4E2M1,     PW_DTYPE_FLOAT6E2M3, PW_DTYPE_FLOAT6E3M2};
    for (size_t i = 0; i < PW_COUNT_OF(types); i++) {
        if (types[i] == dtype)
            return true;
    }
    return false;
}

static bool is_real(pw_dtype dtype)
{
    return dtype == PW_DTYPE_FLOAT32 || dtype == PW_DTYPE_FLOAT16 || dtype == PW_DTYPE_BFLOAT16;
}

static pw_status infer_quantize(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    int64_t wanted = pw_call_int(call, "output_dtype");
    pw_dtype dtype = wanted != 0 ? (pw_dtype)wanted : PW_DTYPE_UINT8;
    if (pw_call_input(call, 2) && call->in[2]->dtype != PW_DTYPE_UNDEFINED) {
        if (wanted != 0 && (int64_t)call->in[2]->dtype != wanted)
            return pw_call_error(call, err, "output_dtype is %lld, but the zero point is %s", (long long)wanted,
                                 pw_dtype_name(call->in[2]->dtype));
        dtype = call->in[2]->dtype;
    }
    if (wanted < 0 || wanted >= PW_DTYPE_COUNT || !is_quantized(dtype))
        return pw_call_error(call, err, "%s is no type to quantize to", pw_dtype_name(dtype));
    if (x->dtype != PW_DTYPE_UNDEFINED && !is_real(x->dtype) && x->dtype != PW_DTYPE_INT32)
        return pw_call_error(call, err, "%s cannot be quantized", pw_dtype_name(x->dtype));
    int64_t precision = pw_call_int(call, "precision");
    if (precision != 0 && precision != PW_DTYPE_FLOAT32 && precision != PW_DTYPE_FLOAT16 &&
        precision != PW_DTYPE_BFLOAT16 && precision != PW_DTYPE_FLOAT64)
        return pw_call_error(call, err, "precision %lld is no floating-point type", (long long)precision);
    pw_status status = check_shapes(call, err);
    if (status == PW_OK && x->rank < 0)
        pw_call_output_unknown(call, 0, dtype);
    else if (status == PW_OK)
        pw_call_output(call, 0, dtype, x->rank, x->dims);
    return status;
}

static pw_status infer_dequantize(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    int64_t wanted = pw_call_int(call, "output_dtype");
    pw_dtype dtype = wanted != 0 ? (pw_dtype)wanted : call->in[1]->dtype;
    if (x->dtype != PW_DTYPE_UNDEFINED && !is_quantized(x->dtype) && x->dtype != PW_DTYPE_INT32)
        return pw_call_error(call, err, "%s cannot be dequantized", pw_dtype_name(x->dtype));
    if (wanted < 0 || wanted >= PW_DTYPE_COUNT || (dtype != PW_DTYPE_UNDEFINED && !is_real(dtype)))
        return pw_call_error(call, err, "%s is no type to dequantize to", pw_dtype_name(dtype));
    pw_status status = check_shapes(call, err);
    if (status == PW_OK && x->rank < 0)
        pw_call_output_unknown(call, 0, dtype);
    else if (status == PW_OK)
        pw_call_output(call, 0, dtype, x->rank, x->dims);
    return status;
}

static pw_status infer_dynamic(struct pw_call *call, struct pw_error *err)
{
    const struct pw_info *x = call->in[0];
    if (x->dtype != PW_DTYPE_UNDEFINED && x->dtype != PW_DTYPE_FLOAT32)
        return pw_call_error(call, err, "x is %s, expected float32", pw_dtype_name(x->dtype));
    if (x->rank < 0)
        pw_call_output_unknown(call, 0, PW_DTYPE_UINT8);
    else
        pw_call_output(call, 0, PW_DTYPE_UINT8, x->rank, x->dims);
    pw_call_output(call, 1, PW_DTYPE_FLOAT32, 0, NULL);
    pw_call_output(call, 2, PW_DTYPE_UINT8, 0, NULL);
    return PW_OK;
}

/* ---- cost, accuracy, inputs ---- */

static pw_status cost_quant(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err)
{
    (void)err;
    pw_dim product = 2; /* a division or product, and the zero point */
    for (int i = 0; i < call->in[0]->rank; i++)
        product = pw_dims_mul(call->dims, product, call->in[0]->dims[i]);
    cost->flops = call->in[0]->rank < 0 ? PW_DIM_UNKNOWN : product;
    return PW_OK;
}

static void accuracy_quantize(const struct pw_call *call, struct pw_accuracy *a)
{
    (void)call;
    *a = (struct pw_accuracy){.exact = true,
                              .length = 1,
                              .amplification = 1,
                              .sensitivity = PW_SENSITIVITY_MEDIUM,
                              .reason = "a quotient near a half moves by a whole step",
                              .why = "one division, rounded to the scale's type as the operator says, then to an "
                                     "integer: the same bits where division is correctly rounded"};
}

static void accuracy_dequantize(const struct pw_call *call, struct pw_accuracy *a)
{
    (void)call;
    *a = (struct pw_accuracy){.ulp = 1.5,
                              .length = 1,
                              .amplification = 1,
                              .sensitivity = PW_SENSITIVITY_LOW,
                              .reason = "one product",
                              .why = "a difference of integers (rounded for int32 in float) and one product"};
}

static void fill_scale(const struct pw_call *call, int input, struct pw_fill *fill)
{
    if (input != 1)
        return;
    fill->low = 0.015625;
    fill->high = 0.125;
    if (call->in[1]->dtype == PW_DTYPE_INT32) {
        fill->int_low = 1;
        fill->int_high = 8;
    }
}

/* ---- tables ---- */

#define ATTR_AXIS                                                                                                      \
    {                                                                                                                  \
        .name = "axis", .type = PW_ATTR_INT, .i = 1                                                                    \
    }
#define ATTR_SATURATE                                                                                                  \
    {                                                                                                                  \
        .name = "saturate", .type = PW_ATTR_INT, .i = 1                                                                \
    }
#define ATTR_BLOCK                                                                                                     \
    {                                                                                                                  \
        .name = "block_size", .type = PW_ATTR_INT                                                                      \
    }
#define ATTR_OUTPUT                                                                                                    \
    {                                                                                                                  \
        .name = "output_dtype", .type = PW_ATTR_INT                                                                    \
    }
static const struct pw_attr_def attrs_axis[] = {ATTR_AXIS, {0}};
static const struct pw_attr_def attrs_19[] = {ATTR_AXIS, ATTR_SATURATE, {0}};
static const struct pw_attr_def attrs_21[] = {ATTR_AXIS, ATTR_SATURATE, ATTR_BLOCK, ATTR_OUTPUT, {0}};
static const struct pw_attr_def attrs_23[] = {
    ATTR_AXIS, ATTR_SATURATE, ATTR_BLOCK, ATTR_OUTPUT, {.name = "precision", .type = PW_ATTR_INT}, {0}};
static const struct pw_attr_def attrs_de21[] = {ATTR_AXIS, ATTR_BLOCK, {0}};
static const struct pw_attr_def attrs_de23[] = {ATTR_AXIS, ATTR_BLOCK, ATTR_OUTPUT, {0}};

static const struct pw_formal quantize_10[] = {
    {"x", "T1", 0}, {"y_scale", "TS", 0}, {"y_zero_point", "T2", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal quantized[] = {{"y", "T2", 0}, {0}};
static const struct pw_formal dequantize_10[] = {
    {"x", "T", 0}, {"x_scale", "TS", 0}, {"x_zero_point", "T", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal dequantized[] = {{"y", "TY", 0}, {0}};
static const struct pw_formal dynamic_in[] = {{"x", "T1", 0}, {0}};
static const struct pw_formal dynamic_out[] = {{"y", "T2", 0}, {"y_scale", "TS", 0}, {"y_zero_point", "T2", 0}, {0}};

#define QUANTIZE(version, table, ins)                                                                                  \
    {                                                                                                                  \
        .domain = "", .name = "QuantizeLinear", .since = version, .category = PW_CATEGORY_QUANTIZATION,                \
        .attrs = table, .inputs = ins, .outputs = quantized, .infer = infer_quantize, .cost = cost_quant,              \
        .accuracy = accuracy_quantize, .golden = pw_quantize_eval, .fast = pw_quantize_eval, .fill = fill_scale,       \
        .bind = pw_quant_bind                                                                                          \
    }
#define DEQUANTIZE(version, table)                                                                                     \
    {                                                                                                                  \
        .domain = "", .name = "DequantizeLinear", .since = version, .category = PW_CATEGORY_QUANTIZATION,              \
        .attrs = table, .inputs = dequantize_10, .outputs = dequantized, .infer = infer_dequantize,                    \
        .cost = cost_quant, .accuracy = accuracy_dequantize, .golden = pw_dequantize_eval, .fast = pw_dequantize_eval, \
        .fill = fill_scale, .bind = pw_quant_bind                                                                      \
    }

const struct pw_op pw_quant_ops[] = {
    QUANTIZE(10, NULL, quantize_10),
    QUANTIZE(13, attrs_axis, quantize_10),
    QUANTIZE(19, attrs_19, quantize_10),
    QUANTIZE(21, attrs_21, quantize_10),
    QUANTIZE(23, attrs_23, quantize_10),
    QUANTIZE(24, attrs_23, quantize_10),
    QUANTIZE(25, attrs_23, quantize_10),
    QUANTIZE(28, attrs_23, quantize_10),
    DEQUANTIZE(10, NULL),
    DEQUANTIZE(13, attrs_axis),
    DEQUANTIZE(19, attrs_axis),
    DEQUANTIZE(21, attrs_de21),
    DEQUANTIZE(23, attrs_de23),
    DEQUANTIZE(24, attrs_de23),
    DEQUANTIZE(25, attrs_de23),
    DEQUANTIZE(28, attrs_de23),
    {.domain = "",
     .name = "DynamicQuantizeLinear",
     .since = 11,
     .category = PW_CATEGORY_QUANTIZATION,
     .inputs = dynamic_in,
     .outputs = dynamic_out,
     .infer = infer_dynamic,
     .cost = cost_quant,
     .accuracy = accuracy_quantize,
     .golden = pw_dynamic_quantize_eval,
     .fast = pw_dynamic_quantize_eval},
    {0},
};
