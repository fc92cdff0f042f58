/* Figures of whole graphs over runs. */
#include <math.h>

#include "store/history.h"
#include "store/store_internal.h"

static pw_status read_row(sqlite3_stmt *q, struct pw_arena *arena, void *out, struct pw_error *err)
{
    struct pw_store_graph_row *row = out;
    bool whole = sqlite3_column_int(q, 5) == 0;

    row->run_id = sqlite3_column_int64(q, 0);
    row->wall_ms = sqlite3_column_int64(q, 1);
    row->kind = pw_store_text_at(q, 2, arena);
    row->outcome = pw_store_text_at(q, 3, arena);
    row->environment_id = pw_store_text_at(q, 4, arena);
    row->signatures = sqlite3_column_int(q, 5);
    row->failed = sqlite3_column_int(q, 6);
    row->timed = sqlite3_column_int(q, 7);
    row->worst_share = pw_store_real_at(q, whole ? 11 : 8);
    row->target_ns = pw_store_real_at(q, whole ? 12 : 9);
    row->reference_ns = pw_store_real_at(q, whole ? 13 : 10);
    return row->kind && row->outcome && row->environment_id ? PW_OK : pw_error_memory(err, sizeof *row);
}

/* Both times of a signature, or neither, so that their sums are of the same nodes. */
#define TIMED "r.target_ns > 0 AND r.reference_ns > 0"

static const char graph_sql[] =
    "SELECT run.id, run.begin_ms, run.kind, run.outcome, run.environment_id, x.signatures, x.failed, x.timed, x.share,"
    " x.target, x.reference,"
    " (SELECT MAX(o.error / o.tolerance) FROM run_output o WHERE o.run = run.id AND o.tolerance > 0),"
    " (SELECT MAX(f.value) FROM run_figure f WHERE f.run = run.id AND f.name = 'target_ns'),"
    " (SELECT MAX(f.value) FROM run_figure f WHERE f.run = run.id AND f.name = 'reference_ns')"
    " FROM run LEFT JOIN (SELECT r.run AS its, COUNT(*) AS signatures, SUM(r.standing = 'failed') AS failed,"
    "  SUM(" TIMED ") AS timed, MAX(r.worst_ratio) AS share,"
    "  SUM(CASE WHEN " TIMED " THEN r.nodes * r.target_ns END) AS target,"
    "  SUM(CASE WHEN " TIMED " THEN r.nodes * r.reference_ns END) AS reference"
    "  FROM result r WHERE r.run IN (SELECT id FROM run WHERE graph = ?1 AND target = ?2) GROUP BY r.run) x"
    " ON x.its = run.id WHERE run.graph = ?1 AND run.target = ?2 AND (?3 IS NULL OR run.bindings = ?3)"
    " AND (x.signatures > 0 OR run.kind = 'run')"
    " ORDER BY run.id";

pw_status pw_store_graph_history(struct pw_store *store, const char *graph, const char *target, const char *bindings,
                                 struct pw_arena *arena, struct pw_store_graph_row **rows, size_t *count,
                                 struct pw_error *err)
{
    static const struct pw_store_rows kind = {"the graph's runs could not be read", sizeof **rows, read_row};
    sqlite3_stmt *q = NULL;
    pw_status status = pw_store_prepare(store, graph_sql, &q, err);

    *count = 0;
    if (status == PW_OK) {
        pw_store_bind_text(q, 1, graph);
        pw_store_bind_text(q, 2, target);
        pw_store_bind_text(q, 3, bindings);
    }
    return pw_store_collect(store, status, q, &kind, arena, rows, count, err);
}
