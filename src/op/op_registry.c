/* Lookup of operator definitions: one table of all rooms' entries, sorted on first use. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op/op.h"

static const char *const category_names[PW_CATEGORY_COUNT] = {
    [PW_CATEGORY_MATMUL] = "matrix multiplication",
    [PW_CATEGORY_ATTENTION] = "attention",
    [PW_CATEGORY_NORMALIZATION] = "normalization",
    [PW_CATEGORY_ACTIVATION] = "activation",
    [PW_CATEGORY_EMBEDDING] = "embedding",
    [PW_CATEGORY_CONVOLUTION] = "convolution",
    [PW_CATEGORY_RECURRENT] = "recurrent",
    [PW_CATEGORY_REDUCTION] = "reduction",
    [PW_CATEGORY_LAYOUT] = "layout",
    [PW_CATEGORY_ELEMENTWISE] = "elementwise",
    [PW_CATEGORY_QUANTIZATION] = "quantization",
    [PW_CATEGORY_CONTROL] = "control flow",
    [PW_CATEGORY_COLLECTIVE] = "collective",
    [PW_CATEGORY_OTHER] = "other",
};

static pthread_once_t table_once = PTHREAD_ONCE_INIT;
static const struct pw_op **table; /* by domain, name, since; NULL when memory was short */
static size_t table_count;

const char *pw_sensitivity_name(pw_sensitivity sensitivity)
{
    static const char *const names[] = {"low", "medium", "high"};

    return names[sensitivity];
}

const char *pw_category_name(pw_category category)
{
    return (int)category >= 0 && (int)category < PW_CATEGORY_COUNT ? category_names[category] : "other";
}

static int compare_name(const struct pw_op *op, const char *domain, const char *name)
{
    int order = strcmp(op->name, name);

    return order != 0 ? order : strcmp(op->domain, domain);
}

static int compare_ops(const void *a, const void *b)
{
    const struct pw_op *x = *(const struct pw_op *const *)a, *y = *(const struct pw_op *const *)b;
    int order = compare_name(x, y->domain, y->name);

    return order != 0 ? order : (x->since > y->since) - (x->since < y->since);
}

static void build_table(void)
{
    size_t count = 0;

    for (const struct pw_room *room = pw_rooms; room->name != NULL; room++) {
        for (const struct pw_op *op = room->ops; op->name != NULL; op++)
            count++;
    }
    table = pw_calloc(count, sizeof *table);
    if (table == NULL)
        return;
    for (const struct pw_room *room = pw_rooms; room->name != NULL; room++) {
        for (const struct pw_op *op = room->ops; op->name != NULL; op++)
            table[table_count++] = op;
    }
    qsort(table, table_count, sizeof *table, compare_ops);
}

/* Keeps the better of two candidates: the latest that is not above the opset. */
static void consider(const struct pw_op *op, int opset, const struct pw_op **best, bool *known)
{
    *known = true;
    if (op->since <= opset && (*best == NULL || op->since > (*best)->since))
        *best = op;
}

const struct pw_op *pw_op_find(const char *domain, const char *name, int opset, bool *known_name)
{
    const struct pw_op *best = NULL;
    bool known = false;
    size_t low = 0, high;

    if (strcmp(domain, "ai.onnx") == 0)
        domain = "";
    pthread_once(&table_once, build_table);
    high = table_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_name(table[middle], domain, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < table_count && compare_name(table[low], domain, name) == 0; low++)
        consider(table[low], opset, &best, &known);
    for (const struct pw_room *room = table == NULL ? pw_rooms : NULL; room != NULL && room->name != NULL; room++) {
        for (const struct pw_op *op = room->ops; op->name != NULL; op++) {
            if (compare_name(op, domain, name) == 0)
                consider(op, opset, &best, &known);
        }
    }
    if (known_name != NULL)
        *known_name = known;
    return best;
}

int pw_op_newest(void)
{
    int newest = 0;

    for (const struct pw_room *room = pw_rooms; room->name != NULL; room++) {
        for (const struct pw_op *op = room->ops; op->name != NULL; op++) {
            if (op->domain[0] == '\0' && op->since > newest)
                newest = op->since;
        }
    }
    return newest;
}

const char *pw_op_label(const struct pw_op *op, char *dst, size_t dst_size)
{
    snprintf(dst, dst_size, "%s%s%s-%d", op->domain, op->domain[0] != '\0' ? ":" : "", op->name, op->since);
    return dst;
}

const struct pw_room *pw_op_room(const struct pw_op *op)
{
    for (const struct pw_room *room = pw_rooms; room->name != NULL; room++) {
        for (const struct pw_op *at = room->ops; at->name != NULL; at++) {
            if (at == op)
                return room;
        }
    }
    return NULL;
}
