/* The protocol: reading portwright.yaml. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verify/protocol_internal.h"
#include "verify/verify.h"

#define DEFAULT_WARN_SHARE 0.5

pw_status pw_protocol_default(struct pw_protocol **out, struct pw_error *err)
{
    struct pw_protocol *protocol = pw_calloc(1, sizeof *protocol);

    if (!protocol)
        return pw_error_memory(err, sizeof *protocol);
    protocol->warn_share = DEFAULT_WARN_SHARE;
    protocol->bitwise = (struct pw_bitwise){.integers = true, .copies = true, .ties = true};
    protocol->loss_scale = (struct pw_loss_scale){.scale = 65536, .growth = 2, .backoff = 0.5, .interval = 2000};
    *out = protocol;
    return PW_OK;
}

void pw_protocol_destroy(struct pw_protocol *protocol)
{
    if (!protocol)
        return;
    pw_arena_clear(&protocol->arena);
    pw_free(protocol);
}

/* ---- reading ---- */

pw_status pw_protocol_read_match(const struct pw_yaml *item, const char *const *keys, struct pw_rule_match *match,
                                 struct pw_error *err)
{
    const struct pw_yaml *field;
    const char *text = NULL;
    bool known = false;
    pw_status status;

    if (item->kind != PW_YAML_MAP)
        return pw_yaml_error(item, err,
                             "expected a rule: a map with op, category, dtype or node, and what it asks for");
    status = pw_yaml_only(item, keys, err);
    match->line = item->line;
    if (status == PW_OK && (field = pw_yaml_get(item, "op"))) {
        status = pw_yaml_text(field, &match->op, err);
        if (status == PW_OK) {
            pw_op_find("", match->op, 1, &known);
            if (!known)
                pw_op_find("com.microsoft", match->op, 1, &known);
            if (!known)
                status = pw_yaml_error(field, err, "no operator is named '%s'", match->op);
        }
    }
    known = false;
    if (status == PW_OK && (field = pw_yaml_get(item, "category"))) {
        status = pw_yaml_text(field, &match->category, err);
        for (int i = 0; i < PW_CATEGORY_COUNT && status == PW_OK; i++)
            known |= !strcmp(pw_category_name((pw_category)i), match->category);
        if (status == PW_OK && !known)
            status = pw_yaml_error(field, err, "no category is named '%s'", match->category);
    }
    if (status == PW_OK && (field = pw_yaml_get(item, "dtype"))) {
        status = pw_yaml_text(field, &text, err);
        if (status == PW_OK && (match->dtype = pw_dtype_parse(text)) == PW_DTYPE_UNDEFINED)
            status = pw_yaml_error(field, err, "no dtype is named '%s'", text);
    }
    if (status == PW_OK && (field = pw_yaml_get(item, "node")))
        status = pw_yaml_text(field, &match->node, err);
    return status;
}

static pw_status read_rule(const struct pw_yaml *item, struct pw_tolerance_rule *rule, struct pw_error *err)
{
    static const char *const keys[] = {"op", "category", "dtype", "node", "tolerance", "reason", NULL};
    const struct pw_yaml *field;
    pw_status status = pw_protocol_read_match(item, keys, &rule->match, err);

    if (status != PW_OK)
        return status;
    field = pw_yaml_get(item, "tolerance");
    if (!field)
        return pw_yaml_error(item, err, "the rule has no 'tolerance'");
    status = pw_yaml_double(field, &rule->value, err);
    if (status == PW_OK && !(rule->value >= 0 && isfinite(rule->value)))
        status = pw_yaml_error(field, err, "expected a number >= 0, found '%s'", field->text);
    return status;
}

static pw_status read_tolerances(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err)
{
    if (node->kind != PW_YAML_LIST)
        return pw_yaml_error(node, err, "expected a list of rules");
    protocol->tolerances = pw_arena_alloc(&protocol->arena, node->count + 1, sizeof *protocol->tolerances);
    if (!protocol->tolerances)
        return pw_error_memory(err, node->count * sizeof *protocol->tolerances);
    for (size_t i = 0; i < node->count; i++) {
        pw_status status = read_rule(&node->items[i], &protocol->tolerances[i], err);

        if (status != PW_OK)
            return status;
        protocol->tolerance_count++;
    }
    return PW_OK;
}

static pw_status read_dims(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err)
{
    if (node->kind != PW_YAML_LIST)
        return pw_yaml_error(node, err, "expected a list of maps NAME: N");
    protocol->bindings = pw_arena_alloc(&protocol->arena, node->count + 1, sizeof *protocol->bindings);
    if (!protocol->bindings)
        return pw_error_memory(err, node->count * sizeof *protocol->bindings);
    for (size_t i = 0; i < node->count; i++) {
        const struct pw_yaml *map = &node->items[i];
        struct pw_binding_set *set = &protocol->bindings[i];

        if (map->kind != PW_YAML_MAP)
            return pw_yaml_error(map, err, "expected a map NAME: N");
        set->items = pw_arena_alloc(&protocol->arena, map->count + 1, sizeof *set->items);
        if (!set->items)
            return pw_error_memory(err, map->count * sizeof *set->items);
        for (size_t k = 0; k < map->count; k++) {
            pw_status status = pw_yaml_int(&map->items[k], &set->items[k].value, err);

            if (status != PW_OK)
                return status;
            if (set->items[k].value < 0)
                return pw_yaml_error(&map->items[k], err, "a dim is >= 0, found %s", map->items[k].text);
            set->items[k].name = map->items[k].key;
            set->count++;
        }
        protocol->binding_count++;
    }
    return PW_OK;
}

static pw_status read_host(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err)
{
    if (node->kind != PW_YAML_LIST)
        return pw_yaml_error(node, err, "expected a list of operator names");
    protocol->host_allowed = pw_arena_alloc(&protocol->arena, node->count + 1, sizeof *protocol->host_allowed);
    if (!protocol->host_allowed)
        return pw_error_memory(err, node->count * sizeof *protocol->host_allowed);
    for (size_t i = 0; i < node->count; i++) {
        pw_status status = pw_yaml_text(&node->items[i], &protocol->host_allowed[i], err);

        if (status != PW_OK)
            return status;
        protocol->host_allowed_count++;
    }
    return PW_OK;
}

static pw_status read_environment(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err)
{
    static const char *const names[PW_PIN_COUNT] = {"refuse", "warn", "ignore"};
    const char *text = NULL;
    pw_status status = pw_yaml_text(node, &text, err);

    for (int i = 0; i < PW_PIN_COUNT && status == PW_OK; i++)
        if (!strcmp(text, names[i])) {
            protocol->environment = (pw_pin)i;
            return PW_OK;
        }
    return status == PW_OK ? pw_yaml_error(node, err, "expected refuse, warn or ignore, found '%s'", text) : status;
}

pw_status pw_protocol_load(const char *path, struct pw_protocol **out, struct pw_error *err)
{
    static const char *const keys[] = {"format",       "dims",         "tolerances", "warn_share",
                                       "host_allowed", "environment",  "gate",       "precision",
                                       "bitwise",      "loss_scaling", NULL};
    struct pw_protocol *protocol = NULL;
    const struct pw_yaml *root = NULL, *node;
    pw_status status;

    status = pw_protocol_default(&protocol, err);
    if (status == PW_OK)
        status = pw_yaml_read(path, &protocol->arena, &root, err);
    if (status == PW_OK && root->kind != PW_YAML_MAP)
        status = pw_yaml_error(root, err, "expected a map");
    if (status == PW_OK)
        status = pw_yaml_only(root, keys, err);
    if (status == PW_OK && (node = pw_yaml_get(root, "format"))) {
        int64_t format = 0;

        status = pw_yaml_int(node, &format, err);
        if (status == PW_OK && format != 1)
            status = pw_yaml_error(node, err, "expected format 1, found %s", node->text);
    }
    if (status == PW_OK && (node = pw_yaml_get(root, "tolerances")))
        status = read_tolerances(protocol, node, err);
    if (status == PW_OK && (node = pw_yaml_get(root, "dims")))
        status = read_dims(protocol, node, err);
    if (status == PW_OK && (node = pw_yaml_get(root, "host_allowed")))
        status = read_host(protocol, node, err);
    if (status == PW_OK && (node = pw_yaml_get(root, "precision")))
        status = pw_protocol_read_precision(protocol, node, err);
    if (status == PW_OK && (node = pw_yaml_get(root, "bitwise")))
        status = pw_protocol_read_bitwise(protocol, node, err);
    if (status == PW_OK && (node = pw_yaml_get(root, "loss_scaling")))
        status = pw_protocol_read_loss_scaling(protocol, node, err);
    if (status == PW_OK && (node = pw_yaml_get(root, "environment")))
        status = read_environment(protocol, node, err);
    if (status == PW_OK && (node = pw_yaml_get(root, "warn_share"))) {
        status = pw_yaml_double(node, &protocol->warn_share, err);
        if (status == PW_OK && !(protocol->warn_share > 0 && protocol->warn_share <= 1))
            status = pw_yaml_error(node, err, "expected a share above 0 and up to 1, found '%s'", node->text);
    }
    if (status == PW_OK)
        protocol->gate = pw_yaml_get(root, "gate");
    if (status == PW_OK) {
        protocol->path = pw_arena_strndup(&protocol->arena, path, strlen(path));
        *out = protocol;
        protocol = NULL;
    }
    pw_protocol_destroy(protocol);
    return status;
}
