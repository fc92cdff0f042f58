/* Each screen at three sizes against text that was read and agreed to: tests/tui/screens/SCREEN-COLUMNSxROWS.txt.
 * PW_UPDATE_SCREENS=1 writes them anew; look at the difference before you commit it. */
#include "fake.h"

#include "paths.h"
#include "store/history.h"
#include "store/store.h"

/* A screen, under a name of its own where keys show another part of it. */
static const struct {
    const char *name, *screen, *keys;
} screens[] = {{"inventory", "inventory", ""},   {"detail", "detail", ""},
               {"detail-end", "detail", "G"},    {"run", "run", ""},
               {"trends", "trends", ""},         {"trends-graph", "trends", "w"},
               {"end-to-end", "end-to-end", ""}, {"end-to-end-culprit", "end-to-end", "w"},
               {"baselines", "baselines", ""},   {"device", "device", ""},
               {"messages", "messages", ""},     {"help", "help", ""}};
static const int sizes[][2] = {{80, 24}, {120, 40}, {40, 10}};

static void fill_bench(struct pw_tui *tui)
{
    struct pw_event started = {.kind = PW_EVENT_STARTED, .total = 1, .run_kind = "bench"};
    struct pw_event bench = {.kind = PW_EVENT_BENCH, .done = 1, .total = 1};

    send(tui, &started);
    bench.figure = (struct pw_bench_figure){.signature = 1,
                                            .name = "softmax_rows",
                                            .slices = 33,
                                            .reference_name = "loops",
                                            .flops = 1e6,
                                            .read_bytes = 3e5,
                                            .write_bytes = 2e5,
                                            .flops_rate = 5e10,
                                            .bytes_rate = 2.5e10,
                                            .speedup = {.value = 0.5, .low = 0.4, .high = 0.6}};
    bench.figure.target = (struct pw_stats_summary){.count = 33, .median = 20000, .low = 19000, .high = 21000};
    bench.figure.reference = (struct pw_stats_summary){.count = 33, .median = 10000, .low = 9900, .high = 10100};
    bench.figure.roof = (struct pw_roof){.level = "L2",
                                         .compute_ns = 5000,
                                         .memory_ns = 10000,
                                         .roof_ns = 10000,
                                         .share = 0.5,
                                         .bound = PW_BOUND_MEMORY};
    bench.figure.advice_count = 1;
    snprintf(bench.figure.advice[0].figures, sizeof bench.figure.advice[0].figures, "100 GFLOP/s of 200 GFLOP/s");
    snprintf(bench.figure.advice[0].what, sizeof bench.figure.advice[0].what, "use more vectors");
    send(tui, &bench);
}

static void fill_run(struct pw_tui *tui)
{
    static const struct pw_case_element elements[] = {{"[1,3]", 0.5, 0.25, 1}, {"[0,2]", 0.5, 0.75, 0.3333}};
    struct pw_event started = {.kind = PW_EVENT_STARTED, .total = 2};
    struct pw_event failed = {.kind = PW_EVENT_CASE, .done = 1, .total = 2};
    struct pw_event held = {.kind = PW_EVENT_CASE, .done = 2, .total = 2};
    struct pw_event summary = {.kind = PW_EVENT_SIGNATURE};
    struct pw_event finished = {.kind = PW_EVENT_FINISHED};

    send(tui, &started);
    failed.result = (struct pw_case_result){.signature = 1,
                                            .verdict = PW_VERDICT_FAIL,
                                            .tolerance = 1e-6,
                                            .reason = "output 0, element [1,3]: got 0.5, golden 0.25"};
    snprintf(failed.result.id, sizeof failed.result.id, "3:bbbbbbbbbbbbbbbb:f32:graph:normal:1");
    failed.result.comparison = (struct pw_comparison){
        .count = 8, .max_error = 1, .worst = 3, .worst_got = 0.5, .worst_want = 0.25, .max_ulp = 8e6, .nmse = 0.1};
    failed.result.worst = elements;
    failed.result.worst_count = 2;
    failed.result.comparison.histogram[0] = 6;
    failed.result.comparison.histogram[19] = 2;
    send(tui, &failed);
    held.result = (struct pw_case_result){.signature = 0, .verdict = PW_VERDICT_PASS, .tolerance = 1e-5, .reason = ""};
    snprintf(held.result.id, sizeof held.result.id, "3:aaaaaaaaaaaaaaaa:f32:graph:normal:1");
    held.result.comparison.max_error = 4e-6;
    held.result.comparison.worst = -1;
    send(tui, &held);
    summary.summary = (struct pw_signature_result){.signature = 1,
                                                   .standing = PW_STANDING_FAILED,
                                                   .implementations = &lists[1],
                                                   .gate_failed = true,
                                                   .worst_error = 1,
                                                   .worst_ratio = 1e6,
                                                   .tolerance = 1e-6};
    send(tui, &summary);
    summary.summary = (struct pw_signature_result){.signature = 0,
                                                   .standing = PW_STANDING_HELD,
                                                   .implementations = &lists[0],
                                                   .worst_error = 4e-6,
                                                   .worst_ratio = 0.4,
                                                   .tolerance = 1e-5,
                                                   .target_ns = 20000,
                                                   .reference_ns = 25000,
                                                   .reference_name = "openblas"};
    send(tui, &summary);
    finished.totals =
        (struct pw_verify_totals){.signatures = 2, .held = 1, .failed = 1, .unproven = 1, .cases = 2, .gate_failed = 1};
    send(tui, &finished);
}

/* A run of the whole graph, node by node. */
static void fill_whole(struct pw_tui *tui)
{
    struct pw_event started = {.kind = PW_EVENT_STARTED, .whole_graph = true, .mode = PW_ENDTOEND_NODES, .total = 3};
    struct pw_event node = {.kind = PW_EVENT_NODE, .total = 3};
    struct pw_event finished = {.kind = PW_EVENT_FINISHED, .whole_graph = true, .mode = PW_ENDTOEND_NODES};

    send(tui, &started);
    for (int i = 0; i < 3; i++) {
        node.done = (size_t)i + 1;
        node.node = (struct pw_endtoend_node){.node = &nodes[i],
                                              .pattern = -1,
                                              .standing = i == 1 ? PW_NODE_CULPRIT : PW_NODE_HELD,
                                              .on_target = i < 2,
                                              .time_ns = 1000 * (3 - i),
                                              .implementation = "k",
                                              .note = "",
                                              .reason = i == 1 ? "its own error is above its tolerance" : "",
                                              .has_isolated = true,
                                              .tolerance = 1e-6};
        node.node.isolated.max_error = i == 1 ? 1 : 1e-8;
        node.node.propagated.max_error = i == 1 ? 1 : 1e-8;
        send(tui, &node);
    }
    finished.endtoend = (struct pw_endtoend_totals){.nodes = 3,
                                                    .target_nodes = 2,
                                                    .host_nodes = 1,
                                                    .nodes_target_ns = 5000,
                                                    .nodes_host_ns = 1000,
                                                    .culprits = 1,
                                                    .outputs = 1,
                                                    .outputs_failed = 1,
                                                    .first_divergence = &nodes[1],
                                                    .peak_bytes = 4096,
                                                    .live_bytes = 1024};
    send(tui, &finished);
}

static void fill_answers(struct pw_tui *tui)
{
    struct pw_store_signature_row rows[6];
    struct pw_event history = {
        .kind = PW_EVENT_ANSWER, .ask = PW_ASK_HISTORY, .about = 1, .rows = rows, .row_count = 6};
    struct pw_session_mark marks[3];
    struct pw_store_graph_row graph_rows[6];
    struct pw_event whole = {.kind = PW_EVENT_ANSWER, .ask = PW_ASK_GRAPH, .graph_row_count = 6};
    struct pw_event environment = {
        .kind = PW_EVENT_ANSWER,
        .ask = PW_ASK_ENVIRONMENT,
        .text = "*cpu\tTest CPU\n*cores\t2\n load\t0.10\n!cpu: 'Other CPU' pinned, 'Test CPU' here\n"
                "@Target\n-device        Test CPU with a name that goes on over the right edge of a narrow screen\n"
                "-peaks         median [quartiles]\n-  fma   registers  200 GFLOP/s  [190, 210]\n"
                "@Platforms\n-opencl:0:0 Test / Test CPU\n@Isolation of workers\n-landlock      version 7\n"};
    struct pw_event baselines = {.kind = PW_EVENT_ANSWER,
                                 .ask = PW_ASK_BASELINES,
                                 .text = "baselines/m-000000000000/test\n  precision-1.yaml  approved by ana\n\n"
                                         "What the pending ones change:\nSoftmax-13  error 1e-7 -> 1\n"};

    for (int i = 0; i < 6; i++)
        rows[i] = (struct pw_store_signature_row){.run_id = i + 1,
                                                  .wall_ms = 1790000000000 + i * 86400000LL,
                                                  .signature_id = "bbbbbbbbbbbbbbbb",
                                                  .standing = i < 5 ? "held" : "failed",
                                                  .implementation = "softmax_rows",
                                                  .worst_error = i < 5 ? 1e-7 : 1,
                                                  .tolerance = 1e-6,
                                                  .target_ns = 1000 + 100 * i,
                                                  .reference_ns = 1000,
                                                  .environment_id = i ? "9ab3f1c25d6e7f80" : "576cd2a469ee5f68"};
    marks[0] = (struct pw_session_mark){.number = 1, .recorded_ms = rows[1].wall_ms, .environment_id = ""};
    marks[1] = (struct pw_session_mark){
        .number = 2, .throughput = true, .recorded_ms = rows[4].wall_ms + 5000, .environment_id = "9ab3f1c25d6e7f80"};
    marks[2] = (struct pw_session_mark){
        .number = 3, .throughput = true, .recorded_ms = rows[4].wall_ms, .environment_id = "elsewhere"};
    history.marks = whole.marks = marks;
    history.mark_count = whole.mark_count = 3;
    whole.graph_rows = graph_rows;
    for (int i = 0; i < 6; i++)
        graph_rows[i] = (struct pw_store_graph_row){.run_id = 10 + i,
                                                    .wall_ms = rows[i].wall_ms,
                                                    .kind = i % 2 ? "run" : "check",
                                                    .outcome = i == 4 ? "failed" : "held",
                                                    .environment_id = "9ab3f1c25d6e7f80",
                                                    .signatures = i % 2 ? 0 : 62,
                                                    .failed = i == 4,
                                                    .worst_share = i == 4 ? 20 : 0.1 + 0.1 * i,
                                                    .target_ns = 1000 + 100 * i,
                                                    .reference_ns = 1000};
    send(tui, &whole);
    send(tui, &history);
    send(tui, &environment);
    send(tui, &baselines);
    fill_whole(tui);
}

static void compare(const char *name, const char *screen)
{
    const char *source = getenv("PW_SOURCE"), *update = getenv("PW_UPDATE_SCREENS");
    struct pw_buf wanted = {0};
    struct pw_error err = {0};
    char path[1024];

    snprintf(path, sizeof path, "%s/tests/tui/screens/%s.txt", source ? source : PW_SRCDIR, name);
    if (update && *update) {
        assert_int_equal(pw_file_write(path, screen, strlen(screen), &err), PW_OK);
        return;
    }
    if (pw_file_read(path, 1 << 20, &wanted, &err) != PW_OK)
        fail_msg("%s", err.message);
    if (strcmp(pw_buf_text(&wanted), screen) != 0)
        fail_msg("%s: expected\n%s\nfound\n%s", name, pw_buf_text(&wanted), screen);
    pw_buf_clear(&wanted);
}

static void test_screens(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t i = 0; i < sizeof screens / sizeof *screens; i++) {
            struct pw_tui *tui = open_tui(sizes[s][1], sizes[s][0]);
            char name[64], command[64];

            device_opens(tui);
            fill_bench(tui);
            fill_run(tui);
            press(tui, "/softmax\n");
            press(tui, "2"); /* the signature that detail and trends are about */
            fill_answers(tui);
            press(tui, "1\033"); /* without the filter */
            tui->flash[0] = '\0';
            snprintf(command, sizeof command, ":screen %s\n", screens[i].screen);
            if (strcmp(screens[i].screen, "detail") == 0 || strcmp(screens[i].screen, "trends") == 0)
                press(tui, "/softmax\n");
            press(tui, command);
            screen_of(tui); /* what keys that move are about */
            press(tui, screens[i].keys);
            snprintf(name, sizeof name, "%s-%dx%d", screens[i].name, sizes[s][0], sizes[s][1]);
            compare(name, screen_of(tui));
            close_tui(tui);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_screens)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
