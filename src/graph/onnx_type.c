/* TypeProto: declared element types and shapes. */
#include <inttypes.h>

#include "graph/onnx_reader.h"

static pw_status read_dim(struct pw_onnx_reader *r, struct pw_wire wire, const char **name, int64_t *value)
{
    struct pw_wire_slot s[PW_DIM_FIELDS];
    pw_status status = pw_wire_decode(wire, &pw_schema_dim, s, r->err);
    if (status != PW_OK)
        return status;
    *value = -1;
    *name = NULL;
    if (s[PW_DIM_PARAM].size > 0) {
        *name = pw_onnx_intern(r, s[PW_DIM_PARAM].data, s[PW_DIM_PARAM].size, "dim_param");
        return *name ? PW_OK : PW_ERR_MODEL;
    }
    /* Some exporters write -1 for "unknown". */
    if (s[PW_DIM_VALUE].count > 0 && (int64_t)s[PW_DIM_VALUE].value >= 0)
        *value = (int64_t)s[PW_DIM_VALUE].value;
    return PW_OK;
}

static pw_status read_shape(struct pw_onnx_reader *r, struct pw_wire wire, struct pw_type *type)
{
    struct pw_wire_slot s[PW_SHAPE_FIELDS];
    struct pw_wire_field field = {0};
    struct pw_wire dims;
    size_t count;
    pw_status status = pw_wire_decode(wire, &pw_schema_shape, s, r->err);
    if (status != PW_OK)
        return status;
    count = s[PW_SHAPE_DIM].count;
    if (count > PW_MAX_RANK)
        return pw_error_set(r->err, PW_ERR_UNSUPPORTED, "declared with rank %zu, but %d is the limit", count,
                            PW_MAX_RANK);
    type->has_shape = true;
    type->dim_names = pw_onnx_alloc(r, count, sizeof *type->dim_names);
    type->dim_values = type->dim_names ? pw_onnx_alloc(r, count, sizeof *type->dim_values) : NULL;
    if (!type->dim_values)
        return PW_ERR_NO_MEMORY;
    dims = pw_wire_from(wire, &s[PW_SHAPE_DIM]);
    while ((size_t)type->rank < count && pw_wire_find(&dims, PW_SHAPE_DIM, &field)) {
        status = read_dim(r, pw_wire_body(wire, field.data, field.size), &type->dim_names[type->rank],
                          &type->dim_values[type->rank]);
        if (status != PW_OK)
            return status;
        type->rank++;
    }
    return PW_OK;
}

/* An element type that this release does not know stays undefined: only its users need to care. */
static pw_dtype known_dtype(uint64_t number)
{
    return number < PW_DTYPE_COUNT ? (pw_dtype)number : PW_DTYPE_UNDEFINED;
}

static pw_status read_tensor_type(struct pw_onnx_reader *r, struct pw_wire wire, struct pw_type *type)
{
    struct pw_wire_slot s[PW_ELEMENT_FIELDS];
    pw_status status = pw_wire_decode(wire, &pw_schema_type_tensor, s, r->err);
    if (status != PW_OK)
        return status;
    type->dtype = known_dtype(s[PW_ELEMENT_TYPE].value);
    if (s[PW_ELEMENT_SHAPE].count == 0)
        return PW_OK;
    return read_shape(r, pw_wire_body(wire, s[PW_ELEMENT_SHAPE].data, s[PW_ELEMENT_SHAPE].size), type);
}

static pw_status read_element_type(struct pw_onnx_reader *r, struct pw_wire wire, unsigned depth, struct pw_type *type)
{
    struct pw_wire_slot s[PW_ELEMENT_FIELDS];
    const struct pw_wire_schema *schema = type->kind == PW_TYPE_MAP ? &pw_schema_type_map : &pw_schema_type_element;
    const struct pw_wire_slot *element = &s[type->kind == PW_TYPE_MAP ? PW_ELEMENT_SHAPE : PW_ELEMENT_TYPE];
    pw_status status = pw_wire_decode(wire, schema, s, r->err);
    if (status != PW_OK)
        return status;
    if (type->kind == PW_TYPE_MAP)
        type->dtype = known_dtype(s[PW_ELEMENT_TYPE].value);
    if (element->count == 0)
        return PW_OK;
    return pw_onnx_type(r, pw_wire_body(wire, element->data, element->size), depth + 1, &type->element);
}

pw_status pw_onnx_type(struct pw_onnx_reader *r, struct pw_wire wire, unsigned depth, const struct pw_type **out)
{
    static const struct {
        uint32_t number;
        pw_type_kind kind;
    } kinds[] = {
        {PW_TYPE_TENSOR_FIELD, PW_TYPE_TENSOR},     {PW_TYPE_SEQUENCE_FIELD, PW_TYPE_SEQUENCE},
        {PW_TYPE_OPTIONAL_FIELD, PW_TYPE_OPTIONAL}, {PW_TYPE_SPARSE_FIELD, PW_TYPE_SPARSE_TENSOR},
        {PW_TYPE_MAP_FIELD, PW_TYPE_MAP},           {PW_TYPE_OPAQUE_FIELD, PW_TYPE_OPAQUE},
    };
    struct pw_wire_slot s[PW_TYPE_FIELDS];
    struct pw_type *type;
    pw_status status;
    if (depth > PW_ONNX_MAX_TYPE_DEPTH)
        return pw_error_set(r->err, PW_ERR_FORMAT, "a type nested deeper than %d", PW_ONNX_MAX_TYPE_DEPTH);
    status = pw_wire_decode(wire, &pw_schema_type, s, r->err);
    if (status != PW_OK)
        return status;
    type = pw_onnx_alloc(r, 1, sizeof *type);
    if (!type)
        return PW_ERR_NO_MEMORY;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && status == PW_OK; i++) {
        const struct pw_wire_slot *slot = &s[kinds[i].number];
        struct pw_wire body = pw_wire_body(wire, slot->data, slot->size);
        if (slot->count == 0)
            continue;
        if (type->kind != PW_TYPE_NONE)
            return pw_error_set(r->err, PW_ERR_FORMAT, "a type that is two kinds at once");
        type->kind = kinds[i].kind;
        if (type->kind == PW_TYPE_TENSOR || type->kind == PW_TYPE_SPARSE_TENSOR)
            status = read_tensor_type(r, body, type);
        else if (type->kind != PW_TYPE_OPAQUE)
            status = read_element_type(r, body, depth, type);
    }
    if (status == PW_OK)
        *out = type;
    return status;
}
