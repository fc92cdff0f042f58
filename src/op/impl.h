/*
 * Implementations of a call on a target: what could serve it, why not, and which is selected.
 * All are kept: a porter wants to see the library beside the kernel.
 */
#ifndef PW_OP_IMPL_H
#define PW_OP_IMPL_H

#include "op/kernel.h"

typedef enum {
    PW_COVERAGE_LIBRARY,
    PW_COVERAGE_KERNEL,
    PW_COVERAGE_GENERATED,
    PW_COVERAGE_HOST,
    PW_COVERAGE_MISSING, /* neither target nor reference knows it */
    PW_COVERAGE_COUNT
} pw_coverage;
const char *pw_coverage_name(pw_coverage coverage);

struct pw_impl {
    pw_coverage kind;
    const struct pw_kernel *kernel; /* KERNEL, GENERATED */
    const char *name;               /* kernel, library or "reference" */
    bool supported;
    const char *why; /* reason when not supported; why host; in the arena */
    int64_t priority;
};

struct pw_impl_list {
    struct pw_impl *items; /* in the arena */
    size_t count;
    int selected;         /* index, -1 = missing */
    pw_coverage coverage; /* of the selected */
    bool library_exists;
    /* Floating-point work that no library or kernel serves; never on the reference, which is the host itself. */
    bool kernel_required;
    const char *reason; /* one sentence for the coverage */
};

#endif
