/* The report: maturity claims no more than its facts, writers escape hostile names, JSON fits its schema. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "json_schema.h"
#include "report/model.h"

/* ---- maturity ---- */

static pw_maturity judge(const struct pw_maturity_facts *facts)
{
    struct pw_maturity_evidence evidence[PW_MATURITY_EVIDENCE];
    size_t count = 0;
    pw_maturity level = pw_maturity_judge(facts, evidence, &count);

    assert_in_range(count, 1, PW_MATURITY_EVIDENCE);
    for (size_t i = 0; i < count; i++) /* every level that is claimed rests on met evidence */
        assert_true(evidence[i].level > level || evidence[i].met);
    return level;
}

static void test_maturity(void **state)
{
    struct pw_maturity_facts facts = {.soak_seconds = NAN, .signatures = 10};

    (void)state;
    assert_int_equal(judge(&facts), PW_MATURITY_NONE);
    facts.held = 10; /* all cases held, but the graph never ran: not even bring-up */
    assert_int_equal(judge(&facts), PW_MATURITY_NONE);
    facts.ran_end_to_end = true;
    assert_int_equal(judge(&facts), PW_MATURITY_NONE);
    facts.end_to_end_held = true;
    facts.unproven = 1;
    assert_int_equal(judge(&facts), PW_MATURITY_BRING_UP);
    facts.unproven = 0;
    facts.failed = 1;
    assert_int_equal(judge(&facts), PW_MATURITY_BRING_UP);
    facts.failed = 0;
    assert_int_equal(judge(&facts), PW_MATURITY_VERIFIED);
    facts.throughput_baseline = true;
    assert_int_equal(judge(&facts), PW_MATURITY_VERIFIED); /* approved, but never checked against */
    facts.gate_ran = true;
    assert_int_equal(judge(&facts), PW_MATURITY_VERIFIED);
    facts.gate_passed = true;
    assert_int_equal(judge(&facts), PW_MATURITY_PERFORMANT);
    facts.soak_seconds = 7199;
    facts.soak_failures = 0;
    facts.recovered = facts.locked = facts.lock_matches = true;
    facts.soak_deaths = 1;
    assert_int_equal(judge(&facts), PW_MATURITY_PERFORMANT); /* a second short */
    facts.soak_seconds = 7200;
    assert_int_equal(judge(&facts), PW_MATURITY_PRODUCTION);
    facts.lock_matches = false;
    assert_int_equal(judge(&facts), PW_MATURITY_PERFORMANT);
    facts.lock_matches = true;
    facts.soak_failures = 1;
    assert_int_equal(judge(&facts), PW_MATURITY_PERFORMANT);
    facts.soak_failures = 0;
    facts.soak_deaths = 0; /* nothing died, so that it recovers was not seen */
    assert_int_equal(judge(&facts), PW_MATURITY_PERFORMANT);
    facts.soak_deaths = NAN; /* a soak of an older version */
    assert_int_equal(judge(&facts), PW_MATURITY_PERFORMANT);
    facts.soak_deaths = 2;
    facts.recovered = false;
    assert_int_equal(judge(&facts), PW_MATURITY_PERFORMANT);
    facts.recovered = true;
    facts.ran_end_to_end = false; /* whatever stands above, without the base nothing does */
    assert_int_equal(judge(&facts), PW_MATURITY_NONE);
}

/* ---- writers ---- */

#define EVIL "<script>\"a&b|c\\\x01\n=1"

static struct pw_signature signature = {.text = EVIL,
                                        .id = "aaaaaaaaaaaaaaaa",
                                        .op_label = EVIL,
                                        .shapes = "[1]",
                                        .category = PW_CATEGORY_MATMUL,
                                        .dtype = PW_DTYPE_FLOAT32,
                                        .share = 1,
                                        .sensitivity_reason = EVIL};
static struct pw_inventory inventory = {
    .signatures = &signature, .signature_count = 1, .node_count = 1, .total_flops = 8};

static struct pw_report *build(size_t count)
{
    static const char *const targets[] = {"opencl", "plugin:chip.so"};
    struct pw_report_request request = {.inventory = &inventory,
                                        .model_path = EVIL,
                                        .graph_id = "00000000000000000000000000000000",
                                        .targets = targets,
                                        .target_count = count,
                                        .db = "/nonexistent/none.db",
                                        .baselines = "/nonexistent/baselines",
                                        .now_ms = 1790000000000};
    struct pw_report *report = NULL;
    struct pw_error err = {0};

    if (pw_report_build(&request, &report, &err) != PW_OK)
        fail_msg("%s", err.message);
    return report;
}

static void shows(const struct pw_buf *text, const char *part)
{
    if (!strstr(pw_buf_text(text), part))
        fail_msg("no '%s' in:\n%s", part, pw_buf_text(text));
}

static void test_nothing_measured(void **state)
{
    struct pw_report *report = build(1);
    struct pw_buf text = {0};

    (void)state;
    assert_int_equal(report->targets[0].maturity, PW_MATURITY_NONE);
    assert_string_equal(pw_report_row_verdict(&report->targets[0].rows[0]), "not measured");
    pw_report_md(report, &text);
    shows(&text, "**unproven**");
    shows(&text, "Nothing was measured on it");
    pw_buf_clear(&text);
    pw_report_html(report, NULL, &text);
    shows(&text, "Nothing was benchmarked");
    pw_buf_clear(&text);
    pw_report_openmetrics(report, &text);
    assert_null(strstr(pw_buf_text(&text), "portwright_signature_error{")); /* unknown is not 0 */
    pw_buf_clear(&text);
    pw_report_destroy(report);
}

static void test_hostile_names(void **state)
{
    struct pw_report *report = build(1);
    struct pw_store_signature_row result = {.standing = "failed",
                                            .coverage = "kernel",
                                            .worst_error = 0.5,
                                            .tolerance = 0.25,
                                            .worst_ratio = 2,
                                            .cases = 3};
    struct pw_buf text = {0};

    (void)state;
    report->targets[0].rows[0].result = &result;
    pw_report_html(report, NULL, &text);
    assert_null(strstr(pw_buf_text(&text), "<script"));
    shows(&text, "&lt;script&gt;&quot;a&amp;b");
    assert_null(strchr(pw_buf_text(&text), '\x01'));
    pw_buf_clear(&text);
    pw_report_junit(report, &text);
    assert_null(strstr(pw_buf_text(&text), "<script"));
    assert_null(strchr(pw_buf_text(&text), '\x01'));
    shows(&text, "failures=\"1\"");
    shows(&text, "worst error 0.5, tolerance 0.25");
    pw_buf_clear(&text);
    pw_report_openmetrics(report, &text);
    shows(&text, "operator=\"<script>\\\"a&b|c\\\\\x01\\n=1\"} 0.5\n"); /* quote, backslash and line feed escaped */
    shows(&text, "\n# EOF\n");
    pw_buf_clear(&text);
    pw_report_md(report, &text);
    shows(&text, "a&b\\|c"); /* a pipe would end the cell */
    pw_buf_clear(&text);
    pw_report_csv(report, &text);
    shows(&text, "\"<script>\"\"a&b|c");
    pw_buf_clear(&text);
    pw_report_destroy(report);
}

static void test_a_hostile_database(void **state)
{
    struct pw_report *report = build(2);
    struct pw_store_signature_row result = {
        .standing = EVIL, .coverage = EVIL, .target_ns = 2000, .reference_ns = 3000, .environment_id = "then"};
    struct pw_buf text = {0};

    (void)state;
    report->targets[0].rows[0].result = &result;
    report->targets[0].run.id = 7;
    report->targets[0].run.environment_id = EVIL;
    pw_report_html(report, NULL, &text);
    assert_null(strstr(pw_buf_text(&text), "<script"));
    shows(&text, "newest run's (&lt;script&gt;");
    pw_buf_clear(&text);
    pw_report_destroy(report);
}

static void test_figures_with_units(void **state)
{
    char text[48];

    (void)state;
    assert_string_equal(pw_report_figure_text("target_ns", 2000, text, sizeof text), "2.0 us");
    assert_string_equal(pw_report_figure_text("soak.seconds", 7200, text, sizeof text),
                        pw_report_figure_text("x_ns", 7200e9, text + 24, 24));
    assert_string_equal(pw_report_figure_text("soak.failures", 3, text, sizeof text), "3");
    assert_string_equal(pw_report_figure_text("soak.time_drift", NAN, text, sizeof text), "-");
    assert_string_equal(pw_report_figure_text("soak.memory_bytes", NAN, text, sizeof text), "-");
}

/* Times of another environment than the newest run's are marked in every format. */
static void test_environments(void **state)
{
    struct pw_report *report = build(1);
    struct pw_report_target_part *part = &report->targets[0];
    struct pw_store_signature_row result = {
        .standing = "held", .coverage = "kernel", .target_ns = 2000, .reference_ns = 3000, .environment_id = "then"};
    struct pw_buf text = {0};

    (void)state;
    part->rows[0].result = &result;
    part->run.id = 7;
    part->run.environment_id = "then";
    pw_report_md(report, &text);
    assert_null(strstr(pw_buf_text(&text), "†"));
    pw_buf_clear(&text);
    part->run.environment_id = "now";
    pw_report_md(report, &text);
    shows(&text, "2.0 us †");
    shows(&text, "another environment than the newest run's (now)");
    pw_buf_clear(&text);
    pw_report_html(report, NULL, &text);
    shows(&text, "2.0 us †</td>");
    shows(&text, "another environment than the newest run's (now)");
    pw_buf_clear(&text);
    pw_report_csv(report, &text);
    shows(&text, ",\"then\"\r\n");
    pw_buf_clear(&text);
    pw_report_destroy(report);
}

static void test_side_by_side(void **state)
{
    struct pw_report *report = build(2);
    struct pw_store_signature_row here = {.standing = "held",
                                          .coverage = "kernel",
                                          .worst_ratio = 0.25,
                                          .target_ns = 2000,
                                          .reference_ns = 3000,
                                          .environment_id = ""},
                                  there = {.standing = "unproven", .coverage = "missing", .environment_id = ""};
    struct pw_buf text = {0};

    (void)state;
    report->targets[0].rows[0].result = &here;
    report->targets[1].rows[0].result = &there;
    pw_report_md(report, &text);
    shows(&text,
          "| opencl: covered | opencl: verdict | opencl: of tolerance | opencl: speed | plugin:chip.so: covered |");
    shows(&text, "| kernel | held | 0.25 | 1.5x | missing | unproven |");
    shows(&text, "| plugin:chip.so |\n");
    pw_buf_clear(&text);
    signature.shape_arithmetic = true; /* belongs on the host */
    pw_report_missing_on(report, 0, &text);
    signature.shape_arithmetic = false;
    assert_string_equal(pw_buf_text(&text), "");
    pw_buf_clear(&text);
    pw_report_html(report, NULL, &text);
    shows(&text, "<th colspan=\"4\">plugin:chip.so</th>");
    shows(&text, "<td class=\"c\">plugin:chip.so</td></tr>");
    pw_buf_clear(&text);
    pw_report_destroy(report);
}

static void test_json_schema(void **state)
{
    struct pw_report *report = build(1);
    struct pw_buf text = {0};
    struct pw_error err = {0};
    char why[2048];

    (void)state;
    assert_int_equal(pw_report_json(report, &text, &err), PW_OK);
    if (!schema_check_text("report.schema.json", pw_buf_text(&text), why, sizeof why))
        fail_msg("%s", why);
    pw_buf_clear(&text);
    pw_report_destroy(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maturity),           cmocka_unit_test(test_nothing_measured),
        cmocka_unit_test(test_hostile_names),      cmocka_unit_test(test_a_hostile_database),
        cmocka_unit_test(test_figures_with_units), cmocka_unit_test(test_environments),
        cmocka_unit_test(test_side_by_side),       cmocka_unit_test(test_json_schema)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
