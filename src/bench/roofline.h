/*
 * The roofline: how fast a call could be at most on the measured device, and what holds it back. Pure functions of
 * the peaks, the call's FLOPs and bytes, and the memory that its runs touch. Thread-safe.
 */
#ifndef PW_BENCH_ROOFLINE_H
#define PW_BENCH_ROOFLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/peaks.h"

typedef enum { PW_BOUND_UNKNOWN, PW_BOUND_COMPUTE, PW_BOUND_MEMORY, PW_BOUND_LAUNCH, PW_BOUND_COUNT } pw_bound;
const char *pw_bound_name(pw_bound bound); /* "compute", "memory", "launch", "unknown" */

struct pw_roof_request {
    double flops;       /* that the algorithm requires; NaN unknown */
    double read_bytes;  /* inputs, each once */
    double write_bytes; /* outputs */
    double footprint;   /* bytes that successive runs touch together: decides the level */
    bool cold;          /* inputs come from memory, whatever the footprint */
    double latency_ns;  /* measured */
    double launch_ns;   /* an empty launch; NaN unknown */
    double flop_scale;  /* peak of the call's dtype relative to float32: 0.5 for float64 */
};

struct pw_roof {
    const char *level; /* "L2"…; NULL: no peaks */
    double compute_ns; /* least time for the FLOPs; NaN unknown */
    double memory_ns;  /* least time for the bytes at that level and mix */
    double roof_ns;    /* the larger of them; NaN unknown */
    double share;      /* roof_ns / latency_ns: 1 is the roof */
    pw_bound bound;    /* of the roof; launch: an empty launch takes half of the latency or more */
    bool above;        /* faster than the upper quartiles of the peaks allow: not to be believed */
};

void pw_roofline(const struct pw_peaks *peaks, const struct pw_roof_request *request, struct pw_roof *out);

/* Peaks from what the target declares of itself, where none can be measured (0: unknown). */
void pw_roofline_declared(const struct pw_target_info *info, struct pw_peaks *out);

#endif
