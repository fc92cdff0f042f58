/* The reader on well-formed files: what is in the file is in the graph. Expected values are written down
 * beside the bytes that the test itself puts into the file. */
#include "tests/unit/graph_build.h"

#include <math.h>
#include <stdio.h>

/* ---- attributes ---- */

static void put_small_graph(struct pw_buf *body, const char *name)
{
    add_output(body, "inner");
    add_node(body, "Identity", "pass", "x", "inner", NULL);
    pw_wire_put_text(body, PW_GRAPH_NAME, name);
}

static void put_scalar(struct pw_buf *body, int64_t value)
{
    struct pw_tensor t = {0};
    pw_tensor_borrow(&t, PW_DTYPE_INT64, 0, NULL, &value);
    pw_onnx_put_tensor(body, NULL, &t);
}

static void put_sparse(struct pw_buf *body)
{
    static const float values[2] = {1.5f, -2.0f};
    static const int64_t indices[2] = {1, 5}, two = 2;
    struct pw_buf part = {0};
    struct pw_tensor t = {0};
    pw_tensor_borrow(&t, PW_DTYPE_FLOAT32, 1, &two, values);
    pw_onnx_put_tensor(&part, "sparse", &t);
    pw_wire_put_message(body, PW_SPARSE_VALUES, &part);
    pw_tensor_borrow(&t, PW_DTYPE_INT64, 1, &two, indices);
    pw_onnx_put_tensor(&part, NULL, &t);
    pw_wire_put_message(body, PW_SPARSE_INDICES, &part);
    pw_wire_put_int(body, PW_SPARSE_DIMS, 2);
    pw_wire_put_int(body, PW_SPARSE_DIMS, 3);
}

/* TypeProto: tensor of int64 with dims [batch, 7, ?] */
static void put_type(struct pw_buf *body)
{
    struct pw_buf dim = {0}, shape = {0}, tensor = {0};
    pw_wire_put_text(&dim, PW_DIM_PARAM, "batch");
    pw_wire_put_message(&shape, PW_SHAPE_DIM, &dim);
    pw_wire_put_int(&dim, PW_DIM_VALUE, 7);
    pw_wire_put_message(&shape, PW_SHAPE_DIM, &dim);
    pw_wire_put_message(&shape, PW_SHAPE_DIM, &dim);
    pw_wire_put_int(&tensor, PW_ELEMENT_TYPE, PW_DTYPE_INT64);
    pw_wire_put_message(&tensor, PW_ELEMENT_SHAPE, &shape);
    pw_wire_put_message(body, PW_TYPE_TENSOR_FIELD, &tensor);
}

static struct pw_model *attribute_model(struct pw_buf *bytes)
{
    static const int64_t ints[3] = {-1, 0, INT64_MAX};
    static const float floats[2] = {0.25f, -INFINITY};
    static const char *const texts[2] = {"one", ""};
    struct pw_onnx_out out;
    struct pw_buf attrs = {0}, body = {0}, bodies[2] = {{0}, {0}};
    pw_onnx_out_init(&out, "main", 17);
    add_input(&out.graph, "x");
    add_output(&out.graph, "y");
    pw_onnx_put_attr_int(&attrs, "int", -5);
    pw_onnx_put_attr_float(&attrs, "float", 1.5f);
    pw_onnx_put_attr_text(&attrs, "string", "hello");
    pw_onnx_put_attr_ints(&attrs, "ints", ints, 3);
    pw_onnx_put_attr_floats(&attrs, "floats", floats, 2);
    pw_onnx_put_attr_texts(&attrs, "strings", texts, 2);
    put_scalar(&body, 42);
    pw_onnx_put_attr_message(&attrs, "tensor", PW_ATTR_TENSOR, &body);
    put_scalar(&bodies[0], 43);
    put_scalar(&bodies[1], 44);
    pw_onnx_put_attr_messages(&attrs, "tensors", PW_ATTR_TENSORS, bodies, 2);
    put_small_graph(&body, "sub");
    pw_onnx_put_attr_message(&attrs, "graph", PW_ATTR_GRAPH, &body);
    put_small_graph(&bodies[0], "first");
    put_small_graph(&bodies[1], "second");
    pw_onnx_put_attr_messages(&attrs, "graphs", PW_ATTR_GRAPHS, bodies, 2);
    put_sparse(&body);
    pw_onnx_put_attr_message(&attrs, "sparse", PW_ATTR_SPARSE_TENSOR, &body);
    put_sparse(&bodies[0]);
    put_sparse(&bodies[1]);
    pw_onnx_put_attr_messages(&attrs, "sparses", PW_ATTR_SPARSE_TENSORS, bodies, 2);
    put_type(&body);
    pw_onnx_put_attr_message(&attrs, "type", PW_ATTR_TYPE_PROTO, &body);
    put_type(&bodies[0]);
    put_type(&bodies[1]);
    pw_onnx_put_attr_messages(&attrs, "types", PW_ATTR_TYPE_PROTOS, bodies, 2);
    add_call(&out.graph, PW_GRAPH_NODE, "test.domain", "Everything", "all", "x", "y", &attrs);
    finish_model(&out, bytes);
    return parse_model(bytes);
}

static void test_attributes(void **state)
{
    struct pw_buf bytes = {0};
    struct pw_model *model = attribute_model(&bytes);
    const struct pw_node *node = &model->graph->nodes[0];
    (void)state;
    assert_int_equal(node->attr_count, 14);
    assert_int_equal(pw_node_attr(node, "int")->i, -5);
    assert_true(pw_node_attr(node, "float")->f == 1.5f);
    assert_string_equal(pw_node_attr(node, "string")->s.data, "hello");
    assert_int_equal(pw_node_attr(node, "string")->s.size, 5);
    assert_int_equal(pw_node_attr(node, "ints")->count, 3);
    assert_int_equal(pw_node_attr(node, "ints")->ints[0], -1);
    assert_true(pw_node_attr(node, "ints")->ints[2] == INT64_MAX);
    assert_true(pw_node_attr(node, "floats")->floats[0] == 0.25f && isinf(pw_node_attr(node, "floats")->floats[1]));
    assert_string_equal(pw_node_attr(node, "strings")->strings[0].data, "one");
    assert_int_equal(pw_node_attr(node, "strings")->strings[1].size, 0);
    assert_int_equal(pw_tensor_get_int(pw_node_attr(node, "tensor")->tensor, 0), 42);
    assert_int_equal(pw_tensor_get_int(&pw_node_attr(node, "tensors")->tensor[1], 0), 44);
    assert_string_equal(pw_node_attr(node, "graph")->graph->name, "sub");
    assert_ptr_equal(pw_node_attr(node, "graph")->graph->owner, node);
    assert_string_equal(pw_node_attr(node, "graphs")->graphs[1]->name, "second");
    assert_ptr_equal(pw_node_attr(node, "graphs")->graphs[1]->owner, node);
    assert_int_equal(pw_node_attr(node, "sparse")->sparse->dims[1], 3);
    assert_true(pw_tensor_get(&pw_node_attr(node, "sparses")->sparse[1].values, 1) == -2.0);
    assert_int_equal(pw_node_attr(node, "type")->type_proto->rank, 3);
    assert_int_equal(pw_node_attr(node, "types")->type_proto[1].dim_values[1], 7);
    assert_null(pw_node_attr(node, "absent"));
    assert_null(node->op);
    assert_string_equal(node->domain, "test.domain");
    assert_int_equal(node->opset, 1); /* a domain without an import */
    assert_int_equal(model->node_total, 4);
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

/* Attributes of files from before `type` existed, and values that are the default and so left out. */
static void test_attribute_types(void **state)
{
    struct pw_onnx_out out;
    struct pw_buf bytes = {0}, attr = {0}, attrs = {0};
    struct pw_model *model;
    (void)state;
    pw_onnx_out_init(&out, "main", 17);
    add_input(&out.graph, "x");
    add_output(&out.graph, "y");
    pw_wire_put_text(&attr, PW_ATTRIBUTE_NAME, "untyped");
    pw_wire_put_int(&attr, PW_ATTRIBUTE_I, 9);
    pw_wire_put_message(&attrs, PW_NODE_ATTRIBUTE, &attr);
    pw_wire_put_text(&attr, PW_ATTRIBUTE_NAME, "zero");
    pw_wire_put_int(&attr, PW_ATTRIBUTE_TYPE, PW_ATTR_INT);
    pw_wire_put_message(&attrs, PW_NODE_ATTRIBUTE, &attr);
    pw_wire_put_text(&attr, PW_ATTRIBUTE_NAME, "packed");
    pw_wire_put_int(&attr, PW_ATTRIBUTE_TYPE, PW_ATTR_INTS);
    pw_wire_put_packed_ints(&attr, PW_ATTRIBUTE_INTS, (const int64_t[]){3, -4}, 2);
    pw_wire_put_int(&attr, PW_ATTRIBUTE_INTS, 5);
    pw_wire_put_message(&attrs, PW_NODE_ATTRIBUTE, &attr);
    add_call(&out.graph, PW_GRAPH_NODE, "t", "Op", "n", "x", "y", &attrs);
    finish_model(&out, &bytes);
    model = parse_model(&bytes);
    assert_int_equal(pw_node_attr(&model->graph->nodes[0], "untyped")->type, PW_ATTR_INT);
    assert_int_equal(pw_node_attr(&model->graph->nodes[0], "untyped")->i, 9);
    assert_int_equal(pw_node_attr(&model->graph->nodes[0], "zero")->i, 0);
    assert_int_equal(pw_node_attr(&model->graph->nodes[0], "packed")->count, 3);
    assert_int_equal(pw_node_attr(&model->graph->nodes[0], "packed")->ints[1], -4);
    assert_int_equal(pw_node_attr(&model->graph->nodes[0], "packed")->ints[2], 5);
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

/* ---- types ---- */

static void test_declared_types(void **state)
{
    struct pw_onnx_out out;
    struct pw_buf bytes = {0}, type = {0}, outer = {0}, info = {0}, inner = {0};
    struct pw_model *model;
    const struct pw_type *t;
    (void)state;
    pw_onnx_out_init(&out, "main", 17);
    /* optional(sequence(tensor)) */
    put_type(&inner);
    pw_wire_put_message(&type, PW_ELEMENT_TYPE, &inner);
    pw_wire_put_message(&inner, PW_TYPE_SEQUENCE_FIELD, &type);
    pw_wire_put_message(&type, PW_ELEMENT_TYPE, &inner);
    pw_wire_put_message(&outer, PW_TYPE_OPTIONAL_FIELD, &type);
    pw_wire_put_text(&info, PW_INFO_NAME, "x");
    pw_wire_put_message(&info, PW_INFO_TYPE, &outer);
    pw_wire_put_message(&out.graph, PW_GRAPH_INPUT, &info);
    /* map(string -> tensor) */
    put_type(&inner);
    pw_wire_put_int(&type, PW_ELEMENT_TYPE, PW_DTYPE_STRING);
    pw_wire_put_message(&type, PW_ELEMENT_SHAPE, &inner);
    pw_wire_put_message(&outer, PW_TYPE_MAP_FIELD, &type);
    pw_wire_put_text(&info, PW_INFO_NAME, "m");
    pw_wire_put_message(&info, PW_INFO_TYPE, &outer);
    pw_wire_put_message(&out.graph, PW_GRAPH_INPUT, &info);
    finish_model(&out, &bytes);
    model = parse_model(&bytes);
    t = model->graph->values[model->graph->inputs[0]].type;
    assert_int_equal(t->kind, PW_TYPE_OPTIONAL);
    assert_int_equal(t->element->kind, PW_TYPE_SEQUENCE);
    t = t->element->element;
    assert_int_equal(t->kind, PW_TYPE_TENSOR);
    assert_int_equal(t->dtype, PW_DTYPE_INT64);
    assert_true(t->has_shape);
    assert_string_equal(t->dim_names[0], "batch");
    assert_int_equal(t->dim_values[0], -1);
    assert_int_equal(t->dim_values[1], 7);
    assert_null(t->dim_names[2]);
    assert_int_equal(t->dim_values[2], -1);
    t = model->graph->values[model->graph->inputs[1]].type;
    assert_int_equal(t->kind, PW_TYPE_MAP);
    assert_int_equal(t->dtype, PW_DTYPE_STRING);
    assert_int_equal(t->element->dtype, PW_DTYPE_INT64);
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

/* ---- graphs in graphs ---- */

/* If(cond) with branches that use x of the main graph; the else branch has another If inside. */
static struct pw_model *nested_model(struct pw_buf *bytes)
{
    struct pw_onnx_out out;
    struct pw_buf attrs = {0}, then_branch = {0}, else_branch = {0}, deep[2] = {{0}, {0}};
    pw_onnx_out_init(&out, "main", 17);
    add_input(&out.graph, "x");
    add_input(&out.graph, "cond");
    add_output(&out.graph, "y");
    put_small_graph(&then_branch, "then");
    put_small_graph(&deep[0], "deep then");
    put_small_graph(&deep[1], "deep else");
    pw_onnx_put_attr_message(&attrs, "then_branch", PW_ATTR_GRAPH, &deep[0]);
    pw_onnx_put_attr_message(&attrs, "else_branch", PW_ATTR_GRAPH, &deep[1]);
    add_node(&else_branch, "If", "inner_if", "cond", "r", &attrs);
    add_output(&else_branch, "r");
    pw_wire_put_text(&else_branch, PW_GRAPH_NAME, "else");
    pw_onnx_put_attr_message(&attrs, "then_branch", PW_ATTR_GRAPH, &then_branch);
    pw_onnx_put_attr_message(&attrs, "else_branch", PW_ATTR_GRAPH, &else_branch);
    add_node(&out.graph, "If", "outer_if", "cond", "y", &attrs);
    finish_model(&out, bytes);
    return parse_model(bytes);
}

static void test_captures(void **state)
{
    struct pw_buf bytes = {0};
    struct pw_model *model = nested_model(&bytes);
    const struct pw_graph *main_graph = model->graph, *else_graph, *deep;
    const struct pw_graph_value *x;
    (void)state;
    else_graph = pw_node_attr(&main_graph->nodes[0], "else_branch")->graph;
    deep = pw_node_attr(&else_graph->nodes[0], "then_branch")->graph;
    assert_ptr_equal(else_graph->parent, main_graph);
    assert_ptr_equal(deep->parent, else_graph);
    assert_ptr_equal(deep->owner, &else_graph->nodes[0]);
    x = &deep->values[deep->nodes[0].inputs[0]];
    assert_string_equal(x->name, "x");
    /* through the graph between, which does not use x itself */
    assert_non_null(x->outer);
    assert_true(x->outer >= else_graph->values && x->outer < else_graph->values + else_graph->value_count);
    assert_ptr_equal(x->outer->outer, &main_graph->values[main_graph->inputs[0]]);
    assert_ptr_equal(pw_graph_value_origin(x), &main_graph->values[main_graph->inputs[0]]);
    assert_int_equal(model->node_total, 5);
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

/* A node whose nested graph uses a value that a later node makes: moved behind it. */
static void test_order_by_capture(void **state)
{
    struct pw_onnx_out out;
    struct pw_buf bytes = {0}, attrs = {0}, branches[2] = {{0}, {0}};
    struct pw_model *model;
    (void)state;
    pw_onnx_out_init(&out, "main", 17);
    add_input(&out.graph, "a");
    add_input(&out.graph, "cond");
    add_output(&out.graph, "y");
    put_small_graph(&branches[0], "then");
    put_small_graph(&branches[1], "else");
    pw_onnx_put_attr_message(&attrs, "then_branch", PW_ATTR_GRAPH, &branches[0]);
    pw_onnx_put_attr_message(&attrs, "else_branch", PW_ATTR_GRAPH, &branches[1]);
    add_node(&out.graph, "If", "if", "cond", "y", &attrs);
    add_node(&out.graph, "Neg", "late", "a", "x", NULL);
    finish_model(&out, &bytes);
    model = parse_model(&bytes);
    assert_string_equal(model->graph->nodes[0].name, "late");
    assert_string_equal(model->graph->nodes[1].name, "if");
    assert_int_equal(model->graph->nodes[1].index, 1);
    assert_ptr_equal(pw_node_attr(&model->graph->nodes[1], "then_branch")->graph->owner, &model->graph->nodes[1]);
    assert_ptr_equal(value_named(model->graph, "x")->producer, &model->graph->nodes[0]);
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

static void test_order_out_of_order(void **state)
{
    struct pw_onnx_out out;
    struct pw_buf bytes = {0};
    struct pw_model *model;
    static const char *const expected[] = {"first", "second", "third", "side"};
    (void)state;
    pw_onnx_out_init(&out, "main", 17);
    add_input(&out.graph, "x");
    add_output(&out.graph, "c");
    add_node(&out.graph, "Add", "third", "b a", "c", NULL);
    add_node(&out.graph, "Neg", "second", "a", "b", NULL);
    add_node(&out.graph, "Abs", "first", "x", "a", NULL);
    add_node(&out.graph, "Abs", "side", "x", "d", NULL);
    finish_model(&out, &bytes);
    model = parse_model(&bytes);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(model->graph->nodes[i].name, expected[i]);
    assert_ptr_equal(value_named(model->graph, "b")->producer, &model->graph->nodes[1]);
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

static void test_values(void **state)
{
    static const float one[1] = {1.0f}, two[2] = {2.0f, 3.0f};
    struct pw_onnx_out out;
    struct pw_buf bytes = {0}, sparse = {0}, entry = {0};
    struct pw_model *model;
    const struct pw_graph *graph;
    (void)state;
    pw_onnx_out_init(&out, "main", 13);
    add_input(&out.graph, "x");
    add_input(&out.graph, "w"); /* an input with a default, as files before IR 4 have for all weights */
    add_output(&out.graph, "y");
    add_floats(&out.graph, "w", one, 1);
    add_floats(&out.graph, "own", two, 2);
    put_sparse(&sparse);
    pw_wire_put_message(&out.graph, PW_GRAPH_SPARSE, &sparse);
    add_info(&out.graph, PW_GRAPH_VALUE_INFO, "mid");
    add_info(&out.graph, PW_GRAPH_VALUE_INFO, "nowhere");
    add_call(&out.graph, PW_GRAPH_NODE, "ai.onnx", "Clip", "clip", "x - w", "mid", NULL);
    add_node(&out.graph, "Add", "sum", "mid own", "y", NULL);
    pw_wire_put_text(&entry, PW_ENTRY_KEY, "author");
    pw_wire_put_text(&entry, PW_ENTRY_VALUE, "nobody");
    pw_wire_put_message(&out.functions, PW_MODEL_METADATA, &entry);
    finish_model(&out, &bytes);
    model = parse_model(&bytes);
    graph = model->graph;
    assert_int_equal(model->ir_version, 7);
    assert_string_equal(model->producer_name, "portwright");
    assert_int_equal(model->opset_count, 1);
    assert_int_equal(model->opsets[0].version, 13);
    assert_int_equal(model->metadata_count, 1);
    assert_string_equal(model->metadata[0], "author");
    assert_string_equal(model->metadata[1], "nobody");
    assert_int_equal(graph->input_count, 2);
    assert_non_null(graph->values[graph->inputs[1]].initializer);
    assert_true(graph->values[graph->inputs[1]].is_input);
    assert_true(pw_tensor_get(value_named(graph, "own")->initializer, 1) == 3.0);
    assert_int_equal(value_named(graph, "sparse")->sparse->indices.count, 2);
    assert_int_equal(value_named(graph, "mid")->type->rank, 2);
    assert_true(value_named(graph, "y")->is_output);
    assert_int_equal(graph->nodes[0].input_count, 3);
    assert_int_equal(graph->nodes[0].inputs[1], PW_NO_VALUE);
    assert_string_equal(graph->nodes[0].domain, "");
    assert_int_equal(graph->nodes[0].opset, 13);
    assert_ptr_equal(value_named(graph, "mid")->producer, &graph->nodes[0]);
    assert_int_equal(model->initializer_bytes, 4 + 8 + 8 + 16);
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

/* IR versions 1 and 2 had no opset imports: version 1 is meant. Unknown fields and groups are passed over. */
static void test_old_and_unknown(void **state)
{
    struct pw_buf bytes = {0}, graph = {0};
    struct pw_model *model;
    (void)state;
    add_input(&graph, "x");
    add_output(&graph, "y");
    add_node(&graph, "Relu", "r", "x", "y", NULL);
    pw_wire_put_int(&graph, 99, 7);
    pw_wire_put_int(&bytes, PW_MODEL_IR_VERSION, 2);
    pw_wire_put_float(&bytes, 1000, 1.0f);
    pw_wire_put_tag(&bytes, 77, 3); /* a group with a group inside */
    pw_wire_put_int(&bytes, 1, 1);
    pw_wire_put_tag(&bytes, 78, 3);
    pw_wire_put_text(&bytes, 5, "text");
    pw_wire_put_tag(&bytes, 78, 4);
    pw_wire_put_tag(&bytes, 77, 4);
    pw_wire_put_message(&bytes, PW_MODEL_GRAPH, &graph);
    model = parse_model(&bytes);
    assert_int_equal(model->graph->nodes[0].opset, 1);
    assert_int_equal(model->graph->node_count, 1);
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

/* ---- where ---- */

static void test_where(void **state)
{
    struct pw_onnx_out out;
    struct pw_buf bytes = {0};
    struct pw_model *model;
    char where[256];
    (void)state;
    pw_onnx_out_init(&out, "main", 17);
    add_input(&out.graph, "x");
    add_output(&out.graph, "y");
    add_node(&out.graph, "Identity", "a\033[31mred\nline", "x", "z", NULL);
    add_node(&out.graph, "Neg", "attn/softmax", "z", "y", NULL);
    finish_model(&out, &bytes);
    model = parse_model(&bytes);
    assert_string_equal(pw_node_where(&model->graph->nodes[1], where, sizeof where),
                        "graph 'main', node 1 'attn/softmax' (Neg)");
    pw_node_where(&model->graph->nodes[0], where, sizeof where);
    for (const char *p = where; *p; p++)
        assert_true((unsigned char)*p >= 0x20 && *p != 0x7f);
    assert_contains(where, "(Identity)");
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

/* ---- hashes ---- */

struct hash_case {
    const char *node_name, *inner_name;
    float weight, eps;
    int64_t axis, shape;
    bool swap;
};

static void hash_model(const struct hash_case *c, struct pw_hash128 *structure, struct pw_hash128 *weights)
{
    struct pw_onnx_out out;
    struct pw_buf bytes = {0}, attrs = {0}, body = {0};
    struct pw_model *model;
    struct pw_tensor t = {0};
    const float values[3] = {c->weight, 1.0f, 2.0f};
    const int64_t shape[2] = {c->shape, 3}, two = 2;
    char inputs[64];
    pw_onnx_out_init(&out, "main", 17);
    add_input(&out.graph, "x");
    add_output(&out.graph, "y");
    add_floats(&out.graph, "w", values, 3);
    add_floats(&out.graph, "eps", &c->eps, 1);
    pw_tensor_borrow(&t, PW_DTYPE_INT64, 1, &two, shape);
    pw_onnx_put_tensor(&body, "shape", &t);
    pw_wire_put_message(&out.graph, PW_GRAPH_INITIALIZER, &body);
    if (c->swap)
        pw_onnx_put_attr_text(&attrs, "other", "t");
    pw_onnx_put_attr_int(&attrs, "axis", c->axis);
    if (!c->swap)
        pw_onnx_put_attr_text(&attrs, "other", "t");
    snprintf(inputs, sizeof inputs, "x w");
    add_call(&out.graph, PW_GRAPH_NODE, "t", "Op", c->node_name, inputs, c->inner_name, &attrs);
    snprintf(inputs, sizeof inputs, "%s eps", c->inner_name);
    add_node(&out.graph, "Add", "add", inputs, "s", NULL);
    add_node(&out.graph, "Reshape", "reshape", "s shape", "y", NULL);
    finish_model(&out, &bytes);
    model = parse_model(&bytes);
    *structure = pw_model_structure_hash(model);
    *weights = pw_model_weights_hash(model);
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

static bool same(struct pw_hash128 a, struct pw_hash128 b)
{
    return a.high == b.high && a.low == b.low;
}

static void test_hashes(void **state)
{
    static const struct {
        struct hash_case c;
        bool same_structure, same_weights;
    } cases[] = {
        {{"n", "m", 0.5f, 1e-5f, 1, 2, false}, true, true},
        {{"other", "renamed", 0.5f, 1e-5f, 1, 2, false}, true, true}, /* names of inner things */
        {{"n", "m", 0.5f, 1e-5f, 1, 2, true}, true, true},            /* order of attributes */
        {{"n", "m", 0.7f, 1e-5f, 1, 2, false}, true, false},          /* retrained */
        {{"n", "m", 0.5f, 1e-3f, 1, 2, false}, false, false},         /* a single float belongs to the structure */
        {{"n", "m", 0.5f, 1e-5f, 2, 2, false}, false, true},          /* an attribute */
        {{"n", "m", 0.5f, 1e-5f, 1, 3, false}, false, false},         /* a shape constant */
    };
    struct pw_hash128 structure, weights, s, w;
    (void)state;
    hash_model(&cases[0].c, &structure, &weights);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hash_model(&cases[i].c, &s, &w);
        if (same(s, structure) != cases[i].same_structure || same(w, weights) != cases[i].same_weights)
            fail_msg("case %zu: structure %d, weights %d", i, same(s, structure), same(w, weights));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_attribute_types),
        cmocka_unit_test(test_declared_types),
        cmocka_unit_test(test_captures),
        cmocka_unit_test(test_order_by_capture),
        cmocka_unit_test(test_order_out_of_order),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_old_and_unknown),
        cmocka_unit_test(test_where),
        cmocka_unit_test(test_hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
