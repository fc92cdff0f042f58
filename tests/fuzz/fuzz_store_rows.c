/* A store that was changed by hand: any lines of SQL on a small sound one, then all that reads it. */
#include "tests/fuzz/store_sample.h"
#include "tests/fuzz/text_mutate.h"

/* Other files are not touched, and settings of the whole process neither. */
static int fuzz_store_rows_allow(void *user, int action, const char *a, const char *b, const char *c, const char *d)
{
    static const char *const pragmas[] = {"user_version", "writable_schema", "foreign_keys", "encoding", "page_size"};
    (void)user;
    (void)b;
    (void)c;
    (void)d;
    if (action == SQLITE_ATTACH || action == SQLITE_DETACH)
        return SQLITE_DENY;
    if (action != SQLITE_PRAGMA)
        return SQLITE_OK;
    for (size_t i = 0; i < PW_COUNT_OF(pragmas); i++)
        if (!strcmp(a, pragmas[i]))
            return SQLITE_OK;
    return SQLITE_DENY;
}

static int fuzz_store_rows_enough(void *steps)
{
    return ++*(int *)steps > 100;
}

static void fuzz_store_rows(const uint8_t *data, size_t size)
{
    const struct pw_buf *sample = store_sample();
    char *text = fuzz_text(data, size), *next;
    sqlite3 *db = NULL;

    store_put(sample->data, sample->size);
    fuzz_check(sqlite3_open(store_path("s.db"), &db) == SQLITE_OK);
    (void)sqlite3_exec(db, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF", NULL, NULL, NULL);
    sqlite3_set_authorizer(db, fuzz_store_rows_allow, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 16);
    for (char *line = text; *line; line = next) {
        size_t length = strcspn(line, "\n");
        int steps = 0;
        next = line + length + (line[length] == '\n');
        line[length] = '\0';
        sqlite3_progress_handler(db, 1000, fuzz_store_rows_enough, &steps);
        (void)sqlite3_exec(db, line, NULL, NULL, NULL);
    }
    sqlite3_close(db);
    store_use(size);
    pw_free(text);
}

static void fuzz_store_rows_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, struct pw_buf *out)
{
    static const char *const words[] = {"UPDATE run SET ",
                                        "UPDATE result SET ",
                                        "UPDATE verdict SET ",
                                        "UPDATE signature SET ",
                                        "UPDATE bench SET ",
                                        "UPDATE decision SET ",
                                        "UPDATE sensitivity SET ",
                                        "UPDATE run_figure SET ",
                                        "UPDATE run_output SET ",
                                        "UPDATE run_node SET ",
                                        "UPDATE run_text SET ",
                                        "UPDATE node_figure SET ",
                                        "UPDATE build SET ",
                                        "DROP TABLE run",
                                        "DELETE FROM ",
                                        "ALTER TABLE result RENAME COLUMN error TO e",
                                        "INSERT INTO result SELECT * FROM result",
                                        "INSERT INTO run_figure SELECT * FROM run_figure",
                                        "PRAGMA user_version=",
                                        "PRAGMA writable_schema=1",
                                        "UPDATE sqlite_master SET sql=",
                                        "CREATE VIEW ",
                                        "CREATE TRIGGER t AFTER INSERT ON run BEGIN SELECT 1; END",
                                        "x'ff00c3'",
                                        "'\x1b[2J'",
                                        "zeroblob(60000)",
                                        "char(0,8238,27)",
                                        "9e999",
                                        "-9e999",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "NULL",
                                        "0.1",
                                        "run",
                                        "signature",
                                        "standing",
                                        "coverage",
                                        "worst_error",
                                        "tolerance",
                                        "target_ns",
                                        "reference_ns",
                                        "target_samples",
                                        "wall_ms",
                                        "begin_ms",
                                        "end_ms",
                                        "environment",
                                        "environment_id",
                                        "bindings",
                                        "dims",
                                        "text",
                                        "op",
                                        "graph",
                                        "damage",
                                        "node",
                                        "dtype",
                                        "value",
                                        "name",
                                        "reason",
                                        "bound",
                                        "level",
                                        "outcome",
                                        "kernel_hash",
                                        "flips",
                                        "'<script>alert(1)</script>'",
                                        "'{\"id\":'",
                                        "hex(randomblob(99))",
                                        NULL};
    text_mutate(draws, data, size, words, out);
}

FUZZ_HARNESS(fuzz_store_rows, fuzz_store_rows_mutate);
