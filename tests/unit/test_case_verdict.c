/* What single cases say of the liar, honest and faulty: properties, tolerances of delicate draws, evidence, shrinking.
 */
#include "tests/unit/case_site.h"

static void test_property_sees_a_wrong_sum(void **state)
{
    struct site s;
    struct found found;

    (void)state;
    open_site(&s, "Softmax-13 axis=-1 (float32[6,19])", NULL);
    found = run_case(&s, "f32:graph:normal/sum:1");
    assert_int_equal(found.last.verdict, PW_VERDICT_PASS);
    close_site(&s);
    open_site(&s, "Softmax-13 axis=-1 (float32[6,19])",
              "narrow_sum,strength=100"); /* a tolerance is 1e-5: sums of 0.999 */
    found = run_case(&s, "f32:graph:normal/sum:1");
    assert_int_equal(found.last.verdict, PW_VERDICT_FAIL);
    assert_non_null(strstr(found.reason, "property sum does not hold: a row sums to 1 with an error of 0.000"));
    close_site(&s);
}

/* Sums of 400 to 600 products reach 600, and bfloat16 holds integers up to 256: each side is rounded. What is lost
 * beyond that is still seen, to the bit where nothing had to be rounded. */
static void test_linear_in_narrow_dtypes(void **state)
{
    static const char *const calls[] = {
        "MatMul-13 (bfloat16[7,600], bfloat16[600,19])",
        "Gemm-13 alpha=0.75 beta=-1.25 (bfloat16[7,400], bfloat16[400,19], bfloat16[19])",
        "ReduceSum-13 keepdims=0 (float16[3,30000], int64[1] -1)", /* float16 holds them up to 2048 */
        "CumSum-14 (bfloat16[3,3000], int64[] 1)",
        "Conv-22 (bfloat16[1,60,9,9], bfloat16[5,60,3,3])",
    };
    struct pw_bitwise_rule rule = {.match = {.op = "MatMul"}};
    struct site s;

    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        open_site(&s, calls[i], NULL);
        for (int seed = 1; seed <= 4; seed++) {
            struct found found;
            char tail[64];

            snprintf(tail, sizeof tail, "%s:graph:exact/linear:%d", strstr(calls[i], "bf") ? "bf16" : "f16", seed);
            found = run_case(&s, tail);
            if (found.last.verdict != PW_VERDICT_PASS)
                fail_msg("%s: %s", calls[i], found.reason);
        }
        close_site(&s);
    }
    open_site(&s, calls[0], "lost_part");
    assert_int_equal(run_case(&s, "bf16:graph:exact/linear:1").last.verdict, PW_VERDICT_FAIL);
    s.protocol->bitwise.rules = &rule; /* a demand for bits makes no property of exact draws any laxer */
    s.protocol->bitwise.rule_count = 1;
    assert_true(run_case(&s, "bf16:graph:exact/linear:1").last.tolerance == 0);
    s.protocol->bitwise.rule_count = 0;
    close_site(&s);
}

/* One output in the negative tail of a GELU: the terms that cancel there are as large as the input, not as the output.
 * A wrong element among eight is seen all the same. */
static void test_few_outputs_in_a_tail(void **state)
{
    static const char *const calls[] = {"com.microsoft:BiasGelu-1 (float16[3,7,61], float16[61])",
                                        "com.microsoft:BiasGelu-1 (float64[3,7,61], float64[61])"};
    static const char *const tails[2][2] = {{"f16:i0=1x1x1,i1=1:uniform:30", "f16:i0=1x1x1,i1=1:uniform:50"},
                                            {"f64:i0=1x1x1,i1=1:uniform:39", "f64:i0=1x1x1,i1=1:uniform:43"}};
    struct site s;

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct found found;

        open_site(&s, calls[i / 2], NULL);
        found = run_case(&s, tails[i / 2][i % 2]);
        if (found.last.verdict != PW_VERDICT_PASS && found.last.verdict != PW_VERDICT_WARN)
            fail_msg("%s: %s", tails[i / 2][i % 2], found.reason);
        close_site(&s);
    }
    open_site(&s, "SoftmaxCrossEntropyLoss-13 (float32[3,5], int64[3])", NULL); /* log(1.00008) */
    for (int seed = 1; seed <= 8; seed++) {
        struct found found;
        char tail[64];

        snprintf(tail, sizeof tail, "f32:graph:wide:%d", seed);
        found = run_case(&s, tail);
        if (found.last.verdict != PW_VERDICT_PASS && found.last.verdict != PW_VERDICT_WARN)
            fail_msg("%s: %s", tail, found.reason);
    }
    close_site(&s);
    open_site(&s, calls[0], "one_element,strength=2");
    assert_int_equal(run_case(&s, "f16:i0=1x2x4,i1=4:normal:1").last.verdict, PW_VERDICT_FAIL);
    close_site(&s);
    /* Inputs up to 2^40, of which no term is left in outputs from 0 to 1. */
    open_site(&s, "HardSigmoid-22 (float32[3,7])", "constant");
    assert_int_equal(run_case(&s, "f32:i0=2x4:wide:1").last.verdict, PW_VERDICT_FAIL);
    close_site(&s);
}

/* Outputs are each rounded to their own dtype (a mean in float32 beside float64), and a normalization forgets a scale
 * that makes its epsilon nothing, in float64 too. */
static void test_dtypes_of_their_own(void **state)
{
    static const struct {
        const char *call, *tail;
    } all[] = {
        {"LayerNormalization-17 epsilon=0.001 (float64[3,7,61], float64[61], float64[61]) -> 3", "f64:graph:normal:1"},
        {"LayerNormalization-17 epsilon=0.001 (float64[3,7,61], float64[61], float64[61])", "f64:graph:normal/scale:1"},
        {"LayerNormalization-17 epsilon=0.001 (float16[3,7,61], float16[61], float16[61])", "f16:graph:normal/scale:1"},
        {"BatchNormalization-15 training_mode=1 (float64[2,3,4], float32[3], float32[3], float32[3], float32[3]) -> 3",
         "f64:graph:normal:1"},
    };
    struct site s;

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct found found;

        open_site(&s, all[i].call, NULL);
        found = run_case(&s, all[i].tail);
        if (found.last.verdict != PW_VERDICT_PASS)
            fail_msg("%s: %s", all[i].call, found.reason);
        close_site(&s);
    }
}

/* Sums of few elements that cancel: what the data itself amplifies is measured, by more than one perturbation. */
static void test_few_elements_that_cancel(void **state)
{
    static const char *const calls[] = {
        "ReduceMean-13 axes=[0,1,2] (float32[3,2,2])",
        "InstanceNormalization-6 epsilon=0.01 (float32[1,2,1,3], float32[2], float32[2])",
    };
    struct site s;

    (void)state;
    for (int i = 0; i < 2; i++) {
        open_site(&s, calls[i], NULL);
        for (int seed = 1; seed <= 12; seed++) {
            struct found found;
            char tail[64];

            snprintf(tail, sizeof tail, "f32:graph:%s:%d", i ? "cancel" : "special", i ? seed : 4 * seed + 2);
            found = run_case(&s, tail);
            if (found.last.verdict != PW_VERDICT_PASS && found.last.verdict != PW_VERDICT_WARN)
                fail_msg("%s %s: %s", calls[i], tail, found.reason);
        }
        close_site(&s);
    }
}

/* A format without infinities: false everywhere is right, and no reason for mistrust. Shapes that an operator refuses
 * are made up for by others. */
static void test_minimum_by_evidence(void **state)
{
    static const char *const calls[] = {"IsInf-20 (float8e4m3fn[3,7])",
                                        "MatMulInteger-10 (uint8[4,3], uint8[3,2], uint8[1], uint8[1])"};
    struct site s;

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct pw_verify_totals totals;
        struct pw_error err = {0};

        open_site(&s, calls[i], NULL);
        check(pw_verify_run(&s.request, &totals, &err), &err);
        assert_int_equal(totals.held, 1);
        assert_true(totals.passed >= PW_VERIFY_MIN_CASES);
        close_site(&s);
    }
}

static void test_shrinking(void **state)
{
    struct site s;
    struct found found;
    const struct pw_case_change *shape;
    struct pw_case_spec spec;
    struct pw_error err = {0};
    char id[17];

    (void)state;
    open_site(&s, "Softmax-13 axis=-1 (float32[6,19])", "large_only,strength=3"); /* fails above 1000 elements */
    found = run_case(&s, "f32:i0=25x129:normal:1");
    assert_int_equal(found.last.verdict, PW_VERDICT_FAIL);
    check(pw_case_id_parse(found.shrunk, id, &spec, &err), &err);
    shape = pw_case_change_of(&spec, PW_CHANGE_SHAPE, 0);
    assert_non_null(shape);
    assert_int_equal(shape->count, 2);
    assert_true(shape->values[0] * shape->values[1] > 1000);
    assert_true((shape->values[0] - 1) * shape->values[1] <= 1000); /* one less in either dim holds */
    assert_true(shape->values[0] * (shape->values[1] - 1) <= 1000);
    assert_int_equal(spec.dist, PW_DIST_EXACT);
    found = run_case(&s, found.shrunk + strlen("3:0123456789abcdef:"));
    assert_int_equal(found.last.verdict, PW_VERDICT_FAIL);
    s.request.effort.no_shrink = true;
    found = run_case(&s, "f32:i0=25x129:normal:1");
    assert_string_equal(found.shrunk, "");
    found = run_case(&s, "f32:i0=8x125:normal:1"); /* 1000 elements */
    assert_int_equal(found.last.verdict, PW_VERDICT_PASS);
    close_site(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_property_sees_a_wrong_sum),
        cmocka_unit_test(test_linear_in_narrow_dtypes),
        cmocka_unit_test(test_few_outputs_in_a_tail),
        cmocka_unit_test(test_dtypes_of_their_own),
        cmocka_unit_test(test_few_elements_that_cancel),
        cmocka_unit_test(test_minimum_by_evidence),
        cmocka_unit_test(test_shrinking),
    };

    if (argc > 1 && !strcmp(argv[1], "--worker"))
        return pw_worker_main(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
