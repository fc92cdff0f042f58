/*
 * portwright run: the whole graph on a target beside golden: end-to-end errors, where it starts to differ, which layer
 * needs which dtype. A client of the session, as the workbench is.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/check_run.h"
#include "cli/cmd.h"
#include "cli/gather.h"
#include "cli/options.h"
#include "job/session.h"
#include "report/run.h"

#define TIMED_RUNS 3
#define INPUTS_MAX 256

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

struct run {
    struct pw_options *options;
    struct pw_session *session;
    struct pw_event **kept; /* events whose content the rows point to */
    size_t kept_count, kept_cap;
    const struct pw_endtoend_node **nodes;
    size_t node_count, node_cap;
    const struct pw_endtoend_output **outputs;
    size_t output_count, output_cap;
    const struct pw_sweep_layer **layers;
    size_t layer_count, layer_cap;
    struct pw_endtoend_totals totals;
    struct pw_error error;
    bool finished, progress;
};

/* ---- events ---- */

static void show_progress(struct run *run, const struct pw_event *event)
{
    char safe[80];

    if (!run->progress || !event->total)
        return;
    fprintf(stderr, "\r\033[K[%zu/%zu] %s", event->done, event->total,
            pw_text_show(safe, sizeof safe,
                         event->kind == PW_EVENT_LAYER                      ? event->layer.name
                         : event->kind == PW_EVENT_NODE && event->node.node ? event->node.node->name
                                                                            : "",
                         50));
}

#define KEEP(run, list, event, row)                                                                                    \
    keep(run, (const void ***)&(run)->list##s, &(run)->list##_cap, &(run)->list##_count, event, row)

/* Keeps the event and a pointer to its row; true when the event is owned by the run from now on. */
static bool keep(struct run *run, const void ***rows, size_t *cap, size_t *count, struct pw_event *event,
                 const void *row)
{
    if (PW_GROW(run->kept, run->kept_cap, run->kept_count + 1, &run->error) != PW_OK ||
        PW_GROW(*rows, *cap, *count + 1, &run->error) != PW_OK)
        return false;
    run->kept[run->kept_count++] = event;
    (*rows)[(*count)++] = row;
    return true;
}

static void on_message(struct run *run, const struct pw_event *event)
{
    char safe[PW_ERROR_MAX];

    if (run->options->quiet && !event->failed)
        return;
    if (run->progress)
        fputs("\r\033[K", stderr);
    fprintf(stderr, "portwright: %s\n", pw_text_show(safe, sizeof safe, event->error.message, 0));
}

static void take_error(struct run *run, const struct pw_event *event)
{
    if (event->failed && run->error.status == PW_OK)
        run->error = event->error;
}

static void on_event(struct run *run, struct pw_event *event)
{
    bool kept = false;

    show_progress(run, event);
    switch (event->kind) {
    case PW_EVENT_DEVICE:
    case PW_EVENT_COVERAGE:
        take_error(run, event);
        break;
    case PW_EVENT_NODE:
        kept = KEEP(run, node, event, &event->node);
        break;
    case PW_EVENT_LAYER:
        kept = KEEP(run, layer, event, &event->layer);
        break;
    case PW_EVENT_OUTPUT:
        kept = KEEP(run, output, event, &event->output);
        break;
    case PW_EVENT_FINISHED:
        run->finished = true;
        run->totals = event->endtoend;
        take_error(run, event);
        break;
    case PW_EVENT_MESSAGE:
        on_message(run, event);
        break;
    default:
        break;
    }
    if (!kept)
        pw_event_free(event);
}

static void follow(struct run *run)
{
    struct pollfd wait = {.fd = pw_session_fd(run->session), .events = POLLIN};

    while (!run->finished) {
        struct pw_event *event;

        poll(&wait, 1, 250);
        if (interrupted)
            pw_session_cancel(run->session);
        while ((event = pw_session_next(run->session)))
            on_event(run, event);
    }
    if (run->progress)
        fputs("\r\033[K", stderr);
}

/* ---- the report ---- */

static int report(struct run *run, const char *target, const struct pw_session_run_options *asked)
{
    struct pw_options *options = run->options;
    const struct pw_device *device = pw_session_device(run->session);
    const struct pw_target_info *info = device ? pw_device_info(device) : NULL;
    const struct pw_protocol *protocol = pw_session_protocol(run->session);
    struct pw_report_run r = {.inventory = pw_session_concrete(run->session),
                              .model_path = pw_session_model(run->session)->path,
                              .graph_id = pw_session_graph_id(run->session),
                              .target = target,
                              .device = info && info->name[0] ? info->name : "the reference",
                              .runtime = info ? info->runtime : "",
                              .bindings = pw_session_bindings(run->session),
                              .protocol = protocol->path ? protocol->path : "",
                              .inputs = pw_session_run_inputs(run->session),
                              .seed = options->seed,
                              .mode = asked->mode,
                              .all = !options->quiet,
                              .nodes = run->nodes,
                              .node_count = run->node_count,
                              .outputs = run->outputs,
                              .output_count = run->output_count,
                              .layers = run->layers,
                              .layer_count = run->layer_count,
                              .some_layers = asked->layers != NULL,
                              .totals = run->totals,
                              .exit_code = run->totals.held ? PW_EXIT_HELD : PW_EXIT_GATE};
    struct pw_buf out = {0};
    struct pw_error err = {0};
    bool to_terminal = !options->output && isatty(STDOUT_FILENO);
    bool color = options->color == 1 || (options->color < 0 && to_terminal && !getenv("NO_COLOR"));
    pw_status status = PW_OK;
    int exit_code;

    switch (options->format) {
    case PW_FORMAT_JSON:
        status = pw_report_run_json(&r, &out, &err);
        break;
    case PW_FORMAT_CSV:
        pw_report_run_csv(&r, &out);
        break;
    case PW_FORMAT_MD:
        pw_report_run_md(&r, &out);
        break;
    default:
        pw_report_run_text(&r, to_terminal ? pw_options_width() : 140, color, &out);
    }
    if (status == PW_OK && out.failed)
        status = pw_error_memory(&err, out.size);
    exit_code =
        status == PW_OK ? pw_gather_add(options->gather, options, pw_buf_text(&out), out.size) : pw_options_fail(&err);
    pw_buf_clear(&out);
    return exit_code == PW_EXIT_HELD ? r.exit_code : exit_code;
}

static void run_clear(struct run *run)
{
    for (size_t i = 0; i < run->kept_count; i++)
        pw_event_free(run->kept[i]);
    pw_free(run->kept);
    pw_free(run->nodes);
    pw_free(run->outputs);
    pw_free(run->layers);
    pw_session_close(run->session); /* the rows look at its model */
}

/* ---- the command ---- */

struct request {
    const struct pw_session_inputs *inputs;
    struct pw_session_run_options run;
};

static int run_one(struct pw_options *options, const char *target, int set, const struct request *request)
{
    struct run run = {.options = options, .progress = !options->quiet && isatty(STDERR_FILENO)};
    const char *dirs[PW_OPTION_TARGETS];
    struct pw_session_options session = {.model_path = options->args[0],
                                         .target = target,
                                         .project = options->project,
                                         .db = options->db,
                                         .ops_dirs = dirs,
                                         .ops_dir_count = options->ops_dir_count,
                                         .inputs = request->inputs,
                                         .seed = options->seed,
                                         .jobs = options->jobs};
    struct pw_error err = {0};
    pw_status status;
    int exit_code;

    for (size_t i = 0; i < options->ops_dir_count; i++)
        dirs[i] = options->ops_dirs[i].path;
    if (set < options->dim_sets) {
        session.bindings = options->dims[set];
        session.binding_count = options->dim_counts[set];
    }
    status = pw_session_open(&session, &run.session, &err);
    if (status == PW_OK)
        status = pw_session_run(run.session, &request->run, NULL, &err);
    if (status != PW_OK) {
        exit_code = pw_options_fail(&err);
    } else {
        follow(&run);
        exit_code = run.error.status != PW_OK ? pw_options_fail(&run.error) : report(&run, target, &request->run);
        if (run.error.status == PW_ERR_CANCELLED)
            exit_code = PW_EXIT_GATE;
    }
    run_clear(&run);
    return exit_code;
}

/* "NAME=FILE": the last '=' whose right side is a file wins, so that names may hold one. */
static pw_status parse_input(const char *text, struct pw_arena *arena, struct pw_input_file *out, struct pw_error *err)
{
    const char *equals = strchr(text, '=');
    char safe[200];

    if (!equals || equals == text || !equals[1])
        return pw_error_set(err, PW_ERR_USAGE, "--input '%s': expected NAME=FILE (.npy or .pb)",
                            pw_text_show(safe, sizeof safe, text, 120));
    out->name = pw_arena_strndup(arena, text, (size_t)(equals - text));
    out->path = equals + 1;
    return out->name ? PW_OK : pw_error_memory(err, strlen(text));
}

static pw_status parse_mode(const char *compare, const char *sweep, pw_endtoend_mode *mode, struct pw_error *err)
{
    char safe[80];

    if (compare && strcmp(compare, "nodes"))
        return pw_error_set(err, PW_ERR_USAGE, "--compare: expected 'nodes', found '%s'",
                            pw_text_show(safe, sizeof safe, compare, 40));
    if (compare && sweep)
        return pw_error_set(err, PW_ERR_USAGE, "--compare and --precision-sweep: one at a time");
    *mode = sweep ? PW_ENDTOEND_SWEEP : compare ? PW_ENDTOEND_NODES : PW_ENDTOEND_OUTPUTS;
    return PW_OK;
}

static pw_status parse_size(const char *text, int64_t *out, struct pw_error *err)
{
    int64_t mib = 0;

    if (text && (!pw_text_int64(text, &mib) || mib < 1 || mib > 1 << 20))
        return pw_error_set(err, PW_ERR_USAGE, "--capture-mib: expected 1 to 1048576, found '%s'", text);
    *out = mib << 20;
    return PW_OK;
}

/* Takes the --input options out of argv, as they may come more than once. */
static pw_status take_inputs(int *argc, char **argv, struct pw_arena *arena, struct pw_input_file *files, size_t *count,
                             struct pw_error *err)
{
    int kept = 1;
    pw_status status = PW_OK;

    for (int i = 1; i < *argc && status == PW_OK; i++) {
        const char *value = NULL;

        if (!strncmp(argv[i], "--input=", 8))
            value = argv[i] + 8;
        else if (!strcmp(argv[i], "--input"))
            value = i + 1 < *argc ? argv[++i] : "";
        if (!value)
            argv[kept++] = argv[i];
        else if (*count == INPUTS_MAX)
            status = pw_error_set(err, PW_ERR_USAGE, "--input: at most %d", INPUTS_MAX);
        else
            status = parse_input(value, arena, &files[(*count)++], err);
    }
    *argc = kept;
    return status;
}

static int run_all(struct pw_options *options, const struct request *request)
{
    struct pw_gather gather;
    int exit_code, worst = PW_EXIT_HELD;

    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
    if (!options->target_count)
        options->targets[options->target_count++] = "opencl";
    gather = pw_gather_begin(options);
    options->gather = &gather;
    for (int t = 0; t < options->target_count && !interrupted; t++)
        for (int set = 0; set == 0 || (set < options->dim_sets && !interrupted); set++) {
            exit_code = run_one(options, options->targets[t], set, request);

            worst = exit_code > worst ? exit_code : worst;
        }
    exit_code = pw_gather_end(&gather, options);
    return exit_code > worst ? exit_code : worst;
}

int pw_cmd_run(int argc, char **argv)
{
    const char *compare = NULL, *sweep = NULL, *layers = NULL, *folder = NULL, *capture = NULL, *mib = NULL;
    const char *no_timing = NULL, *input = NULL;
    const struct pw_option_own own[] = {
        {"compare", "nodes", "one pass, each node by name: its own error, and what arrived", &compare},
        {"precision-sweep", NULL, "each layer in float16, bfloat16 and float32; ranks by the damage", &sweep},
        {"layers", "GLOB", "with --precision-sweep: only layers whose name fits", &layers},
        {"input", "NAME=FILE", "an input from a .npy or .pb file; repeatable", &input},
        {"inputs", "DIR", "a data set: input_I.pb and output_I.pb; the rest is drawn", &folder},
        {"capture", "DIR", "keep every node's inputs there, for verify --captured", &capture},
        {"capture-mib", "N", "at most so much in that folder (default 1024)", &mib},
        {"no-timing", NULL, "no timed runs", &no_timing},
        {0}};
    const struct pw_command_usage usage = {
        "run", "MODEL",
        "Runs the whole graph on the target beside golden in double and judges its outputs end to end. Inputs that\n"
        "are not given are drawn to suit the graph.",
        "target dim project db ops-dir format output seed quiet color", own};
    struct pw_arena arena = {0};
    struct pw_input_file *files = pw_arena_alloc(&arena, INPUTS_MAX, sizeof *files);
    struct pw_session_inputs inputs = {.files = files};
    struct request request = {.inputs = &inputs};
    struct pw_options options = {0};
    struct pw_error err = {0};
    pw_status status = files ? PW_OK : pw_error_memory(&err, INPUTS_MAX * sizeof *files);
    int exit_code = -1;

    if (status == PW_OK)
        status = take_inputs(&argc, argv, &arena, files, &inputs.file_count, &err);
    if (status == PW_OK)
        pw_options_parse(argc, argv, &usage, &options, &exit_code);
    if (status == PW_OK && exit_code < 0 && options.arg_count != 1)
        status = pw_error_set(&err, PW_ERR_USAGE, "run: expected one MODEL, found %d; see portwright run --help",
                              options.arg_count);
    if (status == PW_OK && exit_code < 0)
        status = parse_mode(compare, sweep, &request.run.mode, &err);
    if (status == PW_OK && exit_code < 0)
        status = parse_size(mib, &request.run.capture_bytes, &err);
    if (status != PW_OK)
        exit_code = pw_options_fail(&err);
    inputs.folder = folder;
    request.run.layers = layers;
    request.run.capture_folder = capture;
    request.run.timed_runs = no_timing || sweep ? 0 : TIMED_RUNS;
    if (exit_code < 0 && !folder && !inputs.file_count && pw_check_run_sets(&options, &err) != PW_OK)
        exit_code = pw_options_fail(&err);
    if (exit_code < 0)
        exit_code = run_all(&options, &request);
    pw_options_clear(&options);
    pw_arena_clear(&arena);
    return exit_code;
}
