/* The inventory: a summary line, column heads, one row a signature. Columns that do not fit are left out,
 * the least needed first. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "baseline/triage.h"
#include "tui/tui.h"

static const struct column_layout {
    int width; /* least width */
    int rank;  /* which to leave out first: highest */
    bool right;
} layouts[PW_COLUMN_COUNT] = {
    [PW_COLUMN_OPERATOR] = {16, 0, false},   [PW_COLUMN_NODES] = {4, 4, true},     [PW_COLUMN_SHAPES] = {14, 6, false},
    [PW_COLUMN_CATEGORY] = {14, 12, false},  [PW_COLUMN_SHARE] = {5, 5, true},     [PW_COLUMN_COVERAGE] = {8, 2, false},
    [PW_COLUMN_SENSITIVITY] = {6, 8, false}, [PW_COLUMN_DYNAMIC] = {4, 9, false},  [PW_COLUMN_ERROR] = {12, 3, false},
    [PW_COLUMN_RATIO] = {7, 7, true},        [PW_COLUMN_VERDICT] = {11, 1, false}, [PW_COLUMN_STATUS] = {8, 11, false},
    [PW_COLUMN_PRIORITY] = {5, 10, true},
};

/* Columns beyond this rank appear once the shapes can have so many columns more. */
#define SHAPES_FIRST 11
#define SHAPES_MORE 16
#define CATEGORY_MORE 8

/* Which columns fit, and what is left for the shapes. */
static void choose_columns(int columns, int widths[PW_COLUMN_COUNT])
{
    int left = columns - 2; /* mark */

    memset(widths, 0, PW_COLUMN_COUNT * sizeof *widths);
    for (int rank = 0; rank <= 12; rank++)
        for (int c = 0; c < PW_COLUMN_COUNT; c++)
            if (layouts[c].rank == rank && left >= layouts[c].width + 1 + (rank > SHAPES_FIRST ? SHAPES_MORE : 0)) {
                widths[c] = layouts[c].width;
                left -= layouts[c].width + 1;
            }
    if (widths[PW_COLUMN_SHAPES]) {
        int more = left > 50 ? 50 : left;

        widths[PW_COLUMN_SHAPES] += more;
        left -= more;
    }
    if (widths[PW_COLUMN_CATEGORY] && left > 0) { /* "matrix multiplication" */
        int more = left > CATEGORY_MORE ? CATEGORY_MORE : left;

        widths[PW_COLUMN_CATEGORY] += more;
        left -= more;
    }
    if (left > 0)
        widths[PW_COLUMN_OPERATOR] += left > 12 ? 12 : left;
}

/* Below so many columns what is missing, failed and held comes first, and the rest is left out. */
#define NARROW 60

/* What is listed: how much, and through which filter. */
static int draw_extent(const struct pw_tui *tui, struct pw_canvas *canvas, int row, int at, int width)
{
    const struct pw_inventory *inventory = tui->inventory;
    int begin = at, half = width / 3;
    char flops[32];

    if (tui->filter[0]) {
        at += pw_canvas_printf(canvas, row, at, half, PW_STYLE_ACCENT, "/%s", tui->filter);
        at += pw_canvas_printf(canvas, row, at, width - (at - begin), PW_STYLE_ACCENT, "  %zu of %zu  ",
                               tui->visible_count, inventory->signature_count);
    } else if (canvas->columns < NARROW) {
        at += pw_canvas_printf(canvas, row, at, width, PW_STYLE_NORMAL, "%zu:  ", inventory->signature_count);
    } else if (canvas->columns < 100) { /* what serves them and how they stand matters more than their size */
        at += pw_canvas_printf(canvas, row, at, width, PW_STYLE_NORMAL, "%zu signature%s  ", inventory->signature_count,
                               inventory->signature_count == 1 ? "" : "s");
    } else {
        at += pw_canvas_printf(
            canvas, row, at, width, PW_STYLE_NORMAL, "%zu signature%s of %zu node%s, %s  ", inventory->signature_count,
            inventory->signature_count == 1 ? "" : "s", inventory->node_count, inventory->node_count == 1 ? "" : "s",
            isnan(inventory->total_flops) ? "FLOPs unknown"
                                          : pw_text_si(flops, sizeof flops, inventory->total_flops, "FLOP"));
    }
    return at - begin;
}

/* What the stars behind verdicts say, where there are any and there is room. */
static void draw_legend(struct pw_canvas *canvas, int row, int at, size_t earlier, size_t outdated)
{
    const char *text = outdated ? "  ** other kernel" : "  * earlier run";

    if ((earlier || outdated) && at + (int)strlen(text) <= canvas->columns)
        pw_canvas_text(canvas, row, at, canvas->columns - at, outdated ? PW_STYLE_WARN : PW_STYLE_DIM, text);
}

static void summary_line(const struct pw_tui *tui, struct pw_canvas *canvas, int row)
{
    size_t covered[PW_COVERAGE_COUNT] = {0}, failed = 0, held = 0, attention = 0, earlier = 0, outdated = 0;
    size_t unproven = 0; /* or mistrusted, on the target */
    const struct pw_inventory *inventory = tui->inventory;
    const char *maturity = pw_maturity_name(pw_tui_maturity(tui));
    int at = 1, width = canvas->columns - 1;
    char more[40];
    size_t missing;

    for (size_t i = 0; i < inventory->signature_count; i++) {
        const struct pw_impl_list *impls = pw_tui_impls(tui, i);
        const struct pw_tui_row *r = &tui->at->signatures[i];

        if (impls && impls->kernel_required) /* on the host for want of a kernel: not among those that belong there */
            attention++;
        else if (impls)
            covered[impls->coverage]++;
        failed += r->measured && !strcmp(r->standing, "failed");
        unproven += r->measured && r->gate_failed && !r->host && strcmp(r->standing, "failed") != 0;
        held += r->measured && !strcmp(r->standing, "held");
        earlier += r->measured && r->from_store;
        outdated += pw_tui_outdated(tui, i);
    }
    at += draw_extent(tui, canvas, row, at, width - at);
    if (!tui->at->coverage_ready) {
        if (tui->at->device_failed)
            pw_canvas_printf(canvas, row, at, width - at, PW_STYLE_BAD, "target not usable: %s", tui->at->device_why);
        else
            pw_canvas_text(canvas, row, at, width - at, PW_STYLE_DIM, "looking at the target...");
        return;
    }
    covered[PW_COVERAGE_KERNEL] += covered[PW_COVERAGE_LIBRARY] + covered[PW_COVERAGE_GENERATED];
    missing = covered[PW_COVERAGE_MISSING] + attention;
    if (canvas->columns >= NARROW)
        at += pw_canvas_printf(canvas, row, at, width - at, PW_STYLE_NORMAL, "kernel %zu  host %zu  ",
                               covered[PW_COVERAGE_KERNEL], covered[PW_COVERAGE_HOST]);
    at += pw_canvas_printf(canvas, row, at, width - at, missing ? PW_STYLE_BAD : PW_STYLE_NORMAL, "missing %zu  ",
                           missing);
    at +=
        pw_canvas_printf(canvas, row, at, width - at, failed ? PW_STYLE_BAD : PW_STYLE_NORMAL, "failed %zu  ", failed);
    at += pw_canvas_printf(canvas, row, at, width - at, held ? PW_STYLE_GOOD : PW_STYLE_DIM, "held %zu  ", held);
    snprintf(more, sizeof more, "unproven %zu  ", unproven);
    if (unproven && width - at >= (int)(strlen(more) + strlen("maturity ") + strlen(maturity)))
        at += pw_canvas_text(canvas, row, at, width - at, PW_STYLE_WARN, more);
    if (width - at >= (int)(strlen("maturity ") + strlen(maturity)))
        at += pw_canvas_printf(canvas, row, at, width - at, PW_STYLE_DIM, "maturity ");
    if (width - at < (int)strlen(maturity)) /* a part of the word would be another claim */
        return;
    at += pw_canvas_text(canvas, row, at, width - at, PW_STYLE_BOLD, maturity);
    draw_legend(canvas, row, at, earlier, outdated);
}

static void draw_heads(const struct pw_tui *tui, struct pw_canvas *canvas, int row, const int *widths)
{
    int at = 2;

    pw_canvas_fill(canvas, row, 0, canvas->columns, PW_STYLE_HEADER, ' ');
    for (int c = 0; c < PW_COLUMN_COUNT; c++) {
        char name[32];

        if (!widths[c])
            continue;
        snprintf(name, sizeof name, "%s%s", pw_tui_column_name((pw_column)c),
                 tui->sort != (pw_column)c ? ""
                 : canvas->ascii           ? (tui->descending ? "v" : "^")
                                           : (tui->descending ? "\u2193" : "\u2191"));
        if (layouts[c].right)
            pw_canvas_right(canvas, row, at - 1, widths[c] + 1, PW_STYLE_HEADER, name); /* with room for the arrow */
        else
            pw_canvas_text(canvas, row, at, widths[c], PW_STYLE_HEADER, name);
        at += widths[c] + 1;
    }
}

static void draw_error(const struct pw_tui_row *r, struct pw_canvas *canvas, int row, int at, int width)
{
    char text[24];

    if (!r->measured || isnan(r->worst_error)) {
        pw_canvas_text(canvas, row, at, width, PW_STYLE_DIM, "-");
        return;
    }
    pw_canvas_bar(canvas, row, at, 4, r->ratio,
                  r->ratio > 1     ? PW_STYLE_BAD
                  : r->ratio > 0.5 ? PW_STYLE_WARN
                                   : PW_STYLE_GOOD);
    snprintf(text, sizeof text, "%.1e", r->worst_error);
    pw_canvas_right(canvas, row, at + 5, width - 5, r->ratio > 1 ? PW_STYLE_BAD : PW_STYLE_NORMAL, text);
}

/* The verdict with its stars. */
static const char *verdict_text(const struct pw_tui *tui, size_t signature, char *dst, size_t size, pw_style *style)
{
    const struct pw_tui_row *row = &tui->at->signatures[signature];
    const char *verdict = pw_tui_verdict(tui, signature, style);
    const char *stars = !row->measured || row->running    ? ""
                        : pw_tui_outdated(tui, signature) ? "**"
                        : row->from_store                 ? "*"
                                                          : "";

    snprintf(dst, size, "%s%s", verdict, stars);
    return dst;
}

static void draw_cell(const struct pw_tui *tui, struct pw_canvas *canvas, int row, int at, int width, pw_column column,
                      size_t signature)
{
    static const pw_style sensitivity_styles[] = {PW_STYLE_DIM, PW_STYLE_NORMAL, PW_STYLE_WARN};
    const struct pw_signature *s = &tui->inventory->signatures[signature];
    const struct pw_tui_row *r = &tui->at->signatures[signature];
    pw_style style = PW_STYLE_NORMAL;
    char text[64] = "";
    const char *show = text;

    switch (column) {
    case PW_COLUMN_OPERATOR:
        show = s->op_label;
        break;
    case PW_COLUMN_NODES:
        snprintf(text, sizeof text, "%zu", s->node_count);
        break;
    case PW_COLUMN_SHAPES:
        show = s->shapes;
        style = PW_STYLE_DIM;
        break;
    case PW_COLUMN_CATEGORY:
        show = pw_category_name(s->category);
        style = PW_STYLE_DIM;
        break;
    case PW_COLUMN_SHARE:
        if (!isnan(s->share) && s->share > 0)
            snprintf(text, sizeof text, s->share >= 0.0995 ? "%.0f%%" : "%.1f%%", 100 * s->share);
        break;
    case PW_COLUMN_COVERAGE: {
        const struct pw_impl_list *impls = pw_tui_impls(tui, signature);

        show = pw_tui_coverage(tui, signature);
        if (impls && (impls->coverage == PW_COVERAGE_MISSING || impls->kernel_required))
            style = PW_STYLE_BAD;
        else if (!impls || impls->coverage == PW_COVERAGE_HOST)
            style = PW_STYLE_DIM;
        break;
    }
    case PW_COLUMN_SENSITIVITY:
        show = pw_sensitivity_name(s->sensitivity);
        style = sensitivity_styles[s->sensitivity];
        break;
    case PW_COLUMN_DYNAMIC:
        show = s->data_dependent ? "data" : s->dynamic ? "dyn" : "";
        style = s->data_dependent ? PW_STYLE_WARN : PW_STYLE_ACCENT;
        break;
    case PW_COLUMN_ERROR:
        draw_error(r, canvas, row, at, width);
        return;
    case PW_COLUMN_RATIO:
        if (r->target_ns && r->reference_ns)
            snprintf(text, sizeof text, "%.2fx", (double)r->reference_ns / (double)r->target_ns);
        break;
    case PW_COLUMN_VERDICT:
        show = verdict_text(tui, signature, text, sizeof text, &style);
        break;
    case PW_COLUMN_STATUS:
        show = pw_tui_waived(tui, signature)     ? "waived"
               : pw_tui_decision(tui, signature) ? pw_triage_status_name(pw_tui_decision(tui, signature)->status)
                                                 : "";
        style = pw_tui_waived(tui, signature) ? PW_STYLE_WARN : PW_STYLE_ACCENT;
        break;
    case PW_COLUMN_PRIORITY:
        snprintf(text, sizeof text, "%.0f%s", pw_tui_priority(tui, signature),
                 pw_tui_decision(tui, signature) && pw_tui_decision(tui, signature)->priority ? "!" : "");
        break;
    default:
        break;
    }
    if (layouts[column].right)
        pw_canvas_right(canvas, row, at, width, style, show);
    else
        pw_canvas_text(canvas, row, at, width, style, show);
}

static void draw_group(const struct pw_tui *tui, struct pw_canvas *canvas, int row, size_t index)
{
    const struct pw_tui_group *group = &tui->groups[index];
    int at = 2, width = canvas->columns;

    at += pw_canvas_printf(canvas, row, at, width - at, PW_STYLE_BOLD, "%s %s",
                           canvas->ascii ? (group->folded ? "+" : "-") : (group->folded ? "\u25b8" : "\u25be"),
                           group->name);
    at += pw_canvas_printf(canvas, row, at, width - at, PW_STYLE_DIM, "  %zu signature%s, %zu node%s, %.1f %% of FLOPs",
                           group->signatures, group->signatures == 1 ? "" : "s", group->nodes,
                           group->nodes == 1 ? "" : "s", 100 * group->share);
    if (group->problems)
        pw_canvas_printf(canvas, row, at, width - at, PW_STYLE_BAD, ", %zu problem%s", group->problems,
                         group->problems == 1 ? "" : "s");
}

static void draw_node(const struct pw_tui *tui, struct pw_canvas *canvas, int row, const struct pw_tui_item *item)
{
    const struct pw_node *node = tui->inventory->signatures[item->signature].nodes[item->index];
    int at = 6;

    at += pw_canvas_printf(canvas, row, at, canvas->columns - at, PW_STYLE_DIM, "%d ", (int)node->index);
    pw_canvas_printf(canvas, row, at, canvas->columns - at, PW_STYLE_NORMAL, "%s%s%s",
                     node->name[0] ? node->name : "(no name)", node->graph->parent ? "  in " : "",
                     node->graph->parent ? node->graph->name : "");
}

/* The other targets beside the shown one: as many as leave it 72 columns. What of them is shown, from the left. */
enum { OTHER_WIDTH = 41, LEAST_WIDTH = 72, OTHER_NAME = 2, OTHER_ERROR = 13, OTHER_RATIO = 21, OTHER_VERDICT = 29 };

static int others_shown(const struct pw_tui *tui, int columns)
{
    int others = (int)tui->side_count - 1, fit = (columns - LEAST_WIDTH) / OTHER_WIDTH;

    return fit < 0 ? 0 : others < fit ? others : fit;
}

/* The k-th of the others, from 0. */
static struct pw_tui_side *other_side(const struct pw_tui *tui, int k)
{
    struct pw_tui_side *side = tui->sides;

    for (;; side++)
        if (side != tui->at && k-- == 0)
            return side;
}

/* The end of a target's name tells it from others: "opencl:pocl:1", "plugin:chips/mark2.so". */
static void draw_other_head(const struct pw_tui_side *side, struct pw_canvas *canvas, int row, int at)
{
    const int room = OTHER_ERROR - OTHER_NAME - 1;
    const char *name = side->target;
    uint32_t code;

    while ((int)pw_text_width(name) > room && *name)
        name += pw_text_decode(name, strlen(name), &code);
    pw_canvas_text(canvas, row, at, 1, PW_STYLE_HEADER, canvas->ascii ? "|" : "\u2502");
    pw_canvas_text(canvas, row, at + OTHER_NAME, room, PW_STYLE_HEADER, name);
    pw_canvas_text(canvas, row, at + OTHER_ERROR, 7, PW_STYLE_HEADER, "error");
    pw_canvas_text(canvas, row, at + OTHER_RATIO, 7, PW_STYLE_HEADER, "ref/tgt");
    pw_canvas_text(canvas, row, at + OTHER_VERDICT, OTHER_WIDTH - OTHER_VERDICT, PW_STYLE_HEADER, "verdict");
}

/* Draws through the model with the other target in the shown one's place; puts it back. */
static void draw_other(struct pw_tui *tui, struct pw_tui_side *side, struct pw_canvas *canvas, int row, int at,
                       size_t signature)
{
    struct pw_tui_side *shown = tui->at;
    const struct pw_tui_row *r = &side->signatures[signature];
    char verdict[32];
    pw_style style;

    tui->at = side;
    pw_canvas_text(canvas, row, at, 1, PW_STYLE_DIM, canvas->ascii ? "|" : "\u2502");
    pw_canvas_text(canvas, row, at + OTHER_NAME, 10, PW_STYLE_NORMAL, pw_tui_coverage(tui, signature));
    if (r->measured && !isnan(r->worst_error))
        pw_canvas_printf(canvas, row, at + OTHER_ERROR, 7, r->ratio > 1 ? PW_STYLE_BAD : PW_STYLE_NORMAL, "%.1e",
                         r->worst_error);
    if (r->target_ns && r->reference_ns)
        pw_canvas_printf(canvas, row, at + OTHER_RATIO, 7, PW_STYLE_NORMAL, "%.2fx",
                         (double)r->reference_ns / (double)r->target_ns);
    pw_canvas_text(canvas, row, at + OTHER_VERDICT, OTHER_WIDTH - OTHER_VERDICT, style,
                   verdict_text(tui, signature, verdict, sizeof verdict, &style));
    tui->at = shown;
}

static void draw_row(const struct pw_tui *tui, struct pw_canvas *canvas, int row, const int *widths, size_t position)
{
    const struct pw_tui_item *item = &tui->items[position];
    int at = 2, indent = tui->group == PW_GROUP_NONE ? 0 : 2;

    if (item->kind == PW_ITEM_GROUP)
        draw_group(tui, canvas, row, item->index);
    else if (item->kind == PW_ITEM_NODE)
        draw_node(tui, canvas, row, item);
    for (int c = 0; item->kind == PW_ITEM_SIGNATURE && c < PW_COLUMN_COUNT; c++)
        if (widths[c]) {
            draw_cell(tui, canvas, row, at + indent, widths[c] - indent, (pw_column)c, item->signature);
            at += widths[c] + 1;
            indent = 0; /* the operator's, under its head */
        }
    if (position == tui->cursor)
        pw_canvas_style(canvas, row, 0, canvas->columns - OTHER_WIDTH * others_shown(tui, canvas->columns),
                        PW_STYLE_SELECTED);
    if (item->kind == PW_ITEM_SIGNATURE && tui->at->signatures[item->signature].marked)
        pw_canvas_text(canvas, row, 0, 1, position == tui->cursor ? PW_STYLE_SELECTED : PW_STYLE_ACCENT, "*");
    else if (position == tui->cursor)
        pw_canvas_text(canvas, row, 0, 1, PW_STYLE_SELECTED, ">");
}

int pw_view_inventory_column(const struct pw_tui *tui, int column)
{
    int widths[PW_COLUMN_COUNT], at = 2;

    choose_columns(tui->columns - OTHER_WIDTH * others_shown(tui, tui->columns), widths);
    for (int c = 0; c < PW_COLUMN_COUNT; c++) {
        if (widths[c] && column >= at && column <= at + widths[c])
            return c;
        at += widths[c] ? widths[c] + 1 : 0;
    }
    return -1;
}

/* In the list's place while the model is read: what is being done, how far it is, what can be pressed. */
static void draw_reading(const struct pw_tui *tui, struct pw_canvas *canvas, int top, int rows)
{
    const struct pw_progress *p = &tui->so_far;
    bool bytes = p->unit && !strcmp(p->unit, "bytes");
    size_t done = p->done < p->total ? p->done : p->total;
    int at, width = canvas->columns - 2;
    char have[32], all[32];

    at = 1 + pw_canvas_text(canvas, top, 1, width, PW_STYLE_BOLD, "reading ");
    pw_canvas_text(canvas, top, at, width - at, PW_STYLE_NORMAL, tui->model_path);
    if (rows < 3)
        return;
    if (p->phase && p->total) {
        pw_canvas_bar(canvas, top + 1, 1, 12, (double)done / (double)p->total, PW_STYLE_ACCENT);
        if (bytes)
            pw_canvas_printf(canvas, top + 1, 14, width - 13, PW_STYLE_NORMAL, "%s  %s of %s", p->phase,
                             pw_text_si(have, sizeof have, (double)done, "B"),
                             pw_text_si(all, sizeof all, (double)p->total, "B"));
        else
            pw_canvas_printf(canvas, top + 1, 14, width - 13, PW_STYLE_NORMAL, "%s  %zu of %zu %s", p->phase, done,
                             p->total, p->unit);
    } else {
        pw_canvas_text(canvas, top + 1, 1, width, PW_STYLE_NORMAL, p->phase ? p->phase : "opening the file");
    }
    pw_canvas_text(canvas, top + 2, 1, width, PW_STYLE_DIM, "q quits, ? is the help, / filters what comes.");
}

/* The filter lets nothing through: a good thing where it asks for problems. What to press comes first. */
static void draw_nothing(const struct pw_tui *tui, struct pw_canvas *canvas, int row)
{
    bool problems = !strcmp(tui->filter, PW_TUI_PROBLEMS), measured = false;

    for (size_t i = 0; i < tui->inventory->signature_count; i++)
        measured = measured || tui->at->signatures[i].measured;
    pw_canvas_text(canvas, row, 2, canvas->columns - 2, PW_STYLE_DIM,
                   problems ? "Esc shows all again." : "/ changes the filter, Esc clears it.");
    if (tui->query.problem[0])
        pw_canvas_text(canvas, row + 1, 2, canvas->columns - 2, PW_STYLE_BAD, tui->query.problem);
    else if (!problems)
        pw_canvas_printf(canvas, row + 1, 2, canvas->columns - 2, PW_STYLE_DIM, "Nothing matches '%s'.", tui->filter);
    else if (!tui->at->coverage_ready)
        pw_canvas_text(canvas, row + 1, 2, canvas->columns - 2, PW_STYLE_DIM, "What is missing is not known yet.");
    else
        pw_canvas_text(canvas, row + 1, 2, canvas->columns - 2, PW_STYLE_DIM,
                       measured ? "No problems: nothing is missing, nothing fails."
                                : "Nothing is missing; a verifies all, to see what fails.");
}

/* How many there were to draw. */
static size_t draw_items(struct pw_tui *tui, struct pw_canvas *canvas, int top, int rows, const int *widths,
                         size_t first)
{
    int others = others_shown(tui, canvas->columns), shown = canvas->columns - OTHER_WIDTH * others, i = 0;

    for (; i < rows && first + (size_t)i < tui->item_count; i++) {
        const struct pw_tui_item *item = &tui->items[first + (size_t)i];

        draw_row(tui, canvas, top + i, widths, first + (size_t)i);
        for (int k = 0; item->kind == PW_ITEM_SIGNATURE && k < others; k++)
            draw_other(tui, other_side(tui, k), canvas, top + i, shown + k * OTHER_WIDTH, item->signature);
    }
    return (size_t)i;
}

static void draw_top(struct pw_tui *tui, struct pw_canvas *canvas, int top, const int *widths)
{
    int others = others_shown(tui, canvas->columns), shown = canvas->columns - OTHER_WIDTH * others;

    summary_line(tui, canvas, top);
    draw_heads(tui, canvas, top + 1, widths);
    for (int k = 0; k < others; k++)
        draw_other_head(other_side(tui, k), canvas, top + 1, shown + k * OTHER_WIDTH);
}

size_t pw_view_inventory_part(struct pw_tui *tui, struct pw_canvas *canvas, size_t first)
{
    int widths[PW_COLUMN_COUNT], top = first ? 0 : 2;

    choose_columns(canvas->columns - OTHER_WIDTH * others_shown(tui, canvas->columns), widths);
    if (!first)
        draw_top(tui, canvas, 0, widths);
    return draw_items(tui, canvas, top, canvas->rows - top, widths, first);
}

void pw_view_inventory(struct pw_tui *tui, struct pw_canvas *canvas, int top, int rows)
{
    int widths[PW_COLUMN_COUNT], list = rows - 2;

    if (tui->reading) {
        draw_reading(tui, canvas, top, rows);
        return;
    }
    if (rows < 3) {
        summary_line(tui, canvas, top);
        return;
    }
    choose_columns(canvas->columns - OTHER_WIDTH * others_shown(tui, canvas->columns), widths);
    draw_top(tui, canvas, top, widths);
    if (tui->cursor < tui->top)
        tui->top = tui->cursor;
    if (tui->cursor >= tui->top + (size_t)list)
        tui->top = tui->cursor - (size_t)list + 1;
    if (tui->top + (size_t)list > tui->item_count) /* no empty foot while rows are hidden above */
        tui->top = tui->item_count > (size_t)list ? tui->item_count - (size_t)list : 0;
    draw_items(tui, canvas, top + 2, list, widths, tui->top);
    if (!tui->inventory->signature_count)
        pw_canvas_text(canvas, top + 3, 2, canvas->columns - 2, PW_STYLE_DIM, "The graph has no operators.");
    else if (!tui->visible_count)
        draw_nothing(tui, canvas, top + 3);
}
