/* The environment: its id, what a folder's checkout is at, JSON and back, the lock and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "bench/environment.h"

#define HASH "0123456789abcdef0123456789abcdef01234567"
#define OTHER "ffffffffffffffffffffffffffffffffffffffff"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/pw-environment-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static void put(const char *name, const char *text)
{
    struct pw_buf path = {0}, dir = {0};

    pw_file_join(&path, folder, name);
    pw_file_dirname(&dir, pw_buf_text(&path));
    assert_int_equal(pw_file_mkdirs(pw_buf_text(&dir), NULL), PW_OK);
    assert_int_equal(pw_file_write(pw_buf_text(&path), text, strlen(text), NULL), PW_OK);
    pw_buf_clear(&path);
    pw_buf_clear(&dir);
}

static const char *revision(const char *name)
{
    static char text[96];
    char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    pw_environment_revision(path, text, sizeof text);
    return text;
}

static void test_revision(void **state)
{
    (void)state;
    put("a/.git/HEAD", "ref: refs/heads/main\n");
    put("a/.git/refs/heads/main", HASH "\n");
    put("a/ops/deep/x", "");
    assert_string_equal(revision("a/ops/deep"), HASH); /* found in a folder above */
    put("b/.git/HEAD", OTHER "\n");                    /* detached */
    assert_string_equal(revision("b"), OTHER);
    put("c/.git/HEAD", "ref: refs/heads/topic\n");
    put("c/.git/packed-refs", "# pack-refs with: peeled\n" OTHER " refs/heads/topic2\n" HASH " refs/heads/topic\n");
    assert_string_equal(revision("c"), HASH);
    put("d/.git", "gitdir: ../a/.git/worktrees/d\n"); /* a worktree: its own HEAD, the common refs */
    put("a/.git/worktrees/d/HEAD", "ref: refs/heads/side\n");
    put("a/.git/worktrees/d/commondir", "../..\n");
    put("a/.git/refs/heads/side", OTHER "\n");
    assert_string_equal(revision("d"), OTHER);
}

static void test_revision_of_a_hostile_checkout(void **state)
{
    (void)state;
    put("e/.git/HEAD", "ref: refs/../../../../etc/hostname\n");
    assert_string_equal(revision("e"), "");
    put("f/.git/HEAD", "ref: refs/heads/main\n");
    put("f/.git/refs/heads/main", "\033[31mnot a hash\n");
    assert_string_equal(revision("f"), "");
    put("g/.git", "gitdir: /nonexistent\n");
    assert_string_equal(revision("g/nothing-here"), "");
}

static void read_machine(struct pw_environment *out)
{
    const struct pw_environment_request request = {.target = "reference"};
    struct pw_error err = {0};

    assert_int_equal(pw_environment_read(&request, out, &err), PW_OK);
}

static void test_read(void **state)
{
    struct pw_environment first, second, third;

    (void)state;
    read_machine(&first);
    read_machine(&second);
    assert_string_equal(first.target, "reference");
    assert_int_equal(strlen(pw_environment_id(&first)), 16);
    assert_string_equal(first.id, second.id);
    assert_true(pw_environment_get(&first, "cpu")[0] != '\0');
    assert_non_null(strstr(pw_environment_get(&first, "openblas"), "OpenBLAS"));
    assert_true(pw_environment_get(&first, "load")[0] != '\0');
    assert_string_equal(pw_environment_get(&first, "no such field"), "");
    setenv("POCL_MAX_PTHREAD_COUNT", "1", 1); /* half the threads are another environment */
    read_machine(&third);
    unsetenv("POCL_MAX_PTHREAD_COUNT");
    assert_string_not_equal(first.id, third.id);
    assert_non_null(strstr(pw_environment_get(&third, "variables"), "POCL_MAX_PTHREAD_COUNT=1"));
    pw_environment_clear(&first);
    pw_environment_clear(&second);
    pw_environment_clear(&third);
}

static void test_json_and_back(void **state)
{
    struct pw_environment before, after, broken = {0};
    struct pw_buf json = {0}, text = {0};
    struct pw_error err = {0};

    (void)state;
    read_machine(&before);
    assert_int_equal(pw_environment_json(&before, &json, &err), PW_OK);
    assert_int_equal(pw_environment_parse(pw_buf_text(&json), &after, &err), PW_OK);
    assert_string_equal(after.id, before.id);
    assert_string_equal(after.target, "reference");
    assert_int_equal(pw_environment_differences(&after, &before, PW_ENVIRONMENT_TIMING | PW_ENVIRONMENT_PINNED, "then",
                                                "now", &text),
                     0);
    assert_int_equal(text.size, 0);
    assert_int_equal(pw_environment_parse("[1]", &broken, &err), PW_ERR_FORMAT);
    assert_int_equal(pw_environment_parse("{\"cpu\":", &broken, NULL), PW_ERR_FORMAT);
    assert_int_equal(pw_environment_parse("", &broken, NULL), PW_ERR_FORMAT);
    pw_buf_clear(&json);
    pw_environment_clear(&before);
    pw_environment_clear(&after);
}

static void test_differences(void **state)
{
    struct pw_environment a, b;
    struct pw_buf text = {0};

    (void)state;
    assert_int_equal(
        pw_environment_parse("{\"id\":\"1\",\"cpu\":\"A\",\"load\":\"0.1\",\"system\":\"Linux 1\"}", &a, NULL), PW_OK);
    assert_int_equal(pw_environment_parse("{\"id\":\"2\",\"cpu\":\"B\",\"load\":\"9\",\"driver\":\"3\"}", &b, NULL),
                     PW_OK);
    assert_int_equal(pw_environment_differences(&a, &b, PW_ENVIRONMENT_TIMING, "in the baseline", "here", &text), 2);
    assert_string_equal(pw_buf_text(&text),
                        "cpu: 'A' in the baseline, 'B' here; driver: unknown in the baseline, '3' here");
    pw_buf_clear(&text);
    assert_int_equal(pw_environment_differences(&a, &b, PW_ENVIRONMENT_PINNED, "in the baseline", "here", &text), 3);
    assert_non_null(strstr(pw_buf_text(&text), "system: 'Linux 1' in the baseline, unknown here"));
    pw_buf_clear(&text);
    pw_environment_clear(&a);
    pw_environment_clear(&b);
}

/* ---- the lock ---- */

static bool check(const char *name, const struct pw_environment *environment, struct pw_buf *out, struct pw_error *err)
{
    bool matches = false;
    char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    pw_error_clear(err);
    pw_buf_clear(out);
    return pw_lock_check(path, environment, &matches, out, err) == PW_OK && matches;
}

static void test_lock(void **state)
{
    struct pw_environment e[2];
    struct pw_buf lock = {0}, out = {0}, changed = {0};
    struct pw_error err = {0};

    (void)state;
    read_machine(&e[0]);
    read_machine(&e[1]);
    e[1].target = "plugin:\"odd\\name\".so";
    assert_int_equal(pw_lock_write(e, 2, &lock, &err), PW_OK);
    put("good.lock", pw_buf_text(&lock));
    assert_true(check("good.lock", &e[0], &out, &err));
    assert_true(check("good.lock", &e[1], &out, &err));
    e[1].target = "opencl";
    assert_false(check("good.lock", &e[1], &out, &err));
    assert_non_null(strstr(pw_buf_text(&out), "the lock has no target opencl"));

    const char *cores = strstr(pw_buf_text(&lock), "  cores: ");
    assert_non_null(cores);
    pw_buf_printf(&changed, "%.*s  cores: \"4711\"\n  abacus: \"wood\"%s", (int)(cores - pw_buf_text(&lock)),
                  pw_buf_text(&lock), strchr(cores, '\n'));
    put("changed.lock", pw_buf_text(&changed));
    assert_false(check("changed.lock", &e[0], &out, &err));
    assert_int_equal(err.status, PW_OK);
    assert_non_null(strstr(pw_buf_text(&out), "cores: locked 4711, here "));
    assert_non_null(strstr(pw_buf_text(&out), "abacus: locked wood, here unknown"));
    pw_buf_clear(&lock);
    pw_buf_clear(&out);
    pw_buf_clear(&changed);
    pw_environment_clear(&e[0]);
    pw_environment_clear(&e[1]);
}

static void test_lock_that_is_none(void **state)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"format: 2\nmachine: {}\ntargets: {}\n", "expected format 1, found 2"},
        {"machine: {}\ntargets: {}\n", "no 'format'"},
        {"format: 1\nmachines: {}\n", "machine"},
        {"format: 1\nmachine: {}\n", "'machine' and 'targets'"},
        {"format: 1\nmachine: [1]\ntargets: {}\n", "expected a map"},
        {"format: 1\nmachine: {cpu: [1]}\ntargets: {}\n", "cpu"},
        {"- 1\n", "expected a map"},
        {"format: [\n", "lock"},
    };
    struct pw_environment e;
    struct pw_buf out = {0};
    struct pw_error err = {0};

    (void)state;
    read_machine(&e);
    assert_false(check("absent.lock", &e, &out, &err));
    assert_int_equal(err.status, PW_ERR_IO);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put("bad.lock", bad[i].text);
        assert_false(check("bad.lock", &e, &out, &err));
        assert_int_equal(err.status, PW_ERR_FORMAT);
        if (!strstr(err.message, bad[i].message))
            fail_msg("%s: %s", bad[i].text, err.message);
    }
    pw_buf_clear(&out);
    pw_environment_clear(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_revision),
        cmocka_unit_test(test_revision_of_a_hostile_checkout),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_json_and_back),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_lock),
        cmocka_unit_test(test_lock_that_is_none),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
