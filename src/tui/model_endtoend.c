/* What a run of the whole graph reports, node by node, layer by layer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/endtoend.h"
#include "tui/tui.h"

#define OUTPUT_TEXT "%.60s: error %.2e, tolerance %.2e%s%.250s"

enum { NODES_MAX = 1 << 20, TEXT_MAX = 4000 };

void pw_tui_endtoend_clear(struct pw_tui_endtoend *run)
{
    pw_map_clear(&run->texts);
    pw_free(run->nodes);
    pw_free(run->begun_ns);
    pw_free(run->layers);
    pw_free(run->order);
    pw_free(run->lines.of);
    pw_free(run->lines.begin);
    *run = (struct pw_tui_endtoend){.only_divergent = run->only_divergent,
                                    .only = run->only,
                                    .only_count = run->only_count,
                                    .sort = run->sort,
                                    .focus = SIZE_MAX,
                                    .focus_line = -1,
                                    .list_line = -1};
}

/* Room for one more; false when memory is short or there are too many: the rest is not shown. */
static bool room(void **items, size_t *cap, size_t count, size_t size)
{
    size_t next = *cap ? 2 * *cap : 128;
    void *more;

    if (count < *cap)
        return true;
    more = next <= NODES_MAX ? pw_reallocarray(*items, next, size) : NULL;
    if (!more)
        return false;
    *items = more;
    *cap = next;
    return true;
}

/* The run's own copy of what is said of a node, NULL when nothing is or memory is short: of a very long text the begin,
 * so that lines can be counted. */
static const char *keep_text(struct pw_tui_endtoend *run, const char *text)
{
    size_t size = pw_text_cut(text, TEXT_MAX);

    return size ? pw_map_keep(&run->texts, text, size) : NULL;
}

/* One more node, behind the others in time; not when memory is short. */
static void add_node(struct pw_tui_endtoend *run, const struct pw_session_past_node *from)
{
    struct pw_error ignored = {0};

    if (PW_GROW(run->begun_ns, run->begun_cap, run->node_count / PW_TUI_BEGUN + 1, &ignored) != PW_OK ||
        !room((void **)&run->nodes, &run->node_cap, run->node_count, sizeof *run->nodes))
        return;
    if (run->node_count % PW_TUI_BEGUN == 0)
        run->begun_ns[run->node_count / PW_TUI_BEGUN] = run->elapsed_ns;
    run->nodes[run->node_count++] = (struct pw_tui_node){.node = from->node,
                                                         .pattern = from->pattern,
                                                         .standing = (uint8_t)from->standing,
                                                         .on_target = from->on_target,
                                                         .nonfinite_origin = from->nonfinite_origin,
                                                         .isolated = from->isolated,
                                                         .propagated = from->propagated,
                                                         .tolerance = from->tolerance,
                                                         .time_ns = from->time_ns,
                                                         .text = keep_text(run, from->text)};
    run->elapsed_ns += from->time_ns;
    run->most_ns = from->time_ns > run->most_ns ? from->time_ns : run->most_ns;
}

/* A node of a run that goes on, as one that is over has it. */
static void on_node(struct pw_tui_endtoend *run, const struct pw_endtoend_node *from)
{
    const struct pw_session_past_node node = {.node = from->node,
                                              .pattern = from->pattern,
                                              .standing = from->standing,
                                              .on_target = from->on_target,
                                              .nonfinite_origin = from->nonfinite_origin,
                                              .time_ns = from->time_ns,
                                              .isolated = from->has_isolated ? from->isolated.max_error : NAN,
                                              .tolerance = from->has_isolated ? from->tolerance : NAN,
                                              .propagated =
                                                  from->standing == PW_NODE_FAILED ? NAN : from->propagated.max_error,
                                              .text = from->reason[0] ? from->reason : from->note};

    add_node(run, &node);
}

/* Where it is listed; -1: there is no room. One that fails takes the place of the last that holds. */
static int place_of_output(struct pw_tui_endtoend *run, bool held)
{
    if (run->output_count < (int)(sizeof run->outputs / sizeof *run->outputs))
        return run->output_count++;
    run->outputs_hidden++;
    for (int at = run->output_count - 1; !held && at >= 0; at--)
        if (run->output_held[at])
            return at;
    return -1;
}

static void on_past_output(struct pw_tui_endtoend *run, const struct pw_store_output_row *from)
{
    int at = place_of_output(run, from->held);

    if (at < 0)
        return;
    if (isnan(from->error))
        snprintf(run->outputs[at], sizeof run->outputs[at], "%.60s: %.300s", from->name, from->reason);
    else
        snprintf(run->outputs[at], sizeof run->outputs[at], OUTPUT_TEXT, from->name, from->error, from->tolerance,
                 from->reason[0] ? "; " : "", from->reason);
    run->output_held[at] = from->held;
}

/* The newest recorded run, in parts. It gives way to a run of this session, also one that begins meanwhile. */
static void on_past(struct pw_tui_endtoend *run, const struct pw_event *event)
{
    const struct pw_session_past *past = &event->past;

    if (past->first && !run->known) {
        pw_tui_endtoend_clear(run);
        run->known = true;
        run->past_run = past->run;
        run->past_ms = past->begin_ms;
        snprintf(run->past_bindings, sizeof run->past_bindings, "%s", past->bindings);
        run->mode = PW_ENDTOEND_NODES;
        for (size_t i = 0; i < past->output_count; i++)
            on_past_output(run, &past->outputs[i]);
    }
    if (run->past_run != past->run || run->finished)
        return;
    for (size_t i = 0; i < past->count; i++)
        add_node(run, &past->nodes[i]);
    if (!past->last)
        return;
    run->finished = true;
    run->totals = event->endtoend;
    pw_tui_endtoend_sort(run, run->sort);
}

static void on_layer(struct pw_tui_endtoend *run, const struct pw_sweep_layer *from)
{
    struct pw_tui_layer layer = {.worst = from->worst};
    size_t at;

    if (!room((void **)&run->layers, &run->layer_cap, run->layer_count, sizeof *run->layers))
        return;
    snprintf(layer.name, sizeof layer.name, "%.95s", from->name);
    for (int d = 0; d < PW_SWEEP_DTYPES; d++) {
        layer.damage[d] = from->cells[d].ran ? from->cells[d].damage : NAN;
        layer.held[d] = from->cells[d].ran && from->cells[d].held;
    }
    for (at = run->layer_count; at > 0 && !(run->layers[at - 1].worst >= layer.worst); at--)
        run->layers[at] = run->layers[at - 1];
    run->layers[at] = layer;
    run->layer_count++;
}

static void on_output(struct pw_tui_endtoend *run, const struct pw_endtoend_output *from)
{
    int at = place_of_output(run, from->held);

    if (at < 0)
        return;
    if (from->compared)
        snprintf(run->outputs[at], sizeof run->outputs[at], OUTPUT_TEXT, from->name, from->golden.max_error,
                 from->tolerance, from->reason[0] ? "; " : "", from->reason);
    else
        snprintf(run->outputs[at], sizeof run->outputs[at], "%.60s: %.300s", from->name, from->reason);
    run->output_held[at] = from->held;
}

static void on_end(struct pw_tui_endtoend *run, const struct pw_event *event)
{
    bool cancelled = event->failed && event->error.status == PW_ERR_CANCELLED;
    const char *why = cancelled ? "cancelled" : event->failed ? event->error.message : "";

    if (!run->going) {
        run->refused[0] = '\0';
        if (event->failed && !cancelled)
            snprintf(run->refused, sizeof run->refused, "%s: %.255s",
                     event->mode == PW_ENDTOEND_SWEEP ? "sweep" : "run", why);
        return;
    }
    run->going = false;
    run->finished = !event->failed;
    run->totals = event->endtoend;
    snprintf(run->why, sizeof run->why, "%.255s", why);
    pw_tui_endtoend_sort(run, run->sort);
}

void pw_tui_endtoend_event(struct pw_tui *tui, const struct pw_event *event)
{
    struct pw_tui_endtoend *run = &tui->at->endtoend;

    switch (event->kind) {
    case PW_EVENT_STARTED:
        pw_tui_endtoend_clear(run);
        run->known = run->going = true;
        run->mode = event->mode;
        run->total = event->total;
        break;
    case PW_EVENT_NODE:
        on_node(run, &event->node);
        break;
    case PW_EVENT_PAST:
        on_past(run, event);
        break;
    case PW_EVENT_LAYER:
        on_layer(run, &event->layer);
        break;
    case PW_EVENT_OUTPUT:
        on_output(run, &event->output);
        break;
    case PW_EVENT_FINISHED:
        on_end(run, event);
        break;
    default:
        break;
    }
    if (event->kind == PW_EVENT_NODE || event->kind == PW_EVENT_LAYER) {
        run->done = tui->at->done = event->done;
        run->total = tui->at->total = event->total;
        snprintf(tui->at->running_text, sizeof tui->at->running_text, "%s",
                 event->kind == PW_EVENT_LAYER ? "a layer in narrower types" : "node by node, both sides in step");
    }
}
