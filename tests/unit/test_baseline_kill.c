/* An approval of several files that is killed at any of its steps: all have the number afterwards, or none has. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "baseline/baseline.h"
#include "baseline/folder.h"

/* Steps that are still allowed; the one after them does not come about any more. -1: all. */
static int steps_left = -1;

static void step(void)
{
    if (steps_left == 0)
        kill(getpid(), SIGKILL);
    steps_left -= steps_left > 0;
}

/* The calls by which an approval changes the folder, in the place of the C library's. */
int link(const char *from, const char *to)
{
    step();
    return (int)syscall(SYS_linkat, -100, from, -100, to, 0);
}

int unlink(const char *path)
{
    step();
    return (int)syscall(SYS_unlinkat, -100, path, 0);
}

int rename(const char *from, const char *to)
{
    step();
    return (int)syscall(SYS_renameat2, -100, from, -100, to, 0);
}

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    steps_left = -1;
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

static struct pw_baseline_row rows[] = {{.id = "00112233445566bb",
                                         .op = "Softmax-13",
                                         .shapes = "[1,6] -> [1,6]",
                                         .kernel = "softmax_rows",
                                         .coverage = PW_COVERAGE_KERNEL,
                                         .standing = "held",
                                         .error = 2.9e-7,
                                         .tolerance = 1.1e-6,
                                         .limit = 6.02e-7,
                                         .cases = "24:00000000000000ff",
                                         .target_ns = {1500, 1400, 1600},
                                         .reference_ns = {1490, 1400, 1550},
                                         .ratio = {1.01, 1, 1.02},
                                         .reference = "loops"}};
static struct pw_baseline_set sets[] = {{"batch=1", rows, 1}};

static void save(pw_baseline_kind kind, const char *environment, const char *model)
{
    struct pw_baseline made = {.kind = kind,
                               .path = "",
                               .graph = "0123456789abcdef0123456789abcdef",
                               .model = model,
                               .target_kind = "chip",
                               .device = "Chip X",
                               .driver = "1.0",
                               .runtime = "",
                               .environment_id = environment,
                               .protocol = "",
                               .protocol_hash = "0123456789abcdef0123456789abcdef",
                               .version = "1",
                               .recorded = "2026-01-02T03:04:05Z",
                               .approved_by = "",
                               .approved_at = "",
                               .message = "",
                               .sets = sets,
                               .set_count = 1};
    struct pw_buf path = {0};
    struct pw_error err = {0};

    if (pw_baseline_save_pending(folder, &made, &path, &err) != PW_OK)
        fail_msg("%s", err.message);
    pw_buf_clear(&path);
}

static pw_status approve(struct pw_error *err)
{
    struct pw_baseline_approval approval = {.by = "ann", .message = "why", .at = "2026-01-02T03:05:00Z"};
    struct pw_buf paths = {0};
    size_t approved;
    int number;
    pw_status status = pw_baseline_approve(folder, &approval, &number, &approved, &paths, err);

    pw_buf_clear(&paths);
    return status;
}

/* In another process, which is killed before its step `steps` + 1; whether it was. */
static bool killed_after(int steps)
{
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (!child) {
        struct pw_error err = {0};

        steps_left = steps;
        _exit(approve(&err) == PW_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status))
        assert_int_equal(WEXITSTATUS(status), 0);
    return WIFSIGNALED(status);
}

static void count_files(int number, size_t *numbered, size_t *pending)
{
    struct pw_baseline_file *files;
    struct pw_arena arena = {0};
    size_t count;

    *numbered = *pending = 0;
    assert_int_equal(pw_baseline_list(folder, &arena, &files, &count, NULL), PW_OK);
    for (size_t i = 0; i < count; i++) {
        struct pw_baseline b = {0};
        struct pw_error err = {0};

        if (pw_baseline_read(files[i].path, &b, &err) != PW_OK)
            fail_msg("%s", err.message);
        pw_baseline_clear(&b);
        *numbered += files[i].number == number;
        *pending += !files[i].number;
    }
    pw_arena_clear(&arena);
}

static bool has_drafts(void)
{
    char **names;
    size_t count, drafts = 0;

    assert_int_equal(pw_file_list(folder, &names, &count, NULL), PW_OK);
    for (size_t i = 0; i < count; i++)
        drafts += pw_text_ends(names[i], ".draft");
    pw_free(names);
    return drafts > 0;
}

/* Whoever looks first, reader or writer, finds all of it or nothing. */
static void test_killed_at_any_step(void **state)
{
    bool none = false, all = false, go_on = true;
    size_t numbered, pending;

    (void)state;
    for (int steps = 0, number = 1; go_on; steps++) {
        save(PW_BASELINE_PRECISION, "", "a.onnx");
        save(PW_BASELINE_THROUGHPUT, "feedfacefeedface", "a.onnx");
        save(PW_BASELINE_THROUGHPUT, "feedfacefeedfacf", "a.onnx");
        go_on = killed_after(steps);
        if (steps % 2) { /* the next session's start */
            int lock = -1;

            assert_int_equal(pw_folder_lock(folder, &lock, NULL), PW_OK);
            pw_folder_unlock(lock);
        }
        count_files(number, &numbered, &pending);
        if (!(numbered == 3 && pending == 0) && !(numbered == 0 && pending == 3))
            fail_msg("killed after step %d: %zu have number %d, %zu are pending", steps, numbered, number, pending);
        assert_false(has_drafts());
        none = none || numbered == 0;
        all = all || (numbered == 3 && go_on);
        number += numbered == 3;
        assert_true(steps < 100);
    }
    assert_true(none && all); /* the steps lay on both sides of the one that decides */
}

/* What was recorded after the kill, and was never approved, stays pending. */
static void test_recorded_anew(void **state)
{
    struct pw_baseline other = {0};
    char path[128];
    size_t numbered, pending;

    (void)state;
    save(PW_BASELINE_PRECISION, "", "a.onnx");
    save(PW_BASELINE_THROUGHPUT, "feedfacefeedface", "a.onnx");
    assert_true(killed_after(3)); /* two drafts and the first link */
    assert_true(has_drafts());
    snprintf(path, sizeof path, "%s/precision-pending.yaml", folder);
    assert_int_equal(pw_baseline_read(path, &other, NULL), PW_OK);
    other.device = "Chip Y"; /* as a colleague's checkout may bring it, without the lock */
    other.approved_by = other.approved_at = other.message = "";
    {
        struct pw_buf text = {0};

        assert_int_equal(pw_baseline_print(&other, &text, NULL), PW_OK);
        assert_int_equal(pw_file_write(path, pw_buf_text(&text), text.size, NULL), PW_OK);
        pw_buf_clear(&text);
    }
    pw_baseline_clear(&other);
    count_files(1, &numbered, &pending);
    assert_int_equal(numbered, 2);
    assert_int_equal(pending, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_killed_at_any_step, set_up, tear_down),
                                       cmocka_unit_test_setup_teardown(test_recorded_anew, set_up, tear_down)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
