#include "report/baseline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "report/check.h"

static void show(struct pw_buf *out, const char *text)
{
    pw_text_display(out, text, strlen(text), 0, false);
}

static pw_status put_json(json_t *root, struct pw_buf *out, struct pw_error *err)
{
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(9));

    if (text) {
        pw_buf_puts(out, text);
        pw_buf_putc(out, '\n');
    }
    free(text); /* jansson's own allocation */
    json_decref(root);
    return text && !out->failed ? PW_OK : pw_error_memory(err, out->size);
}

/* ---- the list ---- */

static size_t rows_of(const struct pw_baseline *b)
{
    size_t rows = 0;

    for (size_t i = 0; i < b->set_count; i++)
        rows += b->sets[i].count;
    return rows;
}

static const char *number_text(const struct pw_baseline *b, char *dst, size_t size)
{
    snprintf(dst, size, b->number ? "%d" : "pending", b->number);
    return dst;
}

void pw_report_baselines_text(const struct pw_report_baseline_entry *entries, size_t count, struct pw_buf *out)
{
    const char *folder = "";

    if (!count)
        pw_buf_puts(out, "no baselines; portwright baseline record MODEL makes one\n");
    for (size_t i = 0; i < count; i++) {
        const struct pw_report_baseline_entry *e = &entries[i];
        char number[16];

        if (strcmp(folder, e->folder) != 0) {
            pw_buf_puts(out, i ? "\n" : "");
            show(out, folder = e->folder);
            pw_buf_putc(out, '\n');
        }
        if (!e->baseline) {
            pw_buf_puts(out, "  ");
            show(out, e->path);
            pw_buf_puts(out, ": ");
            show(out, e->error);
            pw_buf_putc(out, '\n');
            continue;
        }
        pw_buf_puts(out, "  ");
        pw_text_cell(out, pw_baseline_kind_name(e->baseline->kind), 10, false);
        pw_buf_printf(out, " %-16s %7s%s %4zu signatures  %s", e->baseline->environment_id,
                      number_text(e->baseline, number, sizeof number), e->latest ? "*" : " ", rows_of(e->baseline),
                      e->baseline->recorded);
        if (e->baseline->number) {
            pw_buf_puts(out, "  ");
            show(out, e->baseline->approved_by);
            pw_buf_puts(out, ": ");
            show(out, e->baseline->message);
        } else if (e->state) {
            pw_buf_printf(out, "  state %s", e->state);
        }
        pw_buf_putc(out, '\n');
    }
    if (count)
        pw_buf_puts(out, "\n* latest\n");
}

void pw_report_baselines_md(const struct pw_report_baseline_entry *entries, size_t count, struct pw_buf *out)
{
    pw_buf_puts(out, "| graph and target | baseline | environment | number | signatures | recorded | approved | why |\n"
                     "|---|---|---|---:|---:|---|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        const struct pw_baseline *b = entries[i].baseline;
        char number[16];

        pw_buf_puts(out, "| ");
        pw_report_md_cell(out, entries[i].folder);
        pw_buf_puts(out, " | ");
        if (!b) {
            pw_report_md_cell(out, entries[i].error);
            pw_buf_puts(out, " | | | | | | |\n");
            continue;
        }
        pw_buf_printf(out, "%s | %s | %s%s | %zu | %s | ", pw_baseline_kind_name(b->kind), b->environment_id,
                      number_text(b, number, sizeof number), entries[i].latest ? " (latest)" : "", rows_of(b),
                      b->recorded);
        pw_report_md_cell(out, b->approved_by);
        pw_buf_puts(out, " | ");
        pw_report_md_cell(out, b->message);
        pw_buf_puts(out, " |\n");
    }
}

static json_t *json_head(const struct pw_baseline *b)
{
    json_t *item = json_object();

    json_object_set_new(item, "kind", json_string(pw_baseline_kind_name(b->kind)));
    json_object_set_new(item, "number", b->number ? json_integer(b->number) : json_null());
    json_object_set_new(item, "graph", pw_report_json_text(b->graph));
    json_object_set_new(item, "model", pw_report_json_text(b->model));
    json_object_set_new(item, "target_kind", pw_report_json_text(b->target_kind));
    json_object_set_new(item, "device", pw_report_json_text(b->device));
    json_object_set_new(item, "environment",
                        b->environment_id[0] ? pw_report_json_text(b->environment_id) : json_null());
    json_object_set_new(item, "recorded", pw_report_json_text(b->recorded));
    json_object_set_new(item, "approved_by", b->number ? pw_report_json_text(b->approved_by) : json_null());
    json_object_set_new(item, "approved_at", b->number ? pw_report_json_text(b->approved_at) : json_null());
    json_object_set_new(item, "message", b->number ? pw_report_json_text(b->message) : json_null());
    json_object_set_new(item, "signatures", json_integer((json_int_t)rows_of(b)));
    return item;
}

pw_status pw_report_baselines_json(const struct pw_report_baseline_entry *entries, size_t count, struct pw_buf *out,
                                   struct pw_error *err)
{
    json_t *root = json_pack("{s:i, s:s}", "schema", 1, "report", "baselines"), *files = json_array();

    for (size_t i = 0; i < count; i++) {
        json_t *item = json_object();

        json_object_set_new(item, "folder", pw_report_json_text(entries[i].folder));
        json_object_set_new(item, "path", pw_report_json_text(entries[i].path));
        json_object_set_new(item, "latest", json_boolean(entries[i].latest));
        json_object_set_new(item, "error", entries[i].baseline ? json_null() : pw_report_json_text(entries[i].error));
        if (entries[i].state && entries[i].baseline && !entries[i].baseline->number)
            json_object_set_new(item, "state", pw_report_json_text(entries[i].state));
        json_object_set_new(item, "baseline", entries[i].baseline ? json_head(entries[i].baseline) : json_null());
        json_array_append_new(files, item);
    }
    json_object_set_new(root, "files", files);
    return put_json(root, out, err);
}

/* ---- differences ---- */

static bool texts_differ(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") != 0;
}

/* As the files print them. */
static bool errors_differ(double a, double b)
{
    char x[32], y[32];

    snprintf(x, sizeof x, "%.3g", a);
    snprintf(y, sizeof y, "%.3g", b);
    return strcmp(x, y) != 0;
}

bool pw_report_diff_differs(const struct pw_report_diff_part *part, size_t i)
{
    const struct pw_gate_signature *s = &part->signatures[i];
    const struct pw_gate_side *a = &s->before, *b = &s->now;

    if (a->present != b->present || a->coverage != b->coverage || texts_differ(a->kernel, b->kernel) ||
        texts_differ(a->kernel_hash, b->kernel_hash))
        return true;
    if (part->before->kind == PW_BASELINE_PRECISION)
        return errors_differ(a->error, b->error) || errors_differ(a->tolerance, b->tolerance) ||
               texts_differ(a->cases, b->cases);
    return a->ratio_count != b->ratio_count ||
           (a->ratio_count && memcmp(a->ratios, b->ratios, a->ratio_count * sizeof *a->ratios) != 0);
}

/* "coverage kernel -> host; kernel a -> b (changed); error 1e-7 -> 2e-7" */
static void changes(const struct pw_report_diff_part *part, size_t i, struct pw_buf *out)
{
    const struct pw_gate_signature *s = &part->signatures[i];
    const struct pw_gate_side *a = &s->before, *b = &s->now;
    const struct pw_gate_result *r = &part->results[i];
    const char *comma = "";

    if (!a->present || !b->present) {
        pw_buf_puts(out, a->present ? "gone" : "new");
        return;
    }
    if (a->coverage != b->coverage) {
        pw_buf_printf(out, "%s -> %s", pw_coverage_name(a->coverage), pw_coverage_name(b->coverage));
        comma = ", ";
    }
    if (texts_differ(a->kernel, b->kernel)) {
        pw_buf_printf(out, "%skernel ", comma);
        show(out, a->kernel ? a->kernel : "none");
        pw_buf_puts(out, " -> ");
        show(out, b->kernel ? b->kernel : "none");
        comma = ", ";
    } else if (texts_differ(a->kernel_hash, b->kernel_hash)) {
        pw_buf_printf(out, "%skernel ", comma);
        show(out, a->kernel ? a->kernel : "");
        pw_buf_puts(out, " changed");
        comma = ", ";
    }
    if (part->before->kind == PW_BASELINE_PRECISION) {
        if (errors_differ(a->error, b->error)) {
            pw_buf_printf(out, "%serror %.3g -> %.3g", comma, a->error, b->error);
            comma = ", ";
        }
        if (errors_differ(a->tolerance, b->tolerance)) {
            pw_buf_printf(out, "%stolerance %.3g -> %.3g", comma, a->tolerance, b->tolerance);
            comma = ", ";
        }
        if (texts_differ(a->cases, b->cases))
            pw_buf_printf(out, "%sother cases", comma);
    } else if (!isnan(r->slowdown)) {
        pw_buf_printf(out, "%stime against the reference %+.0f %%", comma, (r->slowdown - 1) * 100);
        if (!isnan(r->low))
            pw_buf_printf(out, " [%+.0f, %+.0f]", (r->low - 1) * 100, (r->high - 1) * 100);
    }
}

static pw_gate_outcome outcome_of(const struct pw_report_diff_part *part, size_t i)
{
    const pw_gate_outcome *o = part->results[i].outcome;
    pw_gate_outcome own = part->before->kind == PW_BASELINE_PRECISION ? o[PW_GATE_PRECISION] : o[PW_GATE_THROUGHPUT];

    return o[PW_GATE_COVERAGE] == PW_GATE_WORSE || o[PW_GATE_COVERAGE] == PW_GATE_BETTER ? o[PW_GATE_COVERAGE] : own;
}

static size_t count_differing(const struct pw_report_diff_part *part)
{
    size_t n = 0;

    for (size_t i = 0; i < part->count; i++)
        n += pw_report_diff_differs(part, i);
    return n;
}

static void title(const struct pw_report_diff_part *part, struct pw_buf *out)
{
    pw_buf_puts(out, pw_baseline_kind_name(part->before->kind));
    if (part->before->environment_id[0])
        pw_buf_printf(out, " in environment %s", part->before->environment_id);
    pw_buf_puts(out, ", dims ");
    show(out, part->dims[0] ? part->dims : "all fixed");
}

void pw_report_diff_text(const struct pw_report_diff *diff, struct pw_buf *out)
{
    pw_buf_printf(out, "baseline %s -> %s\n", diff->before, diff->after);
    for (size_t k = 0; k < diff->part_count; k++) {
        const struct pw_report_diff_part *part = &diff->parts[k];
        size_t differing = count_differing(part);

        pw_buf_putc(out, '\n');
        title(part, out);
        pw_buf_putc(out, '\n');
        if (part->mark[0]) {
            pw_buf_puts(out, "  ! ");
            show(out, part->mark);
            pw_buf_putc(out, '\n');
        }
        for (size_t i = 0; i < part->count; i++) {
            if (!pw_report_diff_differs(part, i))
                continue;
            pw_buf_puts(out, "  ");
            pw_text_cell(out, pw_gate_outcome_name(outcome_of(part, i)), 12, false);
            pw_buf_putc(out, ' ');
            pw_text_cell(out, part->signatures[i].op, 22, false);
            pw_buf_printf(out, " %s  ", part->signatures[i].id);
            changes(part, i, out);
            pw_buf_putc(out, '\n');
        }
        pw_buf_printf(out, "  %zu signatures differ, %zu are as they were\n", differing, part->count - differing);
    }
    if (!diff->part_count)
        pw_buf_puts(out, "\nnothing to compare\n");
    if (diff->state)
        pw_buf_printf(out, "\nstate %s: approve --state %s approves this and nothing else\n", diff->state, diff->state);
}

void pw_report_diff_md(const struct pw_report_diff *diff, struct pw_buf *out)
{
    pw_buf_printf(out, "## baseline %s to %s\n", diff->before, diff->after);
    for (size_t k = 0; k < diff->part_count; k++) {
        const struct pw_report_diff_part *part = &diff->parts[k];
        size_t differing = count_differing(part);

        pw_buf_puts(out, "\n### ");
        title(part, out);
        pw_buf_printf(out, "\n\n%zu of %zu signatures differ.\n", differing, part->count);
        if (part->mark[0]) {
            pw_buf_puts(out, "\n**");
            pw_report_md_cell(out, part->mark);
            pw_buf_puts(out, "**\n");
        }
        if (differing)
            pw_buf_puts(out, "\n| | operator | signature | change |\n|---|---|---|---|\n");
        for (size_t i = 0; i < part->count; i++) {
            struct pw_buf text = {0};

            if (!pw_report_diff_differs(part, i))
                continue;
            changes(part, i, &text);
            pw_buf_printf(out, "| %s | ", pw_gate_outcome_name(outcome_of(part, i)));
            pw_report_md_cell(out, part->signatures[i].op);
            pw_buf_printf(out, " | %s | ", part->signatures[i].id);
            pw_report_md_cell(out, pw_buf_text(&text));
            pw_buf_puts(out, " |\n");
            pw_buf_clear(&text);
        }
    }
    if (diff->state)
        pw_buf_printf(out, "\nState of what is pending: `%s`\n", diff->state);
}

static json_t *json_side(const struct pw_gate_side *side, bool precision)
{
    json_t *item;

    if (!side->present)
        return json_null();
    item = json_object();
    json_object_set_new(item, "coverage", json_string(pw_coverage_name(side->coverage)));
    json_object_set_new(item, "kernel", side->kernel ? pw_report_json_text(side->kernel) : json_null());
    json_object_set_new(item, "kernel_hash", side->kernel_hash ? pw_report_json_text(side->kernel_hash) : json_null());
    if (precision) {
        json_object_set_new(item, "error", pw_report_json_real(side->error));
        json_object_set_new(item, "tolerance", pw_report_json_real(side->tolerance));
        json_object_set_new(item, "limit", pw_report_json_real(side->limit));
    } else {
        json_object_set_new(item, "ratio", pw_report_json_real(pw_stats_median(side->ratios, side->ratio_count)));
    }
    return item;
}

static json_t *json_part(const struct pw_report_diff_part *part)
{
    bool precision = part->before->kind == PW_BASELINE_PRECISION;
    json_t *item = json_object(), *rows = json_array();

    json_object_set_new(item, "before", json_head(part->before));
    json_object_set_new(item, "after", json_head(part->after));
    json_object_set_new(item, "dims", pw_report_json_text(part->dims));
    json_object_set_new(item, "mark", part->mark[0] ? pw_report_json_text(part->mark) : json_null());
    json_object_set_new(item, "signatures", json_integer((json_int_t)part->count));
    for (size_t i = 0; i < part->count; i++) {
        json_t *row;

        if (!pw_report_diff_differs(part, i))
            continue;
        row = json_object();
        json_object_set_new(row, "signature", json_string(part->signatures[i].id));
        json_object_set_new(row, "operator", pw_report_json_text(part->signatures[i].op));
        json_object_set_new(row, "outcome", json_string(pw_gate_outcome_name(outcome_of(part, i))));
        json_object_set_new(row, "before", json_side(&part->signatures[i].before, precision));
        json_object_set_new(row, "after", json_side(&part->signatures[i].now, precision));
        json_object_set_new(row, "slowdown", pw_report_json_real(precision ? NAN : part->results[i].slowdown));
        json_array_append_new(rows, row);
    }
    json_object_set_new(item, "differing", rows);
    return item;
}

pw_status pw_report_diff_json(const struct pw_report_diff *diff, struct pw_buf *out, struct pw_error *err)
{
    json_t *root = json_pack("{s:i, s:s}", "schema", 1, "report", "baseline-diff"), *parts = json_array();

    json_object_set_new(root, "before", pw_report_json_text(diff->before));
    json_object_set_new(root, "after", pw_report_json_text(diff->after));
    if (diff->state)
        json_object_set_new(root, "state", pw_report_json_text(diff->state));
    for (size_t i = 0; i < diff->part_count; i++)
        json_array_append_new(parts, json_part(&diff->parts[i]));
    json_object_set_new(root, "parts", parts);
    return put_json(root, out, err);
}
