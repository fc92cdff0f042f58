/*
 * What a worker may do, from before it has seen a source or loaded a driver until its end. Called once,
 * in the worker, by the worker's main loop; nothing in the parent uses it.
 */
#ifndef PW_TARGET_SANDBOX_H
#define PW_TARGET_SANDBOX_H

#include <stdbool.h>

#include "base/error.h"

struct pw_sandbox_policy {
    const char *scratch_dir; /* the only folder that may be written (the compile cache), or NULL */
    const char *plugin;      /* shared object that will be loaded, or NULL */
    bool foreign;            /* kernels from outside will run here */
};

/* Cannot be undone. On an error the worker must not go on. */
pw_status pw_sandbox_enter(const struct pw_sandbox_policy *policy, struct pw_error *err);

#endif
