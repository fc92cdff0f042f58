#include "tui/query.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "baseline/triage.h"
#include "tui/tui.h"

/* What a key compares: texts (one of which must contain the value) or a number. */
typedef bool text_match(const struct pw_tui *tui, size_t signature, const char *value);
typedef double number_of(const struct pw_tui *tui, size_t signature);

static bool contains(const char *text, const char *part)
{
    return pw_text_find(text ? text : "", part) != NULL;
}

/* The word while it is being typed, too. */
static bool begins(const char *word, const char *typed)
{
    return !strncasecmp(word, typed, strlen(typed));
}

static const struct pw_signature *signature_of(const struct pw_tui *tui, size_t i)
{
    return &tui->inventory->signatures[i];
}

static bool match_plain(const struct pw_tui *tui, size_t i, const char *value)
{
    return contains(signature_of(tui, i)->text, value) ||
           contains(pw_category_name(signature_of(tui, i)->category), value) ||
           contains(pw_tui_pattern_text(tui, i), value);
}
static bool match_op(const struct pw_tui *tui, size_t i, const char *value)
{
    return contains(signature_of(tui, i)->op_label, value);
}
static bool match_category(const struct pw_tui *tui, size_t i, const char *value)
{
    return contains(pw_category_name(signature_of(tui, i)->category), value);
}
static bool match_coverage(const struct pw_tui *tui, size_t i, const char *value)
{
    return contains(pw_tui_coverage(tui, i), value);
}
static bool match_sensitivity(const struct pw_tui *tui, size_t i, const char *value)
{
    return contains(pw_sensitivity_name(signature_of(tui, i)->sensitivity), value);
}
static bool match_status(const struct pw_tui *tui, size_t i, const char *value)
{
    pw_style style;

    return contains(pw_tui_verdict(tui, i, &style), value);
}
static bool match_dynamic(const struct pw_tui *tui, size_t i, const char *value)
{
    const struct pw_signature *s = signature_of(tui, i);
    bool dynamic = s->dynamic || s->data_dependent;

    return (begins("data", value) && s->data_dependent) || (begins("yes", value) && dynamic) ||
           (begins("no", value) && !dynamic);
}
static bool any_name_holds(const struct pw_signature *s, const char *value)
{
    for (size_t n = 0; n < s->node_count; n++) {
        /* A graph's nodes and names lie apart: fetching them one by one takes longer than comparing them. */
        if (n + 16 < s->node_count)
            __builtin_prefetch(s->nodes[n + 16]);
        if (n + 8 < s->node_count)
            __builtin_prefetch(s->nodes[n + 8]->name);
        if (contains(s->nodes[n]->name, value))
            return true;
    }
    return false;
}

/* What is known of the signatures for a text, by signature; NULL: it is too long, or memory is short. */
static uint8_t *names_for(struct pw_query_names *names, const char *value, size_t signature_count)
{
    size_t at = names->next;

    if (strlen(value) >= sizeof names->kept[0].text)
        return NULL;
    for (size_t i = 0; i < PW_QUERY_NAMES; i++)
        if (names->kept[i].known && !strcmp(names->kept[i].text, value))
            return names->kept[i].known;
    pw_free(names->kept[at].known);
    names->kept[at].known = pw_calloc(signature_count, 1);
    snprintf(names->kept[at].text, sizeof names->kept[at].text, "%s", value);
    names->next = (at + 1) % PW_QUERY_NAMES;
    return names->kept[at].known;
}

void pw_query_names_clear(struct pw_query_names *names)
{
    for (size_t i = 0; i < PW_QUERY_NAMES; i++)
        pw_free(names->kept[i].known);
    *names = (struct pw_query_names){0};
}

static bool match_node(const struct pw_tui *tui, size_t i, const char *value)
{
    uint8_t *known = tui->names ? names_for(tui->names, value, tui->inventory->signature_count) : NULL;
    bool holds;

    if (known && known[i])
        return known[i] == 2;
    holds = any_name_holds(signature_of(tui, i), value);
    if (known)
        known[i] = holds ? 2 : 1;
    return holds;
}
static bool match_pattern(const struct pw_tui *tui, size_t i, const char *value)
{
    return contains(pw_tui_pattern_text(tui, i), value);
}
static bool match_dtype(const struct pw_tui *tui, size_t i, const char *value)
{
    return contains(pw_dtype_name(signature_of(tui, i)->dtype), value);
}
static bool match_work(const struct pw_tui *tui, size_t i, const char *value)
{
    const struct pw_triage_entry *entry = pw_tui_decision(tui, i);

    return !strcasecmp(value, "none") ? !entry || entry->status == PW_TRIAGE_NONE
                                      : entry && contains(pw_triage_status_name(entry->status), value);
}
static bool match_owner(const struct pw_tui *tui, size_t i, const char *value)
{
    const struct pw_triage_entry *entry = pw_tui_decision(tui, i);

    return entry && contains(entry->owner, value);
}
static bool match_note(const struct pw_tui *tui, size_t i, const char *value)
{
    const struct pw_triage_entry *entry = pw_tui_decision(tui, i);

    return entry && (contains(entry->note, value) || contains(entry->waiver.reason, value));
}
static bool match_is(const struct pw_tui *tui, size_t i, const char *value)
{
    return !value[0] || (begins("marked", value) && tui->at->signatures[i].marked) ||
           (begins("problem", value) && pw_tui_problem(tui, i)) || (begins("waived", value) && pw_tui_waived(tui, i)) ||
           (begins("outdated", value) && pw_tui_outdated(tui, i)) ||
           (begins("measured", value) && tui->at->signatures[i].measured);
}

static double number_flops(const struct pw_tui *tui, size_t i)
{
    return 100 * signature_of(tui, i)->share;
}
static double number_nodes(const struct pw_tui *tui, size_t i)
{
    return (double)signature_of(tui, i)->node_count;
}
static double number_error(const struct pw_tui *tui, size_t i)
{
    return tui->at->signatures[i].worst_error;
}
static double number_used(const struct pw_tui *tui, size_t i)
{
    return 100 * tui->at->signatures[i].ratio;
}
static double number_speed(const struct pw_tui *tui, size_t i)
{
    const struct pw_tui_row *row = &tui->at->signatures[i];

    return row->target_ns && row->reference_ns ? (double)row->reference_ns / (double)row->target_ns : NAN;
}
static double number_priority(const struct pw_tui *tui, size_t i)
{
    return pw_tui_priority(tui, i);
}

static const struct {
    const char *name, *help;
    text_match *text;
    number_of *number;
    const char *words; /* all that can be said, separated by blanks; NULL: anything */
} keys[] = {
    {"op", "op:Softmax  the operator's name", match_op, NULL, NULL},
    {"cat", "cat:norm  the category", match_category, NULL, NULL},
    {"cov", "cov:missing,host  library, kernel, generated, host, missing", match_coverage, NULL,
     "library kernel generated host missing"},
    {"sens", "sens:high  low, medium, high", match_sensitivity, NULL, "low medium high"},
    {"status", "status:failed  held, failed, unproven, mistrusted, missing, host, off, -", match_status, NULL,
     "held failed unproven mistrusted missing host off target running -"},
    {"dyn", "dyn:yes  yes, no, data", match_dynamic, NULL, "yes no data"},
    {"node", "node:attn  a node's name", match_node, NULL, NULL},
    {"pattern", "pattern:attention  the pattern it is part of", match_pattern, NULL, NULL},
    {"dtype", "dtype:float16  of the first output", match_dtype, NULL, NULL},
    {"work", "work:doing  open, doing, blocked, review, done, none", match_work, NULL,
     "open doing blocked review done none"},
    {"owner", "owner:ana  who works on it", match_owner, NULL, NULL},
    {"note", "note:driver  in the note or the waiver's reason", match_note, NULL, NULL},
    {"is", "is:problem  marked, problem, measured, waived, outdated (with another kernel than now)", match_is, NULL,
     "marked problem measured waived outdated"},
    {"flops", "flops>1  share of the graph's FLOPs in per cent", NULL, number_flops, NULL},
    {"n", "n>3  nodes that have it", NULL, number_nodes, NULL},
    {"error", "error>1e-6  worst error", NULL, number_error, NULL},
    {"used", "used>50  worst error as a share of its tolerance, in per cent", NULL, number_used, NULL},
    {"speed", "speed<1  reference time over target time", NULL, number_speed, NULL},
    {"todo", "todo>20  priority", NULL, number_priority, NULL},
};
enum { KEY_COUNT = sizeof keys / sizeof *keys };

const char *pw_query_key(size_t n, const char **help)
{
    if (n >= KEY_COUNT)
        return NULL;
    if (help)
        *help = keys[n].help;
    return keys[n].name;
}

/* ---- reading ---- */

static int find_key(const char *word, size_t length)
{
    for (int i = 0; i < KEY_COUNT; i++)
        if (strlen(keys[i].name) == length && !strncasecmp(keys[i].name, word, length))
            return i;
    return -1;
}

static bool read_number(const char *text, double *out)
{
    char digits[64];
    size_t length = strlen(text);

    if (!length || length >= sizeof digits)
        return false;
    memcpy(digits, text, length + 1);
    if (digits[length - 1] == '%')
        digits[length - 1] = '\0';
    return pw_text_double(digits, out);
}

/* Where words are compared from their beginning a part of one from its middle is none of them. */
static bool can_be_said(int key, const char *word)
{
    const char *words = keys[key].words;
    bool whole = keys[key].text == match_is || keys[key].text == match_dynamic;

    if (!words || !whole)
        return !words || contains(words, word);
    for (; *words; words += strcspn(words, " "), words += strspn(words, " "))
        if (begins(words, word))
            return true;
    return false;
}

/* `word` lies in query->text and may be changed. */
static void read_term(struct pw_query *query, char *word)
{
    struct pw_query_term *term = &query->terms[query->count];
    size_t name;

    *term = (struct pw_query_term){.key = -1, .relation = ':'};
    if (*word == '-' && word[1]) {
        term->negate = true;
        word++;
    }
    name = strcspn(word, ":<>");
    if (word[name])
        term->key = find_key(word, name);
    if (term->key >= 0) {
        char relation = word[name];
        char *value = word + name + 1;

        if (relation != ':' && *value == '=') {
            relation = relation == '<' ? 'l' : 'g';
            value++;
        }
        term->relation = relation;
        word = value;
        if (relation == ':' ? !keys[term->key].text : !keys[term->key].number) {
            snprintf(query->problem, sizeof query->problem, "write %s", keys[term->key].help);
            term->relation = '?';
        } else if (relation != ':' && !read_number(value, &term->number)) {
            snprintf(query->problem, sizeof query->problem, "'%.40s' is no number; write %s", value,
                     keys[term->key].help);
            term->relation = '?';
        }
    }
    term->values = word;
    term->value_count = 1;
    if (term->key >= 0)
        for (; *word; word++)
            if (*word == ',') {
                *word = '\0';
                term->value_count++;
            }
    word = (char *)(uintptr_t)term->values;
    for (int i = 0; term->key >= 0 && term->relation == ':' && i < term->value_count; i++, word += strlen(word) + 1)
        if (!can_be_said(term->key, word))
            snprintf(query->problem, sizeof query->problem, "'%.40s' is none of them; write %s", word,
                     keys[term->key].help);
    query->count++;
}

void pw_query_parse(struct pw_query *query, const char *text)
{
    char *out = query->text, *end = query->text + sizeof query->text - 1;

    query->count = 0;
    query->problem[0] = '\0';
    while (*text) {
        char *word = out;
        bool quoted = false;

        while (*text == ' ')
            text++;
        for (; *text && (quoted || *text != ' ') && out < end; text++) {
            if (*text == '"')
                quoted = !quoted;
            else
                *out++ = *text;
        }
        if (out == end)
            break;
        *out++ = '\0';
        if (!*word)
            continue;
        if (query->count == PW_QUERY_TERMS) {
            snprintf(query->problem, sizeof query->problem, "more than %d words: '%.40s' and what follows is ignored",
                     PW_QUERY_TERMS, word);
            return;
        }
        read_term(query, word);
    }
}

/* ---- matching ---- */

static bool match_number(const struct pw_query_term *term, double value)
{
    switch (term->relation) {
    case '<':
        return value < term->number; /* NaN, unknown, is neither */
    case '>':
        return value > term->number;
    case 'l':
        return value <= term->number;
    case 'g':
        return value >= term->number;
    default:
        return false;
    }
}

static bool match_term(const struct pw_query_term *term, const struct pw_tui *tui, size_t signature)
{
    text_match *match = term->key >= 0 ? keys[term->key].text : match_plain;
    const char *value = term->values;

    if (term->relation != ':')
        return term->relation != '?' && match_number(term, keys[term->key].number(tui, signature));
    for (int i = 0; i < term->value_count; i++, value += strlen(value) + 1)
        if (match(tui, signature, value))
            return true;
    return false;
}

bool pw_query_match(const struct pw_query *query, const struct pw_tui *tui, size_t signature)
{
    for (int i = 0; i < query->count; i++)
        if (match_term(&query->terms[i], tui, signature) == query->terms[i].negate)
            return false;
    return true;
}
