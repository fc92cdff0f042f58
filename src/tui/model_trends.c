/* Figures over runs as the session answers them: of a signature, of the graph, of two runs beside each other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/history.h"
#include "tui/tui.h"

void pw_tui_trends_clear(struct pw_tui_side *side)
{
    pw_free(side->history.points);
    pw_free(side->history.marks);
    pw_free(side->graph.points);
    pw_free(side->graph.marks);
    pw_free(side->comparison.pairs);
    side->history = (struct pw_tui_history){0};
    side->graph = (struct pw_tui_graph){0};
    side->comparison = (struct pw_tui_comparison){0};
}

static void copy(char *dst, size_t size, const char *text)
{
    snprintf(dst, size, "%s", text ? text : "");
}

/* The answer's marks; NULL: none, or memory is short: then the curves stand without. */
static struct pw_tui_mark *copy_marks(const struct pw_event *event, size_t *count)
{
    struct pw_tui_mark *marks = event->mark_count ? pw_calloc(event->mark_count, sizeof *marks) : NULL;

    *count = marks ? event->mark_count : 0;
    for (size_t i = 0; i < *count; i++) {
        const struct pw_session_mark *from = &event->marks[i];

        marks[i] = (struct pw_tui_mark){
            .number = from->number, .throughput = from->throughput, .recorded_ms = from->recorded_ms};
        copy(marks[i].environment, sizeof marks[i].environment, from->environment_id);
    }
    return marks;
}

static double speed_of(double target_ns, double reference_ns)
{
    return target_ns > 0 && reference_ns > 0 ? reference_ns / target_ns : NAN;
}

static void keep_history(struct pw_tui_side *side, const struct pw_event *event)
{
    struct pw_tui_point *points = pw_calloc(event->row_count + 1, sizeof *points);
    struct pw_tui_history made = {
        .known = true, .signature = event->about, .points = points, .count = event->row_count};

    if (!points)
        return;
    for (size_t i = 0; i < event->row_count; i++) {
        const struct pw_store_signature_row *row = &event->rows[i];

        points[i] = (struct pw_tui_point){.run_id = row->run_id,
                                          .wall_ms = row->wall_ms,
                                          .error = row->worst_error,
                                          .tolerance = row->tolerance,
                                          .ratio = speed_of((double)row->target_ns, (double)row->reference_ns),
                                          .target_ns = row->target_ns};
        copy(points[i].standing, sizeof points[i].standing, row->standing);
        copy(points[i].implementation, sizeof points[i].implementation, row->implementation);
        copy(points[i].environment, sizeof points[i].environment, row->environment_id);
    }
    made.marks = copy_marks(event, &made.mark_count);
    pw_free(side->history.points);
    pw_free(side->history.marks);
    side->history = made;
}

static void keep_graph(struct pw_tui_side *side, const struct pw_event *event)
{
    struct pw_tui_graph_point *points = pw_calloc(event->graph_row_count + 1, sizeof *points);
    struct pw_tui_graph made = {.known = true, .points = points, .count = event->graph_row_count};

    if (!points)
        return;
    for (size_t i = 0; i < event->graph_row_count; i++) {
        const struct pw_store_graph_row *row = &event->graph_rows[i];

        points[i] = (struct pw_tui_graph_point){.run_id = row->run_id,
                                                .wall_ms = row->wall_ms,
                                                .whole = row->signatures == 0,
                                                .signatures = row->signatures,
                                                .failed = row->failed,
                                                .share = row->worst_share,
                                                .speed = speed_of(row->target_ns, row->reference_ns)};
        copy(points[i].kind, sizeof points[i].kind, row->kind);
        copy(points[i].outcome, sizeof points[i].outcome, row->outcome);
        copy(points[i].environment, sizeof points[i].environment, row->environment_id);
    }
    made.marks = copy_marks(event, &made.mark_count);
    pw_free(side->graph.points);
    pw_free(side->graph.marks);
    side->graph = made;
}

/* ---- two runs ---- */

static void fill_pair(struct pw_tui_pair *pair, int which, const struct pw_store_signature_row *row)
{
    copy(pair->op, sizeof pair->op, row->op);
    copy(pair->id, sizeof pair->id, row->signature_id);
    copy(pair->standing[which], sizeof pair->standing[which], row->standing);
    pair->error[which] = row->worst_error;
    pair->speed[which] = speed_of((double)row->target_ns, (double)row->reference_ns);
}

static int badness(const char *standing)
{
    return !strcmp(standing, "held") ? 0 : !strcmp(standing, "failed") ? 2 : 1;
}

/* What became worse first, then what changed most in speed, then as it stands. */
static int by_change(const void *left, const void *right)
{
    const struct pw_tui_pair *a = left, *b = right;
    int x = badness(a->standing[1]) - badness(a->standing[0]), y = badness(b->standing[1]) - badness(b->standing[0]);
    double u = fabs(log(a->speed[1] / a->speed[0])), v = fabs(log(b->speed[1] / b->speed[0]));

    if (x != y)
        return x > y ? -1 : 1;
    u = isnan(u) ? -1 : u;
    v = isnan(v) ? -1 : v;
    if (u != v)
        return u > v ? -1 : 1;
    return strcmp(a->op, b->op) ? strcmp(a->op, b->op) : strcmp(a->id, b->id);
}

static void keep_comparison(struct pw_tui_side *side, const struct pw_event *event)
{
    const struct pw_store_signature_row *a = event->rows, *b = event->other_rows;
    struct pw_tui_pair *pairs = pw_calloc(event->row_count + event->other_row_count + 1, sizeof *pairs);
    struct pw_tui_comparison made = {.known = true, .runs = {event->compared[0], event->compared[1]}, .pairs = pairs};

    if (!pairs)
        return;
    for (size_t i = 0, k = 0; i < event->row_count || k < event->other_row_count;) {
        struct pw_tui_pair *pair = &pairs[made.count++];
        int order = i == event->row_count         ? 1
                    : k == event->other_row_count ? -1
                    : strcmp(a[i].op, b[k].op)    ? strcmp(a[i].op, b[k].op)
                                                  : strcmp(a[i].signature_id, b[k].signature_id);

        *pair = (struct pw_tui_pair){.error = {NAN, NAN}, .speed = {NAN, NAN}};
        if (order <= 0)
            fill_pair(pair, 0, &a[i++]);
        if (order >= 0)
            fill_pair(pair, 1, &b[k++]);
    }
    copy(made.environment[0], sizeof made.environment[0], event->row_count ? a[0].environment_id : "");
    copy(made.environment[1], sizeof made.environment[1], event->other_row_count ? b[0].environment_id : "");
    qsort(pairs, made.count, sizeof *pairs, by_change);
    pw_free(side->comparison.pairs);
    side->comparison = made;
}

bool pw_tui_trend_event(struct pw_tui *tui, const struct pw_event *event)
{
    if (event->ask == PW_ASK_HISTORY)
        keep_history(tui->at, event);
    else if (event->ask == PW_ASK_GRAPH)
        keep_graph(tui->at, event);
    else if (event->ask == PW_ASK_COMPARE)
        keep_comparison(tui->at, event);
    else
        return false;
    return true;
}

void pw_tui_act_whole_graph(struct pw_tui *tui)
{
    tui->whole_graph = !tui->whole_graph;
    tui->show_comparison = false;
    tui->scroll[PW_SCREEN_TRENDS] = 0;
    pw_tui_go(tui, PW_SCREEN_TRENDS);
}
/* With the last two runs that have figures of what is shown. */
void pw_tui_act_compare(struct pw_tui *tui)
{
    long long runs[2] = {0, 0};
    size_t count = tui->whole_graph ? tui->at->graph.count : tui->at->history.count;
    char text[64];

    for (size_t i = count, found = 2; i-- > 0 && found;) {
        long long run = tui->whole_graph ? tui->at->graph.points[i].run_id : tui->at->history.points[i].run_id;
        bool usable = tui->whole_graph ? !tui->at->graph.points[i].whole
                                       : strcmp(tui->at->history.points[i].standing, "timed") != 0;

        if (usable && run != runs[1])
            runs[--found] = run;
    }
    if (runs[0])
        snprintf(text, sizeof text, "compare %lld %lld", runs[0], runs[1]);
    else
        snprintf(text, sizeof text, "compare ");
    pw_tui_open_command(tui, text);
}
