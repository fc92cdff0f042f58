/* What the terminal's loop and the script's share: the model with its session, and what intents do. UI thread. */
#ifndef PW_TUI_APP_INTERNAL_H
#define PW_TUI_APP_INTERNAL_H

#include "job/session.h"
#include "tui/app.h"
#include "tui/tui.h"

struct pw_app {
    struct pw_session *const *sessions; /* one a target, the sides of the model in order */
    size_t session_count;               /* 0 until the graph has been read */
    size_t turn;                        /* whose events are taken next: of session turn mod session_count */
    struct pw_tui *tui;
    struct pw_canvas canvas;
    bool headless; /* no terminal: no editor, no clipboard */
    bool dirty, all, quit;
    int64_t looked_ms;
    bool exporting; /* goes on in parts */
    struct pw_tui_export export;
};

/* The model, without sessions: the graph is still being read. */
pw_status pw_app_begin(struct pw_app *app, const char *model_path, const char *const *targets, size_t count,
                       struct pw_error *err);
/* Gives it the sessions, one a target: from here on all keys do what they say. */
pw_status pw_app_attach(struct pw_app *app, struct pw_session *const *sessions, struct pw_error *err);
void pw_app_end(struct pw_app *app);
struct pw_session *pw_app_session(const struct pw_app *app);       /* of the target that is shown */
void pw_app_key(struct pw_app *app, const struct pw_input *input); /* applies and acts on the intent */
bool pw_app_take_events(struct pw_app *app);                       /* true: more may wait */
bool pw_app_work_on(struct pw_app *app); /* a part of what takes longer than a key may; true: there is more */
/* Who and when, for decisions; and, every two seconds, whether a colleague's decisions arrived in the file. */
void pw_app_look_around(struct pw_app *app);
#define PW_APP_LOOK_EVERY_MS 2000
/* Runs the lines of a script, which are changed; path is for messages. */
pw_status pw_app_script_lines(struct pw_app *app, const char *path, char *text, int *failed, struct pw_error *err);

#endif
