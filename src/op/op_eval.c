/* What the references ask of their evaluation. */
#include "op/op.h"

pw_dtype pw_eval_carrier(pw_eval_mode mode, pw_dtype nominal)
{
    if (!pw_dtype_is_float(nominal) || nominal == PW_DTYPE_FLOAT64)
        return nominal;
    return mode == PW_EVAL_GOLDEN ? PW_DTYPE_FLOAT64 : PW_DTYPE_FLOAT32;
}

pw_status pw_eval_output(struct pw_eval *ev, int i, pw_dtype nominal, int rank, const int64_t *dims,
                         struct pw_tensor **out, struct pw_error *err)
{
    struct pw_value made = {.kind = PW_VALUE_TENSOR};
    pw_status status;

    if (i < 0 || i >= ev->output_count)
        return pw_error_set(err, PW_ERR_INTERNAL, "output %d is filled, but the node has %d", i, ev->output_count);
    status = pw_tensor_init(&made.tensor, pw_eval_carrier(ev->mode, nominal), rank, dims, err);
    if (status != PW_OK)
        return status;
    made.tensor.nominal = nominal;
    pw_value_clear(&ev->out[i]);
    ev->out[i] = made;
    *out = &ev->out[i].tensor;
    return PW_OK;
}

pw_status pw_eval_output_copy(struct pw_eval *ev, int i, const struct pw_tensor *src, struct pw_error *err)
{
    struct pw_value made = {.kind = PW_VALUE_TENSOR};
    pw_status status;

    if (i < 0 || i >= ev->output_count)
        return pw_error_set(err, PW_ERR_INTERNAL, "output %d is filled, but the node has %d", i, ev->output_count);
    status = pw_tensor_convert(&made.tensor, src, pw_eval_carrier(ev->mode, src->nominal), err);
    if (status != PW_OK)
        return status;
    made.tensor.nominal = src->nominal;
    pw_value_clear(&ev->out[i]);
    ev->out[i] = made;
    return PW_OK;
}

const struct pw_tensor *pw_eval_in(const struct pw_eval *ev, int i)
{
    if (i < 0 || i >= ev->input_count || ev->in[i] == NULL || ev->in[i]->kind != PW_VALUE_TENSOR)
        return NULL;
    return &ev->in[i]->tensor;
}

pw_status pw_eval_ints(struct pw_eval *ev, int input, const int64_t **values, size_t *count, struct pw_error *err)
{
    const struct pw_tensor *t = pw_eval_in(ev, input);
    int64_t *made = NULL;

    *values = NULL;
    *count = 0;
    if (t == NULL)
        return PW_OK;
    made = pw_arena_alloc(ev->call->arena, (size_t)t->count + 1, sizeof *made);
    if (made == NULL)
        return pw_error_memory(err, (size_t)t->count * sizeof *made);
    for (int64_t i = 0; i < t->count; i++)
        made[i] = pw_tensor_get_int(t, i);
    *values = made;
    *count = (size_t)t->count;
    return PW_OK;
}
