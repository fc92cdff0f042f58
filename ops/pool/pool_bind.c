/* What the pooling kernels are told. */
#include <math.h>
#include <string.h>

#include "ops/pool/pool.h"

static pw_status bind_window(struct pw_bindings *b, const struct pw_window_numbers *n, struct pw_error *err)
{
    const struct {
        const char *name;
        const int64_t *values;
    } arrays[] = {
        {"in_dims", n->in},           {"out_dims", n->out},     {"kernel_dims", n->kernel}, {"stride_of", n->stride},
        {"dilation_of", n->dilation}, {"pad_of", n->pad_begin}, {"pad_end_of", n->pad_end},
    };
    pw_status status = PW_OK;
    for (size_t i = 0; status == PW_OK && i < sizeof arrays / sizeof *arrays; i++)
        status = pw_bind_ints(b, arrays[i].name, arrays[i].values, (size_t)n->axes, err);
    return status;
}

pw_status pw_pool_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_pool_kind *kind = pw_pool_kind_of(call);
    struct pw_window_numbers n;
    double p = kind->mode == PW_POOL_MAX ? INFINITY : 1;
    pw_status status = pw_pool_numbers(call, &n, err);
    if (status == PW_OK && kind->mode == PW_POOL_LP)
        status = pw_pool_exponent(call, &p, err);
    if (status != PW_OK)
        return status;
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {
        {"axes", n.axes},
        {"taps", n.taps},
        {"in_size", n.in_size},
        {"out_size", n.out_size},
        {"mode", kind->mode},
        {"global_pool", kind->global},
        {"count_pads", pw_call_int(call, "count_include_pad") != 0},
        {"column_major", pw_call_int(call, "storage_order") == 1},
        {"wants_indices", call->output_count > 1 && call->wanted[1]},
        {"row_out", n.axes > 0 ? n.out[n.axes - 1] : 1},
    };
    for (size_t i = 0; status == PW_OK && i < sizeof numbers / sizeof *numbers; i++)
        status = pw_bind_int(b, numbers[i].name, numbers[i].value, err);
    static const char *const words[] = {"max", "average", "lp"};
    if (status == PW_OK)
        status = pw_bind_word(b, "pool", words[kind->mode], err);
    if (status == PW_OK)
        status = pw_bind_float(b, "exponent", kind->mode == PW_POOL_MAX ? 0 : p, err);
    return status == PW_OK ? bind_window(b, &n, err) : status;
}

pw_status pw_unpool_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    int rank = 0;
    int64_t pooled[PW_MAX_RANK], out[PW_MAX_RANK], total = 1;
    pw_status status = pw_unpool_numbers(call, &rank, pooled, out, err);
    for (int i = 0; status == PW_OK && i < rank; i++) {
        if (__builtin_mul_overflow(total, pooled[i], &total))
            status = pw_call_error(call, err, "the unpooled size overflows");
    }
    if (status == PW_OK)
        status = pw_bind_ints(b, "pooled_dims", pooled, (size_t)rank, err);
    if (status == PW_OK)
        status = pw_bind_ints(b, "out_dims", out, (size_t)rank, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "rank", rank, err);
    return status == PW_OK ? pw_bind_int(b, "pooled_size", total, err) : status;
}

pw_status pw_roi_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const char *where = pw_call_string(call, "coordinate_transformation_mode");
    pw_status status = pw_bind_float(b, "scale", (double)pw_call_float(call, "spatial_scale"), err);
    if (status == PW_OK)
        status = pw_bind_float(b, "shift", strcmp(where, "half_pixel") == 0 ? 0.5 : 0.0, err);
    if (status == PW_OK)
        status = pw_bind_int(b, "ratio", pw_call_int(call, "sampling_ratio"), err);
    return status == PW_OK ? pw_bind_int(b, "largest", strcmp(pw_call_string(call, "mode"), "max") == 0, err) : status;
}
