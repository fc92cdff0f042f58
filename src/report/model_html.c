/* The report as one HTML file: no script, no other file, light and dark as the reader's system is, fit to print. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "report/check.h"
#include "report/model_svg.h"

/* reports/report.css, a line a string. */
static const char style[] =
#include "report_style.h"
    ;

/* A value with so many digits, fixed (f), scientific (e) or general (g). */
static void cell_real(struct pw_buf *out, int digits, char form, const char *suffix, double value)
{
    pw_buf_puts(out, "<td class=\"n\">");
    if (isnan(value))
        pw_buf_puts(out, "\u2013");
    else if (form == 'e')
        pw_buf_printf(out, "%.*e%s", digits, value, suffix);
    else if (form == 'g')
        pw_buf_printf(out, "%.*g%s", digits, value, suffix);
    else
        pw_buf_printf(out, "%.*f%s", digits, value, suffix);
    pw_buf_puts(out, "</td>");
}

static void cell(struct pw_buf *out, const char *text)
{
    pw_buf_puts(out, "<td class=\"c\">");
    pw_report_xml_text(out, text);
    pw_buf_puts(out, "</td>");
}

static void card(struct pw_buf *out, const char *label, const char *format, ...) PW_PRINTF(3, 4);
static void card(struct pw_buf *out, const char *label, const char *format, ...)
{
    va_list args;

    pw_buf_puts(out, "<div class=\"card\"><b>");
    va_start(args, format);
    pw_buf_vprintf(out, format, args);
    va_end(args);
    pw_buf_printf(out, "</b>%s</div>\n", label);
}

static void cards(const struct pw_report *report, const struct pw_report_target_part *p, struct pw_buf *out)
{
    pw_buf_puts(out, "<div class=\"cards\">\n");
    card(out, "maturity", "%s", pw_maturity_name(p->maturity));
    card(out, "signatures held", "%zu of %zu", p->held, report->inventory->signature_count);
    card(out, "failed", "%zu", p->failed);
    card(out, "missing", "%zu", p->coverage[PW_COVERAGE_MISSING]);
    if (isnan(p->worst_share))
        card(out, "worst error", "not measured");
    else
        card(out, "worst error, of its tolerance", "%.0f %%", 100 * p->worst_share);
    if (isnan(p->speed))
        card(out, "speed", "not measured");
    else
        card(out,
             pw_report_elsewhere(report, p) ? "speed against the reference, in several environments †"
                                            : "speed against the reference",
             "%.2f×", p->speed);
    pw_buf_puts(out, "</div>\n");
}

static void evidence(const struct pw_report_target_part *p, struct pw_buf *out)
{
    pw_buf_puts(
        out,
        "<h3>Maturity and its evidence</h3>\n<table><tr><th>level</th><th>asks for</th><th></th><th>found</th></tr>\n");
    for (size_t i = 0; i < p->evidence_count; i++) {
        pw_buf_printf(out, "<tr><td>%s</td><td>%s</td><td class=\"v %s\">%s</td>",
                      pw_maturity_name(p->evidence[i].level), p->evidence[i].requirement,
                      p->evidence[i].met ? "v-held" : "v-unproven", p->evidence[i].met ? "yes" : "no");
        cell(out, p->evidence[i].found);
        pw_buf_puts(out, "</tr>\n");
    }
    pw_buf_puts(out, "</table>\n");
}

/* What the database says of a row's coverage and verdict, as text: nobody has looked into the file. */
static void coverage_cell(struct pw_buf *out, const struct pw_report_row *row)
{
    pw_buf_puts(out, "<td>");
    pw_report_xml_text(out, pw_report_row_coverage(row));
    pw_buf_puts(out, "</td>");
}

static void verdict_cell(struct pw_buf *out, const struct pw_report_row *row, const char *more)
{
    const char *verdict = pw_report_row_verdict(row);

    pw_buf_puts(out, "<td class=\"v v-");
    pw_report_xml_text(out, strchr(verdict, ' ') ? "none" : verdict);
    pw_buf_puts(out, "\">");
    pw_report_xml_text(out, verdict);
    pw_buf_printf(out, "%s</td>", more);
}

static void signature_row(const struct pw_report_target_part *p, const struct pw_report_row *row, struct pw_buf *out)
{
    const struct pw_signature *s = row->signature;
    double target = pw_report_row_target_ns(row);
    char time[32];

    pw_buf_puts(out, "<tr>");
    cell(out, s->op_label);
    cell(out, s->shapes);
    pw_buf_printf(out, "<td class=\"n\">%zu</td>", s->node_count);
    cell_real(out, 1, 'f', " %", 100 * s->share);
    coverage_cell(out, row);
    pw_buf_puts(out, "<td title=\"");
    pw_report_xml_text(out, s->sensitivity_reason ? s->sensitivity_reason : "");
    pw_buf_printf(out, "\">%s</td>", pw_sensitivity_name(s->sensitivity));
    verdict_cell(out, row, row->waiver == PW_WAIVER_VALID ? " (waived)" : "");
    cell_real(out, 1, 'e', "", row->result ? row->result->worst_error : NAN);
    cell_real(out, 2, 'f', "", pw_report_row_share(row));
    pw_buf_printf(out, "<td class=\"n\">%s%s</td>",
                  isnan(target) ? "–" : pw_text_duration(time, sizeof time, target / 1e9),
                  pw_report_row_elsewhere(p, row) ? " †" : "");
    cell_real(out, 3, 'g', "×", pw_report_row_speed(row));
    pw_buf_puts(out, "<td>");
    pw_svg_trend(row, out);
    pw_buf_puts(out, "</td></tr>\n");
}

static void signatures(const struct pw_report *report, const struct pw_report_target_part *p, struct pw_buf *out)
{
    pw_buf_puts(
        out,
        "<h3>Signatures</h3>\n<div class=\"wide\"><table><tr><th>operator</th><th>shapes</th><th class=\"n\">nodes</th>"
        "<th class=\"n\">FLOPs</th><th>covered</th><th>sensitivity</th><th>verdict</th><th class=\"n\">error</th>"
        "<th class=\"n\">of tolerance</th><th class=\"n\">time</th><th class=\"n\">speed</th><th>trend</th></tr>\n");
    for (size_t i = 0; i < report->inventory->signature_count; i++)
        signature_row(p, &p->rows[i], out);
    pw_buf_puts(out, "</table></div>\n");
    if (pw_report_elsewhere(report, p)) {
        pw_buf_printf(out, "<p class=\"soft\">† %zu times were taken in another environment than the newest run's (",
                      pw_report_elsewhere(report, p));
        pw_report_xml_text(out, p->run.environment_id[0] ? p->run.environment_id : "unknown");
        pw_buf_puts(out, "): they do not compare with the others.</p>\n");
    }
}

/* Several targets: one table, a column group for each, and what is missing where. */
static void side_by_side(const struct pw_report *report, struct pw_buf *out)
{
    if (report->target_count < 2)
        return;
    pw_buf_puts(out, "<h2>Side by side</h2>\n<div class=\"wide\"><table><tr><th></th><th></th>");
    for (size_t t = 0; t < report->target_count; t++) {
        pw_buf_puts(out, "<th colspan=\"4\">");
        pw_report_xml_text(out, report->targets[t].target);
        pw_buf_puts(out, "</th>");
    }
    pw_buf_puts(out, "<th></th></tr>\n<tr><th>operator</th><th>shapes</th>");
    for (size_t t = 0; t < report->target_count; t++)
        pw_buf_puts(out, "<th>covered</th><th>verdict</th><th class=\"n\">of tolerance</th><th class=\"n\">speed</th>");
    pw_buf_puts(out, "<th>missing on</th></tr>\n");
    for (size_t i = 0; i < report->inventory->signature_count; i++) {
        struct pw_buf missing = {0};

        pw_buf_puts(out, "<tr>");
        cell(out, report->inventory->signatures[i].op_label);
        cell(out, report->inventory->signatures[i].shapes);
        for (size_t t = 0; t < report->target_count; t++) {
            const struct pw_report_row *row = &report->targets[t].rows[i];

            coverage_cell(out, row);
            verdict_cell(out, row, "");
            cell_real(out, 2, 'f', "", pw_report_row_share(row));
            cell_real(out, 3, 'g', "×", pw_report_row_speed(row));
        }
        pw_report_missing_on(report, i, &missing);
        cell(out, pw_buf_text(&missing));
        pw_buf_puts(out, "</tr>\n");
        pw_buf_clear(&missing);
    }
    pw_buf_puts(out, "</table></div>\n");
}

static void figures(const char *title, const char *none, const struct pw_store_run_row *run,
                    const struct pw_store_figure_row *rows, size_t count, struct pw_buf *out)
{
    char when[32], text[48];

    pw_buf_printf(out, "<h3>%s</h3>\n", title);
    if (!run->id) {
        pw_buf_printf(out, "<p class=\"none\">%s</p>\n", none);
        return;
    }
    pw_buf_printf(out, "<p class=\"soft\">run %lld, %s, %s</p>\n", (long long)run->id,
                  pw_clock_iso(run->end_ms, when, sizeof when), run->outcome);
    pw_buf_puts(out, "<table>\n");
    for (size_t i = 0; i < count; i++) {
        pw_buf_puts(out, "<tr>");
        cell(out, rows[i].name);
        pw_buf_printf(out, "<td class=\"n\">%s</td>",
                      pw_report_figure_text(rows[i].name, rows[i].value, text, sizeof text));
        pw_buf_puts(out, "</tr>\n");
    }
    pw_buf_puts(out, "</table>\n");
}

static void outputs(const struct pw_report_target_part *p, struct pw_buf *out)
{
    if (!p->output_count)
        return;
    pw_buf_puts(out,
                "<table><tr><th>output</th><th></th><th class=\"n\">error</th><th class=\"n\">tolerance</th></tr>\n");
    for (size_t i = 0; i < p->output_count; i++) {
        pw_buf_puts(out, "<tr>");
        cell(out, p->outputs[i].name);
        pw_buf_printf(out, "<td class=\"v %s\">%s</td>", p->outputs[i].held ? "v-held" : "v-failed",
                      p->outputs[i].held ? "held" : "does not hold");
        cell_real(out, 2, 'e', "", p->outputs[i].error);
        cell_real(out, 2, 'e', "", p->outputs[i].tolerance);
        pw_buf_puts(out, "</tr>\n");
    }
    pw_buf_puts(out, "</table>\n");
}

static void environment(const struct pw_report_target_part *p, struct pw_buf *out)
{
    if (!p->environment.count)
        return;
    pw_buf_puts(out, "<h3>Environment</h3>\n<table>\n");
    for (size_t i = 0; i < p->environment.count; i++) {
        if (!p->environment.fields[i].value[0] || pw_text_starts(p->environment.fields[i].name, "kernel "))
            continue;
        pw_buf_puts(out, "<tr>");
        cell(out, p->environment.fields[i].name);
        cell(out, p->environment.fields[i].value);
        pw_buf_puts(out, "</tr>\n");
    }
    pw_buf_puts(out, "</table>\n");
}

static void waivers(const struct pw_report *report, struct pw_buf *out)
{
    char gates[64];
    bool any = false;

    for (size_t i = 0; i < pw_triage_count(report->triage); i++) {
        const struct pw_triage_entry *e = pw_triage_at(report->triage, i);

        if (!e->waiver.present)
            continue;
        if (!any)
            pw_buf_puts(out, "<h2>Waivers</h2>\n<table><tr><th>operator</th><th>signature</th><th>of</th><th>until</"
                             "th><th>owner</th><th>reason</th></tr>\n");
        any = true;
        pw_buf_puts(out, "<tr>");
        cell(out, e->op);
        cell(out, e->id);
        cell(out, pw_waive_names(e->waiver.gates, gates, sizeof gates));
        pw_buf_printf(out, "<td class=\"c\">%s%s</td>", e->waiver.until,
                      pw_report_waiver_over(report, e) ? " <b>expired</b>" : "");
        cell(out, e->waiver.owner);
        cell(out, e->waiver.reason);
        pw_buf_puts(out, "</tr>\n");
    }
    if (any)
        pw_buf_puts(out, "</table>\n");
}

typedef void draw(const struct pw_report *report, const struct pw_report_target_part *part, struct pw_buf *out);

/* On a narrow screen a chart keeps a size that can be read, and scrolls. */
static void chart(const char *title, const char *caption, draw *picture, const struct pw_report *report,
                  const struct pw_report_target_part *p, struct pw_buf *out)
{
    pw_buf_printf(out, "<h3>%s</h3>\n<p class=\"soft\">%s</p>\n<div class=\"wide chart\">\n", title, caption);
    picture(report, p, out);
    pw_buf_puts(out, "</div>\n");
}

static void target_part(const struct pw_report *report, const struct pw_report_target_part *p, struct pw_buf *out)
{
    pw_buf_puts(out, "<h2>");
    pw_report_xml_text(out, p->target);
    pw_buf_puts(out, "</h2>\n<p class=\"soft\">");
    pw_report_xml_text(out, p->run.id ? p->device : "Nothing was measured on it: portwright check, bench and run do.");
    pw_buf_puts(out, "</p>\n");
    cards(report, p, out);
    evidence(p, out);
    chart("Coverage by category", "Signatures by what serves them.", pw_svg_coverage, report, p, out);
    chart("Error against tolerance",
          "Worst error of each signature's cases over its tolerance, on a logarithmic axis; the number is the error.",
          pw_svg_errors, report, p, out);
    chart("Operators and dtypes", "Worst error over tolerance: 1 is the limit, 0 is exact.", pw_svg_heat, report, p,
          out);
    chart("Roofline",
          "A point is a signature; the tick above it is what the measured peaks allow for its FLOPs and bytes at its "
          "level of the memory.",
          pw_svg_roofline, report, p, out);
    signatures(report, p, out);
    figures("End to end", "Not measured: portwright run compares the whole graph.", &p->endtoend_run, p->figures,
            p->figure_count, out);
    outputs(p, out);
    figures("Soak", "Not measured: portwright check --soak 2h runs the cases over and over.", &p->soak_run, p->soak,
            p->soak_count, out);
    environment(p, out);
}

void pw_report_html(const struct pw_report *report, const char *other_style, struct pw_buf *out)
{
    char flops[32];

    pw_buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>");
    pw_report_xml_text(out, report->model_path);
    pw_buf_puts(out, "</title><style>\n");
    pw_buf_puts(out, other_style ? other_style : style);
    pw_buf_puts(out, "</style></head><body>\n<h1>");
    pw_report_xml_text(out, report->model_path);
    pw_buf_printf(
        out, "</h1>\n<p class=\"soft\">graph %.12s, %zu signatures of %zu nodes, %s; made %s by portwright %s</p>\n",
        report->graph_id, report->inventory->signature_count, report->inventory->node_count,
        isnan(report->inventory->total_flops) ? "FLOPs unknown"
                                              : pw_text_si(flops, sizeof flops, report->inventory->total_flops, "FLOP"),
        report->made, report->version);
    side_by_side(report, out);
    for (size_t t = 0; t < report->target_count; t++)
        target_part(report, &report->targets[t], out);
    waivers(report, out);
    pw_buf_puts(out, "</body></html>\n");
}
