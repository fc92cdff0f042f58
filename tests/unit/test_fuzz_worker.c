/* The corpus of worker replies, and mutations of it: a program of its own, since the harness takes the place of
 * target/spawn.c. */
#include "tests/unit/fuzz_replay.h"

#include "tests/fuzz/fuzz_worker.c"

static void test_worker(void **state)
{
    (void)state;
    replay(&(struct replay){"worker", fuzz_worker, fuzz_worker_mutate, 10, 3, 10});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_worker)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
