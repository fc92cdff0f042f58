/* What the files of shapes share; not for others. */
#ifndef PW_VERIFY_SHAPES_INTERNAL_H
#define PW_VERIFY_SHAPES_INTERNAL_H

#include "verify/shapes.h"
#include "verify/verify_internal.h"

#define PW_SLOTS_MAX 64
#define PW_GROUPS_MAX 24
#define PW_SHAPE_TILES 16

struct pw_shape_slot { /* a dim of an input, or an element of a shape content */
    int input, index;
    bool content;
    int64_t value; /* in the graph's call */
};

struct pw_shape_group {
    uint64_t slots; /* bit s: slot s */
    int64_t value;  /* in the graph's call */
    int64_t step;   /* the group's size is a multiple of this */
};

struct pw_shapes {
    const struct pw_signature *signature;
    const struct pw_verify_request *request;
    struct pw_shape_slot slots[PW_SLOTS_MAX];
    int slot_count;
    struct pw_shape_group groups[PW_GROUPS_MAX];
    size_t group_count;
    int64_t tiles[PW_SHAPE_TILES]; /* of the kernel's parameters */
    size_t tile_count;
};

typedef int64_t pw_slot_values[PW_SLOTS_MAX];

void pw_shapes_graph_values(const struct pw_shapes *shapes, pw_slot_values values);
/* Values that a spec's changes give the slots; false when the spec changes what is no slot. */
bool pw_shapes_read(const struct pw_shapes *shapes, const struct pw_case_spec *spec, pw_slot_values values);
/* Puts the values that differ from the graph's into the spec as changes. */
bool pw_shapes_write(const struct pw_shapes *shapes, const pw_slot_values values, struct pw_case_spec *spec);
/* Does the room's inference accept the spec? */
bool pw_shapes_infers(const struct pw_shapes *shapes, const struct pw_case_spec *spec);
/* Elements of the largest output that the spec gives; -1 when it gives none. */
int64_t pw_shapes_elements(const struct pw_shapes *shapes, const struct pw_case_spec *spec);
#endif
