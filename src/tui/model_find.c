/* Finding, and moving sideways to what is cut at the edge: the next problem or match in the inventory, the next line
 * that holds a text on a screen of lines. Nodes of a run are looked at themselves, since making the lines of all of
 * them would take longer than a key may. */
#include <stdio.h>
#include <string.h>

#include "tui/tui.h"

/* What one key looks at before others are answered: a node by its texts counts 1, one whose numbers must be made 16. */
enum { PART = 5000, NUMBERS = 16 };

static void find_in_inventory(struct pw_tui *tui, int step)
{
    for (size_t tried = 1; tried <= tui->item_count; tried++) {
        size_t by = step > 0 ? tried : tui->item_count - tried;
        size_t at = (tui->cursor + by) % tui->item_count;

        if (tui->items[at].kind == PW_ITEM_SIGNATURE &&
            (tui->filter[0] || pw_tui_problem(tui, tui->items[at].signature))) {
            tui->cursor = at;
            tui->placed = true;
            return;
        }
    }
    pw_tui_say(tui, false, "no failing or missing operator among those shown");
}

/* ---- nodes ---- */

struct looking {
    struct pw_tui *tui;
    const struct pw_tui_node_lines *index;
    const char *needle;
    bool numeric;          /* the needle may be part of a number or a duration */
    size_t place;          /* of the node that was looked at last */
    struct pw_lines lines; /* of one node */
};

/* Whether the node's own line says it, without its numbers; a name counts whole, also where it is cut on the screen. */
static bool says_on_line(const struct looking *look, const struct pw_tui_node *node)
{
    const struct pw_inventory *inventory = look->tui->inventory;

    if (node->node && (pw_text_find(node->node->name[0] ? node->node->name : "(no name)", look->needle) ||
                       pw_text_find(node->node->op_type, look->needle)))
        return true;
    if (node->node && !node->on_target && pw_text_find("  host", look->needle))
        return true;
    if (!node->node && node->pattern >= 0 && (size_t)node->pattern < inventory->pattern_count &&
        (pw_text_find(pw_pattern_name(inventory->patterns[node->pattern].kind), look->needle) ||
         pw_text_find(" as a whole", look->needle)))
        return true;
    return pw_text_find(pw_node_standing_name(node->standing), look->needle) ||
           (node->nonfinite_origin && pw_text_find("  NaN or Inf begins here", look->needle));
}

/* The place of a line: mostly the one beside the last. */
static size_t place_of(struct looking *look, size_t line)
{
    const uint32_t *begin = look->index->begin;
    size_t count = look->index->count, at = look->place;

    if (at + 1 < count && line >= begin[at + 1] && line < begin[at + 2])
        look->place = at + 1;
    else if (at > 0 && line >= begin[at - 1] && line < begin[at])
        look->place = at - 1;
    else
        look->place = pw_tui_endtoend_place(look->index, line);
    return look->place;
}

/* Whether a line of the list holds the needle; adds to *cost what looking took. */
static bool node_line_holds(struct looking *look, size_t line, size_t *cost)
{
    const struct pw_tui_endtoend *run = &look->tui->at->endtoend;
    size_t place = place_of(look, line), at = pw_tui_endtoend_at(run, place);
    size_t below = line - look->index->begin[place];
    const struct pw_tui_node *node = &run->nodes[at];

    *cost += 1;
    if (below == 0 && says_on_line(look, node))
        return true;
    if (below ? !pw_text_find(node->text, look->needle) : !look->numeric)
        return false;
    *cost += NUMBERS;
    pw_lines_begin(&look->lines, look->index->width);
    pw_view_node(look->tui, &look->lines, at);
    return pw_lines_holds(&look->lines, below, look->needle);
}

/* ---- lines ---- */

bool pw_tui_shift(struct pw_tui *tui, int by)
{
    int *left = &tui->left[tui->screen], top = tui->scroll[tui->screen], rows = pw_tui_body_rows(tui), last = 0;
    int before = *left, half = tui->columns / 2 > 1 ? tui->columns / 2 : 1;

    if (by < 0) {
        *left = *left > half ? *left - half : 0;
        return *left != before;
    }
    pw_tui_fill_part(tui, (size_t)top, (size_t)rows);
    for (int i = top; i < top + rows; i++) {
        int end = pw_lines_end(&tui->text, (size_t)i);

        last = end > last ? end : last;
    }
    last -= tui->columns - 1; /* the bar at the right edge */
    *left = *left + half < last ? *left + half : last > *left ? last : *left;
    return *left != before;
}

/* What was found may stand beyond an edge of the screen. */
static void show_column(struct pw_tui *tui, int line)
{
    int *left = &tui->left[tui->screen], column, end;

    pw_tui_fill_part(tui, (size_t)line, 1);
    column = pw_lines_column(&tui->text, (size_t)line, tui->search);
    end = column + (int)pw_text_width(tui->search);
    if (column >= 0 && (column <= *left || end > *left + tui->columns - 1))
        *left = end < tui->columns ? 0 : column - tui->columns / 2;
}

static void end_at(struct pw_tui *tui, int line)
{
    tui->find.going = false;
    tui->flash[0] = '\0';
    if (line >= 0) {
        tui->scroll[tui->screen] = tui->found[tui->screen] = line;
        pw_tui_list_found(tui, line);
        show_column(tui, line);
    } else {
        pw_tui_say(tui, false, "'%s' is not on this screen", tui->search);
    }
}

bool pw_tui_find_on(struct pw_tui *tui)
{
    struct pw_tui_find *find = &tui->find;
    struct pw_tui_endtoend *run = &tui->at->endtoend;
    struct looking look = {.tui = tui, .needle = tui->search};
    int count, found = -1;
    size_t begin, end;

    if (!find->going)
        return false;
    pw_tui_place(tui); /* all lines but the nodes' */
    count = (int)tui->text.count;
    find->going = find->screen == tui->screen && count > 0;
    if (!find->going)
        return false;
    look.index = run->list_line >= 0 ? pw_tui_endtoend_lines(tui, &tui->text) : NULL;
    look.numeric = strspn(look.needle, "0123456789.e+-EunmsUNMS ") == strlen(look.needle);
    begin = look.index ? (size_t)run->list_line : 0;
    end = look.index ? begin + look.index->begin[run->node_count] : 0;
    find->at = (find->at % count + count) % count;
    for (size_t cost = 0; found < 0 && find->left && cost < PART; find->left--) {
        size_t at = (size_t)find->at;

        if (at >= begin && at < end ? node_line_holds(&look, at - begin, &cost)
                                    : pw_lines_holds(&tui->text, at, look.needle))
            found = (int)at;
        find->at = (find->at + find->step + count) % count;
    }
    pw_lines_clear(&look.lines);
    if (found >= 0 || !find->left)
        end_at(tui, found);
    return find->going;
}

/* Where to go on from, with all lines filled: in a list what was found last, until somebody moves, else what > points
 * to; elsewhere what was found last, while it stands on the last page; else the top. */
static int last_line(const struct pw_tui *tui)
{
    int top = tui->scroll[tui->screen], found = tui->found[tui->screen], bottom = top + pw_tui_body_rows(tui);

    if (pw_tui_list_has(tui)) {
        int line = found >= top && found < bottom ? found : pw_tui_list_line(tui);

        return line < 0 ? top : line;
    }
    return found > top && found < bottom && bottom >= (int)tui->text.count ? found : top;
}

void pw_tui_find_next(struct pw_tui *tui, int step)
{
    if (tui->screen == PW_SCREEN_INVENTORY) {
        find_in_inventory(tui, step);
        return;
    }
    if (!tui->search[0])
        return;
    if (tui->screen != PW_SCREEN_ENDTOEND) {
        pw_tui_fill(tui); /* all lines: the last drawing needed those on the screen only */
        end_at(tui, pw_lines_find(&tui->text, last_line(tui) + step, step, tui->search));
        return;
    }
    pw_tui_place(tui);
    tui->find = (struct pw_tui_find){
        .going = true, .screen = tui->screen, .at = last_line(tui) + step, .step = step, .left = tui->text.count};
    if (pw_tui_find_on(tui)) /* not a message: it is over in a moment */
        snprintf(tui->flash, sizeof tui->flash, "looking for '%s'", tui->search);
}
