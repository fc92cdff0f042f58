/* Opening and closing a session, and what the client may ask of it. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "job/session_internal.h"
#include "store/endtoend.h"

#define ASSUMED_BATCH 1
#define ASSUMED_SIZE 16

/* ---- symbols that nobody bound ---- */

struct symbols {
    struct pw_session *session;
    size_t cap;
    pw_status status;
    struct pw_error *err;
};

static bool is_batch(const char *name)
{
    static const char *const hints[] = {"batch", "Batch", "BATCH", "N", "n", "B", "b"};
    size_t length = strlen(name);

    for (size_t i = 0; i < 3; i++)
        if (strstr(name, hints[i]))
            return true;
    for (size_t i = 3; i < sizeof hints / sizeof *hints; i++)
        if (!strcmp(name, hints[i]))
            return true;
    return length > 2 && !strcmp(name + length - 2, ".0"); /* the first dim of an input without names */
}

static void assume(void *user, const char *symbol)
{
    struct symbols *symbols = user;
    struct pw_session *session = symbols->session;
    struct pw_binding *grown;

    if (symbols->status != PW_OK || strchr(symbol, '#'))
        return; /* '#': made by an operator whose size depends on data */
    for (size_t i = 0; i < session->binding_count; i++)
        if (!strcmp(session->bindings[i].name, symbol))
            return;
    grown = pw_arena_alloc(&session->arena, session->binding_count + 1, sizeof *grown);
    if (!grown) {
        symbols->status = pw_error_memory(symbols->err, sizeof *grown);
        return;
    }
    if (session->binding_count)
        memcpy(grown, session->bindings, session->binding_count * sizeof *grown);
    grown[session->binding_count].name = pw_arena_strndup(&session->arena, symbol, strlen(symbol));
    grown[session->binding_count].value = is_batch(symbol) ? ASSUMED_BATCH : ASSUMED_SIZE;
    session->bindings = grown;
    session->binding_count++;
}

static pw_status assume_unbound(struct pw_session *session, struct pw_error *err)
{
    struct symbols symbols = {.session = session, .err = err};
    const struct pw_graph *graph = session->model->graph;

    for (size_t i = 0; i < graph->input_count; i++) {
        const struct pw_info *info = pw_inference_at(session->inference, graph, graph->inputs[i]);

        for (int d = 0; d < info->rank; d++)
            pw_dims_symbols(pw_inference_dims(session->inference), info->dims[d], assume, &symbols);
    }
    return symbols.status;
}

/* ---- opening ---- */

static const char *keep(struct pw_session *session, const char *text, const char *otherwise)
{
    const char *use = text ? text : otherwise;

    return use ? pw_arena_strndup(&session->arena, use, strlen(use)) : NULL;
}

static pw_status copy_options(struct pw_session *session, const struct pw_session_options *options,
                              struct pw_error *err)
{
    session->target = keep(session, options->target, "opencl");
    session->db = keep(session, options->db, ".portwright/portwright.db");
    session->project = keep(session, options->project, NULL);
    session->seed = options->seed;
    session->jobs = options->jobs;
    session->effort = options->effort;
    session->triage = options->triage;
    session->ops_dir_count = options->ops_dir_count + 1;
    session->ops_dirs = pw_arena_alloc(&session->arena, session->ops_dir_count, sizeof *session->ops_dirs);
    if (!session->ops_dirs || !session->target || !session->db)
        return pw_error_memory(err, sizeof *session);
    session->ops_dirs[0] = (struct pw_ops_dir){.path = keep(session, pw_ops_dir_default(), "ops"), .foreign = false};
    for (size_t i = 0; i < options->ops_dir_count; i++)
        session->ops_dirs[i + 1] =
            (struct pw_ops_dir){.path = keep(session, options->ops_dirs[i], NULL), .foreign = true};
    return PW_OK;
}

static pw_status load_protocol(struct pw_session *session, struct pw_error *err)
{
    if (session->project)
        return pw_protocol_load(session->project, &session->protocol, err);
    if (pw_file_exists("portwright.yaml"))
        return pw_protocol_load("portwright.yaml", &session->protocol, err);
    return pw_protocol_default(&session->protocol, err);
}

static bool is_bound(const struct pw_binding *items, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(items[i].name, name))
            return true;
    return false;
}

/* --dim wins over the protocol's first binding set; the shapes of given inputs fill in what --dim leaves open. */
static pw_status take_bindings(struct pw_session *session, const struct pw_session_options *options,
                               struct pw_error *err)
{
    const struct pw_inputs *inputs = &session->inputs;
    const struct pw_binding *from = options->bindings;
    size_t count = options->binding_count;
    bool protocol = !count && session->protocol->binding_count;

    if (protocol) {
        from = session->protocol->bindings[0].items;
        count = session->protocol->bindings[0].count;
    }
    session->bindings = pw_arena_alloc(&session->arena, count + inputs->binding_count + 1, sizeof *session->bindings);
    if (!session->bindings)
        return pw_error_memory(err, count * sizeof *from);
    for (size_t i = 0; i < count; i++)
        if (!protocol || !is_bound(inputs->bindings, inputs->binding_count, from[i].name))
            session->bindings[session->binding_count++] =
                (struct pw_binding){keep(session, from[i].name, ""), from[i].value};
    for (size_t i = 0; i < inputs->binding_count; i++)
        if (!is_bound(session->bindings, session->binding_count, inputs->bindings[i].name))
            session->bindings[session->binding_count++] =
                (struct pw_binding){keep(session, inputs->bindings[i].name, ""), inputs->bindings[i].value};
    session->given_count = session->binding_count;
    return PW_OK;
}

static pw_status describe_bindings(struct pw_session *session, struct pw_error *err)
{
    struct pw_buf text = {0};

    for (size_t i = 0; i < session->binding_count; i++)
        pw_buf_printf(&text, "%s%s=%lld", i ? "," : "", session->bindings[i].name,
                      (long long)session->bindings[i].value);
    session->bindings_text = keep(session, pw_buf_text(&text), "");
    pw_buf_clear(&text);
    return session->bindings_text ? PW_OK : pw_error_memory(err, 64);
}

/* Which concrete signature stands for each shown one: that of its first node. */
static pw_status map_signatures(struct pw_session *session, struct pw_error *err)
{
    const struct pw_inventory *shown = session->inventory, *concrete = session->concrete;

    session->to_concrete = pw_arena_alloc(&session->arena, shown->signature_count + 1, sizeof *session->to_concrete);
    if (!session->to_concrete)
        return pw_error_memory(err, shown->signature_count * sizeof(size_t));
    for (size_t i = 0; i < shown->signature_count; i++) {
        size_t number = pw_inference_node_number(session->concrete_inference, shown->signatures[i].nodes[0]);

        if (number >= concrete->node_number_count || concrete->node_signature[number] < 0)
            return pw_error_set(err, PW_ERR_INTERNAL, "signature %zu has no concrete form", i);
        session->to_concrete[i] = (size_t)concrete->node_signature[number];
    }
    return PW_OK;
}

/* A dim that the protocol binds and the graph lacks, or an order of sums that none of the named nodes has, is said with
 * its place in the file. */
static pw_status check_protocol(struct pw_session *session, struct pw_error *err)
{
    struct pw_inference *symbolic = NULL;
    pw_status status;

    if (!session->protocol->binding_count && !session->protocol->bitwise.accumulation_count)
        return PW_OK;
    status = pw_infer_graph(session->model, NULL, 0, &symbolic, err);
    if (status == PW_OK)
        status = pw_protocol_check(session->protocol, session->model, symbolic, err);
    pw_inference_destroy(symbolic);
    return status;
}

static pw_status make_inventories(struct pw_session *session, struct pw_error *err)
{
    pw_status status = check_protocol(session, err);

    if (status == PW_OK)
        status = pw_infer_graph(session->model, session->bindings, session->binding_count, &session->inference, err);
    if (status == PW_OK)
        status = pw_inventory_create(session->model, session->inference, &session->inventory, err);
    if (status == PW_OK)
        status = assume_unbound(session, err);
    if (status == PW_OK)
        status = describe_bindings(session, err);
    if (status != PW_OK)
        return status;
    if (session->binding_count == session->given_count) {
        session->concrete_inference = session->inference;
        session->concrete = session->inventory;
    } else {
        status = pw_infer_graph(session->model, session->bindings, session->binding_count, &session->concrete_inference,
                                err);
        if (status != PW_OK)
            pw_error_prefix(err, "with the assumed dims %s (bind them with --dim)", session->bindings_text);
        else
            status = pw_inventory_create(session->model, session->concrete_inference, &session->concrete, err);
    }
    if (status == PW_OK && session->has_inputs)
        status = pw_inputs_complete(&session->inputs, session->concrete_inference, session->seed, err);
    return status == PW_OK ? map_signatures(session, err) : status;
}

static pw_status start_threads(struct pw_session *session, struct pw_error *err)
{
    if (session->db[0] || session->triage) {
        if (pthread_create(&session->writer, NULL, pw_session_writer, session) != 0)
            return pw_error_set(err, PW_ERR_INTERNAL, "no thread for the store");
        session->writer_started = true;
    }
    if (pthread_create(&session->worker, NULL, pw_session_worker, session) != 0)
        return pw_error_set(err, PW_ERR_INTERNAL, "no thread for jobs");
    session->worker_started = true;
    return PW_OK;
}

pw_status pw_session_open(const struct pw_session_options *options, struct pw_session **out, struct pw_error *err)
{
    struct pw_session *session = pw_calloc(1, sizeof *session);
    pw_status status;

    if (!session)
        return pw_error_memory(err, sizeof *session);
    pthread_mutex_init(&session->lock, NULL);
    pthread_cond_init(&session->submitted, NULL);
    session->next_job = 1;
    status = pw_queue_init(&session->events, true, err);
    if (status == PW_OK)
        status = pw_queue_init(&session->writes, false, err);
    if (status == PW_OK)
        status = copy_options(session, options, err);
    if (status == PW_OK)
        status = load_protocol(session, err);
    if (status == PW_OK)
        status = pw_model_load(options->model_path, &session->model, err);
    if (status == PW_OK && options->inputs) {
        status = pw_inputs_read(session->model, options->inputs->folder, options->inputs->files,
                                options->inputs->file_count, &session->inputs, err);
        session->has_inputs = status == PW_OK;
    }
    if (status == PW_OK)
        status = take_bindings(session, options, err);
    if (status == PW_OK) {
        pw_hash_text(pw_model_structure_hash(session->model), session->graph_id);
        status = make_inventories(session, err);
    }
    pw_mem_give_back();
    if (status == PW_OK)
        status = start_threads(session, err);
    if (status == PW_OK) {
        if (session->binding_count != session->given_count)
            pw_session_say(session, PW_OK, "dims not bound are taken as %s for measuring; bind them with --dim",
                           session->bindings_text);
        *out = session;
        session = NULL;
    }
    pw_session_close(session);
    return status;
}

void pw_job_free(struct pw_job *job)
{
    if (job->run) {
        pw_free((char *)(uintptr_t)job->run->layers);
        pw_free((char *)(uintptr_t)job->run->capture_folder);
        pw_free(job->run);
    }
    pw_free(job->signatures);
    pw_free(job->case_id);
    pw_free(job->lock);
    pw_free(job->suspects);
    pw_free(job->kept_root);
    pw_free(job);
}

void pw_session_close(struct pw_session *session)
{
    if (!session)
        return;
    pthread_mutex_lock(&session->lock);
    session->closing = true;
    if (session->running)
        session->running->cancel = true;
    pthread_cond_broadcast(&session->submitted);
    pthread_mutex_unlock(&session->lock);
    if (session->worker_started)
        pthread_join(session->worker, NULL);
    pw_queue_close(&session->writes);
    if (session->writer_started)
        pthread_join(session->writer, NULL);
    for (struct pw_job *job = session->first_job, *next; job; job = next) {
        next = job->next;
        pw_job_free(job);
    }
    pw_session_forget_marks(session);
    pw_free(session->builds);
    pw_free(session->devices);
    pw_inputs_clear(&session->inputs);
    pw_device_close(session->device);
    pw_kernels_destroy(session->kernels);
    for (size_t i = 0; i < session->former_count; i++)
        pw_kernels_destroy(session->former[i]);
    pw_free(session->former);
    pw_arena_clear(&session->impl_arena);
    pw_queue_clear(&session->events);
    pw_queue_clear(&session->writes);
    if (session->concrete != session->inventory)
        pw_inventory_destroy(session->concrete);
    if (session->concrete_inference != session->inference)
        pw_inference_destroy(session->concrete_inference);
    pw_inventory_destroy(session->inventory);
    pw_inference_destroy(session->inference);
    pw_protocol_destroy(session->protocol);
    pw_model_destroy(session->model);
    pthread_mutex_destroy(&session->lock);
    pthread_cond_destroy(&session->submitted);
    pw_arena_clear(&session->arena);
    pw_free(session);
}

/* ---- asking ---- */

const struct pw_model *pw_session_model(const struct pw_session *session)
{
    return session->model;
}

const struct pw_inventory *pw_session_inventory(const struct pw_session *session)
{
    return session->inventory;
}

const struct pw_inventory *pw_session_concrete(const struct pw_session *session)
{
    return session->concrete;
}

const struct pw_protocol *pw_session_protocol(const struct pw_session *session)
{
    return session->protocol;
}

const char *pw_session_target(const struct pw_session *session)
{
    return session->target;
}

int64_t pw_session_recorded_run(struct pw_session *session)
{
    int64_t run;

    pthread_mutex_lock(&session->lock);
    run = session->recorded_run;
    pthread_mutex_unlock(&session->lock);
    return run;
}

const char *pw_session_db(const struct pw_session *session)
{
    return session->db;
}

const char *pw_session_graph_id(const struct pw_session *session)
{
    return session->graph_id;
}

const char *pw_session_bindings(const struct pw_session *session)
{
    return session->bindings_text;
}

const struct pw_ops_dir *pw_session_ops_dirs(const struct pw_session *session, size_t *count)
{
    *count = session->ops_dir_count;
    return session->ops_dirs;
}

const struct pw_device *pw_session_device(const struct pw_session *session)
{
    return __atomic_load_n(&session->device, __ATOMIC_ACQUIRE);
}

const struct pw_impl_list *pw_session_implementations(const struct pw_session *session, size_t signature)
{
    const struct pw_impl_list *impls = __atomic_load_n(&session->impls, __ATOMIC_ACQUIRE);

    return impls ? &impls[signature] : NULL;
}

int pw_session_fd(const struct pw_session *session)
{
    return session->events.wake[0];
}

struct pw_event *pw_session_next(struct pw_session *session)
{
    struct pw_event *event = pw_queue_take(&session->events);
    struct pw_error ignored = {0};

    /* Here, on the client's thread: nobody else reads these fields of the inventory. */
    if (event && event->sensitivity_count)
        pw_store_apply_sensitivities(event->sensitivities, event->sensitivity_count, session->inventory, &ignored);
    return event;
}

void pw_session_submit(struct pw_session *session, struct pw_job *job, int *number)
{
    pthread_mutex_lock(&session->lock);
    job->number = session->next_job++;
    if (session->last_job)
        session->last_job->next = job;
    else
        session->first_job = job;
    session->last_job = job;
    if (number)
        *number = job->number;
    pthread_cond_broadcast(&session->submitted);
    pthread_mutex_unlock(&session->lock);
}

pw_status pw_session_verify(struct pw_session *session, const size_t *signatures, size_t count, bool timing,
                            int *number, struct pw_error *err)
{
    struct pw_job *job = pw_calloc(1, sizeof *job);

    if (signatures && !count) {
        pw_free(job);
        return pw_error_set(err, PW_ERR_USAGE, "nothing is selected");
    }
    if (!job || (signatures && !(job->signatures = pw_calloc(count, sizeof *signatures)))) {
        pw_free(job);
        return pw_error_memory(err, count * sizeof *signatures);
    }
    if (signatures)
        memcpy(job->signatures, signatures, count * sizeof *signatures);
    job->count = count;
    job->timing = timing;
    pw_session_submit(session, job, number);
    return PW_OK;
}

pw_status pw_session_verify_case(struct pw_session *session, const char *case_id, struct pw_error *err)
{
    struct pw_job *job = pw_calloc(1, sizeof *job);

    if (!job || !(job->case_id = pw_strdup(case_id))) {
        pw_free(job);
        return pw_error_memory(err, sizeof *job);
    }
    pw_session_submit(session, job, NULL);
    return PW_OK;
}

pw_status pw_session_reload(struct pw_session *session, struct pw_error *err)
{
    struct pw_job *job = pw_calloc(1, sizeof *job);

    if (!job)
        return pw_error_memory(err, sizeof *job);
    job->reload = true;
    pw_session_submit(session, job, NULL);
    return PW_OK;
}

void pw_session_cancel(struct pw_session *session)
{
    pthread_mutex_lock(&session->lock);
    if (session->running)
        session->running->cancel = true;
    for (struct pw_job *job = session->first_job, *next; job; job = next) {
        struct pw_event *event = pw_event_create(PW_EVENT_FINISHED);
        struct pw_error err = {0};

        next = job->next;
        pw_error_set(&err, PW_ERR_CANCELLED, "cancelled before it began");
        if (event) { /* whoever waits for the job's end hears of it */
            pw_event_set_error(event, &err);
            event->job = job->number;
        }
        pw_queue_push(&session->events, event);
        pw_job_free(job);
    }
    session->first_job = session->last_job = NULL;
    pthread_mutex_unlock(&session->lock);
}
