/* Tables of the inventory: text for a terminal, Markdown, CSV. */
#include "report/inventory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text.h"
#include "report/check.h"

#define CELL 64
#define LABEL_MAX 26
#define COVERAGE_WIDTH 9
#define SHAPES_MIN 14 /* narrower than that the column is left out */

static const char *const category_words[PW_CATEGORY_COUNT] = {
    [PW_CATEGORY_MATMUL] = "matmul",         [PW_CATEGORY_ATTENTION] = "attention",
    [PW_CATEGORY_NORMALIZATION] = "norm",    [PW_CATEGORY_ACTIVATION] = "activation",
    [PW_CATEGORY_EMBEDDING] = "embedding",   [PW_CATEGORY_CONVOLUTION] = "conv",
    [PW_CATEGORY_RECURRENT] = "recurrent",   [PW_CATEGORY_REDUCTION] = "reduction",
    [PW_CATEGORY_LAYOUT] = "layout",         [PW_CATEGORY_ELEMENTWISE] = "elementwise",
    [PW_CATEGORY_QUANTIZATION] = "quantize", [PW_CATEGORY_CONTROL] = "control",
    [PW_CATEGORY_COLLECTIVE] = "collective", [PW_CATEGORY_OTHER] = "other",
};

const char *pw_report_category_word(pw_category category)
{
    return (int)category >= 0 && (int)category < PW_CATEGORY_COUNT ? category_words[category] : "other";
}

/* ---- order ---- */

struct ranked {
    double share;
    bool shapes;
    size_t index;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->shapes != y->shapes)
        return x->shapes - y->shapes;
    if (x->share != y->share)
        return x->share < y->share ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

size_t *pw_report_inventory_order(const struct pw_inventory *inventory)
{
    size_t count = inventory->signature_count;
    struct ranked *ranked = pw_calloc(count, sizeof *ranked);
    size_t *order = pw_calloc(count, sizeof *order);

    if (ranked == NULL || order == NULL) {
        pw_free(ranked);
        pw_free(order);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const struct pw_signature *s = &inventory->signatures[i];

        ranked[i] = (struct ranked){isnan(s->share) ? -1.0 : s->share, s->shape_arithmetic, i};
    }
    qsort(ranked, count, sizeof *ranked, compare_ranked);
    for (size_t i = 0; i < count; i++)
        order[i] = ranked[i].index;
    pw_free(ranked);
    return order;
}

/* ---- cells ---- */

struct cells {
    char count[24], flops[CELL], bytes[CELL], parameters[24], intensity[24], share[16], flags[8];
    char sensitivity[24];
    const char *category;
};

static void put_si(char *dst, size_t size, double value)
{
    if (isnan(value))
        snprintf(dst, size, "?");
    else
        pw_text_si(dst, size, value, "");
    for (size_t used = strlen(dst); used > 0 && dst[used - 1] == ' '; used--) /* there is no unit after the blank */
        dst[used - 1] = '\0';
}

static void fill_cells(const struct pw_signature *s, struct cells *c)
{
    snprintf(c->count, sizeof c->count, "%zu", s->node_count);
    put_si(c->flops, sizeof c->flops, s->flops_value);
    if (isnan(s->bytes_value))
        snprintf(c->bytes, sizeof c->bytes, "?");
    else
        pw_text_bytes(c->bytes, sizeof c->bytes, s->bytes_value);
    put_si(c->parameters, sizeof c->parameters, (double)s->parameters);
    snprintf(c->intensity, sizeof c->intensity, isnan(s->intensity) ? "?" : "%.3g", s->intensity);
    if (isnan(s->share))
        snprintf(c->share, sizeof c->share, "?");
    else
        snprintf(c->share, sizeof c->share, "%.1f%%", 100.0 * s->share);
    snprintf(c->flags, sizeof c->flags, "%s%s%s", s->dynamic ? "d" : "", s->data_dependent ? "x" : "",
             s->shape_arithmetic ? "s" : "");
    c->category = pw_report_category_word(s->category);
    if (s->sensitivity_measured)
        snprintf(c->sensitivity, sizeof c->sensitivity, "%s %.0e", pw_sensitivity_name(s->sensitivity),
                 s->sensitivity_damage);
    else
        snprintf(c->sensitivity, sizeof c->sensitivity, "%s", pw_sensitivity_name(s->sensitivity));
}

static const char *coverage_of(const struct pw_report_target *target, size_t signature)
{
    return target->impls != NULL ? pw_coverage_name(target->impls[signature].coverage) : "?";
}

static const char *implementation_of(const struct pw_report_target *target, size_t signature)
{
    const struct pw_impl_list *list = target->impls != NULL ? &target->impls[signature] : NULL;

    return list != NULL && list->selected >= 0 ? list->items[list->selected].name : "";
}

/* ---- text ---- */

static void put_line_end(struct pw_buf *out)
{
    while (out->size > 0 && out->data[out->size - 1] == ' ')
        out->data[--out->size] = '\0';
    pw_buf_putc(out, '\n');
}

/* Words broken at `width` columns. */
static void put_wrapped(struct pw_buf *out, const char *text, int width, const char *indent)
{
    size_t limit = width > 20 ? (size_t)width : 20, used = 0;
    struct pw_buf safe = {0};
    const char *at;

    pw_text_display(&safe, text, strlen(text), 0, false);
    at = pw_buf_text(&safe);
    while (*at != '\0') {
        size_t word = strcspn(at, " ");
        struct pw_buf piece = {0};
        size_t columns;

        pw_buf_append(&piece, at, word);
        columns = pw_text_width(pw_buf_text(&piece));
        if (used > 0 && used + 1 + columns > limit) {
            pw_buf_printf(out, "\n%s", indent);
            used = strlen(indent);
        } else if (used > 0) {
            pw_buf_putc(out, ' ');
            used++;
        }
        pw_buf_puts(out, pw_buf_text(&piece));
        used += columns;
        pw_buf_clear(&piece);
        at += word;
        at += strspn(at, " ");
    }
    pw_buf_putc(out, '\n');
    pw_buf_clear(&safe);
}

static void put_summary(const struct pw_report_inventory *report, struct pw_buf *line)
{
    const struct pw_inventory *inventory = report->inventory;
    char text[CELL];
    char unknown_nodes[64] = "";

    pw_buf_printf(line, "%s: %zu nodes, %zu signatures, ", report->model_path, inventory->node_count,
                  inventory->signature_count);
    put_si(text, sizeof text, (double)inventory->total_parameters);
    pw_buf_printf(line, "%s parameters, ", text);
    if (isnan(inventory->total_flops))
        pw_buf_puts(line, "FLOPs unknown, ");
    else
        pw_buf_printf(line, "%s, ", pw_text_si(text, sizeof text, inventory->total_flops, "FLOP"));
    if (isnan(inventory->total_bytes))
        pw_buf_puts(line, "bytes unknown");
    else
        pw_buf_printf(line, "%s moved", pw_text_bytes(text, sizeof text, inventory->total_bytes));
    if (inventory->unknown_cost_nodes > 0)
        snprintf(unknown_nodes, sizeof unknown_nodes, "%s%zu nodes of unknown cost left out",
                 inventory->assumptions[0] != '\0' ? "; " : "", inventory->unknown_cost_nodes);
    if (inventory->assumptions[0] != '\0' || unknown_nodes[0] != '\0')
        pw_buf_printf(line, " (%s%s)", inventory->assumptions, unknown_nodes);
    if (report->bindings[0] != '\0')
        pw_buf_printf(line, " with %s", report->bindings);
}

/* One line for each kind and details, with how many there are. */
struct pattern_group {
    pw_pattern_kind kind;
    const char *details;
    bool part;
    size_t count;
};

static size_t group_patterns(const struct pw_inventory *inventory, struct pattern_group *groups, size_t cap)
{
    size_t count = 0;

    for (size_t i = 0; i < inventory->pattern_count; i++) {
        const struct pw_pattern *p = &inventory->patterns[i];
        size_t g = 0;

        while (g < count && (groups[g].kind != p->kind || groups[g].part != (p->parent >= 0) ||
                             strcmp(groups[g].details, p->details) != 0))
            g++;
        if (g == cap)
            continue;
        if (g == count)
            groups[count++] = (struct pattern_group){p->kind, p->details, p->parent >= 0, 0};
        groups[g].count++;
    }
    return count;
}

static void text_patterns(const struct pw_inventory *inventory, int width, struct pw_buf *out)
{
    struct pattern_group groups[32];
    size_t count = group_patterns(inventory, groups, PW_COUNT_OF(groups));

    if (count == 0)
        return;
    pw_buf_puts(out, "\npatterns\n");
    for (size_t i = 0; i < count; i++) {
        char number[24];

        snprintf(number, sizeof number, "%zu", groups[i].count);
        pw_text_cell(out, number, 6, true);
        pw_buf_puts(out, groups[i].part ? "    " : "  ");
        pw_text_cell(out, pw_pattern_name(groups[i].kind), groups[i].part ? 12 : 14, false);
        pw_text_cell(out, groups[i].details, width > 40 ? (size_t)width - 23 : 17, false);
        put_line_end(out);
    }
}

#define SENSITIVITY_WIDTH 12 /* with a measured figure: "medium 4e-03" */

struct columns {
    size_t label, shapes; /* shapes 0: left out */
    size_t sensitivity;
    bool category;
};

static struct columns fit_columns(const struct pw_report_inventory *report, int width)
{
    struct columns c = {.label = 8, .sensitivity = 6, .category = true};
    size_t fixed, room = width > 0 ? (size_t)width : 80;

    for (size_t i = 0; i < report->inventory->signature_count; i++) {
        size_t columns = pw_text_width(report->inventory->signatures[i].op_label);

        if (columns > c.label)
            c.label = columns;
        if (report->inventory->signatures[i].sensitivity_measured)
            c.sensitivity = SENSITIVITY_WIDTH;
    }
    if (c.label > LABEL_MAX)
        c.label = LABEL_MAX;
    fixed = c.label + 12 + 5 + 8 + 7 + c.sensitivity + 1 + 4 + report->target_count * (COVERAGE_WIDTH + 1);
    if (fixed + SHAPES_MIN + 1 > room && fixed > 12) { /* the category goes first */
        c.category = false;
        fixed -= 12;
    }
    if (fixed > room && c.label > fixed - room + 8)
        c.label -= fixed - room;
    else if (fixed + SHAPES_MIN + 1 <= room)
        c.shapes = room - fixed - 1;
    return c;
}

static void text_head(const struct pw_report_inventory *report, const struct columns *c, struct pw_buf *out)
{
    pw_buf_putc(out, '\n');
    pw_text_cell(out, "operator", c->label, false);
    if (c->category)
        pw_text_cell(out, " category", 12, false);
    pw_buf_puts(out, "count   FLOPs  share ");
    pw_text_cell(out, c->sensitivity > 6 ? "sens. damage" : "sens.", c->sensitivity, false);
    pw_buf_puts(out, " dyn");
    for (size_t t = 0; t < report->target_count; t++) {
        pw_buf_putc(out, ' ');
        pw_text_cell(out, report->target_count > 1 ? report->targets[t].spec : "coverage", COVERAGE_WIDTH, false);
    }
    pw_buf_puts(out, c->shapes > 0 ? " shapes" : "");
    put_line_end(out);
}

static void text_row(const struct pw_report_inventory *report, const struct columns *c, size_t i, struct pw_buf *out)
{
    const struct pw_signature *s = &report->inventory->signatures[i];
    struct cells cells;

    fill_cells(s, &cells);
    pw_text_cell(out, s->op_label, c->label, false);
    if (c->category) {
        pw_buf_putc(out, ' ');
        pw_text_cell(out, cells.category, 11, false);
    }
    pw_text_cell(out, cells.count, 5, true);
    pw_buf_putc(out, ' ');
    pw_text_cell(out, cells.flops, 7, true);
    pw_buf_putc(out, ' ');
    pw_text_cell(out, cells.share, 6, true);
    pw_buf_putc(out, ' ');
    pw_text_cell(out, cells.sensitivity, c->sensitivity, false);
    pw_buf_putc(out, ' ');
    pw_text_cell(out, cells.flags, 3, false);
    for (size_t t = 0; t < report->target_count; t++) {
        pw_buf_putc(out, ' ');
        pw_text_cell(out, coverage_of(&report->targets[t], i), COVERAGE_WIDTH, false);
    }
    if (c->shapes > 0) {
        pw_buf_putc(out, ' ');
        pw_text_cell(out, s->shapes, c->shapes, false);
    }
    put_line_end(out);
}

/* How many nodes of each coverage: "coverage on opencl: 210 kernel, 31 host". */
static void put_coverage_line(const struct pw_report_inventory *report, size_t t, struct pw_buf *line)
{
    const struct pw_report_target *target = &report->targets[t];
    size_t counts[PW_COVERAGE_COUNT] = {0}, required = 0;
    bool any = false;

    pw_buf_printf(line, "%s (%s): ", target->spec, target->device);
    if (target->impls == NULL) {
        pw_buf_puts(line, target->note);
        return;
    }
    for (size_t i = 0; i < report->inventory->signature_count; i++) {
        counts[target->impls[i].coverage] += report->inventory->signatures[i].node_count;
        required += target->impls[i].kernel_required ? report->inventory->signatures[i].node_count : 0;
    }
    for (int k = 0; k < PW_COVERAGE_COUNT; k++) {
        if (counts[k] == 0)
            continue;
        pw_buf_printf(line, "%s%zu nodes %s", any ? ", " : "", counts[k], pw_coverage_name((pw_coverage)k));
        any = true;
    }
    if (required > 0)
        pw_buf_printf(line, "; %zu need a kernel", required);
    if (target->note[0] != '\0')
        pw_buf_printf(line, " (%s)", target->note);
}

pw_status pw_report_inventory_text(const struct pw_report_inventory *report, int width, struct pw_buf *out,
                                   struct pw_error *err)
{
    struct columns c = fit_columns(report, width);
    size_t *order = pw_report_inventory_order(report->inventory);
    struct pw_buf line = {0};

    if (order == NULL)
        return pw_error_memory(err, report->inventory->signature_count * sizeof *order);
    put_summary(report, &line);
    put_wrapped(out, pw_buf_text(&line), width, "  ");
    text_patterns(report->inventory, width, out);
    text_head(report, &c, out);
    for (size_t i = 0; i < report->inventory->signature_count; i++)
        text_row(report, &c, order[i], out);
    pw_buf_putc(out, '\n');
    for (size_t t = 0; t < report->target_count; t++) {
        pw_buf_clear(&line);
        put_coverage_line(report, t, &line);
        put_wrapped(out, pw_buf_text(&line), width, "  ");
    }
    put_wrapped(out,
                "dyn: d dims vary, x the output's size depends on data, s only makes shapes (host). sens.: how "
                "sensitive the numerics are. FLOPs of one node; the share is of all its nodes.",
                width, "  ");
    pw_buf_clear(&line);
    pw_free(order);
    return out->failed ? pw_error_memory(err, out->size) : PW_OK;
}

/* ---- Markdown ---- */

static void md_cells(struct pw_buf *out, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pw_buf_puts(out, "| ");
        pw_report_md_cell(out, texts[i]);
        pw_buf_putc(out, ' ');
    }
}

static void md_patterns(const struct pw_inventory *inventory, struct pw_buf *out)
{
    struct pattern_group groups[32];
    size_t count = group_patterns(inventory, groups, PW_COUNT_OF(groups));

    if (count == 0)
        return;
    pw_buf_puts(out, "| pattern | count | details |\n|---|---:|---|\n");
    for (size_t i = 0; i < count; i++) {
        char number[24], name[48];
        const char *texts[] = {name, number, groups[i].details};

        snprintf(number, sizeof number, "%zu", groups[i].count);
        snprintf(name, sizeof name, "%s%s", pw_pattern_name(groups[i].kind), groups[i].part ? " (part)" : "");
        md_cells(out, texts, PW_COUNT_OF(texts));
        pw_buf_puts(out, "|\n");
    }
    pw_buf_putc(out, '\n');
}

pw_status pw_report_inventory_md(const struct pw_report_inventory *report, struct pw_buf *out, struct pw_error *err)
{
    size_t *order = pw_report_inventory_order(report->inventory);
    struct pw_buf line = {0};

    if (order == NULL)
        return pw_error_memory(err, report->inventory->signature_count * sizeof *order);
    put_summary(report, &line);
    pw_report_md_cell(out, pw_buf_text(&line));
    pw_buf_puts(out, "\n\n");
    md_patterns(report->inventory, out);
    pw_buf_puts(out, "| operator | category | count | FLOPs | bytes | parameters | intensity | share | sensitivity | "
                     "dynamic | ");
    for (size_t t = 0; t < report->target_count; t++) {
        pw_report_md_cell(out, report->targets[t].spec);
        pw_buf_puts(out, " | ");
    }
    pw_buf_puts(out, "shapes |\n|---|---|---:|---:|---:|---:|---:|---:|---|---|");
    for (size_t t = 0; t < report->target_count; t++)
        pw_buf_puts(out, "---|");
    pw_buf_puts(out, "---|\n");
    for (size_t k = 0; k < report->inventory->signature_count; k++) {
        const struct pw_signature *s = &report->inventory->signatures[order[k]];
        struct cells c;

        fill_cells(s, &c);
        {
            const char *texts[] = {s->op_label,   pw_category_name(s->category),
                                   c.count,       c.flops,
                                   c.bytes,       c.parameters,
                                   c.intensity,   c.share,
                                   c.sensitivity, s->shape_arithmetic ? "only makes shapes" : s->dynamic_reason};

            md_cells(out, texts, PW_COUNT_OF(texts));
        }
        for (size_t t = 0; t < report->target_count; t++) {
            const char *texts[] = {coverage_of(&report->targets[t], order[k])};

            md_cells(out, texts, 1);
        }
        md_cells(out, &s->shapes, 1);
        pw_buf_puts(out, "|\n");
    }
    for (size_t t = 0; t < report->target_count; t++) {
        pw_buf_clear(&line);
        put_coverage_line(report, t, &line);
        pw_buf_puts(out, t == 0 ? "\n" : "\n\n");
        pw_report_md_cell(out, pw_buf_text(&line));
        pw_buf_putc(out, '\n');
    }
    pw_buf_clear(&line);
    pw_free(order);
    return out->failed ? pw_error_memory(err, out->size) : PW_OK;
}

/* ---- CSV ---- */

static void csv_number(struct pw_buf *out, double value)
{
    if (!isnan(value))
        pw_buf_printf(out, "%.17g", value);
    pw_buf_putc(out, ',');
}

static void csv_row(const struct pw_report_inventory *report, size_t i, struct pw_buf *out)
{
    const struct pw_inventory *inventory = report->inventory;
    const struct pw_signature *s = &inventory->signatures[i];

    pw_report_csv_field(out, s->id, false);
    pw_report_csv_field(out, s->op_label, false);
    pw_report_csv_field(out, pw_category_name(s->category), false);
    pw_buf_printf(out, "%zu,", s->node_count);
    pw_report_csv_field(out, pw_dtype_name(s->dtype), false);
    csv_number(out, s->flops_value);
    csv_number(out, s->bytes_value);
    pw_buf_printf(out, "%" PRId64 ",", s->parameters);
    csv_number(out, s->intensity);
    csv_number(out, s->share);
    pw_report_csv_field(out, pw_sensitivity_name(s->sensitivity), false);
    pw_report_csv_field(out, s->sensitivity_reason, false);
    pw_buf_printf(out, "%d,", s->dynamic);
    pw_report_csv_field(out, s->dynamic_reason, false);
    pw_buf_printf(out, "%d,%d,", s->data_dependent, s->shape_arithmetic);
    pw_report_csv_field(out, s->pattern >= 0 ? pw_pattern_name(inventory->patterns[s->pattern].kind) : "", false);
    pw_report_csv_field(out, s->nodes[0]->name, false);
    pw_report_csv_field(out, s->shapes, false);
    for (size_t t = 0; t < report->target_count; t++) {
        const struct pw_report_target *target = &report->targets[t];

        pw_report_csv_field(out, coverage_of(target, i), false);
        pw_report_csv_field(out, implementation_of(target, i), false);
        pw_report_csv_field(out, target->impls != NULL ? target->impls[i].reason : target->note, false);
    }
    pw_report_csv_field(out, s->text, true);
}

pw_status pw_report_inventory_csv(const struct pw_report_inventory *report, struct pw_buf *out, struct pw_error *err)
{
    pw_buf_puts(out, "id,operator,category,count,dtype,flops,bytes,parameters,intensity,share,sensitivity,"
                     "sensitivity_reason,dynamic,dynamic_reason,data_dependent,shape_arithmetic,pattern,first_node,"
                     "shapes,");
    for (size_t t = 0; t < report->target_count; t++) {
        static const char *const words[] = {"coverage", "implementation", "reason"};

        for (size_t k = 0; k < PW_COUNT_OF(words); k++) {
            struct pw_buf name = {0};

            pw_buf_printf(&name, "%s %s", words[k], report->targets[t].spec);
            pw_report_csv_field(out, pw_buf_text(&name), false);
            pw_buf_clear(&name);
        }
    }
    pw_buf_puts(out, "signature\r\n");
    for (size_t i = 0; i < report->inventory->signature_count; i++)
        csv_row(report, i, out);
    return out->failed ? pw_error_memory(err, out->size) : PW_OK;
}
