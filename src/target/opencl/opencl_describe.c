/*
 * What an OpenCL device says of itself. The accuracy contract is the table of the OpenCL C
 * specification, "Relative error as ULPs" (full profile, single precision), with what the device
 * reports in CL_DEVICE_SINGLE_FP_CONFIG.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "target/opencl/opencl_internal.h"

void pw_opencl_device_text(cl_device_id device, cl_device_info what, char *dst, size_t size)
{
    char text[1024] = "";
    if (clGetDeviceInfo(device, what, sizeof text, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    text[sizeof text - 1] = '\0';
    snprintf(dst, size, "%s", text);
}

void pw_opencl_platform_text(cl_platform_id platform, cl_platform_info what, char *dst, size_t size)
{
    char text[1024] = "";
    if (clGetPlatformInfo(platform, what, sizeof text, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    text[sizeof text - 1] = '\0';
    snprintf(dst, size, "%s", text);
}

/* Known platforms by a part of their name; others are named by its first word. */
static const struct {
    const char *part, *word;
} platform_words[] = {
    {"Portable Computing", "pocl"}, {"Oclgrind", "oclgrind"}, {"NVIDIA", "nvidia"}, {"Intel", "intel"}, {"AMD", "amd"},
    {"rusticl", "rusticl"},
};

static void platform_word(const char *platform, char *dst, size_t size)
{
    for (size_t i = 0; i < sizeof platform_words / sizeof *platform_words; i++)
        if (strstr(platform, platform_words[i].part)) {
            snprintf(dst, size, "%s", platform_words[i].word);
            return;
        }
    size_t n = 0;
    while (n + 1 < size && isalnum((unsigned char)platform[n])) {
        dst[n] = (char)tolower((unsigned char)platform[n]);
        n++;
    }
    dst[n] = '\0';
}

static cl_ulong number(cl_device_id device, cl_device_info what)
{
    cl_ulong value = 0; /* the smaller kinds leave the upper half 0 on a little-endian machine */
    size_t size = 0;
    if (clGetDeviceInfo(device, what, 0, NULL, &size) != CL_SUCCESS || size > sizeof value)
        return 0;
    if (size == sizeof(cl_uint)) {
        cl_uint narrow = 0;
        clGetDeviceInfo(device, what, sizeof narrow, &narrow, NULL);
        return narrow;
    }
    clGetDeviceInfo(device, what, size, &value, NULL);
    return value;
}

bool pw_opencl_in_place(cl_platform_id platform, cl_device_id device)
{
    char name[128];
    pw_opencl_platform_text(platform, CL_PLATFORM_NAME, name, sizeof name);
    /* A simulator copies whatever it says; PoCL's CPU device is the case that was measured. */
    return (number(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) && !strstr(name, "Oclgrind") &&
           number(device, CL_DEVICE_HOST_UNIFIED_MEMORY);
}

/* PoCL's CPU device has no other memory: mapping there moves nothing, but costs two more rounds through its threads.
 * Elsewhere OpenCL promises to show results only in what is mapped. */
bool pw_opencl_coherent(cl_platform_id platform, cl_device_id device)
{
    char name[128];
    pw_opencl_platform_text(platform, CL_PLATFORM_NAME, name, sizeof name);
    return pw_opencl_in_place(platform, device) && strstr(name, "Portable Computing");
}

static void describe_accuracy(cl_device_id device, struct pw_target_info *info)
{
    cl_ulong single = number(device, CL_DEVICE_SINGLE_FP_CONFIG);
    info->accuracy = (struct pw_target_accuracy){.add = 0,
                                                 .mul = 0,
                                                 .fma = 0,
                                                 .divide = 2.5,
                                                 .sqrt = 3,
                                                 .rsqrt = 2,
                                                 .exp = 3,
                                                 .log = 3,
                                                 .sin = 4,
                                                 .cos = 4,
                                                 .tan = 5,
                                                 .tanh = 5,
                                                 .sinh = 4,
                                                 .cosh = 4,
                                                 .asin = 4,
                                                 .acos = 4,
                                                 .atan = 5,
                                                 .erf = 16,
                                                 .pow = 16};
    info->accuracy.denormals = (single & CL_FP_DENORM) != 0;
    info->accuracy.fma_fused = (single & CL_FP_FMA) != 0;
    /* Halves are stored and converted, where OpenCL demands denormals. */
    info->accuracy.denormals_fp16 = true;
}

static uint32_t group_multiple(cl_device_id device)
{
    /* CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE came with 3.0; before it only kernels have one. */
    cl_ulong value = number(device, CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
    return value > 0 ? (uint32_t)value : 1;
}

int pw_opencl_describe(void *handle, struct pw_target_info *info, char *message, size_t message_size)
{
    struct pw_opencl_device *opencl = handle;
    cl_device_id device = opencl->device;
    char word[32], extensions[1024];
    (void)message;
    (void)message_size;
    memset(info, 0, sizeof *info);
    pw_opencl_device_text(device, CL_DEVICE_NAME, info->name, sizeof info->name);
    pw_opencl_device_text(device, CL_DEVICE_VENDOR, info->vendor, sizeof info->vendor);
    pw_opencl_device_text(device, CL_DRIVER_VERSION, info->driver, sizeof info->driver);
    pw_opencl_platform_text(opencl->platform, CL_PLATFORM_NAME, info->platform, sizeof info->platform);
    pw_opencl_platform_text(opencl->platform, CL_PLATFORM_VERSION, info->runtime, sizeof info->runtime);
    cl_ulong type = number(device, CL_DEVICE_TYPE);
    info->is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
    platform_word(info->platform, word, sizeof word);
    snprintf(info->kind, sizeof info->kind, "opencl-%s-%s", word,
             info->is_cpu                        ? "cpu"
             : type & CL_DEVICE_TYPE_GPU         ? "gpu"
             : type & CL_DEVICE_TYPE_ACCELERATOR ? "accelerator"
                                                 : "device");
    snprintf(info->languages[0], sizeof info->languages[0], "opencl");
    pw_opencl_device_text(device, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions);
    info->compute_units = (uint32_t)number(device, CL_DEVICE_MAX_COMPUTE_UNITS);
    info->vector_width = (uint32_t)number(device, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT);
    info->work_group_multiple = group_multiple(device);
    info->max_work_group = number(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    info->local_mem_bytes = number(device, CL_DEVICE_LOCAL_MEM_SIZE);
    info->global_mem_bytes = number(device, CL_DEVICE_GLOBAL_MEM_SIZE);
    info->max_alloc_bytes = number(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    info->alignment_bytes = (uint32_t)(number(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8);
    info->has_fp64 = number(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    info->has_fp16 = strstr(extensions, "cl_khr_fp16") != NULL;
    info->shares_host_memory = opencl->in_place;
    describe_accuracy(device, info);
    return 0;
}
