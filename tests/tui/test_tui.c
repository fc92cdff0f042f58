/* The workbench's model and views: keys go in, the canvas is compared with literal text. The graph is a fake
 * with fixed numbers; no terminal, no device. */
#include "fake.h"

/* ---- snapshots ---- */

static void test_inventory_80(void **state)
{
    struct pw_tui *tui = open_tui(9, 80);

    (void)state;
    device_opens(tui);
    expect(tui, " portwright  inventory  m.onnx                                           opencl\n"
                " 3 signatures  kernel 2  host 0  missing 1  failed 0  held 0  maturity unproven\n"
                "  operator            n shapes          flops covered  error        verdict\n"
                "> x:Mystery           1 [8] -> ?              missing  -            missing\n"
                "  MatMul-13           1 [b,64] [64,6...   90% kernel   -            -\n"
                "  Softmax-13          1 [b,8] -> [b,8]    10% kernel   -            -\n"
                "\n"
                "\n"
                "Enter detail  a verify all  v verify  b bench  / filter  ! problems  ? help\n");
    close_tui(tui);
}

static void test_inventory_40(void **state)
{
    struct pw_tui *tui = open_tui(10, 40);

    (void)state;
    device_opens(tui);
    shows(tui, "MatMul-13");
    shows(tui, "missing"); /* coverage and verdict stay at the narrowest */
    hides(tui, "category");
    close_tui(tui);
}

/* ---- doing things ---- */

static void test_worst_first(void **state)
{
    struct pw_tui *tui = open_tui(24, 120);

    (void)state;
    device_opens(tui);
    assert_int_equal(tui->visible[0], 2); /* the missing operator is what to do next */
    press(tui, "n");
    assert_int_equal(tui->visible[tui->cursor], 2);
    close_tui(tui);
}

static void test_filter(void **state)
{
    struct pw_tui *tui = open_tui(24, 120);

    (void)state;
    device_opens(tui);
    press(tui, "/sens:high\n");
    assert_int_equal(tui->visible_count, 1);
    shows(tui, "Softmax-13");
    hides(tui, "MatMul-13");
    press(tui, "\033");
    assert_int_equal(tui->visible_count, 3);
    press(tui, "/cov:missing\n");
    assert_int_equal(tui->visible_count, 1);
    assert_int_equal(tui->visible[0], 2);
    press(tui, "/ flops>1\n");
    assert_int_equal(tui->visible_count, 0);
    shows(tui, "Nothing matches 'cov:missing flops>1'");
    press(tui, "j"); /* moving in an empty list is harmless */
    press(tui, "\nv ");
    assert_int_equal(tui->intent, PW_INTENT_NONE);
    press(tui, "\033/node:fc\n");
    assert_int_equal(tui->visible_count, 1);
    assert_int_equal(tui->visible[0], 0);
    close_tui(tui);
}

/* What was found in the nodes' names is kept, for as many texts as there is room for, and not for another graph. */
static void test_names_are_kept(void **state)
{
    static struct pw_node other = {.name = "other/fc", .op_type = "MatMul", .graph = &graph, .domain = ""};
    static const struct pw_node *only[1] = {&other};
    struct pw_signature renamed[3];
    struct pw_inventory another = inventory;
    struct pw_tui *tui = open_tui(24, 120);
    struct pw_error err = {0};

    (void)state;
    device_opens(tui);
    for (int round = 0; round < 3; round++) {
        pw_tui_set_filter(tui, "node:FC");
        assert_int_equal(tui->visible_count, 1);
        assert_int_equal(tui->visible[0], 0);
        pw_tui_set_filter(tui, "-node:fc node:t,l");
        assert_int_equal(tui->visible_count, 2); /* attn/softmax, and the l of evil */
        for (int i = 0; i < 3 * PW_QUERY_NAMES; i++) {
            char text[200];

            snprintf(text, sizeof text, "node:s%0*d", i % 2 ? 100 : 1, i);
            pw_tui_set_filter(tui, text);
            assert_int_equal(tui->visible_count, 0);
        }
    }
    memcpy(renamed, signatures, sizeof renamed);
    renamed[1].nodes = only;
    another.signatures = renamed;
    pw_tui_set_filter(tui, "node:fc");
    assert_int_equal(pw_tui_take_inventory(tui, &another, &err), PW_OK);
    assert_int_equal(tui->visible_count, 2);
    close_tui(tui);
}

static void test_sort(void **state)
{
    struct pw_tui *tui = open_tui(24, 120);

    (void)state;
    device_opens(tui);
    tui->sort = PW_COLUMN_CATEGORY;
    press(tui, "s"); /* next column: share, largest first */
    assert_int_equal(tui->sort, PW_COLUMN_SHARE);
    assert_int_equal(tui->visible[0], 0);
    press(tui, "r");
    assert_int_equal(tui->visible[2], 0);
    close_tui(tui);
}

static void test_marks_select(void **state)
{
    struct pw_tui *tui = open_tui(24, 120);

    (void)state;
    device_opens(tui);
    press(tui, "g  v");
    assert_int_equal(tui->intent, PW_INTENT_VERIFY);
    assert_int_equal(tui->selection_count, 2);
    tui->intent = PW_INTENT_NONE;
    press(tui, "a");
    assert_int_equal(tui->selection_count, 3);
    close_tui(tui);
}

static void test_run_and_failure(void **state)
{
    struct pw_tui *tui = open_tui(60, 120);
    struct pw_event started = {.kind = PW_EVENT_STARTED, .total = 4};
    struct pw_event failed = {.kind = PW_EVENT_CASE, .done = 1, .total = 4};
    struct pw_event summary = {.kind = PW_EVENT_SIGNATURE};
    struct pw_event finished = {.kind = PW_EVENT_FINISHED};

    (void)state;
    device_opens(tui);
    send(tui, &started);
    failed.result = (struct pw_case_result){.signature = 1,
                                            .verdict = PW_VERDICT_FAIL,
                                            .tolerance = 1e-6,
                                            .reason = "output 0, element [1,3]: got 0.5, golden 0.25"};
    snprintf(failed.result.id, sizeof failed.result.id, "3:bbbbbbbbbbbbbbbb:f32:graph:normal:1");
    failed.result.comparison.max_error = 1;
    send(tui, &failed);
    press(tui, "3");
    shows(tui, "1/4");
    shows(tui, "1 failure so far");
    shows(tui, "FAIL Softmax-13: output 0, element [1,3]");
    summary.summary = (struct pw_signature_result){.signature = 1,
                                                   .standing = PW_STANDING_FAILED,
                                                   .implementations = &lists[1],
                                                   .gate_failed = true,
                                                   .worst_error = 1,
                                                   .worst_ratio = 1e6,
                                                   .tolerance = 1e-6};
    send(tui, &summary);
    finished.totals = (struct pw_verify_totals){.signatures = 1, .failed = 1, .cases = 4, .gate_failed = 1};
    send(tui, &finished);
    assert_false(tui->at->running);
    press(tui, "1/status:failed\n\n");
    shows(tui, "error 1 of 1e-06 allowed");
    shows(tui, "FAIL    3:bbbbbbbbbbbbbbbb:f32:graph:normal:1");
    press(tui, "G"); /* its node is at the end */
    shows(tui, "attn/softmax");
    close_tui(tui);
}

/* Cancelled in the middle of a signature: what failed so far stands, is listed, and can be queued again. */
static void test_cancelled_keeps_failures(void **state)
{
    struct pw_tui *tui = open_tui(24, 120);
    struct pw_event started = {.kind = PW_EVENT_STARTED, .total = 4};
    struct pw_event failed = {.kind = PW_EVENT_CASE, .done = 1, .total = 4};
    struct pw_event finished = {.kind = PW_EVENT_FINISHED, .failed = true};

    (void)state;
    device_opens(tui);
    send(tui, &started);
    failed.result = (struct pw_case_result){.signature = 1,
                                            .verdict = PW_VERDICT_CRASH,
                                            .output = -1,
                                            .tolerance = NAN,
                                            .reason = "worker process killed by SIGSEGV (11)"};
    snprintf(failed.result.id, sizeof failed.result.id, "3:bbbbbbbbbbbbbbbb:f32:graph:normal:1");
    send(tui, &failed);
    finished.error.status = PW_ERR_CANCELLED;
    snprintf(finished.error.message, sizeof finished.error.message, "a kernel's launch: cancelled");
    send(tui, &finished);
    press(tui, "3");
    shows(tui, "cancelled after 1 of 4 cases; what was found so far is kept");
    shows(tui, "CRASH Softmax-13: worker process killed by SIGSEGV");
    press(tui, "f");
    assert_int_equal(tui->intent, PW_INTENT_VERIFY);
    assert_int_equal(tui->selection_count, 1);
    assert_int_equal(tui->selection[0], 1);
    press(tui, "1/status:failed\n");
    assert_int_equal(tui->visible_count, 1);
    close_tui(tui);
}

/* While the model is read the frame stands, says how far it is, and keys that need no graph work. */
static void test_reading(void **state)
{
    static const char *const targets[] = {"opencl"};
    struct pw_tui *tui = NULL, *filled = open_tui(24, 120); /* gives the signatures their nodes */
    struct pw_error err = {0};

    (void)state;
    close_tui(filled);
    canvas.ascii = true;
    assert_int_equal(pw_tui_create(NULL, "big.onnx", targets, 1, &tui, &err), PW_OK);
    pw_tui_resize(tui, 8, 60);
    shows(tui, "reading big.onnx");
    shows(tui, "opening the file");
    hides(tui, "verify all"); /* the footer names what works */
    tui->so_far = (struct pw_progress){"reading", "bytes", 12000000, 24000000, false};
    expect(tui, " portwright  inventory  big.onnx                    reading\n"
                " reading big.onnx\n"
                " ######...... reading  12.0 MB of 24.0 MB\n"
                " q quits, ? is the help, / filters what comes.\n"
                "\n"
                "\n"
                "\n"
                "? help  : command  q quit  Tab next screen  m messages\n");
    press(tui, "avbf");
    assert_int_equal(tui->intent, PW_INTENT_NONE);
    press(tui, "a");
    shows(tui, "the graph is still being read");
    press(tui, "2345\n67T Uxy!!zzzzrss"); /* whatever is pressed */
    tui->intent = PW_INTENT_NONE;
    press(tui, "\033\033?");
    shows(tui, "What is missing, what fails, what is worst");
    press(tui, "\0331/sens:high\n");
    tui->so_far = (struct pw_progress){"inferring shapes", "nodes", 7, 9, false};
    shows(tui, "inferring shapes  7 of 9 nodes");
    pw_tui_resize(tui, 24, 120);
    assert_int_equal(pw_tui_take_inventory(tui, &inventory, &err), PW_OK);
    tui->at->implementations = fake_implementations;
    device_opens(tui);
    assert_int_equal(tui->visible_count, 1); /* the filter typed meanwhile holds */
    shows(tui, "Softmax-13");
    hides(tui, "reading");
    press(tui, "q");
    assert_int_equal(tui->intent, PW_INTENT_QUIT);
    close_tui(tui);
}

/* Names from a graph never reach the canvas raw. */
static void test_hostile_names(void **state)
{
    struct pw_tui *tui = open_tui(40, 100);

    (void)state;
    device_opens(tui);
    press(tui, "/mystery\n\n");
    shows(tui, "evil?]0;owned");
    for (int i = 0; i < canvas.rows * canvas.columns; i++)
        assert_true(canvas.cells[i].code == 0 || (canvas.cells[i].code >= 32 && canvas.cells[i].code != 127));
    close_tui(tui);
}

static void test_device_failure_is_shown(void **state)
{
    struct pw_tui *tui = open_tui(24, 100);
    struct pw_event device = {.kind = PW_EVENT_DEVICE, .failed = true};

    (void)state;
    snprintf(device.error.message, sizeof device.error.message, "no OpenCL platform: install pocl-opencl-icd");
    send(tui, &device);
    shows(tui, "no OpenCL platform: install pocl-opencl-icd");
    press(tui, "j");
    shows(tui, "target not usable");
    press(tui, "m");
    shows(tui, "no OpenCL platform: install pocl-opencl-icd"); /* readable afterwards */
    press(tui, "\033");
    assert_int_equal(tui->screen, PW_SCREEN_INVENTORY);
    close_tui(tui);
}

/* The help names every key of every screen: it is made from the same tables. */
static void test_help_is_complete(void **state)
{
    struct pw_tui *tui = open_tui(200, 100);

    (void)state;
    press(tui, "?");
    for (int screen = 0; screen < PW_SCREEN_COUNT; screen++)
        for (const struct pw_tui_key *key = pw_tui_screens[screen].keys; key->key; key++)
            if (screen < PW_SCREEN_MESSAGES)
                shows(tui, key->label);
    for (const struct pw_tui_key *key = pw_tui_global_keys; key->key; key++)
        shows(tui, key->label);
    close_tui(tui);
}

/* Random keys, clicks, sizes and events: whatever comes, the model stays sound and the screen can be drawn. */
static void test_monkey(void **state)
{
    static const uint32_t keys[] = {'j',
                                    'k',
                                    'g',
                                    'G',
                                    'h',
                                    'l',
                                    's',
                                    'S',
                                    'r',
                                    ' ',
                                    'n',
                                    'a',
                                    'v',
                                    'c',
                                    '?',
                                    'm',
                                    '/',
                                    '1',
                                    '2',
                                    '3',
                                    'x',
                                    ':',
                                    'o',
                                    'z',
                                    '!',
                                    'N',
                                    'U',
                                    'e',
                                    PW_KEY_LEFT,
                                    PW_KEY_RIGHT,
                                    PW_KEY_BACKTAB,
                                    PW_KEY_ENTER,
                                    PW_KEY_ESCAPE,
                                    PW_KEY_TAB,
                                    PW_KEY_UP,
                                    PW_KEY_DOWN,
                                    PW_KEY_PAGE_DOWN,
                                    PW_KEY_PAGE_UP,
                                    PW_KEY_END,
                                    PW_KEY_HOME,
                                    PW_KEY_BACKSPACE,
                                    0x4e2d};
    struct pw_tui *tui = open_tui(24, 80);
    struct pw_error err = {0};
    uint64_t random = 12345;

    (void)state;
    device_opens(tui);
    for (int i = 0; i < 100000; i++) {
        struct pw_input input = {.kind = PW_INPUT_KEY};

        random = random * 6364136223846793005u + 1442695040888963407u;
        input.key = keys[(random >> 33) % (sizeof keys / sizeof *keys)];
        if (random >> 60 == 1)
            pw_tui_resize(tui, (int)(random >> 40) % 60 + 1, (int)(random >> 20) % 200 + 1);
        if (random >> 60 == 2) {
            input.kind = random & 1 ? PW_INPUT_CLICK : PW_INPUT_WHEEL;
            input.row = (int)(random >> 40) % 60;
            input.column = (int)(random >> 20) % 200;
            input.steps = (random & 2) ? 1 : -1;
        }
        pw_tui_apply(tui, &input);
        tui->intent = PW_INTENT_NONE;
        assert_true(!tui->item_count || tui->cursor < tui->item_count);
        assert_true(tui->prompt.cursor <= strlen(tui->prompt.text));
        if (i % 7 == 0)
            assert_int_equal(pw_tui_draw(tui, &canvas, &err), PW_OK);
    }
    close_tui(tui);
}

/* Of more approved baselines than a chart has room for, the newest are named. */
static void test_very_many_baselines(void **state)
{
    enum { MANY = 1000 };
    static struct pw_session_mark marks[MANY];
    struct pw_store_signature_row rows[3];
    struct pw_event history = {.kind = PW_EVENT_ANSWER,
                               .ask = PW_ASK_HISTORY,
                               .rows = rows,
                               .row_count = 3,
                               .marks = marks,
                               .mark_count = MANY};
    struct pw_tui *tui = open_tui(40, 120);

    (void)state;
    for (int i = 0; i < 3; i++)
        rows[i] = (struct pw_store_signature_row){.run_id = i + 1,
                                                  .wall_ms = 1790000000000 + i * 86400000LL,
                                                  .standing = "held",
                                                  .implementation = "k",
                                                  .worst_error = 1e-7,
                                                  .tolerance = 1e-6,
                                                  .environment_id = "e"};
    for (int i = 0; i < MANY; i++)
        marks[i] = (struct pw_session_mark){
            .number = i + 1, .recorded_ms = rows[i < 500 ? 0 : 2].wall_ms, .environment_id = ""};
    device_opens(tui);
    press(tui, "/matmul\n4");
    history.about = tui->detail;
    send(tui, &history);
    shows(tui, "# approved baselines");
    shows(tui, "#1000");
    close_tui(tui);
}

static void test_canvas_wide_and_narrow(void **state)
{
    struct pw_canvas c = {0};
    struct pw_buf text = {0};
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(pw_canvas_resize(&c, 2, 6, &err), PW_OK);
    assert_int_equal(pw_canvas_text(&c, 0, 0, 6, PW_STYLE_NORMAL,
                                    "a\xe4\xb8\xad"
                                    "b"),
                     4); /* a wide glyph takes two */
    pw_canvas_text(&c, 1, 4, 10, PW_STYLE_NORMAL, "xyz");
    pw_canvas_text(&c, 7, 0, 10, PW_STYLE_NORMAL, "outside");
    pw_canvas_dump(&c, &text);
    assert_string_equal(pw_buf_text(&text), "a\xe4\xb8\xad"
                                            "b\n    xy\n");
    pw_buf_clear(&text);
    pw_canvas_bar(&c, 0, 0, 4, 0.5, PW_STYLE_GOOD);
    assert_true(c.cells[0].code == 0x2588 && c.cells[1].code == 0x2588 && c.cells[2].code == 0x00b7);
    pw_canvas_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inventory_80),
        cmocka_unit_test(test_inventory_40),
        cmocka_unit_test(test_worst_first),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_names_are_kept),
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_marks_select),
        cmocka_unit_test(test_run_and_failure),
        cmocka_unit_test(test_cancelled_keeps_failures),
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_device_failure_is_shown),
        cmocka_unit_test(test_help_is_complete),
        cmocka_unit_test(test_monkey),
        cmocka_unit_test(test_very_many_baselines),
        cmocka_unit_test(test_canvas_wide_and_narrow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
