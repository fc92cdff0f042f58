/* Following a session: its events become rows and failures. */
#include "cli/check_run.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"

#define MAX_CASES 100000 /* kept of a long run; failures always are */
#define MAX_FAILURES 200 /* listed one by one; more are counted */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

void pw_check_run_interruptible(void)
{
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
}

bool pw_check_run_interrupted(void)
{
    return interrupted;
}

static void show_progress(struct pw_check_run *run, const struct pw_event *event)
{
    const struct pw_inventory *inventory = pw_session_inventory(run->session);
    char safe[64];

    if (run->progress)
        fprintf(stderr, "\r\033[K[%zu/%zu] %s %s", event->done, event->total,
                pw_text_show(safe, sizeof safe, inventory->signatures[event->result.signature].op_label, 40),
                pw_verdict_name(event->result.verdict));
}

static void clear_progress(const struct pw_check_run *run)
{
    if (run->progress)
        fputs("\r\033[K", stderr);
}

static bool failed_verdict(pw_verdict verdict)
{
    return verdict == PW_VERDICT_FAIL || verdict == PW_VERDICT_CRASH || verdict == PW_VERDICT_TIMEOUT ||
           verdict == PW_VERDICT_ERROR;
}

/* Keeps the event; true when it is owned by the check from now on. */
static bool keep_event(struct pw_check_run *run, struct pw_event *event)
{
    if (PW_GROW(run->kept, run->kept_cap, run->kept_count + 1, &run->error) != PW_OK)
        return false;
    run->kept[run->kept_count++] = event;
    return true;
}

/* For reports that list every case. */
static bool keep_case(struct pw_check_run *run, struct pw_event *event)
{
    bool room = run->case_count < MAX_CASES || failed_verdict(event->result.verdict);

    if (!run->keep_cases)
        return false;
    if (!room || PW_GROW(run->cases, run->case_cap, run->case_count + 1, &run->error) != PW_OK ||
        !keep_event(run, event)) {
        run->case_left_out++;
        return false;
    }
    run->cases[run->case_count++] = &event->result;
    return true;
}

static bool on_case(struct pw_check_run *run, struct pw_event *event)
{
    const struct pw_case_result *result = &event->result;
    bool kept;

    show_progress(run, event);
    run->case_sums[result->signature] += pw_hash64(result->id, strlen(result->id), 0);
    kept = keep_case(run, event);
    if (!failed_verdict(result->verdict) || run->failure_count == MAX_FAILURES)
        return kept;
    if (PW_GROW(run->failures, run->failure_cap, run->failure_count + 1, &run->error) != PW_OK)
        return kept;
    run->failures[run->failure_count++] = (struct pw_report_failure){.signature = result->signature,
                                                                     .case_id = result->id,
                                                                     .verdict = pw_verdict_name(result->verdict),
                                                                     .reason = result->reason,
                                                                     .shapes = result->shapes,
                                                                     .log = result->log};
    return kept || keep_event(run, event);
}

/* The environment against portwright.lock, when there is one: a gate that costs nothing, so it comes first. */
static void check_lock(struct pw_check_run *run)
{
    const struct pw_environment_request request = {.device = pw_session_device(run->session), .target = run->target};
    pw_pin policy = pw_session_protocol(run->session)->environment;
    struct pw_environment environment = {0};
    struct pw_buf differences = {0};
    struct pw_error err = {0};
    bool matches = false;
    pw_status status;

    if (policy == PW_PIN_IGNORE || !pw_file_exists(PW_LOCK_FILE))
        return;
    status = pw_environment_read(&request, &environment, &err);
    if (status == PW_OK)
        status = pw_lock_check(PW_LOCK_FILE, &environment, &matches, &differences, &err);
    if (status == PW_OK && !matches) {
        clear_progress(run);
        fprintf(stderr, "portwright: this is not the environment that " PW_LOCK_FILE " pins%s:\n%s",
                policy == PW_PIN_WARN ? "" : ", so nothing was run", pw_buf_text(&differences));
        if (policy == PW_PIN_REFUSE) /* ends as a gate that failed */
            status = pw_error_set(&err, PW_ERR_CANCELLED, "the environment is not the pinned one");
    }
    if (status != PW_OK) {
        run->error = err;
        pw_session_cancel(run->session);
        run->finished = true; /* what was queued never begins, so no word of its end comes */
    }
    pw_buf_clear(&differences);
    pw_environment_clear(&environment);
}

static void on_event(struct pw_check_run *run, struct pw_event *event)
{
    bool kept = false;

    switch (event->kind) {
    case PW_EVENT_DEVICE:
        if (event->failed)
            run->error = event->error;
        else
            check_lock(run);
        break;
    case PW_EVENT_COVERAGE:
        if (event->failed && run->error.status == PW_OK)
            run->error = event->error;
        break;
    case PW_EVENT_CASE:
        kept = on_case(run, event);
        break;
    case PW_EVENT_SIGNATURE:
        kept = keep_event(run, event);
        if (kept)
            run->rows[event->summary.signature] = &event->summary;
        break;
    case PW_EVENT_FINISHED:
        run->finished = true;
        if (run->verified) { /* a job that the gate asked for */
            run->extra_error = event->error;
            kept = keep_event(run, event);
            run->extra = kept ? event : NULL;
            break;
        }
        run->verified = true;
        run->recorded_run = pw_session_recorded_run(run->session);
        run->totals = event->totals;
        if (event->failed && run->error.status == PW_OK)
            run->error = event->error;
        break;
    case PW_EVENT_MESSAGE:
        if (!run->options->quiet || event->failed) {
            char safe[PW_ERROR_MAX];

            clear_progress(run);
            fprintf(stderr, "portwright: %s\n", pw_text_show(safe, sizeof safe, event->error.message, 0));
        }
        break;
    default:
        break;
    }
    if (!kept)
        pw_event_free(event);
}

void pw_check_run_follow(struct pw_check_run *run)
{
    struct pollfd wait = {.fd = pw_session_fd(run->session), .events = POLLIN};

    run->finished = false;
    while (!run->finished) {
        struct pw_event *event;

        poll(&wait, 1, 250);
        if (interrupted)
            pw_session_cancel(run->session);
        while ((event = pw_session_next(run->session)))
            on_event(run, event);
    }
    clear_progress(run);
}

pw_status pw_check_run_select(const struct pw_inventory *inventory, const char *op, struct pw_arena *arena,
                              size_t **selection, size_t *count, struct pw_error *err)
{
    size_t length = strlen(op);

    *count = 0;
    *selection = pw_arena_alloc(arena, inventory->signature_count + 1, sizeof **selection);
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

int pw_check_run_gate(const struct pw_check_run *run)
{
    if (run->error.status == PW_ERR_CANCELLED)
        return PW_EXIT_GATE;
    return run->totals.gate_failed > (run->verdicts_only ? run->totals.off_target : 0) || !run->totals.held
               ? PW_EXIT_GATE
               : PW_EXIT_HELD;
}

static const struct pw_target_info *device_info(const struct pw_check_run *run)
{
    const struct pw_device *device = pw_session_device(run->session);

    return device ? pw_device_info(device) : NULL;
}

struct pw_report_check pw_check_run_report(const struct pw_check_run *run)
{
    const struct pw_target_info *info = device_info(run);
    const struct pw_protocol *protocol = pw_session_protocol(run->session);

    return (struct pw_report_check){.inventory = pw_session_inventory(run->session),
                                    .model_path = pw_session_model(run->session)->path,
                                    .graph_id = pw_session_graph_id(run->session),
                                    .target = run->target,
                                    .device = info ? info->name : "the reference",
                                    .runtime = info ? info->runtime : "",
                                    .bindings = pw_session_bindings(run->session),
                                    .protocol = protocol->path ? protocol->path : "",
                                    .ops_dirs = run->options->ops_dirs,
                                    .ops_dir_count = run->options->ops_dir_count,
                                    .captured = run->captured,
                                    .case_timeout_ns = run->case_timeout_ns,
                                    .seed = run->options->seed,
                                    .rows = run->rows,
                                    .failures = run->failures,
                                    .failure_count = run->failure_count,
                                    .totals = run->totals,
                                    .verdicts_only = run->verdicts_only,
                                    .exit_code = pw_check_run_gate(run)};
}

pw_status pw_check_run_session(const struct pw_options *options, const struct pw_check_request *request,
                               struct pw_session **out, struct pw_error *err)
{
    const char *dirs[PW_OPTION_TARGETS];
    struct pw_session_options session = {.model_path = options->args[0],
                                         .target = request->target,
                                         .project = options->project,
                                         .db = options->db,
                                         .ops_dirs = dirs,
                                         .ops_dir_count = options->ops_dir_count,
                                         .inputs = request->inputs,
                                         .seed = options->seed,
                                         .jobs = options->jobs,
                                         .effort = request->effort};

    for (size_t i = 0; i < options->ops_dir_count; i++)
        dirs[i] = options->ops_dirs[i].path;
    if (request->set < options->dim_sets) {
        session.bindings = options->dims[request->set];
        session.binding_count = options->dim_counts[request->set];
    }
    return pw_session_open(&session, out, err);
}

static pw_status open_session(struct pw_check_run *run, const struct pw_check_request *request, struct pw_error *err)
{
    pw_status status = pw_check_run_session(run->options, request, &run->session, err);
    size_t count;

    if (status != PW_OK)
        return status;
    count = pw_session_inventory(run->session)->signature_count;
    run->rows = pw_arena_alloc(&run->arena, count + 1, sizeof *run->rows);
    run->case_sums = pw_arena_alloc(&run->arena, count + 1, sizeof *run->case_sums);
    return run->rows && run->case_sums ? PW_OK : pw_error_memory(err, count * sizeof *run->rows);
}

pw_status pw_check_run_sets(struct pw_options *options, struct pw_error *err)
{
    const char *path = options->project                    ? options->project
                       : pw_file_exists("portwright.yaml") ? "portwright.yaml"
                                                           : NULL;
    struct pw_protocol *protocol = NULL;
    pw_status status;

    if (options->dim_sets || !path)
        return PW_OK;
    status = pw_protocol_load(path, &protocol, err);
    if (status != PW_OK)
        return status;
    if (protocol->binding_count > PW_OPTION_SETS)
        status = pw_error_set(err, PW_ERR_USAGE, "%s: key 'dims': at most %d binding sets, found %zu", path,
                              PW_OPTION_SETS, protocol->binding_count);
    for (size_t s = 0; s < protocol->binding_count && status == PW_OK; s++) {
        const struct pw_binding_set *set = &protocol->bindings[s];
        struct pw_binding *items = pw_arena_alloc(&options->arena, set->count + 1, sizeof *items);

        for (size_t k = 0; k < set->count && items; k++) {
            items[k].name = pw_arena_strndup(&options->arena, set->items[k].name, strlen(set->items[k].name));
            items[k].value = set->items[k].value;
            if (!items[k].name)
                items = NULL;
        }
        if (!items)
            status = pw_error_memory(err, set->count * sizeof *items);
        options->dims[options->dim_sets] = items;
        options->dim_counts[options->dim_sets++] = set->count;
    }
    pw_protocol_destroy(protocol);
    return status;
}

pw_status pw_check_run(struct pw_check_run *run, const struct pw_options *options,
                       const struct pw_check_request *request, struct pw_error *err)
{
    size_t *selection = NULL, count = 0;
    pw_status status;

    *run = (struct pw_check_run){.options = options,
                                 .target = request->target,
                                 .keep_cases = request->keep_cases,
                                 .verdicts_only = request->verdicts_only && !request->op && !request->case_id,
                                 .captured = request->effort.captured,
                                 .case_timeout_ns = request->effort.case_timeout_ns,
                                 .progress = !options->quiet && isatty(STDERR_FILENO)};
    pw_clock_iso(pw_clock_wall_ms(), run->recorded, sizeof run->recorded);
    status = open_session(run, request, err);
    if (status == PW_OK && request->op)
        status =
            pw_check_run_select(pw_session_inventory(run->session), request->op, &run->arena, &selection, &count, err);
    if (status == PW_OK)
        status = request->case_id ? pw_session_verify_case(run->session, request->case_id, err)
                                  : pw_session_verify(run->session, selection, count, request->timing, NULL, err);
    if (status == PW_OK)
        pw_check_run_follow(run);
    return status;
}

void pw_check_run_clear(struct pw_check_run *run)
{
    pw_session_close(run->session);
    for (size_t i = 0; i < run->kept_count; i++)
        pw_event_free(run->kept[i]);
    pw_free(run->kept);
    pw_free(run->failures);
    pw_free(run->cases);
    pw_arena_clear(&run->arena);
    *run = (struct pw_check_run){0};
}
