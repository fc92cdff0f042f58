/*
 * A target as the rest of portwright sees it: a pool of worker processes.
 *
 * pw_device_execute is thread-safe and blocks for a free worker, so a caller that wants N jobs in
 * flight uses N threads. The parent trusts nothing that a worker says: buffers are memfds made and
 * checked here (canaries, input seals), replies are parsed as hostile, times are bounded by our own
 * clock, deadlines kill. A worker that dies is replaced; the request gets PW_ERR_CRASH.
 *
 * A worker is this very program, run again as "--worker target": a main() of a program that opens
 * devices hands such an argv to pw_worker_main before anything else. This process itself never calls
 * OpenCL.
 */
#ifndef PW_TARGET_DEVICE_H
#define PW_TARGET_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "op/kernel.h"
#include "target/target.h"
#include "tensor/tensor.h"

struct pw_device;

#define PW_DEVICE_REPEATS_MAX 4096 /* timed repeats in one request; more are cut to this */

struct pw_device_options {
    int workers;                    /* 0 = one a core, at most 4 */
    const char *cache_dir;          /* NULL = $XDG_CACHE_HOME/portwright or ~/.cache/portwright */
    int64_t start_deadline_ns;      /* 0 = 30 s */
    const char *const *environment; /* more "NAME=value" strings for the workers, ended by NULL, alive as long as the
                                       device; a driver's settings. NULL = none */
};

/* spec: "opencl[:platform[:device]]" (names or numbers), "plugin:FILE.so[:SPEC]", "reference". PW_ERR_TARGET when it
 * can't be used: the message lists what is there. "reference" has no workers: execute refuses. */
pw_status pw_device_open(const char *spec, const struct pw_device_options *options, struct pw_device **out,
                         struct pw_error *err);
void pw_device_close(struct pw_device *device);
const char *pw_device_spec(const struct pw_device *device);
bool pw_device_is_reference(const struct pw_device *device);
const struct pw_target_info *pw_device_info(const struct pw_device *device);
const struct pw_device_facts *pw_device_facts(const struct pw_device *device);
int pw_device_workers(const struct pw_device *device);
/* What its user should know, one sentence; "" nothing: the compile cache cannot be used. */
const char *pw_device_note(const struct pw_device *device);
const char *pw_device_library(const struct pw_device *device); /* name of the vendor library, or NULL */

/* ---- one execution ---- */

struct pw_exec_times {
    int64_t wall_ns; /* the worker's: first launch to sync; bounded above by parent_ns. Of a foreign kernel: our clock,
                        asking for the run until it says that it is done */
    int64_t device_ns; /* the target's own events; 0 unknown, as always of a foreign kernel */
    int64_t parent_ns; /* request to reply, our clock; of a foreign kernel without the pauses between its runs, in which
                          its outputs are looked at */
    int64_t build_ns;  /* compiling, when it was needed */
    int64_t fresh_ns;  /* of a foreign kernel: one run, its code made, on the alternates, which it has not seen; 0 = not
                          timed. Who keeps results for when the same inputs come again is quicker afterwards */
};

struct pw_exec_request {
    const struct pw_plan *plan;           /* from pw_kernel_plan; NULL with library */
    const struct pw_call *call;           /* for library calls and for messages */
    bool library;                         /* use the vendor's library */
    const struct pw_value *const *inputs; /* nominal dtypes; NULL = omitted */
    int input_count;
    const struct pw_value *const *alternate; /* timed runs take these and `inputs` in turns, these first, so that none
                                                sees what the one before it saw; same types; per input NULL = as in
                                                inputs. NULL: all runs take `inputs` */
    const bool *constant;     /* per input: packed buffers may be kept (keyed by content hash); may be NULL */
    struct pw_value *outputs; /* preallocated tensors (nominal dtypes) that receive the result; open dims of the call
                                 (pw_call_take_most) as large as they can be */
    int output_count;
    bool poison; /* fill outputs and scratch with a NaN-like pattern (varies by seed) first */
    uint64_t seed;
    int repeats;         /* timed launches after the first; 0 = just run once */
    int64_t *samples_ns; /* receives `repeats` wall times, may be NULL. Of a foreign kernel: means of batches, by our
                            clock */
    int64_t min_time_ns; /* keep repeating (up to `repeats`) until this much was measured; 0 = all repeats */
    size_t flush_bytes;  /* before each timed run the caches are emptied by passing over this much memory; 0 = not */
    int64_t deadline_ns; /* for running; building has 120 s of its own, but a library builds while it runs. 0 = 30 s,
                            and for a library 120 s more */
    bool exact_end; /* memory shared with the host ends at an inaccessible page to the byte, and so may begin at any
                       multiple of its element (else it is 64-byte aligned, as it is once more for a kernel that
                       faults for want of it); memory of the device's own ends with
                       the data, without a canary, for a target that checks bounds itself */
    bool unwritten; /* outputs and scratch in memory of the device's own begin as it makes them, never written: for a
                       target that notices reads of such */
    /* For tensors so large that nothing may hold them twice; NULL: none are. Input i
     * has been copied to where the worker sees it and is not looked at again: the caller may give it back. The
     * worker, and the memory that it shares, go when the outputs have come. Not together with exact_end, whose second
     * try reads the inputs again. */
    void (*taken)(void *user, int input);
    void *taken_user;
    const atomic_bool *cancel; /* set by another thread: PW_ERR_CANCELLED; may be NULL */
};

struct pw_exec_reply {
    struct pw_exec_times times;
    int sample_count;
    bool alternate_last; /* the outputs are of `alternate` */
    bool input_changed;  /* an input differed afterwards in the memory of the device */
    bool overrun;        /* a canary before or after an output or scratch buffer was overwritten */
    char where[128];     /* which buffer, and how far from it */
    int64_t found;       /* what a kernel found the data-dependent dim to be: for pw_call_cut, which checks it */
    struct pw_buf log;   /* build log when anything was built, and what the worker wrote to stderr, also when it died;
                            owned: pw_exec_reply_clear */
};

/* PW_OK, or PW_ERR_TARGET (build failed, launch failed: log holds it), PW_ERR_CRASH (signal named),
 * PW_ERR_TIMEOUT, PW_ERR_CANCELLED; PW_ERR_USAGE for a plan that cannot be launched (a local size that does
 * not divide the global one). On failure outputs are undefined. *reply is zeroed first. A launch with a
 * global size of 0 is done already. */
pw_status pw_device_execute(struct pw_device *device, const struct pw_exec_request *request,
                            struct pw_exec_reply *reply, struct pw_error *err);
void pw_exec_reply_clear(struct pw_exec_reply *reply);

/* Builds a program ahead of time (so that compiles go in parallel before the first launch). */
pw_status pw_device_build(struct pw_device *device, const struct pw_plan *plan, struct pw_buf *log,
                          struct pw_error *err);

/* Library support for a call: true/false with the reason. */
pw_status pw_device_library_supports(struct pw_device *device, const struct pw_call *call, bool *supported,
                                     struct pw_buf *why, struct pw_error *err);

/* All OpenCL platforms and devices as lines "opencl:0:0 <platform> / <device>" for env and errors. */
pw_status pw_device_list(struct pw_buf *out, struct pw_error *err);

/* The worker's entry (argv: "…", "--worker", "target"); returns the exit code, or ends the process. */
int pw_worker_main(int argc, char **argv);

#endif
