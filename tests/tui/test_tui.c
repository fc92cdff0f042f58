/* The workbench's model and views: keys go in, the canvas is compared with literal text. The graph is a fake
 * with fixed numbers; no terminal, no device. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "baseline/triage.h"
#include "tui/chart.h"
#include "tui/tui.h"

static struct pw_graph graph = {.name = "main"};
static struct pw_node nodes[3] = {
    {.name = "mlp/fc", .op_type = "MatMul", .index = 4, .graph = &graph, .domain = ""},
    {.name = "attn/softmax", .op_type = "Softmax", .index = 7, .graph = &graph, .domain = ""},
    {.name = "evil\033]0;owned\007\xff", .op_type = "Mystery", .index = 9, .graph = &graph, .domain = "x"}};
static const struct pw_node *node_lists[3][1] = {{&nodes[0]}, {&nodes[1]}, {&nodes[2]}};
static const struct pw_op some_op = {.name = "MatMul"};

static struct pw_signature signatures[3] = {
    {.text = "MatMul-13 (float32[b,64], const float32[64,64]) -> (float32[b,64])",
     .id = "aaaaaaaaaaaaaaaa",
     .op_label = "MatMul-13",
     .shapes = "[b,64] [64,64] -> [b,64]",
     .op = &some_op,
     .category = PW_CATEGORY_MATMUL,
     .flops_value = 8192,
     .bytes_value = 17000,
     .intensity = 0.48,
     .share = 0.9,
     .floating = true,
     .dynamic = true,
     .dynamic_reason = "in 0 dim 0: b",
     .sensitivity = PW_SENSITIVITY_MEDIUM,
     .sensitivity_reason = "long accumulation",
     .pattern = -1},
    {.text = "Softmax-13 axis=-1 (float32[b,8]) -> (float32[b,8])",
     .id = "bbbbbbbbbbbbbbbb",
     .op_label = "Softmax-13",
     .shapes = "[b,8] -> [b,8]",
     .op = &some_op,
     .category = PW_CATEGORY_ACTIVATION,
     .flops_value = 100,
     .bytes_value = 64,
     .intensity = 1.5,
     .share = 0.1,
     .floating = true,
     .sensitivity = PW_SENSITIVITY_HIGH,
     .sensitivity_reason = "exponentials",
     .pattern = -1},
    {.text = "x:Mystery (float32[8]) -> (?)",
     .id = "cccccccccccccccc",
     .op_label = "x:Mystery",
     .shapes = "[8] -> ?",
     .category = PW_CATEGORY_OTHER,
     .flops_value = NAN,
     .bytes_value = NAN,
     .intensity = NAN,
     .share = NAN,
     .pattern = -1},
};
static struct pw_inventory inventory = {
    .signatures = signatures, .signature_count = 3, .node_count = 3, .total_flops = 8292};

static struct pw_impl impls[2] = {{.kind = PW_COVERAGE_KERNEL, .name = "matmul_tile", .supported = true, .why = ""},
                                  {.kind = PW_COVERAGE_HOST, .name = "reference", .supported = true, .why = ""}};
static const struct pw_impl_list lists[3] = {
    {.items = impls, .count = 2, .selected = 0, .coverage = PW_COVERAGE_KERNEL},
    {.items = impls, .count = 1, .selected = 0, .coverage = PW_COVERAGE_KERNEL},
    {.selected = -1, .coverage = PW_COVERAGE_MISSING, .reason = "unknown operator"}};

static const struct pw_impl_list *fake_implementations(void *user, size_t signature)
{
    (void)user;
    return &lists[signature];
}

static struct pw_canvas canvas;

static struct pw_tui *open_tui(int rows, int columns)
{
    struct pw_tui *tui = NULL;
    struct pw_error err = {0};

    for (int i = 0; i < 3; i++) {
        signatures[i].nodes = node_lists[i];
        signatures[i].node_count = 1;
    }
    assert_int_equal(pw_tui_create(&inventory, "m.onnx", "opencl", &tui, &err), PW_OK);
    tui->implementations = fake_implementations;
    canvas.ascii = true;
    pw_tui_resize(tui, rows, columns);
    return tui;
}

static void press(struct pw_tui *tui, const char *keys)
{
    for (; *keys; keys++) {
        struct pw_input input = {.kind = PW_INPUT_KEY, .key = (uint32_t)*keys};

        if (*keys == '\n')
            input.key = PW_KEY_ENTER;
        else if (*keys == '\t')
            input.key = PW_KEY_TAB;
        else if (*keys == '\033')
            input.key = PW_KEY_ESCAPE;
        pw_tui_apply(tui, &input);
    }
}

static void send(struct pw_tui *tui, struct pw_event *event)
{
    struct pw_input input = {.kind = PW_INPUT_SESSION, .event = event, .now_ms = 2000};

    pw_tui_apply(tui, &input);
}

static void device_opens(struct pw_tui *tui)
{
    struct pw_event device = {.kind = PW_EVENT_DEVICE}, coverage = {.kind = PW_EVENT_COVERAGE};

    send(tui, &device);
    send(tui, &coverage);
}

static const char *screen_of(struct pw_tui *tui)
{
    static struct pw_buf text;
    struct pw_error err = {0};

    pw_buf_clear(&text);
    assert_int_equal(pw_tui_draw(tui, &canvas, &err), PW_OK);
    pw_canvas_dump(&canvas, &text);
    return pw_buf_text(&text);
}

static void expect(struct pw_tui *tui, const char *text)
{
    assert_string_equal(screen_of(tui), text);
}

static void shows(struct pw_tui *tui, const char *part)
{
    const char *screen = screen_of(tui);

    if (!strstr(screen, part))
        print_error("'%s' is not on the screen:\n%s\n", part, screen);
    assert_non_null(strstr(screen, part));
}

static void hides(struct pw_tui *tui, const char *part)
{
    assert_null(strstr(screen_of(tui), part));
}

static void close_tui(struct pw_tui *tui)
{
    pw_tui_destroy(tui);
    pw_canvas_clear(&canvas);
}

/* ---- snapshots ---- */

static void test_inventory_80(void **state)
{
    struct pw_tui *tui = open_tui(9, 80);

    (void)state;
    device_opens(tui);
    expect(tui, " portwright  inventory  m.onnx                                           opencl\n"
                " 3 signatures of 3 nodes, 8.29 kFLOP  kernel 2  host 0  missing 1  failed 0  ..\n"
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

/* Groups fold, signatures unfold into nodes, and the cursor stays on what it was on. */
static void test_groups_and_nodes(void **state)
{
    struct pw_tui *tui = open_tui(12, 100);

    (void)state;
    device_opens(tui);
    press(tui, "z");
    assert_int_equal(tui->group, PW_GROUP_CATEGORY);
    assert_int_equal(tui->item_count, 6); /* three heads, three signatures */
    shows(tui, "- other  1 signatures, 1 nodes, 0.0 % of FLOPs, 1 problem");
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
    assert_true(tui->views_changed);
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
    pw_tui_views_write(tui, &text);
    assert_string_equal(pw_buf_text(&text), "a b\tflops>1\t-n\tnone\n");
    pw_tui_views_read(other, pw_buf_text(&text));
    press(other, ":view a b\n");
    assert_string_equal(other->filter, "flops>1");
    assert_int_equal(other->sort, PW_COLUMN_NODES);
    assert_true(other->descending);
    pw_tui_views_read(other, "broken line\n");
    shows(other, "saved views, line 1");
    pw_buf_clear(&text);
    pw_tui_destroy(other);
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
    shows(tui, "waived until 2026-12-31 by ana: rounding of the driver");
    press(tui, "inot needed\n"); /* the note begins with the former one */
    assert_int_equal(tui->intent, PW_INTENT_TRIAGE);
    assert_string_equal(tui->decisions[0].note, "driver 12not needed");
    assert_string_equal(tui->decisions[0].owner, "ana"); /* the rest of the entry stays */
    memcpy(tui->today, "2027-01-01", 11);
    shows(tui, "(expired)");
    press(tui, ":waive 2027-02-01 next driver\n");
    assert_string_equal(tui->decisions[0].waiver.until, "2027-02-01");
    assert_string_equal(tui->decisions[0].waiver.reason, "next driver");
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
    assert_string_equal(tui->intent_text,
                        "portwright verify 'm.onnx' --target opencl --case '1:bbbb:f32:graph:normal:1'");
    press(tui, ":export rows.csv\n");
    assert_int_equal(tui->intent, PW_INTENT_EXPORT);
    pw_tui_export(tui, "rows.csv", &text);
    assert_non_null(strstr(pw_buf_text(&text), "bbbbbbbbbbbbbbbb,\"Softmax-13\",activation,1,0.1,kernel,high,no,"));
    pw_buf_clear(&text);
    press(tui, "\033\n");
    pw_tui_export(tui, "detail.txt", &text);
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
    shows(tui, "> culprit    1.0e-03   1.0e-06   1.0e-03");
    shows(tui, "wrong by a thousandth");
    shows(tui, "Mystery");
    press(tui, "d");
    hides(tui, "Mystery");
    shows(tui, "victim");
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
    struct pw_tui *tui = open_tui(24, 120);
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
    snprintf(failed.result.id, sizeof failed.result.id, "2:bbbbbbbbbbbbbbbb:f32:graph:normal:1");
    failed.result.comparison.max_error = 1;
    send(tui, &failed);
    press(tui, "3");
    shows(tui, "1/4");
    shows(tui, "1 failures so far");
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
    assert_false(tui->running);
    press(tui, "1/status:failed\n\n");
    shows(tui, "worst error 1, tolerance 1e-06");
    shows(tui, "FAIL    2:bbbbbbbbbbbbbbbb:f32:graph:normal:1");
    shows(tui, "attn/softmax");
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
    for (int i = 0; i < 20000; i++) {
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
        cmocka_unit_test(test_query),
        cmocka_unit_test(test_groups_and_nodes),
        cmocka_unit_test(test_palette),
        cmocka_unit_test(test_saved_views),
        cmocka_unit_test(test_find_in_lines),
        cmocka_unit_test(test_clicks),
        cmocka_unit_test(test_chart),
        cmocka_unit_test(test_endtoend),
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_export_and_copy),
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_marks_select),
        cmocka_unit_test(test_run_and_failure),
        cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_device_failure_is_shown),
        cmocka_unit_test(test_help_is_complete),
        cmocka_unit_test(test_monkey),
        cmocka_unit_test(test_canvas_wide_and_narrow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
