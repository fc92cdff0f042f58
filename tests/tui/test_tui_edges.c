/* Edges: shares of no tolerance, a job that ends before it began, words half typed, glyphs of two columns. */
#include "fake.h"
#include "job/queue.h"

static void case_comes(struct pw_tui *tui, const char *id, double error, double tolerance)
{
    struct pw_event event = {.kind = PW_EVENT_CASE, .done = 1, .total = 4};

    event.result =
        (struct pw_case_result){.signature = 0, .verdict = PW_VERDICT_PASS, .tolerance = tolerance, .reason = ""};
    event.result.comparison.max_error = error;
    snprintf(event.result.id, sizeof event.result.id, "%s", id);
    send(tui, &event);
}

/* A case that must be exact, and is, has no share of its tolerance: it is not the nearest to it. */
static void test_nearest_to_its_tolerance(void **state)
{
    static const char *const orders[] = {"nlx", "nxl", "xnl", "lnx", "lxn", "xln"}; /* near, low, exact */

    (void)state;
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        struct pw_tui *tui = open_tui(8, 100);

        device_opens(tui);
        for (const char *p = orders[o]; *p; p++)
            case_comes(tui,
                       *p == 'n'   ? "near"
                       : *p == 'l' ? "low"
                                   : "exact",
                       *p == 'n'   ? 6e-7
                       : *p == 'l' ? 1e-9
                                   : 0,
                       *p == 'x' ? 0 : 1e-6);
        press(tui, "/matmul\ny");
        assert_string_equal(tui->intent_text, "portwright verify m.onnx --target opencl --case near");
        close_tui(tui);
    }
}

/* Of more cases than are kept those that failed are not left out. */
static void test_failure_behind_very_many(void **state)
{
    struct pw_tui *tui = open_tui(12, 100);
    struct pw_event failed = {.kind = PW_EVENT_CASE, .done = 1, .total = 4};

    (void)state;
    failed.result =
        (struct pw_case_result){.signature = 0, .verdict = PW_VERDICT_CRASH, .output = -1, .reason = "gone"};
    snprintf(failed.result.id, sizeof failed.result.id, "late");
    device_opens(tui);
    for (int i = 0; i < PW_TUI_CASES; i++)
        case_comes(tui, "held", 1e-9, 1e-6);
    send(tui, &failed);
    assert_int_equal(tui->at->signatures[0].case_count, PW_TUI_CASES);
    press(tui, "/matmul\ny");
    assert_string_equal(tui->intent_text, "portwright verify m.onnx --target opencl --case late");
    close_tui(tui);
}

/* Of a queue that is cancelled each job says so at once, while what runs still ends by itself. */
static void test_queued_job_is_dropped(void **state)
{
    struct pw_tui *tui = open_tui(12, 100);
    struct pw_event started = {.kind = PW_EVENT_STARTED, .job = 1, .total = 4};
    struct pw_event dropped = {.kind = PW_EVENT_FINISHED, .job = 2, .failed = true};
    struct pw_event finished = {.kind = PW_EVENT_FINISHED, .job = 1, .failed = true};

    (void)state;
    pw_error_set(&dropped.error, PW_ERR_CANCELLED, "cancelled before it began");
    pw_error_set(&finished.error, PW_ERR_CANCELLED, "cancelled");
    device_opens(tui);
    send(tui, &started);
    case_comes(tui, "first", 1e-9, 1e-6);
    send(tui, &dropped);
    assert_true(tui->at->running);
    assert_string_equal(tui->flash, "cancelled before it began");
    case_comes(tui, "second", 1e-9, 1e-6);
    assert_int_equal(tui->at->signatures[0].case_count, 2); /* of the same run */
    send(tui, &finished);
    assert_false(tui->at->running);
    assert_string_equal(tui->flash, "verify: cancelled after 1 of 4 cases; what was found so far is kept");
    close_tui(tui);
}

/* What never began says nothing of the job before it, which went through: as where one waits for kernels to be read. */
static void test_dropped_behind_a_finished_one(void **state)
{
    struct pw_tui *tui = open_tui(12, 100);
    struct pw_event started = {.kind = PW_EVENT_STARTED, .job = 1, .total = 1};
    struct pw_event finished = {.kind = PW_EVENT_FINISHED, .job = 1, .totals = {.held = 1, .cases = 1}};
    struct pw_event dropped = {.kind = PW_EVENT_FINISHED, .job = 2, .failed = true};

    (void)state;
    pw_error_set(&dropped.error, PW_ERR_CANCELLED, "cancelled before it began");
    device_opens(tui);
    send(tui, &started);
    case_comes(tui, "first", 1e-9, 1e-6);
    send(tui, &finished);
    press(tui, "3");
    shows(tui, "held 1 ");
    send(tui, &dropped);
    assert_string_equal(tui->flash, "cancelled before it began");
    shows(tui, "held 1 ");
    close_tui(tui);
}

/* What failed and what is not proven are counted alike wherever they are counted, as the rows say it. */
static void test_counts_agree(void **state)
{
    static const pw_standing standings[] = {PW_STANDING_UNPROVEN, PW_STANDING_MISTRUSTED, PW_STANDING_FAILED};
    struct pw_event started = {.kind = PW_EVENT_STARTED, .job = 1, .total = 3};
    struct pw_event summary = {.kind = PW_EVENT_SIGNATURE, .job = 1};
    struct pw_event finished = {.kind = PW_EVENT_FINISHED, .job = 1, .totals = {.gate_failed = 3, .cases = 3}};
    struct pw_tui *tui = open_tui(14, 120);

    (void)state;
    device_opens(tui);
    send(tui, &started);
    for (size_t i = 0; i < 3; i++) {
        summary.summary = (struct pw_signature_result){
            .signature = i, .standing = standings[i], .gate_failed = true, .worst_error = NAN, .worst_ratio = NAN};
        send(tui, &summary);
    }
    send(tui, &finished);
    assert_string_equal(tui->flash, "verify: 0 held, 1 failed, 1 unproven or on the host, 1 mistrusted; 3 cases");
    shows(tui, "failed 1  held 0  unproven 2  maturity ");
    press(tui, "/status:failed\n");
    assert_int_equal(tui->visible_count, 1);
    press(tui, "\0333");
    shows(tui, "failed 1  unproven or host 1  mistrusted 1 ");
    press(tui, "1");
    pw_tui_resize(tui, 10, 40);
    shows(tui, " 3:  missing 1  failed 1  held 0"); /* no room for the rest */
    hides(tui, "unproven 2");
    close_tui(tui);
}

/* How far a run came and why it ended stays with it, whatever runs afterwards. */
static void test_ended_before_another_job(void **state)
{
    struct pw_event started = {
        .kind = PW_EVENT_STARTED, .job = 1, .whole_graph = true, .mode = PW_ENDTOEND_NODES, .total = 3};
    struct pw_event node = {.kind = PW_EVENT_NODE, .job = 1, .whole_graph = true, .done = 1, .total = 3};
    struct pw_event over = {
        .kind = PW_EVENT_FINISHED, .job = 1, .whole_graph = true, .mode = PW_ENDTOEND_NODES, .failed = true};
    struct pw_event verify = {.kind = PW_EVENT_STARTED, .job = 2, .total = 10};
    struct pw_event verified = {.kind = PW_EVENT_FINISHED, .job = 2};
    struct pw_tui *tui = open_tui(30, 80);

    (void)state;
    node.node =
        (struct pw_endtoend_node){.node = &nodes[0], .pattern = -1, .implementation = "one", .note = "", .reason = ""};
    pw_error_set(&over.error, PW_ERR_CRASH, "the worker died");
    device_opens(tui);
    press(tui, "5");
    send(tui, &started);
    send(tui, &node);
    shows(tui, "running 1/3  c cancels");
    send(tui, &over);
    shows(tui, "not finished 1/3\n   the worker died\n");
    send(tui, &verify);
    press(tui, "k");
    hides(tui, "running 0/10");
    shows(tui, "not finished 1/3\n   the worker died\n");
    send(tui, &verified);
    press(tui, "k");
    shows(tui, "not finished 1/3\n   the worker died\n");
    close_tui(tui);
}

/* A job that waits for the device has not begun, and is cancelled nevertheless. */
static void test_cancelling_before_a_begin(void **state)
{
    struct pw_tui *tui = open_tui(12, 100);

    (void)state;
    press(tui, "c");
    assert_int_equal(tui->intent, PW_INTENT_CANCEL);
    close_tui(tui);
}

static void test_half_typed_words(void **state)
{
    struct pw_tui *tui = open_tui(12, 100);

    (void)state;
    device_opens(tui);
    press(tui, "/is:prob\n");
    assert_int_equal(tui->visible_count, 1);
    press(tui, "\033/is:p\n");
    assert_int_equal(tui->visible_count, 1);
    for (const char *word = "data"; *word; word++) { /* d, da, dat: not those whose dims are fixed */
        char query[16];

        snprintf(query, sizeof query, "dyn:%.*s", (int)(5 - strlen(word)), "data");
        pw_tui_set_filter(tui, query);
        assert_int_equal(tui->visible_count, 0);
    }
    pw_tui_set_filter(tui, "dyn:n");
    assert_int_equal(tui->visible_count, 2);
    pw_tui_set_filter(tui, "dyn:ye");
    assert_int_equal(tui->visible_count, 1);
    pw_tui_set_filter(tui, "is:roblem"); /* not from its beginning */
    assert_int_equal(tui->visible_count, 0);
    assert_true(tui->query.problem[0]);
    close_tui(tui);
}

static void test_unmarked_are_not_listed(void **state)
{
    struct pw_tui *tui = open_tui(12, 100);

    (void)state;
    device_opens(tui);
    press(tui, "  /is:marked\n");
    assert_int_equal(tui->visible_count, 2);
    press(tui, "U");
    assert_int_equal(tui->visible_count, 0);
    close_tui(tui);
}

/* What covers one half of a wide glyph leaves no other half behind. */
static void test_half_a_glyph(void **state)
{
    struct pw_canvas wide = {0};
    struct pw_buf text = {0};
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(pw_canvas_resize(&wide, 2, 6, &err), PW_OK);
    for (int row = 0; row < 2; row++) {
        pw_canvas_text(&wide, row, 0, 6, PW_STYLE_NORMAL, "a世b");
        pw_canvas_text(&wide, row, row ? 1 : 2, 1, PW_STYLE_DIM, "|");
    }
    pw_canvas_dump(&wide, &text);
    assert_string_equal(pw_buf_text(&text), "a |b\na| b\n");
    pw_buf_clear(&text);
    pw_canvas_clear(&wide);
}

/* What was looked for is marked in as many columns as it takes, which are not its bytes. */
static void test_marked_columns(void **state)
{
    struct pw_canvas shown = {0};
    struct pw_lines lines = {0};
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(pw_canvas_resize(&shown, 1, 10, &err), PW_OK);
    pw_lines_begin(&lines, 10);
    pw_lines_add(&lines, PW_STYLE_NORMAL, 0, "x世é yz");
    pw_lines_draw(&lines, &shown, 0, 1, 0, 0, "世é");
    for (int column = 0; column < 10; column++)
        assert_int_equal(shown.cells[column].style, column >= 1 && column <= 3 ? PW_STYLE_SELECTED : PW_STYLE_NORMAL);
    pw_lines_clear(&lines);
    pw_canvas_clear(&shown);
}

/* Notes of colleagues: none is cut, and none of another row is put on what is marked. */
static void test_notes(void **state)
{
    struct pw_tui *tui = open_tui(12, 100);
    struct pw_triage_entry entries[2] = {{.id = "aaaaaaaaaaaaaaaa"}, {.id = "bbbbbbbbbbbbbbbb", .note = "of softmax"}};
    struct pw_event event = {.kind = PW_EVENT_TRIAGE, .triage = entries, .triage_count = 2};

    (void)state;
    for (size_t i = 0; i < PW_TRIAGE_TEXT - 2; i += 3)
        memcpy(entries[0].note + i, "\xe4\xb8\x96", 4);
    device_opens(tui);
    send(tui, &event);
    press(tui, "/matmul\ni\n");
    assert_int_equal(tui->intent, PW_INTENT_TRIAGE);
    assert_string_equal(tui->decisions[0].note, entries[0].note);
    tui->intent = PW_INTENT_NONE;
    press(tui, "iand so on\n");
    assert_int_equal(tui->intent, PW_INTENT_NONE);
    shows(tui, "note: expected 511 bytes at most, found 519");
    press(tui, "\033/softmax\n \033/matmul\ni"); /* the softmax is marked, the cursor on another */
    assert_string_equal(tui->prompt.text, "note of softmax");
    press(tui, "\033 i"); /* both are marked, whose notes differ */
    assert_string_equal(tui->prompt.text, "note ");
    close_tui(tui);
}

static void test_messages_are_cut_between_characters(void **state)
{
    struct pw_tui *tui = open_tui(12, 100);
    char text[1600];

    (void)state;
    for (size_t i = 0; i + 3 < sizeof text; i += 3)
        memcpy(text + i, "\xe4\xb8\x96", 4);
    pw_tui_say(tui, false, "%s", text);
    assert_int_equal(strlen(tui->messages[0].text), 510);
    assert_int_equal(strlen(tui->flash) % 3, 0);
    pw_prompt_open(&tui->prompt, PW_PROMPT_SEARCH, text);
    press(tui, "\n");
    assert_int_equal(strlen(tui->search) % 3, 0);
    close_tui(tui);
}

/* n and N come to every line that holds the text, each once a round: also those of the last page, which can't stand at
 * the top. */
static void test_every_line_is_found(void **state)
{
    struct pw_tui *tui = open_tui(24, 80);
    bool holds[1000] = {false};
    size_t lines = 0;

    (void)state;
    press(tui, "?");
    screen_of(tui);
    pw_tui_fill(tui);
    assert_in_range(tui->text.count, 40, 1000);
    for (size_t i = 0; i < tui->text.count; i++) {
        holds[i] = pw_lines_holds(&tui->text, i, "e");
        lines += holds[i];
    }
    press(tui, "/e\n");
    for (int back = 0; back < 2; back++) {
        bool seen[1000] = {false};

        for (size_t i = 0; i < lines; i++) {
            int line = tui->found[PW_SCREEN_HELP];

            assert_true(holds[line] && !seen[line]);
            seen[line] = true;
            screen_of(tui);
            press(tui, back ? "N" : "n");
        }
    }
    close_tui(tui);
}

static struct pw_event *figure_at(const char *level)
{
    const struct pw_bench_figure figure = {.name = "matmul_tile",
                                           .target = {.count = 9, .median = 1000, .low = 900, .high = 1100},
                                           .roof = {.level = level, .share = 0.5, .compute_ns = NAN, .memory_ns = 500},
                                           .flops = NAN,
                                           .flops_rate = NAN};
    struct pw_event *event = pw_event_create(PW_EVENT_BENCH);

    assert_non_null(event);
    assert_true(pw_event_set_figure(event, &figure, false));
    return event;
}

/* What is shown of a figure is the model's own: its event is gone, and another may lie in its place. */
static void test_figure_outlives_its_event(void **state)
{
    struct pw_tui *tui = open_tui(40, 100);
    struct pw_event *event = figure_at("L2"), *others[8];

    (void)state;
    device_opens(tui);
    send(tui, event);
    pw_event_free(event);
    for (size_t i = 0; i < 8; i++)
        others[i] = figure_at("XX");
    press(tui, "/matmul\n\n");
    shows(tui, "50 % of the roof at L2");
    for (size_t i = 0; i < 8; i++)
        pw_event_free(others[i]);
    close_tui(tui);
}

static void click_foot(struct pw_tui *tui, int column)
{
    struct pw_input input = {.kind = PW_INPUT_CLICK, .row = tui->rows - 1, .column = column};

    pw_tui_apply(tui, &input);
}

/* A message lies over the keys: a click on it presses none of them, but the one that it names. */
static void test_click_on_a_message(void **state)
{
    struct pw_tui *tui = open_tui(9, 80);

    (void)state;
    device_opens(tui);
    for (int column = 0; column < 80; column++) {
        pw_tui_say(tui, false, "all is well");
        click_foot(tui, column);
        assert_int_equal(tui->intent, PW_INTENT_NONE);
        assert_int_equal(tui->screen, PW_SCREEN_INVENTORY);
        assert_int_equal(tui->prompt.kind, PW_PROMPT_CLOSED);
        assert_string_equal(tui->flash, ""); /* the keys are seen again */
    }
    pw_tui_say(tui, true, "the target is gone"); /* "  (m: messages)" behind it */
    click_foot(tui, 19);
    assert_int_equal(tui->screen, PW_SCREEN_INVENTORY);
    pw_tui_say(tui, true, "the target is gone");
    click_foot(tui, 20);
    assert_int_equal(tui->screen, PW_SCREEN_MESSAGES);
    close_tui(tui);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nearest_to_its_tolerance),
                                       cmocka_unit_test(test_queued_job_is_dropped),
                                       cmocka_unit_test(test_counts_agree),
                                       cmocka_unit_test(test_ended_before_another_job),
                                       cmocka_unit_test(test_dropped_behind_a_finished_one),
                                       cmocka_unit_test(test_half_typed_words),
                                       cmocka_unit_test(test_unmarked_are_not_listed),
                                       cmocka_unit_test(test_every_line_is_found),
                                       cmocka_unit_test(test_half_a_glyph),
                                       cmocka_unit_test(test_marked_columns),
                                       cmocka_unit_test(test_notes),
                                       cmocka_unit_test(test_failure_behind_very_many),
                                       cmocka_unit_test(test_cancelling_before_a_begin),
                                       cmocka_unit_test(test_click_on_a_message),
                                       cmocka_unit_test(test_figure_outlives_its_event),
                                       cmocka_unit_test(test_messages_are_cut_between_characters)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
