/* Approvals where locks do not hold others back, as on some network file systems: what others approved stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <fcntl.h>

#include "base/file.h"
#include "baseline/baseline.h"

static char folder[64];
static int links_until; /* the link before which others approve; 0: none */

static const char *path_of(const char *name)
{
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void put(const char *name)
{
    if (pw_file_write(path_of(name), "another's\n", 10, NULL) != PW_OK)
        fail_msg("%s", name);
}

/* Instead of the system's: somebody else approves a throughput as number 1 and a precision as number 2 in between, and
 * the disk is full (here: a folder where the throughput of number 2 is to be written). */
int link(const char *from, const char *to)
{
    char name[128];

    if (links_until && --links_until == 0) {
        put("throughput-feed-1.yaml");
        put("precision-2.yaml");
        snprintf(name, sizeof name, "throughput-feed-2.yaml.%ld.draft", (long)getpid());
        assert_int_equal(mkdir(path_of(name), 0777), 0);
    }
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/pw-baseline-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[256];

    (void)state;
    links_until = 0;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? 0 : -1;
}

static void record(pw_baseline_kind kind)
{
    const struct pw_baseline b = {.kind = kind,
                                  .path = "",
                                  .graph = "0123456789abcdef0123456789abcdef",
                                  .model = "m.onnx",
                                  .target_kind = "chip",
                                  .device = "Chip",
                                  .driver = "1.0",
                                  .runtime = "",
                                  .environment_id = kind == PW_BASELINE_THROUGHPUT ? "feed" : "",
                                  .protocol = "",
                                  .protocol_hash = "",
                                  .version = "0.1.0",
                                  .recorded = "2026-03-01T12:00:00Z",
                                  .approved_by = "",
                                  .approved_at = "",
                                  .message = ""};
    struct pw_buf path = {0};
    struct pw_error err = {0};

    if (pw_baseline_save_pending(folder, &b, &path, &err) != PW_OK)
        fail_msg("%s", err.message);
    pw_buf_clear(&path);
}

static pw_status approve(int *number, size_t *approved, struct pw_error *err)
{
    const struct pw_baseline_approval approval = {.by = "ann", .message = "because", .at = "2026-03-02T08:00:00Z"};
    struct pw_buf paths = {0};
    pw_status status = pw_baseline_approve(folder, &approval, number, approved, &paths, err);

    pw_buf_clear(&paths);
    return status;
}

static void test_others_stay(void **state)
{
    struct pw_buf text = {0};
    struct pw_error err = {0};
    size_t approved = 0;
    int number = 0;

    (void)state;
    record(PW_BASELINE_PRECISION);
    record(PW_BASELINE_THROUGHPUT);
    links_until = 2; /* precision-1 is there, throughput-1 is not */
    assert_int_equal(approve(&number, &approved, &err), PW_ERR_IO);
    assert_int_equal(links_until, 0);
    assert_int_equal(approved, 0);
    assert_false(pw_file_exists(path_of("precision-1.yaml")));
    assert_true(pw_file_exists(path_of("precision-pending.yaml")));
    assert_int_equal(pw_file_read(path_of("precision-2.yaml"), 100, &text, &err), PW_OK);
    assert_string_equal(pw_buf_text(&text), "another's\n");
    pw_buf_clear(&text);
}

/* A number that no reader takes is not given: that baseline would never be found. */
static void test_numbers_end(void **state)
{
    struct pw_error err = {0};
    size_t approved = 0;
    int number = 0;

    (void)state;
    record(PW_BASELINE_PRECISION);
    put("precision-1000000.yaml");
    assert_int_equal(approve(&number, &approved, &err), PW_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "1000000"));
    assert_int_equal(approved, 0);
    assert_true(pw_file_exists(path_of("precision-pending.yaml")));
    assert_false(pw_file_exists(path_of("precision-1000001.yaml")));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {TEST(test_others_stay), TEST(test_numbers_end)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
