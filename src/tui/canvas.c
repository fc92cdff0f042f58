#include "tui/canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define MAX_SIDE 4096

pw_status pw_canvas_resize(struct pw_canvas *canvas, int rows, int columns, struct pw_error *err)
{
    struct pw_cell *cells;

    if (rows < 1 || columns < 1 || rows > MAX_SIDE || columns > MAX_SIDE)
        return pw_error_set(err, PW_ERR_USAGE, "a terminal of %d rows and %d columns", rows, columns);
    cells = pw_reallocarray(canvas->cells, (size_t)rows * (size_t)columns, sizeof *cells);
    if (!cells)
        return pw_error_memory(err, (size_t)rows * (size_t)columns * sizeof *cells);
    canvas->cells = cells;
    canvas->rows = rows;
    canvas->columns = columns;
    pw_canvas_erase(canvas);
    return PW_OK;
}

void pw_canvas_clear(struct pw_canvas *canvas)
{
    pw_free(canvas->cells);
    memset(canvas, 0, sizeof *canvas);
}

void pw_canvas_erase(struct pw_canvas *canvas)
{
    for (int i = 0; i < canvas->rows * canvas->columns; i++)
        canvas->cells[i] = (struct pw_cell){.code = ' ', .style = PW_STYLE_NORMAL};
}

static struct pw_cell *cell_at(const struct pw_canvas *canvas, int row, int column)
{
    if (row < 0 || column < 0 || row >= canvas->rows || column >= canvas->columns)
        return NULL;
    return &canvas->cells[row * canvas->columns + column];
}

/* A glyph of two columns of which one is drawn over leaves a blank in the other. */
static void blank_halves(struct pw_canvas *canvas, int row, int first, int last)
{
    struct pw_cell *cell = cell_at(canvas, row, first), *left = cell_at(canvas, row, first - 1);
    struct pw_cell *behind = cell_at(canvas, row, last + 1);

    if (cell && !cell->code && left)
        left->code = ' ';
    if (behind && !behind->code)
        behind->code = ' ';
}

static void put(struct pw_canvas *canvas, int row, int column, int glyph_columns, uint32_t code, pw_style style)
{
    struct pw_cell *cell = cell_at(canvas, row, column);
    struct pw_cell *right = glyph_columns == 2 ? cell_at(canvas, row, column + 1) : NULL;

    if (!cell)
        return;
    if (glyph_columns == 2 && !right)
        code = ' '; /* half a glyph does not fit */
    blank_halves(canvas, row, column, right ? column + 1 : column);
    cell->code = code;
    cell->style = (uint8_t)style;
    if (right) {
        right->code = 0;
        right->style = (uint8_t)style;
    }
}

int pw_canvas_text(struct pw_canvas *canvas, int row, int column, int width, pw_style style, const char *text)
{
    struct pw_buf safe = {0};
    const char *p;
    size_t left;
    int used = 0;

    if (width <= 0 || !text || !text[0])
        return 0;
    pw_text_display(&safe, text, strlen(text), (size_t)width, canvas->ascii);
    p = pw_buf_text(&safe);
    left = safe.size;
    while (left && used < width) {
        uint32_t code;
        size_t bytes = pw_text_decode(p, left, &code);
        int columns = pw_text_width_code(code);

        if (canvas->ascii && code > 0x7e) {
            code = '?';
            columns = 1;
        }
        if (columns > 0) { /* combining marks are dropped: a cell holds one code point */
            put(canvas, row, column + used, columns, code, style);
            used += columns;
        }
        p += bytes;
        left -= bytes;
    }
    pw_buf_clear(&safe);
    return used;
}

int pw_canvas_right(struct pw_canvas *canvas, int row, int column, int width, pw_style style, const char *text)
{
    int used = (int)pw_text_width(text);

    if (used > width)
        used = width;
    pw_canvas_text(canvas, row, column + width - used, used, style, text);
    return width;
}

int pw_canvas_printf(struct pw_canvas *canvas, int row, int column, int width, pw_style style, const char *format, ...)
{
    struct pw_buf text = {0};
    va_list args;
    int used;

    va_start(args, format);
    pw_buf_vprintf(&text, format, args);
    va_end(args);
    used = pw_canvas_text(canvas, row, column, width, style, pw_buf_text(&text));
    pw_buf_clear(&text);
    return used;
}

void pw_canvas_fill(struct pw_canvas *canvas, int row, int column, int width, pw_style style, uint32_t code)
{
    for (int i = 0; i < width; i++)
        put(canvas, row, column + i, 1, code, style);
}

void pw_canvas_style(struct pw_canvas *canvas, int row, int column, int width, pw_style style)
{
    for (int i = 0; i < width; i++) {
        struct pw_cell *cell = cell_at(canvas, row, column + i);

        if (cell)
            cell->style = (uint8_t)style;
    }
}

void pw_canvas_bar(struct pw_canvas *canvas, int row, int column, int width, double share, pw_style style)
{
    int eighths;

    if (!(share > 0))
        share = 0;
    if (share > 1)
        share = 1;
    eighths = (int)(share * width * 8 + 0.5);
    for (int i = 0; i < width; i++) {
        int here = eighths - 8 * i;
        uint32_t code = 0x00b7; /* empty: a middle dot; full: U+2588; between: U+2589 to U+258F */

        if (canvas->ascii)
            code = here >= 4 ? '#' : '.';
        else if (here > 0)
            code = here >= 8 ? 0x2588 : (uint32_t)(0x2590 - here);
        put(canvas, row, column + i, 1, code, here > 0 ? style : PW_STYLE_DIM);
    }
}

void pw_canvas_dump(const struct pw_canvas *canvas, struct pw_buf *out)
{
    for (int row = 0; row < canvas->rows; row++) {
        const struct pw_cell *cells = &canvas->cells[row * canvas->columns];
        int last = canvas->columns;
        char bytes[256]; /* appended together: an export has millions of cells */
        size_t size = 0;

        while (last > 0 && cells[last - 1].code == ' ')
            last--;
        for (int i = 0; i < last; i++) {
            if (size > sizeof bytes - 4) {
                pw_buf_append(out, bytes, size);
                size = 0;
            }
            if (cells[i].code)
                size += pw_text_encode(bytes + size, cells[i].code);
        }
        pw_buf_append(out, bytes, size);
        pw_buf_putc(out, '\n');
    }
}
