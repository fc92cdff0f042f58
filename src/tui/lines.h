/*
 * A screen of lines: styled text that scrolls, is searched and is drawn through a window. Views append, the frame
 * draws; so every such screen scrolls, wraps and finds alike. Memory only; UI thread.
 */
#ifndef PW_TUI_LINES_H
#define PW_TUI_LINES_H

#include "tui/canvas.h"

struct pw_line_span {
    size_t offset, size; /* in the text */
    uint16_t column;     /* where it begins */
    uint8_t style;
};

struct pw_line {
    size_t first_span, span_count;
    size_t skipped; /* not 0: stands for so many lines that nobody looks at */
    int signature;  /* the signature that the line is about: Enter opens it; -1 none */
};

struct pw_lines {
    struct pw_buf text;
    struct pw_line_span *spans; /* owned */
    size_t span_count, span_cap;
    struct pw_line *items; /* owned */
    size_t item_count, cap;
    size_t count;                 /* lines, those that are skipped among them */
    int width;                    /* columns to wrap at, set by the frame before a view fills it */
    size_t seen_first, seen_rows; /* lines that will be looked at; seen_rows 0: all. A view of very many lines may
                                     pass over the others (pw_lines_skip) */
    bool failed;                  /* memory ran out; later appends do nothing */
};

void pw_lines_clear(struct pw_lines *lines);            /* frees */
void pw_lines_begin(struct pw_lines *lines, int width); /* empties, keeps the memory; all lines are looked at */

/* A new line; text at `indent`. The text is made safe when drawn. */
void pw_lines_add(struct pw_lines *lines, pw_style style, int indent, const char *text);
void pw_lines_addf(struct pw_lines *lines, pw_style style, int indent, const char *format, ...) PW_PRINTF(4, 5);
/* More text on the last line, from a column on (at least behind what is there). */
void pw_lines_more(struct pw_lines *lines, pw_style style, int column, const char *text);
void pw_lines_moref(struct pw_lines *lines, pw_style style, int column, const char *format, ...) PW_PRINTF(4, 5);
/* Text in front of what line `at` holds, which must leave room; no line may have been skipped. */
void pw_lines_front(struct pw_lines *lines, size_t at, pw_style style, int column, const char *text);
/* Long text over several lines, broken at blanks and commas. */
void pw_lines_wrap(struct pw_lines *lines, pw_style style, int indent, const char *text);
/* How many lines pw_lines_wrap makes of the text. */
size_t pw_lines_wrapped(const struct pw_lines *lines, int indent, const char *text);
/* The lines [*begin, *end) of a block of `count` lines that comes next which will be looked at. */
void pw_lines_seen(const struct pw_lines *lines, size_t count, size_t *begin, size_t *end);
void pw_lines_skip(struct pw_lines *lines, size_t count); /* lines that nobody looks at */
/* Line `at`; NULL: there is none, or nobody looks at it. */
const struct pw_line *pw_lines_at(const struct pw_lines *lines, size_t at);
/* An empty line and a title. */
void pw_lines_head(struct pw_lines *lines, const char *title);
/* The last line is about this signature. */
void pw_lines_about(struct pw_lines *lines, size_t signature);

/* Lines [first, first + count) as plain text, made safe; those that are skipped are left out. */
void pw_lines_text_part(const struct pw_lines *lines, size_t first, size_t count, struct pw_buf *out);
void pw_lines_text(const struct pw_lines *lines, struct pw_buf *out); /* all of them */
/* Whether line `at` holds `needle` in any case; one that is skipped does not. */
bool pw_lines_holds(const struct pw_lines *lines, size_t at, const char *needle);
/* The first line from `from` on (wrapping round, step 1 or -1) that holds `needle` in any case; -1: none. */
int pw_lines_find(const struct pw_lines *lines, int from, int step, const char *needle);
/* The column behind the last glyph of line `at`; 0 when there is none, or nobody looks at it. */
int pw_lines_end(const struct pw_lines *lines, size_t at);
/* The column at which line `at` holds `needle` in any case; -1: it does not. */
int pw_lines_column(const struct pw_lines *lines, size_t at, const char *needle);
/* Draws lines [first, first + rows) from row `top` on, without their first `left` columns; occurrences of `needle` (may
 * be "") are marked. */
void pw_lines_draw(const struct pw_lines *lines, struct pw_canvas *canvas, int top, int rows, int first, int left,
                   const char *needle);

#endif
