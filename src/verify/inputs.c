/* Inputs for whoever runs a signature without judging it. */
#include "verify/inputs.h"

#include "verify/verify_internal.h"

struct pw_inputs {
    struct pw_case_inputs drawn;
};

pw_status pw_inputs_draw(const struct pw_signature *signature, uint64_t seed, struct pw_inputs **out,
                         struct pw_buf *why, struct pw_error *err)
{
    struct pw_inputs *inputs = pw_calloc(1, sizeof *inputs);
    struct pw_case_spec spec = {.dist = PW_DIST_NORMAL, .seed = seed};
    pw_status status;

    *out = NULL;
    if (!inputs)
        return pw_error_memory(err, sizeof *inputs);
    status = pw_case_draw(signature, &spec, NULL, &inputs->drawn, why, err);
    if (status == PW_OK && !why->size)
        *out = inputs;
    else
        pw_inputs_destroy(inputs);
    return status;
}

void pw_inputs_destroy(struct pw_inputs *inputs)
{
    if (!inputs)
        return;
    pw_case_inputs_clear(&inputs->drawn);
    pw_free(inputs);
}

const struct pw_call *pw_inputs_call(const struct pw_inputs *inputs)
{
    return &inputs->drawn.call;
}

int pw_inputs_count(const struct pw_inputs *inputs)
{
    return inputs->drawn.count;
}

const struct pw_value *const *pw_inputs_values(const struct pw_inputs *inputs)
{
    return inputs->drawn.in;
}

const bool *pw_inputs_constant(const struct pw_inputs *inputs)
{
    return inputs->drawn.constant;
}

static bool is_parameter(const struct pw_op *op, int input)
{
    int i = 0;

    for (const struct pw_formal *f = op->inputs; f && f->name; f++, i++)
        if (i == input || ((f->flags & PW_FORMAL_VARIADIC) && input >= i))
            return (f->flags & PW_FORMAL_PARAM) != 0;
    return false;
}

bool pw_inputs_variable(const struct pw_inputs *inputs, int i)
{
    const struct pw_value *value = i < inputs->drawn.count ? inputs->drawn.in[i] : NULL;

    return value && value->kind == PW_VALUE_TENSOR && value->tensor.count > 1 && !inputs->drawn.constant[i] &&
           pw_dtype_is_float(value->tensor.dtype) && !is_parameter(inputs->drawn.call.op, i);
}

pw_status pw_inputs_outputs(const struct pw_inputs *inputs, struct pw_value *outputs, struct pw_error *err)
{
    return pw_case_outputs(&inputs->drawn.call, outputs, err);
}
