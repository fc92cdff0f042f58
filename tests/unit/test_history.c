/* Series, retention and backups of the store, on rows with made times. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "json_schema.h"
#include "report/history.h"
#include "store/builds.h"
#include "store/history.h"
#include "store/store_internal.h"

#define DAY INT64_C(86400000)
#define SOFTMAX "00112233445566aa"

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/pw-history-XXXXXX");
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
    static char paths[2][256];
    static int next;
    char *path = paths[next++ % 2];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void sql(struct pw_store *store, const char *format, ...) PW_PRINTF(2, 3);
static void sql(struct pw_store *store, const char *format, ...)
{
    char text[2048];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (sqlite3_exec(store->db, text, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sqlite3_errmsg(store->db), text);
}

static struct pw_store *open_db(const char *name, bool read_only)
{
    struct pw_store *store = NULL;
    struct pw_error err = {0};

    if (pw_store_open(path_of(name), read_only, &store, &err) != PW_OK)
        fail_msg("%s", err.message);
    return store;
}

static void add_signature(struct pw_store *store, const char *id, const char *op)
{
    sql(store,
        "INSERT INTO signature(id, text, op, category) VALUES('%s', '%s text', '%s', 'c') ON CONFLICT DO NOTHING", id,
        op, op);
}

/* One run of one signature at a time, with its figures. */
static void add_run(struct pw_store *store, const char *id, const char *target, const char *environment, int64_t at,
                    double error, int64_t target_ns)
{
    sql(store,
        "INSERT INTO run(kind, graph, model_path, target, target_kind, device, environment, bindings, protocol, "
        "version,"
        " seed, begin_ms, end_ms, outcome, exit_code, environment_id) VALUES('check', 'abcd12', 'm', '%s', 'k', 'd', "
        "'{\"target\": \"opencl\", \"id\": \"%s\", \"cpu\": \"chip %s\"}',"
        " 'n=1', '', '1', 1, %lld, %lld, 'held', 0, '%s')",
        target, environment, environment, (long long)at, (long long)at + 1, environment);
    sql(store,
        "INSERT INTO result(run, signature, wall_ms, standing, coverage, implementation, nodes, cases, held, failed,"
        " no_evidence, worst_error, worst_ratio, tolerance, target_ns, reference_ns, reference_name, gate_failed,"
        " target_samples, kernel_hash) VALUES(last_insert_rowid(), '%s', %lld, 'held', 'kernel', 'k1', 1, 1, 1, 0, 0,"
        " %.17g, 0, 1e-6, %lld, 1000, 'loops', 0, zeroblob(4000), '%s')",
        id, (long long)at, error, (long long)target_ns, target_ns > 1150 ? "new" : "old");
}

static void fill(struct pw_store *store)
{
    int64_t now = pw_clock_wall_ms();

    add_signature(store, SOFTMAX, "Softmax-13");
    add_signature(store, "00112233445566bb", "LogSoftmax-13");
    add_signature(store, "00112233445566cc", "com.x:Softmax-1");
    for (int i = 0; i < 20; i++) { /* the last eight a fifth slower */
        add_run(store, SOFTMAX, "opencl", "e1", now - (100 - i * 5) * DAY, 2e-7, i < 12 ? 1000 + i % 3 : 1200 + i % 3);
        if (i == 14)
            add_run(store, "00112233445566bb", "opencl", "e1", now - 29 * DAY - DAY / 2, 1e-7, 900);
    }
    add_run(store, "00112233445566cc", "other", "e1", now - 2 * DAY, 1e-7, 900);
}

static size_t read_series(struct pw_store *store, const struct pw_history_filter *filter, struct pw_arena *arena,
                          struct pw_history_series **series)
{
    struct pw_error err = {0};
    size_t count = 0;

    if (pw_history_read(store, filter, arena, series, &count, &err) != PW_OK)
        fail_msg("%s", err.message);
    return count;
}

static void test_filters(void **state)
{
    struct pw_store *store = open_db("x.db", false);
    struct pw_arena arena = {0};
    struct pw_history_series *series;
    struct pw_history_filter filter = {0};

    (void)state;
    fill(store);
    assert_int_equal(read_series(store, &filter, &arena, &series), 3);
    filter.op = "Softmax"; /* any version, any domain, but not LogSoftmax */
    assert_int_equal(read_series(store, &filter, &arena, &series), 2);
    assert_string_equal(series[0].op, "Softmax-13");
    assert_int_equal(series[0].count, 20);
    assert_true(series[0].points[0].wall_ms < series[0].points[19].wall_ms);
    assert_string_equal(series[0].points[19].kernel_hash, "new");
    assert_string_equal(series[0].points[0].environment_id, "e1");
    assert_string_equal(series[0].dims, "n=1");
    filter.op = "Softmax-13";
    assert_int_equal(read_series(store, &filter, &arena, &series), 1);
    filter.op = "Softmax%";
    assert_int_equal(read_series(store, &filter, &arena, &series), 0);
    filter = (struct pw_history_filter){.since_ms = pw_clock_wall_ms() - 28 * DAY};
    assert_int_equal(read_series(store, &filter, &arena, &series), 2);
    assert_int_equal(series[0].count, 5); /* 25, 20, 15, 10, 5 days ago */
    filter = (struct pw_history_filter){.target = "other"};
    assert_int_equal(read_series(store, &filter, &arena, &series), 1);
    filter = (struct pw_history_filter){.signature = SOFTMAX, .graph = "abcd"};
    assert_int_equal(read_series(store, &filter, &arena, &series), 1);
    filter.graph = "abce";
    assert_int_equal(read_series(store, &filter, &arena, &series), 0);
    pw_store_close(store);
    pw_arena_clear(&arena);
}

static void test_report(void **state)
{
    struct pw_store *store = open_db("x.db", false);
    struct pw_arena arena = {0};
    struct pw_history_series *series;
    struct pw_history_filter filter = {.op = "Softmax-13"};
    struct pw_report_history history;
    struct pw_buf out = {0};
    struct pw_error err = {0};
    char why[2048];

    (void)state;
    fill(store);
    assert_int_equal(read_series(store, &filter, &arena, &series), 1);
    assert_int_equal(pw_report_history(series, 1, &arena, &history, &err), PW_OK);
    assert_int_equal(history.rows[0].change_count, 1);
    assert_int_equal(history.rows[0].changes[0].at, 12);
    assert_true(history.rows[0].changes[0].throughput);
    assert_true(fabs(history.rows[0].changes[0].factor - 1.2) < 0.005);
    pw_report_history_text(&history, 140, false, &out);
    assert_non_null(strstr(pw_buf_text(&out), "20 % slower, kernel changed"));
    assert_non_null(strstr(pw_buf_text(&out), "0.83x"));
    pw_buf_clear(&out);
    pw_report_history_md(&history, &out);
    assert_non_null(strstr(pw_buf_text(&out), "| Softmax-13 |"));
    pw_buf_clear(&out);
    pw_report_history_csv(&history, &out);
    assert_non_null(strstr(pw_buf_text(&out), "\"new\",2e-07,1e-06,1200,1000,\"loops\"\r\n"));
    pw_buf_clear(&out);
    assert_int_equal(pw_report_history_json(&history, &out, &err), PW_OK);
    if (!schema_check_text("history.schema.json", pw_buf_text(&out), why, sizeof why))
        fail_msg("%s", why);
    pw_buf_clear(&out);
    history.count = 0;
    pw_report_history_text(&history, 140, false, &out);
    assert_non_null(strstr(pw_buf_text(&out), "no runs"));
    pw_buf_clear(&out);
    pw_store_close(store);
    pw_arena_clear(&arena);
}

/* The machine changed, not the kernel: levels of two environments are not compared. */
static void test_environments_are_series_of_their_own(void **state)
{
    struct pw_store *store = open_db("x.db", false);
    struct pw_arena arena = {0};
    struct pw_history_series *series;
    struct pw_history_filter filter = {0};
    struct pw_report_history history;
    struct pw_error err = {0};

    struct pw_history_environment *environments;
    struct pw_buf out = {0};
    size_t count = 0;
    char why[2048];

    (void)state;
    add_signature(store, SOFTMAX, "Softmax-13");
    for (int i = 0; i < 20; i++)
        add_run(store, SOFTMAX, "opencl", i % 2 ? "e1" : "e2", i * DAY, 2e-7, i % 2 ? 1000 : 2000);
    assert_int_equal(read_series(store, &filter, &arena, &series), 1);
    assert_int_equal(pw_report_history(series, 1, &arena, &history, &err), PW_OK);
    assert_int_equal(history.rows[0].change_count, 0);
    assert_int_equal(history.rows[0].environments, 2);
    assert_int_equal(history.rows[0].elsewhere, 10);
    assert_int_equal(history.rows[0].newest_timed, 19);
    assert_int_equal(history.rows[0].moved_before, 18);
    assert_int_equal(pw_history_environments(store, &arena, &environments, &count, &err), PW_OK);
    assert_int_equal(count, 2);
    history.environments = environments;
    history.environment_count = count;
    pw_report_history_text(&history, 140, false, &out);
    assert_non_null(
        strstr(pw_buf_text(&out), "another environment: 10 of 20 timed runs were not in e1 (the last in e2"));
    assert_non_null(strstr(pw_buf_text(&out), "environment e2, then e1: cpu: 'chip e2' then, 'chip e1' now"));
    pw_buf_clear(&out);
    pw_report_history_md(&history, &out);
    assert_non_null(strstr(pw_buf_text(&out), "not in e1 (the last in e2"));
    assert_non_null(strstr(pw_buf_text(&out), "\n> environment e2, then e1: cpu: 'chip e2' then"));
    pw_buf_clear(&out);
    assert_int_equal(pw_report_history_json(&history, &out, &err), PW_OK);
    if (!schema_check_text("history.schema.json", pw_buf_text(&out), why, sizeof why))
        fail_msg("%s", why);
    assert_non_null(strstr(pw_buf_text(&out), "\"timed_elsewhere\": 10"));
    pw_buf_clear(&out);
    pw_store_close(store);
    pw_arena_clear(&arena);
}

static int64_t count_rows(struct pw_store *store, const char *table);

static void test_decisions(void **state)
{
    struct pw_store *store = open_db("x.db", false);
    struct pw_store_decision decisions[] = {
        {SOFTMAX, "precision", "worse", "b/precision-1.yaml", "error grew", NAN, NAN, NAN, NAN, false, true, 0},
        {SOFTMAX, "throughput", "held", "b/throughput-e-1.yaml", "", 1.01, 0.99, 1.03, 0.4, true, false, 0},
        {"ffffffffffffffff", "coverage", "gone", "", "", NAN, NAN, NAN, NAN, false, false, 0}, /* not known */
    };
    struct pw_store_decision *back;
    struct pw_history_retention retention = {.before_ms = INT64_MAX};
    struct pw_history_pruned pruned;
    struct pw_arena arena = {0};
    struct pw_error err = {0};
    int64_t run = -1;
    size_t count = 9;

    (void)state;
    assert_int_equal(pw_store_decisions(store, "abcd12", "opencl", &arena, &run, &back, &count, &err), PW_OK);
    assert_true(run == 0 && count == 0);
    fill(store);
    assert_int_equal(pw_store_decisions_add(store, 3, decisions, 1, &err), PW_OK);
    assert_int_equal(pw_store_decisions_add(store, 5, decisions, 3, &err), PW_OK);
    assert_int_equal(pw_store_decisions(store, "abcd12", "opencl", &arena, &run, &back, &count, &err), PW_OK);
    assert_true(run == 5 && count == 2);
    assert_string_equal(back[0].reason, "error grew");
    assert_true(back[0].waived && isnan(back[0].slowdown) && back[1].confirmed && back[1].p == 0.4);
    assert_int_not_equal(pw_store_decisions_add(store, 12345, decisions, 1, &err), PW_OK); /* no such run */
    assert_int_equal(pw_history_prune(store, &retention, false, &pruned, &err), PW_OK);
    assert_int_equal(count_rows(store, "decision"), 0); /* they go with their run */
    pw_store_close(store);
    pw_arena_clear(&arena);
}

static int64_t count_rows(struct pw_store *store, const char *table)
{
    sqlite3_stmt *q = NULL;
    char text[128];
    int64_t count;

    snprintf(text, sizeof text, "SELECT COUNT(*) FROM %s", table);
    assert_int_equal(sqlite3_prepare_v2(store->db, text, -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    count = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return count;
}

static void test_prune(void **state)
{
    struct pw_store *store = open_db("x.db", false);
    struct pw_history_retention retention = {.before_ms = pw_clock_wall_ms() - 29 * DAY, .keep_runs = 7};
    struct pw_history_pruned pruned;
    struct pw_error err = {0};

    (void)state;
    fill(store); /* 21 runs on opencl: 5 of the last 29 days; 1 on the other */
    assert_int_equal(pw_history_prune(store, &retention, true, &pruned, &err), PW_OK);
    assert_int_equal(pruned.runs, 14);
    assert_int_equal(count_rows(store, "run"), 22); /* a dry run removes nothing */
    retention.samples_only = true;
    assert_int_equal(pw_history_prune(store, &retention, false, &pruned, &err), PW_OK);
    assert_int_equal(count_rows(store, "run"), 22);
    assert_int_equal(count_rows(store, "result WHERE target_samples IS NULL"), 14);
    retention.samples_only = false;
    assert_int_equal(pw_history_prune(store, &retention, false, &pruned, &err), PW_OK);
    assert_int_equal(pruned.runs, 14);
    assert_int_equal(count_rows(store, "run"), 8);
    assert_int_equal(count_rows(store, "result"), 8);
    assert_int_equal(count_rows(store, "signature"), 3);
    retention.keep_runs = 0;
    assert_int_equal(pw_history_prune(store, &retention, false, &pruned, &err), PW_OK);
    assert_int_equal(count_rows(store, "run"), 6); /* what is recent stays whatever keep_runs says */
    assert_int_equal(count_rows(store, "signature"), 2);
    assert_int_equal(pruned.signatures, 1);
    assert_int_equal(pw_store_integrity(store, &err), PW_OK);
    sql(store, "UPDATE run SET end_ms = NULL"); /* they may be going on */
    retention.before_ms = pw_clock_wall_ms();
    assert_int_equal(pw_history_prune(store, &retention, true, &pruned, &err), PW_OK);
    assert_int_equal(pruned.runs, 6); /* all began more than a day ago: they were killed */
    pw_store_close(store);
}

/* Copies while another process writes; each copy is whole, and none replaces a good one by a bad one. */
static void test_backup_beside_a_writer(void **state)
{
    struct pw_store *store = open_db("x.db", false), *copy = NULL;
    struct pw_error err = {0};
    int child, code;

    (void)state;
    fill(store);
    pw_store_close(store);
    assert_int_equal(mkdir(path_of("b"), 0700), 0);
    child = fork();
    if (child == 0) {
        struct pw_store *mine = NULL;

        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails waits for nobody */
        if (pw_store_open(path_of("x.db"), false, &mine, NULL) != PW_OK)
            _exit(1);
        for (;;)
            add_run(mine, SOFTMAX, "opencl", "e1", 1, 1e-7, 1000);
    }
    store = open_db("x.db", true);
    for (int i = 0; i < 5; i++) {
        if (pw_history_backup(store, path_of("b/copy.db"), &err) != PW_OK)
            fail_msg("%s", err.message);
        copy = open_db("b/copy.db", true);
        assert_int_equal(pw_store_integrity(copy, &err), PW_OK);
        assert_true(count_rows(copy, "run") >= 22);
        pw_store_close(copy);
    }
    kill(child, SIGKILL);
    waitpid(child, &code, 0);
    assert_int_equal(pw_history_backup(store, path_of("x.db"), &err), PW_ERR_USAGE); /* the database itself */
    pw_error_clear(&err);
    assert_int_not_equal(pw_history_backup(store, "/proc/nowhere/copy.db", &err), PW_OK);
    pw_store_close(store);
    store = open_db("x.db", false);
    assert_int_equal(pw_store_integrity(store, &err), PW_OK);
    pw_store_close(store);
}

/* What runs say of the whole graph: sums over nodes of what was timed on both sides, the worst share, outputs. */
static void test_graph(void **state)
{
    struct pw_store *store = open_db("x.db", false);
    struct pw_arena arena = {0};
    struct pw_store_graph_row *rows = NULL;
    struct pw_store_signature_row *results = NULL;
    struct pw_error err = {0};
    size_t count = 0;

    (void)state;
    add_signature(store, SOFTMAX, "Softmax-13");
    add_signature(store, "00112233445566bb", "MatMul-13");
    add_signature(store, "00112233445566cc", "Add-14");
    add_run(store, SOFTMAX, "opencl", "e1", 1000, 2e-7, 700);
    sql(store, "UPDATE result SET nodes = 3, worst_ratio = 0.25");
    sql(store, "INSERT INTO result(run, signature, wall_ms, standing, coverage, implementation, nodes, cases, held,"
               " failed, no_evidence, worst_ratio, target_ns, reference_ns, gate_failed) VALUES"
               "(1, '00112233445566bb', 1001, 'failed', 'kernel', 'k', 2, 1, 0, 1, 0, 8.5, 100, 500, 1),"
               "(1, '00112233445566cc', 1001, 'held', 'kernel', 'k', 9, 1, 1, 0, 0, 0.5, 100, NULL, 0)");
    sql(store, "INSERT INTO run(kind, graph, model_path, target, target_kind, device, environment, bindings, protocol,"
               " version, seed, begin_ms, end_ms, outcome, exit_code) VALUES"
               "('run', 'abcd12', 'm', 'opencl', 'k', 'd', '{}', 'n=1', '', '1', 1, 2000, 2001, 'failed', 1),"
               "('run', 'abcd12', 'm', 'other', 'k', 'd', '{}', 'n=1', '', '1', 1, 3000, 3001, 'held', 0),"
               "('bench', 'abcd12', 'm', 'opencl', 'k', 'd', '{}', 'n=1', '', '1', 1, 4000, 4001, 'held', 0),"
               "('run', 'abcd12', 'm', 'opencl', 'k', 'd', '{}', 'batch=300', '', '1', 1, 5000, 5001, 'held', 0)");
    sql(store, "INSERT INTO run_output(run, output, name, held, error, tolerance, reason) VALUES"
               "(2, 0, 'a', 1, 1e-4, 1e-3, ''), (2, 1, 'b', 0, 6e-3, 2e-3, 'x'), (2, 2, 'c', 1, NULL, 1e-3, '')");
    sql(store, "INSERT INTO run_figure(run, name, value) VALUES(2, 'target_ns', 4000), (2, 'reference_ns', 1000)");
    if (pw_store_graph_history(store, "abcd12", "opencl", "n=1", &arena, &rows, &count, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(count, 2); /* the benchmark has no results, the other runs another target or other dims */
    assert_int_equal(rows[0].signatures, 3);
    assert_int_equal(rows[0].failed, 1);
    assert_int_equal(rows[0].timed, 2);
    assert_true(rows[0].worst_share == 8.5);
    assert_true(rows[0].target_ns == 3 * 700 + 2 * 100 && rows[0].reference_ns == 3 * 1000 + 2 * 500);
    assert_string_equal(rows[0].environment_id, "e1");
    assert_string_equal(rows[1].kind, "run");
    assert_string_equal(rows[1].outcome, "failed");
    assert_int_equal(rows[1].signatures, 0);
    assert_true(rows[1].worst_share == 3);
    assert_true(rows[1].target_ns == 4000 && rows[1].reference_ns == 1000);
    assert_int_equal(pw_store_graph_history(store, "abcd12", "opencl", NULL, &arena, &rows, &count, &err), PW_OK);
    assert_int_equal(count, 3);
    assert_int_equal(rows[2].run_id, 5);
    assert_int_equal(pw_store_history(store, SOFTMAX, "opencl", "batch=300", &arena, &results, &count, &err), PW_OK);
    assert_int_equal(count, 0);
    assert_int_equal(pw_store_history(store, SOFTMAX, "opencl", "n=1", &arena, &results, &count, &err), PW_OK);
    assert_int_equal(count, 1);
    assert_int_equal(pw_store_graph_history(store, "none", "opencl", NULL, &arena, &rows, &count, &err), PW_OK);
    assert_int_equal(count, 0);
    pw_arena_clear(&arena);
    pw_store_close(store);
}

/* The clock went back to 1970 before the newest runs: they are not older for that. One run claims to be of a time to
 * come, which makes those after it no younger. */
static void test_prune_after_the_clock_went_back(void **state)
{
    struct pw_store *store = open_db("x.db", false);
    struct pw_history_retention retention = {.before_ms = pw_clock_wall_ms() - 29 * DAY};
    struct pw_history_pruned pruned;
    struct pw_error err = {0};

    (void)state;
    fill(store);
    assert_int_equal(pw_history_prune(store, &retention, true, &pruned, &err), PW_OK);
    assert_int_equal(pruned.runs, 16);
    sql(store, "UPDATE run SET begin_ms = 1000 WHERE id > (SELECT max(id) - 4 FROM run)");
    assert_int_equal(pw_history_prune(store, &retention, true, &pruned, &err), PW_OK);
    assert_int_equal(pruned.runs, 16);
    sql(store, "UPDATE run SET begin_ms = 4000000000000 WHERE id = (SELECT min(id) FROM run)"); /* 2096 */
    assert_int_equal(pw_history_prune(store, &retention, true, &pruned, &err), PW_OK);
    assert_int_equal(pruned.runs, 15);
    pw_store_close(store);
}

/* Nor are the newest messages of compilers the first to go then. */
static void test_builds_after_the_clock_went_back(void **state)
{
    struct pw_store *store = open_db("x.db", false);
    struct pw_arena arena = {0};
    struct pw_store_build *rows = NULL;
    struct pw_error err = {0};
    char log[32];
    size_t count = 0;

    (void)state;
    for (int i = 0; i < PW_STORE_BUILDS + 10; i++) {
        struct pw_store_build build = {.source = {1, (uint64_t)i}, .log = log};

        snprintf(log, sizeof log, "%d", i);
        assert_int_equal(pw_store_build_add(store, "chip", &build, true, &err), PW_OK);
        if (i == 20)
            sql(store, "UPDATE build SET wall_ms = wall_ms + 1000000000000"); /* so that now is long ago */
        if (i == 30)
            sql(store, "INSERT INTO build VALUES('other', 1, 2, 3, 9223372036854775807, 0, '')");
    }
    assert_int_equal(count_rows(store, "build WHERE target = 'chip'"), PW_STORE_BUILDS);
    for (uint64_t i = 9; i < PW_STORE_BUILDS + 10; i++) { /* the oldest went */
        assert_int_equal(pw_store_builds(store, "chip", (struct pw_hash128){1, i}, &arena, &rows, &count, &err), PW_OK);
        assert_int_equal(count, i >= 10);
    }
    for (int i = 0; i < 2; i++) { /* what a stranger wrote overflows nothing */
        struct pw_store_build build = {.source = {2, (uint64_t)i}, .log = log};

        assert_int_equal(pw_store_build_add(store, "other", &build, true, &err), PW_OK);
    }
    assert_int_equal(count_rows(store, "build WHERE target = 'other'"), 3);
    pw_store_close(store);
    pw_arena_clear(&arena);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_filters),
        TEST(test_report),
        TEST(test_environments_are_series_of_their_own),
        TEST(test_prune),
        TEST(test_decisions),
        TEST(test_backup_beside_a_writer),
        TEST(test_graph),
        TEST(test_prune_after_the_clock_went_back),
        TEST(test_builds_after_the_clock_went_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
