/*
 * Microbenchmarks: every signature of a graph on the target and on the fast reference, in turns. Emits events; knows
 * neither store nor screen. Runs on the caller's thread under the machine-wide timing lock; events come from it.
 */
#ifndef PW_BENCH_BENCH_H
#define PW_BENCH_BENCH_H

#include <stdatomic.h>

#include "bench/advice.h"
#include "bench/measure.h"
#include "bench/peaks.h"
#include "bench/roofline.h"
#include "bench/stats.h"
#include "verify/verify.h"

/* What is known of one signature. Numbers that are not are NaN. */
struct pw_bench_figure {
    size_t signature; /* index in the inventory */
    const struct pw_impl_list *implementations;
    const char *name;                          /* of what was timed: kernel or library; "" when nothing was */
    const char *skipped;                       /* why nothing was timed; NULL: it was */
    int slices;                                /* samples a side */
    struct pw_stats_summary target, reference; /* of the slices' medians, ns; count 0: not measured */
    const char *reference_name;                /* "openblas", "loops", "golden"; NULL: not measured */
    const char *reference_why;                 /* why not; NULL */
    struct pw_stats_interval speedup;          /* time of the reference / time of the target, of pairs of slices */
    double device_ns;                          /* the target's own clock; 0 unknown */
    double net_ns;                             /* the median less an empty launch; NaN when not known or below it */
    double flops, read_bytes, write_bytes, footprint;
    double flops_rate, bytes_rate; /* a second, of the median as measured */
    struct pw_roof roof;
    const struct pw_measure_result *target_raw, *reference_raw; /* raw samples; NULL when not measured */
    const char *suspicion;                                      /* why the figure is not believed; NULL: it is */
    const char *verified;                                       /* what verifying it again said; NULL: was not needed */
    struct pw_advice advice[PW_ADVICE_MAX];
    size_t advice_count;
};

struct pw_bench_report {
    struct pw_arena arena;
    struct pw_bench_figure *figures; /* in the order of the selection */
    size_t count;
    struct pw_measure **measures; /* own the raw samples */
    struct pw_peaks peaks;        /* count 0: not known */
    bool peaks_declared;          /* by the target, not measured */
    int peaks_rounds;             /* how often they were measured; the best of each kind and level counts */
    const char *peaks_why;        /* why not known; NULL */
    double launch_ns, timer_ns;   /* of an empty launch (NaN unknown), of reading the clock */
    bool cold;
    size_t flush_bytes;
    int slices, busy_slices;       /* begun, begun beside other work */
    const char *lock_note;         /* why the timing lock was not held; "" when it was */
    int64_t elapsed_ns, budget_ns; /* of measuring; 0 = no budget was given */
    size_t suspicious;
};

typedef enum {
    PW_BENCH_STARTED,   /* total = signatures that are timed */
    PW_BENCH_PEAKS,     /* the roof is known */
    PW_BENCH_SIGNATURE, /* a signature has its first slices: figure without advice */
    PW_BENCH_RESULT,    /* its last word */
    PW_BENCH_FINISHED
} pw_bench_event_kind;

struct pw_bench_event {
    pw_bench_event_kind kind;
    size_t done, total;                   /* signatures */
    const struct pw_bench_figure *figure; /* SIGNATURE, RESULT; valid during the call */
};
typedef void pw_bench_emit(void *user, const struct pw_bench_event *event);

typedef pw_status pw_bench_peaks(struct pw_device *device, int sample_count, const atomic_bool *cancel,
                                 struct pw_peaks *out, struct pw_error *err);

struct pw_bench_request {
    const struct pw_inventory *inventory; /* concrete (bindings applied) */
    const struct pw_kernels *kernels;
    struct pw_device *device;
    const struct pw_protocol *protocol;
    const size_t *signatures; /* selection; NULL = all */
    size_t signature_count;
    bool cold;        /* caches are emptied before each timed run */
    int64_t time_ns;  /* for measuring; 0: as long as intervals are wide, at most PW_BENCH_SLICES_MAX slices each */
    int64_t slice_ns; /* of timed runs in a slice; 0 = 2 ms */
    int slices_max;   /* without a budget; 0 = PW_BENCH_SLICES_MAX */
    int threads;      /* of the reference; 0 = all cores */
    bool no_peaks;    /* leave the roofline out: a few seconds */
    pw_bench_peaks *peaks; /* what measures them; NULL: pw_peaks_measure (tests put in another) */
    const char *lock;      /* timing lock; NULL = the machine's */
    int64_t lock_wait_ns;  /* 0 = 60 s */
    uint64_t seed;
    const atomic_bool *cancel;
    pw_bench_emit *emit;
    void *user;
};

#define PW_BENCH_SLICES_MAX 33
#define PW_BENCH_PRECISE 0.02 /* relative width of the median's interval that is good enough without a budget */

/* PW_OK also when single signatures could not be timed: they say why. The report is cleared by the caller, whatever
 * is returned. */
pw_status pw_bench_run(const struct pw_bench_request *request, struct pw_bench_report *report, struct pw_error *err);
void pw_bench_report_clear(struct pw_bench_report *report);

#endif
