#include "report/history.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/clock.h"
#include "bench/environment.h"
#include "report/check.h"

#define LEAST_RATIO 0.03 /* a level that moved by less is not spoken of */
#define LEAST_ERROR 0.1
#define DRIFT_P 0.01
#define DAYS_PER_MONTH 30.0
#define SPARK_WIDTH 24

/* ---- analysis ---- */

/* On a logarithm; an error may be 0, and 0 to something is a change. */
static double log_error(const struct pw_history_point *p)
{
    double small = p->tolerance > 0 ? p->tolerance * 1e-3 : 1e-12;

    return isnan(p->error) ? NAN : log(p->error + small);
}

static double ratio_of(const struct pw_history_point *p)
{
    return p->target_ns > 0 && p->reference_ns > 0 ? (double)p->target_ns / (double)p->reference_ns : NAN;
}

struct analysis {
    struct pw_report_history_row *row;
    struct pw_arena *arena;
    double *values;
    bool *seen; /* points of environments that were looked at */
    size_t change_cap;
    struct pw_error *err;
};

static pw_status add_changes(struct analysis *a, const struct pw_trend_change *changes, size_t count, bool throughput)
{
    const struct pw_history_series *s = a->row->series;
    struct pw_report_change *grown;

    if (!count)
        return PW_OK;
    grown = pw_arena_alloc(a->arena, a->row->change_count + count, sizeof *grown);
    if (!grown)
        return pw_error_memory(a->err, count * sizeof *grown);
    if (a->row->change_count)
        memcpy(grown, a->row->changes, a->row->change_count * sizeof *grown);
    a->row->changes = grown;
    for (size_t i = 0; i < count; i++) {
        size_t at = changes[i].at, before = at;

        while (before > 0 && (before == at || isnan(a->values[before])))
            before--;
        grown[a->row->change_count++] = (struct pw_report_change){.at = at,
                                                                  .throughput = throughput,
                                                                  .factor = exp(changes[i].after - changes[i].before),
                                                                  .kernel_before = s->points[before].kernel_hash,
                                                                  .kernel_after = s->points[at].kernel_hash};
    }
    return PW_OK;
}

/* values: the ratios measured in the environment of point `first`, as logarithms; NaN elsewhere. */
static void pick_environment(struct analysis *a, size_t first)
{
    const struct pw_history_series *s = a->row->series;

    for (size_t i = 0; i < s->count; i++) {
        bool same = !strcmp(s->points[i].environment_id, s->points[first].environment_id);

        a->seen[i] |= same;
        a->values[i] = same && !isnan(a->row->ratios[i]) ? log(a->row->ratios[i]) : NAN;
    }
}

static pw_status drift(struct analysis *a)
{
    const struct pw_history_series *s = a->row->series;
    struct pw_trend_slope slope;
    int64_t *times = pw_arena_alloc(a->arena, s->count + 1, sizeof *times);
    size_t from = 0;
    pw_status status;

    if (!times)
        return pw_error_memory(a->err, s->count * sizeof *times);
    for (size_t i = 0; i < a->row->change_count; i++)
        if (a->row->changes[i].throughput && a->row->changes[i].at > from)
            from = a->row->changes[i].at;
    pick_environment(a, s->count - 1);
    for (size_t i = 0; i < s->count; i++) {
        times[i] = s->points[i].wall_ms;
        if (i < from)
            a->values[i] = NAN;
    }
    status = pw_trend_slope(times, a->values, s->count, &slope, a->err);
    a->row->drift_per_month = exp(slope.per_day * DAYS_PER_MONTH) - 1;
    a->row->drift_p = slope.p;
    return status;
}

/* In which environments the series was timed, and where it came to the newest one. */
static void look_at_environments(struct analysis *a)
{
    const struct pw_history_series *s = a->row->series;
    struct pw_report_history_row *row = a->row;
    const char *newest;

    row->newest_timed = row->moved_before = s->count;
    for (size_t i = 0; i < s->count; i++)
        if (!isnan(row->ratios[i]))
            row->newest_timed = i;
    if (row->newest_timed == s->count)
        return;
    newest = s->points[row->newest_timed].environment_id;
    for (size_t i = 0; i < s->count; i++) {
        bool first = !isnan(row->ratios[i]);

        for (size_t k = 0; k < i && first; k++)
            first = isnan(row->ratios[k]) || strcmp(s->points[k].environment_id, s->points[i].environment_id) != 0;
        row->environments += first;
        if (isnan(row->ratios[i]) || !strcmp(s->points[i].environment_id, newest))
            continue;
        row->elsewhere++;
        row->moved_before = i;
    }
}

static int by_point(const void *a, const void *b)
{
    const struct pw_report_change *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

static pw_status analyse(struct analysis *a)
{
    const struct pw_history_series *s = a->row->series;
    struct pw_trend_change *changes;
    size_t count;
    pw_status status;

    a->values = pw_arena_alloc(a->arena, s->count + 1, sizeof *a->values);
    a->seen = pw_arena_alloc(a->arena, s->count + 1, sizeof *a->seen);
    a->row->ratios = pw_arena_alloc(a->arena, s->count + 1, sizeof *a->row->ratios);
    if (!a->values || !a->seen || !a->row->ratios)
        return pw_error_memory(a->err, s->count * sizeof *a->values);
    for (size_t i = 0; i < s->count; i++) {
        a->values[i] = log_error(&s->points[i]);
        a->row->ratios[i] = ratio_of(&s->points[i]);
    }
    status = pw_trend_changes(a->values, s->count, LEAST_ERROR, a->arena, &changes, &count, a->err);
    if (status == PW_OK)
        status = add_changes(a, changes, count, false);
    for (size_t i = 0; i < s->count && status == PW_OK; i++) {
        if (a->seen[i])
            continue;
        pick_environment(a, i);
        status = pw_trend_changes(a->values, s->count, LEAST_RATIO, a->arena, &changes, &count, a->err);
        if (status == PW_OK)
            status = add_changes(a, changes, count, true);
    }
    look_at_environments(a);
    if (status == PW_OK && s->count)
        status = drift(a);
    if (a->row->change_count)
        qsort(a->row->changes, a->row->change_count, sizeof *a->row->changes, by_point);
    return status;
}

pw_status pw_report_history(const struct pw_history_series *series, size_t count, struct pw_arena *arena,
                            struct pw_report_history *out, struct pw_error *err)
{
    pw_status status = PW_OK;

    *out = (struct pw_report_history){.rows = pw_arena_alloc(arena, count + 1, sizeof *out->rows), .count = count};
    if (!out->rows)
        return pw_error_memory(err, count * sizeof *out->rows);
    for (size_t i = 0; i < count && status == PW_OK; i++) {
        struct analysis a = {.row = &out->rows[i], .arena = arena, .err = err};

        out->rows[i] = (struct pw_report_history_row){.series = &series[i], .drift_per_month = NAN, .drift_p = NAN};
        status = analyse(&a);
    }
    return status;
}

/* ---- text ---- */

static const char *day(int64_t wall_ms, char dst[32])
{
    pw_clock_iso(wall_ms, dst, 32);
    dst[10] = '\0';
    return dst;
}

static const char *figure(double value, const char *format, char *dst, size_t size)
{
    if (isnan(value))
        snprintf(dst, size, "-");
    else if (format[0] == 'x')
        snprintf(dst, size, "%.2fx", 1 / value); /* as the other reports: reference / target, more is faster */
    else
        snprintf(dst, size, "%.2g", value);
    return dst;
}

/* "2026-03-01 run 14: 18 % slower, kernel changed" */
static void describe(const struct pw_report_history_row *row, const struct pw_report_change *c, struct pw_buf *out)
{
    const struct pw_history_point *p = &row->series->points[c->at];
    char date[32];

    pw_buf_printf(out, "%s run %" PRId64 ": ", day(p->wall_ms, date), p->run);
    if (c->throughput)
        pw_buf_printf(out, "%.0f %% %s", (c->factor >= 1 ? c->factor - 1 : 1 / c->factor - 1) * 100,
                      c->factor >= 1 ? "slower" : "faster");
    else
        pw_buf_printf(out, "error %.2g times", c->factor);
    if (c->kernel_before[0] && c->kernel_after[0])
        pw_buf_puts(out, strcmp(c->kernel_before, c->kernel_after) != 0 ? ", kernel changed" : ", same kernel");
}

static void drift_text(const struct pw_report_history_row *row, struct pw_buf *out)
{
    if (!isnan(row->drift_p) && row->drift_p < DRIFT_P && fabs(row->drift_per_month) >= 0.005)
        pw_buf_printf(out, "%+.1f %% a month", row->drift_per_month * 100);
    else
        pw_buf_puts(out, isnan(row->drift_p) ? "-" : "steady");
}

/* The last that was measured. */
static double newest_ratio(const struct pw_report_history_row *row)
{
    return row->newest_timed < row->series->count ? row->ratios[row->newest_timed] : NAN;
}

static const char *id_of(const struct pw_report_history_row *row, size_t point)
{
    const char *id = row->series->points[point].environment_id;

    return id[0] ? id : "an unknown one";
}

/* Speeds for a curve: those of other environments than the newest are not in it. */
static void speeds_of(const struct pw_report_history_row *row, double *speeds)
{
    const struct pw_history_series *s = row->series;

    for (size_t i = 0; i < s->count; i++)
        speeds[i] =
            !row->elsewhere || !strcmp(id_of(row, i), id_of(row, row->newest_timed)) ? -log(row->ratios[i]) : NAN;
}

/* "environment: 3 of 12 timed runs in another (9ab…, the last 2026-03-01 run 14): they do not compare, and are not in
 * the curve" */
static void describe_environments(const struct pw_report_history_row *row, struct pw_buf *out)
{
    const struct pw_history_point *last = &row->series->points[row->moved_before];
    size_t timed = 0;
    char date[32];

    for (size_t i = 0; i < row->series->count; i++)
        timed += !isnan(row->ratios[i]);
    pw_buf_printf(out,
                  "another environment: %zu of %zu timed runs were not in %s (the last in %s, %s run %" PRId64
                  "); they do not compare with the newest and are not in the curve",
                  row->elsewhere, timed, id_of(row, row->newest_timed), id_of(row, row->moved_before),
                  day(last->wall_ms, date), last->run);
}

static const char *json_of(const struct pw_report_history *h, const char *id)
{
    for (size_t i = 0; i < h->environment_count; i++)
        if (!strcmp(h->environments[i].id, id))
            return h->environments[i].json;
    return NULL;
}

/* What the two environments of a row differ in; "" not known. */
static void differences(const struct pw_report_history *h, const struct pw_report_history_row *row, struct pw_buf *out)
{
    const char *then = json_of(h, row->series->points[row->moved_before].environment_id);
    const char *now = json_of(h, row->series->points[row->newest_timed].environment_id);
    struct pw_environment before = {0}, after = {0};
    struct pw_error why = {0};

    if (then && now && pw_environment_parse(then, &before, &why) == PW_OK &&
        pw_environment_parse(now, &after, &why) == PW_OK)
        pw_environment_differences(&before, &after, PW_ENVIRONMENT_TIMING, "then", "now", out);
    pw_environment_clear(&before);
    pw_environment_clear(&after);
}

/* Each pair of environments that a row went between, once, with what differs. */
static void text_differences(const struct pw_report_history *h, const char *before, const char *after,
                             struct pw_buf *out)
{
    for (size_t i = 0; i < h->count; i++) {
        const struct pw_report_history_row *row = &h->rows[i];
        struct pw_buf text = {0};
        bool said = !row->elsewhere;

        for (size_t k = 0; k < i && !said; k++)
            said = h->rows[k].elsewhere &&
                   !strcmp(id_of(&h->rows[k], h->rows[k].moved_before), id_of(row, row->moved_before)) &&
                   !strcmp(id_of(&h->rows[k], h->rows[k].newest_timed), id_of(row, row->newest_timed));
        if (said)
            continue;
        differences(h, row, &text);
        pw_buf_printf(out, "%senvironment %s, then %s: ", before, id_of(row, row->moved_before),
                      id_of(row, row->newest_timed));
        pw_text_display(out, text.size ? pw_buf_text(&text) : "what differs is not recorded",
                        text.size ? text.size : 28, 0, false);
        pw_buf_puts(out, after);
        pw_buf_clear(&text);
    }
}

static const struct pw_history_point *newest(const struct pw_report_history_row *row)
{
    return &row->series->points[row->series->count - 1];
}

void pw_report_history_text(const struct pw_report_history *history, int width, bool ascii, struct pw_buf *out)
{
    const struct pw_report_history_row *rows = history->rows;
    size_t count = history->count;
    size_t spark = width > 130 ? SPARK_WIDTH : 10;

    if (!count) {
        pw_buf_puts(out, "no runs recorded that fit\n");
        return;
    }
    pw_text_cell(out, "operator", 20, false);
    pw_buf_puts(out, " signature        target     dims             runs last       standing    error ");
    pw_text_cell(out, "", spark, false);
    pw_buf_puts(out, "  ref/tgt ");
    pw_text_cell(out, "", spark, false);
    pw_buf_puts(out, " drift\n");
    for (size_t i = 0; i < count; i++) {
        const struct pw_history_series *s = rows[i].series;
        double *errors = pw_calloc(2 * s->count + 1, sizeof *errors), *speeds = errors + s->count;
        char text[32];

        if (!errors) {
            out->failed = true;
            return;
        }
        for (size_t k = 0; k < s->count; k++)
            errors[k] = log_error(&s->points[k]);
        speeds_of(&rows[i], speeds);
        pw_text_cell(out, s->op, 20, false);
        pw_buf_printf(out, " %-16s ", s->signature);
        pw_text_cell(out, s->target, 10, false);
        pw_buf_putc(out, ' ');
        pw_text_cell(out, s->dims[0] ? s->dims : "fixed", 15, false);
        pw_buf_printf(out, " %5zu ", s->count);
        pw_buf_printf(out, "%s ", day(newest(&rows[i])->wall_ms, text));
        pw_text_cell(out, newest(&rows[i])->standing, 9, false);
        pw_buf_printf(out, "%8s ", figure(newest(&rows[i])->error, "e", text, sizeof text));
        pw_trend_sparkline(errors, s->count, spark, ascii, out);
        pw_text_cell(out, "", s->count < spark ? spark - s->count : 0, false);
        pw_buf_printf(out, " %8s ", figure(newest_ratio(&rows[i]), "x", text, sizeof text));
        pw_trend_sparkline(speeds, s->count, spark, ascii, out);
        pw_text_cell(out, "", s->count < spark ? spark - s->count : 0, false);
        pw_buf_putc(out, ' ');
        drift_text(&rows[i], out);
        pw_buf_putc(out, '\n');
        for (size_t k = 0; k < rows[i].change_count; k++) {
            pw_buf_puts(out, "    ");
            describe(&rows[i], &rows[i].changes[k], out);
            pw_buf_putc(out, '\n');
        }
        if (rows[i].elsewhere) {
            pw_buf_puts(out, "    ");
            describe_environments(&rows[i], out);
            pw_buf_putc(out, '\n');
        }
        pw_free(errors);
    }
    text_differences(history, "", "\n", out);
}

/* ---- Markdown, CSV, JSON ---- */

void pw_report_history_md(const struct pw_report_history *history, struct pw_buf *out)
{
    const struct pw_report_history_row *rows = history->rows;
    size_t count = history->count;

    pw_buf_puts(out,
                "| operator | signature | target | dims | runs | last | standing | error | ref/tgt | trend | drift "
                "| changes |\n|---|---|---|---|---:|---|---|---:|---:|---|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        const struct pw_history_series *s = rows[i].series;
        struct pw_buf text = {0};
        double *speeds = pw_calloc(s->count + 1, sizeof *speeds);
        char figure_text[32];

        if (!speeds) {
            out->failed = true;
            return;
        }
        pw_buf_puts(out, "| ");
        pw_report_md_cell(out, s->op);
        pw_buf_printf(out, " | %s | ", s->signature);
        pw_report_md_cell(out, s->target);
        pw_buf_puts(out, " | ");
        pw_report_md_cell(out, s->dims[0] ? s->dims : "fixed");
        pw_buf_printf(out, " | %zu | %s | %s | ", s->count, day(newest(&rows[i])->wall_ms, figure_text),
                      newest(&rows[i])->standing);
        pw_buf_printf(out, "%s | ", figure(newest(&rows[i])->error, "e", figure_text, sizeof figure_text));
        pw_buf_printf(out, "%s | ", figure(newest_ratio(&rows[i]), "x", figure_text, sizeof figure_text));
        speeds_of(&rows[i], speeds);
        pw_trend_sparkline(speeds, s->count, SPARK_WIDTH, false, out);
        pw_buf_puts(out, " | ");
        drift_text(&rows[i], out);
        pw_buf_puts(out, " | ");
        for (size_t k = 0; k < rows[i].change_count; k++) {
            pw_buf_puts(&text, k ? "; " : "");
            describe(&rows[i], &rows[i].changes[k], &text);
        }
        if (rows[i].elsewhere) {
            pw_buf_puts(&text, rows[i].change_count ? "; " : "");
            describe_environments(&rows[i], &text);
        }
        pw_report_md_cell(out, pw_buf_text(&text));
        pw_buf_puts(out, " |\n");
        pw_buf_clear(&text);
        pw_free(speeds);
    }
    text_differences(history, "\n> ", "\n", out);
}

void pw_report_history_csv(const struct pw_report_history *history, struct pw_buf *out)
{
    const struct pw_report_history_row *rows = history->rows;
    size_t count = history->count;

    pw_buf_puts(out, "signature,operator,target,dims,run,time,environment,standing,coverage,kernel,kernel_hash,error,"
                     "tolerance,target_ns,reference_ns,reference\r\n");
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < rows[i].series->count; k++) {
            const struct pw_history_series *s = rows[i].series;
            const struct pw_history_point *p = &s->points[k];
            char time[32];

            pw_report_csv_field(out, s->signature, false);
            pw_report_csv_field(out, s->op, false);
            pw_report_csv_field(out, s->target, false);
            pw_report_csv_field(out, s->dims, false);
            pw_buf_printf(out, "%" PRId64 ",", p->run);
            pw_report_csv_field(out, pw_clock_iso(p->wall_ms, time, sizeof time), false);
            pw_report_csv_field(out, p->environment_id, false);
            pw_report_csv_field(out, p->standing, false);
            pw_report_csv_field(out, p->coverage, false);
            pw_report_csv_field(out, p->kernel, false);
            pw_report_csv_field(out, p->kernel_hash, false);
            if (!isnan(p->error))
                pw_buf_printf(out, "%.9g,%.9g,", p->error, p->tolerance);
            else
                pw_buf_puts(out, ",,");
            pw_buf_printf(out, p->target_ns ? "%" PRId64 "," : ",", p->target_ns);
            pw_buf_printf(out, p->reference_ns ? "%" PRId64 "," : ",", p->reference_ns);
            pw_report_csv_field(out, p->reference, true);
        }
}

static json_t *json_text_or_null(const char *text)
{
    return text[0] ? pw_report_json_text(text) : json_null();
}

static json_t *json_point(const struct pw_history_point *p, double ratio)
{
    json_t *item = json_object();
    char time[32];

    json_object_set_new(item, "run", json_integer(p->run));
    json_object_set_new(item, "time", json_string(pw_clock_iso(p->wall_ms, time, sizeof time)));
    json_object_set_new(item, "environment", json_text_or_null(p->environment_id));
    json_object_set_new(item, "standing", pw_report_json_text(p->standing));
    json_object_set_new(item, "coverage", pw_report_json_text(p->coverage));
    json_object_set_new(item, "kernel", json_text_or_null(p->kernel));
    json_object_set_new(item, "kernel_hash", json_text_or_null(p->kernel_hash));
    json_object_set_new(item, "error", pw_report_json_real(p->error));
    json_object_set_new(item, "tolerance", pw_report_json_real(p->tolerance));
    json_object_set_new(item, "target_ns", p->target_ns ? json_integer(p->target_ns) : json_null());
    json_object_set_new(item, "reference_ns", p->reference_ns ? json_integer(p->reference_ns) : json_null());
    json_object_set_new(item, "reference", json_text_or_null(p->reference));
    json_object_set_new(item, "ratio", pw_report_json_real(ratio));
    return item;
}

static json_t *json_row(const struct pw_report_history_row *row)
{
    json_t *item = json_object(), *points = json_array(), *changes = json_array();
    const struct pw_history_series *s = row->series;

    json_object_set_new(item, "signature", pw_report_json_text(s->signature));
    json_object_set_new(item, "operator", pw_report_json_text(s->op));
    json_object_set_new(item, "text", pw_report_json_text(s->text));
    json_object_set_new(item, "target", pw_report_json_text(s->target));
    json_object_set_new(item, "dims", pw_report_json_text(s->dims));
    for (size_t i = 0; i < s->count; i++)
        json_array_append_new(points, json_point(&s->points[i], row->ratios[i]));
    for (size_t i = 0; i < row->change_count; i++) {
        const struct pw_report_change *c = &row->changes[i];
        json_t *change = json_object();

        json_object_set_new(change, "run", json_integer(s->points[c->at].run));
        json_object_set_new(change, "of", json_string(c->throughput ? "throughput" : "precision"));
        json_object_set_new(change, "factor", pw_report_json_real(c->factor));
        json_object_set_new(change, "kernel_before", json_text_or_null(c->kernel_before));
        json_object_set_new(change, "kernel_after", json_text_or_null(c->kernel_after));
        json_array_append_new(changes, change);
    }
    json_object_set_new(item, "points", points);
    json_object_set_new(item, "changes", changes);
    json_object_set_new(item, "drift_per_month", pw_report_json_real(row->drift_per_month));
    json_object_set_new(item, "drift_p", pw_report_json_real(row->drift_p));
    json_object_set_new(item, "environments", json_integer((json_int_t)row->environments));
    json_object_set_new(item, "timed_elsewhere", json_integer((json_int_t)row->elsewhere));
    return item;
}

static json_t *json_environment(const struct pw_history_environment *e)
{
    json_t *fields = json_loads(e->json, 0, NULL);

    return fields ? fields : json_null();
}

pw_status pw_report_history_json(const struct pw_report_history *history, struct pw_buf *out, struct pw_error *err)
{
    json_t *root = json_pack("{s:i, s:s}", "schema", 1, "report", "history"), *series = json_array(),
           *environments = json_object();
    char *text;

    for (size_t i = 0; i < history->count; i++)
        json_array_append_new(series, json_row(&history->rows[i]));
    json_object_set_new(root, "series", series);
    for (size_t i = 0; i < history->environment_count; i++)
        json_object_set_new(environments, history->environments[i].id, json_environment(&history->environments[i]));
    json_object_set_new(root, "environments", environments);
    text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    if (text) {
        pw_buf_puts(out, text);
        pw_buf_putc(out, '\n');
    }
    free(text); /* jansson's own allocation */
    json_decref(root);
    return text && !out->failed ? PW_OK : pw_error_memory(err, out->size);
}
