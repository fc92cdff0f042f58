/* The timing lock: one holder at a time, bounded waits, nothing that is no plain file. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/quiet.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/pw-quiet-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static const char *in_folder(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void test_one_holder(void **state)
{
    struct pw_quiet first, second;
    struct pw_error err = {0};
    const char *path = in_folder("lock");
    atomic_bool cancel = true;
    struct stat facts;

    (void)state;
    umask(077);
    assert_int_equal(pw_quiet_begin(&first, path, 0, NULL, &err), PW_OK);
    assert_true(first.lock_fd >= 0);
    assert_string_equal(first.note, "");
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0444); /* whatever the umask: other users lock it too */
    assert_int_equal(pw_quiet_begin(&second, path, 50000000, NULL, &err), PW_OK);
    assert_int_equal(second.lock_fd, -1);
    assert_non_null(strstr(second.note, "another portwright"));
    assert_true(second.waited_ns >= 50000000);
    pw_quiet_end(&second);
    assert_int_equal(pw_quiet_begin(&second, path, INT64_MAX, &cancel, &err), PW_ERR_CANCELLED);
    pw_quiet_end(&first);
    assert_int_equal(pw_quiet_begin(&second, path, 0, NULL, &err), PW_OK);
    assert_true(second.lock_fd >= 0);
    pw_quiet_end(&second);
    pw_quiet_end(&second); /* once more is fine */
}

static void test_the_lock_dies_with_its_holder(void **state)
{
    struct pw_quiet quiet;
    const char *path = in_folder("killed");
    int ready[2], status;
    char byte = 0;
    pid_t pid;

    (void)state;
    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        if (pw_quiet_begin(&quiet, path, 0, NULL, NULL) == PW_OK && quiet.lock_fd >= 0 && write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(pw_quiet_begin(&quiet, path, 0, NULL, NULL), PW_OK);
    assert_int_equal(quiet.lock_fd, -1);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    pw_quiet_end(&quiet);
    assert_int_equal(pw_quiet_begin(&quiet, path, 0, NULL, NULL), PW_OK);
    assert_true(quiet.lock_fd >= 0);
    pw_quiet_end(&quiet);
}

static void test_odd_places(void **state)
{
    struct pw_quiet quiet;

    (void)state;
    assert_int_equal(symlink("/etc/hostname", in_folder("link")), 0);
    assert_int_equal(pw_quiet_begin(&quiet, in_folder("link"), 0, NULL, NULL), PW_OK);
    assert_int_equal(quiet.lock_fd, -1);
    assert_non_null(strstr(quiet.note, "cannot be used"));
    pw_quiet_end(&quiet);
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    assert_int_equal(pw_quiet_begin(&quiet, in_folder("pipe"), 0, NULL, NULL), PW_OK);
    assert_int_equal(quiet.lock_fd, -1);
    pw_quiet_end(&quiet);
    assert_int_equal(pw_quiet_begin(&quiet, in_folder("no/such/folder"), 0, NULL, NULL), PW_OK);
    assert_int_equal(quiet.lock_fd, -1);
    pw_quiet_end(&quiet);
}

/* Two tasks that spin keep a slice from being called idle; the wait is bounded. */
static void test_busy_machine(void **state)
{
    struct pw_quiet quiet;
    pid_t pids[2];

    (void)state;
    assert_int_equal(pw_quiet_begin(&quiet, in_folder("busy"), 0, NULL, NULL), PW_OK);
    for (int i = 0; i < 2; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            for (volatile unsigned long k = 0;; k++)
                ;
    }
    for (int i = 0; i < 6; i++)
        pw_quiet_slice(&quiet);
    for (int i = 0; i < 2; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    assert_int_equal(quiet.slices, 6);
    assert_true(quiet.stat_fd < 0 || quiet.busy_slices >= 4);
    pw_quiet_end(&quiet);
    quiet.stat_fd = -1; /* not known: no slice is called busy */
    quiet.busy_slices = 0;
    assert_true(pw_quiet_slice(&quiet));
    assert_int_equal(quiet.busy_slices, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_holder),
        cmocka_unit_test(test_the_lock_dies_with_its_holder),
        cmocka_unit_test(test_odd_places),
        cmocka_unit_test(test_busy_machine),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
