/* Findings of the sanitizer as text and JSON. */
#include "report/sanitize.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "report/check.h"

void pw_report_sanitize_text(struct pw_buf *out, const struct pw_sanitize_report *report)
{
    const struct pw_sanitize_totals *totals = &report->totals;
    for (size_t i = 0; i < report->count; i++) {
        const struct pw_finding *f = &report->findings[i];
        pw_buf_printf(out, "%s: ", pw_finding_name(f->kind));
        if (f->line > 0)
            pw_buf_printf(out, "%s:%d, ", f->file, f->line);
        pw_buf_printf(out, "kernel %s", f->kernel);
        if (f->entry[0])
            pw_buf_printf(out, " (%s)", f->entry);
        pw_buf_puts(out, "\n  ");
        pw_text_display(out, f->text, strlen(f->text), 0, false);
        pw_buf_printf(out, "\n  with the case %s, launched as on a %s\n", f->case_name, f->shape);
    }
    for (size_t i = 0; i < report->without_count; i++)
        pw_buf_printf(out, "%s: not run, no case is small enough\n", report->without[i]);
    pw_buf_printf(
        out, "%s%zu of %zu kernels in %zu runs on Oclgrind: ", report->count + report->without_count > 0 ? "\n" : "",
        totals->kernels_ran, totals->kernels, totals->runs);
    if (report->count == 0)
        pw_buf_puts(out, "no findings\n");
    else
        pw_buf_printf(out, "%zu finding%s\n", report->count, report->count == 1 ? "" : "s");
}

static json_t *finding_json(const struct pw_finding *f)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "kind", pw_finding_name(f->kind), "kernel",
                     pw_report_json_text(f->kernel), "description", pw_report_json_text(f->path), "entry",
                     f->entry[0] ? pw_report_json_text(f->entry) : json_null(), "file",
                     f->file[0] ? pw_report_json_text(f->file) : json_null(), "line",
                     f->line > 0 ? json_integer(f->line) : json_null(), "case", pw_report_json_text(f->case_name),
                     "launched_as", f->shape, "text", pw_report_json_text(f->text));
}

pw_status pw_report_sanitize_json(struct pw_buf *out, const struct pw_sanitize_report *report, struct pw_error *err)
{
    json_t *findings = json_array(), *without = json_array();
    for (size_t i = 0; i < report->count; i++)
        json_array_append_new(findings, finding_json(&report->findings[i]));
    for (size_t i = 0; i < report->without_count; i++)
        json_array_append_new(without, pw_report_json_text(report->without[i]));
    json_t *root = json_pack("{s:i, s:s, s:I, s:I, s:I, s:o, s:o}", "schema", 1, "report", "sanitize", "kernels",
                             (json_int_t)report->totals.kernels, "kernels_ran", (json_int_t)report->totals.kernels_ran,
                             "runs", (json_int_t)report->totals.runs, "findings", findings, "without_case", without);
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    json_decref(root);
    if (!text)
        return pw_error_memory(err, 4096);
    pw_buf_puts(out, text);
    pw_buf_putc(out, '\n');
    free(text); /* jansson's own allocation */
    return PW_OK;
}
