/* The run: progress, what is left, failures as they come, and the totals afterwards. */
#include <stdio.h>
#include <string.h>

#include "tui/tui.h"

static void draw_progress(const struct pw_tui *tui, struct pw_canvas *canvas, int row)
{
    double share = tui->total ? (double)tui->done / (double)tui->total : 0;
    double elapsed = (double)(tui->run_now_ms - tui->run_begin_ms) / 1000;
    int bar = canvas->columns - 30 > 40 ? 40 : canvas->columns - 30, at = 1;
    char left[32];

    if (bar > 4) {
        pw_canvas_bar(canvas, row, at, bar, share, PW_STYLE_ACCENT);
        at += bar + 1;
    }
    at += pw_canvas_printf(canvas, row, at, canvas->columns - at, PW_STYLE_NORMAL, "%zu/%zu  ", tui->done, tui->total);
    if (tui->running && tui->done && tui->done < tui->total)
        pw_canvas_printf(canvas, row, at, canvas->columns - at, PW_STYLE_DIM, "%s left",
                         pw_text_duration(left, sizeof left, elapsed * (1 - share) / share));
    else if (tui->running && tui->done == tui->total)
        pw_canvas_text(canvas, row, at, canvas->columns - at, PW_STYLE_DIM, "timing, one at a time");
}

static void draw_totals(const struct pw_tui *tui, struct pw_canvas *canvas, int row)
{
    const struct pw_verify_totals *t = &tui->totals;
    int at = 1;

    at += pw_canvas_printf(canvas, row, at, canvas->columns - at, t->held ? PW_STYLE_GOOD : PW_STYLE_DIM, "held %zu  ",
                           t->held);
    at += pw_canvas_printf(canvas, row, at, canvas->columns - at, t->failed ? PW_STYLE_BAD : PW_STYLE_DIM,
                           "failed %zu  ", t->failed);
    pw_canvas_printf(canvas, row, at, canvas->columns - at, PW_STYLE_DIM,
                     "unproven or host %zu  mistrusted %zu  cases %zu (warn %zu)", t->unproven, t->mistrusted, t->cases,
                     t->warned);
}

void pw_view_run(struct pw_tui *tui, struct pw_canvas *canvas, int top, int rows)
{
    int row = top + 1, list, first;

    if (!tui->running && !tui->ran && !tui->run_error[0]) {
        pw_canvas_text(canvas, row, 2, canvas->columns - 2, PW_STYLE_DIM,
                       tui->device_failed ? "The target could not be used: m shows why."
                                          : "Nothing has run yet. a verifies every signature on the target.");
        return;
    }
    draw_progress(tui, canvas, row++);
    if (tui->running)
        pw_canvas_text(canvas, row, 1, canvas->columns - 1, PW_STYLE_DIM, tui->running_text);
    else if (tui->run_error[0])
        pw_canvas_text(canvas, row, 1, canvas->columns - 1, PW_STYLE_BAD, tui->run_error);
    else
        draw_totals(tui, canvas, row);
    row += 2;
    if (row < top + rows)
        pw_canvas_printf(canvas, row++, 1, canvas->columns - 1, tui->failure_count ? PW_STYLE_BAD : PW_STYLE_DIM,
                         "%d failures so far", tui->failure_count);
    list = top + rows - row;
    first = tui->scroll[PW_SCREEN_RUN];
    tui->lines[PW_SCREEN_RUN] = tui->failure_count + rows - (list > 0 ? list : 0);
    for (int i = 0; i < list && first + i < tui->failure_count; i++)
        pw_canvas_text(canvas, row + i, 3, canvas->columns - 3, PW_STYLE_NORMAL, tui->failures[first + i].text);
}
