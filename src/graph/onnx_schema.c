/* Decoding rules by field number. */
#include "graph/onnx_schema.h"

#include "base/compiler.h"

#define SCHEMA(variable, text, table) const struct pw_wire_schema variable = {text, table, PW_COUNT_OF(table)}

static const struct pw_wire_rule model_rules[PW_MODEL_FIELDS] = {
    [PW_MODEL_IR_VERSION] = {"ir_version", PW_WIRE_VARINT},
    [PW_MODEL_PRODUCER_NAME] = {"producer_name", PW_WIRE_BYTES},
    [PW_MODEL_PRODUCER_VERSION] = {"producer_version", PW_WIRE_BYTES},
    [PW_MODEL_DOMAIN] = {"domain", PW_WIRE_BYTES},
    [PW_MODEL_VERSION] = {"model_version", PW_WIRE_VARINT},
    [PW_MODEL_DOC] = {"doc_string", PW_WIRE_BYTES},
    [PW_MODEL_GRAPH] = {"graph", PW_WIRE_BYTES},
    [PW_MODEL_OPSET] = {"opset_import", PW_WIRE_BYTES},
    [PW_MODEL_METADATA] = {"metadata_props", PW_WIRE_BYTES},
    [PW_MODEL_FUNCTION] = {"functions", PW_WIRE_BYTES},
};
SCHEMA(pw_schema_model, "ModelProto", model_rules);

static const struct pw_wire_rule entry_rules[PW_ENTRY_FIELDS] = {
    [PW_ENTRY_KEY] = {"key", PW_WIRE_BYTES},
    [PW_ENTRY_VALUE] = {"value", PW_WIRE_BYTES},
};
SCHEMA(pw_schema_entry, "StringStringEntryProto", entry_rules);

static const struct pw_wire_rule opset_rules[PW_OPSET_FIELDS] = {
    [PW_OPSET_DOMAIN] = {"domain", PW_WIRE_BYTES},
    [PW_OPSET_VERSION] = {"version", PW_WIRE_VARINT},
};
SCHEMA(pw_schema_opset, "OperatorSetIdProto", opset_rules);

static const struct pw_wire_rule graph_rules[PW_GRAPH_FIELDS] = {
    [PW_GRAPH_NODE] = {"node", PW_WIRE_BYTES},
    [PW_GRAPH_NAME] = {"name", PW_WIRE_BYTES},
    [PW_GRAPH_INITIALIZER] = {"initializer", PW_WIRE_BYTES},
    [PW_GRAPH_INPUT] = {"input", PW_WIRE_BYTES},
    [PW_GRAPH_OUTPUT] = {"output", PW_WIRE_BYTES},
    [PW_GRAPH_VALUE_INFO] = {"value_info", PW_WIRE_BYTES},
    [PW_GRAPH_SPARSE] = {"sparse_initializer", PW_WIRE_BYTES},
};
SCHEMA(pw_schema_graph, "GraphProto", graph_rules);

static const struct pw_wire_rule node_rules[PW_NODE_FIELDS] = {
    [PW_NODE_INPUT] = {"input", PW_WIRE_BYTES},         [PW_NODE_OUTPUT] = {"output", PW_WIRE_BYTES},
    [PW_NODE_NAME] = {"name", PW_WIRE_BYTES},           [PW_NODE_OP_TYPE] = {"op_type", PW_WIRE_BYTES},
    [PW_NODE_ATTRIBUTE] = {"attribute", PW_WIRE_BYTES}, [PW_NODE_DOC] = {"doc_string", PW_WIRE_BYTES},
    [PW_NODE_DOMAIN] = {"domain", PW_WIRE_BYTES},       [PW_NODE_OVERLOAD] = {"overload", PW_WIRE_BYTES},
};
SCHEMA(pw_schema_node, "NodeProto", node_rules);

static const struct pw_wire_rule attribute_rules[PW_ATTRIBUTE_FIELDS] = {
    [PW_ATTRIBUTE_NAME] = {"name", PW_WIRE_BYTES},
    [PW_ATTRIBUTE_F] = {"f", PW_WIRE_FIXED32},
    [PW_ATTRIBUTE_I] = {"i", PW_WIRE_VARINT},
    [PW_ATTRIBUTE_S] = {"s", PW_WIRE_BYTES},
    [PW_ATTRIBUTE_T] = {"t", PW_WIRE_BYTES},
    [PW_ATTRIBUTE_G] = {"g", PW_WIRE_BYTES},
    [PW_ATTRIBUTE_FLOATS] = {"floats", PW_WIRE_FIXED32S},
    [PW_ATTRIBUTE_INTS] = {"ints", PW_WIRE_VARINTS},
    [PW_ATTRIBUTE_STRINGS] = {"strings", PW_WIRE_BYTES},
    [PW_ATTRIBUTE_TENSORS] = {"tensors", PW_WIRE_BYTES},
    [PW_ATTRIBUTE_GRAPHS] = {"graphs", PW_WIRE_BYTES},
    [PW_ATTRIBUTE_TP] = {"tp", PW_WIRE_BYTES},
    [PW_ATTRIBUTE_TYPE_PROTOS] = {"type_protos", PW_WIRE_BYTES},
    [PW_ATTRIBUTE_TYPE] = {"type", PW_WIRE_VARINT},
    [PW_ATTRIBUTE_REF] = {"ref_attr_name", PW_WIRE_BYTES},
    [PW_ATTRIBUTE_SPARSE] = {"sparse_tensor", PW_WIRE_BYTES},
    [PW_ATTRIBUTE_SPARSES] = {"sparse_tensors", PW_WIRE_BYTES},
};
SCHEMA(pw_schema_attribute, "AttributeProto", attribute_rules);

static const struct pw_wire_rule tensor_rules[PW_TENSOR_FIELDS] = {
    [PW_TENSOR_DIMS] = {"dims", PW_WIRE_VARINTS},
    [PW_TENSOR_TYPE] = {"data_type", PW_WIRE_VARINT},
    [PW_TENSOR_SEGMENT] = {"segment", PW_WIRE_BYTES},
    [PW_TENSOR_FLOAT] = {"float_data", PW_WIRE_FIXED32S},
    [PW_TENSOR_INT32] = {"int32_data", PW_WIRE_VARINTS},
    [PW_TENSOR_STRING] = {"string_data", PW_WIRE_BYTES},
    [PW_TENSOR_INT64] = {"int64_data", PW_WIRE_VARINTS},
    [PW_TENSOR_NAME] = {"name", PW_WIRE_BYTES},
    [PW_TENSOR_RAW] = {"raw_data", PW_WIRE_BYTES},
    [PW_TENSOR_DOUBLE] = {"double_data", PW_WIRE_FIXED64S},
    [PW_TENSOR_UINT64] = {"uint64_data", PW_WIRE_VARINTS},
    [PW_TENSOR_EXTERNAL] = {"external_data", PW_WIRE_BYTES},
    [PW_TENSOR_LOCATION] = {"data_location", PW_WIRE_VARINT},
};
SCHEMA(pw_schema_tensor, "TensorProto", tensor_rules);

static const struct pw_wire_rule sparse_rules[PW_SPARSE_FIELDS] = {
    [PW_SPARSE_VALUES] = {"values", PW_WIRE_BYTES},
    [PW_SPARSE_INDICES] = {"indices", PW_WIRE_BYTES},
    [PW_SPARSE_DIMS] = {"dims", PW_WIRE_VARINTS},
};
SCHEMA(pw_schema_sparse, "SparseTensorProto", sparse_rules);

static const struct pw_wire_rule info_rules[PW_INFO_FIELDS] = {
    [PW_INFO_NAME] = {"name", PW_WIRE_BYTES},
    [PW_INFO_TYPE] = {"type", PW_WIRE_BYTES},
};
SCHEMA(pw_schema_info, "ValueInfoProto", info_rules);

static const struct pw_wire_rule type_rules[PW_TYPE_FIELDS] = {
    [PW_TYPE_TENSOR_FIELD] = {"tensor_type", PW_WIRE_BYTES},
    [PW_TYPE_SEQUENCE_FIELD] = {"sequence_type", PW_WIRE_BYTES},
    [PW_TYPE_MAP_FIELD] = {"map_type", PW_WIRE_BYTES},
    [PW_TYPE_OPAQUE_FIELD] = {"opaque_type", PW_WIRE_BYTES},
    [PW_TYPE_SPARSE_FIELD] = {"sparse_tensor_type", PW_WIRE_BYTES},
    [PW_TYPE_OPTIONAL_FIELD] = {"optional_type", PW_WIRE_BYTES},
};
SCHEMA(pw_schema_type, "TypeProto", type_rules);

static const struct pw_wire_rule type_tensor_rules[PW_ELEMENT_FIELDS] = {
    [PW_ELEMENT_TYPE] = {"elem_type", PW_WIRE_VARINT},
    [PW_ELEMENT_SHAPE] = {"shape", PW_WIRE_BYTES},
};
SCHEMA(pw_schema_type_tensor, "TypeProto.Tensor", type_tensor_rules);

static const struct pw_wire_rule type_element_rules[PW_ELEMENT_FIELDS] = {
    [PW_ELEMENT_TYPE] = {"elem_type", PW_WIRE_BYTES},
};
SCHEMA(pw_schema_type_element, "TypeProto.Sequence", type_element_rules);

static const struct pw_wire_rule type_map_rules[PW_ELEMENT_FIELDS] = {
    [PW_ELEMENT_TYPE] = {"key_type", PW_WIRE_VARINT},
    [PW_ELEMENT_SHAPE] = {"value_type", PW_WIRE_BYTES},
};
SCHEMA(pw_schema_type_map, "TypeProto.Map", type_map_rules);

static const struct pw_wire_rule shape_rules[PW_SHAPE_FIELDS] = {
    [PW_SHAPE_DIM] = {"dim", PW_WIRE_BYTES},
};
SCHEMA(pw_schema_shape, "TensorShapeProto", shape_rules);

static const struct pw_wire_rule dim_rules[PW_DIM_FIELDS] = {
    [PW_DIM_VALUE] = {"dim_value", PW_WIRE_VARINT},
    [PW_DIM_PARAM] = {"dim_param", PW_WIRE_BYTES},
};
SCHEMA(pw_schema_dim, "TensorShapeProto.Dimension", dim_rules);

static const struct pw_wire_rule function_rules[PW_FUNCTION_FIELDS] = {
    [PW_FUNCTION_NAME] = {"name", PW_WIRE_BYTES},
    [PW_FUNCTION_INPUT] = {"input", PW_WIRE_BYTES},
    [PW_FUNCTION_OUTPUT] = {"output", PW_WIRE_BYTES},
    [PW_FUNCTION_ATTRIBUTE] = {"attribute", PW_WIRE_BYTES},
    [PW_FUNCTION_NODE] = {"node", PW_WIRE_BYTES},
    [PW_FUNCTION_OPSET] = {"opset_import", PW_WIRE_BYTES},
    [PW_FUNCTION_DOMAIN] = {"domain", PW_WIRE_BYTES},
    [PW_FUNCTION_ATTRIBUTE_PROTO] = {"attribute_proto", PW_WIRE_BYTES},
    [PW_FUNCTION_OVERLOAD] = {"overload", PW_WIRE_BYTES},
};
SCHEMA(pw_schema_function, "FunctionProto", function_rules);

static const struct pw_wire_rule data_rules[PW_DATA_FIELDS] = {
    [PW_DATA_NAME] = {"name", PW_WIRE_BYTES},
    [PW_DATA_ELEM_TYPE] = {"elem_type", PW_WIRE_VARINT},
    [PW_DATA_TENSOR] = {"tensor_values", PW_WIRE_BYTES},
    [PW_DATA_SPARSE] = {"sparse_tensor_values", PW_WIRE_BYTES},
    [PW_DATA_SEQUENCE] = {"sequence_values", PW_WIRE_BYTES},
    [PW_DATA_MAP] = {"map_values", PW_WIRE_BYTES},
    [PW_DATA_OPTIONAL] = {"optional_values", PW_WIRE_BYTES},
};
SCHEMA(pw_schema_data, "SequenceProto", data_rules);
