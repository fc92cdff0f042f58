/* What keys, clicks and the wheel do: tables of keys per screen, from which footer and help are drawn. */
#include <string.h>

#include "tui/tui.h"

/* ---- moving ---- */

static void move_cursor(struct pw_tui *tui, long steps)
{
    long at = (long)tui->cursor + steps, last = (long)tui->visible_count - 1;

    if (at > last)
        at = last;
    tui->cursor = at < 0 ? 0 : (size_t)at;
}

static void scroll_lines(struct pw_tui *tui, int steps)
{
    int *top = &tui->scroll[tui->screen];
    int last = tui->lines[tui->screen] - pw_tui_body_rows(tui);

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

static void act_down(struct pw_tui *tui)
{
    move(tui, 1);
}
static void act_up(struct pw_tui *tui)
{
    move(tui, -1);
}
static void act_page_down(struct pw_tui *tui)
{
    move(tui, page(tui));
}
static void act_page_up(struct pw_tui *tui)
{
    move(tui, -page(tui));
}
static void act_home(struct pw_tui *tui)
{
    move(tui, -1000000000);
}
static void act_end(struct pw_tui *tui)
{
    move(tui, 1000000000);
}

/* ---- screens ---- */

static void go(struct pw_tui *tui, pw_screen screen)
{
    if (screen == PW_SCREEN_DETAIL) {
        if (!tui->visible_count)
            return;
        if (tui->detail != tui->visible[tui->cursor])
            tui->scroll[PW_SCREEN_DETAIL] = 0;
        tui->detail = tui->visible[tui->cursor];
    }
    if ((screen == PW_SCREEN_HELP || screen == PW_SCREEN_MESSAGES) && tui->screen != PW_SCREEN_HELP &&
        tui->screen != PW_SCREEN_MESSAGES)
        tui->back = tui->screen;
    tui->screen = screen;
}

static void act_inventory(struct pw_tui *tui)
{
    go(tui, PW_SCREEN_INVENTORY);
}
static void act_detail(struct pw_tui *tui)
{
    go(tui, PW_SCREEN_DETAIL);
}
static void act_run(struct pw_tui *tui)
{
    go(tui, PW_SCREEN_RUN);
}
static void act_messages(struct pw_tui *tui)
{
    go(tui, PW_SCREEN_MESSAGES);
}
static void act_help(struct pw_tui *tui)
{
    go(tui, PW_SCREEN_HELP);
}
static void act_next_screen(struct pw_tui *tui)
{
    static const pw_screen next[PW_SCREEN_COUNT] = {PW_SCREEN_DETAIL, PW_SCREEN_RUN, PW_SCREEN_INVENTORY,
                                                    PW_SCREEN_INVENTORY, PW_SCREEN_INVENTORY};

    go(tui, next[tui->screen]);
    if (tui->screen == PW_SCREEN_INVENTORY && !tui->visible_count)
        go(tui, PW_SCREEN_RUN);
}
static void act_back(struct pw_tui *tui)
{
    if (tui->screen == PW_SCREEN_HELP || tui->screen == PW_SCREEN_MESSAGES)
        tui->screen = tui->back;
    else if (tui->screen != PW_SCREEN_INVENTORY)
        tui->screen = PW_SCREEN_INVENTORY;
    else if (tui->filter[0]) {
        tui->filter[0] = '\0';
        pw_tui_rows_changed(tui);
    }
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

static void sort_by(struct pw_tui *tui, int step)
{
    tui->sort = (pw_column)(((int)tui->sort + step + PW_COLUMN_COUNT) % PW_COLUMN_COUNT);
    /* texts read from A, numbers from the largest */
    tui->descending = tui->sort != PW_COLUMN_OPERATOR && tui->sort != PW_COLUMN_SHAPES &&
                      tui->sort != PW_COLUMN_CATEGORY && tui->sort != PW_COLUMN_COVERAGE &&
                      tui->sort != PW_COLUMN_VERDICT;
    pw_tui_rows_changed(tui);
}

static void act_sort(struct pw_tui *tui)
{
    sort_by(tui, 1);
}
static void act_sort_back(struct pw_tui *tui)
{
    sort_by(tui, -1);
}
static void act_reverse(struct pw_tui *tui)
{
    tui->descending = !tui->descending;
    pw_tui_rows_changed(tui);
}
static void act_filter(struct pw_tui *tui)
{
    memcpy(tui->filter_before, tui->filter, sizeof tui->filter);
    tui->typing = true;
}
static void act_mark(struct pw_tui *tui)
{
    if (tui->visible_count) {
        struct pw_tui_row *row = &tui->signatures[tui->visible[tui->cursor]];

        row->marked = !row->marked;
        move_cursor(tui, 1);
    }
}
static void act_next_problem(struct pw_tui *tui)
{
    for (size_t step = 1; step <= tui->visible_count; step++) {
        size_t at = (tui->cursor + step) % tui->visible_count;
        size_t signature = tui->visible[at];
        const struct pw_impl_list *impls = pw_tui_impls(tui, signature);

        if (tui->signatures[signature].gate_failed || !tui->inventory->signatures[signature].op ||
            (impls && (impls->coverage == PW_COVERAGE_MISSING || impls->kernel_required))) {
            tui->cursor = at;
            return;
        }
    }
    pw_tui_say(tui, false, "no failing or missing operator among those shown");
}

/* ---- doing ---- */

static void act_verify_all(struct pw_tui *tui)
{
    tui->selection_count = 0;
    for (size_t i = 0; i < tui->inventory->signature_count; i++)
        tui->selection[tui->selection_count++] = i;
    tui->intent = tui->selection_count ? PW_INTENT_VERIFY : PW_INTENT_NONE;
}

/* The marked signatures, or the one under the cursor. */
static void act_verify(struct pw_tui *tui)
{
    tui->selection_count = 0;
    for (size_t i = 0; i < tui->inventory->signature_count; i++)
        if (tui->signatures[i].marked)
            tui->selection[tui->selection_count++] = i;
    if (tui->screen == PW_SCREEN_DETAIL) {
        tui->selection[0] = tui->detail;
        tui->selection_count = 1;
    } else if (!tui->selection_count && tui->visible_count) {
        tui->selection[tui->selection_count++] = tui->visible[tui->cursor];
    }
    tui->intent = tui->selection_count ? PW_INTENT_VERIFY : PW_INTENT_NONE;
}

static void act_cancel(struct pw_tui *tui)
{
    if (tui->running)
        tui->intent = PW_INTENT_CANCEL;
    else
        pw_tui_say(tui, false, "nothing is running");
}

/* ---- tables ---- */

static const struct pw_tui_key inventory_keys[] = {
    {PW_KEY_ENTER, 0, "Enter", "detail", "Shows everything known of the signature under the cursor.", act_detail},
    {'a', 0, "a", "verify all", "Verifies every signature on the target and times it.", act_verify_all},
    {'v', 0, "v", "verify", "Verifies the marked signatures, or the one under the cursor.", act_verify},
    {'/', 0, "/", "filter",
     "Filters: words match operator, shapes and category; cov:missing sens:high status:failed op:Softmax cat:norm "
     "dyn:yes node:attn flops>1 narrow it down.",
     act_filter},
    {'s', '>', "s", "sort", "Sorts by the next column.", act_sort},
    {'S', '<', "S", NULL, "Sorts by the previous column.", act_sort_back},
    {'r', 0, "r", NULL, "Reverses the order.", act_reverse},
    {' ', 0, "Space", "mark", "Marks the row for v.", act_mark},
    {'n', 0, "n", "next problem", "Goes to the next failing, missing or uncovered signature.", act_next_problem},
    {0}};

static const struct pw_tui_key detail_keys[] = {
    {'v', 0, "v", "verify", "Verifies this signature.", act_verify},
    {PW_KEY_ESCAPE, PW_KEY_BACKSPACE, "Esc", "back", "Goes back to the inventory.", act_back},
    {0}};

static const struct pw_tui_key run_keys[] = {
    {'a', 0, "a", "verify all", "Verifies every signature on the target and times it.", act_verify_all},
    {PW_KEY_ESCAPE, PW_KEY_BACKSPACE, "Esc", "back", "Goes back to the inventory.", act_back},
    {0}};

static const struct pw_tui_key line_keys[] = {{PW_KEY_ESCAPE, PW_KEY_BACKSPACE, "Esc", "back", "Goes back.", act_back},
                                              {0}};

const struct pw_tui_key pw_tui_global_keys[] = {
    {'c', 0, "c", NULL, "Cancels what runs.", act_cancel},
    {'?', 'H', "?", "help", "This list.", act_help},
    {'q', 0, "q", "quit", "Quits; a running verify is cancelled, what it found so far is kept.", act_quit},
    {PW_KEY_TAB, 0, "Tab", NULL, "Next screen: inventory, detail, run.", act_next_screen},
    {'1', 0, "1", NULL, "Inventory.", act_inventory},
    {'2', 0, "2", NULL, "Detail of the signature under the cursor.", act_detail},
    {'3', 0, "3", NULL, "Run: progress and failures.", act_run},
    {'m', 0, "m", NULL, "Messages so far.", act_messages},
    {PW_KEY_DOWN, 'j', "Down, j", NULL, "One down.", act_down},
    {PW_KEY_UP, 'k', "Up, k", NULL, "One up.", act_up},
    {PW_KEY_PAGE_DOWN, PW_KEY_CTRL_D, "PgDn, ^D", NULL, "A page down.", act_page_down},
    {PW_KEY_PAGE_UP, PW_KEY_CTRL_U, "PgUp, ^U", NULL, "A page up.", act_page_up},
    {PW_KEY_HOME, 'g', "Home, g", NULL, "To the top.", act_home},
    {PW_KEY_END, 'G', "End, G", NULL, "To the end.", act_end},
    {PW_KEY_RIGHT, 'l', "Right, l", NULL, "Detail.", act_detail},
    {PW_KEY_LEFT, 'h', "Left, h", NULL, "Back.", act_back},
    {PW_KEY_ESCAPE, 0, "Esc", NULL, "Back; in the inventory it clears the filter.", act_back},
    {PW_KEY_CTRL_L, 0, "^L", NULL, "Paints the screen anew.", act_redraw},
    {0}};

const struct pw_tui_screen pw_tui_screens[PW_SCREEN_COUNT] = {
    [PW_SCREEN_INVENTORY] = {"inventory", inventory_keys, pw_view_inventory},
    [PW_SCREEN_DETAIL] = {"detail", detail_keys, pw_view_detail},
    [PW_SCREEN_RUN] = {"run", run_keys, pw_view_run},
    [PW_SCREEN_MESSAGES] = {"messages", line_keys, pw_view_messages},
    [PW_SCREEN_HELP] = {"help", line_keys, pw_view_help},
};

/* ---- input ---- */

static void type(struct pw_tui *tui, uint32_t key)
{
    size_t length = strlen(tui->filter);

    if (key == PW_KEY_ENTER || key == PW_KEY_DOWN) {
        tui->typing = false;
    } else if (key == PW_KEY_ESCAPE) {
        memcpy(tui->filter, tui->filter_before, sizeof tui->filter);
        tui->typing = false;
    } else if (key == PW_KEY_BACKSPACE) {
        if (!length)
            tui->typing = false;
        else
            tui->filter[length - 1] = '\0';
    } else if (key == PW_KEY_CTRL_U) {
        tui->filter[0] = '\0';
    } else if (key >= ' ' && key < 0x7f && length + 1 < sizeof tui->filter) {
        tui->filter[length] = (char)key;
        tui->filter[length + 1] = '\0';
    }
    pw_tui_rows_changed(tui);
}

static bool act_on(struct pw_tui *tui, const struct pw_tui_key *keys, uint32_t key)
{
    for (; keys->key; keys++)
        if (keys->key == key || (keys->alias && keys->alias == key)) {
            keys->act(tui);
            return true;
        }
    return false;
}

static void on_key(struct pw_tui *tui, uint32_t key)
{
    tui->flash[0] = '\0';
    if (tui->typing)
        type(tui, key);
    else if (!act_on(tui, pw_tui_screens[tui->screen].keys, key))
        act_on(tui, pw_tui_global_keys, key);
}

/* A click on a row moves there; on the row under the cursor it opens the detail. */
static void on_click(struct pw_tui *tui, int row)
{
    size_t at = tui->top + (size_t)(row - 3);

    if (tui->screen != PW_SCREEN_INVENTORY || row < 3 || row >= tui->rows - 1 || at >= tui->visible_count)
        return;
    if (at == tui->cursor)
        act_detail(tui);
    else
        tui->cursor = at;
}

void pw_tui_apply(struct pw_tui *tui, const struct pw_input *input)
{
    switch (input->kind) {
    case PW_INPUT_KEY:
        on_key(tui, input->key);
        break;
    case PW_INPUT_CLICK:
        on_click(tui, input->row);
        break;
    case PW_INPUT_WHEEL:
        move(tui, 3 * input->steps);
        break;
    case PW_INPUT_SESSION:
        pw_tui_session_event(tui, input->event, input->now_ms);
        break;
    }
}
