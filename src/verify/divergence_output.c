/*
 * Outputs of the whole graph against golden and against given files. Each is compared as soon as no node reads it any
 * more, and its values go: a decoder has an output for each key and value that it keeps, which together may be most of
 * what lives. They are told of in their order when all nodes have run.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>

#include "run/eval_internal.h"
#include "run/liveness.h"
#include "verify/divergence.h"
#include "verify/sweep.h"

#define FAST_FACTOR 4.0 /* as for single nodes (divergence_judge.c) */

const struct pw_tolerance_rule *pw_endtoend_rule(const struct pw_protocol *protocol, const char *output)
{
    for (size_t i = protocol->tolerance_count; i-- > 0;) {
        const struct pw_rule_match *match = &protocol->tolerances[i].match;

        if (match->node && !match->op && !match->category && match->dtype == PW_DTYPE_UNDEFINED &&
            !fnmatch(match->node, output, 0))
            return &protocol->tolerances[i];
    }
    return NULL;
}

static const char *name_of(const struct pw_divergence *run, size_t output)
{
    const struct pw_graph *graph = run->main_graph;

    return graph->values[graph->outputs[output]].name;
}

/* An output's own tolerance: what a rule with its name says, else what the nodes before it allow together. */
static void set_tolerance(struct pw_divergence *run, struct pw_output_verdict *verdict,
                          const struct pw_tolerance_rule *rule, double allowed)
{
    const struct pw_protocol *protocol = run->request->protocol;

    verdict->tolerance = allowed;
    verdict->why = "the tolerances of the nodes on the longest way to it, summed";
    if (rule) {
        verdict->tolerance = rule->value;
        verdict->why =
            pw_arena_printf(&run->arena, "%s:%zu", protocol->path ? protocol->path : "protocol", rule->match.line);
        if (!verdict->why)
            verdict->why = "";
    }
}

static void say_held(struct pw_output_verdict *verdict, const struct pw_pair *pair, const struct pw_buf *why,
                     struct pw_arena *arena)
{
    const struct pw_comparison *c = &verdict->golden;
    struct pw_buf text = {0};

    if (why->size) {
        pw_buf_puts(&text, pw_buf_text(why));
    } else if (c->over > 0) {
        pw_buf_puts(&text, "element ");
        if (pair->ref.kind == PW_VALUE_TENSOR)
            pw_compare_coordinates(&pair->ref.tensor, c->worst, &text);
        pw_buf_printf(&text, ": got %.9g, golden %.9g, error %.3g; %" PRId64 " of %" PRId64 " elements over",
                      c->worst_got, c->worst_want, c->max_error, c->over, c->count);
    }
    verdict->held = !text.size;
    verdict->reason = text.size ? pw_arena_strndup(arena, pw_buf_text(&text), text.size) : "";
    if (!verdict->reason)
        verdict->reason = "";
    pw_buf_clear(&text);
}

/* The given file beside it: how far the target is from it, and how far golden. */
static pw_status compare_file(struct pw_divergence *run, struct pw_output_verdict *verdict, const struct pw_pair *pair,
                              const struct pw_value *wanted, struct pw_error *err)
{
    struct pw_value carried = {0}, rounded = {0};
    struct pw_buf why = {0};
    pw_status status;

    if (wanted->kind == PW_VALUE_NONE)
        return PW_OK;
    verdict->file = pw_arena_alloc(&run->arena, 2, sizeof *verdict->file);
    if (!verdict->file)
        return pw_error_memory(err, 2 * sizeof *verdict->file);
    status = pw_eval_carry(&carried, wanted, PW_EVAL_GOLDEN, err);
    if (status == PW_OK)
        status = pw_divergence_compare(&pair->got, &carried, verdict->tolerance, &verdict->file[0], &why, err);
    if (status == PW_OK)
        status = pw_eval_round(&rounded, &pair->ref, err);
    if (status == PW_OK)
        status = pw_divergence_compare(&rounded, &carried, verdict->tolerance, &verdict->file[1], &why, err);
    pw_buf_clear(&why);
    pw_value_clear(&carried);
    pw_value_clear(&rounded);
    return status;
}

/* A graph may be ill-conditioned as a whole: where no rule sets the tolerance, an output that is over what the nodes
 * allow is measured against the fast reference's own end-to-end error. *fast is run once, when first asked for. */
static pw_status excuse(struct pw_divergence *run, size_t output, struct pw_output_verdict *verdict,
                        const struct pw_pair *pair, struct pw_value **fast, struct pw_error *err)
{
    const struct pw_endtoend_request *request = run->request;
    struct pw_eval_options options = {.mode = PW_EVAL_FAST, .seed = request->seed};
    struct pw_comparison comparison;
    struct pw_buf why = {0};
    pw_status status = PW_OK;

    if (!*fast) {
        *fast = pw_calloc(run->main_graph->output_count + 1, sizeof **fast);
        if (!*fast)
            return pw_error_memory(err, run->main_graph->output_count * sizeof **fast);
        status = pw_eval_graph(run->main_graph, request->inputs, request->input_count, &options, *fast, err);
    }
    if (status == PW_OK)
        status = pw_divergence_compare(&(*fast)[output], &pair->ref, 0, &comparison, &why, err);
    if (status == PW_OK && !comparison.mismatches && verdict->golden.max_error <= FAST_FACTOR * comparison.max_error) {
        verdict->tolerance = FAST_FACTOR * comparison.max_error;
        verdict->why = "four times what the float32 reference loses end to end: the graph is ill-conditioned here";
        verdict->golden.over = 0;
    }
    pw_buf_clear(&why);
    return status;
}

/* Judges an output. fast NULL: while nodes run, when one that may be excused is left for the end. */
static pw_status judge(struct pw_divergence *run, size_t output, const struct pw_pair *pair, struct pw_value **fast,
                       struct pw_error *err)
{
    const struct pw_endtoend_request *request = run->request;
    const struct pw_tolerance_rule *rule = pw_endtoend_rule(request->protocol, name_of(run, output));
    struct pw_output_verdict made = {.tolerance = 0}, *kept;
    struct pw_buf why = {0};
    bool over;
    pw_status status;

    set_tolerance(run, &made, rule, pair->from.allowed);
    status = pw_divergence_compare(&pair->got, &pair->ref, made.tolerance, &made.golden, &why, err);
    made.compared = !why.size && !pair->from.drawn;
    over = made.golden.over > 0 && !why.size && !made.golden.mismatches && !rule;
    if (status != PW_OK || (over && !fast))
        goto done;
    if (over)
        status = excuse(run, output, &made, pair, fast, err);
    if (status == PW_OK)
        say_held(&made, pair, &why, &run->arena);
    if (status == PW_OK && request->wanted)
        status = compare_file(run, &made, pair, &request->wanted[output], err);
    if (status != PW_OK)
        goto done;
    kept = pw_arena_alloc(&run->arena, 1, sizeof *kept);
    if (kept)
        *kept = made;
    else
        status = pw_error_memory(err, sizeof *kept);
    run->verdicts[output] = kept;
done:
    pw_buf_clear(&why);
    return status;
}

/* ---- while nodes run ---- */

static int by_node(const void *a, const void *b)
{
    const struct pw_output_due *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->output < y->output ? -1 : x->output > y->output;
}

pw_status pw_divergence_outputs_plan(struct pw_divergence *run, const size_t *last_use, struct pw_error *err)
{
    const struct pw_graph *graph = run->main_graph;

    run->verdicts = pw_arena_alloc(&run->arena, graph->output_count + 1, sizeof *run->verdicts);
    run->due = pw_arena_alloc(&run->arena, graph->output_count + 1, sizeof *run->due);
    if (!run->verdicts || !run->due)
        return pw_error_memory(err, graph->output_count * sizeof *run->due);
    for (size_t o = 0; o < graph->output_count; o++) {
        pw_value_id id = graph->outputs[o];
        const struct pw_node *producer = graph->values[id].producer;

        if (!producer || producer->graph != graph)
            continue;
        run->due[run->due_count++] = (struct pw_output_due){
            .node = last_use[id] == PW_LIVENESS_NEVER ? (size_t)(producer - graph->nodes) : last_use[id], .output = o};
    }
    if (run->due_count)
        qsort(run->due, run->due_count, sizeof *run->due, by_node);
    return PW_OK;
}

pw_status pw_divergence_outputs_due(struct pw_pair_frame *frame, size_t node, struct pw_error *err)
{
    struct pw_divergence *run = frame->run;
    size_t first = run->due_next;
    pw_status status = PW_OK;

    for (; run->due_next < run->due_count && run->due[run->due_next].node == node && status == PW_OK; run->due_next++) {
        size_t output = run->due[run->due_next].output;
        struct pw_pair *pair = NULL;

        status = pw_pair_read(frame, frame->graph->outputs[output], &pair, err);
        if (status == PW_OK)
            status = judge(run, output, pair, NULL, err);
    }
    for (size_t i = first; i < run->due_next && status == PW_OK && !run->keep_outputs; i++) /* twice the same perhaps */
        if (run->verdicts[run->due[i].output])
            pw_pair_drop_output(frame, frame->graph->outputs[run->due[i].output]);
    return status;
}

/* ---- when all have run ---- */

static void emit(const struct pw_divergence *run, size_t o)
{
    const struct pw_endtoend_request *request = run->request;
    const struct pw_output_verdict *verdict = run->verdicts[o];
    struct pw_endtoend_output output = {.output = o,
                                        .name = name_of(run, o),
                                        .compared = verdict->compared,
                                        .golden = verdict->golden,
                                        .has_file = verdict->file != NULL,
                                        .tolerance = verdict->tolerance,
                                        .why = verdict->why,
                                        .held = verdict->held,
                                        .reason = verdict->reason};
    struct pw_endtoend_event event = {.kind = PW_ENDTOEND_OUTPUT, .output = &output};

    if (verdict->file) {
        output.file = verdict->file[0];
        output.file_golden = verdict->file[1];
    }
    if (request->emit)
        request->emit(request->user, &event);
}

pw_status pw_divergence_outputs_end(struct pw_divergence *run, const struct pw_pair *pairs, struct pw_error *err)
{
    const struct pw_graph *graph = run->main_graph;
    struct pw_value *fast = NULL;
    pw_status status = PW_OK;

    for (size_t o = 0; o < graph->output_count && status == PW_OK; o++) {
        if (!run->verdicts[o])
            status = judge(run, o, &pairs[o], &fast, err);
        if (status != PW_OK)
            break;
        run->totals->outputs++;
        run->totals->outputs_failed += !run->verdicts[o]->held;
        emit(run, o);
    }
    for (size_t o = 0; fast && o < graph->output_count; o++)
        pw_value_clear(&fast[o]);
    pw_free(fast);
    return status;
}
