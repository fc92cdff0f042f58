/* Figures over runs as the session answers them: of a signature, of the graph, of two runs beside each other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "bench/trend.h"
#include "store/history.h"
#include "tui/tui.h"

/* ---- curves ---- */

static void clear_curves(struct pw_tui_curves *curves)
{
    pw_free(curves->errors);
    pw_free(curves->speeds);
    pw_free(curves->wall_ms);
    pw_free(curves->error_changes);
    pw_free(curves->speed_changes);
    *curves = (struct pw_tui_curves){.limit = NAN};
}

/* One run's figures. */
struct sight {
    double error, speed; /* NaN unknown */
    int64_t wall_ms;
    const char *environment;
};
typedef bool see(const void *points, size_t i, const void *user, struct sight *sight); /* false: tells nothing */

/* Where the level of a series changed by 5 % or more; none when memory is short: the series itself is shown. */
static size_t *find_changes(const double *values, size_t count, size_t *found)
{
    struct pw_trend_change *changes = NULL;
    struct pw_arena arena = {0};
    struct pw_error ignored = {0};
    double *logs = pw_calloc(count + 1, sizeof *logs);
    size_t *at = NULL;

    *found = 0;
    for (size_t i = 0; logs && i < count; i++)
        logs[i] = log(values[i]);
    if (logs && pw_trend_changes(logs, count, log(1.05), &arena, &changes, found, &ignored) == PW_OK)
        at = pw_calloc(*found + 1, sizeof *at);
    *found = at ? *found : 0;
    for (size_t i = 0; i < *found; i++)
        at[i] = changes[i].at;
    pw_arena_clear(&arena);
    pw_free(logs);
    return at;
}

static void make_curves(struct pw_tui_curves *curves, const void *points, size_t count, see *look, const void *user)
{
    struct pw_tui_curves made = {.limit = NAN};
    struct sight sight;

    made.errors = pw_calloc(count + 1, sizeof *made.errors);
    made.speeds = pw_calloc(count + 1, sizeof *made.speeds);
    made.wall_ms = pw_calloc(count + 1, sizeof *made.wall_ms);
    clear_curves(curves);
    if (!made.errors || !made.speeds || !made.wall_ms) {
        clear_curves(&made);
        return;
    }
    for (size_t i = count; !made.timed && i-- > 0;) /* times of others than the newest timed one's do not compare */
        if (look(points, i, user, &sight) && !isnan(sight.speed)) {
            made.timed = true;
            snprintf(made.environment, sizeof made.environment, "%s", sight.environment);
        }
    for (size_t i = 0; i < count; i++) {
        bool here;

        if (!look(points, i, user, &sight))
            continue;
        here = made.timed && !strcmp(sight.environment, made.environment);
        made.errors[made.count] = sight.error;
        made.speeds[made.count] = here ? sight.speed : NAN;
        made.wall_ms[made.count++] = sight.wall_ms;
        made.elsewhere += !here && !isnan(sight.speed);
    }
    made.error_changes = find_changes(made.errors, made.count, &made.error_change_count);
    made.speed_changes = find_changes(made.speeds, made.count, &made.speed_change_count);
    *curves = made;
}

void pw_tui_trends_clear(struct pw_tui_side *side)
{
    pw_free(side->history.points);
    pw_free(side->history.marks);
    pw_free(side->history.nodes);
    pw_free(side->graph.points);
    pw_free(side->graph.marks);
    pw_free(side->comparison.pairs);
    clear_curves(&side->history.curves);
    clear_curves(&side->graph.curves[0]);
    clear_curves(&side->graph.curves[1]);
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

static bool see_point(const void *points, size_t i, const void *user, struct sight *sight)
{
    const struct pw_tui_point *point = (const struct pw_tui_point *)points + i;

    (void)user;
    *sight = (struct sight){point->error, point->ratio, point->wall_ms, point->environment};
    return true;
}

/* Without memory there are none. */
static void keep_nodes(struct pw_tui_history *history, const struct pw_event *event)
{
    size_t count = event->node_run_count ? event->node_trend_count : 0;

    history->nodes = count ? pw_calloc(count, sizeof *history->nodes) : NULL;
    if (!history->nodes)
        return;
    memcpy(history->nodes, event->node_trends, count * sizeof *history->nodes);
    memcpy(history->node_runs, event->node_runs, sizeof history->node_runs);
    history->node_count = count;
    history->node_run_count = event->node_run_count;
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
    make_curves(&made.curves, points, made.count, see_point, NULL);
    for (size_t i = 0; i < made.count; i++)
        if (!isnan(points[i].tolerance))
            made.curves.limit = points[i].tolerance; /* the newest */
    keep_nodes(&made, event);
    pw_free(side->history.points);
    pw_free(side->history.marks);
    pw_free(side->history.nodes);
    clear_curves(&side->history.curves);
    side->history = made;
}

/* Which runs say something of the whole graph: end to end, or (nearly) all signatures. */
struct telling {
    bool whole;
    int most; /* signatures of a run */
};

static bool see_graph_point(const void *points, size_t i, const void *user, struct sight *sight)
{
    const struct pw_tui_graph_point *point = (const struct pw_tui_graph_point *)points + i;
    const struct telling *telling = user;

    *sight = (struct sight){point->share, point->speed, point->wall_ms, point->environment};
    if (point->whole || telling->whole)
        return point->whole && telling->whole;
    return 10 * point->signatures >= 9 * telling->most;
}

static void keep_graph(struct pw_tui_side *side, const struct pw_event *event)
{
    struct pw_tui_graph_point *points = pw_calloc(event->graph_row_count + 1, sizeof *points);
    struct pw_tui_graph made = {.known = true, .points = points, .count = event->graph_row_count};
    struct telling telling = {.whole = false};

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
    for (size_t i = 0; i < made.count; i++)
        telling.most = points[i].signatures > telling.most ? points[i].signatures : telling.most;
    for (int whole = 0; whole < 2; whole++) {
        telling.whole = whole;
        make_curves(&made.curves[whole], points, made.count, see_graph_point, &telling);
        made.curves[whole].limit = 1; /* shares of the tolerance */
        clear_curves(&side->graph.curves[whole]);
    }
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

/* Which signatures of the graph they are; one that it has no more is none. */
static void find_signatures(const struct pw_inventory *inventory, struct pw_tui_pair *pairs, size_t count)
{
    struct pw_map map = {0};
    struct pw_error ignored = {0};

    for (size_t i = 0; i < inventory->signature_count; i++)
        if (pw_map_put(&map, inventory->signatures[i].id, i, &ignored) != PW_OK)
            break; /* then their lines open nothing */
    for (size_t i = 0; i < count; i++)
        if (!pw_map_find(&map, pairs[i].id, &pairs[i].signature))
            pairs[i].signature = SIZE_MAX;
    pw_map_clear(&map);
}

static void keep_comparison(const struct pw_tui *tui, struct pw_tui_side *side, const struct pw_event *event)
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
    find_signatures(tui->inventory, pairs, made.count);
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
        keep_comparison(tui, tui->at, event);
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

/* The newest run with verdicts of what is shown but for one, before another where that is not 0; 0: there is none. */
static long long newest_run(const struct pw_tui *tui, long long but, long long before)
{
    size_t count = tui->whole_graph ? tui->at->graph.count : tui->at->history.count;

    for (size_t i = count; i-- > 0;) {
        const struct pw_tui_graph_point *whole = tui->whole_graph ? &tui->at->graph.points[i] : NULL;
        const struct pw_tui_point *point = whole ? NULL : &tui->at->history.points[i];
        long long run = whole ? whole->run_id : point->run_id;

        if ((whole ? !whole->whole : strcmp(point->standing, "timed") != 0) && run != but && (!before || run < before))
            return run;
    }
    return 0;
}

/* A run and the newest other one, the older first; false: there are not two, or this one has no verdicts. */
static bool two_runs(const struct pw_tui *tui, long long run, long long runs[2])
{
    long long other = newest_run(tui, run, 0);

    if (!other || newest_run(tui, 0, run + 1) != run)
        return false;
    runs[0] = run < other ? run : other;
    runs[1] = run < other ? other : run;
    return true;
}

void pw_tui_compare_run(struct pw_tui *tui, long long run)
{
    long long runs[2];
    char text[64];

    if (!two_runs(tui, run, runs)) {
        pw_tui_say(tui, false,
                   newest_run(tui, 0, run + 1) == run ? "there is no other run to set run %lld beside"
                                                      : "run %lld has no verdicts to set beside another's",
                   run);
        return;
    }
    snprintf(text, sizeof text, "%lld %lld", runs[0], runs[1]);
    pw_tui_run_compare(tui, text);
}

void pw_tui_show_comparison(struct pw_tui *tui)
{
    if (!tui->show_comparison) {
        tui->entry_before = tui->entry_chosen ? tui->chosen_entry : (struct pw_tui_entry){0};
        tui->scroll_before = tui->scroll[PW_SCREEN_TRENDS];
    }
    tui->show_comparison = true;
    tui->entry_chosen = false;
    tui->scroll[PW_SCREEN_TRENDS] = 0;
}

void pw_tui_leave_comparison(struct pw_tui *tui)
{
    tui->show_comparison = false;
    tui->chosen_entry = tui->entry_before;
    tui->entry_chosen = tui->entry_before.run != 0;
    tui->scroll[PW_SCREEN_TRENDS] = tui->scroll_before;
}

/* A chosen run with the newest other one, else the last two that have figures of what is shown. */
void pw_tui_act_compare(struct pw_tui *tui)
{
    long long chosen = tui->entry_chosen ? tui->chosen_entry.run : 0, runs[2];
    char text[64];

    if ((chosen && two_runs(tui, chosen, runs)) || two_runs(tui, newest_run(tui, 0, 0), runs))
        snprintf(text, sizeof text, "compare %lld %lld", runs[0], runs[1]);
    else
        snprintf(text, sizeof text, "compare ");
    pw_tui_open_command(tui, text);
}
