/* Graphs with operators that nobody here knows: they stay, with what follows of their shapes; the rest is looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph/infer.h"
#include "graph/inventory.h"
#include "graph_text.h"
#include "run/eval.h"

struct seen {
    struct pw_buf bytes;
    struct pw_model *model;
    struct pw_inference *inference;
};

static struct seen look(const char *text, const char *const *bodies, int opset)
{
    struct seen s = {0};
    struct pw_error err = {0};

    s.model = graph_text_model(text, bodies, opset, &s.bytes);
    if (pw_infer_graph(s.model, NULL, 0, &s.inference, &err) != PW_OK)
        fail_msg("%s: %s", text, err.message);
    return s;
}

static void forget(struct seen *s)
{
    pw_inference_destroy(s->inference);
    pw_model_destroy(s->model);
    pw_buf_clear(&s->bytes);
}

static void expect_shape(const struct seen *s, const char *name, const char *want)
{
    const struct pw_graph *graph = s->model->graph;
    const struct pw_info *info = pw_inference_at(s->inference, graph, graph_text_value(graph, name));
    struct pw_buf got = {0};

    pw_buf_printf(&got, "%s", pw_dtype_name(info->dtype));
    if (info->rank >= 0)
        pw_buf_puts(&got, "[");
    for (int d = 0; d < info->rank; d++) {
        pw_buf_puts(&got, d > 0 ? "," : "");
        pw_dims_print(pw_inference_dims(s->inference), info->dims[d], &got);
    }
    pw_buf_puts(&got, info->rank >= 0 ? "]" : "");
    if (strcmp(pw_buf_text(&got), want) != 0)
        fail_msg("'%s' is %s, expected %s", name, pw_buf_text(&got), want);
    pw_buf_clear(&got);
}

static const struct pw_node *node_of(const struct seen *s, const char *op_type)
{
    for (size_t i = 0; i < s->model->graph->node_count; i++) {
        if (strcmp(s->model->graph->nodes[i].op_type, op_type) == 0)
            return &s->model->graph->nodes[i];
    }
    fail_msg("no node %s", op_type);
    return NULL;
}

/* Between known operators: what comes before and beside it is known, and behind it what does not depend on it. */
static void test_between(void **state)
{
    struct seen s = look("input x float32[batch,4]\n"
                         "a = Relu (x)\n"
                         "b = com.example:Mystery k=2 (a)\n"
                         "c = Add (b, a)\n"
                         "shape = Shape (b)\n"
                         "d = Cast to=1 (b)\n"
                         "e = Softmax (a)\n"
                         "output c float32\noutput e float32\noutput d float32\noutput shape int64\n",
                         NULL, 18);

    (void)state;
    assert_null(node_of(&s, "Mystery")->op);
    assert_non_null(node_of(&s, "Softmax")->op);
    expect_shape(&s, "a", "float32[batch,4]");
    expect_shape(&s, "b", "undefined");
    expect_shape(&s, "d", "float32");
    expect_shape(&s, "e", "float32[batch,4]");
    forget(&s);
}

/* What the file declares of its outputs is believed, and carries on. */
static void test_declared(void **state)
{
    struct seen s = look("input x float32[batch,4]\n"
                         "b = com.example:Mystery (x)\n"
                         "info b float32[batch,8]\n"
                         "c = Relu (b)\n"
                         "const w float32[8,2] 1\n"
                         "d = MatMul (c, w)\n"
                         "output d float32\n",
                         NULL, 18);

    (void)state;
    expect_shape(&s, "c", "float32[batch,8]");
    expect_shape(&s, "d", "float32[batch,2]");
    forget(&s);
}

/* A name of ai.onnx that the model's opset does not have yet, and one that never was. */
static void test_standard_domain(void **state)
{
    struct seen s = look("input x float32[2,4]\n"
                         "a = Gelu (x)\n"
                         "b = NoSuchOperator (x)\n"
                         "c = Neg (x)\n"
                         "output a float32\noutput b float32\noutput c float32\n",
                         NULL, 13);

    (void)state;
    assert_null(node_of(&s, "Gelu")->op);
    assert_null(node_of(&s, "NoSuchOperator")->op);
    expect_shape(&s, "c", "float32[2,4]");
    forget(&s);
}

/* Its subgraphs are graphs all the same. */
static void test_subgraph(void **state)
{
    static const char *const bodies[] = {"t = Neg (x)\nu = Transpose (t)\noutput u float32\n"};
    struct seen s = look("input x float32[2,3]\n"
                         "y = com.example:Region body={0} (x)\n"
                         "z = Abs (x)\n"
                         "output y float32\noutput z float32\n",
                         bodies, 18);
    const struct pw_attr *body = pw_node_attr(node_of(&s, "Region"), "body");
    const struct pw_info *info;

    (void)state;
    assert_non_null(body);
    assert_int_equal(pw_inference_graph_count(s.inference), 2);
    info = pw_inference_at(s.inference, body->graph, graph_text_value(body->graph, "u"));
    assert_int_equal(info->rank, 2);
    assert_int_equal(info->dims[0], 3);
    expect_shape(&s, "z", "float32[2,3]");
    forget(&s);
}

/* In a loop's body and a branch: the shapes that do not depend on it follow. */
static void test_within_control_flow(void **state)
{
    static const char *const bodies[] = {
        "input i int64[]\ninput go bool[]\ninput v float32[2]\n"
        "w = com.example:Mystery (v)\ninfo w float32[2]\nk = Neg (x)\ngo2 = Identity (go)\n"
        "output go2 bool[]\noutput w float32[2]\noutput k float32[2]\n"};
    struct seen s = look("input x float32[2]\nconst n int64[] 3\nconst c bool[] 1\n"
                         "v,ks = Loop body={0} (n, c, x)\n"
                         "output v float32\noutput ks float32\n",
                         bodies, 18);

    (void)state;
    expect_shape(&s, "v", "float32[2]");
    expect_shape(&s, "ks", "float32[3,2]");
    forget(&s);
}

/* A vendor's operator with an attribute or inputs that its definition has grown since: unknown, with the reason. */
static void test_vendor_has_moved_on(void **state)
{
    struct seen s = look("input x float32[2,4]\n"
                         "a = com.microsoft:FastGelu brand_new=1 (x)\n"
                         "b = com.microsoft:FastGelu (x)\n"
                         "output a float32\noutput b float32\n",
                         NULL, 18);

    (void)state;
    assert_null(s.model->graph->nodes[0].op);
    assert_non_null(strstr(s.model->graph->nodes[0].note, "unknown attribute 'brand_new'"));
    assert_non_null(s.model->graph->nodes[1].op);
    assert_null(s.model->graph->nodes[1].note);
    expect_shape(&s, "b", "float32[2,4]");
    forget(&s);
}

/* The same where the model's opset is newer than all that are known; within the known ones it is the file's error. */
static void test_newer_opset(void **state)
{
    static const char text[] =
        "input x float32[2,4]\na = Relu slope=1 (x)\nb = Relu (x)\noutput a float32\noutput b float32\n";
    struct seen s = look(text, NULL, pw_op_newest() + 1);
    struct pw_buf bytes = {0};
    struct pw_model *model = NULL;
    struct pw_error err = {0};

    (void)state;
    assert_null(s.model->graph->nodes[0].op);
    expect_shape(&s, "b", "float32[2,4]");
    forget(&s);
    graph_text_bytes(text, NULL, pw_op_newest(), &bytes);
    assert_int_equal(pw_model_parse(bytes.data, bytes.size, "test.onnx", NULL, &model, &err), PW_ERR_MODEL);
    assert_non_null(strstr(err.message, "unknown attribute 'slope'"));
    pw_buf_clear(&bytes);
}

/* The inventory has them as rows of their own; a known operator that only unknown values reach too. */
static void test_inventory(void **state)
{
    struct seen s = look("input x float32[2,4]\n"
                         "a = com.example:Mystery (x)\n"
                         "b = com.example:Mystery (a)\n"
                         "c = MatMul (a, b)\n"
                         "d = Relu (x)\n"
                         "output c float32\noutput d float32\n",
                         NULL, 18);
    struct pw_inventory *inventory = NULL;
    struct pw_error err = {0};
    size_t unknown = 0, known = 0;

    (void)state;
    assert_int_equal(pw_inventory_create(s.model, s.inference, &inventory, &err), PW_OK);
    for (size_t i = 0; i < inventory->signature_count; i++) {
        if (inventory->signatures[i].op == NULL)
            unknown += inventory->signatures[i].node_count;
        else
            known += inventory->signatures[i].node_count;
    }
    assert_int_equal(unknown, 2);
    assert_int_equal(known, 2);
    pw_inventory_destroy(inventory);
    forget(&s);
}

/* Names from the file are nothing to trust. */
static void test_hostile_names(void **state)
{
    struct pw_onnx_out out;
    struct pw_buf bytes = {0}, node = {0};
    struct pw_model *model = NULL;
    struct pw_inference *inference = NULL;
    struct pw_error err = {0};
    char where[256];

    (void)state;
    pw_onnx_out_init(&out, "main", 18);
    pw_wire_put_text(&node, 1, "x");
    for (int i = 0; i < 200; i++) {
        char name[16];

        snprintf(name, sizeof name, "o%d", i);
        pw_wire_put_text(&node, 2, name);
    }
    pw_wire_put_text(&node, 4, "\033[31mEvil\n%s%n");
    pw_wire_put_text(&node, 7, "..//\xff\xfe");
    pw_wire_put_message(&out.graph, PW_GRAPH_NODE, &node);
    pw_onnx_put_node(&out.graph, "Neg", "n", (const char *const[]){"x"}, 1, (const char *const[]){"y"}, 1, NULL);
    {
        int64_t two = 2;
        struct pw_onnx_shape shape = {PW_DTYPE_FLOAT32, 1, &two, NULL};

        pw_onnx_put_info(&out.graph, PW_GRAPH_INPUT, "x", &shape);
        pw_onnx_put_info(&out.graph, PW_GRAPH_OUTPUT, "y", &shape);
    }
    pw_onnx_out_bytes(&out, &bytes);
    pw_onnx_out_clear(&out);
    if (pw_model_parse(bytes.data, bytes.size, "test.onnx", NULL, &model, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(pw_infer_graph(model, NULL, 0, &inference, &err), PW_OK);
    assert_int_equal(pw_inference_at(inference, model->graph, graph_text_value(model->graph, "y"))->rank, 1);
    assert_null(strchr(pw_node_where(&model->graph->nodes[0], where, sizeof where), '\033'));
    pw_inference_destroy(inference);
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_between),
        cmocka_unit_test(test_declared),
        cmocka_unit_test(test_standard_domain),
        cmocka_unit_test(test_subgraph),
        cmocka_unit_test(test_within_control_flow),
        cmocka_unit_test(test_vendor_has_moved_on),
        cmocka_unit_test(test_newer_opset),
        cmocka_unit_test(test_inventory),
        cmocka_unit_test(test_hostile_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
