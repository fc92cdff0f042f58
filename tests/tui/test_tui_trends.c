/* Curves over runs: the same figures give the same curves, whether they are a signature's or the graph's. */
#include "fake.h"
#include "store/history.h"

enum { RUNS = 14, MOVED = 8 };

/* Error and share rise tenfold with run 8; the first three runs were timed on another machine, and the fifth was not.
 */
static void fill(struct pw_store_signature_row *rows, struct pw_store_graph_row *graph_rows)
{
    for (int i = 0; i < RUNS; i++) {
        const char *environment = i < 3 ? "elsewhere" : "here";
        double error = i < MOVED ? 1e-7 : 1e-6;

        rows[i] = (struct pw_store_signature_row){.run_id = i + 1,
                                                  .wall_ms = 1790000000000 + i * 86400000LL,
                                                  .standing = "held",
                                                  .implementation = "k",
                                                  .worst_error = error,
                                                  .tolerance = 1e-5,
                                                  .target_ns = i == 4 ? 0 : 1000,
                                                  .reference_ns = 2000,
                                                  .environment_id = environment};
        graph_rows[i] =
            (struct pw_store_graph_row){.run_id = i + 1,
                                        .wall_ms = rows[i].wall_ms,
                                        .kind = "check",
                                        .outcome = "held",
                                        .environment_id = environment,
                                        .signatures = i == RUNS - 1 ? 2 : 3, /* too few to speak for the graph */
                                        .worst_share = error,
                                        .target_ns = i == 4 ? NAN : 1000,
                                        .reference_ns = 2000};
    }
}

static void expect_curves(const struct pw_tui_curves *curves, size_t count, double limit)
{
    assert_int_equal(curves->count, count);
    assert_true(curves->limit == limit);
    assert_true(curves->timed);
    assert_string_equal(curves->environment, "here");
    assert_int_equal(curves->elsewhere, 3);
    assert_int_equal(curves->error_change_count, 1);
    assert_int_equal(curves->error_changes[0], MOVED);
    assert_int_equal(curves->speed_change_count, 0);
    for (size_t i = 0; i < count; i++) {
        assert_true(curves->errors[i] == (i < MOVED ? 1e-7 : 1e-6));
        if (i < 3 || i == 4)
            assert_true(isnan(curves->speeds[i]));
        else
            assert_true(curves->speeds[i] == 2.0);
        assert_true(curves->wall_ms[i] == 1790000000000 + (int64_t)i * 86400000);
    }
}

static void test_both_alike(void **state)
{
    struct pw_store_signature_row rows[RUNS];
    struct pw_store_graph_row graph_rows[RUNS];
    struct pw_event history = {.kind = PW_EVENT_ANSWER, .ask = PW_ASK_HISTORY, .rows = rows, .row_count = RUNS};
    struct pw_event whole = {
        .kind = PW_EVENT_ANSWER, .ask = PW_ASK_GRAPH, .graph_rows = graph_rows, .graph_row_count = RUNS};
    struct pw_tui *tui = open_tui(60, 120);

    (void)state;
    fill(rows, graph_rows);
    device_opens(tui);
    press(tui, "/matmul\n4");
    history.about = tui->detail;
    send(tui, &history);
    send(tui, &whole);
    expect_curves(&tui->at->history.curves, RUNS, 1e-5);
    expect_curves(&tui->at->graph.curves[0], RUNS - 1, 1);
    assert_int_equal(tui->at->graph.curves[1].count, 0); /* nothing ran end to end */
    shows(tui, "error, with the tolerance dotted; its level changed at the marks");
    shows(tui, "speed: reference time over target time");
    shows(tui, "3 runs in other environments left out");
    press(tui, "w");
    shows(tui, "all signatures: worst error over its tolerance; its level changed at the marks");
    shows(tui, "3 runs in other environments left out");
    hides(tui, "end to end:");
    history.row_count = 0; /* what was there before is gone */
    send(tui, &history);
    assert_int_equal(tui->at->history.curves.count, 0);
    close_tui(tui);
}

/* Of very many runs only those that are seen are told, as they would be among all. */
static void test_very_many_runs(void **state)
{
    enum { MANY = 700 };
    static struct pw_store_signature_row rows[MANY];
    static struct pw_store_graph_row graph_rows[MANY];
    struct pw_event history = {.kind = PW_EVENT_ANSWER, .ask = PW_ASK_HISTORY, .rows = rows, .row_count = MANY};
    struct pw_event whole = {
        .kind = PW_EVENT_ANSWER, .ask = PW_ASK_GRAPH, .graph_rows = graph_rows, .graph_row_count = MANY};

    (void)state;
    for (int i = 0; i < MANY; i++) {
        rows[i] = (struct pw_store_signature_row){.run_id = i + 1,
                                                  .wall_ms = 1790000000000 + i * 86400000LL,
                                                  .standing = "held",
                                                  .implementation = "k",
                                                  .worst_error = 1e-7,
                                                  .tolerance = 1e-5,
                                                  .environment_id = i % 5 ? "here" : "there"};
        graph_rows[i] = (struct pw_store_graph_row){.run_id = i + 1,
                                                    .wall_ms = rows[i].wall_ms,
                                                    .kind = "check",
                                                    .outcome = "held",
                                                    .environment_id = rows[i].environment_id,
                                                    .signatures = 3,
                                                    .worst_share = 0.1,
                                                    .target_ns = NAN,
                                                    .reference_ns = NAN};
    }
    for (int columns = 80; columns < 140; columns += 50)
        for (int of_graph = 0; of_graph < 2; of_graph++) {
            struct pw_tui *tui = open_tui(14, columns);
            struct pw_buf all = {0};
            char *lines[3 * MANY + 100];
            int count = 0;

            device_opens(tui);
            press(tui, of_graph ? "/matmul\n4w" : "/matmul\n4");
            history.about = tui->detail;
            send(tui, &history);
            send(tui, &whole);
            tui->ascii = true;
            pw_tui_fill(tui);
            pw_lines_text(&tui->text, &all);
            for (char *at = all.data; *at; at = strchr(at, '\0') + 1) {
                lines[count++] = at;
                *strchr(at, '\n') = '\0';
            }
            for (int top = 0; top + 12 < count; top += 61) {
                const char *row;

                tui->scroll[PW_SCREEN_TRENDS] = top;
                row = strchr(screen_of(tui), '\n') + 1;
                for (int i = 0; i < 12; i++, row = strchr(row, '\n') + 1) {
                    size_t length = strlen(lines[top + i]) < 70 ? strlen(lines[top + i]) : 70;

                    while (length && lines[top + i][length - 1] == ' ')
                        length--;
                    if (length && strncmp(row + 1, lines[top + i] + 1, length - 1) != 0) /* > points to one of them */
                        fail_msg("line %d: '%.70s', of all '%s'", top + i, row, lines[top + i]);
                }
            }
            assert_in_range(count, MANY * (columns < 90 ? 2 : 1) + 2 * MANY / 5 - 1, 3 * MANY);
            pw_buf_clear(&all);
            close_tui(tui);
        }
}

/* A line of the comparison opens the signature that it is about. */
static void test_comparison_finds_signatures(void **state)
{
    struct pw_store_signature_row before[2] = {
        {.signature_id = "bbbbbbbbbbbbbbbb", .op = "Softmax-13", .standing = "held", .environment_id = "e"},
        {.signature_id = "dddddddddddddddd", .op = "Tanh-13", .standing = "held", .environment_id = "e"}};
    struct pw_event answer = {.kind = PW_EVENT_ANSWER,
                              .ask = PW_ASK_COMPARE,
                              .rows = before,
                              .row_count = 2,
                              .other_rows = before,
                              .other_row_count = 1,
                              .compared = {1, 2}};
    struct pw_tui *tui = open_tui(40, 120);

    (void)state;
    send(tui, &answer);
    assert_int_equal(tui->at->comparison.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct pw_tui_pair *pair = &tui->at->comparison.pairs[i];

        assert_int_equal(pair->signature, strcmp(pair->op, "Softmax-13") ? SIZE_MAX : 1);
    }
    device_opens(tui);
    press(tui, "/matmul\n24"); /* from the detail of another one */
    tui->show_comparison = true;
    shows(tui, ">  Softmax-13");
    press(tui, "\n");
    assert_int_equal(tui->screen, PW_SCREEN_DETAIL);
    assert_int_equal(tui->detail, 1);
    press(tui, "\033");
    shows(tui, "Runs 1 and 2 side by side");
    press(tui, "\033"); /* from these to the trends alone */
    hides(tui, "side by side");
    assert_int_equal(tui->screen, PW_SCREEN_TRENDS);
    press(tui, "\033"); /* where the trends were gone to from */
    assert_int_equal(tui->screen, PW_SCREEN_DETAIL);
    press(tui, "\033"); /* and out of there: not to the trends again */
    assert_int_equal(tui->screen, PW_SCREEN_INVENTORY);
    close_tui(tui);
}

/* Two runs that cannot be compared: the question took the place of the one about the screen, which is asked then. */
static void test_screen_behind_a_failed_comparison(void **state)
{
    struct pw_event answer = {.kind = PW_EVENT_ANSWER, .ask = PW_ASK_COMPARE, .failed = true};
    struct pw_tui *tui = open_tui(30, 100);

    (void)state;
    pw_error_set(&answer.error, PW_ERR_USAGE, "compare: run 9 has no results of signatures");
    device_opens(tui);
    press(tui, ":compare 1 9\n");
    assert_int_equal(tui->intent, PW_INTENT_ASK);
    assert_int_equal(tui->ask, PW_ASK_COMPARE);
    tui->intent = PW_INTENT_NONE;
    send(tui, &answer);
    assert_int_equal(tui->intent, PW_INTENT_ASK);
    assert_int_equal(tui->ask, PW_ASK_HISTORY);
    close_tui(tui);
}

/* What a job changed while another screen was in front is asked for when the way back shows it. */
static void test_back_to_what_changed(void **state)
{
    static const struct {
        const char *there, *away, *back;
        pw_ask ask;
    } ways[] = {{"2", "?", "\033", PW_ASK_HISTORY},
                {"4", "m", "q", PW_ASK_HISTORY},
                {"4w", "?", "\033", PW_ASK_GRAPH},
                {"24", "w", "\033", PW_ASK_HISTORY}};

    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct pw_event history = {.kind = PW_EVENT_ANSWER, .ask = PW_ASK_HISTORY};
        struct pw_event of_graph = {.kind = PW_EVENT_ANSWER, .ask = PW_ASK_GRAPH};
        struct pw_event started = {.kind = PW_EVENT_STARTED, .job = 1, .total = 1};
        struct pw_event finished = {.kind = PW_EVENT_FINISHED, .job = 1};
        struct pw_tui *tui = open_tui(30, 100);

        device_opens(tui);
        press(tui, ways[i].there);
        history.about = tui->detail;
        send(tui, &history);
        send(tui, &of_graph);
        press(tui, ways[i].away);
        send(tui, &started);
        send(tui, &finished);
        tui->intent = PW_INTENT_NONE;
        press(tui, ways[i].back);
        if (tui->intent != PW_INTENT_ASK || tui->ask != ways[i].ask)
            fail_msg("%s, %s and back: nothing is asked", ways[i].there, ways[i].away);
        close_tui(tui);
    }
}

static void click_on(struct pw_tui *tui, const char *text)
{
    struct pw_input click = {.kind = PW_INPUT_CLICK, .column = 20};

    for (const char *at = screen_of(tui), *end; (end = strchr(at, '\n')); at = end + 1, click.row++) {
        const char *found = strstr(at, text);

        if (found && found < end) {
            pw_tui_apply(tui, &click);
            return;
        }
    }
    fail_msg("no row has '%s':\n%s", text, screen_of(tui));
}

static bool points_to(struct pw_tui *tui, const char *text)
{
    const char *at = strstr(screen_of(tui), "\n>");
    const char *end = at ? strchr(at + 1, '\n') : NULL, *found = at ? strstr(at, text) : NULL;

    return found && found < end;
}

/* A run is chosen by the arrows and by a click; Enter, or a click on the chosen one, sets it beside the newest other.
 */
static void test_runs_are_chosen(void **state)
{
    static const struct {
        int rows, columns;
    } sizes[] = {{10, 40}, {24, 80}, {40, 120}, {100, 300}};
    struct pw_store_signature_row rows[RUNS];
    struct pw_store_graph_row graph_rows[RUNS];
    struct pw_event history = {.kind = PW_EVENT_ANSWER, .ask = PW_ASK_HISTORY, .rows = rows, .row_count = RUNS};
    struct pw_event whole = {
        .kind = PW_EVENT_ANSWER, .ask = PW_ASK_GRAPH, .graph_rows = graph_rows, .graph_row_count = RUNS};

    (void)state;
    fill(rows, graph_rows);
    rows[6].standing = "timed";   /* of a benchmark: run 7 */
    graph_rows[6].signatures = 0; /* end to end */
    for (size_t k = 0; k < 2 * (sizeof sizes / sizeof *sizes); k++) {
        struct pw_tui *tui = open_tui(sizes[k / 2].rows, sizes[k / 2].columns);

        device_opens(tui);
        press(tui, k % 2 ? "/matmul\n4w" : "/matmul\n4");
        history.about = tui->detail;
        send(tui, &history);
        send(tui, &whole);
        press(tui, "G"); /* the oldest; up from there */
        assert_true(points_to(tui, "run 1 "));
        press(tui, "kk");
        assert_true(points_to(tui, "run 3 "));
        if (sizes[k / 2].rows > 10) {
            click_on(tui, "run 2 ");
            assert_true(points_to(tui, "run 2 "));
            tui->intent = PW_INTENT_NONE;
            click_on(tui, "run 2 ");
            assert_int_equal(tui->intent, PW_INTENT_ASK);
            assert_int_equal(tui->ask, PW_ASK_COMPARE);
            assert_string_equal(tui->intent_text, "2 14");
            press(tui, "=");
            shows(tui, ":compare 2 14");
            press(tui, "\033");
        }
        press(tui, "/run 7 \n");
        assert_true(points_to(tui, "run 7 "));
        tui->intent = PW_INTENT_NONE;
        press(tui, "\n");
        assert_int_equal(tui->intent, PW_INTENT_NONE);
        shows(tui, "run 7 has no verdicts");
        press(tui, "/run 14 \n"); /* the newest: beside the one before it */
        press(tui, "\n");
        assert_string_equal(tui->intent_text, "13 14");
        close_tui(tui);
    }
}

/* The nodes of a signature over runs of the whole graph: a sign a run, up to each one's own highest. */
static void test_node_trends(void **state)
{
    struct pw_session_node_trend trends[2] = {
        {.node = &nodes[0],
         .standing = PW_NODE_CULPRIT,
         .tolerance = 1e-6,
         .isolated = {0, 1e-7, NAN, INFINITY, 4e-7},
         .time_ns = {1000, 2000, 0, 4000, 8000}},
        {.node = &nodes[1], .tolerance = NAN, .isolated = {NAN, NAN, NAN, NAN, NAN}}};
    struct pw_event answer = {.kind = PW_EVENT_ANSWER,
                              .ask = PW_ASK_HISTORY,
                              .node_trends = trends,
                              .node_trend_count = 2,
                              .node_runs = {3, 5, 6, 8, 9},
                              .node_run_count = 5};
    struct pw_tui *tui = open_tui(30, 120);

    (void)state;
    device_opens(tui);
    press(tui, "/matmul\n4");
    answer.about = tui->detail;
    send(tui, &answer);
    shows(tui, "No run has measured it yet"); /* itself; its nodes have run */
    shows(tui, "one sign a run, 5 of them, from run 3 to run 9");
    shows(tui, "\n   culprit  4.0e-07 of 1.0e-06 _: ##    8.0 us .: =#       mlp/fc\n");
    shows(tui, "\n   held           - of -                     -             attn/softmax\n");
    press(tui, "2");
    shows(tui, "Nodes (4: their errors and times over runs)");
    press(tui, "4");
    pw_tui_resize(tui, 30, 60);
    shows(tui, "\n   culprit  mlp/fc\n     4.0e-07 of 1.0e-06 _: ##");
    for (int i = 0; i < PW_SESSION_NODE_RUNS; i++) { /* where there is no room for all, the newest */
        trends[0].isolated[i] = i < 5 ? 4e-7 : i < 19 ? 0 : 1e-7;
        trends[0].time_ns[i] = i < 5 ? 9000 : i < 19 ? 1000 : 8000;
        answer.node_runs[i] = i + 1;
    }
    answer.node_run_count = PW_SESSION_NODE_RUNS;
    send(tui, &answer);
    pw_tui_resize(tui, 30, 76);
    shows(tui, "from run 1 to run 20");
    shows(tui, "\n   culprit  mlp/fc\n     1.0e-07 of 1.0e-06 #####______________:    8.0 us #####..............*\n");
    pw_tui_resize(tui, 30, 75);
    shows(tui, "     1.0e-07 of 1.0e-06 #####______________:\n                 8.0 us #####..............*\n");
    pw_tui_resize(tui, 30, 40);
    shows(tui, "one sign a run, 15 of them, from run\n   6 to run 20;");
    shows(tui,
          "\n   culprit  mlp/fc\n     1.0e-07 of 1.0e-06 ______________#\n                 8.0 us ..............#\n");
    pw_tui_resize(tui, 30, 60);
    answer.node_run_count = 0; /* the graph has not run */
    send(tui, &answer);
    hides(tui, "one sign a run");
    close_tui(tui);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_alike),
                                       cmocka_unit_test(test_very_many_runs),
                                       cmocka_unit_test(test_comparison_finds_signatures),
                                       cmocka_unit_test(test_runs_are_chosen),
                                       cmocka_unit_test(test_node_trends),
                                       cmocka_unit_test(test_screen_behind_a_failed_comparison),
                                       cmocka_unit_test(test_back_to_what_changed)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
