/*
 * The convolution room's own header: the concrete geometry of a call, shared by inference,
 * references and binding. Everything here is pure.
 */
#ifndef PW_OPS_CONV_H
#define PW_OPS_CONV_H

#include "op/op.h"
#include "op/window.h"

/* Which inputs of an operator play which part, and how its weights lie. */
struct pw_conv_kind {
    int x, w, bias;     /* input positions; bias -1 = none */
    bool transposed;    /* weights [C, M/group, k…] and a window that spreads */
    bool integer;       /* 8-bit inputs with zero points */
    int x_zero, w_zero; /* integer: inputs of the zero points */
};

struct pw_conv_geometry {
    int64_t batch, channels, maps, groups; /* N, C, M, group */
    int64_t group_channels, group_maps;    /* C/group, M/group */
    struct pw_window_numbers window;
};

const struct pw_conv_kind *pw_conv_kind_of(const struct pw_call *call);

/* Checks ranks, groups and weights, reads the window. *known false when a rank is unknown (not an error). */
pw_status pw_conv_window(const struct pw_call *call, struct pw_window *w, bool *known, struct pw_error *err);
/* All numbers; an error when one is not. */
pw_status pw_conv_geometry(const struct pw_call *call, struct pw_conv_geometry *g, struct pw_error *err);

/* conv_bind.c */
pw_status pw_conv_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_deform_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_col2im_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);

/* conv_ref.c, conv_ref_int.c, conv_ref_deform.c, conv_ref_col2im.c */
pw_status pw_conv_ordered(struct pw_eval *ev, struct pw_error *err); /* conv_ref_ordered.c */
pw_status pw_conv_eval(struct pw_eval *ev, struct pw_error *err);
pw_status pw_conv_transpose_eval(struct pw_eval *ev, struct pw_error *err);
pw_status pw_conv_integer_eval(struct pw_eval *ev, struct pw_error *err);
pw_status pw_qlinear_conv_eval(struct pw_eval *ev, struct pw_error *err);
pw_status pw_deform_conv_eval(struct pw_eval *ev, struct pw_error *err);
pw_status pw_col2im_eval(struct pw_eval *ev, struct pw_error *err);

/* conv_causal.c */
pw_status pw_causal_conv_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_causal_conv_cost(const struct pw_call *call, struct pw_cost *out, struct pw_error *err);
void pw_causal_conv_accuracy(const struct pw_call *call, struct pw_accuracy *out);
pw_status pw_causal_conv_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_causal_conv_eval(struct pw_eval *ev, struct pw_error *err);

/* The geometry of a DeformConv call: `offset_groups` beside the rest. */
pw_status pw_deform_geometry(const struct pw_call *call, struct pw_conv_geometry *g, int64_t *offset_groups,
                             struct pw_error *err);
/* Col2Im: window over the image (in = image, out = blocks along each axis). */
pw_status pw_col2im_window(const struct pw_call *call, struct pw_window *w, bool *known, struct pw_error *err);

/* Columns for pixels [from, to) of the output of one group: rows are (channel, tap), `size` bytes an element,
 * zeros where the window is over the padding. x: the group's first channel. dst: [rows, to - from]. */
void pw_conv_columns(const struct pw_conv_geometry *g, const void *x, size_t size, int64_t from, int64_t to, void *dst);

/* Allocates the output and starts it with the bias. */
pw_status pw_conv_output(struct pw_eval *ev, const struct pw_conv_geometry *g, struct pw_tensor **y,
                         struct pw_error *err);
/* y += the convolution of x with w, all float or all double; exact: accumulated in long double. */
pw_status pw_conv_products(const struct pw_conv_geometry *g, bool exact, const struct pw_tensor *x,
                           const struct pw_tensor *w, struct pw_tensor *y, struct pw_error *err);
/* y[group_maps, count] (rows out_size apart) += the group's weights * columns[terms, count]. */
void pw_conv_column_product(const struct pw_conv_geometry *g, bool exact, int64_t group, const struct pw_tensor *w,
                            const void *columns, int64_t count, void *y);
/* Served by direct loops instead of a matrix product. */
bool pw_conv_is_depthwise(const struct pw_conv_geometry *g);

/* The output pixels of which columns are made at once, so that they stay within a few megabytes. */
int64_t pw_conv_column_block(int64_t rows, int64_t pixels, size_t element_bytes);

#endif
