/* The nodes of a signature over the newest runs of the whole graph: what each adds, and how long it takes. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/tui.h"

enum { LEVELS = 8, NARROW = 100 };

/* One glyph a run, up to the highest of the values; those that are not known are blank. */
static void put_line(struct pw_buf *out, const double *values, size_t count, bool ascii)
{
    static const char *const eighths[LEVELS] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                                "\u2585", "\u2586", "\u2587", "\u2588"};
    static const char *const letters[LEVELS] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    double high = 0;

    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]) && values[i] > high)
            high = values[i];
    for (size_t i = 0; i < count; i++) {
        double share = isinf(values[i]) ? 1 : high > 0 ? values[i] / high : 0;
        int level = share > 0 ? (int)(share * (LEVELS - 1) + 0.5) : 0; /* not of a NaN */

        if (isnan(values[i]))
            pw_buf_putc(out, ' ');
        else
            pw_buf_puts(out, ascii ? letters[level] : eighths[level]);
    }
}

/* The newest that is known, NaN when none is. */
static double newest(const double *values, size_t count)
{
    while (count && isnan(values[count - 1]))
        count--;
    return count ? values[count - 1] : NAN;
}

/* The figures of a node in the newest `shown` of the runs as text: "1.2e-07 of 3.6e-07 ___#" and "10.1 us _#__". */
static void put_figures(const struct pw_session_node_trend *node, size_t runs, size_t shown, bool ascii,
                        struct pw_buf *own, struct pw_buf *took)
{
    double errors[PW_SESSION_NODE_RUNS], times[PW_SESSION_NODE_RUNS];
    char error[24] = "-", tolerance[24] = "-", time[32] = "-";

    for (size_t i = 0; i < shown; i++) {
        errors[i] = node->isolated[runs - shown + i];
        times[i] = node->time_ns[runs - shown + i] ? (double)node->time_ns[runs - shown + i] : NAN;
    }
    if (!isnan(newest(errors, shown)))
        snprintf(error, sizeof error, "%.1e", newest(errors, shown));
    if (!isnan(node->tolerance))
        snprintf(tolerance, sizeof tolerance, "%.1e", node->tolerance);
    if (!isnan(newest(times, shown)))
        pw_text_duration(time, sizeof time, newest(times, shown) / 1e9);
    pw_buf_printf(own, "%7s of %-7s ", error, tolerance);
    put_line(own, errors, shown, ascii);
    pw_buf_printf(took, "%9s ", time);
    put_line(took, times, shown, ascii);
}

/* Columns of the figures below a name; and of both in one line, without their signs. */
enum { SIGNS_AT = 24, TIME_AT = SIGNS_AT - 10, BOTH = 35 };

static void add_node(const struct pw_tui *tui, struct pw_lines *lines, const struct pw_session_node_trend *node,
                     size_t shown)
{
    bool bad = node->standing == PW_NODE_CULPRIT || node->standing == PW_NODE_FAILED;
    pw_style style = bad ? PW_STYLE_BAD : node->standing == PW_NODE_HELD ? PW_STYLE_NORMAL : PW_STYLE_WARN;
    const char *name = node->node->name[0] ? node->node->name : "(no name)";
    int signs = (int)shown, both = BOTH + 2 * signs;
    struct pw_buf own = {0}, took = {0};

    put_figures(node, tui->at->history.node_run_count, shown, tui->ascii, &own, &took);
    if (lines->width < NARROW) {
        pw_lines_addf(lines, style, 3, "%-8s %s", pw_node_standing_name(node->standing), name);
        pw_lines_add(lines, PW_STYLE_NORMAL, 5, pw_buf_text(&own));
        if (lines->width > both)
            pw_lines_more(lines, PW_STYLE_NORMAL, SIGNS_AT + signs + 1, pw_buf_text(&took));
        else
            pw_lines_add(lines, PW_STYLE_NORMAL, TIME_AT, pw_buf_text(&took));
    } else {
        pw_lines_addf(lines, style, 3, "%-8s", pw_node_standing_name(node->standing));
        pw_lines_more(lines, PW_STYLE_NORMAL, 12, pw_buf_text(&own));
        pw_lines_more(lines, PW_STYLE_NORMAL, 32 + signs, pw_buf_text(&took));
        pw_lines_more(lines, style, 49 + 2 * signs, name);
    }
    pw_buf_clear(&own);
    pw_buf_clear(&took);
}

void pw_view_node_trends(const struct pw_tui *tui, struct pw_lines *lines)
{
    const struct pw_tui_history *history = &tui->at->history;
    size_t all = tui->inventory->signatures[tui->detail].node_count;
    size_t room = lines->width > SIGNS_AT + 2 ? (size_t)(lines->width - SIGNS_AT - 1) : 1;
    size_t runs = history->node_run_count;
    size_t shown = runs < room ? runs : room; /* where there is no room for all, the newest */
    char text[200];

    if (!history->node_count)
        return;
    pw_lines_head(lines, "Its nodes when the whole graph ran: own error of its tolerance, and time");
    snprintf(text, sizeof text,
             "one sign a run, %zu of them, from run %" PRId64 " to run %" PRId64 "; each up to the highest of its own",
             shown, history->node_runs[runs - shown], history->node_runs[runs - 1]);
    pw_lines_wrap(lines, PW_STYLE_DIM, 3, text);
    for (size_t i = 0; i < history->node_count; i++)
        add_node(tui, lines, &history->nodes[i], shown);
    if (all > history->node_count)
        pw_lines_addf(lines, PW_STYLE_DIM, 3, "and %zu more", all - history->node_count);
}
