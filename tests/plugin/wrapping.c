/*
 * A chip whose library counts elements in too few bits, for the tests of huge cases: Relu and Identity, in float32 and
 * int8, read the element whose index is left of i modulo a number. It is right for all tensors that are smaller.
 *
 * spec: "N": the number (2147483648: as an index of 31 bits does).
 */
#include "target/target.h"
#include "tests/plugin/host.h"

enum { FLOAT = 1, INT8 = 3 };

struct chip {
    int64_t modulus;
};

static int wrapping_open(const char *spec, void **device, char *message, size_t message_size)
{
    struct chip *chip = calloc(1, sizeof *chip);
    char *end;

    if (!chip)
        return fail(message, message_size, "no memory");
    chip->modulus = strtoll(spec, &end, 10);
    if (chip->modulus < 1 || *end) {
        free(chip);
        return fail(message, message_size, "the spec: expected a number of elements");
    }
    *device = chip;
    return 0;
}

static int wrapping_describe(void *device, struct pw_target_info *info, char *message, size_t message_size)
{
    (void)device;
    (void)message;
    (void)message_size;
    memset(info, 0, sizeof *info);
    snprintf(info->name, sizeof info->name, "wrapping");
    snprintf(info->kind, sizeof info->kind, "wrapping");
    snprintf(info->driver, sizeof info->driver, "1");
    snprintf(info->languages[0], sizeof info->languages[0], "none");
    info->compute_units = 1;
    info->vector_width = 1;
    info->max_work_group = 1;
    info->alignment_bytes = 64;
    info->accuracy.denormals = true;
    return 0;
}

static int wrapping_launch(void *device, const struct pw_target_launch *launch, char *message, size_t message_size)
{
    (void)device;
    (void)launch;
    return fail(message, message_size, "only the library");
}

static int wrapping_supports_library(void *device, const struct pw_target_library_call *call, char *why,
                                     size_t why_size)
{
    (void)device;
    if ((!strcmp(call->op_type, "Relu") || !strcmp(call->op_type, "Identity")) &&
        (call->inputs[0].dtype == FLOAT || call->inputs[0].dtype == INT8))
        return 1;
    snprintf(why, why_size, "only Relu and Identity, in float32 and int8");
    return 0;
}

static int wrapping_library_op(void *device, const struct pw_target_library_call *call, char *message,
                               size_t message_size)
{
    const struct chip *chip = device;
    const void *x = ((const struct memory *)call->inputs[0].buffer)->data;
    void *y = ((struct memory *)call->outputs[0].buffer)->data;
    bool relu = !strcmp(call->op_type, "Relu");
    int64_t count = 1;

    (void)message;
    (void)message_size;
    for (int d = 0; d < call->inputs[0].rank; d++)
        count *= call->inputs[0].dims[d];
    for (int64_t i = 0; i < count; i++) {
        int64_t from = i % chip->modulus;

        if (call->inputs[0].dtype == FLOAT) {
            float value = ((const float *)x)[from];

            ((float *)y)[i] = relu && value < 0 ? 0 : value;
        } else {
            int8_t value = ((const int8_t *)x)[from];

            ((int8_t *)y)[i] = relu && value < 0 ? 0 : value;
        }
    }
    return 0;
}

const struct pw_target *pw_target_entry(void);

const struct pw_target *pw_target_entry(void)
{
    static const struct pw_target target = {
        .abi = PW_TARGET_ABI,
        .open = wrapping_open,
        .close = free,
        .describe = wrapping_describe,
        .alloc = host_alloc,
        .free = host_free,
        .upload = host_upload,
        .download = host_download,
        .launch = wrapping_launch,
        .sync = host_sync,
        .supports_library = wrapping_supports_library,
        .library_op = wrapping_library_op,
        .library_name = "the wrapping library",
    };
    return &target;
}
