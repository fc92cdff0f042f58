/* What the model's intents do outside: jobs, files, editor, clipboard. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/file.h"
#include "baseline/baseline.h"
#include "baseline/triage.h"
#include "report/verify.h"
#include "tui/app_internal.h"
#include "tui/term.h"

#define MAX_VIEWS_BYTES (64 << 10)
/* So that a flood of results never holds a key back. */
#define MAX_EVENTS_A_PAINT 500
#define MAX_NS_A_PAINT 4000000
#define EDITOR_LOOK_MS 50 /* how soon it is noticed that the editor ended */

static const struct pw_impl_list *implementations(void *user, size_t signature)
{
    return pw_session_implementations(user, signature);
}

struct pw_session *pw_app_session(const struct pw_app *app)
{
    return app->sessions[app->tui->at - app->tui->sides];
}

/* The user's saved views: $XDG_CONFIG_HOME/portwright/views, or below ~/.config. False: nowhere to keep them. */
static bool views_path(struct pw_buf *folder, struct pw_buf *path)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

    if (config && config[0] == '/')
        pw_buf_printf(folder, "%s/portwright", config);
    else if (home && home[0] == '/')
        pw_buf_printf(folder, "%s/.config/portwright", home);
    else
        return false;
    pw_buf_printf(path, "%s/views", pw_buf_text(folder));
    return !folder->failed && !path->failed;
}

static void read_views(struct pw_app *app)
{
    struct pw_buf folder = {0}, path = {0}, text = {0};
    struct pw_error err = {0};

    if (views_path(&folder, &path) && pw_file_exists(pw_buf_text(&path)) &&
        pw_file_read(pw_buf_text(&path), MAX_VIEWS_BYTES, &text, &err) == PW_OK)
        pw_tui_views_read(app->tui, pw_buf_text(&text));
    pw_buf_clear(&text); /* a failure is said when the session looks at the file */
    pw_buf_clear(&path);
    pw_buf_clear(&folder);
}

static pw_status send_view(struct pw_app *app, const char *path, const struct pw_tui_view *view, struct pw_error *err)
{
    struct pw_buf line = {0};
    pw_status status;

    pw_tui_view_line(view, &line);
    status = line.failed
                 ? pw_error_memory(err, line.size)
                 : pw_session_line(app->sessions[0], path, view->name, view->saved ? pw_buf_text(&line) : NULL, err);
    app->tui->views_unanswered += status == PW_OK;
    pw_buf_clear(&line);
    return status;
}

/* What was saved and dropped goes to the file; without any: looks whether somebody else changed it. */
static void keep_views(struct pw_app *app)
{
    struct pw_tui *tui = app->tui;
    struct pw_buf folder = {0}, path = {0};
    struct pw_error err = {0};
    pw_status status = PW_OK;

    if (!app->session_count) /* once somebody is there to write them */
        return;
    if (!views_path(&folder, &path)) {
        if (tui->view_change_count)
            pw_tui_say(tui, true, "the view holds until you quit: neither XDG_CONFIG_HOME nor HOME names a folder");
    } else if (!tui->view_change_count) { /* a failure is said when there is something to keep */
        pw_session_line(app->sessions[0], pw_buf_text(&path), NULL, NULL, &err);
    }
    for (int i = 0; i < tui->view_change_count && path.size && status == PW_OK; i++)
        status = send_view(app, pw_buf_text(&path), &tui->view_changes[i], &err);
    if (status != PW_OK)
        pw_tui_say(tui, true, "the view holds until you quit: %s", err.message);
    tui->view_change_count = 0;
    pw_buf_clear(&path);
    pw_buf_clear(&folder);
}

/* Results come in while the editor has the terminal: jobs go on, and do not fill the memory. */
static void take_meanwhile(void *user)
{
    struct pw_app *app = user;
    struct pollfd wait[PW_APP_TARGETS];

    for (size_t k = 0; k < app->session_count; k++)
        wait[k] = (struct pollfd){.fd = pw_session_fd(app->sessions[k]), .events = POLLIN};
    if (poll(wait, app->session_count, EDITOR_LOOK_MS) >= 0 || errno == EINTR)
        pw_app_take_events(app);
}

/* On every target: each has read the kernels for itself. The shown one verifies the selection with them. */
static pw_status read_anew(const struct pw_app *app, const size_t *selection, size_t count, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (size_t k = 0; status == PW_OK && k < app->session_count; k++)
        status =
            pw_session_reload(app->sessions[k], selection, app->sessions[k] == pw_app_session(app) ? count : 0, err);
    return status;
}

static void edit(struct pw_app *app)
{
    struct pw_error err = {0};
    size_t count = app->tui->selection_count, *selection = pw_calloc(count + 1, sizeof *selection);
    char *path = pw_strdup(app->tui->intent_text); /* what comes in meanwhile may bring intents of its own */
    int result = -1;

    for (size_t i = 0; selection && i < count; i++)
        selection[i] = app->tui->selection[i];
    if (path && selection)
        result = pw_term_edit(path, take_meanwhile, app, &err);
    else
        pw_error_memory(&err, count * sizeof *selection);
    app->all = true;
    if (result < 0)
        pw_tui_say(app->tui, true, "%s", err.message);
    else if (result > 0)
        pw_tui_say(app->tui, true, "the editor ended with %d: nothing is read anew", result);
    else if (read_anew(app, selection, count, &err) != PW_OK)
        pw_tui_say(app->tui, true, "%s", err.message);
    else
        pw_tui_say(app->tui, false, "read anew and verifying again: %s", path);
    pw_free(path);
    pw_free(selection);
}

static void end_export(struct pw_app *app)
{
    struct pw_buf *text = &app->export.text;
    struct pw_error err = {0};
    pw_status status =
        text->failed ? pw_error_memory(&err, text->size)
                     : pw_session_save(app->sessions[0], app->export.path, pw_buf_text(text), text->size, false, &err);

    if (status != PW_OK)
        pw_tui_say(app->tui, true, "%s", err.message);
    pw_buf_clear(text);
    app->exporting = false;
    app->dirty = true;
}

static void export_shown(struct pw_app *app)
{
    if (app->exporting) {
        pw_tui_say(app->tui, true, "%s is still being written", app->export.path);
        return;
    }
    pw_tui_export_begin(app->tui, app->tui->intent_text, &app->export);
    app->exporting = true;
}

bool pw_app_work_on(struct pw_app *app)
{
    if (app->tui->find.going && !pw_tui_find_on(app->tui))
        app->dirty = true;
    if (app->exporting && !pw_tui_export_part(app->tui, &app->export))
        end_export(app);
    return app->tui->find.going || app->exporting;
}

static bool needs_device(pw_intent intent)
{
    return intent == PW_INTENT_VERIFY || intent == PW_INTENT_BENCH || intent == PW_INTENT_RUN ||
           intent == PW_INTENT_PEAKS;
}

/* Jobs of a target go one after the other. */
static const char *when(const struct pw_app *app)
{
    return !app->tui->at->device_ready ? " as soon as the target is open"
           : app->tui->at->running     ? ", behind what runs"
                                       : "";
}

static void keep_decisions(struct pw_app *app)
{
    struct pw_error err = {0};

    if (pw_session_triage(app->sessions[0], app->tui->decisions, app->tui->decision_count, &err) != PW_OK)
        pw_tui_say(app->tui, true, "%s", err.message);
    else
        app->tui->unanswered++;
}

static void act_on_intent(struct pw_app *app)
{
    pw_intent intent = app->tui->intent;
    struct pw_error err = {0};

    app->tui->intent = PW_INTENT_NONE;
    if (!app->session_count && intent != PW_INTENT_NONE && intent != PW_INTENT_QUIT && intent != PW_INTENT_REDRAW) {
        if (intent != PW_INTENT_ASK) /* a screen that is gone to asks again when the graph is there */
            pw_tui_say(app->tui, false, "the graph is still being read");
        return;
    }
    if (app->tui->at->device_failed && needs_device(intent)) {
        pw_tui_say(app->tui, true, "the target could not be used, so nothing can run");
        return;
    }
    switch (intent) {
    case PW_INTENT_QUIT:
        app->quit = true;
        break;
    case PW_INTENT_VERIFY:
        if (pw_session_verify(pw_app_session(app), app->tui->selection, app->tui->selection_count, true, NULL, &err) !=
            PW_OK)
            pw_tui_say(app->tui, true, "%s", err.message);
        else
            pw_tui_say(app->tui, false, "verifying %zu signature%s%s; 3 shows the run", app->tui->selection_count,
                       app->tui->selection_count == 1 ? "" : "s", when(app));
        break;
    case PW_INTENT_BENCH:
        if (pw_session_bench(pw_app_session(app), app->tui->selection, app->tui->selection_count,
                             &(struct pw_session_bench){0}, NULL, &err) != PW_OK)
            pw_tui_say(app->tui, true, "%s", err.message);
        else
            pw_tui_say(app->tui, false, "timing %zu signature%s in turns with the reference%s; 3 shows the run",
                       app->tui->selection_count, app->tui->selection_count == 1 ? "" : "s", when(app));
        break;
    case PW_INTENT_RUN:
        if (pw_session_run(pw_app_session(app), &(struct pw_session_run_options){.mode = app->tui->run_mode}, NULL,
                           &err) != PW_OK)
            pw_tui_say(app->tui, true, "%s", err.message);
        else
            pw_tui_say(app->tui, false, "%s the whole graph%s",
                       app->tui->run_mode == PW_ENDTOEND_SWEEP ? "sweeping" : "running", when(app));
        break;
    case PW_INTENT_CANCEL:
        if (!pw_session_cancel(pw_app_session(app)))
            pw_tui_say(app->tui, false, "nothing is running");
        break;
    case PW_INTENT_EDIT:
        if (app->headless)
            pw_tui_say(app->tui, true, "a script opens no editor: %s", app->tui->intent_text);
        else
            edit(app);
        break;
    case PW_INTENT_COPY:
        if (!app->headless)
            pw_term_copy(app->tui->intent_text);
        pw_tui_say(app->tui, false, "copied: %s", app->tui->intent_text);
        break;
    case PW_INTENT_EXPORT:
        export_shown(app);
        break;
    case PW_INTENT_TRIAGE:
        keep_decisions(app);
        break;
    case PW_INTENT_ASK:
        if (pw_session_ask(pw_app_session(app), app->tui->ask,
                           app->tui->ask == PW_ASK_APPROVE ? app->tui->at->baselines_seen : app->tui->detail,
                           app->tui->ask >= PW_ASK_APPROVE ? app->tui->intent_text : NULL, app->tui->user_name,
                           &err) != PW_OK)
            pw_tui_say(app->tui, true, "%s", err.message);
        break;
    case PW_INTENT_PEAKS:
        if (pw_session_peaks(pw_app_session(app), &err) != PW_OK)
            pw_tui_say(app->tui, true, "%s", err.message);
        else
            pw_tui_say(app->tui, false, "measuring the peaks: a few seconds, behind what runs");
        break;
    case PW_INTENT_REDRAW:
        app->all = true;
        break;
    default:
        break;
    }
}

/* From each session in turn: one that brings very many does not hold the other back. */
bool pw_app_take_events(struct pw_app *app)
{
    int64_t until = pw_clock_ns() + MAX_NS_A_PAINT;
    size_t empty = 0; /* sessions in a row that had none */
    int taken = 0;

    while (empty < app->session_count && taken < MAX_EVENTS_A_PAINT && pw_clock_ns() < until) {
        size_t side = app->turn++ % app->session_count;
        struct pw_event *event = pw_session_next(app->sessions[side]);
        struct pw_input input = {
            .kind = PW_INPUT_SESSION, .event = event, .side = side, .now_ms = pw_clock_ns() / 1000000};

        empty = event ? 0 : empty + 1;
        if (!event)
            continue;
        pw_tui_apply(app->tui, &input);
        pw_event_free(event);
        act_on_intent(app);
        app->dirty = true;
        taken++;
    }
    return taken == MAX_EVENTS_A_PAINT || pw_clock_ns() >= until;
}

void pw_app_key(struct pw_app *app, const struct pw_input *input)
{
    pw_tui_apply(app->tui, input);
    act_on_intent(app);
    if (app->tui->view_change_count)
        keep_views(app);
    app->dirty = true;
}

void pw_app_look_around(struct pw_app *app)
{
    int64_t wall = pw_clock_wall_ms(), now = pw_clock_ns() / 1000000;
    struct pw_error err = {0};

    if (app->looked_ms && now - app->looked_ms < PW_APP_LOOK_EVERY_MS)
        return;
    app->looked_ms = now;
    pw_triage_today(wall, app->tui->today);
    pw_triage_today(wall + (int64_t)30 * 24 * 3600 * 1000, app->tui->in_a_month);
    if (!app->tui->user_name[0])
        pw_baseline_approver(app->tui->user_name, sizeof app->tui->user_name);
    if (app->session_count)
        pw_session_triage(app->sessions[0], NULL, 0, &err); /* a failure is said when there is something to keep */
    keep_views(app);
}

/* What a command needs beside model and target to see what this session sees; NULL: nothing, or no memory. */
static char *arguments_of(const struct pw_session *session, const char *bindings)
{
    const struct pw_protocol *protocol = pw_session_protocol(session);
    struct pw_buf out = {0};
    size_t count;
    const struct pw_ops_dir *dirs = pw_session_ops_dirs(session, &count);
    char *text;

    if (bindings[0]) {
        pw_buf_puts(&out, " --dim ");
        pw_report_shell_word(&out, bindings);
    }
    if (protocol && protocol->path) {
        pw_buf_puts(&out, " --project ");
        pw_report_shell_word(&out, protocol->path);
    }
    for (size_t i = 0; i < count; i++)
        if (dirs[i].foreign) {
            pw_buf_puts(&out, " --ops-dir ");
            pw_report_shell_word(&out, dirs[i].path);
        }
    text = out.size && !out.failed ? pw_strdup(pw_buf_text(&out)) : NULL;
    pw_buf_clear(&out);
    return text;
}

pw_status pw_app_begin(struct pw_app *app, const char *model_path, const char *const *targets, size_t count,
                       struct pw_error *err)
{
    pw_status status;

    if (count > PW_APP_TARGETS)
        return pw_error_set(err, PW_ERR_USAGE, "the workbench shows %d targets at most", PW_APP_TARGETS);
    status = pw_tui_create(NULL, model_path, targets, count, &app->tui, err);
    if (status != PW_OK)
        return status;
    app->dirty = app->all = true;
    read_views(app);
    pw_app_look_around(app);
    return PW_OK;
}

pw_status pw_app_attach(struct pw_app *app, struct pw_session *const *sessions, struct pw_error *err)
{
    pw_status status = pw_tui_take_inventory(app->tui, pw_session_inventory(sessions[0]), err);
    struct pw_error ignored = {0};

    if (status != PW_OK)
        return status;
    app->sessions = sessions;
    app->session_count = app->tui->side_count;
    for (size_t k = 0; k < app->session_count; k++) {
        app->tui->sides[k].implementations = implementations;
        app->tui->sides[k].user = sessions[k];
        pw_session_ask(sessions[k], PW_ASK_NODES, 0, NULL, NULL,
                       &ignored); /* without a store there is nothing to tell */
    }
    app->tui->arguments = arguments_of(sessions[0], pw_session_bindings(sessions[0]));
    app->tui->given_arguments = arguments_of(sessions[0], pw_session_given(sessions[0]));
    app->looked_ms = 0;
    pw_app_look_around(app);
    pw_tui_go(app->tui, app->tui->screen); /* what the screen needs of the session */
    act_on_intent(app);
    if (app->tui->view_change_count)
        keep_views(app);
    app->dirty = true;
    return PW_OK;
}

void pw_app_end(struct pw_app *app)
{
    if (app->exporting) { /* what was asked for is not lost with the last key */
        while (pw_tui_export_part(app->tui, &app->export)) {
        }
        end_export(app);
    }
    pw_canvas_clear(&app->canvas);
    pw_tui_destroy(app->tui);
}
