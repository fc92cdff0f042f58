/*
 * Times and errors of all nodes of a run: read as they were written, kept of the newest runs only, small, and whole or
 * not at all.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/endtoend.h"
#include "store/store_internal.h"

static char folder[64];

/* All nodes of a run at once. */
static pw_status add_all(struct pw_store *store, int64_t run, const struct pw_store_node_figure *figures, size_t count,
                         struct pw_error *err)
{
    struct pw_store_node_list list = {.run = run};
    pw_status status = pw_store_node_figures_add(store, &list, figures, count, err);

    if (status == PW_OK)
        status = pw_store_node_figures_end(store, &list, err);
    pw_store_node_list_clear(&list);
    return status;
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/pw-nodes-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[256];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? 0 : -1;
}

static struct pw_store *open_store(const char *name)
{
    struct pw_store *store = NULL;
    struct pw_error err = {0};
    char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (pw_store_open(path, false, &store, &err) != PW_OK)
        fail_msg("%s", err.message);
    return store;
}

static int64_t begin(struct pw_store *store, const char *graph, const char *target)
{
    const struct pw_store_run run = {
        .kind = "run", .graph = graph, .model_path = "m.onnx", .target = target, .bindings = "batch=2"};
    struct pw_error err = {0};
    int64_t id = 0;

    if (pw_store_run_begin(store, &run, &id, &err) != PW_OK)
        fail_msg("%s", err.message);
    return id;
}

static void end(struct pw_store *store, int64_t run, const char *outcome)
{
    struct pw_error err = {0};

    assert_int_equal(pw_store_run_end(store, run, outcome, 0, &err), PW_OK);
}

static int64_t number(struct pw_store *store, const char *sql)
{
    sqlite3_stmt *q = NULL;
    int64_t value = -1;

    assert_int_equal(sqlite3_prepare_v2(store->db, sql, -1, &q, NULL), SQLITE_OK);
    if (sqlite3_step(q) == SQLITE_ROW)
        value = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return value;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* ---- what was written is what is read ---- */

static const struct pw_store_node_figure written[] = {
    {.node = 0, .time_ns = 0, .isolated = NAN, .tolerance = NAN, .propagated = NAN, .implementation = "", .note = ""},
    {.node = 7,
     .on_target = true,
     .time_ns = 123456789012,
     .isolated = 1.25e-7,
     .tolerance = 1e-6,
     .propagated = 0,
     .implementation = "softmax_rows",
     .note = "not in float16"},
    {.node = 3,
     .standing = PW_NODE_CULPRIT,
     .on_target = true,
     .nonfinite_origin = true,
     .time_ns = 1,
     .isolated = INFINITY,
     .tolerance = 5e-324,
     .propagated = 1e300,
     .implementation = "softmax_rows",
     .note = "",
     .reason = "far off"},
    {.node = -3, /* the pattern 2 */
     .standing = PW_NODE_VICTIM,
     .isolated = NAN,
     .tolerance = NAN,
     .propagated = 0.5,
     .implementation = "attention",
     .note = "",
     .reason = "after a culprit"},
    {.node = 8,
     .standing = PW_NODE_DRAWN,
     .isolated = NAN,
     .tolerance = NAN,
     .propagated = 0,
     .implementation = "reference",
     .note = "on the host",
     .reason = "a draw"},
    {.node = 9,
     .standing = PW_NODE_FAILED,
     .isolated = NAN,
     .tolerance = NAN,
     .propagated = NAN,
     .implementation = "reference",
     .note = "on the host",
     .reason = "crashed"},
};
enum { WRITTEN = sizeof written / sizeof *written };

/* As a run does it: those that do not hold as they come, all of them at the end. */
static int64_t write_run(struct pw_store *store, size_t position_of_failed)
{
    int64_t run = begin(store, "g1", "opencl");
    struct pw_error err = {0};

    for (size_t i = 0; i < WRITTEN; i++) {
        struct pw_endtoend_node node = {.position = written[i].standing == PW_NODE_FAILED ? position_of_failed : i,
                                        .node = written[i].node < 0 ? NULL : (const struct pw_node *)written,
                                        .standing = written[i].standing,
                                        .implementation = written[i].implementation,
                                        .reason = written[i].reason};

        if (node.standing == PW_NODE_HELD)
            continue;
        assert_int_equal(pw_store_node_add(store, run, written[i].node, "n", "Op", &node, &err), PW_OK);
    }
    if (add_all(store, run, written, WRITTEN, &err) != PW_OK)
        fail_msg("%s", err.message);
    return run;
}

/* Some nodes over the runs of a graph on a target: by run, none of what is not over, of another graph or target. */
static void test_points(void **state)
{
    struct pw_store *store = open_store("points.db");
    struct pw_store_node_point *rows = NULL;
    struct pw_arena arena = {0};
    struct pw_error err = {0};
    const size_t numbers[] = {3, 7, 12345};
    int64_t first = write_run(store, 5), second, other;
    size_t count = 0;

    (void)state;
    end(store, first, "failed");
    other = begin(store, "g2", "opencl");
    assert_int_equal(add_all(store, other, written, WRITTEN, &err), PW_OK);
    end(store, other, "held");
    second = write_run(store, 5);
    assert_int_equal(pw_store_node_points(store, "g1", "opencl", "batch=2", numbers, 3, &arena, &rows, &count, &err),
                     PW_OK);
    assert_int_equal(count, 2); /* the second is not over */
    end(store, second, "failed");
    assert_int_equal(pw_store_node_points(store, "g1", "opencl", "batch=2", numbers, 3, &arena, &rows, &count, &err),
                     PW_OK);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        const struct pw_store_node_figure *is = &written[i % 2 ? 2 : 1];

        assert_int_equal(rows[i].run_id, i < 2 ? first : second);
        assert_true(rows[i].begin_ms > 0);
        assert_int_equal(rows[i].node, is->node);
        assert_int_equal(rows[i].standing, is->standing);
        assert_int_equal(rows[i].time_ns, is->time_ns);
        assert_true(rows[i].isolated == is->isolated && rows[i].tolerance == is->tolerance);
        assert_string_equal(rows[i].environment_id, "");
    }
    assert_int_equal(pw_store_node_points(store, "g1", "reference", "batch=2", numbers, 3, &arena, &rows, &count, &err),
                     PW_OK);
    assert_int_equal(count, 0);
    assert_int_equal(pw_store_node_points(store, "g1", "opencl", "batch=20", numbers, 3, &arena, &rows, &count, &err),
                     PW_OK);
    assert_int_equal(count, 0);
    assert_int_equal(pw_store_node_points(store, "g1", "opencl", "batch=2", numbers, 0, &arena, &rows, &count, &err),
                     PW_OK);
    assert_int_equal(count, 0);
    pw_arena_clear(&arena);
    pw_store_close(store);
}

static void test_as_written(void **state)
{
    struct pw_store *store = open_store("a.db");
    struct pw_store_node_figure *rows = NULL;
    struct pw_store_node_run latest;
    struct pw_arena arena = {0};
    struct pw_error err = {0};
    size_t count = 0;
    int64_t run;

    (void)state;
    assert_int_equal(pw_store_node_run_latest(store, "g1", "opencl", &arena, &latest, &err), PW_OK);
    assert_int_equal(latest.id, 0);
    run = write_run(store, 5);
    assert_int_equal(pw_store_node_run_latest(store, "g1", "opencl", &arena, &latest, &err), PW_OK);
    assert_int_equal(latest.id, 0); /* it has not ended */
    end(store, run, "failed");
    end(store, begin(store, "g1", "opencl"), "held"); /* outputs only: of no node */
    pw_store_close(store);

    store = open_store("a.db"); /* as after a restart */
    assert_int_equal(pw_store_node_run_latest(store, "g1", "opencl", &arena, &latest, &err), PW_OK);
    assert_int_equal(latest.id, run);
    assert_int_equal(latest.first_divergence, 3);
    assert_false(latest.held);
    assert_string_equal(latest.bindings, "batch=2");
    if (pw_store_node_figures(store, run, &arena, &rows, &count, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(count, WRITTEN);
    for (size_t i = 0; i < count; i++) {
        const struct pw_store_node_figure *a = &written[i], *b = &rows[i];

        assert_int_equal(a->node, b->node);
        assert_int_equal(a->standing, b->standing);
        assert_int_equal(a->on_target, b->on_target);
        assert_int_equal(a->nonfinite_origin, b->nonfinite_origin);
        assert_int_equal(a->time_ns, b->time_ns);
        assert_true(same(a->isolated, b->isolated) && same(a->tolerance, b->tolerance) &&
                    same(a->propagated, b->propagated));
        assert_string_equal(a->implementation, b->implementation);
        assert_string_equal(a->note, b->note);
        assert_string_equal(a->reason ? a->reason : "", b->reason);
    }
    assert_int_equal(number(store, "SELECT COUNT(*) FROM run_text"), 5); /* each text once */
    run = write_run(store, 0);                                           /* the one that failed ran first */
    end(store, run, "failed");
    assert_int_equal(pw_store_node_run_latest(store, "g1", "opencl", &arena, &latest, &err), PW_OK);
    assert_int_equal(latest.first_divergence, 9);
    assert_int_equal(pw_store_node_run_latest(store, "g1", "reference", &arena, &latest, &err), PW_OK);
    assert_int_equal(latest.id, 0);
    pw_arena_clear(&arena);
    pw_store_close(store);
}

/* A file that was changed by hand: said, or told as far as it goes. */
static void test_changed_by_hand(void **state)
{
    struct pw_store *store = open_store("h.db");
    struct pw_store_node_figure *rows = NULL;
    struct pw_arena arena = {0};
    struct pw_error err = {0};
    size_t count = 0;
    int64_t run = write_run(store, 5);

    (void)state;
    assert_int_equal(sqlite3_exec(store->db,
                                  "DELETE FROM run_text WHERE id = 2; UPDATE node_figure SET implementation = 1e9,"
                                  " note = -1, time_ns = -5 WHERE node = 7; DELETE FROM run_node WHERE node = 8",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(pw_store_node_figures(store, run, &arena, &rows, &count, &err), PW_OK);
    assert_int_equal(count, WRITTEN);
    assert_string_equal(rows[1].implementation, "");
    assert_int_equal(rows[1].time_ns, 0);
    assert_string_equal(rows[2].reason, "far off");
    assert_string_equal(rows[4].reason, ""); /* another's would be wrong */
    assert_int_equal(
        sqlite3_exec(store->db, "UPDATE node_figure SET standing = 'odd' WHERE node = 3", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(pw_store_node_figures(store, run, &arena, &rows, &count, &err), PW_ERR_STORE);
    assert_non_null(strstr(err.message, "'odd'"));
    pw_arena_clear(&arena);
    pw_store_close(store);
}

/* ---- what is kept ---- */

static void add_same(struct pw_store *store, int64_t run, size_t count)
{
    struct pw_store_node_figure *figures = calloc(count, sizeof *figures);
    struct pw_error err = {0};

    for (size_t i = 0; i < count; i++)
        figures[i] = (struct pw_store_node_figure){.node = (int64_t)i,
                                                   .time_ns = 10000 + (int64_t)i,
                                                   .isolated = 1e-7 / (double)(i + 1),
                                                   .tolerance = 3.6e-7,
                                                   .propagated = 3e-6 / (double)(i + 1),
                                                   .implementation = i % 2 ? "a_kernel" : "another_kernel"};
    if (add_all(store, run, figures, count, &err) != PW_OK)
        fail_msg("%s", err.message);
    free(figures);
}

static void test_newest_are_kept(void **state)
{
    struct pw_store *store = open_store("k.db");
    int64_t other = begin(store, "g2", "opencl"), elsewhere = begin(store, "g1", "reference"), first = 0;

    (void)state;
    add_same(store, other, 10);
    add_same(store, elsewhere, 10);
    for (int i = 0; i < PW_STORE_NODE_RUNS + 5; i++) {
        int64_t run = begin(store, "g1", "opencl");

        first = i == 5 ? run : first;
        add_same(store, run, 10);
        end(store, run, "held");
    }
    assert_int_equal(number(store, "SELECT COUNT(*) FROM node_figure"), 10 * (PW_STORE_NODE_RUNS + 2));
    assert_int_equal(number(store, "SELECT COUNT(*) FROM run_text"), 2 * (PW_STORE_NODE_RUNS + 2));
    assert_int_equal(number(store, "SELECT MIN(f.run) FROM node_figure f JOIN run ON run.id = f.run WHERE"
                                   " graph = 'g1' AND target = 'opencl'"),
                     first);
    assert_int_equal(number(store, "SELECT COUNT(*) FROM run"), PW_STORE_NODE_RUNS + 7); /* the runs themselves stay */
    assert_int_equal(sqlite3_exec(store->db, "DELETE FROM run", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(number(store, "SELECT COUNT(*) FROM node_figure"), 0); /* gone with their runs */
    assert_int_equal(number(store, "SELECT COUNT(*) FROM run_text"), 0);
    pw_store_close(store);
}

static void fill(struct pw_store *store, int64_t run, int count)
{
    char sql[400];

    snprintf(sql, sizeof sql,
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO"
             " node_figure(run, place, node, on_target, nonfinite_origin) SELECT %lld, i, i, 0, 0 FROM n",
             count, (long long)run);
    assert_int_equal(sqlite3_exec(store->db, sql, NULL, NULL, NULL), SQLITE_OK);
}

/* Of large graphs fewer runs, of the largest one. */
static void test_size_is_bounded(void **state)
{
    struct pw_store *store = open_store("s.db");
    int64_t runs[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        runs[i] = begin(store, "g", "t");
    fill(store, runs[0], 200000);
    fill(store, runs[1], 200000);
    fill(store, runs[2], PW_STORE_NODE_ROWS - 200000 - 10);
    for (int i = 0; i < 3; i++)
        end(store, runs[i], "held");
    add_same(store, runs[3], 10); /* with the two before it exactly what is kept */
    assert_int_equal(number(store, "SELECT COUNT(*) FROM node_figure"), PW_STORE_NODE_ROWS);
    assert_int_equal(number(store, "SELECT MIN(run) FROM node_figure"), runs[1]);
    end(store, runs[3], "held");
    runs[0] = begin(store, "g", "t");
    fill(store, runs[0], PW_STORE_NODE_ROWS);
    end(store, runs[0], "held");
    add_same(store, begin(store, "g", "t"), 1);
    assert_int_equal(number(store, "SELECT COUNT(*) FROM node_figure"), 1);
    fill(store, number(store, "SELECT MAX(id) FROM run"), PW_STORE_NODE_ROWS + 5);
    add_same(store, begin(store, "h", "t"), 1); /* another graph's: nothing of it goes */
    assert_int_equal(number(store, "SELECT COUNT(*) FROM node_figure"), PW_STORE_NODE_ROWS + 7);
    pw_store_close(store);
}

/* What the file grows by, as its pages say. */
static void test_bytes_a_node(void **state)
{
    enum { NODES = 50000 };
    struct pw_store *store = open_store("b.db");
    int64_t run = begin(store, "g", "t"), before = number(store, "PRAGMA page_count"), bytes;

    (void)state;
    add_same(store, run, NODES);
    bytes = (number(store, "PRAGMA page_count") - before) * number(store, "PRAGMA page_size");
    print_message("%.1f bytes a node\n", (double)bytes / NODES);
    assert_in_range(bytes, NODES * 30, NODES * 60); /* three doubles, a time, two numbers, a place */
    pw_store_close(store);
}

/* ---- whole or not at all ---- */

static void test_whole_or_not_at_all(void **state)
{
    struct pw_store *store = open_store("w.db");
    int64_t run = begin(store, "g", "t");
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(add_all(store, run + 1, written, WRITTEN, &err), PW_ERR_STORE); /* no such run */
    assert_int_equal(number(store, "SELECT COUNT(*) FROM node_figure") + number(store, "SELECT COUNT(*) FROM run_text"),
                     0);
    for (uint64_t nth = 1;; nth++) {
        struct pw_store_node_list list = {.run = run};
        pw_status status;

        pw_error_clear(&err);
        pw_mem_fail_at(nth, 0);
        status = pw_store_node_figures_add(store, &list, written, WRITTEN, &err);
        pw_mem_fail_at(0, 0);
        assert_int_equal(list.count, status == PW_OK ? WRITTEN : 0);
        pw_store_node_list_clear(&list);
        if (status == PW_OK)
            break;
        assert_int_equal(status, PW_ERR_NO_MEMORY);
        assert_int_equal(number(store, "SELECT COUNT(*) FROM node_figure"), 0);
        assert_int_equal(number(store, "SELECT COUNT(*) FROM run_text"), 0);
    }
    assert_int_equal(number(store, "SELECT COUNT(*) FROM node_figure"), WRITTEN);
    for (uint64_t nth = 1;; nth++) {
        struct pw_store_node_figure *rows = NULL;
        struct pw_arena arena = {0};
        size_t count = 0;
        pw_status status;

        pw_error_clear(&err);
        pw_mem_fail_at(nth, 0);
        status = pw_store_node_figures(store, run, &arena, &rows, &count, &err);
        pw_mem_fail_at(0, 0);
        pw_arena_clear(&arena);
        if (status == PW_OK)
            break;
        assert_int_equal(status, PW_ERR_NO_MEMORY);
        assert_null(rows);
    }
    pw_store_close(store);
}

/* In parts: in one order, each text once, and of a run that has not ended nothing is told. */
static void test_parts(void **state)
{
    struct pw_store *store = open_store("p.db");
    struct pw_store_node_list list = {.run = begin(store, "g", "t")};
    struct pw_store_node_figure *rows = NULL;
    struct pw_store_node_run newest;
    struct pw_arena arena = {0};
    struct pw_error err = {0};
    size_t count = 0;

    (void)state;
    for (int part = 0; part < 3; part++)
        assert_int_equal(pw_store_node_figures_add(store, &list, written, WRITTEN, &err), PW_OK);
    assert_int_equal(list.count, 3 * WRITTEN);
    assert_int_equal(number(store, "SELECT COUNT(*) FROM run_text"), 5);
    assert_int_equal(pw_store_node_run_latest(store, "g", "t", &arena, &newest, &err), PW_OK);
    assert_int_equal(newest.id, 0);
    assert_int_equal(pw_store_node_figures_end(store, &list, &err), PW_OK);
    end(store, list.run, "held");
    assert_int_equal(pw_store_node_run_latest(store, "g", "t", &arena, &newest, &err), PW_OK);
    assert_int_equal(newest.id, list.run);
    assert_int_equal(pw_store_node_figures(store, list.run, &arena, &rows, &count, &err), PW_OK);
    assert_int_equal(count, 3 * WRITTEN);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(rows[i].node, written[i % WRITTEN].node);
        assert_string_equal(rows[i].implementation, written[i % WRITTEN].implementation);
        assert_string_equal(rows[i].note, written[i % WRITTEN].note);
    }
    pw_arena_clear(&arena);
    pw_store_node_list_clear(&list);
    pw_store_close(store);
}

/* A run that is cancelled leaves none; neither does one that lost some of them. */
static void test_parts_of_no_whole(void **state)
{
    struct pw_store *store = open_store("h.db");
    struct pw_store_node_list list = {.run = begin(store, "g", "t")};
    int64_t other = begin(store, "g", "t");
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(add_all(store, other, written, WRITTEN, &err), PW_OK);
    assert_int_equal(pw_store_node_figures_add(store, &list, written, WRITTEN, &err), PW_OK);
    assert_int_equal(pw_store_node_figures_drop(store, &list, &err), PW_OK);
    assert_int_equal(number(store, "SELECT COUNT(*) FROM node_figure"), WRITTEN);
    assert_int_equal(number(store, "SELECT MIN(run) FROM run_text"), other);
    pw_store_node_list_clear(&list);
    list.run = begin(store, "g", "t");
    assert_int_equal(pw_store_node_figures_add(store, &list, written, WRITTEN, &err), PW_OK);
    assert_int_equal(sqlite3_exec(store->db, "DELETE FROM node_figure WHERE place = 3", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(pw_store_node_figures_end(store, &list, &err), PW_ERR_STORE);
    pw_store_node_list_clear(&list);
    pw_store_close(store);
}

/* What another session records meanwhile stays, however many runs end before it; what one left that was killed goes
 * when a day is over. */
static void test_parts_of_others(void **state)
{
    struct pw_store *store = open_store("o.db");
    struct pw_store_node_list going = {.run = begin(store, "g", "t")}, killed = {.run = begin(store, "g", "t")};
    struct pw_error err = {0};
    char sql[200];

    (void)state;
    assert_int_equal(pw_store_node_figures_add(store, &going, written, WRITTEN, &err), PW_OK);
    assert_int_equal(pw_store_node_figures_add(store, &killed, written, WRITTEN, &err), PW_OK);
    snprintf(sql, sizeof sql, "UPDATE run SET begin_ms = begin_ms - 86400001 WHERE id = %lld", (long long)killed.run);
    assert_int_equal(sqlite3_exec(store->db, sql, NULL, NULL, NULL), SQLITE_OK);
    for (int i = 0; i < PW_STORE_NODE_RUNS + 5; i++) {
        int64_t run = begin(store, "g", "t");

        add_same(store, run, 10);
        end(store, run, "held");
    }
    snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM node_figure WHERE run = %lld", (long long)killed.run);
    assert_int_equal(number(store, sql), 0);
    snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM run_text WHERE run = %lld", (long long)killed.run);
    assert_int_equal(number(store, sql), 0);
    assert_int_equal(number(store, "SELECT COUNT(*) FROM node_figure"), 10 * PW_STORE_NODE_RUNS + WRITTEN);
    assert_int_equal(pw_store_node_figures_add(store, &going, written, WRITTEN, &err), PW_OK);
    assert_int_equal(pw_store_node_figures_end(store, &going, &err), PW_OK);
    pw_store_node_list_clear(&going);
    pw_store_node_list_clear(&killed);
    pw_store_close(store);
}

/* Rows of a batch are there for others when it ends, and not at all when it does not. */
static void test_batch(void **state)
{
    static const struct pw_endtoend_node culprit = {
        .standing = PW_NODE_CULPRIT, .implementation = "k", .reason = "far off"};
    struct pw_store *store = open_store("t.db"), *other = open_store("t.db");
    int64_t run = begin(store, "g", "t");
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(pw_store_batch_begin(store, &err), PW_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pw_store_node_add(store, run, i, "n", "Op", &culprit, &err), PW_OK);
    assert_int_equal(number(other, "SELECT COUNT(*) FROM run_node"), 0);
    assert_int_equal(pw_store_batch_end(store, &err), PW_OK);
    assert_int_equal(number(other, "SELECT COUNT(*) FROM run_node"), 3);
    assert_int_equal(pw_store_batch_begin(store, &err), PW_OK);
    assert_int_equal(pw_store_node_add(store, run, 3, "n", "Op", &culprit, &err), PW_OK);
    pw_store_close(store); /* without its end */
    assert_int_equal(number(other, "SELECT COUNT(*) FROM run_node"), 3);
    pw_store_close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_points, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_as_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_changed_by_hand, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_newest_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_size_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bytes_a_node, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_whole_or_not_at_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parts_of_no_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parts_of_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_batch, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
