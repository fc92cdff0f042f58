/* Running a fuzzer's corpus, and mutations of it, in a test: what the tests test_fuzz_*.c share. */
#ifndef PW_TESTS_UNIT_FUZZ_REPLAY_H
#define PW_TESTS_UNIT_FUZZ_REPLAY_H

#define PW_FUZZ_REPLAY
#include "tests/fuzz/fuzz.h" /* first: GNU extensions of the system headers */

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/file.h"

#include "paths.h"

#define REPLAY_LARGEST (1 << 20)

struct replay {
    const char *name; /* of the corpus: tests/fuzz/corpus_NAME */
    fuzz_run *run;
    fuzz_mutate *mutate;
    size_t files;                 /* that it has at least */
    uint64_t bytes_changed, well; /* mutations of each file: of bytes, and those that keep the form */
};

/* Overwrites, cuts, doubles or swaps a few places, by the counter-based generator. */
static void replay_mutate(struct pw_buf *bytes, uint64_t seed)
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

/* A copy of exactly the right size, so that a sanitizer sees every byte read too far. */
static void replay_run(const struct replay *r, const struct pw_buf *bytes)
{
    uint8_t *exact = pw_calloc(bytes->size, 1);
    assert_non_null(exact);
    memcpy(exact, pw_buf_text(bytes), bytes->size);
    r->run(exact, bytes->size);
    pw_free(exact);
}

static void replay_file(const struct replay *r, const struct pw_buf *original, uint64_t number)
{
    replay_run(r, original);
    for (uint64_t i = 0; i < r->bytes_changed + r->well; i++) {
        struct pw_buf bytes = {0};
        if (i < r->bytes_changed) {
            pw_buf_append(&bytes, original->data, original->size);
            replay_mutate(&bytes, number * 1000 + i);
        } else {
            struct fuzz_draws draws = {number * 1000 + i, 0};
            struct pw_buf half = {0};
            r->mutate(&draws, (const uint8_t *)pw_buf_text(original), original->size, &half);
            r->mutate(&draws, (const uint8_t *)pw_buf_text(&half), half.size, &bytes);
            pw_buf_clear(&half);
        }
        replay_run(r, &bytes);
        pw_buf_clear(&bytes);
    }
}

static void replay(const struct replay *r)
{
    char folder[512];
    char **names = NULL;
    size_t count = 0;
    struct pw_error err = {0};

    snprintf(folder, sizeof folder, PW_SRCDIR "/tests/fuzz/corpus_%s", r->name);
    if (pw_file_list(folder, &names, &count, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_true(count >= r->files);
    for (size_t i = 0; i < count; i++) {
        struct pw_buf path = {0}, bytes = {0};
        pw_file_join(&path, folder, names[i]);
        if (pw_file_read(pw_buf_text(&path), REPLAY_LARGEST, &bytes, &err) != PW_OK)
            fail_msg("%s", err.message);
        replay_file(r, &bytes, i);
        pw_buf_clear(&bytes);
        pw_buf_clear(&path);
    }
    pw_free(names);
}

#endif
