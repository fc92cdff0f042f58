/*
 * Every key of the protocol: a wrong value is refused with file, line and key; an unknown neighbour too; and the manual
 * page lists exactly the keys that are read.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "baseline/gate_settings.h"
#include "scratch_file.h"
#include "verify/protocol.h"

#ifndef PW_SRCDIR
#define PW_SRCDIR "."
#endif

#define KEYS_MAX 128

static const char *names[KEYS_MAX];
static size_t name_count;

static pw_status load(const char *text, struct pw_error *err)
{
    struct pw_protocol *protocol = NULL;
    struct pw_gate_options options;
    pw_gate_environment environment;
    pw_status status;

    assert_int_equal(pw_file_write(path, text, strlen(text), err), PW_OK);
    status = pw_protocol_load(path, &protocol, err);
    if (status == PW_OK)
        status = pw_gate_settings(protocol, &options, &environment, err);
    pw_protocol_destroy(protocol);
    return status;
}

static void refused(const char *text, int line, const char *key)
{
    struct pw_error err = {0};
    char place[160], named[160];

    if (load(text, &err) == PW_OK)
        fail_msg("accepted:\n%s", text);
    snprintf(place, sizeof place, "%s:%d:", path, line);
    snprintf(named, sizeof named, "key '%s'", key);
    if (!strstr(err.message, place) || !strstr(err.message, named))
        fail_msg("'%s' lacks '%s' or '%s' for:\n%s", err.message, place, named, text);
}

/* What holds several values is given one; what is one value is given several. */
static const char *wrong_for(const char *section, const char *key)
{
    static const char *const several[] = {"dims",  "tolerances",   "precision",    "bitwise",     "gate",
                                          "rules", "accumulation", "host_allowed", "loss_scaling"};

    if (strcmp(section, "gate"))
        for (size_t i = 0; i < sizeof several / sizeof *several; i++)
            if (!strcmp(several[i], key))
                return "17";
    return "[17]";
}

/* A document with the key on a line of its own, and what its section needs beside it. */
static int place(char *text, size_t size, const char *section, const char *key, const char *value)
{
    static const struct {
        const char *section, *head, *indent;
        int line;
        const char *needs, *with;
    } places[] = {{"", "format: 1\n", "", 2, NULL, NULL},
                  {"gate", "gate:\n", "  ", 2, NULL, NULL},
                  {"bitwise", "bitwise:\n", "  ", 2, NULL, NULL},
                  {"loss_scaling", "loss_scaling:\n", "  ", 2, "kind", "dynamic"},
                  {"tolerances", "tolerances:\n", "    ", 2, "tolerance", "1"},
                  {"precision", "precision:\n", "    ", 2, "storage", "float32"},
                  {"bitwise.rules", "bitwise:\n  rules:\n", "    ", 3, NULL, NULL},
                  {"bitwise.accumulation", "bitwise:\n  accumulation:\n", "    ", 3, "order", "free"}};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *indent = places[i].indent;
        bool item = strlen(indent) == 4, more = places[i].needs && strcmp(places[i].needs, key);

        if (strcmp(places[i].section, section))
            continue;
        snprintf(text, size, "%s%s%s: %s\n%s%s%s%s%s", strcmp(key, "format") ? places[i].head : "#\n",
                 item ? "  - " : indent, key, value, more ? indent : "", more ? places[i].needs : "", more ? ": " : "",
                 more ? places[i].with : "", more ? "\n" : "");
        return places[i].line;
    }
    fail_msg("no document for the section '%s'", section);
    return 0;
}

static void try_key(void *user, const char *section, const char *key)
{
    char text[512], longer[64];
    int line = place(text, sizeof text, section, key, wrong_for(section, key));

    refused(text, line, key);
    snprintf(longer, sizeof longer, "%s_", key);
    line = place(text, sizeof text, section, longer, "1");
    refused(text, line, longer);
    ++*(int *)user;
}

static void test_each_key_with_a_wrong_value(void **state)
{
    int tried = 0;

    (void)state;
    pw_protocol_keys(try_key, &tried);
    for (size_t i = 0; pw_gate_setting_keys[i]; i++)
        try_key(&tried, "gate", pw_gate_setting_keys[i]);
    assert_true(tried > 40);
    refused("tolerances:\n  - 17\n", 2, "tolerances"); /* no rule at all */
    refused("dims:\n  - 17\n", 1, "dims");
    refused("host_allowed:\n  - []\n", 2, "host_allowed");
    refused("tolerances:\n  - {op: Softmax}\n", 2, "tolerances"); /* lacks what it is for */
}

/* ---- the manual page ---- */

static void add_name(void *user, const char *section, const char *key)
{
    (void)user;
    (void)section;
    for (size_t i = 0; i < name_count; i++)
        if (!strcmp(names[i], key))
            return;
    assert_true(name_count < KEYS_MAX);
    names[name_count++] = key;
}

static bool is_name(const char *word, size_t length)
{
    static const char *const dims[] = {"batch", "sequence"}; /* of the example */

    for (size_t i = 0; i < name_count; i++)
        if (strlen(names[i]) == length && !strncmp(names[i], word, length))
            return true;
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++)
        if (strlen(dims[i]) == length && !strncmp(dims[i], word, length))
            return true;
    return false;
}

static void test_the_manual_lists_what_is_read(void **state)
{
    const char *source = getenv("PW_SOURCE");
    char file[512], *page, *at, *end;
    struct pw_buf text = {0};
    struct pw_error err = {0};

    (void)state;
    pw_protocol_keys(add_name, NULL);
    for (size_t i = 0; pw_gate_setting_keys[i]; i++)
        add_name(NULL, "gate", pw_gate_setting_keys[i]);
    snprintf(file, sizeof file, "%s/share/portwright.1", source ? source : PW_SRCDIR);
    if (pw_file_read(file, (size_t)1 << 20, &text, &err) != PW_OK)
        fail_msg("%s", err.message);
    page = strstr(pw_buf_text(&text), ".SH PROTOCOL FILE\n.nf\n");
    assert_non_null(page);
    page += strlen(".SH PROTOCOL FILE\n.nf\n");
    end = strstr(page, "\n.fi\n");
    assert_non_null(end);
    end[1] = '\0';
    for (char *c = page; *c; c++) /* comments are no keys */
        if (*c == '#')
            while (*c && *c != '\n')
                *c++ = ' ';
    for (size_t i = 0; i < name_count; i++) {
        char wanted[64];

        snprintf(wanted, sizeof wanted, "%s:", names[i]);
        for (at = strstr(page, wanted); at && at > page && (isalnum((unsigned char)at[-1]) || at[-1] == '_');)
            at = strstr(at + 1, wanted);
        if (!at)
            fail_msg("the manual's protocol lacks the key '%s'", names[i]);
    }
    for (at = strchr(page, ':'); at; at = strchr(at + 1, ':')) {
        char *from = at;

        while (from > page && (isalnum((unsigned char)from[-1]) || from[-1] == '_'))
            from--;
        if (!is_name(from, (size_t)(at - from)))
            fail_msg("the manual's protocol has '%.*s', which is no key", (int)(at - from), from);
    }
    end[1] = '.';
    pw_buf_clear(&text);
}

/* The example itself is a protocol. */
static void test_the_manuals_example_is_read(void **state)
{
    const char *source = getenv("PW_SOURCE");
    char file[512], *page, *end;
    struct pw_buf text = {0};
    struct pw_error err = {0};

    (void)state;
    snprintf(file, sizeof file, "%s/share/portwright.1", source ? source : PW_SRCDIR);
    assert_int_equal(pw_file_read(file, (size_t)1 << 20, &text, &err), PW_OK);
    page = strstr(pw_buf_text(&text), ".SH PROTOCOL FILE\n.nf\n") + strlen(".SH PROTOCOL FILE\n.nf\n");
    end = strstr(page, "\n.fi\n");
    end[1] = '\0';
    if (load(page, &err) != PW_OK)
        fail_msg("%s", err.message);
    pw_buf_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_key_with_a_wrong_value),
                                       cmocka_unit_test(test_the_manual_lists_what_is_read),
                                       cmocka_unit_test(test_the_manuals_example_is_read)};

    return cmocka_run_group_tests(tests, scratch_file_make, scratch_file_remove);
}
