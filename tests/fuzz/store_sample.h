/* A small store with rows in every table, and everything that is read of a store: what fuzz_store_rows and
 * fuzz_store_file share. */
#ifndef PW_TESTS_FUZZ_STORE_SAMPLE_H
#define PW_TESTS_FUZZ_STORE_SAMPLE_H

#include <poll.h>
#include <sys/stat.h>

#include "job/session.h"
#include "report/history.h"
#include "report/model.h"
#include "store/bench.h"
#include "store/builds.h"
#include "store/endtoend.h"
#include "store/history.h"
#include "store/store_internal.h"
#include "tests/fuzz/sample.h"
#include "tui/tui.h"

static char store_dir[64], store_graph[PW_HASH_TEXT];

static inline const char *store_path(const char *name)
{
    static char paths[4][96];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", store_dir, name);
    return path;
}

static inline void store_remove(void)
{
    static const char *const names[] = {"s.db",   "s.db-wal",        "s.db-shm",      "s.db-journal", "copy.db",
                                        "m.onnx", "ops/room/k.yaml", "ops/room/k.cl", "ops/room",     "ops",
                                        ""};
    for (size_t i = 0; i < PW_COUNT_OF(names); i++)
        (void)remove(store_path(names[i]));
}

/* "INSERT INTO table VALUES(…)" with a value that suits each column. */
static inline void store_fill(sqlite3 *db, const char *table, int number)
{
    static const struct {
        const char *column, *value;
    } special[] = {{"target", "'reference'"},  {"kind", "'check'"},
                   {"standing", "'held'"},     {"verdict", "'PASS'"},
                   {"coverage", "'kernel'"},   {"environment", "'{\"target\":\"opencl\",\"id\":\"e1\",\"cpu\":\"a\"}'"},
                   {"environment_id", "'e1'"}, {"dtype", "'float16'"},
                   {"outcome", "'held'"},      {"gate", "'precision'"},
                   {"bindings", "'batch=1'"}};
    struct pw_buf sql = {0};
    sqlite3_stmt *columns = NULL;
    char name[128];

    snprintf(name, sizeof name, "SELECT name, type FROM pragma_table_info('%s')", table);
    fuzz_check(sqlite3_prepare_v2(db, name, -1, &columns, NULL) == SQLITE_OK);
    pw_buf_printf(&sql, "INSERT INTO %s VALUES(", table);
    for (int first = 1; sqlite3_step(columns) == SQLITE_ROW; first = 0) {
        const char *column = (const char *)sqlite3_column_text(columns, 0);
        const char *type = (const char *)sqlite3_column_text(columns, 1), *value = NULL;
        for (size_t i = 0; i < PW_COUNT_OF(special); i++)
            if (!strcmp(column, special[i].column))
                value = special[i].value;
        pw_buf_puts(&sql, first ? "" : ", ");
        if (value)
            pw_buf_puts(&sql, value);
        else if (!strcmp(column, "graph"))
            pw_buf_printf(&sql, "'%s'", store_graph);
        else if (!strcmp(column, "signature") || (!strcmp(column, "id") && !strcmp(table, "signature")))
            pw_buf_printf(&sql, "'%s'", sample_inventory()->signatures[number % 2].id);
        else if (!strcmp(column, "run") || !strcmp(column, "id"))
            pw_buf_printf(&sql, "%d", 1 + number);
        else if (!strcmp(column, "node") || !strcmp(column, "place"))
            pw_buf_printf(&sql, "%d", number);
        else
            pw_buf_puts(&sql, !strcmp(type, "INTEGER") ? "1000000"
                              : !strcmp(type, "REAL")  ? "0.5"
                              : !strcmp(type, "BLOB")  ? "x'0102030405060708'"
                                                       : "'text'");
    }
    pw_buf_puts(&sql, ")");
    sqlite3_finalize(columns);
    (void)sqlite3_exec(db, pw_buf_text(&sql), NULL, NULL, NULL); /* a third row of two signatures is not there */
    pw_buf_clear(&sql);
}

static inline void store_write(const char *name, const char *bytes, size_t size)
{
    FILE *file = fopen(store_path(name), "wb");
    fuzz_check(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

/* One kernel is enough, and all of ours take long to read. */
static inline void store_kernels(void)
{
    static const char yaml[] =
        "format: 1\nkernel: k\nimplements: [Softmax]\nequals: softmax/reference\ndtypes: [float32]\n"
        "sources: {opencl: k.cl}\nlaunches: [{entry: k, global: [1], local: [1], args: [input]}]\n"
        "provenance: {author: hand}\n";
    char path[96];

    snprintf(path, sizeof path, "%s", store_path("ops"));
    fuzz_check(mkdir(path, 0700) == 0 && mkdir(store_path("ops/room"), 0700) == 0);
    store_write("ops/room/k.yaml", yaml, sizeof yaml - 1);
    store_write("ops/room/k.cl", "\n", 1);
    setenv("PORTWRIGHT_OPS_DIR", path, 1);
}

static inline void store_put(const char *bytes, size_t size)
{
    static const char *const beside[] = {"s.db-wal", "s.db-shm", "s.db-journal"};
    for (size_t i = 0; i < PW_COUNT_OF(beside); i++)
        (void)remove(store_path(beside[i]));
    store_write("s.db", bytes, size);
}

/* The bytes of the store, as one file. */
static inline const struct pw_buf *store_sample(void)
{
    static struct pw_buf bytes;
    struct pw_store *store = NULL;
    struct pw_error err = {0};
    sqlite3_stmt *tables = NULL;
    struct pw_buf names = {0};

    if (bytes.size)
        return &bytes;
    snprintf(store_dir, sizeof store_dir, "%s/pw-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    fuzz_check(mkdtemp(store_dir) != NULL && atexit(store_remove) == 0);
    pw_hash_text(pw_model_structure_hash(sample_inventory()->model), store_graph);
    store_write("m.onnx", sample_bytes.data, sample_bytes.size);
    store_kernels();
    fuzz_check(pw_store_open(store_path("s.db"), false, &store, &err) == PW_OK);
    fuzz_check(sqlite3_prepare_v2(
                   store->db,
                   "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name <> 'run', name <> 'signature'",
                   -1, &tables, NULL) == SQLITE_OK);
    while (sqlite3_step(tables) == SQLITE_ROW)
        pw_buf_printf(&names, "%s%c", (const char *)sqlite3_column_text(tables, 0), 0);
    sqlite3_finalize(tables);
    for (const char *table = names.data; table < names.data + names.size; table += strlen(table) + 1)
        for (int number = 0; number < 3; number++)
            store_fill(store->db, table, number);
    pw_buf_clear(&names);
    fuzz_check(pw_store_exec(store, "PRAGMA journal_mode=DELETE; PRAGMA page_size=512; VACUUM;", &err) == PW_OK);
    pw_store_close(store);
    FILE *file = fopen(store_path("s.db"), "rb");
    char part[4096];
    fuzz_check(file != NULL);
    for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;)
        pw_buf_append(&bytes, part, got);
    fclose(file);
    fuzz_check(!bytes.failed && bytes.size > 512);
    return &bytes;
}

/* ---- everything that is read ---- */

static inline void store_show(struct pw_event *event, struct pw_tui *tui)
{
    struct pw_input input = {.kind = PW_INPUT_SESSION, .event = event, .now_ms = 1000};
    pw_tui_apply(tui, &input);
}

/* What the workbench shows of it: the answers of a session on the reference, which runs nothing. */
static inline void store_ask(struct pw_session *session, struct pw_tui *tui)
{
    static const pw_ask asks[] = {PW_ASK_HISTORY, PW_ASK_GRAPH, PW_ASK_COMPARE, PW_ASK_NODES};
    struct pollfd fd = {.fd = pw_session_fd(session), .events = POLLIN};
    struct pw_error err = {0};
    size_t answers = 0;

    for (size_t i = 0; i < PW_COUNT_OF(asks); i++)
        fuzz_check(pw_session_ask(session, asks[i], 0, asks[i] == PW_ASK_COMPARE ? "1 2" : NULL, NULL, &err) == PW_OK);
    while (answers < PW_COUNT_OF(asks) && poll(&fd, 1, 120000) > 0)
        for (struct pw_event *event; (event = pw_session_next(session)) != NULL; pw_event_free(event)) {
            store_show(event, tui);
            answers += event->kind == PW_EVENT_ANSWER;
        }
    fuzz_check(answers == PW_COUNT_OF(asks));
}

static inline void store_screens(void)
{
    static const char *const targets[] = {"reference"};
    char model[96], db[96];
    const struct pw_session_options options = {.model_path = model, .target = "reference", .db = db, .jobs = 1};
    struct pw_session *session = NULL;
    struct pw_tui *tui = NULL;
    struct pw_canvas canvas = {0};
    struct pw_error err = {0};

    snprintf(model, sizeof model, "%s", store_path("m.onnx"));
    snprintf(db, sizeof db, "%s", store_path("s.db"));
    fuzz_check(pw_session_open(&options, &session, &err) == PW_OK);
    fuzz_check(pw_tui_create(pw_session_inventory(session), "m.onnx", targets, 1, &tui, &err) == PW_OK);
    store_ask(session, tui);
    for (int screen = 0; screen < PW_SCREEN_COUNT; screen++) {
        pw_error_clear(&err);
        pw_tui_go(tui, (pw_screen)screen);
        fuzz_check(pw_tui_draw(tui, &canvas, &err) == PW_OK);
    }
    pw_canvas_clear(&canvas);
    pw_tui_destroy(tui);
    pw_session_close(session);
}

static inline void store_reports(const char *path)
{
    static const char *const targets[] = {"reference", "opencl"};
    const struct pw_report_request request = {.inventory = sample_inventory(),
                                              .model_path = "m.onnx",
                                              .graph_id = store_graph,
                                              .targets = targets,
                                              .target_count = 2,
                                              .db = path,
                                              .baselines = store_dir,
                                              .now_ms = 1700000000000};
    struct pw_report *report = NULL;
    struct pw_buf out = {0};
    struct pw_error err = {0};

    if (pw_report_build(&request, &report, &err) == PW_OK) {
        pw_report_md(report, &out);
        pw_report_html(report, NULL, &out);
        fuzz_check(!strstr(pw_buf_text(&out), "<script>alert"));
        pw_report_csv(report, &out);
        (void)pw_report_json(report, &out, &err);
        pw_report_junit(report, &out);
        pw_report_openmetrics(report, &out);
        fuzz_check(!strchr(pw_buf_text(&out), '\x1b'));
    }
    pw_buf_clear(&out);
    pw_report_destroy(report);
}

static inline void store_history(struct pw_store *store)
{
    const struct pw_history_filter filter = {0};
    struct pw_history_environment *environments = NULL;
    struct pw_history_series *series = NULL;
    struct pw_report_history history = {0};
    struct pw_arena arena = {0};
    struct pw_buf out = {0};
    struct pw_error err = {0};
    size_t count = 0, environment_count = 0;

    if (pw_history_environments(store, &arena, &environments, &environment_count, &err) == PW_OK)
        for (size_t i = 0; i < environment_count; i++) {
            struct pw_environment environment = {0};
            struct pw_error ignored = {0};
            if (pw_environment_parse(environments[i].json, &environment, &ignored) == PW_OK)
                pw_environment_clear(&environment);
        }
    if (pw_history_read(store, &filter, &arena, &series, &count, &err) == PW_OK &&
        pw_report_history(series, count, &arena, &history, &err) == PW_OK) {
        history.environments = environments;
        history.environment_count = environment_count;
        pw_report_history_text(&history, 80, false, &out);
        pw_report_history_md(&history, &out);
        pw_report_history_csv(&history, &out);
        fuzz_check(!strchr(pw_buf_text(&out), '\x1b'));
        (void)pw_report_history_json(&history, &out, &err);
    }
    pw_buf_clear(&out);
    pw_arena_clear(&arena);
}

static inline void store_queries(struct pw_store *store)
{
    const char *id = sample_inventory()->signatures[0].id;
    struct pw_arena arena = {0};
    struct pw_error err = {0};
    size_t count = 0;
    int64_t run_id = 0;
    struct pw_store_case_row *cases = NULL;
    struct pw_store_signature_row *rows = NULL;
    struct pw_store_run_row run = {0};
    struct pw_store_output_row *outputs = NULL;
    struct pw_store_figure_row *figures = NULL;
    struct pw_store_sensitivity *sensitivities = NULL;
    struct pw_store_bench_row *benches = NULL;
    struct pw_store_decision *decisions = NULL;
    struct pw_store_build *builds = NULL;
    struct pw_store_node_figure *figures_of_nodes = NULL;

    (void)pw_store_cases(store, id, "reference", &arena, &cases, &count, &err);
    (void)pw_store_run_results(store, 1, &arena, &rows, &count, &err);
    (void)pw_store_run_latest(store, store_graph, "reference", NULL, &arena, &run, &err);
    (void)pw_store_outputs(store, 1, &arena, &outputs, &count, &err);
    (void)pw_store_figures(store, 1, &arena, &figures, &count, &err);
    (void)pw_store_sensitivities(store, store_graph, &arena, &sensitivities, &count, &err);
    (void)pw_store_bench_latest(store, store_graph, "reference", &arena, &benches, &count, &err);
    (void)pw_store_bench_history(store, id, "reference", NULL, &arena, &benches, &count, &err);
    (void)pw_store_decisions(store, store_graph, "reference", &arena, &run_id, &decisions, &count, &err);
    (void)pw_store_builds(store, "reference", (struct pw_hash128){1, 2}, &arena, &builds, &count, &err);
    (void)pw_store_node_figures(store, 1, &arena, &figures_of_nodes, &count, &err);
    (void)pw_store_integrity(store, &err);
    pw_arena_clear(&arena);
}

/* Opens what is there to read, then to write. Whatever happens, it ends. part: one of three, since all takes long. */
static inline void store_use(size_t part)
{
    const char *path = store_path("s.db");
    const struct pw_store_run run = {
        .kind = "check", .graph = store_graph, .model_path = "m.onnx", .target = "reference", .environment = "{}"};
    const struct pw_history_retention retention = {.before_ms = 1, .keep_runs = 1};
    struct pw_history_pruned pruned;
    struct pw_store *store = NULL;
    struct pw_error err = {0};
    int64_t id = 0;

    if (pw_store_open(path, true, &store, &err) == PW_OK) {
        store_history(store);
        if (part % 3 == 0)
            store_queries(store);
        pw_store_close(store);
        if (part % 3 == 1)
            store_reports(path);
    } else {
        fuzz_check(err.message[0]);
    }
    pw_error_clear(&err);
    store = NULL;
    if (part % 3 == 1)
        store_screens();
    if (part % 3 == 2 && pw_store_open(path, false, &store, &err) == PW_OK) {
        (void)pw_store_exec(store, "PRAGMA synchronous=OFF", &err);
        if (pw_store_run_begin(store, &run, &id, &err) == PW_OK)
            (void)pw_store_run_end(store, id, "held", 0, &err);
        pw_error_clear(&err);
        (void)pw_history_prune(store, &retention, false, &pruned, &err);
        pw_error_clear(&err);
        (void)pw_history_backup(store, store_path("copy.db"), &err);
        pw_store_close(store);
    }
}

#endif
