/* The timeline of a run: its nodes from left to right, each column as high as the time of those that it stands for. */
#include <stdio.h>
#include <string.h>

#include "tui/tui.h"

enum { SCALE = 10, BAR_MAX = 6, LEVELS = 8 };

const char *pw_view_time_glyph(bool on_target, bool ascii)
{
    return on_target ? (ascii ? "#" : "\u2588") : (ascii ? "%" : "\u2592");
}

pw_style pw_view_time_style(bool on_target)
{
    return on_target ? PW_STYLE_ACCENT : PW_STYLE_WARN;
}

/* How bad a standing is; patterns and what holds count nothing. */
static int severity(pw_node_standing standing)
{
    static const int of[PW_NODE_STANDING_COUNT] = {
        [PW_NODE_DRIFT] = 1, [PW_NODE_VICTIM] = 2, [PW_NODE_CULPRIT] = 3, [PW_NODE_FAILED] = 4};

    return of[standing];
}

static void divide(const struct pw_tui_endtoend *run, int width, struct pw_tui_timeline *line)
{
    size_t nodes = 0, at = 0;

    for (size_t i = 0; i < run->node_count; i++)
        nodes += run->nodes[i].node != NULL;
    *line =
        (struct pw_tui_timeline){.bar = 1, .width = width, .node_count = run->node_count, .finished = run->finished};
    width = width > PW_TUI_SLOTS ? PW_TUI_SLOTS : width;
    if (!nodes || width < 1)
        return;
    line->bar = nodes < (size_t)width ? width / (int)nodes : 1;
    line->bar = line->bar > BAR_MAX ? BAR_MAX : line->bar;
    line->slot_count = nodes < (size_t)width ? (int)nodes : width;
    for (size_t i = 0; i < run->node_count; i++) {
        const struct pw_tui_node *node = &run->nodes[i];
        struct pw_tui_slot *slot;

        if (!node->node)
            continue;
        slot = &line->slots[at++ * (size_t)line->slot_count / nodes];
        *(node->on_target ? &slot->target_ns : &slot->host_ns) += node->time_ns;
        if (severity(node->standing) > severity(slot->worst))
            slot->worst = node->standing;
        slot->first |= run->finished && node->node == run->totals.first_divergence;
    }
    for (int s = 0; s < line->slot_count; s++) {
        int64_t sum = line->slots[s].target_ns + line->slots[s].host_ns;

        line->most_ns = sum > line->most_ns ? sum : line->most_ns;
    }
}

/* How much of a cell is filled, 0 to LEVELS; *on_target: by what. The target's share stands below the host's. */
static int cell_level(const struct pw_tui_slot *slot, int64_t most_ns, int height, int row, bool *on_target)
{
    double scale = (double)(height * LEVELS) / (double)most_ns;
    double target = (double)slot->target_ns * scale, sum = target + (double)slot->host_ns * scale;
    int base = (height - 1 - row) * LEVELS, top = (int)(sum + 0.5);

    if (!top && sum > 0)
        top = 1; /* something is there */
    *on_target = target > base + 0.5 || (!slot->host_ns && slot->target_ns);
    if (*on_target && slot->host_ns && target < base + LEVELS / 2 && sum > base + LEVELS / 2)
        *on_target = false;
    return top - base < 0 ? 0 : top - base > LEVELS ? LEVELS : top - base;
}

static void append_level(struct pw_buf *text, int level, bool on_target, bool ascii)
{
    static const char *const eighths[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                          "\u2585", "\u2586", "\u2587", "\u2588"};

    if (!level)
        pw_buf_putc(text, ' ');
    else if (ascii)
        pw_buf_puts(text, level < LEVELS / 2 ? (on_target ? "." : ",") : pw_view_time_glyph(on_target, true));
    else if (on_target)
        pw_buf_puts(text, eighths[level]);
    else
        pw_buf_puts(text, level < LEVELS / 2 ? "\u2591" : pw_view_time_glyph(false, false));
}

static void add_row(const struct pw_tui_timeline *line, struct pw_lines *lines, int height, int row, bool ascii)
{
    char label[32] = "";

    if (row == 0)
        pw_text_duration(label, sizeof label, (double)line->most_ns / 1e9);
    else if (row == height - 1)
        snprintf(label, sizeof label, "0");
    pw_lines_addf(lines, PW_STYLE_DIM, 1, "%*s", SCALE, label);
    for (int s = 0; s < line->slot_count;) { /* a span as long as the style stays */
        struct pw_buf text = {0};
        bool kind = false, on_target = false;
        int begin = s;

        for (; s < line->slot_count; s++) {
            int level = cell_level(&line->slots[s], line->most_ns, height, row, &on_target);

            if (s == begin)
                kind = on_target;
            else if (on_target != kind)
                break;
            for (int b = 0; b < line->bar; b++)
                append_level(&text, b && b == line->bar - 1 ? 0 : level, on_target, ascii);
        }
        pw_lines_more(lines, pw_view_time_style(kind), SCALE + 2 + begin * line->bar, pw_buf_text(&text));
        pw_buf_clear(&text);
    }
}

/* Below: where nodes do not hold. */
static void add_marks(const struct pw_tui_timeline *line, struct pw_lines *lines, bool ascii)
{
    bool any = false;

    for (int s = 0; s < line->slot_count; s++) {
        const struct pw_tui_slot *slot = &line->slots[s];

        if (!severity(slot->worst))
            continue;
        if (!any)
            pw_lines_addf(lines, PW_STYLE_DIM, 1, "%*s", SCALE, "wrong");
        any = true;
        pw_lines_more(lines, severity(slot->worst) > 2 ? PW_STYLE_BAD : PW_STYLE_WARN, SCALE + 2 + s * line->bar,
                      slot->first                 ? (ascii ? "^" : "\u25b2")
                      : severity(slot->worst) > 2 ? "!"
                                                  : "~");
    }
}

void pw_view_timeline(struct pw_tui *tui, struct pw_lines *lines, int height)
{
    struct pw_tui_endtoend *run = &tui->at->endtoend;
    struct pw_tui_timeline *line = &run->timeline;
    int width = lines->width - SCALE - 4;
    struct pw_buf legend = {0};

    if (line->width != width || line->node_count != run->node_count || line->finished != run->finished)
        divide(run, width, line);
    if (!line->most_ns)
        return;
    pw_lines_head(lines, "Timeline");
    for (int row = 0; row < height; row++)
        add_row(line, lines, height, row, tui->ascii);
    add_marks(line, lines, tui->ascii);
    pw_buf_printf(&legend, "%s target  %s host; nodes from left to right, their time upward",
                  pw_view_time_glyph(true, tui->ascii), pw_view_time_glyph(false, tui->ascii));
    if (run->totals.first_divergence)
        pw_buf_printf(&legend, "; %s first divergence, ! culprit, ~ what follows", tui->ascii ? "^" : "\u25b2");
    pw_lines_wrap(lines, PW_STYLE_DIM, 1, pw_buf_text(&legend));
    pw_buf_clear(&legend);
}
