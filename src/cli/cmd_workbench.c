/* portwright [MODEL]: the workbench. */
#include <langinfo.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "job/opening.h"
#include "tui/app.h"
#include "verify/memory.h"

/* Of the cases that run at the same time, on all targets: the whole is to stay within 64 MiB beside the graph. */
#define CASES_BYTES (28 << 20)

int pw_cmd_workbench(int argc, char **argv)
{
    const char *script = NULL, *timeout = NULL, *cases = NULL;
    int64_t case_count = 0;
    const struct pw_option_own own[] = {
        {"cases", "N", "cases of a signature at least, as verify's (default 24)", &cases},
        {"case-timeout", "TIME", "a run of a case that takes longer is a TIMEOUT, as verify's", &timeout},
        {"script", "FILE", "runs keys and expectations from a file, without a terminal (portwright(1))", &script},
        {NULL, NULL, NULL, NULL}};
    const struct pw_command_usage usage = {"", "[options] MODEL",
                                           "Opens the workbench on a graph. Press ? in it for the keys.",
                                           "target dim project db ops-dir seed jobs color", own};
    struct pw_options options;
    struct pw_session_options session_options = {0};
    const char *dirs[PW_OPTION_TARGETS];
    static const char *const standard[] = {"opencl"};
    struct pw_opening *opening = NULL;
    struct pw_case_memory memory;
    struct pw_error err = {0};
    pw_status status = PW_OK;
    int exit_code, failed = 0;

    pw_case_memory_init(&memory, CASES_BYTES);
    pw_options_parse(argc, argv, &usage, &options, &exit_code);
    if (exit_code >= 0)
        goto done;
    if (options.arg_count != 1)
        status = pw_error_set(&err, PW_ERR_USAGE,
                              options.arg_count ? "expected one MODEL, found %d; see portwright --help"
                                                : "expected a MODEL, found %d; see portwright --help",
                              options.arg_count);
    else if (!script && pw_file_exists(options.args[0]) && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
        status =
            pw_error_set(&err, PW_ERR_USAGE, "the workbench needs a terminal; without one use portwright --check '%s'",
                         options.args[0]);
    else if (options.dim_sets > 1)
        status = pw_error_set(&err, PW_ERR_USAGE, "the workbench shows one --dim set at a time");
    else if (cases && (!pw_text_int64(cases, &case_count) || case_count < 1 || case_count > 1000000))
        status = pw_error_set(&err, PW_ERR_USAGE, "--cases: expected a whole number from 1, found '%s'", cases);
    for (size_t i = 0; i < options.ops_dir_count; i++)
        dirs[i] = options.ops_dirs[i].path;
    session_options = (struct pw_session_options){.model_path = options.arg_count ? options.args[0] : NULL,
                                                  .project = options.project,
                                                  .db = options.db,
                                                  .asked = true,
                                                  .ops_dirs = dirs,
                                                  .ops_dir_count = options.ops_dir_count,
                                                  .bindings = options.dims[0],
                                                  .binding_count = options.dim_counts[0],
                                                  .seed = options.seed,
                                                  .jobs = options.jobs,
                                                  .triage = true,
                                                  .effort = {.min_cases = (int)case_count, .memory = &memory}};
    if (status == PW_OK && timeout)
        status = pw_options_duration("--case-timeout", timeout, &session_options.effort.case_timeout_ns, &err);
    pw_mem_give_back_big();
    if (status == PW_OK)
        status = pw_opening_start(&session_options, options.target_count ? options.targets : standard,
                                  options.target_count ? (size_t)options.target_count : 1, &opening, &err);
    if (status == PW_OK && script)
        status = pw_app_script(opening, script, strcmp(nl_langinfo(CODESET), "UTF-8") != 0, &failed, &err);
    else if (status == PW_OK)
        status = pw_app_run(opening, options.color, &err);
    exit_code = status != PW_OK ? pw_options_fail(&err) : failed ? PW_EXIT_GATE : PW_EXIT_HELD;
done:
    pw_opening_close(opening);
    pw_case_memory_clear(&memory);
    pw_options_clear(&options);
    return exit_code;
}
