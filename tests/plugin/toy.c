/*
 * A small honest chip for the tests of plugin targets: memory of its own, a language of its own ("toy", a
 * list of the operations that a program uses, one a line), a library with Relu. It does exactly what it is
 * told, also when that is to overrun a buffer.
 *
 * spec: "" or "name=TEXT" (the device's name), "broken" (does not open).
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "target/target.h"
#include "tests/plugin/host.h"

struct chip {
    char name[64];
    uint64_t elapsed_ns;
};

/* All operations take (x, y, n) and work on float32. */
typedef void operation(float *x, float *y, int64_t n);

static void add_one(float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] + 1.0f;
}

static void nothing(float *x, float *y, int64_t n)
{
    (void)x;
    (void)y;
    (void)n;
}

static void one_past(float *x, float *y, int64_t n)
{
    add_one(x, y, n);
    y[n] = 1.0f;
}

static void to_input(float *x, float *y, int64_t n)
{
    add_one(x, y, n);
    x[0] = 9.0f;
}

static void die(float *x, float *y, int64_t n)
{
    (void)x;
    (void)y;
    (void)n;
    fputs("toy: the chip is on fire\n", stderr);
    abort();
}

static void spin(float *x, float *y, int64_t n)
{
    (void)x;
    (void)y;
    (void)n;
    for (;;)
        pause();
}

/* Writes to the socket that the worker answers on, as if it were the worker. */
static void forge(float *x, float *y, int64_t n)
{
    static const char words[] = "all is well, every value is right, in no time at all";
    (void)x;
    (void)y;
    (void)n;
    ssize_t unused = write(3, words, sizeof words);
    (void)unused;
}

/* What x asks for: a system call, whose arguments may point into x (their bits in `offsets` are set) or be the
 * process or its parent. y gets its result, or the error negated. */
struct request {
    int64_t number, arguments[6];
    int64_t offsets;
};
#define SELF INT64_C(-1000001)
#define PARENT INT64_C(-1000002)

static void call(float *x, float *y, int64_t n)
{
    struct request r;
    int64_t result;
    (void)n;
    memcpy(&r, x, sizeof r);
    for (int i = 0; i < 6; i++) {
        if (r.offsets >> i & 1)
            r.arguments[i] += (int64_t)(uintptr_t)x;
        r.arguments[i] = r.arguments[i] == SELF ? getpid() : r.arguments[i] == PARENT ? getppid() : r.arguments[i];
    }
    result = syscall(r.number, r.arguments[0], r.arguments[1], r.arguments[2], r.arguments[3], r.arguments[4],
                     r.arguments[5]);
    result = result < 0 ? -errno : result;
    memcpy(y, &result, sizeof result);
}

/* Takes all memory there is, a part at a time; y gets how many GiB it was. */
static void hoard(float *x, float *y, int64_t n)
{
    const size_t part = (size_t)64 << 20;
    int64_t parts = 0;
    (void)x;
    (void)n;
    while (malloc(part) != NULL && parts < (1 << 20))
        parts++;
    parts /= 16;
    memcpy(y, &parts, sizeof parts);
}

/* Right until somebody has looked: y changes when it was downloaded. */
static float *fading;

static void fade(float *x, float *y, int64_t n)
{
    add_one(x, y, n);
    fading = y;
}

static const struct {
    const char *name;
    operation *run;
} operations[] = {
    {"add_one", add_one}, {"nothing", nothing}, {"one_past", one_past}, {"to_input", to_input}, {"die", die},
    {"spin", spin},       {"forge", forge},     {"call", call},         {"hoard", hoard},       {"fade", fade},
};

static int toy_open(const char *spec, void **device, char *message, size_t message_size)
{
    if (strcmp(spec, "broken") == 0)
        return fail(message, message_size, "the toy is broken");
    struct chip *chip = calloc(1, sizeof *chip);
    if (!chip)
        return fail(message, message_size, "no memory");
    snprintf(chip->name, sizeof chip->name, "%s", strncmp(spec, "name=", 5) == 0 ? spec + 5 : "toy");
    *device = chip;
    return 0;
}

static void toy_close(void *device)
{
    free(device);
}

static int toy_describe(void *device, struct pw_target_info *info, char *message, size_t message_size)
{
    const struct chip *chip = device;
    (void)message;
    (void)message_size;
    memset(info, 0, sizeof *info);
    snprintf(info->name, sizeof info->name, "%s", chip->name);
    snprintf(info->kind, sizeof info->kind, "toy");
    snprintf(info->driver, sizeof info->driver, "1");
    snprintf(info->languages[0], sizeof info->languages[0], "toy");
    info->compute_units = 1;
    info->vector_width = 1;
    info->max_work_group = 1;
    info->alignment_bytes = 64;
    info->accuracy.exp = -1;
    return 0;
}

static int toy_compile(void *device, const char *language, const char *source, const char *options,
                       const char *cache_dir, void **program, char *log, size_t log_size)
{
    (void)device;
    (void)options;
    (void)cache_dir;
    if (strcmp(language, "toy") != 0)
        return fail(log, log_size, "only the language 'toy' is known");
    for (const char *at = source; *at;) {
        size_t size = strcspn(at, "\n");
        int known = 0;
        for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
            known = known || (strlen(operations[i].name) == size && strncmp(at, operations[i].name, size) == 0);
        if (!known) {
            snprintf(log, log_size, "unknown operation '%.*s'", (int)size, at);
            return -2;
        }
        at += size + (at[size] == '\n');
    }
    snprintf(log, log_size, "toy: built");
    *program = strdup(source);
    return *program ? 0 : -3;
}

static void toy_release(void *device, void *program)
{
    (void)device;
    free(program);
}

static int toy_launch(void *device, const struct pw_target_launch *launch, char *message, size_t message_size)
{
    struct chip *chip = device;
    if (launch->arg_count != 3 || launch->args[0].kind != 0 || launch->args[1].kind != 0 || launch->args[2].kind != 2)
        return fail(message, message_size, "the arguments are not (buffer, buffer, int)");
    struct memory *x = launch->args[0].buffer, *y = launch->args[1].buffer;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(operations[i].name, launch->entry) == 0) {
            fading = NULL;
            operations[i].run(x->data, y->data, launch->args[2].i);
            chip->elapsed_ns += 5;
            return 0;
        }
    return fail(message, message_size, "no such operation");
}

static int toy_download(void *device, void *buffer, void *to, size_t size, char *message, size_t message_size)
{
    int rc = host_download(device, buffer, to, size, message, message_size);
    float *data = ((struct memory *)buffer)->data;
    if (data == fading)
        data[0] = 77.0f;
    return rc;
}

static int toy_timestamp(void *device, uint64_t *elapsed_ns)
{
    struct chip *chip = device;
    *elapsed_ns = chip->elapsed_ns;
    chip->elapsed_ns = 0;
    return 0;
}

static int toy_supports_library(void *device, const struct pw_target_library_call *call, char *why, size_t why_size)
{
    (void)device;
    if (strcmp(call->op_type, "Relu") != 0)
        snprintf(why, why_size, "the toy's library has only Relu");
    else if (call->inputs[0].dtype != 1)
        snprintf(why, why_size, "Relu in float32 only");
    else
        return 1;
    return 0;
}

static int toy_library_op(void *device, const struct pw_target_library_call *call, char *message, size_t message_size)
{
    int64_t count = 1;
    if (!toy_supports_library(device, call, message, message_size))
        return -1;
    for (int d = 0; d < call->inputs[0].rank; d++)
        count *= call->inputs[0].dims[d];
    const float *x = ((const struct memory *)call->inputs[0].buffer)->data;
    float *y = ((struct memory *)call->outputs[0].buffer)->data;
    for (int64_t i = 0; i < count; i++)
        y[i] = x[i] > 0.0f ? x[i] : 0.0f;
    return 0;
}

const struct pw_target *pw_target_entry(void);

const struct pw_target *pw_target_entry(void)
{
    static const struct pw_target target = {
        .abi = PW_TARGET_ABI,
        .open = toy_open,
        .close = toy_close,
        .describe = toy_describe,
        .compile = toy_compile,
        .release = toy_release,
        .alloc = host_alloc,
        .free = host_free,
        .upload = host_upload,
        .download = toy_download,
        .launch = toy_launch,
        .sync = host_sync,
        .timestamp = toy_timestamp,
        .supports_library = toy_supports_library,
        .library_op = toy_library_op,
        .library_name = "toy library 1",
    };
    return &target;
}
