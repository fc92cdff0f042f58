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

/* The figures of a node as text: "error 1.2e-07 of 3.6e-07 ___#  time 10.1 us _#__". */
static void put_figures(const struct pw_session_node_trend *node, size_t runs, bool ascii, struct pw_buf *out)
{
    double errors[PW_SESSION_NODE_RUNS], times[PW_SESSION_NODE_RUNS];
    char error[24] = "-", tolerance[24] = "-", time[32] = "-";

    for (size_t i = 0; i < runs; i++) {
        errors[i] = node->isolated[i];
        times[i] = node->time_ns[i] ? (double)node->time_ns[i] : NAN;
    }
    if (!isnan(newest(errors, runs)))
        snprintf(error, sizeof error, "%.1e", newest(errors, runs));
    if (!isnan(node->tolerance))
        snprintf(tolerance, sizeof tolerance, "%.1e", node->tolerance);
    if (!isnan(newest(times, runs)))
        pw_text_duration(time, sizeof time, newest(times, runs) / 1e9);
    pw_buf_printf(out, "%7s of %-7s ", error, tolerance);
    put_line(out, errors, runs, ascii);
    pw_buf_printf(out, " %9s ", time);
    put_line(out, times, runs, ascii);
}

static void add_node(const struct pw_tui *tui, struct pw_lines *lines, const struct pw_session_node_trend *node)
{
    bool bad = node->standing == PW_NODE_CULPRIT || node->standing == PW_NODE_FAILED;
    pw_style style = bad ? PW_STYLE_BAD : node->standing == PW_NODE_HELD ? PW_STYLE_NORMAL : PW_STYLE_WARN;
    const char *name = node->node->name[0] ? node->node->name : "(no name)";
    struct pw_buf text = {0};

    put_figures(node, tui->at->history.node_run_count, tui->ascii, &text);
    if (lines->width < NARROW) {
        pw_lines_addf(lines, style, 3, "%-8s %s", pw_node_standing_name(node->standing), name);
        pw_lines_add(lines, PW_STYLE_NORMAL, 5, pw_buf_text(&text));
    } else {
        pw_lines_addf(lines, style, 3, "%-8s", pw_node_standing_name(node->standing));
        pw_lines_more(lines, PW_STYLE_NORMAL, 12, pw_buf_text(&text));
        pw_lines_more(lines, style, 49 + 2 * (int)tui->at->history.node_run_count, name);
    }
    pw_buf_clear(&text);
}

void pw_view_node_trends(const struct pw_tui *tui, struct pw_lines *lines)
{
    const struct pw_tui_history *history = &tui->at->history;
    size_t all = tui->inventory->signatures[tui->detail].node_count;
    char text[200];

    if (!history->node_count)
        return;
    pw_lines_head(lines, "Its nodes when the whole graph ran: own error of its tolerance, and time");
    snprintf(text, sizeof text,
             "one sign a run, %zu of them, from run %" PRId64 " to run %" PRId64 "; each up to the highest of its own",
             history->node_run_count, history->node_runs[0], history->node_runs[history->node_run_count - 1]);
    pw_lines_wrap(lines, PW_STYLE_DIM, 3, text);
    for (size_t i = 0; i < history->node_count; i++)
        add_node(tui, lines, &history->nodes[i]);
    if (all > history->node_count)
        pw_lines_addf(lines, PW_STYLE_DIM, 3, "and %zu more", all - history->node_count);
}
