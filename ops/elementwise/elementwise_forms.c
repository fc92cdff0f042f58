/* What is known of each function: types, accuracy and why, sensible inputs. ULP bounds are those that OpenCL
 * grants a full-profile device in single precision. */
#include "ops/elementwise/elementwise_room.h"

#define BIT(dtype) (1u << (dtype))
#define FLOATS (BIT(PW_DTYPE_FLOAT16) | BIT(PW_DTYPE_BFLOAT16) | BIT(PW_DTYPE_FLOAT32) | BIT(PW_DTYPE_FLOAT64))
#define SIGNED (BIT(PW_DTYPE_INT8) | BIT(PW_DTYPE_INT16) | BIT(PW_DTYPE_INT32) | BIT(PW_DTYPE_INT64))
#define UNSIGNED (BIT(PW_DTYPE_UINT8) | BIT(PW_DTYPE_UINT16) | BIT(PW_DTYPE_UINT32) | BIT(PW_DTYPE_UINT64))
#define INTEGERS (SIGNED | UNSIGNED)
#define NUMBERS (FLOATS | INTEGERS)
#define BOOLS BIT(PW_DTYPE_BOOL)
#define STRINGS BIT(PW_DTYPE_STRING)
#define COMPLEX (BIT(PW_DTYPE_COMPLEX64) | BIT(PW_DTYPE_COMPLEX128))
#define FLOAT8S                                                                                                        \
    (BIT(PW_DTYPE_FLOAT8E4M3FN) | BIT(PW_DTYPE_FLOAT8E4M3FNUZ) | BIT(PW_DTYPE_FLOAT8E5M2) |                            \
     BIT(PW_DTYPE_FLOAT8E5M2FNUZ))

#define LOW PW_SENSITIVITY_LOW, "no error is amplified"
#define MEDIUM(reason) PW_SENSITIVITY_MEDIUM, reason
#define HIGH(reason) PW_SENSITIVITY_HIGH, reason
#define EXACT "the result is one of the inputs or a small integer: bitwise"
#define ROUNDED "one correctly rounded operation"

static const char cancels[] = "cancellation where the operands nearly agree";
static const char wide_argument[] = "argument reduction: an absolute error of the input is the output's";

const struct pw_ew_form pw_ew_forms[PW_EW_COUNT] = {
    [PW_EW_ABS] = {"Abs", NUMBERS, false, true, 0, LOW, EXACT, 0, 0},
    [PW_EW_ACOS] = {"Acos", FLOATS, false, false, 4, MEDIUM("infinite slope at -1 and 1"), "acos 4 ULP", -1, 1},
    [PW_EW_ACOSH] = {"Acosh", FLOATS, false, false, 4, MEDIUM("infinite slope at 1"), "acosh 4 ULP", 1, 100},
    [PW_EW_ASIN] = {"Asin", FLOATS, false, false, 4, MEDIUM("infinite slope at -1 and 1"), "asin 4 ULP", -1, 1},
    [PW_EW_ASINH] = {"Asinh", FLOATS, false, false, 4, LOW, "asinh 4 ULP", 0, 0},
    [PW_EW_ATAN] = {"Atan", FLOATS, false, false, 5, LOW, "atan 5 ULP", 0, 0},
    [PW_EW_ATANH] = {"Atanh", FLOATS, false, false, 5, MEDIUM("poles at -1 and 1"), "atanh 5 ULP", -0.999, 0.999},
    [PW_EW_BIT_NOT] = {"BitwiseNot", INTEGERS, false, true, 0, LOW, EXACT, 0, 0},
    [PW_EW_CEIL] = {"Ceil", FLOATS, false, true, 0, MEDIUM("jumps at integers"), EXACT, 0, 0},
    [PW_EW_COS] = {"Cos", FLOATS, false, false, 4, HIGH(wide_argument), "cos 4 ULP", -100, 100},
    [PW_EW_COSH] = {"Cosh", FLOATS, false, false, 4, HIGH("exponential of large arguments"), "cosh 4 ULP", -20, 20},
    [PW_EW_ERF] = {"Erf", FLOATS | INTEGERS, false, false, 16, LOW, "erf 16 ULP", -5, 5},
    [PW_EW_EXP] = {"Exp", FLOATS, false, false, 3, HIGH("exponential of large arguments"), "exp 3 ULP", -20, 20},
    [PW_EW_FLOOR] = {"Floor", FLOATS, false, true, 0, MEDIUM("jumps at integers"), EXACT, 0, 0},
    [PW_EW_IS_INF] = {"IsInf", FLOATS | FLOAT8S, true, true, 0, LOW, EXACT, 0, 0},
    [PW_EW_IS_NAN] = {"IsNaN", FLOATS | FLOAT8S, true, true, 0, LOW, EXACT, 0, 0},
    [PW_EW_LOG] = {"Log", FLOATS, false, false, 3, MEDIUM("small arguments, and cancellation near 1"), "log 3 ULP",
                   1e-3, 100},
    [PW_EW_NEG] = {"Neg", FLOATS | SIGNED, false, true, 0, LOW, EXACT, 0, 0},
    [PW_EW_NOT] = {"Not", BOOLS, false, true, 0, LOW, EXACT, 0, 0},
    [PW_EW_RECIPROCAL] = {"Reciprocal", FLOATS, false, false, 2.5, MEDIUM("division by small values"),
                          "division 2.5 ULP", 0.01, 100},
    [PW_EW_ROUND] = {"Round", FLOATS, false, true, 0, MEDIUM("jumps at halves"), EXACT, 0, 0},
    [PW_EW_SIGN] = {"Sign", NUMBERS, false, true, 0, MEDIUM("jumps at 0"), EXACT, 0, 0},
    [PW_EW_SIN] = {"Sin", FLOATS, false, false, 4, HIGH(wide_argument), "sin 4 ULP", -100, 100},
    [PW_EW_SINH] = {"Sinh", FLOATS, false, false, 4, HIGH("exponential of large arguments"), "sinh 4 ULP", -20, 20},
    [PW_EW_SQRT] = {"Sqrt", FLOATS, false, false, 3, LOW, "sqrt 3 ULP", 0, 100},
    [PW_EW_TAN] = {"Tan", FLOATS, false, false, 5, HIGH("poles at odd multiples of pi/2"), "tan 5 ULP", -1.5, 1.5},
    [PW_EW_TANH] = {"Tanh", FLOATS, false, false, 5, LOW, "tanh 5 ULP", -10, 10},
    [PW_EW_CLIP] = {"Clip", NUMBERS, false, true, 0, LOW, EXACT, 0, 0},

    [PW_EW_ADD] = {"Add", NUMBERS, false, false, 0.5, MEDIUM(cancels), ROUNDED, 0, 0},
    [PW_EW_SUB] = {"Sub", NUMBERS, false, false, 0.5, MEDIUM(cancels), ROUNDED, 0, 0},
    [PW_EW_MUL] = {"Mul", NUMBERS, false, false, 0.5, LOW, ROUNDED, 0, 0},
    [PW_EW_DIV] = {"Div", NUMBERS, false, false, 2.5, MEDIUM("division by small values"), "division 2.5 ULP", 0, 0},
    [PW_EW_POW] = {"Pow", FLOATS | BIT(PW_DTYPE_INT32) | BIT(PW_DTYPE_INT64), false, false, 16,
                   HIGH("relative errors are multiplied by the exponent"), "pow 16 ULP", 0.01, 10},
    [PW_EW_MOD] = {"Mod", NUMBERS, false, false, 0.5, HIGH("jumps at multiples of the divisor"), "fmod is exact", 0, 0},
    [PW_EW_FMOD] = {"Fmod", NUMBERS, false, false, 0.5, HIGH("jumps at multiples of the divisor"), "fmod is exact", 0,
                    0},
    [PW_EW_PRELU] = {"PRelu", FLOATS | INTEGERS, false, false, 0.5, LOW, ROUNDED, 0, 0},
    [PW_EW_MAX] = {"Max", NUMBERS, false, true, 0, LOW, EXACT, 0, 0},
    [PW_EW_MIN] = {"Min", NUMBERS, false, true, 0, LOW, EXACT, 0, 0},
    [PW_EW_SHIFT_LEFT] = {"ShiftLeft", INTEGERS, false, true, 0, LOW, EXACT, 0, 0},
    [PW_EW_SHIFT_RIGHT] = {"ShiftRight", INTEGERS, false, true, 0, LOW, EXACT, 0, 0},
    [PW_EW_BIT_AND] = {"BitwiseAnd", INTEGERS, false, true, 0, LOW, EXACT, 0, 0},
    [PW_EW_BIT_OR] = {"BitwiseOr", INTEGERS, false, true, 0, LOW, EXACT, 0, 0},
    [PW_EW_BIT_XOR] = {"BitwiseXor", INTEGERS, false, true, 0, LOW, EXACT, 0, 0},
    [PW_EW_AND] = {"And", BOOLS, true, true, 0, LOW, EXACT, 0, 0},
    [PW_EW_OR] = {"Or", BOOLS, true, true, 0, LOW, EXACT, 0, 0},
    [PW_EW_XOR] = {"Xor", BOOLS, true, true, 0, LOW, EXACT, 0, 0},
    [PW_EW_EQUAL] = {"Equal", NUMBERS | BOOLS | STRINGS, true, true, 0, MEDIUM("jumps where the operands meet"), EXACT,
                     0, 0},
    [PW_EW_GREATER] = {"Greater", NUMBERS, true, true, 0, MEDIUM("jumps where the operands meet"), EXACT, 0, 0},
    [PW_EW_GREATER_EQUAL] = {"GreaterOrEqual", NUMBERS, true, true, 0, MEDIUM("jumps where the operands meet"), EXACT,
                             0, 0},
    [PW_EW_LESS] = {"Less", NUMBERS, true, true, 0, MEDIUM("jumps where the operands meet"), EXACT, 0, 0},
    [PW_EW_LESS_EQUAL] = {"LessOrEqual", NUMBERS, true, true, 0, MEDIUM("jumps where the operands meet"), EXACT, 0, 0},

    [PW_EW_SUM] = {"Sum", FLOATS, false, false, 0.5, MEDIUM(cancels), "one rounding an addition", 0, 0},
    [PW_EW_MEAN] = {"Mean", FLOATS, false, false, 3, MEDIUM(cancels), "one rounding an addition, division 2.5 ULP", 0,
                    0},
    [PW_EW_WHERE] = {"Where", NUMBERS | BOOLS | STRINGS | COMPLEX | FLOAT8S, false, true, 0, LOW, EXACT, 0, 0},
};
