/* Callbacks of the room's operators beside inference and evaluation. */
#ifndef PW_OPS_ELEMENTWISE_BIND_H
#define PW_OPS_ELEMENTWISE_BIND_H

#include "op/op.h"

pw_status pw_ew_cost(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err);
void pw_ew_accuracy(const struct pw_call *call, struct pw_accuracy *accuracy);
void pw_ew_fill(const struct pw_call *call, int input, struct pw_fill *fill);
pw_status pw_ew_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);

#endif
