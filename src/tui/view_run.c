/* The run: progress, what is left, failures as they come, and the totals afterwards. */
#include <stdio.h>
#include <string.h>

#include "tui/tui.h"

enum { WIDE = 48 }; /* columns: for what an ended run did, and how fast */

static void bar_text(char *out, size_t size, int width, double share, bool ascii)
{
    const char *full = ascii ? "#" : "\u2588", *rest = ascii ? "." : "\u00b7";
    size_t used = 0;

    for (int i = 0; i < width; i++) {
        const char *glyph = (double)i + 0.5 < share * width ? full : rest;

        if (used + strlen(glyph) + 1 > size)
            break;
        memcpy(out + used, glyph, strlen(glyph));
        used += strlen(glyph);
    }
    out[used] = '\0';
}

static void add_progress(const struct pw_tui *tui, struct pw_lines *lines)
{
    double share = tui->at->total ? (double)tui->at->done / (double)tui->at->total : 0;
    double elapsed = (double)(tui->at->run_now_ms - tui->at->run_begin_ms) / 1000;
    int width = lines->width - 44 > 40 ? 40 : lines->width - 44;
    const char *unit = tui->at->unit ? tui->at->unit : "cases";
    char bar[256], left[32];

    if (tui->at->running && !tui->at->total) {
        pw_lines_addf(lines, PW_STYLE_ACCENT, 1, "%s begins", tui->at->job);
        return;
    }
    if (!tui->at->running) {
        pw_lines_addf(lines, PW_STYLE_NORMAL, 1, "%s%s: %zu of %zu %s", tui->at->job ? tui->at->job : "",
                      tui->at->run_error[0] ? "" : " ended", tui->at->done, tui->at->total, unit);
    } else if (width > 4) {
        bar_text(bar, sizeof bar, width, share, tui->ascii);
        pw_lines_add(lines, PW_STYLE_ACCENT, 1, bar);
        pw_lines_moref(lines, PW_STYLE_NORMAL, width + 2, "%zu/%zu %s", tui->at->done, tui->at->total, unit);
    } else {
        pw_lines_addf(lines, PW_STYLE_NORMAL, 1, "%zu/%zu %s", tui->at->done, tui->at->total, unit);
    }
    if (elapsed > 0 && tui->at->done && (tui->at->running || lines->width >= WIDE)) /* else it is cut off */
        pw_lines_moref(lines, PW_STYLE_DIM, 0, "  %.1f a second", (double)tui->at->done / elapsed);
    if (tui->at->running && tui->at->done && tui->at->done < tui->at->total)
        pw_lines_moref(lines, PW_STYLE_DIM, 0, "  %s left",
                       elapsed * (1 - share) < share
                           ? "under a second"
                           : pw_text_duration(left, sizeof left, elapsed * (1 - share) / share));
    else if (tui->at->running && tui->at->done == tui->at->total && !strcmp(unit, "cases"))
        pw_lines_more(lines, PW_STYLE_DIM, 0, "  timing, one at a time");
}

static void add_totals(const struct pw_tui *tui, struct pw_lines *lines)
{
    const struct pw_verify_totals *t = &tui->at->totals;
    char text[160];

    if (lines->width < 80) {
        snprintf(text, sizeof text, "held %zu, failed %zu, unproven or host %zu, mistrusted %zu, cases %zu (warn %zu)",
                 t->held, t->failed, t->unproven, t->mistrusted, t->cases, t->warned);
        pw_lines_wrap(lines, t->failed ? PW_STYLE_BAD : PW_STYLE_NORMAL, 1, text);
        return;
    }
    pw_lines_addf(lines, t->held ? PW_STYLE_GOOD : PW_STYLE_DIM, 1, "held %zu  ", t->held);
    pw_lines_moref(lines, t->failed ? PW_STYLE_BAD : PW_STYLE_DIM, 0, "failed %zu  ", t->failed);
    pw_lines_moref(lines, PW_STYLE_DIM, 0, "unproven or host %zu  mistrusted %zu  cases %zu (warn %zu)", t->unproven,
                   t->mistrusted, t->cases, t->warned);
}

static void add_failures(const struct pw_tui *tui, struct pw_lines *lines, bool verify)
{
    const struct pw_tui_side *side = tui->at;
    size_t cases = 0;

    for (int i = 0; i < side->failure_count; i++)
        cases += side->failures[i].cases;
    if (!verify && !side->failure_count) /* nothing of a verification to tell */
        return;
    pw_lines_add(lines, PW_STYLE_NORMAL, 0, "");
    pw_lines_addf(lines, side->failure_count ? PW_STYLE_BAD : PW_STYLE_DIM, 1, "%zu failure%s%s", cases,
                  cases == 1 ? "" : "s",
                  !verify         ? " of the last verification"
                  : side->running ? " so far"
                                  : "");
    for (int i = 0; i < side->failure_count; i++) {
        pw_lines_add(lines, PW_STYLE_NORMAL, 3, "");
        pw_lines_about(lines, side->failures[i].signature);
        if (side->failures[i].cases > 1) /* in front: the text may go on over the edge */
            pw_lines_moref(lines, PW_STYLE_BAD, 3, "%zu cases: ", side->failures[i].cases);
        pw_lines_more(lines, PW_STYLE_NORMAL, 3, side->failures[i].text);
    }
}

void pw_view_run(struct pw_tui *tui, struct pw_lines *lines)
{
    const struct pw_tui_side *side = tui->at;
    bool verify = side->job && !strcmp(side->job, "verify");

    pw_lines_add(lines, PW_STYLE_NORMAL, 0, "");
    if (side->device_failed) {
        pw_lines_add(lines, PW_STYLE_NORMAL, 2, "The target could not be used, so nothing can run:");
        pw_lines_wrap(lines, PW_STYLE_BAD, 2, side->device_why);
        return;
    }
    if (!side->running && !side->device_ready) {
        pw_lines_wrap(lines, PW_STYLE_DIM, 2, "The target is being opened; what is asked for runs as soon as it is.");
        return;
    }
    if (!side->running && !side->outcome[0]) {
        pw_lines_wrap(lines, PW_STYLE_DIM, 2,
                      "Nothing has run yet. a verifies every signature on the target and times it; in the inventory v "
                      "and b verify and time one; on the end-to-end screen (5) r runs the graph.");
        return;
    }
    if (side->job)
        add_progress(tui, lines);
    if (side->running)
        pw_lines_add(lines, PW_STYLE_DIM, 1, side->running_text);
    else if (verify && !side->run_error[0])
        add_totals(tui, lines);
    else
        pw_lines_wrap(lines, side->outcome_failed ? PW_STYLE_BAD : PW_STYLE_NORMAL, 1, side->outcome);
    if (side->job && (!strcmp(side->job, "run") || !strcmp(side->job, "sweep")))
        pw_lines_add(lines, PW_STYLE_DIM, 1,
                     strcmp(side->job, "run") ? "5 shows the layers" : "5 shows it node by node");
    add_failures(tui, lines, verify);
}
