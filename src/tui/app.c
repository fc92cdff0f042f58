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

static void loop(struct pw_app *app, struct pw_error *err)
{
    struct pollfd wait[2 + PW_APP_TARGETS] = {{.fd = STDIN_FILENO, .events = POLLIN},
                                              {.fd = pw_term_fd(), .events = POLLIN}};
    nfds_t count = 2;
    bool more = false;
    int number;

    for (size_t k = 0; k < app->session_count; k++)
        wait[count++] = (struct pollfd){.fd = pw_session_fd(app->sessions[k]), .events = POLLIN};
    while (!app->quit && !pw_term_ended(&number)) {
        if (app->dirty && pw_tui_draw(app->tui, &app->canvas, err) == PW_OK) {
            pw_term_paint(&app->canvas, app->all);
            app->dirty = app->all = false;
        }
        if (poll(wait, count, more ? 0 : PW_APP_LOOK_EVERY_MS) < 0 && errno != EINTR)
            break;
        pw_app_look_around(app);
        if (wait[0].revents & (POLLHUP | POLLERR | POLLNVAL)) /* the terminal went away */
            break;
        take_keys(app);
        more = pw_app_take_events(app);
    }
}

pw_status pw_app_run(struct pw_session *const *sessions, size_t count, int color, struct pw_error *err)
{
    struct pw_app app = {.sessions = sessions, .session_count = count};
    int rows, columns, number = 0;
    pw_status status = pw_app_begin(&app, err);

    if (status == PW_OK)
        status = pw_term_open(color, err);
    if (status == PW_OK) {
        app.canvas.ascii = pw_term_ascii();
        pw_term_size(&rows, &columns);
        pw_tui_resize(app.tui, rows, columns);
        loop(&app, err);
    }
    pw_term_close();
    pw_app_end(&app);
    if (status == PW_OK && pw_term_ended(&number) && number != SIGINT)
        signal(number, SIG_DFL); /* a second one ends us at once if closing hangs */
    return status;
}
