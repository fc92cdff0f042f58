/* The workbench's loop: terminal, model and session put together. Returns the exit code's error, if any. */
#ifndef PW_TUI_APP_H
#define PW_TUI_APP_H

#include "job/opening.h"

/* Runs until the user quits. A model that is read within a moment is there with the first paint, and what is wrong with
 * it is said before anything is painted; else the frame shows how far the reading is, and its failure ends the
 * workbench with the error. color as for pw_term_open. */
pw_status pw_app_run(struct pw_opening *opening, int color, struct pw_error *err);
/* Runs the lines of a script instead of a terminal's keys; what it prints goes to stdout. *failed: expectations that
 * did not hold, each said on stderr with the screen. Lines:
 *   size COLUMNS ROWS      before anything is drawn 80 24
 *   keys TEXT              plain characters, and <Enter> <Esc> <Tab> <S-Tab> <Up> <Down> <Left> <Right> <PgUp> <PgDn>
 *                          <Home> <End> <Backspace> <Space> <lt> <C-c>
 *   click ROW COLUMN       from 0
 *   wait [SECONDS] TEXT    until the screen shows TEXT (60 s at most when no number is given)
 *   shows TEXT, hides TEXT expectations
 *   screen                 prints the screen
 * Empty lines and those that begin with # are passed over. */
pw_status pw_app_script(struct pw_opening *opening, const char *path, bool ascii, int *failed, struct pw_error *err);

#define PW_APP_TARGETS 8

#endif
