/* Shared by the files of this folder: the device and its programs. One thread. */
#ifndef PW_TARGET_OPENCL_INTERNAL_H
#define PW_TARGET_OPENCL_INTERNAL_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* clCreateCommandQueue */
#include <CL/cl.h>

#include "base/hash.h"
#include "base/text.h"
#include "target/target.h"

struct pw_opencl_device {
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    bool in_place;      /* buffers use the host's memory */
    bool coherent;      /* in_place, and what has run is seen there without mapping */
    bool keeps_buffers; /* never gives one back: for a simulator of tiny things */
    cl_event *events;   /* of launches since the last sync */
    size_t event_count, event_cap;
    uint64_t elapsed_ns;                /* of events since the last timestamp */
    struct pw_opencl_program *programs; /* all that are alive */
    char identity[512];                 /* platform, device, driver: part of the cache's key */
};

struct pw_opencl_kernel {
    char *name;
    cl_kernel kernel;
    cl_uint arg_count;
};

struct pw_opencl_program {
    cl_program program;
    struct pw_opencl_kernel *kernels;
    size_t kernel_count, kernel_cap;
    struct pw_opencl_program *next;
    char *store_path; /* where the binary belongs; NULL = it is there, or there is no cache */
    char *log;        /* of the compiler, for the cache; NULL none */
    struct pw_hash128 key;
};

struct pw_opencl_buffer {
    cl_mem mem;
    void *host; /* in_place: its memory */
    size_t size;
};

/* "CL_OUT_OF_RESOURCES" or "unknown OpenCL error". */
const char *pw_opencl_error_name(cl_int code);
/* "what: NAME (code)" into message; returns code. */
int pw_opencl_fail(char *message, size_t size, const char *what, cl_int code);

/* A string property of a device or platform, cut to fit; "" when there is none. */
void pw_opencl_device_text(cl_device_id device, cl_device_info what, char *dst, size_t size);
void pw_opencl_platform_text(cl_platform_id platform, cl_platform_info what, char *dst, size_t size);

int pw_opencl_describe(void *device, struct pw_target_info *info, char *message, size_t message_size);
bool pw_opencl_in_place(cl_platform_id platform, cl_device_id device);
bool pw_opencl_coherent(cl_platform_id platform, cl_device_id device);

/* ---- opencl_cache.c: binaries by content ---- */

/* Path of the entry for a source under options, into path; *key names it. False when memory is short. */
bool pw_opencl_cache_path(const struct pw_opencl_device *device, const char *cache_dir, const char *source,
                          const char *options, struct pw_buf *path, struct pw_hash128 *key);
/* The stored binary and what the compiler said of it, appended; false when there is none or it is damaged (then it is
 * removed). */
bool pw_opencl_cache_load(const char *path, struct pw_hash128 key, struct pw_buf *binary, struct pw_buf *log);
/* Stores what clGetProgramInfo gives; failures are silent: the cache is a convenience. */
void pw_opencl_cache_store(const char *path, struct pw_hash128 key, cl_program program, const char *log);

/* ---- opencl_clblast.c ---- */
int pw_opencl_library_supports(void *device, const struct pw_target_library_call *call, char *why, size_t why_size);
int pw_opencl_library_op(void *device, const struct pw_target_library_call *call, char *message, size_t message_size);
const char *pw_opencl_library_name(void);

#endif
