/* Values in files of their own (*.pb of backend tests): TensorProto, SequenceProto, OptionalProto. */
#include <string.h>

#include "graph/onnx_reader.h"

#define MAX_DEPTH 8

static pw_status read_value(struct pw_onnx_reader *r, struct pw_wire wire, const struct pw_type *type, unsigned depth,
                            struct pw_value *out);

static pw_status read_tensor(struct pw_onnx_reader *r, struct pw_wire wire, struct pw_value *out)
{
    struct pw_tensor tensor;
    struct pw_value borrowed;
    pw_status status = pw_onnx_tensor(r, wire, &tensor, NULL);
    if (status != PW_OK)
        return status;
    pw_value_borrow(&borrowed, &tensor);
    return pw_value_copy(out, &borrowed, r->err);
}

static pw_dtype leaf_dtype(const struct pw_type *type)
{
    while (type && type->kind != PW_TYPE_TENSOR)
        type = type->element;
    return type ? type->dtype : PW_DTYPE_UNDEFINED;
}

/* The fields of SequenceProto and OptionalProto that we serve, and the type of what is in them. */
static const struct {
    uint32_t number;
    pw_type_kind kind;
} containers[] = {
    {PW_DATA_TENSOR, PW_TYPE_TENSOR},
    {PW_DATA_SEQUENCE, PW_TYPE_SEQUENCE},
    {PW_DATA_OPTIONAL, PW_TYPE_OPTIONAL},
};

static pw_status decode_container(struct pw_onnx_reader *r, struct pw_wire wire, struct pw_wire_slot *s, size_t *which)
{
    size_t kinds = 0;
    pw_status status = pw_wire_decode(wire, &pw_schema_data, s, r->err);
    if (status != PW_OK)
        return status;
    if (s[PW_DATA_SPARSE].count > 0 || s[PW_DATA_MAP].count > 0)
        return pw_error_set(r->err, PW_ERR_UNSUPPORTED, "values that are %s are not supported",
                            s[PW_DATA_MAP].count > 0 ? "maps" : "sparse tensors");
    for (size_t i = 0; i < sizeof containers / sizeof containers[0]; i++) {
        if (s[containers[i].number].count == 0)
            continue;
        *which = i;
        kinds++;
    }
    if (kinds > 1)
        return pw_error_set(r->err, PW_ERR_FORMAT, "holds values of different kinds");
    return PW_OK;
}

/* What is declared of an element, or only its kind when nothing is. */
static const struct pw_type *element_type(const struct pw_type *type, pw_type_kind kind, struct pw_type *made)
{
    if (type && type->element && type->element->kind == kind)
        return type->element;
    memset(made, 0, sizeof *made);
    made->kind = kind;
    return made;
}

static pw_status read_sequence(struct pw_onnx_reader *r, struct pw_wire wire, const struct pw_type *type,
                               unsigned depth, struct pw_value *out)
{
    struct pw_wire_slot s[PW_DATA_FIELDS];
    struct pw_value made = {.kind = PW_VALUE_SEQUENCE, .item_dtype = leaf_dtype(type)};
    struct pw_wire_field field = {0};
    size_t which = 0, count;
    struct pw_type element;
    struct pw_wire at;
    pw_status status = decode_container(r, wire, s, &which);
    if (status != PW_OK)
        return status;
    count = s[containers[which].number].count;
    if (count > 0) {
        made.items = pw_calloc(count, sizeof *made.items);
        if (!made.items)
            return pw_error_memory(r->err, count * sizeof *made.items);
    }
    at = pw_wire_from(wire, &s[containers[which].number]);
    while (status == PW_OK && made.count < count && pw_wire_find(&at, containers[which].number, &field)) {
        status = read_value(r, pw_wire_body(wire, field.data, field.size),
                            element_type(type, containers[which].kind, &element), depth + 1, &made.items[made.count]);
        made.count += status == PW_OK;
    }
    if (status == PW_OK && made.count > 0 && made.items[0].kind == PW_VALUE_TENSOR)
        made.item_dtype = made.items[0].tensor.nominal;
    if (status != PW_OK) {
        pw_value_clear(&made);
        return status;
    }
    *out = made;
    return PW_OK;
}

static pw_status read_optional(struct pw_onnx_reader *r, struct pw_wire wire, const struct pw_type *type,
                               unsigned depth, struct pw_value *out)
{
    struct pw_wire_slot s[PW_DATA_FIELDS];
    const struct pw_wire_slot *slot;
    struct pw_type element;
    size_t which = 0;
    pw_status status = decode_container(r, wire, s, &which);
    if (status != PW_OK)
        return status;
    slot = &s[containers[which].number];
    if (slot->count == 0) {
        memset(out, 0, sizeof *out); /* absent */
        return PW_OK;
    }
    return read_value(r, pw_wire_body(wire, slot->data, slot->size),
                      element_type(type, containers[which].kind, &element), depth + 1, out);
}

static pw_status read_value(struct pw_onnx_reader *r, struct pw_wire wire, const struct pw_type *type, unsigned depth,
                            struct pw_value *out)
{
    pw_type_kind kind = type && type->kind != PW_TYPE_NONE ? type->kind : PW_TYPE_TENSOR;
    if (depth > MAX_DEPTH)
        return pw_error_set(r->err, PW_ERR_FORMAT, "values nested deeper than %d", MAX_DEPTH);
    switch (kind) {
    case PW_TYPE_TENSOR:
        return read_tensor(r, wire, out);
    case PW_TYPE_SEQUENCE:
        return read_sequence(r, wire, type, depth, out);
    case PW_TYPE_OPTIONAL:
        return read_optional(r, wire, type, depth, out);
    default:
        return pw_error_set(r->err, PW_ERR_UNSUPPORTED, "values of that type (maps, sparse, opaque) are not supported");
    }
}

pw_status pw_onnx_parse_value(const void *bytes, size_t size, const struct pw_type *type, struct pw_value *out,
                              struct pw_error *err)
{
    struct pw_onnx_reader r = {0};
    struct pw_model scratch = {0};
    pw_status status;
    r.model = &scratch;
    r.err = err;
    r.file.base = r.file.at = bytes;
    r.file.end = size > 0 ? r.file.base + size : r.file.base;
    r.budget_bytes = size < SIZE_MAX / 64 ? ((size_t)1 << 20) + 32 * size : SIZE_MAX;
    status = read_value(&r, r.file, type, 0, out);
    pw_arena_clear(&scratch.arena);
    return status;
}

pw_status pw_onnx_read_value(const char *path, const struct pw_type *type, struct pw_value *out, struct pw_error *err)
{
    struct pw_mapping map = {0};
    struct pw_value value = {0};
    char show[PW_ONNX_SHOW_BYTES];
    pw_status status = pw_mapping_open(&map, path, err);
    if (status != PW_OK)
        return status;
    status = pw_onnx_parse_value(map.data, map.size, type, &value, err);
    if (pw_mapping_damaged(&map)) {
        pw_error_clear(err);
        status = pw_error_set(err, PW_ERR_IO, "shrank while it was read");
    }
    pw_mapping_close(&map);
    if (status != PW_OK) {
        pw_error_prefix(err, "%s", pw_text_show(show, sizeof show, path, 0));
        pw_value_clear(&value);
        return status;
    }
    *out = value;
    return PW_OK;
}
