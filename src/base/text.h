/*
 * Text: a growing buffer, safe display of foreign text, small string helpers.
 *
 * Names that come from a graph, a kernel's log or a plugin are data: whatever is
 * written to a terminal or a report goes through pw_text_display first, which
 * removes control characters, escape sequences, bidi controls and invalid UTF-8 and
 * shortens to a width in columns.
 */
#ifndef PW_BASE_TEXT_H
#define PW_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A growing, always NUL-terminated byte buffer. Zero-initialised is empty. A failed
 * append sets `failed`; later appends do nothing, so one check at the end is enough. */
struct pw_buf {
    char *data;  /* owned; NULL while empty */
    size_t size; /* bytes without the NUL */
    size_t cap;
    bool failed; /* memory ran out */
};

void pw_buf_append(struct pw_buf *buf, const char *bytes, size_t size);
void pw_buf_puts(struct pw_buf *buf, const char *s);
void pw_buf_putc(struct pw_buf *buf, char c);
void pw_buf_printf(struct pw_buf *buf, const char *format, ...) PW_PRINTF(2, 3);
void pw_buf_vprintf(struct pw_buf *buf, const char *format, va_list args);
void pw_buf_clear(struct pw_buf *buf);             /* frees */
const char *pw_buf_text(const struct pw_buf *buf); /* never NULL */

/* Appends `text` made safe: each control byte, invalid UTF-8 byte, and each of the
 * code points that move or reorder (C1, U+200B..U+200F, U+202A..U+202E,
 * U+2066..U+2069, U+FEFF) becomes '?' (tab and newline a space); longer than
 * max_columns is cut with '…' ("..." when ascii). max_columns 0 = no limit. */
void pw_text_display(struct pw_buf *out, const char *text, size_t size, size_t max_columns, bool ascii);

/* A cell of a table: `text` made safe, cut to `width` columns and padded with spaces, on the left when `right`. */
void pw_text_cell(struct pw_buf *out, const char *text, size_t width, bool right);

/* As pw_text_display, into the caller's array; returns dst. For printf arguments. */
const char *pw_text_show(char *dst, size_t dst_size, const char *text, size_t max_columns);

/* Columns of one code point (0 combining, 2 wide, else 1) and of a UTF-8 string. */
int pw_text_width_code(uint32_t code);
size_t pw_text_width(const char *text);

/* Decodes one code point; returns bytes used (1 for an invalid byte, code = 0xFFFD). */
size_t pw_text_decode(const char *text, size_t size, uint32_t *code);
/* The bytes of `text`, `most` of them at most, without the begin of a character at their end. */
size_t pw_text_cut(const char *text, size_t most);
/* The UTF-8 of a code point below 0x110000; returns its bytes (1 to 4). */
size_t pw_text_encode(char out[4], uint32_t code);

bool pw_text_starts(const char *text, const char *prefix);
bool pw_text_ends(const char *text, const char *suffix);
/* Where `part` begins in `text`, whatever the case of its ASCII letters; NULL: nowhere. An empty part is everywhere. */
const char *pw_text_find(const char *text, const char *part);

/* Whole-string integer / number parsing; false when anything is left over or out of range. */
bool pw_text_int64(const char *text, int64_t *out);
bool pw_text_double(const char *text, double *out);

/* "1.5 MiB", "3.21 GFLOP" style: value with SI or binary prefixes; into dst; returns dst. */
const char *pw_text_bytes(char *dst, size_t dst_size, double bytes);
const char *pw_text_si(char *dst, size_t dst_size, double value, const char *unit);
const char *pw_text_duration(char *dst, size_t dst_size, double seconds); /* "12.3 us", "1.2 s" */

/* The candidate nearest to `word` by edit distance (a third of its letters, 3 at most; not the case), or NULL: for "did
 * you mean". */
const char *pw_text_nearest(const char *word, const char *const *candidates, size_t count);

#endif
