/* A check's results as a baseline. */
#include "baseline/baseline_make.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/yaml_write.h"
#include "baseline/kept.h"

#define PROTOCOL_MAX_BYTES ((size_t)1 << 20)

struct maker {
    struct pw_baseline *b;
    const struct pw_baseline_source *source;
    const struct pw_gate_options *options;
    const char *kept_root;
    struct pw_error *err;
};

/* Foreign text, made safe, so that the file can be read back whatever a graph is called. */
static const char *keep(struct pw_baseline *b, const char *text)
{
    struct pw_buf safe = {0};
    const char *copy = NULL;

    pw_text_display(&safe, text ? text : "", text ? strlen(text) : 0, 0, false);
    if (!safe.failed)
        copy = pw_arena_strndup(&b->arena, pw_buf_text(&safe), safe.size);
    pw_buf_clear(&safe);
    return copy;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static pw_status hash_protocol(struct pw_baseline *b, const char *path, struct pw_error *err)
{
    struct pw_buf text = {0};
    char hash[PW_HASH_TEXT];
    pw_status status = PW_OK;

    b->protocol = keep(b, path ? base_name(path) : "");
    b->protocol_hash = "";
    if (path) {
        status = pw_file_read(path, PROTOCOL_MAX_BYTES, &text, err);
        if (status == PW_OK)
            b->protocol_hash =
                pw_arena_strndup(&b->arena, pw_hash_text(pw_hash128(pw_buf_text(&text), text.size), hash), 32);
    }
    pw_buf_clear(&text);
    return status == PW_OK && (!b->protocol || !b->protocol_hash) ? pw_error_memory(err, 64) : status;
}

/* What is recorded of the environment: all but what changes by itself and what is said elsewhere in the file. */
static bool belongs(const struct pw_environment_field *field)
{
    return strcmp(field->name, "load") != 0 && !pw_text_starts(field->name, "kernel ");
}

static pw_status copy_environment(struct maker *m)
{
    const struct pw_environment *from = m->source->environment;
    struct pw_baseline *b = m->b;

    b->environment = pw_arena_alloc(&b->arena, from->count + 1, sizeof *b->environment);
    b->environment_id = keep(b, from->id);
    if (!b->environment || !b->environment_id)
        return pw_error_memory(m->err, from->count * sizeof *b->environment);
    for (size_t i = 0; i < from->count; i++) {
        struct pw_baseline_text *field = &b->environment[b->environment_count];

        if (!belongs(&from->fields[i]))
            continue;
        field->name = keep(b, from->fields[i].name);
        field->value = keep(b, from->fields[i].value);
        if (!field->name || !field->value)
            return pw_error_memory(m->err, 64);
        b->environment_count++;
    }
    return PW_OK;
}

static pw_status make_head(struct maker *m, pw_baseline_kind kind)
{
    const struct pw_baseline_source *s = m->source;
    struct pw_baseline *b = m->b;
    const struct pw_target_info *info = s->info;
    pw_status status;

    b->kind = kind;
    b->path = b->approved_by = b->approved_at = b->message = b->environment_id = "";
    b->graph = keep(b, s->graph_id);
    b->model = keep(b, base_name(s->model_path));
    b->target_kind = keep(b, info ? info->kind : "reference");
    b->device = keep(b, info ? info->name : "reference");
    b->driver = keep(b, info ? info->driver : "");
    b->runtime = keep(b, info ? info->runtime : "");
    b->version = keep(b, s->version);
    b->recorded = keep(b, s->recorded);
    b->seed = s->seed;
    if (!b->graph || !b->model || !b->target_kind || !b->device || !b->driver || !b->runtime || !b->version ||
        !b->recorded)
        return pw_error_memory(m->err, 256);
    status = hash_protocol(b, s->protocol->path, m->err);
    if (status == PW_OK && kind == PW_BASELINE_THROUGHPUT)
        status = copy_environment(m);
    return status;
}

/* ---- kernels ---- */

static pw_status add_kernel(struct maker *m, const struct pw_kernel *kernel)
{
    struct pw_baseline *b = m->b;
    struct pw_baseline_kernel *grown, *k;
    char hash[PW_HASH_TEXT], kept[PW_HASH_TEXT] = "";
    pw_status status = PW_OK;

    if (pw_baseline_kernel_of(b, pw_kernel_name(kernel)))
        return PW_OK;
    if (m->kept_root)
        status = pw_kept_save(m->kept_root, kernel, kept, m->err);
    if (status != PW_OK)
        return status;
    if (!(b->kernel_count & (b->kernel_count + 1))) { /* room for the next power of two */
        grown = pw_arena_alloc(&b->arena, 2 * (b->kernel_count + 1), sizeof *grown);
        if (!grown)
            return pw_error_memory(m->err, 2 * b->kernel_count * sizeof *grown);
        if (b->kernel_count)
            memcpy(grown, b->kernels, b->kernel_count * sizeof *grown);
        b->kernels = grown;
    }
    k = &b->kernels[b->kernel_count];
    k->name = keep(b, pw_kernel_name(kernel));
    k->hash = keep(b, pw_hash_text(pw_kernel_hash(kernel), hash));
    k->kept = keep(b, kept);
    k->author = keep(b, pw_kernel_author(kernel));
    k->algorithm = keep(b, pw_kernel_algorithm(kernel));
    k->tiling = keep(b, pw_kernel_tiling(kernel));
    if (!k->name || !k->hash || !k->kept || !k->author || !k->algorithm || !k->tiling)
        return pw_error_memory(m->err, 256);
    k->foreign = pw_kernel_foreign(kernel);
    b->kernel_count++;
    return PW_OK;
}

/* ---- rows ---- */

static double median_of(const int64_t *samples, int from, int to)
{
    return pw_stats_median_ns(samples + from, (size_t)(to - from));
}

size_t pw_baseline_ratios(const struct pw_signature_result *result, double *ratios, size_t cap)
{
    int targets = result->target_sample_count, references = result->reference_sample_count;
    int parts = result->slices > 0 ? result->slices : targets < references ? targets : references;
    size_t count = 0;

    if (parts > targets || parts > references)
        parts = targets < references ? targets : references;
    if ((size_t)parts > cap)
        parts = (int)cap;
    for (int i = 0; i < parts; i++) {
        double target = median_of(result->target_samples, (int)((int64_t)i * targets / parts),
                                  (int)((int64_t)(i + 1) * targets / parts));
        double reference = median_of(result->reference_samples, (int)((int64_t)i * references / parts),
                                     (int)((int64_t)(i + 1) * references / parts));

        if (target > 0 && reference > 0)
            ratios[count++] = target / reference;
    }
    return count;
}

static struct pw_baseline_interval interval_ns(const int64_t *samples, int count)
{
    struct pw_stats_summary s;

    if (count <= 0 || pw_stats_summarize_ns(samples, (size_t)count, PW_STATS_CONFIDENCE, &s, NULL) != PW_OK)
        return (struct pw_baseline_interval){NAN, NAN, NAN};
    return (struct pw_baseline_interval){s.median, s.low, s.high};
}

static struct pw_baseline_interval interval_of(const double *samples, size_t count)
{
    struct pw_stats_summary s;

    if (!count || pw_stats_summarize(samples, count, PW_STATS_CONFIDENCE, &s, NULL) != PW_OK)
        return (struct pw_baseline_interval){NAN, NAN, NAN};
    return (struct pw_baseline_interval){s.median, s.low, s.high};
}

static pw_status fill_times(struct maker *m, const struct pw_signature_result *result, struct pw_baseline_row *row)
{
    row->target_ns = interval_ns(result->target_samples, result->target_sample_count);
    row->reference_ns = interval_ns(result->reference_samples, result->reference_sample_count);
    row->reference = keep(m->b, result->reference_name);
    row->ratios = pw_arena_alloc(&m->b->arena, PW_BASELINE_SLICES, sizeof *row->ratios);
    if (!row->ratios || !row->reference)
        return pw_error_memory(m->err, PW_BASELINE_SLICES * sizeof *row->ratios);
    row->ratio_count = pw_baseline_ratios(result, row->ratios, PW_BASELINE_SLICES);
    row->ratio = interval_of(row->ratios, row->ratio_count);
    return PW_OK;
}

static pw_status fill_row(struct maker *m, size_t i, struct pw_baseline_row *row)
{
    const struct pw_signature *signature = &m->source->inventory->signatures[i];
    const struct pw_signature_result *result = m->source->rows[i];
    const struct pw_impl_list *impls = result->implementations;
    const struct pw_impl *impl = impls && impls->selected >= 0 ? &impls->items[impls->selected] : NULL;
    struct pw_baseline *b = m->b;
    pw_status status = PW_OK;

    row->id = keep(b, signature->id);
    row->op = keep(b, signature->op_label);
    row->shapes = keep(b, signature->shapes);
    row->coverage = impls ? impls->coverage : PW_COVERAGE_MISSING;
    row->kernel = keep(b, impl ? impl->name : "");
    row->standing = pw_standing_name(result->standing);
    row->error = result->worst_error;
    row->tolerance = isnan(result->worst_error) ? NAN : result->tolerance;
    row->limit = pw_gate_limit(m->options, row->error, row->tolerance);
    row->cases = pw_arena_printf(&b->arena, "%d:%016" PRIx64, result->cases, m->source->case_sums[i]);
    row->reference = "";
    row->target_ns = row->reference_ns = row->ratio = (struct pw_baseline_interval){NAN, NAN, NAN};
    if (!row->id || !row->op || !row->shapes || !row->kernel || !row->cases)
        return pw_error_memory(m->err, 256);
    if (b->kind == PW_BASELINE_THROUGHPUT)
        status = fill_times(m, result, row);
    if (status == PW_OK && impl && impl->kernel)
        status = add_kernel(m, impl->kernel);
    return status;
}

/* Rows that say nothing for the kind are left out: a throughput baseline has what was timed. */
static bool wanted(const struct maker *m, const struct pw_signature_result *result)
{
    return result && (m->b->kind == PW_BASELINE_PRECISION ||
                      (result->target_sample_count > 0 && result->reference_sample_count > 0));
}

pw_status pw_baseline_add(struct pw_baseline *baseline, pw_baseline_kind kind, const struct pw_baseline_source *source,
                          const struct pw_gate_options *options, const char *kept_root, struct pw_error *err)
{
    struct maker m = {baseline, source, options, kept_root, err};
    struct pw_baseline_set *sets, *set;
    size_t count = source->inventory->signature_count;
    pw_status status = baseline->graph ? PW_OK : make_head(&m, kind);

    if (status != PW_OK)
        return status;
    if (pw_baseline_set_of(baseline, source->dims))
        return pw_error_set(err, PW_ERR_USAGE, "the binding set '%s' is given twice", source->dims);
    sets = pw_arena_alloc(&baseline->arena, baseline->set_count + 1, sizeof *sets);
    if (!sets)
        return pw_error_memory(err, sizeof *sets);
    if (baseline->set_count)
        memcpy(sets, baseline->sets, baseline->set_count * sizeof *sets);
    set = &sets[baseline->set_count];
    set->dims = keep(baseline, source->dims);
    set->rows = pw_arena_alloc(&baseline->arena, count + 1, sizeof *set->rows);
    if (!set->dims || !set->rows)
        return pw_error_memory(err, count * sizeof *set->rows);
    for (size_t i = 0; i < count && status == PW_OK; i++)
        if (wanted(&m, source->rows[i])) {
            status = fill_row(&m, i, &set->rows[set->count]);
            set->count += status == PW_OK;
        }
    if (status != PW_OK)
        return status;
    baseline->sets = sets;
    baseline->set_count++;
    pw_baseline_sort(baseline);
    return PW_OK;
}
