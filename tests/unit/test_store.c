/* The store: what was reported as recorded is there afterwards, also after a kill; bad files are refused unharmed. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "graph/inventory.h"
#include "store/builds.h"
#include "store/store_internal.h"
#include "verify/verify.h"

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/pw-store-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[256];

    (void)state;
    snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", folder, folder);
    return system(command) == 0 ? 0 : -1;
}

static const char *path_of(const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const struct pw_signature softmax = {.text = "Softmax-13 axis=-1 (float32[2,3]) -> (float32[2,3])",
                                            .id = "00112233445566aa",
                                            .op_label = "Softmax-13",
                                            .category = PW_CATEGORY_ACTIVATION,
                                            .node_count = 4};

static int64_t begin(struct pw_store *store, const char *target)
{
    struct pw_store_run run = {.kind = "check", .graph = "g1", .model_path = "m.onnx", .target = target, .seed = 7};
    struct pw_error err = {0};
    int64_t id = 0;

    assert_int_equal(pw_store_run_begin(store, &run, &id, &err), PW_OK);
    return id;
}

static void add_result(struct pw_store *store, int64_t run, pw_standing standing, double error)
{
    struct pw_signature_result result = {.standing = standing,
                                         .cases = 4,
                                         .held = standing == PW_STANDING_HELD ? 4 : 3,
                                         .failed = standing == PW_STANDING_FAILED,
                                         .worst_error = error,
                                         .tolerance = 1e-6,
                                         .worst_ratio = error / 1e-6,
                                         .target_ns = 1500,
                                         .reference_name = "loops"};
    struct pw_error err = {0};

    assert_int_equal(pw_store_signature_add(store, run, &softmax, &result, &err), PW_OK);
}

static void add_case(struct pw_store *store, int64_t run, pw_verdict verdict, double error)
{
    struct pw_case_result result = {.verdict = verdict,
                                    .implementation = "softmax_rows",
                                    .shapes = "float32[2,3] -> float32[2,3]",
                                    .dtype = PW_DTYPE_FLOAT32,
                                    .dist = PW_DIST_NORMAL,
                                    .seed = 7,
                                    .tolerance = 1e-6,
                                    .reference_error = NAN,
                                    .reason = "because",
                                    .log = ""};
    struct pw_error err = {0};

    result.comparison.max_error = error;
    snprintf(result.id, sizeof result.id, "3:00112233445566aa:f32:graph:normal:7");
    assert_int_equal(pw_store_case_add(store, run, &softmax, &result, &err), PW_OK);
}

static void test_rows_come_back(void **state)
{
    struct pw_store *store = NULL;
    struct pw_arena arena = {0};
    struct pw_error err = {0};
    struct pw_store_signature_row *rows;
    struct pw_store_case_row *cases;
    size_t count;
    int64_t first, second;

    (void)state;
    assert_int_equal(pw_store_open(path_of("a/b/x.db"), false, &store, &err), PW_OK); /* folders are made */
    first = begin(store, "opencl");
    add_case(store, first, PW_VERDICT_PASS, 2e-7);
    add_result(store, first, PW_STANDING_HELD, 2e-7);
    assert_int_equal(pw_store_run_end(store, first, "held", 0, &err), PW_OK);
    second = begin(store, "opencl");
    add_case(store, second, PW_VERDICT_FAIL, 5e-6);
    add_result(store, second, PW_STANDING_FAILED, 5e-6);
    add_result(store, begin(store, "other"), PW_STANDING_HELD, 1e-9);
    pw_store_close(store);

    assert_int_equal(pw_store_open(path_of("a/b/x.db"), true, &store, &err), PW_OK);
    assert_int_equal(pw_store_latest(store, "g1", "opencl", &arena, &rows, &count, &err), PW_OK);
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].standing, "failed");
    assert_true(rows[0].run_id == second);
    assert_true(rows[0].worst_error == 5e-6);
    assert_true(rows[0].target_ns == 1500);
    assert_true(rows[0].reference_ns == 0); /* unknown, not measured as 0 */
    assert_int_equal(pw_store_latest(store, "g2", "opencl", &arena, &rows, &count, &err), PW_OK);
    assert_int_equal(count, 0);
    assert_int_equal(pw_store_history(store, softmax.id, "opencl", NULL, &arena, &rows, &count, &err), PW_OK);
    assert_int_equal(count, 2);
    assert_string_equal(rows[0].standing, "held");
    assert_int_equal(pw_store_cases(store, softmax.id, "opencl", &arena, &cases, &count, &err), PW_OK);
    assert_int_equal(count, 1);
    assert_string_equal(cases[0].verdict, "FAIL");
    assert_string_equal(cases[0].reason, "because");
    assert_true(isnan(cases[0].reference_error));
    pw_store_close(store);
    pw_arena_clear(&arena);
}

/* A process is killed right after each acknowledged row; every acknowledged row must be there. */
static void test_kill_loses_nothing(void **state)
{
    struct pw_arena arena = {0};
    struct pw_error err = {0};
    struct pw_store *store = NULL;
    struct pw_store_signature_row *rows;
    size_t count;

    (void)state;
    for (int round = 1; round <= 5; round++) {
        int ready[2], child;
        char byte;

        assert_int_equal(pipe(ready), 0);
        child = fork();
        if (child == 0) {
            struct pw_store *mine = NULL;

            if (pw_store_open(path_of("kill.db"), false, &mine, NULL) == PW_OK)
                add_result(mine, begin(mine, "opencl"), PW_STANDING_HELD, 1e-7);
            if (write(ready[1], "x", 1) < 0)
                _exit(1);
            for (;;) /* goes on writing until it is killed */
                add_result(mine, 1, PW_STANDING_HELD, 2e-7);
        }
        close(ready[1]);
        assert_int_equal(read(ready[0], &byte, 1), 1);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        close(ready[0]);
        assert_int_equal(pw_store_open(path_of("kill.db"), false, &store, &err), PW_OK);
        assert_int_equal(pw_store_history(store, softmax.id, "opencl", NULL, &arena, &rows, &count, &err), PW_OK);
        assert_true(count >= (size_t)round);
        assert_true(rows[count - 1].run_id >= round);
        pw_store_close(store);
    }
    pw_arena_clear(&arena);
}

static void write_text(const char *path, const char *text)
{
    struct pw_error err = {0};

    assert_int_equal(pw_file_write(path, text, strlen(text), &err), PW_OK);
}

static void test_bad_files_are_refused_unharmed(void **state)
{
    struct pw_store *store = NULL;
    struct pw_error err = {0};
    struct pw_buf text = {0};
    char command[512];

    (void)state;
    write_text(path_of("garbage.db"), "this is no database, but somebody's letter");
    assert_int_equal(pw_store_open(path_of("garbage.db"), false, &store, &err), PW_ERR_STORE);
    assert_non_null(strstr(err.message, "garbage.db"));
    assert_non_null(strstr(err.message, "move it away"));
    assert_int_equal(pw_file_read(path_of("garbage.db"), 1000, &text, &err), PW_OK);
    assert_string_equal(pw_buf_text(&text), "this is no database, but somebody's letter");
    pw_buf_clear(&text);

    assert_int_equal(pw_store_open(path_of("new.db"), false, &store, &err), PW_OK);
    pw_store_close(store);
    snprintf(command, sizeof command, "sqlite3 %s 'PRAGMA user_version=99' 2>/dev/null", path_of("new.db"));
    if (system(command) == 0) { /* where the sqlite3 program is installed */
        pw_error_clear(&err);
        assert_int_equal(pw_store_open(path_of("new.db"), false, &store, &err), PW_ERR_STORE);
        assert_non_null(strstr(err.message, "newer portwright"));
    }
    pw_error_clear(&err);
    assert_int_equal(pw_store_open(path_of("absent.db"), true, &store, &err), PW_ERR_STORE);
    assert_false(pw_file_exists(path_of("absent.db")));
}

static void test_folder_that_cannot_be_made(void **state)
{
    struct pw_store *store = NULL;
    struct pw_error err = {0};

    (void)state;
    write_text(path_of("file"), "x");
    assert_int_not_equal(pw_store_open(path_of("file/x.db"), false, &store, &err), PW_OK);
    assert_non_null(strstr(err.message, "file"));
}

static void add_build(struct pw_store *store, const char *target, uint64_t source, const char *log, bool failed,
                      bool first)
{
    struct pw_store_build build = {.source = {~source, source}, .log = log, .failed = failed};
    struct pw_error err = {0};

    if (pw_store_build_add(store, target, &build, first, &err) != PW_OK)
        fail_msg("%s", err.message);
}

static size_t builds_of(struct pw_store *store, const char *target, uint64_t source, struct pw_arena *arena,
                        struct pw_store_build **rows)
{
    struct pw_error err = {0};
    size_t count = 0;

    *rows = NULL;
    if (pw_store_builds(store, target, (struct pw_hash128){~source, source}, arena, rows, &count, &err) != PW_OK)
        fail_msg("%s", err.message);
    return count;
}

/* What compilers said: by target and source, the last session's; of a long log its begin. */
static void test_builds(void **state)
{
    struct pw_store *store = NULL;
    struct pw_error err = {0};
    struct pw_arena arena = {0};
    struct pw_store_build *rows = NULL;
    char *big = malloc(PW_STORE_BUILD_LOG + 100);

    (void)state;
    assert_non_null(big);
    assert_int_equal(pw_store_open(path_of("builds.db"), false, &store, &err), PW_OK);
    add_build(store, "opencl", 7, "one", false, true);
    add_build(store, "opencl", 7, "two", true, false);
    add_build(store, "opencl", 7, "two", true, false); /* the same again */
    add_build(store, "plugin", 7, "another chip's", false, true);
    assert_int_equal(builds_of(store, "opencl", 7, &arena, &rows), 2);
    for (int i = 0; i < 2; i++) {
        assert_true(rows[i].source.high == ~(uint64_t)7 && rows[i].source.low == 7);
        assert_string_equal(rows[i].log, rows[i].failed ? "two" : "one");
    }
    add_build(store, "opencl", 7, "", false, true); /* built before: what was said then stays */
    assert_int_equal(builds_of(store, "opencl", 7, &arena, &rows), 3);
    add_build(store, "opencl", 7, "new", false, true); /* another session */
    assert_int_equal(builds_of(store, "opencl", 7, &arena, &rows), 1);
    assert_string_equal(rows[0].log, "new");
    assert_int_equal(builds_of(store, "plugin", 7, &arena, &rows), 1);
    memset(big, 'x', PW_STORE_BUILD_LOG + 99);
    memcpy(big + PW_STORE_BUILD_LOG - 1, "\xc3\xa4", 2); /* a character across the end */
    big[PW_STORE_BUILD_LOG + 99] = '\0';
    add_build(store, "plugin", 7, big, false, true);
    assert_int_equal(builds_of(store, "plugin", 7, &arena, &rows), 1);
    assert_int_equal(strlen(rows[0].log), PW_STORE_BUILD_LOG - 1);
    for (int i = 0; i < PW_STORE_BUILD_LOGS + 5; i++) { /* of very many the newest, and only of what was asked for */
        snprintf(big, 20, "%d", i);
        add_build(store, "opencl", 8, big, false, false);
    }
    assert_int_equal(builds_of(store, "opencl", 8, &arena, &rows), PW_STORE_BUILD_LOGS);
    assert_string_equal(rows[0].log, "5");
    assert_string_equal(rows[PW_STORE_BUILD_LOGS - 1].log, big);
    assert_int_equal(builds_of(store, "opencl", 7, &arena, &rows), 1);
    pw_store_close(store);
    pw_arena_clear(&arena);
    free(big);
}

static void sql_on(const char *sql)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path_of("s.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* A file that somebody prepared: its schema does nothing that ours would not. */
static void test_prepared_file(void **state)
{
    static const char *const views[] = {
        "ALTER TABLE signature RENAME TO hidden",
        "CREATE VIEW signature AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
        " SELECT 'x' || x AS id, 'text' AS text, 'op' AS op, 'category' AS category FROM c"};
    struct pw_store *store = NULL;
    struct pw_store_signature_row *rows = NULL;
    struct pw_arena arena = {0};
    struct pw_error err = {0};
    size_t count = 0;

    (void)state;
    assert_int_equal(pw_store_open(path_of("s.db"), false, &store, &err), PW_OK);
    add_result(store, begin(store, "opencl"), PW_STANDING_HELD, 0);
    pw_store_close(store);
    sql_on("CREATE TRIGGER t AFTER INSERT ON result BEGIN UPDATE result SET standing = 'held'; END");
    assert_int_equal(pw_store_open(path_of("s.db"), false, &store, &err), PW_OK);
    add_result(store, begin(store, "opencl"), PW_STANDING_FAILED, 1);
    assert_int_equal(pw_store_latest(store, "g1", "opencl", &arena, &rows, &count, &err), PW_OK);
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].standing, "failed");
    pw_store_close(store);
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        sql_on(views[i]);
    store = NULL;
    if (pw_store_open(path_of("s.db"), true, &store, &err) == PW_OK)
        assert_int_equal(pw_store_latest(store, "g1", "opencl", &arena, &rows, &count, &err), PW_ERR_STORE);
    assert_int_equal(err.status, PW_ERR_STORE);
    pw_store_close(store);
    pw_arena_clear(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rows_come_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_builds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_prepared_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kill_loses_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_files_are_refused_unharmed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_folder_that_cannot_be_made, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
