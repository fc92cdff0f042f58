/*
 * The resizing room's own header. A Resize or Upsample call is settled into one struct
 * pw_resize: per axis its extents, its scale and how positions map; from that, per axis a table of
 * input positions and weights, which references and kernels share. Pure.
 */
#ifndef PW_OPS_RESIZE_H
#define PW_OPS_RESIZE_H

#include "op/op.h"

typedef enum { PW_RESIZE_NEAREST, PW_RESIZE_LINEAR, PW_RESIZE_CUBIC } pw_resize_mode;

typedef enum {
    PW_RESIZE_HALF_PIXEL,
    PW_RESIZE_HALF_PIXEL_SYMMETRIC,
    PW_RESIZE_PYTORCH_HALF_PIXEL,
    PW_RESIZE_ALIGN_CORNERS,
    PW_RESIZE_ASYMMETRIC,
    PW_RESIZE_TF_HALF_PIXEL_FOR_NN,
    PW_RESIZE_TF_CROP_AND_RESIZE
} pw_resize_transform;

typedef enum {
    PW_RESIZE_ROUND_PREFER_FLOOR,
    PW_RESIZE_ROUND_PREFER_CEIL,
    PW_RESIZE_FLOOR,
    PW_RESIZE_CEIL,
    PW_RESIZE_SIMPLE /* Resize 10: up when shrinking, down when growing */
} pw_resize_rounding;

struct pw_resize_axis {
    int64_t in, out;
    double scale;      /* as given, or out / in */
    double start, end; /* region of tf_crop_and_resize; 0 and 1 elsewhere */
};

struct pw_resize {
    pw_resize_mode mode;
    pw_resize_transform transform;
    pw_resize_rounding rounding;
    double cubic_a;
    bool exclude_outside;
    bool antialias;
    double extrapolation;
    int rank;
    struct pw_resize_axis axes[PW_MAX_RANK];
};

/* Where the elements of one axis of the output come from. */
struct pw_resize_table {
    int64_t in, out;
    int64_t taps;   /* weights an output position */
    int32_t *index; /* [out * taps] input positions; -1: the whole position is the extrapolation value */
    double *weight; /* [out * taps] */
    bool identity;  /* output position i is input position i */
};

/* Reads attributes and the contents of scales, sizes and roi; an error when a needed one is not known. */
pw_status pw_resize_settle(const struct pw_call *call, struct pw_resize *r, struct pw_error *err);

/* Fills one table; its arrays are in the call's arena. */
pw_status pw_resize_table(const struct pw_call *call, const struct pw_resize *r, int axis, struct pw_resize_table *t,
                          struct pw_error *err);

/* resize_infer.c */
pw_status pw_resize_infer(struct pw_call *call, struct pw_error *err);

pw_status pw_resize_eval(struct pw_eval *ev, struct pw_error *err);
pw_status pw_grid_sample_eval(struct pw_eval *ev, struct pw_error *err);
pw_status pw_affine_grid_eval(struct pw_eval *ev, struct pw_error *err);

pw_status pw_resize_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_grid_sample_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_affine_grid_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);

/* GridSample's attributes. */
typedef enum { PW_GRID_ZEROS, PW_GRID_BORDER, PW_GRID_REFLECTION } pw_grid_padding;
struct pw_grid {
    pw_resize_mode mode;
    pw_grid_padding padding;
    bool align;
};
pw_status pw_grid_settle(const struct pw_call *call, struct pw_grid *g, struct pw_error *err);

/* The integer nearest below a real result: both references and kernels snap to 2^-20 first, so that 2.9999999
 * in one and 3 in the other do not differ by one. Saturates; NaN gives 0. */
int64_t pw_resize_truncate(double value, pw_dtype dtype);

#endif
