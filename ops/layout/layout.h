/*
 * Inside of the layout room: what its files share.
 *
 * Most operators of the room are one idea, a strided copy: each output element comes from a place
 * that is affine in its coordinates (Reshape, Transpose, Slice, Expand, Tile, Concat, Split,
 * DepthToSpace…). An operator's `plan` says which for one concrete call; inference uses it to move
 * symbolic contents, the reference to move tensors, bind to set up the kernels. Pad, Trilu and
 * ReverseSequence have plans of their own. All functions are pure.
 */
#ifndef PW_OPS_LAYOUT_H
#define PW_OPS_LAYOUT_H

#include "op/op.h"

#define PW_LAYOUT_RANK (2 * PW_MAX_RANK + 2)

/* dst[dst_offset + sum i[d]*dst_stride[d]] = src[src_offset + sum i[d]*src_stride[d]], all i in dims. In elements. */
struct pw_layout_copy {
    int rank;
    int64_t dims[PW_LAYOUT_RANK];
    int64_t src_stride[PW_LAYOUT_RANK]; /* may be 0 or negative */
    int64_t dst_stride[PW_LAYOUT_RANK];
    int64_t src_offset, dst_offset;
};

/* Drops dims of 1 and joins neighbours that are one run on both sides; the result has rank >= 1.
 * Any dim 0 gives {1: 0}. */
void pw_layout_simplify(struct pw_layout_copy *copy);
/* When the innermost dim is strided in the source while another one is dense there, moves that one to the place
 * before the innermost (the order of dims is free) and returns true: the last two are a matrix to transpose. */
bool pw_layout_make_tiled(struct pw_layout_copy *copy);
/* Moves elements of 1, 2, 4, 8 or 16 bytes; simplifies a copy of its own. Threaded. */
void pw_layout_run(const struct pw_layout_copy *copy, size_t element_bytes, const void *src, void *dst);
/* The same for tensors, strings included (dst owns its texts). */
pw_status pw_layout_move(const struct pw_layout_copy *copy, const struct pw_tensor *src, struct pw_tensor *dst,
                         struct pw_error *err);

/* What an operator adds to the shared callbacks (op->data). */
struct pw_layout_kind {
    /* The copy for element `part` of the variadic formal (0 where there is none); concrete calls only. */
    pw_status (*plan)(const struct pw_call *call, int part, struct pw_layout_copy *copy, struct pw_error *err);
    bool concat; /* parts are inputs */
    bool split;  /* parts are outputs */
};

/* ---- layout_call.c: what is known of a call ---- */

/* A dim that is a number in dims[], for inference: an unknown one becomes a fresh symbol. */
pw_dim pw_layout_known(const struct pw_call *call, pw_dim dim);
/* Concrete dims of an info; an error when one is not a number. */
/* Integer content of an input, also of a float constant (Tile-1, Split-1). *known = false when it is not all numbers.
 */
pw_status pw_layout_param(const struct pw_call *call, int input, const int64_t **values, size_t *count, bool *known,
                          struct pw_error *err);
/* Content of an input as dims (PW_DIM_UNKNOWN where an element is unknown); NULL when nothing is known. */
const pw_dim *pw_layout_content(const struct pw_call *call, int input, size_t *count);
/* Elements of a 1-D input from its shape alone; -1 unknown. */
int64_t pw_layout_length(const struct pw_call *call, int input);
/* Axes from attribute `axes` or input `input` (-1 = none), normalised, without repetition. *known = false: the
 * input's content is not known. absent: *count = 0 and *given = false. */
struct pw_layout_axes {
    bool given, known;
    size_t count;
    int axis[PW_MAX_RANK];
};
pw_status pw_layout_axes(const struct pw_call *call, int input, int rank, struct pw_layout_axes *out,
                         struct pw_error *err);
/* Moves the content of the inputs by the operator's plan when every dim is a number. */
pw_status pw_layout_propagate(struct pw_call *call, struct pw_error *err);
/* Sets output i with dims made known; rank -1 passes. */
void pw_layout_output(struct pw_call *call, int i, int rank, const pw_dim *dims);

/* ---- inference and plans ---- */

pw_status pw_layout_infer_identity(struct pw_call *call, struct pw_error *err);
pw_status pw_layout_infer_reshape(struct pw_call *call, struct pw_error *err);
pw_status pw_layout_infer_flatten(struct pw_call *call, struct pw_error *err);
pw_status pw_layout_infer_squeeze(struct pw_call *call, struct pw_error *err);
pw_status pw_layout_infer_unsqueeze(struct pw_call *call, struct pw_error *err);
pw_status pw_layout_infer_transpose(struct pw_call *call, struct pw_error *err);
pw_status pw_layout_infer_concat(struct pw_call *call, struct pw_error *err);
pw_status pw_layout_infer_split(struct pw_call *call, struct pw_error *err);
pw_status pw_layout_infer_slice(struct pw_call *call, struct pw_error *err);
pw_status pw_layout_infer_expand(struct pw_call *call, struct pw_error *err);
pw_status pw_layout_infer_tile(struct pw_call *call, struct pw_error *err);
pw_status pw_layout_infer_shape(struct pw_call *call, struct pw_error *err);
pw_status pw_layout_infer_size(struct pw_call *call, struct pw_error *err);
pw_status pw_layout_infer_depth_to_space(struct pw_call *call, struct pw_error *err);
pw_status pw_layout_infer_space_to_depth(struct pw_call *call, struct pw_error *err);
pw_status pw_layout_infer_pad(struct pw_call *call, struct pw_error *err);
pw_status pw_layout_infer_center(struct pw_call *call, struct pw_error *err);
pw_status pw_layout_infer_trilu(struct pw_call *call, struct pw_error *err);
pw_status pw_layout_infer_reverse(struct pw_call *call, struct pw_error *err);

extern const struct pw_layout_kind pw_layout_dense, pw_layout_transpose, pw_layout_concat, pw_layout_split,
    pw_layout_slice, pw_layout_expand, pw_layout_tile, pw_layout_depth_to_space, pw_layout_space_to_depth;

/* ---- Pad and CenterCropPad ---- */

typedef enum { PW_PAD_CONSTANT, PW_PAD_REFLECT, PW_PAD_EDGE, PW_PAD_WRAP } pw_pad_mode;

struct pw_layout_pad {
    pw_pad_mode mode;
    int rank;
    int64_t in[PW_MAX_RANK], out[PW_MAX_RANK];
    int64_t begin[PW_MAX_RANK];                  /* output coordinate of input coordinate 0; negative crops */
    int64_t low[PW_MAX_RANK], high[PW_MAX_RANK]; /* input coordinates left after cropping: [low, high) */
};
pw_status pw_layout_plan_pad(const struct pw_call *call, struct pw_layout_pad *pad, struct pw_error *err);
pw_status pw_layout_plan_center(const struct pw_call *call, struct pw_layout_pad *pad, struct pw_error *err);
/* Joins neighbouring dims that are not padded. */
void pw_layout_simplify_pad(struct pw_layout_pad *pad);
/* Input coordinate behind output coordinate o of dim d, or -1 (the constant). */
int64_t pw_layout_pad_source(const struct pw_layout_pad *pad, int d, int64_t o);

/* ReverseSequence as [outer, time, inner] with batch inside one of them. */
struct pw_layout_reverse {
    int64_t batch, time, inner; /* sizes; inner after both axes */
    int64_t batch_stride, time_stride;
};
pw_status pw_layout_plan_reverse(const struct pw_call *call, struct pw_layout_reverse *r, struct pw_error *err);
/* Diagonal of Trilu; *known = false while k is not. */
pw_status pw_layout_trilu_k(const struct pw_call *call, int64_t *k, bool *known, struct pw_error *err);

/* ---- reference ---- */

pw_status pw_layout_ref_identity(struct pw_eval *ev, struct pw_error *err);
pw_status pw_layout_ref_copy(struct pw_eval *ev, struct pw_error *err);
pw_status pw_layout_ref_concat(struct pw_eval *ev, struct pw_error *err);
pw_status pw_layout_ref_split(struct pw_eval *ev, struct pw_error *err);
pw_status pw_layout_ref_shape(struct pw_eval *ev, struct pw_error *err);
pw_status pw_layout_ref_size(struct pw_eval *ev, struct pw_error *err);
pw_status pw_layout_ref_pad(struct pw_eval *ev, struct pw_error *err);
pw_status pw_layout_ref_center(struct pw_eval *ev, struct pw_error *err);
pw_status pw_layout_ref_trilu(struct pw_eval *ev, struct pw_error *err);
pw_status pw_layout_ref_reverse(struct pw_eval *ev, struct pw_error *err);

/* ---- binding ---- */

pw_status pw_layout_bind_copy(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_layout_bind_shape(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_layout_bind_size(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_layout_bind_pad(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_layout_bind_center(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_layout_bind_trilu(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_layout_bind_reverse(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);

#endif
