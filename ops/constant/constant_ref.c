/* The constant room's reference: copies, fills, start + i*delta. */
#include "constant.h"

#include <string.h>

pw_status pw_constant_golden(struct pw_eval *ev, struct pw_error *err)
{
    struct pw_tensor value;
    pw_status status = pw_constant_value(ev->call, &value, err);

    return status == PW_OK ? pw_eval_output_copy(ev, 0, &value, err) : status;
}

pw_status pw_constant_of_shape_golden(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *value = pw_call_tensor(ev->call, "value");
    struct pw_tensor *out = NULL, carried = {0};
    const int64_t *dims = NULL;
    size_t rank = 0, bytes;
    pw_status status = pw_eval_ints(ev, 0, &dims, &rank, err);

    if (status == PW_OK && rank > PW_MAX_RANK)
        return pw_call_error(ev->call, err, "shape of rank %zu; at most %d is supported", rank, PW_MAX_RANK);
    if (status == PW_OK)
        status = pw_eval_output(ev, 0, value != NULL ? value->nominal : PW_DTYPE_FLOAT32, (int)rank, dims, &out, err);
    if (status != PW_OK || value == NULL)
        return status; /* zeroed when made */
    status = pw_tensor_convert(&carried, value, out->dtype, err);
    if (status != PW_OK)
        return status;
    bytes = pw_dtype_bytes(out->dtype);
    for (int64_t i = 0; i < out->count; i++)
        memcpy((char *)out->data + (size_t)i * bytes, carried.data, bytes);
    pw_tensor_clear(&carried);
    return PW_OK;
}

/* float16 and bfloat16 are summed in wider precision (stash_type) and rounded once, as the carrier does. */
static pw_status range_float(struct pw_eval *ev, pw_dtype nominal, struct pw_error *err)
{
    double start = pw_tensor_get(pw_eval_in(ev, 0), 0), limit = pw_tensor_get(pw_eval_in(ev, 1), 0);
    double delta = pw_tensor_get(pw_eval_in(ev, 2), 0);
    struct pw_tensor *out = NULL;
    int64_t count;
    pw_status status;

    if (!pw_range_count_float(start, limit, delta, &count))
        return pw_call_error(ev->call, err, "start %g, limit %g, delta %g give no size", start, limit, delta);
    status = pw_eval_output(ev, 0, nominal, 1, &count, &out, err);
    for (int64_t i = 0; i < count && status == PW_OK; i++)
        pw_tensor_set(out, i, start + (double)i * delta);
    return status;
}

pw_status pw_range_golden(struct pw_eval *ev, struct pw_error *err)
{
    const struct pw_tensor *in[3] = {pw_eval_in(ev, 0), pw_eval_in(ev, 1), pw_eval_in(ev, 2)};
    struct pw_tensor *out = NULL;
    int64_t start, limit, delta, count;
    pw_status status;

    for (int i = 0; i < 3; i++) {
        if (in[i] == NULL || in[i]->count != 1)
            return pw_call_error(ev->call, err, "input %d must be one number", i);
    }
    if (pw_dtype_is_float(in[0]->dtype))
        return range_float(ev, in[0]->nominal, err);
    if (!pw_dtype_is_integer(in[0]->dtype))
        return pw_call_error(ev->call, err, "no range of %s", pw_dtype_name(in[0]->dtype));
    start = pw_tensor_get_int(in[0], 0);
    limit = pw_tensor_get_int(in[1], 0);
    delta = pw_tensor_get_int(in[2], 0);
    if (!pw_range_count_int(start, limit, delta, &count))
        return pw_call_error(ev->call, err, "start %lld, limit %lld, delta %lld give no size", (long long)start,
                             (long long)limit, (long long)delta);
    status = pw_eval_output(ev, 0, in[0]->nominal, 1, &count, &out, err);
    for (int64_t i = 0; i < count && status == PW_OK; i++)
        pw_tensor_set_int(out, i, start + i * delta); /* below limit: no overflow */
    return status;
}
