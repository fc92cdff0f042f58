/* Trends: errors and speed over the runs, of a signature or of the graph, as charts with the approved baselines and as
 * a list; and two runs side by side. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tui/chart.h"
#include "tui/tui.h"

enum { FLAGS_MAX = 200, CHART_WIDTH = 180 };

static const char *label_error(char *dst, size_t size, double value)
{
    snprintf(dst, size, "%.1e", value);
    return dst;
}

static const char *label_ratio(char *dst, size_t size, double value)
{
    snprintf(dst, size, value < 0.1 ? "%.2gx" : "%.2fx", value);
    return dst;
}

static const char *label_share(char *dst, size_t size, double value)
{
    snprintf(dst, size, value < 0.001 ? "%.1e" : "%.3g", value);
    return dst;
}

/* ---- one curve ---- */

/* A series over runs; values and times are the model's, of the same length. */
struct curve {
    const char *title;
    const double *values;   /* NaN: a gap */
    const int64_t *wall_ms; /* ascending */
    size_t count;
    double limit; /* NaN none */
    bool logarithmic;
    const char *(*label)(char *dst, size_t size, double value);
    pw_style style;
    const size_t *changes; /* where its level changed */
    size_t change_count;
    const struct pw_tui_mark *marks;
    size_t mark_count;
    bool throughput;         /* whose baselines */
    const char *environment; /* only theirs; NULL: any */
};

/* Places of approved baselines on the axis: on the last run before a baseline was recorded. */
static size_t place_flags(const struct curve *curve, struct pw_chart_flag *flags)
{
    size_t count = 0;

    for (size_t m = curve->mark_count; m-- > 0 && count < FLAGS_MAX;) { /* of very many the newest stay */
        const struct pw_tui_mark *mark = &curve->marks[m];
        size_t at = curve->count;

        if (mark->throughput != curve->throughput ||
            (curve->environment && strcmp(mark->environment, curve->environment) != 0))
            continue;
        while (at > 0 && curve->wall_ms[at - 1] > mark->recorded_ms + 999) /* recorded is in whole seconds */
            at--;
        if (!at)
            continue; /* before all that is shown */
        flags[count].at = (double)(at - 1);
        snprintf(flags[count].label, sizeof flags[count].label, "#%d", mark->number);
        count++;
    }
    for (size_t k = 0; k < count / 2; k++) { /* ascending, as a chart wants them */
        struct pw_chart_flag other = flags[k];

        flags[k] = flags[count - 1 - k];
        flags[count - 1 - k] = other;
    }
    return count;
}

/* When the first and the last run were: with the time of day where there is room. */
static void add_axis(struct pw_lines *lines, const struct curve *curve, int width)
{
    int size = width >= 40 ? 16 : 10;
    char first[32], last[32];

    if (curve->count < 2 || width < 24)
        return;
    pw_clock_iso(curve->wall_ms[0], first, sizeof first);
    pw_clock_iso(curve->wall_ms[curve->count - 1], last, sizeof last);
    first[10] = last[10] = ' ';
    pw_lines_addf(lines, PW_STYLE_DIM, PW_CHART_LEFT, "%.*s", size, first);
    pw_lines_moref(lines, PW_STYLE_DIM, PW_CHART_LEFT + width - size, "%.*s", size, last);
}

static void add_curve(const struct pw_tui *tui, struct pw_lines *lines, const struct curve *curve, int height)
{
    struct pw_chart_flag flags[FLAGS_MAX];
    char title[160];
    struct pw_chart chart = {.values = curve->values,
                             .count = curve->count,
                             .limit = curve->limit,
                             .logarithmic = curve->logarithmic,
                             .label = curve->label,
                             .style = curve->style,
                             .height = height,
                             .marks = curve->changes,
                             .mark_count = curve->change_count,
                             .flags = flags};

    chart.width = lines->width - 18 > CHART_WIDTH ? CHART_WIDTH : lines->width - 18;
    chart.flag_count = place_flags(curve, flags);
    snprintf(title, sizeof title, "%s%s%s", curve->title, chart.mark_count ? "; its level changed at the marks" : "",
             chart.flag_count ? "; # approved baselines" : "");
    chart.title = title;
    pw_chart_add(&chart, tui->ascii, lines);
    add_axis(lines, curve, chart.width < 8 ? 8 : chart.width);
}

/* ---- both curves ---- */

/* What they are called, and how an error is written. */
struct wording {
    const char *error, *speed;
    const char *(*label)(char *dst, size_t size, double value);
};

/* The error and the speed over the same runs, one below the other. */
static void add_curves(const struct pw_tui *tui, struct pw_lines *lines, const struct pw_tui_curves *curves,
                       const struct wording *wording, const struct pw_tui_mark *marks, size_t mark_count, int height)
{
    struct curve errors = {.title = wording->error,
                           .values = curves->errors,
                           .wall_ms = curves->wall_ms,
                           .count = curves->count,
                           .limit = curves->limit,
                           .logarithmic = true,
                           .label = wording->label,
                           .style = PW_STYLE_ACCENT,
                           .changes = curves->error_changes,
                           .change_count = curves->error_change_count,
                           .marks = marks,
                           .mark_count = mark_count};
    struct curve speeds = errors;

    speeds.title = wording->speed;
    speeds.values = curves->speeds;
    speeds.limit = NAN;
    speeds.logarithmic = false;
    speeds.label = label_ratio;
    speeds.style = PW_STYLE_GOOD;
    speeds.changes = curves->speed_changes;
    speeds.change_count = curves->speed_change_count;
    speeds.throughput = true;
    speeds.environment = curves->timed ? curves->environment : NULL;
    add_curve(tui, lines, &errors, height);
    add_curve(tui, lines, &speeds, height);
    if (curves->elsewhere)
        pw_lines_addf(lines, PW_STYLE_WARN, 3, "%zu run%s in other environments left out: the times do not compare",
                      curves->elsewhere, curves->elsewhere == 1 ? "" : "s");
}

/* ---- a signature ---- */

void pw_view_history(const struct pw_tui *tui, struct pw_lines *lines, int height)
{
    static const struct wording wording = {"error, with the tolerance dotted", "speed: reference time over target time",
                                           label_error};
    const struct pw_tui_history *history = &tui->at->history;

    if (history->curves.count)
        add_curves(tui, lines, &history->curves, &wording, history->marks, history->mark_count, height);
}

static const char *known(const char *environment)
{
    return environment[0] ? environment : "unknown";
}

/* below NULL: it is the last one. */
static bool moved(const char *above, const char *below)
{
    return below && strcmp(above, below) != 0;
}

static void say_moved(struct pw_lines *lines, const char *above, const char *below)
{
    if (moved(above, below))
        pw_lines_addf(lines, PW_STYLE_WARN, 3, "-- above: environment %s; below: %s; times do not compare across --",
                      known(above), known(below));
}

enum { ONE_LINE = 90, PAIR_LINE = 100 }; /* columns that a run, or a pair, needs to be told in one line */

/* An entry of the list that begins with the next line. */
static void add_entry(struct pw_tui *tui, const struct pw_lines *lines, const struct pw_tui_entry *entry)
{
    const struct pw_tui_entry *last;
    struct pw_error ignored = {0};

    if (PW_GROW(tui->entries, tui->entry_cap, tui->entry_count + 1, &ignored) != PW_OK)
        return; /* then it can't be chosen */
    last = tui->entry_count ? &tui->entries[tui->entry_count - 1] : NULL;
    tui->entries[tui->entry_count] = *entry;
    tui->entries[tui->entry_count].line = (int)lines->count;
    if (last && entry->run && last->run == entry->run)
        tui->entries[tui->entry_count].nth = last->nth + 1;
    tui->entry_count++;
}

/* Begins the lines of a run; whether it is passed over, one of very many that nobody looks at. */
static bool skip_run(struct pw_tui *tui, struct pw_lines *lines, long long run, const char *environment,
                     const char *below)
{
    int rows = lines->width < ONE_LINE ? 2 : 1;
    size_t count = (size_t)rows + moved(environment, below), begin, end;

    add_entry(tui, lines, &(struct pw_tui_entry){.rows = rows, .run = run, .signature = SIZE_MAX});
    pw_lines_seen(lines, count, &begin, &end);
    if (begin < end)
        return false;
    pw_lines_skip(lines, count);
    return true;
}

/* "run 12  held  1.0e-07  20.1 us  1.20x  kernel", in two lines where there is no room for one. */
static void add_point(struct pw_lines *lines, const struct pw_tui_point *point)
{
    char when[32], time[32] = "-", error[32] = "-", ratio[32] = "-";
    pw_style style = !strcmp(point->standing, "failed") ? PW_STYLE_BAD : PW_STYLE_NORMAL;

    pw_clock_iso(point->wall_ms, when, sizeof when);
    if (point->target_ns)
        pw_text_duration(time, sizeof time, (double)point->target_ns / 1e9);
    if (!isnan(point->error))
        snprintf(error, sizeof error, "%.2e", point->error);
    if (!isnan(point->ratio))
        label_ratio(ratio, sizeof ratio, point->ratio);
    if (lines->width < ONE_LINE) {
        pw_lines_addf(lines, style, 3, "run %-5lld %-10s %s", (long long)point->run_id, point->standing, when);
        pw_lines_addf(lines, style, 7, "error %-9s %s %s %s", error, time, ratio, point->implementation);
        return;
    }
    pw_lines_addf(lines, style, 3, "%-20.20s  run %-5lld  %-10s  error %-9s  %10s  %7s  %s", when,
                  (long long)point->run_id, point->standing, error, time, ratio, point->implementation);
}

static void add_history(struct pw_tui *tui, struct pw_lines *lines)
{
    const struct pw_tui_history *history = &tui->at->history;

    if (!history->known || history->signature != tui->detail) {
        pw_view_waiting(tui, lines, PW_ASK_HISTORY, "Looking at earlier runs...");
        return;
    }
    if (!history->count) {
        pw_lines_wrap(lines, PW_STYLE_DIM, 3, "No run has measured it yet: v verifies it, b times it.");
        pw_view_node_trends(tui, lines);
        return;
    }
    pw_lines_add(lines, PW_STYLE_NORMAL, 0, "");
    pw_view_history(tui, lines, 6);
    pw_view_node_trends(tui, lines);
    pw_lines_head(lines, "Runs, newest first");
    for (size_t i = history->count; i-- > 0;) {
        const char *environment = history->points[i].environment;
        const char *below = i ? history->points[i - 1].environment : NULL;

        if (skip_run(tui, lines, history->points[i].run_id, environment, below))
            continue;
        add_point(lines, &history->points[i]);
        say_moved(lines, environment, below);
    }
}

/* ---- the graph ---- */

/* Both curves of one kind of runs. */
static void add_graph_curves(const struct pw_tui *tui, struct pw_lines *lines, bool whole)
{
    static const struct wording wordings[2] = {{"all signatures: worst error over its tolerance",
                                                "all signatures: reference time over target time, all nodes together",
                                                label_share},
                                               {"end to end: worst output's error over its tolerance",
                                                "end to end: reference time over target time", label_share}};
    const struct pw_tui_graph *graph = &tui->at->graph;

    if (graph->curves[whole].count)
        add_curves(tui, lines, &graph->curves[whole], &wordings[whole], graph->marks, graph->mark_count, 5);
}

static void add_graph_point(struct pw_lines *lines, const struct pw_tui_graph_point *point)
{
    bool bad = point->failed || !strcmp(point->outcome, "failed");
    char when[32], share[32] = "-", speed[32] = "-", what[64];

    pw_clock_iso(point->wall_ms, when, sizeof when);
    if (!isnan(point->share))
        label_share(share, sizeof share, point->share);
    if (!isnan(point->speed))
        label_ratio(speed, sizeof speed, point->speed);
    if (point->whole)
        snprintf(what, sizeof what, "end to end");
    else
        snprintf(what, sizeof what, "%d signature%s, %d failed", point->signatures, point->signatures == 1 ? "" : "s",
                 point->failed);
    if (lines->width < ONE_LINE) {
        pw_lines_addf(lines, bad ? PW_STYLE_BAD : PW_STYLE_NORMAL, 3, "run %-5lld %-9s %s", (long long)point->run_id,
                      point->outcome[0] ? point->outcome : "not ended", when);
        pw_lines_addf(lines, bad ? PW_STYLE_BAD : PW_STYLE_NORMAL, 7, "%s of tolerance, %s, %s", share, speed, what);
        return;
    }
    pw_lines_addf(lines, bad ? PW_STYLE_BAD : PW_STYLE_NORMAL, 3,
                  "%-20.20s  run %-5lld  %-9s  %9s of tolerance  %8s  %s", when, (long long)point->run_id,
                  point->outcome[0] ? point->outcome : "not ended", share, speed, what);
}

static void add_graph(struct pw_tui *tui, struct pw_lines *lines)
{
    const struct pw_tui_graph *graph = &tui->at->graph;

    pw_lines_add(lines, PW_STYLE_BOLD, 1, "the whole graph (w: the signature)");
    if (!graph->known) {
        pw_view_waiting(tui, lines, PW_ASK_GRAPH, "Looking at earlier runs...");
        return;
    }
    if (!graph->count) {
        pw_lines_wrap(lines, PW_STYLE_DIM, 3,
                      "No run has measured this graph yet: in the inventory a verifies all signatures, on the screen "
                      "end-to-end r and o run it.");
        return;
    }
    pw_lines_add(lines, PW_STYLE_NORMAL, 0, "");
    add_graph_curves(tui, lines, false);
    add_graph_curves(tui, lines, true);
    pw_lines_head(lines, "Runs, newest first");
    for (size_t i = graph->count; i-- > 0;) {
        const char *environment = graph->points[i].environment;
        const char *below = i ? graph->points[i - 1].environment : NULL;

        if (skip_run(tui, lines, graph->points[i].run_id, environment, below))
            continue;
        add_graph_point(lines, &graph->points[i]);
        say_moved(lines, environment, below);
    }
}

/* ---- two runs ---- */

static const char *standing_of(const struct pw_tui_pair *pair, int which)
{
    return pair->standing[which][0] ? pair->standing[which] : "-";
}

static void add_pair(struct pw_lines *lines, const struct pw_tui_pair *pair)
{
    double change = pair->speed[1] / pair->speed[0];
    bool worse = !strcmp(pair->standing[1], "failed") && strcmp(pair->standing[0], "failed") != 0;
    pw_style style = worse                                          ? PW_STYLE_BAD
                     : change < 0.95                                ? PW_STYLE_WARN
                     : strcmp(pair->standing[0], pair->standing[1]) ? PW_STYLE_ACCENT
                                                                    : PW_STYLE_NORMAL;
    char numbers[4][32], speed[32] = "-";

    for (int k = 0; k < 2; k++) {
        snprintf(numbers[k], sizeof numbers[k], isnan(pair->error[k]) ? "-" : "%.2e", pair->error[k]);
        snprintf(numbers[2 + k], sizeof numbers[k], "-");
        if (!isnan(pair->speed[k]))
            label_ratio(numbers[2 + k], sizeof numbers[k], pair->speed[k]);
    }
    if (!isnan(change))
        snprintf(speed, sizeof speed, "%+.1f %%", 100 * (change - 1));
    if (lines->width < PAIR_LINE) {
        pw_lines_addf(lines, style, 3, "%.18s: %s, then %s", pair->op, standing_of(pair, 0), standing_of(pair, 1));
        pw_lines_addf(lines, PW_STYLE_NORMAL, 5, "error %s, %s", numbers[0], numbers[1]);
        pw_lines_addf(lines, PW_STYLE_NORMAL, 5, "speed %s, %s", numbers[2], numbers[3]);
        pw_lines_moref(lines, style, 28, "%s", speed);
    } else {
        pw_lines_addf(lines, style, 3, "%-22.22s %-10.10s %-10.10s %9s %9s %9s %9s %9s  %s", pair->op,
                      standing_of(pair, 0), standing_of(pair, 1), numbers[0], numbers[1], numbers[2], numbers[3], speed,
                      pair->id);
    }
}

static void add_comparison(struct pw_tui *tui, struct pw_lines *lines)
{
    const struct pw_tui_comparison *c = &tui->at->comparison;
    size_t verdicts = 0, faster = 0, slower = 0;
    char title[96], text[160];

    snprintf(title, sizeof title, "Runs %lld and %lld side by side", c->runs[0], c->runs[1]);
    pw_lines_head(lines, title);
    for (size_t i = 0; i < c->count; i++) {
        double change = c->pairs[i].speed[1] / c->pairs[i].speed[0];

        verdicts += strcmp(c->pairs[i].standing[0], c->pairs[i].standing[1]) != 0;
        faster += change > 1.05;
        slower += change < 0.95;
    }
    snprintf(text, sizeof text, "%zu signature%s: %zu with another verdict, %zu faster and %zu slower by 5 %% or more",
             c->count, c->count == 1 ? "" : "s", verdicts, faster, slower);
    pw_lines_wrap(lines, verdicts || slower ? PW_STYLE_WARN : PW_STYLE_GOOD, 3, text);
    if (strcmp(c->environment[0], c->environment[1]) != 0) {
        snprintf(text, sizeof text, "another environment: %s, then %s: the times do not compare",
                 known(c->environment[0]), known(c->environment[1]));
        pw_lines_wrap(lines, PW_STYLE_WARN, 3, text);
    }
    if (lines->width >= PAIR_LINE)
        pw_lines_addf(lines, PW_STYLE_HEADER, 3, "%-22s %-10s %-10s %9s %9s %9s %9s %9s  %s", "operator", "before",
                      "after", "error", "error", "speed", "speed", "change", "signature");
    for (size_t i = 0; i < c->count; i++) {
        add_entry(tui, lines,
                  &(struct pw_tui_entry){
                      .rows = lines->width < PAIR_LINE ? 3 : 1, .signature = c->pairs[i].signature, .nth = i});
        add_pair(lines, &c->pairs[i]);
    }
}

void pw_view_trends(struct pw_tui *tui, struct pw_lines *lines)
{
    tui->entry_count = 0;
    if (tui->at->comparison.known && tui->show_comparison)
        add_comparison(tui, lines);
    if (tui->whole_graph) {
        add_graph(tui, lines);
    } else if (tui->detail >= tui->inventory->signature_count) {
        pw_lines_wrap(lines, PW_STYLE_DIM, 2,
                      "No signature is chosen: 1 goes to the inventory, 4 on one comes back; w shows the whole graph.");
    } else {
        pw_lines_addf(lines, PW_STYLE_BOLD, 1, "%s  %s", tui->inventory->signatures[tui->detail].op_label,
                      tui->inventory->signatures[tui->detail].shapes);
        add_history(tui, lines);
    }
}
