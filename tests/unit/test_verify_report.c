/* The report of a verification in every format, from results made by hand: no device, no kernels. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "json_schema.h"
#include "report/verify.h"

#define HELD "3:00112233445566a0:f32:graph:normal:1"
#define FAILED "3:00112233445566a1:f16:i0=3x5,axis=-1:special:18446744073709551615"
#define SMALL "3:00112233445566a1:f16:i0=1x1,axis=-1:exact:18446744073709551615"
#define NO_EVIDENCE "3:00112233445566a2:f32:graph:captured:00ff00ff00ff00ff"

static struct pw_impl kernel_impl = {.kind = PW_COVERAGE_KERNEL, .name = "rows<4>", .supported = true, .why = ""};
static struct pw_impl_list on_kernel = {&kernel_impl, 1, 0, PW_COVERAGE_KERNEL, false, false, ""};
static struct pw_signature signatures[] = {
    {.text = "Erf", .id = "00112233445566a0", .op_label = "Erf-13", .shapes = "[3] -> [3]", .node_count = 1},
    {.text = "S", .id = "00112233445566a1", .op_label = "Softmax-13", .shapes = "[\"n\"] -> [n]", .node_count = 2},
    {.text = "=x", .id = "00112233445566a2", .op_label = "=com.x:Foo-1", .shapes = "", .node_count = 1},
};
static struct pw_inventory inventory = {.signatures = signatures, .signature_count = 3};
static const struct pw_ops_dir dirs[] = {{.path = "my ops"}};

struct world {
    struct pw_signature_result rows[3];
    const struct pw_signature_result *row_list[3];
    struct pw_case_result results[4];
    const struct pw_case_result *list[4];
    struct pw_report_verify report;
};

static struct pw_case_result result_of(size_t signature, const char *id, pw_verdict verdict)
{
    struct pw_case_result r = {.signature = signature,
                               .verdict = verdict,
                               .implementation = "rows<4>",
                               .shapes = "float16[3,5] -> float16[3,5]",
                               .dtype = PW_DTYPE_FLOAT16,
                               .dist = PW_DIST_SPECIAL,
                               .seed = UINT64_MAX,
                               .tolerance = 1e-3,
                               .tolerance_why = "float16",
                               .comparison = {.max_error = 2e-3, .max_absolute = 0.5, .nmse = 1e-6, .cosine = 1},
                               .reference_error = NAN,
                               .least_tolerance = 2e-3,
                               .spread = NAN,
                               .time_ns = 1500,
                               .reason = "",
                               .log = ""};

    snprintf(r.id, sizeof r.id, "%s", id);
    return r;
}

static void make(struct world *w)
{
    *w = (struct world){.report = {.case_count = 4, .case_left_out = 7, .elapsed_ns = 2500000000, .budget_ns = 1000}};
    w->results[0] = result_of(0, HELD, PW_VERDICT_PASS);
    w->results[1] = result_of(1, FAILED, PW_VERDICT_FAIL);
    w->results[1].reason = "element [2,4]: got \"1\" & golden <2>";
    w->results[1].least_tolerance = INFINITY;
    w->results[1].shrunk_id = SMALL;
    w->results[1].shrunk_shapes = "float16[1,1]";
    w->results[1].shrunk_reason = "element [0,0]";
    w->results[1].nondeterministic = true;
    w->results[1].spread = 0.25;
    w->results[2] = result_of(2, NO_EVIDENCE, PW_VERDICT_SKIPPED);
    w->results[2].reason = "=not captured";
    w->results[2].output = -1;
    w->results[3] = result_of(0, "3:00112233445566a0:f32:graph:normal/odd:1", PW_VERDICT_WARN);
    w->results[3].property = "odd";
    for (size_t i = 0; i < 4; i++)
        w->list[i] = &w->results[i];
    for (size_t i = 0; i < 3; i++) {
        w->rows[i] = (struct pw_signature_result){
            .signature = i, .implementations = &on_kernel, .cases = 2, .held = 2, .worst_error = NAN};
        w->row_list[i] = &w->rows[i];
    }
    w->rows[0].worst_error = 1e-7;
    w->rows[0].tolerance = 1e-6;
    w->rows[0].worst_case = HELD;
    w->rows[1].standing = PW_STANDING_FAILED;
    w->rows[1].failed = 1;
    w->rows[1].gate_failed = true;
    w->rows[1].gate_reason = "a case failed";
    w->rows[2].standing = PW_STANDING_UNPROVEN;
    w->rows[2].gate_failed = true;
    w->rows[2].gate_reason = "no case gave evidence";
    w->report.cases = w->list;
    w->report.check = (struct pw_report_check){
        .inventory = &inventory,
        .model_path = "it's a model.onnx",
        .graph_id = "abcdef0123456789",
        .target = "opencl",
        .device = "chip & co",
        .runtime = "",
        .bindings = "n=5",
        .protocol = "p.yaml",
        .ops_dirs = dirs,
        .ops_dir_count = 1,
        .captured = "kept",
        .seed = 3,
        .rows = w->row_list,
        .totals = {.signatures = 3, .held = 1, .failed = 1, .unproven = 1, .gate_failed = 2, .cases = 4, .passed = 1},
        .exit_code = 1};
}

static void has(const struct pw_buf *out, const char *text)
{
    if (!strstr(pw_buf_text(out), text))
        fail_msg("no '%s' in:\n%s", text, pw_buf_text(out));
}

#define LINE                                                                                                           \
    "portwright verify 'it'\\''s a model.onnx' --target opencl --dim n=5 --project p.yaml --ops-dir 'my ops' "         \
    "--captured kept --case "

static void test_text(void **state)
{
    struct world w;
    struct pw_buf out = {0};

    (void)state;
    make(&w);
    pw_report_verify_text(&w.report, 150, false, &out);
    has(&out, "FAIL Softmax-13  float16[3,5] -> float16[3,5]  special, rows<4>\n  element [2,4]");
    has(&out, "\n  reproduce: " LINE FAILED "\n");
    has(&out, "\n  smallest:  " LINE SMALL "\n             float16[1,1]: element [0,0]\n");
    has(&out, "unproven =com.x:Foo-1: no case gave evidence\n  " NO_EVIDENCE ": =not captured\n");
    has(&out, "GATE FAILED for 2");
    has(&out, "7 cases are counted, not listed");
    pw_buf_clear(&out);
    w.rows[0].explanation = "tolerance: 1\nbecause: \033[31mred\n";
    pw_report_verify_text(&w.report, 80, false, &out);
    has(&out, "Erf-13  [3] -> [3]  (1 node, 00112233445566a0)\n  tolerance: 1\n  because: ");
    assert_null(strchr(pw_buf_text(&out), '\033')); /* nothing of foreign text steers the terminal */
    pw_buf_clear(&out);
}

static json_t *number_at(json_t *root, size_t index, const char *key)
{
    return json_object_get(json_array_get(json_object_get(root, "cases"), index), key);
}

static void test_json(void **state)
{
    struct world w;
    struct pw_buf out = {0};
    struct pw_error err = {0};
    char why[1400] = "";
    json_t *root;

    (void)state;
    make(&w);
    w.rows[2].explanation = "tolerance: 1\n";
    assert_int_equal(pw_report_verify_json(&w.report, &out, &err), PW_OK);
    if (!schema_check_text("verify.schema.json", pw_buf_text(&out), why, sizeof why))
        fail_msg("%s", why);
    root = json_loads(pw_buf_text(&out), 0, NULL);
    assert_non_null(root);
    assert_true(json_real_value(number_at(root, 1, "error")) == 2e-3);
    assert_true(json_is_null(number_at(root, 1, "least_tolerance"))); /* infinite */
    assert_true(json_is_null(number_at(root, 2, "error")));           /* nothing was compared */
    assert_true(json_is_null(number_at(root, 3, "error")));           /* a property has no elements */
    assert_true(json_is_null(number_at(root, 1, "reference_error")));
    assert_true(json_real_value(number_at(root, 1, "spread")) == 0.25);
    assert_string_equal(json_string_value(number_at(root, 1, "reproduce")), LINE FAILED);
    assert_string_equal(json_string_value(number_at(root, 1, "smallest")), SMALL);
    assert_null(number_at(root, 0, "reproduce"));
    assert_false(schema_check_text("verify.schema.json", "{\"schema\": 1}", why, sizeof why)); /* it does refuse */
    json_decref(root);
    pw_buf_clear(&out);
}

static void test_csv_and_markdown(void **state)
{
    struct world w;
    struct pw_buf out = {0};
    size_t lines = 0;

    (void)state;
    make(&w);
    pw_report_verify_csv(&w.report, &out);
    for (const char *at = pw_buf_text(&out); (at = strstr(at, "\r\n")) != NULL; at += 2)
        lines++;
    assert_int_equal(lines, 5);
    has(&out,
        "\"" FAILED "\",\"00112233445566a1\",\"Softmax-13\",\"float16[3,5] -> float16[3,5]\",\"float16\","
        "\"special\",\"\",18446744073709551615,\"rows<4>\",\"FAIL\",0.002,0.001,inf,0.5,0,0,1e-06,1,,0,1,0.25,1500,"
        "\"" SMALL "\",\"element [2,4]: got \"\"1\"\" & golden <2>\",\"opencl\",\"n=5\"\r\n");
    has(&out, "\"'=com.x:Foo-1\""); /* no spreadsheet takes it for a formula */
    pw_buf_clear(&out);
    pw_report_verify_md(&w.report, &out);
    has(&out, "| Softmax-13 | \\[\"n\"\\] -\\> \\[n\\] | rows\\<4\\> | 2 | 0 | 1 |");
    has(&out, "**FAIL** Softmax-13: element \\[2,4\\]");
    has(&out, "```\n" LINE SMALL "\n```");
    pw_buf_clear(&out);
}

static void test_junit(void **state)
{
    struct world w;
    struct pw_buf out = {0};

    (void)state;
    make(&w);
    pw_report_verify_junit(&w.report, &out);
    has(&out, "tests=\"5\" failures=\"2\" skipped=\"1\" time=\"2.500\""); /* four cases and the unproven signature */
    has(&out, "<testcase classname=\"Erf-13\" name=\"" HELD "\" time=\"0.000002\"/>");
    has(&out, "<failure type=\"FAIL\" message=\"element [2,4]: got &quot;1&quot; &amp; golden &lt;2&gt;\">");
    has(&out, "<skipped message=\"=not captured\"/>");
    has(&out,
        "name=\"00112233445566a2\" time=\"0\">\n      <failure type=\"unproven\" message=\"no case gave evidence\"/>");
    assert_null(strstr(pw_buf_text(&out), "<4>"));
    pw_buf_clear(&out);
}

/* What is not on the target: a failure where it was asked for by name, else counted and skipped. */
static void test_off_target(void **state)
{
    static struct pw_impl_list on_host = {NULL, 0, -1, PW_COVERAGE_HOST, false, true, "no kernel"};
    struct world w;
    struct pw_buf out = {0};

    (void)state;
    make(&w);
    w.rows[2].implementations = &on_host;
    w.rows[2].off_target = true;
    w.report.check.totals.on_host = w.report.check.totals.off_target = 1;
    pw_report_verify_text(&w.report, 150, true, &out);
    has(&out, "\033[1;31mNOT ON TARGET");
    has(&out, "1 unproven (1 stay on the host); 4 cases. GATE FAILED for 2 signatures. 1 passed");
    pw_buf_clear(&out);
    pw_report_verify_junit(&w.report, &out);
    has(&out, "failures=\"2\" skipped=\"1\"");
    has(&out, "<failure type=\"NOT ON TARGET\"");
    pw_buf_clear(&out);
    w.report.check.verdicts_only = true;
    pw_report_verify_text(&w.report, 150, true, &out);
    has(&out, "\033[33mNOT ON TARGET");
    has(&out,
        "GATE FAILED for 1 signature. 1 signature is not on the target, where the protocol wants it: no failure of "
        "verification, but portwright check fails. 1 passed");
    pw_buf_clear(&out);
    pw_report_verify_junit(&w.report, &out);
    has(&out, "failures=\"1\" skipped=\"2\"");
    has(&out, "<skipped message=\"not on the target: no case gave evidence\"/>");
    pw_buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),  cmocka_unit_test(test_json),       cmocka_unit_test(test_csv_and_markdown),
        cmocka_unit_test(test_junit), cmocka_unit_test(test_off_target),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
