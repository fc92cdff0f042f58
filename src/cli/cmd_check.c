/*
 * portwright check (also --check): verifies every signature of a graph on the target, reports, records,
 * and exits as the gate says. A client of the session, as the workbench is.
 */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/options.h"
#include "job/session.h"
#include "report/check.h"

#define MAX_FAILURES 200 /* listed one by one; more are counted */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

struct check {
    struct pw_options *options;
    struct pw_session *session;
    struct pw_arena arena;
    const struct pw_signature_result **rows;
    struct pw_event **kept; /* events whose content the rows point to */
    size_t kept_count, kept_cap;
    struct pw_report_failure *failures;
    size_t failure_count, failure_cap;
    struct pw_verify_totals totals;
    struct pw_error error; /* of the device or the job */
    bool finished, progress;
};

static void show_progress(struct check *check, const struct pw_event *event)
{
    const struct pw_inventory *inventory = pw_session_inventory(check->session);
    char safe[64];

    if (check->progress)
        fprintf(stderr, "\r\033[K[%zu/%zu] %s %s", event->done, event->total,
                pw_text_show(safe, sizeof safe, inventory->signatures[event->result.signature].op_label, 40),
                pw_verdict_name(event->result.verdict));
}

static void clear_progress(const struct check *check)
{
    if (check->progress)
        fputs("\r\033[K", stderr);
}

static bool failed_verdict(pw_verdict verdict)
{
    return verdict == PW_VERDICT_FAIL || verdict == PW_VERDICT_CRASH || verdict == PW_VERDICT_TIMEOUT ||
           verdict == PW_VERDICT_ERROR;
}

/* Keeps the event; true when it is owned by the check from now on. */
static bool keep_event(struct check *check, struct pw_event *event)
{
    if (PW_GROW(check->kept, check->kept_cap, check->kept_count + 1, &check->error) != PW_OK)
        return false;
    check->kept[check->kept_count++] = event;
    return true;
}

static bool on_case(struct check *check, struct pw_event *event)
{
    const struct pw_case_result *result = &event->result;

    show_progress(check, event);
    if (!failed_verdict(result->verdict) || check->failure_count == MAX_FAILURES)
        return false;
    if (PW_GROW(check->failures, check->failure_cap, check->failure_count + 1, &check->error) != PW_OK)
        return false;
    check->failures[check->failure_count++] = (struct pw_report_failure){.signature = result->signature,
                                                                         .case_id = result->id,
                                                                         .verdict = pw_verdict_name(result->verdict),
                                                                         .reason = result->reason,
                                                                         .shapes = result->shapes,
                                                                         .log = result->log};
    return keep_event(check, event);
}

static void on_event(struct check *check, struct pw_event *event)
{
    bool kept = false;

    switch (event->kind) {
    case PW_EVENT_DEVICE:
        if (event->failed)
            check->error = event->error;
        break;
    case PW_EVENT_COVERAGE:
        if (event->failed && check->error.status == PW_OK)
            check->error = event->error;
        break;
    case PW_EVENT_CASE:
        kept = on_case(check, event);
        break;
    case PW_EVENT_SIGNATURE:
        kept = keep_event(check, event);
        if (kept)
            check->rows[event->summary.signature] = &event->summary;
        break;
    case PW_EVENT_FINISHED:
        check->finished = true;
        check->totals = event->totals;
        if (event->failed && check->error.status == PW_OK)
            check->error = event->error;
        break;
    case PW_EVENT_MESSAGE:
        if (!check->options->quiet || event->failed) {
            char safe[PW_ERROR_MAX];

            clear_progress(check);
            fprintf(stderr, "portwright: %s\n", pw_text_show(safe, sizeof safe, event->error.message, 0));
        }
        break;
    default:
        break;
    }
    if (!kept)
        pw_event_free(event);
}

static void follow(struct check *check)
{
    struct pollfd wait = {.fd = pw_session_fd(check->session), .events = POLLIN};

    while (!check->finished) {
        struct pw_event *event;

        poll(&wait, 1, 250);
        if (interrupted)
            pw_session_cancel(check->session);
        while ((event = pw_session_next(check->session)))
            on_event(check, event);
    }
    clear_progress(check);
}

/* Signatures whose operator is --op. */
static pw_status select_op(struct check *check, const char *op, size_t **selection, size_t *count, struct pw_error *err)
{
    const struct pw_inventory *inventory = pw_session_inventory(check->session);
    size_t length = strlen(op);

    *selection = pw_arena_alloc(&check->arena, inventory->signature_count + 1, sizeof **selection);
    if (!*selection)
        return pw_error_memory(err, inventory->signature_count * sizeof **selection);
    for (size_t i = 0; i < inventory->signature_count; i++) {
        const char *label = inventory->signatures[i].op_label;
        const char *colon = strrchr(label, ':');
        const char *name = colon ? colon + 1 : label;

        if (!strcmp(label, op) || (!strncmp(name, op, length) && (name[length] == '-' || !name[length])))
            (*selection)[(*count)++] = i;
    }
    return *count ? PW_OK : pw_error_set(err, PW_ERR_USAGE, "--op '%s': the graph has no such operator", op);
}

static int gate(const struct check *check)
{
    if (check->error.status == PW_ERR_CANCELLED)
        return PW_EXIT_GATE;
    return check->totals.gate_failed || !check->totals.held ? PW_EXIT_GATE : PW_EXIT_HELD;
}

static int report(struct check *check, const char *target)
{
    const struct pw_device *device = pw_session_device(check->session);
    const struct pw_target_info *info = device ? pw_device_info(device) : NULL;
    const struct pw_protocol *protocol = pw_session_protocol(check->session);
    struct pw_report_check r = {.inventory = pw_session_inventory(check->session),
                                .model_path = pw_session_model(check->session)->path,
                                .graph_id = pw_session_graph_id(check->session),
                                .target = target,
                                .device = info ? info->name : "the reference",
                                .runtime = info ? info->runtime : "",
                                .bindings = pw_session_bindings(check->session),
                                .protocol = protocol->path ? protocol->path : "",
                                .seed = check->options->seed,
                                .rows = check->rows,
                                .failures = check->failures,
                                .failure_count = check->failure_count,
                                .totals = check->totals,
                                .exit_code = gate(check)};
    struct pw_buf out = {0};
    struct pw_error err = {0};
    bool to_terminal = !check->options->output && isatty(STDOUT_FILENO);
    bool color = check->options->color == 1 || (check->options->color < 0 && to_terminal && !getenv("NO_COLOR"));
    pw_status status = PW_OK;
    int exit_code;

    switch (check->options->format) {
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
    exit_code = status == PW_OK ? pw_options_write(check->options, pw_buf_text(&out), out.size) : pw_options_fail(&err);
    pw_buf_clear(&out);
    return exit_code == PW_EXIT_HELD ? r.exit_code : exit_code;
}

static void check_clear(struct check *check)
{
    pw_session_close(check->session);
    for (size_t i = 0; i < check->kept_count; i++)
        pw_event_free(check->kept[i]);
    pw_free(check->kept);
    pw_free(check->failures);
    pw_arena_clear(&check->arena);
}

/* One target with one binding set. */
static int check_one(struct pw_options *options, const char *target, int set, const char *op, const char *case_id,
                     bool timing)
{
    struct check check = {.options = options, .progress = !options->quiet && isatty(STDERR_FILENO)};
    const char *dirs[PW_OPTION_TARGETS];
    struct pw_session_options session = {.model_path = options->args[0],
                                         .target = target,
                                         .project = options->project,
                                         .db = options->db,
                                         .ops_dirs = dirs,
                                         .ops_dir_count = options->ops_dir_count,
                                         .seed = options->seed,
                                         .jobs = options->jobs};
    struct pw_error err = {0};
    size_t *selection = NULL, count = 0;
    pw_status status;
    int exit_code;

    for (size_t i = 0; i < options->ops_dir_count; i++)
        dirs[i] = options->ops_dirs[i].path;
    if (set < options->dim_sets) {
        session.bindings = options->dims[set];
        session.binding_count = options->dim_counts[set];
    }
    status = pw_session_open(&session, &check.session, &err);
    if (status == PW_OK) {
        check.rows =
            pw_arena_alloc(&check.arena, pw_session_inventory(check.session)->signature_count + 1, sizeof *check.rows);
        if (!check.rows)
            status = pw_error_memory(&err, sizeof *check.rows);
    }
    if (status == PW_OK && op)
        status = select_op(&check, op, &selection, &count, &err);
    if (status == PW_OK)
        status = case_id ? pw_session_verify_case(check.session, case_id, &err)
                         : pw_session_verify(check.session, selection, count, timing, NULL, &err);
    if (status != PW_OK) {
        exit_code = pw_options_fail(&err);
    } else {
        follow(&check);
        exit_code = check.error.status != PW_OK ? pw_options_fail(&check.error) : report(&check, target);
        if (check.error.status == PW_ERR_CANCELLED)
            exit_code = PW_EXIT_GATE;
    }
    check_clear(&check);
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
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
    if (!options.target_count)
        options.targets[options.target_count++] = "opencl";
    for (int t = 0; t < options.target_count && !interrupted; t++)
        for (int set = 0; set == 0 || (set < options.dim_sets && !interrupted); set++) {
            exit_code = check_one(&options, options.targets[t], set, op, case_id, !no_timing);
            worst = exit_code > worst ? exit_code : worst;
        }
    pw_options_clear(&options);
    return worst;
}
