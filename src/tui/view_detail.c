/* The detail of one signature, as lines that scroll: what it is, where it occurs, why it is delicate, what
 * serves it, how it measured, and the kernel's source. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tui/tui.h"

#define MAX_NODES_LISTED 500

struct pen { /* draws line after line; lines outside the window are only counted */
    struct pw_canvas *canvas;
    int top, rows, line;
};

static void put(struct pen *pen, pw_style style, int indent, const char *text)
{
    if (pen->line >= 0 && pen->line < pen->rows)
        pw_canvas_text(pen->canvas, pen->top + pen->line, indent, pen->canvas->columns - indent, style, text);
    pen->line++;
}

static void putf(struct pen *pen, pw_style style, int indent, const char *format, ...) PW_PRINTF(4, 5);
static void putf(struct pen *pen, pw_style style, int indent, const char *format, ...)
{
    struct pw_buf text = {0};
    va_list args;

    va_start(args, format);
    if (pen->line >= 0 && pen->line < pen->rows)
        pw_buf_vprintf(&text, format, args);
    va_end(args);
    put(pen, style, indent, pw_buf_text(&text));
    pw_buf_clear(&text);
}

static void head(struct pen *pen, const char *title)
{
    pen->line++;
    put(pen, PW_STYLE_BOLD, 1, title);
}

/* Long text over several lines. */
static void paragraph(struct pen *pen, pw_style style, int indent, const char *text)
{
    size_t width = (size_t)(pen->canvas->columns - indent - 1 > 8 ? pen->canvas->columns - indent - 1 : 8);

    for (size_t left = strlen(text), take; left; text += take, left -= take) {
        char part[400];

        take = left < width ? left : width;
        if (take < left)
            for (size_t i = take; i > take / 2; i--)
                if (text[i] == ' ' || text[i] == ',') {
                    take = i + 1;
                    break;
                }
        if (take > sizeof part - 1)
            take = sizeof part - 1;
        memcpy(part, text, take);
        part[take] = '\0';
        put(pen, style, indent, part);
    }
}

static void draw_pattern(struct pen *pen, const struct pw_pattern *pattern)
{
    bool details = pattern->details && pattern->details[0];

    putf(pen, PW_STYLE_ACCENT, 1, "part of %s%s%s", pw_pattern_name(pattern->kind), details ? ": " : "",
         details ? pattern->details : "");
}

static void draw_what(struct pen *pen, const struct pw_tui *tui, const struct pw_signature *s)
{
    static const char *const sensitivities[] = {"low", "medium", "high"};
    char a[32], b[32];

    putf(pen, PW_STYLE_BOLD, 1, "%s  %s", s->op_label, s->op ? pw_category_name(s->category) : "unknown operator");
    paragraph(pen, PW_STYLE_NORMAL, 1, s->text);
    putf(pen, PW_STYLE_DIM, 1, "id %s", s->id);
    if (!isnan(s->flops_value))
        putf(pen, PW_STYLE_NORMAL, 1, "%s and %s a node, %.3g FLOP/byte, %" PRId64 " parameters",
             pw_text_si(a, sizeof a, s->flops_value, "FLOP"), pw_text_bytes(b, sizeof b, s->bytes_value), s->intensity,
             s->parameters);
    if (!isnan(s->share))
        putf(pen, PW_STYLE_NORMAL, 1, "%.2f %% of the graph's FLOPs", 100 * s->share);
    if (s->pattern >= 0)
        draw_pattern(pen, &tui->inventory->patterns[s->pattern]);
    head(pen, "Flags");
    putf(pen, s->sensitivity == PW_SENSITIVITY_HIGH ? PW_STYLE_WARN : PW_STYLE_NORMAL, 3, "sensitivity %s%s%s",
         sensitivities[s->sensitivity], s->sensitivity_reason && s->sensitivity_reason[0] ? ": " : "",
         s->sensitivity_reason ? s->sensitivity_reason : "");
    if (s->dynamic || s->data_dependent)
        putf(pen, PW_STYLE_NORMAL, 3, "dynamic: %s", s->dynamic_reason ? s->dynamic_reason : "");
    else
        put(pen, PW_STYLE_DIM, 3, "all dims are fixed");
    if (s->shape_arithmetic)
        put(pen, PW_STYLE_DIM, 3, "shape arithmetic: stays on the host");
}

static void draw_measured(struct pen *pen, const struct pw_tui_row *row)
{
    char a[32], b[32];

    head(pen, "Measured");
    if (!row->measured && !row->case_count) {
        put(pen, PW_STYLE_DIM, 3, "Not verified yet: press v.");
        return;
    }
    if (row->measured && !isnan(row->worst_error))
        putf(pen, row->ratio > 1 ? PW_STYLE_BAD : PW_STYLE_NORMAL, 3, "%s: worst error %.3g, tolerance %.3g%s",
             row->standing, row->worst_error, row->tolerance, row->from_store ? " (an earlier run)" : "");
    else if (row->measured)
        putf(pen, PW_STYLE_NORMAL, 3, "%s", row->host ? "stays on the host" : row->standing);
    if (row->target_ns)
        putf(pen, PW_STYLE_NORMAL, 3, "target %s", pw_text_duration(a, sizeof a, (double)row->target_ns / 1e9));
    if (row->reference_ns)
        putf(pen, PW_STYLE_NORMAL, 3, "reference (%s) %s: %.2f x", row->reference_name,
             pw_text_duration(b, sizeof b, (double)row->reference_ns / 1e9),
             row->target_ns ? (double)row->reference_ns / (double)row->target_ns : 0.0);
    for (int i = 0; i < row->case_count; i++) {
        const struct pw_tui_case *c = &row->cases[i];
        bool bad = c->verdict > PW_VERDICT_WARN && c->verdict < PW_VERDICT_UNSUPPORTED;
        pw_style style = bad ? PW_STYLE_BAD : c->verdict == PW_VERDICT_WARN ? PW_STYLE_WARN : PW_STYLE_NORMAL;

        if (isnan(c->error))
            putf(pen, style, 3, "%-7s %s", pw_verdict_name(c->verdict), c->id);
        else
            putf(pen, style, 3, "%-7s %s  error %.2e of %.2e", pw_verdict_name(c->verdict), c->id, c->error,
                 c->tolerance);
        if (c->reason[0])
            paragraph(pen, style, 11, c->reason);
    }
}

static void draw_implementations(struct pen *pen, const struct pw_tui *tui, size_t signature)
{
    const struct pw_impl_list *impls = pw_tui_impls(tui, signature);

    head(pen, "Implementations");
    if (!impls) {
        put(pen, PW_STYLE_DIM, 3, tui->device_failed ? "The target could not be used." : "Looking at the target...");
        return;
    }
    if (!impls->count)
        put(pen, PW_STYLE_BAD, 3, "missing: no definition and no kernel");
    for (size_t i = 0; i < impls->count; i++) {
        const struct pw_impl *impl = &impls->items[i];

        putf(pen, (int)i == impls->selected ? PW_STYLE_GOOD : PW_STYLE_NORMAL, 3, "%s %-9s %s%s%s",
             (int)i == impls->selected ? "*" : " ", pw_coverage_name(impl->kind), impl->name,
             impl->supported ? "" : ": ", impl->supported ? "" : impl->why);
        if (impl->kernel && (int)i == impls->selected)
            putf(pen, PW_STYLE_DIM, 15, "%s",
                 pw_kernel_algorithm(impl->kernel) ? pw_kernel_algorithm(impl->kernel) : "");
    }
    if (impls->kernel_required)
        put(pen, PW_STYLE_BAD, 3, "A hand-written kernel is required.");
}

static void draw_nodes(struct pen *pen, const struct pw_signature *s)
{
    head(pen, "Nodes");
    for (size_t i = 0; i < s->node_count && i < MAX_NODES_LISTED; i++)
        putf(pen, PW_STYLE_NORMAL, 3, "%zu  %s%s%s", s->nodes[i]->index,
             s->nodes[i]->name[0] ? s->nodes[i]->name : "(no name)", s->nodes[i]->graph->parent ? "  in " : "",
             s->nodes[i]->graph->parent ? s->nodes[i]->graph->name : "");
    if (s->node_count > MAX_NODES_LISTED)
        putf(pen, PW_STYLE_DIM, 3, "and %zu more", s->node_count - MAX_NODES_LISTED);
}

static void draw_source(struct pen *pen, const struct pw_tui *tui, size_t signature)
{
    const struct pw_impl_list *impls = pw_tui_impls(tui, signature);
    const struct pw_kernel *kernel = impls && impls->selected >= 0 ? impls->items[impls->selected].kernel : NULL;
    const char *source = kernel ? pw_kernel_source(kernel, "opencl") : NULL;

    if (!source)
        return;
    head(pen, "Source");
    putf(pen, PW_STYLE_DIM, 3, "%s", pw_kernel_path(kernel));
    while (*source) {
        size_t length = strcspn(source, "\n");

        putf(pen, PW_STYLE_NORMAL, 1, "%.*s", (int)(length < 400 ? length : 400), source);
        source += length + (source[length] != '\0');
    }
}

void pw_view_detail(struct pw_tui *tui, struct pw_canvas *canvas, int top, int rows)
{
    struct pen pen = {.canvas = canvas, .top = top, .rows = rows, .line = -tui->scroll[PW_SCREEN_DETAIL]};
    const struct pw_signature *s;

    if (tui->detail >= tui->inventory->signature_count) {
        put(&pen, PW_STYLE_DIM, 2, "No signature is chosen.");
        return;
    }
    s = &tui->inventory->signatures[tui->detail];
    draw_what(&pen, tui, s);
    draw_measured(&pen, &tui->signatures[tui->detail]);
    draw_implementations(&pen, tui, tui->detail);
    draw_nodes(&pen, s);
    draw_source(&pen, tui, tui->detail);
    tui->lines[PW_SCREEN_DETAIL] = pen.line + tui->scroll[PW_SCREEN_DETAIL];
}
