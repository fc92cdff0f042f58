/* The nodes of a run come back in a later session as they were told while it ran, bodies of loops too. */
#include <math.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/file.h"
#include "graph_text.h"
#include "job/session_internal.h"
#include "store/endtoend.h"
#include "store/store_internal.h"

enum { NODES_MAX = 64 };

static char folder[64];

/* What is compared of a node. */
struct told {
    char name[64], op[32], implementation[64], text[200];
    int pattern;
    pw_node_standing standing;
    bool on_target;
    int64_t time_ns;
    double isolated, tolerance, propagated;
};

static char liar[1024]; /* the honest chip of tests/liar */

static int set_up(void **state)
{
    static const char *const bodies[] = {"input i int64[]\ninput go bool[]\ninput s float32[3,8]\n"
                                         "on = Identity (go)\n"
                                         "t = Tanh (s)\n"
                                         "output on bool[]\noutput t float32[3,8]\n"};
    struct pw_buf bytes = {0};
    struct pw_error err = {0};
    bool written;

    (void)state;
    snprintf(folder, sizeof folder, "/tmp/pw-nodes-XXXXXX");
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return -1;
    graph_text_bytes("input x float32[3,8]\nconst trips int64[] 3\nconst yes bool[] 1\n"
                     "a = Sigmoid (x)\nm = Mul (a, x)\n" /* a pattern */
                     "y = Loop body={0} (trips, yes, m)\n"
                     "z = Softmax (y)\noutput z float32[3,8]\n",
                     bodies, 17, &bytes);
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

static struct pw_session *open_session(void)
{
    struct pw_session_options options = {.model_path = "m.onnx", .target = "reference", .db = "x.db", .seed = 1};
    struct pw_session *session = NULL;
    struct pw_error err = {0};

    if (pw_session_open(&options, &session, &err) != PW_OK)
        fail_msg("%s", err.message);
    return session;
}

static struct pw_event *next(struct pw_session *session)
{
    for (int tries = 0; tries < 200; tries++) {
        struct pollfd wait = {.fd = pw_session_fd(session), .events = POLLIN};
        struct pw_event *event = pw_session_next(session);

        if (event)
            return event;
        poll(&wait, 1, 100);
    }
    fail_msg("nothing came");
    return NULL;
}

static void name_it(struct told *told, const struct pw_node *node)
{
    snprintf(told->name, sizeof told->name, "%s", node ? node->name : "");
    snprintf(told->op, sizeof told->op, "%s", node ? node->op_type : "");
}

/* Runs the graph; what was told of its nodes, and the totals. */
static size_t run(pw_endtoend_mode mode, struct told told[NODES_MAX], struct pw_endtoend_totals *totals)
{
    struct pw_session *session = open_session();
    struct pw_error err = {0};
    size_t count = 0;
    bool over = false;

    assert_int_equal(pw_session_run(session, &(struct pw_session_run_options){.mode = mode}, NULL, &err), PW_OK);
    while (!over) {
        struct pw_event *event = next(session);
        const struct pw_endtoend_node *node = &event->node;

        over = event->kind == PW_EVENT_FINISHED;
        if (over) {
            assert_false(event->failed);
            *totals = event->endtoend;
        }
        if (event->kind == PW_EVENT_NODE) {
            assert_true(count < NODES_MAX);
            told[count] = (struct told){.pattern = node->node ? -1 : node->pattern,
                                        .standing = node->standing,
                                        .on_target = node->on_target,
                                        .time_ns = node->time_ns,
                                        .isolated = node->has_isolated ? node->isolated.max_error : NAN,
                                        .tolerance = node->has_isolated ? node->tolerance : NAN,
                                        .propagated = node->propagated.max_error};
            name_it(&told[count], node->node);
            snprintf(told[count].implementation, sizeof told->implementation, "%s", node->implementation);
            snprintf(told[count].text, sizeof told->text, "%s", node->reason[0] ? node->reason : node->note);
            count++;
        }
        pw_event_free(event);
    }
    pw_session_close(session);
    return count;
}

/* Asks a new session; what it tells of the nodes of the recorded run. */
static size_t read_back(struct told told[NODES_MAX], struct pw_endtoend_totals *totals, int64_t *run_id)
{
    struct pw_session *session = open_session();
    struct pw_error err = {0};
    size_t count = 0;
    bool over = false;

    *run_id = 0;
    assert_int_equal(pw_session_ask(session, PW_ASK_NODES, 0, NULL, NULL, &err), PW_OK);
    while (!over) {
        struct pw_event *event = next(session);
        const struct pw_session_past *past = &event->past;

        over = event->kind == PW_EVENT_ANSWER;
        assert_false(over && event->failed);
        if (event->kind == PW_EVENT_PAST) {
            assert_true(past->first && past->last);
            assert_int_equal(past->output_count, 1);
            assert_string_equal(past->outputs[0].name, "z");
            assert_true(past->outputs[0].held);
            *run_id = past->run;
            *totals = event->endtoend;
            for (size_t i = 0; i < past->count; i++) {
                const struct pw_session_past_node *node = &past->nodes[i];

                assert_true(count < NODES_MAX);
                told[count] = (struct told){.pattern = node->node ? -1 : node->pattern,
                                            .standing = node->standing,
                                            .on_target = node->on_target,
                                            .time_ns = node->time_ns,
                                            .isolated = node->isolated,
                                            .tolerance = node->tolerance,
                                            .propagated = node->propagated};
                name_it(&told[count], node->node);
                snprintf(told[count].implementation, sizeof told->implementation, "%s", node->implementation);
                snprintf(told[count].text, sizeof told->text, "%s", node->text);
                count++;
            }
        }
        pw_event_free(event);
    }
    pw_session_close(session);
    return count;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* What a signature's history tells of its nodes over the runs is what these told of them. */
static void test_trends_as_told(void **state)
{
    enum { TIMES = 3 };
    static struct told told[TIMES][NODES_MAX];
    struct pw_endtoend_totals ignored;
    struct pw_session *session;
    struct pw_error err = {0};
    size_t count = 0, found = 0;

    (void)state;
    for (int i = 0; i < TIMES; i++)
        count = run(PW_ENDTOEND_NODES, told[i], &ignored);
    session = open_session();
    for (size_t s = 0; s < pw_session_inventory(session)->signature_count; s++) {
        struct pw_event *event;

        assert_int_equal(pw_session_ask(session, PW_ASK_HISTORY, s, NULL, NULL, &err), PW_OK);
        while ((event = next(session))->kind != PW_EVENT_ANSWER)
            pw_event_free(event);
        assert_false(event->failed);
        for (size_t n = 0; n < event->node_trend_count; n++)
            for (size_t i = 0; i < count; i++) {
                const struct pw_session_node_trend *trend = &event->node_trends[n];

                if (strcmp(trend->node->op_type, told[0][i].op) != 0) /* none comes twice here */
                    continue;
                assert_int_equal(event->node_run_count, TIMES);
                assert_int_equal(trend->standing, told[TIMES - 1][i].standing);
                for (int r = 0; r < TIMES; r++) {
                    assert_int_equal(event->node_runs[r], r + 1);
                    assert_int_equal(trend->time_ns[r], told[r][i].time_ns);
                    assert_true(same(trend->isolated[r], told[r][i].isolated));
                }
                found++;
            }
        pw_event_free(event);
    }
    assert_int_equal(found, 6); /* all but the pattern: those of the body too */
    pw_session_close(session);
}

/* Runs with other dims take other times, and are no points of the same line. */
static void test_trends_of_these_dims(void **state)
{
    static const int64_t sizes[] = {2, 300, 2};
    struct pw_binding binding = {.name = "n"};
    struct pw_session_options options = {.model_path = "dims.onnx",
                                         .target = "reference",
                                         .db = "dims.db",
                                         .seed = 1,
                                         .bindings = &binding,
                                         .binding_count = 1};
    struct pw_buf bytes = {0};
    struct pw_error err = {0};

    (void)state;
    graph_text_bytes("input x float32[n,8]\ny = Tanh (x)\noutput y float32[n,8]\n", NULL, 17, &bytes);
    assert_int_equal(pw_file_write("dims.onnx", bytes.data, bytes.size, &err), PW_OK);
    pw_buf_clear(&bytes);
    for (int i = 0; i < 3; i++) {
        struct pw_session *session = NULL;
        struct pw_event *event;

        binding.value = sizes[i];
        assert_int_equal(pw_session_open(&options, &session, &err), PW_OK);
        assert_int_equal(
            pw_session_run(session, &(struct pw_session_run_options){.mode = PW_ENDTOEND_NODES}, NULL, &err), PW_OK);
        while ((event = next(session))->kind != PW_EVENT_FINISHED)
            pw_event_free(event);
        assert_false(event->failed);
        pw_event_free(event);
        assert_int_equal(pw_session_ask(session, PW_ASK_HISTORY, 0, NULL, NULL, &err), PW_OK);
        while ((event = next(session))->kind != PW_EVENT_ANSWER)
            pw_event_free(event);
        assert_int_equal(event->node_run_count, i < 2 ? 1 : 2);
        assert_int_equal(event->node_runs[0], i == 1 ? 2 : 1);
        pw_event_free(event);
        pw_session_close(session);
    }
}

static void test_back_as_told(void **state)
{
    struct told before[NODES_MAX], after[NODES_MAX];
    struct pw_endtoend_totals told = {0}, got = {0}, ignored;
    bool body = false, pattern = false, timed = false;
    int64_t id;
    size_t count;

    (void)state;
    assert_int_equal(read_back(after, &got, &id), 0); /* nothing has run yet */
    assert_int_equal(id, 0);
    count = run(PW_ENDTOEND_NODES, before, &told);
    run(PW_ENDTOEND_OUTPUTS, after, &ignored); /* tells nothing of nodes: the one before is shown */
    assert_int_equal(read_back(after, &got, &id), count);
    assert_int_equal(id, 1);
    for (size_t i = 0; i < count; i++) {
        const struct told *a = &before[i], *b = &after[i];

        assert_string_equal(a->name, b->name);
        assert_string_equal(a->op, b->op);
        assert_string_equal(a->implementation, b->implementation);
        assert_string_equal(a->text, b->text);
        assert_int_equal(a->pattern, b->pattern);
        assert_int_equal(a->standing, b->standing);
        assert_int_equal(a->on_target, b->on_target);
        assert_int_equal(a->time_ns, b->time_ns);
        assert_true(same(a->isolated, b->isolated) && same(a->tolerance, b->tolerance) &&
                    same(a->propagated, b->propagated));
        body |= !strcmp(a->op, "Tanh");
        pattern |= a->pattern >= 0;
        timed |= a->time_ns > 0;
    }
    assert_true(body && pattern && timed);
    assert_int_equal(told.nodes, got.nodes);
    assert_int_equal(told.host_nodes, got.host_nodes);
    assert_int_equal(told.nodes_host_ns, got.nodes_host_ns);
    assert_int_equal(told.peak_bytes, got.peak_bytes);
    assert_true(got.held && !got.first_divergence && !got.failed && got.outputs == 1);
}

/* Rows of nodes share a commit, but nobody waits for it while the session waits for something to do. */
static void test_rows_let_others_write(void **state)
{
    struct pw_session *session = open_session();
    struct pw_event *started = pw_event_create(PW_EVENT_STARTED), *row = pw_event_create(PW_EVENT_NODE);
    struct pw_store *other = NULL;
    struct pw_error err = {0};
    bool over = false;

    (void)state;
    assert_non_null(started);
    assert_non_null(row);
    started->whole_graph = row->whole_graph = true;
    row->node = (struct pw_endtoend_node){.node = &pw_session_model(session)->graph->nodes[0],
                                          .pattern = -1,
                                          .standing = PW_NODE_CULPRIT,
                                          .implementation = "reference",
                                          .note = "",
                                          .why = "",
                                          .reason = "wrong"};
    assert_int_equal(pw_store_open("x.db", false, &other, &err), PW_OK);
    assert_int_equal(pw_store_batch_begin(other, &err), PW_OK); /* so that all three wait together */
    pw_session_send_to_store(session, started);
    pw_session_send_to_store(session, row);
    assert_int_equal(pw_session_ask(session, PW_ASK_NODES, 0, NULL, NULL, &err), PW_OK);
    assert_int_equal(pw_store_batch_end(other, &err), PW_OK);
    while (!over) {
        struct pw_event *event = next(session);

        assert_int_not_equal(event->kind, PW_EVENT_MESSAGE);
        over = event->kind == PW_EVENT_ANSWER;
        pw_event_free(event);
    }
    if (pw_store_batch_begin(other, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(pw_store_batch_end(other, &err), PW_OK);
    pw_store_close(other);
    pw_session_close(session);
}

enum { LONG_CHAIN = 1000, LONGER_CHAIN = 5000, WAITING_MIN = 50, WAITING_MAX = 100 };

static void write_chain(int length)
{
    struct pw_buf text = {0}, bytes = {0};
    struct pw_error err = {0};

    pw_buf_puts(&text, "input x float32[4]\nv0 = Tanh (x)\n");
    for (int i = 1; i < length; i++)
        pw_buf_printf(&text, "v%d = Tanh (v%d)\n", i, i - 1);
    pw_buf_printf(&text, "output v%d float32[4]\n", length - 1);
    graph_text_bytes(pw_buf_text(&text), NULL, 17, &bytes);
    assert_int_equal(pw_file_write("m.onnx", bytes.data, bytes.size, &err), PW_OK);
    pw_buf_clear(&text);
    pw_buf_clear(&bytes);
}

static size_t waiting(struct pw_session *session)
{
    size_t count;

    pthread_mutex_lock(&session->events.lock);
    count = session->events.count;
    pthread_mutex_unlock(&session->events.lock);
    return count;
}

/* A client that is away (its terminal takes no output) finds everything when it comes back, and the memory that waits
 * for it has a bound; or it closes. */
static void test_client_away(void **state)
{
    (void)state;
    write_chain(LONG_CHAIN);
    for (int back = 0; back < 2; back++) {
        struct pw_session *session = open_session();
        struct pw_error err = {0};
        size_t nodes = 0, before = 0;
        bool over = false;

        assert_int_equal(
            pw_session_run(session, &(struct pw_session_run_options){.mode = PW_ENDTOEND_NODES}, NULL, &err), PW_OK);
        for (int same = 0; same < 10; same = waiting(session) == before && before > WAITING_MIN ? same + 1 : 0) {
            before = waiting(session); /* until no more come */
            usleep(10000);
        }
        assert_in_range(before, WAITING_MIN, WAITING_MAX);
        while (back && !over) {
            struct pw_event *event = next(session);

            nodes += event->kind == PW_EVENT_NODE;
            over = event->kind == PW_EVENT_FINISHED;
            assert_true(!over || !event->failed);
            pw_event_free(event);
        }
        assert_int_equal(nodes, back ? LONG_CHAIN : 0);
        pw_session_close(session);
    }
}

static int64_t count_in_store(const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    int64_t count = -1;

    assert_int_equal(sqlite3_open_v2("x.db", &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
    if (sqlite3_step(q) == SQLITE_ROW)
        count = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    sqlite3_close(db);
    return count;
}

/* Compares a long chain, up to so many nodes; how many were told. */
static size_t compare_chain(size_t cancel_at)
{
    struct pw_session *session = open_session();
    struct pw_error err = {0};
    size_t nodes = 0;
    bool over = false;

    assert_int_equal(pw_session_run(session, &(struct pw_session_run_options){.mode = PW_ENDTOEND_NODES}, NULL, &err),
                     PW_OK);
    while (!over) {
        struct pw_event *event = next(session);

        nodes += event->kind == PW_EVENT_NODE;
        if (nodes == cancel_at && event->kind == PW_EVENT_NODE)
            pw_session_cancel(session);
        over = event->kind == PW_EVENT_FINISHED;
        pw_event_free(event);
    }
    pw_session_close(session);
    return nodes;
}

/* Nodes of a long run are recorded while it goes on, each once and in order; of one that is cancelled none stays. */
static void test_recorded_in_parts(void **state)
{
    struct pw_session *session;
    struct pw_error err = {0};
    size_t next_index = 0;
    bool over = false;

    (void)state;
    write_chain(LONGER_CHAIN);
    assert_in_range(compare_chain(LONGER_CHAIN - 500), LONGER_CHAIN - 500, LONGER_CHAIN - 1);
    assert_int_equal(count_in_store("SELECT COUNT(*) FROM run WHERE outcome = 'cancelled'"), 1);
    assert_int_equal(count_in_store("SELECT COUNT(*) FROM node_figure"), 0);
    assert_int_equal(count_in_store("SELECT COUNT(*) FROM run_text"), 0);
    assert_int_equal(compare_chain(0), LONGER_CHAIN);
    assert_int_equal(count_in_store("SELECT COUNT(*) FROM node_figure"), LONGER_CHAIN);
    session = open_session();
    assert_int_equal(pw_session_ask(session, PW_ASK_NODES, 0, NULL, NULL, &err), PW_OK);
    while (!over) {
        struct pw_event *event = next(session);

        for (size_t i = 0; i < event->past.count; i++) {
            assert_int_equal(event->past.nodes[i].node->index, next_index++);
            assert_string_equal(event->past.nodes[i].implementation, "reference");
        }
        over = event->kind == PW_EVENT_ANSWER;
        pw_event_free(event);
    }
    assert_int_equal(next_index, LONGER_CHAIN);
    pw_session_close(session);
}

/* Two signatures that the dims make one are verified once, and count as they are listed: so do their cases. */
static void test_counts_as_listed(void **state)
{
    struct pw_session_options options = {.model_path = "same.onnx", .target = liar, .db = "", .seed = 1};
    struct pw_session *session = NULL;
    struct pw_buf bytes = {0};
    struct pw_error err = {0};
    size_t listed = 0, cases = 0, passed = 0;

    (void)state;
    graph_text_bytes("input x float32[2,height]\ninput y float32[2,width]\na = Tanh (x)\nb = Tanh (y)\n"
                     "output a float32[2,height]\noutput b float32[2,width]\n",
                     NULL, 17, &bytes);
    assert_int_equal(pw_file_write("same.onnx", bytes.data, bytes.size, &err), PW_OK);
    pw_buf_clear(&bytes);
    if (pw_session_open(&options, &session, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(pw_session_inventory(session)->signature_count, 2);
    assert_int_equal(pw_session_concrete(session)->signature_count, 1);
    assert_int_equal(pw_session_verify(session, NULL, 0, false, NULL, &err), PW_OK);
    for (bool over = false; !over;) {
        struct pw_event *event = next(session);

        listed += event->kind == PW_EVENT_SIGNATURE;
        cases += event->kind == PW_EVENT_CASE;
        passed += event->kind == PW_EVENT_CASE && event->result.verdict == PW_VERDICT_PASS;
        over = event->kind == PW_EVENT_FINISHED;
        if (over) {
            assert_int_equal(listed, 2);
            assert_int_equal(event->totals.signatures, 2);
            assert_true(cases > 0);
            assert_int_equal(event->totals.cases, cases);
            assert_int_equal(event->totals.passed, passed);
            assert_int_equal(
                event->totals.held + event->totals.failed + event->totals.unproven + event->totals.mistrusted, 2);
        }
        pw_event_free(event);
    }
    pw_session_close(session);
}

/* Sizes are assumed that the graph takes: 64 values are not added to 16; but 7 to none of them. */
static void test_assumed_sizes_fit(void **state)
{
    static const char *const graphs[] = {
        "input x float32[bs,size]\ninput k float32[64]\ny = Add (x, k)\noutput y float32[bs,64]\n",
        "input x float32[size]\ninput k float32[7]\ny = Add (x, k)\noutput y float32[7]\n"};
    struct pw_session_options options = {.model_path = "fit.onnx", .target = "reference", .db = "", .seed = 1};

    (void)state;
    for (int g = 0; g < 2; g++) {
        struct pw_session *session = NULL;
        struct pw_buf bytes = {0};
        struct pw_error err = {0};

        graph_text_bytes(graphs[g], NULL, 17, &bytes);
        assert_int_equal(pw_file_write("fit.onnx", bytes.data, bytes.size, &err), PW_OK);
        pw_buf_clear(&bytes);
        if (pw_session_open(&options, &session, &err) == PW_OK)
            assert_string_equal(pw_session_bindings(session), "bs=1,size=64");
        else if (!g || !strstr(err.message, "with the assumed dims size=16"))
            fail_msg("%s", err.message);
        assert_int_equal(session == NULL, g);
        pw_session_close(session);
    }
}

#if defined(PW_FAIL_INJECTION)
/* Until the threads have nothing left to do: device, coverage and history have come. */
static void settle(struct pw_session *session)
{
    for (int seen = 0; seen != 7;) {
        struct pw_event *event = next(session);

        seen |= event->kind == PW_EVENT_DEVICE     ? 1
                : event->kind == PW_EVENT_COVERAGE ? 2
                : event->kind == PW_EVENT_HISTORY  ? 4
                                                   : 0;
        pw_event_free(event);
    }
}

/* Whatever it is that memory is short for, from there on or once: who asked is answered. */
static void test_always_an_answer(void **state)
{
    struct told told[NODES_MAX];
    struct pw_endtoend_totals totals;

    (void)state;
    run(PW_ENDTOEND_NODES, told, &totals);
    for (int sticky = 0; sticky < 2; sticky++)
        for (uint64_t nth = 1, made = 1; nth <= made; nth++) {
            struct pw_session *session = open_session();
            struct pw_error err = {0};
            size_t count = 0;
            bool over = false, failed = false;

            settle(session);
            assert_int_equal(pw_session_ask(session, PW_ASK_NODES, 0, NULL, NULL, &err), PW_OK);
            pw_mem_fail_at(nth, sticky); /* the writer may be ahead by then: some of it fails, or nothing */
            while (!over) {
                struct pw_event *event = next(session);

                over = event->kind == PW_EVENT_ANSWER;
                failed = over && event->failed;
                count += event->kind == PW_EVENT_PAST ? event->past.count : 0;
                pw_event_free(event);
            }
            made = pw_mem_count();
            pw_mem_fail_at(0, 0);
            assert_true(failed || count > 0);
            pw_session_close(session);
        }
}

/* A job's end is told too, and a run that the store never heard of adds nothing to the one before. */
static void test_always_an_end(void **state)
{
    struct told told[NODES_MAX];
    struct pw_endtoend_totals totals;

    (void)state;
    run(PW_ENDTOEND_NODES, told, &totals);
    for (uint64_t nth = 1; nth <= 24; nth++) {
        struct pw_session *session = open_session();
        struct pw_error err = {0};
        bool over = false;

        settle(session);
        if (nth % 2)
            assert_int_equal(pw_session_verify(session, NULL, 0, false, NULL, &err), PW_OK);
        else
            assert_int_equal(pw_session_run(session, &(struct pw_session_run_options){0}, NULL, &err), PW_OK);
        pw_mem_fail_at(nth, true);
        while (!over) {
            struct pw_event *event = next(session);

            over = event->kind == PW_EVENT_FINISHED;
            pw_event_free(event);
        }
        pw_mem_fail_at(0, 0);
        pw_session_close(session);
    }
}
#endif

int main(int argc, char **argv)
{
    char here[800];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_back_as_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_trends_as_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_trends_of_these_dims, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_client_away, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_recorded_in_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rows_let_others_write, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_counts_as_listed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_assumed_sizes_fit, set_up, tear_down),
#if defined(PW_FAIL_INJECTION)
        cmocka_unit_test_setup_teardown(test_always_an_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_always_an_end, set_up, tear_down),
#endif
    };

    if (argc > 1 && !strcmp(argv[1], "--worker"))
        return pw_worker_main(argc, argv);
    if (!getenv("PW_BUILD") && getcwd(here, sizeof here)) /* the tests go elsewhere */
        snprintf(liar, sizeof liar, "plugin:%s/tests/liar/liar.so", here);
    else
        snprintf(liar, sizeof liar, "plugin:%s/tests/liar/liar.so", getenv("PW_BUILD"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
