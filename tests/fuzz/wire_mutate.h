/* Mutations that keep a protobuf message well-formed: one field somewhere in the tree is changed, dropped, doubled
 * or overwritten with a neighbour, and the lengths around it are written anew. Bytes changed at random almost
 * always break a length and are refused at the door; these get through to what lies behind it.
 * Used by the fuzzer (as its mutator) and by the replay in `make check`. */
#ifndef PW_TESTS_FUZZ_WIRE_MUTATE_H
#define PW_TESTS_FUZZ_WIRE_MUTATE_H

#include "graph/wire.h"
#include "graph/wire_write.h"
#include "tests/fuzz/fuzz.h"

#define WIRE_MUTATE_FIELDS 4096
#define WIRE_MUTATE_DEPTH 24

/* Fields of a message; 0 when the bytes are no message. */
static inline size_t wire_count(const uint8_t *data, size_t size)
{
    struct pw_wire wire = {data, data + size, data};
    struct pw_wire_field field = {0};
    size_t count = 0;
    int got = 0;
    while (count < WIRE_MUTATE_FIELDS && (got = pw_wire_next(&wire, &field, NULL)) > 0)
        count++;
    return got < 0 ? 0 : count;
}

static inline void wire_put_field(struct pw_buf *out, const struct pw_wire_field *field)
{
    pw_wire_put_tag(out, field->number, field->type);
    if (field->type == 0) {
        pw_wire_put_raw_varint(out, field->value);
    } else if (field->type == 2) {
        pw_wire_put_raw_varint(out, field->size);
        if (field->size > 0)
            pw_buf_append(out, (const char *)field->data, field->size);
    } else {
        for (unsigned i = 0; i < (field->type == 1 ? 8u : 4u); i++)
            pw_buf_putc(out, (char)(field->value >> (8 * i) & 0xff));
    }
}

static inline uint64_t wire_interesting(struct fuzz_draws *draws, uint64_t old)
{
    static const int64_t values[] = {0,         1,         2,         3,         -1,        -2,        7,
                                     16,        17,        255,       1024,      1 << 20,   INT32_MAX, INT32_MIN,
                                     INT64_MAX, INT64_MIN, 1ll << 62, 1ll << 48, 1ll << 31, 11,        23};
    switch (fuzz_draw(draws, 0, 3)) {
    case 0:
        return old + 1;
    case 1:
        return old - 1;
    default:
        return (uint64_t)values[fuzz_draw(draws, 0, (int64_t)(sizeof values / sizeof values[0]) - 1)];
    }
}

/* Changes the content of one field that is not descended into; `other` is a neighbour of any type. */
static inline void wire_change(struct fuzz_draws *draws, struct pw_wire_field *field, const struct pw_wire_field *other,
                               struct pw_buf *scratch)
{
    static const uint32_t floats[] = {0, 0x3f800000, 0xbf800000, 0x7f800000, 0x7fc00000, 0x7f7fffff, 1, 0xff7fffff};
    if (field->type == 5) {
        field->value = floats[fuzz_draw(draws, 0, (int64_t)(sizeof floats / sizeof floats[0]) - 1)];
    } else if (field->type != 2) {
        field->value = wire_interesting(draws, field->value);
    } else if (other->type == 2 && fuzz_draw(draws, 0, 2) > 0) {
        field->data = other->data;
        field->size = other->size;
    } else if (field->size > 0) {
        int64_t at = fuzz_draw(draws, 0, (int64_t)field->size - 1);
        pw_buf_append(scratch, (const char *)field->data, field->size);
        if (scratch->failed)
            return;
        scratch->data[at] = (char)fuzz_draw(draws, 0, 255);
        field->data = (const uint8_t *)scratch->data;
        if (fuzz_draw(draws, 0, 3) == 0)
            field->size = (size_t)at;
    }
}

static inline void wire_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, int depth,
                               struct pw_buf *out)
{
    size_t count = wire_count(data, size);
    struct pw_wire wire = {data, data + size, data};
    struct pw_wire_field field = {0}, other = {0};
    size_t chosen, neighbour;
    if (count == 0) {
        pw_buf_append(out, (const char *)data, size);
        return;
    }
    chosen = (size_t)fuzz_draw(draws, 0, (int64_t)count - 1);
    neighbour = (size_t)fuzz_draw(draws, 0, (int64_t)count - 1);
    for (size_t i = 0; i <= neighbour && pw_wire_next(&wire, &other, NULL) > 0; i++)
        continue;
    wire.at = data;
    for (size_t i = 0; i < count && pw_wire_next(&wire, &field, NULL) > 0; i++) {
        struct pw_buf body = {0};
        if (i == chosen && field.type == 2 && depth < WIRE_MUTATE_DEPTH && fuzz_draw(draws, 0, 7) > 0 &&
            wire_count(field.data, field.size) > 0) {
            wire_mutate(draws, field.data, field.size, depth + 1, &body);
            pw_wire_put_message(out, field.number, &body);
            continue;
        }
        if (i == chosen) {
            int64_t action = fuzz_draw(draws, 0, 9);
            if (action == 0)
                continue; /* dropped */
            if (action == 1)
                wire_put_field(out, &field); /* doubled */
            else if (action == 2)
                field = other;
            else
                wire_change(draws, &field, &other, &body);
        }
        wire_put_field(out, &field);
        pw_buf_clear(&body);
    }
}

#endif
