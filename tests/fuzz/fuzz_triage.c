/* Any bytes as a triage file: what is read prints to the same bytes while nothing was decided, and after a decision to
 * a text that reads back the same. */
#include "baseline/triage_internal.h"
#include "tests/fuzz/text_mutate.h"

#define FUZZ_TRIAGE_GRAPH "a1b2c3d4"

static bool fuzz_triage_parse(const char *bytes, size_t size, struct pw_triage_text *text)
{
    struct pw_error err = {0};
    pw_buf_append(&text->raw, bytes, size);
    return pw_triage_text_parse(text, "triage.yaml", FUZZ_TRIAGE_GRAPH, &err) == PW_OK;
}

static void fuzz_triage_same(const struct pw_triage_list *a, const struct pw_triage_list *b)
{
    fuzz_check(a->count == b->count);
    for (size_t i = 0; i < a->count; i++)
        fuzz_check(pw_triage_entry_equal(&a->items[i], &b->items[i]));
}

/* A decision about a signature that the file may have or not. */
static void fuzz_triage_decide(const struct pw_triage_text *text)
{
    struct pw_triage_entry entry = {.id = "00112233445566aa", .status = PW_TRIAGE_DOING, .note = "50 % \"quoted\""};
    struct pw_triage_text again = {0};
    struct pw_triage_list ours = {0};
    struct pw_buf out = {0};
    struct pw_error err = {0};

    for (size_t i = 0; i < text->entries.count; i++)
        fuzz_check(pw_triage_list_put(&ours, &text->entries.items[i], &err) == PW_OK);
    if (ours.count)
        memcpy(entry.id, ours.items[ours.count / 2].id, sizeof entry.id);
    fuzz_check(pw_triage_list_put(&ours, &entry, &err) == PW_OK);
    fuzz_check(pw_triage_text_print(text, &ours, FUZZ_TRIAGE_GRAPH, "m.onnx", &out, &err) == PW_OK);
    fuzz_check(fuzz_triage_parse(pw_buf_text(&out), out.size, &again));
    fuzz_triage_same(&ours, &again.entries);
    pw_triage_text_clear(&again);
    pw_triage_list_clear(&ours);
    pw_buf_clear(&out);
}

static bool fuzz_triage_sorted(const struct pw_triage_text *text)
{
    for (size_t i = 1; i < text->entries.count; i++)
        if (text->spans[i].begin < text->spans[i - 1].begin)
            return false;
    return true;
}

static void fuzz_triage(const uint8_t *data, size_t size)
{
    struct pw_triage_text text = {0};
    struct pw_buf out = {0};
    struct pw_error err = {0};

    if (fuzz_triage_parse((const char *)data, size, &text)) {
        for (size_t i = 0; i < text.entries.count; i++) {
            const struct pw_triage_entry *entry = &text.entries.items[i];
            fuzz_check(i == 0 || strcmp(text.entries.items[i - 1].id, entry->id) < 0);
            (void)pw_triage_entry_check(entry, &err);
            (void)pw_triage_waiver(entry, PW_WAIVE_ALL, "2026-03-01");
            pw_error_clear(&err);
        }
        fuzz_check(pw_triage_text_print(&text, &text.entries, FUZZ_TRIAGE_GRAPH, "m.onnx", &out, &err) == PW_OK);
        /* A last line without an end would get one, and lines out of order are sorted. */
        if (text.spans && data[size - 1] == '\n' && fuzz_triage_sorted(&text))
            fuzz_check(out.size == size && memcmp(pw_buf_text(&out), data, size) == 0);
        fuzz_triage_decide(&text);
    }
    pw_buf_clear(&out);
    pw_triage_text_clear(&text);
}

static void fuzz_triage_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, struct pw_buf *out)
{
    static const char *const words[] = {"format",
                                        "graph",
                                        "model",
                                        "signatures",
                                        "op",
                                        "status",
                                        "priority",
                                        "owner",
                                        "note",
                                        "waiver",
                                        "reason",
                                        "until",
                                        "gates",
                                        "open",
                                        "doing",
                                        "blocked",
                                        "review",
                                        "done",
                                        "verify",
                                        "precision",
                                        "coverage",
                                        "throughput",
                                        "all",
                                        "2026-02-29",
                                        "2024-02-29",
                                        "0000-00-00",
                                        "00112233445566aa",
                                        "00112233445566bb",
                                        "  \"00112233445566cc\": {status: open}\n",
                                        "# a remark\n",
                                        "<<<<<<< HEAD\n",
                                        "\"\\u0000\"",
                                        "\"\\x07\"",
                                        NULL};
    text_mutate(draws, data, size, words, out);
}

FUZZ_HARNESS(fuzz_triage, fuzz_triage_mutate);
