/*
 * Whole graphs on both sides in step. The target here is the reference device, whose only errors are the roundings that
 * the protocol's precision rules ask for: they stand for a chip that differs, and their size is known by hand.
 */
#include "tests/unit/endtoend_ran.h"

#include <math.h>

#include "json_schema.h"
#include "report/run.h"

/* ---- nodes ---- */

/* x -> a = x*3 -> b = a+1 -> y = b*b, with `a` stored in float16: x = 1.0009765625 (1 + 2^-10) times 3 is 3.0029296875;
 * float16 has steps of 2^-9 there, so it becomes 3.00390625 or 3.001953125: an error of 2^-10, 3.3e-4 relative. */
static struct built chain_with_outputs(const char *more)
{
    struct pw_onnx_out out;
    char name[2] = "";

    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "x", "float32[1] 0");
    initializer(&out.graph, "three", "float32[1] 3");
    initializer(&out.graph, "one", "float32[1] 1");
    node(&out.graph, "Mul", "x three", "a");
    node(&out.graph, "Add", "a one", "b");
    node(&out.graph, "Mul", "b b", "y");
    output(&out.graph, "y", "float32[1] 0");
    for (; *more; more++) {
        name[0] = *more;
        output(&out.graph, name, "float32[1] 0");
    }
    return build(&out);
}

static struct built chain(void)
{
    return chain_with_outputs("");
}

static void test_a_narrow_node_is_no_culprit(void **state)
{
    struct built made = chain();
    struct ran *ran = new_ran(TEXTS("float32[1] 1.0009765625"));
    const struct pw_endtoend_node *a, *b, *y;

    (void)state;
    rule(ran, "a", NULL, PW_DTYPE_FLOAT16);
    run(ran, &made, PW_ENDTOEND_NODES);
    assert_int_equal(ran->row_count, 3);
    a = row_named(ran, "a");
    b = row_named(ran, "b");
    y = row_named(ran, "y");
    assert_true(a->cast && a->dtype == PW_DTYPE_FLOAT16 && !b->cast && b->dtype == PW_DTYPE_FLOAT32);
    assert_int_equal(ran->totals.cast_nodes, 1);
    /* its own error is that of one rounding to float16: within its tolerance */
    assert_int_equal(a->standing, PW_NODE_HELD);
    assert_true(fabs(a->isolated.max_error - 0x1p-10 / 3.0029296875) < 1e-7);
    assert_true(a->tolerance > 0x1p-11);
    /* what follows adds float32 roundings of its own, and carries on what arrived: (4+e)^2 doubles it */
    assert_true(b->isolated.max_error < 1e-7 && y->isolated.max_error < 1e-7);
    assert_true(fabs(b->propagated.max_error - 0x1p-10 / 4.0029296875) < 1e-7);
    assert_true(fabs(y->propagated.max_error - 2 * 0x1p-10 / 4.0029296875) < 1e-6);
    assert_int_equal(ran->totals.culprits, 0);
    assert_int_equal(ran->output_count, 1);
    assert_true(ran->outputs[0].compared && fabs(ran->outputs[0].golden.max_error - y->propagated.max_error) < 1e-12);
    done(ran, &made);
}

/* 300 * 300 is 90000, above float16's 65504: infinity on the target alone, and it begins there. */
static void test_infinity_has_an_origin(void **state)
{
    struct pw_onnx_out out;
    struct built made;
    struct ran *ran = new_ran(TEXTS("float32[2] 300 2"));

    (void)state;
    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "x", "float32[2] 0");
    node(&out.graph, "Abs", "x", "before");
    node(&out.graph, "Mul", "before before", "square");
    node(&out.graph, "Neg", "square", "after");
    node(&out.graph, "Sqrt", "square", "y");
    output(&out.graph, "after", "float32[2] 0");
    output(&out.graph, "y", "float32[2] 0");
    made = build(&out);
    rule(ran, "square", NULL, PW_DTYPE_FLOAT16);
    run(ran, &made, PW_ENDTOEND_NODES);
    assert_false(row_named(ran, "before")->nonfinite_origin);
    assert_true(row_named(ran, "square")->nonfinite_origin);
    assert_false(row_named(ran, "after")->nonfinite_origin);
    assert_false(row_named(ran, "y")->nonfinite_origin);
    assert_non_null(ran->totals.nonfinite_origin);
    assert_string_equal(ran->totals.nonfinite_origin->name, "square");
    assert_null(ran->totals.reference_nan);
    assert_int_equal(ran->totals.outputs_failed, 2);
    assert_false(ran->totals.held);
    done(ran, &made);
}

static void test_nan_of_the_reference(void **state)
{
    struct pw_onnx_out out;
    struct built made;
    struct ran *ran = new_ran(TEXTS("float32[2] 4 -4"));

    (void)state;
    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "x", "float32[2] 0");
    node(&out.graph, "Neg", "x", "n");
    node(&out.graph, "Sqrt", "n", "root");
    node(&out.graph, "Neg", "root", "y");
    output(&out.graph, "y", "float32[2] 0");
    made = build(&out);
    run(ran, &made, PW_ENDTOEND_NODES);
    assert_null(ran->totals.nonfinite_origin); /* both sides have it */
    assert_non_null(ran->totals.reference_nan);
    assert_string_equal(ran->totals.reference_nan->name, "root");
    assert_int_equal(ran->totals.outputs_failed, 0);
    done(ran, &made);
}

/* ---- control flow ---- */

/* s = 0; three times: t = s + x, s = t*t; y = s */
static struct built loop_model(void)
{
    struct pw_onnx_out out;
    struct pw_buf body = {0}, attrs = {0};

    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "x", "float32[1] 0");
    initializer(&out.graph, "trips", "int64[] 3");
    initializer(&out.graph, "zero", "float32[1] 0");
    untyped(&body, PW_GRAPH_INPUT, "i");
    untyped(&body, PW_GRAPH_INPUT, "go");
    untyped(&body, PW_GRAPH_INPUT, "s");
    node(&body, "Identity", "go", "on");
    node(&body, "Add", "s x", "t");
    node(&body, "Mul", "t t", "next");
    untyped(&body, PW_GRAPH_OUTPUT, "on");
    untyped(&body, PW_GRAPH_OUTPUT, "next");
    untyped(&body, PW_GRAPH_OUTPUT, "t");
    body_attr(&attrs, "body", &body);
    add_node(&out.graph, "Loop", "loop", "trips - zero", "y steps", &attrs);
    output(&out.graph, "y", "float32[1] 0");
    untyped(&out.graph, PW_GRAPH_OUTPUT, "steps");
    return build(&out);
}

static void test_a_loop_in_step(void **state)
{
    struct built made = loop_model();
    struct ran *ran = new_ran(TEXTS("float32[1] 0.5"));
    const struct pw_endtoend_node *t, *loop;

    (void)state;
    run(ran, &made, PW_ENDTOEND_NODES);
    t = row_named(ran, "t");
    loop = row_named(ran, "loop");
    assert_int_equal(t->runs, 3);
    assert_true(t->has_isolated && t->standing == PW_NODE_HELD);
    assert_int_equal(loop->runs, 1);
    assert_false(loop->has_isolated);
    assert_int_equal(loop->standing, PW_NODE_HELD);
    assert_true(ran->rows[ran->row_count - 1].node == loop->node); /* its body's nodes come before it */
    assert_int_equal(ran->totals.outputs_failed, 0);
    done(ran, &made);
}

/* m = x*1 in float16 takes 1.0001 to 1, so m > 1.00005 is false on the target alone and it takes the other branch. */
static void test_another_branch(void **state)
{
    struct pw_onnx_out out;
    struct pw_buf then_body = {0}, else_body = {0}, attrs = {0};
    struct built made;
    struct ran *ran = new_ran(TEXTS("float32[] 1.0001"));
    struct pw_value results[1] = {{0}};
    struct pw_error err = {0};

    (void)state;
    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "x", "float32[] 0");
    initializer(&out.graph, "one", "float32[] 1");
    initializer(&out.graph, "bound", "float32[] 1.00005");
    initializer(&out.graph, "ten", "float32[] 10");
    node(&out.graph, "Mul", "x one", "m");
    node(&out.graph, "Greater", "m bound", "c");
    node(&then_body, "Add", "x ten", "more");
    untyped(&then_body, PW_GRAPH_OUTPUT, "more");
    body_attr(&attrs, "then_branch", &then_body);
    node(&else_body, "Sub", "m ten", "less");
    untyped(&else_body, PW_GRAPH_OUTPUT, "less");
    body_attr(&attrs, "else_branch", &else_body);
    add_node(&out.graph, "If", "choice", "c", "y", &attrs);
    output(&out.graph, "y", "float32[] 0");
    made = build(&out);
    rule(ran, "m", NULL, PW_DTYPE_FLOAT16);
    if (start(ran, made.model, PW_ENDTOEND_NODES, results, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_non_null(strstr(row_named(ran, "choice")->reason, "takes another branch"));
    assert_int_equal(row_named(ran, "choice")->standing, PW_NODE_VICTIM);
    assert_true(row_named(ran, "c")->isolated.mismatches == 0); /* from the reference's inputs it is right */
    assert_true(row_named(ran, "c")->propagated.mismatches == 1);
    assert_true(pw_tensor_get(&results[0].tensor, 0) == -9); /* 1 - 10: what the target's own branch gives */
    assert_int_equal(ran->totals.outputs_failed, 1);
    pw_value_clear(&results[0]);
    done(ran, &made);
}

/* The same, where the other branch looks behind the end of a table: the target's side ends there, and is said to; the
 * comparison goes on with the reference's value. */
static void test_a_failure_in_another_branch(void **state)
{
    struct pw_onnx_out out;
    struct pw_buf then_body = {0}, else_body = {0}, attrs = {0}, to = {0};
    struct built made;
    struct ran *ran = new_ran(TEXTS("float32[] 1.0001"));
    struct pw_value results[1] = {{0}};
    struct pw_error err = {0};

    (void)state;
    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "x", "float32[] 0");
    initializer(&out.graph, "one", "float32[] 1");
    initializer(&out.graph, "bound", "float32[] 1.00005");
    initializer(&out.graph, "ten", "float32[] 10");
    initializer(&out.graph, "table", "float32[1] 7");
    node(&out.graph, "Mul", "x one", "m");
    node(&out.graph, "Greater", "m bound", "c");
    node(&then_body, "Add", "x ten", "more");
    untyped(&then_body, PW_GRAPH_OUTPUT, "more");
    body_attr(&attrs, "then_branch", &then_body);
    pw_onnx_put_attr_int(&to, "to", PW_DTYPE_INT64);
    add_node(&else_body, "Cast", "place", "m", "place", &to);
    node(&else_body, "Gather", "table place", "less");
    untyped(&else_body, PW_GRAPH_OUTPUT, "less");
    body_attr(&attrs, "else_branch", &else_body);
    add_node(&out.graph, "If", "choice", "c", "z", &attrs);
    node(&out.graph, "Neg", "z", "y");
    output(&out.graph, "y", "float32[] 0");
    made = build(&out);
    rule(ran, "m", NULL, PW_DTYPE_FLOAT16);
    if (start(ran, made.model, PW_ENDTOEND_NODES, results, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(row_named(ran, "choice")->standing, PW_NODE_FAILED);
    assert_non_null(
        strstr(row_named(ran, "choice")->reason, "takes another branch than the reference, and fails there"));
    assert_non_null(strstr(row_named(ran, "choice")->reason, "skipped"));
    assert_int_equal(row_named(ran, "less")->standing, PW_NODE_FAILED);
    assert_int_equal(row_named(ran, "y")->standing, PW_NODE_HELD);
    assert_true(fabs(pw_tensor_get(&results[0].tensor, 0) + 11.0001) < 1e-6); /* -(x + 10): the reference's branch */
    assert_true(ran->totals.failed >= 1);
    assert_false(ran->totals.held);
    pw_value_clear(&results[0]);
    done(ran, &made);
}

/* The number of iterations is ceil(3.0001 * 1): 4, and 3 where the product is float16. */
static void test_another_number_of_iterations(void **state)
{
    struct pw_onnx_out out;
    struct pw_buf body = {0}, attrs = {0}, to = {0};
    struct built made;
    struct ran *ran = new_ran(TEXTS("float32[] 3.0001"));
    struct pw_value results[1] = {{0}};
    struct pw_error err = {0};

    (void)state;
    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "x", "float32[] 0");
    initializer(&out.graph, "one", "float32[] 1");
    initializer(&out.graph, "begin", "float32[1] 1");
    node(&out.graph, "Mul", "x one", "m");
    node(&out.graph, "Ceil", "m", "up");
    pw_onnx_put_attr_int(&to, "to", PW_DTYPE_INT64);
    add_node(&out.graph, "Cast", "trips", "up", "trips", &to);
    untyped(&body, PW_GRAPH_INPUT, "i");
    untyped(&body, PW_GRAPH_INPUT, "go");
    untyped(&body, PW_GRAPH_INPUT, "s");
    node(&body, "Identity", "go", "on");
    node(&body, "Add", "s s", "next");
    untyped(&body, PW_GRAPH_OUTPUT, "on");
    untyped(&body, PW_GRAPH_OUTPUT, "next");
    body_attr(&attrs, "body", &body);
    add_node(&out.graph, "Loop", "loop", "trips - begin", "y", &attrs);
    output(&out.graph, "y", "float32[1] 0");
    made = build(&out);
    rule(ran, "m", NULL, PW_DTYPE_FLOAT16);
    if (start(ran, made.model, PW_ENDTOEND_NODES, results, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_non_null(strstr(row_named(ran, "loop")->reason, "ends before the reference"));
    assert_true(pw_tensor_get(&results[0].tensor, 0) == 8); /* doubled three times */
    assert_true(ran->outputs[0].golden.worst_want == 16);
    pw_value_clear(&results[0]);
    done(ran, &made);
}

/* ---- memory ---- */

static struct built long_chain(int length)
{
    struct pw_onnx_out out;
    char from[16], to[16], list[40];

    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "v0", "float32[1000] 0");
    initializer(&out.graph, "half", "float32[1000] 0.5");
    for (int i = 0; i < length; i++) {
        snprintf(from, sizeof from, "v%d", i);
        snprintf(to, sizeof to, "v%d", i + 1);
        snprintf(list, sizeof list, "%s half", from);
        node(&out.graph, i % 2 ? "Mul" : "Add", list, to);
    }
    snprintf(to, sizeof to, "v%d", length);
    output(&out.graph, to, "float32[1000] 0");
    return build(&out);
}

/* A hundred times as many nodes, the same peak; and that is a few tensors: 12 bytes an element and pair (double beside
 * float32), the weights and what one node makes. */
static void test_memory_is_bounded_by_what_lives(void **state)
{
    int64_t peaks[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct built made = long_chain(i ? 1000 : 10);
        struct ran *ran = new_ran(TEXTS("float32[1000] uniform 3"));

        run(ran, &made, PW_ENDTOEND_NODES);
        assert_int_equal(ran->row_count, i ? 1000 : 10);
        assert_int_equal(ran->totals.live_bytes, 8000); /* a node's input and output */
        peaks[i] = ran->totals.peak_bytes;
        done(ran, &made);
    }
    assert_int_equal(peaks[0], peaks[1]);
    assert_true(peaks[1] < 8 * 12000);
}

static struct built chain_of_silus(int length)
{
    struct pw_onnx_out out;
    char from[16], to[16], gate[16], list[40];

    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "v0", "float32[1000] 0");
    for (int i = 0; i < length; i++) {
        snprintf(from, sizeof from, "v%d", i);
        snprintf(gate, sizeof gate, "gate%d", i);
        snprintf(to, sizeof to, "v%d", i + 1);
        snprintf(list, sizeof list, "%s %s", from, gate);
        node(&out.graph, "Sigmoid", from, gate);
        node(&out.graph, "Mul", list, to);
        output(&out.graph, to, "float32[1000] 0");
    }
    return build(&out);
}

/* What a pattern's own pass made is gone when it is through: of an output that the caller wants both sides stay, 12,000
 * bytes; of one that nobody wants nothing does, though a run of the graph has to keep it. */
static void test_values_inside_a_pattern_go_with_it(void **state)
{
    int64_t peaks[4], lives[4];

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct built made = chain_of_silus(i % 2 ? 7 : 2);
        struct ran *ran = new_ran(TEXTS("float32[1000] uniform 3"));
        struct pw_value results[7] = {{0}};
        struct pw_error err = {0};

        rule(ran, NULL, "Sigmoid", PW_DTYPE_FLOAT16); /* the sides differ: nothing is shared */
        assert_int_equal(start(ran, made.model, PW_ENDTOEND_NODES, i < 2 ? results : NULL, &err), PW_OK);
        assert_int_equal(ran->inventory->pattern_count, i % 2 ? 7 : 2);
        assert_int_equal(ran->row_count, i % 2 ? 21 : 6);
        assert_int_equal(ran->output_count, i % 2 ? 7 : 2);
        peaks[i] = ran->totals.peak_bytes;
        lives[i] = ran->totals.live_bytes;
        for (int o = 0; o < 7; o++)
            pw_value_clear(&results[o]);
        done(ran, &made);
    }
    assert_int_equal(peaks[1] - peaks[0], 5 * 12000);
    assert_int_equal(peaks[3], peaks[2]);
    assert_int_equal(lives[3] - lives[2], 5 * 4000);
    assert_int_equal(lives[1] - lives[0], 5 * 4000);
}

/* Outputs are compared when nobody reads them any more, and told of in their order: the last one made, one that no node
 * makes, one that is read twice after it was made, and that one again. */
static void test_outputs_in_their_order(void **state)
{
    static const char *const names[] = {"y", "x", "a", "a"};

    (void)state;
    for (int wanted = 0; wanted < 2; wanted++) {
        struct built made = chain_with_outputs("xaa");
        struct ran *ran = new_ran(TEXTS("float32[1] 1.0009765625"));
        struct pw_value results[4] = {{0}};
        struct pw_error err = {0};

        rule(ran, "a", NULL, PW_DTYPE_FLOAT16);
        assert_int_equal(start(ran, made.model, PW_ENDTOEND_NODES, wanted ? results : NULL, &err), PW_OK);
        assert_int_equal(ran->output_count, 4);
        for (int o = 0; o < 4; o++) {
            double error = o == 1 ? 0 : row_named(ran, names[o])->propagated.max_error;

            assert_string_equal(ran->outputs[o].name, names[o]);
            assert_true(ran->outputs[o].compared && ran->outputs[o].golden.max_error == error);
            assert_true(!wanted || results[o].kind == PW_VALUE_TENSOR);
            pw_value_clear(&results[o]);
        }
        assert_true(ran->outputs[2].golden.max_error > 3e-4);
        done(ran, &made);
    }
}

/* (x + 1e8) - 1e8 is 0 in float32, where steps are 8 there, and x in golden: all of it is lost, also by the float32
 * reference. Judged only at the end, y's value waits for that although z reads it on the way. */
static void test_an_ill_conditioned_graph_is_excused(void **state)
{
    (void)state;
    for (int ruled = 0; ruled < 2; ruled++) {
        struct pw_tolerance_rule tolerance = {.match = {.node = "z"}, .value = 0.5};
        struct pw_onnx_out out;
        struct built made;
        struct ran *ran = new_ran(TEXTS("float32[1] 0.25"));

        pw_onnx_out_init(&out, "main", 17);
        input(&out.graph, "x", "float32[1] 0");
        initializer(&out.graph, "big", "float32[1] 100000000");
        node(&out.graph, "Add", "x big", "a");
        node(&out.graph, "Sub", "a big", "y");
        node(&out.graph, "Neg", "y", "z");
        node(&out.graph, "Relu", "big", "w");
        output(&out.graph, "w", "float32[1] 0");
        output(&out.graph, "y", "float32[1] 0");
        output(&out.graph, "z", "float32[1] 0");
        made = build(&out);
        ran->protocol.tolerances = &tolerance;
        ran->protocol.tolerance_count = (size_t)ruled;
        run(ran, &made, PW_ENDTOEND_NODES);
        assert_int_equal(ran->output_count, 3);
        assert_true(ran->outputs[0].held && ran->outputs[0].golden.max_error == 0);
        assert_true(ran->outputs[1].held && ran->outputs[1].golden.max_error == 1);
        assert_true(ran->outputs[1].tolerance == 4); /* four times what the reference loses */
        assert_true(ran->outputs[2].held == !ruled); /* what a rule says stays */
        assert_true(ran->outputs[2].tolerance == (ruled ? 0.5 : 4));
        assert_int_equal(ran->totals.outputs_failed, ruled);
        done(ran, &made);
    }
}

/* ---- patterns, mixed precision ---- */

static struct built decoder_model(void)
{
    struct built made = {.model = NULL};
    struct pw_decoder decoder;
    struct pw_error err = {0};
    char path[] = "/tmp/pw-endtoend-XXXXXX";
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    pw_decoder_defaults(&decoder);
    decoder.layers = 1;
    decoder.width = 32;
    decoder.heads = 2;
    decoder.hidden = 64;
    decoder.vocabulary = 50;
    decoder.positions = 16;
    decoder.kv_cache = false;
    if (pw_decoder_check(&decoder, &err) != PW_OK || pw_decoder_write(&decoder, path, NULL, &err) != PW_OK ||
        pw_file_read(path, 64 << 20, &made.bytes, &err) != PW_OK)
        fail_msg("%s", err.message);
    unlink(path);
    made.model = parse_model(&made.bytes);
    return made;
}

static void test_patterns_are_judged_as_wholes(void **state)
{
    struct built made = decoder_model();
    struct ran *ran = new_ran(TEXTS("int64[2,5] 1 2 3 4 5 6 7 8 9 49"));
    size_t norms = 0, attentions = 0;

    (void)state;
    run(ran, &made, PW_ENDTOEND_NODES);
    for (size_t i = 0; i < ran->row_count; i++) {
        const struct pw_endtoend_node *row = &ran->rows[i];

        if (row->node)
            continue;
        assert_true(row->has_isolated && row->isolated.worst >= 0);
        assert_int_equal(row->standing, PW_NODE_HELD);
        assert_true(row->tolerance > 0 && row->isolated.max_error < row->tolerance && row->isolated.max_error > 0);
        norms += ran->inventory->patterns[row->pattern].kind == PW_PATTERN_LAYERNORM;
        attentions += ran->inventory->patterns[row->pattern].kind == PW_PATTERN_ATTENTION;
    }
    assert_int_equal(norms, 3);
    assert_int_equal(attentions, 1);
    assert_int_equal(ran->totals.culprits + ran->totals.victims + ran->totals.drifts + ran->totals.failed, 0);
    assert_true(ran->totals.held);
    done(ran, &made);
}

static void test_a_mixed_protocol_runs_its_dtypes(void **state)
{
    struct built made = decoder_model();
    struct ran *ran = new_ran(TEXTS("int64[2,5] 1 2 3 4 5 6 7 8 9 49"));
    size_t products = 0;

    (void)state;
    rule(ran, NULL, "MatMul", PW_DTYPE_BFLOAT16);
    rule(ran, "*head*", NULL, PW_DTYPE_FLOAT32); /* the later rule wins */
    run(ran, &made, PW_ENDTOEND_NODES);
    for (size_t i = 0; i < ran->row_count; i++) {
        const struct pw_endtoend_node *row = &ran->rows[i];

        if (!row->node || row->dtype == PW_DTYPE_UNDEFINED)
            continue;
        if (!strcmp(row->node->op_type, "MatMul") && !strstr(row->node->name, "head")) {
            assert_int_equal(row->dtype, PW_DTYPE_BFLOAT16);
            assert_true(row->cast && row->tolerance > 0x1p-10);
            products++;
        } else {
            assert_int_equal(row->dtype, PW_DTYPE_FLOAT32);
            assert_false(row->cast);
        }
        assert_int_not_equal(row->standing, PW_NODE_CULPRIT);
    }
    assert_true(products > 4);
    assert_int_equal(ran->totals.cast_nodes, products);
    assert_true(ran->outputs[0].golden.max_error > 1e-4); /* bfloat16 has 8 digits */
    done(ran, &made);
}

/* ---- the sweep ---- */

/* up = x + 4096, back = up - 4096, y = back * 0.5 with x in [0, 1). At 4096 float16 has steps of 4 and bfloat16 of 32,
 * so `up` there is 4096 for every x and the whole signal is lost: damage 1. float32 has steps of 2^-11 there. `y` alone
 * loses half a unit of its own dtype: at most 2^-11 and 2^-8. */
static void test_the_delicate_layer_comes_first(void **state)
{
    struct pw_onnx_out out;
    struct built made;
    struct ran *ran = new_ran(TEXTS("float32[6] 0.1 0.35 0.6 0.7 0.85 0.95"));
    const struct pw_sweep_layer *up = NULL, *y = NULL;

    (void)state;
    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "x", "float32[6] 0");
    initializer(&out.graph, "big", "float32[1] 4096");
    initializer(&out.graph, "half", "float32[1] 0.5");
    node(&out.graph, "Add", "x big", "up");
    node(&out.graph, "Sub", "up big", "back");
    node(&out.graph, "Mul", "back half", "y");
    output(&out.graph, "y", "float32[6] 0");
    made = build(&out);
    run(ran, &made, PW_ENDTOEND_SWEEP);
    assert_int_equal(ran->layer_count, 3);
    for (size_t i = 0; i < 3; i++) {
        up = !strcmp(ran->layers[i].name, "up") ? &ran->layers[i] : up;
        y = !strcmp(ran->layers[i].name, "y") ? &ran->layers[i] : y;
    }
    assert_true(up && y);
    assert_true(up->cells[0].dtype == PW_DTYPE_FLOAT16 && up->cells[1].dtype == PW_DTYPE_BFLOAT16);
    assert_true(fabs(up->cells[0].damage - 1) < 1e-12 && fabs(up->cells[1].damage - 1) < 1e-12);
    assert_true(up->cells[2].damage > 1e-6 && up->cells[2].damage < 0x1p-11);
    assert_true(y->cells[0].damage > 0 && y->cells[0].damage <= 0x1p-11 && y->cells[0].held);
    assert_true(y->cells[1].damage > 0 && y->cells[1].damage <= 0x1p-8);
    assert_false(up->cells[0].held);
    assert_true(up->worst > y->worst);
    {
        struct pw_report_run report = {.layers = ran->layer_list, .layer_count = ran->layer_count};
        const struct pw_sweep_layer **ranked = pw_report_run_ranked(&report);

        assert_non_null(ranked);
        assert_string_equal(ranked[2]->name, "y"); /* `back` reads 4096 too and is as delicate as `up` */
        assert_string_equal(pw_report_run_advice(up), "float32");
        assert_string_equal(pw_report_run_advice(y), "float16");
        pw_free(ranked);
    }
    done(ran, &made);
}

/* A pattern is one layer; nodes in a body are layers too; what only moves data and control flow are none. */
static void test_layers(void **state)
{
    struct built made = decoder_model();
    struct ran *ran = new_ran(TEXTS("int64[1,3] 1 2 3"));
    size_t norms = 0;

    (void)state;
    run(ran, &made, PW_ENDTOEND_SWEEP);
    for (size_t i = 0; i < ran->layer_count; i++) {
        norms += strstr(ran->layers[i].name, "LayerNorm at") != NULL;
        assert_true(ran->layers[i].pattern >= 0 || !strstr(ran->layers[i].name, "Reshape"));
    }
    assert_int_equal(norms, 3);
    assert_int_equal(ran->totals.layers, ran->layer_count);
    done(ran, &made);
}

/* ---- reports, bad requests ---- */

static void expect_json(const struct ran *ran, pw_endtoend_mode mode)
{
    struct pw_report_run report = {.inventory = ran->inventory,
                                   .model_path = "m\033[31m.onnx",
                                   .graph_id = "00",
                                   .target = "reference",
                                   .device = "",
                                   .runtime = "",
                                   .bindings = "",
                                   .protocol = "",
                                   .mode = mode,
                                   .nodes = ran->row_list,
                                   .node_count = ran->row_count,
                                   .outputs = ran->output_list,
                                   .output_count = ran->output_count,
                                   .layers = ran->layer_list,
                                   .layer_count = ran->layer_count,
                                   .totals = ran->totals};
    struct pw_error err = {0};
    struct pw_buf json = {0}, text = {0};
    char why[1600] = "";

    assert_int_equal(pw_report_run_json(&report, &json, &err), PW_OK);
    if (!schema_check_text("run.schema.json", pw_buf_text(&json), why, sizeof why))
        fail_msg("%s", why);
    pw_report_run_text(&report, 80, false, &text);
    assert_null(strchr(pw_buf_text(&text), '\033')); /* names are foreign text */
    pw_report_run_csv(&report, &text);
    pw_report_run_md(&report, &text);
    assert_false(text.failed);
    pw_buf_clear(&json);
    pw_buf_clear(&text);
}

/* Times belong to nodes: of a body, to those in it; to neither patterns nor runs that compare outputs only. */
static void test_times(void **state)
{
    struct built made = loop_model(), whole = decoder_model();
    struct ran *ran = new_ran(TEXTS("float32[1] 0.5")), *other = new_ran(TEXTS("int64[1,3] 1 2 3"));
    int64_t sum = 0;
    size_t patterns = 0;

    (void)state;
    run(ran, &made, PW_ENDTOEND_NODES);
    assert_true(row_named(ran, "t")->time_ns > 0);
    assert_int_equal(row_named(ran, "loop")->time_ns, 0);
    assert_int_equal(ran->totals.nodes_target_ns, 0); /* the reference is on the host */
    run(ran, &made, PW_ENDTOEND_OUTPUTS);
    assert_int_equal(ran->totals.nodes_host_ns, 0);
    run(other, &whole, PW_ENDTOEND_NODES);
    for (size_t i = 0; i < other->row_count; i++) {
        sum += other->rows[i].time_ns;
        patterns += !other->rows[i].node;
        assert_true(other->rows[i].node ? other->rows[i].time_ns > 0 : !other->rows[i].time_ns);
    }
    assert_true(patterns > 0);
    assert_int_equal(sum, other->totals.nodes_host_ns);
    done(ran, &made);
    done(other, &whole);
}

static void test_reports(void **state)
{
    struct built made = decoder_model();
    struct ran *ran = new_ran(TEXTS("int64[1,3] 1 2 3"));

    (void)state;
    run(ran, &made, PW_ENDTOEND_NODES);
    expect_json(ran, PW_ENDTOEND_NODES);
    run(ran, &made, PW_ENDTOEND_SWEEP);
    expect_json(ran, PW_ENDTOEND_SWEEP);
    done(ran, &made);
}

static void test_wrong_inputs_and_cancelling(void **state)
{
    struct built made = chain();
    struct ran *ran = new_ran(TEXTS("float64[1] 1"));
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(start(ran, made.model, PW_ENDTOEND_NODES, NULL, &err), PW_ERR_USAGE);
    assert_non_null(strstr(err.message, "'x'"));
    assert_int_equal(ran->row_count, 0); /* nothing ran */
    pw_value_clear(&ran->inputs[0]);
    ran->inputs[0] = value_of("float32[1] 1");
    ran->cancel_after = 2;
    pw_error_clear(&err);
    assert_int_equal(start(ran, made.model, PW_ENDTOEND_NODES, NULL, &err), PW_ERR_CANCELLED);
    assert_int_equal(ran->row_count, 2);
    done(ran, &made);
}

/* Every allocation fails once: an error, or the same result; never a crash (under a sanitizer: or a leak). */
static void fail_allocations(struct built made, pw_endtoend_mode mode)
{
    struct ran *ran = new_ran(TEXTS("float32[1] 1.5"));
    bool held = false;

    rule(ran, NULL, "Sigmoid", PW_DTYPE_FLOAT16);
    run(ran, &made, mode);
    for (uint64_t nth = 1; nth < 20000 && !held; nth++) {
        struct pw_error err = {0};
        pw_status status;

        ran->row_count = ran->output_count = ran->layer_count = ran->text_count = 0;
        pw_mem_fail_at(nth, 0);
        status = start(ran, made.model, mode, NULL, &err);
        held = pw_mem_count() < nth;
        pw_mem_fail_at(0, 0);
        assert_true(status == PW_OK || status == PW_ERR_NO_MEMORY || status == PW_ERR_CANCELLED);
        if (status != PW_OK)
            assert_true(err.message[0] != '\0');
    }
    assert_true(held);
    done(ran, &made);
}

static struct built gated(void)
{
    struct pw_onnx_out out;

    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "x", "float32[1] 0");
    node(&out.graph, "Sigmoid", "x", "g");
    node(&out.graph, "Mul", "x g", "y");
    output(&out.graph, "g", "float32[1] 0");
    output(&out.graph, "y", "float32[1] 0");
    return build(&out);
}

static void test_allocations_fail(void **state)
{
    (void)state;
    fail_allocations(chain(), PW_ENDTOEND_NODES);
    fail_allocations(gated(), PW_ENDTOEND_NODES); /* a pattern, whose sides differ inside of it */
    fail_allocations(chain(), PW_ENDTOEND_SWEEP);
    fail_allocations(loop_model(), PW_ENDTOEND_NODES); /* two threads */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_narrow_node_is_no_culprit),
        cmocka_unit_test(test_infinity_has_an_origin),
        cmocka_unit_test(test_nan_of_the_reference),
        cmocka_unit_test(test_a_loop_in_step),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_another_branch),
        cmocka_unit_test(test_a_failure_in_another_branch),
        cmocka_unit_test(test_another_number_of_iterations),
        cmocka_unit_test(test_memory_is_bounded_by_what_lives),
        cmocka_unit_test(test_values_inside_a_pattern_go_with_it),
        cmocka_unit_test(test_outputs_in_their_order),
        cmocka_unit_test(test_an_ill_conditioned_graph_is_excused),
        cmocka_unit_test(test_patterns_are_judged_as_wholes),
        cmocka_unit_test(test_a_mixed_protocol_runs_its_dtypes),
        cmocka_unit_test(test_the_delicate_layer_comes_first),
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_wrong_inputs_and_cancelling),
        cmocka_unit_test(test_allocations_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
