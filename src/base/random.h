/*
 * Philox4x32-10 (Salmon et al., SC'11): counter-based, so element i of a tensor has the
 * same bits whatever thread or device makes it. Key = 64-bit seed; counter = (index,
 * stream). Tested against Random123's known answers. ops/prelude.cl has the same in OpenCL C.
 */
#ifndef PW_BASE_RANDOM_H
#define PW_BASE_RANDOM_H

#include <stdint.h>

/* Four words for block `index` of `stream`. */
void pw_philox(uint64_t seed, uint64_t stream, uint64_t index, uint32_t out[4]);

/* Element i: word i%4 of block i/4. */
uint32_t pw_random_u32(uint64_t seed, uint64_t stream, uint64_t i);
/* [0,1): the top 24 bits scaled, exact in float. */
float pw_random_unit(uint64_t seed, uint64_t stream, uint64_t i);
/* Standard normal (Box-Muller on words of block i), in double. Host only. */
double pw_random_normal(uint64_t seed, uint64_t stream, uint64_t i);
/* Uniform integer in [lo, hi], both included: words 0 (high) and 1 of block i, times the span, high half. */
int64_t pw_random_range(uint64_t seed, uint64_t stream, uint64_t i, int64_t lo, int64_t hi);

#endif
