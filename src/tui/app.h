/* The workbench's loop: terminal, model and session put together. Returns the exit code's error, if any. */
#ifndef PW_TUI_APP_H
#define PW_TUI_APP_H

#include "job/session.h"

/* Runs until the user quits. color as for pw_term_open. The session stays the caller's. */
pw_status pw_app_run(struct pw_session *session, int color, struct pw_error *err);

#endif
