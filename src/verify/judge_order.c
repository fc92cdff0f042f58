/*
 * Where the protocol demands an order of the sums: golden becomes the reference that takes them in that order. Whether
 * a product is rounded before it is added is no matter of order, so a kernel may do either, but throughout.
 */
#include "run/eval.h"
#include "verify/verify_internal.h"

static void clear_all(struct pw_value *values)
{
    for (int i = 0; i < PW_OP_MAX_FORMALS; i++)
        pw_value_clear(&values[i]);
}

static pw_status evaluate(const struct pw_case_run *run, const struct pw_order *order, struct pw_value *out,
                          struct pw_error *err)
{
    const struct pw_case_inputs *inputs = &run->inputs;
    struct pw_value carried[PW_OP_MAX_FORMALS] = {0};
    const struct pw_value *in[PW_OP_MAX_FORMALS] = {0};
    pw_status status = PW_OK;

    for (int i = 0; i < inputs->count && status == PW_OK; i++)
        if (inputs->in[i]) {
            status = pw_eval_carry(&carried[i], inputs->in[i], PW_EVAL_GOLDEN, err);
            in[i] = &carried[i];
        }
    if (status == PW_OK)
        status = pw_eval_ordered(inputs->call.node, order, in, inputs->count, out, inputs->call.output_count, err);
    clear_all(carried);
    return status;
}

/* How many elements of all outputs are beyond the tolerance. */
static pw_status count_over(const struct pw_case_run *run, const struct pw_value *want, const struct pw_value *got,
                            int64_t *over, struct pw_error *err)
{
    pw_status status = PW_OK;

    *over = 0;
    for (int i = 0; i < run->inputs.call.output_count && status == PW_OK; i++) {
        struct pw_value rounded = {0};
        struct pw_comparison comparison;

        if (want[i].kind != PW_VALUE_TENSOR || got[i].kind != PW_VALUE_TENSOR ||
            !pw_judge_same_shape(&want[i].tensor, &got[i].tensor))
            continue;
        status = pw_eval_round(&rounded, &want[i], err);
        if (status == PW_OK)
            status = pw_compare(&got[i].tensor, &rounded.tensor, run->result.tolerance, run->floor, &comparison, err);
        if (status == PW_OK)
            *over += comparison.over;
        pw_value_clear(&rounded);
    }
    return status;
}

pw_status pw_judge_order(struct pw_case_run *run, const struct pw_value *got, struct pw_value *golden,
                         struct pw_error *err)
{
    struct pw_order order = run->order;
    int variants = order.kind == PW_ORDER_SEQUENTIAL ? 2 : 1;
    struct pw_value best[PW_OP_MAX_FORMALS] = {0}, made[PW_OP_MAX_FORMALS] = {0};
    int64_t least = INT64_MAX, over = 0;
    pw_status status = PW_OK;

    for (int v = 0; v < variants && least > 0 && status == PW_OK; v++) {
        order.fused = v > 0;
        status = evaluate(run, &order, made, err);
        if (status == PW_OK)
            status = count_over(run, made, got, &over, err);
        for (int i = 0; i < PW_OP_MAX_FORMALS; i++) {
            if (status != PW_OK || over >= least) {
                pw_value_clear(&made[i]);
            } else {
                pw_value_clear(&best[i]);
                best[i] = made[i];
            }
            made[i] = (struct pw_value){0};
        }
        least = over < least ? over : least;
    }
    for (int i = 0; i < PW_OP_MAX_FORMALS && status == PW_OK; i++)
        if (best[i].kind == PW_VALUE_TENSOR && golden[i].kind == PW_VALUE_TENSOR) {
            pw_value_clear(&golden[i]);
            golden[i] = best[i];
            best[i] = (struct pw_value){0};
        }
    clear_all(best);
    clear_all(made);
    return status;
}
