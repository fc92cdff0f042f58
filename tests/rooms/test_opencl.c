/*
 * Runs every room's named cases on the OpenCL target, with every kernel that serves them (and the vendor's
 * library) and not only with the selected one, and compares with the hand-computed outputs: one test a
 * kernel, one for the library, and one that every operator which a description lists has run. A case that a
 * kernel does not serve is named with the reason.
 *
 *   test_opencl [PART]     only cases whose name, or kernels whose name, has PART in it
 */
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
#include "base/parallel.h"
#include "graph/infer.h"
#include "op/cases.h"
#include "target/device.h"
#include "target/remove.h"
#include "tensor/compare.h"

#define KERNELS_MAX 512

typedef enum { UNSUPPORTED, HELD, FAILED } outcome;

struct job {
    const struct pw_room_case *c;
    const struct pw_kernel *kernel; /* NULL: the library */
    const struct pw_op *op;
    outcome outcome;
    char text[2048]; /* why not, or what failed */
};

static struct pw_device *device;
static struct pw_kernels *kernels;
static struct job *jobs;
static size_t job_count, job_cap;
static char own_cache[] = "/tmp/portwright-test-XXXXXX";
static bool remove_cache;

/* ---- one case on one kernel ---- */

struct run {
    struct job *job;
    struct pw_case_data data;
    struct pw_dims *dims;
    struct pw_arena arena;
    struct pw_call call;
    const struct pw_value *in[PW_CASE_MAX_INPUTS];
    struct pw_value outputs[PW_CASE_MAX_OUTPUTS];
    struct pw_plan plan;
    struct pw_buf why;
    struct pw_error err;
};

static void say(struct run *r, outcome what, const char *text)
{
    r->job->outcome = what;
    snprintf(r->job->text, sizeof r->job->text, "%s", text);
}

/* What a kernel in this dtype may be off, above what the case itself allows. */
static double tolerance_of(const struct pw_room_case *c, pw_dtype dtype)
{
    double own = c->rtol > 0 ? c->rtol : 1e-6, epsilon = pw_dtype_epsilon(dtype);
    double kernel = dtype == PW_DTYPE_FLOAT32 ? 64 * epsilon : dtype == PW_DTYPE_FLOAT64 ? 0 : 2 * epsilon;
    return own > kernel ? own : kernel;
}

static bool compare_output(struct run *r, size_t i)
{
    const struct pw_tensor *want = &r->data.outputs[i].tensor, *got = &r->outputs[i].tensor;
    struct pw_tensor golden = {0};
    struct pw_comparison result;
    bool held = false;
    double tolerance = pw_dtype_is_float(want->dtype) ? tolerance_of(r->job->c, want->dtype) : 0;
    pw_status status = PW_OK;
    if (pw_dtype_is_float(want->dtype)) {
        status = pw_tensor_convert(&golden, want, PW_DTYPE_FLOAT64, &r->err);
        golden.nominal = want->dtype;
    } else {
        pw_tensor_borrow(&golden, want->dtype, want->rank, want->dims, want->data);
    }
    if (status == PW_OK)
        status = pw_compare(got, &golden, tolerance, -1, &result, &r->err);
    if (status == PW_OK) {
        held = result.over == 0;
        if (!held) {
            char text[512];
            snprintf(text, sizeof text,
                     "output %zu: %lld of %lld elements off, worst at %lld: %.9g instead of %.9g (error %.3g, "
                     "tolerance %.3g)",
                     i, (long long)result.over, (long long)result.count, (long long)result.worst, result.worst_got,
                     result.worst_want, result.max_error, tolerance);
            say(r, FAILED, text);
        }
    } else {
        say(r, FAILED, r->err.message);
    }
    pw_tensor_clear(&golden);
    return held;
}

static pw_status make_outputs(struct run *r)
{
    for (int i = 0; i < r->call.output_count; i++) {
        const struct pw_info *info = &r->call.out[i];
        int64_t dims[PW_MAX_RANK];
        if (!r->call.wanted[i])
            continue;
        for (int d = 0; d < info->rank; d++)
            dims[d] = info->dims[d];
        pw_status status = pw_tensor_init(&r->outputs[i].tensor, info->dtype, info->rank, dims, &r->err);
        if (status != PW_OK)
            return status;
        r->outputs[i].kind = PW_VALUE_TENSOR;
    }
    return PW_OK;
}

static void execute(struct run *r, bool constant)
{
    bool constants[PW_CASE_MAX_INPUTS];
    struct pw_exec_reply reply;
    for (int i = 0; i < PW_CASE_MAX_INPUTS; i++)
        constants[i] = constant;
    struct pw_exec_request request = {.plan = r->job->kernel ? &r->plan : NULL,
                                      .library = !r->job->kernel,
                                      .call = &r->call,
                                      .inputs = r->in,
                                      .input_count = r->call.input_count,
                                      .constant = constants,
                                      .outputs = r->outputs,
                                      .output_count = r->call.output_count,
                                      .poison = true,
                                      .seed = 7};
    pw_status status = pw_device_execute(device, &request, &reply, &r->err);
    if (status != PW_OK) {
        char text[2048];
        snprintf(text, sizeof text, "%.800s\n%.1200s", r->err.message, pw_buf_text(&reply.log));
        say(r, FAILED, text);
    } else if (reply.overrun) {
        char text[256];
        snprintf(text, sizeof text, "wrote over %s", reply.where);
        say(r, FAILED, text);
    } else if (pw_call_cut(&r->call, reply.found, r->outputs, &r->err) != PW_OK) {
        say(r, FAILED, r->err.message);
    } else {
        say(r, HELD, "");
        for (size_t i = 0; i < r->data.output_count && r->job->outcome == HELD; i++)
            if (r->data.outputs[i].kind == PW_VALUE_TENSOR)
                compare_output(r, i);
        if (r->job->outcome == HELD && r->call.op->property &&
            r->call.op->property(&r->call, r->in, r->outputs, &r->err) != PW_OK)
            say(r, FAILED, r->err.message);
    }
    pw_exec_reply_clear(&reply);
}

static bool packs(const struct pw_plan *plan)
{
    for (size_t i = 0; i < plan->buffer_count; i++)
        if (plan->buffers[i].kind == PW_BUFFER_PACKED)
            return true;
    return false;
}

static void run_job(struct job *job)
{
    struct run r = {.job = job};
    bool supported = false;
    int64_t priority;
    pw_status status = pw_case_parse(job->c, &r.data, &r.err);
    if (status == PW_OK)
        status = pw_dims_create(&r.dims, &r.err);
    for (size_t i = 0; i < r.data.input_count; i++)
        r.in[i] = r.data.inputs[i].kind == PW_VALUE_NONE ? NULL : &r.data.inputs[i];
    if (status == PW_OK)
        status = pw_call_from_values(r.data.node, r.in, (int)r.data.input_count, r.dims, &r.arena, &r.call, &r.err);
    if (status == PW_OK)
        pw_call_take_most(&r.call);
    if (status == PW_OK && !job->kernel)
        status = pw_device_library_supports(device, &r.call, &supported, &r.why, &r.err);
    else if (status == PW_OK)
        status = pw_kernel_supports(job->kernel, &r.call, pw_device_facts(device), NULL, 0, &supported, &priority,
                                    &r.why, &r.err);
    if (status == PW_OK && !supported) {
        say(&r, UNSUPPORTED, pw_buf_text(&r.why));
        goto done;
    }
    if (status == PW_OK && job->kernel)
        status = pw_kernel_plan(job->kernel, &r.call, pw_device_facts(device), NULL, 0, &r.plan, &r.err);
    if (status == PW_OK)
        status = make_outputs(&r);
    if (status != PW_OK) {
        say(&r, FAILED, r.err.message);
        goto done;
    }
    execute(&r, false);
    /* Twice with packed inputs kept: packed, then taken from where they are kept. */
    for (int i = 0; i < 2 && packs(&r.plan) && job->outcome == HELD; i++)
        execute(&r, true);
done:
    for (int i = 0; i < PW_CASE_MAX_OUTPUTS; i++)
        pw_value_clear(&r.outputs[i]);
    pw_plan_clear(&r.plan);
    pw_case_clear(&r.data);
    pw_dims_destroy(r.dims);
    pw_arena_clear(&r.arena);
    pw_buf_clear(&r.why);
}

static void run_range(void *user, int64_t begin, int64_t end)
{
    (void)user;
    for (int64_t i = begin; i < end; i++)
        run_job(&jobs[i]);
}

/* ---- the tests ---- */

static void test_kernel(void **state)
{
    const struct pw_kernel *kernel = *state;
    const char *name = kernel ? pw_kernel_name(kernel) : pw_device_library(device);
    size_t held = 0, failed = 0;
    for (size_t i = 0; i < job_count; i++) {
        const struct job *job = &jobs[i];
        if (job->kernel != kernel)
            continue;
        held += job->outcome == HELD;
        failed += job->outcome == FAILED;
        if (job->outcome == UNSUPPORTED)
            print_message("not served: %s: %s\n", job->c->name, job->text);
        else if (job->outcome == FAILED)
            print_error("%s by %s: %s\n", job->c->name, name, job->text);
    }
    print_message("%zu cases held\n", held);
    if (failed > 0)
        fail_msg("%zu cases failed on %s (%s)", failed, name, kernel ? pw_kernel_path(kernel) : "library");
    if (!kernel)
        assert_true(held > 0);
}

static bool same_op(const struct pw_op *a, const struct pw_op *b)
{
    return strcmp(a->domain, b->domain) == 0 && strcmp(a->name, b->name) == 0;
}

/* A description may list an operator only if a case shows that it serves it. */
static void test_every_operator_ran(void **state)
{
    size_t missing = 0;
    (void)state;
    for (const struct pw_room *room = pw_rooms; room->name; room++)
        for (const struct pw_op *op = room->ops; op->name; op++) {
            const struct pw_kernel *found[1];
            bool ran = false;
            char label[128];
            if (pw_kernels_for(kernels, op, found, 1) == 0)
                continue;
            for (size_t i = 0; i < job_count && !ran; i++)
                ran = jobs[i].kernel && jobs[i].outcome == HELD && same_op(jobs[i].op, op);
            if (!ran) {
                print_error("%s has kernels (%s), but none of its cases ran\n", pw_op_label(op, label, sizeof label),
                            pw_kernel_name(found[0]));
                missing++;
            }
        }
    assert_int_equal(missing, 0);
}

/* ---- set-up ---- */

/* Operators that a library is asked for. */
static bool library_op(const struct pw_op *op)
{
    return op && pw_device_library(device) && op->category == PW_CATEGORY_MATMUL;
}

static bool add_job(const struct pw_room_case *c, const struct pw_op *op, const struct pw_kernel *kernel,
                    const char *part)
{
    const char *name = kernel ? pw_kernel_name(kernel) : pw_device_library(device);
    if (part && !strstr(c->name, part) && !strstr(name, part))
        return true;
    if (PW_GROW(jobs, job_cap, job_count + 1, NULL) != PW_OK)
        return false;
    jobs[job_count++] = (struct job){.c = c, .kernel = kernel, .op = op};
    return true;
}

static bool add_jobs(const struct pw_room_case *c, const char *part)
{
    const struct pw_kernel *found[KERNELS_MAX];
    struct pw_case_data data;
    struct pw_error err = {0};
    if (c->error)
        return true;
    if (pw_case_parse(c, &data, &err) != PW_OK) {
        print_error("%s\n", err.message);
        return false;
    }
    const struct pw_op *op = data.node->op;
    pw_case_clear(&data);
    size_t count = op ? pw_kernels_for(kernels, op, found, KERNELS_MAX) : 0;
    bool good = !library_op(op) || add_job(c, op, NULL, part);
    for (size_t k = 0; k < count && good; k++)
        good = add_job(c, op, found[k], part);
    return good;
}

static bool open_device(struct pw_error *err)
{
    char dir[2048];
    const char *build = getenv("PW_BUILD");
    struct pw_device_options options = {.cache_dir = dir};
    /* Kept between runs of one build: most of the time goes into compiling. */
    remove_cache = !build;
    if (build)
        snprintf(dir, sizeof dir, "%s/tests/cache", build);
    else
        snprintf(dir, sizeof dir, "%s", mkdtemp(own_cache) ? own_cache : "");
    return pw_device_open("opencl", &options, &device, err) == PW_OK;
}

static bool set_up(const char *part)
{
    struct pw_error err = {0};
    const struct pw_ops_dir dir = {.path = pw_ops_dir_default()};
    if (pw_kernels_load(&dir, 1, &kernels, &err) != PW_OK) {
        print_error("%s\n", err.message);
        return false;
    }
    for (const struct pw_room *room = pw_rooms; room->name; room++)
        for (const struct pw_room_case *c = room->cases; c->name; c++)
            if (!add_jobs(c, part))
                return false;
    pw_parallel_for((int64_t)job_count, 1, run_range, NULL);
    return true;
}

static int no_device(const struct pw_error *err)
{
    print_message("[  SKIPPED ] no OpenCL device: %s\n", err->message);
    return getenv("CI") ? 1 : 77;
}

int main(int argc, char **argv)
{
    static struct CMUnitTest tests[KERNELS_MAX + 2];
    struct pw_error err = {0};
    size_t count = 0;
    const char *part = argc > 1 ? argv[1] : NULL;
    if (part && strcmp(part, "--worker") == 0)
        return pw_worker_main(argc, argv);
    if (!open_device(&err))
        return no_device(&err);
    if (!set_up(part))
        return 1;
    for (size_t i = 0; i < pw_kernels_count(kernels) && count < KERNELS_MAX; i++) {
        const struct pw_kernel *kernel = pw_kernels_at(kernels, i);
        bool any = false;
        for (size_t j = 0; j < job_count && !any; j++)
            any = jobs[j].kernel == kernel;
        if (!part || any)
            tests[count++] = (struct CMUnitTest){
                .name = pw_kernel_name(kernel), .test_func = test_kernel, .initial_state = (void *)(uintptr_t)kernel};
    }
    for (size_t j = 0; j < job_count; j++)
        if (!jobs[j].kernel) {
            tests[count++] = (struct CMUnitTest){.name = pw_device_library(device), .test_func = test_kernel};
            break;
        }
    if (!part)
        tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_every_operator_ran);
    int failed = _cmocka_run_group_tests("kernels", tests, count, NULL, NULL);
    pw_device_close(device);
    if (remove_cache)
        pw_remove_tree(own_cache);
    pw_free(jobs);
    pw_kernels_destroy(kernels);
    return failed;
}
