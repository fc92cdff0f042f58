/*
 * Files of every older schema open, keep their rows and end as a new file's schema. tests/unit/store/schema-N.sql is
 * a small database as version N made it: the statements of migrations 1 to N and a few rows, ended by
 * PRAGMA user_version=N. Whoever adds a migration adds the fixture of the version before it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "paths.h"
#include "store/history.h"
#include "store/store_internal.h"

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/pw-migrate-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[256];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? 0 : -1;
}

static const char *path_of(const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void make_old(const char *path, int version)
{
    const char *source = getenv("PW_SOURCE");
    struct pw_buf sql = {0};
    struct pw_error err = {0};
    char fixture[1024];
    sqlite3 *db = NULL;

    snprintf(fixture, sizeof fixture, "%s/tests/unit/store/schema-%d.sql", source ? source : PW_SRCDIR, version);
    if (pw_file_read(fixture, 1 << 20, &sql, &err) != PW_OK)
        fail_msg("each older schema needs its fixture: %s", err.message);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, pw_buf_text(&sql), NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", fixture, sqlite3_errmsg(db));
    sqlite3_close(db);
    pw_buf_clear(&sql);
}

/* All there is in the schema, and what each table's columns are, as one text. */
static int add_line(void *user, int count, char **texts, char **names)
{
    (void)names;
    for (int i = 0; i < count; i++)
        pw_buf_printf(user, "%s|", texts[i] ? texts[i] : "");
    pw_buf_putc(user, '\n');
    return 0;
}

static void schema_of(struct pw_store *store, struct pw_buf *out)
{
    const char *sql = "SELECT m.type, m.name, m.tbl_name, c.name, c.type, c.\"notnull\", c.pk FROM sqlite_master m"
                      " LEFT JOIN pragma_table_info(m.name) c ORDER BY 1, 2, 3, 4";

    assert_int_equal(sqlite3_exec(store->db, sql, add_line, out, NULL), SQLITE_OK);
}

static void test_each_older_version(void **state)
{
    struct pw_store *store = NULL;
    struct pw_error err = {0};
    struct pw_buf want = {0};

    (void)state;
    assert_int_equal(pw_store_open(path_of("new.db"), false, &store, &err), PW_OK);
    schema_of(store, &want);
    pw_store_close(store);
    assert_non_null(strstr(pw_buf_text(&want), "result_run"));
    for (int version = 1; version < pw_store_schema(); version++)
        for (int read_only = 0; read_only < 2; read_only++) {
            struct pw_arena arena = {0};
            struct pw_store_signature_row *rows = NULL;
            struct pw_store_case_row *cases = NULL;
            struct pw_buf got = {0};
            size_t count = 0;
            char name[32];
            int now = 0;

            snprintf(name, sizeof name, "old-%d-%d.db", version, read_only);
            make_old(path_of(name), version);
            if (pw_store_open(path_of(name), read_only, &store, &err) != PW_OK)
                fail_msg("schema %d: %s", version, err.message);
            assert_int_equal(pw_store_version(store, &now, &err), PW_OK);
            assert_int_equal(now, pw_store_schema());
            schema_of(store, &got);
            assert_string_equal(pw_buf_text(&got), pw_buf_text(&want));
            assert_int_equal(pw_store_latest(store, "g1", "opencl", &arena, &rows, &count, &err), PW_OK);
            assert_int_equal(count, 1);
            assert_string_equal(rows[0].implementation, "softmax_rows");
            assert_true(rows[0].worst_error == 2e-7 && rows[0].target_ns == 1500 && rows[0].reference_ns == 3000);
            assert_int_equal(pw_store_cases(store, "00112233445566aa", "opencl", &arena, &cases, &count, &err), PW_OK);
            assert_int_equal(count, 1);
            assert_string_equal(cases[0].verdict, "PASS");
            pw_store_close(store);
            pw_buf_clear(&got);
            pw_arena_clear(&arena);
        }
    pw_buf_clear(&want);
}

/* A statement in the middle fails: the file stays what it was, and opens once the cause is gone. */
static void test_failed_migration_changes_nothing(void **state)
{
    struct pw_store *store = NULL;
    struct pw_error err = {0};
    sqlite3 *db = NULL;
    struct pw_buf before = {0}, after = {0};
    const char *all = "SELECT type, name, sql FROM sqlite_master UNION ALL SELECT 'v', user_version, '' FROM"
                      " pragma_user_version ORDER BY 1, 2";

    (void)state;
    if (pw_store_schema() < 2)
        skip();
    make_old(path_of("clash.db"), 1);
    assert_int_equal(sqlite3_open(path_of("clash.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE decision(x)", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, all, add_line, &before, NULL), SQLITE_OK);
    assert_int_equal(pw_store_open(path_of("clash.db"), false, &store, &err), PW_ERR_STORE);
    assert_non_null(strstr(err.message, "clash.db"));
    assert_int_equal(sqlite3_exec(db, all, add_line, &after, NULL), SQLITE_OK);
    assert_string_equal(pw_buf_text(&before), pw_buf_text(&after));
    assert_int_equal(sqlite3_exec(db, "DROP TABLE decision", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(pw_store_open(path_of("clash.db"), false, &store, &err), PW_OK);
    pw_store_close(store);
    pw_buf_clear(&before);
    pw_buf_clear(&after);
}

/* What is no store, or no whole one, is said with what was expected. */
static void expect_refused(const char *name, const char *part)
{
    for (int read_only = 0; read_only < 2; read_only++) {
        struct pw_store *store = NULL;
        struct pw_error err = {0};

        assert_int_equal(pw_store_open(path_of(name), read_only, &store, &err), PW_ERR_STORE);
        if (!strstr(err.message, part))
            fail_msg("'%s' lacks '%s'", err.message, part);
        assert_null(store);
    }
}

static void change(const char *name, const char *sql)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path_of(name), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void test_what_is_no_store_is_said(void **state)
{
    struct pw_store *store = NULL;
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(mkdir(path_of("folder.db"), 0777), 0);
    expect_refused("folder.db", "is a folder, expected a file");
    assert_int_equal(pw_store_open(path_of("negative.db"), false, &store, &err), PW_OK);
    pw_store_close(store);
    change("negative.db", "PRAGMA user_version=-1");
    expect_refused("negative.db", "its schema is -1, expected 0 to ");
}

static void test_a_lost_table_is_found(void **state)
{
    static const char *const rows[][2] = {
        {"PRAGMA foreign_keys=OFF; DROP TABLE run_node", "table run_node is missing"},
        {"ALTER TABLE result DROP COLUMN kernel_hash", "column kernel_hash of table result is missing"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pw_store *store = NULL;
        struct pw_error err = {0};

        unlink(path_of("lost.db"));
        assert_int_equal(pw_store_open(path_of("lost.db"), false, &store, &err), PW_OK);
        assert_int_equal(pw_store_integrity(store, &err), PW_OK);
        pw_store_close(store);
        change("lost.db", rows[i][0]);
        assert_int_equal(pw_store_open(path_of("lost.db"), false, &store, &err), PW_OK);
        assert_int_equal(pw_store_integrity(store, &err), PW_ERR_STORE);
        if (!strstr(err.message, rows[i][1]))
            fail_msg("'%s' lacks '%s'", err.message, rows[i][1]);
        pw_store_close(store);
    }
}

static void test_newer_is_refused_untouched(void **state)
{
    struct pw_store *store = NULL;
    struct pw_error err = {0};
    char sql[64];
    sqlite3 *db = NULL;

    (void)state;
    assert_int_equal(pw_store_open(path_of("newer.db"), false, &store, &err), PW_OK);
    pw_store_close(store);
    store = NULL;
    assert_int_equal(sqlite3_open(path_of("newer.db"), &db), SQLITE_OK);
    snprintf(sql, sizeof sql, "PRAGMA user_version=%d", pw_store_schema() + 1);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    for (int read_only = 0; read_only < 2; read_only++) {
        pw_error_clear(&err);
        assert_int_equal(pw_store_open(path_of("newer.db"), read_only, &store, &err), PW_ERR_STORE);
        assert_non_null(strstr(err.message, "newer portwright"));
        assert_null(store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_older_version, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failed_migration_changes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_newer_is_refused_untouched, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_no_store_is_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_lost_table_is_found, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
