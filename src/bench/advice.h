/*
 * Advice: what to try for one signature, from what was measured and what the device is. A table of rules over plain
 * facts; each piece of advice carries the figures that led to it. Pure, thread-safe.
 */
#ifndef PW_BENCH_ADVICE_H
#define PW_BENCH_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/roofline.h"
#include "op/impl.h"

#define PW_ADVICE_MAX 6
#define PW_ADVICE_TEXT 240

struct pw_advice {
    const char *rule; /* "launch-bound", … static */
    char what[PW_ADVICE_TEXT];
    char figures[PW_ADVICE_TEXT];
};

/* Unknown: NaN, 0 or NULL. */
struct pw_advice_facts {
    pw_coverage coverage;
    const char *coverage_reason;
    bool library_exists; /* and is supported, but not selected */

    double latency_ns, low_ns, high_ns; /* interval of the median */
    double reference_ns;
    const char *reference_name;
    double flops, read_bytes, write_bytes;
    struct pw_roof roof;
    double launch_ns; /* an empty launch */

    int launches;         /* in a run, packing of constants aside */
    int pack_launches;    /* that run every time, because what they pack is no constant */
    double work_groups;   /* of the launch with the most work-items */
    double group_items;   /* work-items of a group there; 0: the runtime chooses */
    double scratch_bytes; /* written and read again between launches */
    const char *options;  /* build options of that launch's program */
    const char *log;      /* of the build */

    uint32_t compute_units, vector_width, work_group_multiple;
    bool is_cpu;
};

/* Takes what the plan says (launches, groups, scratch, options). */
void pw_advice_plan(struct pw_advice_facts *facts, const struct pw_plan *plan, const bool *constant);
/* The rules that apply, most telling first; returns how many. */
size_t pw_advise(const struct pw_advice_facts *facts, struct pw_advice out[PW_ADVICE_MAX]);

#endif
