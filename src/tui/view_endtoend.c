/* End to end: the graph's nodes in order with what they add and what arrived; outputs; the sweep's ranking. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/tui.h"

static const pw_style standing_styles[PW_NODE_STANDING_COUNT] = {
    [PW_NODE_HELD] = PW_STYLE_GOOD,  [PW_NODE_CULPRIT] = PW_STYLE_BAD, [PW_NODE_VICTIM] = PW_STYLE_WARN,
    [PW_NODE_DRIFT] = PW_STYLE_WARN, [PW_NODE_FAILED] = PW_STYLE_BAD,  [PW_NODE_DRAWN] = PW_STYLE_DIM,
};

static const char *error_text(char *dst, size_t size, double value)
{
    if (isnan(value))
        snprintf(dst, size, "-");
    else
        snprintf(dst, size, "%.1e", value);
    return dst;
}

static void add_node(const struct pw_tui *tui, struct pw_lines *lines, const struct pw_tui_node *node)
{
    const struct pw_inventory *inventory = tui->inventory;
    char own[24], arrived[24], limit[24];
    bool is_first = tui->at->endtoend.finished && node->node && node->node == tui->at->endtoend.totals.first_divergence;

    pw_lines_addf(lines, standing_styles[node->standing], 1, "%s %-8s", is_first ? ">" : " ",
                  pw_node_standing_name(node->standing));
    pw_lines_moref(lines, PW_STYLE_NORMAL, 12, "%9s %9s %9s", error_text(own, sizeof own, node->isolated),
                   error_text(limit, sizeof limit, node->tolerance),
                   error_text(arrived, sizeof arrived, node->propagated));
    if (node->node)
        pw_lines_moref(lines, PW_STYLE_NORMAL, 44, "%-14.14s %s", node->node->op_type,
                       node->node->name[0] ? node->node->name : "(no name)");
    else if (node->pattern >= 0 && (size_t)node->pattern < inventory->pattern_count)
        pw_lines_moref(lines, PW_STYLE_ACCENT, 44, "%s as a whole",
                       pw_pattern_name(inventory->patterns[node->pattern].kind));
    if (!node->on_target && node->node)
        pw_lines_more(lines, PW_STYLE_DIM, 0, "  host");
    if (node->nonfinite_origin)
        pw_lines_more(lines, PW_STYLE_BAD, 0, "  NaN or Inf begins here");
    if (node->standing != PW_NODE_HELD && node->text[0])
        pw_lines_wrap(lines, PW_STYLE_DIM, 12, node->text);
}

static void add_nodes(const struct pw_tui *tui, struct pw_lines *lines)
{
    const struct pw_tui_endtoend *run = &tui->at->endtoend;
    size_t shown = 0;

    pw_lines_head(lines,
                  run->only_divergent ? "Nodes that do not hold (d: all)" : "Nodes (d: only those that do not hold)");
    pw_lines_add(lines, PW_STYLE_HEADER, 3, "verdict");
    pw_lines_more(lines, PW_STYLE_HEADER, 12, "  its own tolerance   arrived");
    pw_lines_more(lines, PW_STYLE_HEADER, 44, "operator       node");
    for (size_t i = 0; i < run->node_count; i++) {
        if (run->only_divergent && (run->nodes[i].standing == PW_NODE_HELD || run->nodes[i].standing == PW_NODE_DRAWN))
            continue;
        add_node(tui, lines, &run->nodes[i]);
        shown++;
    }
    if (!shown)
        pw_lines_add(lines, PW_STYLE_DIM, 3, run->finished ? "None." : "None so far.");
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

static void add_totals(const struct pw_tui *tui, struct pw_lines *lines)
{
    const struct pw_endtoend_totals *t = &tui->at->endtoend.totals;
    char a[32], b[32];

    if (tui->at->endtoend.mode == PW_ENDTOEND_SWEEP) {
        pw_lines_addf(lines, PW_STYLE_NORMAL, 1, "%zu layers, each alone in three types", t->layers);
        return;
    }
    pw_lines_addf(lines, t->held ? PW_STYLE_GOOD : PW_STYLE_BAD, 1, "%s", t->held ? "held" : "does not hold");
    pw_lines_moref(lines, PW_STYLE_NORMAL, 0, ": %zu nodes, %zu on the target, %zu on the host", t->nodes,
                   t->target_nodes, t->host_nodes);
    if (tui->at->endtoend.mode == PW_ENDTOEND_NODES)
        pw_lines_moref(lines, t->culprits + t->failed ? PW_STYLE_BAD : PW_STYLE_DIM, 0,
                       "; %zu culprits, %zu victims, %zu drifting, %zu failed", t->culprits, t->victims, t->drifts,
                       t->failed);
    if (t->target_ns)
        pw_lines_addf(lines, PW_STYLE_NORMAL, 1, "target %s a run, fast reference %s",
                      pw_text_duration(a, sizeof a, (double)t->target_ns / 1e9),
                      t->reference_ns ? pw_text_duration(b, sizeof b, (double)t->reference_ns / 1e9) : "not timed");
    pw_lines_addf(lines, PW_STYLE_DIM, 1, "memory of values: %s at most, live tensors %s",
                  pw_text_bytes(a, sizeof a, (double)t->peak_bytes), pw_text_bytes(b, sizeof b, (double)t->live_bytes));
}

void pw_view_endtoend(struct pw_tui *tui, struct pw_lines *lines)
{
    const struct pw_tui_endtoend *run = &tui->at->endtoend;

    if (!run->known) {
        pw_lines_wrap(lines, PW_STYLE_DIM, 2,
                      "The whole graph has not run yet: r compares it node by node with the reference, o only its "
                      "outputs, s ranks its layers by what narrower types cost.");
        return;
    }
    if (run->finished)
        add_totals(tui, lines);
    else
        pw_lines_addf(lines, PW_STYLE_ACCENT, 1, "%s %zu/%zu  %s", tui->at->running ? "running" : "not finished",
                      tui->at->done, tui->at->total, tui->at->running ? "c cancels" : tui->at->run_error);
    if (run->output_count)
        pw_lines_head(lines, "Outputs");
    for (int i = 0; i < run->output_count; i++)
        pw_lines_add(lines, run->output_held[i] ? PW_STYLE_GOOD : PW_STYLE_BAD, 3, run->outputs[i]);
    if (run->mode == PW_ENDTOEND_SWEEP)
        add_layers(tui, lines);
    else if (run->mode == PW_ENDTOEND_NODES)
        add_nodes(tui, lines);
}
