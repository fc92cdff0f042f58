/* portwright init: a commented protocol file for a graph, to start from. Opens no device. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "report/protocol.h"

#define DEFAULT_PROJECT "portwright.yaml"

/* Creates the file, or fails when it is there: two at once cannot both believe they were first. */
static pw_status write_new(const char *path, const struct pw_buf *text, struct pw_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    pw_status status = PW_OK;

    if (fd < 0 && errno == EEXIST)
        return pw_error_set(err, PW_ERR_USAGE, "%s is there already; --force replaces it, --project FILE names another",
                            path);
    if (fd < 0)
        return pw_error_set(err, PW_ERR_IO, "%s: %s", path, strerror(errno));
    close(fd);
    status = pw_file_write(path, pw_buf_text(text), text->size, err);
    if (status != PW_OK)
        unlink(path); /* ours, and empty */
    return status;
}

int pw_cmd_init(int argc, char **argv)
{
    const char *force = NULL;
    const struct pw_option_own own[] = {{"force", NULL, "replaces a file that is there", &force}, {0}};
    const struct pw_command_usage usage = {"init", "MODEL",
                                           "Writes a commented protocol file for the graph (default portwright.yaml): "
                                           "what it says\nholds already, so it is a place to start from.",
                                           "project quiet", own};
    struct pw_options options;
    struct pw_model *model = NULL;
    struct pw_inference *inference = NULL;
    struct pw_inventory *inventory = NULL;
    struct pw_buf text = {0};
    struct pw_error err = {0};
    pw_status status = PW_OK;
    int exit_code;

    pw_options_parse(argc, argv, &usage, &options, &exit_code);
    if (exit_code >= 0)
        goto done;
    if (!options.project)
        options.project = DEFAULT_PROJECT;
    if (options.arg_count != 1)
        status = pw_error_set(&err, PW_ERR_USAGE, "expected one MODEL, found %d; see portwright init --help",
                              options.arg_count);
    if (status == PW_OK)
        status = pw_model_load(options.args[0], &model, &err);
    if (status == PW_OK)
        status = pw_infer_graph(model, NULL, 0, &inference, &err);
    if (status == PW_OK)
        status = pw_inventory_create(model, inference, &inventory, &err);
    if (status == PW_OK) {
        pw_report_protocol(inventory, options.args[0], &text);
        if (text.failed)
            status = pw_error_memory(&err, text.size);
    }
    if (status == PW_OK)
        status = force ? pw_file_write(options.project, pw_buf_text(&text), text.size, &err)
                       : write_new(options.project, &text, &err);
    exit_code = status == PW_OK ? PW_EXIT_HELD : pw_options_fail(&err);
    if (status == PW_OK && !options.quiet)
        printf("wrote %s; portwright verify '%s' --explain shows what it comes to\n", options.project, options.args[0]);
done:
    pw_inventory_destroy(inventory);
    pw_inference_destroy(inference);
    pw_model_destroy(model);
    pw_buf_clear(&text);
    pw_options_clear(&options);
    return exit_code;
}
