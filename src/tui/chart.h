/*
 * Charts as text: a series drawn in braille dots (or ASCII), with a scale, appended to lines. Pure.
 */
#ifndef PW_TUI_CHART_H
#define PW_TUI_CHART_H

#include "tui/lines.h"

/* A vertical line with a name below, between or on positions. */
struct pw_chart_flag {
    double at; /* position; outside of 0 to count - 1: at the edge */
    char label[12];
};

struct pw_chart {
    const char *title;
    const double *values; /* in order; NaN: unknown, a gap */
    size_t count;
    double limit;        /* a dotted line across, such as a tolerance; NaN none */
    const size_t *marks; /* positions marked below the chart, such as change points; ascending */
    size_t mark_count;
    const struct pw_chart_flag *flags; /* such as baselines; ascending */
    size_t flag_count;
    bool has_point; /* one more value, drawn as a dot of its own: of `point` at a position */
    double point_at, point;
    bool logarithmic;  /* values <= 0 are gaps then */
    int width, height; /* in columns and rows, without scale; at least 8 and 2 */
    const char *(*label)(char *dst, size_t size, double value); /* of the scale */
    pw_style style;
};

#define PW_CHART_LEFT 14 /* where the plot begins, behind the scale */
/* Title, `height` rows with the scale at the left, a row of marks and one of flags' names when there are any. */
void pw_chart_add(const struct pw_chart *chart, bool ascii, struct pw_lines *lines);

#endif
