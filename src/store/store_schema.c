/*
 * The schema and its migrations. PRAGMA user_version says which version a file has; all migrations that a file
 * needs run in one transaction, so a killed one leaves the old version whole.
 *
 * To add one: append an entry at the end of migrations[]; what has landed is never changed, because files made
 * with it exist. Two branches that append at once conflict in git: the second to land goes last. Only add (tables,
 * columns that may be NULL, indexes): old rows must stay readable, and a column that an old row lacks is unknown,
 * not 0. Then put the SQL of the version before yours into tests/unit/store/schema-<version>.sql (the test says
 * how) and read the new columns in store_read.c.
 */
#include <stdio.h>

#include "base/compiler.h"
#include "store/store_internal.h"

/* migrations[i] brings version i to i + 1. */
static const char *const migrations[] = {
    /* 1: runs, verdicts, results */
    "CREATE TABLE run ("
    " id INTEGER PRIMARY KEY,"
    " kind TEXT NOT NULL, graph TEXT NOT NULL, model_path TEXT NOT NULL,"
    " target TEXT NOT NULL, target_kind TEXT NOT NULL, device TEXT NOT NULL,"
    " environment TEXT NOT NULL, bindings TEXT NOT NULL, protocol TEXT NOT NULL, version TEXT NOT NULL,"
    " seed INTEGER NOT NULL, begin_ms INTEGER NOT NULL,"
    " end_ms INTEGER, outcome TEXT, exit_code INTEGER);" /* NULL: not ended (running, or killed) */
    "CREATE INDEX run_graph ON run(graph, target_kind, id);"
    "CREATE TABLE signature ("
    " id TEXT PRIMARY KEY, text TEXT NOT NULL, op TEXT NOT NULL, category TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE verdict ("
    " run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,"
    " signature TEXT NOT NULL REFERENCES signature(id),"
    " case_id TEXT NOT NULL, wall_ms INTEGER NOT NULL, verdict TEXT NOT NULL, implementation TEXT NOT NULL,"
    " shapes TEXT NOT NULL, dtype TEXT NOT NULL, dist TEXT NOT NULL, seed INTEGER NOT NULL,"
    " error REAL, tolerance REAL, tolerance_why TEXT NOT NULL, max_absolute REAL, max_relative REAL, max_ulp REAL,"
    " nmse REAL, cosine REAL, elements INTEGER, elements_over INTEGER, worst INTEGER, worst_got REAL, worst_want REAL,"
    " reference_error REAL, discriminates INTEGER NOT NULL, nondeterministic INTEGER NOT NULL, spread REAL,"
    " time_ns INTEGER, reason TEXT NOT NULL, log TEXT NOT NULL);"
    "CREATE INDEX verdict_signature ON verdict(signature, run);"
    "CREATE INDEX verdict_run ON verdict(run);"
    "CREATE TABLE result ("
    " run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,"
    " signature TEXT NOT NULL REFERENCES signature(id),"
    " wall_ms INTEGER NOT NULL, standing TEXT NOT NULL, coverage TEXT NOT NULL, implementation TEXT NOT NULL,"
    " nodes INTEGER NOT NULL, cases INTEGER NOT NULL, held INTEGER NOT NULL, failed INTEGER NOT NULL,"
    " no_evidence INTEGER NOT NULL, worst_error REAL, worst_ratio REAL, tolerance REAL, worst_case TEXT,"
    " target_ns INTEGER, reference_ns INTEGER, reference_name TEXT,"
    " target_samples BLOB, reference_samples BLOB," /* little-endian int64 nanoseconds */
    " gate_failed INTEGER NOT NULL, gate_reason TEXT);"
    "CREATE INDEX result_signature ON result(signature, run);"
    "CREATE INDEX result_run ON result(run);",
    /* 2: history and the gate: which kernel and environment a figure belongs to, what was decided and why */
    "ALTER TABLE run ADD COLUMN environment_id TEXT;" /* short hash of what a timing depends on */
    "ALTER TABLE result ADD COLUMN kernel_hash TEXT;"
    "CREATE INDEX result_wall ON result(wall_ms);"
    "CREATE TABLE decision ("
    " run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,"
    " signature TEXT NOT NULL REFERENCES signature(id),"
    " gate TEXT NOT NULL, outcome TEXT NOT NULL, baseline TEXT NOT NULL, reason TEXT NOT NULL,"
    " slowdown REAL, low REAL, high REAL, p REAL, confirmed INTEGER NOT NULL, waived INTEGER NOT NULL);"
    "CREATE INDEX decision_run ON decision(run);",
    /* 3: runs of whole graphs: outputs, nodes that do not hold, figures; measured sensitivity of layers */
    "CREATE TABLE run_output ("
    " run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, output INTEGER NOT NULL, name TEXT NOT NULL,"
    " held INTEGER NOT NULL, error REAL, tolerance REAL, nmse REAL, cosine REAL, max_absolute REAL,"
    " file_error REAL, file_golden_error REAL, reason TEXT NOT NULL);"
    "CREATE INDEX run_output_run ON run_output(run);"
    "CREATE TABLE run_node ("
    " run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, position INTEGER NOT NULL,"
    " node INTEGER," /* number in the graph; NULL: a pattern */
    " name TEXT NOT NULL, op TEXT NOT NULL, standing TEXT NOT NULL, implementation TEXT NOT NULL, dtype TEXT NOT NULL,"
    " runs INTEGER NOT NULL, isolated REAL, tolerance REAL, propagated REAL, allowed REAL,"
    " nonfinite_origin INTEGER NOT NULL, reason TEXT NOT NULL);"
    "CREATE INDEX run_node_run ON run_node(run);"
    "CREATE TABLE run_figure ("
    " run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, name TEXT NOT NULL, value REAL);"
    "CREATE INDEX run_figure_run ON run_figure(run);"
    "CREATE TABLE sensitivity ("
    " run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, graph TEXT NOT NULL,"
    " node INTEGER NOT NULL," /* each node of a layer has the layer's figures */
    " layer TEXT NOT NULL, dtype TEXT NOT NULL, damage REAL, max_error REAL, flips INTEGER NOT NULL,"
    " held INTEGER NOT NULL);"
    "CREATE INDEX sensitivity_graph ON sensitivity(graph, run);",
    /* 4: microbenchmarks */
    "CREATE TABLE bench ("
    " run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,"
    " signature TEXT NOT NULL REFERENCES signature(id),"
    " wall_ms INTEGER NOT NULL, implementation TEXT NOT NULL, kernel_hash TEXT, cache TEXT NOT NULL,"
    " slices INTEGER NOT NULL, target_ns REAL, target_low_ns REAL, target_high_ns REAL, reference_ns REAL,"
    " reference_name TEXT, speedup REAL, speedup_low REAL, speedup_high REAL," /* reference's time / target's */
    " flops REAL, read_bytes REAL, write_bytes REAL, level TEXT, roof_ns REAL, bound TEXT, launch_ns REAL,"
    " suspicion TEXT, skipped TEXT,"
    " target_slices BLOB, target_runs BLOB, reference_slices BLOB, reference_runs BLOB);" /* doubles; int64; ns */
    "CREATE INDEX bench_signature ON bench(signature, run);"
    "CREATE INDEX bench_run ON bench(run);",
    /* 5: what compilers said of sources, by the halves of the source's hash */
    "CREATE TABLE build ("
    " target TEXT NOT NULL, source_high INTEGER NOT NULL, source_low INTEGER NOT NULL, log_hash INTEGER NOT NULL,"
    " wall_ms INTEGER NOT NULL, failed INTEGER NOT NULL, log TEXT NOT NULL,"
    " PRIMARY KEY(target, source_high, source_low, log_hash)) WITHOUT ROWID;",
    /* 6: every node of the latest runs of whole graphs, as small as it can be: there may be 100,000 */
    "CREATE TABLE run_text ("
    " run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, id INTEGER NOT NULL, text TEXT NOT NULL,"
    " PRIMARY KEY(run, id)) WITHOUT ROWID;"
    "CREATE TABLE node_figure ("
    " run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, place INTEGER NOT NULL," /* in the run's list */
    " node INTEGER NOT NULL," /* number in the graph; of a pattern -1 - its number */
    " standing TEXT,"         /* NULL: held */
    " on_target INTEGER NOT NULL, nonfinite_origin INTEGER NOT NULL,"
    " time_ns INTEGER, isolated REAL, tolerance REAL, propagated REAL,"
    " implementation INTEGER, note INTEGER," /* in run_text; NULL: none */
    " PRIMARY KEY(run, place)) WITHOUT ROWID;",
};
#define NEWEST ((int)PW_COUNT_OF(migrations))

int pw_store_schema(void)
{
    return NEWEST;
}

pw_status pw_store_version(struct pw_store *store, int *version, struct pw_error *err)
{
    sqlite3_stmt *statement = NULL;
    pw_status status = pw_store_prepare(store, "PRAGMA user_version", &statement, err);

    if (status != PW_OK)
        return status;
    if (sqlite3_step(statement) == SQLITE_ROW)
        *version = sqlite3_column_int(statement, 0);
    else
        status = pw_store_fail(store, "its version could not be read", err);
    sqlite3_finalize(statement);
    return status;
}

static pw_status migrate_one(struct pw_store *store, int version, struct pw_error *err)
{
    char sql[64];
    pw_status status = pw_store_exec(store, migrations[version], err);

    snprintf(sql, sizeof sql, "PRAGMA user_version=%d", version + 1);
    return status == PW_OK ? pw_store_exec(store, sql, err) : status;
}

pw_status pw_store_migrate(struct pw_store *store, struct pw_error *err)
{
    int version = 0;
    pw_status status = pw_store_version(store, &version, err);

    if (status != PW_OK)
        return status;
    if (version > NEWEST)
        return pw_error_set(
            err, PW_ERR_STORE,
            "%s: made by a newer portwright (schema %d, this one knows %d): update portwright, or choose "
            "another place with --db FILE",
            store->path, version, NEWEST);
    if (version < 0)
        return pw_error_set(err, PW_ERR_STORE,
                            "%s: its schema is %d, expected 0 to %d: it is no store of portwright, or was changed by "
                            "hand; choose another place with --db FILE",
                            store->path, version, NEWEST);
    if (version == NEWEST)
        return PW_OK;
    if (store->read_only)
        return pw_error_set(
            err, PW_ERR_STORE,
            "%s: has schema %d and needs %d, but cannot be written: copy it elsewhere and use --db FILE", store->path,
            version, NEWEST);
    status = pw_store_exec(store, "BEGIN IMMEDIATE", err);
    if (status != PW_OK)
        return status;
    status = pw_store_version(store, &version, err); /* another process may have migrated while we waited */
    for (; status == PW_OK && version < NEWEST; version++)
        status = migrate_one(store, version, err);
    if (status == PW_OK)
        status = pw_store_exec(store, "COMMIT", err);
    if (status != PW_OK)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

static pw_status want_column(struct pw_store *store, sqlite3_stmt *has, const char *table, const char *column,
                             struct pw_error *err)
{
    int code;

    sqlite3_reset(has);
    sqlite3_bind_text(has, 1, table, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(has, 2, column, -1, SQLITE_TRANSIENT);
    code = sqlite3_step(has);
    if (code == SQLITE_ROW)
        return PW_OK;
    if (code != SQLITE_DONE)
        return pw_store_fail(store, "could not be checked", err);
    return pw_error_set(err, PW_ERR_STORE,
                        "%s: is damaged: column %s of table %s is missing, schema %d has it; move it away and restore "
                        "a backup (portwright history backup makes one)",
                        store->path, column, table, NEWEST);
}

pw_status pw_store_complete(struct pw_store *store, struct pw_error *err)
{
    struct pw_store fresh = {.path = store->path};
    sqlite3_stmt *all = NULL, *has = NULL;
    int code = SQLITE_DONE;
    pw_status status = PW_OK;

    if (sqlite3_open(":memory:", &fresh.db) != SQLITE_OK)
        status = pw_store_fail(&fresh, "could not be checked", err);
    for (int version = 0; status == PW_OK && version < NEWEST; version++)
        status = pw_store_exec(&fresh, migrations[version], err);
    if (status == PW_OK)
        status = pw_store_prepare(&fresh,
                                  "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c"
                                  " WHERE m.type='table'",
                                  &all, err);
    if (status == PW_OK)
        status = pw_store_prepare(store, "SELECT 1 FROM pragma_table_info(?1) WHERE name=?2", &has, err);
    while (status == PW_OK && (code = sqlite3_step(all)) == SQLITE_ROW)
        status = want_column(store, has, (const char *)sqlite3_column_text(all, 0),
                             (const char *)sqlite3_column_text(all, 1), err);
    if (status == PW_OK && code != SQLITE_DONE)
        status = pw_store_fail(&fresh, "its tables could not be listed", err);
    sqlite3_finalize(all);
    sqlite3_finalize(has);
    sqlite3_close(fresh.db);
    return status;
}
