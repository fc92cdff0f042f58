/*
 * Inside the worker process: one target, its compiled programs and packed buffers, the shared regions.
 * One thread. Nothing here is used by the parent.
 */
#ifndef PW_TARGET_WORKER_H
#define PW_TARGET_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "target/target.h"
#include "target/worker_proto.h"

/* Inaccessible bytes on each side of a buffer: more than a page, so that an overrun by some rows is not
 * taken for the neighbour's. */
#define PW_WORKER_GUARD_BYTES ((size_t)256 << 10)

/* A part of a region that is mapped between guard pages. */
struct pw_worker_window {
    size_t at;            /* where its first guard begins, from the region's base */
    size_t offset, pages; /* what of the region */
};

struct pw_worker_region {
    int fd; /* -1: none yet */
    size_t size;
    bool read_only;                   /* its windows are */
    uint8_t *base;                    /* range for the windows; NULL: none */
    size_t reserved;                  /* bytes of it */
    struct pw_worker_window *windows; /* side by side from the base on */
    size_t window_count, window_cap;
    size_t used; /* the first ones: of the execution that is being prepared or runs */
};

/* A buffer's memory in this process and on the device. */
struct pw_worker_buffer {
    uint8_t *base;   /* reserved range, guard pages at both ends */
    size_t reserved; /* bytes of it; 0 = nothing mapped */
    bool window;     /* the range is the region's, which keeps it */
    uint8_t *data;
    size_t size;  /* of the data */
    void *device; /* the target's handle */
};

struct pw_worker_program {
    struct pw_hash128 key;
    void *handle;
    uint64_t used; /* for the least recently used */
};

struct pw_worker_packed {
    struct pw_hash128 key;
    struct pw_worker_buffer buffer;
    uint64_t used;
};

#define PW_WORKER_PROGRAMS 512
#define PW_WORKER_PACKED 256
#define PW_WORKER_PACKED_BYTES ((size_t)512 << 20) /* cap of the kept packed buffers together */

struct pw_worker {
    const struct pw_target *target;
    void *device;
    struct pw_target_info info;
    char *cache_dir;   /* by the name that is good in the sandbox; NULL = none */
    uint8_t *payload;  /* PW_PROTO_MAX bytes: the message that is served */
    uint64_t answered; /* the message that the reply answers */
    bool forgotten;    /* the reply is PW_MSG_FORGOTTEN */
    bool confined;     /* the sandbox was entered */
    struct pw_worker_region in, out;
    struct pw_worker_program programs[PW_WORKER_PROGRAMS];
    size_t program_count;
    struct pw_worker_packed packed[PW_WORKER_PACKED];
    size_t packed_count;
    size_t packed_bytes;
    uint64_t tick;
};

/* What an execution found out. */
struct pw_worker_result {
    int64_t wall_ns, device_ns, build_ns;
    int64_t *samples; /* in the arena of the request */
    int sample_count;
    bool input_changed;
    int64_t found; /* a library's answer to a size that the data decides */
    struct pw_buf log;
};

/* Talking with the parent in between. */
struct pw_worker_talk {
    pw_status (*built)(void *user, struct pw_error *err); /* all programs are there */
    /* Of a paced execution. Says that the last step is done (none is before the first), then waits for the next. */
    pw_status (*step)(void *user, const struct pw_step *done, struct pw_step *next, struct pw_error *err);
    void *user;
};

/* Runs the work. */
pw_status pw_worker_execute(struct pw_worker *worker, const struct pw_work *work, struct pw_arena *arena,
                            const struct pw_worker_talk *talk, struct pw_worker_result *result, struct pw_error *err);

/* ---- worker_cache.c ---- */

/* Compiled program of (language, source, options), from memory or the target's compiler; log gets what the
 * compiler says. *key identifies it. */
pw_status pw_worker_program(struct pw_worker *worker, const struct pw_plan_program *program, void **handle,
                            struct pw_hash128 *key, struct pw_buf *log, struct pw_error *err);

/* The program that is in memory under a key; NULL: none (any more). */
void *pw_worker_known(struct pw_worker *worker, struct pw_hash128 key);

struct pw_worker_packed *pw_worker_packed_find(struct pw_worker *worker, struct pw_hash128 key);
/* Takes the buffer over when there is room (evicting the least recently used); else false. */
bool pw_worker_packed_keep(struct pw_worker *worker, struct pw_hash128 key, struct pw_worker_buffer *buffer);

/* ---- worker_memory.c ---- */

/* Private memory between guard pages. */
pw_status pw_worker_private(size_t size, size_t alignment, struct pw_worker_buffer *out, struct pw_error *err);
void pw_worker_unmap(struct pw_worker_buffer *buffer);

/* ---- worker_windows.c ---- */

size_t pw_worker_window_bytes(const struct pw_slot *slot); /* with its guard pages */
/* Before the windows of an execution are asked for, `bytes` together. keep: those that are there may serve again, where
 * the next execution's buffers are as the last one's. */
pw_status pw_worker_windows_begin(struct pw_worker_region *region, size_t bytes, bool keep, struct pw_error *err);
/* The next one: a slot of the region between guard pages. It stays the region's. When the system refuses, here or at
 * the end, all windows of the region are gone, also those of this execution. */
pw_status pw_worker_window(struct pw_worker_region *region, const struct pw_slot *slot, struct pw_worker_buffer *out,
                           struct pw_error *err);
/* All have been asked for: others become inaccessible. */
pw_status pw_worker_windows_end(struct pw_worker_region *region, struct pw_error *err);
void pw_worker_windows_drop(struct pw_worker_region *region); /* all of them: the region is another one */

/* ---- faults: worker_memory.c ---- */

/* A fault inside the named ranges is explained on stderr before the process dies of it; so is a system call that
 * the sandbox traps, while there are such ranges (else it only fails). */
void pw_worker_watch_faults(void);
void pw_worker_watch_add(const struct pw_worker_buffer *buffer, const char *name, bool read_only);
void pw_worker_watch_clear(void);

#endif
