#include "report/model_svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/check.h"

enum { WIDTH = 860, LABEL = 190, ROW = 20, ROWS_MAX = 80 };

static void begin(struct pw_buf *out, int width, int height, const char *title)
{
    pw_buf_printf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", width, height);
    pw_report_xml_text(out, title);
    pw_buf_puts(out, "\"><title>");
    pw_report_xml_text(out, title);
    pw_buf_puts(out, "</title>\n");
}

static void text(struct pw_buf *out, double x, double y, const char *class, const char *words, size_t columns)
{
    struct pw_buf cut = {0};

    pw_text_display(&cut, words, strlen(words), columns, false);
    pw_buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    pw_report_xml_text(out, pw_buf_text(&cut));
    pw_buf_puts(out, "</text>\n");
    pw_buf_clear(&cut);
}

static int kind_of(const struct pw_report_row *row)
{
    for (int c = 0; c < PW_COVERAGE_COUNT; c++)
        if (!strcmp(pw_coverage_name((pw_coverage)c), pw_report_row_coverage(row)))
            return c;
    return PW_COVERAGE_COUNT;
}

void pw_svg_coverage(const struct pw_report *report, const struct pw_report_target_part *part, struct pw_buf *out)
{
    static const char *const classes[] = {"c-library", "c-kernel", "c-generated", "c-host", "c-missing", "c-unknown"};
    size_t counts[PW_CATEGORY_COUNT][PW_COVERAGE_COUNT + 1] = {{0}}, totals[PW_CATEGORY_COUNT] = {0}, most = 1;
    int rows = 0, y = 16;

    for (size_t i = 0; i < report->inventory->signature_count; i++) {
        const struct pw_report_row *row = &part->rows[i];

        counts[row->signature->category][kind_of(row)]++;
        totals[row->signature->category]++;
    }
    for (int c = 0; c < PW_CATEGORY_COUNT; c++) {
        rows += totals[c] > 0;
        most = totals[c] > most ? totals[c] : most;
    }
    begin(out, WIDTH, rows * ROW + 28, "Signatures by category and what serves them");
    for (int c = 0; c < PW_CATEGORY_COUNT; c++) {
        double x = LABEL;

        if (!totals[c])
            continue;
        text(out, LABEL - 8, y, "end", pw_category_name((pw_category)c), 26);
        for (int k = 0; k <= PW_COVERAGE_COUNT; k++) {
            double width = (double)counts[c][k] / (double)most * (WIDTH - LABEL - 60);

            if (!counts[c][k])
                continue;
            pw_buf_printf(
                out,
                "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"14\" class=\"%s\"><title>%s: %zu</title></rect>\n",
                x, y - 12, width, classes[k], k < PW_COVERAGE_COUNT ? pw_coverage_name((pw_coverage)k) : "not known",
                counts[c][k]);
            x += width;
        }
        pw_buf_printf(out, "<text x=\"%.1f\" y=\"%d\">%zu</text>\n", x + 6, y, totals[c]);
        y += ROW;
    }
    for (int k = 0, x = LABEL; k <= PW_COVERAGE_COUNT; k++, x += 105) {
        pw_buf_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" class=\"%s\"/>", x, y - 6, classes[k]);
        text(out, x + 14, y + 3, "small", k < PW_COVERAGE_COUNT ? pw_coverage_name((pw_coverage)k) : "not known", 14);
    }
    pw_buf_puts(out, "</svg>\n");
}

/* ---- errors ---- */

static double error_x(double share)
{
    double at = share > 0 ? (log10(share) + 4) / 5 : 0; /* 1e-4 … 10 */

    return LABEL + (at < 0 ? 0 : at > 1 ? 1 : at) * (WIDTH - LABEL - 90);
}

static int worst_first(const void *a, const void *b)
{
    double x = pw_report_row_share(*(const struct pw_report_row *const *)a);
    double y = pw_report_row_share(*(const struct pw_report_row *const *)b);

    return (x < y) - (x > y);
}

void pw_svg_errors(const struct pw_report *report, const struct pw_report_target_part *part, struct pw_buf *out)
{
    const struct pw_report_row **order = pw_calloc(report->inventory->signature_count + 1, sizeof *order);
    size_t shown = 0, rows = 0, exact = 0;
    int y = 30;

    for (size_t i = 0; order && i < report->inventory->signature_count; i++) {
        double share = pw_report_row_share(&part->rows[i]);

        if (share > 0)
            order[rows++] = &part->rows[i];
        exact += share == 0;
    }
    if (!rows) {
        if (exact)
            pw_buf_printf(out, "<p class=\"none\">Of %zu signatures %zu were measured, without any error.</p>\n",
                          report->inventory->signature_count, exact);
        else
            pw_buf_puts(out, "<p class=\"none\">No errors were measured.</p>\n");
        pw_free(order);
        return;
    }
    qsort(order, rows, sizeof *order, worst_first);
    begin(out, WIDTH, (int)(rows < ROWS_MAX ? rows : ROWS_MAX) * 16 + 40,
          "Worst error over its tolerance, by signature");
    for (int decade = -4; decade <= 1; decade++) {
        double x = error_x(pow(10, decade));

        pw_buf_printf(out, "<line x1=\"%.1f\" y1=\"18\" x2=\"%.1f\" y2=\"%d\" class=\"%s\"/>", x, x,
                      (int)(rows < ROWS_MAX ? rows : ROWS_MAX) * 16 + 24, decade == 0 ? "limit" : "grid");
        pw_buf_printf(out, "<text x=\"%.1f\" y=\"12\" class=\"middle small\">%s</text>\n", x,
                      decade == 0    ? "tolerance"
                      : decade == 1  ? "10"
                      : decade == -1 ? "0.1"
                      : decade == -2 ? "0.01"
                                     : "");
    }
    for (; shown < rows && shown < ROWS_MAX; shown++) {
        const struct pw_report_row *row = order[shown];
        double share = pw_report_row_share(row);

        text(out, LABEL - 8, y + 4, "end small", row->signature->op_label, 28);
        pw_buf_printf(out, "<line x1=\"%d\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" class=\"grid\"/>", LABEL, y, error_x(share),
                      y);
        if (share > 1) /* another shape, not only another colour */
            pw_buf_printf(out, "<rect x=\"%.1f\" y=\"%d\" width=\"9\" height=\"9\" class=\"bad\">",
                          error_x(share) - 4.5, y - 5);
        else
            pw_buf_printf(out, "<circle cx=\"%.1f\" cy=\"%d\" r=\"4\" class=\"%s\">", error_x(share), y,
                          share > 0.5 ? "warn" : "good");
        pw_buf_puts(out, "<title>");
        pw_report_xml_text(out, row->signature->shapes);
        pw_buf_printf(out, ": %.3g of the tolerance</title></%s>\n", share, share > 1 ? "rect" : "circle");
        pw_buf_printf(out, "<text x=\"%.1f\" y=\"%d\" class=\"small\">%.1e</text>\n", error_x(share) + 9, y + 4,
                      row->result->worst_error);
        y += 16;
    }
    pw_buf_puts(out, "</svg>\n");
    if (exact)
        pw_buf_printf(out, "<p class=\"none\">%zu more are exact.</p>\n", exact);
    if (shown < rows)
        pw_buf_printf(out, "<p class=\"none\">%zu more are in the table.</p>\n", rows - shown);
    pw_free(order);
}

/* ---- roofline ---- */

struct axes {
    double low_x, high_x, low_y, high_y; /* log10 */
};
enum { PLOT_HEIGHT = 360, PLOT_LEFT = 70, PLOT_BOTTOM = 40 };

static double plot_x(const struct axes *a, double value)
{
    return PLOT_LEFT + (log10(value) - a->low_x) / (a->high_x - a->low_x) * (WIDTH - PLOT_LEFT - 20);
}
static double plot_y(const struct axes *a, double value)
{
    return PLOT_HEIGHT - PLOT_BOTTOM -
           (log10(value) - a->low_y) / (a->high_y - a->low_y) * (PLOT_HEIGHT - PLOT_BOTTOM - 15);
}

/* Intensity (FLOP/byte) and rate (FLOP/s) of a benchmarked signature; false: not both known. */
static bool roof_point(const struct pw_report_row *row, double *x, double *y, double *roof)
{
    const struct pw_store_bench_row *b = row->bench;

    if (!b || !(b->flops > 0) || !(b->target_ns > 0) || !(b->read_bytes + b->write_bytes > 0))
        return false;
    *x = b->flops / (b->read_bytes + b->write_bytes);
    *y = b->flops / b->target_ns * 1e9;
    *roof = b->roof_ns > 0 ? b->flops / b->roof_ns * 1e9 : NAN;
    return true;
}

static void draw_axes(const struct axes *a, struct pw_buf *out)
{
    char label[32];

    for (double d = ceil(a->low_x); d <= a->high_x; d++) {
        double x = plot_x(a, pow(10, d));

        pw_buf_printf(out,
                      "<line x1=\"%.1f\" y1=\"15\" x2=\"%.1f\" y2=\"%d\" class=\"grid\"/><text x=\"%.1f\" y=\"%d\" "
                      "class=\"middle small\">%g</text>\n",
                      x, x, PLOT_HEIGHT - PLOT_BOTTOM, x, PLOT_HEIGHT - PLOT_BOTTOM + 16, pow(10, d));
    }
    for (double d = ceil(a->low_y); d <= a->high_y; d++) {
        double y = plot_y(a, pow(10, d));

        pw_buf_printf(out,
                      "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" class=\"grid\"/><text x=\"%d\" y=\"%.1f\" "
                      "class=\"end small\">%s</text>\n",
                      PLOT_LEFT, y, WIDTH - 20, y, PLOT_LEFT - 6, y + 4,
                      pw_text_si(label, sizeof label, pow(10, d), ""));
    }
    pw_buf_printf(out, "<text x=\"%d\" y=\"%d\" class=\"middle small\">FLOP per byte</text>", (WIDTH + PLOT_LEFT) / 2,
                  PLOT_HEIGHT - 6);
    pw_buf_puts(out, "<text x=\"8\" y=\"12\" class=\"small\">FLOP/s</text>\n");
}

void pw_svg_roofline(const struct pw_report *report, const struct pw_report_target_part *part, struct pw_buf *out)
{
    struct axes a = {1e9, -1e9, 1e9, -1e9};
    double x, y, roof;

    for (size_t i = 0; i < report->inventory->signature_count; i++)
        if (roof_point(&part->rows[i], &x, &y, &roof)) {
            a.low_x = fmin(a.low_x, log10(x) - 0.3);
            a.high_x = fmax(a.high_x, log10(x) + 0.3);
            a.low_y = fmin(a.low_y, log10(y) - 0.3);
            a.high_y = fmax(a.high_y, log10(isnan(roof) ? y : fmax(roof, y)) + 0.3);
        }
    if (a.high_x < a.low_x) {
        pw_buf_puts(out, "<p class=\"none\">Nothing was benchmarked: portwright bench does.</p>\n");
        return;
    }
    begin(out, WIDTH, PLOT_HEIGHT,
          "Roofline: rate against arithmetic intensity; the tick above each point is its roof");
    draw_axes(&a, out);
    for (size_t i = 0; i < report->inventory->signature_count; i++) {
        const struct pw_report_row *row = &part->rows[i];

        if (!roof_point(row, &x, &y, &roof))
            continue;
        if (!isnan(roof))
            pw_buf_printf(out, "<path d=\"M%.1f %.1fV%.1fM%.1f %.1fh12\" class=\"roof\"/>", plot_x(&a, x),
                          plot_y(&a, y), plot_y(&a, roof), plot_x(&a, x) - 6, plot_y(&a, roof));
        pw_buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\" class=\"%s\"><title>", plot_x(&a, x),
                      plot_y(&a, y), row->bench->suspicion && row->bench->suspicion[0] ? "bad" : "good");
        pw_report_xml_text(out, row->signature->op_label);
        pw_buf_putc(out, ' ');
        pw_report_xml_text(out, row->signature->shapes);
        if (isnan(roof))
            pw_buf_puts(out, ": roof not known");
        else
            pw_buf_printf(out, ": %.0f %% of the roof, bound by %s", 100 * y / roof, row->bench->bound);
        pw_buf_puts(out, "</title></circle>\n");
    }
    pw_buf_puts(out, "</svg>\n");
}

/* ---- heat map ---- */

struct heat {
    const char *op;
    double worst[PW_DTYPE_COUNT]; /* NaN not measured; -1: only on the host or unproven */
};

static struct heat *heat_of(struct heat *heats, size_t *count, const char *op)
{
    for (size_t i = 0; i < *count; i++)
        if (!strcmp(heats[i].op, op))
            return &heats[i];
    if (*count == ROWS_MAX)
        return NULL;
    heats[*count].op = op;
    for (int d = 0; d < PW_DTYPE_COUNT; d++)
        heats[*count].worst[d] = NAN;
    return &heats[(*count)++];
}

void pw_svg_heat(const struct pw_report *report, const struct pw_report_target_part *part, struct pw_buf *out)
{
    struct heat *heats = pw_calloc(ROWS_MAX, sizeof *heats);
    bool used[PW_DTYPE_COUNT] = {false};
    size_t count = 0;
    int columns = 0, y = 34;

    for (size_t i = 0; heats && i < report->inventory->signature_count; i++) {
        const struct pw_report_row *row = &part->rows[i];
        struct heat *heat = heat_of(heats, &count, row->signature->op_label);
        double share = pw_report_row_share(row), value = isnan(share) ? -1 : share;
        pw_dtype dtype = row->signature->dtype;

        if (heat && dtype > 0 && dtype < PW_DTYPE_COUNT) {
            used[dtype] = true;
            if (isnan(heat->worst[dtype]) || value > heat->worst[dtype])
                heat->worst[dtype] = value;
        }
    }
    for (int d = 0; d < PW_DTYPE_COUNT; d++)
        columns += used[d];
    begin(out, WIDTH, (int)count * ROW + 44, "Operators and dtypes: worst error over tolerance");
    for (int d = 0, x = LABEL; d < PW_DTYPE_COUNT; d++)
        if (used[d]) {
            text(out, x + 38, 14, "middle small", pw_dtype_name((pw_dtype)d), 12);
            x += 80;
        }
    for (size_t i = 0; i < count; i++, y += ROW) {
        int x = LABEL;

        text(out, LABEL - 8, y, "end small", heats[i].op, 28);
        for (int d = 0; d < PW_DTYPE_COUNT; d++) {
            double value = heats[i].worst[d];
            const char *class = isnan(value)  ? NULL
                                : value < 0   ? "h-none"
                                : value > 1   ? "h-bad"
                                : value > 0.5 ? "h-warn"
                                : value > 0.1 ? "h-some"
                                              : "h-good";

            if (!used[d])
                continue;
            if (class) {
                pw_buf_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"76\" height=\"17\" class=\"%s\"/>", x, y - 13,
                              class);
                if (value < 0)
                    pw_buf_printf(out, "<text x=\"%d\" y=\"%d\" class=\"middle small\">not proven</text>\n", x + 38, y);
                else
                    pw_buf_printf(out, "<text x=\"%d\" y=\"%d\" class=\"middle small on\">%.2g</text>\n", x + 38, y,
                                  value);
            }
            x += 80;
        }
    }
    pw_buf_puts(out, "</svg>\n");
    pw_free(heats);
}

void pw_svg_trend(const struct pw_report_row *row, struct pw_buf *out)
{
    double low = INFINITY, high = -INFINITY;
    bool drawn = false;

    for (size_t i = 0; i < row->trend_count; i++)
        if (row->speeds[i] > 0) {
            low = fmin(low, row->speeds[i]);
            high = fmax(high, row->speeds[i]);
        }
    if (!(high >= low) || row->trend_count < 2)
        return;
    if (high - low < 0.05 * high) { /* noise is not blown up to a mountain */
        low -= 0.05 * high;
        high += 0.05 * high;
    }
    begin(out, 90, 20, "speed over the runs");
    pw_buf_puts(out, "<polyline class=\"trend\" points=\"");
    for (size_t i = 0; i < row->trend_count; i++)
        if (row->speeds[i] > 0) {
            pw_buf_printf(out, "%s%.1f,%.1f", drawn ? " " : "", 2 + 86.0 * (double)i / (double)(row->trend_count - 1),
                          18 - 16 * (row->speeds[i] - low) / (high - low));
            drawn = true;
        }
    pw_buf_puts(out, "\"/></svg>");
}
