/*
 * portwright conformance: backend-test folders, whole graphs, on the reference or a target.
 * A folder has model.onnx and test_data_set_N/{input,output}_I.pb. With a target, every node that a
 * kernel serves runs there; the rest runs on the host, and the line says so.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/parallel.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "report/conformance.h"

#define MAX_FOLDERS 65536

struct folders {
    char **paths; /* owned */
    size_t count, cap;
};

static pw_status add_folder(struct folders *folders, const char *path, struct pw_error *err)
{
    pw_status status;

    if (folders->count == MAX_FOLDERS)
        return pw_error_set(err, PW_ERR_USAGE, "more than %d test folders", MAX_FOLDERS);
    status = PW_GROW(folders->paths, folders->cap, folders->count + 1, err);
    if (status != PW_OK)
        return status;
    folders->paths[folders->count] = pw_strdup(path);
    if (!folders->paths[folders->count])
        return pw_error_memory(err, strlen(path));
    folders->count++;
    return PW_OK;
}

/* A folder with a model.onnx, or one that holds such folders (at any depth up to 4). */
static pw_status collect(struct folders *folders, const char *path, int depth, struct pw_error *err)
{
    struct pw_buf joined = {0};
    char **names = NULL;
    size_t count = 0;
    pw_status status = PW_OK;

    if (!pw_file_is_dir(path))
        return depth ? PW_OK : pw_error_set(err, PW_ERR_USAGE, "'%s' is not a folder", path);
    pw_file_join(&joined, path, "model.onnx");
    if (pw_file_exists(pw_buf_text(&joined))) {
        status = add_folder(folders, path, err);
    } else if (depth < 4) {
        size_t before = folders->count;

        status = pw_file_list(path, &names, &count, err);
        for (size_t i = 0; i < count && status == PW_OK; i++) {
            pw_file_join(&joined, path, names[i]);
            status = collect(folders, pw_buf_text(&joined), depth + 1, err);
        }
        if (status == PW_OK && !depth && folders->count == before)
            status = pw_error_set(err, PW_ERR_USAGE, "'%s': no model.onnx in it or below", path);
    }
    pw_free(names);
    pw_buf_clear(&joined);
    return status;
}

static void print_folder(const struct pw_options *options, const char *path, const struct pw_conformance_result *result)
{
    char safe[512], name[256];

    for (size_t i = 0; i < result->set_count; i++) {
        const struct pw_conformance_set *set = &result->sets[i];
        static const char *const words[] = {"passed", "FAILED", "skipped"};

        if (options->quiet && set->outcome == PW_CONFORMANCE_PASSED)
            continue;
        printf("%-7s %s/%s", words[set->outcome], pw_text_show(name, sizeof name, path, 200), set->name);
        if (result->on_target)
            printf("  %zu on the target, %zu on the host", set->target_nodes, set->host_nodes);
        printf("  %.1f ms", (double)set->elapsed_ns / 1e6);
        if (set->note[0])
            printf("  %s", pw_text_show(safe, sizeof safe, set->note, 400));
        putchar('\n');
    }
    fflush(stdout);
}

struct work {
    const struct pw_options *options;
    const struct folders *folders;
    const struct pw_conformance_options *conformance;
    struct pw_report_conformance report;
    pw_status status; /* of gathering the report */
    struct pw_error report_error;
    size_t next;
    pthread_mutex_t lock;
};

static void *work_main(void *user)
{
    struct work *work = user;

    for (;;) {
        struct pw_conformance_result result = {0};
        size_t i;

        pthread_mutex_lock(&work->lock);
        i = work->next++;
        pthread_mutex_unlock(&work->lock);
        if (i >= work->folders->count)
            return NULL;
        pw_conformance_run(work->folders->paths[i], work->conformance, &result);
        pthread_mutex_lock(&work->lock);
        print_folder(work->options, work->folders->paths[i], &result);
        if (work->status == PW_OK)
            work->status =
                pw_report_conformance_add(&work->report, work->folders->paths[i], &result, &work->report_error);
        pthread_mutex_unlock(&work->lock);
        pw_conformance_clear(&result);
    }
}

static void run_all(struct work *work, int jobs)
{
    pthread_t threads[16];
    int started = 0;

    pthread_mutex_init(&work->lock, NULL);
    while (started < jobs - 1 && started < 16 && pthread_create(&threads[started], NULL, work_main, work) == 0)
        started++;
    work_main(work);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&work->lock);
}

int pw_cmd_conformance(int argc, char **argv)
{
    const char *require = NULL, *times = NULL;
    const struct pw_option_own own[] = {
        {"require-target", NULL, "a floating-point node that falls to the host fails its set", &require},
        {"times", NULL, "runs each set once before, and adds the distribution of times and the slowest ten", &times},
        {0}};
    const struct pw_command_usage usage = {
        "conformance", "DIR...", "Runs ONNX backend-test folders (model.onnx, test_data_set_N/*.pb) whole on a target.",
        "target ops-dir rtol atol seed jobs quiet", own};
    struct pw_options options;
    struct pw_conformance_options conformance = {.rtol = 1e-3, .atol = 1e-7};
    struct pw_kernels *kernels = NULL;
    struct pw_device *device = NULL;
    struct folders folders = {0};
    struct pw_error err = {0};
    struct pw_buf text = {0};
    struct work work = {0};
    int64_t begin;
    pw_status status = PW_OK;
    int exit_code;

    pw_options_parse(argc, argv, &usage, &options, &exit_code);
    if (exit_code >= 0)
        goto done;
    if (!options.arg_count)
        status = pw_error_set(&err, PW_ERR_USAGE, "conformance: expected one or more folders");
    if (options.target_count > 1)
        status = pw_error_set(&err, PW_ERR_USAGE, "conformance: one --target at a time");
    for (int i = 0; i < options.arg_count && status == PW_OK; i++)
        status = collect(&folders, options.args[i], 0, &err);
    if (status == PW_OK && options.target_count && strcmp(options.targets[0], "reference")) {
        status = pw_options_kernels(&options, &kernels, &err);
        if (status == PW_OK)
            status = pw_device_open(options.targets[0], NULL, &device, &err);
        if (status == PW_OK && pw_device_note(device)[0] && !options.quiet)
            fprintf(stderr, "portwright: %s\n", pw_device_note(device));
    }
    if (status != PW_OK) {
        exit_code = pw_options_fail(&err);
        goto done;
    }
    conformance.kernels = kernels;
    conformance.device = device;
    conformance.require_target = require != NULL;
    conformance.warm = times != NULL;
    conformance.seed = options.seed;
    conformance.strict = options.rtol >= 0 || options.atol >= 0;
    if (options.rtol >= 0)
        conformance.rtol = options.rtol;
    if (options.atol >= 0)
        conformance.atol = options.atol;
    work = (struct work){.options = &options, .folders = &folders, .conformance = &conformance};
    work.report.on_target = device != NULL;
    work.report.jobs = options.jobs ? options.jobs : device ? pw_device_workers(device) : pw_parallel_count();
    begin = pw_clock_ns();
    run_all(&work, work.report.jobs);
    work.report.wall_ns = pw_clock_ns() - begin;
    if (work.status != PW_OK) {
        exit_code = pw_options_fail(&work.report_error);
        goto done;
    }
    pw_report_conformance_text(&work.report, times != NULL, &text);
    fputs(pw_buf_text(&text), stdout);
    exit_code = !work.report.sets_failed && work.report.sets_passed ? PW_EXIT_HELD : PW_EXIT_GATE;
done:
    pw_report_conformance_clear(&work.report);
    pw_buf_clear(&text);
    pw_device_close(device);
    pw_kernels_destroy(kernels);
    for (size_t i = 0; i < folders.count; i++)
        pw_free(folders.paths[i]);
    pw_free(folders.paths);
    pw_options_clear(&options);
    return exit_code;
}
