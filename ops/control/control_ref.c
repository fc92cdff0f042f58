/* Running If, and what Loop and Scan share: lists of values, stacking, slicing. */
#include "control.h"

#include <inttypes.h>
#include <string.h>

#define MAX_LIST_BYTES ((uint64_t)1 << 33)

pw_status pw_if_run(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *cond = pw_eval_in(ev, 0);
    const struct pw_graph *branch = NULL;
    struct pw_value *results = NULL;
    pw_status status;

    if (cond == NULL || cond->count != 1)
        return pw_call_error(ev->call, err, "input 'cond' must be one bool");
    status = pw_control_graph(ev->call, pw_tensor_get_int(cond, 0) != 0 ? "then_branch" : "else_branch", &branch, err);
    if (status != PW_OK)
        return status;
    if (branch->output_count != (size_t)ev->output_count)
        return pw_call_error(ev->call, err, "the branch has %zu outputs, the node has %d", branch->output_count,
                             ev->output_count);
    results = pw_calloc(branch->output_count, sizeof *results);
    if (results == NULL)
        return pw_error_memory(err, branch->output_count * sizeof *results);
    status = ev->run_graph(ev, branch, NULL, 0, results, err);
    for (int i = 0; i < ev->output_count && status == PW_OK; i++)
        ev->out[i] = results[i];
    pw_free(results);
    return status;
}

/* ---- lists ---- */

pw_status pw_control_list_add(const struct pw_call *call, struct pw_control_list *list, struct pw_value *value,
                              struct pw_error *err)
{
    const struct pw_tensor *first = list->count > 0 ? &list->items[0].tensor : &value->tensor;
    pw_status status;

    if (value->kind != PW_VALUE_TENSOR)
        return pw_call_error(call, err, "a scan output of the body is no tensor");
    if (value->tensor.nominal != first->nominal || value->tensor.rank != first->rank ||
        memcmp(value->tensor.dims, first->dims, (size_t)first->rank * sizeof *first->dims) != 0)
        return pw_call_error(call, err, "a scan output of the body changes its type or shape in iteration %zu",
                             list->count);
    if (((uint64_t)list->count + 1) * (pw_tensor_bytes(first) + sizeof *value) > MAX_LIST_BYTES)
        return pw_call_error(call, err, "a scan output grows beyond %" PRIu64 " bytes", MAX_LIST_BYTES);
    status = PW_GROW(list->items, list->cap, list->count + 1, err);
    if (status != PW_OK)
        return status;
    list->items[list->count++] = *value;
    *value = (struct pw_value){0};
    return PW_OK;
}

void pw_control_list_clear(struct pw_control_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        pw_value_clear(&list->items[i]);
    pw_free(list->items);
    *list = (struct pw_control_list){0};
}

/* ---- stacking ---- */

/* Type and dims of one item when no iteration ran. */
static void declared_item(const struct pw_graph *body, size_t body_output, struct pw_tensor *item)
{
    const struct pw_type *type = body->values[body->outputs[body_output]].type;

    *item = (struct pw_tensor){.dtype = PW_DTYPE_FLOAT32, .nominal = PW_DTYPE_FLOAT32};
    if (type == NULL || type->kind != PW_TYPE_TENSOR)
        return;
    if (type->dtype != PW_DTYPE_UNDEFINED)
        item->nominal = type->dtype;
    if (!type->has_shape || type->rank >= PW_MAX_RANK)
        return;
    item->rank = type->rank;
    for (int d = 0; d < type->rank; d++)
        item->dims[d] = type->dim_values[d] > 0 ? type->dim_values[d] : 0;
}

pw_status pw_control_stack_into(struct pw_eval *ev, const struct pw_control_list *list, const struct pw_graph *body,
                                size_t body_output, int64_t axis, bool reverse, int64_t length, struct pw_tensor *out,
                                struct pw_error *err)
{
    struct pw_tensor item;
    struct pw_tensor made = {0};
    int64_t dims[PW_MAX_RANK + 1], outer, inner;
    int at = 0;
    pw_status status;

    if (list->count > 0)
        item = list->items[0].tensor;
    else
        declared_item(body, body_output, &item);
    if (item.rank >= PW_MAX_RANK)
        return pw_call_error(ev->call, err, "a scan output would have rank %d; at most %d is supported", item.rank + 1,
                             PW_MAX_RANK);
    status = pw_call_axis(ev->call, axis, item.rank + 1, &at, err);
    if (status != PW_OK)
        return status;
    for (int d = 0; d <= item.rank; d++)
        dims[d] = d < at ? item.dims[d] : d == at ? length : item.dims[d - 1];
    status = pw_tensor_init(&made, pw_eval_carrier(ev->mode, item.nominal), item.rank + 1, dims, err);
    if (status != PW_OK)
        return status;
    made.nominal = item.nominal;
    outer = pw_tensor_span(&made, 0, at);
    inner = pw_tensor_span(&made, at + 1, made.rank);
    for (size_t k = 0; k < list->count && status == PW_OK; k++) {
        int64_t slot = reverse ? (int64_t)(list->count - 1 - k) : (int64_t)k;

        for (int64_t o = 0; o < outer && status == PW_OK; o++)
            status = pw_tensor_move(&made, (o * length + slot) * inner, &list->items[k].tensor, o * inner, inner, err);
    }
    if (status != PW_OK) {
        pw_tensor_clear(&made);
        return status;
    }
    *out = made;
    return PW_OK;
}

pw_status pw_control_stack(struct pw_eval *ev, int i, const struct pw_control_list *list, const struct pw_graph *body,
                           size_t body_output, int64_t axis, bool reverse, int64_t length, struct pw_error *err)
{
    struct pw_value made = {.kind = PW_VALUE_TENSOR};
    pw_status status = pw_control_stack_into(ev, list, body, body_output, axis, reverse, length, &made.tensor, err);

    if (status == PW_OK)
        ev->out[i] = made;
    return status;
}

pw_status pw_control_slice(const struct pw_tensor *t, int axis, int64_t index, struct pw_value *out,
                           struct pw_error *err)
{
    struct pw_value made = {.kind = PW_VALUE_TENSOR};
    int64_t dims[PW_MAX_RANK], outer = pw_tensor_span(t, 0, axis), inner = pw_tensor_span(t, axis + 1, t->rank);
    pw_status status;

    for (int d = 0; d < t->rank - 1; d++)
        dims[d] = t->dims[d < axis ? d : d + 1];
    status = pw_tensor_init(&made.tensor, t->dtype, t->rank - 1, dims, err);
    made.tensor.nominal = t->nominal;
    for (int64_t o = 0; o < outer && status == PW_OK; o++)
        status = pw_tensor_move(&made.tensor, o * inner, t, (o * t->dims[axis] + index) * inner, inner, err);
    if (status != PW_OK) {
        pw_value_clear(&made);
        return status;
    }
    *out = made;
    return PW_OK;
}
