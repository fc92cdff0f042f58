/*
 * Scan: body(state…, element…) -> state…, scan…
 *
 * From version 9 on the scanned axes are attributes and there is no batch. Version 8 has batch at axis 0 and
 * the sequence at axis 1, and optional sequence lengths: it is the later Scan once a batch element.
 */
#include <inttypes.h>
#include <string.h>

#include "control.h"

struct scan {
    const struct pw_graph *body;
    int first; /* input of the first state */
    size_t states, elements, scans;
    const int64_t *axes, *directions, *out_axes, *out_directions; /* NULL: all 0 */
};

/* An attribute with one entry for each of `count` values. */
static pw_status read_list(const struct pw_call *call, const char *name, size_t count, bool direction,
                           const int64_t **out, struct pw_error *err)
{
    size_t found = 0;
    const int64_t *list = pw_call_ints(call, name, &found);

    *out = found > 0 ? list : NULL;
    if (found > 0 && found != count)
        return pw_call_error(call, err, "attribute '%s' has %zu entries, expected %zu", name, found, count);
    for (size_t i = 0; direction && i < found; i++) {
        if (list[i] != 0 && list[i] != 1)
            return pw_call_error(call, err, "attribute '%s' must hold 0 and 1, found %" PRId64, name, list[i]);
    }
    return PW_OK;
}

static pw_status read_scan(const struct pw_call *call, bool version_8, struct scan *scan, struct pw_error *err)
{
    int64_t elements = pw_call_int(call, "num_scan_inputs");
    int64_t values = call->input_count - (version_8 ? 1 : 0);
    pw_status status = pw_control_graph(call, "body", &scan->body, err);

    if (status != PW_OK)
        return status;
    if (elements < 1 || elements > values)
        return pw_call_error(call, err, "attribute 'num_scan_inputs' is %" PRId64 " with %" PRId64 " inputs", elements,
                             values);
    scan->first = version_8 ? 1 : 0;
    scan->elements = (size_t)elements;
    scan->states = (size_t)(values - elements);
    if (scan->body->input_count != (size_t)values)
        return pw_call_error(call, err, "the body has %zu inputs, expected %" PRId64, scan->body->input_count, values);
    if (scan->body->output_count < scan->states)
        return pw_call_error(call, err, "the body has %zu outputs, expected at least %zu", scan->body->output_count,
                             scan->states);
    if ((size_t)call->output_count > scan->body->output_count)
        return pw_call_error(call, err, "%d outputs, but the body yields %zu", call->output_count,
                             scan->body->output_count);
    scan->scans = scan->body->output_count - scan->states;
    if (version_8)
        return read_list(call, "directions", scan->elements, true, &scan->directions, err);
    status = read_list(call, "scan_input_axes", scan->elements, false, &scan->axes, err);
    if (status == PW_OK)
        status = read_list(call, "scan_input_directions", scan->elements, true, &scan->directions, err);
    if (status == PW_OK)
        status = read_list(call, "scan_output_axes", scan->scans, false, &scan->out_axes, err);
    if (status == PW_OK)
        status = read_list(call, "scan_output_directions", scan->scans, true, &scan->out_directions, err);
    return status;
}

/* ---- inference ---- */

/* Takes a dim out of info; *size keeps the better known of itself and that dim. */
static pw_status remove_dim(const struct pw_call *call, struct pw_info *info, int64_t axis, pw_dim *size,
                            struct pw_error *err)
{
    int at = 0;
    pw_dim dim;
    pw_status status;

    if (info->rank < 0)
        return PW_OK;
    status = pw_call_axis(call, axis, info->rank, &at, err);
    if (status != PW_OK)
        return status;
    dim = info->dims[at];
    if (*size >= 0 && dim >= 0 && *size != dim)
        return pw_call_error(call, err, "scanned axes of %" PRId64 " and %" PRId64 " elements", *size, dim);
    if (*size == PW_DIM_UNKNOWN || dim >= 0)
        *size = dim;
    info->rank--;
    memmove(info->dims + at, info->dims + at + 1, (size_t)(info->rank - at) * sizeof *info->dims);
    return PW_OK;
}

static pw_status bind_values(struct pw_call *call, const struct scan *scan, bool version_8, struct pw_info *args,
                             pw_dim *batch, pw_dim *length, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (size_t i = 0; i < scan->states + scan->elements && status == PW_OK; i++) {
        bool element = i >= scan->states;

        args[i] = pw_control_forget(call->in[(size_t)scan->first + i]);
        if (version_8)
            status = remove_dim(call, &args[i], 0, batch, err);
        if (element && status == PW_OK)
            status = remove_dim(call, &args[i], scan->axes != NULL ? scan->axes[i - scan->states] : 0, length, err);
    }
    if (*batch == PW_DIM_UNKNOWN)
        *batch = pw_dims_fresh(call->dims, "batch");
    if (*length == PW_DIM_UNKNOWN)
        *length = pw_dims_fresh(call->dims, "length");
    return status;
}

static pw_status infer_scan(struct pw_call *call, bool version_8, struct pw_error *err)
{
    struct scan scan = {.body = NULL};
    struct pw_info *args = NULL, *results = NULL;
    pw_dim batch = PW_DIM_UNKNOWN, length = PW_DIM_UNKNOWN;
    size_t count;
    pw_status status = read_scan(call, version_8, &scan, err);

    if (status != PW_OK || call->infer_graph == NULL)
        return status;
    count = scan.states + scan.elements;
    args = pw_arena_alloc(call->arena, count + 1, sizeof *args);
    results = pw_arena_alloc(call->arena, scan.body->output_count + 1, sizeof *results);
    if (args == NULL || results == NULL)
        return pw_error_memory(err, count * sizeof *args);
    status = bind_values(call, &scan, version_8, args, &batch, &length, err);
    if (status == PW_OK)
        status = call->infer_graph(call, scan.body, args, count, results, err);
    for (int i = 0; i < call->output_count && status == PW_OK; i++) {
        size_t k = (size_t)i - scan.states;

        call->out[i] = pw_control_forget(&results[i]);
        if ((size_t)i < scan.states) { /* states keep their shape, so both sides tell about it */
            if (call->out[i].rank < 0)
                call->out[i] = args[i];
        } else {
            status =
                pw_control_insert_dim(call, &call->out[i], scan.out_axes != NULL ? scan.out_axes[k] : 0, length, err);
        }
        if (version_8 && status == PW_OK)
            status = pw_control_insert_dim(call, &call->out[i], 0, batch, err);
    }
    return status;
}

pw_status pw_scan_infer(struct pw_call *call, struct pw_error *err)
{
    return infer_scan(call, false, err);
}

pw_status pw_scan_8_infer(struct pw_call *call, struct pw_error *err)
{
    return infer_scan(call, true, err);
}

/* ---- running ---- */

struct scan_run {
    struct scan scan;
    struct pw_value *args;    /* states, elements */
    struct pw_value *results; /* of the body */
    struct pw_control_list *scans;
    const struct pw_tensor **inputs; /* scanned tensors */
    int *axes;
};

static pw_status start_scan(struct pw_eval *ev, struct scan_run *run, struct pw_error *err)
{
    const struct scan *scan = &run->scan;

    run->args = pw_calloc(scan->states + scan->elements, sizeof *run->args);
    run->results = pw_calloc(scan->body->output_count, sizeof *run->results);
    run->scans = pw_calloc(scan->scans, sizeof *run->scans);
    run->inputs = pw_calloc(scan->elements, sizeof *run->inputs);
    run->axes = pw_calloc(scan->elements, sizeof *run->axes);
    if (run->args == NULL || run->results == NULL || run->scans == NULL || run->inputs == NULL || run->axes == NULL)
        return pw_error_memory(err, scan->elements * sizeof *run->args);
    for (size_t i = 0; i < scan->states + scan->elements; i++) {
        if (pw_eval_in(ev, scan->first + (int)i) == NULL)
            return pw_call_error(ev->call, err, "input %zu is no tensor", (size_t)scan->first + i);
    }
    return PW_OK;
}

static void end_scan(struct scan_run *run)
{
    const struct scan *scan = &run->scan;

    for (size_t i = 0; run->args != NULL && i < scan->states + scan->elements; i++)
        pw_value_clear(&run->args[i]);
    for (size_t i = 0; run->results != NULL && i < scan->body->output_count; i++)
        pw_value_clear(&run->results[i]);
    for (size_t k = 0; run->scans != NULL && k < scan->scans; k++)
        pw_control_list_clear(&run->scans[k]);
    pw_free(run->args);
    pw_free(run->results);
    pw_free(run->scans);
    pw_free(run->inputs);
    pw_free(run->axes);
}

static pw_status scan_step(struct pw_eval *ev, struct scan_run *run, int64_t step, int64_t length, struct pw_error *err)
{
    const struct scan *scan = &run->scan;
    pw_status status = PW_OK;

    for (size_t i = 0; i < scan->elements && status == PW_OK; i++) {
        bool backward = scan->directions != NULL && scan->directions[i] != 0;

        pw_value_clear(&run->args[scan->states + i]);
        status = pw_control_slice(run->inputs[i], run->axes[i], backward ? length - 1 - step : step,
                                  &run->args[scan->states + i], err);
    }
    if (status == PW_OK)
        status = ev->run_graph(ev, scan->body, run->args, scan->states + scan->elements, run->results, err);
    for (size_t i = 0; i < scan->states && status == PW_OK; i++) {
        pw_value_clear(&run->args[i]);
        run->args[i] = run->results[i];
        run->results[i] = (struct pw_value){0};
    }
    for (size_t k = 0; k < scan->scans && status == PW_OK; k++)
        status = pw_control_list_add(ev->call, &run->scans[k], &run->results[scan->states + k], err);
    for (size_t i = 0; i < scan->body->output_count; i++)
        pw_value_clear(&run->results[i]);
    return status;
}

/* All scanned axes must be equally long. */
static pw_status scan_length(struct pw_eval *ev, struct scan_run *run, int64_t *length, struct pw_error *err)
{
    for (size_t i = 0; i < run->scan.elements; i++) {
        int64_t found = run->inputs[i]->dims[run->axes[i]];

        if (i > 0 && found != *length)
            return pw_call_error(ev->call, err, "scanned axes of %" PRId64 " and %" PRId64 " elements", *length, found);
        *length = found;
    }
    return PW_OK;
}

pw_status pw_scan_run(struct pw_eval *ev, struct pw_error *err)
{
    struct scan_run run = {.args = NULL};
    const struct scan *scan = &run.scan;
    int64_t length = 0;
    pw_status status = read_scan(ev->call, false, &run.scan, err);

    if (status == PW_OK)
        status = start_scan(ev, &run, err);
    for (size_t i = 0; i < scan->states && status == PW_OK; i++)
        status = pw_value_view(&run.args[i], ev->in[i], err);
    for (size_t i = 0; i < scan->elements && status == PW_OK; i++) {
        run.inputs[i] = pw_eval_in(ev, (int)(scan->states + i));
        status = pw_call_axis(ev->call, scan->axes != NULL ? scan->axes[i] : 0, run.inputs[i]->rank, &run.axes[i], err);
    }
    if (status == PW_OK)
        status = scan_length(ev, &run, &length, err);
    for (int64_t t = 0; t < length && status == PW_OK; t++)
        status = scan_step(ev, &run, t, length, err);
    for (int i = 0; i < ev->output_count && status == PW_OK; i++) {
        size_t k = (size_t)i - scan->states;

        if ((size_t)i < scan->states)
            status = pw_value_copy(&ev->out[i], &run.args[i], err);
        else
            status = pw_control_stack(ev, i, &run.scans[k], scan->body, (size_t)i,
                                      scan->out_axes != NULL ? scan->out_axes[k] : 0,
                                      scan->out_directions != NULL && scan->out_directions[k] != 0, length, err);
    }
    end_scan(&run);
    return status;
}

/* ---- version 8 ---- */

/* Runs one batch element; appends its final states and padded scan outputs to `batches`. */
static pw_status scan_batch_element(struct pw_eval *ev, struct scan_run *run, int64_t batch, int64_t steps,
                                    int64_t length, struct pw_control_list *batches, struct pw_error *err)
{
    const struct scan *scan = &run->scan;
    struct pw_value *elements = pw_calloc(scan->elements, sizeof *elements);
    pw_status status = PW_OK;

    if (elements == NULL)
        return pw_error_memory(err, scan->elements * sizeof *elements);
    for (size_t i = 0; i < scan->states && status == PW_OK; i++) {
        pw_value_clear(&run->args[i]);
        status = pw_control_slice(pw_eval_in(ev, scan->first + (int)i), 0, batch, &run->args[i], err);
    }
    for (size_t i = 0; i < scan->elements && status == PW_OK; i++) {
        status = pw_control_slice(pw_eval_in(ev, scan->first + (int)(scan->states + i)), 0, batch, &elements[i], err);
        run->inputs[i] = &elements[i].tensor;
        run->axes[i] = 0;
    }
    for (int64_t t = 0; t < steps && status == PW_OK; t++)
        status = scan_step(ev, run, t, steps, err);
    for (size_t i = 0; i < scan->states && status == PW_OK; i++)
        status = pw_control_list_add(ev->call, &batches[i], &run->args[i], err);
    for (size_t k = 0; k < scan->scans && status == PW_OK; k++) {
        struct pw_value stacked = {.kind = PW_VALUE_TENSOR};

        status = pw_control_stack_into(ev, &run->scans[k], scan->body, scan->states + k, 0, false, length,
                                       &stacked.tensor, err);
        if (status == PW_OK)
            status = pw_control_list_add(ev->call, &batches[scan->states + k], &stacked, err);
        pw_value_clear(&stacked);
        pw_control_list_clear(&run->scans[k]);
    }
    for (size_t i = 0; i < scan->elements; i++)
        pw_value_clear(&elements[i]);
    pw_free(elements);
    return status;
}

/* Batch and sequence sizes, which all values share. */
static pw_status scan_8_sizes(struct pw_eval *ev, const struct scan *scan, int64_t *batch, int64_t *length,
                              struct pw_error *err)
{
    const struct pw_tensor *lens = pw_eval_in(ev, 0), *first = pw_eval_in(ev, 1 + (int)scan->states);

    if (first->rank < 2)
        return pw_call_error(ev->call, err, "scan inputs need batch and sequence axes, found rank %d", first->rank);
    *batch = first->dims[0];
    *length = first->dims[1];
    for (size_t i = 0; i < scan->states + scan->elements; i++) {
        const struct pw_tensor *t = pw_eval_in(ev, 1 + (int)i);
        int needed = i < scan->states ? 1 : 2;

        if (t->rank < needed || t->dims[0] != *batch || (needed == 2 && t->dims[1] != *length))
            return pw_call_error(ev->call, err, "input %zu does not have batch %" PRId64 " and length %" PRId64, i + 1,
                                 *batch, *length);
    }
    if (lens != NULL && lens->count != *batch)
        return pw_call_error(ev->call, err, "sequence_lens holds %" PRId64 " entries for batch %" PRId64, lens->count,
                             *batch);
    for (int64_t b = 0; lens != NULL && b < *batch; b++) {
        int64_t steps = pw_tensor_get_int(lens, b);

        if (steps < 0 || steps > *length)
            return pw_call_error(ev->call, err, "sequence_lens[%" PRId64 "] is %" PRId64 ", sequences have %" PRId64, b,
                                 steps, *length);
    }
    return PW_OK;
}

pw_status pw_scan_8_run(struct pw_eval *ev, struct pw_error *err)
{
    struct scan_run run = {.args = NULL};
    struct pw_control_list *batches = NULL;
    const struct pw_tensor *lens = pw_eval_in(ev, 0);
    int64_t batch = 0, length = 0;
    pw_status status = read_scan(ev->call, true, &run.scan, err);

    if (status == PW_OK)
        status = start_scan(ev, &run, err);
    if (status == PW_OK)
        status = scan_8_sizes(ev, &run.scan, &batch, &length, err);
    if (status != PW_OK)
        goto done;
    if (batch == 0) {
        status = pw_call_error(ev->call, err, "an empty batch leaves the output shapes open");
        goto done;
    }
    batches = pw_calloc(run.scan.body->output_count, sizeof *batches);
    if (batches == NULL)
        status = pw_error_memory(err, run.scan.body->output_count * sizeof *batches);
    for (int64_t b = 0; b < batch && status == PW_OK; b++)
        status =
            scan_batch_element(ev, &run, b, lens != NULL ? pw_tensor_get_int(lens, b) : length, length, batches, err);
    for (int i = 0; i < ev->output_count && status == PW_OK; i++)
        status = pw_control_stack(ev, i, &batches[i], run.scan.body, (size_t)i, 0, false, batch, err);
done:
    for (size_t i = 0; batches != NULL && i < run.scan.body->output_count; i++)
        pw_control_list_clear(&batches[i]);
    pw_free(batches);
    end_scan(&run);
    return status;
}
