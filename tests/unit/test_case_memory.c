/* The memory that cases share: who asks for more than is left waits for what others give back, but not for ever. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "verify/memory.h"

enum { LIMIT = 1000, THREADS = 4, ROUNDS = 2000, LONG_MS = 60000 };

static void test_need(void **state)
{
    struct pw_info x = {.kind = PW_VALUE_TENSOR, .dtype = PW_DTYPE_FLOAT32, .rank = 2, .dims = {3, 5}},
                   huge = {.kind = PW_VALUE_TENSOR, .dtype = PW_DTYPE_FLOAT32, .rank = 2, .dims = {1 << 30, 1 << 30}},
                   out = {.kind = PW_VALUE_TENSOR, .dtype = PW_DTYPE_FLOAT32, .rank = 1, .dims = {7}};
    const struct pw_info *in[] = {&x, NULL};
    const bool wanted[] = {true};
    struct pw_call call = {.input_count = 2, .in = in, .output_count = 1, .out = &out, .wanted = wanted};

    (void)state;
    assert_int_equal(pw_dims_create(&call.dims, NULL), PW_OK);
    assert_int_equal(pw_case_memory_need(&call), 15 * 12 + 7 * 20);
    in[1] = &huge; /* a product that no integer holds is no small one */
    assert_int_equal(pw_case_memory_need(&call), INT64_MAX);
    in[0] = &huge;
    in[1] = &x;
    assert_int_equal(pw_case_memory_need(&call), INT64_MAX);
    pw_dims_destroy(call.dims);
}

static void test_one_thread(void **state)
{
    struct pw_case_memory memory;
    int64_t begin;

    (void)state;
    assert_int_equal(pw_case_memory_take(NULL, 5, LONG_MS), 0);
    pw_case_memory_give(NULL, 5);
    pw_case_memory_init(&memory, LIMIT);
    assert_int_equal(pw_case_memory_take(&memory, LIMIT, LONG_MS), LIMIT);
    assert_int_equal(pw_case_memory_take(&memory, LIMIT + 1, LONG_MS), 0); /* the graph's own */
    begin = pw_clock_ns();
    assert_int_equal(pw_case_memory_take(&memory, 1, 30), 1); /* nobody gives back: it goes on all the same */
    assert_true(pw_clock_ns() - begin >= 30 * 1000000);
    assert_int_equal(memory.used_bytes, LIMIT + 1);
    pw_case_memory_give(&memory, LIMIT);
    pw_case_memory_give(&memory, 0);
    pw_case_memory_give(&memory, 1);
    assert_int_equal(memory.used_bytes, 0);
    pw_case_memory_clear(&memory);
}

struct crowd {
    struct pw_case_memory memory;
    _Atomic int64_t held, most;
};

static void *work(void *user)
{
    struct crowd *crowd = user;

    for (int i = 0; i < ROUNDS; i++) {
        int64_t bytes = 1 + (i * 37) % LIMIT, taken = pw_case_memory_take(&crowd->memory, bytes, LONG_MS);
        int64_t now = crowd->held += taken, most = crowd->most;

        while (now > most && !atomic_compare_exchange_weak(&crowd->most, &most, now))
            ;
        crowd->held -= taken;
        pw_case_memory_give(&crowd->memory, taken);
    }
    return NULL;
}

static void test_many_threads(void **state)
{
    struct crowd crowd = {.held = 0};
    pthread_t threads[THREADS];

    (void)state;
    pw_case_memory_init(&crowd.memory, LIMIT);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &crowd), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_in_range(crowd.most, 1, LIMIT);
    assert_int_equal(crowd.memory.used_bytes, 0);
    pw_case_memory_clear(&crowd.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_need),
        cmocka_unit_test(test_one_thread),
        cmocka_unit_test(test_many_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
