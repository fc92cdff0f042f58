/* The fuzzers' corpora and seeded mutations of them, through the fuzzers' own entries: the same bytes in every run.
 * Only a crash or a broken invariant fails, so this earns its keep under the sanitizers. */
#include "tests/unit/fuzz_replay.h"

#include "tests/fuzz/fuzz_baseline.c"
#include "tests/fuzz/fuzz_call.c"
#include "tests/fuzz/fuzz_case_id.c"
#include "tests/fuzz/fuzz_kept.c"
#include "tests/fuzz/fuzz_kernel.c"
#include "tests/fuzz/fuzz_lock.c"
#include "tests/fuzz/fuzz_log.c"
#include "tests/fuzz/fuzz_onnx.c"
#include "tests/fuzz/fuzz_options.c"
#include "tests/fuzz/fuzz_protocol.c"
#include "tests/fuzz/fuzz_query.c"
#include "tests/fuzz/fuzz_script.c"
#include "tests/fuzz/fuzz_store_file.c"
#include "tests/fuzz/fuzz_store_rows.c"
#include "tests/fuzz/fuzz_tensor.c"
#include "tests/fuzz/fuzz_triage.c"

static void test_onnx(void **state)
{
    (void)state;
    replay(&(struct replay){"onnx", fuzz_onnx, fuzz_onnx_mutate, 30, 100, 300});
}

static void test_store(void **state)
{
    (void)state;
    replay(&(struct replay){"store_rows", fuzz_store_rows, fuzz_store_rows_mutate, 9, 2, 6});
    replay(&(struct replay){"store_file", fuzz_store_file, fuzz_store_file_mutate, 4, 3, 12});
}

#define TEST(name)                                                                                                     \
    static void test_##name(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        replay(&(struct replay){#name, fuzz_##name, fuzz_##name##_mutate, 3, 30, 100});                                \
    }
TEST(baseline)
TEST(call)
TEST(case_id)
TEST(kept)
TEST(kernel)
TEST(lock)
TEST(log)
TEST(options)
TEST(protocol)
TEST(query)
TEST(script)
TEST(tensor)
TEST(triage)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_onnx),    cmocka_unit_test(test_baseline), cmocka_unit_test(test_call),
        cmocka_unit_test(test_case_id), cmocka_unit_test(test_lock),     cmocka_unit_test(test_log),
        cmocka_unit_test(test_options), cmocka_unit_test(test_protocol), cmocka_unit_test(test_tensor),
        cmocka_unit_test(test_triage),  cmocka_unit_test(test_kernel),   cmocka_unit_test(test_query),
        cmocka_unit_test(test_script),  cmocka_unit_test(test_store),    cmocka_unit_test(test_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
