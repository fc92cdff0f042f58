/* What keys, clicks and the wheel do: tables of keys per screen, from which footer and help are drawn. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "baseline/triage.h"
#include "tui/tui.h"

/* At the foot until the next key; nothing for the log of messages. */
static PW_PRINTF(2, 3) void hint(struct pw_tui *tui, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(tui->flash, sizeof tui->flash, format, args);
    va_end(args);
    tui->flash_failed = false;
}

/* ---- moving ---- */

static void move_cursor(struct pw_tui *tui, long steps)
{
    long at = (long)tui->cursor + steps, last = (long)tui->item_count - 1;

    if (at > last)
        at = last;
    tui->cursor = at < 0 ? 0 : (size_t)at;
    tui->placed = true;
}

static void scroll_lines(struct pw_tui *tui, int steps)
{
    int *top = &tui->scroll[tui->screen], last;

    tui->found[tui->screen] = -1;
    if (!tui->reading) { /* keys that come in one burst are not painted in between */
        pw_tui_place(tui);
        tui->lines[tui->screen] = (int)tui->text.count;
    }
    last = tui->lines[tui->screen] - pw_tui_body_rows(tui);
    *top += steps;
    if (*top > last)
        *top = last;
    if (*top < 0)
        *top = 0;
}

static void move(struct pw_tui *tui, int steps)
{
    if (tui->screen == PW_SCREEN_INVENTORY)
        move_cursor(tui, steps);
    else
        scroll_lines(tui, steps);
}

static int page(const struct pw_tui *tui)
{
    int rows = pw_tui_body_rows(tui) - 2;

    return rows > 1 ? rows : 1;
}

/* In a list up and down go from one entry to the next, and then on. */
static void step(struct pw_tui *tui, int by)
{
    tui->found[tui->screen] = -1;
    if (tui->screen == PW_SCREEN_INVENTORY || !pw_tui_list_step(tui, by))
        move(tui, by);
}

static void turn(struct pw_tui *tui, int by)
{
    int line = tui->screen == PW_SCREEN_INVENTORY ? -1 : pw_tui_list_before_page(tui);

    move(tui, by);
    pw_tui_list_page(tui, line, by);
}

static void go_to_end(struct pw_tui *tui, int by)
{
    move(tui, by * 1000000000);
    pw_tui_list_end(tui, by);
}

static void act_down(struct pw_tui *tui)
{
    step(tui, 1);
}
static void act_up(struct pw_tui *tui)
{
    step(tui, -1);
}
static void act_page_down(struct pw_tui *tui)
{
    turn(tui, page(tui));
}
static void act_page_up(struct pw_tui *tui)
{
    turn(tui, -page(tui));
}
static void act_home(struct pw_tui *tui)
{
    go_to_end(tui, -1);
}
static void act_end(struct pw_tui *tui)
{
    go_to_end(tui, 1);
}

/* ---- screens ---- */

static void choose_detail(struct pw_tui *tui, size_t signature)
{
    if (tui->detail != signature)
        tui->scroll[PW_SCREEN_DETAIL] = tui->scroll[PW_SCREEN_TRENDS] = tui->remark = tui->left[PW_SCREEN_DETAIL] =
            tui->left[PW_SCREEN_TRENDS] = 0;
    tui->show_comparison = tui->show_comparison && tui->detail == signature;
    tui->detail = signature;
}

void pw_tui_go(struct pw_tui *tui, pw_screen screen)
{
    if ((screen == PW_SCREEN_DETAIL || screen == PW_SCREEN_TRENDS) && tui->screen != PW_SCREEN_DETAIL &&
        tui->screen != PW_SCREEN_TRENDS) {
        size_t current = pw_tui_current(tui);

        if (current == SIZE_MAX) {
            if (!tui->visible_count) {
                pw_tui_say(tui, false, tui->reading ? "the graph is still being read" : "no signature is listed");
                return;
            }
            current = tui->visible[0];
        }
        choose_detail(tui, current);
        tui->detail_from = PW_SCREEN_INVENTORY;
        tui->placed = true;
    }
    if ((screen == PW_SCREEN_HELP || screen == PW_SCREEN_MESSAGES) && tui->screen != PW_SCREEN_HELP &&
        tui->screen != PW_SCREEN_MESSAGES)
        tui->back = tui->screen;
    if (screen != tui->screen)
        tui->left[screen] = 0;
    if (screen == PW_SCREEN_TRENDS && tui->screen != PW_SCREEN_TRENDS)
        tui->trends_of_detail = tui->screen == PW_SCREEN_DETAIL;
    tui->screen = screen;
    pw_tui_ask_for_screen(tui);
}

static void act_inventory(struct pw_tui *tui)
{
    pw_tui_go(tui, PW_SCREEN_INVENTORY);
}
static void act_detail(struct pw_tui *tui)
{
    pw_tui_go(tui, PW_SCREEN_DETAIL);
}
static void act_run(struct pw_tui *tui)
{
    pw_tui_go(tui, PW_SCREEN_RUN);
}
static void act_trends(struct pw_tui *tui)
{
    pw_tui_go(tui, PW_SCREEN_TRENDS);
}
static void act_endtoend(struct pw_tui *tui)
{
    pw_tui_go(tui, PW_SCREEN_ENDTOEND);
}
static void act_baselines(struct pw_tui *tui)
{
    pw_tui_go(tui, PW_SCREEN_BASELINES);
}
static void act_device(struct pw_tui *tui)
{
    pw_tui_go(tui, PW_SCREEN_DEVICE);
}
static void act_messages(struct pw_tui *tui)
{
    pw_tui_go(tui, PW_SCREEN_MESSAGES);
}
static void act_help(struct pw_tui *tui)
{
    pw_tui_go(tui, PW_SCREEN_HELP);
}
/* The screens in a ring, without messages and help, which have a way back. */
static void step_screen(struct pw_tui *tui, int step)
{
    int screen = tui->screen >= PW_SCREEN_MESSAGES ? (int)tui->back : (int)tui->screen;

    screen = (screen + step + PW_SCREEN_MESSAGES) % PW_SCREEN_MESSAGES;
    while ((screen == PW_SCREEN_DETAIL || screen == PW_SCREEN_TRENDS) && !tui->visible_count)
        screen = (screen + step + PW_SCREEN_MESSAGES) % PW_SCREEN_MESSAGES;
    pw_tui_go(tui, (pw_screen)screen);
}
static void act_next_screen(struct pw_tui *tui)
{
    step_screen(tui, 1);
}
static void act_previous_screen(struct pw_tui *tui)
{
    step_screen(tui, -1);
}
static void act_back(struct pw_tui *tui)
{
    if (tui->screen == PW_SCREEN_HELP || tui->screen == PW_SCREEN_MESSAGES)
        tui->screen = tui->back;
    else if (tui->screen == PW_SCREEN_DETAIL)
        tui->screen = tui->detail_from;
    else if (tui->screen == PW_SCREEN_TRENDS && tui->show_comparison)
        pw_tui_leave_comparison(tui);
    else if (tui->screen == PW_SCREEN_TRENDS && tui->trends_of_detail) {
        tui->screen = PW_SCREEN_DETAIL;
        if (tui->detail_from == PW_SCREEN_TRENDS) /* opened from there: else the way back would go round and round */
            tui->detail_from = PW_SCREEN_INVENTORY;
    } else if (tui->screen != PW_SCREEN_INVENTORY)
        tui->screen = PW_SCREEN_INVENTORY;
    else if (tui->filter[0])
        pw_tui_set_filter(tui, "");
    pw_tui_ask_for_screen(tui);
}
static void act_target(struct pw_tui *tui)
{
    if (tui->side_count < 2) {
        pw_tui_say(tui, false, "there is one target; give --target twice to see two side by side");
        return;
    }
    pw_tui_switch(tui, ((size_t)(tui->at - tui->sides) + 1) % tui->side_count);
    pw_tui_go(tui, tui->screen); /* what the screen needs of this target */
}
static void act_quit(struct pw_tui *tui)
{
    tui->intent = PW_INTENT_QUIT;
}
static void act_redraw(struct pw_tui *tui)
{
    tui->intent = PW_INTENT_REDRAW;
}

/* ---- rows ---- */

/* The column may be one that does not fit. */
static void say_sorted(struct pw_tui *tui)
{
    hint(tui, "sorted by %s, %s", pw_tui_column_name(tui->sort), tui->descending ? "downwards" : "upwards");
}
static void act_sort(struct pw_tui *tui)
{
    pw_tui_sort_by(tui, (pw_column)((tui->sort + 1) % PW_COLUMN_COUNT));
    say_sorted(tui);
}
static void act_sort_back(struct pw_tui *tui)
{
    pw_tui_sort_by(tui, (pw_column)((tui->sort + PW_COLUMN_COUNT - 1) % PW_COLUMN_COUNT));
    say_sorted(tui);
}
static void act_reverse(struct pw_tui *tui)
{
    tui->descending = !tui->descending;
    pw_tui_rows_changed(tui);
    say_sorted(tui);
}
static void act_group(struct pw_tui *tui)
{
    struct pw_error err = {0};

    if (pw_tui_set_group(tui, (pw_group)((tui->group + 1) % PW_GROUP_COUNT), &err) != PW_OK)
        pw_tui_say(tui, true, "%s", err.message);
    else /* the heads may be above what is seen */
        hint(tui, "grouped by %s", pw_tui_group_name(tui->group));
}
static void act_mark(struct pw_tui *tui)
{
    size_t current = pw_tui_current(tui);

    if (!tui->item_count)
        return;
    if (current != SIZE_MAX) {
        tui->at->signatures[current].marked = !tui->at->signatures[current].marked;
    } else { /* a head: all of its group, or none when all were */
        size_t group = tui->items[tui->cursor].index;
        bool all = true;

        for (size_t i = 0; i < tui->visible_count; i++)
            all = all && (tui->group_of[tui->visible[i]] != group || tui->at->signatures[tui->visible[i]].marked);
        for (size_t i = 0; i < tui->visible_count; i++)
            if (tui->group_of[tui->visible[i]] == group)
                tui->at->signatures[tui->visible[i]].marked = !all;
    }
    move_cursor(tui, 1);
}
static void act_unmark(struct pw_tui *tui)
{
    hint(tui, "nothing is marked");
    for (size_t i = 0; i < tui->inventory->signature_count; i++)
        tui->at->signatures[i].marked = false;
    pw_tui_rows_changed(tui); /* the filter may be is:marked */
}
static void act_problems(struct pw_tui *tui)
{
    bool show = strcmp(tui->filter, PW_TUI_PROBLEMS) != 0;

    pw_tui_set_filter(tui, show ? PW_TUI_PROBLEMS : "");
    if (show) { /* the worst is the first, whatever the cursor was on */
        tui->cursor = 0;
        tui->placed = false;
    }
    pw_tui_go(tui, PW_SCREEN_INVENTORY);
}

/* Folds or unfolds what the cursor is on; false when there is nothing to do. */
static bool fold(struct pw_tui *tui, bool open)
{
    struct pw_tui_item item;

    if (!tui->item_count)
        return false;
    item = tui->items[tui->cursor];
    tui->placed = true;
    if (item.kind == PW_ITEM_GROUP) {
        if (tui->groups[item.index].folded == !open)
            return false;
        tui->groups[item.index].folded = !open;
    } else if (item.kind == PW_ITEM_SIGNATURE && open == tui->at->signatures[item.signature].unfolded) {
        if (open || tui->group == PW_GROUP_NONE)
            return false;
        for (size_t at = tui->cursor; at-- > 0;) /* a folded signature: to its head */
            if (tui->items[at].kind == PW_ITEM_GROUP) {
                tui->cursor = at;
                return true;
            }
        return false;
    } else {
        tui->at->signatures[item.signature].unfolded = open;
    }
    pw_tui_items_changed(tui);
    return true;
}
static void act_unfold(struct pw_tui *tui)
{
    if (tui->screen == PW_SCREEN_INVENTORY)
        fold(tui, true);
    else if (!pw_tui_shift(tui, 1))
        hint(tui, "no line here goes on at the right");
}
static void act_fold(struct pw_tui *tui)
{
    if (tui->screen == PW_SCREEN_INVENTORY)
        fold(tui, false);
    else if (!pw_tui_shift(tui, -1))
        act_back(tui);
}
static void act_open(struct pw_tui *tui)
{
    if (tui->item_count && tui->items[tui->cursor].kind == PW_ITEM_GROUP)
        fold(tui, tui->groups[tui->items[tui->cursor].index].folded);
    else
        pw_tui_go(tui, PW_SCREEN_DETAIL);
}

void pw_tui_open_signature(struct pw_tui *tui, size_t signature)
{
    pw_screen from = tui->screen;
    bool compared = tui->show_comparison;
    int line = tui->scroll[PW_SCREEN_TRENDS];

    choose_detail(tui, signature);
    if (from == PW_SCREEN_TRENDS) { /* the runs side by side are gone back to */
        tui->show_comparison = compared;
        tui->scroll[PW_SCREEN_TRENDS] = line;
    }
    tui->screen = PW_SCREEN_DETAIL; /* first, so that what is shown stays the choice */
    pw_tui_go(tui, PW_SCREEN_DETAIL);
    tui->detail_from = from;
}

/* ---- finding ---- */

static void act_query(struct pw_tui *tui)
{
    memcpy(tui->filter_before, tui->filter, sizeof tui->filter);
    pw_prompt_open(&tui->prompt, PW_PROMPT_QUERY, tui->filter);
}
static void act_search(struct pw_tui *tui)
{
    pw_prompt_open(&tui->prompt, PW_PROMPT_SEARCH, "");
}
static void act_palette(struct pw_tui *tui)
{
    pw_prompt_open(&tui->prompt, PW_PROMPT_COMMAND, "");
}

static void find_on(struct pw_tui *tui, int step)
{
    if (tui->screen != PW_SCREEN_INVENTORY && !tui->search[0])
        hint(tui, "nothing is looked for yet: / finds text");
    pw_tui_find_next(tui, step);
}
static void act_next(struct pw_tui *tui)
{
    find_on(tui, 1);
}
static void act_previous(struct pw_tui *tui)
{
    find_on(tui, -1);
}

/* ---- the palette with a command begun ---- */

void pw_tui_open_command(struct pw_tui *tui, const char *text)
{
    pw_prompt_open(&tui->prompt, PW_PROMPT_COMMAND, text);
}
static void act_owner(struct pw_tui *tui)
{
    pw_tui_open_command(tui, "owner ");
}
/* With the note of the selection to go on from; where it has several, with none. */
static void act_note(struct pw_tui *tui)
{
    const char *note = NULL;
    char text[PW_PROMPT_MAX];

    pw_tui_select(tui);
    for (size_t i = 0; i < tui->selection_count; i++) {
        const struct pw_triage_entry *entry = pw_tui_decision(tui, tui->selection[i]);
        const char *its = entry ? entry->note : "";

        note = !note || !strcmp(note, its) ? its : "";
    }
    snprintf(text, sizeof text, "note %s", note ? note : "");
    pw_tui_open_command(tui, text);
}
static void act_waive(struct pw_tui *tui)
{
    pw_tui_open_command(tui, "waive ");
}
static void act_approve(struct pw_tui *tui)
{
    pw_tui_open_command(tui, "approve ");
}
static void act_peaks(struct pw_tui *tui)
{
    tui->intent = PW_INTENT_PEAKS;
}
static void act_export(struct pw_tui *tui)
{
    pw_tui_open_command(tui, "export ");
}

/* ---- tables ---- */

/* Deciding and taking along, in the inventory and the detail. */
#define DECISION_KEYS                                                                                                  \
    {'e',                                                                                                              \
     0,                                                                                                                \
     "e",                                                                                                              \
     "edit",                                                                                                           \
     "edit",                                                                                                           \
     "Opens the kernel in $EDITOR, then reads it anew and verifies again.",                                            \
     pw_tui_act_edit},                                                                                                 \
        {'t',                                                                                                          \
         0,                                                                                                            \
         "t",                                                                                                          \
         "status",                                                                                                     \
         "status-next",                                                                                                \
         "Next status: open, doing, blocked, review, done, none.",                                                     \
         pw_tui_act_status},                                                                                           \
        {'o', 0, "o", NULL, NULL, "Names an owner.", act_owner},                                                       \
        {'i', 0, "i", NULL, NULL, "Writes a note.", act_note},                                                         \
        {'w', 0, "w", "waive", NULL, "Waives a failure: until a date, with a reason.", act_waive},                     \
        {'y',                                                                                                          \
         0,                                                                                                            \
         "y",                                                                                                          \
         "copy",                                                                                                       \
         "copy",                                                                                                       \
         "Copies the command that reproduces a failed case, else the one nearest to its tolerance (OSC 52).",          \
         pw_tui_act_copy},                                                                                             \
    {                                                                                                                  \
        'x', 0, "x", NULL, NULL, "Writes what is shown to a file.", act_export                                         \
    }

#define LINE_KEYS                                                                                                      \
    {'/', 0, "/", "find", NULL, "Finds text on this screen; n and N go on.", act_search},                              \
    {                                                                                                                  \
        PW_KEY_ESCAPE, PW_KEY_BACKSPACE, "Esc", "back", NULL, "Goes back.", act_back                                   \
    }

static const struct pw_tui_key inventory_keys[] = {
    {PW_KEY_ENTER, 0, "Enter", "detail", "detail", "Shows everything known of the signature under the cursor.",
     act_open},
    {'a', 0, "a", "verify all", "verify-all", "Verifies every signature on the target and times it.",
     pw_tui_act_verify_all},
    {'v', 0, "v", "verify", "verify", "Verifies the marked signatures, or what is under the cursor.",
     pw_tui_act_verify},
    {'b', 0, "b", "bench", "bench", "Times the marked signatures, or what is under the cursor, against the reference.",
     pw_tui_act_bench},
    {'/', 0, "/", "filter", NULL,
     "Filters by a query: words match operator, shapes, category and pattern; keys such as cov:missing sens:high "
     "flops>1 narrow it down (below).",
     act_query},
    {'!', 0, "!", "problems", "problems", "Shows only what fails or is missing; again shows all.", act_problems},
    {'C', 0, "C", NULL, "compare-selection",
     "Compares the marked signatures, or what is under the cursor, end to end: only their nodes are listed. The graph "
     "runs first where it has not.",
     pw_tui_act_compare_selection},
    DECISION_KEYS,
    {'s', '>', "s", "sort", "sort-next", "Sorts by the next column; a click on a head sorts by it.", act_sort},
    {'S', '<', "S", NULL, "sort-previous", "Sorts by the previous column.", act_sort_back},
    {'r', 0, "r", NULL, "reverse", "Reverses the order.", act_reverse},
    {'z', 0, "z", "group", "group-next", "Groups by category, operator, pattern, or not.", act_group},
    {' ', 0, "Space", "mark", "mark", "Marks the row (or the group) for v and the other actions.", act_mark},
    {'U', 0, "U", NULL, "unmark", "Unmarks all.", act_unmark},
    {PW_KEY_RIGHT, 'l', "Right, l", NULL, "unfold", "Unfolds a group, or a signature into its nodes.", act_unfold},
    {PW_KEY_LEFT, 'h', "Left, h", NULL, "fold", "Folds them again.", act_fold},
    {'n', 0, "n", "next", NULL, "To the next match of the filter; without one, to the next problem.", act_next},
    {'N', 0, "N", NULL, NULL, "The same backwards.", act_previous},
    {0}};

static const struct pw_tui_key detail_keys[] = {
    {'v', 0, "v", "verify", "verify", "Verifies this signature.", pw_tui_act_verify},
    {'b', 0, "b", "bench", "bench", "Times this signature against the reference.", pw_tui_act_bench},
    {'C', 0, "C", NULL, "compare-selection",
     "Compares the nodes of this signature end to end; the graph runs first where it has not.",
     pw_tui_act_compare_selection},
    DECISION_KEYS,
    {'M', 0, "M", NULL, "remark", "To the next of the compiler's messages in the source.", pw_tui_act_remark},
    LINE_KEYS,
    {0}};

static const struct pw_tui_key run_keys[] = {
    {'a', 0, "a", "verify all", "verify-all", "Verifies every signature on the target and times it.",
     pw_tui_act_verify_all},
    {'f', 0, "f", "failed again", "verify-failures", "Verifies again what failed.", pw_tui_act_requeue},
    {'x', 0, "x", NULL, NULL, "Writes what is shown to a file.", act_export},
    {'c', 0, "c", "cancel", "cancel", "Cancels what runs; what was found so far is kept.", pw_tui_act_cancel},
    {PW_KEY_ENTER, 0, "Enter", "detail", NULL, "Shows everything known of the failure that > points to.",
     pw_tui_list_open},
    LINE_KEYS,
    {0}};

static const struct pw_tui_key trend_keys[] = {
    {'w', 0, "w", "whole graph", "whole-graph", "Trends of the whole graph; again those of the signature.",
     pw_tui_act_whole_graph},
    {PW_KEY_ENTER, 0, "Enter", NULL, NULL,
     "Sets the run that > points to beside the newest other one; of two runs side by side, shows the detail of the "
     "signature that it points to.",
     pw_tui_list_open},
    {'=', 0, "=", "compare runs", NULL,
     "Sets two runs side by side; a run that was chosen and the newest other one are proposed, else the last two.",
     pw_tui_act_compare},
    {'v', 0, "v", "verify", "verify", "Verifies this signature.", pw_tui_act_verify},
    {'b', 0, "b", "bench", "bench", "Times this signature against the reference.", pw_tui_act_bench},
    {'x', 0, "x", NULL, NULL, "Writes what is shown to a file.", act_export},
    LINE_KEYS,
    {0}};

static const struct pw_tui_key endtoend_keys[] = {
    {'r', 0, "r", "compare nodes", "compare",
     "Runs the graph on target and reference in step, and compares every node.", pw_tui_act_run_nodes},
    {'o', 0, "o", "outputs", "run", "Runs the graph and compares its outputs.", pw_tui_act_run_outputs},
    {'s', 0, "s", "precision sweep", "sweep", "Runs each layer in narrower types and ranks them by the damage.",
     pw_tui_act_run_sweep},
    {'d', 0, "d", "divergent", "divergent", "Shows only nodes that do not hold; again shows all.",
     pw_tui_act_divergent},
    {PW_KEY_ENTER, 0, "Enter", "detail", NULL, "Shows everything known of the signature of the node that > points to.",
     pw_tui_list_open},
    {'C', 0, "C", NULL, "compare-selection",
     "Lists only the nodes of the marked signatures, or of the one that > points to; again those of all.",
     pw_tui_act_compare_selection},
    {'f', 0, "f", "first", "first-divergence", "To the first node that does not hold.", pw_tui_act_first_divergence},
    {'w', 0, "w", "worst", "worst-node", "To the node whose own error is the largest share of its tolerance.",
     pw_tui_act_worst_node},
    {'t', 0, "t", NULL, "slowest-node", "To the node that takes most time.", pw_tui_act_slowest_node},
    {'>', 0, ">", "sort", "sort-nodes", "Lists nodes in order, by time, by their own error, by what arrived.",
     pw_tui_act_node_order},
    {'x', 0, "x", NULL, NULL, "Writes what is shown to a file.", act_export},
    LINE_KEYS,
    {0}};

static const struct pw_tui_key baseline_keys[] = {
    {'A', 0, "A", "approve", NULL, "Approves what is pending: it gets a number, and your message says why.",
     act_approve},
    {'x', 0, "x", NULL, NULL, "Writes what is shown to a file.", act_export},
    LINE_KEYS,
    {0}};

static const struct pw_tui_key device_keys[] = {
    {'p', 0, "p", "peaks", "peaks", "Measures what the device can do at most, under the timing lock.", act_peaks},
    {'x', 0, "x", NULL, NULL, "Writes what is shown to a file.", act_export},
    LINE_KEYS,
    {0}};

static const struct pw_tui_key line_keys[] = {
    {'/', 0, "/", "find", NULL, "Finds text on this screen; n and N go on.", act_search},
    {PW_KEY_ESCAPE, 'q', "Esc, q", "back", NULL, "Goes back; so q quits from the other screens only.", act_back},
    {PW_KEY_BACKSPACE, 0, "Backspace", NULL, NULL, "The same.", act_back},
    {0}};

const struct pw_tui_key pw_tui_global_keys[] = {
    {'?', 'H', "?", "help", "help", "This list.", act_help},
    {':', 0, ":", "command", NULL, "Opens the palette: every action by name, with completion.", act_palette},
    {'q', 0, "q", "quit", "quit", "Quits; a running verify is cancelled, what it found so far is kept.", act_quit},
    {'c', 0, "c", NULL, "cancel", "Cancels what runs.", pw_tui_act_cancel},
    {PW_KEY_TAB, 0, "Tab", "next screen", NULL, "Next screen; 1 to 7 go to one at once.", act_next_screen},
    {PW_KEY_BACKTAB, 0, "S-Tab", NULL, NULL, "Previous screen.", act_previous_screen},
    {'1', 0, "1", NULL, NULL, "Inventory.", act_inventory},
    {'2', 0, "2", NULL, NULL, "Detail of the signature under the cursor.", act_detail},
    {'3', 0, "3", NULL, NULL, "Run: progress and failures.", act_run},
    {'4', 0, "4", NULL, NULL, "Trends: errors and speed over the runs, of the signature or the graph.", act_trends},
    {'5', 0, "5", NULL, NULL, "End to end: the whole graph, node by node.", act_endtoend},
    {'6', 0, "6", NULL, NULL, "Baselines: which there are, and what the pending ones change.", act_baselines},
    {'7', 0, "7", NULL, NULL, "Device: the environment, against the lock.", act_device},
    {'T', 0, "T", NULL, "target", "Shows and acts on the next target, where there are several.", act_target},
    {'m', 0, "m", "messages", "messages", "Messages so far.", act_messages},
    {PW_KEY_DOWN, 'j', "Down, j", NULL, NULL, "One down.", act_down},
    {PW_KEY_UP, 'k', "Up, k", NULL, NULL, "One up.", act_up},
    {PW_KEY_PAGE_DOWN, PW_KEY_CTRL_D, "PgDn, ^D", NULL, NULL, "A page down.", act_page_down},
    {PW_KEY_PAGE_UP, PW_KEY_CTRL_U, "PgUp, ^U", NULL, NULL, "A page up.", act_page_up},
    {PW_KEY_HOME, 'g', "Home, g", NULL, NULL, "To the top.", act_home},
    {PW_KEY_END, 'G', "End, G", NULL, NULL, "To the end.", act_end},
    {PW_KEY_RIGHT, 'l', "Right, l", NULL, NULL, "To the right, where lines are cut at the edge.", act_unfold},
    {PW_KEY_LEFT, 'h', "Left, h", NULL, NULL, "To the left again; from the left edge back.", act_fold},
    {'n', 0, "n", NULL, NULL, "To the next line that was looked for.", act_next},
    {'N', 0, "N", NULL, NULL, "The same backwards.", act_previous},
    {PW_KEY_ESCAPE, 0, "Esc", NULL, NULL, "Back; in the inventory it clears the filter.", act_back},
    {PW_KEY_CTRL_L, 0, "^L", NULL, "redraw", "Paints the screen anew.", act_redraw},
    {0}};

const struct pw_tui_screen pw_tui_screens[PW_SCREEN_COUNT] = {
    [PW_SCREEN_INVENTORY] = {"inventory", inventory_keys, pw_view_inventory, NULL},
    [PW_SCREEN_DETAIL] = {"detail", detail_keys, NULL, pw_view_detail},
    [PW_SCREEN_RUN] = {"run", run_keys, NULL, pw_view_run},
    [PW_SCREEN_TRENDS] = {"trends", trend_keys, NULL, pw_view_trends},
    [PW_SCREEN_ENDTOEND] = {"end-to-end", endtoend_keys, NULL, pw_view_endtoend},
    [PW_SCREEN_BASELINES] = {"baselines", baseline_keys, NULL, pw_view_baselines},
    [PW_SCREEN_DEVICE] = {"device", device_keys, NULL, pw_view_device},
    [PW_SCREEN_MESSAGES] = {"messages", line_keys, NULL, pw_view_messages},
    [PW_SCREEN_HELP] = {"help", line_keys, NULL, pw_view_help},
};

/* ---- input ---- */

static bool act_on(struct pw_tui *tui, const struct pw_tui_key *keys, uint32_t key)
{
    for (; keys->key; keys++)
        if (keys->key == key || (keys->alias && keys->alias == key)) {
            keys->act(tui);
            return true;
        }
    return false;
}

static void unknown_key(struct pw_tui *tui, uint32_t key)
{
    char name[8] = "";

    if (key > ' ' && key < PW_KEY_UP)
        name[pw_text_encode(name, key)] = '\0';
    hint(tui, "%s does nothing here: ? lists the keys", name[0] ? name : "this key");
}

static void on_key(struct pw_tui *tui, uint32_t key)
{
    tui->flash[0] = '\0';
    tui->find.going = false;
    if (tui->prompt.kind != PW_PROMPT_CLOSED)
        pw_tui_prompt_key(tui, key == PW_KEY_CTRL_C ? PW_KEY_ESCAPE : key);
    else if (key == PW_KEY_CTRL_C) /* on every screen, also where q goes back */
        act_quit(tui);
    else if (!act_on(tui, pw_tui_screens[tui->screen].keys, key) && !act_on(tui, pw_tui_global_keys, key))
        unknown_key(tui, key);
}

/* Pasted text goes into a prompt that is open, a line break as a blank. Elsewhere each letter would be a command. */
static void on_pasted(struct pw_tui *tui, uint32_t key)
{
    if (tui->prompt.kind == PW_PROMPT_CLOSED)
        snprintf(tui->flash, sizeof tui->flash, "pasted text is only taken where a line is asked for, as after / or :");
    else if (key == PW_KEY_ENTER || key == PW_KEY_TAB)
        pw_tui_prompt_key(tui, ' ');
    else if (key < PW_KEY_UP)
        pw_tui_prompt_key(tui, key);
}

/* A click while a line is typed: what stands in the palette's list is put there, and run when it needs no word; a
 * filter or a search holds as with Enter; a command that was begun is dropped. Whether the click goes on to what it is
 * on. */
static bool click_beside_prompt(struct pw_tui *tui, int row)
{
    bool command = tui->prompt.kind == PW_PROMPT_COMMAND;
    int candidate = command ? pw_view_candidate(tui, row) : -1;
    size_t length;

    if (row == tui->rows - 1)
        return false;
    if (candidate < 0) {
        pw_tui_prompt_key(tui, command ? PW_KEY_ESCAPE : PW_KEY_ENTER);
        return true;
    }
    pw_tui_choose_candidate(tui, candidate);
    length = strlen(tui->prompt.text);
    tui->completion = -1;
    if (length && tui->prompt.text[length - 1] != ' ')
        pw_tui_prompt_key(tui, PW_KEY_ENTER);
    return false;
}

/* A click on a row moves there, on the row under the cursor it opens it; on a head it sorts; on the footer it presses
 * the key that is named there. */
static void on_click(struct pw_tui *tui, int row, int column)
{
    size_t at = tui->top + (size_t)(row - 3);
    int head;

    if (tui->prompt.kind != PW_PROMPT_CLOSED && !click_beside_prompt(tui, row))
        return;
    if (row == tui->rows - 1 && row > 0) {
        uint32_t key = pw_view_footer_key(tui, column);

        if (key)
            on_key(tui, key);
        else
            tui->flash[0] = '\0';
        return;
    }
    tui->flash[0] = '\0';
    if (tui->screen != PW_SCREEN_INVENTORY && row > 0 && row < tui->rows - 1) {
        tui->found[tui->screen] = -1;
        pw_tui_list_click(tui, tui->scroll[tui->screen] + row - 1, column);
    }
    if (tui->screen != PW_SCREEN_INVENTORY || row < 2 || row >= tui->rows - 1)
        return;
    if (row == 2) {
        head = pw_view_inventory_column(tui, column);
        if (head >= 0 && tui->sort == (pw_column)head)
            act_reverse(tui);
        else if (head >= 0)
            pw_tui_sort_by(tui, (pw_column)head);
    } else if (at < tui->item_count && at == tui->cursor) {
        act_open(tui);
    } else if (at < tui->item_count) {
        tui->cursor = at;
        tui->placed = true;
    }
}

void pw_tui_apply(struct pw_tui *tui, const struct pw_input *input)
{
    switch (input->kind) {
    case PW_INPUT_KEY:
        if (input->pasted)
            on_pasted(tui, input->key);
        else
            on_key(tui, input->key);
        break;
    case PW_INPUT_CLICK:
        on_click(tui, input->row, input->column);
        break;
    case PW_INPUT_WHEEL:
        move(tui, 3 * input->steps);
        break;
    case PW_INPUT_SESSION: {
        struct pw_tui_side *shown = tui->at;

        tui->at = &tui->sides[input->side];
        pw_tui_session_event(tui, input->event, input->now_ms);
        if (tui->at != shown) { /* the order of the rows is the shown target's */
            tui->at = shown;
            pw_tui_rows_changed(tui);
        }
        break;
    }
    }
}
