/*
 * A chip that lies about time, for the test of the roof: its library's Relu does nothing when it is called and
 * returns at once; the work is done when somebody looks at the result. It is right, and far faster than the memory
 * that its own data sheet gives it.
 */
#include "target/target.h"
#include "tests/plugin/host.h"

struct chip {
    struct memory *from, *to; /* of the Relu that nobody has looked at yet */
    int64_t count;
};

static int hasty_open(const char *spec, void **device, char *message, size_t message_size)
{
    (void)spec;
    (void)message;
    (void)message_size;
    *device = calloc(1, sizeof(struct chip));
    return *device ? 0 : -1;
}

static int hasty_describe(void *device, struct pw_target_info *info, char *message, size_t message_size)
{
    (void)device;
    (void)message;
    (void)message_size;
    memset(info, 0, sizeof *info);
    snprintf(info->name, sizeof info->name, "hasty");
    snprintf(info->kind, sizeof info->kind, "hasty");
    snprintf(info->driver, sizeof info->driver, "1");
    snprintf(info->languages[0], sizeof info->languages[0], "none");
    info->compute_units = 1;
    info->vector_width = 1;
    info->max_work_group = 1;
    info->alignment_bytes = 64;
    info->peak_flops = 1e6;
    info->peak_bytes = 1e6;
    return 0;
}

static int hasty_download(void *device, void *buffer, void *to, size_t size, char *message, size_t message_size)
{
    struct chip *chip = device;

    if (chip->to == buffer) {
        const float *from = chip->from->data;
        float *result = chip->to->data;

        for (int64_t i = 0; i < chip->count; i++)
            result[i] = from[i] < 0 ? 0 : from[i];
    }
    return host_download(device, buffer, to, size, message, message_size);
}

static int hasty_launch(void *device, const struct pw_target_launch *launch, char *message, size_t message_size)
{
    (void)device;
    (void)launch;
    snprintf(message, message_size, "only the library");
    return -1;
}

static int hasty_supports_library(void *device, const struct pw_target_library_call *call, char *why, size_t why_size)
{
    (void)device;
    if (strcmp(call->op_type, "Relu") == 0 && call->inputs[0].dtype == 1)
        return 1;
    snprintf(why, why_size, "only Relu in float32");
    return 0;
}

static int hasty_library_op(void *device, const struct pw_target_library_call *call, char *message, size_t message_size)
{
    struct chip *chip = device;
    (void)message;
    (void)message_size;
    chip->from = call->inputs[0].buffer;
    chip->to = call->outputs[0].buffer;
    chip->count = 1;
    for (int d = 0; d < call->inputs[0].rank; d++)
        chip->count *= call->inputs[0].dims[d];
    return 0;
}

const struct pw_target *pw_target_entry(void);

const struct pw_target *pw_target_entry(void)
{
    static const struct pw_target target = {
        .abi = PW_TARGET_ABI,
        .open = hasty_open,
        .close = free,
        .describe = hasty_describe,
        .alloc = host_alloc,
        .free = host_free,
        .upload = host_upload,
        .download = hasty_download,
        .launch = hasty_launch,
        .sync = host_sync,
        .supports_library = hasty_supports_library,
        .library_op = hasty_library_op,
        .library_name = "hasty library 1",
    };
    return &target;
}
