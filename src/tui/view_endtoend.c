/* End to end: the graph's nodes in order with what they add and what arrived; outputs; the sweep's ranking. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "tui/tui.h"

static const pw_style standing_styles[PW_NODE_STANDING_COUNT] = {
    [PW_NODE_HELD] = PW_STYLE_GOOD,  [PW_NODE_CULPRIT] = PW_STYLE_BAD, [PW_NODE_VICTIM] = PW_STYLE_WARN,
    [PW_NODE_DRIFT] = PW_STYLE_WARN, [PW_NODE_FAILED] = PW_STYLE_BAD,  [PW_NODE_DRAWN] = PW_STYLE_DIM,
};

#define ON_HOST "  host" /* behind the name of a node that did not run on the target */

static const char *error_text(char *dst, size_t size, double value)
{
    if (isnan(value))
        snprintf(dst, size, "-");
    else
        snprintf(dst, size, "%.1e", value);
    return dst;
}

/* Where the columns of the list stand; -1: there is no room for it. */
struct columns {
    int verdict, time, own, tolerance, arrived, number_width, op, op_width, name, name_width, bar, bar_width;
};

static struct columns columns_for(int width, pw_node_order sort)
{
    struct columns c = {.verdict = 3,
                        .time = 12,
                        .own = 22,
                        .tolerance = 32,
                        .arrived = 42,
                        .number_width = 9,
                        .op = 53,
                        .op_width = width < 100 ? 10 : 14,
                        .bar = -1};

    if (width < 56) { /* what must be told: does it hold, how long, how wrong, which */
        c = (struct columns){.verdict = 2,
                             .time = 9,
                             .own = sort == PW_NODES_BY_ARRIVED ? -1 : 17,
                             .tolerance = -1,
                             .arrived = sort == PW_NODES_BY_ARRIVED ? 17 : -1,
                             .number_width = 8,
                             .op = 26,
                             .bar = -1};
    } else if (width < 72) {
        c.tolerance = -1;
        c.arrived = 32;
        c.op = 43;
        c.op_width = 0;
    }
    c.name = c.op_width ? c.op + c.op_width + 1 : c.op;
    c.name_width = width - c.name - 1;
    if (width >= 110) {
        c.bar_width = (width - c.name) / 2 > 100 ? 100 : (width - c.name) / 2;
        c.bar = width - 1 - c.bar_width;
        c.name_width = c.bar - c.name - 2;
    }
    c.name_width = c.name_width < 4 ? 4 : c.name_width;
    return c;
}

pw_node_order pw_view_node_order(const struct pw_tui *tui, int column)
{
    const struct pw_tui_endtoend *run = &tui->at->endtoend;
    struct columns c = columns_for(tui->columns, run->finished ? run->sort : PW_NODES_IN_ORDER);
    const struct {
        int column;
        pw_node_order order;
    } heads[] = {{c.time, PW_NODES_BY_TIME}, {c.own, PW_NODES_BY_OWN}, {c.arrived, PW_NODES_BY_ARRIVED}};

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (heads[i].column >= 0 && column >= heads[i].column && column < heads[i].column + c.number_width)
            return heads[i].order;
    return column >= c.op ? PW_NODES_IN_ORDER : PW_NODE_ORDER_COUNT; /* operators and names: as they run */
}

static void add_number(struct pw_lines *lines, const struct columns *c, pw_style style, int column, const char *text)
{
    if (column >= 0)
        pw_lines_moref(lines, style, column, "%*s", c->number_width, text);
}

static const char *time_text(char *dst, size_t size, int64_t ns)
{
    if (ns)
        pw_text_duration(dst, size, (double)ns / 1e9);
    else
        snprintf(dst, size, "-");
    return dst;
}

/* When in the run it ran, and how long. */
static void add_bar(const struct pw_tui *tui, struct pw_lines *lines, size_t index, const struct columns *c)
{
    const struct pw_tui_endtoend *run = &tui->at->endtoend;
    const struct pw_tui_node *node = &run->nodes[index];
    int64_t begin_ns = pw_tui_endtoend_begin_ns(run, index);
    double scale = run->elapsed_ns ? (double)c->bar_width / (double)run->elapsed_ns : 0;
    int begin = (int)((double)begin_ns * scale);
    int size = (int)((double)(begin_ns + node->time_ns) * scale + 0.5) - begin;
    struct pw_buf bar = {0};

    if (!node->time_ns)
        return;
    begin = begin >= c->bar_width ? c->bar_width - 1 : begin;
    size = size < 1 ? 1 : begin + size > c->bar_width ? c->bar_width - begin : size;
    for (int i = 0; i < size; i++)
        pw_buf_puts(&bar, pw_view_time_glyph(node->on_target, tui->ascii));
    pw_lines_more(lines, pw_view_time_style(node->on_target), c->bar + begin, pw_buf_text(&bar));
    pw_buf_clear(&bar);
}

/* A name that does not fit by its end, which tells nodes of one block apart; dst has room for what fits. */
static void name_end(char *dst, size_t size, const char *name, int width, bool ascii)
{
    const char *cut = ascii ? ".." : "\u2026";
    int left = (int)pw_text_width(name), room = width - (int)pw_text_width(cut);

    if (left <= width) {
        snprintf(dst, size, "%s", name);
        return;
    }
    while (*name && left > room) {
        uint32_t code;

        name += pw_text_decode(name, strlen(name), &code);
        left -= pw_text_width_code(code);
    }
    snprintf(dst, size, "%s%s", cut, name);
}

static void add_name(const struct pw_tui *tui, struct pw_lines *lines, const struct pw_tui_node *node,
                     const struct columns *c)
{
    const struct pw_inventory *inventory = tui->inventory;
    char name[512];

    if (node->node) {
        if (c->op_width)
            pw_lines_moref(lines, PW_STYLE_NORMAL, c->op, "%.*s", c->op_width, node->node->op_type);
        name_end(name, sizeof name, node->node->name[0] ? node->node->name : "(no name)",
                 c->name_width - (node->on_target ? 0 : (int)strlen(ON_HOST)), tui->ascii);
        pw_lines_more(lines, PW_STYLE_NORMAL, c->name, name);
    } else if (node->pattern >= 0 && (size_t)node->pattern < inventory->pattern_count) {
        pw_lines_moref(lines, PW_STYLE_ACCENT, c->op, "%s as a whole",
                       pw_pattern_name(inventory->patterns[node->pattern].kind));
    }
}

static void add_node(const struct pw_tui *tui, struct pw_lines *lines, size_t index, const struct columns *c)
{
    const struct pw_tui_endtoend *run = &tui->at->endtoend;
    const struct pw_tui_node *node = &run->nodes[index];
    bool is_first = run->finished && node->node && node->node == run->totals.first_divergence;
    char text[32];

    pw_lines_add(lines, PW_STYLE_ACCENT, 1, !is_first ? "" : tui->ascii ? "^" : "\u25b2");
    pw_lines_moref(lines, standing_styles[node->standing], c->verdict, "%-7s", pw_node_standing_name(node->standing));
    add_number(lines, c, PW_STYLE_NORMAL, c->time, time_text(text, sizeof text, node->time_ns));
    add_number(lines, c, PW_STYLE_NORMAL, c->own, error_text(text, sizeof text, node->isolated));
    add_number(lines, c, PW_STYLE_DIM, c->tolerance, error_text(text, sizeof text, node->tolerance));
    add_number(lines, c, PW_STYLE_NORMAL, c->arrived, error_text(text, sizeof text, node->propagated));
    add_name(tui, lines, node, c);
    if (!node->on_target && node->node)
        pw_lines_more(lines, PW_STYLE_DIM, 0, ON_HOST);
    if (node->nonfinite_origin)
        pw_lines_more(lines, PW_STYLE_BAD, 0, "  NaN or Inf begins here");
    if (c->bar >= 0)
        add_bar(tui, lines, index, c);
    if (pw_tui_node_says(node))
        pw_lines_wrap(lines, PW_STYLE_DIM, PW_TUI_NODE_INDENT, node->text);
}

void pw_view_node(const struct pw_tui *tui, struct pw_lines *lines, size_t node)
{
    const struct pw_tui_endtoend *run = &tui->at->endtoend;
    struct columns c = columns_for(lines->width, run->finished ? run->sort : PW_NODES_IN_ORDER);

    add_node(tui, lines, node, &c);
}

static void add_heads(struct pw_lines *lines, const struct pw_tui_endtoend *run, const struct columns *c)
{
    char title[160], of[48] = "";

    if (run->only)
        snprintf(of, sizeof of, " of %zu signature%s (C: of all)", run->only_count, run->only_count == 1 ? "" : "s");
    snprintf(title, sizeof title, "%s%s %s (d: %s)", run->only_divergent ? "Nodes that do not hold" : "Nodes", of,
             pw_tui_node_order_name(run->finished ? run->sort : PW_NODES_IN_ORDER),
             run->only_divergent ? "all" : "only those that do not hold");
    pw_lines_head(lines, title);
    pw_lines_add(lines, PW_STYLE_HEADER, c->verdict, "verdict");
    add_number(lines, c, PW_STYLE_HEADER, c->time, "time");
    add_number(lines, c, PW_STYLE_HEADER, c->own, "its own");
    add_number(lines, c, PW_STYLE_HEADER, c->tolerance, "tolerance");
    add_number(lines, c, PW_STYLE_HEADER, c->arrived, "arrived");
    if (c->op_width)
        pw_lines_more(lines, PW_STYLE_HEADER, c->op, "operator");
    pw_lines_more(lines, PW_STYLE_HEADER, c->name, "node");
    if (c->bar >= 0)
        pw_lines_more(lines, PW_STYLE_HEADER, c->bar, "when in the run");
}

/* Where the focus stands; -1: it is not listed. */
static int find_focus(const struct pw_tui_endtoend *run, const struct pw_tui_node_lines *index, int list_line)
{
    size_t place = run->focus;

    if (run->focus >= run->node_count)
        return -1;
    if (run->order)
        for (place = 0; run->order[place] != run->focus; place++) {
        }
    return index->begin[place] == index->begin[place + 1] ? -1 : list_line + (int)index->begin[place];
}

/* Of very many nodes only those that will be looked at. */
static void add_nodes(struct pw_tui *tui, struct pw_lines *lines)
{
    struct pw_tui_endtoend *run = &tui->at->endtoend;
    struct columns c = columns_for(lines->width, run->finished ? run->sort : PW_NODES_IN_ORDER);
    const struct pw_tui_node_lines *index = pw_tui_endtoend_lines(tui, lines);
    size_t from, to, place, end;

    add_heads(lines, run, &c);
    if (!index) {
        pw_lines_add(lines, PW_STYLE_BAD, 3, "There is not enough memory to list them.");
        return;
    }
    end = index->begin[run->node_count];
    if (!end) {
        pw_lines_add(lines, PW_STYLE_DIM, 3, run->finished ? "None." : "None so far.");
        return;
    }
    run->list_line = (int)lines->count;
    run->focus_line = find_focus(run, index, run->list_line);
    pw_lines_seen(lines, end, &from, &to);
    place = from < to ? pw_tui_endtoend_place(index, from) : run->node_count;
    pw_lines_skip(lines, index->begin[place]);
    for (; place < run->node_count && index->begin[place] < to; place++)
        if (index->begin[place] < index->begin[place + 1])
            add_node(tui, lines, pw_tui_endtoend_at(run, place), &c);
    pw_lines_skip(lines, end - index->begin[place]);
}

static void add_layers(const struct pw_tui *tui, struct pw_lines *lines)
{
    const struct pw_tui_endtoend *run = &tui->at->endtoend;

    pw_lines_head(lines, "Layers by damage: what arrives at the outputs when the layer alone is narrower");
    pw_lines_add(lines, PW_STYLE_HEADER, 3, "  float16  bfloat16   float32  layer");
    for (size_t i = 0; i < run->layer_count; i++) {
        const struct pw_tui_layer *layer = &run->layers[i];

        pw_lines_add(lines, PW_STYLE_NORMAL, 0, "");
        for (int d = 0; d < PW_SWEEP_DTYPES; d++) {
            char text[24];

            pw_lines_moref(lines,
                           isnan(layer->damage[d]) ? PW_STYLE_DIM
                           : layer->held[d]        ? PW_STYLE_GOOD
                                                   : PW_STYLE_BAD,
                           3 + 10 * d, "%9s", error_text(text, sizeof text, layer->damage[d]));
        }
        pw_lines_more(lines, PW_STYLE_NORMAL, 35, layer->name);
    }
}

static void add_times(struct pw_lines *lines, const struct pw_endtoend_totals *t)
{
    char a[32], b[32], text[160];

    snprintf(text, sizeof text, "nodes take %s on the target, %s on the host",
             pw_text_duration(a, sizeof a, (double)t->nodes_target_ns / 1e9),
             pw_text_duration(b, sizeof b, (double)t->nodes_host_ns / 1e9));
    pw_lines_wrap(lines, PW_STYLE_NORMAL, 1, text);
}

static void explain_times(struct pw_lines *lines)
{
    pw_lines_head(lines, "What the times say");
    pw_lines_wrap(lines, PW_STYLE_DIM, 3,
                  "On the target from a kernel's first launch until the device is idle, its tensors and packed weights "
                  "being there: the least of up to five. On the host the reference, once. All runs of a loop's body "
                  "together. Other work may run beside: b in the detail measures quietly.");
}

/* Which run it is, when it is not this session's. */
static void add_past(struct pw_lines *lines, const struct pw_tui_endtoend *run)
{
    char when[32], text[200];

    pw_clock_iso(run->past_ms, when, sizeof when);
    when[10] = ' ';
    snprintf(text, sizeof text, "run %lld of %.16s%s%s; r runs it again", run->past_run, when,
             run->past_bindings[0] ? ", " : "", run->past_bindings);
    pw_lines_wrap(lines, PW_STYLE_ACCENT, 1, text);
}

static void add_totals(const struct pw_tui *tui, struct pw_lines *lines)
{
    const struct pw_endtoend_totals *t = &tui->at->endtoend.totals;
    char a[32], b[32], text[160];

    if (tui->at->endtoend.mode == PW_ENDTOEND_SWEEP) {
        pw_lines_addf(lines, PW_STYLE_NORMAL, 1, "%zu layers, each alone in three types", t->layers);
        return;
    }
    snprintf(text, sizeof text, "%s: %zu nodes, %zu on the target, %zu on the host", t->held ? "held" : "does not hold",
             t->nodes, t->target_nodes, t->host_nodes);
    pw_lines_wrap(lines, t->held ? PW_STYLE_GOOD : PW_STYLE_BAD, 1, text);
    snprintf(text, sizeof text, "%zu culprits, %zu victims, %zu drifting, %zu failed", t->culprits, t->victims,
             t->drifts, t->failed);
    if (tui->at->endtoend.mode == PW_ENDTOEND_NODES)
        pw_lines_wrap(lines, t->culprits + t->failed ? PW_STYLE_BAD : PW_STYLE_DIM, 1, text);
    if (t->nodes_target_ns || t->nodes_host_ns)
        add_times(lines, t);
    if (t->target_ns)
        pw_lines_addf(lines, PW_STYLE_NORMAL, 1, "target %s a run, fast reference %s",
                      pw_text_duration(a, sizeof a, (double)t->target_ns / 1e9),
                      t->reference_ns ? pw_text_duration(b, sizeof b, (double)t->reference_ns / 1e9) : "not timed");
    pw_lines_addf(lines, PW_STYLE_DIM, 1, "memory of values: %s at most, live tensors %s",
                  pw_text_bytes(a, sizeof a, (double)t->peak_bytes), pw_text_bytes(b, sizeof b, (double)t->live_bytes));
}

static void add_going(struct pw_lines *lines, const struct pw_tui_side *side)
{
    const struct pw_tui_endtoend *run = &side->endtoend;

    if (!run->going && !strcmp(run->why, "cancelled")) {
        pw_lines_addf(lines, PW_STYLE_ACCENT, 1, "not finished %zu/%zu  cancelled", run->done, run->total);
    } else if (!run->going) { /* why is what must be read, whole */
        pw_lines_addf(lines, PW_STYLE_BAD, 1, "not finished %zu/%zu", run->done, run->total);
        pw_lines_wrap(lines, PW_STYLE_BAD, 3, run->why);
    } else if (run->done == run->total) {
        pw_lines_addf(lines, PW_STYLE_ACCENT, 1, "running %zu/%zu: %s  c cancels", run->done, run->total,
                      side->running_text);
    } else {
        pw_lines_addf(lines, PW_STYLE_ACCENT, 1, "running %zu/%zu  c cancels", run->done, run->total);
    }
}

/* A run of the whole graph of which nothing is counted yet: what is listed is the one before. */
static bool graph_begins(const struct pw_tui_side *side)
{
    return side->running && side->job && !side->total && (!strcmp(side->job, "run") || !strcmp(side->job, "sweep"));
}

/* Why not all nodes of a recorded run are listed. */
static const char *add_unread(char *dst, size_t size, const struct pw_tui_endtoend *run, const char *why)
{
    snprintf(dst, size, "only %zu of its nodes could be read: %s", run->node_count, why);
    return dst;
}

void pw_view_endtoend(struct pw_tui *tui, struct pw_lines *lines)
{
    struct pw_tui_endtoend *run = &tui->at->endtoend;
    const char *unread = tui->at->no_answer[PW_ASK_NODES];
    char text[320];

    run->focus_line = run->list_line = -1;
    if (graph_begins(tui->at))
        pw_lines_addf(lines, PW_STYLE_ACCENT, 1, "%s: %s  c cancels", tui->at->job, tui->at->running_text);
    else if (run->refused[0])
        pw_lines_wrap(lines, PW_STYLE_BAD, 1, run->refused);
    if (!run->known && graph_begins(tui->at))
        return;
    if (!run->known && unread[0]) {
        snprintf(text, sizeof text, "What the newest recorded run said of the nodes could not be read: %s", unread);
        pw_lines_wrap(lines, PW_STYLE_BAD, 2, text);
    }
    if (!run->known) {
        pw_lines_wrap(
            lines, PW_STYLE_DIM, 2,
            unread[0] ? "r compares the whole graph node by node with the reference, o only its outputs, s "
                        "ranks its layers by what narrower types cost."
                      : "The whole graph has not run yet: r compares it node by node with the reference, o only its "
                        "outputs, s ranks its layers by what narrower types cost.");
        return;
    }
    if (run->past_run)
        add_past(lines, run);
    if (run->finished)
        add_totals(tui, lines);
    else if (run->past_run && unread[0])
        pw_lines_wrap(lines, PW_STYLE_BAD, 1, add_unread(text, sizeof text, run, unread));
    else if (run->past_run)
        pw_lines_add(lines, PW_STYLE_DIM, 1, "reading its nodes...");
    else if (!graph_begins(tui->at))
        add_going(lines, tui->at);
    if (run->output_count)
        pw_lines_head(lines, "Outputs");
    for (int i = 0; i < run->output_count; i++)
        pw_lines_wrap(lines, run->output_held[i] ? PW_STYLE_GOOD : PW_STYLE_BAD, 3, run->outputs[i]);
    if (run->outputs_hidden)
        pw_lines_addf(lines, PW_STYLE_DIM, 3, "and %zu more", run->outputs_hidden);
    if (run->mode == PW_ENDTOEND_SWEEP)
        add_layers(tui, lines);
    if (run->mode != PW_ENDTOEND_NODES)
        return;
    if (run->elapsed_ns)
        pw_view_timeline(tui, lines, tui->rows < 20 ? 3 : tui->rows < 50 ? 5 : 8);
    add_nodes(tui, lines);
    if (run->elapsed_ns)
        explain_times(lines);
}
