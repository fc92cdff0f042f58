/* What the person does: verify, edit, copy, decide. Nothing happens here but in the model: the loop acts on intents. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "baseline/triage.h"
#include "report/verify.h"
#include "tui/tui.h"

/* ---- running ---- */

void pw_tui_select(struct pw_tui *tui)
{
    size_t current = pw_tui_current(tui);

    tui->selection_count = 0;
    if (tui->screen == PW_SCREEN_DETAIL || tui->screen == PW_SCREEN_TRENDS) {
        tui->selection[tui->selection_count++] = tui->detail;
        return;
    }
    for (size_t i = 0; i < tui->inventory->signature_count; i++)
        if (tui->at->signatures[i].marked)
            tui->selection[tui->selection_count++] = i;
    if (tui->selection_count)
        return;
    if (pw_tui_list_signature(tui) != SIZE_MAX) { /* the cursor is on a node there */
        tui->selection[tui->selection_count++] = pw_tui_list_signature(tui);
        return;
    }
    if (!tui->item_count)
        return;
    tui->placed = true;
    if (current != SIZE_MAX)
        tui->selection[tui->selection_count++] = current;
    for (size_t i = 0; current == SIZE_MAX && i < tui->visible_count; i++) /* a head: its group */
        if (tui->group_of[tui->visible[i]] == tui->items[tui->cursor].index)
            tui->selection[tui->selection_count++] = tui->visible[i];
}

static void submit(struct pw_tui *tui, pw_intent intent)
{
    tui->intent = tui->selection_count ? intent : PW_INTENT_NONE;
    if (tui->reading)
        pw_tui_say(tui, false, "the graph is still being read");
    else if (!tui->selection_count)
        pw_tui_say(tui, false, "nothing is selected");
}

void pw_tui_act_verify_all(struct pw_tui *tui)
{
    tui->selection_count = 0;
    for (size_t i = 0; i < tui->inventory->signature_count; i++)
        tui->selection[tui->selection_count++] = i;
    submit(tui, PW_INTENT_VERIFY);
}

void pw_tui_act_verify(struct pw_tui *tui)
{
    pw_tui_select(tui);
    submit(tui, PW_INTENT_VERIFY);
}

void pw_tui_act_bench(struct pw_tui *tui)
{
    pw_tui_select(tui);
    submit(tui, PW_INTENT_BENCH);
}

void pw_tui_act_requeue(struct pw_tui *tui)
{
    tui->selection_count = 0;
    for (size_t i = 0; i < tui->inventory->signature_count; i++)
        if (tui->at->signatures[i].measured && tui->at->signatures[i].gate_failed)
            tui->selection[tui->selection_count++] = i;
    if (tui->selection_count)
        tui->intent = PW_INTENT_VERIFY;
    else
        pw_tui_say(tui, false, "nothing has failed");
}

/* Also what waits for the device or behind another job, and what counts nothing: the session knows of them. */
void pw_tui_act_cancel(struct pw_tui *tui)
{
    tui->intent = PW_INTENT_CANCEL;
}

/* ---- taking along ---- */

static size_t chosen(const struct pw_tui *tui)
{
    return tui->screen == PW_SCREEN_DETAIL || tui->screen == PW_SCREEN_TRENDS ? tui->detail : pw_tui_current(tui);
}

void pw_tui_act_edit(struct pw_tui *tui)
{
    size_t signature = chosen(tui);
    const struct pw_impl_list *impls = signature == SIZE_MAX ? NULL : pw_tui_impls(tui, signature);
    const struct pw_kernel *kernel = impls && impls->selected >= 0 ? impls->items[impls->selected].kernel : NULL;
    const char *language = kernel ? pw_kernel_language(kernel, 0) : NULL;
    const char *path = language ? pw_kernel_source_path(kernel, language) : NULL;

    if (kernel && !path)
        path = pw_kernel_path(kernel);
    if (!path || strlen(path) >= sizeof tui->intent_text) {
        pw_tui_say(tui, false, "there is no kernel to edit: %s%s",
                   !impls                 ? "coverage is not known yet"
                   : impls->selected >= 0 ? "what serves it is "
                                          : "nothing serves it",
                   impls && impls->selected >= 0 ? impls->items[impls->selected].name : "");
        return;
    }
    memcpy(tui->intent_text, path, strlen(path) + 1);
    tui->selection[0] = signature;
    tui->selection_count = 1;
    tui->intent = PW_INTENT_EDIT;
}

/* How much of its tolerance a case takes; what must be exact, and is, takes nothing. -1: nothing was compared. */
static double share_of(const struct pw_tui_case *c)
{
    if (isnan(c->error))
        return -1;
    return c->tolerance > 0 ? c->error / c->tolerance : 0;
}

/* The case that says most: a failed one, else the one nearest to its tolerance. */
static const struct pw_tui_case *telling_case(const struct pw_tui_row *row)
{
    const struct pw_tui_case *best = NULL;

    for (size_t i = 0; i < row->case_count; i++) {
        const struct pw_tui_case *c = &row->cases[i];

        if (pw_verdict_failed(c->verdict))
            return c;
        if (!best || share_of(c) > share_of(best))
            best = c;
    }
    return best;
}

void pw_tui_command(const struct pw_tui *tui, const char *verb, bool assumed, struct pw_buf *out)
{
    const char *arguments = assumed ? tui->arguments : tui->given_arguments;

    pw_buf_printf(out, "portwright %s ", verb);
    pw_report_shell_word(out, tui->model_path);
    pw_buf_puts(out, " --target ");
    pw_report_shell_word(out, tui->at->target);
    pw_buf_puts(out, arguments ? arguments : "");
}

void pw_tui_act_copy(struct pw_tui *tui)
{
    struct pw_buf line = {0};
    size_t signature = chosen(tui);
    const struct pw_tui_case *c = signature == SIZE_MAX ? NULL : telling_case(&tui->at->signatures[signature]);

    tui->placed = true;
    if (!c) {
        pw_tui_say(tui, false, "no case of it was run in this session: v verifies it");
        return;
    }
    pw_tui_command(tui, "verify", true, &line);
    pw_buf_puts(&line, " --case ");
    pw_report_shell_word(&line, c->shrunk ? c->shrunk : c->id);
    if (line.failed || line.size >= sizeof tui->intent_text) {
        pw_tui_say(tui, true, "the command is too long to copy");
    } else {
        snprintf(tui->intent_text, sizeof tui->intent_text, "%s", pw_buf_text(&line));
        tui->intent = PW_INTENT_COPY;
    }
    pw_buf_clear(&line);
}

/* A quote is doubled; what a sheet takes for a formula is text. */
static void put_field(struct pw_buf *out, const char *text)
{
    pw_buf_putc(out, '"');
    for (const char *p = text; *p; p++)
        pw_buf_printf(out, "%s%c",
                      *p == '"'                         ? "\""
                      : p == text && strchr("=+-@", *p) ? "'"
                                                        : "",
                      (unsigned char)*p < 32 ? ' ' : *p);
    pw_buf_putc(out, '"');
}

/* What was measured of it, and what was decided. */
static void put_measured(const struct pw_tui *tui, size_t signature, struct pw_buf *out)
{
    const struct pw_tui_row *row = &tui->at->signatures[signature];
    const struct pw_triage_entry *entry = pw_tui_decision(tui, signature);

    if (row->measured && !isnan(row->worst_error))
        pw_buf_printf(out, "%.6g,%.6g,", row->worst_error, row->tolerance);
    else
        pw_buf_puts(out, ",,");
    if (row->target_ns)
        pw_buf_printf(out, "%lld", (long long)row->target_ns);
    pw_buf_putc(out, ',');
    if (row->reference_ns)
        pw_buf_printf(out, "%lld", (long long)row->reference_ns);
    pw_buf_printf(out, ",%.1f,%s,", pw_tui_priority(tui, signature), entry ? pw_triage_status_name(entry->status) : "");
    put_field(out, entry ? entry->owner : "");
    pw_buf_printf(out, ",%s,", entry && entry->waiver.present ? entry->waiver.until : "");
    put_field(out, entry ? entry->note : "");
}

static void export_csv(const struct pw_tui *tui, struct pw_buf *out)
{
    pw_style style;

    pw_buf_puts(out, "id,operator,category,nodes,flops_share,coverage,sensitivity,dynamic,verdict,error,tolerance,"
                     "target_ns,reference_ns,todo,status,owner,waived_until,note,shapes\n");
    for (size_t i = 0; i < tui->visible_count; i++) {
        size_t signature = tui->visible[i];
        const struct pw_signature *s = &tui->inventory->signatures[signature];

        pw_buf_printf(out, "%s,", s->id);
        put_field(out, s->op_label);
        pw_buf_printf(out, ",%s,%zu,", pw_category_name(s->category), s->node_count);
        if (!isnan(s->share))
            pw_buf_printf(out, "%.6g", s->share);
        pw_buf_printf(out, ",%s,%s,%s,%s,", pw_tui_coverage(tui, signature), pw_sensitivity_name(s->sensitivity),
                      s->data_dependent ? "data"
                      : s->dynamic      ? "yes"
                                        : "no",
                      pw_tui_verdict(tui, signature, &style));
        put_measured(tui, signature, out);
        pw_buf_putc(out, ',');
        put_field(out, s->shapes);
        pw_buf_putc(out, '\n');
    }
}

enum { PART_LINES = 300, PART_ROWS = 150 }; /* some 2 ms */

void pw_tui_export_begin(struct pw_tui *tui, const char *path, struct pw_tui_export *export)
{
    *export = (struct pw_tui_export){.screen = tui->screen, .at = tui->at, .columns = tui->columns};
    snprintf(export->path, sizeof export->path, "%s", path);
}

/* Whether what is taken down is still what it was; it begins anew when not. Nodes that a run adds meanwhile come after
 * what was taken down: else an export could not end before the run does. */
static bool still_the_same(struct pw_tui_export *export, size_t count)
{
    const struct pw_tui_endtoend *run = &export->at->endtoend;
    bool grows = export->screen == PW_SCREEN_ENDTOEND && run->known && !run->finished && count > export->count;
    bool same = (count == export->count || grows) && export->sort == run->sort && export->only == run->only &&
                export->only_divergent == run->only_divergent && export->finished == run->finished;
    bool anew = export->next && !same;

    if (anew) {
        export->next = 0;
        export->text.size = 0;
    }
    export->count = count;
    export->sort = run->sort;
    export->only = run->only;
    export->only_divergent = run->only_divergent;
    export->finished = run->finished;
    return !anew;
}

static bool part_of_lines(struct pw_tui *tui, struct pw_tui_export *export)
{
    const struct pw_lines *lines = &tui->text;
    size_t count = PART_LINES;

    pw_tui_fill_part(tui, export->next, count);
    if (!still_the_same(export, lines->count))
        return true;
    if (lines->item_count == lines->count) /* all of them were made */
        count = SIZE_MAX;
    pw_lines_text_part(lines, export->next, count, &export->text);
    export->next = count < lines->count - export->next ? export->next + count : lines->count;
    export->text.failed |= lines->failed;
    return export->next < lines->count;
}

/* Keeps what is listed: a result or a key would bring rows into another order between the parts. */
static bool keep_items(const struct pw_tui *tui, struct pw_tui_export *export)
{
    export->items = pw_calloc(tui->item_count + 1, sizeof *export->items);
    export->groups = pw_calloc(tui->group_count + 1, sizeof *export->groups);
    if (!export->items || !export->groups)
        return false;
    export->item_count = tui->item_count;
    export->cursor = tui->cursor;
    export->group = tui->group;
    for (size_t i = 0; i < tui->item_count; i++)
        export->items[i] = tui->items[i];
    for (size_t g = 0; g < tui->group_count; g++)
        export->groups[g] = tui->groups[g];
    return true;
}

/* What the model lists and what the export lists take each other's place. */
static void swap_items(struct pw_tui *tui, struct pw_tui_export *export)
{
    struct pw_tui_item *items = tui->items;
    struct pw_tui_group *groups = tui->groups;
    size_t count = tui->item_count, cursor = tui->cursor;
    pw_group group = tui->group;

    tui->items = export->items;
    tui->groups = export->groups;
    tui->item_count = export->item_count;
    tui->cursor = export->cursor;
    tui->group = export->group;
    export->items = items;
    export->groups = groups;
    export->item_count = count;
    export->cursor = cursor;
    export->group = group;
}

/* The inventory as it looks, but for its scroll. */
static bool part_of_inventory(struct pw_tui *tui, struct pw_tui_export *export)
{
    size_t left;
    struct pw_canvas canvas = {.ascii = tui->ascii};
    struct pw_error err = {0};

    if (!export->items && !keep_items(tui, export)) {
        export->text.failed = true;
        return false;
    }
    swap_items(tui, export);
    left = tui->item_count - export->next;
    left = left < PART_ROWS ? left : PART_ROWS;
    if (pw_canvas_resize(&canvas, (int)left + (export->next ? 0 : 2), tui->columns < 100 ? 100 : tui->columns, &err) ==
        PW_OK) {
        export->next += pw_view_inventory_part(tui, &canvas, export->next);
        pw_canvas_dump(&canvas, &export->text);
    } else {
        export->text.failed = true;
    }
    pw_canvas_clear(&canvas);
    left = tui->item_count - export->next;
    swap_items(tui, export);
    return left > 0;
}

bool pw_tui_export_part(struct pw_tui *tui, struct pw_tui_export *export)
{
    struct pw_tui_side *at = tui->at;
    pw_screen screen = tui->screen;
    int columns = tui->columns;
    bool more = false;

    tui->at = export->at; /* as it was when it began */
    tui->screen = export->screen;
    tui->columns = export->columns;
    if (pw_tui_screens[export->screen].fill)
        more = part_of_lines(tui, export);
    else if (pw_text_ends(export->path, ".csv"))
        export_csv(tui, &export->text);
    else
        more = part_of_inventory(tui, export);
    tui->at = at;
    tui->screen = screen;
    tui->columns = columns;
    more = more && !export->text.failed;
    if (!more) {
        pw_free(export->items);
        pw_free(export->groups);
        export->items = NULL;
        export->groups = NULL;
    }
    return more;
}

/* ---- deciding ---- */

const struct pw_triage_entry *pw_tui_decision(const struct pw_tui *tui, size_t signature)
{
    size_t at = tui->at->signatures[signature].decision;

    return at ? &tui->triage[at - 1] : NULL;
}

bool pw_tui_waived(const struct pw_tui *tui, size_t signature)
{
    return pw_triage_waiver(pw_tui_decision(tui, signature), PW_WAIVE_ALL, tui->today) == PW_WAIVER_VALID;
}

void pw_tui_triage_event(struct pw_tui *tui, const struct pw_triage_entry *entries, size_t count)
{
    struct pw_triage_entry *copy = pw_calloc(count + 1, sizeof *copy);

    if (!copy) {
        pw_tui_say(tui, true, "out of memory: decisions are not shown");
        return;
    }
    if (count)
        memcpy(copy, entries, count * sizeof *copy);
    pw_free(tui->triage);
    tui->triage = copy;
    tui->triage_count = count;
    for (size_t i = 0; i < tui->inventory->signature_count; i++) {
        size_t low = 0, high = count; /* entries are sorted by id */

        while (low < high) {
            size_t middle = low + (high - low) / 2;

            if (strcmp(copy[middle].id, tui->inventory->signatures[i].id) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        for (size_t k = 0; k < tui->side_count; k++)
            tui->sides[k].signatures[i].decision =
                low < count && !strcmp(copy[low].id, tui->inventory->signatures[i].id) ? low + 1 : 0;
    }
}

enum { LABEL_MAX = 200 };

/* Copies of the selection's entries to change; false when nothing is selected. */
static bool begin_decisions(struct pw_tui *tui)
{
    struct pw_triage_entry *decisions;

    pw_tui_select(tui);
    if (!tui->selection_count) {
        pw_tui_say(tui, false, "nothing is selected");
        return false;
    }
    decisions = pw_calloc(tui->selection_count, sizeof *decisions);
    if (!decisions) {
        pw_tui_say(tui, true, "out of memory: nothing was decided");
        return false;
    }
    for (size_t i = 0; i < tui->selection_count; i++) {
        const struct pw_signature *s = &tui->inventory->signatures[tui->selection[i]];
        const struct pw_triage_entry *known = pw_tui_decision(tui, tui->selection[i]);

        if (known)
            decisions[i] = *known;
        memcpy(decisions[i].id, s->id, sizeof decisions[i].id);
        snprintf(decisions[i].op, sizeof decisions[i].op, "%.*s", (int)pw_text_cut(s->op_label, LABEL_MAX),
                 s->op_label);
    }
    pw_free(tui->decisions);
    tui->decisions = decisions;
    tui->decision_count = tui->selection_count;
    tui->intent = PW_INTENT_TRIAGE;
    return true;
}

static int compare_ids(const void *a, const void *b)
{
    return strcmp(((const struct pw_triage_entry *)a)->id, ((const struct pw_triage_entry *)b)->id);
}

static void say_decided(struct pw_tui *tui, const char *what, const char *value)
{
    char label[48], others[32] = "";

    pw_text_show(label, sizeof label, tui->decisions[0].op, 40);
    if (tui->decision_count > 1)
        snprintf(others, sizeof others, " and %zu more", tui->decision_count - 1);
    pw_tui_say(tui, false, "%s%s: %s %.200s", label, others, what, value);
}

/* What the file would refuse is not shown as decided. */
static bool sound(struct pw_tui *tui)
{
    struct pw_error err = {0};

    for (size_t d = 0; d < tui->decision_count; d++)
        if (pw_triage_entry_check(&tui->decisions[d], &err) != PW_OK) {
            tui->intent = PW_INTENT_NONE;
            pw_tui_say(tui, true, "%s", err.message);
            return false;
        }
    return true;
}

/* Shows the decisions at once: the next one, before the file's answer, must build on them. */
static void decided(struct pw_tui *tui, const char *what, const char *value)
{
    size_t count = tui->triage_count;
    struct pw_triage_entry *all;

    if (!sound(tui))
        return;
    say_decided(tui, what, value);
    all = pw_calloc(count + tui->decision_count + 1, sizeof *all);
    if (!all)
        return; /* the file's answer shows them */
    for (size_t i = 0; i < count; i++)
        all[i] = tui->triage[i];
    for (size_t d = 0; d < tui->decision_count; d++) {
        struct pw_triage_entry *known = bsearch(&tui->decisions[d], all, tui->triage_count, sizeof *all, compare_ids);

        if (known)
            *known = tui->decisions[d];
        else
            all[count++] = tui->decisions[d];
    }
    qsort(all, count, sizeof *all, compare_ids);
    pw_tui_triage_event(tui, all, count);
    pw_free(all);
}

void pw_tui_run_status(struct pw_tui *tui, const char *words)
{
    pw_triage_status status = PW_TRIAGE_NONE;

    if (!strcmp(words, "todo"))
        words = pw_triage_status_name(PW_TRIAGE_OPEN);
    else if (!strcmp(words, "in progress"))
        words = pw_triage_status_name(PW_TRIAGE_DOING);
    if (strcmp(words, "none") != 0 && !pw_triage_status_parse(words, &status)) {
        pw_tui_say(tui, true, "status: expected open, doing, blocked, review, done or none, found '%.40s'", words);
        return;
    }
    if (!begin_decisions(tui))
        return;
    for (size_t i = 0; i < tui->decision_count; i++)
        tui->decisions[i].status = status;
    decided(tui, "status", status ? pw_triage_status_name(status) : "none");
}

void pw_tui_act_status(struct pw_tui *tui)
{
    pw_triage_status next;

    if (!begin_decisions(tui))
        return;
    next = (pw_triage_status)((tui->decisions[0].status + 1) % PW_TRIAGE_STATUS_COUNT);
    for (size_t i = 0; i < tui->decision_count; i++)
        tui->decisions[i].status = next;
    decided(tui, "status", next ? pw_triage_status_name(next) : "none");
}

void pw_tui_run_priority(struct pw_tui *tui, const char *words)
{
    int64_t priority = 0;

    if (words[0] && (!pw_text_int64(words, &priority) || priority < 0 || priority > 100)) {
        pw_tui_say(tui, true, "priority: expected 1 to 100, or 0 for the computed one, found '%.40s'", words);
        return;
    }
    if (!begin_decisions(tui))
        return;
    for (size_t i = 0; i < tui->decision_count; i++)
        tui->decisions[i].priority = (int)priority;
    decided(tui, "priority", priority ? words : "computed");
}

/* What the file has no room for is refused: its end would be lost unseen. */
static bool has_room(struct pw_tui *tui, const char *what, const char *text)
{
    size_t size = strlen(text);

    if (size >= PW_TRIAGE_TEXT)
        pw_tui_say(tui, true, "%s: expected %d bytes at most, found %zu", what, PW_TRIAGE_TEXT - 1, size);
    return size < PW_TRIAGE_TEXT;
}

void pw_tui_run_owner(struct pw_tui *tui, const char *words)
{
    if (!has_room(tui, "owner", words) || !begin_decisions(tui))
        return;
    for (size_t i = 0; i < tui->decision_count; i++)
        snprintf(tui->decisions[i].owner, sizeof tui->decisions[i].owner, "%s", words);
    decided(tui, "owner", words[0] ? words : "nobody");
}

void pw_tui_run_note(struct pw_tui *tui, const char *words)
{
    if (!has_room(tui, "note", words) || !begin_decisions(tui))
        return;
    for (size_t i = 0; i < tui->decision_count; i++)
        snprintf(tui->decisions[i].note, sizeof tui->decisions[i].note, "%s", words);
    decided(tui, "note", words[0] ? words : "none");
}

void pw_tui_run_waive(struct pw_tui *tui, const char *words)
{
    size_t date = strcspn(words, " ");
    const char *reason = words + date + strspn(words + date, " ");

    if (date != PW_TRIAGE_DATE - 1 || !reason[0]) {
        pw_tui_say(tui, true, "waive: expected a last day and a reason, such as 'waive 2027-01-31 driver bug 12'");
        return;
    }
    if (tui->today[0] && strncmp(words, tui->today, date) < 0) {
        pw_tui_say(tui, true, "waive: %.*s is past, today is %s", (int)date, words, tui->today);
        return;
    }
    if (!has_room(tui, "waive", reason) || !begin_decisions(tui))
        return;
    for (size_t i = 0; i < tui->decision_count; i++) {
        struct pw_triage_entry *entry = &tui->decisions[i];

        entry->waiver = (struct pw_waiver){.present = true, .gates = PW_WAIVE_ALL};
        snprintf(entry->waiver.reason, sizeof entry->waiver.reason, "%s", reason);
        snprintf(entry->waiver.owner, sizeof entry->waiver.owner, "%s",
                 entry->owner[0] ? entry->owner : tui->user_name);
        memcpy(entry->waiver.until, words, date);
    }
    decided(tui, "waived until", words);
}

void pw_tui_run_unwaive(struct pw_tui *tui, const char *words)
{
    (void)words;
    if (!begin_decisions(tui))
        return;
    for (size_t i = 0; i < tui->decision_count; i++)
        tui->decisions[i].waiver = (struct pw_waiver){0};
    decided(tui, "waiver", "none");
}

void pw_tui_run_approve(struct pw_tui *tui, const char *words)
{
    if (!words[0] || strlen(words) >= sizeof tui->intent_text) {
        pw_tui_say(tui, true, "approve: say why, such as 'approve softmax is exact since the new exp'");
        return;
    }
    if (!tui->user_name[0]) {
        pw_tui_say(tui, true, "approve: nobody is named; set PORTWRIGHT_USER, or use portwright baseline approve --by");
        return;
    }
    if (!tui->at->baselines) { /* nobody approves what he has not seen */
        pw_tui_go(tui, PW_SCREEN_BASELINES);
        pw_tui_say(tui, true, "approve: look at what is pending first: here it is");
        return;
    }
    memcpy(tui->intent_text, words, strlen(words) + 1);
    tui->ask = PW_ASK_APPROVE;
    tui->intent = PW_INTENT_ASK;
}

void pw_tui_run_compare(struct pw_tui *tui, const char *words)
{
    if (!words[0] || strlen(words) >= sizeof tui->intent_text) {
        pw_tui_say(tui, true, "compare: expected the numbers of two runs, such as 'compare 3 5'; trends (4) list them");
        return;
    }
    memcpy(tui->intent_text, words, strlen(words) + 1);
    pw_tui_go(tui, PW_SCREEN_TRENDS);
    tui->ask = PW_ASK_COMPARE;
    tui->intent = PW_INTENT_ASK;
}
