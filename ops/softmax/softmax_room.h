/* Shared by the files of the softmax room. Reentrant; used by the room's callbacks only. */
#ifndef PW_OPS_SOFTMAX_ROOM_H
#define PW_OPS_SOFTMAX_ROOM_H

#include "op/op.h"

typedef enum { PW_SOFTMAX_SOFT, PW_SOFTMAX_LOG, PW_SOFTMAX_HARD } pw_softmax_kind;

/* What an entry's `data` points to. */
struct pw_softmax_form {
    pw_softmax_kind kind;
    bool flattens; /* before opset 13: everything from `axis` on is one row */
};

/* The tensor as [outer][length][inner]; the function runs along `length`. */
struct pw_softmax_layout {
    int64_t outer, length, inner;
};

/* For concrete dims; axis in [0, rank) (rank itself too when flattening). */
struct pw_softmax_layout pw_softmax_layout(const int64_t *dims, int rank, int axis, bool flattens);

/* The normalised axis of a call for an input of this rank. */
pw_status pw_softmax_axis(const struct pw_call *call, int rank, int *axis, struct pw_error *err);

pw_status pw_softmax_golden(struct pw_eval *ev, struct pw_error *err);
pw_status pw_softmax_ordered(struct pw_eval *ev, struct pw_error *err);
pw_status pw_softmax_fast(struct pw_eval *ev, struct pw_error *err);

#endif
