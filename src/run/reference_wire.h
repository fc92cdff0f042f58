/* A node and its input tensors as bytes, from the session to the reference process. Used by
 * reference_process.c (writes) and reference_main.c (reads). */
#ifndef PW_RUN_REFERENCE_WIRE_H
#define PW_RUN_REFERENCE_WIRE_H

#include "op/op.h"
#include "target/worker_proto.h"

#define PW_REFERENCE_INPUTS_MAX 4096

struct pw_reference_work {
    struct pw_node *node;
    struct pw_value *inputs;    /* NONE = omitted; data borrowed from the region */
    struct pw_value *alternate; /* NONE = as in inputs */
    int repeats;
    int64_t min_time_ns;
    size_t flush_bytes;
};

/* Writes the node (attributes that are numbers, strings and tensors of numbers) and the inputs' types; offsets are
 * where each input's data goes in the region, then each alternate's (0: there is none), set by the caller.
 * PW_ERR_UNSUPPORTED names what cannot go. */
struct pw_reference_request;
pw_status pw_reference_write(struct pw_buf *out, const struct pw_reference_request *request, const size_t *offsets,
                             struct pw_error *err);

/* region: the whole shared region, whose first `size` bytes are what was written. */
pw_status pw_reference_read(const uint8_t *region, size_t region_size, size_t size, struct pw_arena *arena,
                            struct pw_reference_work *out, struct pw_error *err);

#endif
