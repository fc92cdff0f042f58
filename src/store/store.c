/* Opening, closing and failing: one connection, WAL, synchronous=FULL. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "store/store_internal.h"

#define BUSY_TIMEOUT_MS 10000

static const char *advice(int code)
{
    switch (code & 0xff) {
    case SQLITE_FULL:
        return "the disk is full: free some space; what was committed before is safe";
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return "it cannot be written: choose another place with --db FILE, or --db \"\" for none";
    case SQLITE_CANTOPEN:
        return "it cannot be opened or created: check the folder, or choose another place with --db FILE";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return "it is no sound database: move it away (nothing was changed) and a new one is made, or restore a backup";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return "another process holds it: wait for it, or choose another place with --db FILE";
    case SQLITE_IOERR:
        return "reading or writing failed: check the disk";
    default:
        return "";
    }
}

pw_status pw_store_fail(struct pw_store *store, const char *what, struct pw_error *err)
{
    int code = store->db ? sqlite3_extended_errcode(store->db) : SQLITE_NOMEM;
    const char *todo = advice(code);

    if (code == SQLITE_NOMEM)
        return pw_error_set(err, PW_ERR_NO_MEMORY, "%s: %s: out of memory", store->path, what);
    return pw_error_set(err, PW_ERR_STORE, "%s: %s: %s%s%s", store->path, what, sqlite3_errmsg(store->db),
                        todo[0] ? "; " : "", todo);
}

pw_status pw_store_exec(struct pw_store *store, const char *sql, struct pw_error *err)
{
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return pw_store_fail(store, "could not prepare the store", err);
    return PW_OK;
}

pw_status pw_store_prepare(struct pw_store *store, const char *sql, sqlite3_stmt **out, struct pw_error *err)
{
    if (sqlite3_prepare_v2(store->db, sql, -1, out, NULL) != SQLITE_OK)
        return pw_store_fail(store, "could not be read", err);
    return PW_OK;
}

pw_status pw_store_run_once(struct pw_store *store, sqlite3_stmt *statement, const char *what, struct pw_error *err)
{
    int code = sqlite3_step(statement);
    pw_status status = code == SQLITE_DONE || code == SQLITE_ROW ? PW_OK : pw_store_fail(store, what, err);

    sqlite3_finalize(statement);
    return status;
}

void pw_store_bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    if (text)
        sqlite3_bind_text(statement, at, text, -1, SQLITE_TRANSIENT);
}

void pw_store_bind_real(sqlite3_stmt *statement, int at, double value)
{
    sqlite3_bind_double(statement, at, value); /* SQLite stores NaN as NULL: unknown */
}

void pw_store_bind_time(sqlite3_stmt *statement, int at, int64_t ns)
{
    if (ns > 0)
        sqlite3_bind_int64(statement, at, ns);
}

static pw_status make_folder(const char *path, struct pw_error *err)
{
    struct pw_buf folder = {0};
    pw_status status;

    pw_file_dirname(&folder, path);
    status = folder.failed ? pw_error_memory(err, strlen(path)) : pw_file_mkdirs(pw_buf_text(&folder), err);
    pw_buf_clear(&folder);
    return status;
}

static pw_status set_up(struct pw_store *store, struct pw_error *err)
{
    pw_status status;

    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_timeout(store->db, BUSY_TIMEOUT_MS);
    status = pw_store_exec(store, "PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF;", err);
    if (status == PW_OK && !store->read_only)
        status = pw_store_exec(store, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;", err);
    return status == PW_OK ? pw_store_migrate(store, err) : status;
}

pw_status pw_store_open(const char *path, bool read_only, struct pw_store **out, struct pw_error *err)
{
    struct pw_store *store = pw_calloc(1, sizeof *store);
    int flags = read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    pw_status status = PW_OK;

    if (!store || !(store->path = pw_strdup(path))) {
        pw_free(store);
        return pw_error_memory(err, sizeof *store);
    }
    store->read_only = read_only;
    if (!read_only)
        status = make_folder(path, err);
    if (status == PW_OK && sqlite3_open_v2(path, &store->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        status = pw_store_fail(store, "could not be opened", err);
    if (status == PW_OK)
        status = set_up(store, err);
    if (status == PW_OK) {
        *out = store;
        store = NULL;
    }
    pw_store_close(store);
    return status;
}

void pw_store_close(struct pw_store *store)
{
    if (!store)
        return;
    sqlite3_close(store->db);
    pw_free(store->path);
    pw_free(store);
}
