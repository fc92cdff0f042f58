/* The quantization room's own header. Pure. */
#ifndef PW_OPS_QUANT_H
#define PW_OPS_QUANT_H

#include "op/op.h"

/* Which scale belongs to an element: element i lies at (outer, d, inner) of [outer, extent, inner], and its scale is
 * ((outer * outer_pitch) + d / block) * inner_pitch + inner * inner_step. */
struct pw_quant_layout {
    int64_t extent, inner, block;
    int64_t outer_pitch, inner_pitch, inner_step;
    int64_t scales; /* elements of the scale tensor */
};

/* Of the concrete shapes of input 0 and the scale (input 1); checks that the zero point agrees. */
pw_status pw_quant_layout(const struct pw_call *call, struct pw_quant_layout *layout, struct pw_error *err);
int64_t pw_quant_scale_index(const struct pw_quant_layout *layout, int64_t i);

/* Least and largest value of an integer type as the operator stores it. */
void pw_quant_range(pw_dtype dtype, int64_t *low, int64_t *high);
/* Precision of QuantizeLinear's division: FLOAT32, FLOAT16, BFLOAT16 or FLOAT64. */
pw_dtype pw_quant_precision(const struct pw_call *call);

pw_status pw_quant_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_quantize_eval(struct pw_eval *ev, struct pw_error *err);
pw_status pw_dequantize_eval(struct pw_eval *ev, struct pw_error *err);
pw_status pw_dynamic_quantize_eval(struct pw_eval *ev, struct pw_error *err);

#endif
