/* The protocol: reading portwright.yaml (format 1; share/portwright.1 and `portwright init` show it). */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/yaml.h"
#include "graph/infer.h"
#include "verify/verify.h"

#define DEFAULT_WARN_SHARE 0.5
#define MAX_OPERATORS 1024

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

/* ---- names ---- */

/* "no operator is named 'Softmacks'; did you mean 'Softmax'?" */
static pw_status unknown(const struct pw_yaml *at, const char *what, const char *const *names, size_t count,
                         struct pw_error *err)
{
    const char *near = pw_text_nearest(at->text, names, count);
    char found[80];

    pw_text_show(found, sizeof found, at->text, 60);
    if (near)
        return pw_yaml_error(at, err, "no %s is named '%s'; did you mean '%s'?", what, found, near);
    return pw_yaml_error(at, err, "no %s is named '%s'", what, found);
}

static pw_status read_operator(const struct pw_yaml *at, const char **out, struct pw_error *err)
{
    const char *names[MAX_OPERATORS];
    size_t count = 0;
    pw_status status = pw_yaml_text(at, out, err);

    if (status != PW_OK)
        return status;
    for (const struct pw_room *room = pw_rooms; room->name; room++)
        for (const struct pw_op *op = room->ops; op->name; op++) {
            if (!strcmp(op->name, *out))
                return PW_OK;
            if (count < MAX_OPERATORS)
                names[count++] = op->name;
        }
    return unknown(at, "operator", names, count, err);
}

static pw_status read_category(const struct pw_yaml *at, const char **out, struct pw_error *err)
{
    const char *names[PW_CATEGORY_COUNT];
    pw_status status = pw_yaml_text(at, out, err);

    for (int i = 0; i < PW_CATEGORY_COUNT && status == PW_OK; i++) {
        names[i] = pw_category_name((pw_category)i);
        if (!strcmp(names[i], *out))
            return PW_OK;
    }
    return status == PW_OK ? unknown(at, "category", names, PW_CATEGORY_COUNT, err) : status;
}

static pw_status read_dtype(const struct pw_yaml *at, pw_dtype *out, struct pw_error *err)
{
    const char *names[PW_DTYPE_COUNT], *text = NULL;
    pw_status status = pw_yaml_text(at, &text, err);

    if (status != PW_OK)
        return status;
    *out = pw_dtype_parse(text);
    if (*out != PW_DTYPE_UNDEFINED)
        return PW_OK;
    for (int i = 0; i < PW_DTYPE_COUNT; i++)
        names[i] = pw_dtype_name((pw_dtype)i);
    return unknown(at, "dtype", names, PW_DTYPE_COUNT, err);
}

/* A dtype that numbers are stored or summed in. */
static pw_status read_float(const struct pw_yaml *at, pw_dtype *out, struct pw_error *err)
{
    pw_status status = read_dtype(at, out, err);

    if (status == PW_OK && *out != PW_DTYPE_FLOAT32 && *out != PW_DTYPE_FLOAT16 && *out != PW_DTYPE_BFLOAT16 &&
        *out != PW_DTYPE_FLOAT64)
        status = pw_yaml_error(at, err, "expected float32, float16, bfloat16 or float64, found '%s'", at->text);
    return status;
}

/* One of a few words. */
static pw_status read_word(const struct pw_yaml *at, const char *const *words, size_t count, const char *what, int *out,
                           struct pw_error *err)
{
    const char *text = NULL;
    pw_status status = pw_yaml_text(at, &text, err);

    for (size_t i = 0; i < count && status == PW_OK; i++)
        if (!strcmp(words[i], text)) {
            *out = (int)i;
            return PW_OK;
        }
    return status == PW_OK ? unknown(at, what, words, count, err) : status;
}

/* ---- rules ---- */

static const char *const match_keys[] = {"op", "category", "dtype", "node", "reason", NULL};
static const char *const tolerance_keys[] = {"tolerance", NULL};
static const char *const precision_keys[] = {"storage", "accumulate", NULL};
static const char *const order_keys[] = {"order", NULL};
static const char *const no_keys[] = {NULL};
static const char *const bitwise_keys[] = {"integers", "copies", "ties", "random", "rules", "accumulation", NULL};
static const char *const loss_keys[] = {"kind", "scale", "growth", "backoff", "interval", NULL};

/* Checks the keys of a rule (those of a match and `own`), reads its match. */
static pw_status read_match(const struct pw_yaml *item, const char *const *own, struct pw_rule_match *match,
                            struct pw_error *err)
{
    const char *keys[16], *reason;
    size_t count = 0;
    const struct pw_yaml *field;
    pw_status status;

    if (item->kind != PW_YAML_MAP)
        return pw_yaml_error(item, err,
                             "expected a rule: a map with op, category, dtype or node, and what holds there");
    for (size_t i = 0; own[i]; i++)
        keys[count++] = own[i];
    for (size_t i = 0; match_keys[i]; i++)
        keys[count++] = match_keys[i];
    keys[count] = NULL;
    status = pw_yaml_only(item, keys, err);
    match->line = item->line;
    if (status == PW_OK && (field = pw_yaml_get(item, "op")))
        status = read_operator(field, &match->op, err);
    if (status == PW_OK && (field = pw_yaml_get(item, "category")))
        status = read_category(field, &match->category, err);
    if (status == PW_OK && (field = pw_yaml_get(item, "dtype")))
        status = read_dtype(field, &match->dtype, err);
    if (status == PW_OK && (field = pw_yaml_get(item, "node")))
        status = pw_yaml_text(field, &match->node, err);
    if (status == PW_OK && (field = pw_yaml_get(item, "reason")))
        status = pw_yaml_text(field, &reason, err); /* for who reads the file */
    return status;
}

typedef pw_status read_rule(const struct pw_yaml *item, void *rule, struct pw_error *err);

/* A list of rules into an array in the arena. */
static pw_status read_rules(struct pw_protocol *protocol, const struct pw_yaml *list, size_t rule_bytes,
                            read_rule *read, void **rules, size_t *count, struct pw_error *err)
{
    char *array;

    if (list->kind != PW_YAML_LIST)
        return pw_yaml_error(list, err, "expected a list of rules");
    array = pw_arena_alloc(&protocol->arena, list->count + 1, rule_bytes);
    if (!array)
        return pw_error_memory(err, list->count * rule_bytes);
    for (size_t i = 0; i < list->count; i++) {
        struct pw_yaml item = list->items[i];
        pw_status status;

        item.key = list->key; /* so that an error says it */
        status = read(&item, array + i * rule_bytes, err);
        if (status != PW_OK)
            return status;
    }
    *rules = array;
    *count = list->count;
    return PW_OK;
}

static pw_status read_tolerance(const struct pw_yaml *item, void *into, struct pw_error *err)
{
    struct pw_tolerance_rule *rule = into;
    const struct pw_yaml *field;
    pw_status status = read_match(item, tolerance_keys, &rule->match, err);

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

static pw_status read_precision_rule(const struct pw_yaml *item, void *into, struct pw_error *err)
{
    struct pw_precision_rule *rule = into;
    const struct pw_yaml *storage, *accumulate;
    pw_status status = read_match(item, precision_keys, &rule->match, err);

    if (status != PW_OK)
        return status;
    storage = pw_yaml_get(item, "storage");
    accumulate = pw_yaml_get(item, "accumulate");
    if (!storage && !accumulate)
        return pw_yaml_error(item, err, "the rule has neither 'storage' nor 'accumulate'");
    if (storage)
        status = read_float(storage, &rule->storage, err);
    if (status == PW_OK && accumulate)
        status = read_float(accumulate, &rule->accumulate, err);
    if (status == PW_OK && storage && accumulate &&
        pw_dtype_epsilon(rule->accumulate) > pw_dtype_epsilon(rule->storage))
        status = pw_yaml_error(accumulate, err, "%s is coarser than what is stored (%s)",
                               pw_dtype_name(rule->accumulate), pw_dtype_name(rule->storage));
    return status;
}

static pw_status read_bitwise_rule(const struct pw_yaml *item, void *into, struct pw_error *err)
{
    struct pw_bitwise_rule *rule = into;

    return read_match(item, no_keys, &rule->match, err);
}

/* An order can be demanded where a reference takes its sums in one: of the named operator, of one of the category, or
 * of what pw_protocol_check finds in the graph. */
static pw_status check_order(const struct pw_yaml *at, const struct pw_rule_match *match, const char *order,
                             struct pw_error *err)
{
    struct pw_buf names = {0};
    const char *last = "";
    bool found = !match->op && !match->category;
    pw_status status = PW_OK;

    for (const struct pw_room *room = pw_rooms; room->name; room++)
        for (const struct pw_op *op = room->ops; op->name; op++) {
            if (!op->ordered)
                continue;
            found |= (!match->op || !strcmp(match->op, op->name)) &&
                     (!match->category || !strcmp(match->category, pw_category_name(op->category)));
            if (strcmp(op->name, last))
                pw_buf_printf(&names, "%s%s", *last ? ", " : "", op->name);
            last = op->name;
        }
    if (!found)
        status = pw_yaml_error(at, err, "%s has no %s order: a reference takes sums in a given order for %s",
                               match->op ? match->op : match->category, order, pw_buf_text(&names));
    pw_buf_clear(&names);
    return status;
}

static pw_status read_accumulation_rule(const struct pw_yaml *item, void *into, struct pw_error *err)
{
    const char *names[PW_ACCUMULATION_COUNT];
    struct pw_accumulation_rule *rule = into;
    const struct pw_yaml *field;
    int order = 0;
    pw_status status = read_match(item, order_keys, &rule->match, err);

    if (status != PW_OK)
        return status;
    for (int i = 0; i < PW_ACCUMULATION_COUNT; i++)
        names[i] = pw_accumulation_name((pw_accumulation)i);
    field = pw_yaml_get(item, "order");
    if (!field)
        return pw_yaml_error(item, err, "the rule has no 'order'");
    status = read_word(field, names, PW_ACCUMULATION_COUNT, "order of accumulation", &order, err);
    rule->accumulation = (pw_accumulation)order;
    rule->at = field;
    if (status == PW_OK && rule->accumulation >= PW_ACCUMULATION_SEQUENTIAL)
        status = check_order(field, &rule->match, names[order], err);
    return status;
}

/* ---- sections ---- */

static pw_status read_tolerances(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err)
{
    return read_rules(protocol, node, sizeof *protocol->tolerances, read_tolerance, (void **)&protocol->tolerances,
                      &protocol->tolerance_count, err);
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
            return pw_yaml_error(node, err, "expected a list of maps NAME: N");
        set->at = map;
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
        struct pw_yaml item = node->items[i];
        pw_status status;

        item.key = "host_allowed"; /* so that the error says it */
        status = read_operator(&item, &protocol->host_allowed[i], err);
        if (status != PW_OK)
            return status;
        protocol->host_allowed_count++;
    }
    return PW_OK;
}

/* A number above a limit. */
static pw_status read_above(const struct pw_yaml *map, const char *key, double limit, double *out, struct pw_error *err)
{
    const struct pw_yaml *field = pw_yaml_get(map, key);
    pw_status status = field ? pw_yaml_double(field, out, err) : PW_OK;

    if (status == PW_OK && field && !(*out > limit && isfinite(*out)))
        status = pw_yaml_error(field, err, "expected a number above %g, found '%s'", limit, field->text);
    return status;
}

static pw_status read_loss_scale(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err)
{
    static const char *const kinds[] = {"none", "static", "dynamic"};
    struct pw_loss_scale *scale = &protocol->loss_scale;
    const struct pw_yaml *field;
    int kind = 0;
    pw_status status;

    if (node->kind != PW_YAML_MAP)
        return pw_yaml_error(node, err, "expected a map with kind, scale, growth, backoff, interval");
    status = pw_yaml_only(node, loss_keys, err);
    field = pw_yaml_get(node, "kind");
    if (status == PW_OK && !field)
        status = pw_yaml_error(node, err, "no 'kind': none, static or dynamic");
    if (status == PW_OK)
        status = read_word(field, kinds, PW_COUNT_OF(kinds), "kind of loss scaling", &kind, err);
    scale->kind = (pw_loss_scale_kind)kind;
    if (status == PW_OK)
        status = read_above(node, "scale", 0, &scale->scale, err);
    if (status == PW_OK)
        status = read_above(node, "growth", 1, &scale->growth, err);
    if (status == PW_OK)
        status = read_above(node, "backoff", 0, &scale->backoff, err);
    if (status == PW_OK && scale->backoff >= 1)
        status = pw_yaml_error(pw_yaml_get(node, "backoff"), err, "expected a factor below 1");
    if (status == PW_OK && (field = pw_yaml_get(node, "interval"))) {
        status = pw_yaml_int(field, &scale->interval, err);
        if (status == PW_OK && scale->interval < 1)
            status = pw_yaml_error(field, err, "expected a number of steps from 1, found '%s'", field->text);
    }
    return status;
}

static pw_status read_precision(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err)
{
    return read_rules(protocol, node, sizeof *protocol->precisions, read_precision_rule, (void **)&protocol->precisions,
                      &protocol->precision_count, err);
}

static pw_status read_bitwise(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err)
{
    struct pw_bitwise *bitwise = &protocol->bitwise;
    const struct {
        const char *key;
        bool *value;
    } flags[] = {{"integers", &bitwise->integers},
                 {"copies", &bitwise->copies},
                 {"ties", &bitwise->ties},
                 {"random", &bitwise->random}};
    const struct pw_yaml *field;
    pw_status status;

    if (node->kind != PW_YAML_MAP)
        return pw_yaml_error(node, err, "expected a map with integers, copies, ties, random, rules, accumulation");
    status = pw_yaml_only(node, bitwise_keys, err);
    for (size_t i = 0; i < PW_COUNT_OF(flags) && status == PW_OK; i++)
        if ((field = pw_yaml_get(node, flags[i].key)))
            status = pw_yaml_bool(field, flags[i].value, err);
    if (status == PW_OK && (field = pw_yaml_get(node, "rules")))
        status = read_rules(protocol, field, sizeof *bitwise->rules, read_bitwise_rule, (void **)&bitwise->rules,
                            &bitwise->rule_count, err);
    if (status == PW_OK && (field = pw_yaml_get(node, "accumulation")))
        status = read_rules(protocol, field, sizeof *bitwise->accumulations, read_accumulation_rule,
                            (void **)&bitwise->accumulations, &bitwise->accumulation_count, err);
    return status;
}

static pw_status read_warn_share(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err)
{
    pw_status status = pw_yaml_double(node, &protocol->warn_share, err);

    if (status == PW_OK && !(protocol->warn_share > 0 && protocol->warn_share <= 1))
        status = pw_yaml_error(node, err, "expected a share above 0 and up to 1, found '%s'", node->text);
    return status;
}

static pw_status read_environment(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err)
{
    static const char *const words[PW_PIN_COUNT] = {"refuse", "warn", "ignore"};
    int word = 0;
    pw_status status =
        read_word(node, words, PW_PIN_COUNT, "way to take another environment (refuse, warn, ignore)", &word, err);

    protocol->environment = (pw_pin)word;
    return status;
}

static pw_status read_gate(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err)
{
    (void)err; /* baseline/gate_settings.h reads it */
    protocol->gate = node;
    return PW_OK;
}

static pw_status read_format(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err)
{
    int64_t format = 0;
    pw_status status = pw_yaml_int(node, &format, err);

    (void)protocol;
    if (status == PW_OK && format != 1)
        status = pw_yaml_error(node, err, "expected format 1, found %s", node->text);
    return status;
}

/* ---- the file ---- */

static const struct {
    const char *key;
    pw_status (*read)(struct pw_protocol *protocol, const struct pw_yaml *node, struct pw_error *err);
} sections[] = {{"format", read_format},           {"dims", read_dims},
                {"tolerances", read_tolerances},   {"warn_share", read_warn_share},
                {"precision", read_precision},     {"loss_scaling", read_loss_scale},
                {"bitwise", read_bitwise},         {"host_allowed", read_host},
                {"environment", read_environment}, {"gate", read_gate}};

void pw_protocol_keys(void (*visit)(void *user, const char *section, const char *key), void *user)
{
    static const struct {
        const char *section;
        const char *const *keys;
        bool rule;
    } inner[] = {{"tolerances", tolerance_keys, true},       {"precision", precision_keys, true},
                 {"bitwise", bitwise_keys, false},           {"bitwise.rules", no_keys, true},
                 {"bitwise.accumulation", order_keys, true}, {"loss_scaling", loss_keys, false}};

    for (size_t i = 0; i < PW_COUNT_OF(sections); i++)
        visit(user, "", sections[i].key);
    for (size_t i = 0; i < PW_COUNT_OF(inner); i++) {
        for (size_t k = 0; inner[i].keys[k]; k++)
            visit(user, inner[i].section, inner[i].keys[k]);
        for (size_t k = 0; match_keys[k] && inner[i].rule; k++)
            visit(user, inner[i].section, match_keys[k]);
    }
}

pw_status pw_protocol_load(const char *path, struct pw_protocol **out, struct pw_error *err)
{
    const char *keys[PW_COUNT_OF(sections) + 1] = {0};
    struct pw_protocol *protocol = NULL;
    const struct pw_yaml *root = NULL, *node;
    pw_status status;

    for (size_t i = 0; i < PW_COUNT_OF(sections); i++)
        keys[i] = sections[i].key;
    status = pw_protocol_default(&protocol, err);
    if (status == PW_OK)
        status = pw_yaml_read(path, &protocol->arena, &root, err);
    if (status == PW_OK && root->kind != PW_YAML_MAP)
        status = pw_yaml_error(root, err, "expected a map");
    if (status == PW_OK)
        status = pw_yaml_only(root, keys, err);
    for (size_t i = 0; i < PW_COUNT_OF(sections) && status == PW_OK; i++)
        if ((node = pw_yaml_get(root, sections[i].key)))
            status = sections[i].read(protocol, node, err);
    if (status == PW_OK) {
        protocol->path = pw_arena_strndup(&protocol->arena, path, strlen(path));
        *out = protocol;
        protocol = NULL;
    }
    pw_protocol_destroy(protocol);
    return status;
}

/* ---- against a graph ---- */

struct symbols {
    const char **names;
    size_t count, cap;
    struct pw_error *err;
    pw_status status;
};

static void add_symbol(void *user, const char *symbol)
{
    struct symbols *symbols = user;

    for (size_t i = 0; i < symbols->count; i++)
        if (!strcmp(symbols->names[i], symbol))
            return;
    if (symbols->status == PW_OK)
        symbols->status = PW_GROW(symbols->names, symbols->cap, symbols->count + 1, symbols->err);
    if (symbols->status == PW_OK)
        symbols->names[symbols->count++] = symbol;
}

/* A rule that names nodes demands an order where at least one of them has one. */
static pw_status check_orders(const struct pw_protocol *protocol, const struct pw_model *model, struct pw_error *err)
{
    for (size_t i = 0; i < protocol->bitwise.accumulation_count; i++) {
        const struct pw_accumulation_rule *rule = &protocol->bitwise.accumulations[i];
        const struct pw_node *without = NULL;
        bool with = false;

        for (size_t n = 0; n < model->graph->node_count && rule->match.node; n++) {
            const struct pw_node *node = &model->graph->nodes[n];

            if (!node->op || !node->name || fnmatch(rule->match.node, node->name, 0))
                continue;
            with |= node->op->ordered != NULL;
            without = node->op->ordered ? without : node;
        }
        if (rule->accumulation >= PW_ACCUMULATION_SEQUENTIAL && without && !with)
            return pw_yaml_error(rule->at, err, "no node of the name has a %s order; '%s' is a %s",
                                 pw_accumulation_name(rule->accumulation), without->name, without->op->name);
    }
    return PW_OK;
}

pw_status pw_protocol_check(const struct pw_protocol *protocol, const struct pw_model *model,
                            const struct pw_inference *inference, struct pw_error *err)
{
    struct symbols symbols = {.err = err};
    pw_status status = PW_OK;

    for (size_t i = 0; i < model->graph->input_count; i++) {
        const struct pw_info *info = pw_inference_at(inference, model->graph, model->graph->inputs[i]);

        for (int d = 0; d < info->rank; d++)
            pw_dims_symbols(pw_inference_dims(inference), info->dims[d], add_symbol, &symbols);
    }
    status = symbols.status;
    for (size_t s = 0; s < protocol->binding_count && status == PW_OK; s++)
        for (size_t k = 0; k < protocol->bindings[s].count && status == PW_OK; k++) {
            const struct pw_yaml *at = &protocol->bindings[s].at->items[k];
            const char *near = NULL;
            bool known = false;

            for (size_t i = 0; i < symbols.count && !known; i++)
                known = !strcmp(symbols.names[i], at->key);
            if (known)
                continue;
            near = pw_text_nearest(at->key, symbols.names, symbols.count);
            status = pw_yaml_error(at, err, "no input of the graph has this dim%s%s%s",
                                   near ? "; did you mean '"
                                        : "; for another graph name its own protocol with --project FILE",
                                   near ? near : "", near ? "'?" : "");
        }
    pw_free(symbols.names);
    return status == PW_OK ? check_orders(protocol, model, err) : status;
}
