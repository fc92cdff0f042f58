#include "report/check_gate.h"

#include <math.h>
#include <string.h>

#include <jansson.h>

#include "report/check.h"

#define SHOWN 6 /* signatures of one outcome in one gate; failing ones are all shown */

static const unsigned bits[PW_GATE_KIND_COUNT] = {PW_WAIVE_COVERAGE, PW_WAIVE_PRECISION, PW_WAIVE_THROUGHPUT};

static void show(struct pw_buf *out, const char *text)
{
    pw_text_display(out, text, strlen(text), 0, false);
}

static bool compared(const struct pw_report_gate *gate)
{
    return gate->precision || gate->throughput;
}

/* "12 held, 1 worse, 2 inconclusive" */
static void counts(const struct pw_report_gate *gate, pw_gate_kind kind, struct pw_buf *out)
{
    static const pw_gate_outcome order[] = {PW_GATE_WORSE, PW_GATE_HELD, PW_GATE_BETTER, PW_GATE_INCONCLUSIVE,
                                            PW_GATE_NEW,   PW_GATE_GONE, PW_GATE_SKIPPED};
    bool first = true;

    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        size_t n = gate->totals.outcomes[kind][order[i]];

        if (!n)
            continue;
        pw_buf_printf(out, "%s%zu %s", first ? "" : ", ", n,
                      order[i] == PW_GATE_SKIPPED ? "not compared" : pw_gate_outcome_name(order[i]));
        first = false;
    }
    if (first)
        pw_buf_puts(out, "nothing to compare");
}

/* Is there something to say of the signature in this gate? */
static bool noteworthy(const struct pw_gate_result *result, pw_gate_kind kind)
{
    switch (result->outcome[kind]) {
    case PW_GATE_WORSE:
    case PW_GATE_BETTER:
    case PW_GATE_INCONCLUSIVE:
        return true;
    case PW_GATE_NEW:
    case PW_GATE_GONE:
        return kind == PW_GATE_COVERAGE; /* once a signature is enough */
    case PW_GATE_HELD:
        return kind == PW_GATE_THROUGHPUT && result->reason[kind][0];
    default:
        return kind == PW_GATE_PRECISION && strstr(result->reason[kind], "other cases");
    }
}

static const char *mark(const struct pw_judged *item, const struct pw_gate_result *result, pw_gate_kind kind)
{
    if (result->outcome[kind] != PW_GATE_WORSE)
        return pw_gate_outcome_name(result->outcome[kind]);
    return item && (item->waived & bits[kind]) ? "waived" : "FAIL";
}

static const struct pw_judged *judged(const struct pw_report_gate *gate, const struct pw_gate_signature *pair)
{
    for (size_t i = 0; i < gate->judgement.count; i++)
        if (gate->judgement.items[i].pair == pair)
            return &gate->judgement.items[i];
    return NULL;
}

void pw_report_gate_why(const struct pw_judged *item, struct pw_buf *out)
{
    bool first = true;

    for (int kind = 0; item->result && kind < PW_GATE_KIND_COUNT; kind++)
        if (item->result->outcome[kind] == PW_GATE_WORSE) {
            pw_buf_printf(out, "%s%s: %s", first ? "" : "; ", pw_gate_kind_name((pw_gate_kind)kind),
                          item->result->reason[kind]);
            first = false;
        }
}

static void baseline_line(const char *kind, const struct pw_baseline *b, struct pw_buf *out)
{
    pw_buf_printf(out, "%s %d", kind, b->number);
    if (!b->number)
        pw_buf_puts(out, " (pending)");
    if (b->approved_by[0]) {
        pw_buf_puts(out, " approved by ");
        show(out, b->approved_by);
        pw_buf_printf(out, " on %.10s: ", b->approved_at);
        show(out, b->message);
    }
}

/* ---- text ---- */

static const char *color_of(const char *word, bool color)
{
    if (!color)
        return "";
    if (!strcmp(word, "FAIL"))
        return "\033[1;31m";
    return !strcmp(word, "better") || !strcmp(word, "held") ? "\033[32m" : "\033[33m";
}

static void text_line(const struct pw_report_gate *gate, size_t i, pw_gate_kind kind, bool color, struct pw_buf *out)
{
    const char *word = mark(judged(gate, &gate->pairs[i]), &gate->results[i], kind);

    pw_buf_printf(out, "    %s%-12s%s ", color_of(word, color), word, color ? "\033[0m" : "");
    show(out, gate->pairs[i].op);
    pw_buf_printf(out, " %s  ", gate->pairs[i].id);
    show(out, gate->results[i].reason[kind]);
    pw_buf_putc(out, '\n');
}

/* What fails comes first and whole; of the rest some of each kind. */
static void text_lines(const struct pw_report_gate *gate, pw_gate_kind kind, bool color, struct pw_buf *out)
{
    size_t shown[PW_GATE_OUTCOME_COUNT] = {0}, left_out = 0;

    for (size_t i = 0; i < gate->count; i++)
        if (gate->results[i].outcome[kind] == PW_GATE_WORSE)
            text_line(gate, i, kind, color, out);
    for (size_t i = 0; i < gate->count; i++) {
        pw_gate_outcome outcome = gate->results[i].outcome[kind];

        if (outcome == PW_GATE_WORSE || !noteworthy(&gate->results[i], kind))
            continue;
        if (shown[outcome]++ < SHOWN)
            text_line(gate, i, kind, color, out);
        else
            left_out++;
    }
    if (left_out)
        pw_buf_printf(out, "    … and %zu more that do not fail (--format json has all)\n", left_out);
}

/* What an expired waiver asks for. */
static const char *remedy(const struct pw_judged_waiver *w)
{
    if (!w->item)
        return "its signature is not in this check: renew or remove the waiver";
    return w->item->failing ? "it still fails: repair it or renew the waiver" : "it passes: remove the waiver";
}

void pw_report_gate_waiver(const struct pw_judged_waiver *waiver, struct pw_buf *out)
{
    const struct pw_waiver *w = &waiver->entry->waiver;
    char gates[64];

    pw_buf_printf(out, "%s of %s, %s %s, ", waiver->state == PW_JUDGED_UNNEEDED ? "held, yet a waiver" : "a waiver",
                  pw_waive_names(w->gates, gates, sizeof gates),
                  waiver->state == PW_JUDGED_EXPIRED ? "EXPIRED: its last day was" : "until", w->until);
    show(out, w->owner);
    pw_buf_puts(out, ": ");
    show(out, w->reason);
    if (waiver->state == PW_JUDGED_EXPIRED)
        pw_buf_printf(out, "; %s", remedy(waiver));
}

static void text_waivers(const struct pw_report_gate *gate, struct pw_buf *out)
{
    static const char *const words[PW_JUDGED_STATE_COUNT] = {"waived", "of others", "not needed", "FAIL"};
    const struct pw_judgement *j = &gate->judgement;

    if (!j->waived && !j->expired && !j->unneeded)
        return;
    pw_buf_printf(out, "  waivers      %zu used, %zu expired, %zu no longer needed\n", j->waived, j->expired,
                  j->unneeded);
    for (size_t i = 0; i < j->waiver_count; i++) {
        const struct pw_judged_waiver *w = &j->waivers[i];

        if (w->state == PW_JUDGED_OTHER)
            continue;
        pw_buf_printf(out, "    %-12s ", words[w->state]);
        show(out, w->op);
        pw_buf_printf(out, "%s%s  ", w->op[0] ? " " : "", w->entry->id);
        pw_report_gate_waiver(w, out);
        pw_buf_putc(out, '\n');
    }
}

static void text_environment(const struct pw_report_gate *gate, struct pw_buf *out)
{
    if (gate->environment[0]) {
        pw_buf_printf(out, "  environment  %sdiffers: ", gate->environment_fails ? "FAIL: " : "");
        show(out, gate->environment);
        pw_buf_puts(out, gate->results && gate->totals.outcomes[PW_GATE_THROUGHPUT][PW_GATE_SKIPPED] == gate->count
                             ? "; times are not compared\n"
                             : "; times are compared across it\n");
    } else if (gate->throughput) {
        pw_buf_printf(out, "  environment  the baseline's (%s)\n", gate->environment_id);
    }
}

void pw_report_gate_text(const struct pw_report_gate *gate, bool color, struct pw_buf *out)
{
    if (gate->which) {
        pw_buf_puts(out, "\nagainst the baseline ");
        show(out, gate->which);
        pw_buf_puts(out, ":");
        if (gate->precision) {
            pw_buf_putc(out, ' ');
            baseline_line("precision", gate->precision, out);
        }
        if (gate->throughput) {
            pw_buf_puts(out, gate->precision ? "; " : " ");
            if (gate->precision && gate->precision->number == gate->throughput->number &&
                !strcmp(gate->precision->message, gate->throughput->message))
                pw_buf_printf(out, "throughput %d", gate->throughput->number);
            else
                baseline_line("throughput", gate->throughput, out);
        }
        pw_buf_putc(out, '\n');
        for (int kind = 0; compared(gate) && kind < PW_GATE_KIND_COUNT; kind++) {
            pw_buf_printf(out, "  %-12s ", pw_gate_kind_name((pw_gate_kind)kind));
            counts(gate, (pw_gate_kind)kind, out);
            pw_buf_putc(out, '\n');
            text_lines(gate, (pw_gate_kind)kind, color, out);
        }
        text_environment(gate, out);
    }
    for (size_t i = 0; i < gate->note_count; i++) {
        pw_buf_puts(out, "  note         ");
        show(out, gate->notes[i]);
        pw_buf_putc(out, '\n');
    }
    text_waivers(gate, out);
}

/* ---- Markdown ---- */

static void md_rows(const struct pw_report_gate *gate, pw_gate_kind kind, bool failing, struct pw_buf *out)
{
    size_t shown[PW_GATE_OUTCOME_COUNT] = {0}, left_out = 0;

    for (size_t i = 0; i < gate->count; i++) {
        const struct pw_gate_result *result = &gate->results[i];
        const char *word;

        if (!noteworthy(result, kind) || (result->outcome[kind] == PW_GATE_WORSE) != failing)
            continue;
        if (!failing && shown[result->outcome[kind]]++ >= SHOWN) {
            left_out++;
            continue;
        }
        word = mark(judged(gate, &gate->pairs[i]), result, kind);
        pw_buf_printf(out, "| %s%s%s | %s | ", failing ? "**" : "", word, failing ? "**" : "", pw_gate_kind_name(kind));
        pw_report_md_cell(out, gate->pairs[i].op);
        pw_buf_printf(out, " | %s | ", gate->pairs[i].id);
        pw_report_md_cell(out, result->reason[kind]);
        pw_buf_puts(out, " |\n");
    }
    if (left_out)
        pw_buf_printf(out, "| | %s | | | and %zu more that do not fail |\n", pw_gate_kind_name(kind), left_out);
}

static size_t notes_of(const struct pw_report_gate *gate)
{
    size_t n = 0;

    for (size_t i = 0; i < gate->count; i++)
        for (int kind = 0; kind < PW_GATE_KIND_COUNT; kind++)
            n += noteworthy(&gate->results[i], (pw_gate_kind)kind);
    return n;
}

static void md_waivers(const struct pw_report_gate *gate, struct pw_buf *out)
{
    static const char *const words[PW_JUDGED_STATE_COUNT] = {"used", NULL, "not needed", "**FAIL: expired**"};
    bool head = false;

    for (size_t i = 0; i < gate->judgement.waiver_count; i++) {
        const struct pw_judged_waiver *w = &gate->judgement.waivers[i];

        if (w->state == PW_JUDGED_OTHER)
            continue;
        if (!head)
            pw_buf_puts(out,
                        "\n| waiver | operator | signature | until | owner | reason |\n|---|---|---|---|---|---|\n");
        head = true;
        pw_buf_printf(out, "| %s%s%s | ", words[w->state], w->state == PW_JUDGED_EXPIRED ? "; " : "",
                      w->state == PW_JUDGED_EXPIRED ? remedy(w) : "");
        pw_report_md_cell(out, w->op);
        pw_buf_printf(out, " | %s | %s | ", w->entry->id, w->entry->waiver.until);
        pw_report_md_cell(out, w->entry->waiver.owner);
        pw_buf_puts(out, " | ");
        pw_report_md_cell(out, w->entry->waiver.reason);
        pw_buf_puts(out, " |\n");
    }
}

void pw_report_gate_md(const struct pw_report_gate *gate, struct pw_buf *out)
{
    if (gate->which) {
        pw_buf_puts(out, "\n| gate | against | result |\n|---|---|---|\n");
        for (int kind = 0; compared(gate) && kind < PW_GATE_KIND_COUNT; kind++) {
            const struct pw_baseline *b = kind == PW_GATE_THROUGHPUT ? gate->throughput : gate->precision;

            pw_buf_printf(out, "| %s | ", pw_gate_kind_name((pw_gate_kind)kind));
            if (b && b->number)
                pw_buf_printf(out, "%d (", b->number);
            pw_report_md_cell(out, b ? b->number ? b->approved_by : "pending" : "-");
            pw_buf_puts(out, b && b->number ? ") | " : " | ");
            counts(gate, (pw_gate_kind)kind, out);
            pw_buf_puts(out, " |\n");
        }
        pw_buf_printf(out, "| environment | %s | ", gate->throughput ? gate->throughput->environment_id : "-");
        if (gate->environment_fails)
            pw_buf_puts(out, "**FAIL** ");
        pw_report_md_cell(out, gate->environment[0] ? gate->environment : gate->throughput ? "the same" : "-");
        pw_buf_puts(out, " |\n");
        if (notes_of(gate)) {
            pw_buf_puts(out, "\n| | gate | operator | signature | |\n|---|---|---|---|---|\n");
            for (int failing = 1; failing >= 0; failing--)
                for (int kind = 0; kind < PW_GATE_KIND_COUNT; kind++)
                    md_rows(gate, (pw_gate_kind)kind, failing, out);
        }
    }
    for (size_t i = 0; i < gate->note_count; i++) {
        pw_buf_puts(out, "\n> ");
        pw_report_md_cell(out, gate->notes[i]);
        pw_buf_putc(out, '\n');
    }
    md_waivers(gate, out);
}

/* ---- JSON ---- */

static json_t *json_baseline(const struct pw_baseline *b)
{
    json_t *item;

    if (!b)
        return json_null();
    item = json_object();
    json_object_set_new(item, "path", pw_report_json_text(b->path));
    json_object_set_new(item, "number", b->number ? json_integer(b->number) : json_null());
    json_object_set_new(item, "approved_by", pw_report_json_text(b->approved_by));
    json_object_set_new(item, "approved_at", pw_report_json_text(b->approved_at));
    json_object_set_new(item, "message", pw_report_json_text(b->message));
    return item;
}

static json_t *json_decision(const struct pw_report_gate *gate, size_t i)
{
    const struct pw_gate_result *result = &gate->results[i];
    const struct pw_judged *item = judged(gate, &gate->pairs[i]);
    json_t *row = json_object();

    json_object_set_new(row, "signature", json_string(gate->pairs[i].id));
    json_object_set_new(row, "operator", pw_report_json_text(gate->pairs[i].op));
    for (int kind = 0; kind < PW_GATE_KIND_COUNT; kind++) {
        json_t *decision = json_object();

        json_object_set_new(decision, "outcome", json_string(pw_gate_outcome_name(result->outcome[kind])));
        json_object_set_new(decision, "reason", pw_report_json_text(result->reason[kind]));
        json_object_set_new(decision, "waived", json_boolean(item && (item->waived & bits[kind])));
        json_object_set_new(row, pw_gate_kind_name((pw_gate_kind)kind), decision);
    }
    json_object_set_new(row, "slowdown", pw_report_json_real(result->slowdown));
    json_object_set_new(row, "slowdown_low", pw_report_json_real(result->low));
    json_object_set_new(row, "slowdown_high", pw_report_json_real(result->high));
    json_object_set_new(row, "p", pw_report_json_real(result->p_adjusted));
    json_object_set_new(row, "confirmed", json_boolean(result->confirmed));
    return row;
}

static json_t *json_waiver(const struct pw_judged_waiver *w)
{
    static const char *const states[PW_JUDGED_STATE_COUNT] = {"used", "other", "unneeded", "expired"};
    json_t *row = json_object();
    char gates[64];

    json_object_set_new(row, "signature", json_string(w->entry->id));
    json_object_set_new(row, "operator", pw_report_json_text(w->op));
    json_object_set_new(row, "state", json_string(states[w->state]));
    json_object_set_new(row, "of", json_string(pw_waive_names(w->entry->waiver.gates, gates, sizeof gates)));
    json_object_set_new(row, "until", json_string(w->entry->waiver.until));
    json_object_set_new(row, "owner", pw_report_json_text(w->entry->waiver.owner));
    json_object_set_new(row, "reason", pw_report_json_text(w->entry->waiver.reason));
    return row;
}

struct json_t *pw_report_gate_json(const struct pw_report_gate *gate)
{
    json_t *root = json_object(), *rows = json_array(), *notes = json_array(), *waivers = json_array();

    json_object_set_new(root, "baseline", gate->which ? pw_report_json_text(gate->which) : json_null());
    json_object_set_new(root, "precision", json_baseline(gate->precision));
    json_object_set_new(root, "throughput", json_baseline(gate->throughput));
    json_object_set_new(root, "environment", pw_report_json_text(gate->environment_id));
    json_object_set_new(root, "environment_differs",
                        gate->environment[0] ? pw_report_json_text(gate->environment) : json_null());
    json_object_set_new(root, "environment_fails", json_boolean(gate->environment_fails));
    for (size_t i = 0; i < gate->count; i++)
        json_array_append_new(rows, json_decision(gate, i));
    for (size_t i = 0; i < gate->note_count; i++)
        json_array_append_new(notes, pw_report_json_text(gate->notes[i]));
    for (size_t i = 0; i < gate->judgement.waiver_count; i++)
        json_array_append_new(waivers, json_waiver(&gate->judgement.waivers[i]));
    json_object_set_new(root, "decisions", rows);
    json_object_set_new(root, "notes", notes);
    json_object_set_new(root, "waivers", waivers);
    json_object_set_new(root, "failing", json_integer((json_int_t)gate->judgement.failing));
    json_object_set_new(root, "waived", json_integer((json_int_t)gate->judgement.waived));
    json_object_set_new(root, "expired", json_integer((json_int_t)gate->judgement.expired));
    return root;
}
