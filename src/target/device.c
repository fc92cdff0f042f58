/* The pool of workers of a target: opening, choosing, replacing, closing. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "target/device_internal.h"
#include "target/sandbox.h"

#define START_DEADLINE_NS 30000000000
#define WORKERS_DEFAULT_MAX 4
#define FRESH_NS 10000000000 /* much less than the silence after which a worker does its housekeeping */

/* ---- specification ---- */

static pw_status copy_text(char **out, const char *text, struct pw_error *err)
{
    *out = pw_strdup(text);
    return *out ? PW_OK : pw_error_memory(err, strlen(text) + 1);
}

static pw_status parse_plugin(struct pw_device *device, const char *rest, struct pw_error *err)
{
    char absolute[PATH_MAX];
    const char *end = strstr(rest, ".so:");
    size_t size = end ? (size_t)(end - rest) + 3 : strlen(rest);
    pw_status status = copy_text(&device->open_spec, end ? end + 4 : "", err);
    char *path = pw_strndup(rest, size);
    if (status == PW_OK && !path)
        status = pw_error_memory(err, size);
    /* Absolute: a bare name would be looked for in the loader's folders. */
    if (status == PW_OK && !realpath(path, absolute))
        status = pw_error_set(err, PW_ERR_TARGET, "target '%s': plugin '%s': %s", device->spec, path, strerror(errno));
    if (status == PW_OK)
        status = copy_text(&device->plugin, absolute, err);
    pw_free(path);
    return status;
}

static pw_status parse_spec(struct pw_device *device, const char *spec, struct pw_error *err)
{
    pw_status status = copy_text(&device->spec, spec, err);
    if (status != PW_OK)
        return status;
    if (strcmp(spec, "reference") == 0) {
        device->reference = true;
        return PW_OK;
    }
    if (strncmp(spec, "plugin:", 7) == 0 && spec[7])
        return parse_plugin(device, spec + 7, err);
    if (strcmp(spec, "opencl") == 0 || strncmp(spec, "opencl:", 7) == 0) {
        status = copy_text(&device->plugin, "", err);
        return status == PW_OK ? copy_text(&device->open_spec, spec[6] ? spec + 7 : "", err) : status;
    }
    return pw_error_set(err, PW_ERR_TARGET,
                        "target '%s': expected opencl[:platform[:device]], plugin:FILE.so[:SPEC] or reference", spec);
}

/* ---- workers ---- */

/* A worker has one thread when it enters its sandbox. */
static const char *const worker_environment[] = {"OPENBLAS_NUM_THREADS=1", NULL};

static struct pw_link_options link_options(const char *cache_dir, const char *const *environment, bool foreign)
{
    return (struct pw_link_options){.flag = "--worker",
                                    .mode = "target",
                                    .cache_dir = cache_dir,
                                    .throwaway = foreign || !cache_dir,
                                    .uid = pw_sandbox_uid(foreign),
                                    .environment = worker_environment,
                                    .more = environment};
}

/* What every worker is told before it opens a driver. */
static void write_policy(struct pw_buf *request, const struct pw_link *link, const struct pw_link_options *options,
                         const char *plugin, bool foreign)
{
    pw_wire_text(request, plugin);
    pw_wire_text(request, link->dir ? link->dir : "");
    pw_wire_u32(request, foreign);
    pw_wire_u32(request, options->uid);
}

static void take_info(struct pw_device *device, const struct pw_target_info *info, const char *library)
{
    device->info = *info;
    snprintf(device->library, sizeof device->library, "%s", library);
    for (int i = 0; i < PW_TARGET_LANGUAGES && device->info.languages[i][0]; i++)
        device->languages[i] = device->info.languages[i];
    device->facts = (struct pw_device_facts){.local_mem_bytes = (int64_t)info->local_mem_bytes,
                                             .max_work_group = (int64_t)info->max_work_group,
                                             .vector_width = info->vector_width,
                                             .work_group_multiple = info->work_group_multiple,
                                             .compute_units = info->compute_units,
                                             .global_mem_bytes = (int64_t)info->global_mem_bytes,
                                             .max_alloc_bytes = (int64_t)info->max_alloc_bytes,
                                             .has_fp64 = info->has_fp64,
                                             .has_fp16 = info->has_fp16,
                                             .is_cpu = info->is_cpu,
                                             .languages = device->languages};
}

/* Starts a worker in the slot (busy, ours) and opens the target there. describe: take over what it says. */
static pw_status open_worker(struct pw_device *device, struct pw_pool_slot *slot, bool describe, struct pw_error *err)
{
    struct pw_buf request = {0}, log = {0};
    struct pw_link_options options = link_options(device->cache_dir, device->environment, slot->foreign);
    struct pw_target_info info;
    struct pw_wire wire;
    pw_message_type type;
    pw_status status = pw_link_start(&slot->link, &options, err);
    if (status != PW_OK)
        return status;
    write_policy(&request, &slot->link, &options, device->plugin, slot->foreign);
    pw_wire_text(&request, device->open_spec);
    status = request.failed ? pw_error_memory(err, request.size)
                            : pw_link_send(&slot->link, PW_MSG_OPEN, request.data, request.size, err);
    if (status == PW_OK)
        status = pw_link_wait(&slot->link, PW_MSG_REPLY, device->start_deadline_ns, NULL, device->spec, &type, &wire,
                              &log, err);
    if (status == PW_OK) {
        const char *message, *unused;
        pw_status said = pw_wire_read_head(&wire, &message, &unused);
        if (said == PW_OK)
            pw_info_read(&wire, &info);
        const char *library = said == PW_OK ? pw_wire_read_text(&wire) : "";
        if (said != PW_OK && said != PW_ERR_FORMAT)
            status = pw_error_set(err, PW_ERR_TARGET, "target '%s': %s", device->spec, message);
        else if (wire.bad)
            status = pw_link_refuse(&slot->link, device->spec, err);
        else if (describe)
            take_info(device, &info, library);
    } else if (log.size > 0 && err) {
        size_t used = strlen(err->message);
        snprintf(err->message + used, sizeof err->message - used, "\n%s", pw_buf_text(&log));
    }
    if (status != PW_OK)
        pw_link_end(&slot->link);
    pw_buf_clear(&request);
    pw_buf_clear(&log);
    return status;
}

static bool fits(const struct pw_pool_slot *slot, const struct pw_pool_want *want)
{
    return pw_link_running(&slot->link) && slot->foreign == want->foreign &&
           (!want->foreign || (slot->kernel.high == want->kernel.high && slot->kernel.low == want->kernel.low));
}

static bool has_built(const struct pw_pool_slot *slot, uint64_t program)
{
    for (int i = 0; i < PW_POOL_PROGRAMS && program != 0; i++)
        if (slot->programs[i] == program)
            return true;
    return false;
}

/* How good a place is: a fitting worker that has the program, a fitting one, an empty place, any other (whose
 * worker ends). */
static int rank_of(const struct pw_pool_slot *slot, const struct pw_pool_want *want)
{
    if (!fits(slot, want))
        return pw_link_running(&slot->link) ? 1 : 2;
    return has_built(slot, want->program) ? 4 : 3;
}

/* The best idle place; of equals the one used last. */
static struct pw_pool_slot *pick(struct pw_device *device, const struct pw_pool_want *want)
{
    struct pw_pool_slot *best = NULL;
    int best_rank = 0;
    for (int i = 0; i < device->slot_count; i++) {
        struct pw_pool_slot *slot = &device->slots[i];
        if (slot->busy)
            continue;
        int rank = rank_of(slot, want);
        if (!best || rank > best_rank || (rank == best_rank && slot->used > best->used)) {
            best = slot;
            best_rank = rank;
        }
    }
    return best;
}

pw_status pw_pool_acquire(struct pw_device *device, const struct pw_pool_want *want, struct pw_pool_slot **out,
                          struct pw_error *err)
{
    if (device->reference)
        return pw_error_set(err, PW_ERR_TARGET, "the target 'reference' executes no kernels");
    char why[160];
    if (want->foreign && !pw_sandbox_unconfined_permitted() && !pw_sandbox_confines(why, sizeof why))
        return pw_error_set(err, PW_ERR_TARGET,
                            "a kernel from outside cannot be confined: %s; --unsafe-kernels runs it all the same", why);
    struct pw_pool_slot *slot;
    pthread_mutex_lock(&device->mutex);
    while (!(slot = pick(device, want)))
        pthread_cond_wait(&device->idle, &device->mutex);
    slot->busy = true;
    pthread_mutex_unlock(&device->mutex);
    if (!fits(slot, want) || !pw_link_quiet(&slot->link)) {
        slot->foreign = want->foreign;
        slot->kernel = want->kernel;
        memset(slot->programs, 0, sizeof slot->programs);
        pw_status status = open_worker(device, slot, false, err);
        if (status != PW_OK) {
            pw_pool_release(device, slot);
            return status;
        }
    }
    slot->knows = has_built(slot, want->program) && pw_clock_ns() - slot->used_ns < FRESH_NS;
    if (want->program != 0 && !has_built(slot, want->program))
        slot->programs[slot->program_next++ % PW_POOL_PROGRAMS] = want->program;
    if (slot->foreign)
        pw_link_resume(&slot->link);
    *out = slot;
    return PW_OK;
}

void pw_pool_release(struct pw_device *device, struct pw_pool_slot *slot)
{
    /* A thread that a foreign kernel left behind must not slow down what is timed beside it. */
    if (slot->foreign)
        pw_link_pause(&slot->link);
    pthread_mutex_lock(&device->mutex);
    slot->busy = false;
    slot->used = ++device->tick;
    slot->used_ns = pw_clock_ns();
    pthread_cond_signal(&device->idle);
    pthread_mutex_unlock(&device->mutex);
}

/* ---- the device ---- */

pw_status pw_device_open(const char *spec, const struct pw_device_options *options, struct pw_device **out,
                         struct pw_error *err)
{
    static const struct pw_device_options defaults;
    pw_status status = PW_OK;
    if (!options)
        options = &defaults;
    struct pw_device *device = pw_calloc(1, sizeof *device);
    if (!device)
        return pw_error_memory(err, sizeof *device);
    pthread_mutex_init(&device->mutex, NULL);
    pthread_cond_init(&device->idle, NULL);
    device->start_deadline_ns = options->start_deadline_ns > 0 ? options->start_deadline_ns : START_DEADLINE_NS;
    device->environment = options->environment;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int workers = options->workers > 0          ? options->workers
                  : cores > WORKERS_DEFAULT_MAX ? WORKERS_DEFAULT_MAX
                                                : (int)cores;
    device->slot_count = workers < 1 ? 1 : workers > PW_POOL_MAX ? PW_POOL_MAX : workers;

    status = parse_spec(device, spec, err);
    if (status == PW_OK && !device->reference) {
        status = pw_device_choose_cache(device, options->cache_dir, err);
        if (status == PW_OK)
            pw_link_sweep(device->cache_dir);
        if (status == PW_OK)
            status = open_worker(device, &device->slots[0], true, err);
    }
    if (status == PW_OK) {
        *out = device;
        device = NULL; /* now the caller's */
    }
    pw_device_close(device);
    return status;
}

void pw_device_close(struct pw_device *device)
{
    if (!device)
        return;
    for (int i = 0; i < device->slot_count; i++)
        pw_link_end(&device->slots[i].link);
    pw_device_forget_failures(device);
    pthread_cond_destroy(&device->idle);
    pthread_mutex_destroy(&device->mutex);
    pw_free(device->spec);
    pw_free(device->open_spec);
    pw_free(device->plugin);
    pw_free(device->cache_dir);
    pw_free(device);
}

const char *pw_device_spec(const struct pw_device *device)
{
    return device->spec;
}

bool pw_device_is_reference(const struct pw_device *device)
{
    return device->reference;
}

const struct pw_target_info *pw_device_info(const struct pw_device *device)
{
    return &device->info;
}

const struct pw_device_facts *pw_device_facts(const struct pw_device *device)
{
    return &device->facts;
}

int pw_device_workers(const struct pw_device *device)
{
    return device->slot_count;
}

const char *pw_device_library(const struct pw_device *device)
{
    return device->library[0] ? device->library : NULL;
}

pw_status pw_device_list(struct pw_buf *out, struct pw_error *err)
{
    struct pw_link link = {0};
    struct pw_link_options options = link_options(NULL, NULL, false);
    struct pw_buf request = {0};
    struct pw_wire wire;
    pw_message_type type;
    pw_status status = pw_link_start(&link, &options, err);
    if (status == PW_OK) {
        write_policy(&request, &link, &options, "", false);
        status = request.failed ? pw_error_memory(err, request.size)
                                : pw_link_send(&link, PW_MSG_LIST, request.data, request.size, err);
    }
    if (status == PW_OK)
        status = pw_link_wait(&link, PW_MSG_REPLY, START_DEADLINE_NS, NULL, "listing devices", &type, &wire, NULL, err);
    if (status == PW_OK) {
        const char *message, *log;
        status = pw_wire_read_head(&wire, &message, &log);
        const char *text = pw_wire_read_text(&wire);
        if (wire.bad)
            status = pw_link_refuse(&link, "listing devices", err);
        else if (status != PW_OK)
            pw_error_set(err, status, "listing devices: %s", message);
        else
            pw_buf_puts(out, text);
    }
    pw_link_end(&link);
    pw_buf_clear(&request);
    return status;
}
