/*
 * Every built-in kernel on Oclgrind: no access out of bounds, no data race, no read of what was never written, no
 * divergent barrier. And the sanitizer itself on kernels that do each of these.
 *
 *   test_sanitize [PART]     only kernels, or operators that they serve, whose name has PART in it
 *   PW_SANITIZE_ALL=1        every case that is small enough and not a choice of them; so also in CI
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/device.h"
#include "verify/sanitize.h"

static const char *part;

struct heard {
    size_t count;
    size_t kinds[PW_FINDING_COUNT];
    struct {
        char kernel[64], entry[64], file[64];
        pw_finding_kind kind;
        int line;
    } all[64];
};

static void hear(void *user, const struct pw_finding *f)
{
    struct heard *heard = user;
    print_message("%s: %s by %s, %s:%d (%s, as a %s): %s\n", pw_finding_name(f->kind), f->kernel, f->entry, f->file,
                  f->line, f->case_name, f->shape, f->text);
    heard->kinds[f->kind]++;
    if (heard->count == sizeof heard->all / sizeof *heard->all)
        return;
    size_t i = heard->count++;
    snprintf(heard->all[i].kernel, sizeof heard->all[i].kernel, "%s", f->kernel);
    snprintf(heard->all[i].entry, sizeof heard->all[i].entry, "%s", f->entry);
    snprintf(heard->all[i].file, sizeof heard->all[i].file, "%s", f->file);
    heard->all[i].kind = f->kind;
    heard->all[i].line = f->line;
}

static void name_it(void *user, const struct pw_kernel *kernel)
{
    (void)user;
    print_message("no case is small enough for %s\n", pw_kernel_name(kernel));
}

static void sanitize(const char *dir, const char *only, struct pw_sanitize_totals *totals, struct heard *heard)
{
    struct pw_kernels *kernels = NULL;
    struct pw_error err = {0};
    const struct pw_ops_dir dirs = {.path = dir};
    memset(heard, 0, sizeof *heard);
    if (pw_kernels_load(&dirs, 1, &kernels, &err) != PW_OK)
        fail_msg("%s", err.message);
    struct pw_sanitize_request request = {.kernels = kernels,
                                          .part = only,
                                          .thorough = getenv("PW_SANITIZE_ALL") || getenv("CI"),
                                          .found = hear,
                                          .without = name_it,
                                          .user = heard};
    if (pw_sanitize(&request, totals, &err) != PW_OK)
        fail_msg("%s", err.message);
    pw_kernels_destroy(kernels);
}

static void test_built_in(void **state)
{
    struct pw_sanitize_totals totals;
    struct heard heard;
    (void)state;
    sanitize(pw_ops_dir_default(), part, &totals, &heard);
    print_message("%zu of %zu kernels, %zu runs\n", totals.kernels_ran, totals.kernels, totals.runs);
    assert_int_equal(totals.findings, 0);
    assert_true(totals.kernels_ran > 0);
    if (!part)
        assert_int_equal(totals.kernels_ran, totals.kernels);
}

static void test_finds(void **state)
{
    static const struct {
        const char *kernel, *file;
        pw_finding_kind kind;
        int line;
    } wanted[] = {
        {"unsound_reads_past", "unsound.cl", PW_FINDING_BOUNDS, 10},
        {"unsound_writes_past", "unsound.cl", PW_FINDING_BOUNDS, 18},
        {"unsound_races", "unsound.cl", PW_FINDING_RACE, 26},
        {"unsound_local_race", "unsound.cl", PW_FINDING_RACE, 37},
        {"unsound_uninitialised", "unsound.cl", PW_FINDING_UNINITIALISED, 48},
        {"unsound_scratch", "unsound.cl", PW_FINDING_UNINITIALISED, 56},
        {"unsound_diverges", "unsound.cl", PW_FINDING_DIVERGENCE, 67},
        {"unsound_writes_input", "unsound.cl", PW_FINDING_BOUNDS, 76},
    };
    struct pw_sanitize_totals totals;
    struct heard heard;
    char dir[1024];
    const char *folder = getenv("PW_SOURCE");
    (void)state;
    if (part)
        skip();
    snprintf(dir, sizeof dir, "%s/tests/kernels/unsound", folder ? folder : "..");
    sanitize(dir, NULL, &totals, &heard);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        bool found = false;
        for (size_t j = 0; j < heard.count && !found; j++)
            found = strcmp(heard.all[j].kernel, wanted[i].kernel) == 0 && heard.all[j].kind == wanted[i].kind &&
                    strcmp(heard.all[j].file, wanted[i].file) == 0 && heard.all[j].line == wanted[i].line;
        if (!found)
            fail_msg("%s: no %s at %s:%d", wanted[i].kernel, pw_finding_name(wanted[i].kind), wanted[i].file,
                     wanted[i].line);
    }
    for (size_t j = 0; j < heard.count; j++)
        if (strcmp(heard.all[j].kernel, "unsound_not") == 0)
            fail_msg("a finding of a sound kernel");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--worker") == 0)
        return pw_worker_main(argc, argv);
    part = argc > 1 ? argv[1] : NULL;
    if (!pw_sanitize_library()) {
        print_message("[  SKIPPED ] no Oclgrind (on Debian: apt-get install oclgrind)\n");
        return getenv("CI") ? 1 : 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_finds), cmocka_unit_test(test_built_in)};
    return cmocka_run_group_tests_name("sanitizer", tests, NULL, NULL);
}
