/* Ties: whose index is right where equal values may be chosen freely. Expected answers by hand. */
#include "tests/unit/case_site.h"

#include "run/eval.h"

/* Which of golden's indices become the target's. */
static void takes(const char *call_text, const char *x_text, const char *got_text, const char *golden_text,
                  const char *expected_text)
{
    struct pw_room_case c = {.name = "ties/case", .call = call_text, .inputs = {x_text}};
    struct pw_case_data data;
    struct pw_call call = {0};
    struct pw_value got = {0}, golden = {0}, expected = {0};
    struct pw_error err = {0};

    if (strstr(call_text, "TopK"))
        c.inputs[1] = "int64[1] 2";
    if (pw_case_parse(&c, &data, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(pw_tensor_parse(got_text, &got, &err), PW_OK);
    assert_int_equal(pw_tensor_parse(golden_text, &golden, &err), PW_OK);
    assert_int_equal(pw_tensor_parse(expected_text, &expected, &err), PW_OK);
    call.op = data.node->op;
    call.node = data.node;
    assert_int_equal(pw_judge_take_ties(&call, &data.inputs[0].tensor, &got.tensor, &golden.tensor, &err), PW_OK);
    for (int64_t i = 0; i < expected.tensor.count; i++)
        assert_int_equal(pw_tensor_get_int(&golden.tensor, i), pw_tensor_get_int(&expected.tensor, i));
    pw_value_clear(&got);
    pw_value_clear(&golden);
    pw_value_clear(&expected);
    pw_case_clear(&data);
}

static void test_argmax(void **state)
{
    const char *x = "float32[2,4] 7 3 7 1 5 9 2 9";

    (void)state;
    takes("ArgMax-13 axis=1", x, "int64[2,1] 2 3", "int64[2,1] 0 1", "int64[2,1] 2 3");
    takes("ArgMax-13 axis=1", x, "int64[2,1] 1 1", "int64[2,1] 0 1", "int64[2,1] 0 1");  /* 3 is not 7 */
    takes("ArgMax-13 axis=1", x, "int64[2,1] -2 4", "int64[2,1] 0 1", "int64[2,1] 0 1"); /* no index */
    takes("ArgMin-13 axis=0 keepdims=0", "float32[2,2] 1 4 1 2", "int64[2] 1 0", "int64[2] 0 1", "int64[2] 1 1");
    takes("ArgMax-13 axis=1", "float32[1,3] nan 1 nan", "int64[1,1] 2", "int64[1,1] 0", "int64[1,1] 2");
}

static void test_topk_takes_no_index_twice(void **state)
{
    const char *x = "float32[1,4] 7 3 7 1";

    (void)state;
    takes("TopK-11", x, "int64[1,2] 2 0", "int64[1,2] 0 2", "int64[1,2] 2 0");
    takes("TopK-11", x, "int64[1,2] 2 2", "int64[1,2] 0 2", "int64[1,2] 2 -1"); /* 2 twice */
    takes("TopK-11", x, "int64[1,2] 0 0", "int64[1,2] 0 2", "int64[1,2] 0 2");  /* so 0 twice differs from golden */
    takes("TopK-11", "float32[2,4] 7 3 7 1 5 2 5 2", "int64[2,2] 2 0 2 0", "int64[2,2] 0 2 0 2",
          "int64[2,2] 2 0 2 0"); /* each row by itself */
}

#define LONG 100003 /* more than 16 bits, and no multiple of anything */
#define KEPT 50000

static void make(struct pw_tensor *t, pw_dtype dtype, int64_t rows, int64_t length)
{
    struct pw_error err = {0};

    check(pw_tensor_init(t, dtype, 2, (const int64_t[]){rows, length}, &err), &err);
}

/* Of these calls only the operator and its attributes count. */
static void take(const char *call_text, const struct pw_tensor *x, const struct pw_tensor *got, struct pw_tensor *want)
{
    struct pw_room_case c = {.name = "ties/case", .call = call_text, .inputs = {"float32[2,4] 0", "int64[1] 2"}};
    struct pw_case_data data;
    struct pw_call call = {0};
    struct pw_error err = {0};

    if (!strstr(call_text, "TopK"))
        c.inputs[1] = NULL;
    check(pw_case_parse(&c, &data, &err), &err);
    call.op = data.node->op;
    call.node = data.node;
    check(pw_judge_take_ties(&call, x, got, want, &err), &err);
    pw_case_clear(&data);
}

static void test_argmax_of_long_rows(void **state)
{
    /* row 0: 7 at 0 and 99999; row 1: 7 at 3 and 65537 */
    static const int64_t peaks[][2] = {{0, 0}, {0, 99999}, {1, 3}, {1, 65537}};
    static const struct {
        int64_t got[2], want[2];
    } all[] = {{{99999, 65537}, {99999, 65537}},
               {{99998, 65536}, {0, 3}},     /* beside the peaks */
               {{99999 - 65536, 1}, {0, 3}}, /* what 16 bits would make of the peaks */
               {{LONG, -1}, {0, 3}}};
    struct pw_tensor x = {0};

    (void)state;
    make(&x, PW_DTYPE_FLOAT32, 2, LONG);
    for (int i = 0; i < 4; i++)
        pw_tensor_set(&x, peaks[i][0] * LONG + peaks[i][1], 7);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct pw_tensor got = {0}, want = {0};

        make(&got, PW_DTYPE_INT64, 2, 1);
        make(&want, PW_DTYPE_INT64, 2, 1);
        pw_tensor_set_int(&want, 1, 3);
        pw_tensor_set_int(&got, 0, all[i].got[0]);
        pw_tensor_set_int(&got, 1, all[i].got[1]);
        take("ArgMax-13 axis=1", &x, &got, &want);
        assert_int_equal(pw_tensor_get_int(&want, 0), all[i].want[0]);
        assert_int_equal(pw_tensor_get_int(&want, 1), all[i].want[1]);
        pw_tensor_clear(&got);
        pw_tensor_clear(&want);
    }
    pw_tensor_clear(&x);
}

/* Two rows of equals: golden takes 0, 1, 2…, the target their last ones, backwards. */
static void test_topk_of_long_rows(void **state)
{
    struct pw_tensor x = {0}, got = {0}, want = {0};

    (void)state;
    make(&x, PW_DTYPE_FLOAT32, 2, LONG);
    make(&got, PW_DTYPE_INT64, 2, KEPT);
    make(&want, PW_DTYPE_INT64, 2, KEPT);
    for (int64_t i = 0; i < got.count; i++) {
        pw_tensor_set_int(&got, i, LONG - 1 - i % KEPT);
        pw_tensor_set_int(&want, i, i % KEPT);
    }
    pw_tensor_set_int(&got, KEPT - 1, LONG - 1);     /* row 0: its first once more, at its end */
    pw_tensor_set_int(&got, KEPT, KEPT - 1);         /* row 1: golden's last at its beginning… */
    pw_tensor_set_int(&got, 2 * KEPT - 1, KEPT - 1); /* … and at its end */
    take("TopK-11", &x, &got, &want);
    for (int64_t i = 0; i < want.count; i++) {
        int64_t expected = i == KEPT - 1 ? KEPT - 1 : i == 2 * KEPT - 1 ? -1 : pw_tensor_get_int(&got, i);

        if (pw_tensor_get_int(&want, i) != expected)
            fail_msg("place %d: %d, expected %d", (int)i, (int)pw_tensor_get_int(&want, i), (int)expected);
    }
    pw_tensor_clear(&x);
    pw_tensor_clear(&got);
    pw_tensor_clear(&want);
}

/* Through a case: a chip of which the last of equals wins fails, unless the protocol lets it choose; one that is wrong
 * in another way fails all the same. `exact` draws few numbers, so that a long row is full of ties. */
static void test_cases_of_long_rows(void **state)
{
    static const struct {
        const char *call, *tail;
    } all[] = {{"ArgMax-13 axis=1 (float32[2,31])", "f32:i0=2x70001:exact:1"},
               {"TopK-11 (float32[2,20011], int64[1] 3000)", "f32:graph:exact:1"}};
    struct site s;

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        open_site(&s, all[i].call, "tie");
        s.request.effort.no_shrink = true;
        assert_int_equal(run_case(&s, all[i].tail).last.verdict, PW_VERDICT_FAIL);
        s.protocol->bitwise.ties = false;
        assert_int_equal(run_case(&s, all[i].tail).last.verdict, PW_VERDICT_PASS);
        close_site(&s);
        open_site(&s, all[i].call, "constant");
        s.request.effort.no_shrink = true;
        s.protocol->bitwise.ties = false;
        assert_int_equal(run_case(&s, all[i].tail).last.verdict, PW_VERDICT_FAIL);
        close_site(&s);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_argmax),
        cmocka_unit_test(test_topk_takes_no_index_twice),
        cmocka_unit_test(test_argmax_of_long_rows),
        cmocka_unit_test(test_topk_of_long_rows),
        cmocka_unit_test(test_cases_of_long_rows),
    };

    if (argc > 1 && !strcmp(argv[1], "--worker"))
        return pw_worker_main(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
