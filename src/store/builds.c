#include "store/builds.h"

#include <string.h>

#include "base/clock.h"
#include "store/store_internal.h"

static pw_status prepare(struct pw_store *store, const char *sql, const char *target, struct pw_hash128 source,
                         sqlite3_stmt **statement, struct pw_error *err)
{
    pw_status status = pw_store_prepare(store, sql, statement, err);

    if (status != PW_OK)
        return status;
    pw_store_bind_text(*statement, 1, target);
    sqlite3_bind_int64(*statement, 2, (sqlite3_int64)source.high);
    sqlite3_bind_int64(*statement, 3, (sqlite3_int64)source.low);
    return PW_OK;
}

static pw_status forget(struct pw_store *store, const char *target, struct pw_hash128 source, struct pw_error *err)
{
    sqlite3_stmt *statement = NULL;
    pw_status status = prepare(store, "DELETE FROM build WHERE target = ?1 AND source_high = ?2 AND source_low = ?3",
                               target, source, &statement, err);

    return status == PW_OK ? pw_store_run_once(store, statement, "what a compiler said could not be replaced", err)
                           : status;
}

/* The times say what came after what, also when the clock goes back: no new one is before one that is there. */
#define LATER "(SELECT min(ifnull(max(wall_ms), 0), 1 << 62) + 1 FROM build WHERE target = ?1)"

static pw_status keep(struct pw_store *store, const char *target, const struct pw_store_build *build,
                      struct pw_error *err)
{
    size_t size = strnlen(build->log, PW_STORE_BUILD_LOG);
    sqlite3_stmt *statement = NULL;
    pw_status status;

    while (size && size == PW_STORE_BUILD_LOG && ((unsigned char)build->log[size] & 0xc0) == 0x80)
        size--; /* not within a character */
    status = prepare(store,
                     "INSERT OR REPLACE INTO build(target, source_high, source_low, log_hash, wall_ms, failed, log)"
                     " VALUES(?1, ?2, ?3, ?4, max(?5, " LATER "), ?6, ?7)",
                     target, build->source, &statement, err);
    if (status != PW_OK)
        return status;
    sqlite3_bind_int64(statement, 4, (sqlite3_int64)pw_hash64(build->log, size, 0));
    sqlite3_bind_int64(statement, 5, pw_clock_wall_ms());
    sqlite3_bind_int(statement, 6, build->failed);
    sqlite3_bind_text64(statement, 7, build->log, size, SQLITE_TRANSIENT, SQLITE_UTF8);
    return pw_store_run_once(store, statement, "what a compiler said could not be recorded", err);
}

/* Each edit of a kernel is a source of its own: the oldest go. */
static pw_status thin(struct pw_store *store, const char *target, struct pw_error *err)
{
    sqlite3_stmt *statement = NULL;
    pw_status status = pw_store_prepare(store,
                                        "DELETE FROM build WHERE target = ?1 AND wall_ms <"
                                        " (SELECT wall_ms FROM build WHERE target = ?1 ORDER BY wall_ms DESC"
                                        " LIMIT 1 OFFSET ?2)",
                                        &statement, err);

    if (status != PW_OK)
        return status;
    pw_store_bind_text(statement, 1, target);
    sqlite3_bind_int(statement, 2, PW_STORE_BUILDS - 1);
    return pw_store_run_once(store, statement, "what compilers said long ago could not be removed", err);
}

pw_status pw_store_build_add(struct pw_store *store, const char *target, const struct pw_store_build *build, bool first,
                             struct pw_error *err)
{
    pw_status status = pw_store_exec(store, "BEGIN IMMEDIATE", err);

    if (status != PW_OK)
        return status;
    if (first && build->log[0])
        status = forget(store, target, build->source, err);
    if (status == PW_OK)
        status = keep(store, target, build, err);
    if (status == PW_OK)
        status = thin(store, target, err);
    return pw_store_end_transaction(store, status, err);
}

static pw_status read_build(sqlite3_stmt *q, struct pw_arena *arena, void *row, struct pw_error *err)
{
    struct pw_store_build *build = row;

    build->source.high = (uint64_t)sqlite3_column_int64(q, 0);
    build->source.low = (uint64_t)sqlite3_column_int64(q, 1);
    build->failed = sqlite3_column_int(q, 2) != 0;
    build->log = pw_store_text_at(q, 3, arena);
    return build->log ? PW_OK : pw_error_memory(err, sizeof *build);
}

static const struct pw_store_rows builds = {"what compilers said could not be read", sizeof(struct pw_store_build),
                                            read_build};

pw_status pw_store_builds(struct pw_store *store, const char *target, struct pw_hash128 source, struct pw_arena *arena,
                          struct pw_store_build **rows, size_t *count, struct pw_error *err)
{
    sqlite3_stmt *q = NULL;
    pw_status status = prepare(store,
                               "SELECT source_high, source_low, failed, log FROM (SELECT * FROM build WHERE target = ?1"
                               " AND source_high = ?2 AND source_low = ?3 ORDER BY wall_ms DESC, log_hash LIMIT ?4)"
                               " ORDER BY wall_ms, log_hash",
                               target, source, &q, err);

    if (status == PW_OK)
        sqlite3_bind_int(q, 4, PW_STORE_BUILD_LOGS);
    return pw_store_collect(store, status, q, &builds, arena, rows, count, err);
}
