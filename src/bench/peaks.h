/*
 * What a device can do at most: fused multiply-adds a second, and bytes a second read, written and copied
 * at each level of the memory. Measured with small OpenCL kernels through the ordinary pool; rooflines and
 * `portwright env` are the users. Needs a device that accepts OpenCL C. Not for two threads at once on one
 * device, whose results would disturb each other.
 */
#ifndef PW_BENCH_PEAKS_H
#define PW_BENCH_PEAKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "target/device.h"

#define PW_PEAKS_MAX 24
#define PW_PEAKS_LEVELS 4

typedef enum { PW_PEAK_FMA, PW_PEAK_READ, PW_PEAK_WRITE, PW_PEAK_COPY, PW_PEAK_COUNT } pw_peak_kind;

struct pw_peak {
    pw_peak_kind kind;
    const char *level;         /* "L1", "L2", "L3", "memory"; "registers" for FMA. Static text */
    int64_t working_set_bytes; /* of all compute units together; 0 for FMA */
    double median;             /* per second: FLOP (a multiply-add is 2) or bytes (a copied byte counts twice) */
    double low, high;          /* quartiles of the samples */
    int samples;
};

struct pw_peaks {
    struct pw_peak items[PW_PEAKS_MAX];
    size_t count;
};

/* A level: its name and the bytes that all compute units together use to stay inside it. */
struct pw_peaks_level {
    const char *name;
    int64_t bytes;
};

/* Levels of this machine's CPU (half of each cache), or for other devices one small set and the memory. Returns how
 * many; levels has room for PW_PEAKS_LEVELS. */
int pw_peaks_levels(const struct pw_target_info *info, struct pw_peaks_level *levels);

/* A few seconds. sample_count 0 = 15. cancel may be NULL. */
pw_status pw_peaks_measure(struct pw_device *device, int sample_count, const atomic_bool *cancel, struct pw_peaks *out,
                           struct pw_error *err);

/* Of two measurements of one device the better figure of each kind and level: other work only ever makes a peak look
 * lower. */
void pw_peaks_best(struct pw_peaks *best, const struct pw_peaks *again);

const char *pw_peak_name(pw_peak_kind kind); /* "fma", "read", "write", "copy" */

/* The best median of a kind, at a level or (NULL) at any; NULL when it was not measured. */
const struct pw_peak *pw_peaks_find(const struct pw_peaks *peaks, pw_peak_kind kind, const char *level);

#endif
