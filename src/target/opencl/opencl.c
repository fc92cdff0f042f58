/* The OpenCL target: choice of the device, programs, buffers, launches. */
#include "target/opencl/opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "target/opencl/opencl_internal.h"

#define PLATFORMS_MAX 32
#define DEVICES_MAX 64
#define EVENTS_MAX 16384 /* pending between two syncs; more are not timed */

/* ---- choosing ---- */

static cl_uint platforms_all(cl_platform_id *out)
{
    cl_uint count = 0;
    if (clGetPlatformIDs(PLATFORMS_MAX, out, &count) != CL_SUCCESS)
        return 0;
    return count < PLATFORMS_MAX ? count : PLATFORMS_MAX;
}

static cl_uint devices_all(cl_platform_id platform, cl_device_id *out)
{
    cl_uint count = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, DEVICES_MAX, out, &count) != CL_SUCCESS)
        return 0;
    return count < DEVICES_MAX ? count : DEVICES_MAX;
}

static bool contains(const char *text, const char *part)
{
    size_t size = strlen(part);
    for (; *text; text++)
        if (strncasecmp(text, part, size) == 0)
            return true;
    return size == 0;
}

/* A number means the index, anything else a part of the name, "" everything. */
static bool chosen(const char *wanted, cl_uint index, const char *name)
{
    int64_t number;
    if (wanted[0] && pw_text_int64(wanted, &number))
        return number == (int64_t)index;
    return contains(name, wanted);
}

static int opencl_list(char *text, size_t text_size)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_device_id devices[DEVICES_MAX];
    size_t used = 0;
    cl_uint platform_count = platforms_all(platforms);
    if (text_size > 0)
        text[0] = '\0';
    for (cl_uint i = 0; i < platform_count; i++) {
        char name[PW_TARGET_NAME_MAX];
        pw_opencl_platform_text(platforms[i], CL_PLATFORM_NAME, name, sizeof name);
        cl_uint device_count = devices_all(platforms[i], devices);
        for (cl_uint j = 0; j < device_count && used < text_size; j++) {
            char device[PW_TARGET_NAME_MAX];
            pw_opencl_device_text(devices[j], CL_DEVICE_NAME, device, sizeof device);
            int n = snprintf(text + used, text_size - used, "opencl:%u:%u %s / %s\n", i, j, name, device);
            used += n > 0 ? (size_t)n : 0;
        }
    }
    return 0;
}

static bool choose(const char *spec, struct pw_opencl_device *out)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_device_id devices[DEVICES_MAX];
    char wanted[256];
    snprintf(wanted, sizeof wanted, "%s", spec);
    char *device_part = strchr(wanted, ':');
    if (device_part)
        *device_part++ = '\0';
    cl_uint platform_count = platforms_all(platforms);
    /* Without a wish PoCL comes first: the device that everybody can have. */
    for (int pass = wanted[0] ? 1 : 0; pass < 2; pass++)
        for (cl_uint i = 0; i < platform_count; i++) {
            char name[PW_TARGET_NAME_MAX];
            pw_opencl_platform_text(platforms[i], CL_PLATFORM_NAME, name, sizeof name);
            if (pass == 0 ? !contains(name, "Portable Computing") : !chosen(wanted, i, name))
                continue;
            cl_uint device_count = devices_all(platforms[i], devices);
            for (cl_uint j = 0; j < device_count; j++) {
                char device[PW_TARGET_NAME_MAX];
                pw_opencl_device_text(devices[j], CL_DEVICE_NAME, device, sizeof device);
                if (!chosen(device_part ? device_part : "", j, device))
                    continue;
                out->platform = platforms[i];
                out->device = devices[j];
                return true;
            }
        }
    return false;
}

static void no_device(const char *spec, char *message, size_t message_size)
{
    char list[2048];
    opencl_list(list, sizeof list);
    if (!list[0]) {
        snprintf(message, message_size,
                 "there is no OpenCL device (on Debian: apt-get install pocl-opencl-icd for the CPU)");
        return;
    }
    for (char *c = list; *c; c++)
        if (*c == '\n')
            *c = c[1] ? ';' : '\0';
    snprintf(message, message_size, "no OpenCL device matches '%s'; there are: %s", spec, list);
}

static void opencl_close(void *handle)
{
    struct pw_opencl_device *device = handle;
    if (!device)
        return;
    for (size_t i = 0; i < device->event_count; i++)
        clReleaseEvent(device->events[i]);
    pw_free(device->events);
    if (device->queue)
        clReleaseCommandQueue(device->queue);
    if (device->context)
        clReleaseContext(device->context);
    pw_free(device);
}

static int opencl_open(const char *spec, void **out, char *message, size_t message_size)
{
    cl_int rc = CL_SUCCESS;
    struct pw_opencl_device *device = pw_calloc(1, sizeof *device);
    if (!device)
        return pw_opencl_fail(message, message_size, "open", CL_OUT_OF_HOST_MEMORY);
    if (!choose(spec, device)) {
        no_device(spec, message, message_size);
        opencl_close(device);
        return CL_DEVICE_NOT_FOUND;
    }
    const char *what = "clCreateContext";
    device->context = clCreateContext(NULL, 1, &device->device, NULL, NULL, &rc);
    if (rc == CL_SUCCESS) {
        what = "clCreateCommandQueue";
        /* The 1.x call: devices before 2.0 have no other. */
        device->queue = clCreateCommandQueue(device->context, device->device, CL_QUEUE_PROFILING_ENABLE, &rc);
    }
    if (rc != CL_SUCCESS) {
        pw_opencl_fail(message, message_size, what, rc);
        opencl_close(device);
        return rc;
    }
    char platform[128], name[128], driver[128], version[128];
    pw_opencl_platform_text(device->platform, CL_PLATFORM_VERSION, platform, sizeof platform);
    pw_opencl_device_text(device->device, CL_DEVICE_NAME, name, sizeof name);
    pw_opencl_device_text(device->device, CL_DRIVER_VERSION, driver, sizeof driver);
    pw_opencl_device_text(device->device, CL_DEVICE_VERSION, version, sizeof version);
    snprintf(device->identity, sizeof device->identity, "%s|%s|%s|%s", platform, name, driver, version);
    device->in_place = pw_opencl_in_place(device->platform, device->device);
    device->coherent = pw_opencl_coherent(device->platform, device->device);
    /* Oclgrind 21.10 forgets what was written to a buffer whose address another had before. */
    device->keeps_buffers = strstr(platform, "Oclgrind") && getenv("OCLGRIND_UNINITIALIZED");
    *out = device;
    return 0;
}

/* ---- programs ---- */

static cl_int create_from_cache(struct pw_opencl_device *device, const struct pw_opencl_program *program,
                                const char *path, const char *options, struct pw_buf *log, cl_program *out)
{
    struct pw_buf binary = {0};
    cl_int rc = CL_INVALID_BINARY;
    if (pw_opencl_cache_load(path, program->key, &binary, log)) {
        const unsigned char *bytes = (const unsigned char *)binary.data;
        size_t size = binary.size;
        cl_program made = clCreateProgramWithBinary(device->context, 1, &device->device, &size, &bytes, NULL, &rc);
        if (rc == CL_SUCCESS)
            rc = clBuildProgram(made, 1, &device->device, options, NULL, NULL);
        if (rc == CL_SUCCESS)
            *out = made;
        else if (made)
            clReleaseProgram(made);
    }
    pw_buf_clear(&binary);
    return rc;
}

static void build_log(cl_program program, cl_device_id device, char *log, size_t log_size)
{
    size_t size = 0;
    if (log_size == 0 || clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS ||
        size == 0)
        return;
    char *text = pw_calloc(1, size + 1);
    if (!text)
        return;
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, text, NULL);
    snprintf(log, log_size, "%s", text);
    pw_free(text);
}

/* Asking for a binary makes PoCL compile every kernel of the program once more, for any local size: tenths of
 * a second each. So it is done only when there is nothing else to do; until then PoCL's own cache serves. */
static int opencl_idle(void *handle)
{
    struct pw_opencl_device *device = handle;
    bool stored = false;
    for (struct pw_opencl_program *p = device->programs; p; p = p->next) {
        if (!p->store_path || p->kernel_count == 0)
            continue;
        if (stored)
            return 1;
        pw_opencl_cache_store(p->store_path, p->key, p->program, p->log);
        pw_free(p->store_path);
        pw_free(p->log);
        p->store_path = p->log = NULL;
        stored = true;
    }
    return 0;
}

static void opencl_release(void *handle, void *program_handle)
{
    struct pw_opencl_device *device = handle;
    struct pw_opencl_program *program = program_handle;
    if (!program)
        return;
    struct pw_opencl_program **link = &device->programs;
    while (*link && *link != program)
        link = &(*link)->next;
    if (*link)
        *link = program->next;
    for (size_t i = 0; i < program->kernel_count; i++) {
        clReleaseKernel(program->kernels[i].kernel);
        pw_free(program->kernels[i].name);
    }
    if (program->program)
        clReleaseProgram(program->program);
    pw_free(program->kernels);
    pw_free(program->store_path);
    pw_free(program->log);
    pw_free(program);
}

static int opencl_compile(void *handle, const char *language, const char *source, const char *options,
                          const char *cache_dir, void **out, char *log, size_t log_size)
{
    struct pw_opencl_device *device = handle;
    struct pw_buf path = {0}, kept = {0};
    cl_int rc = CL_OUT_OF_HOST_MEMORY;
    if (strcmp(language, "opencl") != 0) {
        snprintf(log, log_size, "language '%s' is not accepted, only 'opencl'", language);
        return CL_INVALID_VALUE;
    }
    struct pw_opencl_program *program = pw_calloc(1, sizeof *program);
    if (!program)
        return rc;
    bool cached = cache_dir && pw_opencl_cache_path(device, cache_dir, source, options, &path, &program->key);
    if (cached && create_from_cache(device, program, path.data, options, &kept, &program->program) == CL_SUCCESS) {
        snprintf(log, log_size, "%s", pw_buf_text(&kept));
        rc = CL_SUCCESS;
        goto done;
    }
    program->program = clCreateProgramWithSource(device->context, 1, &source, NULL, &rc);
    if (rc == CL_SUCCESS)
        rc = clBuildProgram(program->program, 1, &device->device, options, NULL, NULL);
    if (program->program)
        build_log(program->program, device->device, log, log_size);
    if (rc != CL_SUCCESS && log_size > 0 && !log[0])
        snprintf(log, log_size, "%s (%d), and the compiler left no log: an undefined function does that",
                 pw_opencl_error_name(rc), rc);
    if (rc == CL_SUCCESS && cached) {
        program->store_path = pw_strdup(path.data);
        program->log = log_size > 0 && log[0] ? pw_strdup(log) : NULL;
    }
done:
    pw_buf_clear(&path);
    pw_buf_clear(&kept);
    if (rc != CL_SUCCESS) {
        opencl_release(device, program);
        return rc;
    }
    program->next = device->programs;
    device->programs = program;
    *out = program;
    return rc;
}

static struct pw_opencl_kernel *find_kernel(struct pw_opencl_program *program, const char *entry, char *message,
                                            size_t message_size)
{
    cl_int rc = CL_SUCCESS;
    for (size_t i = 0; i < program->kernel_count; i++)
        if (strcmp(program->kernels[i].name, entry) == 0)
            return &program->kernels[i];
    struct pw_opencl_kernel made = {.name = pw_strdup(entry)};
    if (!made.name || PW_GROW(program->kernels, program->kernel_cap, program->kernel_count + 1, NULL) != PW_OK)
        rc = CL_OUT_OF_HOST_MEMORY;
    if (rc == CL_SUCCESS)
        made.kernel = clCreateKernel(program->program, entry, &rc);
    if (rc == CL_SUCCESS)
        rc = clGetKernelInfo(made.kernel, CL_KERNEL_NUM_ARGS, sizeof made.arg_count, &made.arg_count, NULL);
    if (rc != CL_SUCCESS) {
        char what[160];
        snprintf(what, sizeof what, "kernel '%s'", entry);
        pw_opencl_fail(message, message_size, what, rc);
        if (made.kernel)
            clReleaseKernel(made.kernel);
        pw_free(made.name);
        return NULL;
    }
    program->kernels[program->kernel_count] = made;
    return &program->kernels[program->kernel_count++];
}

/* ---- buffers ---- */

static int opencl_alloc(void *handle, size_t size, void *host, bool read_only, void **out, char *message,
                        size_t message_size)
{
    struct pw_opencl_device *device = handle;
    cl_int rc = CL_OUT_OF_HOST_MEMORY;
    struct pw_opencl_buffer *buffer = pw_calloc(1, sizeof *buffer);
    if (buffer) {
        bool in_place = device->in_place && host;
        buffer->host = in_place ? host : NULL;
        buffer->size = size;
        buffer->mem = clCreateBuffer(device->context,
                                     (read_only ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE) |
                                         (in_place ? CL_MEM_USE_HOST_PTR : (cl_mem_flags)0),
                                     size, buffer->host, &rc);
    }
    if (rc != CL_SUCCESS) {
        pw_free(buffer);
        return pw_opencl_fail(message, message_size, "clCreateBuffer", rc);
    }
    *out = buffer;
    return 0;
}

static void opencl_free(void *handle, void *buffer_handle)
{
    struct pw_opencl_device *device = handle;
    struct pw_opencl_buffer *buffer = buffer_handle;
    if (!buffer)
        return;
    if (!device->keeps_buffers)
        clReleaseMemObject(buffer->mem);
    pw_free(buffer);
}

static int opencl_upload(void *handle, void *buffer_handle, const void *from, size_t size, char *message,
                         size_t message_size)
{
    struct pw_opencl_device *device = handle;
    struct pw_opencl_buffer *buffer = buffer_handle;
    if (buffer->host == from)
        return 0; /* nothing has run on it since it was made over this memory */
    cl_int rc = clEnqueueWriteBuffer(device->queue, buffer->mem, CL_TRUE, 0, size, from, 0, NULL, NULL);
    return rc == CL_SUCCESS ? 0 : pw_opencl_fail(message, message_size, "clEnqueueWriteBuffer", rc);
}

static int opencl_download(void *handle, void *buffer_handle, void *to, size_t size, char *message, size_t message_size)
{
    struct pw_opencl_device *device = handle;
    struct pw_opencl_buffer *buffer = buffer_handle;
    cl_int rc = CL_SUCCESS;
    const char *what = "clEnqueueReadBuffer";
    if (buffer->host == to && device->coherent) {
        what = "clFinish";
        rc = clFinish(device->queue);
    } else if (buffer->host == to) {
        /* Mapping is what makes results visible in memory that is used in place. */
        what = "clEnqueueMapBuffer";
        void *map = clEnqueueMapBuffer(device->queue, buffer->mem, CL_TRUE, CL_MAP_READ, 0, size, 0, NULL, NULL, &rc);
        if (rc == CL_SUCCESS)
            rc = clEnqueueUnmapMemObject(device->queue, buffer->mem, map, 0, NULL, NULL);
        if (rc == CL_SUCCESS)
            rc = clFinish(device->queue);
    } else {
        rc = clEnqueueReadBuffer(device->queue, buffer->mem, CL_TRUE, 0, size, to, 0, NULL, NULL);
    }
    return rc == CL_SUCCESS ? 0 : pw_opencl_fail(message, message_size, what, rc);
}

/* ---- launches ---- */

static cl_int set_arg(cl_kernel kernel, cl_uint index, const struct pw_target_arg *arg)
{
    const struct pw_opencl_buffer *buffer = arg->buffer;
    cl_mem mem = arg->kind == 0 && buffer ? buffer->mem : NULL;
    cl_int narrow = (cl_int)arg->i;
    cl_long wide = arg->i;
    cl_float single = (cl_float)arg->f;
    cl_double twice = arg->f;
    const struct {
        size_t size;
        const void *value;
    } kinds[] = {{sizeof mem, &mem},   {sizeof mem, &mem},       {sizeof narrow, &narrow},
                 {sizeof wide, &wide}, {sizeof single, &single}, {sizeof twice, &twice}};
    if (arg->kind < 0 || (size_t)arg->kind >= sizeof kinds / sizeof *kinds)
        return CL_INVALID_ARG_VALUE;
    return clSetKernelArg(kernel, index, kinds[arg->kind].size, kinds[arg->kind].value);
}

static void remember(struct pw_opencl_device *device, cl_event event)
{
    if (device->event_count >= EVENTS_MAX ||
        PW_GROW(device->events, device->event_cap, device->event_count + 1, NULL) != PW_OK)
        clReleaseEvent(event);
    else
        device->events[device->event_count++] = event;
}

static int opencl_launch(void *handle, const struct pw_target_launch *launch, char *message, size_t message_size)
{
    struct pw_opencl_device *device = handle;
    char what[192];
    struct pw_opencl_kernel *kernel = find_kernel(launch->program, launch->entry, message, message_size);
    if (!kernel)
        return CL_INVALID_KERNEL_NAME;
    if (kernel->arg_count != launch->arg_count) {
        snprintf(message, message_size, "kernel '%s' takes %u arguments, its description gives %zu", launch->entry,
                 kernel->arg_count, launch->arg_count);
        return CL_INVALID_KERNEL_ARGS;
    }
    for (size_t i = 0; i < launch->arg_count; i++) {
        cl_int rc = set_arg(kernel->kernel, (cl_uint)i, &launch->args[i]);
        if (rc != CL_SUCCESS) {
            snprintf(what, sizeof what, "kernel '%s', argument %zu", launch->entry, i);
            return pw_opencl_fail(message, message_size, what, rc);
        }
    }
    size_t global[3], local[3];
    bool any_local = false;
    for (int d = 0; d < 3; d++) {
        global[d] = launch->global[d];
        local[d] = launch->local[d];
        any_local = any_local || local[d] > 0;
    }
    cl_event event = NULL;
    cl_int rc = clEnqueueNDRangeKernel(device->queue, kernel->kernel, launch->work_dim, NULL, global,
                                       any_local ? local : NULL, 0, NULL, &event);
    if (rc != CL_SUCCESS) {
        snprintf(what, sizeof what, "launching '%s'", launch->entry);
        return pw_opencl_fail(message, message_size, what, rc);
    }
    remember(device, event);
    return 0;
}

static int opencl_sync(void *handle, char *message, size_t message_size)
{
    struct pw_opencl_device *device = handle;
    cl_int rc = clFinish(device->queue);
    for (size_t i = 0; i < device->event_count; i++) {
        cl_event event = device->events[i];
        cl_int state = CL_COMPLETE;
        cl_ulong start = 0, end = 0;
        if (rc == CL_SUCCESS)
            clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
        if (state < 0)
            rc = state;
        if (clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) == CL_SUCCESS &&
            clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) == CL_SUCCESS &&
            end > start)
            device->elapsed_ns += end - start;
        clReleaseEvent(event);
    }
    device->event_count = 0;
    return rc == CL_SUCCESS ? 0 : pw_opencl_fail(message, message_size, "clFinish", rc);
}

static int opencl_timestamp(void *handle, uint64_t *elapsed_ns)
{
    struct pw_opencl_device *device = handle;
    *elapsed_ns = device->elapsed_ns;
    device->elapsed_ns = 0;
    return 0;
}

const struct pw_target *pw_opencl_target(void)
{
    static struct pw_target target = {
        .abi = PW_TARGET_ABI,
        .open = opencl_open,
        .close = opencl_close,
        .describe = pw_opencl_describe,
        .list = opencl_list,
        .compile = opencl_compile,
        .release = opencl_release,
        .alloc = opencl_alloc,
        .free = opencl_free,
        .upload = opencl_upload,
        .download = opencl_download,
        .launch = opencl_launch,
        .sync = opencl_sync,
        .timestamp = opencl_timestamp,
        .idle = opencl_idle,
    };
    target.library_name = pw_opencl_library_name();
    if (target.library_name) {
        target.supports_library = pw_opencl_library_supports;
        target.library_op = pw_opencl_library_op;
    }
    return &target;
}
