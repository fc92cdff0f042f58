/*
 * The sandbox of workers, from within: a plugin's code makes one system call, and the test looks at what came of
 * it here, outside. Runs as who we are; as root once more as an ordinary user.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/file.h"
#include "device_plans.h"
#include "target/remove.h"
#include "target/sandbox.h"

#define FLOATS 512
#define SELF INT64_C(-1000001) /* as in tests/plugin/toy.c */
#define PARENT INT64_C(-1000002)
#define TEXT 64 /* offset of a text in the request */

static struct pw_device *device;
static char scratch[] = "/tmp/portwright-test-XXXXXX";
static char outside[64];  /* a file that kernels are to leave alone */
static char new_file[64]; /* one that they are not to make */

struct call {
    int64_t number, arguments[6];
    int64_t offsets;
    char text[256];
};

static bool confined(void)
{
#if defined(PW_SANITIZED)
    return false;
#else
    return pw_sandbox_confines(NULL, 0);
#endif
}

static void need_sandbox(void)
{
    if (!confined())
        skip();
}

static pw_status run(struct small_exec *x, const char *entry, const void *in, size_t in_size, float *out)
{
    static float input[FLOATS];
    memset(input, 0, sizeof input);
    memcpy(input, in, in_size);
    small_exec_make(x, "call\nhoard\nadd_one\n", entry, 1, input, out, FLOATS);
    x->plan.program.language = "toy";
    x->plan.program.foreign = true;
    return pw_device_execute(device, &x->request, &x->reply, &x->err);
}

static void check_honest(void)
{
    struct small_exec x;
    float in[FLOATS] = {1.0f, 2.0f}, out[FLOATS];
    assert_int_equal(run(&x, "add_one", in, sizeof in, out), PW_OK);
    assert_true(out[0] == 2.0f && out[1] == 3.0f && out[2] == 1.0f);
    pw_exec_reply_clear(&x.reply);
}

/* Result of a call that the process survives. */
static int64_t result_of(const struct call *call)
{
    struct small_exec x;
    float out[FLOATS];
    int64_t result;
    pw_status status = run(&x, "call", call, sizeof *call, out);
    if (status != PW_OK)
        fail_msg("call %lld: %s\n%s", (long long)call->number, x.err.message, pw_buf_text(&x.reply.log));
    memcpy(&result, out, sizeof result);
    pw_exec_reply_clear(&x.reply);
    return result;
}

static void expect_trap(const struct call *call, const char *name)
{
    struct small_exec x;
    float out[FLOATS];
    char words[96];
    pw_status status = run(&x, "call", call, sizeof *call, out);
    snprintf(words, sizeof words, "refused the system call %s", name);
    if (status != PW_ERR_CRASH || !strstr(x.err.message, "SIGSYS") || !strstr(pw_buf_text(&x.reply.log), words))
        fail_msg("%s: status %d, %s\n%s", name, status, x.err.message, pw_buf_text(&x.reply.log));
    pw_exec_reply_clear(&x.reply);
}

/* ---- calls that end the kernel ---- */

#define CALL(name, ...)                                                                                                \
    {                                                                                                                  \
#name,                                                                                                         \
        {                                                                                                              \
            .number = SYS_##name, .arguments = { __VA_ARGS__ }                                                         \
        }                                                                                                              \
    }

static const struct {
    const char *name;
    struct call call;
} trapped[] = {
    CALL(socket, 2, 1, 0),
    CALL(socketpair, 1, 1, 0, 0),
    CALL(connect, 3, 0, 0),
    CALL(ptrace, 16, PARENT, 0, 0),
    CALL(process_vm_readv, PARENT, 0, 0, 0, 0, 0),
    CALL(process_vm_writev, PARENT, 0, 0, 0, 0, 0),
    CALL(kcmp, PARENT, SELF, 0, 0, 0),
    CALL(kill, PARENT, SIGKILL),
    CALL(kill, -1, SIGKILL),
    CALL(kill, 0, SIGKILL),
    CALL(tgkill, PARENT, PARENT, SIGKILL),
    CALL(tkill, PARENT, SIGKILL),
    CALL(rt_sigqueueinfo, PARENT, SIGKILL, 0),
    CALL(setsid, 0),
    CALL(setpgid, 0, 0),
#if defined(SYS_fork)
    CALL(fork, 0),
    CALL(vfork, 0),
#endif
    CALL(clone, SIGCHLD),
    CALL(clone, CLONE_VM | CLONE_VFORK | CLONE_PARENT | SIGCHLD),
    CALL(clone, CLONE_VM | CLONE_VFORK | CLONE_NEWUSER | SIGCHLD),
    CALL(clone, CLONE_VM | SIGCHLD),
    CALL(unshare, CLONE_NEWUSER),
    CALL(setns, 3, 0),
    CALL(mount, 0, 0, 0, 0, 0),
    CALL(umount2, 0, 0),
    CALL(pivot_root, 0, 0),
    CALL(chroot, 0),
    CALL(io_uring_setup, 8, 0),
    CALL(bpf, 0, 0, 0),
    CALL(keyctl, 0, 0, 0),
    CALL(add_key, 0, 0, 0, 0, 0),
    CALL(request_key, 0, 0, 0, 0),
    CALL(perf_event_open, 0, 0, 0, 0, 0),
    CALL(userfaultfd, 0),
    CALL(kexec_load, 0, 0, 0, 0),
    CALL(init_module, 0, 0, 0),
    CALL(finit_module, 0, 0, 0),
    CALL(delete_module, 0, 0),
    CALL(reboot, 0, 0, 0, 0),
    CALL(swapon, 0, 0),
    CALL(personality, 0x40000),
    CALL(capset, 0, 0),
    CALL(open_by_handle_at, 0, 0, 0),
    CALL(fcntl, 3, F_SETOWN, PARENT),
    CALL(fcntl, 3, F_SETSIG, SIGKILL),
    CALL(ioctl, 0, 0x5412, 0),
    CALL(prlimit64, PARENT, 7, 0, 0),
    CALL(setrlimit, 7, 0),
    CALL(truncate, 0, 0),
};

static void test_trapped(void **state)
{
    (void)state;
    need_sandbox();
    for (size_t i = 0; i < sizeof trapped / sizeof *trapped; i++)
        expect_trap(&trapped[i].call, trapped[i].name);
    check_honest();
}

/* ---- calls that only fail ---- */

struct path_call {
    struct call call;
    const char *path;
    int64_t expected;
};

static void check_path_call(const struct path_call *p)
{
    struct call call = p->call;
    snprintf(call.text, sizeof call.text, "%s", p->path);
    int64_t result = result_of(&call);
    if (result != p->expected)
        fail_msg("call %lld of '%s': %lld, expected %lld", (long long)call.number, p->path, (long long)result,
                 (long long)p->expected);
}

#define AT(name, offsets_, ...)                                                                                        \
    {                                                                                                                  \
        .number = SYS_##name, .offsets = (offsets_), .arguments = { __VA_ARGS__ }                                      \
    }

static void test_files(void **state)
{
    char shared[64], own[64];
    struct stat before, after;
    (void)state;
    need_sandbox();
    snprintf(shared, sizeof shared, "%s/cache/shared", scratch);
    snprintf(own, sizeof own, "/proc/%d/mem", (int)getpid());
    const struct path_call calls[] = {
        {AT(openat, 2, AT_FDCWD, TEXT, O_CREAT | O_WRONLY, 0644), new_file, -EACCES},
        {AT(openat, 2, AT_FDCWD, TEXT, O_WRONLY), outside, -EACCES},
        {AT(openat, 2, AT_FDCWD, TEXT, O_RDONLY), outside, -EACCES},
        {AT(openat, 2, AT_FDCWD, TEXT, O_RDONLY | O_TRUNC), outside, -EACCES},
        {AT(openat, 2, AT_FDCWD, TEXT, O_RDONLY), "/etc/passwd", -EACCES},
        {AT(openat, 2, AT_FDCWD, TEXT, O_RDONLY | O_DIRECTORY), "/etc", -EACCES},
        {AT(openat, 2, AT_FDCWD, TEXT, O_RDONLY | O_DIRECTORY), "/", -EACCES},
        {AT(openat, 2, AT_FDCWD, TEXT, O_RDONLY), own, -EACCES},
        {AT(openat, 2, AT_FDCWD, TEXT, O_RDONLY), "/proc/1/environ", -EACCES},
        {AT(openat, 2, AT_FDCWD, TEXT, O_RDWR), "/dev/tty", -EACCES},
        {AT(openat, 2, AT_FDCWD, TEXT, O_CREAT | O_RDWR, 0644), "/dev/shm/portwright-test", -EACCES},
        {AT(openat, 2, AT_FDCWD, TEXT, O_RDONLY | O_DIRECTORY), shared, -EACCES},
        {AT(unlinkat, 2, AT_FDCWD, TEXT, 0), outside, -EACCES},
        {AT(unlinkat, 2, AT_FDCWD, TEXT, AT_REMOVEDIR), scratch, -EACCES},
        {AT(mkdirat, 2, AT_FDCWD, TEXT, 0755), new_file, -EACCES},
        {AT(renameat2, 10, AT_FDCWD, TEXT, AT_FDCWD, TEXT, 0), outside, -EACCES},
        {AT(fchmodat, 2, AT_FDCWD, TEXT, 0777), outside, -EPERM},
        {AT(fchownat, 2, AT_FDCWD, TEXT, 0, 0, 0), outside, -EPERM},
#if defined(SYS_chmod)
        {AT(chmod, 1, TEXT, 0777), outside, -EPERM},
        {AT(chown, 1, TEXT, 0, 0), outside, -EPERM},
        {AT(link, 3, TEXT, TEXT), outside, -EPERM},
#endif
        {AT(utimensat, 2, AT_FDCWD, TEXT, 0, 0), outside, -EPERM},
        {AT(setxattr, 3, TEXT, TEXT, 0, 0, 0), outside, -EPERM},
        {AT(linkat, 10, AT_FDCWD, TEXT, AT_FDCWD, TEXT, 0), outside, -EPERM},
        {AT(symlinkat, 5, TEXT, AT_FDCWD, TEXT), outside, -EPERM},
        {AT(mknodat, 2, AT_FDCWD, TEXT, 0666, 0), new_file, -EPERM},
        {AT(execve, 1, TEXT, 0, 0), "/bin/sh", -EACCES},
        {AT(execve, 1, TEXT, 0, 0), outside, -EACCES},
    };
    assert_int_equal(stat(outside, &before), 0);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        /* What is not there cannot be refused. */
        if (strcmp(calls[i].path, "/dev/tty") == 0 && access("/dev/tty", F_OK) != 0)
            continue;
        check_path_call(&calls[i]);
    }
    assert_int_equal(stat(outside, &after), 0);
    assert_int_equal(after.st_size, before.st_size);
    assert_int_equal(after.st_mode, before.st_mode);
    assert_int_equal(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
    assert_int_equal(after.st_nlink, 1);
    assert_int_not_equal(access(new_file, F_OK), 0);
    check_honest();
}

/* Its own folder is the worker's to use, and goes with it whatever is left there. */
static void test_own_folder(void **state)
{
    (void)state;
    need_sandbox();
    const struct path_call calls[] = {
        {AT(mkdirat, 2, AT_FDCWD, TEXT, 0700), "mine", 0},
        {AT(chdir, 1, TEXT), "mine", 0},
        {AT(mkdirat, 2, AT_FDCWD, TEXT, 0), "sealed", 0},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        check_path_call(&calls[i]);
    for (int depth = 0; depth < 200; depth++) {
        const struct path_call deeper[] = {{AT(mkdirat, 2, AT_FDCWD, TEXT, 0700), "deep", 0},
                                           {AT(chdir, 1, TEXT), "deep", 0}};
        check_path_call(&deeper[0]);
        check_path_call(&deeper[1]);
    }
    struct call dies = {.number = SYS_setsid};
    expect_trap(&dies, "setsid");
    char **names = NULL;
    size_t count = 0;
    char cache[64];
    snprintf(cache, sizeof cache, "%s/cache", scratch);
    assert_int_equal(pw_file_list(cache, &names, &count, NULL), PW_OK);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(names[i], "shared");
    free(names);
}

/* ---- limits ---- */

static void test_limits(void **state)
{
    struct small_exec x;
    float out[FLOATS];
    int64_t got;
    (void)state;
    need_sandbox();
    long half = sysconf(_SC_PHYS_PAGES) / 2 / (((long)1 << 30) / sysconf(_SC_PAGESIZE));
    assert_int_equal(run(&x, "hoard", "", 0, out), PW_OK);
    memcpy(&got, out, sizeof got);
    assert_in_range(got, 0, half + 2);
    pw_exec_reply_clear(&x.reply);
    /* A process that was given its memory back works on. */
    check_honest();
    /* Nobody gets to be root again, and nobody is when we are. */
    struct call call = {.number = SYS_getuid};
    int64_t uid = result_of(&call);
    assert_true(uid != 0 && (geteuid() == 0 || uid == geteuid()));
    call.number = SYS_setuid;
    assert_int_equal(result_of(&call), -EPERM);
    struct call newer = {.number = 599};
    assert_int_equal(result_of(&newer), -ENOSYS);
}

/* ---- where there is no landlock ---- */

static int without_landlock(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 444, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* In a child, since a filter lasts: 0 when foreign kernels are refused, others run, and a permit changes that. */
static int try_unconfined(const char *unused)
{
    (void)unused;
    struct small_exec x;
    char why[160], spec[600], cache[64];
    float in[FLOATS] = {1.0f}, out[FLOATS];
    const char *build = getenv("PW_BUILD");
    struct pw_device_options options = {.workers = 1, .cache_dir = cache};
    snprintf(spec, sizeof spec, "plugin:%s/tests/plugin/toy.so", build ? build : ".");
    snprintf(cache, sizeof cache, "%s/cache", scratch);
    if (without_landlock() != 0)
        return 77;
    if (pw_sandbox_confines(why, sizeof why) || !strstr(why, "landlock"))
        return 2;
    device = NULL;
    if (pw_device_open(spec, &options, &device, NULL) != PW_OK)
        return 3;
    if (run(&x, "add_one", in, sizeof in, out) != PW_ERR_TARGET || !strstr(x.err.message, "--unsafe-kernels"))
        return 4;
    pw_exec_reply_clear(&x.reply);
    x.plan.program.foreign = false;
    if (pw_device_execute(device, &x.request, &x.reply, &x.err) != PW_OK)
        return 5;
    pw_exec_reply_clear(&x.reply);
    pw_sandbox_permit_unconfined();
    if (run(&x, "add_one", in, sizeof in, out) != PW_OK || out[0] != 2.0f)
        return 6;
    pw_exec_reply_clear(&x.reply);
    pw_device_close(device);
    return 0;
}

/* Exit code of the program given a folder of kernels, without landlock. */
static int try_program(const char *permit)
{
    const char *program = getenv("PORTWRIGHT");
    int null = open("/dev/null", O_WRONLY);
    if (!program || without_landlock() != 0 || null < 0)
        return 77;
    dup2(null, STDERR_FILENO);
    execl(program, program, "check", "/nonexistent/model.onnx", "--ops-dir", scratch, permit, (char *)NULL);
    return 77;
}

static int in_child(int (*run_it)(const char *), const char *argument)
{
    int status = 0;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(run_it(argument));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_without_landlock(void **state)
{
    (void)state;
    int code = in_child(try_unconfined, NULL);
    if (code == 77)
        skip();
    assert_int_equal(code, 0);
    code = in_child(try_program, NULL);
    if (code == 77)
        skip();
    assert_int_equal(code, 3);
    assert_int_equal(in_child(try_program, "--unsafe-kernels"), 2); /* there is no such model */
}

/* ---- as whom ---- */

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
    snprintf(outside, sizeof outside, "%s/outside", scratch);
    snprintf(new_file, sizeof new_file, "%s/new", scratch);
    if (pw_file_write(outside, "leave me alone\n", 15, NULL) != PW_OK)
        return -1;
    if (!confined())
        print_message("no sandbox here: its tests are skipped\n");
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

static int run_group(const char *name)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trapped),          cmocka_unit_test(test_files),
        cmocka_unit_test(test_own_folder),       cmocka_unit_test(test_limits),
        cmocka_unit_test(test_without_landlock),
    };
    return cmocka_run_group_tests_name(name, tests, group_setup, group_teardown);
}

#define USER 65533

static void test_as_user(void **state)
{
    int status = 0;
    (void)state;
    if (geteuid() != 0 || !confined())
        skip();
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        setenv("HOME", "/nonexistent", 1);
        if (setgroups(0, NULL) != 0 || setgid(USER) != 0 || setuid(USER) != 0)
            _exit(77);
        execl("/proc/self/exe", "test_sandbox", "user", (char *)NULL);
        _exit(78);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
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
    if (argc > 1 && strcmp(argv[1], "user") == 0) {
        char plugin[600];
        const char *build = getenv("PW_BUILD");
        snprintf(plugin, sizeof plugin, "%s/tests/plugin/toy.so", build ? build : ".");
        return access(plugin, R_OK) == 0 ? run_group("sandbox as a user") : 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_user)};
    int failed = run_group("sandbox");
    return failed + cmocka_run_group_tests_name("sandbox of a user", tests, NULL, NULL);
}
