/* Retention, backups, and SQLite's own check. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "store/history.h"
#include "store/store_internal.h"

#define BACKUP_PAGES 256 /* a step; writers get their turn in between */
#define BACKUP_PAUSE_MS 2
#define BACKUP_WAIT_NS (INT64_C(60) * 1000000000)

/* ---- retention ---- */

/* Runs that go, as a temporary table: every statement below speaks of it. ?1 before_ms, ?2 keep_runs, ?4 now. A run
 * that has no end may be going on: it stays for a day. Clocks go wrong: a run began no earlier than any before it
 * (since), but for those that claim to be of the future. */
static const char choose_sql[] =
    "INSERT INTO temp.gone SELECT id FROM (SELECT id, begin_ms, end_ms,"
    " max(begin_ms, ifnull(max(CASE WHEN begin_ms <= ?4 THEN begin_ms END) OVER (ORDER BY id), begin_ms)) AS since,"
    " ROW_NUMBER() OVER (PARTITION BY graph, target, kind ORDER BY id DESC) AS age FROM run)"
    " WHERE since < ?1 AND age > ?2 AND (end_ms IS NOT NULL OR since < ?3)";

static pw_status count_of(struct pw_store *store, const char *sql, int64_t *out, struct pw_error *err)
{
    sqlite3_stmt *q = NULL;
    pw_status status = pw_store_prepare(store, sql, &q, err);

    if (status == PW_OK && sqlite3_step(q) == SQLITE_ROW)
        *out = sqlite3_column_int64(q, 0);
    else if (status == PW_OK)
        status = pw_store_fail(store, "its rows could not be counted", err);
    sqlite3_finalize(q);
    return status;
}

static pw_status choose(struct pw_store *store, const struct pw_history_retention *retention, struct pw_error *err)
{
    int64_t now_ms = pw_clock_wall_ms();
    sqlite3_stmt *q = NULL;
    pw_status status = pw_store_exec(
        store, "CREATE TEMP TABLE IF NOT EXISTS gone(id INTEGER PRIMARY KEY); DELETE FROM temp.gone", err);

    if (status == PW_OK)
        status = pw_store_prepare(store, choose_sql, &q, err);
    if (status != PW_OK)
        return status;
    sqlite3_bind_int64(q, 1, retention->before_ms);
    sqlite3_bind_int(q, 2, retention->keep_runs);
    sqlite3_bind_int64(q, 3, now_ms - INT64_C(86400000));
    sqlite3_bind_int64(q, 4, now_ms);
    return pw_store_run_once(store, q, "old runs could not be found", err);
}

/* "DELETE FROM signature WHERE id NOT IN (SELECT signature FROM result) AND …", for every table that refers to one,
 * those of later migrations too. */
static pw_status orphans_sql(struct pw_store *store, struct pw_buf *sql, struct pw_error *err)
{
    sqlite3_stmt *q = NULL;
    int code = SQLITE_DONE;
    pw_status status =
        pw_store_prepare(store,
                         "SELECT m.name, f.\"from\" FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f"
                         " WHERE m.type = 'table' AND f.\"table\" = 'signature'",
                         &q, err);

    pw_buf_puts(sql, "DELETE FROM signature WHERE 1");
    while (status == PW_OK && (code = sqlite3_step(q)) == SQLITE_ROW)
        pw_buf_printf(sql, " AND id NOT IN (SELECT \"%s\" FROM \"%s\" WHERE \"%s\" IS NOT NULL)",
                      sqlite3_column_text(q, 1), sqlite3_column_text(q, 0), sqlite3_column_text(q, 1));
    if (status == PW_OK && code != SQLITE_DONE)
        status = pw_store_fail(store, "its tables could not be listed", err);
    if (status == PW_OK && sql->failed)
        status = pw_error_memory(err, sql->size);
    sqlite3_finalize(q);
    return status;
}

/* Rows of a run go with it (ON DELETE CASCADE); signatures that nothing speaks of any more follow. */
static pw_status remove_runs(struct pw_store *store, struct pw_history_pruned *out, struct pw_error *err)
{
    struct pw_buf sql = {0};
    pw_status status = pw_store_exec(store, "DELETE FROM run WHERE id IN temp.gone", err);

    if (status == PW_OK)
        status = orphans_sql(store, &sql, err);
    if (status == PW_OK)
        status = pw_store_exec(store, pw_buf_text(&sql), err);
    if (status == PW_OK)
        out->signatures = sqlite3_changes(store->db);
    pw_buf_clear(&sql);
    return status;
}

static pw_status remove_gone(struct pw_store *store, bool samples_only, struct pw_history_pruned *out,
                             struct pw_error *err)
{
    static const char thin_sql[] =
        "UPDATE result SET target_samples = NULL, reference_samples = NULL WHERE run IN temp.gone;"
        "UPDATE verdict SET log = '' WHERE run IN temp.gone AND log <> ''";
    pw_status status = count_of(store, "SELECT COUNT(*) FROM temp.gone", &out->runs, err);

    if (status == PW_OK)
        status = count_of(store, "SELECT COUNT(*) FROM result WHERE run IN temp.gone", &out->results, err);
    if (status == PW_OK)
        status = count_of(store, "SELECT COUNT(*) FROM verdict WHERE run IN temp.gone", &out->verdicts, err);
    if (status == PW_OK)
        status = samples_only ? pw_store_exec(store, thin_sql, err) : remove_runs(store, out, err);
    return status;
}

static int64_t file_size(const char *path)
{
    struct stat facts;

    return stat(path, &facts) == 0 ? (int64_t)facts.st_size : 0;
}

static pw_status shrink(struct pw_store *store, struct pw_error *err)
{
    pw_status status = pw_store_exec(store, "VACUUM", err);

    /* The log still has the pages; another process that reads may keep them for a while. */
    if (status == PW_OK)
        sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return status;
}

pw_status pw_history_prune(struct pw_store *store, const struct pw_history_retention *retention, bool dry_run,
                           struct pw_history_pruned *out, struct pw_error *err)
{
    int64_t before;
    pw_status status = pw_store_exec(store, "BEGIN IMMEDIATE", err);

    memset(out, 0, sizeof *out);
    if (status != PW_OK)
        return status;
    status = choose(store, retention, err);
    if (status == PW_OK)
        status = remove_gone(store, retention->samples_only, out, err);
    if (status == PW_OK)
        status = pw_store_exec(store, dry_run ? "ROLLBACK" : "COMMIT", err);
    if (status != PW_OK)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    if (status != PW_OK || dry_run || !out->runs)
        return status;
    sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    before = file_size(store->path);
    status = shrink(store, err);
    out->bytes = before - file_size(store->path);
    return status;
}

/* ---- backup ---- */

static pw_status check_db(sqlite3 *db, const char *path, struct pw_error *err)
{
    sqlite3_stmt *q = NULL;
    pw_status status = PW_OK;
    const char *found;

    if (sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1, &q, NULL) != SQLITE_OK || sqlite3_step(q) != SQLITE_ROW)
        status = pw_error_set(err, PW_ERR_STORE, "%s: could not be checked: %s", path, sqlite3_errmsg(db));
    else if ((found = (const char *)sqlite3_column_text(q, 0)) && strcmp(found, "ok") != 0)
        status = pw_error_set(err, PW_ERR_STORE,
                              "%s: is damaged: %.200s; move it away and restore a backup (portwright history backup "
                              "makes one)",
                              path, found);
    sqlite3_finalize(q);
    return status;
}

pw_status pw_store_integrity(struct pw_store *store, struct pw_error *err)
{
    pw_status status = check_db(store->db, store->path, err);

    return status == PW_OK ? pw_store_complete(store, err) : status;
}

static pw_status copy_pages(struct pw_store *store, sqlite3 *to, const char *path, struct pw_error *err)
{
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", store->db, "main");
    int64_t deadline = pw_clock_ns() + BACKUP_WAIT_NS;
    int code = SQLITE_OK;

    while (backup && (code = sqlite3_backup_step(backup, BACKUP_PAGES)) != SQLITE_DONE) {
        if (code != SQLITE_OK && code != SQLITE_BUSY && code != SQLITE_LOCKED)
            break;
        if (pw_clock_ns() > deadline)
            break;
        if (code != SQLITE_OK)
            sqlite3_sleep(BACKUP_PAUSE_MS);
    }
    if (backup)
        code = sqlite3_backup_finish(backup) == SQLITE_OK && code == SQLITE_DONE ? SQLITE_OK : code;
    if (backup && code == SQLITE_OK)
        return PW_OK;
    return pw_error_set(err, PW_ERR_STORE, "%s: the backup could not be written: %s; nothing was replaced", path,
                        backup ? sqlite3_errstr(code) : sqlite3_errmsg(to));
}

/* A copy keeps no log of its own: one file is the whole backup. */
static pw_status write_copy(struct pw_store *store, const char *path, struct pw_error *err)
{
    sqlite3 *to = NULL;
    pw_status status = PW_OK;

    if (sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        status = pw_error_set(err, PW_ERR_STORE, "%s: could not be created: %s", path, to ? sqlite3_errmsg(to) : "");
    if (status == PW_OK)
        status = copy_pages(store, to, path, err);
    if (status == PW_OK && sqlite3_exec(to, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL) != SQLITE_OK)
        status = pw_error_set(err, PW_ERR_STORE, "%s: %s", path, sqlite3_errmsg(to));
    if (status == PW_OK)
        status = check_db(to, path, err);
    sqlite3_close(to);
    return status;
}

pw_status pw_history_backup(struct pw_store *store, const char *path, struct pw_error *err)
{
    struct pw_buf draft = {0};
    struct stat a, b;
    pw_status status = PW_OK;

    if (stat(path, &a) == 0 && stat(store->path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return pw_error_set(err, PW_ERR_USAGE, "%s: is the database itself", path);
    pw_buf_printf(&draft, "%s.%ld.tmp", path, (long)getpid());
    if (draft.failed)
        status = pw_error_memory(err, strlen(path));
    if (status == PW_OK)
        status = pw_file_need_folder(path, err);
    if (status == PW_OK)
        status = write_copy(store, pw_buf_text(&draft), err);
    if (status == PW_OK && rename(pw_buf_text(&draft), path) != 0)
        status = pw_error_set(err, PW_ERR_IO, "cannot write '%s': %s", path, strerror(errno));
    if (status != PW_OK && !draft.failed)
        unlink(pw_buf_text(&draft));
    pw_buf_clear(&draft);
    return status;
}
