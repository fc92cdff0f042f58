/* Shared by the files of the constant room. */
#ifndef PW_OPS_CONSTANT_H
#define PW_OPS_CONSTANT_H

#include "op/op.h"

/* The tensor that a Constant node's attributes spell out. Lies in the call's arena or in the model. */
pw_status pw_constant_value(const struct pw_call *call, struct pw_tensor *out, struct pw_error *err);

/* Elements of Range: max(ceil((limit - start) / delta), 0). False when that is no count (delta 0, NaN,
 * beyond 2^48). */
bool pw_range_count_int(int64_t start, int64_t limit, int64_t delta, int64_t *count);
bool pw_range_count_float(double start, double limit, double delta, int64_t *count);

pw_status pw_constant_golden(struct pw_eval *ev, struct pw_error *err);
pw_status pw_constant_of_shape_golden(struct pw_eval *ev, struct pw_error *err);
pw_status pw_range_golden(struct pw_eval *ev, struct pw_error *err);

#endif
