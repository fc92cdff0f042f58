/*
 * Tensors and values.
 *
 * A tensor is dense, row-major (C order), contiguous. Its bytes are borrowed (a mapped
 * file, a memfd) or owned. `dtype` is how the elements lie in memory; `nominal` is what
 * the model says they are. They differ only inside the references: golden carries every
 * float16/bfloat16/float32/float8 tensor as float64, fast as float32.
 * A value is what flows along a graph's edge: a tensor, a sequence, an absent optional.
 * Plain data: no locks; share read-only.
 */
#ifndef PW_TENSOR_TENSOR_H
#define PW_TENSOR_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "tensor/dtype.h"

#define PW_MAX_RANK 16

struct pw_bytes { /* element of a string tensor */
    const char *data;
    size_t size;
};

struct pw_tensor {
    pw_dtype dtype;            /* in memory */
    pw_dtype nominal;          /* in the model; equal to dtype outside the references */
    int rank;                  /* 0..PW_MAX_RANK */
    int64_t dims[PW_MAX_RANK]; /* >= 0 */
    int64_t count;             /* product of dims */
    void *data;                /* count * bytes(dtype); NULL only when count is 0 */
    bool owned;                /* data came from pw_alloc_aligned and is freed by pw_tensor_clear;
                                  strings: the bytes behind each element are owned too */
};

/* Allocates zeroed memory; nominal = dtype. Refuses rank, negative dims, products over 2^48 bytes. */
pw_status pw_tensor_init(struct pw_tensor *t, pw_dtype dtype, int rank, const int64_t *dims, struct pw_error *err);
/* From now on pw_tensor_init does not write what it allocates (but for strings). Only for a process that times the
 * references and throws their results away: zeroing an output costs as much as a simple operator. */
void pw_tensor_leave_unset(bool unset);
/* Borrows data. */
void pw_tensor_borrow(struct pw_tensor *t, pw_dtype dtype, int rank, const int64_t *dims, const void *data);
pw_status pw_tensor_copy(struct pw_tensor *dst, const struct pw_tensor *src, struct pw_error *err);
void pw_tensor_clear(struct pw_tensor *t);
size_t pw_tensor_bytes(const struct pw_tensor *t); /* count * element bytes */

/* Large weights of a mapped file lie where the file has them, at any address. Copying, converting,
 * getting elements and comparing accept that; whoever casts `data` to an element type needs
 * pw_tensor_aligned first (evaluation sees to it for rooms). */
size_t pw_tensor_alignment(pw_dtype dtype); /* bytes, of one element's scalar */
bool pw_tensor_aligned(const struct pw_tensor *t);

/* New tensor with elements converted. Float to float rounds once to nearest even (no
 * saturation); integer to integer wraps; float to integer truncates. nominal of dst = dtype. */
pw_status pw_tensor_convert(struct pw_tensor *dst, const struct pw_tensor *src, pw_dtype dtype, struct pw_error *err);

/* One element as double / int64, whatever the numeric dtype (by dtype, not nominal). Slow path. */
double pw_tensor_get(const struct pw_tensor *t, int64_t i);
int64_t pw_tensor_get_int(const struct pw_tensor *t, int64_t i);
void pw_tensor_set(struct pw_tensor *t, int64_t i, double value);
void pw_tensor_set_int(struct pw_tensor *t, int64_t i, int64_t value);

/* Elements [begin, begin + count) as doubles, by dtype; complex and strings give zeros. Fast. */
void pw_tensor_load(const struct pw_tensor *t, int64_t begin, int64_t count, double *dst);

/* Product of dims in [from, to). */
int64_t pw_tensor_span(const struct pw_tensor *t, int from, int to);

/* "float32[2,3]" */
void pw_tensor_describe(const struct pw_tensor *t, struct pw_buf *out);

/* Sets string element i to a copy of the bytes. */
pw_status pw_tensor_set_string(struct pw_tensor *t, int64_t i, const char *bytes, size_t size, struct pw_error *err);
/* Copies n elements from one place to another, both of one dtype; strings are copied one by one. */
pw_status pw_tensor_move(struct pw_tensor *dst, int64_t to, const struct pw_tensor *src, int64_t from, int64_t n,
                         struct pw_error *err);
/* Elements from one index to the next on each axis of a dense tensor; a dim of 0 does not zero the rest. The product of
 * the dims must fit. */
void pw_tensor_strides(int rank, const int64_t *dims, int64_t *strides);

typedef enum {
    PW_VALUE_NONE = 0, /* absent: an empty optional, or not computed */
    PW_VALUE_TENSOR,
    PW_VALUE_SEQUENCE
} pw_value_kind;

struct pw_value {
    pw_value_kind kind;
    struct pw_tensor tensor; /* when TENSOR */
    struct pw_value *items;  /* when SEQUENCE; owned */
    size_t count;
    pw_dtype item_dtype; /* element type of a sequence (kept when it is empty), nominal */
};

void pw_value_clear(struct pw_value *v); /* frees what it owns, leaves NONE */
pw_status pw_value_copy(struct pw_value *dst, const struct pw_value *src, struct pw_error *err);
/* A view of a tensor: shares data, owns nothing. */
void pw_value_borrow(struct pw_value *dst, const struct pw_tensor *src);
/* A view of any value: tensors are shared, a sequence's items array is copied. Cleared like a copy. */
pw_status pw_value_view(struct pw_value *dst, const struct pw_value *src, struct pw_error *err);

#endif
