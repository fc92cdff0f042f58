/* Scripts: keys and expected screens without a terminal, for tests, screenshots and users who automate. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "tui/app.h"
#include "tui/app_internal.h"

enum { SCRIPT_MAX_BYTES = 1 << 20, DEFAULT_WAIT_S = 60, MAX_WAIT_S = 24 * 3600 };

struct script {
    struct pw_app *app;
    const char *path;
    int line, failed;
};

typedef pw_status run_line(struct script *script, const char *words, struct pw_error *err);

static pw_status draw(struct script *script, struct pw_buf *screen, struct pw_error *err)
{
    pw_status status = pw_tui_draw(script->app->tui, &script->app->canvas, err);

    if (status == PW_OK)
        pw_canvas_dump(&script->app->canvas, screen);
    return status == PW_OK && screen->failed ? pw_error_memory(err, screen->size) : status;
}

static void settle(struct script *script)
{
    while (pw_app_take_events(script->app) || pw_app_work_on(script->app))
        ;
    pw_app_look_around(script->app);
}

static pw_status wrong(const struct script *script, struct pw_error *err, const char *expected, const char *found)
{
    return pw_error_set(err, PW_ERR_USAGE, "%s:%d: expected %s, found '%.100s'", script->path, script->line, expected,
                        found);
}

static pw_status run_size(struct script *script, const char *words, struct pw_error *err)
{
    int columns, rows;
    char rest;

    if (sscanf(words, "%4d %4d %c", &columns, &rows, &rest) != 2 || columns < 1 || rows < 1 || columns > 1000 ||
        rows > 1000)
        return wrong(script, err, "columns and rows from 1 to 1000", words);
    pw_tui_resize(script->app->tui, rows, columns);
    return PW_OK;
}

static const struct {
    const char *name;
    uint32_t key;
} names[] = {
    {"<Enter>", PW_KEY_ENTER},         {"<Esc>", PW_KEY_ESCAPE},  {"<Tab>", PW_KEY_TAB},
    {"<S-Tab>", PW_KEY_BACKTAB},       {"<Up>", PW_KEY_UP},       {"<Down>", PW_KEY_DOWN},
    {"<Left>", PW_KEY_LEFT},           {"<Right>", PW_KEY_RIGHT}, {"<PgUp>", PW_KEY_PAGE_UP},
    {"<PgDn>", PW_KEY_PAGE_DOWN},      {"<Home>", PW_KEY_HOME},   {"<End>", PW_KEY_END},
    {"<Backspace>", PW_KEY_BACKSPACE}, {"<Space>", ' '},          {"<lt>", '<'},
    {"<C-c>", PW_KEY_CTRL_C},
};

static pw_status run_keys(struct script *script, const char *words, struct pw_error *err)
{
    while (*words && !script->app->quit) {
        struct pw_input input = {.kind = PW_INPUT_KEY};
        size_t used = 0;

        for (size_t i = 0; i < sizeof names / sizeof *names && !used; i++)
            if (pw_text_starts(words, names[i].name)) {
                used = strlen(names[i].name);
                input.key = names[i].key;
            }
        if (!used && *words == '<')
            return wrong(script, err, "a key's name such as <Enter> (<lt> is '<')", words);
        if (!used)
            used = pw_text_decode(words, strlen(words), &input.key);
        pw_app_key(script->app, &input);
        settle(script);
        words += used;
    }
    return PW_OK;
}

static pw_status run_click(struct script *script, const char *words, struct pw_error *err)
{
    struct pw_input input = {.kind = PW_INPUT_CLICK};
    char rest;

    if (sscanf(words, "%4d %4d %c", &input.row, &input.column, &rest) != 2)
        return wrong(script, err, "a row and a column", words);
    pw_app_key(script->app, &input);
    return PW_OK;
}

static pw_status look_for(struct script *script, const char *text, bool wanted, struct pw_error *err)
{
    struct pw_buf screen = {0};
    pw_status status;

    settle(script);
    status = draw(script, &screen, err);
    if (status == PW_OK && (strstr(pw_buf_text(&screen), text) != NULL) != wanted) {
        fprintf(stderr, "%s:%d: the screen %s '%s':\n%s", script->path, script->line,
                wanted ? "does not show" : "shows", text, pw_buf_text(&screen));
        script->failed++;
    }
    pw_buf_clear(&screen);
    return status;
}

/* Every screen shows nothing: an expectation without a text could not fail. */
static pw_status run_shows(struct script *script, const char *words, struct pw_error *err)
{
    return *words ? look_for(script, words, true, err) : wrong(script, err, "a text", words);
}

static pw_status run_hides(struct script *script, const char *words, struct pw_error *err)
{
    return *words ? look_for(script, words, false, err) : wrong(script, err, "a text", words);
}

static pw_status run_wait(struct script *script, const char *words, struct pw_error *err)
{
    struct pollfd wait[PW_APP_TARGETS];
    const char *given = words;
    char *end;
    long seconds = strtol(words, &end, 10);
    int64_t until;

    if (end != words && *end == ' ')
        words = end + 1;
    else
        seconds = DEFAULT_WAIT_S;
    if (seconds < 0 || seconds > MAX_WAIT_S)
        return wrong(script, err, "seconds from 0 to 86400", given);
    if (!*words)
        return wrong(script, err, "a text", given);
    for (size_t k = 0; k < script->app->session_count; k++)
        wait[k] = (struct pollfd){.fd = pw_session_fd(script->app->sessions[k]), .events = POLLIN};
    until = pw_clock_ns() + (int64_t)seconds * 1000000000;
    for (;;) {
        struct pw_buf screen = {0};
        pw_status status;
        bool found;

        settle(script);
        status = draw(script, &screen, err);
        found = strstr(pw_buf_text(&screen), words) != NULL;
        pw_buf_clear(&screen);
        if (status != PW_OK || found)
            return status;
        if (pw_clock_ns() >= until)
            return look_for(script, words, true, err);
        poll(wait, script->app->session_count, 100);
    }
}

static pw_status run_screen(struct script *script, const char *words, struct pw_error *err)
{
    struct pw_buf screen = {0};
    pw_status status;

    (void)words;
    settle(script);
    status = draw(script, &screen, err);
    if (status == PW_OK)
        fwrite(pw_buf_text(&screen), 1, screen.size, stdout);
    pw_buf_clear(&screen);
    return status;
}

static const struct {
    const char *name;
    run_line *run;
} verbs[] = {{"size", run_size},   {"keys", run_keys},   {"click", run_click},  {"wait", run_wait},
             {"shows", run_shows}, {"hides", run_hides}, {"screen", run_screen}};

static pw_status run_one(struct script *script, const char *line, struct pw_error *err)
{
    size_t length = strcspn(line, " ");

    if (!length || *line == '#')
        return PW_OK;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strlen(verbs[i].name) == length && !strncmp(verbs[i].name, line, length))
            return verbs[i].run(script, line + length + (line[length] == ' '), err);
    return wrong(script, err, "size, keys, click, wait, shows, hides or screen", line);
}

pw_status pw_app_script_lines(struct pw_app *app, const char *path, char *text, int *failed, struct pw_error *err)
{
    struct script script = {.app = app, .path = path};
    pw_status status = PW_OK;

    for (char *line = text, *next; status == PW_OK && line && *line && !app->quit; line = next) {
        size_t length = strcspn(line, "\n");

        next = line + length + (line[length] == '\n');
        line[length] = '\0';
        if (length && line[length - 1] == '\r')
            line[length - 1] = '\0';
        script.line++;
        status = run_one(&script, line, err);
    }
    *failed = script.failed;
    return status;
}

/* A script begins when the graph has been read. */
static pw_status begin(struct pw_app *app, struct pw_opening *opening, struct pw_error *err)
{
    size_t count;
    const char *const *targets = pw_opening_targets(opening, &count);
    struct pw_session *const *sessions;
    pw_status status;

    pw_opening_wait(opening, -1);
    status = pw_opening_sessions(opening, &sessions, err);
    if (status == PW_OK)
        status = pw_app_begin(app, pw_opening_path(opening), targets, count, err);
    return status == PW_OK ? pw_app_attach(app, sessions, err) : status;
}

pw_status pw_app_script(struct pw_opening *opening, const char *path, bool ascii, int *failed, struct pw_error *err)
{
    struct pw_app app = {.headless = true, .canvas = {.ascii = ascii}};
    struct pw_buf text = {0};
    pw_status status = pw_file_read(path, SCRIPT_MAX_BYTES, &text, err);

    *failed = 0;
    if (status == PW_OK)
        status = begin(&app, opening, err);
    if (status == PW_OK)
        status = pw_app_script_lines(&app, path, text.data, failed, err);
    pw_app_end(&app);
    pw_buf_clear(&text);
    return status;
}
