/*
 * portwright report: what is known of a graph on its targets, from the store, the baselines and the triage file. Opens
 * no device and measures nothing.
 */
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "baseline/baseline.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "report/model.h"
#include "verify/protocol.h"

#define DEFAULT_DB ".portwright/portwright.db"
#define DEFAULT_PROJECT "portwright.yaml"
#define STYLE_BYTES_MAX (256 << 10)

struct reading {
    struct pw_arena arena;
    struct pw_model *model;
    struct pw_protocol *protocol;
    struct pw_inference *inference;
    struct pw_inventory *inventory;
    char graph_id[PW_HASH_TEXT];
};

static void clear_reading(struct reading *r)
{
    pw_inventory_destroy(r->inventory);
    pw_inference_destroy(r->inference);
    pw_protocol_destroy(r->protocol);
    pw_model_destroy(r->model);
    pw_arena_clear(&r->arena);
}

/* The graph as the runs saw it: with the dims of the command line, else the protocol's first set. */
static pw_status read_graph(struct reading *r, const struct pw_options *options, struct pw_error *err)
{
    const struct pw_binding *bindings = options->dim_sets ? options->dims[0] : NULL;
    size_t count = options->dim_sets ? options->dim_counts[0] : 0;
    pw_status status = pw_model_load(options->args[0], &r->model, err);

    if (status == PW_OK && (options->project || pw_file_exists(DEFAULT_PROJECT)))
        status = pw_protocol_load(options->project ? options->project : DEFAULT_PROJECT, &r->protocol, err);
    if (status == PW_OK && !bindings && r->protocol && r->protocol->binding_count) {
        bindings = r->protocol->bindings[0].items;
        count = r->protocol->bindings[0].count;
    }
    if (status == PW_OK)
        status = pw_infer_graph(r->model, bindings, count, &r->inference, err);
    if (status == PW_OK)
        status = pw_inventory_create(r->model, r->inference, &r->inventory, err);
    if (status == PW_OK)
        pw_hash_text(pw_model_structure_hash(r->model), r->graph_id);
    return status;
}

static pw_status apply_sensitivities(struct reading *r, const char *db, struct pw_error *err)
{
    struct pw_store *store = NULL;
    struct pw_store_sensitivity *rows = NULL;
    size_t count = 0;
    pw_status status;

    if (!pw_file_exists(db))
        return PW_OK;
    status = pw_store_open(db, true, &store, err);
    if (status == PW_OK)
        status = pw_store_sensitivities(store, r->graph_id, &r->arena, &rows, &count, err);
    pw_store_close(store);
    return status == PW_OK ? pw_store_apply_sensitivities(rows, count, r->inventory, err) : status;
}

/* What ends the style element would be read as HTML: no CSS needs it. */
static pw_status read_style(const char *path, struct pw_buf *out, struct pw_error *err)
{
    pw_status status = pw_file_read(path, STYLE_BYTES_MAX, out, err);

    if (status == PW_OK && (memchr(pw_buf_text(out), '\0', out->size) || strstr(pw_buf_text(out), "</")))
        status = pw_error_set(err, PW_ERR_USAGE, "%s: expected CSS, found %s", path,
                              strstr(pw_buf_text(out), "</") ? "'</'" : "a zero byte");
    return status;
}

static pw_status write_html(const char *style_path, const struct pw_report *report, struct pw_buf *out,
                            struct pw_error *err)
{
    struct pw_buf style = {0};
    pw_status status = style_path ? read_style(style_path, &style, err) : PW_OK;

    if (status == PW_OK)
        pw_report_html(report, style_path ? pw_buf_text(&style) : NULL, out);
    pw_buf_clear(&style);
    return status;
}

static pw_status write_format(const struct pw_options *options, const char *style, const struct pw_report *report,
                              struct pw_buf *out, struct pw_error *err)
{
    pw_status status;

    if (style && options->format != PW_FORMAT_HTML)
        return pw_error_set(err, PW_ERR_USAGE, "--style goes with --format html");
    switch (options->format) {
    case PW_FORMAT_JSON:
        return pw_report_json(report, out, err);
    case PW_FORMAT_CSV:
        pw_report_csv(report, out);
        break;
    case PW_FORMAT_HTML:
        status = write_html(style, report, out, err);
        if (status != PW_OK)
            return status;
        break;
    case PW_FORMAT_JUNIT:
        pw_report_junit(report, out);
        break;
    case PW_FORMAT_OPENMETRICS:
        pw_report_openmetrics(report, out);
        break;
    default: /* text is Markdown: it reads well as it is */
        pw_report_md(report, out);
        break;
    }
    return out->failed ? pw_error_memory(err, out->size) : PW_OK;
}

int pw_cmd_report(int argc, char **argv)
{
    const char *dir = NULL, *style = NULL;
    const struct pw_option_own own[] = {
        {"baselines", "DIR", "where they are kept (default baselines)", &dir},
        {"style", "FILE", "html: CSS in place of the built-in reports/report.css", &style},
        {0}};
    const struct pw_command_usage usage = {"report", "MODEL",
                                           "Writes what was measured of a graph: coverage, errors, speed, end to end, "
                                           "maturity with its evidence. Opens no\n"
                                           "device. --format md (default), html, csv, json, junit or openmetrics.",
                                           "target dim project db format junit html openmetrics output", own};
    static const char *const default_target[] = {"opencl"};
    struct pw_options options;
    struct reading reading = {0};
    struct pw_report *report = NULL;
    struct pw_report_request request;
    struct pw_buf out = {0};
    struct pw_error err = {0};
    pw_status status = PW_OK;
    int exit_code;

    pw_options_parse(argc, argv, &usage, &options, &exit_code);
    if (exit_code >= 0)
        goto done;
    if (options.arg_count != 1)
        status = pw_error_set(&err, PW_ERR_USAGE, "expected one MODEL, found %d; see portwright report --help",
                              options.arg_count);
    if (status == PW_OK)
        status = read_graph(&reading, &options, &err);
    request = (struct pw_report_request){.inventory = reading.inventory,
                                         .model_path = options.arg_count ? options.args[0] : "",
                                         .graph_id = reading.graph_id,
                                         .targets = options.target_count ? options.targets : default_target,
                                         .target_count = options.target_count ? (size_t)options.target_count : 1,
                                         .db = options.db ? options.db : DEFAULT_DB,
                                         .baselines = dir ? dir : PW_BASELINE_DIR,
                                         .now_ms = pw_clock_wall_ms()};
    if (status == PW_OK)
        status = apply_sensitivities(&reading, request.db, &err);
    if (status == PW_OK)
        status = pw_report_build(&request, &report, &err);
    if (status == PW_OK)
        status = write_format(&options, style, report, &out, &err);
    exit_code = status == PW_OK ? pw_options_write(&options, pw_buf_text(&out), out.size) : pw_options_fail(&err);
done:
    pw_report_destroy(report);
    pw_buf_clear(&out);
    clear_reading(&reading);
    pw_options_clear(&options);
    return exit_code;
}
