#include "report/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/file.h"
#include "base/mem.h"
#include "baseline/baseline.h"
#include "baseline/folder.h"
#include "baseline/gate.h"
#include "store/history.h"

#define LOCK_FILE "portwright.lock"

/* ---- a row ---- */

const char *pw_report_row_coverage(const struct pw_report_row *row)
{
    return row->signature->shape_arithmetic ? "host" : row->result ? row->result->coverage : "?";
}

const char *pw_report_row_verdict(const struct pw_report_row *row)
{
    if (row->signature->shape_arithmetic)
        return "host";
    if (!row->result)
        return "not measured";
    return !strcmp(row->result->coverage, "host") && strcmp(row->result->standing, "failed") != 0
               ? "host"
               : row->result->standing;
}

double pw_report_row_share(const struct pw_report_row *row)
{
    return row->result ? row->result->worst_ratio : NAN;
}

double pw_report_row_target_ns(const struct pw_report_row *row)
{
    if (row->bench && row->bench->target_ns > 0)
        return row->bench->target_ns;
    return row->result && row->result->target_ns > 0 ? (double)row->result->target_ns : NAN;
}

const char *pw_report_row_environment(const struct pw_report_row *row)
{
    const char *id = row->bench && row->bench->target_ns > 0 ? row->bench->environment_id
                     : row->result                           ? row->result->environment_id
                                                             : NULL;

    return id ? id : "";
}

bool pw_report_row_elsewhere(const struct pw_report_target_part *part, const struct pw_report_row *row)
{
    return !isnan(pw_report_row_target_ns(row)) && part->run.id &&
           strcmp(pw_report_row_environment(row), part->run.environment_id) != 0;
}

size_t pw_report_elsewhere(const struct pw_report *report, const struct pw_report_target_part *part)
{
    size_t n = 0;

    for (size_t i = 0; i < report->inventory->signature_count; i++)
        n += pw_report_row_elsewhere(part, &part->rows[i]);
    return n;
}

const char *pw_report_figure_text(const char *name, double value, char *dst, size_t size)
{
    if (isnan(value))
        snprintf(dst, size, "-");
    else if (pw_text_ends(name, "_ns"))
        pw_text_duration(dst, size, value * 1e-9);
    else if (pw_text_ends(name, "seconds"))
        pw_text_duration(dst, size, value);
    else if (pw_text_ends(name, "bytes"))
        pw_text_bytes(dst, size, value);
    else
        snprintf(dst, size, "%.6g", value);
    return dst;
}

bool pw_report_waiver_over(const struct pw_report *report, const struct pw_triage_entry *entry)
{
    char today[PW_TRIAGE_DATE];

    snprintf(today, sizeof today, "%.10s", report->made);
    return pw_triage_waiver(entry, PW_WAIVE_ALL, today) == PW_WAIVER_EXPIRED;
}

double pw_report_row_speed(const struct pw_report_row *row)
{
    if (row->bench && row->bench->speedup > 0)
        return row->bench->speedup;
    return row->result && row->result->target_ns > 0 && row->result->reference_ns > 0
               ? (double)row->result->reference_ns / (double)row->result->target_ns
               : NAN;
}

/* ---- reading a target ---- */

struct building {
    struct pw_report *report;
    const struct pw_report_request *request;
    struct pw_store *store; /* NULL: there is none */
    struct pw_report_target_part *part;
    char today[PW_TRIAGE_DATE];
};

/* What a waiver has to cover, as in a check: being off the target, or its cases. */
static bool off_target(const struct pw_report_row *row)
{
    const char *coverage = pw_report_row_coverage(row);

    return !strcmp(coverage, pw_coverage_name(PW_COVERAGE_HOST)) ||
           !strcmp(coverage, pw_coverage_name(PW_COVERAGE_MISSING));
}

/* Targets without an implementation of their own, host or none; not those where nothing is known. Shape arithmetic
 * belongs on the host. */
void pw_report_missing_on(const struct pw_report *report, size_t signature, struct pw_buf *out)
{
    bool wanted = !report->inventory->signatures[signature].shape_arithmetic;

    for (size_t t = 0; wanted && t < report->target_count; t++)
        if (off_target(&report->targets[t].rows[signature]))
            pw_buf_printf(out, "%s%s", out->size ? ", " : "", report->targets[t].target);
}

static pw_status read_rows(struct building *b, struct pw_error *err)
{
    const struct pw_inventory *inventory = b->report->inventory;
    struct pw_store_signature_row *results = NULL;
    struct pw_store_bench_row *benches = NULL;
    size_t result_count = 0, bench_count = 0;
    pw_status status = PW_OK;

    b->part->rows = pw_arena_alloc(&b->report->arena, inventory->signature_count + 1, sizeof *b->part->rows);
    if (!b->part->rows)
        return pw_error_memory(err, inventory->signature_count * sizeof *b->part->rows);
    memset(b->part->rows, 0, (inventory->signature_count + 1) * sizeof *b->part->rows);
    if (b->store)
        status = pw_store_latest(b->store, b->request->graph_id, b->part->target, &b->report->arena, &results,
                                 &result_count, err);
    if (status == PW_OK && b->store)
        status = pw_store_bench_latest(b->store, b->request->graph_id, b->part->target, &b->report->arena, &benches,
                                       &bench_count, err);
    for (size_t i = 0; i < inventory->signature_count; i++) {
        struct pw_report_row *row = &b->part->rows[i];
        const char *id = inventory->signatures[i].id;

        row->signature = &inventory->signatures[i];
        row->triage = pw_triage_find(b->report->triage, id);
        for (size_t r = 0; status == PW_OK && r < result_count; r++)
            if (!strcmp(results[r].signature_id, id))
                row->result = &results[r];
        for (size_t r = 0; status == PW_OK && r < bench_count; r++)
            if (!strcmp(benches[r].signature_id, id))
                row->bench = &benches[r];
        row->waiver = pw_triage_waiver(row->triage, off_target(row) ? PW_WAIVE_COVERAGE : PW_WAIVE_VERIFY, b->today);
    }
    return status;
}

static pw_status read_trends(struct building *b, struct pw_error *err)
{
    struct pw_history_filter filter = {.target = b->part->target, .graph = b->request->graph_id};
    struct pw_history_series *series = NULL;
    size_t count = 0;
    pw_status status = b->store ? pw_history_read(b->store, &filter, &b->report->arena, &series, &count, err) : PW_OK;

    for (size_t s = 0; status == PW_OK && s < count; s++)
        for (size_t i = 0; i < b->report->inventory->signature_count; i++) {
            struct pw_report_row *row = &b->part->rows[i];
            size_t first = series[s].count > PW_REPORT_TREND ? series[s].count - PW_REPORT_TREND : 0;

            if (strcmp(series[s].signature, row->signature->id) != 0 || row->trend_count >= series[s].count - first)
                continue; /* of several sets of dims the longest */
            row->trend_count = 0;
            for (size_t p = first; p < series[s].count; p++) {
                const struct pw_history_point *point = &series[s].points[p];
                bool comparable = !strcmp(point->environment_id, b->part->run.environment_id);

                row->errors[row->trend_count] = point->error;
                row->speeds[row->trend_count++] = comparable && point->target_ns && point->reference_ns
                                                      ? (double)point->reference_ns / (double)point->target_ns
                                                      : NAN;
            }
        }
    return status;
}

static pw_status read_runs(struct building *b, struct pw_error *err)
{
    struct pw_report_target_part *part = b->part;
    struct pw_arena *arena = &b->report->arena;
    pw_status status;

    if (!b->store)
        return PW_OK;
    status = pw_store_run_latest(b->store, b->request->graph_id, part->target, NULL, arena, &part->run, err);
    if (status == PW_OK)
        status =
            pw_store_run_latest(b->store, b->request->graph_id, part->target, "run", arena, &part->endtoend_run, err);
    if (status == PW_OK && part->endtoend_run.id) {
        status = pw_store_outputs(b->store, part->endtoend_run.id, arena, &part->outputs, &part->output_count, err);
        if (status == PW_OK)
            status = pw_store_figures(b->store, part->endtoend_run.id, arena, &part->figures, &part->figure_count, err);
    }
    if (status == PW_OK)
        status = pw_store_run_latest(b->store, b->request->graph_id, part->target, "soak", arena, &part->soak_run, err);
    if (status == PW_OK && part->soak_run.id)
        status = pw_store_figures(b->store, part->soak_run.id, arena, &part->soak, &part->soak_count, err);
    if (status == PW_OK && part->run.id) {
        struct pw_error why = {0};

        part->kind = part->run.target_kind;
        part->device = part->run.device;
        if (part->run.environment[0] && pw_environment_parse(part->run.environment, &part->environment, &why) != PW_OK)
            part->environment = (struct pw_environment){0}; /* of another version: not shown */
    }
    return status;
}

/* ---- what it adds up to ---- */

static void add_up(struct building *b, struct pw_maturity_facts *facts)
{
    struct pw_report_target_part *part = b->part;
    double log_speed = 0;
    size_t speeds = 0;

    part->worst_share = NAN;
    for (size_t i = 0; i < b->report->inventory->signature_count; i++) {
        const struct pw_report_row *row = &part->rows[i];
        const char *verdict = pw_report_row_verdict(row), *coverage = pw_report_row_coverage(row);
        double share = pw_report_row_share(row), speed = pw_report_row_speed(row);
        bool waived = row->waiver == PW_WAIVER_VALID;
        int kind = 0;

        while (kind < PW_COVERAGE_COUNT && strcmp(pw_coverage_name((pw_coverage)kind), coverage) != 0)
            kind++;
        if (kind < PW_COVERAGE_COUNT)
            part->coverage[kind]++;
        else
            part->uncovered++;
        facts->signatures++;
        facts->host += !strcmp(verdict, "host");
        if (!strcmp(verdict, "held"))
            part->held++;
        else if (!strcmp(verdict, "failed"))
            waived ? facts->waived++ : part->failed++;
        else if (strcmp(verdict, "host") != 0)
            waived ? facts->waived++ : part->unproven++;
        if (!isnan(share) && !(share <= part->worst_share))
            part->worst_share = share;
        if (speed > 0) {
            log_speed += log(speed);
            speeds++;
        }
    }
    part->speed = speeds ? exp(log_speed / (double)speeds) : NAN;
    facts->held = part->held;
    facts->failed = part->failed;
    facts->unproven = part->unproven;
}

static double figure_of(const struct pw_store_figure_row *rows, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(rows[i].name, name))
            return rows[i].value;
    return NAN;
}

/* Was there something to compare, and was it? */
static bool was_judged(const char *outcome)
{
    static const pw_gate_outcome judged[] = {PW_GATE_HELD, PW_GATE_BETTER, PW_GATE_WORSE, PW_GATE_INCONCLUSIVE};

    for (size_t i = 0; i < PW_COUNT_OF(judged); i++)
        if (!strcmp(outcome, pw_gate_outcome_name(judged[i])))
            return true;
    return false;
}

static pw_status judge(struct building *b, struct pw_error *err)
{
    struct pw_report_target_part *part = b->part;
    struct pw_maturity_facts facts = {.soak_seconds = NAN, .ran_end_to_end = part->output_count > 0};
    struct pw_store_decision *decisions = NULL;
    int64_t judged_run = 0;
    size_t decision_count = 0;
    struct pw_buf folder = {0}, differences = {0};
    const char *path = NULL;
    struct pw_error why = {0};
    pw_status status = PW_OK;

    add_up(b, &facts);
    facts.outputs = part->output_count;
    facts.end_to_end_held = part->output_count > 0;
    for (size_t i = 0; i < part->output_count; i++)
        facts.end_to_end_held = facts.end_to_end_held && part->outputs[i].held;
    if (part->run.id &&
        pw_baseline_folder(b->request->baselines, b->request->graph_id, b->request->model_path, part->run.target_kind,
                           &folder, &why) == PW_OK &&
        pw_baseline_find(pw_buf_text(&folder), "latest", PW_BASELINE_THROUGHPUT, part->run.environment_id,
                         &b->report->arena, &path, &why) == PW_OK)
        facts.throughput_baseline = path != NULL;
    if (b->store)
        status = pw_store_decisions(b->store, b->request->graph_id, part->target, &b->report->arena, &judged_run,
                                    &decisions, &decision_count, err);
    facts.gate_passed = true;
    for (size_t i = 0; status == PW_OK && i < decision_count; i++)
        if (!strcmp(decisions[i].gate, pw_gate_kind_name(PW_GATE_THROUGHPUT)) && was_judged(decisions[i].outcome)) {
            facts.gate_ran = true;
            facts.gate_passed &=
                decisions[i].waived || strcmp(decisions[i].outcome, pw_gate_outcome_name(PW_GATE_WORSE));
        }
    facts.gate_passed &= facts.gate_ran;
    if (part->soak_run.id) {
        facts.soak_seconds = figure_of(part->soak, part->soak_count, "soak.seconds");
        facts.soak_failures = figure_of(part->soak, part->soak_count, "soak.failures");
        facts.soak_deaths = figure_of(part->soak, part->soak_count, "soak.worker_deaths") +
                            figure_of(part->soak, part->soak_count, "soak.worker_kills");
        facts.recovered = figure_of(part->soak, part->soak_count, "soak.recovered") > 0;
    }
    facts.locked = pw_file_exists(LOCK_FILE);
    if (facts.locked && part->environment.count)
        facts.lock_matches =
            pw_lock_check(LOCK_FILE, &part->environment, &facts.lock_matches, &differences, &why) == PW_OK &&
            facts.lock_matches;
    part->maturity = pw_maturity_judge(&facts, part->evidence, &part->evidence_count);
    pw_buf_clear(&folder);
    pw_buf_clear(&differences);
    return status;
}

static pw_status open_triage(struct building *b, struct pw_error *err)
{
    struct pw_buf path = {0};
    pw_status status = pw_folder_graph(b->request->baselines, b->request->graph_id, b->request->model_path, &path, err);

    pw_buf_puts(&path, "/triage.yaml");
    if (status == PW_OK)
        status =
            pw_triage_open(pw_buf_text(&path), b->request->graph_id, b->request->model_path, &b->report->triage, err);
    pw_buf_clear(&path);
    return status;
}

pw_status pw_report_build(const struct pw_report_request *request, struct pw_report **out, struct pw_error *err)
{
    struct pw_report *report = pw_calloc(1, sizeof *report);
    struct building b = {.report = report, .request = request};
    pw_status status = PW_OK;

    if (!report)
        return pw_error_memory(err, sizeof *report);
    report->inventory = request->inventory;
    report->model_path = request->model_path;
    report->graph_id = request->graph_id;
    report->version = PACKAGE_VERSION;
    pw_clock_iso(request->now_ms, report->made, sizeof report->made);
    pw_triage_today(request->now_ms, b.today);
    report->targets = pw_arena_alloc(&report->arena, request->target_count + 1, sizeof *report->targets);
    if (!report->targets)
        status = pw_error_memory(err, request->target_count * sizeof *report->targets);
    if (status == PW_OK)
        memset(report->targets, 0, (request->target_count + 1) * sizeof *report->targets);
    if (status == PW_OK)
        status = open_triage(&b, err);
    if (status == PW_OK && pw_file_exists(request->db))
        status = pw_store_open(request->db, true, &b.store, err);
    for (size_t t = 0; t < request->target_count && status == PW_OK; t++) {
        b.part = &report->targets[t];
        report->target_count = t + 1;
        *b.part = (struct pw_report_target_part){.target = request->targets[t], .kind = "", .device = ""};
        status = read_runs(&b, err);
        if (status == PW_OK)
            status = read_rows(&b, err);
        if (status == PW_OK)
            status = read_trends(&b, err); /* of the newest run's environment */
        if (status == PW_OK)
            status = judge(&b, err);
    }
    pw_store_close(b.store);
    if (status != PW_OK) {
        pw_report_destroy(report);
        return status;
    }
    *out = report;
    return PW_OK;
}

void pw_report_destroy(struct pw_report *report)
{
    if (!report)
        return;
    for (size_t t = 0; t < report->target_count; t++)
        pw_environment_clear(&report->targets[t].environment);
    pw_triage_close(report->triage);
    pw_arena_clear(&report->arena);
    pw_free(report);
}
