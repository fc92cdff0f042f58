/* The model's life, the filter, the order of rows, and what is derived from a signature's state. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "tui/tui.h"

pw_status pw_tui_create(const struct pw_inventory *inventory, const char *model_path, const char *target,
                        struct pw_tui **out, struct pw_error *err)
{
    struct pw_tui *tui = pw_calloc(1, sizeof *tui);
    size_t count = inventory->signature_count;

    if (!tui)
        return pw_error_memory(err, sizeof *tui);
    tui->signatures = pw_calloc(count + 1, sizeof *tui->signatures);
    tui->visible = pw_calloc(count + 1, sizeof *tui->visible);
    tui->selection = pw_calloc(count + 1, sizeof *tui->selection);
    if (!tui->signatures || !tui->visible || !tui->selection) {
        pw_tui_destroy(tui);
        return pw_error_memory(err, count * sizeof *tui->signatures);
    }
    tui->inventory = inventory;
    tui->model_path = model_path;
    tui->target = target;
    tui->rows = 24;
    tui->columns = 80;
    tui->sort = PW_COLUMN_PRIORITY;
    tui->descending = true;
    snprintf(tui->device, sizeof tui->device, "opening %s", target);
    for (size_t i = 0; i < count; i++)
        tui->signatures[i].worst_error = tui->signatures[i].ratio = NAN;
    pw_tui_rows_changed(tui);
    *out = tui;
    return PW_OK;
}

void pw_tui_destroy(struct pw_tui *tui)
{
    if (!tui)
        return;
    pw_free(tui->signatures);
    pw_free(tui->visible);
    pw_free(tui->selection);
    pw_free(tui);
}

void pw_tui_resize(struct pw_tui *tui, int rows, int columns)
{
    tui->rows = rows < 1 ? 1 : rows;
    tui->columns = columns < 1 ? 1 : columns;
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
    message->failed = failed;
    snprintf(tui->flash, sizeof tui->flash, "%.250s", message->text);
    tui->flash_failed = failed;
}

/* ---- derived ---- */

const struct pw_impl_list *pw_tui_impls(const struct pw_tui *tui, size_t signature)
{
    return tui->coverage_ready && tui->implementations ? tui->implementations(tui->user, signature) : NULL;
}

const char *pw_tui_coverage(const struct pw_tui *tui, size_t signature)
{
    const struct pw_impl_list *impls = pw_tui_impls(tui, signature);

    return impls ? pw_coverage_name(impls->coverage) : "?";
}

const char *pw_tui_verdict(const struct pw_tui *tui, size_t signature, pw_style *style)
{
    const struct pw_tui_row *row = &tui->signatures[signature];
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

/* What is uncovered or failing, weighted by its share of the work and by how delicate it is. */
double pw_tui_priority(const struct pw_tui *tui, size_t signature)
{
    const struct pw_signature *s = &tui->inventory->signatures[signature];
    const struct pw_tui_row *row = &tui->signatures[signature];
    const struct pw_impl_list *impls = pw_tui_impls(tui, signature);
    double share = isnan(s->share) ? 0 : s->share;
    double weight = 0.4 + 0.4 * sqrt(share) + 0.1 * (double)s->sensitivity;
    double urgency = 0.15; /* nothing known against it */

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
    static const char *const names[PW_COLUMN_COUNT] = {"operator", "n",   "shapes", "category", "flops",   "covered",
                                                       "sens",     "dyn", "error",  "ref/tgt",  "verdict", "todo"};

    return names[column];
}

/* ---- filter: words that must all hold; key:value or plain text ---- */

static bool contains(const char *text, const char *part, size_t length)
{
    for (; *text; text++)
        if (!strncasecmp(text, part, length))
            return true;
    return length == 0;
}

static bool match_flops(const struct pw_signature *s, const char *text)
{
    double limit = strtod(text + 1, NULL) / 100;

    return !isnan(s->share) && (text[0] == '>' ? s->share > limit : s->share < limit);
}

static bool match_word(const struct pw_tui *tui, size_t signature, const char *word, size_t length)
{
    static const char *const sensitivities[] = {"low", "medium", "high"};
    const struct pw_signature *s = &tui->inventory->signatures[signature];
    const char *colon = memchr(word, ':', length);
    const char *value = colon ? colon + 1 : word;
    size_t rest = colon ? length - (size_t)(value - word) : length;
    pw_style style;

    if (length > 6 && !strncasecmp(word, "flops", 5) && (word[5] == '>' || word[5] == '<'))
        return match_flops(s, word + 5);
    if (!colon)
        return contains(s->text, word, length) || contains(pw_category_name(s->category), word, length);
    if (!strncasecmp(word, "cov:", 4))
        return contains(pw_tui_coverage(tui, signature), value, rest);
    if (!strncasecmp(word, "sens:", 5))
        return contains(sensitivities[s->sensitivity], value, rest);
    if (!strncasecmp(word, "op:", 3))
        return contains(s->op_label, value, rest);
    if (!strncasecmp(word, "cat:", 4))
        return contains(pw_category_name(s->category), value, rest);
    if (!strncasecmp(word, "dyn:", 4))
        return s->dynamic == (rest && (*value == 'y' || *value == '1'));
    if (!strncasecmp(word, "status:", 7))
        return contains(pw_tui_verdict(tui, signature, &style), value, rest);
    if (!strncasecmp(word, "node:", 5)) {
        for (size_t i = 0; i < s->node_count; i++)
            if (contains(s->nodes[i]->name, value, rest))
                return true;
        return false;
    }
    return contains(s->text, word, length);
}

bool pw_tui_filter_match(const struct pw_tui *tui, size_t signature)
{
    for (const char *p = tui->filter; *p;) {
        size_t length = strcspn(p, " ");

        if (length && !match_word(tui, signature, p, length))
            return false;
        p += length;
        p += strspn(p, " ");
    }
    return true;
}

/* ---- order ---- */

static double column_number(const struct pw_tui *tui, size_t i)
{
    const struct pw_signature *s = &tui->inventory->signatures[i];
    const struct pw_tui_row *row = &tui->signatures[i];
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

static int compare_text(const struct pw_tui *tui, size_t a, size_t b)
{
    const struct pw_signature *x = &tui->inventory->signatures[a], *y = &tui->inventory->signatures[b];
    pw_style style;

    switch (tui->sort) {
    case PW_COLUMN_OPERATOR:
        return strcmp(x->op_label, y->op_label);
    case PW_COLUMN_SHAPES:
        return strcmp(x->shapes, y->shapes);
    case PW_COLUMN_CATEGORY:
        return strcmp(pw_category_name(x->category), pw_category_name(y->category));
    case PW_COLUMN_COVERAGE:
        return strcmp(pw_tui_coverage(tui, a), pw_tui_coverage(tui, b));
    case PW_COLUMN_VERDICT:
        return strcmp(pw_tui_verdict(tui, a, &style), pw_tui_verdict(tui, b, &style));
    default:
        return 0;
    }
}

int pw_tui_compare(const struct pw_tui *tui, size_t a, size_t b)
{
    double x = column_number(tui, a), y = column_number(tui, b);
    int order = x != y ? (x > y) - (x < y) : compare_text(tui, a, b);

    if (tui->descending)
        order = -order;
    return order ? order : (a > b) - (a < b);
}

static int compare_rows(const void *a, const void *b, void *user)
{
    return pw_tui_compare(user, *(const size_t *)a, *(const size_t *)b);
}

void pw_tui_rows_changed(struct pw_tui *tui)
{
    size_t held = tui->visible_count ? tui->visible[tui->cursor] : SIZE_MAX;

    tui->visible_count = 0;
    for (size_t i = 0; i < tui->inventory->signature_count; i++)
        if (pw_tui_filter_match(tui, i))
            tui->visible[tui->visible_count++] = i;
    qsort_r(tui->visible, tui->visible_count, sizeof *tui->visible, compare_rows, tui);
    for (size_t i = 0; i < tui->visible_count; i++)
        if (tui->visible[i] == held)
            tui->cursor = i;
    if (tui->cursor >= tui->visible_count)
        tui->cursor = tui->visible_count ? tui->visible_count - 1 : 0;
}
