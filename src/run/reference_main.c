/* Inside the reference process: evaluates one node many times in fast mode and reports the times. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "graph/infer.h"
#include "run/eval.h"
#include "run/reference_process.h"
#include "run/reference_wire.h"
#include "target/spawn.h"
#include "tensor/blas.h"

struct timing {
    int64_t *samples; /* arena */
    int count;
    const char *name;
};

static pw_status evaluate(const struct pw_call *call, const struct pw_value *const *carried, pw_eval_mode mode,
                          struct pw_value *outputs, int64_t *elapsed_ns, struct pw_error *err)
{
    struct pw_eval ev = {.call = call,
                         .mode = mode,
                         .input_count = call->input_count,
                         .in = carried,
                         .output_count = call->output_count,
                         .out = outputs};
    for (int i = 0; i < call->output_count; i++)
        outputs[i] = (struct pw_value){0};
    int64_t start = pw_clock_ns();
    pw_status status = mode == PW_EVAL_FAST ? call->op->fast(&ev, err) : call->op->golden(&ev, err);
    *elapsed_ns = pw_clock_ns() - start;
    for (int i = 0; i < call->output_count; i++)
        pw_value_clear(&outputs[i]);
    return status;
}

static void pass_over(void *user, int64_t begin, int64_t end)
{
    memset((uint8_t *)user + begin, (int)begin, (size_t)(end - begin));
}

/* Every core empties its caches by passing over a part of the memory, which is kept between requests. */
static pw_status flush(size_t bytes, struct pw_error *err)
{
    static uint8_t *memory;
    static size_t size;
    if (bytes > size) {
        pw_free(memory);
        memory = pw_alloc_aligned(bytes);
        size = memory ? bytes : 0;
        if (!memory)
            return pw_error_memory(err, bytes);
    }
    if (bytes > 0)
        pw_parallel_for((int64_t)bytes, 1 << 20, pass_over, memory);
    return PW_OK;
}

/* One run to warm up, then the samples; carried[1] has the alternates. */
static pw_status time_call(const struct pw_call *call, const struct pw_value **const carried[2], pw_eval_mode mode,
                           const struct pw_reference_work *work, struct pw_arena *arena, struct timing *out,
                           struct pw_error *err)
{
    struct pw_value *outputs = pw_arena_alloc(arena, (size_t)call->output_count + 1, sizeof *outputs);
    int64_t elapsed, total = 0;
    out->samples = pw_arena_alloc(arena, (size_t)work->repeats + 1, sizeof *out->samples);
    if (!outputs || !out->samples)
        return pw_error_memory(err, (size_t)work->repeats * sizeof *out->samples);
    pw_status status = evaluate(call, carried[0], mode, outputs, &elapsed, err);
    while (status == PW_OK && out->count < work->repeats && (work->min_time_ns <= 0 || total < work->min_time_ns)) {
        status = flush(work->flush_bytes, err);
        if (status == PW_OK)
            status = evaluate(call, carried[out->count % 2 == 0], mode, outputs, &elapsed, err);
        out->samples[out->count++] = elapsed;
        total += elapsed;
    }
    return status;
}

static pw_status time_node(const struct pw_reference_work *work, struct pw_arena *arena, struct timing *out,
                           struct pw_error *err)
{
    const struct pw_node *node = work->node;
    struct pw_call call = {0};
    struct pw_dims *dims = NULL;
    size_t count = node->input_count;
    if (!node->op || (!node->op->fast && !node->op->golden))
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "no reference for %s", node->op_type);
    pw_eval_mode mode = node->op->fast ? PW_EVAL_FAST : PW_EVAL_GOLDEN;
    struct pw_value *carried = pw_arena_alloc(arena, 2 * count + 1, sizeof *carried);
    const struct pw_value **in[2] = {pw_arena_alloc(arena, count + 1, sizeof **in),
                                     pw_arena_alloc(arena, count + 1, sizeof **in)};
    if (!carried || !in[0] || !in[1])
        return pw_error_memory(err, 2 * count * sizeof *carried);
    pw_status status = pw_dims_create(&dims, err);
    for (size_t i = 0; i < count && status == PW_OK; i++) {
        if (work->inputs[i].kind == PW_VALUE_NONE)
            continue;
        status = pw_eval_carry(&carried[i], &work->inputs[i], mode, err);
        in[0][i] = in[1][i] = &carried[i];
        if (status == PW_OK && work->alternate[i].kind != PW_VALUE_NONE) {
            status = pw_eval_carry(&carried[count + i], &work->alternate[i], mode, err);
            in[1][i] = &carried[count + i];
        }
    }
    if (status == PW_OK)
        status = pw_call_from_values(node, in[0], (int)count, dims, arena, &call, err);
    if (status == PW_OK) {
        bool blas = node->op->fast_uses_blas ? node->op->fast_uses_blas(&call) : node->op->fast_is_blas;
        out->name = mode == PW_EVAL_GOLDEN ? "golden" : blas ? "openblas" : "loops";
        status = time_call(&call, in, mode, work, arena, out, err);
    }
    for (size_t i = 0; i < 2 * count; i++)
        pw_value_clear(&carried[i]);
    pw_dims_destroy(dims);
    return status;
}

static pw_status serve(int region_fd, size_t region_size, size_t size, struct pw_buf *reply)
{
    struct pw_error error = {0};
    struct pw_arena arena = {0};
    struct pw_reference_work work;
    struct timing timing = {0};
    void *region = MAP_FAILED;
    pw_status status = PW_OK;
    if (region_fd >= 0 && size <= region_size)
        region = mmap(NULL, region_size, PROT_READ, MAP_SHARED, region_fd, 0);
    if (region == MAP_FAILED)
        status = pw_error_set(&error, PW_ERR_FORMAT, "malformed request");
    if (status == PW_OK)
        status = pw_reference_read(region, region_size, size, &arena, &work, &error);
    if (status == PW_OK)
        status = time_node(&work, &arena, &timing, &error);
    pw_wire_head(reply, &error, "");
    if (status == PW_OK) {
        pw_wire_text(reply, timing.name);
        pw_wire_u32(reply, (uint32_t)timing.count);
        pw_wire_bytes(reply, timing.samples, (size_t)timing.count * sizeof *timing.samples);
    }
    if (region != MAP_FAILED)
        munmap(region, region_size);
    pw_arena_clear(&arena);
    return reply->failed ? PW_ERR_NO_MEMORY : PW_OK;
}

static pw_status loop(uint8_t *payload)
{
    struct pw_message message = {.payload = payload};
    int region_fd = -1;
    size_t region_size = 0;
    for (;;) {
        struct pw_buf reply = {0};
        pw_status status = pw_proto_receive(PW_WORKER_FD, true, &message, NULL);
        if (status != PW_OK || message.type != PW_MSG_REFERENCE)
            return status;
        struct pw_wire wire = {.data = payload, .size = message.size};
        pw_wire_read_u32(&wire);
        size_t in_size = pw_wire_read_u64(&wire);
        pw_wire_read_u64(&wire);
        size_t size = pw_wire_read_u64(&wire);
        if (message.fd_count > 0) {
            if (region_fd >= 0)
                close(region_fd);
            region_fd = message.fds[0];
            region_size = in_size;
        }
        status = serve(region_fd, region_size, size, &reply);
        if (status == PW_OK)
            status = pw_proto_send(PW_WORKER_FD, PW_MSG_REPLY, message.id, reply.data, reply.size, NULL, 0, NULL);
        pw_buf_clear(&reply);
        if (status != PW_OK)
            return status;
    }
}

int pw_reference_main(int argc, char **argv)
{
    const char *threads = getenv("OPENBLAS_NUM_THREADS");
    int64_t count;
    (void)argv;
    if (argc != 2) {
        fputs("portwright --reference is started by portwright itself\n", stderr);
        return 2;
    }
    if (threads && pw_text_int64(threads, &count) && count > 0 && count < 4096) {
        pw_parallel_threads((int)count);
        pw_blas_threads((int)count);
    }
    /* Outputs come and go with every sample: their pages stay ours, or each sample would fault them in anew. */
    pw_tensor_leave_unset(true);
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 64 << 20);
    uint8_t *payload = pw_calloc(1, PW_PROTO_MAX);
    if (!payload)
        return 1;
    pw_status status = loop(payload);
    pw_free(payload);
    return status == PW_ERR_CRASH ? 0 : 1;
}
