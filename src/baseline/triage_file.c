/* The triage file's text: reading with positions, printing one line a signature. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "base/yaml_write.h"
#include "baseline/triage_internal.h"

static const char *const status_names[PW_TRIAGE_STATUS_COUNT] = {"", "open", "doing", "blocked", "review", "done"};
static const struct {
    const char *name;
    unsigned gate;
} gate_names[] = {{"verify", PW_WAIVE_VERIFY},
                  {"precision", PW_WAIVE_PRECISION},
                  {"coverage", PW_WAIVE_COVERAGE},
                  {"throughput", PW_WAIVE_THROUGHPUT},
                  {"all", PW_WAIVE_ALL}};

const char *pw_triage_status_name(pw_triage_status status)
{
    return (size_t)status < PW_TRIAGE_STATUS_COUNT ? status_names[status] : "";
}

bool pw_triage_status_parse(const char *text, pw_triage_status *out)
{
    for (int i = 0; i < PW_TRIAGE_STATUS_COUNT; i++)
        if (!strcmp(text, status_names[i])) {
            *out = (pw_triage_status)i;
            return true;
        }
    return false;
}

unsigned pw_waive_parse(const char *name)
{
    for (size_t i = 0; i < PW_COUNT_OF(gate_names); i++)
        if (!strcmp(name, gate_names[i].name))
            return gate_names[i].gate;
    return 0;
}

const char *pw_waive_names(unsigned gates, char *dst, size_t dst_size)
{
    size_t used = 0;

    snprintf(dst, dst_size, "%s", gates == PW_WAIVE_ALL ? "all" : "");
    for (size_t i = 0; gates != PW_WAIVE_ALL && i + 1 < PW_COUNT_OF(gate_names); i++)
        if ((gates & gate_names[i].gate) && used < dst_size)
            used += (size_t)snprintf(dst + used, dst_size - used, "%s%s", used ? ", " : "", gate_names[i].name);
    return dst;
}

/* ---- reading ---- */

static pw_status read_text(const struct pw_yaml *map, const char *key, char dst[PW_TRIAGE_TEXT], struct pw_error *err)
{
    const struct pw_yaml *node = pw_yaml_get(map, key);
    const char *text;
    pw_status status;

    if (!node)
        return PW_OK;
    status = pw_yaml_text(node, &text, err);
    if (status == PW_OK && strlen(text) >= PW_TRIAGE_TEXT)
        status = pw_yaml_error(node, err, "expected at most %d bytes, found %zu", PW_TRIAGE_TEXT - 1, strlen(text));
    if (status == PW_OK)
        memcpy(dst, text, strlen(text) + 1);
    return status;
}

static pw_status read_gates(const struct pw_yaml *node, unsigned *gates, struct pw_error *err)
{
    size_t count = node->kind == PW_YAML_LIST ? node->count : 1;

    *gates = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pw_yaml *item = node->kind == PW_YAML_LIST ? &node->items[i] : node;
        const char *name;
        pw_status status = pw_yaml_text(item, &name, err);

        if (status != PW_OK)
            return status;
        if (!pw_waive_parse(name))
            return pw_yaml_error(item, err, "expected verify, precision, coverage, throughput or all, found '%s'",
                                 name);
        *gates |= pw_waive_parse(name);
    }
    return *gates ? PW_OK : pw_yaml_error(node, err, "expected what the waiver is of, found nothing");
}

static pw_status read_waiver(const struct pw_yaml *node, struct pw_waiver *waiver, struct pw_error *err)
{
    static const char *const keys[] = {"reason", "owner", "until", "of", NULL};
    static const char *const required[] = {"reason", "owner", "until"};
    char until[PW_TRIAGE_TEXT] = "";
    pw_status status = PW_OK;

    if (node->kind != PW_YAML_MAP)
        return pw_yaml_error(node, err, "expected a map with reason, owner and until");
    status = pw_yaml_only(node, keys, err);
    for (size_t i = 0; i < PW_COUNT_OF(required) && status == PW_OK; i++)
        if (!pw_yaml_get(node, required[i]))
            status = pw_yaml_error(node, err, "a waiver needs '%s'", required[i]);
    waiver->present = true;
    waiver->gates = PW_WAIVE_ALL;
    if (status == PW_OK)
        status = read_text(node, "reason", waiver->reason, err);
    if (status == PW_OK)
        status = read_text(node, "owner", waiver->owner, err);
    if (status == PW_OK)
        status = read_text(node, "until", until, err);
    if (status == PW_OK && strlen(until) >= PW_TRIAGE_DATE)
        status = pw_yaml_error(pw_yaml_get(node, "until"), err, "expected a date as 2026-03-31, found '%s'", until);
    if (status == PW_OK)
        memcpy(waiver->until, until, strlen(until) + 1);
    if (status == PW_OK && pw_yaml_get(node, "of"))
        status = read_gates(pw_yaml_get(node, "of"), &waiver->gates, err);
    return status;
}

static pw_status read_entry(const struct pw_yaml *node, struct pw_triage_entry *entry, struct pw_error *err)
{
    static const char *const keys[] = {"op", "status", "priority", "owner", "note", "waiver", NULL};
    const struct pw_yaml *field;
    struct pw_error why = {0};
    char status_text[PW_TRIAGE_TEXT] = "";
    int64_t priority = 0;
    pw_status status;

    memset(entry, 0, sizeof *entry);
    if (strlen(node->key) != PW_TRIAGE_ID - 1 || strspn(node->key, "0123456789abcdef") != PW_TRIAGE_ID - 1)
        return pw_yaml_error(node, err, "expected a signature's id, 16 digits of 0-9 and a-f");
    memcpy(entry->id, node->key, PW_TRIAGE_ID);
    if (node->kind != PW_YAML_MAP)
        return pw_yaml_error(node, err, "expected a map with status, owner, note or waiver");
    status = pw_yaml_only(node, keys, err);
    if (status == PW_OK)
        status = read_text(node, "op", entry->op, err);
    if (status == PW_OK)
        status = read_text(node, "status", status_text, err);
    if (status == PW_OK && (field = pw_yaml_get(node, "status")) &&
        !pw_triage_status_parse(status_text, &entry->status))
        status = pw_yaml_error(field, err, "expected open, doing, blocked, review or done, found '%s'", status_text);
    if (status == PW_OK && (field = pw_yaml_get(node, "priority"))) {
        status = pw_yaml_int(field, &priority, err);
        if (status == PW_OK && (priority < 1 || priority > 100))
            status = pw_yaml_error(field, err, "expected a number from 1 to 100, found %" PRId64, priority);
        entry->priority = (int)priority;
    }
    if (status == PW_OK)
        status = read_text(node, "owner", entry->owner, err);
    if (status == PW_OK)
        status = read_text(node, "note", entry->note, err);
    if (status == PW_OK && (field = pw_yaml_get(node, "waiver")))
        status = read_waiver(field, &entry->waiver, err);
    if (status == PW_OK && pw_triage_entry_check(entry, &why) != PW_OK)
        status = pw_yaml_error(node, err, "%s", why.message);
    return status;
}

/* ---- which bytes belong to which entry ---- */

/* Bytes of the line break at `at`, 0: there is none. YAML knows more of them than the newline, and its line numbers say
 * which bytes belong to which entry. */
static size_t break_size(const struct pw_buf *raw, size_t at)
{
    static const char *const breaks[] = {"\r\n", "\n", "\r", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};

    for (size_t i = 0; i < PW_COUNT_OF(breaks); i++) {
        size_t size = strlen(breaks[i]);

        if (size <= raw->size - at && !memcmp(raw->data + at, breaks[i], size))
            return size;
    }
    return 0;
}

static size_t line_end(const struct pw_buf *raw, size_t at)
{
    size_t size = 0;

    while (at < raw->size && !(size = break_size(raw, at)))
        at++;
    return at + size;
}

static bool ends_line(const struct pw_buf *raw, size_t begin, size_t end)
{
    for (size_t size = 1; size <= 3 && size <= end - begin; size++)
        if (break_size(raw, end - size) == size)
            return true;
    return false;
}

/* Blank, or a comment. */
static bool is_idle_line(const struct pw_buf *raw, size_t begin, size_t end)
{
    size_t size;

    while (begin < end) {
        size = raw->data[begin] == ' ' || raw->data[begin] == '\t' ? 1 : break_size(raw, begin);
        if (!size)
            break;
        begin += size;
    }
    return begin >= end || raw->data[begin] == '#';
}

/* Start of each line; starts[n] is the end. */
static pw_status find_lines(const struct pw_buf *raw, size_t **starts, size_t *count, struct pw_error *err)
{
    size_t cap = 0, n = 0;
    pw_status status = PW_OK;

    for (size_t at = 0; status == PW_OK; at = line_end(raw, at)) {
        status = PW_GROW(*starts, cap, n + 1, err);
        if (status == PW_OK)
            (*starts)[n] = at;
        if (at >= raw->size)
            break;
        n++;
    }
    *count = n;
    return status;
}

/* Steps back over blank and comment lines above line `line` (0-based), not above `floor`. */
static size_t over_idle(const struct pw_buf *raw, const size_t *starts, size_t line, size_t floor)
{
    while (line > floor && is_idle_line(raw, starts[line - 1], starts[line]))
        line--;
    return line;
}

/* Blanks at the begin of an entry's line, whose next word is the key; SIZE_MAX: it does not begin so. */
static size_t indent_of(const struct pw_buf *raw, size_t at, const char *key)
{
    size_t begin = at, length = strlen(key);

    while (at < raw->size && raw->data[at] == ' ')
        at++;
    begin = at - begin;
    at += at < raw->size && (raw->data[at] == '"' || raw->data[at] == '\'');
    return raw->size - at > length && !memcmp(raw->data + at, key, length) ? begin : SIZE_MAX;
}

/* Entries in the order of the file have lines of their own, of those that the text has, equally far in; nothing else
 * follows them. */
static bool has_own_lines(struct pw_triage_text *text, const struct pw_yaml *root, const struct pw_yaml *signatures,
                          const size_t *starts, size_t lines)
{
    size_t above = signatures->line;

    for (size_t i = 0; i < root->count; i++)
        if (root->items[i].line > signatures->line)
            return false;
    for (size_t i = 0; i < signatures->count; i++) {
        const struct pw_yaml *item = &signatures->items[i];
        size_t indent;

        if (item->line <= above || item->line > lines)
            return false;
        above = item->line;
        indent = indent_of(&text->raw, starts[above - 1], item->key);
        if (indent == SIZE_MAX || (i && indent != text->indent))
            return false;
        text->indent = indent;
    }
    return true;
}

static pw_status find_spans(struct pw_triage_text *text, const struct pw_yaml *root, const struct pw_yaml *signatures,
                            struct pw_error *err)
{
    size_t *starts = NULL, lines = 0;
    pw_status status = find_lines(&text->raw, &starts, &lines, err);

    text->head = text->tail = text->raw.size;
    if (status == PW_OK && signatures && signatures->count && has_own_lines(text, root, signatures, starts, lines)) {
        text->spans = pw_calloc(signatures->count, sizeof *text->spans);
        if (!text->spans)
            status = pw_error_memory(err, signatures->count * sizeof *text->spans);
    }
    for (size_t i = 0; status == PW_OK && text->spans && i < signatures->count; i++) {
        const struct pw_yaml *item = &signatures->items[i];
        bool last = i + 1 == signatures->count;
        size_t floor = i ? signatures->items[i - 1].line : signatures->line;
        size_t begin = over_idle(&text->raw, starts, item->line - 1, floor);
        size_t end = last ? over_idle(&text->raw, starts, lines, item->line)
                          : over_idle(&text->raw, starts, signatures->items[i + 1].line - 1, item->line);
        size_t at = 0;

        pw_triage_list_find(&text->entries, item->key, &at);
        text->spans[at].begin = starts[begin];
        text->spans[at].end = starts[end];
        if (!i)
            text->head = starts[begin];
        if (last)
            text->tail = starts[end];
    }
    pw_free(starts);
    return status;
}

static pw_status check_head(const struct pw_yaml *root, const char *graph, struct pw_error *err)
{
    static const char *const keys[] = {"format", "graph", "model", "signatures", NULL};
    const struct pw_yaml *node;
    const char *text;
    int64_t format = 1;
    pw_status status;

    if (root->kind != PW_YAML_MAP)
        return pw_yaml_error(root, err, "expected a map");
    status = pw_yaml_only(root, keys, err);
    if (status == PW_OK && (node = pw_yaml_get(root, "format"))) {
        status = pw_yaml_int(node, &format, err);
        if (status == PW_OK && format != 1)
            status = pw_yaml_error(node, err, "expected format 1, found %s", node->text);
    }
    if (status == PW_OK && (node = pw_yaml_get(root, "graph"))) {
        status = pw_yaml_text(node, &text, err);
        if (status == PW_OK && graph[0] && strcmp(text, graph) != 0)
            status = pw_yaml_error(node, err, "the triage of another graph: expected %s, found '%s'", graph, text);
    }
    if (status == PW_OK && (node = pw_yaml_get(root, "signatures")) && node->kind != PW_YAML_MAP &&
        !(node->kind == PW_YAML_SCALAR && !node->text[0]))
        status = pw_yaml_error(node, err, "expected a map of signature ids");
    return status;
}

pw_status pw_triage_text_parse(struct pw_triage_text *text, const char *path, const char *graph, struct pw_error *err)
{
    struct pw_arena arena = {0};
    const struct pw_yaml *root = NULL, *signatures = NULL;
    pw_status status = pw_yaml_parse(pw_buf_text(&text->raw), text->raw.size, path, &arena, &root, err);

    if (status == PW_OK)
        status = check_head(root, graph, err);
    if (status == PW_OK)
        signatures = pw_yaml_get(root, "signatures");
    for (size_t i = 0; status == PW_OK && signatures && i < signatures->count; i++) {
        struct pw_triage_entry entry;

        status = read_entry(&signatures->items[i], &entry, err);
        if (status == PW_OK)
            status = pw_triage_list_put(&text->entries, &entry, err);
    }
    if (status == PW_OK)
        status = find_spans(text, root, signatures, err);
    pw_arena_clear(&arena);
    return status;
}

void pw_triage_text_clear(struct pw_triage_text *text)
{
    pw_buf_clear(&text->raw);
    pw_triage_list_clear(&text->entries);
    pw_free(text->spans);
    memset(text, 0, sizeof *text);
}

/* ---- printing ---- */

static void print_waiver(const struct pw_waiver *waiver, struct pw_buf *out, bool *first)
{
    char gates[64];
    bool inner = true;

    pw_yaml_put_key(out, "waiver", first);
    pw_buf_putc(out, '{');
    pw_yaml_put_text_of(out, "reason", waiver->reason, &inner);
    pw_yaml_put_text_of(out, "owner", waiver->owner, &inner);
    pw_yaml_put_word_of(out, "until", waiver->until, &inner);
    if (waiver->gates != PW_WAIVE_ALL)
        pw_buf_printf(out, ", of: [%s]", pw_waive_names(waiver->gates, gates, sizeof gates));
    pw_buf_putc(out, '}');
}

static void print_entry(const struct pw_triage_entry *entry, size_t indent, struct pw_buf *out)
{
    bool first = true;

    pw_buf_printf(out, "%*s\"%s\": {", (int)indent, "", entry->id);
    if (entry->op[0])
        pw_yaml_put_text_of(out, "op", entry->op, &first);
    if (entry->status != PW_TRIAGE_NONE)
        pw_yaml_put_word_of(out, "status", pw_triage_status_name(entry->status), &first);
    if (entry->priority)
        pw_yaml_put_number_of(out, "priority", entry->priority, 3, &first);
    if (entry->owner[0])
        pw_yaml_put_text_of(out, "owner", entry->owner, &first);
    if (entry->note[0])
        pw_yaml_put_text_of(out, "note", entry->note, &first);
    if (entry->waiver.present)
        print_waiver(&entry->waiver, out, &first);
    pw_buf_puts(out, "}\n");
}

static void print_head(const char *graph, const char *model, struct pw_buf *out)
{
    pw_buf_puts(
        out,
        "# What was decided about signatures: status (open, doing, blocked, review, done), priority,\n"
        "# owner, note, waiver {reason, owner, until, of}. One line a signature, sorted; the workbench edits it too.\n"
        "format: 1\ngraph: ");
    pw_yaml_put_quoted(out, graph);
    pw_buf_puts(out, "\nmodel: ");
    pw_yaml_put_quoted(out, model);
    pw_buf_puts(out, "\nsignatures:\n");
}

/* spans: those of `old`, or NULL: all is printed anew. */
static void print_all(const struct pw_triage_text *old, const struct span *spans, const struct pw_triage_list *entries,
                      const char *graph, const char *model, struct pw_buf *out)
{
    if (spans)
        pw_buf_append(out, old->raw.data, old->head);
    else
        print_head(graph, model, out);
    for (size_t i = 0; i < entries->count; i++) {
        const struct pw_triage_entry *entry = &entries->items[i];
        size_t at;
        bool had = pw_triage_list_find(&old->entries, entry->id, &at);
        const struct span *span = had && spans ? &spans[at] : NULL;

        if (span && pw_triage_entry_equal(entry, &old->entries.items[at])) {
            pw_buf_append(out, old->raw.data + span->begin, span->end - span->begin);
            if (span->end > span->begin && !ends_line(&old->raw, span->begin, span->end))
                pw_buf_putc(out, '\n'); /* the last line of a file may lack it */
            continue;
        }
        for (size_t line = span ? span->begin : 0, end; span && line < span->end; line = end) { /* keep its comments */
            end = line_end(&old->raw, line);
            if (!is_idle_line(&old->raw, line, end))
                break;
            pw_buf_append(out, old->raw.data + line, end - line);
        }
        print_entry(entry, spans ? old->indent : 2, out);
    }
    if (spans)
        pw_buf_append(out, old->raw.data + old->tail, old->raw.size - old->tail);
}

/* Do these bytes say what the entries say? */
static bool reads_back(const struct pw_buf *printed, const struct pw_triage_list *entries, const char *graph)
{
    struct pw_triage_text text = {0};
    bool same;

    pw_buf_append(&text.raw, pw_buf_text(printed), printed->size);
    same = !text.raw.failed && pw_triage_text_parse(&text, "", graph, NULL) == PW_OK &&
           text.entries.count == entries->count;
    for (size_t i = 0; same && i < entries->count; i++)
        same = pw_triage_entry_equal(&entries->items[i], &text.entries.items[i]);
    pw_triage_text_clear(&text);
    return same;
}

pw_status pw_triage_text_print(const struct pw_triage_text *old, const struct pw_triage_list *entries,
                               const char *graph, const char *model, struct pw_buf *out, struct pw_error *err)
{
    struct pw_buf kept = {0};

    /* YAML has more ways to go on over lines than are looked for here (a text in quotes with a '#' in front of its last
     * line): what would not read back is printed anew, without its comments. */
    if (old->spans)
        print_all(old, old->spans, entries, graph, model, &kept);
    if (old->spans && !kept.failed && reads_back(&kept, entries, graph))
        pw_buf_append(out, pw_buf_text(&kept), kept.size);
    else
        print_all(old, NULL, entries, graph, model, out);
    out->failed = out->failed || kept.failed;
    pw_buf_clear(&kept);
    return out->failed ? pw_error_memory(err, out->size) : PW_OK;
}
