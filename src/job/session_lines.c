/* A file of one line a name (the saved views), which several workbenches change: on the writer's thread. */
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "baseline/folder.h"
#include "job/session_internal.h"

#define MAX_LINES_BYTES ((size_t)64 << 10)

static bool begins_with(const char *line, size_t length, const char *name)
{
    size_t size = strlen(name);

    return length > size && line[size] == '\t' && !strncasecmp(line, name, size);
}

void pw_session_merge_line(const char *text, const char *name, const char *line, struct pw_buf *out)
{
    bool placed = !line[0];

    while (*text) {
        size_t length = strcspn(text, "\n"), whole = length + (text[length] == '\n');

        if (!begins_with(text, length, name)) {
            pw_buf_append(out, text, whole);
            if (whole == length) /* the last line of a file may lack it */
                pw_buf_putc(out, '\n');
        } else if (!placed) {
            pw_buf_printf(out, "%s\n", line);
            placed = true;
        }
        text += whole;
    }
    if (!placed)
        pw_buf_printf(out, "%s\n", line);
}

/* What stands there now, with the change; into `text`. *after: of what is there then, before others may write again. */
static pw_status change(const struct pw_event *event, struct pw_buf *text, struct pw_file_identity *after,
                        struct pw_error *err)
{
    struct pw_buf folder = {0}, old = {0};
    int lock = -1;
    pw_status status;

    pw_file_dirname(&folder, event->by);
    status = folder.failed ? pw_error_memory(err, strlen(event->by)) : pw_folder_lock(pw_buf_text(&folder), &lock, err);
    if (status == PW_OK && pw_file_exists(event->by))
        status = pw_file_read(event->by, MAX_LINES_BYTES, &old, err);
    if (status == PW_OK && memchr(pw_buf_text(&old), '\0', old.size))
        status = pw_error_set(err, PW_ERR_FORMAT, "'%s': expected lines of text, found a byte 0", event->by);
    if (status == PW_OK) {
        pw_session_merge_line(pw_buf_text(&old), event->name, event->text, text);
        status = text->failed ? pw_error_memory(err, text->size) : PW_OK;
    }
    if (status == PW_OK && text->size > MAX_LINES_BYTES)
        status = pw_error_set(err, PW_ERR_USAGE, "'%s' would be larger than %zu bytes", event->by, MAX_LINES_BYTES);
    if (status == PW_OK && (text->size != old.size || memcmp(pw_buf_text(text), pw_buf_text(&old), old.size) != 0))
        status = pw_file_write(event->by, pw_buf_text(text), text->size, err);
    *after = pw_file_identify(event->by);
    pw_folder_unlock(lock);
    pw_buf_clear(&folder);
    pw_buf_clear(&old);
    return status;
}

void pw_session_lines_event(struct pw_session *session, struct pw_event *event)
{
    struct pw_event *reply = event->reply;
    struct pw_file_identity now = pw_file_identify(event->by);
    struct pw_buf text = {0};
    struct pw_error err = {0};
    pw_status status = PW_OK;

    event->reply = NULL;
    if (event->name) {
        status = change(event, &text, &now, &err);
    } else if (session->lines_known && pw_file_same(&now, &session->lines_seen)) {
        goto done;
    } else if (now.exists) {
        status = pw_file_read(event->by, MAX_LINES_BYTES, &text, &err);
    }
    session->lines_known = true;
    session->lines_seen = now; /* also of what can't be read: it is said once */
    reply->about = event->name != NULL;
    if (status == PW_OK) {
        reply->text = pw_arena_strndup(&reply->arena, pw_buf_text(&text), text.size);
        if (!reply->text)
            status = pw_error_memory(&err, text.size);
    }
    if (status != PW_OK)
        pw_event_set_error(reply, &err);
    pw_queue_push(&session->events, reply);
    reply = NULL;
done:
    pw_event_free(reply);
    pw_buf_clear(&text);
}

pw_status pw_session_line(struct pw_session *session, const char *path, const char *name, const char *line,
                          struct pw_error *err)
{
    struct pw_event *event = pw_event_create(PW_EVENT_LINES);
    bool whole = false;

    if (event) {
        event->by = pw_arena_strndup(&event->arena, path, strlen(path));
        event->name = name ? pw_arena_strndup(&event->arena, name, strlen(name)) : NULL;
        event->text = name ? pw_arena_strndup(&event->arena, line ? line : "", line ? strlen(line) : 0) : NULL;
        event->reply = pw_event_create(PW_EVENT_LINES);
        whole = event->by && event->reply && (!name || (event->name && event->text));
    }
    if (!whole || !session->writer_started) {
        pw_event_free(event);
        return whole ? pw_error_set(err, PW_ERR_IO, "the thread that writes files does not run")
                     : pw_error_memory(err, strlen(path));
    }
    pw_queue_push(&session->writes, event);
    return PW_OK;
}
