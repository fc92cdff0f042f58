/*
 * The terminal: copies a canvas to the screen and turns keys, mouse and resize into inputs. One
 * implementation (ncurses); nothing else includes curses. UI thread only. The terminal is restored by
 * pw_term_close, and by handlers on SIGTERM, SIGHUP, SIGINT, fatal signals and around SIGTSTP.
 */
#ifndef PW_TUI_TERM_H
#define PW_TUI_TERM_H

#include "tui/canvas.h"
#include "tui/tui.h"

/* color: -1 as the terminal and NO_COLOR say, 0 never, 1 always where there is any. */
pw_status pw_term_open(int color, struct pw_error *err);
void pw_term_close(void);
void pw_term_size(int *rows, int *columns);
bool pw_term_ascii(void); /* the locale has no UTF-8 */
/* Paints what differs from the last canvas; all: everything. */
void pw_term_paint(const struct pw_canvas *canvas, bool all);
/* Runs an editor on a file in this terminal and takes the terminal back: $VISUAL, $EDITOR or vi. Its exit status, or
 * -1 with the reason. While it runs, meanwhile is called again and again: it waits a little for something to do, does
 * it and paints nothing. The caller paints everything afterwards. */
typedef void pw_term_meanwhile(void *user);
int pw_term_edit(const char *path, pw_term_meanwhile *meanwhile, void *user, struct pw_error *err);
/* Puts text on the clipboard of whoever sits at the terminal (OSC 52, through tmux too). */
void pw_term_copy(const char *text);
/* Next input without waiting; false: none. *resized is set when the size changed. */
bool pw_term_next(struct pw_input *input, bool *resized);
/* True once a signal asks to end (SIGTERM, SIGHUP, SIGINT); the number in *number. */
bool pw_term_ended(int *number);
/* Readable when a signal came that poll() should wake for. */
int pw_term_fd(void);

#endif
