/* The fuzzer's corpus and a few thousand seeded mutations of it, through the fuzzer's own entry. The same bytes
 * in every run; a crash is the only way to fail, so this earns its keep under the sanitizers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/random.h"
#define PW_FUZZ_REPLAY
#include "tests/fuzz/fuzz_onnx.c"

#include "paths.h"

#define CORPUS PW_SRCDIR "/tests/fuzz/corpus_onnx"
#define MUTATIONS 100       /* of each file, bytes at random */
#define FIELD_MUTATIONS 300 /* of each file, well-formed */
#define LARGEST (1 << 20)

static void load_file(const char *name, struct pw_buf *bytes)
{
    struct pw_buf path = {0};
    struct pw_error err = {0};
    pw_file_join(&path, CORPUS, name);
    if (pw_file_read(pw_buf_text(&path), LARGEST, bytes, &err) != PW_OK)
        fail_msg("%s", err.message);
    pw_buf_clear(&path);
}

/* Overwrites, cuts, doubles or swaps a few places, by the counter-based generator. */
static void mutate(struct pw_buf *bytes, uint64_t seed)
{
    uint64_t draw = 0;
    int64_t edits = pw_random_range(seed, 1, draw++, 1, 3);
    for (int64_t i = 0; i < edits && bytes->size > 1; i++) {
        int64_t last = (int64_t)bytes->size - 1;
        int64_t at = pw_random_range(seed, 1, draw++, 0, last), to = pw_random_range(seed, 1, draw++, 0, last);
        int64_t span = pw_random_range(seed, 1, draw++, 1, 16);
        static const char interesting[] = {0, 1, 0x7f, (char)0x80, (char)0xff, 0x0a, 0x12, 0x3a};
        if (at + span > last || to + span > last)
            span = 1;
        switch (pw_random_range(seed, 1, draw++, 0, 5)) {
        case 0:
            bytes->data[at] = (char)pw_random_range(seed, 1, draw++, 0, 255);
            break;
        case 1:
            bytes->data[at] = interesting[pw_random_range(seed, 1, draw++, 0, sizeof interesting - 1)];
            break;
        case 2:
            bytes->data[at] = (char)(bytes->data[at] ^ (1 << pw_random_range(seed, 1, draw++, 0, 7)));
            break;
        case 3:
            memmove(bytes->data + to, bytes->data + at, (size_t)span);
            break;
        case 4: /* removes */
            memmove(bytes->data + at, bytes->data + at + span, bytes->size - (size_t)(at + span));
            bytes->size -= (size_t)span;
            break;
        default:
            bytes->data[at] = (char)(bytes->data[at] + (at % 2 == 0 ? 1 : -1));
            break;
        }
    }
}

static void each_file(void (*visit)(const char *name, uint64_t number))
{
    char **names = NULL;
    size_t count = 0;
    struct pw_error err = {0};
    if (pw_file_list(CORPUS, &names, &count, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_true(count >= 30);
    for (size_t i = 0; i < count; i++)
        visit(names[i], i);
    pw_free(names);
}

static void run_plain(const char *name, uint64_t number)
{
    struct pw_buf bytes = {0};
    (void)number;
    load_file(name, &bytes);
    assert_true(bytes.size < 10240);
    LLVMFuzzerTestOneInput((const uint8_t *)bytes.data, bytes.size);
    pw_buf_clear(&bytes);
}

static void run_mutations(const char *name, uint64_t number)
{
    struct pw_buf original = {0};
    load_file(name, &original);
    for (uint64_t i = 0; i < MUTATIONS + FIELD_MUTATIONS; i++) {
        /* A copy of exactly the right size, so that a sanitizer sees every byte read too far. */
        struct pw_buf bytes = {0};
        uint8_t *exact;
        if (i < MUTATIONS) {
            pw_buf_append(&bytes, original.data, original.size);
            mutate(&bytes, number * 1000 + i);
        } else {
            struct wire_draws draws = {number * 1000 + i, 0};
            struct pw_buf half = {0};
            wire_mutate(&draws, (const uint8_t *)original.data, original.size, 0, &half);
            wire_mutate(&draws, (const uint8_t *)pw_buf_text(&half), half.size, 0, &bytes);
            pw_buf_clear(&half);
        }
        exact = pw_calloc(bytes.size, 1);
        assert_non_null(exact);
        memcpy(exact, pw_buf_text(&bytes), bytes.size);
        LLVMFuzzerTestOneInput(exact, bytes.size);
        pw_free(exact);
        pw_buf_clear(&bytes);
    }
    pw_buf_clear(&original);
}

static void test_corpus(void **state)
{
    (void)state;
    each_file(run_plain);
}

static void test_mutations(void **state)
{
    (void)state;
    each_file(run_mutations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_corpus), cmocka_unit_test(test_mutations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
