/*
 * Other shapes for a signature's call. Which dims may change, and which must change together, is found by asking the
 * room's shape inference: a dim that it accepts alone is free; else the dims (and shape contents) of the same size
 * are tried together and those that need not follow are dropped again. Nothing here knows an operator.
 *
 * One per signature; one thread at a time.
 */
#ifndef PW_VERIFY_SHAPES_H
#define PW_VERIFY_SHAPES_H

#include "verify/case_id.h"

struct pw_shapes;

pw_status pw_shapes_create(const struct pw_signature *signature, const struct pw_verify_request *request,
                           const struct pw_impl *impl, struct pw_shapes **out, struct pw_error *err);
void pw_shapes_destroy(struct pw_shapes *shapes);

/* The nth shape of a seed: 1, primes, tile + 1, tile - 1, long row, large batch, 0, broadcast, negative axes,
 * work-group sizes ± 1, many elements, near the graph's, an odd number of elements, strides (another axis, a transposed
 * operand), broadcast in every position (two kinds), then random mixtures. Fills the spec's changes (its dtype counts
 * for what kernels support); false: there is no such shape, or no kernel on the target serves it. */
bool pw_shapes_make(struct pw_shapes *shapes, uint64_t seed, int n, struct pw_case_spec *spec);
#define PW_SHAPES_KINDS 16
const char *pw_shapes_kind(int n); /* "ones", "primes", … */

/* Infers, within the limits of size and cost, and a kernel or library of the target serves it. *too_large (may be
 * NULL) tells why not. */
bool pw_shapes_serves(const struct pw_shapes *shapes, const struct pw_case_spec *spec, bool *too_large);
bool pw_shapes_can_vary(const struct pw_shapes *shapes);
/* Dims that change together. */
size_t pw_shapes_group_count(const struct pw_shapes *shapes);
/* Tries to make group g of the spec's shapes smaller: the step'th attempt (1: to 1, 2: half, 3: one less). False when
 * there is nothing smaller or the room or the kernels refuse. */
bool pw_shapes_reduce(struct pw_shapes *shapes, const struct pw_case_spec *spec, size_t group, int step,
                      struct pw_case_spec *out);
/* "varies: input 0 dim 1 = input 1 dim 0 (384 in the graph)" lines, for --explain. */
void pw_shapes_describe(const struct pw_shapes *shapes, struct pw_buf *out);

#endif
