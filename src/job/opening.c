#include "job/opening.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

struct pw_opening {
    struct pw_session_options options;
    const char *const *targets;
    size_t count;
    pthread_t thread;
    bool started, joined;
    int ended[2]; /* pipe: its writing end is closed when the thread is done */
    struct pw_progress progress;
    struct pw_session **sessions; /* the thread's until it has been joined */
    size_t open_count;
    pw_status status;
    struct pw_error error;
};

static void *open_all(void *user)
{
    struct pw_opening *opening = user;
    struct pw_session_options options = opening->options;

    pw_progress_bind(&opening->progress);
    for (size_t k = 0; opening->status == PW_OK && k < opening->count; k++) {
        options.target = opening->targets[k];
        options.triage = opening->options.triage && k == 0; /* decisions are the graph's, not a target's */
        opening->status =
            k ? pw_session_open_beside(opening->sessions[0], &options, &opening->sessions[k], &opening->error)
              : pw_session_open(&options, &opening->sessions[k], &opening->error);
        opening->open_count += opening->status == PW_OK;
    }
    pw_progress_bind(NULL);
    close(opening->ended[1]);
    return NULL;
}

pw_status pw_opening_start(const struct pw_session_options *options, const char *const *targets, size_t count,
                           struct pw_opening **out, struct pw_error *err)
{
    struct pw_opening *opening = pw_calloc(1, sizeof *opening);
    pw_status status = PW_OK;

    if (!opening)
        return pw_error_memory(err, sizeof *opening);
    opening->options = *options;
    opening->targets = targets;
    opening->count = count;
    opening->ended[0] = opening->ended[1] = -1;
    opening->sessions = pw_calloc(count, sizeof *opening->sessions);
    if (!opening->sessions)
        status = pw_error_memory(err, count * sizeof *opening->sessions);
    else if (pipe2(opening->ended, O_CLOEXEC) != 0)
        status = pw_error_set(err, PW_ERR_IO, "no pipe: %s", strerror(errno));
    else if (pthread_create(&opening->thread, NULL, open_all, opening) != 0)
        status = pw_error_set(err, PW_ERR_INTERNAL, "no thread to read the model");
    if (status != PW_OK) {
        if (opening->ended[1] >= 0)
            close(opening->ended[1]);
        pw_opening_close(opening);
        return status;
    }
    opening->started = true;
    *out = opening;
    return PW_OK;
}

static void join(struct pw_opening *opening)
{
    if (opening->started && !opening->joined)
        pthread_join(opening->thread, NULL);
    opening->joined = true;
}

bool pw_opening_wait(struct pw_opening *opening, int64_t wait_ms)
{
    struct pollfd wait = {.fd = opening->ended[0], .events = POLLIN};
    int found;

    do
        found = poll(&wait, 1, wait_ms < 0 ? -1 : wait_ms > 1000000 ? 1000000 : (int)wait_ms);
    while (wait_ms < 0 && found <= 0);
    if (found <= 0)
        return false;
    join(opening);
    return true;
}

int pw_opening_fd(const struct pw_opening *opening)
{
    return opening->ended[0];
}

void pw_opening_progress(const struct pw_opening *opening, struct pw_progress *out)
{
    pw_progress_look(&opening->progress, out);
}

const char *pw_opening_path(const struct pw_opening *opening)
{
    return opening->options.model_path;
}

const char *const *pw_opening_targets(const struct pw_opening *opening, size_t *count)
{
    *count = opening->count;
    return opening->targets;
}

pw_status pw_opening_sessions(struct pw_opening *opening, struct pw_session *const **sessions, struct pw_error *err)
{
    join(opening);
    if (opening->status != PW_OK)
        return pw_error_set(err, opening->status, "%s", opening->error.message);
    *sessions = opening->sessions;
    return PW_OK;
}

void pw_opening_close(struct pw_opening *opening)
{
    if (!opening)
        return;
    pw_progress_cancel(&opening->progress);
    join(opening);
    for (size_t k = 0; k < opening->open_count; k++)
        pw_session_close(opening->sessions[k]);
    if (opening->ended[0] >= 0)
        close(opening->ended[0]);
    pw_free(opening->sessions);
    pw_free(opening);
}
