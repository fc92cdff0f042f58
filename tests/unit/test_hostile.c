/*
 * Kernels of tests/kernels/hostile on PoCL, as foreign code: whatever one does is one verdict with its reason, the
 * next case runs, and nothing outside has changed. Runs as who we are; as root once more as an ordinary user.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/file.h"
#include "base/mem.h"
#include "device_plans.h"
#include "target/remove.h"
#include "target/sandbox.h"

#define N 100

static struct pw_device *device;
static char scratch[] = "/tmp/portwright-test-XXXXXX";
static struct pw_buf source;

static void need_device(void)
{
#if defined(PW_SANITIZED) || !defined(__x86_64__)
    skip();
#endif
    if (!device || !pw_sandbox_confines(NULL, 0))
        skip();
}

static pw_status run(struct small_exec *x, const char *entry, float *in, float *out)
{
    for (int i = 0; i < N; i++)
        in[i] = (float)i - 50.0f;
    small_exec_make(x, source.data, entry, 1, in, out, N);
    x->plan.program.foreign = true;
    x->request.deadline_ns = strcmp(entry, "spin") == 0 ? 1000000000 : 0;
    return pw_device_execute(device, &x->request, &x->reply, &x->err);
}

static void check_honest(void)
{
    struct small_exec x;
    float in[N], out[N];
    pw_status status = run(&x, "honest", in, out);
    if (status != PW_OK)
        fail_msg("%s\n%s", x.err.message, pw_buf_text(&x.reply.log));
    for (int i = 0; i < N; i++)
        assert_true(in[i] == (float)i - 50.0f && out[i] == fabsf(in[i]));
    assert_false(x.reply.overrun);
    pw_exec_reply_clear(&x.reply);
}

/* ---- what is done outside ---- */

static void path_of(char *dst, size_t size, const char *name)
{
    snprintf(dst, size, "%s/%s", scratch, name);
}

static void check_outside(void)
{
    char path[96];
    struct stat st;
    struct pw_buf text = {0};
    path_of(path, sizeof path, "file");
    assert_int_equal(pw_file_read(path, 100, &text, NULL), PW_OK);
    assert_string_equal(pw_buf_text(&text), "leave me alone\n");
    pw_buf_clear(&text);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    path_of(path, sizeof path, "fresh");
    assert_int_not_equal(access(path, F_OK), 0);
    path_of(path, sizeof path, "cache/shared/planted");
    assert_int_not_equal(access(path, F_OK), 0);
}

/* The kernel lives, and this is what it was told. */
static void test_refused(void **state)
{
    static const struct {
        const char *entry;
        int result;
    } kernels[] = {
        {"create", -EACCES}, {"change_mode", -EPERM},  {"run_shell", -EACCES},  {"read_passwords", -EACCES},
        {"plant", -EACCES},  {"remap_input", -EACCES}, {"write_input", -EPERM},
    };
    (void)state;
    need_device();
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct small_exec x;
        float in[N], out[N];
        pw_status status = run(&x, kernels[i].entry, in, out);
        if (status != PW_OK)
            fail_msg("%s: %s\n%s", kernels[i].entry, x.err.message, pw_buf_text(&x.reply.log));
        if (out[0] != (float)kernels[i].result || out[N - 1] != out[0])
            fail_msg("%s: %g, expected %d", kernels[i].entry, (double)out[0], kernels[i].result);
        assert_false(x.reply.overrun);
        assert_true(in[0] == -50.0f);
        pw_exec_reply_clear(&x.reply);
    }
    check_outside();
    check_honest();
}

static void test_ended(void **state)
{
    static const struct {
        const char *entry;
        pw_status status;
        const char *message, *log;
    } kernels[] = {
        {"cut", PW_ERR_CRASH, "SIGSYS", "refused the system call truncate"},
        {"split", PW_ERR_CRASH, "SIGSYS", "refused the system call fork"},
        {"call_home", PW_ERR_CRASH, "SIGSYS", "refused the system call socket"},
        {"rewrite_input", PW_ERR_CRASH, "SIGSEGV", "byte 0 of the read-only input 0"},
        {"recurse", PW_ERR_CRASH, "SIGSEGV", ""},
        {"spin", PW_ERR_TIMEOUT, "no answer within 1 s", ""},
        {"far_away", PW_ERR_CRASH, "SIGSEGV", "in no buffer"},
    };
    (void)state;
    need_device();
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct small_exec x;
        float in[N], out[N];
        pw_status status = run(&x, kernels[i].entry, in, out);
        if (status != kernels[i].status || !strstr(x.err.message, kernels[i].message) ||
            !strstr(pw_buf_text(&x.reply.log), kernels[i].log))
            fail_msg("%s: status %d, %s\n%s", kernels[i].entry, status, x.err.message, pw_buf_text(&x.reply.log));
        assert_true(in[0] == -50.0f);
        pw_exec_reply_clear(&x.reply);
    }
    check_outside();
    check_honest();
}

static void test_canary(void **state)
{
    struct small_exec x;
    float in[N], out[N];
    (void)state;
    need_device();
    assert_int_equal(run(&x, "rewrite_canary", in, out), PW_OK);
    assert_true(x.reply.overrun);
    assert_string_equal(x.reply.where, "output 0, 4 bytes before its beginning");
    pw_exec_reply_clear(&x.reply);
    check_honest();
}

/* Half of the machine's memory is the most there is. */
static void test_memory(void **state)
{
    struct small_exec x;
    float in[N], out[N];
    (void)state;
    need_device();
    float half = (float)(sysconf(_SC_PHYS_PAGES) / 2) * (float)sysconf(_SC_PAGESIZE) / (1 << 30);
    assert_int_equal(run(&x, "hoard", in, out), PW_OK);
    assert_true(out[0] >= 1.0f && out[0] <= half + 2.0f);
    pw_exec_reply_clear(&x.reply);
    check_honest();
}

/* A reply in the worker's name: the values are what they are, so poison shows; the next request is not answered by
 * what was left over. */
static void test_forged_reply(void **state)
{
    struct small_exec x;
    float in[N], out[N];
    (void)state;
    need_device();
    assert_int_equal(run(&x, "far_away", in, out), PW_ERR_CRASH); /* so that the next worker is a new one */
    pw_exec_reply_clear(&x.reply);
    static const char *const forgers[] = {"forge", "forge_step", "forge_all"};
    for (size_t i = 0; i < sizeof forgers / sizeof *forgers; i++) {
        assert_int_equal(run(&x, forgers[i], in, out), PW_ERR_TARGET);
        assert_non_null(strstr(x.err.message, "malformed reply"));
        pw_exec_reply_clear(&x.reply);
    }
    check_honest();
}

/* A kernel that skips what it did before looks fast to a clock of its own process. Ours wants the outputs, each time.
 */
static void test_forged_time(void **state)
{
    struct small_exec x;
    float in[N] = {-1.0f}, out[N];
    int64_t samples[40] = {0};
    (void)state;
    need_device();
    small_exec_make(&x, source.data, "lazy", 1, in, out, N);
    x.plan.program.foreign = true;
    x.request.repeats = 5;
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_ERR_TARGET);
    assert_non_null(strstr(x.err.message, "before its outputs were written"));
    pw_exec_reply_clear(&x.reply);
    small_exec_make(&x, source.data, "honest", 1, in, out, N);
    x.plan.program.foreign = true;
    x.request.repeats = 40;
    x.request.samples_ns = samples;
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_OK);
    assert_int_equal(x.reply.sample_count, 40);
    int64_t total = 0;
    for (int i = 0; i < 40; i++) {
        assert_true(samples[i] > 0);
        total += samples[i];
    }
    assert_true(total <= x.reply.times.parent_ns && x.reply.times.device_ns == 0);
    pw_exec_reply_clear(&x.reply);
}

static void set_up(struct small_exec *x, const char *entry, float *in, float *out, int repeats)
{
    for (int i = 0; i < N; i++)
        in[i] = (float)i - 50.0f;
    small_exec_make(x, source.data, entry, 1, in, out, N);
    x->plan.program.foreign = true;
    x->request.repeats = repeats;
}

/* A kernel that is right as long as it is not timed, and then writes something else. */
static void test_other_work_when_timed(void **state)
{
    struct small_exec x;
    float in[N], out[N];
    (void)state;
    need_device();
    set_up(&x, "tired", in, out, 20);
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_ERR_TARGET);
    assert_non_null(strstr(x.err.message, "gave other results than an untimed one"));
    pw_exec_reply_clear(&x.reply);
    check_honest();
}

/* A second set of inputs, for timed runs to take in turns. */
static void set_other(struct pw_value *value, float *data)
{
    int64_t dims = N;
    for (int i = 0; i < N; i++)
        data[i] = -1000.0f - (float)i;
    *value = (struct pw_value){.kind = PW_VALUE_TENSOR};
    pw_tensor_borrow(&value->tensor, PW_DTYPE_FLOAT32, 1, &dims, data);
}

/* Scratch is new for each batch, so that a run alone in its batch does the work; more runs of one batch share it. */
static void test_scratch_tells_nothing(void **state)
{
    struct small_exec x;
    float in[N], out[N], other[N];
    struct pw_value value;
    const struct pw_value *alternate[1] = {&value};
    (void)state;
    need_device();
    set_other(&value, other);
    for (int together = 0; together < 2; together++) {
        set_up(&x, "marks_scratch", in, out, 20);
        x.plan.buffers[2] = (struct pw_plan_buffer){.kind = PW_BUFFER_SCRATCH, .size_bytes = 4};
        x.plan.args[3] = (struct pw_plan_arg){.kind = PW_ARG_BUFFER, .buffer = 2};
        x.plan.plan.buffer_count = 3;
        x.plan.launch.arg_count = 4;
        x.request.alternate = together ? alternate : NULL;
        pw_status status = pw_device_execute(device, &x.request, &x.reply, &x.err);
        assert_int_equal(status, together ? PW_ERR_TARGET : PW_OK);
        for (int i = 0; i < N && !together; i++)
            assert_true(out[i] == fabsf(in[i]));
        pw_exec_reply_clear(&x.reply);
    }
    check_honest();
}

/* Both sets of inputs, each against its own untimed run. */
static void test_alternates(void **state)
{
    struct small_exec x;
    float in[N], out[N], other[N];
    struct pw_value value;
    const struct pw_value *alternate[1] = {&value};
    (void)state;
    need_device();
    set_other(&value, other);
    for (int repeats = 0; repeats < 4; repeats++) {
        set_up(&x, "honest", in, out, repeats);
        x.request.alternate = alternate;
        if (pw_device_execute(device, &x.request, &x.reply, &x.err) != PW_OK)
            fail_msg("%s", x.err.message);
        assert_int_equal(x.reply.sample_count, repeats);
        assert_int_equal(x.reply.alternate_last, repeats % 2 == 1);
        for (int i = 0; i < N; i++)
            assert_true(out[i] == fabsf(repeats % 2 == 1 ? other[i] : in[i]));
        pw_exec_reply_clear(&x.reply);
    }
    /* Quick from its fourth run on: the second timed one. */
    assert_int_equal(run(&x, "far_away", in, out), PW_ERR_CRASH); /* so that the next worker is a new one */
    pw_exec_reply_clear(&x.reply);
    set_up(&x, "tired", in, out, 20);
    x.request.alternate = alternate;
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_ERR_TARGET);
    assert_non_null(strstr(x.err.message, "gave other results than an untimed one"));
    pw_exec_reply_clear(&x.reply);
}

/* Without other inputs to take in turns each run has outputs that are poisoned. */
static void test_no_run_finds_its_work_done(void **state)
{
    struct small_exec x;
    float in[N], out[N];
    (void)state;
    need_device();
    set_up(&x, "looks_first", in, out, 30);
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_OK);
    pw_exec_reply_clear(&x.reply);
    set_up(&x, "counted", in, out, 0);
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_OK);
    assert_true(out[0] == 0.0f);
    assert_true(out[1] == 31.0f);
    pw_exec_reply_clear(&x.reply);
}

/* A plan of two programs from outside is a kernel of its own: a worker that ran the first is no fresh one for who
 * brings the second alone. */
static void test_two_programs(void **state)
{
    struct small_exec x;
    float in[N], out[N];
    (void)state;
    need_device();
    struct pw_buf second = {0};
    pw_buf_printf(&second, "%s\n/* another kernel */\n", source.data);
    assert_false(second.failed);
    set_up(&x, "lazy", in, out, 0);
    struct pw_plan_program programs[2] = {x.plan.program, x.plan.program};
    struct pw_plan_launch launches[2] = {x.plan.launch, x.plan.launch};
    programs[1].source = second.data;
    launches[1].program = 1;
    launches[1].entry = "honest";
    x.plan.plan.programs = programs;
    x.plan.plan.launches = launches;
    x.plan.plan.program_count = x.plan.plan.launch_count = 2;
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_OK);
    pw_exec_reply_clear(&x.reply);
    /* It works once in the life of its process. */
    set_up(&x, "lazy", in, out, 0);
    x.plan.program.source = second.data;
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_OK);
    for (int i = 0; i < N; i++)
        assert_true(out[i] == fabsf(in[i]));
    pw_exec_reply_clear(&x.reply);
    pw_buf_clear(&second);
}

/* ---- as whom ---- */

static const char *source_path(void)
{
    static char path[600];
    const char *folder = getenv("PW_SOURCE");
    snprintf(path, sizeof path, "%s/tests/kernels/hostile/hostile/hostile.cl", folder ? folder : "..");
    return path;
}

static pw_status load_source(struct pw_error *err)
{
    struct pw_buf text = {0};
    pw_status status = pw_file_read(source_path(), 1 << 20, &text, err);
    const char *at = status == PW_OK ? text.data : "";
    const char *end;
    while ((end = strstr(at, "\"/outside\"")) != NULL) {
        pw_buf_append(&source, at, (size_t)(end - at));
        pw_buf_printf(&source, "\"%s\"", scratch);
        at = end + strlen("\"/outside\"");
    }
    pw_buf_puts(&source, at);
    pw_buf_clear(&text);
    return status;
}

static int group_setup(void **state)
{
    struct pw_error err = {0};
    char cache[96], file[96];
    struct pw_device_options options = {.workers = 1, .cache_dir = cache};
    (void)state;
    if (!mkdtemp(scratch) || load_source(&err) != PW_OK)
        return -1;
    path_of(cache, sizeof cache, "cache");
    path_of(file, sizeof file, "file");
    if (pw_file_write(file, "leave me alone\n", 15, NULL) != PW_OK || chmod(file, 0600) != 0)
        return -1;
    if (pw_device_open("opencl", &options, &device, &err) == PW_OK)
        return 0;
    print_message("no OpenCL device: %s\n", err.message);
    return getenv("CI") ? -1 : 0;
}

static int group_teardown(void **state)
{
    (void)state;
    pw_device_close(device);
    device = NULL;
    pw_remove_tree(scratch);
    pw_buf_clear(&source);
    return 0;
}

static int run_group(const char *name)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_ended),
        cmocka_unit_test(test_canary),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_forged_reply),
        cmocka_unit_test(test_forged_time),
        cmocka_unit_test(test_other_work_when_timed),
        cmocka_unit_test(test_scratch_tells_nothing),
        cmocka_unit_test(test_alternates),
        cmocka_unit_test(test_two_programs),
        cmocka_unit_test(test_no_run_finds_its_work_done),
    };
    return cmocka_run_group_tests_name(name, tests, group_setup, group_teardown);
}

#define USER 65533

static pid_t user_half; /* runs beside the other half; 0 = there is none */

static void start_user_half(void)
{
    if (geteuid() != 0)
        return;
    user_half = fork();
    if (user_half == 0) {
        setenv("HOME", "/nonexistent", 1);
        if (setgroups(0, NULL) != 0 || setgid(USER) != 0 || setuid(USER) != 0)
            _exit(77);
        execl("/proc/self/exe", "test_hostile", "user", (char *)NULL);
        _exit(78);
    }
}

static void test_as_user(void **state)
{
    int status = 0;
    (void)state;
    if (user_half <= 0)
        skip();
    assert_int_equal(waitpid(user_half, &status, 0), user_half);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) >= 77) {
        print_message("the ordinary user cannot run this program\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--worker") == 0)
        return pw_worker_main(argc, argv);
    if (argc > 1 && strcmp(argv[1], "user") == 0)
        return access(source_path(), R_OK) == 0 ? run_group("hostile kernels of a user") : 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_user)};
    start_user_half();
    int failed = run_group("hostile kernels");
    return failed + cmocka_run_group_tests_name("and of a user", tests, NULL, NULL);
}
