/*
 * portwright verify: every signature of a graph on the target against golden, with as many cases as the budget gives.
 * The same session and events as check; more of what is tried can be chosen, and every case is in the report.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/capture_inputs.h"
#include "cli/check_run.h"
#include "cli/cmd.h"
#include "cli/gather.h"
#include "cli/verify_sanitize.h"
#include "report/verify.h"

struct texts { /* of the command line */
    const char *op, *case_id, *budget, *timeout, *cases, *dists, *dtypes, *max_failures, *captured;
    const char *fail_fast, *explain, *no_shrink, *graph_shapes, *sanitize, *huge;
};

/* Cuts the next word of a list off; false at its end. */
static bool next_word(const char **at, char *dst, size_t size)
{
    size_t length = strcspn(*at, ",");

    if (!**at)
        return false;
    snprintf(dst, size, "%.*s", (int)(length < size ? length : size - 1), *at);
    *at += length + ((*at)[length] == ',');
    return true;
}

static pw_status parse_dists(const char *text, unsigned *bits, struct pw_error *err)
{
    const char *names[PW_DIST_COUNT];
    char word[32];

    for (int i = 0; i < PW_DIST_COUNT; i++)
        names[i] = pw_dist_name((pw_dist)i);
    while (next_word(&text, word, sizeof word)) {
        int found = -1;

        for (int i = 0; i < PW_DIST_COUNT; i++)
            if (!strcmp(word, names[i]))
                found = i;
        if (found < 0) {
            const char *near = pw_text_nearest(word, names, PW_DIST_COUNT);

            return pw_error_set(err, PW_ERR_USAGE, "--dist: no distribution is named '%s'%s%s%s", word,
                                near ? "; did you mean '" : "; see portwright verify --help", near ? near : "",
                                near ? "'?" : "");
        }
        *bits |= 1u << found;
    }
    return *bits ? PW_OK : pw_error_set(err, PW_ERR_USAGE, "--dist: nothing is selected");
}

static pw_status parse_dtypes(const char *text, unsigned *bits, struct pw_error *err)
{
    char word[32];

    *bits = 0;
    if (!strcmp(text, "graph"))
        return PW_OK;
    while (next_word(&text, word, sizeof word)) {
        pw_dtype dtype = pw_dtype_parse(word);

        if (dtype == PW_DTYPE_UNDEFINED)
            return pw_error_set(err, PW_ERR_USAGE, "--dtype: expected graph or names such as float16, found '%s'",
                                word);
        *bits |= 1u << dtype;
    }
    return *bits ? PW_OK : pw_error_set(err, PW_ERR_USAGE, "--dtype: nothing is selected");
}

static pw_status parse_count(const char *name, const char *text, int *out, struct pw_error *err)
{
    int64_t value = 0;

    if (!pw_text_int64(text, &value) || value < 1 || value > 1000000)
        return pw_error_set(err, PW_ERR_USAGE, "--%s: expected a whole number from 1, found '%s'", name, text);
    *out = (int)value;
    return PW_OK;
}

/* Of tests, on machines without the memory. */
static pw_status huge_elements(const char *text, int64_t *out, struct pw_error *err)
{
    if (!pw_text_int64(text, out) || *out < 1 << 16 || *out > (int64_t)1 << 40)
        return pw_error_set(err, PW_ERR_USAGE,
                            "PORTWRIGHT_HUGE_ELEMENTS: expected a number from 2^16 to 2^40, found '%s'", text);
    return PW_OK;
}

static pw_status read_effort(const struct texts *t, struct pw_verify_effort *effort, struct pw_error *err)
{
    pw_status status = PW_OK;

    *effort = (struct pw_verify_effort){.dtypes = UINT_MAX,
                                        .captured = t->captured,
                                        .fail_fast = t->fail_fast != NULL,
                                        .no_shrink = t->no_shrink != NULL,
                                        .shapes = t->graph_shapes ? -1 : 0,
                                        .huge = t->huge != NULL,
                                        .explain = t->explain != NULL};
    if (status == PW_OK && getenv("PORTWRIGHT_HUGE_ELEMENTS"))
        status = huge_elements(getenv("PORTWRIGHT_HUGE_ELEMENTS"), &effort->huge_elements, err);
    if (status == PW_OK && t->huge &&
        (t->budget || t->dists || t->cases || t->captured || t->graph_shapes || t->case_id || t->explain ||
         t->sanitize))
        status = pw_error_set(err, PW_ERR_USAGE,
                              "--huge is one case a signature: --op, --dtype and --case-timeout go with it");
    if (status == PW_OK && t->budget)
        status = pw_options_duration("--budget", t->budget, &effort->budget_ns, err);
    if (status == PW_OK && t->timeout)
        status = pw_options_duration("--case-timeout", t->timeout, &effort->case_timeout_ns, err);
    if (status == PW_OK && t->dists)
        status = parse_dists(t->dists, &effort->dists, err);
    if (status == PW_OK && t->dtypes)
        status = parse_dtypes(t->dtypes, &effort->dtypes, err);
    if (status == PW_OK && t->cases)
        status = parse_count("cases", t->cases, &effort->min_cases, err);
    if (status == PW_OK && t->max_failures)
        status = parse_count("max-failures", t->max_failures, &effort->max_failures, err);
    if (status == PW_OK && (effort->dists >> PW_DIST_CAPTURED & 1) && !t->captured)
        status = pw_error_set(err, PW_ERR_USAGE,
                              "--dist captured: give the folder with --captured (portwright run --capture writes it)");
    return status;
}

static int write_report(const struct pw_check_run *run, const struct pw_verify_effort *effort, int64_t elapsed_ns)
{
    const struct pw_options *options = run->options;
    struct pw_report_verify r = {.check = pw_check_run_report(run),
                                 .cases = run->cases,
                                 .case_count = run->case_count,
                                 .case_left_out = run->case_left_out,
                                 .elapsed_ns = elapsed_ns,
                                 .budget_ns = effort->budget_ns};
    struct pw_buf out = {0};
    struct pw_error err = {0};
    bool to_terminal = !options->output && isatty(STDOUT_FILENO);
    bool color = options->color == 1 || (options->color < 0 && to_terminal && !getenv("NO_COLOR"));
    pw_status status = PW_OK;
    int exit_code;

    if (effort->explain)
        r.check.exit_code = PW_EXIT_HELD;
    switch (options->format) {
    case PW_FORMAT_JSON:
        status = pw_report_verify_json(&r, &out, &err);
        break;
    case PW_FORMAT_CSV:
        pw_report_verify_csv(&r, &out);
        break;
    case PW_FORMAT_MD:
        pw_report_verify_md(&r, &out);
        break;
    case PW_FORMAT_JUNIT:
        pw_report_verify_junit(&r, &out);
        break;
    default:
        pw_report_verify_text(&r, to_terminal ? pw_options_width() : 150, color, &out);
    }
    if (status == PW_OK && out.failed)
        status = pw_error_memory(&err, out.size);
    exit_code =
        status == PW_OK ? pw_gather_add(options->gather, options, pw_buf_text(&out), out.size) : pw_options_fail(&err);
    pw_buf_clear(&out);
    return exit_code == PW_EXIT_HELD ? r.check.exit_code : exit_code;
}

static int verify_one(const struct pw_options *options, const struct pw_check_request *request)
{
    int64_t begun_ns = pw_clock_ns();
    struct pw_check_run run;
    struct pw_error err = {0};
    int exit_code;

    if (pw_check_run(&run, options, request, &err) != PW_OK)
        exit_code = pw_options_fail(&err);
    else
        exit_code = run.error.status != PW_OK ? pw_options_fail(&run.error)
                                              : write_report(&run, &request->effort, pw_clock_ns() - begun_ns);
    if (run.error.status == PW_ERR_CANCELLED)
        exit_code = PW_EXIT_GATE;
    pw_check_run_clear(&run);
    return exit_code;
}

/* Every target with every binding set, into one report; the exit code. */
static int verify_all(struct pw_options *options, struct pw_check_request *request)
{
    struct pw_gather gather = pw_gather_begin(options);
    int exit_code, worst = PW_EXIT_HELD;

    options->gather = &gather;
    for (int target = 0; target < options->target_count && !pw_check_run_interrupted(); target++)
        for (int set = 0; set == 0 || (set < options->dim_sets && !pw_check_run_interrupted()); set++) {
            request->target = options->targets[target];
            request->set = set;
            exit_code = verify_one(options, request);
            worst = exit_code > worst ? exit_code : worst;
        }
    exit_code = pw_gather_end(&gather, options);
    return exit_code > worst ? exit_code : worst;
}

int pw_cmd_verify(int argc, char **argv)
{
    struct texts t = {0};
    const struct pw_option_own own[] = {
        {"op", "NAME", "only signatures of this operator (Softmax or Softmax-13)", &t.op},
        {"case", "ID", "only this case, as a failure prints it", &t.case_id},
        {"budget", "TIME", "30s, 5m: go on with new cases until then; every signature gets its minimum first",
         &t.budget},
        {"cases", "N", "minimum of cases a signature (default 24, or what touches everything once)", &t.cases},
        {"dist", "D[,D]", "uniform, normal, exact, wide, cancel, special, masked, captured (default all)", &t.dists},
        {"dtype", "T[,T]", "storage dtypes; graph: the graph's (default all that the kernels claim)", &t.dtypes},
        {"captured", "DIR", "activations of a run (portwright run --capture DIR), or a data set to run it on",
         &t.captured},
        {"graph-shapes", NULL, "the graph's shapes only", &t.graph_shapes},
        {"case-timeout", "TIME", "a run of a case that takes longer is a TIMEOUT (default: by its work, 15 s at least)",
         &t.timeout},
        {"fail-fast", NULL, "stop at the first failed case", &t.fail_fast},
        {"max-failures", "N", "stop after so many failed cases", &t.max_failures},
        {"no-shrink", NULL, "leave failing cases as large as they are", &t.no_shrink},
        {"explain", NULL, "run nothing: say what would be judged, how strictly and why", &t.explain},
        {"huge", NULL, "one case of more than 2^31 elements a signature, where memory suffices: overflowing indices",
         &t.huge},
        {"sanitize", NULL, "kernels on Oclgrind: races, bounds, uninitialised reads, barriers; MODEL may be left out",
         &t.sanitize},
        {0}};
    const struct pw_command_usage usage = {
        "verify", "MODEL",
        "Verifies the graph's signatures on the target against golden: every distribution, other shapes and dtypes,\n"
        "properties. A failure prints the line that reproduces it and the smallest case that still fails.",
        "target dim project db ops-dir format junit output seed jobs quiet color", own};
    struct pw_options options;
    struct pw_check_request request = {.keep_cases = true, .verdicts_only = true};
    struct pw_session_inputs inputs = {.folder = NULL};
    bool data_set = false;
    struct pw_error err = {0};
    int exit_code;

    pw_options_parse(argc, argv, &usage, &options, &exit_code);
    if (exit_code < 0 && read_effort(&t, &request.effort, &err) != PW_OK)
        exit_code = pw_options_fail(&err);
    if (exit_code < 0 && t.sanitize && options.arg_count <= 1)
        exit_code = pw_cli_sanitize(&options, t.op);
    if (exit_code < 0 && options.arg_count != 1) {
        pw_error_set(&err, PW_ERR_USAGE, "verify: expected one MODEL, found %d; see portwright verify --help",
                     options.arg_count);
        exit_code = pw_options_fail(&err);
    }
    if (exit_code < 0 && t.captured &&
        pw_cli_capture_inputs(&options, t.captured, &options.arena, &request.effort.captured, &data_set, &err) != PW_OK)
        exit_code = pw_options_fail(&err);
    if (data_set) {
        inputs.folder = t.captured;
        request.inputs = &inputs;
    }
    if (exit_code >= 0) {
        pw_options_clear(&options);
        return exit_code;
    }
    request.op = t.op;
    request.case_id = t.case_id;
    if (pw_check_run_sets(&options, &err) != PW_OK) {
        exit_code = pw_options_fail(&err);
        pw_options_clear(&options);
        return exit_code;
    }
    pw_check_run_interruptible();
    if (!options.target_count)
        options.targets[options.target_count++] = "opencl";
    if (t.explain && !options.db)
        options.db = ""; /* nothing was measured: nothing is recorded */
    exit_code = verify_all(&options, &request);
    pw_options_clear(&options);
    return exit_code;
}
