/* Queries: rows are copied into the caller's arena, so that nothing holds a read transaction open. */
#include <math.h>
#include <string.h>

#include "store/store_internal.h"

#define RESULT_COLUMNS                                                                                                 \
    "r.run, r.wall_ms, r.signature, s.text, s.op, r.standing, r.coverage, r.implementation, r.reference_name,"         \
    " r.worst_error, r.tolerance, r.worst_ratio, r.target_ns, r.reference_ns, r.cases, r.held, r.failed,"              \
    " (SELECT environment_id FROM run AS its WHERE its.id = r.run), r.gate_failed, r.kernel_hash"

static pw_status read_result(sqlite3_stmt *q, struct pw_arena *arena, void *out, struct pw_error *err)
{
    struct pw_store_signature_row *row = out;

    row->run_id = sqlite3_column_int64(q, 0);
    row->wall_ms = sqlite3_column_int64(q, 1);
    row->signature_id = pw_store_text_at(q, 2, arena);
    row->signature = pw_store_text_at(q, 3, arena);
    row->op = pw_store_text_at(q, 4, arena);
    row->standing = pw_store_text_at(q, 5, arena);
    row->coverage = pw_store_text_at(q, 6, arena);
    row->implementation = pw_store_text_at(q, 7, arena);
    row->reference_name = pw_store_text_at(q, 8, arena);
    row->worst_error = pw_store_real_at(q, 9);
    row->tolerance = pw_store_real_at(q, 10);
    row->worst_ratio = pw_store_real_at(q, 11);
    row->target_ns = sqlite3_column_int64(q, 12);
    row->reference_ns = sqlite3_column_int64(q, 13);
    row->cases = sqlite3_column_int(q, 14);
    row->held = sqlite3_column_int(q, 15);
    row->failed = sqlite3_column_int(q, 16);
    row->environment_id = pw_store_text_at(q, 17, arena);
    row->gate_failed = sqlite3_column_int(q, 18) != 0;
    row->kernel_hash = pw_store_text_at(q, 19, arena);
    return row->signature_id && row->signature && row->op && row->standing && row->coverage && row->implementation &&
                   row->reference_name && row->environment_id && row->kernel_hash
               ? PW_OK
               : pw_error_memory(err, sizeof *row);
}

static const struct pw_store_rows results = {"results could not be read", sizeof(struct pw_store_signature_row),
                                             read_result};

pw_status pw_store_latest(struct pw_store *store, const char *graph, const char *target, struct pw_arena *arena,
                          struct pw_store_signature_row **rows, size_t *count, struct pw_error *err)
{
    sqlite3_stmt *q = NULL;
    pw_status status = pw_store_prepare(store,
                                        "SELECT " RESULT_COLUMNS " FROM result r JOIN signature s ON s.id = r.signature"
                                        " JOIN (SELECT MAX(x.rowid) AS newest FROM result x JOIN run ON run.id = x.run"
                                        "  WHERE run.graph = ?1 AND run.target = ?2 GROUP BY x.signature) latest"
                                        " ON latest.newest = r.rowid ORDER BY r.signature",
                                        &q, err);

    if (status != PW_OK)
        return status;
    pw_store_bind_text(q, 1, graph);
    pw_store_bind_text(q, 2, target);
    return pw_store_collect(store, status, q, &results, arena, rows, count, err);
}

pw_status pw_store_run_results(struct pw_store *store, int64_t run_id, struct pw_arena *arena,
                               struct pw_store_signature_row **rows, size_t *count, struct pw_error *err)
{
    sqlite3_stmt *q = NULL;
    pw_status status = pw_store_prepare(store,
                                        "SELECT " RESULT_COLUMNS " FROM result r JOIN signature s ON s.id = r.signature"
                                        " WHERE r.run = ? ORDER BY s.op, r.signature",
                                        &q, err);

    if (status != PW_OK)
        return status;
    sqlite3_bind_int64(q, 1, run_id);
    return pw_store_collect(store, status, q, &results, arena, rows, count, err);
}

pw_status pw_store_history(struct pw_store *store, const char *signature_id, const char *target, const char *bindings,
                           struct pw_arena *arena, struct pw_store_signature_row **rows, size_t *count,
                           struct pw_error *err)
{
    sqlite3_stmt *q = NULL;
    pw_status status = pw_store_prepare(store,
                                        "SELECT " RESULT_COLUMNS " FROM result r JOIN signature s ON s.id = r.signature"
                                        " JOIN run ON run.id = r.run WHERE r.signature = ?1 AND run.target = ?2"
                                        " AND (?3 IS NULL OR run.bindings = ?3) ORDER BY r.run, r.rowid",
                                        &q, err);

    if (status != PW_OK)
        return status;
    pw_store_bind_text(q, 1, signature_id);
    pw_store_bind_text(q, 2, target);
    pw_store_bind_text(q, 3, bindings);
    return pw_store_collect(store, status, q, &results, arena, rows, count, err);
}

static pw_status read_case(sqlite3_stmt *q, struct pw_arena *arena, void *out, struct pw_error *err)
{
    struct pw_store_case_row *row = out;

    row->run_id = sqlite3_column_int64(q, 0);
    row->wall_ms = sqlite3_column_int64(q, 1);
    row->case_id = pw_store_text_at(q, 2, arena);
    row->signature_id = pw_store_text_at(q, 3, arena);
    row->verdict = pw_store_text_at(q, 4, arena);
    row->implementation = pw_store_text_at(q, 5, arena);
    row->shapes = pw_store_text_at(q, 6, arena);
    row->dtype = pw_store_text_at(q, 7, arena);
    row->dist = pw_store_text_at(q, 8, arena);
    row->reason = pw_store_text_at(q, 9, arena);
    row->log = pw_store_text_at(q, 10, arena);
    row->error = pw_store_real_at(q, 11);
    row->tolerance = pw_store_real_at(q, 12);
    row->max_ulp = pw_store_real_at(q, 13);
    row->reference_error = pw_store_real_at(q, 14);
    row->time_ns = sqlite3_column_int64(q, 15);
    return row->case_id && row->signature_id && row->verdict && row->implementation && row->shapes && row->dtype &&
                   row->dist && row->reason && row->log
               ? PW_OK
               : pw_error_memory(err, sizeof *row);
}

static const struct pw_store_rows cases = {"verdicts could not be read", sizeof(struct pw_store_case_row), read_case};

pw_status pw_store_cases(struct pw_store *store, const char *signature_id, const char *target, struct pw_arena *arena,
                         struct pw_store_case_row **rows, size_t *count, struct pw_error *err)
{
    sqlite3_stmt *q = NULL;
    pw_status status = pw_store_prepare(
        store,
        "SELECT run, wall_ms, case_id, signature, verdict, implementation, shapes, dtype, dist, reason, log, error,"
        " tolerance, max_ulp, reference_error, time_ns FROM verdict WHERE signature = ?1 AND run ="
        " (SELECT MAX(v.run) FROM verdict v JOIN run ON run.id = v.run WHERE v.signature = ?1 AND run.target = ?2)"
        " ORDER BY rowid",
        &q, err);

    if (status != PW_OK)
        return status;
    pw_store_bind_text(q, 1, signature_id);
    pw_store_bind_text(q, 2, target);
    return pw_store_collect(store, status, q, &cases, arena, rows, count, err);
}
