/* What a check means and how it is said: judgement with waivers, and the reports of one and of several targets. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "json_schema.h"
#include "report/check_gate.h"
#include "report/junit.h"

#define TODAY "2026-03-01"
#define IDS 4

static struct pw_impl kernel_impl = {.kind = PW_COVERAGE_KERNEL, .name = "softmax<rows>", .supported = true, .why = ""};
static struct pw_impl host_impl = {
    .kind = PW_COVERAGE_HOST, .name = "reference", .supported = true, .why = "no |kernel"};
static struct pw_impl_list on_kernel = {&kernel_impl, 1, 0, PW_COVERAGE_KERNEL, false, false, ""};
static struct pw_impl_list on_host = {&host_impl, 1, 0, PW_COVERAGE_HOST, false, true, "no kernel"};
static int64_t samples[] = {1000, 1100, 1200};

static struct pw_signature signatures[IDS] = {
    {.text = "Softmax-13 a",
     .id = "00112233445566a0",
     .op_label = "Softmax-13",
     .shapes = "[2] -> [2]",
     .node_count = 1},
    {.text = "Erf-13 b", .id = "00112233445566a1", .op_label = "Erf-13", .shapes = "[\"<3>\"] -> [3]", .node_count = 2},
    {.text = "Foo-1 c", .id = "00112233445566a2", .op_label = "=com.x:Foo-1", .shapes = "", .node_count = 1},
    {.text = "Cast-13 d", .id = "00112233445566a3", .op_label = "Cast-13", .shapes = "[] -> []", .node_count = 1},
};
static struct pw_inventory inventory = {.signatures = signatures, .signature_count = IDS};

struct world { /* one check: 0 held, 1 failed, 2 on the host against the protocol, 3 not run */
    struct pw_signature_result results[IDS];
    const struct pw_signature_result *rows[IDS];
    struct pw_gate_signature pairs[2];
    struct pw_gate_result decisions[2];
    struct pw_triage *triage;
    struct pw_arena arena;
    struct pw_report_gate gate;
    struct pw_report_failure failure;
    struct pw_report_check check;
    bool partial;
};

static void add_waiver(struct pw_triage *triage, const char *id, const char *until, unsigned gates)
{
    struct pw_triage_entry entry = {
        .status = PW_TRIAGE_OPEN, .waiver = {.present = true, .gates = gates, .reason = "ticket <7>", .owner = "ann"}};
    struct pw_error err = {0};

    snprintf(entry.id, sizeof entry.id, "%s", id);
    snprintf(entry.waiver.until, sizeof entry.waiver.until, "%s", until);
    if (pw_triage_set(triage, &entry, &err) != PW_OK)
        fail_msg("%s", err.message);
}

static void make(struct world *w)
{
    struct pw_error err = {0};

    memset(w, 0, sizeof *w);
    for (int i = 0; i < IDS; i++) {
        w->results[i] = (struct pw_signature_result){.signature = (size_t)i,
                                                     .implementations = i == 2 ? &on_host : &on_kernel,
                                                     .cases = 4,
                                                     .held = 4,
                                                     .worst_error = 1e-7,
                                                     .tolerance = 1e-6,
                                                     .worst_ratio = 0.1,
                                                     .worst_case = "3:x",
                                                     .target_ns = 1100,
                                                     .reference_ns = 2200,
                                                     .reference_name = "loops",
                                                     .target_samples = samples,
                                                     .reference_samples = samples,
                                                     .target_sample_count = 3,
                                                     .reference_sample_count = 3};
        w->rows[i] = i < 3 ? &w->results[i] : NULL;
    }
    w->results[1].standing = PW_STANDING_FAILED;
    w->results[1].failed = 1;
    w->results[1].gate_failed = true;
    w->results[1].gate_reason = "a case failed";
    w->results[2].standing = PW_STANDING_UNPROVEN;
    w->results[2].worst_error = NAN;
    w->results[2].target_ns = w->results[2].reference_ns = 0;
    w->results[2].gate_failed = true;
    w->results[2].gate_reason = "no kernel";
    assert_int_equal(pw_triage_open("/nonexistent/triage.yaml", "", "", &w->triage, &err), PW_OK);
    for (int i = 0; i < 2; i++) {
        w->pairs[i] = (struct pw_gate_signature){.id = signatures[i].id, .op = signatures[i].op_label};
        w->pairs[i].before.present = w->pairs[i].now.present = true;
        w->decisions[i] = (struct pw_gate_result){.slowdown = NAN, .low = NAN, .high = NAN, .p_adjusted = NAN};
    }
    w->gate = (struct pw_report_gate){.environment_id = "e", .environment = ""};
    w->failure =
        (struct pw_report_failure){1, "3:00112233445566a1:f32:graph:normal:1", "FAIL", "element [0]", "[3]", "log"};
}

static const struct pw_judgement *judge(struct world *w, bool baseline)
{
    struct pw_judge_request request = {
        .inventory = &inventory, .rows = w->rows, .triage = w->triage, .partial = w->partial, .today = TODAY};
    struct pw_error err = {0};

    if (baseline) {
        request.pairs = w->pairs;
        request.results = w->decisions;
        request.pair_count = 2;
        w->gate.which = "latest";
        w->gate.pairs = w->pairs;
        w->gate.results = w->decisions;
        w->gate.count = 2;
    }
    assert_int_equal(pw_judge(&request, &w->arena, &w->gate.judgement, &err), PW_OK);
    w->check =
        (struct pw_report_check){.inventory = &inventory,
                                 .model_path = "m<1>.onnx",
                                 .graph_id = "abcdef0123456789",
                                 .target = "opencl",
                                 .device = "chip & co",
                                 .runtime = "",
                                 .bindings = "n=1",
                                 .protocol = "",
                                 .seed = 1,
                                 .rows = w->rows,
                                 .failures = &w->failure,
                                 .failure_count = 1,
                                 .totals = {.signatures = 3, .held = 1, .failed = 1, .unproven = 1, .gate_failed = 2},
                                 .gate = &w->gate,
                                 .exit_code = !w->gate.judgement.passed};
    return &w->gate.judgement;
}

static void clear(struct world *w)
{
    pw_triage_close(w->triage);
    pw_arena_clear(&w->arena);
}

static void test_judgement(void **state)
{
    struct world w;
    const struct pw_judgement *j;

    (void)state;
    make(&w);
    j = judge(&w, false);
    assert_int_equal(j->failing, 2);
    assert_int_equal(j->held, 1);
    assert_false(j->passed);
    assert_int_equal(j->items[1].failing, PW_WAIVE_VERIFY);
    assert_int_equal(j->items[2].failing, PW_WAIVE_COVERAGE);
    add_waiver(w.triage, signatures[1].id, TODAY, PW_WAIVE_ALL);               /* its last day */
    add_waiver(w.triage, signatures[2].id, "2027-01-01", PW_WAIVE_THROUGHPUT); /* of something else */
    j = judge(&w, false);
    assert_int_equal(j->failing, 1);
    assert_int_equal(j->waived, 1);
    add_waiver(w.triage, signatures[2].id, "2027-01-01", PW_WAIVE_COVERAGE);
    j = judge(&w, false);
    assert_true(j->passed);
    add_waiver(w.triage, signatures[2].id, "2026-02-28", PW_WAIVE_COVERAGE); /* over since yesterday */
    j = judge(&w, false);
    assert_false(j->passed);
    assert_int_equal(j->expired, 1);
    add_waiver(w.triage, signatures[2].id, "2027-01-01", PW_WAIVE_COVERAGE);
    add_waiver(w.triage, signatures[0].id, "2027-01-01", PW_WAIVE_ALL);
    j = judge(&w, false);
    assert_int_equal(j->unneeded, 1);
    assert_true(j->passed);
    w.decisions[0].outcome[PW_GATE_PRECISION] = PW_GATE_WORSE; /* the cases hold, the gate does not */
    w.decisions[1].outcome[PW_GATE_THROUGHPUT] = PW_GATE_INCONCLUSIVE;
    j = judge(&w, true);
    assert_int_equal(j->items[0].failing, PW_WAIVE_PRECISION);
    assert_int_equal(j->items[0].waived, PW_WAIVE_PRECISION);
    assert_true(j->passed);
    add_waiver(w.triage, signatures[0].id, "2027-01-01", PW_WAIVE_VERIFY);
    assert_int_equal(judge(&w, true)->failing, 1);
    w.rows[0] = NULL; /* waivers do not prove anything */
    assert_false(judge(&w, true)->passed);
    clear(&w);
}

/* A waiver that is over fails the check whatever its signature does: it passes, was not in the check, or was not
 * chosen (then nothing is said of it). */
static void test_expired(void **state)
{
    static const char elsewhere[] = "ffffffffffffffff";
    struct world w;
    struct pw_report_target target;
    struct pw_buf out = {0};
    struct pw_error err = {0};
    char why[2048];

    (void)state;
    make(&w);
    w.results[1].gate_failed = w.results[2].gate_failed = false;
    assert_true(judge(&w, false)->passed);
    add_waiver(w.triage, signatures[0].id, "2026-02-28", PW_WAIVE_THROUGHPUT);
    assert_false(judge(&w, false)->passed);
    assert_int_equal(w.gate.judgement.failing, 0);
    assert_int_equal(w.gate.judgement.expired, 1);
    assert_int_equal(w.gate.judgement.unneeded, 0);
    add_waiver(w.triage, signatures[3].id, "2026-02-28", PW_WAIVE_ALL); /* known, not run */
    add_waiver(w.triage, elsewhere, "2026-02-28", PW_WAIVE_ALL);
    w.partial = true;
    assert_int_equal(judge(&w, false)->expired, 1);
    w.partial = false;
    assert_int_equal(judge(&w, false)->expired, 3);
    pw_report_check_text(&w.check, 140, false, &out);
    assert_non_null(
        strstr(pw_buf_text(&out),
               "FAIL         Softmax-13 00112233445566a0  a waiver of throughput, EXPIRED: its last day was "
               "2026-02-28, ann: ticket <7>; it passes: remove the waiver\n"));
    assert_non_null(strstr(pw_buf_text(&out), "FAIL         ffffffffffffffff  a waiver of all"));
    assert_non_null(strstr(pw_buf_text(&out), "its signature is not in this check: renew or remove the waiver"));
    assert_non_null(strstr(pw_buf_text(&out), "GATE FAILED: 3 waivers are over"));
    pw_buf_clear(&out);
    pw_report_check_md(&w.check, &out);
    assert_non_null(strstr(pw_buf_text(&out), "| **FAIL: expired**; it passes: remove the waiver | Softmax-13 |"));
    pw_buf_clear(&out);
    target = (struct pw_report_target){"opencl", &w.check, ""};
    pw_report_junit_add(&(struct pw_report_targets){&target, 1}, &out);
    assert_non_null(strstr(pw_buf_text(&out), "<testsuite name=\"waivers on opencl, n=1\" tests=\"3\" failures=\"3\""));
    assert_non_null(
        strstr(pw_buf_text(&out), "<testcase classname=\"Softmax-13\" name=\"waiver until 2026-02-28 0011"));
    pw_buf_clear(&out);
    assert_int_equal(pw_report_check_json(&w.check, &out, &err), PW_OK);
    if (!schema_check_text("check.schema.json", pw_buf_text(&out), why, sizeof why))
        fail_msg("%s", why);
    pw_buf_clear(&out);
    w.results[0].gate_failed = true; /* it covers what fails no more, and says so */
    assert_int_equal(judge(&w, false)->failing, 1);
    pw_report_check_text(&w.check, 140, false, &out);
    assert_non_null(strstr(pw_buf_text(&out), "it still fails: repair it or renew the waiver"));
    pw_buf_clear(&out);
    clear(&w);
}

static void full_gate(struct world *w)
{
    make(w);
    add_waiver(w->triage, signatures[2].id, "2027-01-01", PW_WAIVE_COVERAGE);
    add_waiver(w->triage, signatures[0].id, "2027-01-01", PW_WAIVE_THROUGHPUT);
    w->decisions[0].outcome[PW_GATE_THROUGHPUT] = PW_GATE_WORSE;
    w->decisions[0].slowdown = 1.25;
    snprintf(w->decisions[0].reason[PW_GATE_THROUGHPUT], sizeof w->decisions[0].reason[0], "25 %% slower & sure");
    w->decisions[1].outcome[PW_GATE_PRECISION] = PW_GATE_WORSE;
    snprintf(w->decisions[1].reason[PW_GATE_PRECISION], sizeof w->decisions[1].reason[0], "error 9e-07, was 1e-07");
    w->decisions[1].outcome[PW_GATE_THROUGHPUT] = PW_GATE_INCONCLUSIVE;
    w->gate.totals.outcomes[PW_GATE_PRECISION][PW_GATE_WORSE] = 1;
    w->gate.notes[0] = "the protocol is another";
    w->gate.note_count = 1;
    judge(w, true);
}

static void test_one_target(void **state)
{
    struct world w;
    struct pw_baseline baseline = {.number = 3,
                                   .path = "b/precision-3.yaml",
                                   .approved_by = "ann",
                                   .approved_at = "2026-02-01T00:00:00Z",
                                   .message = "new | softmax",
                                   .environment_id = ""};
    struct pw_buf out = {0};
    struct pw_error err = {0};
    char why[2048];

    (void)state;
    full_gate(&w);
    w.gate.precision = &baseline;
    pw_report_check_text(&w.check, 140, false, &out);
    assert_non_null(strstr(pw_buf_text(&out), "precision 3 approved by ann on 2026-02-01: new | softmax"));
    assert_non_null(strstr(pw_buf_text(&out), "FAIL         Erf-13"));
    assert_non_null(strstr(pw_buf_text(&out), "waived       Softmax-13"));
    assert_non_null(strstr(pw_buf_text(&out), "note         the protocol is another"));
    assert_non_null(strstr(pw_buf_text(&out), "2 waived. GATE FAILED for 1"));
    pw_buf_clear(&out);
    pw_report_check_md(&w.check, &out);
    assert_non_null(strstr(pw_buf_text(&out), "| **FAIL** | precision | Erf-13 |"));
    assert_non_null(strstr(pw_buf_text(&out), "| 2027-01-01 | ann | ticket \\<7\\> |"));
    pw_buf_clear(&out);
    assert_int_equal(pw_report_check_json(&w.check, &out, &err), PW_OK);
    if (!schema_check_text("check.schema.json", pw_buf_text(&out), why, sizeof why))
        fail_msg("%s", why);
    pw_buf_clear(&out);
    w.check.gate = NULL; /* as a caller that looked at neither baseline nor triage */
    assert_int_equal(pw_report_check_json(&w.check, &out, &err), PW_OK);
    if (!schema_check_text("check.schema.json", pw_buf_text(&out), why, sizeof why))
        fail_msg("%s", why);
    pw_buf_clear(&out);
    clear(&w);
}

static void test_several_targets(void **state)
{
    struct world w, other;
    struct pw_report_target targets[3];
    struct pw_report_targets report = {targets, 3};
    struct pw_target_summary summary;
    struct json_t *root;
    struct pw_buf out = {0};
    struct pw_error err = {0};
    char why[2048];

    (void)state;
    full_gate(&w);
    full_gate(&other);
    other.results[2].gate_failed = false; /* it has what the first lacks, and fails at what the first holds */
    other.results[2].implementations = &on_kernel;
    other.results[0].standing = PW_STANDING_FAILED;
    other.results[0].gate_failed = true;
    other.results[0].worst_ratio = 7;
    targets[0] = (struct pw_report_target){"opencl", &w.check, ""};
    targets[1] = (struct pw_report_target){"plugin:x.so", &other.check, ""};
    targets[2] = (struct pw_report_target){"opencl:gone", NULL, "no <device>"};
    assert_true(pw_report_targets_differ(&report, 0));
    assert_false(pw_report_targets_differ(&report, 1)); /* bad on both */
    assert_true(pw_report_targets_differ(&report, 2));
    assert_false(pw_report_targets_differ(&report, 3)); /* run on neither */
    summary = pw_report_target_summary(&report, 0);
    assert_int_equal(summary.missing, 1);
    assert_int_equal(summary.coverage[PW_COVERAGE_HOST], 1);
    assert_true(fabs(summary.speed - 2) < 1e-12);
    assert_true(pw_report_target_summary(&report, 1).worst_ratio == 7);
    assert_int_equal(pw_report_target_summary(&report, 2).held, 0);
    pw_report_targets_text(&report, 200, false, &out);
    assert_non_null(strstr(pw_buf_text(&out), "missing somewhere"));
    assert_non_null(strstr(pw_buf_text(&out), "opencl:gone: could not be used: no <device>"));
    assert_null(strstr(pw_buf_text(&out), "Cast-13"));
    pw_buf_clear(&out);
    pw_report_targets_md(&report, &out);
    assert_non_null(strstr(pw_buf_text(&out), "| opencl: coverage |"));
    pw_buf_clear(&out);
    root = pw_report_checks_begin();
    pw_report_checks_add(root, &report);
    assert_int_equal(pw_report_checks_end(root, &out, &err), PW_OK);
    if (!schema_check_text("checks.schema.json", pw_buf_text(&out), why, sizeof why))
        fail_msg("%s", why);
    pw_buf_clear(&out);
    clear(&w);
    clear(&other);
}

static size_t count_of(const char *text, const char *word)
{
    size_t n = 0;

    for (const char *p = text; (p = strstr(p, word)); p += strlen(word))
        n++;
    return n;
}

static void test_junit(void **state)
{
    struct world w;
    struct pw_report_target targets[2];
    struct pw_report_targets report = {targets, 2};
    struct pw_buf out = {0};
    const char *text;

    (void)state;
    full_gate(&w);
    targets[0] = (struct pw_report_target){"opencl", &w.check, ""};
    targets[1] = (struct pw_report_target){"opencl:gone", NULL, "no \"device\" & none"};
    pw_report_junit_begin(&out);
    pw_report_junit_add(&report, &out);
    pw_report_junit_end(&out);
    text = pw_buf_text(&out);
    /* cases of three signatures, two waivers, three gates of two, one unusable target */
    assert_int_equal(count_of(text, "<testsuite "), 6);
    assert_int_equal(count_of(text, "</testsuite>"), 6);
    assert_int_equal(count_of(text, "<testcase "), 3 + 2 + 3 * 2 + 1);
    assert_non_null(strstr(text, "tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""));
    assert_non_null(strstr(text, "error 9e-07, was 1e-07"));
    assert_non_null(
        strstr(text, "<skipped message=\"waived until 2027-01-01 by ann: ticket &lt;7&gt;\">25 % slower &amp; sure"));
    assert_non_null(strstr(text, "no &quot;device&quot; &amp; none"));
    assert_non_null(strstr(text, "reproduce: portwright check m&lt;1&gt;.onnx --target opencl --dim n=1 --case 3:"));
    assert_null(strstr(text, "[\"<3>\"]"));
    pw_buf_clear(&out);
    clear(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_judgement),       cmocka_unit_test(test_expired), cmocka_unit_test(test_one_target),
        cmocka_unit_test(test_several_targets), cmocka_unit_test(test_junit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
