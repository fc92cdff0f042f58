/* Evaluation of graphs: carriers, liveness, input checks, observers, a backend, failing memory. */
#include "tests/unit/eval_build.h"

#include <stdio.h>
#include <sys/resource.h>

/* y = x*w in float16, z = [y, c] * [1; 1]: with c = -(1 + 2^-9) what is left is what rounding y loses. */
static struct built rounding_model(void)
{
    struct pw_onnx_out out;
    struct pw_buf attrs = {0};

    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "x", "float16[1,1] 0");
    output(&out.graph, "z", "float16[1,1] 0");
    initializer(&out.graph, "w", "float16[1,1] 1.0009765625");
    initializer(&out.graph, "c", "float16[1,1] -1.001953125");
    initializer(&out.graph, "ones", "float16[2,1] 1");
    node(&out.graph, "MatMul", "x w", "y");
    pw_onnx_put_attr_int(&attrs, "axis", 1);
    add_node(&out.graph, "Concat", "join", "y c", "both", &attrs);
    node(&out.graph, "MatMul", "both ones", "z");
    return build(&out);
}

/* (1 + 2^-10)^2 - (1 + 2^-9) = 2^-20, which float16 holds, but not beside the 1 of y. */
static void test_golden_carries_double(void **state)
{
    struct built made = rounding_model();

    (void)state;
    expect_results(&made, PW_EVAL_GOLDEN, TEXTS("float16[1,1] 1.0009765625"),
                   TEXTS("float16[1,1] 9.5367431640625e-07"));
    expect_results(&made, PW_EVAL_FAST, TEXTS("float16[1,1] 1.0009765625"), TEXTS("float16[1,1] 9.5367431640625e-07"));
    unbuild(&made);
}

struct watch {
    int nodes, carried, handled;
    const char *refuse; /* op at which the backend fails */
    bool serve;         /* the backend copies Identity itself */
    int stop_at;
};

static pw_status leave_to_host(void *user, const struct pw_node *at, const struct pw_value *const *inputs,
                               int input_count, struct pw_value *outputs, int output_count, bool *handled,
                               struct pw_error *err)
{
    struct watch *watch = user;

    (void)output_count;
    for (int i = 0; i < input_count; i++) { /* values come as the model says */
        if (inputs[i] != NULL && inputs[i]->kind == PW_VALUE_TENSOR)
            assert_int_equal(inputs[i]->tensor.dtype, inputs[i]->tensor.nominal);
    }
    if (watch->refuse != NULL && strcmp(at->op_type, watch->refuse) == 0)
        return pw_error_set(err, PW_ERR_TARGET, "the device is gone");
    *handled = watch->serve && strcmp(at->op_type, "Identity") == 0;
    watch->handled += *handled;
    return *handled ? pw_value_copy(&outputs[0], inputs[0], err) : PW_OK;
}

static pw_status count_nodes(void *user, const struct pw_node *at, const struct pw_value *const *inputs,
                             const struct pw_value *outputs, struct pw_error *err)
{
    struct watch *watch = user;

    (void)inputs;
    (void)at;
    watch->nodes++;
    watch->carried += outputs[0].kind == PW_VALUE_TENSOR && outputs[0].tensor.dtype != outputs[0].tensor.nominal;
    if (watch->nodes == watch->stop_at)
        return pw_error_set(err, PW_ERR_CANCELLED, "stopped");
    return PW_OK;
}

/* With a backend every node's result is rounded, so the difference vanishes. */
static void test_backend_rounds(void **state)
{
    struct built made = rounding_model();
    struct watch watch = {0};
    struct pw_eval_options options = {
        .mode = PW_EVAL_GOLDEN, .backend = leave_to_host, .observe = count_nodes, .user = &watch};
    struct pw_value result = {0};
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(run_texts(&made, &options, TEXTS("float16[1,1] 1.0009765625"), &result, &err), PW_OK);
    expect_text(&result, "float16[1,1] 0", "z");
    assert_int_equal(watch.nodes, 3);
    assert_int_equal(watch.carried, 0);
    pw_value_clear(&result);
    watch.refuse = "Concat";
    assert_int_equal(run_texts(&made, &options, TEXTS("float16[1,1] 1"), &result, &err), PW_ERR_TARGET);
    assert_contains(err.message, "node 1 'join'");
    assert_contains(err.message, "the device is gone");
    assert_int_equal(result.kind, PW_VALUE_NONE);
    unbuild(&made);
}

static void test_observer(void **state)
{
    struct built made = rounding_model();
    struct watch watch = {0};
    struct pw_eval_options options = {.mode = PW_EVAL_GOLDEN, .observe = count_nodes, .user = &watch};
    struct pw_value result = {0};
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(run_texts(&made, &options, TEXTS("float16[1,1] 1"), &result, &err), PW_OK);
    assert_int_equal(watch.nodes, 3);
    assert_int_equal(watch.carried, 3);
    pw_value_clear(&result);
    watch = (struct watch){.stop_at = 2};
    assert_int_equal(run_texts(&made, &options, TEXTS("float16[1,1] 1"), &result, &err), PW_ERR_CANCELLED);
    assert_int_equal(watch.nodes, 2);
    unbuild(&made);
}

/* Inputs and initializers as outputs, one value as two outputs, values that nobody reads. */
static struct built outputs_model(void)
{
    struct pw_onnx_out out;

    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "x", "float32[2] 0");
    input(&out.graph, "unused", "int64[1] 0");
    initializer(&out.graph, "w", "float32[1] 5");
    node(&out.graph, "Identity", "x", "a");
    node(&out.graph, "Identity", "a", "nobody");
    node(&out.graph, "Identity", "a", "b");
    output(&out.graph, "x", "float32[2] 0");
    output(&out.graph, "w", "float32[1] 0");
    output(&out.graph, "a", "float32[2] 0");
    output(&out.graph, "b", "float32[2] 0");
    return build(&out);
}

static void test_outputs(void **state)
{
    struct built made = outputs_model();
    struct watch watch = {.serve = true};
    struct pw_eval_options options = {.mode = PW_EVAL_GOLDEN, .backend = leave_to_host, .user = &watch};
    struct pw_value results[4] = {{0}};

    (void)state;
    for (pw_eval_mode mode = PW_EVAL_GOLDEN; mode <= PW_EVAL_FAST; mode++)
        expect_results(&made, mode, TEXTS("float32[2] 1 2", "int64[1] 3"),
                       TEXTS("float32[2] 1 2", "float32[1] 5", "float32[2] 1 2", "float32[2] 1 2"));
    assert_int_equal(run_texts(&made, &options, TEXTS("float32[2] 1 2", "int64[1] 3"), results, NULL), PW_OK);
    assert_int_equal(watch.handled, 3);
    for (int i = 0; i < 4; i++) {
        assert_true(results[i].tensor.owned); /* nothing points into the model or the inputs */
        pw_value_clear(&results[i]);
    }
    unbuild(&made);
}

/* Inputs are checked: count, type, rank, numbers, and symbols that must agree. */
static void test_input_checks(void **state)
{
    static const char *const first[2] = {"batch", NULL}, *const second[2] = {"batch", "batch + n"};
    struct pw_onnx_out out;
    struct built made;

    (void)state;
    pw_onnx_out_init(&out, "main", 17);
    declare(&out.graph, PW_GRAPH_INPUT, "a", "float32[1,3] 0", first);
    declare(&out.graph, PW_GRAPH_INPUT, "b", "float32[1,1] 0", second);
    node(&out.graph, "Identity", "a", "y");
    untyped(&out.graph, PW_GRAPH_OUTPUT, "y");
    made = build(&out);
    expect_results(&made, PW_EVAL_GOLDEN, TEXTS("float32[2,3] 1", "float32[2,9] 0"), TEXTS("float32[2,3] 1"));
    expect_run_error(&made, TEXTS("float32[2,3] 1"), "input 'b' is not given");
    expect_run_error(&made, TEXTS("float32[2,3] 1", "float32[2,9] 0", "float32[1] 0"), "3 inputs given");
    expect_run_error(&made, TEXTS("float64[2,3] 1", "float32[2,9] 0"), "input 'a' must be float32, found float64");
    expect_run_error(&made, TEXTS("float32[2,3,1] 1", "float32[2,9] 0"), "input 'a' must have rank 2, found 3");
    expect_run_error(&made, TEXTS("float32[2,4] 1", "float32[2,9] 0"), "dim 1 must be 3, found 4");
    expect_run_error(&made, TEXTS("float32[2,3] 1", "float32[3,9] 0"), "dim 0 must be batch = 2, found 3");
    expect_run_error(&made, TEXTS("", "float32[3,9] 0"), "input 'a' must be a tensor, found nothing");
    expect_run_error(&made, TEXTS("seq(float32[2,3] 1)", "float32[2,9] 0"), "found a sequence");
    unbuild(&made);
}

static void test_unknown_operator(void **state)
{
    struct pw_onnx_out out;
    struct built made;

    (void)state;
    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "x", "float32[1] 0");
    add_call(&out.graph, PW_GRAPH_NODE, "com.example", "Mystery", "what", "x", "y", NULL);
    untyped(&out.graph, PW_GRAPH_OUTPUT, "y");
    made = build(&out);
    expect_run_error(&made, TEXTS("float32[1] 0"), "node 0 'what' (Mystery): no reference");
    unbuild(&made);
}

/* The reader refuses nodes that do not fit their definition; a node made elsewhere is refused here. */
static void test_malformed_nodes(void **state)
{
    struct pw_onnx_out out;
    struct built made;
    struct pw_node *product, *join;
    struct pw_buf attrs = {0};
    pw_value_id kept;

    (void)state;
    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "x", "float32[1,1] 0");
    node(&out.graph, "MatMul", "x x", "y");
    pw_onnx_put_attr_int(&attrs, "axis", 1);
    add_node(&out.graph, "Concat", "join", "y y", "z", &attrs);
    untyped(&out.graph, PW_GRAPH_OUTPUT, "z");
    made = build(&out);
    product = &made.model->graph->nodes[0];
    join = &made.model->graph->nodes[1];
    product->input_count = 1;
    expect_run_error(&made, TEXTS("float32[1,1] 0"), "expected 2 inputs, found 1");
    product->input_count = 2;
    kept = product->inputs[1];
    product->inputs[1] = PW_NO_VALUE;
    expect_run_error(&made, TEXTS("float32[1,1] 0"), "required input 1 ('B') is omitted");
    product->inputs[1] = kept;
    join->attr_count = 0;
    expect_run_error(&made, TEXTS("float32[1,1] 0"), "required attribute 'axis' is missing");
    join->attr_count = 1;
    expect_results(&made, PW_EVAL_GOLDEN, TEXTS("float32[1,1] 3"), TEXTS("float32[1,2] 9 9"));
    unbuild(&made);
}

/* A long chain: every value is freed after its reader, so memory does not grow with the chain. */
static void test_values_are_freed(void **state)
{
    enum { LENGTH = 60 };
    struct pw_onnx_out out;
    struct built made;
    char from[16] = "x", to[16];

    (void)state;
    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "x", "float32[4194304] 0"); /* 16 MiB; 60 of them would be 960 MiB, carried 1.9 GiB */
    for (int i = 0; i < LENGTH; i++) {
        snprintf(to, sizeof to, "v%d", i);
        node(&out.graph, "Identity", from, to);
        memcpy(from, to, sizeof to);
    }
    untyped(&out.graph, PW_GRAPH_OUTPUT, from);
    made = build(&out);
    {
        struct pw_eval_options options = {.mode = PW_EVAL_FAST};
        struct pw_value x = value_of("float32[4194304] 1"), result = {0};
        struct rlimit before, limit;

        assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
        limit = before;
        limit.rlim_cur = (rlim_t)512 << 20;
        if (getenv("PW_SANITIZED") == NULL) /* shadow memory counts too */
            setrlimit(RLIMIT_DATA, &limit);
        assert_int_equal(pw_eval_graph(made.model->graph, &x, 1, &options, &result, NULL), PW_OK);
        setrlimit(RLIMIT_DATA, &before);
        assert_true(pw_tensor_get(&result.tensor, 4194303) == 1.0);
        pw_value_clear(&result);
        pw_value_clear(&x);
    }
    unbuild(&made);
}

/* Whatever allocation fails, the run ends with that error and without results. */
static void test_failing_memory(void **state)
{
    struct built made = rounding_model();
    struct pw_value x = value_of("float16[1,1] 1"), result = {0};
    struct pw_eval_options options = {.mode = PW_EVAL_GOLDEN};
    uint64_t n;

    (void)state;
    for (n = 1; n < 2000; n++) {
        struct pw_error err = {0};
        pw_status status;

        pw_mem_fail_at(n, 0);
        status = pw_eval_graph(made.model->graph, &x, 1, &options, &result, &err);
        pw_mem_fail_at(0, 0);
        if (status == PW_OK)
            break;
        assert_int_equal(status, PW_ERR_NO_MEMORY);
        assert_int_equal(result.kind, PW_VALUE_NONE);
    }
    assert_in_range(n, 10, 1999);
    pw_value_clear(&result);
    pw_value_clear(&x);
    unbuild(&made);
}

/* Sparse initializers are made dense when they are read. */
static void test_sparse_initializer(void **state)
{
    static const float numbers[2] = {5, 7};
    static const int64_t places[2] = {1, 2}, two = 2;
    struct pw_onnx_out out;
    struct pw_buf part = {0}, sparse = {0};
    struct pw_tensor t;
    struct built made;

    (void)state;
    pw_onnx_out_init(&out, "main", 17);
    pw_tensor_borrow(&t, PW_DTYPE_FLOAT32, 1, &two, numbers);
    pw_onnx_put_tensor(&part, "w", &t);
    pw_wire_put_message(&sparse, PW_SPARSE_VALUES, &part);
    pw_tensor_borrow(&t, PW_DTYPE_INT64, 1, &two, places);
    pw_onnx_put_tensor(&part, NULL, &t);
    pw_wire_put_message(&sparse, PW_SPARSE_INDICES, &part);
    pw_wire_put_int(&sparse, PW_SPARSE_DIMS, 4);
    pw_wire_put_message(&out.graph, PW_GRAPH_SPARSE, &sparse);
    node(&out.graph, "Identity", "w", "y");
    untyped(&out.graph, PW_GRAPH_OUTPUT, "y");
    made = build(&out);
    expect_results(&made, PW_EVAL_GOLDEN, NO_TEXTS, TEXTS("float32[4] 0 5 7 0"));
    unbuild(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_carries_double),
        cmocka_unit_test(test_backend_rounds),
        cmocka_unit_test(test_observer),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_input_checks),
        cmocka_unit_test(test_unknown_operator),
        cmocka_unit_test(test_malformed_nodes),
        cmocka_unit_test(test_values_are_freed),
        cmocka_unit_test(test_failing_memory),
        cmocka_unit_test(test_sparse_initializer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
