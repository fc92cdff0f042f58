/* Named queries: a few built in, others saved by the user (text, one a line; the program's loop reads and writes it).
 */
#include <stdio.h>
#include <string.h>

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

bool pw_tui_views_read(struct pw_tui *tui, const char *text)
{
    bool whole = true;

    for (int number = 1; *text; number++) {
        size_t length = strcspn(text, "\n");
        struct pw_tui_view view;

        if (length && *text != '#') {
            bool room = tui->view_count < PW_TUI_VIEWS, read = read_view(text, &view);

            if (read && room)
                tui->views[tui->view_count++] = view;
            else if (whole) /* the first says it for all */
                pw_tui_say(tui, true, "saved views, line %d: %s", number,
                           read ? "there are more than are kept"
                                : "expected name, query, column and group between tabs");
            whole = whole && read && room;
        }
        text += length + (text[length] == '\n');
    }
    return whole;
}

void pw_tui_views_write(const struct pw_tui *tui, struct pw_buf *out)
{
    for (int i = 0; i < tui->view_count; i++) {
        const struct pw_tui_view *view = &tui->views[i];

        if (view->saved)
            pw_buf_printf(out, "%s\t%s\t%s%s\t%s\n", view->name, view->query, view->descending ? "-" : "",
                          pw_tui_column_name(view->sort), pw_tui_group_name(view->group));
    }
}
