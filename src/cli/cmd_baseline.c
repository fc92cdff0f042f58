/*
 * portwright baseline record|list|diff|approve: what a graph was on a target, reviewed as text. Record runs a check
 * and writes what is pending; approve numbers it; neither list, diff nor approve opens a device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "cli/baseline_record.h"
#include "cli/cmd.h"
#include "graph/graph.h"
#include "report/baseline_load.h"

struct texts { /* own options */
    const char *dir, *kind, *message, *by, *state, *only, *fresh, *no_timing, *op;
};

/* ---- which folder ---- */

struct folders { /* <root>/<graph>/<kind>, sorted */
    struct pw_arena arena;
    const char **paths, **names; /* names: without the root */
    size_t count;
};

static pw_status graph_of(const char *model, struct pw_arena *arena, const char **ending, struct pw_error *err)
{
    struct pw_model *loaded = NULL;
    char hash[PW_HASH_TEXT];
    pw_status status = pw_model_load(model, &loaded, err);

    if (status == PW_OK) {
        pw_hash_text(pw_model_structure_hash(loaded), hash);
        *ending = pw_arena_printf(arena, "-%.12s", hash);
        if (!*ending)
            status = pw_error_memory(err, 64);
    }
    pw_model_destroy(loaded);
    return status;
}

static pw_status add_kinds(struct folders *f, const char *root, const char *graph, const char *kind, size_t *cap,
                           struct pw_error *err)
{
    const char *folder = pw_arena_printf(&f->arena, "%s/%s", root, graph);
    char **kinds = NULL;
    size_t count = 0;
    pw_status status = folder ? PW_OK : pw_error_memory(err, strlen(root));

    if (status != PW_OK || !pw_file_is_dir(folder))
        return status;
    status = pw_file_list(folder, &kinds, &count, err);
    for (size_t i = 0; i < count && status == PW_OK; i++) {
        const char *path = pw_arena_printf(&f->arena, "%s/%s", folder, kinds[i]);

        if (path && (!pw_file_is_dir(path) || (kind && strcmp(kind, kinds[i]) != 0)))
            continue;
        if (f->count == *cap) {
            const char **paths = pw_arena_alloc(&f->arena, 2 * *cap + 8, sizeof *paths);
            const char **names = pw_arena_alloc(&f->arena, 2 * *cap + 8, sizeof *names);

            if (paths && names && f->count) {
                memcpy(paths, f->paths, f->count * sizeof *paths);
                memcpy(names, f->names, f->count * sizeof *names);
            }
            f->paths = paths;
            f->names = names;
            *cap = 2 * *cap + 8;
        }
        if (path && f->paths && f->names) {
            f->paths[f->count] = path;
            f->names[f->count] = pw_arena_printf(&f->arena, "%s/%s", graph, kinds[i]);
        }
        if (!path || !f->paths || !f->names || !f->names[f->count++])
            status = pw_error_memory(err, 256);
    }
    pw_free(kinds);
    return status;
}

/* All folders of baselines, or those of the model's graph and the kind. */
static pw_status find_folders(const char *root, const char *model, const char *kind, struct folders *f,
                              struct pw_error *err)
{
    const char *ending = NULL;
    char **graphs = NULL;
    size_t count = 0, cap = 0;
    pw_status status = model ? graph_of(model, &f->arena, &ending, err) : PW_OK;

    if (status == PW_OK && pw_file_is_dir(root))
        status = pw_file_list(root, &graphs, &count, err);
    for (size_t i = 0; i < count && status == PW_OK; i++)
        if (strcmp(graphs[i], "kernels") != 0 && (!ending || pw_text_ends(graphs[i], ending)))
            status = add_kinds(f, root, graphs[i], kind, &cap, err);
    pw_free(graphs);
    return status;
}

static pw_status the_folder(const struct folders *f, const char *root, const char **out, struct pw_error *err)
{
    struct pw_buf names = {0};
    pw_status status = PW_OK;

    for (size_t i = 0; i < f->count; i++)
        pw_buf_printf(&names, "%s%s", i ? ", " : "", f->names[i]);
    if (!f->count)
        status = pw_error_set(err, PW_ERR_USAGE, "%s holds no baselines of this graph and kind", root);
    else if (f->count > 1)
        status =
            pw_error_set(err, PW_ERR_USAGE, "several baselines fit, name the MODEL or --kind: %s", pw_buf_text(&names));
    else
        *out = f->paths[0];
    pw_buf_clear(&names);
    return status;
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

/* What is pending in the folder, as text in the arena; NULL: nothing. Taken before the files are read: what comes in
 * between counts as unseen. */
static pw_status state_of(const char *folder, struct pw_arena *arena, const char **out, struct pw_error *err)
{
    struct pw_baseline_file *files;
    char text[PW_BASELINE_STATE];
    size_t state, count, pending = 0;
    pw_status status = pw_baseline_pending(folder, &state, err);

    *out = NULL;
    if (status == PW_OK)
        status = pw_baseline_list(folder, arena, &files, &count, err);
    for (size_t i = 0; status == PW_OK && i < count; i++)
        pending += !files[i].number;
    if (status == PW_OK && pending && !(*out = pw_arena_printf(arena, "%s", pw_baseline_state_text(state, text))))
        status = pw_error_memory(err, sizeof text);
    return status;
}

/* ---- list ---- */

static pw_status list_folder(struct folders *f, size_t at, struct pw_baseline_listing *listing, struct pw_error *err)
{
    const char *state;
    size_t before = listing->count;
    pw_status status = state_of(f->paths[at], &f->arena, &state, err);

    if (status == PW_OK)
        status = pw_baseline_listing_add(listing, f->paths[at], f->names[at], err);
    for (size_t i = before; status == PW_OK && i < listing->count; i++)
        listing->entries[i].state = state;
    return status;
}

static int list(const struct pw_options *options, const struct texts *own)
{
    struct folders f = {0};
    struct pw_baseline_listing listing = {0};
    struct pw_buf out = {0};
    struct pw_error err = {0};
    pw_status status = find_folders(own->dir, options->arg_count > 1 ? options->args[1] : NULL, own->kind, &f, &err);
    int exit_code;

    for (size_t i = 0; i < f.count && status == PW_OK; i++)
        status = list_folder(&f, i, &listing, &err);
    pw_baseline_listing_finish(&listing);
    if (status == PW_OK && options->format == PW_FORMAT_JSON)
        status = pw_report_baselines_json(listing.entries, listing.count, &out, &err);
    else if (status == PW_OK && options->format == PW_FORMAT_MD)
        pw_report_baselines_md(listing.entries, listing.count, &out);
    else if (status == PW_OK)
        pw_report_baselines_text(listing.entries, listing.count, &out);
    exit_code = finish(options, status, &out, &err);
    pw_baseline_listing_clear(&listing);
    pw_arena_clear(&f.arena);
    return exit_code;
}

/* ---- approve ---- */

/* Which state was reviewed; it is one folder's. */
static pw_status reviewed_state(const struct folders *f, const struct texts *own, size_t *seen, struct pw_error *err)
{
    const char *folder;

    if (!pw_baseline_state_parse(own->state, seen))
        return pw_error_set(err, PW_ERR_USAGE,
                            "--state: expected 16 digits of 0-9 and a-f as baseline diff and list print them, found "
                            "'%.40s'",
                            own->state);
    return the_folder(f, own->dir, &folder, err);
}

static int approve(const struct pw_options *options, const struct texts *own)
{
    struct folders f = {0};
    struct pw_buf out = {0};
    struct pw_error err = {0};
    char now[32], name[PW_BASELINE_NAME];
    struct pw_baseline_approval approval = {.by = own->by ? own->by : pw_baseline_approver(name, sizeof name),
                                            .message = own->message ? own->message : "",
                                            .at = pw_clock_iso(pw_clock_wall_ms(), now, sizeof now)};
    size_t approved = 0;
    pw_status status = PW_OK;
    int exit_code, number = 0;

    if (!approval.by || !approval.by[0] || !approval.message[0])
        status = pw_error_set(&err, PW_ERR_USAGE, "baseline approve: say why with --message TEXT (and who with --by)");
    if (status == PW_OK)
        status = find_folders(own->dir, options->arg_count > 1 ? options->args[1] : NULL, own->kind, &f, &err);
    if (status == PW_OK && own->state)
        status = reviewed_state(&f, own, &approval.seen, &err);
    for (size_t i = 0; i < f.count && status == PW_OK; i++) {
        struct pw_baseline_file *files;
        size_t count, pending = 0, done = 0;

        status = pw_baseline_list(f.paths[i], &f.arena, &files, &count, &err);
        for (size_t k = 0; k < count && status == PW_OK; k++)
            pending += !files[k].number;
        if (status == PW_OK && pending)
            status = pw_baseline_approve(f.paths[i], &approval, &number, &done, &out, &err);
        approved += done;
    }
    if (status == PW_OK && !approved)
        status =
            pw_error_set(&err, PW_ERR_USAGE, "%s: nothing is pending; portwright baseline record makes one", own->dir);
    exit_code = finish(options, status, &out, &err);
    pw_arena_clear(&f.arena);
    return exit_code;
}

/* ---- diff ---- */

static bool is_file(const char *which)
{
    return strchr(which, '/') || pw_text_ends(which, ".yaml");
}

static int diff(const struct pw_options *options, const struct texts *own)
{
    struct pw_baseline_diff *d = NULL;
    struct folders f = {0};
    struct pw_buf out = {0};
    struct pw_error err = {0};
    const char *before = options->arg_count > 1 ? options->args[1] : "latest";
    const char *after = options->arg_count > 2 ? options->args[2] : "pending";
    const char *model = options->arg_count > 3 ? options->args[3] : NULL, *folder = NULL;
    struct pw_report_diff report = {.before = before, .after = after};
    pw_status status = pw_baseline_diff_create(&d, &err);
    int exit_code;

    if (status == PW_OK && is_file(before) && is_file(after)) {
        status = pw_baseline_diff_files(d, before, after, &err);
    } else if (status == PW_OK && (is_file(before) || is_file(after))) {
        status = pw_error_set(&err, PW_ERR_USAGE, "baseline diff: give two files, or two of latest, pending, N");
    } else if (status == PW_OK) {
        status = find_folders(own->dir, model, own->kind, &f, &err);
        if (status == PW_OK)
            status = the_folder(&f, own->dir, &folder, &err);
        if (status == PW_OK && (!strcmp(before, "pending") || !strcmp(after, "pending")))
            status = state_of(folder, &f.arena, &report.state, &err);
        if (status == PW_OK)
            status = pw_baseline_diff_folder(d, folder, before, after, &err);
    }
    if (status == PW_OK) {
        report.parts = d->parts;
        report.part_count = d->part_count;
        if (options->format == PW_FORMAT_JSON)
            status = pw_report_diff_json(&report, &out, &err);
        else if (options->format == PW_FORMAT_MD)
            pw_report_diff_md(&report, &out);
        else
            pw_report_diff_text(&report, &out);
    }
    exit_code = finish(options, status, &out, &err);
    pw_baseline_diff_destroy(d);
    pw_arena_clear(&f.arena);
    return exit_code;
}

/* ---- record ---- */

static int record(struct pw_options *options, const struct texts *own)
{
    struct pw_record_request request = {.root = own->dir,
                                        .timing = !own->no_timing,
                                        .fresh = own->fresh != NULL,
                                        .precision = true,
                                        .throughput = !own->no_timing};
    struct pw_error err = {0};

    if (own->only && strcmp(own->only, "precision") != 0 && strcmp(own->only, "throughput") != 0) {
        pw_error_set(&err, PW_ERR_USAGE, "--only: expected precision or throughput, found '%s'", own->only);
        return pw_options_fail(&err);
    }
    if (own->only) {
        request.precision = own->only[0] == 'p';
        request.throughput = own->only[0] == 't';
        request.timing = request.throughput;
    }
    if (own->op) {
        pw_error_set(&err, PW_ERR_USAGE, "baseline record: a baseline has all signatures; leave --op out");
        return pw_options_fail(&err);
    }
    options->args++; /* past the verb: MODEL is the first */
    options->arg_count--;
    return pw_baseline_record(options, &request);
}

int pw_cmd_baseline(int argc, char **argv)
{
    struct texts t = {0};
    const struct pw_option_own own[] = {
        {"baselines", "DIR", "where they are kept (default baselines)", &t.dir},
        {"kind", "KIND", "kind of target, where a graph has several", &t.kind},
        {"message", "TEXT", "approve: why", &t.message},
        {"by", "NAME", "approve: who (default: $GIT_AUTHOR_NAME, or the account's name)", &t.by},
        {"state", "HASH", "approve: only what was reviewed, as diff and list print it", &t.state},
        {"only", "WHAT", "record: precision or throughput alone", &t.only},
        {"fresh", NULL, "record: new figures also where no time changed", &t.fresh},
        {"no-timing", NULL, "record: precision alone", &t.no_timing},
        {0}};
    const struct pw_command_usage usage = {
        "baseline", "record MODEL | list [MODEL] | diff [A [B [MODEL]]] | approve [MODEL]",
        "record runs a check and writes a pending baseline; approve numbers it (--message says why); diff compares "
        "two\n"
        "of latest, pending, a number or files (default: latest pending); list shows all.",
        "target dim project db ops-dir format -csv output seed jobs quiet color", own};
    static const struct {
        const char *name;
        int least, most;
        int (*run)(const struct pw_options *options, const struct texts *own);
    } verbs[] = {{"list", 1, 2, list}, {"diff", 1, 4, diff}, {"approve", 1, 2, approve}};
    struct pw_options options;
    struct pw_error err = {0};
    int exit_code;

    pw_options_parse(argc, argv, &usage, &options, &exit_code);
    if (exit_code >= 0) {
        pw_options_clear(&options);
        return exit_code;
    }
    if (!t.dir)
        t.dir = PW_BASELINE_DIR;
    if (options.arg_count == 2 && !strcmp(options.args[0], "record"))
        exit_code = record(&options, &t);
    for (size_t i = 0; exit_code < 0 && options.arg_count && i < PW_COUNT_OF(verbs); i++)
        if (!strcmp(options.args[0], verbs[i].name) && options.arg_count >= verbs[i].least &&
            options.arg_count <= verbs[i].most)
            exit_code = verbs[i].run(&options, &t);
    if (exit_code < 0) {
        pw_error_set(&err, PW_ERR_USAGE, "baseline: expected %s; see portwright baseline --help", usage.synopsis);
        exit_code = pw_options_fail(&err);
    }
    pw_options_clear(&options);
    return exit_code;
}
