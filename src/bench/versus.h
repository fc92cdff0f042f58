/*
 * Two implementations of a call run beside each other on the target, slice by slice in turns: what settles whether a
 * kernel is slower than it was. Runs on the caller's thread under the machine-wide timing lock.
 */
#ifndef PW_BENCH_VERSUS_H
#define PW_BENCH_VERSUS_H

#include <stdatomic.h>

#include "bench/measure.h"

#define PW_VERSUS_PAIRS_MIN 20
#define PW_VERSUS_PAIRS_MAX 120

struct pw_versus_item {
    const struct pw_signature *signature; /* concrete */
    const struct pw_impl *before, *now;
    /* Filled in: slice i of one belongs to slice i of the other; arrays live in the arena. */
    const double *before_ns, *now_ns;
    size_t count;
    const char *why; /* why there is nothing; NULL: there is */
};

struct pw_versus_request {
    struct pw_device *device;
    struct pw_versus_item *items;
    size_t count;
    int64_t time_ns; /* beyond the least number of pairs each, as many as fit; 0: the least */
    uint64_t seed;
    const atomic_bool *cancel;
};

/* PW_OK also when single items could not be run: they say why. */
pw_status pw_versus_run(const struct pw_versus_request *request, struct pw_arena *arena, struct pw_error *err);

#endif
