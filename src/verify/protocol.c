/*
 * The protocol: reading portwright.yaml and deriving default tolerances.
 *
 * The default follows the rounding analysis of the operator: the output is rounded once to its dtype
 * (half an epsilon), float arithmetic inside adds the ULP of the functions used, and an accumulation
 * of K terms adds a random walk of K roundings. Errors are judged against at least an eighth of the
 * output's root mean square (tensor/compare.h), hence the factor 8 on what does not scale with the
 * element itself.
 */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/yaml.h"
#include "verify/verify.h"

#define DEFAULT_WARN_SHARE 0.5
#define FLOOR_FACTOR 8.0  /* 1 / the floor's share of the root mean square */
#define WALK_FACTOR 2.0   /* worst of millions of elements against the walk's standard deviation */
#define ELEMENT_SLACK 2.0 /* roundings of an elementwise formula beside its functions */

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

static pw_status read_rule(const struct pw_yaml *item, struct pw_tolerance_rule *rule, struct pw_error *err)
{
    static const char *const keys[] = {"op", "category", "dtype", "node", "tolerance", "reason", NULL};
    const struct pw_yaml *field;
    const char *text = NULL;
    bool known = false;
    pw_status status;

    if (item->kind != PW_YAML_MAP)
        return pw_yaml_error(item, err, "expected a map with op, category, dtype or node, and tolerance");
    status = pw_yaml_only(item, keys, err);
    rule->match.line = item->line;
    if (status == PW_OK && (field = pw_yaml_get(item, "op"))) {
        status = pw_yaml_text(field, &rule->match.op, err);
        if (status == PW_OK) {
            pw_op_find("", rule->match.op, 1, &known);
            if (!known)
                pw_op_find("com.microsoft", rule->match.op, 1, &known);
            if (!known)
                status = pw_yaml_error(field, err, "no operator is named '%s'", rule->match.op);
        }
    }
    if (status == PW_OK && (field = pw_yaml_get(item, "category"))) {
        status = pw_yaml_text(field, &rule->match.category, err);
        for (int i = 0; i < PW_CATEGORY_COUNT && status == PW_OK; i++)
            known |= !strcmp(pw_category_name((pw_category)i), rule->match.category);
        if (status == PW_OK && !known)
            status = pw_yaml_error(field, err, "no category is named '%s'", rule->match.category);
    }
    if (status == PW_OK && (field = pw_yaml_get(item, "dtype"))) {
        status = pw_yaml_text(field, &text, err);
        if (status == PW_OK && (rule->match.dtype = pw_dtype_parse(text)) == PW_DTYPE_UNDEFINED)
            status = pw_yaml_error(field, err, "no dtype is named '%s'", text);
    }
    if (status == PW_OK && (field = pw_yaml_get(item, "node")))
        status = pw_yaml_text(field, &rule->match.node, err);
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

pw_status pw_protocol_load(const char *path, struct pw_protocol **out, struct pw_error *err)
{
    static const char *const keys[] = {"format", "dims", "tolerances", "warn_share", "host_allowed", NULL};
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
    if (status == PW_OK && (node = pw_yaml_get(root, "warn_share"))) {
        status = pw_yaml_double(node, &protocol->warn_share, err);
        if (status == PW_OK && !(protocol->warn_share > 0 && protocol->warn_share <= 1))
            status = pw_yaml_error(node, err, "expected a share above 0 and up to 1, found '%s'", node->text);
    }
    if (status == PW_OK) {
        protocol->path = pw_arena_strndup(&protocol->arena, path, strlen(path));
        *out = protocol;
        protocol = NULL;
    }
    pw_protocol_destroy(protocol);
    return status;
}

/* ---- tolerances ---- */

static pw_dtype output_dtype(const struct pw_call *call)
{
    for (int i = 0; i < call->output_count; i++)
        if (call->wanted[i] && pw_dtype_is_float(call->out[i].dtype))
            return call->out[i].dtype;
    return PW_DTYPE_UNDEFINED;
}

static bool matches(const struct pw_rule_match *match, const struct pw_op *op, pw_dtype dtype, const char *node_name)
{
    return (!match->op || !strcmp(match->op, op->name)) &&
           (!match->category || !strcmp(match->category, pw_category_name(op->category))) &&
           (match->dtype == PW_DTYPE_UNDEFINED || match->dtype == dtype) &&
           (!match->node || (node_name && !fnmatch(match->node, node_name, 0)));
}

static const struct pw_tolerance_rule *matching_rule(const struct pw_protocol *protocol, const struct pw_call *call,
                                                     const char *node_name, pw_dtype dtype)
{
    for (size_t i = protocol->tolerance_count; i-- > 0;)
        if (matches(&protocol->tolerances[i].match, call->op, dtype, node_name))
            return &protocol->tolerances[i];
    return NULL;
}

void pw_protocol_precision(const struct pw_protocol *protocol, const char *node_name, const struct pw_op *op,
                           pw_dtype dtype, struct pw_precision *out)
{
    memset(out, 0, sizeof *out);
    for (size_t i = protocol->precision_count; i-- > 0 && op;)
        if (matches(&protocol->precisions[i].match, op, dtype, node_name)) {
            out->storage = protocol->precisions[i].storage;
            out->accumulate = protocol->precisions[i].accumulate;
            out->line = protocol->precisions[i].match.line;
            return;
        }
}

const char *pw_accumulation_name(pw_accumulation accumulation)
{
    static const char *const names[PW_ACCUMULATION_COUNT] = {"free", "repeatable", "sequential", "pairwise"};

    return accumulation < PW_ACCUMULATION_COUNT ? names[accumulation] : "?";
}

pw_accumulation pw_protocol_accumulation(const struct pw_protocol *protocol, const struct pw_call *call,
                                         const char *node_name)
{
    for (size_t i = protocol->bitwise.accumulation_count; i-- > 0;)
        if (matches(&protocol->bitwise.accumulations[i].match, call->op, output_dtype(call), node_name))
            return protocol->bitwise.accumulations[i].accumulation;
    return PW_ACCUMULATION_FREE;
}

/* What the arithmetic itself may lose, relative to max(|ref|, floor). */
static double derived(const struct pw_accuracy *accuracy, pw_dtype dtype, struct pw_arena *arena, const char **why)
{
    double out = pw_dtype_epsilon(dtype);
    double inside = dtype == PW_DTYPE_FLOAT64 ? out : pw_dtype_epsilon(PW_DTYPE_FLOAT32);
    double amplification = accuracy->amplification > 1 ? accuracy->amplification : 1;
    double element = (accuracy->ulp + ELEMENT_SLACK) * inside * amplification;
    double walk = 0;

    if (accuracy->length > 1)
        walk = WALK_FACTOR * FLOOR_FACTOR * inside * sqrt((double)accuracy->length) * amplification;
    *why = pw_arena_printf(arena, "%s output rounding %.2g + %.3g ULP of float functions%s%s%.2g%s: %s",
                           pw_dtype_name(dtype), 0.5 * out, accuracy->ulp + ELEMENT_SLACK,
                           accuracy->length > 1 ? " + random walk of the accumulation " : "", "", walk,
                           amplification > 1 ? ", amplified by the formula" : "", accuracy->why ? accuracy->why : "");
    return 0.5 * out + element + walk;
}

pw_status pw_protocol_tolerance(const struct pw_protocol *protocol, const struct pw_call *call, const char *node_name,
                                const struct pw_target_info *info, struct pw_arena *arena, double *tolerance,
                                const char **why, struct pw_error *err)
{
    struct pw_accuracy accuracy = {.length = 1, .amplification = 1, .ulp = 1};
    pw_dtype dtype = output_dtype(call);
    const struct pw_tolerance_rule *rule = matching_rule(protocol, call, node_name, dtype);

    (void)info;
    if (call->op->accuracy)
        call->op->accuracy(call, &accuracy);
    if (rule) {
        *tolerance = rule->value;
        *why = pw_arena_printf(arena, "%s:%zu", protocol->path ? protocol->path : "protocol", rule->match.line);
    } else if (dtype == PW_DTYPE_UNDEFINED || accuracy.exact) {
        *tolerance = 0;
        *why = accuracy.why ? accuracy.why : "integers and copies are bitwise";
    } else {
        *tolerance = derived(&accuracy, dtype, arena, why);
    }
    return *why ? PW_OK : pw_error_memory(err, 128);
}

bool pw_protocol_host_allowed(const struct pw_protocol *protocol, const struct pw_call *call, bool shape_arithmetic)
{
    if (shape_arithmetic || !call->op || call->op->category == PW_CATEGORY_CONTROL)
        return call->op != NULL;
    for (size_t i = 0; i < protocol->host_allowed_count; i++)
        if (!strcmp(protocol->host_allowed[i], call->op->name))
            return true;
    for (int i = 0; i < call->input_count; i++)
        if (call->in[i] && pw_dtype_is_float(call->in[i]->dtype))
            return false;
    return output_dtype(call) == PW_DTYPE_UNDEFINED;
}
