/* The end-to-end screen: times, orders, jumps, and a list of which only what is seen is drawn. */
#include "fake_run.h"
#include "store/endtoend.h"

#define TEN_BLANKS "          "
#define FIFTY_BLANKS TEN_BLANKS TEN_BLANKS TEN_BLANKS TEN_BLANKS TEN_BLANKS

/* The row of the list that comes first. */
static void begins_with(struct pw_tui *tui, const char *name)
{
    const char *at = strstr(screen_of(tui), "its own");

    at = at ? strchr(at, '\n') : NULL;
    if (!at || !strstr(at, name) || strstr(at, name) > strchr(at + 1, '\n'))
        fail_msg("'%s' is not first:\n%s", name, screen_of(tui));
}

static void test_orders(void **state)
{
    struct pw_tui *tui = open_tui(60, 100);

    (void)state;
    device_opens(tui);
    press(tui, "5");
    run_graph(tui, 400);
    begins_with(tui, "node0");
    press(tui, ">");
    shows(tui, "Nodes by time");
    begins_with(tui, "node277"); /* 277 * 7919 mod 1009 = 1006 is the largest of them */
    press(tui, ">");
    begins_with(tui, "node400"); /* its own error */
    press(tui, ">");
    begins_with(tui, "node400"); /* what arrived: it falls from there on */
    press(tui, ">");
    begins_with(tui, "node0");
    run_graph(tui, NODES); /* the order stays for the next run */
    press(tui, ">>");
    begins_with(tui, "node321");
    close_tui(tui);
}

/* What a run does before its first node and behind its last one is said, and it can be cancelled. */
static void test_doing(void **state)
{
    struct pw_tui *tui = open_tui(30, 80);
    struct pw_event doing = {
        .kind = PW_EVENT_DOING, .text = "drawing 2450 inputs", .whole_graph = true, .mode = PW_ENDTOEND_NODES};
    struct pw_event started = {.kind = PW_EVENT_STARTED, .whole_graph = true, .mode = PW_ENDTOEND_NODES, .total = 1};
    struct pw_event node = {
        .kind = PW_EVENT_NODE, .whole_graph = true, .mode = PW_ENDTOEND_NODES, .done = 1, .total = 1};
    struct pw_event gone = {.kind = PW_EVENT_FINISHED, .failed = true, .whole_graph = true, .mode = PW_ENDTOEND_NODES};

    (void)state;
    device_opens(tui);
    press(tui, "5");
    send(tui, &doing);
    shows(tui, " run...\n run: drawing 2450 inputs  c cancels\n\n");
    press(tui, "3");
    shows(tui, "run begins\n drawing 2450 inputs\n");
    press(tui, "c");
    assert_int_equal(tui->intent, PW_INTENT_CANCEL);
    press(tui, "5");
    send(tui, &started);
    shows(tui, "running 0/1  c cancels");
    node.node =
        (struct pw_endtoend_node){.node = &nodes[0], .pattern = -1, .implementation = "one", .note = "", .reason = ""};
    send(tui, &node);
    doing.text = "comparing the outputs";
    send(tui, &doing);
    shows(tui, "running 1/1: comparing the outputs  c cancels");
    gone.error.status = PW_ERR_CANCELLED;
    send(tui, &gone);
    shows(tui, "not finished 1/1  cancelled");
    send(tui, &started);
    gone.error.status = PW_ERR_USAGE;
    snprintf(gone.error.message, sizeof gone.error.message,
             "node 'a/conv' expected what one line of the screen has no "
             "room for, and says so to the end");
    send(tui, &gone);
    shows(tui, " not finished 0/1\n   node 'a/conv' expected");
    shows(tui, "says\n   so to the end\n");
    tui->flash[0] = '\0';
    send(tui, &started);
    send(tui, &node);
    send(tui, &gone);
    doing.text = "drawing 2450 inputs";
    send(tui, &doing); /* above what there was */
    shows(tui, " run: drawing 2450 inputs  c cancels\n\n");
    shows(tui, "mlp/fc");
    close_tui(tui);
}

/* Of a name that does not fit the end is shown, and that the node ran on the host all the same. */
static void test_long_names(void **state)
{
    static struct pw_node deep = {.name = "model/block.0/attention/self/query/projection/MatMul_1",
                                  .op_type = "MatMul",
                                  .graph = &graph,
                                  .domain = ""};
    struct pw_tui *tui = open_tui(30, 80);
    struct pw_event started = {.kind = PW_EVENT_STARTED, .whole_graph = true, .mode = PW_ENDTOEND_NODES, .total = 1};
    struct pw_event node = {
        .kind = PW_EVENT_NODE, .whole_graph = true, .mode = PW_ENDTOEND_NODES, .done = 1, .total = 1};

    (void)state;
    device_opens(tui);
    press(tui, "5");
    send(tui, &started);
    node.node = (struct pw_endtoend_node){
        .node = &deep, .pattern = -1, .implementation = "one", .note = "", .reason = "", .on_target = true};
    send(tui, &node);
    node.node.on_target = false;
    send(tui, &node);
    shows(tui, " ..tion/MatMul_1\n");
    shows(tui, " ..atMul_1  host\n");
    close_tui(tui);
}

/* Of very many outputs some are listed, those that fail before those that hold, and how many more there are. */
static void test_many_outputs(void **state)
{
    struct pw_tui *tui = open_tui(30, 80);
    struct pw_event started = {.kind = PW_EVENT_STARTED, .whole_graph = true, .mode = PW_ENDTOEND_OUTPUTS};
    struct pw_event output = {.kind = PW_EVENT_OUTPUT, .whole_graph = true, .mode = PW_ENDTOEND_OUTPUTS};
    char name[32];

    (void)state;
    device_opens(tui);
    press(tui, "5");
    send(tui, &started);
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof name, "out%d", i);
        output.output = (struct pw_endtoend_output){
            .name = name, .reason = i == 20 || i == 25 ? "far off" : "", .why = "", .held = i != 20 && i != 25};
        send(tui, &output);
    }
    shows(tui, "out0:");
    shows(tui, "out13:");
    hides(tui, "out14:");
    shows(tui, "out20: far off");
    shows(tui, "out25: far off");
    shows(tui, "and 14 more");
    close_tui(tui);
}

/* A recorded run lists the same ones of very many outputs as it did when it ran. */
static void test_many_recorded_outputs(void **state)
{
    struct pw_tui *tui = open_tui(60, 80);
    struct pw_store_output_row rows[30];
    char names_of[30][16];
    struct pw_event event = {
        .kind = PW_EVENT_PAST,
        .past = {.run = 12, .bindings = "", .first = true, .last = true, .outputs = rows, .output_count = 30}};

    (void)state;
    for (int i = 0; i < 30; i++) {
        snprintf(names_of[i], sizeof names_of[i], "out%d", i);
        rows[i] = (struct pw_store_output_row){.name = names_of[i],
                                               .reason = i == 20 || i == 25 ? "far off" : "",
                                               .held = i != 20 && i != 25,
                                               .error = NAN,
                                               .tolerance = NAN};
    }
    device_opens(tui);
    press(tui, "5");
    send(tui, &event);
    shows(tui, "out13:");
    hides(tui, "out14:");
    shows(tui, "out20: far off");
    shows(tui, "out25: far off");
    shows(tui, "and 14 more");
    close_tui(tui);
}

static void test_jumps(void **state)
{
    struct pw_tui *tui = open_tui(14, 80);

    (void)state;
    device_opens(tui);
    press(tui, "5f");
    shows(tui, "every node that was compared holds");
    run_graph(tui, 400);
    press(tui, "f");
    shows(tui, ">^ culprit");
    shows(tui, "node400");
    press(tui, "gt");
    shows(tui, "node277");
    press(tui, "d"); /* which hides it; the jump shows all again */
    hides(tui, "node277");
    press(tui, "t");
    shows(tui, "node277");
    run_graph(tui, NODES);
    press(tui, "gw");
    shows(tui, "node321");
    press(tui, "f");
    shows(tui, "every node that was compared holds");
    press(tui, "/node77\n"); /* lines that were not on the screen are found too */
    shows(tui, "node77");
    close_tui(tui);
}

/* The nodes of what is selected alone; Enter and a click lead to a node's signature. */
static void test_selection(void **state)
{
    static int of[NODES];
    struct pw_input click = {.kind = PW_INPUT_CLICK, .column = 20};
    struct pw_tui *tui = open_tui(14, 80);

    (void)state;
    for (int i = 0; i < NODES; i++) /* every fifth is of Softmax, the second signature */
        of[i] = i % 5 ? i == 7 ? -1 : 0 : 1;
    inventory.node_signature = of;
    inventory.node_number_count = NODES;
    device_opens(tui);
    press(tui, "/op:Softmax\n");
    press(tui, "C"); /* nothing has run */
    assert_int_equal(tui->screen, PW_SCREEN_ENDTOEND);
    assert_int_equal(tui->intent, PW_INTENT_RUN);
    assert_int_equal(tui->run_mode, PW_ENDTOEND_NODES);
    tui->intent = PW_INTENT_NONE;
    run_graph(tui, 400);
    press(tui, "1C"); /* it has */
    assert_int_equal(tui->intent, PW_INTENT_NONE);
    shows(tui, "Nodes of 1 signature (C: of all) in order");
    begins_with(tui, "node0");
    shows(tui, "node5");
    hides(tui, "node7");
    hides(tui, "node11");
    press(tui, "\n");
    assert_int_equal(tui->screen, PW_SCREEN_DETAIL);
    assert_int_equal(tui->detail, 1);
    press(tui, "\033");
    assert_int_equal(tui->screen, PW_SCREEN_ENDTOEND);
    press(tui, "C");
    shows(tui, "Nodes in order");
    press(tui, "f"); /* node 400 is of Softmax; what takes most time, 277, is not */
    press(tui, "\n");
    assert_int_equal(tui->detail, 1);
    press(tui, "\033");
    press(tui, "1C");
    press(tui, "t"); /* what hides it is taken away */
    shows(tui, "node277");
    press(tui, "\n");
    assert_int_equal(tui->detail, 0);
    press(tui, "\033");
    press(tui, "/node7\n");
    press(tui, "f");
    click.row = 1;
    for (const char *at = screen_of(tui); !strstr(at, "node401") || strstr(at, "node401") > strchr(at, '\n');
         at = strchr(at, '\n') + 1)
        click.row++;
    click.row--;
    pw_tui_apply(tui, &click);
    assert_int_equal(tui->screen, PW_SCREEN_ENDTOEND);
    points_to(tui, "node401");
    pw_tui_apply(tui, &click);
    assert_int_equal(tui->screen, PW_SCREEN_DETAIL);
    assert_int_equal(tui->detail, 0);
    inventory.node_number_count = 0;
    close_tui(tui);
}

/* Whatever is seen is what all lines together have there. */
static void test_only_what_is_seen(void **state)
{
    struct pw_tui *tui = open_tui(14, 80);

    (void)state;
    device_opens(tui);
    press(tui, "5");
    run_graph(tui, 250);
    tui->ascii = true;
    for (int top = 0; top < 600; top += 37) {
        struct pw_buf all = {0};
        const char *line;

        tui->scroll[PW_SCREEN_ENDTOEND] = top;
        screen_of(tui); /* clamps */
        pw_tui_fill(tui);
        pw_lines_text(&tui->text, &all);
        line = pw_buf_text(&all);
        for (int i = 0; i < tui->scroll[PW_SCREEN_ENDTOEND]; i++)
            line = strchr(line, '\n') + 1;
        for (int row = 1; row < 13; row++, line = strchr(line, '\n') + 1) {
            const char *shown = screen_of(tui);
            size_t length = strcspn(line, "\n") < 70 ? strcspn(line, "\n") : 70;

            for (int i = 0; i < row; i++)
                shown = strchr(shown, '\n') + 1;
            while (length && line[length - 1] == ' ')
                length--;
            if (length && strncmp(shown + 1, line + 1, length - 1) != 0) /* > points to one of them */
                fail_msg("row %d at %d: '%.70s' and '%.70s'", row, top, shown, line);
        }
        pw_buf_clear(&all);
    }
    close_tui(tui);
}

/* What is found without making all lines is what is found in all of them. */
static void finds_as_in_all_lines(struct pw_tui *tui, const char *needle, int step)
{
    int *scroll = &tui->scroll[PW_SCREEN_ENDTOEND], from = *scroll, want;

    pw_tui_fill(tui);
    want = pw_lines_find(&tui->text, from + step, step, needle);
    snprintf(tui->search, sizeof tui->search, "%s", needle);
    press(tui, step > 0 ? "n" : "N");
    if (*scroll != (want < 0 ? from : want))
        fail_msg("'%s' from %d by %d: found in line %d, not %d", needle, from, step, *scroll, want);
    if ((want < 0) != (strstr(tui->flash, "is not on this screen") != NULL))
        fail_msg("'%s': '%s'", needle, tui->flash);
}

static void test_finding(void **state)
{
    static const char *const needles[] = {"node321", "NODE49",    "culprit",  "victim", "ADD",     "host",
                                          "9.0e-07", "278.0 us",  "5.0e-01",  "1.0e-",  "so many", "one line of a",
                                          "arrived", "first div", "What the", "held",   "7",       "no such thing"};

    (void)state;
    for (int order = 0; order < PW_NODE_ORDER_COUNT; order++)
        for (int divergent = 0; divergent < 2; divergent++) {
            struct pw_tui *tui = open_tui(14, order % 2 ? 80 : 130);

            device_opens(tui);
            press(tui, "5");
            run_graph(tui, 250);
            for (int i = 0; i < order; i++)
                press(tui, ">");
            press(tui, divergent ? "d" : "");
            for (size_t i = 0; i < sizeof needles / sizeof *needles; i++) {
                for (int k = 0; k < 3; k++)
                    finds_as_in_all_lines(tui, needles[i], 1);
                for (int k = 0; k < 3; k++)
                    finds_as_in_all_lines(tui, needles[i], -1);
            }
            close_tui(tui);
        }
}

/* Of very many nodes a part is looked at with the key, the rest afterwards, unless another key comes. */
static void test_finding_in_parts(void **state)
{
    struct pw_tui *tui = open_tui(14, 80);
    struct pw_event started = {.kind = PW_EVENT_STARTED, .whole_graph = true, .mode = PW_ENDTOEND_NODES};
    struct pw_event node = {.kind = PW_EVENT_NODE};
    struct pw_input next = {.kind = PW_INPUT_KEY, .key = 'n'};
    int parts = 0;

    (void)state;
    device_opens(tui);
    press(tui, "5");
    send(tui, &started);
    many[0] = (struct pw_node){.name = "same", .op_type = "Add", .graph = &graph, .domain = ""};
    many[1] = (struct pw_node){.name = "last", .op_type = "Add", .graph = &graph, .domain = ""};
    for (size_t i = 0; i <= 70000; i++) {
        node.node = (struct pw_endtoend_node){
            .node = &many[i == 70000], .pattern = -1, .implementation = "", .note = "", .reason = ""};
        send(tui, &node);
    }
    snprintf(tui->search, sizeof tui->search, "last");
    pw_tui_apply(tui, &next);
    shows(tui, "looking for 'last'");
    while (pw_tui_find_on(tui))
        parts++;
    assert_in_range(parts, 1, 20);
    shows(tui, "last");
    hides(tui, "looking for");
    press(tui, "g");
    pw_tui_apply(tui, &next);
    press(tui, "g");
    assert_false(tui->find.going);
    assert_int_equal(tui->scroll[PW_SCREEN_ENDTOEND], 0);
    snprintf(tui->search, sizeof tui->search, "nowhere");
    press(tui, "n");
    shows(tui, "'nowhere' is not on this screen");
    close_tui(tui);
}

/* Of a log of megabytes the begin is shown, without half a character at its end. */
static void test_very_long_reason(void **state)
{
    struct pw_tui *tui = open_tui(14, 20);
    struct pw_event started = {.kind = PW_EVENT_STARTED, .whole_graph = true, .mode = PW_ENDTOEND_NODES};
    struct pw_event node = {.kind = PW_EVENT_NODE};
    char *text = calloc(1, 3000001);

    (void)state;
    for (size_t i = 0; i < 3000000; i += 3)
        memcpy(text + i, "\xe2\x82\xac", 3);
    device_opens(tui);
    press(tui, "5");
    send(tui, &started);
    node.node = (struct pw_endtoend_node){
        .node = &nodes[0], .pattern = -1, .standing = PW_NODE_FAILED, .implementation = "", .note = "", .reason = text};
    send(tui, &node);
    assert_int_equal(strlen(tui->at->endtoend.nodes[0].text), 3999); /* 1,333 characters */
    press(tui, "G");
    hides(tui, "\xef\xbf\xbd");
    assert_in_range(tui->text.count, 500, 1000);
    free(text);
    close_tui(tui);
}

static void same_text(struct pw_buf *a, struct pw_buf *b)
{
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
    pw_buf_clear(a);
    pw_buf_clear(b);
}

/* Parts together are the whole; other keys may come in between, also such as change what is listed. */
static void test_export_in_parts(void **state)
{
    struct pw_tui *tui = open_tui(14, 80);
    struct pw_event started = {.kind = PW_EVENT_STARTED, .whole_graph = true, .mode = PW_ENDTOEND_NODES};
    struct pw_event node = {.kind = PW_EVENT_NODE};
    struct pw_tui_export export;
    struct pw_buf parts = {0}, whole = {0};
    int parts_taken = 0;

    (void)state;
    device_opens(tui);
    press(tui, "5");
    run_graph(tui, 400);
    send(tui, &started);
    for (size_t i = 0; i < 5000; i++) {
        node.node = (struct pw_endtoend_node){.node = &many[i % NODES],
                                              .pattern = -1,
                                              .standing = i % 3 ? PW_NODE_HELD : PW_NODE_CULPRIT,
                                              .implementation = "",
                                              .note = "",
                                              .reason = i % 7 ? ""
                                                              : "a reason in so many words that it takes two or "
                                                                "three lines of this narrow terminal"};
        send(tui, &node);
    }
    assert_in_range(export_shown(tui, "x.txt", &parts), 10, 30);
    pw_tui_fill(tui);
    pw_lines_text(&tui->text, &whole);
    same_text(&parts, &whole);

    pw_tui_export_begin(tui, "x.txt", &export);
    assert_true(pw_tui_export_part(tui, &export));
    press(tui, "d1"); /* fewer nodes, and another screen */
    pw_tui_resize(tui, 20, 100);
    while (pw_tui_export_part(tui, &export)) {
    }
    assert_int_equal(tui->screen, PW_SCREEN_INVENTORY);
    press(tui, "5");
    pw_tui_resize(tui, 14, 80);
    pw_tui_fill(tui);
    pw_lines_text(&tui->text, &whole);
    same_text(&export.text, &whole);

    pw_tui_export_begin(tui, "x.txt", &export); /* the run goes on meanwhile; the export ends all the same */
    node.node.standing = PW_NODE_HELD;
    node.node.reason = "";
    node.node.time_ns = 1000;
    while (pw_tui_export_part(tui, &export) && ++parts_taken < 100)
        send(tui, &node);
    assert_in_range(parts_taken, 5, 40);
    assert_non_null(strstr(pw_buf_text(&export.text), "node1"));
    pw_buf_clear(&export.text);
    close_tui(tui);
}

static void test_export_of_the_inventory(void **state)
{
    enum { MANY = 1500 };
    static const struct pw_node *listed[MANY];
    struct pw_tui *tui = open_tui(14, 120);
    struct pw_canvas large = {.ascii = true};
    struct pw_error err = {0};
    struct pw_buf parts = {0}, whole = {0};

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        many[i % NODES] = (struct pw_node){.name = "n", .op_type = "Add", .index = i, .graph = &graph, .domain = ""};
        listed[i] = &many[i % NODES];
    }
    signatures[0].nodes = listed;
    signatures[0].node_count = MANY;
    device_opens(tui);
    tui->ascii = true;
    press(tui, "/matmul\nl\033Gk");
    assert_int_equal(tui->item_count, 3 + MANY);
    assert_int_equal(export_shown(tui, "x.txt", &parts), (MANY + 3 + 149) / 150);
    tui->top = 0;
    assert_int_equal(pw_canvas_resize(&large, MANY + 3 + 2, 120, &err), PW_OK);
    pw_view_inventory(tui, &large, 0, MANY + 3 + 2);
    pw_canvas_dump(&large, &whole);
    same_text(&parts, &whole);
    pw_canvas_clear(&large);
    close_tui(tui);
}

/* An export of the inventory is of one moment: of rows that a result, a key or another target brings into another order
 * none is left out and none comes twice. */
static void test_export_while_rows_move(void **state)
{
    enum { MANY = 400 };
    static const char *const keys[] = {"r", "zz", "h", "G"};
    static const struct pw_node *listed[MANY];
    struct pw_buf whole = {0};

    (void)state;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        struct pw_tui *tui = open_tui(14, 120);
        struct pw_tui_export export;

        for (size_t i = 0; i < MANY; i++) {
            many[i] = (struct pw_node){.name = "n", .op_type = "Add", .index = i, .graph = &graph, .domain = ""};
            listed[i] = &many[i];
        }
        signatures[0].nodes = listed;
        signatures[0].node_count = MANY;
        device_opens(tui);
        tui->ascii = true;
        press(tui, "/matmul\nl\033z");
        export_shown(tui, "x.txt", &whole);
        pw_tui_export_begin(tui, "x.txt", &export);
        assert_true(pw_tui_export_part(tui, &export));
        press(tui, keys[k]);
        while (pw_tui_export_part(tui, &export)) {
        }
        same_text(&whole, &export.text); /* and frees both */
        close_tui(tui);
    }
}

/* Larger ones first, what is unknown last, equal ones as they ran: said of any two neighbours. */
static void test_order_of_any_values(void **state)
{
    static const double values[] = {0, -0.0, 1e-300, 5e-324, 1e-9, 0.5, 1, 3e38, INFINITY, NAN};
    struct pw_tui *tui = open_tui(14, 80);
    struct pw_tui_endtoend *run = &tui->at->endtoend;
    unsigned state_of = 1;
    int64_t sum = 0;

    (void)state;
    device_opens(tui);
    run_graph(tui, NODES);
    for (size_t i = 0; i < NODES; i++) {
        assert_int_equal(pw_tui_endtoend_begin_ns(run, i), sum);
        sum += run->nodes[i].time_ns;
        state_of = state_of * 1103515245u + 12345u;
        run->nodes[i].isolated = values[state_of / 65536 % 10];
    }
    pw_tui_endtoend_sort(run, PW_NODES_BY_OWN);
    for (size_t i = 0; i + 1 < NODES; i++) {
        size_t a = pw_tui_endtoend_at(run, i), b = pw_tui_endtoend_at(run, i + 1);
        double x = run->nodes[a].isolated, y = run->nodes[b].isolated;

        if (isnan(x) ? !isnan(y) || a > b : !isnan(y) && (x < y || (x == y && a > b)))
            fail_msg("place %zu: node %zu with %g before node %zu with %g", i, a, x, b, y);
    }
    close_tui(tui);
}

/* The same nodes as run_graph's, as a recorded run: from `at` on, `count` of them. */
static void send_past(struct pw_tui *tui, size_t wrong, size_t at, size_t count)
{
    static struct pw_session_past_node past[NODES];
    static const struct pw_store_output_row outputs[2] = {
        {.name = "y", .reason = "", .held = true, .error = 1e-7, .tolerance = 1e-6},
        {.name = "z", .reason = "a draw", .held = false, .error = NAN, .tolerance = NAN}};
    struct pw_event event = {.kind = PW_EVENT_PAST,
                             .past = {.run = 12,
                                      .begin_ms = 1790000000000, /* 2026-09-21T14:13:20Z */
                                      .bindings = "batch=2",
                                      .first = at == 0,
                                      .last = at + count == NODES,
                                      .nodes = past,
                                      .count = count,
                                      .outputs = at ? NULL : outputs,
                                      .output_count = at ? 0 : 2}};

    for (size_t i = at; i < at + count; i++)
        past[i - at] = (struct pw_session_past_node){
            .node = &many[i],
            .pattern = -1,
            .standing = i < wrong    ? PW_NODE_HELD
                        : i == wrong ? PW_NODE_CULPRIT
                                     : PW_NODE_VICTIM,
            .on_target = i % 10 != 0,
            .time_ns = (int64_t)(1000 * (i * 7919 % 1009 + 1)),
            .isolated = i == wrong ? 0.5
                        : i == 321 ? 9e-7
                                   : 1e-8,
            .propagated = i < wrong ? 0 : 1.0 / (double)(i + 1 - wrong),
            .tolerance = 1e-6,
            .implementation = i % 2 ? "one" : "two",
            .text = i == wrong ? "far off, and in so many words that they do not fit on one line of a terminal" : ""};
    event.endtoend = (struct pw_endtoend_totals){
        .nodes = NODES, .held = wrong >= NODES, .first_divergence = wrong < NODES ? &many[wrong] : NULL};
    send(tui, &event);
}

/* Memory was short while a recorded run was read: the screen says so, and does not go on waiting. */
static void test_recorded_run_half_read(void **state)
{
    struct pw_event answer = {.kind = PW_EVENT_ANSWER, .ask = PW_ASK_NODES, .failed = true};
    struct pw_tui *tui = open_tui(60, 130);

    (void)state;
    snprintf(answer.error.message, sizeof answer.error.message, "out of memory (7 bytes wanted)");
    device_opens(tui);
    press(tui, "5");
    send_past(tui, 400, 0, 200);
    shows(tui, "reading its nodes");
    send(tui, &answer);
    press(tui, "k"); /* the message at the foot goes */
    hides(tui, "reading its nodes");
    shows(tui, "only 200 of its nodes could be read: out of memory (7 bytes wanted)");
    run_graph(tui, 400);
    hides(tui, "could be read");
    close_tui(tui);

    tui = open_tui(60, 130); /* before any of them came */
    device_opens(tui);
    press(tui, "5");
    send(tui, &answer);
    press(tui, "k");
    hides(tui, "has not run yet");
    shows(tui, "could not be read: out of memory (7 bytes wanted)");
    close_tui(tui);
}

/* A recorded run looks as it did when it ran, says which it is, and gives way to a run of this session. */
static void test_recorded_run(void **state)
{
    struct pw_tui *tui = open_tui(60, 130);
    struct pw_event started = {
        .kind = PW_EVENT_STARTED, .whole_graph = true, .mode = PW_ENDTOEND_NODES, .total = NODES};
    const char *list, *ran;
    char *kept;

    (void)state;
    device_opens(tui);
    press(tui, "5");
    run_graph(tui, 400);
    press(tui, "df");
    list = strstr(screen_of(tui), "its own");
    assert_non_null(list);
    ran = kept = strdup(list);
    close_tui(tui);

    tui = open_tui(60, 130);
    device_opens(tui);
    press(tui, "5");
    send_past(tui, 400, 0, 200);
    shows(tui, "run 12 of 2026-09-21 14:13, batch=2; r runs it again");
    shows(tui, "reading its nodes");
    send_past(tui, 400, 200, 300);
    hides(tui, "reading its nodes");
    shows(tui, "y: error 1.00e-07, tolerance 1.00e-06");
    shows(tui, "z: a draw");
    shows(tui, "does not hold: 500 nodes");
    press(tui, "df");
    list = strstr(screen_of(tui), "its own");
    assert_non_null(list);
    for (int row = 0; row < 30; row++) {  /* it stands lower, below the outputs */
        if (strncmp(list, ran, 100) != 0) /* at the right edge is where it is scrolled to */
            fail_msg("it ran as\n%s\nand is recorded as\n%s", ran, list);
        list = strchr(list, '\n') + 1;
        ran = strchr(ran, '\n') + 1;
    }
    free(kept);
    close_tui(tui);

    tui = open_tui(60, 130);
    device_opens(tui);
    press(tui, "5");
    send_past(tui, 400, 0, 200);
    send(tui, &started); /* meanwhile one begins */
    send_past(tui, 400, 200, 300);
    hides(tui, "run 12 of");
    assert_int_equal(tui->at->endtoend.node_count, 0);
    run_graph(tui, 400);
    send_past(tui, 400, 0, 500); /* comes too late */
    hides(tui, "run 12 of");
    assert_int_equal(tui->at->endtoend.node_count, NODES);
    close_tui(tui);
}

/* Why a run did not even begin is said where it was asked for, also when the message at the foot is gone. */
static void test_never_began(void **state)
{
    struct pw_event doing = {
        .kind = PW_EVENT_DOING, .job = 1, .text = "drawing 1 input", .whole_graph = true, .mode = PW_ENDTOEND_NODES};
    struct pw_event over = {
        .kind = PW_EVENT_FINISHED, .job = 1, .whole_graph = true, .mode = PW_ENDTOEND_NODES, .failed = true};

    (void)state;
    pw_error_set(&over.error, PW_ERR_USAGE, "input 'x' cannot be drawn (strings)");
    for (int recorded = 0; recorded < 2; recorded++) {
        struct pw_tui *tui = open_tui(60, 130);

        device_opens(tui);
        press(tui, "5");
        if (recorded)
            send_past(tui, 400, 0, NODES);
        send(tui, &doing);
        send(tui, &over);
        press(tui, "k");
        shows(tui, "\n run: input 'x' cannot be drawn (strings)");
        send(tui, &doing);
        hides(tui, "cannot be drawn");
        run_graph(tui, 400);
        hides(tui, "cannot be drawn");
        close_tui(tui);
    }
}

/* A sweep may end before it has begun to tell: what is shown is still the run before. */
static void test_end_without_begin(void **state)
{
    struct pw_event failed = {
        .kind = PW_EVENT_FINISHED, .whole_graph = true, .mode = PW_ENDTOEND_SWEEP, .failed = true};

    (void)state;
    pw_error_set(&failed.error, PW_ERR_CANCELLED, "cancelled");
    for (int recorded = 0; recorded < 2; recorded++) {
        struct pw_tui *tui = open_tui(60, 130);

        device_opens(tui);
        press(tui, "5");
        if (recorded)
            send_past(tui, 400, 0, NODES);
        else
            run_graph(tui, 400);
        shows(tui, "does not hold: 500 nodes");
        send(tui, &failed);
        shows(tui, "does not hold: 500 nodes");
        hides(tui, "reading its nodes");
        hides(tui, "not finished");
        close_tui(tui);
    }
}

static void test_timeline(void **state)
{
    struct pw_tui *tui = open_tui(40, 80);

    (void)state;
    device_opens(tui);
    press(tui, "5");
    run_graph(tui, 400);
    shows(tui, "Timeline");
    shows(tui, "%");                            /* time on the host */
    shows(tui, "wrong" FIFTY_BLANKS "   ^~~~"); /* node 400 of 500 is in column 400 * 66 / 500 = 52 */
    for (int columns = 1; columns < 320; columns += 3)
        for (int rows = 1; rows < 40; rows += 13) {
            pw_tui_resize(tui, rows, columns);
            screen_of(tui);
            canvas.ascii = !canvas.ascii;
        }
    close_tui(tui);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders),
                                       cmocka_unit_test(test_doing),
                                       cmocka_unit_test(test_many_outputs),
                                       cmocka_unit_test(test_many_recorded_outputs),
                                       cmocka_unit_test(test_long_names),
                                       cmocka_unit_test(test_jumps),
                                       cmocka_unit_test(test_selection),
                                       cmocka_unit_test(test_only_what_is_seen),
                                       cmocka_unit_test(test_timeline),
                                       cmocka_unit_test(test_finding),
                                       cmocka_unit_test(test_finding_in_parts),
                                       cmocka_unit_test(test_order_of_any_values),
                                       cmocka_unit_test(test_very_long_reason),
                                       cmocka_unit_test(test_recorded_run),
                                       cmocka_unit_test(test_recorded_run_half_read),
                                       cmocka_unit_test(test_end_without_begin),
                                       cmocka_unit_test(test_never_began),
                                       cmocka_unit_test(test_export_in_parts),
                                       cmocka_unit_test(test_export_of_the_inventory),
                                       cmocka_unit_test(test_export_while_rows_move)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
