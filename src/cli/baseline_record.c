#include "cli/baseline_record.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "baseline/gate_settings.h"

pw_status pw_baseline_source_of(const struct pw_check_run *run, struct pw_environment *environment,
                                struct pw_baseline_source *source, struct pw_error *err)
{
    const struct pw_device *device = pw_session_device(run->session);
    pw_status status = pw_session_environment(run->session, environment, err);

    *source =
        (struct pw_baseline_source){.graph_id = pw_session_graph_id(run->session),
                                    .model_path = pw_session_model(run->session)->path,
                                    .dims = pw_session_bindings(run->session),
                                    .info = device && !pw_device_is_reference(device) ? pw_device_info(device) : NULL,
                                    .protocol = pw_session_protocol(run->session),
                                    .environment = environment,
                                    .seed = run->options->seed,
                                    .version = PACKAGE_VERSION,
                                    .inventory = pw_session_inventory(run->session),
                                    .rows = run->rows,
                                    .case_sums = run->case_sums,
                                    .recorded = run->recorded};
    return status;
}

/* The lines that did not change stay as the latest approved baseline of this environment has them. */
static pw_status carry_over(const char *folder, struct pw_baseline *b, const struct pw_gate_options *options,
                            struct pw_buf *said, struct pw_error *err)
{
    struct pw_arena arena = {0};
    struct pw_baseline before = {0};
    const char *path = NULL;
    size_t kept = 0;
    pw_status status =
        pw_baseline_find(folder, "latest", PW_BASELINE_THROUGHPUT, b->environment_id, &arena, &path, err);

    if (status == PW_OK && path)
        status = pw_baseline_read(path, &before, err);
    if (status == PW_OK && path)
        status = pw_baseline_carry(&before, b, options, &kept, err);
    if (status == PW_OK && path)
        pw_buf_printf(said, "%zu times did not change by effect and test: their lines stay as in %s\n", kept, path);
    pw_baseline_clear(&before);
    pw_arena_clear(&arena);
    return status;
}

static pw_status make(struct pw_check_run *const *runs, size_t count, pw_baseline_kind kind,
                      const struct pw_record_request *request, const struct pw_gate_options *options,
                      struct pw_baseline *out, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (size_t i = 0; i < count && status == PW_OK; i++) {
        struct pw_environment environment = {0};
        struct pw_baseline_source source;

        status = pw_baseline_source_of(runs[i], &environment, &source, err);
        if (status == PW_OK)
            status = pw_baseline_add(out, kind, &source, options, request->root, err);
        pw_environment_clear(&environment);
    }
    return status;
}

static pw_status save(struct pw_check_run *const *runs, size_t count, pw_baseline_kind kind, const char *folder,
                      const struct pw_record_request *request, struct pw_buf *said, struct pw_error *err)
{
    struct pw_baseline b = {0};
    struct pw_buf path = {0};
    struct pw_gate_options options;
    pw_gate_environment environment;
    size_t rows = 0;
    pw_status status = pw_gate_settings(pw_session_protocol(runs[0]->session), &options, &environment, err);

    if (status == PW_OK)
        status = make(runs, count, kind, request, &options, &b, err);

    for (size_t i = 0; i < b.set_count; i++)
        rows += b.sets[i].count;
    if (status == PW_OK && kind == PW_BASELINE_THROUGHPUT && rows && !request->fresh)
        status = carry_over(folder, &b, &options, said, err);
    if (status == PW_OK && rows) { /* nothing was timed: there is nothing to keep */
        status = pw_baseline_save_pending(folder, &b, &path, err);
        if (status == PW_OK)
            pw_buf_printf(said, "%s: %zu signatures, pending\n", pw_buf_text(&path), rows);
    }
    pw_buf_clear(&path);
    pw_baseline_clear(&b);
    return status;
}

void pw_record_seen_clear(struct pw_record_seen *seen)
{
    for (int i = 0; i < seen->count; i++)
        pw_buf_clear(&seen->folders[i]);
    seen->count = 0;
}

static pw_status see(struct pw_record_seen *seen, const char *folder, const char *target, struct pw_error *err)
{
    for (int i = 0; i < seen->count; i++)
        if (!strcmp(pw_buf_text(&seen->folders[i]), folder))
            return pw_error_set(err, PW_ERR_USAGE,
                                "target '%s' is not recorded: it is of the same kind as '%s', whose pending files in "
                                "%s it would replace; record one target of a kind at a time",
                                target, seen->targets[i], folder);
    pw_buf_puts(&seen->folders[seen->count], folder);
    if (seen->folders[seen->count].failed)
        return pw_error_memory(err, strlen(folder));
    seen->targets[seen->count++] = target;
    return PW_OK;
}

pw_status pw_baseline_record_runs(struct pw_check_run *const *runs, size_t count,
                                  const struct pw_record_request *request, struct pw_record_seen *seen,
                                  struct pw_buf *said, struct pw_error *err)
{
    const struct pw_device *device = pw_session_device(runs[0]->session);
    struct pw_buf folder = {0};
    pw_status status = pw_baseline_folder(
        request->root, pw_session_graph_id(runs[0]->session), pw_session_model(runs[0]->session)->path,
        device && !pw_device_is_reference(device) ? pw_device_info(device)->kind : "reference", &folder, err);

    if (status == PW_OK)
        status = see(seen, pw_buf_text(&folder), runs[0]->target, err);
    if (status == PW_OK && request->precision)
        status = save(runs, count, PW_BASELINE_PRECISION, pw_buf_text(&folder), request, said, err);
    if (status == PW_OK && request->throughput)
        status = save(runs, count, PW_BASELINE_THROUGHPUT, pw_buf_text(&folder), request, said, err);
    pw_buf_clear(&folder);
    return status;
}

/* One target with every binding set. */
static int record_target(const struct pw_options *options, const char *target, const struct pw_record_request *request,
                         struct pw_record_seen *seen, struct pw_buf *said)
{
    struct pw_check_run runs[PW_OPTION_SETS] = {0}, *list[PW_OPTION_SETS];
    size_t sets = options->dim_sets ? (size_t)options->dim_sets : 1, made = 0;
    struct pw_error err = {0};
    pw_status status = PW_OK;
    size_t failed = 0, held = 0;
    int exit_code = PW_EXIT_HELD;

    for (; made < sets && status == PW_OK && !pw_check_run_interrupted(); made++) {
        const struct pw_check_request check = {.target = target, .set = (int)made, .timing = request->timing};

        list[made] = &runs[made];
        status = pw_check_run(&runs[made], options, &check, &err);
        if (status == PW_OK && runs[made].error.status != PW_OK)
            status = pw_error_set(&err, runs[made].error.status, "%s", runs[made].error.message);
        failed += runs[made].totals.gate_failed;
        held += runs[made].totals.held;
    }
    if (status == PW_OK && made == sets)
        status = pw_baseline_record_runs(list, made, request, seen, said, &err);
    if (status == PW_OK && failed)
        pw_buf_printf(said, "note: %zu signatures fail; the baseline says so, it does not excuse them\n", failed);
    if (status == PW_OK && !held)
        pw_buf_puts(said, "note: nothing was proven on this target\n");
    if (status != PW_OK)
        exit_code = err.status == PW_ERR_CANCELLED ? PW_EXIT_GATE : pw_options_fail(&err);
    for (size_t i = 0; i < made; i++)
        pw_check_run_clear(&runs[i]);
    return exit_code;
}

int pw_baseline_record(struct pw_options *options, const struct pw_record_request *request)
{
    struct pw_record_seen seen = {0};
    struct pw_buf said = {0};
    int exit_code, worst = PW_EXIT_HELD;

    pw_check_run_interruptible();
    if (!options->target_count)
        options->targets[options->target_count++] = "opencl";
    for (int t = 0; t < options->target_count && !pw_check_run_interrupted(); t++) {
        exit_code = record_target(options, options->targets[t], request, &seen, &said);
        worst = exit_code > worst ? exit_code : worst;
    }
    exit_code = pw_options_write(options, pw_buf_text(&said), said.size);
    if (said.size && exit_code == PW_EXIT_HELD && !options->quiet)
        fprintf(stderr, "portwright: portwright baseline approve --message TEXT numbers what is pending\n");
    pw_record_seen_clear(&seen);
    pw_buf_clear(&said);
    return exit_code > worst ? exit_code : worst;
}
