/* Several reports of one command as one output. */
#include "cli/gather.h"

#include <string.h>

static void add_csv(struct pw_gather *g, const char *text, size_t size)
{
    const char *end = memchr(text, '\n', size);
    size_t head = end ? (size_t)(end + 1 - text) : size;

    /* The columns are named once. */
    if (g->text.size >= head && !memcmp(pw_buf_text(&g->text), text, head)) {
        text += head;
        size -= head;
    }
    pw_buf_append(&g->text, text, size);
}

/* The suites alone; the document around them is written at the end. */
static void add_junit(struct pw_gather *g, const char *text, size_t size)
{
    const char *begin = strstr(text, "<testsuites"), *end = strstr(text, "</testsuites>");

    begin = begin ? strchr(begin, '\n') : NULL;
    if (begin && end && end > begin)
        pw_buf_append(&g->text, begin + 1, (size_t)(end - begin - 1));
    else
        pw_buf_append(&g->text, text, size);
}

static void add(struct pw_gather *g, pw_format format, const char *text, size_t size)
{
    if (format == PW_FORMAT_CSV) {
        add_csv(g, text, size);
    } else if (format == PW_FORMAT_JUNIT) {
        add_junit(g, text, size);
    } else {
        if (g->count)
            pw_buf_puts(&g->text, format == PW_FORMAT_JSON ? "," : "\n");
        pw_buf_append(&g->text, text, size);
    }
}

int pw_gather_add(struct pw_gather *g, const struct pw_options *options, const char *text, size_t size)
{
    /* A single report is written as it is, and text goes to a terminal as it comes. */
    if (!g->several || (!options->output && options->format == PW_FORMAT_TEXT))
        return pw_options_write(options, text, size);
    add(g, options->format, text, size);
    g->count++;
    return PW_EXIT_HELD;
}

int pw_gather_end(struct pw_gather *g, const struct pw_options *options)
{
    struct pw_buf whole = {0};
    struct pw_error err = {0};
    int exit_code = PW_EXIT_HELD;

    if (g->count) {
        if (options->format == PW_FORMAT_JSON)
            pw_buf_puts(&whole, "{\"schema\": 1, \"report\": \"several\", \"reports\": [\n");
        else if (options->format == PW_FORMAT_JUNIT)
            pw_buf_puts(&whole, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
        pw_buf_append(&whole, pw_buf_text(&g->text), g->text.size);
        if (options->format == PW_FORMAT_JSON)
            pw_buf_puts(&whole, "]}\n");
        else if (options->format == PW_FORMAT_JUNIT)
            pw_buf_puts(&whole, "</testsuites>\n");
        if (whole.failed || g->text.failed) {
            pw_error_memory(&err, g->text.size);
            exit_code = pw_options_fail(&err);
        } else {
            exit_code = pw_options_write(options, pw_buf_text(&whole), whole.size);
        }
    }
    pw_buf_clear(&whole);
    pw_buf_clear(&g->text);
    g->count = 0;
    return exit_code;
}
