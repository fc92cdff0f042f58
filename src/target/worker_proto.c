/* Messages between parent and worker, and their bounded reading. */
#include "target/worker_proto.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define MESSAGE_MAGIC 0x70777231u /* "pwr1" */
#define SEND_TIMEOUT_MS 10000
#define TEXT_MAX ((size_t)64 << 20)

struct header {
    uint32_t magic;
    uint32_t type;
    uint64_t id;
};

union fd_control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int) * PW_PROTO_FDS)];
};

pw_status pw_proto_send(int socket, pw_message_type type, uint64_t id, const void *payload, size_t size, const int *fds,
                        int fd_count, struct pw_error *err)
{
    if (size > PW_PROTO_MAX || fd_count > PW_PROTO_FDS)
        return pw_error_set(err, PW_ERR_INTERNAL, "a message of %zu bytes and %d descriptors is too large", size,
                            fd_count);
    struct header header = {MESSAGE_MAGIC, (uint32_t)type, id};
    uint8_t copy[8];
    struct iovec parts[2] = {{&header, sizeof header}, {copy, 0}};
    /* iov_base is not const; sendmsg only reads it. */
    memcpy(&parts[1].iov_base, &payload, sizeof payload);
    parts[1].iov_len = size;
    struct msghdr msg = {.msg_iov = parts, .msg_iovlen = size > 0 ? 2 : 1};
    union fd_control control;
    if (fd_count > 0) {
        memset(&control, 0, sizeof control);
        msg.msg_control = control.bytes;
        msg.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)fd_count);
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)fd_count);
        memcpy(CMSG_DATA(c), fds, sizeof(int) * (size_t)fd_count);
    }
    for (;;) {
        if (sendmsg(socket, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
            return PW_OK;
        if (errno == EINTR)
            continue;
        if (errno != EAGAIN)
            return pw_error_set(err, PW_ERR_CRASH, "sending to the other process: %s", strerror(errno));
        struct pollfd wait = {.fd = socket, .events = POLLOUT};
        if (poll(&wait, 1, SEND_TIMEOUT_MS) == 0)
            return pw_error_set(err, PW_ERR_TIMEOUT, "the other process does not read its messages");
    }
}

pw_status pw_proto_receive(int socket, bool accept_fds, struct pw_message *message, struct pw_error *err)
{
    struct header header;
    struct iovec parts[2] = {{&header, sizeof header}, {message->payload, PW_PROTO_MAX}};
    union fd_control control;
    struct msghdr msg = {.msg_iov = parts, .msg_iovlen = 2};
    if (accept_fds) {
        msg.msg_control = control.bytes;
        msg.msg_controllen = sizeof control.bytes;
    }
    ssize_t got;
    do
        got = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    message->fd_count = 0;
    if (got <= 0)
        return pw_error_set(err, PW_ERR_CRASH, "the other process is gone");
    struct cmsghdr *c = accept_fds ? CMSG_FIRSTHDR(&msg) : NULL;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
        message->fd_count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(message->fds, CMSG_DATA(c), sizeof(int) * (size_t)message->fd_count);
    }
    if ((size_t)got < sizeof header || header.magic != MESSAGE_MAGIC || (msg.msg_flags & MSG_TRUNC) ||
        header.type == 0 || header.type >= PW_MSG_COUNT)
        return pw_error_set(err, PW_ERR_FORMAT, "malformed message of %zd bytes", got);
    message->type = header.type;
    message->id = header.id;
    message->size = (size_t)got - sizeof header;
    return PW_OK;
}

/* ---- fields ---- */

void pw_wire_bytes(struct pw_buf *out, const void *bytes, size_t size)
{
    pw_buf_append(out, bytes, size);
}

void pw_wire_u32(struct pw_buf *out, uint32_t value)
{
    pw_wire_bytes(out, &value, sizeof value);
}

void pw_wire_u64(struct pw_buf *out, uint64_t value)
{
    pw_wire_bytes(out, &value, sizeof value);
}

void pw_wire_f64(struct pw_buf *out, double value)
{
    pw_wire_bytes(out, &value, sizeof value);
}

static void wire_text_n(struct pw_buf *out, const char *text, size_t size)
{
    pw_wire_u32(out, (uint32_t)size);
    pw_wire_bytes(out, text, size);
    pw_buf_putc(out, '\0');
}

void pw_wire_text(struct pw_buf *out, const char *text)
{
    size_t size = text ? strlen(text) : 0;
    if (size > TEXT_MAX)
        size = TEXT_MAX;
    wire_text_n(out, text ? text : "", size);
}

static const uint8_t *take(struct pw_wire *wire, size_t size)
{
    if (wire->bad || size > wire->size - wire->at) {
        wire->bad = true;
        return NULL;
    }
    const uint8_t *at = wire->data + wire->at;
    wire->at += size;
    return at;
}

void pw_wire_read_bytes(struct pw_wire *wire, void *dst, size_t size)
{
    const uint8_t *from = take(wire, size);
    if (from)
        memcpy(dst, from, size);
    else
        memset(dst, 0, size);
}

uint32_t pw_wire_read_u32(struct pw_wire *wire)
{
    uint32_t value;
    pw_wire_read_bytes(wire, &value, sizeof value);
    return value;
}

uint64_t pw_wire_read_u64(struct pw_wire *wire)
{
    uint64_t value;
    pw_wire_read_bytes(wire, &value, sizeof value);
    return value;
}

double pw_wire_read_f64(struct pw_wire *wire)
{
    double value;
    pw_wire_read_bytes(wire, &value, sizeof value);
    return value;
}

const char *pw_wire_read_text(struct pw_wire *wire)
{
    size_t size = pw_wire_read_u32(wire);
    const uint8_t *from = take(wire, size + 1);
    if (from && (from[size] != '\0' || memchr(from, '\0', size)))
        wire->bad = true;
    if (!from || wire->bad)
        return "";
    return (const char *)from;
}

size_t pw_wire_read_count(struct pw_wire *wire, size_t item_bytes)
{
    size_t count = pw_wire_read_u32(wire);
    if (!wire->bad && count > (wire->size - wire->at) / item_bytes)
        wire->bad = true;
    return wire->bad ? 0 : count;
}

void pw_wire_head(struct pw_buf *out, const struct pw_error *error, const char *log)
{
    size_t size = strlen(log);
    pw_wire_u32(out, (uint32_t)error->status);
    pw_wire_text(out, error->message);
    /* Of a long log the end says what went wrong. */
    if (size > PW_PROTO_LOG_MAX) {
        log += size - PW_PROTO_LOG_MAX;
        size = PW_PROTO_LOG_MAX;
    }
    wire_text_n(out, log, size);
}

pw_status pw_wire_read_head(struct pw_wire *wire, const char **message, const char **log)
{
    uint32_t status = pw_wire_read_u32(wire);
    *message = pw_wire_read_text(wire);
    *log = pw_wire_read_text(wire);
    if (wire->bad)
        return PW_ERR_FORMAT;
    /* Crash and timeout are for the parent to find. */
    if (status == PW_OK || status == PW_ERR_UNSUPPORTED)
        return (pw_status)status;
    return PW_ERR_TARGET;
}

/* ---- a target's description ---- */

/* Strings first, then the numbers: one table serves both directions. */
struct text_field {
    size_t offset, size;
};
#define TEXT(name)                                                                                                     \
    {                                                                                                                  \
        offsetof(struct pw_target_info, name), sizeof((struct pw_target_info *)0)->name                                \
    }
static const struct text_field text_fields[] = {
    TEXT(name),         TEXT(kind),         TEXT(platform),     TEXT(vendor),       TEXT(driver),
    TEXT(runtime),      TEXT(languages[0]), TEXT(languages[1]), TEXT(languages[2]), TEXT(languages[3]),
    TEXT(languages[4]), TEXT(languages[5]), TEXT(languages[6]), TEXT(languages[7]),
};
#undef TEXT
_Static_assert(PW_TARGET_LANGUAGES == 8, "text_fields lists the languages");

#define ACCURACY_NUMBERS 19
_Static_assert(offsetof(struct pw_target_accuracy, denormals) == ACCURACY_NUMBERS * sizeof(double),
               "the accuracy table begins with its numbers");

void pw_info_write(struct pw_buf *out, const struct pw_target_info *info)
{
    for (size_t i = 0; i < sizeof text_fields / sizeof *text_fields; i++) {
        const char *text = (const char *)info + text_fields[i].offset;
        wire_text_n(out, text, strnlen(text, text_fields[i].size - 1));
    }
    const uint64_t numbers[] = {info->compute_units,
                                info->vector_width,
                                info->work_group_multiple,
                                info->max_work_group,
                                info->local_mem_bytes,
                                info->global_mem_bytes,
                                info->max_alloc_bytes,
                                info->alignment_bytes,
                                info->has_fp64,
                                info->has_fp16,
                                info->is_cpu,
                                info->shares_host_memory,
                                info->accuracy.denormals,
                                info->accuracy.fma_fused,
                                info->accuracy.denormals_fp16};
    pw_wire_bytes(out, numbers, sizeof numbers);
    pw_wire_bytes(out, &info->accuracy, ACCURACY_NUMBERS * sizeof(double));
    pw_wire_f64(out, info->peak_flops);
    pw_wire_f64(out, info->peak_bytes);
}

static uint64_t bounded(struct pw_wire *wire, uint64_t least, uint64_t most)
{
    uint64_t value = pw_wire_read_u64(wire);
    return value < least ? least : value > most ? most : value;
}

void pw_info_read(struct pw_wire *wire, struct pw_target_info *out)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < sizeof text_fields / sizeof *text_fields; i++) {
        const char *text = pw_wire_read_text(wire);
        size_t size = strnlen(text, text_fields[i].size - 1);
        memcpy((char *)out + text_fields[i].offset, text, size);
    }
    const uint64_t large = (uint64_t)1 << 52; /* also exact as a double and far from an int64's end */
    out->compute_units = (uint32_t)bounded(wire, 1, 1 << 20);
    out->vector_width = (uint32_t)bounded(wire, 1, 1 << 16);
    out->work_group_multiple = (uint32_t)bounded(wire, 1, 1 << 16);
    out->max_work_group = bounded(wire, 1, 1 << 24);
    out->local_mem_bytes = bounded(wire, 0, large);
    out->global_mem_bytes = bounded(wire, 0, large);
    out->max_alloc_bytes = bounded(wire, 0, large);
    out->alignment_bytes = (uint32_t)bounded(wire, 1, 4096);
    out->has_fp64 = pw_wire_read_u64(wire) != 0;
    out->has_fp16 = pw_wire_read_u64(wire) != 0;
    out->is_cpu = pw_wire_read_u64(wire) != 0;
    out->shares_host_memory = pw_wire_read_u64(wire) != 0;
    out->accuracy.denormals = pw_wire_read_u64(wire) != 0;
    out->accuracy.fma_fused = pw_wire_read_u64(wire) != 0;
    out->accuracy.denormals_fp16 = pw_wire_read_u64(wire) != 0;
    double numbers[ACCURACY_NUMBERS];
    pw_wire_read_bytes(wire, numbers, sizeof numbers);
    for (int i = 0; i < ACCURACY_NUMBERS; i++)
        if (!isfinite(numbers[i]))
            numbers[i] = -1; /* unknown */
    memcpy(&out->accuracy, numbers, sizeof numbers);
    double *peaks[] = {&out->peak_flops, &out->peak_bytes};
    for (int i = 0; i < 2; i++) {
        double value = pw_wire_read_f64(wire);
        *peaks[i] = isfinite(value) && value > 0 ? value : 0;
    }
}
