/*
 * Judging a case: which tolerance and which manner of comparison, what the data amplifies by itself, the verdict.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "run/eval.h"
#include "verify/draw.h"
#include "verify/verify_internal.h"

#define CONDITION_FACTOR 4.0 /* a computation's roundings against one random rounding of its inputs */
#define FEW_ELEMENTS 8       /* of a mean */
#define FEW_TERMS 5.0  /* an eighth of 40, beyond which no activation cancels: erf, tanh and ramps are at their ends */
#define FEW_OUTPUTS 64 /* whose greatest move one perturbation may miss: */
#define DRAWS_OF_FEW 8 /* so many are tried */

/* ---- how to compare ---- */

static pw_dtype float_dtype(const struct pw_call *call)
{
    for (int i = 0; i < call->output_count; i++)
        if (call->wanted[i] && pw_dtype_is_float(call->out[i].dtype))
            return call->out[i].dtype;
    return PW_DTYPE_UNDEFINED;
}

/* Elements of pointwise operators are judged relative to themselves down to the least normal number; on a device that
 * flushes denormals, down to where flushing stays within the tolerance. */
static double floor_of(const struct pw_case_run *run, const struct pw_accuracy *accuracy)
{
    const struct pw_call *call = &run->inputs.call;
    const struct pw_target_info *info = pw_device_info(run->request->device);
    pw_dtype dtype = float_dtype(call);
    double least = pw_dtype_facts(dtype)->min_normal;
    bool keeps = !info || (dtype == PW_DTYPE_FLOAT16 ? info->accuracy.denormals_fp16 : info->accuracy.denormals);

    if (!accuracy->pointwise || dtype == PW_DTYPE_UNDEFINED)
        return -1;
    return keeps || run->result.tolerance <= 0 ? least : least / run->result.tolerance;
}

/* x - max - log(sum of exponentials): the sum is 1 or more, and where the rest cancels, the error is one of its
 * logarithm. */
static bool logs_a_sum(const struct pw_op *op)
{
    static const char *const names[] = {"SoftmaxCrossEntropyLoss", "LogSoftmax", "ReduceLogSumExp"};

    for (size_t i = 0; i < PW_COUNT_OF(names); i++)
        if (!strcmp(names[i], op->name))
            return true;
    return false;
}

/* Where a formula cancels (the negative tail of a GELU, the loss of a certain class), its error is one of the terms: of
 * the inputs, or of 1. Many outputs have a root mean square of about that size; a few may all lie in the tail, so there
 * the terms say it, up to where something still cancels: an input of 10^12 beside others is no reason to let all of
 * them pass. */
static double floor_of_terms(const struct pw_case_run *run, const struct pw_tensor *golden)
{
    const struct pw_call *call = &run->inputs.call;
    struct pw_accuracy accuracy = {.length = 1};
    double floor = run->floor < 0 ? pw_compare_floor(golden) : run->floor;
    bool log = logs_a_sum(call->op);

    if (run->floor >= 0 || golden->count > FEW_ELEMENTS || !call->op->accuracy ||
        (call->op->category != PW_CATEGORY_ACTIVATION && !log))
        return floor;
    call->op->accuracy(call, &accuracy);
    for (int i = 0; i < run->inputs.count && accuracy.amplification > 1 && !log; i++)
        if (run->inputs.in[i] && pw_dtype_is_float(run->inputs.in[i]->tensor.dtype))
            floor = fmax(floor, fmin(pw_compare_floor(&run->inputs.in[i]->tensor), FEW_TERMS));
    return log ? fmax(floor, 0.125) : floor;
}

/* `exact` draws make every order of summation give the same bits, so nothing but the last rounding is owed. */
static bool owes_bits(const struct pw_case_run *run)
{
    pw_dtype dtype = float_dtype(&run->inputs.call);

    return run->result.dist == PW_DIST_EXACT && pw_draw_is_exact(&run->inputs.call) &&
           (dtype == PW_DTYPE_FLOAT32 || dtype == PW_DTYPE_FLOAT16 || dtype == PW_DTYPE_BFLOAT16 ||
            dtype == PW_DTYPE_FLOAT64);
}

pw_status pw_judge_prepare(struct pw_case_run *run, struct pw_error *err)
{
    const struct pw_call *call = &run->inputs.call;
    const struct pw_protocol *protocol = run->request->protocol;
    struct pw_accuracy accuracy = {.length = 1, .amplification = 1, .ulp = 1};
    struct pw_tolerance tolerance;
    pw_status status = pw_protocol_judgement(protocol, call, run->signature->nodes[0]->name,
                                             pw_device_info(run->request->device), &run->arena, &tolerance, err);

    if (status != PW_OK)
        return status;
    if (call->op->accuracy)
        call->op->accuracy(call, &accuracy);
    run->result.tolerance = run->spec->property[0] ? tolerance.beside : tolerance.value;
    run->result.tolerance_why = tolerance.why;
    run->rounding = tolerance.rounding;
    run->rounded = tolerance.bitwise;
    run->floor = floor_of(run, &accuracy);
    run->bits = tolerance.value <= 0 &&
                (call->op->category == PW_CATEGORY_LAYOUT || !strcmp(call->op->name, "Identity")) &&
                protocol->bitwise.copies;
    run->off_by_one_allowed = !protocol->bitwise.integers && call->op->category == PW_CATEGORY_QUANTIZATION;
    if (owes_bits(run) && (!tolerance.by_rule || (tolerance.bitwise && run->spec->property[0]))) {
        run->result.tolerance = 0;
        run->result.tolerance_why = "exact draws: every order of summation gives the same bits";
        run->rounded = true;
    } else if (tolerance.ordered) {
        struct pw_order_demand demand;

        pw_protocol_order(protocol, call, run->signature->nodes[0]->name, pw_device_info(run->request->device),
                          &demand);
        run->ordered = demand.demanded;
        run->order = demand.order;
    }
    return PW_OK;
}

static double inside_epsilon(const struct pw_case_run *run)
{
    pw_dtype dtype = float_dtype(&run->inputs.call);

    return pw_dtype_epsilon(dtype == PW_DTYPE_FLOAT64 ? dtype : PW_DTYPE_FLOAT32);
}

/* How far golden moves when every input element moves by half a ULP: at random, or all upward together (then
 * what cancelled no longer does). */
static pw_status moved_by(struct pw_case_run *run, const struct pw_value *golden, pw_perturbation kind, uint64_t seed,
                          double *worst, struct pw_error *err)
{
    struct pw_value moved[PW_OP_MAX_FORMALS] = {0};
    struct pw_comparison comparison;
    pw_status status = pw_case_golden(&run->inputs, kind, 0.5 * inside_epsilon(run), seed, moved, err);

    for (int i = 0; i < run->inputs.call.output_count && status == PW_OK; i++)
        if (moved[i].kind == PW_VALUE_TENSOR && golden[i].kind == PW_VALUE_TENSOR &&
            pw_dtype_is_float(golden[i].tensor.dtype) &&
            pw_compare(&moved[i].tensor, &golden[i].tensor, 0, floor_of_terms(run, &golden[i].tensor), &comparison,
                       NULL) == PW_OK &&
            isfinite(comparison.max_error))
            *worst = fmax(*worst, comparison.max_error);
    for (int i = 0; i < PW_OP_MAX_FORMALS; i++)
        pw_value_clear(&moved[i]);
    return status;
}

static int64_t golden_count(const struct pw_case_run *run, const struct pw_value *golden)
{
    int64_t count = 0;

    for (int i = 0; i < run->inputs.call.output_count; i++)
        count += golden[i].kind == PW_VALUE_TENSOR ? golden[i].tensor.count : 0;
    return count;
}

/* Does the data alone decide how much an error inside grows? Few elements may lie far closer together than they are
 * large, however they are drawn, so what subtracts their mean is as ill-conditioned as after `cancel`. */
static bool ill_conditioned(const struct pw_case_run *run)
{
    const struct pw_call *call = &run->inputs.call;
    struct pw_accuracy accuracy = {.length = 1};

    if (call->op->accuracy)
        call->op->accuracy(call, &accuracy);
    if (run->spec->dist == PW_DIST_CANCEL || run->spec->dist == PW_DIST_WIDE || run->spec->dist == PW_DIST_CAPTURED)
        return true;
    if (run->spec->dist == PW_DIST_SPECIAL && accuracy.length > 1) /* large elements that leave small sums */
        return true;
    if (call->op->category == PW_CATEGORY_ATTENTION) /* whose scores, and so their errors, vary widely */
        return true;
    if (call->op->category == PW_CATEGORY_RECURRENT) /* gates of sums of products: how large, the draw decides */
        return run->spec->dist != PW_DIST_EXACT && run->spec->dist != PW_DIST_MASKED;
    return call->op->category == PW_CATEGORY_NORMALIZATION && call->op->accuracy && accuracy.length <= FEW_ELEMENTS;
}

pw_status pw_judge_condition(struct pw_case_run *run, const struct pw_value *golden, struct pw_error *err)
{
    struct pw_accuracy accuracy = {.length = 1};
    double worst = 0, factor, more;
    pw_status status;

    if (!ill_conditioned(run) || run->result.tolerance <= 0 || run->rounded ||
        (run->floor >= 0 && run->inputs.call.op->category != PW_CATEGORY_ACTIVATION)) /* x e^x far from 0 amplifies */
        return PW_OK;
    status = moved_by(run, golden, PW_PERTURB_UPWARD, run->spec->seed, &worst, err);
    for (int i = 0; i < (golden_count(run, golden) <= FEW_OUTPUTS ? DRAWS_OF_FEW : 1) && status == PW_OK; i++)
        status = moved_by(run, golden, PW_PERTURB_RANDOM, run->spec->seed + (uint64_t)i, &worst, err);
    if (status != PW_OK || worst <= 0)
        return status;
    if (run->inputs.call.op->accuracy)
        run->inputs.call.op->accuracy(&run->inputs.call, &accuracy);
    factor = fmax(CONDITION_FACTOR, sqrt((double)accuracy.length));
    more = factor * worst;
    run->result.tolerance += more;
    run->result.tolerance_why =
        pw_arena_printf(&run->arena, "%s; + %.2g: %.3g times what half a ULP on each input does to golden",
                        run->result.tolerance_why, more, factor);
    return run->result.tolerance_why ? PW_OK : pw_error_memory(err, 128);
}

/* ---- comparing ---- */

/* Is some element further than the tolerance from x? */
static bool leaves(const struct pw_tensor *golden, double x, double tolerance, double floor)
{
    for (int64_t i = 0; i < golden->count; i++) {
        double want = pw_tensor_get(golden, i), scale = fmax(fabs(want), floor);

        if (want != x && !(fabs(want - x) <= tolerance * scale)) /* NaN and infinity leave too */
            return true;
    }
    return false;
}

/* Would this case have caught an output that is all zeros or one constant (its mean)? */
static bool discriminates(const struct pw_tensor *golden, double tolerance, double floor)
{
    double mean = 0;

    if (golden->count == 0 || pw_dtype_facts(golden->dtype)->kind == PW_KIND_STRING ||
        pw_dtype_facts(golden->dtype)->kind == PW_KIND_COMPLEX)
        return golden->count > 0;
    if (!leaves(golden, 0, tolerance, floor))
        return false;
    if (golden->count == 1)
        return true;
    for (int64_t i = 0; i < golden->count; i++)
        mean += pw_tensor_get(golden, i) / (double)golden->count;
    return !isfinite(mean) || leaves(golden, mean, tolerance, floor);
}

static bool draws_nothing(const struct pw_call *call)
{
    for (int i = 0; i < call->input_count; i++) {
        const struct pw_formal *formal = pw_op_formal(call->op->inputs, (size_t)i);

        if (call->in[i] && formal && !(formal->flags & PW_FORMAL_PARAM))
            return false;
    }
    return true;
}

static bool is_constant(const struct pw_call *call)
{
    struct pw_accuracy accuracy = {.length = 1};

    if (call->op->accuracy)
        call->op->accuracy(call, &accuracy);
    return accuracy.constant;
}

/* What moves data keeps the sign of a zero, which == does not see. */
static void count_signs(const struct pw_tensor *got, const struct pw_tensor *want, struct pw_comparison *comparison)
{
    if (!pw_dtype_is_float(got->dtype) || !pw_dtype_is_float(want->dtype))
        return;
    for (int64_t i = 0; i < got->count; i++) {
        double a = pw_tensor_get(got, i), b = pw_tensor_get(want, i);

        if (a == 0 && b == 0 && signbit(a) != signbit(b)) {
            if (!comparison->over)
                comparison->worst = i, comparison->worst_got = a, comparison->worst_want = b;
            comparison->over++;
            comparison->mismatches++;
        }
    }
}

/* The case's tolerance is that of its first float output; another one is rounded to its own dtype, and a float32 beside
 * a float64 may be computed in float32. So of a running variance beside float64, of a mean beside bfloat16. */
static struct owed {
    double rounding, tolerance;
} owed_by(const struct pw_case_run *run, const struct pw_tensor *golden)
{
    double more = fmax(run->result.tolerance - run->rounding, 0), rounding = 0.5 * pw_dtype_epsilon(golden->nominal);

    if (run->rounding <= 0 || run->rounded || !pw_dtype_is_float(golden->nominal))
        return (struct owed){run->rounding, run->result.tolerance};
    if (golden->nominal != PW_DTYPE_FLOAT64)
        more *= fmax(pw_dtype_epsilon(PW_DTYPE_FLOAT32) / inside_epsilon(run), 1);
    return (struct owed){rounding, rounding + more};
}

/* Is the output nearer to its tolerance than the worst so far, or further beyond? */
static bool worse(const struct pw_case_run *run, const struct pw_comparison *c, double tolerance)
{
    const struct pw_comparison *worst = &run->result.comparison;

    if (run->result.output < 0 || c->over != worst->over)
        return run->result.output < 0 || c->over > worst->over;
    return c->max_error * run->worst_tolerance > worst->max_error * tolerance ||
           (tolerance <= 0 && c->max_error > worst->max_error);
}

pw_status pw_judge_output(struct pw_case_run *run, const struct pw_value *got, const struct pw_value *golden,
                          int output, struct pw_error *err)
{
    struct pw_comparison comparison;
    struct pw_value rounded = {0};
    const struct pw_tensor *want = &golden->tensor;
    struct owed owed = owed_by(run, want);
    double least;
    pw_status status = PW_OK;

    if (run->rounded && pw_dtype_is_float(want->dtype)) {
        status = pw_eval_round(&rounded, golden, err);
        want = &rounded.tensor;
    }
    if (!run->request->protocol->bitwise.ties && pw_judge_has_ties(&run->inputs.call, output)) {
        status = pw_tensor_copy(&rounded.tensor, want, err);
        rounded.kind = PW_VALUE_TENSOR;
        if (status == PW_OK)
            status =
                pw_judge_take_ties(&run->inputs.call, &run->inputs.in[0]->tensor, &got->tensor, &rounded.tensor, err);
        want = &rounded.tensor;
    }
    if (status == PW_OK)
        status = pw_compare(&got->tensor, want, owed.tolerance,
                            pw_dtype_is_float(want->dtype) ? floor_of_terms(run, want) : run->floor, &comparison, err);
    if (status != PW_OK)
        goto done;
    if (run->bits)
        count_signs(&got->tensor, want, &comparison);
    if (run->off_by_one_allowed && pw_dtype_is_integer(got->tensor.dtype) && comparison.max_absolute <= 1)
        comparison.over = comparison.mismatches = 0, comparison.max_error = 0;
    run->result.discriminates |=
        draws_nothing(&run->inputs.call) || is_constant(&run->inputs.call)
            ? want->count > 0 /* a constant is right, and the poison shows that it was written */
            : discriminates(want, owed.tolerance, comparison.floor);
    if (worse(run, &comparison, owed.tolerance)) {
        run->result.comparison = comparison;
        run->result.output = output;
        run->worst_tolerance = owed.tolerance;
        run->worst_rounding = owed.rounding;
    }
    least = owed.tolerance > 0 ? comparison.max_error * (run->result.tolerance / owed.tolerance) : comparison.max_error;
    if (!(least <= run->result.least_tolerance)) /* the first, or a greater one */
        run->result.least_tolerance = least;
done:
    pw_value_clear(&rounded);
    return status;
}

void pw_judge_elements(struct pw_case_run *run, const struct pw_value *got, const struct pw_value *golden)
{
    struct pw_compare_element found[PW_CASE_ELEMENTS];
    struct pw_case_element *kept;
    struct pw_value rounded = {0};
    const struct pw_tensor *want = &golden->tensor;
    size_t count;

    if (run->rounded && pw_dtype_is_float(want->dtype)) {
        if (pw_eval_round(&rounded, golden, NULL) != PW_OK)
            return;
        want = &rounded.tensor;
    }
    count = pw_compare_worst(&got->tensor, want, run->result.comparison.floor, found, PW_CASE_ELEMENTS);
    kept = count ? pw_arena_alloc(&run->arena, count, sizeof *kept) : NULL;
    for (size_t i = 0; kept && i < count; i++) {
        struct pw_buf at = {0};

        pw_compare_coordinates(want, found[i].flat, &at);
        kept[i] =
            (struct pw_case_element){pw_case_keep(run, pw_buf_text(&at)), found[i].got, found[i].want, found[i].error};
        pw_buf_clear(&at);
    }
    run->result.worst = kept;
    run->result.worst_count = kept ? count : 0;
    pw_value_clear(&rounded);
}

bool pw_judge_same_shape(const struct pw_tensor *a, const struct pw_tensor *b)
{
    return a->rank == b->rank && !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims);
}

void pw_judge_repeat(struct pw_case_run *run, const struct pw_value *first, const struct pw_value *second, int count)
{
    struct pw_comparison comparison;

    for (int i = 0; i < count; i++) {
        bool sized = first[i].kind == PW_VALUE_TENSOR && pw_judge_same_shape(&first[i].tensor, &second[i].tensor);

        if (first[i].kind == PW_VALUE_TENSOR && !sized) { /* a size that the data decides */
            run->result.nondeterministic = true;
            run->result.spread = INFINITY;
        }
        if (!sized || !first[i].tensor.count ||
            !memcmp(first[i].tensor.data, second[i].tensor.data, pw_tensor_bytes(&first[i].tensor)))
            continue;
        run->result.nondeterministic = true;
        if (pw_compare(&second[i].tensor, &first[i].tensor, 0, -1, &comparison, NULL) == PW_OK &&
            comparison.max_error > run->result.spread)
            run->result.spread = comparison.max_error;
    }
}

void pw_judge_reference(struct pw_case_run *run, const struct pw_value *golden)
{
    const struct pw_case_inputs *inputs = &run->inputs;
    struct pw_value carried[PW_OP_MAX_FORMALS] = {0}, out[PW_OP_MAX_FORMALS] = {0};
    const struct pw_value *in[PW_OP_MAX_FORMALS] = {0};
    struct pw_comparison comparison;
    double worst = NAN;
    pw_status status = inputs->call.op->fast ? PW_OK : PW_ERR_UNSUPPORTED;

    for (int i = 0; i < inputs->count && status == PW_OK; i++)
        if (inputs->in[i]) {
            status = pw_eval_carry(&carried[i], inputs->in[i], PW_EVAL_FAST, NULL);
            in[i] = &carried[i];
        }
    if (status == PW_OK)
        status = pw_eval_node(inputs->call.node, PW_EVAL_FAST, in, inputs->count, out, inputs->call.output_count,
                              run->spec->seed, NULL);
    for (int i = 0; i < inputs->call.output_count && status == PW_OK; i++) {
        struct pw_value rounded = {0};

        if (out[i].kind == PW_VALUE_TENSOR && golden[i].kind == PW_VALUE_TENSOR &&
            pw_eval_round(&rounded, &out[i], NULL) == PW_OK &&
            pw_compare(&rounded.tensor, &golden[i].tensor, 0, run->floor, &comparison, NULL) == PW_OK)
            worst = isnan(worst) ? comparison.max_error : fmax(worst, comparison.max_error);
        pw_value_clear(&rounded);
    }
    run->result.reference_error = worst; /* NaN: there is no fast reference, or it does not serve this call */
    for (int i = 0; i < PW_OP_MAX_FORMALS; i++) {
        pw_value_clear(&carried[i]);
        pw_value_clear(&out[i]);
    }
}

/* ---- the verdict ---- */

static void say_over(struct pw_case_run *run, const struct pw_value *golden, struct pw_buf *text)
{
    const struct pw_comparison *c = &run->result.comparison;

    pw_buf_printf(text, "output %d, element ", run->result.output);
    pw_compare_coordinates(&golden[run->result.output].tensor, c->worst, text);
    pw_buf_printf(text, ": got %.9g, golden %.9g, error %.3g, tolerance %.3g; %" PRId64 " of %" PRId64 " elements %s",
                  c->worst_got, c->worst_want, c->max_error, run->result.tolerance, c->over, c->count,
                  c->mismatches ? "differ or are NaN/Inf on one side" : "are over");
}

void pw_judge_verdict(struct pw_case_run *run, const struct pw_value *golden)
{
    const struct pw_protocol *protocol = run->request->protocol;
    const struct pw_comparison *c = &run->result.comparison;
    pw_accumulation order = pw_protocol_accumulation(protocol, &run->inputs.call, run->signature->nodes[0]->name);
    double warn = run->worst_rounding + protocol->warn_share * (run->worst_tolerance - run->worst_rounding);
    struct pw_buf text = {0};

    if (run->result.output < 0) {
        pw_case_settle(run, PW_VERDICT_SKIPPED, "the case has no output to compare");
        return;
    }
    run->result.tolerance = run->worst_tolerance; /* what the error that is shown was held against */
    if (c->over > 0) {
        say_over(run, golden, &text);
        pw_case_settle(run, PW_VERDICT_FAIL, pw_buf_text(&text));
    } else if (run->result.nondeterministic) {
        pw_buf_printf(&text, "two runs differ by %.3g%s", run->result.spread,
                      order != PW_ACCUMULATION_FREE ? ", where the protocol wants the same bits" : "");
        pw_case_settle(run, order != PW_ACCUMULATION_FREE ? PW_VERDICT_FAIL : PW_VERDICT_WARN, pw_buf_text(&text));
    } else if (run->result.tolerance > 0 && c->max_error > warn) {
        pw_buf_printf(&text, "error %.3g is above %.0f %% of what the tolerance leaves beside the last rounding",
                      c->max_error, 100 * protocol->warn_share);
        pw_case_settle(run, PW_VERDICT_WARN, pw_buf_text(&text));
    } else {
        pw_case_settle(run, PW_VERDICT_PASS, "");
    }
    pw_buf_clear(&text);
}
