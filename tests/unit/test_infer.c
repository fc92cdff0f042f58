/* Shape inference over whole graphs: symbols, bindings, contents, declared shapes, subgraphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph/infer.h"
#include "graph_text.h"

struct loaded {
    struct pw_buf bytes;
    struct pw_model *model;
    struct pw_inference *inference;
    struct pw_error err;
    pw_status status;
};

static struct loaded load(const char *text, const char *const *bodies, const struct pw_binding *bindings, size_t count)
{
    struct loaded l = {.inference = NULL};

    l.model = graph_text_model(text, bodies, 13, &l.bytes);
    l.status = pw_infer_graph(l.model, bindings, count, &l.inference, &l.err);
    return l;
}

static void unload(struct loaded *l)
{
    pw_inference_destroy(l->inference);
    pw_model_destroy(l->model);
    pw_buf_clear(&l->bytes);
}

/* "float32[batch,4]", with " = 1 2" when the content is known. */
static void expect_in(const struct loaded *l, const struct pw_graph *graph, const char *name, const char *want)
{
    const struct pw_info *info = pw_inference_at(l->inference, graph, graph_text_value(graph, name));
    struct pw_dims *dims = pw_inference_dims(l->inference);
    struct pw_buf got = {0};

    pw_buf_puts(&got, info->kind == PW_VALUE_SEQUENCE ? "seq " : "");
    pw_buf_puts(&got, pw_dtype_name(info->dtype));
    if (info->rank >= 0)
        pw_buf_putc(&got, '[');
    for (int d = 0; d < info->rank; d++) {
        pw_buf_puts(&got, d > 0 ? "," : "");
        pw_dims_print(dims, info->dims[d], &got);
    }
    if (info->rank >= 0)
        pw_buf_putc(&got, ']');
    for (size_t i = 0; info->content != NULL && i < info->content_count; i++) {
        pw_buf_puts(&got, i == 0 ? " = " : " ");
        pw_dims_print(dims, info->content[i], &got);
    }
    assert_string_equal(pw_buf_text(&got), want);
    pw_buf_clear(&got);
}

static void expect(const struct loaded *l, const char *name, const char *want)
{
    assert_string_equal(l->err.message, "");
    expect_in(l, l->model->graph, name, want);
}

static const struct pw_info *info_of(const struct loaded *l, const char *name)
{
    return pw_inference_at(l->inference, l->model->graph, graph_text_value(l->model->graph, name));
}

/* ---- symbols and contents ---- */

static const char reshape_text[] = "input x float32[batch,sequence,192]\n"
                                   "const zero int64[] 0\n"
                                   "const one int64[] 1\n"
                                   "const axes int64[1] 0\n"
                                   "const tail int64[2] 6 32\n"
                                   "shape = Shape (x)\n"
                                   "b = Gather axis=0 (shape, zero)\n"
                                   "s = Gather axis=0 (shape, one)\n"
                                   "b1 = Unsqueeze (b, axes)\n"
                                   "s1 = Unsqueeze (s, axes)\n"
                                   "to = Concat axis=0 (b1, s1, tail)\n"
                                   "y = Reshape (x, to)\n"
                                   "z = Transpose perm=[0,2,1,3] (y)\n"
                                   "output z float32\n";

static void test_symbolic_reshape(void **state)
{
    struct loaded l = load(reshape_text, NULL, NULL, 0);

    (void)state;
    expect(&l, "shape", "int64[3] = batch sequence 192");
    expect(&l, "s", "int64[] = sequence");
    expect(&l, "to", "int64[4] = batch sequence 6 32");
    expect(&l, "y", "float32[batch,sequence,6,32]");
    expect(&l, "z", "float32[batch,6,sequence,32]");
    assert_null(info_of(&l, "to")->constant);
    assert_false(info_of(&l, "to")->fixed);
    assert_true(info_of(&l, "tail")->fixed);
    unload(&l);
}

static void test_bound_reshape(void **state)
{
    const struct pw_binding bindings[] = {{"sequence", 5}, {"batch", 2}};
    struct loaded l = load(reshape_text, NULL, bindings, 2);

    (void)state;
    expect(&l, "x", "float32[2,5,192]");
    expect(&l, "to", "int64[4] = 2 5 6 32");
    expect(&l, "z", "float32[2,6,5,32]");
    assert_non_null(info_of(&l, "to")->constant);
    assert_int_equal(pw_tensor_get_int(info_of(&l, "to")->constant, 1), 5);
    assert_false(info_of(&l, "to")->fixed); /* follows from the input's shape, not from constants alone */
    unload(&l);
}

static void test_expressions(void **state)
{
    struct loaded l = load("input past float32[batch,2,past_sequence,8]\n"
                           "input new float32[batch,2,sequence,8]\n"
                           "all = Concat axis=2 (past, new)\n"
                           "shape = Shape (all)\n"
                           "two = Constant value=<int64[]_2> ()\n"
                           "total = Gather axis=0 (shape, two)\n"
                           "output total int64[]\n",
                           NULL, NULL, 0);

    (void)state;
    expect(&l, "all", "float32[batch,2,past_sequence + sequence,8]");
    expect(&l, "total", "int64[] = past_sequence + sequence");
    unload(&l);
}

/* Small calls on constants are evaluated by golden and rounded: 1/sqrt(64) in float32. */
static void test_folding(void **state)
{
    struct loaded l = load("input x float32[4]\n"
                           "const width float32[] 64\n"
                           "root = Sqrt (width)\n"
                           "inverse = Reciprocal (root)\n"
                           "asint = Cast to=7 (root)\n"
                           "const three float32[3] 0.1 0.2 0.3\n"
                           "scaled = Mul (three, inverse)\n"
                           "y = Mul (x, inverse)\n"
                           "output y float32[4]\n",
                           NULL, NULL, 0);
    const struct pw_tensor *scaled;

    (void)state;
    expect(&l, "asint", "int64[] = 8");
    assert_non_null(info_of(&l, "inverse")->constant);
    assert_float_equal(pw_tensor_get(info_of(&l, "inverse")->constant, 0), 0.125, 0);
    scaled = info_of(&l, "scaled")->constant;
    assert_non_null(scaled);
    assert_int_equal(scaled->dtype, PW_DTYPE_FLOAT32);
    assert_float_equal(pw_tensor_get(scaled, 1), (double)(0.2f * 0.125f), 0);
    assert_null(info_of(&l, "y")->constant);
    assert_true(info_of(&l, "scaled")->fixed);
    assert_false(info_of(&l, "y")->fixed);
    unload(&l);
}

/* A transposed weight is too large to be evaluated, but it is still the same in every run. */
static void test_fixed_weights(void **state)
{
    struct loaded l = load("input x float32[2,64]\n"
                           "const w float32[64,64] 0.5\n"
                           "t = Transpose perm=[1,0] (w)\n"
                           "y = MatMul (x, t)\n"
                           "output y float32\n",
                           NULL, NULL, 0);

    (void)state;
    expect(&l, "y", "float32[2,64]");
    assert_true(info_of(&l, "t")->fixed);
    assert_null(info_of(&l, "t")->constant);
    unload(&l);
}

/* ---- dims without names, zeros ---- */

static void test_open_dims(void **state)
{
    const struct pw_binding bindings[] = {{"x.1", 7}};
    struct loaded l = load("input x float32[0,?,3]\ny = Relu (x)\noutput y float32[0,0,0]\n", NULL, NULL, 0);

    (void)state;
    expect(&l, "y", "float32[x.0,x.1,3]");
    unload(&l);
    l = load("input x float32[0,?,3]\ny = Relu (x)\noutput y float32[0,0,0]\n", NULL, bindings, 1);
    expect(&l, "y", "float32[x.0,7,3]");
    unload(&l);
}

/* ---- bindings that cannot hold ---- */

static void expect_error(const char *text, const char *name, int64_t value, const char *first, const char *second)
{
    const struct pw_binding binding = {name, value};
    struct loaded l = load(text, NULL, &binding, 1);

    assert_int_not_equal(l.status, PW_OK);
    assert_non_null(strstr(l.err.message, first));
    assert_non_null(strstr(l.err.message, second));
    assert_null(l.inference);
    unload(&l);
}

static void test_bad_bindings(void **state)
{
    static const char add[] = "input x float32[batch,sequence]\n"
                              "const w float32[3,1] 1 2 3\n"
                              "y = Add (x, w)\n"
                              "output y float32\n";
    static const char declared[] = "input x float32[batch,4]\n"
                                   "y = Relu (x)\n"
                                   "info y float32[2,4]\n"
                                   "z = Neg (y)\n"
                                   "output z float32\n";

    (void)state;
    expect_error(add, "bach", 2, "'bach'", "did you mean 'batch'");
    expect_error(add, "batch", -2, "'batch'", "-2");
    expect_error(add, "batch", 2, "node 0 'n_y' (Add)", "[2,sequence]"); /* 2 against 3 */
    expect_error(add, "batch", 2, "test.onnx: graph 'main'", "[3,1]");
    expect_error("input x float32[2]\ny = Relu (x)\noutput y float32\n", "n", 1, "'n'", "fixed shape");
    expect_error("input x float32[n]\ny = Relu (x)\noutput y float32[total]\n", "total", 1, "'total'", "n");
    expect_error(declared, "batch", 3, "node 0 'n_y' (Relu)", "is 3, but the model declares 2");
}

/* A declaration that is wrong without any binding is stale, and no reason to refuse one. */
static void test_stale_declaration(void **state)
{
    const struct pw_binding binding = {"batch", 5};
    struct loaded l = load("input x float32[batch,4]\n"
                           "y = Relu (x)\n"
                           "info y float32[batch,7]\n"
                           "output y float32\n",
                           NULL, &binding, 1);

    (void)state;
    expect(&l, "y", "float32[5,4]");
    unload(&l);
}

/* ---- unknown operators ---- */

static void test_unknown_operator(void **state)
{
    struct loaded l = load("input x float32[batch,4]\n"
                           "y,other = com.example:Foo k=2 (x)\n"
                           "info y float16[batch,width]\n"
                           "z = Relu (y)\n"
                           "v = Relu (other)\n"
                           "output z float16\n"
                           "output v float32\n",
                           NULL, NULL, 0);

    (void)state;
    expect(&l, "y", "float16[batch,width]");
    expect(&l, "z", "float16[batch,width]");
    expect(&l, "other", "undefined");
    unload(&l);
}

/* ---- subgraphs ---- */

static void test_captures(void **state)
{
    static const char *const bodies[] = {
        "t = Add (x, x)\noutput t float32\n",
        "e = Mul (x, half)\noutput e float32\n",
    };
    struct loaded l = load("input x float32[batch,4]\n"
                           "input c bool[]\n"
                           "const half float32[] 0.5\n"
                           "y = If then_branch={0} else_branch={1} (c)\n"
                           "output y float32\n",
                           bodies, NULL, 0);
    const struct pw_graph *then_graph = pw_node_attr(&l.model->graph->nodes[0], "then_branch")->graph;

    (void)state;
    expect(&l, "y", "float32[batch,4]");
    expect_in(&l, then_graph, "t", "float32[batch,4]");
    expect_in(&l, then_graph, "x", "float32[batch,4]");
    assert_int_equal(pw_inference_graph_count(l.inference), 3);
    assert_int_equal(pw_inference_node_number(l.inference, &then_graph->nodes[0]), 1);
    unload(&l);
}

/* A branch for other inputs than the bound ones: it may never run, so its conflict is not the graph's. */
static void test_branch_that_does_not_fit(void **state)
{
    static const char *const bodies[] = {
        "t = Add (x, four)\noutput t float32\n",
        "e = Add (x, eight)\noutput e float32\n",
    };
    const struct pw_binding binding = {"n", 4};
    struct loaded l = load("input x float32[n]\ninput c bool[]\nconst four float32[4] 1\nconst eight float32[8] 1\n"
                           "y = If then_branch={0} else_branch={1} (c)\noutput y float32\n",
                           bodies, &binding, 1);

    (void)state;
    assert_string_equal(l.err.message, "");
    assert_int_equal(l.status, PW_OK);
    unload(&l);
}

/* The branch that an unknown operator holds is inferred from what it captures and declares. */
static void test_unasked_body(void **state)
{
    static const char *const bodies[] = {"input a float32[n,2]\nt = Concat axis=0 (a, x)\noutput t float32\n"};
    struct loaded l = load("input x float32[batch,2]\n"
                           "y = com.example:Call body={0} (x)\n"
                           "output y float32\n",
                           bodies, NULL, 0);
    const struct pw_graph *body = pw_node_attr(&l.model->graph->nodes[0], "body")->graph;

    (void)state;
    expect_in(&l, body, "t", "float32[batch + n,2]");
    unload(&l);
}

/* ---- what is kept ---- */

/* One model, two inferences: neither's shapes depend on the other's, nor on which ends first. */
static void test_two_inferences(void **state)
{
    const struct pw_binding few[] = {{"sequence", 5}, {"batch", 2}}, many[] = {{"sequence", 7}, {"batch", 3}};

    (void)state;
    for (int first_ends = 0; first_ends < 2; first_ends++) {
        struct loaded a = load(reshape_text, NULL, few, 2), b = a, symbolic = a;
        struct loaded *ends = first_ends ? &a : &b, *stays = first_ends ? &b : &a;

        assert_int_equal(pw_infer_graph(a.model, many, 2, &b.inference, &b.err), PW_OK);
        assert_int_equal(pw_infer_graph(a.model, NULL, 0, &symbolic.inference, &symbolic.err), PW_OK);
        expect(&a, "to", "int64[4] = 2 5 6 32");
        expect(&b, "to", "int64[4] = 3 7 6 32");
        pw_inference_destroy(ends->inference);
        expect(stays, "z", first_ends ? "float32[3,6,7,32]" : "float32[2,6,5,32]");
        expect(stays, "to", first_ends ? "int64[4] = 3 7 6 32" : "int64[4] = 2 5 6 32");
        assert_int_equal(pw_tensor_get_int(info_of(stays, "to")->constant, 1), first_ends ? 7 : 5);
        expect(&symbolic, "z", "float32[batch,6,sequence,32]");
        pw_inference_destroy(symbolic.inference);
        unload(stays);
    }
}

/* Equal infos are one, in whatever way they came about; what differs in anything is another. */
static void test_kept_once(void **state)
{
    struct loaded l = load("input x float32[2,5]\n"
                           "const four int64[] 4\n"
                           "const w float32[2] 1 2\n"
                           "const v float32[2] 1 2\n"
                           "a = Relu (x)\n"
                           "b = Exp (a)\n"
                           "c = Cast to=11 (x)\n"
                           "two = Sqrt (four_f)\n"
                           "four_f = Cast to=1 (four)\n"
                           "also = Constant value=<float32[]_2> ()\n"
                           "three = Constant value=<float32[]_3> ()\n"
                           "n = Shape (x)\n"
                           "m = Shape (a)\n"
                           "output b float32\n",
                           NULL, NULL, 0);

    (void)state;
    assert_string_equal(l.err.message, "");
    assert_ptr_equal(info_of(&l, "a"), info_of(&l, "b"));
    assert_ptr_not_equal(info_of(&l, "a"), info_of(&l, "c"));                      /* double */
    assert_ptr_equal(info_of(&l, "two")->constant, info_of(&l, "also")->constant); /* computed, and read */
    assert_ptr_not_equal(info_of(&l, "three")->constant, info_of(&l, "also")->constant);
    assert_float_equal(pw_tensor_get(info_of(&l, "three")->constant, 0), 3, 0);
    assert_ptr_equal(info_of(&l, "n")->content, info_of(&l, "m")->content);
    assert_ptr_not_equal(info_of(&l, "w")->constant, info_of(&l, "v")->constant); /* weights are the file's */
    unload(&l);
}

/* What a loop's body is told lies in the loop's own scratch, and each pass comes anew: none of it may be looked at
 * when it has gone. */
static void test_kept_of_a_body(void **state)
{
    static const char *const bodies[] = {"input i int64[]\ninput go bool[]\ninput s float32[?,2]\n"
                                         "const one int64[] 1\n"
                                         "next = Add (i, one)\n"
                                         "size = Shape (s)\n"
                                         "on = Identity (go)\n"
                                         "t = Concat axis=0 (s, s)\n"
                                         "output on bool[]\noutput t float32\noutput next int64[]\n"};
    struct loaded l = load("input x float32[4,2]\nconst trips int64[] 3\nconst yes bool[] 1\n"
                           "y,counts = Loop body={0} (trips, yes, x)\n"
                           "z = Relu (y)\n"
                           "output z float32\noutput counts int64\n",
                           bodies, NULL, 0);
    const struct pw_graph *body = pw_node_attr(&l.model->graph->nodes[0], "body")->graph;

    (void)state;
    assert_string_equal(l.err.message, "");
    assert_int_equal(info_of(&l, "z")->rank, 2);
    assert_int_equal(info_of(&l, "z")->dims[1], 2);
    expect(&l, "counts", "int64[3]");
    for (size_t id = 0; id < body->value_count; id++) {
        const struct pw_info *info = pw_inference_at(l.inference, body, (pw_value_id)id);
        struct pw_buf text = {0};

        for (size_t i = 0; i < info->content_count; i++)
            pw_dims_print(pw_inference_dims(l.inference), info->content[i], &text);
        if (info->constant != NULL)
            assert_true(pw_tensor_get_int(info->constant, 0) >= 0);
        pw_buf_clear(&text);
    }
    unload(&l);
}

/* ---- calls ---- */

static void test_call(void **state)
{
    struct loaded l = load("input x float32[batch,4]\n"
                           "y = Clip (x, , top)\n"
                           "const top float32[] 6\n"
                           "output y float32\n",
                           NULL, NULL, 0);
    struct pw_call call;

    (void)state;
    assert_int_equal(pw_inference_call(l.inference, &l.model->graph->nodes[0], &call, &l.err), PW_OK);
    assert_int_equal(call.input_count, 3);
    assert_null(call.in[1]);
    assert_int_equal(call.in[0]->rank, 2);
    assert_true(call.in[2]->fixed);
    assert_int_equal(call.out[0].dims[1], 4);
    unload(&l);
}

/* Every allocation may fail: an error, never a crash or a leak. */
static void test_no_memory(void **state)
{
    struct pw_buf bytes = {0};
    struct pw_model *model = graph_text_model(reshape_text, NULL, 13, &bytes);

    (void)state;
    for (uint64_t nth = 1; nth < 2000; nth++) {
        struct pw_inference *inference = NULL;
        struct pw_error err = {0};
        pw_status status;

        pw_mem_fail_at(nth, 1);
        status = pw_infer_graph(model, NULL, 0, &inference, &err);
        pw_mem_fail_at(0, 0);
        pw_inference_destroy(inference);
        if (status == PW_OK)
            break;
        assert_int_equal(status, PW_ERR_NO_MEMORY);
        assert_true(nth < 1999);
    }
    pw_model_destroy(model);
    pw_buf_clear(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbolic_reshape), cmocka_unit_test(test_bound_reshape),
        cmocka_unit_test(test_expressions),      cmocka_unit_test(test_folding),
        cmocka_unit_test(test_fixed_weights),    cmocka_unit_test(test_open_dims),
        cmocka_unit_test(test_bad_bindings),     cmocka_unit_test(test_stale_declaration),
        cmocka_unit_test(test_unknown_operator), cmocka_unit_test(test_captures),
        cmocka_unit_test(test_unasked_body),     cmocka_unit_test(test_branch_that_does_not_fit),
        cmocka_unit_test(test_two_inferences),   cmocka_unit_test(test_kept_once),
        cmocka_unit_test(test_kept_of_a_body),   cmocka_unit_test(test_call),
        cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
