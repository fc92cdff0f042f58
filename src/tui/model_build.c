/* What compilers said of kernels' sources: read from build logs, kept by the source, so that an edit and its undoing
 * each show their own. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/builds.h"
#include "tui/tui.h"

void pw_tui_builds_clear(struct pw_tui_side *side)
{
    for (size_t i = 0; i < side->build_count; i++)
        pw_free(side->builds[i].remarks);
    pw_free(side->builds);
    side->builds = NULL;
    side->build_count = 0;
}

static struct pw_tui_build *find(const struct pw_tui_side *side, struct pw_hash128 source)
{
    for (size_t i = 0; i < side->build_count; i++)
        if (side->builds[i].source.high == source.high && side->builds[i].source.low == source.low)
            return &side->builds[i];
    return NULL;
}

const struct pw_tui_build *pw_tui_build_of(const struct pw_tui_side *side, const char *source)
{
    return find(side, pw_hash128(source, strlen(source)));
}

const struct pw_kernel *pw_tui_kernel(const struct pw_tui *tui, size_t signature, const char **language,
                                      const char **source)
{
    const struct pw_impl_list *impls = pw_tui_impls(tui, signature);
    const struct pw_kernel *kernel = impls && impls->selected >= 0 ? impls->items[impls->selected].kernel : NULL;

    *language = kernel ? pw_kernel_language(kernel, 0) : NULL;
    *source = *language ? pw_kernel_source(kernel, *language) : NULL;
    return *source ? kernel : NULL;
}

/* ---- a line of a log ---- */

static const struct {
    const char *word;
    pw_build_severity severity;
} severities[] = {
    {"fatal error", PW_BUILD_ERROR}, {"error", PW_BUILD_ERROR}, {"warning", PW_BUILD_WARNING}, {"note", PW_BUILD_NOTE}};

/* "error:" and blanks at the beginning; what stands behind, or NULL. */
static const char *read_severity(const char *text, pw_build_severity *severity)
{
    for (size_t i = 0; i < sizeof severities / sizeof *severities; i++) {
        size_t length = strlen(severities[i].word);

        if (strncmp(text, severities[i].word, length) != 0 || text[length] != ':')
            continue;
        *severity = severities[i].severity;
        text += length + 1;
        return text + strspn(text, " ");
    }
    return NULL;
}

/* Digits and a colon: at most six, so that nothing overflows. */
static const char *read_number(const char *text, int *number)
{
    size_t digits = strspn(text, "0123456789");

    if (!digits || digits > 6 || text[digits] != ':')
        return NULL;
    *number = (int)strtol(text, NULL, 10);
    return text + digits + 1;
}

/* "file:12:5: " or "file:12: "; what stands behind, or NULL. A name may hold colons. */
static const char *read_place(const char *text, struct pw_tui_remark *remark)
{
    for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
        const char *rest = read_number(colon + 1, &remark->line), *name = text, *more;

        if (!rest || colon == text)
            continue;
        more = read_number(rest, &remark->column);
        for (const char *p = text; p < colon; p++)
            if (*p == '/')
                name = p + 1;
        snprintf(remark->file, sizeof remark->file, "%.*s", (int)(colon - name < 63 ? colon - name : 63), name);
        rest = more ? more : rest;
        return rest + strspn(rest, " ");
    }
    return NULL;
}

/* PoCL says "error: file:12:5: text", clang itself "file:12:5: error: text". */
static bool read_remark(const char *line, struct pw_tui_remark *remark)
{
    const char *rest = read_severity(line, &remark->severity), *behind;

    if (rest) {
        behind = read_place(rest, remark);
    } else {
        behind = read_place(line, remark);
        behind = behind ? read_severity(behind, &remark->severity) : NULL;
    }
    if (!rest && !behind)
        return false;
    if (!behind)
        remark->line = remark->column = 0;
    snprintf(remark->text, sizeof remark->text, "%s", behind ? behind : rest);
    return remark->text[0] != '\0';
}

/* ---- keeping ---- */

static bool same_place(const struct pw_tui_remark *a, const struct pw_tui_remark *b)
{
    return a->line == b->line && a->column == b->column && !strcmp(a->file, b->file);
}

/* In the order of the places; those of one place as they came, so that a note follows what it explains. */
static void keep_remark(struct pw_tui_build *build, const struct pw_tui_remark *remark)
{
    size_t at;

    for (size_t i = 0; i < build->count; i++) /* a program is built for every dtype, and by every worker */
        if (same_place(&build->remarks[i], remark) && !strcmp(build->remarks[i].text, remark->text))
            return;
    if (build->count == PW_TUI_REMARKS ||
        PW_GROW(build->remarks, build->cap, build->count + 1, &(struct pw_error){0}) != PW_OK)
        return;
    for (at = build->count; at > 0; at--) {
        const struct pw_tui_remark *before = &build->remarks[at - 1];
        int order = strcmp(before->file, remark->file);

        if (order < 0 || (order == 0 && before->line <= remark->line))
            break;
        build->remarks[at] = build->remarks[at - 1];
    }
    build->remarks[at] = *remark;
    build->count++;
}

/* A place for a source; NULL when memory is short. */
static struct pw_tui_build *build_for(struct pw_tui_side *side, struct pw_hash128 source)
{
    struct pw_tui_build *build = find(side, source);

    if (build)
        return build;
    if (!side->builds)
        side->builds = pw_calloc(PW_TUI_BUILDS, sizeof *side->builds);
    if (!side->builds)
        return NULL;
    if (side->build_count == PW_TUI_BUILDS) {
        pw_free(side->builds[0].remarks);
        memmove(side->builds, side->builds + 1, (PW_TUI_BUILDS - 1) * sizeof *side->builds);
        side->build_count--;
    }
    build = &side->builds[side->build_count++];
    *build = (struct pw_tui_build){.source = source};
    return build;
}

static size_t length_of_line(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));

    return (size_t)((newline ? newline : end) - at);
}

static bool says_nothing(const char *line)
{
    return !line[strspn(line, " \t\r")] || (isdigit((unsigned char)line[0]) && strstr(line, "generated."));
}

/* Reads a log's remarks into a build; a failed one without any keeps all that was said. Of a very long log the begin,
 * as the store does: a key waits meanwhile. */
static void read_log(struct pw_tui_build *build, const char *log, bool failed)
{
    const char *end = log ? log + strnlen(log, PW_STORE_BUILD_LOG) : NULL;

    for (const char *at = log; at < end;) {
        size_t length = length_of_line(at, end);
        struct pw_tui_remark remark = {.severity = PW_BUILD_NOTE};
        char line[1024];

        snprintf(line, sizeof line, "%.*s", (int)(length < 1000 ? length : 1000), at);
        if (read_remark(line, &remark))
            keep_remark(build, &remark);
        at += length + 1;
    }
    if (!failed || build->count)
        return;
    for (const char *at = log; at < end;) { /* it failed, and says so in words of its own */
        size_t length = length_of_line(at, end);
        struct pw_tui_remark remark = {.severity = PW_BUILD_ERROR};

        snprintf(remark.text, sizeof remark.text, "%.*s", (int)(length < 390 ? length : 390), at);
        if (!says_nothing(remark.text))
            keep_remark(build, &remark);
        at += length + 1;
    }
}

void pw_tui_build_event(struct pw_tui *tui, const struct pw_event *event)
{
    struct pw_tui_build *build = build_for(tui->at, event->build_source);

    if (!build)
        return;
    if (build->earlier && event->build_log && event->build_log[0]) /* said anew, perhaps by another compiler */
        build->count = 0;
    if (event->build_log && event->build_log[0])
        build->earlier = false;
    read_log(build, event->build_log, event->kind == PW_EVENT_CASE && event->result.verdict == PW_VERDICT_ERROR);
}

void pw_tui_builds_recalled(struct pw_tui *tui, const struct pw_event *event)
{
    for (size_t i = 0; i < event->build_count; i++) { /* asked again: all of it comes anew */
        struct pw_tui_build *build = find(tui->at, event->builds[i].source);

        if (build && build->earlier)
            build->count = 0;
    }
    for (size_t i = 0; i < event->build_count; i++) {
        const struct pw_store_build *kept = &event->builds[i];
        struct pw_tui_build *build = find(tui->at, kept->source);

        if (build && !build->earlier && build->count) /* built again before the store was read */
            continue;
        build = build ? build : build_for(tui->at, kept->source);
        if (!build)
            return;
        build->earlier = true;
        read_log(build, kept->log, kept->failed);
    }
}

/* To the next line that begins with the mark of a compiler's remark. */
void pw_tui_act_remark(struct pw_tui *tui)
{
    const struct pw_lines *text = &tui->text;
    int count;

    pw_tui_fill(tui);
    count = (int)text->count;
    for (int tried = 1; tried <= count; tried++) {
        int at = (tui->remark + tried) % count;
        const struct pw_line *line = pw_lines_at(text, (size_t)at);

        if (line && line->span_count &&
            !strcmp(text->text.data + text->spans[line->first_span].offset, PW_VIEW_REMARK)) {
            tui->remark = at;
            tui->scroll[tui->screen] = at > 3 ? at - 3 : 0; /* with what it is about */
            tui->left[tui->screen] = 0;
            return;
        }
    }
    pw_tui_say(tui, false, "the compiler has said nothing about the lines of the selected kernel");
}
