/* The screens of the baselines and of the device: what the session answered, line by line. */
#include <stdio.h>
#include <string.h>

#include "tui/tui.h"

void pw_view_baselines(struct pw_tui *tui, struct pw_lines *lines)
{
    struct pw_buf command = {0};

    if (!tui->at->baselines) {
        pw_lines_add(lines, PW_STYLE_DIM, 3, "Looking at the baselines...");
        return;
    }
    if (!tui->at->baselines[0]) {
        pw_lines_wrap(lines, PW_STYLE_DIM, 3, "This graph has no baselines on this kind of target yet:");
        pw_tui_command(tui, "baseline record", &command);
        pw_lines_wrap(lines, PW_STYLE_NORMAL, 3, pw_buf_text(&command));
        pw_buf_clear(&command);
        pw_lines_wrap(lines, PW_STYLE_DIM, 3, "makes a pending one, A here approves it.");
        return;
    }
    for (const char *line = tui->at->baselines; *line;) {
        size_t length = strcspn(line, "\n");

        pw_lines_addf(lines, length && line[length - 1] == ':' ? PW_STYLE_BOLD : PW_STYLE_NORMAL, 1, "%.*s",
                      (int)length, line);
        line += length + (line[length] == '\n');
    }
}

#define FIELD_COLUMN 36 /* a value that does not fit behind it goes below its name */

/* A line of the environment's text: its mark, and the parts before and after the tab. */
typedef void add_line(struct pw_lines *lines, const char *line, size_t length, size_t name);

static void add_lock(struct pw_lines *lines, const char *line, size_t length, size_t name)
{
    char text[1024];

    (void)name;
    snprintf(text, sizeof text, "%.*s", (int)(length - 1), line + 1);
    if (*line == '=' || *line == '!')
        pw_lines_wrap(lines, *line == '=' ? PW_STYLE_NORMAL : PW_STYLE_BAD, 3, text);
}

static void add_field(struct pw_lines *lines, const char *line, size_t length, size_t name)
{
    char value[1024];

    if (*line == '=' || *line == '!' || name >= length)
        return;
    pw_lines_addf(lines, PW_STYLE_DIM, 3, "%.*s", (int)name, line);
    snprintf(value, sizeof value, "%.*s", (int)(length - name - 1), line + name + 1);
    if (FIELD_COLUMN + 1 + (int)pw_text_width(value) <= lines->width)
        pw_lines_moref(lines, PW_STYLE_NORMAL, FIELD_COLUMN, " %s", value[0] ? value : "-");
    else
        pw_lines_wrap(lines, PW_STYLE_NORMAL, 6, value);
}

static void each_environment_line(const char *text, struct pw_lines *lines, add_line *add)
{
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");

        if (length)
            add(lines, line, length, strcspn(line, "\t\n"));
        line += length + (line[length] == '\n');
    }
}

void pw_view_device(struct pw_tui *tui, struct pw_lines *lines)
{
    pw_lines_addf(lines, PW_STYLE_BOLD, 1, "target %s", tui->at->target);
    if (tui->at->device_failed)
        pw_lines_add(lines, PW_STYLE_BAD, 3, tui->at->device);
    if (!tui->at->environment) {
        pw_lines_add(lines, PW_STYLE_DIM, 3, "Looking at the environment...");
        return;
    }
    pw_lines_head(lines, "Lock");
    each_environment_line(tui->at->environment, lines, add_lock);
    pw_lines_head(lines, "Environment (what timings depend on is marked *)");
    each_environment_line(tui->at->environment, lines, add_field);
}
