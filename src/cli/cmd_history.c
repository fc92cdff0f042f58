/*
 * portwright history: figures per signature over runs, where their level changed, whether they drift; and the care of
 * the store: prune (retention), backup, check.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "report/history.h"

#define DEFAULT_DB ".portwright/portwright.db"
#define DEFAULT_KEEP_RUNS 20

struct texts {
    const char *op, *since, *signature, *graph, *keep, *keep_runs, *samples, *dry_run;
};

/* "30d", "12h", "2w", "2026-03-01": a wall time, as ms. */
static pw_status parse_since(const char *option, const char *text, int64_t *out, struct pw_error *err)
{
    static const struct {
        char unit;
        int64_t ms;
    } units[] = {{'h', 3600000},
                 {'d', 86400000},
                 {'w', INT64_C(7) * 86400000},
                 {'m', INT64_C(30) * 86400000},
                 {'y', INT64_C(365) * 86400000}};
    int year, month, day, used = 0;
    int64_t count = 0;
    char *end;

    if (sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &used) == 3 && !text[used] && month >= 1 && month <= 12 &&
        day >= 1 && day <= 31) {
        /* Days from the civil calendar, counted from March so that the leap day comes last. */
        int64_t y = year - (month <= 2), era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
        int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

        *out = (era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468) * 86400000;
        return PW_OK;
    }
    count = strtoll(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end != text && *end == units[i].unit && !end[1] && count >= 0 && count <= 100000) {
            *out = pw_clock_wall_ms() - count * units[i].ms;
            return PW_OK;
        }
    return pw_error_set(err, PW_ERR_USAGE, "--%s: expected 12h, 30d, 2w, 6m, 1y or a date as 2026-03-01, found '%s'",
                        option, text);
}

static int finish(const struct pw_options *options, pw_status status, struct pw_buf *out, struct pw_error *err)
{
    int exit_code;

    if (status == PW_OK && out->failed)
        status = pw_error_memory(err, out->size);
    exit_code = status == PW_OK ? pw_options_write(options, pw_buf_text(out), out->size) : pw_options_fail(err);
    pw_buf_clear(out);
    return exit_code;
}

static int show(const struct pw_options *options, const struct texts *own)
{
    struct pw_history_filter filter = {.op = own->op,
                                       .signature = own->signature,
                                       .graph = own->graph,
                                       .target = options->target_count ? options->targets[0] : NULL};
    struct pw_store *store = NULL;
    struct pw_arena arena = {0};
    struct pw_history_series *series = NULL;
    struct pw_report_history history = {0};
    struct pw_history_environment *environments = NULL;
    struct pw_buf out = {0};
    struct pw_error err = {0};
    size_t count = 0, environment_count = 0;
    bool to_terminal = !options->output && isatty(STDOUT_FILENO);
    pw_status status = own->since ? parse_since("since", own->since, &filter.since_ms, &err) : PW_OK;
    /* A list of nothing is no error; a file that was named and is not there is one. */
    bool none = !options->db && !pw_file_exists(DEFAULT_DB);
    int exit_code;

    if (status == PW_OK && !none)
        status = pw_store_open(options->db ? options->db : DEFAULT_DB, true, &store, &err);
    if (status == PW_OK && !none)
        status = pw_history_read(store, &filter, &arena, &series, &count, &err);
    if (status == PW_OK && !none)
        status = pw_history_environments(store, &arena, &environments, &environment_count, &err);
    if (status == PW_OK)
        status = pw_report_history(series, count, &arena, &history, &err);
    history.environments = environments;
    history.environment_count = environment_count;
    if (status == PW_OK) {
        if (options->format == PW_FORMAT_JSON)
            status = pw_report_history_json(&history, &out, &err);
        else if (options->format == PW_FORMAT_CSV)
            pw_report_history_csv(&history, &out);
        else if (options->format == PW_FORMAT_MD)
            pw_report_history_md(&history, &out);
        else if (none)
            pw_buf_puts(&out, "nothing is recorded; portwright check MODEL records into " DEFAULT_DB "\n");
        else
            pw_report_history_text(&history, to_terminal ? pw_options_width() : 140, false, &out);
    }
    exit_code = finish(options, status, &out, &err);
    pw_store_close(store);
    pw_arena_clear(&arena);
    return exit_code;
}

static int prune(const struct pw_options *options, const struct texts *own)
{
    struct pw_history_retention retention = {.keep_runs = DEFAULT_KEEP_RUNS, .samples_only = own->samples != NULL};
    struct pw_history_pruned pruned;
    struct pw_store *store = NULL;
    struct pw_buf out = {0};
    struct pw_error err = {0};
    int64_t keep_runs = DEFAULT_KEEP_RUNS;
    char bytes[32];
    pw_status status = PW_OK;
    int exit_code;

    if (!own->keep)
        status = pw_error_set(&err, PW_ERR_USAGE, "history prune: say what stays with --keep 90d");
    if (status == PW_OK)
        status = parse_since("keep", own->keep, &retention.before_ms, &err);
    if (status == PW_OK && own->keep_runs &&
        (!pw_text_int64(own->keep_runs, &keep_runs) || keep_runs < 0 || keep_runs > 1000000))
        status = pw_error_set(&err, PW_ERR_USAGE, "--keep-runs: expected a number, found '%s'", own->keep_runs);
    retention.keep_runs = (int)keep_runs;
    if (status == PW_OK && !pw_file_exists(options->db ? options->db : DEFAULT_DB))
        status = pw_error_set(&err, PW_ERR_STORE, "%s: there is no such file", options->db ? options->db : DEFAULT_DB);
    if (status == PW_OK)
        status = pw_store_open(options->db ? options->db : DEFAULT_DB, false, &store, &err);
    if (status == PW_OK)
        status = pw_history_prune(store, &retention, own->dry_run != NULL, &pruned, &err);
    if (status == PW_OK) {
        pw_buf_printf(&out, "%s%" PRId64 " runs with %" PRId64 " results and %" PRId64 " verdicts%s",
                      own->dry_run ? "would go: " : "", pruned.runs, pruned.results, pruned.verdicts,
                      retention.samples_only ? (own->dry_run ? " would lose their raw samples and logs"
                                                             : " lost their raw samples and logs")
                      : own->dry_run         ? ""
                                             : " removed");
        if (pruned.signatures)
            pw_buf_printf(&out, ", %" PRId64 " signatures that nothing speaks of any more", pruned.signatures);
        if (pruned.bytes > 0)
            pw_buf_printf(&out, "; %s freed", pw_text_bytes(bytes, sizeof bytes, (double)pruned.bytes));
        pw_buf_putc(&out, '\n');
    }
    exit_code = finish(options, status, &out, &err);
    pw_store_close(store);
    return exit_code;
}

static int backup(const struct pw_options *options)
{
    struct pw_store *store = NULL;
    struct pw_buf out = {0};
    struct pw_error err = {0};
    pw_status status = pw_store_open(options->db ? options->db : DEFAULT_DB, true, &store, &err);
    int exit_code;

    if (status == PW_OK)
        status = pw_history_backup(store, options->args[1], &err);
    if (status == PW_OK)
        pw_buf_printf(&out, "%s: a whole copy, checked\n", options->args[1]);
    exit_code = finish(options, status, &out, &err);
    pw_store_close(store);
    return exit_code;
}

static int check(const struct pw_options *options)
{
    const char *path = options->db ? options->db : DEFAULT_DB;
    struct pw_store *store = NULL;
    struct pw_buf out = {0};
    struct pw_error err = {0};
    pw_status status = pw_store_open(path, true, &store, &err);
    int exit_code;

    if (status == PW_OK)
        status = pw_store_integrity(store, &err);
    if (status == PW_OK)
        pw_buf_printf(&out, "%s: sound, schema %d\n", path, pw_store_schema());
    exit_code = finish(options, status, &out, &err);
    pw_store_close(store);
    return exit_code;
}

int pw_cmd_history(int argc, char **argv)
{
    struct texts t = {0};
    const struct pw_option_own own[] = {
        {"op", "NAME", "only this operator (Softmax or Softmax-13)", &t.op},
        {"since", "WHEN", "only runs since 12h, 30d, 2w, 6m, 1y ago or a date", &t.since},
        {"signature", "ID", "only this signature", &t.signature},
        {"graph", "ID", "only this graph (its id, or the beginning of it)", &t.graph},
        {"keep", "WHEN", "prune: what began since then stays", &t.keep},
        {"keep-runs", "N", "prune: the newest N runs of a graph on a target stay too (default 20)", &t.keep_runs},
        {"samples", NULL, "prune: only raw samples and logs go", &t.samples},
        {"dry-run", NULL, "prune: say what would go", &t.dry_run},
        {0}};
    const struct pw_command_usage usage = {
        "history", "[prune | backup FILE | check]",
        "Shows the figures of signatures over the recorded runs: error, speed against the reference, where their "
        "level\n"
        "changed and whether they drift. prune removes old runs, backup copies the store, check looks for damage.",
        "target db format output color", own};
    struct pw_options options;
    struct pw_error err = {0};
    int exit_code;

    pw_options_parse(argc, argv, &usage, &options, &exit_code);
    if (exit_code < 0) {
        if (!options.arg_count)
            exit_code = show(&options, &t);
        else if (options.arg_count == 1 && !strcmp(options.args[0], "prune"))
            exit_code = prune(&options, &t);
        else if (options.arg_count == 2 && !strcmp(options.args[0], "backup"))
            exit_code = backup(&options);
        else if (options.arg_count == 1 && !strcmp(options.args[0], "check"))
            exit_code = check(&options);
    }
    if (exit_code < 0) {
        pw_error_set(&err, PW_ERR_USAGE,
                     "history: expected nothing, prune, backup FILE or check; see portwright history "
                     "--help");
        exit_code = pw_options_fail(&err);
    }
    pw_options_clear(&options);
    return exit_code;
}
