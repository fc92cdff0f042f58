#include "report/targets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#define VERDICT_WIDTH 13
#define GROUP_WIDTH (9 + 1 + 7 + 1 + VERDICT_WIDTH + 7) /* "covered  error verdict ratio" of one target */

const struct pw_inventory *pw_report_targets_inventory(const struct pw_report_targets *report)
{
    for (size_t t = 0; t < report->count; t++)
        if (report->targets[t].check)
            return report->targets[t].check->inventory;
    return NULL;
}

/* Sessions list signatures in the same order; the id makes sure. */
static const struct pw_signature_result *row_of(const struct pw_report_check *check, const char *id, size_t i)
{
    if (i < check->inventory->signature_count && !strcmp(check->inventory->signatures[i].id, id))
        return check->rows[i];
    for (size_t k = 0; k < check->inventory->signature_count; k++)
        if (!strcmp(check->inventory->signatures[k].id, id))
            return check->rows[k];
    return NULL;
}

struct pw_target_cell pw_report_target_cell(const struct pw_report_targets *report, size_t i, size_t t)
{
    const struct pw_report_check *check = report->targets[t].check;
    const char *id = pw_report_targets_inventory(report)->signatures[i].id;
    struct pw_target_cell cell = {
        .coverage = "-", .verdict = "-", .error = NAN, .tolerance = NAN, .speed = NAN, .good = false};

    cell.row = check ? row_of(check, id, i) : NULL;
    if (!cell.row)
        return cell;
    cell.coverage = cell.row->implementations ? pw_coverage_name(cell.row->implementations->coverage)
                                              : pw_coverage_name(PW_COVERAGE_MISSING);
    cell.verdict = pw_report_check_verdict(cell.row);
    cell.error = cell.row->worst_error;
    cell.tolerance = isnan(cell.error) ? NAN : cell.row->tolerance;
    if (cell.row->target_ns > 0 && cell.row->reference_ns > 0)
        cell.speed = (double)cell.row->reference_ns / (double)cell.row->target_ns;
    cell.good = !cell.row->gate_failed;
    return cell;
}

bool pw_report_targets_differ(const struct pw_report_targets *report, size_t i)
{
    bool good = false, bad = false;

    for (size_t t = 0; t < report->count; t++) {
        struct pw_target_cell cell;

        if (!report->targets[t].check)
            continue;
        cell = pw_report_target_cell(report, i, t);
        good |= cell.row && cell.good;
        bad |= cell.row && !cell.good;
    }
    return good && bad;
}

struct pw_target_summary pw_report_target_summary(const struct pw_report_targets *report, size_t t)
{
    const struct pw_inventory *inventory = pw_report_targets_inventory(report);
    struct pw_target_summary s = {.worst_ratio = NAN, .speed = NAN};
    double logs = 0;
    size_t timed = 0;

    for (size_t i = 0; inventory && i < inventory->signature_count; i++) {
        struct pw_target_cell cell = pw_report_target_cell(report, i, t);

        if (!cell.row)
            continue;
        s.coverage[cell.row->implementations ? cell.row->implementations->coverage : PW_COVERAGE_MISSING]++;
        s.held += cell.row->standing == PW_STANDING_HELD;
        s.failed += cell.row->standing == PW_STANDING_FAILED;
        s.missing += !cell.good && pw_report_targets_differ(report, i);
        if (!isnan(cell.error) && !(cell.row->worst_ratio <= s.worst_ratio))
            s.worst_ratio = cell.row->worst_ratio;
        if (!isnan(cell.speed)) {
            logs += log(cell.speed);
            timed++;
        }
    }
    if (timed)
        s.speed = exp(logs / (double)timed);
    return s;
}

static bool was_run(const struct pw_report_targets *report, size_t i)
{
    for (size_t t = 0; t < report->count; t++)
        if (pw_report_target_cell(report, i, t).row)
            return true;
    return false;
}

/* ---- text ---- */

static const char *number(double value, char *dst, size_t size)
{
    if (isnan(value))
        snprintf(dst, size, "-");
    else
        snprintf(dst, size, value == 0 ? "0" : "%.2g", value);
    return dst;
}

static const char *speed_text(double value, char *dst, size_t size)
{
    if (isnan(value))
        snprintf(dst, size, "-");
    else
        snprintf(dst, size, "%.2fx", value);
    return dst;
}

static void text_cell(const struct pw_target_cell *cell, bool color, struct pw_buf *out)
{
    char text[32];

    pw_buf_puts(out, " | ");
    pw_text_cell(out, cell->coverage, 9, false);
    pw_buf_putc(out, ' ');
    pw_text_cell(out, number(cell->error, text, sizeof text), 7, true);
    pw_buf_putc(out, ' ');
    if (color && cell->row)
        pw_buf_puts(out, !cell->good                               ? "\033[1;31m"
                         : cell->row->standing == PW_STANDING_HELD ? "\033[32m"
                                                                   : "\033[33m");
    pw_text_cell(out, cell->verdict, VERDICT_WIDTH, false);
    if (color && cell->row)
        pw_buf_puts(out, "\033[0m");
    pw_text_cell(out, speed_text(cell->speed, text, sizeof text), 7, true);
}

static void where_missing(const struct pw_report_targets *report, const struct pw_inventory *inventory, size_t i,
                          struct pw_buf *out)
{
    bool first = true;

    pw_text_cell(out, inventory->signatures[i].op_label, 22, false);
    pw_buf_printf(out, " %s  ", inventory->signatures[i].id);
    for (size_t t = 0; t < report->count; t++) {
        struct pw_target_cell cell = pw_report_target_cell(report, i, t);

        if (!cell.row)
            continue;
        pw_buf_puts(out, first ? "" : "; ");
        pw_text_display(out, report->targets[t].target, strlen(report->targets[t].target), 40, false);
        pw_buf_printf(out, ": %s", cell.good ? cell.coverage : cell.verdict);
        if (!cell.good && cell.row->gate_reason && cell.row->gate_reason[0]) {
            pw_buf_puts(out, " (");
            pw_text_display(out, cell.row->gate_reason, strlen(cell.row->gate_reason), 80, false);
            pw_buf_putc(out, ')');
        }
        first = false;
    }
    pw_buf_putc(out, '\n');
}

static void text_summary(const struct pw_report_targets *report, struct pw_buf *out)
{
    char ratio[32], speed[32];

    for (size_t t = 0; t < report->count; t++) {
        struct pw_target_summary s = pw_report_target_summary(report, t);

        pw_text_display(out, report->targets[t].target, strlen(report->targets[t].target), 60, false);
        if (!report->targets[t].check) {
            pw_buf_puts(out, ": could not be used: ");
            pw_text_display(out, report->targets[t].error, strlen(report->targets[t].error), 0, false);
            pw_buf_putc(out, '\n');
            continue;
        }
        pw_buf_printf(out, ": %zu held, %zu failed; library %zu, kernel %zu, generated %zu, host %zu, missing %zu; ",
                      s.held, s.failed, s.coverage[PW_COVERAGE_LIBRARY], s.coverage[PW_COVERAGE_KERNEL],
                      s.coverage[PW_COVERAGE_GENERATED], s.coverage[PW_COVERAGE_HOST], s.coverage[PW_COVERAGE_MISSING]);
        pw_buf_printf(out,
                      "worst error %s of its tolerance, %s the reference's speed; %zu that others have are missing\n",
                      number(s.worst_ratio, ratio, sizeof ratio), speed_text(s.speed, speed, sizeof speed), s.missing);
    }
}

static void text_missing(const struct pw_report_targets *report, const struct pw_inventory *inventory,
                         struct pw_buf *out)
{
    bool any = false;

    for (size_t i = 0; i < inventory->signature_count; i++)
        if (pw_report_targets_differ(report, i)) {
            if (!any)
                pw_buf_puts(out, "\nmissing somewhere\n");
            any = true;
            pw_buf_puts(out, "  ");
            where_missing(report, inventory, i, out);
        }
    if (!any)
        pw_buf_puts(out, "\nno target lacks what another one has\n");
}

void pw_report_targets_text(const struct pw_report_targets *report, int width, bool color, struct pw_buf *out)
{
    const struct pw_inventory *inventory = pw_report_targets_inventory(report);
    size_t fixed = 22 + 5 + report->count * (GROUP_WIDTH + 3);
    size_t shapes = (size_t)width > fixed + 12 ? (size_t)width - fixed - 1 : 0;

    if (shapes > 50)
        shapes = 50;
    if (!inventory) {
        text_summary(report, out);
        return;
    }
    pw_text_cell(out, "", 22 + 5 + (shapes ? shapes + 1 : 0), false);
    for (size_t t = 0; t < report->count; t++) {
        pw_buf_puts(out, " | ");
        pw_text_cell(out, report->targets[t].target, GROUP_WIDTH, false);
    }
    pw_buf_putc(out, '\n');
    pw_text_cell(out, "operator", 22, false);
    pw_buf_puts(out, "    n");
    if (shapes) {
        pw_buf_putc(out, ' ');
        pw_text_cell(out, "shapes", shapes, false);
    }
    for (size_t t = 0; t < report->count; t++)
        pw_buf_puts(out, " | covered     error verdict         ratio");
    pw_buf_putc(out, '\n');
    for (size_t i = 0; i < inventory->signature_count; i++) {
        const struct pw_signature *s = &inventory->signatures[i];

        if (!was_run(report, i))
            continue;
        pw_text_cell(out, s->op_label, 22, false);
        pw_buf_printf(out, " %4zu", s->node_count);
        if (shapes) {
            pw_buf_putc(out, ' ');
            pw_text_cell(out, s->shapes, shapes, false);
        }
        for (size_t t = 0; t < report->count; t++) {
            struct pw_target_cell cell = pw_report_target_cell(report, i, t);

            text_cell(&cell, color, out);
        }
        pw_buf_putc(out, '\n');
    }
    text_missing(report, inventory, out);
    pw_buf_putc(out, '\n');
    text_summary(report, out);
}

/* ---- Markdown ---- */

static void md_summary(const struct pw_report_targets *report, struct pw_buf *out)
{
    char ratio[32], speed[32];

    pw_buf_puts(out, "| target | device | held | failed | kernel or library | host | missing | worst error of its "
                     "tolerance | speed | lacks |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (size_t t = 0; t < report->count; t++) {
        struct pw_target_summary s = pw_report_target_summary(report, t);

        pw_buf_puts(out, "| ");
        pw_report_md_cell(out, report->targets[t].target);
        pw_buf_puts(out, " | ");
        pw_report_md_cell(out, report->targets[t].check ? report->targets[t].check->device : report->targets[t].error);
        if (report->targets[t].check)
            pw_buf_printf(
                out, " | %zu | %zu | %zu | %zu | %zu | %s | %s | %zu |\n", s.held, s.failed,
                s.coverage[PW_COVERAGE_LIBRARY] + s.coverage[PW_COVERAGE_KERNEL] + s.coverage[PW_COVERAGE_GENERATED],
                s.coverage[PW_COVERAGE_HOST], s.coverage[PW_COVERAGE_MISSING],
                number(s.worst_ratio, ratio, sizeof ratio), speed_text(s.speed, speed, sizeof speed), s.missing);
        else
            pw_buf_puts(out, " | | | | | | | | |\n");
    }
}

void pw_report_targets_md(const struct pw_report_targets *report, struct pw_buf *out)
{
    const struct pw_inventory *inventory = pw_report_targets_inventory(report);
    char text[32];

    md_summary(report, out);
    if (!inventory)
        return;
    pw_buf_puts(out, "\n| operator | nodes | shapes |");
    for (size_t t = 0; t < report->count; t++) {
        pw_buf_putc(out, ' ');
        pw_report_md_cell(out, report->targets[t].target);
        pw_buf_puts(out, ": coverage | error | verdict | speed |");
    }
    pw_buf_puts(out, "\n|---|---:|---|");
    for (size_t t = 0; t < report->count; t++)
        pw_buf_puts(out, "---|---:|---|---:|");
    pw_buf_putc(out, '\n');
    for (size_t i = 0; i < inventory->signature_count; i++) {
        if (!was_run(report, i))
            continue;
        pw_buf_puts(out, "| ");
        pw_report_md_cell(out, inventory->signatures[i].op_label);
        pw_buf_printf(out, " | %zu | ", inventory->signatures[i].node_count);
        pw_report_md_cell(out, inventory->signatures[i].shapes);
        pw_buf_puts(out, " |");
        for (size_t t = 0; t < report->count; t++) {
            struct pw_target_cell cell = pw_report_target_cell(report, i, t);

            pw_buf_printf(out, " %s | %s | %s%s%s |", cell.coverage, number(cell.error, text, sizeof text),
                          cell.row && !cell.good ? "**" : "", cell.verdict, cell.row && !cell.good ? "**" : "");
            pw_buf_printf(out, " %s |", speed_text(cell.speed, text, sizeof text));
        }
        pw_buf_putc(out, '\n');
    }
}

/* ---- JSON ---- */

static json_t *json_cell(const struct pw_target_cell *cell)
{
    json_t *item;

    if (!cell->row)
        return json_null();
    item = json_object();
    json_object_set_new(item, "coverage", json_string(cell->coverage));
    json_object_set_new(item, "standing", json_string(pw_standing_name(cell->row->standing)));
    json_object_set_new(item, "good", json_boolean(cell->good));
    json_object_set_new(item, "worst_error", pw_report_json_real(cell->error));
    json_object_set_new(item, "tolerance", pw_report_json_real(cell->tolerance));
    json_object_set_new(item, "speed", pw_report_json_real(cell->speed));
    return item;
}

static json_t *json_set(const struct pw_report_targets *report)
{
    const struct pw_inventory *inventory = pw_report_targets_inventory(report);
    json_t *item = json_object(), *targets = json_array(), *rows = json_array();

    for (size_t t = 0; t < report->count; t++) {
        struct pw_target_summary s = pw_report_target_summary(report, t);
        json_t *target = json_object();

        json_object_set_new(target, "target", pw_report_json_text(report->targets[t].target));
        json_object_set_new(target, "error",
                            report->targets[t].check ? json_null() : pw_report_json_text(report->targets[t].error));
        json_object_set_new(target, "held", json_integer((json_int_t)s.held));
        json_object_set_new(target, "failed", json_integer((json_int_t)s.failed));
        json_object_set_new(target, "lacks", json_integer((json_int_t)s.missing));
        json_object_set_new(target, "worst_error_of_tolerance", pw_report_json_real(s.worst_ratio));
        json_object_set_new(target, "speed", pw_report_json_real(s.speed));
        json_array_append_new(targets, target);
    }
    for (size_t i = 0; inventory && i < inventory->signature_count; i++) {
        json_t *row, *cells;

        if (!was_run(report, i))
            continue;
        row = json_object();
        cells = json_array();
        for (size_t t = 0; t < report->count; t++) {
            struct pw_target_cell cell = pw_report_target_cell(report, i, t);

            json_array_append_new(cells, json_cell(&cell));
        }
        json_object_set_new(row, "signature", json_string(inventory->signatures[i].id));
        json_object_set_new(row, "operator", pw_report_json_text(inventory->signatures[i].op_label));
        json_object_set_new(row, "differs", json_boolean(pw_report_targets_differ(report, i)));
        json_object_set_new(row, "on", cells);
        json_array_append_new(rows, row);
    }
    json_object_set_new(item, "targets", targets);
    json_object_set_new(item, "signatures", rows);
    return item;
}

struct json_t *pw_report_checks_begin(void)
{
    json_t *root = json_pack("{s:i, s:s}", "schema", 1, "kind", "checks");

    json_object_set_new(root, "runs", json_array());
    json_object_set_new(root, "comparisons", json_array());
    return root;
}

void pw_report_checks_add(struct json_t *root, const struct pw_report_targets *set)
{
    for (size_t t = 0; t < set->count; t++)
        if (set->targets[t].check)
            json_array_append_new(json_object_get(root, "runs"), pw_report_check_json_value(set->targets[t].check));
    json_array_append_new(json_object_get(root, "comparisons"), json_set(set));
}

pw_status pw_report_checks_end(struct json_t *root, struct pw_buf *out, struct pw_error *err)
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
