/* The session's end of the reference process: one at a time, started when first needed and after a death. */
#include "run/reference_process.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/reference_wire.h"
#include "target/link.h"

#define DEADLINE_NS 120000000000
#define INPUT_ALIGNMENT 64

struct pw_reference_process {
    pthread_mutex_t mutex; /* guards all below */
    struct pw_link link;
    char threads[64];
};

pw_status pw_reference_open(int threads, struct pw_reference_process **out, struct pw_error *err)
{
    struct pw_reference_process *reference = pw_calloc(1, sizeof *reference);
    if (!reference)
        return pw_error_memory(err, sizeof *reference);
    pthread_mutex_init(&reference->mutex, NULL);
    if (threads > 0)
        snprintf(reference->threads, sizeof reference->threads, "OPENBLAS_NUM_THREADS=%d", threads);
    *out = reference;
    return PW_OK;
}

void pw_reference_close(struct pw_reference_process *reference)
{
    if (!reference)
        return;
    pw_link_end(&reference->link);
    pthread_mutex_destroy(&reference->mutex);
    pw_free(reference);
}

static pw_status start(struct pw_reference_process *reference, struct pw_error *err)
{
    /* 2^20 cycles, a third of a millisecond: the threads stay awake between two calls of one slice and sleep
     * before anything else is timed. (The default is 2^26.) */
    const char *environment[] = {"OPENBLAS_THREAD_TIMEOUT=20", reference->threads[0] ? reference->threads : NULL, NULL};
    struct pw_link_options options = {.flag = "--reference", .environment = environment};
    return pw_link_running(&reference->link) ? PW_OK : pw_link_start(&reference->link, &options, err);
}

/* Tensor i of the inputs, then of the alternates; NULL: there is none. */
static const struct pw_tensor *tensor_at(const struct pw_reference_request *r, int i)
{
    bool alternate = i >= r->input_count;
    int at = alternate ? i - r->input_count : i;
    const struct pw_value *input = r->inputs[at], *value = input;
    if (alternate)
        value = r->alternate ? r->alternate[at] : NULL;
    if (!value || value->kind != PW_VALUE_TENSOR || !input || input->kind != PW_VALUE_TENSOR ||
        value->tensor.dtype != input->tensor.dtype ||
        pw_tensor_bytes(&value->tensor) != pw_tensor_bytes(&input->tensor))
        return NULL;
    return &value->tensor;
}

/* Where each tensor's data goes, behind a body of body_size bytes; returns the end. */
static size_t lay_out(const struct pw_reference_request *r, size_t body_size, size_t *offsets)
{
    size_t end = body_size;
    for (int i = 0; i < 2 * r->input_count; i++) {
        if (!tensor_at(r, i))
            continue;
        end = (end + INPUT_ALIGNMENT - 1) / INPUT_ALIGNMENT * INPUT_ALIGNMENT;
        offsets[i] = end;
        end += pw_tensor_bytes(tensor_at(r, i));
    }
    return end;
}

static pw_status prepare(struct pw_reference_process *reference, const struct pw_reference_request *r,
                         struct pw_buf *body, struct pw_error *err)
{
    size_t *offsets = pw_calloc(2 * (size_t)r->input_count + 1, sizeof *offsets);
    if (!offsets)
        return pw_error_memory(err, 2 * (size_t)r->input_count * sizeof *offsets);
    /* Once for its size, which does not depend on the offsets. */
    pw_status status = pw_reference_write(body, r, offsets, err);
    if (status == PW_OK) {
        size_t end = lay_out(r, body->size, offsets);
        body->size = 0;
        status = pw_reference_write(body, r, offsets, err);
        if (status == PW_OK)
            status = pw_shm_ensure(&reference->link.in, end, true, "reference inputs", err);
    }
    if (status == PW_OK) {
        uint8_t *region = reference->link.in.data;
        memcpy(region, body->data, body->size);
        for (int i = 0; i < 2 * r->input_count; i++)
            if (tensor_at(r, i) && pw_tensor_bytes(tensor_at(r, i)) > 0)
                memcpy(region + offsets[i], tensor_at(r, i)->data, pw_tensor_bytes(tensor_at(r, i)));
    }
    pw_free(offsets);
    return status;
}

static const char *static_name(const char *name)
{
    static const char *const names[] = {"openblas", "loops", "golden"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return names[i];
    return NULL;
}

static pw_status read_reply(struct pw_reference_process *reference, struct pw_wire *wire, int repeats,
                            int64_t *samples_ns, int *sample_count, const char **name, struct pw_error *err)
{
    const char *message, *log;
    uint64_t most = (uint64_t)(pw_clock_ns() - reference->link.sent_ns), total = 0;
    pw_status said = pw_wire_read_head(wire, &message, &log);
    if (said != PW_OK && !wire->bad)
        return pw_error_set(err, said, "reference: %s", message);
    const char *which = static_name(pw_wire_read_text(wire));
    size_t count = pw_wire_read_count(wire, sizeof(int64_t));
    bool good = !wire->bad && which && count <= (size_t)repeats;
    for (size_t i = 0; good && i < count; i++) {
        uint64_t sample = pw_wire_read_u64(wire);
        good = sample <= most - total;
        total += good ? sample : 0;
        samples_ns[i] = (int64_t)sample;
    }
    if (!good)
        return pw_link_refuse(&reference->link, "reference", err);
    *sample_count = (int)count;
    *name = which;
    return PW_OK;
}

pw_status pw_reference_measure(struct pw_reference_process *reference, const struct pw_reference_request *request,
                               int64_t *samples_ns, int *sample_count, const char **name, struct pw_error *err)
{
    struct pw_reference_request r = *request;
    struct pw_buf body = {0}, payload = {0};
    struct pw_wire wire;
    pw_message_type type;
    *sample_count = 0;
    if (r.repeats < 1 || !r.call->node || !r.call->op)
        return pw_error_set(err, PW_ERR_USAGE, "nothing to time on the reference");
    if (r.repeats > PW_PROTO_SAMPLES_MAX)
        r.repeats = PW_PROTO_SAMPLES_MAX;
    pthread_mutex_lock(&reference->mutex);
    pw_status status = start(reference, err);
    if (status == PW_OK)
        status = prepare(reference, &r, &body, err);
    if (status == PW_OK) {
        pw_wire_u64(&payload, body.size);
        status = payload.failed ? pw_error_memory(err, 8)
                                : pw_link_send(&reference->link, PW_MSG_REFERENCE, payload.data, payload.size, err);
        if (status == PW_OK)
            status = pw_link_wait(&reference->link, PW_MSG_REPLY, DEADLINE_NS, r.cancel, "reference", &type, &wire,
                                  NULL, err);
        else
            pw_link_end(&reference->link);
    }
    if (status == PW_OK)
        status = read_reply(reference, &wire, r.repeats, samples_ns, sample_count, name, err);
    pthread_mutex_unlock(&reference->mutex);
    pw_buf_clear(&body);
    pw_buf_clear(&payload);
    return status;
}

pw_status pw_reference_time(struct pw_reference_process *reference, const struct pw_call *call,
                            const struct pw_value *const *inputs, int input_count, int repeats, int64_t min_time_ns,
                            int64_t *samples_ns, int *sample_count, const char **name, struct pw_error *err)
{
    const struct pw_reference_request request = {
        .call = call, .inputs = inputs, .input_count = input_count, .repeats = repeats, .min_time_ns = min_time_ns};
    return pw_reference_measure(reference, &request, samples_ns, sample_count, name, err);
}
