/* Findings are kept as they come, sorted by kernel and place, and written. */
#include "cli/verify_sanitize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/infer.h"
#include "graph/inventory.h"
#include "report/sanitize.h"

struct collected {
    struct pw_arena arena;
    struct pw_finding *findings;
    size_t count, cap;
    const char **without;
    size_t without_count, without_cap;
    const struct pw_inventory *inventory; /* NULL: no model was given */
    bool progress;
    pw_status status;
    struct pw_error err;
};

static const char *keep(struct collected *c, const char *text)
{
    const char *copy = pw_arena_strndup(&c->arena, text, strlen(text));
    if (!copy && c->status == PW_OK)
        c->status = pw_error_memory(&c->err, strlen(text));
    return copy ? copy : "";
}

static void take(void *user, const struct pw_finding *f)
{
    struct collected *c = user;
    pw_status status = PW_GROW(c->findings, c->cap, c->count + 1, &c->err);
    if (status != PW_OK) {
        c->status = status;
        return;
    }
    c->findings[c->count++] = (struct pw_finding){.kind = f->kind,
                                                  .kernel = keep(c, f->kernel),
                                                  .path = keep(c, f->path),
                                                  .entry = keep(c, f->entry),
                                                  .file = keep(c, f->file),
                                                  .line = f->line,
                                                  .case_name = keep(c, f->case_name),
                                                  .shape = keep(c, f->shape),
                                                  .text = keep(c, f->text)};
}

static void take_without(void *user, const struct pw_kernel *kernel)
{
    struct collected *c = user;
    pw_status status = PW_GROW(c->without, c->without_cap, c->without_count + 1, &c->err);
    if (status == PW_OK)
        c->without[c->without_count++] = keep(c, pw_kernel_name(kernel));
    else
        c->status = status;
}

static void show(void *user, size_t done, size_t total)
{
    const struct collected *c = user;
    if (c->progress)
        fprintf(stderr, "\r\033[K[%zu/%zu]", done, total);
}

static bool in_graph(void *user, const struct pw_op *op)
{
    const struct collected *c = user;
    for (size_t i = 0; i < c->inventory->signature_count; i++) {
        const struct pw_op *own = c->inventory->signatures[i].op;
        if (own && strcmp(own->name, op->name) == 0 && strcmp(own->domain, op->domain) == 0)
            return true;
    }
    return false;
}

static int by_place(const void *left, const void *right)
{
    const struct pw_finding *a = left, *b = right;
    int order = strcmp(a->kernel, b->kernel);
    if (order == 0)
        order = strcmp(a->file, b->file);
    return order != 0 ? order : a->line < b->line ? -1 : a->line > b->line;
}

static int write_report(const struct pw_options *options, struct collected *c, const struct pw_sanitize_totals *totals)
{
    struct pw_buf out = {0};
    struct pw_sanitize_report report = {.totals = *totals,
                                        .findings = c->findings,
                                        .count = c->count,
                                        .without = c->without,
                                        .without_count = c->without_count};
    pw_status status = PW_OK;
    int code;
    if (c->count > 0)
        qsort(c->findings, c->count, sizeof *c->findings, by_place);
    if (options->format == PW_FORMAT_JSON)
        status = pw_report_sanitize_json(&out, &report, &c->err);
    else
        pw_report_sanitize_text(&out, &report);
    if (status == PW_OK && out.failed)
        status = pw_error_memory(&c->err, out.size);
    code = status == PW_OK ? pw_options_write(options, out.data, out.size) : pw_options_fail(&c->err);
    pw_buf_clear(&out);
    return code == PW_EXIT_HELD && c->count > 0 ? PW_EXIT_GATE : code;
}

/* What a MODEL is made of. */
struct graph {
    struct pw_model *model;
    struct pw_inference *inference;
    struct pw_inventory *inventory;
};

static pw_status read_graph(const struct pw_options *options, struct graph *graph, struct pw_error *err)
{
    pw_status status = pw_model_load(options->args[0], &graph->model, err);
    if (status == PW_OK)
        status = pw_infer_graph(graph->model, options->dim_sets > 0 ? options->dims[0] : NULL,
                                options->dim_sets > 0 ? options->dim_counts[0] : 0, &graph->inference, err);
    if (status == PW_OK)
        status = pw_inventory_create(graph->model, graph->inference, &graph->inventory, err);
    return status;
}

static void clear_graph(struct graph *graph)
{
    pw_inventory_destroy(graph->inventory);
    pw_inference_destroy(graph->inference);
    pw_model_destroy(graph->model);
}

static pw_status run(const struct pw_options *options, const struct pw_kernels *kernels, const char *part,
                     struct collected *c, struct pw_sanitize_totals *totals)
{
    struct pw_sanitize_request request = {.kernels = kernels,
                                          .part = part,
                                          .wants = c->inventory ? in_graph : NULL,
                                          .thorough = true,
                                          .jobs = options->jobs,
                                          .found = take,
                                          .progress = show,
                                          .without = take_without,
                                          .user = c};
    pw_status status = pw_sanitize(&request, totals, &c->err);
    if (c->progress)
        fputs("\r\033[K", stderr);
    if (status == PW_OK && c->status == PW_OK && totals->kernels_ran == 0)
        status = pw_error_set(&c->err, PW_ERR_USAGE, "verify --sanitize: no kernel serves '%s'%s%s",
                              part ? part : "any operator", options->arg_count > 0 ? " of " : "",
                              options->arg_count > 0 ? options->args[0] : "");
    return status != PW_OK ? status : c->status;
}

int pw_cli_sanitize(const struct pw_options *options, const char *part)
{
    struct collected c = {.progress = !options->quiet && isatty(STDERR_FILENO)};
    struct pw_kernels *kernels = NULL;
    struct pw_sanitize_totals totals = {0};
    struct graph graph = {0};
    pw_status status;
    int code;
    if (options->format != PW_FORMAT_TEXT && options->format != PW_FORMAT_JSON)
        status = pw_error_set(&c.err, PW_ERR_USAGE, "verify --sanitize: expected --format text or json");
    else
        status = pw_options_kernels(options, &kernels, &c.err);
    if (status == PW_OK && options->arg_count > 0)
        status = read_graph(options, &graph, &c.err);
    c.inventory = graph.inventory;
    if (status == PW_OK)
        status = run(options, kernels, part, &c, &totals);
    code = status == PW_OK ? write_report(options, &c, &totals) : pw_options_fail(&c.err);
    clear_graph(&graph);
    pw_kernels_destroy(kernels);
    pw_free(c.findings);
    pw_free(c.without);
    pw_arena_clear(&c.arena);
    return code;
}
