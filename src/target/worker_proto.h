/*
 * What parent and worker say to each other: messages of at most PW_PROTO_MAX bytes over a
 * SOCK_SEQPACKET socket, one request at a time, each answered by one PW_MSG_REPLY with the request's id
 * (an execution says PW_MSG_BUILT once in between, unless it names its programs by their keys; a paced one then takes
 * steps). Bulk (plans, tensors) is in shared memory.
 *
 * Numbers are in the machine's order: both sides are the same program. The worker trusts the parent;
 * the parent reads every reply as hostile, so the reader below never reads past its end and a bad field
 * makes everything after it 0 and `bad` true.
 */
#ifndef PW_TARGET_WORKER_PROTO_H
#define PW_TARGET_WORKER_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "op/kernel.h"
#include "target/shm.h"
#include "target/target.h"

#define PW_PROTO_MAX (96 * 1024)     /* bytes of a message's payload */
#define PW_PROTO_LOG_MAX (48 * 1024) /* bytes of a log in a reply */
#define PW_PROTO_SAMPLES_MAX 4096    /* timed repeats in one request */
#define PW_PROTO_FDS 2
/* What a worker says of a fault whose address the processor does not tell: none that can be, or one not aligned. */
#define PW_WORKER_FAULT_NOWHERE "at an address that no process has, or that is not aligned"
#define PW_PROTO_HEAD 20 /* bytes before a request's own: which regions are new, and their sizes */

typedef enum {
    PW_MSG_OPEN = 1,  /* plugin, cache_dir, foreign, uid, spec -> info, library name */
    PW_MSG_LIST,      /* plugin, cache_dir, foreign, uid -> text */
    PW_MSG_EXECUTE,   /* where in the input region the body is, its size; fds when regions are new */
    PW_MSG_BUILD,     /* the same, compile only */
    PW_MSG_SUPPORTS,  /* library call -> bool, reason */
    PW_MSG_REFERENCE, /* src/run: a node to time */
    PW_MSG_BUILT,     /* all programs of the execution are compiled */
    PW_MSG_STEP,      /* within a paced execution: what to do next, count, first, nonce */
    PW_MSG_STEPPED,   /* done: nonce */
    PW_MSG_REPLY,     /* status, message, log, then what the request asked for */
    PW_MSG_FORGOTTEN, /* instead of the reply: of the keys, one names no program that is there (any more) */
    PW_MSG_COUNT
} pw_message_type;

struct pw_message {
    uint32_t type;
    uint64_t id;
    uint8_t *payload; /* caller's array of PW_PROTO_MAX bytes */
    size_t size;
    int fds[PW_PROTO_FDS];
    int fd_count;
};

/* Waits while the socket is full, at most 10 s. fds may be NULL. */
pw_status pw_proto_send(int socket, pw_message_type type, uint64_t id, const void *payload, size_t size, const int *fds,
                        int fd_count, struct pw_error *err);
/* One message; blocks unless the socket has one. PW_ERR_CRASH when the other side is gone, PW_ERR_FORMAT
 * when it is malformed. accept_fds false: descriptors that come along are dropped by the system. */
pw_status pw_proto_receive(int socket, bool accept_fds, struct pw_message *message, struct pw_error *err);

/* ---- fields ---- */

void pw_wire_u32(struct pw_buf *out, uint32_t value);
void pw_wire_u64(struct pw_buf *out, uint64_t value);
void pw_wire_f64(struct pw_buf *out, double value);
void pw_wire_bytes(struct pw_buf *out, const void *bytes, size_t size);
void pw_wire_text(struct pw_buf *out, const char *text); /* at most 64 MiB */

struct pw_wire {
    const uint8_t *data;
    size_t size;
    size_t at;
    bool bad;
};

uint32_t pw_wire_read_u32(struct pw_wire *wire);
uint64_t pw_wire_read_u64(struct pw_wire *wire);
double pw_wire_read_f64(struct pw_wire *wire);
void pw_wire_read_bytes(struct pw_wire *wire, void *dst, size_t size); /* zeroed when bad */
/* NUL-terminated, inside the data; "" when bad. A text with an inner NUL is bad. */
const char *pw_wire_read_text(struct pw_wire *wire);
/* A count of things of which each takes at least item_bytes: 0 and bad when there cannot be so many. */
size_t pw_wire_read_count(struct pw_wire *wire, size_t item_bytes);

/* Reply head: status (of ours: anything else is read as PW_ERR_TARGET), message, log. */
void pw_wire_head(struct pw_buf *out, const struct pw_error *error, const char *log);
pw_status pw_wire_read_head(struct pw_wire *wire, const char **message, const char **log);

/* ---- an execution ---- */

typedef enum { PW_REGION_IN, PW_REGION_OUT, PW_REGION_PACKED } pw_region;

struct pw_work_buffer {
    pw_buffer_kind kind; /* with index: what messages call it */
    int index;
    pw_region region;    /* IN: read-only; OUT: outputs and scratch; PACKED: the worker's own */
    struct pw_slot slot; /* IN, OUT */
    size_t size;         /* bytes */
    bool keep;           /* PACKED: may be kept, under `hash` of the input's content */
    int alternate;       /* buffer that every second timed run takes in its place; -1: none */
    struct pw_hash128 hash;
};

/* Steps of a paced execution. */
typedef enum {
    PW_STEP_PREPARE, /* outputs as the parent has left them, caches emptied if asked for */
    PW_STEP_RUN,     /* `count` runs; the first has number `first`: even ones take the alternates */
    PW_STEP_FETCH,   /* outputs into shared memory, for a target with memory of its own */
    PW_STEP_END,     /* the rest, then the reply */
    PW_STEP_COUNT
} pw_step_kind;

/* Numbers of the untimed runs, whose outputs the timed ones must give too. */
#define PW_STEP_FIRST (-1)
#define PW_STEP_FIRST_ALTERNATE (-2)

struct pw_step {
    pw_step_kind kind;
    int64_t first;
    int count;
    uint64_t nonce; /* comes back with PW_MSG_STEPPED: nobody says that he is done before he was asked */
};

struct pw_work_tensor {
    int buffer; /* -1: omitted */
    int dtype;
    int rank;
    int64_t dims[PW_MAX_RANK];
};

struct pw_work {
    struct pw_work_buffer *buffers;
    size_t buffer_count;
    struct pw_plan_program *programs;
    size_t program_count;
    struct pw_hash128 *keys; /* of the programs */
    bool known;              /* the worker is asked for programs that it has: they are named by their keys alone */
    struct pw_plan_launch *launches;
    size_t launch_count;

    const char *library_op; /* NULL: launches. Else the vendor's library does it */
    const char *library_domain;
    const char *library_attributes;
    int library_opset;
    uint64_t library_seed;
    struct pw_work_tensor *tensors; /* inputs, then outputs */
    size_t library_inputs, library_outputs;

    int repeats;
    int64_t min_time_ns;
    size_t flush_bytes; /* passed over before each timed run; 0 = not */
    bool exact;         /* memory of the device's own ends with the data, without a canary */
    bool paced;         /* the parent says when what is done, and keeps the time itself */
    bool unwritten;     /* memory of the device's own for outputs and scratch is not written before the run */
};

/* "input 0", "scratch buffer", … into dst; returns dst. */
const char *pw_work_buffer_name(const struct pw_work_buffer *buffer, char *dst, size_t dst_size);

/* What a program is called: its language, options and source, hashed. */
pw_status pw_work_key(const struct pw_plan_program *program, struct pw_hash128 *key, struct pw_error *err);

/* With the programs' keys, or (not known) with their texts. */
void pw_work_write(struct pw_buf *out, const struct pw_work *work);
/* Into the arena; texts point into the data. */
pw_status pw_work_read(const void *data, size_t size, struct pw_arena *arena, struct pw_work *out,
                       struct pw_error *err);
/* The library part alone (PW_MSG_SUPPORTS). */
void pw_work_write_library(struct pw_buf *out, const struct pw_work *work);
pw_status pw_work_read_library(struct pw_wire *wire, struct pw_arena *arena, struct pw_work *out, struct pw_error *err);

/* A target's description. Strings are terminated, numbers of a hostile reply are bounded. */
void pw_info_write(struct pw_buf *out, const struct pw_target_info *info);
void pw_info_read(struct pw_wire *wire, struct pw_target_info *out);

#endif
