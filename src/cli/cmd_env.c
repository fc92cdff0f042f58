/* `portwright env`: what this machine and its targets are, and what they can do at most. */
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/file.h"
#include "bench/environment.h"
#include "bench/machine.h"
#include "bench/quiet.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "report/env.h"
#include "target/device.h"
#include "tensor/blas.h"

#define LOCK_WAIT_NS INT64_C(10000000000)
#define IDLE_WAIT_NS INT64_C(500000000)

static void look_at(const char *spec, bool peaks, struct pw_device **device, struct pw_report_env_target *target)
{
    target->spec = spec;
    if (pw_device_open(spec, NULL, device, &target->error) != PW_OK || pw_device_is_reference(*device))
        return;
    target->info = pw_device_info(*device);
    target->library = pw_device_library(*device);
    target->workers = pw_device_workers(*device);
    if (peaks) {
        struct pw_quiet quiet;

        /* Timing is one process's at a time; a figure that other work disturbed is still shown. */
        pw_quiet_begin(&quiet, NULL, LOCK_WAIT_NS, NULL, NULL);
        pw_quiet_idle(&quiet, IDLE_WAIT_NS);
        pw_peaks_measure(*device, 0, NULL, &target->peaks, &target->peaks_error);
        pw_quiet_end(&quiet);
    }
}

/* ---- the lock ---- */

/* Environments of all targets, in `out`; those read so far are to be cleared whatever is returned. */
static pw_status read_environments(const struct pw_options *options, struct pw_environment *out, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (int i = 0; i < options->target_count && status == PW_OK; i++) {
        struct pw_environment_request request = {.target = options->targets[i]};
        struct pw_device *device = NULL;

        status = pw_device_open(options->targets[i], NULL, &device, err);
        request.device = device;
        if (status == PW_OK)
            status = pw_environment_read(&request, &out[i], err);
        pw_device_close(device);
    }
    return status;
}

static pw_status write_lock(const char *path, const struct pw_environment *environments, size_t count,
                            struct pw_error *err)
{
    struct pw_buf text = {0};
    pw_status status = pw_lock_write(environments, count, &text, err);

    if (status == PW_OK)
        status = pw_file_write(path, pw_buf_text(&text), text.size, err);
    if (status == PW_OK)
        printf("%s pins this environment of %zu target%s\n", path, count, count == 1 ? "" : "s");
    pw_buf_clear(&text);
    return status;
}

static pw_status compare_lock(const char *path, const struct pw_environment *environments, size_t count, bool *all,
                              struct pw_error *err)
{
    pw_status status = PW_OK;

    *all = true;
    for (size_t i = 0; i < count && status == PW_OK; i++) {
        struct pw_buf differences = {0};
        bool matches = false;
        char safe[128];

        status = pw_lock_check(path, &environments[i], &matches, &differences, err);
        if (status == PW_OK)
            printf("%s: %s\n%s", pw_text_show(safe, sizeof safe, environments[i].target, 100),
                   matches ? "the pinned environment" : "not the pinned environment", pw_buf_text(&differences));
        *all = *all && matches;
        pw_buf_clear(&differences);
    }
    return status;
}

static int lock(const struct pw_options *options, const char *path, bool write)
{
    struct pw_environment environments[PW_OPTION_TARGETS] = {0};
    size_t count = (size_t)options->target_count;
    struct pw_error err = {0};
    bool all = true;
    pw_status status = read_environments(options, environments, &err);

    if (status == PW_OK)
        status =
            write ? write_lock(path, environments, count, &err) : compare_lock(path, environments, count, &all, &err);
    for (size_t i = 0; i < count; i++)
        pw_environment_clear(&environments[i]);
    if (status != PW_OK)
        return pw_options_fail(&err);
    return all ? PW_EXIT_HELD : PW_EXIT_GATE;
}

int pw_cmd_env(int argc, char **argv)
{
    const char *no_peaks = NULL, *write = NULL, *compare = NULL, *lock_file = NULL;
    const struct pw_option_own own[] = {
        {"no-peaks", NULL, "do not measure the peaks (a few seconds)", &no_peaks},
        {"lock", NULL, "write portwright.lock, which pins this environment", &write},
        {"compare", NULL, "compare with portwright.lock; exit 1 and say what differs", &compare},
        {"lock-file", "FILE", "another file than portwright.lock", &lock_file},
        {0}};
    const struct pw_command_usage usage = {
        "env", "",
        "Shows the machine, how kernels are confined on it, the OpenCL devices, and of each target the "
        "versions,\nthe accuracy contract and the measured peaks.",
        "target format -csv -md output", own};
    struct pw_options options;
    struct pw_device *devices[PW_OPTION_TARGETS] = {NULL};
    struct pw_report_env_target targets[PW_OPTION_TARGETS];
    struct pw_report_env report = {.version = PACKAGE_VERSION, .targets = targets};
    struct pw_buf list = {0}, out = {0};
    struct pw_error err = {0};
    pw_status status = PW_OK;
    int exit_code;

    pw_options_parse(argc, argv, &usage, &options, &exit_code);
    if (exit_code < 0 && options.arg_count > 0) {
        pw_error_set(&err, PW_ERR_USAGE, "env: takes no arguments; see portwright env --help");
        exit_code = pw_options_fail(&err);
    }
    if (exit_code >= 0) {
        pw_options_clear(&options);
        return exit_code;
    }
    if (options.target_count == 0)
        options.targets[options.target_count++] = "opencl";
    if (write || compare || lock_file) {
        exit_code = lock(&options, lock_file ? lock_file : PW_LOCK_FILE, write != NULL);
        pw_options_clear(&options);
        return exit_code;
    }
    memset(targets, 0, sizeof targets);
    pw_machine_read(&report.machine);
    report.openblas = pw_blas_describe();
    pw_report_env_isolation_read(&report.isolation);
    pw_device_list(&list, &report.devices_error);
    report.devices = pw_buf_text(&list);
    exit_code = PW_EXIT_HELD;
    for (int i = 0; i < options.target_count; i++) {
        look_at(options.targets[i], !no_peaks, &devices[i], &targets[i]);
        if (targets[i].error.status != PW_OK)
            exit_code = PW_EXIT_TARGET;
    }
    report.target_count = (size_t)options.target_count;
    if (options.format == PW_FORMAT_JSON)
        status = pw_report_env_json(&report, &out, &err);
    else
        pw_report_env_text(&report, &out);
    if (status == PW_OK && out.failed)
        status = pw_error_memory(&err, out.size);
    int written = status == PW_OK ? pw_options_write(&options, pw_buf_text(&out), out.size) : pw_options_fail(&err);
    for (int i = 0; i < options.target_count; i++)
        pw_device_close(devices[i]);
    pw_buf_clear(&list);
    pw_buf_clear(&out);
    pw_options_clear(&options);
    return written != PW_EXIT_HELD ? written : exit_code;
}
