/* Reading a baseline's text; whatever is wrong is named with file, line and key. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/file.h"
#include "base/yaml.h"
#include "baseline/baseline.h"

const char *pw_baseline_kind_name(pw_baseline_kind kind)
{
    static const char *const names[PW_BASELINE_KIND_COUNT] = {"precision", "throughput"};

    return (size_t)kind < PW_BASELINE_KIND_COUNT ? names[kind] : "?";
}

void pw_baseline_clear(struct pw_baseline *baseline)
{
    pw_arena_clear(&baseline->arena);
    memset(baseline, 0, sizeof *baseline);
}

/* "" when the key is absent. */
static pw_status read_text(const struct pw_yaml *map, const char *key, const char **out, struct pw_error *err)
{
    const struct pw_yaml *node = map ? pw_yaml_get(map, key) : NULL;

    *out = "";
    return node ? pw_yaml_text(node, out, err) : PW_OK;
}

static pw_status need_text(const struct pw_yaml *map, const char *key, const char **out, struct pw_error *err)
{
    pw_status status = read_text(map, key, out, err);

    return status == PW_OK && !pw_yaml_get(map, key) ? pw_yaml_error(map, err, "'%s' is missing", key) : status;
}

static pw_status number_of(const struct pw_yaml *node, double *out, struct pw_error *err)
{
    pw_status status;

    if (node->kind == PW_YAML_SCALAR && (!strcmp(node->text, "null") || !strcmp(node->text, ".inf"))) {
        *out = node->text[0] == '.' ? INFINITY : NAN;
        return PW_OK;
    }
    status = pw_yaml_double(node, out, err);
    if (status == PW_OK && !(*out >= 0 && isfinite(*out)))
        status = pw_yaml_error(node, err, "expected a number >= 0, found '%s'", node->text);
    return status;
}

static pw_status read_number(const struct pw_yaml *map, const char *key, double *out, struct pw_error *err)
{
    const struct pw_yaml *node = pw_yaml_get(map, key);

    *out = NAN;
    return node ? number_of(node, out, err) : PW_OK;
}

static pw_status read_interval(const struct pw_yaml *map, const char *key, struct pw_baseline_interval *out,
                               struct pw_error *err)
{
    const struct pw_yaml *node = pw_yaml_get(map, key);
    double *const to[] = {&out->median, &out->low, &out->high};
    pw_status status = PW_OK;

    out->median = out->low = out->high = NAN;
    if (!node)
        return PW_OK;
    if (node->kind != PW_YAML_LIST || node->count != 3)
        return pw_yaml_error(node, err, "expected [median, low, high]");
    for (size_t i = 0; i < 3 && status == PW_OK; i++)
        status = number_of(&node->items[i], to[i], err);
    return status;
}

static pw_status read_slices(struct pw_baseline *b, const struct pw_yaml *map, struct pw_baseline_row *row,
                             struct pw_error *err)
{
    const struct pw_yaml *node = pw_yaml_get(map, "slices");
    pw_status status = PW_OK;

    if (!node)
        return PW_OK;
    if (node->kind != PW_YAML_LIST)
        return pw_yaml_error(node, err, "expected a list of ratios");
    row->ratios = pw_arena_alloc(&b->arena, node->count + 1, sizeof *row->ratios);
    if (!row->ratios)
        return pw_error_memory(err, node->count * sizeof *row->ratios);
    for (size_t i = 0; i < node->count && status == PW_OK; i++) {
        status = number_of(&node->items[i], &row->ratios[i], err);
        if (status == PW_OK && !(row->ratios[i] > 0 && isfinite(row->ratios[i])))
            status = pw_yaml_error(&node->items[i], err, "expected a ratio above 0, found '%s'", node->items[i].text);
        row->ratio_count += status == PW_OK;
    }
    return status;
}

static pw_status read_coverage(const struct pw_yaml *map, pw_coverage *out, struct pw_error *err)
{
    const char *text;
    pw_status status = need_text(map, "coverage", &text, err);

    if (status != PW_OK)
        return status;
    for (int i = 0; i < PW_COVERAGE_COUNT; i++)
        if (!strcmp(text, pw_coverage_name((pw_coverage)i))) {
            *out = (pw_coverage)i;
            return PW_OK;
        }
    return pw_yaml_error(pw_yaml_get(map, "coverage"), err,
                         "expected library, kernel, generated, host or missing, found '%s'", text);
}

static pw_status read_row(struct pw_baseline *b, const struct pw_yaml *node, struct pw_baseline_row *row,
                          struct pw_error *err)
{
    static const char *const keys[][12] = {
        {"op", "shapes", "coverage", "kernel", "standing", "error", "tolerance", "limit", "cases", NULL},
        {"op", "shapes", "coverage", "kernel", "target_ns", "reference_ns", "reference", "ratio", "slices", NULL}};
    static const char *const standings[] = {"held", "failed", "unproven", "mistrusted"};
    bool known = b->kind != PW_BASELINE_PRECISION;
    pw_status status;

    if (strlen(node->key) != 16 || strspn(node->key, "0123456789abcdef") != 16)
        return pw_yaml_error(node, err, "expected a signature's id, 16 digits of 0-9 and a-f");
    if (node->kind != PW_YAML_MAP)
        return pw_yaml_error(node, err, "expected a map");
    row->id = node->key;
    status = pw_yaml_only(node, keys[b->kind], err);
    if (status == PW_OK)
        status = need_text(node, "op", &row->op, err);
    if (status == PW_OK)
        status = read_text(node, "shapes", &row->shapes, err);
    if (status == PW_OK)
        status = read_coverage(node, &row->coverage, err);
    if (status == PW_OK)
        status = read_text(node, "kernel", &row->kernel, err);
    if (status == PW_OK)
        status = read_text(node, "standing", &row->standing, err);
    if (status == PW_OK)
        status = read_number(node, "error", &row->error, err);
    if (status == PW_OK)
        status = read_number(node, "tolerance", &row->tolerance, err);
    if (status == PW_OK)
        status = read_number(node, "limit", &row->limit, err);
    if (status == PW_OK)
        status = read_text(node, "cases", &row->cases, err);
    if (status == PW_OK)
        status = read_interval(node, "target_ns", &row->target_ns, err);
    if (status == PW_OK)
        status = read_interval(node, "reference_ns", &row->reference_ns, err);
    if (status == PW_OK)
        status = read_interval(node, "ratio", &row->ratio, err);
    if (status == PW_OK)
        status = read_text(node, "reference", &row->reference, err);
    if (status == PW_OK)
        status = read_slices(b, node, row, err);
    for (size_t i = 0; i < PW_COUNT_OF(standings) && status == PW_OK; i++)
        known |= !strcmp(row->standing, standings[i]);
    if (status == PW_OK && !known)
        status = pw_yaml_error(node, err, "standing: expected held, failed, unproven or mistrusted, found '%s'",
                               row->standing);
    return status;
}

static pw_status read_sets(struct pw_baseline *b, const struct pw_yaml *node, struct pw_error *err)
{
    pw_status status = PW_OK;

    if (!node || node->kind != PW_YAML_MAP)
        return node ? pw_yaml_error(node, err, "expected a map of binding sets") : PW_OK;
    b->sets = pw_arena_alloc(&b->arena, node->count + 1, sizeof *b->sets);
    if (!b->sets)
        return pw_error_memory(err, node->count * sizeof *b->sets);
    for (size_t i = 0; i < node->count && status == PW_OK; i++) {
        const struct pw_yaml *item = &node->items[i];
        struct pw_baseline_set *set = &b->sets[b->set_count++];

        if (item->kind != PW_YAML_MAP)
            return pw_yaml_error(item, err, "expected a map of signatures");
        set->dims = item->key;
        set->rows = pw_arena_alloc(&b->arena, item->count + 1, sizeof *set->rows);
        if (!set->rows)
            return pw_error_memory(err, item->count * sizeof *set->rows);
        for (size_t k = 0; k < item->count && status == PW_OK; k++) {
            status = read_row(b, &item->items[k], &set->rows[k], err);
            set->count += status == PW_OK;
        }
    }
    return status;
}

static pw_status read_kernels(struct pw_baseline *b, const struct pw_yaml *node, struct pw_error *err)
{
    static const char *const keys[] = {"hash", "kept", "foreign", "author", "algorithm", "tiling", NULL};
    pw_status status = PW_OK;

    if (!node || node->kind != PW_YAML_MAP)
        return node ? pw_yaml_error(node, err, "expected a map of kernels") : PW_OK;
    b->kernels = pw_arena_alloc(&b->arena, node->count + 1, sizeof *b->kernels);
    if (!b->kernels)
        return pw_error_memory(err, node->count * sizeof *b->kernels);
    for (size_t i = 0; i < node->count && status == PW_OK; i++) {
        const struct pw_yaml *item = &node->items[i];
        struct pw_baseline_kernel *k = &b->kernels[i];

        if (item->kind != PW_YAML_MAP)
            return pw_yaml_error(item, err, "expected a map with hash and provenance");
        k->name = item->key;
        status = pw_yaml_only(item, keys, err);
        if (status == PW_OK)
            status = need_text(item, "hash", &k->hash, err);
        if (status == PW_OK)
            status = read_text(item, "kept", &k->kept, err);
        if (status == PW_OK && k->kept[0] && strspn(k->kept, "0123456789abcdef") != strlen(k->kept))
            status = pw_yaml_error(pw_yaml_get(item, "kept"), err, "expected digits of 0-9 and a-f, found '%s'",
                                   k->kept); /* it becomes a folder's name */
        if (status == PW_OK)
            status = read_text(item, "author", &k->author, err);
        if (status == PW_OK)
            status = read_text(item, "algorithm", &k->algorithm, err);
        if (status == PW_OK)
            status = read_text(item, "tiling", &k->tiling, err);
        if (status == PW_OK && pw_yaml_get(item, "foreign"))
            status = pw_yaml_bool(pw_yaml_get(item, "foreign"), &k->foreign, err);
        b->kernel_count += status == PW_OK;
    }
    return status;
}

/* A word of letters, digits and a few signs: it becomes part of a file's name, or is shown as it is. */
static pw_status read_plain(const struct pw_yaml *map, const char *key, const char **out, struct pw_error *err)
{
    static const char allowed[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:_-";
    pw_status status = read_text(map, key, out, err);

    if (status == PW_OK && (strlen(*out) > 40 || strspn(*out, allowed) != strlen(*out)))
        status = pw_yaml_error(pw_yaml_get(map, key), err, "expected letters and digits, at most 40");
    return status;
}

static pw_status read_environment(struct pw_baseline *b, const struct pw_yaml *node, struct pw_error *err)
{
    pw_status status;

    b->environment_id = "";
    if (b->kind != PW_BASELINE_THROUGHPUT)
        return node ? pw_yaml_error(node, err, "a precision baseline has no environment") : PW_OK;
    if (!node || node->kind != PW_YAML_MAP)
        return node ? pw_yaml_error(node, err, "expected a map")
                    : pw_error_set(err, PW_ERR_FORMAT, "%s: 'environment' is missing", b->path);
    status = read_plain(node, "id", &b->environment_id, err);
    if (status == PW_OK && !b->environment_id[0])
        status = pw_yaml_error(node, err, "'id' is missing");
    b->environment = pw_arena_alloc(&b->arena, node->count + 1, sizeof *b->environment);
    if (!b->environment)
        return pw_error_memory(err, node->count * sizeof *b->environment);
    for (size_t i = 0; i < node->count && status == PW_OK; i++) {
        struct pw_baseline_text *field = &b->environment[b->environment_count];

        if (!strcmp(node->items[i].key, "id"))
            continue;
        field->name = node->items[i].key;
        status = pw_yaml_text(&node->items[i], &field->value, err);
        b->environment_count += status == PW_OK;
    }
    return status;
}

static pw_status read_kind(const struct pw_yaml *root, struct pw_baseline *b, struct pw_error *err)
{
    const struct pw_yaml *node = pw_yaml_get(root, "format");
    const char *text;
    int64_t format = 0;
    pw_status status = node ? pw_yaml_int(node, &format, err) : pw_yaml_error(root, err, "'format' is missing");

    if (status == PW_OK && format != 1)
        status = pw_yaml_error(node, err, "expected format 1, found %s; a newer portwright wrote it", node->text);
    if (status == PW_OK)
        status = need_text(root, "baseline", &text, err);
    if (status != PW_OK)
        return status;
    for (int i = 0; i < PW_BASELINE_KIND_COUNT; i++)
        if (!strcmp(text, pw_baseline_kind_name((pw_baseline_kind)i))) {
            b->kind = (pw_baseline_kind)i;
            return PW_OK;
        }
    return pw_yaml_error(pw_yaml_get(root, "baseline"), err, "expected precision or throughput, found '%s'", text);
}

static pw_status read_number_line(const struct pw_yaml *root, struct pw_baseline *b, struct pw_error *err)
{
    const struct pw_yaml *node = pw_yaml_get(root, "number");
    int64_t number = 0;
    pw_status status = PW_OK;

    if (!node)
        return pw_yaml_error(root, err, "'number' is missing");
    if (node->kind == PW_YAML_SCALAR && !strcmp(node->text, "pending"))
        return PW_OK;
    status = pw_yaml_int(node, &number, err);
    if (status == PW_OK && (number < 1 || number > 1000000))
        status = pw_yaml_error(node, err, "expected pending or a number from 1, found '%s'", node->text);
    b->number = (int)number;
    return status;
}

static pw_status read_head(const struct pw_yaml *root, struct pw_baseline *b, struct pw_error *err)
{
    const struct pw_yaml *target = pw_yaml_get(root, "target"), *protocol = pw_yaml_get(root, "protocol");
    const struct pw_yaml *approved = pw_yaml_get(root, "approved"), *seed = pw_yaml_get(root, "seed");
    const struct {
        const struct pw_yaml *map;
        const char *key;
        const char **to;
        bool needed;
    } texts[] = {{root, "graph", &b->graph, true},         {root, "model", &b->model, false},
                 {target, "kind", &b->target_kind, true},  {target, "device", &b->device, false},
                 {target, "driver", &b->driver, false},    {target, "runtime", &b->runtime, false},
                 {protocol, "file", &b->protocol, false},  {protocol, "hash", &b->protocol_hash, false},
                 {root, "portwright", &b->version, false}, {approved, "by", &b->approved_by, false},
                 {approved, "message", &b->message, false}};
    int64_t number = 0;
    pw_status status = PW_OK;

    if (!target || target->kind != PW_YAML_MAP)
        return pw_yaml_error(target ? target : root, err, "expected 'target', a map with kind and device");
    if ((protocol && protocol->kind != PW_YAML_MAP) || (approved && approved->kind != PW_YAML_MAP))
        return pw_yaml_error(root, err, "expected maps for 'protocol' and 'approved'");
    for (size_t i = 0; i < PW_COUNT_OF(texts) && status == PW_OK; i++)
        status = texts[i].needed ? need_text(texts[i].map, texts[i].key, texts[i].to, err)
                                 : read_text(texts[i].map, texts[i].key, texts[i].to, err);
    if (status == PW_OK)
        status = read_plain(root, "recorded", &b->recorded, err);
    if (status == PW_OK)
        status = read_plain(approved, "at", &b->approved_at, err);
    if (status == PW_OK && seed)
        status = pw_yaml_int(seed, &number, err);
    if (status == PW_OK && number < 0)
        status = pw_yaml_error(seed, err, "expected a number from 0, found %s", seed->text);
    b->seed = (uint64_t)number;
    return status == PW_OK ? read_number_line(root, b, err) : status;
}

pw_status pw_baseline_parse(const char *path, const char *text, size_t size, struct pw_baseline *out,
                            struct pw_error *err)
{
    static const char *const keys[] = {"format",   "baseline",    "number",  "graph",      "model",
                                       "target",   "protocol",    "seed",    "portwright", "recorded",
                                       "approved", "environment", "kernels", "sets",       NULL};
    struct pw_baseline made = {0};
    const struct pw_yaml *root = NULL;
    pw_status status = pw_yaml_parse(text, size, path, &made.arena, &root, err);

    if (status == PW_OK && !(made.path = pw_arena_strndup(&made.arena, path, strlen(path))))
        status = pw_error_memory(err, strlen(path));
    if (status == PW_OK && root->kind != PW_YAML_MAP)
        status = pw_yaml_error(root, err, "expected a map");
    if (status == PW_OK)
        status = read_kind(root, &made, err);
    if (status == PW_OK)
        status = pw_yaml_only(root, keys, err);
    if (status == PW_OK)
        status = read_head(root, &made, err);
    if (status == PW_OK)
        status = read_environment(&made, pw_yaml_get(root, "environment"), err);
    if (status == PW_OK)
        status = read_kernels(&made, pw_yaml_get(root, "kernels"), err);
    if (status == PW_OK)
        status = read_sets(&made, pw_yaml_get(root, "sets"), err);
    if (status == PW_OK)
        status = pw_baseline_check_name(&made, err);
    if (status == PW_OK) {
        pw_baseline_sort(&made);
        *out = made;
        memset(&made, 0, sizeof made);
    }
    pw_baseline_clear(&made);
    return status;
}

pw_status pw_baseline_read(const char *path, struct pw_baseline *out, struct pw_error *err)
{
    struct pw_buf text = {0};
    pw_status status = pw_file_read(path, PW_BASELINE_MAX_BYTES, &text, err);

    if (status == PW_OK)
        status = pw_baseline_parse(path, pw_buf_text(&text), text.size, out, err);
    pw_buf_clear(&text);
    return status;
}

const struct pw_baseline_set *pw_baseline_set_of(const struct pw_baseline *baseline, const char *dims)
{
    for (size_t i = 0; i < baseline->set_count; i++)
        if (!strcmp(baseline->sets[i].dims, dims))
            return &baseline->sets[i];
    return NULL;
}

const struct pw_baseline_row *pw_baseline_row_of(const struct pw_baseline_set *set, const char *id)
{
    for (size_t i = 0; set && i < set->count; i++)
        if (!strcmp(set->rows[i].id, id))
            return &set->rows[i];
    return NULL;
}

const struct pw_baseline_kernel *pw_baseline_kernel_of(const struct pw_baseline *baseline, const char *name)
{
    for (size_t i = 0; i < baseline->kernel_count; i++)
        if (!strcmp(baseline->kernels[i].name, name))
            return &baseline->kernels[i];
    return NULL;
}
