/* Allocation: overflow, alignment, the arena, growth, and the hook that fails the Nth allocation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/yaml.h"

static void products_that_overflow_are_refused(void **state)
{
    (void)state;
    assert_null(pw_calloc(SIZE_MAX / 2, 3));
    assert_null(pw_calloc(SIZE_MAX, 1));
    assert_null(pw_reallocarray(NULL, SIZE_MAX / 8 + 1, 8));
    assert_null(pw_alloc_aligned(SIZE_MAX));
    struct pw_arena arena = {0};
    assert_null(pw_arena_alloc(&arena, SIZE_MAX / 2, 4));
    pw_arena_clear(&arena);
}

static void nothing_still_gives_a_pointer(void **state)
{
    (void)state;
    void *a = pw_calloc(0, 8), *b = pw_calloc(8, 0), *c = pw_alloc_aligned(0);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    assert_ptr_not_equal(a, b);
    pw_free(a);
    pw_free(b);
    pw_free(c);
    pw_free(NULL);
}

static void aligned_is_aligned(void **state)
{
    (void)state;
    for (size_t size = 1; size < 300; size += 37) {
        void *p = pw_alloc_aligned(size);
        assert_int_equal((uintptr_t)p % 64, 0);
        memset(p, 0xFF, size);
        pw_free(p);
    }
}

static void arena_gives_zeroed_aligned_disjoint_memory(void **state)
{
    (void)state;
    struct pw_arena arena = {0};
    unsigned char *all[200];
    for (size_t i = 0; i < 200; i++) {
        size_t size = i % 50 == 49 ? (size_t)2 << 20 : i * 37 + 1;
        all[i] = pw_arena_alloc(&arena, size, 1);
        assert_non_null(all[i]);
        assert_int_equal((uintptr_t)all[i] % 16, 0);
        for (size_t j = 0; j < size; j++)
            assert_int_equal(all[i][j], 0);
        memset(all[i], (int)i, size);
    }
    for (size_t i = 0; i < 200; i++)
        assert_int_equal(all[i][0], i);
    assert_true(arena.used_bytes > (size_t)8 << 20);
    assert_string_equal(pw_arena_printf(&arena, "%d-%s", 12, "x"), "12-x");
    assert_string_equal(pw_arena_strndup(&arena, "hello", 3), "hel");
    assert_string_equal(pw_arena_strndup(&arena, "hi", 30), "hi");
    pw_arena_clear(&arena);
    assert_null(arena.head);
    assert_int_equal(arena.used_bytes, 0);
}

/* A scratch that is used over and over gives zeroed memory and does not grow; it knows what is its own. */
static void a_reset_arena_gives_zeroed_memory_again(void **state)
{
    static const size_t sizes[] = {24, 4000, 40, 300000, 16, 20000};
    struct pw_arena arena = {0};
    int elsewhere = 0;

    (void)state;
    pw_arena_reset(&arena);
    assert_null(arena.head);
    for (size_t round = 0; round < 30; round++) {
        unsigned char *some[6];

        for (size_t i = 0; i < 6; i++) {
            some[i] = pw_arena_alloc(&arena, sizes[(i + round) % 6], 1);
            for (size_t j = 0; j < sizes[(i + round) % 6]; j++)
                assert_int_equal(some[i][j], 0);
            memset(some[i], 0xa5, sizes[(i + round) % 6]);
        }
        for (size_t i = 0; i < 6; i++) {
            assert_true(pw_arena_holds(&arena, some[i]));
            assert_true(pw_arena_holds(&arena, some[i] + sizes[(i + round) % 6] - 1));
        }
        assert_false(pw_arena_holds(&arena, &elsewhere));
        assert_false(pw_arena_holds(&arena, NULL));
        pw_arena_reset(&arena);
        assert_int_equal(arena.used_bytes, 0);
        assert_false(pw_arena_holds(&arena, some[0]));
    }
    pw_arena_clear(&arena);
}

static void grow_keeps_the_items(void **state)
{
    (void)state;
    uint32_t *items = NULL;
    size_t cap = 0;
    struct pw_error err = {0};
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(PW_GROW(items, cap, i + 1, &err), PW_OK);
        assert_true(cap > i);
        items[i] = i;
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    assert_int_equal(PW_GROW(items, cap, SIZE_MAX / 2, &err), PW_ERR_NO_MEMORY);
    assert_int_equal(items[999], 999);
    pw_free(items);
}

#if defined(PW_FAIL_INJECTION)
static void the_nth_allocation_fails(void **state)
{
    (void)state;
    pw_mem_fail_at(2, 0);
    void *a = pw_calloc(1, 1), *b = pw_calloc(1, 1), *c = pw_calloc(1, 1);
    assert_non_null(a);
    assert_null(b);
    assert_non_null(c);
    assert_int_equal(pw_mem_count(), 3);
    pw_free(a);
    pw_free(c);
    pw_mem_fail_at(1, 1);
    assert_null(pw_alloc_aligned(1));
    assert_null(pw_reallocarray(NULL, 1, 1));
    assert_null(pw_strdup("x"));
    pw_mem_fail_at(0, 0);
}

/* A bit of everything that allocates. */
static pw_status work(struct pw_error *err)
{
    pw_status status = PW_OK;
    struct pw_arena arena = {0};
    struct pw_map map = {0};
    struct pw_buf buf = {0};
    struct pw_hasher hasher = {0};
    const struct pw_yaml *tree = NULL;
    char **names = NULL;
    size_t count = 0;
    const char text[] = "a: [1, 2, {b: c}]\nd: e\n";

    status = pw_yaml_parse(text, sizeof text - 1, "x.yaml", &arena, &tree, err);
    if (status != PW_OK)
        goto done;
    for (int i = 0; i < 40; i++) {
        buf.size = 0;
        pw_buf_printf(&buf, "key %d %0*d", i, 10 * i, i);
        if (buf.failed) {
            status = pw_error_memory(err, 1);
            goto done;
        }
        status = pw_map_put(&map, pw_buf_text(&buf), (size_t)i, err);
        if (status != PW_OK)
            goto done;
    }
    if (pw_hasher_init(&hasher) != 0) {
        status = pw_error_memory(err, 1);
        goto done;
    }
    pw_hasher_add(&hasher, text, sizeof text);
    pw_hasher_end(&hasher);
    status = pw_file_list("/", &names, &count, err);
done:
    pw_free(names);
    pw_arena_clear(&arena);
    pw_map_clear(&map);
    pw_buf_clear(&buf);
    return status;
}

static void every_failing_allocation_is_an_error_without_a_leak(void **state)
{
    (void)state;
    for (int sticky = 0; sticky < 2; sticky++) {
        uint64_t n = 1;
        for (;; n++) {
            struct pw_error err = {0};
            pw_mem_fail_at(n, sticky);
            pw_status status = work(&err);
            uint64_t used = pw_mem_count();
            pw_mem_fail_at(0, 0);
            if (status == PW_OK) {
                assert_true(used < n); /* the failing one was never reached */
                break;
            }
            assert_int_equal(status, PW_ERR_NO_MEMORY);
            assert_int_equal(err.status, PW_ERR_NO_MEMORY);
            assert_non_null(strstr(err.message, "out of memory"));
        }
        assert_true(n > 40);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_that_overflow_are_refused),
        cmocka_unit_test(nothing_still_gives_a_pointer),
        cmocka_unit_test(aligned_is_aligned),
        cmocka_unit_test(arena_gives_zeroed_aligned_disjoint_memory),
        cmocka_unit_test(a_reset_arena_gives_zeroed_memory_again),
        cmocka_unit_test(grow_keeps_the_items),
#if defined(PW_FAIL_INJECTION)
        cmocka_unit_test(the_nth_allocation_fails),
        cmocka_unit_test(every_failing_allocation_is_an_error_without_a_leak),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
