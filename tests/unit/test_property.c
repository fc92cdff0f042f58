/* Judging draws: properties refuse what cannot be drawn, and a watch knows which values descend from draws. */
#include "tests/unit/eval_build.h"

#include "graph/infer.h"
#include "run/property.h"

/* ---- properties of single calls ---- */

struct judged {
    const char *call, *inputs[3], *outputs[2];
    const char *error;                  /* part of it; NULL: the property holds */
    void (*spoil)(struct pw_tensor *y); /* what is done to the first output before it is judged; NULL: nothing */
};

/* A piece of the draws, copied; a value filled in here and there, too seldom for moments and law to show it. */
static void copy_piece(struct pw_tensor *y)
{
    for (int64_t i = 0; i < 5; i++)
        pw_tensor_set(y, 3000 + i, pw_tensor_get(y, 100 + i));
}

static void fill_in(struct pw_tensor *y)
{
    for (int64_t i = 0; i < y->count; i += 50)
        pw_tensor_set(y, i, 0.25);
}

static void judge(const struct judged *j)
{
    struct pw_room_case c = {.name = "draws", .call = j->call};
    const struct pw_value *in[PW_CASE_MAX_INPUTS] = {NULL};
    struct pw_case_data data = {0};
    struct pw_dims *dims = NULL;
    struct pw_arena arena = {0};
    struct pw_call call = {0};
    struct pw_error err = {0};

    memcpy(c.inputs, j->inputs, sizeof j->inputs);
    memcpy(c.outputs, j->outputs, sizeof j->outputs);
    if (pw_case_parse(&c, &data, &err) != PW_OK)
        fail_msg("%s: %s", j->call, err.message);
    assert_int_equal(pw_dims_create(&dims, &err), PW_OK);
    for (size_t i = 0; i < data.input_count; i++)
        in[i] = data.inputs[i].kind == PW_VALUE_NONE ? NULL : &data.inputs[i];
    if (pw_call_from_values(data.node, in, (int)data.input_count, dims, &arena, &call, &err) != PW_OK)
        fail_msg("%s: %s", j->call, err.message);
    assert_non_null(call.op->property);
    if (j->spoil)
        j->spoil(&data.outputs[0].tensor);
    if (call.op->property(&call, in, data.outputs, &err) == PW_OK) {
        if (j->error != NULL)
            fail_msg("%s: expected an error with '%s', found none", j->call, j->error);
    } else if (j->error == NULL || strstr(err.message, j->error) == NULL) {
        fail_msg("%s: expected '%s', found '%s'", j->call, j->error != NULL ? j->error : "no error", err.message);
    }
    pw_case_clear(&data);
    pw_dims_destroy(dims);
    pw_arena_clear(&arena);
}

static void test_properties(void **state)
{
    static const struct judged all[] = {
        {"RandomUniform-1 shape=[3]", {NULL}, {"float32[3] 0 0.5 0.9"}, NULL, NULL},
        {"RandomUniform-1 shape=[3]", {NULL}, {"float32[3] 0 0.5 1.5"}, "element 2 is 1.5", NULL},
        {"RandomUniform-1 shape=[3]", {NULL}, {"float32[3] 0 nan 0.5"}, "element 1 is nan", NULL},
        {"RandomUniform-1 shape=[100]", {NULL}, {"float32[100] 0.9"}, "the mean", NULL},
        {"RandomUniform-1 shape=[100]", {NULL}, {"float32[100] 0.5"}, "the variance", NULL},
        {"RandomUniform-1 low=-1.0 shape=[4000]", {NULL}, {"float32[4000] uniform 3"}, NULL, NULL},
        {"RandomUniform-1 low=-1.0 shape=[4000]",
         {NULL},
         {"float32[4000] uniform 3"},
         "draws in a row come at 100 and again at 3000",
         copy_piece},
        {"RandomUniform-1 low=-1.0 shape=[4000]",
         {NULL},
         {"float32[4000] uniform 3"},
         "0.25 was drawn 80 times",
         fill_in},
        {"RandomNormal-1 scale=0.57735 shape=[4000]", {NULL}, {"float32[4000] uniform 3"}, "not normal", NULL},
        {"RandomNormal-1 shape=[2]", {NULL}, {"float32[2] inf 0"}, "element 0 is inf", NULL},
        {"Bernoulli-15", {"float32[2] 0.5"}, {"float32[2] 0 1"}, NULL, NULL},
        {"Bernoulli-15", {"float32[2] 0.5"}, {"float32[2] 0 2"}, "element 1 is 2", NULL},
        {"Bernoulli-15", {"float32[2] 0.5 0"}, {"float32[2] 0 1"}, "probability 0", NULL},
        {"Bernoulli-15", {"float32[100] 0.1"}, {"float32[100] 1"}, "ones: 100", NULL},
        {"Multinomial-7 sample_size=2", {"float32[1,2] 0 0"}, {"int32[1,2] 0 1"}, NULL, NULL},
        {"Multinomial-7 sample_size=2", {"float32[1,2] 0 0"}, {"int32[1,2] 0 2"}, "class 2 of 2", NULL},
        {"Multinomial-7 sample_size=2", {"float32[1,2] 0 -inf"}, {"int32[1,2] 0 1"}, "probability 0", NULL},
        {"Multinomial-7 sample_size=100", {"float32[1,2] 0 0"}, {"int32[1,100] 1"}, "samples of a class", NULL},
        {"Dropout-13",
         {"float32[3] 1 2 0", "float32[] 0.5", "bool[] 1"},
         {"float32[3] 0 4 0", "bool[3] 0 1 0"},
         NULL,
         NULL},
        {"Dropout-13",
         {"float32[3] 1 2 0", "float32[] 0.5", "bool[] 1"},
         {"float32[3] 1 4 0", "bool[3] 0 1 0"},
         "neither 0 nor 2",
         NULL},
        {"Dropout-13",
         {"float32[3] 1 2 0", "float32[] 0.5", "bool[] 1"},
         {"float32[3] 0 4 0", "bool[3] 1 1 0"},
         "mask element 0",
         NULL},
        {"Dropout-13",
         {"float32[400] 1", "float32[] 0.1", "bool[] 1"},
         {"float32[400] 0", "bool[400] 0"},
         "dropped elements: 400",
         NULL},
        {"Dropout-13", {"float32[2] 1 2", "float32[] 0.5"}, {"float32[2] 1 0", "bool[2] 1 0"}, "in inference", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        judge(&all[i]);
}

/* ---- what descends from draws ---- */

/* An If whose branches are Identity of `captured`, or a draw when that is NULL. */
static void add_if(struct pw_buf *graph, const char *captured, const char *result)
{
    struct pw_buf attrs = {0};

    for (int side = 0; side < 2; side++) {
        struct pw_buf body = {0}, draw = {0};
        const char *name = side ? "else_branch" : "then_branch";

        if (captured != NULL) {
            node(&body, "Identity", captured, "inner");
        } else {
            int64_t shape[] = {9};

            pw_onnx_put_attr_ints(&draw, "shape", shape, 1);
            add_node(&body, "RandomNormal", "draw", "", "inner", &draw);
        }
        untyped(&body, PW_GRAPH_OUTPUT, "inner");
        body_attr(&attrs, name, &body);
    }
    add_node(graph, "If", result, "condition", result, &attrs);
}

static struct built drawing_model(void)
{
    static const char *const outputs[] = {"drawn", "sum", "shape", "copy", "captured", "inside", "dropped", "kept"};
    struct pw_onnx_out out;

    pw_onnx_out_init(&out, "main", 17);
    input(&out.graph, "x", "float32[9] 0");
    input(&out.graph, "condition", "bool[] 0");
    input(&out.graph, "training", "bool[] 0");
    initializer(&out.graph, "ratio", "float32[] 0.5");
    node(&out.graph, "RandomUniformLike", "x", "drawn");
    node(&out.graph, "Add", "drawn x", "sum");
    node(&out.graph, "Shape", "drawn", "shape");
    node(&out.graph, "Identity", "x", "copy");
    add_if(&out.graph, "sum", "captured");
    add_if(&out.graph, NULL, "inside");
    node(&out.graph, "Dropout", "x ratio training", "dropped");
    node(&out.graph, "Dropout", "x ratio", "kept");
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++)
        untyped(&out.graph, PW_GRAPH_OUTPUT, outputs[i]);
    return build(&out);
}

static void test_descent(void **state)
{
    static const bool drawn[2][8] = {{true, true, false, false, true, true, false, false},
                                     {true, true, false, false, true, true, true, false}};
    struct built made = drawing_model();

    (void)state;
    for (int training = 0; training < 2; training++) {
        struct pw_property_watch watch;
        struct pw_eval_options options = {
            .mode = PW_EVAL_GOLDEN, .seed = 3, .observe = pw_property_observe, .user = &watch};
        struct pw_value results[MOST_VALUES] = {{0}};
        struct pw_error err = {0};

        assert_int_equal(pw_property_watch_init(&watch, made.model->graph, &err), PW_OK);
        if (run_texts(&made, &options, TEXTS("float32[9] 1", "bool[] 1", training ? "bool[] 1" : "bool[] 0"), results,
                      &err) != PW_OK)
            fail_msg("%s", err.message);
        for (size_t o = 0; o < 8; o++) {
            if (pw_property_drawn(&watch, o) != drawn[training][o])
                fail_msg("output %zu: drawn is %d, training %d", o, pw_property_drawn(&watch, o), training);
        }
        for (size_t o = 0; o < MOST_VALUES; o++)
            pw_value_clear(&results[o]);
        pw_property_watch_clear(&watch);
    }
    unbuild(&made);
}

/* ---- seeds ---- */

/* Two nodes without a seed, and two with the same. */
static struct built seeded_model(void)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    struct pw_onnx_out out;
    int64_t shape[] = {4};

    pw_onnx_out_init(&out, "main", 17);
    for (int i = 0; i < 4; i++) {
        struct pw_buf attrs = {0};

        pw_onnx_put_attr_ints(&attrs, "shape", shape, 1);
        if (i >= 2)
            pw_onnx_put_attr_float(&attrs, "seed", 5.0f);
        add_node(&out.graph, "RandomUniform", names[i], "", names[i], &attrs);
        untyped(&out.graph, PW_GRAPH_OUTPUT, names[i]);
    }
    return build(&out);
}

static bool same(const struct pw_value *a, const struct pw_value *b)
{
    return memcmp(a->tensor.data, b->tensor.data, 4 * sizeof(float)) == 0;
}

static void test_seeds(void **state)
{
    struct built made = seeded_model();
    struct pw_value first[4] = {{0}}, again[4] = {{0}}, other[4] = {{0}};
    struct pw_value *runs[] = {first, again, other};
    struct pw_error err = {0};

    (void)state;
    for (int r = 0; r < 3; r++) {
        struct pw_eval_options options = {.mode = PW_EVAL_FAST, .seed = r == 2 ? 8 : 7};

        assert_int_equal(run_texts(&made, &options, NO_TEXTS, runs[r], &err), PW_OK);
    }
    assert_false(same(&first[0], &first[1]));
    assert_true(same(&first[2], &first[3]));
    for (int i = 0; i < 4; i++) {
        assert_true(same(&first[i], &again[i]));
        assert_int_equal(same(&first[i], &other[i]), i >= 2);
    }
    for (int i = 0; i < 12; i++)
        pw_value_clear(&runs[i / 4][i % 4]);
    unbuild(&made);
}

/* ---- two samples ---- */

static void test_alike(void **state)
{
    static const struct {
        const char *got, *want;
        bool alike;
    } all[] = {
        {"float32[100] uniform 1", "float32[100] uniform 2", true},
        {"float32[100] uniform 1", "float32[100] 0.9", false},
        {"bool[100] 1", "bool[100] 0", false},
        {"bool[100] 1", "bool[100] 1", true},
        {"float32[4] 1", "float32[4] 0", true}, /* too few to tell */
        {"float32[100] nan", "float32[100] 0", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct pw_value got = value_of(all[i].got), want = value_of(all[i].want);
        struct pw_error err = {0};

        if ((pw_property_alike(&got.tensor, &want.tensor, "y", &err) == PW_OK) != all[i].alike)
            fail_msg("%s and %s: %s", all[i].got, all[i].want, err.message);
        pw_value_clear(&got);
        pw_value_clear(&want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_descent),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_alike),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
