/* The benchmark's report as JSON, schema 1. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "report/bench.h"
#include "report/check.h"

static json_t *known_text(const char *text)
{
    return text && text[0] ? pw_report_json_text(text) : json_null();
}

static void set_real(json_t *to, const char *key, double value)
{
    json_object_set_new(to, key, pw_report_json_real(value));
}

static json_t *summary_json(const struct pw_stats_summary *s)
{
    json_t *out;

    if (s->count == 0)
        return json_null();
    out = json_object();
    set_real(out, "median_ns", s->median);
    set_real(out, "low_ns", s->low);
    set_real(out, "high_ns", s->high);
    set_real(out, "confidence", s->confidence);
    set_real(out, "spread_ns", s->spread);
    set_real(out, "min_ns", s->min);
    set_real(out, "max_ns", s->max);
    return out;
}

static json_t *samples_json(const struct pw_measure_result *raw, bool runs)
{
    json_t *out, *slices, *all;

    if (!raw || raw->failed || raw->slices < 1)
        return json_null();
    out = json_object();
    slices = json_array();
    for (int i = 0; i < raw->slices; i++)
        json_array_append_new(slices, pw_report_json_real(raw->slices_ns[i]));
    json_object_set_new(out, "slices_ns", slices);
    json_object_set_new(out, "runs_per_slice", json_integer(raw->runs_per_slice));
    if (runs) {
        all = json_array();
        for (int i = 0; i < raw->slices * raw->runs_per_slice; i++)
            json_array_append_new(all, json_integer(raw->runs_ns[i]));
        json_object_set_new(out, "runs_ns", all);
    }
    return out;
}

static json_t *roof_json(const struct pw_bench_figure *f)
{
    json_t *out = json_object();

    json_object_set_new(out, "level", known_text(f->roof.level));
    set_real(out, "compute_ns", f->roof.compute_ns);
    set_real(out, "memory_ns", f->roof.memory_ns);
    set_real(out, "roof_ns", f->roof.roof_ns);
    set_real(out, "share", f->roof.share);
    json_object_set_new(out, "bound", json_string(pw_bound_name(f->roof.bound)));
    json_object_set_new(out, "above", json_boolean(f->roof.above));
    return out;
}

static json_t *advice_json(const struct pw_bench_figure *f)
{
    json_t *out = json_array();

    for (size_t i = 0; i < f->advice_count; i++)
        json_array_append_new(out, json_pack("{s:s, s:o, s:o}", "rule", f->advice[i].rule, "try",
                                             pw_report_json_text(f->advice[i].what), "figures",
                                             pw_report_json_text(f->advice[i].figures)));
    return out;
}

static json_t *figure_json(const struct pw_report_bench *report, const struct pw_bench_figure *f)
{
    const struct pw_signature *s = &report->inventory->signatures[f->signature];
    json_t *out = json_object(), *speedup = json_null();

    json_object_set_new(out, "signature", json_string(s->id));
    json_object_set_new(out, "operator", pw_report_json_text(s->op_label));
    json_object_set_new(out, "shapes", pw_report_json_text(s->shapes));
    json_object_set_new(out, "nodes", json_integer((json_int_t)s->node_count));
    json_object_set_new(out, "coverage",
                        json_string(f->implementations ? pw_coverage_name(f->implementations->coverage) : "missing"));
    json_object_set_new(out, "implementation", known_text(f->name));
    json_object_set_new(out, "skipped", known_text(f->skipped));
    json_object_set_new(out, "slices", json_integer(f->slices));
    json_object_set_new(out, "target", summary_json(&f->target));
    json_object_set_new(out, "reference", summary_json(&f->reference));
    json_object_set_new(out, "reference_name", known_text(f->reference_name));
    json_object_set_new(out, "reference_why", known_text(f->reference_why));
    if (!isnan(f->speedup.value)) {
        speedup = json_object();
        set_real(speedup, "value", f->speedup.value);
        set_real(speedup, "low", f->speedup.low);
        set_real(speedup, "high", f->speedup.high);
    }
    json_object_set_new(out, "speedup", speedup);
    set_real(out, "device_ns", f->device_ns > 0 ? f->device_ns : NAN);
    set_real(out, "net_of_launch_ns", f->net_ns);
    set_real(out, "flops", f->flops);
    set_real(out, "read_bytes", f->target.count ? f->read_bytes : NAN);
    set_real(out, "write_bytes", f->target.count ? f->write_bytes : NAN);
    set_real(out, "footprint_bytes", f->target.count ? f->footprint : NAN);
    set_real(out, "flops_per_s", f->flops_rate);
    set_real(out, "bytes_per_s", f->bytes_rate);
    json_object_set_new(out, "roof", roof_json(f));
    json_object_set_new(out, "believed", f->target.count ? json_boolean(!f->suspicion) : json_null());
    json_object_set_new(out, "suspicion", known_text(f->suspicion));
    json_object_set_new(out, "verified", known_text(f->verified));
    json_object_set_new(out, "advice", advice_json(f));
    json_object_set_new(out, "target_samples", samples_json(f->target_raw, report->raw));
    json_object_set_new(out, "reference_samples", samples_json(f->reference_raw, report->raw));
    return out;
}

static json_t *environment_json(const struct pw_environment *e)
{
    json_t *out = json_object();

    json_object_set_new(out, "id", json_string(e->id));
    json_object_set_new(out, "target", pw_report_json_text(e->target));
    for (size_t i = 0; i < e->count; i++)
        json_object_set_new(out, e->fields[i].name, pw_report_json_text(e->fields[i].value));
    return out;
}

static json_t *peaks_json(const struct pw_bench_report *b)
{
    json_t *out = json_array();

    for (size_t i = 0; i < b->peaks.count; i++) {
        const struct pw_peak *peak = &b->peaks.items[i];
        json_t *one = json_pack("{s:s, s:s, s:s, s:i}", "kind", pw_peak_name(peak->kind), "level", peak->level, "unit",
                                peak->kind == PW_PEAK_FMA ? "FLOP/s" : "B/s", "samples", peak->samples);

        set_real(one, "median", peak->median);
        set_real(one, "low", peak->low);
        set_real(one, "high", peak->high);
        json_array_append_new(out, one);
    }
    return out;
}

static json_t *conditions_json(const struct pw_bench_report *b)
{
    json_t *out = json_object();

    json_object_set_new(out, "cache", json_string(b->cold ? "cold" : "hot"));
    json_object_set_new(out, "flush_bytes", json_integer((json_int_t)b->flush_bytes));
    set_real(out, "timer_ns", b->timer_ns);
    set_real(out, "launch_ns", b->launch_ns);
    json_object_set_new(out, "slices", json_integer(b->slices));
    json_object_set_new(out, "busy_slices", json_integer(b->busy_slices));
    json_object_set_new(out, "lock_note", known_text(b->lock_note));
    json_object_set_new(out, "elapsed_ns", json_integer(b->elapsed_ns));
    json_object_set_new(out, "budget_ns", b->budget_ns ? json_integer(b->budget_ns) : json_null());
    json_object_set_new(out, "peaks_rounds", json_integer(b->peaks_rounds));
    json_object_set_new(out, "peaks_declared", json_boolean(b->peaks_declared));
    json_object_set_new(out, "peaks_why", known_text(b->peaks_why));
    json_object_set_new(out, "peaks", peaks_json(b));
    return out;
}

pw_status pw_report_bench_json(const struct pw_report_bench *report, struct pw_buf *out, struct pw_error *err)
{
    json_t *root = json_object(), *figures = json_array();
    char *text;

    for (size_t i = 0; i < report->bench->count; i++)
        json_array_append_new(figures, figure_json(report, &report->bench->figures[i]));
    json_object_set_new(root, "schema", json_integer(1));
    json_object_set_new(root, "report", json_string("bench"));
    json_object_set_new(root, "model", pw_report_json_text(report->model_path));
    json_object_set_new(root, "graph", json_string(report->graph_id));
    json_object_set_new(root, "target", pw_report_json_text(report->target));
    json_object_set_new(root, "device", report->info ? pw_report_json_text(report->info->name) : json_null());
    json_object_set_new(root, "bindings", pw_report_json_text(report->bindings));
    json_object_set_new(root, "seed", json_integer((json_int_t)report->seed));
    json_object_set_new(root, "environment", environment_json(report->environment));
    json_object_set_new(root, "pinned", report->pin ? json_boolean(!report->pin[0]) : json_null());
    json_object_set_new(root, "pin_differences", known_text(report->pin));
    json_object_set_new(root, "conditions", conditions_json(report->bench));
    json_object_set_new(root, "suspicious", json_integer((json_int_t)report->bench->suspicious));
    json_object_set_new(root, "figures", figures);
    text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    json_decref(root);
    if (!text)
        return pw_error_memory(err, 4096);
    pw_buf_puts(out, text);
    pw_buf_putc(out, '\n');
    free(text); /* jansson's own allocation */
    return PW_OK;
}
