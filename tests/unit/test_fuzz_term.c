/* The corpus of a terminal's bytes, and mutations of it: a program of its own, since the harness takes the place of
 * stdin, stdout and kill. */
#include "tests/unit/fuzz_replay.h"

#include "tests/fuzz/fuzz_term.c"

static void test_term(void **state)
{
    (void)state;
    replay(&(struct replay){"term", fuzz_term, fuzz_term_mutate, 4, 5, 20});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_term)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
