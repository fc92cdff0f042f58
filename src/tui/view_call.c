/* What a signature is, one thing a line: its text taken apart. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tui/tui.h"

#define PART_MAX 300

/* The end of the part that begins at `text`: the next `stop` outside of brackets and quotes, or the end. */
static const char *part_end(const char *text, const char *stop)
{
    int depth = 0;
    bool quoted = false;

    for (; *text; text++) {
        if (*text == '"')
            quoted = !quoted;
        if (quoted)
            continue;
        if (!depth && strchr(stop, *text))
            return text;
        if (strchr("([{<", *text))
            depth++;
        else if (strchr(")]}", *text) || (*text == '>' && depth)) /* "->" is no bracket */
            depth--;
        if (depth < 0)
            return text;
    }
    return text;
}

static const char *formal_name(const struct pw_formal *formals, size_t i)
{
    const struct pw_formal *formal = formals ? pw_op_formal(formals, i) : NULL;

    return formal ? formal->name : "";
}

/* "(a, b)": a line each; what stands behind, or NULL when it is no list. */
static const char *add_list(struct pw_lines *lines, const char *text, const char *what, const struct pw_formal *formals)
{
    if (*text != '(')
        return NULL;
    text++;
    for (size_t i = 0; *text && *text != ')'; i++) {
        const char *end = part_end(text, ",");
        char line[PART_MAX + 64];

        if (end == text)
            return NULL;
        snprintf(line, sizeof line, "%-6s %-12s %.*s", what, formal_name(formals, i),
                 (int)(end - text < PART_MAX ? end - text : PART_MAX), text);
        pw_lines_wrap(lines, PW_STYLE_NORMAL, 3, line);
        text = end + (*end == ',');
        text += strspn(text, " ");
    }
    return *text == ')' ? text + 1 : NULL;
}

void pw_view_call(struct pw_lines *lines, const struct pw_signature *s)
{
    const char *at = strchr(s->text, ' ');

    if (!at)
        return;
    pw_lines_head(lines, "Call");
    at += strspn(at, " ");
    while (*at && *at != '(') { /* name=value */
        const char *end = part_end(at, " ");

        if (end == at)
            return; /* a bracket that closes none */
        pw_lines_addf(lines, PW_STYLE_NORMAL, 3, "attribute %.*s", (int)(end - at < PART_MAX ? end - at : PART_MAX),
                      at);
        at = end + strspn(end, " ");
    }
    at = add_list(lines, at, "input", s->op ? s->op->inputs : NULL);
    if (at && !strncmp(at, " -> ", 4))
        add_list(lines, at + 4, "output", s->op ? s->op->outputs : NULL);
}
