/*
 * What ops/prelude.cl promises, on the device: the largest errors of its functions over a dense sample of all floats,
 * the roundings of float16, bfloat16 and float8 at every code and every middle between two, and Philox's words.
 * Expected values come from libm in double, from the formats' definitions (base/half.c) and from base/random.c.
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

#include "base/file.h"
#include "base/half.h"
#include "base/random.h"
#include "graph/infer.h"
#include "op/cases.h"
#include "target/device.h"
#include "target/remove.h"

static struct pw_device *device;
static struct pw_kernels *kernels;
static char scratch[] = "/tmp/portwright-test-XXXXXX";

/* ---- one operator on the device ---- */

/* Runs `op` of one input of `count` elements, copied from `x` (bytes as the dtype has them); the output's bytes go to
 * `y`. With `name` that kernel, else the first that serves it. */
static void run(const char *op, const char *name, pw_dtype from, const void *x, int64_t count, pw_dtype to, void *y)
{
    char input[64], output[64];
    struct pw_room_case c = {.name = "prelude", .call = op, .inputs = {input}, .outputs = {output}};
    struct pw_case_data data;
    struct pw_dims *dims = NULL;
    struct pw_arena arena = {0};
    struct pw_call call;
    struct pw_plan plan = {.kernel = NULL};
    struct pw_exec_reply reply;
    struct pw_error err = {0};
    const struct pw_kernel *found[16], *kernel = name ? pw_kernels_find(kernels, name) : NULL;
    const struct pw_value *in[1];
    size_t found_count;

    snprintf(input, sizeof input, "%s[%lld] 0", pw_dtype_name(from), (long long)count);
    snprintf(output, sizeof output, "%s[%lld] 0", pw_dtype_name(to), (long long)count);
    if (pw_case_parse(&c, &data, &err) != PW_OK || pw_dims_create(&dims, &err) != PW_OK)
        fail_msg("%s: %s", op, err.message);
    memcpy(data.inputs[0].tensor.data, x, pw_tensor_bytes(&data.inputs[0].tensor));
    in[0] = &data.inputs[0];
    if (pw_call_from_values(data.node, in, 1, dims, &arena, &call, &err) != PW_OK)
        fail_msg("%s: %s", op, err.message);
    found_count = pw_kernels_for(kernels, data.node->op, found, 16);
    for (size_t i = 0; i < found_count && !kernel; i++) {
        bool supported = false;

        if (pw_kernel_supports(found[i], &call, pw_device_facts(device), NULL, 0, &supported, NULL, NULL, &err) !=
            PW_OK)
            fail_msg("%s: %s", op, err.message);
        kernel = supported ? found[i] : NULL;
    }
    if (!kernel)
        fail_msg("%s: no kernel serves it", op);
    if (pw_kernel_plan(kernel, &call, pw_device_facts(device), NULL, 0, &plan, &err) != PW_OK)
        fail_msg("%s: %s", op, err.message);
    {
        struct pw_exec_request request = {.plan = &plan,
                                          .call = &call,
                                          .inputs = in,
                                          .input_count = 1,
                                          .outputs = data.outputs,
                                          .output_count = 1,
                                          .poison = true};

        if (pw_device_execute(device, &request, &reply, &err) != PW_OK)
            fail_msg("%s: %s\n%s", op, err.message, pw_buf_text(&reply.log));
        pw_exec_reply_clear(&reply);
    }
    memcpy(y, data.outputs[0].tensor.data, pw_tensor_bytes(&data.outputs[0].tensor));
    pw_plan_clear(&plan);
    pw_case_clear(&data);
    pw_dims_destroy(dims);
    pw_arena_clear(&arena);
}

/* ---- functions ---- */

static double sigmoid(double x)
{
    return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

static float float_of(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* In units of the last place of `want` as a float. */
static double ulps(float got, double want)
{
    int exponent;

    frexp(want, &exponent);
    return fabs((double)got - want) / ldexp(1.0, exponent - 24 < -149 ? -149 : exponent - 24);
}

static void check_function(const char *op, double (*reference)(double), double limit)
{
    enum { STRIDE = 4099, COUNT = (1u << 31) / STRIDE * 2 };
    float *x = malloc(COUNT * sizeof *x), *y = malloc(COUNT * sizeof *y);
    double worst = 0;

    assert_non_null(x);
    assert_non_null(y);
    for (uint32_t i = 0; i < COUNT; i++)
        x[i] = float_of(i * STRIDE);
    run(op, NULL, PW_DTYPE_FLOAT32, x, COUNT, PW_DTYPE_FLOAT32, y);
    for (uint32_t i = 0; i < COUNT; i++) {
        double want = reference((double)x[i]);

        if (isnan(want) != isnan(y[i]) || (isinf((float)want) && (float)want != y[i]))
            fail_msg("%s(%a) = %a, expected %a", op, (double)x[i], (double)y[i], want);
        if (isnan(want) || isinf((float)want))
            continue;
        if (fabs(want) < 0x1p-126) { /* a device may flush */
            if (!(fabs((double)y[i] - want) <= 0x1p-126))
                fail_msg("%s(%a) = %a, expected %a", op, (double)x[i], (double)y[i], want);
            continue;
        }
        if (!(ulps(y[i], want) <= limit))
            fail_msg("%s(%a) = %a, expected %a: %.2f ULP, at most %.2f promised", op, (double)x[i], (double)y[i], want,
                     ulps(y[i], want), limit);
        worst = fmax(worst, ulps(y[i], want));
    }
    print_message("%s: at most %.3f ULP\n", op, worst);
    free(x);
    free(y);
}

static void test_functions(void **state)
{
    double division = pw_device_facts(device)->is_cpu ? 0 : 3;

    (void)state;
    check_function("Exp-13", exp, 1);
    check_function("Erf-13", erf, 5 + division);
    check_function("Tanh-13", tanh, 4.5 + division);
    check_function("Sigmoid-13", sigmoid, 2.5 + division);
}

/* ---- storage types ---- */

/* Every code decodes as the format says. */
static void check_decoding(const char *op, pw_dtype dtype, double (*decode)(int kind, uint32_t), int kind,
                           uint32_t codes)
{
    uint32_t bytes = (uint32_t)pw_dtype_bytes(dtype);
    uint8_t *x = malloc(codes * bytes);
    float *y = malloc(codes * sizeof *y);

    assert_non_null(x);
    assert_non_null(y);
    for (uint32_t i = 0; i < codes; i++)
        memcpy(x + i * bytes, &i, bytes);
    run(op, NULL, dtype, x, codes, PW_DTYPE_FLOAT32, y);
    for (uint32_t i = 0; i < codes; i++) {
        double want = decode(kind, i);

        if (isnan(want) ? !isnan(y[i]) : (double)y[i] != want)
            fail_msg("%s code %x: %a, expected %a", pw_dtype_name(dtype), i, (double)y[i], want);
    }
    free(x);
    free(y);
}

/* Every code, every middle between two codes and the floats beside it encode as rounding to nearest even says. */
static void check_encoding(const char *op, pw_dtype dtype, double (*decode)(int kind, uint32_t),
                           uint32_t (*encode)(int kind, double), int kind, uint32_t codes)
{
    uint32_t bytes = (uint32_t)pw_dtype_bytes(dtype), count = 0;
    float *x = malloc(codes * 5 * sizeof *x);
    uint8_t *y = malloc(codes * 5 * bytes);

    assert_non_null(x);
    assert_non_null(y);
    for (uint32_t i = 0; i < codes; i++) {
        double a = decode(kind, i), b = decode(kind, i + 1 < codes ? i + 1 : i), middle = (a + b) / 2;

        x[count++] = (float)a;
        if (!isfinite(middle) || fabs(middle) < 0x1p-126)
            continue;
        x[count++] = (float)middle;
        x[count++] = nextafterf((float)middle, INFINITY);
        x[count++] = nextafterf((float)middle, -INFINITY);
        x[count++] = (float)(middle * 1.0e6);
    }
    run(op, NULL, PW_DTYPE_FLOAT32, x, count, dtype, y);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t got = 0, want = encode(kind, (double)x[i]);

        memcpy(&got, y + i * bytes, bytes);
        if (got != want && !(isnan(decode(kind, got)) && isnan(decode(kind, want))))
            fail_msg("%s of %a: code %x, expected %x", pw_dtype_name(dtype), (double)x[i], got, want);
    }
    free(x);
    free(y);
}

enum { KIND_HALF = -1, KIND_BFLOAT16 = -2 };

static double decode(int kind, uint32_t code)
{
    if (kind == KIND_HALF)
        return pw_half_to_double((uint16_t)code);
    if (kind == KIND_BFLOAT16)
        return pw_bfloat16_to_double((uint16_t)code);
    return pw_float8_to_double((pw_float8_kind)kind, (uint8_t)code);
}

static uint32_t encode(int kind, double x)
{
    if (kind == KIND_HALF)
        return pw_half_from_double(x);
    if (kind == KIND_BFLOAT16)
        return pw_bfloat16_from_double(x);
    return pw_float8_from_double((pw_float8_kind)kind, x, true);
}

static const struct {
    pw_dtype dtype;
    int kind;
    uint32_t codes;
    const char *cast; /* to it */
} formats[] = {
    {PW_DTYPE_FLOAT16, KIND_HALF, 65536, "Cast-24 to=10"},
    {PW_DTYPE_BFLOAT16, KIND_BFLOAT16, 65536, "Cast-24 to=16"},
    {PW_DTYPE_FLOAT8E4M3FN, PW_FLOAT8_E4M3FN, 256, "Cast-24 to=17"},
    {PW_DTYPE_FLOAT8E4M3FNUZ, PW_FLOAT8_E4M3FNUZ, 256, "Cast-24 to=18"},
    {PW_DTYPE_FLOAT8E5M2, PW_FLOAT8_E5M2, 256, "Cast-24 to=19"},
    {PW_DTYPE_FLOAT8E5M2FNUZ, PW_FLOAT8_E5M2FNUZ, 256, "Cast-24 to=20"},
    {PW_DTYPE_FLOAT4E2M1, PW_FLOAT4_E2M1, 16, "Cast-24 to=23"},
    {PW_DTYPE_FLOAT6E2M3, PW_FLOAT6_E2M3, 64, "Cast-28 to=27"},
    {PW_DTYPE_FLOAT6E3M2, PW_FLOAT6_E3M2, 64, "Cast-28 to=28"},
};

static void test_decoding(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        check_decoding("Cast-24 to=1", formats[i].dtype, decode, formats[i].kind, formats[i].codes);
}

static void test_encoding(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        check_encoding(formats[i].cast, formats[i].dtype, decode, encode, formats[i].kind, formats[i].codes);
}

/* ---- Philox ---- */

static void test_philox(void **state)
{
    enum { COUNT = 4096 };
    static uint32_t x[COUNT], y[COUNT];

    (void)state;
    run("BitwiseNot-18", "philox_words", PW_DTYPE_UINT32, x, COUNT, PW_DTYPE_UINT32, y);
    for (uint32_t i = 0; i < COUNT / 4; i++) {
        uint32_t want[4];

        pw_philox(0x123456789abcdef0u, 0xfedcba9876543210u, ((uint64_t)i << 33) + i, want);
        if (memcmp(want, &y[4 * i], sizeof want) != 0)
            fail_msg("block %u: %08x…, expected %08x…", i, y[4 * i], want[0]);
    }
}

/* ---- set-up ---- */

static const char philox_yaml[] = "format: 1\n"
                                  "kernel: philox_words\n"
                                  "implements: [BitwiseNot-18]\n"
                                  "dtypes: [uint32]\n"
                                  "sources: {opencl: philox.cl}\n"
                                  "launches: [{entry: philox_words, global: \"Y_size / 4\", args: [Y]}]\n"
                                  "provenance: {author: generated}\n";
static const char philox_source[] =
    "__kernel void philox_words(__global uint *Y)\n"
    "{\n"
    "    ulong i = get_global_id(0);\n"
    "    vstore4(pw_philox(0x123456789abcdef0UL, 0xfedcba9876543210UL, (i << 33) + i), 0, "
    "Y + 4 * i);\n"
    "}\n";

static bool write_kernel(const char *dir, const char *name, const char *text, struct pw_error *err)
{
    struct pw_buf path = {0};
    bool good;

    pw_buf_printf(&path, "%s/test", dir);
    good = pw_file_mkdirs(pw_buf_text(&path), err) == PW_OK;
    pw_buf_printf(&path, "/%s", name);
    good = good && pw_file_write(pw_buf_text(&path), text, strlen(text), err) == PW_OK;
    pw_buf_clear(&path);
    return good;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_decoding),
        cmocka_unit_test(test_encoding),
        cmocka_unit_test(test_philox),
    };
    struct pw_error err = {0};
    struct pw_buf cache = {0};
    const char *build = getenv("PW_BUILD");
    struct pw_device_options options = {0};
    struct pw_ops_dir dirs[2] = {{pw_ops_dir_default(), false}, {scratch, true}};
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
    if (!write_kernel(scratch, "philox.yaml", philox_yaml, &err) ||
        !write_kernel(scratch, "philox.cl", philox_source, &err) || pw_kernels_load(dirs, 2, &kernels, &err) != PW_OK) {
        print_error("%s\n", err.message);
        return 1;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    pw_device_close(device);
    pw_kernels_destroy(kernels);
    pw_remove_tree(scratch);
    pw_buf_clear(&cache);
    return failed;
}
