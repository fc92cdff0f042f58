/* What the files of src/store share; the only header that includes sqlite3.h. */
#ifndef PW_STORE_STORE_INTERNAL_H
#define PW_STORE_STORE_INTERNAL_H

#include <sqlite3.h>

#include "store/store.h"

struct pw_store {
    sqlite3 *db;
    char *path; /* owned */
    bool read_only;
};

/* "FILE: what: <SQLite's message>; <what to do>" as PW_ERR_STORE (or NO_MEMORY). */
pw_status pw_store_fail(struct pw_store *store, const char *what, struct pw_error *err);
pw_status pw_store_exec(struct pw_store *store, const char *sql, struct pw_error *err);
pw_status pw_store_prepare(struct pw_store *store, const char *sql, sqlite3_stmt **out, struct pw_error *err);
/* Steps a statement that returns no row; finalizes it in every case. */
pw_status pw_store_run_once(struct pw_store *store, sqlite3_stmt *statement, const char *what, struct pw_error *err);
/* Brings the file to the newest schema. */
pw_status pw_store_migrate(struct pw_store *store, struct pw_error *err);
/* Whether every table and column of the schema is there; PW_ERR_STORE with the first that is not. */
pw_status pw_store_complete(struct pw_store *store, struct pw_error *err);
pw_status pw_store_version(struct pw_store *store, int *version, struct pw_error *err); /* that the file has */

/* A column's text in the arena, "" for NULL (NULL only when memory is short); a number, NaN for NULL. */
struct pw_arena;
const char *pw_store_text_at(sqlite3_stmt *statement, int column, struct pw_arena *arena);
double pw_store_real_at(sqlite3_stmt *statement, int column);

/* Steps through `q` to its end and finalizes it, also when it is given with a status that is not PW_OK. *rows is an
 * array in the arena, each row (zeroed before) filled by `read`; on failure ("WHAT could not be read") *rows and
 * *count are untouched. */
typedef pw_status pw_store_reader(sqlite3_stmt *q, struct pw_arena *arena, void *row, struct pw_error *err);
struct pw_store_rows {
    const char *what;
    size_t row_bytes;
    pw_store_reader *read;
};
pw_status pw_store_collect(struct pw_store *store, pw_status status, sqlite3_stmt *q, const struct pw_store_rows *kind,
                           struct pw_arena *arena, void *rows, size_t *count, struct pw_error *err);

/* Binding by position; a NaN or an unknown time becomes NULL. */
void pw_store_bind_text(sqlite3_stmt *statement, int at, const char *text);
void pw_store_bind_real(sqlite3_stmt *statement, int at, double value);
void pw_store_bind_time(sqlite3_stmt *statement, int at, int64_t ns);

/* Parts of a transaction: the row that others refer to; COMMIT, or ROLLBACK when status is not PW_OK. */
struct pw_signature;
pw_status pw_store_put_signature(struct pw_store *store, const struct pw_signature *signature, struct pw_error *err);
pw_status pw_store_end_transaction(struct pw_store *store, pw_status status, struct pw_error *err);

#endif
