/*
 * The elementwise rooms' kernels in the dtypes they claim, against golden, on drawn inputs and several
 * broadcasts. To keep the compiling short each operator takes its turn at some of its dtypes; all of them with
 *
 *   test_dtypes all [OPERATOR]
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

#include "base/parallel.h"
#include "base/random.h"
#include "graph/infer.h"
#include "op/cases.h"
#include "run/eval.h"
#include "target/device.h"
#include "target/remove.h"
#include "tensor/compare.h"

enum { SHAPES = 4, INPUTS = 3, JOBS_MAX = 4096 };

struct job {
    const struct pw_op *op;
    pw_dtype dtype;
    const char *attributes;
    int ran;
    char text[1024]; /* what failed; "" when all held */
};

static struct pw_device *device;
static struct pw_kernels *kernels;
static struct job jobs[JOBS_MAX];
static size_t job_count;
static char scratch[] = "/tmp/portwright-test-XXXXXX";

/* ---- one call ---- */

/* Shapes of up to three inputs: the same, a row and a column, a scalar second, a scalar first. */
static const char *const shapes[SHAPES][INPUTS] = {
    {"[7,19]", "[7,19]", "[7,19]"},
    {"[2,3,1]", "[3,37]", "[2,1,37]"},
    {"[5,2,9]", "[]", "[9]"},
    {"[1]", "[4,33]", "[4,1]"},
};

struct work {
    struct pw_case_data data;
    struct pw_dims *dims;
    struct pw_arena arena;
    struct pw_call call;
    const struct pw_value *in[INPUTS];
    struct pw_value carried[INPUTS], golden, got;
    struct pw_plan plan;
    struct pw_error err;
};

static void draw(struct pw_tensor *t, const struct pw_fill *fill, uint64_t stream)
{
    double low = isfinite(fill->low) ? fill->low : -3, high = isfinite(fill->high) ? fill->high : 3;

    for (int64_t i = 0; i < t->count; i++) {
        if (t->dtype == PW_DTYPE_BOOL)
            pw_tensor_set_int(t, i, pw_random_range(11, stream, (uint64_t)i, 0, 1));
        else if (pw_dtype_is_integer(t->dtype))
            pw_tensor_set_int(t, i,
                              pw_random_range(11, stream, (uint64_t)i,
                                              pw_dtype_facts(t->dtype)->kind == PW_KIND_UNSIGNED && fill->int_low < 0
                                                  ? 0
                                                  : fill->int_low,
                                              fill->int_high));
        else
            pw_tensor_set(t, i, low + (high - low) * (double)pw_random_unit(11, stream, (uint64_t)i));
    }
}

static double tolerance_of(const struct pw_call *call)
{
    struct pw_accuracy a = {.length = 1, .amplification = 1, .ulp = 1};
    pw_dtype dtype = call->out[0].dtype;
    double inside = pw_dtype_epsilon(dtype == PW_DTYPE_FLOAT64 ? dtype : PW_DTYPE_FLOAT32);

    call->op->accuracy(call, &a);
    if (a.exact || !pw_dtype_is_float(dtype))
        return 0;
    return 0.5 * pw_dtype_epsilon(dtype) + (a.ulp + 2) * inside * fmax(a.amplification, 1);
}

static pw_status prepare(struct work *w, const struct job *job, int shape)
{
    char call[160], inputs[INPUTS][64];
    struct pw_room_case c = {.name = job->op->name, .call = call, .outputs = {"-"}};
    bool many = (job->op->inputs[0].flags & PW_FORMAL_VARIADIC) != 0;
    int count = 0;
    pw_status status;

    snprintf(call, sizeof call, "%s%s%s-%d %s", job->op->domain, *job->op->domain ? ":" : "", job->op->name,
             job->op->since, job->attributes);
    for (int i = 0; i < INPUTS && (many || job->op->inputs[count].name); i++) {
        const char *type = many ? "T" : job->op->inputs[i].type;
        bool like = strcmp(job->op->name, "CastLike") == 0 && i == 1;
        pw_dtype dtype = strcmp(type, "B") == 0 ? PW_DTYPE_BOOL : like ? PW_DTYPE_FLOAT16 : job->dtype;
        const char *dims = shapes[shape][i];

        if (strcmp(job->op->name, "Clip") == 0 && i > 0)
            dims = "[]";
        snprintf(inputs[i], sizeof inputs[i], "%s%s 0", pw_dtype_name(dtype), dims);
        c.inputs[i] = inputs[i];
        count++;
        if (!many && !job->op->inputs[count].name)
            break;
    }
    status = pw_case_parse(&c, &w->data, &w->err);
    if (status == PW_OK)
        status = pw_dims_create(&w->dims, &w->err);
    for (int i = 0; i < count; i++)
        w->in[i] = &w->data.inputs[i];
    if (status == PW_OK)
        status = pw_call_from_values(w->data.node, w->in, count, w->dims, &w->arena, &w->call, &w->err);
    for (int i = 0; i < count && status == PW_OK; i++) {
        struct pw_fill fill = {.low = -INFINITY, .high = INFINITY, .int_low = -100, .int_high = 100};

        if (job->op->fill)
            job->op->fill(&w->call, i, &fill);
        draw(&w->data.inputs[i].tensor, &fill, (uint64_t)i);
    }
    return status;
}

static pw_status golden(struct work *w)
{
    const struct pw_value *in[INPUTS];
    pw_status status = PW_OK;

    for (int i = 0; i < w->call.input_count && status == PW_OK; i++) {
        status = pw_eval_carry(&w->carried[i], w->in[i], PW_EVAL_GOLDEN, &w->err);
        in[i] = &w->carried[i];
    }
    if (status == PW_OK)
        status = pw_eval_node(w->data.node, PW_EVAL_GOLDEN, in, w->call.input_count, &w->golden, 1, 1, &w->err);
    return status;
}

static void say(struct job *job, const struct pw_kernel *kernel, int shape, const char *text)
{
    if (!job->text[0])
        snprintf(job->text, sizeof job->text, "%s-%d %s, %s, shapes %d, kernel %s: %.700s", job->op->name,
                 job->op->since, job->attributes, pw_dtype_name(job->dtype), shape, pw_kernel_name(kernel), text);
}

static void compare(struct job *job, struct work *w, const struct pw_kernel *kernel, int shape)
{
    struct pw_comparison result;
    double tolerance = tolerance_of(&w->call);
    char text[256];

    if (pw_compare(&w->got.tensor, &w->golden.tensor, tolerance, -1, &result, &w->err) != PW_OK) {
        say(job, kernel, shape, w->err.message);
    } else if (result.over > 0) {
        snprintf(text, sizeof text,
                 "%lld of %lld off, worst at %lld: %.9g instead of %.9g (error %.3g, tolerance %.3g)",
                 (long long)result.over, (long long)result.count, (long long)result.worst, result.worst_got,
                 result.worst_want, result.max_error, tolerance);
        say(job, kernel, shape, text);
    }
}

static void run_kernel(struct job *job, struct work *w, const struct pw_kernel *kernel, int shape)
{
    const struct pw_info *out = &w->call.out[0];
    struct pw_exec_request request = {.plan = &w->plan,
                                      .call = &w->call,
                                      .inputs = w->in,
                                      .outputs = &w->got,
                                      .input_count = w->call.input_count,
                                      .output_count = 1,
                                      .poison = true,
                                      .seed = 3};
    struct pw_exec_reply reply = {.sample_count = 0};
    bool supported = false;
    pw_status status =
        pw_kernel_supports(kernel, &w->call, pw_device_facts(device), NULL, 0, &supported, NULL, NULL, &w->err);

    if (status == PW_OK && !supported)
        return;
    if (status == PW_OK)
        status = pw_kernel_plan(kernel, &w->call, pw_device_facts(device), NULL, 0, &w->plan, &w->err);
    if (status == PW_OK)
        status = pw_tensor_init(&w->got.tensor, out->dtype, out->rank, out->dims, &w->err);
    w->got.kind = PW_VALUE_TENSOR;
    if (status == PW_OK)
        status = pw_device_execute(device, &request, &reply, &w->err);
    if (status == PW_OK && !reply.overrun)
        compare(job, w, kernel, shape);
    else
        say(job, kernel, shape, reply.overrun ? "wrote over its buffer" : w->err.message);
    job->ran++;
    pw_exec_reply_clear(&reply);
    pw_plan_clear(&w->plan);
    pw_value_clear(&w->got);
}

static void run_job(struct job *job)
{
    const struct pw_kernel *found[32];
    size_t count = pw_kernels_for(kernels, job->op, found, 32);

    for (int shape = 0; shape < SHAPES; shape++) {
        struct work w = {.dims = NULL};

        /* Some shapes are not for every operator: PRelu and the first opsets broadcast one way only. */
        if (prepare(&w, job, shape) == PW_OK && golden(&w) == PW_OK) {
            for (size_t k = 0; k < count && k < 32; k++)
                run_kernel(job, &w, found[k], shape);
        }
        for (int i = 0; i < INPUTS; i++)
            pw_value_clear(&w.carried[i]);
        pw_value_clear(&w.golden);
        pw_case_clear(&w.data);
        pw_dims_destroy(w.dims);
        pw_arena_clear(&w.arena);
    }
}

static void run_range(void *user, int64_t begin, int64_t end)
{
    (void)user;
    for (int64_t i = begin; i < end; i++)
        run_job(&jobs[i]);
}

/* ---- which ---- */

static bool claims(const struct pw_op *op, pw_dtype dtype)
{
    const struct pw_kernel *found[32];
    size_t count = pw_kernels_for(kernels, op, found, 32);
    const char *variable = op->inputs[strcmp(op->name, "Where") == 0 ? 1 : 0].type;

    for (size_t i = 0; i < count && i < 32; i++) {
        if (pw_kernel_claims(found[i], variable, dtype))
            return true;
    }
    return false;
}

static void add(const struct pw_op *op, pw_dtype dtype, const char *attributes)
{
    if (job_count < JOBS_MAX)
        jobs[job_count++] = (struct job){.op = op, .dtype = dtype, .attributes = attributes};
}

/* Attribute texts under which an operator is run. */
static void add_variants(const struct pw_op *op, pw_dtype dtype, bool all, size_t turn)
{
    static const char *const targets[] = {"to=1", "to=10", "to=16", "to=11", "to=6",  "to=7",  "to=2",
                                          "to=9", "to=13", "to=3",  "to=17", "to=19", "to=22", "to=21"};
    enum { TARGETS = sizeof targets / sizeof targets[0] };

    if (strcmp(op->name, "Cast") == 0) {
        for (size_t i = 0; i < TARGETS; i++) {
            if (all || i == (turn + (size_t)dtype) % TARGETS)
                add(op, dtype, targets[i]);
        }
    } else if (strcmp(op->name, "BitShift") == 0) {
        add(op, dtype, "direction='LEFT'");
        add(op, dtype, "direction='RIGHT'");
    } else if (strcmp(op->name, "Mod") == 0) {
        add(op, dtype, "");
        add(op, dtype, "fmod=1");
    } else if (strcmp(op->name, "Gelu") == 0 && !*op->domain) {
        add(op, dtype, "");
        add(op, dtype, "approximate='tanh'");
    } else {
        add(op, dtype, "");
    }
}

/* The newest version of each operator that this test can call. */
static bool newest(const struct pw_op *op)
{
    const struct pw_op *latest = pw_op_find(op->domain, op->name, 1000, NULL);

    return latest == op && strcmp(op->name, "BitCast") != 0 && strcmp(op->name, "BiasGelu") != 0 &&
           strcmp(op->name, "FastGelu") != 0; /* the bias is a vector: cases test it */
}

static void choose(bool all, const char *only)
{
    static const char *const rooms[] = {"elementwise", "activation", "cast"};
    size_t turn = 0;

    for (const struct pw_room *room = pw_rooms; room->name; room++) {
        bool mine = false;

        for (size_t i = 0; i < 3; i++)
            mine = mine || strcmp(room->name, rooms[i]) == 0;
        for (const struct pw_op *op = room->ops; mine && op->name; op++) {
            if (!newest(op) || (only && strcmp(op->name, only) != 0))
                continue;
            turn++;
            for (int d = 1; d < PW_DTYPE_COUNT; d++) {
                /* Programs are one a dtype: in the short run floats take turns, one narrow integer stands for all. */
                bool picked = d == PW_DTYPE_FLOAT16 || d == PW_DTYPE_INT8 || d == PW_DTYPE_BOOL ||
                              (d == PW_DTYPE_BFLOAT16 && turn % 3 == 0) || (d == PW_DTYPE_FLOAT64 && turn % 3 == 1) ||
                              (d == PW_DTYPE_UINT32 && turn % 5 == 0);

                if (claims(op, (pw_dtype)d) && (all || picked))
                    add_variants(op, (pw_dtype)d, all, turn);
            }
        }
    }
}

static void test_all(void **state)
{
    size_t failed = 0, ran = 0;

    (void)state;
    pw_parallel_for((int64_t)job_count, 1, run_range, NULL);
    for (size_t i = 0; i < job_count; i++) {
        ran += (size_t)jobs[i].ran;
        if (jobs[i].text[0])
            print_error("%s\n", jobs[i].text);
        else if (!jobs[i].ran)
            print_message("not run: %s-%d %s %s\n", jobs[i].op->name, jobs[i].op->since, pw_dtype_name(jobs[i].dtype),
                          jobs[i].attributes);
        failed += jobs[i].text[0] != 0;
    }
    print_message("%zu calls of %zu operators and dtypes\n", ran, job_count);
    assert_int_equal(failed, 0);
    assert_true(ran > job_count / 2);
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
    if (pw_kernels_load(&dir, 1, &kernels, &err) != PW_OK) {
        print_error("%s\n", err.message);
        return 1;
    }
    choose(argc > 1 && strcmp(argv[1], "all") == 0, argc > 2 ? argv[2] : NULL);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    pw_device_close(device);
    pw_kernels_destroy(kernels);
    pw_remove_tree(scratch);
    pw_buf_clear(&cache);
    return failed;
}
