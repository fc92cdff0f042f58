/*
 * The target interface: the contract for a chip. Installed as <portwright/target.h>; includes
 * nothing of portwright, so a vendor builds a plugin with this file alone.
 *
 * A plugin is a shared object that exports `const struct pw_target *pw_target_entry(void)`.
 * Everything here is called in the worker process, by one thread at a time. The parent process
 * checks every result against its own golden, its own canaries and its own clock, so nothing that a
 * target returns is trusted. A crash costs one verdict and restarts the worker.
 *
 * Each slot says whether it is required, and what happens when it is NULL.
 * Sizes are bytes; times nanoseconds; strings UTF-8. Functions return 0 or a negative errno-like
 * number of the vendor's own, and write a message of at most message_size bytes.
 */
#ifndef PW_TARGET_TARGET_H
#define PW_TARGET_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PW_TARGET_ABI 1
#define PW_TARGET_NAME_MAX 128
#define PW_TARGET_LANGUAGES 8

/* Largest error of a built-in function in float32, in ULP. 0 = correctly rounded, negative = unknown. */
struct pw_target_accuracy {
    double add, mul, fma, divide, sqrt, rsqrt, exp, log, sin, cos, tan, tanh, sinh, cosh, asin, acos, atan, erf, pow;
    bool denormals; /* float32 denormals are kept */
    bool fma_fused; /* fma() rounds once */
    bool denormals_fp16;
};

struct pw_target_info {
    char name[PW_TARGET_NAME_MAX]; /* the device */
    char kind[PW_TARGET_NAME_MAX]; /* what baselines are keyed by: "opencl-pocl-cpu", a chip's name */
    char platform[PW_TARGET_NAME_MAX];
    char vendor[PW_TARGET_NAME_MAX];
    char driver[PW_TARGET_NAME_MAX];         /* driver version */
    char runtime[PW_TARGET_NAME_MAX];        /* "OpenCL 3.0 PoCL 3.1 …" */
    char languages[PW_TARGET_LANGUAGES][16]; /* accepted source languages, best first; "" ends */
    uint32_t compute_units;
    uint32_t vector_width; /* preferred floats a lane group */
    uint32_t work_group_multiple;
    uint64_t max_work_group;
    uint64_t local_mem_bytes;
    uint64_t global_mem_bytes;
    uint64_t max_alloc_bytes;
    uint32_t alignment_bytes; /* of buffers */
    bool has_fp64;
    bool has_fp16;
    bool is_cpu;
    bool shares_host_memory; /* a buffer may be used in place (zero copy) */
    struct pw_target_accuracy accuracy;
    /* What the data sheet says: float32 FLOP/s, and bytes/s of the memory that buffers are in. 0 = unknown. They are
     * the roof where peaks cannot be measured (a target without OpenCL): a faster figure is verified again. */
    double peak_flops, peak_bytes;
};

struct pw_target_arg {
    int kind; /* 0 buffer, 1 NULL buffer, 2 int32, 3 int64, 4 float, 5 double */
    void *buffer;
    int64_t i;
    double f;
};

struct pw_target_launch {
    void *program;
    const char *entry;
    uint32_t work_dim; /* 1..3 */
    uint64_t global[3];
    uint64_t local[3]; /* all 0: the target chooses */
    const struct pw_target_arg *args;
    size_t arg_count;
};

/* A request for a vendor library's implementation (optional slot library_op). */
struct pw_target_tensor {
    void *buffer; /* NULL: omitted */
    int dtype;    /* ONNX TensorProto.DataType */
    int rank;
    int64_t dims[16];
};
struct pw_target_library_call {
    const char *domain, *op_type;
    int opset;
    /* "name=value …", defaults but 0 included: ints 3, floats 0.5, texts 'nearest' (escaped with a backslash: quote,
     * backslash, n, t, 0), lists [1,2] ['a','b'], tensors <float32[2] 1 2>. */
    const char *attributes;
    const struct pw_target_tensor *inputs;
    size_t input_count;
    const struct pw_target_tensor *outputs;
    size_t output_count;
    uint64_t seed; /* of the draws of a random operator: the same seed, the same draws */
    /* Where the data decides a size (NonZero, Compress…) outputs have the most that it can be: lay them out densely for
     * what came out, and write that dim here. NULL when only asked whether the call is supported. */
    int64_t *found;
};

struct pw_target {
    uint32_t abi; /* PW_TARGET_ABI */

    /* Required. `spec` is the text after "opencl:" or after the plugin's file name and a ':' ("" = default). */
    int (*open)(const char *spec, void **device, char *message, size_t message_size);
    void (*close)(void *device); /* required */

    int (*describe)(void *device, struct pw_target_info *info, char *message, size_t message_size); /* required */

    /* Optional: lists what can be opened, one spec and a description a line, without opening it. NULL: one device. */
    int (*list)(char *text, size_t text_size);

    /* Required unless library_op serves everything. cache_dir: where compiled code may be kept (NULL = nowhere).
     * The log (warnings too) is written even on success. */
    int (*compile)(void *device, const char *language, const char *source, const char *options, const char *cache_dir,
                   void **program, char *log, size_t log_size);
    void (*release)(void *device, void *program); /* required with compile */

    /* Required. host: memory of the worker that stays valid until free; a target with shares_host_memory may use it
     * in place. read_only: kernels must not write. */
    int (*alloc)(void *device, size_t size, void *host, bool read_only, void **buffer, char *message,
                 size_t message_size);
    void (*free)(void *device, void *buffer);
    int (*upload)(void *device, void *buffer, const void *from, size_t size, char *message, size_t message_size);
    int (*download)(void *device, void *buffer, void *to, size_t size, char *message, size_t message_size);

    /* Required. Enqueues; errors may come at sync. */
    int (*launch)(void *device, const struct pw_target_launch *launch, char *message, size_t message_size);
    int (*sync)(void *device, char *message, size_t message_size); /* required: waits for all of it */

    /* Optional: device time of everything launched since the last call, 0 when unknown. NULL: wall time only. */
    int (*timestamp)(void *device, uint64_t *elapsed_ns);

    /* Optional. The vendor's library for an operator. supports_library returns 1 when it can, 0 with the reason.
     * NULL: there is no library. */
    int (*supports_library)(void *device, const struct pw_target_library_call *call, char *why, size_t why_size);
    int (*library_op)(void *device, const struct pw_target_library_call *call, char *message, size_t message_size);
    const char *library_name; /* "CLBlast 1.5.2" */

    /* Optional: nothing has been asked for a while. May do one short piece of housekeeping (store compiled code);
     * returns 1 when there is more to do, else 0. */
    int (*idle)(void *device);

    /* Optional: may refuse a kernel for a call beforehand, 1 = fine, 0 = no, with the reason. NULL: constraints decide.
     */
    int (*supports)(void *device, const char *kernel, const struct pw_target_library_call *call, char *why,
                    size_t why_size);
};

#endif
