#include "tui/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { LABEL = 10, WIDTH_MAX = 200, HEIGHT_MAX = 20 };

/* A cell of braille has 2 x 4 dots; the bit of each by column and row from the top. */
static const unsigned char dots[2][4] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};

struct plot {
    int width, height;
    unsigned char cells[HEIGHT_MAX][WIDTH_MAX];
    unsigned char rule[HEIGHT_MAX][WIDTH_MAX]; /* the limit's dots, kept apart: drawn where the series is not */
};

static bool usable(const struct pw_chart *chart, double value)
{
    return isfinite(value) && (!chart->logarithmic || value > 0);
}

static double scaled(const struct pw_chart *chart, double value)
{
    return chart->logarithmic ? log10(value) : value;
}

static bool find_range(const struct pw_chart *chart, double *low, double *high)
{
    bool any = false;

    for (size_t i = 0; i <= chart->count + chart->has_point; i++) {
        double value = i < chart->count ? chart->values[i] : i == chart->count ? chart->limit : chart->point;

        if (!usable(chart, value))
            continue;
        value = scaled(chart, value);
        *low = !any || value < *low ? value : *low;
        *high = !any || value > *high ? value : *high;
        any = true;
    }
    if (any && *high - *low < 1e-12 * (fabs(*high) + 1e-300)) { /* all alike: in the middle */
        double pad = chart->logarithmic ? 0.5 : fabs(*high) > 0 ? fabs(*high) / 2 : 1;

        *low -= pad;
        *high += pad;
    }
    return any;
}

static void dot(unsigned char cells[HEIGHT_MAX][WIDTH_MAX], int x, int y)
{
    cells[y / 4][x / 2] |= dots[x % 2][y % 4];
}

static int row_of(double value, double low, double high, int height)
{
    int y = (int)lround((high - value) / (high - low) * (4 * height - 1));

    return y < 0 ? 0 : y > 4 * height - 1 ? 4 * height - 1 : y;
}

static int column_of(size_t i, size_t count, int width)
{
    return count < 2 ? width : (int)((double)i / (double)(count - 1) * (2 * width - 1) + 0.5);
}

static void draw_series(const struct pw_chart *chart, struct plot *plot, double low, double high)
{
    int last_x = -1, last_y = 0;

    for (size_t i = 0; i < chart->count; i++) {
        int x = column_of(i, chart->count, plot->width), y;

        if (x > 2 * plot->width - 1)
            x = 2 * plot->width - 1;
        if (!usable(chart, chart->values[i])) {
            last_x = -1;
            continue;
        }
        y = row_of(scaled(chart, chart->values[i]), low, high, plot->height);
        if (last_x < 0)
            dot(plot->cells, x, y);
        for (int step = last_x; last_x >= 0 && step <= x; step++) /* a line from the former value */
            dot(plot->cells, step,
                x == last_x ? y : last_y + (int)lround((double)(y - last_y) * (step - last_x) / (x - last_x)));
        last_x = x;
        last_y = y;
    }
    if (usable(chart, chart->limit))
        for (int x = 0; x < 2 * plot->width; x += 4)
            dot(plot->rule, x, row_of(scaled(chart, chart->limit), low, high, plot->height));
}

static int position_column(const struct pw_chart *chart, double at, int width)
{
    double share = chart->count < 2 ? 0.5 : at / (double)(chart->count - 1);
    int column = (int)(share * (2 * width - 1) + 0.5);

    return column < 0 ? 0 : column > 2 * width - 1 ? 2 * width - 1 : column;
}

/* A line of every other dot, where the series leaves room. */
static void draw_flags(const struct pw_chart *chart, struct plot *plot)
{
    for (size_t f = 0; f < chart->flag_count; f++)
        for (int y = 0; y < 4 * plot->height; y += 2)
            dot(plot->rule, position_column(chart, chart->flags[f].at, plot->width), y);
}

/* The names below; where two would touch the later one stays. */
static void add_flags(const struct pw_chart *chart, int width, struct pw_lines *lines)
{
    int *at = pw_calloc(chart->flag_count + 1, sizeof *at), right = width + 12;

    pw_lines_add(lines, PW_STYLE_NORMAL, 0, "");
    for (size_t f = chart->flag_count; at && f-- > 0;) {
        int size = (int)pw_text_width(chart->flags[f].label);

        at[f] = position_column(chart, chart->flags[f].at, width) / 2;
        at[f] = at[f] + size > right - 1 ? (at[f] + 1 - size < 0 ? 0 : at[f] + 1 - size) : at[f];
        if (at[f] + size > right - 1)
            at[f] = -1;
        else
            right = at[f];
    }
    for (size_t f = 0; at && f < chart->flag_count; f++)
        if (at[f] >= 0)
            pw_lines_more(lines, PW_STYLE_BOLD, PW_CHART_LEFT + at[f], chart->flags[f].label);
    pw_free(at);
}

static void append_cell(struct pw_buf *row, unsigned char bits, bool ascii)
{
    char bytes[4];

    if (!bits)
        pw_buf_putc(row, ' ');
    else if (ascii) /* upper or lower half */
        pw_buf_putc(row, bits & 0x1b ? (bits & 0xe4 ? '|' : '\'') : '.');
    else
        pw_buf_append(row, bytes, pw_text_encode(bytes, 0x2800u + bits));
}

static void add_marks(const struct pw_chart *chart, int width, bool ascii, struct pw_lines *lines)
{
    struct pw_buf row = {0};
    int at = 0;

    for (size_t m = 0; m < chart->mark_count; m++) {
        int column = column_of(chart->marks[m], chart->count, width) / 2;

        if (column >= width)
            column = width - 1;
        for (; at < column; at++)
            pw_buf_putc(&row, ' ');
        if (at == column) {
            pw_buf_puts(&row, ascii ? "^" : "\u25b2");
            at++;
        }
    }
    pw_lines_add(lines, PW_STYLE_ACCENT, PW_CHART_LEFT, pw_buf_text(&row));
    pw_buf_clear(&row);
}

void pw_chart_add(const struct pw_chart *chart, bool ascii, struct pw_lines *lines)
{
    struct plot *plot = pw_calloc(1, sizeof *plot);
    double low = 0, high = 0;
    int point_x = -1, point_y = 0; /* in dots */

    if (!plot || !find_range(chart, &low, &high)) {
        pw_lines_addf(lines, PW_STYLE_DIM, 3, "%s: nothing measured yet", chart->title);
        pw_free(plot);
        return;
    }
    plot->width = chart->width < 8 ? 8 : chart->width > WIDTH_MAX ? WIDTH_MAX : chart->width;
    plot->height = chart->height < 2 ? 2 : chart->height > HEIGHT_MAX ? HEIGHT_MAX : chart->height;
    draw_series(chart, plot, low, high);
    draw_flags(chart, plot);
    if (chart->has_point && usable(chart, chart->point)) {
        point_x = position_column(chart, chart->point_at, plot->width);
        point_y = row_of(scaled(chart, chart->point), low, high, plot->height);
    }
    pw_lines_wrap(lines, PW_STYLE_BOLD, 3, chart->title);
    for (int y = 0; y < plot->height; y++) {
        struct pw_buf row = {0};
        double at = high - (high - low) * y / (plot->height - 1);
        char label[32] = "";

        if (y == 0 || y == plot->height - 1 || (plot->height > 4 && y == plot->height / 2))
            chart->label(label, sizeof label, chart->logarithmic ? pow(10, at) : at);
        for (int x = 0; x < plot->width && !(point_x >= 0 && y == point_y / 4 && x == point_x / 2); x++)
            append_cell(&row, plot->cells[y][x] ? plot->cells[y][x] : plot->rule[y][x], ascii);
        pw_lines_addf(lines, PW_STYLE_DIM, 3, "%*s", LABEL, label);
        pw_lines_more(lines, chart->style, PW_CHART_LEFT, pw_buf_text(&row));
        pw_buf_clear(&row);
        if (point_x < 0 || y != point_y / 4)
            continue;
        pw_lines_more(lines, PW_STYLE_BOLD, PW_CHART_LEFT + point_x / 2, ascii ? "O" : "\u25cf");
        for (int x = point_x / 2 + 1; x < plot->width; x++)
            append_cell(&row, plot->cells[y][x] ? plot->cells[y][x] : plot->rule[y][x], ascii);
        pw_lines_more(lines, chart->style, PW_CHART_LEFT + point_x / 2 + 1, pw_buf_text(&row));
        pw_buf_clear(&row);
    }
    if (chart->mark_count)
        add_marks(chart, plot->width, ascii, lines);
    if (chart->flag_count)
        add_flags(chart, plot->width, lines);
    pw_free(plot);
}
