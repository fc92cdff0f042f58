/*
 * Measuring one call: some sides (implementations on the target, the fast reference) in turns, slice by slice.
 *
 * A slice is one request to a worker: fresh inputs, one run to warm up, then timed runs that take two sets of inputs in
 * turns. Its median is one sample; slices of the sides alternate, forwards and backwards, so that what slows the
 * machine for a while slows all. Every slice waits for idle cores first. Timings are wall time around a completed
 * queue, taken in the worker and bounded by this process's clock.
 * One owner, one thread; the device's workers are used, so nothing else should use them meanwhile.
 */
#ifndef PW_BENCH_MEASURE_H
#define PW_BENCH_MEASURE_H

#include <stdatomic.h>

#include "bench/quiet.h"
#include "op/impl.h"
#include "run/reference_process.h"
#include "target/device.h"
#include "verify/inputs.h"

#define PW_MEASURE_SIDES 4
#define PW_MEASURE_RUNS_MAX 256 /* timed runs in a slice */
#define PW_MEASURE_SLICES_MIN 9

struct pw_measure_side {
    const struct pw_impl *impl; /* NULL: the fast reference */
    /* Repeats so much of the work's launches (0.2: a fifth more work), to make a kernel slower by a known amount in
     * studies; 0 everywhere else. */
    double extra_work;
};

struct pw_measure_request {
    const struct pw_signature *signature;
    struct pw_device *device;
    struct pw_reference_process *reference; /* needed by a reference side */
    struct pw_quiet *quiet;                 /* may be NULL: no waiting for idle cores */
    const struct pw_measure_side *sides;
    int side_count;
    int64_t slice_ns;   /* timed runs of a slice last about so long; 0 = 2 ms */
    size_t flush_bytes; /* cold: caches are emptied before each timed run; 0 = hot */
    uint64_t seed;
    const atomic_bool *cancel;
};

/* What one side gave. Arrays belong to the measurement. */
struct pw_measure_result {
    int64_t *runs_ns; /* raw: runs of slice 0, then slice 1…; `runs_per_slice` each */
    int runs_per_slice;
    double *slices_ns; /* medians of the slices: the samples */
    int slices;
    const char *reference_name; /* "openblas", "loops", "golden"; NULL on the target */
    double device_ns;           /* median of the target's own clock; 0 unknown */
    int64_t build_ns;           /* compiling, in the first slice */
    double outside_ns; /* a run's time as this process's clock sees it, from slices of unlike length; NaN unknown */
    double fresh_ns;   /* the quickest run of a foreign kernel on inputs that it had not seen; NaN unknown */
    bool failed;
    struct pw_error error; /* of a side that failed: it is left out from then on */
    struct pw_buf log;     /* build log; owned */
};

struct pw_measure;

/* Draws nothing and runs nothing yet. */
pw_status pw_measure_create(const struct pw_measure_request *request, struct pw_measure **out, struct pw_error *err);
void pw_measure_destroy(struct pw_measure *measure);

/* Measures `count` more slices of each side. The first call also runs each side once to see how long it takes.
 * A side that fails is marked and left out; the error is of this process's own trouble, or cancelled. */
pw_status pw_measure_slices(struct pw_measure *measure, int count, struct pw_error *err);
const struct pw_measure_result *pw_measure_result(const struct pw_measure *measure, int side);
/* Frees inputs and outputs; the next slices draw them again. Results stay. */
void pw_measure_rest(struct pw_measure *measure);
size_t pw_measure_bytes(const struct pw_measure *measure); /* held by inputs and outputs; 0 when resting */

/* The concrete call and what its runs touch; valid until pw_measure_rest. */
const struct pw_call *pw_measure_call(const struct pw_measure *measure);
const struct pw_plan *pw_measure_plan(const struct pw_measure *measure, int side); /* NULL: a library, or resting */
const bool *pw_measure_constant(const struct pw_measure *measure);                 /* per input; NULL: resting */
struct pw_measure_traffic {
    double read_bytes, write_bytes; /* of one run */
    double footprint;               /* of two runs in turn: both sets of inputs, the outputs */
};
void pw_measure_traffic(const struct pw_measure *measure, struct pw_measure_traffic *out);

/* Runs a side of the target once more, untimed and into poisoned outputs, on what the last timed run of it had, and
 * compares: *error is the largest hybrid error between the two (tensor/compare.h), infinity for a mismatch. A timed
 * run that did not do the work shows here. */
pw_status pw_measure_recheck(struct pw_measure *measure, int side, double *error, struct pw_error *err);

/* Median of an empty launch on the device; NaN when it cannot be had (no OpenCL). */
double pw_measure_launch_ns(struct pw_device *device, const atomic_bool *cancel);
/* What reading the clock costs. */
double pw_measure_timer_ns(void);
/* Bytes to pass over so that no cache of this machine or device keeps anything. */
size_t pw_measure_flush_bytes(const struct pw_target_info *info);

#endif
