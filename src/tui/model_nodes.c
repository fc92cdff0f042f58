/* The list of nodes of a run of the whole graph: its order, where each node's lines are, and going to one of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tui/tui.h"

static bool diverges(const struct pw_tui_node *node)
{
    return node->standing != PW_NODE_HELD && node->standing != PW_NODE_DRAWN;
}

/* What an order puts first is larger; NaN comes last. */
static double weight(const struct pw_tui_node *node, pw_node_order order)
{
    double value = order == PW_NODES_BY_TIME  ? (double)node->time_ns
                   : order == PW_NODES_BY_OWN ? node->isolated
                                              : node->propagated;

    return isnan(value) ? -1 : value;
}

/* What is sorted by, so that larger weights come first. */
struct keyed {
    uint64_t key;
    size_t node;
};

static uint64_t key_of(const struct pw_tui_node *node, pw_node_order order)
{
    double value = weight(node, order);
    uint64_t bits;

    if (value < 0)
        return UINT64_MAX;
    value += 0.0;                       /* no negative zero */
    memcpy(&bits, &value, sizeof bits); /* numbers from zero on are ordered as their bits are */
    return UINT64_MAX - 1 - bits;
}

/* By the keys, byte by byte from the lowest; equal ones stay as they are. A comparing sort of 100,000 nodes takes
 * longer than a key may. `other` is room for as many. */
static void sort_keyed(struct keyed *items, struct keyed *other, size_t count)
{
    for (int shift = 0; shift < 64; shift += 8) {
        size_t counts[256] = {0}, at = 0;

        for (size_t i = 0; i < count; i++)
            counts[items[i].key >> shift & 255]++;
        if (counts[items[0].key >> shift & 255] == count)
            continue;
        for (int b = 0; b < 256; b++) {
            size_t of_these = counts[b];

            counts[b] = at;
            at += of_these;
        }
        for (size_t i = 0; i < count; i++)
            other[counts[items[i].key >> shift & 255]++] = items[i];
        memcpy(items, other, count * sizeof *items);
    }
}

const char *pw_tui_node_order_name(pw_node_order order)
{
    static const char *const names[PW_NODE_ORDER_COUNT] = {"in order", "by time", "by their own error",
                                                           "by what arrived"};

    return names[order];
}

void pw_tui_endtoend_sort(struct pw_tui_endtoend *run, pw_node_order order)
{
    struct keyed *items = NULL;

    pw_free(run->order);
    run->order = NULL;
    run->sort = order;
    run->lines.count = 0;
    if (!run->finished || order == PW_NODES_IN_ORDER || !run->node_count)
        return;
    run->order = pw_calloc(run->node_count, sizeof *run->order);
    items = pw_calloc(2 * run->node_count, sizeof *items);
    if (!run->order || !items) { /* then as it ran */
        pw_free(run->order);
        pw_free(items);
        run->order = NULL;
        return;
    }
    for (size_t i = 0; i < run->node_count; i++)
        items[i] = (struct keyed){key_of(&run->nodes[i], order), i};
    sort_keyed(items, items + run->node_count, run->node_count);
    for (size_t i = 0; i < run->node_count; i++)
        run->order[i] = items[i].node;
    pw_free(items);
}

size_t pw_tui_endtoend_at(const struct pw_tui_endtoend *run, size_t place)
{
    return run->order ? run->order[place] : place;
}

/* ---- where it stands ---- */

bool pw_tui_node_says(const struct pw_tui_node *node)
{
    return node->standing != PW_NODE_HELD && node->text;
}

int pw_tui_node_signature(const struct pw_tui *tui, const struct pw_tui_node *node)
{
    const struct pw_inventory *inventory = tui->inventory;
    size_t number = !node->node            ? SIZE_MAX
                    : inventory->inference ? pw_inference_node_number(inventory->inference, node->node)
                                           : node->node->index;

    return number < inventory->node_number_count ? inventory->node_signature[number] : -1;
}

int64_t pw_tui_endtoend_begin_ns(const struct pw_tui_endtoend *run, size_t node)
{
    int64_t sum = run->begun_ns[node / PW_TUI_BEGUN];

    for (size_t i = node - node % PW_TUI_BEGUN; i < node; i++)
        sum += run->nodes[i].time_ns;
    return sum;
}

static size_t lines_of(const struct pw_tui *tui, const struct pw_tui_node *node, const struct pw_lines *lines)
{
    const struct pw_tui_endtoend *run = &tui->at->endtoend;
    int signature = run->only ? pw_tui_node_signature(tui, node) : -1;

    if ((run->only_divergent && !diverges(node)) || (run->only && (signature < 0 || !run->only[signature])))
        return 0;
    return 1 + (pw_tui_node_says(node) ? pw_lines_wrapped(lines, PW_TUI_NODE_INDENT, node->text) : 0);
}

const struct pw_tui_node_lines *pw_tui_endtoend_lines(struct pw_tui *tui, const struct pw_lines *lines)
{
    struct pw_tui_endtoend *run = &tui->at->endtoend;
    struct pw_tui_node_lines *index = &run->lines;
    struct pw_error ignored = {0};

    if (index->width != lines->width || index->only_divergent != run->only_divergent ||
        index->of_count > run->node_count)
        index->of_count = index->count = 0;
    if (PW_GROW(index->begin, index->cap, run->node_count + 1, &ignored) != PW_OK ||
        PW_GROW(index->of, index->of_cap, run->node_count + 1, &ignored) != PW_OK)
        return NULL;
    index->width = lines->width;
    index->only_divergent = run->only_divergent;
    for (; index->of_count < run->node_count; index->of_count++)
        index->of[index->of_count] = (uint32_t)lines_of(tui, &run->nodes[index->of_count], lines);
    index->begin[0] = 0;
    for (; index->count < run->node_count; index->count++)
        index->begin[index->count + 1] = index->begin[index->count] + index->of[pw_tui_endtoend_at(run, index->count)];
    return index;
}

size_t pw_tui_endtoend_place(const struct pw_tui_node_lines *index, size_t line)
{
    size_t low = 0, high = index->count; /* begin[low] <= line < begin[high] */

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (index->begin[middle] <= line)
            low = middle;
        else
            high = middle;
    }
    return low;
}

size_t pw_tui_endtoend_node_at(const struct pw_tui_endtoend *run, int line)
{
    const struct pw_tui_node_lines *index = &run->lines;

    if (run->list_line < 0 || line < run->list_line || index->count != run->node_count || !index->count ||
        (size_t)(line - run->list_line) >= index->begin[index->count])
        return SIZE_MAX;
    return pw_tui_endtoend_at(run, pw_tui_endtoend_place(index, (size_t)(line - run->list_line)));
}

/* ---- running, and what is listed ---- */

void pw_tui_run_graph(struct pw_tui *tui, pw_endtoend_mode mode)
{
    tui->run_mode = mode;
    tui->intent = PW_INTENT_RUN;
    pw_tui_go(tui, PW_SCREEN_ENDTOEND);
}

void pw_tui_act_run_nodes(struct pw_tui *tui)
{
    pw_tui_run_graph(tui, PW_ENDTOEND_NODES);
}

void pw_tui_act_run_outputs(struct pw_tui *tui)
{
    pw_tui_run_graph(tui, PW_ENDTOEND_OUTPUTS);
}

void pw_tui_act_run_sweep(struct pw_tui *tui)
{
    pw_tui_run_graph(tui, PW_ENDTOEND_SWEEP);
}

void pw_tui_act_divergent(struct pw_tui *tui)
{
    tui->at->endtoend.only_divergent = !tui->at->endtoend.only_divergent;
    tui->scroll[PW_SCREEN_ENDTOEND] = 0;
}

bool pw_tui_endtoend_only(struct pw_tui_endtoend *run, const size_t *signatures, size_t count, size_t total)
{
    bool *only = count ? pw_calloc(total, sizeof *only) : NULL;

    for (size_t i = 0; only && i < count; i++)
        only[signatures[i]] = true;
    pw_free(run->only);
    run->only = only;
    run->only_count = only ? count : 0;
    run->lines.count = run->lines.of_count = 0;
    return only || !count;
}

/* The list, with its heads. */
static void show_list(struct pw_tui *tui)
{
    pw_tui_place(tui);
    tui->scroll[PW_SCREEN_ENDTOEND] = tui->at->endtoend.list_line > 3 ? tui->at->endtoend.list_line - 3 : 0;
}

/* The node that was chosen, where it is listed. */
static void show_chosen(struct pw_tui *tui)
{
    const struct pw_tui_endtoend *run = &tui->at->endtoend;

    pw_tui_place(tui);
    if (run->focus_line > tui->scroll[PW_SCREEN_ENDTOEND] + 2)
        tui->scroll[PW_SCREEN_ENDTOEND] = run->focus_line - 2;
}

void pw_tui_act_compare_selection(struct pw_tui *tui)
{
    struct pw_tui_endtoend *run = &tui->at->endtoend;
    bool here = tui->screen == PW_SCREEN_ENDTOEND;
    bool compared = run->known && run->mode == PW_ENDTOEND_NODES && (run->going || run->finished);

    if (tui->screen == PW_SCREEN_ENDTOEND && run->only) {
        pw_tui_endtoend_only(run, NULL, 0, 0);
        show_list(tui);
        if (here)
            show_chosen(tui);
        return;
    }
    pw_tui_select(tui);
    if (tui->reading || !tui->selection_count) {
        pw_tui_say(tui, false, tui->reading ? "the graph is still being read" : "nothing is selected");
        return;
    }
    run->only_divergent = false;
    if (!pw_tui_endtoend_only(run, tui->selection, tui->selection_count, tui->inventory->signature_count))
        pw_tui_say(tui, true, "there is not enough memory to list some nodes only");
    if (compared)
        pw_tui_go(tui, PW_SCREEN_ENDTOEND);
    else
        pw_tui_run_graph(tui, PW_ENDTOEND_NODES);
    show_list(tui);
    if (here)
        show_chosen(tui);
}

/* ---- going to one ---- */

/* Its signature's detail. */
void pw_tui_open_node(struct pw_tui *tui, size_t node)
{
    const struct pw_tui_endtoend *run = &tui->at->endtoend;
    int signature = node < run->node_count ? pw_tui_node_signature(tui, &run->nodes[node]) : -1;

    if (signature < 0)
        pw_tui_say(tui, false, node < run->node_count ? "this line has no signature of its own" : "no node is listed");
    else
        pw_tui_open_signature(tui, (size_t)signature);
}

size_t pw_tui_endtoend_first(const struct pw_tui_endtoend *run)
{
    size_t any = SIZE_MAX;

    for (size_t i = 0; i < run->node_count; i++) {
        if (!run->nodes[i].node || !diverges(&run->nodes[i]))
            continue;
        if (run->finished && run->nodes[i].node == run->totals.first_divergence)
            return i;
        any = any == SIZE_MAX ? i : any;
    }
    return any;
}

size_t pw_tui_endtoend_worst(const struct pw_tui_endtoend *run)
{
    double worst = -1;
    size_t found = SIZE_MAX;

    for (size_t i = 0; i < run->node_count; i++) {
        const struct pw_tui_node *node = &run->nodes[i];
        double share = node->isolated == 0     ? 0
                       : node->tolerance > 0   ? node->isolated / node->tolerance
                       : isnan(node->isolated) ? -1
                                               : INFINITY;

        if (node->standing == PW_NODE_FAILED)
            share = INFINITY;
        if (share > worst) {
            worst = share;
            found = i;
        }
    }
    return found;
}

size_t pw_tui_endtoend_slowest(const struct pw_tui_endtoend *run)
{
    size_t found = SIZE_MAX;

    for (size_t i = 0; i < run->node_count; i++)
        if (run->nodes[i].time_ns && (found == SIZE_MAX || run->nodes[i].time_ns > run->nodes[found].time_ns))
            found = i;
    return found;
}

void pw_tui_order_nodes(struct pw_tui *tui, pw_node_order order)
{
    struct pw_tui_endtoend *run = &tui->at->endtoend;
    bool seen;

    pw_tui_place(tui);
    seen = run->focus_line >= 0 && run->focus_line == pw_tui_list_line(tui);
    pw_tui_endtoend_sort(run, order);
    pw_tui_place(tui);
    if (seen && run->finished) /* the chosen node stays in sight, else the list begins */
        tui->scroll[PW_SCREEN_ENDTOEND] = run->focus_line > 2 ? run->focus_line - 2 : 0;
    else if (run->finished && tui->scroll[PW_SCREEN_ENDTOEND] > run->list_line)
        show_list(tui);
    if (!run->finished)
        pw_tui_say(tui, false, "nodes will be listed %s when the run is over", pw_tui_node_order_name(run->sort));
}

void pw_tui_act_node_order(struct pw_tui *tui)
{
    pw_tui_order_nodes(tui, (pw_node_order)((tui->at->endtoend.sort + 1) % PW_NODE_ORDER_COUNT));
}

/* Scrolls to a node's line and marks it; what hides it is taken away. */
static void show_node(struct pw_tui *tui, size_t node, const char *none)
{
    struct pw_tui_endtoend *run = &tui->at->endtoend;

    if (node == SIZE_MAX) {
        pw_tui_say(tui, false, "%s", none);
        return;
    }
    run->focus = node;
    tui->found[PW_SCREEN_ENDTOEND] = -1;
    for (int tried = 0; tried < 2; tried++) {
        pw_tui_place(tui);
        if (run->focus_line >= 0)
            break;
        run->only_divergent = false;
        pw_tui_endtoend_only(run, NULL, 0, 0);
    }
    tui->scroll[PW_SCREEN_ENDTOEND] = run->focus_line > 2 ? run->focus_line - 2 : 0;
}

void pw_tui_act_first_divergence(struct pw_tui *tui)
{
    show_node(tui, pw_tui_endtoend_first(&tui->at->endtoend), "every node that was compared holds");
}

void pw_tui_act_worst_node(struct pw_tui *tui)
{
    show_node(tui, pw_tui_endtoend_worst(&tui->at->endtoend), "no node was compared: r compares them");
}

void pw_tui_act_slowest_node(struct pw_tui *tui)
{
    show_node(tui, pw_tui_endtoend_slowest(&tui->at->endtoend), "no node was timed: r compares and times them");
}
