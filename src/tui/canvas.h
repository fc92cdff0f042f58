/*
 * A canvas: a grid of glyphs and styles that views draw on and the terminal copies. Pure memory, no
 * curses; tests read it as text. Foreign text is made safe here, so that no view can forget it.
 */
#ifndef PW_TUI_CANVAS_H
#define PW_TUI_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

typedef enum {
    PW_STYLE_NORMAL,
    PW_STYLE_DIM,
    PW_STYLE_BOLD,
    PW_STYLE_TITLE,  /* the bar on top */
    PW_STYLE_HEADER, /* column heads */
    PW_STYLE_FOOTER,
    PW_STYLE_KEY,      /* a key's name in the footer */
    PW_STYLE_SELECTED, /* the row under the cursor */
    PW_STYLE_GOOD,
    PW_STYLE_WARN,
    PW_STYLE_BAD,
    PW_STYLE_ACCENT,
    PW_STYLE_COUNT
} pw_style;

struct pw_cell {
    uint32_t code; /* code point; 0: right half of a wide glyph */
    uint8_t style;
};

struct pw_canvas {
    int rows, columns;
    struct pw_cell *cells; /* owned, rows * columns */
    bool ascii;            /* no glyph beyond ASCII */
};

pw_status pw_canvas_resize(struct pw_canvas *canvas, int rows, int columns, struct pw_error *err);
void pw_canvas_clear(struct pw_canvas *canvas); /* frees */
void pw_canvas_erase(struct pw_canvas *canvas); /* blanks */

/* Draws made-safe text at (row, column), at most `width` columns (cut with an ellipsis); returns the columns used.
 * Outside the canvas nothing happens. */
int pw_canvas_text(struct pw_canvas *canvas, int row, int column, int width, pw_style style, const char *text);
int pw_canvas_right(struct pw_canvas *canvas, int row, int column, int width, pw_style style, const char *text);
int pw_canvas_printf(struct pw_canvas *canvas, int row, int column, int width, pw_style style, const char *format, ...)
    PW_PRINTF(6, 7);
void pw_canvas_fill(struct pw_canvas *canvas, int row, int column, int width, pw_style style, uint32_t code);
/* Changes the style of what is there. */
void pw_canvas_style(struct pw_canvas *canvas, int row, int column, int width, pw_style style);
/* A bar of `width` columns filled to share (0..1, more is full), in eighths where the terminal has the glyphs. */
void pw_canvas_bar(struct pw_canvas *canvas, int row, int column, int width, double share, pw_style style);

/* The canvas as lines of text without trailing blanks: for tests and scripts. */
void pw_canvas_dump(const struct pw_canvas *canvas, struct pw_buf *out);

#endif
