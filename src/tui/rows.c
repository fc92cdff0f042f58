/* What the inventory lists: signatures that the query lets through, in order, under heads, with their nodes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "baseline/triage.h"
#include "tui/tui.h"

/* ---- order ---- */

static double column_number(const struct pw_tui *tui, size_t i)
{
    const struct pw_signature *s = &tui->inventory->signatures[i];
    const struct pw_tui_row *row = &tui->at->signatures[i];
    double value = NAN;

    switch (tui->sort) {
    case PW_COLUMN_NODES:
        value = (double)s->node_count;
        break;
    case PW_COLUMN_SHARE:
        value = s->share;
        break;
    case PW_COLUMN_SENSITIVITY:
        value = (double)s->sensitivity;
        break;
    case PW_COLUMN_DYNAMIC:
        value = s->dynamic + s->data_dependent;
        break;
    case PW_COLUMN_ERROR:
        value = row->ratio;
        break;
    case PW_COLUMN_RATIO:
        value = row->target_ns ? (double)row->reference_ns / (double)row->target_ns : NAN;
        break;
    case PW_COLUMN_PRIORITY:
        value = pw_tui_priority(tui, i);
        break;
    default:
        break;
    }
    return isnan(value) ? -1 : value; /* unknown sorts below all */
}

static const char *column_text(const struct pw_tui *tui, size_t i)
{
    const struct pw_signature *s = &tui->inventory->signatures[i];
    pw_style style;

    switch (tui->sort) {
    case PW_COLUMN_OPERATOR:
        return s->op_label;
    case PW_COLUMN_SHAPES:
        return s->shapes;
    case PW_COLUMN_CATEGORY:
        return pw_category_name(s->category);
    case PW_COLUMN_COVERAGE:
        return pw_tui_coverage(tui, i);
    case PW_COLUMN_VERDICT:
        return pw_tui_verdict(tui, i, &style);
    case PW_COLUMN_STATUS:
        return pw_tui_decision(tui, i) ? pw_triage_status_name(pw_tui_decision(tui, i)->status) : "~"; /* at the end */
    default:
        return "";
    }
}

static int compare_rows(const void *left, const void *right, void *user)
{
    const struct pw_tui *tui = user;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    double x = tui->keys[a], y = tui->keys[b];
    int order = x != y ? (x > y) - (x < y) : strcmp(column_text(tui, a), column_text(tui, b));

    if (tui->descending)
        order = -order;
    return order ? order : (a > b) - (a < b);
}

void pw_tui_sort_by(struct pw_tui *tui, pw_column column)
{
    tui->sort = column;
    /* texts read from A, numbers from the largest */
    tui->descending = column != PW_COLUMN_OPERATOR && column != PW_COLUMN_SHAPES && column != PW_COLUMN_CATEGORY &&
                      column != PW_COLUMN_COVERAGE && column != PW_COLUMN_VERDICT && column != PW_COLUMN_STATUS;
    pw_tui_rows_changed(tui);
}

/* ---- groups ---- */

const char *pw_tui_group_name(pw_group group)
{
    static const char *const names[PW_GROUP_COUNT] = {"none", "category", "operator", "pattern"};

    return names[group];
}

static const char *name_in_group(const struct pw_tui *tui, pw_group group, size_t i)
{
    const struct pw_signature *s = &tui->inventory->signatures[i];

    if (group == PW_GROUP_CATEGORY)
        return pw_category_name(s->category);
    if (group == PW_GROUP_OPERATOR)
        return s->op_label;
    return s->pattern < 0 ? "in no pattern" : pw_tui_pattern_text(tui, i);
}

pw_status pw_tui_set_group(struct pw_tui *tui, pw_group group, struct pw_error *err)
{
    size_t count = tui->inventory->signature_count, found = 0;
    struct pw_tui_group *groups = NULL;
    struct pw_map map = {0};
    pw_status status = PW_OK;

    if (group != PW_GROUP_NONE)
        groups = pw_calloc(count + 1, sizeof *groups);
    if (group != PW_GROUP_NONE && !groups) {
        status = pw_error_memory(err, count * sizeof *groups);
        goto done;
    }
    for (size_t i = 0; groups && i < count; i++) {
        const char *name = name_in_group(tui, group, i);
        size_t at = found;

        if (!pw_map_find(&map, name, &at)) {
            status = pw_map_put(&map, name, at, err);
            if (status != PW_OK)
                goto done;
            groups[found++].name = name;
        }
        tui->group_of[i] = at;
    }
    pw_free(tui->groups);
    tui->groups = groups;
    tui->group_count = found;
    tui->group = group;
    groups = NULL;
    pw_tui_items_changed(tui);
done:
    pw_map_clear(&map);
    pw_free(groups);
    return status;
}

/* ---- listing ---- */

static bool add_item(struct pw_tui *tui, pw_item_kind kind, size_t signature, size_t index)
{
    if (tui->item_count == tui->item_cap) {
        size_t cap = tui->item_cap ? tui->item_cap * 2 : 256;
        struct pw_tui_item *more = pw_reallocarray(tui->items, cap, sizeof *more);

        if (!more)
            return false; /* the list ends early; the model stays sound */
        tui->items = more;
        tui->item_cap = cap;
    }
    tui->items[tui->item_count++] = (struct pw_tui_item){kind, signature, index};
    return true;
}

static void add_signature(struct pw_tui *tui, size_t signature)
{
    const struct pw_signature *s = &tui->inventory->signatures[signature];

    if (!add_item(tui, PW_ITEM_SIGNATURE, signature, 0) || !tui->at->signatures[signature].unfolded)
        return;
    for (size_t n = 0; n < s->node_count; n++)
        if (!add_item(tui, PW_ITEM_NODE, signature, n))
            return;
}

static void count_groups(struct pw_tui *tui)
{
    for (size_t g = 0; g < tui->group_count; g++) {
        struct pw_tui_group *group = &tui->groups[g];

        group->signatures = group->nodes = group->problems = 0;
        group->share = 0;
    }
    for (size_t i = 0; i < tui->visible_count; i++) {
        const struct pw_signature *s = &tui->inventory->signatures[tui->visible[i]];
        struct pw_tui_group *group = &tui->groups[tui->group_of[tui->visible[i]]];

        group->signatures++;
        group->nodes += s->node_count;
        group->problems += pw_tui_problem(tui, tui->visible[i]);
        if (!isnan(s->share))
            group->share += s->share;
    }
}

/* Groups in the order of their first signature; each with its signatures in their order. */
static void list_groups(struct pw_tui *tui)
{
    size_t *next = pw_calloc(tui->visible_count + 1, sizeof *next); /* the next one of the same group */
    size_t *first = pw_calloc(tui->group_count + 1, sizeof *first), *last = NULL;

    last = pw_calloc(tui->group_count + 1, sizeof *last);
    count_groups(tui);
    for (size_t i = 0; next && first && last && i < tui->visible_count; i++) {
        size_t g = tui->group_of[tui->visible[i]];

        if (first[g])
            next[last[g] - 1] = i + 1;
        else
            first[g] = i + 1;
        last[g] = i + 1;
    }
    for (size_t i = 0; next && first && last && i < tui->visible_count; i++) {
        size_t g = tui->group_of[tui->visible[i]];

        if (first[g] != i + 1 || !add_item(tui, PW_ITEM_GROUP, SIZE_MAX, g))
            continue;
        for (size_t at = i + 1; at && !tui->groups[g].folded; at = next[at - 1])
            add_signature(tui, tui->visible[at - 1]);
    }
    pw_free(next);
    pw_free(first);
    pw_free(last);
}

void pw_tui_items_changed(struct pw_tui *tui)
{
    struct pw_tui_item held = {PW_ITEM_SIGNATURE, SIZE_MAX, SIZE_MAX};
    size_t at = tui->cursor, same_signature = SIZE_MAX;

    if (tui->item_count)
        held = tui->items[tui->cursor];
    tui->item_count = 0;
    if (tui->group == PW_GROUP_NONE)
        for (size_t i = 0; i < tui->visible_count; i++)
            add_signature(tui, tui->visible[i]);
    else
        list_groups(tui);
    if (!tui->placed) {
        tui->cursor = 0;
        return;
    }
    for (size_t i = 0; i < tui->item_count; i++) {
        const struct pw_tui_item *item = &tui->items[i];

        if (held.kind == item->kind && held.signature == item->signature && held.index == item->index) {
            tui->cursor = i;
            return;
        }
        if (item->kind == PW_ITEM_SIGNATURE && item->signature == held.signature && held.signature != SIZE_MAX)
            same_signature = i;
    }
    tui->cursor = same_signature != SIZE_MAX ? same_signature
                  : at < tui->item_count     ? at
                  : tui->item_count          ? tui->item_count - 1
                                             : 0;
}

void pw_tui_rows_changed(struct pw_tui *tui)
{
    tui->visible_count = 0;
    for (size_t i = 0; i < tui->inventory->signature_count; i++)
        if (pw_query_match(&tui->query, tui, i)) {
            tui->keys[i] = column_number(tui, i);
            tui->visible[tui->visible_count++] = i;
        }
    qsort_r(tui->visible, tui->visible_count, sizeof *tui->visible, compare_rows, tui);
    pw_tui_items_changed(tui);
}

size_t pw_tui_current(const struct pw_tui *tui)
{
    return tui->item_count ? tui->items[tui->cursor].signature : SIZE_MAX;
}

void pw_tui_set_filter(struct pw_tui *tui, const char *text)
{
    if (text != tui->filter)
        memmove(tui->filter, text, strnlen(text, sizeof tui->filter - 1) + 1);
    tui->filter[sizeof tui->filter - 1] = '\0';
    pw_query_parse(&tui->query, tui->filter);
    pw_tui_rows_changed(tui);
}
