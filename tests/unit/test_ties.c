/* Ties: whose index is right where equal values may be chosen freely. Expected answers by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "op/cases.h"
#include "run/eval.h"
#include "verify/verify_internal.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_argmax), cmocka_unit_test(test_topk_takes_no_index_twice)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
