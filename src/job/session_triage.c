/* The triage file of the session's graph, on the writer's thread: decisions are saved at once, while a verify runs. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "baseline/folder.h"
#include "baseline/triage.h"
#include "job/session_internal.h"

#define TRIAGE_ROOT "baselines"

static pw_status copy_entries(const struct pw_triage_entry *entries, size_t count, struct pw_event *event)
{
    struct pw_triage_entry *copy = pw_arena_alloc(&event->arena, count + 1, sizeof *copy);

    if (!copy)
        return PW_ERR_NO_MEMORY;
    if (count)
        memcpy(copy, entries, count * sizeof *copy);
    event->triage = copy;
    event->triage_count = count;
    return PW_OK;
}

/* reply: to a decision, so that the client knows how many of its decisions these entries have; NULL: to none. */
static void send_entries(struct pw_session *session, const struct pw_triage *triage, struct pw_event *reply)
{
    size_t count = pw_triage_count(triage);
    struct pw_event *event = reply ? reply : pw_event_create(PW_EVENT_TRIAGE);
    struct pw_triage_entry *copy = event ? pw_arena_alloc(&event->arena, count + 1, sizeof *copy) : NULL;
    struct pw_error err = {0};

    for (size_t i = 0; copy && i < count; i++)
        copy[i] = *pw_triage_at(triage, i);
    if (copy) {
        event->triage = copy;
        event->triage_count = count;
    } else if (reply) { /* the client waits for it before it takes what others decided */
        pw_error_memory(&err, count * sizeof *copy);
        pw_event_set_error(event, &err);
    } else {
        pw_event_free(event);
        return;
    }
    event->about = reply != NULL;
    pw_queue_push(&session->events, event);
}

/* The answer has no entries: what was not kept is not shown as if it were. */
static void refuse(struct pw_session *session, struct pw_event *reply)
{
    pw_session_say(session, PW_ERR_IO, "the decision was not kept: the triage file could not be read");
    reply->about = true;
    pw_queue_push(&session->events, reply);
}

/* Why the file cannot be read or written: looks find the same every other second, and say it once. */
static void say_once(struct pw_session *session, pw_status status, const char *prefix, const char *why)
{
    if (strcmp(session->triage_said, why) != 0)
        pw_session_say(session, status, "%s%s", prefix, why);
    snprintf(session->triage_said, sizeof session->triage_said, "%s", why);
}

static void say_conflicts(struct pw_session *session, const struct pw_triage *triage)
{
    for (size_t i = 0; i < pw_triage_conflict_count(triage); i++) {
        const struct pw_triage_conflict *conflict = pw_triage_conflict_at(triage, i);

        pw_session_say(session, PW_ERR_USAGE,
                       "%s: somebody else changed the %s of %s to '%s' meanwhile; that was kept, yours was '%s'",
                       pw_triage_path(triage), conflict->field, conflict->id, conflict->theirs, conflict->ours);
    }
}

void pw_session_triage_open(struct pw_session *session, struct pw_triage **triage)
{
    const char *slash = strrchr(session->model->path, '/');
    const char *name = slash ? slash + 1 : session->model->path; /* the file is shared: no paths of this machine */
    struct pw_buf path = {0};
    struct pw_error err = {0};
    pw_status status = pw_folder_graph(TRIAGE_ROOT, session->graph_id, session->model->path, &path, &err);

    if (status == PW_OK && !path.failed)
        pw_folder_tidy(pw_buf_text(&path));
    pw_buf_puts(&path, "/triage.yaml");
    if (status == PW_OK)
        status = path.failed ? pw_error_memory(&err, path.size)
                             : pw_triage_open(pw_buf_text(&path), session->graph_id, name, triage, &err);
    if (status == PW_OK)
        send_entries(session, *triage, NULL);
    else
        say_once(session, status, "decisions can't be kept: ", err.message);
    pw_buf_clear(&path);
}

/* A decision, or (without entries) a look whether somebody else changed the file, or has made it readable again. */
void pw_session_triage_event(struct pw_session *session, struct pw_triage **opened, struct pw_event *event)
{
    struct pw_event *reply = event->reply;
    struct pw_triage *triage;
    struct pw_error err = {0};
    pw_status status = PW_OK;
    bool decided = event->triage_count > 0, changed = false;

    event->reply = NULL;
    if (!*opened && session->triage)
        pw_session_triage_open(session, opened);
    triage = *opened;
    if (!triage) {
        if (reply)
            refuse(session, reply);
        return;
    }
    if (!decided && !pw_triage_dirty(triage) && !pw_triage_stale(triage))
        return;
    for (size_t i = 0; i < event->triage_count && status == PW_OK; i++)
        status = pw_triage_set(triage, &event->triage[i], &err);
    if (pw_triage_dirty(triage) && status == PW_OK) { /* also what could not be saved then */
        status = pw_triage_save(triage, &err);
        changed = status == PW_OK; /* with what others wrote */
    } else if (status == PW_OK) {
        status = pw_triage_refresh(triage, &changed, &err);
    }
    say_conflicts(session, triage);
    if (status != PW_OK && decided)
        pw_session_say(session, status, "%s", err.message);
    else if (status != PW_OK)
        say_once(session, status, "", err.message);
    else
        session->triage_said[0] = '\0';
    if (changed || decided) /* whoever decided waits for it */
        send_entries(session, triage, reply);
}

pw_status pw_session_triage(struct pw_session *session, const struct pw_triage_entry *entries, size_t count,
                            struct pw_error *err)
{
    struct pw_event *event = pw_event_create(PW_EVENT_TRIAGE);

    if (event && count)
        event->reply = pw_event_create(PW_EVENT_TRIAGE);
    if (!event || (count && (!event->reply || copy_entries(entries, count, event) != PW_OK))) {
        pw_event_free(event);
        return pw_error_memory(err, count * sizeof *entries);
    }
    if (!session->writer_started) {
        pw_event_free(event);
        return pw_error_set(err, PW_ERR_IO, "the thread that keeps decisions does not run");
    }
    pw_queue_push(&session->writes, event);
    return PW_OK;
}
