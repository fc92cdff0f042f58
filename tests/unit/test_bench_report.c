/* The roofline and the advice on hand-made facts, and the report of a benchmark in every format. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/advice.h"
#include "bench/roofline.h"
#include "json_schema.h"
#include "report/bench.h"

/* 100 GFLOP/s; L1 (1 MB) 80, 40, 60 GB/s read, written, copied; memory (100 MB) 20, 10, 15. Quartiles 10 % apart. */
static struct pw_peaks make_peaks(void)
{
    static const struct {
        pw_peak_kind kind;
        const char *level;
        int64_t bytes;
        double rate;
    } rows[] = {{PW_PEAK_FMA, "registers", 0, 100e9},      {PW_PEAK_READ, "L1", 1000000, 80e9},
                {PW_PEAK_WRITE, "L1", 1000000, 40e9},      {PW_PEAK_COPY, "L1", 1000000, 60e9},
                {PW_PEAK_READ, "memory", 100000000, 20e9}, {PW_PEAK_WRITE, "memory", 100000000, 10e9},
                {PW_PEAK_COPY, "memory", 100000000, 15e9}};
    struct pw_peaks peaks = {.count = 0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        peaks.items[peaks.count++] = (struct pw_peak){.kind = rows[i].kind,
                                                      .level = rows[i].level,
                                                      .working_set_bytes = rows[i].bytes,
                                                      .median = rows[i].rate,
                                                      .low = 0.9 * rows[i].rate,
                                                      .high = 1.1 * rows[i].rate};
    return peaks;
}

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-6 * fabs(want)))
        fail_msg("got %.9g, expected %.9g", got, want);
}

static struct pw_roof roof_of(double flops, double read, double write, double footprint, double latency)
{
    const struct pw_peaks peaks = make_peaks();
    const struct pw_roof_request request = {.flops = flops,
                                            .read_bytes = read,
                                            .write_bytes = write,
                                            .footprint = footprint,
                                            .latency_ns = latency,
                                            .launch_ns = NAN};
    struct pw_roof roof;

    pw_roofline(&peaks, &request, &roof);
    return roof;
}

static void test_roofline(void **state)
{
    struct pw_roof roof;

    (void)state;
    /* 1e6 FLOP at 100 GFLOP/s: 10 us. 80 kB read, 40 kB written in L1: 80 kB copied both ways at 60 GB/s = 1.333 us,
     * 40 kB more read at 80 GB/s = 0.5 us. */
    roof = roof_of(1e6, 80e3, 40e3, 200e3, 20e3);
    assert_string_equal(roof.level, "L1");
    assert_near(roof.compute_ns, 10e3);
    assert_near(roof.memory_ns, 1e9 * (80e3 / 60e9 + 40e3 / 80e9));
    assert_near(roof.share, 0.5);
    assert_int_equal(roof.bound, PW_BOUND_COMPUTE);
    assert_false(roof.above);
    /* 50 MB read and nothing computed: memory, 2.5 ms at 20 GB/s */
    roof = roof_of(0, 50e6, 0, 50e6, 5e6);
    assert_string_equal(roof.level, "memory");
    assert_near(roof.roof_ns, 2.5e6);
    assert_int_equal(roof.bound, PW_BOUND_MEMORY);
    /* the footprint decides the level: twice the measured set still fits, as sets are half of a cache */
    assert_string_equal(roof_of(0, 1, 1, 2.0e6, 1).level, "L1");
    assert_string_equal(roof_of(0, 1, 1, 2.1e6, 1).level, "memory");
}

static void test_above_the_roof(void **state)
{
    (void)state;
    /* 10 us at the median, 9.09 at the upper quartile: 9 us may be luck, 8 us is not to be believed. */
    assert_false(roof_of(1e6, 0, 0, 1e3, 9e3).above);
    assert_true(roof_of(1e6, 0, 0, 1e3, 8e3).above);
}

static void test_cold_and_launch(void **state)
{
    const struct pw_peaks peaks = make_peaks(), none = {.count = 0};
    struct pw_roof_request r = {.flops = NAN,
                                .read_bytes = 2e6,
                                .write_bytes = 1e3,
                                .footprint = 1e6,
                                .cold = true,
                                .latency_ns = 200e3,
                                .launch_ns = 30e3};
    struct pw_roof roof;

    (void)state;
    pw_roofline(&peaks, &r, &roof); /* a small set, but it comes from memory: 2 MB at 20 GB/s */
    assert_near(roof.roof_ns, 100e3);
    assert_string_equal(roof.level, "memory");
    r.launch_ns = 150e3;
    pw_roofline(&peaks, &r, &roof);
    assert_int_equal(roof.bound, PW_BOUND_LAUNCH);
    pw_roofline(&none, &r, &roof);
    assert_true(isnan(roof.share) && !roof.above && !roof.level);
}

static void test_declared(void **state)
{
    const struct pw_target_info info = {.peak_flops = 1e9, .peak_bytes = 2e9}, silent = {.peak_flops = 0};
    const struct pw_roof_request r = {
        .flops = 1e3, .read_bytes = 4e3, .write_bytes = 0, .footprint = 4e3, .latency_ns = 100, .launch_ns = NAN};
    struct pw_peaks peaks;
    struct pw_roof roof;

    (void)state;
    pw_roofline_declared(&silent, &peaks);
    assert_int_equal(peaks.count, 0);
    pw_roofline_declared(&info, &peaks);
    pw_roofline(&peaks, &r, &roof);
    assert_near(roof.memory_ns, 2000);
    assert_true(roof.above);
}

/* ---- advice ---- */

/* A kernel at 90 % of the roof that nothing can be said of but that. */
static struct pw_advice_facts good_facts(void)
{
    return (struct pw_advice_facts){.coverage = PW_COVERAGE_KERNEL,
                                    .latency_ns = 1e6,
                                    .low_ns = 0.99e6,
                                    .high_ns = 1.01e6,
                                    .reference_ns = 1.2e6,
                                    .reference_name = "loops",
                                    .flops = 1e6,
                                    .read_bytes = 1e6,
                                    .write_bytes = 1e6,
                                    .roof = {.level = "L2", .roof_ns = 0.9e6, .share = 0.9, .bound = PW_BOUND_MEMORY},
                                    .launch_ns = 1e3,
                                    .launches = 1,
                                    .work_groups = 64,
                                    .group_items = 1,
                                    .compute_units = 2,
                                    .vector_width = 8,
                                    .work_group_multiple = 8,
                                    .is_cpu = true};
}

static void far(struct pw_advice_facts *f)
{
    f->roof.roof_ns = 0.2e6;
    f->roof.share = 0.2;
}

static bool has(const struct pw_advice_facts *f, const char *rule)
{
    struct pw_advice advice[PW_ADVICE_MAX];
    size_t count = pw_advise(f, advice);

    for (size_t i = 0; i < count; i++) {
        assert_true(advice[i].what[0] && advice[i].figures[0]);
        if (!strcmp(advice[i].rule, rule))
            return true;
    }
    return false;
}

static void test_good_kernel(void **state)
{
    struct pw_advice_facts f = good_facts();
    struct pw_advice advice[PW_ADVICE_MAX];

    (void)state;
    assert_int_equal(pw_advise(&f, advice), 1);
    assert_string_equal(advice[0].rule, "at-the-roof");
    assert_non_null(strstr(advice[0].figures, "90 %"));
}

#define RULE(rule, ...)                                                                                                \
    do {                                                                                                               \
        struct pw_advice_facts f = good_facts();                                                                       \
        assert_false(has(&f, rule));                                                                                   \
        __VA_ARGS__;                                                                                                   \
        if (!has(&f, rule))                                                                                            \
            fail_msg("no advice '%s'", rule);                                                                          \
    } while (0)

static void test_each_rule(void **state)
{
    (void)state;
    RULE("no-kernel", f.coverage = PW_COVERAGE_HOST);
    RULE("launch-bound", f.launch_ns = 0.6e6; f.roof.bound = PW_BOUND_LAUNCH);
    RULE("behind-reference", f.reference_ns = 0.5e6);
    RULE("spills", f.log = "ptxas info: 12 bytes stack frame, 48 bytes spill stores\n");
    RULE("too-few-groups", far(&f); f.work_groups = 1);
    RULE("uneven-groups", far(&f); f.work_groups = 3);
    RULE("cpu-groups", far(&f); f.group_items = 256);
    RULE("odd-groups", f.is_cpu = false; f.group_items = 30);
    RULE("narrow-vectors", far(&f); f.options = "-DX=1 -DVEC=4");
    RULE("many-launches", f.launches = 5; f.launch_ns = 0.1e6);
    RULE("repacks", f.pack_launches = 1);
    RULE("extra-bytes", f.scratch_bytes = 3e6);
    RULE("far-from-memory-roof", far(&f));
    RULE("far-from-compute-roof", far(&f); f.roof.bound = PW_BOUND_COMPUTE);
    RULE("noisy", f.high_ns = 1.3e6);
}

static void test_rules_that_do_not_apply(void **state)
{
    struct pw_advice_facts f = good_facts();

    (void)state;
    f.log = "ptxas info: 0 bytes stack frame, 0 bytes spill stores\n";
    assert_false(has(&f, "spills"));
    f.options = "-DVEC=8";
    far(&f);
    assert_false(has(&f, "narrow-vectors"));
    f = good_facts();
    f.reference_ns = 0.5e6;
    f.launch_ns = 0.6e6; /* all of the difference is the launch */
    f.roof.bound = PW_BOUND_LAUNCH;
    assert_false(has(&f, "behind-reference"));
    f = (struct pw_advice_facts){.coverage = PW_COVERAGE_KERNEL,
                                 .latency_ns = NAN,
                                 .low_ns = NAN,
                                 .high_ns = NAN,
                                 .reference_ns = NAN,
                                 .flops = NAN,
                                 .roof = {.share = NAN, .roof_ns = NAN},
                                 .launch_ns = NAN,
                                 .work_groups = NAN};
    struct pw_advice advice[PW_ADVICE_MAX];
    assert_int_equal(pw_advise(&f, advice), 0); /* nothing is known, nothing is said */
}

/* ---- the report ---- */

static void test_report(void **state)
{
    static struct pw_signature signatures[] = {
        {.id = "0123456789abcdef", .op_label = "Evil\x1b[2J", .shapes = "[2] -> [2]", .node_count = 3},
        {.id = "fedcba9876543210", .op_label = "=HYPER", .shapes = "[4|5] -> [4]", .node_count = 1}};
    double slices[] = {1000, 1100, 1200};
    int64_t runs[] = {1000, 1000, 1100, 1100, 1200, 1200};
    struct pw_measure_result raw = {.slices_ns = slices, .slices = 3, .runs_ns = runs, .runs_per_slice = 2};
    struct pw_stats_summary summary = {.count = 3, .median = 1100, .low = 1000, .high = 1200, .confidence = 0.75};
    struct pw_bench_figure figures[2] = {{.signature = 0,
                                          .name = "kernel",
                                          .slices = 3,
                                          .target = summary,
                                          .reference = summary,
                                          .reference_name = "loops",
                                          .speedup = {1, 0.9, 1.1, 0.75},
                                          .net_ns = NAN,
                                          .flops = 100,
                                          .flops_rate = 1e8,
                                          .bytes_rate = 2e8,
                                          .roof = {.level = "L1", .share = 2, .bound = PW_BOUND_MEMORY, .above = true},
                                          .target_raw = &raw,
                                          .reference_raw = &raw,
                                          .suspicion = "too fast \x1b[31m",
                                          .verified = "verified again: held",
                                          .advice = {{"noisy", "measure longer", "median"}},
                                          .advice_count = 1},
                                         {.signature = 1,
                                          .name = "",
                                          .skipped = "no kernel",
                                          .speedup = {NAN, NAN, NAN, 0},
                                          .net_ns = NAN,
                                          .flops = NAN,
                                          .flops_rate = NAN,
                                          .bytes_rate = NAN,
                                          .roof = {.share = NAN, .roof_ns = NAN}}};
    struct pw_bench_report bench = {.figures = figures,
                                    .count = 2,
                                    .peaks = make_peaks(),
                                    .launch_ns = 5000,
                                    .timer_ns = 20,
                                    .lock_note = "another portwright is timing",
                                    .suspicious = 1};
    struct pw_environment environment = {.target = "opencl", .id = "1122334455667788"};
    const struct pw_inventory inventory = {.signatures = signatures, .signature_count = 2};
    struct pw_report_bench report = {.inventory = &inventory,
                                     .model_path = "m.onnx",
                                     .graph_id = "00112233445566778899aabbccddeeff",
                                     .target = "opencl",
                                     .bindings = "",
                                     .environment = &environment,
                                     .bench = &bench,
                                     .advice = true};
    struct pw_buf text = {0}, md = {0}, csv = {0}, json = {0};
    char why[2048] = "";

    (void)state;
    pw_report_bench_text(&report, 200, &text);
    assert_null(strchr(pw_buf_text(&text), '\x1b'));
    assert_non_null(strstr(pw_buf_text(&text), "NOT BELIEVED"));
    assert_non_null(strstr(pw_buf_text(&text), "not timed: no kernel"));
    assert_non_null(strstr(pw_buf_text(&text), "another portwright is timing"));
    assert_non_null(strstr(pw_buf_text(&text), "measure longer"));
    pw_report_bench_md(&report, &md);
    assert_null(strchr(pw_buf_text(&md), '\x1b'));
    pw_report_bench_csv(&report, &csv);
    assert_null(strstr(pw_buf_text(&csv), ",=HYPER")); /* no spreadsheet runs it */
    for (int with_raw = 0; with_raw < 2; with_raw++) {
        pw_buf_clear(&json);
        report.raw = with_raw;
        assert_int_equal(pw_report_bench_json(&report, &json, NULL), PW_OK);
        if (!schema_check_text("bench.schema.json", pw_buf_text(&json), why, sizeof why))
            fail_msg("%s", why);
        assert_int_equal(strstr(pw_buf_text(&json), "runs_ns") != NULL, with_raw);
    }
    pw_buf_clear(&text);
    pw_buf_clear(&md);
    pw_buf_clear(&csv);
    pw_buf_clear(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roofline),
        cmocka_unit_test(test_above_the_roof),
        cmocka_unit_test(test_cold_and_launch),
        cmocka_unit_test(test_declared),
        cmocka_unit_test(test_good_kernel),
        cmocka_unit_test(test_each_rule),
        cmocka_unit_test(test_rules_that_do_not_apply),
        cmocka_unit_test(test_report),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
