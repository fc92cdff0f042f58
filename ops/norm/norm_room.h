/*
 * Shared by the files of the norm room.
 *
 * All operators but LRN are one scheme: the tensor is a view of a few dims; over the `reduced` ones a
 * mean and a scale are taken (or, in BatchNormalization's test mode, given), and scale and bias are read
 * through strides along the same dims. Reentrant; used by the room's callbacks only.
 */
#ifndef PW_OPS_NORM_ROOM_H
#define PW_OPS_NORM_ROOM_H

#include "op/op.h"

typedef enum {
    PW_NORM_BATCH,
    PW_NORM_INSTANCE,
    PW_NORM_LAYER,
    PW_NORM_GROUP,
    PW_NORM_RMS,
    PW_NORM_LP,
    PW_NORM_MEAN_VARIANCE,
    PW_NORM_LRN,
    PW_NORM_KINDS
} pw_norm_kind;

/* What an entry's `data` points to. */
struct pw_norm_form {
    pw_norm_kind kind;
    int scale, bias, mean, variance;    /* inputs, -1 = none */
    int outputs_mean, outputs_variance; /* outputs of statistics, -1 = none */
};

#define PW_NORM_DIMS (PW_MAX_RANK + 2)

struct pw_norm_view {
    int rank;
    int64_t dims[PW_NORM_DIMS];
    bool reduced[PW_NORM_DIMS];
    int64_t scale[PW_NORM_DIMS]; /* strides of scale, 0 where it is broadcast */
    int64_t bias[PW_NORM_DIMS];
    bool training; /* BatchNormalization: statistics of this batch */
};

/* The same with the dims of either kind apart, neighbours merged, for loops and kernels. */
struct pw_norm_loops {
    int kept_rank, set_rank;
    int64_t kept_dims[PW_NORM_DIMS], kept_x[PW_NORM_DIMS], kept_scale[PW_NORM_DIMS], kept_bias[PW_NORM_DIMS];
    int64_t set_dims[PW_NORM_DIMS], set_x[PW_NORM_DIMS], set_scale[PW_NORM_DIMS], set_bias[PW_NORM_DIMS];
    int64_t sets;  /* product of kept_dims: how many mean/variance pairs */
    int64_t terms; /* product of set_dims */
};

/* All shapes must be numbers. */
pw_status pw_norm_view(const struct pw_call *call, struct pw_norm_view *v, struct pw_error *err);
void pw_norm_loops(const struct pw_norm_view *v, struct pw_norm_loops *l);

/* Rows form: sets are contiguous rows of `segments` segments of `length` elements; the parameter of element e
 * of segment s of row r is (r % period) * row_step + s * segment_step + e * step. False when it is another. */
struct pw_norm_rows {
    int64_t rows, segments, length, period, row_step, segment_step, step;
};
bool pw_norm_rows(const struct pw_norm_view *v, struct pw_norm_rows *out);

/* Is this call BatchNormalization with statistics of the batch? */
bool pw_norm_training(const struct pw_call *call);
/* The normalised axis of LayerNormalization and its like. */
pw_status pw_norm_axis(const struct pw_call *call, int rank, int *axis, struct pw_error *err);

pw_status pw_norm_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);

pw_status pw_norm_golden(struct pw_eval *ev, struct pw_error *err);
pw_status pw_norm_ordered(struct pw_eval *ev, struct pw_error *err);
pw_status pw_norm_fast(struct pw_eval *ev, struct pw_error *err);
pw_status pw_norm_lrn_golden(struct pw_eval *ev, struct pw_error *err);
pw_status pw_norm_lrn_fast(struct pw_eval *ev, struct pw_error *err);

#endif
