/*
 * A chip that plays a fixed part for each operator, for the tests of the workbench: what a person sees of delays, wrong
 * answers, crashes, hangs, errors and failing builds is the same every time. Float32 only.
 *
 *   Relu   right                         Floor  an error with a message
 *   Abs    its first element is one off  Ceil   a kernel that does not build
 *   Neg    the process aborts            Sign   a kernel that never comes back
 *   Identity  right, but of 77 elements it never comes back
 *
 * The kernels are in tests/kernels/actor; all else is its library's.
 *
 * spec: "delay=MS" and "seed=N", joined by ',': every call takes up to MS milliseconds, drawn from the seed.
 */
#include <time.h>
#include <unistd.h>

#include "target/target.h"
#include "tests/plugin/host.h"

enum { FLOAT = 1 };

struct chip {
    long delay_ms;
    unsigned long state; /* of the delays' generator */
};

static int actor_open(const char *spec, void **device, char *message, size_t message_size)
{
    struct chip *chip = calloc(1, sizeof *chip);

    if (!chip)
        return fail(message, message_size, "no memory");
    chip->state = 1;
    for (const char *at = spec; *at;) {
        char *end;

        if (!strncmp(at, "delay=", 6))
            chip->delay_ms = strtol(at + 6, &end, 10);
        else if (!strncmp(at, "seed=", 5))
            chip->state = strtoul(at + 5, &end, 10);
        else
            end = NULL;
        if (!end || (*end && *end != ',')) {
            free(chip);
            return fail(message, message_size, "the actor's spec: expected delay=MS or seed=N");
        }
        at = end + (*end == ',');
    }
    *device = chip;
    return 0;
}

static int actor_describe(void *device, struct pw_target_info *info, char *message, size_t message_size)
{
    (void)device;
    (void)message;
    (void)message_size;
    memset(info, 0, sizeof *info);
    snprintf(info->name, sizeof info->name, "actor");
    snprintf(info->kind, sizeof info->kind, "actor");
    snprintf(info->driver, sizeof info->driver, "1");
    snprintf(info->languages[0], sizeof info->languages[0], "actor");
    info->compute_units = 1;
    info->vector_width = 1;
    info->max_work_group = 1;
    info->alignment_bytes = 64;
    info->accuracy.exp = -1;
    return 0;
}

/* The language has one word; all else does not build. */
static int actor_compile(void *device, const char *language, const char *source, const char *options,
                         const char *cache_dir, void **program, char *log, size_t log_size)
{
    static char wait[] = "wait";

    (void)device;
    (void)language;
    (void)options;
    (void)cache_dir;
    for (const char *line = source; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\n");

        if (*line == '#' || !length || (length == strlen(wait) && !strncmp(line, wait, length)))
            continue;
        snprintf(log, log_size, "the actor does not know how to '%.*s'", (int)length, line);
        return -1;
    }
    *program = wait;
    return 0;
}

static void actor_release(void *device, void *program)
{
    (void)device;
    (void)program;
}

static int actor_launch(void *device, const struct pw_target_launch *launch, char *message, size_t message_size)
{
    (void)device;
    (void)launch;
    while (pause() != 0)
        ;
    return fail(message, message_size, "the play is over");
}

/* ---- the parts ---- */

static int relu(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] < 0 ? 0 : x[i];
    return 0;
}

static int wrong_abs(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = (x[i] < 0 ? -x[i] : x[i]) + (i == 0 ? 1.0f : 0.0f);
    return 0;
}

static int crash(const float *x, float *y, int64_t n)
{
    (void)x;
    (void)y;
    (void)n;
    abort();
}

static int refuse(const float *x, float *y, int64_t n)
{
    (void)x;
    (void)y;
    (void)n;
    return -7;
}

static int hang_at_77(const float *x, float *y, int64_t n)
{
    while (n == 77)
        pause();
    memcpy(y, x, (size_t)n * sizeof *y);
    return 0;
}

static const struct part {
    const char *op_type;
    int (*play)(const float *x, float *y, int64_t n);
} parts[] = {{"Relu", relu}, {"Abs", wrong_abs}, {"Neg", crash}, {"Floor", refuse}, {"Identity", hang_at_77}};

static const struct part *find_part(const char *op_type)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(parts[i].op_type, op_type))
            return &parts[i];
    return NULL;
}

static int actor_supports_library(void *device, const struct pw_target_library_call *call, char *why, size_t why_size)
{
    (void)device;
    if (!find_part(call->op_type))
        snprintf(why, why_size, "the actor has no part in it");
    else if (call->inputs[0].dtype != FLOAT)
        snprintf(why, why_size, "float32 only");
    else
        return 1;
    return 0;
}

static void take_time(struct chip *chip)
{
    struct timespec time;
    long ms;

    if (chip->delay_ms <= 0)
        return;
    chip->state = chip->state * 6364136223846793005ul + 1442695040888963407ul;
    ms = (long)((chip->state >> 33) % (unsigned long)(chip->delay_ms + 1));
    time = (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static int actor_library_op(void *device, const struct pw_target_library_call *call, char *message, size_t message_size)
{
    const struct part *part = find_part(call->op_type);
    int64_t count = 1;
    int result;

    for (int d = 0; d < call->inputs[0].rank; d++)
        count *= call->inputs[0].dims[d];
    take_time(device);
    result = part->play(((const struct memory *)call->inputs[0].buffer)->data,
                        ((const struct memory *)call->outputs[0].buffer)->data, count);
    if (result != 0)
        snprintf(message, message_size, "the actor forgot its lines");
    return result;
}

const struct pw_target *pw_target_entry(void);

const struct pw_target *pw_target_entry(void)
{
    static const struct pw_target target = {
        .abi = PW_TARGET_ABI,
        .open = actor_open,
        .close = free,
        .describe = actor_describe,
        .compile = actor_compile,
        .release = actor_release,
        .alloc = host_alloc,
        .free = host_free,
        .upload = host_upload,
        .download = host_download,
        .launch = actor_launch,
        .sync = host_sync,
        .supports_library = actor_supports_library,
        .library_op = actor_library_op,
        .library_name = "the actor",
    };
    return &target;
}
