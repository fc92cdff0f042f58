/* Runs of the whole graph: the job, its events, and what of them the store keeps. */
#include <math.h>
#include <string.h>

#include "job/session_internal.h"
#include "store/endtoend.h"
#include "verify/capture.h"

const struct pw_inputs *pw_session_run_inputs(const struct pw_session *session)
{
    return session->inputs;
}

pw_status pw_session_run(struct pw_session *session, const struct pw_session_run_options *options, int *number,
                         struct pw_error *err)
{
    struct pw_job *job = pw_job_create(err);
    struct pw_session_run_options *copy = pw_calloc(1, sizeof *copy);

    if (!job || !copy) {
        pw_job_free(job);
        pw_free(copy);
        return pw_error_memory(err, sizeof *job);
    }
    *copy = *options;
    copy->layers = options->layers ? pw_strdup(options->layers) : NULL;
    copy->capture_folder = options->capture_folder ? pw_strdup(options->capture_folder) : NULL;
    job->run = copy;
    if ((options->layers && !copy->layers) || (options->capture_folder && !copy->capture_folder)) {
        pw_job_free(job);
        return pw_error_memory(err, sizeof *copy);
    }
    pw_session_submit(session, job, number);
    return PW_OK;
}

/* ---- events ---- */

struct graph_run {
    struct pw_session *session;
    const struct pw_job *job;
    bool started;                     /* the store has a run */
    size_t given_back;                /* nodes done when memory was given back last */
    struct pw_session_record *record; /* the next of its nodes, for the store; NULL: nothing is recorded */
};

static bool copy_text(struct pw_arena *arena, const char **text)
{
    const char *from = *text ? *text : "";

    *text = pw_arena_strndup(arena, from, strlen(from));
    return *text != NULL;
}

static bool copy_layer(struct pw_event *event, const struct pw_sweep_layer *layer)
{
    const struct pw_node **nodes = pw_arena_alloc(&event->arena, layer->node_count + 1, sizeof *nodes);

    if (!nodes)
        return false;
    event->layer = *layer;
    for (size_t i = 0; i < layer->node_count; i++)
        nodes[i] = layer->nodes[i];
    event->layer.nodes = nodes;
    return copy_text(&event->arena, &event->layer.name);
}

/* What was measured just now shows in the inventory at once. */
static bool add_sensitivities(const struct graph_run *run, struct pw_event *event)
{
    const struct pw_sweep_layer *layer = &event->layer;
    struct pw_store_sensitivity *rows =
        pw_arena_alloc(&event->arena, layer->node_count * PW_SWEEP_DTYPES + 1, sizeof *rows);

    if (!rows)
        return false;
    for (size_t n = 0; n < layer->node_count; n++)
        for (int d = 0; d < PW_SWEEP_DTYPES; d++) {
            const struct pw_sweep_cell *cell = &layer->cells[d];

            rows[event->sensitivity_count++] = (struct pw_store_sensitivity){
                .node = pw_inference_node_number(run->session->concrete_inference, layer->nodes[n]),
                .layer = layer->name,
                .dtype = pw_dtype_name(cell->dtype),
                .damage = cell->ran ? cell->damage : NAN,
                .max_error = cell->ran ? cell->max_error : NAN,
                .flips = cell->flips,
                .held = cell->held};
        }
    event->sensitivities = rows;
    return true;
}

static struct pw_event *copy_event(const struct graph_run *run, const struct pw_endtoend_event *from)
{
    static const pw_event_kind kinds[] = {[PW_ENDTOEND_STARTED] = PW_EVENT_STARTED,
                                          [PW_ENDTOEND_NODE] = PW_EVENT_NODE,
                                          [PW_ENDTOEND_LAYER] = PW_EVENT_LAYER,
                                          [PW_ENDTOEND_OUTPUT] = PW_EVENT_OUTPUT};
    struct pw_event *event = pw_event_create(kinds[from->kind]);
    bool whole = event != NULL;

    if (whole && from->node) {
        event->node = *from->node;
        whole = copy_text(&event->arena, &event->node.implementation) && copy_text(&event->arena, &event->node.note) &&
                copy_text(&event->arena, &event->node.why) && copy_text(&event->arena, &event->node.reason);
    }
    if (whole && from->output) {
        event->output = *from->output;
        whole = copy_text(&event->arena, &event->output.name) && copy_text(&event->arena, &event->output.why) &&
                copy_text(&event->arena, &event->output.reason);
    }
    if (whole && from->layer)
        whole = copy_layer(event, from->layer) && add_sensitivities(run, event);
    if (!whole) {
        pw_event_free(event);
        pw_session_say(run->session, PW_ERR_NO_MEMORY, "out of memory: a result is not shown");
        return NULL;
    }
    event->whole_graph = true;
    event->mode = run->job->run->mode;
    event->job = run->job->number;
    event->done = from->done;
    event->total = from->total;
    return event;
}

static bool for_the_store(const struct pw_endtoend_event *event)
{
    return event->kind != PW_ENDTOEND_NODE || event->node->standing != PW_NODE_HELD;
}

/* Nodes: what they take and free leaves holes, which grow with their number. */
enum { GIVE_BACK_EVERY = 10000 };

static void on_event(void *user, const struct pw_endtoend_event *event)
{
    struct graph_run *run = user;
    struct pw_event *shown, *stored;

    if (event->kind == PW_ENDTOEND_FINISHED)
        return; /* the job's own event says so, after the store has all of it */
    if (event->done >= run->given_back + GIVE_BACK_EVERY) {
        run->given_back = event->done;
        pw_mem_give_back();
    }
    run->started |= event->kind == PW_ENDTOEND_STARTED;
    shown = copy_event(run, event);
    stored = shown && for_the_store(event) ? copy_event(run, event) : NULL;
    if (event->kind == PW_ENDTOEND_NODE)
        pw_session_record_node(&run->record, run->session, run->job, event->node);
    pw_queue_push(&run->session->events, shown);
    if (event->kind == PW_ENDTOEND_NODE && event->done == event->total)
        pw_session_doing(run->session, run->job, "comparing the outputs");
    if (stored)
        pw_session_send_to_store(run->session, stored);
    pw_session_pause(run->session, run->job);
}

/* ---- the job ---- */

static pw_status run_with(struct graph_run *run, const struct pw_inputs *inputs, struct pw_endtoend_totals *totals,
                          struct pw_error *err)
{
    struct pw_session *session = run->session;
    const struct pw_job *job = run->job;
    struct pw_capture_writer *capture = NULL;
    struct pw_endtoend_request request = {.inventory = session->concrete,
                                          .kernels = session->kernels,
                                          .device = session->device,
                                          .protocol = session->protocol,
                                          .inputs = inputs->values,
                                          .input_count = inputs->count,
                                          .wanted = inputs->has_wanted ? inputs->wanted : NULL,
                                          .mode = job->run->mode,
                                          .seed = session->seed,
                                          .timed_runs = job->run->timed_runs,
                                          .layers = job->run->layers,
                                          .cancel = &job->cancel,
                                          .emit = on_event,
                                          .user = run};
    struct pw_error ignored = {0};
    size_t left_out = 0;
    pw_status status = PW_OK, finished;

    if (job->run->capture_folder)
        status = pw_capture_create(job->run->capture_folder, job->run->capture_bytes, 0, &capture, err);
    request.capture = capture;
    if (status == PW_OK)
        status = pw_endtoend_run(&request, NULL, totals, err);
    finished = pw_capture_finish(capture, &left_out, status == PW_OK ? err : &ignored);
    if (left_out)
        pw_session_say(session, PW_OK, "%s is full: the inputs of %zu nodes were left out", job->run->capture_folder,
                       left_out);
    return status == PW_OK ? finished : status;
}

void pw_session_run_graph(struct pw_session *session, const struct pw_job *job, struct pw_event *over)
{
    struct pw_event *copy;
    struct graph_run run = {.session = session, .job = job};
    struct pw_inputs drawn = {0};
    const struct pw_inputs *inputs = session->inputs;
    struct pw_error err = {0};
    pw_status status = PW_OK;

    if (!inputs) {
        size_t count = session->model->graph->input_count;

        pw_session_doing(session, job, "drawing %zu input%s", count, count == 1 ? "" : "s");
        status = pw_inputs_read(session->model, NULL, NULL, 0, &drawn, &err);
        if (status == PW_OK)
            status = pw_inputs_complete(&drawn, session->concrete_inference, session->seed, &err);
        inputs = &drawn;
    }
    pw_session_doing(session, job, "%s",
                     job->run->mode == PW_ENDTOEND_SWEEP ? "running the whole graph once, to compare with"
                                                         : "carrying the inputs to both sides");
    if (session->writer_started && job->run->mode == PW_ENDTOEND_NODES)
        run.record = pw_session_record_create();
    if (status == PW_OK)
        status = run_with(&run, inputs, &over->endtoend, &err);
    if (status == PW_OK && pw_model_damaged(session->model))
        status =
            pw_error_set(&err, PW_ERR_IO, "%s shrank while it was in use: the results are void", session->model->path);
    if (status != PW_OK)
        pw_event_set_error(over, &err);
    over->whole_graph = true;
    over->mode = job->run->mode;
    copy = run.started ? pw_event_create(PW_EVENT_FINISHED) : NULL;
    if (copy) {
        copy->endtoend = over->endtoend;
        copy->whole_graph = true;
        copy->failed = over->failed;
        copy->error = over->error;
        copy->record = run.record;
        run.record = NULL;
        pw_session_send_to_store(session, copy);
    } else if (run.started) {
        pw_session_say(session, PW_ERR_NO_MEMORY, PW_SESSION_NO_END);
    }
    pw_session_record_free(run.record);
    if (session->writer_started)
        pw_session_doing(session, job, "recording it");
    if (session->writer_started)
        pw_queue_drain(&session->writes); /* "finished" means recorded */
    pw_session_end_job(session, over);
    pw_inputs_clear(&drawn);
}

/* ---- the store ---- */

const char *pw_session_run_kind(const struct pw_event *started)
{
    if (!started->whole_graph)
        return "check";
    return started->mode == PW_ENDTOEND_SWEEP ? "sweep" : "run";
}

static pw_status write_layer(const struct pw_session *session, struct pw_store *store, int64_t run,
                             const struct pw_sweep_layer *layer, struct pw_error *err)
{
    size_t *numbers = pw_calloc(layer->node_count + 1, sizeof *numbers);
    pw_status status;

    if (!numbers)
        return pw_error_memory(err, layer->node_count * sizeof *numbers);
    for (size_t i = 0; i < layer->node_count; i++)
        numbers[i] = pw_inference_node_number(session->concrete_inference, layer->nodes[i]);
    status = pw_store_layer_add(store, run, session->graph_id, numbers, layer, err);
    pw_free(numbers);
    return status;
}

static pw_status write_node(const struct pw_session *session, struct pw_store *store, int64_t run,
                            const struct pw_endtoend_node *node, struct pw_error *err)
{
    const struct pw_pattern *pattern =
        !node->node && node->pattern >= 0 ? &session->concrete->patterns[node->pattern] : NULL;
    size_t number = node->node ? pw_inference_node_number(session->concrete_inference, node->node) : 0;

    return pw_store_node_add(store, run, (int64_t)number, node->node ? node->node->name : pattern->nodes[0]->name,
                             node->node ? node->node->op_type : pw_pattern_name(pattern->kind), node, err);
}

pw_status pw_session_write_graph(struct pw_session *session, struct pw_store *store, int64_t run,
                                 const struct pw_event *event, struct pw_error *err)
{
    pw_status status = PW_OK;

    switch (event->kind) {
    case PW_EVENT_NODE:
        if (event->record)
            return pw_session_record_write(event->record, session, store, run, err);
        return write_node(session, store, run, &event->node, err);
    case PW_EVENT_LAYER:
        return write_layer(session, store, run, &event->layer, err);
    case PW_EVENT_OUTPUT:
        return pw_store_output_add(store, run, &event->output, err);
    case PW_EVENT_FINISHED:
        if (!event->failed)
            status = pw_store_figures_add(store, run, &event->endtoend, err);
        if (status == PW_OK)
            status = pw_session_record_end(event->record, event->failed, session, store, run, err);
        if (status != PW_OK)
            return status;
        return pw_store_run_end(store, run,
                                event->failed ? (event->error.status == PW_ERR_CANCELLED ? "cancelled" : "error")
                                : event->endtoend.held ? "held"
                                                       : "failed",
                                event->failed ? 3 : !event->endtoend.held, err);
    default:
        return PW_OK;
    }
}
