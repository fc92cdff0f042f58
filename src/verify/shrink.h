/*
 * A failing case made small: dims one by one to 1, half, one less, then a simpler distribution and the graph's own
 * attributes, as long as it keeps failing. Bounded by attempts and time; what it ends with is a case like any other.
 */
#ifndef PW_VERIFY_SHRINK_H
#define PW_VERIFY_SHRINK_H

#include "verify/plan.h"
#include "verify/verify_internal.h"

/* Fills the shrunk_* fields of the run's result (texts in its arena) when something smaller fails too. */
pw_status pw_shrink(struct pw_case_run *run, struct pw_shapes *shapes, struct pw_error *err);

#endif
