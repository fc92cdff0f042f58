#include "report/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/check.h"

/* ---- shared ---- */

void pw_report_run_name(const struct pw_report_run *report, const struct pw_endtoend_node *row, struct pw_buf *out)
{
    const struct pw_node *node = row->node;

    if (!node) {
        const struct pw_pattern *pattern = &report->inventory->patterns[row->pattern];

        node = pattern->nodes[0];
        pw_buf_printf(out, "%s at ", pw_pattern_name(pattern->kind));
    }
    if (node->name[0])
        pw_buf_puts(out, node->name);
    else if (node->graph && node->graph->owner)
        pw_buf_printf(out, "%s#%zu", node->graph->owner->name, node->index);
    else
        pw_buf_printf(out, "#%zu", node->index);
}

const char *pw_report_run_op(const struct pw_report_run *report, const struct pw_endtoend_node *row)
{
    (void)report;
    return row->node ? row->node->op_type : "pattern";
}

static int by_damage(const void *a, const void *b)
{
    const struct pw_sweep_layer *x = *(const struct pw_sweep_layer *const *)a,
                                *y = *(const struct pw_sweep_layer *const *)b;

    return (x->worst < y->worst) - (x->worst > y->worst);
}

const struct pw_sweep_layer **pw_report_run_ranked(const struct pw_report_run *report)
{
    const struct pw_sweep_layer **ranked = pw_calloc(report->layer_count + 1, sizeof *ranked);

    for (size_t i = 0; ranked && i < report->layer_count; i++)
        ranked[i] = report->layers[i];
    if (ranked)
        qsort(ranked, report->layer_count, sizeof *ranked, by_damage);
    return ranked;
}

const char *pw_report_run_advice(const struct pw_sweep_layer *layer)
{
    for (int d = 0; d < PW_SWEEP_DTYPES; d++)
        if (layer->cells[d].dtype != PW_DTYPE_FLOAT32 && layer->cells[d].ran && layer->cells[d].held)
            return pw_dtype_name(layer->cells[d].dtype);
    return "float32";
}

static const char *number(char *dst, size_t size, bool known, double value)
{
    if (!known || isnan(value))
        snprintf(dst, size, "-");
    else if (isinf(value))
        snprintf(dst, size, "inf");
    else if (value == 0)
        snprintf(dst, size, "0");
    else
        snprintf(dst, size, "%.2g", value);
    return dst;
}

static bool compared(const struct pw_comparison *comparison)
{
    return comparison->worst >= 0;
}

/* ---- text ---- */

static void put_number(struct pw_buf *out, bool known, double value)
{
    char text[24];

    pw_text_cell(out, number(text, sizeof text, known, value), 9, true);
}

static void put_time(struct pw_buf *out, int64_t time_ns)
{
    char text[32] = "-";

    if (time_ns)
        pw_text_duration(text, sizeof text, (double)time_ns / 1e9);
    pw_text_cell(out, text, 9, true);
}

static const char *paint(pw_node_standing standing, bool color)
{
    if (!color)
        return "";
    switch (standing) {
    case PW_NODE_CULPRIT:
    case PW_NODE_FAILED:
        return "\033[1;31m";
    case PW_NODE_VICTIM:
    case PW_NODE_DRIFT:
        return "\033[33m";
    default:
        return "\033[32m";
    }
}

static void put_name(const struct pw_report_run *report, const struct pw_endtoend_node *row, size_t width,
                     struct pw_buf *out)
{
    struct pw_buf name = {0};

    pw_report_run_name(report, row, &name);
    pw_text_cell(out, pw_buf_text(&name), width, false);
    pw_buf_clear(&name);
}

static void text_node(const struct pw_report_run *report, const struct pw_endtoend_node *row, size_t width, bool color,
                      struct pw_buf *out)
{
    put_name(report, row, width, out);
    pw_buf_putc(out, ' ');
    pw_text_cell(out, pw_report_run_op(report, row), 14, false);
    pw_buf_putc(out, ' ');
    pw_text_cell(out, row->on_target ? "target" : "host", 6, false);
    pw_buf_putc(out, ' ');
    pw_text_cell(out, row->dtype == PW_DTYPE_UNDEFINED ? "" : pw_dtype_facts(row->dtype)->short_name, 4, false);
    put_time(out, row->time_ns);
    put_number(out, row->has_isolated, row->isolated.max_error);
    put_number(out, row->has_isolated, row->tolerance);
    put_number(out, compared(&row->propagated), row->propagated.max_error);
    put_number(out, compared(&row->propagated), row->allowed);
    pw_buf_printf(out, "  %s%s%s", paint(row->standing, color), pw_node_standing_name(row->standing),
                  color ? "\033[0m" : "");
    if (row->nonfinite_origin)
        pw_buf_puts(out, " NaN/Inf begins");
    if (row->runs > 1)
        pw_buf_printf(out, " (%zu runs)", row->runs);
    pw_buf_putc(out, '\n');
}

static void text_nodes(const struct pw_report_run *report, int width, bool color, struct pw_buf *out)
{
    size_t name = width > 119 ? (size_t)width - 89 : 30;
    bool any = false;

    name = name > 60 ? 60 : name;
    for (size_t i = 0; i < report->node_count; i++) {
        const struct pw_endtoend_node *row = report->nodes[i];

        if (!report->all && row->standing == PW_NODE_HELD && !row->nonfinite_origin)
            continue;
        if (!any) {
            pw_text_cell(out, "node", name, false);
            pw_buf_puts(out, " operator       where  type     time      own tolerance  arrived  allowed  standing\n");
        }
        any = true;
        text_node(report, row, name, color, out);
    }
    if (any)
        pw_buf_putc(out, '\n');
}

#define SLOWEST 5 /* nodes that text names */

static int by_node_time(const void *a, const void *b)
{
    const struct pw_endtoend_node *x = *(const struct pw_endtoend_node *const *)a,
                                  *y = *(const struct pw_endtoend_node *const *)b;

    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? 1 : -1;
    return (x->position > y->position) - (x->position < y->position);
}

/* Where the time of the nodes goes. */
static void text_times(const struct pw_report_run *report, struct pw_buf *out)
{
    const struct pw_endtoend_totals *t = &report->totals;
    double total = (double)t->nodes_target_ns + (double)t->nodes_host_ns;
    const struct pw_endtoend_node **sorted = pw_calloc(report->node_count + 1, sizeof *sorted);
    char a[32], b[32], safe[96];

    if (!sorted || total <= 0) {
        pw_free(sorted);
        return;
    }
    for (size_t i = 0; i < report->node_count; i++)
        sorted[i] = report->nodes[i];
    qsort(sorted, report->node_count, sizeof *sorted, by_node_time);
    pw_buf_printf(out, "times of the nodes: %s on the target, %s on the host",
                  pw_text_duration(a, sizeof a, (double)t->nodes_target_ns / 1e9),
                  pw_text_duration(b, sizeof b, (double)t->nodes_host_ns / 1e9));
    for (size_t i = 0; i < report->node_count && i < SLOWEST && sorted[i]->time_ns; i++) {
        struct pw_buf name = {0};

        pw_report_run_name(report, sorted[i], &name);
        pw_buf_printf(out, "%s '%s' %.1f %%",
                      i ? "," : "; most:", pw_text_show(safe, sizeof safe, pw_buf_text(&name), 60),
                      100 * (double)sorted[i]->time_ns / total);
        pw_buf_clear(&name);
    }
    pw_buf_puts(
        out, "\n(on the target from the first launch until the device is idle, tensors and packed weights being "
             "there: the least of up to five;\non the host the reference once; other work may run beside: portwright "
             "bench measures quietly)\n");
    pw_free(sorted);
}

static const struct pw_endtoend_node *row_of(const struct pw_report_run *report, const struct pw_node *node)
{
    for (size_t i = 0; node && i < report->node_count; i++)
        if (report->nodes[i]->node == node)
            return report->nodes[i];
    return NULL;
}

static void text_finding(const struct pw_report_run *report, const char *what, const struct pw_endtoend_node *row,
                         struct pw_buf *out)
{
    struct pw_buf safe = {0}, name = {0};

    if (!row)
        return;
    pw_report_run_name(report, row, &name);
    pw_text_display(&safe, pw_buf_text(&name), name.size, 0, false);
    pw_buf_printf(out, "%s '%s' (%s)", what, pw_buf_text(&safe), pw_report_run_op(report, row));
    pw_buf_clear(&safe);
    pw_text_display(&safe, row->reason, strlen(row->reason), 0, false);
    pw_buf_printf(out, "%s%s\n", safe.size ? ": " : "", pw_buf_text(&safe));
    pw_buf_clear(&safe);
    pw_buf_clear(&name);
}

/* A pattern is no finding of its own where a node of it is the same one. */
static bool is_explained(const struct pw_report_run *report, const struct pw_endtoend_node *row)
{
    const struct pw_pattern *pattern = row->node ? NULL : &report->inventory->patterns[row->pattern];

    for (size_t n = 0; pattern && n < pattern->node_count; n++) {
        const struct pw_endtoend_node *member = row_of(report, pattern->nodes[n]);

        if (member && member->standing == row->standing)
            return true;
    }
    return false;
}

static void text_findings(const struct pw_report_run *report, struct pw_buf *out)
{
    const struct pw_endtoend_totals *t = &report->totals;

    text_finding(report, "first divergence:", row_of(report, t->first_divergence), out);
    if (t->nonfinite_origin)
        text_finding(report, "NaN or Inf on one side begins at", row_of(report, t->nonfinite_origin), out);
    if (t->reference_nan)
        text_finding(report, "the reference itself makes a NaN at", row_of(report, t->reference_nan), out);
    for (size_t i = 0; i < report->node_count; i++)
        if ((report->nodes[i]->standing == PW_NODE_CULPRIT || report->nodes[i]->standing == PW_NODE_FAILED) &&
            !is_explained(report, report->nodes[i]))
            text_finding(report, report->nodes[i]->standing == PW_NODE_FAILED ? "failed" : "culprit", report->nodes[i],
                         out);
    pw_buf_printf(out, "%zu nodes: %zu culprits, %zu victims, %zu drifting, %zu failed\n", t->nodes, t->culprits,
                  t->victims, t->drifts, t->failed);
}

static void text_outputs(const struct pw_report_run *report, bool color, struct pw_buf *out)
{
    bool file = false;

    for (size_t i = 0; i < report->output_count; i++)
        file |= report->outputs[i]->has_file;
    pw_text_cell(out, "output", 30, false);
    pw_buf_printf(out, "%9s%9s%9s%s  standing\n", "error", "allowed", "NMSE", file ? "   to file  golden to file" : "");
    for (size_t i = 0; i < report->output_count; i++) {
        const struct pw_endtoend_output *o = report->outputs[i];
        struct pw_buf safe = {0};

        pw_text_cell(out, o->name, 30, false);
        put_number(out, compared(&o->golden), o->golden.max_error);
        put_number(out, true, o->tolerance);
        put_number(out, compared(&o->golden), o->golden.nmse);
        if (file) {
            put_number(out, o->has_file && compared(&o->file), o->file.max_error);
            pw_buf_puts(out, "       ");
            put_number(out, o->has_file && compared(&o->file_golden), o->file_golden.max_error);
        }
        pw_text_display(&safe, o->reason, strlen(o->reason), 0, false);
        pw_buf_printf(out, "  %s%s%s%s%s\n", paint(o->held ? PW_NODE_HELD : PW_NODE_CULPRIT, color),
                      o->held ? "held" : "FAILED", color ? "\033[0m" : "", safe.size ? ": " : "", pw_buf_text(&safe));
        pw_buf_clear(&safe);
    }
}

static void text_inputs(const struct pw_report_run *report, struct pw_buf *out)
{
    const struct pw_inputs *inputs = report->inputs;

    for (size_t i = 0; inputs && i < inputs->count; i++) {
        struct pw_buf shape = {0};
        char name[120], source[200];

        if (inputs->values[i].kind == PW_VALUE_TENSOR)
            pw_tensor_describe(&inputs->values[i].tensor, &shape);
        pw_buf_printf(out, "  %s %s: %s\n",
                      pw_text_show(name, sizeof name, inputs->graph->values[inputs->ids[i]].name, 60),
                      pw_buf_text(&shape),
                      pw_text_show(source, sizeof source, inputs->sources[i] ? inputs->sources[i] : "absent", 120));
        pw_buf_clear(&shape);
    }
}

static void text_layers(const struct pw_report_run *report, int width, struct pw_buf *out)
{
    const struct pw_sweep_layer **ranked = pw_report_run_ranked(report);
    size_t name = width > 90 ? (size_t)width - 60 : 34;

    name = name > 70 ? 70 : name;
    pw_text_cell(out, "layer", name, false);
    pw_buf_puts(out, " nodes   float16 bfloat16  float32  narrowest that holds\n");
    for (size_t i = 0; ranked && i < report->layer_count; i++) {
        char count[24];

        pw_text_cell(out, ranked[i]->name, name, false);
        snprintf(count, sizeof count, "%zu", ranked[i]->node_count);
        pw_text_cell(out, count, 6, true);
        pw_buf_putc(out, ' ');
        for (int d = 0; d < PW_SWEEP_DTYPES; d++)
            put_number(out, ranked[i]->cells[d].ran, ranked[i]->cells[d].damage);
        pw_buf_printf(out, "  %s\n", pw_report_run_advice(ranked[i]));
    }
    pw_buf_puts(out,
                "damage: relative root mean square error at the worst output against the graph in double; sums "
                "accumulate in float32.\nA dtype holds when every output keeps to the protocol's tolerance for its "
                "name, else when it is as good as one\nstored in that dtype.\n");
    if (ranked)
        pw_report_run_rules(report, ranked, out);
    pw_free(ranked);
}

static void outcome(const struct pw_report_run *report, struct pw_buf *out)
{
    const struct pw_endtoend_totals *t = &report->totals;

    if (report->mode == PW_ENDTOEND_SWEEP) {
        pw_buf_printf(out, "%zu layers measured", t->layers);
        return;
    }
    pw_buf_printf(out, "%zu outputs: %zu held, %zu failed", t->outputs, t->outputs - t->outputs_failed,
                  t->outputs_failed);
    if (report->mode == PW_ENDTOEND_NODES && t->culprits)
        pw_buf_printf(out, "; %zu culprits", t->culprits);
    if (t->failed)
        pw_buf_printf(out, "; %zu failed on the target", t->failed);
    pw_buf_puts(out, t->held ? ". Held" : ". FAILED");
}

static void text_figures(const struct pw_report_run *report, struct pw_buf *out)
{
    const struct pw_endtoend_totals *t = &report->totals;
    char a[32], b[32];

    pw_buf_printf(out, "%zu nodes on the target, %zu on the host", t->target_nodes, t->host_nodes);
    if (t->cast_nodes)
        pw_buf_printf(out, ", %zu in the protocol's dtypes", t->cast_nodes);
    pw_buf_printf(out, "; values of both sides took %s at most (the graph's live tensors: %s)\n",
                  pw_text_bytes(a, sizeof a, (double)t->peak_bytes), pw_text_bytes(b, sizeof b, (double)t->live_bytes));
    if (t->target_ns)
        pw_buf_printf(out,
                      "wall time: %s, median of %d runs, node by node through host memory; the fast reference %s\n",
                      pw_text_duration(a, sizeof a, (double)t->target_ns / 1e9), t->timed_runs,
                      pw_text_duration(b, sizeof b, (double)t->reference_ns / 1e9));
}

void pw_report_run_text(const struct pw_report_run *report, int width, bool color, struct pw_buf *out)
{
    char safe[400];

    pw_buf_printf(out, "%s", pw_text_show(safe, sizeof safe, report->model_path, 300));
    pw_buf_printf(out, " on %s", pw_text_show(safe, sizeof safe, report->target, 200));
    pw_buf_printf(out, " (%s)", pw_text_show(safe, sizeof safe, report->device, 120));
    if (report->bindings[0])
        pw_buf_printf(out, ", %s", pw_text_show(safe, sizeof safe, report->bindings, 200));
    pw_buf_printf(out, ", seed %" PRIu64 "\n", report->seed);
    text_inputs(report, out);
    pw_buf_putc(out, '\n');
    if (report->mode == PW_ENDTOEND_NODES) {
        text_nodes(report, width, color, out);
        text_findings(report, out);
        text_times(report, out);
        pw_buf_putc(out, '\n');
    }
    if (report->mode == PW_ENDTOEND_SWEEP) {
        text_layers(report, width, out);
    } else {
        text_outputs(report, color, out);
        text_figures(report, out);
    }
    outcome(report, out);
    pw_buf_putc(out, '\n');
}

/* ---- Markdown ---- */

static void md_number(struct pw_buf *out, bool known, double value)
{
    char text[24];

    pw_buf_printf(out, " %s |", number(text, sizeof text, known, value));
}

static void md_nodes(const struct pw_report_run *report, struct pw_buf *out)
{
    pw_buf_puts(out,
                "\n| node | operator | where | dtype | time | own error | tolerance | arrived | allowed | standing |\n"
                "|---|---|---|---|---:|---:|---:|---:|---:|---|\n");
    for (size_t i = 0; i < report->node_count; i++) {
        const struct pw_endtoend_node *row = report->nodes[i];
        struct pw_buf name = {0};
        char time[32];

        pw_report_run_name(report, row, &name);
        pw_buf_puts(out, "| ");
        pw_report_md_cell(out, pw_buf_text(&name));
        pw_buf_puts(out, " | ");
        pw_report_md_cell(out, pw_report_run_op(report, row));
        pw_buf_printf(out, " | %s | %s | %s |", row->on_target ? "target" : "host",
                      row->dtype == PW_DTYPE_UNDEFINED ? "" : pw_dtype_name(row->dtype),
                      row->time_ns ? pw_text_duration(time, sizeof time, (double)row->time_ns / 1e9) : "");
        md_number(out, row->has_isolated, row->isolated.max_error);
        md_number(out, row->has_isolated, row->tolerance);
        md_number(out, compared(&row->propagated), row->propagated.max_error);
        md_number(out, compared(&row->propagated), row->allowed);
        pw_buf_printf(out, " %s |\n", pw_node_standing_name(row->standing));
        pw_buf_clear(&name);
    }
}

static void md_layers(const struct pw_report_run *report, struct pw_buf *out)
{
    const struct pw_sweep_layer **ranked = pw_report_run_ranked(report);

    pw_buf_puts(out, "\n| layer | nodes | float16 | bfloat16 | float32 | narrowest that holds |\n"
                     "|---|---:|---:|---:|---:|---|\n");
    for (size_t i = 0; ranked && i < report->layer_count; i++) {
        pw_buf_puts(out, "| ");
        pw_report_md_cell(out, ranked[i]->name);
        pw_buf_printf(out, " | %zu |", ranked[i]->node_count);
        for (int d = 0; d < PW_SWEEP_DTYPES; d++)
            md_number(out, ranked[i]->cells[d].ran, ranked[i]->cells[d].damage);
        pw_buf_printf(out, " %s |\n", pw_report_run_advice(ranked[i]));
    }
    pw_free(ranked);
}

static void md_outputs(const struct pw_report_run *report, struct pw_buf *out)
{
    pw_buf_puts(out, "\n| output | error | allowed | NMSE | to file | golden to file | standing |\n"
                     "|---|---:|---:|---:|---:|---:|---|\n");
    for (size_t i = 0; i < report->output_count; i++) {
        const struct pw_endtoend_output *o = report->outputs[i];

        pw_buf_puts(out, "| ");
        pw_report_md_cell(out, o->name);
        pw_buf_puts(out, " |");
        md_number(out, compared(&o->golden), o->golden.max_error);
        md_number(out, true, o->tolerance);
        md_number(out, compared(&o->golden), o->golden.nmse);
        md_number(out, o->has_file && compared(&o->file), o->file.max_error);
        md_number(out, o->has_file && compared(&o->file_golden), o->file_golden.max_error);
        pw_buf_printf(out, " %s |\n", o->held ? "held" : "FAILED");
    }
}

void pw_report_run_md(const struct pw_report_run *report, struct pw_buf *out)
{
    pw_buf_puts(out, "# Run of ");
    pw_report_md_cell(out, report->model_path);
    pw_buf_puts(out, "\n\nOn ");
    pw_report_md_cell(out, report->target);
    pw_buf_puts(out, " (");
    pw_report_md_cell(out, report->device);
    pw_buf_printf(out, "), seed %" PRIu64 ".\n", report->seed);
    if (report->mode == PW_ENDTOEND_NODES)
        md_nodes(report, out);
    if (report->mode == PW_ENDTOEND_SWEEP)
        md_layers(report, out);
    else
        md_outputs(report, out);
    pw_buf_putc(out, '\n');
    outcome(report, out);
    pw_buf_puts(out, ".\n");
}

/* ---- CSV ---- */

static void csv_number(struct pw_buf *out, bool known, double value)
{
    if (known && !isnan(value))
        pw_buf_printf(out, "%.9g", value);
    pw_buf_putc(out, ',');
}

/* The last columns: of several targets and binding sets, which one the row is of. */
static void csv_whose(const struct pw_report_run *report, struct pw_buf *out)
{
    pw_report_csv_field(out, report->target, false);
    pw_report_csv_field(out, report->bindings, true);
}

static void csv_nodes(const struct pw_report_run *report, struct pw_buf *out)
{
    pw_buf_puts(out, "position,node,operator,where,implementation,dtype,runs,own_error,tolerance,arrived,allowed,"
                     "standing,nonfinite_origin,time_ns,reason,target,dims\r\n");
    for (size_t i = 0; i < report->node_count; i++) {
        const struct pw_endtoend_node *row = report->nodes[i];
        struct pw_buf name = {0};

        pw_report_run_name(report, row, &name);
        pw_buf_printf(out, "%zu,", row->position);
        pw_report_csv_field(out, pw_buf_text(&name), false);
        pw_report_csv_field(out, pw_report_run_op(report, row), false);
        pw_report_csv_field(out, row->on_target ? "target" : "host", false);
        pw_report_csv_field(out, row->implementation, false);
        pw_report_csv_field(out, row->dtype == PW_DTYPE_UNDEFINED ? "" : pw_dtype_name(row->dtype), false);
        pw_buf_printf(out, "%zu,", row->runs);
        csv_number(out, row->has_isolated, row->isolated.max_error);
        csv_number(out, row->has_isolated, row->tolerance);
        csv_number(out, compared(&row->propagated), row->propagated.max_error);
        csv_number(out, compared(&row->propagated), row->allowed);
        pw_report_csv_field(out, pw_node_standing_name(row->standing), false);
        pw_buf_printf(out, "%d,", row->nonfinite_origin);
        if (row->time_ns)
            pw_buf_printf(out, "%" PRId64, row->time_ns);
        pw_buf_putc(out, ',');
        pw_report_csv_field(out, row->reason, false);
        csv_whose(report, out);
        pw_buf_clear(&name);
    }
}

static void csv_layers(const struct pw_report_run *report, struct pw_buf *out)
{
    const struct pw_sweep_layer **ranked = pw_report_run_ranked(report);

    pw_buf_puts(out, "layer,nodes,dtype,ran,damage,max_error,flips,held,on_target,on_host,target,dims\r\n");
    for (size_t i = 0; ranked && i < report->layer_count; i++)
        for (int d = 0; d < PW_SWEEP_DTYPES; d++) {
            const struct pw_sweep_cell *cell = &ranked[i]->cells[d];

            pw_report_csv_field(out, ranked[i]->name, false);
            pw_buf_printf(out, "%zu,%s,%d,", ranked[i]->node_count, pw_dtype_name(cell->dtype), cell->ran);
            csv_number(out, cell->ran, cell->damage);
            csv_number(out, cell->ran, cell->max_error);
            pw_buf_printf(out, "%" PRId64 ",%d,%zu,%zu,", cell->flips, cell->held, cell->on_target, cell->on_host);
            csv_whose(report, out);
        }
    pw_free(ranked);
}

static void csv_outputs(const struct pw_report_run *report, struct pw_buf *out)
{
    pw_buf_puts(out, "output,error,allowed,nmse,cosine,file_error,file_golden_error,held,reason,target,dims\r\n");
    for (size_t i = 0; i < report->output_count; i++) {
        const struct pw_endtoend_output *o = report->outputs[i];

        pw_report_csv_field(out, o->name, false);
        csv_number(out, compared(&o->golden), o->golden.max_error);
        csv_number(out, true, o->tolerance);
        csv_number(out, compared(&o->golden), o->golden.nmse);
        csv_number(out, compared(&o->golden), o->golden.cosine);
        csv_number(out, o->has_file && compared(&o->file), o->file.max_error);
        csv_number(out, o->has_file && compared(&o->file_golden), o->file_golden.max_error);
        pw_buf_printf(out, "%d,", o->held);
        pw_report_csv_field(out, o->reason, false);
        csv_whose(report, out);
    }
}

void pw_report_run_csv(const struct pw_report_run *report, struct pw_buf *out)
{
    if (report->mode == PW_ENDTOEND_NODES)
        csv_nodes(report, out);
    else if (report->mode == PW_ENDTOEND_SWEEP)
        csv_layers(report, out);
    else
        csv_outputs(report, out);
}
