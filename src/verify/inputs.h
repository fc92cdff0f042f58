/*
 * Inputs of a signature with its own shapes, for whoever runs it without judging it (timing): drawn as the
 * verification draws them. One owner.
 */
#ifndef PW_VERIFY_INPUTS_H
#define PW_VERIFY_INPUTS_H

#include "graph/inventory.h"

struct pw_inputs;

/* Normal draws. PW_OK with *out NULL and a reason in why: they cannot be made. */
pw_status pw_inputs_draw(const struct pw_signature *signature, uint64_t seed, struct pw_inputs **out,
                         struct pw_buf *why, struct pw_error *err);
void pw_inputs_destroy(struct pw_inputs *inputs); /* NULL is fine */

const struct pw_call *pw_inputs_call(const struct pw_inputs *inputs); /* concrete */
int pw_inputs_count(const struct pw_inputs *inputs);
const struct pw_value *const *pw_inputs_values(const struct pw_inputs *inputs); /* NULL: omitted */
const bool *pw_inputs_constant(const struct pw_inputs *inputs);
/* May input i be replaced by other draws of its kind without changing what the call is? (floats that are not constant,
 * of no parameter of the operator) */
bool pw_inputs_variable(const struct pw_inputs *inputs, int i);
/* Outputs of the call for the device to fill: call->output_count values, cleared by the caller. */
pw_status pw_inputs_outputs(const struct pw_inputs *inputs, struct pw_value *outputs, struct pw_error *err);

#endif
