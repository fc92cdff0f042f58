/* Faults of integer arithmetic and of conversions. */
#include <math.h>
#include <string.h>

#include "tests/liar/fault.h"

static void clear_values(struct pw_value *values)
{
    for (int i = 0; i < LIAR_OUTPUTS; i++)
        pw_value_clear(&values[i]);
}

static pw_status convert_input(struct liar_run *run, int i, pw_dtype dtype, struct pw_error *err)
{
    struct pw_tensor made = {0};
    pw_status status = pw_tensor_convert(&made, &run->values[i].tensor, dtype, err);

    if (status != PW_OK)
        return status;
    pw_tensor_clear(&run->values[i].tensor);
    run->values[i].tensor = made;
    return PW_OK;
}

static void clamp(struct pw_tensor *t, int64_t i, double x)
{
    const struct pw_dtype_facts *facts = pw_dtype_facts(t->dtype);
    bool is_signed = facts->kind == PW_KIND_SIGNED;
    int64_t most = facts->max >= 0x1p63 - 1025 ? INT64_MAX : (int64_t)facts->max;

    if (facts->max > 1e19 && x > facts->max)
        most = -1; /* all bits of a uint64 */
    if (x > facts->max)
        pw_tensor_set_int(t, i, most);
    else if (x < (is_signed ? -facts->max - 1 : 0))
        pw_tensor_set_int(t, i, is_signed ? -most - 1 : 0);
}

/* The same call on doubles tells where the integers overflow. */
pw_status liar_saturate(struct liar_run *run, struct pw_error *err)
{
    static const char *const casts[] = {"Cast", "CastLike", NULL};
    struct pw_value outputs[LIAR_OUTPUTS] = {0};
    pw_dtype dtype = run->out[0].dtype;
    bool cast = liar_is(&run->call, casts);
    pw_status status = liar_honest(run, err);

    for (int i = 0; i < run->input_count && status == PW_OK; i++)
        if (run->in[i] && (cast ? i == 0 : run->values[i].tensor.dtype == dtype))
            status = convert_input(run, i, PW_DTYPE_FLOAT64, err);
    if (status == PW_OK && !cast)
        status = liar_carried(run, outputs, err);
    for (int64_t i = 0; status == PW_OK && i < run->out[0].count; i++)
        clamp(&run->out[0], i, pw_tensor_get(cast ? &run->values[0].tensor : &outputs[0].tensor, i));
    clear_values(outputs);
    return status;
}

/* A quantized value through 16 bits, of which the low 8 are kept. */
pw_status liar_wrap(struct liar_run *run, struct pw_error *err)
{
    struct pw_value outputs[LIAR_OUTPUTS] = {0};
    int zero = liar_input_index(&run->call, "y_zero_point");
    pw_status status = convert_input(run, zero, PW_DTYPE_INT16, err);

    if (status == PW_OK)
        status = liar_carried(run, outputs, err);
    for (int64_t i = 0; status == PW_OK && i < run->out[0].count; i++)
        pw_tensor_set_int(&run->out[0], i, pw_tensor_get_int(&outputs[0].tensor, i));
    clear_values(outputs);
    return status;
}

static pw_dtype signed_of(pw_dtype dtype)
{
    switch (dtype) {
    case PW_DTYPE_UINT8:
        return PW_DTYPE_INT8;
    case PW_DTYPE_UINT16:
        return PW_DTYPE_INT16;
    case PW_DTYPE_UINT32:
        return PW_DTYPE_INT32;
    case PW_DTYPE_UINT64:
        return PW_DTYPE_INT64;
    default:
        return PW_DTYPE_UNDEFINED;
    }
}

pw_status liar_unsigned_as_signed(struct liar_run *run, struct pw_error *err)
{
    struct pw_value outputs[LIAR_OUTPUTS] = {0};
    pw_dtype dtype = run->values[0].tensor.dtype;
    pw_status status = PW_OK;

    for (int i = 0; i < run->input_count && status == PW_OK; i++)
        if (run->in[i] && run->values[i].tensor.dtype == dtype)
            status = convert_input(run, i, signed_of(dtype), err);
    if (status == PW_OK)
        status = liar_carried(run, outputs, err);
    for (int o = 0; o < run->output_count && status == PW_OK; o++) {
        struct pw_tensor *t = &run->out[o];

        for (int64_t i = 0; run->call.wanted[o] && i < t->count; i++)
            if (pw_dtype_is_float(t->dtype))
                pw_tensor_set(t, i, pw_tensor_get(&outputs[o].tensor, i));
            else
                pw_tensor_set_int(t, i, pw_tensor_get_int(&outputs[o].tensor, i));
    }
    clear_values(outputs);
    return status;
}

/* 64-bit integers pass through 32 bits. */
pw_status liar_narrow_ints(struct liar_run *run, struct pw_error *err)
{
    (void)err;
    for (int k = 0; k < run->input_count; k++) {
        struct pw_tensor *t = &run->values[k].tensor;
        bool wide = run->in[k] && (t->dtype == PW_DTYPE_INT64 || t->dtype == PW_DTYPE_UINT64);

        for (int64_t i = 0; wide && i < t->count; i++) {
            int64_t x = pw_tensor_get_int(t, i);

            pw_tensor_set_int(t, i, t->dtype == PW_DTYPE_INT64 ? (int64_t)(int32_t)x : (int64_t)(uint32_t)x);
        }
    }
    return PW_OK;
}

pw_status liar_floor_division(struct liar_run *run, struct pw_error *err)
{
    struct pw_value outputs[LIAR_OUTPUTS] = {0};
    pw_status status = liar_honest(run, err);

    for (int i = 0; i < 2 && status == PW_OK; i++)
        status = convert_input(run, i, PW_DTYPE_FLOAT64, err);
    if (status == PW_OK)
        status = liar_carried(run, outputs, err);
    for (int64_t i = 0; status == PW_OK && i < run->out[0].count; i++) {
        double quotient = ((const double *)outputs[0].tensor.data)[i];
        int64_t y = pw_tensor_get_int(&run->out[0], i);

        if (isfinite(quotient) && quotient < 0 && floor(quotient) < (double)y)
            pw_tensor_set_int(&run->out[0], i, y - 1);
    }
    clear_values(outputs);
    return status;
}

/* A conversion to an integer that rounds to nearest where it should cut. */
pw_status liar_round_to_int(struct liar_run *run, struct pw_error *err)
{
    struct pw_tensor *t = &run->values[0].tensor;

    (void)err;
    for (int64_t i = 0; i < t->count; i++)
        pw_tensor_set(t, i, nearbyint(pw_tensor_get(t, i)));
    return PW_OK;
}
