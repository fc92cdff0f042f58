/* The frame around every screen: title, footer; and the screens that are plain lines (messages, help). */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "tui/tui.h"

/* As much of the path's end as fits: its last folders tell models apart, its first ones do not. */
static const char *path_end(const char *path, int room)
{
    const char *end = path;

    while ((int)pw_text_width(end) + (end > path ? 2 : 0) > room && strchr(end + 1, '/'))
        end = strchr(end + 1, '/');
    return end;
}

static void draw_title(const struct pw_tui *tui, struct pw_canvas *canvas)
{
    int at, room, width = tui->columns;
    const char *path;
    char right[200];

    pw_canvas_fill(canvas, 0, 0, width, PW_STYLE_TITLE, ' ');
    at = pw_canvas_printf(canvas, 0, 0, width, PW_STYLE_TITLE, " portwright  %s", pw_tui_screens[tui->screen].name);
    if (tui->reading)
        snprintf(right, sizeof right, "reading ");
    else if (tui->at->running && !tui->at->total)
        snprintf(right, sizeof right, "%s... ", tui->at->job ? tui->at->job : "");
    else if (tui->at->running)
        snprintf(right, sizeof right, "%s %zu/%zu ", tui->at->job ? tui->at->job : "", tui->at->done, tui->at->total);
    else
        snprintf(right, sizeof right, "%.150s%s ", tui->at->device, tui->side_count > 1 ? " (T: next)" : "");
    room = width - at - (int)pw_text_width(right) - 1;
    path = path_end(tui->model_path, room - 2);
    at += pw_canvas_printf(canvas, 0, at, room, PW_STYLE_TITLE, "  %s%s",
                           path == tui->model_path ? ""
                           : canvas->ascii         ? ".."
                                                   : "\u2026",
                           path);
    if (at + (int)pw_text_width(right) < width)
        pw_canvas_right(canvas, 0, at, width - at, PW_STYLE_TITLE, right);
}

/* Does the screen use a key for itself? */
static bool taken(const struct pw_tui *tui, uint32_t key)
{
    for (const struct pw_tui_key *own = pw_tui_screens[tui->screen].keys; own->key; own++)
        if (own->key == key || own->alias == key)
            return true;
    return false;
}

/* Walks the keys that the footer names from left to right; draws them, or finds the one at a column. */
static int footer_keys(const struct pw_tui_key *keys, const struct pw_tui *tui, struct pw_canvas *canvas, int at,
                       int limit, int column, uint32_t *found)
{
    bool global = keys == pw_tui_global_keys;

    for (; keys->key; keys++) {
        int label = (int)pw_text_width(keys->label), need = keys->does ? label + (int)strlen(keys->does) + 3 : 0;

        if (!keys->does || at + need > limit || (global && taken(tui, keys->key)))
            continue;
        if (canvas) {
            pw_canvas_text(canvas, tui->rows - 1, at, label, PW_STYLE_KEY, keys->label);
            pw_canvas_text(canvas, tui->rows - 1, at + label + 1, need, PW_STYLE_FOOTER, keys->does);
        } else if (column >= at && column < at + need - 1) {
            *found = keys->key;
        }
        at += need;
    }
    return at;
}

static int footer_walk(const struct pw_tui *tui, struct pw_canvas *canvas, int column, uint32_t *found)
{
    const int help = 8; /* help keeps its place */
    int at = 0;

    if (!tui->reading) /* nothing to do it with yet */
        at = footer_keys(pw_tui_screens[tui->screen].keys, tui, canvas, 0, tui->columns - help, column, found);
    return footer_keys(pw_tui_global_keys, tui, canvas, at, tui->columns, column, found);
}

/* The command whose words are being typed; NULL: none, or its name is. */
static const struct pw_tui_command *begun_command(const char *text)
{
    size_t length = strcspn(text, " ");

    for (const struct pw_tui_command *c = pw_tui_commands; c->name && text[length]; c++)
        if (strlen(c->name) == length && !strncmp(c->name, text, length))
            return c;
    return NULL;
}

/* The open prompt: its sign, the text scrolled so that the cursor is seen, and a hint behind it. */
static void draw_prompt(const struct pw_tui *tui, struct pw_canvas *canvas, int row)
{
    static const char *const signs[] = {"", "/", "/", ":"};
    static const char *const hints[] = {"", "Enter keeps, Esc drops; cov: sens: status: op: cat: node: flops>",
                                        "Enter finds, Esc drops", "Tab completes, Enter does it, Esc drops"};
    const struct pw_prompt *prompt = &tui->prompt;
    const struct pw_tui_command *command;
    char before[PW_PROMPT_MAX];
    const char *text = prompt->text;
    int at, cursor;

    memcpy(before, prompt->text, prompt->cursor);
    before[prompt->cursor] = '\0';
    for (cursor = (int)pw_text_width(before); cursor > tui->columns - 3 && *text;) { /* cut on the left */
        uint32_t code;
        size_t size = pw_text_decode(text, strlen(text), &code);

        cursor -= pw_text_width_code(code);
        text += size;
    }
    at = pw_canvas_text(canvas, row, 0, tui->columns, PW_STYLE_KEY, signs[prompt->kind]);
    cursor += at;
    at += pw_canvas_text(canvas, row, at, tui->columns - at, PW_STYLE_FOOTER, text);
    pw_canvas_style(canvas, row, cursor, 1, PW_STYLE_SELECTED);
    if (prompt->kind == PW_PROMPT_QUERY && tui->query.problem[0])
        pw_canvas_text(canvas, row, at + 2, tui->columns - at - 2, PW_STYLE_BAD, tui->query.problem);
    else if (prompt->kind == PW_PROMPT_COMMAND && (command = begun_command(prompt->text)) != NULL)
        pw_canvas_printf(canvas, row, at + 2, tui->columns - at - 2, PW_STYLE_DIM, "%s  Enter does it, Esc drops",
                         command->arguments);
    else
        pw_canvas_text(canvas, row, at + 2, tui->columns - at - 2, PW_STYLE_DIM, hints[prompt->kind]);
}

/* What completes the palette's line, above it: which candidates have a row, and whether the last row says how many
 * there are. */
struct candidates {
    const char *typed;
    int first, count, total;
    int row; /* of the first */
    bool more;
};

static struct candidates list_candidates(const struct pw_tui *tui)
{
    int row = tui->rows - 1, room = row - 2 < 10 ? row - 2 : 10;
    struct candidates list = {.typed = tui->completion >= 0 ? tui->completing : tui->prompt.text};
    struct pw_buf line = {0};
    const char *help;

    for (; pw_tui_complete(tui, list.typed, (size_t)list.total, &line, &help); list.total++)
        pw_buf_clear(&line);
    list.more = list.total > room && room > 1;
    room -= list.more;
    list.first = tui->completion >= room ? tui->completion - room + 1 : 0;
    list.count = room < 0 ? 0 : list.total - list.first < room ? list.total - list.first : room;
    list.row = row - list.count - list.more;
    return list;
}

int pw_view_candidate(const struct pw_tui *tui, int row)
{
    struct candidates list = list_candidates(tui);

    return row >= list.row && row < list.row + list.count ? list.first + row - list.row : -1;
}

static void draw_candidates(const struct pw_tui *tui, struct pw_canvas *canvas)
{
    struct candidates list = list_candidates(tui);
    int help_at = tui->columns < 60 ? 18 : 28;
    struct pw_buf line = {0};
    const char *help = "";

    for (int i = 0; i < list.count; i++) {
        int at = list.row + i;
        pw_style style = list.first + i == tui->completion ? PW_STYLE_SELECTED : PW_STYLE_FOOTER;

        if (!pw_tui_complete(tui, list.typed, (size_t)(list.first + i), &line, &help))
            break;
        pw_canvas_fill(canvas, at, 0, tui->columns, style, ' ');
        pw_canvas_text(canvas, at, 1, help_at - 2, style, pw_buf_text(&line));
        pw_canvas_text(canvas, at, help_at, tui->columns - help_at, style, help);
        pw_buf_clear(&line);
    }
    if (!list.more)
        return;
    pw_canvas_fill(canvas, tui->rows - 2, 0, tui->columns, PW_STYLE_DIM, ' ');
    pw_canvas_printf(canvas, tui->rows - 2, 1, tui->columns - 1, PW_STYLE_DIM, "%d to %d of %d", list.first + 1,
                     list.first + list.count, list.total);
}

/* Behind the last message, where it is cut, or failed: the key that shows all of it. */
static const char *behind_flash(const struct pw_tui *tui)
{
    return tui->flash_failed ? "  (m: messages)" : (int)pw_text_width(tui->flash) > tui->columns ? "  (m: all)" : "";
}

static void draw_flash(const struct pw_tui *tui, struct pw_canvas *canvas, int row)
{
    pw_style style = tui->flash_failed ? PW_STYLE_BAD : PW_STYLE_FOOTER;
    const char *behind = behind_flash(tui);
    int at = pw_canvas_text(canvas, row, 0, tui->columns - (int)strlen(behind), style, tui->flash);

    pw_canvas_text(canvas, row, at, tui->columns - at, style, behind);
}

uint32_t pw_view_footer_key(const struct pw_tui *tui, int column)
{
    int behind = (int)strlen(behind_flash(tui)), at = (int)pw_text_width(tui->flash);
    uint32_t found = 0;

    at = at > tui->columns - behind ? tui->columns - behind : at;
    if (tui->flash[0]) /* it lies over the keys */
        return behind && column >= at + 2 && column < at + behind ? 'm' : 0;
    footer_walk(tui, NULL, column, &found);
    return found;
}

static void draw_footer(const struct pw_tui *tui, struct pw_canvas *canvas)
{
    int row = tui->rows - 1;

    pw_canvas_fill(canvas, row, 0, tui->columns, PW_STYLE_FOOTER, ' ');
    if (tui->prompt.kind != PW_PROMPT_CLOSED) {
        draw_prompt(tui, canvas, row);
        if (tui->prompt.kind == PW_PROMPT_COMMAND)
            draw_candidates(tui, canvas);
    } else if (tui->flash[0]) {
        draw_flash(tui, canvas, row);
    } else {
        footer_walk(tui, canvas, 0, NULL);
    }
}

/* rows 0: all lines, else those of the window at least. */
static void fill(struct pw_tui *tui, int first, int rows)
{
    pw_lines_begin(&tui->text, tui->columns);
    tui->text.seen_first = (size_t)(first > 0 ? first : 0);
    tui->text.seen_rows = (size_t)rows;
    pw_tui_screens[tui->screen].fill(tui, &tui->text);
}

void pw_tui_fill(struct pw_tui *tui)
{
    fill(tui, 0, 0);
}

void pw_tui_fill_part(struct pw_tui *tui, size_t first, size_t count)
{
    fill(tui, (int)(first < INT_MAX ? first : INT_MAX), (int)count);
}

void pw_tui_place(struct pw_tui *tui)
{
    fill(tui, 0, 1);
}

/* The line that Enter opens. */
static void draw_chosen(const struct pw_tui *tui, struct pw_canvas *canvas, int top, int first)
{
    int line = pw_tui_list_line(tui), row = top + line - first;

    if (line < 0)
        return;
    pw_canvas_style(canvas, row, 0, canvas->columns, PW_STYLE_SELECTED);
    pw_canvas_text(canvas, row, 0, 1, PW_STYLE_SELECTED, ">");
}

/* Fills, clamps the scroll, draws a bar at the right edge when there is more than fits. */
static void draw_lines(struct pw_tui *tui, struct pw_canvas *canvas, int top, int rows)
{
    int *scroll = &tui->scroll[tui->screen], count, wanted = *scroll;

    fill(tui, wanted, rows);
    count = (int)tui->text.count;
    tui->lines[tui->screen] = count;
    if (*scroll > count - rows)
        *scroll = count - rows;
    if (*scroll < 0)
        *scroll = 0;
    if (*scroll != wanted)
        fill(tui, *scroll, rows);
    pw_lines_draw(&tui->text, canvas, top, rows, *scroll, tui->left[tui->screen], tui->search);
    draw_chosen(tui, canvas, top, *scroll);
    if (count > rows && rows > 0) {
        int size = rows * rows / count > 0 ? rows * rows / count : 1;
        int at = (int)((int64_t)(rows - size) * *scroll / (count - rows));

        for (int i = 0; i < size; i++)
            pw_canvas_text(canvas, top + at + i, tui->columns - 1, 1, PW_STYLE_DIM, canvas->ascii ? "|" : "\u2590");
    }
}

pw_status pw_tui_draw(struct pw_tui *tui, struct pw_canvas *canvas, struct pw_error *err)
{
    const struct pw_tui_screen *screen = &pw_tui_screens[tui->screen];
    pw_status status = PW_OK;

    if (canvas->rows != tui->rows || canvas->columns != tui->columns)
        status = pw_canvas_resize(canvas, tui->rows, tui->columns, err);
    if (status != PW_OK)
        return status;
    pw_canvas_erase(canvas);
    tui->ascii = canvas->ascii;
    if (tui->rows >= 3 && screen->draw)
        screen->draw(tui, canvas, 1, pw_tui_body_rows(tui));
    else if (tui->rows >= 3)
        draw_lines(tui, canvas, 1, pw_tui_body_rows(tui));
    draw_title(tui, canvas);
    if (tui->rows >= 2)
        draw_footer(tui, canvas);
    return PW_OK;
}

void pw_view_waiting(const struct pw_tui *tui, struct pw_lines *lines, pw_ask ask, const char *looking)
{
    const char *why = tui->at->no_answer[ask];

    pw_lines_wrap(lines, why[0] ? PW_STYLE_NORMAL : PW_STYLE_DIM, 3, why[0] ? why : looking);
}

/* ---- messages and help ---- */

void pw_view_messages(struct pw_tui *tui, struct pw_lines *lines)
{
    if (!tui->message_count)
        pw_lines_add(lines, PW_STYLE_DIM, 2, "No messages so far: what runs says here how it went. Esc goes back.");
    for (int i = tui->message_count - 1; i >= 0; i--)
        pw_lines_wrap(lines, tui->messages[i].failed ? PW_STYLE_BAD : PW_STYLE_NORMAL, 1, tui->messages[i].text);
}

static void help_entry(struct pw_lines *lines, const char *label, int width, const char *help)
{
    size_t before = lines->count;

    pw_lines_wrap(lines, PW_STYLE_NORMAL, width, help);
    if (lines->count == before)
        pw_lines_add(lines, PW_STYLE_NORMAL, width, "");
    pw_lines_front(lines, before, PW_STYLE_KEY, 2, label);
}

static void help_keys(struct pw_lines *lines, const struct pw_tui_key *keys)
{
    for (; keys->key; keys++) {
        char label[32], alias[8] = "";

        if (keys->alias == PW_KEY_BACKSPACE)
            memcpy(alias, "Bksp", 5);
        else if (keys->alias && keys->alias < PW_KEY_UP)
            alias[pw_text_encode(alias, keys->alias)] = '\0';
        snprintf(label, sizeof label, "%s%s%s", keys->label, alias[0] && !strstr(keys->label, alias) ? ", " : "",
                 strstr(keys->label, alias) ? "" : alias);
        help_entry(lines, label, 13, keys->help);
    }
}

static void help_screen(struct pw_lines *lines, pw_screen screen)
{
    pw_lines_head(lines, screen == PW_SCREEN_MESSAGES ? "messages and this help" : pw_tui_screens[screen].name);
    help_keys(lines, pw_tui_screens[screen].keys);
}

/* The screen that help was asked for on comes first. */
void pw_view_help(struct pw_tui *tui, struct pw_lines *lines)
{
    const char *help, *name;
    char label[64];

    pw_lines_wrap(
        lines, PW_STYLE_NORMAL, 1,
        "What is missing, what fails, what is worst: press a to verify all, ! for the problems, Enter for the "
        "detail of the first. The inventory is sorted by what to do next.");
    help_screen(lines, tui->back);
    for (int screen = 0; screen < PW_SCREEN_HELP; screen++)
        if (screen != (int)tui->back)
            help_screen(lines, (pw_screen)screen);
    pw_lines_head(lines, "everywhere");
    help_keys(lines, pw_tui_global_keys);
    help_entry(lines, "^C, ^Z", 13, "Quits, or drops the line that is typed; suspends until fg.");
    help_entry(lines, "mouse", 13,
               "The wheel moves. A click chooses a row, and opens the chosen one; on a head it sorts; at the foot it "
               "presses the key that is named there.");
    pw_lines_head(lines, "signs in the inventory");
    help_entry(lines, "* held*", 13, "Before the operator: marked. Behind the verdict: of an earlier run.");
    help_entry(lines, "held**", 13,
               "With another kernel than the one that serves it now, in an earlier run or before it was edited: v "
               "verifies what "
               "is there now.");
    help_entry(lines, "80!", 13, "A priority that a person has set.");
    pw_lines_head(lines, "the palette (:), beside every action above by name");
    for (const struct pw_tui_command *c = pw_tui_commands; c->name; c++) {
        snprintf(label, sizeof label, "%s %s", c->name, c->arguments);
        help_entry(lines, label, 24, c->help);
    }
    pw_lines_head(lines, "queries (/ in the inventory)");
    pw_lines_wrap(lines, PW_STYLE_NORMAL, 2,
                  "Words that must all hold; -word the opposite, a,b either, quotes keep blanks.");
    for (size_t i = 0; (name = pw_query_key(i, &help)) != NULL; i++)
        help_entry(lines, name, 13, help);
}
