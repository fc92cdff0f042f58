/* The inventory: signatures, figures computed by hand, flags; its report in four formats. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "graph/inventory.h"
#include "graph_text.h"
#include "json_schema.h"
#include "report/inventory.h"
#include "report/ops.h"

#include "paths.h"

struct made {
    struct pw_buf bytes;
    struct pw_model *model;
    struct pw_inference *inference;
    struct pw_inventory *inventory;
};

static struct made make(const char *text, const char *const *bodies, const struct pw_binding *bindings, size_t count)
{
    struct made m = {.model = NULL};
    struct pw_error err = {0};

    m.model = graph_text_model(text, bodies, 13, &m.bytes);
    if (pw_infer_graph(m.model, bindings, count, &m.inference, &err) != PW_OK ||
        pw_inventory_create(m.model, m.inference, &m.inventory, &err) != PW_OK)
        graph_text_fail(err.message, text);
    return m;
}

static void drop(struct made *m)
{
    pw_inventory_destroy(m->inventory);
    pw_inference_destroy(m->inference);
    pw_model_destroy(m->model);
    pw_buf_clear(&m->bytes);
}

/* The signature of the node that makes `output`. */
static const struct pw_signature *of(const struct made *m, const char *output)
{
    const struct pw_graph *graph = m->model->graph;
    const struct pw_node *node = graph->values[graph_text_value(graph, output)].producer;
    int index = m->inventory->node_signature[pw_inference_node_number(m->inference, node)];

    assert_true(index >= 0);
    return &m->inventory->signatures[index];
}

/* ---- texts ---- */

static const char signatures_text[] = "input x float32[batch,8]\n"
                                      "const w float32[8,4] iota\n"
                                      "const w2 float32[8,4] 3\n"
                                      "const starts int64[1] 0\nconst ends int64[1] 2\nconst axes int64[1] 1\n"
                                      "const power float32[] 2\nconst top float32[] 6\n"
                                      "a = MatMul (x, w)\n"
                                      "b = MatMul (x, w2)\n"
                                      "s = Softmax (a)\n"
                                      "s2 = Softmax axis=-1 (b)\n"
                                      "c = Slice (s, starts, ends, axes)\n"
                                      "p = Pow (x, power)\n"
                                      "q = Clip (p, , top)\n"
                                      "u = com.example:Foo zeta=1 alpha='it''s' (x, , w)\n"
                                      "output s2 float32\noutput c float32\noutput q float32\noutput u float32\n";

static void test_signature_texts(void **state)
{
    struct made m = make(signatures_text, NULL, NULL, 0);

    (void)state;
    assert_string_equal(of(&m, "a")->text, "MatMul-13 (float32[batch,8], const float32[8,4]) -> (float32[batch,4])");
    assert_int_equal(of(&m, "a")->node_count, 2); /* other weights, the same work */
    assert_ptr_equal(of(&m, "a"), of(&m, "b"));
    /* a default is as good as written out */
    assert_string_equal(of(&m, "s")->text, "Softmax-13 axis=-1 (float32[batch,4]) -> (float32[batch,4])");
    assert_ptr_equal(of(&m, "s"), of(&m, "s2"));
    assert_string_equal(of(&m, "c")->text,
                        "Slice-13 (float32[batch,4], starts=<int64[1] 0>, ends=<int64[1] 2>, axes=<int64[1] 1>) -> "
                        "(float32[batch,2])");
    assert_string_equal(of(&m, "p")->text, "Pow-13 (float32[batch,8], <float32[] 2.0>) -> (float32[batch,8])");
    assert_string_equal(of(&m, "q")->text, "Clip-13 (float32[batch,8], -, <float32[] 6.0>) -> (float32[batch,8])");
    assert_string_equal(of(&m, "u")->text,
                        "com.example:Foo alpha='it\\x27\\x27s' zeta=1 (float32[batch,8], -, const float32[8,4]) -> "
                        "(float32)");
    assert_string_equal(of(&m, "u")->op_label, "com.example:Foo");
    assert_string_equal(of(&m, "a")->shapes, "[batch,8] [8,4] -> [batch,4]");
    assert_string_equal(of(&m, "c")->shapes, "[batch,4] -> [batch,2]");
    assert_int_equal(m.inventory->signature_count, 6);
    assert_int_equal(m.inventory->node_count, 8);
    assert_string_not_equal(of(&m, "a")->id, of(&m, "s")->id);
    drop(&m);
}

/* The id is a function of the text alone: another graph, another place, the same work. */
static void test_ids_are_stable(void **state)
{
    struct made a = make("input x float32[2,3]\ny = Relu (x)\noutput y float32\n", NULL, NULL, 0);
    struct made b = make("input other float32[batch,3]\nconst k float32[3] 1\nt = Add (other, k)\nz = Relu (t)\n"
                         "output z float32\n",
                         NULL, &(struct pw_binding){"batch", 2}, 1);

    (void)state;
    assert_string_equal(of(&a, "y")->id, of(&b, "z")->id);
    assert_string_not_equal(of(&b, "t")->id, of(&b, "z")->id);
    drop(&a);
    drop(&b);
}

/* Nodes with bodies differ by what is in them, not by the names or weights there. */
static void test_subgraph_hash(void **state)
{
    static const char *const bodies[] = {
        "const k float32[2] 1 2\nt = Add (x, k)\noutput t float32\n",
        "const k2 float32[2] 3 4\nt2 = Add (x, k2)\noutput t2 float32\n",
        "t3 = Mul (x, x)\noutput t3 float32\n",
    };
    struct made m = make("input x float32[2]\ninput c bool[]\n"
                         "a = If then_branch={0} else_branch={1} (c)\n"
                         "b = If then_branch={1} else_branch={0} (c)\n"
                         "d = If then_branch={0} else_branch={2} (c)\n"
                         "output a float32\noutput b float32\noutput d float32\n",
                         bodies, NULL, 0);

    (void)state;
    assert_ptr_equal(of(&m, "a"), of(&m, "b"));
    assert_ptr_not_equal(of(&m, "a"), of(&m, "d"));
    assert_int_equal(of(&m, "a")->category, PW_CATEGORY_CONTROL);
    assert_int_equal(m.inventory->node_count, 9); /* the bodies' nodes are listed too */
    drop(&m);
}

/* ---- figures ---- */

static void test_figures(void **state)
{
    const struct pw_binding bindings[] = {{"batch", 3}};
    struct made m = make("input x float32[batch,8]\nconst w float32[8,4] iota\nconst b float32[4] iota\n"
                         "a = MatMul (x, w)\ny = Add (a, b)\nz = Add (y, b)\noutput z float32\n",
                         NULL, bindings, 1);
    const struct pw_signature *a, *y;

    (void)state;
    a = of(&m, "a");
    y = of(&m, "y");
    assert_float_equal(a->flops_value, 2.0 * 3 * 4 * 8, 0);
    assert_float_equal(a->bytes_value, 4.0 * (3 * 8 + 8 * 4 + 3 * 4), 0);
    assert_float_equal(y->flops_value, 3.0 * 4, 0);
    assert_float_equal(y->bytes_value, 4.0 * (3 * 4 + 4 + 3 * 4), 0);
    assert_float_equal(a->intensity, 192.0 / 272.0, 1e-12);
    assert_float_equal(m.inventory->total_flops, 192.0 + 2 * 12, 0); /* two nodes of the same signature */
    assert_float_equal(m.inventory->total_bytes, 272.0 + 2 * 112, 0);
    assert_float_equal(a->share, 192.0 / 216.0, 1e-12);
    assert_float_equal(y->share, 24.0 / 216.0, 1e-12);
    assert_int_equal(a->parameters, 32);
    assert_int_equal(y->parameters, 4);
    assert_int_equal(m.inventory->total_parameters, 36); /* b is counted once */
    assert_string_equal(m.inventory->assumptions, "");
    assert_int_equal(m.inventory->unknown_cost_nodes, 0);
    drop(&m);
}

/* A value that is given twice is read once; another value of the same shape is another one. */
static void test_figures_of_operands(void **state)
{
    struct made m = make("input x float32[3,8]\ninput other float32[3,8]\n"
                         "a = Mul (x, x)\nb = Sub (x, other)\nc = Add (a, b)\noutput c float32\n",
                         NULL, NULL, 0);

    (void)state;
    assert_float_equal(of(&m, "a")->bytes_value, 2 * 96, 0);
    assert_float_equal(of(&m, "b")->bytes_value, 3 * 96, 0);
    assert_float_equal(of(&m, "c")->bytes_value, 3 * 96, 0);
    drop(&m);
}

static void test_assumptions(void **state)
{
    struct made m = make("input x float32[batch_size,sequence,8]\nconst w float32[8,4] iota\na = MatMul (x, w)\n"
                         "output a float32\n",
                         NULL, NULL, 0);
    struct pw_buf text = {0};

    (void)state;
    pw_dims_print(pw_inference_dims(m.inference), of(&m, "a")->flops, &text);
    assert_string_equal(pw_buf_text(&text), "64*batch_size*sequence");
    assert_float_equal(of(&m, "a")->flops_value, 64.0 * 1 * 16, 0);
    assert_string_equal(m.inventory->assumptions, "batch_size=1, sequence=16 assumed for totals");
    assert_int_equal(m.inventory->assumed_count, 2);
    assert_int_equal(m.inventory->input_symbol_count, 2);
    pw_buf_clear(&text);
    drop(&m);
}

/* Of other sizes than 16 where the graph takes those: five halves of a side, scaled up again, are 0 of 16 and as long
 * as the side of 32; 64 values are not added to 16. What no size suits gets the first. */
static void test_assumed_sizes_suit(void **state)
{
    static const struct {
        const char *text, *says;
    } all[] = {
        {"input x float32[bs,1,h,w]\nconst scales float32[4] 1 1 32 32\n"
         "d = MaxPool kernel_shape=[32,32] strides=[32,32] (x)\nu = Resize (d, , scales)\ny = Add (u, x)\n"
         "output y float32[bs,1,h,w]\n",
         "bs=1, h=32, w=32 assumed for totals"},
        {"input x float32[size]\ninput k float32[64]\ny = Add (x, k)\noutput y float32[64]\n",
         "size=64 assumed for totals"},
        {"input x float32[size]\ninput k float32[7]\ny = Add (x, k)\noutput y float32[7]\n",
         "size=16 assumed for totals"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct made m = make(all[i].text, NULL, NULL, 0);

        assert_string_equal(m.inventory->assumptions, all[i].says);
        drop(&m);
    }
}

static void test_unknown_cost(void **state)
{
    struct made m =
        make("input x float32[2,2]\nu = com.example:Foo (x)\ny = Relu (x)\noutput u float32\noutput y float32\n", NULL,
             NULL, 0);

    (void)state;
    assert_true(isnan(of(&m, "u")->flops_value));
    assert_true(isnan(of(&m, "u")->share));
    assert_int_equal(m.inventory->unknown_cost_nodes, 1);
    assert_float_equal(m.inventory->total_flops, 4.0, 0);
    assert_int_equal(of(&m, "u")->sensitivity, PW_SENSITIVITY_MEDIUM);
    drop(&m);
}

/* ---- flags ---- */

static void test_shape_arithmetic(void **state)
{
    struct made m = make("input x float32[batch,sequence,8]\nconst one int64[] 1\nconst axes int64[1] 0\n"
                         "const tail int64[2] 2 4\nconst minus int64[1] -1\nconst zero int64[] 0\n"
                         "shape = Shape (x)\ns = Gather axis=0 (shape, one)\ns1 = Unsqueeze (s, axes)\n"
                         "to = Concat axis=0 (minus, s1, tail)\ny = Reshape (x, to)\n"
                         "pos = Range (zero, s, one)\nfpos = Cast to=1 (pos)\ncol = Unsqueeze (fpos, axes)\n"
                         "output y float32\noutput col float32\n",
                         NULL, NULL, 0);

    (void)state;
    assert_true(of(&m, "shape")->shape_arithmetic);
    assert_true(of(&m, "s")->shape_arithmetic); /* its uses are a Range's limit and a Reshape's shape */
    assert_true(of(&m, "s1")->shape_arithmetic);
    assert_true(of(&m, "to")->shape_arithmetic);
    assert_false(of(&m, "y")->shape_arithmetic);
    assert_false(of(&m, "pos")->shape_arithmetic); /* feeds data */
    assert_false(of(&m, "fpos")->shape_arithmetic);
    drop(&m);
}

static void test_dynamic(void **state)
{
    struct made m = make("input x float32[batch,4,sequence]\ninput k float32[3]\nr = Relu (x)\nf = Relu (k)\n"
                         "n = NonZero (k)\noutput r float32\noutput f float32\noutput n int64\n",
                         NULL, NULL, 0);

    (void)state;
    assert_true(of(&m, "r")->dynamic);
    assert_string_equal(of(&m, "r")->dynamic_reason, "in 0 dims 0,2: batch, sequence; out 0 dims 0,2: batch, sequence");
    assert_false(of(&m, "f")->dynamic);
    assert_string_equal(of(&m, "f")->dynamic_reason, "");
    assert_true(of(&m, "n")->data_dependent);
    assert_non_null(strstr(of(&m, "n")->dynamic_reason, "output size depends on data"));
    assert_false(of(&m, "r")->data_dependent);
    drop(&m);
}

/* ---- reports ---- */

/* A graph whose names are hostile: escapes, quotes, a formula, broken UTF-8. */
static struct made hostile(void)
{
    struct made m = {.model = NULL};
    struct pw_onnx_out out;
    struct pw_error err = {0};
    const int64_t dims[] = {2, 3};
    const char *const names[] = {"=cmd|'/c calc'!A1", NULL};
    const struct pw_onnx_shape shape = {PW_DTYPE_FLOAT32, 2, dims, names};
    const char *const inputs[] = {"x\x1b[2J"}, *const middle[] = {"m\xff\xfe"}, *const outputs[] = {"y,\"q\"\r\n"};

    pw_onnx_out_init(&out, "main", 13);
    pw_onnx_put_info(&out.graph, PW_GRAPH_INPUT, inputs[0], &shape);
    pw_onnx_put_info(&out.graph, PW_GRAPH_OUTPUT, outputs[0], &shape);
    pw_onnx_put_node(&out.graph, "Bad\x1b]0;op", "=1+1\xc3", inputs, 1, middle, 1, NULL);
    pw_onnx_put_node(&out.graph, "Relu", "@sum|<b>", middle, 1, outputs, 1, NULL);
    pw_onnx_out_bytes(&out, &m.bytes);
    pw_onnx_out_clear(&out);
    if (pw_model_parse(m.bytes.data, m.bytes.size, "bad\x1b.onnx", NULL, &m.model, &err) != PW_OK ||
        pw_infer_graph(m.model, NULL, 0, &m.inference, &err) != PW_OK ||
        pw_inventory_create(m.model, m.inference, &m.inventory, &err) != PW_OK)
        graph_text_fail(err.message, "hostile");
    return m;
}

static struct pw_report_inventory report_of(const struct made *m)
{
    return (struct pw_report_inventory){.inventory = m->inventory,
                                        .model_path = "dir/bad\x1b[31m.onnx",
                                        .graph_id = "0123456789abcdef0123456789abcdef",
                                        .bindings = ""};
}

static void expect_clean(const struct pw_buf *text)
{
    for (size_t i = 0; i < text->size;) {
        uint32_t code;
        size_t used = pw_text_decode(text->data + i, text->size - i, &code);

        assert_true(code == '\n' || code == '\r' || (code >= 0x20 && code != 0x7f && code != 0xfffd));
        i += used;
    }
}

static void test_text_report(void **state)
{
    static const int widths[] = {40, 80, 120, 300};
    struct made m = hostile();
    struct pw_report_inventory report = report_of(&m);

    (void)state;
    for (size_t w = 0; w < 4; w++) {
        struct pw_buf out = {0}, line = {0};
        struct pw_error err = {0};

        assert_int_equal(pw_report_inventory_text(&report, widths[w], &out, &err), PW_OK);
        expect_clean(&out);
        for (const char *at = pw_buf_text(&out); *at != '\0';) {
            size_t size = strcspn(at, "\n");

            line.size = 0;
            pw_buf_append(&line, at, size);
            if (widths[w] >= 80)
                assert_true(pw_text_width(pw_buf_text(&line)) <= (size_t)widths[w]);
            at += size + (at[size] == '\n');
        }
        assert_non_null(strstr(pw_buf_text(&out), "2 nodes,"));
        pw_buf_clear(&line);
        pw_buf_clear(&out);
    }
    drop(&m);
}

/* RFC 4180: the same number of fields in every record, quotes doubled; no field starts as a formula. */
static void test_csv_report(void **state)
{
    struct made m = hostile();
    struct pw_report_inventory report = report_of(&m);
    struct pw_buf out = {0};
    struct pw_error err = {0};
    size_t fields = 0, first = 0, records = 0;
    bool quoted = false, start = true;

    (void)state;
    assert_int_equal(pw_report_inventory_csv(&report, &out, &err), PW_OK);
    expect_clean(&out);
    for (size_t i = 0; i < out.size; i++) {
        char c = out.data[i];

        if (start && c == '"')
            assert_null(strchr("=+@", out.data[i + 1]));
        start = false;
        if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && c == ',') {
            fields++;
            start = true;
        } else if (!quoted && c == '\r') {
            assert_int_equal(out.data[i + 1], '\n');
            fields++;
            first = first == 0 ? fields : first;
            assert_int_equal(fields, first);
            records++;
            fields = 0;
            start = true;
            i++;
        }
    }
    assert_false(quoted);
    assert_int_equal(records, 3);
    pw_buf_clear(&out);
    drop(&m);
}

static json_t *load_schema(const char *name)
{
    struct pw_buf path = {0};
    json_t *schema;

    pw_buf_printf(&path, "%s/share/schema/%s", PW_SRCDIR, name);
    schema = json_load_file(pw_buf_text(&path), 0, NULL);
    pw_buf_clear(&path);
    assert_non_null(schema);
    return schema;
}

static void expect_valid(const char *schema_name, const struct pw_buf *text)
{
    json_t *schema = load_schema(schema_name), *value;
    json_error_t error;
    char why[600] = "";

    value = json_loadb(text->data, text->size, 0, &error);
    if (value == NULL)
        fprintf(stderr, "line %d: %s\n", error.line, error.text);
    assert_non_null(value);
    if (!schema_check(schema, value, "$", why, sizeof why))
        fail_msg("%s", why);
    json_decref(value);
    json_decref(schema);
}

static void test_json_report(void **state)
{
    struct made m = hostile();
    struct pw_report_inventory report = report_of(&m);
    struct pw_impl impls[] = {{.kind = PW_COVERAGE_KERNEL, .name = "relu", .supported = true, .why = ""},
                              {.kind = PW_COVERAGE_HOST, .name = "reference", .supported = false, .why = "no\xff"}};
    struct pw_impl_list lists[] = {
        {.items = NULL, .selected = -1, .coverage = PW_COVERAGE_MISSING, .reason = "unknown"},
        {.items = impls, .count = 2, .coverage = PW_COVERAGE_KERNEL, .reason = ""}};
    struct pw_buf out = {0};
    struct pw_error err = {0};
    json_t *root;

    (void)state;
    report.targets[0] = (struct pw_report_target){"opencl", "chip\x1b", lists, ""};
    report.targets[1] = (struct pw_report_target){"opencl:1", "other", NULL, "could not be found"};
    report.target_count = 2;
    assert_int_equal(pw_report_inventory_json(&report, &out, &err), PW_OK);
    expect_valid("inventory.schema.json", &out);
    root = json_loadb(out.data, out.size, 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(root, "schema")), 1);
    assert_int_equal(json_array_size(json_object_get(root, "signatures")), 2);
    json_decref(root);
    pw_buf_clear(&out);
    drop(&m);
}

static void test_md_report(void **state)
{
    struct made m = hostile();
    struct pw_report_inventory report = report_of(&m);
    struct pw_buf out = {0};
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(pw_report_inventory_md(&report, &out, &err), PW_OK);
    expect_clean(&out);
    assert_null(strstr(pw_buf_text(&out), "<b>"));
    for (const char *at = strstr(pw_buf_text(&out), "| operator"); at != NULL && *at == '|';) {
        size_t pipes = 0, size = strcspn(at, "\n");

        for (size_t i = 0; i < size; i++)
            pipes += at[i] == '|' && at[i - 1] != '\\';
        assert_int_equal(pipes, 12); /* eleven columns */
        at += size + 1;
    }
    pw_buf_clear(&out);
    drop(&m);
}

static void test_ops_table(void **state)
{
    const struct pw_ops_dir dir = {PW_SRCDIR "/ops", false};
    struct pw_kernels *kernels = NULL;
    struct pw_buf out = {0};
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(pw_kernels_load(&dir, 1, &kernels, &err), PW_OK);
    assert_int_equal(pw_report_ops_json(kernels, &out, &err), PW_OK);
    expect_valid("operators.schema.json", &out);
    pw_buf_clear(&out);
    assert_int_equal(pw_report_ops_md(kernels, &out, &err), PW_OK);
    assert_non_null(strstr(pw_buf_text(&out), "| Softmax | ai.onnx | 1, 11, 13 | softmax | yes | golden, loops | "
                                              "T: float | `softmax_rows`"));
    assert_non_null(strstr(pw_buf_text(&out), "host: strings live on the host"));
    pw_buf_clear(&out);
    pw_kernels_destroy(kernels);
    assert_int_equal(pw_report_ops_text(NULL, 80, &out, &err), PW_OK);
    assert_int_equal(pw_report_ops_csv(NULL, &out, &err), PW_OK);
    pw_buf_clear(&out);
}

/* Every allocation may fail. */
static void test_no_memory(void **state)
{
    struct pw_buf bytes = {0};
    struct pw_model *model = graph_text_model(signatures_text, NULL, 13, &bytes);
    struct pw_inference *inference = NULL;
    struct pw_error err = {0};
    bool done = false;

    (void)state;
    assert_int_equal(pw_infer_graph(model, NULL, 0, &inference, &err), PW_OK);
    for (uint64_t nth = 1; nth < 5000 && !done; nth++) {
        struct pw_inventory *inventory = NULL;

        pw_error_clear(&err);
        pw_mem_fail_at(nth, 1);
        done = pw_inventory_create(model, inference, &inventory, &err) == PW_OK;
        pw_mem_fail_at(0, 0);
        pw_inventory_destroy(inventory);
        if (!done)
            assert_int_equal(err.status, PW_ERR_NO_MEMORY);
    }
    assert_true(done);
    pw_inference_destroy(inference);
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signature_texts),     cmocka_unit_test(test_ids_are_stable),
        cmocka_unit_test(test_subgraph_hash),       cmocka_unit_test(test_figures),
        cmocka_unit_test(test_figures_of_operands), cmocka_unit_test(test_assumptions),
        cmocka_unit_test(test_assumed_sizes_suit),  cmocka_unit_test(test_unknown_cost),
        cmocka_unit_test(test_shape_arithmetic),    cmocka_unit_test(test_dynamic),
        cmocka_unit_test(test_text_report),         cmocka_unit_test(test_csv_report),
        cmocka_unit_test(test_json_report),         cmocka_unit_test(test_md_report),
        cmocka_unit_test(test_ops_table),           cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
