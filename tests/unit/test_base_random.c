/* Philox against the known answers that Random123 publishes (kat_vectors, philox4x32 10), and the draws. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/random.h"

struct known_answer {
    uint32_t counter[4], key[2], words[4];
};

static const struct known_answer known_answers[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

static uint64_t join(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

static void philox_equals_the_published_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known_answers / sizeof known_answers[0]; i++) {
        const struct known_answer *k = &known_answers[i];
        uint32_t words[4];
        pw_philox(join(k->key[0], k->key[1]), join(k->counter[2], k->counter[3]), join(k->counter[0], k->counter[1]),
                  words);
        assert_memory_equal(words, k->words, sizeof words);
    }
}

static void element_i_is_word_i_of_the_blocks(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 10; i++) {
        uint32_t words[4];
        pw_philox(77, 5, i / 4, words);
        assert_int_equal(pw_random_u32(77, 5, i), words[i % 4]);
        assert_true(pw_random_unit(77, 5, i) == (float)(words[i % 4] >> 8) / 16777216.0f);
    }
    assert_int_not_equal(pw_random_u32(77, 5, 0), pw_random_u32(77, 6, 0));
    assert_int_not_equal(pw_random_u32(77, 5, 0), pw_random_u32(78, 5, 0));
}

static void unit_is_uniform_below_one(void **state)
{
    (void)state;
    enum { N = 100000 };
    double sum = 0, squares = 0;
    for (int i = 0; i < N; i++) {
        float x = pw_random_unit(1, 2, (uint64_t)i);
        assert_true(x >= 0.0f && x < 1.0f);
        sum += x;
        squares += (double)x * x;
    }
    /* Five standard errors: sqrt(1/12/N), and sqrt(4/45/N) for the square. */
    assert_true(fabs(sum / N - 0.5) < 5 * sqrt(1.0 / 12 / N));
    assert_true(fabs(squares / N - 1.0 / 3) < 5 * sqrt(4.0 / 45 / N));
}

static void normal_has_the_moments_of_a_normal(void **state)
{
    (void)state;
    enum { N = 100000 };
    double sum = 0, squares = 0, fourth = 0;
    int beyond_two = 0;
    for (int i = 0; i < N; i++) {
        double x = pw_random_normal(3, 4, (uint64_t)i);
        assert_true(isfinite(x));
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
        beyond_two += fabs(x) > 2;
    }
    assert_true(fabs(sum / N) < 5 * sqrt(1.0 / N));
    assert_true(fabs(squares / N - 1) < 5 * sqrt(2.0 / N));
    assert_true(fabs(fourth / N - 3) < 5 * sqrt(96.0 / N));
    assert_true(fabs((double)beyond_two / N - 0.0455) < 5 * sqrt(0.0455 * 0.9545 / N));
}

static void range_reaches_both_ends_and_no_further(void **state)
{
    (void)state;
    int seen[5] = {0};
    for (uint64_t i = 0; i < 5000; i++) {
        int64_t x = pw_random_range(9, 0, i, -2, 2);
        assert_true(x >= -2 && x <= 2);
        seen[x + 2]++;
    }
    for (int i = 0; i < 5; i++)
        assert_true(seen[i] > 800 && seen[i] < 1200); /* 1000 expected, deviation 28 */
    assert_int_equal(pw_random_range(9, 0, 0, 7, 7), 7);
    assert_int_equal(pw_random_range(9, 0, 0, 7, 3), 7);
    int negative = 0;
    for (uint64_t i = 0; i < 1000; i++)
        negative += pw_random_range(9, 0, i, INT64_MIN, INT64_MAX) < 0;
    assert_true(negative > 400 && negative < 600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_equals_the_published_vectors),
        cmocka_unit_test(element_i_is_word_i_of_the_blocks),
        cmocka_unit_test(unit_is_uniform_below_one),
        cmocka_unit_test(normal_has_the_moments_of_a_normal),
        cmocka_unit_test(range_reaches_both_ends_and_no_further),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
