/* The palette: commands with words, beside those that are keys; running a line; completing one; and the line at the
 * foot that is typed on. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "baseline/triage.h"
#include "tui/tui.h"

/* ---- commands with words ---- */

static void run_filter(struct pw_tui *tui, const char *words)
{
    pw_tui_set_filter(tui, words);
    pw_tui_go(tui, PW_SCREEN_INVENTORY);
}

static void run_sort(struct pw_tui *tui, const char *words)
{
    for (int c = 0; c < PW_COLUMN_COUNT; c++)
        if (!strcasecmp(pw_tui_column_name((pw_column)c), words)) {
            pw_tui_sort_by(tui, (pw_column)c);
            return;
        }
    pw_tui_say(tui, true, "sort: no column '%.40s'", words);
}

static const char *column_candidate(const struct pw_tui *tui, size_t n)
{
    (void)tui;
    return n < PW_COLUMN_COUNT ? pw_tui_column_name((pw_column)n) : NULL;
}

static void run_group(struct pw_tui *tui, const char *words)
{
    struct pw_error err = {0};

    for (int g = 0; g < PW_GROUP_COUNT; g++)
        if (!strcasecmp(pw_tui_group_name((pw_group)g), words)) {
            if (pw_tui_set_group(tui, (pw_group)g, &err) != PW_OK)
                pw_tui_say(tui, true, "%s", err.message);
            return;
        }
    pw_tui_say(tui, true, "group: expected none, category, operator or pattern, found '%.40s'", words);
}

static const char *group_candidate(const struct pw_tui *tui, size_t n)
{
    (void)tui;
    return n < PW_GROUP_COUNT ? pw_tui_group_name((pw_group)n) : NULL;
}

static void run_view(struct pw_tui *tui, const char *words)
{
    int view = pw_tui_view_find(tui, words);

    if (view >= 0)
        pw_tui_apply_view(tui, &tui->views[view]);
    else
        pw_tui_say(tui, true, "view: none is called '%.40s'; Tab lists them", words);
}

static const char *view_candidate(const struct pw_tui *tui, size_t n)
{
    return n < (size_t)tui->view_count ? tui->views[n].name : NULL;
}

/* Views are kept one a line, between tabs; lines that begin with # are remarks. */
static bool fits_a_line(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ')
            return false;
    return true;
}

static void run_save_view(struct pw_tui *tui, const char *words)
{
    int at = pw_tui_view_find(tui, words);
    struct pw_tui_view view = {.sort = tui->sort, .descending = tui->descending, .group = tui->group, .saved = true};

    if (!words[0] || strlen(words) >= sizeof view.name || strlen(tui->filter) >= sizeof view.query) {
        pw_tui_say(tui, true, "save-view: expected a name of 1 to %zu bytes, and a filter below %zu",
                   sizeof view.name - 1, sizeof view.query);
        return;
    }
    if (words[0] == '#' || !fits_a_line(words) || !fits_a_line(tui->filter)) {
        pw_tui_say(tui, true, "save-view: expected a name that does not begin with #, and no tabs in it or the filter");
        return;
    }
    if (at >= 0 && !tui->views[at].saved) {
        pw_tui_say(tui, true, "save-view: '%s' is built in; choose another name", words);
        return;
    }
    snprintf(view.name, sizeof view.name, "%.31s", words);
    snprintf(view.query, sizeof view.query, "%.127s", tui->filter);
    if (!pw_tui_view_change(tui, &view)) {
        pw_tui_say(tui, true, "save-view: %d views are kept at most; drop-view removes one", PW_TUI_VIEWS);
        return;
    }
    pw_tui_say(tui, false, "saved view '%s'; :view %s brings it back", view.name, view.name);
}

static void run_drop_view(struct pw_tui *tui, const char *words)
{
    int at = pw_tui_view_find(tui, words);
    struct pw_tui_view view;

    if (at < 0 || !tui->views[at].saved) {
        pw_tui_say(tui, true, "drop-view: no saved view is called '%.40s'", words);
        return;
    }
    view = tui->views[at];
    view.saved = false;
    pw_tui_view_change(tui, &view);
    pw_tui_say(tui, false, "the view '%s' is gone", view.name);
}

static void run_screen(struct pw_tui *tui, const char *words)
{
    for (int s = 0; s < PW_SCREEN_COUNT; s++)
        if (!strcasecmp(pw_tui_screens[s].name, words)) {
            pw_tui_go(tui, (pw_screen)s);
            return;
        }
    pw_tui_say(tui, true, "screen: none is called '%.40s'; Tab lists them", words);
}

static const char *screen_candidate(const struct pw_tui *tui, size_t n)
{
    (void)tui;
    return n < PW_SCREEN_COUNT ? pw_tui_screens[n].name : NULL;
}

static const char *status_candidate(const struct pw_tui *tui, size_t n)
{
    (void)tui;
    return n + 1 < PW_TRIAGE_STATUS_COUNT    ? pw_triage_status_name((pw_triage_status)(n + 1))
           : n + 1 == PW_TRIAGE_STATUS_COUNT ? "none"
                                             : NULL;
}

static const char *user_candidate(const struct pw_tui *tui, size_t n)
{
    return n == 0 && tui->user_name[0] ? tui->user_name : NULL;
}

static const char *date_candidate(const struct pw_tui *tui, size_t n)
{
    return n == 0 && tui->in_a_month[0] ? tui->in_a_month : NULL;
}

static void run_export(struct pw_tui *tui, const char *words)
{
    if (!words[0] || strlen(words) >= sizeof tui->intent_text) {
        pw_tui_say(tui, true, "export: expected a file's name");
        return;
    }
    memcpy(tui->intent_text, words, strlen(words) + 1);
    tui->intent = PW_INTENT_EXPORT;
}

const struct pw_tui_command pw_tui_commands[] = {
    {"filter", "QUERY", "Shows the signatures that the query describes; without words all of them.", NULL, run_filter},
    {"sort", "COLUMN", "Sorts the inventory by a column.", column_candidate, run_sort},
    {"group", "BY", "Lists the inventory under heads: none, category, operator or pattern.", group_candidate,
     run_group},
    {"view", "NAME", "Goes to a named query with its order; some are built in.", view_candidate, run_view},
    {"save-view", "NAME", "Keeps the filter, order and grouping of now under a name.", view_candidate, run_save_view},
    {"drop-view", "NAME", "Forgets a saved view.", view_candidate, run_drop_view},
    {"screen", "NAME", "Goes to a screen.", screen_candidate, run_screen},
    {"status", "open|doing|…", "Says where the work on the selection stands.", status_candidate, pw_tui_run_status},
    {"priority", "[1-100]", "Puts the selection's place in the order of work instead of the computed one.", NULL,
     pw_tui_run_priority},
    {"owner", "[NAME]", "Names who works on the selection; without a name, nobody.", user_candidate, pw_tui_run_owner},
    {"note", "[TEXT]", "Keeps a note on the selection; without text it goes.", NULL, pw_tui_run_note},
    {"waive", "DATE REASON", "Lets the selection's failures pass the gate until a day (2027-01-31), and says why.",
     date_candidate, pw_tui_run_waive},
    {"unwaive", "", "Takes the waiver back.", NULL, pw_tui_run_unwaive},
    {"compare", "RUN RUN", "Puts two runs side by side, signature by signature, on the trends screen.", NULL,
     pw_tui_run_compare},
    {"approve", "WHY", "Gives the pending baselines a number; the message says why.", NULL, pw_tui_run_approve},
    {"export", "FILE", "Writes what the screen shows, whole; a name ending in .csv makes a table.", NULL, run_export},
    {NULL, NULL, NULL, NULL, NULL},
};

/* ---- running a line ---- */

static const struct pw_tui_key *find_key_command(const struct pw_tui_key *keys, const char *name)
{
    for (; keys->key; keys++)
        if (keys->command && !strcmp(keys->command, name))
            return keys;
    return NULL;
}

/* Runs the command of exactly this name; false: there is none. */
static bool run_named(struct pw_tui *tui, const char *name, const char *words)
{
    const struct pw_tui_key *key;

    for (const struct pw_tui_command *c = pw_tui_commands; c->name; c++)
        if (!strcmp(c->name, name)) {
            c->act(tui, words);
            return true;
        }
    key = find_key_command(pw_tui_screens[tui->screen].keys, name);
    for (int s = 0; !key && s < PW_SCREEN_COUNT; s++)
        key = find_key_command(pw_tui_screens[s].keys, name);
    if (!key)
        key = find_key_command(pw_tui_global_keys, name);
    if (key)
        key->act(tui);
    return key != NULL;
}

/* The one command whose name begins as typed, as quit with q; of group and group-next the first. How many begin so. */
static size_t find_begun(const struct pw_tui *tui, const char *typed, char *name, size_t size)
{
    struct pw_buf line = {0};
    const char *help;
    size_t count = 0, others = 0;

    name[0] = '\0';
    for (; pw_tui_complete(tui, typed, count, &line, &help); count++) {
        size_t length = strlen(name);

        if (!count)
            snprintf(name, size, "%.*s", (int)strcspn(pw_buf_text(&line), " "), pw_buf_text(&line));
        else
            others += strncmp(pw_buf_text(&line), name, length) != 0 || pw_buf_text(&line)[length] != '-';
        pw_buf_clear(&line);
    }
    return count ? 1 + others : 0;
}

void pw_tui_act(struct pw_tui *tui, const char *line)
{
    char name[64], begun[64];
    size_t length, count;

    line += strspn(line, " ");
    length = strcspn(line, " ");
    if (!length)
        return;
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), line);
    line += length + strspn(line + length, " ");
    if (!strcmp(name, "q!") || !strcmp(name, "quit!")) /* vim's: nothing here waits to be saved */
        name[strlen(name) - 1] = '\0';
    if (length < sizeof name && run_named(tui, name, line))
        return;
    count = find_begun(tui, name, begun, sizeof begun);
    if (count != 1 || !run_named(tui, begun, line))
        pw_tui_say(tui, true, "%s '%.40s'; Tab lists them", count ? "several commands begin with" : "no command", name);
}

/* ---- completing ---- */

static bool begins(const char *text, const char *with, size_t length)
{
    return !strncasecmp(text, with, length);
}

/* The n-th of the keys' commands that begins as typed; counts down in *n. Each name once: the first screen's. */
static const struct pw_tui_key *nth_key(const char *typed, size_t length, size_t *n)
{
    for (int s = 0; s <= PW_SCREEN_COUNT; s++) {
        const struct pw_tui_key *keys = s < PW_SCREEN_COUNT ? pw_tui_screens[s].keys : pw_tui_global_keys;

        for (; keys->key; keys++) {
            bool before = false;

            if (!keys->command || !begins(keys->command, typed, length))
                continue;
            for (int e = 0; e < s && e < PW_SCREEN_COUNT; e++)
                before = before || find_key_command(pw_tui_screens[e].keys, keys->command);
            if (!before && (*n)-- == 0)
                return keys;
        }
    }
    return NULL;
}

static bool complete_word(const struct pw_tui *tui, const char *typed, size_t length, size_t n, struct pw_buf *line,
                          const char **help)
{
    const char *word = typed + length + strspn(typed + length, " ");

    for (const struct pw_tui_command *c = pw_tui_commands; c->name; c++) {
        const char *candidate;

        if (strlen(c->name) != length || strncmp(c->name, typed, length) != 0)
            continue;
        for (size_t i = 0; c->complete && (candidate = c->complete(tui, i)) != NULL; i++)
            if (begins(candidate, word, strlen(word)) && n-- == 0) {
                pw_buf_printf(line, "%s %s", c->name, candidate);
                *help = c->complete == view_candidate ? tui->views[i].query : "";
                return true;
            }
    }
    return false;
}

bool pw_tui_complete(const struct pw_tui *tui, const char *typed, size_t n, struct pw_buf *line, const char **help)
{
    size_t length = strcspn(typed, " ");
    const struct pw_tui_key *key;

    if (typed[length])
        return complete_word(tui, typed, length, n, line, help);
    for (const struct pw_tui_command *c = pw_tui_commands; c->name; c++)
        if (begins(c->name, typed, length) && n-- == 0) {
            pw_buf_printf(line, "%s ", c->name);
            *help = c->help;
            return true;
        }
    key = nth_key(typed, length, &n);
    if (!key)
        return false;
    pw_buf_puts(line, key->command);
    *help = key->help;
    return true;
}

/* ---- the line at the foot ---- */

enum { SEARCH_MAX = 100 }; /* bytes */

/* Keeps what was typed before the first candidate is put in its place. */
static const char *typed_text(struct pw_tui *tui)
{
    if (tui->completion < 0)
        memcpy(tui->completing, tui->prompt.text, sizeof tui->completing);
    return tui->completing;
}

void pw_tui_choose_candidate(struct pw_tui *tui, int n)
{
    struct pw_buf line = {0};
    const char *help;

    if (pw_tui_complete(tui, typed_text(tui), (size_t)n, &line, &help)) {
        pw_prompt_set(&tui->prompt, pw_buf_text(&line));
        tui->completion = n;
    }
    pw_buf_clear(&line);
}

/* Tab walks through what completes the line as it was typed. */
static void complete(struct pw_tui *tui, bool back)
{
    const char *help, *typed;
    int count = 0;

    if (tui->prompt.kind != PW_PROMPT_COMMAND)
        return;
    typed = typed_text(tui);
    for (struct pw_buf line = {0}; pw_tui_complete(tui, typed, (size_t)count, &line, &help); count++)
        pw_buf_clear(&line);
    if (!count)
        return;
    pw_tui_choose_candidate(tui, tui->completion < 0 ? (back ? count - 1 : 0)
                                                     : (tui->completion + (back ? count - 1 : 1)) % count);
    if (count == 1)
        tui->completion = -1;
}

void pw_tui_prompt_key(struct pw_tui *tui, uint32_t key)
{
    pw_prompt_kind kind = tui->prompt.kind;
    bool back = false;
    pw_prompt_outcome outcome = pw_prompt_key(&tui->prompt, key, &back);

    if (outcome == PW_PROMPT_COMPLETE) {
        complete(tui, back);
        return;
    }
    tui->completion = -1;
    if (kind == PW_PROMPT_QUERY) {
        pw_tui_set_filter(tui, outcome == PW_PROMPT_DROPPED ? tui->filter_before : tui->prompt.text);
        tui->placed = tui->placed || outcome == PW_PROMPT_ACCEPTED;
    } else if (kind == PW_PROMPT_SEARCH) {
        snprintf(tui->search, sizeof tui->search, "%.*s", (int)pw_text_cut(tui->prompt.text, SEARCH_MAX),
                 outcome == PW_PROMPT_DROPPED ? "" : tui->prompt.text);
        tui->found[tui->screen] = -1;
        if (outcome == PW_PROMPT_ACCEPTED && tui->search[0])
            pw_tui_find_next(tui, 1);
    } else if (outcome == PW_PROMPT_ACCEPTED) {
        pw_prompt_remember(&tui->prompt, tui->prompt.text);
        pw_tui_act(tui, tui->prompt.text);
    }
}
