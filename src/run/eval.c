/* Evaluation of single nodes: carriers, the choice of reference, the border to a backend. */
#include "run/eval.h"

#include "base/mem.h"
#include "graph/infer.h"
#include "run/eval_internal.h"

/* ---- carriers ---- */

typedef pw_dtype carrier_fn(pw_eval_mode mode, pw_dtype nominal);

static pw_dtype nominal_itself(pw_eval_mode mode, pw_dtype nominal)
{
    (void)mode;
    return nominal;
}

/* Converts every tensor of a value to its carrier; shares those that have it already (but for weights
 * that lie unaligned in a mapped file: rooms read through typed pointers). */
static pw_status recast(struct pw_value *dst, const struct pw_value *src, carrier_fn *carrier, pw_eval_mode mode,
                        struct pw_error *err)
{
    struct pw_value made = {.kind = src->kind, .item_dtype = src->item_dtype};
    pw_dtype wanted = carrier(mode, src->tensor.nominal);
    pw_status status = PW_OK;

    if (src->kind == PW_VALUE_TENSOR && wanted == src->tensor.dtype && pw_tensor_aligned(&src->tensor)) {
        pw_value_borrow(&made, &src->tensor);
    } else if (src->kind == PW_VALUE_TENSOR) {
        status = pw_tensor_convert(&made.tensor, &src->tensor, wanted, err);
        made.tensor.nominal = src->tensor.nominal;
    } else if (src->kind == PW_VALUE_SEQUENCE && src->count > 0) {
        made.items = pw_calloc(src->count, sizeof *made.items);
        if (made.items == NULL)
            return pw_error_memory(err, src->count * sizeof *made.items);
        while (status == PW_OK && made.count < src->count) {
            status = recast(&made.items[made.count], &src->items[made.count], carrier, mode, err);
            made.count += status == PW_OK;
        }
    }
    if (status != PW_OK) {
        pw_value_clear(&made);
        return status;
    }
    *dst = made;
    return PW_OK;
}

pw_status pw_eval_carry(struct pw_value *dst, const struct pw_value *src, pw_eval_mode mode, struct pw_error *err)
{
    return recast(dst, src, pw_eval_carrier, mode, err);
}

/* Turns what is shared with another value into copies of its own. */
static pw_status own(struct pw_value *value, struct pw_error *err)
{
    struct pw_tensor copy = {0};
    pw_status status = PW_OK;

    if (value->kind == PW_VALUE_TENSOR && !value->tensor.owned) {
        status = pw_tensor_copy(&copy, &value->tensor, err);
        if (status == PW_OK)
            value->tensor = copy;
    }
    for (size_t i = 0; i < value->count && status == PW_OK; i++)
        status = own(&value->items[i], err);
    return status;
}

pw_status pw_eval_round(struct pw_value *dst, const struct pw_value *carried, struct pw_error *err)
{
    struct pw_value made = {0};
    pw_status status = recast(&made, carried, nominal_itself, PW_EVAL_GOLDEN, err);

    if (status == PW_OK)
        status = own(&made, err);
    if (status != PW_OK) {
        pw_value_clear(&made);
        return status;
    }
    *dst = made;
    return PW_OK;
}

pw_status pw_eval_flow(const struct pw_eval_context *context, struct pw_value *dst, const struct pw_value *src,
                       struct pw_error *err)
{
    carrier_fn *carrier = context->options.backend != NULL ? nominal_itself : pw_eval_carrier;

    return recast(dst, src, carrier, context->options.mode, err);
}

/* ---- one node ---- */

/* Rounds (or carries) outputs in place. */
static pw_status recast_outputs(const struct pw_eval_context *context, struct pw_value *outputs, size_t count,
                                struct pw_error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct pw_value made = {0};
        pw_status status = pw_eval_flow(context, &made, &outputs[i], err);

        if (status == PW_OK && made.kind == PW_VALUE_TENSOR && !made.tensor.owned)
            continue; /* was in its form already: `made` only looks at it */
        if (status == PW_OK)
            status = own(&made, err);
        if (status != PW_OK) {
            pw_value_clear(&made);
            return status;
        }
        pw_value_clear(&outputs[i]);
        outputs[i] = made;
    }
    return PW_OK;
}

/* The border between control flow, whose values are carried in its mode, and the graph, whose values
 * flow in the run's form. */
static pw_status run_subgraph(struct pw_eval *ev, const struct pw_graph *graph, const struct pw_value *args,
                              size_t arg_count, struct pw_value *results, struct pw_error *err)
{
    struct pw_eval_frame *frame = ev->user;
    struct pw_value *flowing = pw_calloc(arg_count, sizeof *flowing);
    pw_status status = PW_OK;

    if (flowing == NULL)
        return pw_error_memory(err, arg_count * sizeof *flowing);
    for (size_t i = 0; i < graph->output_count; i++)
        results[i] = (struct pw_value){0};
    for (size_t i = 0; i < arg_count && status == PW_OK; i++)
        status = pw_eval_flow(frame->context, &flowing[i], &args[i], err);
    if (status == PW_OK)
        status = pw_eval_run_graph(frame, graph, flowing, arg_count, results, err);
    for (size_t i = 0; i < graph->output_count && status == PW_OK; i++) {
        struct pw_value carried = {0};

        status = pw_eval_carry(&carried, &results[i], ev->mode, err);
        if (status == PW_OK)
            status = own(&carried, err);
        if (status != PW_OK) {
            pw_value_clear(&carried);
            break;
        }
        pw_value_clear(&results[i]);
        results[i] = carried;
    }
    for (size_t i = 0; i < graph->output_count && status != PW_OK; i++)
        pw_value_clear(&results[i]);
    for (size_t i = 0; i < arg_count; i++)
        pw_value_clear(&flowing[i]);
    pw_free(flowing);
    return status;
}

/* Every wanted output must have come, unless it may be absent by its type. */
static pw_status check_outputs(const struct pw_call *call, const struct pw_value *outputs, struct pw_error *err)
{
    char where[256];

    for (int i = 0; i < call->output_count; i++) {
        const struct pw_formal *formal = pw_op_formal(call->op->outputs, (size_t)i);

        if (call->wanted[i] && outputs[i].kind == PW_VALUE_NONE && !call->out[i].optional &&
            (formal == NULL || (formal->flags & PW_FORMAL_ANY) == 0))
            return pw_error_set(err, PW_ERR_INTERNAL, "%s: the reference made no output %d",
                                pw_node_where(call->node, where, sizeof where), i);
    }
    return PW_OK;
}

/* Evaluates on the reference: carries the inputs for the mode that will run, calls, brings the outputs
 * back to the form in which values flow. */
static pw_status run_reference(struct pw_eval_frame *frame, const struct pw_node *node, uint64_t seed,
                               const struct pw_value *const *inputs, struct pw_value *outputs, struct pw_error *err)
{
    const struct pw_op *op = node->op;
    struct pw_arena arena = {0};
    struct pw_call call = {0};
    struct pw_eval ev = {.mode = frame->context->options.mode, .run_graph = run_subgraph, .user = frame};
    struct pw_value *carried = NULL;
    const struct pw_value **in = NULL;
    size_t count = node->input_count;
    char where[256];
    pw_status status = PW_OK;

    if (op == NULL || (op->golden == NULL && op->fast == NULL))
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "%s: %s", pw_node_where(node, where, sizeof where),
                            node->note ? node->note : "no reference for this operator");
    if (frame->context->options.backend != NULL || op->fast == NULL)
        ev.mode = PW_EVAL_GOLDEN;
    else if (op->golden == NULL)
        ev.mode = PW_EVAL_FAST;
    carried = pw_calloc(count, sizeof *carried);
    in = pw_arena_alloc(&arena, count + 1, sizeof *in);
    if (carried == NULL || in == NULL) {
        status = pw_error_memory(err, count * sizeof *carried);
        goto done;
    }
    for (size_t i = 0; i < count && status == PW_OK; i++) {
        if (inputs[i] == NULL)
            continue;
        status = pw_eval_carry(&carried[i], inputs[i], ev.mode, err);
        in[i] = &carried[i];
    }
    if (status == PW_OK)
        status = pw_call_from_values(node, in, (int)count, frame->context->dims, &arena, &call, err);
    if (status != PW_OK)
        goto done;
    call.seed = seed;
    ev.call = &call;
    ev.in = in;
    ev.input_count = (int)count;
    ev.out = outputs;
    ev.output_count = (int)node->output_count;
    ev.order = frame->context->options.order;
    status = ev.order ? op->ordered(&ev, err) : ev.mode == PW_EVAL_FAST ? op->fast(&ev, err) : op->golden(&ev, err);
    if (status == PW_OK)
        status = check_outputs(&call, outputs, err);
    if (status == PW_OK)
        status = recast_outputs(frame->context, outputs, node->output_count, err);
done:
    for (size_t i = 0; carried != NULL && i < count; i++)
        pw_value_clear(&carried[i]);
    pw_free(carried);
    pw_arena_clear(&arena);
    return status;
}

pw_status pw_eval_run_node(struct pw_eval_frame *frame, const struct pw_node *node,
                           const struct pw_value *const *inputs, struct pw_value *outputs, struct pw_error *err)
{
    const struct pw_eval_options *options = &frame->context->options;
    uint64_t seed = pw_draw_seed(options->seed, frame->context->draws);
    bool handled = false;
    char where[256];
    pw_status status = PW_OK;

    frame->context->draws += node->op != NULL && node->op->random;
    if (options->backend != NULL || options->replace != NULL)
        status = (options->backend != NULL ? options->backend : options->replace)(
            options->user, node, inputs, (int)node->input_count, outputs, (int)node->output_count, &handled, err);
    if (status == PW_OK && !handled)
        status = run_reference(frame, node, seed, inputs, outputs, err);
    if (status == PW_OK && options->observe != NULL)
        status = options->observe(options->user, node, inputs, outputs, err);
    if (status != PW_OK && err != NULL && err->message[0] != '\0' && err->status != PW_ERR_CANCELLED) {
        pw_node_where(node, where, sizeof where);
        if (!pw_text_starts(err->message, "graph "))
            pw_error_prefix(err, "%s", where);
    }
    return status;
}

static pw_status lone_node(const struct pw_node *node, const struct pw_eval_options *options,
                           const struct pw_value *const *inputs, int input_count, struct pw_value *outputs,
                           int output_count, struct pw_error *err)
{
    struct pw_eval_context context = {.options = *options};
    struct pw_eval_frame frame = {.context = &context, .graph = node->graph};
    pw_status status = PW_OK;

    if (input_count != (int)node->input_count || output_count != (int)node->output_count)
        return pw_error_set(err, PW_ERR_INTERNAL, "%d inputs and %d outputs given to a node with %zu and %zu",
                            input_count, output_count, node->input_count, node->output_count);
    status = pw_dims_create(&context.dims, err);
    if (status != PW_OK)
        return status;
    for (int i = 0; i < output_count; i++)
        outputs[i] = (struct pw_value){0};
    status = pw_eval_run_node(&frame, node, inputs, outputs, err);
    for (int i = 0; i < output_count && status != PW_OK; i++)
        pw_value_clear(&outputs[i]);
    pw_dims_destroy(context.dims);
    return status;
}

pw_status pw_eval_node(const struct pw_node *node, pw_eval_mode mode, const struct pw_value *const *inputs,
                       int input_count, struct pw_value *outputs, int output_count, uint64_t seed, struct pw_error *err)
{
    return lone_node(node, &(struct pw_eval_options){.mode = mode, .seed = seed}, inputs, input_count, outputs,
                     output_count, err);
}

pw_status pw_eval_ordered(const struct pw_node *node, const struct pw_order *order,
                          const struct pw_value *const *inputs, int input_count, struct pw_value *outputs,
                          int output_count, struct pw_error *err)
{
    const struct pw_eval_options options = {.mode = PW_EVAL_GOLDEN, .order = order};

    if (!node->op || !node->op->ordered)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "no reference takes the sums of this operator in a given order");
    return lone_node(node, &options, inputs, input_count, outputs, output_count, err);
}
