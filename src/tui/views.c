/* Named queries: a few built in, others saved by the user (text, one a line; the program's loop reads and writes it,
 * and other workbenches do too).
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tui/tui.h"

static const struct pw_tui_view built_in[] = {
    {.name = "all", .query = "", .sort = PW_COLUMN_PRIORITY, .descending = true},
    {.name = "problems", .query = PW_TUI_PROBLEMS, .sort = PW_COLUMN_PRIORITY, .descending = true},
    {.name = "missing", .query = "cov:missing,host", .sort = PW_COLUMN_SHARE, .descending = true},
    {.name = "delicate", .query = "sens:high", .sort = PW_COLUMN_ERROR, .descending = true},
    {.name = "slow", .query = "speed<1", .sort = PW_COLUMN_SHARE, .descending = true},
    {.name = "dynamic", .query = "dyn:yes", .sort = PW_COLUMN_SHARE, .descending = true},
    {.name = "work", .query = "", .sort = PW_COLUMN_SHARE, .descending = true, .group = PW_GROUP_CATEGORY},
    {.name = "patterns", .query = "", .sort = PW_COLUMN_SHARE, .descending = true, .group = PW_GROUP_PATTERN},
};

void pw_tui_views_init(struct pw_tui *tui)
{
    tui->view_count = (int)(sizeof built_in / sizeof *built_in);
    memcpy(tui->views, built_in, sizeof built_in);
}

void pw_tui_apply_view(struct pw_tui *tui, const struct pw_tui_view *view)
{
    struct pw_error err = {0};
    struct pw_tui_view copy = *view;

    tui->sort = copy.sort;
    tui->descending = copy.descending;
    pw_tui_set_filter(tui, copy.query);
    if (pw_tui_set_group(tui, copy.group, &err) != PW_OK)
        pw_tui_say(tui, true, "%s", err.message);
    tui->cursor = tui->top = 0;
    pw_tui_go(tui, PW_SCREEN_INVENTORY);
}

static bool read_field(const char **line, char *out, size_t size)
{
    size_t length = strcspn(*line, "\t\n");

    if (length >= size)
        return false;
    memcpy(out, *line, length);
    out[length] = '\0';
    *line += length + ((*line)[length] == '\t');
    return true;
}

/* name, query, column (- before it: descending), group */
static bool read_view(const char *line, struct pw_tui_view *view)
{
    char column[32], group[32];
    const char *name = column;

    *view = (struct pw_tui_view){.sort = PW_COLUMN_COUNT, .group = PW_GROUP_COUNT, .saved = true};
    if (!read_field(&line, view->name, sizeof view->name) || !read_field(&line, view->query, sizeof view->query) ||
        !read_field(&line, column, sizeof column) || !read_field(&line, group, sizeof group) || !view->name[0])
        return false;
    if (*name == '-') {
        view->descending = true;
        name++;
    }
    for (int c = 0; c < PW_COLUMN_COUNT; c++)
        if (!strcmp(pw_tui_column_name((pw_column)c), name))
            view->sort = (pw_column)c;
    for (int g = 0; g < PW_GROUP_COUNT; g++)
        if (!strcmp(pw_tui_group_name((pw_group)g), group))
            view->group = (pw_group)g;
    return view->sort != PW_COLUMN_COUNT && view->group != PW_GROUP_COUNT;
}

int pw_tui_view_find(const struct pw_tui *tui, const char *name)
{
    for (int i = 0; i < tui->view_count; i++)
        if (!strcasecmp(tui->views[i].name, name))
            return i;
    return -1;
}

/* Among those that are shown; false: there is no room. */
static bool put(struct pw_tui *tui, const struct pw_tui_view *view)
{
    int at = pw_tui_view_find(tui, view->name);

    if (view->saved) {
        if (at < 0 && tui->view_count == PW_TUI_VIEWS)
            return false;
        tui->views[at >= 0 ? at : tui->view_count++] = *view;
    } else if (at >= 0) {
        memmove(&tui->views[at], &tui->views[at + 1], (size_t)(tui->view_count - at - 1) * sizeof *tui->views);
        tui->view_count--;
    }
    return true;
}

bool pw_tui_view_change(struct pw_tui *tui, const struct pw_tui_view *view)
{
    int at = 0;

    while (at < tui->view_change_count && strcasecmp(tui->view_changes[at].name, view->name) != 0)
        at++;
    if (at == PW_TUI_VIEWS || !put(tui, view))
        return false;
    tui->view_changes[at] = *view;
    tui->view_change_count += at == tui->view_change_count;
    return true;
}

/* A built-in view keeps its name: a file from elsewhere may have that too. */
static const char *read_line(struct pw_tui *tui, const char *text)
{
    struct pw_tui_view view;
    int at;

    if (!read_view(text, &view))
        return "expected name, query, column and group between tabs";
    at = pw_tui_view_find(tui, view.name);
    if (at >= 0 && !tui->views[at].saved)
        return "a built-in view has that name";
    return put(tui, &view) ? NULL : "there are more than are kept";
}

void pw_tui_views_read(struct pw_tui *tui, const char *text)
{
    int complained = 0;

    pw_tui_views_init(tui);
    for (int number = 1; *text; number++) {
        size_t length = strcspn(text, "\n");
        const char *why = length && *text != '#' ? read_line(tui, text) : NULL;

        if (why && !complained) { /* the first says it for all */
            complained = number;
            if (tui->views_complained != number)
                pw_tui_say(tui, true, "saved views, line %d: %s", number, why);
        }
        text += length + (text[length] == '\n');
    }
    tui->views_complained = complained;
    for (int i = 0; i < tui->view_change_count; i++)
        put(tui, &tui->view_changes[i]);
}

void pw_tui_view_line(const struct pw_tui_view *view, struct pw_buf *out)
{
    pw_buf_printf(out, "%s\t%s\t%s%s\t%s", view->name, view->query, view->descending ? "-" : "",
                  pw_tui_column_name(view->sort), pw_tui_group_name(view->group));
}

/* A text without the latest changes would undo these. */
void pw_tui_views_event(struct pw_tui *tui, const struct pw_event *event)
{
    tui->views_unanswered -= event->about && tui->views_unanswered ? 1 : 0;
    if (event->failed && event->about)
        pw_tui_say(tui, true, "the view holds until you quit: %s", event->error.message);
    else if (event->failed)
        pw_tui_say(tui, true, "saved views: %s", event->error.message);
    else if (!tui->views_unanswered)
        pw_tui_views_read(tui, event->text);
}
