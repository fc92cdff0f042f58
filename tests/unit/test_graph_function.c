/* Model-local functions: what the graph looks like once the calls are inlined. */
#include "tests/unit/graph_build.h"

#include <stdio.h>

#define DOMAIN "local"

/* Collects a FunctionProto. */
struct function {
    struct pw_buf body;
};

static void begin_function(struct function *f, const char *name, const char *inputs, const char *outputs, int opset)
{
    struct names in, out;
    struct pw_buf import = {0};
    memset(f, 0, sizeof *f);
    split_names(&in, inputs);
    split_names(&out, outputs);
    pw_wire_put_text(&f->body, PW_FUNCTION_NAME, name);
    pw_wire_put_text(&f->body, PW_FUNCTION_DOMAIN, DOMAIN);
    for (size_t i = 0; i < in.count; i++)
        pw_wire_put_text(&f->body, PW_FUNCTION_INPUT, in.items[i]);
    for (size_t i = 0; i < out.count; i++)
        pw_wire_put_text(&f->body, PW_FUNCTION_OUTPUT, out.items[i]);
    pw_wire_put_int(&import, PW_OPSET_VERSION, (uint64_t)opset);
    pw_wire_put_message(&f->body, PW_FUNCTION_OPSET, &import);
}

static void end_function(struct pw_onnx_out *out, struct function *f)
{
    pw_wire_put_message(&out->functions, PW_MODEL_FUNCTION, &f->body);
}

static void function_node(struct function *f, const char *domain, const char *op, const char *name, const char *inputs,
                          const char *outputs, struct pw_buf *attrs)
{
    add_call(&f->body, PW_FUNCTION_NODE, domain, op, name, inputs, outputs, attrs);
}

static void call(struct pw_onnx_out *out, const char *function, const char *name, const char *inputs,
                 const char *outputs, struct pw_buf *attrs)
{
    add_call(&out->graph, PW_GRAPH_NODE, DOMAIN, function, name, inputs, outputs, attrs);
}

static void begin_model(struct pw_onnx_out *out)
{
    pw_onnx_out_init(out, "main", 17);
    add_input(&out->graph, "x");
    add_output(&out->graph, "y");
}

static struct pw_model *end_model(struct pw_onnx_out *out, struct pw_buf *bytes)
{
    finish_model(out, bytes);
    return parse_model(bytes);
}

/* Twice(a) = a + a through an inner value; called twice, once without a name. */
static void test_inline(void **state)
{
    struct pw_onnx_out out;
    struct function f;
    struct pw_buf bytes = {0};
    struct pw_model *model;
    const struct pw_graph *graph;
    (void)state;
    begin_model(&out);
    begin_function(&f, "Twice", "a", "b", 13);
    function_node(&f, "", "Identity", "copy", "a", "t", NULL);
    function_node(&f, "", "Add", "", "t a", "b", NULL);
    end_function(&out, &f);
    call(&out, "Twice", "first", "x", "m", NULL);
    call(&out, "Twice", "", "m", "y", NULL);
    add_node(&out.graph, "Identity", "last", "y", "first/t", NULL); /* a name that inlining would have made */
    model = end_model(&out, &bytes);
    graph = model->graph;
    assert_int_equal(graph->node_count, 5);
    assert_string_equal(graph->nodes[0].op_type, "Identity");
    assert_string_equal(graph->nodes[0].name, "first/copy");
    assert_string_equal(graph->nodes[0].origin, "Twice/first");
    assert_int_equal(graph->nodes[0].opset, 13); /* the function's own import */
    assert_int_equal(graph->nodes[4].opset, 17);
    assert_null(graph->nodes[4].origin);
    assert_string_equal(graph->nodes[1].name, "first/Add");
    assert_string_equal(graph->nodes[2].name, "Twice/copy");
    assert_int_equal(graph->nodes[0].inputs[0], graph->inputs[0]);
    assert_string_equal(graph->values[graph->nodes[0].outputs[0]].name, "first/t#2");
    assert_string_equal(graph->values[graph->nodes[1].outputs[0]].name, "m");
    assert_int_equal(graph->nodes[3].outputs[0], graph->outputs[0]);
    assert_int_equal(graph->nodes[1].inputs[0], graph->nodes[0].outputs[0]);
    assert_int_equal(graph->nodes[1].inputs[1], graph->inputs[0]);
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

/* Attributes: given, by default, absent; through two levels of calls. */
static void test_attribute_references(void **state)
{
    struct pw_onnx_out out;
    struct function f;
    struct pw_buf bytes = {0}, attrs = {0}, value = {0};
    struct pw_model *model;
    const struct pw_node *node;
    (void)state;
    begin_model(&out);
    begin_function(&f, "Inner", "a", "b", 17);
    pw_wire_put_text(&f.body, PW_FUNCTION_ATTRIBUTE, "given");
    pw_wire_put_text(&f.body, PW_FUNCTION_ATTRIBUTE, "absent");
    pw_wire_put_text(&value, PW_ATTRIBUTE_NAME, "preset");
    pw_wire_put_int(&value, PW_ATTRIBUTE_TYPE, PW_ATTR_INT);
    pw_wire_put_int(&value, PW_ATTRIBUTE_I, 77);
    pw_wire_put_message(&f.body, PW_FUNCTION_ATTRIBUTE_PROTO, &value);
    pw_onnx_put_attr_reference(&attrs, "p", PW_ATTR_INT, "given");
    pw_onnx_put_attr_reference(&attrs, "q", PW_ATTR_INT, "preset");
    pw_onnx_put_attr_reference(&attrs, "r", PW_ATTR_FLOAT, "absent");
    function_node(&f, "other", "Op", "op", "a", "b", &attrs);
    end_function(&out, &f);
    begin_function(&f, "Outer", "a", "b", 17);
    pw_wire_put_text(&f.body, PW_FUNCTION_ATTRIBUTE, "level");
    pw_onnx_put_attr_reference(&attrs, "given", PW_ATTR_INT, "level");
    function_node(&f, DOMAIN, "Inner", "in", "a", "b", &attrs);
    end_function(&out, &f);
    pw_onnx_put_attr_int(&attrs, "level", 5);
    call(&out, "Outer", "out", "x", "y", &attrs);
    model = end_model(&out, &bytes);
    node = &model->graph->nodes[0];
    assert_int_equal(model->graph->node_count, 1);
    assert_int_equal(node->attr_count, 2);
    assert_int_equal(pw_node_attr(node, "p")->i, 5);
    assert_int_equal(pw_node_attr(node, "q")->i, 77);
    assert_null(pw_node_attr(node, "r"));
    assert_string_equal(node->name, "out/in/op");
    assert_string_equal(node->origin, "Outer/out/Inner/in");
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

/* Omitted arguments and results, and an output that is an input. */
static void test_arguments(void **state)
{
    struct pw_onnx_out out;
    struct function f;
    struct pw_buf bytes = {0};
    struct pw_model *model;
    const struct pw_graph *graph;
    (void)state;
    begin_model(&out);
    begin_function(&f, "F", "a low high", "b unused a", 17);
    function_node(&f, "", "Clip", "clip", "a low high", "b", NULL);
    function_node(&f, "", "Neg", "neg", "b", "unused", NULL);
    end_function(&out, &f);
    call(&out, "F", "f", "x - x", "y - z", NULL);
    model = end_model(&out, &bytes);
    graph = model->graph;
    assert_int_equal(graph->node_count, 3);
    assert_int_equal(graph->nodes[0].input_count, 3);
    assert_int_equal(graph->nodes[0].inputs[1], PW_NO_VALUE);
    assert_int_equal(graph->nodes[0].inputs[2], graph->inputs[0]);
    assert_string_equal(graph->values[graph->nodes[1].outputs[0]].name, "f/unused");
    assert_string_equal(graph->nodes[2].op_type, "Identity");
    assert_int_equal(graph->nodes[2].inputs[0], graph->inputs[0]);
    assert_string_equal(graph->values[graph->nodes[2].outputs[0]].name, "z");
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

/* A graph that the caller hands over as an attribute sees the caller's names, and may sit deeper than they do:
 * the function puts it into a branch of an If, which knows nothing of them. */
static void test_graph_argument(void **state)
{
    struct pw_onnx_out out;
    struct function f;
    struct pw_buf bytes = {0}, attrs = {0}, body = {0}, branch = {0};
    struct pw_model *model;
    const struct pw_graph *then_graph, *handed;
    (void)state;
    begin_model(&out);
    add_input(&out.graph, "cond");
    begin_function(&f, "F", "c", "r", 17);
    pw_wire_put_text(&f.body, PW_FUNCTION_ATTRIBUTE, "code");
    pw_onnx_put_attr_reference(&attrs, "then_branch", PW_ATTR_GRAPH, "code");
    pw_onnx_put_attr_reference(&attrs, "else_branch", PW_ATTR_GRAPH, "code");
    add_node(&branch, "If", "inner", "c", "s", &attrs);
    add_output(&branch, "s");
    pw_wire_put_text(&branch, PW_GRAPH_NAME, "branch");
    pw_onnx_put_attr_message(&attrs, "then_branch", PW_ATTR_GRAPH, &branch);
    pw_onnx_put_attr_reference(&attrs, "else_branch", PW_ATTR_GRAPH, "code");
    function_node(&f, "", "If", "outer", "c", "r", &attrs);
    end_function(&out, &f);
    add_node(&out.graph, "Abs", "abs", "x", "mine", NULL);
    add_node(&body, "Neg", "neg", "mine", "n", NULL);
    add_output(&body, "n");
    pw_wire_put_text(&body, PW_GRAPH_NAME, "handed");
    pw_onnx_put_attr_message(&attrs, "code", PW_ATTR_GRAPH, &body);
    call(&out, "F", "f", "cond", "y", &attrs);
    model = end_model(&out, &bytes);
    then_graph = pw_node_attr(&model->graph->nodes[1], "then_branch")->graph;
    handed = pw_node_attr(&then_graph->nodes[0], "else_branch")->graph;
    assert_string_equal(handed->name, "handed");
    assert_ptr_equal(handed->parent, then_graph);
    assert_ptr_equal(pw_graph_value_origin(&handed->values[handed->nodes[0].inputs[0]]),
                     value_named(model->graph, "mine"));
    assert_ptr_equal(pw_graph_value_origin(&then_graph->values[then_graph->nodes[0].inputs[0]]),
                     &model->graph->values[model->graph->inputs[1]]);
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

/* Two functions of one name differ by overload. */
static void test_overload(void **state)
{
    struct pw_onnx_out out;
    struct function f;
    struct pw_buf bytes = {0}, node = {0};
    struct pw_model *model;
    (void)state;
    begin_model(&out);
    begin_function(&f, "F", "a", "b", 17);
    function_node(&f, "", "Neg", "n", "a", "b", NULL);
    end_function(&out, &f);
    begin_function(&f, "F", "a", "b", 17);
    pw_wire_put_text(&f.body, PW_FUNCTION_OVERLOAD, "int");
    function_node(&f, "", "Abs", "n", "a", "b", NULL);
    end_function(&out, &f);
    pw_wire_put_text(&node, PW_NODE_INPUT, "x");
    pw_wire_put_text(&node, PW_NODE_OUTPUT, "y");
    pw_wire_put_text(&node, PW_NODE_OP_TYPE, "F");
    pw_wire_put_text(&node, PW_NODE_DOMAIN, DOMAIN);
    pw_wire_put_text(&node, PW_NODE_OVERLOAD, "int");
    pw_wire_put_message(&out.graph, PW_GRAPH_NODE, &node);
    model = end_model(&out, &bytes);
    assert_string_equal(model->graph->nodes[0].op_type, "Abs");
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

/* ---- what is refused ---- */

static void refuse(struct pw_onnx_out *out, const char *expected)
{
    struct pw_buf bytes = {0};
    struct pw_error err;
    finish_model(out, &bytes);
    assert_contains(refuse_model(&bytes, NULL, &err), expected);
    pw_buf_clear(&bytes);
}

static void test_recursion(void **state)
{
    struct pw_onnx_out out;
    struct function f;
    (void)state;
    begin_model(&out);
    begin_function(&f, "Ping", "a", "b", 17);
    function_node(&f, DOMAIN, "Pong", "to_pong", "a", "b", NULL);
    end_function(&out, &f);
    begin_function(&f, "Pong", "a", "b", 17);
    function_node(&f, DOMAIN, "Ping", "to_ping", "a", "b", NULL);
    end_function(&out, &f);
    call(&out, "Ping", "start", "x", "y", NULL);
    refuse(&out, "graph 'main', node 0 'start' (Ping): function 'Ping', node 0 'to_pong' (Pong): "
                 "function 'Pong', node 0 'to_ping' (Ping): function 'Ping' calls itself");
}

/* 2^40 nodes out of forty functions of two calls each: stopped by the limit on bytes read again. */
static void test_explosion(void **state)
{
    struct pw_onnx_out out;
    struct function f;
    (void)state;
    begin_model(&out);
    for (int i = 0; i < 40; i++) {
        char name[16], next[16];
        snprintf(name, sizeof name, "F%d", i);
        snprintf(next, sizeof next, "F%d", i + 1);
        begin_function(&f, name, "a", "b", 17);
        function_node(&f, i < 39 ? DOMAIN : "", i < 39 ? next : "Neg", "p", "a", "t", NULL);
        function_node(&f, i < 39 ? DOMAIN : "", i < 39 ? next : "Neg", "q", "t", "b", NULL);
        end_function(&out, &f);
    }
    call(&out, "F0", "f", "x", "y", NULL);
    refuse(&out, "for a file of");
}

static void test_refused(void **state)
{
    struct pw_onnx_out out;
    struct function f;
    struct pw_buf attrs = {0};
    (void)state;
    begin_model(&out);
    begin_function(&f, "F", "a", "b", 17);
    function_node(&f, "", "Neg", "n", "a", "b", NULL);
    end_function(&out, &f);
    call(&out, "F", "f", "x x", "y", NULL);
    refuse(&out, "node 0 'f' (F): 2 inputs, but the function takes 1");

    begin_model(&out);
    begin_function(&f, "F", "a", "b", 17);
    function_node(&f, "", "Neg", "n", "x", "b", NULL); /* a function does not see the caller's names */
    end_function(&out, &f);
    call(&out, "F", "f", "x", "y", NULL);
    refuse(&out, "node 0 'f' (F): function 'F', node 0 'n' (Neg): input 0 'x' dangles");

    begin_model(&out);
    begin_function(&f, "F", "a", "b", 17);
    function_node(&f, "", "Neg", "n", "a", "c", NULL);
    end_function(&out, &f);
    call(&out, "F", "f", "x", "y", NULL);
    refuse(&out, "nothing in the function makes its output 'b'");

    begin_model(&out);
    begin_function(&f, "F", "a", "b", 17);
    function_node(&f, "", "Neg", "n", "a", "a", NULL);
    end_function(&out, &f);
    call(&out, "F", "f", "x", "y", NULL);
    refuse(&out, "the name 'a' is defined twice");

    begin_model(&out);
    begin_function(&f, "F", "a", "b", 17);
    pw_onnx_put_attr_reference(&attrs, "p", PW_ATTR_INT, "nothing");
    function_node(&f, "other", "Op", "n", "a", "b", &attrs);
    end_function(&out, &f);
    call(&out, "F", "f", "x", "y", NULL);
    refuse(&out, "attribute 'p': refers to attribute 'nothing', which the function does not declare");

    begin_model(&out);
    begin_function(&f, "F", "a", "b", 17);
    pw_wire_put_text(&f.body, PW_FUNCTION_ATTRIBUTE, "k");
    pw_onnx_put_attr_reference(&attrs, "p", PW_ATTR_INT, "k");
    function_node(&f, "other", "Op", "n", "a", "b", &attrs);
    end_function(&out, &f);
    pw_onnx_put_attr_float(&attrs, "k", 1.0f);
    call(&out, "F", "f", "x", "y", &attrs);
    refuse(&out, "attribute 'p': is INT, but attribute 'k' of the call is FLOAT");

    begin_model(&out);
    for (int i = 0; i < 2; i++) {
        begin_function(&f, "F", "a", "b", 17);
        function_node(&f, "", "Neg", "n", "a", "b", NULL);
        end_function(&out, &f);
    }
    refuse(&out, "function 'F' is defined twice");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inline),    cmocka_unit_test(test_attribute_references),
        cmocka_unit_test(test_arguments), cmocka_unit_test(test_graph_argument),
        cmocka_unit_test(test_overload),  cmocka_unit_test(test_recursion),
        cmocka_unit_test(test_explosion), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
