/* Series per signature over runs. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "store/history.h"
#include "store/store_internal.h"

#define PREFIX_END "\xef\xbf\xbf" /* sorts after every hexadecimal digit */

struct reader {
    struct pw_arena *arena;
    struct pw_history_series *series;
    size_t count, cap;
    struct pw_history_point *points; /* of the series at the end, growing */
    size_t point_count, point_cap;
};

/* As pw_store_text_at; a text that the point before has too is shared: runs differ in little. */
static const char *text_like(sqlite3_stmt *q, int column, const char *before, struct pw_arena *arena)
{
    const char *text = (const char *)sqlite3_column_text(q, column);

    return before && !strcmp(text ? text : "", before) ? before : pw_store_text_at(q, column, arena);
}

static bool same(sqlite3_stmt *q, int column, const char *text)
{
    const char *value = (const char *)sqlite3_column_text(q, column);

    return !strcmp(value ? value : "", text);
}

/* The points gathered so far go to the series that they are of. */
static pw_status close_series(struct reader *r, struct pw_error *err)
{
    struct pw_history_series *s;

    if (!r->count)
        return PW_OK;
    s = &r->series[r->count - 1];
    s->points = pw_arena_alloc(r->arena, r->point_count + 1, sizeof *s->points);
    if (!s->points)
        return pw_error_memory(err, r->point_count * sizeof *s->points);
    if (r->point_count)
        memcpy(s->points, r->points, r->point_count * sizeof *s->points);
    s->count = r->point_count;
    r->point_count = 0;
    return PW_OK;
}

static pw_status open_series(struct reader *r, sqlite3_stmt *q, struct pw_error *err)
{
    struct pw_history_series *s = r->count ? &r->series[r->count - 1] : NULL;
    pw_status status;

    if (s && same(q, 0, s->signature) && same(q, 3, s->target) && same(q, 4, s->dims))
        return PW_OK;
    status = close_series(r, err);
    if (status == PW_OK)
        status = PW_GROW(r->series, r->cap, r->count + 1, err);
    if (status != PW_OK)
        return status;
    s = &r->series[r->count++];
    *s = (struct pw_history_series){.signature = pw_store_text_at(q, 0, r->arena),
                                    .op = pw_store_text_at(q, 1, r->arena),
                                    .text = pw_store_text_at(q, 2, r->arena),
                                    .target = pw_store_text_at(q, 3, r->arena),
                                    .dims = pw_store_text_at(q, 4, r->arena)};
    return s->signature && s->op && s->text && s->target && s->dims ? PW_OK : pw_error_memory(err, 256);
}

static pw_status add_point(struct reader *r, sqlite3_stmt *q, struct pw_error *err)
{
    pw_status status = open_series(r, q, err);
    struct pw_history_point before = {0}, *p;

    if (r->point_count)
        before = r->points[r->point_count - 1];
    if (status == PW_OK)
        status = PW_GROW(r->points, r->point_cap, r->point_count + 1, err);
    if (status != PW_OK)
        return status;
    p = &r->points[r->point_count++];
    *p = (struct pw_history_point){.run = sqlite3_column_int64(q, 5),
                                   .wall_ms = sqlite3_column_int64(q, 6),
                                   .environment_id = text_like(q, 7, before.environment_id, r->arena),
                                   .standing = text_like(q, 8, before.standing, r->arena),
                                   .coverage = text_like(q, 9, before.coverage, r->arena),
                                   .kernel = text_like(q, 10, before.kernel, r->arena),
                                   .kernel_hash = text_like(q, 11, before.kernel_hash, r->arena),
                                   .error = pw_store_real_at(q, 12),
                                   .tolerance = pw_store_real_at(q, 13),
                                   .target_ns = sqlite3_column_int64(q, 14),
                                   .reference_ns = sqlite3_column_int64(q, 15),
                                   .reference = text_like(q, 16, before.reference, r->arena)};
    return p->environment_id && p->standing && p->coverage && p->kernel && p->kernel_hash && p->reference
               ? PW_OK
               : pw_error_memory(err, 256);
}

static const char series_sql[] =
    "SELECT r.signature, s.op, s.text, run.target, run.bindings, r.run, r.wall_ms, run.environment_id, r.standing,"
    " r.coverage, r.implementation, r.kernel_hash, r.worst_error, r.tolerance, r.target_ns, r.reference_ns,"
    " r.reference_name FROM result r JOIN signature s ON s.id = r.signature JOIN run ON run.id = r.run"
    " WHERE (?1 IS NULL OR s.op = ?1 OR s.op LIKE ?2 ESCAPE '\\' OR s.op LIKE ?3 ESCAPE '\\')"
    " AND (?4 IS NULL OR r.signature = ?4) AND (?5 IS NULL OR run.target = ?5)"
    " AND (?6 IS NULL OR (run.graph >= ?6 AND run.graph < ?7)) AND r.wall_ms >= ?8"
    " ORDER BY s.op, r.signature, run.target, run.bindings, r.run, r.rowid";

/* Of an operator without a version: "Softmax-%", and "domain:Softmax-%". */
static void bind_op(sqlite3_stmt *q, const char *op, struct pw_buf *escaped)
{
    struct pw_buf with_domain = {0};

    for (const char *p = op; *p; p++) {
        if (strchr("%_\\", *p))
            pw_buf_putc(escaped, '\\');
        pw_buf_putc(escaped, *p);
    }
    pw_buf_puts(escaped, "-%");
    pw_buf_printf(&with_domain, "%%:%s", pw_buf_text(escaped));
    pw_store_bind_text(q, 1, op);
    pw_store_bind_text(q, 2, pw_buf_text(escaped));
    pw_store_bind_text(q, 3, pw_buf_text(&with_domain));
    escaped->failed |= with_domain.failed;
    pw_buf_clear(&with_domain);
}

static pw_status bind_filter(sqlite3_stmt *q, const struct pw_history_filter *filter, struct pw_error *err)
{
    struct pw_buf text = {0}, end = {0};
    bool failed;

    if (filter->op)
        bind_op(q, filter->op, &text);
    pw_store_bind_text(q, 4, filter->signature);
    pw_store_bind_text(q, 5, filter->target);
    if (filter->graph) {
        pw_buf_printf(&end, "%s%s", filter->graph, PREFIX_END);
        pw_store_bind_text(q, 6, filter->graph);
        pw_store_bind_text(q, 7, pw_buf_text(&end));
    }
    sqlite3_bind_int64(q, 8, filter->since_ms);
    failed = text.failed || end.failed;
    pw_buf_clear(&text);
    pw_buf_clear(&end);
    return failed ? pw_error_memory(err, 256) : PW_OK;
}

pw_status pw_history_read(struct pw_store *store, const struct pw_history_filter *filter, struct pw_arena *arena,
                          struct pw_history_series **series, size_t *count, struct pw_error *err)
{
    struct reader r = {.arena = arena};
    sqlite3_stmt *q = NULL;
    int code = SQLITE_DONE;
    pw_status status = pw_store_prepare(store, series_sql, &q, err);

    if (status == PW_OK)
        status = bind_filter(q, filter, err);
    while (status == PW_OK && (code = sqlite3_step(q)) == SQLITE_ROW)
        status = add_point(&r, q, err);
    if (status == PW_OK && code != SQLITE_DONE)
        status = pw_store_fail(store, "its history could not be read", err);
    if (status == PW_OK)
        status = close_series(&r, err);
    if (status == PW_OK) {
        *series = pw_arena_alloc(arena, r.count + 1, sizeof **series);
        if (!*series)
            status = pw_error_memory(err, r.count * sizeof **series);
        else if (r.count)
            memcpy(*series, r.series, r.count * sizeof **series);
        *count = r.count;
    }
    sqlite3_finalize(q);
    pw_free(r.series);
    pw_free(r.points);
    return status;
}

pw_status pw_history_environments(struct pw_store *store, struct pw_arena *arena,
                                  struct pw_history_environment **environments, size_t *count, struct pw_error *err)
{
    struct pw_history_environment *items = NULL;
    sqlite3_stmt *q = NULL;
    size_t n = 0, cap = 0;
    int code = SQLITE_DONE;
    pw_status status = pw_store_prepare(store,
                                        "SELECT environment_id, environment FROM run WHERE id IN (SELECT MAX(id) FROM "
                                        "run WHERE environment_id != '' GROUP BY environment_id) ORDER BY id",
                                        &q, err);

    while (status == PW_OK && (code = sqlite3_step(q)) == SQLITE_ROW) {
        status = PW_GROW(items, cap, n + 1, err);
        if (status != PW_OK)
            break;
        items[n] = (struct pw_history_environment){pw_store_text_at(q, 0, arena), pw_store_text_at(q, 1, arena)};
        if (!items[n].id || !items[n].json)
            status = pw_error_memory(err, 256);
        n++;
    }
    if (status == PW_OK && code != SQLITE_DONE)
        status = pw_store_fail(store, "its environments could not be read", err);
    *environments = status == PW_OK ? pw_arena_alloc(arena, n + 1, sizeof *items) : NULL;
    if (status == PW_OK && !*environments)
        status = pw_error_memory(err, n * sizeof *items);
    if (status == PW_OK && n)
        memcpy(*environments, items, n * sizeof *items);
    *count = status == PW_OK ? n : 0;
    sqlite3_finalize(q);
    pw_free(items);
    return status;
}
