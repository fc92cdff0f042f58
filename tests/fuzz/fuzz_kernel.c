/* Any bytes as a kernel's description (ops/FAMILY/NAME.yaml, --ops-dir): loading it, and the plans that its kernels
 * make for a call of each operator of a graph. */
#include <fcntl.h>
#include <sys/stat.h>

#include "op/kernel.h"
#include "tests/fuzz/sample.h"
#include "tests/fuzz/text_mutate.h"

static char fuzz_kernel_dir[64];

static void fuzz_kernel_put(const char *name, const void *data, size_t size)
{
    char path[128];
    int fd;

    snprintf(path, sizeof path, "%s/%s", fuzz_kernel_dir, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    fuzz_check(fd >= 0 && (size == 0 || write(fd, data, size) == (ssize_t)size) && close(fd) == 0);
}

static void fuzz_kernel_remove(void)
{
    static const char *const names[] = {"room/k.yaml", "room/k.cl", "prelude.cl", "room", ""};
    char path[128];

    for (size_t i = 0; i < PW_COUNT_OF(names); i++) {
        snprintf(path, sizeof path, "%s/%s", fuzz_kernel_dir, names[i]);
        (void)remove(path);
    }
}

static void fuzz_kernel_folder(void)
{
    static const char source[] = "__kernel void k(__global const float *x) { }\n";
    char path[128];

    if (fuzz_kernel_dir[0])
        return;
    snprintf(fuzz_kernel_dir, sizeof fuzz_kernel_dir, "/tmp/pw-fuzz-XXXXXX");
    fuzz_check(mkdtemp(fuzz_kernel_dir) != NULL);
    snprintf(path, sizeof path, "%s/room", fuzz_kernel_dir);
    fuzz_check(mkdir(path, 0700) == 0 && atexit(fuzz_kernel_remove) == 0);
    fuzz_kernel_put("room/k.cl", source, sizeof source - 1);
    fuzz_kernel_put("prelude.cl", "", 0);
}

static void fuzz_kernel_check_plan(const struct pw_plan *plan)
{
    for (size_t i = 0; i < plan->launch_count; i++) {
        const struct pw_plan_launch *launch = &plan->launches[i];
        fuzz_check(launch->work_dim >= 1 && launch->work_dim <= 3 && launch->entry != NULL);
        fuzz_check(launch->program >= 0 && (size_t)launch->program < plan->program_count);
        for (size_t k = 0; k < launch->arg_count; k++)
            if (launch->args[k].kind == PW_ARG_BUFFER)
                fuzz_check(launch->args[k].buffer >= 0 && (size_t)launch->args[k].buffer < plan->buffer_count);
    }
}

static void fuzz_kernel_plans(const struct pw_kernel *kernel)
{
    static const char *const languages[] = {"opencl", "c", NULL};
    static const struct pw_device_facts facts = {.local_mem_bytes = 32768,
                                                 .max_work_group = 256,
                                                 .vector_width = 8,
                                                 .work_group_multiple = 8,
                                                 .compute_units = 4,
                                                 .global_mem_bytes = 1 << 30,
                                                 .max_alloc_bytes = 1 << 28,
                                                 .is_cpu = true,
                                                 .languages = languages};
    const struct pw_inventory *inventory = sample_inventory();

    for (size_t i = 0; i < inventory->signature_count; i++) {
        const struct pw_call *call = inventory->signatures[i].call;
        struct pw_buf why = {0};
        struct pw_plan plan = {0};
        struct pw_error err = {0};
        bool supported = false;
        int64_t priority = 0;

        if (!pw_kernel_implements(kernel, call->op))
            continue;
        if (pw_kernel_supports(kernel, call, &facts, NULL, 0, &supported, &priority, &why, &err) == PW_OK)
            fuzz_check(supported || why.size > 0);
        if (supported && pw_kernel_plan(kernel, call, &facts, NULL, 0, &plan, &err) == PW_OK)
            fuzz_kernel_check_plan(&plan);
        pw_plan_clear(&plan);
        pw_buf_clear(&why);
    }
}

static void fuzz_kernel(const uint8_t *data, size_t size)
{
    struct pw_ops_dir dir = {fuzz_kernel_dir, true};
    struct pw_kernels *kernels = NULL;
    struct pw_error err = {0};
    int64_t values[8];

    fuzz_kernel_folder();
    fuzz_kernel_put("room/k.yaml", data, size);
    if (pw_kernels_load(&dir, 1, &kernels, &err) != PW_OK) {
        fuzz_check(!kernels && err.message[0]);
        return;
    }
    for (size_t i = 0; i < pw_kernels_count(kernels); i++) {
        const struct pw_kernel *kernel = pw_kernels_at(kernels, i);
        (void)pw_kernel_parameter_values(kernel, values, PW_COUNT_OF(values));
        (void)pw_kernel_hash(kernel);
        fuzz_check(pw_kernels_find(kernels, pw_kernel_name(kernel)) == kernel);
        for (size_t k = 0; pw_kernel_language(kernel, k); k++)
            fuzz_check(pw_kernel_source(kernel, pw_kernel_language(kernel, k)) != NULL);
        fuzz_kernel_plans(kernel);
    }
    pw_kernels_destroy(kernels);
}

static void fuzz_kernel_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, struct pw_buf *out)
{
    static const char *const words[] = {"kernel",
                                        "implements",
                                        "equals",
                                        "dtypes",
                                        "sources",
                                        "defines",
                                        "variables",
                                        "constraints",
                                        "scratch",
                                        "prepack",
                                        "launches",
                                        "entry",
                                        "global",
                                        "local",
                                        "args",
                                        "each",
                                        "when",
                                        "priority",
                                        "options",
                                        "provenance",
                                        "parameters",
                                        "author",
                                        "hand",
                                        "tuned",
                                        "agent",
                                        "opencl",
                                        "c",
                                        "k.cl",
                                        "[k.cl, k.cl]",
                                        "Softmax",
                                        "MatMul-13",
                                        "Add",
                                        "Conv",
                                        "TopK-11",
                                        "Slice",
                                        "com.microsoft:Gelu-1",
                                        "float32",
                                        "int64",
                                        "{T: [float32], T1: [int64]}",
                                        "in0",
                                        "in1",
                                        "out0",
                                        "out_X",
                                        "found",
                                        "X",
                                        "A",
                                        "B",
                                        "in0_d0",
                                        "in0_size",
                                        "has_in1",
                                        "in0_rank",
                                        "X[i]",
                                        "inner",
                                        "outer",
                                        "length",
                                        "rows",
                                        "{operator}",
                                        "{WG}",
                                        "WG",
                                        "\"in0_d0:long\"",
                                        "\"axis: double\"",
                                        "\"ceildiv(outer, 0)\"",
                                        "\"1 << 62\"",
                                        "\"WG * 9223372036854775807\"",
                                        "-cl-mad-enable",
                                        "[1, 2, 4]",
                                        "max_work_group",
                                        "../k.cl",
                                        "/etc/passwd",
                                        NULL};
    text_mutate(draws, data, size, words, out);
}

FUZZ_HARNESS(fuzz_kernel, fuzz_kernel_mutate);
