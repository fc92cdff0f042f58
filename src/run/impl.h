/*
 * Where a call runs: the implementations that could serve it on a target, and the one that is selected. Coverage
 * (inventory, check, the workbench) and placement (cases, timing, whole graphs) both come from here, so what is said
 * of a call is what is done with it. Any thread.
 */
#ifndef PW_RUN_IMPL_H
#define PW_RUN_IMPL_H

#include "op/impl.h"
#include "target/device.h"

/* Which implementations serve a concrete call. Lists in the arena. */
pw_status pw_impl_find(const struct pw_call *call, const struct pw_kernels *kernels, struct pw_device *device,
                       struct pw_arena *arena, struct pw_impl_list *out, struct pw_error *err);
/* The same selection for a call that is to run now: the library, which costs a question to the worker, is asked only
 * where no kernel serves, and is missing from the list otherwise. */
pw_status pw_impl_place(const struct pw_call *call, const struct pw_kernels *kernels, struct pw_device *device,
                        struct pw_arena *arena, struct pw_impl_list *out, struct pw_error *err);
/* Selects the host where there is one: for shape arithmetic, whose few integers the host needs to set up launches,
 * so that a round trip through the device would only cost. reason: static text. */
void pw_impl_keep_on_host(struct pw_impl_list *list, const char *reason);
#define PW_IMPL_SHAPE_ARITHMETIC "shape arithmetic: the host needs it to set up launches"

#endif
