/* Any bytes as what a compiler, a simulator or a driver prints: Oclgrind's complaints, a build log at the lines of a
 * source, and text made safe for a terminal. */
#include "tests/fuzz/text_mutate.h"
#include "tui/tui.h"
#include "verify/sanitize_internal.h"

/* Nothing that moves the cursor or breaks a line is left, whatever came in. */
static void fuzz_log_display(const char *text, size_t size, size_t columns)
{
    struct pw_buf shown = {0};
    pw_text_display(&shown, text, size, columns, columns % 2);
    fuzz_check(columns == 0 || pw_text_width(pw_buf_text(&shown)) <= columns);
    for (size_t at = 0, used; at < shown.size; at += used) {
        uint32_t code;
        used = pw_text_decode(shown.data + at, shown.size - at, &code);
        fuzz_check(code >= 32 && code != 127 && !(code >= 0x80 && code < 0xa0) && !(code >= 0x202a && code <= 0x202e));
        fuzz_check(code != 0xfffd || used == 3);
    }
    pw_buf_clear(&shown);
}

static void fuzz_log_build(const char *text)
{
    static const char *const targets[] = {"opencl"};
    static struct pw_tui *tui;
    struct pw_error err = {0};
    struct pw_event event = {.kind = PW_EVENT_CASE, .build_log = text, .built = true};

    if (!tui)
        fuzz_check(pw_tui_create(NULL, "m.onnx", targets, 1, &tui, &err) == PW_OK);
    event.result.verdict = strlen(text) % 2 ? PW_VERDICT_ERROR : PW_VERDICT_PASS;
    pw_tui_build_event(tui, &event);
    for (size_t i = 0; i < tui->at->build_count; i++)
        for (size_t k = 0; k < tui->at->builds[i].count; k++)
            fuzz_check(tui->at->builds[i].remarks[k].line >= 0 && tui->at->builds[i].remarks[k].text[0]);
    pw_tui_builds_clear(tui->at);
}

static void fuzz_log(const uint8_t *data, size_t size)
{
    struct pw_complaint complaints[8];
    char *text = fuzz_text(data, size), quote[64];
    size_t count = pw_sanitize_complaints(text, complaints, PW_COUNT_OF(complaints));

    fuzz_check(count <= PW_COUNT_OF(complaints));
    for (size_t i = 0; i < count; i++) {
        fuzz_check(complaints[i].kind < PW_FINDING_COUNT && complaints[i].line >= 0);
        pw_sanitize_quote(text, complaints[i].file, complaints[i].line, quote, sizeof quote);
    }
    fuzz_log_build(text);
    fuzz_log_display((const char *)data, size, 0);
    fuzz_log_display((const char *)data, size, 7);
    fuzz_log_display((const char *)data, size, 80);
    pw_free(text);
}

static void fuzz_log_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, struct pw_buf *out)
{
    static const char *const words[] = {"Invalid write of size 4 at global memory address 0x1\n",
                                        "\tKernel: softmax_rows\n",
                                        "Write-write data race",
                                        "At line 4 (column 12) of race.cl:\n",
                                        "Uninitialized value",
                                        "Work-group divergence",
                                        "error:",
                                        "warning:",
                                        "note:",
                                        "a.cl:12:5: error: no",
                                        "error: a/b.cl:3:1: no",
                                        "fatal error:",
                                        "1 warning generated.",
                                        "#line 1 \"race.cl\"\n",
                                        "\x1b]0;x\x07",
                                        "\xe2\x80\xae",
                                        "\xc2\x9b",
                                        "\xf4\x90\x80\x80",
                                        "999999:",
                                        NULL};
    text_mutate(draws, data, size, words, out);
}

FUZZ_HARNESS(fuzz_log, fuzz_log_mutate);
