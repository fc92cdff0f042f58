/* The frame around every screen: title, footer; and the screens that are plain lines (messages, help). */
#include <stdio.h>
#include <string.h>

#include "tui/tui.h"

static void draw_title(const struct pw_tui *tui, struct pw_canvas *canvas)
{
    int at, width = tui->columns;
    char right[200];

    pw_canvas_fill(canvas, 0, 0, width, PW_STYLE_TITLE, ' ');
    at = pw_canvas_printf(canvas, 0, 0, width, PW_STYLE_TITLE, " portwright  %s", pw_tui_screens[tui->screen].name);
    if (tui->running)
        snprintf(right, sizeof right, "verifying %zu/%zu ", tui->done, tui->total);
    else
        snprintf(right, sizeof right, "%.150s ", tui->device);
    at += pw_canvas_printf(canvas, 0, at, width - at - (int)pw_text_width(right) - 1, PW_STYLE_TITLE, "  %s",
                           tui->model_path);
    if (at + (int)pw_text_width(right) < width)
        pw_canvas_right(canvas, 0, at, width - at, PW_STYLE_TITLE, right);
}

static int footer_keys(const struct pw_tui_key *keys, struct pw_canvas *canvas, int row, int at)
{
    for (; keys->key; keys++) {
        int need = keys->does ? (int)(strlen(keys->label) + strlen(keys->does)) + 3 : 0;

        if (!keys->does || at + need > canvas->columns)
            continue;
        at += pw_canvas_text(canvas, row, at, canvas->columns - at, PW_STYLE_KEY, keys->label);
        at += pw_canvas_printf(canvas, row, at, canvas->columns - at, PW_STYLE_FOOTER, " %s", keys->does) + 2;
    }
    return at;
}

static void draw_footer(const struct pw_tui *tui, struct pw_canvas *canvas)
{
    int row = tui->rows - 1;

    pw_canvas_fill(canvas, row, 0, tui->columns, PW_STYLE_FOOTER, ' ');
    if (tui->typing) {
        int at = pw_canvas_printf(canvas, row, 0, tui->columns, PW_STYLE_KEY, "/%s", tui->filter);

        pw_canvas_text(canvas, row, at, tui->columns - at, PW_STYLE_FOOTER,
                       "_  Enter keeps, Esc drops; cov: sens: status: op: cat: node: flops>");
        return;
    }
    if (tui->flash[0]) {
        pw_canvas_printf(canvas, row, 0, tui->columns, tui->flash_failed ? PW_STYLE_BAD : PW_STYLE_FOOTER, "%s%s",
                         tui->flash, tui->flash_failed ? "  (m: messages)" : "");
        return;
    }
    footer_keys(pw_tui_global_keys, canvas, row, footer_keys(pw_tui_screens[tui->screen].keys, canvas, row, 0));
}

pw_status pw_tui_draw(struct pw_tui *tui, struct pw_canvas *canvas, struct pw_error *err)
{
    pw_status status = PW_OK;

    if (canvas->rows != tui->rows || canvas->columns != tui->columns)
        status = pw_canvas_resize(canvas, tui->rows, tui->columns, err);
    if (status != PW_OK)
        return status;
    pw_canvas_erase(canvas);
    if (tui->rows >= 3)
        pw_tui_screens[tui->screen].draw(tui, canvas, 1, pw_tui_body_rows(tui));
    draw_title(tui, canvas);
    if (tui->rows >= 2)
        draw_footer(tui, canvas);
    return PW_OK;
}

/* ---- screens of lines ---- */

/* Draws wrapped text at a virtual line; returns how many lines it took. */
static int wrapped(struct pw_canvas *canvas, int top, int rows, int line, int indent, pw_style style, const char *text)
{
    int width = canvas->columns - indent - 1, used = 0;
    size_t left = strlen(text);

    if (width < 8)
        width = 8;
    do {
        size_t take = left <= (size_t)width ? left : (size_t)width;

        if (take < left) /* break at the last blank that fits */
            for (size_t i = take; i > take / 2; i--)
                if (text[i] == ' ') {
                    take = i;
                    break;
                }
        if (line + used >= 0 && line + used < rows) {
            char part[512];

            snprintf(part, sizeof part, "%.*s", (int)(take < sizeof part - 1 ? take : sizeof part - 1), text);
            pw_canvas_text(canvas, top + line + used, indent, width, style, part);
        }
        used++;
        text += take;
        left -= take;
        while (left && *text == ' ') {
            text++;
            left--;
        }
    } while (left);
    return used;
}

void pw_view_messages(struct pw_tui *tui, struct pw_canvas *canvas, int top, int rows)
{
    int line = -tui->scroll[PW_SCREEN_MESSAGES], first = line;

    if (!tui->message_count)
        pw_canvas_text(canvas, top + 1, 2, canvas->columns - 2, PW_STYLE_DIM, "No messages so far.");
    for (int i = tui->message_count - 1; i >= 0; i--)
        line += wrapped(canvas, top, rows, line, 1, tui->messages[i].failed ? PW_STYLE_BAD : PW_STYLE_NORMAL,
                        tui->messages[i].text);
    tui->lines[PW_SCREEN_MESSAGES] = line - first;
}

static int help_keys(struct pw_canvas *canvas, int top, int rows, int line, const struct pw_tui_key *keys)
{
    for (; keys->key; keys++) {
        if (line >= 0 && line < rows)
            pw_canvas_text(canvas, top + line, 2, 10, PW_STYLE_KEY, keys->label);
        line += wrapped(canvas, top, rows, line, 13, PW_STYLE_NORMAL, keys->help);
    }
    return line;
}

void pw_view_help(struct pw_tui *tui, struct pw_canvas *canvas, int top, int rows)
{
    int line = -tui->scroll[PW_SCREEN_HELP], first = line;

    line +=
        wrapped(canvas, top, rows, line, 1, PW_STYLE_NORMAL,
                "What is missing, what fails, what is worst: press a to verify all, n for the next problem, Enter for "
                "its detail. The inventory is sorted by what to do next.");
    for (int screen = 0; screen < PW_SCREEN_MESSAGES; screen++) {
        line++;
        line += wrapped(canvas, top, rows, line, 1, PW_STYLE_BOLD, pw_tui_screens[screen].name);
        line = help_keys(canvas, top, rows, line, pw_tui_screens[screen].keys);
    }
    line++;
    line += wrapped(canvas, top, rows, line, 1, PW_STYLE_BOLD, "everywhere");
    line = help_keys(canvas, top, rows, line, pw_tui_global_keys);
    tui->lines[PW_SCREEN_HELP] = line - first;
}
