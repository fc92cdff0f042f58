/* Lists on screens of lines: the entry that > points to, going from one to the next, opening it. What an entry is, the
 * tables below say: a node of a run, a run or a signature of two runs side by side, a failure.
 *
 * The entry that was chosen last keeps its mark while it is seen; else the first that is seen has it. */
#include <string.h>

#include "tui/tui.h"

/* Entries by their place in the list. Lines are those of the screen as it was filled last. */
struct pw_tui_list {
    size_t (*count)(const struct pw_tui *tui);
    int (*line)(const struct pw_tui *tui, size_t place, int *rows); /* its first line; -1: it is hidden */
    size_t (*at)(const struct pw_tui *tui, int line);               /* SIZE_MAX: no entry's */
    size_t (*chosen)(const struct pw_tui *tui);                     /* last; SIZE_MAX none */
    void (*choose)(struct pw_tui *tui, size_t place);
    void (*open)(struct pw_tui *tui, size_t place);
    const char *none; /* there is no entry to open */
    bool places_last; /* a place means the same when the screen has another width */
};

/* ---- nodes of a run of the whole graph ---- */

static size_t node_count(const struct pw_tui *tui)
{
    const struct pw_tui_endtoend *run = &tui->at->endtoend;

    return run->list_line >= 0 && run->lines.count == run->node_count ? run->node_count : 0;
}

static int node_line(const struct pw_tui *tui, size_t place, int *rows)
{
    const struct pw_tui_endtoend *run = &tui->at->endtoend;

    *rows = (int)(run->lines.begin[place + 1] - run->lines.begin[place]);
    return *rows ? run->list_line + (int)run->lines.begin[place] : -1;
}

static size_t node_at(const struct pw_tui *tui, int line)
{
    const struct pw_tui_endtoend *run = &tui->at->endtoend;

    return pw_tui_endtoend_node_at(run, line) == SIZE_MAX
               ? SIZE_MAX
               : pw_tui_endtoend_place(&run->lines, (size_t)(line - run->list_line));
}

static size_t node_chosen(const struct pw_tui *tui)
{
    const struct pw_tui_endtoend *run = &tui->at->endtoend;

    return run->focus_line < 0 ? SIZE_MAX : node_at(tui, run->focus_line);
}

static void node_choose(struct pw_tui *tui, size_t place)
{
    struct pw_tui_endtoend *run = &tui->at->endtoend;
    int rows;

    run->focus = pw_tui_endtoend_at(run, place);
    run->focus_line = node_line(tui, place, &rows);
}

static void node_open(struct pw_tui *tui, size_t place)
{
    pw_tui_open_node(tui, pw_tui_endtoend_at(&tui->at->endtoend, place));
}

static const struct pw_tui_list nodes = {node_count, node_line,           node_at, node_chosen, node_choose,
                                         node_open,  "no node is listed", true};

/* ---- trends: signatures of two runs side by side, then runs ---- */

static size_t entry_count(const struct pw_tui *tui)
{
    return tui->entry_count;
}

static int entry_line(const struct pw_tui *tui, size_t place, int *rows)
{
    const struct pw_tui_entry *entry = &tui->entries[place];

    *rows = entry->rows;
    return entry->run || entry->signature != SIZE_MAX ? entry->line : -1;
}

static size_t entry_at(const struct pw_tui *tui, int line)
{
    size_t low = 0, high = tui->entry_count; /* the last whose line is at most that one */
    int rows;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tui->entries[middle].line <= line)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || entry_line(tui, low - 1, &rows) < 0 || line >= tui->entries[low - 1].line + rows)
        return SIZE_MAX;
    return low - 1;
}

static bool same_entry(const struct pw_tui_entry *a, const struct pw_tui_entry *b)
{
    return a->run == b->run && a->signature == b->signature && a->nth == b->nth;
}

static size_t entry_chosen(const struct pw_tui *tui)
{
    for (size_t i = 0; tui->entry_chosen && i < tui->entry_count; i++)
        if (same_entry(&tui->entries[i], &tui->chosen_entry))
            return i;
    return SIZE_MAX;
}

static void entry_choose(struct pw_tui *tui, size_t place)
{
    tui->chosen_entry = tui->entries[place];
    tui->entry_chosen = true;
}

static void entry_open(struct pw_tui *tui, size_t place)
{
    const struct pw_tui_entry *entry = &tui->entries[place];

    if (entry->run)
        pw_tui_compare_run(tui, entry->run);
    else
        pw_tui_open_signature(tui, entry->signature);
}

static const struct pw_tui_list entries = {entry_count,
                                           entry_line,
                                           entry_at,
                                           entry_chosen,
                                           entry_choose,
                                           entry_open,
                                           "no run is listed, and no signature of two side by side",
                                           true};

/* ---- lines about signatures: failures ---- */

static size_t about_count(const struct pw_tui *tui)
{
    return tui->text.item_count == tui->text.count ? tui->text.count : 0;
}

static int about_line(const struct pw_tui *tui, size_t place, int *rows)
{
    *rows = 1;
    return tui->text.items[place].signature >= 0 ? (int)place : -1;
}

static size_t about_at(const struct pw_tui *tui, int line)
{
    return line >= 0 && (size_t)line < about_count(tui) && tui->text.items[line].signature >= 0 ? (size_t)line
                                                                                                : SIZE_MAX;
}

static size_t about_chosen(const struct pw_tui *tui)
{
    return about_at(tui, tui->chosen);
}

static void about_choose(struct pw_tui *tui, size_t place)
{
    tui->chosen = (int)place;
}

static void about_open(struct pw_tui *tui, size_t place)
{
    pw_tui_open_signature(tui, (size_t)tui->text.items[place].signature);
}

static const struct pw_tui_list abouts = {
    about_count, about_line, about_at, about_chosen, about_choose, about_open, "no line here is about a signature",
    false};

/* ---- all of them ---- */

static const struct pw_tui_list *list_of(const struct pw_tui *tui)
{
    static const struct pw_tui_list *const lists[PW_SCREEN_COUNT] = {
        [PW_SCREEN_RUN] = &abouts, [PW_SCREEN_TRENDS] = &entries, [PW_SCREEN_ENDTOEND] = &nodes};

    return tui->reading ? NULL : lists[tui->screen];
}

/* The first listed one from `from` on, by 1 or -1; SIZE_MAX: none. */
static size_t next_listed(const struct pw_tui *tui, const struct pw_tui_list *list, size_t from, int by)
{
    size_t count = list->count(tui);
    int rows;

    for (; from < count; from += (size_t)(long)by) /* below 0 it is above any count */
        if (list->line(tui, from, &rows) >= 0)
            return from;
    return SIZE_MAX;
}

static bool is_seen(const struct pw_tui *tui, int line)
{
    int top = tui->scroll[tui->screen];

    return line >= top && line < top + pw_tui_body_rows(tui);
}

static size_t pointed_at(const struct pw_tui *tui, const struct pw_tui_list *list)
{
    int top = tui->scroll[tui->screen], rows;
    size_t place;

    if (!list || !list->count(tui))
        return SIZE_MAX;
    place = list->chosen(tui);
    if (place != SIZE_MAX && is_seen(tui, list->line(tui, place, &rows)))
        return place;
    for (int line = top; is_seen(tui, line); line++) {
        place = list->at(tui, line);
        if (place != SIZE_MAX && list->line(tui, place, &rows) == line)
            return place;
    }
    return SIZE_MAX;
}

int pw_tui_list_line(const struct pw_tui *tui)
{
    const struct pw_tui_list *list = list_of(tui);
    size_t place = pointed_at(tui, list);
    int rows;

    return place == SIZE_MAX ? -1 : list->line(tui, place, &rows);
}

bool pw_tui_list_has(const struct pw_tui *tui)
{
    const struct pw_tui_list *list = list_of(tui);

    return list && list->count(tui);
}

/* Scrolls as little as needed. */
static void reveal(struct pw_tui *tui, const struct pw_tui_list *list, size_t place)
{
    int *top = &tui->scroll[tui->screen], body = pw_tui_body_rows(tui), rows;
    int line = list->line(tui, place, &rows);

    if (line + rows > *top + body)
        *top = line + rows - body;
    if (line < *top)
        *top = line;
}

bool pw_tui_list_step(struct pw_tui *tui, int by)
{
    const struct pw_tui_list *list = list_of(tui);
    size_t place;

    if (!list)
        return false;
    pw_tui_place(tui);
    place = pointed_at(tui, list);
    if (place == SIZE_MAX)
        return false;
    place = next_listed(tui, list, place + (size_t)(long)by, by);
    if (place == SIZE_MAX)
        return false;
    list->choose(tui, place);
    reveal(tui, list, place);
    return true;
}

int pw_tui_list_before_page(struct pw_tui *tui)
{
    const struct pw_tui_list *list = list_of(tui);

    if (!list)
        return -1;
    pw_tui_place(tui);
    return pw_tui_list_line(tui);
}

void pw_tui_list_page(struct pw_tui *tui, int line, int by)
{
    const struct pw_tui_list *list = list_of(tui);
    size_t place;

    if (!list || line < 0 || !list->count(tui))
        return;
    place = list->at(tui, line + by);
    if (place == SIZE_MAX) /* between two entries: the nearest on the way, else the last one there is */
        for (int at = line + by; place == SIZE_MAX && at >= 0 && at < (int)tui->text.count; at += by < 0 ? -1 : 1)
            place = list->at(tui, at);
    if (place == SIZE_MAX)
        place = next_listed(tui, list, by < 0 ? 0 : list->count(tui) - 1, by < 0 ? 1 : -1);
    if (place != SIZE_MAX)
        list->choose(tui, place);
}

void pw_tui_list_end(struct pw_tui *tui, int by)
{
    const struct pw_tui_list *list = list_of(tui);
    int *top = &tui->scroll[tui->screen], rows, line;
    size_t place;

    if (!list || !list->count(tui))
        return;
    place = next_listed(tui, list, by < 0 ? 0 : list->count(tui) - 1, -by);
    if (place == SIZE_MAX)
        return;
    line = list->line(tui, place, &rows);
    if (by > 0 && *top > line && place != list->chosen(tui)) /* what stands below: once more */
        *top = line;
    list->choose(tui, place);
}

void pw_tui_list_open(struct pw_tui *tui)
{
    const struct pw_tui_list *list = list_of(tui);
    size_t place;

    pw_tui_place(tui);
    place = pointed_at(tui, list);
    if (place != SIZE_MAX)
        list->open(tui, place);
    else
        pw_tui_say(tui, false, "%s", list ? list->none : "the graph is still being read");
}

size_t pw_tui_list_signature(struct pw_tui *tui)
{
    const struct pw_tui_endtoend *run = &tui->at->endtoend;
    size_t place;
    int signature;

    if (tui->reading || tui->screen != PW_SCREEN_ENDTOEND)
        return SIZE_MAX;
    pw_tui_place(tui);
    place = pointed_at(tui, &nodes);
    signature = place == SIZE_MAX ? -1 : pw_tui_node_signature(tui, &run->nodes[pw_tui_endtoend_at(run, place)]);
    return signature < 0 ? SIZE_MAX : (size_t)signature;
}

/* On the heads of nodes, which stand above the first. */
static bool click_head(struct pw_tui *tui, int line, int column)
{
    const struct pw_tui_endtoend *run = &tui->at->endtoend;
    pw_node_order order;

    if (tui->screen != PW_SCREEN_ENDTOEND || run->list_line < 0 || line != run->list_line - 1)
        return false;
    order = pw_view_node_order(tui, column + tui->left[tui->screen]);
    if (order != PW_NODE_ORDER_COUNT)
        pw_tui_order_nodes(tui, order);
    return true;
}

void pw_tui_list_click(struct pw_tui *tui, int line, int column)
{
    const struct pw_tui_list *list = list_of(tui);
    size_t place;

    if (!list)
        return;
    pw_tui_place(tui);
    if (click_head(tui, line, column))
        return;
    place = list->count(tui) ? list->at(tui, line) : SIZE_MAX;
    if (place == SIZE_MAX)
        return;
    if (place == pointed_at(tui, list))
        list->open(tui, place);
    else
        list->choose(tui, place);
}

void pw_tui_list_found(struct pw_tui *tui, int line)
{
    const struct pw_tui_list *list = list_of(tui);
    size_t place = list && list->count(tui) ? list->at(tui, line) : SIZE_MAX;

    if (place != SIZE_MAX)
        list->choose(tui, place);
}

void pw_tui_list_resize(struct pw_tui *tui, int rows, int columns)
{
    const struct pw_tui_list *list = list_of(tui);
    size_t place = SIZE_MAX;
    int at = 0, its, line;

    if (list && list->places_last) {
        pw_tui_place(tui);
        place = list->count(tui) ? list->chosen(tui) : SIZE_MAX;
        at = place == SIZE_MAX ? -1 : list->line(tui, place, &its) - tui->scroll[tui->screen];
        if (at < 0 || at >= pw_tui_body_rows(tui)) /* out of sight */
            place = SIZE_MAX;
    }
    tui->rows = rows;
    tui->columns = columns;
    if (place == SIZE_MAX)
        return;
    pw_tui_place(tui);
    line = place < list->count(tui) ? list->line(tui, place, &its) : -1;
    if (line < 0)
        return;
    list->choose(tui, place);
    tui->scroll[tui->screen] = line > at ? line - at : 0;
    reveal(tui, list, place);
}
