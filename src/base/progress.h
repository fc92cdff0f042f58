/*
 * How far a long piece of work is, for another thread to show, and a way to end it early.
 *
 * A thread binds a pw_progress to itself; code that it runs (reading a model, inferring, taking inventory) names the
 * phase it is in and counts steps. Where nothing is bound all of this does nothing, so libraries call it freely. The
 * fields are read from other threads with pw_progress_look, and `cancel` may be set by them.
 */
#ifndef PW_BASE_PROGRESS_H
#define PW_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct pw_progress {
    const char *phase;  /* what is done now: static text; NULL: it has not begun */
    const char *unit;   /* what is counted: "bytes", "nodes"; static */
    size_t done, total; /* of the phase; total 0: unknown */
    bool cancel;        /* asked to end */
};

void pw_progress_bind(struct pw_progress *progress); /* to this thread; NULL: none any more */
void pw_progress_phase(const char *phase, const char *unit, size_t total);
/* PW_ERR_CANCELLED once somebody has asked for the end. */
pw_status pw_progress_step(size_t count, struct pw_error *err);

/* From any thread: what it is at now; counts of one moment and a phase of the next may meet. */
void pw_progress_look(const struct pw_progress *progress, struct pw_progress *out);
void pw_progress_cancel(struct pw_progress *progress);

#endif
