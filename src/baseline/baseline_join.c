/* Two baselines side by side: what the gate decides on, and which lines stay as they were. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/map.h"
#include "baseline/baseline_make.h"

static void fill_side(const struct pw_baseline *b, const struct pw_baseline_row *row, struct pw_gate_side *side)
{
    const struct pw_baseline_kernel *kernel = row->kernel[0] ? pw_baseline_kernel_of(b, row->kernel) : NULL;

    side->present = side->measured = true;
    side->coverage = row->coverage;
    side->kernel = row->kernel[0] ? row->kernel : NULL;
    side->kernel_hash = kernel ? kernel->hash : NULL;
    side->foreign = kernel && kernel->foreign;
    if (b->kind == PW_BASELINE_PRECISION) {
        side->error = row->error;
        side->tolerance = row->tolerance;
        side->limit = row->limit;
        side->cases = row->cases;
    } else {
        side->ratios = row->ratios;
        side->ratio_count = row->ratio_count;
    }
}

struct join {
    struct pw_gate_signature *items;
    size_t count;
    struct pw_map by_id;
};

/* The signature's place, made when it is new. */
static pw_status place(struct join *join, const struct pw_baseline_row *row, struct pw_gate_signature **out,
                       struct pw_error *err)
{
    size_t at;

    if (!pw_map_find(&join->by_id, row->id, &at)) {
        pw_status status = pw_map_put(&join->by_id, row->id, at = join->count, err);

        if (status != PW_OK)
            return status;
        join->items[join->count++] =
            (struct pw_gate_signature){.id = row->id,
                                       .op = row->op,
                                       .before = {.error = NAN, .tolerance = NAN, .limit = NAN},
                                       .now = {.error = NAN, .tolerance = NAN, .limit = NAN}};
    }
    *out = &join->items[at];
    return PW_OK;
}

static pw_status add_side(struct join *join, const struct pw_baseline *b, const char *dims, bool now,
                          struct pw_error *err)
{
    const struct pw_baseline_set *set = b ? pw_baseline_set_of(b, dims) : NULL;
    pw_status status = PW_OK;

    for (size_t i = 0; set && i < set->count && status == PW_OK; i++) {
        struct pw_gate_signature *signature = NULL;

        status = place(join, &set->rows[i], &signature, err);
        if (status == PW_OK)
            fill_side(b, &set->rows[i], now ? &signature->now : &signature->before);
    }
    return status;
}

static size_t rows_in(const struct pw_baseline *b, const char *dims)
{
    const struct pw_baseline_set *set = b ? pw_baseline_set_of(b, dims) : NULL;

    return set ? set->count : 0;
}

static int by_op_and_id(const void *a, const void *b)
{
    const struct pw_gate_signature *x = a, *y = b;
    int order = strcmp(x->op, y->op);

    return order ? order : strcmp(x->id, y->id);
}

pw_status pw_baseline_join(const struct pw_baseline_pair *before, const struct pw_baseline_pair *now, const char *dims,
                           bool partial, struct pw_arena *arena, struct pw_gate_signature **signatures, size_t *count,
                           size_t *common, struct pw_error *err)
{
    size_t most = rows_in(before->precision, dims) + rows_in(before->throughput, dims) + rows_in(now->precision, dims) +
                  rows_in(now->throughput, dims);
    struct join join = {.items = pw_arena_alloc(arena, most + 1, sizeof *join.items)};
    pw_status status = join.items ? PW_OK : pw_error_memory(err, most * sizeof *join.items);

    if (status == PW_OK)
        status = add_side(&join, before->throughput, dims, false, err); /* precision, which has all, comes last */
    if (status == PW_OK)
        status = add_side(&join, before->precision, dims, false, err);
    if (status == PW_OK)
        status = add_side(&join, now->throughput, dims, true, err);
    if (status == PW_OK)
        status = add_side(&join, now->precision, dims, true, err);
    *common = 0;
    for (size_t i = 0; i < join.count && status == PW_OK; i++) {
        struct pw_gate_signature *s = &join.items[i];

        *common += s->before.present && s->now.present;
        if (partial && !s->now.present)
            s->now.present = true; /* in the graph, but not run */
    }
    if (status == PW_OK) {
        if (join.count)
            qsort(join.items, join.count, sizeof *join.items, by_op_and_id);
        *signatures = join.items;
        *count = join.count;
    }
    pw_map_clear(&join.by_id);
    return status;
}

/* ---- lines that stay ---- */

/* before's figures, copied: `before` may go. */
static pw_status take_times(struct pw_baseline *b, struct pw_baseline_row *row, const struct pw_baseline_row *old,
                            struct pw_error *err)
{
    double *ratios = pw_arena_alloc(&b->arena, old->ratio_count + 1, sizeof *ratios);
    const char *reference = pw_arena_strndup(&b->arena, old->reference, strlen(old->reference));

    if (!ratios || !reference)
        return pw_error_memory(err, old->ratio_count * sizeof *ratios);
    if (old->ratio_count)
        memcpy(ratios, old->ratios, old->ratio_count * sizeof *ratios);
    row->target_ns = old->target_ns;
    row->reference_ns = old->reference_ns;
    row->ratio = old->ratio;
    row->reference = reference;
    row->ratios = ratios;
    row->ratio_count = old->ratio_count;
    return PW_OK;
}

static struct pw_baseline_row *row_to_change(struct pw_baseline_set *set, const char *id)
{
    for (size_t i = 0; i < set->count; i++)
        if (!strcmp(set->rows[i].id, id))
            return &set->rows[i];
    return NULL;
}

static pw_status carry_set(const struct pw_baseline *before, struct pw_baseline *now, struct pw_baseline_set *set,
                           const struct pw_gate_options *options, size_t *kept, struct pw_error *err)
{
    const struct pw_baseline_set *old_set = pw_baseline_set_of(before, set->dims);
    struct pw_baseline_pair a = {.throughput = before}, b = {.throughput = now};
    struct pw_arena arena = {0};
    struct pw_gate_signature *signatures = NULL;
    struct pw_gate_result *results = NULL;
    struct pw_gate_totals totals;
    size_t count = 0, common = 0;
    pw_status status = pw_baseline_join(&a, &b, set->dims, false, &arena, &signatures, &count, &common, err);

    if (status == PW_OK && !(results = pw_arena_alloc(&arena, count + 1, sizeof *results)))
        status = pw_error_memory(err, count * sizeof *results);
    if (status == PW_OK)
        status = pw_gate_decide(options, signatures, count, results, &totals, err);
    for (size_t i = 0; i < count && status == PW_OK; i++) {
        pw_gate_outcome outcome = results[i].outcome[PW_GATE_THROUGHPUT];
        const struct pw_baseline_row *old = pw_baseline_row_of(old_set, signatures[i].id);
        struct pw_baseline_row *row = row_to_change(set, signatures[i].id);
        bool slower = results[i].slowdown > 1 + options->stats.effect && results[i].p_adjusted < options->stats.alpha;

        if (!old || !row || slower || signatures[i].before.foreign != signatures[i].now.foreign ||
            old->ratio_count < options->stats.min_count || old->coverage != row->coverage ||
            strcmp(old->reference, row->reference) != 0 || (outcome != PW_GATE_HELD && outcome != PW_GATE_INCONCLUSIVE))
            continue;
        status = take_times(now, row, old, err);
        *kept += status == PW_OK;
    }
    pw_arena_clear(&arena);
    return status;
}

pw_status pw_baseline_carry(const struct pw_baseline *before, struct pw_baseline *now,
                            const struct pw_gate_options *options, size_t *kept, struct pw_error *err)
{
    pw_status status = PW_OK;

    *kept = 0;
    for (size_t i = 0; i < now->set_count && status == PW_OK; i++)
        status = carry_set(before, now, &now->sets[i], options, kept, err);
    return status;
}

/* ---- the environment ---- */

pw_status pw_baseline_environment(const struct pw_baseline *baseline, struct pw_environment *out, struct pw_error *err)
{
    json_t *root = json_object();
    char *text = NULL;
    pw_status status;

    json_object_set_new(root, "id", json_string(baseline->environment_id));
    for (size_t i = 0; i < baseline->environment_count; i++)
        json_object_set_new(root, baseline->environment[i].name, json_string(baseline->environment[i].value));
    text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    status = text ? pw_environment_parse(text, out, err) : pw_error_memory(err, 1024);
    free(text); /* jansson's own allocation */
    json_decref(root);
    return status;
}
