/*
 * portwright check (also --check): verifies every signature of a graph on the target, reports, records,
 * and exits as the gate says. A client of the session, as the workbench is.
 */
#include <stdlib.h>
#include <unistd.h>

#include "cli/check_run.h"
#include "cli/cmd.h"

static int report(const struct pw_check_run *run)
{
    const struct pw_options *options = run->options;
    struct pw_report_check r = pw_check_run_report(run);
    struct pw_buf out = {0};
    struct pw_error err = {0};
    bool to_terminal = !options->output && isatty(STDOUT_FILENO);
    bool color = options->color == 1 || (options->color < 0 && to_terminal && !getenv("NO_COLOR"));
    pw_status status = PW_OK;
    int exit_code;

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

/* One target with one binding set. */
static int check_one(const struct pw_options *options, const struct pw_check_request *request)
{
    struct pw_check_run run;
    struct pw_error err = {0};
    int exit_code;

    if (pw_check_run(&run, options, request, &err) != PW_OK)
        exit_code = pw_options_fail(&err);
    else
        exit_code = run.error.status != PW_OK ? pw_options_fail(&run.error) : report(&run);
    if (run.error.status == PW_ERR_CANCELLED)
        exit_code = PW_EXIT_GATE;
    pw_check_run_clear(&run);
    return exit_code;
}

int pw_cmd_check(int argc, char **argv)
{
    const char *op = NULL, *case_id = NULL, *no_timing = NULL;
    const struct pw_option_own own[] = {{"op", "NAME", "only signatures of this operator (Softmax or Softmax-13)", &op},
                                        {"case", "ID", "only this case, as a failure prints it", &case_id},
                                        {"no-timing", NULL, "verdicts only", &no_timing},
                                        {0}};
    const struct pw_command_usage usage = {
        "check", "MODEL",
        "Verifies every signature of the graph on the target against golden, times it beside the fast reference,\n"
        "records the run and exits 1 when a gate failed.",
        "target dim project db ops-dir format output seed jobs quiet color", own};
    struct pw_options options;
    struct pw_error err = {0};
    int exit_code, worst = PW_EXIT_HELD;

    pw_options_parse(argc, argv, &usage, &options, &exit_code);
    if (exit_code < 0 && options.arg_count != 1) {
        pw_error_set(&err, PW_ERR_USAGE, "check: expected one MODEL, found %d; see portwright check --help",
                     options.arg_count);
        exit_code = pw_options_fail(&err);
    }
    if (exit_code >= 0) {
        pw_options_clear(&options);
        return exit_code;
    }
    pw_check_run_interruptible();
    if (!options.target_count)
        options.targets[options.target_count++] = "opencl";
    for (int t = 0; t < options.target_count && !pw_check_run_interrupted(); t++)
        for (int set = 0; set == 0 || (set < options.dim_sets && !pw_check_run_interrupted()); set++) {
            const struct pw_check_request request = {
                .target = options.targets[t], .set = set, .op = op, .case_id = case_id, .timing = !no_timing};

            exit_code = check_one(&options, &request);
            worst = exit_code > worst ? exit_code : worst;
        }
    pw_options_clear(&options);
    return worst;
}
