/* Reading the protocol's rules of precision, of what is bitwise, and of loss scaling. */
#include <math.h>
#include <string.h>

#include "verify/protocol_internal.h"

static pw_status read_float_dtype(const struct pw_yaml *field, pw_dtype *out, struct pw_error *err)
{
    const char *text = NULL;
    pw_status status = pw_yaml_text(field, &text, err);

    if (status != PW_OK)
        return status;
    *out = pw_dtype_parse(text);
    if (*out != PW_DTYPE_FLOAT16 && *out != PW_DTYPE_BFLOAT16 && *out != PW_DTYPE_FLOAT32 && *out != PW_DTYPE_FLOAT64)
        return pw_yaml_error(field, err, "expected float16, bfloat16, float32 or float64, found '%s'", text);
    return PW_OK;
}

static pw_status read_precision_rule(const struct pw_yaml *item, struct pw_precision_rule *rule, struct pw_error *err)
{
    static const char *const keys[] = {"op", "category", "dtype", "node", "storage", "accumulate", "reason", NULL};
    const struct pw_yaml *storage, *accumulate;
    pw_status status = pw_protocol_read_match(item, keys, &rule->match, err);

    if (status != PW_OK)
        return status;
    storage = pw_yaml_get(item, "storage");
    accumulate = pw_yaml_get(item, "accumulate");
    if (!storage && !accumulate)
        return pw_yaml_error(item, err, "the rule has neither 'storage' nor 'accumulate'");
    if (storage)
        status = read_float_dtype(storage, &rule->storage, err);
    if (status == PW_OK && accumulate)
        status = read_float_dtype(accumulate, &rule->accumulate, err);
    return status;
}

pw_status pw_protocol_read_precision(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err)
{
    if (node->kind != PW_YAML_LIST)
        return pw_yaml_error(node, err, "expected a list of rules");
    protocol->precisions = pw_arena_alloc(&protocol->arena, node->count + 1, sizeof *protocol->precisions);
    if (!protocol->precisions)
        return pw_error_memory(err, node->count * sizeof *protocol->precisions);
    for (size_t i = 0; i < node->count; i++) {
        pw_status status = read_precision_rule(&node->items[i], &protocol->precisions[i], err);

        if (status != PW_OK)
            return status;
        protocol->precision_count++;
    }
    return PW_OK;
}

/* ---- bitwise ---- */

static pw_status read_bitwise_rules(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err)
{
    static const char *const keys[] = {"op", "category", "dtype", "node", "reason", NULL};

    if (node->kind != PW_YAML_LIST)
        return pw_yaml_error(node, err, "expected a list of rules");
    protocol->bitwise.rules = pw_arena_alloc(&protocol->arena, node->count + 1, sizeof *protocol->bitwise.rules);
    if (!protocol->bitwise.rules)
        return pw_error_memory(err, node->count * sizeof *protocol->bitwise.rules);
    for (size_t i = 0; i < node->count; i++) {
        pw_status status = pw_protocol_read_match(&node->items[i], keys, &protocol->bitwise.rules[i].match, err);

        if (status != PW_OK)
            return status;
        protocol->bitwise.rule_count++;
    }
    return PW_OK;
}

static pw_status read_accumulation_rule(const struct pw_yaml *item, struct pw_accumulation_rule *rule,
                                        struct pw_error *err)
{
    static const char *const keys[] = {"op", "category", "dtype", "node", "order", "reason", NULL};
    const struct pw_yaml *order;
    const char *text = NULL;
    pw_status status = pw_protocol_read_match(item, keys, &rule->match, err);

    if (status != PW_OK)
        return status;
    order = pw_yaml_get(item, "order");
    if (!order)
        return pw_yaml_error(item, err, "the rule has no 'order'");
    status = pw_yaml_text(order, &text, err);
    for (int i = 0; i < PW_ACCUMULATION_COUNT && status == PW_OK; i++)
        if (!strcmp(text, pw_accumulation_name((pw_accumulation)i))) {
            rule->accumulation = (pw_accumulation)i;
            return PW_OK;
        }
    return status == PW_OK
               ? pw_yaml_error(order, err, "expected free, repeatable, sequential or pairwise, found '%s'", text)
               : status;
}

static pw_status read_accumulations(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err)
{
    struct pw_bitwise *bitwise = &protocol->bitwise;

    if (node->kind != PW_YAML_LIST)
        return pw_yaml_error(node, err, "expected a list of rules");
    bitwise->accumulations = pw_arena_alloc(&protocol->arena, node->count + 1, sizeof *bitwise->accumulations);
    if (!bitwise->accumulations)
        return pw_error_memory(err, node->count * sizeof *bitwise->accumulations);
    for (size_t i = 0; i < node->count; i++) {
        pw_status status = read_accumulation_rule(&node->items[i], &bitwise->accumulations[i], err);

        if (status != PW_OK)
            return status;
        bitwise->accumulation_count++;
    }
    return PW_OK;
}

pw_status pw_protocol_read_bitwise(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err)
{
    static const char *const keys[] = {"integers", "copies", "ties", "random", "rules", "accumulation", NULL};
    struct pw_bitwise *bitwise = &protocol->bitwise;
    bool *const flags[] = {&bitwise->integers, &bitwise->copies, &bitwise->ties, &bitwise->random};
    const struct pw_yaml *field;
    pw_status status;

    if (node->kind != PW_YAML_MAP)
        return pw_yaml_error(node, err, "expected a map with integers, copies, ties, random, rules, accumulation");
    status = pw_yaml_only(node, keys, err);
    for (size_t i = 0; i < sizeof flags / sizeof *flags && status == PW_OK; i++)
        if ((field = pw_yaml_get(node, keys[i])))
            status = pw_yaml_bool(field, flags[i], err);
    if (status == PW_OK && (field = pw_yaml_get(node, "rules")))
        status = read_bitwise_rules(protocol, field, err);
    if (status == PW_OK && (field = pw_yaml_get(node, "accumulation")))
        status = read_accumulations(protocol, field, err);
    return status;
}

/* ---- loss scaling ---- */

/* A number above `above`; absent keeps the default. */
static pw_status read_factor(const struct pw_yaml *map, const char *key, double above, double *out,
                             struct pw_error *err)
{
    const struct pw_yaml *field = pw_yaml_get(map, key);
    pw_status status = field ? pw_yaml_double(field, out, err) : PW_OK;

    if (status == PW_OK && field && !(*out > above && isfinite(*out)))
        status = pw_yaml_error(field, err, "expected a number above %g, found '%s'", above, field->text);
    return status;
}

pw_status pw_protocol_read_loss_scaling(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err)
{
    static const char *const keys[] = {"kind", "scale", "growth", "backoff", "interval", NULL};
    static const char *const kinds[] = {"none", "static", "dynamic"};
    struct pw_loss_scale *scale = &protocol->loss_scale;
    const struct pw_yaml *field;
    const char *text = NULL;
    bool known = false;
    pw_status status;

    if (node->kind != PW_YAML_MAP)
        return pw_yaml_error(node, err, "expected a map with kind, scale, growth, backoff, interval");
    status = pw_yaml_only(node, keys, err);
    if (status != PW_OK)
        return status;
    field = pw_yaml_get(node, "kind");
    if (!field)
        return pw_yaml_error(node, err, "loss scaling has no 'kind'");
    status = pw_yaml_text(field, &text, err);
    for (int i = 0; i < 3 && status == PW_OK; i++)
        if (!strcmp(text, kinds[i])) {
            scale->kind = (pw_loss_scale_kind)i;
            known = true;
        }
    if (status == PW_OK && !known)
        status = pw_yaml_error(field, err, "expected none, static or dynamic, found '%s'", text);
    if (status == PW_OK)
        status = read_factor(node, "scale", 0, &scale->scale, err);
    if (status == PW_OK)
        status = read_factor(node, "growth", 1, &scale->growth, err);
    if (status == PW_OK)
        status = read_factor(node, "backoff", 0, &scale->backoff, err);
    if (status == PW_OK && scale->backoff >= 1)
        status = pw_yaml_error(pw_yaml_get(node, "backoff"), err, "expected a number below 1");
    if (status == PW_OK && (field = pw_yaml_get(node, "interval"))) {
        status = pw_yaml_int(field, &scale->interval, err);
        if (status == PW_OK && scale->interval < 1)
            status = pw_yaml_error(field, err, "expected a whole number from 1, found '%s'", field->text);
    }
    return status;
}
