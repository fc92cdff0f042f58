/* Kernel descriptions: what is read, what is refused and how it is said, and the plans of concrete calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/file.h"
#include "op/kernel_parts.h"

/* ---- a tiny room ---- */

static pw_status bind_rows(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const int64_t strides[] = {1, 2, 3};
    const struct pw_info *x = call->in[0];
    pw_status status = pw_bind_int(b, "rows", x->dims[0], err);

    if (status == PW_OK)
        status = pw_bind_float(b, "scale", 0.125, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "strides", strides, 3, err);
    if (status == PW_OK)
        status = pw_bind_word(b, "mode", "edge", err);
    return status;
}

static const struct pw_attr_def scale_attrs[] = {
    {.name = "axis", .type = PW_ATTR_INT, .i = 1}, {.name = "alpha", .type = PW_ATTR_FLOAT, .f = 0.5f}, {0}};
static const struct pw_formal scale_in[] = {
    {"X", "T", 0}, {"B", "T", PW_FORMAL_OPTIONAL}, {"axes", "int64", PW_FORMAL_PARAM | PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_formal scale_out[] = {{"Y", "T", 0}, {0}};
static const struct pw_formal join_in[] = {{"inputs", "T", PW_FORMAL_VARIADIC}, {0}};
static const struct pw_formal join_out[] = {{"result", "T", 0}, {0}};
static const struct pw_formal equal_in[] = {{"A", "T", 0}, {"B", "T", 0}, {0}};
static const struct pw_formal equal_out[] = {{"C", "T1", 0}, {0}};
static const struct pw_formal keep_in[] = {{"X", "T", 0}, {0}};
static const struct pw_formal keep_out[] = {{"Y", "T", 0}, {0}};

static pw_dim most_kept(const struct pw_call *call)
{
    return call->in[0]->dims[0];
}

static const struct pw_op ops[] = {
    {.domain = "",
     .name = "Scale",
     .since = 1,
     .attrs = scale_attrs,
     .inputs = scale_in,
     .outputs = scale_out,
     .bind = bind_rows},
    {.domain = "",
     .name = "Scale",
     .since = 7,
     .attrs = scale_attrs,
     .inputs = scale_in,
     .outputs = scale_out,
     .bind = bind_rows},
    {.domain = "", .name = "Join", .since = 4, .inputs = join_in, .outputs = join_out},
    {.domain = "com.test", .name = "Equal", .since = 1, .inputs = equal_in, .outputs = equal_out},
    {.domain = "", .name = "Keep", .since = 9, .inputs = keep_in, .outputs = keep_out, .most = most_kept},
    {0}};
static const struct pw_room rooms[] = {{"tiny", ops, NULL}, {0}};

/* ---- calls ---- */

struct fixture {
    struct pw_node node;
    struct pw_info infos[8], out[1];
    const struct pw_info *in[8];
    bool wanted[1];
    struct pw_call call;
};

static struct pw_info info(pw_dtype dtype, int rank, int64_t d0, int64_t d1)
{
    return (struct pw_info){.kind = PW_VALUE_TENSOR, .dtype = dtype, .rank = rank, .dims = {d0, d1}};
}

static void make_call(struct fixture *f, const struct pw_op *op, int input_count)
{
    memset(f, 0, sizeof *f);
    for (int i = 0; i < input_count; i++)
        f->in[i] = &f->infos[i];
    f->wanted[0] = true;
    f->call = (struct pw_call){.op = op,
                               .node = &f->node,
                               .input_count = input_count,
                               .in = f->in,
                               .output_count = 1,
                               .out = f->out,
                               .wanted = f->wanted};
}

/* Scale of float16[rows, cols], B omitted. */
static void make_scale(struct fixture *f, int64_t rows, int64_t cols)
{
    make_call(f, &ops[1], 1);
    f->infos[0] = info(PW_DTYPE_FLOAT16, 2, rows, cols);
    f->out[0] = f->infos[0];
}

static const char *const languages[] = {"opencl", NULL};
static const struct pw_device_facts facts = {.local_mem_bytes = 32768,
                                             .max_work_group = 256,
                                             .vector_width = 8,
                                             .work_group_multiple = 8,
                                             .compute_units = 2,
                                             .global_mem_bytes = 1 << 30,
                                             .max_alloc_bytes = 1 << 28,
                                             .is_cpu = true,
                                             .languages = languages};

/* ---- ops directories on disk ---- */

static char root[64];

static void write_file(const char *name, const char *text)
{
    struct pw_buf path = {0}, dir = {0};
    struct pw_error err = {0};

    pw_file_join(&path, root, name);
    pw_file_dirname(&dir, pw_buf_text(&path));
    assert_int_equal(pw_file_mkdirs(pw_buf_text(&dir), &err), PW_OK);
    assert_int_equal(pw_file_write(pw_buf_text(&path), text, strlen(text), &err), PW_OK);
    pw_buf_clear(&path);
    pw_buf_clear(&dir);
}

static pw_status load_dirs(const char *const *names, size_t count, struct pw_kernels **out, struct pw_error *err)
{
    struct pw_ops_dir dirs[2] = {{NULL, false}};
    struct pw_buf paths[2] = {{0}, {0}};
    pw_status status;

    for (size_t i = 0; i < count; i++) {
        pw_file_join(&paths[i], root, names[i]);
        dirs[i] = (struct pw_ops_dir){pw_buf_text(&paths[i]), i > 0};
    }
    status = pw_kernels_load_rooms(dirs, count, rooms, out, err);
    for (size_t i = 0; i < count; i++)
        pw_buf_clear(&paths[i]);
    return status;
}

static pw_status load(const char *yaml, struct pw_kernels **out, struct pw_error *err)
{
    const char *const dirs[] = {"ops"};

    write_file("ops/tiny/tiny.cl", "__kernel void scale(void) {}\n");
    write_file("ops/tiny/tiny.yaml", yaml);
    return load_dirs(dirs, 1, out, err);
}

static int make_root(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/pw_test_kernel_XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

#define FULL                                                                                                           \
    "format: 1\n"                                                                                                      \
    "kernel: scale_rows\n"                                                                                             \
    "implements: [Scale]\n"                                                                                            \
    "equals: tiny/reference\n"                                                                                         \
    "dtypes: [float16, float32]\n"                                                                                     \
    "sources: {opencl: tiny.cl}\n"                                                                                     \
    "defines: {MODE: \"{mode}\", DEPTH: \"rows * 2\"}\n"                                                               \
    "options: [-cl-mad-enable]\n"                                                                                      \
    "parameters: {WG: [512, 64, 32], VEC: [8, 4, 1]}\n"                                                                \
    "variables: {cols: \"X_d1\", groups: \"ceildiv(rows, WG)\"}\n"                                                     \
    "constraints: [\"WG <= max_work_group\", \"cols % VEC == 0\", \"groups > 0\"]\n"                                   \
    "scratch: {partial: \"rows * 8\"}\n"                                                                               \
    "prepack:\n"                                                                                                       \
    "  - output: Bp\n"                                                                                                 \
    "    input: B\n"                                                                                                   \
    "    bytes: \"B_size * 2\"\n"                                                                                      \
    "    launch: {entry: pack, global: [B_size], when: has_B, args: [B, Bp]}\n"                                        \
    "launches:\n"                                                                                                      \
    "  - entry: \"scale_{mode}_{VEC}_{operator}\"\n"                                                                   \
    "    global: [\"groups * WG\", 2]\n"                                                                               \
    "    local: [WG, 1]\n"                                                                                             \
    "    args: [X, B, Y, partial, strides, scale, \"scale:double\", alpha, rows, \"cols:long\", \"strides[1] + 1\", "  \
    "X]\n"                                                                                                             \
    "  - {entry: never, global: 1, args: [X], when: \"axis != 1\"}\n"                                                  \
    "  - {entry: empty, global: \"rows - rows\", args: [X]}\n"                                                         \
    "priority: \"is_cpu * 5\"\n"                                                                                       \
    "provenance: {author: hand, algorithm: \"one pass\", tiling: rows}\n"

static void test_plan(void **state)
{
    struct pw_kernels *kernels = NULL;
    struct pw_error err = {0};
    struct pw_plan plan = {0};
    struct pw_device_facts with_double = facts;
    const struct pw_kernel *kernel;
    const struct pw_plan_launch *launch;
    struct fixture f;

    (void)state;
    with_double.has_fp64 = true;
    if (load(FULL, &kernels, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(pw_kernels_count(kernels), 1);
    kernel = pw_kernels_find(kernels, "scale_rows");
    assert_ptr_equal(kernel, pw_kernels_at(kernels, 0));
    assert_string_equal(pw_kernel_author(kernel), "hand");
    assert_string_equal(pw_kernel_algorithm(kernel), "one pass");
    assert_true(pw_kernel_implements(kernel, &ops[0]));
    assert_true(pw_kernel_implements(kernel, &ops[1]));
    assert_false(pw_kernel_implements(kernel, &ops[2]));
    assert_true(pw_kernel_claims(kernel, "T", PW_DTYPE_FLOAT16));
    assert_false(pw_kernel_claims(kernel, "T", PW_DTYPE_FLOAT64));

    make_scale(&f, 100, 20);
    if (pw_kernel_plan(kernel, &f.call, &with_double, NULL, 0, &plan, &err) != PW_OK)
        fail_msg("%s", err.message);
    /* 512 is over the work-group limit, so WG = 64; 20 is no multiple of 8, so VEC = 4. */
    assert_int_equal(plan.program_count, 1);
    assert_string_equal(plan.programs[0].language, "opencl");
    assert_string_equal(plan.programs[0].options,
                        "-cl-mad-enable -DX_dtype=f16 -DX_bytes=2 -DB_dtype=f16 -DB_bytes=2 -DY_dtype=f16 "
                        "-DY_bytes=2 -DT_dtype=f16 -DWG=64 -DMODE=edge -DDEPTH=200");
    assert_int_equal(plan.launch_count, 1);
    launch = &plan.launches[0];
    assert_string_equal(launch->entry, "scale_edge_4_Scale");
    assert_false(launch->pack);
    assert_int_equal(launch->work_dim, 2);
    assert_int_equal(launch->global[0], 128);
    assert_int_equal(launch->global[1], 2);
    assert_int_equal(launch->local[0], 64);
    assert_int_equal(launch->arg_count, 12);
    assert_int_equal(launch->args[0].kind, PW_ARG_BUFFER);
    assert_int_equal(plan.buffers[launch->args[0].buffer].kind, PW_BUFFER_INPUT);
    assert_int_equal(plan.buffers[launch->args[0].buffer].size_bytes, 100 * 20 * 2);
    assert_int_equal(launch->args[1].kind, PW_ARG_NULL);
    assert_int_equal(plan.buffers[launch->args[2].buffer].kind, PW_BUFFER_OUTPUT);
    assert_int_equal(plan.buffers[launch->args[3].buffer].kind, PW_BUFFER_SCRATCH);
    assert_int_equal(plan.buffers[launch->args[3].buffer].size_bytes, 800);
    assert_int_equal(plan.buffers[launch->args[4].buffer].kind, PW_BUFFER_INTS);
    assert_int_equal(plan.buffers[launch->args[4].buffer].ints[2], 3);
    assert_int_equal(plan.buffers[launch->args[4].buffer].size_bytes, 12);
    assert_int_equal(launch->args[5].kind, PW_ARG_FLOAT);
    assert_true(launch->args[5].f == 0.125);
    assert_int_equal(launch->args[6].kind, PW_ARG_DOUBLE);
    assert_int_equal(launch->args[7].kind, PW_ARG_FLOAT);
    assert_true(launch->args[7].f == 0.5);
    assert_int_equal(launch->args[8].kind, PW_ARG_INT);
    assert_int_equal(launch->args[8].i, 100);
    assert_int_equal(launch->args[9].kind, PW_ARG_LONG);
    assert_int_equal(launch->args[9].i, 20);
    assert_int_equal(launch->args[10].i, 3);
    assert_int_equal(launch->args[11].buffer, launch->args[0].buffer);
    pw_plan_clear(&plan);

    /* With B the pack launch comes first. */
    f.infos[1] = info(PW_DTYPE_FLOAT16, 1, 6, 0);
    f.in[1] = &f.infos[1];
    f.call.input_count = 2;
    assert_int_equal(pw_kernel_plan(kernel, &f.call, &with_double, NULL, 0, &plan, &err), PW_OK);
    assert_int_equal(plan.launch_count, 2);
    assert_true(plan.launches[0].pack);
    assert_string_equal(plan.launches[0].entry, "pack");
    assert_int_equal(plan.buffers[plan.launches[0].args[1].buffer].kind, PW_BUFFER_PACKED);
    assert_int_equal(plan.buffers[plan.launches[0].args[1].buffer].index, 1);
    assert_int_equal(plan.buffers[plan.launches[0].args[1].buffer].size_bytes, 12);
    assert_int_equal(plan.launches[1].args[1].kind, PW_ARG_BUFFER);
    pw_plan_clear(&plan);
    pw_kernels_destroy(kernels);
}

static void expect_support(const struct pw_kernel *kernel, const struct fixture *f, const struct pw_device_facts *on,
                           const struct pw_parameter *parameters, size_t count, const char *why_not)
{
    struct pw_buf why = {0};
    struct pw_error err = {0};
    bool supported = false;
    int64_t priority = -1;

    if (pw_kernel_supports(kernel, &f->call, on, parameters, count, &supported, &priority, &why, &err) != PW_OK)
        fail_msg("%s", err.message);
    if (why_not && (supported || !strstr(pw_buf_text(&why), why_not)))
        fail_msg("expected '%s', found '%s'", why_not, pw_buf_text(&why));
    if (!why_not && !supported)
        fail_msg("%s", pw_buf_text(&why));
    if (!why_not)
        assert_int_equal(priority, 5);
    pw_buf_clear(&why);
}

static void test_support(void **state)
{
    struct pw_kernels *kernels = NULL;
    struct pw_error err = {0};
    struct pw_device_facts on = facts;
    static const char *const others[] = {"cuda", NULL};
    const struct pw_parameter good[] = {{"VEC", 1}, {"WG", 32}};
    const struct pw_parameter bad[] = {{"WG", 1024}};
    const struct pw_parameter wrong[] = {{"WGS", 1}};
    const struct pw_kernel *kernel;
    bool supported;
    struct fixture f;

    (void)state;
    assert_int_equal(load(FULL, &kernels, &err), PW_OK);
    kernel = pw_kernels_find(kernels, "scale_rows");
    make_scale(&f, 100, 24);
    on.has_fp64 = true;
    expect_support(kernel, &f, &on, NULL, 0, NULL);
    expect_support(kernel, &f, &facts, NULL, 0, "'scale' is double, which the device does not have");
    expect_support(kernel, &f, &on, good, 2, NULL);
    expect_support(kernel, &f, &on, bad, 1,
                   "kernel 'scale_rows' needs WG <= max_work_group (WG = 1024, max_work_group = 256)");
    assert_int_equal(pw_kernel_supports(kernel, &f.call, &on, wrong, 1, &supported, NULL, NULL, &err), PW_ERR_USAGE);
    assert_non_null(strstr(err.message, "no parameter 'WGS', did you mean 'WG'"));
    on.languages = others;
    expect_support(kernel, &f, &on, NULL, 0, "no source in a language of the device");
    on.languages = languages;
    on.max_alloc_bytes = 799;
    expect_support(kernel, &f, &on, NULL, 0, "'X' takes 4800 bytes; the device allocates at most 799");
    make_scale(&f, 100, 3);
    expect_support(kernel, &f, &on, NULL, 0, "'partial' takes 800 bytes");
    on.max_alloc_bytes = INT64_MAX;
    make_scale(&f, 3ll << 31, 4);
    expect_support(kernel, &f, &on, NULL, 0, "argument rows = 6442450944 does not fit int");
    make_scale(&f, INT64_MAX, 2);
    expect_support(kernel, &f, &on, NULL, 0, "the size of 'X' does not fit");
    make_scale(&f, 0, 4);
    expect_support(kernel, &f, &on, NULL, 0, "needs groups > 0 (groups = 0)");
    make_scale(&f, 4, 4);
    f.infos[0].dtype = PW_DTYPE_INT32;
    expect_support(kernel, &f, &on, NULL, 0, "'X' is int32, which it does not serve");
    f.infos[0].dtype = PW_DTYPE_FLOAT16;
    f.infos[0].dims[1] = PW_DIM_UNKNOWN;
    expect_support(kernel, &f, &on, NULL, 0, "dim 1 of 'X' is not a number");
    f.infos[0].rank = -1;
    expect_support(kernel, &f, &on, NULL, 0, "'X' is not a tensor of known type and rank");
    make_call(&f, &ops[2], 1);
    expect_support(kernel, &f, &on, NULL, 0, "does not implement Join-4");
    /* A name that nothing binds is an error of the description, with file, line and key. */
    make_scale(&f, 4, 4);
    f.infos[0].rank = 1;
    pw_error_clear(&err);
    assert_int_equal(pw_kernel_supports(kernel, &f.call, &on, NULL, 0, &supported, NULL, NULL, &err), PW_ERR_FORMAT);
    assert_non_null(strstr(err.message, "tiny.yaml:10:"));
    assert_non_null(strstr(err.message, "key 'cols': expression 'X_d1', column 1: unknown name 'X_d1', did you mean"));
    pw_kernels_destroy(kernels);
}

/* An output whose rows the data decides: room for all of them, and an int for how many there were. */
static void test_found(void **state)
{
    static const char good[] = "format: 1\n"
                               "kernel: keep\n"
                               "implements: [Keep]\n"
                               "dtypes: [float32]\n"
                               "sources: {opencl: tiny.cl}\n"
                               "launches: [{entry: keep, global: Y_size, args: [X, Y, found]}]\n"
                               "provenance: {author: hand, algorithm: a, tiling: t}\n";
    static const char deaf[] = "format: 1\n"
                               "kernel: keep\n"
                               "implements: [Keep]\n"
                               "dtypes: [float32]\n"
                               "sources: {opencl: tiny.cl}\n"
                               "launches: [{entry: keep, global: X_size, args: [X, Y]}]\n"
                               "provenance: {author: hand, algorithm: a, tiling: t}\n";
    struct pw_kernels *kernels = NULL;
    struct pw_value output = {.kind = PW_VALUE_TENSOR};
    struct pw_plan plan = {0};
    struct pw_error err = {0};
    struct fixture f;
    const int64_t dims[2] = {5, 3};

    (void)state;
    assert_int_equal(load(deaf, &kernels, &err), PW_ERR_FORMAT);
    assert_non_null(strstr(err.message, "the data decides the size of Keep-9's outputs: a launch must take 'found'"));
    pw_error_clear(&err);
    if (load(good, &kernels, &err) != PW_OK)
        fail_msg("%s", err.message);
    make_call(&f, &ops[4], 1);
    f.infos[0] = info(PW_DTYPE_FLOAT32, 2, 5, 3);
    f.out[0] = info(PW_DTYPE_FLOAT32, 2, PW_DIM_UNKNOWN, 3);
    pw_call_take_most(&f.call);
    assert_int_equal(f.out[0].dims[0], 5);
    assert_int_equal(f.out[0].open, 1);
    if (pw_kernel_plan(pw_kernels_at(kernels, 0), &f.call, &facts, NULL, 0, &plan, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(plan.launches[0].global[0], 15);
    assert_int_equal(plan.buffers[plan.launches[0].args[2].buffer].kind, PW_BUFFER_FOUND);
    assert_int_equal(plan.buffers[plan.launches[0].args[2].buffer].size_bytes, 4);

    assert_int_equal(pw_tensor_init(&output.tensor, PW_DTYPE_FLOAT32, 2, dims, &err), PW_OK);
    assert_int_equal(pw_call_cut(&f.call, 6, &output, &err), PW_ERR_TARGET); /* more than there is room for */
    assert_int_equal(pw_call_cut(&f.call, -1, &output, NULL), PW_ERR_TARGET);
    assert_int_equal(output.tensor.dims[0], 5);
    assert_int_equal(pw_call_cut(&f.call, 2, &output, &err), PW_OK);
    assert_int_equal(output.tensor.dims[0], 2);
    assert_int_equal(output.tensor.count, 6);
    pw_value_clear(&output);
    pw_plan_clear(&plan);
    pw_kernels_destroy(kernels);
}

static void test_each(void **state)
{
    static const char yaml[] =
        "format: 1\n"
        "kernels:\n"
        "- kernel: join\n"
        "  implements: [Join-4]\n"
        "  dtypes: {T: [float32, int8]}\n"
        "  sources: {opencl: [tiny.cl, tiny.cl]}\n"
        "  launches:\n"
        "  - {entry: join, each: inputs, global: inputs_size, args: [inputs, result, i, inputs_d0]}\n"
        "  - {entry: pair, global: inputs_count, args: [\"inputs[1]\", out0, \"inputs_size[1]\"]}\n"
        "  provenance: {author: generated}\n"
        "- kernel: equal\n"
        "  implements: [\"com.test:Equal-1\"]\n"
        "  dtypes: {T: [int8], T1: [bool]}\n"
        "  sources: {opencl: tiny.cl}\n"
        "  launches: [{entry: e, global: in0_size, args: [in0, in1, out0]}]\n"
        "  provenance: {author: agent}\n";
    struct pw_kernels *kernels = NULL;
    struct pw_error err = {0};
    struct pw_plan plan = {0};
    const struct pw_kernel *found[4];
    struct fixture f;

    (void)state;
    if (load(yaml, &kernels, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(pw_kernels_for(kernels, &ops[2], found, 4), 1);
    make_call(&f, &ops[2], 3);
    f.infos[0] = info(PW_DTYPE_FLOAT32, 1, 5, 0);
    f.infos[1] = info(PW_DTYPE_FLOAT32, 1, 0, 0);
    f.infos[2] = info(PW_DTYPE_FLOAT32, 1, 9, 0);
    f.out[0] = info(PW_DTYPE_FLOAT32, 1, 14, 0);
    if (pw_kernel_plan(found[0], &f.call, &facts, NULL, 0, &plan, &err) != PW_OK)
        fail_msg("%s", err.message);
    /* The empty second input launches nothing. */
    assert_int_equal(plan.launch_count, 3);
    assert_int_equal(plan.launches[0].global[0], 5);
    assert_int_equal(plan.launches[0].args[2].i, 0);
    assert_int_equal(plan.launches[0].args[3].i, 5);
    assert_int_equal(plan.launches[1].global[0], 9);
    assert_int_equal(plan.launches[1].args[2].i, 2);
    assert_int_equal(plan.buffers[plan.launches[1].args[0].buffer].index, 2);
    assert_int_equal(plan.launches[2].global[0], 3);
    assert_int_equal(plan.launches[2].args[2].i, 0);
    assert_string_equal(plan.programs[0].options, "-Dinputs_dtype=f32 -Dinputs_bytes=4 -Dresult_dtype=f32 "
                                                  "-Dresult_bytes=4 -Dout0_dtype=f32 -Dout0_bytes=4 -DT_dtype=f32");
    pw_plan_clear(&plan);
    f.call.input_count = 1;
    assert_int_equal(pw_kernel_plan(found[0], &f.call, &facts, NULL, 0, &plan, &err), PW_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "no element 1 of 'inputs'"));

    assert_int_equal(pw_kernels_for(kernels, &ops[3], found, 4), 1);
    make_call(&f, &ops[3], 2);
    f.infos[0] = info(PW_DTYPE_INT8, 0, 0, 0);
    f.infos[1] = f.infos[0];
    f.out[0] = info(PW_DTYPE_BOOL, 0, 0, 0);
    pw_error_clear(&err);
    assert_int_equal(pw_kernel_plan(found[0], &f.call, &facts, NULL, 0, &plan, &err), PW_OK);
    assert_int_equal(plan.launches[0].global[0], 1);
    assert_non_null(strstr(plan.programs[0].options, "-Dout0_dtype=bool"));
    pw_plan_clear(&plan);
    pw_kernels_destroy(kernels);
}

/* A description with one part replaced. */
static void replace(char *dst, size_t size, const char *from, const char *to)
{
    const char *at = strstr(FULL, from);

    assert_non_null(at);
    snprintf(dst, size, "%.*s%s%s", (int)(at - FULL), FULL, to, at + strlen(from));
}

static void test_errors(void **state)
{
    static const struct {
        const char *from, *to, *message;
    } cases[] = {
        {"format: 1", "format: 2", "tiny.yaml:1:9: key 'format': format 2; this portwright reads format 1"},
        {"format: 1\n", "", "has no 'format'"},
        {"kernel: scale_rows\n", "", "the description has no 'kernel'"},
        {"scale_rows", "scale-rows", "'scale-rows': a kernel's name is of the form"},
        {"[Scale]", "[Scael]", "unknown operator 'Scael', did you mean 'Scale'?"},
        {"[Scale]", "[Scale-3]", "operator 'Scale' has no version 3"},
        {"[Scale]", "[Scale-x]", "expected a version after '-'"},
        {"[Scale]", "[]", "implements at least one operator"},
        {"[Scale]", "[\"a:b:c\"]", "unknown operator 'b:c'"},
        {"equals: tiny/", "equals: tony/", "'tony/reference': expected the room"},
        {"[float16, float32]", "[float17]", "unknown dtype 'float17', did you mean 'float1"},
        {"[float16, float32]", "{U: [float16]}", "'U' is no type variable of Scale-1"},
        {"[float16, float32]", "[]", "at least one dtype"},
        {"{opencl: tiny.cl}", "{opencl: none.cl}", "key 'opencl': source: "},
        {"{opencl: tiny.cl}", "{opencl: ../tiny.cl}", "expected the name of a file in the same folder"},
        {"{opencl: tiny.cl}", "{opencl: /etc/passwd}", "expected the name of a file in the same folder"},
        {"{opencl: tiny.cl}", "{opencl: 'ti\"ny.cl'}", "a source's name holds a quote"},
        {"{opencl: tiny.cl}", "{opencl: 'ti\\ny.cl'}", "a source's name holds a quote, a backslash"},
        {"{opencl: tiny.cl}", "{opencl: \"ti\\nny.cl\"}", "or a control character"},
        {"{opencl: tiny.cl}", "{}", "at least one language"},
        {"-cl-mad-enable", "-I/etc", "build option '-I/etc' is not allowed"},
        {"\"{mode}\"", "{mode}", "quote a {word}"},
        {"WG: [512, 64, 32]", "WG: [x]", "tiny.yaml:9:"},
        {"WG: [512, 64, 32]", "WG: []", "at least one value"},
        {"WG: [512, 64, 32]", "WG: [3000000000]", "does not fit 32 bits"},
        {"WG: [512, 64, 32]", "i: [1]", "'i' is the index"},
        {"WG: [512, 64, 32]", "compute_units: [1]", "is a fact of the device"},
        {"WG: [512, 64, 32]", "B: [1]", "'B' is a formal of Scale"},
        {"WG: [512, 64, 32]", "partial: [1]", "the name 'partial' is used twice"},
        {"cols: \"X_d1\"", "cols: \"groups\"", "the variable 'groups' is not defined yet"},
        {"\"WG <= max_work_group\"", "\"WG <=\"", "column 6: expected a value, found the end"},
        {"partial: \"rows * 8\"", "partial: [1]", "key 'partial'"},
        {"input: B\n", "input: Q\n", "prepack of 'Q', which is no single input of Scale-1"},
        {"output: Bp\n", "outptu: Bp\n", "did you mean 'output'"},
        {"global: [\"groups * WG\", 2]", "global: []", "1 to 3 expressions"},
        {"local: [WG, 1]", "local: [WG]", "local has 1 sizes, global has 2"},
        {"[X, B, Y, partial", "[X, axes, Y, partial", "'axes' of Scale-1 is set up by the host"},
        {"[X, B, Y, partial", "[\"X:long\", B, Y, partial", "'X' is a buffer: it takes no suffix"},
        {"[X, B, Y, partial", "[\"X[0]\", B, Y, partial", "'X' of Scale-1 does not repeat"},
        {"\"scale:double\"", "\"scale*2:double\"", "a float argument is the name of a bound value"},
        {"scale_{mode}", "scale {mode}", "expected letters, digits"},
        {"scale_{mode}", "scale_{}", "unbalanced or empty braces"},
        {"scale_{mode}", "scale_{{mode}", "unbalanced or empty braces"},
        {"{entry: never, ", "{entry: never, each: X, ", "each: 'X' is no variadic formal"},
        {"author: hand", "author: me", "author 'me': expected hand, tuned, agent or generated"},
        {"author: hand, ", "", "provenance has no 'author'"},
        {"launches:\n", "lanches:\n", "did you mean 'launches'"},
        {"priority: \"is_cpu * 5\"", "priority: [1]", "key 'priority'"},
        {"kernel: scale_rows", "kernels: 5", "key 'implements': unknown key"},
    };
    char yaml[4096];

    (void)state;
    for (size_t i = 0; i < PW_COUNT_OF(cases); i++) {
        struct pw_kernels *kernels = NULL;
        struct pw_error err = {0};

        replace(yaml, sizeof yaml, cases[i].from, cases[i].to);
        if (load(yaml, &kernels, &err) == PW_OK)
            fail_msg("accepted: %s -> %s", cases[i].from, cases[i].to);
        assert_null(kernels);
        if (!strstr(err.message, cases[i].message))
            fail_msg("'%s' gave: %s", cases[i].to, err.message);
    }
}

/* Names are known at load for an operator whose room binds nothing. */
static void test_unbound_names(void **state)
{
    static const char format[] = "format: 1\nkernel: j\nimplements: [Join]\ndtypes: [int8]\n"
                                 "sources: {opencl: tiny.cl}\nlaunches: [{entry: e, global: %s, args: [%s]}]\n"
                                 "provenance: {author: hand}\n";
    static const struct {
        const char *global, *args, *message;
    } cases[] = {
        {"inputs_sise", "result", "unknown name 'inputs_sise' for Join-4"},
        {"1", "resutl", "unknown name 'resutl' for Join-4, did you mean 'result'?"},
        {"1", "inputs", "'inputs' of Join-4 repeats: use 'each' or inputs[index]"},
        {"1", "\"beta:float\"", "unknown name 'beta' for Join-4"},
        {"compute_unit", "result", "did you mean 'compute_units'?"},
    };
    char yaml[1024];

    (void)state;
    for (size_t i = 0; i < PW_COUNT_OF(cases); i++) {
        struct pw_kernels *kernels = NULL;
        struct pw_error err = {0};

        snprintf(yaml, sizeof yaml, format, cases[i].global, cases[i].args);
        assert_int_equal(load(yaml, &kernels, &err), PW_ERR_FORMAT);
        if (!strstr(err.message, cases[i].message))
            fail_msg("%s", err.message);
    }
}

/* Truncated, doubled and bent descriptions: an error or a kernel, never a crash. */
static void test_hostile(void **state)
{
    size_t n = strlen(FULL), accepted = 0;
    char yaml[sizeof FULL + 2];

    (void)state;
    for (size_t i = 0; i < n; i += 3) {
        static const char bent[] = {'{', '[', '\0', '"', ':', '\xff', '-', '9', '}', '\n'};
        struct pw_kernels *kernels = NULL;
        struct pw_error err = {0};

        memcpy(yaml, FULL, n + 1);
        if (i % 2)
            yaml[i] = 0;
        else
            yaml[i] = bent[i / 2 % sizeof bent];
        if (load(yaml, &kernels, &err) == PW_OK)
            accepted++;
        else
            assert_int_not_equal(err.message[0], 0);
        pw_kernels_destroy(kernels);
    }
    assert_true(accepted < n / 6);
}

/* Every allocation fails in turn, while loading and while planning: an error each time, nothing leaks or crashes. */
static void test_no_memory(void **state)
{
    const char *const dirs[] = {"ops"};
    struct pw_kernels *kernels = NULL;
    struct pw_device_facts with_double = facts;
    struct pw_error err = {0};
    struct fixture f;
    uint64_t n, failures = 0;

    (void)state;
    with_double.has_fp64 = true;
    assert_int_equal(load(FULL, &kernels, &err), PW_OK);
    pw_kernels_destroy(kernels);
    kernels = NULL;
    for (n = 1; !kernels; n++) {
        pw_error_clear(&err);
        pw_mem_fail_at(n, 0);
        if (load_dirs(dirs, 1, &kernels, &err) != PW_OK)
            assert_int_not_equal(err.status, PW_OK);
        pw_mem_fail_at(0, 0);
        assert_true(n < 10000);
    }
    if (n == 2) /* built without the hook */
        skip();
    make_scale(&f, 100, 20);
    for (n = 1; n <= 40; n++) {
        struct pw_plan plan = {.kernel = NULL};
        pw_status status;

        pw_error_clear(&err);
        pw_mem_fail_at(n, 0);
        status = pw_kernel_plan(pw_kernels_at(kernels, 0), &f.call, &with_double, NULL, 0, &plan, &err);
        pw_mem_fail_at(0, 0);
        /* What only explains a rejected parameter may be lost. */
        if (status != PW_OK)
            assert_int_equal(status, PW_ERR_NO_MEMORY);
        failures += status != PW_OK;
        pw_plan_clear(&plan);
    }
    assert_true(failures >= 5);
    pw_kernels_destroy(kernels);
}

static void test_overlay(void **state)
{
    static const char *const dirs[] = {"ops", "more"};
    struct pw_kernels *kernels = NULL;
    struct pw_error err = {0};
    struct pw_hash128 before;
    char yaml[4096];

    (void)state;
    write_file("ops/prelude.cl", "#define PRELUDE\n");
    assert_int_equal(load(FULL, &kernels, &err), PW_OK);
    before = pw_kernel_hash(pw_kernels_at(kernels, 0));
    assert_false(pw_kernel_foreign(pw_kernels_at(kernels, 0)));
    pw_kernels_destroy(kernels);

    /* A comment changes nothing; the source does. */
    snprintf(yaml, sizeof yaml, "# a comment\n%s", FULL);
    assert_int_equal(load(yaml, &kernels, &err), PW_OK);
    assert_true(pw_kernel_hash(pw_kernels_at(kernels, 0)).low == before.low);
    pw_kernels_destroy(kernels);

    write_file("more/mine/other.yaml", FULL);
    write_file("more/mine/tiny.cl", "__kernel void other(void) {}\n");
    write_file("more/mine/notes.txt", "not read");
    assert_int_equal(load_dirs(dirs, 2, &kernels, &err), PW_OK);
    assert_int_equal(pw_kernels_count(kernels), 1);
    assert_true(pw_kernel_foreign(pw_kernels_at(kernels, 0)));
    assert_true(pw_kernel_hash(pw_kernels_at(kernels, 0)).low != before.low);
    assert_non_null(strstr(pw_kernel_source(pw_kernels_at(kernels, 0), "opencl"), "void other"));
    assert_null(strstr(pw_kernel_source(pw_kernels_at(kernels, 0), "opencl"), "PRELUDE"));
    assert_null(pw_kernel_source(pw_kernels_at(kernels, 0), "cuda"));
    pw_kernels_destroy(kernels);
    kernels = NULL;

    /* Twice in one directory is an error that names both files. */
    write_file("more/mine/twice.yaml", FULL);
    assert_int_equal(load_dirs(dirs, 2, &kernels, &err), PW_ERR_FORMAT);
    assert_non_null(strstr(err.message, "twice.yaml:2:"));
    assert_non_null(strstr(err.message, "already described in"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plan, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_support, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_found, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_each, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_errors, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_unbound_names, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_hostile, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_no_memory, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_overlay, make_root, remove_root),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
