/* Questions of the client that need the store or files: answered on the writer's thread, in the order of its work. */
#include <string.h>

#include "base/file.h"
#include "job/session_internal.h"

#define LOCK_FILE "portwright.lock"

static pw_status answer_history(struct pw_session *session, struct pw_store *store, struct pw_event *event,
                                struct pw_error *err)
{
    struct pw_store_signature_row *rows = NULL;
    pw_status status;

    if (!store)
        return pw_error_set(err, PW_ERR_IO, "nothing is recorded in this session, so there is no history");
    status = pw_store_history(store, session->inventory->signatures[event->about].id, session->target, &event->arena,
                              &rows, &event->row_count, err);
    event->rows = rows;
    return status;
}

static pw_status answer_environment(struct pw_session *session, struct pw_store *store, struct pw_event *event,
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
        event->text = text.failed ? NULL : pw_arena_strndup(&event->arena, pw_buf_text(&text), text.size);
    if (status == PW_OK && !event->text)
        status = pw_error_memory(err, text.size);
    pw_buf_clear(&text);
    pw_environment_clear(&environment);
    return status;
}

typedef pw_status answer(struct pw_session *session, struct pw_store *store, struct pw_event *event,
                         struct pw_error *err);
static answer *const answers[PW_ASK_COUNT] = {
    [PW_ASK_HISTORY] = answer_history, [PW_ASK_ENVIRONMENT] = answer_environment};

void pw_session_answer(struct pw_session *session, struct pw_store *store, const struct pw_event *question)
{
    struct pw_event *event = pw_event_create(PW_EVENT_ANSWER);
    struct pw_error err = {0};

    if (!event)
        return;
    event->ask = question->ask;
    event->about = question->about;
    if (answers[question->ask](session, store, event, &err) != PW_OK)
        pw_event_set_error(event, &err);
    pw_queue_push(&session->events, event);
}

pw_status pw_session_ask(struct pw_session *session, pw_ask ask, size_t signature, struct pw_error *err)
{
    struct pw_event *event = pw_event_create(PW_EVENT_ANSWER);

    if (!event)
        return pw_error_memory(err, sizeof *event);
    if (!session->writer_started) {
        pw_event_free(event);
        return pw_error_set(err, PW_ERR_IO, "this session keeps no store");
    }
    event->ask = ask;
    event->about = signature;
    pw_queue_push(&session->writes, event);
    return PW_OK;
}
