/*
 * A bounded cursor over the protobuf wire format.
 *
 * Reads only inside [at, end), allocates nothing, and reports every malformation with the
 * byte offset at which it was found. A message is decoded in one sweep over its own fields
 * (bodies of nested messages are hopped over, so a weight is never touched) into an array of
 * slots indexed by field number; repeated fields are then walked again with pw_wire_find.
 * Unknown fields and groups are skipped. Thread-safe: no state outside the structs.
 */
#ifndef PW_GRAPH_WIRE_H
#define PW_GRAPH_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct pw_wire {
    const uint8_t *at, *end;
    const uint8_t *base; /* start of the file: offsets in messages count from here */
};

struct pw_wire_field {
    uint32_t number;
    unsigned type;       /* wire type: 0 varint, 1 fixed64, 2 bytes, 5 fixed32 */
    uint64_t value;      /* of a varint or a fixed one */
    const uint8_t *data; /* of bytes */
    size_t size;
};

/* What the schema says of a field. */
typedef enum {
    PW_WIRE_SKIP = 0, /* not wanted */
    PW_WIRE_VARINT,
    PW_WIRE_FIXED32,
    PW_WIRE_BYTES,   /* string, bytes or message */
    PW_WIRE_VARINTS, /* repeated, packed or not */
    PW_WIRE_FIXED32S,
    PW_WIRE_FIXED64S,
    PW_WIRE_KIND_COUNT
} pw_wire_kind;

struct pw_wire_rule {
    const char *name; /* for messages */
    pw_wire_kind kind;
};

struct pw_wire_schema {
    const char *name;                 /* "NodeProto" */
    const struct pw_wire_rule *rules; /* indexed by field number */
    uint32_t count;                   /* entries of rules */
};

/* What a message holds of one field: the last occurrence, and where the first one is. */
struct pw_wire_slot {
    size_t count;         /* occurrences on the wire */
    const uint8_t *first; /* tag of the first */
    uint64_t value;
    const uint8_t *data;
    size_t size;
};

/* Next field: 1, or 0 at the end, or -1 with err set. */
int pw_wire_next(struct pw_wire *wire, struct pw_wire_field *field, struct pw_error *err);

/* Fills slots[0 … schema->count-1]; a known field with the wrong wire type is an error. */
pw_status pw_wire_decode(struct pw_wire wire, const struct pw_wire_schema *schema, struct pw_wire_slot *slots,
                         struct pw_error *err);

/* A cursor that starts at a slot's first occurrence, and the body of its last one. */
struct pw_wire pw_wire_from(struct pw_wire message, const struct pw_wire_slot *slot);
struct pw_wire pw_wire_body(struct pw_wire message, const uint8_t *data, size_t size);

/* The next field `number` of a message that was decoded without error; false at the end. */
bool pw_wire_find(struct pw_wire *wire, uint32_t number, struct pw_wire_field *field);

/* Elements of a repeated number, packed or not. count fails on a body that ends inside an element. */
struct pw_wire_numbers {
    struct pw_wire wire;
    uint32_t number;
    pw_wire_kind kind;
    const uint8_t *at, *end; /* inside a packed body */
};
pw_status pw_wire_count(struct pw_wire message, const struct pw_wire_schema *schema, uint32_t number,
                        const struct pw_wire_slot *slot, size_t *count, struct pw_error *err);
void pw_wire_numbers_init(struct pw_wire_numbers *it, struct pw_wire message, const struct pw_wire_schema *schema,
                          uint32_t number, const struct pw_wire_slot *slot);
bool pw_wire_number(struct pw_wire_numbers *it, uint64_t *value);

#endif
