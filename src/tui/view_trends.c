/* Trends of one signature: its error and speed over the runs, as charts and as a table; and the device's screen. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/trend.h"
#include "tui/chart.h"
#include "tui/tui.h"

static const char *label_error(char *dst, size_t size, double value)
{
    snprintf(dst, size, "%.1e", value);
    return dst;
}

static const char *label_ratio(char *dst, size_t size, double value)
{
    snprintf(dst, size, "%.2fx", value);
    return dst;
}

/* Was the point timed in the environment of the newest that was? Times of others do not compare with it. */
static bool comparable(const struct pw_tui_history *history, size_t point)
{
    size_t newest = history->count;

    while (newest > 0 && isnan(history->points[newest - 1].ratio))
        newest--;
    return newest && !strcmp(history->points[point].environment, history->points[newest - 1].environment);
}

/* Where the level of a series of logarithms changed by 5 % or more. */
static void find_changes(const double *values, size_t count, struct pw_arena *arena, size_t **marks, size_t *mark_count)
{
    struct pw_trend_change *changes = NULL;
    struct pw_error err = {0};
    size_t found = 0;

    *mark_count = 0;
    if (pw_trend_changes(values, count, log(1.05), arena, &changes, &found, &err) != PW_OK)
        return; /* no marks: the series itself is shown */
    *marks = pw_arena_alloc(arena, found + 1, sizeof **marks);
    for (size_t i = 0; *marks && i < found; i++)
        (*marks)[(*mark_count)++] = changes[i].at;
}

void pw_view_history(const struct pw_tui *tui, struct pw_lines *lines, int height)
{
    const struct pw_tui_history *history = &tui->at->history;
    double *values = pw_calloc(history->count + 1, sizeof *values);
    struct pw_arena arena = {0};
    size_t *marks = NULL, elsewhere = 0;
    struct pw_chart chart = {.values = values, .count = history->count, .height = height, .limit = NAN};

    if (!values)
        return;
    chart.width = lines->width - 18 > 100 ? 100 : lines->width - 18;
    for (size_t i = 0; i < history->count; i++)
        values[i] = history->points[i].error;
    chart.title = "error, with the tolerance dotted";
    chart.logarithmic = true;
    chart.limit = history->count ? history->points[history->count - 1].tolerance : NAN;
    chart.label = label_error;
    chart.style = PW_STYLE_ACCENT;
    pw_chart_add(&chart, tui->ascii, lines);
    for (size_t i = 0; i < history->count; i++) {
        bool here = comparable(history, i);

        values[i] = here ? log(history->points[i].ratio) : NAN;
        elsewhere += !here && !isnan(history->points[i].ratio);
    }
    find_changes(values, history->count, &arena, &marks, &chart.mark_count);
    chart.marks = marks;
    for (size_t i = 0; i < history->count; i++)
        values[i] = comparable(history, i) ? history->points[i].ratio : NAN;
    chart.title = chart.mark_count ? "speed: reference time over target time; its level changed at the marks"
                                   : "speed: reference time over target time";
    chart.logarithmic = false;
    chart.limit = NAN;
    chart.label = label_ratio;
    chart.style = PW_STYLE_GOOD;
    pw_chart_add(&chart, tui->ascii, lines);
    if (elsewhere)
        pw_lines_addf(lines, PW_STYLE_WARN, 3, "%zu run%s in other environments left out: the times do not compare",
                      elsewhere, elsewhere == 1 ? "" : "s");
    pw_arena_clear(&arena);
    pw_free(values);
}

static const char *known(const char *environment)
{
    return environment[0] ? environment : "unknown";
}

static void add_point(struct pw_lines *lines, const struct pw_tui_point *point)
{
    char when[32], time[32] = "-", error[32] = "-", ratio[32] = "-";

    pw_clock_iso(point->wall_ms, when, sizeof when);
    if (point->target_ns)
        pw_text_duration(time, sizeof time, (double)point->target_ns / 1e9);
    if (!isnan(point->error))
        snprintf(error, sizeof error, "%.2e", point->error);
    if (!isnan(point->ratio))
        snprintf(ratio, sizeof ratio, "%.2fx", point->ratio);
    pw_lines_addf(lines, !strcmp(point->standing, "failed") ? PW_STYLE_BAD : PW_STYLE_NORMAL, 3,
                  "%-20.20s  run %-5lld  %-10s  error %-9s  %10s  %7s  %s", when, (long long)point->run_id,
                  point->standing, error, time, ratio, point->implementation);
}

static void add_history(const struct pw_tui *tui, struct pw_lines *lines)
{
    const struct pw_tui_history *history = &tui->at->history;

    if (!history->known || history->signature != tui->detail) {
        pw_lines_add(lines, PW_STYLE_DIM, 3, "Looking at earlier runs...");
        return;
    }
    if (!history->count) {
        pw_lines_add(lines, PW_STYLE_DIM, 3, "No run has measured it yet: v verifies it.");
        return;
    }
    pw_lines_add(lines, PW_STYLE_NORMAL, 0, "");
    pw_view_history(tui, lines, 6);
    pw_lines_head(lines, "Runs, newest first");
    for (size_t i = history->count; i-- > 0;) {
        add_point(lines, &history->points[i]);
        if (i && strcmp(history->points[i].environment, history->points[i - 1].environment) != 0)
            pw_lines_addf(lines, PW_STYLE_WARN, 3,
                          "-- above: environment %s; below: %s; times do not compare across --",
                          known(history->points[i].environment), known(history->points[i - 1].environment));
    }
}

static void add_comparison(const char *text, struct pw_lines *lines)
{
    pw_lines_head(lines, "Two runs side by side (:compare)");
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");

        pw_lines_addf(lines, line == text ? PW_STYLE_HEADER : PW_STYLE_NORMAL, 3, "%.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

void pw_view_trends(struct pw_tui *tui, struct pw_lines *lines)
{
    if (tui->detail >= tui->inventory->signature_count) {
        pw_lines_add(lines, PW_STYLE_DIM, 2, "No signature is chosen: 1 goes to the inventory, 4 on one comes back.");
        return;
    }
    pw_lines_addf(lines, PW_STYLE_BOLD, 1, "%s  %s", tui->inventory->signatures[tui->detail].op_label,
                  tui->inventory->signatures[tui->detail].shapes);
    add_history(tui, lines);
    if (tui->at->comparison)
        add_comparison(tui->at->comparison, lines);
}

void pw_view_baselines(struct pw_tui *tui, struct pw_lines *lines)
{
    struct pw_buf command = {0};

    if (!tui->at->baselines) {
        pw_lines_add(lines, PW_STYLE_DIM, 3, "Looking at the baselines...");
        return;
    }
    if (!tui->at->baselines[0]) {
        pw_lines_wrap(lines, PW_STYLE_DIM, 3, "This graph has no baselines on this kind of target yet:");
        pw_tui_command(tui, "baseline record", &command);
        pw_lines_wrap(lines, PW_STYLE_NORMAL, 3, pw_buf_text(&command));
        pw_buf_clear(&command);
        pw_lines_wrap(lines, PW_STYLE_DIM, 3, "makes a pending one, A here approves it.");
        return;
    }
    for (const char *line = tui->at->baselines; *line;) {
        size_t length = strcspn(line, "\n");

        pw_lines_addf(lines, length && line[length - 1] == ':' ? PW_STYLE_BOLD : PW_STYLE_NORMAL, 1, "%.*s",
                      (int)length, line);
        line += length + (line[length] == '\n');
    }
}

#define FIELD_COLUMN 36 /* a value that does not fit behind it goes below its name */

/* A line of the environment's text: its mark, and the parts before and after the tab. */
typedef void add_line(struct pw_lines *lines, const char *line, size_t length, size_t name);

static void add_lock(struct pw_lines *lines, const char *line, size_t length, size_t name)
{
    char text[1024];

    (void)name;
    snprintf(text, sizeof text, "%.*s", (int)(length - 1), line + 1);
    if (*line == '=' || *line == '!')
        pw_lines_wrap(lines, *line == '=' ? PW_STYLE_NORMAL : PW_STYLE_BAD, 3, text);
}

static void add_field(struct pw_lines *lines, const char *line, size_t length, size_t name)
{
    char value[1024];

    if (*line == '=' || *line == '!' || name >= length)
        return;
    pw_lines_addf(lines, PW_STYLE_DIM, 3, "%.*s", (int)name, line);
    snprintf(value, sizeof value, "%.*s", (int)(length - name - 1), line + name + 1);
    if (FIELD_COLUMN + 1 + (int)pw_text_width(value) <= lines->width)
        pw_lines_moref(lines, PW_STYLE_NORMAL, FIELD_COLUMN, " %s", value[0] ? value : "-");
    else
        pw_lines_wrap(lines, PW_STYLE_NORMAL, 6, value);
}

static void each_environment_line(const char *text, struct pw_lines *lines, add_line *add)
{
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");

        if (length)
            add(lines, line, length, strcspn(line, "\t\n"));
        line += length + (line[length] == '\n');
    }
}

void pw_view_device(struct pw_tui *tui, struct pw_lines *lines)
{
    pw_lines_addf(lines, PW_STYLE_BOLD, 1, "target %s", tui->at->target);
    if (tui->at->device_failed)
        pw_lines_add(lines, PW_STYLE_BAD, 3, tui->at->device);
    if (!tui->at->environment) {
        pw_lines_add(lines, PW_STYLE_DIM, 3, "Looking at the environment...");
        return;
    }
    pw_lines_head(lines, "Lock");
    each_environment_line(tui->at->environment, lines, add_lock);
    pw_lines_head(lines, "Environment (what timings depend on is marked *)");
    each_environment_line(tui->at->environment, lines, add_field);
}
