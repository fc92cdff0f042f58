/* The report as CSV, JSON (schema 1, share/schema/report.schema.json), JUnit and OpenMetrics. */
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "report/check.h"
#include "report/model.h"

/* ---- CSV ---- */

static void csv_real(struct pw_buf *out, double value, bool last)
{
    if (!isnan(value) && !isinf(value))
        pw_buf_printf(out, "%.9g", value);
    pw_buf_putc(out, last ? '\n' : ',');
}

void pw_report_csv(const struct pw_report *report, struct pw_buf *out)
{
    pw_buf_puts(
        out, "target,id,operator,shapes,category,nodes,flops_share,coverage,sensitivity,dynamic,verdict,cases,"
             "error,tolerance,error_share,target_ns,speed,roof_share,bound,status,owner,waived_until,environment\r\n");
    for (size_t t = 0; t < report->target_count; t++)
        for (size_t i = 0; i < report->inventory->signature_count; i++) {
            const struct pw_report_row *row = &report->targets[t].rows[i];
            const struct pw_signature *s = row->signature;
            const struct pw_store_bench_row *b = row->bench;

            pw_report_csv_field(out, report->targets[t].target, false);
            pw_report_csv_field(out, s->id, false);
            pw_report_csv_field(out, s->op_label, false);
            pw_report_csv_field(out, s->shapes, false);
            pw_report_csv_field(out, pw_category_name(s->category), false);
            pw_buf_printf(out, "%zu,", s->node_count);
            csv_real(out, s->share, false);
            pw_report_csv_field(out, pw_report_row_coverage(row), false);
            pw_report_csv_field(out, pw_sensitivity_name(s->sensitivity), false);
            pw_report_csv_field(out, s->data_dependent ? "data" : s->dynamic ? "dynamic" : "fixed", false);
            pw_report_csv_field(out, pw_report_row_verdict(row), false);
            pw_buf_printf(out, "%d,", row->result ? row->result->cases : 0);
            csv_real(out, row->result ? row->result->worst_error : NAN, false);
            csv_real(out, row->result ? row->result->tolerance : NAN, false);
            csv_real(out, pw_report_row_share(row), false);
            csv_real(out, pw_report_row_target_ns(row), false);
            csv_real(out, pw_report_row_speed(row), false);
            csv_real(out, b && b->roof_ns > 0 ? b->roof_ns / b->target_ns : NAN, false);
            pw_report_csv_field(out, b ? b->bound : "", false);
            pw_report_csv_field(out, row->triage ? pw_triage_status_name(row->triage->status) : "", false);
            pw_report_csv_field(out, row->triage ? row->triage->owner : "", false);
            pw_report_csv_field(out, row->triage && row->triage->waiver.present ? row->triage->waiver.until : "",
                                false);
            pw_report_csv_field(out, pw_report_row_environment(row), true);
        }
}

/* ---- JSON ---- */

static json_t *row_json(const struct pw_report_row *row)
{
    const struct pw_signature *s = row->signature;
    json_t *object = json_object();

    json_object_set_new(object, "id", json_string(s->id));
    json_object_set_new(object, "operator", pw_report_json_text(s->op_label));
    json_object_set_new(object, "shapes", pw_report_json_text(s->shapes));
    json_object_set_new(object, "category", json_string(pw_category_name(s->category)));
    json_object_set_new(object, "nodes", json_integer((json_int_t)s->node_count));
    json_object_set_new(object, "flops_share", pw_report_json_real(s->share));
    json_object_set_new(object, "coverage", json_string(pw_report_row_coverage(row)));
    json_object_set_new(object, "sensitivity", json_string(pw_sensitivity_name(s->sensitivity)));
    json_object_set_new(object, "dims", json_string(s->data_dependent ? "data" : s->dynamic ? "dynamic" : "fixed"));
    json_object_set_new(object, "verdict", json_string(pw_report_row_verdict(row)));
    json_object_set_new(object, "cases", json_integer(row->result ? row->result->cases : 0));
    json_object_set_new(object, "error", pw_report_json_real(row->result ? row->result->worst_error : NAN));
    json_object_set_new(object, "tolerance", pw_report_json_real(row->result ? row->result->tolerance : NAN));
    json_object_set_new(object, "target_ns", pw_report_json_real(pw_report_row_target_ns(row)));
    json_object_set_new(object, "speed", pw_report_json_real(pw_report_row_speed(row)));
    json_object_set_new(object, "bound", row->bench ? json_string(row->bench->bound) : json_null());
    json_object_set_new(object, "waived", json_boolean(row->waiver == PW_WAIVER_VALID));
    json_object_set_new(object, "environment", json_string(pw_report_row_environment(row)));
    return object;
}

static json_t *figures_json(const struct pw_store_figure_row *rows, size_t count)
{
    json_t *object = json_object();

    for (size_t i = 0; i < count; i++)
        json_object_set_new(object, rows[i].name, pw_report_json_real(rows[i].value));
    return object;
}

static json_t *target_json(const struct pw_report *report, const struct pw_report_target_part *p)
{
    json_t *object = json_object(), *evidence = json_array(), *rows = json_array(), *outputs = json_array();
    json_t *environment = json_object();

    json_object_set_new(object, "target", pw_report_json_text(p->target));
    json_object_set_new(object, "device", pw_report_json_text(p->device));
    json_object_set_new(object, "run", p->run.id ? json_integer(p->run.id) : json_null());
    json_object_set_new(object, "maturity", json_string(pw_maturity_name(p->maturity)));
    for (size_t i = 0; i < p->evidence_count; i++)
        json_array_append_new(evidence, json_pack("{s:s,s:s,s:b,s:o}", "level", pw_maturity_name(p->evidence[i].level),
                                                  "requirement", p->evidence[i].requirement, "met", p->evidence[i].met,
                                                  "found", pw_report_json_text(p->evidence[i].found)));
    json_object_set_new(object, "evidence", evidence);
    json_object_set_new(object, "held", json_integer((json_int_t)p->held));
    json_object_set_new(object, "failed", json_integer((json_int_t)p->failed));
    json_object_set_new(object, "unproven", json_integer((json_int_t)p->unproven));
    json_object_set_new(object, "worst_error_share", pw_report_json_real(p->worst_share));
    json_object_set_new(object, "speed", pw_report_json_real(p->speed));
    for (size_t i = 0; i < report->inventory->signature_count; i++)
        json_array_append_new(rows, row_json(&p->rows[i]));
    json_object_set_new(object, "signatures", rows);
    for (size_t i = 0; i < p->output_count; i++)
        json_array_append_new(outputs,
                              json_pack("{s:o,s:b,s:o,s:o}", "name", pw_report_json_text(p->outputs[i].name), "held",
                                        p->outputs[i].held, "error", pw_report_json_real(p->outputs[i].error),
                                        "tolerance", pw_report_json_real(p->outputs[i].tolerance)));
    json_object_set_new(object, "outputs", outputs);
    json_object_set_new(object, "end_to_end", figures_json(p->figures, p->figure_count));
    json_object_set_new(object, "soak", figures_json(p->soak, p->soak_count));
    for (size_t i = 0; i < p->environment.count; i++)
        json_object_set_new(environment, p->environment.fields[i].name,
                            pw_report_json_text(p->environment.fields[i].value));
    json_object_set_new(object, "environment", environment);
    return object;
}

pw_status pw_report_json(const struct pw_report *report, struct pw_buf *out, struct pw_error *err)
{
    json_t *root = json_object(), *targets = json_array();
    char *text;

    json_object_set_new(root, "schema", json_integer(1));
    json_object_set_new(root, "kind", json_string("report"));
    json_object_set_new(root, "version", json_string(report->version));
    json_object_set_new(root, "model", pw_report_json_text(report->model_path));
    json_object_set_new(root, "graph", json_string(report->graph_id));
    json_object_set_new(root, "made", json_string(report->made));
    for (size_t t = 0; t < report->target_count; t++)
        json_array_append_new(targets, target_json(report, &report->targets[t]));
    json_object_set_new(root, "targets", targets);
    text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    json_decref(root);
    if (!text)
        return pw_error_memory(err, 4096);
    pw_buf_puts(out, text);
    pw_buf_putc(out, '\n');
    free(text);
    return PW_OK;
}

/* ---- JUnit and OpenMetrics ---- */

static void junit_case(const struct pw_report_row *row, const char *target, struct pw_buf *out)
{
    const char *verdict = pw_report_row_verdict(row);
    bool failed = !strcmp(verdict, "failed"), proven = !strcmp(verdict, "held");

    pw_buf_puts(out, "    <testcase classname=\"");
    pw_report_xml_text(out, target);
    pw_buf_puts(out, "\" name=\"");
    pw_report_xml_text(out, row->signature->text);
    pw_buf_puts(out, "\"");
    if (proven) {
        pw_buf_puts(out, "/>\n");
        return;
    }
    pw_buf_puts(out, ">\n");
    if (row->waiver == PW_WAIVER_VALID) {
        pw_buf_puts(out, "      <skipped message=\"waived: ");
        pw_report_xml_text(out, row->triage->waiver.reason);
    } else if (failed) {
        pw_buf_printf(out, "      <failure message=\"worst error %.3g, tolerance %.3g", row->result->worst_error,
                      row->result->tolerance);
    } else {
        pw_buf_puts(out, "      <skipped message=\"");
        pw_report_xml_text(out, verdict);
    }
    pw_buf_puts(out, "\"/>\n    </testcase>\n");
}

void pw_report_junit(const struct pw_report *report, struct pw_buf *out)
{
    pw_buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for (size_t t = 0; t < report->target_count; t++) {
        const struct pw_report_target_part *p = &report->targets[t];
        size_t count = report->inventory->signature_count, failures = 0, skipped = 0;

        for (size_t i = 0; i < count; i++) {
            const char *verdict = pw_report_row_verdict(&p->rows[i]);
            bool waived = p->rows[i].waiver == PW_WAIVER_VALID && strcmp(verdict, "held") != 0;

            failures += !waived && !strcmp(verdict, "failed");
            skipped += waived || (strcmp(verdict, "failed") != 0 && strcmp(verdict, "held") != 0);
        }
        pw_buf_puts(out, "  <testsuite name=\"");
        pw_report_xml_text(out, p->target);
        pw_buf_printf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n", count, failures,
                      skipped);
        for (size_t i = 0; i < count; i++)
            junit_case(&p->rows[i], p->target, out);
        pw_buf_puts(out, "  </testsuite>\n");
    }
    pw_buf_puts(out, "</testsuites>\n");
}

/* A label's value: backslash, quote and line feed are escaped (OpenMetrics 1.0). */
static void label(struct pw_buf *out, const char *name, const char *value)
{
    pw_buf_printf(out, "%s=\"", name);
    for (const char *p = value; *p; p++) {
        if (*p == '\\' || *p == '"')
            pw_buf_putc(out, '\\');
        if (*p == '\n')
            pw_buf_puts(out, "\\n");
        else
            pw_buf_putc(out, *p);
    }
    pw_buf_putc(out, '"');
}

typedef double metric_of(const struct pw_report_row *row);

static double metric_error(const struct pw_report_row *row)
{
    return row->result ? row->result->worst_error : NAN;
}
static double metric_seconds(const struct pw_report_row *row)
{
    return pw_report_row_target_ns(row) / 1e9;
}
static double metric_held(const struct pw_report_row *row)
{
    const char *verdict = pw_report_row_verdict(row);

    return !strcmp(verdict, "held") ? 1 : !strcmp(verdict, "failed") ? 0 : NAN;
}

static void put_value(struct pw_buf *out, double value)
{
    if (isinf(value))
        pw_buf_puts(out, value > 0 ? "+Inf\n" : "-Inf\n");
    else
        pw_buf_printf(out, "%.17g\n", value);
}

static void row_metrics(const struct pw_report *report, struct pw_buf *out)
{
    static const struct {
        const char *name, *unit, *help;
        metric_of *value;
    } metrics[] = {
        {"portwright_signature_held", NULL, "1 held, 0 failed; absent: unproven or on the host.", metric_held},
        {"portwright_signature_error", NULL, "Worst error of the newest verification.", metric_error},
        {"portwright_signature_error_share_ratio", "ratio", "Worst error over its tolerance.", pw_report_row_share},
        {"portwright_signature_time_seconds", "seconds", "Median time on the target.", metric_seconds},
        {"portwright_signature_speed_ratio", "ratio", "Reference time over target time.", pw_report_row_speed},
    };

    for (size_t m = 0; m < sizeof metrics / sizeof *metrics; m++) {
        pw_buf_printf(out, "# TYPE %s gauge\n", metrics[m].name);
        if (metrics[m].unit)
            pw_buf_printf(out, "# UNIT %s %s\n", metrics[m].name, metrics[m].unit);
        pw_buf_printf(out, "# HELP %s %s\n", metrics[m].name, metrics[m].help);
        for (size_t t = 0; t < report->target_count; t++)
            for (size_t i = 0; i < report->inventory->signature_count; i++) {
                const struct pw_report_row *row = &report->targets[t].rows[i];
                double value = metrics[m].value(row);

                if (isnan(value))
                    continue; /* unknown is not 0 */
                pw_buf_printf(out, "%s{", metrics[m].name);
                label(out, "graph", report->graph_id);
                pw_buf_putc(out, ',');
                label(out, "target", report->targets[t].target);
                pw_buf_putc(out, ',');
                label(out, "signature", row->signature->id);
                pw_buf_putc(out, ',');
                label(out, "operator", row->signature->op_label);
                pw_buf_puts(out, "} ");
                put_value(out, value);
            }
    }
}

void pw_report_openmetrics(const struct pw_report *report, struct pw_buf *out)
{
    pw_buf_puts(out,
                "# TYPE portwright_graph_maturity gauge\n"
                "# HELP portwright_graph_maturity 0 unproven, 1 bring-up, 2 verified, 3 performant, 4 production.\n");
    for (size_t t = 0; t < report->target_count; t++) {
        pw_buf_puts(out, "portwright_graph_maturity{");
        label(out, "graph", report->graph_id);
        pw_buf_putc(out, ',');
        label(out, "target", report->targets[t].target);
        pw_buf_printf(out, "} %d\n", (int)report->targets[t].maturity);
    }
    pw_buf_puts(out, "# TYPE portwright_signatures gauge\n# HELP portwright_signatures Signatures of the graph by what "
                     "serves them.\n");
    for (size_t t = 0; t < report->target_count; t++)
        for (int c = 0; c < PW_COVERAGE_COUNT; c++) {
            pw_buf_puts(out, "portwright_signatures{");
            label(out, "graph", report->graph_id);
            pw_buf_putc(out, ',');
            label(out, "target", report->targets[t].target);
            pw_buf_putc(out, ',');
            label(out, "coverage", pw_coverage_name((pw_coverage)c));
            pw_buf_printf(out, "} %zu\n", report->targets[t].coverage[c]);
        }
    row_metrics(report, out);
    pw_buf_puts(out, "# EOF\n");
}
