#include "report/verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

struct counts {
    size_t cases, passed, warned, failed, none;
    double least, reference; /* worst least tolerance, worst error of the fast reference; NaN unknown */
};

static double larger(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a > b ? a : b;
}

static struct counts count(const struct pw_report_verify *report, size_t signature)
{
    struct counts c = {.least = NAN, .reference = NAN};

    for (size_t i = 0; i < report->case_count; i++) {
        const struct pw_case_result *r = report->cases[i];

        if (r->signature != signature)
            continue;
        c.cases++;
        c.passed += r->verdict == PW_VERDICT_PASS;
        c.warned += r->verdict == PW_VERDICT_WARN;
        c.failed += pw_verdict_failed(r->verdict);
        c.none += r->verdict >= PW_VERDICT_UNSUPPORTED;
        if (!r->property)
            c.least = larger(c.least, r->least_tolerance);
        c.reference = larger(c.reference, r->reference_error);
    }
    return c;
}

/* ---- the reproducer ---- */

void pw_report_shell_word(struct pw_buf *out, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+%@";
    struct pw_buf safe = {0};

    pw_text_display(&safe, text, strlen(text), 0, false);
    text = pw_buf_text(&safe);
    if (*text && text[strspn(text, plain)] == '\0') {
        pw_buf_puts(out, text);
    } else {
        pw_buf_putc(out, '\'');
        for (; *text; text++)
            pw_buf_puts(out, *text == '\'' ? "'\\''" : (const char[]){*text, '\0'});
        pw_buf_putc(out, '\'');
    }
    pw_buf_clear(&safe);
}

void pw_report_reproduce(const struct pw_report_check *report, const char *case_id, struct pw_buf *out)
{
    pw_buf_puts(out, "portwright verify ");
    pw_report_shell_word(out, report->model_path);
    pw_buf_puts(out, " --target ");
    pw_report_shell_word(out, report->target);
    if (report->bindings[0]) {
        pw_buf_puts(out, " --dim ");
        pw_report_shell_word(out, report->bindings);
    }
    if (report->protocol[0]) {
        pw_buf_puts(out, " --project ");
        pw_report_shell_word(out, report->protocol);
    }
    for (size_t i = 0; i < report->ops_dir_count; i++) {
        pw_buf_puts(out, " --ops-dir ");
        pw_report_shell_word(out, report->ops_dirs[i].path);
    }
    if (report->captured) {
        pw_buf_puts(out, " --captured ");
        pw_report_shell_word(out, report->captured);
    }
    if (report->case_timeout_ns > 0)
        pw_buf_printf(out, " --case-timeout %lldms", (long long)((report->case_timeout_ns + 999999) / 1000000));
    pw_buf_puts(out, " --case ");
    pw_report_shell_word(out, case_id);
}

/* ---- text ---- */

static void put_cell(struct pw_buf *out, const char *text, size_t width, bool right)
{
    pw_text_cell(out, text, width, right);
    pw_buf_putc(out, ' ');
}

static const char *number(char *dst, size_t size, double value)
{
    if (isnan(value))
        snprintf(dst, size, "-");
    else if (value == 0)
        snprintf(dst, size, "0");
    else
        snprintf(dst, size, "%.2g", value);
    return dst;
}

static bool on_host(const struct pw_signature_result *row)
{
    return row->implementations && row->implementations->coverage >= PW_COVERAGE_HOST;
}

static const char *verdict_word(const struct pw_signature_result *row)
{
    if (on_host(row))
        return row->off_target ? "NOT ON TARGET" : "host";
    return pw_standing_name(row->standing);
}

/* What fails the verification: of all signatures not those that never came to the target. */
static bool fails(const struct pw_report_verify *report, const struct pw_signature_result *row)
{
    return row->gate_failed && !(report->check.verdicts_only && row->off_target);
}

static const char *paint(const struct pw_report_verify *report, const struct pw_signature_result *row, bool color)
{
    if (!color)
        return "";
    if (fails(report, row))
        return "\033[1;31m";
    return row->standing == PW_STANDING_HELD ? "\033[32m" : "\033[33m";
}

static const char *implementation(const struct pw_signature_result *row)
{
    const struct pw_impl_list *list = row->implementations;

    return list && list->selected >= 0 ? list->items[list->selected].name : "";
}

static void text_row(const struct pw_report_verify *report, size_t i, size_t shapes_width, bool color,
                     struct pw_buf *out)
{
    const struct pw_signature *signature = &report->check.inventory->signatures[i];
    const struct pw_signature_result *row = report->check.rows[i];
    struct counts c = count(report, i);
    char text[32];

    put_cell(out, signature->op_label, 22, false);
    if (shapes_width)
        put_cell(out, signature->shapes, shapes_width, false);
    put_cell(out, implementation(row), 18, false);
    snprintf(text, sizeof text, "%d", row->cases);
    put_cell(out, text, 5, true);
    snprintf(text, sizeof text, "%zu", c.warned);
    put_cell(out, text, 4, true);
    snprintf(text, sizeof text, "%d", row->failed);
    put_cell(out, text, 4, true);
    snprintf(text, sizeof text, "%d", row->no_evidence);
    put_cell(out, text, 4, true);
    put_cell(out, number(text, sizeof text, row->worst_error), 7, true);
    put_cell(out, number(text, sizeof text, isnan(row->worst_error) ? NAN : row->tolerance), 7, true);
    put_cell(out, number(text, sizeof text, c.reference), 7, true);
    pw_buf_printf(out, "%s%s%s\n", paint(report, row, color), verdict_word(row), color ? "\033[0m" : "");
}

enum { LOG_ALIKE = 200 }; /* behind that a log may have what the worker wrote beside */

/* What a compiler says of a kernel it says of each of its cases: that is told once. */
static bool says_the_same(const struct pw_case_result *a, const struct pw_case_result *b)
{
    return a->signature == b->signature && a->log[0] && a->verdict == b->verdict && !strcmp(a->reason, b->reason) &&
           !strncmp(a->log, b->log, LOG_ALIKE);
}

static bool told_before(const struct pw_report_verify *report, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (says_the_same(report->cases[i], report->cases[k]))
            return true;
    return false;
}

static void text_failure(const struct pw_report_verify *report, size_t at, struct pw_buf *out)
{
    const struct pw_case_result *r = report->cases[at];
    const struct pw_signature *signature = &report->check.inventory->signatures[r->signature];
    size_t more = 0;

    for (size_t k = at + 1; k < report->case_count; k++)
        more += says_the_same(r, report->cases[k]);
    pw_buf_printf(out, "\n%s ", pw_verdict_name(r->verdict));
    pw_text_display(out, signature->op_label, strlen(signature->op_label), 60, false);
    pw_buf_puts(out, "  ");
    pw_text_display(out, r->shapes, strlen(r->shapes), 160, false);
    pw_buf_printf(out, "  %s%s%s, %s\n  ", pw_dist_name(r->dist), r->property ? ", property " : "",
                  r->property ? r->property : "", r->implementation);
    pw_text_display(out, r->reason, strlen(r->reason), 400, false);
    pw_buf_puts(out, "\n  reproduce: ");
    pw_report_reproduce(&report->check, r->id, out);
    if (r->shrunk_id) {
        pw_buf_puts(out, "\n  smallest:  ");
        pw_report_reproduce(&report->check, r->shrunk_id, out);
        pw_buf_puts(out, "\n             ");
        pw_text_display(out, r->shrunk_shapes, strlen(r->shrunk_shapes), 160, false);
        pw_buf_puts(out, ": ");
        pw_text_display(out, r->shrunk_reason, strlen(r->shrunk_reason), 300, false);
    }
    pw_buf_putc(out, '\n');
    if (r->log[0]) {
        pw_buf_puts(out, "  log: ");
        pw_text_display(out, r->log, strlen(r->log), 600, false);
        pw_buf_putc(out, '\n');
    }
    if (more)
        pw_buf_printf(out, "  the same in %zu more case%s\n", more, more == 1 ? "" : "s");
}

static bool gate_alone(const struct pw_signature_result *row)
{
    return row && row->gate_failed && !row->failed;
}

static bool says_more(const struct pw_signature_result *row)
{
    return gate_alone(row) || (row && row->standing == PW_STANDING_HELD && row->gate_reason) ||
           (row && row->standing == PW_STANDING_UNPROVEN && row->cases > 0);
}

/* A signature that fails the gate without a failed case, and why its first case gave no evidence; or one that held by
 * few cases. */
static void text_gate(const struct pw_report_verify *report, size_t i, struct pw_buf *out)
{
    const struct pw_signature_result *row = report->check.rows[i];
    const char *label = report->check.inventory->signatures[i].op_label;

    pw_buf_printf(out, "\n%s ", verdict_word(row));
    pw_text_display(out, label, strlen(label), 60, false);
    pw_buf_printf(out, ": %s\n", row->gate_reason ? row->gate_reason : "");
    for (size_t k = 0; k < report->case_count; k++) {
        const struct pw_case_result *r = report->cases[k];

        if (r->signature != i || r->verdict < PW_VERDICT_UNSUPPORTED || !r->reason[0])
            continue;
        pw_buf_printf(out, "  %s: ", r->id);
        pw_text_display(out, r->reason, strlen(r->reason), 300, false);
        pw_buf_putc(out, '\n');
        break;
    }
}

static void outcome(const struct pw_report_verify *report, struct pw_buf *out)
{
    const struct pw_verify_totals *t = &report->check.totals;
    char elapsed[32];

    pw_report_check_outcome(&report->check, out);
    pw_buf_printf(out, ". %zu passed, %zu with a warning, %zu failed, %zu without evidence in %s", t->passed, t->warned,
                  t->cases_failed, t->no_evidence,
                  pw_text_duration(elapsed, sizeof elapsed, 1e-9 * (double)report->elapsed_ns));
    if (t->below_minimum)
        pw_buf_printf(out, ". The budget left %zu signatures below their minimum of cases", t->below_minimum);
    if (t->stopped)
        pw_buf_puts(out, ". Stopped at a failure: the rest was not tried");
    if (report->case_left_out)
        pw_buf_printf(out, ". %zu cases are counted, not listed", report->case_left_out);
}

static void text_explanations(const struct pw_report_verify *report, struct pw_buf *out)
{
    for (size_t i = 0; i < report->check.inventory->signature_count; i++) {
        const struct pw_signature *signature = &report->check.inventory->signatures[i];
        const struct pw_signature_result *row = report->check.rows[i];

        if (!row || !row->explanation)
            continue;
        pw_text_display(out, signature->op_label, strlen(signature->op_label), 60, false);
        pw_buf_puts(out, "  ");
        pw_text_display(out, signature->shapes, strlen(signature->shapes), 160, false);
        pw_buf_printf(out, "  (%zu node%s, %s)\n", signature->node_count, signature->node_count == 1 ? "" : "s",
                      signature->id);
        for (const char *line = row->explanation; *line;) {
            size_t length = strcspn(line, "\n");

            pw_buf_puts(out, "  ");
            pw_text_display(out, line, length, 0, false);
            pw_buf_putc(out, '\n');
            line += length + (line[length] == '\n');
        }
        pw_buf_putc(out, '\n');
    }
}

static bool explains(const struct pw_report_verify *report)
{
    for (size_t i = 0; i < report->check.inventory->signature_count; i++)
        if (report->check.rows[i] && report->check.rows[i]->explanation)
            return true;
    return false;
}

void pw_report_verify_text(const struct pw_report_verify *report, int width, bool color, struct pw_buf *out)
{
    const struct pw_report_check *check = &report->check;
    size_t fixed = 22 + 18 + 5 + 4 + 4 + 4 + 7 + 7 + 7 + 14 + 10;
    size_t shapes_width = width > 110 ? (size_t)width - fixed : 0;

    if (shapes_width > 60)
        shapes_width = 60;
    pw_buf_puts(out, "graph ");
    pw_text_display(out, check->model_path, strlen(check->model_path), 0, false);
    pw_buf_printf(out, " (%.12s)\ntarget %s: ", check->graph_id, check->target);
    pw_text_display(out, check->device, strlen(check->device), 0, false);
    pw_buf_printf(out, "\ndims %s, seed %" PRIu64 ", protocol %s\n\n",
                  check->bindings[0] ? check->bindings : "all fixed", check->seed,
                  check->protocol[0] ? check->protocol : "by default");
    if (explains(report)) {
        text_explanations(report, out);
        return;
    }
    put_cell(out, "operator", 22, false);
    if (shapes_width)
        put_cell(out, "shapes", shapes_width, false);
    put_cell(out, "implementation", 18, false);
    pw_buf_puts(out, "cases warn fail none   error     tol  ref.err verdict\n");
    for (size_t i = 0; i < check->inventory->signature_count; i++)
        if (check->rows[i])
            text_row(report, i, shapes_width, color, out);
    for (size_t i = 0; i < report->case_count; i++)
        if (pw_verdict_failed(report->cases[i]->verdict) && !told_before(report, i))
            text_failure(report, i, out);
    for (size_t i = 0; i < check->inventory->signature_count; i++)
        if (says_more(check->rows[i]))
            text_gate(report, i, out);
    pw_buf_putc(out, '\n');
    outcome(report, out);
    pw_buf_putc(out, '\n');
}

/* ---- Markdown ---- */

void pw_report_verify_md(const struct pw_report_verify *report, struct pw_buf *out)
{
    const struct pw_report_check *check = &report->check;
    char text[32];

    pw_buf_puts(out, "## portwright verify: ");
    pw_report_md_cell(out, check->model_path);
    pw_buf_puts(out, "\n\n");
    outcome(report, out);
    pw_buf_puts(out, ".\n\nTarget: ");
    pw_report_md_cell(out, check->device);
    pw_buf_puts(
        out, "\n\n| operator | shapes | implementation | cases | warnings | failed | error | tolerance | reference's "
             "error | verdict |\n|---|---|---|---:|---:|---:|---:|---:|---:|---|\n");
    for (size_t i = 0; i < check->inventory->signature_count; i++) {
        const struct pw_signature_result *row = check->rows[i];
        struct counts c;

        if (!row)
            continue;
        c = count(report, i);
        pw_buf_puts(out, "| ");
        pw_report_md_cell(out, check->inventory->signatures[i].op_label);
        pw_buf_puts(out, " | ");
        pw_report_md_cell(out, check->inventory->signatures[i].shapes);
        pw_buf_puts(out, " | ");
        pw_report_md_cell(out, implementation(row));
        pw_buf_printf(out, " | %d | %zu | %d | %s", row->cases, c.warned, row->failed,
                      number(text, sizeof text, row->worst_error));
        pw_buf_printf(out, " | %s", number(text, sizeof text, isnan(row->worst_error) ? NAN : row->tolerance));
        pw_buf_printf(out, " | %s | %s |\n", number(text, sizeof text, c.reference), verdict_word(row));
    }
    for (size_t i = 0; i < report->case_count; i++) {
        const struct pw_case_result *r = report->cases[i];

        if (!pw_verdict_failed(r->verdict))
            continue;
        pw_buf_printf(out, "\n**%s** ", pw_verdict_name(r->verdict));
        pw_report_md_cell(out, check->inventory->signatures[r->signature].op_label);
        pw_buf_puts(out, ": ");
        pw_report_md_cell(out, r->reason);
        pw_buf_puts(out, "\n\n```\n");
        pw_report_reproduce(check, r->shrunk_id ? r->shrunk_id : r->id, out);
        pw_buf_puts(out, "\n```\n");
    }
}

/* ---- CSV ---- */

static void csv_real(struct pw_buf *out, double value)
{
    if (isinf(value))
        pw_buf_puts(out, value > 0 ? "inf," : "-inf,");
    else if (isnan(value))
        pw_buf_puts(out, ",");
    else
        pw_buf_printf(out, "%.9g,", value);
}

void pw_report_verify_csv(const struct pw_report_verify *report, struct pw_buf *out)
{
    pw_buf_puts(out, "case,signature,operator,shapes,dtype,distribution,property,seed,implementation,verdict,error,"
                     "tolerance,least_tolerance,max_absolute,max_relative,max_ulp,nmse,cosine,reference_error,"
                     "discriminates,nondeterministic,spread,time_ns,smallest,reason,target,dims\r\n");
    for (size_t i = 0; i < report->case_count; i++) {
        const struct pw_case_result *r = report->cases[i];
        const struct pw_signature *signature = &report->check.inventory->signatures[r->signature];
        bool compared = r->output >= 0 && !r->property;

        pw_report_csv_field(out, r->id, false);
        pw_report_csv_field(out, signature->id, false);
        pw_report_csv_field(out, signature->op_label, false);
        pw_report_csv_field(out, r->shapes, false);
        pw_report_csv_field(out, pw_dtype_name(r->dtype), false);
        pw_report_csv_field(out, pw_dist_name(r->dist), false);
        pw_report_csv_field(out, r->property ? r->property : "", false);
        pw_buf_printf(out, "%" PRIu64 ",", r->seed);
        pw_report_csv_field(out, r->implementation, false);
        pw_report_csv_field(out, pw_verdict_name(r->verdict), false);
        csv_real(out, compared ? r->comparison.max_error : NAN);
        csv_real(out, r->tolerance);
        csv_real(out, r->least_tolerance);
        csv_real(out, compared ? r->comparison.max_absolute : NAN);
        csv_real(out, compared ? r->comparison.max_relative : NAN);
        csv_real(out, compared ? r->comparison.max_ulp : NAN);
        csv_real(out, compared ? r->comparison.nmse : NAN);
        csv_real(out, compared ? r->comparison.cosine : NAN);
        csv_real(out, r->reference_error);
        pw_buf_printf(out, "%d,%d,", r->discriminates, r->nondeterministic);
        csv_real(out, r->nondeterministic ? r->spread : NAN);
        pw_buf_printf(out, "%" PRId64 ",", r->time_ns);
        pw_report_csv_field(out, r->shrunk_id ? r->shrunk_id : "", false);
        pw_report_csv_field(out, r->reason, false);
        pw_report_csv_field(out, report->check.target, false);
        pw_report_csv_field(out, report->check.bindings, true);
    }
}

/* ---- JUnit ---- */

static void junit_case(const struct pw_report_verify *report, const struct pw_case_result *r, struct pw_buf *out)
{
    pw_buf_puts(out, "    <testcase classname=\"");
    pw_report_xml_text(out, report->check.inventory->signatures[r->signature].op_label);
    pw_buf_puts(out, "\" name=\"");
    pw_report_xml_text(out, r->id);
    pw_buf_printf(out, "\" time=\"%.6f\"", 1e-9 * (double)r->time_ns);
    if (r->verdict <= PW_VERDICT_WARN) {
        pw_buf_puts(out, "/>\n");
        return;
    }
    pw_buf_puts(out, pw_verdict_failed(r->verdict) ? ">\n      <failure type=\"" : ">\n      <skipped message=\"");
    if (pw_verdict_failed(r->verdict)) {
        pw_buf_printf(out, "%s\" message=\"", pw_verdict_name(r->verdict));
        pw_report_xml_text(out, r->reason);
        pw_buf_puts(out, "\">");
        {
            struct pw_buf line = {0};

            pw_report_reproduce(&report->check, r->shrunk_id ? r->shrunk_id : r->id, &line);
            pw_report_xml_text(out, pw_buf_text(&line));
            pw_buf_clear(&line);
        }
        pw_buf_puts(out, "</failure>\n    </testcase>\n");
    } else {
        pw_report_xml_text(out, r->reason);
        pw_buf_puts(out, "\"/>\n    </testcase>\n");
    }
}

/* A signature that fails the gate without a failed case (on the host, unproven) is a failed test of its own; one that
 * only the gate of a check would fail is a skipped one. */
static void junit_gate(const struct pw_report_verify *report, size_t i, struct pw_buf *out)
{
    const struct pw_signature *signature = &report->check.inventory->signatures[i];
    const struct pw_signature_result *row = report->check.rows[i];

    pw_buf_puts(out, "    <testcase classname=\"");
    pw_report_xml_text(out, signature->op_label);
    pw_buf_printf(out, "\" name=\"%s\" time=\"0\">\n      <", signature->id);
    if (fails(report, row)) {
        pw_buf_puts(out, "failure type=\"");
        pw_report_xml_text(out, verdict_word(row));
        pw_buf_puts(out, "\" message=\"");
    } else {
        pw_buf_puts(out, "skipped message=\"not on the target: ");
    }
    pw_report_xml_text(out, row->gate_reason ? row->gate_reason : "");
    pw_buf_puts(out, "\"/>\n    </testcase>\n");
}

void pw_report_verify_junit(const struct pw_report_verify *report, struct pw_buf *out)
{
    const struct pw_report_check *check = &report->check;
    size_t bad = 0, none = 0, gates = 0;

    for (size_t i = 0; i < report->case_count; i++) {
        bad += pw_verdict_failed(report->cases[i]->verdict);
        none += report->cases[i]->verdict >= PW_VERDICT_UNSUPPORTED;
    }
    for (size_t i = 0; i < check->inventory->signature_count; i++)
        if (gate_alone(check->rows[i])) {
            gates++;
            bad += fails(report, check->rows[i]);
            none += !fails(report, check->rows[i]);
        }
    pw_buf_puts(out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"portwright verify ");
    pw_report_xml_text(out, check->model_path);
    pw_buf_printf(out, "\" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n    <properties>\n",
                  report->case_count + gates, bad, none, 1e-9 * (double)report->elapsed_ns);
    {
        const char *const properties[][2] = {{"target", check->target},
                                             {"device", check->device},
                                             {"dims", check->bindings},
                                             {"graph", check->graph_id}};

        for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
            pw_buf_printf(out, "      <property name=\"%s\" value=\"", properties[i][0]);
            pw_report_xml_text(out, properties[i][1]);
            pw_buf_puts(out, "\"/>\n");
        }
    }
    pw_buf_puts(out, "    </properties>\n");
    for (size_t i = 0; i < report->case_count; i++)
        junit_case(report, report->cases[i], out);
    for (size_t i = 0; i < check->inventory->signature_count; i++)
        if (gate_alone(check->rows[i]))
            junit_gate(report, i, out);
    pw_buf_puts(out, "  </testsuite>\n</testsuites>\n");
}

/* ---- JSON ---- */

static json_t *json_case(const struct pw_report_verify *report, const struct pw_case_result *r)
{
    json_t *item = json_object();
    bool compared = r->output >= 0 && !r->property;
    struct pw_buf line = {0};

    json_object_set_new(item, "case", pw_report_json_text(r->id));
    json_object_set_new(item, "signature", pw_report_json_text(report->check.inventory->signatures[r->signature].id));
    json_object_set_new(item, "shapes", pw_report_json_text(r->shapes));
    json_object_set_new(item, "dtype", json_string(pw_dtype_name(r->dtype)));
    json_object_set_new(item, "distribution", json_string(pw_dist_name(r->dist)));
    json_object_set_new(item, "property", r->property ? pw_report_json_text(r->property) : json_null());
    json_object_set_new(item, "implementation", pw_report_json_text(r->implementation));
    json_object_set_new(item, "verdict", json_string(pw_verdict_name(r->verdict)));
    json_object_set_new(item, "error", pw_report_json_real(compared ? r->comparison.max_error : NAN));
    json_object_set_new(item, "tolerance", pw_report_json_real(r->tolerance));
    json_object_set_new(item, "tolerance_reason", pw_report_json_text(r->tolerance_why));
    json_object_set_new(item, "least_tolerance", pw_report_json_real(r->least_tolerance));
    json_object_set_new(item, "max_absolute", pw_report_json_real(compared ? r->comparison.max_absolute : NAN));
    json_object_set_new(item, "max_relative", pw_report_json_real(compared ? r->comparison.max_relative : NAN));
    json_object_set_new(item, "max_ulp", pw_report_json_real(compared ? r->comparison.max_ulp : NAN));
    json_object_set_new(item, "nmse", pw_report_json_real(compared ? r->comparison.nmse : NAN));
    json_object_set_new(item, "cosine", pw_report_json_real(compared ? r->comparison.cosine : NAN));
    json_object_set_new(item, "reference_error", pw_report_json_real(r->reference_error));
    json_object_set_new(item, "discriminates", json_boolean(r->discriminates));
    json_object_set_new(item, "nondeterministic", json_boolean(r->nondeterministic));
    json_object_set_new(item, "spread", pw_report_json_real(r->nondeterministic ? r->spread : NAN));
    json_object_set_new(item, "reason", pw_report_json_text(r->reason));
    if (pw_verdict_failed(r->verdict)) {
        pw_report_reproduce(&report->check, r->id, &line);
        json_object_set_new(item, "reproduce", pw_report_json_text(pw_buf_text(&line)));
        json_object_set_new(item, "smallest", r->shrunk_id ? pw_report_json_text(r->shrunk_id) : json_null());
        json_object_set_new(item, "log", pw_report_json_text(r->log));
    }
    pw_buf_clear(&line);
    return item;
}

static json_t *json_row(const struct pw_report_verify *report, size_t i)
{
    const struct pw_signature *signature = &report->check.inventory->signatures[i];
    const struct pw_signature_result *row = report->check.rows[i];
    json_t *item = json_object();

    json_object_set_new(item, "signature", pw_report_json_text(signature->id));
    json_object_set_new(item, "operator", pw_report_json_text(signature->op_label));
    json_object_set_new(item, "text", pw_report_json_text(signature->text));
    json_object_set_new(item, "implementation", pw_report_json_text(implementation(row)));
    json_object_set_new(item, "verdict", pw_report_json_text(verdict_word(row)));
    json_object_set_new(item, "gate_failed", json_boolean(row->gate_failed));
    json_object_set_new(item, "reason", pw_report_json_text(row->gate_reason));
    json_object_set_new(item, "cases", json_integer(row->cases));
    json_object_set_new(item, "failed", json_integer(row->failed));
    json_object_set_new(item, "no_evidence", json_integer(row->no_evidence));
    json_object_set_new(item, "worst_error", pw_report_json_real(row->worst_error));
    json_object_set_new(item, "tolerance", pw_report_json_real(isnan(row->worst_error) ? NAN : row->tolerance));
    json_object_set_new(item, "worst_case", row->worst_case ? pw_report_json_text(row->worst_case) : json_null());
    if (row->explanation)
        json_object_set_new(item, "explanation", pw_report_json_text(row->explanation));
    return item;
}

pw_status pw_report_verify_json(const struct pw_report_verify *report, struct pw_buf *out, struct pw_error *err)
{
    const struct pw_report_check *check = &report->check;
    const struct pw_verify_totals *t = &check->totals;
    json_t *root = json_object(), *rows = json_array(), *cases = json_array(), *totals = json_object();
    char *text;

    json_object_set_new(root, "schema", json_integer(1));
    json_object_set_new(root, "kind", json_string("verify"));
    json_object_set_new(root, "model", pw_report_json_text(check->model_path));
    json_object_set_new(root, "graph", pw_report_json_text(check->graph_id));
    json_object_set_new(root, "target", pw_report_json_text(check->target));
    json_object_set_new(root, "device", pw_report_json_text(check->device));
    json_object_set_new(root, "runtime", pw_report_json_text(check->runtime));
    json_object_set_new(root, "dims", pw_report_json_text(check->bindings));
    json_object_set_new(root, "protocol", pw_report_json_text(check->protocol));
    json_object_set_new(root, "seed", json_integer((json_int_t)check->seed));
    json_object_set_new(root, "budget_ns", json_integer(report->budget_ns));
    json_object_set_new(root, "elapsed_ns", json_integer(report->elapsed_ns));
    json_object_set_new(root, "exit_code", json_integer(check->exit_code));
    for (size_t i = 0; i < check->inventory->signature_count; i++)
        if (check->rows[i])
            json_array_append_new(rows, json_row(report, i));
    for (size_t i = 0; i < report->case_count; i++)
        json_array_append_new(cases, json_case(report, report->cases[i]));
    json_object_set_new(root, "signatures", rows);
    json_object_set_new(root, "cases", cases);
    {
        const struct {
            const char *name;
            size_t value;
        } figures[] = {{"signatures", t->signatures},
                       {"held", t->held},
                       {"failed", t->failed},
                       {"unproven", t->unproven},
                       {"mistrusted", t->mistrusted},
                       {"gate_failed", t->gate_failed},
                       {"on_host", t->on_host},
                       {"off_target", t->off_target},
                       {"cases", t->cases},
                       {"passed", t->passed},
                       {"warned", t->warned},
                       {"cases_failed", t->cases_failed},
                       {"no_evidence", t->no_evidence},
                       {"below_minimum", t->below_minimum},
                       {"not_listed", report->case_left_out}};

        for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
            json_object_set_new(totals, figures[i].name, json_integer((json_int_t)figures[i].value));
    }
    json_object_set_new(totals, "stopped", json_boolean(t->stopped));
    json_object_set_new(root, "totals", totals);
    text = json_dumps(root, JSON_INDENT(1));
    if (text) {
        pw_buf_puts(out, text);
        pw_buf_putc(out, '\n');
    }
    free(text); /* jansson's own allocation */
    json_decref(root);
    return text ? PW_OK : pw_error_memory(err, 1024);
}
