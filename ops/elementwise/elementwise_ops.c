/* The operators of the room, by version. */
#include "base/compiler.h"
#include "ops/elementwise/elementwise_bind.h"
#include "ops/elementwise/elementwise_room.h"

static const struct pw_formal xy_in[] = {{"X", "T", 0}, {0}}, xy_out[] = {{"Y", "T", 0}, {0}};
static const struct pw_formal io_in[] = {{"input", "T", 0}, {0}}, io_out[] = {{"output", "T", 0}, {0}};
static const struct pw_formal is_in[] = {{"X", "T1", 0}, {0}}, is_out[] = {{"Y", "T2", 0}, {0}};
static const struct pw_formal ab_in[] = {{"A", "T", 0}, {"B", "T", 0}, {0}}, ab_out[] = {{"C", "T", 0}, {0}};
static const struct pw_formal test_out[] = {{"C", "T1", 0}, {0}};
static const struct pw_formal pow1_in[] = {{"X", "T", 0}, {"Y", "T", 0}, {0}};
static const struct pw_formal pow_in[] = {{"X", "T", 0}, {"Y", "T1", 0}, {0}}, z_out[] = {{"Z", "T", 0}, {0}};
static const struct pw_formal prelu_in[] = {{"X", "T", 0}, {"slope", "T", 0}, {0}};
static const struct pw_formal many_in[] = {{"data_0", "T", PW_FORMAL_VARIADIC}, {0}};
static const struct pw_formal max_out[] = {{"max", "T", 0}, {0}}, min_out[] = {{"min", "T", 0}, {0}};
static const struct pw_formal mean_out[] = {{"mean", "T", 0}, {0}}, sum_out[] = {{"sum", "T", 0}, {0}};
static const struct pw_formal where_in[] = {{"condition", "B", 0}, {"X", "T", 0}, {"Y", "T", 0}, {0}};
static const struct pw_formal clip_in[] = {
    {"input", "T", 0}, {"min", "T", PW_FORMAL_OPTIONAL}, {"max", "T", PW_FORMAL_OPTIONAL}, {0}};

/* `consumed_inputs` of the first opsets spoke of in-place execution; it has no effect. */
static const struct pw_attr_def consumed[] = {{.name = "consumed_inputs", .type = PW_ATTR_INTS}, {0}};
static const struct pw_attr_def axis1[] = {{.name = "axis", .type = PW_ATTR_INT},
                                           {.name = "broadcast", .type = PW_ATTR_INT},
                                           {.name = "consumed_inputs", .type = PW_ATTR_INTS},
                                           {0}};
static const struct pw_attr_def axis6[] = {
    {.name = "axis", .type = PW_ATTR_INT}, {.name = "broadcast", .type = PW_ATTR_INT}, {0}};
static const struct pw_attr_def inf_attrs[] = {{.name = "detect_negative", .type = PW_ATTR_INT, .i = 1},
                                               {.name = "detect_positive", .type = PW_ATTR_INT, .i = 1},
                                               {0}};
static const struct pw_attr_def mod_attrs[] = {{.name = "fmod", .type = PW_ATTR_INT}, {0}};
static const struct pw_attr_def shift_attrs[] = {{.name = "direction", .type = PW_ATTR_STRING, .required = true}, {0}};
static const struct pw_attr_def clip1[] = {{.name = "consumed_inputs", .type = PW_ATTR_INTS},
                                           {.name = "max", .type = PW_ATTR_FLOAT, .f = 3.40282347e+38f},
                                           {.name = "min", .type = PW_ATTR_FLOAT, .f = -3.40282347e+38f},
                                           {0}};
static const struct pw_attr_def clip6[] = {{.name = "max", .type = PW_ATTR_FLOAT, .f = 3.40282347e+38f},
                                           {.name = "min", .type = PW_ATTR_FLOAT, .f = -3.40282347e+38f},
                                           {0}};

#define OP(op_name, version, attributes, ins, outs, function)                                                          \
    {                                                                                                                  \
        .domain = "", .name = op_name, .since = version, .category = PW_CATEGORY_ELEMENTWISE, .attrs = attributes,     \
        .inputs = ins, .outputs = outs, .infer = pw_ew_infer, .cost = pw_ew_cost, .accuracy = pw_ew_accuracy,          \
        .golden = pw_ew_eval, .fast = pw_ew_eval, .fill = pw_ew_fill, .bind = pw_ew_bind,                              \
        .data = &pw_ew_forms[function]                                                                                 \
    }
#define XY(name, version, attributes, function) OP(name, version, attributes, xy_in, xy_out, function)
#define IO(name, version, attributes, function) OP(name, version, attributes, io_in, io_out, function)
#define AB(name, version, attributes, function) OP(name, version, attributes, ab_in, ab_out, function)
#define TEST(name, version, attributes, function) OP(name, version, attributes, ab_in, test_out, function)
#define FOLD(name, version, attributes, outs, function) OP(name, version, attributes, many_in, outs, function)

const struct pw_op pw_elementwise_ops[] = {
    XY("Abs", 1, consumed, PW_EW_ABS),
    XY("Abs", 6, NULL, PW_EW_ABS),
    XY("Abs", 13, NULL, PW_EW_ABS),
    IO("Acos", 7, NULL, PW_EW_ACOS),
    IO("Acos", 22, NULL, PW_EW_ACOS),
    IO("Acosh", 9, NULL, PW_EW_ACOSH),
    IO("Acosh", 22, NULL, PW_EW_ACOSH),
    IO("Asin", 7, NULL, PW_EW_ASIN),
    IO("Asin", 22, NULL, PW_EW_ASIN),
    IO("Asinh", 9, NULL, PW_EW_ASINH),
    IO("Asinh", 22, NULL, PW_EW_ASINH),
    IO("Atan", 7, NULL, PW_EW_ATAN),
    IO("Atan", 22, NULL, PW_EW_ATAN),
    IO("Atanh", 9, NULL, PW_EW_ATANH),
    IO("Atanh", 22, NULL, PW_EW_ATANH),
    XY("BitwiseNot", 18, NULL, PW_EW_BIT_NOT),
    XY("Ceil", 1, consumed, PW_EW_CEIL),
    XY("Ceil", 6, NULL, PW_EW_CEIL),
    XY("Ceil", 13, NULL, PW_EW_CEIL),
    IO("Cos", 7, NULL, PW_EW_COS),
    IO("Cos", 22, NULL, PW_EW_COS),
    IO("Cosh", 9, NULL, PW_EW_COSH),
    IO("Cosh", 22, NULL, PW_EW_COSH),
    IO("Erf", 9, NULL, PW_EW_ERF),
    IO("Erf", 13, NULL, PW_EW_ERF),
    IO("Exp", 1, consumed, PW_EW_EXP),
    IO("Exp", 6, NULL, PW_EW_EXP),
    IO("Exp", 13, NULL, PW_EW_EXP),
    XY("Floor", 1, consumed, PW_EW_FLOOR),
    XY("Floor", 6, NULL, PW_EW_FLOOR),
    XY("Floor", 13, NULL, PW_EW_FLOOR),
    OP("IsInf", 10, inf_attrs, is_in, is_out, PW_EW_IS_INF),
    OP("IsInf", 20, inf_attrs, is_in, is_out, PW_EW_IS_INF),
    OP("IsNaN", 9, NULL, is_in, is_out, PW_EW_IS_NAN),
    OP("IsNaN", 13, NULL, is_in, is_out, PW_EW_IS_NAN),
    OP("IsNaN", 20, NULL, is_in, is_out, PW_EW_IS_NAN),
    IO("Log", 1, consumed, PW_EW_LOG),
    IO("Log", 6, NULL, PW_EW_LOG),
    IO("Log", 13, NULL, PW_EW_LOG),
    XY("Neg", 1, consumed, PW_EW_NEG),
    XY("Neg", 6, NULL, PW_EW_NEG),
    XY("Neg", 13, NULL, PW_EW_NEG),
    XY("Not", 1, NULL, PW_EW_NOT),
    XY("Reciprocal", 1, consumed, PW_EW_RECIPROCAL),
    XY("Reciprocal", 6, NULL, PW_EW_RECIPROCAL),
    XY("Reciprocal", 13, NULL, PW_EW_RECIPROCAL),
    XY("Round", 11, NULL, PW_EW_ROUND),
    XY("Round", 22, NULL, PW_EW_ROUND),
    IO("Sign", 9, NULL, PW_EW_SIGN),
    IO("Sign", 13, NULL, PW_EW_SIGN),
    IO("Sin", 7, NULL, PW_EW_SIN),
    IO("Sin", 22, NULL, PW_EW_SIN),
    IO("Sinh", 9, NULL, PW_EW_SINH),
    IO("Sinh", 22, NULL, PW_EW_SINH),
    XY("Sqrt", 1, consumed, PW_EW_SQRT),
    XY("Sqrt", 6, NULL, PW_EW_SQRT),
    XY("Sqrt", 13, NULL, PW_EW_SQRT),
    IO("Tan", 7, NULL, PW_EW_TAN),
    IO("Tan", 22, NULL, PW_EW_TAN),
    IO("Tanh", 1, consumed, PW_EW_TANH),
    IO("Tanh", 6, NULL, PW_EW_TANH),
    IO("Tanh", 13, NULL, PW_EW_TANH),

    AB("Add", 1, axis1, PW_EW_ADD),
    AB("Add", 6, axis6, PW_EW_ADD),
    AB("Add", 7, NULL, PW_EW_ADD),
    AB("Add", 13, NULL, PW_EW_ADD),
    AB("Add", 14, NULL, PW_EW_ADD),
    AB("Sub", 1, axis1, PW_EW_SUB),
    AB("Sub", 6, axis6, PW_EW_SUB),
    AB("Sub", 7, NULL, PW_EW_SUB),
    AB("Sub", 13, NULL, PW_EW_SUB),
    AB("Sub", 14, NULL, PW_EW_SUB),
    AB("Mul", 1, axis1, PW_EW_MUL),
    AB("Mul", 6, axis6, PW_EW_MUL),
    AB("Mul", 7, NULL, PW_EW_MUL),
    AB("Mul", 13, NULL, PW_EW_MUL),
    AB("Mul", 14, NULL, PW_EW_MUL),
    AB("Div", 1, axis1, PW_EW_DIV),
    AB("Div", 6, axis6, PW_EW_DIV),
    AB("Div", 7, NULL, PW_EW_DIV),
    AB("Div", 13, NULL, PW_EW_DIV),
    AB("Div", 14, NULL, PW_EW_DIV),
    OP("Pow", 1, axis6, pow1_in, z_out, PW_EW_POW),
    OP("Pow", 7, NULL, pow1_in, z_out, PW_EW_POW),
    OP("Pow", 12, NULL, pow_in, z_out, PW_EW_POW),
    OP("Pow", 13, NULL, pow_in, z_out, PW_EW_POW),
    OP("Pow", 15, NULL, pow_in, z_out, PW_EW_POW),
    AB("Mod", 10, mod_attrs, PW_EW_MOD),
    AB("Mod", 13, mod_attrs, PW_EW_MOD),
    AB("Mod", 28, mod_attrs, PW_EW_MOD),
    OP("BitShift", 11, shift_attrs, pow1_in, z_out, PW_EW_SHIFT_LEFT),
    OP("BitShift", 28, shift_attrs, pow1_in, z_out, PW_EW_SHIFT_LEFT),
    AB("BitwiseAnd", 18, NULL, PW_EW_BIT_AND),
    AB("BitwiseOr", 18, NULL, PW_EW_BIT_OR),
    AB("BitwiseXor", 18, NULL, PW_EW_BIT_XOR),
    TEST("And", 1, axis6, PW_EW_AND),
    TEST("And", 7, NULL, PW_EW_AND),
    TEST("Or", 1, axis6, PW_EW_OR),
    TEST("Or", 7, NULL, PW_EW_OR),
    TEST("Xor", 1, axis6, PW_EW_XOR),
    TEST("Xor", 7, NULL, PW_EW_XOR),
    TEST("Equal", 1, axis6, PW_EW_EQUAL),
    TEST("Equal", 7, NULL, PW_EW_EQUAL),
    TEST("Equal", 11, NULL, PW_EW_EQUAL),
    TEST("Equal", 13, NULL, PW_EW_EQUAL),
    TEST("Equal", 19, NULL, PW_EW_EQUAL),
    TEST("Greater", 1, axis6, PW_EW_GREATER),
    TEST("Greater", 7, NULL, PW_EW_GREATER),
    TEST("Greater", 9, NULL, PW_EW_GREATER),
    TEST("Greater", 13, NULL, PW_EW_GREATER),
    TEST("GreaterOrEqual", 12, NULL, PW_EW_GREATER_EQUAL),
    TEST("GreaterOrEqual", 16, NULL, PW_EW_GREATER_EQUAL),
    TEST("Less", 1, axis6, PW_EW_LESS),
    TEST("Less", 7, NULL, PW_EW_LESS),
    TEST("Less", 9, NULL, PW_EW_LESS),
    TEST("Less", 13, NULL, PW_EW_LESS),
    TEST("LessOrEqual", 12, NULL, PW_EW_LESS_EQUAL),
    TEST("LessOrEqual", 16, NULL, PW_EW_LESS_EQUAL),
    OP("PRelu", 1, consumed, prelu_in, xy_out, PW_EW_PRELU),
    OP("PRelu", 6, NULL, prelu_in, xy_out, PW_EW_PRELU),
    OP("PRelu", 7, NULL, prelu_in, xy_out, PW_EW_PRELU),
    OP("PRelu", 9, NULL, prelu_in, xy_out, PW_EW_PRELU),
    OP("PRelu", 16, NULL, prelu_in, xy_out, PW_EW_PRELU),

    FOLD("Max", 1, consumed, max_out, PW_EW_MAX),
    FOLD("Max", 6, NULL, max_out, PW_EW_MAX),
    FOLD("Max", 8, NULL, max_out, PW_EW_MAX),
    FOLD("Max", 12, NULL, max_out, PW_EW_MAX),
    FOLD("Max", 13, NULL, max_out, PW_EW_MAX),
    FOLD("Min", 1, consumed, min_out, PW_EW_MIN),
    FOLD("Min", 6, NULL, min_out, PW_EW_MIN),
    FOLD("Min", 8, NULL, min_out, PW_EW_MIN),
    FOLD("Min", 12, NULL, min_out, PW_EW_MIN),
    FOLD("Min", 13, NULL, min_out, PW_EW_MIN),
    FOLD("Mean", 1, consumed, mean_out, PW_EW_MEAN),
    FOLD("Mean", 6, NULL, mean_out, PW_EW_MEAN),
    FOLD("Mean", 8, NULL, mean_out, PW_EW_MEAN),
    FOLD("Mean", 13, NULL, mean_out, PW_EW_MEAN),
    FOLD("Sum", 1, consumed, sum_out, PW_EW_SUM),
    FOLD("Sum", 6, NULL, sum_out, PW_EW_SUM),
    FOLD("Sum", 8, NULL, sum_out, PW_EW_SUM),
    FOLD("Sum", 13, NULL, sum_out, PW_EW_SUM),

    OP("Where", 9, NULL, where_in, io_out, PW_EW_WHERE),
    OP("Where", 16, NULL, where_in, io_out, PW_EW_WHERE),
    OP("Clip", 1, clip1, io_in, io_out, PW_EW_CLIP),
    OP("Clip", 6, clip6, io_in, io_out, PW_EW_CLIP),
    OP("Clip", 11, NULL, clip_in, io_out, PW_EW_CLIP),
    OP("Clip", 12, NULL, clip_in, io_out, PW_EW_CLIP),
    OP("Clip", 13, NULL, clip_in, io_out, PW_EW_CLIP),
    {0},
};
