/*
 * What the harnesses share. A harness is a file tests/fuzz/fuzz_NAME.c with one static function over bytes, a mutator
 * where bytes at random would be refused at the door, and FUZZ_HARNESS at its end. Built by clang it is a libFuzzer
 * program; tests/unit/test_fuzz_*.c include the files to run each corpus, and seeded mutations of it, in `make check`.
 * A harness fails by a crash, a sanitizer's report, a hang, or fuzz_check: what must hold of whatever was read.
 */
#ifndef PW_TESTS_FUZZ_FUZZ_H
#define PW_TESTS_FUZZ_FUZZ_H

#include "base/compiler.h" /* first: GNU extensions of the system headers */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/text.h"

struct fuzz_draws { /* a counter-based stream of draws */
    uint64_t seed, next;
};

static inline int64_t fuzz_draw(struct fuzz_draws *draws, int64_t low, int64_t high)
{
    return pw_random_range(draws->seed, 11, draws->next++, low, high);
}

typedef void fuzz_run(const uint8_t *data, size_t size);
/* Appends a changed copy to out. */
typedef void fuzz_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, struct pw_buf *out);

/* Ends the program: an invariant does not hold. */
#define fuzz_check(condition)                                                                                          \
    ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition), abort()))

/* A regular file that holds the bytes; its path is good until the next call. */
static inline const char *fuzz_file(const void *data, size_t size)
{
    static int fd = -1;
    static char path[64];
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    fuzz_check(fd >= 0 && ftruncate(fd, 0) == 0 && (size == 0 || pwrite(fd, data, size, 0) == (ssize_t)size));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

/* The bytes as a text; a NUL ends it. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = pw_strndup((const char *)data, size);
    fuzz_check(text != NULL);
    return text;
}

/* libFuzzer's part; the replay calls run and mutate itself. */
#if defined(PW_FUZZING) && !defined(PW_FUZZ_REPLAY)
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One mutation in eight is libFuzzer's own, the others keep the form. */
static inline size_t fuzz_mutate_with(fuzz_mutate *mutate, uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    struct fuzz_draws draws = {seed, 0};
    struct pw_buf out = {0};
    if (!mutate || fuzz_draw(&draws, 0, 7) == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    mutate(&draws, data, size, &out);
    if (!out.failed && out.size > 0 && out.size <= max_size) {
        memcpy(data, out.data, out.size);
        size = out.size;
    }
    pw_buf_clear(&out);
    return size;
}

#define FUZZ_HARNESS(run, mutate)                                                                                      \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                                                       \
    {                                                                                                                  \
        run(data, size);                                                                                               \
        return 0;                                                                                                      \
    }                                                                                                                  \
    size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)                     \
    {                                                                                                                  \
        return fuzz_mutate_with(mutate, data, size, max_size, seed);                                                   \
    }
#else
#define FUZZ_HARNESS(run, mutate) _Static_assert(sizeof(run) > 0, "")
#endif

#endif
