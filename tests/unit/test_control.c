/* If, Loop, Scan and SequenceMap on whole models: what they compute, and what is inferred of them. Products of
 * 1x1 matrices do the arithmetic. */
#include "tests/unit/eval_build.h"

#include <stdio.h>

#include "graph/infer.h"

/* Checks a value's inferred type: "float32[a,2]", "seq float32[?]", "float32 ?" (rank unknown); symbols made on the
 * way ("loop#3") count as "?". */
static void expect_info(const struct built *made, const char *name, const char *expected)
{
    struct pw_inference *inference = NULL;
    struct pw_error err = {0};
    struct pw_buf text = {0};
    const struct pw_graph *graph = made->model->graph;
    const struct pw_info *info;

    if (pw_infer_graph(made->model, NULL, 0, &inference, &err) != PW_OK)
        fail_msg("%s", err.message);
    info = pw_inference_at(inference, graph, (pw_value_id)(value_named(graph, name) - graph->values));
    pw_buf_printf(&text, "%s%s", info->kind == PW_VALUE_SEQUENCE ? "seq " : "", pw_dtype_name(info->dtype));
    pw_buf_puts(&text, info->rank < 0 ? " ?" : "[");
    for (int d = 0; d < info->rank; d++) {
        struct pw_buf dim = {0};

        pw_dims_print(pw_inference_dims(inference), info->dims[d], &dim);
        pw_buf_printf(&text, "%s%s", d > 0 ? "," : "", strchr(pw_buf_text(&dim), '#') ? "?" : pw_buf_text(&dim));
        pw_buf_clear(&dim);
    }
    pw_buf_puts(&text, info->rank < 0 ? "" : "]");
    if (strcmp(pw_buf_text(&text), expected) != 0)
        fail_msg("'%s' is inferred as %s, expected %s", name, pw_buf_text(&text), expected);
    pw_buf_clear(&text);
    pw_inference_destroy(inference);
}

/* ---- If ---- */

/* cond ? x*w : (inner ? w : x), where x and w are captured, w through two levels. */
static struct built if_model(void)
{
    struct pw_onnx_out out;
    struct pw_buf attrs = {0}, inner = {0}, body = {0};

    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "cond", "bool[] 0");
    input(&out.graph, "second", "bool[1] 0");
    input(&out.graph, "x", "float32[1,1] 0");
    initializer(&out.graph, "w", "float32[1,1] 3");
    node(&body, "MatMul", "x w", "product");
    untyped(&body, PW_GRAPH_OUTPUT, "product");
    body_attr(&attrs, "then_branch", &body);
    {
        struct pw_buf inner_attrs = {0};

        node(&inner, "Identity", "w", "inner_w");
        untyped(&inner, PW_GRAPH_OUTPUT, "inner_w");
        body_attr(&inner_attrs, "then_branch", &inner);
        untyped(&inner, PW_GRAPH_OUTPUT, "x"); /* a captured value as the output itself */
        body_attr(&inner_attrs, "else_branch", &inner);
        add_node(&body, "If", "nested", "second", "chosen", &inner_attrs);
    }
    untyped(&body, PW_GRAPH_OUTPUT, "chosen");
    body_attr(&attrs, "else_branch", &body);
    add_node(&out.graph, "If", "outer", "cond", "y", &attrs);
    untyped(&out.graph, PW_GRAPH_OUTPUT, "y");
    return build(&out);
}

static void test_if(void **state)
{
    struct built made = if_model();

    (void)state;
    for (pw_eval_mode mode = PW_EVAL_GOLDEN; mode <= PW_EVAL_FAST; mode++) {
        expect_results(&made, mode, TEXTS("bool[] 1", "bool[1] 0", "float32[1,1] 5"), TEXTS("float32[1,1] 15"));
        expect_results(&made, mode, TEXTS("bool[] 0", "bool[1] 1", "float32[1,1] 5"), TEXTS("float32[1,1] 3"));
        expect_results(&made, mode, TEXTS("bool[] 0", "bool[1] 0", "float32[1,1] 5"), TEXTS("float32[1,1] 5"));
    }
    expect_info(&made, "y", "float32[1,1]");
    unbuild(&made);
}

/* Branches that differ: one dim open; when the condition is a constant, the branch taken is known. */
static struct built differing_if_model(const char *cond)
{
    struct pw_onnx_out out;
    struct pw_buf attrs = {0}, body = {0};

    pw_onnx_out_init(&out, "main", 17);
    if (cond != NULL)
        initializer(&out.graph, "cond", cond);
    else
        input(&out.graph, "cond", "bool[] 0");
    initializer(&body, "a", "int64[2,3] iota");
    untyped(&body, PW_GRAPH_OUTPUT, "a");
    body_attr(&attrs, "then_branch", &body);
    initializer(&body, "b", "int64[2,1] 7");
    untyped(&body, PW_GRAPH_OUTPUT, "b");
    body_attr(&attrs, "else_branch", &body);
    add_node(&out.graph, "If", "if", "cond", "y", &attrs);
    untyped(&out.graph, PW_GRAPH_OUTPUT, "y");
    return build(&out);
}

static void test_if_inference(void **state)
{
    struct built made = differing_if_model(NULL);

    (void)state;
    expect_info(&made, "y", "int64[2,?]");
    expect_results(&made, PW_EVAL_GOLDEN, TEXTS("bool[] 0"), TEXTS("int64[2,1] 7"));
    unbuild(&made);
    made = differing_if_model("bool[] 1");
    expect_info(&made, "y", "int64[2,3]");
    unbuild(&made);
    made = differing_if_model("bool[2] 1 0");
    expect_run_error(&made, NO_TEXTS, "'cond' must be one bool");
    unbuild(&made);
}

/* ---- Loop ---- */

/*
 * for (i = 0; i < M && cond; i++) { cond = conds[i]; trace[i] = v; v = v*w; }
 * conds is a captured sequence of bools, w an initializer of the main graph.
 */
static struct built loop_model(bool with_m, bool with_cond)
{
    struct pw_onnx_out out;
    struct pw_buf attrs = {0}, body = {0};

    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "M", "int64[] 0");
    input(&out.graph, "cond", "bool[] 0");
    input(&out.graph, "v", "float32[1,1] 0");
    initializer(&out.graph, "w", "float32[1,1] 2");
    initializer(&out.graph, "yes", "bool[] 1");
    initializer(&out.graph, "no", "bool[] 0");
    node(&out.graph, "SequenceConstruct", "yes yes no yes", "conds");
    input(&body, "i", "int64[] 0");
    input(&body, "cond_in", "bool[] 0");
    untyped(&body, PW_GRAPH_INPUT, "v_in");
    node(&body, "SequenceAt", "conds i", "cond_out");
    node(&body, "Identity", "v_in", "trace_out");
    node(&body, "MatMul", "v_in w", "v_out");
    output(&body, "cond_out", "bool[] 0");
    output(&body, "v_out", "float32[1,1] 0");
    output(&body, "trace_out", "float32[1,1] 0");
    body_attr(&attrs, "body", &body);
    add_node(&out.graph, "Loop", "loop", with_m ? with_cond ? "M cond v" : "M - v" : "- cond v", "last trace", &attrs);
    untyped(&out.graph, PW_GRAPH_OUTPUT, "last");
    untyped(&out.graph, PW_GRAPH_OUTPUT, "trace");
    return build(&out);
}

static void test_loop(void **state)
{
    static const struct {
        bool with_m, with_cond;
        const char *m, *cond, *last, *trace;
    } table[] = {
        {true, true, "int64[] 2", "bool[] 1", "float32[1,1] 12", "float32[2,1,1] 3 6"},
        {true, true, "int64[] 9", "bool[] 1", "float32[1,1] 24", "float32[3,1,1] 3 6 12"}, /* conds[2] is false */
        {true, true, "int64[] 0", "bool[] 1", "float32[1,1] 3", "float32[0,1,1]"},
        {true, true, "int64[] 9", "bool[] 0", "float32[1,1] 3", "float32[0,1,1]"},
        {true, true, "int64[] -5", "bool[] 1", "float32[1,1] 3", "float32[0,1,1]"},
        {false, true, "int64[] 0", "bool[] 1", "float32[1,1] 24", "float32[3,1,1] 3 6 12"},
        {true, false, "int64[] 4", "bool[] 0", "float32[1,1] 48", "float32[4,1,1] 3 6 12 24"}, /* cond is ignored */
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct built made = loop_model(table[i].with_m, table[i].with_cond);

        for (pw_eval_mode mode = PW_EVAL_GOLDEN; mode <= PW_EVAL_FAST; mode++)
            expect_results(&made, mode, TEXTS(table[i].m, table[i].cond, "float32[1,1] 3"),
                           TEXTS(table[i].last, table[i].trace));
        expect_info(&made, "last", "float32[1,1]");
        expect_info(&made, "trace", "float32[?,1,1]");
        unbuild(&made);
    }
}

/* An error inside names the node inside. */
static void test_loop_errors(void **state)
{
    struct built made = loop_model(true, false);

    (void)state;
    expect_run_error(&made, TEXTS("int64[] 5", "bool[] 1", "float32[1,1] 3"), "graph 'body', node 0 'cond_out'");
    expect_run_error(&made, TEXTS("int64[] 5", "bool[] 1", "float32[1,1] 3"), "position 4 in a sequence of 4");
    unbuild(&made);
    made = loop_model(true, true);
    expect_run_error(&made, TEXTS("int64[] 1", "bool[] 1", "seq(float32[1,1] 3)"), "must be a tensor");
    unbuild(&made);
}

/* v = [v, v] each time: the shape changes, so its dim is open; without iterations it keeps its size. */
static struct built growing_model(const char *trips)
{
    struct pw_onnx_out out;
    struct pw_buf attrs = {0}, body = {0}, concat = {0};

    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "v", "float32[2,1] 0");
    initializer(&out.graph, "M", trips);
    initializer(&out.graph, "true", "bool[] 1");
    input(&body, "i", "int64[] 0");
    input(&body, "cond_in", "bool[] 0");
    untyped(&body, PW_GRAPH_INPUT, "v_in");
    node(&body, "Identity", "cond_in", "cond_out");
    pw_onnx_put_attr_int(&concat, "axis", 1);
    add_node(&body, "Concat", "grow", "v_in v_in", "v_out", &concat);
    untyped(&body, PW_GRAPH_OUTPUT, "cond_out");
    untyped(&body, PW_GRAPH_OUTPUT, "v_out");
    untyped(&body, PW_GRAPH_OUTPUT, "i");
    body_attr(&attrs, "body", &body);
    add_node(&out.graph, "Loop", "loop", "M true v", "last count", &attrs);
    untyped(&out.graph, PW_GRAPH_OUTPUT, "last");
    untyped(&out.graph, PW_GRAPH_OUTPUT, "count");
    return build(&out);
}

static void test_growing_loop(void **state)
{
    struct built made = growing_model("int64[] 3");

    (void)state;
    expect_results(&made, PW_EVAL_GOLDEN, TEXTS("float32[2,1] 1 2"),
                   TEXTS("float32[2,8] 1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2", "int64[3] 0 1 2"));
    expect_info(&made, "last", "float32[2,?]");
    expect_info(&made, "count", "int64[3]"); /* the condition cannot end it */
    unbuild(&made);
}

/* ---- Scan ---- */

/* state = state*x_t, y_t = [x_t; state]: products along an axis of X. */
static struct built scan_model(int64_t in_axis, int64_t in_back, int64_t out_axis, int64_t out_back)
{
    struct pw_onnx_out out;
    struct pw_buf attrs = {0}, body = {0}, concat = {0};

    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "start", "float32[1,1] 0");
    untyped(&out.graph, PW_GRAPH_INPUT, "X");
    untyped(&body, PW_GRAPH_INPUT, "s");
    untyped(&body, PW_GRAPH_INPUT, "x");
    node(&body, "MatMul", "s x", "s_out");
    pw_onnx_put_attr_int(&concat, "axis", 0);
    add_node(&body, "Concat", "pair", "x s_out", "y", &concat);
    untyped(&body, PW_GRAPH_OUTPUT, "s_out");
    untyped(&body, PW_GRAPH_OUTPUT, "y");
    body_attr(&attrs, "body", &body);
    pw_onnx_put_attr_int(&attrs, "num_scan_inputs", 1);
    pw_onnx_put_attr_ints(&attrs, "scan_input_axes", &in_axis, 1);
    pw_onnx_put_attr_ints(&attrs, "scan_input_directions", &in_back, 1);
    pw_onnx_put_attr_ints(&attrs, "scan_output_axes", &out_axis, 1);
    pw_onnx_put_attr_ints(&attrs, "scan_output_directions", &out_back, 1);
    add_node(&out.graph, "Scan", "scan", "start X", "last Y", &attrs);
    untyped(&out.graph, PW_GRAPH_OUTPUT, "last");
    untyped(&out.graph, PW_GRAPH_OUTPUT, "Y");
    return build(&out);
}

static void test_scan(void **state)
{
    struct built made = scan_model(0, 0, 0, 0);

    (void)state;
    /* x = 2 3 4: states 2 6 24; each y is [2,1] */
    expect_results(&made, PW_EVAL_GOLDEN, TEXTS("float32[1,1] 1", "float32[3,1,1] 2 3 4"),
                   TEXTS("float32[1,1] 24", "float32[3,2,1] 2 2 3 6 4 24"));
    unbuild(&made);
    made = scan_model(0, 1, 0, 0); /* 4 3 2: states 4 12 24 */
    expect_results(&made, PW_EVAL_FAST, TEXTS("float32[1,1] 1", "float32[3,1,1] 2 3 4"),
                   TEXTS("float32[1,1] 24", "float32[3,2,1] 4 4 3 12 2 24"));
    unbuild(&made);
    made = scan_model(-1, 0, 1, 1); /* along the last axis, stacked backwards as columns */
    expect_results(&made, PW_EVAL_GOLDEN, TEXTS("float32[1,1] 1", "float32[1,1,3] 2 3 4"),
                   TEXTS("float32[1,1] 24", "float32[2,3,1] 4 3 2 24 6 2"));
    unbuild(&made);
    made = scan_model(0, 0, 0, 0); /* nothing to scan: the body declares no shape */
    expect_results(&made, PW_EVAL_GOLDEN, TEXTS("float32[1,1] 5", "float32[0,1,1]"),
                   TEXTS("float32[1,1] 5", "float32[0]"));
    expect_run_error(&made, TEXTS("float32[1,1] 1", "float32[] 2"), "axis 0, but the input has rank 0");
    unbuild(&made);
    made = scan_model(0, 2, 0, 0);
    expect_run_error(&made, TEXTS("float32[1,1] 1", "float32[1,1,1] 2"), "must hold 0 and 1, found 2");
    unbuild(&made);
}

static void test_scan_inference(void **state)
{
    static const char *const symbols[3] = {"time", NULL, NULL};
    struct pw_onnx_out out;
    struct pw_buf attrs = {0}, body = {0};
    struct built made;

    (void)state;
    pw_onnx_out_init(&out, "main", 17);
    declare(&out.graph, PW_GRAPH_INPUT, "X", "float32[1,4,5] 0", symbols);
    input(&out.graph, "start", "float32[4,4] 0");
    untyped(&body, PW_GRAPH_INPUT, "s");
    untyped(&body, PW_GRAPH_INPUT, "x");
    node(&body, "Identity", "s", "s_out");
    node(&body, "MatMul", "s x", "y");
    untyped(&body, PW_GRAPH_OUTPUT, "s_out");
    untyped(&body, PW_GRAPH_OUTPUT, "y");
    body_attr(&attrs, "body", &body);
    pw_onnx_put_attr_int(&attrs, "num_scan_inputs", 1);
    add_node(&out.graph, "Scan", "scan", "start X", "last Y", &attrs);
    untyped(&out.graph, PW_GRAPH_OUTPUT, "last");
    untyped(&out.graph, PW_GRAPH_OUTPUT, "Y");
    made = build(&out);
    expect_info(&made, "last", "float32[4,4]");
    expect_info(&made, "Y", "float32[time,4,5]");
    unbuild(&made);
}

/* Version 8: batch first, sequences of their own length, outputs padded with zeros. */
static struct built scan_8_model(bool lengths)
{
    struct pw_onnx_out out;
    struct pw_buf attrs = {0}, body = {0};

    pw_onnx_out_init(&out, "main", 8);
    if (lengths)
        input(&out.graph, "lens", "int64[2] 0");
    input(&out.graph, "start", "float32[2,1,1] 0");
    input(&out.graph, "X", "float32[2,3,1,1] 0");
    untyped(&body, PW_GRAPH_INPUT, "s");
    untyped(&body, PW_GRAPH_INPUT, "x");
    node(&body, "MatMul", "s x", "s_out");
    node(&body, "Identity", "s_out", "y");
    untyped(&body, PW_GRAPH_OUTPUT, "s_out");
    untyped(&body, PW_GRAPH_OUTPUT, "y");
    body_attr(&attrs, "body", &body);
    pw_onnx_put_attr_int(&attrs, "num_scan_inputs", 1);
    add_node(&out.graph, "Scan", "scan", lengths ? "lens start X" : "- start X", "last Y", &attrs);
    untyped(&out.graph, PW_GRAPH_OUTPUT, "last");
    untyped(&out.graph, PW_GRAPH_OUTPUT, "Y");
    return build(&out);
}

static void test_scan_8(void **state)
{
    struct built made = scan_8_model(true);

    (void)state;
    expect_results(&made, PW_EVAL_GOLDEN, TEXTS("int64[2] 3 2", "float32[2,1,1] 1 10", "float32[2,3,1,1] 2 3 4 5 6 7"),
                   TEXTS("float32[2,1,1] 24 300", "float32[2,3,1,1] 2 6 24 50 300 0"));
    expect_info(&made, "Y", "float32[2,3,1,1]");
    expect_info(&made, "last", "float32[2,1,1]");
    expect_run_error(&made, TEXTS("int64[2] 3 4", "float32[2,1,1] 1", "float32[2,3,1,1] 1"),
                     "sequence_lens[1] is 4, sequences have 3");
    unbuild(&made);
    made = scan_8_model(false);
    expect_results(&made, PW_EVAL_FAST, TEXTS("float32[2,1,1] 1 10", "float32[2,3,1,1] 2 3 4 5 6 7"),
                   TEXTS("float32[2,1,1] 24 2100", "float32[2,3,1,1] 2 6 24 50 300 2100"));
    unbuild(&made);
}

/* ---- SequenceMap ---- */

static struct built map_model(void)
{
    struct pw_onnx_out out;
    struct pw_buf attrs = {0}, body = {0};

    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "a", "float32[1,1] 0");
    input(&out.graph, "b", "float32[2,1] 0");
    initializer(&out.graph, "w", "float32[1,1] 10");
    node(&out.graph, "SequenceConstruct", "a b", "items");
    untyped(&body, PW_GRAPH_INPUT, "item");
    untyped(&body, PW_GRAPH_INPUT, "factor");
    node(&body, "MatMul", "item factor", "product");
    output(&body, "product", "float32[1,1] 0");
    untyped(&body, PW_GRAPH_OUTPUT, "item");
    body_attr(&attrs, "body", &body);
    add_node(&out.graph, "SequenceMap", "map", "items w", "products same", &attrs);
    untyped(&out.graph, PW_GRAPH_OUTPUT, "products");
    untyped(&out.graph, PW_GRAPH_OUTPUT, "same");
    return build(&out);
}

static void test_sequence_map(void **state)
{
    struct built made = map_model();
    struct pw_eval_options options = {.mode = PW_EVAL_GOLDEN};
    struct pw_value results[2] = {{0}};

    (void)state;
    assert_int_equal(run_texts(&made, &options, TEXTS("float32[1,1] 2", "float32[2,1] 3 4"), results, NULL), PW_OK);
    assert_int_equal(results[0].count, 2);
    expect_text(&results[0].items[0], "float32[1,1] 20", "first");
    expect_text(&results[0].items[1], "float32[2,1] 30 40", "second");
    expect_text(&results[1].items[1], "float32[2,1] 3 4", "second, as it was");
    pw_value_clear(&results[0]);
    pw_value_clear(&results[1]);
    expect_info(&made, "items", "seq float32[?,1]");
    expect_info(&made, "same", "seq float32[?,1]");
    unbuild(&made);
}

/* Failing allocations inside of subgraphs: an error each time, nothing lost. */
static void test_failing_memory(void **state)
{
    struct built made = loop_model(true, true);
    struct pw_value values[3] = {value_of("int64[] 2"), value_of("bool[] 1"), value_of("float32[1,1] 3")};
    struct pw_value results[2] = {{0}};
    struct pw_eval_options options = {.mode = PW_EVAL_GOLDEN};
    uint64_t n;

    (void)state;
    for (n = 1; n < 5000; n++) {
        struct pw_error err = {0};
        pw_status status;

        pw_mem_fail_at(n, 0);
        status = pw_eval_graph(made.model->graph, values, 3, &options, results, &err);
        pw_mem_fail_at(0, 0);
        if (status == PW_OK)
            break;
        assert_int_equal(status, PW_ERR_NO_MEMORY);
        assert_int_equal(results[0].kind, PW_VALUE_NONE);
    }
    assert_in_range(n, 50, 4999);
    for (int i = 0; i < 3; i++)
        pw_value_clear(&values[i]);
    pw_value_clear(&results[0]);
    pw_value_clear(&results[1]);
    unbuild(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_if),
        cmocka_unit_test(test_if_inference),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_loop_errors),
        cmocka_unit_test(test_growing_loop),
        cmocka_unit_test(test_scan),
        cmocka_unit_test(test_scan_inference),
        cmocka_unit_test(test_scan_8),
        cmocka_unit_test(test_sequence_map),
        cmocka_unit_test(test_failing_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
