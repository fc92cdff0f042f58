/* The sequence room's reference: copies. */
#include "sequence.h"

#include <inttypes.h>
#include <string.h>

static pw_status sequence_in(const struct pw_eval *ev, int i, const struct pw_value **out, struct pw_error *err)
{
    if (i >= ev->input_count || ev->in[i] == NULL || ev->in[i]->kind != PW_VALUE_SEQUENCE)
        return pw_call_error(ev->call, err, "input %d must be a sequence", i);
    *out = ev->in[i];
    return PW_OK;
}

/* A position in [-count, limit), negative from the back; `missing` when the input is omitted. */
static pw_status position_in(const struct pw_eval *ev, int i, size_t count, size_t limit, int64_t missing, size_t *out,
                             struct pw_error *err)
{
    const struct pw_tensor *t = pw_eval_in(ev, i);
    int64_t position = missing, n = (int64_t)count;

    if (t != NULL && t->count != 1)
        return pw_call_error(ev->call, err, "the position must be one number, found %" PRId64, t->count);
    if (t != NULL)
        position = pw_tensor_get_int(t, 0);
    if (position < -n || position >= (int64_t)limit)
        return pw_call_error(ev->call, err, "position %" PRId64 " in a sequence of %zu", position, count);
    *out = (size_t)(position < 0 ? position + n : position);
    return PW_OK;
}

/* Room for `count` items in output 0. */
static pw_status start_output(struct pw_eval *ev, size_t count, pw_dtype dtype, struct pw_value **out,
                              struct pw_error *err)
{
    struct pw_value made = {.kind = PW_VALUE_SEQUENCE, .item_dtype = dtype};

    if (ev->output_count < 1)
        return pw_call_error(ev->call, err, "the node has no output");
    made.items = pw_calloc(count, sizeof *made.items);
    if (made.items == NULL)
        return pw_error_memory(err, count * sizeof *made.items);
    ev->out[0] = made;
    *out = &ev->out[0];
    return PW_OK;
}

static pw_status append_copy(struct pw_value *sequence, const struct pw_value *item, struct pw_error *err)
{
    pw_status status = pw_value_copy(&sequence->items[sequence->count], item, err);

    sequence->count += status == PW_OK;
    return status;
}

/* ---- building and reading ---- */

pw_status pw_sequence_empty_run(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_value *out = NULL;

    return start_output(ev, 0, (pw_dtype)pw_call_int(ev->call, "dtype"), &out, err);
}

pw_status pw_sequence_construct_run(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_value *out = NULL;
    pw_status status = start_output(ev, (size_t)ev->input_count, ev->call->in[0]->dtype, &out, err);

    for (int i = 0; i < ev->input_count && status == PW_OK; i++)
        status = append_copy(out, ev->in[i], err);
    return status;
}

pw_status pw_sequence_insert_run(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_value *in = NULL;
    struct pw_value *out = NULL;
    size_t at = 0;
    pw_status status = sequence_in(ev, 0, &in, err);

    if (status == PW_OK)
        status = position_in(ev, 2, in->count, in->count + 1, (int64_t)in->count, &at, err);
    if (status == PW_OK)
        status = start_output(ev, in->count + 1, ev->call->in[1]->dtype, &out, err);
    for (size_t i = 0; status == PW_OK && i <= in->count; i++) {
        if (i == at)
            status = append_copy(out, ev->in[1], err);
        if (status == PW_OK && i < in->count)
            status = append_copy(out, &in->items[i], err);
    }
    return status;
}

pw_status pw_sequence_erase_run(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_value *in = NULL;
    struct pw_value *out = NULL;
    size_t at = 0;
    pw_status status = sequence_in(ev, 0, &in, err);

    if (status == PW_OK)
        status = position_in(ev, 1, in->count, in->count, -1, &at, err);
    if (status == PW_OK)
        status = start_output(ev, in->count, in->item_dtype, &out, err);
    for (size_t i = 0; status == PW_OK && i < in->count; i++) {
        if (i != at)
            status = append_copy(out, &in->items[i], err);
    }
    return status;
}

pw_status pw_sequence_at_run(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_value *in = NULL;
    size_t at = 0;
    pw_status status = sequence_in(ev, 0, &in, err);

    if (status == PW_OK)
        status = position_in(ev, 1, in->count, in->count, 0, &at, err);
    return status == PW_OK ? pw_value_copy(&ev->out[0], &in->items[at], err) : status;
}

pw_status pw_sequence_length_run(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_value *in = NULL;
    struct pw_tensor *out = NULL;
    pw_status status = sequence_in(ev, 0, &in, err);

    if (status == PW_OK)
        status = pw_eval_output(ev, 0, PW_DTYPE_INT64, 0, NULL, &out, err);
    if (status == PW_OK)
        pw_tensor_set_int(out, 0, (int64_t)in->count);
    return status;
}

/* ---- splitting ---- */

/* Elements [begin, begin + size) along axis; without the axis when `drop`. */
static pw_status take(const struct pw_tensor *t, int axis, int64_t begin, int64_t size, bool drop, struct pw_value *out,
                      struct pw_error *err)
{
    struct pw_value made = {.kind = PW_VALUE_TENSOR};
    int64_t dims[PW_MAX_RANK], outer = pw_tensor_span(t, 0, axis), inner = pw_tensor_span(t, axis + 1, t->rank);
    int rank = 0;
    pw_status status;

    for (int d = 0; d < t->rank; d++) {
        if (d != axis || !drop)
            dims[rank++] = d == axis ? size : t->dims[d];
    }
    status = pw_tensor_init(&made.tensor, t->dtype, rank, dims, err);
    made.tensor.nominal = t->nominal;
    for (int64_t o = 0; o < outer && status == PW_OK; o++)
        status =
            pw_tensor_move(&made.tensor, o * size * inner, t, (o * t->dims[axis] + begin) * inner, size * inner, err);
    if (status != PW_OK) {
        pw_value_clear(&made);
        return status;
    }
    *out = made;
    return PW_OK;
}

/* Number of pieces, and the size of each: a common one, or a list. */
static pw_status plan_split(struct pw_eval *ev, int64_t length, int64_t *pieces, int64_t *common, const int64_t **sizes,
                            struct pw_error *err)
{
    const struct pw_tensor *split = pw_eval_in(ev, 1);
    size_t count = 0;
    int64_t sum = 0;
    pw_status status;

    *sizes = NULL;
    *common = split != NULL && split->rank == 0 ? pw_tensor_get_int(split, 0) : 1;
    if (split == NULL || split->rank == 0) {
        if (*common < 1)
            return pw_call_error(ev->call, err, "split %" PRId64 " must be positive", *common);
        *pieces = length / *common + (length % *common != 0);
        return PW_OK;
    }
    status = pw_eval_ints(ev, 1, sizes, &count, err);
    if (status != PW_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        if ((*sizes)[i] < 0 || (*sizes)[i] > length - sum)
            return pw_call_error(ev->call, err, "split sizes do not add up to %" PRId64, length);
        sum += (*sizes)[i];
    }
    if (sum != length)
        return pw_call_error(ev->call, err, "split sizes add up to %" PRId64 ", expected %" PRId64, sum, length);
    *pieces = (int64_t)count;
    return PW_OK;
}

pw_status pw_sequence_split_run(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *in = pw_eval_in(ev, 0);
    bool drop = pw_call_int(ev->call, "keepdims") == 0 && pw_eval_in(ev, 1) == NULL;
    int64_t pieces = 0, common = 1, at = 0;
    const int64_t *sizes = NULL;
    struct pw_value *out = NULL;
    int axis = 0;
    pw_status status = pw_call_axis(ev->call, pw_call_int(ev->call, "axis"), in->rank, &axis, err);

    if (status == PW_OK)
        status = plan_split(ev, in->dims[axis], &pieces, &common, &sizes, err);
    if (status == PW_OK)
        status = start_output(ev, (size_t)pieces, in->nominal, &out, err);
    for (int64_t k = 0; k < pieces && status == PW_OK; k++) {
        int64_t rest = in->dims[axis] - at, size = sizes != NULL ? sizes[k] : common < rest ? common : rest;

        status = take(in, axis, at, size, drop, &out->items[k], err);
        out->count += status == PW_OK;
        at += size;
    }
    return status;
}

/* ---- concatenation ---- */

/* Items must agree in type and in all dims but the axis (in all, when stacked). */
static pw_status check_items(struct pw_eval *ev, const struct pw_value *in, int axis, bool stack, int64_t *length,
                             struct pw_error *err)
{
    const struct pw_tensor *first = &in->items[0].tensor;

    *length = 0;
    for (size_t k = 0; k < in->count; k++) {
        const struct pw_tensor *t = &in->items[k].tensor;
        bool same = in->items[k].kind == PW_VALUE_TENSOR && t->nominal == first->nominal && t->rank == first->rank;

        for (int d = 0; same && d < t->rank; d++)
            same = t->dims[d] == first->dims[d] || (d == axis && !stack);
        if (!same)
            return pw_call_error(ev->call, err, "item %zu of the sequence does not fit the first", k);
        if (__builtin_add_overflow(*length, stack ? 1 : t->dims[axis], length))
            return pw_call_error(ev->call, err, "the result is too long");
    }
    return PW_OK;
}

pw_status pw_sequence_concat_run(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_value *in = NULL;
    const struct pw_tensor *first;
    bool stack = pw_call_int(ev->call, "new_axis") != 0;
    int64_t dims[PW_MAX_RANK + 1], length = 0, inner, at = 0;
    struct pw_tensor *out = NULL;
    int axis = 0, rank;
    pw_status status = sequence_in(ev, 0, &in, err);

    if (status != PW_OK)
        return status;
    if (in->count == 0)
        return pw_call_error(ev->call, err, "an empty sequence has no concatenation");
    first = &in->items[0].tensor;
    rank = first->rank + stack;
    status = pw_call_axis(ev->call, pw_call_int(ev->call, "axis"), rank, &axis, err);
    if (status == PW_OK)
        status = check_items(ev, in, axis, stack, &length, err);
    if (status != PW_OK)
        return status;
    for (int d = 0; d < rank; d++)
        dims[d] = d == axis ? length : first->dims[d > axis && stack ? d - 1 : d];
    status = pw_eval_output(ev, 0, first->nominal, rank, dims, &out, err);
    if (status != PW_OK)
        return status;
    inner = pw_tensor_span(out, axis + 1, rank);
    for (size_t k = 0; k < in->count && status == PW_OK; k++) {
        const struct pw_tensor *t = &in->items[k].tensor;
        int64_t size = stack ? 1 : t->dims[axis];

        for (int64_t o = 0; o < pw_tensor_span(out, 0, axis) && status == PW_OK; o++)
            status = pw_tensor_move(out, (o * length + at) * inner, t, o * size * inner, size * inner, err);
        at += size;
    }
    return status;
}

/* ---- SequenceMap ---- */

struct map_run {
    const struct pw_graph *body;
    size_t length;
    struct pw_value *args, *results;
};

static pw_status map_item(struct pw_eval *ev, struct map_run *run, size_t k, struct pw_error *err)
{
    pw_status status;

    for (int i = 0; i < ev->input_count; i++) {
        const struct pw_value *in = ev->in[i];

        pw_value_borrow(&run->args[i], in->kind == PW_VALUE_SEQUENCE ? &in->items[k].tensor : &in->tensor);
    }
    status = ev->run_graph(ev, run->body, run->args, (size_t)ev->input_count, run->results, err);
    for (int i = 0; i < ev->output_count && status == PW_OK; i++) {
        if (run->results[i].kind != PW_VALUE_TENSOR)
            return pw_call_error(ev->call, err, "output %d of the body is no tensor", i);
        ev->out[i].item_dtype = run->results[i].tensor.nominal;
        ev->out[i].items[ev->out[i].count++] = run->results[i];
        run->results[i] = (struct pw_value){0};
    }
    for (size_t i = (size_t)ev->output_count; i < run->body->output_count; i++) /* what the node does not take */
        pw_value_clear(&run->results[i]);
    return status;
}

static pw_status start_map(struct pw_eval *ev, struct map_run *run, struct pw_error *err)
{
    const struct pw_value *first = NULL;
    pw_status status = sequence_in(ev, 0, &first, err);

    if (status != PW_OK)
        return status;
    run->length = first->count;
    for (int i = 0; i < ev->input_count; i++) {
        if (ev->in[i] == NULL || ev->in[i]->kind == PW_VALUE_NONE)
            return pw_call_error(ev->call, err, "input %d is absent", i);
        if (ev->in[i]->kind == PW_VALUE_SEQUENCE && ev->in[i]->count != run->length)
            return pw_call_error(ev->call, err, "sequences of %zu and %zu items", run->length, ev->in[i]->count);
    }
    run->args = pw_calloc((size_t)ev->input_count, sizeof *run->args);
    run->results = pw_calloc(run->body->output_count, sizeof *run->results);
    if (run->args == NULL || run->results == NULL)
        return pw_error_memory(err, run->body->output_count * sizeof *run->results);
    for (int i = 0; i < ev->output_count; i++) {
        const struct pw_type *type = run->body->values[run->body->outputs[i]].type;

        ev->out[i].kind = PW_VALUE_SEQUENCE;
        ev->out[i].item_dtype = type != NULL && type->kind == PW_TYPE_TENSOR ? type->dtype : PW_DTYPE_UNDEFINED;
        ev->out[i].items = pw_calloc(run->length, sizeof *ev->out[i].items);
        if (ev->out[i].items == NULL)
            return pw_error_memory(err, run->length * sizeof *ev->out[i].items);
    }
    return PW_OK;
}

pw_status pw_sequence_map_run(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_attr *attr = pw_node_attr(ev->call->node, "body");
    struct map_run run = {.body = attr != NULL && attr->type == PW_ATTR_GRAPH ? attr->graph : NULL};
    pw_status status;

    if (run.body == NULL || run.body->output_count < (size_t)ev->output_count)
        return pw_call_error(ev->call, err, "attribute 'body' does not fit the node");
    status = start_map(ev, &run, err);
    for (size_t k = 0; k < run.length && status == PW_OK; k++)
        status = map_item(ev, &run, k, err);
    for (size_t i = 0; run.results != NULL && i < run.body->output_count; i++)
        pw_value_clear(&run.results[i]);
    pw_free(run.args); /* views */
    pw_free(run.results);
    return status;
}

/* ---- optionals ---- */

pw_status pw_optional_run(struct pw_eval *ev, struct pw_error *err)
{
    bool is_sequence = false;

    if (pw_call_input(ev->call, 0))
        return pw_value_copy(&ev->out[0], ev->in[0], err);
    ev->out[0] = (struct pw_value){.item_dtype = pw_optional_type(ev->call, &is_sequence)};
    return PW_OK;
}

pw_status pw_optional_has_run(struct pw_eval *ev, struct pw_error *err)
{
    bool has = ev->input_count > 0 && ev->in[0] != NULL && ev->in[0]->kind != PW_VALUE_NONE;
    struct pw_tensor *out = NULL;
    pw_status status = pw_eval_output(ev, 0, PW_DTYPE_BOOL, 0, NULL, &out, err);

    if (status == PW_OK)
        pw_tensor_set_int(out, 0, has);
    return status;
}

pw_status pw_optional_get_run(struct pw_eval *ev, struct pw_error *err)
{
    if (ev->in[0] == NULL || ev->in[0]->kind == PW_VALUE_NONE)
        return pw_call_error(ev->call, err, "the optional is empty");
    return pw_value_copy(&ev->out[0], ev->in[0], err);
}
