#include "cli/check_soak.h"

#include <dirent.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/file.h"
#include "bench/stats.h"
#include "cli/check_run.h"
#include "store/endtoend.h"
#include "store/store.h"

#define DEFAULT_DB ".portwright/portwright.db"
#define SAY_EVERY_NS (10 * INT64_C(1000000000))
#define SAMPLES_MAX 100000 /* rounds whose time and memory are kept */
#define FAILURES_SHOWN 8
#define KILL_EVERY_NS (600 * INT64_C(1000000000))

struct soak {
    const struct pw_options *options;
    struct pw_session *session;
    size_t *selection; /* NULL: all */
    size_t selection_count;
    double *first_error; /* by signature: worst error of the first round; NaN none */
    size_t signatures;
    int64_t begin_ns, end_ns;
    /* what was seen */
    size_t rounds, cases, failures, deaths, graph_runs, graph_failures;
    size_t kills;      /* of workers, on purpose: that a run goes on is seen, not assumed */
    size_t unanswered; /* of those, whose case has not come back as lost; it may have been none */
    bool shaken;       /* a worker died or was killed, and no whole round has held since */
    bool shaken_now;   /* in this round */
    int64_t next_kill_ns;
    int64_t longest_ns;         /* of a round */
    double error_drift;         /* largest growth of a signature's worst error, relative to the first round */
    int64_t *round_ns, *memory; /* by round */
    size_t sample_count;
    struct pw_buf told; /* the first cases that failed */
    struct pw_error error;
    bool finished;
};

/* ---- memory of this process and of its workers ---- */

static bool child_of(const char *pid, pid_t parent)
{
    char path[300], line[256];
    int ppid = -1;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%.20s/status", pid);
    file = fopen(path, "r");
    while (file && ppid < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "PPid: %d", &ppid) != 1)
            ppid = -1;
    if (file)
        fclose(file);
    return ppid == (int)parent;
}

static int64_t anonymous_of(const char *pid, pid_t parent)
{
    char path[300], line[256];
    int64_t kib = 0;
    int ppid = -1;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%.20s/status", pid);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        long long value;

        if (sscanf(line, "PPid: %d", &ppid) == 1)
            continue;
        if (sscanf(line, "RssAnon: %lld", &value) == 1)
            kib = value;
    }
    if (file)
        fclose(file);
    return parent < 0 || ppid == (int)parent ? kib * 1024 : 0;
}

static int64_t memory_now(void)
{
    int64_t sum = anonymous_of("self", -1);
    DIR *dir = opendir("/proc");

    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            sum += anonymous_of(entry->d_name, getpid());
    if (dir)
        closedir(dir);
    return sum;
}

/* ---- following jobs ---- */

/* A target's worker among our children; 0 none. */
static pid_t some_worker(void)
{
    DIR *dir = opendir("/proc");
    pid_t found = 0;

    for (struct dirent *entry; dir && !found && (entry = readdir(dir)) != NULL;) {
        struct pw_buf command = {0};
        char path[300];
        int64_t pid;

        if (!pw_text_int64(entry->d_name, &pid) || !child_of(entry->d_name, getpid()))
            continue;
        snprintf(path, sizeof path, "/proc/%.20s/cmdline", entry->d_name);
        if (pw_file_read(path, 4096, &command, NULL) == PW_OK) {
            size_t first = strlen(pw_buf_text(&command)) + 1;

            if (first < command.size && !strcmp(command.data + first, "--worker"))
                found = (pid_t)pid;
        }
        pw_buf_clear(&command);
    }
    if (dir)
        closedir(dir);
    return found;
}

/* In the middle of a round now and then, from the second on; not before a whole round has held since the last one, nor
 * where none may end any more: however long a round takes, some are left alone. */
static void maybe_kill(struct soak *soak)
{
    pid_t worker;

    if (!soak->rounds || soak->shaken || pw_clock_ns() < soak->next_kill_ns ||
        pw_clock_ns() + 2 * soak->longest_ns > soak->end_ns)
        return;
    worker = some_worker();
    if (worker && kill(worker, SIGKILL) == 0) {
        soak->kills++;
        soak->unanswered++;
        soak->shaken = soak->shaken_now = true;
        soak->next_kill_ns = pw_clock_ns() + KILL_EVERY_NS;
    } /* else there was none at this moment: at the next case */
}

static void on_case(struct soak *soak, const struct pw_case_result *result)
{
    bool failed = pw_verdict_failed(result->verdict);

    soak->cases++;
    if (failed && soak->unanswered && result->verdict != PW_VERDICT_FAIL && strstr(result->reason, "SIGKILL")) {
        soak->unanswered--; /* the one that we took */
        return;
    }
    if (result->verdict == PW_VERDICT_CRASH || result->verdict == PW_VERDICT_TIMEOUT) {
        soak->deaths++;
        soak->shaken = soak->shaken_now = true;
    }
    if (failed && soak->failures++ < FAILURES_SHOWN)
        pw_buf_printf(&soak->told, "  round %zu: %s %s\n    %s\n", soak->rounds + 1, pw_verdict_name(result->verdict),
                      result->id, result->reason);
    maybe_kill(soak);
}

static void on_summary(struct soak *soak, const struct pw_signature_result *summary)
{
    double *first = &soak->first_error[summary->signature], growth;

    if (isnan(summary->worst_error) || soak->shaken_now) /* what was lost is looked into with other cases */
        return;
    if (isnan(*first)) {
        *first = summary->worst_error;
        return;
    }
    growth = *first > 0 ? summary->worst_error / *first - 1 : summary->worst_error > 0 ? INFINITY : 0;
    if (growth > soak->error_drift)
        soak->error_drift = growth;
}

static void on_event(struct soak *soak, const struct pw_event *event)
{
    switch (event->kind) {
    case PW_EVENT_DEVICE:
    case PW_EVENT_COVERAGE:
        if (event->failed && soak->error.status == PW_OK)
            soak->error = event->error;
        break;
    case PW_EVENT_CASE:
        on_case(soak, &event->result);
        break;
    case PW_EVENT_SIGNATURE:
        on_summary(soak, &event->summary);
        break;
    case PW_EVENT_FINISHED:
        soak->finished = true;
        if (event->failed && soak->error.status == PW_OK)
            soak->error = event->error;
        else if (event->whole_graph) {
            soak->graph_runs++;
            soak->graph_failures += !event->endtoend.held;
        }
        break;
    default:
        break;
    }
}

/* Waits for the job to finish; when the time is over it is cancelled, which is no failure. */
static void follow(struct soak *soak)
{
    struct pollfd wait = {.fd = pw_session_fd(soak->session), .events = POLLIN};
    bool cancelled = false;

    soak->finished = false;
    while (!soak->finished) {
        struct pw_event *event;

        poll(&wait, 1, 200);
        while ((event = pw_session_next(soak->session))) {
            on_event(soak, event);
            pw_event_free(event);
        }
        if (!cancelled && (pw_check_run_interrupted() || pw_clock_ns() >= soak->end_ns)) {
            pw_session_cancel(soak->session);
            cancelled = true;
        }
    }
    if (cancelled && soak->error.status == PW_ERR_CANCELLED)
        soak->error = (struct pw_error){0};
}

static void take_sample(struct soak *soak, int64_t round_ns)
{
    soak->longest_ns = round_ns > soak->longest_ns ? round_ns : soak->longest_ns;
    if (soak->sample_count == SAMPLES_MAX)
        return;
    soak->round_ns[soak->sample_count] = round_ns;
    soak->memory[soak->sample_count++] = memory_now();
}

/* Rounds until the time is over: every case, then the whole graph. A round that the end cut short is not timed. */
static pw_status run_rounds(struct soak *soak, struct pw_error *err)
{
    const struct pw_session_run_options whole = {.mode = PW_ENDTOEND_OUTPUTS};
    pw_status status = PW_OK;
    int64_t said_ns = 0;

    while (status == PW_OK && soak->error.status == PW_OK && pw_clock_ns() < soak->end_ns &&
           !pw_check_run_interrupted()) {
        int64_t begin = pw_clock_ns();
        size_t failures = soak->failures + soak->graph_failures;

        soak->shaken_now = false;
        status = pw_session_verify(soak->session, soak->selection, soak->selection_count, false, NULL, err);
        if (status != PW_OK)
            break;
        follow(soak);
        if (soak->error.status == PW_OK && pw_clock_ns() < soak->end_ns) {
            status = pw_session_run(soak->session, &whole, NULL, err);
            if (status != PW_OK)
                break;
            follow(soak);
        }
        if (pw_clock_ns() < soak->end_ns && soak->error.status == PW_OK) {
            soak->rounds++;
            soak->unanswered = 0; /* it died between two cases */
            soak->shaken = soak->shaken && (soak->shaken_now || soak->failures + soak->graph_failures > failures);
            take_sample(soak, pw_clock_ns() - begin);
            if (!soak->options->quiet && pw_clock_ns() - said_ns >= SAY_EVERY_NS) {
                said_ns = pw_clock_ns();
                fprintf(stderr, "portwright: soak: round %zu, %zu cases, %zu failures\n", soak->rounds, soak->cases,
                        soak->failures + soak->graph_failures);
            }
        }
    }
    return status;
}

/* ---- what it comes to ---- */

/* Median of the last quarter against that of the first, after the first round (which compiles); NaN below 5 rounds. */
static double drift(const int64_t *values, size_t count)
{
    size_t quarter = (count - 1) / 4;

    return count < 5
               ? NAN
               : pw_stats_median_ns(values + count - quarter, quarter) / pw_stats_median_ns(values + 1, quarter) - 1;
}

struct figure {
    const char *name;
    double value;
};
enum { FIGURES = 13 };

/* Seen, not assumed: a worker died, and a whole round held after the last one that did. */
static bool recovered(const struct soak *soak)
{
    return soak->kills + soak->deaths && !soak->shaken;
}

static void make_figures(const struct soak *soak, double seconds, struct figure out[FIGURES])
{
    const struct figure figures[FIGURES] = {
        {"soak.seconds", seconds},
        {"soak.rounds", (double)soak->rounds},
        {"soak.cases", (double)soak->cases},
        {"soak.failures", (double)(soak->failures + soak->graph_failures)},
        {"soak.graph_runs", (double)soak->graph_runs},
        {"soak.graph_failures", (double)soak->graph_failures},
        {"soak.worker_deaths", (double)soak->deaths},
        {"soak.recovered", recovered(soak)},
        {"soak.error_drift", soak->error_drift},
        {"soak.time_drift", soak->sample_count ? drift(soak->round_ns, soak->sample_count) : NAN},
        {"soak.memory_drift", soak->sample_count ? drift(soak->memory, soak->sample_count) : NAN},
        {"soak.memory_bytes", soak->sample_count ? (double)soak->memory[soak->sample_count - 1] : NAN},
        {"soak.worker_kills", (double)soak->kills}};

    memcpy(out, figures, sizeof figures);
}

static pw_status record(const struct soak *soak, const char *target, const struct figure *figures, bool held,
                        struct pw_error *err)
{
    const struct pw_device *device = pw_session_device(soak->session);
    const struct pw_target_info *info = device ? pw_device_info(device) : NULL;
    struct pw_environment environment = {0};
    struct pw_store *store = NULL;
    struct pw_buf json = {0};
    int64_t run = 0;
    struct pw_store_run row = {.kind = "soak",
                               .graph = pw_session_graph_id(soak->session),
                               .model_path = pw_session_model(soak->session)->path,
                               .target = target,
                               .target_kind = info ? info->kind : "reference",
                               .device = info ? info->name : "reference",
                               .bindings = pw_session_bindings(soak->session),
                               .protocol = pw_session_protocol(soak->session)->path,
                               .version = PACKAGE_VERSION,
                               .seed = soak->options->seed};
    const char *db = soak->options->db ? soak->options->db : DEFAULT_DB;
    pw_status status = PW_OK;

    if (!db[0])
        return PW_OK;
    status = pw_session_environment(soak->session, &environment, err);
    if (status == PW_OK)
        status = pw_environment_json(&environment, &json, err);
    row.environment = pw_buf_text(&json);
    row.environment_id = environment.id;
    if (status == PW_OK)
        status = pw_store_open(db, false, &store, err);
    if (status == PW_OK)
        status = pw_store_run_begin(store, &row, &run, err);
    for (int i = 0; i < FIGURES && status == PW_OK; i++)
        status = pw_store_figure_add(store, run, figures[i].name, figures[i].value, err);
    if (status == PW_OK)
        status = pw_store_run_end(store, run, held ? "held" : "failed", held ? 0 : 1, err);
    pw_store_close(store);
    pw_environment_clear(&environment);
    pw_buf_clear(&json);
    return status;
}

static void print_percent(const char *label, double share)
{
    if (isnan(share))
        printf("  %-22s not known: fewer than 5 rounds\n", label);
    else
        printf("  %-22s %+.1f %% from the first quarter to the last\n", label, 100 * share);
}

static void print_summary(const struct soak *soak, const struct figure *figures, bool held)
{
    struct pw_buf safe = {0};
    char size[32], time[32];

    printf("soak: %s after %s\n", held ? "held" : "failed", pw_text_duration(time, sizeof time, figures[0].value));
    printf("  %-22s %zu, with %zu cases and %zu runs of the graph\n", "rounds", soak->rounds, soak->cases,
           soak->graph_runs);
    printf("  %-22s %zu cases, %zu runs of the graph\n", "failures", soak->failures, soak->graph_failures);
    printf("  %-22s %zu, and %zu killed on purpose%s\n", "worker deaths", soak->deaths, soak->kills,
           soak->kills + soak->deaths == 0 ? ""
           : recovered(soak)               ? ": a whole round held after each"
                                           : ": no whole round held since the last");
    printf("  %-22s %+.1f %% at the worst signature\n", "errors", 100 * soak->error_drift);
    print_percent("times", figures[9].value);
    print_percent("memory", figures[10].value);
    if (soak->sample_count)
        printf("  %-22s %s, workers included\n", "memory at the end",
               pw_text_bytes(size, sizeof size, figures[11].value));
    for (const char *line = pw_buf_text(&soak->told); *line;) {
        size_t length = strcspn(line, "\n");

        pw_text_display(&safe, line, length, 0, true);
        pw_buf_putc(&safe, '\n');
        line += length + (line[length] == '\n');
    }
    fputs(pw_buf_text(&safe), stdout);
    pw_buf_clear(&safe);
}

static pw_status open_soak(struct soak *soak, const char *op, struct pw_arena *arena, struct pw_error *err)
{
    struct pw_options unrecorded = *soak->options; /* each round's rows would flood the store; the sum is recorded */
    struct pw_check_request request = {.target = soak->options->targets[0]};
    const struct pw_inventory *inventory;
    pw_status status;

    unrecorded.db = "";
    status = pw_check_run_session(&unrecorded, &request, &soak->session, err);
    if (status != PW_OK)
        return status;
    inventory = pw_session_inventory(soak->session);
    soak->signatures = inventory->signature_count;
    soak->first_error = pw_calloc(soak->signatures + 1, sizeof *soak->first_error);
    soak->round_ns = pw_calloc(SAMPLES_MAX, sizeof *soak->round_ns);
    soak->memory = pw_calloc(SAMPLES_MAX, sizeof *soak->memory);
    if (!soak->first_error || !soak->round_ns || !soak->memory)
        return pw_error_memory(err, SAMPLES_MAX * sizeof *soak->memory);
    for (size_t i = 0; i < soak->signatures; i++)
        soak->first_error[i] = NAN;
    return op ? pw_check_run_select(inventory, op, arena, &soak->selection, &soak->selection_count, err) : PW_OK;
}

/* Whether success may be said: a soak that was cut short, or that had nothing to verify, is none. */
static bool is_whole(const struct soak *soak, double seconds)
{
    if (!soak->cases)
        fprintf(stderr, "portwright: soak: no case ran on the target: nothing was proven\n");
    else if (pw_check_run_interrupted())
        fprintf(stderr, "portwright: soak: interrupted after %.1f of %.1f s\n",
                (double)(pw_clock_ns() - soak->begin_ns) / 1e9, seconds);
    else
        return true;
    return false;
}

int pw_check_soak(const struct pw_options *options, const char *op, double seconds)
{
    struct soak soak = {.options = options};
    struct figure figures[FIGURES];
    struct pw_arena arena = {0};
    struct pw_error err = {0};
    pw_status status = PW_OK;
    bool held = false;
    int exit_code;

    if (options->arg_count != 1)
        status = pw_error_set(&err, PW_ERR_USAGE, "check --soak: expected one MODEL, found %d", options->arg_count);
    else if (options->target_count > 1 || options->dim_sets > 1)
        status = pw_error_set(&err, PW_ERR_USAGE, "check --soak takes one --target and one --dim set");
    if (status == PW_OK)
        status = open_soak(&soak, op, &arena, &err);
    if (status == PW_OK) {
        soak.begin_ns = pw_clock_ns();
        soak.end_ns = soak.begin_ns + (int64_t)(seconds * 1e9);
        status = run_rounds(&soak, &err);
    }
    if (status == PW_OK && soak.error.status != PW_OK) {
        err = soak.error;
        status = err.status;
    }
    if (status == PW_OK && !soak.rounds)
        status = pw_error_set(&err, PW_ERR_USAGE, "check --soak: not one round ended in that time; nothing was proven");
    if (status == PW_OK) {
        make_figures(&soak, (double)(pw_clock_ns() - soak.begin_ns) / 1e9, figures);
        held = soak.cases > 0 && soak.failures == 0 && soak.graph_failures == 0;
        print_summary(&soak, figures, held);
        status = record(&soak, options->targets[0], figures, held, &err);
    }
    if (status == PW_OK && (held || !soak.cases))
        held = is_whole(&soak, seconds);
    exit_code = status != PW_OK ? pw_options_fail(&err) : held ? PW_EXIT_HELD : PW_EXIT_GATE;
    pw_session_close(soak.session);
    pw_free(soak.first_error);
    pw_free(soak.round_ns);
    pw_free(soak.memory);
    pw_buf_clear(&soak.told);
    pw_arena_clear(&arena);
    return exit_code;
}
