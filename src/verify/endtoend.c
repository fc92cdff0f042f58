/* One end-to-end run: both sides in step, outputs against golden and given files, timed runs afterwards. */
#include "verify/endtoend.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "run/eval_internal.h"
#include "verify/divergence.h"
#include "verify/sweep.h"

/* ---- totals ---- */

static void first_of(const struct pw_endtoend_node *row, bool is, size_t *best, const struct pw_node **out)
{
    if (!is || row->position >= *best)
        return;
    *best = row->position;
    *out = row->node;
}

/* A pattern counts as a culprit, or failed, of its own only when none of its nodes is. */
static bool is_own(const struct pw_divergence *run, size_t pattern, pw_node_standing standing)
{
    const struct pw_inventory *inventory = run->request->inventory;

    if (!run->unit_rows[pattern] || run->unit_rows[pattern]->standing != standing)
        return false;
    for (size_t i = 0; i < inventory->node_number_count; i++)
        if (run->unit_of[i] == (int)pattern && run->rows[i] && run->rows[i]->standing == standing)
            return false;
    return true;
}

static void count_rows(struct pw_divergence *run)
{
    const struct pw_inventory *inventory = run->request->inventory;
    struct pw_endtoend_totals *totals = run->totals;
    size_t divergence = SIZE_MAX, nonfinite = SIZE_MAX, nan = SIZE_MAX;

    for (size_t i = 0; i < inventory->node_number_count; i++) {
        const struct pw_endtoend_node *row = run->rows[i];

        if (!row)
            continue;
        totals->culprits += row->standing == PW_NODE_CULPRIT;
        totals->victims += row->standing == PW_NODE_VICTIM;
        totals->drifts += row->standing == PW_NODE_DRIFT;
        totals->failed += row->standing == PW_NODE_FAILED;
        first_of(row, row->standing != PW_NODE_HELD && row->standing != PW_NODE_DRAWN, &divergence,
                 &totals->first_divergence);
        first_of(row, row->nonfinite_origin, &nonfinite, &totals->nonfinite_origin);
        first_of(row, row->reference_nan, &nan, &totals->reference_nan);
    }
    for (size_t i = 0; i < inventory->pattern_count; i++) {
        totals->culprits += is_own(run, i, PW_NODE_CULPRIT);
        totals->failed += is_own(run, i, PW_NODE_FAILED);
    }
    totals->target_nodes = run->target.target_nodes;
    totals->host_nodes = run->target.host_nodes;
    totals->cast_nodes = run->target.cast_nodes;
}

/* ---- timed runs ---- */

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static int64_t median(int64_t *samples, int count)
{
    qsort(samples, (size_t)count, sizeof *samples, by_time);
    return count % 2 ? samples[count / 2] : (samples[count / 2 - 1] + samples[count / 2]) / 2;
}

static pw_status time_one(const struct pw_endtoend_request *request, const struct pw_eval_options *options,
                          int64_t *elapsed_ns, struct pw_error *err)
{
    const struct pw_graph *graph = request->inventory->model->graph;
    struct pw_value *results = pw_calloc(graph->output_count + 1, sizeof *results);
    int64_t begin = pw_clock_ns();
    pw_status status;

    if (!results)
        return pw_error_memory(err, graph->output_count * sizeof *results);
    status = pw_eval_graph(graph, request->inputs, request->input_count, options, results, err);
    *elapsed_ns = pw_clock_ns() - begin;
    for (size_t o = 0; o < graph->output_count && status == PW_OK; o++)
        pw_value_clear(&results[o]);
    pw_free(results);
    return status;
}

/* Target and fast reference in turns. A target that fails here has been reported by the compared run: no times. */
static pw_status time_runs(struct pw_divergence *run, struct pw_error *err)
{
    const struct pw_endtoend_request *request = run->request;
    struct pw_target_eval target = run->target;
    struct pw_eval_options on_target = {
        .mode = PW_EVAL_GOLDEN, .seed = request->seed, .backend = pw_target_eval_node, .user = &target};
    struct pw_eval_options on_reference = {.mode = PW_EVAL_FAST, .seed = request->seed};
    int64_t *samples = pw_calloc((size_t)request->timed_runs * 2 + 2, sizeof *samples);
    struct pw_error failure = {0};
    int count = 0;
    pw_status status = PW_OK;

    if (!samples)
        return pw_error_memory(err, (size_t)request->timed_runs * sizeof *samples);
    for (int i = 0; i < request->timed_runs && status == PW_OK; i++) {
        target.draws = 0;
        status = time_one(request, &on_target, &samples[count], &failure);
        if (status == PW_OK)
            status = time_one(request, &on_reference, &samples[request->timed_runs + count], &failure);
        count += status == PW_OK;
    }
    if (count) {
        run->totals->timed_runs = count;
        run->totals->target_ns = median(samples, count);
        run->totals->reference_ns = median(samples + request->timed_runs, count);
    }
    pw_free(samples);
    if (status == PW_ERR_NO_MEMORY || status == PW_ERR_CANCELLED)
        return pw_error_set(err, status, "%s", failure.message);
    return PW_OK;
}

/* ---- the run ---- */

/* Inputs as pairs by position of the graph's inputs; the pairs only look at the request's values. */
static pw_status make_args(const struct pw_endtoend_request *request, struct pw_pair *args, struct pw_error *err)
{
    const struct pw_graph *graph = request->inventory->model->graph;
    size_t next = 0;
    pw_status status = PW_OK;

    for (size_t i = 0; i < graph->input_count && status == PW_OK; i++) {
        const struct pw_graph_value *value = &graph->values[graph->inputs[i]];

        if (value->initializer || value->sparse)
            continue;
        status = pw_value_view(&args[i].got, &request->inputs[next], err);
        if (status == PW_OK && args[i].got.kind != PW_VALUE_NONE)
            status = pw_eval_carry(&args[i].ref, &args[i].got, PW_EVAL_GOLDEN, err);
        args[i].exact = true;
        next++;
    }
    return status;
}

static void emit_simple(const struct pw_endtoend_request *request, pw_endtoend_event_kind kind, size_t total)
{
    struct pw_endtoend_event event = {.kind = kind, .total = total};

    if (request->emit)
        request->emit(request->user, &event);
}

static pw_status run_compared(struct pw_divergence *run, struct pw_value *results, struct pw_error *err)
{
    const struct pw_graph *graph = run->main_graph;
    struct pw_pair *args = pw_calloc(graph->input_count + 1, sizeof *args);
    struct pw_pair *pairs = pw_calloc(graph->output_count + 1, sizeof *pairs);
    pw_status status = args && pairs ? PW_OK : pw_error_memory(err, graph->input_count * sizeof *args);

    if (status == PW_OK)
        status = make_args(run->request, args, err);
    if (status == PW_OK) {
        emit_simple(run->request, PW_ENDTOEND_STARTED, graph->node_count);
        status = pw_divergence_graph(run, NULL, graph, &args, graph->input_count, pairs, err);
    }
    if (status == PW_OK) {
        count_rows(run);
        status = pw_divergence_outputs_end(run, pairs, err);
    }
    for (size_t o = 0; results && o < graph->output_count && status == PW_OK; o++) {
        results[o] = pairs[o].got;
        pairs[o].got = (struct pw_value){0};
    }
    for (size_t i = 0; args && i < graph->input_count; i++)
        pw_pair_clear(&args[i]);
    for (size_t o = 0; pairs && o < graph->output_count; o++)
        if (pairs[o].ref.kind != PW_VALUE_NONE || pairs[o].got.kind != PW_VALUE_NONE)
            pw_pair_clear(&pairs[o]); /* writing the others would give them memory */
    pw_free(args);
    pw_free(pairs);
    return status;
}

static pw_status check_request(const struct pw_endtoend_request *request, struct pw_error *err)
{
    const struct pw_graph *graph = request->inventory->model->graph;
    struct pw_dims *dims = NULL;
    pw_status status = pw_dims_create(&dims, err);

    if (status == PW_OK)
        status = pw_eval_check_inputs(graph, request->inputs, request->input_count, dims, err);
    pw_dims_destroy(dims);
    return status;
}

pw_status pw_endtoend_run(const struct pw_endtoend_request *request, struct pw_value *results,
                          struct pw_endtoend_totals *totals, struct pw_error *err)
{
    struct pw_divergence run = {0};
    pw_status status;

    memset(totals, 0, sizeof *totals);
    status = check_request(request, err);
    if (status == PW_OK && request->mode == PW_ENDTOEND_SWEEP)
        return pw_sweep_run(request, totals, err);
    if (status == PW_OK)
        status = pw_divergence_init(&run, request, totals, err);
    run.keep_outputs = results != NULL;
    if (status == PW_OK)
        status = run_compared(&run, results, err);
    if (status == PW_OK && request->timed_runs > 0)
        status = time_runs(&run, err);
    totals->held = !totals->outputs_failed && !totals->culprits && !totals->failed && totals->outputs > 0;
    if (status == PW_OK)
        emit_simple(request, PW_ENDTOEND_FINISHED, 0);
    pw_divergence_clear(&run);
    return status;
}
