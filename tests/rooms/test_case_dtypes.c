/*
 * Every room's cases in the other dtypes that kernels claim: the inputs of a type variable are converted, golden and
 * each kernel that serves the call run on the same, and the outputs are held to the protocol's tolerance. A program is
 * compiled for each dtype, so without arguments each operator takes its turn at one; all of them with
 *
 *   test_case_dtypes all [PART]      only cases whose name has PART in it
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "graph/infer.h"
#include "op/cases.h"
#include "run/eval.h"
#include "target/device.h"
#include "target/remove.h"
#include "tensor/compare.h"
#include "verify/protocol.h"

enum { KERNELS_MAX = 64 };

struct job {
    const struct pw_room_case *c;
    const char *variable;
    pw_dtype dtype;
    size_t ran;
    char text[1024]; /* what failed; "" when all held */
};

static struct pw_device *device;
static struct pw_kernels *kernels;
static struct pw_protocol *protocol;
static struct job *jobs;
static size_t job_count, job_cap;
static char scratch[] = "/tmp/portwright-test-XXXXXX";

struct work {
    struct pw_case_data data;
    struct pw_dims *dims;
    struct pw_arena arena;
    struct pw_call call;
    const struct pw_value *in[PW_CASE_MAX_INPUTS];
    struct pw_value carried[PW_CASE_MAX_INPUTS], golden[PW_CASE_MAX_OUTPUTS], got[PW_CASE_MAX_OUTPUTS];
    struct pw_error err;
};

static void clear_work(struct work *w)
{
    for (int i = 0; i < PW_CASE_MAX_INPUTS; i++)
        pw_value_clear(&w->carried[i]);
    for (int i = 0; i < PW_CASE_MAX_OUTPUTS; i++) {
        pw_value_clear(&w->golden[i]);
        pw_value_clear(&w->got[i]);
    }
    pw_case_clear(&w->data);
    pw_dims_destroy(w->dims);
    pw_arena_clear(&w->arena);
}

/* ---- one case in one dtype ---- */

/* The inputs of the variable in the job's dtype. */
static pw_status convert_inputs(const struct job *job, struct work *w)
{
    for (size_t i = 0; i < w->data.input_count; i++) {
        const struct pw_formal *formal = pw_op_formal(w->data.node->op->inputs, i);
        struct pw_value *value = &w->data.inputs[i];
        struct pw_tensor made = {0};
        pw_status status;

        w->in[i] = value->kind == PW_VALUE_NONE ? NULL : value;
        if (value->kind != PW_VALUE_TENSOR || formal == NULL || formal->type == NULL ||
            strcmp(formal->type, job->variable) != 0)
            continue;
        status = pw_tensor_convert(&made, &value->tensor, job->dtype, &w->err);
        if (status != PW_OK)
            return status;
        pw_tensor_clear(&value->tensor);
        value->tensor = made;
    }
    return PW_OK;
}

static pw_status prepare(const struct job *job, struct work *w)
{
    pw_status status = pw_case_parse(job->c, &w->data, &w->err);
    int count = (int)w->data.input_count;

    if (status == PW_OK)
        status = pw_dims_create(&w->dims, &w->err);
    if (status == PW_OK)
        status = convert_inputs(job, w);
    if (status == PW_OK)
        status = pw_call_from_values(w->data.node, w->in, count, w->dims, &w->arena, &w->call, &w->err);
    for (int i = 0; i < count && status == PW_OK; i++) {
        if (w->in[i])
            status = pw_eval_carry(&w->carried[i], w->in[i], PW_EVAL_GOLDEN, &w->err);
    }
    if (status == PW_OK) {
        const struct pw_value *in[PW_CASE_MAX_INPUTS];

        for (int i = 0; i < count; i++)
            in[i] = w->in[i] ? &w->carried[i] : NULL;
        status = pw_eval_node(w->data.node, PW_EVAL_GOLDEN, in, count, w->golden, w->call.output_count, 7, &w->err);
    }
    if (status == PW_OK) {
        w->call.seed = 7;
        pw_call_take_most(&w->call);
    }
    return status;
}

static void say(struct job *job, const struct work *w, const struct pw_kernel *kernel, const char *text)
{
    if (!job->text[0])
        snprintf(job->text, sizeof job->text, "%s (%s) in %s by %s: %.700s", job->c->name, w->data.node->op->name,
                 pw_dtype_name(job->dtype), pw_kernel_name(kernel), text);
}

static pw_status make_outputs(struct work *w)
{
    for (int i = 0; i < w->call.output_count; i++) {
        const struct pw_info *info = &w->call.out[i];
        int64_t dims[PW_MAX_RANK];
        pw_status status;

        pw_value_clear(&w->got[i]);
        if (!w->call.wanted[i])
            continue;
        for (int d = 0; d < info->rank; d++) {
            if (!pw_dims_value(w->dims, info->dims[d], &dims[d]))
                return pw_error_set(&w->err, PW_ERR_UNSUPPORTED, "a size that only the run decides");
        }
        status = pw_tensor_init(&w->got[i].tensor, info->dtype, info->rank, dims, &w->err);
        if (status != PW_OK)
            return status;
        w->got[i].kind = PW_VALUE_TENSOR;
    }
    return PW_OK;
}

static void compare(struct job *job, struct work *w, const struct pw_kernel *kernel)
{
    double tolerance = 0;
    const char *why = "";

    if (pw_protocol_tolerance(protocol, &w->call, "", pw_device_info(device), &w->arena, &tolerance, &why, &w->err) !=
        PW_OK) {
        say(job, w, kernel, w->err.message);
        return;
    }
    for (int i = 0; i < w->call.output_count; i++) {
        double epsilon = pw_dtype_epsilon(w->call.out[i].dtype);
        struct pw_comparison result;
        char text[256];

        if (w->got[i].kind != PW_VALUE_TENSOR || w->golden[i].kind != PW_VALUE_TENSOR)
            continue;
        /* The tolerance is the first output's; another one may be stored in a coarser dtype. */
        if (w->call.out[i].dtype != w->call.out[0].dtype && tolerance < epsilon)
            tolerance = epsilon;
        if (pw_compare(&w->got[i].tensor, &w->golden[i].tensor, tolerance, -1, &result, &w->err) != PW_OK) {
            say(job, w, kernel, w->err.message);
        } else if (result.over > 0) {
            snprintf(text, sizeof text,
                     "output %d: %lld of %lld off, worst at %lld: %.9g instead of %.9g (error %.3g, tolerance %.3g)", i,
                     (long long)result.over, (long long)result.count, (long long)result.worst, result.worst_got,
                     result.worst_want, result.max_error, tolerance);
            say(job, w, kernel, text);
        }
    }
}

static void run_kernel(struct job *job, struct work *w, const struct pw_kernel *kernel)
{
    struct pw_plan plan = {0};
    struct pw_exec_request request = {.plan = &plan,
                                      .call = &w->call,
                                      .inputs = w->in,
                                      .outputs = w->got,
                                      .input_count = w->call.input_count,
                                      .output_count = w->call.output_count,
                                      .poison = true,
                                      .seed = 7};
    struct pw_exec_reply reply = {.sample_count = 0};
    bool supported = false;
    pw_status status =
        pw_kernel_supports(kernel, &w->call, pw_device_facts(device), NULL, 0, &supported, NULL, NULL, &w->err);

    if (status == PW_OK && !supported)
        return;
    if (status == PW_OK)
        status = pw_kernel_plan(kernel, &w->call, pw_device_facts(device), NULL, 0, &plan, &w->err);
    if (status == PW_OK)
        status = make_outputs(w);
    if (status == PW_OK)
        status = pw_device_execute(device, &request, &reply, &w->err);
    if (status == PW_OK)
        status = pw_call_cut(&w->call, reply.found, w->got, &w->err);
    if (status == PW_OK && !reply.overrun)
        compare(job, w, kernel);
    else
        say(job, w, kernel, reply.overrun ? "wrote over its buffer" : w->err.message);
    job->ran++;
    pw_exec_reply_clear(&reply);
    pw_plan_clear(&plan);
}

static void run_job(struct job *job)
{
    const struct pw_kernel *found[KERNELS_MAX];
    struct work w = {.dims = NULL};

    /* Where the operator or its reference refuses the dtype there is nothing to compare with. */
    if (prepare(job, &w) == PW_OK) {
        size_t count = pw_kernels_for(kernels, w.call.op, found, KERNELS_MAX);

        for (size_t k = 0; k < count && k < KERNELS_MAX; k++)
            run_kernel(job, &w, found[k]);
    }
    clear_work(&w);
}

static void run_range(void *user, int64_t begin, int64_t end)
{
    (void)user;
    for (int64_t i = begin; i < end; i++)
        run_job(&jobs[i]);
}

/* ---- which ---- */

static bool claimed(const struct pw_op *op, const char *variable, pw_dtype dtype)
{
    const struct pw_kernel *found[KERNELS_MAX];
    size_t count = pw_kernels_for(kernels, op, found, KERNELS_MAX);

    for (size_t k = 0; k < count && k < KERNELS_MAX; k++) {
        if (pw_kernel_claims(found[k], variable, dtype))
            return true;
    }
    return false;
}

/* The type variable of an input that has not been seen before it. */
static const char *variable_of(const struct pw_case_data *data, size_t input)
{
    const struct pw_formal *formal = pw_op_formal(data->node->op->inputs, input);

    if (formal == NULL || formal->type == NULL || (formal->flags & PW_FORMAL_PARAM) != 0 ||
        data->inputs[input].kind != PW_VALUE_TENSOR || pw_dtype_parse(formal->type) != PW_DTYPE_UNDEFINED)
        return NULL;
    for (size_t i = 0; i < input; i++) {
        const struct pw_formal *before = pw_op_formal(data->node->op->inputs, i);

        if (before != NULL && before->type != NULL && strcmp(before->type, formal->type) == 0)
            return NULL;
    }
    return formal->type;
}

static void add_case(const struct pw_room_case *c, bool all, size_t *turn)
{
    struct pw_case_data data = {0};
    struct pw_error err = {0};

    if (c->error != NULL || pw_case_parse(c, &data, &err) != PW_OK)
        return;
    for (size_t i = 0; i < data.input_count && data.node->op != NULL; i++) {
        const char *variable = variable_of(&data, i);
        pw_dtype choices[PW_DTYPE_COUNT];
        size_t count = 0;

        for (int d = 1; variable != NULL && d < PW_DTYPE_COUNT; d++) {
            if ((pw_dtype)d != data.inputs[i].tensor.dtype && claimed(data.node->op, variable, (pw_dtype)d))
                choices[count++] = (pw_dtype)d;
        }
        for (size_t k = 0; k < count; k++) {
            if (!all && k != *turn % count)
                continue;
            if (PW_GROW(jobs, job_cap, job_count + 1, &err) != PW_OK)
                break;
            jobs[job_count++] = (struct job){.c = c, .variable = variable, .dtype = choices[k]};
        }
        *turn += variable != NULL;
    }
    pw_case_clear(&data);
}

/* In the short run the first case of every few operators. */
static void choose(bool all, const char *part)
{
    const char *last = "";
    size_t turn = 0, operators = 0;

    for (const struct pw_room *room = pw_rooms; room->name; room++) {
        for (const struct pw_room_case *c = room->cases; c->name; c++) {
            size_t length = strcspn(c->call, "- ");
            bool fresh = strncmp(c->call, last, length + 1) != 0;

            operators += fresh;
            last = c->call;
            if ((part != NULL && strstr(c->name, part) == NULL) || (!all && (!fresh || operators % 8 != 0)))
                continue;
            add_case(c, all, &turn);
        }
    }
}

static void test_all(void **state)
{
    size_t failed = 0, ran = 0;

    (void)state;
    pw_parallel_for((int64_t)job_count, 1, run_range, NULL);
    for (size_t i = 0; i < job_count; i++) {
        ran += jobs[i].ran;
        failed += jobs[i].text[0] != 0;
        if (jobs[i].text[0])
            print_error("%s\n", jobs[i].text);
    }
    print_message("%zu calls of %zu cases and dtypes\n", ran, job_count);
    assert_int_equal(failed, 0);
    assert_true(ran > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    const struct pw_ops_dir dir = {pw_ops_dir_default(), false};
    struct pw_error err = {0};
    struct pw_buf cache = {0};
    const char *build = getenv("PW_BUILD");
    struct pw_device_options options = {0};
    int failed;

    if (argc > 1 && strcmp(argv[1], "--worker") == 0)
        return pw_worker_main(argc, argv);
    if (!mkdtemp(scratch))
        return 1;
    pw_buf_printf(&cache, "%s/%s", build ? build : scratch, build ? "tests/cache" : "cache");
    options.cache_dir = pw_buf_text(&cache);
    if (pw_device_open("opencl", &options, &device, &err) != PW_OK) {
        print_message("[  SKIPPED ] no OpenCL device: %s\n", err.message);
        pw_remove_tree(scratch);
        return getenv("CI") ? 1 : 77;
    }
    if (pw_kernels_load(&dir, 1, &kernels, &err) != PW_OK || pw_protocol_default(&protocol, &err) != PW_OK) {
        print_error("%s\n", err.message);
        return 1;
    }
    choose(argc > 1 && strcmp(argv[1], "all") == 0, argc > 2 ? argv[2] : NULL);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    pw_free(jobs);
    pw_device_close(device);
    pw_protocol_destroy(protocol);
    pw_kernels_destroy(kernels);
    pw_remove_tree(scratch);
    pw_buf_clear(&cache);
    return failed;
}
