/* portwright [MODEL]: the workbench. */
#include <langinfo.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "job/session.h"
#include "tui/app.h"

int pw_cmd_workbench(int argc, char **argv)
{
    const char *script = NULL;
    const struct pw_option_own own[] = {
        {"script", "FILE", "runs keys and expectations from a file, without a terminal (portwright(1))", &script},
        {NULL, NULL, NULL, NULL}};
    const struct pw_command_usage usage = {"", "[options] MODEL",
                                           "Opens the workbench on a graph. Press ? in it for the keys.",
                                           "target dim project db ops-dir seed jobs color", own};
    struct pw_options options;
    struct pw_session_options session_options = {0};
    const char *dirs[PW_OPTION_TARGETS];
    struct pw_session *sessions[PW_OPTION_TARGETS] = {NULL};
    size_t session_count = 0;
    struct pw_error err = {0};
    pw_status status = PW_OK;
    int exit_code, failed = 0;

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
    for (size_t i = 0; i < options.ops_dir_count; i++)
        dirs[i] = options.ops_dirs[i].path;
    session_options = (struct pw_session_options){.model_path = options.arg_count ? options.args[0] : NULL,
                                                  .target = options.target_count ? options.targets[0] : NULL,
                                                  .project = options.project,
                                                  .db = options.db,
                                                  .ops_dirs = dirs,
                                                  .ops_dir_count = options.ops_dir_count,
                                                  .bindings = options.dims[0],
                                                  .binding_count = options.dim_counts[0],
                                                  .seed = options.seed,
                                                  .jobs = options.jobs,
                                                  .triage = true};
    for (int k = 0; status == PW_OK && (k == 0 || k < options.target_count); k++) {
        session_options.target = options.target_count ? options.targets[k] : NULL;
        session_options.triage = k == 0; /* decisions are the graph's, not a target's */
        status = pw_session_open(&session_options, &sessions[k], &err);
        session_count += status == PW_OK;
    }
    if (status == PW_OK && script)
        status =
            pw_app_script(sessions, session_count, script, strcmp(nl_langinfo(CODESET), "UTF-8") != 0, &failed, &err);
    else if (status == PW_OK)
        status = pw_app_run(sessions, session_count, options.color, &err);
    exit_code = status != PW_OK ? pw_options_fail(&err) : failed ? PW_EXIT_GATE : PW_EXIT_HELD;
done:
    for (size_t k = 0; k < session_count; k++)
        pw_session_close(sessions[k]);
    pw_options_clear(&options);
    return exit_code;
}
