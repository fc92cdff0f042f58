/* The detail of one signature, as lines that scroll: what it is, where it occurs, why it is delicate, what
 * serves it, how it measured, and the kernel's source. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "baseline/triage.h"
#include "tui/tui.h"

#define MAX_NODES_LISTED 500

static void draw_pattern(struct pw_lines *lines, const struct pw_pattern *pattern)
{
    bool details = pattern->details && pattern->details[0];

    pw_lines_addf(lines, PW_STYLE_ACCENT, 1, "part of %s%s%s", pw_pattern_name(pattern->kind), details ? ": " : "",
                  details ? pattern->details : "");
}

static void draw_what(struct pw_lines *lines, const struct pw_tui *tui, const struct pw_signature *s)
{
    char a[32], b[32], text[600];

    pw_lines_addf(lines, PW_STYLE_BOLD, 1, "%s  %s", s->op_label,
                  s->op ? pw_category_name(s->category) : "unknown operator");
    pw_lines_wrap(lines, PW_STYLE_NORMAL, 1, s->text);
    pw_lines_addf(lines, PW_STYLE_DIM, 1, "id %s", s->id);
    if (!isnan(s->flops_value)) {
        snprintf(text, sizeof text, "%s and %s a node, %.3g FLOP/byte, %" PRId64 " parameters",
                 pw_text_si(a, sizeof a, s->flops_value, "FLOP"), pw_text_bytes(b, sizeof b, s->bytes_value),
                 s->intensity, s->parameters);
        pw_lines_wrap(lines, PW_STYLE_NORMAL, 1, text);
    }
    if (!isnan(s->share))
        pw_lines_addf(lines, PW_STYLE_NORMAL, 1, "%.2f %% of the graph's FLOPs", 100 * s->share);
    if (s->pattern >= 0)
        draw_pattern(lines, &tui->inventory->patterns[s->pattern]);
    pw_view_call(lines, s);
    pw_lines_head(lines, "Flags");
    snprintf(text, sizeof text, "sensitivity %s%s%s", pw_sensitivity_name(s->sensitivity),
             s->sensitivity_reason && s->sensitivity_reason[0] ? ": " : "",
             s->sensitivity_reason ? s->sensitivity_reason : "");
    pw_lines_wrap(lines, s->sensitivity == PW_SENSITIVITY_HIGH ? PW_STYLE_WARN : PW_STYLE_NORMAL, 3, text);
    snprintf(text, sizeof text, "dynamic: %s", s->dynamic_reason ? s->dynamic_reason : "");
    if (s->dynamic || s->data_dependent)
        pw_lines_wrap(lines, PW_STYLE_NORMAL, 3, text);
    else
        pw_lines_add(lines, PW_STYLE_DIM, 3, "all dims are fixed");
    if (s->shape_arithmetic)
        pw_lines_add(lines, PW_STYLE_DIM, 3, "shape arithmetic: stays on the host");
}

static void draw_decisions(struct pw_lines *lines, const struct pw_tui *tui, size_t signature)
{
    const struct pw_triage_entry *entry = pw_tui_decision(tui, signature);

    if (!entry)
        return;
    pw_lines_head(lines, "Decided");
    if (entry->status || entry->owner[0])
        pw_lines_addf(lines, PW_STYLE_ACCENT, 3, "%s%s%s", pw_triage_status_name(entry->status),
                      entry->owner[0] ? ", owner " : "", entry->owner);
    if (entry->note[0])
        pw_lines_wrap(lines, PW_STYLE_NORMAL, 3, entry->note);
    if (entry->waiver.present) {
        pw_lines_addf(lines, pw_tui_waived(tui, signature) ? PW_STYLE_WARN : PW_STYLE_BAD, 3, "waived until %s%s by %s",
                      entry->waiver.until, pw_tui_waived(tui, signature) ? "" : " (expired)", entry->waiver.owner);
        pw_lines_wrap(lines, PW_STYLE_NORMAL, 5, entry->waiver.reason);
    }
}

/* said: the reason of the case above; the same is not said again. */
static void draw_case(struct pw_lines *lines, const struct pw_tui_case *c, const char **said)
{
    pw_style style = pw_verdict_failed(c->verdict)   ? PW_STYLE_BAD
                     : c->verdict == PW_VERDICT_WARN ? PW_STYLE_WARN
                                                     : PW_STYLE_NORMAL;
    char text[PW_CASE_ID_MAX + 64];
    size_t at = lines->count;

    if (isnan(c->error))
        snprintf(text, sizeof text, "%s", c->id);
    else
        snprintf(text, sizeof text, "%s  error %.2e of %.2e", c->id, c->error, c->tolerance);
    pw_lines_wrap(lines, style, 11, text);
    if (lines->count > at)
        pw_lines_front(lines, at, style, 3, pw_verdict_name(c->verdict));
    if (c->reason && *said && !strcmp(c->reason, *said))
        pw_lines_more(lines, style, 0, "  for the same reason");
    else if (c->reason)
        pw_lines_wrap(lines, style, 11, c->reason);
    *said = c->reason;
    if (c->shrunk) {
        snprintf(text, sizeof text, "smallest that fails: %s", c->shrunk);
        pw_lines_wrap(lines, style, 11, text);
    }
}

static void draw_histogram(struct pw_lines *lines, const struct pw_comparison *worst)
{
    int64_t most = 0;

    for (int i = 0; i < PW_HISTOGRAM_BINS; i++)
        most = worst->histogram[i] > most ? worst->histogram[i] : most;
    if (most)
        pw_lines_add(lines, PW_STYLE_DIM, 3, "elements by their error");
    for (int i = 0; i < PW_HISTOGRAM_BINS; i++) {
        char bar[41];
        int width;

        if (!worst->histogram[i])
            continue;
        width = (int)((worst->histogram[i] * (lines->width < 60 ? 12 : 40) + most - 1) / most);
        memset(bar, '#', (size_t)width);
        bar[width] = '\0';
        if (i == 0)
            pw_lines_add(lines, PW_STYLE_DIM, 3, "    exact");
        else
            pw_lines_addf(lines, PW_STYLE_DIM, 3, "from 1e%+03d", i - 19);
        pw_lines_moref(lines, PW_STYLE_ACCENT, 15, "%s", bar);
        pw_lines_moref(lines, PW_STYLE_DIM, 0, " %" PRId64, worst->histogram[i]);
    }
}

/* The elements of the most telling case: which are worst, and how many have an error of each decade. */
static void draw_worst(struct pw_lines *lines, const struct pw_tui_worst *worst)
{
    const struct pw_comparison *c = &worst->comparison;
    char text[400];

    pw_lines_head(lines, "Elements");
    snprintf(text, sizeof text,
             "of output %d of case %s: %" PRId64 " elements, %" PRId64 " over; %.3g ULP at most; NMSE "
             "%.2g",
             worst->output, worst->id, c->count, c->over, c->max_ulp, c->nmse);
    pw_lines_wrap(lines, PW_STYLE_DIM, 3, text);
    for (size_t i = 0; i < worst->element_count; i++) {
        snprintf(text, sizeof text, "%-16s got %.9g, golden %.9g, error %.3g", worst->elements[i].at,
                 worst->elements[i].got, worst->elements[i].want, worst->elements[i].error);
        pw_lines_wrap(lines, isinf(worst->share) ? PW_STYLE_BAD : PW_STYLE_NORMAL, 3, text);
    }
    if (!worst->element_count && c->worst >= 0 && c->max_error > 0)
        pw_lines_addf(lines, PW_STYLE_NORMAL, 3, "element %" PRId64 ": got %.9g, golden %.9g", c->worst, c->worst_got,
                      c->worst_want);
    draw_histogram(lines, c);
}

/* Which run a verdict with a star is of; and, of any, whether it is about what serves the signature now. */
static void draw_stars(const struct pw_tui *tui, struct pw_lines *lines, size_t signature)
{
    const struct pw_tui_row *row = &tui->at->signatures[signature];
    const struct pw_impl_list *impls = pw_tui_impls(tui, signature);
    char when[32], text[400];

    if (!row->measured)
        return;
    if (row->from_store) {
        pw_clock_iso(row->wall_ms, when, sizeof when);
        when[10] = ' ';
        snprintf(text, sizeof text, "* in run %lld of %.16s%s%s", (long long)row->run_id, when,
                 row->implementation[0] ? ", with " : "", row->implementation);
        pw_lines_wrap(lines, PW_STYLE_DIM, 3, text);
    }
    if (!pw_tui_outdated(tui, signature))
        return;
    if (strcmp(impls->items[impls->selected].name, row->implementation) != 0)
        snprintf(text, sizeof text, "** now %s serves it: v verifies that", impls->items[impls->selected].name);
    else
        snprintf(text, sizeof text,
                 "** another %s than the one that serves it now, of another folder or edited since: "
                 "v verifies it as it is now",
                 row->implementation);
    pw_lines_wrap(lines, PW_STYLE_WARN, 3, text);
}

static void draw_measured(const struct pw_tui *tui, struct pw_lines *lines, size_t signature)
{
    const struct pw_tui_row *row = &tui->at->signatures[signature];
    char a[32], b[32], text[160];
    const char *said = NULL;

    pw_lines_head(lines, "Measured");
    if (!row->measured && !row->case_count) {
        pw_lines_add(lines, PW_STYLE_DIM, 3, "Not verified yet: press v.");
        return;
    }
    if (row->measured && !isnan(row->worst_error)) {
        snprintf(text, sizeof text, "%s: error %.3g of %.3g allowed, the largest share of all cases", row->standing,
                 row->worst_error, row->tolerance);
        pw_lines_wrap(lines, row->ratio > 1 ? PW_STYLE_BAD : PW_STYLE_NORMAL, 3, text);
    } else if (row->measured) {
        pw_lines_wrap(lines, row->host && row->gate_failed ? PW_STYLE_BAD : PW_STYLE_NORMAL, 3,
                      !row->host         ? row->standing
                      : row->gate_failed ? "off target: nothing serves it there, and the protocol does not let it "
                                           "stay on the host"
                                         : "stays on the host");
    }
    draw_stars(tui, lines, signature);
    if (row->target_ns)
        pw_lines_addf(lines, PW_STYLE_NORMAL, 3, "target %s",
                      pw_text_duration(a, sizeof a, (double)row->target_ns / 1e9));
    if (row->reference_ns)
        pw_lines_addf(lines, PW_STYLE_NORMAL, 3, "reference (%s) %s: %.2f x", row->reference_name,
                      pw_text_duration(b, sizeof b, (double)row->reference_ns / 1e9),
                      row->target_ns ? (double)row->reference_ns / (double)row->target_ns : 0.0);
    for (size_t i = 0; i < row->case_count; i++)
        if (pw_verdict_failed(row->cases[i].verdict))
            draw_case(lines, &row->cases[i], &said);
    if (row->worst)
        draw_worst(lines, row->worst);
}

/* The cases that did not fail, behind a line that counts all. */
static void draw_cases(struct pw_lines *lines, const struct pw_tui_row *row)
{
    size_t counts[PW_VERDICT_COUNT] = {0};
    struct pw_buf head = {0};
    const char *said = NULL;

    if (!row->case_count)
        return;
    for (size_t i = 0; i < row->case_count; i++)
        counts[row->cases[i].verdict]++;
    pw_buf_printf(&head, "Cases of this session:");
    for (int v = 0; v < PW_VERDICT_COUNT; v++)
        if (counts[v])
            pw_buf_printf(&head, " %zu %s", counts[v], pw_verdict_name((pw_verdict)v));
    pw_lines_head(lines, pw_buf_text(&head));
    if (counts[PW_VERDICT_FAIL] + counts[PW_VERDICT_CRASH] + counts[PW_VERDICT_TIMEOUT] + counts[PW_VERDICT_ERROR])
        pw_lines_add(lines, PW_STYLE_DIM, 3, "those that failed stand above");
    for (size_t i = 0; i < row->case_count; i++)
        if (!pw_verdict_failed(row->cases[i].verdict))
            draw_case(lines, &row->cases[i], &said);
    if (row->case_count == PW_TUI_CASES)
        pw_lines_add(lines, PW_STYLE_DIM, 3, "further cases are in the store: portwright history");
    pw_buf_clear(&head);
}

static void draw_implementations(struct pw_lines *lines, const struct pw_tui *tui, size_t signature)
{
    const struct pw_impl_list *impls = pw_tui_impls(tui, signature);

    pw_lines_head(lines, "Implementations");
    if (!impls) {
        pw_lines_add(lines, PW_STYLE_DIM, 3,
                     tui->at->device_failed ? "The target could not be used." : "Looking at the target...");
        return;
    }
    if (!impls->count)
        pw_lines_add(lines, PW_STYLE_BAD, 3, "missing: no definition and no kernel");
    for (size_t i = 0; i < impls->count; i++) {
        const struct pw_impl *impl = &impls->items[i];

        pw_style style = (int)i == impls->selected ? PW_STYLE_GOOD : PW_STYLE_NORMAL;
        size_t at = lines->count;
        struct pw_buf text = {0}; /* a reason may be long */

        pw_buf_printf(&text, "%s%s%s", impl->name, impl->supported ? "" : ": ", impl->supported ? "" : impl->why);
        pw_lines_wrap(lines, style, 15, pw_buf_text(&text));
        text.size = 0;
        pw_buf_printf(&text, "%s %s", (int)i == impls->selected ? "*" : " ", pw_coverage_name(impl->kind));
        if (lines->count > at)
            pw_lines_front(lines, at, style, 3, pw_buf_text(&text));
        pw_buf_clear(&text);
        if (impl->kernel && (int)i == impls->selected)
            pw_lines_wrap(lines, PW_STYLE_DIM, 15,
                          pw_kernel_algorithm(impl->kernel) ? pw_kernel_algorithm(impl->kernel) : "");
    }
    if (impls->kernel_required)
        pw_lines_add(lines, PW_STYLE_BAD, 3, "A hand-written kernel is required.");
}

static void draw_nodes(const struct pw_tui *tui, struct pw_lines *lines, const struct pw_signature *s)
{
    bool trends = tui->at->history.known && tui->at->history.signature == tui->detail && tui->at->history.node_count;

    pw_lines_head(lines, trends ? "Nodes (4: their errors and times over runs)" : "Nodes");
    for (size_t i = 0; i < s->node_count && i < MAX_NODES_LISTED; i++)
        pw_lines_addf(lines, PW_STYLE_NORMAL, 3, "%zu  %s%s%s", s->nodes[i]->index,
                      s->nodes[i]->name[0] ? s->nodes[i]->name : "(no name)", s->nodes[i]->graph->parent ? "  in " : "",
                      s->nodes[i]->graph->parent ? s->nodes[i]->graph->name : "");
    if (s->node_count > MAX_NODES_LISTED)
        pw_lines_addf(lines, PW_STYLE_DIM, 3, "and %zu more", s->node_count - MAX_NODES_LISTED);
}

void pw_view_detail(struct pw_tui *tui, struct pw_lines *lines)
{
    const struct pw_signature *s;

    if (tui->detail >= tui->inventory->signature_count) {
        pw_lines_add(lines, PW_STYLE_DIM, 2, "No signature is chosen: 1 goes to the inventory.");
        return;
    }
    s = &tui->inventory->signatures[tui->detail];
    draw_what(lines, tui, s);
    pw_view_build(tui, lines, tui->detail);
    draw_measured(tui, lines, tui->detail);
    pw_view_speed(tui, lines, &tui->at->signatures[tui->detail]);
    draw_decisions(lines, tui, tui->detail);
    if (tui->at->history.known && tui->at->history.signature == tui->detail && tui->at->history.count > 1) {
        pw_lines_head(lines, "Earlier runs (4: all of them)");
        pw_view_history(tui, lines, 3);
    }
    draw_implementations(lines, tui, tui->detail);
    draw_cases(lines, &tui->at->signatures[tui->detail]);
    draw_nodes(tui, lines, s);
    pw_view_source(tui, lines, tui->detail);
}
