/*
 * Broadcasting of several operands to one output shape, prepared for fast loops: adjacent dims that every
 * operand walks alike become one, so [2,3,4]+[2,3,4] is one run of 24 and [8,1,64]+[64] two dims.
 * The innermost dim is a run in which each operand steps by 1 or stays (0). Used by the references
 * and by rooms that bind strides for kernels. Plain data, no allocation.
 */
#ifndef PW_TENSOR_BROADCAST_H
#define PW_TENSOR_BROADCAST_H

#include <stdbool.h>
#include <stdint.h>

#include "tensor/tensor.h"

#define PW_BROADCAST_OPERANDS 8

struct pw_broadcast {
    int rank; /* >= 1 */
    int operands;
    int64_t count;                                       /* output elements */
    int64_t dims[PW_MAX_RANK];                           /* collapsed, outermost first */
    int64_t strides[PW_BROADCAST_OPERANDS][PW_MAX_RANK]; /* in elements; 0 where broadcast */
};

/* Operand i has ranks[i] dims at dims[i], aligned to the right of the output as in numpy. False when one does
 * not fit (or there are too many): callers checked the shapes before. */
bool pw_broadcast_plan(struct pw_broadcast *b, int rank, const int64_t *out_dims, int operands, const int *ranks,
                       const int64_t *const *dims);

/* Visits the output elements [begin, end) in runs: `out` is the first element, `at[i]` where operand i is,
 * `steps[i]` 0 or 1, `n` the length. */
typedef void pw_broadcast_run(void *user, int64_t out, const int64_t *at, const int64_t *steps, int64_t n);
void pw_broadcast_walk(const struct pw_broadcast *b, int64_t begin, int64_t end, pw_broadcast_run *run, void *user);

/* Numpy's result shape of two; false when they conflict. dims may be a or b itself. */
bool pw_broadcast_shape(int rank_a, const int64_t *a, int rank_b, const int64_t *b, int *rank, int64_t *dims);

#endif
