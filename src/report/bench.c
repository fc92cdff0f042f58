#include "report/bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/check.h"

#define OP_WIDTH 20

struct cells { /* one row as text; "-" unknown */
    char nodes[16], time[24], interval[48], reference[48], speed[24], speed_interval[32], flops[24], bytes[24];
    char share[16], bound[24];
};

static void rate(char *dst, size_t size, double value, double scale)
{
    if (isnan(value) || value <= 0)
        snprintf(dst, size, "-");
    else
        snprintf(dst, size, value / scale < 0.1 ? "%.1g" : "%.3g", value / scale);
}

static void fill_cells(const struct pw_report_bench *report, const struct pw_bench_figure *f, struct cells *c)
{
    char a[24], b[24];

    memset(c, 0, sizeof *c);
    snprintf(c->nodes, sizeof c->nodes, "%zu", report->inventory->signatures[f->signature].node_count);
    snprintf(c->time, sizeof c->time, "-");
    snprintf(c->interval, sizeof c->interval, "-");
    snprintf(c->reference, sizeof c->reference, "-");
    snprintf(c->speed, sizeof c->speed, "-");
    snprintf(c->speed_interval, sizeof c->speed_interval, "-");
    snprintf(c->share, sizeof c->share, "-");
    snprintf(c->bound, sizeof c->bound, "-");
    rate(c->flops, sizeof c->flops, f->flops_rate, 1e9);
    rate(c->bytes, sizeof c->bytes, f->bytes_rate, 1e9);
    if (f->target.count == 0)
        return;
    pw_text_duration(c->time, sizeof c->time, f->target.median * 1e-9);
    snprintf(c->interval, sizeof c->interval, "%s .. %s", pw_text_duration(a, sizeof a, f->target.low * 1e-9),
             pw_text_duration(b, sizeof b, f->target.high * 1e-9));
    if (f->reference.count)
        snprintf(c->reference, sizeof c->reference, "%s %s", pw_text_duration(a, sizeof a, f->reference.median * 1e-9),
                 f->reference_name);
    if (!isnan(f->speedup.value)) {
        int digits = f->speedup.high < 10 ? 2 : f->speedup.high < 100 ? 1 : 0;

        snprintf(c->speed, sizeof c->speed, "%.*fx", digits, f->speedup.value);
        snprintf(c->speed_interval, sizeof c->speed_interval, "%.*f..%.*f", digits, f->speedup.low, digits,
                 f->speedup.high);
    }
    if (f->roof.share >= 10)
        snprintf(c->share, sizeof c->share, ">999 %%");
    else if (!isnan(f->roof.share))
        snprintf(c->share, sizeof c->share, "%.0f %%", 100 * f->roof.share);
    if (f->roof.bound != PW_BOUND_UNKNOWN)
        snprintf(c->bound, sizeof c->bound, "%s%s%s", pw_bound_name(f->roof.bound),
                 f->roof.bound == PW_BOUND_MEMORY && f->roof.level ? " " : "",
                 f->roof.bound == PW_BOUND_MEMORY && f->roof.level ? f->roof.level : "");
}

/* ---- text ---- */

static void put_cell(struct pw_buf *out, const char *text, size_t width, bool right)
{
    pw_text_cell(out, text, width, right);
    pw_buf_putc(out, ' ');
}

static void put_safe(struct pw_buf *out, const char *text)
{
    pw_text_display(out, text, strlen(text), 0, false);
}

static void text_row(const struct pw_report_bench *report, const struct pw_bench_figure *f, size_t shapes,
                     struct pw_buf *out)
{
    const struct pw_signature *s = &report->inventory->signatures[f->signature];
    struct cells c;

    fill_cells(report, f, &c);
    put_cell(out, s->op_label, OP_WIDTH, false);
    put_cell(out, c.nodes, 3, true);
    if (shapes)
        put_cell(out, s->shapes, shapes, false);
    if (f->skipped) {
        pw_buf_puts(out, "not timed: ");
        pw_text_display(out, f->skipped, strlen(f->skipped), 70, false);
        pw_buf_putc(out, '\n');
        return;
    }
    put_cell(out, c.time, 8, true);
    put_cell(out, c.interval, 20, true);
    put_cell(out, c.reference, 17, true);
    put_cell(out, c.speed, 6, true);
    put_cell(out, c.speed_interval, 11, true);
    put_cell(out, c.flops, 7, true);
    put_cell(out, c.bytes, 6, true);
    put_cell(out, c.share, 6, true);
    pw_buf_puts(out, c.bound);
    pw_buf_puts(out, f->suspicion ? "  NOT BELIEVED\n" : "\n");
}

static void text_suspicions(const struct pw_report_bench *report, struct pw_buf *out)
{
    for (size_t i = 0; i < report->bench->count; i++) {
        const struct pw_bench_figure *f = &report->bench->figures[i];
        const struct pw_signature *s = &report->inventory->signatures[f->signature];

        if (!f->suspicion)
            continue;
        pw_buf_puts(out, "\nnot believed: ");
        put_safe(out, s->op_label);
        pw_buf_putc(out, ' ');
        put_safe(out, s->shapes);
        pw_buf_puts(out, "\n  ");
        put_safe(out, f->suspicion);
        pw_buf_puts(out, "\n  ");
        put_safe(out, f->verified ? f->verified : "not verified again");
        pw_buf_putc(out, '\n');
    }
}

static void text_advice(const struct pw_report_bench *report, struct pw_buf *out)
{
    for (size_t i = 0; i < report->bench->count; i++) {
        const struct pw_bench_figure *f = &report->bench->figures[i];
        const struct pw_signature *s = &report->inventory->signatures[f->signature];

        if (!f->advice_count)
            continue;
        pw_buf_putc(out, '\n');
        put_safe(out, s->op_label);
        pw_buf_putc(out, ' ');
        put_safe(out, s->shapes);
        if (f->name[0]) {
            pw_buf_puts(out, "  by ");
            put_safe(out, f->name);
        }
        pw_buf_putc(out, '\n');
        for (size_t k = 0; k < f->advice_count; k++) {
            pw_buf_puts(out, "  - ");
            put_safe(out, f->advice[k].what);
            pw_buf_puts(out, "\n    ");
            put_safe(out, f->advice[k].figures);
            pw_buf_putc(out, '\n');
        }
    }
}

/* How the figures were taken, in sentences; each ends with `end`. */
static void circumstances(const struct pw_report_bench *report, const char *end, struct pw_buf *out)
{
    const struct pw_bench_report *b = report->bench;
    char a[24], c[24];

    if (b->cold)
        pw_buf_printf(out, "cold caches: every core passed over %s before each timed run%s",
                      pw_text_bytes(a, sizeof a, (double)b->flush_bytes), end);
    else
        pw_buf_printf(out, "hot caches: a run may find what the one before it left%s", end);
    pw_buf_printf(out,
                  "medians of slices with their 95 %% intervals; every timed run has other inputs than the one before "
                  "it; target and reference in turns%s",
                  end);
    pw_buf_printf(out, "nothing is subtracted: reading the clock takes %s",
                  pw_text_duration(a, sizeof a, b->timer_ns * 1e-9));
    if (isnan(b->launch_ns))
        pw_buf_printf(out, ", an empty launch is not known%s", end);
    else
        pw_buf_printf(out, ", an empty launch %s%s", pw_text_duration(c, sizeof c, b->launch_ns * 1e-9), end);
    pw_buf_printf(out, "%d slices in %s%s, %d begun beside other work%s", b->slices,
                  pw_text_duration(a, sizeof a, (double)b->elapsed_ns * 1e-9),
                  b->budget_ns && b->elapsed_ns > b->budget_ns * 11 / 10 ? " (nine each take longer than the budget)"
                                                                         : "",
                  b->busy_slices, end);
    if (b->lock_note[0])
        pw_buf_printf(out, "%s%s", b->lock_note, end);
    if (b->peaks_why)
        pw_buf_printf(out, "no roofline: %s%s", b->peaks_why, end);
    else if (b->peaks_rounds > 1)
        pw_buf_printf(
            out, "the roof was measured %d times, before the figures and after them: the best of each level counts%s",
            b->peaks_rounds, end);
    else if (b->peaks_declared)
        pw_buf_printf(out, "the roof is what the target declares of itself%s", end);
    pw_buf_printf(
        out, "environment %s%s%s", report->environment->id,
        report->pin ? report->pin[0] ? ", not the one of portwright.lock" : ", as portwright.lock pins it" : "", end);
}

/* Figures of another environment than the pinned one are marked before anybody reads them. */
static void mark_environment(const struct pw_report_bench *report, bool md, struct pw_buf *out)
{
    if (!report->pin || !report->pin[0])
        return;
    pw_buf_puts(out, md ? "\n**" : "");
    pw_buf_puts(out,
                "NOT THE PINNED ENVIRONMENT: these figures do not compare with those taken in that of portwright.lock");
    pw_buf_puts(out, md ? "**\n\n" : "\n");
    for (const char *line = report->pin; *line;) {
        size_t length = strcspn(line, "\n");
        struct pw_buf text = {0};

        pw_buf_append(&text, line, length);
        pw_buf_puts(out, md ? "- " : "  ");
        if (md)
            pw_report_md_cell(out, pw_buf_text(&text));
        else
            put_safe(out, pw_buf_text(&text));
        pw_buf_putc(out, '\n');
        pw_buf_clear(&text);
        line += length + (line[length] == '\n');
    }
    pw_buf_puts(out, md ? "" : "\n");
}

void pw_report_bench_text(const struct pw_report_bench *report, int width, struct pw_buf *out)
{
    const int fixed = OP_WIDTH + 1 + 4 + 9 + 21 + 18 + 7 + 12 + 8 + 7 + 7 + 14;
    size_t shapes = width > fixed + 16 ? (size_t)(width - fixed - 1) : 0;

    shapes = shapes > 48 ? 48 : shapes;
    pw_buf_puts(out, "graph ");
    put_safe(out, report->model_path);
    pw_buf_printf(out, " (%.12s)\ntarget ", report->graph_id);
    put_safe(out, report->target);
    pw_buf_puts(out, ": ");
    put_safe(out, report->info ? report->info->name : "unknown");
    pw_buf_printf(out, "\ndims %s, seed %" PRIu64 "\n\n", report->bindings[0] ? report->bindings : "all fixed",
                  report->seed);
    mark_environment(report, false, out);
    put_cell(out, "operator", OP_WIDTH, false);
    put_cell(out, "n", 3, true);
    if (shapes)
        put_cell(out, "shapes", shapes, false);
    pw_buf_puts(out,
                "    time             interval         reference  speed    interval GFLOP/s   GB/s   roof bound by\n");
    for (size_t i = 0; i < report->bench->count; i++)
        text_row(report, &report->bench->figures[i], shapes, out);
    text_suspicions(report, out);
    if (report->advice)
        text_advice(report, out);
    pw_buf_putc(out, '\n');
    circumstances(report, "\n", out);
}

/* ---- Markdown ---- */

void pw_report_bench_md(const struct pw_report_bench *report, struct pw_buf *out)
{
    pw_buf_puts(out, "# Benchmark of ");
    pw_report_md_cell(out, report->model_path);
    pw_buf_puts(out, "\n\nTarget ");
    pw_report_md_cell(out, report->target);
    pw_buf_puts(out, ": ");
    pw_report_md_cell(out, report->info ? report->info->name : "unknown");
    pw_buf_putc(out, '\n');
    mark_environment(report, true, out);
    pw_buf_puts(out, "\n| operator | n | shapes | kernel | time | interval | reference | speed | interval | GFLOP/s | "
                     "GB/s | roof | bound by |\n"
                     "|---|---:|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n");
    for (size_t i = 0; i < report->bench->count; i++) {
        const struct pw_bench_figure *f = &report->bench->figures[i];
        const struct pw_signature *s = &report->inventory->signatures[f->signature];
        struct cells c;

        fill_cells(report, f, &c);
        const char *const cells[] = {s->op_label,
                                     c.nodes,
                                     s->shapes,
                                     f->skipped ? f->skipped : f->name,
                                     c.time,
                                     c.interval,
                                     c.reference,
                                     c.speed,
                                     c.speed_interval,
                                     c.flops,
                                     c.bytes,
                                     c.share,
                                     f->suspicion ? "NOT BELIEVED" : c.bound};
        for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) {
            pw_buf_puts(out, "| ");
            pw_report_md_cell(out, cells[k]);
            pw_buf_putc(out, ' ');
        }
        pw_buf_puts(out, "|\n");
    }
    for (size_t i = 0; i < report->bench->count; i++) {
        const struct pw_bench_figure *f = &report->bench->figures[i];

        if (!f->suspicion && !(report->advice && f->advice_count))
            continue;
        pw_buf_puts(out, "\n**");
        pw_report_md_cell(out, report->inventory->signatures[f->signature].op_label);
        pw_buf_puts(out, "** ");
        pw_report_md_cell(out, report->inventory->signatures[f->signature].shapes);
        pw_buf_putc(out, '\n');
        if (f->suspicion) {
            pw_buf_puts(out, "\n- not believed: ");
            pw_report_md_cell(out, f->suspicion);
            pw_buf_puts(out, "; ");
            pw_report_md_cell(out, f->verified ? f->verified : "not verified again");
            pw_buf_putc(out, '\n');
        } else {
            pw_buf_putc(out, '\n');
        }
        for (size_t k = 0; report->advice && k < f->advice_count; k++) {
            pw_buf_puts(out, "- ");
            pw_report_md_cell(out, f->advice[k].what);
            pw_buf_puts(out, " (");
            pw_report_md_cell(out, f->advice[k].figures);
            pw_buf_puts(out, ")\n");
        }
    }
    pw_buf_puts(out, "\n");
    circumstances(report, "  \n", out);
}

/* ---- CSV ---- */

static void csv_number(struct pw_buf *out, double value, bool last)
{
    if (isfinite(value))
        pw_buf_printf(out, "%.9g", value);
    pw_buf_puts(out, last ? "\r\n" : ",");
}

void pw_report_bench_csv(const struct pw_report_bench *report, struct pw_buf *out)
{
    pw_buf_puts(out, "signature,operator,shapes,nodes,implementation,cache,slices,target_ns,target_low_ns,"
                     "target_high_ns,reference,reference_ns,reference_low_ns,reference_high_ns,speedup,speedup_low,"
                     "speedup_high,flops,read_bytes,write_bytes,flops_per_s,bytes_per_s,level,roof_ns,roof_share,bound,"
                     "net_ns,believed,why,environment,pinned,target,dims\r\n");
    for (size_t i = 0; i < report->bench->count; i++) {
        const struct pw_bench_figure *f = &report->bench->figures[i];
        const struct pw_signature *s = &report->inventory->signatures[f->signature];
        bool timed = f->target.count > 0, compared = f->reference.count > 0;

        pw_report_csv_field(out, s->id, false);
        pw_report_csv_field(out, s->op_label, false);
        pw_report_csv_field(out, s->shapes, false);
        pw_buf_printf(out, "%zu,", s->node_count);
        pw_report_csv_field(out, f->name, false);
        pw_buf_printf(out, "%s,%d,", report->bench->cold ? "cold" : "hot", f->slices);
        csv_number(out, timed ? f->target.median : NAN, false);
        csv_number(out, timed ? f->target.low : NAN, false);
        csv_number(out, timed ? f->target.high : NAN, false);
        pw_report_csv_field(out, f->reference_name ? f->reference_name : "", false);
        csv_number(out, compared ? f->reference.median : NAN, false);
        csv_number(out, compared ? f->reference.low : NAN, false);
        csv_number(out, compared ? f->reference.high : NAN, false);
        csv_number(out, f->speedup.value, false);
        csv_number(out, f->speedup.low, false);
        csv_number(out, f->speedup.high, false);
        csv_number(out, f->flops, false);
        csv_number(out, timed ? f->read_bytes : NAN, false);
        csv_number(out, timed ? f->write_bytes : NAN, false);
        csv_number(out, f->flops_rate, false);
        csv_number(out, f->bytes_rate, false);
        pw_report_csv_field(out, f->roof.level ? f->roof.level : "", false);
        csv_number(out, f->roof.roof_ns, false);
        csv_number(out, f->roof.share, false);
        pw_report_csv_field(out, timed ? pw_bound_name(f->roof.bound) : "", false);
        csv_number(out, f->net_ns, false);
        pw_buf_puts(out, !timed ? "," : f->suspicion ? "no," : "yes,");
        pw_report_csv_field(out, f->skipped ? f->skipped : f->suspicion ? f->suspicion : "", false);
        pw_report_csv_field(out, report->environment->id, false);
        pw_report_csv_field(out, !report->pin ? "" : report->pin[0] ? "no" : "yes", false);
        pw_report_csv_field(out, report->target, false);
        pw_report_csv_field(out, report->bindings, true);
    }
}
