#include "tui/app.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tui/term.h"
#include "tui/tui.h"

#define MAX_EVENTS_A_PAINT 500 /* so that a flood of results never holds a key back */

struct app {
    struct pw_session *session;
    struct pw_tui *tui;
    struct pw_canvas canvas;
    bool dirty, all, quit;
};

static const struct pw_impl_list *implementations(void *user, size_t signature)
{
    const struct app *app = user;

    return pw_session_implementations(app->session, signature);
}

static void act_on_intent(struct app *app)
{
    pw_intent intent = app->tui->intent;
    struct pw_error err = {0};

    app->tui->intent = PW_INTENT_NONE;
    switch (intent) {
    case PW_INTENT_QUIT:
        app->quit = true;
        break;
    case PW_INTENT_VERIFY:
        if (pw_session_verify(app->session, app->tui->selection, app->tui->selection_count, true, NULL, &err) != PW_OK)
            pw_tui_say(app->tui, true, "%s", err.message);
        else
            pw_tui_say(app->tui, false, "verifying %zu signatures%s; 3 shows the run", app->tui->selection_count,
                       app->tui->device_ready ? "" : " as soon as the target is open");
        break;
    case PW_INTENT_CANCEL:
        pw_session_cancel(app->session);
        break;
    case PW_INTENT_REDRAW:
        app->all = true;
        break;
    default:
        break;
    }
}

static void take_keys(struct app *app)
{
    struct pw_input input;
    bool resized = false;

    while (!app->quit && pw_term_next(&input, &resized)) {
        pw_tui_apply(app->tui, &input);
        act_on_intent(app);
        app->dirty = true;
    }
    if (resized) {
        int rows, columns;

        pw_term_size(&rows, &columns);
        pw_tui_resize(app->tui, rows, columns);
        app->dirty = app->all = true;
    }
}

static bool take_events(struct app *app)
{
    int taken = 0;

    for (struct pw_event *event; taken < MAX_EVENTS_A_PAINT && (event = pw_session_next(app->session)); taken++) {
        struct pw_input input = {.kind = PW_INPUT_SESSION, .event = event, .now_ms = pw_clock_ns() / 1000000};

        pw_tui_apply(app->tui, &input);
        pw_event_free(event);
        app->dirty = true;
    }
    return taken == MAX_EVENTS_A_PAINT;
}

static void loop(struct app *app, struct pw_error *err)
{
    struct pollfd wait[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                            {.fd = pw_session_fd(app->session), .events = POLLIN},
                            {.fd = pw_term_fd(), .events = POLLIN}};
    bool more = false;
    int number;

    while (!app->quit && !pw_term_ended(&number)) {
        if (app->dirty && pw_tui_draw(app->tui, &app->canvas, err) == PW_OK) {
            pw_term_paint(&app->canvas, app->all);
            app->dirty = app->all = false;
        }
        if (poll(wait, 3, more ? 0 : -1) < 0 && errno != EINTR)
            break;
        if (wait[0].revents & (POLLHUP | POLLERR | POLLNVAL)) /* the terminal went away */
            break;
        take_keys(app);
        more = take_events(app);
    }
}

pw_status pw_app_run(struct pw_session *session, int color, struct pw_error *err)
{
    struct app app = {.session = session, .dirty = true, .all = true};
    const struct pw_model *model = pw_session_model(session);
    int rows, columns, number = 0;
    pw_status status;

    status = pw_tui_create(pw_session_inventory(session), model->path, pw_session_target(session), &app.tui, err);
    if (status == PW_OK)
        status = pw_term_open(color, err);
    if (status == PW_OK) {
        app.tui->implementations = implementations;
        app.tui->user = &app;
        app.canvas.ascii = pw_term_ascii();
        pw_term_size(&rows, &columns);
        pw_tui_resize(app.tui, rows, columns);
        loop(&app, err);
        pw_term_close();
    } else {
        pw_term_close();
    }
    pw_canvas_clear(&app.canvas);
    pw_tui_destroy(app.tui);
    if (status == PW_OK && pw_term_ended(&number) && number != SIGINT)
        signal(number, SIG_DFL); /* a second one ends us at once if closing hangs */
    return status;
}
