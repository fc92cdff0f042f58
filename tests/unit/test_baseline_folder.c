/* The folder of baselines: how it is named and found, and what a killed writer left in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "baseline/baseline.h"
#include "baseline/folder.h"

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/pw-baseline-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[256];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? 0 : -1;
}

static const char *path_of(const char *name)
{
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* What a killed writer left unfinished goes with the next change; everything else in the folder stays. */
static void test_leftovers(void **state)
{
    static const char *const left[] = {"precision-4.yaml.8284.draft", "precision-4.yaml.8284.draft.8284-0.tmp",
                                       "precision-pending.yaml.77-3.tmp"};
    static const char *const kept[] = {"precision-1.yaml", "notes.tmp", "old.yaml.draft", "precision-2.yaml.bak"};
    char path[256];
    struct pw_error err = {0};
    int lock = -1;

    (void)state;
    for (size_t i = 0; i < sizeof left / sizeof *left + sizeof kept / sizeof *kept; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, i < 3 ? left[i] : kept[i - 3]);
        assert_int_equal(pw_file_write(path, "x", 1, &err), PW_OK);
    }
    assert_int_equal(pw_folder_lock(folder, &lock, &err), PW_OK);
    pw_folder_unlock(lock);
    for (size_t i = 0; i < sizeof left / sizeof *left + sizeof kept / sizeof *kept; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, i < 3 ? left[i] : kept[i - 3]);
        assert_int_equal(pw_file_exists(path), i >= 3);
    }
}

/* And with the next start, in the folders of the targets too: but not while somebody writes there. */
static void test_leftovers_at_start(void **state)
{
    char path[256];
    struct pw_error err = {0};
    int lock = -1;

    (void)state;
    assert_int_equal(pw_folder_lock(path_of("k"), &lock, &err), PW_OK);
    snprintf(path, sizeof path, "%s/k/precision-4.yaml.8284.draft", folder);
    assert_int_equal(pw_file_write(path, "x", 1, &err), PW_OK);
    pw_folder_tidy(folder);
    assert_true(pw_file_exists(path));
    pw_folder_unlock(lock);
    pw_folder_tidy(folder);
    assert_false(pw_file_exists(path));
}

static void test_folders(void **state)
{
    struct pw_buf out = {0};
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(pw_folder_graph(path_of("b"), "0123456789abcdef", "/x/my model;v2.onnx", &out, &err), PW_OK);
    assert_true(pw_text_ends(pw_buf_text(&out), "/b/my-model-v2-0123456789ab"));
    assert_int_equal(pw_file_mkdirs(pw_buf_text(&out), &err), PW_OK);
    pw_buf_clear(&out); /* a renamed model finds its folder */
    assert_int_equal(pw_folder_graph(path_of("b"), "0123456789abcdef", "renamed.onnx", &out, &err), PW_OK);
    assert_true(pw_text_ends(pw_buf_text(&out), "/b/my-model-v2-0123456789ab"));
    pw_buf_clear(&out);
    assert_int_equal(pw_folder_graph(path_of("b"), "ffff456789abcdef", "..", &out, &err), PW_OK);
    assert_true(pw_text_ends(pw_buf_text(&out), "/b/-.-ffff456789ab"));
    pw_buf_clear(&out);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {TEST(test_leftovers), TEST(test_leftovers_at_start), TEST(test_folders)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
