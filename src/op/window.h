/*
 * Sliding windows: what convolutions, pools and Col2Im share.
 *
 * Reads kernel_shape, strides, dilations, pads, auto_pad and ceil_mode of a call, checks them
 * against the rank (they come from hostile files: every value is bounded) and gives padding and
 * output extents per spatial axis, symbolic where the input's extents are. An attribute that the
 * operator's version does not have takes its default. Pure; as thread-safe as the call's dims.
 */
#ifndef PW_OP_WINDOW_H
#define PW_OP_WINDOW_H

#include "op/op.h"

#define PW_WINDOW_AXES (PW_MAX_RANK - 2)
#define PW_WINDOW_LIMIT INT32_MAX /* largest kernel extent, stride, dilation or pad */

struct pw_window {
    int axes;                      /* spatial axes */
    pw_dim in[PW_WINDOW_AXES];     /* input extents; PW_DIM_UNKNOWN where unknown */
    pw_dim kernel[PW_WINDOW_AXES]; /* numbers unless the weights' shape is symbolic */
    int64_t stride[PW_WINDOW_AXES];
    int64_t dilation[PW_WINDOW_AXES];
    pw_dim pad_begin[PW_WINDOW_AXES];
    pw_dim pad_end[PW_WINDOW_AXES];
    pw_dim out[PW_WINDOW_AXES]; /* output extents */
};

/* The same with every extent a number. */
struct pw_window_numbers {
    int axes;
    int64_t in[PW_WINDOW_AXES], kernel[PW_WINDOW_AXES], stride[PW_WINDOW_AXES], dilation[PW_WINDOW_AXES];
    int64_t pad_begin[PW_WINDOW_AXES], pad_end[PW_WINDOW_AXES], out[PW_WINDOW_AXES];
    int64_t taps;    /* product of kernel extents */
    int64_t in_size; /* products of the extents */
    int64_t out_size;
};

/* A window that slides over `in` (axes extents) with out = floor((in + pads - extent)/stride) + 1, or by
 * ceil_mode, or as auto_pad says. kernel: extents from the weights, NULL when only kernel_shape says. */
pw_status pw_window_read(const struct pw_call *call, int axes, const pw_dim *in, const pw_dim *kernel,
                         struct pw_window *w, struct pw_error *err);

/* The window of a transposed convolution: `in` is spread by the strides (output_padding, output_shape). */
pw_status pw_window_read_transposed(const struct pw_call *call, int axes, const pw_dim *in, const pw_dim *kernel,
                                    struct pw_window *w, struct pw_error *err);

/* Only strides, dilations, pads and kernel (attribute or given), without output extents. */
pw_status pw_window_read_plain(const struct pw_call *call, int axes, const pw_dim *kernel, struct pw_window *w,
                               struct pw_error *err);

/* Numbers of a window; an error names the axis that is not one. */
pw_status pw_window_numbers(const struct pw_call *call, const struct pw_window *w, struct pw_window_numbers *n,
                            struct pw_error *err);

#endif
