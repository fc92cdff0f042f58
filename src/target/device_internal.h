/* Shared by device.c (the pool), device_exec.c (executions) and device_library.c. Not for others. */
#ifndef PW_TARGET_DEVICE_INTERNAL_H
#define PW_TARGET_DEVICE_INTERNAL_H

#include <pthread.h>

#include "target/device.h"
#include "target/link.h"

#define PW_POOL_MAX 64
#define PW_BUILD_DEADLINE_NS 120000000000
/* The first launch of a kernel generates its code: half a second on a quiet machine, many on a crowded one. */
#define PW_RUN_DEADLINE_NS 30000000000

#define PW_POOL_PROGRAMS 64

/* What a request wants of a worker. */
struct pw_pool_want {
    bool foreign;             /* a kernel from outside: a worker that has run nothing but that kernel */
    struct pw_hash128 kernel; /* which one */
    uint64_t program;         /* hash of what will be built: who has built it already is better; 0 = nothing */
};

/* A place for a worker. Guarded by the device's mutex but for `link`, which belongs to who made it busy. */
struct pw_pool_slot {
    struct pw_link link;
    bool busy;
    bool foreign; /* its worker runs the kernel from outside that `kernel` names */
    struct pw_hash128 kernel;
    uint64_t programs[PW_POOL_PROGRAMS]; /* asked of its worker lately */
    uint32_t program_next;
    uint64_t used; /* when it was last released: the most recent one is warmest */
};

struct pw_device {
    char *spec;      /* as given */
    char *open_spec; /* for the target's open */
    char *plugin;    /* absolute path, "" = OpenCL */
    char *cache_dir; /* NULL: workers get throwaway folders */
    bool reference;
    int64_t start_deadline_ns;
    const char *const *environment; /* the caller's; NULL = none */
    struct pw_target_info info;
    struct pw_device_facts facts;
    const char *languages[PW_TARGET_LANGUAGES + 1];
    char library[PW_TARGET_NAME_MAX]; /* "" = none */

    pthread_mutex_t mutex;
    pthread_cond_t idle; /* a slot became free */
    struct pw_pool_slot slots[PW_POOL_MAX];
    int slot_count;
    uint64_t tick;
};

/* Waits for a free place and makes sure that a worker is open there. Release it whatever happens to its
 * worker. */
pw_status pw_pool_acquire(struct pw_device *device, const struct pw_pool_want *want, struct pw_pool_slot **out,
                          struct pw_error *err);
void pw_pool_release(struct pw_device *device, struct pw_pool_slot *slot);

/* The library part of a call: names, attributes as text in the arena, tensors without buffers. */
pw_status pw_device_library_call(const struct pw_call *call, struct pw_arena *arena, struct pw_work *work,
                                 struct pw_error *err);

#endif
