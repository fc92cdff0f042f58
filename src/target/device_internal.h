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
    int64_t used_ns;
    bool knows; /* set by pw_pool_acquire: its worker has been asked for the programs, and is not at its housekeeping */
};

/* A plan whose programs the compiler refused; texts owned. */
struct pw_device_failure {
    struct pw_hash128 key;
    char *message, *log;
};
#define PW_DEVICE_FAILURES 64

struct pw_device {
    char *spec;      /* as given */
    char *open_spec; /* for the target's open */
    char *plugin;    /* absolute path, "" = OpenCL */
    char *cache_dir; /* NULL: workers get throwaway folders */
    char note[640];  /* why there is none although a home is known; "" */
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
    struct pw_device_failure failed[PW_DEVICE_FAILURES]; /* oldest first */
    size_t failed_count;
};

/* One execution, the parent's side. */
struct pw_exec {
    struct pw_device *device;
    const struct pw_exec_request *request;
    struct pw_exec_reply *reply;
    struct pw_arena arena;
    struct pw_work work;
    const struct pw_tensor **tensors; /* per work buffer: of an input or output */
    const int32_t **ints;             /* per work buffer */
    struct pw_buf body;
    size_t in_size, out_size;
    size_t body_at;   /* in the input region */
    uint64_t key;     /* of the canaries */
    bool unbuilt;     /* the worker's answer came where it was to say that all is built */
    bool forgotten;   /* the worker does not know the programs by their keys */
    int64_t paced_ns; /* of all runs of a paced execution, our clock */
    char what[96];
};

/* Outputs, and the size that was found, from the shared region to the caller's tensors. */
void pw_exec_take_outputs(struct pw_exec *x, const struct pw_link *link);

/* ---- device_paced.c: foreign kernels, whose word on time is not taken ---- */

/* After "built": the first run and the timed ones, a step at a time. The samples are our clock's, around batches, and
 * each batch's outputs are taken and looked at when it says that it is done. Ends with the last step sent, or with a
 * reply that came instead (*type). *left_ns: of the deadline. */
pw_status pw_exec_pace(struct pw_exec *x, struct pw_link *link, int64_t *left_ns, pw_message_type *type,
                       struct pw_wire *wire, struct pw_error *err);
/* Reads the rest of the reply, after its head. */
pw_status pw_exec_paced_end(struct pw_exec *x, struct pw_link *link, struct pw_wire *wire, struct pw_error *err);

/* Waits for a free place and makes sure that a worker is open there. Release it whatever happens to its
 * worker. */
pw_status pw_pool_acquire(struct pw_device *device, const struct pw_pool_want *want, struct pw_pool_slot **out,
                          struct pw_error *err);
void pw_pool_release(struct pw_device *device, struct pw_pool_slot *slot);

/* ---- device_failed.c: programs that do not build, by their keys; any thread ---- */

/* True: they did not, and again would not; log and error are as then. */
bool pw_device_failed_before(struct pw_device *device, const struct pw_hash128 *keys, size_t count, const char *what,
                             struct pw_buf *log, struct pw_error *err);
void pw_device_remember_failure(struct pw_device *device, const struct pw_hash128 *keys, size_t count,
                                const char *message, const char *log);
void pw_device_forget_failures(struct pw_device *device); /* at the end */

/* ---- device_cache.c ---- */

/* Sets cache_dir, or the note why there is none; an unusable `wanted` is an error. */
pw_status pw_device_choose_cache(struct pw_device *device, const char *wanted, struct pw_error *err);
/* Of an execution or build that failed: where the disk of compiled code is full, the error becomes that. */
pw_status pw_device_blame_disk(const struct pw_device *device, pw_status status, struct pw_error *err);

/* The library part of a call: names, attributes as text in the arena, tensors without buffers. */
pw_status pw_device_library_call(const struct pw_call *call, struct pw_arena *arena, struct pw_work *work,
                                 struct pw_error *err);

#endif
