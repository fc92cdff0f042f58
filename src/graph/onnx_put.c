/* Parts of ONNX messages, appended to buffers. */
#include <string.h>

#include "graph/onnx_write.h"

/* ---- attributes ---- */

static void finish_attr(struct pw_buf *node, const char *name, pw_attr_type type, struct pw_buf *body)
{
    pw_wire_put_text(body, PW_ATTRIBUTE_NAME, name);
    pw_wire_put_int(body, PW_ATTRIBUTE_TYPE, (uint64_t)type);
    pw_wire_put_message(node, PW_NODE_ATTRIBUTE, body);
}

void pw_onnx_put_attr_int(struct pw_buf *node, const char *name, int64_t value)
{
    struct pw_buf body = {0};
    pw_wire_put_int(&body, PW_ATTRIBUTE_I, (uint64_t)value);
    finish_attr(node, name, PW_ATTR_INT, &body);
}

void pw_onnx_put_attr_float(struct pw_buf *node, const char *name, float value)
{
    struct pw_buf body = {0};
    pw_wire_put_float(&body, PW_ATTRIBUTE_F, value);
    finish_attr(node, name, PW_ATTR_FLOAT, &body);
}

void pw_onnx_put_attr_text(struct pw_buf *node, const char *name, const char *value)
{
    struct pw_buf body = {0};
    pw_wire_put_text(&body, PW_ATTRIBUTE_S, value);
    finish_attr(node, name, PW_ATTR_STRING, &body);
}

void pw_onnx_put_attr_ints(struct pw_buf *node, const char *name, const int64_t *values, size_t count)
{
    struct pw_buf body = {0};
    for (size_t i = 0; i < count; i++)
        pw_wire_put_int(&body, PW_ATTRIBUTE_INTS, (uint64_t)values[i]);
    finish_attr(node, name, PW_ATTR_INTS, &body);
}

void pw_onnx_put_attr_floats(struct pw_buf *node, const char *name, const float *values, size_t count)
{
    struct pw_buf body = {0};
    for (size_t i = 0; i < count; i++)
        pw_wire_put_float(&body, PW_ATTRIBUTE_FLOATS, values[i]);
    finish_attr(node, name, PW_ATTR_FLOATS, &body);
}

void pw_onnx_put_attr_texts(struct pw_buf *node, const char *name, const char *const *values, size_t count)
{
    struct pw_buf body = {0};
    for (size_t i = 0; i < count; i++)
        pw_wire_put_text(&body, PW_ATTRIBUTE_STRINGS, values[i]);
    finish_attr(node, name, PW_ATTR_STRINGS, &body);
}

static uint32_t message_field(pw_attr_type type)
{
    static const uint32_t fields[] = {
        [PW_ATTR_TENSOR] = PW_ATTRIBUTE_T,
        [PW_ATTR_GRAPH] = PW_ATTRIBUTE_G,
        [PW_ATTR_TENSORS] = PW_ATTRIBUTE_TENSORS,
        [PW_ATTR_GRAPHS] = PW_ATTRIBUTE_GRAPHS,
        [PW_ATTR_SPARSE_TENSOR] = PW_ATTRIBUTE_SPARSE,
        [PW_ATTR_SPARSE_TENSORS] = PW_ATTRIBUTE_SPARSES,
        [PW_ATTR_TYPE_PROTO] = PW_ATTRIBUTE_TP,
        [PW_ATTR_TYPE_PROTOS] = PW_ATTRIBUTE_TYPE_PROTOS,
    };
    return fields[type];
}

void pw_onnx_put_attr_message(struct pw_buf *node, const char *name, pw_attr_type type, struct pw_buf *body)
{
    pw_onnx_put_attr_messages(node, name, type, body, 1);
}

void pw_onnx_put_attr_messages(struct pw_buf *node, const char *name, pw_attr_type type, struct pw_buf *bodies,
                               size_t count)
{
    struct pw_buf attr = {0};
    for (size_t i = 0; i < count; i++)
        pw_wire_put_message(&attr, message_field(type), &bodies[i]);
    finish_attr(node, name, type, &attr);
}

void pw_onnx_put_attr_reference(struct pw_buf *node, const char *name, pw_attr_type type, const char *reference)
{
    struct pw_buf body = {0};
    pw_wire_put_text(&body, PW_ATTRIBUTE_REF, reference);
    finish_attr(node, name, type, &body);
}

/* ---- tensors and types ---- */

/* Packs elements of fewer than 8 bits as files have them. */
static void put_packed(struct pw_buf *body, const struct pw_tensor *t, unsigned bits)
{
    const uint8_t *data = t->data;
    size_t bytes = ((size_t)t->count * bits + 7) / 8;
    unsigned word = 0, held = 0; /* bits not yet written */
    pw_wire_put_tag(body, PW_TENSOR_RAW, 2);
    pw_wire_put_raw_varint(body, bytes);
    for (int64_t i = 0; i < t->count; i++) {
        word |= (data[i] & ((1u << bits) - 1)) << held;
        held += bits;
        if (held >= 8) {
            pw_buf_putc(body, (char)(word & 0xFF));
            word >>= 8;
            held -= 8;
        }
    }
    if (held > 0)
        pw_buf_putc(body, (char)word);
}

void pw_onnx_put_tensor(struct pw_buf *body, const char *name, const struct pw_tensor *t)
{
    const struct pw_dtype_facts *facts = pw_dtype_facts(t->dtype);
    for (int i = 0; i < t->rank; i++)
        pw_wire_put_int(body, PW_TENSOR_DIMS, (uint64_t)t->dims[i]);
    pw_wire_put_int(body, PW_TENSOR_TYPE, (uint64_t)t->dtype);
    if (name)
        pw_wire_put_text(body, PW_TENSOR_NAME, name);
    if (facts->kind == PW_KIND_STRING) {
        const struct pw_bytes *items = t->data;
        for (int64_t i = 0; i < t->count; i++)
            pw_wire_put_bytes(body, PW_TENSOR_STRING, items[i].data, items[i].size);
    } else if (facts->bits < 8) {
        put_packed(body, t, facts->bits);
    } else {
        pw_wire_put_bytes(body, PW_TENSOR_RAW, t->data, pw_tensor_bytes(t));
    }
}

void pw_onnx_put_info(struct pw_buf *graph, uint32_t number, const char *name, const struct pw_onnx_shape *shape)
{
    struct pw_buf info = {0}, type = {0}, tensor = {0}, dims = {0};
    for (int i = 0; i < shape->rank; i++) {
        struct pw_buf dim = {0};
        if (shape->names && shape->names[i])
            pw_wire_put_text(&dim, PW_DIM_PARAM, shape->names[i]);
        else
            pw_wire_put_int(&dim, PW_DIM_VALUE, (uint64_t)shape->values[i]);
        pw_wire_put_message(&dims, PW_SHAPE_DIM, &dim);
    }
    pw_wire_put_int(&tensor, PW_ELEMENT_TYPE, (uint64_t)shape->dtype);
    pw_wire_put_message(&tensor, PW_ELEMENT_SHAPE, &dims);
    pw_wire_put_message(&type, PW_TYPE_TENSOR_FIELD, &tensor);
    pw_wire_put_text(&info, PW_INFO_NAME, name);
    pw_wire_put_message(&info, PW_INFO_TYPE, &type);
    pw_wire_put_message(graph, number, &info);
}

void pw_onnx_put_node(struct pw_buf *graph, const char *op_type, const char *name, const char *const *inputs,
                      size_t input_count, const char *const *outputs, size_t output_count, struct pw_buf *attrs)
{
    struct pw_buf node = {0};
    for (size_t i = 0; i < input_count; i++)
        pw_wire_put_text(&node, PW_NODE_INPUT, inputs[i]);
    for (size_t i = 0; i < output_count; i++)
        pw_wire_put_text(&node, PW_NODE_OUTPUT, outputs[i]);
    if (name && name[0] != '\0')
        pw_wire_put_text(&node, PW_NODE_NAME, name);
    pw_wire_put_text(&node, PW_NODE_OP_TYPE, op_type);
    if (attrs) {
        pw_buf_append(&node, pw_buf_text(attrs), attrs->size);
        node.failed = node.failed || attrs->failed;
        pw_buf_clear(attrs);
    }
    pw_wire_put_message(graph, PW_GRAPH_NODE, &node);
}
