/* Opening, closing and failing: one connection, WAL, synchronous=FULL. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "store/store_internal.h"

#define BUSY_TIMEOUT_MS 10000
#define BUSY_PAUSE_MS 2
#define VALUE_MAX_BYTES (64 << 20)

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
    case SQLITE_ERROR: /* our SQL is fixed: a table or column is not there, or there twice */
        return "it is not as its schema says: move it away, or restore a backup";
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

pw_status pw_store_collect(struct pw_store *store, pw_status status, sqlite3_stmt *q, const struct pw_store_rows *kind,
                           struct pw_arena *arena, void *rows, size_t *count, struct pw_error *err)
{
    char *made = NULL, *kept = NULL;
    size_t cap = 0, n = 0;
    int code = SQLITE_DONE;

    while (status == PW_OK && (code = sqlite3_step(q)) == SQLITE_ROW) {
        status = pw_mem_grow((void **)&made, &cap, n + 1, kind->row_bytes, err);
        if (status != PW_OK)
            break;
        memset(made + n * kind->row_bytes, 0, kind->row_bytes);
        status = kind->read(q, arena, made + n++ * kind->row_bytes, err);
    }
    if (status == PW_OK && code != SQLITE_DONE)
        status = pw_store_fail(store, kind->what, err);
    sqlite3_finalize(q);
    if (status == PW_OK && !(kept = pw_arena_alloc(arena, n + 1, kind->row_bytes)))
        status = pw_error_memory(err, n * kind->row_bytes);
    if (status == PW_OK) {
        if (n)
            memcpy(kept, made, n * kind->row_bytes);
        memcpy(rows, &kept, sizeof kept); /* the caller's pointer has the rows' type */
        *count = n;
    }
    pw_free(made);
    return status;
}

const char *pw_store_text_at(sqlite3_stmt *statement, int column, struct pw_arena *arena)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);

    return text ? pw_arena_strndup(arena, text, (size_t)sqlite3_column_bytes(statement, column)) : "";
}

double pw_store_real_at(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL ? NAN : sqlite3_column_double(statement, column);
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

/* The file may come from anywhere. No portwright makes views or triggers: one in a file would answer without end in the
 * place of a table, or change what is recorded. No value is longer than a log or a run's samples. */
static void trust_little(sqlite3 *db)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, VALUE_MAX_BYTES);
}

/* A new file changes to WAL once, alone: SQLite turns others that try at that moment away without asking its busy
 * handler, as two that wait for each other would wait for ever. They come back. */
static pw_status use_wal(struct pw_store *store, struct pw_error *err)
{
    int64_t deadline = pw_clock_ns() + INT64_C(1000000) * BUSY_TIMEOUT_MS;
    int code;

    while ((code = sqlite3_exec(store->db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL) & 0xff) == SQLITE_BUSY &&
           pw_clock_ns() < deadline)
        sqlite3_sleep(BUSY_PAUSE_MS);
    return code == SQLITE_OK ? PW_OK : pw_store_fail(store, "could not prepare the store", err);
}

static pw_status set_up(struct pw_store *store, struct pw_error *err)
{
    pw_status status;

    trust_little(store->db);
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_timeout(store->db, BUSY_TIMEOUT_MS);
    status = pw_store_exec(store, "PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF;", err);
    if (status == PW_OK && !store->read_only)
        status = use_wal(store, err);
    if (status == PW_OK && !store->read_only)
        status = pw_store_exec(store, "PRAGMA synchronous=FULL", err);
    return status;
}

/* A connection that is set up, of whatever schema the file has. */
static pw_status open_as(const char *path, const char *name, int flags, struct pw_store **out, struct pw_error *err)
{
    struct pw_store *store;
    pw_status status = PW_OK;

    if (pw_file_is_dir(path))
        return pw_error_set(err, PW_ERR_STORE, "%s: is a folder, expected a file: choose another place with --db FILE",
                            path);
    store = pw_calloc(1, sizeof *store);
    if (!store || !(store->path = pw_strdup(path))) {
        pw_free(store);
        return pw_error_memory(err, sizeof *store);
    }
    store->read_only = flags & SQLITE_OPEN_READONLY;
    if (!store->read_only)
        status = make_folder(path, err);
    if (status == PW_OK && sqlite3_open_v2(name, &store->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
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

/* "file:<path, escaped>?immutable=1" */
static void immutable_name(struct pw_buf *out, const char *path)
{
    pw_buf_puts(out, "file:");
    for (const char *p = path; *p; p++) {
        if (strchr("%?#", *p))
            pw_buf_printf(out, "%%%02X", (unsigned char)*p);
        else
            pw_buf_putc(out, *p);
    }
    pw_buf_puts(out, "?immutable=1");
}

/* WAL needs a shared index beside the file, which a folder that cannot be written does not allow. When nothing
 * waits in the log either, the file alone is the whole database and nobody here can change it. */
static pw_status open_unwritable(const char *path, struct pw_store **out, struct pw_error *err)
{
    struct pw_buf log = {0}, name = {0};
    struct stat facts;
    pw_status status;

    pw_buf_printf(&log, "%s-wal", path);
    immutable_name(&name, path);
    if (log.failed || name.failed)
        status = pw_error_memory(err, strlen(path));
    else if (stat(pw_buf_text(&log), &facts) == 0 && facts.st_size > 0)
        status = pw_error_set(err, PW_ERR_STORE,
                              "%s: its folder cannot be written and %s holds rows that are not in it yet: copy both "
                              "elsewhere and use --db",
                              path, pw_buf_text(&log));
    else
        status = open_as(path, pw_buf_text(&name), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, out, err);
    pw_buf_clear(&log);
    pw_buf_clear(&name);
    return status;
}

static bool folder_writable(const char *path)
{
    struct pw_buf folder = {0};
    bool writable;

    pw_file_dirname(&folder, path);
    writable = !folder.failed && access(pw_buf_text(&folder), W_OK) == 0;
    pw_buf_clear(&folder);
    return writable;
}

static pw_status open_to_read(const char *path, struct pw_store **out, struct pw_error *err)
{
    if (!pw_file_exists(path))
        return pw_error_set(err, PW_ERR_STORE, "%s: there is no such file; a check records into it", path);
    return folder_writable(path) ? open_as(path, path, SQLITE_OPEN_READONLY, out, err)
                                 : open_unwritable(path, out, err);
}

pw_status pw_store_open(const char *path, bool read_only, struct pw_store **out, struct pw_error *err)
{
    struct pw_store *store = NULL;
    int version = 0;
    pw_status status = read_only ? open_to_read(path, &store, err)
                                 : open_as(path, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &store, err);

    if (status == PW_OK)
        status = pw_store_version(store, &version, err);
    if (status == PW_OK && read_only && version < pw_store_schema() && folder_writable(path)) {
        pw_store_close(store); /* an older one is migrated by a connection that may write, then read */
        store = NULL;
        status = pw_store_open(path, false, &store, err);
        pw_store_close(store);
        store = NULL;
        if (status == PW_OK)
            status = open_to_read(path, &store, err);
    }
    if (status == PW_OK)
        status = pw_store_migrate(store, err);
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
