/* Any bytes, by lines: a filter of the inventory, after ':' a command of the palette (run and completed), after '='
 * saved views. What views are kept reads back the same. */
#include "tests/fuzz/sample.h"
#include "tests/fuzz/text_mutate.h"
#include "tui/tui.h"

static void fuzz_query_filter(struct pw_tui *tui, const char *text)
{
    struct pw_query query;

    pw_query_parse(&query, text);
    fuzz_check(query.count >= 0 && query.count <= PW_QUERY_TERMS);
    for (size_t i = 0; i < tui->inventory->signature_count; i++)
        (void)pw_query_match(&query, tui, i);
    pw_tui_set_filter(tui, text);
}

static void fuzz_query_command(struct pw_tui *tui, const char *text)
{
    struct pw_buf line = {0};
    const char *help;

    for (size_t n = 0; n < 300 && pw_tui_complete(tui, text, n, &line, &help); n++) {
        fuzz_check(line.size > 0);
        pw_buf_clear(&line);
    }
    pw_buf_clear(&line);
    pw_tui_act(tui, text);
}

static void write_views(const struct pw_tui *tui, struct pw_buf *out)
{
    for (int i = 0; i < tui->view_count; i++)
        if (tui->views[i].saved) {
            pw_tui_view_line(&tui->views[i], out);
            pw_buf_putc(out, '\n');
        }
}

static void fuzz_query_views(struct pw_tui *tui, const char *text)
{
    struct pw_buf once = {0}, twice = {0};

    pw_tui_views_read(tui, text);
    write_views(tui, &once);
    for (int i = 0; i < tui->view_count; i++)
        if (tui->views[i].saved)
            pw_tui_apply_view(tui, &tui->views[i]);
    pw_tui_views_init(tui);
    pw_tui_views_read(tui, pw_buf_text(&once));
    write_views(tui, &twice);
    fuzz_check(!strcmp(pw_buf_text(&once), pw_buf_text(&twice)));
    pw_buf_clear(&once);
    pw_buf_clear(&twice);
}

static void fuzz_query(const uint8_t *data, size_t size)
{
    static const char *const targets[] = {"opencl", "reference"};
    struct pw_canvas canvas = {.ascii = size % 2};
    char *text = fuzz_text(data, size), *next;
    struct pw_tui *tui = NULL;
    struct pw_error err = {0};

    fuzz_check(pw_tui_create(sample_inventory(), "m.onnx", targets, 1 + size % 2, &tui, &err) == PW_OK);
    for (char *line = text; *line; line = next) {
        size_t length = strcspn(line, "\n");
        next = line + length + (line[length] == '\n');
        line[length] = '\0';
        if (*line == ':')
            fuzz_query_command(tui, line + 1);
        else if (*line == '=')
            fuzz_query_views(tui, line + 1);
        else
            fuzz_query_filter(tui, line);
        fuzz_check(tui->intent <= PW_INTENT_REDRAW && tui->screen < PW_SCREEN_COUNT);
        fuzz_check(pw_tui_draw(tui, &canvas, &err) == PW_OK);
    }
    pw_canvas_clear(&canvas);
    pw_tui_destroy(tui);
    pw_free(text);
}

static void fuzz_query_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, struct pw_buf *out)
{
    static const char *const words[] = {"op:",
                                        "cat:",
                                        "cov:",
                                        "sens:",
                                        "status:",
                                        "dyn:yes",
                                        "node:",
                                        "pattern:",
                                        "dtype:",
                                        "work:doing",
                                        "owner:",
                                        "note:",
                                        "is:problem",
                                        "flops>1%",
                                        "n>3",
                                        "error>1e-6",
                                        "used<=50",
                                        "speed<1",
                                        "todo>=20",
                                        "-",
                                        "\"a b\"",
                                        "failed",
                                        "missing,host",
                                        "high",
                                        "1e9",
                                        "5%",
                                        "2M",
                                        "\n:verify",
                                        "\n:bench",
                                        "\n:run",
                                        "\n:status doing",
                                        "\n:owner ",
                                        "\n:note ",
                                        "\n:waive 2026-03-01 late",
                                        "\n:unwaive",
                                        "\n:priority 5",
                                        "\n:compare 3 5",
                                        "\n:approve why",
                                        "\n:view ",
                                        "\n:save-view ",
                                        "\n:drop-view ",
                                        "\n:sort ",
                                        "\n:group pattern",
                                        "\n:export a.csv",
                                        "\n:filter ",
                                        "\n:screen ",
                                        "\n:help",
                                        "\n=a\tcov:host\t-share\tnone",
                                        "\t",
                                        "priority",
                                        "operator",
                                        "category",
                                        NULL};
    text_mutate(draws, data, size, words, out);
}

FUZZ_HARNESS(fuzz_query, fuzz_query_mutate);
