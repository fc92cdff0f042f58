/* Questions of the client that need the store or files: answered on the writer's thread, in the order of its work. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "job/session_internal.h"
#include "report/baseline_load.h"

pw_status pw_session_baselines_folder(const struct pw_session *session, struct pw_buf *folder, struct pw_error *err)
{
    const struct pw_device *device = pw_session_device(session);

    if (!device && strcmp(session->target, "reference") != 0)
        return pw_error_set(err, PW_ERR_TARGET,
                            "the target '%s' is not open: its kind, and so which baselines are its, is not known",
                            session->target);
    return pw_baseline_folder(PW_BASELINE_DIR, session->graph_id, session->model->path,
                              device && !pw_device_is_reference(device) ? pw_device_info(device)->kind : "reference",
                              folder, err);
}

/* What changes with the pending files, or why that can't be said. */
static pw_status add_diff(const char *folder, struct pw_buf *text, struct pw_error *err)
{
    struct pw_report_diff report = {.before = "latest", .after = "pending"};
    struct pw_baseline_diff *diff = NULL;
    struct pw_error why = {0};
    pw_status status = pw_baseline_diff_create(&diff, err);

    if (status != PW_OK)
        return status;
    pw_buf_puts(text, "\nWhat the pending ones change:\n");
    if (pw_baseline_diff_folder(diff, folder, "latest", "pending", &why) == PW_OK) {
        report.parts = diff->parts;
        report.part_count = diff->part_count;
        pw_report_diff_text(&report, text);
    } else {
        pw_buf_printf(text, "%s\n", why.message);
    }
    pw_baseline_diff_destroy(diff);
    return PW_OK;
}

static pw_status answer_baselines(struct pw_session *session, struct pw_store *store, struct pw_event *event,
                                  struct pw_error *err)
{
    struct pw_baseline_listing listing = {0};
    struct pw_buf folder = {0}, text = {0};
    bool pending = false, approved = false;
    size_t state = 0;
    pw_status status = pw_session_baselines_folder(session, &folder, err);

    (void)store;
    if (status == PW_OK) /* before the files are read: what comes in between counts as unseen */
        status = pw_baseline_pending(pw_buf_text(&folder), &state, err);
    if (status == PW_OK)
        status = pw_baseline_listing_add(&listing, pw_buf_text(&folder), pw_buf_text(&folder), err);
    pw_baseline_listing_finish(&listing);
    for (size_t i = 0; i < listing.count; i++) {
        pending = pending || (listing.entries[i].baseline && !listing.entries[i].baseline->number);
        approved = approved || listing.entries[i].latest;
    }
    if (status == PW_OK && listing.count)
        pw_report_baselines_text(listing.entries, listing.count, &text);
    if (status == PW_OK && pending && approved)
        status = add_diff(pw_buf_text(&folder), &text, err);
    event->about = state;
    if (status == PW_OK)
        event->text = text.failed ? NULL : pw_arena_strndup(&event->arena, pw_buf_text(&text), text.size);
    if (status == PW_OK && !event->text)
        status = pw_error_memory(err, text.size);
    pw_baseline_listing_clear(&listing);
    pw_buf_clear(&folder);
    pw_buf_clear(&text);
    return status;
}

static pw_status answer_approve(struct pw_session *session, struct pw_store *store, struct pw_event *event,
                                struct pw_error *err)
{
    char now[32];
    struct pw_baseline_approval approval = {.by = event->by,
                                            .message = event->text,
                                            .at = pw_clock_iso(pw_clock_wall_ms(), now, sizeof now),
                                            .seen = event->about};
    struct pw_buf folder = {0}, paths = {0};
    size_t approved = 0;
    int number = 0;
    pw_status status = pw_session_baselines_folder(session, &folder, err);

    if (status == PW_OK)
        status = pw_baseline_approve(pw_buf_text(&folder), &approval, &number, &approved, &paths, err);
    if (status == PW_OK)
        pw_session_say(session, PW_OK, "approved %zu baseline%s as number %d", approved, approved == 1 ? "" : "s",
                       number);
    pw_buf_clear(&folder);
    pw_buf_clear(&paths);
    return status == PW_OK ? answer_baselines(session, store, event, err) : status;
}

typedef pw_status answer(struct pw_session *session, struct pw_store *store, struct pw_event *event,
                         struct pw_error *err);
static answer *const answers[PW_ASK_COUNT] = {[PW_ASK_HISTORY] = pw_session_answer_history,
                                              [PW_ASK_GRAPH] = pw_session_answer_graph,
                                              [PW_ASK_ENVIRONMENT] = pw_session_answer_environment,
                                              [PW_ASK_BASELINES] = answer_baselines,
                                              [PW_ASK_APPROVE] = answer_approve,
                                              [PW_ASK_COMPARE] = pw_session_answer_compare,
                                              [PW_ASK_NODES] = pw_session_answer_nodes};

void pw_session_answer(struct pw_session *session, struct pw_store *store, struct pw_event *question)
{
    struct pw_event *event = question->reply;
    struct pw_error err = {0};

    question->reply = NULL;
    event->ask = question->ask;
    event->about = question->about;
    event->text = question->text; /* the question outlives its answer's making */
    event->by = question->by;
    if (answers[question->ask](session, store, event, &err) != PW_OK)
        pw_event_set_error(event, &err);
    if (event->text == question->text)
        event->text = NULL;
    event->by = NULL;
    pw_queue_push(&session->events, event);
}

pw_status pw_session_ask(struct pw_session *session, pw_ask ask, size_t about, const char *text, const char *by,
                         struct pw_error *err)
{
    struct pw_event *event = pw_event_create(PW_EVENT_ANSWER);

    if (!event)
        return pw_error_memory(err, sizeof *event);
    if (!session->writer_started) {
        pw_event_free(event);
        return pw_error_set(err, PW_ERR_IO, "this session keeps no store");
    }
    event->ask = ask;
    event->about = about;
    event->reply = pw_event_create(PW_EVENT_ANSWER);
    event->text = pw_arena_strndup(&event->arena, text ? text : "", text ? strlen(text) : 0);
    event->by = pw_arena_strndup(&event->arena, by ? by : "", by ? strlen(by) : 0);
    if (!event->text || !event->by || !event->reply) {
        pw_event_free(event);
        return pw_error_memory(err, 64);
    }
    pw_queue_push(&session->writes, event);
    return PW_OK;
}

/* Opening a pipe that nobody reads would hold up whatever is to be recorded, and the end of the session. */
static pw_status refuse_special(const char *path, struct pw_error *err)
{
    struct stat facts;

    if (stat(path, &facts) != 0 || S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode))
        return PW_OK;
    return pw_error_set(err, PW_ERR_IO, "'%s' is a device, pipe or socket, expected a regular file", path);
}

void pw_session_write_file(struct pw_session *session, const struct pw_event *event)
{
    struct pw_error err = {0};
    pw_status status = refuse_special(event->by, &err);

    if (status == PW_OK)
        status = pw_file_write(event->by, event->text, event->text_size, &err);
    if (status != PW_OK)
        pw_session_say(session, status, "%s", err.message);
    else if (!event->about)
        pw_session_say(session, PW_OK, "wrote %zu bytes to %s", event->text_size, event->by);
}

pw_status pw_session_save(struct pw_session *session, const char *path, const char *text, size_t size, bool quiet,
                          struct pw_error *err)
{
    struct pw_event *event = pw_event_create(PW_EVENT_SAVE);

    if (!event)
        return pw_error_memory(err, sizeof *event);
    event->by = pw_arena_strndup(&event->arena, path, strlen(path));
    event->text = pw_arena_strndup(&event->arena, text, size);
    event->text_size = size;
    event->about = quiet;
    if (!event->by || !event->text || !session->writer_started) {
        pw_event_free(event);
        return session->writer_started ? pw_error_memory(err, size)
                                       : pw_error_set(err, PW_ERR_IO, "the thread that writes files does not run");
    }
    pw_queue_push(&session->writes, event);
    return PW_OK;
}
