/*
 * The worker process: takes requests from the parent, one at a time, until the parent is gone. It enters
 * its sandbox before it loads a driver or sees a source.
 */
#include "base/compiler.h" /* first: GNU extensions of the system headers */

#include "target/worker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "target/device.h"
#include "target/opencl/opencl.h"
#include "target/plugin/plugin.h"
#include "target/sandbox.h"
#include "target/spawn.h"

/* An execution that talks with the parent. */
struct served {
    uint64_t id;      /* of the message that is answered next */
    uint8_t *payload; /* PW_PROTO_MAX bytes to receive into */
};

static pw_status answer(uint64_t id, pw_message_type type, const struct pw_buf *payload, struct pw_error *err)
{
    if (payload && payload->failed)
        return pw_error_memory(err, payload->size);
    return pw_proto_send(PW_WORKER_FD, type, id, payload ? payload->data : NULL, payload ? payload->size : 0, NULL, 0,
                         err);
}

/* ---- requests ---- */

typedef pw_status handler(struct pw_worker *worker, uint64_t id, struct pw_wire *wire, struct pw_buf *reply);

/* A kernel may spin for ever in the main thread: this one notices that the parent is gone. */
static void *watch_parent(void *unused)
{
    (void)unused;
    struct pollfd fd = {.fd = PW_WORKER_FD, .events = 0};
    for (;;)
        if (poll(&fd, 1, -1) > 0 && (fd.revents & (POLLHUP | POLLERR | POLLNVAL)))
            _exit(0);
    return NULL;
}

/* The first words of every first request. From here on nothing is unconfined, threads included. */
static pw_status confine(struct pw_worker *worker, struct pw_wire *wire, struct pw_sandbox_policy *policy,
                         struct pw_error *err)
{
    pthread_t watcher;
    pw_status status = PW_OK;
    *policy = (struct pw_sandbox_policy){.plugin_fd = -1};
    const char *plugin = pw_wire_read_text(wire);
    const char *scratch = pw_wire_read_text(wire);
    policy->plugin = plugin[0] ? plugin : NULL;
    policy->scratch_dir = scratch[0] ? scratch : NULL;
    policy->foreign = pw_wire_read_u32(wire) != 0;
    policy->uid = pw_wire_read_u32(wire);
    if (wire->bad || worker->confined)
        return pw_error_set(err, PW_ERR_FORMAT, "malformed request");
    if (policy->plugin)
        status = pw_plugin_open(policy->plugin, policy->uid != 0, &policy->plugin_fd, err);
    if (status == PW_OK)
        status = pw_sandbox_enter(policy, err);
    worker->confined = true;
    if (status == PW_OK && scratch[0]) {
        scratch = policy->uid != 0 ? PW_SANDBOX_HERE : scratch;
        worker->cache_dir = pw_strdup(scratch);
        status = worker->cache_dir ? PW_OK : pw_error_memory(err, strlen(scratch));
    }
    if (status == PW_OK && pthread_create(&watcher, NULL, watch_parent, NULL) != 0)
        status = pw_error_set(err, PW_ERR_TARGET, "cannot start a thread");
    return status;
}

static pw_status serve_open(struct pw_worker *worker, uint64_t id, struct pw_wire *wire, struct pw_buf *reply)
{
    struct pw_error error = {0};
    struct pw_sandbox_policy policy;
    char message[512] = "";
    (void)id;
    pw_status status = confine(worker, wire, &policy, &error);
    const char *spec = pw_wire_read_text(wire);
    if (status == PW_OK && wire->bad)
        status = pw_error_set(&error, PW_ERR_FORMAT, "malformed open");
    if (status == PW_OK) {
        if (policy.plugin)
            status = pw_plugin_load(policy.plugin, policy.plugin_fd, &worker->target, &error);
        else
            worker->target = pw_opencl_target();
    }
    if (status == PW_OK) {
        int rc = worker->target->open(spec, &worker->device, message, sizeof message);
        message[sizeof message - 1] = '\0';
        if (rc != 0)
            status = pw_error_set(&error, PW_ERR_TARGET, "%s", message[0] ? message : "the target does not open");
    }
    if (status == PW_OK) {
        int rc = worker->target->describe(worker->device, &worker->info, message, sizeof message);
        message[sizeof message - 1] = '\0';
        if (rc != 0)
            status = pw_error_set(&error, PW_ERR_TARGET, "describing the device: %s", message);
    }
    if (status == PW_OK)
        status = pw_sandbox_tighten(&policy, &error);
    if (status != PW_OK)
        worker->target = NULL;
    pw_worker_watch_faults(); /* a driver may have put its own handler there */
    pw_wire_head(reply, &error, "");
    if (status == PW_OK) {
        pw_info_write(reply, &worker->info);
        pw_wire_text(reply, worker->target->library_op ? worker->target->library_name : "");
    }
    return PW_OK;
}

static pw_status serve_list(struct pw_worker *worker, uint64_t id, struct pw_wire *wire, struct pw_buf *reply)
{
    struct pw_error error = {0};
    struct pw_sandbox_policy policy;
    char text[16384] = "";
    (void)id;
    if (confine(worker, wire, &policy, &error) == PW_OK)
        pw_opencl_target()->list(text, sizeof text);
    pw_wire_head(reply, &error, "");
    pw_wire_text(reply, text);
    return PW_OK;
}

static pw_status say_built(void *user, struct pw_error *err)
{
    const struct served *served = user;
    return answer(served->id, PW_MSG_BUILT, NULL, err);
}

static pw_status take_step(void *user, const struct pw_step *done, struct pw_step *next, struct pw_error *err)
{
    struct served *served = user;
    struct pw_buf payload = {0};
    uint8_t bytes[256];
    struct pw_message message = {.payload = served->payload};
    pw_status status = PW_OK;
    if (done) {
        pw_wire_u64(&payload, done->nonce);
        status = answer(served->id, PW_MSG_STEPPED, &payload, err);
        pw_buf_clear(&payload);
    }
    if (status == PW_OK)
        status = pw_proto_receive(PW_WORKER_FD, false, &message, err);
    if (status != PW_OK)
        return status;
    struct pw_wire wire = {.data = message.payload, .size = message.size};
    pw_wire_read_bytes(&wire, bytes, PW_PROTO_HEAD); /* regions: none are new */
    next->kind = (pw_step_kind)pw_wire_read_u32(&wire);
    next->count = (int)pw_wire_read_u32(&wire);
    next->first = (int64_t)pw_wire_read_u64(&wire);
    next->nonce = pw_wire_read_u64(&wire);
    served->id = message.id;
    if (wire.bad || message.type != PW_MSG_STEP || next->kind >= PW_STEP_COUNT || next->count < 0)
        return pw_error_set(err, PW_ERR_FORMAT, "malformed step");
    return PW_OK;
}

/* The request's body, copied out of the input region. */
static pw_status read_body(struct pw_worker *worker, struct pw_wire *wire, struct pw_arena *arena, struct pw_work *work,
                           struct pw_error *err)
{
    size_t at = pw_wire_read_u64(wire), size = pw_wire_read_u64(wire), got = 0;
    if (wire->bad || !worker->target || worker->in.fd < 0 || at > worker->in.size || size > worker->in.size - at)
        return pw_error_set(err, PW_ERR_FORMAT, "malformed request");
    uint8_t *copy = pw_arena_alloc(arena, 1, size + 1);
    if (!copy)
        return pw_error_memory(err, size);
    while (got < size) { /* to read it is cheaper than to map it */
        ssize_t part = pread(worker->in.fd, copy + got, size - got, (off_t)(at + got));
        if (part < 0 && errno == EINTR)
            continue;
        if (part <= 0)
            return pw_error_set(err, PW_ERR_TARGET, "reading the request: %s",
                                part < 0 ? strerror(errno) : "it ends too early");
        got += (size_t)part;
    }
    return pw_work_read(copy, size, arena, work, err);
}

static pw_status serve_execute(struct pw_worker *worker, uint64_t id, struct pw_wire *wire, struct pw_buf *reply)
{
    struct pw_error error = {0};
    struct pw_arena arena = {0};
    struct pw_work work;
    struct pw_worker_result result = {0};
    struct served served = {id, worker->payload};
    const struct pw_worker_talk talk = {say_built, take_step, &served};
    pw_status status = read_body(worker, wire, &arena, &work, &error);
    for (size_t i = 0; status == PW_OK && work.known && i < work.program_count; i++)
        worker->forgotten = worker->forgotten || !pw_worker_known(worker, work.keys[i]);
    if (status == PW_OK && !worker->forgotten)
        pw_worker_execute(worker, &work, &arena, &talk, &result, &error);
    worker->answered = served.id;
    pw_wire_head(reply, &error, pw_buf_text(&result.log));
    pw_wire_u64(reply, (uint64_t)result.build_ns);
    pw_wire_u64(reply, (uint64_t)result.wall_ns);
    pw_wire_u64(reply, (uint64_t)result.device_ns);
    pw_wire_u32(reply, result.input_changed);
    pw_wire_u64(reply, (uint64_t)result.found);
    pw_wire_u32(reply, (uint32_t)result.sample_count);
    pw_wire_bytes(reply, result.samples, (size_t)result.sample_count * sizeof *result.samples);
    pw_buf_clear(&result.log);
    pw_arena_clear(&arena);
    return PW_OK;
}

static pw_status serve_build(struct pw_worker *worker, uint64_t id, struct pw_wire *wire, struct pw_buf *reply)
{
    struct pw_error error = {0};
    struct pw_arena arena = {0};
    struct pw_work work;
    struct pw_buf log = {0};
    (void)id;
    pw_status status = read_body(worker, wire, &arena, &work, &error);
    for (size_t i = 0; status == PW_OK && i < work.program_count; i++) {
        void *handle;
        struct pw_hash128 key;
        status = pw_worker_program(worker, &work.programs[i], &handle, &key, &log, &error);
    }
    pw_wire_head(reply, &error, pw_buf_text(&log));
    pw_buf_clear(&log);
    pw_arena_clear(&arena);
    return PW_OK;
}

static pw_status serve_supports(struct pw_worker *worker, uint64_t id, struct pw_wire *wire, struct pw_buf *reply)
{
    struct pw_error error = {0};
    struct pw_arena arena = {0};
    struct pw_work work = {0};
    char why[512] = "the target has no library";
    int yes = 0;
    (void)id;
    pw_status status = worker->target ? pw_work_read_library(wire, &arena, &work, &error)
                                      : pw_error_set(&error, PW_ERR_FORMAT, "malformed request");
    if (status == PW_OK && worker->target->supports_library) {
        size_t count = work.library_inputs + work.library_outputs;
        struct pw_target_tensor *tensors = pw_arena_alloc(&arena, count + 1, sizeof *tensors);
        static char present; /* supports_library only asks whether a buffer is there */
        for (size_t i = 0; tensors && i < count; i++) {
            tensors[i].buffer = work.tensors[i].buffer >= 0 ? &present : NULL;
            tensors[i].dtype = work.tensors[i].dtype;
            tensors[i].rank = work.tensors[i].rank;
            memcpy(tensors[i].dims, work.tensors[i].dims, sizeof tensors[i].dims);
        }
        struct pw_target_library_call call = {.domain = work.library_domain,
                                              .op_type = work.library_op,
                                              .opset = work.library_opset,
                                              .attributes = work.library_attributes,
                                              .inputs = tensors,
                                              .input_count = work.library_inputs,
                                              .outputs = tensors ? tensors + work.library_inputs : NULL,
                                              .output_count = work.library_outputs};
        why[0] = '\0';
        if (tensors)
            yes = worker->target->supports_library(worker->device, &call, why, sizeof why);
        else
            pw_error_memory(&error, count * sizeof *tensors);
        why[sizeof why - 1] = '\0';
    }
    pw_wire_head(reply, &error, "");
    pw_wire_u32(reply, yes > 0);
    pw_wire_text(reply, why);
    pw_arena_clear(&arena);
    return PW_OK;
}

static handler *const handlers[PW_MSG_COUNT] = {
    [PW_MSG_OPEN] = serve_open,   [PW_MSG_LIST] = serve_list,         [PW_MSG_EXECUTE] = serve_execute,
    [PW_MSG_BUILD] = serve_build, [PW_MSG_SUPPORTS] = serve_supports,
};

/* ---- the loop ---- */

static void take_region(struct pw_worker_region *region, int fd, size_t size)
{
    struct stat st;
    pw_worker_windows_drop(region);
    if (region->fd >= 0)
        close(region->fd);
    region->fd = fd;
    region->size = fstat(fd, &st) == 0 && st.st_size >= 0 && (size_t)st.st_size < size ? (size_t)st.st_size : size;
}

static void take_regions(struct pw_worker *worker, struct pw_message *message, struct pw_wire *wire)
{
    uint32_t flags = pw_wire_read_u32(wire);
    size_t in_size = pw_wire_read_u64(wire);
    size_t out_size = pw_wire_read_u64(wire);
    int next = 0;
    if ((flags & 1) && next < message->fd_count)
        take_region(&worker->in, message->fds[next++], in_size);
    if ((flags & 2) && next < message->fd_count)
        take_region(&worker->out, message->fds[next++], out_size);
    while (next < message->fd_count)
        close(message->fds[next++]);
}

#define IDLE_MS 20000 /* long enough that nobody is between two timings */

/* Waits for a request; the target may use long silences. */
static void wait_for_request(const struct pw_worker *worker)
{
    struct pollfd fd = {.fd = PW_WORKER_FD, .events = POLLIN};
    bool more = worker->target && worker->target->idle;
    while (more && poll(&fd, 1, IDLE_MS) == 0)
        more = worker->target->idle(worker->device) > 0;
}

static pw_status loop(struct pw_worker *worker)
{
    struct pw_message message = {.payload = worker->payload};
    for (;;) {
        struct pw_buf reply = {0};
        wait_for_request(worker);
        pw_status status = pw_proto_receive(PW_WORKER_FD, true, &message, NULL);
        if (status != PW_OK)
            return status;
        struct pw_wire wire = {.data = worker->payload, .size = message.size};
        take_regions(worker, &message, &wire);
        if (message.type >= PW_MSG_COUNT || !handlers[message.type])
            return PW_ERR_FORMAT;
        worker->answered = message.id;
        worker->forgotten = false;
        status = handlers[message.type](worker, message.id, &wire, &reply);
        if (status == PW_OK)
            status = answer(worker->answered, worker->forgotten ? PW_MSG_FORGOTTEN : PW_MSG_REPLY, &reply, NULL);
        pw_buf_clear(&reply);
        if (status != PW_OK)
            return status;
    }
}

int pw_worker_main(int argc, char **argv)
{
    if (argc != 3 || strcmp(argv[2], "target") != 0) {
        fputs("portwright --worker is started by portwright itself\n", stderr);
        return 2;
    }
    struct pw_worker *worker = pw_calloc(1, sizeof *worker);
    if (!worker || !(worker->payload = pw_calloc(1, PW_PROTO_MAX)))
        return 1;
    worker->in.fd = worker->out.fd = -1;
    worker->in.read_only = true;
    pw_worker_watch_faults();
    pw_status status = loop(worker);
    /* The driver's own clean-up at exit may hang after a failed kernel; the system frees everything. */
    _exit(status == PW_ERR_CRASH ? 0 : 1);
}
