/*
 * Sums in a given order, against bits worked out by hand: what a float16, bfloat16 or float32 loses depends on who is
 * added to whom. The references of the rooms take their sums through it: their answers on small cases are by hand too.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "op/cases.h"
#include "op/order.h"
#include "run/eval.h"

static double sum_of(const struct pw_order *order, const double *terms, size_t count)
{
    struct pw_order_sum sum = pw_order_begin(order, false);

    for (size_t i = 0; i < count; i++)
        pw_order_term(&sum, terms[i]);
    return pw_order_end(&sum);
}

static void test_the_order_decides(void **state)
{
    static const double half[] = {2048, 1, 1, 1};       /* above 2048 the step of float16 is 2, ties go to even */
    static const double single[] = {16777216, 0, 1, 1}; /* the same at 2^24 of float32 */
    static const double seven[] = {2048, 1, 1, 1, 1, 1, 1};
    struct pw_order sequential = {PW_ORDER_SEQUENTIAL, PW_DTYPE_FLOAT16, false, false};
    struct pw_order pairwise = {PW_ORDER_PAIRWISE, PW_DTYPE_FLOAT16, false, false};

    (void)state;
    assert_true(sum_of(&sequential, half, 4) == 2048);
    assert_true(sum_of(&pairwise, half, 4) == 2050);  /* (2048 + 1) + (1 + 1) */
    assert_true(sum_of(&pairwise, seven, 7) == 2052); /* (2048 + 2) + ((1 + 1) + 1) = 2053, a tie: to even */
    assert_true(sum_of(&pairwise, half, 3) == 2048);  /* (2048 + 1) + 1 */
    sequential.dtype = pairwise.dtype = PW_DTYPE_FLOAT32;
    assert_true(sum_of(&sequential, single, 4) == 16777216);
    assert_true(sum_of(&pairwise, single, 4) == 16777218);
    sequential.dtype = PW_DTYPE_BFLOAT16;                                       /* 8 bits: above 256 the step is 2 */
    assert_true(sum_of(&sequential, (const double[]){256, 1, 1, 3}, 4) == 260); /* 256, 256, 259 -> 260 */
    sequential.dtype = PW_DTYPE_FLOAT64;
    assert_true(sum_of(&sequential, single, 4) == 16777218);
    assert_true(sum_of(&sequential, NULL, 0) == 0);
}

static void test_a_product_is_rounded_or_not(void **state)
{
    /* (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: the last part is half a step of float32 and rounds away; minus 1. */
    double x = 1 + ldexp(1, -12), y = 1 + ldexp(1, -11);
    struct pw_order order = {PW_ORDER_SEQUENTIAL, PW_DTYPE_FLOAT32, false, false};
    struct pw_order_sum sum = pw_order_begin(&order, false);

    (void)state;
    pw_order_term(&sum, -1);
    pw_order_term_product(&sum, x, x);
    assert_true(pw_order_end(&sum) == y - 1);
    order.fused = true;
    sum = pw_order_begin(&order, false);
    pw_order_term(&sum, -1);
    pw_order_term_product(&sum, x, x);
    assert_true(pw_order_end(&sum) == y - 1 + ldexp(1, -24));
    /* float16: (1 + 2^-10)^2 = 1 + 2^-9 + 2^-20, and 2^-11 + 2^-20 more than a half step above 1 + 2^-9 rounds up. */
    order.dtype = PW_DTYPE_FLOAT16;
    x = 1 + ldexp(1, -10);
    assert_true(pw_order_multiply_add(&order, x, x, ldexp(1, -11)) == 1 + 3 * ldexp(1, -10));
    order.fused = false;
    assert_true(pw_order_multiply_add(&order, x, x, ldexp(1, -11)) == 1 + ldexp(1, -9)); /* a tie: to even */
    /* float32: 2^-70 below a tie, which a double of the sum does not hold: (1 + 2^-23) + 2^-24 (1 - 2^-46). */
    order.dtype = PW_DTYPE_FLOAT32;
    order.fused = true;
    assert_true(pw_order_multiply_add(&order, ldexp(1, -12) * (1 + ldexp(1, -23)), ldexp(1, -12) * (1 - ldexp(1, -23)),
                                      1 + ldexp(1, -23)) == 1 + ldexp(1, -23));
}

static void test_denormals_and_factors(void **state)
{
    struct pw_order order = {PW_ORDER_SEQUENTIAL, PW_DTYPE_FLOAT32, false, true};
    struct pw_order_sum product = pw_order_begin(&order, true);

    (void)state;
    assert_true(pw_order_add(&order, ldexp(1, -127), ldexp(1, -128)) == 0); /* a denormal, flushed */
    assert_true(pw_order_add(&order, ldexp(1, -126), 0) == ldexp(1, -126));
    order.flush = false;
    assert_true(pw_order_add(&order, ldexp(1, -127), ldexp(1, -128)) == ldexp(3, -128));
    assert_true(pw_order_end(&product) == 1);
    pw_order_term(&product, 3);
    pw_order_term(&product, 7);
    assert_true(pw_order_end(&product) == 21);
}

/* One node on the reference in an order; wants the output's elements, rounded to its dtype. */
static void gives(const char *call, const struct pw_order *order, const char *inputs[], const char *output)
{
    struct pw_room_case c = {.name = "order/case", .call = call, .outputs = {output}};
    const struct pw_value *in[PW_CASE_MAX_INPUTS] = {0};
    struct pw_value out[PW_OP_MAX_FORMALS] = {0}, rounded = {0}, carried[PW_CASE_MAX_INPUTS] = {0};
    struct pw_case_data data;
    struct pw_error err = {0};

    for (int i = 0; inputs[i]; i++)
        c.inputs[i] = inputs[i];
    if (pw_case_parse(&c, &data, &err) != PW_OK)
        fail_msg("%s: %s", call, err.message);
    for (size_t i = 0; i < data.node->input_count; i++)
        if (data.inputs[i].kind != PW_VALUE_NONE) {
            assert_int_equal(pw_eval_carry(&carried[i], &data.inputs[i], PW_EVAL_GOLDEN, &err), PW_OK);
            in[i] = &carried[i];
        }
    if (pw_eval_ordered(data.node, order, in, (int)data.node->input_count, out, (int)data.node->output_count, &err) !=
        PW_OK)
        fail_msg("%s: %s", call, err.message);
    assert_int_equal(pw_eval_round(&rounded, &out[0], &err), PW_OK);
    assert_int_equal(rounded.tensor.count, data.outputs[0].tensor.count);
    for (int64_t i = 0; i < rounded.tensor.count; i++)
        if (pw_tensor_get(&rounded.tensor, i) != pw_tensor_get(&data.outputs[0].tensor, i))
            fail_msg("%s: element %d is %.9g, expected %.9g", call, (int)i, pw_tensor_get(&rounded.tensor, i),
                     pw_tensor_get(&data.outputs[0].tensor, i));
    pw_value_clear(&rounded);
    for (size_t i = 0; i < PW_OP_MAX_FORMALS; i++)
        pw_value_clear(&out[i]);
    for (size_t i = 0; i < PW_CASE_MAX_INPUTS; i++)
        pw_value_clear(&carried[i]);
    pw_case_clear(&data);
}

#define GIVES(call, order, output, ...) gives(call, order, (const char *[]){__VA_ARGS__, NULL}, output)

static void test_references_by_hand(void **state)
{
    const struct pw_order sequential = {PW_ORDER_SEQUENTIAL, PW_DTYPE_FLOAT16, false, false};
    const struct pw_order pairwise = {PW_ORDER_PAIRWISE, PW_DTYPE_FLOAT16, false, false};
    const struct pw_order wide = {PW_ORDER_SEQUENTIAL, PW_DTYPE_FLOAT32, false, false};
    const char *row = "float16[1,4] 2048 1 1 1", *ones = "float16[4,1] 1";

    (void)state;
    GIVES("MatMul-13", &sequential, "float16[1,1] 2048", row, ones);
    GIVES("MatMul-13", &pairwise, "float16[1,1] 2050", row, ones);
    GIVES("MatMul-13", &wide, "float16[1,1] 2052", row, ones); /* 2051 is rounded once, at the end */
    GIVES("Gemm-13 alpha=2.0 beta=0.5", &wide, "float16[1,1] 15.5", "float16[1,2] 3 4", "float16[2,1] 1",
          "float16[1] 3");
    GIVES("Gemm-13 transB=1", &sequential, "float16[1,1] 2052", row, "float16[1,4] 1", "float16[1] 3"); /* 2048 + 3 */
    GIVES("ReduceSum-13", &sequential, "float16[1,1] 2048", row, "int64[1] 1");
    GIVES("ReduceMean-13 axes=[1]", &sequential, "float16[1,1] 512", row);
    GIVES("ReduceMean-13 axes=[1]", &pairwise, "float16[1,1] 512.5", row);
    GIVES("ReduceSumSquare-13 axes=[1]", &sequential, "float16[1,1] 2116", "float16[1,4] 46 1 1 1");
    GIVES("ReduceSumSquare-13 axes=[1]", &pairwise, "float16[1,1] 2118", "float16[1,4] 46 1 1 1");
    GIVES("ReduceL1-13 axes=[1]", &pairwise, "float16[1,1] 2050", "float16[1,4] -2048 1 -1 1");
    GIVES("ReduceL2-13 axes=[1]", &wide, "float16[1,1] 5", "float16[1,2] 3 -4");
    GIVES("ReduceProd-13 axes=[1]", &sequential, "float16[1,1] inf", "float16[1,4] 256 0.5 512 0.5");
    GIVES("ReduceProd-13 axes=[1]", &pairwise, "float16[1,1] 32768", "float16[1,4] 256 0.5 512 0.5");
    GIVES("Softmax-13", &sequential, "float16[1,4096] 0.00048828125", "float16[1,4096] 0"); /* the sum stays at 2048 */
    GIVES("Softmax-13", &pairwise, "float16[1,4096] 0.000244140625", "float16[1,4096] 0");
    GIVES("Conv-11", &sequential, "float16[1,1,1,1] 2048", "float16[1,1,1,4] 2048 1 1 1", "float16[1,1,1,4] 1",
          "float16[1] 1");
    GIVES("Conv-11", &pairwise, "float16[1,1,1,1] 2052", "float16[1,1,1,4] 2048 1 1 1", "float16[1,1,1,4] 1",
          "float16[1] 1"); /* 2050 + 1, a tie */
    /* The padding is a term: (0 + 2048) + (1 + 1). */
    GIVES("Conv-11 pads=[0,1,0,0]", &pairwise, "float16[1,1,1,1] 2050", "float16[1,1,1,3] 2048 1 1",
          "float16[1,1,1,4] 1");
    /* Worked out with numpy's float16, one operation after the other. */
    GIVES("LayerNormalization-17 epsilon=1.0", &sequential,
          "float16[1,4] 4.4609375 -0.1513671875 -0.1513671875 -0.1513671875", "float16[1,4] 64 0.03125 0.03125 0.03125",
          "float16[4] 2", "float16[4] 1");
    GIVES("LayerNormalization-17 epsilon=1.0", &pairwise, "float16[1,4] 4.4609375 -0.15234375 -0.15234375 -0.15234375",
          "float16[1,4] 64 0.03125 0.03125 0.03125", "float16[4] 2", "float16[4] 1");
}

/* float32 tensors whose sums are kept in a narrower dtype: what is shifted by the maximum has been rounded to it too.
 * Worked out with numpy, each step in double and then rounded to float16 or bfloat16. */
static void test_narrower_than_the_tensor(void **state)
{
    const struct pw_order half = {PW_ORDER_SEQUENTIAL, PW_DTYPE_FLOAT16, false, false};
    const struct pw_order tree = {PW_ORDER_PAIRWISE, PW_DTYPE_FLOAT16, false, false};
    const struct pw_order brain = {PW_ORDER_SEQUENTIAL, PW_DTYPE_BFLOAT16, false, false};
    const char *large = "float32[1,2] 2049 2048.5"; /* both are 2048 in float16 */
    const char *row = "float32[1,4] 10.0049 9.9951 8.0037 2.00073", *small = "float32[1,4] 1.3 0.7 -0.2 0.45";

    (void)state;
    GIVES("Softmax-13", &half, "float32[1,2] 0.5", large);
    GIVES("LogSoftmax-13", &half, "float32[1,2] -0.693359375", large);
    GIVES("ReduceLogSumExp-13 axes=[1]", &half, "float32[1,1] 2048", large);
    GIVES("Softmax-13", &half, "float32[1,4] 0.471923828125 0.464599609375 0.0633544921875 0.0001571178436279297", row);
    GIVES("Softmax-13", &tree, "float32[1,4] 0.471923828125 0.464599609375 0.0633544921875 0.0001571178436279297", row);
    GIVES("LogSoftmax-13", &half, "float32[1,4] -0.7509765625 -0.7666015625 -2.7578125 -8.7578125", row);
    GIVES("ReduceLogSumExp-13 axes=[1]", &half, "float32[1,1] 10.7578125", row);
    GIVES("Softmax-13", &brain, "float32[1,4] 0.466796875 0.466796875 0.0634765625 0.000156402587890625", row);
    GIVES("LogSoftmax-13", &brain, "float32[1,4] -0.76171875 -0.76171875 -2.765625 -8.75", row);
    GIVES("ReduceLogSumExp-13 axes=[1]", &brain, "float32[1,1] 10.75", row);
    GIVES("Softmax-13", &brain, "float32[1,4] 0.45703125 0.251953125 0.1015625 0.1953125", small);
    GIVES("LogSoftmax-13", &brain, "float32[1,4] -0.78125 -1.375 -2.28125 -1.625", small);
    GIVES("ReduceLogSumExp-13 axes=[1]", &brain, "float32[1,1] 2.078125", small);
}

static void test_what_has_no_order(void **state)
{
    (void)state;
    assert_null(pw_op_find("", "Relu", 14, NULL)->ordered);
    assert_null(pw_op_find("", "ReduceMax", 13, NULL)->ordered);
    assert_null(pw_op_find("", "Hardmax", 13, NULL)->ordered);
    assert_non_null(pw_op_find("", "RMSNormalization", 23, NULL)->ordered);
    assert_string_equal(pw_op_find("", "Softmax", 13, NULL)->ordered_functions, "exp divide");
    assert_null(pw_op_find("", "MatMul", 13, NULL)->ordered_functions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_order_decides),        cmocka_unit_test(test_a_product_is_rounded_or_not),
        cmocka_unit_test(test_denormals_and_factors),    cmocka_unit_test(test_references_by_hand),
        cmocka_unit_test(test_narrower_than_the_tensor), cmocka_unit_test(test_what_has_no_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
