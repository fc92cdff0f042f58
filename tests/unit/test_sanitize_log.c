/* Reading what Oclgrind says, and the report of it; tests/rooms/test_sanitize.c runs the simulator itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "json_schema.h"
#include "report/sanitize.h"
#include "verify/sanitize_internal.h"

/* As Oclgrind 21.10 printed it. */
static const char said[] = "input.cl:12:3: warning: unused variable\n"
                           "\n"
                           "Invalid read of size 4 at global memory address 0x1000000000014\n"
                           "\tKernel: oob\n"
                           "\tEntity: Global(0,0,0) Local(0,0,0) Group(0,0,0)\n"
                           "\t  %2 = load float, float addrspace(1)* %arrayidx, align 4, !dbg !28\n"
                           "\tAt line 4 (column 12) of prelude.cl:\n"
                           "\t  {\n"
                           "\t\n"
                           "\n"
                           "Write-write data race at global memory address 0x2000000000002\n"
                           "\tKernel: race\n"
                           "\t\n"
                           "\tFirst entity:  Global(1,0,0) Local(1,0,0) Group(0,0,0)\n"
                           "\t  store float %conv, float addrspace(1)* %arrayidx, align 4, !dbg !33\n"
                           "\tAt line 13 (column 10) of race.cl:\n"
                           "\t  }\n"
                           "\t\n"
                           "\tSecond entity: Global(0,0,0) Local(0,0,0) Group(0,0,0)\n"
                           "\tAt line 99 (column 10) of other.cl:\n"
                           "\n"
                           "Work-group divergence detected (barrier)\n"
                           "\tKernel:     diverge\n"
                           "\tWork-group: (0,0,0)\n"
                           "\n"
                           "Controlflow depends on uninitialized value\n"
                           "\tKernel: uninit\n"
                           "\n"
                           "Work item needed to access private memory!\n"
                           "\tKernel: frexp\n"
                           "\n"
                           "Something quite new\n"
                           "\tKernel: next\n";

static void test_complaints(void **state)
{
    struct pw_complaint c[8];
    (void)state;
    assert_int_equal(pw_sanitize_complaints(said, c, 8), 5);
    assert_int_equal(c[0].kind, PW_FINDING_BOUNDS);
    assert_string_equal(c[0].entry, "oob");
    assert_string_equal(c[0].file, "prelude.cl");
    assert_int_equal(c[0].line, 4);
    assert_string_equal(c[0].text, "Invalid read of size 4 at global memory address 0x1000000000014");
    assert_int_equal(c[1].kind, PW_FINDING_RACE);
    assert_string_equal(c[1].file, "race.cl");
    assert_int_equal(c[1].line, 13);
    assert_int_equal(c[2].kind, PW_FINDING_DIVERGENCE);
    assert_string_equal(c[2].entry, "diverge");
    assert_int_equal(c[2].line, 0);
    assert_int_equal(c[3].kind, PW_FINDING_UNINITIALISED);
    assert_int_equal(c[4].kind, PW_FINDING_OTHER);
    assert_string_equal(c[4].entry, "next");
    assert_int_equal(pw_sanitize_complaints(said, c, 2), 2);
    assert_int_equal(pw_sanitize_complaints("", c, 8), 0);
}

/* A log may be cut anywhere, and a kernel may print what it likes. */
static void test_hostile_text(void **state)
{
    struct pw_complaint c[4];
    char text[sizeof said + 3000];
    (void)state;
    for (size_t cut = 0; cut < sizeof said; cut++) {
        pw_sanitize_complaints(said + cut, c, 4);
        memcpy(text, said, cut);
        text[cut] = '\0';
        pw_sanitize_complaints(text, c, 4);
    }
    memset(text, 'x', sizeof text - 1);
    memcpy(text, "Invalid read of size ", 21);
    text[sizeof text - 1] = '\0';
    assert_int_equal(pw_sanitize_complaints(text, c, 4), 1);
    assert_int_equal(pw_sanitize_complaints("Uninitialized\n\tAt line 99999999999999999999 (column 1) of f.cl:\n"
                                            "\tAt line -3 of g.cl:\n\tAt line 7 of h.cl:",
                                            c, 4),
                     1);
    assert_int_equal(c[0].line, 7);
    assert_string_equal(c[0].file, "h.cl");
}

static void test_quote(void **state)
{
    static const char source[] = "#line 1 \"prelude.cl\"\nint a;\n#line 1 \"x.cl\"\nfirst\n   second\nthird";
    char text[8];
    (void)state;
    pw_sanitize_quote(source, "x.cl", 2, text, sizeof text);
    assert_string_equal(text, "second");
    pw_sanitize_quote(source, "x.cl", 3, text, 4);
    assert_string_equal(text, "thi");
    pw_sanitize_quote(source, "x.cl", 9, text, sizeof text);
    assert_string_equal(text, "");
    pw_sanitize_quote(source, "y.cl", 1, text, sizeof text);
    assert_string_equal(text, "");
}

static void test_report(void **state)
{
    const struct pw_finding findings[] = {
        {PW_FINDING_RACE, "sum", "/ops/sum.yaml", "sum_rows", "sum.cl", 7, "reduce/one", "gpu", "it \x1b[31m races"},
        {PW_FINDING_RUN, "sum", "/ops/sum.yaml", "", "", 0, "reduce/two", "cpu", "it does not build"},
    };
    const char *without[] = {"huge"};
    const struct pw_sanitize_report report = {.totals = {.kernels = 3, .kernels_ran = 2, .runs = 9, .findings = 2},
                                              .findings = findings,
                                              .count = 2,
                                              .without = without,
                                              .without_count = 1};
    struct pw_buf out = {0};
    char why[2048];
    (void)state;
    pw_report_sanitize_text(&out, &report);
    assert_non_null(strstr(out.data, "data race: sum.cl:7, kernel sum (sum_rows)\n"));
    assert_non_null(strstr(out.data, "with the case reduce/one, launched as on a gpu\n"));
    assert_non_null(strstr(out.data, "huge: not run"));
    assert_non_null(strstr(out.data, "2 of 3 kernels in 9 runs on Oclgrind: 2 findings\n"));
    assert_null(strchr(out.data, '\x1b'));
    pw_buf_clear(&out);
    assert_int_equal(pw_report_sanitize_json(&out, &report, NULL), PW_OK);
    if (!schema_check_text("sanitize.schema.json", out.data, why, sizeof why))
        fail_msg("%s", why);
    assert_non_null(strstr(out.data, "\"line\": 7"));
    pw_buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_complaints), cmocka_unit_test(test_hostile_text),
                                       cmocka_unit_test(test_quote), cmocka_unit_test(test_report)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
