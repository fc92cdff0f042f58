/* A session's jobs and its end: what is left undone when it closes or is cancelled harms nothing. */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "graph_text.h"
#include "job/session.h"

static char folder[64];

static int set_up(void **state)
{
    struct pw_buf bytes = {0};
    struct pw_error err = {0};
    bool written;

    (void)state;
    snprintf(folder, sizeof folder, "/tmp/pw-session-XXXXXX");
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return -1;
    graph_text_bytes("input x float32[2]\ny = Relu (x)\noutput y float32[2]\n", NULL, 17, &bytes);
    written = pw_file_write("m.onnx", bytes.data, bytes.size, &err) == PW_OK;
    pw_buf_clear(&bytes);
    return written ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[256];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static pw_status open_session(const char *db, struct pw_session **out, struct pw_error *err)
{
    struct pw_session_options options = {.model_path = "m.onnx", .target = "reference", .db = db, .seed = 1};

    return pw_session_open(&options, out, err);
}

/* Coverage is given up when the session closes; the questions that wait are answered nevertheless, and look at it. */
static void test_closing_before_coverage(void **state)
{
    struct pw_session *session = NULL;
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(open_session("x.db", &session, &err), PW_OK);
    for (int i = 0; i < 20; i++)
        assert_int_equal(pw_session_ask(session, PW_ASK_ENVIRONMENT, 0, NULL, NULL, &err), PW_OK);
    pw_session_close(session);
}

/* An edited kernel is read all the same: what is verified later must not be the one of before. */
static void test_cancelling_keeps_a_reload(void **state)
{
    struct pw_session *session = NULL;
    struct pw_error err = {0};
    int coverages = 0, finished = 0;

    (void)state;
    assert_int_equal(open_session("", &session, &err), PW_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pw_session_verify(session, NULL, 0, false, NULL, &err), PW_OK);
        assert_int_equal(pw_session_reload(session, NULL, 0, &err), PW_OK);
    }
    pw_session_cancel(session);
    assert_int_equal(pw_session_verify(session, NULL, 0, false, NULL, &err), PW_OK); /* what comes behind runs */
    while (finished < 3) {
        struct pollfd wait = {.fd = pw_session_fd(session), .events = POLLIN};
        struct pw_event *event = pw_session_next(session);

        if (!event)
            assert_int_equal(poll(&wait, 1, 30000), 1);
        else if (event->kind == PW_EVENT_COVERAGE)
            coverages++;
        else if (event->kind == PW_EVENT_FINISHED)
            finished++;
        pw_event_free(event);
    }
    assert_int_equal(coverages, 3); /* at the beginning, and of each reload */
    pw_session_close(session);
}

static void write_kernel(const char *yaml)
{
    static const char source[] = "__kernel void mine(__global const float *X, __global float *Y)\n{\n"
                                 "    Y[get_global_id(0)] = fmax(X[get_global_id(0)], 0.0f);\n}\n";
    struct pw_error err = {0};

    assert_int_equal(pw_file_mkdirs("mine/room", &err), PW_OK);
    assert_int_equal(pw_file_write("mine/room/mine.cl", source, strlen(source), &err), PW_OK);
    assert_int_equal(pw_file_write("mine/room/mine.yaml", yaml, strlen(yaml), &err), PW_OK);
}

/* Kernels that were edited into what cannot be read: the former ones are not verified in their place, as if they were
 * what the person wrote. */
static void test_unreadable_edit_is_not_verified(void **state)
{
    static const char yaml[] = "format: 1\nkernel: mine\nimplements: [Relu]\nequals: activation/reference\n"
                               "dtypes: [float32]\nsources: {opencl: mine.cl}\n"
                               "launches:\n  - {entry: mine, global: [X_size], args: [X, Y]}\n"
                               "provenance: {author: hand, algorithm: a, tiling: t}\n";
    static const char *const dirs[] = {"mine"};
    static const struct {
        const char *yaml;
        bool verified;
    } edits[] = {{"format: 1\nkernel: [mine\n", false}, {yaml, true}};
    struct pw_session_options options = {
        .model_path = "m.onnx", .target = "reference", .db = "", .seed = 1, .ops_dirs = dirs, .ops_dir_count = 1};
    struct pw_session *session = NULL;
    struct pw_error err = {0};
    size_t first = 0;

    (void)state;
    write_kernel(yaml);
    assert_int_equal(pw_session_open(&options, &session, &err), PW_OK);
    assert_int_equal(pw_session_verify(session, &first, 1, false, NULL, &err), PW_OK); /* reads what is there */
    for (int i = -1; i < 2; i++) {
        struct pw_event *event = NULL;

        if (i >= 0) {
            write_kernel(edits[i].yaml);
            assert_int_equal(pw_session_reload(session, &first, 1, &err), PW_OK);
        }
        while (!event || event->kind != PW_EVENT_FINISHED) {
            struct pollfd wait = {.fd = pw_session_fd(session), .events = POLLIN};

            pw_event_free(event);
            event = pw_session_next(session);
            if (!event)
                assert_int_equal(poll(&wait, 1, 30000), 1);
        }
        assert_int_equal(event->failed, i >= 0 && !edits[i].verified);
        if (event->failed)
            assert_non_null(strstr(event->error.message, "mine.yaml"));
        pw_event_free(event);
    }
    pw_session_close(session);
}

/* Jobs that wait for the device, or measure without counting, are cancelled too; and it is said when there are none. */
static void test_cancelling_says_whether(void **state)
{
    struct pw_session *session = NULL;
    struct pw_error err = {0};
    int left = 101;

    (void)state;
    assert_int_equal(open_session("", &session, &err), PW_OK);
    for (int i = 0; i < 100; i++)
        assert_int_equal(pw_session_verify(session, NULL, 0, false, NULL, &err), PW_OK);
    assert_int_equal(pw_session_peaks(session, &err), PW_OK);
    assert_true(pw_session_cancel(session));
    while (left > 0) {
        struct pollfd wait = {.fd = pw_session_fd(session), .events = POLLIN};
        struct pw_event *event = pw_session_next(session);

        if (!event)
            assert_int_equal(poll(&wait, 1, 30000), 1);
        else if (event->kind == PW_EVENT_FINISHED || event->kind == PW_EVENT_PEAKS)
            left--;
        pw_event_free(event);
    }
    assert_false(pw_session_cancel(session)); /* whoever hears of the end finds nothing running */
    pw_session_close(session);
}

/* What could not be opened closes nothing that is another's. */
static void test_no_descriptors_left(void **state)
{
    struct pw_session *session = NULL;
    struct pw_error err = {0};
    struct rlimit limit, few;
    pw_status status;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_not_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
    few = limit;
    few.rlim_cur = 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    status = open_session("", &session, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_not_equal(status, PW_OK);
    assert_null(session);
    assert_int_not_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_closing_before_coverage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cancelling_keeps_a_reload, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unreadable_edit_is_not_verified, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cancelling_says_whether, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_descriptors_left, set_up, tear_down)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
