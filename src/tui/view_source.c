/* A kernel's source with what the compiler said, each remark below its line. */
#include <stdio.h>
#include <string.h>

#include "tui/tui.h"

enum { GUTTER = 7, LINE_MAX_BYTES = 400, TAB = 4 };

static const char *const severity_names[] = {"note", "warning", "error"};
static const pw_style severity_styles[] = {PW_STYLE_DIM, PW_STYLE_WARN, PW_STYLE_BAD};

static void count_remarks(const struct pw_tui_build *build, size_t counts[3])
{
    for (size_t i = 0; i < build->count; i++)
        counts[build->remarks[i].severity]++;
}

static void add_remark(struct pw_lines *lines, const struct pw_tui_remark *remark, int indent, bool place)
{
    char text[600];

    if (remark->line && place)
        snprintf(text, sizeof text, "%s: %s:%d:%d: %s", severity_names[remark->severity], remark->file, remark->line,
                 remark->column, remark->text);
    else
        snprintf(text, sizeof text, "%s: %s", severity_names[remark->severity], remark->text);
    pw_lines_wrap(lines, severity_styles[remark->severity], indent, text);
}

void pw_view_build(const struct pw_tui *tui, struct pw_lines *lines, size_t signature)
{
    const char *language, *source;
    const struct pw_tui_build *build;
    size_t counts[3] = {0};

    if (!pw_tui_kernel(tui, signature, &language, &source))
        return;
    build = pw_tui_build_of(tui->at, source);
    if (!build || !build->count)
        return;
    count_remarks(build, counts);
    pw_lines_head(lines, build->earlier ? "Compiler (in an earlier session)" : "Compiler");
    pw_lines_addf(lines, counts[PW_BUILD_ERROR] ? PW_STYLE_BAD : PW_STYLE_WARN, 3,
                  "%zu error%s, %zu warning%s in the selected kernel; M goes to %s", counts[PW_BUILD_ERROR],
                  counts[PW_BUILD_ERROR] == 1 ? "" : "s", counts[PW_BUILD_WARNING],
                  counts[PW_BUILD_WARNING] == 1 ? "" : "s", build->count == 1 ? "it" : "the next");
    for (size_t i = 0; i < build->count; i++)
        if (build->remarks[i].severity == PW_BUILD_ERROR || !counts[PW_BUILD_ERROR]) {
            add_remark(lines, &build->remarks[i], 3, true);
            return; /* the first; the others are at their lines */
        }
}

/* A source line by line, with the file and the number that `#line 12 "file.cl"` gives them. */
struct source_walk {
    const char *at, *line; /* the rest; the line that stands now */
    size_t length;
    bool marker; /* the line names a file and is no text of it */
    char file[64];
    int number;
};

static bool read_marker(struct source_walk *walk)
{
    char text[LINE_MAX_BYTES], name[64];
    int number = 0;

    if (walk->length >= sizeof text || strncmp(walk->line, "#line ", 6) != 0)
        return false;
    snprintf(text, sizeof text, "%.*s", (int)walk->length, walk->line);
    if (sscanf(text, "#line %6d \"%63[^\"]\"", &number, name) != 2)
        return false;
    snprintf(walk->file, sizeof walk->file, "%s", name);
    walk->number = number - 1;
    return true;
}

static bool next_line(struct source_walk *walk)
{
    if (!*walk->at)
        return false;
    walk->line = walk->at;
    walk->length = strcspn(walk->at, "\n");
    walk->at += walk->length + (walk->at[walk->length] != '\0');
    walk->marker = read_marker(walk);
    if (!walk->marker)
        walk->number++;
    return true;
}

static bool is_about(const struct pw_tui_remark *remark, const struct source_walk *walk)
{
    return !walk->marker && remark->line == walk->number && !strcmp(remark->file, walk->file);
}

/* The line's text, tabs as blanks up to the next stop. */
static void put_text(struct pw_buf *out, const struct source_walk *walk)
{
    size_t column = 0;

    for (size_t i = 0; i < walk->length && i < LINE_MAX_BYTES; i++) {
        char c = walk->line[i];

        if (c == '\t')
            for (size_t stop = (column / TAB + 1) * TAB; column < stop; column++)
                pw_buf_putc(out, ' ');
        else
            pw_buf_putc(out, c);
        column += c != '\t' && ((unsigned char)c & 0xc0) != 0x80;
    }
}

/* Where a compiler's column, which counts bytes, stands on the screen. */
static int column_of(const struct source_walk *walk, int number)
{
    size_t column = 0;

    for (size_t i = 0; i < walk->length && i + 1 < (size_t)(number > 0 ? number : 1); i++)
        column =
            walk->line[i] == '\t' ? (column / TAB + 1) * TAB : column + (((unsigned char)walk->line[i] & 0xc0) != 0x80);
    return (int)column;
}

/* The remarks of a line below it, a mark under the column where there is room. */
static void add_remarks_of(struct pw_lines *lines, const struct pw_tui_build *build, const struct source_walk *walk)
{
    for (size_t i = 0; i < build->count; i++) {
        const struct pw_tui_remark *remark = &build->remarks[i];
        int indent = GUTTER + column_of(walk, remark->column);
        size_t at = lines->count;

        if (!is_about(remark, walk))
            continue;
        if (indent + 30 > lines->width)
            indent = GUTTER;
        add_remark(lines, remark, indent + 2, false);
        if (lines->count > at)
            pw_lines_front(lines, at, severity_styles[remark->severity], indent, PW_VIEW_REMARK);
    }
}

/* Remarks about the prelude, or about no place: above the source. */
static void add_others(struct pw_lines *lines, const char *source, const struct pw_tui_build *build)
{
    bool placed[PW_TUI_REMARKS] = {false};

    for (struct source_walk walk = {.at = source}; next_line(&walk);)
        for (size_t i = 0; i < build->count; i++)
            placed[i] = placed[i] || is_about(&build->remarks[i], &walk);
    for (size_t i = 0; i < build->count; i++)
        if (!placed[i])
            add_remark(lines, &build->remarks[i], 3, true);
}

void pw_view_source(const struct pw_tui *tui, struct pw_lines *lines, size_t signature)
{
    const char *language, *source;
    const struct pw_kernel *kernel = pw_tui_kernel(tui, signature, &language, &source);
    const struct pw_tui_build *build;
    struct pw_buf text = {0};

    if (!kernel)
        return;
    build = pw_tui_build_of(tui->at, source);
    pw_lines_head(lines, "Source");
    pw_lines_addf(lines, PW_STYLE_DIM, 3, "%s", pw_kernel_path(kernel));
    if (!build)
        pw_lines_wrap(lines, PW_STYLE_DIM, 3, "Not built yet: v verifies it and shows what the compiler says.");
    else if (!build->count)
        pw_lines_add(lines, PW_STYLE_GOOD, 3, "The compiler has nothing to say.");
    else
        add_others(lines, source, build);
    for (struct source_walk walk = {.at = source}; next_line(&walk);) {
        if (walk.marker) {
            pw_lines_add(lines, PW_STYLE_HEADER, GUTTER, walk.file);
            continue;
        }
        pw_lines_addf(lines, PW_STYLE_DIM, 1, "%*d", GUTTER - 2, walk.number);
        text.size = 0;
        put_text(&text, &walk);
        if (text.size)
            pw_lines_more(lines, PW_STYLE_NORMAL, GUTTER, pw_buf_text(&text));
        if (build)
            add_remarks_of(lines, build, &walk);
    }
    pw_buf_clear(&text);
}
