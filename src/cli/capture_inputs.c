#include "cli/capture_inputs.h"

#include <poll.h>

#include "base/file.h"
#include "base/hash.h"
#include "job/session.h"

static bool holds(const char *folder, const char *name)
{
    struct pw_buf path = {0};
    bool exists;

    pw_file_join(&path, folder, name);
    exists = pw_file_exists(pw_buf_text(&path));
    pw_buf_clear(&path);
    return exists;
}

/* Beside the store, named by graph, weights and inputs: what is there already need not be captured again. */
static pw_status choose_folder(const struct pw_options *options, const struct pw_session *session,
                               struct pw_arena *arena, const char **out, struct pw_error *err)
{
    const struct pw_inputs *inputs = pw_session_run_inputs(session);
    struct pw_hash128 parts[2] = {pw_model_structure_hash(pw_session_model(session)),
                                  pw_model_weights_hash(pw_session_model(session))};
    struct pw_buf folder = {0};
    uint64_t name = pw_hash64(parts, sizeof parts, 0);

    for (size_t i = 0; i < inputs->count; i++)
        if (inputs->values[i].kind == PW_VALUE_TENSOR && inputs->values[i].tensor.dtype != PW_DTYPE_STRING)
            name = pw_hash64(inputs->values[i].tensor.data, pw_tensor_bytes(&inputs->values[i].tensor), name);
    pw_file_dirname(&folder, options->db && options->db[0] ? options->db : ".portwright/portwright.db");
    *out = pw_arena_printf(arena, "%s/captured/%016llx", pw_buf_text(&folder), (unsigned long long)name);
    pw_buf_clear(&folder);
    return *out ? PW_OK : pw_error_memory(err, 64);
}

static pw_status wait_for_end(struct pw_session *session, struct pw_error *err)
{
    struct pollfd wait = {.fd = pw_session_fd(session), .events = POLLIN};

    for (;;) {
        struct pw_event *event;

        poll(&wait, 1, 250);
        while ((event = pw_session_next(session))) {
            bool over = event->kind == PW_EVENT_FINISHED, failed = event->failed && event->kind != PW_EVENT_MESSAGE;
            struct pw_error error = event->error;

            pw_event_free(event);
            if (failed)
                return pw_error_set(err, error.status, "%s", error.message);
            if (over)
                return PW_OK;
        }
    }
}

pw_status pw_cli_capture_inputs(const struct pw_options *options, const char *folder, struct pw_arena *arena,
                                const char **captured, bool *data_set, struct pw_error *err)
{
    struct pw_session_inputs inputs = {.folder = folder};
    struct pw_session_options session_options = {.model_path = options->args[0],
                                                 .target = "reference",
                                                 .project = options->project,
                                                 .db = "",
                                                 .inputs = &inputs,
                                                 .seed = options->seed};
    struct pw_session_run_options run = {.mode = PW_ENDTOEND_OUTPUTS};
    struct pw_session *session = NULL;
    pw_status status;

    *captured = folder;
    *data_set = !holds(folder, "index") && holds(folder, "input_0.pb");
    if (!*data_set)
        return PW_OK;
    if (options->dim_sets > 0) {
        session_options.bindings = options->dims[0];
        session_options.binding_count = options->dim_counts[0];
    }
    status = pw_session_open(&session_options, &session, err);
    if (status == PW_OK)
        status = choose_folder(options, session, arena, captured, err);
    run.capture_folder = *captured;
    if (status == PW_OK && holds(*captured, "index"))
        goto done;
    if (status == PW_OK)
        status = pw_session_run(session, &run, NULL, err);
    if (status == PW_OK)
        status = wait_for_end(session, err);
done:
    pw_session_close(session);
    return status;
}
