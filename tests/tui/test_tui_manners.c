/* What a first-time user relies on: three keys to the worst, what is filtered is said, every key answers. */
#include "tests/tui/fake.h"

static void fails(struct pw_tui *tui, size_t signature, const char *reason)
{
    struct pw_event failed = {.kind = PW_EVENT_CASE, .done = 1, .total = 1};
    struct pw_event summary = {.kind = PW_EVENT_SIGNATURE};

    failed.result.signature = signature;
    failed.result.verdict = PW_VERDICT_FAIL;
    failed.result.output = -1;
    failed.result.reason = (char *)(uintptr_t)reason;
    snprintf(failed.result.id, sizeof failed.result.id, "3:%s:f32:u:1", signatures[signature].id);
    send(tui, &failed);
    summary.summary = (struct pw_signature_result){.signature = signature,
                                                   .standing = PW_STANDING_FAILED,
                                                   .gate_failed = true,
                                                   .worst_error = NAN,
                                                   .worst_ratio = NAN,
                                                   .implementations = &lists[signature]};
    send(tui, &summary);
}

/* a, !, Enter: what is missing or fails, and the worst of it, wherever the cursor was before. */
static void test_three_keys(void **state)
{
    struct pw_tui *tui = open_tui(24, 80);

    (void)state;
    device_opens(tui);
    press(tui, "G"); /* some other row */
    press(tui, "a");
    assert_int_equal(tui->intent, PW_INTENT_VERIFY);
    assert_int_equal(tui->selection_count, 3);
    fails(tui, 1, "off by one");
    fails(tui, 0, "worse: more of the work");
    press(tui, "!");
    shows(tui, "missing 1");
    shows(tui, "failed 2");
    shows(tui, "/is:problem  3 of 3");
    shows(tui, "> MatMul-13"); /* 90 % of the FLOPs */
    press(tui, "\n");
    assert_int_equal(tui->screen, PW_SCREEN_DETAIL);
    assert_int_equal(tui->detail, 0);
    shows(tui, "worse: more of the work");
    close_tui(tui);
}

/* The cursor waits on the first row, which is the worst, until it is moved or its row acted on; then it stays. */
static void test_cursor_waits(void **state)
{
    struct pw_tui *tui = open_tui(24, 80);

    (void)state;
    device_opens(tui);
    fails(tui, 1, "off by one");
    shows(tui, "> Softmax-13");
    fails(tui, 0, "worse");
    shows(tui, "> MatMul-13");
    press(tui, "j");
    shows(tui, "> Softmax-13");
    press(tui, "r");
    shows(tui, "> Softmax-13");
    close_tui(tui);
    tui = open_tui(24, 80);
    device_opens(tui);
    shows(tui, "> x:Mystery");
    press(tui, "v");
    fails(tui, 0, "worse");
    shows(tui, "> x:Mystery");
    close_tui(tui);
}

static void test_narrow_summary(void **state)
{
    struct pw_tui *tui = open_tui(10, 40);

    (void)state;
    device_opens(tui);
    fails(tui, 1, "off by one");
    shows(tui, " 3:  missing 1  failed 1  held 0");
    press(tui, "/sens:high\n");
    shows(tui, " /sens:high  1 of 3  missing 1");
    close_tui(tui);
}

static void test_nothing_listed(void **state)
{
    struct pw_tui *tui = open_tui(10, 80);

    (void)state;
    device_opens(tui);
    press(tui, "/zzz\n");
    shows(tui, "/ changes the filter, Esc clears it.");
    press(tui, "\n");
    assert_int_equal(tui->screen, PW_SCREEN_INVENTORY);
    shows(tui, "no signature is listed");
    press(tui, "v");
    assert_int_equal(tui->intent, PW_INTENT_NONE);
    shows(tui, "nothing is selected");
    press(tui, "\033/cov:none\n");
    shows(tui, "'none' is none of them; write cov:missing,host");
    press(tui, "\033/flops>x\n");
    shows(tui, "'x' is no number");
    press(tui, "\033/op:MatMul is:problem\n");
    shows(tui, "Nothing matches 'op:MatMul is:problem'.");
    close_tui(tui);
}

/* Failures are chosen by the arrows and opened; the way back is to where one came from. */
static void test_failures_open(void **state)
{
    struct pw_tui *tui = open_tui(12, 80);
    struct pw_event started = {.kind = PW_EVENT_STARTED, .total = 2};

    (void)state;
    device_opens(tui);
    press(tui, "3\n");
    shows(tui, "no line here is about a signature");
    send(tui, &started);
    fails(tui, 0, "the first");
    fails(tui, 1, "the second");
    shows(tui, ">  FAIL MatMul-13");
    press(tui, "j");
    shows(tui, ">  FAIL Softmax-13");
    press(tui, "\n");
    assert_int_equal(tui->screen, PW_SCREEN_DETAIL);
    assert_int_equal(tui->detail, 1);
    press(tui, "\033");
    assert_int_equal(tui->screen, PW_SCREEN_RUN);
    shows(tui, ">  FAIL Softmax-13");
    press(tui, "k\n");
    assert_int_equal(tui->detail, 0);
    press(tui, "1\n\033");
    assert_int_equal(tui->screen, PW_SCREEN_INVENTORY);
    close_tui(tui);
}

/* What a compiler refuses is one failure, of as many cases. */
static void test_failures_of_a_build(void **state)
{
    struct pw_tui *tui = open_tui(12, 80);
    struct pw_event started = {.kind = PW_EVENT_STARTED, .total = 5};
    struct pw_event refused = {.kind = PW_EVENT_CASE,
                               .result = {.signature = 1,
                                          .verdict = PW_VERDICT_ERROR,
                                          .id = "id",
                                          .reason = "does not build",
                                          .shapes = "",
                                          .log = "expected a semicolon"}};

    (void)state;
    device_opens(tui);
    press(tui, "3");
    send(tui, &started);
    fails(tui, 0, "does not build"); /* one that fails so by itself */
    for (int i = 0; i < 3; i++)
        send(tui, &refused);
    shows(tui, "4 failures so far");
    shows(tui, "3 cases: ERROR Softmax-13: does not build");
    press(tui, "j\n");
    assert_int_equal(tui->detail, 1);
    close_tui(tui);
}

static void test_click_opens_failure(void **state)
{
    struct pw_tui *tui = open_tui(12, 80);
    struct pw_event started = {.kind = PW_EVENT_STARTED, .total = 2};
    struct pw_input click = {.kind = PW_INPUT_CLICK, .column = 9};
    const char *line;

    (void)state;
    device_opens(tui);
    press(tui, "3");
    send(tui, &started);
    fails(tui, 1, "the one");
    line = screen_of(tui);
    for (const char *at = strstr(line, "FAIL Softmax"); at > line; at--)
        click.row += *at == '\n';
    pw_tui_apply(tui, &click); /* it is the chosen one */
    assert_int_equal(tui->screen, PW_SCREEN_DETAIL);
    assert_int_equal(tui->detail, 1);
    close_tui(tui);
}

static void test_every_key_answers(void **state)
{
    struct pw_tui *tui = open_tui(24, 80);
    int messages = tui->message_count;

    (void)state;
    device_opens(tui);
    press(tui, "W");
    shows(tui, "W does nothing here: ? lists the keys");
    assert_int_equal(tui->message_count, messages);
    pw_tui_resize(tui, 12, 80);
    press(tui, "?G"); /* in one burst, without a painting in between */
    shows(tui, "todo>20");
    press(tui, "\033n");
    press(tui, "2n");
    shows(tui, "nothing is looked for yet");
    tui->intent = PW_INTENT_NONE; /* the detail asked for earlier runs */
    press(tui, "1?q");
    assert_int_equal(tui->screen, PW_SCREEN_INVENTORY);
    assert_int_equal(tui->intent, PW_INTENT_NONE);
    press(tui, "mq");
    assert_int_equal(tui->screen, PW_SCREEN_INVENTORY);
    assert_int_equal(tui->intent, PW_INTENT_NONE);
    press(tui, "q");
    assert_int_equal(tui->intent, PW_INTENT_QUIT);
    close_tui(tui);
}

/* At 80 columns the list has no column of the decisions. */
static void test_decisions_are_said(void **state)
{
    struct pw_tui *tui = open_tui(24, 80);

    (void)state;
    device_opens(tui);
    press(tui, "/Softmax\nt");
    shows(tui, "Softmax-13: status open");
    press(tui, ":status in progress\n");
    shows(tui, "Softmax-13: status doing");
    press(tui, ":status todo\n");
    shows(tui, "Softmax-13: status open");
    press(tui, "\033 :owner ana\n");
    press(tui, ":waive ");
    shows(tui, "DATE REASON  Enter does it, Esc drops");
    press(tui, "2099-01-31 driver\n");
    shows(tui, "waived until 2099-01-31 driver");
    tui->intent = PW_INTENT_NONE;
    press(tui, ":waive 2099-02-31 driver\n");
    shows(tui, "a waiver ends on a date");
    snprintf(tui->today, sizeof tui->today, "2026-11-30");
    press(tui, ":waive 2026-11-29 driver\n");
    shows(tui, "waive: 2026-11-29 is past, today is 2026-11-30");
    assert_int_equal(tui->intent, PW_INTENT_NONE);
    close_tui(tui);
}

/* Signatures that the dims make equal are verified once, but each is listed, and counts. */
static void test_totals_are_of_rows(void **state)
{
    struct pw_tui *tui = open_tui(24, 80);
    struct pw_event started = {.kind = PW_EVENT_STARTED, .total = 1};
    struct pw_event finished = {.kind = PW_EVENT_FINISHED, .totals = {.signatures = 1, .failed = 1, .cases = 2}};

    (void)state;
    device_opens(tui);
    send(tui, &started);
    fails(tui, 0, "off by one");
    fails(tui, 1, "off by one");
    send(tui, &finished);
    shows(tui, "verify: 0 held, 2 failed, 0 unproven or on the host; 2 cases");
    send(tui, &started); /* of the second one alone */
    fails(tui, 1, "off by one");
    send(tui, &finished);
    shows(tui, "verify: 0 held, 1 failed, 0 unproven or on the host; 2 cases");
    close_tui(tui);
}

/* Help begins with the screen that it was asked for on. */
static void test_help_of_this_screen(void **state)
{
    struct pw_tui *tui = open_tui(24, 80);

    (void)state;
    device_opens(tui);
    press(tui, "5?");
    shows(tui, "\n end-to-end\n  r          Runs the graph");
    press(tui, "\0336?");
    shows(tui, "\n baselines\n  A          Approves");
    close_tui(tui);
}

/* The file's answer to a decision may come after the next one: it does not undo that. */
static void test_late_answers(void **state)
{
    struct pw_tui *tui = open_tui(24, 130);
    struct pw_triage_entry entry = {.id = "bbbbbbbbbbbbbbbb", .op = "Softmax-13", .status = PW_TRIAGE_OPEN};
    struct pw_event answer = {.kind = PW_EVENT_TRIAGE, .about = 1, .triage = &entry, .triage_count = 1},
                    other = {.kind = PW_EVENT_TRIAGE};

    (void)state;
    device_opens(tui);
    press(tui, "/Softmax\nt"); /* open */
    tui->unanswered++;
    press(tui, "t"); /* doing */
    tui->unanswered++;
    send(tui, &answer);
    send(tui, &other); /* a look at the file, before it had either */
    press(tui, "t");
    tui->unanswered++;
    assert_int_equal(tui->decisions[0].status, PW_TRIAGE_BLOCKED);
    entry.status = PW_TRIAGE_DOING;
    send(tui, &answer);
    press(tui, "k");
    shows(tui, "blocked");
    entry.status = PW_TRIAGE_BLOCKED;
    snprintf(entry.owner, sizeof entry.owner, "somebody else");
    send(tui, &answer);
    press(tui, ":note driver\n"); /* builds on all that is known now */
    assert_string_equal(tui->decisions[0].owner, "somebody else");
    assert_int_equal(tui->decisions[0].status, PW_TRIAGE_BLOCKED);
    tui->unanswered++;
    answer = (struct pw_event){.kind = PW_EVENT_TRIAGE, .about = 1, .failed = true};
    send(tui, &answer);
    assert_int_equal(tui->unanswered, 0);
    close_tui(tui);
}

/* A question that was not answered says so where the answer would stand. */
static void test_no_answer(void **state)
{
    static const struct {
        const char *keys, *looking;
        pw_ask ask;
    } questions[] = {{"4", "Looking at earlier runs", PW_ASK_HISTORY},
                     {"w", "Looking at earlier runs", PW_ASK_GRAPH},
                     {"6", "Looking at the baselines", PW_ASK_BASELINES},
                     {"7", "Looking at the environment", PW_ASK_ENVIRONMENT}};
    struct pw_tui *tui = open_tui(24, 80);
    struct pw_event answer = {.kind = PW_EVENT_ANSWER, .failed = true};

    (void)state;
    device_opens(tui);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        press(tui, questions[i].keys);
        shows(tui, questions[i].looking);
        answer.ask = questions[i].ask;
        snprintf(answer.error.message, sizeof answer.error.message, "nobody knows %zu", i);
        send(tui, &answer);
        press(tui, "k"); /* the message at the foot goes */
        shows(tui, answer.error.message);
        hides(tui, questions[i].looking);
    }
    close_tui(tui);
}

static void test_long_message(void **state)
{
    struct pw_tui *tui = open_tui(10, 40);

    (void)state;
    pw_tui_say(tui, false, "a message that is quite a bit longer than the screen is wide");
    shows(tui, "(m: all)");
    pw_tui_say(tui, true, "a failure that is quite a bit longer than the screen is wide");
    shows(tui, "(m: messages)");
    close_tui(tui);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_keys),          cmocka_unit_test(test_narrow_summary),
        cmocka_unit_test(test_cursor_waits),        cmocka_unit_test(test_nothing_listed),
        cmocka_unit_test(test_failures_open),       cmocka_unit_test(test_click_opens_failure),
        cmocka_unit_test(test_failures_of_a_build), cmocka_unit_test(test_every_key_answers),
        cmocka_unit_test(test_decisions_are_said),  cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_totals_are_of_rows),  cmocka_unit_test(test_help_of_this_screen),
        cmocka_unit_test(test_late_answers),        cmocka_unit_test(test_long_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
