/* Facts about the machine, measured peaks, and the report of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "bench/machine.h"
#include "bench/peaks.h"
#include "json_schema.h"
#include "report/env.h"
#include "target/remove.h"

static char cache_dir[] = "/tmp/portwright-test-XXXXXX";

static void test_machine(void **state)
{
    struct pw_machine machine;
    (void)state;
    pw_machine_read(&machine);
    assert_true(machine.cores >= 1);
    assert_true(machine.memory_bytes > (INT64_C(64) << 20));
    assert_true(strlen(machine.system) > 0 && strlen(machine.architecture) > 0);
    assert_null(strchr(machine.cpu, '\n'));
}

static void test_levels_grow(void **state)
{
    struct pw_target_info info = {.is_cpu = true, .compute_units = 2};
    struct pw_peaks_level levels[PW_PEAKS_LEVELS];
    (void)state;
    int count = pw_peaks_levels(&info, levels);
    assert_in_range(count, 2, PW_PEAKS_LEVELS);
    for (int i = 1; i < count; i++)
        assert_true(levels[i].bytes >= levels[i - 1].bytes * 2);
    assert_string_equal(levels[count - 1].name, "memory");
    info.is_cpu = false;
    assert_int_equal(pw_peaks_levels(&info, levels), 2);
}

static void test_peaks(void **state)
{
    struct pw_device_options options = {.workers = 1, .cache_dir = cache_dir};
    struct pw_device *device = NULL;
    struct pw_peaks peaks = {.count = 0};
    struct pw_error err = {0};
    (void)state;
    if (pw_device_open("opencl", &options, &device, &err) != PW_OK) {
        print_message("no OpenCL device: %s\n", err.message);
        assert_null(getenv("CI"));
        skip();
    }
    if (pw_peaks_measure(device, 3, NULL, &peaks, &err) != PW_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < peaks.count; i++) {
        const struct pw_peak *p = &peaks.items[i];
        assert_int_equal(p->samples, 3);
        assert_true(p->low > 0 && p->low <= p->median && p->median <= p->high);
        /* A figure off by a factor of a thousand is a wrong unit, whatever the machine. */
        assert_true(p->median > 1e7 && p->median < 1e15);
    }
    for (int kind = 0; kind < PW_PEAK_COUNT; kind++)
        assert_non_null(pw_peaks_find(&peaks, (pw_peak_kind)kind, NULL));
    assert_non_null(pw_peaks_find(&peaks, PW_PEAK_READ, "memory"));
    assert_null(pw_peaks_find(&peaks, PW_PEAK_FMA, "memory"));
    pw_device_close(device);
    assert_int_equal(pw_device_open("reference", &options, &device, &err), PW_OK);
    assert_int_equal(pw_peaks_measure(device, 3, NULL, &peaks, &err), PW_ERR_UNSUPPORTED);
    pw_device_close(device);
}

/* A device and an error whose texts try to reach the terminal, and a number that is not known. */
static void test_report(void **state)
{
    static struct pw_target_info info = {
        .name = "evil\x1b[2J\xff", .kind = "plugin-evil", .languages = {"opencl", "c"}, .accuracy = {.exp = -1}};
    struct pw_report_env_target targets[] = {
        {.spec = "plugin:evil.so", .info = &info, .workers = 1},
        {.spec = "opencl:9", .error = {PW_ERR_TARGET, "nothing \x1b]0;there"}},
    };
    targets[0].peaks.items[0] = (struct pw_peak){PW_PEAK_FMA, "registers", 0, 2e11, 1e11, 3e11, 15};
    targets[0].peaks.items[1] = (struct pw_peak){PW_PEAK_READ, "L1", 1024, 3e10, 2e10, 4e10, 15};
    targets[0].peaks.count = 2;
    struct pw_report_env report = {.version = "1.2.3",
                                   .openblas = "OpenBLAS",
                                   .devices = "opencl:0:0 A / B\nopencl:1:0 C / D\n",
                                   .targets = targets,
                                   .target_count = 2};
    struct pw_buf text = {0}, json = {0};
    char why[2048] = "";
    (void)state;
    pw_report_env_text(&report, &text);
    assert_null(strchr(pw_buf_text(&text), '\x1b'));
    assert_non_null(strstr(pw_buf_text(&text), "evil?"));
    assert_non_null(strstr(pw_buf_text(&text), "exp ?"));
    assert_non_null(strstr(pw_buf_text(&text), "200 GFLOP/s"));
    assert_int_equal(pw_report_env_json(&report, &json, NULL), PW_OK);
    if (!schema_check_text("env.schema.json", pw_buf_text(&json), why, sizeof why))
        fail_msg("%s", why);
    assert_non_null(strstr(pw_buf_text(&json), "\"opencl:1:0\""));
    pw_buf_clear(&text);
    pw_buf_clear(&json);
}

/* What is said of systems that confine less than this one may. */
static void test_isolation(void **state)
{
    struct pw_report_env report = {.version = "1", .openblas = "", .devices = ""};
    struct pw_buf text = {0}, json = {0};
    char why[2048] = "";

    (void)state;
    snprintf(report.isolation.missing, sizeof report.isolation.missing, "this system has no landlock");
    report.isolation.users = PW_SANDBOX_USERS_SAME;
    pw_report_env_text(&report, &text);
    assert_non_null(strstr(pw_buf_text(&text), "landlock      none"));
    assert_non_null(strstr(pw_buf_text(&text), "seccomp       none"));
    assert_non_null(strstr(pw_buf_text(&text), "are refused: this system has no landlock;"));
    assert_non_null(strstr(pw_buf_text(&text), "--unsafe-kernels runs them unconfined"));
    assert_int_equal(pw_report_env_json(&report, &json, NULL), PW_OK);
    if (!schema_check_text("env.schema.json", pw_buf_text(&json), why, sizeof why))
        fail_msg("%s", why);
    assert_non_null(strstr(pw_buf_text(&json), "\"foreign_kernels\": \"refused\""));
    pw_buf_clear(&text);
    pw_buf_clear(&json);
    report.isolation = (struct pw_report_env_isolation){.landlock = 3, .seccomp = true, .confines = true};
    pw_report_env_text(&report, &text);
    assert_non_null(strstr(pw_buf_text(&text),
                           "version 3, refuses what is not allowed of files and folders, renames and "
                           "links between folders, truncation;"));
    assert_non_null(strstr(pw_buf_text(&text), "not on this system: TCP, device ioctls"));
    assert_non_null(strstr(pw_buf_text(&text), "agents run, confined"));
    pw_buf_clear(&text);
}

static int group_setup(void **state)
{
    (void)state;
    return mkdtemp(cache_dir) ? 0 : -1;
}

static int group_teardown(void **state)
{
    (void)state;
    pw_remove_tree(cache_dir);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--worker") == 0)
        return pw_worker_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machine), cmocka_unit_test(test_levels_grow), cmocka_unit_test(test_peaks),
        cmocka_unit_test(test_report),  cmocka_unit_test(test_isolation),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
