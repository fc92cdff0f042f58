/* Answers about figures over runs: of a signature, of the graph, of two runs beside each other; with the approved
 * baselines for the time axis. On the writer's thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "baseline/baseline.h"
#include "job/session_internal.h"
#include "store/bench.h"
#include "store/history.h"

#define MARKS_MAX 4096
#define MARKS_EACH 256 /* of a kind in an environment: the newest, more than a chart has columns for */

/* A numbered file never changes, so its head is read once a session. */
struct pw_kept_mark {
    char *path; /* owned */
    bool usable;
    struct pw_session_mark mark; /* environment_id: owned */
};

void pw_session_forget_marks(struct pw_session *session)
{
    for (size_t i = 0; i < session->mark_count; i++) {
        pw_free(session->marks[i].path);
        pw_free((char *)(uintptr_t)session->marks[i].mark.environment_id);
    }
    pw_free(session->marks);
    session->marks = NULL;
    session->mark_count = 0;
}

static const struct pw_kept_mark *find_kept(const struct pw_session *session, const char *path)
{
    for (size_t i = 0; i < session->mark_count; i++)
        if (!strcmp(session->marks[i].path, path))
            return &session->marks[i];
    return NULL;
}

/* Reads a baseline's head; one that cannot be read has no mark: the screen of baselines says why. */
static const struct pw_kept_mark *keep(struct pw_session *session, const struct pw_baseline_file *file)
{
    struct pw_baseline head = {0};
    struct pw_error ignored = {0};
    struct pw_kept_mark made = {.mark = {.number = file->number, .throughput = file->kind == PW_BASELINE_THROUGHPUT}};

    if (session->mark_count == MARKS_MAX ||
        PW_GROW(session->marks, session->mark_cap, session->mark_count + 1, &ignored) != PW_OK)
        return NULL;
    made.path = pw_strdup(file->path);
    made.mark.environment_id = pw_strdup(file->environment_id);
    if (!made.path || !made.mark.environment_id) {
        pw_free(made.path);
        pw_free((char *)(uintptr_t)made.mark.environment_id);
        return NULL;
    }
    if (pw_baseline_read(file->path, &head, &ignored) == PW_OK)
        made.usable = pw_clock_parse_iso(head.recorded, &made.mark.recorded_ms);
    pw_baseline_clear(&head);
    session->marks[session->mark_count] = made;
    return &session->marks[session->mark_count++];
}

static int by_number(const void *a, const void *b)
{
    return ((const struct pw_session_mark *)a)->number - ((const struct pw_session_mark *)b)->number;
}

/* The approved baselines of the graph on this kind of target; without them the rows still tell. */
static void add_marks(struct pw_session *session, struct pw_event *event)
{
    struct pw_baseline_file *files = NULL;
    struct pw_session_mark *marks = NULL;
    struct pw_error ignored = {0};
    struct pw_buf folder = {0};
    size_t count = 0;
    pw_status status = pw_session_baselines_folder(session, &folder, &ignored);

    if (status == PW_OK)
        status = pw_baseline_list(pw_buf_text(&folder), &event->arena, &files, &count, &ignored);
    if (status == PW_OK)
        marks = pw_arena_alloc(&event->arena, count + 1, sizeof *marks);
    for (size_t i = count, of_these = 0; marks && i-- > 0;) { /* they are sorted, of each kind the newest last */
        const struct pw_kept_mark *kept;

        if (i + 1 == count || files[i].kind != files[i + 1].kind ||
            strcmp(files[i].environment_id, files[i + 1].environment_id) != 0)
            of_these = 0;
        if (!files[i].number || ++of_these > MARKS_EACH)
            continue;
        kept = find_kept(session, files[i].path);
        if (!kept)
            kept = keep(session, &files[i]);
        if (!kept || !kept->usable)
            continue;
        marks[event->mark_count] = kept->mark;
        marks[event->mark_count].environment_id = files[i].environment_id; /* in the event's arena */
        event->mark_count++;
    }
    if (marks)
        qsort(marks, event->mark_count, sizeof *marks, by_number);
    event->marks = marks;
    pw_buf_clear(&folder);
}

static int by_run(const void *a, const void *b)
{
    const struct pw_store_signature_row *x = a, *y = b;

    return x->run_id != y->run_id ? (x->run_id > y->run_id) - (x->run_id < y->run_id)
                                  : (x->wall_ms > y->wall_ms) - (x->wall_ms < y->wall_ms);
}

/* A benchmark as a row without an error. */
static struct pw_store_signature_row as_row(const struct pw_store_bench_row *bench)
{
    return (struct pw_store_signature_row){.run_id = bench->run_id,
                                           .wall_ms = bench->wall_ms,
                                           .signature_id = bench->signature_id,
                                           .signature = "",
                                           .op = "",
                                           .standing = "timed",
                                           .coverage = "",
                                           .implementation = bench->implementation,
                                           .reference_name = bench->reference_name,
                                           .worst_error = NAN,
                                           .tolerance = NAN,
                                           .worst_ratio = NAN,
                                           .target_ns = isnan(bench->target_ns) ? 0 : (int64_t)bench->target_ns,
                                           .reference_ns =
                                               isnan(bench->reference_ns) ? 0 : (int64_t)bench->reference_ns,
                                           .environment_id = bench->environment_id};
}

pw_status pw_session_answer_history(struct pw_session *session, struct pw_store *store, struct pw_event *event,
                                    struct pw_error *err)
{
    const char *id = session->inventory->signatures[event->about].id;
    struct pw_store_signature_row *rows = NULL, *all;
    struct pw_store_bench_row *benches = NULL;
    size_t count = 0, bench_count = 0;
    pw_status status;

    if (!store)
        return pw_error_set(err, PW_ERR_IO, "nothing is recorded in this session, so there is no history");
    status = pw_store_history(store, id, session->target, session->bindings_text, &event->arena, &rows, &count, err);
    if (status == PW_OK)
        status = pw_store_bench_history(store, id, session->target, session->bindings_text, &event->arena, &benches,
                                        &bench_count, err);
    if (status != PW_OK)
        return status;
    all = pw_arena_alloc(&event->arena, count + bench_count + 1, sizeof *all);
    if (!all)
        return pw_error_memory(err, (count + bench_count) * sizeof *all);
    if (count)
        memcpy(all, rows, count * sizeof *rows);
    for (size_t i = 0; i < bench_count; i++) /* cold caches, or what is not believed, are no point of the curve */
        if (!strcmp(benches[i].cache, "hot") && !benches[i].suspicion[0] && !isnan(benches[i].target_ns))
            all[count++] = as_row(&benches[i]);
    qsort(all, count, sizeof *all, by_run);
    event->rows = all;
    event->row_count = count;
    add_marks(session, event);
    status = pw_session_add_node_trends(session, store, event, err);
    return status == PW_OK ? pw_session_recall_builds(session, store, event, err) : status;
}

pw_status pw_session_answer_graph(struct pw_session *session, struct pw_store *store, struct pw_event *event,
                                  struct pw_error *err)
{
    struct pw_store_graph_row *rows = NULL;
    pw_status status;

    if (!store)
        return pw_error_set(err, PW_ERR_IO, "nothing is recorded in this session, so there is no history");
    status = pw_store_graph_history(store, session->graph_id, session->target, session->bindings_text, &event->arena,
                                    &rows, &event->graph_row_count, err);
    event->graph_rows = rows;
    if (status == PW_OK)
        add_marks(session, event);
    return status;
}

pw_status pw_session_answer_compare(struct pw_session *session, struct pw_store *store, struct pw_event *event,
                                    struct pw_error *err)
{
    struct pw_store_signature_row *a = NULL, *b = NULL;
    long long *runs = event->compared;
    pw_status status = PW_OK;

    (void)session;
    if (!store)
        return pw_error_set(err, PW_ERR_IO, "nothing is recorded in this session, so there are no runs to compare");
    if (sscanf(event->text, "%18lld %18lld", &runs[0], &runs[1]) != 2)
        return pw_error_set(err, PW_ERR_USAGE, "compare: expected the numbers of two runs, found '%.40s'", event->text);
    status = pw_store_run_results(store, runs[0], &event->arena, &a, &event->row_count, err);
    if (status == PW_OK)
        status = pw_store_run_results(store, runs[1], &event->arena, &b, &event->other_row_count, err);
    if (status == PW_OK && (!event->row_count || !event->other_row_count))
        return pw_error_set(err, PW_ERR_USAGE, "compare: run %lld has no results of signatures",
                            event->row_count ? runs[1] : runs[0]);
    event->rows = a;
    event->other_rows = b;
    return status;
}
