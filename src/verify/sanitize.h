/*
 * Kernels under a simulator that watches every access: Oclgrind as one more OpenCL platform. Tiny shapes only, since it
 * does half a million operations a second.
 *
 * For each kernel the rooms' own cases are tried that it serves, as a CPU would be given it and as a GPU would
 * (work-groups, local memory, barriers), until each program of it and each way of launching it has run. What the
 * simulator complains about is a finding, with the place in the source. Values are not looked at here: verify does
 * that.
 */
#ifndef PW_VERIFY_SANITIZE_H
#define PW_VERIFY_SANITIZE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "op/kernel.h"

typedef enum {
    PW_FINDING_BOUNDS,        /* a read or write outside a buffer, or to one that is read-only */
    PW_FINDING_RACE,          /* two work-items on one place, of which one writes */
    PW_FINDING_UNINITIALISED, /* a decision or an address that depends on what was never written */
    PW_FINDING_DIVERGENCE,    /* a barrier that not all of a work-group reach */
    PW_FINDING_OTHER,         /* anything else that it complains about */
    PW_FINDING_RUN,           /* it did not run: build failed, crash, timeout */
    PW_FINDING_COUNT
} pw_finding_kind;
const char *pw_finding_name(pw_finding_kind kind); /* "data race" … */

struct pw_finding {
    pw_finding_kind kind;
    const char *kernel;    /* name of the description */
    const char *path;      /* of its YAML */
    const char *entry;     /* kernel function, "" unknown */
    const char *file;      /* source, "" unknown */
    int line;              /* in it; 0 unknown */
    const char *case_name; /* the room's case */
    const char *shape;     /* "cpu" or "gpu": how it was launched */
    const char *text;      /* what the simulator said */
};

struct pw_sanitize_request {
    const struct pw_kernels *kernels;
    const char *part; /* only kernels, or operators that they serve, whose name has this in it; NULL = all */
    bool (*wants)(void *user, const struct pw_op *op); /* only what serves such an operator; NULL = all */
    bool thorough;                                     /* every case that is small enough, not a choice of them */
    int jobs;                                          /* 0 = one a core */
    const atomic_bool *cancel;
    /* A place in the source is reported once a kernel. Called by one thread at a time; may be NULL. */
    void (*found)(void *user, const struct pw_finding *finding);
    void (*progress)(void *user, size_t done, size_t total);
    void (*without)(void *user, const struct pw_kernel *kernel); /* none of the cases is small enough; may be NULL */
    void *user;
};

struct pw_sanitize_totals {
    size_t kernels;     /* asked for */
    size_t kernels_ran; /* with at least one case */
    size_t runs;        /* cases times ways of launching */
    size_t findings;    /* told to `found` */
    size_t per_kind[PW_FINDING_COUNT];
};

/* Path of the simulator's OpenCL library, or NULL when it is not installed. PORTWRIGHT_OCLGRIND names another. */
const char *pw_sanitize_library(void);

/* PW_ERR_TARGET when the simulator is not there or does not open. Findings are no error. */
pw_status pw_sanitize(const struct pw_sanitize_request *request, struct pw_sanitize_totals *totals,
                      struct pw_error *err);

#endif
