/* What a benchmark found of a signature: times with their intervals, where it stands under its roof, what to try. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/chart.h"
#include "tui/tui.h"

enum { ROOF_POINTS = 81, ROOF_HEIGHT = 7, ROOF_WIDTH = 72 };

static const char *label_flops(char *dst, size_t size, double value)
{
    return pw_text_si(dst, size, value, "FLOP");
}

/* The roof over FLOP/byte, both logarithmic, with the call's point below it. */
static void add_roof(const struct pw_tui *tui, struct pw_lines *lines, const struct pw_tui_bench *bench)
{
    double values[ROOF_POINTS], ridge = bench->peak_flops / bench->peak_bytes, low, high;
    char left[40], right[40];
    struct pw_chart chart = {.title = "roofline, FLOP a second over FLOP a byte; the point is this call",
                             .values = values,
                             .count = ROOF_POINTS,
                             .limit = NAN,
                             .logarithmic = true,
                             .height = ROOF_HEIGHT,
                             .label = label_flops,
                             .style = PW_STYLE_DIM,
                             .has_point = true,
                             .point = bench->flops_rate};

    if (!(bench->intensity > 0) || !(bench->flops_rate > 0) || !(ridge > 0) || !isfinite(ridge))
        return;
    low = log10(fmin(ridge, bench->intensity) / 8);
    high = log10(fmax(ridge, bench->intensity) * 8);
    for (int i = 0; i < ROOF_POINTS; i++)
        values[i] = fmin(bench->peak_flops, bench->peak_bytes * pow(10, low + (high - low) * i / (ROOF_POINTS - 1)));
    chart.point_at = (log10(bench->intensity) - low) / (high - low) * (ROOF_POINTS - 1);
    chart.width = lines->width - 18 > ROOF_WIDTH ? ROOF_WIDTH : lines->width - 18;
    pw_chart_add(&chart, tui->ascii, lines);
    snprintf(left, sizeof left, "%.2g", pow(10, low));
    snprintf(right, sizeof right, "%.2g FLOP/byte", pow(10, high));
    pw_lines_addf(lines, PW_STYLE_DIM, PW_CHART_LEFT, "%s", left);
    pw_lines_more(lines, PW_STYLE_DIM, PW_CHART_LEFT + chart.width - (int)strlen(right), right);
}

static void add_interval(struct pw_lines *lines, const char *what, double median_ns, double low_ns, double high_ns)
{
    char a[32], b[32], c[32];
    struct pw_buf text = {0};

    pw_buf_printf(&text, "%s %s, the median between %s and %s", what, pw_text_duration(a, sizeof a, median_ns / 1e9),
                  pw_text_duration(b, sizeof b, low_ns / 1e9), pw_text_duration(c, sizeof c, high_ns / 1e9));
    pw_lines_wrap(lines, PW_STYLE_NORMAL, 3, pw_buf_text(&text));
    pw_buf_clear(&text);
}

void pw_view_speed(const struct pw_tui *tui, struct pw_lines *lines, const struct pw_tui_row *row)
{
    const struct pw_tui_bench *bench = row->bench;
    char a[32], b[32], text[160];

    if (!bench)
        return;
    snprintf(text, sizeof text, "Speed (%d slices, caches %s)", bench->slices, bench->cold ? "cold" : "hot");
    pw_lines_head(lines, text);
    add_interval(lines, "target", (double)row->target_ns, bench->low_ns, bench->high_ns);
    if (!isnan(bench->reference_low_ns)) {
        snprintf(text, sizeof text, "reference (%s)", row->reference_name);
        add_interval(lines, text, (double)row->reference_ns, bench->reference_low_ns, bench->reference_high_ns);
    }
    if (!isnan(bench->speedup))
        pw_lines_addf(lines, PW_STYLE_NORMAL, 3, "reference over target %.2f x, between %.2f and %.2f", bench->speedup,
                      bench->speedup_low, bench->speedup_high);
    if (!isnan(bench->flops_rate))
        pw_lines_addf(lines, PW_STYLE_NORMAL, 3, "%s/s, %s/s", pw_text_si(a, sizeof a, bench->flops_rate, "FLOP"),
                      pw_text_si(b, sizeof b, bench->bytes_rate, "B"));
    if (bench->level[0] && !isnan(bench->share))
        pw_lines_addf(lines, PW_STYLE_NORMAL, 3, "%.0f %% of the roof at %s, bound by %s", 100 * bench->share,
                      bench->level, bench->bound);
    if (bench->suspicion[0])
        pw_lines_wrap(lines, PW_STYLE_BAD, 3, bench->suspicion);
    add_roof(tui, lines, bench);
    for (size_t i = 0; i < bench->advice_count; i++) {
        pw_lines_wrap(lines, PW_STYLE_ACCENT, 3, bench->advice[i].what);
        pw_lines_wrap(lines, PW_STYLE_DIM, 5, bench->advice[i].figures);
    }
}
