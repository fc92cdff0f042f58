/* A thousand kernels that crash, one after the other: no zombie, no descriptor, no memory, no folder is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/file.h"
#include "base/mem.h"
#include "device_plans.h"
#include "target/remove.h"

#define N 64
#if defined(PW_SANITIZED)
#define CRASHES 100 /* its allocator keeps what was freed for a while, so there is no more to see */
#else
#define CRASHES 1000
#endif

static struct pw_device *device;
static char scratch[] = "/tmp/portwright-test-XXXXXX";

static pw_status run(const char *entry, bool foreign, struct pw_error *err)
{
    struct small_exec x;
    float in[N] = {1.0f}, out[N];
    small_exec_make(&x, "die\nadd_one\n", entry, 1, in, out, N);
    x.plan.program.language = "toy";
    x.plan.program.foreign = foreign;
    pw_status status = pw_device_execute(device, &x.request, &x.reply, &x.err);
    if (status == PW_OK)
        assert_true(out[0] == 2.0f);
    else
        assert_non_null(strstr(pw_buf_text(&x.reply.log), "the chip is on fire"));
    if (err)
        *err = x.err;
    pw_exec_reply_clear(&x.reply);
    return status;
}

static size_t count_entries(const char *path)
{
    size_t count = 0;
    DIR *dir = opendir(path);
    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

static size_t resident_kib(void)
{
    size_t kib = 0;
    char line[256];
    FILE *status = fopen("/proc/self/status", "re");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmRSS: %zu kB", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return kib;
}

/* Children that nobody has waited for, the living worker aside. */
static void check_children(void)
{
    siginfo_t info = {0};
    waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT);
    assert_int_equal(info.si_pid, 0);
}

static void test_thousand(void **state)
{
    struct pw_error err;
    (void)state;
    for (int i = 0; i < 50; i++) /* until everything has its size */
        assert_int_equal(run("die", i % 2, NULL), PW_ERR_CRASH);
    assert_int_equal(run("add_one", false, NULL), PW_OK);
    char cache[64];
    snprintf(cache, sizeof cache, "%s/cache", scratch);
    size_t descriptors = count_entries("/proc/self/fd"), folders = count_entries(cache), before = resident_kib();
    for (int i = 0; i < CRASHES; i++) {
        assert_int_equal(run("die", i % 2, &err), PW_ERR_CRASH);
        assert_non_null(strstr(err.message, "SIGABRT"));
    }
    assert_int_equal(run("add_one", false, NULL), PW_OK);
    check_children();
    assert_int_equal(count_entries("/proc/self/fd"), descriptors);
    assert_int_equal(count_entries(cache), folders);
#if !defined(PW_SANITIZED)
    malloc_trim(0);
    assert_in_range(resident_kib(), 0, before + 1024);
#else
    (void)before;
#endif
}

static int group_setup(void **state)
{
    struct pw_error err = {0};
    char spec[600], cache[64];
    const char *build = getenv("PW_BUILD");
    struct pw_device_options options = {.workers = 1, .cache_dir = cache};
    (void)state;
    if (!mkdtemp(scratch))
        return -1;
    snprintf(cache, sizeof cache, "%s/cache", scratch);
    snprintf(spec, sizeof spec, "plugin:%s/tests/plugin/toy.so", build ? build : ".");
    if (pw_device_open(spec, &options, &device, &err) == PW_OK)
        return 0;
    print_message("%s\n", err.message);
    return -1;
}

static int group_teardown(void **state)
{
    (void)state;
    pw_device_close(device);
    pw_remove_tree(scratch);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--worker") == 0)
        return pw_worker_main(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_thousand)};
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
