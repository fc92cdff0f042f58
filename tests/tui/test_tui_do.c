/* What people do in the workbench: queries, groups, the palette, decisions, exports, clicks, and the other screens. */
#include "fake.h"

/* The query's words: either, opposite, comparisons, quotes; what can't be understood is said. */
static void test_query(void **state)
{
    struct pw_tui *tui = open_tui(24, 120);

    (void)state;
    device_opens(tui);
    press(tui, "/op:softmax,matmul\n");
    assert_int_equal(tui->visible_count, 2);
    press(tui, "\033/-op:softmax\n");
    assert_int_equal(tui->visible_count, 2);
    press(tui, "\033/flops>=90%\n");
    assert_int_equal(tui->visible_count, 1);
    assert_int_equal(tui->visible[0], 0);
    press(tui, "\033/flops<50\n"); /* of the unknown operator the share is not known: neither above nor below */
    assert_int_equal(tui->visible_count, 1);
    assert_int_equal(tui->visible[0], 1);
    press(tui, "\033/\"axis=-1 (float32\"\n");
    assert_int_equal(tui->visible_count, 1);
    press(tui, "\033/x:mystery\n"); /* no key of ours: text */
    assert_int_equal(tui->visible_count, 1);
    press(tui, "\033/flops>many");
    shows(tui, "'many' is no number");
    assert_int_equal(tui->visible_count, 0);
    press(tui, "\033/is:problem\n");
    assert_int_equal(tui->visible_count, 1);
    assert_int_equal(tui->visible[0], 2);
    close_tui(tui);
}

static void paste(struct pw_tui *tui, const char *text)
{
    for (; *text; text++) {
        struct pw_input input = {.kind = PW_INPUT_KEY, .pasted = true};

        input.key = *text == '\n' ? PW_KEY_ENTER : *text == '\033' ? PW_KEY_ESCAPE : (uint32_t)*text;
        pw_tui_apply(tui, &input);
    }
}

/* What is pasted presses no keys: in a prompt it is text without line breaks, elsewhere it is refused. */
static void test_pasted_text(void **state)
{
    struct pw_tui *tui = open_tui(24, 120);

    (void)state;
    device_opens(tui);
    paste(tui, "jjave:quit\nq");
    assert_int_equal(tui->intent, PW_INTENT_NONE);
    assert_int_equal(tui->cursor, 0);
    assert_int_equal(tui->prompt.kind, PW_PROMPT_CLOSED);
    shows(tui, "pasted text is only taken");
    press(tui, "/");
    paste(tui, "op:\033softmax\n");
    assert_int_equal(tui->prompt.kind, PW_PROMPT_QUERY);
    assert_string_equal(tui->prompt.text, "op:softmax ");
    press(tui, "\n");
    assert_int_equal(tui->visible_count, 1);
    close_tui(tui);
}

/* Groups fold, signatures unfold into nodes, and the cursor stays on what it was on. */
static void test_groups_and_nodes(void **state)
{
    struct pw_tui *tui = open_tui(12, 100);

    (void)state;
    device_opens(tui);
    press(tui, "z");
    assert_int_equal(tui->group, PW_GROUP_CATEGORY);
    assert_int_equal(tui->item_count, 6); /* three heads, three signatures */
    shows(tui, "- other  1 signature, 1 node, 0.0 % of FLOPs, 1 problem");
    press(tui, "gl");
    assert_int_equal(tui->items[tui->cursor].kind, PW_ITEM_GROUP);
    press(tui, "h");
    assert_int_equal(tui->item_count, 5);
    shows(tui, "+ other");
    press(tui, "\nj");
    assert_int_equal(tui->item_count, 6);
    assert_int_equal(pw_tui_current(tui), 2);
    press(tui, "zzz"); /* no groups; still on the same signature */
    assert_int_equal(tui->group, PW_GROUP_NONE);
    assert_int_equal(pw_tui_current(tui), 2);
    press(tui, "/matmul\nl");
    assert_int_equal(tui->item_count, 2);
    shows(tui, "4 mlp/fc");
    press(tui, "jh"); /* from the node back to its signature */
    assert_int_equal(tui->item_count, 1);
    assert_int_equal(pw_tui_current(tui), 0);
    close_tui(tui);
}

/* Everything can be done by name; Tab walks through the candidates. */
static void test_palette(void **state)
{
    struct pw_tui *tui = open_tui(24, 100);

    (void)state;
    device_opens(tui);
    press(tui, ":");
    shows(tui, "filter");
    press(tui, "sort sh\t\n");
    assert_int_equal(tui->sort, PW_COLUMN_SHAPES);
    press(tui, ":view prob\t\n");
    assert_string_equal(tui->filter, "is:problem");
    press(tui, ":view all\n:verify-all\n");
    assert_int_equal(tui->intent, PW_INTENT_VERIFY);
    assert_int_equal(tui->selection_count, 3);
    press(tui, ":nonsense\n");
    shows(tui, "no command 'nonsense'");
    press(tui, "/sens:high\n:save-view mine\n");
    assert_int_equal(tui->view_change_count, 1);
    press(tui, ":view all\n");
    assert_int_equal(tui->visible_count, 3);
    press(tui, ":view mine\n");
    assert_int_equal(tui->visible_count, 1);
    press(tui, ":save-view all\n");
    shows(tui, "built in");
    press(tui, ":screen messages\n");
    assert_int_equal(tui->screen, PW_SCREEN_MESSAGES);
    close_tui(tui);
}

static void test_saved_views(void **state)
{
    struct pw_tui *tui = open_tui(24, 100), *other = open_tui(24, 100);
    struct pw_buf text = {0};

    (void)state;
    press(tui, "/flops>1\n:sort n\n:save-view a b\n");
    pw_tui_view_line(&tui->view_changes[0], &text);
    assert_string_equal(pw_buf_text(&text), "a b\tflops>1\t-n\tnone");
    pw_tui_views_read(other, pw_buf_text(&text));
    press(other, ":view a b\n");
    assert_string_equal(other->filter, "flops>1");
    assert_int_equal(other->sort, PW_COLUMN_NODES);
    assert_true(other->descending);
    pw_tui_views_read(other, "broken line\n");
    shows(other, "saved views, line 1");
    press(other, "\033:view a b\n"); /* somebody else has taken it away */
    shows(other, "none is called 'a b'");
    pw_buf_clear(&text);
    pw_tui_destroy(other);
    close_tui(tui);
}

/* What others write to the file arrives, and undoes nothing that is still on its way there. */
static void test_views_of_others(void **state)
{
    struct pw_tui *tui = open_tui(24, 100);
    struct pw_event theirs = {.kind = PW_EVENT_LINES, .text = "theirs\t\t-flops\tnone\nbroken\n"},
                    answer = {.kind = PW_EVENT_LINES, .about = 1, .text = "theirs\t\t-flops\tnone\nmine\t\tn\tnone\n"},
                    refused = {.kind = PW_EVENT_LINES, .about = 1, .failed = true};
    int messages;

    (void)state;
    press(tui, "/flops>1\n:save-view mine\n");
    send(tui, &theirs); /* before the loop has sent ours */
    assert_int_not_equal(pw_tui_view_find(tui, "theirs"), -1);
    assert_int_not_equal(pw_tui_view_find(tui, "MINE"), -1);
    messages = tui->message_count;
    send(tui, &theirs); /* what can't be read is said once */
    assert_int_equal(tui->message_count, messages);
    tui->view_change_count = 0;
    tui->views_unanswered = 1;
    send(tui, &theirs); /* read before ours was written */
    assert_int_not_equal(pw_tui_view_find(tui, "mine"), -1);
    send(tui, &answer);
    assert_int_equal(tui->views_unanswered, 0);
    assert_int_equal(tui->views[pw_tui_view_find(tui, "mine")].sort, PW_COLUMN_NODES);
    press(tui, ":drop-view theirs\n");
    assert_int_equal(pw_tui_view_find(tui, "theirs"), -1);
    assert_int_equal(tui->view_change_count, 1);
    assert_false(tui->view_changes[0].saved);
    tui->view_change_count = 0;
    tui->views_unanswered = 1;
    pw_error_set(&refused.error, PW_ERR_IO, "disk full");
    send(tui, &refused);
    shows(tui, "holds until you quit: disk full");
    press(tui, "\033:drop-view all\n"); /* built in */
    shows(tui, "no saved view is called");
    close_tui(tui);
}

/* Screens of lines: text is found, n goes on, and the prompt takes any script. */
static void test_find_in_lines(void **state)
{
    struct pw_tui *tui = open_tui(10, 80);
    struct pw_input wide = {.kind = PW_INPUT_KEY, .key = 0x4e2d};
    int first;

    (void)state;
    press(tui, "?/previous\n");
    first = tui->scroll[PW_SCREEN_HELP];
    shows(tui, "revious");
    press(tui, "n");
    assert_true(tui->scroll[PW_SCREEN_HELP] != first);
    press(tui, "N");
    assert_int_equal(tui->scroll[PW_SCREEN_HELP], first);
    press(tui, "/ab");
    pw_tui_apply(tui, &wide);
    assert_string_equal(tui->prompt.text, "ab\xe4\xb8\xad");
    wide.key = PW_KEY_BACKSPACE;
    pw_tui_apply(tui, &wide);
    assert_string_equal(tui->prompt.text, "ab");
    press(tui, "\033");
    assert_int_equal(tui->prompt.kind, PW_PROMPT_CLOSED);
    close_tui(tui);
}

/* Decisions are handed to the loop as whole entries, and what comes back from the file is shown. */
static void test_decisions(void **state)
{
    struct pw_tui *tui = open_tui(30, 130);
    struct pw_triage_entry entries[1] = {{.id = "bbbbbbbbbbbbbbbb",
                                          .status = PW_TRIAGE_DOING,
                                          .owner = "ana",
                                          .note = "driver 12",
                                          .waiver = {.present = true,
                                                     .reason = "rounding of the driver",
                                                     .owner = "ana",
                                                     .until = "2026-12-31",
                                                     .gates = PW_WAIVE_ALL}}};
    struct pw_event event = {.kind = PW_EVENT_TRIAGE, .triage = entries, .triage_count = 1};

    (void)state;
    device_opens(tui);
    memcpy(tui->today, "2026-12-01", 11);
    memcpy(tui->user_name, "bo", 3);
    press(tui, "/softmax\n:status doing\n");
    assert_int_equal(tui->intent, PW_INTENT_TRIAGE);
    assert_int_equal(tui->decision_count, 1);
    assert_string_equal(tui->decisions[0].id, "bbbbbbbbbbbbbbbb");
    assert_string_equal(tui->decisions[0].op, "Softmax-13");
    assert_int_equal(tui->decisions[0].status, PW_TRIAGE_DOING);
    press(tui, ":owner ana\n"); /* builds on the decision before, though the file has not answered yet */
    assert_int_equal(tui->decisions[0].status, PW_TRIAGE_DOING);
    assert_string_equal(tui->decisions[0].owner, "ana");
    tui->intent = PW_INTENT_NONE;
    press(tui, ":status nonsense\n");
    assert_int_equal(tui->intent, PW_INTENT_NONE);
    shows(tui, "expected open, doing");
    send(tui, &event);
    shows(tui, "waived");
    press(tui, "\n");
    shows(tui, "doing, owner ana");
    shows(tui, "waived until 2026-12-31 by ana");
    shows(tui, "rounding of the driver");
    press(tui, "inot needed\n"); /* the note begins with the former one */
    assert_int_equal(tui->intent, PW_INTENT_TRIAGE);
    assert_string_equal(tui->decisions[0].note, "driver 12not needed");
    assert_string_equal(tui->decisions[0].owner, "ana"); /* the rest of the entry stays */
    memcpy(tui->today, "2027-01-01", 11);
    shows(tui, "(expired)");
    press(tui, ":waive 2027-02-01 next driver\n");
    assert_string_equal(tui->decisions[0].waiver.until, "2027-02-01");
    assert_string_equal(tui->decisions[0].waiver.reason, "next driver");
    press(tui, "1:priority 99\n");
    assert_int_equal(tui->decisions[0].priority, 99);
    pw_tui_rows_changed(tui);
    press(tui, "\033");
    assert_int_equal(tui->visible[0], 1); /* before the missing operator */
    press(tui, ":priority 101\n");
    shows(tui, "expected 1 to 100");
    press(tui, ":waive soon\n");
    shows(tui, "expected a last day and a reason");
    press(tui, "1\033/work:doing owner:ana\n");
    assert_int_equal(tui->visible_count, 1);
    close_tui(tui);
}

static void test_export_and_copy(void **state)
{
    struct pw_tui *tui = open_tui(8, 100);
    struct pw_event failed = {.kind = PW_EVENT_CASE, .done = 1, .total = 1};
    struct pw_buf text = {0};

    (void)state;
    device_opens(tui);
    press(tui, "y");
    assert_int_equal(tui->intent, PW_INTENT_NONE);
    failed.result = (struct pw_case_result){.signature = 1, .verdict = PW_VERDICT_FAIL, .reason = ""};
    snprintf(failed.result.id, sizeof failed.result.id, "1:bbbb:f32:graph:normal:1");
    send(tui, &failed);
    press(tui, "/softmax\ny");
    assert_int_equal(tui->intent, PW_INTENT_COPY);
    assert_string_equal(tui->intent_text, "portwright verify m.onnx --target opencl --case 1:bbbb:f32:graph:normal:1");
    tui->arguments = pw_strdup(" --dim batch=4 --ops-dir 'my kernels'");
    tui->intent = PW_INTENT_NONE;
    press(tui, "y");
    assert_string_equal(tui->intent_text, "portwright verify m.onnx --target opencl --dim batch=4 --ops-dir "
                                          "'my kernels' --case 1:bbbb:f32:graph:normal:1");
    press(tui, ":export rows.csv\n");
    assert_int_equal(tui->intent, PW_INTENT_EXPORT);
    export_shown(tui, "rows.csv", &text);
    assert_non_null(strstr(pw_buf_text(&text), "bbbbbbbbbbbbbbbb,\"Softmax-13\",activation,1,0.1,kernel,high,no,"));
    assert_non_null(strstr(pw_buf_text(&text), ",\"\",,\"\",\"[b,8] -> [b,8]\"\n"));
    pw_buf_clear(&text);
    press(tui, "\033\n");
    export_shown(tui, "detail.txt", &text);
    assert_non_null(strstr(pw_buf_text(&text), "   FAIL    1:bbbb:f32:graph:normal:1"));
    pw_buf_clear(&text);
    close_tui(tui);
}

/* A run of the whole graph: the culprit is told from its victim, and only they are listed on request. */
static void test_endtoend(void **state)
{
    struct pw_tui *tui = open_tui(30, 120);
    struct pw_event started = {.kind = PW_EVENT_STARTED, .whole_graph = true, .mode = PW_ENDTOEND_NODES, .total = 3};
    struct pw_event node = {.kind = PW_EVENT_NODE, .total = 3};
    struct pw_event finished = {.kind = PW_EVENT_FINISHED, .whole_graph = true, .mode = PW_ENDTOEND_NODES};
    static const pw_node_standing standings[] = {PW_NODE_CULPRIT, PW_NODE_VICTIM, PW_NODE_HELD};

    (void)state;
    press(tui, "5");
    shows(tui, "has not run yet: r compares");
    press(tui, "r");
    assert_int_equal(tui->intent, PW_INTENT_RUN);
    assert_int_equal(tui->run_mode, PW_ENDTOEND_NODES);
    send(tui, &started);
    for (int i = 0; i < 3; i++) {
        node.done = (size_t)i + 1;
        node.node = (struct pw_endtoend_node){.node = &nodes[i],
                                              .pattern = -1,
                                              .standing = standings[i],
                                              .on_target = true,
                                              .implementation = "k",
                                              .note = "",
                                              .reason = i == 0 ? "wrong by a thousandth" : "",
                                              .has_isolated = true,
                                              .tolerance = 1e-6};
        node.node.isolated.max_error = i == 0 ? 1e-3 : 1e-8;
        node.node.propagated.max_error = i < 2 ? 1e-3 : 0;
        send(tui, &node);
    }
    shows(tui, "running 3/3");
    finished.endtoend =
        (struct pw_endtoend_totals){.nodes = 3, .culprits = 1, .victims = 1, .first_divergence = &nodes[0]};
    send(tui, &finished);
    shows(tui, "does not hold: 3 nodes");
    shows(tui, "^ culprit          -   1.0e-03   1.0e-06   1.0e-03");
    shows(tui, "wrong by a thousandth");
    shows(tui, "Mystery");
    press(tui, "d");
    hides(tui, "Mystery");
    shows(tui, "victim");
    close_tui(tui);
}

/* Two targets: each keeps its own results, both are on a wide screen, T acts on the other. */
static void test_two_targets(void **state)
{
    static const char *const targets[] = {"opencl", "plugin"};
    struct pw_tui *tui = NULL;
    struct pw_error err = {0};
    struct pw_event summary = {.kind = PW_EVENT_SIGNATURE,
                               .summary = {.signature = 0,
                                           .standing = PW_STANDING_FAILED,
                                           .implementations = &lists[0],
                                           .gate_failed = true,
                                           .worst_error = 0.5,
                                           .worst_ratio = 2}};
    struct pw_input input = {.kind = PW_INPUT_SESSION, .event = &summary, .side = 1};

    (void)state;
    for (int i = 0; i < 3; i++) {
        signatures[i].nodes = node_lists[i];
        signatures[i].node_count = 1;
    }
    assert_int_equal(pw_tui_create(&inventory, "m.onnx", targets, 2, &tui, &err), PW_OK);
    canvas.ascii = true;
    pw_tui_resize(tui, 10, 120);
    pw_tui_apply(tui, &input);
    assert_false(tui->sides[0].signatures[0].measured);
    assert_true(tui->sides[1].signatures[0].gate_failed);
    shows(tui, "| plugin     error   ref/tgt verdict");
    shows(tui, "5.0e-01         failed");
    assert_false(pw_tui_problem(tui, 0));
    press(tui, "/matmul\n T");
    assert_ptr_equal(tui->at, &tui->sides[1]);
    assert_true(pw_tui_problem(tui, 0));
    assert_true(tui->at->signatures[0].marked); /* marks go along */
    press(tui, "T");
    assert_ptr_equal(tui->at, tui->sides);
    pw_tui_resize(tui, 10, 80);
    hides(tui, "| plugin");
    close_tui(tui);
}

static const char *label_plain(char *dst, size_t size, double value)
{
    snprintf(dst, size, "%g", value);
    return dst;
}

/* Two rows of eight columns have 16 x 8 dots: 0..3 rises by a third of the height and of the width a step. The dots
 * were placed by hand. */
static void test_chart(void **state)
{
    const double rising[] = {0, 3, NAN, 3};
    const size_t marks[] = {1};
    struct pw_chart chart = {.title = "t",
                             .values = rising,
                             .count = 4,
                             .limit = NAN,
                             .marks = marks,
                             .mark_count = 1,
                             .width = 8,
                             .height = 2,
                             .label = label_plain,
                             .style = PW_STYLE_NORMAL};
    struct pw_lines lines = {0};
    struct pw_buf text = {0};

    (void)state;
    pw_lines_begin(&lines, 40);
    pw_chart_add(&chart, false, &lines);
    pw_lines_text(&lines, &text);
    /* Dots: x = 0, 5, none, 15; y = 7, 6, 4, 3, 1, 0 from x = 0 to 5 (7 - 1.4 x, rounded), and 0 at 15. Cells: (0,7)
     * and (1,6) make U+2860, (2,4) U+2801, (3,3) U+2880, (4,1) and (5,0) U+280A, (15,0) U+2808. */
    assert_string_equal(pw_buf_text(&text), "   t\n"
                                            "            3  \u2880\u280a    \u2808\n"
                                            "            0 \u2860\u2801      \n"
                                            "                \u25b2\n");
    pw_buf_clear(&text);
    pw_lines_clear(&lines);
}

static void click(struct pw_tui *tui, int row, int column)
{
    struct pw_input input = {.kind = PW_INPUT_CLICK, .row = row, .column = column};

    pw_tui_apply(tui, &input);
}

static void test_clicks(void **state)
{
    struct pw_tui *tui = open_tui(9, 80);

    (void)state;
    device_opens(tui);
    click(tui, 2, 3); /* the head of the operators */
    assert_int_equal(tui->sort, PW_COLUMN_OPERATOR);
    assert_int_equal(tui->visible[0], 0);
    click(tui, 2, 3);
    assert_true(tui->descending);
    click(tui, 4, 10);
    assert_int_equal(tui->cursor, 1);
    click(tui, 8, 16); /* the footer's "a verify all" */
    assert_int_equal(tui->intent, PW_INTENT_VERIFY);
    assert_int_equal(tui->selection_count, 3);
    click(tui, 4, 10);
    assert_int_equal(tui->screen, PW_SCREEN_DETAIL);
    close_tui(tui);
}

/* Approving speaks of what the screen showed; who has not looked looks first. */
static void test_approve_what_was_seen(void **state)
{
    struct pw_event answer = {
        .kind = PW_EVENT_ANSWER, .ask = PW_ASK_BASELINES, .about = 4711, .text = "m/test\n  precision-pending.yaml\n"};
    struct pw_tui *tui = open_tui(24, 80);

    (void)state;
    device_opens(tui);
    snprintf(tui->user_name, sizeof tui->user_name, "ana");
    press(tui, ":approve because\n");
    shows(tui, "look at what is pending first");
    assert_int_equal(tui->screen, PW_SCREEN_BASELINES);
    assert_int_equal(tui->ask, PW_ASK_BASELINES);
    send(tui, &answer);
    press(tui, ":approve because\n");
    assert_int_equal(tui->ask, PW_ASK_APPROVE);
    assert_int_equal(tui->intent, PW_INTENT_ASK);
    assert_int_equal(tui->at->baselines_seen, 4711);
    close_tui(tui);
}

/* While a line is typed a click takes what the palette lists, and elsewhere ends the typing first. */
static void test_clicks_beside_a_line(void **state)
{
    struct pw_tui *tui = open_tui(24, 80);

    (void)state;
    device_opens(tui);
    press(tui, ":sort ");
    click(tui, 22 - 9, 5); /* of the 13 columns nine have a row, and one says how many there are */
    assert_int_equal(tui->prompt.kind, PW_PROMPT_CLOSED);
    assert_int_equal(tui->sort, PW_COLUMN_OPERATOR);
    press(tui, ":group");
    click(tui, 21, 5);
    assert_string_equal(tui->prompt.text, "group ");
    click(tui, 5, 5);
    assert_int_equal(tui->prompt.kind, PW_PROMPT_CLOSED);
    assert_int_equal(tui->cursor, 2);
    press(tui, "/MatMul");
    click(tui, 3, 5); /* the filter holds, and the row is what it narrowed down to */
    assert_string_equal(tui->filter, "MatMul");
    assert_int_equal(tui->prompt.kind, PW_PROMPT_CLOSED);
    close_tui(tui);
}

/* What only one command begins with stands for it. */
static void test_short_names(void **state)
{
    struct pw_tui *tui = open_tui(24, 80);

    (void)state;
    device_opens(tui);
    press(tui, ":gro operator\n");
    assert_int_equal(tui->group, PW_GROUP_OPERATOR);
    press(tui, ":s\n");
    shows(tui, "several commands begin with 's'; Tab lists them");
    press(tui, ":nonsense x\n");
    shows(tui, "no command 'nonsense'; Tab lists them");
    press(tui, ":q\n");
    assert_int_equal(tui->intent, PW_INTENT_QUIT);
    close_tui(tui);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_query),
        cmocka_unit_test(test_groups_and_nodes),
        cmocka_unit_test(test_pasted_text),
        cmocka_unit_test(test_groups_and_nodes),
        cmocka_unit_test(test_palette),
        cmocka_unit_test(test_saved_views),
        cmocka_unit_test(test_views_of_others),
        cmocka_unit_test(test_find_in_lines),
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_export_and_copy),
        cmocka_unit_test(test_endtoend),
        cmocka_unit_test(test_two_targets),
        cmocka_unit_test(test_chart),
        cmocka_unit_test(test_clicks),
        cmocka_unit_test(test_approve_what_was_seen),
        cmocka_unit_test(test_clicks_beside_a_line),
        cmocka_unit_test(test_short_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
