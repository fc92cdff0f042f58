#include "report/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "report/check_gate.h"
#include "report/verify.h"

struct cells { /* one row as text */
    char nodes[16], error[24], tolerance[24], time[24], reference[40], ratio[16];
    const char *coverage, *implementation, *verdict;
};

static void number(char *dst, size_t size, double value)
{
    if (isnan(value))
        snprintf(dst, size, "-");
    else if (value == 0)
        snprintf(dst, size, "0");
    else
        snprintf(dst, size, "%.2g", value);
}

const char *pw_report_check_verdict(const struct pw_signature_result *row)
{
    bool host = row->implementations && row->implementations->coverage >= PW_COVERAGE_HOST;

    if (host)
        return row->gate_failed ? "NOT ON TARGET" : "host";
    return pw_standing_name(row->standing);
}

static void fill_cells(const struct pw_signature *signature, const struct pw_signature_result *row, struct cells *c)
{
    const struct pw_impl_list *impls = row->implementations;

    memset(c, 0, sizeof *c);
    snprintf(c->nodes, sizeof c->nodes, "%zu", signature->node_count);
    number(c->error, sizeof c->error, row->worst_error);
    number(c->tolerance, sizeof c->tolerance, isnan(row->worst_error) ? NAN : row->tolerance);
    c->coverage = impls ? pw_coverage_name(impls->coverage) : "missing";
    c->implementation = impls && impls->selected >= 0 ? impls->items[impls->selected].name : "";
    c->verdict = pw_report_check_verdict(row);
    snprintf(c->time, sizeof c->time, "-");
    snprintf(c->reference, sizeof c->reference, "-");
    snprintf(c->ratio, sizeof c->ratio, "-");
    if (row->target_ns)
        pw_text_duration(c->time, sizeof c->time, (double)row->target_ns / 1e9);
    if (row->reference_ns) {
        char time[24];

        snprintf(c->reference, sizeof c->reference, "%s %s",
                 pw_text_duration(time, sizeof time, (double)row->reference_ns / 1e9),
                 row->reference_name ? row->reference_name : "");
        if (row->target_ns)
            snprintf(c->ratio, sizeof c->ratio, "%.2fx", (double)row->reference_ns / (double)row->target_ns);
    }
}

void pw_report_check_outcome(const struct pw_report_check *report, struct pw_buf *out)
{
    const struct pw_verify_totals *t = &report->totals;
    size_t off_target = report->verdicts_only ? t->off_target : 0;
    size_t failing = report->gate ? report->gate->judgement.failing : t->gate_failed - off_target;

    pw_buf_printf(
        out, "%zu signatures: %zu held, %zu failed, %zu mistrusted, %zu unproven (%zu stay on the host); %zu cases",
        t->signatures, t->held, t->failed, t->mistrusted, t->unproven, t->on_host, t->cases);
    if (report->gate && report->gate->judgement.waived)
        pw_buf_printf(out, "; %zu waived", report->gate->judgement.waived);
    if (!t->held && !t->failed)
        pw_buf_puts(out, ". Nothing was proven, so this is no pass");
    else if (failing)
        pw_buf_printf(out, ". GATE FAILED for %zu signature%s", failing, failing == 1 ? "" : "s");
    else if (report->gate && report->gate->judgement.expired)
        pw_buf_printf(out, ". GATE FAILED: %zu waiver%s over", report->gate->judgement.expired,
                      report->gate->judgement.expired == 1 ? " is" : "s are");
    else if (report->gate && report->gate->environment_fails)
        pw_buf_puts(out, ". GATE FAILED: the environment is not the baseline's");
    else
        pw_buf_puts(out, ". Gate passed");
    if (off_target)
        pw_buf_printf(
            out,
            ". %zu signature%s not on the target, where the protocol wants %s: no failure of verification, but "
            "portwright check fails",
            off_target, off_target == 1 ? " is" : "s are", off_target == 1 ? "it" : "them");
}

/* ---- text ---- */

static const char *paint(const struct pw_signature_result *row, bool color)
{
    if (!color)
        return "";
    if (row->gate_failed)
        return "\033[1;31m";
    return row->standing == PW_STANDING_HELD ? "\033[32m" : "\033[33m";
}

static void text_row(const struct pw_report_check *report, size_t i, size_t shapes_width, bool color,
                     struct pw_buf *out)
{
    const struct pw_signature *signature = &report->inventory->signatures[i];
    const struct pw_signature_result *row = report->rows[i];
    struct cells c;

    fill_cells(signature, row, &c);
    pw_text_cell(out, signature->op_label, 22, false);
    pw_buf_putc(out, ' ');
    pw_text_cell(out, c.nodes, 4, true);
    pw_buf_putc(out, ' ');
    if (shapes_width) {
        pw_text_cell(out, signature->shapes, shapes_width, false);
        pw_buf_putc(out, ' ');
    }
    pw_text_cell(out, c.coverage, 7, false);
    pw_buf_putc(out, ' ');
    pw_text_cell(out, c.error, 7, true);
    pw_buf_putc(out, ' ');
    pw_text_cell(out, c.tolerance, 7, true);
    pw_buf_printf(out, " %s", paint(row, color));
    pw_text_cell(out, c.verdict, 13, false);
    pw_buf_puts(out, color ? "\033[0m " : " ");
    pw_text_cell(out, c.time, 8, true);
    if (shapes_width) {
        pw_buf_putc(out, ' ');
        pw_text_cell(out, c.reference, 17, true);
        pw_buf_putc(out, ' ');
        pw_text_cell(out, c.ratio, 7, true);
    }
    pw_buf_putc(out, '\n');
}

enum { LOG_ALIKE = 200 }; /* behind that a log may have what the worker wrote beside */

/* What a compiler says of a kernel it says of each of its cases: that is told once. */
static bool says_the_same(const struct pw_report_failure *a, const struct pw_report_failure *b)
{
    return a->signature == b->signature && a->log[0] && !strcmp(a->verdict, b->verdict) &&
           !strcmp(a->reason, b->reason) && !strncmp(a->log, b->log, LOG_ALIKE);
}

static bool told_before(const struct pw_report_check *report, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (says_the_same(&report->failures[i], &report->failures[k]))
            return true;
    return false;
}

static void text_cases(const struct pw_report_check *report, struct pw_buf *out)
{
    for (size_t i = 0; i < report->failure_count; i++) {
        const struct pw_report_failure *f = &report->failures[i];
        const struct pw_signature *signature = &report->inventory->signatures[f->signature];
        size_t more = 0;

        if (told_before(report, i))
            continue;
        for (size_t k = i + 1; k < report->failure_count; k++)
            more += says_the_same(f, &report->failures[k]);
        pw_buf_printf(out, "\n%s ", f->verdict);
        pw_text_display(out, signature->op_label, strlen(signature->op_label), 60, false);
        pw_buf_puts(out, "  ");
        pw_text_display(out, f->shapes, strlen(f->shapes), 160, false);
        pw_buf_puts(out, "\n  ");
        pw_text_display(out, f->reason, strlen(f->reason), 400, false);
        pw_buf_puts(out, "\n  reproduce: ");
        pw_report_reproduce(report, f->case_id, out);
        pw_buf_putc(out, '\n');
        if (f->log[0]) {
            pw_buf_puts(out, "  log: ");
            pw_text_display(out, f->log, strlen(f->log), 600, false);
            pw_buf_putc(out, '\n');
        }
        if (more)
            pw_buf_printf(out, "  the same in %zu more case%s\n", more, more == 1 ? "" : "s");
    }
}

static void text_failures(const struct pw_report_check *report, struct pw_buf *out)
{
    text_cases(report, out);
    for (size_t i = 0; i < report->inventory->signature_count; i++) {
        const struct pw_signature_result *row = report->rows[i];

        if (!row || !row->gate_failed || row->failed)
            continue;
        pw_buf_printf(out, "\n%s %s: %s\n", pw_report_check_verdict(row), report->inventory->signatures[i].op_label,
                      row->gate_reason ? row->gate_reason : "");
    }
}

void pw_report_check_text(const struct pw_report_check *report, int width, bool color, struct pw_buf *out)
{
    size_t fixed = 22 + 5 + 8 + 8 + 8 + 14 + 9 + 18 + 8 + 1;
    size_t shapes_width = width > 100 ? (size_t)width - fixed : 0;

    if (shapes_width > 60)
        shapes_width = 60;
    pw_buf_puts(out, "graph ");
    pw_text_display(out, report->model_path, strlen(report->model_path), 0, false);
    pw_buf_printf(out, " (%.12s)\ntarget %s: ", report->graph_id, report->target);
    pw_text_display(out, report->device, strlen(report->device), 0, false);
    pw_buf_printf(out, "\ndims %s, seed %" PRIu64 "\n\n", report->bindings[0] ? report->bindings : "all fixed",
                  report->seed);
    pw_text_cell(out, "operator", 22, false);
    pw_buf_puts(out, "    n ");
    if (shapes_width) {
        pw_text_cell(out, "shapes", shapes_width, false);
        pw_buf_putc(out, ' ');
    }
    pw_buf_puts(out, "covered   error     tol verdict           time");
    pw_buf_puts(out, shapes_width ? "         reference   ratio\n" : "\n");
    for (size_t i = 0; i < report->inventory->signature_count; i++)
        if (report->rows[i])
            text_row(report, i, shapes_width, color, out);
    text_failures(report, out);
    if (report->gate)
        pw_report_gate_text(report->gate, color, out);
    pw_buf_putc(out, '\n');
    pw_report_check_outcome(report, out);
    pw_buf_putc(out, '\n');
}

/* ---- Markdown and CSV ---- */

void pw_report_xml_text(struct pw_buf *out, const char *text)
{
    struct pw_buf safe = {0};

    pw_text_display(&safe, text, strlen(text), 0, false); /* no control characters: XML 1.0 has none */
    for (const char *p = pw_buf_text(&safe); *p; p++) {
        const char *name = *p == '&' ? "&amp;" : *p == '<' ? "&lt;" : *p == '>' ? "&gt;" : *p == '"' ? "&quot;" : NULL;

        if (name)
            pw_buf_puts(out, name);
        else
            pw_buf_putc(out, *p);
    }
    pw_buf_clear(&safe);
}

void pw_report_md_cell(struct pw_buf *out, const char *text)
{
    struct pw_buf safe = {0};

    pw_text_display(&safe, text, strlen(text), 0, false);
    for (const char *p = pw_buf_text(&safe); *p; p++) {
        if (strchr("|\\`*_<>[]", *p))
            pw_buf_putc(out, '\\');
        pw_buf_putc(out, *p);
    }
    pw_buf_clear(&safe);
}

static void md_failures(const struct pw_report_check *report, struct pw_buf *out)
{
    for (size_t i = 0; i < report->failure_count; i++) {
        const struct pw_report_failure *f = &report->failures[i];

        pw_buf_puts(out, "\n**");
        pw_buf_puts(out, f->verdict);
        pw_buf_puts(out, "** ");
        pw_report_md_cell(out, report->inventory->signatures[f->signature].op_label);
        pw_buf_puts(out, ": ");
        pw_report_md_cell(out, f->reason);
        pw_buf_puts(out, " (case ");
        pw_report_md_cell(out, f->case_id);
        pw_buf_puts(out, ")\n");
    }
}

void pw_report_check_summary(const struct pw_report_check *report, bool md, bool color, struct pw_buf *out)
{
    pw_buf_puts(out, md ? "\n### " : "\n");
    if (md)
        pw_report_md_cell(out, report->target);
    else
        pw_text_display(out, report->target, strlen(report->target), 0, false);
    pw_buf_puts(out, md ? "\n\n" : ": ");
    pw_report_check_outcome(report, out);
    pw_buf_putc(out, '\n');
    if (report->gate && md)
        pw_report_gate_md(report->gate, out);
    else if (report->gate)
        pw_report_gate_text(report->gate, color, out);
    if (md)
        md_failures(report, out);
    else
        text_cases(report, out);
}

void pw_report_check_md(const struct pw_report_check *report, struct pw_buf *out)
{
    pw_buf_puts(out, "## portwright check: ");
    pw_report_md_cell(out, report->model_path);
    pw_buf_puts(out, "\n\n");
    pw_report_check_outcome(report, out);
    pw_buf_puts(out, ".\n\nTarget: ");
    pw_report_md_cell(out, report->device);
    pw_buf_putc(out, '\n');
    if (report->gate)
        pw_report_gate_md(report->gate, out);
    pw_buf_puts(out, "\n| operator | nodes | shapes | coverage | implementation | error | tolerance | verdict | time | "
                     "reference | ratio |\n|---|---:|---|---|---|---:|---:|---|---:|---:|---:|\n");
    for (size_t i = 0; i < report->inventory->signature_count; i++) {
        const struct pw_signature *signature = &report->inventory->signatures[i];
        struct cells c;

        if (!report->rows[i])
            continue;
        fill_cells(signature, report->rows[i], &c);
        {
            const char *const texts[] = {
                signature->op_label, c.nodes, signature->shapes, c.coverage, c.implementation, c.error, c.tolerance,
                c.verdict,           c.time,  c.reference,       c.ratio};

            for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
                pw_buf_puts(out, "| ");
                pw_report_md_cell(out, texts[k]);
                pw_buf_putc(out, ' ');
            }
        }
        pw_buf_puts(out, "|\n");
    }
    md_failures(report, out);
}

void pw_report_csv_field(struct pw_buf *out, const char *text, bool last)
{
    struct pw_buf safe = {0};
    const char *p;

    pw_text_display(&safe, text, strlen(text), 0, false);
    p = pw_buf_text(&safe);
    pw_buf_putc(out, '"');
    if (*p && strchr("=+-@", *p))
        pw_buf_putc(out, '\'');
    for (; *p; p++) {
        if (*p == '"')
            pw_buf_putc(out, '"');
        pw_buf_putc(out, *p);
    }
    pw_buf_puts(out, last ? "\"\r\n" : "\",");
    pw_buf_clear(&safe);
}

static void csv_number(struct pw_buf *out, double value, const char *format, bool last)
{
    if (!isnan(value)) {
        if (isinf(value))
            pw_buf_puts(out, "inf");
        else if (format[0] == 'i')
            pw_buf_printf(out, "%.0f", value);
        else
            pw_buf_printf(out, "%.9g", value);
    }
    pw_buf_puts(out, last ? "\r\n" : ",");
}

void pw_report_check_csv(const struct pw_report_check *report, struct pw_buf *out)
{
    if (!out->size)
        pw_buf_puts(out, "signature,operator,nodes,shapes,coverage,implementation,standing,gate,cases,held,failed,"
                         "no_evidence,worst_error,tolerance,target_ns,reference_ns,reference,reason,target,dims\r\n");
    for (size_t i = 0; i < report->inventory->signature_count; i++) {
        const struct pw_signature *signature = &report->inventory->signatures[i];
        const struct pw_signature_result *row = report->rows[i];
        struct cells c;

        if (!row)
            continue;
        fill_cells(signature, row, &c);
        pw_report_csv_field(out, signature->id, false);
        pw_report_csv_field(out, signature->op_label, false);
        csv_number(out, (double)signature->node_count, "i", false);
        pw_report_csv_field(out, signature->shapes, false);
        pw_report_csv_field(out, c.coverage, false);
        pw_report_csv_field(out, c.implementation, false);
        pw_report_csv_field(out, pw_standing_name(row->standing), false);
        pw_report_csv_field(out, row->gate_failed ? "failed" : "passed", false);
        csv_number(out, row->cases, "i", false);
        csv_number(out, row->held, "i", false);
        csv_number(out, row->failed, "i", false);
        csv_number(out, row->no_evidence, "i", false);
        csv_number(out, row->worst_error, "g", false);
        csv_number(out, isnan(row->worst_error) ? NAN : row->tolerance, "g", false);
        csv_number(out, row->target_ns ? (double)row->target_ns : NAN, "i", false);
        csv_number(out, row->reference_ns ? (double)row->reference_ns : NAN, "i", false);
        pw_report_csv_field(out, row->reference_name ? row->reference_name : "", false);
        pw_report_csv_field(out, row->gate_reason ? row->gate_reason : "", false);
        pw_report_csv_field(out, report->target, false);
        pw_report_csv_field(out, report->bindings, true);
    }
}

/* ---- JSON ---- */

json_t *pw_report_json_text(const char *text)
{
    json_t *value = json_string(text ? text : "");

    if (!value) { /* not UTF-8 */
        struct pw_buf safe = {0};

        pw_text_display(&safe, text, strlen(text), 0, false);
        value = json_string(pw_buf_text(&safe));
        pw_buf_clear(&safe);
    }
    return value ? value : json_string("?");
}

json_t *pw_report_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *json_samples(const int64_t *samples, int count)
{
    json_t *array = json_array();

    for (int i = 0; i < count; i++)
        json_array_append_new(array, json_integer(samples[i]));
    return array;
}

static json_t *json_impls(const struct pw_impl_list *impls)
{
    json_t *array = json_array();

    for (size_t i = 0; impls && i < impls->count; i++) {
        json_t *item = json_object();

        json_object_set_new(item, "kind", json_string(pw_coverage_name(impls->items[i].kind)));
        json_object_set_new(item, "name", pw_report_json_text(impls->items[i].name));
        json_object_set_new(item, "supported", json_boolean(impls->items[i].supported));
        json_object_set_new(item, "selected", json_boolean((int)i == impls->selected));
        json_object_set_new(item, "why_not", pw_report_json_text(impls->items[i].why));
        json_array_append_new(array, item);
    }
    return array;
}

static json_t *json_row(const struct pw_signature *signature, const struct pw_signature_result *row)
{
    json_t *item = json_object();
    struct cells c;

    fill_cells(signature, row, &c);
    json_object_set_new(item, "signature", json_string(signature->id));
    json_object_set_new(item, "operator", pw_report_json_text(signature->op_label));
    json_object_set_new(item, "text", pw_report_json_text(signature->text));
    json_object_set_new(item, "shapes", pw_report_json_text(signature->shapes));
    json_object_set_new(item, "nodes", json_integer((json_int_t)signature->node_count));
    json_object_set_new(item, "category", json_string(pw_category_name(signature->category)));
    json_object_set_new(item, "coverage", json_string(c.coverage));
    json_object_set_new(item, "implementation", pw_report_json_text(c.implementation));
    json_object_set_new(item, "implementations", json_impls(row->implementations));
    json_object_set_new(item, "standing", json_string(pw_standing_name(row->standing)));
    json_object_set_new(item, "gate_failed", json_boolean(row->gate_failed));
    json_object_set_new(item, "reason", pw_report_json_text(row->gate_reason));
    json_object_set_new(item, "cases", json_integer(row->cases));
    json_object_set_new(item, "held", json_integer(row->held));
    json_object_set_new(item, "failed", json_integer(row->failed));
    json_object_set_new(item, "no_evidence", json_integer(row->no_evidence));
    json_object_set_new(item, "worst_error", pw_report_json_real(row->worst_error));
    json_object_set_new(item, "tolerance", pw_report_json_real(isnan(row->worst_error) ? NAN : row->tolerance));
    json_object_set_new(item, "worst_case", row->worst_case ? json_string(row->worst_case) : json_null());
    json_object_set_new(item, "target_ns", row->target_ns ? json_integer(row->target_ns) : json_null());
    json_object_set_new(item, "reference_ns", row->reference_ns ? json_integer(row->reference_ns) : json_null());
    json_object_set_new(item, "reference", row->reference_name ? json_string(row->reference_name) : json_null());
    json_object_set_new(item, "target_samples_ns", json_samples(row->target_samples, row->target_sample_count));
    json_object_set_new(item, "reference_samples_ns",
                        json_samples(row->reference_samples, row->reference_sample_count));
    return item;
}

static json_t *json_totals(const struct pw_verify_totals *t)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "signatures", (json_int_t)t->signatures, "held",
                     (json_int_t)t->held, "failed", (json_int_t)t->failed, "unproven", (json_int_t)t->unproven,
                     "mistrusted", (json_int_t)t->mistrusted, "gate_failed", (json_int_t)t->gate_failed, "cases",
                     (json_int_t)t->cases);
}

static json_t *json_failure(const struct pw_report_check *report, const struct pw_report_failure *f)
{
    json_t *item = json_object();

    json_object_set_new(item, "signature", json_string(report->inventory->signatures[f->signature].id));
    json_object_set_new(item, "operator", pw_report_json_text(report->inventory->signatures[f->signature].op_label));
    json_object_set_new(item, "case", json_string(f->case_id));
    json_object_set_new(item, "verdict", json_string(f->verdict));
    json_object_set_new(item, "shapes", pw_report_json_text(f->shapes));
    json_object_set_new(item, "reason", pw_report_json_text(f->reason));
    json_object_set_new(item, "log", pw_report_json_text(f->log));
    return item;
}

struct json_t *pw_report_check_json_value(const struct pw_report_check *report)
{
    json_t *root = json_object(), *rows = json_array(), *failures = json_array();
    struct pw_buf outcome = {0};

    for (size_t i = 0; i < report->inventory->signature_count; i++)
        if (report->rows[i])
            json_array_append_new(rows, json_row(&report->inventory->signatures[i], report->rows[i]));
    for (size_t i = 0; i < report->failure_count; i++)
        json_array_append_new(failures, json_failure(report, &report->failures[i]));
    pw_report_check_outcome(report, &outcome);
    json_object_set_new(root, "schema", json_integer(1));
    json_object_set_new(root, "kind", json_string("check"));
    json_object_set_new(root, "model", pw_report_json_text(report->model_path));
    json_object_set_new(root, "graph", json_string(report->graph_id));
    json_object_set_new(root, "target", pw_report_json_text(report->target));
    json_object_set_new(root, "device", pw_report_json_text(report->device));
    json_object_set_new(root, "runtime", pw_report_json_text(report->runtime));
    json_object_set_new(root, "dims", pw_report_json_text(report->bindings));
    json_object_set_new(root, "protocol", pw_report_json_text(report->protocol));
    json_object_set_new(root, "seed", json_integer((json_int_t)report->seed));
    json_object_set_new(root, "outcome", pw_report_json_text(pw_buf_text(&outcome)));
    json_object_set_new(root, "exit_code", json_integer(report->exit_code));
    json_object_set_new(root, "totals", json_totals(&report->totals));
    json_object_set_new(root, "signatures", rows);
    json_object_set_new(root, "failures", failures);
    json_object_set_new(root, "gate", report->gate ? pw_report_gate_json(report->gate) : json_null());
    pw_buf_clear(&outcome);
    return root;
}

pw_status pw_report_check_json(const struct pw_report_check *report, struct pw_buf *out, struct pw_error *err)
{
    json_t *root = pw_report_check_json_value(report);
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(9));

    if (text) {
        pw_buf_puts(out, text);
        pw_buf_putc(out, '\n');
    }
    free(text); /* jansson's own allocation */
    json_decref(root);
    return text && !out->failed ? PW_OK : pw_error_memory(err, out->size);
}
