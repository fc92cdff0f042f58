/* The model's life, the filter, the order of rows, and what is derived from a signature's state. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "baseline/triage.h"
#include "tui/tui.h"

/* What is listed before the model has been read. */
static const struct pw_inventory nothing_yet;

/* Room for what is kept of each signature; there is none so far. */
static bool make_room(struct pw_tui *tui, size_t count)
{
    bool whole;

    tui->visible = pw_calloc(count + 1, sizeof *tui->visible);
    tui->selection = pw_calloc(count + 1, sizeof *tui->selection);
    tui->keys = pw_calloc(count + 1, sizeof *tui->keys);
    tui->group_of = pw_calloc(count + 1, sizeof *tui->group_of);
    whole = tui->visible && tui->selection && tui->keys && tui->group_of;
    for (size_t k = 0; whole && k < tui->side_count; k++) {
        struct pw_tui_side *side = &tui->sides[k];

        side->signatures = pw_calloc(count + 1, sizeof *side->signatures);
        for (size_t i = 0; side->signatures && i < count; i++)
            side->signatures[i].worst_error = side->signatures[i].ratio = NAN;
        whole = side->signatures != NULL;
    }
    return whole;
}

static void free_room(struct pw_tui *tui)
{
    for (size_t k = 0; k < tui->side_count; k++) {
        pw_free(tui->sides[k].signatures);
        tui->sides[k].signatures = NULL;
    }
    pw_free(tui->visible);
    pw_free(tui->selection);
    pw_free(tui->keys);
    pw_free(tui->group_of);
    tui->visible = tui->selection = tui->group_of = NULL;
    tui->keys = NULL;
}

pw_status pw_tui_take_inventory(struct pw_tui *tui, const struct pw_inventory *inventory, struct pw_error *err)
{
    free_room(tui);
    if (tui->names)
        pw_query_names_clear(tui->names);
    tui->visible_count = tui->item_count = 0;
    if (!make_room(tui, inventory->signature_count)) {
        tui->inventory = &nothing_yet;
        return pw_error_memory(err, inventory->signature_count * sizeof *tui->sides->signatures);
    }
    tui->inventory = inventory;
    tui->reading = false;
    pw_tui_rows_changed(tui);
    return pw_tui_set_group(tui, tui->group, err);
}

pw_status pw_tui_create(const struct pw_inventory *inventory, const char *model_path, const char *const *targets,
                        size_t target_count, struct pw_tui **out, struct pw_error *err)
{
    struct pw_tui *tui = pw_calloc(1, sizeof *tui);

    if (!tui)
        return pw_error_memory(err, sizeof *tui);
    tui->inventory = inventory ? inventory : &nothing_yet;
    tui->reading = !inventory;
    tui->model_path = model_path;
    tui->sides = pw_calloc(target_count, sizeof *tui->sides);
    tui->side_count = tui->sides ? target_count : 0;
    for (size_t k = 0; k < tui->side_count; k++) {
        tui->sides[k].target = targets[k];
        tui->sides[k].endtoend.focus = SIZE_MAX;
        snprintf(tui->sides[k].device, sizeof tui->sides[k].device, "opening %s", targets[k]);
    }
    if (!tui->sides || !make_room(tui, tui->inventory->signature_count)) {
        pw_tui_destroy(tui);
        return pw_error_memory(err, target_count * sizeof *tui->sides);
    }
    tui->names = pw_calloc(1, sizeof *tui->names); /* without it they are looked at again */
    tui->at = tui->sides;
    tui->rows = 24;
    tui->columns = 80;
    tui->sort = PW_COLUMN_PRIORITY;
    tui->descending = true;
    tui->completion = -1;
    for (int screen = 0; screen < PW_SCREEN_COUNT; screen++)
        tui->found[screen] = -1;
    pw_tui_views_init(tui);
    pw_tui_rows_changed(tui);
    *out = tui;
    return PW_OK;
}

static void clear_side(struct pw_tui_side *side, size_t count)
{
    for (size_t i = 0; side->signatures && i < count; i++) {
        pw_tui_cases_clear(&side->signatures[i]);
        pw_free(side->signatures[i].cases);
        pw_free(side->signatures[i].bench);
    }
    pw_tui_endtoend_clear(&side->endtoend);
    pw_free(side->endtoend.only);
    pw_tui_trends_clear(side);
    pw_tui_builds_clear(side);
    pw_free(side->environment);
    pw_free(side->baselines);
}

void pw_tui_destroy(struct pw_tui *tui)
{
    if (!tui)
        return;
    for (size_t k = 0; k < tui->side_count; k++)
        clear_side(&tui->sides[k], tui->inventory->signature_count);
    free_room(tui);
    if (tui->names)
        pw_query_names_clear(tui->names);
    pw_free(tui->names);
    pw_free(tui->sides);
    pw_free(tui->arguments);
    pw_free(tui->given_arguments);
    pw_free(tui->decisions);
    pw_free(tui->triage);
    pw_free(tui->groups);
    pw_free(tui->items);
    pw_free(tui->entries);
    pw_lines_clear(&tui->text);
    pw_free(tui);
}

void pw_tui_switch(struct pw_tui *tui, size_t side)
{
    struct pw_tui_side *from = tui->at;

    tui->at = &tui->sides[side];
    for (size_t i = 0; i < tui->inventory->signature_count; i++) {
        tui->at->signatures[i].marked = from->signatures[i].marked;
        tui->at->signatures[i].unfolded = from->signatures[i].unfolded;
    }
    pw_tui_rows_changed(tui);
}

void pw_tui_resize(struct pw_tui *tui, int rows, int columns)
{
    rows = rows < 1 ? 1 : rows;
    columns = columns < 1 ? 1 : columns;
    if (columns != tui->columns) { /* lines are others where texts wrap elsewhere */
        tui->chosen = -1;
        memset(tui->found, -1, sizeof tui->found);
    }
    pw_tui_list_resize(tui, rows, columns);
}

int pw_tui_body_rows(const struct pw_tui *tui)
{
    int rows = tui->rows - 2; /* title and footer */

    return rows > 0 ? rows : 0;
}

void pw_tui_say(struct pw_tui *tui, bool failed, const char *format, ...)
{
    struct pw_tui_message *message;
    va_list args;

    if (tui->message_count == PW_TUI_MESSAGES) {
        memmove(tui->messages, tui->messages + 1, (PW_TUI_MESSAGES - 1) * sizeof *tui->messages);
        tui->message_count--;
    }
    message = &tui->messages[tui->message_count++];
    va_start(args, format);
    vsnprintf(message->text, sizeof message->text, format, args);
    va_end(args);
    message->text[pw_text_cut(message->text, sizeof message->text - 1)] = '\0';
    message->failed = failed;
    snprintf(tui->flash, sizeof tui->flash, "%.*s", (int)pw_text_cut(message->text, sizeof tui->flash - 1),
             message->text);
    tui->flash_failed = failed;
}

/* ---- derived ---- */

const struct pw_impl_list *pw_tui_impls(const struct pw_tui *tui, size_t signature)
{
    return tui->at->coverage_ready && tui->at->implementations ? tui->at->implementations(tui->at->user, signature)
                                                               : NULL;
}

const char *pw_tui_coverage(const struct pw_tui *tui, size_t signature)
{
    const struct pw_impl_list *impls = pw_tui_impls(tui, signature);

    return impls ? pw_coverage_name(impls->coverage) : "?";
}

const char *pw_tui_verdict(const struct pw_tui *tui, size_t signature, pw_style *style)
{
    const struct pw_tui_row *row = &tui->at->signatures[signature];
    const struct pw_impl_list *impls = pw_tui_impls(tui, signature);

    *style = PW_STYLE_DIM;
    if (row->running)
        return "running";
    if (row->measured && row->host) {
        *style = row->gate_failed ? PW_STYLE_BAD : PW_STYLE_DIM;
        return row->gate_failed ? "off target" : "host";
    }
    if (row->measured) {
        *style = !strcmp(row->standing, "held")     ? (row->ratio > 0.5 ? PW_STYLE_WARN : PW_STYLE_GOOD)
                 : !strcmp(row->standing, "failed") ? PW_STYLE_BAD
                                                    : PW_STYLE_WARN;
        return row->standing;
    }
    if (impls && impls->coverage == PW_COVERAGE_MISSING) {
        *style = PW_STYLE_BAD;
        return "missing";
    }
    return "-";
}

bool pw_tui_outdated(const struct pw_tui *tui, size_t signature)
{
    const struct pw_tui_row *row = &tui->at->signatures[signature];
    const struct pw_impl_list *impls = pw_tui_impls(tui, signature);
    const struct pw_impl *now = impls && impls->selected >= 0 ? &impls->items[impls->selected] : NULL;
    char hash[PW_HASH_TEXT];

    if (!row->measured || !now || !row->implementation[0])
        return false;
    if (strncmp(now->name, row->implementation, sizeof row->implementation - 1) != 0)
        return true;
    return now->kernel && row->kernel_hash[0] &&
           strcmp(pw_hash_text(pw_kernel_hash(now->kernel), hash), row->kernel_hash) != 0;
}

/* What is uncovered or failing, weighted by its share of the work and by how delicate it is. */
double pw_tui_priority(const struct pw_tui *tui, size_t signature)
{
    const struct pw_signature *s = &tui->inventory->signatures[signature];
    const struct pw_tui_row *row = &tui->at->signatures[signature];
    const struct pw_impl_list *impls = pw_tui_impls(tui, signature);
    double share = isnan(s->share) ? 0 : s->share;
    double weight = 0.4 + 0.4 * sqrt(share) + 0.1 * (double)s->sensitivity;
    double urgency = 0.15; /* nothing known against it */
    const struct pw_triage_entry *decided = pw_tui_decision(tui, signature);

    if (decided && decided->priority)
        return decided->priority;
    if (s->shape_arithmetic || (row->measured && row->host && !row->gate_failed))
        return 0;
    if (!s->op || (impls && impls->coverage == PW_COVERAGE_MISSING) || (row->measured && row->gate_failed))
        urgency = 1;
    else if (impls && impls->kernel_required)
        urgency = 0.9;
    else if (row->measured && !strcmp(row->standing, "held"))
        urgency = 0.05 + (row->ratio > 0.5 ? 0.2 : 0);
    else if (!row->measured)
        urgency = 0.3;
    return 100 * urgency * (weight > 1 ? 1 : weight);
}

const char *pw_tui_column_name(pw_column column)
{
    static const char *const names[PW_COLUMN_COUNT] = {"operator", "n",      "shapes", "category", "flops",
                                                       "covered",  "sens",   "dyn",    "error",    "ref/tgt",
                                                       "verdict",  "status", "todo"};

    return names[column];
}

bool pw_tui_problem(const struct pw_tui *tui, size_t signature)
{
    const struct pw_impl_list *impls = pw_tui_impls(tui, signature);

    return tui->at->signatures[signature].gate_failed || !tui->inventory->signatures[signature].op ||
           (impls && (impls->coverage == PW_COVERAGE_MISSING || impls->kernel_required));
}

const char *pw_tui_pattern_text(const struct pw_tui *tui, size_t signature)
{
    int pattern = tui->inventory->signatures[signature].pattern;

    return pattern < 0 ? "" : pw_pattern_name(tui->inventory->patterns[pattern].kind);
}

pw_maturity pw_tui_maturity(const struct pw_tui *tui)
{
    const struct pw_tui_endtoend *run = &tui->at->endtoend;
    struct pw_maturity_evidence evidence[PW_MATURITY_EVIDENCE];
    struct pw_maturity_facts facts = {.soak_seconds = NAN, .signatures = tui->inventory->signature_count};
    size_t count;

    for (size_t i = 0; i < facts.signatures; i++) {
        const struct pw_tui_row *row = &tui->at->signatures[i];
        bool held = row->measured && !strcmp(row->standing, "held"), waived = pw_tui_waived(tui, i);

        if (tui->inventory->signatures[i].shape_arithmetic || (row->measured && row->host && !row->gate_failed))
            facts.host++;
        else if (held)
            facts.held++;
        else if (waived)
            facts.waived++;
        else if (row->measured && row->gate_failed)
            facts.failed++;
        else
            facts.unproven++;
    }
    facts.ran_end_to_end = run->finished && run->mode != PW_ENDTOEND_SWEEP;
    facts.end_to_end_held = facts.ran_end_to_end && run->totals.held;
    return pw_maturity_judge(&facts, evidence, &count);
}
