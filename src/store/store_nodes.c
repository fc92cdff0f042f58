/* Times and errors of every node of the latest runs of whole graphs. */
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "store/endtoend.h"
#include "store/store_internal.h"

/* ---- writing ---- */

/* What the rows of one run are added with; its texts are there once each, by numbers from 1. */
struct adding {
    struct pw_store_node_list *list;
    sqlite3_stmt *insert, *insert_text;
};

/* Steps a statement that is used again and again. */
static pw_status step_again(struct pw_store *store, sqlite3_stmt *statement, const char *what, struct pw_error *err)
{
    int code = sqlite3_step(statement);
    pw_status status = code == SQLITE_DONE ? PW_OK : pw_store_fail(store, what, err);

    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return status;
}

/* The text's number, 0 for none. */
static pw_status number_of(struct pw_store *store, const struct adding *to, const char *text, size_t *number,
                           struct pw_error *err)
{
    struct pw_map *texts = &to->list->texts;
    pw_status status;

    *number = 0;
    if (!text || !text[0] || pw_map_find(texts, text, number))
        return PW_OK;
    *number = texts->count + 1;
    status = pw_map_put(texts, text, *number, err);
    if (status != PW_OK)
        return status;
    sqlite3_bind_int64(to->insert_text, 1, to->list->run);
    sqlite3_bind_int64(to->insert_text, 2, (int64_t)*number);
    sqlite3_bind_text(to->insert_text, 3, text, -1, SQLITE_TRANSIENT);
    return step_again(store, to->insert_text, "a node's text could not be recorded", err);
}

static void bind_number(sqlite3_stmt *statement, int at, size_t number)
{
    if (number)
        sqlite3_bind_int64(statement, at, (int64_t)number);
}

static pw_status add_figures(struct pw_store *store, const struct adding *to,
                             const struct pw_store_node_figure *figures, size_t count, struct pw_error *err)
{
    sqlite3_stmt *insert = to->insert;
    pw_status status = PW_OK;

    for (size_t i = 0; i < count && status == PW_OK; i++) {
        const struct pw_store_node_figure *f = &figures[i];
        size_t implementation = 0, note = 0;

        status = number_of(store, to, f->implementation, &implementation, err);
        if (status == PW_OK)
            status = number_of(store, to, f->note, &note, err);
        if (status != PW_OK)
            break;
        sqlite3_bind_int64(insert, 1, to->list->run);
        sqlite3_bind_int64(insert, 2, (int64_t)(to->list->count + i));
        sqlite3_bind_int64(insert, 3, f->node);
        if (f->standing != PW_NODE_HELD)
            pw_store_bind_text(insert, 4, pw_node_standing_name(f->standing));
        sqlite3_bind_int(insert, 5, f->on_target);
        sqlite3_bind_int(insert, 6, f->nonfinite_origin);
        pw_store_bind_time(insert, 7, f->time_ns);
        pw_store_bind_real(insert, 8, f->isolated);
        pw_store_bind_real(insert, 9, f->tolerance);
        pw_store_bind_real(insert, 10, f->propagated);
        bind_number(insert, 11, implementation);
        bind_number(insert, 12, note);
        status = step_again(store, insert, "the nodes of a run could not be recorded", err);
    }
    return status;
}

/* ?1 a run, ?2 how many are kept, ?3 how many nodes, ?4 a day ago. What has no end may be going on elsewhere. */
#define OLD_RUNS                                                                                                       \
    "(SELECT id FROM (SELECT id, nodes, ROW_NUMBER() OVER newest AS age, SUM(nodes) OVER newest AS together FROM"      \
    " (SELECT run.id AS id, (SELECT COUNT(*) FROM node_figure f WHERE f.run = run.id) AS nodes FROM run,"              \
    "  (SELECT graph, target FROM run WHERE id = ?1) its WHERE run.graph = its.graph AND run.target = its.target"      \
    "  AND (run.end_ms IS NOT NULL OR run.id = ?1)"                                                                    \
    "  AND EXISTS (SELECT 1 FROM node_figure f WHERE f.run = run.id)) WINDOW newest AS (ORDER BY id DESC))"            \
    " WHERE age > 1 AND (age > ?2 OR together > ?3)"                                                                   \
    " UNION SELECT run.id FROM run, (SELECT graph, target FROM run WHERE id = ?1) its WHERE run.graph = its.graph"     \
    "  AND run.target = its.target AND run.end_ms IS NULL AND run.id < ?1 AND run.begin_ms < ?4)"

static pw_status forget_old(struct pw_store *store, int64_t run_id, struct pw_error *err)
{
    /* texts first: which runs are old is told by their figures */
    static const char *const statements[] = {"DELETE FROM run_text WHERE run IN " OLD_RUNS,
                                             "DELETE FROM node_figure WHERE run IN " OLD_RUNS};
    pw_status status = PW_OK;

    for (int i = 0; i < 2 && status == PW_OK; i++) {
        sqlite3_stmt *statement = NULL;

        status = pw_store_prepare(store, statements[i], &statement, err);
        if (status != PW_OK)
            break;
        sqlite3_bind_int64(statement, 1, run_id);
        sqlite3_bind_int64(statement, 2, PW_STORE_NODE_RUNS);
        sqlite3_bind_int64(statement, 3, PW_STORE_NODE_ROWS);
        sqlite3_bind_int64(statement, 4, pw_clock_wall_ms() - INT64_C(86400000));
        status = pw_store_run_once(store, statement, "the nodes of older runs could not be removed", err);
    }
    return status;
}

pw_status pw_store_node_figures_add(struct pw_store *store, struct pw_store_node_list *list,
                                    const struct pw_store_node_figure *figures, size_t count, struct pw_error *err)
{
    struct adding to = {.list = list};
    pw_status status = pw_store_exec(store, "BEGIN IMMEDIATE", err);

    if (status != PW_OK)
        return status;
    status = pw_store_prepare(store, "INSERT INTO run_text(run, id, text) VALUES(?,?,?)", &to.insert_text, err);
    if (status == PW_OK)
        status = pw_store_prepare(store,
                                  "INSERT INTO node_figure(run, place, node, standing, on_target, nonfinite_origin,"
                                  " time_ns, isolated, tolerance, propagated, implementation, note)"
                                  " VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
                                  &to.insert, err);
    if (status == PW_OK)
        status = add_figures(store, &to, figures, count, err);
    sqlite3_finalize(to.insert_text);
    sqlite3_finalize(to.insert);
    status = pw_store_end_transaction(store, status, err);
    if (status == PW_OK)
        list->count += count;
    return status;
}

/* A run that takes longer than a day is taken for one that was killed. */
static pw_status check_whole(struct pw_store *store, const struct pw_store_node_list *list, struct pw_error *err)
{
    sqlite3_stmt *q = NULL;
    pw_status status = pw_store_prepare(store, "SELECT COUNT(*) FROM node_figure WHERE run = ?", &q, err);

    if (status != PW_OK)
        return status;
    sqlite3_bind_int64(q, 1, list->run);
    if (sqlite3_step(q) != SQLITE_ROW)
        status = pw_store_fail(store, "the nodes of a run could not be counted", err);
    else if (sqlite3_column_int64(q, 0) != (int64_t)list->count)
        status = pw_error_set(err, PW_ERR_STORE, "the nodes of the run: %zu were recorded, %lld are left", list->count,
                              (long long)sqlite3_column_int64(q, 0));
    sqlite3_finalize(q);
    return status;
}

pw_status pw_store_node_figures_end(struct pw_store *store, const struct pw_store_node_list *list, struct pw_error *err)
{
    pw_status status = pw_store_exec(store, "BEGIN IMMEDIATE", err);

    if (status != PW_OK)
        return status;
    status = check_whole(store, list, err);
    if (status == PW_OK)
        status = forget_old(store, list->run, err);
    return pw_store_end_transaction(store, status, err);
}

pw_status pw_store_node_figures_drop(struct pw_store *store, const struct pw_store_node_list *list,
                                     struct pw_error *err)
{
    static const char *const statements[] = {"DELETE FROM run_text WHERE run = ?",
                                             "DELETE FROM node_figure WHERE run = ?"};
    pw_status status = pw_store_exec(store, "BEGIN IMMEDIATE", err);

    if (status != PW_OK)
        return status;
    for (int i = 0; i < 2 && status == PW_OK; i++) {
        sqlite3_stmt *statement = NULL;

        status = pw_store_prepare(store, statements[i], &statement, err);
        if (status != PW_OK)
            break;
        sqlite3_bind_int64(statement, 1, list->run);
        status = pw_store_run_once(store, statement, "the nodes of a run could not be removed", err);
    }
    return pw_store_end_transaction(store, status, err);
}

void pw_store_node_list_clear(struct pw_store_node_list *list)
{
    pw_map_clear(&list->texts);
    *list = (struct pw_store_node_list){.run = 0};
}

/* ---- reading ---- */

/* A figure whose texts are numbers still. */
struct stored {
    struct pw_store_node_figure figure;
    int64_t implementation, note;
};

static pw_status read_standing(const char *name, pw_node_standing *out, struct pw_error *err)
{
    *out = PW_NODE_HELD;
    if (!name)
        return PW_OK;
    for (int i = 0; i < PW_NODE_STANDING_COUNT; i++)
        if (!strcmp(pw_node_standing_name((pw_node_standing)i), name)) {
            *out = (pw_node_standing)i;
            return PW_OK;
        }
    return pw_error_set(err, PW_ERR_STORE, "the nodes of a run could not be read: '%.40s' is no standing of a node",
                        name);
}

static pw_status read_stored(sqlite3_stmt *q, struct pw_arena *arena, void *out, struct pw_error *err)
{
    struct stored *row = out;

    (void)arena;
    *row = (struct stored){.figure = {.node = sqlite3_column_int64(q, 0),
                                      .on_target = sqlite3_column_int(q, 2) != 0,
                                      .nonfinite_origin = sqlite3_column_int(q, 3) != 0,
                                      .time_ns = sqlite3_column_int64(q, 4),
                                      .isolated = pw_store_real_at(q, 5),
                                      .tolerance = pw_store_real_at(q, 6),
                                      .propagated = pw_store_real_at(q, 7),
                                      .implementation = "",
                                      .note = "",
                                      .reason = ""},
                           .implementation = sqlite3_column_int64(q, 8),
                           .note = sqlite3_column_int64(q, 9)};
    return read_standing((const char *)sqlite3_column_text(q, 1), &row->figure.standing, err);
}

struct numbered {
    int64_t number;
    const char *text;
};

static pw_status read_numbered(sqlite3_stmt *q, struct pw_arena *arena, void *out, struct pw_error *err)
{
    struct numbered *row = out;

    *row = (struct numbered){sqlite3_column_int64(q, 0), pw_store_text_at(q, 1, arena)};
    return row->text ? PW_OK : pw_error_memory(err, 64);
}

/* Rows of a run, read by `kind` in the order of the statement. */
static pw_status collect(struct pw_store *store, const char *sql, int64_t run_id, const struct pw_store_rows *kind,
                         struct pw_arena *arena, void *rows, size_t *count, struct pw_error *err)
{
    sqlite3_stmt *q = NULL;
    pw_status status = pw_store_prepare(store, sql, &q, err);

    if (status == PW_OK)
        sqlite3_bind_int64(q, 1, run_id);
    return pw_store_collect(store, status, q, kind, arena, rows, count, err);
}

/* Numbers count from 1 without a gap; what is not there is no text. */
static const char *text_of(const struct numbered *texts, size_t count, int64_t number)
{
    return number >= 1 && (uint64_t)number <= count && texts[number - 1].number == number ? texts[number - 1].text : "";
}

/* Times are summed where they are shown: what cannot be one is unknown. */
static void bound_times(struct pw_store_node_figure *figures, size_t count)
{
    int64_t left = INT64_MAX / 4;

    for (size_t i = 0; i < count; i++) {
        if (figures[i].time_ns < 0 || figures[i].time_ns > left)
            figures[i].time_ns = 0;
        left -= figures[i].time_ns;
    }
}

/* Why those do not hold: told in the same order, of each its number (patterns have none). */
static void add_reasons(struct pw_store_node_figure *figures, size_t count, const struct numbered *reasons,
                        size_t reason_count)
{
    size_t next = 0;

    for (size_t i = 0; i < count && next < reason_count; i++) {
        if (figures[i].standing == PW_NODE_HELD)
            continue;
        if (reasons[next].number == (figures[i].node < 0 ? -1 : figures[i].node))
            figures[i].reason = reasons[next].text;
        next++;
    }
}

pw_status pw_store_node_figures(struct pw_store *store, int64_t run_id, struct pw_arena *arena,
                                struct pw_store_node_figure **rows, size_t *count, struct pw_error *err)
{
    static const struct pw_store_rows stored_rows = {"the nodes of a run could not be read", sizeof(struct stored),
                                                     read_stored},
                                      text_rows = {"the texts of a run's nodes could not be read",
                                                   sizeof(struct numbered), read_numbered};
    struct pw_arena scratch = {0};
    struct stored *stored = NULL;
    struct numbered *texts = NULL, *reasons = NULL;
    struct pw_store_node_figure *made = NULL;
    size_t found = 0, text_count = 0, reason_count = 0;
    pw_status status = collect(store,
                               "SELECT node, standing, on_target, nonfinite_origin, time_ns, isolated, tolerance,"
                               " propagated, implementation, note FROM node_figure WHERE run = ? ORDER BY place",
                               run_id, &stored_rows, &scratch, &stored, &found, err);

    if (status == PW_OK)
        status = collect(store, "SELECT id, text FROM run_text WHERE run = ? ORDER BY id", run_id, &text_rows, arena,
                         &texts, &text_count, err);
    if (status == PW_OK)
        status = collect(store,
                         "SELECT ifnull(node, -1), reason FROM run_node WHERE run = ? AND standing <> 'held'"
                         " ORDER BY rowid",
                         run_id, &text_rows, arena, &reasons, &reason_count, err);
    if (status == PW_OK && !(made = pw_arena_alloc(arena, found + 1, sizeof *made)))
        status = pw_error_memory(err, found * sizeof *made);
    for (size_t i = 0; status == PW_OK && i < found; i++) {
        made[i] = stored[i].figure;
        made[i].implementation = text_of(texts, text_count, stored[i].implementation);
        made[i].note = text_of(texts, text_count, stored[i].note);
    }
    if (status == PW_OK) {
        bound_times(made, found);
        add_reasons(made, found, reasons, reason_count);
        *rows = made;
        *count = found;
    }
    pw_arena_clear(&scratch);
    return status;
}

static pw_status read_point(sqlite3_stmt *q, struct pw_arena *arena, void *out, struct pw_error *err)
{
    struct pw_store_node_point *row = out;

    *row = (struct pw_store_node_point){.run_id = sqlite3_column_int64(q, 0),
                                        .begin_ms = sqlite3_column_int64(q, 1),
                                        .node = sqlite3_column_int64(q, 2),
                                        .time_ns = sqlite3_column_int64(q, 4),
                                        .isolated = pw_store_real_at(q, 5),
                                        .tolerance = pw_store_real_at(q, 6),
                                        .environment_id = pw_store_text_at(q, 7, arena)};
    if (row->time_ns < 0)
        row->time_ns = 0;
    if (!row->environment_id)
        return pw_error_memory(err, 64);
    return read_standing((const char *)sqlite3_column_text(q, 3), &row->standing, err);
}

pw_status pw_store_node_points(struct pw_store *store, const char *graph, const char *target, const char *bindings,
                               const size_t *numbers, size_t number_count, struct pw_arena *arena,
                               struct pw_store_node_point **rows, size_t *count, struct pw_error *err)
{
    static const struct pw_store_rows kind = {"nodes of earlier runs could not be read",
                                              sizeof(struct pw_store_node_point), read_point};
    struct pw_buf sql = {0};
    sqlite3_stmt *q = NULL;
    pw_status status;

    pw_buf_puts(&sql, "SELECT f.run, run.begin_ms, f.node, f.standing, f.time_ns, f.isolated, f.tolerance,"
                      " run.environment_id FROM node_figure f JOIN run ON run.id = f.run"
                      " WHERE f.run IN (SELECT id FROM run WHERE graph = ?1 AND target = ?2 AND bindings = ?3"
                      " AND end_ms IS NOT NULL) AND f.node IN (");
    for (size_t i = 0; i < number_count; i++)
        pw_buf_printf(&sql, "%s%zu", i ? "," : "", numbers[i]);
    pw_buf_puts(&sql, ") ORDER BY f.run, f.place");
    status = sql.failed ? pw_error_memory(err, sql.size) : pw_store_prepare(store, pw_buf_text(&sql), &q, err);
    if (status == PW_OK) {
        pw_store_bind_text(q, 1, graph);
        pw_store_bind_text(q, 2, target);
        pw_store_bind_text(q, 3, bindings);
        status = pw_store_collect(store, status, q, &kind, arena, rows, count, err);
    }
    pw_buf_clear(&sql);
    return status;
}

pw_status pw_store_node_run_latest(struct pw_store *store, const char *graph, const char *target,
                                   struct pw_arena *arena, struct pw_store_node_run *run, struct pw_error *err)
{
    sqlite3_stmt *q = NULL;
    pw_status status = pw_store_prepare(
        store,
        "SELECT id, begin_ms, bindings, outcome = 'held', ifnull((SELECT node FROM run_node n WHERE n.run = run.id"
        "  AND n.node IS NOT NULL AND n.standing NOT IN ('held', 'drawn') ORDER BY n.position LIMIT 1), -1)"
        " FROM run WHERE graph = ?1 AND target = ?2 AND end_ms IS NOT NULL"
        " AND EXISTS (SELECT 1 FROM node_figure f WHERE f.run = run.id) ORDER BY id DESC LIMIT 1",
        &q, err);
    int code;

    *run = (struct pw_store_node_run){.first_divergence = -1, .bindings = ""};
    if (status != PW_OK)
        return status;
    pw_store_bind_text(q, 1, graph);
    pw_store_bind_text(q, 2, target);
    code = sqlite3_step(q);
    if (code == SQLITE_ROW) {
        *run = (struct pw_store_node_run){.id = sqlite3_column_int64(q, 0),
                                          .begin_ms = sqlite3_column_int64(q, 1),
                                          .bindings = pw_store_text_at(q, 2, arena),
                                          .held = sqlite3_column_int(q, 3) != 0,
                                          .first_divergence = sqlite3_column_int64(q, 4)};
        if (!run->bindings)
            status = pw_error_memory(err, 64);
    } else if (code != SQLITE_DONE) {
        status = pw_store_fail(store, "the newest run of the graph could not be read", err);
    }
    sqlite3_finalize(q);
    return status;
}
