/* What the quantization kernels are told. */
#include "ops/quant/quant.h"

pw_status pw_quant_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_quant_layout l;
    int64_t low = 0, high = 0;
    pw_status status = pw_quant_layout(call, &l, err);
    pw_quant_range(call->out[0].dtype, &low, &high);
    pw_dtype precision = pw_quant_precision(call);
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {
        {"extent", l.extent},
        {"inner", l.inner},
        {"block", l.block},
        {"outer_pitch", l.outer_pitch},
        {"inner_pitch", l.inner_pitch},
        {"inner_step", l.inner_step},
        {"scales", l.scales},
        {"low", low},
        {"high", high},
        {"saturates", call->op->since < 19 || pw_call_int(call, "saturate") != 0},
        /* 0: float, 1: float16, 2: bfloat16, 3: double */
        {"rounding", precision == PW_DTYPE_FLOAT16    ? 1
                     : precision == PW_DTYPE_BFLOAT16 ? 2
                     : precision == PW_DTYPE_FLOAT64  ? 3
                                                      : 0},
    };
    for (size_t i = 0; status == PW_OK && i < sizeof numbers / sizeof *numbers; i++)
        status = pw_bind_int(b, numbers[i].name, numbers[i].value, err);
    return status;
}
