/* What a benchmark does about a figure above its roof: the peaks are measured again before it is doubted. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/bench.h"
#include "op/cases.h"
#include "run/reference_process.h"
#include "target/worker.h"

static int rounds;     /* measurements of the peaks so far */
static int quiet_from; /* the round from which on they are what they are; before, other work holds them down */
static int fails_from; /* rounds that cannot be measured */
static char lock_path[64];

/* Bytes and FLOP a second: a busy moment makes every figure impossible, a quiet one none. */
static pw_status fake_peaks(struct pw_device *device, int samples, const atomic_bool *cancel, struct pw_peaks *out,
                            struct pw_error *err)
{
    double rate = ++rounds < quiet_from ? 1e3 : 1e18;

    (void)device;
    (void)samples;
    (void)cancel;
    if (rounds >= fails_from)
        return pw_error_set(err, PW_ERR_TARGET, "the device is gone");
    *out = (struct pw_peaks){.count = 0};
    for (int kind = 0; kind < PW_PEAK_COUNT; kind++)
        out->items[out->count++] = (struct pw_peak){.kind = (pw_peak_kind)kind,
                                                    .level = kind == PW_PEAK_FMA ? "registers" : "memory",
                                                    .working_set_bytes = kind == PW_PEAK_FMA ? 0 : INT64_C(1) << 30,
                                                    .median = rate,
                                                    .low = rate,
                                                    .high = rate};
    return PW_OK;
}

struct outcome {
    bool suspected;
    int rounds;
    double roof_ns;
};

/* One Relu of 64 KiB on the chip of tests/plugin/hasty.c. */
static struct outcome bench(int quiet, int fails)
{
    static const char *const call = "Relu-14 (float32[128,128])";
    const char *build = getenv("PW_BUILD");
    struct pw_device_options options = {.workers = 1};
    struct pw_buf bytes = {0};
    struct pw_model *model = NULL;
    struct pw_inference *inference = NULL;
    struct pw_inventory *inventory = NULL;
    struct pw_kernels *kernels = NULL;
    struct pw_device *device = NULL;
    struct pw_protocol *protocol = NULL;
    struct pw_bench_report report = {.count = 0};
    struct pw_error err = {0};
    struct outcome outcome;
    char spec[1024];

    rounds = 0;
    quiet_from = quiet;
    fails_from = fails;
    snprintf(spec, sizeof spec, "plugin:%s/tests/plugin/hasty.so", build ? build : ".");
    if (pw_case_model(&call, 1, &bytes, &err) != PW_OK ||
        pw_model_parse(bytes.data, bytes.size, "relu", NULL, &model, &err) != PW_OK ||
        pw_infer_graph(model, NULL, 0, &inference, &err) != PW_OK ||
        pw_inventory_create(model, inference, &inventory, &err) != PW_OK ||
        pw_kernels_load(NULL, 0, &kernels, &err) != PW_OK || pw_device_open(spec, &options, &device, &err) != PW_OK ||
        pw_protocol_default(&protocol, &err) != PW_OK)
        fail_msg("%s", err.message);
    const struct pw_bench_request request = {.inventory = inventory,
                                             .kernels = kernels,
                                             .device = device,
                                             .protocol = protocol,
                                             .time_ns = 1000000,
                                             .slice_ns = 100000,
                                             .peaks = fake_peaks,
                                             .lock = lock_path,
                                             .lock_wait_ns = 1000000,
                                             .seed = 1};
    if (pw_bench_run(&request, &report, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(report.count, 1);
    assert_true(report.figures[0].target.count > 0);
    outcome = (struct outcome){report.figures[0].suspicion && strstr(report.figures[0].suspicion, "the roof"),
                               report.peaks_rounds, report.figures[0].roof.roof_ns};
    assert_true(!report.figures[0].suspicion || report.figures[0].verified);
    pw_bench_report_clear(&report);
    pw_protocol_destroy(protocol);
    pw_device_close(device);
    pw_kernels_destroy(kernels);
    pw_inventory_destroy(inventory);
    pw_inference_destroy(inference);
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
    return outcome;
}

/* Peaks from a busy moment: no flag, once they were measured when it was over. */
static void test_a_busy_roof_accuses_nobody(void **state)
{
    struct outcome o = bench(2, 99);

    (void)state;
    assert_false(o.suspected);
    assert_int_equal(o.rounds, 2);
    assert_true(o.roof_ns < 1); /* 128 KiB at 1e18 bytes a second: the roof is the better measurement's */
    o = bench(4, 99);           /* the fourth look is the last */
    assert_false(o.suspected);
    assert_int_equal(o.rounds, 4);
}

static void test_a_roof_that_stays_low_does(void **state)
{
    struct outcome o = bench(99, 99);

    (void)state;
    assert_true(o.suspected);
    assert_int_equal(o.rounds, 4);
    o = bench(99, 2); /* they cannot be measured again: what was measured stands */
    assert_true(o.suspected);
    assert_int_equal(o.rounds, 1);
}

static void test_best(void **state)
{
    struct pw_peaks best = {{{PW_PEAK_FMA, "registers", 0, 10, 9, 11, 7}, {PW_PEAK_READ, "L1", 64, 5, 4, 6, 7}}, 2};
    const struct pw_peaks again = {{{PW_PEAK_READ, "L1", 64, 8, 7, 9, 5},
                                    {PW_PEAK_FMA, "registers", 0, 9, 1, 99, 5},
                                    {PW_PEAK_READ, "L2", 640, 3, 2, 4, 5}},
                                   3};

    (void)state;
    pw_peaks_best(&best, &again);
    assert_int_equal(best.count, 3);
    assert_true(best.items[0].median == 10 && best.items[0].high == 11); /* quartiles go with their median */
    assert_true(best.items[1].median == 8 && best.items[1].low == 7 && best.items[1].samples == 5);
    assert_string_equal(best.items[2].level, "L2");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--worker") == 0)
        return pw_worker_main(argc, argv);
    if (argc > 1 && strcmp(argv[1], "--reference") == 0)
        return pw_reference_main(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_best), cmocka_unit_test(test_a_busy_roof_accuses_nobody),
                                       cmocka_unit_test(test_a_roof_that_stays_low_does)};

    snprintf(lock_path, sizeof lock_path, "/tmp/pw-peaks-%ld.lock", (long)getpid());
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(lock_path);
    return failed;
}
