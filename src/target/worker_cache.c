/* What a worker keeps between requests: compiled programs, and packed buffers under a memory cap. */
#include <string.h>

#include "base/mem.h"
#include "target/worker.h"

static bool same(struct pw_hash128 a, struct pw_hash128 b)
{
    return a.high == b.high && a.low == b.low;
}

void *pw_worker_known(struct pw_worker *worker, struct pw_hash128 key)
{
    for (size_t i = 0; i < worker->program_count; i++)
        if (same(worker->programs[i].key, key)) {
            worker->programs[i].used = ++worker->tick;
            return worker->programs[i].handle;
        }
    return NULL;
}

#define LOG_BYTES (256 * 1024)

pw_status pw_worker_program(struct pw_worker *worker, const struct pw_plan_program *program, void **handle,
                            struct pw_hash128 *key, struct pw_buf *log, struct pw_error *err)
{
    pw_status status = pw_work_key(program, key, err);
    if (status != PW_OK)
        return status;
    *handle = pw_worker_known(worker, *key);
    if (*handle)
        return PW_OK;
    size_t oldest = 0;
    for (size_t i = 1; i < worker->program_count; i++)
        if (worker->programs[i].used < worker->programs[oldest].used)
            oldest = i;
    if (!worker->target->compile)
        return pw_error_set(err, PW_ERR_TARGET, "the target has no compiler");
    char *text = pw_calloc(1, LOG_BYTES);
    if (!text)
        return pw_error_memory(err, LOG_BYTES);
    void *built = NULL;
    int rc = worker->target->compile(worker->device, program->language, program->source, program->options,
                                     worker->cache_dir, &built, text, LOG_BYTES);
    text[LOG_BYTES - 1] = '\0';
    pw_buf_puts(log, text);
    pw_free(text);
    if (rc != 0 || !built)
        return pw_error_set(err, PW_ERR_TARGET, "the %s program does not build (error %d)", program->language, rc);
    struct pw_worker_program *place = &worker->programs[worker->program_count];
    if (worker->program_count == PW_WORKER_PROGRAMS) {
        place = &worker->programs[oldest];
        worker->target->release(worker->device, place->handle);
    } else {
        worker->program_count++;
    }
    *place = (struct pw_worker_program){.key = *key, .handle = built, .used = ++worker->tick};
    *handle = built;
    return PW_OK;
}

static void packed_drop(struct pw_worker *worker, size_t i)
{
    struct pw_worker_packed *packed = &worker->packed[i];
    worker->packed_bytes -= packed->buffer.size;
    if (packed->buffer.device)
        worker->target->free(worker->device, packed->buffer.device);
    pw_worker_unmap(&packed->buffer);
    *packed = worker->packed[--worker->packed_count];
}

struct pw_worker_packed *pw_worker_packed_find(struct pw_worker *worker, struct pw_hash128 key)
{
    for (size_t i = 0; i < worker->packed_count; i++)
        if (same(worker->packed[i].key, key)) {
            worker->packed[i].used = ++worker->tick;
            return &worker->packed[i];
        }
    return NULL;
}

bool pw_worker_packed_keep(struct pw_worker *worker, struct pw_hash128 key, struct pw_worker_buffer *buffer)
{
    if (buffer->size > PW_WORKER_PACKED_BYTES / 2)
        return false;
    while (worker->packed_count == PW_WORKER_PACKED || worker->packed_bytes + buffer->size > PW_WORKER_PACKED_BYTES) {
        size_t oldest = 0;
        for (size_t i = 1; i < worker->packed_count; i++)
            if (worker->packed[i].used < worker->packed[oldest].used)
                oldest = i;
        packed_drop(worker, oldest);
    }
    worker->packed[worker->packed_count++] =
        (struct pw_worker_packed){.key = key, .buffer = *buffer, .used = ++worker->tick};
    worker->packed_bytes += buffer->size;
    memset(buffer, 0, sizeof *buffer);
    return true;
}
