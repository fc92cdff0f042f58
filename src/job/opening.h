/*
 * Opening sessions on a thread of its own, so that the workbench is on the screen while a big model is read.
 *
 * One model, read once, and one session a target, in order. The client waits a moment (pw_opening_wait), shows the
 * progress meanwhile, and takes the sessions when the end has come. One client thread; the sessions belong to the
 * opening and end with it.
 */
#ifndef PW_JOB_OPENING_H
#define PW_JOB_OPENING_H

#include "base/progress.h"
#include "job/session.h"

struct pw_opening;

/* options: of the first session; targets replace their target, and only the first session follows the triage file. What
 * they point to must outlive the opening. */
pw_status pw_opening_start(const struct pw_session_options *options, const char *const *targets, size_t count,
                           struct pw_opening **out, struct pw_error *err);
/* True once all sessions are open, or one could not be; waits so long for it (negative: however long it takes). */
bool pw_opening_wait(struct pw_opening *opening, int64_t wait_ms);
int pw_opening_fd(const struct pw_opening *opening); /* readable from the end on */
void pw_opening_progress(const struct pw_opening *opening, struct pw_progress *out);
const char *pw_opening_path(const struct pw_opening *opening);                          /* of the model */
const char *const *pw_opening_targets(const struct pw_opening *opening, size_t *count); /* as they were given */
/* After the end: the sessions, one a target, or why there are none. */
pw_status pw_opening_sessions(struct pw_opening *opening, struct pw_session *const **sessions, struct pw_error *err);
/* Ends the reading if it still goes on, closes the sessions. NULL is fine. */
void pw_opening_close(struct pw_opening *opening);

#endif
