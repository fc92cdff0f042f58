/*
 * Charts as text: a series drawn in braille dots (or ASCII), with a scale, appended to lines. Pure.
 */
#ifndef PW_TUI_CHART_H
#define PW_TUI_CHART_H

#include "tui/lines.h"

struct pw_chart {
    const char *title;
    const double *values; /* in order; NaN: unknown, a gap */
    size_t count;
    double limit;        /* a dotted line across, such as a tolerance; NaN none */
    const size_t *marks; /* positions marked below the chart, such as change points or baselines; ascending */
    size_t mark_count;
    bool logarithmic;  /* values <= 0 are gaps then */
    int width, height; /* in columns and rows, without scale; at least 8 and 2 */
    const char *(*label)(char *dst, size_t size, double value); /* of the scale */
    pw_style style;
};

/* Title, `height` rows with the scale at the left, and a row of marks when there are any. */
void pw_chart_add(const struct pw_chart *chart, bool ascii, struct pw_lines *lines);

#endif
