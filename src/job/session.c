/* Opening and closing a session, and what the client may ask of it. */
#include <stdio.h>
#include <string.h>

#include "job/session_internal.h"
#include "store/endtoend.h"

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
    session->opened = pw_event_create(PW_EVENT_DEVICE);
    session->covered = pw_event_create(PW_EVENT_COVERAGE);
    if (!session->target || !session->db || !session->opened || !session->covered)
        return pw_error_memory(err, sizeof *session);
    return PW_OK;
}

/* Where all of a session's files look for it. */
static void take_shared(struct pw_session *session)
{
    const struct pw_session_shared *shared = session->shared;

    session->model = shared->model;
    session->protocol = shared->protocol;
    session->inventory = shared->inventory;
    session->concrete_inference = shared->concrete_inference;
    session->concrete = shared->concrete;
    session->to_concrete = shared->to_concrete;
    session->bindings_text = shared->bindings_text;
    session->graph_id = shared->graph_id;
    session->ops_dirs = shared->ops_dirs;
    session->ops_dir_count = shared->ops_dir_count;
    session->inputs = shared->has_inputs ? &shared->inputs : NULL;
}

static pw_status start_threads(struct pw_session *session, bool asked, struct pw_error *err)
{
    if (session->db[0] || session->triage || asked) {
        if (pthread_create(&session->writer, NULL, pw_session_writer, session) != 0)
            return pw_error_set(err, PW_ERR_INTERNAL, "no thread for the store");
        session->writer_started = true;
    }
    if (pthread_create(&session->worker, NULL, pw_session_worker, session) != 0)
        return pw_error_set(err, PW_ERR_INTERNAL, "no thread for jobs");
    session->worker_started = true;
    return PW_OK;
}

/* shared: with another session, or NULL: the graph is read. */
static pw_status open_session(const struct pw_session_options *options, struct pw_session_shared *shared,
                              struct pw_session **out, struct pw_error *err)
{
    struct pw_session *session = pw_calloc(1, sizeof *session);
    pw_status status;

    if (!session)
        return pw_error_memory(err, sizeof *session);
    pthread_mutex_init(&session->lock, NULL);
    pthread_cond_init(&session->submitted, NULL);
    session->next_job = 1;
    status = pw_queue_init(&session->writes, false, err); /* cannot fail: closing finds both queues made */
    if (status == PW_OK)
        status = pw_queue_init(&session->events, true, err);
    if (status == PW_OK)
        status = copy_options(session, options, err);
    if (status == PW_OK && shared)
        session->shared = pw_session_shared_join(shared);
    else if (status == PW_OK)
        status = pw_session_shared_read(options, &session->shared, err);
    if (status == PW_OK) {
        take_shared(session);
        status = start_threads(session, options->asked, err);
    }
    if (status == PW_OK) {
        if (session->shared->binding_count != session->shared->given_count)
            pw_session_say(session, PW_OK, "dims not bound are taken as %s for measuring; bind them with --dim",
                           session->bindings_text);
        *out = session;
        session = NULL;
    }
    pw_session_close(session);
    return status;
}

pw_status pw_session_open(const struct pw_session_options *options, struct pw_session **out, struct pw_error *err)
{
    return open_session(options, NULL, out, err);
}

pw_status pw_session_open_beside(const struct pw_session *other, const struct pw_session_options *options,
                                 struct pw_session **out, struct pw_error *err)
{
    return open_session(options, other->shared, out, err);
}

struct pw_job *pw_job_create(struct pw_error *err)
{
    struct pw_job *job = pw_calloc(1, sizeof *job);

    if (job)
        job->over = pw_event_create(PW_EVENT_FINISHED);
    if (job && job->over)
        return job;
    pw_job_free(job);
    pw_error_memory(err, sizeof *job + sizeof *job->over);
    return NULL;
}

void pw_job_free(struct pw_job *job)
{
    if (!job)
        return;
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
    pw_event_free(job->over);
    pw_free(job);
}

/* But those that other sessions may use: whoever has kernels had them from there first. */
static void free_kernels(const struct pw_session *session, struct pw_kernels *kernels)
{
    if (kernels && kernels != session->shared->kernels)
        pw_kernels_destroy(kernels);
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
    pw_store_node_list_clear(&session->recorded);
    pw_free(session->devices);
    pw_event_free(session->opened);
    pw_event_free(session->covered);
    pw_device_close(session->device);
    free_kernels(session, session->kernels);
    for (size_t i = 0; i < session->former_count; i++)
        free_kernels(session, session->former[i]);
    pw_free(session->former);
    pw_arena_clear(&session->impl_arena);
    pw_queue_clear(&session->events);
    pw_queue_clear(&session->writes);
    pw_session_shared_release(session->shared);
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

const char *pw_session_given(const struct pw_session *session)
{
    return session->shared->given_text;
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
    job->number = job->over->job = session->next_job++;
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

static struct pw_job *verify_job(const size_t *signatures, size_t count, bool timing, struct pw_error *err)
{
    struct pw_job *job = pw_job_create(err);

    if (!job || (signatures && !(job->signatures = pw_calloc(count, sizeof *signatures)))) {
        pw_job_free(job);
        pw_error_memory(err, count * sizeof *signatures);
        return NULL;
    }
    if (signatures)
        memcpy(job->signatures, signatures, count * sizeof *signatures);
    job->count = count;
    job->timing = timing;
    return job;
}

pw_status pw_session_verify(struct pw_session *session, const size_t *signatures, size_t count, bool timing,
                            int *number, struct pw_error *err)
{
    struct pw_job *job = NULL;

    if (signatures && !count)
        return pw_error_set(err, PW_ERR_USAGE, "nothing is selected");
    job = verify_job(signatures, count, timing, err);
    if (!job)
        return PW_ERR_NO_MEMORY;
    pw_session_submit(session, job, number);
    return PW_OK;
}

pw_status pw_session_verify_case(struct pw_session *session, const char *case_id, struct pw_error *err)
{
    struct pw_job *job = pw_job_create(err);

    if (!job || !(job->case_id = pw_strdup(case_id))) {
        pw_job_free(job);
        return pw_error_memory(err, sizeof *job);
    }
    pw_session_submit(session, job, NULL);
    return PW_OK;
}

pw_status pw_session_reload(struct pw_session *session, const size_t *signatures, size_t count, struct pw_error *err)
{
    struct pw_job *job = pw_job_create(err), *behind = job && count ? verify_job(signatures, count, true, err) : NULL;

    if (!job || (count && !behind)) {
        pw_job_free(job);
        return PW_ERR_NO_MEMORY;
    }
    job->reload = true;
    pw_session_submit(session, job, behind ? &behind->behind : NULL);
    if (behind)
        pw_session_submit(session, behind, NULL);
    return PW_OK;
}

/* Whoever waits for the job's end hears of it. */
static void drop(struct pw_session *session, struct pw_job *job)
{
    struct pw_error err = {0};

    pw_error_set(&err, PW_ERR_CANCELLED, "cancelled before it began");
    pw_event_set_error(job->over, &err);
    pw_queue_push(&session->events, job->over);
    job->over = NULL;
    pw_job_free(job);
}

bool pw_session_cancel(struct pw_session *session)
{
    struct pw_job *job;
    bool any;

    pthread_mutex_lock(&session->lock);
    any = session->running && !session->running->reload;
    if (session->running)
        session->running->cancel = true;
    job = session->first_job;
    session->first_job = session->last_job = NULL;
    for (struct pw_job *next; job; job = next) {
        next = job->next;
        job->next = NULL;
        if (!job->reload) {
            any = true;
            drop(session, job);
            continue;
        }
        if (session->last_job) /* what was edited is read, or a later job would run what was there before */
            session->last_job->next = job;
        else
            session->first_job = job;
        session->last_job = job;
    }
    pthread_mutex_unlock(&session->lock);
    return any;
}
