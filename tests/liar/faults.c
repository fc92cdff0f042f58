/*
 * The table of faults: what each is, where it applies, how strong its weakest form is. A fault applies where it can
 * change a result at all; what the study then finds untouched counts as escaped, unless the table of equivalents below
 * gives the proof that nothing can tell the two apart.
 */
#include <fnmatch.h>
#include <string.h>

#include "tests/liar/fault.h"

/* ---- where ---- */

static bool any(const struct pw_call *call)
{
    return liar_most(call) > 0;
}

static bool many(const struct pw_call *call)
{
    return liar_most(call) > 1;
}

static bool tail(const struct pw_call *call)
{
    return liar_most(call) % 8 != 0;
}

static bool tail_row(const struct pw_call *call)
{
    return liar_columns(call) % 8 != 0 && liar_rows(call) > 1;
}

static bool rows(const struct pw_call *call)
{
    return liar_rows(call) > 1;
}

static bool lanes(const struct pw_call *call)
{
    return liar_most(call) >= 4;
}

static bool matrix(const struct pw_call *call)
{
    return liar_lines(call) > 1 && liar_columns(call) > 1;
}

static bool large(const struct pw_call *call)
{
    return liar_most(call) > LIAR_LIMIT;
}

static bool large_input(const struct pw_call *call)
{
    return liar_input_count(call, 0) > LIAR_LIMIT && liar_data_input(call);
}

static bool data(const struct pw_call *call)
{
    return liar_data_input(call) && liar_most(call) > 0;
}

static bool vary_shape(const struct pw_call *call)
{
    return data(call) && call->in[0] && call->in[0]->rank > 0;
}

static bool input_tail(const struct pw_call *call)
{
    int64_t n = 0;

    return data(call) && liar_input_count(call, 0) > 1 && call->in[0]->rank > 0 &&
           pw_dims_value(call->dims, call->in[0]->dims[call->in[0]->rank - 1], &n) && n % 8 != 0;
}

static bool batch(const struct pw_call *call)
{
    return data(call) && liar_has_batch(call);
}

static bool rounded(const struct pw_call *call)
{
    return liar_float_out(call) && !liar_exact(call) && any(call) && !call->op->random;
}

static bool bool_out(const struct pw_call *call)
{
    return liar_dtype(call) == PW_DTYPE_BOOL && any(call);
}

#define USES(name, ...)                                                                                                \
    static bool name(const struct pw_call *call)                                                                       \
    {                                                                                                                  \
        static const char *const names[] = {__VA_ARGS__, NULL};                                                        \
        return rounded(call) && liar_is(call, names);                                                                  \
    }
USES(uses_exp, "Exp", "Sigmoid", "Softmax", "Elu", "Selu", "Celu", "Sinh", "Cosh", "Swish", "Mish", "QuickGelu",
     "Softplus", "ReduceLogSumExp", "Attention", "MultiHeadAttention", "GroupQueryAttention", "GRU", "LSTM",
     "SoftmaxCrossEntropyLoss")
USES(uses_rsqrt, "Sqrt", "BatchNormalization", "InstanceNormalization", "LayerNormalization", "GroupNormalization",
     "RMSNormalization", "MeanVarianceNormalization", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization",
     "SimplifiedLayerNormalization", "EmbedLayerNormalization", "ReduceL2", "LpNormalization", "Adam", "Adagrad")
USES(uses_erf, "Erf", "Gelu", "BiasGelu")
USES(uses_tanh, "Tanh", "FastGelu", "Mish", "RNN", "LSTM", "GRU")
USES(uses_log, "Log", "LogSoftmax", "Softplus", "ReduceLogSum", "ReduceLogSumExp", "Asinh", "Acosh", "Atanh",
     "SoftmaxCrossEntropyLoss")
USES(uses_division, "Div", "Reciprocal", "Softsign", "Mean", "AveragePool", "GlobalAveragePool", "ReduceMean",
     "Softmax")
USES(uses_circle, "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "HannWindow", "HammingWindow", "BlackmanWindow", "DFT",
     "STFT")
USES(uses_power, "Pow", "LpPool", "GlobalLpPool", "LRN", "LpNormalization")
USES(uses_weights, "Resize", "Upsample", "GridSample", "RoiAlign", "DeformConv", "AffineGrid")
#undef USES

/* A sum in a type as narrow as the result's own steps is within what rounding the result may cost. */
static bool sums(const struct pw_call *call)
{
    return liar_linear(call) && any(call);
}

static bool sums_in_double(const struct pw_call *call)
{
    return sums(call) && liar_dtype(call) == PW_DTYPE_FLOAT64;
}

static bool sums_unlike_linear(const struct pw_call *call)
{
    return rounded(call) && liar_accumulates(call) && !liar_linear(call);
}

static bool doubles(const struct pw_call *call)
{
    return liar_dtype(call) == PW_DTYPE_FLOAT64 && data(call) && !call->op->random;
}

static bool narrow_float(const struct pw_call *call)
{
    pw_dtype dtype = liar_dtype(call);

    return rounded(call) && (dtype == PW_DTYPE_FLOAT16 || dtype == PW_DTYPE_BFLOAT16);
}

static const char *const casts[] = {"Cast", "CastLike", NULL};

static bool narrowing(const struct pw_call *call)
{
    return liar_is(call, casts) && liar_float_out(call) && pw_dtype_is_float(call->in[0]->dtype) &&
           pw_dtype_facts(call->in[0]->dtype)->mantissa_bits > pw_dtype_facts(liar_dtype(call))->mantissa_bits;
}

static bool truncates(const struct pw_call *call)
{
    return narrow_float(call) || narrowing(call);
}

static bool has_ties(const struct pw_call *call)
{
    static const char *const names[] = {"Round", "QuantizeLinear", "DynamicQuantizeLinear", NULL};

    return narrowing(call) || (liar_is(call, names) && pw_dtype_is_float(call->in[0]->dtype));
}

static bool products(const struct pw_call *call)
{
    static const char *const names[] = {"MatMul",
                                        "Gemm",
                                        "Conv",
                                        "ConvTranspose",
                                        "Einsum",
                                        "Attention",
                                        "MultiHeadAttention",
                                        "GroupQueryAttention",
                                        "RNN",
                                        "GRU",
                                        "LSTM",
                                        "FusedMatMul",
                                        "TransposeMatMul",
                                        "MatMulNBits",
                                        "DeformConv",
                                        "CausalConvWithState",
                                        NULL};

    return rounded(call) && liar_is(call, names);
}

static bool products_in_single(const struct pw_call *call)
{
    return products(call) && liar_dtype(call) == PW_DTYPE_FLOAT32;
}

static bool products_above_brain(const struct pw_call *call)
{
    return products(call) && liar_dtype(call) != PW_DTYPE_BFLOAT16;
}

/* Operators that copy floats, or are the identity near zero. */
static bool moves_floats(const struct pw_call *call)
{
    static const char *const names[] = {"Abs",       "Neg",       "Relu",    "LeakyRelu",     "Add",
                                        "Sub",       "Max",       "Min",     "Where",         "Sum",
                                        "ReduceMax", "ReduceMin", "MaxPool", "GlobalMaxPool", NULL};

    return data(call) && liar_float_out(call) && pw_dtype_facts(liar_dtype(call))->min_normal > 0 &&
           pw_dtype_facts(liar_dtype(call))->mantissa_bits > 4 && pw_dtype_is_float(call->in[0]->dtype) &&
           (liar_is(call, names) || (liar_exact(call) && call->op->category == PW_CATEGORY_LAYOUT));
}

static bool sees_denormals(const struct pw_call *call)
{
    static const char *const names[] = {"Sign",    "Ceil",           "Log",         "Sqrt", "Equal", "Less",
                                        "Greater", "GreaterOrEqual", "LessOrEqual", NULL};

    return moves_floats(call) ||
           (pw_dtype_is_float(call->in[0] ? call->in[0]->dtype : PW_DTYPE_BOOL) && liar_is(call, names));
}

static bool float_input(const struct pw_call *call)
{
    if (!data(call) || call->op->random)
        return false;
    for (int i = 0; i < call->input_count; i++)
        if (liar_input_count(call, i) > 0 && pw_dtype_is_float(call->in[i]->dtype) &&
            pw_dtype_facts(call->in[i]->dtype)->mantissa_bits > 4)
            return true;
    return false;
}

static bool float_to_float(const struct pw_call *call)
{
    return float_input(call) && liar_float_out(call);
}

static bool infinite(const struct pw_call *call)
{
    return float_to_float(call) && pw_dtype_facts(liar_dtype(call))->mantissa_bits > 4;
}

static bool signed_zero(const struct pw_call *call)
{
    static const char *const names[] = {"Reciprocal", "Div", NULL};

    return float_to_float(call) && liar_is(call, names);
}

static bool integer_out(const struct pw_call *call)
{
    return pw_dtype_is_integer(call->out[0].dtype) && call->in[0] && pw_dtype_bytes(call->out[0].dtype) >= 1 &&
           pw_dtype_facts(call->out[0].dtype)->bits >= 8;
}

static bool overflows(const struct pw_call *call)
{
    static const char *const names[] = {
        "Add",        "Sub",    "Mul",     "MatMul",          "Gemm",        "ReduceSum",
        "ReduceProd", "CumSum", "CumProd", "ReduceSumSquare", "FusedMatMul", "TransposeMatMul",
        "Einsum",     NULL};
    double in, out;

    if (!integer_out(call) || call->in[0]->dtype == PW_DTYPE_BOOL)
        return false;
    if (!liar_is(call, casts))
        return liar_is(call, names);
    in = pw_dtype_facts(call->in[0]->dtype)->max;
    out = pw_dtype_facts(call->out[0].dtype)->max;
    return pw_dtype_is_integer(call->in[0]->dtype) && in > out;
}

static bool saturates(const struct pw_call *call)
{
    return !strcmp(call->op->name, "QuantizeLinear") && liar_given(call, "y_zero_point") &&
           pw_dtype_is_integer(call->out[0].dtype) && pw_dtype_facts(call->out[0].dtype)->bits == 8;
}

static bool unsigned_order(const struct pw_call *call)
{
    static const char *const names[] = {
        "Max",       "Min",       "Div",    "Mod",      "Less", "LessOrEqual", "Greater", "GreaterOrEqual",
        "ReduceMax", "ReduceMin", "ArgMax", "ArgMin",   "TopK", "Clip",        "Relu",    "MaxPool",
        "Sign",      "Abs",       "Cast",   "CastLike", NULL};
    pw_dtype_kind out = pw_dtype_facts(call->out[0].dtype)->kind;

    if (!liar_is(call, names) || pw_dtype_facts(call->in[0]->dtype)->kind != PW_KIND_UNSIGNED ||
        pw_dtype_facts(call->in[0]->dtype)->bits < 8)
        return false;
    return !liar_is(call, casts) || out == PW_KIND_FLOAT ||
           (pw_dtype_bytes(call->out[0].dtype) > pw_dtype_bytes(call->in[0]->dtype));
}

static bool wide_integers(const struct pw_call *call)
{
    pw_dtype dtype = call->input_count > 0 && call->in[0] ? call->in[0]->dtype : PW_DTYPE_UNDEFINED;

    return (dtype == PW_DTYPE_INT64 || dtype == PW_DTYPE_UINT64) && liar_input_count(call, 0) > 0 && data(call) &&
           (call->out[0].dtype == dtype || call->out[0].dtype == PW_DTYPE_FLOAT32);
}

static bool integer_division(const struct pw_call *call)
{
    return !strcmp(call->op->name, "Div") && pw_dtype_facts(call->out[0].dtype)->kind == PW_KIND_SIGNED;
}

static bool cuts(const struct pw_call *call)
{
    return liar_is(call, casts) && integer_out(call) && pw_dtype_is_float(call->in[0]->dtype);
}

static bool softmax(const struct pw_call *call)
{
    static const char *const names[] = {"Softmax", "LogSoftmax", NULL};

    return liar_is(call, names);
}

static bool masked(const struct pw_call *call)
{
    return softmax(call);
}

static bool row_variance(const struct pw_call *call)
{
    static const char *const names[] = {"LayerNormalization", "InstanceNormalization", NULL};

    return liar_is(call, names) && liar_dtype(call) == PW_DTYPE_FLOAT32;
}

static bool noncommutative(const struct pw_call *call)
{
    static const char *const names[] = {"Sub",      "Div",   "Mod", "Less", "LessOrEqual", "Greater", "GreaterOrEqual",
                                        "BitShift", "Where", NULL};

    return liar_is(call, names);
}

static bool signed_index(const struct pw_call *call)
{
    static const char *const names[] = {"Gather",          "GatherElements", "GatherND", "Scatter",
                                        "ScatterElements", "ScatterND",      NULL};

    return liar_is(call, names);
}

static bool groups(const struct pw_call *call)
{
    static const char *const names[] = {"Conv", "ConvTranspose", NULL};

    return liar_is(call, names) && pw_call_int(call, "group") > 1;
}

/* ---- the faults ---- */

const struct liar_fault liar_faults[] = {
    {"zeros", "every element is 0", 1, any, NULL, NULL, liar_zeros},
    {"constant", "every element is the mean", 1, many, NULL, NULL, liar_constant},
    {"unwritten", "the output is not written at all", 1, any, NULL, NULL, liar_unwritten},
    {"replay", "the first answer of these shapes, whatever the inputs", 1, data, NULL, NULL, liar_replay},
    {"torn", "the second half is of an earlier answer", 1, data, NULL, NULL, liar_torn},
    {"second_run", "every second run has one element off", 1, any, NULL, NULL, liar_second_run},
    {"one_element", "one element is off by just more than the tolerance", 1, any, NULL, NULL, liar_one_element},
    {"tail", "the last n % 8 elements are not written", 1, tail, NULL, NULL, liar_tail},
    {"tail_last", "the last element is not written", 1, any, NULL, NULL, liar_tail_last},
    {"tail_row", "the last n % 8 elements of each row are 0", 1, tail_row, NULL, NULL, liar_tail_row},
    {"last_row", "the last row is the one before", 1, rows, NULL, NULL, liar_last_row},
    {"off_by_one_row", "rows are shifted by one", 1, rows, NULL, NULL, liar_off_by_one_row},
    {"swapped_lanes", "two lanes of the last vector change places", 1, lanes, NULL, NULL, liar_swapped_lanes},
    {"row_stride", "rows are laid out with padding", 1, tail_row, NULL, NULL, liar_row_stride},
    {"transposed", "the last two axes are laid out the other way round", 1, matrix, NULL, NULL, liar_transposed},
    {"index_wrap", "indices above the limit write over the beginning", 1, large, NULL, NULL, liar_index_wrap},
    {"input_wrap", "indices above the limit read from the beginning", 1, large_input, liar_input_wrap, NULL, NULL},
    {"large_only", "one element off, of large outputs only", 1, large, NULL, NULL, liar_large_only},
    {"other_shape", "one element off, of shapes that the graph does not have", 1, vary_shape, NULL, NULL,
     liar_other_shape},
    {"racy", "another element off in each run", 1, any, NULL, NULL, liar_racy},
    {"overrun", "writes one element past the end", 1, any, NULL, NULL, liar_overrun},
    {"alias", "writes over its input", 1, data, NULL, NULL, liar_alias},
    {"crash_odd", "dies of outputs of odd size", 1, any, NULL, NULL, liar_crash_odd},
    {"bool_bytes", "true has all bits set", 1, bool_out, NULL, NULL, liar_bool_bytes},

    {"coarse_exp", "exp from a short table", 1.5, uses_exp, NULL, liar_coarse, NULL},
    {"coarse_rsqrt", "square roots with too few Newton steps", 1.5, uses_rsqrt, NULL, liar_coarse, NULL},
    {"coarse_erf", "erf by a short polynomial", 1.5, uses_erf, NULL, liar_coarse, NULL},
    {"coarse_tanh", "tanh by a short polynomial", 1.5, uses_tanh, NULL, liar_coarse, NULL},
    {"coarse_log", "log by a short polynomial", 1.5, uses_log, NULL, liar_coarse, NULL},
    {"coarse_division", "quotients by a coarse reciprocal", 1.5, uses_division, NULL, liar_coarse, NULL},
    {"coarse_circle", "sine and cosine from a short table", 1.5, uses_circle, NULL, liar_coarse, NULL},
    {"coarse_power", "powers through a coarse log2", 1.5, uses_power, NULL, liar_coarse, NULL},
    {"coarse_weights", "interpolation weights of few bits", 1.5, uses_weights, NULL, liar_coarse, NULL},
    {"half_sum", "parts of a sum added in float16", 1, sums, NULL, liar_half_parts, NULL},
    {"brain_sum", "parts of a sum added in bfloat16", 1, sums, NULL, liar_brain_parts, NULL},
    {"single_sum", "parts of a float64 sum added in float32", 1, sums_in_double, NULL, liar_single_parts, NULL},
    {"narrow_sum", "the sum behind each row is off", 1.5, sums_unlike_linear, NULL, liar_coarse_rows, NULL},
    {"lost_part", "two groups race: an element lacks a part of its sum", 1, sums, NULL, liar_lost_part, NULL},
    {"single", "float64 computed in float32", 1, doubles, NULL, liar_single, NULL},
    {"truncate", "results are cut, not rounded", 1, truncates, NULL, liar_truncate, NULL},
    {"half_away", "ties are rounded away from zero", 1, has_ties, NULL, liar_half_away, NULL},
    {"tf32", "products of inputs cut to 11 bits", 1, products_in_single, liar_tf32, NULL, NULL},
    {"brain_inputs", "products of inputs cut to 8 bits", 1, products_above_brain, liar_brain_inputs, NULL, NULL},
    {"flush_inputs", "denormal inputs taken for 0", 1, sees_denormals, liar_flush_inputs, NULL, NULL},
    {"flush_outputs", "denormal results written as 0", 1, moves_floats, NULL, NULL, liar_flush_outputs},
    {"nan_inputs", "NaN inputs taken for 0", 1, float_input, liar_nan_inputs, NULL, NULL},
    {"nan_lost", "NaN results written as 0", 1, float_to_float, NULL, NULL, liar_nan_lost},
    {"inf_to_max", "infinite results written as the largest number", 1, infinite, NULL, NULL, liar_inf_to_max},
    {"inf_to_nan", "infinite results written as NaN", 1, infinite, NULL, NULL, liar_inf_to_nan},
    {"zero_sign", "minus zero taken for zero", 1, signed_zero, liar_zero_sign, NULL, NULL},
    {"softmax_no_max", "exponentials without the maximum taken off", 1, softmax, NULL, liar_softmax_no_max, NULL},
    {"masked_rows", "rows that are wholly masked", 1, masked, NULL, NULL, liar_masked_rows},
    {"naive_variance", "the mean of squares less the square of the mean", 1, row_variance, NULL, liar_naive_variance,
     NULL},
    {"saturate", "integers saturate where they wrap", 1, overflows, NULL, liar_saturate, NULL},
    {"wrap", "quantized values wrap where they saturate", 1, saturates, NULL, liar_wrap, NULL},
    {"unsigned_as_signed", "unsigned numbers compared and divided as signed", 1, unsigned_order, NULL,
     liar_unsigned_as_signed, NULL},
    {"narrow_ints", "64-bit integers pass through 32 bits", 1, wide_integers, liar_narrow_ints, NULL, NULL},
    {"floor_division", "integer quotients rounded down", 1, integer_division, NULL, liar_floor_division, NULL},
    {"round_to_int", "conversions to integers round", 1, cuts, liar_round_to_int, NULL, NULL},

    {"input_tail", "the last n % 8 elements of each input row are read as 0", 1, input_tail, liar_input_tail, NULL,
     NULL},
    {"first_batch", "every batch entry is computed from the first", 1, batch, liar_first_batch, NULL, NULL},
    {"bias_dropped", "the bias is left out", 1, liar_has_bias, liar_bias_dropped, NULL, NULL},
    {"operand_layout", "the weights are read transposed", 1, liar_has_layout, liar_operand_layout, NULL, NULL},
    {"broadcast_axis", "broadcast along the wrong axis", 1, liar_has_broadcast, liar_broadcast_axis, NULL, NULL},
    {"operands_swapped", "the operands change places", 1, noncommutative, liar_operands_swapped, NULL, NULL},
    {"negative_index", "negative indices taken for 0", 1, signed_index, liar_negative_index, NULL, NULL},
    {"index_off", "the last index is one off", 1, liar_has_index, liar_index_off, NULL, NULL},
    {"group_off", "groups read their neighbour's channels", 1, groups, liar_group_off, NULL, NULL},
    {"scale_first", "scales per axis taken for one per tensor", 1, liar_has_scales, liar_scale_first, NULL, NULL},
    {"zero_point_off", "the zero point is one off", 1, liar_has_zero_point, liar_zero_point_off, NULL, NULL},
    {"zero_point_ignored", "the zero point is left out", 1, liar_has_zero_point, liar_zero_point_ignored, NULL, NULL},
    {"nibbles", "4-bit neighbours change places", 1, liar_has_nibbles, liar_nibbles, NULL, NULL},
    {"mask_off", "the mask is one place off", 1, liar_has_mask, liar_mask_off, NULL, NULL},
    {"lengths_ignored", "sequences are taken at full length", 1, liar_has_lengths, liar_lengths_ignored, NULL, NULL},
    {"state_dropped", "the initial state is left out", 1, liar_has_state, liar_state_dropped, NULL, NULL},
    {"biased_variance", "variances divided by n - 1", 1, liar_has_variance, liar_biased_variance, NULL, NULL},
    {"param_off", "starts one further, repeats of another axis", 1, liar_has_param, liar_param_off, NULL, NULL},
    {"attr_default", "the first attribute stays at its default", 1, liar_has_off_default, liar_attr_default, NULL,
     NULL},
    {"attr_default_2", "the second attribute stays at its default", 1, liar_has_off_default_2, liar_attr_default_2,
     NULL, NULL},
    {"attr_default_3", "the third attribute stays at its default", 1, liar_has_off_default_3, liar_attr_default_3, NULL,
     NULL},
    {"epsilon_missing", "no epsilon under the root", 1, liar_has_epsilon, liar_epsilon_missing, NULL, NULL},
    {"axis_off", "the neighbouring axis", 1, liar_has_axis, liar_axis_off, NULL, NULL},
    {"negative_axis", "a negative axis taken for its absolute value", 1, liar_has_negative_axis, liar_negative_axis,
     NULL, NULL},
    {"pads_swapped", "padding on the wrong side", 1, liar_has_pads, liar_pads_swapped, NULL, NULL},
    {"ceil_floor", "sizes rounded the other way", 1, liar_has_ceil, liar_ceil_floor, NULL, NULL},
    {"count_pad", "padding counted the other way", 1, liar_has_count_pad, liar_count_pad, NULL, NULL},
    {"dilation_one", "dilations taken for 1", 1, liar_has_dilations, liar_dilation_one, NULL, NULL},
    {"flag_flipped", "a flag is read the other way", 1, liar_has_flag, liar_flag_flipped, NULL, NULL},
    {"causal_diagonal", "each row sees one key too many", 1, liar_has_causal, liar_causal_diagonal, NULL, NULL},
    {"tie", "of equals the other one wins", 1, liar_has_tie, NULL, liar_tie, NULL},
    {NULL, NULL, 0, NULL, NULL, NULL, NULL},
};

const struct liar_fault *liar_fault_find(const char *name)
{
    for (const struct liar_fault *fault = liar_faults; fault->name; fault++)
        if (!strcmp(fault->name, name))
            return fault;
    return NULL;
}

/* ---- equivalents ---- */

const struct liar_equivalent liar_equivalents[] = {
    {"half_away", "DynamicQuantizeLinear", "*",
     "the scale is made of the inputs, so it moves with them and every quotient stays as it is"},
    {"nan_inputs", "QuantizeLinear", "int32",
     "its only floating input is the scale, and no integer is defined for a quotient by NaN"},
    {"nan_inputs", "QLinear*", "*", "its floating inputs are scales, and no integer is defined for a quotient by NaN"},
    {"broadcast_axis", "PRelu", "uint*", "no number without a sign is below 0: the slope is not used"},
    {"swapped_lanes", "Multinomial", "*", "draws of a row are independent: in another order they are as good"},
    {"nan_inputs", "CastLike", "*int*", "the second input lends its dtype alone, the first holds integers"},
    {"nan_inputs", "CastLike", "bool", "the second input lends its dtype alone, the first holds no NaN"},
    {"nan_inputs", "CastLike", "float[46]*", "the second input lends its dtype alone, and the first's has no NaN"},
    {"nan_inputs", "CastLike", "float8e8m0", "its numbers are powers of two: there is no 0 to take a NaN for"},
    {"nan_lost", "CastLike", "*int*", "its first input holds integers, which are no NaN in any float"},
    {"nan_lost", "CastLike", "bool", "its first input holds 0 and 1, which are no NaN in any float"},
    {"nan_lost", "CastLike", "float[46]*", "the dtype of its first input has no NaN"},
    {"inf_to_*", "HardSigmoid", "*", "its results lie in [0, 1]"},
    {"inf_to_*", "Sigmoid", "*", "its results lie in [0, 1]"},
    {"inf_to_*", "Softmax", "*", "its results lie in [0, 1] or are NaN"},
    {"inf_to_*", "Softsign", "*", "its results lie in [-1, 1] or are NaN: infinity by infinity"},
    {"inf_to_*", "Sign", "*", "its results are -1, 0, 1 or NaN"},
    {"inf_to_*", "Sin", "*", "its results lie in [-1, 1] or are NaN"},
    {"inf_to_*", "Cos", "*", "its results lie in [-1, 1] or are NaN"},
    {"inf_to_*", "Tan", "float[36]*",
     "no number of the dtype is near enough to a pole: its tangents are finite or NaN"},
    {"inf_to_*", "Tan", "bfloat16", "no number of the dtype is near enough to a pole: at most 6211"},
    {"inf_to_*", "Tanh", "*", "its results lie in [-1, 1] or are NaN"},
    {"inf_to_*", "Acos", "*", "its results lie in [0, pi] or are NaN"},
    {"inf_to_*", "Atan", "*", "its results lie in [-pi/2, pi/2] or are NaN"},
    {"inf_to_*", "Asin", "*", "its results lie in [-pi/2, pi/2] or are NaN"},
    {"inf_to_*", "Erf", "*", "its results lie in [-1, 1] or are NaN"},
    {"inf_to_*", "LRN", "*",
     "an infinity is divided by the power of an infinite sum: NaN; other quotients are no larger"},
    {"inf_to_*", "LpNormalization", "*", "no element is larger than the norm: results lie in [-1, 1] or are NaN"},
    {"inf_to_*", "RNN", "*", "its results are hyperbolic tangents: in [-1, 1] or NaN"},
    {"inf_to_*", "CastLike", "*int8", "no integer of 8 bits is infinite in float16"},
    {"inf_to_*", "CastLike", "int16", "32767 and all below are finite in float16"},
    {"inf_to_*", "CastLike", "*int[24]", "no integer of so few bits is infinite in float16"},
    {"inf_to_*", "CastLike", "bool", "its numbers are 0 and 1, which are finite in float16"},
    {"inf_to_*", "CastLike", "float8e4m3*", "the dtype has no infinity and nothing above 448"},
    {"inf_to_*", "CastLike", "float8e5m2fnuz", "the dtype has no infinity and nothing above 57344"},
    {"inf_to_*", "CastLike", "float[46]*", "the dtype has no infinity and nothing above 28"},
    {"nan_inputs", "Acosh", "*", "0 lies outside of its domain: the result is NaN either way"},
    {"single", "Sign", "float64", "-1, 0 and 1 are the same in float32"},
    {"narrow_ints", "ReduceL2", "*", "what 32 bits do not hold overflows 64 when it is squared"},
    {"zeros", "BlackmanWindow", "*int*",
     "cut to integers all its values are 0: in the reference's arithmetic none reaches 1"},
    {"constant", "BlackmanWindow", "*int*",
     "cut to integers all its values are 0: in the reference's arithmetic none reaches 1"},
    {"attr_default", "BlackmanWindow", "*int*",
     "cut to integers all its values are 0: in the reference's arithmetic none reaches 1"},
    {"flag_flipped", "BlackmanWindow", "*int*",
     "cut to integers all its values are 0: in the reference's arithmetic none reaches 1"},
    {"swapped_lanes", "BlackmanWindow", "*int*",
     "cut to integers all its values are 0: in the reference's arithmetic none reaches 1"},
    {"flag_flipped", "IsInf", "float8e4m3*", "the dtype has no infinity of either sign"},
    {"flag_flipped", "IsInf", "float8*fnuz", "the dtype has no infinity of either sign"},
    {"nibbles", "EyeLike", "*", "its result does not depend on the content"},
    {"nibbles", "Size", "*", "its result does not depend on the content"},
    {"bool_bytes", "IsInf", "float8*fnuz", "the dtype has no infinity, so nothing is ever true"},
    {"nibbles", "Shape", "*", "its result does not depend on the content"},
    {"flag_flipped", "Mod", "uint*", "of numbers without a sign both remainders are the same"},
    {"attr_default", "Mod", "uint*", "of numbers without a sign both remainders are the same"},
    {"truncate", "Mod", "*", "a remainder is a difference that the dtype holds: there is nothing to round"},
    {"inf_to_*", "Mod", "*", "a remainder is less than its divisor and no more than its dividend, or NaN"},
    {"swapped_lanes", "Upsample", "*",
     "the last five places of a line lie at or behind the last sample: they are equal"},
    {"last_row", "Upsample", "*", "the last two lines both lie behind the last sample, whose copies they are"},
    {"last_row", "MelWeightMatrix", "*", "the last two lines lie above the upper edge: all 0"},
    {"swapped_lanes", "MelWeightMatrix", "*", "the last line lies above the upper edge: all 0"},
    {"inf_to_*", "MeanVarianceNormalization", "*",
     "deviations from the mean are at most the root of their number times the standard one; by infinities they are "
     "NaN"},
    {"flag_flipped", "QuantizeLinear", "int32", "saturate speaks of quantization to float8 alone; this is to int8"},
    {"nan_lost", "MaxRoiPool", "*", "its maximum begins at the least number and is taken by comparisons: never NaN"},
    {"round_to_int", "Cast*", "float8e8m0",
     "its numbers are powers of two: one half is rounded to the even 0, as it is cut; what is less is 0 both ways"},
    {"attr_default*", "Flatten", "*", "the axis says the shape alone, which the verifier makes; no element moves"},
    {"attr_default", "Reduce*", "*", "keepdims says the shape alone, which the verifier makes; no element moves"},
    {"flag_flipped", "CastLike", "*", "saturate speaks of casts to float8 alone; these are to float16 and int8"},
    {"flag_flipped", "Cast", "*int*", "saturate speaks of casts to float8 alone; integers are not cast to it here"},
    {"flag_flipped", "Cast", "bool", "saturate speaks of casts to float8 alone; bool is not cast to it here"},
    {"flag_flipped", "Cast", "float8*", "saturate speaks of casts to float8 alone; float8 is not cast to it here"},
    {"flag_flipped", "Cast", "float[46]*", "saturate speaks of casts to float8 alone; these are not cast to it here"},
    {"constant", "ConstantOfShape", "*", "every element is the same, so the mean is each of them"},
    {"last_row", "ConstantOfShape", "*", "every element is the same: rows are equal"},
    {"off_by_one_row", "ConstantOfShape", "*", "every element is the same: rows are equal"},
    {"row_stride", "ConstantOfShape", "*", "every element is the same, and all are written"},
    {"swapped_lanes", "ConstantOfShape", "*", "every element is the same: lanes are equal"},
    {"transposed", "ConstantOfShape", "*", "every element is the same, wherever it lies"},
    {"one_element", "Random*", "*", "one draw a rounding further is as good a draw of the law"},
    {"large_only", "Random*", "*", "one draw a rounding further is as good a draw of the law"},
    {"off_by_one_row", "Random*", "*", "draws are independent: in another order they are as good"},
    {"swapped_lanes", "Random*", "*", "draws are independent: in another order they are as good"},
    {"transposed", "Random*", "*", "draws are independent: in another order they are as good"},
    {"crash_odd", "DFT", "*", "complex results are pairs: always an even number"},
    {"crash_odd", "STFT", "*", "complex results are pairs: always an even number"},
    {"crash_odd", "AffineGrid", "*", "a place in the plane is a pair: always an even number"},
    {"crash_odd", "RotaryEmbedding", "*", "it turns pairs, so the last dim is even"},
    {"crash_odd", "com.microsoft:RotaryEmbedding", "*", "it turns pairs, so the last dim is even"},
    {"crash_odd", "RNN", "*", "this one is bidirectional: all results come twice"},
    {"truncate", "Range", "*", "these are whole numbers that the dtype holds: cut and rounded they are the same"},
    {NULL, NULL, NULL, NULL},
};

const struct liar_equivalent *liar_equivalent_find(const char *fault, const char *op, const char *dtype)
{
    for (const struct liar_equivalent *e = liar_equivalents; e->fault; e++)
        if (!fnmatch(e->fault, fault, 0) && !fnmatch(e->op, op, 0) && !fnmatch(e->dtype, dtype, 0))
            return e;
    return NULL;
}
