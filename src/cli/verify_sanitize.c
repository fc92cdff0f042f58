/* Findings are kept as they come, sorted by kernel and place, and written. */
#include "cli/verify_sanitize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/sanitize.h"

struct collected {
    struct pw_arena arena;
    struct pw_finding *findings;
    size_t count, cap;
    const char **without;
    size_t without_count, without_cap;
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

int pw_cli_sanitize(const struct pw_options *options, const char *part, bool thorough)
{
    struct collected c = {.progress = !options->quiet && isatty(STDERR_FILENO)};
    struct pw_kernels *kernels = NULL;
    struct pw_sanitize_totals totals = {0};
    int code;
    if (options->format != PW_FORMAT_TEXT && options->format != PW_FORMAT_JSON)
        c.status = pw_error_set(&c.err, PW_ERR_USAGE, "verify --sanitize: expected --format text or json");
    else
        c.status = pw_options_kernels(options, &kernels, &c.err);
    if (c.status == PW_OK) {
        struct pw_sanitize_request request = {.kernels = kernels,
                                              .part = part,
                                              .thorough = thorough,
                                              .jobs = options->jobs,
                                              .found = take,
                                              .progress = show,
                                              .without = take_without,
                                              .user = &c};
        pw_status status = pw_sanitize(&request, &totals, &c.err);
        c.status = c.status == PW_OK ? status : c.status;
    }
    if (c.progress)
        fputs("\r\033[K", stderr);
    if (c.status == PW_OK && totals.kernels_ran == 0)
        c.status = pw_error_set(&c.err, PW_ERR_USAGE,
                                "verify --sanitize: no kernel and no operator has '%s' in its name", part ? part : "");
    code = c.status == PW_OK ? write_report(options, &c, &totals) : pw_options_fail(&c.err);
    pw_kernels_destroy(kernels);
    pw_free(c.findings);
    pw_free(c.without);
    pw_arena_clear(&c.arena);
    return code;
}
