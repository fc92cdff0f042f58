/* What reports ask of the store: the newest run of a kind, its outputs and figures. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "store/endtoend.h"
#include "store/store_internal.h"

pw_status pw_store_run_latest(struct pw_store *store, const char *graph, const char *target, const char *kind,
                              struct pw_arena *arena, struct pw_store_run_row *row, struct pw_error *err)
{
    sqlite3_stmt *q = NULL;
    pw_status status = pw_store_prepare(
        store,
        "SELECT id, begin_ms, end_ms, kind, outcome, environment, environment_id, bindings, version, target_kind,"
        " device, exit_code FROM run WHERE graph = ?1 AND target = ?2 AND (?3 IS NULL OR kind = ?3)"
        " AND end_ms IS NOT NULL ORDER BY id DESC LIMIT 1",
        &q, err);
    int code;

    *row = (struct pw_store_run_row){.kind = "",
                                     .outcome = "",
                                     .environment = "",
                                     .environment_id = "",
                                     .bindings = "",
                                     .version = "",
                                     .target_kind = "",
                                     .device = ""};
    if (status != PW_OK)
        return status;
    pw_store_bind_text(q, 1, graph);
    pw_store_bind_text(q, 2, target);
    if (kind)
        pw_store_bind_text(q, 3, kind);
    code = sqlite3_step(q);
    if (code == SQLITE_ROW) {
        *row = (struct pw_store_run_row){.id = sqlite3_column_int64(q, 0),
                                         .begin_ms = sqlite3_column_int64(q, 1),
                                         .end_ms = sqlite3_column_int64(q, 2),
                                         .kind = pw_store_text_at(q, 3, arena),
                                         .outcome = pw_store_text_at(q, 4, arena),
                                         .environment = pw_store_text_at(q, 5, arena),
                                         .environment_id = pw_store_text_at(q, 6, arena),
                                         .bindings = pw_store_text_at(q, 7, arena),
                                         .version = pw_store_text_at(q, 8, arena),
                                         .target_kind = pw_store_text_at(q, 9, arena),
                                         .device = pw_store_text_at(q, 10, arena),
                                         .exit_code = sqlite3_column_int(q, 11)};
        if (!row->kind || !row->outcome || !row->environment || !row->environment_id || !row->bindings ||
            !row->version || !row->target_kind || !row->device)
            status = pw_error_memory(err, 64);
    } else if (code != SQLITE_DONE) {
        status = pw_store_fail(store, "the newest run could not be read", err);
    }
    sqlite3_finalize(q);
    return status;
}

static pw_status read_output(sqlite3_stmt *q, struct pw_arena *arena, void *out, struct pw_error *err)
{
    struct pw_store_output_row *row = out;

    row->name = pw_store_text_at(q, 0, arena);
    row->reason = pw_store_text_at(q, 1, arena);
    row->held = sqlite3_column_int(q, 2) != 0;
    row->error = pw_store_real_at(q, 3);
    row->tolerance = pw_store_real_at(q, 4);
    return row->name && row->reason ? PW_OK : pw_error_memory(err, sizeof *row);
}

pw_status pw_store_outputs(struct pw_store *store, int64_t run_id, struct pw_arena *arena,
                           struct pw_store_output_row **rows, size_t *count, struct pw_error *err)
{
    static const struct pw_store_rows outputs = {"outputs could not be read", sizeof **rows, read_output};
    sqlite3_stmt *q = NULL;
    pw_status status = pw_store_prepare(
        store, "SELECT name, reason, held, error, tolerance FROM run_output WHERE run = ? ORDER BY output", &q, err);

    *count = 0;
    if (status == PW_OK)
        sqlite3_bind_int64(q, 1, run_id);
    return pw_store_collect(store, status, q, &outputs, arena, rows, count, err);
}

static pw_status read_figure(sqlite3_stmt *q, struct pw_arena *arena, void *out, struct pw_error *err)
{
    struct pw_store_figure_row *row = out;

    row->name = pw_store_text_at(q, 0, arena);
    row->value = pw_store_real_at(q, 1);
    return row->name ? PW_OK : pw_error_memory(err, sizeof *row);
}

pw_status pw_store_figures(struct pw_store *store, int64_t run_id, struct pw_arena *arena,
                           struct pw_store_figure_row **rows, size_t *count, struct pw_error *err)
{
    static const struct pw_store_rows figures = {"figures could not be read", sizeof **rows, read_figure};
    sqlite3_stmt *q = NULL;
    pw_status status =
        pw_store_prepare(store, "SELECT name, value FROM run_figure WHERE run = ? ORDER BY rowid", &q, err);

    *count = 0;
    if (status == PW_OK)
        sqlite3_bind_int64(q, 1, run_id);
    return pw_store_collect(store, status, q, &figures, arena, rows, count, err);
}

pw_status pw_store_figure_add(struct pw_store *store, int64_t run_id, const char *name, double value,
                              struct pw_error *err)
{
    sqlite3_stmt *q = NULL;
    pw_status status = pw_store_prepare(store, "INSERT INTO run_figure(run, name, value) VALUES(?,?,?)", &q, err);

    if (status != PW_OK)
        return status;
    sqlite3_bind_int64(q, 1, run_id);
    pw_store_bind_text(q, 2, name);
    pw_store_bind_real(q, 3, value);
    return pw_store_run_once(store, q, "a figure could not be recorded", err);
}
