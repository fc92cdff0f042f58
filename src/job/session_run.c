/* The session's two threads: the worker, which opens the device and verifies, and the store's writer. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "baseline/triage.h"
#include "job/session_internal.h"
#include "store/bench.h"
#include "store/endtoend.h"

void pw_session_say(struct pw_session *session, pw_status status, const char *format, ...)
{
    struct pw_event *event = pw_event_create(PW_EVENT_MESSAGE);
    va_list args;

    if (!event)
        return;
    va_start(args, format);
    vsnprintf(event->error.message, sizeof event->error.message, format, args);
    va_end(args);
    event->failed = status != PW_OK;
    event->error.status = status;
    pw_queue_push(&session->events, event);
}

void pw_session_doing(struct pw_session *session, const struct pw_job *job, const char *format, ...)
{
    struct pw_event *event = pw_event_create(PW_EVENT_DOING);
    char text[160];
    va_list args;

    if (!event)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    event->text = pw_arena_strndup(&event->arena, text, strlen(text));
    event->job = job->number;
    event->whole_graph = job->run != NULL;
    event->mode = job->run ? job->run->mode : PW_ENDTOEND_OUTPUTS;
    event->run_kind = job->bench ? "bench" : NULL;
    pw_queue_push(&session->events, event);
}

/* ---- the store's writer ---- */

/* What opens a run in the write queue: a STARTED event whose error.message is empty. */
static pw_status begin_run(const struct pw_session *session, struct pw_store *store, const char *kind, int64_t *run,
                           struct pw_error *err)
{
    const struct pw_device *device = pw_session_device(session);
    const struct pw_target_info *info = device ? pw_device_info(device) : NULL;
    struct pw_environment environment = {0};
    struct pw_buf json = {0};
    struct pw_store_run row = {.kind = kind,
                               .graph = session->graph_id,
                               .model_path = session->model->path,
                               .target = session->target,
                               .target_kind = info ? info->kind : "reference",
                               .device = info ? info->name : "reference",
                               .bindings = session->bindings_text,
                               .protocol = session->protocol->path,
                               .version = PACKAGE_VERSION,
                               .seed = session->seed};
    pw_status status = pw_session_environment(session, &environment, err);

    if (status == PW_OK)
        status = pw_environment_json(&environment, &json, err);
    if (status == PW_OK) {
        row.environment = pw_buf_text(&json);
        row.environment_id = pw_environment_id(&environment);
        status = pw_store_run_begin(store, &row, run, err);
    }
    pw_buf_clear(&json);
    pw_environment_clear(&environment);
    return status;
}

static pw_status write_event(struct pw_session *session, struct pw_store *store, int64_t *run,
                             const struct pw_event *event, struct pw_error *err)
{
    const struct pw_signature *signatures = session->inventory->signatures;
    pw_status status;

    if (event->whole_graph && event->kind != PW_EVENT_STARTED)
        return pw_session_write_graph(session, store, *run, event, err);
    switch (event->kind) {
    case PW_EVENT_STARTED:
        return begin_run(session, store, event->run_kind ? event->run_kind : pw_session_run_kind(event), run, err);
    case PW_EVENT_CASE:
        status = pw_store_case_add(store, *run, &signatures[event->result.signature], &event->result, err);
        return status == PW_OK ? pw_session_keep_build(session, store, event, err) : status;
    case PW_EVENT_SIGNATURE:
        return pw_store_signature_add(store, *run, &signatures[event->summary.signature], &event->summary, err);
    case PW_EVENT_BENCH:
        status = pw_store_bench_add(store, *run, &signatures[event->figure.signature], &event->figure, event->cold,
                                    event->launch_ns, err);
        return status == PW_OK ? pw_session_keep_build(session, store, event, err) : status;
    case PW_EVENT_FINISHED:
        if (event->run_kind)
            return pw_store_run_end(store, *run,
                                    !event->failed                            ? "held"
                                    : event->error.status == PW_ERR_CANCELLED ? "cancelled"
                                                                              : "error",
                                    event->failed ? 3 : 0, err);
        return pw_store_run_end(store, *run,
                                event->failed ? (event->error.status == PW_ERR_CANCELLED ? "cancelled" : "error")
                                : event->totals.gate_failed ? "failed"
                                                            : "held",
                                event->failed ? 3 : event->totals.gate_failed || !event->totals.held, err);
    default:
        return PW_OK;
    }
}

static void send_history(struct pw_session *session, struct pw_store *store)
{
    struct pw_event *event = pw_event_create(PW_EVENT_HISTORY);
    struct pw_store_signature_row *rows = NULL;
    struct pw_store_sensitivity *measured = NULL;
    struct pw_error err = {0};

    if (!event)
        return;
    if (pw_store_latest(store, session->graph_id, session->target, &event->arena, &rows, &event->row_count, &err) !=
        PW_OK) {
        pw_session_say(session, err.status, "%s", err.message);
        pw_event_free(event);
        return;
    }
    event->rows = rows;
    if (pw_store_sensitivities(store, session->graph_id, &event->arena, &measured, &event->sensitivity_count, &err) !=
        PW_OK)
        pw_session_say(session, err.status, "%s", err.message);
    event->sensitivities = measured;
    pw_queue_push(&session->events, event);
}

enum { BATCH = 1000 };

/* What is being recorded. */
struct recording {
    struct pw_store *store; /* NULL: nothing is, or not any more */
    int64_t run;            /* 0: none has begun */
    bool open;              /* it has not ended */
    int batch;              /* rows of nodes since their commit began, 0: none is open */
};

static bool is_row(const struct pw_event *event)
{
    return event->whole_graph && event->kind == PW_EVENT_NODE && !event->record;
}

/* Whoever else writes waits for the commit: it is not left open while something else is done, or nothing. */
static pw_status end_batch(struct recording *to, struct pw_error *err)
{
    pw_status status = to->batch ? pw_store_batch_end(to->store, err) : PW_OK;

    to->batch = 0;
    return status;
}

/* Of a graph of which everything after the first nodes is wrong, 100,000 rows come at once: those that wait share a
 * commit. */
static pw_status write_row(struct pw_session *session, struct recording *to, const struct pw_event *event,
                           struct pw_error *err)
{
    pw_status status = to->batch ? PW_OK : pw_store_batch_begin(to->store, err);

    to->batch += status == PW_OK;
    if (status == PW_OK)
        status = write_event(session, to->store, &to->run, event, err);
    if (status == PW_OK && (to->batch >= BATCH || !pw_queue_waiting(&session->writes)))
        status = end_batch(to, err);
    return status;
}

static pw_status handle(struct pw_session *session, struct recording *to, struct pw_triage **triage,
                        struct pw_event *event, struct pw_error *err)
{
    pw_status status = is_row(event) ? PW_OK : end_batch(to, err);

    if (event->kind == PW_EVENT_TRIAGE)
        pw_session_triage_event(session, triage, event);
    else if (event->kind == PW_EVENT_SAVE)
        pw_session_write_file(session, event);
    else if (event->kind == PW_EVENT_LINES)
        pw_session_lines_event(session, event);
    else if (event->kind == PW_EVENT_ANSWER)
        pw_session_answer(session, to->store, event);
    else if (!to->open && event->kind == PW_EVENT_FINISHED)
        return status; /* of a job that failed before it had begun */
    else if (to->store && status == PW_OK && !to->open && event->kind != PW_EVENT_STARTED)
        /* nor are its results, as if they were the former run's */
        status = pw_error_set(err, PW_ERR_NO_MEMORY, "out of memory: that a run began was not recorded");
    else if (to->store && status == PW_OK)
        status =
            is_row(event) ? write_row(session, to, event, err) : write_event(session, to->store, &to->run, event, err);
    if (status == PW_OK && (event->kind == PW_EVENT_STARTED || event->kind == PW_EVENT_FINISHED))
        to->open = event->kind == PW_EVENT_STARTED;
    return status;
}

void *pw_session_writer(void *user)
{
    struct pw_session *session = user;
    struct recording to = {.store = NULL};
    struct pw_error err = {0};
    struct pw_triage *triage = NULL;
    struct pw_event *event;

    if (session->triage)
        pw_session_triage_open(session, &triage);
    if (session->db[0] && pw_store_open(session->db, false, &to.store, &err) != PW_OK)
        pw_session_say(session, err.status, "nothing is recorded: %s", err.message);
    else if (to.store)
        send_history(session, to.store);
    while ((event = pw_queue_wait(&session->writes))) {
        pw_error_clear(&err);
        if (handle(session, &to, &triage, event, &err) != PW_OK) {
            pw_session_say(session, err.status, "recording stopped: %s", err.message);
            pw_store_close(to.store); /* the rest of the session is not half recorded */
            to = (struct recording){.store = NULL};
        }
        pthread_mutex_lock(&session->lock);
        session->recorded_run = to.run;
        pthread_mutex_unlock(&session->lock);
        pw_event_free(event);
    }
    pw_store_close(to.store);
    pw_triage_close(triage);
    return NULL;
}

/* ---- the worker ---- */

void pw_session_send_to_store(struct pw_session *session, struct pw_event *event)
{
    if (session->writer_started)
        pw_queue_push(&session->writes, event);
    else
        pw_event_free(event);
}

enum { SHOWN_AHEAD = 64, STORED_AHEAD = 64 }; /* events, of some 9 KB */

void pw_session_pause(struct pw_session *session, const struct pw_job *job)
{
    pw_queue_pause(&session->events, SHOWN_AHEAD, &job->cancel);
    if (session->writer_started)
        pw_queue_pause(&session->writes, STORED_AHEAD, &job->cancel);
}

static void forget_running(struct pw_session *session)
{
    pthread_mutex_lock(&session->lock);
    session->running = NULL;
    pthread_mutex_unlock(&session->lock);
}

void pw_session_end_job(struct pw_session *session, struct pw_event *over)
{
    forget_running(session);
    pw_queue_push(&session->events, over);
}

struct job_run {
    struct pw_session *session;
    const struct pw_job *job;
    struct pw_verify_totals shown; /* of shown signatures and their cases: several may be one where every dim is a
                                      number */
};

void pw_session_set_log(const struct pw_session *session, struct pw_event *event, const char *name, const char *log)
{
    const struct pw_kernel *kernel = name ? pw_kernels_find(session->kernels, name) : NULL;
    const char *language = kernel ? pw_kernel_language(kernel, 0) : NULL;
    const char *source = language ? pw_kernel_source(kernel, language) : NULL;

    if (!source)
        return;
    event->build_log = log && log[0] ? pw_arena_strndup(&event->arena, log, strlen(log)) : "";
    event->build_source = pw_hash128(source, strlen(source));
    event->built = event->build_log != NULL;
}

/* Events speak of concrete signatures; the client and the store know the shown ones. Each shown signature that the
 * concrete one stands for gets its own copy. */
static void relay(struct job_run *run, const struct pw_verify_event *event, pw_event_kind kind)
{
    struct pw_session *session = run->session;

    for (size_t shown = 0; shown < session->inventory->signature_count; shown++) {
        bool selected = !run->job->signatures;

        if (session->to_concrete[shown] != event->signature)
            continue;
        for (size_t i = 0; i < run->job->count && !selected; i++)
            selected = run->job->signatures[i] == shown;
        if (selected && kind == PW_EVENT_SIGNATURE)
            pw_verify_count(&run->shown, event->summary);
        else if (selected && kind == PW_EVENT_CASE)
            pw_verify_count_case(&run->shown, event->result);
        for (int to_store = 0; selected && to_store < 2; to_store++) {
            struct pw_event *copy = pw_event_create(kind);
            bool whole = copy && (kind == PW_EVENT_CASE ? pw_event_set_case(copy, event->result)
                                                        : pw_event_set_summary(copy, event->summary));

            if (!whole) {
                pw_event_free(copy);
                pw_session_say(session, PW_ERR_NO_MEMORY, "out of memory: a result is not shown");
                return;
            }
            copy->result.signature = copy->summary.signature = shown;
            if (kind == PW_EVENT_CASE)
                pw_session_set_log(session, copy, event->result->implementation, event->result->log);
            copy->job = run->job->number;
            copy->done = event->done;
            copy->total = event->total;
            if (to_store)
                pw_session_send_to_store(session, copy);
            else
                pw_queue_push(&session->events, copy);
        }
    }
}

static void on_verify(void *user, const struct pw_verify_event *event)
{
    struct job_run *run = user;

    if (event->kind == PW_VERIFY_CASE) {
        relay(run, event, PW_EVENT_CASE);
        pw_session_pause(run->session, run->job);
    } else if (event->kind == PW_VERIFY_DONE_SIGNATURE) {
        relay(run, event, PW_EVENT_SIGNATURE);
    } else if (event->kind == PW_VERIFY_STARTED) {
        struct pw_event *started = pw_event_create(PW_EVENT_STARTED);

        if (started) {
            started->job = run->job->number;
            started->total = event->total;
            pw_queue_push(&run->session->events, started);
        }
        pw_session_send_to_store(run->session, pw_event_create(PW_EVENT_STARTED));
    }
}

/* The selection in concrete indices, each once. */
static pw_status concrete_selection(const struct pw_session *session, const struct pw_job *job, size_t **out,
                                    size_t *count, struct pw_error *err)
{
    bool *taken = pw_calloc(session->concrete->signature_count + 1, sizeof *taken);
    size_t wanted = job->signatures ? job->count : session->inventory->signature_count;

    *count = 0;
    *out = pw_calloc(wanted + 1, sizeof **out);
    if (!taken || !*out) {
        pw_free(taken);
        return pw_error_memory(err, wanted * sizeof **out);
    }
    for (size_t i = 0; i < wanted; i++) {
        size_t concrete = session->to_concrete[job->signatures ? job->signatures[i] : i];

        if (!taken[concrete])
            (*out)[(*count)++] = concrete;
        taken[concrete] = true;
    }
    pw_free(taken);
    return PW_OK;
}

static void run_job(struct pw_session *session, const struct pw_job *job, struct pw_event *over)
{
    struct job_run run = {.session = session, .job = job};
    struct pw_event *copy;
    struct pw_verify_request request = {.inventory = session->concrete,
                                        .kernels = session->kernels,
                                        .device = session->device,
                                        .protocol = session->protocol,
                                        .seed = session->seed,
                                        .jobs = session->jobs,
                                        .effort = session->effort,
                                        .timing = job->timing,
                                        .cancel = &job->cancel,
                                        .emit = on_verify,
                                        .user = &run};
    struct pw_error err = {0};
    size_t *selection = NULL;
    pw_status status;

    pw_session_doing(session, job, job->bench ? "getting ready to time" : "planning the cases");
    status = concrete_selection(session, job, &selection, &request.signature_count, &err);
    request.signatures = job->case_id ? NULL : selection;
    request.case_id = job->case_id;
    if (status == PW_OK && job->bench)
        pw_session_bench_job(session, job, selection, request.signature_count, over, &err);
    else if (status == PW_OK)
        status = pw_verify_run(&request, &over->totals, &err);
    if (!job->bench) { /* as they are listed */
        run.shown.stopped = over->totals.stopped;
        over->totals = run.shown;
    }
    if (status == PW_OK)
        status = err.status;
    if (status == PW_OK && pw_model_damaged(session->model))
        status =
            pw_error_set(&err, PW_ERR_IO, "%s shrank while it was in use: the results are void", session->model->path);
    if (status != PW_OK)
        pw_event_set_error(over, &err);
    copy = pw_event_create(PW_EVENT_FINISHED);
    if (copy) {
        copy->totals = over->totals;
        copy->failed = over->failed;
        copy->error = over->error;
        copy->run_kind = job->bench ? "bench" : NULL;
        pw_session_send_to_store(session, copy);
    } else {
        pw_session_say(session, PW_ERR_NO_MEMORY, PW_SESSION_NO_END);
    }
    if (session->writer_started)
        pw_queue_drain(&session->writes); /* "finished" means recorded */
    pw_session_end_job(session, over);
    pw_free(selection);
}

static pw_status find_coverage(struct pw_session *session, struct pw_error *err)
{
    size_t count = session->inventory->signature_count;
    struct pw_impl_list *impls = pw_arena_alloc(&session->impl_arena, count + 1, sizeof *impls);
    pw_status status = PW_OK;

    if (!impls)
        return pw_error_memory(err, count * sizeof *impls);
    for (size_t i = 0; i < count && status == PW_OK && !session->closing; i++) {
        const struct pw_signature *signature = &session->concrete->signatures[session->to_concrete[i]];

        status = pw_impl_find(signature->call, session->kernels, session->device, &session->impl_arena, &impls[i], err);
        if (signature->shape_arithmetic)
            pw_impl_keep_on_host(&impls[i], PW_IMPL_SHAPE_ARITHMETIC);
    }
    if (status == PW_OK && !session->closing) /* given up on the way, some would not be lists yet */
        __atomic_store_n(&session->impls, impls, __ATOMIC_RELEASE);
    return status;
}

static pw_status open_device(struct pw_session *session)
{
    struct pw_event *event = session->opened;
    struct pw_device *device = NULL;
    struct pw_error err = {0};
    pw_status status = pw_session_shared_kernels(session->shared, &session->kernels, &err);

    if (status == PW_OK)
        status = pw_device_open(session->target, NULL, &device, &err);
    __atomic_store_n(&session->device, device, __ATOMIC_RELEASE); /* whole, for the writer */
    session->opened = NULL;
    if (status != PW_OK)
        pw_event_set_error(event, &err);
    else if (!pw_device_is_reference(device) && pw_device_note(device)[0])
        pw_session_say(session, PW_OK, "%s", pw_device_note(device));
    pw_queue_push(&session->events, event);
    return status;
}

/* Takes the event. */
static void send_coverage(struct pw_session *session, struct pw_event *event)
{
    struct pw_error err = {0};

    event->kind = PW_EVENT_COVERAGE;
    if (find_coverage(session, &err) != PW_OK)
        pw_event_set_error(event, &err);
    pw_queue_push(&session->events, event);
}

static void reload_kernels(struct pw_session *session, const struct pw_job *job, struct pw_event *over)
{
    struct pw_kernels *kernels = NULL, **former;
    struct pw_error err = {0};
    pw_status status = pw_kernels_load(session->ops_dirs, session->ops_dir_count, &kernels, &err);

    former = status == PW_OK ? pw_reallocarray(session->former, session->former_count + 1, sizeof *former) : NULL;
    if (!former) {
        over->kind = PW_EVENT_MESSAGE;
        over->failed = true;
        pw_error_set(&over->error, status == PW_OK ? PW_ERR_NO_MEMORY : status, "the former kernels stay: %s",
                     status == PW_OK ? "out of memory" : err.message);
        session->unread = job->number;
        session->unread_error = over->error;
        pw_session_end_job(session, over);
        pw_kernels_destroy(kernels);
        return;
    }
    session->former = former;
    session->former[session->former_count++] = session->kernels;
    session->kernels = kernels;
    send_coverage(session, over);
}

/* unread: the kernels that it is about are not there. */
static void refuse_job(struct pw_session *session, struct pw_event *over, bool unread)
{
    struct pw_error err = {0};

    if (unread)
        pw_error_set(&err, session->unread_error.status, "nothing was verified: %s", session->unread_error.message);
    else
        pw_error_set(&err, PW_ERR_TARGET, "the target '%s' could not be used", session->target);
    pw_event_set_error(over, &err);
    pw_session_end_job(session, over);
}

static struct pw_job *next_job(struct pw_session *session)
{
    struct pw_job *job;

    pthread_mutex_lock(&session->lock);
    while (!session->first_job && !session->closing)
        pthread_cond_wait(&session->submitted, &session->lock);
    job = session->closing ? NULL : session->first_job;
    if (job) {
        session->first_job = job->next;
        if (!session->first_job)
            session->last_job = NULL;
        session->running = job;
    }
    pthread_mutex_unlock(&session->lock);
    return job;
}

void *pw_session_worker(void *user)
{
    struct pw_session *session = user;
    pw_status status = open_device(session);
    struct pw_job *job;

    if (status == PW_OK)
        send_coverage(session, session->covered);
    session->covered = status == PW_OK ? NULL : session->covered;
    while ((job = next_job(session))) {
        struct pw_event *over = job->over;
        bool unread = job->behind && job->behind == session->unread;

        job->over = NULL;
        if (status != PW_OK || unread)
            refuse_job(session, over, status == PW_OK);
        else if (job->reload)
            reload_kernels(session, job, over);
        else if (job->peaks)
            pw_session_peaks_job(session, job, over);
        else if (job->suspects)
            pw_session_confirm_job(session, job, over);
        else if (job->run)
            pw_session_run_graph(session, job, over);
        else
            run_job(session, job, over);
        forget_running(session);
        pw_job_free(job);
        pw_mem_give_back();
    }
    return NULL;
}

pw_status pw_session_environment(const struct pw_session *session, struct pw_environment *out, struct pw_error *err)
{
    size_t count = session->inventory->signature_count;
    const struct pw_kernel **used = pw_calloc(count + 1, sizeof *used);
    const struct pw_impl_list *impls = __atomic_load_n(&session->impls, __ATOMIC_ACQUIRE);
    struct pw_environment_request request = {.device = pw_session_device(session),
                                             .target = session->target,
                                             .ops_dirs = session->ops_dirs,
                                             .ops_dir_count = session->ops_dir_count,
                                             .kernels = used};
    pw_status status;

    if (!used)
        return pw_error_memory(err, count * sizeof *used);
    for (size_t i = 0; impls && i < count; i++) {
        const struct pw_impl_list *list = &impls[i];

        if (list->selected >= 0 && list->items[list->selected].kernel)
            used[request.kernel_count++] = list->items[list->selected].kernel;
    }
    status = pw_environment_read(&request, out, err);
    pw_free(used);
    return status;
}
