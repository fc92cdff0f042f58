/* The wire format: protobuf.dev/programming-guides/encoding. Every read is checked against the end. */
#include "graph/wire.h"

#include <inttypes.h>
#include <string.h>

enum {
    TYPE_VARINT = 0,
    TYPE_FIXED64 = 1,
    TYPE_BYTES = 2,
    TYPE_GROUP = 3,
    TYPE_GROUP_END = 4,
    TYPE_FIXED32 = 5,
    MAX_GROUPS = 32
};

static const char *const type_names[8] = {"varint",       "fixed64", "bytes",  "group",
                                          "end of group", "fixed32", "type 6", "type 7"};

static size_t offset_of(const struct pw_wire *wire, const uint8_t *at)
{
    return (size_t)(at - wire->base);
}

/* 0, or -1: cut off, or longer than 64 bits. */
static int read_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    const uint8_t *p = *at;
    uint64_t result = 0;
    if (p < end && *p < 0x80) {
        *value = *p;
        *at = p + 1;
        return 0;
    }
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (p == end)
            return -1;
        uint8_t byte = *p++;
        if (shift == 63 && byte > 1)
            return -1;
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = result;
            *at = p;
            return 0;
        }
    }
    return -1;
}

static uint64_t read_fixed(const uint8_t *at, size_t width)
{
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static int bad_varint(const struct pw_wire *wire, const uint8_t *at, struct pw_error *err)
{
    pw_error_set(err, PW_ERR_FORMAT, "at byte %zu: a varint is cut off or longer than 64 bits", offset_of(wire, at));
    return -1;
}

static int cut_off(const struct pw_wire *wire, const uint8_t *at, uint64_t need, struct pw_error *err)
{
    pw_error_set(err, PW_ERR_FORMAT,
                 "at byte %zu: a field of %" PRIu64 " bytes, but its message has %zu left (truncated?)",
                 offset_of(wire, at), need, (size_t)(wire->end - at));
    return -1;
}

static int read_tag(struct pw_wire *wire, struct pw_wire_field *field, struct pw_error *err)
{
    const uint8_t *start = wire->at;
    uint64_t tag = 0;
    if (read_varint(&wire->at, wire->end, &tag) != 0)
        return bad_varint(wire, start, err);
    if (tag > UINT32_MAX || tag >> 3 == 0) {
        pw_error_set(err, PW_ERR_FORMAT, "at byte %zu: field number %" PRIu64 " does not exist", offset_of(wire, start),
                     tag >> 3);
        return -1;
    }
    field->number = (uint32_t)(tag >> 3);
    field->type = (unsigned)(tag & 7);
    return 0;
}

/* The body after a tag; groups are the caller's. */
static int read_body(struct pw_wire *wire, struct pw_wire_field *field, struct pw_error *err)
{
    const uint8_t *start = wire->at;
    size_t left;
    uint64_t size = 0;
    switch (field->type) {
    case TYPE_VARINT:
        return read_varint(&wire->at, wire->end, &field->value) == 0 ? 0 : bad_varint(wire, start, err);
    case TYPE_FIXED64:
    case TYPE_FIXED32:
        size = field->type == TYPE_FIXED64 ? 8 : 4;
        if ((size_t)(wire->end - wire->at) < size)
            return cut_off(wire, start, size, err);
        field->value = read_fixed(wire->at, (size_t)size);
        wire->at += size;
        return 0;
    case TYPE_BYTES:
        if (read_varint(&wire->at, wire->end, &size) != 0)
            return bad_varint(wire, start, err);
        left = (size_t)(wire->end - wire->at);
        if (size > left)
            return cut_off(wire, wire->at, size, err);
        field->data = wire->at;
        field->size = (size_t)size;
        wire->at += size;
        return 0;
    default:
        pw_error_set(err, PW_ERR_FORMAT, "at byte %zu: field %u has wire %s, which does not exist",
                     offset_of(wire, start), field->number, type_names[field->type & 7]);
        return -1;
    }
}

/* Groups are long deprecated and never wanted: hop over, with a stack of the open ones. */
static int skip_group(struct pw_wire *wire, uint32_t number, struct pw_error *err)
{
    uint32_t open[MAX_GROUPS];
    size_t depth = 0;
    const uint8_t *start = wire->at;
    open[depth++] = number;
    while (depth > 0) {
        struct pw_wire_field field = {0};
        if (wire->at == wire->end)
            return cut_off(wire, start, (uint64_t)(wire->end - start) + 1, err);
        if (read_tag(wire, &field, err) != 0)
            return -1;
        if (field.type == TYPE_GROUP_END) {
            if (field.number != open[--depth]) {
                pw_error_set(err, PW_ERR_FORMAT, "at byte %zu: group %u is closed by %u", offset_of(wire, wire->at),
                             open[depth], field.number);
                return -1;
            }
        } else if (field.type == TYPE_GROUP) {
            if (depth == MAX_GROUPS) {
                pw_error_set(err, PW_ERR_FORMAT, "at byte %zu: groups nested deeper than %d", offset_of(wire, start),
                             MAX_GROUPS);
                return -1;
            }
            open[depth++] = field.number;
        } else if (read_body(wire, &field, err) != 0) {
            return -1;
        }
    }
    return 0;
}

int pw_wire_next(struct pw_wire *wire, struct pw_wire_field *field, struct pw_error *err)
{
    while (wire->at < wire->end) {
        if (read_tag(wire, field, err) != 0)
            return -1;
        if (field->type == TYPE_GROUP) {
            if (skip_group(wire, field->number, err) != 0)
                return -1;
            continue;
        }
        return read_body(wire, field, err) == 0 ? 1 : -1;
    }
    return 0;
}

static bool type_fits(pw_wire_kind kind, unsigned type)
{
    static const uint8_t fits[PW_WIRE_KIND_COUNT] = {
        [PW_WIRE_SKIP] = 0xff,
        [PW_WIRE_VARINT] = 1 << TYPE_VARINT,
        [PW_WIRE_FIXED32] = 1 << TYPE_FIXED32,
        [PW_WIRE_BYTES] = 1 << TYPE_BYTES,
        [PW_WIRE_VARINTS] = 1 << TYPE_VARINT | 1 << TYPE_BYTES,
        [PW_WIRE_FIXED32S] = 1 << TYPE_FIXED32 | 1 << TYPE_BYTES,
        [PW_WIRE_FIXED64S] = 1 << TYPE_FIXED64 | 1 << TYPE_BYTES,
    };
    return (fits[kind] >> type & 1) != 0;
}

pw_status pw_wire_decode(struct pw_wire wire, const struct pw_wire_schema *schema, struct pw_wire_slot *slots,
                         struct pw_error *err)
{
    struct pw_wire_field field = {0};
    const uint8_t *tag = wire.at;
    int got;
    memset(slots, 0, schema->count * sizeof *slots);
    while ((got = pw_wire_next(&wire, &field, err)) > 0) {
        const struct pw_wire_rule *rule = field.number < schema->count ? &schema->rules[field.number] : NULL;
        if (rule && rule->kind != PW_WIRE_SKIP) {
            struct pw_wire_slot *slot = &slots[field.number];
            if (!type_fits(rule->kind, field.type))
                return pw_error_set(err, PW_ERR_FORMAT, "at byte %zu: %s.%s is written as %s", offset_of(&wire, tag),
                                    schema->name, rule->name, type_names[field.type]);
            if (slot->count++ == 0)
                slot->first = tag;
            slot->value = field.value;
            slot->data = field.data;
            slot->size = field.type == TYPE_BYTES ? field.size : 0;
        }
        tag = wire.at;
    }
    return got == 0 ? PW_OK : PW_ERR_FORMAT;
}

struct pw_wire pw_wire_from(struct pw_wire message, const struct pw_wire_slot *slot)
{
    message.at = slot->count > 0 ? slot->first : message.end;
    return message;
}

struct pw_wire pw_wire_body(struct pw_wire message, const uint8_t *data, size_t size)
{
    struct pw_wire body = {data, data ? data + size : NULL, message.base};
    return body;
}

bool pw_wire_find(struct pw_wire *wire, uint32_t number, struct pw_wire_field *field)
{
    while (pw_wire_next(wire, field, NULL) > 0)
        if (field->number == number)
            return true;
    return false;
}

static size_t width_of(pw_wire_kind kind)
{
    return kind == PW_WIRE_FIXED32S ? 4 : kind == PW_WIRE_FIXED64S ? 8 : 0;
}

/* Elements in a packed body: varints end with a byte below 0x80. */
static bool count_packed(pw_wire_kind kind, const struct pw_wire_field *field, size_t *count)
{
    size_t width = width_of(kind);
    if (width > 0) {
        *count += field->size / width;
        return field->size % width == 0;
    }
    for (size_t i = 0; i < field->size; i++)
        *count += field->data[i] < 0x80;
    return field->size == 0 || field->data[field->size - 1] < 0x80;
}

pw_status pw_wire_count(struct pw_wire message, const struct pw_wire_schema *schema, uint32_t number,
                        const struct pw_wire_slot *slot, size_t *count, struct pw_error *err)
{
    struct pw_wire wire = pw_wire_from(message, slot);
    struct pw_wire_field field = {0};
    const struct pw_wire_rule *rule = &schema->rules[number];
    size_t total = 0;
    while (pw_wire_find(&wire, number, &field)) {
        if (field.type != TYPE_BYTES)
            total++;
        else if (!count_packed(rule->kind, &field, &total))
            return pw_error_set(err, PW_ERR_FORMAT, "at byte %zu: %s.%s ends inside an element",
                                offset_of(&message, field.data), schema->name, rule->name);
    }
    *count = total;
    return PW_OK;
}

void pw_wire_numbers_init(struct pw_wire_numbers *it, struct pw_wire message, const struct pw_wire_schema *schema,
                          uint32_t number, const struct pw_wire_slot *slot)
{
    memset(it, 0, sizeof *it);
    it->wire = pw_wire_from(message, slot);
    it->number = number;
    it->kind = schema->rules[number].kind;
}

bool pw_wire_number(struct pw_wire_numbers *it, uint64_t *value)
{
    while (it->at == it->end) {
        struct pw_wire_field field = {0};
        if (!pw_wire_find(&it->wire, it->number, &field))
            return false;
        if (field.type != TYPE_BYTES) {
            *value = field.value;
            return true;
        }
        it->at = field.data;
        it->end = field.data + field.size;
    }
    size_t width = width_of(it->kind);
    if (width == 0)
        return read_varint(&it->at, it->end, value) == 0;
    if ((size_t)(it->end - it->at) < width)
        return false;
    *value = read_fixed(it->at, width);
    it->at += width;
    return true;
}
