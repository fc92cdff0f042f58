/* Shared by the files of the reduce room. Reentrant; used by the room's callbacks only. */
#ifndef PW_OPS_REDUCE_ROOM_H
#define PW_OPS_REDUCE_ROOM_H

#include "op/op.h"

typedef enum {
    PW_REDUCE_SUM,
    PW_REDUCE_MEAN,
    PW_REDUCE_MAX,
    PW_REDUCE_MIN,
    PW_REDUCE_PROD,
    PW_REDUCE_L1,
    PW_REDUCE_L2,
    PW_REDUCE_LOG_SUM,
    PW_REDUCE_LOG_SUM_EXP,
    PW_REDUCE_SUM_SQUARE,
    PW_REDUCE_KINDS
} pw_reduce_kind;

/* What a Reduce entry's `data` points to. */
struct pw_reduce_form {
    pw_reduce_kind kind;
    bool axes_input; /* axes are input 1 (ReduceSum-13, the others from 18 on), not an attribute */
};

/* What an ArgMax/ArgMin/CumSum/CumProd entry's `data` points to. */
struct pw_reduce_scan_form {
    bool min;     /* ArgMin */
    bool product; /* CumProd */
};

/* A reduction with neighbouring dims of one kind merged and dims of 1 dropped. */
struct pw_reduce_layout {
    int kept_rank, sum_rank;
    int64_t kept_dims[PW_MAX_RANK], kept_strides[PW_MAX_RANK]; /* in elements of the input */
    int64_t sum_dims[PW_MAX_RANK], sum_strides[PW_MAX_RANK];
    int64_t outputs, terms; /* products of kept_dims and sum_dims */
    bool simple;            /* [outer][length][inner] with only `length` reduced */
    int64_t outer, length, inner;
};

/* Which dims are reduced: from the attribute or the content of input 1. *known = false when that is not known. */
pw_status pw_reduce_axes(const struct pw_call *call, int rank, bool *reduced, bool *known, struct pw_error *err);
void pw_reduce_layout(const int64_t *dims, int rank, const bool *reduced, struct pw_reduce_layout *out);

pw_status pw_reduce_golden(struct pw_eval *ev, struct pw_error *err);
pw_status pw_reduce_ordered(struct pw_eval *ev, struct pw_error *err);
pw_status pw_reduce_fast(struct pw_eval *ev, struct pw_error *err);

pw_status pw_reduce_arg_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_reduce_arg_golden(struct pw_eval *ev, struct pw_error *err);
pw_status pw_reduce_arg_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
void pw_reduce_arg_accuracy(const struct pw_call *call, struct pw_accuracy *out);
pw_status pw_reduce_cum_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_reduce_cum_golden(struct pw_eval *ev, struct pw_error *err);
pw_status pw_reduce_cum_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
void pw_reduce_cum_accuracy(const struct pw_call *call, struct pw_accuracy *out);

#endif
