/*
 * portwright check (also --check): verifies every signature of a graph on the target, reports, records,
 * and exits as the gate says. A client of the session, as the workbench is.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/baseline_record.h"
#include "cli/check_gate.h"
#include "cli/check_soak.h"
#include "cli/cmd.h"
#include "report/junit.h"

#define DEFAULT_GATE_SECONDS 30.0

struct check {
    struct pw_options *options;
    struct pw_check_request request; /* target and set are filled in for each run */
    struct pw_check_gate_request gate;
    bool record;
    struct pw_buf out;   /* of all runs */
    struct json_t *json; /* of several runs; NULL: one */
    int exit_code;       /* worst so far */
    int64_t soak_ns;     /* 0: no soak */
    struct pw_record_seen recorded;
};

/* One target with one binding set. */
struct target_run {
    struct pw_check_run run;
    struct pw_check_gate gate;
    struct pw_report_check report;
    struct pw_error error; /* why there is none */
};

static void worsen(struct check *check, int exit_code)
{
    check->exit_code = exit_code > check->exit_code ? exit_code : check->exit_code;
}

static bool several(const struct check *check)
{
    return check->options->target_count > 1 || check->options->dim_sets > 1;
}

/* ---- running ---- */

static pw_status keep_record(struct check *check, struct target_run *t, struct pw_error *err)
{
    struct pw_record_request record = {
        .root = check->gate.root, .precision = true, .throughput = check->request.timing, .timing = true};
    struct pw_check_run *run = &t->run;
    struct pw_buf said = {0};
    pw_status status = pw_baseline_record_runs(&run, 1, &record, &check->recorded, &said, err);

    if (said.size && !check->options->quiet)
        fprintf(stderr, "%s", pw_buf_text(&said));
    pw_buf_clear(&said);
    return status;
}

static void run_target(struct check *check, struct target_run *t)
{
    pw_status status = pw_check_run(&t->run, check->options, &check->request, &t->error);

    if (status == PW_OK && t->run.error.status != PW_OK)
        status = pw_error_set(&t->error, t->run.error.status, "%s", t->run.error.message);
    if (status == PW_OK)
        status = pw_check_gate(&t->gate, &t->run, &check->gate, &t->error);
    if (status == PW_OK && check->record)
        status = keep_record(check, t, &t->error);
    if (status != PW_OK)
        return;
    t->report = pw_check_run_report(&t->run);
    t->report.gate = &t->gate.report;
    t->report.exit_code = t->gate.report.judgement.passed ? PW_EXIT_HELD : PW_EXIT_GATE;
    worsen(check, t->report.exit_code);
}

/* ---- reporting ---- */

static void show_one(struct check *check, const struct pw_report_check *r)
{
    bool to_terminal = !check->options->output && isatty(STDOUT_FILENO);
    bool color = check->options->color == 1 || (check->options->color < 0 && to_terminal && !getenv("NO_COLOR"));

    if (check->options->format == PW_FORMAT_CSV)
        pw_report_check_csv(r, &check->out);
    else if (check->options->format == PW_FORMAT_MD)
        pw_report_check_md(r, &check->out);
    else
        pw_report_check_text(r, to_terminal ? pw_options_width() : 140, color, &check->out);
}

/* Several targets get one table; what each of them failed at follows, without its own. */
static void show_several(struct check *check, const struct pw_report_targets *set)
{
    bool to_terminal = !check->options->output && isatty(STDOUT_FILENO);
    bool color = check->options->color == 1 || (check->options->color < 0 && to_terminal && !getenv("NO_COLOR"));

    if (check->options->format == PW_FORMAT_MD) {
        pw_buf_puts(&check->out, "## portwright check: ");
        pw_report_md_cell(&check->out, check->options->args[0]);
        pw_buf_puts(&check->out, "\n\n");
        pw_report_targets_md(set, &check->out);
    } else if (check->options->format != PW_FORMAT_CSV) {
        pw_report_targets_text(set, to_terminal ? pw_options_width() : 160, color, &check->out);
    }
    for (size_t t = 0; t < set->count; t++) {
        const struct pw_report_check *r = set->targets[t].check;

        if (!r)
            continue;
        if (check->options->format == PW_FORMAT_CSV)
            pw_report_check_csv(r, &check->out);
        else
            pw_report_check_summary(r, check->options->format == PW_FORMAT_MD, color, &check->out);
    }
}

static pw_status show(struct check *check, const struct pw_report_targets *set, struct pw_error *err)
{
    if (check->options->format == PW_FORMAT_JUNIT) {
        pw_report_junit_add(set, &check->out);
    } else if (check->json) {
        pw_report_checks_add(check->json, set);
    } else if (set->count > 1) {
        show_several(check, set);
    } else if (set->targets[0].check) {
        if (check->options->format == PW_FORMAT_JSON)
            return pw_report_check_json(set->targets[0].check, &check->out, err);
        show_one(check, set->targets[0].check);
    }
    return PW_OK;
}

/* One binding set on every target. */
static void check_set(struct check *check, int set)
{
    size_t count = (size_t)check->options->target_count;
    struct target_run *runs = pw_calloc(count, sizeof *runs);
    struct pw_report_target columns[PW_OPTION_TARGETS];
    struct pw_report_targets report = {columns, count};
    struct pw_error err = {0};
    pw_status status = runs ? PW_OK : pw_error_memory(&err, count * sizeof *runs);

    for (size_t t = 0; t < count && status == PW_OK; t++) {
        check->request.target = check->options->targets[t];
        check->request.set = set;
        if (pw_check_run_interrupted())
            pw_error_set(&runs[t].error, PW_ERR_CANCELLED, "interrupted");
        else
            run_target(check, &runs[t]);
        columns[t] = (struct pw_report_target){.target = check->request.target, .error = runs[t].error.message};
        if (runs[t].error.status == PW_OK)
            columns[t].check = &runs[t].report;
        else
            worsen(check, runs[t].error.status == PW_ERR_CANCELLED ? PW_EXIT_GATE : pw_options_fail(&runs[t].error));
    }
    if (status == PW_OK)
        status = show(check, &report, &err);
    if (status != PW_OK)
        worsen(check, pw_options_fail(&err));
    for (size_t t = 0; runs && t < count; t++) {
        pw_check_gate_clear(&runs[t].gate);
        pw_check_run_clear(&runs[t].run);
    }
    pw_free(runs);
}

static void check_all(struct check *check)
{
    struct pw_error err = {0};
    pw_status status = PW_OK;

    if (check->options->format == PW_FORMAT_JSON && several(check))
        check->json = pw_report_checks_begin();
    if (check->options->format == PW_FORMAT_JUNIT)
        pw_report_junit_begin(&check->out);
    for (int set = 0; set == 0 || (set < check->options->dim_sets && !pw_check_run_interrupted()); set++)
        check_set(check, set);
    if (check->options->format == PW_FORMAT_JUNIT)
        pw_report_junit_end(&check->out);
    if (check->json)
        status = pw_report_checks_end(check->json, &check->out, &err);
    if (status == PW_OK && check->out.failed)
        status = pw_error_memory(&err, check->out.size);
    if (status != PW_OK)
        worsen(check, pw_options_fail(&err));
    else if (check->out.size)
        worsen(check, pw_options_write(check->options, pw_buf_text(&check->out), check->out.size));
    pw_buf_clear(&check->out);
    pw_record_seen_clear(&check->recorded);
}

/* ---- the command ---- */

struct texts { /* own options */
    const char *op, *case_id, *no_timing, *which, *root, *record, *triage, *gate_time, *soak;
};

static pw_status understand(const struct texts *own, struct check *check, struct pw_error *err)
{
    double seconds = DEFAULT_GATE_SECONDS;

    if (check->options->arg_count != 1)
        return pw_error_set(err, PW_ERR_USAGE, "check: expected one MODEL, found %d; see portwright check --help",
                            check->options->arg_count);
    if (own->gate_time && (!pw_text_double(own->gate_time, &seconds) || !(seconds >= 0 && seconds <= 86400)))
        return pw_error_set(err, PW_ERR_USAGE, "--gate-time: expected seconds from 0 to 86400, found '%s'",
                            own->gate_time);
    if (own->soak && (own->which || own->record || own->case_id || own->triage))
        return pw_error_set(err, PW_ERR_USAGE, "--soak goes with --op alone: baselines are another run");
    if (own->soak)
        return pw_options_duration("--soak", own->soak, &check->soak_ns, err);
    if (own->record && (own->op || own->case_id))
        return pw_error_set(err, PW_ERR_USAGE, "--record: a baseline has all signatures: leave --op and --case out");
    check->request = (struct pw_check_request){.op = own->op, .case_id = own->case_id, .timing = !own->no_timing};
    check->gate = (struct pw_check_gate_request){.root = own->root ? own->root : PW_BASELINE_DIR,
                                                 .which = own->which,
                                                 .partial = own->op || own->case_id,
                                                 .budget_ns = own->no_timing ? 0 : (int64_t)(seconds * 1e9),
                                                 .update_triage = own->triage != NULL};
    check->record = own->record != NULL;
    return PW_OK;
}

/* The binding sets, also those of the protocol. */
static pw_status take_sets(const struct check *check, struct pw_options *options, struct pw_error *err)
{
    pw_status status = pw_check_run_sets(options, err);

    if (status == PW_OK && check->record && options->dim_sets > 1)
        status =
            pw_error_set(err, PW_ERR_USAGE,
                         "--record: of one binding set, found %d (--dim, or 'dims' of the protocol): name one with "
                         "--dim, or use portwright baseline record",
                         options->dim_sets);
    return status;
}

int pw_cmd_check(int argc, char **argv)
{
    struct texts t = {0};
    const struct pw_option_own own[] = {
        {"op", "NAME", "only signatures of this operator (Softmax or Softmax-13)", &t.op},
        {"case", "ID", "only this case, as a failure prints it", &t.case_id},
        {"no-timing", NULL, "verdicts only", &t.no_timing},
        {"baseline", "B", "gate against latest, pending, a number or a file", &t.which},
        {"baselines", "DIR", "where they and the triage file are (default baselines)", &t.root},
        {"gate-time", "SECONDS", "for what the gate measures more to decide (default 30)", &t.gate_time},
        {"record", NULL, "keep this run as the pending baseline", &t.record},
        {"soak", "TIME", "the cases and the graph over and over for so long (2h), with what drifts", &t.soak},
        {"triage", NULL, "failing signatures become open entries of the triage file", &t.triage},
        {0}};
    const struct pw_command_usage usage = {
        "check", "MODEL",
        "Verifies every signature of the graph on the target against golden, times it beside the fast reference,\n"
        "records the run and exits 1 when a gate failed. Several targets give one table with a column group each.",
        "target dim project db ops-dir format output seed jobs quiet color junit", own};
    struct pw_options options;
    struct check check = {.options = &options};
    struct pw_error err = {0};
    int exit_code;

    pw_options_parse(argc, argv, &usage, &options, &exit_code);
    if (exit_code < 0 && understand(&t, &check, &err) != PW_OK)
        exit_code = pw_options_fail(&err);
    if (exit_code < 0) {
        if (take_sets(&check, &options, &err) != PW_OK) {
            exit_code = pw_options_fail(&err);
            pw_options_clear(&options);
            return exit_code;
        }
        pw_check_run_interruptible();
        if (!options.target_count)
            options.targets[options.target_count++] = "opencl";
        if (check.soak_ns)
            check.exit_code = pw_check_soak(&options, t.op, (double)check.soak_ns / 1e9);
        else
            check_all(&check);
        exit_code = check.exit_code;
    }
    pw_options_clear(&options);
    return exit_code;
}
