/*
 * portwright check (also --check): verifies every signature of a graph on the target, reports, records,
 * and exits as the gate says. A client of the session, as the workbench is.
 */
#include <stdlib.h>
#include <unistd.h>

#include "cli/baseline_record.h"
#include "cli/check_gate.h"
#include "cli/cmd.h"

#define DEFAULT_GATE_SECONDS 30.0

struct check {
    struct pw_options *options;
    struct pw_check_request request; /* target and set are filled in for each run */
    struct pw_check_gate_request gate;
    bool record;
};

static int report(const struct pw_check_run *run, const struct pw_check_gate *gate)
{
    const struct pw_options *options = run->options;
    struct pw_report_check r = pw_check_run_report(run);
    struct pw_buf out = {0};
    struct pw_error err = {0};
    bool to_terminal = !options->output && isatty(STDOUT_FILENO);
    bool color = options->color == 1 || (options->color < 0 && to_terminal && !getenv("NO_COLOR"));
    pw_status status = PW_OK;
    int exit_code;

    r.gate = &gate->report;
    r.exit_code = gate->report.judgement.passed ? PW_EXIT_HELD : PW_EXIT_GATE;
    switch (options->format) {
    case PW_FORMAT_JSON:
        status = pw_report_check_json(&r, &out, &err);
        break;
    case PW_FORMAT_CSV:
        pw_report_check_csv(&r, &out);
        break;
    case PW_FORMAT_MD:
        pw_report_check_md(&r, &out);
        break;
    default:
        pw_report_check_text(&r, to_terminal ? pw_options_width() : 140, color, &out);
    }
    if (status == PW_OK && out.failed)
        status = pw_error_memory(&err, out.size);
    exit_code = status == PW_OK ? pw_options_write(options, pw_buf_text(&out), out.size) : pw_options_fail(&err);
    pw_buf_clear(&out);
    return exit_code == PW_EXIT_HELD ? r.exit_code : exit_code;
}

/* Gates, report, and what is kept of the run. */
static int conclude(const struct check *check, struct pw_check_run *run)
{
    struct pw_record_request record = {
        .root = check->gate.root, .precision = true, .throughput = check->request.timing, .timing = true};
    struct pw_check_gate gate;
    struct pw_buf said = {0};
    struct pw_error err = {0};
    pw_status status = pw_check_gate(&gate, run, &check->gate, &err);
    int exit_code;

    if (status == PW_OK && check->record)
        status = pw_baseline_record_runs(&run, 1, &record, &said, &err);
    exit_code = status == PW_OK ? report(run, &gate) : pw_options_fail(&err);
    if (said.size && !check->options->quiet)
        fprintf(stderr, "%s", pw_buf_text(&said));
    pw_buf_clear(&said);
    pw_check_gate_clear(&gate);
    return exit_code;
}

/* One target with one binding set. */
static int check_one(const struct check *check)
{
    struct pw_check_run run;
    struct pw_error err = {0};
    int exit_code;

    if (pw_check_run(&run, check->options, &check->request, &err) != PW_OK)
        exit_code = pw_options_fail(&err);
    else
        exit_code = run.error.status != PW_OK ? pw_options_fail(&run.error) : conclude(check, &run);
    if (run.error.status == PW_ERR_CANCELLED)
        exit_code = PW_EXIT_GATE;
    pw_check_run_clear(&run);
    return exit_code;
}

int pw_cmd_check(int argc, char **argv)
{
    const char *op = NULL, *case_id = NULL, *no_timing = NULL, *which = NULL, *root = NULL, *record = NULL;
    const char *triage = NULL, *gate_time = NULL;
    double seconds = DEFAULT_GATE_SECONDS;
    const struct pw_option_own own[] = {
        {"op", "NAME", "only signatures of this operator (Softmax or Softmax-13)", &op},
        {"case", "ID", "only this case, as a failure prints it", &case_id},
        {"no-timing", NULL, "verdicts only", &no_timing},
        {"baseline", "B", "gate against latest, pending, a number or a file", &which},
        {"baselines", "DIR", "where they and the triage file are (default baselines)", &root},
        {"record", NULL, "keep this run as the pending baseline", &record},
        {"triage", NULL, "failing signatures become open entries of the triage file", &triage},
        {0}};
    const struct pw_command_usage usage = {
        "check", "MODEL",
        "Verifies every signature of the graph on the target against golden, times it beside the fast reference,\n"
        "records the run and exits 1 when a gate failed.",
        "target dim project db ops-dir format output seed jobs quiet color", own};
    struct pw_options options;
    struct check check = {.options = &options};
    struct pw_error err = {0};
    int exit_code, worst = PW_EXIT_HELD;

    pw_options_parse(argc, argv, &usage, &options, &exit_code);
    if (exit_code < 0 && options.arg_count != 1) {
        pw_error_set(&err, PW_ERR_USAGE, "check: expected one MODEL, found %d; see portwright check --help",
                     options.arg_count);
        exit_code = pw_options_fail(&err);
    }
    if (exit_code < 0 && gate_time && (!pw_text_double(gate_time, &seconds) || !(seconds >= 0 && seconds <= 86400))) {
        pw_error_set(&err, PW_ERR_USAGE, "--gate-time: expected seconds from 0 to 86400, found '%s'", gate_time);
        exit_code = pw_options_fail(&err);
    }
    if (exit_code < 0 && record && (op || case_id || options.dim_sets > 1)) {
        pw_error_set(&err, PW_ERR_USAGE,
                     "--record: a baseline has all signatures of one binding set here; without --op and --case, or use "
                     "portwright baseline record");
        exit_code = pw_options_fail(&err);
    }
    if (exit_code >= 0) {
        pw_options_clear(&options);
        return exit_code;
    }
    check.request = (struct pw_check_request){.op = op, .case_id = case_id, .timing = !no_timing};
    check.gate = (struct pw_check_gate_request){.root = root ? root : PW_BASELINE_DIR,
                                                .which = which,
                                                .partial = op || case_id,
                                                .budget_ns = no_timing ? 0 : (int64_t)(seconds * 1e9),
                                                .update_triage = triage != NULL};
    check.record = record != NULL;
    pw_check_run_interruptible();
    if (!options.target_count)
        options.targets[options.target_count++] = "opencl";
    for (int t = 0; t < options.target_count && !pw_check_run_interrupted(); t++)
        for (int set = 0; set == 0 || (set < options.dim_sets && !pw_check_run_interrupted()); set++) {
            check.request.target = options.targets[t];
            check.request.set = set;
            exit_code = check_one(&check);
            worst = exit_code > worst ? exit_code : worst;
        }
    pw_options_clear(&options);
    return worst;
}
