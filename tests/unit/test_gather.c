/* Reports of several targets as one output: one document in each format, as its schema and a reader want it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "cli/gather.h"
#include "json_schema.h"
#include "scratch_file.h"

/* What two reports become. */
static void gathers(pw_format format, const char *first, const char *second, struct pw_buf *out)
{
    struct pw_options options = {.format = format, .output = path, .target_count = 2};
    struct pw_gather gather = pw_gather_begin(&options);
    struct pw_error err = {0};

    assert_int_equal(pw_gather_add(&gather, &options, first, strlen(first)), PW_EXIT_HELD);
    assert_int_equal(pw_gather_add(&gather, &options, second, strlen(second)), PW_EXIT_HELD);
    assert_int_equal(pw_gather_end(&gather, &options), PW_EXIT_HELD);
    assert_int_equal(pw_file_read(path, 1 << 16, out, &err), PW_OK);
}

static void test_json(void **state)
{
    struct pw_buf out = {0};
    char why[2048];

    (void)state;
    gathers(PW_FORMAT_JSON, "{\"schema\": 1, \"target\": \"a\"}\n", "{\"schema\": 1, \"target\": \"b\"}\n", &out);
    if (!schema_check_text("several.schema.json", pw_buf_text(&out), why, sizeof why))
        fail_msg("%s: %s", why, pw_buf_text(&out));
    assert_non_null(strstr(pw_buf_text(&out), "\"target\": \"b\""));
    pw_buf_clear(&out);
}

static void test_csv_and_junit(void **state)
{
    struct pw_buf out = {0};

    (void)state;
    gathers(PW_FORMAT_CSV, "x,target\r\n1,a\r\n", "x,target\r\n2,b\r\n", &out);
    assert_string_equal(pw_buf_text(&out), "x,target\r\n1,a\r\n2,b\r\n");
    pw_buf_clear(&out);
    gathers(PW_FORMAT_CSV, "x,target\r\n1,a\r\n", "y,target\r\n2,b\r\n", &out); /* another table keeps its head */
    assert_string_equal(pw_buf_text(&out), "x,target\r\n1,a\r\ny,target\r\n2,b\r\n");
    pw_buf_clear(&out);
    gathers(PW_FORMAT_JUNIT, "<?xml version=\"1.0\"?>\n<testsuites>\n<testsuite name=\"a\"/>\n</testsuites>\n",
            "<?xml version=\"1.0\"?>\n<testsuites tests=\"1\">\n<testsuite name=\"b\"/>\n</testsuites>\n", &out);
    assert_string_equal(pw_buf_text(&out), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                                           "<testsuite name=\"a\"/>\n<testsuite name=\"b\"/>\n</testsuites>\n");
    pw_buf_clear(&out);
}

static void test_one_report_is_written_as_it_is(void **state)
{
    struct pw_options options = {.format = PW_FORMAT_JSON, .output = path, .target_count = 1};
    struct pw_gather gather = pw_gather_begin(&options);
    struct pw_buf out = {0};
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(pw_gather_add(&gather, &options, "{}\n", 3), PW_EXIT_HELD);
    assert_int_equal(pw_gather_end(&gather, &options), PW_EXIT_HELD);
    assert_int_equal(pw_file_read(path, 1 << 16, &out, &err), PW_OK);
    assert_string_equal(pw_buf_text(&out), "{}\n");
    pw_buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_json), cmocka_unit_test(test_csv_and_junit),
                                       cmocka_unit_test(test_one_report_is_written_as_it_is)};

    return cmocka_run_group_tests(tests, scratch_file_make, scratch_file_remove);
}
