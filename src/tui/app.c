#include "tui/app.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "tui/app_internal.h"
#include "tui/term.h"

static void take_keys(struct pw_app *app)
{
    struct pw_input input;
    bool resized = false;

    while (!app->quit && pw_term_next(&input, &resized))
        pw_app_key(app, &input);
    if (resized) {
        int rows, columns;

        pw_term_size(&rows, &columns);
        pw_tui_resize(app->tui, rows, columns);
        app->dirty = app->all = true;
    }
}

enum {
    FIRST_WAIT_MS = 40,    /* a model that is read by then is painted at once */
    READING_EVERY_MS = 100 /* how often the progress is painted */
};

static nfds_t list_waits(const struct pw_app *app, const struct pw_opening *opening,
                         struct pollfd wait[2 + PW_APP_TARGETS])
{
    nfds_t count = 2;

    wait[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    wait[1] = (struct pollfd){.fd = pw_term_fd(), .events = POLLIN};
    for (size_t k = 0; k < app->session_count; k++)
        wait[count++] = (struct pollfd){.fd = pw_session_fd(app->sessions[k]), .events = POLLIN};
    if (!app->session_count)
        wait[count++] = (struct pollfd){.fd = pw_opening_fd(opening), .events = POLLIN};
    return count;
}

/* Takes the sessions once they are open, else how far they are; an error is the reading's. */
static pw_status follow_reading(struct pw_app *app, struct pw_opening *opening, int64_t wait_ms, struct pw_error *err)
{
    struct pw_session *const *sessions;
    pw_status status;

    if (!pw_opening_wait(opening, wait_ms)) {
        pw_opening_progress(opening, &app->tui->so_far);
        app->dirty = true;
        return PW_OK;
    }
    status = pw_opening_sessions(opening, &sessions, err);
    return status == PW_OK ? pw_app_attach(app, sessions, err) : status;
}

static pw_status loop(struct pw_app *app, struct pw_opening *opening, struct pw_error *err)
{
    struct pollfd wait[2 + PW_APP_TARGETS];
    nfds_t count = list_waits(app, opening, wait);
    struct pw_error ignored = {0};
    pw_status status = PW_OK;
    bool more = false, working = false;
    int number;

    while (status == PW_OK && !app->quit && !pw_term_ended(&number)) {
        if (app->dirty && pw_tui_draw(app->tui, &app->canvas, &ignored) == PW_OK) {
            pw_term_paint(&app->canvas, app->all);
            app->dirty = app->all = false;
        }
        if (poll(wait, count,
                 more || working      ? 0
                 : app->session_count ? PW_APP_LOOK_EVERY_MS
                                      : READING_EVERY_MS) < 0 &&
            errno != EINTR)
            break;
        pw_app_look_around(app);
        if (wait[0].revents & (POLLHUP | POLLERR | POLLNVAL)) /* the terminal went away */
            break;
        take_keys(app);
        working = pw_app_work_on(app);
        if (!app->session_count && !app->quit) {
            status = follow_reading(app, opening, 0, err);
            count = list_waits(app, opening, wait);
        }
        more = pw_app_take_events(app);
    }
    return status;
}

pw_status pw_app_run(struct pw_opening *opening, int color, struct pw_error *err)
{
    struct pw_app app = {0};
    size_t count;
    const char *const *targets = pw_opening_targets(opening, &count);
    int rows, columns, number = 0;
    pw_status status = pw_app_begin(&app, pw_opening_path(opening), targets, count, err);

    if (status == PW_OK)
        status = follow_reading(&app, opening, FIRST_WAIT_MS, err);
    if (status == PW_OK)
        status = pw_term_open(color, err);
    if (status == PW_OK) {
        app.canvas.ascii = pw_term_ascii();
        pw_term_size(&rows, &columns);
        pw_tui_resize(app.tui, rows, columns);
        status = loop(&app, opening, err);
    }
    pw_term_close();
    pw_app_end(&app);
    if (pw_term_ended(&number) && number != SIGINT)
        signal(number, SIG_DFL); /* a second one ends us at once if closing hangs */
    return status;
}
