/* Lists on screens of lines: the entry that > points to. */
#include "fake_run.h"

static void press_key(struct pw_tui *tui, uint32_t key)
{
    struct pw_input input = {.kind = PW_INPUT_KEY, .key = key};

    pw_tui_apply(tui, &input);
}

/* A node is chosen as the rows of other lists are, at any size, and stays chosen when that changes. */
static void test_cursor(void **state)
{
    static const struct {
        int rows, columns;
    } sizes[] = {{10, 40}, {14, 60}, {24, 80}, {40, 120}, {100, 300}};
    char last[32];
    struct pw_input wheel = {.kind = PW_INPUT_WHEEL, .steps = 1};

    (void)state;
    snprintf(last, sizeof last, "node%d", NODES - 1);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct pw_tui *tui = open_tui(sizes[k].rows, sizes[k].columns);
        int before;

        device_opens(tui);
        press(tui, "5");
        run_graph(tui, 400);
        screen_of(tui); /* from now on it is known which glyphs there are */
        press(tui, "/node100\n");
        points_to(tui, "node100");
        press(tui, "j");
        points_to(tui, "node101");
        press(tui, "kk");
        points_to(tui, "node99");
        press_key(tui, PW_KEY_PAGE_DOWN);
        before = (int)tui->at->endtoend.focus;
        assert_true(before > 99);
        screen_of(tui);
        press_key(tui, PW_KEY_PAGE_UP);
        points_to(tui, "node99");
        for (int i = 0; i < 20; i++)
            press(tui, "j");
        points_to(tui, "node119");
        pw_tui_resize(tui, 10, 40);
        points_to(tui, "node119");
        pw_tui_resize(tui, sizes[k].rows, sizes[k].columns);
        points_to(tui, "node119");
        pw_tui_apply(tui, &wheel); /* which moves what is seen, not what is chosen */
        assert_int_equal(tui->at->endtoend.focus, 119);
        press(tui, "/node40\n"); /* from there on */
        points_to(tui, "node400");
        press(tui, "N");
        points_to(tui, "node40");
        press(tui, "j");
        press(tui, "n"); /* from what is chosen */
        points_to(tui, "node400");
        press(tui, "jjn");
        points_to(tui, "node403");
        press(tui, "f");
        points_to(tui, "node400");
        press(tui, "j"); /* over the lines of its reason */
        points_to(tui, "node401");
        press(tui, ">"); /* the chosen one stays in sight */
        points_to(tui, "node401");
        press(tui, ">>>");
        points_to(tui, "node401");
        press(tui, "G");
        points_to(tui, last);
        press(tui, "g");
        assert_int_equal(tui->scroll[PW_SCREEN_ENDTOEND], 0);
        assert_int_equal(tui->at->endtoend.focus, 0);
        for (int i = 0; i < 60; i++) /* past what stands above the list */
            press(tui, "j");
        assert_true(tui->at->endtoend.focus > 10);
        press(tui, "\n");
        close_tui(tui);
    }
}

/* A click on a head of the list of nodes orders by it; C lists the nodes of the signature of the chosen one. */
static void test_heads_and_selection(void **state)
{
    static int of[NODES];
    struct pw_tui *tui = open_tui(30, 80);
    struct pw_input click = {.kind = PW_INPUT_CLICK};
    static const struct {
        int column;
        pw_node_order order;
    } heads[] = {{15, PW_NODES_BY_TIME},
                 {25, PW_NODES_BY_OWN},
                 {45, PW_NODES_BY_ARRIVED},
                 {36, PW_NODES_BY_ARRIVED},
                 {70, PW_NODES_IN_ORDER}};

    (void)state;
    for (int i = 0; i < NODES; i++)
        of[i] = i % 5 ? 0 : 1;
    inventory.node_signature = of;
    inventory.node_number_count = NODES;
    device_opens(tui);
    press(tui, "5");
    run_graph(tui, 400);
    screen_of(tui);
    click.row = tui->at->endtoend.list_line - tui->scroll[PW_SCREEN_ENDTOEND];
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) { /* under the tolerance nothing happens */
        click.column = heads[i].column;
        pw_tui_apply(tui, &click);
        assert_int_equal(tui->at->endtoend.sort, heads[i].order);
        assert_int_equal(tui->screen, PW_SCREEN_ENDTOEND);
    }
    press(tui, "/node100\n");
    press(tui, "C");
    assert_true(tui->at->endtoend.only[1] && !tui->at->endtoend.only[0]);
    points_to(tui, "node100");
    press(tui, "C");
    assert_null(tui->at->endtoend.only);
    points_to(tui, "node100"); /* also in the list of all */
    inventory.node_number_count = 0;
    close_tui(tui);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cursor), cmocka_unit_test(test_heads_and_selection)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
