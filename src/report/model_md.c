/* The report as Markdown: fits a wiki, a pull request, a CI summary. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "report/check.h"
#include "report/model.h"

/* A value with so many digits, fixed (f), scientific (e) or general (g); '-' unknown. */
static void number(struct pw_buf *out, int digits, char form, const char *suffix, double value)
{
    if (isnan(value))
        pw_buf_putc(out, '-');
    else if (form == 'e')
        pw_buf_printf(out, "%.*e%s", digits, value, suffix);
    else if (form == 'g')
        pw_buf_printf(out, "%.*g%s", digits, value, suffix);
    else
        pw_buf_printf(out, "%.*f%s", digits, value, suffix);
}

static void summary(const struct pw_report *report, struct pw_buf *out)
{
    pw_buf_puts(out, "| target | maturity | library | kernel | generated | host | missing | held | failed | unproven | "
                     "worst error / tolerance | speed |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for (size_t t = 0; t < report->target_count; t++) {
        const struct pw_report_target_part *p = &report->targets[t];

        pw_buf_puts(out, "| ");
        pw_report_md_cell(out, p->target);
        pw_buf_printf(out, " | **%s** |", pw_maturity_name(p->maturity));
        for (int c = 0; c < PW_COVERAGE_COUNT; c++)
            pw_buf_printf(out, " %zu |", p->coverage[c]);
        pw_buf_printf(out, " %zu | %zu | %zu | ", p->held, p->failed, p->unproven);
        number(out, 2, 'f', "", p->worst_share);
        pw_buf_puts(out, " | ");
        number(out, 2, 'f', pw_report_elsewhere(report, p) ? "x †" : "x", p->speed);
        pw_buf_puts(out, " |\n");
    }
    pw_buf_puts(out, "\nCounts are signatures. Speed: geometric mean of the reference's time over the target's. Where "
                     "it says ? or not measured, the store has no check of this graph with these dims.\n");
}

static void evidence(const struct pw_report_target_part *p, struct pw_buf *out)
{
    pw_buf_puts(out, "\n### Maturity: ");
    pw_buf_puts(out, pw_maturity_name(p->maturity));
    pw_buf_puts(out, "\n\n| level | asks for | | found |\n|---|---|---|---|\n");
    for (size_t i = 0; i < p->evidence_count; i++) {
        pw_buf_printf(out, "| %s | %s | %s | ", pw_maturity_name(p->evidence[i].level), p->evidence[i].requirement,
                      p->evidence[i].met ? "yes" : "**no**");
        pw_report_md_cell(out, p->evidence[i].found);
        pw_buf_puts(out, " |\n");
    }
}

static void signatures(const struct pw_report *report, const struct pw_report_target_part *p, struct pw_buf *out)
{
    pw_buf_puts(
        out,
        "\n### Signatures\n\n| operator | shapes | nodes | FLOPs | covered | sensitivity | dims | verdict | error | "
        "of tolerance | time | speed | bound | decided |\n"
        "|---|---|--:|--:|---|---|---|---|--:|--:|--:|--:|---|---|\n");
    for (size_t i = 0; i < report->inventory->signature_count; i++) {
        const struct pw_report_row *row = &p->rows[i];
        const struct pw_signature *s = row->signature;
        char time[32];

        pw_buf_puts(out, "| ");
        pw_report_md_cell(out, s->op_label);
        pw_buf_puts(out, " | ");
        pw_report_md_cell(out, s->shapes);
        pw_buf_printf(out, " | %zu | ", s->node_count);
        number(out, 1, 'f', " %", 100 * s->share);
        pw_buf_printf(out, " | %s | %s | %s | %s | ", pw_report_row_coverage(row), pw_sensitivity_name(s->sensitivity),
                      s->data_dependent ? "data"
                      : s->dynamic      ? "dynamic"
                                        : "fixed",
                      pw_report_row_verdict(row));
        number(out, 2, 'e', "", row->result ? row->result->worst_error : NAN);
        pw_buf_puts(out, " | ");
        number(out, 2, 'f', "", pw_report_row_share(row));
        pw_buf_printf(out, " | %s%s | ",
                      isnan(pw_report_row_target_ns(row))
                          ? "-"
                          : pw_text_duration(time, sizeof time, pw_report_row_target_ns(row) / 1e9),
                      pw_report_row_elsewhere(p, row) ? " †" : "");
        number(out, 3, 'g', "x", pw_report_row_speed(row));
        pw_buf_printf(out, " | %s | ", row->bench ? row->bench->bound : "-");
        if (row->triage) {
            pw_buf_printf(out, "%s ", pw_triage_status_name(row->triage->status));
            pw_report_md_cell(out, row->triage->owner);
        }
        pw_buf_puts(out, " |\n");
    }
    if (pw_report_elsewhere(report, p))
        pw_buf_printf(out,
                      "\n† %zu times were taken in another environment than the newest run's (%s): they do not compare "
                      "with the others.\n",
                      pw_report_elsewhere(report, p), p->run.environment_id[0] ? p->run.environment_id : "unknown");
}

/* Several targets: one table, a column group for each, and what is missing where. */
static void side_by_side(const struct pw_report *report, struct pw_buf *out)
{
    if (report->target_count < 2)
        return;
    pw_buf_puts(out, "\n## Side by side\n\n| operator | shapes |");
    for (size_t t = 0; t < report->target_count; t++)
        for (int column = 0; column < 4; column++) {
            static const char *const heads[] = {"covered", "verdict", "of tolerance", "speed"};

            pw_buf_putc(out, ' ');
            pw_report_md_cell(out, report->targets[t].target);
            pw_buf_printf(out, ": %s |", heads[column]);
        }
    pw_buf_puts(out, " missing on |\n|---|---|");
    for (size_t t = 0; t < report->target_count; t++)
        pw_buf_puts(out, "---|---|--:|--:|");
    pw_buf_puts(out, "---|\n");
    for (size_t i = 0; i < report->inventory->signature_count; i++) {
        struct pw_buf missing = {0};

        pw_buf_puts(out, "| ");
        pw_report_md_cell(out, report->inventory->signatures[i].op_label);
        pw_buf_puts(out, " | ");
        pw_report_md_cell(out, report->inventory->signatures[i].shapes);
        for (size_t t = 0; t < report->target_count; t++) {
            const struct pw_report_row *row = &report->targets[t].rows[i];

            pw_buf_printf(out, " | %s | %s | ", pw_report_row_coverage(row), pw_report_row_verdict(row));
            number(out, 2, 'f', "", pw_report_row_share(row));
            pw_buf_puts(out, " | ");
            number(out, 3, 'g', "x", pw_report_row_speed(row));
        }
        pw_report_missing_on(report, i, &missing);
        pw_buf_puts(out, " | ");
        pw_report_md_cell(out, pw_buf_text(&missing));
        pw_buf_puts(out, " |\n");
        pw_buf_clear(&missing);
    }
}

static void end_to_end(const struct pw_report_target_part *p, struct pw_buf *out)
{
    char when[32], text[48];

    pw_buf_puts(out, "\n### End to end\n\n");
    if (!p->endtoend_run.id) {
        pw_buf_puts(out, "Not measured: `portwright run` compares the whole graph.\n");
        return;
    }
    pw_buf_printf(out, "Run %lld, %s.\n\n| output | | error | tolerance |\n|---|---|--:|--:|\n",
                  (long long)p->endtoend_run.id, pw_clock_iso(p->endtoend_run.end_ms, when, sizeof when));
    for (size_t i = 0; i < p->output_count; i++) {
        pw_buf_puts(out, "| ");
        pw_report_md_cell(out, p->outputs[i].name);
        pw_buf_printf(out, " | %s | ", p->outputs[i].held ? "held" : "**does not hold**");
        number(out, 2, 'e', "", p->outputs[i].error);
        pw_buf_puts(out, " | ");
        number(out, 2, 'e', "", p->outputs[i].tolerance);
        pw_buf_puts(out, " |\n");
    }
    for (size_t i = 0; i < p->figure_count; i++) {
        pw_buf_puts(out, i ? "" : "\n");
        pw_buf_puts(out, "- ");
        pw_report_md_cell(out, p->figures[i].name);
        pw_buf_puts(out, ": ");
        pw_buf_printf(out, "%s\n", pw_report_figure_text(p->figures[i].name, p->figures[i].value, text, sizeof text));
    }
}

static void waivers(const struct pw_report *report, struct pw_buf *out)
{
    char gates[64];
    bool any = false;

    for (size_t i = 0; i < pw_triage_count(report->triage); i++) {
        const struct pw_triage_entry *e = pw_triage_at(report->triage, i);

        if (!e->waiver.present)
            continue;
        pw_buf_puts(out, any ? ""
                             : "\n## Waivers\n\n| operator | signature | of | until | owner | reason |\n"
                               "|---|---|---|---|---|---|\n");
        any = true;
        pw_buf_puts(out, "| ");
        pw_report_md_cell(out, e->op);
        pw_buf_printf(out, " | %s | %s | %s%s | ", e->id, pw_waive_names(e->waiver.gates, gates, sizeof gates),
                      e->waiver.until, pw_report_waiver_over(report, e) ? " **expired**" : "");
        pw_report_md_cell(out, e->waiver.owner);
        pw_buf_puts(out, " | ");
        pw_report_md_cell(out, e->waiver.reason);
        pw_buf_puts(out, " |\n");
    }
}

static void environment(const struct pw_report_target_part *p, struct pw_buf *out)
{
    if (!p->environment.count)
        return;
    pw_buf_puts(out, "\n### Environment\n\n| | |\n|---|---|\n");
    for (size_t i = 0; i < p->environment.count; i++) {
        if (!p->environment.fields[i].value[0] || pw_text_starts(p->environment.fields[i].name, "kernel "))
            continue;
        pw_buf_puts(out, "| ");
        pw_report_md_cell(out, p->environment.fields[i].name);
        pw_buf_puts(out, " | ");
        pw_report_md_cell(out, p->environment.fields[i].value);
        pw_buf_puts(out, " |\n");
    }
}

void pw_report_md(const struct pw_report *report, struct pw_buf *out)
{
    char flops[32];

    pw_buf_puts(out, "# ");
    pw_report_md_cell(out, report->model_path);
    pw_buf_printf(out, "\n\nGraph `%.12s`: %zu signatures of %zu nodes, %s. Made %s by portwright %s.\n\n",
                  report->graph_id, report->inventory->signature_count, report->inventory->node_count,
                  isnan(report->inventory->total_flops)
                      ? "FLOPs unknown"
                      : pw_text_si(flops, sizeof flops, report->inventory->total_flops, "FLOP"),
                  report->made, report->version);
    summary(report, out);
    side_by_side(report, out);
    for (size_t t = 0; t < report->target_count; t++) {
        const struct pw_report_target_part *p = &report->targets[t];

        pw_buf_puts(out, "\n## ");
        pw_report_md_cell(out, p->target);
        pw_buf_puts(out, "\n\n");
        pw_report_md_cell(out,
                          p->run.id ? p->device : "Nothing was measured on it: portwright check, bench and run do.");
        pw_buf_putc(out, '\n');
        evidence(p, out);
        signatures(report, p, out);
        end_to_end(p, out);
        environment(p, out);
    }
    waivers(report, out);
}
