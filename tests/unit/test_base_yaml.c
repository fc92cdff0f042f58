/* YAML: the tree, positions, every refusal with file, line and key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/yaml.h"

static const struct pw_yaml *parse(struct pw_arena *arena, const char *text)
{
    struct pw_error err = {0};
    const struct pw_yaml *tree = NULL;
    pw_status status = pw_yaml_parse(text, strlen(text), "t.yaml", arena, &tree, &err);
    if (status != PW_OK)
        print_error("%s\n", err.message);
    assert_int_equal(status, PW_OK);
    return tree;
}

static void expect_error(const char *text, size_t size, const char *part)
{
    struct pw_arena arena = {0};
    struct pw_error err = {0};
    const struct pw_yaml *tree = NULL;
    assert_int_equal(pw_yaml_parse(text, size, "t.yaml", &arena, &tree, &err), PW_ERR_FORMAT);
    assert_null(tree);
    if (strstr(err.message, part) == NULL)
        print_error("'%s' lacks '%s'\n", err.message, part);
    assert_non_null(strstr(err.message, part));
    pw_arena_clear(&arena);
}

static void the_tree_has_positions(void **state)
{
    (void)state;
    struct pw_arena arena = {0};
    const struct pw_yaml *t = parse(&arena, "format: 1\n"
                                            "sizes: [1, 2.5, \"3\"]\n"
                                            "launches:\n"
                                            "  - entry: softmax\n"
                                            "    on: true\n"
                                            "  - {entry: other}\n"
                                            "empty:\n");
    assert_int_equal(t->kind, PW_YAML_MAP);
    assert_int_equal(t->count, 4);
    const struct pw_yaml *sizes = pw_yaml_get(t, "sizes");
    assert_int_equal(sizes->kind, PW_YAML_LIST);
    assert_int_equal(sizes->count, 3);
    assert_int_equal(sizes->line, 2);
    assert_int_equal(sizes->column, 8);
    assert_true(sizes->items[2].quoted);
    const struct pw_yaml *second = &pw_yaml_get(t, "launches")->items[1];
    assert_int_equal(second->line, 6);
    assert_string_equal(pw_yaml_get(second, "entry")->text, "other");
    assert_string_equal(pw_yaml_get(second, "entry")->key, "entry");
    assert_string_equal(pw_yaml_get(t, "empty")->text, "");
    assert_null(pw_yaml_get(t, "absent"));
    assert_null(pw_yaml_get(sizes, "x"));

    struct pw_error err = {0};
    int64_t n = 0;
    double x = 0;
    bool flag = false;
    const char *text = NULL;
    assert_int_equal(pw_yaml_int(pw_yaml_get(t, "format"), &n, &err), PW_OK);
    assert_int_equal(n, 1);
    assert_int_equal(pw_yaml_double(&sizes->items[1], &x, &err), PW_OK);
    assert_true(x == 2.5);
    assert_int_equal(pw_yaml_bool(pw_yaml_get(&pw_yaml_get(t, "launches")->items[0], "on"), &flag, &err), PW_OK);
    assert_true(flag);
    assert_int_equal(pw_yaml_text(&sizes->items[2], &text, &err), PW_OK);
    assert_string_equal(text, "3");
    pw_arena_clear(&arena);
}

static void empty_documents_are_empty_maps(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "# only a comment\n", "---\n", "\n\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct pw_arena arena = {0};
        const struct pw_yaml *t = parse(&arena, texts[i]);
        assert_int_equal(t->kind, PW_YAML_MAP);
        assert_int_equal(t->count, 0);
        pw_arena_clear(&arena);
    }
}

static void syntax_and_structure_errors_have_lines(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"a: [1, 2\nb: 3\n", "t.yaml:2:"},
        {"a: 1\n\tb: 2\n", "t.yaml:2:"},
        {"a: 1\nb: 2\na: 3\n", "t.yaml:3:1: key 'a' is already there in line 1"},
        {"a: &x 1\nb: *x\n", "t.yaml:2:4: aliases"},
        {"a: !!python/object 1\n", "t.yaml:1:4: tags"},
        {"a: 1\n---\nb: 2\n", "t.yaml:2:1: a second document"},
        {"a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> other\n", "t.yaml:2:1: a conflict mark of git"},
        {"a: [X,\n<<<<<<< HEAD\nY,\n=======\n Z,\n>>>>>>> b\n]\n", "t.yaml:2:1: a conflict mark of git"},
        {"a: 1\nb: 2\nc: \x01\n", "t.yaml:3:1: control characters"},
        {"? [1]\n: 2\n", "t.yaml:1:3: a key is a list or map"},
        {"a: \"x\\0y\"\n", "t.yaml:1:4: a NUL character"},
        {"a: \x01\n", "t.yaml:1"},
        {"a: \xFF\n", "t.yaml:1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_error(rows[i].text, strlen(rows[i].text), rows[i].part);
}

static void limits_hold(void **state)
{
    (void)state;
    struct pw_buf text = {0};
    for (int i = 0; i < 65; i++)
        pw_buf_putc(&text, '[');
    expect_error(text.data, text.size, "t.yaml:1:65: lists and maps nested deeper than 64");
    text.size = 0;
    pw_buf_puts(&text, "[");
    for (int i = 0; i < 100001; i++)
        pw_buf_puts(&text, "1,");
    pw_buf_puts(&text, "]");
    expect_error(text.data, text.size, "more than 100000 values");
    text.size = 0;
    for (int i = 0; i < (1 << 20) + 1; i++)
        pw_buf_putc(&text, '#');
    expect_error(text.data, text.size, "at most 1048576 are read");
    pw_buf_clear(&text);
}

static void typed_reads_name_key_and_line(void **state)
{
    (void)state;
    struct pw_arena arena = {0};
    const struct pw_yaml *t = parse(&arena, "a: abc\nb: \"7\"\nc: [1]\nd: 1.5x\ne: yes\nf: 0x1F\ng: -.inf\nh: nan\n"
                                            "colour: red\n");
    struct pw_error err = {0};
    int64_t n;
    double x;
    bool flag;
    const char *text;
    assert_int_equal(pw_yaml_int(pw_yaml_get(t, "a"), &n, &err), PW_ERR_FORMAT);
    assert_string_equal(err.message, "t.yaml:1:4: key 'a': expected an integer, found 'abc'");
    pw_error_clear(&err);
    assert_int_equal(pw_yaml_int(pw_yaml_get(t, "b"), &n, &err), PW_ERR_FORMAT);
    assert_string_equal(err.message, "t.yaml:2:4: key 'b': expected an integer, found the quoted text '7'");
    pw_error_clear(&err);
    assert_int_equal(pw_yaml_text(pw_yaml_get(t, "c"), &text, &err), PW_ERR_FORMAT);
    assert_string_equal(err.message, "t.yaml:3:4: key 'c': expected text, found a list");
    pw_error_clear(&err);
    assert_int_equal(pw_yaml_double(pw_yaml_get(t, "d"), &x, &err), PW_ERR_FORMAT);
    assert_int_equal(pw_yaml_double(pw_yaml_get(t, "h"), &x, NULL), PW_ERR_FORMAT);
    assert_int_equal(pw_yaml_bool(pw_yaml_get(t, "e"), &flag, NULL), PW_ERR_FORMAT);
    assert_int_equal(pw_yaml_int(pw_yaml_get(t, "f"), &n, NULL), PW_OK);
    assert_int_equal(n, 31);
    assert_int_equal(pw_yaml_double(pw_yaml_get(t, "g"), &x, NULL), PW_OK);
    assert_true(isinf(x) && x < 0);

    static const char *const allowed[] = {"a", "b", "c", "d", "e", "f", "g", "h", "color", NULL};
    pw_error_clear(&err);
    assert_int_equal(pw_yaml_only(t, allowed, &err), PW_ERR_FORMAT);
    assert_string_equal(err.message, "t.yaml:9:9: key 'colour': unknown key; did you mean 'color'?");
    assert_int_equal(pw_yaml_only(pw_yaml_get(t, "a"), allowed, NULL), PW_ERR_FORMAT);
    pw_arena_clear(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tree_has_positions),
        cmocka_unit_test(empty_documents_are_empty_maps),
        cmocka_unit_test(syntax_and_structure_errors_have_lines),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(typed_reads_name_key_and_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
