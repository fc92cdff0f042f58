/*
 * What a precision sweep says as rules of a protocol: float16 but for what does not hold in it; where only some layers
 * were measured, only of them. Fewest lines first: an operator whose nodes all want the same, nodes whose names begin
 * alike and like no others, then single nodes.
 */
#include <stdlib.h>
#include <string.h>

#include "report/run.h"

#define RULES_MAX 60 /* lines that text proposes */

struct wish {
    const struct pw_node *node;
    const char *advice; /* NULL: not measured */
    bool floats;        /* the rule would change it */
    bool said;          /* by a rule already */
};

struct wishes {
    struct wish *items; /* sorted by node */
    size_t count;
    bool some; /* layers are missing: of nodes without advice nothing is known */
    const char *rest;
    struct pw_buf *out;
    size_t lines, more;
};

static int by_node(const void *left, const void *right)
{
    uintptr_t a = (uintptr_t)((const struct wish *)left)->node, b = (uintptr_t)((const struct wish *)right)->node;

    return a < b ? -1 : a > b;
}

static struct wish *find(const struct wishes *w, const struct pw_node *node)
{
    const struct wish key = {.node = node};

    return w->count ? bsearch(&key, w->items, w->count, sizeof key, by_node) : NULL;
}

/* All nodes of the graph, with the advice of their layer. */
static bool collect(const struct pw_report_run *report, struct wishes *w)
{
    const struct pw_inventory *inventory = report->inventory;
    size_t total = 0;

    for (size_t s = 0; s < inventory->signature_count; s++)
        total += inventory->signatures[s].node_count;
    w->items = pw_calloc(total + 1, sizeof *w->items);
    for (size_t s = 0; w->items && s < inventory->signature_count; s++)
        for (size_t n = 0; n < inventory->signatures[s].node_count; n++)
            w->items[w->count++] =
                (struct wish){.node = inventory->signatures[s].nodes[n], .floats = inventory->signatures[s].floating};
    if (w->count)
        qsort(w->items, w->count, sizeof *w->items, by_node);
    for (size_t i = 0; w->items && i < report->layer_count; i++)
        for (size_t n = 0; n < report->layers[i]->node_count; n++) {
            struct wish *wish = find(w, report->layers[i]->nodes[n]);

            if (wish)
                wish->advice = pw_report_run_advice(report->layers[i]);
        }
    return w->items != NULL;
}

/* May a rule for `advice` speak of this node? */
static bool allows(const struct wishes *w, const struct wish *wish, const char *advice)
{
    return wish->advice ? !strcmp(wish->advice, advice) : !wish->floats || !w->some;
}

/* The text of a single-quoted YAML scalar; names with control characters or a pattern's are left to the person. */
static bool yaml_name(const char *name, size_t length, struct pw_buf *out)
{
    struct pw_buf safe = {0};
    bool same;

    pw_text_display(&safe, name, length, 0, false);
    same = length > 0 && safe.size == length && !memcmp(pw_buf_text(&safe), name, length);
    for (size_t i = 0; i < length; i++)
        same = same && !strchr("*?[\\", name[i]);
    pw_buf_clear(&safe);
    for (size_t i = 0; same && i < length; i++)
        pw_buf_printf(out, "%s%c", name[i] == '\'' ? "'" : "", name[i]);
    return same;
}

static void rule(struct wishes *w, const char *key, const char *value, const char *advice)
{
    if (w->lines++ < RULES_MAX)
        pw_buf_printf(w->out, "  - {%s: %s, storage: %s%s}\n", key, value, advice,
                      strcmp(advice, "float32") ? ", accumulate: float32" : "");
    else
        w->more++;
}

/* ---- by operator ---- */

static void rule_of_op(struct wishes *w, const struct pw_op *op)
{
    const char *advice = NULL;
    size_t nodes = 0;

    for (size_t i = 0; i < w->count && !advice; i++)
        if (w->items[i].node->op && !strcmp(w->items[i].node->op->name, op->name))
            advice = w->items[i].advice;
    for (size_t i = 0; i < w->count && advice; i++) {
        const struct wish *wish = &w->items[i];

        if (!wish->node->op || strcmp(wish->node->op->name, op->name))
            continue;
        if (!allows(w, wish, advice))
            return;
        nodes += wish->advice != NULL;
    }
    if (nodes < 2 || !advice || !strcmp(advice, w->rest))
        return;
    rule(w, "op", op->name, advice);
    for (size_t i = 0; i < w->count; i++)
        w->items[i].said |= w->items[i].node->op && !strcmp(w->items[i].node->op->name, op->name);
}

static void rules_of_ops(const struct pw_report_run *report, struct wishes *w)
{
    const struct pw_inventory *inventory = report->inventory;

    for (size_t s = 0; s < inventory->signature_count; s++) {
        const struct pw_op *op = inventory->signatures[s].op;
        bool seen = !op;

        for (size_t k = 0; k < s && !seen; k++)
            seen = inventory->signatures[k].op && !strcmp(inventory->signatures[k].op->name, op->name);
        if (!seen)
            rule_of_op(w, op);
    }
}

/* ---- by the beginning of names ---- */

static bool begins(const struct pw_node *node, const char *name, size_t length)
{
    return node->name && !strncmp(node->name, name, length);
}

/* "prefix*", where every node of such a name may be in that dtype and more than one is. */
static bool rule_of_prefix(struct wishes *w, const char *name, size_t length, const char *advice)
{
    struct pw_buf pattern = {0};
    size_t nodes = 0;
    bool fits = true;

    for (size_t i = 0; i < w->count && fits; i++)
        if (begins(w->items[i].node, name, length)) {
            fits = allows(w, &w->items[i], advice);
            nodes += w->items[i].advice && !w->items[i].said;
        }
    pw_buf_putc(&pattern, '\'');
    fits = fits && nodes > 1 && yaml_name(name, length, &pattern);
    pw_buf_puts(&pattern, "*'");
    if (fits) {
        rule(w, "node", pw_buf_text(&pattern), advice);
        for (size_t i = 0; i < w->count; i++)
            w->items[i].said |= begins(w->items[i].node, name, length);
    }
    pw_buf_clear(&pattern);
    return fits;
}

/* Of the parts that a name is made of ("/layers.0/mlp/up/MatMul") the fewest that do. */
static bool rule_of_parts(struct wishes *w, const struct pw_node *node, const char *advice)
{
    for (size_t length = 2; node->name && length < strlen(node->name); length++)
        if (strchr("/.", node->name[length - 1]) && rule_of_prefix(w, node->name, length, advice))
            return true;
    return false;
}

static void rules_of_nodes(struct wishes *w, const struct pw_sweep_layer *layer, const char *advice)
{
    for (size_t n = 0; n < layer->node_count; n++) {
        struct wish *wish = find(w, layer->nodes[n]);
        struct pw_buf name = {0};

        pw_buf_putc(&name, '\'');
        if (wish && !wish->said && !rule_of_parts(w, wish->node, advice) && wish->node->name &&
            yaml_name(wish->node->name, strlen(wish->node->name), &name)) {
            pw_buf_putc(&name, '\'');
            rule(w, "node", pw_buf_text(&name), advice);
            wish->said = true;
        }
        pw_buf_clear(&name);
    }
}

static bool unsaid(const struct wishes *w, const struct pw_sweep_layer *layer)
{
    bool some = false;

    for (size_t n = 0; n < layer->node_count; n++) {
        const struct wish *wish = find(w, layer->nodes[n]);

        some |= wish && !wish->said;
    }
    return some;
}

void pw_report_run_rules(const struct pw_report_run *report, const struct pw_sweep_layer *const *ranked,
                         struct pw_buf *out)
{
    struct pw_buf rules = {0};
    struct wishes w = {.some = report->some_layers, .rest = report->some_layers ? "float32" : "float16", .out = &rules};

    if (collect(report, &w)) {
        rules_of_ops(report, &w);
        for (size_t i = 0; i < report->layer_count; i++) {
            const char *advice = pw_report_run_advice(ranked[i]);

            if (!strcmp(advice, w.rest) || !unsaid(&w, ranked[i]))
                continue;
            if (w.lines >= RULES_MAX)
                w.more++; /* a layer is a line, or some */
            else
                rules_of_nodes(&w, ranked[i], advice);
        }
    }
    if (!report->some_layers || w.lines)
        pw_buf_printf(out, "\nas rules of portwright.yaml:\nprecision:\n%s%s",
                      report->some_layers ? "" : "  - {storage: float16, accumulate: float32}\n", pw_buf_text(&rules));
    if (w.more)
        pw_buf_printf(out, "  # and %zu others or more: see --format json\n", w.more);
    pw_buf_clear(&rules);
    pw_free(w.items);
}
