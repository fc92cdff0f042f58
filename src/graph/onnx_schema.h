/* Field numbers of the ONNX messages (onnx.proto, stable across IR versions) and their decoding rules.
 * Fields that are not listed are skipped. */
#ifndef PW_GRAPH_ONNX_SCHEMA_H
#define PW_GRAPH_ONNX_SCHEMA_H

#include "graph/wire.h"

enum {
    PW_MODEL_IR_VERSION = 1,
    PW_MODEL_PRODUCER_NAME = 2,
    PW_MODEL_PRODUCER_VERSION = 3,
    PW_MODEL_DOMAIN = 4,
    PW_MODEL_VERSION = 5,
    PW_MODEL_DOC = 6,
    PW_MODEL_GRAPH = 7,
    PW_MODEL_OPSET = 8,
    PW_MODEL_METADATA = 14,
    PW_MODEL_FUNCTION = 25,
    PW_MODEL_FIELDS
};

enum { PW_ENTRY_KEY = 1, PW_ENTRY_VALUE = 2, PW_ENTRY_FIELDS };

enum { PW_OPSET_DOMAIN = 1, PW_OPSET_VERSION = 2, PW_OPSET_FIELDS };

enum {
    PW_GRAPH_NODE = 1,
    PW_GRAPH_NAME = 2,
    PW_GRAPH_INITIALIZER = 5,
    PW_GRAPH_INPUT = 11,
    PW_GRAPH_OUTPUT = 12,
    PW_GRAPH_VALUE_INFO = 13,
    PW_GRAPH_SPARSE = 15,
    PW_GRAPH_FIELDS
};

enum {
    PW_NODE_INPUT = 1,
    PW_NODE_OUTPUT = 2,
    PW_NODE_NAME = 3,
    PW_NODE_OP_TYPE = 4,
    PW_NODE_ATTRIBUTE = 5,
    PW_NODE_DOC = 6,
    PW_NODE_DOMAIN = 7,
    PW_NODE_OVERLOAD = 8,
    PW_NODE_FIELDS
};

enum {
    PW_ATTRIBUTE_NAME = 1,
    PW_ATTRIBUTE_F = 2,
    PW_ATTRIBUTE_I = 3,
    PW_ATTRIBUTE_S = 4,
    PW_ATTRIBUTE_T = 5,
    PW_ATTRIBUTE_G = 6,
    PW_ATTRIBUTE_FLOATS = 7,
    PW_ATTRIBUTE_INTS = 8,
    PW_ATTRIBUTE_STRINGS = 9,
    PW_ATTRIBUTE_TENSORS = 10,
    PW_ATTRIBUTE_GRAPHS = 11,
    PW_ATTRIBUTE_TP = 14,
    PW_ATTRIBUTE_TYPE_PROTOS = 15,
    PW_ATTRIBUTE_TYPE = 20,
    PW_ATTRIBUTE_REF = 21,
    PW_ATTRIBUTE_SPARSE = 22,
    PW_ATTRIBUTE_SPARSES = 23,
    PW_ATTRIBUTE_FIELDS
};

enum {
    PW_TENSOR_DIMS = 1,
    PW_TENSOR_TYPE = 2,
    PW_TENSOR_SEGMENT = 3,
    PW_TENSOR_FLOAT = 4,
    PW_TENSOR_INT32 = 5,
    PW_TENSOR_STRING = 6,
    PW_TENSOR_INT64 = 7,
    PW_TENSOR_NAME = 8,
    PW_TENSOR_RAW = 9,
    PW_TENSOR_DOUBLE = 10,
    PW_TENSOR_UINT64 = 11,
    PW_TENSOR_EXTERNAL = 13,
    PW_TENSOR_LOCATION = 14,
    PW_TENSOR_FIELDS
};

enum { PW_SPARSE_VALUES = 1, PW_SPARSE_INDICES = 2, PW_SPARSE_DIMS = 3, PW_SPARSE_FIELDS };

enum { PW_INFO_NAME = 1, PW_INFO_TYPE = 2, PW_INFO_FIELDS };

enum {
    PW_TYPE_TENSOR_FIELD = 1,
    PW_TYPE_SEQUENCE_FIELD = 4,
    PW_TYPE_MAP_FIELD = 5,
    PW_TYPE_OPAQUE_FIELD = 7,
    PW_TYPE_SPARSE_FIELD = 8,
    PW_TYPE_OPTIONAL_FIELD = 9,
    PW_TYPE_FIELDS
};

/* TypeProto.Tensor and .SparseTensor; of Sequence and Optional: 1 is a TypeProto; of Map: 1 a number, 2 a TypeProto. */
enum { PW_ELEMENT_TYPE = 1, PW_ELEMENT_SHAPE = 2, PW_ELEMENT_FIELDS };

enum { PW_SHAPE_DIM = 1, PW_SHAPE_FIELDS };

enum { PW_DIM_VALUE = 1, PW_DIM_PARAM = 2, PW_DIM_FIELDS };

enum {
    PW_FUNCTION_NAME = 1,
    PW_FUNCTION_INPUT = 4,
    PW_FUNCTION_OUTPUT = 5,
    PW_FUNCTION_ATTRIBUTE = 6,
    PW_FUNCTION_NODE = 7,
    PW_FUNCTION_OPSET = 9,
    PW_FUNCTION_DOMAIN = 10,
    PW_FUNCTION_ATTRIBUTE_PROTO = 11,
    PW_FUNCTION_OVERLOAD = 13,
    PW_FUNCTION_FIELDS
};

/* SequenceProto and OptionalProto (onnx-data.proto) share their numbers but for `values` being repeated. */
enum {
    PW_DATA_NAME = 1,
    PW_DATA_ELEM_TYPE = 2,
    PW_DATA_TENSOR = 3,
    PW_DATA_SPARSE = 4,
    PW_DATA_SEQUENCE = 5,
    PW_DATA_MAP = 6,
    PW_DATA_OPTIONAL = 7,
    PW_DATA_FIELDS
};

extern const struct pw_wire_schema pw_schema_model, pw_schema_entry, pw_schema_opset, pw_schema_graph, pw_schema_node,
    pw_schema_attribute, pw_schema_tensor, pw_schema_sparse, pw_schema_info, pw_schema_type, pw_schema_type_tensor,
    pw_schema_type_element, pw_schema_type_map, pw_schema_shape, pw_schema_dim, pw_schema_function, pw_schema_data;

#endif
