/* Shared by the files of the recurrent room. Reentrant; used by the room's callbacks only. */
#ifndef PW_OPS_RECURRENT_ROOM_H
#define PW_OPS_RECURRENT_ROOM_H

#include "op/op.h"

typedef enum { PW_RECURRENT_RNN, PW_RECURRENT_GRU, PW_RECURRENT_LSTM } pw_recurrent_cell;

typedef enum {
    PW_ACT_SIGMOID,
    PW_ACT_TANH,
    PW_ACT_RELU,
    PW_ACT_AFFINE,
    PW_ACT_LEAKY_RELU,
    PW_ACT_THRESHOLDED_RELU,
    PW_ACT_SCALED_TANH,
    PW_ACT_HARD_SIGMOID,
    PW_ACT_ELU,
    PW_ACT_SOFTSIGN,
    PW_ACT_SOFTPLUS,
    PW_ACT_COUNT
} pw_recurrent_act;

struct pw_recurrent_activation {
    pw_recurrent_act kind;
    float alpha, beta;
};

/* What an entry's `data` points to. */
struct pw_recurrent_form {
    pw_recurrent_cell cell;
    int gates;       /* 1, 3, 4 */
    int activations; /* a direction: 1, 2, 3 */
    int states;      /* outputs after Y: 1, or 2 with the cell state */
};

/* Attributes of a call; sizes are filled from its shapes by pw_recurrent_sizes. */
struct pw_recurrent {
    const struct pw_recurrent_form *form;
    int directions;
    bool reverse;     /* the only direction runs backwards */
    bool batch_first; /* layout 1 */
    bool linear_before_reset;
    bool input_forget;
    bool clips;
    float clip;
    struct pw_recurrent_activation act[6]; /* [direction][f, g, h] */
    int64_t sequence, batch, input, hidden;
};

/* Reads attributes; errors name what is wrong. */
pw_status pw_recurrent_read(const struct pw_call *call, struct pw_recurrent *r, struct pw_error *err);
/* Sizes from concrete infos; checks W, R, B, P and the initial states against each other. */
pw_status pw_recurrent_sizes(const struct pw_call *call, struct pw_recurrent *r, struct pw_error *err);

pw_status pw_recurrent_golden(struct pw_eval *ev, struct pw_error *err);

#endif
