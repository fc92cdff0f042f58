/*
 * Huge cases (verify --huge): one case a signature whose largest tensor has just over 2^31 elements, where an index of
 * 32 bits overflows. Only where the reference needs no more memory than the tensors themselves: integers and booleans
 * of elementwise, activation, layout and embedding operators; and only where the host has that memory twice over.
 *
 * Such a case is one run without a second one. Its id is like any other: what is that large is drawn by a hash of the
 * index, whatever the distribution says, so that an element differs from those 2^31 and 2^32 before it. One at a time:
 * the memory is counted for one.
 */
#ifndef PW_VERIFY_HUGE_H
#define PW_VERIFY_HUGE_H

#include "verify/shapes.h"
#include "verify/verify_internal.h"

#define PW_HUGE_ELEMENTS ((int64_t)1 << 31)
#define PW_HUGE_BEYOND 4096 /* elements beyond it that there are at least */
/* Inputs with so many elements are drawn by the hash, and given back as soon as the device has them. */
#define PW_HUGE_PART ((int64_t)1 << 16)

/* Where a tensor counts as huge: the effort's number, or PW_HUGE_ELEMENTS. */
int64_t pw_huge_threshold(const struct pw_verify_request *request);

/* Is this case's call one that is run as a huge one? Only with changed shapes: what the graph itself has is run as any
 * other case. */
bool pw_huge_is(const struct pw_signature *signature, const struct pw_case_spec *spec, int64_t threshold);

/* The huge case of a signature: the dims that go together, made as large as needed, in the narrowest dtype that the
 * target serves; of several the one that needs the least memory. False with the reason in why. */
bool pw_huge_plan(const struct pw_shapes *shapes, struct pw_case_spec *spec, struct pw_buf *why);

/* Bytes of memory that the case takes at its most, both processes together and what a device with memory of its own has
 * of the tensors, beside what a kernel asks for; 0: not known. */
int64_t pw_huge_need(const struct pw_signature *signature, const struct pw_case_spec *spec,
                     const struct pw_device *device);
/* Does the system have so much available, twice over? Else why says what is needed and what there is. */
bool pw_huge_affordable(int64_t need_bytes, struct pw_buf *why);

/* As pw_case_execute. */
pw_status pw_huge_execute(struct pw_case_run *run, struct pw_error *err);

/* Fills an input by a hash of each element's index, in the room's range. False for a dtype or demands (distinct,
 * ascending) that it does not serve. */
bool pw_draw_hashed(struct pw_tensor *t, const struct pw_fill *fill, uint64_t seed, uint64_t stream);

#endif
