/* Gradient: every rule against finite differences, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "graph/infer.h"
#include "graph_text.h"
#include "run/eval.h"

#define STEP 1e-5
#define LINES 4096

struct formula {
    const char *lines; /* make y of x and w */
    const char *x, *w; /* values; w may be NULL */
};

#define X23 "float64[2,3] 0.3 -0.7 1.2 -1.6 0.9 2.1"
#define P23 "float64[2,3] 0.3 0.7 1.2 1.6 0.9 2.1"   /* positive */
#define U23 "float64[2,3] 0.3 -0.7 0.2 -0.6 0.9 0.1" /* within -1, 1 */
#define W3 "float64[3] 0.5 1.7 -0.4"
#define W13 "float64[1,3] 0.5 1.7 -0.4"
#define W32 "float64[3,2] 0.5 1.7 -0.4 0.8 -1.1 0.25"

static const struct formula formulas[] = {
    {"y = Neg (x)", X23, NULL},
    {"y = Identity (x)", X23, NULL},
    {"y = Abs (x)", X23, NULL},
    {"y = Exp (x)", X23, NULL},
    {"y = Log (x)", P23, NULL},
    {"y = Sqrt (x)", P23, NULL},
    {"y = Reciprocal (x)", X23, NULL},
    {"y = Sin (x)", X23, NULL},
    {"y = Cos (x)", X23, NULL},
    {"y = Tan (x)", U23, NULL},
    {"y = Asin (x)", U23, NULL},
    {"y = Acos (x)", U23, NULL},
    {"y = Atan (x)", X23, NULL},
    {"y = Sinh (x)", X23, NULL},
    {"y = Cosh (x)", X23, NULL},
    {"y = Tanh (x)", X23, NULL},
    {"y = Asinh (x)", X23, NULL},
    {"y = Atanh (x)", U23, NULL},
    {"s = Cosh (x)\ny = Acosh (s)", X23, NULL},
    {"y = Erf (x)", X23, NULL},
    {"y = Sigmoid (x)", X23, NULL},
    {"y = Relu (x)", X23, NULL},
    {"y = LeakyRelu (x)", X23, NULL},
    {"y = LeakyRelu alpha=0.25 (x)", X23, NULL},
    {"y = Elu alpha=1.5 (x)", X23, NULL},
    {"y = Selu (x)", X23, NULL},
    {"y = Celu alpha=2.0 (x)", X23, NULL},
    {"y = ThresholdedRelu alpha=0.5 (x)", X23, NULL},
    {"y = HardSigmoid (x)", "float64[4] 0.3 -0.7 4.5 -3.1", NULL},
    {"y = HardSwish (x)", "float64[4] 0.3 -0.7 4.5 -3.1", NULL},
    {"y = Softplus (x)", X23, NULL},
    {"y = Softsign (x)", X23, NULL},
    {"y = Mish (x)", X23, NULL},
    {"y = Gelu (x)", X23, NULL},
    {"y = Swish alpha=1.5 (x)", X23, NULL},
    {"f = Floor (x)\ny = Mul (f, x)", X23, NULL},
    {"y = Add (x, w)", X23, W3},
    {"y = Add (w, x)", X23, W13},
    {"y = Sub (x, w)", X23, W3},
    {"y = Sub (w, x)", X23, "float64[] 0.5"},
    {"y = Mul (x, w)", X23, W13},
    {"y = Mul (x, x)", X23, NULL},
    {"y = Div (x, w)", X23, W3},
    {"y = Div (w, x)", X23, W3},
    {"y = Pow (x, w)", P23, W3},
    {"const n int64[] 3\ny = Pow (x, n)", X23, NULL},
    {"const n float64[2] 0 2\nconst z float64[1] 0\nt = Mul (x, z)\nv = Pow (t, n)\ny = Add (v, x)", "float64[2] 1 2",
     NULL},
    {"y = PRelu (x, w)", X23, W3},
    {"const c bool[2,1] 1 0\ny = Where (c, x, w)", X23, W3},
    {"y = Sum (x, w, x)", X23, W3},
    {"y = Mean (x, w)", X23, W13},
    {"y = MatMul (x, w)", X23, W32},
    {"y = MatMul (x, w)", X23, W3},
    {"y = MatMul (w, x)", W32, W3},
    {"y = MatMul (x, w)", W3, "float64[3] 0.1 0.2 -0.3"},
    {"y = MatMul (x, w)", "float64[2,2,3] iota", W32},
    {"y = MatMul (w, x)", "float64[2,2,3] iota", W32},
    {"y = MatMul (x, w)", "float64[2,1,2,2] iota", "float64[3,2,1] 0.5 1.7 -0.4 0.8 -1.1 0.25"},
    {"y = MatMul (w, x)", "float64[3,2,1] 0.5 1.7 -0.4 0.8 -1.1 0.25", "float64[2] 1 -0.5"},
    {"y = Gemm (x, w)", X23, W32},
    {"const c float64[2] 1 2\ny = Gemm alpha=0.5 transA=1 (x, w, c)", W32, W32},
    {"y = Gemm transB=1 beta=2.0 alpha=0.5 (x, x, w)", X23, "float64[1,2] 0.5 0.25"},
    {"y = Gemm transA=1 transB=1 (x, w)", W32, X23},
    {"y = ReduceSum keepdims=0 (x)", X23, NULL},
    {"const a int64[1] -1\ny = ReduceSum keepdims=0 (x, a)", X23, NULL},
    {"const a int64[1] 0\ny = ReduceMean (x, a)", X23, NULL},
    {"y = ReduceMean keepdims=0 (x)", X23, NULL},
    {"const a int64[1] 1\ny = ReduceSumSquare keepdims=0 (x, a)", X23, NULL},
    {"const a int64[1] 1\ny = ReduceL1 keepdims=0 (x, a)", X23, NULL},
    {"const a int64[1] 1\ny = ReduceL2 keepdims=0 (x, a)", X23, NULL},
    {"const a int64[1] 1\ny = ReduceLogSum keepdims=0 (x, a)", P23, NULL},
    {"const a int64[1] 1\ny = ReduceLogSumExp keepdims=0 (x, a)", X23, NULL},
    {"y = ReduceLogSumExp (x)", X23, NULL},
    {"y = ReduceSum noop_with_empty_axes=1 (x)", X23, NULL},
    {"y = Softmax (x)", X23, NULL},
    {"y = Softmax axis=0 (x)", X23, NULL},
    {"y = LogSoftmax (x)", X23, NULL},
    {"const s int64[2] 3 2\ny = Reshape (x, s)", X23, NULL},
    {"y = Flatten axis=2 (x)", "float64[1,2,3] iota", NULL},
    {"y = Squeeze (x)", "float64[1,2,1] 0.5 0.25", NULL},
    {"const a int64[1] 1\ny = Unsqueeze (x, a)", X23, NULL},
    {"const s int64[3] 2 2 3\ny = Expand (x, s)", W13, NULL},
    {"y = Transpose perm=[1,2,0] (x)", "float64[1,2,3] iota", NULL},
    {"t = Transpose (x)\ny = MatMul (x, t)", X23, NULL},
    {"y = Concat axis=-1 (x, w, x)", X23, "float64[2,1] 0.5 0.25"},
    {"y = Cast to=11 (x)", X23, NULL},
    /* A value used twice, and one that does not reach y. */
    {"a = Tanh (x)\nb = Mul (a, w)\nunused = Exp (a)\nc = Add (b, a)\ny = Sub (c, x)", X23, W3},
};

/* ---- running ---- */

struct loaded {
    struct pw_buf bytes;
    struct pw_model *model;
};

static struct loaded load(const char *text)
{
    struct loaded l = {{0}, NULL};

    l.model = graph_text_model(text, NULL, 24, &l.bytes);
    return l;
}

static void unload(struct loaded *l)
{
    pw_model_destroy(l->model);
    pw_buf_clear(&l->bytes);
}

static const struct pw_node *gradient_of(const struct pw_model *model)
{
    for (size_t i = 0; i < model->graph->node_count; i++) {
        if (strcmp(model->graph->nodes[i].op_type, "Gradient") == 0)
            return &model->graph->nodes[i];
    }
    return NULL;
}

static void run(const struct loaded *l, const struct pw_value *inputs, size_t count, struct pw_value *results)
{
    struct pw_eval_options options = {.mode = PW_EVAL_GOLDEN};
    struct pw_error err = {0};

    if (pw_eval_graph(l->model->graph, inputs, count, &options, results, &err) != PW_OK)
        fail_msg("%s", err.message);
}

static struct pw_value value_of(const char *text)
{
    struct pw_value value = {0};
    struct pw_error err = {0};

    if (pw_tensor_parse(text, &value, &err) != PW_OK)
        fail_msg("%s: %s", text, err.message);
    return value;
}

/* ---- finite differences ---- */

static void write_model(const struct formula *f, char *text, size_t size)
{
    int type_x = (int)strcspn(f->x, " "), type_w = f->w ? (int)strcspn(f->w, " ") : 0;

    snprintf(text, size,
             "input x %.*s\n%s%s%.*s\n%s\nsine = Sin (y)\nL = ReduceSum keepdims=0 (sine)\n"
             "%s = ai.onnx.preview.training:Gradient xs=%s y='L' (%s)\noutput L float64\noutput dx float64\n%s",
             type_x, f->x, f->w ? "input w " : "", f->w ? "" : "", type_w, f->w ? f->w : "", f->lines,
             f->w ? "dx,dw" : "dx", f->w ? "['x','w']" : "['x']", f->w ? "x,w" : "x",
             f->w ? "output dw float64\n" : "");
}

static void check_derivatives(const struct formula *f, const struct loaded *l, struct pw_value *inputs, size_t count)
{
    struct pw_value results[3] = {{0}};

    run(l, inputs, count, results);
    for (size_t i = 0; i < count; i++) {
        struct pw_tensor *t = &inputs[i].tensor;

        assert_int_equal(results[1 + i].tensor.count, t->count);
        assert_int_equal(results[1 + i].tensor.rank, t->rank);
        for (int64_t k = 0; k < t->count; k++) {
            double at = pw_tensor_get(t, k), got = pw_tensor_get(&results[1 + i].tensor, k), side[2], want;

            for (int s = 0; s < 2; s++) {
                struct pw_value near[3] = {{0}};

                pw_tensor_set(t, k, at + (s == 0 ? -STEP : STEP));
                run(l, inputs, count, near);
                side[s] = pw_tensor_get(&near[0].tensor, 0);
                for (size_t n = 0; n < 3; n++)
                    pw_value_clear(&near[n]);
            }
            pw_tensor_set(t, k, at);
            want = (side[1] - side[0]) / (2 * STEP);
            if (!(fabs(got - want) <= 1e-7 + 1e-7 * fabs(want)))
                fail_msg("%s: derivative by element %d of %s is %.9g, expected %.9g", f->lines, (int)k,
                         i == 0 ? "x" : "w", got, want);
        }
    }
    for (size_t n = 0; n < 3; n++)
        pw_value_clear(&results[n]);
}

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++) {
        struct pw_value inputs[2] = {value_of(formulas[i].x)};
        size_t count = formulas[i].w ? 2 : 1;
        const struct pw_node *left;
        char text[LINES];
        struct loaded l;

        if (formulas[i].w)
            inputs[1] = value_of(formulas[i].w);
        write_model(&formulas[i], text, sizeof text);
        l = load(text);
        left = gradient_of(l.model);
        if (left)
            fail_msg("%s: %s", formulas[i].lines, left->note ? left->note : "not replaced");
        check_derivatives(&formulas[i], &l, inputs, count);
        for (size_t k = 0; k < count; k++)
            pw_value_clear(&inputs[k]);
        unload(&l);
    }
}

/* ---- by hand ---- */

static void expect(const char *text, const char *const *inputs, const char *const *outputs)
{
    struct loaded l = load(text);
    struct pw_value values[4] = {{0}}, results[4] = {{0}};
    size_t count = 0;

    if (gradient_of(l.model))
        fail_msg("%s", gradient_of(l.model)->note);
    for (; inputs[count]; count++)
        values[count] = value_of(inputs[count]);
    run(&l, values, count, results);
    for (size_t i = 0; outputs[i]; i++) {
        struct pw_value want = value_of(outputs[i]);

        assert_int_equal(results[i].tensor.count, want.tensor.count);
        for (int64_t k = 0; k < want.tensor.count; k++)
            assert_true(fabs(pw_tensor_get(&results[i].tensor, k) - pw_tensor_get(&want.tensor, k)) < 1e-6);
        pw_value_clear(&want);
    }
    for (size_t i = 0; i < 4; i++) {
        pw_value_clear(&values[i]);
        pw_value_clear(&results[i]);
    }
    unload(&l);
}

#define GRADIENT "ai.onnx.preview.training:Gradient "

/* y = x^3: 3 x^2, then 6 x; the second Gradient stands before the first in the file. */
static void test_second_order(void **state)
{
    (void)state;
    expect("input x float32[2]\n"
           "const three float32[] 3\n"
           "d2 = " GRADIENT "xs=['x'] y='d1' (x)\n"
           "d1 = " GRADIENT "xs=['x'] y='y' (x)\n"
           "y = Pow (x, three)\n"
           "output d1 float32\noutput d2 float32\n",
           (const char *const[]){"float32[2] 2 -1", NULL},
           (const char *const[]){"float32[2] 12 3", "float32[2] 12 -6", NULL});
}

/* At another value of an intermediate result: dy/dh of h^2 z at h = 5, z = 3; the forward part is computed again. */
static void test_substitution(void **state)
{
    (void)state;
    expect("input x float32[1]\ninput z float32[1]\ninput other float32[1]\n"
           "h = Exp (x)\nq = Mul (h, h)\ny = Mul (q, z)\n"
           "dh,dz = " GRADIENT "xs=['h','z'] y='y' (other,z)\n"
           "output y float32\noutput dh float32\noutput dz float32\n",
           (const char *const[]){"float32[1] 0", "float32[1] 3", "float32[1] 5", NULL},
           (const char *const[]){"float32[1] 3", "float32[1] 30", "float32[1] 25", NULL});
}

/* zs are inputs that nothing is differentiated by; an omitted output; a variable that y does not depend on. */
static void test_outputs(void **state)
{
    (void)state;
    expect("input x float32[2]\ninput w float32[2]\ninput v float32[3]\n"
           "y = Mul (x, w)\n"
           ",dv,dw = " GRADIENT "xs=['x','v','w'] y='y' (x,v,w)\n"
           "dx = " GRADIENT "xs=['x'] zs=['w'] y='y' (x,w)\n"
           "output dv float32\noutput dw float32\noutput dx float32\n",
           (const char *const[]){"float32[2] 1 2", "float32[2] 5 7", "float32[3] 1 1 1", NULL},
           (const char *const[]){"float32[3] 0 0 0", "float32[2] 1 2", "float32[2] 5 7", NULL});
}

static void test_symbolic_batch(void **state)
{
    (void)state;
    expect("input x float32[n,2]\ninput b float32[2]\n"
           "t = Add (x, b)\ny = Mul (t, t)\n"
           "dx,db = " GRADIENT "xs=['x','b'] y='y' (x,b)\n"
           "output dx float32\noutput db float32\n",
           (const char *const[]){"float32[3,2] 1 2 3 4 5 6", "float32[2] 1 0", NULL},
           (const char *const[]){"float32[3,2] 4 4 8 8 12 12", "float32[2] 24 24", NULL});
}

/* ---- refused ---- */

static void expect_note(const char *text, const char *part)
{
    struct loaded l = load(text);
    const struct pw_node *node = gradient_of(l.model);
    struct pw_inference *inference = NULL;
    struct pw_error err = {0};

    if (!node || !node->note || !strstr(node->note, part))
        fail_msg("'%s' expected, found '%s'", part, node && node->note ? node->note : "no note");
    /* The rest of the graph is still known. */
    assert_int_equal(pw_infer_graph(l.model, NULL, 0, &inference, &err), PW_OK);
    pw_inference_destroy(inference);
    unload(&l);
}

static void test_refused(void **state)
{
    (void)state;
    expect_note("input x float32[1,1,4]\nconst w float32[1,1,2] 1 2\ny = Conv (x, w)\n"
                "dx = " GRADIENT "xs=['x'] y='y' (x)\noutput dx float32\n",
                "the derivative of 'n_y' (Conv)");
    expect_note("input x float32[2]\ny = com.example:Foo (x)\ninfo y float32[2]\n"
                "dx = " GRADIENT "xs=['x'] y='y' (x)\noutput dx float32\n",
                "(com.example:Foo)");
    expect_note("input x float32[2]\ny = Neg (x)\ndx = " GRADIENT "xs=['x'] y='z' (x)\noutput dx float32\n",
                "no value 'z'");
    expect_note("input x float32[2]\ny = Neg (x)\ndx = " GRADIENT "xs=['q'] y='y' (x)\noutput dx float32\n",
                "no value 'q'");
    expect_note("input x float32[n]\ninput z float32[m]\ny = Add (x, z)\n"
                "dx = " GRADIENT "xs=['x'] y='y' (x)\noutput dx float32\n",
                "whether dim 0 is broadcast");
    expect_note("input x float32[2]\ny = Neg (x)\ndx = " GRADIENT "xs=['x'] zs=['y'] y='y' (x)\noutput dx float32\n",
                "do not fit");
    expect_note("input x int32[2]\ny = Neg (x)\ndx = " GRADIENT "xs=['x'] y='y' (x)\noutput dx float32\n",
                "a float type expected");
    expect_note("input x float32[2]\ninput o float32[3]\ny = Neg (x)\n"
                "dx = " GRADIENT "xs=['x'] y='y' (o)\noutput dx float32\n",
                "input 0 is not known to have");
    expect_note("input x float32[2]\ny = Mul (x, dx)\ndx = " GRADIENT "xs=['x'] y='y' (x)\noutput y float32\n",
                "y depends on it");
    expect_note("input x float32[2]\na = Mul (x, d1)\nb = Mul (x, d2)\nd1 = " GRADIENT "xs=['x'] y='b' (x)\n"
                "d2 = " GRADIENT "xs=['x'] y='a' (x)\noutput a float32\noutput b float32\n",
                "(ai.onnx.preview.training:Gradient)"); /* each waits for the other */
}

/* Evaluation says the same. */
static void test_error(void **state)
{
    struct loaded l = load("input x float32[1,1,4]\nconst w float32[1,1,2] 1 2\ny = Conv (x, w)\n"
                           "dx = " GRADIENT "xs=['x'] y='y' (x)\noutput dx float32\n");
    struct pw_eval_options options = {.mode = PW_EVAL_GOLDEN};
    struct pw_value x = value_of("float32[1,1,4] 1"), result = {0};
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(pw_eval_graph(l.model->graph, &x, 1, &options, &result, &err), PW_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "the derivative of 'n_y' (Conv): there is no rule"));
    pw_value_clear(&x);
    unload(&l);
}

/* Each allocation fails in turn: an error or a model, nothing else. */
static void test_no_memory(void **state)
{
    const struct formula f = {"y = MatMul (x, w)", X23, W32};
    struct pw_buf bytes = {0};
    char text[LINES];
    bool done = false;

    (void)state;
    write_model(&f, text, sizeof text);
    graph_text_bytes(text, NULL, 24, &bytes);
    for (uint64_t n = 1; !done && n < 20000; n += n < 300 ? 1 : 7) {
        struct pw_model *model = NULL;
        struct pw_error err = {0};

        pw_mem_fail_at(n, 0);
        done = pw_model_parse(bytes.data, bytes.size, "test.onnx", NULL, &model, &err) == PW_OK &&
               !gradient_of(model) && pw_mem_count() < n;
        pw_mem_fail_at(0, 0);
        pw_model_destroy(model);
    }
    assert_true(done);
    pw_buf_clear(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),   cmocka_unit_test(test_second_order),   cmocka_unit_test(test_substitution),
        cmocka_unit_test(test_outputs), cmocka_unit_test(test_symbolic_batch), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_error),   cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
