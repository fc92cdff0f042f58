/* Any bytes as a script of keys (--script), on a workbench that has its graph but no session yet: every screen, prompt
 * and command is reached by the keys. */
#include "tests/fuzz/sample.h"
#include "tests/fuzz/text_mutate.h"
#include "tui/app_internal.h"

/* What a script prints, and what it says of an expectation that does not hold, is not for us. */
static pw_status fuzz_script_quiet(struct pw_app *app, char *text, int *failed, struct pw_error *err)
{
    static FILE *nowhere;
    FILE *out = stdout, *errors = stderr;
    pw_status status;

    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    fuzz_check(nowhere != NULL);
    stdout = stderr = nowhere;
    status = pw_app_script_lines(app, "fuzz", text, failed, err);
    stdout = out;
    stderr = errors;
    return status;
}

/* Nothing comes that could be waited for. */
static bool fuzz_script_waits(const char *text)
{
    for (const char *at = strstr(text, "wait"); at; at = strstr(at + 1, "wait"))
        if (strncmp(at, "wait 0 ", 7) != 0)
            return true;
    return false;
}

static void fuzz_script(const uint8_t *data, size_t size)
{
    static const char *const targets[] = {"opencl", "reference"};
    struct pw_app app = {.headless = true, .canvas = {.ascii = size % 2}};
    char *text = fuzz_text(data, size);
    struct pw_error err = {0};
    int failed = 0;

    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    if (!fuzz_script_waits(text)) {
        fuzz_check(pw_app_begin(&app, "m.onnx", targets, 1 + size % 2, &err) == PW_OK);
        fuzz_check(pw_tui_take_inventory(app.tui, sample_inventory(), &err) == PW_OK);
        if (fuzz_script_quiet(&app, text, &failed, &err) != PW_OK)
            fuzz_check(err.message[0]);
        pw_error_clear(&err);
        fuzz_check(pw_tui_draw(app.tui, &app.canvas, &err) == PW_OK);
        pw_app_end(&app);
    }
    pw_free(text);
}

static void fuzz_script_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, struct pw_buf *out)
{
    static const char *const words[] = {"keys ",
                                        "keys :",
                                        "keys /",
                                        "click 3 5\n",
                                        "size 40 10\n",
                                        "size 300 100\n",
                                        "size 1 1\n",
                                        "shows a\n",
                                        "hides b\n",
                                        "screen\n",
                                        "<Enter>",
                                        "<Esc>",
                                        "<Tab>",
                                        "<S-Tab>",
                                        "<Up>",
                                        "<Down>",
                                        "<Left>",
                                        "<Right>",
                                        "<PgUp>",
                                        "<PgDn>",
                                        "<Home>",
                                        "<End>",
                                        "<Backspace>",
                                        "<Space>",
                                        "<lt>",
                                        "1",
                                        "2",
                                        "3",
                                        "4",
                                        "5",
                                        "6",
                                        "7",
                                        "8",
                                        "9",
                                        "?",
                                        "q",
                                        "j",
                                        "k",
                                        "g",
                                        "G",
                                        "n",
                                        "N",
                                        "s",
                                        "S",
                                        "f",
                                        "v",
                                        "V",
                                        "b",
                                        "e",
                                        "y",
                                        "t",
                                        "m",
                                        "x",
                                        "zz",
                                        ":note a<Enter>",
                                        ":waive 2026-03-01 late<Enter>",
                                        ":status doing<Enter>",
                                        ":owner ann<Enter>",
                                        ":priority 7<Enter>",
                                        ":view slow<Enter>",
                                        ":export x.csv<Enter>",
                                        ":compare 1 2<Enter>",
                                        ":sort ratio<Enter>",
                                        ":group pattern<Enter>",
                                        "keys /cov:missing -op:Softmax flops>1%<Enter>\n",
                                        ":save-view mine<Enter>",
                                        ":screen trends<Enter>",
                                        NULL};
    text_mutate(draws, data, size, words, out);
}

FUZZ_HARNESS(fuzz_script, fuzz_script_mutate);
