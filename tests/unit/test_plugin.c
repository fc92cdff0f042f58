/* A target from a shared object: the toy chip of tests/plugin, which has memory of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device_plans.h"
#include "graph/infer.h"
#include "op/cases.h"

#define N 100
#define ALL "add_one\nnothing\none_past\nto_input\ndie\nspin\nforge\n"

static struct pw_device *device;

static pw_status open_plugin(const char *file, const char *spec, struct pw_device **out, struct pw_error *err)
{
    char text[2048];
    const char *build = getenv("PW_BUILD");
    struct pw_device_options options = {.workers = 1, .cache_dir = NULL};
    snprintf(text, sizeof text, "plugin:%s/tests/plugin/%s%s%s", build ? build : ".", file, spec[0] ? ":" : "", spec);
    return pw_device_open(text, &options, out, err);
}

static pw_status run_source(struct small_exec *x, const char *source, const char *entry, float *in, float *out)
{
    for (int i = 0; i < N; i++)
        in[i] = (float)i - 50.0f;
    small_exec_make(x, source, entry, 1, in, out, N);
    x->plan.program.language = "toy";
    return pw_device_execute(device, &x->request, &x->reply, &x->err);
}

static pw_status run(struct small_exec *x, const char *entry, float *in, float *out)
{
    return run_source(x, ALL, entry, in, out);
}

static void check_honest(void)
{
    struct small_exec x;
    float in[N] = {0}, out[N];
    assert_int_equal(run(&x, "add_one", in, out), PW_OK);
    assert_false(x.reply.overrun);
    assert_false(x.reply.input_changed);
    assert_int_equal(x.reply.times.device_ns, 5);
    assert_string_equal(pw_buf_text(&x.reply.log), "toy: built");
    for (int i = 0; i < N; i++)
        assert_true(out[i] == (float)i - 49.0f);
    pw_exec_reply_clear(&x.reply);
}

static void test_describes(void **state)
{
    (void)state;
    assert_string_equal(pw_device_info(device)->name, "toy");
    assert_string_equal(pw_device_info(device)->languages[0], "toy");
    assert_true(pw_device_info(device)->accuracy.exp < 0);
    assert_string_equal(pw_device_library(device), "toy library 1");
    struct pw_device *named = NULL;
    assert_int_equal(open_plugin("toy.so", "name=Mark II", &named, NULL), PW_OK);
    assert_string_equal(pw_device_info(named)->name, "Mark II");
    pw_device_close(named);
}

static void test_refusals(void **state)
{
    struct pw_device *d = NULL;
    struct pw_error err = {0};
    (void)state;
    assert_int_equal(open_plugin("toy.so", "broken", &d, &err), PW_ERR_TARGET);
    assert_non_null(strstr(err.message, "the toy is broken"));
    pw_error_clear(&err);
    assert_int_equal(open_plugin("empty.so", "", &d, &err), PW_ERR_TARGET);
    assert_non_null(strstr(err.message, "open, close and describe"));
    pw_error_clear(&err);
    assert_int_equal(open_plugin("toy.c", "", &d, &err), PW_ERR_TARGET);
    assert_null(d);
}

static void test_executes(void **state)
{
    (void)state;
    check_honest();
}

static void test_build_failure(void **state)
{
    struct small_exec x;
    float in[N] = {0}, out[N];
    (void)state;
    assert_int_equal(run_source(&x, "add_one\nteleport\n", "add_one", in, out), PW_ERR_TARGET);
    assert_non_null(strstr(pw_buf_text(&x.reply.log), "unknown operation 'teleport'"));
    pw_exec_reply_clear(&x.reply);
}

static void test_guards(void **state)
{
    struct small_exec x;
    float in[N] = {0}, out[N];
    (void)state;
    assert_int_equal(run(&x, "nothing", in, out), PW_OK);
    for (int i = 0; i < N; i++)
        assert_true(isnan(out[i]));
    pw_exec_reply_clear(&x.reply);
    assert_int_equal(run(&x, "one_past", in, out), PW_OK);
    assert_true(x.reply.overrun);
    assert_string_equal(x.reply.where, "output 0, 0 bytes past its end");
    pw_exec_reply_clear(&x.reply);
    assert_int_equal(run(&x, "to_input", in, out), PW_OK);
    assert_true(x.reply.input_changed);
    assert_true(in[0] == -50.0f);
    pw_exec_reply_clear(&x.reply);
}

static void test_crash_keeps_last_words(void **state)
{
    struct small_exec x;
    float in[N] = {0}, out[N];
    (void)state;
    assert_int_equal(run(&x, "die", in, out), PW_ERR_CRASH);
    assert_non_null(strstr(x.err.message, "SIGABRT"));
    assert_non_null(strstr(pw_buf_text(&x.reply.log), "the chip is on fire"));
    pw_exec_reply_clear(&x.reply);
    check_honest();
}

static void test_timeout(void **state)
{
    struct small_exec x;
    float in[N] = {0}, out[N];
    (void)state;
    small_exec_make(&x, ALL, "spin", 1, in, out, N);
    x.plan.program.language = "toy";
    x.request.deadline_ns = 300000000;
    memset(in, 0, sizeof in);
    assert_int_equal(pw_device_execute(device, &x.request, &x.reply, &x.err), PW_ERR_TIMEOUT);
    pw_exec_reply_clear(&x.reply);
    check_honest();
}

/* Of a foreign kernel what the caller gets is what was there when the run said that it was done, and what its timed
 * runs were judged by: not what can be had later. */
static void test_outputs_are_those_judged(void **state)
{
    struct small_exec x;
    float in[N], out[N];
    (void)state;
    for (int repeats = 0; repeats < 3; repeats++) {
        for (int i = 0; i < N; i++)
            in[i] = (float)i - 50.0f;
        small_exec_make(&x, "add_one\nfade\n", "fade", 1, in, out, N);
        x.plan.program.language = "toy";
        x.plan.program.foreign = true;
        x.request.repeats = repeats;
        if (pw_device_execute(device, &x.request, &x.reply, &x.err) != PW_OK)
            fail_msg("%s", x.err.message);
        for (int i = 0; i < N; i++)
            assert_true(out[i] == (float)i - 49.0f);
        pw_exec_reply_clear(&x.reply);
    }
    check_honest();
}

/* What is not a reply of the worker ends the worker and is an error, never a result. */
static void test_forged_reply(void **state)
{
    struct small_exec x;
    float in[N] = {0}, out[N];
    (void)state;
    assert_int_equal(run(&x, "forge", in, out), PW_ERR_TARGET);
    assert_non_null(strstr(x.err.message, "malformed reply"));
    pw_exec_reply_clear(&x.reply);
    check_honest();
}

struct library_case {
    struct pw_case_data data;
    struct pw_dims *dims;
    struct pw_arena arena;
    struct pw_call call;
    const struct pw_value *in[2];
};

static void make_call(struct library_case *l, const struct pw_room_case *c)
{
    struct pw_error err = {0};
    memset(l, 0, sizeof *l);
    if (pw_case_parse(c, &l->data, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(pw_dims_create(&l->dims, &err), PW_OK);
    for (size_t i = 0; i < l->data.input_count; i++)
        l->in[i] = &l->data.inputs[i];
    if (pw_call_from_values(l->data.node, l->in, (int)l->data.input_count, l->dims, &l->arena, &l->call, &err) != PW_OK)
        fail_msg("%s", err.message);
}

static void drop_call(struct library_case *l)
{
    pw_case_clear(&l->data);
    pw_dims_destroy(l->dims);
    pw_arena_clear(&l->arena);
}

static void test_library(void **state)
{
    const struct pw_room_case relu = {"t/relu", "Relu-14", {"float32[4] -1 0 2 -3"}, {"float32[4] 0 0 2 0"}, NULL, 0};
    const struct pw_room_case half = {"t/half", "Relu-14", {"float16[2] -1 1"}, {"float16[2] 0 1"}, NULL, 0};
    const struct pw_room_case matmul = {"t/matmul",         "MatMul-13", {"float32[1,1] 1", "float32[1,1] 1"},
                                        {"float32[1,1] 1"}, NULL,        0};
    const struct {
        const struct pw_room_case *c;
        const char *why;
    } asked[] = {{&relu, NULL}, {&half, "Relu in float32 only"}, {&matmul, "the toy's library has only Relu"}};
    struct library_case l;
    (void)state;
    if (!pw_op_find("", "Relu", 14, NULL))
        skip();
    for (size_t i = 0; i < 3; i++) {
        struct pw_buf why = {0};
        bool yes = false;
        make_call(&l, asked[i].c);
        assert_int_equal(pw_device_library_supports(device, &l.call, &yes, &why, NULL), PW_OK);
        assert_int_equal(yes, asked[i].why == NULL);
        assert_string_equal(pw_buf_text(&why), asked[i].why ? asked[i].why : "");
        pw_buf_clear(&why);
        drop_call(&l);
    }
    float out[4] = {0};
    int64_t count = 4;
    struct pw_value output = {.kind = PW_VALUE_TENSOR};
    struct pw_exec_reply reply;
    make_call(&l, &relu);
    pw_tensor_borrow(&output.tensor, PW_DTYPE_FLOAT32, 1, &count, out);
    struct pw_exec_request request = {.call = &l.call,
                                      .library = true,
                                      .inputs = l.in,
                                      .input_count = 1,
                                      .outputs = &output,
                                      .output_count = 1,
                                      .poison = true};
    assert_int_equal(pw_device_execute(device, &request, &reply, NULL), PW_OK);
    assert_true(out[0] == 0.0f && out[1] == 0.0f && out[2] == 2.0f && out[3] == 0.0f);
    pw_exec_reply_clear(&reply);
    drop_call(&l);
}

/* Whatever allocation fails in this process, the answer is an error and nothing is lost. */
static void test_failing_allocations(void **state)
{
    float in[N] = {0}, out[N];
    bool done = false;
    (void)state;
    for (uint64_t nth = 1; !done && nth < 1000; nth++) {
        struct pw_device *d = NULL;
        struct pw_error err = {0};
        struct small_exec x;
        small_exec_make(&x, ALL, "add_one", 1, in, out, N);
        x.plan.program.language = "toy";
        pw_mem_fail_at(nth, 0);
        pw_status status = open_plugin("toy.so", "", &d, &err);
        if (status == PW_OK) {
            status = pw_device_execute(d, &x.request, &x.reply, &x.err);
            pw_exec_reply_clear(&x.reply);
        }
        done = pw_mem_count() < nth;
        pw_mem_fail_at(0, 0);
        if (done)
            assert_int_equal(status, PW_OK);
        pw_device_close(d);
    }
    assert_true(done);
}

static int group_setup(void **state)
{
    struct pw_error err = {0};
    (void)state;
    if (open_plugin("toy.so", "", &device, &err) == PW_OK)
        return 0;
    print_error("%s\n", err.message);
    return -1;
}

static int group_teardown(void **state)
{
    (void)state;
    pw_device_close(device);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--worker") == 0)
        return pw_worker_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_describes),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_executes),
        cmocka_unit_test(test_build_failure),
        cmocka_unit_test(test_guards),
        cmocka_unit_test(test_crash_keeps_last_words),
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_forged_reply),
        cmocka_unit_test(test_outputs_are_those_judged),
        cmocka_unit_test(test_library),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
