/* What the distributions need to know of an operator: which range is wide, which input carries a mask, what is exact.
 */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"
#include "verify/draw.h"

/* Exponents of `wide`: as far as the formula itself, carried in float32, does not overflow where the result would
 * not (a variance squares, a product of K terms adds its exponents). Beyond that golden in double and any kernel in
 * float32 must differ. */
static const struct category_habit {
    double exponents;
    bool alternate;
    bool cancels; /* `cancel` means something */
} categories[PW_CATEGORY_COUNT] = {
    [PW_CATEGORY_MATMUL] = {12, true, true},        [PW_CATEGORY_ATTENTION] = {2, false, false},
    [PW_CATEGORY_NORMALIZATION] = {8, false, true}, [PW_CATEGORY_ACTIVATION] = {40, false, false},
    [PW_CATEGORY_EMBEDDING] = {1000, false, false}, [PW_CATEGORY_CONVOLUTION] = {12, true, true},
    [PW_CATEGORY_RECURRENT] = {2, false, false},    [PW_CATEGORY_REDUCTION] = {12, true, true},
    [PW_CATEGORY_LAYOUT] = {1000, false, false},    [PW_CATEGORY_ELEMENTWISE] = {1000, true, true},
    [PW_CATEGORY_QUANTIZATION] = {6, false, false}, [PW_CATEGORY_CONTROL] = {4, false, false},
    [PW_CATEGORY_COLLECTIVE] = {12, true, true},    [PW_CATEGORY_OTHER] = {4, false, false},
};

static const struct op_habit {
    const char *op;
    int mask_input;   /* floating input that -inf goes into; -1 none */
    double exponents; /* 0: the category's */
    bool open;        /* NaN, Inf: the definition leaves the result open */
    bool powers;      /* roots of sums of powers, as norms: float32 loses what golden in double keeps */
    bool defined;     /* of the attention category, but weighs nothing: infinities are defined */
} habits[] = {
    {"Softmax", 0, 10, false, false, false},
    {"LogSoftmax", 0, 10, false, false, false},
    {"ReduceLogSumExp", 0, 5, false, false, false},
    {"ReduceLogSum", -1, 5, false, false, false},
    {"ReduceMax", 0, 0, false, false, false},
    {"ReduceProd", -1, 1, false, false, false},
    {"Add", 1, 0, false, false, false},
    {"Max", 1, 0, false, false, false},
    {"Where", 1, 0, false, false, false},
    {"Sum", -1, 100, false, false, false},
    {"Mean", -1, 100, false, false, false},
    {"Resize", -1, 100, true, false, false}, /* a tap of weight 0 is read or left out; not where it is the nearest */
    {"Upsample", -1, 100, true, false, false},
    {"DFT", -1, 0, true, false, false}, /* a factor 0 or 1 is multiplied with or left out */
    {"STFT", -1, 0, true, false, false},
    {"Col2Im", -1, 100, false, false, false},
    {"Scatter", -1, 12, false, false, false},
    {"ScatterElements", -1, 12, false, false, false},
    {"ScatterND", -1, 12, false, false, false},
    {"ReduceL2", -1, 0, false, true, false},
    {"LpNormalization", -1, 0, false, true, false},
    {"LpPool", -1, 0, false, true, false},
    {"GlobalLpPool", -1, 0, false, true, false},
    {"RotaryEmbedding", -1, 0, false, false, true},
    {"TensorScatter", -1, 0, false, false, true},
};

static const struct op_habit *habit_of(const struct pw_op *op)
{
    for (size_t i = 0; i < PW_COUNT_OF(habits); i++)
        if (!strcmp(habits[i].op, op->name))
            return &habits[i];
    return NULL;
}

static bool is_mask(const struct pw_op *op, int input)
{
    const struct op_habit *habit = habit_of(op);
    const struct pw_formal *formal = pw_op_formal(op->inputs, (size_t)input);

    if (habit)
        return habit->mask_input == input;
    return op->category == PW_CATEGORY_ATTENTION && formal &&
           (strstr(formal->name, "mask") != NULL || strstr(formal->name, "bias") != NULL);
}

static bool floats_in(const struct pw_call *call, int input)
{
    return call->in[input] && pw_dtype_is_float(call->in[input]->dtype);
}

/* What is made is floating: by a scale that is no number it is none either, where an integer would be undefined. */
static bool to_floats(const struct pw_call *call)
{
    return call->output_count > 0 && pw_dtype_is_float(call->out[0].dtype);
}

/* The first floating input that is no scalar and has NaN: of 8 bits or more; 0 without one. */
static int first_tensor(const struct pw_call *call)
{
    for (int i = 0; i < call->input_count; i++)
        if (floats_in(call, i) && call->in[i]->rank > 0 && pw_dtype_facts(call->in[i]->dtype)->bits >= 8)
            return i;
    return 0;
}

/* What normalized rows or stored integers are multiplied with: an infinity there shows in its row or column alone.
 * -1 without one. */
static int scale_input(const struct pw_call *call)
{
    bool scales = call->op->category == PW_CATEGORY_NORMALIZATION ||
                  (call->op->category == PW_CATEGORY_QUANTIZATION && to_floats(call));

    for (int i = 1; i < call->input_count && scales; i++) {
        const struct pw_formal *formal = pw_op_formal(call->op->inputs, (size_t)i);

        if (floats_in(call, i) && formal &&
            (!strcasecmp(formal->name, "scale") || !strcmp(formal->name, "x_scale") || !strcmp(formal->name, "gamma")))
            return i;
    }
    return -1;
}

/* The input that gets the special values, where one NaN in a weight would make every output NaN. */
static int special_input(const struct pw_call *call, uint64_t seed)
{
    int scale = scale_input(call);

    return scale > 0 && seed % PW_DRAW_MIXTURES == 3 ? scale : first_tensor(call);
}

/* Are the results of NaN and infinities open? Weights of 0 are multiplied with or left out. */
static bool is_open(const struct pw_call *call, const struct op_habit *habit)
{
    return habit && habit->open && strcmp(pw_call_string(call, "mode"), "nearest") != 0;
}

void pw_draw_habits(const struct pw_call *call, int input, struct pw_draw *draw)
{
    const struct category_habit *category = &categories[call->op->category];
    const struct op_habit *habit = habit_of(call->op);
    bool everywhere = call->op->category == PW_CATEGORY_ELEMENTWISE || call->op->category == PW_CATEGORY_LAYOUT ||
                      call->op->category == PW_CATEGORY_ACTIVATION || call->op->category == PW_CATEGORY_EMBEDDING;
    pw_dtype dtype = call->in[input] ? call->in[input]->dtype : PW_DTYPE_UNDEFINED;

    draw->exponents = habit && habit->exponents > 0 ? habit->exponents : category->exponents;
    if (!(habit && habit->exponents > 0) && draw->exponents < 100 && pw_dtype_is_float(dtype) &&
        pw_dtype_facts(dtype)->max < 1e6)
        draw->exponents = fmin(draw->exponents, 5); /* float16 and narrower: squares stay finite */
    draw->alternate = category->alternate && input == 0;
    if (call->op->category == PW_CATEGORY_QUANTIZATION)
        draw->step = 1.0 / 128; /* half of the least scale that the rooms draw: every second quotient is a tie */
    else if (!strcmp(call->op->name, "Round") || !strcmp(call->op->name, "Cast") || !strcmp(call->op->name, "CastLike"))
        draw->step = 0.5;
    draw->near_one = !strcmp(call->op->name, "ReduceProd") || !strcmp(call->op->name, "CumProd");
    draw->masks = is_mask(call->op, input);
    draw->numbers = is_open(call, habit);
    draw->finite = draw->numbers || (call->op->category == PW_CATEGORY_ATTENTION && !(habit && habit->defined));
    draw->anywhere = !draw->fill->only && (everywhere || draw->fill->beyond ||
                                           (call->op->category == PW_CATEGORY_QUANTIZATION && to_floats(call)) ||
                                           (call->op->category == PW_CATEGORY_REDUCTION && input == 0));
    draw->powers = (habit && habit->powers) || call->op->category == PW_CATEGORY_NORMALIZATION;
    draw->share = everywhere ? 0.5 : 0;
    if (draw->dist == PW_DIST_SPECIAL && !everywhere && input != special_input(call, draw->seed))
        draw->dist = PW_DIST_NORMAL;
    else if (input == scale_input(call))
        draw->share = 0.5; /* a few numbers, one for each row or column */
}

bool pw_draw_applies(const struct pw_call *call, pw_dist dist)
{
    bool floating = false, integral = false, mask = false;

    for (int i = 0; i < call->input_count; i++) {
        const struct pw_formal *formal = pw_op_formal(call->op->inputs, (size_t)i);

        if (!call->in[i] || !formal || (formal->flags & PW_FORMAL_PARAM))
            continue;
        floating |= floats_in(call, i);
        integral |= !floats_in(call, i);
        mask |= call->in[i]->dtype == PW_DTYPE_BOOL || (floats_in(call, i) && is_mask(call->op, i));
    }
    switch (dist) {
    case PW_DIST_CANCEL:
        return floating && categories[call->op->category].cancels;
    case PW_DIST_MASKED:
        return mask;
    case PW_DIST_SPECIAL:
        return (floating || integral) && !call->op->random;
    case PW_DIST_WIDE:
        return (floating || integral) && !call->op->random;
    case PW_DIST_CAPTURED:
        return false;
    default:
        return true;
    }
}

/* ---- exact sums ---- */

static bool is_dyadic(float x) /* a multiple of 1/4 of a size that keeps sums exact */
{
    return fabsf(x) <= 4 && 4 * x == floorf(4 * x);
}

bool pw_draw_is_exact(const struct pw_call *call)
{
    static const char *const sums[] = {
        "MatMul", "Conv", "ConvTranspose", "Einsum", "ReduceSum",       "ReduceL1", "Add",
        "Sub",    "Mul",  "CumSum",        "Sum",    "ReduceSumSquare", "Gemm",     "FusedMatMul"};
    bool listed = false;

    for (size_t i = 0; i < PW_COUNT_OF(sums) && !listed; i++)
        listed = !strcmp(sums[i], call->op->name);
    if (!listed)
        return false;
    if (!strcmp(call->op->name, "Gemm") || !strcmp(call->op->name, "FusedMatMul"))
        return is_dyadic(pw_call_float(call, "alpha")) && is_dyadic(pw_call_float(call, "beta"));
    return true;
}
