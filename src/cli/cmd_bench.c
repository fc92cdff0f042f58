/*
 * portwright bench: every signature of a graph timed on the target and on the fast reference, in turns. A client of
 * the session, as the workbench is.
 */
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/check_run.h"
#include "cli/cmd.h"
#include "cli/gather.h"
#include "report/bench.h"

struct wanted {
    const char *op, *cache, *time, *threads, *advice, *no_roofline, *raw;
    struct pw_session_bench bench;
};

struct bench_run {
    const struct pw_options *options;
    struct pw_session *session;
    struct pw_event *finished; /* has the report; owned */
    struct pw_error error;
    bool progress;
};

static pw_status read_wanted(struct wanted *w, const struct pw_options *options, struct pw_error *err)
{
    int64_t threads = 0;
    pw_status status = PW_OK;

    if (options->arg_count != 1)
        return pw_error_set(err, PW_ERR_USAGE, "bench: expected one MODEL, found %d; see portwright bench --help",
                            options->arg_count);
    if (w->cache && strcmp(w->cache, "hot") != 0 && strcmp(w->cache, "cold") != 0)
        return pw_error_set(err, PW_ERR_USAGE, "--cache '%s': expected hot or cold", w->cache);
    if (w->threads && (!pw_text_int64(w->threads, &threads) || threads < 1 || threads > 4096))
        return pw_error_set(err, PW_ERR_USAGE, "--threads '%s': expected a number from 1", w->threads);
    w->bench.cold = w->cache && !strcmp(w->cache, "cold");
    w->bench.threads = (int)threads;
    w->bench.no_peaks = w->no_roofline != NULL;
    if (w->time)
        status = pw_options_duration("--time", w->time, &w->bench.time_ns, err);
    if (status == PW_OK && getenv("PORTWRIGHT_TIMING_WAIT"))
        status = pw_options_duration("PORTWRIGHT_TIMING_WAIT", getenv("PORTWRIGHT_TIMING_WAIT"), &w->bench.lock_wait_ns,
                                     err);
    return status;
}

static void show_progress(const struct bench_run *run, const struct pw_event *event)
{
    const struct pw_signature *s = &pw_session_inventory(run->session)->signatures[event->figure.signature];
    char label[64], time[24];

    if (run->progress)
        fprintf(stderr, "\r\033[K[%zu/%zu] %s %s", event->done, event->total,
                pw_text_show(label, sizeof label, s->op_label, 40),
                event->figure.target.count ? pw_text_duration(time, sizeof time, event->figure.target.median * 1e-9)
                                           : "not timed");
}

static void on_event(struct bench_run *run, struct pw_event *event)
{
    char safe[PW_ERROR_MAX];

    switch (event->kind) {
    case PW_EVENT_DEVICE:
    case PW_EVENT_COVERAGE:
        if (event->failed && run->error.status == PW_OK)
            run->error = event->error;
        break;
    case PW_EVENT_BENCH:
        if (!event->figure_final)
            show_progress(run, event);
        break;
    case PW_EVENT_FINISHED:
        if (event->failed && run->error.status == PW_OK)
            run->error = event->error;
        run->finished = event;
        return; /* kept */
    case PW_EVENT_MESSAGE:
        if (!run->options->quiet || event->failed)
            fprintf(stderr, "%sportwright: %s\n", run->progress ? "\r\033[K" : "",
                    pw_text_show(safe, sizeof safe, event->error.message, 0));
        break;
    default:
        break;
    }
    pw_event_free(event);
}

static void follow(struct bench_run *run)
{
    struct pollfd wait = {.fd = pw_session_fd(run->session), .events = POLLIN};

    while (!run->finished) {
        struct pw_event *event;

        poll(&wait, 1, 250);
        if (pw_check_run_interrupted())
            pw_session_cancel(run->session);
        while (!run->finished && (event = pw_session_next(run->session)))
            on_event(run, event);
    }
    if (run->progress)
        fputs("\r\033[K", stderr);
}

/* What differs from portwright.lock goes to `differences`; false: there is no lock. */
static bool compare_with_lock(const struct pw_environment *environment, struct pw_buf *differences)
{
    struct pw_error err = {0};
    bool matches = true;

    if (!pw_file_exists(PW_LOCK_FILE))
        return false;
    if (pw_lock_check(PW_LOCK_FILE, environment, &matches, differences, &err) != PW_OK)
        pw_buf_printf(differences, "not known: %s\n", err.message);
    return true;
}

static int write_report(const struct bench_run *run, const struct wanted *w, const char *target)
{
    const struct pw_options *options = run->options;
    struct pw_environment environment = {0};
    struct pw_buf out = {0}, differences = {0};
    struct pw_error err = {0};
    struct pw_report_bench report = {.inventory = pw_session_inventory(run->session),
                                     .model_path = pw_session_model(run->session)->path,
                                     .graph_id = pw_session_graph_id(run->session),
                                     .target = target,
                                     .bindings = pw_session_bindings(run->session),
                                     .info = pw_device_info(pw_session_device(run->session)),
                                     .environment = &environment,
                                     .bench = run->finished->bench,
                                     .seed = options->seed,
                                     .advice = w->advice != NULL,
                                     .raw = w->raw != NULL};
    bool to_terminal = !options->output && isatty(STDOUT_FILENO);
    pw_status status = pw_session_environment(run->session, &environment, &err);
    int exit_code;

    if (status == PW_OK && compare_with_lock(&environment, &differences))
        report.pin = pw_buf_text(&differences);
    if (status == PW_OK && options->format == PW_FORMAT_JSON)
        status = pw_report_bench_json(&report, &out, &err);
    else if (status == PW_OK && options->format == PW_FORMAT_CSV)
        pw_report_bench_csv(&report, &out);
    else if (status == PW_OK && options->format == PW_FORMAT_MD)
        pw_report_bench_md(&report, &out);
    else if (status == PW_OK)
        pw_report_bench_text(&report, to_terminal ? pw_options_width() : 180, &out);
    if (status == PW_OK && out.failed)
        status = pw_error_memory(&err, out.size);
    exit_code =
        status == PW_OK ? pw_gather_add(options->gather, options, pw_buf_text(&out), out.size) : pw_options_fail(&err);
    pw_buf_clear(&out);
    pw_buf_clear(&differences);
    pw_environment_clear(&environment);
    return exit_code;
}

/* Nothing timed is no result. */
static bool anything_timed(const struct pw_bench_report *report)
{
    for (size_t i = 0; i < report->count; i++)
        if (report->figures[i].target.count)
            return true;
    return false;
}

static int bench_one(const struct pw_options *options, const struct wanted *w, const char *target, int set)
{
    struct bench_run run = {.options = options, .progress = !options->quiet && isatty(STDERR_FILENO)};
    struct pw_arena arena = {0};
    const struct pw_check_request request = {.target = target, .set = set};
    struct pw_error err = {0};
    size_t *selection = NULL, count = 0;
    int exit_code;
    pw_status status = pw_check_run_session(options, &request, &run.session, &err);

    if (status == PW_OK && w->op)
        status = pw_check_run_select(pw_session_inventory(run.session), w->op, &arena, &selection, &count, &err);
    if (status == PW_OK)
        status = pw_session_bench(run.session, selection, count, &w->bench, NULL, &err);
    if (status == PW_OK) {
        follow(&run);
        if (run.error.status == PW_OK && !anything_timed(run.finished->bench))
            pw_error_set(&run.error, PW_ERR_USAGE, "nothing of the selection runs on %s: nothing was timed", target);
        if (run.error.status != PW_OK)
            status = pw_error_set(&err, run.error.status, "%s", run.error.message);
    }
    exit_code = status == PW_OK ? write_report(&run, w, target) : pw_options_fail(&err);
    if (status == PW_ERR_CANCELLED)
        exit_code = PW_EXIT_GATE;
    pw_event_free(run.finished);
    pw_session_close(run.session);
    pw_arena_clear(&arena);
    return exit_code;
}

int pw_cmd_bench(int argc, char **argv)
{
    struct wanted w = {0};
    const struct pw_option_own own[] = {
        {"op", "NAME", "only signatures of this operator (Softmax or Softmax-13)", &w.op},
        {"cache", "hot|cold", "cold: caches are emptied before each timed run (default hot)", &w.cache},
        {"time", "T", "measure for so long (10s, 2m), where intervals are wide and the work is", &w.time},
        {"threads", "N", "threads of the reference (default: all cores)", &w.threads},
        {"advice", NULL, "what to try for each operator, with the figures that led to it", &w.advice},
        {"no-roofline", NULL, "do not measure the peaks (a few seconds)", &w.no_roofline},
        {"raw", NULL, "JSON: every timed run, not only the slices' medians", &w.raw},
        {0}};
    const struct pw_command_usage usage = {
        "bench", "MODEL",
        "Times every signature of the graph on the target and on the fast reference, in turns on idle cores:\n"
        "latency, GFLOP/s, GB/s, speed against the reference, share of the measured roofline, what bounds it.",
        "target dim project db ops-dir format output seed quiet", own};
    struct pw_options options;
    struct pw_gather gather;
    struct pw_error err = {0};
    int exit_code, worst = PW_EXIT_HELD;

    pw_options_parse(argc, argv, &usage, &options, &exit_code);
    if (exit_code < 0 && read_wanted(&w, &options, &err) != PW_OK)
        exit_code = pw_options_fail(&err);
    if (exit_code >= 0) {
        pw_options_clear(&options);
        return exit_code;
    }
    pw_check_run_interruptible();
    if (!options.target_count)
        options.targets[options.target_count++] = "opencl";
    gather = pw_gather_begin(&options);
    options.gather = &gather;
    for (int t = 0; t < options.target_count && !pw_check_run_interrupted(); t++)
        for (int set = 0; set == 0 || (set < options.dim_sets && !pw_check_run_interrupted()); set++) {
            exit_code = bench_one(&options, &w, options.targets[t], set);
            worst = exit_code > worst ? exit_code : worst;
        }
    exit_code = pw_gather_end(&gather, &options);
    worst = exit_code > worst ? exit_code : worst;
    pw_options_clear(&options);
    return worst;
}
