/*
 * Inside of the gather room: operators whose indices are data. Each has a plan, a handful of sizes read
 * from a concrete call, that the reference walks and bind hands to the kernels. All functions are pure.
 * Offsets and sizes are in elements.
 */
#ifndef PW_OPS_GATHER_H
#define PW_OPS_GATHER_H

#include "op/op.h"

/* ---- gather_call.c: what is known of a call ---- */

pw_dim pw_gather_known(const struct pw_call *call, pw_dim dim);
bool pw_gather_ranked(const struct pw_info *info); /* a tensor of known rank */
int64_t pw_gather_product(const int64_t *dims, int from, int to);
/* Sets output i, unknown dims made fresh; rank -1 passes. */
void pw_gather_output(struct pw_call *call, int i, pw_dtype dtype, int rank, const pw_dim *dims);
/* One number of a PARAM or constant input, also a float one. */
pw_status pw_gather_number(const struct pw_call *call, int input, int64_t *value, bool *known, struct pw_error *err);

/* ---- plans ---- */

/* out[o, j, :] = data[o, indices[j], :] */
struct pw_gather_axis {
    int64_t outer, size, inner;
    int64_t count; /* indices */
};
pw_status pw_gather_plan_axis(const struct pw_call *call, struct pw_gather_axis *g, struct pw_error *err);

/* GatherElements and ScatterElements: an index replaces the coordinate on `axis`. */
struct pw_gather_elements {
    int rank, axis;
    int64_t size;                 /* of data on the axis */
    int64_t dims[PW_MAX_RANK];    /* of indices (and updates) */
    int64_t strides[PW_MAX_RANK]; /* of data */
    int64_t count;                /* indices */
};
pw_status pw_gather_plan_elements(const struct pw_call *call, struct pw_gather_elements *g, struct pw_error *err);

/* GatherND and ScatterND: a tuple of `depth` indices names a slice of data. */
struct pw_gather_nd {
    int depth;
    int64_t sizes[PW_MAX_RANK], strides[PW_MAX_RANK]; /* of the indexed dims */
    int64_t slice;                                    /* elements */
    int64_t tuples, tuples_per_batch, batch_stride;
};
pw_status pw_gather_plan_nd(const struct pw_call *call, struct pw_gather_nd *g, struct pw_error *err);

struct pw_gather_onehot {
    int64_t outer, depth, inner;
};
pw_status pw_gather_plan_onehot(const struct pw_call *call, struct pw_gather_onehot *g, struct pw_error *err);

struct pw_gather_topk {
    int64_t outer, size, inner, k;
    bool largest;
};
pw_status pw_gather_plan_topk(const struct pw_call *call, struct pw_gather_topk *g, struct pw_error *err);

/* present = past with update[b, :, s, :] at [b, :, index[b] + s, :] */
struct pw_gather_cache {
    int64_t batch, middle, capacity, steps, inner;
    bool circular;
};
pw_status pw_gather_plan_cache(const struct pw_call *call, struct pw_gather_cache *g, struct pw_error *err);

/* Compress and Unique: slices along an axis, or single elements of the flattened tensor. */
struct pw_gather_slices {
    int64_t outer, size, inner;
};
pw_status pw_gather_plan_slices(const struct pw_call *call, struct pw_gather_slices *g, struct pw_error *err);

typedef enum {
    PW_SCATTER_NONE,
    PW_SCATTER_ADD,
    PW_SCATTER_MUL,
    PW_SCATTER_MAX,
    PW_SCATTER_MIN,
    PW_SCATTER_COUNT
} pw_scatter_reduction;
pw_status pw_gather_reduction(const struct pw_call *call, pw_scatter_reduction *out, struct pw_error *err);

/* ---- inference ---- */

pw_status pw_gather_infer_gather(struct pw_call *call, struct pw_error *err);
pw_status pw_gather_infer_elements(struct pw_call *call, struct pw_error *err);
pw_status pw_gather_infer_nd(struct pw_call *call, struct pw_error *err);
pw_status pw_gather_infer_scatter_elements(struct pw_call *call, struct pw_error *err);
pw_status pw_gather_infer_scatter_nd(struct pw_call *call, struct pw_error *err);
pw_status pw_gather_infer_onehot(struct pw_call *call, struct pw_error *err);
pw_status pw_gather_infer_nonzero(struct pw_call *call, struct pw_error *err);
pw_status pw_gather_infer_compress(struct pw_call *call, struct pw_error *err);
pw_status pw_gather_infer_unique(struct pw_call *call, struct pw_error *err);
pw_status pw_gather_infer_topk(struct pw_call *call, struct pw_error *err);
pw_status pw_gather_infer_eye(struct pw_call *call, struct pw_error *err);
pw_status pw_gather_infer_cache(struct pw_call *call, struct pw_error *err);

/* The most that the open dim of the outputs can be. */
pw_dim pw_gather_most_nonzero(const struct pw_call *call);
pw_dim pw_gather_most_slices(const struct pw_call *call); /* Compress: the conditions; Unique: the slices */

/* ---- reference ---- */

/* Output i with the inferred shape. */
pw_status pw_gather_make(struct pw_eval *ev, int i, pw_dtype nominal, struct pw_tensor **out, struct pw_error *err);
/* Indices of an input, negative ones counted from the end; an error names the first outside of [-size, size). */
pw_status pw_gather_indices(struct pw_eval *ev, int input, int64_t size, const int64_t **out, struct pw_error *err);
/* A key per element whose order is the element's: NaN is above all and equal to itself, -0 equals 0. Texts get
 * their rank. keys has t->count elements. */
pw_status pw_gather_keys(const struct pw_tensor *t, uint64_t *keys, struct pw_error *err);

pw_status pw_gather_ref_gather(struct pw_eval *ev, struct pw_error *err);
pw_status pw_gather_ref_elements(struct pw_eval *ev, struct pw_error *err);
pw_status pw_gather_ref_nd(struct pw_eval *ev, struct pw_error *err);
pw_status pw_gather_ref_scatter_elements(struct pw_eval *ev, struct pw_error *err);
pw_status pw_gather_ref_scatter_nd(struct pw_eval *ev, struct pw_error *err);
pw_status pw_gather_ref_cache(struct pw_eval *ev, struct pw_error *err);
pw_status pw_gather_ref_onehot(struct pw_eval *ev, struct pw_error *err);
pw_status pw_gather_ref_nonzero(struct pw_eval *ev, struct pw_error *err);
pw_status pw_gather_ref_compress(struct pw_eval *ev, struct pw_error *err);
pw_status pw_gather_ref_unique(struct pw_eval *ev, struct pw_error *err);
pw_status pw_gather_ref_topk(struct pw_eval *ev, struct pw_error *err);
pw_status pw_gather_ref_eye(struct pw_eval *ev, struct pw_error *err);

/* ---- binding ---- */

pw_status pw_gather_bind_gather(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_gather_bind_elements(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_gather_bind_nd(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_gather_bind_onehot(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_gather_bind_topk(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_gather_bind_cache(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_gather_bind_nonzero(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_gather_bind_slices(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_gather_bind_eye(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);

#endif
