/* Questions to a session: baselines are approved as they were shown, and stand on the time axis of a history. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "baseline/baseline.h"
#include "graph_text.h"
#include "job/session.h"

static char folder[64];
static struct pw_session *session;

static int set_up(void **state)
{
    struct pw_session_options options = {
        .model_path = "m.onnx", .target = "reference", .db = "x.db", .seed = 1, .triage = true};
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
    if (!written || pw_session_open(&options, &session, &err) != PW_OK) {
        print_error("%s\n", err.message);
        return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    char command[256];

    (void)state;
    pw_session_close(session);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

/* Asks and waits for the answer, owned by the caller. */
static struct pw_event *ask_about(pw_ask question, size_t about, const char *text)
{
    struct pw_error err = {0};

    assert_int_equal(pw_session_ask(session, question, about, text, "ana", &err), PW_OK);
    for (int tries = 0; tries < 100; tries++) {
        struct pollfd wait = {.fd = pw_session_fd(session), .events = POLLIN};
        struct pw_event *event = pw_session_next(session);

        if (event && event->kind == PW_EVENT_ANSWER && event->ask == question)
            return event;
        if (!event)
            poll(&wait, 1, 500);
        pw_event_free(event);
    }
    fail_msg("no answer to question %d", (int)question);
    return NULL;
}

static struct pw_event *ask(pw_ask question, const char *text)
{
    return ask_about(question, 0, text);
}

/* A colleague records: another seed makes another file. */
static void record(uint64_t seed)
{
    struct pw_baseline_row row = {.id = "00112233445566aa",
                                  .op = "Relu-14",
                                  .shapes = "[2] -> [2]",
                                  .kernel = "",
                                  .coverage = PW_COVERAGE_HOST,
                                  .standing = "unproven",
                                  .error = 1e-7,
                                  .tolerance = 1e-6,
                                  .limit = 2e-7,
                                  .cases = ""};
    struct pw_baseline_set set = {"", &row, 1};
    struct pw_baseline made = {.kind = PW_BASELINE_PRECISION,
                               .path = "",
                               .graph = pw_session_graph_id(session),
                               .model = "m.onnx",
                               .target_kind = "reference",
                               .device = "",
                               .driver = "",
                               .runtime = "",
                               .environment_id = "",
                               .protocol = "",
                               .protocol_hash = "",
                               .seed = seed,
                               .version = "0.1.0",
                               .recorded = "2026-03-01T12:34:56Z",
                               .approved_by = "",
                               .approved_at = "",
                               .message = "",
                               .sets = &set,
                               .set_count = 1};
    struct pw_buf where = {0}, path = {0};
    struct pw_error err = {0};

    if (pw_baseline_folder(PW_BASELINE_DIR, pw_session_graph_id(session), "m.onnx", "reference", &where, &err) !=
            PW_OK ||
        pw_baseline_save_pending(pw_buf_text(&where), &made, &path, &err) != PW_OK)
        fail_msg("%s", err.message);
    pw_buf_clear(&where);
    pw_buf_clear(&path);
}

static void test_only_what_was_shown_is_approved(void **state)
{
    struct pw_event *event;
    size_t shown;

    (void)state;
    record(1);
    event = ask(PW_ASK_BASELINES, NULL);
    assert_non_null(strstr(event->text, "pending"));
    shown = event->about;
    assert_true(shown != 0);
    pw_event_free(event);
    record(2);
    pw_event_free(ask(PW_ASK_BASELINES, NULL)); /* the session has looked again, but the person has not */
    event = ask_about(PW_ASK_APPROVE, shown, "looks fine");
    assert_true(event->failed);
    if (!strstr(event->error.message, "no longer what was shown"))
        fail_msg("%s", event->error.message);
    pw_event_free(event);
    event = ask(PW_ASK_HISTORY, NULL);
    assert_false(event->failed);
    assert_int_equal(event->mark_count, 0); /* a pending one is no mark */
    pw_event_free(event);
    event = ask(PW_ASK_BASELINES, NULL);
    shown = event->about;
    pw_event_free(event);
    event = ask_about(PW_ASK_APPROVE, shown, "looks fine");
    assert_false(event->failed);
    assert_true(event->about != shown);
    assert_non_null(strstr(event->text, "ana: looks fine"));
    pw_event_free(event);
    event = ask(PW_ASK_APPROVE, "once more");
    assert_true(event->failed);
    assert_non_null(strstr(event->error.message, "nothing is pending"));
    pw_event_free(event);
    for (int again = 0; again < 2; again++) { /* from the file, then as kept */
        event = ask(again ? PW_ASK_GRAPH : PW_ASK_HISTORY, NULL);
        assert_false(event->failed);
        assert_int_equal(event->mark_count, 1);
        assert_int_equal(event->marks[0].number, 1);
        assert_false(event->marks[0].throughput);
        assert_true(event->marks[0].recorded_ms == 1772368496000);
        pw_event_free(event);
    }
}

static void test_compare_wants_two_runs(void **state)
{
    static const char *const wrong[] = {"", "1", "a b", "1 2", "99999999999999999999 1"};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pw_event *event = ask(PW_ASK_COMPARE, wrong[i]);

        assert_true(event->failed);
        pw_event_free(event);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_only_what_was_shown_is_approved, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_compare_wants_two_runs, set_up, tear_down)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
