#include "tui/lines.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"

enum { LINES_MAX = 1 << 20, NEEDLE_MAX = 128 };

void pw_lines_clear(struct pw_lines *lines)
{
    pw_buf_clear(&lines->text);
    pw_free(lines->spans);
    pw_free(lines->items);
    *lines = (struct pw_lines){0};
}

void pw_lines_begin(struct pw_lines *lines, int width)
{
    lines->text.size = 0;
    lines->text.failed = false;
    lines->count = lines->item_count = lines->span_count = 0;
    lines->failed = false;
    lines->width = width;
    lines->seen_first = lines->seen_rows = 0;
}

static bool grow(void **items, size_t *cap, size_t count, size_t size)
{
    size_t next = *cap ? *cap * 2 : 64;
    void *more;

    if (count < *cap)
        return true;
    more = next <= LINES_MAX ? pw_reallocarray(*items, next, size) : NULL;
    if (!more)
        return false;
    *items = more;
    *cap = next;
    return true;
}

static void add_span(struct pw_lines *lines, pw_style style, int column, const char *text, size_t size)
{
    struct pw_line_span *span;

    if (lines->failed || !grow((void **)&lines->spans, &lines->span_cap, lines->span_count, sizeof *lines->spans)) {
        lines->failed = true;
        return;
    }
    span = &lines->spans[lines->span_count++];
    *span = (struct pw_line_span){.offset = lines->text.size,
                                  .size = size,
                                  .column = (uint16_t)(column < 0       ? 0
                                                       : column > 60000 ? 60000
                                                                        : column),
                                  .style = (uint8_t)style};
    pw_buf_append(&lines->text, text, size);
    pw_buf_putc(&lines->text, '\0');
    lines->items[lines->item_count - 1].span_count++;
    lines->failed = lines->text.failed;
}

static bool add_item(struct pw_lines *lines, size_t skipped)
{
    if (lines->failed || !grow((void **)&lines->items, &lines->cap, lines->item_count, sizeof *lines->items)) {
        lines->failed = true;
        return false;
    }
    lines->items[lines->item_count++] =
        (struct pw_line){.first_span = lines->span_count, .skipped = skipped, .signature = -1};
    lines->count += skipped ? skipped : 1;
    return true;
}

static void add_line(struct pw_lines *lines, pw_style style, int indent, const char *text, size_t size)
{
    if (add_item(lines, 0) && size)
        add_span(lines, style, indent, text, size);
}

void pw_lines_add(struct pw_lines *lines, pw_style style, int indent, const char *text)
{
    add_line(lines, style, indent, text, strlen(text));
}

void pw_lines_addf(struct pw_lines *lines, pw_style style, int indent, const char *format, ...)
{
    struct pw_buf text = {0};
    va_list args;

    va_start(args, format);
    pw_buf_vprintf(&text, format, args);
    va_end(args);
    pw_lines_add(lines, style, indent, pw_buf_text(&text));
    pw_buf_clear(&text);
}

static int line_end(const struct pw_lines *lines, const struct pw_line *line)
{
    const struct pw_line_span *last;

    if (!line->span_count)
        return 0;
    last = &lines->spans[line->first_span + line->span_count - 1];
    return last->column + (int)pw_text_width(lines->text.data + last->offset);
}

void pw_lines_more(struct pw_lines *lines, pw_style style, int column, const char *text)
{
    int end;

    if (lines->failed || !lines->count)
        return;
    end = line_end(lines, &lines->items[lines->item_count - 1]);
    add_span(lines, style, column > end ? column : end, text, strlen(text));
}

void pw_lines_moref(struct pw_lines *lines, pw_style style, int column, const char *format, ...)
{
    struct pw_buf text = {0};
    va_list args;

    va_start(args, format);
    pw_buf_vprintf(&text, format, args);
    va_end(args);
    pw_lines_more(lines, style, column, pw_buf_text(&text));
    pw_buf_clear(&text);
}

void pw_lines_front(struct pw_lines *lines, size_t at, pw_style style, int column, const char *text)
{
    struct pw_line_span moved;
    struct pw_line *line;

    if (lines->failed || at >= lines->count)
        return;
    line = &lines->items[lines->item_count - 1]; /* spans are appended to the last line, then brought to their own */
    add_span(lines, style, column, text, strlen(text));
    if (lines->failed)
        return;
    line->span_count--;
    moved = lines->spans[lines->span_count - 1];
    line = &lines->items[at];
    memmove(&lines->spans[line->first_span + 1], &lines->spans[line->first_span],
            (lines->span_count - 1 - line->first_span) * sizeof moved);
    lines->spans[line->first_span] = moved;
    line->span_count++;
    for (size_t i = at + 1; i < lines->item_count; i++)
        lines->items[i].first_span++;
}

/* How much of a text of `left` bytes goes on a line of `room`. */
static size_t take_of(const char *text, size_t left, size_t room)
{
    size_t take = left < room ? left : room;

    if (take == left)
        return take;
    for (size_t i = take; i > take / 2; i--)
        if (text[i] == ' ' || text[i - 1] == ',') {
            take = i;
            break;
        }
    while (take > 1 && ((unsigned char)text[take] & 0xc0) == 0x80) /* not within a character */
        take--;
    return take;
}

static size_t room_of(const struct pw_lines *lines, int indent)
{
    return lines->width > indent + 9 ? (size_t)(lines->width - indent - 1) : 8;
}

void pw_lines_wrap(struct pw_lines *lines, pw_style style, int indent, const char *text)
{
    size_t room = room_of(lines, indent);

    for (size_t left = strlen(text), take; left && !lines->failed; text += take, left -= take) {
        take = take_of(text, left, room);
        add_line(lines, style, indent, text, take);
        while (take < left && text[take] == ' ')
            take++;
    }
}

size_t pw_lines_wrapped(const struct pw_lines *lines, int indent, const char *text)
{
    size_t room = room_of(lines, indent), count = 0;

    for (size_t left = strlen(text), take; left; text += take, left -= take, count++) {
        take = take_of(text, left, room);
        while (take < left && text[take] == ' ')
            take++;
    }
    return count;
}

void pw_lines_seen(const struct pw_lines *lines, size_t count, size_t *begin, size_t *end)
{
    size_t first = lines->seen_first, last = lines->seen_first + lines->seen_rows, at = lines->count;

    *begin = 0;
    *end = count;
    if (!lines->seen_rows)
        return;
    *begin = first <= at ? 0 : first - at < count ? first - at : count;
    *end = last <= at ? 0 : last - at < count ? last - at : count;
    *end = *end < *begin ? *begin : *end;
}

void pw_lines_skip(struct pw_lines *lines, size_t count)
{
    if (count && !lines->failed && lines->item_count && lines->items[lines->item_count - 1].skipped) {
        lines->items[lines->item_count - 1].skipped += count;
        lines->count += count;
    } else if (count) {
        add_item(lines, count);
    }
}

const struct pw_line *pw_lines_at(const struct pw_lines *lines, size_t at)
{
    size_t i = 0;

    if (lines->item_count == lines->count) /* nothing is skipped */
        return at < lines->count ? &lines->items[at] : NULL;
    for (; i < lines->item_count && at >= (lines->items[i].skipped ? lines->items[i].skipped : 1); i++)
        at -= lines->items[i].skipped ? lines->items[i].skipped : 1;
    return i < lines->item_count && !lines->items[i].skipped ? &lines->items[i] : NULL;
}

void pw_lines_head(struct pw_lines *lines, const char *title)
{
    if (lines->count)
        pw_lines_add(lines, PW_STYLE_NORMAL, 0, "");
    pw_lines_add(lines, PW_STYLE_BOLD, 1, title);
}

void pw_lines_about(struct pw_lines *lines, size_t signature)
{
    if (lines->count)
        lines->items[lines->item_count - 1].signature = (int)signature;
}

static void put_line(const struct pw_lines *lines, const struct pw_line *line, struct pw_buf *out)
{
    int at = 0;

    for (size_t n = 0; n < line->span_count; n++) {
        const struct pw_line_span *span = &lines->spans[line->first_span + n];
        const char *text = lines->text.data + span->offset;

        for (; at < span->column; at++)
            pw_buf_putc(out, ' ');
        pw_text_display(out, text, strlen(text), 0, false);
        at += (int)pw_text_width(text);
    }
    pw_buf_putc(out, '\n');
}

void pw_lines_text_part(const struct pw_lines *lines, size_t first, size_t count, struct pw_buf *out)
{
    size_t at = 0;

    for (size_t i = 0; i < lines->item_count; i++) {
        const struct pw_line *line = &lines->items[i];

        if (!line->skipped && at >= first && at - first < count)
            put_line(lines, line, out);
        at += line->skipped ? line->skipped : 1;
    }
}

void pw_lines_text(const struct pw_lines *lines, struct pw_buf *out)
{
    pw_lines_text_part(lines, 0, SIZE_MAX, out);
}

bool pw_lines_holds(const struct pw_lines *lines, size_t at, const char *needle)
{
    const struct pw_line *line = pw_lines_at(lines, at);

    for (size_t s = 0; line && s < line->span_count; s++)
        if (pw_text_find(lines->text.data + lines->spans[line->first_span + s].offset, needle))
            return true;
    return false;
}

int pw_lines_find(const struct pw_lines *lines, int from, int step, const char *needle)
{
    int count = (int)lines->count;

    if (!count || !needle[0])
        return -1;
    for (int tried = 0, at = ((from % count) + count) % count; tried < count; tried++, at = (at + step + count) % count)
        if (pw_lines_holds(lines, (size_t)at, needle))
            return at;
    return -1;
}

int pw_lines_end(const struct pw_lines *lines, size_t at)
{
    const struct pw_line *line = pw_lines_at(lines, at);

    return line ? line_end(lines, line) : 0;
}

/* How many columns the text takes up to one of its bytes. */
static int columns_before(const char *text, const char *end)
{
    int columns = 0;

    while (text < end) {
        uint32_t code;

        text += pw_text_decode(text, (size_t)(end - text), &code);
        columns += pw_text_width_code(code);
    }
    return columns;
}

int pw_lines_column(const struct pw_lines *lines, size_t at, const char *needle)
{
    const struct pw_line *line = pw_lines_at(lines, at);

    for (size_t s = 0; line && needle[0] && s < line->span_count; s++) {
        const struct pw_line_span *span = &lines->spans[line->first_span + s];
        const char *text = lines->text.data + span->offset, *found = pw_text_find(text, needle);

        if (found)
            return span->column + columns_before(text, found);
    }
    return -1;
}

static void mark_needle(struct pw_canvas *canvas, int row, int column, const char *text, const char *needle)
{
    size_t length = strlen(needle);

    for (const char *at = text; (at = pw_text_find(at, needle)) != NULL; at += length)
        pw_canvas_style(canvas, row, column + columns_before(text, at), columns_before(at, at + length),
                        PW_STYLE_SELECTED);
}

void pw_lines_draw(const struct pw_lines *lines, struct pw_canvas *canvas, int top, int rows, int first, int left,
                   const char *needle)
{
    size_t length = strlen(needle);

    for (int i = 0; i < rows && first + i < (int)lines->count; i++) {
        const struct pw_line *line = first + i < 0 ? NULL : pw_lines_at(lines, (size_t)(first + i));

        for (size_t s = 0; line && s < line->span_count; s++) {
            const struct pw_line_span *span = &lines->spans[line->first_span + s];
            const char *text = lines->text.data + span->offset;

            int column = span->column - left;

            pw_canvas_text(canvas, top + i, column, canvas->columns - column, (pw_style)span->style, text);
            if (length && length < NEEDLE_MAX)
                mark_needle(canvas, top + i, column, text, needle);
        }
        if (left > 0 && line && line_end(lines, line) > left)
            pw_canvas_text(canvas, top + i, 0, 1, PW_STYLE_DIM, canvas->ascii ? "<" : "\u2026");
    }
}
