/* Shared by the files of the training room. Reentrant; used by the room's callbacks only. */
#ifndef PW_OPS_TRAINING_ROOM_H
#define PW_OPS_TRAINING_ROOM_H

#include "op/op.h"

typedef enum { PW_TRAINING_ADAGRAD, PW_TRAINING_ADAM, PW_TRAINING_MOMENTUM } pw_training_kind;

/* What an entry's `data` points to. The inputs after R and T come in groups of one tensor for each variable:
 * X, G, then the states; the outputs likewise: the new X, then the new states. */
struct pw_training_form {
    pw_training_kind kind;
    int states;       /* 1 or 2 */
    int square_state; /* the state that holds sums of squares, -1: none */
};

/* How many variables a call updates; checks the counts and that a variable's tensors have one shape. */
pw_status pw_training_variables(const struct pw_call *call, int *out, struct pw_error *err);
/* Momentum's mode. */
pw_status pw_training_nesterov(const struct pw_call *call, bool *out, struct pw_error *err);

pw_status pw_training_evaluate(struct pw_eval *ev, struct pw_error *err);

#endif
