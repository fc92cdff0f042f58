/* The map against a plain array; XXH3 against digests from the xxhash package of Python. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/random.h"

static void sum_values(void *user, const char *key, size_t key_size, size_t value)
{
    size_t *sum = user;
    assert_int_equal(key[key_size], '\0');
    *sum += value;
}

static void map_equals_an_array_under_random_use(void **state)
{
    (void)state;
    enum { KEYS = 300 };
    struct pw_map map = {0};
    struct pw_error err = {0};
    size_t values[KEYS] = {0};
    bool present[KEYS] = {false};
    size_t held = 0;
    for (uint64_t step = 0; step < 20000; step++) {
        size_t k = (size_t)pw_random_range(11, 0, step, 0, KEYS - 1);
        char key[32];
        int size = snprintf(key, sizeof key, "key/%zu", k);
        if (pw_random_u32(11, 1, step) % 3 != 0) {
            assert_int_equal(pw_map_set(&map, key, (size_t)size, step, &err), PW_OK);
            held += !present[k];
            present[k] = true;
            values[k] = step;
        } else {
            pw_map_remove(&map, key, (size_t)size);
            held -= present[k];
            present[k] = false;
        }
        assert_int_equal(map.count, held);
    }
    size_t sum = 0, expected = 0;
    for (size_t k = 0; k < KEYS; k++) {
        char key[32];
        snprintf(key, sizeof key, "key/%zu", k);
        size_t value = 12345678;
        assert_int_equal(pw_map_find(&map, key, &value), present[k]);
        assert_int_equal(value, present[k] ? values[k] : 12345678);
        expected += present[k] ? values[k] : 0;
    }
    pw_map_each(&map, sum_values, &sum);
    assert_int_equal(sum, expected);
    pw_map_clear(&map);
    assert_int_equal(map.count, 0);
    assert_false(pw_map_find(&map, "key/1", NULL));
}

static void keys_are_bytes_and_copied(void **state)
{
    (void)state;
    struct pw_map map = {0};
    struct pw_error err = {0};
    char key[3] = {'a', '\0', 'b'};
    size_t value = 0;
    assert_int_equal(pw_map_set(&map, key, 3, 7, &err), PW_OK);
    assert_int_equal(pw_map_set(&map, NULL, 0, 9, &err), PW_OK);
    key[2] = 'c';
    assert_false(pw_map_get(&map, key, 3, &value));
    assert_true(pw_map_get(&map, "a\0b", 3, &value));
    assert_int_equal(value, 7);
    assert_false(pw_map_find(&map, "a", &value));
    assert_true(pw_map_find(&map, "", &value));
    assert_int_equal(value, 9);
    pw_map_clear(&map);
}

static void equal_texts_are_kept_once_and_stay_where_they_are(void **state)
{
    (void)state;
    enum { TEXTS = 1000 };
    struct pw_map map = {0};
    const char *kept[TEXTS];
    char text[32];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < TEXTS; i++) { /* it grows on the way */
            int size = snprintf(text, sizeof text, "text %d and more", i);
            const char *copy = pw_map_keep(&map, text, (size_t)size);
            assert_non_null(copy);
            assert_ptr_not_equal(copy, text);
            if (round)
                assert_ptr_equal(copy, kept[i]);
            kept[i] = copy;
            assert_string_equal(copy, text);
        }
    assert_int_equal(map.count, TEXTS);
    assert_string_equal(pw_map_keep(&map, "text 7 and more", 6), "text 7"); /* so much of it, with an end of its own */
    size_t value = 5;
    assert_true(pw_map_find(&map, "text 7", &value));
    assert_int_equal(value, 0);
    assert_int_equal(pw_map_put(&map, "text 7", 3, NULL), PW_OK);
    assert_string_equal(pw_map_keep(&map, "text 7", 6), "text 7");
    assert_true(pw_map_find(&map, "text 7", &value));
    assert_int_equal(value, 3); /* keeping it again leaves its value */
    pw_map_clear(&map);
}

static void digests(void **state)
{
    (void)state;
    char text[PW_HASH_TEXT];
    assert_true(pw_hash64("portwright", 10, 7) == UINT64_C(0xb7d7d122ca7caf98));
    assert_string_equal(pw_hash_text(pw_hash128("portwright", 10), text), "0ef7f69a96dca05bf70751928e6b6ac9");
    assert_string_equal(pw_hash_text(pw_hash128(NULL, 0), text), "99aa06d3014798d86001c324468d497f");
    static unsigned char bytes[100000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i % 251);
    struct pw_hasher hasher = {0};
    assert_int_equal(pw_hasher_init(&hasher), 0);
    for (size_t at = 0, piece = 1; at < sizeof bytes; at += piece, piece = piece * 3 % 997 + 1) {
        if (piece > sizeof bytes - at)
            piece = sizeof bytes - at;
        pw_hasher_add(&hasher, bytes + at, piece);
    }
    assert_string_equal(pw_hash_text(pw_hasher_end(&hasher), text), "54182c58bbb1337c42c23aeead96750d");
    assert_null(hasher.state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(map_equals_an_array_under_random_use),
        cmocka_unit_test(keys_are_bytes_and_copied),
        cmocka_unit_test(equal_texts_are_kept_once_and_stay_where_they_are),
        cmocka_unit_test(digests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
