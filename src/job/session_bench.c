/* The session's benchmark job: runs on the worker's thread, its figures go to the client and to the store. */
#include <string.h>

#include "job/session_internal.h"
#include "store/bench.h"

struct bench_run {
    struct pw_session *session;
    const struct pw_job *job;
    struct pw_bench_report *report;
};

/* Does the job ask for this shown signature? */
static bool selected(const struct pw_job *job, size_t shown)
{
    if (!job->signatures)
        return true;
    for (size_t i = 0; i < job->count; i++)
        if (job->signatures[i] == shown)
            return true;
    return false;
}

static void send(struct bench_run *run, const struct pw_bench_event *event, size_t shown, bool final, bool to_store)
{
    struct pw_event *copy = pw_event_create(PW_EVENT_BENCH);
    const struct pw_impl_list *impls = event->figure->implementations;

    if (!copy || !pw_event_set_figure(copy, event->figure, to_store)) {
        pw_event_free(copy);
        pw_session_say(run->session, PW_ERR_NO_MEMORY, "out of memory: a figure is not shown");
        return;
    }
    copy->figure.signature = shown;
    if (impls && impls->selected >= 0)
        pw_session_set_log(run->session, copy, impls->items[impls->selected].name,
                           event->figure->target_raw ? pw_buf_text(&event->figure->target_raw->log) : "");
    copy->figure_final = final;
    copy->cold = run->report->cold;
    copy->launch_ns = run->report->launch_ns;
    copy->job = run->job->number;
    copy->done = event->done;
    copy->total = event->total;
    if (to_store)
        pw_queue_push(&run->session->writes, copy);
    else
        pw_queue_push(&run->session->events, copy);
}

static void relay_figure(struct bench_run *run, const struct pw_bench_event *event)
{
    struct pw_session *session = run->session;
    bool final = event->kind == PW_BENCH_RESULT;

    for (size_t shown = 0; shown < session->inventory->signature_count; shown++) {
        if (session->to_concrete[shown] != event->figure->signature || !selected(run->job, shown))
            continue;
        send(run, event, shown, final, false);
        if (final && session->writer_started)
            send(run, event, shown, final, true);
    }
}

static void on_bench(void *user, const struct pw_bench_event *event)
{
    struct bench_run *run = user;
    struct pw_event *started;

    if (event->figure) {
        relay_figure(run, event);
        pw_session_pause(run->session, run->job);
    }
    if (event->kind != PW_BENCH_STARTED)
        return;
    for (int to_store = 0; to_store < 1 + run->session->writer_started; to_store++) {
        started = pw_event_create(PW_EVENT_STARTED);
        if (!started)
            continue;
        started->job = run->job->number;
        started->total = event->total;
        started->run_kind = "bench";
        pw_queue_push(to_store ? &run->session->writes : &run->session->events, started);
    }
}

/* The client knows the shown signatures: each figure gets the first of those that it stands for. */
static void name_shown(const struct bench_run *run)
{
    const struct pw_session *session = run->session;

    for (size_t i = 0; i < run->report->count; i++) {
        size_t concrete = run->report->figures[i].signature;

        for (size_t shown = 0; shown < session->inventory->signature_count; shown++)
            if (session->to_concrete[shown] == concrete && selected(run->job, shown)) {
                run->report->figures[i].signature = shown;
                break;
            }
    }
}

void pw_session_bench_job(struct pw_session *session, const struct pw_job *job, const size_t *selection, size_t count,
                          struct pw_event *finished, struct pw_error *err)
{
    const struct pw_session_bench *wanted = &job->bench_options;
    struct pw_bench_report *report = pw_calloc(1, sizeof *report);
    struct bench_run run = {.session = session, .job = job, .report = report};
    struct pw_bench_request request = {.inventory = session->concrete,
                                       .kernels = session->kernels,
                                       .device = session->device,
                                       .protocol = session->protocol,
                                       .signatures = selection,
                                       .signature_count = count,
                                       .cold = wanted->cold,
                                       .time_ns = wanted->time_ns,
                                       .threads = wanted->threads,
                                       .no_peaks = wanted->no_peaks,
                                       .lock = job->lock,
                                       .lock_wait_ns = wanted->lock_wait_ns,
                                       .seed = session->seed,
                                       .cancel = &job->cancel,
                                       .emit = on_bench,
                                       .user = &run};

    if (!report) {
        pw_error_memory(err, sizeof *report);
        return;
    }
    pw_bench_run(&request, report, err);
    if (!report->peaks_declared)
        pw_session_keep_peaks(session, &report->peaks);
    name_shown(&run);
    finished->bench = report;
}

pw_status pw_session_bench(struct pw_session *session, const size_t *signatures, size_t count,
                           const struct pw_session_bench *options, int *number, struct pw_error *err)
{
    struct pw_job *job = pw_job_create(err);

    if (signatures && !count) {
        pw_job_free(job);
        return pw_error_set(err, PW_ERR_USAGE, "nothing is selected");
    }
    if (!job || (signatures && !(job->signatures = pw_calloc(count, sizeof *signatures))) ||
        (options->lock && !(job->lock = pw_strdup(options->lock)))) {
        pw_job_free(job);
        return pw_error_memory(err, count * sizeof *signatures);
    }
    if (signatures)
        memcpy(job->signatures, signatures, count * sizeof *signatures);
    job->count = count;
    job->bench = true;
    job->bench_options = *options;
    job->bench_options.lock = NULL;
    pw_session_submit(session, job, number);
    return PW_OK;
}
