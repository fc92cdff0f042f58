#include "report/baseline_load.h"

#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"

#include "baseline/baseline_make.h"
#include "bench/environment.h"

pw_status pw_baseline_listing_add(struct pw_baseline_listing *listing, const char *folder, const char *name,
                                  struct pw_error *err)
{
    struct pw_baseline_file *files;
    const char *shown = pw_arena_strndup(&listing->arena, name, strlen(name));
    size_t count;
    pw_status status = pw_baseline_list(folder, &listing->arena, &files, &count, err);

    if (status == PW_OK && !shown)
        status = pw_error_memory(err, strlen(name));
    for (size_t i = 0; i < count && status == PW_OK; i++) {
        struct pw_report_baseline_entry *e;
        struct pw_error why = {0};

        status = PW_GROW(listing->heads, listing->heads_cap, listing->count + 1, err);
        if (status == PW_OK)
            status = PW_GROW(listing->entries, listing->cap, listing->count + 1, err);
        if (status != PW_OK)
            break;
        e = &listing->entries[listing->count];
        memset(&listing->heads[listing->count], 0, sizeof *listing->heads);
        *e = (struct pw_report_baseline_entry){.folder = shown, .path = files[i].path, .error = ""};
        e->latest = files[i].number && (i + 1 == count || files[i + 1].kind != files[i].kind ||
                                        strcmp(files[i + 1].environment_id, files[i].environment_id) != 0);
        if (pw_baseline_read(files[i].path, &listing->heads[listing->count], &why) != PW_OK)
            e->error = pw_arena_strndup(&listing->arena, why.message, strlen(why.message));
        listing->count++;
    }
    return status;
}

void pw_baseline_listing_finish(struct pw_baseline_listing *listing)
{
    for (size_t i = 0; i < listing->count; i++)
        if (listing->heads[i].graph)
            listing->entries[i].baseline = &listing->heads[i];
}

void pw_baseline_listing_clear(struct pw_baseline_listing *listing)
{
    for (size_t i = 0; i < listing->count; i++)
        pw_baseline_clear(&listing->heads[i]);
    pw_free(listing->heads);
    pw_free(listing->entries);
    pw_arena_clear(&listing->arena);
    *listing = (struct pw_baseline_listing){0};
}

/* ---- diff ---- */

pw_status pw_baseline_diff_create(struct pw_baseline_diff **out, struct pw_error *err)
{
    struct pw_baseline_diff *diff = pw_calloc(1, sizeof *diff);

    if (!diff)
        return pw_error_memory(err, sizeof *diff);
    *out = diff;
    return PW_OK;
}

void pw_baseline_diff_destroy(struct pw_baseline_diff *diff)
{
    if (!diff)
        return;
    for (size_t i = 0; i < diff->file_count; i++)
        pw_baseline_clear(&diff->files[i]);
    pw_arena_clear(&diff->arena);
    pw_free(diff);
}

static pw_status refuse_unlike(const struct pw_baseline *a, const struct pw_baseline *b, struct pw_error *err)
{
    if (a->kind != b->kind)
        return pw_error_set(err, PW_ERR_USAGE, "%s is a %s baseline, %s a %s one", a->path,
                            pw_baseline_kind_name(a->kind), b->path, pw_baseline_kind_name(b->kind));
    if (strcmp(a->graph, b->graph) != 0)
        return pw_error_set(err, PW_ERR_USAGE, "%s is of graph %.12s (%s), %s of graph %.12s (%s): not comparable",
                            a->path, a->graph, a->model, b->path, b->graph, b->model);
    if (strcmp(a->target_kind, b->target_kind) != 0)
        return pw_error_set(err, PW_ERR_USAGE, "%s is of a target '%s', %s of '%s': not comparable", a->path,
                            a->target_kind, b->path, b->target_kind);
    return PW_OK;
}

/* "cpu: 'X' in A, 'Y' in B", or "" when times compare. */
static pw_status mark_of(struct pw_baseline_diff *d, const struct pw_baseline *a, const struct pw_baseline *b,
                         const char **mark, struct pw_error *err)
{
    struct pw_environment x = {0}, y = {0};
    struct pw_buf text = {0};
    pw_status status = PW_OK;

    *mark = "";
    if (a->kind != PW_BASELINE_THROUGHPUT || !strcmp(a->environment_id, b->environment_id))
        return PW_OK;
    status = pw_baseline_environment(a, &x, err);
    if (status == PW_OK)
        status = pw_baseline_environment(b, &y, err);
    if (status == PW_OK) {
        pw_buf_puts(&text, "across environments: ");
        pw_environment_differences(&x, &y, PW_ENVIRONMENT_TIMING, "before", "after", &text);
        *mark = pw_arena_strndup(&d->arena, pw_buf_text(&text), text.size);
        if (!*mark)
            status = pw_error_memory(err, text.size);
    }
    pw_environment_clear(&x);
    pw_environment_clear(&y);
    pw_buf_clear(&text);
    return status;
}

static pw_status add_part(struct pw_baseline_diff *d, const struct pw_baseline *a, const struct pw_baseline *b,
                          const char *dims, struct pw_error *err)
{
    struct pw_report_diff_part *part = &d->parts[d->part_count];
    bool precision = a->kind == PW_BASELINE_PRECISION;
    struct pw_baseline_pair before = {precision ? a : NULL, precision ? NULL : a};
    struct pw_baseline_pair after = {precision ? b : NULL, precision ? NULL : b};
    struct pw_gate_options options = pw_gate_options_default();
    struct pw_gate_signature *signatures = NULL;
    struct pw_gate_result *results;
    struct pw_gate_totals totals;
    size_t count = 0, common;
    pw_status status;

    if (d->part_count == PW_BASELINE_DIFF_PARTS)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "more than %d parts to compare", PW_BASELINE_DIFF_PARTS);
    options.precision = precision;
    options.throughput = !precision;
    status = pw_baseline_join(&before, &after, dims, false, &d->arena, &signatures, &count, &common, err);
    if (status != PW_OK)
        return status;
    results = pw_arena_alloc(&d->arena, count + 1, sizeof *results);
    if (!results)
        return pw_error_memory(err, count * sizeof *results);
    status = pw_gate_decide(&options, signatures, count, results, &totals, err);
    if (status == PW_OK)
        status = mark_of(d, a, b, &part->mark, err);
    if (status != PW_OK)
        return status;
    part->before = a;
    part->after = b;
    part->dims = dims;
    part->signatures = signatures;
    part->results = results;
    part->count = count;
    d->part_count++;
    return PW_OK;
}

pw_status pw_baseline_diff_files(struct pw_baseline_diff *d, const char *before, const char *after,
                                 struct pw_error *err)
{
    struct pw_baseline *a = &d->files[d->file_count], *b = a + 1;
    pw_status status;

    if (d->file_count + 2 > PW_COUNT_OF(d->files))
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "more than %d files to compare", PW_BASELINE_DIFF_PARTS);
    d->file_count += 2;
    status = pw_baseline_read(before, a, err);
    if (status == PW_OK)
        status = pw_baseline_read(after, b, err);
    if (status == PW_OK)
        status = refuse_unlike(a, b, err);
    for (size_t i = 0; i < a->set_count && status == PW_OK; i++)
        status = add_part(d, a, b, a->sets[i].dims, err);
    for (size_t i = 0; i < b->set_count && status == PW_OK; i++)
        if (!pw_baseline_set_of(a, b->sets[i].dims))
            status = add_part(d, a, b, b->sets[i].dims, err);
    return status;
}

pw_status pw_baseline_diff_folder(struct pw_baseline_diff *d, const char *folder, const char *before, const char *after,
                                  struct pw_error *err)
{
    struct pw_baseline_file *files;
    size_t count;
    const char *done = "";
    pw_status status = pw_baseline_list(folder, &d->arena, &files, &count, err);

    for (size_t i = 0; i < count && status == PW_OK; i++) {
        const char *a = NULL, *b = NULL;
        bool seen = i > 0 && files[i].kind == files[i - 1].kind && !strcmp(files[i].environment_id, done);

        done = files[i].environment_id;
        if (seen)
            continue;
        status = pw_baseline_find(folder, before, files[i].kind, files[i].environment_id, &d->arena, &a, err);
        if (status == PW_OK)
            status = pw_baseline_find(folder, after, files[i].kind, files[i].environment_id, &d->arena, &b, err);
        if (status == PW_OK && a && b)
            status = pw_baseline_diff_files(d, a, b, err);
    }
    if (status == PW_OK && !d->file_count)
        status =
            pw_error_set(err, PW_ERR_USAGE, "%s: there is no %s and %s of one kind to compare", folder, before, after);
    return status;
}
