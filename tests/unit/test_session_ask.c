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
#include "baseline/folder.h"
#include "baseline/triage.h"
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

/* Waits until nothing has come for a moment; counts messages that begin so, and keeps the last TRIAGE event. */
static int messages_of(const char *begin, struct pw_event **triage)
{
    int count = 0;

    for (int quiet = 0; quiet < 3;) {
        struct pollfd wait = {.fd = pw_session_fd(session), .events = POLLIN};
        struct pw_event *event = pw_session_next(session);

        quiet = event ? 0 : quiet + 1;
        if (!event)
            poll(&wait, 1, 100);
        if (event && event->kind == PW_EVENT_MESSAGE)
            count += strstr(event->error.message, begin) != NULL;
        if (event && event->kind == PW_EVENT_TRIAGE) {
            pw_event_free(*triage);
            *triage = event;
            event = NULL;
        }
        pw_event_free(event);
    }
    return count;
}

/* A file that a merge left in conflict, from the beginning or meanwhile: that is said once, however often it is looked
 * at, and when somebody has resolved it decisions are kept again, those that waited for it too. */
static void test_triage_in_conflict(void **state)
{
    struct pw_session_options options = {
        .model_path = "m.onnx", .target = "reference", .db = "", .seed = 1, .triage = true};
    struct pw_triage_entry entry = {.status = PW_TRIAGE_DOING, .op = "Relu-14"};
    struct pw_buf path = {0}, good = {0}, bad = {0}, now = {0};
    struct pw_event *event = NULL;
    struct pw_error err = {0};

    (void)state;
    snprintf(entry.id, sizeof entry.id, "%s", pw_session_inventory(session)->signatures[0].id);
    assert_int_equal(pw_folder_graph("baselines", pw_session_graph_id(session), "m.onnx", &path, &err), PW_OK);
    pw_buf_puts(&path, "/triage.yaml");
    assert_int_equal(pw_session_triage(session, &entry, 1, &err), PW_OK);
    messages_of("", &event);
    assert_int_equal(event->triage_count, 1);
    assert_int_equal(pw_session_triage(session, &entry, 1, &err), PW_OK); /* nothing new is answered too */
    pw_event_free(event);
    event = NULL;
    messages_of("", &event);
    assert_non_null(event);
    assert_true(event->about);
    assert_int_equal(pw_file_read(pw_buf_text(&path), 1 << 20, &good, &err), PW_OK);
    pw_buf_printf(&bad, "<<<<<<< HEAD\n%s", pw_buf_text(&good));

    for (int from_begin = 0; from_begin < 2; from_begin++) {
        if (from_begin)
            pw_session_close(session);
        assert_int_equal(pw_file_write(pw_buf_text(&path), bad.data, bad.size, &err), PW_OK);
        if (from_begin)
            assert_int_equal(pw_session_open(&options, &session, &err), PW_OK);
        for (int look = 0; look < 5; look++)
            assert_int_equal(pw_session_triage(session, NULL, 0, &err), PW_OK);
        assert_int_equal(messages_of("a conflict mark of git", &event), 1);
        entry.status = from_begin ? PW_TRIAGE_BLOCKED : PW_TRIAGE_DONE;
        assert_int_equal(pw_session_triage(session, &entry, 1, &err), PW_OK);
        assert_true(messages_of("", &event) > 0);
        assert_false(event->failed);
        assert_int_equal(event->triage_count, !from_begin); /* what was not kept is not shown as if it were */
        assert_int_equal(pw_file_write(pw_buf_text(&path), good.data, good.size, &err), PW_OK);
        assert_int_equal(pw_session_triage(session, NULL, 0, &err), PW_OK);
        messages_of("", &event);
        assert_int_equal(event->triage_count, 1);
        assert_int_equal(event->triage[0].status, from_begin ? PW_TRIAGE_DOING : PW_TRIAGE_DONE);
        pw_buf_clear(&now);
        assert_int_equal(pw_file_read(pw_buf_text(&path), 1 << 20, &now, &err), PW_OK);
        assert_non_null(strstr(pw_buf_text(&now), from_begin ? "status: doing" : "status: done"));
    }
    pw_event_free(event);
    pw_buf_clear(&path);
    pw_buf_clear(&good);
    pw_buf_clear(&bad);
    pw_buf_clear(&now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_only_what_was_shown_is_approved, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_triage_in_conflict, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_compare_wants_two_runs, set_up, tear_down)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
