/* A run of the whole graph with very many nodes: what the tests of the end-to-end screen and of lists share. */
#ifndef PW_TESTS_TUI_FAKE_RUN_H
#define PW_TESTS_TUI_FAKE_RUN_H

#include "fake.h"

#define NODES 500

static struct pw_node many[NODES];
static char names[NODES][16];

/* Node i takes (i * 7919) mod 1009 + 1 us; every tenth is on the host; from `wrong` on they do not hold. */
static void run_graph(struct pw_tui *tui, size_t wrong)
{
    struct pw_event started = {
        .kind = PW_EVENT_STARTED, .whole_graph = true, .mode = PW_ENDTOEND_NODES, .total = NODES};
    struct pw_event node = {.kind = PW_EVENT_NODE, .total = NODES};
    struct pw_event finished = {.kind = PW_EVENT_FINISHED, .whole_graph = true, .mode = PW_ENDTOEND_NODES};

    send(tui, &started);
    for (size_t i = 0; i < NODES; i++) {
        snprintf(names[i], sizeof names[i], "node%zu", i);
        many[i] = (struct pw_node){.name = names[i], .op_type = "Add", .index = i, .graph = &graph, .domain = ""};
        node.done = i + 1;
        node.node = (struct pw_endtoend_node){.node = &many[i],
                                              .pattern = -1,
                                              .standing = i < wrong    ? PW_NODE_HELD
                                                          : i == wrong ? PW_NODE_CULPRIT
                                                                       : PW_NODE_VICTIM,
                                              .on_target = i % 10 != 0,
                                              .time_ns = (int64_t)(1000 * (i * 7919 % 1009 + 1)),
                                              .implementation = i % 2 ? "one" : "two",
                                              .note = "",
                                              .reason = i == wrong ? "far off, and in so many words that they do not "
                                                                     "fit on one line of a terminal"
                                                                   : "",
                                              .has_isolated = true,
                                              .tolerance = 1e-6};
        node.node.isolated.max_error = i == wrong ? 0.5 : i == 321 ? 9e-7 : 1e-8;
        node.node.propagated.max_error = i < wrong ? 0 : 1.0 / (double)(i + 1 - wrong);
        send(tui, &node);
    }
    finished.endtoend = (struct pw_endtoend_totals){
        .nodes = NODES, .held = wrong >= NODES, .first_divergence = wrong < NODES ? &many[wrong] : NULL};
    send(tui, &finished);
    tui->flash[0] = '\0';
}

/* > points to the row that holds the text. */
__attribute__((unused)) static void points_to(struct pw_tui *tui, const char *text)
{
    const char *at = strstr(screen_of(tui), "\n>");
    const char *end = at ? strchr(at + 1, '\n') : NULL, *found = at ? strstr(at, text) : NULL;

    if (!found || found > end)
        fail_msg("> does not point to '%s':\n%s", text, screen_of(tui));
}

#endif
