/* The screens of the baselines and of the device: what the session answered, line by line. */
#include <stdio.h>
#include <string.h>

#include "tui/tui.h"

static bool begins(const char *text, const char *word)
{
    text += strspn(text, " ");
    return !strncmp(text, word, strlen(word)) && (text[strlen(word)] == ' ' || !text[strlen(word)]);
}

/* A line of the list or of the difference; what does not fit goes on below, under its own beginning. */
static void add_baseline_line(struct pw_lines *lines, const char *line, size_t length)
{
    int blanks = (int)strspn(line, " ");
    pw_style style = PW_STYLE_NORMAL;
    char text[2048];

    snprintf(text, sizeof text, "%.*s", (int)length, line);
    if (!text[0]) {
        pw_lines_add(lines, PW_STYLE_NORMAL, 0, "");
        return;
    }
    if (text[strlen(text) - 1] == ':')
        style = PW_STYLE_BOLD;
    else if (begins(text, "worse"))
        style = PW_STYLE_BAD;
    else if (begins(text, "better"))
        style = PW_STYLE_GOOD;
    else if (begins(text, "inconclusive") || strstr(text, " pending "))
        style = PW_STYLE_WARN;
    pw_lines_wrap(lines, style, 1 + blanks, text + blanks);
}

void pw_view_baselines(struct pw_tui *tui, struct pw_lines *lines)
{
    struct pw_buf command = {0};

    if (!tui->at->baselines) {
        pw_view_waiting(tui, lines, PW_ASK_BASELINES, "Looking at the baselines...");
        return;
    }
    if (!tui->at->baselines[0]) {
        pw_lines_wrap(lines, PW_STYLE_DIM, 3, "This graph has no baselines on this kind of target yet:");
        pw_tui_command(tui, "baseline record", false, &command);
        pw_lines_wrap(lines, PW_STYLE_NORMAL, 3, pw_buf_text(&command));
        pw_buf_clear(&command);
        pw_lines_wrap(lines, PW_STYLE_DIM, 3, "makes a pending one, A here approves it.");
        return;
    }
    for (const char *line = tui->at->baselines; *line;) {
        size_t length = strcspn(line, "\n");

        add_baseline_line(lines, line, length);
        line += length + (line[length] == '\n');
    }
}

#define LABEL_WIDTH 14  /* of the parts */
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

    if ((*line != ' ' && *line != '*') || name >= length)
        return;
    pw_lines_addf(lines, PW_STYLE_DIM, 3, "%.*s", (int)name, line);
    snprintf(value, sizeof value, "%.*s", (int)(length - name - 1), line + name + 1);
    if (FIELD_COLUMN + 1 + (int)pw_text_width(value) <= lines->width)
        pw_lines_moref(lines, PW_STYLE_NORMAL, FIELD_COLUMN, " %s", value[0] ? value : "-");
    else
        pw_lines_wrap(lines, PW_STYLE_NORMAL, 6, value);
}

/* "label         text": what goes on below stands under the text. */
static void add_labelled(struct pw_lines *lines, const char *text)
{
    size_t at = lines->count;
    char label[LABEL_WIDTH + 1];

    snprintf(label, sizeof label, "%.*s", LABEL_WIDTH, text);
    pw_lines_wrap(lines, PW_STYLE_NORMAL, 3 + LABEL_WIDTH, text + LABEL_WIDTH);
    if (lines->count > at)
        pw_lines_front(lines, at, PW_STYLE_DIM, 3, label);
}

/* "@head", then "-line"s of a part that stands on its own. */
static void add_part(struct pw_lines *lines, const char *line, size_t length, size_t name)
{
    char text[1024];

    (void)name;
    snprintf(text, sizeof text, "%.*s", (int)(length - 1), line + 1);
    if (*line == '@')
        pw_lines_head(lines, text);
    else if (*line == '-' && text[0] != ' ' && strlen(text) > LABEL_WIDTH && lines->width >= 60)
        add_labelled(lines, text);
    else if (*line == '-')
        pw_lines_wrap(lines, PW_STYLE_NORMAL, 3, text);
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
        pw_view_waiting(tui, lines, PW_ASK_ENVIRONMENT, "Looking at the environment...");
        return;
    }
    pw_lines_head(lines, "Lock");
    each_environment_line(tui->at->environment, lines, add_lock);
    each_environment_line(tui->at->environment, lines, add_part);
    pw_lines_head(lines, "Environment (what timings depend on is marked *)");
    each_environment_line(tui->at->environment, lines, add_field);
}
