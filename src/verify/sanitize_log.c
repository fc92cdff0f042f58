/*
 * What Oclgrind says, read. Its messages are blocks like
 *
 *     Invalid read of size 4 at global memory address 0x1000000000014
 *             Kernel: softmax_rows
 *             Entity: Global(0,0,0) Local(0,0,0) Group(0,0,0)
 *               %2 = load float, …
 *             At line 4 (column 12) of softmax.cl:
 *               (a line of the text that it was given, which #line has led astray)
 *
 * and a race has such a place twice. The first place counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "verify/sanitize_internal.h"

/* Longer beginnings first where one begins another. */
static const struct {
    const char *words;
    pw_finding_kind kind;
} beginnings[] = {
    {"Invalid read of size", PW_FINDING_BOUNDS},
    {"Invalid write of size", PW_FINDING_BOUNDS},
    {"Invalid write to read-only", PW_FINDING_BOUNDS},
    {"Invalid read from write-only", PW_FINDING_BOUNDS},
    {"Index ", PW_FINDING_BOUNDS},
    {"Read-write data race", PW_FINDING_RACE},
    {"Write-write data race", PW_FINDING_RACE},
    {"Write-read data race", PW_FINDING_RACE},
    {"Uninitialized", PW_FINDING_UNINITIALISED},
    {"Controlflow depends on uninitialized", PW_FINDING_UNINITIALISED},
    {"Instruction depends on an uninitialized", PW_FINDING_UNINITIALISED},
    {"Work-group divergence", PW_FINDING_DIVERGENCE},
};

/* Its own shortcoming: frexp and its like write through a pointer to private memory. */
static const char *const harmless[] = {"Work item needed to access private memory"};

static bool begins(const char *line, const char *words)
{
    return strncmp(line, words, strlen(words)) == 0;
}

/* next: what follows the line. */
static bool kind_of(const char *line, const char *next, pw_finding_kind *kind)
{
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (begins(line, beginnings[i].words)) {
            *kind = beginnings[i].kind;
            return true;
        }
    /* What begins a block otherwise is a complaint that is not known by name. */
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (begins(line, harmless[i]))
            return false;
    *kind = PW_FINDING_OTHER;
    return line[0] != '\0' && line[0] != '\t' && begins(next, "\tKernel:");
}

static void copy(char *dst, size_t size, const char *from, size_t length)
{
    snprintf(dst, size, "%.*s", (int)(length < size ? length : size - 1), from);
}

/* "At line 4 (column 12) of race.cl:" */
static void read_place(const char *line, struct pw_complaint *c)
{
    const char *number = strstr(line, "At line ");
    const char *of = number ? strstr(number, " of ") : NULL;
    if (c->line != 0 || !of)
        return;
    long value = strtol(number + 8, NULL, 10);
    if (value <= 0 || value > 10000000)
        return;
    c->line = (int)value;
    of += 4;
    copy(c->file, sizeof c->file, of, strcspn(of, ":"));
}

static void read_entry(const char *line, struct pw_complaint *c)
{
    const char *name = strstr(line, "Kernel:");
    if (c->entry[0] || !name)
        return;
    name += 7;
    name += strspn(name, " ");
    copy(c->entry, sizeof c->entry, name, strcspn(name, " \t"));
}

size_t pw_sanitize_complaints(const char *log, struct pw_complaint *out, size_t cap)
{
    size_t count = 0;
    struct pw_complaint *now = NULL;
    while (*log) {
        char line[512];
        size_t length = strcspn(log, "\n");
        pw_finding_kind kind;
        copy(line, sizeof line, log, length);
        log += length + (log[length] == '\n');
        if (kind_of(line, log, &kind)) {
            if (count == cap)
                break;
            now = &out[count++];
            memset(now, 0, sizeof *now);
            now->kind = kind;
            copy(now->text, sizeof now->text, line, strlen(line));
        } else if (now) {
            read_entry(line, now);
            read_place(line, now);
        }
    }
    return count;
}

/* The line of a source that was put together with #line before each part. */
void pw_sanitize_quote(const char *source, const char *file, int line, char *dst, size_t size)
{
    char mark[300];
    snprintf(dst, size, "%s", "");
    snprintf(mark, sizeof mark, "#line 1 \"%s\"\n", file);
    const char *at = file[0] ? strstr(source, mark) : NULL;
    if (!at || line <= 0)
        return;
    at += strlen(mark);
    for (int i = 1; i < line && at; i++) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    if (!at)
        return;
    at += strspn(at, " \t");
    copy(dst, size, at, strcspn(at, "\n"));
}
