/* Shared by the files of the loss room. Reentrant; used by the room's callbacks only. */
#ifndef PW_OPS_LOSS_ROOM_H
#define PW_OPS_LOSS_ROOM_H

#include "op/op.h"

/* What an entry's `data` points to. */
struct pw_loss_form {
    bool softmax; /* the input are logits: log-softmax first, which is the second output */
};

typedef enum { PW_LOSS_NONE, PW_LOSS_SUM, PW_LOSS_MEAN } pw_loss_reduction;

/* The input as [batch][classes][inner], the labels as [batch][inner]: batch * inner samples. */
struct pw_loss_layout {
    int64_t batch, classes, inner;
    bool has_ignored;
    int64_t ignored; /* label whose samples count nothing */
    pw_loss_reduction reduction;
};

pw_status pw_loss_reduction_of(const struct pw_call *call, pw_loss_reduction *out, struct pw_error *err);
/* For concrete dims; checks that labels and weights fit the input. */
pw_status pw_loss_layout(const struct pw_call *call, struct pw_loss_layout *out, struct pw_error *err);

pw_status pw_loss_evaluate(struct pw_eval *ev, struct pw_error *err);

#endif
