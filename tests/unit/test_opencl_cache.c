/* Compiled programs on disk: stored when idle, used again, thrown away when damaged. Calls the OpenCL target in this
 * process, as a worker would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "target/opencl/opencl.h"
#include "target/remove.h"

/* What the driver and its compiler keep until the process ends is not ours. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpocl\nleak:libLLVM\n";
}

static const char source[] = "__kernel void twice(__global const float *x, __global float *y, int n)\n"
                             "{ int i = get_global_id(0); if (i < n) y[i] = x[i] * FACTOR; }\n";

static const struct pw_target *target;
static void *device;
static char cache_dir[] = "/tmp/portwright-test-XXXXXX";

static void *compile(const char *options)
{
    char log[4096] = "";
    void *program = NULL;
    int rc = target->compile(device, "opencl", source, options, cache_dir, &program, log, sizeof log);
    if (rc != 0)
        fail_msg("%d: %s", rc, log);
    return program;
}

/* y = x * FACTOR on four elements. */
static void check_runs(void *program, float factor)
{
    float x[4] = {1, 2, 3, 4}, y[4] = {0};
    char message[256] = "";
    void *in = NULL, *out = NULL;
    assert_int_equal(target->alloc(device, sizeof x, x, true, &in, message, sizeof message), 0);
    assert_int_equal(target->alloc(device, sizeof y, y, false, &out, message, sizeof message), 0);
    assert_int_equal(target->upload(device, in, x, sizeof x, message, sizeof message), 0);
    struct pw_target_arg args[3] = {{.kind = 0, .buffer = in}, {.kind = 0, .buffer = out}, {.kind = 2, .i = 4}};
    struct pw_target_launch launch = {
        .program = program, .entry = "twice", .work_dim = 1, .global = {4}, .local = {1}, .args = args, .arg_count = 3};
    assert_int_equal(target->launch(device, &launch, message, sizeof message), 0);
    assert_int_equal(target->sync(device, message, sizeof message), 0);
    assert_int_equal(target->download(device, out, y, sizeof y, message, sizeof message), 0);
    for (int i = 0; i < 4; i++)
        assert_true(y[i] == x[i] * factor);
    target->free(device, in);
    target->free(device, out);
}

/* Path of the only entry, or "" when there is none; fails on several. */
static void entry_path(char *dst, size_t size)
{
    char dir[256];
    char **names = NULL;
    size_t count = 0;
    dst[0] = '\0';
    snprintf(dir, sizeof dir, "%s/opencl", cache_dir);
    if (!pw_file_is_dir(dir))
        return;
    assert_int_equal(pw_file_list(dir, &names, &count, NULL), PW_OK);
    assert_in_range(count, 0, 1);
    if (count == 1)
        snprintf(dst, size, "%s/%s", dir, names[0]);
    pw_free(names);
}

static void store(const char *options, float factor)
{
    void *program = compile(options);
    check_runs(program, factor);
    while (target->idle(device) > 0)
        ;
    target->release(device, program);
}

static int entry_setup(void **state)
{
    (void)state;
    char path[512];
    entry_path(path, sizeof path);
    if (device && path[0])
        remove(path);
    return 0;
}

static void need_device(void)
{
    if (!device)
        skip();
}

static void test_stored_when_idle(void **state)
{
    char path[512];
    (void)state;
    need_device();
    void *program = compile("-DFACTOR=2.0f");
    /* A program that never ran is not worth it. */
    assert_int_equal(target->idle(device), 0);
    entry_path(path, sizeof path);
    assert_string_equal(path, "");
    check_runs(program, 2);
    assert_int_equal(target->idle(device), 0);
    entry_path(path, sizeof path);
    assert_string_not_equal(path, "");
    target->release(device, program);
    /* And is used: what was stored needs no storing. */
    program = compile("-DFACTOR=2.0f");
    check_runs(program, 2);
    remove(path);
    assert_int_equal(target->idle(device), 0);
    entry_path(path, sizeof path);
    assert_string_equal(path, "");
    target->release(device, program);
}

/* What the compiler said is said again when the program comes from the disk. */
static void test_log_is_kept(void **state)
{
    static const char warned[] = "__kernel void twice(__global const float *x, __global float *y, int n)\n"
                                 "{ int i = get_global_id(0); if (n = 4) y[i] = x[i] * 2; }\n";
    (void)state;
    need_device();
    for (int stored = 0; stored < 2; stored++) {
        char log[4096] = "", path[512];
        void *program = NULL;
        assert_int_equal(target->compile(device, "opencl", warned, "", cache_dir, &program, log, sizeof log), 0);
        assert_non_null(strstr(log, "using the result of an assignment as a condition"));
        check_runs(program, 2);
        while (target->idle(device) > 0)
            ;
        entry_path(path, sizeof path);
        assert_string_not_equal(path, "");
        target->release(device, program);
    }
}

static void test_options_are_part_of_the_name(void **state)
{
    (void)state;
    need_device();
    store("-DFACTOR=2.0f", 2);
    void *program = compile("-DFACTOR=3.0f");
    check_runs(program, 3);
    target->release(device, program);
}

/* Writes a changed copy over the entry: byte `at` flipped, or cut there. */
static void damage(const char *path, size_t at, bool cut)
{
    struct pw_buf buf = {0};
    assert_int_equal(pw_file_read(path, (size_t)64 << 20, &buf, NULL), PW_OK);
    assert_true(at < buf.size);
    if (!cut)
        buf.data[at] ^= 0x40;
    assert_int_equal(pw_file_write(path, buf.data, cut ? at : buf.size, NULL), PW_OK);
    pw_buf_clear(&buf);
}

static void check_rebuilds(const char *path)
{
    char now[512];
    void *program = compile("-DFACTOR=2.0f");
    entry_path(now, sizeof now);
    assert_string_equal(now, ""); /* thrown away */
    check_runs(program, 2);
    while (target->idle(device) > 0)
        ;
    target->release(device, program);
    entry_path(now, sizeof now);
    assert_string_equal(now, path); /* and stored anew */
}

static void test_damaged_entries(void **state)
{
    const struct {
        size_t at;
        bool cut;
    } damages[] = {{0, false}, {9, false}, {30, false}, {5000, false}, {5000, true}, {20, true}, {0, true}};
    char path[512];
    (void)state;
    need_device();
    store("-DFACTOR=2.0f", 2);
    entry_path(path, sizeof path);
    assert_string_not_equal(path, "");
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        damage(path, damages[i].at, damages[i].cut);
        check_rebuilds(path);
    }
}

static int group_setup(void **state)
{
    char message[512] = "", dir[64];
    (void)state;
    if (!mkdtemp(cache_dir))
        return -1;
    snprintf(dir, sizeof dir, "%s/pocl", cache_dir);
    setenv("POCL_CACHE_DIR", dir, 1);
    target = pw_opencl_target();
    if (target->open("", &device, message, sizeof message) == 0)
        return 0;
    print_message("no OpenCL device: %s\n", message);
    return getenv("CI") ? -1 : 0;
}

static int group_teardown(void **state)
{
    (void)state;
    target->close(device);
    pw_remove_tree(cache_dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_stored_when_idle, entry_setup),
        cmocka_unit_test_setup(test_log_is_kept, entry_setup),
        cmocka_unit_test_setup(test_options_are_part_of_the_name, entry_setup),
        cmocka_unit_test_setup(test_damaged_entries, entry_setup),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
