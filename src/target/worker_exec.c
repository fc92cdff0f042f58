/*
 * One execution in the worker: compile, bring the buffers to the device, launch, time, bring the results
 * back. Timed repeats run here, so that no message is inside a sample.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "target/worker.h"

#define MESSAGE_BYTES 512

struct run {
    struct pw_worker *worker;
    const struct pw_work *work;
    struct pw_arena *arena;
    struct pw_worker_result *result;
    struct pw_worker_buffer *buffers; /* owned memory and handles; packed ones from the cache are borrowed */
    bool *borrowed;                   /* per buffer: belongs to the packed cache */
    bool *valid;                      /* per buffer: packed, and its content is right */
    struct pw_hash128 *packed_keys;   /* per buffer */
    void **programs;
    struct pw_hash128 *program_keys;
    struct pw_target_launch *launches[2]; /* [1]: on the alternate buffers */
    struct pw_target_library_call call[2];
    int64_t found;                 /* by the library */
    bool alternates;               /* there are any */
    struct pw_worker_buffer flush; /* owned; data NULL: caches stay as they are */
    uint8_t flushed;               /* changes with each pass */
    char message[MESSAGE_BYTES];
};

static pw_status target_error(struct run *run, const char *what, int rc, struct pw_error *err)
{
    run->message[MESSAGE_BYTES - 1] = '\0';
    return pw_error_set(err, PW_ERR_TARGET, "%s failed: %s (error %d)", what,
                        run->message[0] ? run->message : "no message", rc);
}

static pw_status prepare_arrays(struct run *run, struct pw_error *err)
{
    size_t buffers = run->work->buffer_count + 1, programs = run->work->program_count + 1;
    run->buffers = pw_arena_alloc(run->arena, buffers, sizeof *run->buffers);
    run->borrowed = pw_arena_alloc(run->arena, buffers, sizeof *run->borrowed);
    run->valid = pw_arena_alloc(run->arena, buffers, sizeof *run->valid);
    run->packed_keys = pw_arena_alloc(run->arena, buffers, sizeof *run->packed_keys);
    run->programs = pw_arena_alloc(run->arena, programs, sizeof *run->programs);
    run->program_keys = pw_arena_alloc(run->arena, programs, sizeof *run->program_keys);
    if (!run->buffers || !run->borrowed || !run->valid || !run->packed_keys || !run->programs || !run->program_keys)
        return pw_error_memory(err, buffers * sizeof *run->buffers);
    return PW_OK;
}

static pw_status compile_all(struct run *run, struct pw_buf *log, struct pw_error *err)
{
    pw_status status = PW_OK;
    for (size_t i = 0; run->work->known && i < run->work->program_count; i++) {
        run->program_keys[i] = run->work->keys[i];
        run->programs[i] = pw_worker_known(run->worker, run->work->keys[i]);
    }
    for (size_t i = 0; !run->work->known && i < run->work->program_count && status == PW_OK; i++)
        status =
            pw_worker_program(run->worker, &run->work->programs[i], &run->programs[i], &run->program_keys[i], log, err);
    return status;
}

/* ---- buffers ---- */

/* Name of a packed buffer's content: what its pack launches do, with what, on which input. */
static pw_status packed_key(struct run *run, size_t buffer, struct pw_hash128 *key, struct pw_error *err)
{
    const struct pw_work *work = run->work;
    struct pw_hasher hasher;
    if (pw_hasher_init(&hasher) != 0)
        return pw_error_memory(err, sizeof hasher);
    pw_hasher_add(&hasher, &buffer, sizeof buffer); /* one input may be packed in two ways */
    pw_hasher_add(&hasher, &work->buffers[buffer].hash, sizeof work->buffers[buffer].hash);
    pw_hasher_add(&hasher, &work->buffers[buffer].size, sizeof work->buffers[buffer].size);
    for (size_t i = 0; i < work->launch_count; i++) {
        const struct pw_plan_launch *launch = &work->launches[i];
        if (!launch->pack)
            continue;
        pw_hasher_add(&hasher, &run->program_keys[launch->program], sizeof(struct pw_hash128));
        pw_hasher_add(&hasher, launch->entry, strlen(launch->entry) + 1);
        pw_hasher_add(&hasher, launch->global, sizeof launch->global);
        pw_hasher_add(&hasher, launch->local, sizeof launch->local);
        for (size_t j = 0; j < launch->arg_count; j++) {
            const struct pw_plan_arg *arg = &launch->args[j];
            const struct pw_work_buffer *b = arg->kind == PW_ARG_BUFFER ? &work->buffers[arg->buffer] : NULL;
            int64_t facts[3] = {arg->kind, b ? b->kind : arg->i, b ? b->index : 0};
            pw_hasher_add(&hasher, facts, sizeof facts);
            pw_hasher_add(&hasher, &arg->f, sizeof arg->f);
            if (b && b->kind == PW_BUFFER_INTS)
                pw_hasher_add(&hasher, run->buffers[arg->buffer].data, b->size);
        }
    }
    *key = pw_hasher_end(&hasher);
    return PW_OK;
}

/* Bytes of a buffer on the device. */
static size_t device_bytes(const struct run *run, const struct pw_work_buffer *b)
{
    /* A target with memory of its own gets the canary behind the data too. */
    bool canary = !run->worker->info.shares_host_memory && !run->work->exact && b->region != PW_REGION_PACKED;
    size_t size = canary ? b->slot.pages : b->size;
    return size > 0 ? size : 1;
}

static pw_status on_device(struct run *run, size_t i, struct pw_error *err)
{
    struct pw_worker *worker = run->worker;
    const struct pw_work_buffer *b = &run->work->buffers[i];
    struct pw_worker_buffer *mapped = &run->buffers[i];
    bool read_only = b->region == PW_REGION_IN;
    size_t size = device_bytes(run, b);
    char name[32];
    pw_worker_watch_add(mapped, pw_work_buffer_name(b, name, sizeof name), read_only);
    int rc = worker->target->alloc(worker->device, size, mapped->data, read_only, &mapped->device, run->message,
                                   MESSAGE_BYTES);
    if (rc != 0)
        return target_error(run, "allocating a buffer", rc, err);
    if (b->region == PW_REGION_PACKED ||
        (b->region == PW_REGION_OUT && run->work->unwritten && !worker->info.shares_host_memory))
        return PW_OK;
    rc = worker->target->upload(worker->device, mapped->device, mapped->data, size, run->message, MESSAGE_BYTES);
    return rc == 0 ? PW_OK : target_error(run, "upload", rc, err);
}

static struct pw_worker_region *region_of(struct pw_worker *worker, const struct pw_work_buffer *b)
{
    return b->region == PW_REGION_IN ? &worker->in : &worker->out;
}

/* Address space for what is shared. A foreign kernel may have done anything to what was mapped before. */
static pw_status begin_windows(struct run *run, struct pw_error *err)
{
    struct pw_worker_region *regions[] = {&run->worker->in, &run->worker->out};
    pw_status status = PW_OK;
    for (int r = 0; r < 2 && status == PW_OK; r++) {
        size_t bytes = 0;
        for (size_t i = 0; i < run->work->buffer_count; i++) {
            const struct pw_work_buffer *b = &run->work->buffers[i];
            if (b->region == PW_REGION_PACKED || region_of(run->worker, b) != regions[r])
                continue;
            if (b->slot.pages > regions[r]->size)
                return pw_error_set(err, PW_ERR_FORMAT, "a buffer is larger than its shared region");
            bytes += pw_worker_window_bytes(&b->slot);
        }
        status = pw_worker_windows_begin(regions[r], bytes, !run->work->paced, err);
    }
    return status;
}

static pw_status make_buffer(struct run *run, size_t i, struct pw_error *err)
{
    const struct pw_work_buffer *b = &run->work->buffers[i];
    struct pw_worker *worker = run->worker;
    pw_status status;
    if (b->region == PW_REGION_PACKED) {
        status = packed_key(run, i, &run->packed_keys[i], err);
        struct pw_worker_packed *kept = b->keep ? pw_worker_packed_find(worker, run->packed_keys[i]) : NULL;
        if (status == PW_OK && kept) {
            char name[32];
            run->buffers[i] = kept->buffer;
            run->borrowed[i] = run->valid[i] = true;
            pw_worker_watch_add(&kept->buffer, pw_work_buffer_name(b, name, sizeof name), false);
            return PW_OK;
        }
        if (status == PW_OK)
            status = pw_worker_private(b->size, 64, &run->buffers[i], err);
    } else {
        status = pw_worker_window(region_of(worker, b), &b->slot, &run->buffers[i], err);
    }
    return status == PW_OK ? on_device(run, i, err) : status;
}

static pw_status make_buffers(struct run *run, struct pw_error *err)
{
    pw_worker_watch_clear();
    pw_status status = begin_windows(run, err);
    /* Int arrays before packed buffers, whose key hashes them. */
    for (int packed = 0; packed < 2; packed++)
        for (size_t i = 0; i < run->work->buffer_count && status == PW_OK; i++)
            if ((run->work->buffers[i].region == PW_REGION_PACKED) == (packed == 1))
                status = make_buffer(run, i, err);
    if (status == PW_OK)
        status = pw_worker_windows_end(&run->worker->in, err);
    if (status == PW_OK)
        status = pw_worker_windows_end(&run->worker->out, err);
    return status;
}

static void drop_buffers(struct run *run, bool keep)
{
    struct pw_worker *worker = run->worker;
    pw_worker_watch_clear();
    if (!run->buffers)
        return;
    for (size_t i = 0; i < run->work->buffer_count; i++) {
        struct pw_worker_buffer *buffer = &run->buffers[i];
        if (run->borrowed[i])
            continue;
        if (keep && run->valid[i] && run->work->buffers[i].keep &&
            pw_worker_packed_keep(worker, run->packed_keys[i], buffer))
            continue;
        if (buffer->device)
            worker->target->free(worker->device, buffer->device);
        pw_worker_unmap(buffer);
    }
}

static pw_status bring_back(struct run *run, struct pw_worker_result *result, struct pw_error *err)
{
    struct pw_worker *worker = run->worker;
    bool in_place = worker->info.shares_host_memory;
    for (size_t i = 0; i < run->work->buffer_count; i++) {
        const struct pw_work_buffer *b = &run->work->buffers[i];
        struct pw_worker_buffer *mapped = &run->buffers[i];
        if (b->region == PW_REGION_PACKED || (in_place && b->region == PW_REGION_IN))
            continue;
        size_t size = device_bytes(run, b);
        void *to = mapped->data;
        if (b->region == PW_REGION_IN && !(to = pw_arena_alloc(run->arena, 1, size)))
            return pw_error_memory(err, size);
        int rc = worker->target->download(worker->device, mapped->device, to, size, run->message, MESSAGE_BYTES);
        if (rc != 0)
            return target_error(run, "download", rc, err);
        if (b->region == PW_REGION_IN && memcmp(to, mapped->data, size) != 0)
            result->input_changed = true;
    }
    return PW_OK;
}

/* ---- launches ---- */

/* The device's handle of a buffer in one of the two sets. */
static void *handle_of(const struct run *run, int buffer, int set)
{
    int alternate = run->work->buffers[buffer].alternate;
    return run->buffers[set && alternate >= 0 ? alternate : buffer].device;
}

static pw_status bind_launches(struct run *run, int set, struct pw_error *err)
{
    const struct pw_work *work = run->work;
    run->launches[set] = pw_arena_alloc(run->arena, work->launch_count + 1, sizeof **run->launches);
    if (!run->launches[set])
        return pw_error_memory(err, work->launch_count * sizeof **run->launches);
    for (size_t i = 0; i < work->launch_count; i++) {
        const struct pw_plan_launch *from = &work->launches[i];
        struct pw_target_launch *to = &run->launches[set][i];
        struct pw_target_arg *args = pw_arena_alloc(run->arena, from->arg_count + 1, sizeof *args);
        if (!args)
            return pw_error_memory(err, from->arg_count * sizeof *args);
        for (size_t j = 0; j < from->arg_count; j++) {
            args[j].kind = from->args[j].kind; /* PW_ARG_… are the interface's numbers */
            args[j].i = from->args[j].i;
            args[j].f = from->args[j].f;
            if (from->args[j].kind == PW_ARG_BUFFER)
                args[j].buffer = handle_of(run, from->args[j].buffer, set);
        }
        to->program = run->programs[from->program];
        to->entry = from->entry;
        to->work_dim = (uint32_t)from->work_dim;
        memcpy(to->global, from->global, sizeof to->global);
        memcpy(to->local, from->local, sizeof to->local);
        to->args = args;
        to->arg_count = from->arg_count;
    }
    return PW_OK;
}

static pw_status bind_library(struct run *run, int set, struct pw_error *err)
{
    const struct pw_work *work = run->work;
    size_t count = work->library_inputs + work->library_outputs;
    struct pw_target_tensor *tensors = pw_arena_alloc(run->arena, count + 1, sizeof *tensors);
    if (!tensors)
        return pw_error_memory(err, count * sizeof *tensors);
    for (size_t i = 0; i < count; i++) {
        const struct pw_work_tensor *t = &work->tensors[i];
        if (t->buffer >= 0 && (size_t)t->buffer < work->buffer_count)
            tensors[i].buffer = handle_of(run, t->buffer, set);
        tensors[i].dtype = t->dtype;
        tensors[i].rank = t->rank;
        memcpy(tensors[i].dims, t->dims, sizeof tensors[i].dims);
    }
    run->call[set] = (struct pw_target_library_call){.domain = work->library_domain,
                                                     .op_type = work->library_op,
                                                     .opset = work->library_opset,
                                                     .attributes = work->library_attributes,
                                                     .inputs = tensors,
                                                     .input_count = work->library_inputs,
                                                     .outputs = tensors + work->library_inputs,
                                                     .output_count = work->library_outputs,
                                                     .seed = work->library_seed,
                                                     .found = &run->found};
    return PW_OK;
}

static pw_status bind_all(struct run *run, struct pw_error *err)
{
    pw_status status = PW_OK;
    for (size_t i = 0; i < run->work->buffer_count; i++)
        run->alternates = run->alternates || run->work->buffers[i].alternate >= 0;
    for (int set = 0; set <= run->alternates && status == PW_OK; set++)
        status = run->work->library_op ? bind_library(run, set, err) : bind_launches(run, set, err);
    return status;
}

/* A pack launch whose packed buffers are all right already has nothing to do. */
static bool needless(const struct run *run, const struct pw_plan_launch *launch)
{
    bool any = false;
    if (!launch->pack)
        return false;
    for (size_t i = 0; i < launch->arg_count; i++) {
        if (launch->args[i].kind != PW_ARG_BUFFER)
            continue;
        int buffer = launch->args[i].buffer;
        if (run->work->buffers[buffer].region != PW_REGION_PACKED)
            continue;
        if (!run->valid[buffer])
            return false;
        any = true;
    }
    return any;
}

static pw_status once(struct run *run, int set, int64_t *elapsed_ns, struct pw_error *err)
{
    struct pw_worker *worker = run->worker;
    const struct pw_work *work = run->work;
    int64_t start = pw_clock_ns();
    int rc = 0;
    run->message[0] = '\0';
    if (work->library_op) {
        rc = worker->target->library_op(worker->device, &run->call[set], run->message, MESSAGE_BYTES);
        if (rc != 0)
            return target_error(run, work->library_op, rc, err);
    }
    for (size_t i = 0; i < work->launch_count; i++) {
        const struct pw_target_launch *launch = &run->launches[set][i];
        bool empty = false;
        for (uint32_t d = 0; d < launch->work_dim; d++)
            empty = empty || launch->global[d] == 0;
        if (empty || needless(run, &work->launches[i]))
            continue;
        rc = worker->target->launch(worker->device, launch, run->message, MESSAGE_BYTES);
        if (rc != 0)
            return target_error(run, launch->entry, rc, err);
    }
    rc = worker->target->sync(worker->device, run->message, MESSAGE_BYTES);
    *elapsed_ns = pw_clock_ns() - start;
    return rc == 0 ? PW_OK : target_error(run, "waiting for the device", rc, err);
}

/* ---- cold caches ---- */

static pw_status prepare_flush(struct run *run, struct pw_error *err)
{
    struct pw_worker *worker = run->worker;
    size_t size = run->work->flush_bytes;
    if (size == 0 || run->work->repeats == 0)
        return PW_OK;
    pw_status status = pw_worker_private(size, 64, &run->flush, err);
    if (status != PW_OK || worker->info.shares_host_memory)
        return status;
    int rc = worker->target->alloc(worker->device, size, run->flush.data, false, &run->flush.device, run->message,
                                   MESSAGE_BYTES);
    return rc == 0 ? PW_OK : target_error(run, "allocating a buffer to empty the caches with", rc, err);
}

static void pass_over(void *user, int64_t begin, int64_t end)
{
    struct run *run = user;
    memset(run->flush.data + begin, run->flushed, (size_t)(end - begin));
}

/* Every core passes over a part of the memory, so that its own caches are emptied too; a device with memory of
 * its own is made to fill as much of it. */
static pw_status flush(struct run *run, struct pw_error *err)
{
    struct pw_worker *worker = run->worker;
    int rc = 0;
    if (!run->flush.data)
        return PW_OK;
    run->flushed++;
    pw_parallel_for((int64_t)run->flush.size, 1 << 20, pass_over, run);
    if (run->flush.device)
        rc = worker->target->upload(worker->device, run->flush.device, run->flush.data, run->flush.size, run->message,
                                    MESSAGE_BYTES);
    if (rc == 0 && run->flush.device)
        rc = worker->target->sync(worker->device, run->message, MESSAGE_BYTES);
    return rc == 0 ? PW_OK : target_error(run, "emptying the caches", rc, err);
}

static void drop_flush(struct run *run)
{
    if (run->flush.device)
        run->worker->target->free(run->worker->device, run->flush.device);
    pw_worker_unmap(&run->flush);
}

/* A launch that was refused leaves those before it in the queue. They must not write where the next request's buffers
 * will be, nor be timed with it. */
static void settle(struct run *run)
{
    char unused[MESSAGE_BYTES];
    run->worker->target->sync(run->worker->device, unused, sizeof unused);
}

static void mark_packed(struct run *run)
{
    const struct pw_work *work = run->work;
    for (size_t i = 0; i < work->buffer_count; i++)
        run->valid[i] = run->valid[i] || (work->buffers[i].region == PW_REGION_PACKED && work->buffers[i].keep);
}

/* ---- paced by the parent ---- */

/* Outputs that the parent has filled go to a device with memory of its own. */
static pw_status step_prepare(struct run *run, const struct pw_step *step, struct pw_error *err)
{
    struct pw_worker *worker = run->worker;
    (void)step;
    bool upload = !worker->info.shares_host_memory && !run->work->unwritten;
    for (size_t i = 0; i < run->work->buffer_count && upload; i++) {
        const struct pw_work_buffer *b = &run->work->buffers[i];
        struct pw_worker_buffer *mapped = &run->buffers[i];
        if (b->region != PW_REGION_OUT)
            continue;
        int rc = worker->target->upload(worker->device, mapped->device, mapped->data, device_bytes(run, b),
                                        run->message, MESSAGE_BYTES);
        if (rc != 0)
            return target_error(run, "upload", rc, err);
    }
    return flush(run, err);
}

static pw_status step_run(struct run *run, const struct pw_step *step, struct pw_error *err)
{
    pw_status status = PW_OK;
    int64_t unused;
    for (int i = 0; i < step->count && status == PW_OK; i++)
        status = once(run, run->alternates && (step->first + i) % 2 == 0, &unused, err);
    if (status == PW_OK)
        mark_packed(run);
    return status;
}

static pw_status step_fetch(struct run *run, const struct pw_step *step, struct pw_error *err)
{
    (void)step;
    return run->worker->info.shares_host_memory ? PW_OK : bring_back(run, run->result, err);
}

static pw_status run_paced(struct run *run, const struct pw_worker_talk *talk, struct pw_error *err)
{
    static pw_status (*const actions[PW_STEP_COUNT])(struct run *, const struct pw_step *, struct pw_error *) = {
        [PW_STEP_PREPARE] = step_prepare, [PW_STEP_RUN] = step_run, [PW_STEP_FETCH] = step_fetch};
    struct pw_step step;
    const struct pw_step *done = NULL;
    for (;;) {
        pw_status status = talk->step(talk->user, done, &step, err);
        if (status != PW_OK || step.kind == PW_STEP_END)
            return status;
        status = actions[step.kind](run, &step, err);
        if (status != PW_OK)
            return status;
        done = &step;
    }
}

/* ---- all of it ---- */

static pw_status run_all(struct run *run, struct pw_worker_result *result, struct pw_error *err)
{
    struct pw_worker *worker = run->worker;
    const struct pw_work *work = run->work;
    uint64_t device_ns = 0;
    if (worker->target->timestamp)
        worker->target->timestamp(worker->device, &device_ns); /* forget what came before */
    pw_status status = once(run, 0, &result->wall_ns, err);
    if (status != PW_OK)
        return status;
    if (worker->target->timestamp && worker->target->timestamp(worker->device, &device_ns) == 0 &&
        device_ns < INT64_MAX)
        result->device_ns = (int64_t)device_ns;
    mark_packed(run);
    if (work->repeats == 0)
        return PW_OK;
    result->samples = pw_arena_alloc(run->arena, (size_t)work->repeats, sizeof *result->samples);
    if (!result->samples)
        return pw_error_memory(err, (size_t)work->repeats * sizeof *result->samples);
    int64_t total = 0;
    while (status == PW_OK && result->sample_count < work->repeats &&
           (work->min_time_ns <= 0 || total < work->min_time_ns)) {
        int64_t elapsed = 0;
        status = flush(run, err);
        if (status == PW_OK)
            status = once(run, run->alternates && result->sample_count % 2 == 0, &elapsed, err);
        result->samples[result->sample_count++] = elapsed;
        total += elapsed;
    }
    return status;
}

pw_status pw_worker_execute(struct pw_worker *worker, const struct pw_work *work, struct pw_arena *arena,
                            const struct pw_worker_talk *talk, struct pw_worker_result *result, struct pw_error *err)
{
    struct run run = {.worker = worker, .work = work, .arena = arena, .result = result};
    int64_t start = pw_clock_ns();
    pw_status status = prepare_arrays(&run, err);
    if (status == PW_OK && work->library_op && !worker->target->library_op)
        status = pw_error_set(err, PW_ERR_UNSUPPORTED, "the target has no library");
    if (status == PW_OK)
        status = compile_all(&run, &result->log, err);
    result->build_ns = pw_clock_ns() - start;
    if (status == PW_OK && !work->known)
        status = talk->built(talk->user, err);
    if (status == PW_OK)
        status = make_buffers(&run, err);
    if (status == PW_OK)
        status = bind_all(&run, err);
    if (status == PW_OK)
        status = prepare_flush(&run, err);
    if (status == PW_OK)
        status = work->paced ? run_paced(&run, talk, err) : run_all(&run, result, err);
    if (status == PW_OK)
        status = bring_back(&run, result, err);
    result->found = run.found;
    if (status != PW_OK)
        settle(&run);
    drop_flush(&run);
    drop_buffers(&run, status == PW_OK);
    return status;
}
