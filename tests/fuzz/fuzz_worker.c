/*
 * A worker process that says anything: the parent opens a device, executes, verifies a case, asks its library, times
 * the reference, and every answer comes from the bytes. What must hold: nothing is taken for done that was not, no case
 * passes, times and counts are within what passed here, and the parent goes on.
 *
 * The functions of target/spawn.h are defined here, so that the library's are not linked: the worker is a thread at the
 * other end of the socket, without a process.
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "run/reference_process.h"
#include "target/device.h"
#include "target/link.h"
#include "target/sandbox.h"
#include "tests/fuzz/sample.h"
#include "tests/unit/device_plans.h"
#include "verify/protocol.h"
#include "verify/verify.h"

#define FUZZ_WORKER_ACTIONS 200 /* a flood ends */

enum fuzz_worker_action {
    FUZZ_SAY_REPLY,    /* of the right form, with numbers of the bytes' */
    FUZZ_SAY_BUILT,    /* and go on without being asked, unless steps are to come */
    FUZZ_SAY_STEPPED,  /* with the nonce of the request */
    FUZZ_SAY_BYTES,    /* a reply of any bytes */
    FUZZ_SAY_MESSAGE,  /* a message whose type and id are the bytes' too */
    FUZZ_SAY_DATAGRAM, /* not even a header */
    FUZZ_SAY_STDERR,   /* a log, then the next action */
    FUZZ_SAY_SCRIBBLE, /* over the shared outputs, then the next action */
    FUZZ_SAY_FILL,     /* all of them, as one who computed (and ran over), then the next action */
    FUZZ_SAY_COUNT
};

static struct {
    const uint8_t *data;
    size_t size, at;
    int actions;
    bool paced;     /* steps are to come */
    bool scribbled; /* the shared outputs were written to */
    int socket, stderr_fd, out_fd;
    pthread_t thread;
    bool running;
} fuzz_worker_state = {.socket = -1, .stderr_fd = -1, .out_fd = -1};

/* ---- the bytes ---- */

static uint8_t fuzz_worker_byte(void)
{
    return fuzz_worker_state.at < fuzz_worker_state.size ? fuzz_worker_state.data[fuzz_worker_state.at++] : 0;
}

static uint64_t fuzz_worker_number(void)
{
    static const uint64_t numbers[] = {
        0, 1, 2, 3, 1000, 100000, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX, (uint64_t)1 << 63};
    uint8_t byte = fuzz_worker_byte();
    return byte < 128 ? byte : numbers[(size_t)byte % PW_COUNT_OF(numbers)];
}

/* Up to 255 of the next bytes. */
static size_t fuzz_worker_span(const uint8_t **bytes)
{
    size_t size = fuzz_worker_byte(), left = fuzz_worker_state.size - fuzz_worker_state.at;
    *bytes = fuzz_worker_state.data + fuzz_worker_state.at;
    size = size < left ? size : left;
    fuzz_worker_state.at += size;
    return size;
}

/* ---- the worker ---- */

/* What a target says of itself; sane: not to be found out at the door. */
static void fuzz_worker_put_info(struct pw_buf *out, uint8_t kind, bool sane)
{
    struct pw_target_info info = {.name = "fake", .kind = "fake", .languages = {"opencl"}};
    info.compute_units = 4;
    info.max_work_group = sane ? 64 : fuzz_worker_number();
    info.local_mem_bytes = sane ? 32768 : fuzz_worker_number();
    info.alignment_bytes = sane ? 64 : (uint32_t)fuzz_worker_number();
    info.shares_host_memory = kind & 4;
    info.accuracy.exp = kind & 8 ? NAN : 1;
    pw_info_write(out, &info);
    pw_wire_text(out, kind & 16 ? "library" : "");
}

static void fuzz_worker_put_reply(struct pw_buf *out, uint32_t request)
{
    const uint8_t *bytes;
    size_t size;
    uint8_t kind = fuzz_worker_byte();
    struct pw_error error = {.status = kind & 1 ? (pw_status)fuzz_worker_number() : PW_OK, .message = "no"};
    char log[256] = "";

    if (kind & 2) {
        size = fuzz_worker_span(&bytes);
        memcpy(log, bytes, size < sizeof log ? size : sizeof log - 1);
    }
    pw_wire_head(out, &error, log);
    if (request == PW_MSG_OPEN) {
        fuzz_worker_put_info(out, kind, false);
    } else if (request == PW_MSG_SUPPORTS) {
        pw_wire_u32(out, (uint32_t)fuzz_worker_number());
        pw_wire_text(out, "why");
    } else if (request == PW_MSG_LIST) {
        pw_wire_text(out, "opencl:0:0 fake\n");
    } else {
        if (request == PW_MSG_REFERENCE) {
            pw_wire_text(out, kind & 4 ? "loops" : "nothing");
        } else {
            for (int i = 0; i < 3; i++)
                pw_wire_u64(out, fuzz_worker_number());
            pw_wire_u32(out, kind & 4 ? 1 : 0);
            pw_wire_u64(out, fuzz_worker_number());
        }
        size = fuzz_worker_number() % 16;
        pw_wire_u32(out, (uint32_t)size);
        for (size_t i = 0; i < size; i++)
            pw_wire_u64(out, fuzz_worker_number());
    }
    if (kind & 32) { /* some bytes of it are others */
        size_t at = fuzz_worker_number();
        size = fuzz_worker_span(&bytes);
        for (size_t i = 0; i < size && out->size; i++)
            out->data[(at + i) % out->size] = (char)bytes[i];
    }
    if (kind & 64)
        out->size = fuzz_worker_number() % (out->size + 1);
}

static void fuzz_worker_scribble(void)
{
    const uint8_t *bytes;
    uint64_t at = fuzz_worker_number() * 64;
    size_t size = fuzz_worker_span(&bytes);
    if (fuzz_worker_state.out_fd < 0 || !size)
        return;
    /* Never longer: a file that grew is one more that is not sealed. */
    off_t end = lseek(fuzz_worker_state.out_fd, 0, SEEK_END);
    if (at + size <= (uint64_t)end && pwrite(fuzz_worker_state.out_fd, bytes, size, (off_t)at) == (ssize_t)size)
        fuzz_worker_state.scribbled = true;
}

static void fuzz_worker_fill(void)
{
    char part[4096];
    off_t end = fuzz_worker_state.out_fd < 0 ? 0 : lseek(fuzz_worker_state.out_fd, 0, SEEK_END);

    memset(part, fuzz_worker_byte(), sizeof part);
    for (off_t at = 0; at + (off_t)sizeof part <= end; at += (off_t)sizeof part)
        if (pwrite(fuzz_worker_state.out_fd, part, sizeof part, at) == (ssize_t)sizeof part)
            fuzz_worker_state.scribbled = true;
}

/* One action; false: something was said, or the end. */
static bool fuzz_worker_act(uint32_t request, uint64_t id, uint64_t nonce, bool *ended)
{
    int socket = fuzz_worker_state.socket;
    enum fuzz_worker_action action = fuzz_worker_byte() % FUZZ_SAY_COUNT;
    struct pw_buf out = {0};
    const uint8_t *bytes;
    size_t size;
    bool more = false;

    if (fuzz_worker_state.at >= fuzz_worker_state.size || fuzz_worker_state.actions++ > FUZZ_WORKER_ACTIONS) {
        *ended = true;
        return false;
    }
    if (request == PW_MSG_OPEN && action != FUZZ_SAY_COUNT - 1) { /* mostly it opens */
        pw_wire_head(&out, &(struct pw_error){0}, "");
        fuzz_worker_put_info(&out, (uint8_t)(action << 2), true);
        (void)pw_proto_send(socket, PW_MSG_REPLY, id, out.data, out.size, NULL, 0, NULL);
        pw_buf_clear(&out);
        return false;
    }
    if (request == PW_MSG_OPEN)
        action = fuzz_worker_byte() % FUZZ_SAY_COUNT;
    switch (action) {
    case FUZZ_SAY_BUILT:
        (void)pw_proto_send(socket, PW_MSG_BUILT, id, NULL, 0, NULL, 0, NULL);
        more = !fuzz_worker_state.paced;
        break;
    case FUZZ_SAY_STEPPED:
        pw_wire_u64(&out, nonce);
        (void)pw_proto_send(socket, PW_MSG_STEPPED, id, out.data, out.size, NULL, 0, NULL);
        break;
    case FUZZ_SAY_BYTES:
        size = fuzz_worker_span(&bytes);
        (void)pw_proto_send(socket, PW_MSG_REPLY, id, bytes, size, NULL, 0, NULL);
        break;
    case FUZZ_SAY_MESSAGE:
        size = fuzz_worker_byte();
        (void)pw_proto_send(socket, (pw_message_type)size, id + fuzz_worker_byte() - 1, "\0\0\0\0\0\0\0\0", size % 8,
                            NULL, 0, NULL);
        break;
    case FUZZ_SAY_DATAGRAM:
        size = fuzz_worker_span(&bytes);
        (void)send(socket, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        break;
    case FUZZ_SAY_STDERR:
        size = fuzz_worker_span(&bytes);
        more = write(fuzz_worker_state.stderr_fd, bytes, size) >= 0;
        more = true;
        break;
    case FUZZ_SAY_SCRIBBLE:
        fuzz_worker_scribble();
        more = true;
        break;
    case FUZZ_SAY_FILL:
        fuzz_worker_fill();
        more = true;
        break;
    default:
        fuzz_worker_put_reply(&out, request);
        (void)pw_proto_send(socket, PW_MSG_REPLY, id, out.data, out.size, NULL, 0, NULL);
        break;
    }
    pw_buf_clear(&out);
    return more;
}

static void *fuzz_worker_serve(void *user)
{
    static uint8_t payload[PW_PROTO_MAX];
    uint32_t request = 0;
    bool ended = false;

    (void)user;
    while (!ended) {
        struct pw_message message = {.payload = payload};
        struct pw_wire wire;
        uint64_t nonce = 0;
        if (pw_proto_receive(fuzz_worker_state.socket, true, &message, NULL) != PW_OK)
            break;
        for (int i = 0; i < message.fd_count; i++) { /* the outputs are the last of those that are new */
            if (fuzz_worker_state.out_fd >= 0)
                close(fuzz_worker_state.out_fd);
            fuzz_worker_state.out_fd = message.fds[i];
        }
        wire = (struct pw_wire){.data = payload, .size = message.size};
        if (message.type == PW_MSG_STEP) {
            uint8_t head[PW_PROTO_HEAD + 16]; /* regions, kind, count, first */
            pw_wire_read_bytes(&wire, head, sizeof head);
            nonce = pw_wire_read_u64(&wire);
        } else {
            request = message.type;
        }
        while (fuzz_worker_act(request, message.id, nonce, &ended))
            ;
    }
    shutdown(fuzz_worker_state.socket, SHUT_RDWR);
    return NULL;
}

/* ---- target/spawn.h ---- */

pw_status pw_spawn_worker(const char *flag, const char *mode, char *const *env, struct pw_process *out,
                          struct pw_error *err)
{
    int sockets[2], pipes[2];

    (void)flag;
    (void)mode;
    (void)env;
    (void)err;
    fuzz_check(!fuzz_worker_state.running); /* one at a time */
    fuzz_check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0);
    fuzz_check(pipe2(pipes, O_CLOEXEC | O_NONBLOCK) == 0);
    *out = (struct pw_process){.pid = INT_MAX, .socket = sockets[0], .stderr_fd = pipes[0]};
    fuzz_worker_state.socket = sockets[1];
    fuzz_worker_state.stderr_fd = pipes[1];
    fuzz_worker_state.running = true;
    fuzz_check(pthread_create(&fuzz_worker_state.thread, NULL, fuzz_worker_serve, NULL) == 0);
    return PW_OK;
}

void pw_spawn_kill(struct pw_process *process, char *how, size_t how_size)
{
    if (how_size > 0)
        snprintf(how, how_size, "%s", "");
    if (process->pid > 0) {
        shutdown(process->socket, SHUT_RDWR);
        pthread_join(fuzz_worker_state.thread, NULL);
        close(process->socket);
        if (process->stderr_fd >= 0)
            close(process->stderr_fd);
        close(fuzz_worker_state.socket);
        close(fuzz_worker_state.stderr_fd);
        if (fuzz_worker_state.out_fd >= 0)
            close(fuzz_worker_state.out_fd);
        fuzz_worker_state.running = false;
        fuzz_worker_state.out_fd = -1;
    }
    *process = (struct pw_process){0, -1, -1};
}

void pw_spawn_reap(struct pw_process *process, int64_t timeout_ns, char *how, size_t how_size)
{
    (void)timeout_ns;
    pw_spawn_kill(process, how, how_size);
}

/* ---- the parent ---- */

static void fuzz_worker_check(const struct small_exec *x, const float *out, const int64_t *samples)
{
    const struct pw_exec_times *times = &x->reply.times;
    float poison[16];

    fuzz_check(times->parent_ns >= 0 && times->wall_ns >= 0 && times->wall_ns <= times->parent_ns);
    fuzz_check(times->build_ns >= 0 && times->build_ns <= times->parent_ns);
    fuzz_check(times->device_ns >= 0 && times->device_ns <= times->wall_ns);
    fuzz_check(x->reply.sample_count >= 0 && x->reply.sample_count <= 8);
    for (int i = 0; i < x->reply.sample_count; i++)
        fuzz_check(samples[i] >= 0 && samples[i] <= times->parent_ns);
    /* What nobody wrote is no result. */
    pw_shm_poison(poison, sizeof poison, PW_DTYPE_FLOAT32, x->request.seed + 1);
    if (!fuzz_worker_state.scribbled)
        fuzz_check(!memcmp(out, poison, sizeof poison) && !x->reply.overrun);
}

/* A plan with every kind of buffer, or a call of the vendor's library; timed runs on two sets of inputs. */
static void fuzz_worker_execute(struct pw_device *device, bool foreign, bool library)
{
    static const int32_t ints[] = {1, 2, 3};
    static const bool constant[] = {true};
    float in[16], other[16], out[16];
    int64_t samples[8], count = 16;
    struct pw_value alternate = {.kind = PW_VALUE_TENSOR};
    const struct pw_value *alternates[] = {&alternate};
    struct small_exec x;

    for (int i = 0; i < 16; i++) {
        in[i] = (float)i + 1;
        other[i] = (float)i + 2;
    }
    pw_tensor_borrow(&alternate.tensor, PW_DTYPE_FLOAT32, 1, &count, other);
    small_exec_make(&x, "source", "twice", 16, in, out, 16);
    x.plan.program.foreign = foreign;
    x.plan.buffers[2] = (struct pw_plan_buffer){.kind = PW_BUFFER_INTS, .size_bytes = sizeof ints, .ints = ints};
    x.plan.buffers[3] = foreign ? (struct pw_plan_buffer){.kind = PW_BUFFER_PACKED, .size_bytes = 64}
                                : (struct pw_plan_buffer){.kind = PW_BUFFER_FOUND, .size_bytes = 4};
    x.plan.plan.buffer_count = 4;
    x.request.repeats = 8;
    x.request.samples_ns = samples;
    x.request.deadline_ns = 1000000000;
    x.request.constant = constant;
    x.request.alternate = alternates;
    x.request.exact_end = fuzz_worker_state.size % 2;
    if (library) {
        x.request.library = true;
        x.request.plan = NULL;
        x.request.call = sample_inventory()->signatures[0].call;
    }
    fuzz_worker_state.paced = foreign && !library;
    fuzz_worker_state.scribbled = false;
    if (pw_device_execute(device, &x.request, &x.reply, &x.err) == PW_OK)
        fuzz_worker_check(&x, out, samples);
    else
        fuzz_check(x.err.message[0]);
    pw_exec_reply_clear(&x.reply);
}

static void fuzz_worker_ask(struct pw_device *device)
{
    const struct pw_call *call = sample_inventory()->signatures[0].call;
    struct pw_buf why = {0};
    struct pw_error err = {0};
    bool supported = false;

    fuzz_worker_state.paced = false;
    if (pw_device_library_supports(device, call, &supported, &why, &err) != PW_OK)
        fuzz_check(!supported && err.message[0]);
    pw_buf_clear(&why);
}

static void fuzz_worker_reference(void)
{
    static float values[16];
    const struct pw_call *call = sample_inventory()->signatures[0].call;
    const int64_t dims[] = {2, 8};
    struct pw_reference_process *reference = NULL;
    struct pw_value input = {.kind = PW_VALUE_TENSOR};
    const struct pw_value *inputs[] = {&input};
    struct pw_error err = {0};
    const char *name = NULL;
    int64_t samples[4];
    int count = 0;

    pw_tensor_borrow(&input.tensor, PW_DTYPE_FLOAT32, 2, dims, values);
    fuzz_check(pw_reference_open(0, &reference, &err) == PW_OK);
    if (pw_reference_time(reference, call, inputs, 1, 4, 0, samples, &count, &name, &err) == PW_OK) {
        fuzz_check(count >= 0 && count <= 4 && name != NULL);
        for (int i = 0; i < count; i++)
            fuzz_check(samples[i] >= 0 && samples[i] < 10000000000);
    }
    pw_reference_close(reference);
}

/* One kernel for the graph's first operator. */
static const struct pw_kernels *fuzz_worker_kernels(bool foreign)
{
    static const char yaml[] =
        "format: 1\nkernel: k\nimplements: [Softmax]\nequals: softmax/reference\ndtypes: [float32]\n"
        "sources: {opencl: k.cl}\n"
        "launches: [{entry: k, global: [1], local: [1], args: [input, output]}]\n"
        "provenance: {author: hand}\n";
    static struct pw_kernels *kernels[2];
    const char *const names[] = {"room/k.yaml", "room/k.cl", "room", ""};
    char dir[] = "/tmp/pw-fuzz-XXXXXX", path[64];
    struct pw_ops_dir ops = {dir, foreign};
    struct pw_error err = {0};

    if (kernels[foreign])
        return kernels[foreign];
    fuzz_check(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/room", dir);
    fuzz_check(mkdir(path, 0700) == 0);
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        FILE *file = fopen(path, "w");
        fuzz_check(file != NULL && fputs(i ? "\n" : yaml, file) >= 0 && fclose(file) == 0);
    }
    fuzz_check(pw_kernels_load(&ops, 1, &kernels[foreign], &err) == PW_OK);
    for (size_t i = 0; i < PW_COUNT_OF(names); i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        (void)remove(path);
    }
    return kernels[foreign];
}

/* A case of softmax: whatever is said, it does not hold, for nobody computed it. */
static void fuzz_worker_verify(struct pw_device *device, bool foreign)
{
    static struct pw_protocol *protocol;
    const struct pw_inventory *inventory = sample_inventory();
    char id[PW_CASE_ID_MAX];
    struct pw_verify_request request = {.inventory = inventory,
                                        .kernels = fuzz_worker_kernels(foreign),
                                        .device = device,
                                        .case_id = id,
                                        .effort = {.no_shrink = true},
                                        .jobs = 1};
    struct pw_verify_totals totals = {0};
    struct pw_error err = {0};

    snprintf(id, sizeof id, "3:%s:f32:graph:normal:1", inventory->signatures[0].id);
    fuzz_check(protocol || pw_protocol_default(&protocol, &err) == PW_OK);
    request.protocol = protocol;
    fuzz_worker_state.paced = foreign;
    if (pw_verify_run(&request, &totals, &err) == PW_OK)
        fuzz_check(totals.held == 0 && totals.passed == 0 && totals.warned == 0);
    else
        fuzz_check(err.message[0]);
}

static void fuzz_worker(const uint8_t *data, size_t size)
{
    const struct pw_device_options options = {.workers = 1, .cache_dir = NULL, .start_deadline_ns = 1000000000};
    struct pw_device *device = NULL;
    struct pw_buf list = {0};
    struct pw_error err = {0};
    uint8_t what;

    (void)sample_inventory();
    pw_sandbox_permit_unconfined();
    setenv("XDG_CACHE_HOME", "", 1);
    unsetenv("HOME");
    fuzz_worker_state.data = data;
    fuzz_worker_state.size = size;
    fuzz_worker_state.at = 0;
    fuzz_worker_state.actions = 0;
    fuzz_worker_state.paced = false;
    what = fuzz_worker_byte();
    if (what & 1) {
        fuzz_worker_reference();
    } else if (what & 2) {
        (void)pw_device_list(&list, &err);
    } else if (pw_device_open("opencl", &options, &device, &err) == PW_OK) {
        const struct pw_device_facts *facts = pw_device_facts(device);
        fuzz_check(facts->max_work_group >= 1 && facts->local_mem_bytes >= 0 && facts->compute_units >= 1);
        for (int i = 0; i < 3; i++) {
            if (what & 16) {
                fuzz_worker_verify(device, what & 4);
                continue;
            }
            fuzz_worker_execute(device, what & 4, what & 8);
            fuzz_worker_ask(device);
        }
    }
    pw_device_close(device);
    pw_buf_clear(&list);
}

/* Adds, changes and removes actions; the form is loose enough for bytes. */
static void fuzz_worker_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, struct pw_buf *out)
{
    pw_buf_append(out, (const char *)data, size);
    for (int64_t edits = fuzz_draw(draws, 1, 4); edits > 0 && out->size > 0 && !out->failed; edits--) {
        size_t at = (size_t)fuzz_draw(draws, 0, (int64_t)out->size - 1);
        int64_t kind = fuzz_draw(draws, 0, 3);
        if (kind == 0)
            pw_buf_putc(out, (char)fuzz_draw(draws, 0, FUZZ_SAY_COUNT - 1));
        else if (kind == 1 && out->size > 1)
            memmove(out->data + at, out->data + at + 1, --out->size - at);
        else
            out->data[at] = (char)fuzz_draw(draws, 0, kind == 2 ? 255 : FUZZ_SAY_COUNT - 1);
    }
}

FUZZ_HARNESS(fuzz_worker, fuzz_worker_mutate);
