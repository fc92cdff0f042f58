/* The device: its peaks on request, and the answer that says what it is, what it can do and what it belongs to. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "bench/quiet.h"
#include "job/session_internal.h"
#include "report/env.h"

#define LOCK_FILE "portwright.lock"
#define LOCK_WAIT_NS INT64_C(60000000000)
#define IDLE_WAIT_NS INT64_C(500000000)

/* ---- peaks, on the worker ---- */

void pw_session_keep_peaks(struct pw_session *session, const struct pw_peaks *peaks)
{
    if (!peaks->count)
        return;
    pthread_mutex_lock(&session->lock);
    session->peaks = *peaks;
    pthread_mutex_unlock(&session->lock);
}

void pw_session_peaks_job(struct pw_session *session, const struct pw_job *job, struct pw_event *over)
{
    struct pw_peaks peaks = {0};
    struct pw_error err = {0};
    struct pw_quiet quiet;
    pw_status status;

    over->kind = PW_EVENT_PEAKS;
    pw_quiet_begin(&quiet, NULL, LOCK_WAIT_NS, &job->cancel, NULL); /* without the lock they are disturbed, not wrong */
    pw_quiet_idle(&quiet, IDLE_WAIT_NS);
    status = pw_device_is_reference(session->device)
                 ? pw_error_set(&err, PW_ERR_UNSUPPORTED, "the reference runs on this machine's CPU: it has no peaks")
                 : pw_peaks_measure(session->device, 0, &job->cancel, &peaks, &err);
    pw_quiet_end(&quiet);
    if (status == PW_OK)
        pw_session_keep_peaks(session, &peaks);
    else
        pw_event_set_error(over, &err);
    pw_session_end_job(session, over);
}

pw_status pw_session_peaks(struct pw_session *session, struct pw_error *err)
{
    struct pw_job *job = pw_job_create(err);

    if (!job)
        return PW_ERR_NO_MEMORY;
    job->peaks = true;
    pw_session_submit(session, job, NULL);
    return PW_OK;
}

/* ---- the answer, on the writer ---- */

/* A part of the text: its head and its lines. */
static void add_part(struct pw_buf *text, const char *head, const struct pw_buf *lines)
{
    pw_buf_printf(text, "@%s\n", head);
    for (const char *line = pw_buf_text(lines); *line;) {
        size_t length = strcspn(line, "\n"), blanks = strspn(line, " ");

        blanks = blanks > 2 ? 2 : blanks;
        if (length > blanks)
            pw_buf_printf(text, "-%.*s\n", (int)(length - blanks), line + blanks);
        line += length + (line[length] == '\n');
    }
}

/* What OpenCL lists does not change while we run: asked once, since that starts a worker. */
static void add_platforms(struct pw_session *session, struct pw_buf *text)
{
    struct pw_buf list = {0};
    struct pw_error err = {0};

    if (!session->devices) {
        if (pw_device_list(&list, &err) != PW_OK)
            pw_buf_printf(&list, "%s", err.message);
        else if (!list.size)
            pw_buf_puts(&list, "none (on Debian: apt-get install pocl-opencl-icd for the CPU)");
        session->devices = pw_strdup(pw_buf_text(&list));
        pw_buf_clear(&list);
    }
    pw_buf_puts(&list, session->devices ? session->devices : "");
    add_part(text, "Platforms", &list);
    pw_buf_clear(&list);
}

static void add_parts(struct pw_session *session, struct pw_buf *text)
{
    const struct pw_device *device = pw_session_device(session); /* NULL: not open yet, or not at all */
    bool reference = device && pw_device_is_reference(device);
    struct pw_report_env_target target = {.spec = session->target};
    struct pw_report_env_isolation isolation;
    struct pw_buf part = {0};

    pthread_mutex_lock(&session->lock);
    target.peaks = session->peaks;
    pthread_mutex_unlock(&session->lock);
    if (device && !reference) {
        target.info = pw_device_info(device);
        target.library = pw_device_library(device);
        target.workers = pw_device_workers(device);
    }
    if (device)
        pw_report_env_target_text(&target, &part);
    else
        pw_buf_puts(&part, "  not open\n");
    if (device && !target.peaks.count && !reference)
        pw_buf_puts(&part, "  peaks         not measured in this session: p measures them, a benchmark does too\n");
    add_part(text, "Target", &part);
    pw_buf_clear(&part);
    add_platforms(session, text);
    pw_report_env_isolation_read(&isolation);
    pw_report_env_isolation_text(&isolation, &part);
    add_part(text, "Isolation of workers", &part);
    pw_buf_clear(&part);
}

pw_status pw_session_answer_environment(struct pw_session *session, struct pw_store *store, struct pw_event *event,
                                        struct pw_error *err)
{
    struct pw_environment environment = {0};
    struct pw_buf text = {0};
    bool matches = true;
    pw_status status = pw_session_environment(session, &environment, err);

    (void)store;
    for (size_t i = 0; status == PW_OK && i < environment.count; i++) {
        const struct pw_environment_field *field = &environment.fields[i];

        pw_buf_printf(&text, "%c%s\t%s\n", field->scope & PW_ENVIRONMENT_TIMING ? '*' : ' ', field->name, field->value);
    }
    if (status == PW_OK) {
        pw_buf_printf(&text, " id\t%s\n", environment.id);
        if (!pw_file_exists(LOCK_FILE)) {
            pw_buf_puts(&text, "=no " LOCK_FILE " pins it: portwright env --lock writes one\n");
        } else {
            struct pw_buf differences = {0};
            struct pw_error why = {0};
            pw_status lock = pw_lock_check(LOCK_FILE, &environment, &matches, &differences, &why);

            if (lock != PW_OK)
                pw_buf_printf(&text, "!%s\n", why.message);
            else if (matches)
                pw_buf_puts(&text, "=as " LOCK_FILE " pins it\n");
            else
                for (const char *line = pw_buf_text(&differences); *line;) {
                    size_t length = strcspn(line, "\n");

                    pw_buf_printf(&text, "!%.*s\n", (int)length, line);
                    line += length + (line[length] == '\n');
                }
            pw_buf_clear(&differences);
        }
    }
    if (status == PW_OK)
        add_parts(session, &text);
    if (status == PW_OK)
        event->text = text.failed ? NULL : pw_arena_strndup(&event->arena, pw_buf_text(&text), text.size);
    if (status == PW_OK && !event->text)
        status = pw_error_memory(err, text.size);
    pw_buf_clear(&text);
    pw_environment_clear(&environment);
    return status;
}
