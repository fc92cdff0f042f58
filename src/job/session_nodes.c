/* All nodes of a run of the whole graph: given to the store in parts while it goes on, and read back in a later
 * session. */
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "job/session_internal.h"
#include "store/endtoend.h"

/* ---- collecting, on the worker ---- */

enum { RECORD = 2048, RECORDS_AHEAD = 8 }; /* nodes that go to the store together; such parts that wait for it */

struct pw_session_record {
    struct pw_store_node_figure *figures; /* of RECORD; owned */
    size_t count;
    struct pw_map texts; /* each once */
    bool failed;         /* memory was short: half of the nodes would be taken for all of them */
};

struct pw_session_record *pw_session_record_create(void)
{
    struct pw_session_record *record = pw_calloc(1, sizeof *record);

    if (record)
        record->figures = pw_calloc(RECORD, sizeof *record->figures);
    if (record && record->figures)
        return record;
    pw_free(record);
    return NULL;
}

void pw_session_record_free(struct pw_session_record *record)
{
    if (!record)
        return;
    pw_free(record->figures);
    pw_map_clear(&record->texts);
    pw_free(record);
}

static const char *keep_text(struct pw_session_record *record, const char *text)
{
    const char *kept = text && text[0] ? pw_map_keep(&record->texts, text, strlen(text)) : "";

    record->failed |= !kept;
    return kept ? kept : "";
}

/* To the store, and an empty one in its place. */
static void send_record(struct pw_session_record **record, struct pw_session *session, const struct pw_job *job)
{
    struct pw_session_record *next = pw_session_record_create();
    struct pw_event *event = next ? pw_event_create(PW_EVENT_NODE) : NULL;

    if (!event) {
        (*record)->failed = true;
        pw_session_record_free(next);
        return;
    }
    event->whole_graph = true;
    event->record = *record;
    *record = next;
    pw_session_send_to_store(session, event);
    pw_queue_pause(&session->writes, RECORDS_AHEAD, &job->cancel);
}

void pw_session_record_node(struct pw_session_record **to, struct pw_session *session, const struct pw_job *job,
                            const struct pw_endtoend_node *node)
{
    struct pw_session_record *record = *to;
    int64_t number = -1 - (int64_t)node->pattern;
    const char *implementation = node->implementation;

    if (!record || record->failed)
        return;
    if (node->node)
        number = (int64_t)pw_inference_node_number(session->concrete_inference, node->node);
    else
        implementation = pw_pattern_name(session->concrete->patterns[node->pattern].kind);
    record->figures[record->count++] =
        (struct pw_store_node_figure){.node = number,
                                      .standing = node->standing,
                                      .on_target = node->on_target,
                                      .nonfinite_origin = node->nonfinite_origin,
                                      .time_ns = node->time_ns,
                                      .isolated = node->has_isolated ? node->isolated.max_error : NAN,
                                      .tolerance = node->has_isolated ? node->tolerance : NAN,
                                      .propagated = node->standing == PW_NODE_FAILED ? NAN : node->propagated.max_error,
                                      .implementation = keep_text(record, implementation),
                                      .note = keep_text(record, node->note)};
    if (record->count == RECORD && !record->failed)
        send_record(to, session, job);
}

/* ---- into the store, on the writer ---- */

pw_status pw_session_record_write(const struct pw_session_record *record, struct pw_session *session,
                                  struct pw_store *store, int64_t run, struct pw_error *err)
{
    struct pw_store_node_list *list = &session->recorded;

    if (list->run != run) {
        pw_store_node_list_clear(list);
        list->run = run;
    }
    if (!record || !record->count)
        return PW_OK;
    if (record->failed)
        return pw_error_set(err, PW_ERR_NO_MEMORY, "out of memory: the nodes of the run are not recorded");
    return pw_store_node_figures_add(store, list, record->figures, record->count, err);
}

pw_status pw_session_record_end(const struct pw_session_record *last, bool failed, struct pw_session *session,
                                struct pw_store *store, int64_t run, struct pw_error *err)
{
    struct pw_store_node_list *list = &session->recorded;
    pw_status status = pw_session_record_write(failed ? NULL : last, session, store, run, err);

    if (status == PW_OK && list->count)
        status = failed ? pw_store_node_figures_drop(store, list, err) : pw_store_node_figures_end(store, list, err);
    pw_store_node_list_clear(list);
    return status;
}

/* ---- reading back, on the writer ---- */

enum { PART = 2048 }; /* nodes an event: the client answers keys in between */

struct reading {
    struct pw_session *session;
    struct pw_store *store;
    struct pw_store_node_run run;
    struct pw_endtoend_totals totals;
    const struct pw_node **nodes; /* by number; owned */
    size_t node_count;
};

/* Nodes by their numbers, of the bodies too. */
static pw_status number_nodes(struct reading *reading, struct pw_error *err)
{
    const struct pw_inference *inference = reading->session->concrete_inference;

    reading->node_count = reading->session->concrete->node_number_count;
    reading->nodes = pw_calloc(reading->node_count + 1, sizeof *reading->nodes);
    if (!reading->nodes)
        return pw_error_memory(err, reading->node_count * sizeof *reading->nodes);
    for (size_t g = 0; g < pw_inference_graph_count(inference); g++) {
        const struct pw_graph *graph = pw_inference_graph(inference, g);
        size_t base = graph->node_count ? pw_inference_node_number(inference, &graph->nodes[0]) : 0;

        for (size_t n = 0; n < graph->node_count && base + n < reading->node_count; n++)
            reading->nodes[base + n] = &graph->nodes[n];
    }
    return PW_OK;
}

static const struct pw_node *node_of(const struct reading *reading, int64_t number)
{
    return number >= 0 && (uint64_t)number < reading->node_count ? reading->nodes[number] : NULL;
}

/* False: this graph has no such node or pattern (any more: what is recognised may change). */
static bool fill_node(const struct reading *reading, const struct pw_store_node_figure *figure,
                      struct pw_session_past_node *out)
{
    const struct pw_inventory *concrete = reading->session->concrete;
    uint64_t pattern = (uint64_t)(-1 - figure->node);
    bool whole = figure->node < 0;

    *out = (struct pw_session_past_node){.node = node_of(reading, figure->node),
                                         .pattern = whole && pattern < concrete->pattern_count ? (int)pattern : -1,
                                         .standing = figure->standing,
                                         .on_target = figure->on_target,
                                         .nonfinite_origin = figure->nonfinite_origin,
                                         .time_ns = figure->time_ns,
                                         .isolated = figure->isolated,
                                         .tolerance = figure->tolerance,
                                         .propagated = figure->propagated,
                                         .implementation = whole ? "" : figure->implementation,
                                         .text = figure->reason[0] ? figure->reason : figure->note};
    if (!whole)
        return out->node != NULL;
    return out->pattern >= 0 && !strcmp(pw_pattern_name(concrete->patterns[out->pattern].kind), figure->implementation);
}

/* What the run's figures say of the totals; what they do not say is counted, or stays unknown. */
static pw_status read_totals(struct reading *reading, struct pw_arena *arena, const struct pw_store_node_figure *rows,
                             size_t count, struct pw_error *err)
{
    struct pw_endtoend_totals *t = &reading->totals;
    struct {
        const char *name;
        size_t *size;
        int64_t *number;
    } const fields[] = {{"nodes", &t->nodes, NULL},
                        {"target_nodes", &t->target_nodes, NULL},
                        {"host_nodes", &t->host_nodes, NULL},
                        {"cast_nodes", &t->cast_nodes, NULL},
                        {"culprits", &t->culprits, NULL},
                        {"victims", &t->victims, NULL},
                        {"failed", &t->failed, NULL},
                        {"outputs_failed", &t->outputs_failed, NULL},
                        {"peak_bytes", NULL, &t->peak_bytes},
                        {"live_bytes", NULL, &t->live_bytes},
                        {"nodes_target_ns", NULL, &t->nodes_target_ns},
                        {"nodes_host_ns", NULL, &t->nodes_host_ns},
                        {"target_ns", NULL, &t->target_ns},
                        {"reference_ns", NULL, &t->reference_ns}};
    struct pw_store_figure_row *figures = NULL;
    size_t figure_count = 0;
    pw_status status = pw_store_figures(reading->store, reading->run.id, arena, &figures, &figure_count, err);

    for (size_t i = 0; i < count; i++) {
        t->drifts += rows[i].node >= 0 && rows[i].standing == PW_NODE_DRIFT;
        t->failed += rows[i].node >= 0 && rows[i].standing == PW_NODE_FAILED;
    }
    for (size_t i = 0; status == PW_OK && i < figure_count; i++)
        for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
            double value = figures[i].value;

            if (strcmp(figures[i].name, fields[f].name) != 0 || !(value >= 0 && value < 9e15))
                continue;
            if (fields[f].size)
                *fields[f].size = (size_t)value;
            else
                *fields[f].number = (int64_t)value;
        }
    t->held = reading->run.held;
    t->first_divergence = node_of(reading, reading->run.first_divergence);
    return status;
}

static bool copy_text(struct pw_arena *arena, const char **text)
{
    *text = pw_arena_strndup(arena, *text, strlen(*text));
    return *text != NULL;
}

/* The next nodes as an event; NULL when memory is short. */
static struct pw_event *make_part(const struct reading *reading, const struct pw_store_node_figure *rows, size_t count)
{
    struct pw_event *event = pw_event_create(PW_EVENT_PAST);
    struct pw_session_past_node *nodes = event ? pw_arena_alloc(&event->arena, count + 1, sizeof *nodes) : NULL;
    bool whole = nodes != NULL;

    if (whole) {
        event->past = (struct pw_session_past){.run = reading->run.id,
                                               .begin_ms = reading->run.begin_ms,
                                               .bindings = reading->run.bindings,
                                               .nodes = nodes};
        event->endtoend = reading->totals;
        whole = copy_text(&event->arena, &event->past.bindings);
    }
    for (size_t i = 0; whole && i < count; i++) {
        struct pw_session_past_node *node = &nodes[event->past.count];

        if (!fill_node(reading, &rows[i], node))
            continue;
        whole = copy_text(&event->arena, &node->implementation) && copy_text(&event->arena, &node->text);
        event->past.count++;
    }
    if (whole)
        return event;
    pw_event_free(event);
    return NULL;
}

static pw_status send_parts(const struct reading *reading, const struct pw_store_node_figure *rows, size_t count,
                            struct pw_error *err)
{
    for (size_t at = 0; at < count; at += PART) {
        size_t size = count - at < PART ? count - at : PART;
        struct pw_event *event = make_part(reading, rows + at, size);
        struct pw_store_output_row *outputs = NULL;
        pw_status status = event ? PW_OK : pw_error_memory(err, size * sizeof(struct pw_session_past_node));

        if (event && at == 0)
            status = pw_store_outputs(reading->store, reading->run.id, &event->arena, &outputs,
                                      &event->past.output_count, err);
        if (status != PW_OK) {
            pw_event_free(event);
            return status;
        }
        event->past.outputs = outputs;
        event->endtoend.outputs = event->past.output_count;
        event->past.first = at == 0;
        event->past.last = at + size == count;
        event->done = at + size;
        event->total = count;
        pw_queue_push(&reading->session->events, event);
    }
    return PW_OK;
}

pw_status pw_session_answer_nodes(struct pw_session *session, struct pw_store *store, struct pw_event *event,
                                  struct pw_error *err)
{
    struct reading reading = {.session = session, .store = store};
    struct pw_store_node_figure *rows = NULL;
    struct pw_arena arena = {0};
    size_t count = 0;
    pw_status status = PW_OK;

    (void)event;
    if (store)
        status = pw_store_node_run_latest(store, session->graph_id, session->target, &arena, &reading.run, err);
    if (status != PW_OK || !reading.run.id)
        goto done;
    status = number_nodes(&reading, err);
    if (status == PW_OK)
        status = pw_store_node_figures(store, reading.run.id, &arena, &rows, &count, err);
    if (status == PW_OK)
        status = read_totals(&reading, &arena, rows, count, err);
    if (status == PW_OK)
        status = send_parts(&reading, rows, count, err);
done:
    pw_free(reading.nodes);
    pw_arena_clear(&arena);
    return status;
}

/* ---- nodes over runs, on the writer ---- */

/* Lists the newest runs of the rows, which come by run; how many older ones there are. */
static size_t list_runs(const struct pw_store_node_point *rows, size_t count, struct pw_event *event)
{
    size_t runs = 0, skipped;

    for (size_t i = 0; i < count; i++)
        runs += i == 0 || rows[i].run_id != rows[i - 1].run_id;
    skipped = runs > PW_SESSION_NODE_RUNS ? runs - PW_SESSION_NODE_RUNS : 0;
    runs = 0;
    for (size_t i = 0; i < count; i++)
        if ((i == 0 || rows[i].run_id != rows[i - 1].run_id) && runs++ >= skipped)
            event->node_runs[event->node_run_count++] = rows[i].run_id;
    return skipped;
}

static void add_point(struct pw_session_node_trend *trend, const struct pw_store_node_point *row, size_t run,
                      const char *environment)
{
    trend->standing = row->standing;
    trend->tolerance = row->tolerance;
    trend->isolated[run] = row->isolated;
    trend->time_ns[run] = strcmp(row->environment_id, environment) ? 0 : row->time_ns;
}

/* A node that a run lists more than once has its last figures. */
static void add_points(const struct pw_store_node_point *rows, size_t count, const size_t *numbers,
                       struct pw_session_node_trend *trends, size_t trend_count, struct pw_event *event)
{
    size_t skipped = list_runs(rows, count, event), run = 0;

    for (size_t i = 0; i < count; i++) {
        run += i > 0 && rows[i].run_id != rows[i - 1].run_id;
        for (size_t k = 0; run >= skipped && k < trend_count; k++)
            if ((int64_t)numbers[k] == rows[i].node)
                add_point(&trends[k], &rows[i], run - skipped, rows[count - 1].environment_id);
    }
}

pw_status pw_session_add_node_trends(struct pw_session *session, struct pw_store *store, struct pw_event *event,
                                     struct pw_error *err)
{
    const struct pw_signature *s = &session->inventory->signatures[event->about];
    size_t count = s->node_count < PW_SESSION_TREND_NODES ? s->node_count : PW_SESSION_TREND_NODES, row_count = 0;
    size_t numbers[PW_SESSION_TREND_NODES];
    struct pw_session_node_trend *trends = pw_arena_alloc(&event->arena, count + 1, sizeof *trends);
    struct pw_store_node_point *rows = NULL;
    struct pw_arena scratch = {0};
    pw_status status = PW_OK;

    if (!trends)
        return pw_error_memory(err, count * sizeof *trends);
    for (size_t i = 0; i < count; i++) {
        numbers[i] = pw_inference_node_number(session->concrete_inference, s->nodes[i]);
        trends[i] = (struct pw_session_node_trend){.node = s->nodes[i], .tolerance = NAN};
        for (int run = 0; run < PW_SESSION_NODE_RUNS; run++)
            trends[i].isolated[run] = NAN;
    }
    if (count)
        status = pw_store_node_points(store, session->graph_id, session->target, session->bindings_text, numbers, count,
                                      &scratch, &rows, &row_count, err);
    if (status == PW_OK && row_count) {
        add_points(rows, row_count, numbers, trends, count, event);
        event->node_trends = trends;
        event->node_trend_count = count;
    }
    pw_arena_clear(&scratch);
    return status;
}
