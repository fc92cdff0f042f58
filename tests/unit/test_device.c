/* The pool of workers on an OpenCL device: honest kernels, and everything a bad one can do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device_plans.h"
#include "target/remove.h"

#define N 100

static struct pw_device *device; /* NULL: there is none */
static char cache_dir[] = "/tmp/portwright-test-XXXXXX";

static const char source[] =
    "__kernel void add_one(__global const float *x, __global float *y, int n)\n"
    "{ int i = get_global_id(0); if (i < n) y[i] = x[i] + 1.0f; }\n"
    "__kernel void nothing(__global const float *x, __global float *y, int n) { }\n"
    "__kernel void one_past(__global const float *x, __global float *y, int n) { y[n] = 3.0f; }\n"
    "__kernel void one_before(__global const float *x, __global float *y, int n) { y[-1] = 3.0f; }\n"
    "__kernel void far_past(__global const float *x, __global float *y, int n) { y[n + 2000] = 3.0f; }\n"
    "__kernel void wild(__global const float *x, __global float *y, int n)\n"
    "{ *(__global float *)((size_t)y + ((size_t)1 << 45)) = 1.0f; }\n"
    "__kernel void to_input(__global float *x, __global float *y, int n) { x[0] = 5.0f; }\n"
    "__kernel void slow(__global const volatile float *x, __global volatile float *y, int n)\n"
    "{ float sum = 0.0f; for (int i = 0; i < 100000000; i++) sum += x[i % n];\n"
    "  for (int i = 0; i < n; i++) y[i] = sum; }\n"
    "__kernel void forever(__global const volatile float *x, __global volatile float *y, int n)\n"
    "{ while (x[0] > -1.0f) y[0] = y[0] + 1.0f; }\n";

static void need_device(void)
{
    if (!device)
        skip();
}

static pw_status run(struct small_exec *x, const char *entry, float *in, float *out)
{
    for (int i = 0; i < N; i++) {
        in[i] = (float)i;
        out[i] = -7.0f;
    }
    small_exec_make(x, source, entry, N, in, out, N);
    return pw_device_execute(device, &x->request, &x->reply, &x->err);
}

static void check_honest(void)
{
    struct small_exec x;
    float in[N], out[N];
    pw_status status = run(&x, "add_one", in, out);
    if (status != PW_OK)
        print_error("%s\n%s\n", x.err.message, pw_buf_text(&x.reply.log));
    assert_int_equal(status, PW_OK);
    assert_false(x.reply.overrun);
    assert_false(x.reply.input_changed);
    for (int i = 0; i < N; i++)
        assert_true(out[i] == (float)i + 1.0f);
    pw_exec_reply_clear(&x.reply);
}

static void test_describes(void **state)
{
    (void)state;
    need_device();
    const struct pw_target_info *info = pw_device_info(device);
    assert_true(strlen(info->name) > 0 && strlen(info->driver) > 0 && strlen(info->runtime) > 0);
    assert_string_equal(info->languages[0], "opencl");
    assert_true(info->compute_units >= 1 && info->max_work_group >= 1);
    assert_true(info->accuracy.exp == 3.0 && info->accuracy.tanh == 5.0 && info->accuracy.pow == 16.0 &&
                info->accuracy.divide == 2.5 && info->accuracy.add == 0.0);
    assert_string_equal(pw_device_facts(device)->languages[0], "opencl");
    assert_null(pw_device_facts(device)->languages[1]);
}

static void test_executes(void **state)
{
    (void)state;
    need_device();
    check_honest();
}

static void test_bad_specs(void **state)
{
    (void)state;
    struct pw_device *d = NULL;
    struct pw_error err = {0};
    assert_int_equal(pw_device_open("cuda", NULL, &d, &err), PW_ERR_TARGET);
    assert_non_null(strstr(err.message, "'cuda'"));
    pw_error_clear(&err);
    assert_int_equal(pw_device_open("plugin:/nonexistent/x.so", NULL, &d, &err), PW_ERR_TARGET);
    assert_non_null(strstr(err.message, "/nonexistent/x.so"));
    need_device();
    pw_error_clear(&err);
    assert_int_equal(pw_device_open("opencl:no such platform", NULL, &d, &err), PW_ERR_TARGET);
    assert_non_null(strstr(err.message, "no such platform"));
    assert_non_null(strstr(err.message, "opencl:0:0"));
    assert_null(d);
}

static void test_reference_has_no_workers(void **state)
{
    (void)state;
    struct pw_device *d = NULL;
    struct small_exec x;
    float in[N] = {0}, out[N] = {0};
    assert_int_equal(pw_device_open("reference", NULL, &d, NULL), PW_OK);
    assert_true(pw_device_is_reference(d));
    small_exec_make(&x, source, "add_one", N, in, out, N);
    assert_int_equal(pw_device_execute(d, &x.request, &x.reply, &x.err), PW_ERR_TARGET);
    pw_exec_reply_clear(&x.reply);
    pw_device_close(d);
}

static void test_poison_shows(void **state)
{
    struct small_exec x;
    float in[N], out[N];
    uint32_t first[N];
    (void)state;
    need_device();
    assert_int_equal(run(&x, "nothing", in, out), PW_OK);
    for (int i = 0; i < N; i++)
        assert_true(isnan(out[i]));
    memcpy(first, out, sizeof first);
    pw_exec_reply_clear(&x.reply);
    small_exec_make(&x, source, "nothing", N, in, out, N);
    x.request.seed = 2;
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_OK);
    assert_memory_not_equal(first, out, sizeof first);
    pw_exec_reply_clear(&x.reply);
}

static void test_overruns(void **state)
{
    struct small_exec x;
    float in[N], out[N];
    (void)state;
    need_device();
    assert_int_equal(run(&x, "one_past", in, out), PW_OK);
    assert_true(x.reply.overrun);
    assert_string_equal(x.reply.where, "output 0, 0 bytes past its end");
    pw_exec_reply_clear(&x.reply);
    assert_int_equal(run(&x, "one_before", in, out), PW_OK);
    assert_true(x.reply.overrun);
    assert_string_equal(x.reply.where, "output 0, 4 bytes before its beginning");
    pw_exec_reply_clear(&x.reply);
}

static void expect_crash(const char *entry, const char *words)
{
    struct small_exec x;
    float in[N], out[N];
    assert_int_equal(run(&x, entry, in, out), PW_ERR_CRASH);
    assert_non_null(strstr(x.err.message, "SIGSEGV"));
    if (!strstr(pw_buf_text(&x.reply.log), words))
        fail_msg("'%s' is not in '%s'", words, pw_buf_text(&x.reply.log));
    pw_exec_reply_clear(&x.reply);
    check_honest();
}

static void test_crashes(void **state)
{
    (void)state;
    need_device();
    if (!pw_device_info(device)->shares_host_memory)
        skip();
    expect_crash("far_past", "8000 bytes past the end of output 0");
    expect_crash("wild", "in no buffer");
    expect_crash("to_input", "byte 0 of the read-only input 0");
}

static void test_exact_end(void **state)
{
    struct small_exec x;
    float in[N], out[N];
    (void)state;
    need_device();
    if (!pw_device_info(device)->shares_host_memory)
        skip();
    small_exec_make(&x, source, "one_past", N, in, out, N);
    x.request.exact_end = true;
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_ERR_CRASH);
    assert_non_null(strstr(pw_buf_text(&x.reply.log), "0 bytes past the end of output 0 (400 bytes)"));
    pw_exec_reply_clear(&x.reply);
}

/* 12 floats that end at a page are aligned to 16 bytes, and this kernel counts on 32. */
static void test_exact_end_aligned(void **state)
{
    static const char aligned[] = "__kernel void add_one(__global const float *x, __global float *y, int n)\n"
                                  "{ *(__global float8 *)y = *(__global const float8 *)x + 1.0f;\n"
                                  "  for (int i = 8; i < n; i++) y[i] = x[i] + 1.0f; }\n";
    struct small_exec x;
    float in[12], out[12];
    (void)state;
    need_device();
    for (int i = 0; i < 12; i++)
        in[i] = (float)i;
    small_exec_make(&x, aligned, "add_one", 1, in, out, 12);
    x.request.exact_end = true;
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_OK);
    for (int i = 0; i < 12; i++)
        assert_true(out[i] == (float)i + 1.0f);
    pw_exec_reply_clear(&x.reply);
}

static void test_timeout(void **state)
{
    struct small_exec x;
    float in[N] = {0}, out[N];
    (void)state;
    need_device();
    small_exec_make(&x, source, "forever", 1, in, out, N);
    x.request.deadline_ns = 1500000000;
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_ERR_TIMEOUT);
    pw_exec_reply_clear(&x.reply);
    check_honest();
}

static void test_cancel(void **state)
{
    struct small_exec x;
    float in[N] = {0}, out[N];
    atomic_bool cancel = true;
    (void)state;
    need_device();
    small_exec_make(&x, source, "forever", 1, in, out, N);
    x.request.cancel = &cancel;
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_ERR_CANCELLED);
    pw_exec_reply_clear(&x.reply);
    check_honest();
}

static void test_build_log(void **state)
{
    struct small_exec x;
    float in[N] = {0}, out[N];
    (void)state;
    need_device();
    /* What was refused once is answered without a worker, whose time would be there. */
    for (int i = 0; i < 3; i++) {
        small_exec_make(&x, "__kernel void broken(int n) { undeclared_name = n; }\n", "broken", N, in, out, N);
        assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_ERR_TARGET);
        assert_non_null(strstr(x.err.message, "does not build"));
        assert_non_null(strstr(pw_buf_text(&x.reply.log), "undeclared_name"));
        assert_int_equal(x.reply.times.parent_ns > 0, i == 0);
        pw_exec_reply_clear(&x.reply);
    }
    small_exec_make(&x, "__kernel void broken(int n) { other_name = n; }\n", "broken", N, in, out, N); /* edited */
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_ERR_TARGET);
    assert_non_null(strstr(pw_buf_text(&x.reply.log), "other_name"));
    pw_exec_reply_clear(&x.reply);
    check_honest();
    struct pw_buf log = {0};
    assert_int_equal(pw_device_build(device, &x.plan.plan, &log, NULL), PW_ERR_TARGET);
    assert_non_null(strstr(pw_buf_text(&log), "other_name"));
    pw_buf_clear(&log);
}

static void test_bad_launches(void **state)
{
    struct small_exec x;
    float in[N] = {0}, out[N];
    (void)state;
    need_device();
    small_exec_make(&x, source, "add_one", N, in, out, N);
    x.plan.launch.local[0] = 7;
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_ERR_USAGE);
    assert_non_null(strstr(x.err.message, "does not divide"));
    small_exec_make(&x, source, "no_such_entry", N, in, out, N);
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_ERR_TARGET);
    assert_non_null(strstr(x.err.message, "CL_INVALID_KERNEL_NAME (-46)"));
    pw_exec_reply_clear(&x.reply);
    small_exec_make(&x, source, "add_one", N, in, out, N);
    x.plan.launch.arg_count = 2;
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_ERR_TARGET);
    assert_non_null(strstr(x.err.message, "takes 3 arguments, its description gives 2"));
    pw_exec_reply_clear(&x.reply);
}

/* What was queued before a launch was refused is done, or will never be, when the next request comes. */
static void test_refused_behind_slow(void **state)
{
    struct small_exec x;
    float in[N], out[N];
    (void)state;
    need_device();
    for (int foreign = 0; foreign < 2; foreign++) {
        for (int i = 0; i < N; i++)
            in[i] = (float)i;
        small_exec_make(&x, source, "slow", 1, in, out, N);
        struct pw_plan_launch launches[2] = {x.plan.launch, x.plan.launch};
        launches[1].entry = "no_such_entry";
        x.plan.plan.launches = launches;
        x.plan.plan.launch_count = 2;
        x.plan.program.foreign = foreign == 1;
        assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_ERR_TARGET);
        assert_non_null(strstr(x.err.message, "no_such_entry"));
        pw_exec_reply_clear(&x.reply);
        small_exec_make(&x, source, "nothing", 1, in, out, N / 2);
        x.plan.program.foreign = foreign == 1;
        assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_OK);
        if (x.reply.overrun)
            fail_msg("%s", x.reply.where);
        for (int i = 0; i < N / 2; i++)
            assert_true(isnan(out[i]));
        pw_exec_reply_clear(&x.reply);
    }
}

/* Packed with a zero point: kept only where both are constant, and known by both. */
static void test_packed_of_two(void **state)
{
    static const char packing[] =
        "__kernel void pack(__global const float *x, __global const float *zero, __global float *p, int n)\n"
        "{ for (int i = 0; i < n; i++) p[i] = x[i] - zero[0]; }\n"
        "__kernel void use(__global const float *p, __global float *y, int n)\n"
        "{ for (int i = 0; i < n; i++) y[i] = p[i]; }\n";
    float in[N], out[N], zero = 0.0f;
    int64_t one = 1;
    (void)state;
    need_device();
    for (int i = 0; i < N; i++)
        in[i] = (float)i;
    for (int round = 0; round < 6; round++) {
        struct small_exec x;
        struct pw_value point = {.kind = PW_VALUE_TENSOR};
        const bool constant[2] = {true, round < 3};
        zero = (float)round;
        small_exec_make(&x, packing, "pack", 1, in, out, N);
        pw_tensor_borrow(&point.tensor, PW_DTYPE_FLOAT32, 1, &one, &zero);
        const struct pw_value *inputs[2] = {&x.input, &point};
        struct pw_plan_buffer buffers[4] = {{.kind = PW_BUFFER_INPUT},
                                            {.kind = PW_BUFFER_INPUT, .index = 1},
                                            {.kind = PW_BUFFER_PACKED, .size_bytes = sizeof in},
                                            {.kind = PW_BUFFER_OUTPUT}};
        const struct pw_plan_arg pack[4] = {{.kind = PW_ARG_BUFFER},
                                            {.kind = PW_ARG_BUFFER, .buffer = 1},
                                            {.kind = PW_ARG_BUFFER, .buffer = 2},
                                            {.kind = PW_ARG_INT, .i = N}};
        const struct pw_plan_arg use[3] = {
            {.kind = PW_ARG_BUFFER, .buffer = 2}, {.kind = PW_ARG_BUFFER, .buffer = 3}, {.kind = PW_ARG_INT, .i = N}};
        struct pw_plan_launch launches[2] = {x.plan.launch, x.plan.launch};
        launches[0].pack = true;
        launches[0].args = pack;
        launches[0].arg_count = 4;
        launches[1].entry = "use";
        launches[1].args = use;
        launches[1].arg_count = 3;
        x.plan.plan.buffers = buffers;
        x.plan.plan.buffer_count = 4;
        x.plan.plan.launches = launches;
        x.plan.plan.launch_count = 2;
        x.request.inputs = inputs;
        x.request.input_count = 2;
        x.request.constant = constant;
        if (pw_device_execute(device, &x.request, &x.reply, &x.err) != PW_OK)
            fail_msg("%s", x.err.message);
        for (int i = 0; i < N; i++)
            assert_true(out[i] == in[i] - zero);
        pw_exec_reply_clear(&x.reply);
    }
}

/* One constant input, packed in two ways into buffers of the same size. */
static void test_packed_twice(void **state)
{
    static const char packing[] =
        "__kernel void once(__global const float *x, __global float *p, int n)\n"
        "{ for (int i = 0; i < n; i++) p[i] = x[i]; }\n"
        "__kernel void twice(__global const float *x, __global float *p, int n)\n"
        "{ for (int i = 0; i < n; i++) p[i] = 2.0f * x[i]; }\n"
        "__kernel void use(__global const float *p, __global const float *q, __global float *y, int n)\n"
        "{ for (int i = 0; i < n; i++) y[i] = q[i] - p[i]; }\n";
    struct pw_plan_buffer buffers[4] = {{.kind = PW_BUFFER_INPUT},
                                        {.kind = PW_BUFFER_PACKED, .size_bytes = N * sizeof(float)},
                                        {.kind = PW_BUFFER_PACKED, .size_bytes = N * sizeof(float)},
                                        {.kind = PW_BUFFER_OUTPUT}};
    const struct pw_plan_arg count = {.kind = PW_ARG_INT, .i = N};
    const struct pw_plan_arg once[3] = {{.kind = PW_ARG_BUFFER}, {.kind = PW_ARG_BUFFER, .buffer = 1}, count};
    const struct pw_plan_arg twice[3] = {{.kind = PW_ARG_BUFFER}, {.kind = PW_ARG_BUFFER, .buffer = 2}, count};
    const struct pw_plan_arg use[4] = {{.kind = PW_ARG_BUFFER, .buffer = 1},
                                       {.kind = PW_ARG_BUFFER, .buffer = 2},
                                       {.kind = PW_ARG_BUFFER, .buffer = 3},
                                       count};
    const bool constant[1] = {true};
    float in[N], out[N];
    (void)state;
    need_device();
    for (int i = 0; i < N; i++)
        in[i] = (float)i + 1.0f;
    for (int round = 0; round < 3; round++) {
        struct small_exec x;
        small_exec_make(&x, packing, "once", 1, in, out, N);
        struct pw_plan_launch launches[3] = {x.plan.launch, x.plan.launch, x.plan.launch};
        launches[0].pack = launches[1].pack = true;
        launches[0].args = once;
        launches[1].args = twice;
        launches[1].entry = "twice";
        launches[2].args = use;
        launches[2].entry = "use";
        launches[2].arg_count = 4;
        x.plan.plan.buffers = buffers;
        x.plan.plan.buffer_count = 4;
        x.plan.plan.launches = launches;
        x.plan.plan.launch_count = 3;
        x.request.constant = constant;
        if (pw_device_execute(device, &x.request, &x.reply, &x.err) != PW_OK)
            fail_msg("%s", x.err.message);
        for (int i = 0; i < N; i++)
            assert_true(out[i] == in[i]);
        pw_exec_reply_clear(&x.reply);
    }
}

static void test_empty(void **state)
{
    struct small_exec x;
    float nothing[1] = {0};
    (void)state;
    need_device();
    small_exec_make(&x, source, "add_one", 0, nothing, nothing, 0);
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_OK);
    pw_exec_reply_clear(&x.reply);
    /* Also when the launch is made: the buffers exist. */
    small_exec_make(&x, source, "add_one", 1, nothing, nothing, 0);
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_OK);
    assert_false(x.reply.overrun);
    pw_exec_reply_clear(&x.reply);
}

static void test_repeats(void **state)
{
    struct small_exec x;
    float in[N], out[N];
    int64_t samples[20] = {0};
    (void)state;
    need_device();
    small_exec_make(&x, source, "add_one", N, in, out, N);
    x.request.repeats = 20;
    x.request.samples_ns = samples;
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_OK);
    assert_int_equal(x.reply.sample_count, 20);
    for (int i = 0; i < 20; i++)
        assert_true(samples[i] > 0 && samples[i] <= x.reply.times.parent_ns);
    assert_true(x.reply.times.wall_ns > 0 && x.reply.times.wall_ns <= x.reply.times.parent_ns);
    pw_exec_reply_clear(&x.reply);
    x.request.min_time_ns = 1;
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_OK);
    assert_int_equal(x.reply.sample_count, 1);
    pw_exec_reply_clear(&x.reply);
}

/* Timed run 0 takes the alternate, run 1 the input…: the outputs are of the last run's. */
static void test_alternates(void **state)
{
    struct small_exec x;
    float in[N], out[N], other[N];
    int64_t dims = N;
    struct pw_value value = {.kind = PW_VALUE_TENSOR};
    const struct pw_value *alternate[1] = {&value};
    (void)state;
    need_device();
    for (int i = 0; i < N; i++)
        other[i] = 1000.0f + (float)i;
    pw_tensor_borrow(&value.tensor, PW_DTYPE_FLOAT32, 1, &dims, other);
    for (int repeats = 0; repeats < 4; repeats++) {
        small_exec_make(&x, source, "add_one", N, in, out, N);
        for (int i = 0; i < N; i++)
            in[i] = (float)i;
        x.request.repeats = repeats;
        x.request.alternate = alternate;
        x.request.flush_bytes = repeats == 3 ? 3 << 20 : 0;
        assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_OK);
        assert_int_equal(x.reply.sample_count, repeats);
        assert_int_equal(x.reply.alternate_last, repeats % 2 == 1);
        assert_true(out[7] == (repeats % 2 == 1 ? 1008.0f : 8.0f));
        assert_false(x.reply.overrun);
        assert_false(x.reply.input_changed);
        pw_exec_reply_clear(&x.reply);
    }
    value.tensor.dtype = PW_DTYPE_FLOAT16; /* not the same type: left alone */
    small_exec_make(&x, source, "add_one", N, in, out, N);
    x.request.repeats = 1;
    x.request.alternate = alternate;
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_OK);
    assert_false(x.reply.alternate_last);
    assert_true(out[7] == in[7] + 1.0f);
    pw_exec_reply_clear(&x.reply);
}

static int count_fds(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

static void test_many_crashes(void **state)
{
    struct small_exec x;
    float in[N], out[N];
    (void)state;
    need_device();
    check_honest();
    int before = count_fds();
    for (int i = 0; i < 100; i++) {
        assert_int_equal(run(&x, "wild", in, out), PW_ERR_CRASH);
        pw_exec_reply_clear(&x.reply);
    }
    check_honest();
    assert_in_range(count_fds(), before - 5, before + 5);
    /* The workers that are left run: no child waits to be reaped. */
    siginfo_t info = {0};
    assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    assert_int_equal(info.si_pid, 0);
}

static int count_throwaway(void)
{
    int count = 0;
    struct dirent *entry;
    DIR *dir = opendir(cache_dir);
    while (dir && (entry = readdir(dir)) != NULL)
        count += strncmp(entry->d_name, "portwright-throwaway-", 21) == 0;
    if (dir)
        closedir(dir);
    return count;
}

/* Children of this process in a state, as /proc has it: 'T' is stopped. */
static int count_children(char state)
{
    int count = 0;
    struct dirent *entry;
    DIR *dir = opendir("/proc");
    while (dir && (entry = readdir(dir)) != NULL) {
        char path[300], is = 0;
        int parent = 0;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *file = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(path, "re") : NULL;
        if (file && fscanf(file, "%*d (%*[^)]) %c %d", &is, &parent) == 2)
            count += is == state && parent == getpid();
        if (file)
            fclose(file);
    }
    if (dir)
        closedir(dir);
    return count;
}

/* Waits until so many children are in the state: a stop takes a moment to arrive. */
static int children_become(char state, int wanted)
{
    int count = count_children(state);

    for (int tries = 0; count != wanted && tries < 200; tries++) {
        struct timespec pause = {.tv_nsec = 10000000};

        nanosleep(&pause, NULL);
        count = count_children(state);
    }
    return count;
}

/* A program that was started as a worker starts none: a main that does not know --worker would do so for ever. */
static void test_no_workers_of_workers(void **state)
{
    struct pw_device *other = NULL;
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(setenv("PORTWRIGHT_WORKER", "1", 1), 0);
    assert_int_not_equal(pw_device_open("opencl", NULL, &other, &err), PW_OK);
    assert_int_equal(unsetenv("PORTWRIGHT_WORKER"), 0);
    assert_null(other);
    assert_non_null(strstr(err.message, "a worker starts no workers"));
}

/* A kernel from outside gets a worker and a cache of its own, which go when another kernel comes. */
static void test_foreign(void **state)
{
    static const char other[] = "__kernel void add_one(__global const float *x, __global float *y, int n)\n"
                                "{ int i = get_global_id(0); if (i < n) y[i] = x[i] + 2.0f; }\n";
    struct small_exec x;
    float in[N] = {0}, out[N];
    (void)state;
    need_device();
    check_honest();
    assert_int_equal(count_throwaway(), 0);
    for (int i = 0; i < 2; i++) {
        small_exec_make(&x, other, "add_one", N, in, out, N);
        x.plan.program.foreign = true;
        assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_OK);
        assert_true(out[0] == 2.0f && out[N - 1] == 2.0f);
        assert_int_equal(count_throwaway(), 1);
        assert_int_equal(children_become('T', 1), 1); /* it sleeps until it is asked again */
        pw_exec_reply_clear(&x.reply);
    }
    check_honest();
    assert_int_equal(count_throwaway(), 0);
    assert_int_equal(children_become('T', 0), 0);
}

/* What a killed process left behind goes when the next one opens the device; what is young or alive stays. */
static void test_sweeps(void **state)
{
    struct pw_device_options options = {.workers = 1, .cache_dir = cache_dir};
    struct pw_device *d = NULL;
    char dead[128], young[128], alive[128], file[160];
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    (void)state;
    need_device();
    snprintf(dead, sizeof dead, "%s/portwright-throwaway-%d-aaaaaa", cache_dir, 0x7ffffffe);
    snprintf(young, sizeof young, "%s/portwright-throwaway-%d-bbbbbb", cache_dir, 0x7ffffffe);
    snprintf(alive, sizeof alive, "%s/portwright-throwaway-%d-cccccc", cache_dir, (int)getpid());
    snprintf(file, sizeof file, "%s/file", dead);
    assert_int_equal(mkdir(dead, 0700) | mkdir(young, 0700) | mkdir(alive, 0700), 0);
    fclose(fopen(file, "w"));
    assert_int_equal(utimensat(AT_FDCWD, dead, old, 0) | utimensat(AT_FDCWD, alive, old, 0), 0);
    assert_int_equal(pw_device_open("opencl", &options, &d, NULL), PW_OK);
    pw_device_close(d);
    assert_int_not_equal(access(dead, F_OK), 0);
    assert_int_equal(access(young, F_OK), 0);
    assert_int_equal(access(alive, F_OK), 0);
    rmdir(young);
    rmdir(alive);
}

static void test_lists(void **state)
{
    struct pw_buf list = {0};
    struct pw_error err = {0};
    (void)state;
    need_device();
    assert_int_equal(pw_device_list(&list, &err), PW_OK);
    assert_int_equal(strncmp(pw_buf_text(&list), "opencl:0:0 ", 11), 0);
    assert_non_null(strstr(pw_buf_text(&list), pw_device_info(device)->name));
    pw_buf_clear(&list);
}

/* ---- several threads on a pool of two ---- */

#define THREADS 4
#define ROUNDS 20

static struct pw_device *pool;

static void *use_pool(void *arg)
{
    float in[N], out[N];
    size_t thread = (size_t)(uintptr_t)arg, bad = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct small_exec x;
        bool crash = (round + (int)thread) % 7 == 3;
        for (int i = 0; i < N; i++)
            in[i] = (float)(i * 10 + (int)thread);
        small_exec_make(&x, source, crash ? "wild" : "add_one", N, in, out, N);
        pw_status status = pw_device_execute(pool, &x.request, &x.reply, &x.err);
        bad += status != (crash ? PW_ERR_CRASH : PW_OK);
        for (int i = 0; i < N && !crash; i++)
            bad += out[i] != in[i] + 1.0f;
        pw_exec_reply_clear(&x.reply);
    }
    return (void *)(uintptr_t)bad;
}

static void test_threads(void **state)
{
    pthread_t threads[THREADS];
    struct pw_device_options options = {.workers = 2, .cache_dir = cache_dir};
    (void)state;
    need_device();
    assert_int_equal(pw_device_open("opencl", &options, &pool, NULL), PW_OK);
    assert_int_equal(pw_device_workers(pool), 2);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_pool, (void *)(uintptr_t)i), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *bad = NULL;
        pthread_join(threads[i], &bad);
        assert_null(bad);
    }
    pw_device_close(pool);
}

static int group_setup(void **state)
{
    struct pw_error err = {0};
    struct pw_device_options options = {.workers = 1, .cache_dir = cache_dir};
    (void)state;
    if (!mkdtemp(cache_dir))
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
    pw_remove_tree(cache_dir);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--worker") == 0)
        return pw_worker_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_describes),
        cmocka_unit_test(test_executes),
        cmocka_unit_test(test_bad_specs),
        cmocka_unit_test(test_reference_has_no_workers),
        cmocka_unit_test(test_poison_shows),
        cmocka_unit_test(test_overruns),
        cmocka_unit_test(test_crashes),
        cmocka_unit_test(test_exact_end),
        cmocka_unit_test(test_exact_end_aligned),
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_build_log),
        cmocka_unit_test(test_bad_launches),
        cmocka_unit_test(test_refused_behind_slow),
        cmocka_unit_test(test_packed_of_two),
        cmocka_unit_test(test_packed_twice),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_alternates),
        cmocka_unit_test(test_no_workers_of_workers),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_sweeps),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_many_crashes),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
